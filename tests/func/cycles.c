/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cycles - the library comes and goes: worlds one after the other, sessions beside and without one,
 * ranks that are a cycle ahead of others, and that nothing grows. Usage: cycles [SEED]
 *
 * The rank in the job is not known before there is a world or a session.
 */
#include <dirent.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static const char TAG[] = "ctran.tests.cycles";

/* ---- what a communicator has to do ----------------------------------------------------------- */

/* A ring of messages, of which the long ones need both ends at once, and a reduction. */
static void works(ctran_comm_t comm)
{
    enum { WORDS = 20000 };
    static int out[WORDS], in[WORDS];
    int        n = -1, me = -1, sum = -1;
    OK(ctran_comm_size(comm, &n));
    OK(ctran_comm_rank(comm, &me));
    for (int i = 0; i < WORDS; i++) {
        out[i] = me * WORDS + i;
    }
    for (int words = 1; words <= WORDS; words *= WORDS) {
        const int from = (me + n - 1) % n;
        OK(ctran_sendrecv(out, words, CTRAN_INT, (me + 1) % n, words, in, words, CTRAN_INT, from,
                          words, comm, CTRAN_STATUS_IGNORE));
        EXPECT_EQ(from * WORDS + words - 1, in[words - 1]);
    }
    OK(ctran_allreduce(&me, &sum, 1, CTRAN_INT, CTRAN_SUM, comm));
    EXPECT_EQ(n * (n - 1) / 2, sum);
}

static void on_error(ctran_session_t *session, int *error_code, ...);

/* A child that is made while other threads open or close a session, or make what can be made at any
 * time, has no ctran, and is told so: it does not wait for a lock that nobody holds any more. */
static atomic_bool forks_are_over;

static void *come_and_go(void *unused)
{
    ctran_session_t session;
    while (!atomic_load(&forks_are_over)) {
        OK(ctran_session_init(CTRAN_INFO_NULL, CTRAN_ERRORS_RETURN, &session));
        OK(ctran_session_finalize(&session));
    }
    return unused;
}

static void make_anything(void)
{
    ctran_info_t       info;
    ctran_errhandler_t handler;
    char               text[CTRAN_MAX_ERROR_STRING];
    int                code, len;
    OK(ctran_info_create(&info));
    OK(ctran_info_set(info, "key", "value"));
    OK(ctran_info_free(&info));
    OK(ctran_add_error_class(&code));
    OK(ctran_error_string(code, text, &len));
    OK(ctran_remove_error_class(code));
    OK(ctran_session_create_errhandler(on_error, &handler));
    OK(ctran_errhandler_free(&handler));
}

/* To copy many keys takes long, most of it with the lock. */
static void *make_all_the_time(void *unused)
{
    enum { KEYS = 300 };
    ctran_info_t many, copy;
    OK(ctran_info_create(&many));
    for (int i = 0; i < KEYS; i++) {
        char key[16];
        snprintf(key, sizeof key, "key %d", i);
        OK(ctran_info_set(many, key, key));
    }
    while (!atomic_load(&forks_are_over)) {
        OK(ctran_info_dup(many, &copy));
        OK(ctran_info_free(&copy));
        make_anything();
    }
    OK(ctran_info_free(&many));
    return unused;
}

static void fork_meanwhile(void)
{
    pthread_t       thread, maker;
    ctran_session_t session;
    OK(ctran_session_init(CTRAN_INFO_NULL, CTRAN_ERRORS_RETURN, &session));
    atomic_store(&forks_are_over, false);
    EXPECT_EQ(0, pthread_create(&thread, NULL, come_and_go, NULL));
    EXPECT_EQ(0, pthread_create(&maker, NULL, make_all_the_time, NULL));
    for (int i = 0; i < 50; i++) {
        const pid_t child = fork();
        int         status = -1;
        EXPECT(child >= 0);
        if (child == 0) {
            alarm(300); /* only a hang reaches it */
            make_anything();
            _exit(ctran_init(NULL, NULL) == CTRAN_ERR_OTHER ? 0 : 1);
        }
        EXPECT(waitpid(child, &status, 0) == child);
        EXPECT_EQ(0, status);
    }
    atomic_store(&forks_are_over, true);
    EXPECT_EQ(0, pthread_join(thread, NULL));
    EXPECT_EQ(0, pthread_join(maker, NULL));
    OK(ctran_session_finalize(&session));
}

