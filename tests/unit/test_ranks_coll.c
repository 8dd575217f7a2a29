/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives between ranks that are threads: every collective by every algorithm, on 1 to 9
 * ranks, against what one process computes; with an operator that commutes, and with one that does
 * not. And communicators made from others.
 */
#define CT_FOLDER "unit"
#include "coll/run/shm_coll.h"
#include "ranks_call.h"

#include "ep/ep_set.h"

/* ---- all calls ------------------------------------------------------------------------------- */

/* All roots, lengths, operators and both places for one algorithm; returns how many ran. */
static unsigned run_algo(struct rank *r, const struct ct_algo *algo, uint32_t radix)
{
    const size_t   counts[] = {0, 1, r->n, 3 * r->n + 1, MOST_COUNT};
    const uint32_t coll = algo->colls;
    const uint32_t rooted = CT_BCAST | CT_REDUCE | CT_GATHER | CT_SCATTER;
    const unsigned ways = (coll & (CT_BCAST | CT_BARRIER)) != 0 ? 1 : (coll & CT_SUMS) != 0 ? 4 : 2;
    unsigned       ran = 0;
    struct call    c = {.coll = coll, .radix = radix, .type = ct_dtype_get(CTRAN_UINT64_T)};
    call_force(r, algo, radix);
    for (c.root = 0; c.root < ((coll & rooted) != 0 ? r->n : 1); c.root++) {
        for (unsigned i = 0; i < (coll == CT_BARRIER ? 1 : CT_ARRAY_LEN(counts)); i++) {
            for (unsigned k = 0; k < ways; k++) {
                c.count = counts[i];
                c.inplace = k % 2 != 0;
                c.op = k < 2 ? ct_op_get(CTRAN_SUM) : &call_composition;
                r->p.cfg.chunks = 1 + (c.root + i + k) % 4;
                ran += call_by(r, algo, &c);
            }
        }
    }
    return ran;
}

/* Such an algorithm wants levels. */
static bool is_composed(const struct ct_algo *algo)
{
    return !algo->fits(&(struct ct_env){.n = 2, .radix = 2});
}

/* Whatever an algorithm asks of the number of ranks, powers of two from two on must do. */
static void all_calls(struct rank *r, void *arg)
{
    (void)arg;
    for (unsigned i = 0; ct_algo_table[i] != NULL; i++) {
        const struct ct_algo *algo = ct_algo_table[i];
        const bool            power = r->n > 1 && (r->n & (r->n - 1)) == 0;
        const bool            levels = ct_comm_world(&r->p)->run.levels != NULL;
        const unsigned        ran = run_algo(r, algo, CT_RADIX_DEFAULT);
        RANK_CHECK(r, ran > 0 || !power || (!levels && is_composed(algo)));
    }
}

/* Those that have a radix, with others than two: how large it may be they say themselves. */
static void all_radices(struct rank *r, void *arg)
{
    static const uint32_t radices[] = {3, 4, 5, 8};
    (void)arg;
    for (unsigned i = 0; ct_algo_table[i] != NULL; i++) {
        const struct ct_algo *algo = ct_algo_table[i];
        for (unsigned k = 0; k < CT_ARRAY_LEN(radices) && (algo->traits & CT_RADIX) != 0; k++) {
            const unsigned ran = run_algo(r, algo, radices[k]);
            RANK_CHECK(r, ran > 0 || radices[k] > 3);
        }
    }
}

static void test_all(void **state)
{
    (void)state;
    static const char *const small[] = {"CTRAN_CHUNK_SIZE", "256", "CTRAN_COLL_LEVELS", "2x2",
                                        NULL};
    for (uint32_t n = 1; n <= MOST_RANKS; n++) {
        ranks_run(&(struct ranks_args){.n = n, .settings = small, .body = all_calls});
    }
}

static void test_radices(void **state)
{
    (void)state;
    static const char *const small[] = {"CTRAN_CHUNK_SIZE", "256", NULL};
    for (uint32_t n = 2; n <= MOST_RANKS; n++) {
        ranks_run(&(struct ranks_args){.n = n, .settings = small, .body = all_radices});
    }
}

