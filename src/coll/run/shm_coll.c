/* SPDX-License-Identifier: BSD-3-Clause */
/* Boards (shm_coll.h): making them, flags, and waiting for them. */
#define CT_FOLDER "run"
#include "coll/run/shm_coll.h"

#include <inttypes.h>
#include <stdlib.h>

#include "pmi/pmi.h"

/* What two ranks put in slots without a note: what is longer may be better exposed. Measured, two
 * far cores, us, in slots and exposed: bcast of 3K 1.05 and 0.72, 4K 1.12 and 0.74, reduce of 3K
 * 1.06 and 0.77, 4K 1.14 and 0.79. */
enum { LEAST_LONG = 2 << 10 };

/* ---- making one ------------------------------------------------------------------------------ */

/* Lines from core to core that a rank polls for before it looks for messages: input and its flag
 * are one or two, and their rank may have come a little later. */
enum { LINES = 8 };

/* A rank polls for as long as this number of switches takes before it gives the core away. */
enum { SWITCHES = 7 };

static struct ct_shm_coll *shm_coll_new(const struct ct_run_ctx *ctx)
{
    struct ct_shm_coll *b = malloc(sizeof *b);
    if (b == NULL) {
        return NULL;
    }
    const struct ct_calibration *c = &ctx->p->job->calibration;
    *b = (struct ct_shm_coll){.ctx = ctx,
                              .slot_bytes = ctx->n == 2 ? LEAST_LONG : CT_SHM_COLL_BYTES,
                              .caches = c->caches,
                              .poll_ns = SWITCHES * ct_calibration_switch_ns(c),
                              .polls = ct_calibration_polls(c, LINES)};
    if (!ct_script_reserve(&b->script, 4 * (size_t)ctx->n + 16)) {
        free(b);
        return NULL;
    }
    return b;
}

int ct_shm_coll_open(struct ct_run_ctx *ctx)
{
    /* A process with threads, where one may poll for all, does without. */
    struct ct_shm_coll *b = ctx->p->threaded ? NULL : shm_coll_new(ctx);
    struct ct_common    slots;
    ctx->shm_tried = true;
    int rc = ct_common_open(
        ctx, sizeof(struct ct_shm_coll_shared) + ctx->n * sizeof(struct ct_shm_coll_member),
        b != NULL, &slots);
    if (slots.base != NULL) {
        b->slots = slots;
        b->shared = (struct ct_shm_coll_shared *)slots.base;
        ctx->shm = b;
        atomic_store_explicit(&b->shared->member[ctx->me].bars, ct_ep_bars(ctx->p),
                              memory_order_relaxed);
        ct_shm_coll_learn_bars(b);
    } else {
        ct_shm_coll_close(b);
    }
    return rc;
}

void ct_shm_coll_forget_scripts(struct ct_shm_coll *b)
{
    for (unsigned i = 0; i < CT_SHM_COLL_KEPT; i++) {
        free(b->kept[i]);
        b->kept[i] = NULL;
    }
    b->kept_bytes = 0;
}

static int open_bulk(struct ct_run_ctx *ctx, struct ct_shm_coll *b)
{
    const size_t bytes = (size_t)ctx->p->cfg.coll_shm_bytes;
    int          rc = CTRAN_SUCCESS;
    b->bulk_tried = true;
    b->part_bytes = bytes / CT_SHM_COLL_PARTS / CT_CACHE_LINE * CT_CACHE_LINE;
    if (b->part_bytes > 0) {
        rc = ct_common_open(ctx, ctx->n * b->part_bytes * CT_SHM_COLL_PARTS,
                            ct_shm_coll_expose_prepare(b), &b->bulk);
        ct_shm_coll_expose_begin(b);
        ct_shm_coll_forget_scripts(b); /* input that went into slots may go to bulk memory now */
    }
    return rc;
}

/* Most bytes that a rank puts in. */
static size_t input_bytes(const struct ct_run_ctx *ctx, uint32_t coll, const struct ct_layout *l)
{
    const bool   one = (coll & (CT_GATHER | CT_ALLGATHER)) != 0;
    const size_t longest = ct_layout_longest(l); /* 0 where there are no counts */
    if (longest > 0) {
        return (one ? 1 : ctx->n) * longest * l->elem_bytes;
    }
    return (one ? ct_div_up(l->count, ctx->n) : l->count) * l->elem_bytes;
}

