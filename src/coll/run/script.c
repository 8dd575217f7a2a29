/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing scripts (script.h): a rank's first TX puts its whole input in, an RX waits for the
 * sender's flag and reads there; where an algorithm would receive into scratch, it is read where it
 * is. Of a relay (CT_RELAY) a rank that receives before it sends adds up where its input goes.
 */
#define CT_FOLDER "run"
#include "coll/run/script.h"

#include <stdlib.h>

struct writer {
    struct ct_script          *s;
    const struct ct_script_of *of;
    bool                       is_in;  /* the rank's input has been put in */
    bool                       relays; /* it is added up there */
    int                        rc;
    uint32_t                   round;
    struct ct_place            tmp_at[CT_SHM_COLL_RANKS]; /* scratch that is read in an input */
};

/* ---- acts and places ------------------------------------------------------------------------- */

bool ct_script_reserve(struct ct_script *s, size_t n)
{
    struct ct_script_act *acts = n > s->cap ? realloc(s->acts, n * sizeof *acts) : s->acts;
    if (acts != NULL) {
        s->cap = n > s->cap ? n : s->cap;
        s->acts = acts;
    }
    return acts != NULL;
}

static void add(struct writer *w, struct ct_script_act act)
{
    struct ct_script *s = w->s;
    if (s->n == s->cap && !ct_script_reserve(s, 2 * s->cap + 16)) {
        w->rc = CTRAN_ERR_NO_MEM;
    } else {
        s->acts[s->n++] = act;
    }
}

static struct ct_place input_of(uint32_t rank, size_t at_bytes)
{
    return (struct ct_place){.in = CT_INPUT + rank, .at_bytes = (ptrdiff_t)at_bytes};
}

/* The i-th block of a slice, and its elements in this chunk. `names` as in ct_view_part. */
static struct ct_place block_of(const struct writer *w, const struct ct_slice *s,
                                const struct ct_slice *names, uint32_t i, size_t *elems)
{
    const struct ct_view *v = w->of->view;
    const struct ct_part  part = ct_view_part(v, s, names, i);
    *elems = part.elems;
    if (part.elems == 0) {
        return (struct ct_place){.in = s->buf};
    }
    if (s->buf != CT_TMP) {
        return (struct ct_place){.in = s->buf, .at_bytes = part.base - v->layout->buf[s->buf].base};
    }
    const struct ct_place *read = &w->tmp_at[ct_slice_at(s, i) % v->ntmp];
    return read->in != 0 ? *read : (struct ct_place){.in = CT_TMP, .at_bytes = part.base - v->tmp};
}

static void add_copy(struct writer *w, struct ct_place dst, struct ct_place src, size_t elems)
{
    size_t len = elems * w->of->args->layout.elem_bytes;
    if (len > 0) {
        add(w, (struct ct_script_act){.kind = CT_DO_COPY, .dst = dst, .a = src, .len = len});
    }
}

/* ---- putting in ------------------------------------------------------------------------------ */

static void put_block(struct writer *w, enum ct_buf buf, uint32_t block, size_t to)
{
    const struct ct_slice name = {.buf = (uint8_t)buf, .at = block, .run = 1, .reps = 1};
    size_t                elems;
    struct ct_place       src = block_of(w, &name, &name, 0, &elems);
    add_copy(w, input_of(w->of->args->env.me, to), src, elems);
}

/* The blocks before this rank's, and those behind it right after them. */
static void put_others(struct writer *w)
{
    const struct ct_layout *l = &w->of->args->layout;
    const uint32_t          me = w->of->args->env.me;
    const size_t            own = ct_layout_start(l, me), next = ct_layout_start(l, me + 1);
    const ptrdiff_t         behind = (ptrdiff_t)(next * l->elem_bytes);
    add_copy(w, input_of(me, 0), (struct ct_place){.in = CT_SEND}, own);
    add_copy(w, input_of(me, own * l->elem_bytes),
             (struct ct_place){.in = CT_SEND, .at_bytes = behind}, l->count - next);
}

/* Of several blocks nobody but `rank` reads its own, so those behind that one move up. */
static size_t strides_to(const struct ct_layout *l, uint32_t block, uint32_t rank)
{
    return block - (l->nblk > 1 && block > rank);
}

