/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long input that stays where it is: who would put it in says on the board where it lies, and the
 * others read it there. No collective is over here before its input is read.
 *
 *   lender                                reader
 *     note in the slot, flag         ->     reads, straight to where it is wanted; what is combined
 *                                           in stages that stay in the cache
 *     waits for that                 <-     done
 *
 * Two ranks lend what is long: that saves one of two copies. What is short is better put in, since
 * its owner has just written it: a reader would wait for each line that comes out of the owner's
 * cache, where a copy sends many at a time.
 *
 * More ranks lend to save the copy, of which a board takes two for each block that one rank alone
 * reads. All do or none, in one operation for all of the input; parts are not in the way. They go
 * by lengths.
 *
 * Where the input cannot be read, the reader asks for its part as a message, which comes while its
 * lender waits. It says so to its lender, or of more than two ranks to all, in a note; they do not
 * lend then but now and then, ever less often, until it reads again: it may have been that memory
 * alone. What is known of a transport is said beforehand.
 *
 * After an error a lender recalls what it has lent: who has not begun to read does not any more,
 * and the others, if they live, are waited for. A reader says that it begins before it looks
 * whether it may, a lender that it recalls before it looks who reads: one of them sees the other.
 * A lender that takes a reader for dead or failed does not wait, though that one may live: nothing
 * is written to what is lent, and who reads it looks again when it has read.
 */
#define CT_FOLDER "run"
#include <stdlib.h>

#include "base/tsan.h"
#include "coll/run/board.h"

enum { STAGE = 32 << 10 };
enum { CT_LEND_AUTO, CT_LEND_ALWAYS, CT_LEND_NEVER }; /* CTRAN_COLL_LEND */

/* A vector in place is written over, mostly while it is read, and has been written just before.
 * Measured, where that is only after it was read, lent and put in: allreduce of 256K 36 us and 28,
 * 1M 144 and 117, 4M 731 and 551. */
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

/* Long sums had better be put in: one rank copies to the cache what the other adds up. Measured:
 * reduce of 512K 33 us lent, 42 put in, 1M 109 and 93; allreduce 1M 110 and 144, 16M 3120 and 2826.
 */
static bool is_too_long(const struct ct_run_args *args)
{
    enum { ONE = 512 << 10, EACH = 8 << 20 };
    const size_t most = (args->algo->colls & CT_REDUCE) != 0 ? ONE : EACH;
    return args->op.op != NULL && vector_bytes(args) > most;
}

/* Two ranks lend one operation after the other, more of them one at a time. */
static unsigned rows(const struct ct_board *b)
{
    return b->ctx->n == 2 ? CT_BOARD_DEPTH : 1;
}

static struct ct_p2p_req *lent_to(const struct ct_board *b, unsigned row, uint32_t rank)
{
    return &b->lent[row * (b->ctx->n - 1) + rank - (rank > b->ctx->me)];
}

/* Whether it is known that this rank cannot read what `ep` has. */
static bool is_barred(const struct ct_board *b, const struct ct_ep *ep)
{
    ct_domain_enter(b->ctx->p);
    const bool may = ct_ep_may_read(ep);
    ct_domain_leave(b->ctx->p);
    return !may;
}

bool ct_board_lend_prepare(struct ct_board *b)
{
    struct ct_board_member *own = &b->shared->member[b->ctx->me];
    b->lent = calloc((size_t)rows(b) * (b->ctx->n - 1), sizeof *b->lent);
    bool able = b->lent != NULL, barred = false;
    for (uint32_t r = 0; r < b->ctx->n && able; r++) {
        const struct ct_ep *ep = r == b->ctx->me ? NULL : b->ctx->ep(b->ctx, r);
        able = r == b->ctx->me || ep != NULL; /* once there they stay */
        barred |= ep != NULL && is_barred(b, ep);
    }
    atomic_store_explicit(&own->blind, barred, memory_order_relaxed);
    atomic_store_explicit(&own->foreseen, barred, memory_order_relaxed);
    return able;
}

/* Not by `blind`, which a rank that is quicker may have changed since. */
void ct_board_lend_begin(struct ct_board *b)
{
    for (uint32_t r = 0; r < b->ctx->n; r++) {
        b->refused |= atomic_load_explicit(&b->shared->member[r].foreseen, memory_order_relaxed);
    }
}

/* Whether it is too early to lend again where somebody could not read what was lent last. */
static bool rests(struct ct_board *b, bool blind)
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

/* Long blocks are lent, and so is input that would be put in part by part. */
bool ct_board_all_lend(struct ct_board *b, const struct ct_run_args *args,
                       struct ct_board_poll *poll)
{
    enum { LONG = 64 << 10 };
    const int    how = b->ctx->p->cfg.coll_lend;
    const size_t bytes = args->layout.count * args->layout.elem_bytes, block = bytes / b->ctx->n;
    const bool   is_long = block >= LONG || bytes - block > b->part_bytes;
    *poll = (struct ct_board_poll){
        .asked = b->ctx->n > 2 && args->algo->colls == CT_ALLTOALL && bytes > CT_BOARD_BYTES &&
                 (how == CT_LEND_ALWAYS || (how == CT_LEND_AUTO && is_long))};
    return poll->asked && !rests(b, b->refused);
}

