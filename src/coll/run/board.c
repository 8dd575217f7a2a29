/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The board: small collectives of ranks of one host through flags and slots in memory that they
 * share. It reads the same algorithms as the stepper of run.c, but nothing is sent: a rank's first
 * TX writes its whole input into its slot, an RX waits for the sender's flag and reads there.
 *
 * Operations are numbered from 1 on, alike on all ranks. A rank's input to operation k is in slot
 * k modulo DEPTH of its own, whose flag then is k: the flag stands before the data, and a
 * few bytes come with it in one cache line. Invariant: a slot is written again only once all ranks
 * are through with what it held. Where every rank reads every other's input, having read it says
 * that all are through with the operation before; elsewhere each rank counts in `done`, and who
 * wants to write looks there when it has nothing better.
 *
 * A rank that sleeps is roused by who writes a flag or `done` (struct ct_watch). A member that dies
 * ends all waits, as it does in contexts that need all of their members.
 */
#define CT_FOLDER "run"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coll/run/layout.h"
#include "pmi/pmi.h"

enum { DEPTH = 16, LINE = 64 };

struct slot {
    _Atomic uint64_t flag;
    CT_ALIGNED(16) char data[CT_BOARD_BYTES];
};

struct member {
    CT_ALIGNED(LINE) _Atomic uint64_t done; /* operations */
    CT_ALIGNED(LINE) struct slot slots[DEPTH];
};

struct shared {
    uint64_t key[2];                          /* tells this memory from any other */
    CT_ALIGNED(LINE) _Atomic uint64_t parked; /* who sleeps, a bit each */
    struct member member[];
};

_Static_assert(sizeof(struct slot) == 4096 + LINE, "flags do not all share a set of the cache");

struct ct_board {
    const struct ct_run_ctx *ctx;
    struct shared           *shared;
    size_t                   bytes;
    char                    *tmp;    /* the algorithms' scratch: a block for each rank */
    uint64_t                 k;      /* operations begun */
    uint64_t                 safe;   /* operations that all ranks are known to be through with */
    int                      broken; /* an error: this rank has left one out, or heard of a loss */
    uint32_t                 seat[CT_BOARD_RANKS]; /* of each rank, 1 more; 0: not asked for yet */
};

/* What rank 0 tells the others of the memory it has made. */
struct card {
    uint64_t local_group, key[2];
    int32_t  pid, fd;
};

/* ---- making one ------------------------------------------------------------------------------ */

static size_t shared_bytes(uint32_t n)
{
    return sizeof(struct shared) + n * sizeof(struct member);
}

static struct ct_board *board_new(const struct ct_run_ctx *ctx)
{
    struct ct_board *b = malloc(sizeof *b);
    if (b != NULL) {
        *b = (struct ct_board){.ctx = ctx, .shared = MAP_FAILED, .bytes = shared_bytes(ctx->n)};
        b->tmp = aligned_alloc(LINE, ct_round_up((size_t)ctx->n * CT_BOARD_BYTES, LINE));
    }
    if (b != NULL && b->tmp == NULL) {
        free(b);
        b = NULL;
    }
    return b;
}

