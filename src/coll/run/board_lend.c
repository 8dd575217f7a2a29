/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long input that stays where it is. Between two ranks whose cores are far from each other
 * (base/far.h) each line that is put in crosses twice, as it is written and as it is read. So who
 * puts in says on the board where its input lies, and the other one reads it there; no collective
 * is over here before its input is read.
 *
 *   lender                                reader
 *     note in the slot, flag         ->     reads, straight to where it is wanted; what is combined
 *                                           in stages that stay in the cache
 *     waits for that                 <-     done
 *
 * Who lends decides that for itself, each time: by how long a copy into its part takes, of which
 * there is one now and then, and by whether the reader finds that what it reads was written since
 * it read it last, and so has to come out of the lender's cache. Where the input cannot be read,
 * the reader asks for it as a message, which comes while its lender waits, and is not lent any more
 * from then on.
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

/* Long sums had better be put in: one rank copies to the cache what the other adds up. Measured:
 * reduce of 512K 33 us lent, 42 put in, 1M 109 and 93; allreduce 1M 110 and 144, 16M 3120 and 2826.
 */
static bool is_too_long(const struct ct_run_args *args)
{
    enum { ONE = 512 << 10, EACH = 8 << 20 };
    const size_t most = (args->algo->colls & CT_REDUCE) != 0 ? ONE : EACH;
    return args->op.op != NULL && args->layout.count * args->layout.elem_bytes > most;
}

/* Memory for it, made once. */
static bool is_able(struct ct_board *b)
{
    if (b->lent == NULL) {
        b->lent = calloc(CT_BOARD_DEPTH, sizeof *b->lent);
    }
    return b->lent != NULL;
}

/* Where lending is the rule, every so often there is none, to see whether it still should be. */
static bool is_far(struct ct_board *b)
{
    enum { EVERY = 256 };
    return b->far.far && ++b->lendings % EVERY != 0 && !ct_ep_is_crowded(b->ctx->p);
}

/* What is put in if it changes. Measured, lent and put in: reduce of 16K 3.6 us and 2.8, 64K 10.5
 * and 5.6, 512K 62 and 33; allreduce of 64K 12.3 and 8.0, 512K 76 and 60; allgather 5.5 and 4.4, 17
 * and 17; bcast of 16K 3.8 and 2.5, 64K 4.7 and 5.3, 512K 25 and 34. */
static bool is_for_changes(const struct ct_run_args *args)
{
    enum { SUM = 512 << 10, OTHER = 64 << 10 };
    return args->layout.count * args->layout.elem_bytes <= (args->op.op != NULL ? SUM : OTHER);
}

/* Two in a row are lent nevertheless, every so often: the second tells whether what is read was
 * written since the first. */
static bool changes(struct ct_board *b)
{
    enum { EVERY = 128, TWO = 2 };
    const struct ct_ep *ep = b->ctx->ep(b->ctx, 1 - b->ctx->me);
    ct_domain_enter(b->ctx->p);
    const bool found = ep != NULL && ct_ep_finds_changes(ep);
    ct_domain_leave(b->ctx->p);
    return found && (b->lendings - 1) % EVERY >= TWO;
}

bool ct_board_lends(struct ct_board *b, const struct ct_run_args *args)
{
    const int how = b->ctx->p->cfg.coll_lend;
    if (b->ctx->n != 2 || how == CT_LEND_NEVER || args->layout.elem_bytes > STAGE ||
        overwrites(args) || (how == CT_LEND_AUTO && is_too_long(args))) {
        return false;
    }
    const uint32_t peer = 1 - b->ctx->me;
    return atomic_load_explicit(&b->shared->member[peer].blind, memory_order_relaxed) == 0 &&
           (how == CT_LEND_ALWAYS || (is_far(b) && !(is_for_changes(args) && changes(b)))) &&
           is_able(b);
}

