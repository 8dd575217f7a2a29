/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * errors - what is wrong is said: each argument that can be bad gives its code, changes nothing,
 * and leaves everything working; so do calls at the wrong time. Usage: errors [SEED]
 */
#include <sys/wait.h>
#include <unistd.h>

#include "errors.h"

/* No predefined one, and not aligned as an object is: pointers into nowhere are not told. */
#define WILD_TYPE ((ctran_datatype_t)0x7ffff1231)
#define WILD_OP   ((ctran_op_t)0x23456)

static int value = 7, other = 8;
/* Apart, also for elements that are wider. */
static _Alignas(64) double real = 1;
static _Alignas(64) double real_out = -1;

/* All ranks can talk, and no message is left over. */
static void still_works(void)
{
    const int n = check_size, me = check_rank;
    int       in = -1, sum = 0;
    OK(ctran_sendrecv(&me, 1, CTRAN_INT, (me + 1) % n, 3, &in, 1, CTRAN_INT, CTRAN_ANY_SOURCE,
                      CTRAN_ANY_TAG, CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE));
    EXPECT_EQ((me + n - 1) % n, in);
    OK(ctran_allreduce(&me, &sum, 1, CTRAN_INT, CTRAN_SUM, CTRAN_COMM_WORLD));
    EXPECT_EQ(n * (n - 1) / 2, sum);
    EXPECT_EQ(7, value);
    EXPECT_EQ(8, other);
    EXPECT(real == 1 && real_out == -1);
}

static ctran_comm_t freed_comm(void)
{
    ctran_comm_t comm, copy;
    OK(ctran_comm_dup(CTRAN_COMM_SELF, &comm));
    copy = comm;
    OK(ctran_comm_free(&comm));
    return copy;
}

/* ---- point-to-point -------------------------------------------------------------------------- */

struct arguments {
    int              code;
    void            *buf;
    ctran_count_t    count;
    ctran_datatype_t type;
    int              peer, tag;
    ctran_comm_t     comm;
};

static void bad_send(const struct arguments *a)
{
    ctran_request_t request = CTRAN_REQUEST_NULL;
    ctran_status_t  status;
    memset(&status, 0x5a, sizeof status);
    const ctran_status_t before = status;
    EXPECT_RC(a->code, ctran_send(a->buf, a->count, a->type, a->peer, a->tag, a->comm));
    EXPECT_RC(a->code, ctran_isend(a->buf, a->count, a->type, a->peer, a->tag, a->comm, &request));
    EXPECT_PTR(CTRAN_REQUEST_NULL, request);
    EXPECT_RC(a->code, ctran_sendrecv(a->buf, a->count, a->type, a->peer, a->tag, &other, 1,
                                      CTRAN_INT, CTRAN_ANY_SOURCE, 1, a->comm, &status));
    EXPECT(memcmp(&status, &before, sizeof status) == 0);
}

static void bad_receive(const struct arguments *a)
{
    ctran_request_t request = CTRAN_REQUEST_NULL;
    ctran_status_t  status;
    memset(&status, 0x5a, sizeof status);
    const ctran_status_t before = status;
    EXPECT_RC(a->code, ctran_recv(a->buf, a->count, a->type, a->peer, a->tag, a->comm, &status));
    EXPECT_RC(a->code, ctran_irecv(a->buf, a->count, a->type, a->peer, a->tag, a->comm, &request));
    EXPECT_PTR(CTRAN_REQUEST_NULL, request);
    EXPECT_RC(a->code, ctran_sendrecv(&value, 1, CTRAN_INT, 0, 1, a->buf, a->count, a->type,
                                      a->peer, a->tag, a->comm, &status));
    EXPECT(memcmp(&status, &before, sizeof status) == 0);
}

