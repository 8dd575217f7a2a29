/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Input that stays where it is (coll/run/shm_coll_attach.c): who exposes and when, what more than
 * two ranks agree on, memory that cannot be read, for a while or for good, and memory that is
 * recalled.
 */
#define CT_FOLDER "unit"
#include "coll/run/shm_coll.h"
#include "ranks.h"

enum { MOST_RANKS = 9, LONG = 64 << 10, MOST = MOST_RANKS * 1000 };

static struct ct_shm_coll *shm_coll_of(struct rank *r)
{
    return ct_comm_world(&r->p)->run.shm;
}

static uint64_t input(uint32_t from, uint32_t to, size_t i, uint64_t turn)
{
    uint64_t seed = (from * UINT64_C(1009) + to) * UINT64_C(1000003) + i * 77 + turn;
    return unit_random(&seed);
}

/* ---- alltoall -------------------------------------------------------------------------------- */

static int run_alltoall(struct rank *r, const uint64_t *send, uint64_t *recv, size_t count)
{
    struct ct_coll coll;
    ct_coll_init(&coll, ct_comm_world(&r->p), NULL);
    RANK_EQUAL(r, ct_coll_alltoall(&coll, send, recv, count * sizeof *send), CTRAN_SUCCESS);
    return ct_coll_run(&coll);
}

/* The input is made of `turn`, rank 0's of `first`. */
static void alltoall_of(struct rank *r, uint64_t *send, uint64_t *recv, size_t count, uint64_t turn,
                        uint64_t first)
{
    const uint64_t own = r->me == 0 ? first : turn;
    for (size_t i = 0; i < count * r->n; i++) {
        send[i] = input(r->me, (uint32_t)(i / count), i % count, own);
    }
    memset(recv, 0x5a, (count * r->n + 1) * sizeof *recv);
    RANK_EQUAL(r, run_alltoall(r, send, recv, count), CTRAN_SUCCESS);
    for (size_t i = 0; i < count * r->n; i++) {
        const uint32_t block = (uint32_t)(i / count);
        RANK_EQUAL(r, recv[i], input(block, r->me, i % count, block == 0 ? first : turn));
        RANK_EQUAL(r, send[i], input(r->me, block, i % count, own));
    }
    RANK_EQUAL(r, recv[count * r->n], UINT64_C(0x5a5a5a5a5a5a5a5a));
}

static void alltoall(struct rank *r, uint64_t *send, uint64_t *recv, size_t count, uint64_t turn)
{
    alltoall_of(r, send, recv, count, turn, turn);
}

/* Whatever the length, long input goes in one operation, and nothing is put in. A send buffer is
 * the program's again at once. */
static void all_lengths(struct rank *r, void *arg)
{
    static _Thread_local uint64_t send[MOST], recv[MOST + 1];
    const uint32_t                n = r->n;
    uint64_t                      seed = n;
    (void)arg;
    alltoall(r, send, recv, MOST / n, 0); /* makes the shm_coll */
    alltoall(r, send, recv, MOST / n, 0);
    struct ct_shm_coll *b = shm_coll_of(r);
    RANK_CHECK(r, b != NULL && b->bulk.base != NULL);
    for (unsigned turn = 0; turn < 60; turn++) {
        const size_t   count = 1 + unit_random(&seed) % (MOST / n);
        const bool     is_long = n * count * sizeof send[0] > CT_SHM_COLL_BYTES;
        const uint64_t k = b->k;
        alltoall(r, send, recv, count, turn / 2);
        RANK_EQUAL(r, b->k - k, 1);
        RANK_EQUAL(r, b->read_k == b->k, is_long);
        RANK_EQUAL(r, b->exposed_mask, 0);
    }
}

static const char *const always[] = {
    "CTRAN_COLL_SHM",       "1",  "CTRAN_SPIN", "0", "CTRAN_COLL_ATTACH", "always",
    "CTRAN_COLL_SHM_BYTES", "8K", NULL};

static void test_all_expose(void **state)
{
    (void)state;
    for (uint32_t n = 3; n <= MOST_RANKS; n++) {
        ranks_run(&(struct ranks_args){.n = n, .settings = always, .body = all_lengths});
    }
}

enum { COUNT = 700 }; /* of numbers that are too long for a slot */

