/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ranks' state machines: what the runner's strands do (coll/run/run.c), on the clock of the
 * queue. With symmetry only ranks 0 .. period - 1 exist; a rank further on is one of them turned,
 * and what it says is heard with all ranks turned alike (seen_from).
 */
#include <stdlib.h>
#include <string.h>

#include "engine.h"

void sim_engine_push(struct engine *e, uint64_t at, enum kind kind, struct sim_event ev)
{
    if (at >= SIM_TOO_LATE) {
        e->r->time_ps = SIM_TOO_LATE;
        return;
    }
    ev.at = at;
    ev.kind = (uint8_t)kind;
    e->no_memory |= !sim_queue_put(&e->queue, &ev);
}

/* Work of a rank, after which `then` happens. False: that is now, and for the caller to do. */
bool sim_engine_work(struct engine *e, uint32_t rank, uint64_t now, uint64_t ps, enum kind kind,
                     struct sim_event then)
{
    if (ps == 0) {
        return false;
    }
    if (e->cores == NULL) {
        uint64_t *busy = &e->own[rank].busy;
        *busy = (*busy > now ? *busy : now) + ps;
        sim_engine_push(e, *busy, kind, then);
        return true;
    }
    struct sim_event done;
    then.kind = (uint8_t)kind;
    switch (sim_cores_submit(e->cores, rank, now, ps, &then, &done)) {
    case SIM_NO_MEMORY:
        e->no_memory = true;
        break;
    case SIM_WAITS:
        break;
    case SIM_BEGINS:
        sim_engine_push(e, done.at, CORE, done);
        break;
    }
    return true;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static void start_transfer(struct engine *e, uint32_t rank, uint32_t strand,
                           const struct ct_step *step, uint64_t now)
{
    struct strand         *s = strand_at(e, rank, strand);
    bool                   is_tx = step->act == CT_TX;
    const struct ct_slice *mine = is_tx ? &step->src : &step->dst;
    const struct ct_slice *other = is_tx ? &step->dst : &step->src;
    uint64_t               bytes = sim_vector_bytes(&e->vector, mine, other, s->chunk);
    if (bytes == 0 && e->c->coll != CT_BARRIER) {
        return;
    }
    unsigned i = (unsigned)__builtin_ctz(~s->busy);
    s->busy |= 1u << i;
    s->slots[i] = (struct slot){.when = is_tx ? SIM_NEVER : now,
                                .peer = step->peer,
                                .round = s->next_round,
                                .state = is_tx ? TX_OPEN : RX_POSTED,
                                .act = step->act};
    if (!is_tx) {
        sim_message_post(e, rank, strand, i, now);
        return;
    }
    struct sim_count *count = &e->r->each[rank];
    count->messages++;
    e->r->too_much |= __builtin_add_overflow(count->bytes, bytes, &count->bytes);
    const bool moves = bytes <= e->c->cluster->eager; /* else when it is asked for */
    const bool fresh = mine->buf != CT_SEND || e->c->inplace;
    uint64_t   ps =
        e->send_ps + (moves ? sim_message_moving_ps(e, rank, step->peer, bytes, fresh) : 0);
    struct sim_event ev = {.rank = rank,
                           .peer = step->peer,
                           .strand = (uint16_t)strand,
                           .slot = (uint8_t)i,
                           .fresh = fresh,
                           .bytes = bytes};
    if (!sim_engine_work(e, rank, now, ps, INJECT, ev)) {
        sim_message_inject(e, &ev, now);
    }
}

static unsigned ask(struct engine *e, uint32_t rank, const struct strand *s, struct ct_step *steps)
{
    e->env.me = rank;
    return e->c->algo->round(&e->env, s->lane, s->next_round, steps);
}

static void do_transfers(struct engine *e, uint32_t rank, uint32_t strand, uint64_t now,
                         const struct ct_step *steps, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (steps[i].act <= CT_RX_OP) {
            start_transfer(e, rank, strand, &steps[i], now);
        }
    }
    strand_at(e, rank, strand)->next_round++;
}