void ct_board_lend(struct ct_board *b, struct ct_board_note *note, const char *from, size_t at,
                   size_t len_bytes)
{
    struct ct_ep        *ep = b->ctx->ep(b->ctx, 1 - b->ctx->me);
    struct ct_p2p_req   *req = &b->lent[b->k % CT_BOARD_DEPTH];
    const struct ct_area area = {.base = (void *)from, .len_bytes = len_bytes};
    note->token = ct_p2p_lend(b->ctx->p, req, ep, b->ctx->id, &area);
    note->addr = (uintptr_t)from;
    note->at_bytes = at;
    note->len_bytes = len_bytes;
    ct_tsan_release(note->addr);
    ct_line_own(ct_board_slot_of(b, b->ctx->me));
    b->lent_mask |= UINT32_C(1) << b->k % CT_BOARD_DEPTH;
    b->lent_k = b->k;
    b->lent_long = b->lent_long || len_bytes >= (size_t)b->ctx->p->cfg.shm_share;
}

/* What is short is read before this rank would have found out that nobody sends it anything. */
static bool is_read_soon(struct ct_board *b, const _Atomic uint64_t *done)
{
    enum { POLLS = 256 };
    for (unsigned i = 0; i < POLLS && !b->lent_long; i++) {
        if (ct_board_is_there(done, b->lent_k)) {
            return true;
        }
        ct_line_pause();
    }
    return false;
}

int ct_board_take_back(struct ct_board *b, int rc)
{
    const uint32_t          peer = 1 - b->ctx->me;
    const _Atomic uint64_t *done = &b->shared->member[peer].done;
    if (rc == CTRAN_SUCCESS && !is_read_soon(b, done)) {
        rc = ct_board_await(b, peer, done, b->lent_k);
    }
    for (; b->lent_mask != 0; b->lent_mask &= b->lent_mask - 1) {
        struct ct_p2p_req *req = &b->lent[__builtin_ctz(b->lent_mask)];
        ct_tsan_acquire((uintptr_t)req->area.base);
        ct_p2p_take_back(req);
    }
    b->lent_k = 0;
    b->lent_long = false;
    return rc;
}

void ct_board_lend_no_more(struct ct_board *b)
{
    for (unsigned i = 0; b->lent != NULL && i < CT_BOARD_DEPTH; i++) {
        ct_p2p_lend_no_more(b->ctx->p, &b->lent[i]);
    }
    free(b->lent);
    free(b->stage);
}

/* ---- the reader ------------------------------------------------------------------------------ */

/* All of it as a message. */
static int ask(struct ct_board *b, struct ct_board_borrowed *in, struct ct_ep *ep)
{
    const struct ct_board_note *note = &in->note;
    atomic_store_explicit(&b->shared->member[b->ctx->me].blind, 1, memory_order_relaxed);
    in->asked = malloc(note->len_bytes);
    if (in->asked == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    return ct_p2p_ask(ep, b->ctx->id, in->asked,
                      &(struct ct_net_remote){note->addr, note->len_bytes, note->token, false});
}

/* Where both read, neither helps the other. */
int ct_board_borrow(struct ct_board *b, struct ct_board_borrowed *in, size_t at, char *to,
                    size_t len_bytes)
{
    struct ct_ep *ep = b->ctx->ep(b->ctx, 1 - b->ctx->me);
    const size_t  from = at - in->note.at_bytes;
    int           rc = CTRAN_SUCCESS;
    if (ep == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    if (CT_LIKELY(in->asked == NULL)) {
        ct_tsan_acquire(in->note.addr);
        rc = ct_p2p_borrow(
            ep, to,
            &(struct ct_net_remote){in->note.addr + from, len_bytes, in->note.token, in->alone});
        ct_tsan_release(in->note.addr);
        if (CT_LIKELY(rc != CTRAN_ERR_UNSUPPORTED_OPERATION)) {
            return rc;
        }
        rc = ask(b, in, ep);
    }
    if (rc == CTRAN_SUCCESS) {
        memcpy(to, in->asked + from, len_bytes);
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

/* ---- judging --------------------------------------------------------------------------------- */

/* The other one has read there a few operations ago. */
void ct_board_put(struct ct_board *b, char *to, const char *from, size_t len_bytes)
{
    enum { EVERY = 8 };
    size_t done = 0;
    if (b->ctx->n == 2 && len_bytes >= CT_FAR_BYTES &&
        (b->far.far || b->puts < 2 * CT_FAR_SAMPLES || b->puts % EVERY == 0)) {
        ct_far_learn(&b->far, ct_far_copy(to, from));
        done = CT_FAR_BYTES;
    }
    b->puts++;
    ct_block_copy(to + done, from + done, len_bytes - done);
}
