/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * polls - every call that may answer "not yet" gives the core away once it has answered so several
 * times in a row. No such call does so while the program computes between its polls, nor if polls
 * find something often. Rank 0 polls; the others take part in its collectives when it tells them
 * to. Usage: polls [SEED]
 *
 * The program defines sched_yield, so it counts the library's calls. CT_MULTIPLE=1 asks for
 * CTRAN_THREAD_MULTIPLE. Without CTRAN_SPIN=0 more polls make a row.
 */
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum {
    ENOUGH = 50,     /* times that the core is given away */
    MOST = 2000000,  /* polls that it may take */
    ANSWERS = 100,   /* of polls that find something */
    FEW = 3,         /* polls in vain before each of those */
    COMPUTING = 100, /* polls with work between them, */
    WORK_NS = 50000, /* which takes so long */
    COMMS = 4,
    TAG = 3,
    NEVER = 4, /* a tag that nobody sends */
};

static _Thread_local unsigned yields;

int sched_yield(void)
{
    yields++;
    return (int)syscall(SYS_sched_yield);
}

static ctran_request_t request, requests[3], parts_out;
static ctran_comm_t    comms[COMMS];
static int             word, got;

/* ---- what is polled for ---------------------------------------------------------------------- */

static void begin_nothing(void)
{
}

static void send_word(void)
{
    OK(ctran_send(&word, 1, CTRAN_INT, 0, TAG, CTRAN_COMM_SELF));
}

static void recv_word(void)
{
    OK(ctran_recv(&got, 1, CTRAN_INT, 0, TAG, CTRAN_COMM_SELF, CTRAN_STATUS_IGNORE));
}

static void begin_receive(void)
{
    OK(ctran_irecv(&got, 1, CTRAN_INT, 0, TAG, CTRAN_COMM_SELF, &request));
}

static void wait_request(void)
{
    OK(ctran_wait(&request, CTRAN_STATUS_IGNORE)); /* which is null where a test has found it */
}

/* One of three that are under way. */
static void begin_receives(void)
{
    for (int i = 0; i < 3; i++) {
        OK(ctran_irecv(&got, 1, CTRAN_INT, 0, i == 1 ? TAG : NEVER, CTRAN_COMM_SELF, &requests[i]));
    }
}

static void end_receives(void)
{
    for (int i = 0; i < 3; i += 2) {
        OK(ctran_cancel(&requests[i]));
    }
    OK(ctran_waitall(3, requests, CTRAN_STATUSES_IGNORE));
}

/* All of three. */
static void begin_all(void)
{
    for (int i = 0; i < 3; i++) {
        OK(ctran_irecv(&got, 1, CTRAN_INT, 0, TAG, CTRAN_COMM_SELF, &requests[i]));
    }
}

static void answer_all(void)
{
    for (int i = 0; i < 3; i++) {
        send_word();
    }
}

static void end_all(void)
{
    OK(ctran_waitall(3, requests, CTRAN_STATUSES_IGNORE));
}

static void begin_persistent(void)
{
    OK(ctran_recv_init(&got, 1, CTRAN_INT, 0, TAG, CTRAN_COMM_SELF, &request));
    OK(ctran_start(&request));
}

static void end_persistent(void)
{
    wait_request();
    OK(ctran_request_free(&request));
}

static int parts[2], parts_got[2];

static void begin_parts(void)
{
    OK(ctran_psend_init(parts, 2, 1, CTRAN_INT, 0, TAG, CTRAN_COMM_SELF, CTRAN_INFO_NULL,
                        &parts_out));
    OK(ctran_precv_init(parts_got, 2, 1, CTRAN_INT, 0, TAG, CTRAN_COMM_SELF, CTRAN_INFO_NULL,
                        &request));
    OK(ctran_start(&parts_out));
    OK(ctran_start(&request));
}

static void send_parts(void)
{
    OK(ctran_pready_range(0, 1, parts_out));
    OK(ctran_wait(&parts_out, CTRAN_STATUS_IGNORE));
}

static void end_parts(void)
{
    end_persistent();
    OK(ctran_request_free(&parts_out));
}

static int query(void *unused, ctran_status_t *status)
{
    (void)unused;
    OK(ctran_status_set_elements(status, CTRAN_INT, 1));
    OK(ctran_status_set_cancelled(status, 0));
    return CTRAN_SUCCESS;
}

static int forget(void *unused)
{
    (void)unused;
    return CTRAN_SUCCESS;
}

static int cancel(void *unused, int complete)
{
    (void)unused, (void)complete;
    return CTRAN_SUCCESS;
}

static void begin_grequest(void)
{
    OK(ctran_grequest_start(query, forget, cancel, NULL, &request));
}

static void complete_grequest(void)
{
    OK(ctran_grequest_complete(request));
}

/* ---- collectives, which rank 0 is the first to begin ----------------------------------------- */

static int in, out[64];

static void start_barrier(void)
{
    OK(ctran_ibarrier(CTRAN_COMM_WORLD, &request));
}