static void world_opens(void)
{
    int flag = -1;
    OK(ctran_init(NULL, NULL));
    OK(ctran_initialized(&flag));
    EXPECT_EQ(1, flag);
    OK(ctran_finalized(&flag));
    EXPECT_EQ(0, flag);
    OK(ctran_comm_rank(CTRAN_COMM_WORLD, &check_rank));
    OK(ctran_comm_size(CTRAN_COMM_WORLD, &check_size));
}

static void world_closes(void)
{
    int flag = -1;
    OK(ctran_finalize());
    OK(ctran_finalized(&flag));
    EXPECT_EQ(1, flag);
}

static ctran_session_t session_opens(void)
{
    ctran_session_t session = CTRAN_SESSION_NULL;
    OK(ctran_session_init(CTRAN_INFO_NULL, CTRAN_ERRORS_RETURN, &session));
    EXPECT(session != CTRAN_SESSION_NULL);
    return session;
}

static void session_closes(ctran_session_t session)
{
    OK(ctran_session_finalize(&session));
    EXPECT_PTR(CTRAN_SESSION_NULL, session);
}

static ctran_comm_t comm_of(ctran_session_t session, const char *pset, const char *tag)
{
    ctran_group_t group;
    ctran_comm_t  comm;
    OK(ctran_group_from_session_pset(session, pset, &group));
    OK(ctran_comm_create_from_group(group, tag, CTRAN_INFO_NULL, CTRAN_ERRORS_ARE_FATAL, &comm));
    OK(ctran_group_free(&group));
    return comm;
}

/* ---- subjects -------------------------------------------------------------------------------- */

/* Before the first world. */
/* Of what the world's communicators tell, one of a session has the largest tag only. */
static void expect_attributes(ctran_comm_t comm, int others)
{
    static const int keys[] = {CTRAN_TAG_UB, CTRAN_IO, CTRAN_HOST, CTRAN_WTIME_IS_GLOBAL,
                               CTRAN_LASTUSEDCODE};
    for (size_t i = 0; i < LEN(keys); i++) {
        int *value, flag = -1;
        OK(ctran_comm_get_attr(comm, keys[i], &value, &flag));
        EXPECT_EQ(keys[i] == CTRAN_TAG_UB ? 1 : others, flag);
    }
    static const int launched[] = {CTRAN_APPNUM, CTRAN_UNIVERSE_SIZE};
    for (size_t i = 0; i < LEN(launched) && !others; i++) {
        int *value, flag = -1;
        OK(ctran_comm_get_attr(comm, launched[i], &value, &flag));
        EXPECT_EQ(0, flag);
    }
}

static void session_alone(void)
{
    int             flag = -1, n = -1;
    ctran_session_t session = session_opens();
    OK(ctran_initialized(&flag));
    EXPECT_EQ(0, flag);
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_finalize());
    OK(ctran_query_thread(&n));
    EXPECT_EQ(CTRAN_THREAD_MULTIPLE, n);
    ctran_comm_t comm = comm_of(session, "mpi://WORLD", TAG);
    OK(ctran_comm_rank(comm, &check_rank));
    OK(ctran_comm_size(comm, &check_size));
    works(comm);
    ctran_comm_t copy;
    OK(ctran_comm_dup(comm, &copy));
    works(copy);
    expect_attributes(comm, 0);
    expect_attributes(copy, 0);
    OK(ctran_comm_free(&copy));
    OK(ctran_comm_free(&comm));
    comm = comm_of(session, "mpi://SELF", TAG);
    works(comm);
    OK(ctran_comm_free(&comm));
    OK(ctran_session_finalize(&session));
}

