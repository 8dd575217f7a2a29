/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making plans, and their memory. A plan of the usual size is kept for the next collective when it
 * is over, with all that it has from the heap: a small collective asks for no memory.
 */
#define CT_FOLDER "run"
#include <stdlib.h>

#include "base/lock.h"
#include "coll/run/plan.h"

enum { SPARES = 4, SPARE_STRANDS = 4, SPARE_TMP_BYTES = 64 << 10 };

extern struct ct_guard ct_runner_guard;

struct ct_runner {
    struct ct_lock           lock;
    struct ct_plan *spare    CT_GUARDED_BY(ct_runner_guard);
    unsigned nspare          CT_GUARDED_BY(ct_runner_guard);
    struct ct_run_count done CT_GUARDED_BY(ct_runner_guard);
};

/* A long one begins at a page, which lies behind few users' buffers in the way that block.h tells
 * of. It is kept with its plan; scratch is not, and would have new pages each time. */
static void *new_bounce(size_t len_bytes)
{
    return len_bytes < CT_BLOCK_LEAST
               ? malloc(len_bytes)
               : aligned_alloc(CT_BLOCK_PAGE, ct_round_up(len_bytes, CT_BLOCK_PAGE));
}

/* ---- slots and strands ----------------------------------------------------------------------- */

