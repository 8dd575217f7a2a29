/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * grequest - generalized requests: their functions are called when they should be and as often, by
 * every call that completes requests, among requests of other kinds, and with a thread that does
 * the work. Usage: grequest [SEED]
 */
#include <pthread.h>

#include "check.h"

/* An operation of ours: what its functions were called with. */
struct work {
    int             value, error; /* what a query says */
    int             queries, frees, cancels, cancelled_done;
    ctran_request_t request;
};

static int query(void *extra, ctran_status_t *status)
{
    struct work *w = extra;
    EXPECT(status != CTRAN_STATUS_IGNORE);
    EXPECT_EQ(CTRAN_ANY_SOURCE, status->CTRAN_SOURCE);
    EXPECT_EQ(0, w->frees);
    w->queries++;
    status->CTRAN_SOURCE = w->value;
    status->CTRAN_TAG = w->value + 1;
    OK(ctran_status_set_elements(status, CTRAN_DOUBLE, w->value));
    OK(ctran_status_set_cancelled(status, w->cancels > 0));
    return w->error;
}

static int forget(void *extra)
{
    ((struct work *)extra)->frees++;
    return CTRAN_SUCCESS;
}

static int fail_to_forget(void *extra)
{
    ((struct work *)extra)->frees++;
    return CTRAN_ERR_PENDING;
}

static int cancel(void *extra, int complete)
{
    struct work *w = extra;
    w->cancels++;
    w->cancelled_done = complete;
    return CTRAN_SUCCESS;
}

static void begin(struct work *w, int value)
{
    *w = (struct work){.value = value};
    OK(ctran_grequest_start(query, forget, cancel, w, &w->request));
    EXPECT(w->request != CTRAN_REQUEST_NULL);
}

static void expect_over(const struct work *w, const ctran_status_t *status)
{
    ctran_count_t count;
    int           flag;
    EXPECT_STATUS(status, w->value, w->value + 1, (size_t)w->value * sizeof(double));
    OK(ctran_get_count(status, CTRAN_DOUBLE, &count));
    EXPECT_EQ(w->value, count);
    OK(ctran_test_cancelled(status, &flag));
    EXPECT_EQ(w->cancels > 0, flag);
    EXPECT_EQ(1, w->frees);
    EXPECT_PTR(CTRAN_REQUEST_NULL, w->request);
}

/* ---- subjects -------------------------------------------------------------------------------- */

static void one_at_a_time(void)
{
    struct work    w;
    ctran_status_t status;
    int            flag, index;
    begin(&w, 3);
    OK(ctran_test(&w.request, &flag, &status));
    EXPECT_EQ(0, flag);
    EXPECT_EQ(0, w.queries);
    OK(ctran_grequest_complete(w.request));
    EXPECT_EQ(0, w.queries + w.frees);
    OK(ctran_request_get_status(w.request, &flag, &status));
    EXPECT_EQ(1, flag);
    EXPECT_EQ(3, status.CTRAN_SOURCE);
    EXPECT_EQ(0, w.frees);
    OK(ctran_wait(&w.request, &status));
    EXPECT_EQ(2, w.queries);
    expect_over(&w, &status);

    begin(&w, 4);
    OK(ctran_grequest_complete(w.request));
    OK(ctran_test(&w.request, &flag, CTRAN_STATUS_IGNORE)); /* the query has a status even so */
    EXPECT_EQ(1, flag);
    EXPECT_EQ(1, w.queries);
    EXPECT_EQ(1, w.frees);

    begin(&w, 5);
    OK(ctran_grequest_complete(w.request));
    OK(ctran_waitany(1, &w.request, &index, &status));
    EXPECT_EQ(0, index);
    expect_over(&w, &status);

    ctran_request_t none; /* without functions */
    OK(ctran_grequest_start(NULL, NULL, NULL, NULL, &none));
    OK(ctran_cancel(&none));
    OK(ctran_grequest_complete(none));
    OK(ctran_wait(&none, &status));
    EXPECT_STATUS(&status, CTRAN_ANY_SOURCE, CTRAN_ANY_TAG, 0);
}

