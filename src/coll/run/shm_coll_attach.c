/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long input that stays where it is: who would put it in says through shared memory where it lies,
 * and the others read it there. No collective is over here before its input is read.
 *
 *   owner                                reader
 *     note in the slot, flag         ->     reads, straight to where it is wanted; what is combined
 *                                           in stages that stay in the cache
 *     waits for that                 <-     done
 *
 * Two ranks expose what is long: that saves one of two copies. Short input is copied into the
 * shm_coll, since its owner has just written it: a reader would wait for each line that comes out
 * of the owner's cache, while a copy sends many lines at a time.
 *
 * More ranks expose to save the copy, of which a shm_coll takes two for each block that one rank
 * alone reads. All do or none, in one operation for all of the input; parts are not in the way.
 * They go by lengths. The data of a bcast are copied into the shm_coll: ranks on several cores that
 * read the same pages of one root wait for each other at the kernel's count of each page's users.
 *
 * If the input cannot be read, the reader asks for its part as a message, which comes while its
 * owner waits. It says so to its owner, or of more than two ranks to all, in a note; they do not
 * expose then but now and then, ever less often, until it reads again: it may have been that memory
 * alone. Ranks tell each other beforehand what their transports can do.
 *
 * After an error an owner recalls what it has exposed. A reader that has not begun does not begin
 * any more; the owner waits for the others, if they live. A reader announces that it begins before
 * it checks whether it may; an owner announces the recall before it checks who reads. So one of
 * them sees the other. An owner that takes a reader for dead does not wait for it, although the
 * reader may live: exposed memory is not written by the reader, and the reader checks again after
 * it has read.
 */
#define CT_FOLDER "run"
#include <stdlib.h>

#include "base/tsan.h"
#include "coll/run/shm_coll.h"

enum { STAGE = 32 << 10 };
enum { CT_ATTACH_AUTO, CT_ATTACH_ALWAYS, CT_ATTACH_NEVER }; /* CTRAN_COLL_ATTACH */

/* A vector in place is written over, mostly while it is read, and has been written just before.
 * Measured, where that is only after it was read, exposed and put in: allreduce of 256K 36 us and
 * 28, 1M 144 and 117, 4M 731 and 551. */
static bool overwrites(const struct ct_run_args *args)
{
    const uint32_t apart = CT_BCAST | CT_GATHER | CT_SCATTER | CT_ALLGATHER | CT_REDUCE;
    return args->env.inplace && (args->algo->colls & apart) == 0;
}

/* Of a vector in blocks of different lengths, what it is at most. */
static size_t vector_bytes(const struct ct_run_args *args)
{
    const struct ct_layout *l = &args->layout;
    const size_t            elems = l->count > 0 ? l->count : args->ctx->n * ct_layout_longest(l);
    return elems * l->elem_bytes;
}

/* Whether a vector gains by one copy less. A sum is made of what both ranks have written, and so
 * gains only if it takes a good part of a core's own cache; one that is some times larger had
 * better be put in, since one rank copies to the cache what the other adds up. A sum for one root
 * never gains: it is too long where it were long enough. */
static bool gains(const struct ct_shm_coll *b, const struct ct_run_args *args)
{
    const size_t bytes = vector_bytes(args), own = b->caches.private_bytes;
    return args->op.op == NULL
               ? bytes > own / 32
               : (args->algo->colls & CT_REDUCE) == 0 && bytes > own / 4 && bytes <= 4 * own;
}

/* Two ranks expose one operation after the other, more of them one at a time. */
static unsigned rows(const struct ct_shm_coll *b)
{
    return b->ctx->n == 2 ? CT_SHM_COLL_DEPTH : 1;
}

bool ct_shm_coll_expose_prepare(struct ct_shm_coll *b)
{
    struct ct_shm_coll_member *own = &b->shared->member[b->ctx->me];
    bool                       able = true, barred = false;
    for (uint32_t r = 0; r < b->ctx->n && able; r++) {
        struct ct_ep *ep = r == b->ctx->me ? NULL : b->ctx->ep(b->ctx, r);
        able = r == b->ctx->me || ep != NULL; /* once there they stay */
        barred |= ep != NULL && !ct_p2p_may_read(ep);
    }
    atomic_store_explicit(&own->blind, barred, memory_order_relaxed);
    atomic_store_explicit(&own->foreseen, barred, memory_order_relaxed);
    return able;
}