static void test_pieces(void **state)
{
    (void)state;
    static const char *const pieces[] = {"CTRAN_SHM_SINGLE_COPY",
                                         "off",
                                         "CTRAN_EAGER_LIMIT",
                                         "64",
                                         "CTRAN_SHM_RING_SIZE",
                                         "4K",
                                         "CTRAN_CHUNK_SIZE",
                                         "3000",
                                         NULL};
    static const char *const reads[] = {"CTRAN_SHM_SINGLE_COPY", "auto", "CTRAN_EAGER_LIMIT", "64",
                                        NULL};
    for (uint32_t n = 2; n <= 5; n++) {
        ranks_run(&(struct ranks_args){.n = n, .settings = pieces, .body = all_calls});
        ranks_run(&(struct ranks_args){.n = n, .settings = reads, .body = all_calls});
    }
}

/* ---- the shm_coll
 * ------------------------------------------------------------------------------- */

static const char *const shm[] = {"CTRAN_COLL_SHM", "1", "CTRAN_SPIN", "0", NULL};

static void all_calls_over_it(struct rank *r, void *arg)
{
    all_calls(r, arg);
    RANK_EQUAL(r, ct_comm_world(&r->p)->run.shm != NULL, r->n > 1);
}

/* Long input goes in parts of 64 bytes, of 2 KiB, and of a size that takes all of it. */
static const char *const small_parts[] = {"CTRAN_COLL_SHM",       "1",   "CTRAN_SPIN", "0",
                                          "CTRAN_COLL_SHM_BYTES", "256", NULL};
static const char *const parts[] = {"CTRAN_COLL_SHM",       "1",  "CTRAN_SPIN", "0",
                                    "CTRAN_COLL_SHM_BYTES", "8K", NULL};

static void test_shm_coll(void **state)
{
    const char *const *const settings[] = {shm, parts, small_parts};
    (void)state;
    for (uint32_t n = 1; n <= MOST_RANKS; n++) {
        const struct ranks_args args = {
            .n = n, .settings = settings[n % 3], .body = all_calls_over_it};
        ranks_run(&args);
    }
    ranks_run(&(struct ranks_args){.n = 4, .settings = parts, .body = all_calls_over_it});
    ranks_run(&(struct ranks_args){.n = 2, .settings = small_parts, .body = all_calls_over_it});
}

/* What was attached is exposed no more. */
static void all_calls_exposed(struct rank *r, void *arg)
{
    all_calls_over_it(r, arg);
    ct_domain_enter(&r->p);
    RANK_CHECK(r, r->p.ep->regions == NULL);
    ct_domain_leave(&r->p);
}

/* Two ranks read each other's long input where it lies, or ask for it. */
static void test_exposing(void **state)
{
    static const char *const expose[] = {
        "CTRAN_COLL_SHM",       "1",  "CTRAN_SPIN", "0", "CTRAN_COLL_ATTACH", "always",
        "CTRAN_COLL_SHM_BYTES", "8K", NULL};
    static const char *const ask[] = {
        "CTRAN_COLL_SHM",        "1",   "CTRAN_SPIN", "0", "CTRAN_COLL_ATTACH", "always",
        "CTRAN_SHM_SINGLE_COPY", "off", NULL};
    (void)state;
    ranks_run(&(struct ranks_args){.n = 2, .settings = expose, .body = all_calls_exposed});
    ranks_run(&(struct ranks_args){.n = 2, .settings = ask, .body = all_calls_exposed});
    ranks_run(&(struct ranks_args){.n = 3, .settings = expose, .body = all_calls_over_it});
}

/* Now and then a rank comes so late that the others fill their slots, or sleep. */
static void dawdle(struct rank *r)
{
    if (unit_random(&r->seed) % 16 == 0) {
        const uint64_t until = ct_clock_ns() + unit_random(&r->seed) % 300000;
        while (ct_clock_ns() < until) {
        }
    }
}

