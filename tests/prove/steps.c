/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What can be said of steps without executing them: see prove.h. The engine calls it before it
 * executes anything, and relies on every slice being in range afterwards.
 */
#include <string.h>

#include "state.h"

unsigned prove_ask(struct prove *p, uint32_t me, uint32_t r, struct ct_step *out)
{
    return p->algo->round(&p->envs[me], p->lane, r, out);
}

static bool same_slice(const struct ct_slice *a, const struct ct_slice *b)
{
    return a->buf == b->buf && a->at == b->at && a->run == b->run && a->reps == b->reps &&
           a->less == b->less && (a->reps == 1 || a->stride == b->stride);
}

/* Which slices count in this step: bit 0 src, bit 1 dst. */
static unsigned slices_used(const struct ct_step *s)
{
    switch (s->act) {
    case CT_TX:
        return s->src.buf == CT_TMP ? 3 : 1;
    case CT_RX:
        return s->dst.buf == CT_TMP ? 3 : 2;
    case CT_RX_OP:
        return (s->flags & CT_ONTO) != 0 && s->dst.buf != CT_TMP ? 2 : 3;
    default:
        return 3;
    }
}

static bool same_step(const struct ct_step *a, const struct ct_step *b)
{
    unsigned used = slices_used(a);
    return a->act == b->act && a->flags == b->flags && (!step_transfers(a) || a->peer == b->peer) &&
           ((used & 1) == 0 || same_slice(&a->src, &b->src)) &&
           ((used & 2) == 0 || same_slice(&a->dst, &b->dst));
}

/* Whether MPI gives this rank this block of SEND. */
static bool is_in_send(const struct prove *p, uint32_t me, uint32_t block)
{
    switch (p->algo->colls) {
    case CT_BARRIER:
    case CT_BCAST:
        return false;
    case CT_ALLGATHER:
    case CT_GATHER:
        return block == me;
    case CT_SCATTER:
        return me == p->c->root;
    default:
        return true;
    }
}

bool prove_may_touch(const struct prove *p, uint32_t me, uint32_t buf, uint32_t block, bool write)
{
    bool at_root = me == p->c->root;
    if (buf == CT_TMP) {
        return true;
    }
    if (buf == CT_SEND) {
        return !write && is_in_send(p, me, block);
    }
    switch (p->algo->colls) {
    case CT_BARRIER:
        return false;
    case CT_BCAST:
        return !write || !at_root;
    case CT_REDUCE:
    case CT_GATHER:
        return at_root;
    case CT_REDUCE_SCATTER:
    case CT_SCATTER:
        return block == me;
    case CT_EXSCAN:
        return me > 0;
    default:
        return true;
    }
}

/* No block twice, for slices with repetitions; the others have none by their length. */
static bool is_distinct(const struct prove *p, uint32_t me, const struct ct_slice *s)
{
    static uint32_t seen[1 << 16], now; /* by place: when it was seen last */
    now++;
    for (uint32_t k = 0; s->reps > 1 && k < slice_count(s); k++) {
        uint32_t *last = &seen[slice_place(p, me, s, k) % (1 << 16)];
        if (*last == now) {
            return false;
        }
        *last = now;
    }
    return true;
}

