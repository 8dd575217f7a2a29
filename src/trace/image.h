/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a trace that came from elsewhere: a dump, or memory that a rank shares. Nothing in it is
 * believed: each length is checked before it is used, each index and number before it is handed
 * on, and texts have printable letters alone. What makes no sense is left out or replaced.
 *
 * Used by the launcher's daemon, by ctran_analyze, and by dump.c for the first part.
 */
#ifndef CT_TRACE_IMAGE_H
#define CT_TRACE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/format.h"

/* The most ranks that a job may have for a reader. */
enum { CT_TRACE_RANKS = 1 << 20 };

/* ---- making dumps ---------------------------------------------------------------------------- */

/* Fills in, in the header of a dump, the tables with the entries of the segment that were used, and
 * the total length. Async-signal-safe. */
void ct_trace_pack_header(const struct ct_trace_segment *seg, struct ct_trace_header *out);
/* The bytes of table `i` in the segment. */
const void *ct_trace_pack_table(const struct ct_trace_segment *seg, unsigned i);

/* The dump of a segment that another process shares, of which `len` bytes could be read, in memory
 * of the caller's that holds sizeof(struct ct_trace_segment) bytes: returns its length, 0: it is
 * no trace. The segment is changed. */
size_t ct_trace_pack(struct ct_trace_segment *seg, size_t len, void *out);

/* This moment, by the clocks of a dump. */
struct ct_trace_moment ct_trace_pack_moment(void);

/* The dump of a rank of which nothing is known but how its process is: sizeof *out bytes. */
void ct_trace_pack_blank(struct ct_trace_header *out, uint32_t rank, uint32_t size);

/* ---- reading dumps --------------------------------------------------------------------------- */

struct ct_trace_image {
    struct ct_trace_header h; /* its texts end, and are printable */
    const char            *at;
    double                 ns_a_tick;
};

/* Reads the dump that begins at `bytes`, which lie at a multiple of 8, and of which there are
 * `len`. They stay with the image. Returns the length of the dump; 0: it makes no sense, and `why`
 * says why. */
size_t ct_trace_image_read(struct ct_trace_image *image, const void *bytes, size_t len, char *why,
                           size_t cap);

/* Entry i < h.table[...].count. false: it is empty, or makes no sense. */
bool ct_trace_image_comm(const struct ct_trace_image *image, uint32_t i, struct ct_trace_comm *out);
bool ct_trace_image_call(const struct ct_trace_image *image, uint32_t i, struct ct_trace_call *out);
bool ct_trace_image_wait(const struct ct_trace_image *image, uint32_t i, struct ct_trace_wait *out);
/* A text of the table of names; "?": there is none. */
const char *ct_trace_image_name(const struct ct_trace_image *image, uint32_t index);

/* The member of a communicator by its runs; UINT32_MAX: they do not say. */
uint32_t ct_trace_comm_member(const struct ct_trace_comm *c, uint32_t rank);

/* Ticks as nanoseconds of CLOCK_MONOTONIC on that host. */
uint64_t ct_trace_image_ns(const struct ct_trace_image *image, uint64_t ticks);

#endif