static void transfers(void)
{
    const ctran_comm_t world = CTRAN_COMM_WORLD;
    /* Bad either way. */
    const struct arguments both[] = {
        {CTRAN_ERR_COUNT, &value, -1, CTRAN_INT, 0, 1, world},
        {CTRAN_ERR_COUNT, &value, INT64_MIN, CTRAN_INT, 0, 1, world},
        {CTRAN_ERR_COUNT, &value, INT64_MAX, CTRAN_LONG_DOUBLE, 0, 1, world},
        {CTRAN_ERR_TYPE, &value, 1, CTRAN_DATATYPE_NULL, 0, 1, world},
        {CTRAN_ERR_TYPE, &value, 1, NULL, 0, 1, world},
        {CTRAN_ERR_TYPE, &value, 1, WILD_TYPE, 0, 1, world},
        {CTRAN_ERR_TYPE, &value, 1, (ctran_datatype_t)0x204, 0, 1, world},
        {CTRAN_ERR_BUFFER, NULL, 1, CTRAN_INT, 0, 1, world},
        {CTRAN_ERR_BUFFER, CTRAN_IN_PLACE, 1, CTRAN_INT, 0, 1, world},
        {CTRAN_ERR_RANK, &value, 1, CTRAN_INT, check_size, 1, world},
        {CTRAN_ERR_RANK, &value, 1, CTRAN_INT, -4, 1, world},
        {CTRAN_ERR_RANK, &value, 1, CTRAN_INT, INT32_MIN, 1, world},
        {CTRAN_ERR_TAG, &value, 1, CTRAN_INT, 0, -1, world},
        {CTRAN_ERR_TAG, &value, 1, CTRAN_INT, 0, INT32_MIN, world},
        {CTRAN_ERR_TAG, &value, 1, CTRAN_INT, CTRAN_PROC_NULL, -1, world},
        {CTRAN_ERR_COMM, &value, 1, CTRAN_INT, 0, 1, CTRAN_COMM_NULL},
        {CTRAN_ERR_COMM, &value, 1, CTRAN_INT, 0, 1, NULL},
        {CTRAN_ERR_COMM, &value, 1, CTRAN_INT, 0, 1, freed_comm()},
        {CTRAN_ERR_COMM, &value, 1, CTRAN_INT, 0, 1, (ctran_comm_t)CTRAN_INT},
        {CTRAN_ERR_RANK, &value, 1, CTRAN_INT, 1, 1, CTRAN_COMM_SELF},
    };
    /* Bad for sends only. */
    const struct arguments sends[] = {
        {CTRAN_ERR_RANK, &value, 1, CTRAN_INT, CTRAN_ANY_SOURCE, 1, world},
        {CTRAN_ERR_TAG, &value, 1, CTRAN_INT, 0, CTRAN_ANY_TAG, world},
    };
    for (size_t i = 0; i < LEN(both); i++) {
        bad_send(&both[i]);
        bad_receive(&both[i]);
    }
    for (size_t i = 0; i < LEN(sends); i++) {
        bad_send(&sends[i]);
    }
}

static void inquiries(void)
{
    ctran_status_t status;
    ctran_count_t  count = -5;
    memset(&status, 0, sizeof status);
    EXPECT_RC(CTRAN_ERR_TYPE, ctran_get_count(&status, CTRAN_DATATYPE_NULL, &count));
    EXPECT_RC(CTRAN_ERR_TYPE, ctran_get_count(&status, WILD_TYPE, &count));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_get_count(CTRAN_STATUS_IGNORE, CTRAN_INT, &count));
    EXPECT_RC(CTRAN_ERR_TYPE, ctran_type_size(CTRAN_DATATYPE_NULL, &count));
    EXPECT_RC(CTRAN_ERR_TYPE, ctran_type_size(WILD_TYPE, &count));
    EXPECT_EQ(-5, count);
}

/* ---- requests -------------------------------------------------------------------------------- */

static void stale(ctran_request_t bad)
{
    ctran_request_t requests[3] = {CTRAN_REQUEST_NULL, bad, CTRAN_REQUEST_NULL};
    ctran_status_t  statuses[3];
    int             flag = -5, index = -5, indices[3];
    EXPECT_RC(CTRAN_ERR_REQUEST, ctran_wait(&requests[1], statuses));
    EXPECT_RC(CTRAN_ERR_REQUEST, ctran_test(&requests[1], &flag, statuses));
    EXPECT_RC(CTRAN_ERR_REQUEST, ctran_waitall(3, requests, statuses));
    EXPECT_RC(CTRAN_ERR_REQUEST, ctran_testall(3, requests, &flag, statuses));
    EXPECT_RC(CTRAN_ERR_REQUEST, ctran_waitany(3, requests, &index, statuses));
    EXPECT_RC(CTRAN_ERR_REQUEST, ctran_testany(3, requests, &index, &flag, statuses));
    EXPECT_RC(CTRAN_ERR_REQUEST, ctran_waitsome(3, requests, &index, indices, statuses));
    EXPECT_RC(CTRAN_ERR_REQUEST, ctran_testsome(3, requests, &index, indices, statuses));
    EXPECT_RC(CTRAN_ERR_REQUEST, ctran_request_free(&requests[1]));
    EXPECT_EQ(-5, flag);
    EXPECT_EQ(-5, index);
    EXPECT_PTR(bad, requests[1]);
}

