/* SPDX-License-Identifier: BSD-3-Clause */
/* What the prover's own files share: the ranks, their memory, the first failure. */
#ifndef PROVE_STATE_H
#define PROVE_STATE_H

#include "prove.h"
#include "word.h"

enum { PROVE_MAX_ROUNDS_OVER = 64 }; /* rounds() may be up to 4 n and this many */

/* How many transfers that are under way read a block, and write it. */
struct mark {
    uint16_t readers, writers;
};

struct memory {
    struct word_space words;
    struct word      *cells;
    struct mark      *marks;
    size_t            cap;             /* of both arrays */
    size_t            base[3], row[3]; /* by enum ct_buf: first cell, cells a rank */
};

/* One execution: a case on one lane. */
struct prove {
    const struct prove_case *c;
    const struct ct_algo    *algo;
    uint32_t                 n, nblk, rounds;
    unsigned                 lane;
    struct ct_env           *envs; /* n of each */
    uint32_t                *tmp;
    struct memory            mem;
    struct prove_result     *res;
};

/* Notes why, unless something was noted before, and returns false. */
bool prove_fail(struct prove *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* steps.c: asks rank `me` for round r. */
unsigned prove_ask(struct prove *p, uint32_t me, uint32_t r, struct ct_step *out);
bool     prove_check_steps(struct prove *p);

/* Whether MPI gives this rank this block of this buffer, to read or to write. */
bool prove_may_touch(const struct prove *p, uint32_t me, uint32_t buf, uint32_t block, bool write);

static inline uint32_t slice_count(const struct ct_slice *s)
{
    return s->run * s->reps - s->less;
}

/* What RX_OP, and OP, reduce with. */
static inline const struct ct_slice *step_operand(const struct ct_step *s)
{
    return (s->flags & CT_ONTO) != 0 ? &s->dst : &s->src;
}

static inline bool step_transfers(const struct ct_step *s)
{
    return s->act == CT_TX || s->act == CT_RX || s->act == CT_RX_OP;
}

/* The slice that says which blocks a step is about. */
static inline const struct ct_slice *step_name(const struct ct_step *s)
{
    const struct ct_slice *own = s->act == CT_TX ? &s->src : &s->dst;
    const struct ct_slice *other = s->act == CT_TX ? &s->dst : &s->src;
    return own->buf == CT_TMP ? other : own;
}

/* The k-th place of a slice of this rank, in its buffer. */
static inline uint32_t slice_place(const struct prove *p, uint32_t me, const struct ct_slice *s,
                                   uint32_t k)
{
    uint64_t at = s->at + (uint64_t)(k / s->run) * s->stride + k % s->run;
    uint32_t place = (uint32_t)(at % (s->buf == CT_TMP ? p->tmp[me] : p->nblk));
    bool     moved =
        s->buf != CT_TMP && (p->algo->traits & CT_BY_PLACE) != 0 && p->c->levels->rank != NULL;
    return moved ? p->c->levels->rank[place] : place;
}

/* Whether steps must say rightly which blocks they are about: where all are alike they need not. */
static inline bool names_count(const struct prove *p)
{
    return p->algo->colls != CT_ALLTOALL || p->c->uneven;
}

/* The number, at its sender, of the k-th block that a step is about. Where both slices lie in TMP
 * there is but one block. */
static inline uint32_t step_block(const struct prove *p, uint32_t me, const struct ct_step *s,
                                  uint32_t k)
{
    const struct ct_slice *name = step_name(s);
    if (name->buf == CT_RECV && p->algo->colls == CT_ALLTOALL) {
        return me;
    }
    return name->buf == CT_TMP ? 0 : slice_place(p, me, name, k);
}

/* memory.c. Functions return false after prove_fail. */
void         prove_memory_init(struct prove *p);
void         prove_memory_fini(struct memory *m);
struct word *prove_memory_cell(struct prove *p, uint32_t me, uint32_t buf, uint32_t place);

/* Does a COPY or an OP. */
bool prove_memory_local(struct prove *p, uint32_t me, const struct ct_step *s);

/* Marks what a transfer touches, and takes the marks off again. */
bool prove_memory_mark(struct prove *p, uint32_t me, const struct ct_step *s);
void prove_memory_unmark(struct prove *p, uint32_t me, const struct ct_step *s);

/* Reads the source of a TX, and lands words in the destination of an RX or RX_OP. */
bool prove_memory_read(struct prove *p, uint32_t me, const struct ct_step *s, struct word *out);
bool prove_memory_land(struct prove *p, uint32_t me, const struct ct_step *s,
                       const struct word *in);

/* Whether every block that MPI defines is right. */
bool prove_memory_check_result(struct prove *p);

#endif