int ct_shm_coll_takes(struct ct_run_ctx *ctx, uint32_t coll, const struct ct_layout *layout,
                      bool *takes)
{
    struct ct_shm_coll *b = ctx->shm;
    int                 rc = CTRAN_SUCCESS;
    *takes = layout->count - 1 < b->slot_bytes / layout->elem_bytes || /* the usual case */
             input_bytes(ctx, coll, layout) <= b->slot_bytes;
    if (CT_UNLIKELY(!*takes)) {
        rc = b->bulk_tried || b->broken != CTRAN_SUCCESS ? rc : open_bulk(ctx, b);
        *takes = b->broken != CTRAN_SUCCESS || /* it says so */
                 ct_shm_coll_has_parts(b, layout->elem_bytes) ||
                 input_bytes(ctx, coll, layout) <= CT_SHM_COLL_BYTES;
    }
    return rc;
}

void ct_shm_coll_close(struct ct_shm_coll *b)
{
    if (b != NULL) {
        ct_shm_coll_forget_scripts(b);
        free(b->script.acts);
        ct_common_close(&b->slots);
        ct_common_close(&b->bulk);
        free(b->tmp);
        ct_shm_coll_expose_end(b);
        free(b);
    }
}

void ct_run_skip(struct ct_run_ctx *ctx)
{
    ctx->seq++;
    ct_shm_coll_break(ctx, CTRAN_ERR_NO_MEM);
}

/* ---- flags ----------------------------------------------------------------------------------- */

/* What a rank says about itself does not change; a rank that has not read it yet is merely
 * slower. */
void ct_shm_coll_learn_bars(struct ct_shm_coll *b)
{
    b->barred = true;
    for (uint32_t r = 0; r < b->ctx->n; r++) {
        b->barred &= atomic_load_explicit(&b->shared->member[r].bars, memory_order_relaxed);
    }
}

/* Measured, two far cores: a line that another core has read takes 15 ns longer to flag by a
 * sequentially consistent store, two of them 45. */
static bool publish(const struct ct_shm_coll *b, _Atomic uint64_t *value, uint64_t k)
{
    const _Atomic uint64_t *parked = &b->shared->parked;
    if (CT_LIKELY(b->barred)) {
        atomic_store_explicit(value, k, memory_order_release);
        atomic_signal_fence(memory_order_seq_cst); /* the look at who sleeps comes after it */
        return atomic_load_explicit(parked, memory_order_relaxed) != 0;
    }
    atomic_store_explicit(value, k, memory_order_seq_cst);
    return atomic_load_explicit(parked, memory_order_seq_cst) != 0;
}

/* The rank that takes a bit sends the nudge. */
static void rouse(const struct ct_shm_coll *b)
{
    struct ct_shm_coll_shared *s = b->shared;
    uint64_t sleepers = atomic_exchange_explicit(&s->parked, 0, memory_order_seq_cst);
    ct_domain_enter(b->ctx->p);
    for (; sleepers != 0; sleepers &= sleepers - 1) {
        struct ct_ep *ep = b->ctx->ep(b->ctx, (uint32_t)__builtin_ctzll(sleepers));
        if (ep != NULL) {
            ct_ep_nudge(ep);
        }
    }
    ct_domain_leave(b->ctx->p);
}

void ct_shm_coll_set(const struct ct_shm_coll *b, _Atomic uint64_t *value, uint64_t k)
{
    if (CT_UNLIKELY(publish(b, value, k))) {
        rouse(b);
    }
}

void ct_shm_coll_break(struct ct_run_ctx *ctx, int error)
{
    struct ct_shm_coll *b = ctx->shm;
    if (b != NULL) {
        const bool known = b->broken != CTRAN_SUCCESS;
        b->broken = error;
        if (!known) {
            atomic_store_explicit(&b->shared->member[ctx->me].left, error, memory_order_seq_cst);
            rouse(b);
        }
    }
}

/* Where a rank is. */
static enum ct_placement_sight look(struct ct_shm_coll *b, uint32_t rank)
{
    const struct ct_job *job = b->ctx->p->job;
    if (CT_UNLIKELY(b->local_index[rank] == 0)) {
        const struct ct_ep *ep = b->ctx->ep(b->ctx, rank);
        b->local_index[rank] = 1 + (ep != NULL ? ct_job_local_index(job, ep->id) : job->nlocal);
    }
    return ct_placement_look(&job->placement, b->local_index[rank] - 1);
}

static void look_around(struct ct_shm_coll *b, int here)
{
    b->looked.beside = b->looked.elsewhere = 0;
    for (uint32_t r = 0; r < b->ctx->n; r++) {
        const enum ct_placement_sight sight = r == b->ctx->me ? CT_PLACEMENT_UNKNOWN : look(b, r);
        b->looked.beside |= (uint64_t)(sight == CT_PLACEMENT_BESIDE) << r;
        b->looked.elsewhere |= (uint64_t)(sight == CT_PLACEMENT_RUNS || sight == CT_PLACEMENT_AWAY)
                               << r;
    }
    b->looked.rooms = b->rooms;
    b->looked.here = here;
    b->looked.done = true;
}

