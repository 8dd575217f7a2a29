/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files of --output-dir: DIR/rank.N/stdout and DIR/rank.N/stderr, where N has as many digits as
 * the highest rank, so that a listing is in order (the names that Open MPI's mpirun gives).
 */
#ifndef CT_LAUNCHER_IO_OUTDIR_H
#define CT_LAUNCHER_IO_OUTDIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes a rank's file, emptied if it is there, close-on-exec; everything written goes to its end.
 * Returns -1 with one line in `why`. */
int ct_outdir_open(const char *dir, uint32_t rank, uint32_t job_ranks, bool is_stderr, char *why,
                   size_t cap);

/* Writes all of it. Returns 0 or an errno. */
int ct_outdir_write(int fd, const uint8_t *data, size_t len_bytes);

#endif