void ct_board_count(struct ct_board_poll *poll, const struct ct_board_note *note)
{
    poll->nblind += note->blind;
}

void ct_board_conclude(struct ct_board *b, const struct ct_board_poll *poll)
{
    b->refused = poll->nblind > 0;
}

/* A sum is made of what both ranks have written, so only long vectors gain by one copy less. */
static bool is_long_enough(const struct ct_run_args *args)
{
    enum { SUM = 512 << 10, OTHER = 64 << 10 };
    return vector_bytes(args) > (args->op.op != NULL ? SUM : OTHER);
}

bool ct_board_lends(struct ct_board *b, const struct ct_run_args *args)
{
    const int  how = b->ctx->p->cfg.coll_lend;
    const bool pays = is_long_enough(args) && !is_too_long(args) && !ct_ep_is_crowded(b->ctx->p);
    if (b->ctx->n != 2 || how == CT_LEND_NEVER || args->layout.elem_bytes > STAGE ||
        overwrites(args) || (how == CT_LEND_AUTO && !pays)) {
        return false;
    }
    const _Atomic uint32_t *blind = &b->shared->member[1 - b->ctx->me].blind;
    return !rests(b, atomic_load_explicit(blind, memory_order_relaxed) != 0);
}

/* What `rank` reads of input of that many bytes: two ranks all of it, more its block. */
static struct ct_area part_of(const struct ct_board *b, uint32_t rank, uint64_t addr, size_t bytes)
{
    const size_t len = b->ctx->n > 2 ? bytes / b->ctx->n : bytes;
    const size_t at = b->ctx->n > 2 ? rank * len : 0;
    return (struct ct_area){.base = (void *)(uintptr_t)(addr + at), .len_bytes = len};
}

void ct_board_lend(struct ct_board *b, const char *from, size_t at, size_t len_bytes)
{
    const struct ct_run_ctx *ctx = b->ctx;
    const unsigned           row = b->k % rows(b);
    struct ct_board_note    *note = &b->note;
    for (uint32_t r = 0; r < ctx->n; r++) {
        if (r != ctx->me) {
            const struct ct_area area = part_of(b, r, (uintptr_t)from, len_bytes);
            note->token[r] =
                ct_p2p_lend(ctx->p, lent_to(b, row, r), ctx->ep(ctx, r), ctx->id, &area);
        }
    }
    note->addr = (uintptr_t)from;
    note->at_bytes = at;
    note->len_bytes = len_bytes;
    ct_tsan_release(note->addr);
    ct_line_own(ct_board_slot_of(b, ctx->me));
    b->lent_mask |= UINT32_C(1) << row;
    b->lent_k = b->k;
    b->lent_long = b->lent_long || len_bytes >= (size_t)b->ctx->p->cfg.shm_share;
}

/* What is short is read before this rank would have found out that nobody sends it anything. */
static void poll_for(const struct ct_board *b, const _Atomic uint64_t *done)
{
    enum { POLLS = 256 };
    for (unsigned i = 0; i < POLLS && !ct_board_is_there(done, b->lent_k); i++) {
        ct_line_pause();
    }
}

/* Until `rank` is through with what it may be reading, or dead. */
static void recall_from(struct ct_board *b, uint32_t rank)
{
    const struct ct_board_member *member = &b->shared->member[rank];
    const uint64_t                k = atomic_load_explicit(&member->reading, memory_order_seq_cst);
    (void)ct_board_outwait(b, rank, &member->done, k);
}

static int await_readers(struct ct_board *b)
{
    int rc = CTRAN_SUCCESS;
    for (uint32_t r = 0; r < b->ctx->n && rc == CTRAN_SUCCESS; r++) {
        if (r != b->ctx->me) {
            if (b->ctx->n == 2 && !b->lent_long) {
                poll_for(b, &b->shared->member[r].done);
            }
            rc = ct_board_await_done(b, r, b->lent_k);
        }
    }
    return rc;
}

int ct_board_take_back(struct ct_board *b, int rc)
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
    for (; b->lent_mask != 0; b->lent_mask &= b->lent_mask - 1) {
        for (uint32_t r = 0; r < ctx->n; r++) {
            if (r != ctx->me) {
                struct ct_p2p_req *req = lent_to(b, (unsigned)__builtin_ctz(b->lent_mask), r);
                ct_tsan_acquire((uintptr_t)req->area.base);
                ct_p2p_take_back(req);
            }
        }
    }
    b->lent_k = 0;
    b->lent_long = false;
    return rc;
}