/* Errors of a session go to its handler; there is no world, whose handles would be fatal. */
static int             handled, handled_code;
static ctran_session_t handled_for;

static void on_error(ctran_session_t *session, int *error_code, ...)
{
    handled++;
    handled_code = *error_code;
    handled_for = *session;
}

static void session_errors(void)
{
    ctran_session_t    session, none = CTRAN_SESSION_NULL;
    ctran_errhandler_t handler, found;
    ctran_group_t      group = CTRAN_GROUP_NULL;
    ctran_info_t       info, dead;
    int                n = -1;
    EXPECT_RC(CTRAN_ERR_ARG, ctran_session_create_errhandler(NULL, &handler));
    OK(ctran_session_create_errhandler(on_error, &handler));
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_session_get_num_psets(none, CTRAN_INFO_NULL, &n));
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_session_finalize(&none));

    OK(ctran_info_create(&info));
    OK(ctran_info_set(info, "thread_level", "MPI_THREAD_SOME"));
    EXPECT_RC(CTRAN_ERR_INFO_VALUE, ctran_session_init(info, handler, &none));
    EXPECT_EQ(1, handled);
    EXPECT_PTR(CTRAN_SESSION_NULL, handled_for);
    EXPECT_RC(CTRAN_ERR_ERRHANDLER,
              ctran_session_init(CTRAN_INFO_NULL, CTRAN_ERRHANDLER_NULL, &none));
    OK(ctran_info_set(info, "thread_level", "MPI_THREAD_SERIALIZED"));
    OK(ctran_info_dup(info, &dead));
    OK(ctran_session_init(info, handler, &session));
    OK(ctran_info_free(&info));
    OK(ctran_session_get_errhandler(session, &found));
    EXPECT_PTR(handler, found);
    OK(ctran_errhandler_free(&found));
    OK(ctran_errhandler_free(&handler)); /* the session keeps it */

    OK(ctran_session_get_info(session, &info));
    char level[64];
    int  len = sizeof level, flag = 0;
    OK(ctran_info_get_string(info, "thread_level", &len, level, &flag));
    EXPECT_EQ(1, flag);
    EXPECT(strcmp(level, "CTRAN_THREAD_SERIALIZED") == 0);
    OK(ctran_info_free(&info));

    handled = 0;
    EXPECT_RC(CTRAN_ERR_ARG, ctran_group_from_session_pset(session, "mpi://NOBODY", &group));
    EXPECT_EQ(1, handled);
    EXPECT_EQ(CTRAN_ERR_ARG, handled_code);
    EXPECT_PTR(session, handled_for);
    EXPECT_RC(CTRAN_ERR_ARG, ctran_group_from_session_pset(session, NULL, &group));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_session_get_nth_pset(session, CTRAN_INFO_NULL, 2, &n, level));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_session_get_num_psets(session, CTRAN_INFO_NULL, NULL));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_session_get_info(session, NULL));
    EXPECT_EQ(5, handled);
    OK(ctran_session_call_errhandler(session, CTRAN_ERR_TRUNCATE));
    EXPECT_EQ(CTRAN_ERR_TRUNCATE, handled_code);
    OK(ctran_info_free(&dead));
    EXPECT_RC(CTRAN_ERR_INFO, ctran_session_get_num_psets(session, (ctran_info_t)&n, &n));
    OK(ctran_session_set_errhandler(session, CTRAN_ERRORS_RETURN));
    handled = 0;
    EXPECT_RC(CTRAN_ERR_ARG, ctran_group_from_session_pset(session, "mpi://NOBODY", &group));
    EXPECT_EQ(0, handled);
    OK(ctran_session_finalize(&session));
}

