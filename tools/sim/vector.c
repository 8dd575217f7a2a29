/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The vector of a collective in numbers: how the calls (coll/calls.c) lay it out, and how the
 * runner cuts it into blocks and chunks, but for whole runs of blocks at a time.
 * tests/func/sim_counts.py holds what the runner sends against it.
 */
#include "sim.h"

bool sim_vector_init(struct sim_vector *v, const struct sim_case *c, uint32_t nblk)
{
    const uint32_t by_rank =
        CT_ALLGATHER | CT_GATHER | CT_SCATTER | CT_ALLTOALL | CT_REDUCE_SCATTER;
    uint64_t longest, bytes;
    if (__builtin_mul_overflow(c->bytes, (c->coll & by_rank) != 0 ? c->n : 1, &bytes)) {
        return false;
    }
    *v = (struct sim_vector){.element = c->element, .nblk = nblk};
    v->count = c->coll == CT_BARRIER ? 0 : bytes / c->element;
    v->quotient = v->count / nblk;
    v->rest = v->count % nblk;
    longest = v->quotient + (v->rest > 0);
    v->chunk_elems = longest;
    if (c->chunk_bytes > 0) {
        v->chunk_elems = ct_max_size(c->chunk_bytes / c->element, 1);
        v->chunk_elems = ct_min_size(v->chunk_elems, longest);
    }
    v->chunk_elems = ct_min_size(v->chunk_elems, ct_div_up(longest, c->algo->lanes));
    v->chunk_elems = ct_max_size(v->chunk_elems, 1);
    v->nchunks = ct_max_size(ct_div_up(longest, v->chunk_elems), 1);
    return true;
}

/* Elements of a chunk of a block of so many. */
static uint64_t part_of(const struct sim_vector *v, uint64_t elems, uint64_t chunk)
{
    uint64_t from = chunk * v->chunk_elems;
    return elems > from ? ct_min_size(elems - from, v->chunk_elems) : 0;
}

/* How many of the blocks 0 .. at - 1 are longer than the others; at may go round more than once. */
static uint64_t longer_before(const struct sim_vector *v, uint64_t at)
{
    return at / v->nblk * v->rest + ct_min_size(at % v->nblk, v->rest);
}

uint64_t sim_vector_bytes(const struct sim_vector *v, const struct ct_slice *slice,
                          const struct ct_slice *other, uint64_t chunk)
{
    const struct ct_slice *named = slice->buf == CT_TMP && other->buf != CT_TMP ? other : slice;
    uint64_t               blocks = (uint64_t)slice->run * slice->reps - slice->less, longer = 0;
    if (v->rest > 0) {
        for (uint32_t i = 0; i < named->reps; i++) {
            uint64_t at = (named->at + (uint64_t)i * named->stride) % v->nblk;
            uint64_t run = named->run - (i + 1 == named->reps ? named->less : 0);
            longer += longer_before(v, at + run) - longer_before(v, at);
        }
    }
    uint64_t shorter = blocks - longer;
    return v->element *
           (longer * part_of(v, v->quotient + 1, chunk) + shorter * part_of(v, v->quotient, chunk));
}
