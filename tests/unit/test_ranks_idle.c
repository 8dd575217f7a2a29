/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ranks cost that wait for a message which does not come: how long they sleep at once, that
 * nobody wakes them, and how often they look between two naps. All of it is counted, not timed: a
 * nap that nobody ends takes as long as was asked for, at least.
 *
 * A nap and what comes with it costs about 0.1 ms. 16 ranks are to take less than 1 % of a core, so
 * each may nap six times a second.
 */
#define CT_FOLDER "unit"
#include <stdatomic.h>
#include <time.h>

#include "ranks.h"

#include "ep/ep_set.h"
#include "net/transports.h"

enum {
    RANKS = 17,
    NAPS = 2,               /* of each that idles, at least */
    LEAST_NAP_MS = 16 * 10, /* for each per cent */
    MOST_LOOKS = 3,         /* for each nap */
    NAP_LOOKS_MS = 100,     /* what rank 0 sleeps between its own looks */
};

static const uint64_t CTX = 5;

/* The transport of rank 1, whose looks are counted. */
static struct ct_net_ops counting;
static unsigned          looks;

static unsigned count_look(struct ct_net *net)
{
    looks++;
    return ct_net_shm.progress(net);
}

static void count_looks(struct rank *r)
{
    struct ct_ep_set *set = r->p.ep;
    for (unsigned i = 0; i < set->nnets; i++) {
        if (set->nets[i]->ops == &ct_net_shm) {
            counting = ct_net_shm;
            counting.progress = count_look;
            set->nets[i]->ops = &counting;
        }
    }
}

static void send_word(struct rank *r, uint32_t to)
{
    struct ct_p2p_req req;
    ct_p2p_isend(&r->p, &req, ranks_ep(r, to), (struct ct_p2p_key){CTX, (int32_t)r->me, 1},
                 &(struct ct_area){.base = &r->me, .len_bytes = sizeof r->me});
    RANK_EQUAL(r, ct_p2p_wait(&r->p, &req.base), CTRAN_SUCCESS);
}

static void recv_word(struct rank *r, uint32_t from)
{
    struct ct_p2p_req req;
    uint32_t          in = UINT32_MAX;
    ct_p2p_irecv(&r->p, &req, ranks_ep(r, from), (struct ct_p2p_key){CTX, (int32_t)from, 1},
                 &(struct ct_area){.base = &in, .len_bytes = sizeof in});
    RANK_EQUAL(r, ct_p2p_wait(&r->p, &req.base), CTRAN_SUCCESS);
    RANK_EQUAL(r, in, from);
}

static uint32_t naps_of(struct rank *r, uint32_t id)
{
    return atomic_load(&ranks_of(r, id)->p.ep->naps.n);
}

/* Sends to nobody before all have napped that often. */
static void keep_waiting(struct rank *r)
{
    uint32_t before[RANKS];
    for (uint32_t i = 1; i < RANKS; i++) {
        before[i] = naps_of(r, i);
    }
    for (uint32_t i = 1; i < RANKS; i++) {
        while (naps_of(r, i) - before[i] < NAPS) {
            (void)nanosleep(&(struct timespec){.tv_nsec = NAP_LOOKS_MS * CT_NS_PER_MS}, NULL);
        }
    }
    for (uint32_t i = 1; i < RANKS; i++) {
        send_word(r, i);
    }
}

static void wait_idle(struct rank *r) CT_UNCHECKED
{
    const struct ct_ep_naps *naps = &r->p.ep->naps;
    const uint32_t           n = naps->n, roused = naps->roused;
    const uint64_t           asked_ns = naps->asked_ns;
    recv_word(r, 0);
    const uint32_t slept = naps->n - n;
    RANK_CHECK(r, slept >= NAPS);
    RANK_CHECK(r, naps->roused - roused <= 1); /* by the message */
    RANK_CHECK(r, (naps->asked_ns - asked_ns) / slept >= LEAST_NAP_MS * (uint64_t)CT_NS_PER_MS);
}

/* Between two naps rank 1 looks no more than it has to. What it does before the first does not
 * count, so it has had that. */
static void look_seldom(struct rank *r) CT_UNCHECKED
{
    const struct ct_ep_naps *naps = &r->p.ep->naps;
    struct ct_wait           pace = {0};
    const uint32_t           first = naps->n;
    while (naps->n - first < 1) {
        ct_waiter_turn_(&r->p, &pace);
    }
    looks = 0;
    while (naps->n - first < 1 + NAPS) {
        ct_waiter_turn_(&r->p, &pace);
    }
    RANK_CHECK(r, looks <= MOST_LOOKS * NAPS);
}

/* All that talk have connected before. */
static void idle(struct rank *r, void *arg)
{
    (void)arg;
    if (r->me == 0) {
        for (uint32_t i = 1; i < RANKS; i++) {
            recv_word(r, i);
            send_word(r, i);
        }
        ranks_sync(r);
        keep_waiting(r);
    } else {
        send_word(r, 0);
        recv_word(r, 0);
        ranks_sync(r);
        wait_idle(r);
    }
    ranks_sync(r);
    if (r->me == 1) {
        count_looks(r);
        look_seldom(r);
    }
}

static void test_words(void **state)
{
    (void)state;
    ranks_run(&(struct ranks_args){.n = RANKS, .body = idle});
}

static void test_bells(void **state)
{
    (void)state;
    static const char *const all[] = {"CTRAN_TRANSPORTS", "self,shm,tcp", NULL};
    ranks_run(&(struct ranks_args){.n = RANKS, .settings = all, .body = idle});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_bells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
