/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The death of a rank beside inter-communicators: it ends what waits for the remote group that it
 * was in, receives with wildcards included; the receives of its own group, and all other talk, go
 * on.
 */
#define CT_FOLDER "unit"
#include "ranks.h"

enum { RANKS = 5 }; /* the last one dies; odd ranks are one group, even ranks the other */

/* Even and odd ranks, who meet over the world. */
static struct ct_comm *between(struct rank *r, struct ct_comm **local)
{
    struct ct_comm *world = ct_comm_world(&r->p), *inter = NULL;
    RANK_EQUAL(r, ct_comm_split(world, (int)r->me % 2, 0, local), CTRAN_SUCCESS);
    RANK_EQUAL(r, ct_comm_meet(*local, 0, world, 1 - (int)r->me % 2, 7, CTRAN_SUCCESS, &inter),
               CTRAN_SUCCESS);
    return inter;
}

static void irecv_any(struct rank *r, struct ct_p2p_req *req, const struct ct_comm *comm, int *in)
{
    struct ct_p2p_key key = {comm->id, CTRAN_ANY_SOURCE, CTRAN_ANY_TAG};
    ct_p2p_irecv(&r->p, req, NULL, key, &(struct ct_area){.base = in, .len_bytes = sizeof *in});
}

static void isend(struct rank *r, struct ct_p2p_req *req, const struct ct_comm *comm, uint32_t to,
                  int *out)
{
    struct ct_p2p_key key = {comm->id, (int32_t)comm->run.me, 0};
    ct_p2p_isend(&r->p, req, ct_comm_ep(comm, to), key,
                 &(struct ct_area){.base = out, .len_bytes = sizeof *out});
}

/* A message through the inter-communicator, from each survivor to the one across. */
static void still_talks(struct rank *r, struct ct_comm *inter)
{
    struct ct_p2p_req send, recv;
    struct ct_p2p_key key = {inter->id, (int32_t)inter->run.me, 0};
    int               out = (int)r->me, in = -1;
    ct_p2p_irecv(&r->p, &recv, ct_comm_ep(inter, inter->run.me), key,
                 &(struct ct_area){.base = &in, .len_bytes = sizeof in});
    isend(r, &send, inter, inter->run.me, &out);
    RANK_EQUAL(r, ct_p2p_wait(&r->p, &send.base), CTRAN_SUCCESS);
    RANK_EQUAL(r, ct_p2p_wait(&r->p, &recv.base), CTRAN_SUCCESS);
    RANK_EQUAL(r, in, (int)(r->me ^ 1));
}

static void dies(struct rank *r, void *arg)
{
    struct ct_comm   *local, *inter = between(r, &local), *made = NULL;
    struct ct_p2p_req wild;
    int               in = -1;
    const bool        odd = r->me % 2 == 1; /* the dead one was in their remote group */
    (void)arg;
    irecv_any(r, &wild, inter, &in);
    ranks_sync(r);
    if (r->me == RANKS - 1) {
        ct_p2p_cancel(&wild, CTRAN_SUCCESS);
        ranks_sync(r);
        ranks_sync(r);
        return;
    }
    ranks_fail(r, RANKS - 1, CTRAN_ERR_PROC_FAILED);
    ct_domain_poke(&r->p);
    RANK_EQUAL(r, wild.base.done, odd);
    if (odd) {
        RANK_EQUAL(r, wild.base.error, CTRAN_ERR_PROC_FAILED);
        irecv_any(r, &wild, inter, &in);
        RANK_EQUAL(r, ct_p2p_wait(&r->p, &wild.base), CTRAN_ERR_PROC_FAILED);
    } else {
        ct_p2p_cancel(&wild, CTRAN_SUCCESS);
        irecv_any(r, &wild, inter, &in);
        RANK_CHECK(r, !wild.base.done);
        ct_p2p_cancel(&wild, CTRAN_SUCCESS);
    }
    ranks_sync(r); /* before that, nobody sends */
    still_talks(r, inter);
    if (odd) {
        RANK_EQUAL(r, ct_comm_dup(local, &made), CTRAN_SUCCESS);
        ct_comm_release(made);
    }
    ranks_sync(r);
}

static void test_death(void **state)
{
    (void)state;
    ranks_run(&(struct ranks_args){.n = RANKS, .body = dies});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_death),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