static void requests(void)
{
    ctran_request_t request = CTRAN_REQUEST_NULL, copy, many[1] = {CTRAN_REQUEST_NULL};
    int             number = -5, indices[1], flag = -5, bad = -1;
    OK(ctran_isend(NULL, 0, CTRAN_BYTE, CTRAN_PROC_NULL, 0, CTRAN_COMM_WORLD, &request));
    copy = request;
    OK(ctran_wait(&request, CTRAN_STATUS_IGNORE));
    stale(copy);
    stale(NULL);
    stale((ctran_request_t)CTRAN_INT);
    EXPECT_RC(CTRAN_ERR_REQUEST, ctran_request_free(&request)); /* null */
    EXPECT_RC(CTRAN_ERR_COUNT, ctran_waitall(bad, many, CTRAN_STATUSES_IGNORE));
    EXPECT_RC(CTRAN_ERR_COUNT, ctran_testall(bad, many, &flag, CTRAN_STATUSES_IGNORE));
    EXPECT_RC(CTRAN_ERR_COUNT, ctran_waitany(bad, many, &number, CTRAN_STATUS_IGNORE));
    EXPECT_RC(CTRAN_ERR_COUNT, ctran_testany(bad, many, &number, &flag, CTRAN_STATUS_IGNORE));
    EXPECT_RC(CTRAN_ERR_COUNT, ctran_waitsome(bad, many, &number, indices, CTRAN_STATUSES_IGNORE));
    EXPECT_RC(CTRAN_ERR_COUNT, ctran_testsome(bad, many, &number, indices, CTRAN_STATUSES_IGNORE));
    EXPECT_EQ(-5, number);
    EXPECT_EQ(-5, flag);
}

/* ---- communicators --------------------------------------------------------------------------- */

static void bad_comm(ctran_comm_t bad)
{
    ctran_comm_t       made = CTRAN_COMM_SELF, gone = bad;
    ctran_errhandler_t handler = CTRAN_ERRHANDLER_NULL;
    int                number = -5;
    EXPECT_RC(CTRAN_ERR_COMM, ctran_comm_rank(bad, &number));
    EXPECT_RC(CTRAN_ERR_COMM, ctran_comm_size(bad, &number));
    EXPECT_RC(CTRAN_ERR_COMM, ctran_comm_compare(bad, CTRAN_COMM_WORLD, &number));
    EXPECT_RC(CTRAN_ERR_COMM, ctran_comm_compare(CTRAN_COMM_WORLD, bad, &number));
    EXPECT_EQ(-5, number);
    EXPECT_RC(CTRAN_ERR_COMM, ctran_comm_dup(bad, &made));
    EXPECT_RC(CTRAN_ERR_COMM, ctran_comm_split(bad, 0, 0, &made));
    EXPECT_PTR(CTRAN_COMM_SELF, made);
    EXPECT_RC(CTRAN_ERR_COMM, ctran_comm_free(&gone));
    EXPECT_PTR(bad, gone);
    EXPECT_RC(CTRAN_ERR_COMM, ctran_comm_set_errhandler(bad, CTRAN_ERRORS_RETURN));
    EXPECT_RC(CTRAN_ERR_COMM, ctran_comm_get_errhandler(bad, &handler));
    EXPECT_PTR(CTRAN_ERRHANDLER_NULL, handler);
    EXPECT_RC(CTRAN_ERR_COMM, ctran_comm_call_errhandler(bad, CTRAN_ERR_OTHER));
    EXPECT_RC(CTRAN_ERR_COMM, ctran_barrier(bad));
    EXPECT_RC(CTRAN_ERR_COMM, ctran_bcast(&value, 1, CTRAN_INT, 0, bad));
    EXPECT_RC(CTRAN_ERR_COMM, ctran_reduce(&value, &other, 1, CTRAN_INT, CTRAN_SUM, 0, bad));
    EXPECT_RC(CTRAN_ERR_COMM, ctran_allreduce(&value, &other, 1, CTRAN_INT, CTRAN_SUM, bad));
    EXPECT_RC(CTRAN_ERR_COMM, ctran_allgather(&value, 1, CTRAN_INT, &other, 1, CTRAN_INT, bad));
    EXPECT_RC(CTRAN_ERR_COMM,
              ctran_reduce_scatter_block(&value, &other, 1, CTRAN_INT, CTRAN_SUM, bad));
}

static void communicators(void)
{
    const ctran_comm_t world = CTRAN_COMM_WORLD;
    ctran_comm_t       made = CTRAN_COMM_SELF, fixed = world;
    bad_comm(CTRAN_COMM_NULL);
    bad_comm(NULL);
    bad_comm(freed_comm());
    bad_comm((ctran_comm_t)CTRAN_INT);
    EXPECT_RC(CTRAN_ERR_COMM, ctran_comm_free(&fixed));
    EXPECT_PTR(world, fixed);
    fixed = CTRAN_COMM_SELF;
    EXPECT_RC(CTRAN_ERR_COMM, ctran_comm_free(&fixed));
    EXPECT_PTR(CTRAN_COMM_SELF, fixed);
    EXPECT_RC(CTRAN_ERR_ARG, ctran_comm_split(world, -1, 0, &made));
    EXPECT_PTR(CTRAN_COMM_SELF, made);
    EXPECT_RC(CTRAN_ERR_ERRHANDLER, ctran_comm_set_errhandler(world, CTRAN_ERRHANDLER_NULL));
    EXPECT_RC(CTRAN_ERR_ERRHANDLER, ctran_comm_set_errhandler(world, NULL));
    EXPECT_RC(CTRAN_ERR_ERRHANDLER,
              ctran_comm_set_errhandler(world, (ctran_errhandler_t)CTRAN_INT));
    OK(ctran_comm_call_errhandler(world, CTRAN_ERR_TAG));
    OK(ctran_comm_call_errhandler(world, CTRAN_SUCCESS));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_comm_call_errhandler(world, 12345));
}

