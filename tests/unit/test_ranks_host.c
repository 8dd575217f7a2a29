/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ranks of one host do in memory that they share: allgathers in shared memory, which end when
 * a rank is lost, and the last message of a ring that wraps. Nobody dies really; a rank that is to
 * be dead marks its segment closed.
 */
#define CT_FOLDER "unit"
#include <stdatomic.h>
#include <stdlib.h>

#include "ranks.h"

#include "ep/ep_set.h"
#include "node/node.h"

static void play_dead(struct rank *r)
{
    const void           *record;
    size_t                record_len, len;
    struct ct_shm_addr    addr;
    struct ct_shm_segment seg;
    RANK_EQUAL(r, r->job.ops->lookup(&r->job, r->me, &record, &record_len), CTRAN_SUCCESS);
    const void *bytes = ct_ep_record_find(record, record_len, "shm", &len);
    RANK_CHECK(r, bytes != NULL && len == sizeof addr);
    memcpy(&addr, bytes, sizeof addr);
    RANK_EQUAL(r, ct_shm_segment_attach(r->p.ep->env.log, &addr, &seg), CTRAN_SUCCESS);
    atomic_store(&seg.head->state, CT_SHM_CLOSED); /* shared by address: nothing to close */
}

/* ---- allgathers in shared memory ------------------------------------------------------------- */

static void run_on_allgather(uint32_t n, bool threaded, void (*body)(struct rank *, void *))
{
    size_t bytes = ct_round_up(ct_shm_allgather_bytes(n), CT_CACHE_LINE);
    void  *memory = aligned_alloc(CT_CACHE_LINE, bytes);
    assert_non_null(memory);
    memset(memory, 0, bytes);
    ranks_run(&(struct ranks_args){.n = n, .threaded = threaded, .body = body, .arg = memory});
    free(memory);
}

static void take_up(struct rank *r, void *memory)
{
    r->job.shm_allgather = (struct ct_shm_allgather){.memory = memory, .n = r->n, .me = r->me};
    RANK_CHECK(r, ct_comm_has_shm_allgather(ct_comm_world(&r->p)));
}

/* Groups by the rank's number, in descending order, again and again. */
static void splits(struct rank *r, void *memory)
{
    take_up(r, memory);
    for (uint32_t groups = 1; groups <= r->n; groups++) {
        struct ct_comm *part;
        RANK_EQUAL(r,
                   ct_comm_split(ct_comm_world(&r->p), (int)(r->me % groups), -(int)r->me, &part),
                   CTRAN_SUCCESS);
        const uint32_t size = (r->n - r->me % groups + groups - 1) / groups;
        RANK_EQUAL(r, part->run.n, size);
        RANK_EQUAL(r, part->run.me, size - 1 - r->me / groups);
        RANK_EQUAL(r, ct_coll_barrier_now(part), CTRAN_SUCCESS);
        ct_comm_release(part);
    }
    RANK_EQUAL(r, r->job.shm_allgather.k, r->n);
}

static void test_splits(void **state)
{
    (void)state;
    for (uint32_t n = 2; n <= 9; n++) {
        run_on_allgather(n, false, splits);
        run_on_allgather(n, true, splits);
    }
}

/* Rank 1 takes part once and is gone; nobody has ever exchanged a message with it. */
static void lost(struct rank *r, void *memory)
{
    uint64_t entry = r->me;
    take_up(r, memory);
    struct ct_run_ctx *run = &ct_comm_world(&r->p)->run;
    RANK_EQUAL(r, ct_run_shm_allgather(run, &entry, sizeof entry), CTRAN_SUCCESS);
    if (r->me == 1) {
        play_dead(r);
    }
    ranks_sync(r);
    if (r->me != 1) {
        RANK_EQUAL(r, ct_run_shm_allgather(run, &entry, sizeof entry), CTRAN_ERR_PROC_FAILED);
        RANK_EQUAL(r, ct_run_shm_allgather(run, &entry, sizeof entry), CTRAN_ERR_PROC_FAILED);
    }
    ranks_sync(r);
}

/* Rank 3 is gone, which rank 0 has been told of already, and the others may be; rank 1 comes last,
 * so that the one who is missing is not always the one who is lost. */
static void known_loss(struct rank *r, void *memory)
{
    struct ct_comm   *world = ct_comm_world(&r->p);
    struct ct_p2p_req req;
    char              byte;
    take_up(r, memory);
    if (r->me == 3) {
        play_dead(r);
    }
    ranks_sync(r);
    if (r->me < 2) {
        struct ct_p2p_key key = {world->id, 3, 1};
        ct_p2p_irecv(&r->p, &req, ct_comm_ep(world, 3), key,
                     &(struct ct_area){.base = &byte, .len_bytes = 1});
        RANK_EQUAL(r, ct_p2p_wait(&r->p, &req.base), CTRAN_ERR_PROC_FAILED);
    }
    if (r->me != 3) {
        RANK_EQUAL(r, ct_run_shm_allgather(&world->run, NULL, 0), CTRAN_ERR_PROC_FAILED);
    }
    ranks_sync(r);
}

static void test_lost(void **state)
{
    (void)state;
    for (int threaded = 0; threaded < 2; threaded++) {
        run_on_allgather(4, threaded != 0, lost);
        run_on_allgather(4, threaded != 0, known_loss);
    }
}

/* ---- rings ----------------------------------------------------------------------------------- */

static void transfer(struct rank *r, uint32_t other, bool is_recv, void *mem, size_t len_bytes)
{
    struct ct_comm   *world = ct_comm_world(&r->p);
    struct ct_p2p_req req;
    struct ct_p2p_key key = {world->id, (int32_t)(is_recv ? other : r->me), 5};
    struct ct_area    area = {.base = mem, .len_bytes = len_bytes};
    if (is_recv) {
        ct_p2p_irecv(&r->p, &req, ct_comm_ep(world, other), key, &area);
    } else {
        ct_p2p_isend(&r->p, &req, ct_comm_ep(world, other), key, &area);
    }
    RANK_EQUAL(r, ct_p2p_wait(&r->p, &req.base), CTRAN_SUCCESS);
}

/* Rank 1's last message is as long as makes its ring wrap, wherever that stands after some short
 * ones; it comes before its end, and so it counts. */
static void last_of_ring(struct rank *r, void *arg)
{
    enum { LEN = 1000 };
    char     mem[LEN] = {0};
    uint32_t before = *(uint32_t *)arg;
    for (uint32_t i = 0; i < before; i++) {
        transfer(r, 1 - r->me, r->me == 0, mem, 100);
    }
    ranks_sync(r);
    if (r->me == 1) {
        memset(mem, 'x', LEN);
        transfer(r, 0, false, mem, LEN);
        play_dead(r);
    }
    ranks_sync(r);
    if (r->me == 0) {
        for (unsigned i = 0; i < r->p.ep->nnets; i++) {
            r->p.ep->nets[i]->ops->check_peers(r->p.ep->nets[i]);
        }
        transfer(r, 1, true, mem, LEN);
        RANK_EQUAL(r, mem[LEN - 1], 'x');
    }
    ranks_sync(r);
}

static void test_last_of_ring(void **state)
{
    (void)state;
    static const char *const small[] = {"CTRAN_SHM_RING_SIZE", "4K", NULL};
    for (uint32_t before = 10; before < 60; before++) {
        ranks_run(
            &(struct ranks_args){.n = 2, .body = last_of_ring, .arg = &before, .settings = small});
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_splits),
        cmocka_unit_test(test_lost),
        cmocka_unit_test(test_last_of_ring),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