void ct_board_lend_no_more(struct ct_board *b)
{
    for (unsigned i = 0; b->lent != NULL && i < rows(b) * (b->ctx->n - 1); i++) {
        ct_p2p_lend_no_more(b->ctx->p, &b->lent[i]);
    }
    free(b->lent);
    free(b->stage);
}

/* ---- the reader ------------------------------------------------------------------------------ */

/* Whether this rank has read what was lent, of all in this operation. */
static void say_blind(struct ct_board *b, bool blind)
{
    _Atomic uint32_t *own = &b->shared->member[b->ctx->me].blind;
    b->blind_k = blind ? b->k : b->blind_k;
    if (CT_UNLIKELY(blind ||
                    (atomic_load_explicit(own, memory_order_relaxed) != 0 && b->blind_k != b->k))) {
        atomic_store_explicit(own, blind, memory_order_relaxed);
    }
}

/* This rank's part of it as a message. */
static int ask(struct ct_board *b, struct ct_board_borrowed *in, struct ct_ep *ep)
{
    const struct ct_board_note *note = in->note;
    const struct ct_area        part = part_of(b, b->ctx->me, note->addr, note->len_bytes);
    say_blind(b, true);
    in->asked = malloc(part.len_bytes);
    in->asked_at = (uintptr_t)part.base - note->addr;
    if (in->asked == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    const struct ct_net_remote what = {.addr = (uintptr_t)part.base,
                                       .len_bytes = part.len_bytes,
                                       .token = note->token[b->ctx->me]};
    return ct_p2p_ask(ep, b->ctx->id, in->asked, &what);
}

/* Whether what `rank` has lent for this operation may be read. */
static int begin_reading(struct ct_board *b, uint32_t rank)
{
    if (b->read_k != b->k) {
        b->read_k = b->k;
        atomic_store_explicit(&b->shared->member[b->ctx->me].reading, b->k, memory_order_seq_cst);
    }
    return atomic_load_explicit(&b->shared->member[rank].recalled, memory_order_seq_cst);
}

/* What has been read is what was lent, unless that was recalled before. */
static int end_reading(const struct ct_board *b, uint32_t rank)
{
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&b->shared->member[rank].recalled, memory_order_relaxed);
}

/* Where both read, neither helps the other. */
int ct_board_borrow(struct ct_board *b, struct ct_board_borrowed *in, size_t at, char *to,
                    size_t len_bytes)
{
    const struct ct_board_note *note = in->note;
    struct ct_ep               *ep = b->ctx->ep(b->ctx, in->rank);
    const size_t                from = at - note->at_bytes;
    int                         rc = ep != NULL ? begin_reading(b, in->rank) : CTRAN_ERR_NO_MEM;
    if (CT_UNLIKELY(rc != CTRAN_SUCCESS)) {
        return rc;
    }
    if (CT_LIKELY(in->asked == NULL)) {
        ct_tsan_acquire(note->addr);
        rc = ct_p2p_borrow(ep, to,
                           &(struct ct_net_remote){.addr = note->addr + from,
                                                   .len_bytes = len_bytes,
                                                   .token = note->token[b->ctx->me],
                                                   .alone = in->alone});
        ct_tsan_release((uintptr_t)part_of(b, b->ctx->me, note->addr, note->len_bytes).base);
        if (CT_LIKELY(rc == CTRAN_SUCCESS)) {
            say_blind(b, false);
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

static void combine(const struct ct_board_sum *sum, size_t i, const char *in, size_t n)
{
    const size_t at = i * sum->elem_bytes;
    const char  *own = sum->own + at;
    ct_reduction_apply(sum->op, sum->dst + at, sum->first ? in : own, sum->first ? own : in, n);
}

/* Whether it may be read to where its sum goes. */
static bool has_room(const struct ct_board_sum *sum)
{
    const size_t    bytes = sum->elems * sum->elem_bytes;
    const uintptr_t dst = (uintptr_t)sum->dst, own = (uintptr_t)sum->own;
    return sum->op->type->contiguous && (dst + bytes <= own || own + bytes <= dst);
}

int ct_board_reduce(struct ct_board *b, struct ct_board_borrowed *in, size_t at,
                    const struct ct_board_sum *sum)
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
        rc = ct_board_borrow(b, in, at + i * elem, to, n * elem);
        if (rc == CTRAN_SUCCESS) {
            ct_line_own(&b->shared->member[b->ctx->me].done);
            combine(sum, i, to, n);
        }
    }
    return rc;
}

/* ---- putting in ------------------------------------------------------------------------------ */

/* Another core has read the lines that are written. */
void ct_board_put(char *to, const char *from, size_t len_bytes)
{
    for (size_t i = 0; len_bytes <= CT_BOARD_BYTES && i < len_bytes; i += CT_CACHE_LINE) {
        ct_line_own(to + i);
    }
    ct_block_copy(to, from, len_bytes);
}