/* ---- collectives: the same bad argument at every rank ---------------------------------------- */

static void bad_vector(int code, void *buf, ctran_count_t count, ctran_datatype_t type)
{
    const ctran_comm_t world = CTRAN_COMM_WORLD, self = CTRAN_COMM_SELF;
    EXPECT_RC(code, ctran_bcast(buf, count, type, 0, world));
    EXPECT_RC(code, ctran_reduce(buf, &other, count, type, CTRAN_SUM, 0, world));
    EXPECT_RC(code, ctran_allreduce(buf, &other, count, type, CTRAN_SUM, world));
    EXPECT_RC(code, ctran_allreduce(&other, buf, count, type, CTRAN_SUM, world));
    EXPECT_RC(code, ctran_allreduce(CTRAN_IN_PLACE, buf, count, type, CTRAN_SUM, world));
    EXPECT_RC(code, ctran_allgather(buf, count, type, &other, 1, CTRAN_INT, world));
    EXPECT_RC(code, ctran_allgather(&other, 1, CTRAN_INT, buf, count, type, world));
    EXPECT_RC(code, ctran_allgather(CTRAN_IN_PLACE, 1, CTRAN_INT, buf, count, type, world));
    EXPECT_RC(code, ctran_reduce_local(buf, &other, count, type, CTRAN_SUM));
    EXPECT_RC(code, ctran_reduce_local(&other, buf, count, type, CTRAN_SUM));
    EXPECT_RC(code, ctran_scan(buf, &other, count, type, CTRAN_SUM, world));
    EXPECT_RC(code, ctran_exscan(buf, &other, count, type, CTRAN_SUM, world));
    EXPECT_RC(code, ctran_gather(CTRAN_IN_PLACE, 1, CTRAN_INT, buf, count, type, 0, self));
    EXPECT_RC(code, ctran_gather(buf, count, type, &other, 1, CTRAN_INT, 0, world));
    EXPECT_RC(code, ctran_scatter(buf, count, type, CTRAN_IN_PLACE, 1, CTRAN_INT, 0, self));
    EXPECT_RC(code, ctran_scatter(&other, 1, CTRAN_INT, buf, count, type, 0, world));
    EXPECT_RC(code, ctran_alltoall(buf, count, type, &other, 1, CTRAN_INT, world));
    EXPECT_RC(code, ctran_alltoall(CTRAN_IN_PLACE, 1, CTRAN_INT, buf, count, type, world));
    EXPECT_RC(code, ctran_reduce_scatter_block(buf, &other, count, type, CTRAN_SUM, world));
    EXPECT_RC(code, ctran_reduce_scatter_block(&other, buf, count, type, CTRAN_SUM, world));
}

/* Counts and displacements, one of each a rank. */
static void bad_arrays(void)
{
    const ctran_comm_t  self = CTRAN_COMM_SELF;
    const ctran_count_t one[] = {1}, two[] = {2}, below[] = {-1};
    const ctran_aint_t  here[] = {0}, far[] = {INTPTR_MAX};
    EXPECT_RC(CTRAN_ERR_ARG,
              ctran_reduce_scatter(&value, &other, NULL, CTRAN_INT, CTRAN_SUM, self));
    EXPECT_RC(CTRAN_ERR_COUNT,
              ctran_reduce_scatter(&value, &other, below, CTRAN_INT, CTRAN_SUM, self));
    EXPECT_RC(CTRAN_ERR_BUFFER,
              ctran_reduce_scatter(&value, &value, one, CTRAN_INT, CTRAN_SUM, self));
    EXPECT_RC(CTRAN_ERR_BUFFER,
              ctran_reduce_scatter(&value, NULL, one, CTRAN_INT, CTRAN_SUM, self));
    EXPECT_RC(CTRAN_ERR_ARG,
              ctran_allgatherv(&value, 1, CTRAN_INT, &other, NULL, here, CTRAN_INT, self));
    EXPECT_RC(CTRAN_ERR_ARG,
              ctran_gatherv(&value, 1, CTRAN_INT, &other, one, NULL, CTRAN_INT, 0, self));
    EXPECT_RC(CTRAN_ERR_ARG,
              ctran_scatterv(&value, one, far, CTRAN_INT, &other, 1, CTRAN_INT, 0, self));
    EXPECT_RC(CTRAN_ERR_COUNT,
              ctran_allgatherv(&value, 1, CTRAN_INT, &other, two, here, CTRAN_INT, self));
    EXPECT_RC(CTRAN_ERR_COUNT,
              ctran_gatherv(&value, 1, CTRAN_INT, &other, below, here, CTRAN_INT, 0, self));
    EXPECT_RC(CTRAN_ERR_COUNT,
              ctran_alltoallv(&value, one, here, CTRAN_INT, &other, two, here, CTRAN_INT, self));
    EXPECT_RC(CTRAN_ERR_BUFFER,
              ctran_alltoallv(NULL, one, here, CTRAN_INT, &other, one, here, CTRAN_INT, self));
    EXPECT_RC(CTRAN_ERR_ROOT,
              ctran_gatherv(&value, 1, CTRAN_INT, &other, one, here, CTRAN_INT, 1, self));
    EXPECT_RC(CTRAN_ERR_ROOT,
              ctran_scatterv(&value, one, here, CTRAN_INT, &other, 1, CTRAN_INT, -1, self));
}