static void psets(void)
{
    ctran_session_t session = session_opens();
    int             n = -1;
    bool            world = false, self = false;
    OK(ctran_session_get_num_psets(session, CTRAN_INFO_NULL, &n));
    EXPECT(n >= 2);
    for (int i = 0; i < n; i++) {
        char         name[CTRAN_MAX_PSET_NAME_LEN], size[16], part[4] = "###";
        int          len = 0, cap = sizeof name, three = 3, flag = 0, sizelen = sizeof size;
        ctran_info_t info;
        OK(ctran_session_get_nth_pset(session, CTRAN_INFO_NULL, i, &len, NULL));
        OK(ctran_session_get_nth_pset(session, CTRAN_INFO_NULL, i, &cap, name));
        EXPECT_EQ(strlen(name) + 1, len);
        EXPECT_EQ(len, cap);
        OK(ctran_session_get_nth_pset(session, CTRAN_INFO_NULL, i, &three, part));
        EXPECT_EQ(len, three);
        EXPECT(memcmp(part, "mp\0#", 4) == 0 || (part[2] == '\0' && strncmp(part, name, 2) == 0));
        OK(ctran_session_get_pset_info(session, name, &info));
        OK(ctran_info_get_string(info, "mpi_size", &sizelen, size, &flag));
        EXPECT_EQ(1, flag);
        OK(ctran_info_free(&info));
        ctran_group_t group;
        int           members = -1;
        OK(ctran_group_from_session_pset(session, name, &group));
        OK(ctran_group_size(group, &members));
        EXPECT_EQ(members, atoi(size));
        OK(ctran_group_free(&group));
        world |= strcmp(name, "mpi://WORLD") == 0 && members == check_size;
        self |= strcmp(name, "mpi://SELF") == 0 && members == 1;
    }
    EXPECT(world);
    EXPECT(self);
    static const char *const spellings[] = {"mpi://world", "MPI://WORLD", "mpi://Self"};
    for (size_t i = 0; i < LEN(spellings); i++) {
        ctran_group_t group;
        OK(ctran_group_from_session_pset(session, spellings[i], &group));
        OK(ctran_group_size(group, &n));
        EXPECT_EQ(i < 2 ? check_size : 1, n);
        OK(ctran_group_free(&group));
    }
    session_closes(session);
}

/* Several communicators at once: equal groups under different tags, disjoint ones under one. */
static void many_at_once(void)
{
    ctran_session_t session = session_opens();
    ctran_group_t   all, mine;
    ctran_comm_t    a, b, half;
    OK(ctran_group_from_session_pset(session, "mpi://WORLD", &all));
    int ranges[1][3] = {{check_rank % 2, check_size - 1, 2}};
    OK(ctran_group_range_incl(all, 1, ranges, &mine));
    OK(ctran_comm_create_from_group(all, "tests.a", CTRAN_INFO_NULL, CTRAN_ERRORS_RETURN, &a));
    OK(ctran_comm_create_from_group(mine, "tests.half", CTRAN_INFO_NULL, CTRAN_ERRORS_RETURN,
                                    &half));
    OK(ctran_comm_create_from_group(all, "tests.b", CTRAN_INFO_NULL, CTRAN_ERRORS_RETURN, &b));
    OK(ctran_group_free(&mine));
    OK(ctran_group_free(&all));
    works(half);
    works(b);
    works(a);
    OK(ctran_comm_free(&a));
    works(b);
    OK(ctran_comm_free(&b));
    OK(ctran_comm_free(&half));
    session_closes(session);
}

/* The world comes and goes while sessions stay, and the other way round. */
static void beside_the_world(void)
{
    ctran_session_t first = session_opens();
    ctran_comm_t    comm = comm_of(first, "mpi://WORLD", TAG);
    int             n = -1;
    for (int i = 0; i < 2; i++) {
        OK(ctran_comm_set_errhandler(comm, CTRAN_ERRORS_RETURN));
        EXPECT_RC(CTRAN_ERR_RANK, ctran_send(&n, 1, CTRAN_INT, check_size, 0, comm));
        world_opens();
        works(CTRAN_COMM_WORLD);
        expect_attributes(CTRAN_COMM_WORLD, 1);
        expect_attributes(comm, 0);
        ctran_session_t second = session_opens();
        works(comm);
        world_closes();
        works(comm);
        ctran_comm_t other = comm_of(second, "mpi://WORLD", "tests.other");
        works(other);
        OK(ctran_comm_free(&other));
        OK(ctran_session_finalize(&second));
    }
    OK(ctran_comm_free(&comm));
    world_opens();
    OK(ctran_session_finalize(&first));
    works(CTRAN_COMM_WORLD);
    world_closes();
}