/* Two alltoalls, which make the shm_coll. */
static struct ct_shm_coll *begin(struct rank *r, uint64_t *send, uint64_t *recv)
{
    alltoall(r, send, recv, COUNT, 0);
    alltoall(r, send, recv, COUNT, 0);
    return shm_coll_of(r);
}

static uint32_t is_blind(const struct rank *r, const struct ct_shm_coll *b)
{
    return atomic_load(&b->shared->member[r->me].blind);
}

/* Where the transport reads nothing that is put in, from the first operation on. It is tried now
 * and then all the same, as exposed memory might be seen: what cannot be comes as messages. */
static void blind(struct rank *r, void *arg)
{
    enum { TURNS = 200, MOST_TRIES = 8 };
    static _Thread_local uint64_t send[MOST], recv[MOST + 1];
    struct ct_shm_coll           *b = begin(r, send, recv);
    unsigned                      tries = 0;
    (void)arg;
    RANK_EQUAL(r, b->read_k, 0);
    RANK_EQUAL(r, is_blind(r, b), 1);
    for (unsigned turn = 0; turn < TURNS; turn++) {
        const uint64_t read_k = b->read_k;
        alltoall(r, send, recv, COUNT, turn);
        tries += b->read_k != read_k;
    }
    RANK_CHECK(r, tries > 0 && tries <= MOST_TRIES);
    RANK_EQUAL(r, is_blind(r, b), 1);
}

static void test_blind(void **state)
{
    static const char *const off[] = {
        "CTRAN_COLL_SHM",    "1",      "CTRAN_SPIN", "0", "CTRAN_SHM_SINGLE_COPY", "off",
        "CTRAN_COLL_ATTACH", "always", NULL};
    (void)state;
    ranks_run(&(struct ranks_args){.n = 2, .settings = off, .body = blind});
    ranks_run(&(struct ranks_args){.n = 3, .settings = off, .body = blind});
    ranks_run(&(struct ranks_args){.n = 6, .settings = off, .body = blind});
}

static _Thread_local const struct ct_net_ops *real;
static _Thread_local struct ct_net_ops        changed; /* a copy of them, and something else */
static _Thread_local struct ct_net_rma_ops    changed_rma;

/* The transport to rank `id`. */
static struct ct_net *net_to(struct rank *r, uint32_t id)
{
    struct ct_ep *ep = ranks_ep(r, id);
    ct_domain_enter(&r->p);
    struct ct_net *net = ep->link->net;
    ct_domain_leave(&r->p);
    return net;
}

static int post_nothing(struct ct_net_link *link, struct ct_net_rma *const ops[], unsigned n,
                        unsigned *taken)
{
    (void)link, (void)ops, (void)n;
    *taken = 0;
    return CTRAN_ERR_UNSUPPORTED_OPERATION;
}

/* Has one-sided operations go through `post`. */
static void change_post(struct ct_net *net,
                        int (*post)(struct ct_net_link *link, struct ct_net_rma *const ops[],
                                    unsigned n, unsigned *taken))
{
    real = net->ops;
    changed = *real;
    changed_rma = *real->rma;
    changed_rma.post = post;
    changed.rma = &changed_rma;
    net->ops = &changed;
}

/* A rank that cannot read what some operations expose gets it all the same; once it can, all expose
 * again, as before. */
static void blind_for_a_while(struct rank *r, void *arg)
{
    enum { SHUT = 3, MOST_TURNS = 100 };
    static _Thread_local uint64_t send[MOST], recv[MOST + 1];
    struct ct_shm_coll           *b = begin(r, send, recv);
    struct ct_net                *net = net_to(r, r->me == 0);
    unsigned                      turn = 0, exposed = 0;
    (void)arg;
    RANK_EQUAL(r, b->read_k, b->k);
    change_post(net, r->me == 1 ? post_nothing : net->ops->rma->post);
    for (; turn < SHUT; turn++) {
        alltoall(r, send, recv, COUNT, turn);
    }
    RANK_EQUAL(r, is_blind(r, b), r->me == 1);
    net->ops = real;
    for (; turn < MOST_TURNS; turn++) {
        alltoall(r, send, recv, COUNT, turn);
        exposed = b->read_k == b->k ? exposed + 1 : 0;
    }
    RANK_CHECK(r, exposed > MOST_TURNS / 2);
    RANK_EQUAL(r, is_blind(r, b), 0);
}

static void test_blind_for_a_while(void **state)
{
    (void)state;
    for (uint32_t n = 2; n <= 5; n++) {
        ranks_run(&(struct ranks_args){.n = n, .settings = always, .body = blind_for_a_while});
    }
}