/* Buffers that overlap, wherever that can be told; neighbours and the gaps of others are free. */
static void overlaps(void)
{
    const ctran_comm_t     self = CTRAN_COMM_SELF;
    const ctran_count_t    two[1] = {2};
    const ctran_aint_t     here[1] = {0}, next[1] = {1}, four[1] = {4};
    const ctran_datatype_t ints[1] = {CTRAN_INT};
    ctran_datatype_t       every_second;
    int                    a[6] = {1, 2, 3, 4, 5, 6};
    EXPECT_RC(CTRAN_ERR_BUFFER, ctran_allgather(a, 2, CTRAN_INT, a + 1, 2, CTRAN_INT, self));
    EXPECT_RC(CTRAN_ERR_BUFFER, ctran_gather(a + 1, 2, CTRAN_INT, a, 2, CTRAN_INT, 0, self));
    EXPECT_RC(CTRAN_ERR_BUFFER, ctran_scatter(a, 2, CTRAN_INT, a, 2, CTRAN_INT, 0, self));
    EXPECT_RC(CTRAN_ERR_BUFFER, ctran_alltoall(a, 2, CTRAN_INT, a + 1, 2, CTRAN_INT, self));
    EXPECT_RC(CTRAN_ERR_BUFFER, ctran_allgatherv(a, 2, CTRAN_INT, a, two, next, CTRAN_INT, self));
    EXPECT_RC(CTRAN_ERR_BUFFER,
              ctran_gatherv(a + 1, 2, CTRAN_INT, a, two, here, CTRAN_INT, 0, self));
    EXPECT_RC(CTRAN_ERR_BUFFER,
              ctran_scatterv(a, two, here, CTRAN_INT, a + 1, 2, CTRAN_INT, 0, self));
    EXPECT_RC(CTRAN_ERR_BUFFER,
              ctran_alltoallv(a, two, here, CTRAN_INT, a, two, next, CTRAN_INT, self));
    EXPECT_RC(CTRAN_ERR_BUFFER, ctran_alltoallw(a, two, here, ints, a, two, four, ints, self));
    EXPECT_RC(CTRAN_ERR_BUFFER, ctran_allreduce(a, a + 1, 2, CTRAN_INT, CTRAN_SUM, self));
    EXPECT_RC(CTRAN_ERR_BUFFER, ctran_reduce(a + 1, a, 2, CTRAN_INT, CTRAN_SUM, 0, self));
    EXPECT_RC(CTRAN_ERR_BUFFER, ctran_scan(a, a, 2, CTRAN_INT, CTRAN_SUM, self));
    EXPECT_RC(CTRAN_ERR_BUFFER, ctran_exscan(a, a, 2, CTRAN_INT, CTRAN_SUM, self));
    EXPECT_RC(CTRAN_ERR_BUFFER, ctran_reduce_scatter(a, a + 1, two, CTRAN_INT, CTRAN_SUM, self));
    EXPECT_RC(CTRAN_ERR_BUFFER,
              ctran_reduce_scatter_block(a, a + 1, 2, CTRAN_INT, CTRAN_SUM, self));
    EXPECT_RC(CTRAN_ERR_BUFFER, ctran_reduce_local(a, a + 1, 2, CTRAN_INT, CTRAN_SUM));
    int *all = calloc((size_t)check_size, sizeof *all);
    EXPECT_RC(CTRAN_ERR_BUFFER, ctran_reduce_scatter_block(all, all + check_size - 1, 1, CTRAN_INT,
                                                           CTRAN_SUM, CTRAN_COMM_WORLD));
    free(all);
    for (int i = 0; i < 6; i++) {
        EXPECT_EQ(i + 1, a[i]);
    }
    OK(ctran_type_vector(3, 1, 2, CTRAN_INT, &every_second));
    OK(ctran_type_commit(&every_second));
    EXPECT_RC(CTRAN_ERR_BUFFER, ctran_allgather(a, 1, every_second, a, 1, every_second, self));
    OK(ctran_allgather(a, 1, every_second, a + 1, 1, every_second, self));
    EXPECT(a[1] == 1 && a[3] == 3 && a[5] == 5 && a[2] == 3);
    OK(ctran_type_free(&every_second));
    OK(ctran_allgather(a, 3, CTRAN_INT, a + 3, 3, CTRAN_INT, self));
    EXPECT(a[3] == 1 && a[4] == 1 && a[5] == 3);
}

