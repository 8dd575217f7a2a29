/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine: starts rounds, matches sends with receives, lands and drains them, in an order drawn
 * from a seed, until nothing is left to do. See prove.h for what is checked.
 *
 * A send drains only after its receive has landed, unless it was drawn to be buffered: then its
 * source is read when it is posted. Pairs of a send and a receive land in any order, even between
 * the same two ranks, as large and small messages may. Marks (memory.c) stay on until the lags
 * say that the transfer is over, however early it was: so a hazard is found in every execution.
 */
#include "prove.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

enum { NONE = -1 };
enum event_kind { START, LAND, DRAIN };

/* A TX, RX or RX_OP that was posted. */
struct post {
    struct ct_step step;
    uint32_t       rank, round;
    int32_t        next_of_rank, next_of_pair;
    uint32_t       known;   /* barrier: the set of ranks that the message tells of */
    int64_t        payload; /* of a buffered send: where its words are; else NONE */
    uint8_t        refs;    /* its marks, and the transfer itself */
};

struct list {
    int32_t head, tail;
};

/* Posts that wait for their match, from one rank to another. */
struct pair {
    struct list tx, rx;
};

struct event {
    enum event_kind kind;
    int32_t         a, b; /* a rank; a send and its receive; a send */
};

/* One rank's progress. Receives, and sends, of rounds below `low` are all over. */
struct rank {
    uint32_t    next, rx_low, tx_low;
    bool        queued;
    struct list tx_marks, rx_marks;
    uint32_t    known;
    uint64_t    sent, received, sent_blocks, received_blocks, joined;
};

struct pool {
    void  *items;
    size_t used, cap; /* in items */
};

struct prover {
    struct prove p;
    struct rank *ranks;
    struct pair *pairs; /* [from * n + to]; all empty between executions */
    uint8_t     *left;  /* [(rank * rounds + round) * 2 + is receive]: transfers under way */
    size_t       pairs_cap, left_cap;
    uint32_t     ranks_cap, landing_cap;
    struct pool  posts, events, payload;
    struct word *landing; /* what one message brings */
    int32_t      free_post;
    uint64_t     random;
    uint32_t     rxlag, txlag; /* what this execution waits for */
    uint64_t     unmatched;    /* posts in pairs */
};

/* ---------------------------------------------------------------------------------------------
 * Small things
 * ------------------------------------------------------------------------------------------ */

bool prove_fail(struct prove *p, const char *fmt, ...)
{
    va_list args;
    if (p->res->why[0] == '\0') {
        va_start(args, fmt);
        (void)vsnprintf(p->res->why, sizeof(p->res->why), fmt, args);
        va_end(args);
    }
    return false;
}

const char *prove_case_name(const struct prove_case *c, char *text, size_t len)
{
    (void)snprintf(text, len, "%s %s: n %u root %u radix %u%s%s%s seed %llu",
                   ct_algo_coll_name(c->algo->colls), c->algo->name, c->n, c->root, c->radix,
                   c->ordered ? " ordered" : "", c->inplace ? " in place" : "",
                   c->uneven ? " uneven" : "", (unsigned long long)c->seed);
    return text;
}

static void *enough(void *old, size_t count, size_t size)
{
    void *grown = realloc(old, count * size);
    if (grown == NULL) {
        abort();
    }
    return grown;
}

/* Room for `more` items after those there; the first new one's number. */
static size_t pool_add(struct pool *pool, size_t more, size_t size)
{
    size_t at = pool->used;
    if (at + more > pool->cap) {
        pool->cap = (at + more) * 2;
        pool->items = enough(pool->items, pool->cap, size);
    }
    pool->used += more;
    return at;
}

static uint64_t draw(struct prover *v)
{
    v->random ^= v->random << 13;
    v->random ^= v->random >> 7;
    v->random ^= v->random << 17;
    return v->random;
}

static struct post *post_at(struct prover *v, int32_t id)
{
    return (struct post *)v->posts.items + id;
}

