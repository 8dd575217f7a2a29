/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * errors_null - a result that has no place to go is an error of the communicator that the call is
 * about, and nothing happens: no request is left, no message sent, no object made. Run by errors.c.
 */
#include "errors.h"

static ctran_comm_t asked;
static int          calls;

static void count_calls(ctran_comm_t *comm, int *error_code, ...)
{
    asked = *comm;
    calls++;
    EXPECT_EQ(CTRAN_ERR_ARG, *error_code);
}

/* Fails with CTRAN_ERR_ARG, told to the handler of `comm`, once. */
#define NULL_IS_TOLD(comm, call)                                                                   \
    do {                                                                                           \
        calls = 0;                                                                                 \
        EXPECT_RC(CTRAN_ERR_ARG, call);                                                            \
        EXPECT_EQ(1, calls);                                                                       \
        EXPECT_PTR(comm, asked);                                                                   \
    } while (0)

static void of_communicators(ctran_comm_t c)
{
    ctran_group_t   group;
    ctran_comm_t    made;
    ctran_request_t request;
    int             flag;
    OK(ctran_comm_group(c, &group));
    NULL_IS_TOLD(c, ctran_comm_size(c, NULL));
    NULL_IS_TOLD(c, ctran_comm_rank(c, NULL));
    NULL_IS_TOLD(c, ctran_comm_compare(c, c, NULL));
    NULL_IS_TOLD(c, ctran_comm_group(c, NULL));
    NULL_IS_TOLD(c, ctran_comm_test_inter(c, NULL));
    NULL_IS_TOLD(c, ctran_comm_dup(c, NULL));
    NULL_IS_TOLD(c, ctran_comm_dup_with_info(c, CTRAN_INFO_NULL, NULL));
    NULL_IS_TOLD(c, ctran_comm_idup(c, NULL, &request));
    NULL_IS_TOLD(c, ctran_comm_idup(c, &made, NULL));
    NULL_IS_TOLD(c, ctran_comm_split(c, 0, 0, NULL));
    NULL_IS_TOLD(c, ctran_comm_split_type(c, CTRAN_COMM_TYPE_SHARED, 0, CTRAN_INFO_NULL, NULL));
    NULL_IS_TOLD(c, ctran_comm_create(c, group, NULL));
    NULL_IS_TOLD(c, ctran_comm_create_group(c, group, 0, NULL));
    NULL_IS_TOLD(c, ctran_intercomm_create(c, 0, c, 0, 0, NULL));
    NULL_IS_TOLD(c, ctran_comm_get_info(c, NULL));
    NULL_IS_TOLD(c, ctran_comm_get_errhandler(c, NULL));
    NULL_IS_TOLD(c, ctran_comm_get_attr(c, CTRAN_TAG_UB, NULL, &flag));
    NULL_IS_TOLD(c, ctran_comm_get_attr(c, CTRAN_TAG_UB, &made, NULL));
    OK(ctran_group_free(&group));
}

static void of_topologies(ctran_comm_t c)
{
    const int    dims[1] = {1}, periods[1] = {1}, index[1] = {0}, edges[1] = {0};
    ctran_comm_t cart;
    int          rank;
    OK(ctran_cart_create(c, 1, &check_size, periods, 0, &cart));
    NULL_IS_TOLD(c, ctran_cart_create(c, 1, dims, periods, 0, NULL));
    NULL_IS_TOLD(c, ctran_cart_map(c, 1, dims, periods, NULL));
    NULL_IS_TOLD(c, ctran_graph_create(c, 1, index, edges, 0, NULL));
    NULL_IS_TOLD(c, ctran_graph_map(c, 1, index, edges, NULL));
    NULL_IS_TOLD(c, ctran_dist_graph_create(c, 0, NULL, NULL, NULL, CTRAN_UNWEIGHTED,
                                            CTRAN_INFO_NULL, 0, NULL));
    NULL_IS_TOLD(c, ctran_topo_test(c, NULL));
    NULL_IS_TOLD(cart, ctran_cartdim_get(cart, NULL));
    NULL_IS_TOLD(cart, ctran_cart_get(cart, 1, NULL, &rank, &rank));
    NULL_IS_TOLD(cart, ctran_cart_get(cart, 1, &rank, NULL, &rank));
    NULL_IS_TOLD(cart, ctran_cart_get(cart, 1, &rank, &rank, NULL));
    NULL_IS_TOLD(cart, ctran_cart_rank(cart, dims, NULL));
    NULL_IS_TOLD(cart, ctran_cart_coords(cart, 0, 1, NULL));
    NULL_IS_TOLD(cart, ctran_cart_shift(cart, 0, 1, NULL, &rank));
    NULL_IS_TOLD(cart, ctran_cart_shift(cart, 0, 1, &rank, NULL));
    NULL_IS_TOLD(cart, ctran_cart_sub(cart, dims, NULL));
    OK(ctran_comm_free(&cart));
}