static void bad_op(ctran_op_t op, ctran_datatype_t type)
{
    static double      blocks[64]; /* one for each rank, of whatever type */
    const ctran_comm_t world = CTRAN_COMM_WORLD;
    EXPECT_RC(CTRAN_ERR_OP, ctran_reduce(&real, &real_out, 1, type, op, 0, world));
    EXPECT_RC(CTRAN_ERR_OP, ctran_allreduce(&real, &real_out, 1, type, op, world));
    EXPECT_RC(CTRAN_ERR_OP, ctran_allreduce(&real, &real_out, 0, type, op, world));
    EXPECT_RC(CTRAN_ERR_OP, ctran_reduce_local(&real, &real_out, 1, type, op));
    EXPECT_RC(CTRAN_ERR_OP, ctran_scan(&real, &real_out, 1, type, op, world));
    EXPECT_RC(CTRAN_ERR_OP, ctran_exscan(&real, &real_out, 1, type, op, world));
    EXPECT_RC(CTRAN_ERR_OP, ctran_reduce_scatter_block(blocks, &real_out, 1, type, op, world));
}

static void do_nothing(void *in, void *inout, ctran_count_t *len, ctran_datatype_t *type)
{
    (void)in, (void)inout, (void)len, (void)type;
}

static void bad_operators(void)
{
    ctran_op_t op = CTRAN_SUM, none = CTRAN_OP_NULL, wild = WILD_OP;
    int        commute;
    EXPECT_RC(CTRAN_ERR_ARG, ctran_op_create(NULL, 1, &op));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_op_create(do_nothing, 1, NULL));
    EXPECT_RC(CTRAN_ERR_OP, ctran_op_free(&op));
    EXPECT_RC(CTRAN_ERR_OP, ctran_op_free(&none));
    EXPECT_RC(CTRAN_ERR_OP, ctran_op_free(&wild));
    EXPECT_RC(CTRAN_ERR_OP, ctran_op_commutative(CTRAN_OP_NULL, &commute));
    EXPECT_PTR(CTRAN_SUM, op);
}

static void bad_root(int root)
{
    EXPECT_RC(CTRAN_ERR_ROOT, ctran_bcast(&value, 1, CTRAN_INT, root, CTRAN_COMM_WORLD));
    EXPECT_RC(CTRAN_ERR_ROOT,
              ctran_reduce(&value, &other, 1, CTRAN_INT, CTRAN_SUM, root, CTRAN_COMM_WORLD));
    EXPECT_RC(CTRAN_ERR_ROOT,
              ctran_gather(&value, 1, CTRAN_INT, &other, 1, CTRAN_INT, root, CTRAN_COMM_WORLD));
    EXPECT_RC(CTRAN_ERR_ROOT,
              ctran_scatter(&value, 1, CTRAN_INT, &other, 1, CTRAN_INT, root, CTRAN_COMM_WORLD));
}