static void list_append(struct prover *v, struct list *l, int32_t id, bool of_pair)
{
    if (l->tail == NONE) {
        l->head = id;
    } else if (of_pair) {
        post_at(v, l->tail)->next_of_pair = id;
    } else {
        post_at(v, l->tail)->next_of_rank = id;
    }
    l->tail = id;
}

static int32_t list_pop(struct prover *v, struct list *l, bool of_pair)
{
    int32_t id = l->head;
    if (id != NONE) {
        l->head = of_pair ? post_at(v, id)->next_of_pair : post_at(v, id)->next_of_rank;
        if (l->head == NONE) {
            l->tail = NONE;
        }
    }
    return id;
}

static int32_t post_new(struct prover *v)
{
    int32_t id = v->free_post;
    if (id != NONE) {
        v->free_post = post_at(v, id)->next_of_pair;
    } else {
        id = (int32_t)pool_add(&v->posts, 1, sizeof(struct post));
    }
    return id;
}

static void post_put(struct prover *v, int32_t id)
{
    struct post *post = post_at(v, id);
    if (--post->refs == 0) {
        post->next_of_pair = v->free_post;
        v->free_post = id;
    }
}

static void push(struct prover *v, enum event_kind kind, int32_t a, int32_t b)
{
    size_t at = pool_add(&v->events, 1, sizeof(struct event));
    ((struct event *)v->events.items)[at] = (struct event){.kind = kind, .a = a, .b = b};
}

/* ---------------------------------------------------------------------------------------------
 * Rounds
 * ------------------------------------------------------------------------------------------ */

static uint8_t *left_of(struct prover *v, uint32_t rank, uint32_t round, bool rx)
{
    return &v->left[((size_t)rank * v->p.rounds + round) * 2 + rx];
}

/* Queues the rank's next round if it may start. */
static void wake(struct prover *v, uint32_t me)
{
    struct rank *k = &v->ranks[me];
    while (k->rx_low < k->next && *left_of(v, me, k->rx_low, true) == 0) {
        k->rx_low++;
    }
    while (k->tx_low < k->next && *left_of(v, me, k->tx_low, false) == 0) {
        k->tx_low++;
    }
    if (!k->queued && k->next < v->p.rounds && k->rx_low + v->rxlag > k->next &&
        k->tx_low + v->txlag > k->next) {
        k->queued = true;
        push(v, START, (int32_t)me, NONE);
    }
}

/* Takes the marks of transfers off that the lags say are over before this round. */
static void unmark(struct prover *v, uint32_t me, struct list *marks, uint64_t lag, uint64_t round)
{
    while (marks->head != NONE && post_at(v, marks->head)->round + lag <= round) {
        int32_t      id = list_pop(v, marks, false);
        struct post *post = post_at(v, id);
        prove_memory_unmark(&v->p, me, &post->step);
        if (post->step.act != CT_TX && v->p.algo->colls == CT_BARRIER) {
            word_set_merge(&v->p.mem.words, v->ranks[me].known, post->known);
        }
        post_put(v, id);
    }
}

/* A send and a receive that match are an event as soon as both are posted. */
static bool match(struct prover *v, uint32_t from, uint32_t to)
{
    struct pair *pair = &v->pairs[(size_t)from * v->p.n + to];
    if (pair->tx.head == NONE || pair->rx.head == NONE) {
        return true;
    }
    int32_t  tx = list_pop(v, &pair->tx, true), rx = list_pop(v, &pair->rx, true);
    uint32_t sent = slice_count(&post_at(v, tx)->step.src);
    uint32_t expected = slice_count(&post_at(v, rx)->step.dst);

    v->unmatched -= 2;
    push(v, LAND, tx, rx);
    return sent == expected ||
           prove_fail(&v->p, "rank %u sends %u blocks in round %u, rank %u expects %u in %u", from,
                      sent, post_at(v, tx)->round, to, expected, post_at(v, rx)->round);
}

/* A send that is buffered: its source is read now, and may be overwritten at any time. */
static bool buffer(struct prover *v, int32_t id)
{
    struct post *post = post_at(v, id);
    size_t       at = pool_add(&v->payload, slice_count(&post->step.src), sizeof(struct word));

    post->payload = (int64_t)at;
    push(v, DRAIN, id, NONE);
    return prove_memory_read(&v->p, post->rank, &post->step, (struct word *)v->payload.items + at);
}