/* Whatever is selected, in runs of one kind and mixed. */
static void random_calls(struct rank *r, void *arg)
{
    static _Thread_local struct buffers b;
    static const uint32_t colls[] = {CT_BARRIER,        CT_BCAST,  CT_REDUCE,  CT_ALLREDUCE,
                                     CT_ALLGATHER,      CT_GATHER, CT_SCATTER, CT_ALLTOALL,
                                     CT_REDUCE_SCATTER, CT_SCAN,   CT_EXSCAN};
    const unsigned       *calls = arg;
    uint64_t              seed = r->n; /* the same on all ranks */
    struct call           c = {.type = ct_dtype_get(CTRAN_UINT64_T)};
    for (unsigned i = 0; i < *calls; i++) {
        if (unit_random(&seed) % 8 == 0 || i == 0) {
            c.coll = colls[unit_random(&seed) % CT_ARRAY_LEN(colls)];
            c.root = unit_random(&seed) % r->n;
        }
        c.count = unit_random(&seed) % (unit_random(&seed) % 8 == 0 ? MOST_COUNT : 20);
        c.count = c.coll == CT_BARRIER ? 0 : c.count;
        c.inplace = unit_random(&seed) % 2 != 0 && c.coll != CT_BCAST && c.coll != CT_BARRIER;
        c.op = unit_random(&seed) % 2 != 0 ? ct_op_get(CTRAN_SUM) : &call_composition;
        dawdle(r);
        call_prepare(r, &c, &b);
        RANK_EQUAL(r, call_perform(ct_comm_world(&r->p), &c, &b), CTRAN_SUCCESS);
        call_verify(r, &c, &b);
    }
    struct ct_run_ctx *run = &ct_comm_world(&r->p)->run;
    RANK_EQUAL(r, run->shm != NULL, r->n > 1 && r->p.cfg.coll_shm > 0);
}

static void test_random(void **state)
{
    (void)state;
    static const char *const levels[] = {"CTRAN_COLL_LEVELS", "2x2", "CTRAN_COLL_SHM", "0", NULL};
    unsigned                 calls = getenv("CT_SOAK") != NULL ? 100000 : 800;
    for (uint32_t n = 1; n <= MOST_RANKS; n += n < 4 ? 1 : 5) {
        ranks_run(
            &(struct ranks_args){.n = n, .settings = shm, .body = random_calls, .arg = &calls});
        ranks_run(
            &(struct ranks_args){.n = n, .settings = parts, .body = random_calls, .arg = &calls});
        ranks_run(
            &(struct ranks_args){.n = n, .settings = levels, .body = random_calls, .arg = &calls});
    }
}

/* Nobody sets flags without a fence unless all have said that they bar, which all hear. */
static void learn_bars(struct rank *r, void *arg)
{
    enum { TIMES = 200 };
    struct ct_comm *world = ct_comm_world(&r->p);
    (void)arg;
    for (unsigned i = 0; i < TIMES; i++) {
        RANK_EQUAL(r, ct_coll_barrier_now(world), CTRAN_SUCCESS);
    }
    struct ct_shm_coll *b = world->run.shm;
    RANK_EQUAL(r, b->barred, ct_ep_bars(&r->p));
    RANK_EQUAL(r, ct_coll_barrier_now(world), CTRAN_SUCCESS);
    if (r->me == r->n - 1) {
        atomic_store(&b->shared->member[r->me].bars, false);
    }
    RANK_EQUAL(r, ct_coll_barrier_now(world), CTRAN_SUCCESS);
    ct_shm_coll_learn_bars(b);
    RANK_CHECK(r, !b->barred);
    RANK_EQUAL(r, ct_coll_barrier_now(world), CTRAN_SUCCESS);
}

static void never_barred(struct rank *r, void *arg)
{
    random_calls(r, arg);
    RANK_CHECK(r, !ct_comm_world(&r->p)->run.shm->barred);
}