/* Not by `blind`, which a rank that is quicker may have changed since. */
void ct_shm_coll_expose_begin(struct ct_shm_coll *b)
{
    for (uint32_t r = 0; r < b->ctx->n; r++) {
        b->refused |= atomic_load_explicit(&b->shared->member[r].foreseen, memory_order_relaxed);
    }
}

/* Whether it is too early to expose again, after a reader could not read what was exposed last. */
static bool rests(struct ct_shm_coll *b, bool blind)
{
    enum { FIRST = 16, MOST = 4096 };
    const bool before = b->vain > 0;
    if (CT_LIKELY(!blind)) {
        b->vain = b->rest = 0;
        return false;
    }
    if (b->rest > 0) {
        b->rest--;
        return true;
    }
    b->vain = before ? (uint32_t)ct_min_size(2 * b->vain, MOST) : FIRST;
    b->rest = b->vain;
    return !before;
}

/* Long blocks are exposed, and so is input that would be put in part by part. */
bool ct_shm_coll_all_expose(struct ct_shm_coll *b, const struct ct_run_args *args,
                            struct ct_shm_coll_poll *poll)
{
    const size_t least = b->caches.private_bytes / 32;
    const int    how = b->ctx->p->cfg.coll_attach;
    const size_t bytes = args->layout.count * args->layout.elem_bytes, block = bytes / b->ctx->n;
    const bool   is_long = block >= least || bytes - block > b->part_bytes;
    *poll = (struct ct_shm_coll_poll){
        .asked = b->ctx->n > 2 && args->algo->colls == CT_ALLTOALL && bytes > CT_SHM_COLL_BYTES &&
                 (how == CT_ATTACH_ALWAYS || (how == CT_ATTACH_AUTO && is_long))};
    return poll->asked && !rests(b, b->refused);
}

void ct_shm_coll_count(struct ct_shm_coll_poll *poll, const struct ct_shm_coll_note *note)
{
    poll->nblind += note->blind;
}

void ct_shm_coll_conclude(struct ct_shm_coll *b, const struct ct_shm_coll_poll *poll)
{
    b->refused = poll->nblind > 0;
}

bool ct_shm_coll_exposes(struct ct_shm_coll *b, const struct ct_run_args *args)
{
    const int  how = b->ctx->p->cfg.coll_attach;
    const bool pays = gains(b, args) && !ct_ep_is_oversubscribed(b->ctx->p);
    if (b->ctx->n != 2 || how == CT_ATTACH_NEVER || args->layout.elem_bytes > STAGE ||
        overwrites(args) || (how == CT_ATTACH_AUTO && !pays)) {
        return false;
    }
    const _Atomic uint32_t *blind = &b->shared->member[1 - b->ctx->me].blind;
    return !rests(b, atomic_load_explicit(blind, memory_order_relaxed) != 0);
}

/* What `rank` reads of input of that many bytes: two ranks all of it, more its block. */
static struct ct_area part_of(const struct ct_shm_coll *b, uint32_t rank, uint64_t addr,
                              size_t bytes)
{
    const size_t len = b->ctx->n > 2 ? bytes / b->ctx->n : bytes;
    const size_t at = b->ctx->n > 2 ? rank * len : 0;
    return (struct ct_area){.base = (void *)(uintptr_t)(addr + at), .len_bytes = len};
}

void ct_shm_coll_expose(struct ct_shm_coll *b, const char *from, size_t at, size_t len_bytes)
{
    const struct ct_run_ctx   *ctx = b->ctx;
    const unsigned             row = b->k % rows(b);
    const struct ct_area       area = {.base = (void *)from, .len_bytes = len_bytes};
    struct ct_shm_coll_note   *note = &b->note;
    struct ct_shm_coll_exposed exposed = {NULL, (uintptr_t)from, len_bytes};
    unsigned char              key[CT_EP_MAX_RKEY];
    const size_t               len =
        ct_p2p_expose(ctx->p, &area, ctx->ep(ctx, ctx->me == 0), key, &exposed.region);
    b->exposed[row] = exposed;
    note->key_len = (uint32_t)ct_min_size(len, sizeof note->key);
    memcpy(note->key, key, note->key_len);
    note->addr = (uintptr_t)from;
    note->at_bytes = at;
    note->len_bytes = len_bytes;
    ct_tsan_release(note->addr);
    ct_line_own(ct_shm_coll_slot_of(b, ctx->me));
    b->exposed_mask |= UINT32_C(1) << row;
    b->exposed_k = b->k;
    b->exposed_long = b->exposed_long || len_bytes >= (size_t)b->ctx->p->cfg.shm_share;
}