/* Copies and sums of a round. */
static uint64_t local_ps(struct engine *e, const struct strand *s, const struct ct_step *steps,
                         unsigned n)
{
    uint64_t ps = 0;
    for (unsigned i = 0; i < n; i++) {
        if (steps[i].act == CT_COPY || steps[i].act == CT_OP) {
            uint64_t bytes = sim_vector_bytes(&e->vector, &steps[i].dst, &steps[i].src, s->chunk);
            double   each = steps[i].act == CT_COPY ? e->memory_ps : e->reduce_ps;
            ps = ct_min_size(ps + e->step_ps + sim_ps_of(bytes, each), SIM_TOO_LATE);
        }
    }
    return ps;
}

/* False: its copies and sums take their time first. */
static bool start_round(struct engine *e, uint32_t rank, uint32_t strand, uint64_t now)
{
    struct strand   *s = strand_at(e, rank, strand);
    struct ct_step   steps[CT_MAX_STEPS];
    unsigned         n = ask(e, rank, s, steps);
    uint64_t         own = e->round_ps + (s->next_round == 0 ? e->call_ps : 0);
    uint64_t         ps = sim_add(local_ps(e, s, steps, n), own);
    struct sim_event then = {.rank = rank, .peer = rank, .strand = (uint16_t)strand};
    e->r->each[rank].rounds++;
    if (sim_engine_work(e, rank, now, ps, POST, then)) {
        s->working = true;
        return false;
    }
    do_transfers(e, rank, strand, now, steps, n);
    return true;
}

/* Frees the slots of sends that have left. */
static void reap(struct strand *s, uint64_t now)
{
    for (uint32_t b = s->busy; b != 0; b &= b - 1) {
        unsigned i = (unsigned)__builtin_ctz(b);
        if (s->slots[i].state == TX_OPEN && s->slots[i].when <= now) {
            s->busy &= ~(1u << i);
        }
    }
}

/* Whether the next round may start; if not, *until is when sends will allow it, SIM_NEVER where a
 * receive, or a send that is not off yet, must come first. */
static bool may_start(const struct engine *e, const struct strand *s, uint64_t *until)
{
    const struct ct_algo *algo = e->c->algo;
    const bool            last = s->next_round == s->rounds;
    bool                  lag = false, receive = false;
    uint64_t              latest = 0, first = SIM_NEVER;
    for (uint32_t b = s->busy; b != 0; b &= b - 1) {
        const struct slot *slot = &s->slots[__builtin_ctz(b)];
        bool               is_tx = slot->state == TX_OPEN;
        uint64_t           after = (uint64_t)slot->round + (is_tx ? algo->txlag : algo->rxlag);
        if (last || after <= s->next_round) {
            lag = true;
            receive |= !is_tx;
            latest = is_tx && slot->when > latest ? slot->when : latest;
        }
        first = is_tx && slot->when < first ? slot->when : first;
    }
    if (lag) {
        *until = receive ? SIM_NEVER : latest;
        return false;
    }
    *until = first;
    return __builtin_popcount(s->busy) + CT_MAX_STEPS <= SIM_SLOTS;
}

/* Takes up the lane's next chunk, as the runner does. */
static void next_chunk(struct engine *e, uint32_t rank, struct strand *s)
{
    uint32_t *next = &e->next_chunk[(size_t)rank * e->c->algo->lanes + s->lane];
    bool      had = s->active;
    s->active = *next < e->vector.nchunks;
    e->active += s->active;
    e->active -= had;
    e->own[rank].at_work += s->active;
    e->own[rank].at_work -= had;
    if (s->active) {
        s->chunk = *next;
        s->name = (e->own[rank].calls - 1) * (uint32_t)e->vector.nchunks + s->chunk;
        *next += e->c->algo->lanes;
        s->next_round = 0;
    }
}