static bool check_slice(struct prove *p, uint32_t me, uint32_t r, const struct ct_slice *s,
                        bool touched, bool write)
{
    uint32_t size = s->buf == CT_TMP ? p->tmp[me] : p->nblk;
    bool     empty = s->run == 0;

    if (s->buf > CT_TMP || s->reps == 0 || (s->less > 0 && s->less >= s->run) ||
        empty != (p->algo->colls == CT_BARRIER)) {
        return prove_fail(p, "rank %u round %u: buffer %u, %u blocks %u times", me, r, s->buf,
                          s->run, s->reps);
    }
    if (empty) {
        return s->buf == CT_TMP || prove_fail(p, "rank %u round %u: empty, not TMP", me, r);
    }
    if (s->at >= size || (uint64_t)s->run * s->reps - s->less > size || !is_distinct(p, me, s)) {
        return prove_fail(p, "rank %u round %u: blocks %u to %u, %u times, of %u", me, r, s->at,
                          s->at + s->run - 1, s->reps, size);
    }
    for (uint32_t k = 0; touched && k < slice_count(s); k++) {
        if (!prove_may_touch(p, me, s->buf, slice_place(p, me, s, k), write)) {
            return prove_fail(p, "rank %u round %u: %s block %u of %s, which it may not", me, r,
                              write ? "writes" : "reads", slice_place(p, me, s, k),
                              s->buf == CT_SEND ? "SEND" : "RECV");
        }
    }
    return true;
}

static bool check_both(struct prove *p, uint32_t me, uint32_t r, const struct ct_step *s)
{
    if (slice_count(&s->src) != slice_count(&s->dst)) {
        return prove_fail(p, "rank %u round %u: %u blocks to %u", me, r, slice_count(&s->src),
                          slice_count(&s->dst));
    }
    if (!names_count(p)) {
        return true;
    }
    if (s->src.buf == CT_TMP && s->dst.buf == CT_TMP) {
        return p->nblk == 1 || prove_fail(p, "rank %u round %u: nothing names the blocks", me, r);
    }
    if (s->src.buf == CT_TMP || s->dst.buf == CT_TMP) {
        return true;
    }
    for (uint32_t k = 0; k < slice_count(&s->src); k++) {
        if (slice_place(p, me, &s->src, k) != slice_place(p, me, &s->dst, k)) {
            return prove_fail(p, "rank %u round %u: block %u to block %u", me, r,
                              slice_place(p, me, &s->src, k), slice_place(p, me, &s->dst, k));
        }
    }
    return true;
}

/* Uneven: this rank knows the length of each block that the step is about. */
static bool check_known(struct prove *p, uint32_t me, uint32_t r, const struct ct_step *s)
{
    const struct ct_slice *name = step_name(s);
    bool                   moves = (p->algo->colls & (CT_GATHER | CT_SCATTER)) != 0;

    for (uint32_t k = 0; p->c->uneven && moves && k < slice_count(name); k++) {
        uint32_t block = slice_place(p, me, name, k);
        if (block != me && me != p->c->root) {
            return prove_fail(p, "rank %u round %u: cannot know the length of block %u", me, r,
                              block);
        }
    }
    return !p->c->uneven || name->buf != CT_TMP ||
           prove_fail(p, "rank %u round %u: nothing names the blocks", me, r);
}

/* CT_STRIDED says that a slice repeats somewhere. */
static bool check_strides(struct prove *p, uint32_t me, uint32_t r, const struct ct_step *s,
                          unsigned used)
{
    bool strided = ((used & 1) != 0 && s->src.reps > 1) || ((used & 2) != 0 && s->dst.reps > 1);
    return !strided || (p->algo->traits & CT_STRIDED) != 0 ||
           prove_fail(p, "rank %u round %u: a slice repeats, though no trait says so", me, r);
}

static unsigned flags_allowed(const struct ct_step *s)
{
    switch (s->act) {
    case CT_RX_OP:
        return CT_SWAP | CT_ONTO;
    case CT_OP:
        return CT_SWAP;
    default:
        return 0;
    }
}

static bool check_step(struct prove *p, uint32_t me, uint32_t r, const struct ct_step *s)
{
    if (s->act > CT_OP || (s->flags & ~flags_allowed(s)) != 0) {
        return prove_fail(p, "rank %u round %u: act %u, flags %u", me, r, s->act, s->flags);
    }
    if (step_transfers(s) && (s->peer >= p->n || s->peer == me)) {
        return prove_fail(p, "rank %u round %u: peer %u", me, r, s->peer);
    }
    unsigned used = slices_used(s);
    bool     reads = s->act != CT_RX && step_operand(s) == &s->src, writes = s->act != CT_TX;
    if (((used & 1) != 0 && !check_slice(p, me, r, &s->src, reads, false)) ||
        ((used & 2) != 0 && !check_slice(p, me, r, &s->dst, writes, true))) {
        return false;
    }
    return (used != 3 || check_both(p, me, r, s)) && check_known(p, me, r, s) &&
           check_strides(p, me, r, s, used);
}