static void test_bars(void **state)
{
    static const char *const off[] = {
        "CTRAN_COLL_SHM",       "1",   "CTRAN_SPIN", "0", "CTRAN_COLL_SHM_BYTES", "8K",
        "CTRAN_SHM_MEMBARRIER", "off", NULL};
    unsigned calls = 800;
    (void)state;
    ranks_run(&(struct ranks_args){.n = 2, .settings = shm, .body = learn_bars});
    ranks_run(&(struct ranks_args){.n = 4, .settings = shm, .body = learn_bars});
    ranks_run(&(struct ranks_args){.n = 3, .settings = off, .body = never_barred, .arg = &calls});
}

/* Input is in a line of its own where that makes none more: behind the rest of the flag's. */
static void check_place(struct rank *r, size_t count, size_t skipped)
{
    static _Thread_local struct buffers b;
    const struct call                   c = {.coll = CT_BCAST, .count = count, .root = r->n - 1};
    call_prepare(r, &c, &b);
    RANK_EQUAL(r, call_perform(ct_comm_world(&r->p), &c, &b), CTRAN_SUCCESS);
    call_verify(r, &c, &b);
    const struct ct_shm_coll      *at = ct_comm_world(&r->p)->run.shm;
    const struct ct_shm_coll_slot *slot = ct_shm_coll_slot_of(at, r->n - 1);
    RANK_EQUAL(r, atomic_load(&slot->flag), at->k);
    RANK_EQUAL(r, memcmp(slot->data + skipped, b.recv, count * sizeof b.recv[0]), 0);
    RANK_EQUAL(r, ct_coll_barrier_now(ct_comm_world(&r->p)), CTRAN_SUCCESS);
}

static void places(struct rank *r, void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < 20; i++) { /* there is a shm_coll after some */
        RANK_EQUAL(r, ct_coll_barrier_now(ct_comm_world(&r->p)), CTRAN_SUCCESS);
    }
    for (unsigned i = 0; i < 3; i++) {
        check_place(r, 1, 0);
        check_place(r, 6, 0);
        check_place(r, 7, 48);
        check_place(r, 8, 48);
        check_place(r, 9, 0);
        check_place(r, 14, 0);
        check_place(r, 64, 48);
    }
}

static void test_places(void **state)
{
    (void)state;
    ranks_run(&(struct ranks_args){.n = 2, .settings = shm, .body = places});
    ranks_run(&(struct ranks_args){.n = 5, .settings = shm, .body = places});
}

/* Of four ranks at most 64 KiB are put in at a time, where a part has room for more; of more ranks
 * what there is room for. */
static void long_reduce(struct rank *r, void *arg)
{
    enum { PIECE = (64 << 10) / sizeof(uint64_t), COUNT = 3 * PIECE + 5 };
    const uint64_t *pieces = arg;
    struct ct_comm *world = ct_comm_world(&r->p);
    struct ct_coll  coll;
    uint64_t       *send = malloc(COUNT * sizeof *send), *recv = malloc(COUNT * sizeof *recv);
    RANK_CHECK(r, send != NULL && recv != NULL);
    for (size_t i = 0; i < COUNT; i++) {
        send[i] = call_input(r->me, i);
    }
    for (unsigned turn = 0; turn < 20; turn++) {
        const uint64_t k = world->run.shm != NULL ? world->run.shm->k : 0;
        ct_coll_init(&coll, world, NULL);
        ct_coll_reduce(&coll, send, recv, COUNT, ct_dtype_get(CTRAN_UINT64_T), ct_op_get(CTRAN_SUM),
                       1);
        RANK_EQUAL(r, ct_coll_run(&coll), CTRAN_SUCCESS);
        if (turn > 10) { /* there is a shm_coll by now */
            RANK_EQUAL(r, world->run.shm->k - k, *pieces);
        }
        for (size_t i = 0; i < COUNT && r->me == 1; i++) {
            RANK_EQUAL(r, recv[i],
                       call_combined(ct_op_get(CTRAN_SUM), ct_dtype_get(CTRAN_UINT64_T), r->n, i));
        }
    }
    free(send);
    free(recv);
}