/* All strands of a rank begin its next call. */
static void next_call(struct engine *e, uint32_t rank)
{
    const uint32_t lanes = e->c->algo->lanes;
    e->own[rank].calls++;
    for (uint32_t lane = 0; lane < lanes; lane++) {
        e->next_chunk[(size_t)rank * lanes + lane] = lane;
    }
    for (uint32_t i = 0; i < e->nstrands; i++) {
        next_chunk(e, rank, strand_at(e, rank, i));
    }
}

/* A strand is through with its chunk. */
static void finish_chunk(struct engine *e, uint32_t rank, uint32_t strand, uint64_t now)
{
    touch(e, now);
    next_chunk(e, rank, strand_at(e, rank, strand));
    if (e->own[rank].at_work == 0 && e->own[rank].calls < e->c->repeat) {
        next_call(e, rank);
        for (uint32_t i = 0; i < e->nstrands; i++) {
            if (i != strand) {
                sim_engine_push(
                    e, now, WAKE,
                    (struct sim_event){.rank = rank, .peer = rank, .strand = (uint16_t)i});
            }
        }
    }
}

static void advance(struct engine *e, uint32_t rank, uint32_t strand, uint64_t now)
{
    struct strand *s = strand_at(e, rank, strand);
    while (s->active && !s->working) {
        uint64_t until;
        reap(s, now);
        if (!may_start(e, s, &until)) {
            if (until != SIM_NEVER && s->wake_at != until) {
                s->wake_at = until;
                sim_engine_push(
                    e, until, WAKE,
                    (struct sim_event){.rank = rank, .peer = rank, .strand = (uint16_t)strand});
            }
            return;
        }
        if (s->next_round == s->rounds) {
            finish_chunk(e, rank, strand, now);
        } else {
            (void)start_round(e, rank, strand, now);
        }
    }
}

/* ---- events ---------------------------------------------------------------------------------- */

static void finish_receive(struct engine *e, const struct sim_event *ev, uint64_t now)
{
    strand_at(e, ev->rank, ev->strand)->busy &= ~(1u << ev->slot);
    if (e->own[ev->rank].last_message.from != ev->peer) {
        e->own[ev->rank].last_message = (struct last_message){now, ev->peer};
    }
    touch(e, now);
    advance(e, ev->rank, ev->strand, now);
}

static void land(struct engine *e, const struct sim_event *ev)
{
    const struct slot *slot = &strand_at(e, ev->rank, ev->strand)->slots[ev->slot];
    uint64_t           ps = sim_message_moving_ps(e, ev->peer, ev->rank, ev->bytes, ev->fresh);
    ps = e->recv_ps + (ev->kind == LATE ? 2 * ps : ps);
    sim_message_hear(e, ev->rank, ev->peer);
    if (slot->act == CT_RX_OP) {
        ps += e->step_ps + sim_ps_of(ev->bytes, e->reduce_ps);
    }
    e->own[ev->peer % e->period].flight -= ev->bytes;
    if (!sim_engine_work(e, ev->rank, ev->at, ps, DONE, *ev)) {
        finish_receive(e, ev, ev->at);
    }
}

static void handle(struct engine *e, struct sim_event *ev);

/* A core is through with a piece of work: what follows from that is done, at once or in events of
 * this very moment, as messages that were there already; then it takes up more. */
static void core_free(struct engine *e, const struct sim_event *ev)
{
    struct sim_event then;
    if (sim_cores_finished(e->cores, ev, &then)) {
        then.at = ev->at;
        handle(e, &then);
    }
    sim_engine_push(e, ev->at, NEXT, *ev);
}

static void core_next(struct engine *e, const struct sim_event *ev)
{
    struct sim_event next;
    if (sim_cores_next(e->cores, ev, &next)) {
        sim_engine_push(e, next.at, CORE, next);
    }
}

