/* SPDX-License-Identifier: BSD-3-Clause */
/* Nonblocking dup. */
#include "inter.h"

static void works(ctran_comm_t comm)
{
    int sum = -1;
    OK(ctran_allreduce(&check_rank, &sum, 1, CTRAN_INT, CTRAN_SUM, comm));
    EXPECT_EQ(check_size * (check_size - 1) / 2, sum);
}

/* Several at once, completed in another order; the last come from a parent that is gone. */
static void many_at_once(void)
{
    enum { COUNT = 20 };
    ctran_comm_t    parent, comms[COUNT], done[COUNT];
    ctran_request_t requests[COUNT];
    OK(ctran_comm_dup(CTRAN_COMM_WORLD, &parent));
    for (int i = 0; i < COUNT; i++) {
        OK(ctran_comm_idup(i % 2 ? parent : CTRAN_COMM_WORLD, &comms[i], &requests[i]));
        done[i] = comms[i];
    }
    OK(ctran_comm_free(&parent));
    for (int left = COUNT; left > 0; left--) {
        int index = -1;
        if (left % 3 == 0) {
            index = left - 1;
            OK(ctran_wait(&requests[index], CTRAN_STATUS_IGNORE));
        } else {
            OK(ctran_waitany(left, requests, &index, CTRAN_STATUS_IGNORE));
        }
        EXPECT_PTR(CTRAN_REQUEST_NULL, requests[index]);
        requests[index] = requests[left - 1];
        comms[index] = comms[left - 1];
    }
    for (int i = 0; i < COUNT; i++) {
        works(done[i]);
        EXPECT_EQ(CTRAN_CONGRUENT, comm_compare(done[i], CTRAN_COMM_WORLD));
        EXPECT_EQ(i == 0 ? CTRAN_IDENT : CTRAN_CONGRUENT, comm_compare(done[i], done[0]));
    }
    for (int i = 0; i < COUNT; i++) {
        OK(ctran_comm_free(&done[i]));
    }
}

/* It ends though nobody else is in the library, unless they have not called at all. */
static void needs_no_help(void)
{
    ctran_comm_t    copy;
    ctran_request_t request;
    int             flag = 0;
    OK(ctran_comm_idup(CTRAN_COMM_WORLD, &copy, &request));
    OK(ctran_barrier(CTRAN_COMM_WORLD)); /* all have called */
    while (!flag) {
        OK(ctran_test(&request, &flag, CTRAN_STATUS_IGNORE));
    }
    works(copy);
    OK(ctran_comm_free(&copy));
}

static int copies, deletes;

static int copy_value(ctran_comm_t oldcomm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)oldcomm, (void)key, (void)extra;
    copies++;
    memcpy(out, &in, sizeof in);
    *flag = 1;
    return CTRAN_SUCCESS;
}

static int delete_value(ctran_comm_t comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    deletes++;
    return CTRAN_SUCCESS;
}

/* As they were at the time of the call. */
static void hands_on(void)
{
    ctran_comm_t    parent, copy;
    ctran_request_t request;
    ctran_info_t    info, used;
    char            text[8];
    int             key = CTRAN_KEYVAL_INVALID, one = 1, two = 2, *found = NULL, flag = -1, len = 8;
    copies = deletes = 0;
    OK(ctran_comm_create_keyval(copy_value, delete_value, &key, NULL));
    OK(ctran_comm_dup(CTRAN_COMM_WORLD, &parent));
    OK(ctran_comm_set_errhandler(parent, CTRAN_ERRORS_RETURN));
    OK(ctran_comm_set_attr(parent, key, &one));
    OK(ctran_info_create(&info));
    OK(ctran_info_set(info, "mpi_assert_no_any_tag", "true"));
    OK(ctran_comm_idup_with_info(parent, info, &copy, &request));
    EXPECT_EQ(1, copies);
    OK(ctran_info_free(&info));
    OK(ctran_comm_set_attr(parent, key, &two));
    OK(ctran_comm_set_errhandler(parent, CTRAN_ERRORS_ARE_FATAL));
    OK(ctran_wait(&request, CTRAN_STATUS_IGNORE));
    OK(ctran_comm_get_attr(copy, key, &found, &flag));
    EXPECT(flag == 1 && found == &one);
    EXPECT_RC(CTRAN_ERR_TAG, ctran_send(NULL, 0, CTRAN_BYTE, 0, -1, copy));
    OK(ctran_comm_get_info(copy, &used));
    OK(ctran_info_get_string(used, "mpi_assert_no_any_tag", &len, text, &flag));
    EXPECT(flag == 1 && strcmp(text, "true") == 0);
    OK(ctran_info_free(&used));
    works(copy);
    OK(ctran_comm_free(&copy));
    EXPECT_EQ(2, deletes); /* set over one, and freed */
    OK(ctran_comm_free(&parent));
    EXPECT_EQ(3, deletes);
    OK(ctran_comm_free_keyval(&key));
}