static void cancelled_and_freed(void)
{
    struct work    w;
    ctran_status_t status;
    begin(&w, 1);
    OK(ctran_cancel(&w.request));
    EXPECT_EQ(1, w.cancels);
    EXPECT_EQ(0, w.cancelled_done);
    OK(ctran_grequest_complete(w.request));
    OK(ctran_cancel(&w.request));
    EXPECT_EQ(1, w.cancelled_done);
    OK(ctran_wait(&w.request, &status));
    expect_over(&w, &status);

    begin(&w, 2); /* let go of first, complete later */
    ctran_request_t kept = w.request;
    OK(ctran_request_free(&w.request));
    EXPECT_EQ(0, w.frees);
    OK(ctran_grequest_complete(kept));
    EXPECT_EQ(1, w.frees);
    EXPECT_EQ(0, w.queries);

    begin(&w, 2); /* and the other way round */
    OK(ctran_grequest_complete(w.request));
    OK(ctran_request_free(&w.request));
    EXPECT_EQ(1, w.frees);
}

/* Among messages, in each call for several. */
static void among_others(void)
{
    enum { COUNT = 6 };
    struct work     works[COUNT];
    const int       to = (check_rank + 1) % check_size;
    const int       from = (check_rank + check_size - 1) % check_size;
    ctran_request_t requests[COUNT + 2];
    ctran_status_t  statuses[COUNT + 2];
    int             word = check_rank, in = -1, done, which[COUNT + 2];
    for (int turn = 0; turn < 3; turn++) {
        OK(ctran_irecv(&in, 1, CTRAN_INT, from, turn, CTRAN_COMM_WORLD, &requests[COUNT]));
        OK(ctran_isend(&word, 1, CTRAN_INT, to, turn, CTRAN_COMM_WORLD, &requests[COUNT + 1]));
        for (int i = 0; i < COUNT; i++) {
            begin(&works[i], i + 10);
            requests[i] = works[i].request;
            OK(ctran_grequest_complete(requests[i]));
            works[i].request = CTRAN_REQUEST_NULL;
        }
        if (turn == 0) {
            OK(ctran_waitall(COUNT + 2, requests, statuses));
        } else {
            for (int left = COUNT + 2; left > 0; left -= done) {
                ctran_status_t some[COUNT + 2];
                OK((turn == 1 ? ctran_waitsome : ctran_testsome)(COUNT + 2, requests, &done, which,
                                                                 some));
                for (int i = 0; i < done; i++) {
                    statuses[which[i]] = some[i];
                }
            }
        }
        EXPECT_STATUS(&statuses[COUNT], from, turn, sizeof in);
        EXPECT_EQ(from, in);
        for (int i = 0; i < COUNT; i++) {
            expect_over(&works[i], &statuses[i]);
            EXPECT_EQ(1, works[i].queries);
        }
    }
}

static void *do_work(void *arg)
{
    struct work *w = arg;
    w->value = 42;
    OK(ctran_grequest_complete(w->request));
    return NULL;
}

/* A thread does it while this one waits. */
static void by_a_thread(void)
{
    for (int turn = 0; turn < 50; turn++) {
        struct work     w;
        pthread_t       thread;
        ctran_status_t  status;
        ctran_request_t mine;
        begin(&w, 0);
        mine = w.request;
        EXPECT_EQ(0, pthread_create(&thread, NULL, do_work, &w));
        OK(ctran_wait(&mine, &status));
        EXPECT_EQ(0, pthread_join(thread, NULL));
        w.request = mine;
        expect_over(&w, &status);
    }
}

/* What is set is a number of basic elements, not of elements of the datatype. */
static void elements(void)
{
    ctran_datatype_t mixed, types[] = {CTRAN_CHAR, CTRAN_DOUBLE, CTRAN_2INT};
    ctran_count_t    lens[] = {1, 2, 1}, displs[] = {0, 8, 24}, count;
    ctran_status_t   status = {0};
    OK(ctran_type_create_struct(3, lens, displs, types, &mixed));
    for (ctran_count_t n = 0; n <= 15; n++) { /* char, double, double, int, int */
        OK(ctran_status_set_elements(&status, mixed, n));
        OK(ctran_get_elements(&status, mixed, &count));
        EXPECT_EQ(n, count);
        OK(ctran_get_count(&status, mixed, &count));
        EXPECT_EQ(n % 5 == 0 ? n / 5 : CTRAN_UNDEFINED, count);
    }
    OK(ctran_type_free(&mixed));
}