/* Polls for as long as reading short input takes, before the rank concludes that no message
 * comes. */
static void poll_for(const struct ct_shm_coll *b, const _Atomic uint64_t *done)
{
    enum { TIMES = 8 }; /* as long as for short input: it is that many lines and more */
    for (unsigned i = 0; i < TIMES * b->polls && !ct_shm_coll_is_there(done, b->exposed_k); i++) {
        ct_line_pause();
    }
}

/* Until `rank` is through with what it may be reading, or dead. */
static void recall_from(struct ct_shm_coll *b, uint32_t rank)
{
    const struct ct_shm_coll_member *member = &b->shared->member[rank];
    const uint64_t k = atomic_load_explicit(&member->reading, memory_order_seq_cst);
    (void)ct_shm_coll_outwait(b, rank, &member->done, k);
}

static int await_readers(struct ct_shm_coll *b)
{
    int rc = CTRAN_SUCCESS;
    for (uint32_t r = 0; r < b->ctx->n && rc == CTRAN_SUCCESS; r++) {
        if (r != b->ctx->me) {
            if (b->ctx->n == 2 && !b->exposed_long) {
                poll_for(b, &b->shared->member[r].done);
            }
            rc = ct_shm_coll_await_done(b, r, b->exposed_k);
        }
    }
    return rc;
}

static void withdraw(struct ct_shm_coll *b, struct ct_shm_coll_exposed *exposed)
{
    const struct ct_run_ctx *ctx = b->ctx;
    if (exposed->region == NULL) {
        return;
    }
    for (uint32_t r = 0; r < ctx->n; r++) {
        if (r != ctx->me) {
            ct_tsan_acquire((uintptr_t)part_of(b, r, exposed->addr, exposed->len_bytes).base);
        }
    }
    ct_p2p_withdraw(ctx->p, exposed->region);
    exposed->region = NULL;
}

int ct_shm_coll_take_back(struct ct_shm_coll *b, int rc)
{
    const struct ct_run_ctx *ctx = b->ctx;
    rc = rc == CTRAN_SUCCESS ? await_readers(b) : rc;
    if (CT_UNLIKELY(rc != CTRAN_SUCCESS)) {
        atomic_store_explicit(&b->shared->member[ctx->me].recalled, rc, memory_order_seq_cst);
    }
    for (uint32_t r = 0; r < ctx->n && rc != CTRAN_SUCCESS; r++) {
        if (r != ctx->me) {
            recall_from(b, r);
        }
    }
    for (; b->exposed_mask != 0; b->exposed_mask &= b->exposed_mask - 1) {
        withdraw(b, &b->exposed[__builtin_ctz(b->exposed_mask)]);
    }
    b->exposed_k = 0;
    b->exposed_long = false;
    return rc;
}

void ct_shm_coll_expose_end(struct ct_shm_coll *b)
{
    for (unsigned i = 0; i < CT_SHM_COLL_DEPTH; i++) {
        withdraw(b, &b->exposed[i]);
    }
    free(b->stage);
}

/* ---- the reader ------------------------------------------------------------------------------ */

/* Whether this rank has read what was exposed, of all in this operation. */
static void log_blind(struct ct_shm_coll *b, bool blind)
{
    _Atomic uint32_t *own = &b->shared->member[b->ctx->me].blind;
    b->blind_k = blind ? b->k : b->blind_k;
    if (CT_UNLIKELY(blind ||
                    (atomic_load_explicit(own, memory_order_relaxed) != 0 && b->blind_k != b->k))) {
        atomic_store_explicit(own, blind, memory_order_relaxed);
    }
}