/* Long blocks are exposed, and so is input that does not fit into a part; the rest is put in. */
static void by_length(struct rank *r, void *arg)
{
    (void)arg;
    uint64_t *send = calloc(2 * LONG / sizeof(uint64_t) * r->n, sizeof *send);
    uint64_t *recv = calloc(2 * LONG / sizeof(uint64_t) * r->n + 1, sizeof *recv);
    RANK_CHECK(r, send != NULL && recv != NULL);
    for (unsigned turn = 0; turn < 3; turn++) { /* the first one makes the shm_coll */
        alltoall(r, send, recv, LONG / sizeof(uint64_t), 0);
    }
    struct ct_shm_coll *b = shm_coll_of(r);
    for (size_t bytes = LONG / 8; bytes <= 2 * LONG; bytes *= 2) {
        alltoall(r, send, recv, bytes / sizeof(uint64_t), (unsigned)bytes);
        RANK_EQUAL(r, b->read_k == b->k, bytes >= LONG || (r->n - 1) * bytes > b->part_bytes);
    }
    free(send);
    free(recv);
}

static void test_by_length(void **state)
{
    static const char *const whole[] = {"CTRAN_COLL_SHM", "1", "CTRAN_SPIN", "0", NULL};
    static const char *const parts[] = {
        "CTRAN_COLL_SHM", "1", "CTRAN_COLL_SHM_BYTES", "256K", "CTRAN_SPIN", "0", NULL};
    (void)state;
    for (uint32_t n = 3; n <= 4; n++) {
        ranks_run(&(struct ranks_args){.n = n, .settings = whole, .body = by_length});
        ranks_run(&(struct ranks_args){.n = n, .settings = parts, .body = by_length});
    }
}

/* ---- an error -------------------------------------------------------------------------------- */

/* Rank 0 exposes in the next operation. */
static void expose_all(struct rank *r, struct ct_shm_coll *b, const uint64_t *send)
{
    b->k++;
    ct_shm_coll_expose(b, (const char *)send, 0, COUNT * r->n * sizeof send[0]);
    ct_shm_coll_slot_of(b, 0)->note = b->note;
}

/* A rank that exposes and then has to end the operation takes its memory back: who has not read it
 * gets the error, and nobody reads what is written there next. */
static void recalled(struct rank *r, void *arg)
{
    static _Thread_local uint64_t send[MOST], recv[MOST + 1];
    struct ct_shm_coll           *b = begin(r, send, recv);
    (void)arg;
    ranks_sync(r);
    if (r->me == 0) {
        expose_all(r, b, send);
        ct_shm_coll_set(b, &ct_shm_coll_slot_of(b, 0)->flag, b->k);
        RANK_EQUAL(r, ct_shm_coll_take_back(b, CTRAN_ERR_PROC_FAILED), CTRAN_ERR_PROC_FAILED);
        memset(send, 0xee, sizeof send);
        ct_shm_coll_set(b, &b->shared->member[0].done, UINT64_MAX);
    } else {
        const int rc = run_alltoall(r, send, recv, COUNT);
        RANK_CHECK(r, rc == CTRAN_SUCCESS || rc == CTRAN_ERR_PROC_FAILED);
        for (size_t i = 0; i < COUNT; i++) {
            RANK_EQUAL(r, recv[i], input(0, r->me, i, 0)); /* the old one's, or all of the new */
        }
    }
    ranks_sync(r);
}

static void test_recalled(void **state)
{
    (void)state;
    for (unsigned turn = 0; turn < 20; turn++) {
        ranks_run(&(struct ranks_args){.n = 3 + turn % 3, .settings = always, .body = recalled});
    }
}

static _Thread_local struct ct_shm_coll *late;

/* Reads, and then the owner recalls it. */
static int post_late(struct ct_net_link *link, struct ct_net_rma *const ops[], unsigned n,
                     unsigned *taken)
{
    const int rc = real->rma->post(link, ops, n, taken);
    atomic_store(&late->shared->member[0].recalled, CTRAN_ERR_PROC_FAILED);
    return rc;
}