static void put_data(struct writer *w)
{
    const struct ct_script_of *of = w->of;
    const struct ct_layout    *l = &of->args->layout;
    const uint32_t             me = of->args->env.me;
    if (of->one || of->result) {
        put_block(w, of->result ? CT_RECV : CT_SEND, me, 0);
    } else if (of->whole || (l->nblk == 1 && of->stride_bytes == 0)) {
        add_copy(w, input_of(me, 0), (struct ct_place){.in = CT_SEND}, l->count);
    } else if (of->stride_bytes == 0) {
        put_others(w);
    } else {
        for (uint32_t i = 0; i < l->nblk; i++) {
            if (i != me || l->nblk == 1) {
                put_block(w, CT_SEND, i, strides_to(l, i, me) * of->stride_bytes);
            }
        }
    }
}

static void put_in(struct writer *w)
{
    if (!w->relays) {
        add(w, (struct ct_script_act){.kind = CT_DO_ROOM});
        if (!w->of->args->signal) {
            put_data(w);
        }
    }
    add(w, (struct ct_script_act){.kind = CT_DO_POST});
    w->is_in = true;
}

/* What this step adds up will be put in, so it is made there. */
static void relay(struct writer *w, const struct ct_step *step)
{
    const bool sum = step->act == CT_RX_OP && step->dst.buf == CT_TMP;
    if (sum && !w->relays && (w->of->args->algo->traits & CT_RELAY) != 0) {
        size_t elems;
        (void)block_of(w, &step->dst, &step->src, 0, &elems);
        add(w, (struct ct_script_act){.kind = CT_DO_ROOM,
                                      .len = elems * w->of->args->layout.elem_bytes});
        w->tmp_at[step->dst.at] = input_of(w->of->args->env.me, 0);
        w->relays = true;
    }
}

/* ---- local work ------------------------------------------------------------------------------ */

/* dst = in op src (or the other way round), block by block; `in` are the blocks of dst where it is
 * NULL, else one after the other from there on. */
static void add_reduction(struct writer *w, const struct ct_step *step, const struct ct_place *in)
{
    struct ct_place at = in != NULL ? *in : (struct ct_place){.in = 0};
    for (uint32_t i = 0; i < ct_slice_blocks(&step->dst); i++) {
        size_t          elems, same;
        struct ct_place dst = block_of(w, &step->dst, &step->src, i, &elems);
        struct ct_place src =
            (step->flags & CT_ONTO) != 0 ? dst : block_of(w, &step->src, &step->dst, i, &same);
        struct ct_place a = in != NULL ? at : dst;
        bool            swap = (step->flags & CT_SWAP) != 0;
        if (elems > 0) {
            add(w, (struct ct_script_act){.kind = CT_DO_REDUCE,
                                          .dst = dst,
                                          .a = swap ? src : a,
                                          .b = swap ? a : src,
                                          .len = elems});
        }
        at.at_bytes += (ptrdiff_t)(elems * w->of->args->layout.elem_bytes);
    }
}

static bool same_place(const struct ct_slice *a, const struct ct_slice *b)
{
    return a->buf == b->buf && a->at == b->at && a->run == 1 && b->run == 1;
}

/* A sum of two is one act, which may write over what it reads: in place the input, once it has been
 * put in, need not be copied for that. */
static bool may_stay(const struct writer *w, const struct ct_step *s)
{
    const struct ct_env *env = &w->of->args->env;
    const uint32_t       sums = CT_ALLREDUCE | CT_SCAN;
    return env->inplace && env->n == 2 && (w->of->args->algo->colls & sums) != 0 && w->is_in &&
           s->act == CT_COPY && s->dst.buf == CT_TMP && s->src.buf == CT_SEND;
}