static void refused(void)
{
    struct work     w, other;
    ctran_request_t plain, both[2];
    ctran_status_t  statuses[2];
    int             word, kept;
    OK(ctran_comm_set_errhandler(CTRAN_COMM_SELF, CTRAN_ERRORS_RETURN));
    OK(ctran_irecv(&word, 1, CTRAN_INT, 0, 5, CTRAN_COMM_SELF, &plain));
    EXPECT_RC(CTRAN_ERR_REQUEST, ctran_grequest_complete(plain));
    EXPECT_RC(CTRAN_ERR_REQUEST, ctran_grequest_complete(CTRAN_REQUEST_NULL));
    OK(ctran_cancel(&plain));
    OK(ctran_wait(&plain, CTRAN_STATUS_IGNORE));
    /* The error of the function that frees it is that of the call which completes it. */
    w = (struct work){.value = 1};
    OK(ctran_grequest_start(query, fail_to_forget, cancel, &w, &w.request));
    OK(ctran_grequest_complete(w.request));
    EXPECT_RC(CTRAN_ERR_PENDING, ctran_wait(&w.request, CTRAN_STATUS_IGNORE));
    EXPECT_EQ(1, w.frees);
    EXPECT_PTR(CTRAN_REQUEST_NULL, w.request);
    /* An empty status has no error, whatever was there. */
    statuses[0].CTRAN_ERROR = CTRAN_ERR_OTHER;
    OK(ctran_wait(&w.request, &statuses[0]));
    EXPECT_EQ(CTRAN_SUCCESS, statuses[0].CTRAN_ERROR);
    EXPECT_RC(CTRAN_ERR_ARG, ctran_status_set_cancelled(CTRAN_STATUS_IGNORE, 1));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_status_set_elements(CTRAN_STATUS_IGNORE, CTRAN_INT, 1));
    EXPECT_RC(CTRAN_ERR_COUNT, ctran_status_set_elements(&statuses[0], CTRAN_INT, -1));
    EXPECT_RC(CTRAN_ERR_COUNT, ctran_status_set_elements(&statuses[0], CTRAN_INT, INT64_MAX));
    EXPECT_RC(CTRAN_ERR_TYPE, ctran_status_set_elements(&statuses[0], CTRAN_DATATYPE_NULL, 1));

    begin(&w, 1); /* what a query returns is the operation's error */
    w.error = CTRAN_ERR_TRUNCATE;
    OK(ctran_grequest_complete(w.request));
    EXPECT_RC(CTRAN_ERR_REQUEST, ctran_grequest_complete(w.request));
    EXPECT_RC(CTRAN_ERR_TRUNCATE, ctran_wait(&w.request, &statuses[0]));
    expect_over(&w, &statuses[0]);

    begin(&w, 1);
    begin(&other, 2);
    other.error = kept = CTRAN_ERR_OTHER;
    both[0] = w.request;
    both[1] = other.request;
    OK(ctran_grequest_complete(both[0]));
    OK(ctran_grequest_complete(both[1]));
    EXPECT_RC(CTRAN_ERR_IN_STATUS, ctran_waitall(2, both, statuses));
    EXPECT_EQ(CTRAN_SUCCESS, statuses[0].CTRAN_ERROR);
    EXPECT_EQ(kept, statuses[1].CTRAN_ERROR);
}

static const struct subject subjects[] = {
    {"one at a time", one_at_a_time}, {"cancelled and freed", cancelled_and_freed},
    {"among others", among_others},   {"by a thread", by_a_thread},
    {"elements", elements},           {"refused", refused},
};

int main(int argc, char **argv)
{
    check_start_threads(argc, argv, CTRAN_THREAD_MULTIPLE);
    check_run(subjects, LEN(subjects));
    return check_end();
}