static void collectives(void)
{
    const ctran_comm_t world = CTRAN_COMM_WORLD;
    bad_vector(CTRAN_ERR_COUNT, &value, -1, CTRAN_INT);
    bad_vector(CTRAN_ERR_COUNT, &value, INT64_MAX, CTRAN_DOUBLE);
    bad_vector(CTRAN_ERR_TYPE, &value, 1, CTRAN_DATATYPE_NULL);
    bad_vector(CTRAN_ERR_TYPE, &value, 1, WILD_TYPE);
    bad_vector(CTRAN_ERR_BUFFER, NULL, 1, CTRAN_INT);
    EXPECT_RC(CTRAN_ERR_BUFFER, ctran_bcast(CTRAN_IN_PLACE, 1, CTRAN_INT, 0, world));
    EXPECT_RC(CTRAN_ERR_BUFFER,
              ctran_allreduce(&value, CTRAN_IN_PLACE, 1, CTRAN_INT, CTRAN_SUM, world));
    bad_op(CTRAN_OP_NULL, CTRAN_DOUBLE);
    bad_op(NULL, CTRAN_DOUBLE);
    bad_op(WILD_OP, CTRAN_DOUBLE);
    bad_op(CTRAN_BAND, CTRAN_DOUBLE);
    bad_op(CTRAN_LXOR, CTRAN_FLOAT16);
    bad_op(CTRAN_SUM, CTRAN_C_BOOL);
    bad_op(CTRAN_BOR, CTRAN_C_BOOL);
    bad_op(CTRAN_SUM, CTRAN_BYTE);
    bad_op(CTRAN_LAND, CTRAN_BYTE);
    bad_op(CTRAN_MAX, CTRAN_PACKED);
    bad_op(CTRAN_BAND, CTRAN_WCHAR);
    bad_op(CTRAN_MIN, CTRAN_C_DOUBLE_COMPLEX);
    bad_op(CTRAN_MINLOC, CTRAN_DOUBLE);
    bad_op(CTRAN_SUM, CTRAN_DOUBLE_INT);
    bad_op(CTRAN_REPLACE, CTRAN_DOUBLE);
    bad_op(CTRAN_NO_OP, CTRAN_DOUBLE);
    bad_operators();
    bad_arrays();
    bad_root(check_size);
    bad_root(-1);
    bad_root(CTRAN_PROC_NULL);
    bad_root(CTRAN_ROOT);
    /* The result may not lie on the input. */
    EXPECT_RC(CTRAN_ERR_BUFFER, ctran_allreduce(&value, &value, 1, CTRAN_INT, CTRAN_SUM, world));
    EXPECT_RC(CTRAN_ERR_BUFFER,
              ctran_reduce(&value, &value, 1, CTRAN_INT, CTRAN_SUM, 0, CTRAN_COMM_SELF));
    EXPECT_RC(CTRAN_ERR_BUFFER,
              ctran_reduce_scatter_block(&value, &value, 1, CTRAN_INT, CTRAN_SUM, world));
    EXPECT_RC(CTRAN_ERR_COUNT, ctran_allgather(&value, 1, CTRAN_INT, &other, 2, CTRAN_INT, world));
    EXPECT_RC(CTRAN_ERR_COUNT, ctran_alltoall(&value, 1, CTRAN_INT, &other, 2, CTRAN_INT, world));
}

/* ---- calls at the wrong time ----------------------------------------------------------------- */

/* Every kind of call that needs the job. */
static void all_fail(void)
{
    ctran_request_t    request = CTRAN_REQUEST_NULL;
    ctran_comm_t       comm = CTRAN_COMM_SELF;
    ctran_errhandler_t handler = CTRAN_ERRHANDLER_NULL;
    ctran_status_t     status = {0};
    ctran_count_t      count = -5;
    int                n = -5;
    char               name[CTRAN_MAX_PROCESSOR_NAME];
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_query_thread(&n));
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_is_thread_main(&n));
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_get_processor_name(name, &n));
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_comm_rank(CTRAN_COMM_WORLD, &n));
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_comm_size(CTRAN_COMM_WORLD, &n));
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_comm_compare(CTRAN_COMM_WORLD, CTRAN_COMM_SELF, &n));
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_comm_dup(CTRAN_COMM_SELF, &comm));
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_comm_split(CTRAN_COMM_SELF, 0, 0, &comm));
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_comm_free(&comm));
    EXPECT_PTR(CTRAN_COMM_SELF, comm);
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_comm_set_errhandler(CTRAN_COMM_SELF, CTRAN_ERRORS_RETURN));
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_comm_get_errhandler(CTRAN_COMM_SELF, &handler));
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_comm_call_errhandler(CTRAN_COMM_SELF, CTRAN_ERR_TAG));
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_send(&value, 1, CTRAN_INT, 0, 0, CTRAN_COMM_SELF));
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_recv(&other, 1, CTRAN_INT, 0, 0, CTRAN_COMM_SELF, &status));
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_isend(&value, 1, CTRAN_INT, 0, 0, CTRAN_COMM_SELF, &request));
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_irecv(&other, 1, CTRAN_INT, 0, 0, CTRAN_COMM_SELF, &request));
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_sendrecv(&value, 1, CTRAN_INT, 0, 0, &other, 1, CTRAN_INT, 0,
                                              0, CTRAN_COMM_SELF, &status));
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_get_count(&status, CTRAN_INT, &count));
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_type_size(CTRAN_INT, &count));
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_wait(&request, &status));
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_testall(1, &request, &n, &status));
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_waitany(1, &request, &n, &status));
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_request_free(&request));
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_barrier(CTRAN_COMM_SELF));
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_bcast(&value, 1, CTRAN_INT, 0, CTRAN_COMM_SELF));
    EXPECT_RC(CTRAN_ERR_OTHER,
              ctran_allreduce(&value, &other, 1, CTRAN_INT, CTRAN_SUM, CTRAN_COMM_SELF));
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_finalize());
    EXPECT_EQ(-5, n);
    EXPECT_EQ(-5, count);
    EXPECT_EQ(7, value);
    EXPECT_EQ(8, other);
}