/* A new world knows nothing of the old one. */
static int deletions;

static int on_delete(ctran_comm_t comm, int keyval, void *value, void *extra_state)
{
    (void)comm, (void)keyval, (void)value, (void)extra_state;
    deletions++;
    return CTRAN_SUCCESS;
}

static void worlds_are_new(void)
{
    char               name[CTRAN_MAX_OBJECT_NAME];
    int                keyval, len, flag = -1;
    ctran_errhandler_t handler;
    world_opens();
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_init(NULL, NULL));
    OK(ctran_comm_set_name(CTRAN_COMM_WORLD, "old"));
    OK(ctran_comm_set_name(CTRAN_COMM_SELF, "old"));
    OK(ctran_comm_set_errhandler(CTRAN_COMM_SELF, CTRAN_ERRORS_ABORT));
    OK(ctran_comm_create_keyval(CTRAN_COMM_NULL_COPY_FN, on_delete, &keyval, NULL));
    OK(ctran_comm_set_attr(CTRAN_COMM_SELF, keyval, &keyval));
    OK(ctran_type_set_name(CTRAN_INT, "old"));
    /* Nobody will receive it, and a message of the next world is not mistaken for it. */
    OK(ctran_send(&flag, 1, CTRAN_INT, (check_rank + 1) % check_size, 9, CTRAN_COMM_WORLD));
    world_closes();
    EXPECT_EQ(1, deletions);
    world_opens();
    OK(ctran_comm_get_name(CTRAN_COMM_WORLD, name, &len));
    EXPECT(strcmp(name, "CTRAN_COMM_WORLD") == 0);
    OK(ctran_comm_get_name(CTRAN_COMM_SELF, name, &len));
    EXPECT(strcmp(name, "CTRAN_COMM_SELF") == 0);
    OK(ctran_type_get_name(CTRAN_INT, name, &len));
    EXPECT(strcmp(name, "old") != 0);
    OK(ctran_comm_get_errhandler(CTRAN_COMM_SELF, &handler));
    EXPECT_PTR(CTRAN_ERRORS_RETURN, handler);
    OK(ctran_errhandler_free(&handler));
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    OK(ctran_iprobe(CTRAN_ANY_SOURCE, 9, CTRAN_COMM_WORLD, &flag, CTRAN_STATUS_IGNORE));
    EXPECT_EQ(0, flag);
    world_closes();
    EXPECT_EQ(1, deletions);
}

/* What ends with a buffer of buffered sends attached gives it back, once its messages have gone: a
 * session, and the world also where a session goes on. */