/* Looks again after some switches. A process that gives a core away writes that to its placement
 * entry; so a look at an entry of another core fetches a line from there, and the other core waits
 * for the line in turn. The core of an entry changes seldom. */
static void keep_looking(struct ct_shm_coll *b)
{
    enum { EVERY = 16 };
    const int here = sched_getcpu();
    if (CT_UNLIKELY(!b->looked.done || b->looked.here != here ||
                    b->rooms - b->looked.rooms >= EVERY)) {
        look_around(b, here);
    }
}

static bool is_beside(struct ct_shm_coll *b, uint32_t rank)
{
    keep_looking(b);
    return (b->looked.beside >> rank & 1) != 0;
}

/* Whether it is on another core, running or not. */
static bool is_elsewhere(struct ct_shm_coll *b, uint32_t rank)
{
    keep_looking(b);
    return (b->looked.elsewhere >> rank & 1) != 0;
}

void ct_shm_coll_place_beside(const struct ct_shm_coll *b, uint32_t rank, size_t len_bytes)
{
    struct ct_process *p = b->ctx->p;
    struct ct_ep      *ep = ct_ep_is_oversubscribed(p) ? b->ctx->ep(b->ctx, rank) : NULL;
    if (ep != NULL) {
        ct_domain_enter(p);
        ct_ep_read_beside(ep, len_bytes);
        ct_domain_leave(p);
    }
}

static struct ct_ep *whom(void *ep)
{
    return ep;
}

/* The wait ends when `rank` is lost, when a loss concerns context `id` (0: no context), or when
 * `rank` reports an error. */
static int await_slowly(const struct ct_shm_coll *b, uint64_t id, uint32_t rank,
                        const _Atomic uint64_t *value, uint64_t k)
{
    struct ct_process    *p = b->ctx->p;
    struct ct_ep         *ep = b->ctx->ep(b->ctx, rank);
    const _Atomic int    *left = &b->shared->member[rank].left;
    const struct ct_watch watch = {.value = value,
                                   .least = k,
                                   .parked = &b->shared->parked,
                                   .bit = UINT64_C(1) << b->ctx->me,
                                   .over = left};
    int                   rc = ep != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
    bool                  reached = false;
    ct_domain_enter(p);
    while (rc == CTRAN_SUCCESS && !reached) {
        rc = ct_p2p_lost(p, ep, id);
        reached = rc == CTRAN_SUCCESS ? ct_ep_await(p, &watch, whom, ep) : ct_watch_reached(&watch);
    }
    ct_ep_tell(p); /* all that the program does next knows of it */
    ct_domain_leave(p);
    if (reached && !ct_shm_coll_is_there(value, k)) {
        return atomic_load_explicit(left, memory_order_relaxed);
    }
    return reached ? CTRAN_SUCCESS : rc;
}

int ct_shm_coll_await(const struct ct_shm_coll *b, uint32_t rank, const _Atomic uint64_t *value,
                      uint64_t k)
{
    return CT_LIKELY(ct_shm_coll_is_there(value, k)) ? CTRAN_SUCCESS
                                                     : await_slowly(b, b->ctx->id, rank, value, k);
}

int ct_shm_coll_outwait(const struct ct_shm_coll *b, uint32_t rank, const _Atomic uint64_t *value,
                        uint64_t k)
{
    return await_slowly(b, 0, rank, value, k);
}

/* What is waited for. */
typedef const _Atomic uint64_t *value_of(const struct ct_shm_coll *b, uint32_t rank);

static const _Atomic uint64_t *flag_of(const struct ct_shm_coll *b, uint32_t rank)
{
    return &ct_shm_coll_slot_of(b, rank)->flag;
}

static const _Atomic uint64_t *done_of(const struct ct_shm_coll *b, uint32_t rank)
{
    return &b->shared->member[rank].done;
}

/* Polls for a while, as something that another core is about to write deserves. */
static bool appears(const struct ct_shm_coll *b, const _Atomic uint64_t *flag, uint64_t k)
{
    enum { POLLS = 16 }; /* between looks at the clock */
    uint64_t end = 0, now = 0;
    while (now <= end) {
        for (unsigned i = 0; i < POLLS; i++) {
            if (ct_shm_coll_is_there(flag, k)) {
                return true;
            }
        }
        now = ct_clock_ns();
        end = end == 0 ? now + b->poll_ns : end;
    }
    return false;
}

void ct_shm_coll_drive(const struct ct_shm_coll *b)
{
    (void)ct_domain_poke(b->ctx->p);
}