/* What may be called at any time. */
static void always(int initialized, int finalized)
{
    static char library[CTRAN_MAX_LIBRARY_VERSION_STRING];
    char        text[CTRAN_MAX_ERROR_STRING];
    int         a = -1, b = -1;
    OK(ctran_initialized(&a));
    OK(ctran_finalized(&b));
    EXPECT_EQ(initialized, a);
    EXPECT_EQ(finalized, b);
    OK(ctran_get_version(&a, &b));
    EXPECT_EQ(CTRAN_VERSION, a);
    EXPECT_EQ(CTRAN_SUBVERSION, b);
    OK(ctran_get_library_version(library, &a));
    EXPECT_EQ(strlen(library), a);
    EXPECT(strncmp(library, "ctran ", 6) == 0);
    OK(ctran_error_string(CTRAN_ERR_TRUNCATE, text, &a));
    EXPECT_EQ(strlen(text), a);
    EXPECT(strstr(text, "ERR_TRUNCATE") != NULL);
    OK(ctran_error_class(CTRAN_ERR_TRUNCATE, &a));
    EXPECT_EQ(CTRAN_ERR_TRUNCATE, a);
    a = -5;
    EXPECT_RC(CTRAN_ERR_ARG, ctran_error_string(12345, text, &a));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_error_class(-1, &a));
    EXPECT_EQ(-5, a);
    const double before = ctran_wtime();
    EXPECT(before > 0 && ctran_wtime() >= before);
    EXPECT(ctran_wtick() > 0 && ctran_wtick() < 1);
}

/* NULL with displacements that are no addresses, or are. */
static void displaced_from_null(void)
{
    const ctran_comm_t     self = CTRAN_COMM_SELF;
    const ctran_count_t    two[1] = {2};
    const ctran_datatype_t ints[1] = {CTRAN_INT};
    int                    from[2] = {7, 8}, to[2] = {0, 0};
    ctran_aint_t           here[1] = {0}, far[1] = {1 << 20}, from_at[1], to_at[1];
    EXPECT_RC(CTRAN_ERR_BUFFER, ctran_alltoallw(NULL, two, far, ints, to, two, here, ints, self));
    EXPECT_RC(CTRAN_ERR_BUFFER, ctran_alltoallw(from, two, here, ints, NULL, two, far, ints, self));
    EXPECT_RC(CTRAN_ERR_BUFFER, ctran_alltoallw(NULL, two, here, ints, to, two, here, ints, self));
    OK(ctran_get_address(from, from_at));
    OK(ctran_get_address(to, to_at));
    OK(ctran_alltoallw(CTRAN_BOTTOM, two, from_at, ints, CTRAN_BOTTOM, two, to_at, ints, self));
    EXPECT(to[0] == 7 && to[1] == 8);
}

static void init_again(void)
{
    int level = -5;
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_init(NULL, NULL));
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_init_thread(NULL, NULL, CTRAN_THREAD_SINGLE, &level));
    EXPECT_EQ(-5, level);
}

/* The child has no ctran; the parent goes on as if nothing had been. */
static void after_fork(void)
{
    const pid_t child = fork();
    int         status = -1;
    EXPECT(child >= 0);
    if (child == 0) {
        int n = -5;
        int wrong = ctran_comm_rank(CTRAN_COMM_WORLD, &n) != CTRAN_ERR_OTHER || n != -5;
        wrong += ctran_send(&value, 1, CTRAN_INT, 0, 0, CTRAN_COMM_SELF) != CTRAN_ERR_OTHER;
        wrong += ctran_barrier(CTRAN_COMM_WORLD) != CTRAN_ERR_OTHER;
        wrong += ctran_finalize() != CTRAN_ERR_OTHER;
        wrong += ctran_init(NULL, NULL) != CTRAN_ERR_OTHER;
        _exit(wrong);
    }
    EXPECT(waitpid(child, &status, 0) == child);
    EXPECT(WIFEXITED(status));
    EXPECT_EQ(0, WEXITSTATUS(status));
}

static void after_and_works(void (*subject)(void))
{
    subject();
    still_works();
}

int main(int argc, char **argv)
{
    static void (*const subjects[])(void) = {
        transfers, inquiries,           requests,    communicators, collectives,
        overlaps,  displaced_from_null, errors_null, init_again,    after_fork,
    };
    int level = -5;
    check_errors_return();
    always(0, 0);
    all_fail();
    EXPECT_RC(CTRAN_ERR_ARG, ctran_init_thread(NULL, NULL, 17, &level));
    EXPECT_EQ(-5, level);
    check_start(argc, argv);
    always(1, 0);
    OK(ctran_query_thread(&level));
    EXPECT_EQ(CTRAN_THREAD_SINGLE, level);
    /* Errors without a communicator, or with one that is none, are for COMM_SELF's handler. */
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_RETURN));
    OK(ctran_comm_set_errhandler(CTRAN_COMM_SELF, CTRAN_ERRORS_RETURN));
    for (size_t i = 0; i < LEN(subjects); i++) {
        after_and_works(subjects[i]);
    }
    OK(ctran_finalize());
    always(1, 1);
    all_fail();
    return 0;
}