static void handle(struct engine *e, struct sim_event *ev)
{
    struct strand *s = strand_at(e, ev->rank, ev->strand);
    struct ct_step steps[CT_MAX_STEPS];
    switch ((enum kind)ev->kind) {
    case POST:
        s->working = false;
        touch(e, ev->at);
        do_transfers(e, ev->rank, ev->strand, ev->at, steps, ask(e, ev->rank, s, steps));
        break;
    case INJECT:
        sim_message_inject(e, ev, ev->at);
        break;
    case GO:
        sim_message_go(e, ev, ev->at);
        break;
    case LAND:
    case LATE:
        land(e, ev);
        return;
    case ASK:
    case ANSWER:
    case CLEAR:
        sim_message_ask(e, ev);
        return;
    case DONE:
        finish_receive(e, ev, ev->at);
        return;
    case WAKE:
        break;
    case CORE:
        core_free(e, ev);
        return;
    case NEXT:
        core_next(e, ev);
        return;
    }
    advance(e, ev->rank, ev->strand, ev->at);
}

static int fail(char *why, size_t cap, int rc, const char *text)
{
    (void)snprintf(why, cap, "%s", text);
    return rc;
}

/* Where somebody waits for what never comes. */
static int stuck(const struct engine *e, char *why, size_t cap)
{
    for (uint32_t rank = 0; rank < e->period; rank++) {
        for (uint32_t i = 0; i < e->nstrands; i++) {
            const struct strand *s = strand_at(e, rank, i);
            if (s->active) {
                (void)snprintf(why, cap, "%s %s stops: rank %u waits before round %u of %u",
                               ct_algo_coll_name(e->c->coll), e->c->algo->name, rank, s->next_round,
                               s->rounds);
                return CTRAN_ERR_INTERN;
            }
        }
    }
    return fail(why, cap, CTRAN_ERR_INTERN, "messages are left that nobody received");
}

enum { AHEAD = 8 }; /* events of one moment, from asking for memory to using it */

static void fetch_strand(const struct engine *e, uint32_t rank, uint32_t i)
{
    const char *strand = (const char *)strand_at(e, rank, i);
    __builtin_prefetch(strand, 1);
    __builtin_prefetch(strand + 64, 1);
}

/* Begins to bring into the caches what events will look at that come soon: first what depends on
 * nothing else, then the links. */
static void fetch(const struct engine *e)
{
    const struct sim_event *later = sim_queue_soon(&e->queue, 2 * AHEAD);
    const struct sim_event *soon = sim_queue_soon(&e->queue, AHEAD);
    if (later != NULL && later->kind != CORE && later->kind != NEXT) { /* those have no strand */
        fetch_strand(e, later->rank, later->strand);
        __builtin_prefetch(&e->own[later->rank], 1);
        __builtin_prefetch(&e->r->each[later->rank], 1);
        if (later->kind == INJECT) {
            fetch_strand(e, later->peer % e->period, later->strand);
            sim_net_fetch_locations(e->net, later->rank, later->peer);
        }
    }
    if (soon != NULL && soon->kind == INJECT) {
        sim_net_fetch_links(e->net, soon->rank, soon->peer);
    }
}

/* The time of all calls at which they are given up. */
static uint64_t most_ps(const struct sim_case *c)
{
    uint64_t   most;
    const bool beyond = __builtin_mul_overflow(c->most_ps, c->repeat, &most);
    return c->most_ps == 0 || beyond ? SIM_NEVER : most;
}