static void start_allreduce(void)
{
    OK(ctran_iallreduce(&in, out, 1, CTRAN_INT, CTRAN_SUM, CTRAN_COMM_WORLD, &request));
}

static void start_persistent_barrier(void)
{
    OK(ctran_barrier_init(CTRAN_COMM_WORLD, CTRAN_INFO_NULL, &request));
    OK(ctran_start(&request));
}

static void start_barriers(void)
{
    for (int i = 0; i < 3; i++) {
        OK(ctran_ibarrier(comms[i], &requests[i]));
    }
}

/* What the others do: begin the collective that they are told of, wait for it. */
static const struct collective {
    void (*begin)(void);
    void (*end)(void);
} COLLECTIVES[] = {
    {start_barrier, wait_request},
    {start_allreduce, wait_request},
    {start_persistent_barrier, end_persistent},
    {start_barriers, end_all},
};

static void tell_others(int what)
{
    for (int i = 1; i < check_size; i++) {
        OK(ctran_send(&what, 1, CTRAN_INT, i, TAG, CTRAN_COMM_WORLD));
    }
}

static void help(void)
{
    int what;
    OK(ctran_recv(&what, 1, CTRAN_INT, 0, TAG, CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE));
    while (what >= 0) {
        COLLECTIVES[what].begin();
        COLLECTIVES[what].end();
        OK(ctran_recv(&what, 1, CTRAN_INT, 0, TAG, CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE));
    }
}

static void help_barrier(void)
{
    tell_others(0);
}

static void help_allreduce(void)
{
    tell_others(1);
}

static void help_persistent(void)
{
    tell_others(2);
}

static void help_barriers(void)
{
    tell_others(3);
}

/* ---- polls: true, it is there ---------------------------------------------------------------- */

static bool iprobe(void)
{
    int flag;
    OK(ctran_iprobe(0, TAG, CTRAN_COMM_SELF, &flag, CTRAN_STATUS_IGNORE));
    return flag;
}

static bool iprobe_any(void)
{
    int flag;
    OK(ctran_iprobe(CTRAN_ANY_SOURCE, CTRAN_ANY_TAG, CTRAN_COMM_SELF, &flag, CTRAN_STATUS_IGNORE));
    return flag;
}

/* On many communicators in turn, of which one gets the message. */
static bool iprobe_many(void)
{
    static unsigned turn;
    int             flag;
    OK(ctran_iprobe(CTRAN_ANY_SOURCE, TAG, comms[turn++ % COMMS], &flag, CTRAN_STATUS_IGNORE));
    return flag;
}

static void send_on_second(void)
{
    OK(ctran_send(&word, 1, CTRAN_INT, check_rank, TAG, comms[1]));
}

static void recv_on_second(void)
{
    OK(ctran_recv(&got, 1, CTRAN_INT, check_rank, TAG, comms[1], CTRAN_STATUS_IGNORE));
}

static bool improbe(void)
{
    int             flag;
    ctran_message_t message;
    OK(ctran_improbe(0, TAG, CTRAN_COMM_SELF, &flag, &message, CTRAN_STATUS_IGNORE));
    if (flag) {
        OK(ctran_mrecv(&got, 1, CTRAN_INT, &message, CTRAN_STATUS_IGNORE));
    }
    return flag;
}

static bool test(void)
{
    int flag;
    OK(ctran_test(&request, &flag, CTRAN_STATUS_IGNORE));
    return flag;
}

static bool testall(void)
{
    int flag;
    OK(ctran_testall(3, requests, &flag, CTRAN_STATUSES_IGNORE));
    return flag;
}

static bool testany(void)
{
    int flag, index;
    OK(ctran_testany(3, requests, &index, &flag, CTRAN_STATUS_IGNORE));
    return flag;
}

static bool testsome(void)
{
    int n, indices[3];
    OK(ctran_testsome(3, requests, &n, indices, CTRAN_STATUSES_IGNORE));
    return n > 0;
}

static bool get_status(void)
{
    int flag;
    OK(ctran_request_get_status(request, &flag, CTRAN_STATUS_IGNORE));
    return flag;
}

static bool get_status_all(void)
{
    int flag;
    OK(ctran_request_get_status_all(3, requests, &flag, CTRAN_STATUSES_IGNORE));
    return flag;
}

static bool get_status_any(void)
{
    int flag, index;
    OK(ctran_request_get_status_any(3, requests, &index, &flag, CTRAN_STATUS_IGNORE));
    return flag;
}

static bool get_status_some(void)
{
    int n, indices[3];
    OK(ctran_request_get_status_some(3, requests, &n, indices, CTRAN_STATUSES_IGNORE));
    return n > 0;
}

static bool parrived(void)
{
    int flag;
    OK(ctran_parrived(request, 1, &flag));
    return flag;
}