/* The rank's group on the highest level. */
static uint32_t group_of(const struct prover *v, uint32_t rank)
{
    const struct ct_levels *l = v->p.c->levels;
    uint32_t                at = l->place != NULL ? l->place[rank] : rank;
    for (; l != NULL; l = l->above) {
        at = l->group[at];
    }
    return at;
}

static void count_post(struct prover *v, uint32_t me, const struct ct_step *s)
{
    struct rank *k = &v->ranks[me];
    uint32_t     blocks = slice_count(s->act == CT_TX ? &s->src : &s->dst);
    if (s->act == CT_TX) {
        bool crosses = v->p.c->levels != NULL && group_of(v, me) != group_of(v, s->peer);
        v->p.res->crossing += crosses;
        v->p.res->crossing_blocks += crosses ? blocks : 0;
        k->sent++;
        k->sent_blocks += blocks;
    } else {
        k->received++;
        k->received_blocks += blocks;
        k->joined += s->act == CT_RX_OP ? blocks : 0;
    }
}

static bool post_step(struct prover *v, uint32_t me, uint32_t round, const struct ct_step *s)
{
    bool         tx = s->act == CT_TX, barrier = v->p.algo->colls == CT_BARRIER;
    int32_t      id = post_new(v);
    struct pair *pair =
        &v->pairs[tx ? (size_t)me * v->p.n + s->peer : (size_t)s->peer * v->p.n + me];

    *post_at(v, id) = (struct post){.step = *s,
                                    .rank = me,
                                    .round = round,
                                    .next_of_rank = NONE,
                                    .next_of_pair = NONE,
                                    .payload = NONE,
                                    .refs = (uint8_t)(tx ? 3 : 2)};
    if (barrier && tx) {
        uint32_t known = word_set_new(&v->p.mem.words);
        word_set_merge(&v->p.mem.words, known, v->ranks[me].known);
        post_at(v, id)->known = known;
    }
    count_post(v, me, s);
    ++*left_of(v, me, round, !tx);
    list_append(v, tx ? &v->ranks[me].tx_marks : &v->ranks[me].rx_marks, id, false);
    if (!prove_memory_mark(&v->p, me, s)) {
        return false;
    }
    list_append(v, tx ? &pair->tx : &pair->rx, id, true);
    v->unmatched++;
    if (tx && v->p.c->seed != 0 && draw(v) % 2 == 0 && !buffer(v, id)) {
        return false;
    }
    return tx ? match(v, me, s->peer) : match(v, s->peer, me);
}

static bool start(struct prover *v, uint32_t me)
{
    struct rank   *k = &v->ranks[me];
    struct ct_step steps[CT_MAX_STEPS];
    uint32_t       round = k->next;
    unsigned       count = prove_ask(&v->p, me, round, steps);

    k->queued = false;
    k->next++;
    unmark(v, me, &k->tx_marks, v->p.algo->txlag, round);
    unmark(v, me, &k->rx_marks, v->p.algo->rxlag, round);
    for (unsigned i = 0; i < count; i++) {
        if (!step_transfers(&steps[i])) {
            k->joined += steps[i].act == CT_OP ? slice_count(&steps[i].dst) : 0;
            if (!prove_memory_local(&v->p, me, &steps[i])) {
                return false;
            }
        }
    }
    for (unsigned i = 0; i < count; i++) {
        if (step_transfers(&steps[i]) && !post_step(v, me, round, &steps[i])) {
            return false;
        }
    }
    wake(v, me);
    return true;
}

/* ---------------------------------------------------------------------------------------------
 * Events
 * ------------------------------------------------------------------------------------------ */