/* What needs no peer. A sum that begins with a copy is made in one go. Returns the steps done. */
static unsigned compute(struct writer *w, const struct ct_step *s, unsigned n)
{
    size_t elems;
    if (s->act == CT_OP) {
        add_reduction(w, s, NULL);
        return 1;
    }
    if (may_stay(w, s)) {
        const struct ct_slice own = {.buf = CT_RECV, .at = s->src.at, .run = 1, .reps = 1};
        w->tmp_at[s->dst.at] = block_of(w, &own, &own, 0, &elems); /* in place it lies there */
        return 1;
    }
    if (n > 1 && s[1].act == CT_OP && s[1].flags == 0 && same_place(&s->dst, &s[1].dst)) {
        struct ct_step both = s[1];
        both.src = s->src;
        both.flags = CT_SWAP; /* dst = src op in */
        struct ct_place in = block_of(w, &s[1].src, &s[1].dst, 0, &elems);
        add_reduction(w, &both, &in);
        return 2;
    }
    for (uint32_t i = 0; i < ct_slice_blocks(&s->dst); i++) {
        struct ct_place dst = block_of(w, &s->dst, &s->src, i, &elems);
        struct ct_place src = block_of(w, &s->src, &s->dst, i, &elems);
        add_copy(w, dst, src, elems);
    }
    return 1;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Where the peer has put the block that the step receives. */
static size_t offset_of(const struct writer *w, const struct ct_step *step)
{
    const struct ct_script_of *of = w->of;
    const struct ct_layout    *l = &of->args->layout;
    if (of->one || of->result || l->nblk == 1) {
        return 0;
    }
    const struct ct_slice *name = step->dst.buf == CT_TMP ? &step->src : &step->dst;
    uint32_t block = of->args->algo->colls == CT_ALLTOALL ? of->args->env.me : name->at;
    if (of->whole) {
        return ct_layout_start(l, block) * l->elem_bytes;
    }
    if (of->stride_bytes > 0) {
        return strides_to(l, block, step->peer) * of->stride_bytes;
    }
    const uint32_t peer = step->peer;
    const size_t   left_out =
        block > peer ? ct_layout_start(l, peer + 1) - ct_layout_start(l, peer) : 0;
    return (ct_layout_start(l, block) - left_out) * l->elem_bytes;
}

static void receive(struct writer *w, const struct ct_step *step)
{
    if (w->of->args->signal) {
        add(w, (struct ct_script_act){.kind = CT_DO_AWAIT, .peer = step->peer});
        return;
    }
    const struct ct_place in = input_of(step->peer, offset_of(w, step));
    size_t                elems;
    relay(w, step);
    const struct ct_place dst = block_of(w, &step->dst, &step->src, 0, &elems);
    const size_t          len = elems * w->of->args->layout.elem_bytes;
    add(w,
        (struct ct_script_act){.kind = CT_DO_AWAIT,
                               .peer = step->peer,
                               .mate = w->round == 0 && (w->of->args->algo->traits & CT_RELAY) != 0,
                               .len = (size_t)in.at_bytes + len});
    if (step->act == CT_RX_OP) {
        add_reduction(w, step, &in);
    } else if (step->dst.buf == CT_TMP) {
        w->tmp_at[step->dst.at] = in;
    } else {
        add_copy(w, dst, in, elems);
    }
}

/* ---- rounds ---------------------------------------------------------------------------------- */

/* What is put in comes first, for others wait for it. */
static void write_round(struct writer *w, uint32_t r)
{
    struct ct_step steps[CT_MAX_STEPS];
    unsigned       n = w->of->args->algo->round(&w->of->args->env, 0, r, steps);
    for (unsigned i = 0; i < n && !w->is_in; i++) {
        if (steps[i].act == CT_TX) {
            put_in(w);
        }
    }
    for (unsigned i = 0; i < n; i++) {
        if (steps[i].act == CT_COPY || steps[i].act == CT_OP) {
            i += compute(w, &steps[i], n - i) - 1;
        }
    }
    for (unsigned i = 0; i < n; i++) {
        if (steps[i].act == CT_RX || steps[i].act == CT_RX_OP) {
            receive(w, &steps[i]);
        }
    }
}

int ct_script_write(struct ct_script *s, const struct ct_script_of *of, uint32_t from, uint32_t to)
{
    struct writer w = {.s = s, .of = of};
    for (uint32_t r = from; r < to && w.rc == CTRAN_SUCCESS; r++) {
        w.round = r;
        write_round(&w, r);
    }
    return w.rc;
}
