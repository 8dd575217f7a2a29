/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dense - buffers of any datatype, in memory of any kind, as the collectives take them: blocks of
 * bytes in plain memory. Plain memory without gaps is used in place. All other memory is copied
 * before the collective, and results are copied back after it. So algorithms and chunks depend on
 * sizes alone, which are equal on all ranks: one rank may give a GPU's memory while another gives
 * the host's.
 *
 * The order of calls: _open (with `fill`, where the collective reads the buffer), the collective,
 * _close (with `store`, where it wrote it and succeeded; CTRAN_ERR_BUFFER: it could not be stored).
 * A failed _open counts as the collective, as the other ranks do, so that the next one is the same
 * for all; it has logged the cause.
 */
#ifndef CT_API_DENSE_H
#define CT_API_DENSE_H

#include "api/api.h"

/* Memory for a copy of what `memory` has; NULL: of plain memory. */
struct ct_copy {
    char                   *base; /* NULL: there is none */
    size_t                  len_bytes;
    const struct ct_memory *memory;
};

struct ct_dense {
    char          *base; /* what the collective is given */
    struct ct_copy copy; /* if it is one, and not the user's own memory */
    struct ct_area user; /* of a copy: where the elements are, and */
    struct ct_area here; /* where their copies are */
};

/* No buffer: what _close finds there. */
static inline void ct_dense_none(struct ct_dense *d)
{
    d->base = d->copy.base = NULL;
}

/* False: out of memory. Plain memory is all zeros. */
bool ct_copy_get(const struct ct_memory *memory, size_t len_bytes, struct ct_copy *copy);
void ct_copy_put(struct ct_copy *copy);

/* count elements of type at buf as one block. A count of 0 gives base NULL; a buf that is NULL is
 * CTRAN_BOTTOM. */
int ct_dense_open(struct ct_comm *comm, const char *call, const void *buf, size_t count,
                  const struct ct_dtype *type, bool fill, struct ct_dense *d);
/* Like ct_dense_open for a reduction: elements an extent apart, the first one's data from its true
 * lower bound on. Only derived types are ever copied. */
int ct_dense_open_elements(struct ct_comm *comm, const char *call, const void *buf, size_t count,
                           const struct ct_dtype *type, bool fill, struct ct_dense *d);
/* Like ct_dense_open_elements for whoever wants elements just as they lie in memory, gaps and all,
 * but plain. */
int ct_dense_open_copy(struct ct_comm *comm, const char *call, const struct ct_span *span,
                       bool fill, struct ct_dense *d);
int ct_dense_close(struct ct_dense *d, bool store);

/* Both buffers of a reduction: nsend and nrecv elements. send may be CTRAN_IN_PLACE, and so is then
 * the base of `in`. nrecv is 0 where the rank gets no result, nsend where it gives nothing: then
 * the pointer is not looked at. keep: what is in recv stays where nothing is received. */
struct ct_dense_ends {
    struct ct_dense in, out;
};
int ct_dense_open_reduction(struct ct_comm *comm, const char *call, const void *send, size_t nsend,
                            void *recv, size_t nrecv, const struct ct_dtype *type, bool keep,
                            struct ct_dense_ends *e);
int ct_dense_close_reduction(struct ct_dense_ends *e, bool store);

/* The same for blocks with counts and displacements, which are in extents of the type. */
struct ct_dense_blocks {
    struct ct_blocks       blocks; /* what the collective is given */
    struct ct_copy         copy;
    ctran_aint_t          *displs; /* of the copies */
    struct ct_blocks       user;
    const struct ct_dtype *type;
};

/* user: NULL for a buffer that the call does not use; then blocks is all zeros. */
int ct_dense_open_blocks(struct ct_comm *comm, const char *call, const struct ct_blocks *user,
                         const struct ct_dtype *type, bool fill, struct ct_dense_blocks *d);
int ct_dense_close_blocks(struct ct_dense_blocks *d, bool store);

#endif