static bool is_rotated(const struct prove *p, uint32_t me, const struct ct_slice *zero,
                       const struct ct_slice *s)
{
    struct ct_slice want = *zero;
    if (zero->buf != CT_TMP && p->nblk == p->n) {
        want.at = (zero->at + me) % p->n;
    }
    return same_slice(&want, s);
}

/* CT_SHIFT: rank me's round is rank 0's with me added to ranks and blocks. */
static bool check_shift(struct prove *p, uint32_t me, uint32_t r, const struct ct_step *steps,
                        unsigned count)
{
    struct ct_step zero[CT_MAX_STEPS];
    if (prove_ask(p, 0, r, zero) != count) {
        return prove_fail(p, "rank %u round %u: not as many steps as rank 0", me, r);
    }
    for (unsigned i = 0; i < count; i++) {
        const struct ct_step *a = &zero[i], *b = &steps[i];
        unsigned              used = slices_used(a);
        if (a->act != b->act || a->flags != b->flags ||
            (step_transfers(a) && (a->peer + me) % p->n != b->peer) ||
            ((used & 1) != 0 && !is_rotated(p, me, &a->src, &b->src)) ||
            ((used & 2) != 0 && !is_rotated(p, me, &a->dst, &b->dst))) {
            return prove_fail(p, "rank %u round %u: not rank 0's, shifted", me, r);
        }
    }
    return true;
}

/* Asked twice, into memory with different rubbish, it says the same. */
static bool ask_twice(struct prove *p, uint32_t me, uint32_t r, struct ct_step *out,
                      unsigned *count)
{
    struct ct_step again[CT_MAX_STEPS];

    memset(out, 0xa5, sizeof(again));
    memset(again, 0x5a, sizeof(again));
    *count = prove_ask(p, me, r, out);
    if (*count > CT_MAX_STEPS || prove_ask(p, me, r, again) != *count) {
        return prove_fail(p, "rank %u round %u: %u steps", me, r, *count);
    }
    for (unsigned i = 0; i < *count; i++) {
        if (!same_step(&out[i], &again[i])) {
            return prove_fail(p, "rank %u round %u: step %u is not set alike twice", me, r, i);
        }
    }
    return true;
}

static bool check_round(struct prove *p, uint32_t me, uint32_t r)
{
    struct ct_step steps[CT_MAX_STEPS];
    unsigned       count;

    if (!ask_twice(p, me, r, steps, &count)) {
        return false;
    }
    for (unsigned i = 0; i < count; i++) {
        if (!check_step(p, me, r, &steps[i])) {
            return false;
        }
    }
    return (p->algo->traits & CT_SHIFT) == 0 || check_shift(p, me, r, steps, count);
}

/* CT_ONE_SHOT: who sends does not wait for others first. */
static bool check_one_shot(struct prove *p, uint32_t me)
{
    bool sends = false, received = false;
    for (uint32_t r = 0; r < p->rounds; r++) {
        struct ct_step steps[CT_MAX_STEPS];
        unsigned       count = prove_ask(p, me, r, steps), tx = 0, rx = 0;
        for (unsigned i = 0; i < count; i++) {
            tx += steps[i].act == CT_TX;
            rx += steps[i].act == CT_RX || steps[i].act == CT_RX_OP;
        }
        if (tx > 0 && received && !sends) {
            return prove_fail(p, "rank %u round %u: it sends first after it has received", me, r);
        }
        sends = sends || tx > 0;
        received = received || rx > 0;
    }
    return true;
}

