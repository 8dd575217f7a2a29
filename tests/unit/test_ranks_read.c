/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long messages that are read where they lie: a reader that asks its sender for help with what that
 * one has not exposed to it is lost, and nothing is touched; one that asks with a key that is not
 * known any more gets no help, and that is all; which messages are taken from where they are seen,
 * and which are copied by a read; what a sender that takes a message back is told.
 */
#define CT_FOLDER "unit"
#include <stdatomic.h>

#include "ranks.h"

#include "ep/ep_set.h"
#include "node/node.h"
#include "net/shm_share.h"
#include "net/transports.h"
#include "p2p/state.h"

enum { LONG = 300000, BLOCK = 4096 };

static const uint64_t CTX = 5;

static void expect_end(struct rank *r, struct ct_p2p_req *req, int error)
{
    RANK_EQUAL(r, ct_p2p_wait(&r->p, &req->base), error);
}

/* A message there and one back. */
static void greet(struct rank *r, uint32_t other)
{
    struct ct_p2p_req send, recv;
    uint32_t          out = r->me * 1000 + other, in = 0;
    ct_p2p_irecv(&r->p, &recv, ranks_ep(r, other), (struct ct_p2p_key){CTX, (int32_t)other, 1},
                 &(struct ct_area){.base = &in, .len_bytes = sizeof in});
    ct_p2p_isend(&r->p, &send, ranks_ep(r, other), (struct ct_p2p_key){CTX, (int32_t)r->me, 1},
                 &(struct ct_area){.base = &out, .len_bytes = sizeof out});
    expect_end(r, &send, CTRAN_SUCCESS);
    expect_end(r, &recv, CTRAN_SUCCESS);
    RANK_EQUAL(r, in, other * 1000 + r->me);
}

/* ---- offers that lie ------------------------------------------------------------------------- */

/* Where rank 1 asks for a block, from the beginning of what rank 0 has exposed to it, by which key,
 * from the right one on, and what rank 0 makes of it. */
enum answer { GIVES, GIVES_NOT, FAILS };
struct offer_case {
    int64_t     from, key;
    enum answer answer;
};

static unsigned char exposed[LONG], given[BLOCK];

/* As a reader does it. The sender has announced its message before and stands still. */
static void ask(struct rank *r, const struct offer_case *offer_case) CT_UNCHECKED
{
    struct ct_shm_segment seg = ranks_segment(r, 0);
    struct ct_shm_offer  *offer = ct_shm_segment_offer(&seg, 1);
    const uint64_t        key = ct_ep_region_key(ranks_of(r, 0)->p.ep->regions); /* the only one */
    atomic_store(&offer->to, (uintptr_t)given);
    atomic_store(&offer->from, (uintptr_t)exposed + (uint64_t)offer_case->from);
    atomic_store(&offer->len_bytes, BLOCK);
    atomic_store(&offer->block_bytes, BLOCK);
    atomic_store(&offer->key, key + (uint64_t)offer_case->key);
    atomic_store(&offer->done, 0);
    atomic_store(&offer->failed, 0);
    atomic_store(&offer->claim, UINT64_C(9) << 32 | 1);
    atomic_store(&seg.head->offer, 1 + 1);
    ct_wake_signal(&seg.head->wake);
}

static _Atomic bool helped;

/* Rank 0, whose message to rank 1 waits for it. */
static void helper(struct rank *r, const struct offer_case *offer_case)
{
    struct ct_p2p_req send;
    memset(exposed, 7, LONG);
    memset(given, 1, BLOCK);
    atomic_store(&helped, false);
    ct_p2p_isend(&r->p, &send, ranks_ep(r, 1), (struct ct_p2p_key){CTX, 0, 2},
                 &(struct ct_area){.base = exposed, .len_bytes = LONG});
    RANK_CHECK(r, !send.base.done);
    ranks_sync(r);
    if (offer_case->answer != FAILS) {
        ranks_drive_until(r, &helped);
        expect_end(r, &send, CTRAN_SUCCESS);
    } else {
        expect_end(r, &send, CTRAN_ERR_PROC_FAILED);
        RANK_LOGGED(r, "rank 1 has written rubbish to shared memory");
    }
    for (size_t i = 0; i < BLOCK; i++) {
        RANK_EQUAL(r, given[i], offer_case->answer == GIVES ? 7 : 1);
    }
    greet(r, 2);
}

