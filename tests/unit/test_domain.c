/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The progress domain: that every waiter is told, whoever polls, sleeps and leaves, and that the
 * lock goes round. One wake-up lost, and a test ends only with its time limit.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "ranks.h"

#include "ep/domain.h"

enum { THREADS = 6, ROUNDS = 300, BATCH = 5 };

static const char *const asleep[] = {"CTRAN_SPIN", "0", NULL};
static const char *const awake[] = {"CTRAN_SPIN", "1000", NULL};

/* ---- requests that a thread completes -------------------------------------------------------- */

struct job {
    struct rank      *r;
    pthread_barrier_t meet;
    /* Of each waiting thread; NULL where one is complete, or has yet to be started. */
    _Atomic(struct ct_request *) reqs[THREADS][BATCH];
    atomic_int                   next, left;
};

static void complete(struct ct_process *p, struct ct_request *req)
{
    ct_domain_enter(p);
    ct_request_complete(p, req);
    ct_domain_leave(p);
}

/* Completes what it finds, in random order, until all waiters have gone. */
static void *completer(void *arg)
{
    struct job *job = arg;
    uint64_t    seed = 77;
    while (atomic_load(&job->left) > 0) {
        _Atomic(struct ct_request *) *at =
            &job->reqs[unit_below(&seed, THREADS)][unit_below(&seed, BATCH)];
        struct ct_request *req = atomic_exchange(at, NULL);
        if (req != NULL) {
            complete(&job->r->p, req);
        }
    }
    return NULL;
}

static bool enough(struct ct_request *const reqs[], bool all)
{
    uint32_t done = 0;
    for (uint32_t i = 0; i < BATCH; i++) {
        done += ct_request_is_done(reqs[i]);
    }
    return all ? done == BATCH : done > 0;
}

static void wait_for(struct ct_process *p, struct ct_request *const reqs[], bool all)
{
    struct ct_waiter w; /* of this frame alone: nobody may tell it later */
    ct_waiter_init(&w, all);
    ct_waiter_join(p, &w, reqs, BATCH);
    while (!enough(reqs, all)) {
        ct_waiter_wait(p, &w);
    }
    ct_waiter_part(p, &w, reqs, BATCH);
    memset(&w, 0x5a, sizeof w);
}

/* Waits for batches of requests; for one of them first in every other round. */
static void *waiter(void *arg)
{
    struct job *job = arg;
    int         me = atomic_fetch_add(&job->next, 1);
    for (int round = 0; round < ROUNDS; round++) {
        struct ct_request batch[BATCH], *reqs[BATCH];
        for (uint32_t i = 0; i < BATCH; i++) {
            batch[i] = (struct ct_request){.error = 0};
            reqs[i] = &batch[i];
            atomic_store(&job->reqs[me][i], reqs[i]);
        }
        if (round % 2 == 0) {
            wait_for(&job->r->p, reqs, false);
        }
        wait_for(&job->r->p, reqs, true);
    }
    atomic_fetch_sub(&job->left, 1);
    return NULL;
}

static void told_by_a_thread(struct rank *r, void *arg)
{
    static struct job job;
    pthread_t         threads[THREADS + 1];
    (void)arg;
    job = (struct job){.r = r, .left = THREADS};
    for (int i = 0; i <= THREADS; i++) {
        RANK_EQUAL(r, pthread_create(&threads[i], NULL, i < THREADS ? waiter : completer, &job), 0);
    }
    for (int i = 0; i <= THREADS; i++) {
        RANK_EQUAL(r, pthread_join(threads[i], NULL), 0);
    }
}

static void test_told(void **state)
{
    (void)state;
    ranks_run(&(struct ranks_args){.n = 1, .body = told_by_a_thread, .threaded = true});
    ranks_run(&(struct ranks_args){
        .n = 1, .body = told_by_a_thread, .threaded = true, .settings = asleep});
    ranks_run(&(struct ranks_args){
        .n = 1, .body = told_by_a_thread, .threaded = true, .settings = awake});
}

/* ---- messages -------------------------------------------------------------------------------- */

struct player {
    struct rank *r;
    int          me;
};

/* Pairs of threads of the ranks play ping-pong, so that one waiter leaves after the other, each of
 * them maybe the poller. */
