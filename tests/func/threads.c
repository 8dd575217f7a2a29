/* SPDX-License-Identifier: BSD-3-Clause */
/* threads - the team of threads.h, the thread level, and the list of subjects. */
#include "threads.h"

static int               level; /* CTRAN_THREAD_MULTIPLE, or with CT_SERIALIZED _SERIALIZED */
static pthread_barrier_t meeting;
static ctran_comm_t      comms[MEMBERS];
static void (*team_body)(struct member *m);

static void *start(void *arg)
{
    team_body(arg);
    return NULL;
}

void team_run(void (*body)(struct member *m), void *arg)
{
    static uint64_t runs = 0;
    struct member   members[MEMBERS];
    pthread_t       threads[MEMBERS];
    team_body = body;
    runs++;
    for (int i = 0; i < MEMBERS; i++) {
        uint64_t seed = rng_of(1000 * runs + (uint64_t)i);
        members[i] = (struct member){i, comms[i], seed, mix(seed + (uint64_t)check_rank), arg};
        EXPECT_EQ(0, pthread_create(&threads[i], NULL, start, &members[i]));
    }
    for (int i = 0; i < MEMBERS; i++) {
        EXPECT_EQ(0, pthread_join(threads[i], NULL));
    }
}

void team_meet(void)
{
    int rc = pthread_barrier_wait(&meeting);
    EXPECT(rc == 0 || rc == PTHREAD_BARRIER_SERIAL_THREAD);
}

/* ---- the level ------------------------------------------------------------------------------- */

static void expect_level(int is_main)
{
    int found, flag = -1;
    OK(ctran_query_thread(&found));
    EXPECT_EQ(level, found);
    OK(ctran_is_thread_main(&flag));
    EXPECT_EQ(is_main, flag);
}

static void ask_level(struct member *m)
{
    for (int turn = 0; turn < MEMBERS; turn++) {
        if (turn == m->me) {
            expect_level(0);
        }
        team_meet();
    }
}

static void run_level(void)
{
    expect_level(1);
    team_run(ask_level, NULL);
}

int main(int argc, char **argv)
{
    static const struct subject subjects[] = {
        {"the level", run_level},
        {"traffic in turns", run_in_turns},
        {"traffic on communicators of their own", run_own_comms},
        {"traffic on a shared communicator", run_shared_comm},
        {"wildcards", run_wildcards},
        {"matched probes", run_mprobes},
        {"messages between threads of a process", run_to_self},
        {"handing the polling over", run_handover},
        {"requests of another thread", run_others_requests},
        {"cancelling", run_cancels},
        {"persistent requests", run_persistent},
        {"buffered sends", run_buffered},
        {"collectives", run_collectives},
        {"making communicators", run_comms},
        {"attributes", run_attributes},
        {"groups", run_groups},
        {"hardware", run_hardware},
        {"a window of all threads", run_shared_window},
        {"windows of their own", run_own_windows},
    };
    level = getenv("CT_SERIALIZED") != NULL ? CTRAN_THREAD_SERIALIZED : CTRAN_THREAD_MULTIPLE;
    check_start_threads(argc, argv, level);
    EXPECT_EQ(0, pthread_barrier_init(&meeting, NULL, MEMBERS));
    for (int i = 0; i < MEMBERS; i++) {
        OK(ctran_comm_dup(CTRAN_COMM_WORLD, &comms[i]));
    }
    check_run(subjects, level == CTRAN_THREAD_MULTIPLE ? LEN(subjects) : 2);
    for (int i = 0; i < MEMBERS; i++) {
        OK(ctran_comm_free(&comms[i]));
    }
    pthread_barrier_destroy(&meeting);
    return check_end();
}