static bool land(struct prover *v, int32_t tx_id, int32_t rx_id)
{
    struct post       *tx = post_at(v, tx_id), *rx = post_at(v, rx_id);
    const struct word *words = v->landing;

    if (tx->payload != NONE) {
        words = (struct word *)v->payload.items + tx->payload;
    } else if (!prove_memory_read(&v->p, tx->rank, &tx->step, v->landing)) {
        return false;
    }
    if (!prove_memory_land(&v->p, rx->rank, &rx->step, words)) {
        return prove_fail(&v->p, "from rank %u round %u", tx->rank, tx->round);
    }
    rx->known = tx->known;
    --*left_of(v, rx->rank, rx->round, true);
    wake(v, rx->rank);
    if (tx->payload == NONE) {
        push(v, DRAIN, tx_id, NONE);
    }
    post_put(v, rx_id);
    post_put(v, tx_id);
    return true;
}

static void drain(struct prover *v, int32_t id)
{
    struct post *post = post_at(v, id);
    uint32_t     me = post->rank;
    --*left_of(v, me, post->round, false);
    post_put(v, id);
    wake(v, me);
}

/* Whose event it is: of a transfer, its sender's. */
static uint32_t rank_of(struct prover *v, const struct event *e)
{
    return e->kind == START ? (uint32_t)e->a : post_at(v, e->a)->rank;
}

static bool is_slow(struct prover *v, uint32_t rank)
{
    return (rank * 2654435761u + v->p.c->seed * 40503u) >> 7 & 1;
}

/* Draws the next event. Seed 0 is a fixed order; of the others, a third each draws any; the
 * newest mostly, so that some ranks run far ahead; any, but those of a slow half of the ranks only
 * when others are scarce. */
static size_t draw_event(struct prover *v)
{
    const struct event *events = v->events.items;
    uint64_t            seed = v->p.c->seed;
    size_t              at = draw(v) % v->events.used;

    if (seed == 0) {
        return 0;
    }
    if (seed % 3 == 1 && draw(v) % 8 != 0) {
        return v->events.used - 1;
    }
    for (int tries = 0; seed % 3 == 2 && tries < 4 && is_slow(v, rank_of(v, &events[at]));
         tries++) {
        at = draw(v) % v->events.used;
    }
    return at;
}

static struct event next_event(struct prover *v)
{
    struct event *events = v->events.items;
    size_t        at = draw_event(v);
    struct event  e = events[at];

    events[at] = events[--v->events.used];
    return e;
}

static bool execute(struct prover *v)
{
    for (uint32_t me = 0; me < v->p.n; me++) {
        wake(v, me);
    }
    while (v->events.used > 0) {
        struct event e = next_event(v);
        bool         ok = true;
        switch (e.kind) {
        case START:
            ok = start(v, (uint32_t)e.a);
            break;
        case LAND:
            ok = land(v, e.a, e.b);
            break;
        case DRAIN:
            drain(v, e.a);
            break;
        }
        if (!ok) {
            return false;
        }
    }
    return true;
}

/* Nothing is left to do: all must be done. */
static bool check_end(struct prover *v)
{
    for (uint32_t me = 0; me < v->p.n; me++) {
        struct rank *k = &v->ranks[me];
        if (k->next < v->p.rounds || k->rx_low < k->next || k->tx_low < k->next) {
            return prove_fail(&v->p,
                              "deadlock: rank %u began %u of %u rounds; it waits for a "
                              "receive of round %u or a send of round %u",
                              me, k->next, v->p.rounds, k->rx_low, k->tx_low);
        }
        unmark(v, me, &k->tx_marks, 0, UINT64_MAX);
        unmark(v, me, &k->rx_marks, 0, UINT64_MAX);
        if (v->p.algo->colls == CT_BARRIER && word_set_count(&v->p.mem.words, k->known) != v->p.n) {
            return prove_fail(&v->p, "rank %u leaves, though it knows of %u ranks only", me,
                              word_set_count(&v->p.mem.words, k->known));
        }
    }
    if (v->unmatched > 0) {
        return prove_fail(&v->p, "%llu transfers have no match", (unsigned long long)v->unmatched);
    }
    return prove_memory_check_result(&v->p);
}

/* ---------------------------------------------------------------------------------------------
 * Set-up
 * ------------------------------------------------------------------------------------------ */