static void *play(void *arg)
{
    struct player    *a = arg;
    struct rank      *r = a->r;
    uint32_t          other = (r->me + 1) % r->n;
    struct ct_p2p_key out = {.ctx = 99, .src = (int32_t)r->me, .tag = a->me};
    struct ct_p2p_key in = {.ctx = 99, .src = (int32_t)other, .tag = a->me};
    uint64_t          number, got;
    struct ct_area    out_area = {.base = &number, .len_bytes = sizeof number};
    struct ct_area    in_area = {.base = &got, .len_bytes = sizeof got};
    for (number = 0; number < ROUNDS; number++) {
        struct ct_p2p_req send, recv;
        if (r->me % 2 == 0) {
            ct_p2p_isend(&r->p, &send, ranks_ep(r, other), out, &out_area);
            RANK_EQUAL(r, ct_p2p_wait(&r->p, &send.base), CTRAN_SUCCESS);
        }
        ct_p2p_irecv(&r->p, &recv, ranks_ep(r, other), in, &in_area);
        RANK_EQUAL(r, ct_p2p_wait(&r->p, &recv.base), CTRAN_SUCCESS);
        RANK_EQUAL(r, got, number);
        if (r->me % 2 == 1) {
            ct_p2p_issend(&r->p, &send, ranks_ep(r, other), out, &out_area);
            RANK_EQUAL(r, ct_p2p_wait(&r->p, &send.base), CTRAN_SUCCESS);
        }
    }
    return NULL;
}

static void ping_pong(struct rank *r, void *arg)
{
    pthread_t     threads[THREADS];
    struct player players[THREADS];
    (void)arg;
    for (int i = 0; i < THREADS; i++) {
        players[i] = (struct player){r, i};
        RANK_EQUAL(r, pthread_create(&threads[i], NULL, play, &players[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        RANK_EQUAL(r, pthread_join(threads[i], NULL), 0);
    }
}

static void test_ping_pong(void **state)
{
    (void)state;
    ranks_run(&(struct ranks_args){.n = 2, .body = ping_pong, .threaded = true});
    ranks_run(
        &(struct ranks_args){.n = 2, .body = ping_pong, .threaded = true, .settings = asleep});
    ranks_run(&(struct ranks_args){.n = 2, .body = ping_pong, .threaded = true, .settings = awake});
}

/* ---- the lock -------------------------------------------------------------------------------- */

/* Goes in and out while another thread polls, which must not keep the lock to itself. */
static void *visit(void *arg)
{
    struct rank *r = arg;
    for (int i = 0; i < 10 * ROUNDS; i++) {
        ct_domain_enter(&r->p);
        ct_domain_leave(&r->p);
        ct_domain_poke(&r->p);
    }
    return NULL;
}

static void visits(struct rank *r, void *arg)
{
    uint64_t          number = r->me, got = 0;
    uint32_t          last = (r->me + r->n - 1) % r->n;
    pthread_t         thread;
    struct ct_p2p_req recv, send;
    (void)arg;
    ct_p2p_irecv(&r->p, &recv, ranks_ep(r, last), (struct ct_p2p_key){99, (int32_t)last, 0},
                 &(struct ct_area){.base = &got, .len_bytes = sizeof got});
    RANK_EQUAL(r, pthread_create(&thread, NULL, visit, r), 0);
    if (r->me == 0) { /* the others poll for this meanwhile */
        RANK_EQUAL(r, pthread_join(thread, NULL), 0);
    }
    if (r->me > 0) {
        RANK_EQUAL(r, ct_p2p_wait(&r->p, &recv.base), CTRAN_SUCCESS);
        RANK_EQUAL(r, pthread_join(thread, NULL), 0);
    }
    ct_p2p_isend(&r->p, &send, ranks_ep(r, (r->me + 1) % r->n),
                 (struct ct_p2p_key){99, (int32_t)r->me, 0},
                 &(struct ct_area){.base = &number, .len_bytes = sizeof number});
    RANK_EQUAL(r, ct_p2p_wait(&r->p, &send.base), CTRAN_SUCCESS);
    RANK_EQUAL(r, ct_p2p_wait(&r->p, &recv.base), CTRAN_SUCCESS);
    RANK_EQUAL(r, got, last);
}

static void test_visits(void **state)
{
    (void)state;
    ranks_run(&(struct ranks_args){.n = 3, .body = visits, .threaded = true});
    ranks_run(&(struct ranks_args){.n = 3, .body = visits, .threaded = true, .settings = awake});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_told),
        cmocka_unit_test(test_ping_pong),
        cmocka_unit_test(test_visits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