/* Room for the pieces of `blocks` blocks, and for len_bytes to bounce. */
int ct_slot_reserve_pieces(struct ct_slot *slot, uint32_t blocks)
{
    if (blocks <= slot->pieces_cap) {
        return CTRAN_SUCCESS;
    }
    struct ct_piece *pieces = malloc(blocks * sizeof *pieces);
    if (pieces == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    if (slot->pieces != slot->small) {
        free(slot->pieces);
    }
    slot->pieces = pieces;
    slot->pieces_cap = blocks;
    return CTRAN_SUCCESS;
}

int ct_slot_reserve_bounce(struct ct_slot *slot, size_t len_bytes)
{
    if (len_bytes <= slot->bounce_cap) {
        return CTRAN_SUCCESS;
    }
    char *bounce = new_bounce(len_bytes);
    if (bounce == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    if (slot->bounce != slot->small_bounce) {
        free(slot->bounce);
    }
    slot->bounce = bounce;
    slot->bounce_cap = len_bytes;
    return CTRAN_SUCCESS;
}

/* Takes up the lane's next chunk; false when there is none. Chunk c belongs to lane c modulo the
 * number of lanes: so each has its own part of every block. */
bool ct_strand_next_chunk(struct ct_strand *s)
{
    size_t *next = &s->plan->next_chunk[s->lane];
    if (*next >= s->plan->nchunks) {
        return false;
    }
    s->view.chunk = *next;
    *next += s->plan->args.algo->lanes;
    s->next_round = 0;
    return true;
}

/* ---- the plan -------------------------------------------------------------------------------- */

static void slot_init(struct ct_strand *s, struct ct_slot *slot)
{
    slot->strand = s;
    slot->pieces = slot->small;
    slot->pieces_cap = CT_RUN_SMALL_PIECES;
    slot->bounce = slot->small_bounce;
    slot->bounce_cap = CT_RUN_SMALL_BOUNCE;
}

/* Gives back what it has from the heap. */
static void slot_fini(struct ct_slot *slot)
{
    if (slot->pieces != slot->small) {
        free(slot->pieces);
    }
    if (slot->bounce != slot->small_bounce) {
        free(slot->bounce);
    }
}

static void strand_init(struct ct_plan *plan, struct ct_strand *s, unsigned lane, char *tmp,
                        uint32_t ntmp)
{
    const struct ct_run_args *args = &plan->args;
    s->plan = plan;
    s->lane = lane;
    s->busy = 0;
    s->view = (struct ct_view){
        .layout = &args->layout, .tmp = tmp, .ntmp = ntmp, .chunk_elems = plan->chunk_elems};
    s->rounds = args->algo->rounds(&args->env, lane);
    s->active =
        ct_strand_next_chunk(s); /* there are at least as many chunks as strands in a lane */
    plan->nactive += s->active;
}

size_t ct_run_cut(const struct ct_run_args *args, size_t *chunk_elems)
{
    const size_t longest = ct_layout_longest(&args->layout);
    size_t       elems = longest;
    if (args->chunk_bytes == 0 && args->algo->lanes == 1) { /* the usual: without a division */
        *chunk_elems = ct_max_size(longest, 1);
        return 1;
    }
    if (args->chunk_bytes > 0) {
        elems = ct_max_size(args->chunk_bytes / args->layout.elem_bytes, 1);
        elems = ct_min_size(elems, longest);
    }
    /* Where there is anything to cut, no lane shall be without a chunk. */
    elems = ct_min_size(elems, ct_div_up(longest, args->algo->lanes));
    *chunk_elems = ct_max_size(elems, 1);
    return ct_max_size(ct_div_up(longest, *chunk_elems), 1);
}

static void drop_strands(struct ct_plan *plan)
{
    for (unsigned i = 0; i < plan->strands_cap * CT_RUN_SLOTS; i++) {
        slot_fini(&plan->strands[i / CT_RUN_SLOTS].slots[i % CT_RUN_SLOTS]);
    }
    free(plan->strands);
    plan->strands = NULL;
    plan->strands_cap = 0;
}

static void destroy(struct ct_plan *plan)
{
    drop_strands(plan);
    free(plan->tmp);
    free(plan);
}

/* Room for so many strands and bytes of scratch; what is there is used again. */
static int reserve(struct ct_plan *plan, unsigned nstrands, size_t tmp_bytes)
{
    if (nstrands > plan->strands_cap) {
        drop_strands(plan);
        plan->strands = malloc(nstrands * sizeof *plan->strands);
        plan->strands_cap = plan->strands != NULL ? nstrands : 0;
        for (unsigned i = 0; i < plan->strands_cap * CT_RUN_SLOTS; i++) {
            struct ct_strand *s = &plan->strands[i / CT_RUN_SLOTS];
            slot_init(s, &s->slots[i % CT_RUN_SLOTS]);
        }
    }
    if (tmp_bytes > plan->tmp_cap) {
        free(plan->tmp);
        plan->tmp = malloc(tmp_bytes);
        plan->tmp_cap = plan->tmp != NULL ? tmp_bytes : 0;
    }
    bool enough = nstrands <= plan->strands_cap && tmp_bytes <= plan->tmp_cap;
    return enough ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
}

/* Chooses the strands and their memory; `plan` knows what to run. */
static int furnish(struct ct_plan *plan)
{
    const struct ct_run_args *args = &plan->args;
    const struct ct_algo     *algo = args->algo;
    plan->nchunks = ct_run_cut(args, &plan->chunk_elems);
    uint32_t ntmp = algo->tmp(&args->env);
    size_t   bytes = ct_round_up(ntmp * plan->chunk_elems * args->layout.elem_bytes, 64);
    unsigned per_lane = (unsigned)ct_min_size(args->chunks, ct_div_up(plan->nchunks, algo->lanes));
    unsigned nstrands = per_lane * algo->lanes;
    int      rc = reserve(plan, nstrands, nstrands * bytes);
    if (rc == CTRAN_SUCCESS) {
        rc = ct_reduction_begin(&plan->args.op);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    for (unsigned lane = 0; lane < algo->lanes; lane++) {
        plan->next_chunk[lane] = lane;
    }
    for (unsigned i = 0; i < nstrands; i++) {
        strand_init(plan, &plan->strands[i], i % algo->lanes, plan->tmp + i * bytes, ntmp);
    }
    plan->nstrands = nstrands;
    return CTRAN_SUCCESS;
}

/* ---- spare ones ------------------------------------------------------------------------------ */

static inline void lock(struct ct_runner *r) CT_ACQUIRE(ct_runner_guard) CT_UNCHECKED
{
    ct_lock_acquire(&r->lock);
}

static inline void unlock(struct ct_runner *r) CT_RELEASE(ct_runner_guard) CT_UNCHECKED
{
    ct_lock_release(&r->lock);
}

/* A plan with undefined contents except its memory, which may be none; NULL when out of memory. */
static struct ct_plan *get(struct ct_runner *r)
{
    lock(r);
    struct ct_plan *plan = r->spare;
    if (plan != NULL) {
        r->spare = plan->next;
        r->nspare--;
    }
    unlock(r);
    return plan != NULL ? plan : calloc(1, sizeof *plan);
}

static void put(struct ct_plan *plan)
{
    struct ct_runner *r = plan->args.ctx->p->run;
    ct_reduction_end(&plan->args.op);
    bool usual = plan->strands_cap <= SPARE_STRANDS && plan->tmp_cap <= SPARE_TMP_BYTES;
    ct_run_count_add(plan->args.ctx->p, &plan->count);
    lock(r);
    bool kept = usual && r->nspare < SPARES;
    if (kept) {
        plan->next = r->spare;
        r->spare = plan;
        r->nspare++;
    }
    unlock(r);
    if (!kept) {
        destroy(plan);
    }
}

void ct_run_count_add(struct ct_process *p, const struct ct_run_count *count)
{
    lock(p->run);
    p->run->done.messages += count->messages;
    p->run->done.bytes += count->bytes;
    p->run->done.rounds += count->rounds;
    unlock(p->run);
}

void ct_run_counts(struct ct_process *p, struct ct_run_count *out)
{
    lock(p->run);
    *out = p->run->done;
    unlock(p->run);
}

int ct_run_init(struct ct_process *p)
{
    p->run = calloc(1, sizeof *p->run);
    if (p->run == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    ct_lock_init(&p->run->lock, p->threaded);
    return CTRAN_SUCCESS;
}

void ct_run_set_threaded(struct ct_process *p)
{
    ct_lock_set(&p->run->lock, p->threaded);
}

void ct_run_fini(struct ct_process *p) CT_UNCHECKED
{
    struct ct_runner *r = p->run;
    if (r == NULL) {
        return;
    }
    for (struct ct_plan *plan = r->spare, *next; plan != NULL; plan = next) {
        next = plan->next;
        destroy(plan);
    }
    ct_lock_fini(&r->lock);
    free(r);
    p->run = NULL;
}

/* ---- start and finish ------------------------------------------------------------------------ */

uint32_t ct_run_take_number(const struct ct_run_args *args)
{
    return args->number != 0 ? (uint32_t)(args->number - 1) : args->ctx->seq++ & 0x7fff;
}

int ct_run_complete(struct ct_run_args *args)
{
    if (CT_UNLIKELY(atomic_load_explicit(&args->ctx->revoked, memory_order_relaxed))) {
        return CTRAN_ERR_REVOKED;
    }
    args->env.n = args->ctx->n;
    args->env.me = args->ctx->me;
    args->env.levels = args->ctx->levels;
    if (!args->algo->fits(&args->env)) {
        return CTRAN_ERR_UNSUPPORTED_OPERATION;
    }
    args->env.nblk = args->algo->nblk(&args->env);
    ct_layout_cut(&args->layout, args->env.nblk);
    args->layout.number = (args->algo->traits & CT_BY_PLACE) != 0 ? args->ctx->levels->rank : NULL;
    return CTRAN_SUCCESS;
}

int ct_plan_make(const struct ct_run_args *args, uint32_t seq, struct ct_plan **out)
{
    struct ct_plan *plan = get(args->ctx->p->run);
    if (plan == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    plan->args = *args;
    plan->seq = seq;
    ct_waiter_init(&plan->waiter, false);
    plan->waiter.task = args->task;
    plan->error = plan->failed = CTRAN_SUCCESS;
    plan->count = (struct ct_run_count){0};
    plan->nstrands = plan->nactive = 0;
    const int rc = furnish(plan);
    if (rc != CTRAN_SUCCESS) {
        put(plan);
        return rc;
    }
    *out = plan;
    return CTRAN_SUCCESS;
}

int ct_plan_start(struct ct_run_args *args, struct ct_plan **plan)
{
    const uint32_t seq = ct_run_take_number(args);
    const int      rc = ct_run_complete(args);
    return rc == CTRAN_SUCCESS ? ct_plan_make(args, seq, plan) : rc;
}

int ct_plan_finish(struct ct_plan *plan)
{
    int error = plan->error != CTRAN_SUCCESS ? plan->error : plan->failed;
    ct_waiter_part(plan->args.ctx->p, &plan->waiter, NULL, 0);
    put(plan);
    return error;
}