bool prove_reduces(uint32_t coll)
{
    return (coll & (CT_REDUCE | CT_ALLREDUCE | CT_REDUCE_SCATTER | CT_SCAN | CT_EXSCAN)) != 0;
}

bool prove_has_inplace(uint32_t coll)
{
    return (coll & (CT_REDUCE | CT_ALLREDUCE | CT_ALLGATHER | CT_GATHER | CT_SCATTER | CT_SCAN |
                    CT_EXSCAN)) != 0;
}

bool prove_has_root(uint32_t coll)
{
    return (coll & (CT_BCAST | CT_REDUCE | CT_GATHER | CT_SCATTER)) != 0;
}

bool prove_has_uneven(uint32_t coll)
{
    return (coll & (CT_GATHER | CT_SCATTER | CT_ALLTOALL)) != 0;
}

struct ct_env prove_env(const struct prove_case *c, uint32_t me)
{
    struct ct_env env = {.n = c->n,
                         .me = me,
                         .root = c->root,
                         .radix = c->radix,
                         .inplace =
                             c->inplace && (!prove_has_root(c->algo->colls) || me == c->root),
                         .ordered = c->ordered,
                         .uneven = c->uneven,
                         .levels = c->levels};
    env.nblk = c->algo->nblk(&env);
    return env;
}

bool prove_fits(const struct prove_case *c)
{
    struct ct_env env = prove_env(c, 0);
    return c->algo->fits(&env);
}

/* What this execution waits for: as long as the lags say, or less, down to 1. */
static uint32_t draw_lag(struct prover *v, uint32_t lag)
{
    if (v->p.c->seed == 0 || lag == 1 || draw(v) % 3 == 0) {
        return lag;
    }
    return draw(v) % 2 == 0 ? 1 : 1 + (uint32_t)(draw(v) % (lag < 8 ? lag : 8));
}

/* More scratch than this is a mistake; it also bounds the length of a slice. Leaders in alltoall
 * hold a block for each pair of ranks. */
static uint32_t max_tmp(const struct ct_algo *algo, uint32_t n)
{
    const bool pairs = algo->colls == CT_ALLTOALL && (algo->traits & CT_BY_LEVEL) != 0;
    return 4 * n * (pairs ? n : 1);
}

static void grow_ranks(struct prover *v, uint32_t n)
{
    const uint32_t blocks = max_tmp(v->p.algo, n);
    if (blocks > v->landing_cap) {
        v->landing_cap = blocks;
        v->landing = enough(v->landing, blocks, sizeof(*v->landing));
    }
    if (n <= v->ranks_cap) {
        return;
    }
    v->ranks_cap = n;
    v->ranks = enough(v->ranks, n, sizeof(*v->ranks));
    v->p.envs = enough(v->p.envs, n, sizeof(*v->p.envs));
    v->p.tmp = enough(v->p.tmp, n, sizeof(*v->p.tmp));
}

static void clear_pairs(struct prover *v)
{
    for (size_t i = 0; i < v->pairs_cap; i++) {
        v->pairs[i] = (struct pair){{NONE, NONE}, {NONE, NONE}};
    }
}

/* Into how many blocks a vector may be cut. */
static bool may_cut(const struct prove *p)
{
    if ((p->algo->colls & (CT_BCAST | CT_REDUCE | CT_ALLREDUCE)) != 0) {
        return p->nblk >= 1 && p->nblk <= p->n;
    }
    bool one = (p->algo->colls & (CT_BARRIER | CT_SCAN | CT_EXSCAN)) != 0;
    return p->nblk == (one ? 1 : p->n);
}