static const struct poll {
    const char *name;
    void (*begin)(void);
    bool (*poll)(void);
    void (*answer)(void); /* what the poll finds */
    void (*end)(void);
    bool others; /* there have to be some */
} POLLS[] = {
    {"iprobe", begin_nothing, iprobe, send_word, recv_word, false},
    {"iprobe of any", begin_nothing, iprobe_any, send_word, recv_word, false},
    {"iprobe on many", begin_nothing, iprobe_many, send_on_second, recv_on_second, false},
    {"improbe", begin_nothing, improbe, send_word, begin_nothing, false},
    {"test", begin_receive, test, send_word, wait_request, false},
    {"testall", begin_all, testall, answer_all, end_all, false},
    {"testany", begin_receives, testany, send_word, end_receives, false},
    {"testsome", begin_receives, testsome, send_word, end_receives, false},
    {"get_status", begin_receive, get_status, send_word, wait_request, false},
    {"get_status_all", begin_all, get_status_all, answer_all, end_all, false},
    {"get_status_any", begin_receives, get_status_any, send_word, end_receives, false},
    {"get_status_some", begin_receives, get_status_some, send_word, end_receives, false},
    {"test, persistent", begin_persistent, test, send_word, end_persistent, false},
    {"test, partitioned", begin_parts, test, send_parts, end_parts, false},
    {"parrived", begin_parts, parrived, send_parts, end_parts, false},
    {"test, generalized", begin_grequest, test, complete_grequest, wait_request, false},
    {"test of ibarrier", start_barrier, test, help_barrier, wait_request, true},
    {"test of iallreduce", start_allreduce, test, help_allreduce, wait_request, true},
    {"get_status of ibarrier", start_barrier, get_status, help_barrier, wait_request, true},
    {"test of barrier_init", start_persistent_barrier, test, help_persistent, end_persistent, true},
    {"testall of ibarriers", start_barriers, testall, help_barriers, end_all, true},
};

/* ---- subjects -------------------------------------------------------------------------------- */

static uint64_t now_ns(void)
{
    struct timespec ts;
    EXPECT_EQ(0, clock_gettime(CLOCK_MONOTONIC, &ts));
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void compute(void)
{
    const uint64_t until = now_ns() + WORK_NS;
    while (now_ns() < until) {
    }
}

static void expect_nothing(const struct poll *p)
{
    if (p->poll()) {
        check_fail(__FILE__, __LINE__, "%s: finds what has not come", p->name);
    }
}

static void expect_yields(const struct poll *p)
{
    int polls = 0;
    yields = 0;
    while (yields < ENOUGH && polls < MOST) {
        expect_nothing(p);
        polls++;
    }
    if (yields < ENOUGH) {
        check_fail(__FILE__, __LINE__, "%s: %d polls in a row, core given away: %u times", p->name,
                   polls, yields);
    }
}

static void expect_none(const struct poll *p)
{
    yields = 0;
    for (int i = 0; i < COMPUTING; i++) {
        compute();
        expect_nothing(p);
    }
    if (yields > 0) {
        check_fail(__FILE__, __LINE__, "%s: %d polls with work between, core given away: %u times",
                   p->name, COMPUTING, yields);
    }
}

static void find(const struct poll *p)
{
    p->answer();
    int polls = 0;
    while (!p->poll()) {
        EXPECT(++polls < 100 * MOST);
    }
}

static void poll_in_vain(void)
{
    for (size_t i = 0; check_rank == 0 && i < LEN(POLLS); i++) {
        const struct poll *p = &POLLS[i];
        if (check_size > 1 || !p->others) {
            p->begin();
            expect_yields(p);
            expect_none(p);
            expect_yields(p);
            find(p);
            p->end();
        }
    }
}

/* Where the answer is a message of rank 0's own, each poll finds it at once. */
static void find_often(void)
{
    for (size_t i = 0; check_rank == 0 && i < LEN(POLLS); i++) {
        const struct poll *p = &POLLS[i];
        yields = 0;
        for (int k = 0; k < ANSWERS && !p->others; k++) {
            p->begin();
            for (int few = 0; few < FEW; few++) {
                expect_nothing(p);
            }
            find(p);
            p->end();
        }
        if (yields > 0) {
            check_fail(__FILE__, __LINE__, "%s: %d answers, core given away: %u times", p->name,
                       ANSWERS, yields);
        }
    }
}

int main(int argc, char **argv)
{
    static const struct subject subjects[] = {{"in vain", poll_in_vain}, {"finds", find_often}};
    check_start_threads(
        argc, argv, getenv("CT_MULTIPLE") != NULL ? CTRAN_THREAD_MULTIPLE : CTRAN_THREAD_SINGLE);
    for (int i = 0; i < COMMS; i++) {
        OK(ctran_comm_dup(CTRAN_COMM_WORLD, &comms[i]));
    }
    if (check_rank == 0) {
        check_run(subjects, LEN(subjects));
        tell_others(-1);
    } else {
        help();
    }
    for (int i = 0; i < COMMS; i++) {
        OK(ctran_comm_free(&comms[i]));
    }
    return check_end();
}