static void ends_with_buffers(void)
{
    enum { WORDS = 30000, PLACES = 3, SIZE = sizeof(int[WORDS]) + CTRAN_BSEND_OVERHEAD };
    static char     space[PLACES][SIZE];
    static int      out[WORDS], in[PLACES][WORDS];
    ctran_session_t stays = session_opens(), session = session_opens();
    ctran_comm_t    comm = comm_of(session, "mpi://WORLD", TAG);
    ctran_request_t receive[PLACES];
    world_opens();
    OK(ctran_buffer_attach(space[0], SIZE));
    OK(ctran_comm_attach_buffer(CTRAN_COMM_WORLD, space[1], SIZE));
    OK(ctran_session_attach_buffer(session, space[2], SIZE));
    const ctran_comm_t comms[PLACES] = {CTRAN_COMM_SELF, CTRAN_COMM_WORLD, comm};
    for (int i = 0; i < PLACES; i++) {
        const int to = i > 0 ? (check_rank + 1) % check_size : 0;
        const int from = i > 0 ? (check_rank + check_size - 1) % check_size : 0;
        OK(ctran_irecv(in[i], WORDS, CTRAN_INT, from, 5, comms[i], &receive[i]));
        for (int w = 0; w < WORDS; w++) {
            out[w] = i * WORDS + w;
        }
        OK(ctran_bsend(out, WORDS, CTRAN_INT, to, 5, comms[i]));
    }
    OK(ctran_waitall(PLACES, receive, CTRAN_STATUSES_IGNORE));
    for (int i = 0; i < PLACES; i++) {
        EXPECT_EQ(i * WORDS + WORDS - 1, in[i][WORDS - 1]);
    }
    OK(ctran_comm_free(&comm));
    OK(ctran_session_finalize(&session));
    memset(space[2], 0, SIZE);
    world_closes();
    memset(space, 0, sizeof space);
    OK(ctran_buffer_attach(space[0], SIZE));
    OK(ctran_session_attach_buffer(stays, space[1], SIZE));
    session_closes(stays);
}

/* Rank 0 sends in the new world what others, who are later, receive there: in any order of tags. */
static void ahead(void)
{
    enum { MESSAGES = 8 };
    int value = -1;
    world_opens();
    for (int i = 0; i < MESSAGES && check_rank == 0; i++) {
        for (int to = 1; to < check_size; to++) {
            value = 100 * to + i;
            OK(ctran_send(&value, 1, CTRAN_INT, to, i, CTRAN_COMM_WORLD));
        }
    }
    for (int i = MESSAGES; i-- > 0 && check_rank > 0;) {
        OK(ctran_recv(&value, 1, CTRAN_INT, 0, i, CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE));
        EXPECT_EQ(100 * check_rank + i, value);
    }
    world_closes();
}

static int open_files(void)
{
    int  n = 0;
    DIR *dir = opendir("/proc/self/fd");
    EXPECT(dir != NULL);
    while (readdir(dir) != NULL) {
        n++;
    }
    closedir(dir);
    return n;
}