void idups(void)
{
    many_at_once();
    needs_no_help();
    hands_on();
    ctran_comm_t       alone;
    ctran_request_t    request;
    ctran_errhandler_t handler;
    int                n;
    OK(ctran_comm_idup(CTRAN_COMM_SELF, &alone, &request));
    /* Its error handler can be set at once; all else waits for the request. */
    OK(ctran_comm_set_errhandler(alone, CTRAN_ERRORS_ABORT));
    EXPECT_RC(CTRAN_ERR_COMM, ctran_comm_size(alone, &n));
    OK(ctran_wait(&request, CTRAN_STATUS_IGNORE));
    EXPECT_EQ(CTRAN_CONGRUENT, comm_compare(alone, CTRAN_COMM_SELF));
    OK(ctran_comm_get_errhandler(alone, &handler));
    EXPECT_PTR(CTRAN_ERRORS_ABORT, handler);
    OK(ctran_errhandler_free(&handler));
    OK(ctran_comm_free(&alone));
}

void idups_between(void)
{
    enum { COUNT = 5 };
    for (int i = 0; i < 4; i++) {
        uint64_t        rng = rng_of(7200 + (uint64_t)i);
        struct pair     p, copy;
        ctran_comm_t    copies_of[COUNT];
        ctran_request_t requests[COUNT];
        if (!pair_random(&rng, &p)) {
            continue;
        }
        for (int c = 0; c < COUNT; c++) {
            OK(ctran_comm_idup(p.inter, &copies_of[c], &requests[c]));
        }
        OK(ctran_waitall(COUNT, requests, CTRAN_STATUSES_IGNORE));
        for (int c = 0; c < COUNT; c++) {
            EXPECT_EQ(CTRAN_CONGRUENT, comm_compare(p.inter, copies_of[c]));
            copy = p;
            copy.inter = copies_of[c];
            pair_check(&copy);
            OK(ctran_comm_free(&copies_of[c]));
        }
        pair_free(&p);
    }
}

static int refuse_copy(ctran_comm_t oldcomm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)oldcomm, (void)key, (void)extra, (void)in, (void)out, (void)flag;
    return CTRAN_ERR_OP;
}

/* One rank's function refuses, the first's or the last's: the others get theirs, and the next dup
 * is everybody's. */
static void refused_by(ctran_comm_t comm, int rank, int key)
{
    ctran_comm_t    made = CTRAN_COMM_NULL, next;
    ctran_request_t requests[2] = {CTRAN_REQUEST_NULL, CTRAN_REQUEST_NULL};
    if (check_rank == rank) {
        OK(ctran_comm_set_attr(comm, key, &key));
    }
    EXPECT_RC(check_rank == rank ? CTRAN_ERR_OP : CTRAN_SUCCESS,
              ctran_comm_idup(comm, &made, &requests[0]));
    OK(ctran_comm_delete_attr(comm, key));
    OK(ctran_comm_idup(comm, &next, &requests[1]));
    OK(ctran_waitall(2, requests, CTRAN_STATUSES_IGNORE));
    works(next);
    OK(ctran_comm_free(&next));
    EXPECT((made == CTRAN_COMM_NULL) == (check_rank == rank));
    if (made != CTRAN_COMM_NULL) {
        OK(ctran_comm_free(&made));
    }
}

void idups_refused(void)
{
    ctran_comm_t    comm, made = CTRAN_COMM_NULL;
    ctran_request_t request = CTRAN_REQUEST_NULL;
    int             key = CTRAN_KEYVAL_INVALID;
    OK(ctran_comm_dup(CTRAN_COMM_WORLD, &comm));
    OK(ctran_comm_set_errhandler(comm, CTRAN_ERRORS_RETURN));
    EXPECT_RC(CTRAN_ERR_COMM, ctran_comm_idup(CTRAN_COMM_NULL, &made, &request));
    EXPECT_RC(CTRAN_ERR_INFO, ctran_comm_idup_with_info(comm, NULL, &made, &request));
    OK(ctran_comm_create_keyval(refuse_copy, CTRAN_COMM_NULL_DELETE_FN, &key, NULL));
    OK(ctran_comm_set_attr(comm, key, &key));
    EXPECT_RC(CTRAN_ERR_OP, ctran_comm_idup(comm, &made, &request)); /* at every rank */
    EXPECT_PTR(CTRAN_COMM_NULL, made);
    EXPECT_PTR(CTRAN_REQUEST_NULL, request);
    OK(ctran_comm_delete_attr(comm, key));
    refused_by(comm, 0, key);
    refused_by(comm, check_size - 1, key);
    OK(ctran_comm_idup(comm, &made, &request));
    EXPECT_RC(CTRAN_ERR_REQUEST, ctran_cancel(&request));
    OK(ctran_wait(&request, CTRAN_STATUS_IGNORE));
    works(made);
    OK(ctran_comm_free(&made));
    OK(ctran_comm_free(&comm));
    OK(ctran_comm_free_keyval(&key));
}