/* CT_TWO_SHOT: first the input, then the block that was made of it. */
static bool check_two_shot(struct prove *p, uint32_t me)
{
    for (uint32_t r = 0; p->n > 1 && r < p->rounds; r++) {
        struct ct_step steps[CT_MAX_STEPS];
        unsigned       count = prove_ask(p, me, r, steps);
        const bool     second = r >= p->rounds / 2;
        for (unsigned i = 0; i < count; i++) {
            const struct ct_slice *src = &steps[i].src;
            const bool own = src->buf == CT_RECV && src->at == me && src->run * src->reps == 1;
            if (steps[i].act == CT_TX && (second ? !own : src->buf != CT_SEND)) {
                return prove_fail(p, "rank %u round %u: shot %u sends something else", me, r,
                                  second + 1u);
            }
        }
    }
    return true;
}

/* The rank that `me` meets in round 0 for this root; n: nobody. */
static uint32_t first_met(const struct prove *p, uint32_t me, uint32_t root)
{
    struct ct_env  env = p->envs[me];
    struct ct_step steps[CT_MAX_STEPS];
    env.root = root;
    return p->algo->round(&env, p->lane, 0, steps) > 0 ? steps[0].peer : p->n;
}

/* CT_RELAY: once, the input if nothing has come, else the sum of what has. */
static bool check_forwards(struct prove *p, uint32_t me)
{
    unsigned sent = 0, received = 0;
    if (p->envs[me].nblk != 1) {
        return prove_fail(p, "it has %u blocks", p->envs[me].nblk);
    }
    for (uint32_t root = 0; p->n > 1 && root < p->n; root += p->n / 4 + 1) {
        if (first_met(p, me, root) != first_met(p, me, 0)) {
            return prove_fail(p, "rank %u meets another one first if the root is %u", me, root);
        }
    }
    for (uint32_t r = 0; r < p->rounds; r++) {
        struct ct_step steps[CT_MAX_STEPS];
        unsigned       count = prove_ask(p, me, r, steps);
        for (unsigned i = 0; i < count; i++) {
            const enum ct_buf from = received > 0 ? CT_TMP : CT_SEND;
            const bool        tx = steps[i].act == CT_TX;
            if (tx && (sent > 0 || steps[i].src.buf != from)) {
                return prove_fail(p, "rank %u round %u: it sends something else", me, r);
            }
            if (!tx && sent > 0) {
                return prove_fail(p, "rank %u round %u: it is not through when it sends", me, r);
            }
            if (p->n > 1 && !tx && steps[i].act != CT_RX_OP) {
                return prove_fail(p, "rank %u round %u: it does more than to add up", me, r);
            }
            sent += tx;
            received += steps[i].act == CT_RX_OP;
        }
    }
    return true;
}

bool prove_check_steps(struct prove *p)
{
    if (p->algo->rxlag == 0 || p->algo->txlag == 0) {
        return prove_fail(p, "a lag is 0");
    }
    for (uint32_t me = 0; me < p->n; me++) {
        if (p->algo->rounds(&p->envs[me], p->lane) != p->rounds) {
            return prove_fail(p, "rank %u has %u rounds, rank 0 has %u", me,
                              p->algo->rounds(&p->envs[me], p->lane), p->rounds);
        }
        for (uint32_t r = 0; r < p->rounds; r++) {
            if (!check_round(p, me, r)) {
                return false;
            }
        }
        if ((p->algo->traits & CT_ONE_SHOT) != 0 && !check_one_shot(p, me)) {
            return false;
        }
        if ((p->algo->traits & CT_TWO_SHOT) != 0 && !check_two_shot(p, me)) {
            return false;
        }
        if ((p->algo->traits & CT_RELAY) != 0 && !check_forwards(p, me)) {
            return false;
        }
    }
    return true;
}