/* What the program's own heap holds; a sanitizer has one of its own, which says 0. */
static size_t heap_in_use(void)
{
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

static void once_round(int i)
{
    ctran_session_t session;
    if (i % 3 == 0) {
        world_opens();
        works(CTRAN_COMM_WORLD);
        world_closes();
        return;
    }
    session = session_opens();
    if (i % 3 == 1) {
        ctran_comm_t comm = comm_of(session, "mpi://WORLD", TAG);
        works(comm);
        OK(ctran_comm_free(&comm));
        OK(ctran_session_finalize(&session));
        return;
    }
    world_opens();
    OK(ctran_session_finalize(&session));
    works(CTRAN_COMM_WORLD);
    world_closes();
}

/* By how many bytes the heap has grown after some cycles more. */
static size_t growth(int cycles)
{
    const size_t heap = heap_in_use();
    for (int i = 0; i < cycles; i++) {
        once_round(i);
    }
    const size_t now = heap_in_use();
    return now > heap ? now - heap : 0;
}

/* A leak shows each time. What is made once may come late: a peer that was waited for so long that
 * it is looked after has some memory and an open file. All ranks try as often as any has to. */
static void nothing_grows(void)
{
    enum { WARM = 12, CYCLES = 50, SLACK = 2048, TRIES = 8 };
    int grows = 1;
    (void)growth(WARM);
    const int files = open_files();
    for (int i = 0; i < TRIES && grows; i++) {
        grows = growth(CYCLES) > SLACK;
        world_opens();
        OK(ctran_allreduce(CTRAN_IN_PLACE, &grows, 1, CTRAN_INT, CTRAN_LOR, CTRAN_COMM_WORLD));
        world_closes();
    }
    EXPECT_EQ(0, grows);
    const int more = open_files() - files;
    if (more > check_size) {
        check_fail(__FILE__, __LINE__, "%d more open files after the cycles", more);
    }
}

/* The machine is read in each cycle, and given back at its end. hwloc keeps memory, so files alone
 * are counted. */
static void hardware_anew(void)
{
    int files = 0;
    for (int i = 0; i <= check_size + 4; i++) {
        ctran_info_t hw;
        int          n = -1;
        world_opens();
        OK(ctran_get_hw_resource_info(&hw));
        OK(ctran_info_get_nkeys(hw, &n));
        EXPECT(n > 1);
        OK(ctran_info_free(&hw));
        world_closes();
        files = i == 0 ? open_files() : files;
    }
    EXPECT(open_files() - files <= check_size); /* those of peers that were waited for long */
}

/* A child that is made between two cycles has no part in the job, and its end is not ours. */
static void fork_between(void)
{
    int         status = -1;
    const pid_t child = fork();
    EXPECT(child >= 0);
    if (child == 0) {
        exit(ctran_init(NULL, NULL) == CTRAN_ERR_OTHER ? 0 : 1);
    }
    EXPECT(waitpid(child, &status, 0) == child);
    EXPECT(WIFEXITED(status));
    EXPECT_EQ(0, WEXITSTATUS(status));
    world_opens();
    works(CTRAN_COMM_WORLD);
    world_closes();
}

/* A rank that has done its part goes; that is an error to those alone that still want something of
 * it, and not to a receive from anybody, which others may answer. */
static void one_goes_first(void)
{
    enum { GONE = 1, SOMEBODY = 2 };
    int             value = 7, from_gone = -1, from_somebody = -1, flag = -1;
    ctran_request_t named, any;
    ctran_session_t session = session_opens();
    ctran_comm_t    comm = comm_of(session, "mpi://WORLD", "tests.goes");
    works(comm);
    OK(ctran_comm_set_errhandler(comm, CTRAN_ERRORS_RETURN));
    if (check_rank == 2) {
        OK(ctran_irecv(&from_gone, 1, CTRAN_INT, 1, GONE, comm, &named));
        OK(ctran_irecv(&from_somebody, 1, CTRAN_INT, CTRAN_ANY_SOURCE, SOMEBODY, comm, &any));
        EXPECT_RC(CTRAN_ERR_PROC_FAILED, ctran_wait(&named, CTRAN_STATUS_IGNORE));
        OK(ctran_test(&any, &flag, CTRAN_STATUS_IGNORE));
        EXPECT_EQ(0, flag);
        OK(ctran_send(&value, 1, CTRAN_INT, 0, GONE, comm));
        OK(ctran_wait(&any, CTRAN_STATUS_IGNORE));
        EXPECT_EQ(value, from_somebody);
    } else if (check_rank == 0) {
        OK(ctran_recv(&from_gone, 1, CTRAN_INT, 2, GONE, comm, CTRAN_STATUS_IGNORE));
        OK(ctran_send(&value, 1, CTRAN_INT, 2, SOMEBODY, comm));
    }
    OK(ctran_comm_free(&comm));
    OK(ctran_session_finalize(&session));
}

int main(int argc, char **argv)
{
    static const struct subject subjects[] = {
        {"a session alone", session_alone},
        {"errors of sessions", session_errors},
        {"process sets", psets},
        {"many communicators at once", many_at_once},
        {"beside the world", beside_the_world},
        {"worlds are new", worlds_are_new},
        {"ends with buffers attached", ends_with_buffers},
        {"ahead of others", ahead},
        {"fork between cycles", fork_between},
        {"fork in the midst of others", fork_meanwhile},
        {"nothing grows", nothing_grows},
        {"hardware anew", hardware_anew},
    };
    check_seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    check_errors_return();
    /* Between hosts collectives by levels talk one way, and who sends keeps up to an eighth of
     * CTRAN_TCP_BUFFER until the peer acknowledges it: that looks as if something grew. */
    (void)setenv("CTRAN_COLL_LEVELS", "off", 0);
    check_run(subjects, LEN(subjects));
    if (check_size >= 3) {
        one_goes_first(); /* the last subject: rank 1 ends */
    }
    return 0;
}