static bool set_up_ranks(struct prover *v)
{
    struct prove *p = &v->p;
    for (uint32_t me = 0; me < p->n; me++) {
        p->envs[me] = prove_env(p->c, me);
        p->nblk = p->envs[me].nblk;
        if (!p->algo->fits(&p->envs[me])) {
            return prove_fail(p, "rank %u: does not fit", me);
        }
        p->tmp[me] = p->algo->tmp(&p->envs[me]);
        if (!may_cut(p) || p->nblk != p->envs[0].nblk || p->tmp[me] > max_tmp(p->algo, p->n)) {
            return prove_fail(p, "rank %u: %u blocks, %u scratch", me, p->nblk, p->tmp[me]);
        }
    }
    p->rounds = p->algo->rounds(&p->envs[0], p->lane);
    return p->rounds <= 4 * p->n + PROVE_MAX_ROUNDS_OVER ||
           prove_fail(p, "%u rounds are too many", p->rounds);
}

static void set_up_progress(struct prover *v)
{
    struct prove *p = &v->p;
    size_t        pairs = (size_t)p->n * p->n, left = (size_t)p->n * p->rounds * 2;

    if (pairs > v->pairs_cap) {
        v->pairs = enough(v->pairs, pairs, sizeof(*v->pairs));
        v->pairs_cap = pairs;
        clear_pairs(v);
    }
    if (left > v->left_cap) {
        v->left = enough(v->left, left, sizeof(*v->left));
        v->left_cap = left;
    }
    if (left > 0) {
        memset(v->left, 0, left);
    }
    v->posts.used = v->events.used = v->payload.used = 0;
    v->free_post = NONE;
    v->unmatched = 0;
    for (uint32_t me = 0; me < p->n; me++) {
        v->ranks[me] = (struct rank){.tx_marks = {NONE, NONE}, .rx_marks = {NONE, NONE}};
        if (p->algo->colls == CT_BARRIER) {
            v->ranks[me].known = word_set_new(&p->mem.words);
            word_set_add(&p->mem.words, v->ranks[me].known, me);
        }
    }
    v->rxlag = draw_lag(v, p->algo->rxlag);
    v->txlag = draw_lag(v, p->algo->txlag);
}

static void add_costs(struct prover *v)
{
    struct prove_result *res = v->p.res;
    for (uint32_t me = 0; me < v->p.n; me++) {
        const struct rank *k = &v->ranks[me];
        uint64_t           messages = k->sent > k->received ? k->sent : k->received;
        uint64_t blocks = k->sent_blocks > k->received_blocks ? k->sent_blocks : k->received_blocks;
        res->messages += k->sent;
        res->blocks += k->sent_blocks;
        res->messages_max = messages > res->messages_max ? messages : res->messages_max;
        res->blocks_max = blocks > res->blocks_max ? blocks : res->blocks_max;
        res->joins_max = k->joined > res->joins_max ? k->joined : res->joins_max;
    }
}

static bool run_lane(struct prover *v)
{
    if (!set_up_ranks(v) || (!v->p.c->steps_known && !prove_check_steps(&v->p))) {
        return false;
    }
    prove_memory_init(&v->p);
    set_up_progress(v);
    if (!execute(v) || !check_end(v)) {
        clear_pairs(v);
        return false;
    }
    if (v->p.lane == 0) {
        v->p.res->rounds = v->p.rounds;
    }
    add_costs(v);
    return true;
}

bool prove_run(struct prover *v, const struct prove_case *c, struct prove_result *res)
{
    *res = (struct prove_result){.rounds = 0};
    v->p.c = c;
    v->p.algo = c->algo;
    v->p.n = c->n;
    v->p.res = res;
    v->random = (c->seed + 1) * 0x9e3779b97f4a7c15u;
    grow_ranks(v, c->n);
    for (v->p.lane = 0; v->p.lane < c->algo->lanes; v->p.lane++) {
        if (!run_lane(v)) {
            return false;
        }
    }
    return true;
}

struct prover *prove_create(void)
{
    struct prover *v = calloc(1, sizeof(*v));
    if (v == NULL) {
        abort();
    }
    return v;
}

void prove_destroy(struct prover *v)
{
    prove_memory_fini(&v->p.mem);
    free(v->ranks);
    free(v->landing);
    free(v->p.envs);
    free(v->p.tmp);
    free(v->pairs);
    free(v->left);
    free(v->posts.items);
    free(v->events.items);
    free(v->payload.items);
    free(v);
}
