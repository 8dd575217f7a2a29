/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files of --output-dir: DIR/rank.N/stdout and DIR/rank.N/stderr. N has as many digits as the
 * highest rank, so that a listing is in order. Open MPI's mpirun gives the same names.
 */
#ifndef CT_LAUNCHER_IO_OUTDIR_H
#define CT_LAUNCHER_IO_OUTDIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes the file of a rank, or empties it; close-on-exec. Everything is written to the end of the
 * file. Returns -1 with one line in `why`. */
int ct_outdir_open(const char *dir, uint32_t rank, uint32_t job_ranks, bool is_stderr, char *why,
                   size_t cap);

/* Writes all bytes. Returns 0 or an errno value. */
int ct_outdir_write(int fd, const uint8_t *data, size_t len_bytes);

#endif