/* Whatever was sent in spite of the error would be found by a probe. */
static void of_transfers(ctran_comm_t c)
{
    const int       me = check_rank;
    int             in = 0, flag = 1;
    ctran_message_t message;
    NULL_IS_TOLD(c, ctran_isend(&me, 1, CTRAN_INT, me, 1, c, NULL));
    NULL_IS_TOLD(c, ctran_issend(&me, 1, CTRAN_INT, me, 1, c, NULL));
    NULL_IS_TOLD(c, ctran_irsend(&me, 1, CTRAN_INT, me, 1, c, NULL));
    NULL_IS_TOLD(c, ctran_ibsend(&me, 1, CTRAN_INT, me, 1, c, NULL));
    NULL_IS_TOLD(c, ctran_irecv(&in, 1, CTRAN_INT, me, 1, c, NULL));
    NULL_IS_TOLD(c, ctran_isendrecv(&me, 1, CTRAN_INT, me, 1, &in, 1, CTRAN_INT, me, 1, c, NULL));
    NULL_IS_TOLD(c, ctran_isendrecv_replace(&in, 1, CTRAN_INT, me, 1, me, 1, c, NULL));
    NULL_IS_TOLD(c, ctran_send_init(&me, 1, CTRAN_INT, me, 1, c, NULL));
    NULL_IS_TOLD(c, ctran_recv_init(&in, 1, CTRAN_INT, me, 1, c, NULL));
    NULL_IS_TOLD(c, ctran_psend_init(&me, 1, 1, CTRAN_INT, me, 1, c, CTRAN_INFO_NULL, NULL));
    NULL_IS_TOLD(c, ctran_iprobe(me, 1, c, NULL, CTRAN_STATUS_IGNORE));
    NULL_IS_TOLD(c, ctran_improbe(me, 1, c, NULL, &message, CTRAN_STATUS_IGNORE));
    NULL_IS_TOLD(c, ctran_improbe(me, 1, c, &flag, NULL, CTRAN_STATUS_IGNORE));
    NULL_IS_TOLD(c, ctran_mprobe(me, 1, c, NULL, CTRAN_STATUS_IGNORE));
    NULL_IS_TOLD(c, ctran_pack_size(1, CTRAN_INT, c, NULL));
    OK(ctran_iprobe(CTRAN_ANY_SOURCE, CTRAN_ANY_TAG, c, &flag, CTRAN_STATUS_IGNORE));
    EXPECT_EQ(0, flag);
}