static void test_long_reduce(void **state)
{
    uint64_t four = 4, one = 1;
    (void)state;
    ranks_run(&(struct ranks_args){.n = 4, .settings = shm, .body = long_reduce, .arg = &four});
    ranks_run(&(struct ranks_args){.n = 5, .settings = shm, .body = long_reduce, .arg = &one});
}

/* A process with threads goes without, and so do all. */
static void no_shm_coll(struct rank *r, void *arg)
{
    (void)arg;
    for (int i = 0; i < 20; i++) {
        RANK_EQUAL(r, ct_coll_barrier_now(ct_comm_world(&r->p)), CTRAN_SUCCESS);
    }
    RANK_CHECK(r, ct_comm_world(&r->p)->run.shm == NULL);
}

static void test_no_shm_coll(void **state)
{
    (void)state;
    static const char *const off[] = {"CTRAN_COLL_SHM", "0", NULL};
    ranks_run(&(struct ranks_args){.n = 3, .settings = off, .body = no_shm_coll});
    ranks_run(&(struct ranks_args){.n = 3, .threaded = true, .settings = shm, .body = no_shm_coll});
}

/* Block j of rank i is its numbers from 1000 j on. As if caches were small: past them. */
static void alltoall(struct rank *r, size_t count)
{
    static _Thread_local struct buffers b;
    struct ct_comm                     *world = ct_comm_world(&r->p);
    struct ct_coll                      coll;
    memset(&b, 0x5a, sizeof b);
    for (size_t i = 0; i < count * r->n; i++) {
        b.send[i] = call_input(r->me, i / count * 1000 + i % count);
    }
    ct_coll_init(&coll, world, NULL);
    RANK_EQUAL(r, ct_coll_alltoall(&coll, b.send, b.recv, count * sizeof b.send[0]), CTRAN_SUCCESS);
    RANK_EQUAL(r, ct_coll_run(&coll), CTRAN_SUCCESS);
    for (size_t i = 0; i < count * r->n; i++) {
        RANK_EQUAL(r, b.recv[i], call_input((uint32_t)(i / count), r->me * 1000 + i % count));
    }
    RANK_EQUAL(r, b.recv[count * r->n], UINT64_C(0x5a5a5a5a5a5a5a5a));
}

static void past_caches(struct rank *r, void *arg)
{
    (void)arg;
    alltoall(r, MOST_COUNT); /* opens the shm_coll for long input */
    alltoall(r, MOST_COUNT);
    RANK_CHECK(r, ct_comm_world(&r->p)->run.shm->bulk.base != NULL);
    for (unsigned turn = 0; turn < 20; turn++) {
        ct_comm_world(&r->p)->run.shm->caches.share_bytes = turn % 2;
        alltoall(r, MOST_COUNT - turn);
    }
}

static void test_past_caches(void **state)
{
    (void)state;
    ranks_run(&(struct ranks_args){.n = 2, .settings = parts, .body = past_caches});
    ranks_run(&(struct ranks_args){.n = 5, .settings = parts, .body = past_caches});
}

/* ---- communicators --------------------------------------------------------------------------- */

static uint64_t sum_of(struct rank *r, struct ct_comm *comm, uint64_t value)
{
    uint64_t sum = 0;
    RANK_EQUAL(r, ranks_sum(comm, &value, &sum, 1), CTRAN_SUCCESS);
    return sum;
}