/* Rank 1, which receives the message if it may. */
static void asker(struct rank *r, const struct offer_case *offer_case)
{
    static unsigned char  in[LONG];
    struct ct_p2p_req     recv;
    struct ct_shm_segment seg = ranks_segment(r, 0);
    ranks_sync(r);
    ask(r, offer_case);
    if (offer_case->answer != FAILS) {
        while (atomic_load(&ct_shm_segment_offer(&seg, 1)->done) == 0) {
        }
        RANK_EQUAL(r, atomic_load(&ct_shm_segment_offer(&seg, 1)->failed),
                   offer_case->answer != GIVES);
        atomic_store(&helped, true);
        ct_p2p_irecv(&r->p, &recv, ranks_ep(r, 0), (struct ct_p2p_key){CTX, 0, 2},
                     &(struct ct_area){.base = in, .len_bytes = LONG});
        expect_end(r, &recv, CTRAN_SUCCESS);
        RANK_EQUAL(r, in[LONG - 1], 7);
    }
}

static void asks_for_help(struct rank *r, void *arg)
{
    if (r->me < 2) {
        greet(r, 1 - r->me);
    }
    if (r->me == 0) {
        helper(r, arg);
    } else if (r->me == 1) {
        asker(r, arg);
    } else {
        ranks_sync(r);
        greet(r, 0);
    }
}

static void test_offers(void **state)
{
    (void)state;
    static const struct offer_case offer_cases[] = {
        {0, 0, GIVES},
        {LONG - BLOCK, 0, GIVES},
        {LONG - BLOCK + 1, 0, FAILS}, /* a byte too far */
        {-1, 0, FAILS},
        {INT64_MIN, 0, FAILS},
        {0, 1, GIVES_NOT}, /* there is no such region */
        {0, -1, GIVES_NOT},
        {INT64_MIN, -1, GIVES_NOT},
    };
    for (size_t i = 0; i < CT_ARRAY_LEN(offer_cases); i++) {
        struct offer_case offer_case = offer_cases[i];
        ranks_run(&(struct ranks_args){.n = 3, .body = asks_for_help, .arg = &offer_case});
    }
}

/* ---- messages that are seen ------------------------------------------------------------------ */

/* The transport of rank 1, which is of one process with rank 0 and sees all its memory. */
static struct ct_net_ops     seeing;
static struct ct_net_rma_ops seeing_rma;
static unsigned              gets, views;
static unsigned              fins, fins_then; /* sent, and when the last get began */
static uint8_t               fin_id;          /* the same in all ranks */

static int count_post(struct ct_net_link *link, struct ct_net_rma *const ops[], unsigned n,
                      unsigned *taken)
{
    gets += ops[0]->op == CT_NET_OP_GET;
    fins_then = fins;
    return ct_net_shm.rma->post(link, ops, n, taken);
}

static void *count_map(struct ct_net_rkey *rkey)
{
    views++;
    return ct_net_shm.rma->map(rkey);
}

static int count_fin(struct ct_net_link *link, const struct ct_net_slice *slice)
{
    fins += slice->type == fin_id;
    return ct_net_shm.send(link, slice);
}

struct taken {
    struct ct_p2p_req req;
    const void       *from;
    size_t            bytes;
};

static void take(struct ct_p2p_req *req, size_t at, const void *data, size_t len_bytes)
{
    struct taken *t = CT_CONTAINER_OF(req, struct taken, req);
    t->from = at == 0 ? data : t->from;
    t->bytes += len_bytes;
}

/* Has what this rank does with the other's memory counted. */
static void count_all(struct rank *r) CT_UNCHECKED
{
    struct ct_ep_set *set = r->p.ep;
    unsigned          i = 0;
    while (i < set->nnets && set->nets[i]->ops != &ct_net_shm) {
        i++;
    }
    RANK_CHECK(r, i < set->nnets);
    seeing = ct_net_shm;
    seeing_rma = *ct_net_shm.rma;
    seeing_rma.post = count_post;
    seeing_rma.map = count_map;
    seeing.rma = &seeing_rma;
    seeing.send = count_fin;
    fin_id = r->p.p2p->ids.fin;
    set->nets[i]->ops = &seeing;
}

