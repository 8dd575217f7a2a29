/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank whose collective through shared memory has ended with an error is out of step: whoever
 * waits for it hears of the error, now and in all calls that follow, though it lives.
 */
#define CT_FOLDER "unit"
#include "ranks.h"

enum { LONG = 8000 };

static int reduce(struct rank *r, size_t count)
{
    static uint64_t in[4][LONG], out[LONG];
    struct ct_coll  coll;
    ct_coll_init(&coll, ct_comm_world(&r->p), NULL);
    ct_coll_reduce(&coll, in[r->me], out, count, ct_dtype_get(CTRAN_UINT64_T), ct_op_get(CTRAN_SUM),
                   0);
    return ct_coll_run(&coll);
}

/* Rank 1 alone knows that rank 3 is dead, for whose input it waits. Rank 0 waits for rank 1 and for
 * rank 2, which puts its own in. */
static void forward_loss(struct rank *r, void *arg)
{
    const size_t count = *(const size_t *)arg;
    for (int i = 0; i < 20; i++) { /* there is a shm_coll after some */
        RANK_EQUAL(r, ct_coll_barrier_now(ct_comm_world(&r->p)), CTRAN_SUCCESS);
    }
    RANK_CHECK(r, ct_comm_world(&r->p)->run.shm != NULL);
    RANK_EQUAL(r, reduce(r, count), CTRAN_SUCCESS); /* and memory for what is long */
    ranks_sync(r);
    if (r->me == 1) {
        ranks_fail(r, 3, CTRAN_ERR_PROC_FAILED);
    }
    for (int i = 0; i < 2 && r->me < 2; i++) {
        RANK_EQUAL(r, reduce(r, count), CTRAN_ERR_PROC_FAILED);
    }
    if (r->me == 2) {
        RANK_EQUAL(r, reduce(r, count), CTRAN_SUCCESS);
    }
    ranks_sync(r);
}

static void test_forwarded_loss(void **state)
{
    static const char *const folding[] = {"CTRAN_COLL_ALGORITHM", "reduce:folding",
                                          "CTRAN_COLL_SHM", "1", NULL};
    size_t                   counts[] = {1, LONG};
    (void)state;
    for (unsigned i = 0; i < CT_ARRAY_LEN(counts); i++) {
        ranks_run(&(struct ranks_args){
            .n = 4, .body = forward_loss, .settings = folding, .arg = &counts[i]});
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forwarded_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