static int run(struct engine *e, char *why, size_t cap)
{
    struct sim_event ev = {0};
    const uint64_t   most = most_ps(e->c);
    for (uint32_t k = 0; k < e->period; k++) {
        const uint32_t rank = e->order != NULL ? e->order[k] : k;
        for (uint32_t i = 0; i < e->nstrands; i++) {
            sim_engine_push(e, 0, WAKE,
                            (struct sim_event){.rank = rank, .peer = rank, .strand = (uint16_t)i});
        }
    }
    while (!e->no_memory && !sim_is_beyond(e->r) && ev.at <= most &&
           sim_queue_get(&e->queue, &ev)) {
        fetch(e);
        e->r->events++;
        if (e->r->events % SIM_ALIVE_EVENTS == 0 && e->c->alive != NULL) {
            sim_alive_events(e->c->alive, SIM_ALIVE_EVENTS);
        }
        handle(e, &ev);
    }
    if (e->no_memory) {
        return fail(why, cap, CTRAN_ERR_NO_MEM, "no memory");
    }
    if (sim_is_beyond(e->r)) {
        return CTRAN_SUCCESS; /* see sim_sum_up */
    }
    if (ev.at > most) {
        e->r->given_up = true;
        return CTRAN_SUCCESS;
    }
    return e->active > 0 || e->mail.n > 0 ? stuck(e, why, cap) : CTRAN_SUCCESS;
}

/* ---- start and end --------------------------------------------------------------------------- */

/* Whether a host has fewer cores than ranks. */
static bool few_cores(const struct engine *e)
{
    const struct sim_cluster *c = e->c->cluster;
    return c->cores > 0 && c->cores < c->shape.gpus;
}

static bool furnish(struct engine *e)
{
    const struct sim_case *c = e->c;
    const uint32_t         lanes = c->algo->lanes;
    e->nstrands = (uint32_t)ct_min_size(c->chunks, ct_div_up(e->vector.nchunks, lanes)) * lanes;
    e->next_chunk = sim_zeros((size_t)e->period * lanes, sizeof *e->next_chunk);
    e->strands = sim_zeros((size_t)e->period * e->nstrands, sizeof *e->strands);
    e->own = sim_zeros(e->period, sizeof *e->own);
    if (few_cores(e)) {
        e->cores = sim_cores_make(e->net, e->period, c->cluster);
        e->order = malloc(e->period * sizeof *e->order);
    }
    if (c->cluster->move > 0) {
        e->host = sim_host_make(e->net, e->period, c->cluster, &e->vector);
    }
    if (e->next_chunk == NULL || e->strands == NULL || e->own == NULL ||
        (few_cores(e) && (e->cores == NULL || e->order == NULL)) ||
        (c->cluster->move > 0 && e->host == NULL)) {
        return false;
    }
    if (e->order != NULL) {
        sim_start_order(c->start, e->period, e->order);
    }
    for (uint32_t rank = 0; rank < e->period; rank++) {
        e->env.me = rank;
        e->own[rank].last_message.from = UINT32_MAX; /* nobody */
        for (uint32_t i = 0; i < e->nstrands; i++) {
            struct strand *s = strand_at(e, rank, i);
            s->lane = (uint16_t)(i % lanes);
            s->rounds = c->algo->rounds(&e->env, s->lane);
            s->wake_at = SIM_NEVER;
        }
        next_call(e, rank);
    }
    return true;
}

/* Turning the ranks turns the blocks; that is the same only if these are of one length. */
static uint32_t period_of(const struct sim_case *c, const struct sim_vector *v)
{
    const bool alike = (c->algo->traits & CT_SHIFT) != 0 && v->rest == 0;
    return alike ? sim_net_period(c->cluster, c->n) : c->n;
}