/* This rank's part of it as a message. */
static int ask(struct ct_shm_coll *b, struct ct_shm_coll_attached *in, struct ct_ep *ep)
{
    const struct ct_shm_coll_note *note = in->note;
    const struct ct_area           part = part_of(b, b->ctx->me, note->addr, note->len_bytes);
    log_blind(b, true);
    in->asked = malloc(part.len_bytes);
    in->asked_at = (uintptr_t)part.base - note->addr;
    if (in->asked == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    const struct ct_p2p_remote what = {note->key, note->key_len, in->asked_at, part.len_bytes};
    return ct_p2p_ask(ep, in->asked, &what);
}

/* Whether what `rank` has exposed for this operation may be read. */
static int begin_reading(struct ct_shm_coll *b, uint32_t rank)
{
    if (b->read_k != b->k) {
        b->read_k = b->k;
        atomic_store_explicit(&b->shared->member[b->ctx->me].reading, b->k, memory_order_seq_cst);
    }
    return atomic_load_explicit(&b->shared->member[rank].recalled, memory_order_seq_cst);
}

/* What has been read is what was exposed, unless that was recalled before. */
static int end_reading(const struct ct_shm_coll *b, uint32_t rank)
{
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&b->shared->member[rank].recalled, memory_order_relaxed);
}

int ct_shm_coll_attach(struct ct_shm_coll *b, struct ct_shm_coll_attached *in, size_t at, char *to,
                       size_t len_bytes)
{
    const struct ct_shm_coll_note *note = in->note;
    struct ct_ep                  *ep = b->ctx->ep(b->ctx, in->rank);
    const size_t                   from = at - note->at_bytes;
    int                            rc = ep != NULL ? begin_reading(b, in->rank) : CTRAN_ERR_NO_MEM;
    if (CT_UNLIKELY(rc != CTRAN_SUCCESS)) {
        return rc;
    }
    if (CT_LIKELY(in->asked == NULL)) {
        ct_tsan_acquire(note->addr);
        rc =
            ct_p2p_read(ep, to, &(struct ct_p2p_remote){note->key, note->key_len, from, len_bytes});
        ct_tsan_release((uintptr_t)part_of(b, b->ctx->me, note->addr, note->len_bytes).base);
        if (CT_LIKELY(rc == CTRAN_SUCCESS)) {
            log_blind(b, false);
            return end_reading(b, in->rank);
        }
        if (rc != CTRAN_ERR_UNSUPPORTED_OPERATION) {
            return rc;
        }
        rc = ask(b, in, ep);
        rc = rc == CTRAN_SUCCESS ? end_reading(b, in->rank) : rc;
    }
    if (rc == CTRAN_SUCCESS) {
        memcpy(to, in->asked + from - in->asked_at, len_bytes);
    }
    return rc;
}

static void combine(const struct ct_shm_coll_sum *sum, size_t i, const char *in, size_t n)
{
    const size_t at = i * sum->elem_bytes;
    const char  *own = sum->own + at;
    ct_reduction_apply(sum->op, sum->dst + at, sum->first ? in : own, sum->first ? own : in, n);
}

/* Whether it may be read to where its sum goes. */
static bool has_room(const struct ct_shm_coll_sum *sum)
{
    const size_t    bytes = sum->elems * sum->elem_bytes;
    const uintptr_t dst = (uintptr_t)sum->dst, own = (uintptr_t)sum->own;
    return sum->op->type->contiguous && (dst + bytes <= own || own + bytes <= dst);
}

int ct_shm_coll_reduce(struct ct_shm_coll *b, struct ct_shm_coll_attached *in, size_t at,
                       const struct ct_shm_coll_sum *sum)
{
    const size_t elem = sum->elem_bytes;
    const bool   room = has_room(sum);
    const size_t most = room ? sum->elems : STAGE / elem;
    int          rc = CTRAN_SUCCESS;
    if (!room && b->stage == NULL && (b->stage = aligned_alloc(CT_BLOCK_PAGE, STAGE)) == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    for (size_t i = 0, n; i < sum->elems && rc == CTRAN_SUCCESS; i += n) {
        char *to = room ? sum->dst + i * elem : b->stage;
        n = ct_min_size(most, sum->elems - i);
        rc = ct_shm_coll_attach(b, in, at + i * elem, to, n * elem);
        if (rc == CTRAN_SUCCESS) {
            ct_line_own(&b->shared->member[b->ctx->me].done);
            combine(sum, i, to, n);
        }
    }
    return rc;
}

/* ---- putting in ------------------------------------------------------------------------------ */

/* Another core has read the lines that are written. */
void ct_shm_coll_put(char *to, const char *from, size_t len_bytes)
{
    for (size_t i = 0; len_bytes <= CT_SHM_COLL_BYTES && i < len_bytes; i += CT_CACHE_LINE) {
        ct_line_own(to + i);
    }
    ct_block_copy(to, from, len_bytes);
}