/* Calls without a communicator ask self's handler. */
static void of_others(void)
{
    const ctran_comm_t  self = CTRAN_COMM_SELF;
    const ctran_count_t numbers[1] = {1};
    ctran_request_t     request;
    ctran_group_t       group;
    ctran_count_t       n;
    ctran_status_t      status = {0};
    int                 flag;
    OK(ctran_comm_group(CTRAN_COMM_WORLD, &group));
    NULL_IS_TOLD(self, ctran_group_size(group, NULL));
    NULL_IS_TOLD(self, ctran_group_rank(group, NULL));
    NULL_IS_TOLD(self, ctran_group_compare(group, group, NULL));
    NULL_IS_TOLD(self, ctran_group_union(group, group, NULL));
    NULL_IS_TOLD(self, ctran_group_incl(group, 0, NULL, NULL));
    NULL_IS_TOLD(self, ctran_group_range_excl(group, 0, NULL, NULL));
    NULL_IS_TOLD(self, ctran_group_translate_ranks(group, 1, &check_rank, group, NULL));
    OK(ctran_group_free(&group));
    NULL_IS_TOLD(self, ctran_type_size(CTRAN_INT, NULL));
    NULL_IS_TOLD(self, ctran_type_get_extent(CTRAN_INT, &n, NULL));
    NULL_IS_TOLD(self, ctran_type_get_extent(CTRAN_INT, NULL, &n));
    NULL_IS_TOLD(self, ctran_type_get_true_extent(CTRAN_INT, &n, NULL));
    NULL_IS_TOLD(self, ctran_type_contiguous(1, CTRAN_INT, NULL));
    NULL_IS_TOLD(self, ctran_type_vector(1, 1, 1, CTRAN_INT, NULL));
    NULL_IS_TOLD(self, ctran_type_indexed(1, numbers, numbers, CTRAN_INT, NULL));
    NULL_IS_TOLD(self, ctran_type_create_struct(0, NULL, NULL, NULL, NULL));
    NULL_IS_TOLD(self, ctran_type_create_resized(CTRAN_INT, 0, 4, NULL));
    NULL_IS_TOLD(self, ctran_type_dup(CTRAN_INT, NULL));
    NULL_IS_TOLD(self, ctran_type_get_envelope(CTRAN_INT, &n, &n, &n, &n, NULL));
    NULL_IS_TOLD(self, ctran_get_count(&status, CTRAN_INT, NULL));
    NULL_IS_TOLD(self, ctran_get_elements(&status, CTRAN_INT, NULL));
    NULL_IS_TOLD(self, ctran_op_commutative(CTRAN_SUM, NULL));
    NULL_IS_TOLD(self, ctran_comm_create_keyval(NULL, NULL, NULL, NULL));
    NULL_IS_TOLD(self, ctran_grequest_start(NULL, NULL, NULL, NULL, NULL));
    NULL_IS_TOLD(self, ctran_query_thread(NULL));
    OK(ctran_irecv(&flag, 1, CTRAN_INT, 0, 1, self, &request));
    NULL_IS_TOLD(self, ctran_test(&request, NULL, &status));
    NULL_IS_TOLD(self, ctran_testall(1, &request, NULL, &status));
    NULL_IS_TOLD(self, ctran_waitany(1, &request, NULL, &status));
    NULL_IS_TOLD(self, ctran_testany(1, &request, NULL, &flag, &status));
    NULL_IS_TOLD(self, ctran_testsome(1, &request, NULL, &flag, &status));
    NULL_IS_TOLD(self, ctran_testsome(1, &request, &flag, NULL, &status));
    NULL_IS_TOLD(self, ctran_request_get_status(request, NULL, &status));
    NULL_IS_TOLD(self, ctran_request_get_status_any(1, &request, NULL, &flag, &status));
    OK(ctran_cancel(&request));
    OK(ctran_wait(&request, &status));
}

/* Where there is no communicator yet, the handler that it would have is asked. */
static void of_nothing(ctran_errhandler_t handler)
{
    ctran_group_t group;
    OK(ctran_comm_group(CTRAN_COMM_SELF, &group));
    OK(ctran_comm_set_errhandler(CTRAN_COMM_SELF, CTRAN_ERRORS_RETURN));
    NULL_IS_TOLD(CTRAN_COMM_NULL,
                 ctran_comm_create_from_group(group, "tag", CTRAN_INFO_NULL, handler, NULL));
    OK(ctran_group_free(&group));
}

void errors_null(void)
{
    ctran_errhandler_t handler;
    ctran_comm_t       comm;
    OK(ctran_comm_create_errhandler(count_calls, &handler));
    OK(ctran_comm_dup(CTRAN_COMM_WORLD, &comm));
    OK(ctran_comm_set_errhandler(comm, handler));
    OK(ctran_comm_set_errhandler(CTRAN_COMM_SELF, handler));
    of_communicators(comm);
    of_topologies(comm);
    of_transfers(comm);
    OK(ctran_comm_free(&comm));
    of_others();
    of_nothing(handler);
    /* Possible at any time. */
    OK(ctran_comm_set_errhandler(CTRAN_COMM_SELF, handler));
    NULL_IS_TOLD(CTRAN_COMM_SELF, ctran_initialized(NULL));
    NULL_IS_TOLD(CTRAN_COMM_SELF, ctran_finalized(NULL));
    NULL_IS_TOLD(CTRAN_COMM_SELF, ctran_get_version(NULL, NULL));
    NULL_IS_TOLD(CTRAN_COMM_SELF, ctran_get_library_version(NULL, NULL));
    NULL_IS_TOLD(CTRAN_COMM_SELF, ctran_get_address(NULL, NULL));
    OK(ctran_comm_set_errhandler(CTRAN_COMM_SELF, CTRAN_ERRORS_RETURN));
    OK(ctran_errhandler_free(&handler));
}