static bool map(struct ct_board *b, int fd)
{
    b->shared = mmap(NULL, b->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return b->shared != MAP_FAILED;
}

/* Rank 0's part: the memory, all of it there, so that no write to it can fault. */
static bool create(struct ct_board *b, struct card *card)
{
    card->pid = getpid();
    card->local_group = b->ctx->p->job->local_group;
    card->fd = memfd_create("ctran-board", MFD_CLOEXEC);
    if (card->fd < 0 || getrandom(card->key, sizeof card->key, 0) != sizeof card->key ||
        (errno = posix_fallocate(card->fd, 0, (off_t)b->bytes)) != 0 || !map(b, card->fd)) {
        ct_info(&b->ctx->p->log, "no memory for flags and slots of %" PRIu32 " ranks: %s",
                b->ctx->n, strerror(errno));
        return false;
    }
    memcpy(b->shared->key, card->key, sizeof card->key);
    return true;
}

/* The others' part. What the path leads to is believed only when it has the key. */
static bool attach(struct ct_board *b, const struct card *card)
{
    char        path[64];
    struct stat st;
    if (card->fd < 0 || card->local_group != b->ctx->p->job->local_group) {
        return false;
    }
    snprintf(path, sizeof path, "/proc/%" PRId32 "/fd/%" PRId32, card->pid, card->fd);
    int  fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    bool ok = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
              (size_t)st.st_size == b->bytes && map(b, fd) &&
              memcmp(b->shared->key, card->key, sizeof card->key) == 0;
    if (fd >= 0) {
        close(fd);
    }
    return ok;
}

extern const struct ct_algo ct_algo_binomial_bcast, ct_algo_bruck_allgather;

static int bcast(struct ct_run_ctx *ctx, void *buf, size_t bytes)
{
    return ct_run(&(struct ct_run_args){
        .ctx = ctx,
        .algo = &ct_algo_binomial_bcast,
        .env = {.radix = 2},
        .layout = {.elem_bytes = 1, .count = bytes, .buf = {{.base = buf}, {.base = buf}}},
        .chunks = 1});
}

/* In place; a byte of each rank. */
static int allgather(struct ct_run_ctx *ctx, char *all)
{
    return ct_run(&(struct ct_run_args){
        .ctx = ctx,
        .algo = &ct_algo_bruck_allgather,
        .env = {.radix = 2, .inplace = true},
        .layout = {.elem_bytes = 1, .count = ctx->n, .buf = {{.base = all}, {.base = all}}},
        .chunks = 1});
}

int ct_board_open(struct ct_run_ctx *ctx)
{
    /* A process with threads, where one may poll for all, does without. */
    struct ct_board *b = ctx->p->threaded ? NULL : board_new(ctx);
    struct card      card = {.fd = -1};
    char             all[CT_BOARD_RANKS];
    ctx->board_tried = true;
    bool ok = b != NULL && (ctx->me != 0 || create(b, &card));
    int  rc = bcast(ctx, &card, sizeof card);
    if (rc == CTRAN_SUCCESS) {
        all[ctx->me] = ok && (ctx->me == 0 || attach(b, &card));
        rc = allgather(ctx, all);
    }
    if (ctx->me == 0 && card.fd >= 0) {
        close(card.fd); /* all have opened it by now, or never will */
    }
    if (rc == CTRAN_SUCCESS && memchr(all, 0, ctx->n) == NULL) {
        ctx->board = b;
    } else {
        ct_board_close(b);
    }
    return rc;
}

void ct_board_close(struct ct_board *b)
{
    if (b != NULL) {
        if (b->shared != MAP_FAILED) {
            munmap(b->shared, b->bytes);
        }
        free(b->tmp);
        free(b);
    }
}

/* ---- flags ----------------------------------------------------------------------------------- */

/* Sets a flag or count, and rouses those who sleep: who takes a bit sends the nudge. */
static void set(const struct ct_board *b, _Atomic uint64_t *value, uint64_t k)
{
    struct shared *s = b->shared;
    atomic_store_explicit(value, k, memory_order_seq_cst);
    if (CT_LIKELY(atomic_load_explicit(&s->parked, memory_order_seq_cst) == 0)) {
        return;
    }
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

/* Where a rank is. */
static enum ct_seat_sight look(struct ct_board *b, uint32_t rank)
{
    const struct ct_job *job = b->ctx->p->job;
    if (CT_UNLIKELY(b->seat[rank] == 0)) {
        const struct ct_ep *ep = b->ctx->ep(b->ctx, rank);
        b->seat[rank] = 1 + (ep != NULL ? ct_job_seat(job, ep->id) : job->nlocal);
    }
    return ct_seats_look(&job->seats, b->seat[rank] - 1);
}

static struct ct_ep *whom(void *ep)
{
    return ep;
}

/* Waits until a value of `rank`'s has reached k: what it did before it was lost still counts. */
static int await_slowly(const struct ct_board *b, uint32_t rank, const _Atomic uint64_t *value,
                        uint64_t k)
{
    struct ct_process    *p = b->ctx->p;
    struct ct_ep         *ep = b->ctx->ep(b->ctx, rank);
    const struct ct_watch watch = {
        .value = value, .least = k, .parked = &b->shared->parked, .bit = UINT64_C(1) << b->ctx->me};
    int  rc = ep != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
    bool reached = false;
    ct_domain_enter(p);
    while (rc == CTRAN_SUCCESS && !reached) {
        rc = ct_p2p_lost(p, ep, b->ctx->id);
        reached = rc == CTRAN_SUCCESS ? ct_ep_await(p, &watch, whom, ep) : ct_watch_reached(&watch);
    }
    ct_ep_tell(p); /* all that the program does next knows of it */
    ct_domain_leave(p);
    return reached ? CTRAN_SUCCESS : rc;
}

static inline bool is_there(const _Atomic uint64_t *value, uint64_t k)
{
    return atomic_load_explicit(value, memory_order_acquire) >= k;
}

static inline int await(const struct ct_board *b, uint32_t rank, const _Atomic uint64_t *value,
                        uint64_t k)
{
    return CT_LIKELY(is_there(value, k)) ? CTRAN_SUCCESS : await_slowly(b, rank, value, k);
}

static struct slot *slot_of(const struct ct_board *b, uint32_t rank)
{
    return &b->shared->member[rank].slots[b->k % DEPTH];
}

/* ---- an operation ---------------------------------------------------------------------------- */

struct operation {
    struct ct_board          *board;
    const struct ct_run_args *args;
    struct ct_view            view;
    bool                      is_in; /* the rank's input is in its slot */
};

/* In these a rank's SEND is its own block alone. */
static bool puts_in_a_block(const struct operation *o)
{
    return (o->args->algo->colls & (CT_GATHER | CT_ALLGATHER)) != 0;
}

/* In these every rank reads every other's input. */
static bool is_exchange(const struct operation *o)
{
    return (o->args->algo->colls &
            (CT_BARRIER | CT_ALLREDUCE | CT_ALLGATHER | CT_ALLTOALL | CT_REDUCE_SCATTER)) != 0;
}

/* Until all are through with what the slot held. */
static int await_room(struct ct_board *b)
{
    if (CT_LIKELY(b->safe + DEPTH >= b->k)) {
        return CTRAN_SUCCESS;
    }
    uint64_t least = b->k - 1;
    for (uint32_t r = 0; r < b->ctx->n; r++) {
        const _Atomic uint64_t *done = &b->shared->member[r].done;
        int rc = r == b->ctx->me ? CTRAN_SUCCESS : await(b, r, done, b->k - DEPTH);
        if (rc != CTRAN_SUCCESS) {
            return rc;
        }
        uint64_t seen = atomic_load_explicit(done, memory_order_acquire);
        least = r != b->ctx->me && seen < least ? seen : least;
    }
    b->safe = least;
    return CTRAN_SUCCESS;
}

/* Puts all of this rank's input into its slot. */
static int put_in(struct operation *o)
{
    const struct ct_layout *l = &o->args->layout;
    struct slot            *slot = slot_of(o->board, o->args->env.me);
    int                     rc = await_room(o->board);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (l->count > 0) {
        bool            one = puts_in_a_block(o);
        struct ct_slice in = {.buf = CT_SEND, .at = one ? o->args->env.me : 0, .run = 1, .reps = 1};
        struct ct_part  first = ct_view_part(&o->view, &in, &in, 0);
        memcpy(slot->data, first.base, (one ? first.elems : l->count) * l->elem_bytes);
    }
    ct_seats_take(&o->board->ctx->p->job->seats);
    set(o->board, &slot->flag, o->board->k);
    o->is_in = true;
    return CTRAN_SUCCESS;
}

/* Where the peer's slot has the block that the step receives. */
static const char *find(const struct operation *o, const struct slot *slot,
                        const struct ct_step *step)
{
    const struct ct_layout *l = &o->args->layout;
    if (puts_in_a_block(o) || l->nblk == 1) {
        return slot->data;
    }
    const struct ct_slice *name = step->dst.buf == CT_TMP ? &step->src : &step->dst;
    uint32_t               block = o->args->algo->colls == CT_ALLTOALL ? o->args->env.me : name->at;
    return slot->data + ct_layout_start(l, block) * l->elem_bytes;
}

static const _Atomic uint64_t *flag_of(const struct operation *o, uint32_t rank)
{
    return &slot_of(o->board, rank)->flag;
}

/* Polls for a while, as something that another core is about to write deserves. */
static bool appears(const _Atomic uint64_t *flag, uint64_t k)
{
    enum { POLL_NS = 5000, POLLS = 16 };
    uint64_t end = 0, now = 0;
    while (now <= end) {
        for (unsigned i = 0; i < POLLS; i++) {
            if (is_there(flag, k)) {
                return true;
            }
        }
        now = ct_clock_ns();
        end = end == 0 ? now + POLL_NS : end;
    }
    return false;
}

/* Others may wait for answers of this rank. */
static void drive(const struct ct_board *b)
{
    ct_domain_enter(b->ctx->p);
    (void)ct_ep_progress(b->ctx->p);
    ct_domain_leave(b->ctx->p);
}

/* Where ranks share cores: one that runs is polled for, and room is made for one that does not,
 * here or, since that takes a switch, by whoever is on its core. In vain, if it takes long. */
static bool comes(struct ct_board *b, uint32_t rank, const _Atomic uint64_t *flag)
{
    enum { TURNS = 4 };
    for (unsigned i = 0; i < TURNS && !is_there(flag, b->k); i++) {
        if (look(b, rank) != CT_SEAT_RUNS || !appears(flag, b->k)) {
            drive(b);
            ct_ep_make_room(b->ctx->p);
        }
    }
    return is_there(flag, b->k);
}

/* In an exchange nobody comes out before all have put in their part. So the ranks on this core have
 * it first, those of them that still want it: elsewhere others may wait for them. After that no
 * rank of this core has a use for it, and what is to come takes other cores a switch or two. */
static bool comes_to_all(struct ct_board *b, const struct operation *o, uint32_t rank)
{
    for (uint32_t r = 0; r < b->ctx->n; r++) {
        const _Atomic uint64_t *flag = flag_of(o, r);
        if (r != b->ctx->me && !is_there(flag, b->k) && look(b, r) == CT_SEAT_BESIDE) {
            (void)comes(b, r, flag);
        }
    }
    return appears(flag_of(o, rank), b->k);
}

static int await_input(const struct operation *o, uint32_t rank)
{
    struct ct_board        *b = o->board;
    const _Atomic uint64_t *flag = flag_of(o, rank);
    if (CT_LIKELY(is_there(flag, b->k)) ||
        (ct_ep_is_crowded(b->ctx->p) &&
         (is_exchange(o) ? comes_to_all(b, o, rank) : comes(b, rank, flag)))) {
        return CTRAN_SUCCESS;
    }
    return await_slowly(b, rank, flag, b->k);
}

static int receive(const struct operation *o, const struct ct_step *step)
{
    const struct slot *slot = slot_of(o->board, step->peer);
    int                rc = await_input(o, step->peer);
    if (rc != CTRAN_SUCCESS || o->args->layout.count == 0) {
        return rc;
    }
    if (step->act == CT_RX_OP) {
        ct_view_reduce(&o->view, &o->args->op, step, find(o, slot, step));
        return CTRAN_SUCCESS;
    }
    struct ct_part to = ct_view_part(&o->view, &step->dst, &step->src, 0);
    memcpy(to.base, find(o, slot, step), to.elems * o->args->layout.elem_bytes);
    return CTRAN_SUCCESS;
}

/* What is put in comes before what is received. */
static int play_round(struct operation *o, uint32_t r)
{
    struct ct_step steps[CT_MAX_STEPS];
    unsigned       n = o->args->algo->round(&o->args->env, 0, r, steps);
    int            rc = CTRAN_SUCCESS;
    for (unsigned i = 0; i < n && rc == CTRAN_SUCCESS; i++) {
        if (steps[i].act == CT_COPY) {
            ct_view_copy(&o->view, &steps[i]);
        } else if (steps[i].act == CT_OP) {
            ct_view_reduce(&o->view, &o->args->op, &steps[i], NULL);
        } else if (steps[i].act == CT_TX && !o->is_in) {
            rc = put_in(o);
        }
    }
    for (unsigned i = 0; i < n && rc == CTRAN_SUCCESS; i++) {
        if (steps[i].act == CT_RX || steps[i].act == CT_RX_OP) {
            rc = receive(o, &steps[i]);
        }
    }
    return rc;
}

/* Through with operation k, well or not: others may write over what it read. */
static void end(const struct operation *o, int rc)
{
    struct ct_board *b = o->board;
    if (is_exchange(o) && rc == CTRAN_SUCCESS) {
        b->safe = b->k - 1;
    } else {
        set(b, &b->shared->member[b->ctx->me].done, b->k);
    }
}

void ct_run_skip(struct ct_run_ctx *ctx)
{
    ctx->seq++;
    ct_board_break(ctx, CTRAN_ERR_NO_MEM);
}

void ct_board_break(struct ct_run_ctx *ctx, int error)
{
    if (ctx->board != NULL) {
        ctx->board->broken = error;
    }
}

/* Where a member is known to be dead no collective succeeds any more, waiting or not. */
static int begin(struct ct_run_args *args)
{
    struct ct_process *p = args->ctx->p;
    ct_domain_enter(p);
    ct_ep_tell(p);
    int rc = ct_p2p_over(p, args->ctx->id);
    ct_domain_leave(p);
    return rc == CTRAN_SUCCESS ? ct_reduction_begin(&args->op) : rc;
}

/* Who is always last finds all flags there already, and still owes the others answers. */
static void drive_now_and_then(const struct ct_board *b)
{
    enum { EVERY = 64 };
    if (CT_UNLIKELY(b->k % EVERY == 0)) {
        drive(b);
    }
}

int ct_board_run(struct ct_run_args *args)
{
    if (CT_UNLIKELY(args->ctx->board->broken != CTRAN_SUCCESS)) {
        args->ctx->seq++;
        return args->ctx->board->broken;
    }
    const struct ct_algo *algo = args->algo;
    struct operation      o = {
             .board = args->ctx->board,
             .args = args,
             .view = {.layout = &args->layout, .tmp = args->ctx->board->tmp},
    };
    int rc = begin(args);
    args->ctx->seq++;
    o.board->k++;
    args->env.n = args->ctx->n;
    args->env.me = args->ctx->me;
    args->env.nblk = algo->nblk(&args->env);
    ct_layout_cut(&args->layout, args->env.nblk);
    o.view.ntmp = algo->tmp(&args->env);
    o.view.chunk_elems = ct_layout_longest(&args->layout);
    assert(o.view.ntmp <= args->ctx->n && algo->lanes == 1);
    const uint32_t rounds = algo->rounds(&args->env, 0);
    for (uint32_t r = 0; r < rounds && rc == CTRAN_SUCCESS; r++) {
        rc = play_round(&o, r);
    }
    end(&o, rc);
    drive_now_and_then(o.board);
    ct_reduction_end(&args->op);
    return rc;
}