/* What is taken is taken from where it lies; what is too long for that is copied by a read, at
 * which its owner may help, and not from there. */
static void take_seen(struct rank *r, void *arg)
{
    static unsigned char    out[LONG], in[LONG];
    static const size_t     lengths[] = {CT_P2P_TAKE_SHARED - 1, CT_P2P_TAKE_SHARED,
                                         CT_P2P_TAKE_SHARED + 1, LONG};
    const struct ct_p2p_key key = {CTX, 0, 1};
    (void)arg;
    if (r->me == 1) {
        count_all(r);
    }
    for (size_t i = 0; i < CT_ARRAY_LEN(lengths); i++) {
        struct taken         t = {.from = NULL};
        const struct ct_area area = {.base = r->me == 0 ? out : in, .len_bytes = lengths[i]};
        gets = views = 0;
        ranks_sync(r);
        if (r->me == 0) {
            memset(out, 7, LONG);
            ct_p2p_issend(&r->p, &t.req, ranks_ep(r, 1), key, &area);
        } else {
            memset(in, 1, LONG);
            ct_p2p_take_recv(&r->p, &t.req, ranks_ep(r, 0), key, &area, take);
        }
        expect_end(r, &t.req, CTRAN_SUCCESS);
        if (r->me == 1) {
            const bool copied = r->p.threaded && lengths[i] > CT_P2P_TAKE_SHARED;
            RANK_EQUAL(r, t.bytes, copied ? 0 : lengths[i]);
            RANK_CHECK(r, copied || t.from == out);
            RANK_EQUAL(r, gets, copied);
            RANK_EQUAL(r, views, !copied);
            RANK_EQUAL(r, in[lengths[i] - 1], copied ? 7 : 1);
        }
        ranks_sync(r);
    }
}

static void test_seen(void **state)
{
    (void)state;
    static const char *const reads[] = {"CTRAN_SHM_SINGLE_COPY", "auto", NULL};
    for (int threaded = 0; threaded < 2; threaded++) {
        ranks_run(&(struct ranks_args){
            .n = 2, .threaded = threaded != 0, .settings = reads, .body = take_seen});
    }
}

/* ---- messages that are taken back ------------------------------------------------------------ */

enum { MESSAGES = 3, SHORT = 5000 };

static unsigned char sent[MESSAGES][SHORT], got[MESSAGES][SHORT];

/* A message that its sender takes back, as it comes, is read before the sender is told that nobody
 * will: that one may write to its memory then. */
static void take_back(struct rank *r, void *arg)
{
    struct ct_p2p_req req[MESSAGES];
    (void)arg;
    greet(r, 1 - r->me);
    if (r->me == 1) {
        count_all(r);
        while (ct_domain_poke(&r->p)) {
        }
        gets = fins = 0;
    }
    ranks_sync(r);
    for (int i = 0; i < MESSAGES; i++) {
        const struct ct_area    area = {.base = r->me == 0 ? sent[i] : got[i], .len_bytes = SHORT};
        const struct ct_p2p_key key = {CTX, 0, 4};
        if (r->me == 0) {
            ct_p2p_issend(&r->p, &req[i], ranks_ep(r, 1), key, &area);
        } else {
            ct_p2p_irecv(&r->p, &req[i], ranks_ep(r, 0), key, &area);
        }
    }
    if (r->me == 0) {
        ct_p2p_cancel(&req[2], CTRAN_ERR_REVOKED);
    }
    ranks_sync(r);
    expect_end(r, &req[0], CTRAN_SUCCESS);
    expect_end(r, &req[1], CTRAN_SUCCESS);
    expect_end(r, &req[2], r->me == 0 ? CTRAN_ERR_REVOKED : CTRAN_SUCCESS);
    if (r->me == 1) {
        RANK_EQUAL(r, gets, 3);
        RANK_EQUAL(r, fins_then, 2); /* of the others */
    }
}

static void test_take_back(void **state)
{
    (void)state;
    static const char *const reads[] = {"CTRAN_SHM_SINGLE_COPY", "auto", NULL};
    ranks_run(&(struct ranks_args){.n = 2, .settings = reads, .body = take_back});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_offers),
        cmocka_unit_test(test_seen),
        cmocka_unit_test(test_take_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