/* By waves where that is possible: nobody watches, and not each rank is asked for. */
static int execute(struct engine *e, char *why, size_t cap)
{
    struct sim_wave wave = {.c = e->c,
                            .env = &e->env,
                            .vector = &e->vector,
                            .period = e->period,
                            .send_ps = e->send_ps,
                            .recv_ps = e->recv_ps,
                            .step_ps = e->step_ps,
                            .memory_ps = e->memory_ps,
                            .reduce_ps = e->reduce_ps};
    e->net = sim_net_make(e->c->cluster, e->c->n, e->period);
    e->r->each = sim_zeros(e->period, sizeof *e->r->each);
    if (e->net == NULL || e->r->each == NULL) {
        return fail(why, cap, CTRAN_ERR_NO_MEM, "no memory");
    }
    wave.net = e->net;
    wave.own_processors = !few_cores(e) && e->round_ps + e->call_ps == 0;
    if (!e->c->full && e->c->repeat == 1 && e->watch == NULL && sim_wave_run(&wave, e->r)) {
        return CTRAN_SUCCESS;
    }
    return furnish(e) ? run(e, why, cap) : fail(why, cap, CTRAN_ERR_NO_MEM, "no memory");
}

int sim_run(const struct sim_case *c, const struct sim_watch *watch, struct sim_result *r,
            char *why, size_t cap)
{
    struct engine  e = {.c = c, .watch = watch, .r = r};
    const uint32_t rooted = CT_BCAST | CT_REDUCE | CT_GATHER | CT_SCATTER;
    *r = (struct sim_result){0};
    e.env = (struct ct_env){.n = c->n,
                            .root = (c->coll & rooted) != 0 ? c->root : 0,
                            .radix = c->radix,
                            .inplace = c->inplace,
                            .ordered = c->ordered,
                            .levels = c->levels};
    if (!c->algo->fits(&e.env)) {
        return fail(why, cap, CTRAN_ERR_ARG, "the algorithm does not serve so many ranks");
    }
    if (c->bytes == 0 && c->coll != CT_BARRIER) { /* such a call does nothing */
        r->stood_for = 1;
        r->each = calloc(c->n, sizeof *r->each);
        return r->each != NULL ? CTRAN_SUCCESS : fail(why, cap, CTRAN_ERR_NO_MEM, "no memory");
    }
    e.env.nblk = c->algo->nblk(&e.env);
    if (!sim_vector_init(&e.vector, c, e.env.nblk)) {
        return fail(why, cap, CTRAN_ERR_ARG, "too much data: its bytes cannot be counted");
    }
    if (e.vector.nchunks > UINT32_MAX / 2 / c->repeat) {
        return fail(why, cap, CTRAN_ERR_ARG, "too many chunks; ask for larger ones");
    }
    uint32_t period = period_of(c, &e.vector);
    e.period = c->full ? c->n : period;
    e.queue.n = c->n;
    e.queue.period = period < c->n ? period : 0;
    e.send_ps = (uint64_t)(c->cluster->send_us * SIM_PS_PER_US + 0.5);
    e.recv_ps = (uint64_t)(c->cluster->recv_us * SIM_PS_PER_US + 0.5);
    e.step_ps = (uint64_t)(c->cluster->step_us * SIM_PS_PER_US + 0.5);
    e.round_ps = (uint64_t)(c->cluster->round_us * SIM_PS_PER_US + 0.5);
    e.call_ps = (uint64_t)(c->cluster->call_us * SIM_PS_PER_US + 0.5);
    e.memory_ps = 1e12 / c->cluster->memory;
    e.reduce_ps = 1e12 / c->cluster->reduce;
    int        rc = execute(&e, why, cap);
    const bool late = r->time_ps >= SIM_TOO_LATE;
    if (rc == CTRAN_SUCCESS && !sim_sum_up(c, e.net, e.period, r)) {
        rc = fail(why, cap, CTRAN_ERR_ARG,
                  late ? "it takes more than 53 days, beyond what can be simulated"
                       : "too much data: its bytes or waits cannot be added up");
    }
    r->given_up |= c->most_ps > 0 && r->time_ps > c->most_ps;
    sim_net_free(e.net);
    sim_queue_free(&e.queue);
    sim_mail_free(&e.mail);
    free(e.order);
    sim_host_free(e.host);
    free(e.next_chunk);
    free(e.own);
    sim_cores_free(e.cores);
    free(e.strands);
    return rc;
}