/* What is recalled while it is read does not count: its owner may not have waited. */
static void recalled_late(struct rank *r, void *arg)
{
    static _Thread_local uint64_t send[MOST], recv[MOST + 1];
    struct ct_shm_coll           *b = begin(r, send, recv);
    (void)arg;
    if (r->me == 0) {
        expose_all(r, b, send);
    } else {
        b->k++;
    }
    ranks_sync(r);
    if (r->me == 1) {
        struct ct_net              *net = net_to(r, 0);
        struct ct_shm_coll_attached in = {.rank = 0, .note = &ct_shm_coll_slot_of(b, 0)->note};
        late = b;
        change_post(net, post_late);
        RANK_EQUAL(r,
                   ct_shm_coll_attach(b, &in, COUNT * sizeof send[0], (char *)recv, sizeof send[0]),
                   CTRAN_ERR_PROC_FAILED);
        net->ops = real;
    }
    ct_shm_coll_set(b, &b->shared->member[r->me].done, b->k);
    ranks_sync(r);
    if (r->me == 0) {
        RANK_EQUAL(r, ct_shm_coll_take_back(b, CTRAN_ERR_PROC_FAILED), CTRAN_ERR_PROC_FAILED);
    }
    ranks_sync(r);
}

static void test_recalled_late(void **state)
{
    (void)state;
    ranks_run(&(struct ranks_args){.n = 2, .settings = always, .body = recalled_late});
    ranks_run(&(struct ranks_args){.n = 3, .settings = always, .body = recalled_late});
}

/* Who is taken for failed, and lives, is not waited for, however long it reads: it finds out. */
static void given_up(struct rank *r, void *arg)
{
    static _Thread_local uint64_t send[MOST], recv[MOST + 1];
    struct ct_shm_coll           *b = begin(r, send, recv);
    (void)arg;
    if (r->me == 0) {
        expose_all(r, b, send);
    } else {
        b->k++;
        atomic_store(&b->shared->member[1].reading, b->k);
    }
    ranks_sync(r);
    if (r->me == 0) {
        ranks_fail(r, 1, CTRAN_ERR_INTERN);
        RANK_EQUAL(r, ct_shm_coll_take_back(b, CTRAN_ERR_INTERN), CTRAN_ERR_INTERN);
    }
    ranks_sync(r);
    if (r->me == 1) {
        struct ct_shm_coll_attached in = {.rank = 0, .note = &ct_shm_coll_slot_of(b, 0)->note};
        RANK_EQUAL(r, ct_shm_coll_attach(b, &in, 0, (char *)recv, sizeof send[0]),
                   CTRAN_ERR_INTERN);
    }
    ranks_sync(r);
}

static void test_given_up(void **state)
{
    (void)state;
    ranks_run(&(struct ranks_args){.n = 2, .settings = always, .body = given_up});
}

/* ---- two ranks ------------------------------------------------------------------------------- */

/* A sum of two ranks is exposed where it is long, and not too long. */
static void sums_by_length(struct rank *r, void *arg)
{
    enum { LEAST = 512 << 10, MOST_BYTES = 8 << 20 };
    const size_t lengths[] = {64 << 10, LEAST, LEAST + 8, MOST_BYTES, MOST_BYTES + 8};
    uint64_t    *in = calloc(1, MOST_BYTES + 8), *out = calloc(1, MOST_BYTES + 8);
    (void)arg;
    RANK_CHECK(r, in != NULL && out != NULL);
    RANK_EQUAL(r, ranks_sum(ct_comm_world(&r->p), in, out, LEAST / 8), CTRAN_SUCCESS);
    struct ct_shm_coll *b = shm_coll_of(r);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        const uint64_t k = b->read_k;
        in[lengths[i] / 8 - 1] = i;
        RANK_EQUAL(r, ranks_sum(ct_comm_world(&r->p), in, out, lengths[i] / 8), CTRAN_SUCCESS);
        RANK_EQUAL(r, out[lengths[i] / 8 - 1], 2 * i);
        RANK_EQUAL(r, b->read_k > k, lengths[i] > LEAST && lengths[i] <= MOST_BYTES);
    }
    free(in);
    free(out);
}

static void gather_uneven(struct rank *r, const char *send, char *recv, const ctran_count_t *counts)
{
    const ctran_aint_t displs[2] = {0, (ctran_aint_t)counts[0]};
    struct ct_coll     coll;
    ct_coll_init(&coll, ct_comm_world(&r->p), NULL);
    const struct ct_blocks in = {.base = (char *)send,
                                 .first = r->me,
                                 .held = 1,
                                 .counts = &counts[r->me],
                                 .displs = &(ctran_aint_t){0},
                                 .unit_elems = 1};
    const struct ct_blocks out = {
        .base = recv, .held = 2, .counts = counts, .displs = displs, .unit_elems = 1};
    ct_coll_move(&coll, CT_ALLGATHER, &in, &out, 0);
    RANK_EQUAL(r, ct_coll_run(&coll), CTRAN_SUCCESS);
}