/* The same key in two communicators: each receive takes its own's message. */
static void keep_apart(struct rank *r, struct ct_comm *a, struct ct_comm *b)
{
    uint32_t          n = a->run.n, me = a->run.me, right = (me + 1) % n, left = (me + n - 1) % n;
    uint32_t          out[2] = {me * 2, me * 2 + 1}, in[2] = {0, 0};
    struct ct_p2p_req send[2], recv[2];
    struct ct_comm   *comms[2] = {a, b};
    RANK_CHECK(r, a->id != b->id && a->run.id != b->run.id && a->id != b->run.id);
    for (int i = 0; i < 2; i++) {
        ct_p2p_isend(&r->p, &send[i], ct_comm_ep(comms[i], right),
                     (struct ct_p2p_key){comms[i]->id, (int32_t)me, 0},
                     &(struct ct_area){.base = &out[i], .len_bytes = sizeof out[i]});
    }
    for (int i = 1; i >= 0; i--) { /* in the other order */
        ct_p2p_irecv(&r->p, &recv[i], ct_comm_ep(comms[i], left),
                     (struct ct_p2p_key){comms[i]->id, (int32_t)left, 0},
                     &(struct ct_area){.base = &in[i], .len_bytes = sizeof in[i]});
        RANK_EQUAL(r, ct_p2p_wait(&r->p, &recv[i].base), CTRAN_SUCCESS);
        RANK_EQUAL(r, in[i], left * 2 + (uint32_t)i);
    }
    for (int i = 0; i < 2; i++) {
        RANK_EQUAL(r, ct_p2p_wait(&r->p, &send[i].base), CTRAN_SUCCESS);
    }
}

/* By rank modulo 3, in reverse order; colour 2 joins nothing. */
static struct ct_comm *split(struct rank *r, struct ct_comm *comm)
{
    struct ct_comm *part;
    uint32_t        color = r->me % 3;
    int             asked = color == 2 ? CTRAN_UNDEFINED : (int)color;
    RANK_EQUAL(r, ct_comm_split(comm, asked, -(int)r->me, &part), CTRAN_SUCCESS);
    RANK_EQUAL(r, part == NULL, color == 2);
    if (part == NULL) {
        return NULL;
    }
    uint32_t last = color + (r->n - 1 - color) / 3 * 3, want = 0;
    RANK_EQUAL(r, part->run.n, (last - color) / 3 + 1);
    for (uint32_t i = 0; i < part->run.n; i++) {
        RANK_EQUAL(r, ct_comm_id_of(part, i), last - 3 * i);
        want += last - 3 * i;
    }
    RANK_EQUAL(r, ct_comm_id_of(part, part->run.me), r->me);
    RANK_EQUAL(r, sum_of(r, part, r->me), want);
    return part;
}

static void communicators(struct rank *r, void *arg)
{
    struct ct_comm *world = ct_comm_world(&r->p), *copy, *half;
    (void)arg;
    RANK_EQUAL(r, sum_of(r, ct_comm_self(&r->p), 5), 5);
    RANK_EQUAL(r, ct_comm_dup(world, &copy), CTRAN_SUCCESS);
    keep_apart(r, world, copy);
    for (int turn = 0; turn < 3; turn++) {
        struct ct_comm *part = split(r, copy);
        if (part != NULL) {
            struct ct_comm *twin;
            RANK_EQUAL(r, ct_comm_dup(part, &twin), CTRAN_SUCCESS);
            keep_apart(r, part, twin);
            RANK_EQUAL(r, ct_comm_split(twin, (int)twin->run.me / 2, 0, &half), CTRAN_SUCCESS);
            RANK_CHECK(r, half != NULL && half->run.n <= 2);
            RANK_EQUAL(r, sum_of(r, half, 1), half->run.n);
            ct_comm_drop(half);
            ct_comm_drop(twin);
            ct_comm_drop(part);
        }
        RANK_EQUAL(r, sum_of(r, world, r->me), r->n * (r->n - 1) / 2);
    }
    ct_comm_drop(copy);
}

static void test_communicators(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= MOST_RANKS; n++) {
        ranks_run(&(struct ranks_args){.n = n, .body = communicators});
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),         cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_shm_coll),    cmocka_unit_test(test_random),
        cmocka_unit_test(test_exposing),    cmocka_unit_test(test_no_shm_coll),
        cmocka_unit_test(test_past_caches), cmocka_unit_test(test_communicators),
        cmocka_unit_test(test_bars),        cmocka_unit_test(test_places),
        cmocka_unit_test(test_long_reduce), cmocka_unit_test(test_radices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