/* A look for messages costs more than what else there is to a switch. */
static void make_room(struct ct_shm_coll *b)
{
    enum { EVERY = 8 };
    if (++b->rooms % EVERY == 0) {
        ct_shm_coll_drive(b);
    }
    b->unread = false;
    ct_ep_make_room(b->ctx->p);
}

/* Whether to poll for what `rank` puts in. Not before those on this core have had the chance to
 * read what this rank has put in: one of them may be who is needed next, and it can get ready while
 * another core is at work. Else, if `rank` runs; or will in a moment, where no more than two share
 * a core. */
static bool is_worth_polling(struct ct_shm_coll *b, uint32_t rank)
{
    if (b->unread) {
        return false;
    }
    const bool by_turns = b->ctx->p->job->placement.fair <= 2;
    return by_turns ? is_elsewhere(b, rank) : look(b, rank) == CT_PLACEMENT_RUNS;
}

/* Where ranks share cores: one that runs is polled for, and room is made for one that does not,
 * here or, since that takes a switch, by whoever is on its core. In vain, if it takes long. */
static bool comes(struct ct_shm_coll *b, uint32_t rank, const _Atomic uint64_t *value, uint64_t k)
{
    enum { TURNS = 4 };
    for (unsigned i = 0; i < TURNS && !ct_shm_coll_is_there(value, k); i++) {
        const bool polls = is_worth_polling(b, rank);
        if (!polls || !appears(b, value, k)) {
            b->looked.done = b->looked.done && !polls; /* it may have moved */
            make_room(b);
        }
    }
    return ct_shm_coll_is_there(value, k);
}

/* In an exchange nobody comes out before all have put in their part. So the ranks on this core have
 * it first, those of them that still want it: elsewhere others may wait for them. After that no
 * rank of this core has a use for it, and what is to come takes other cores a switch or two. */
static bool comes_to_all(struct ct_shm_coll *b, uint32_t rank, value_of *of, uint64_t k)
{
    for (uint32_t r = 0; r < b->ctx->n; r++) {
        const _Atomic uint64_t *value = of(b, r);
        if (r != b->ctx->me && !ct_shm_coll_is_there(value, k) && is_beside(b, r)) {
            (void)comes(b, r, value, k);
        }
    }
    return appears(b, of(b, rank), k);
}

/* For as long as a cache line takes from one core to another, and little more: to look for messages
 * in between would be to notice it late. Input of two lines is asked for as a whole, so that the
 * second comes with the first; of more, it would be asked for before it is written. */
static bool arrives(const struct ct_shm_coll *b, const struct ct_shm_coll_slot *slot,
                    size_t len_bytes)
{
    enum { FIRST = CT_CACHE_LINE - offsetof(struct ct_shm_coll_slot, data) };
    const bool two = len_bytes > FIRST && len_bytes <= FIRST + CT_CACHE_LINE;
    for (unsigned i = 0; i < b->polls; i++) {
        if (ct_shm_coll_is_there(&slot->flag, b->k)) {
            return true;
        }
        if (two) {
            __builtin_prefetch(&slot->data[FIRST]);
        }
        ct_line_pause();
    }
    return false;
}

/* Whether it is worth waiting for, too, what takes as long as long input does to be dealt with. */
static bool arrives_late(const struct ct_shm_coll *b, const _Atomic uint64_t *flag,
                         size_t len_bytes)
{
    return len_bytes > b->slot_bytes && appears(b, flag, b->k);
}

int ct_shm_coll_await_input(struct ct_shm_coll *b, uint32_t rank, bool exchange, size_t len_bytes)
{
    const struct ct_shm_coll_slot *slot = ct_shm_coll_slot_of(b, rank);
    const _Atomic uint64_t        *flag = &slot->flag;
    if (CT_LIKELY(ct_shm_coll_is_there(flag, b->k))) {
        return CTRAN_SUCCESS;
    }
    const bool oversubscribed = ct_ep_is_oversubscribed(b->ctx->p);
    if (oversubscribed
            ? (exchange ? comes_to_all(b, rank, flag_of, b->k) : comes(b, rank, flag, b->k))
            : arrives(b, slot, len_bytes) || arrives_late(b, flag, len_bytes)) {
        return CTRAN_SUCCESS;
    }
    b->unread = false; /* a long wait makes room */
    b->looked.done = false;
    return await_slowly(b, b->ctx->id, rank, flag, b->k);
}

int ct_shm_coll_await_done(struct ct_shm_coll *b, uint32_t rank, uint64_t k)
{
    const _Atomic uint64_t *done = done_of(b, rank);
    const bool              there = ct_shm_coll_is_there(done, k) ||
                       (ct_ep_is_oversubscribed(b->ctx->p) && comes_to_all(b, rank, done_of, k));
    return there ? CTRAN_SUCCESS : await_slowly(b, b->ctx->id, rank, done, k);
}