/* A vector whose blocks differ in length is as long as if all were as long as the longest. */
static void blocks_by_length(struct rank *r, void *arg)
{
    static _Thread_local char send[LONG], recv[2 * LONG];
    const ctran_count_t       sets[2][2] = {{LONG, LONG / 2 + 1}, {LONG / 2, LONG / 4}};
    (void)arg;
    gather_uneven(r, send, recv, sets[0]); /* the first one makes the shm_coll */
    gather_uneven(r, send, recv, sets[0]);
    struct ct_shm_coll *b = shm_coll_of(r);
    for (unsigned turn = 1; turn < 20; turn++) {
        const ctran_count_t *counts = sets[turn / 2 % 2];
        const uint64_t       k = b->read_k;
        memset(send, (int)(turn * 10 + r->me), sizeof send);
        gather_uneven(r, send, recv, counts);
        RANK_EQUAL(r, b->read_k > k, turn / 2 % 2 == 0);
        RANK_EQUAL(r, recv[0], (char)(turn * 10));
        RANK_EQUAL(r, recv[counts[0] + counts[1] - 1], (char)(turn * 10 + 1));
    }
}

/* From slot_bytes on input is long, and exposed where it may be; what is put in is in the slot,
 * behind its note, as long as there is room for it. */
static void brief(struct rank *r, void *arg)
{
    static _Thread_local uint64_t send[MOST], recv[MOST + 1];
    enum { MOST_BRIEF = CT_SHM_COLL_BYTES / 16, NOTE = 48 };
    const bool exposes = *(const bool *)arg;
    alltoall(r, send, recv, MOST_BRIEF, 0); /* makes the shm_coll */
    alltoall(r, send, recv, MOST_BRIEF, 0);
    struct ct_shm_coll *b = shm_coll_of(r);
    RANK_CHECK(r, b != NULL && b->bulk.base != NULL && b->slot_bytes < CT_SHM_COLL_BYTES - NOTE);
    for (size_t turn = 0; turn < 2 * MOST_BRIEF; turn++) {
        const size_t   count = MOST_BRIEF - turn % MOST_BRIEF, bytes = 16 * count;
        const bool     is_long = bytes > b->slot_bytes;
        const uint64_t k = b->k;
        alltoall(r, send, recv, count, turn);
        RANK_EQUAL(r, b->k - k, 1);
        RANK_EQUAL(r, b->read_k == b->k, is_long && exposes);
        if (is_long && bytes <= CT_SHM_COLL_BYTES - NOTE) {
            const char *in = ct_shm_coll_slot_of(b, r->me)->data + NOTE;
            RANK_EQUAL(r, memcmp(in, send + (1 - r->me) * count, bytes / 2) == 0, !exposes);
        }
    }
}

static void test_brief(void **state)
{
    static const char *const settings[2][5] = {
        {"CTRAN_COLL_SHM", "1", "CTRAN_COLL_ATTACH", "off", NULL},
        {"CTRAN_COLL_SHM", "1", "CTRAN_COLL_ATTACH", "always", NULL}};
    (void)state;
    for (int exposes = 0; exposes < 2; exposes++) {
        bool arg = exposes != 0;
        ranks_run(&(struct ranks_args){
            .n = 2, .settings = settings[exposes], .body = brief, .arg = &arg});
    }
}

static void test_two(void **state)
{
    static const char *const spins[] = {"CTRAN_COLL_SHM", "1", "CTRAN_SPIN", "10", NULL};
    (void)state;
    ranks_run(&(struct ranks_args){.n = 2, .settings = spins, .body = sums_by_length});
    ranks_run(&(struct ranks_args){.n = 2, .settings = spins, .body = blocks_by_length});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_expose),
        cmocka_unit_test(test_blind),
        cmocka_unit_test(test_blind_for_a_while),
        cmocka_unit_test(test_by_length),
        cmocka_unit_test(test_recalled),
        cmocka_unit_test(test_recalled_late),
        cmocka_unit_test(test_given_up),
        cmocka_unit_test(test_two),
        cmocka_unit_test(test_brief),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
