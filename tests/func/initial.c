/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * initial - errors that the initial error handler answers: of ctran_init, of calls before init and
 * after finalize. Usage: initial HOW; for initial.test.
 *
 * Each way makes its errors and looks at their codes, then says "went on": it comes to that only if
 * the handler returns.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

/* Calls of each kind, which have no part in a world. */
static void outside(void)
{
    int             n = -5;
    ctran_session_t session = CTRAN_SESSION_NULL;
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_comm_size(CTRAN_COMM_WORLD, &n));
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_send(&n, 1, CTRAN_INT, 0, 0, CTRAN_COMM_SELF));
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_barrier(CTRAN_COMM_WORLD));
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_finalize());
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_session_finalize(&session));
    EXPECT_EQ(-5, n);
}

static void after(void)
{
    OK(ctran_init(NULL, NULL));
    OK(ctran_finalize());
    outside();
}

static void variable(void)
{
    EXPECT_EQ(0, setenv("CTRAN_TCP_SOCKETS", "none", 1));
    EXPECT_RC(CTRAN_ERR_CONFIG, ctran_init(NULL, NULL));
    EXPECT_EQ(0, unsetenv("CTRAN_TCP_SOCKETS"));
}

/* A value that only the start of the job finds wrong. */
static void pattern(void)
{
    EXPECT_EQ(0, setenv("CTRAN_LOG_FILE", "/tmp/%x", 1));
    EXPECT_RC(CTRAN_ERR_CONFIG, ctran_init(NULL, NULL));
    EXPECT_EQ(0, unsetenv("CTRAN_LOG_FILE"));
}

static void level(void)
{
    EXPECT_RC(CTRAN_ERR_ARG, ctran_init_thread(NULL, NULL, 17, NULL));
}

static void again(void)
{
    OK(ctran_init(NULL, NULL));
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_init(NULL, NULL));
    OK(ctran_finalize());
}

/* Arguments of calls that are possible at any time. */
static void info(void)
{
    ctran_info_t none = CTRAN_INFO_NULL;
    EXPECT_RC(CTRAN_ERR_INFO, ctran_info_free(&none));
}

static void handler(void)
{
    ctran_errhandler_t none = CTRAN_ERRHANDLER_NULL;
    EXPECT_RC(CTRAN_ERR_ERRHANDLER, ctran_errhandler_free(&none));
}

/* A session's handler answers for its start. */
static void start_session(ctran_errhandler_t errhandler)
{
    ctran_session_t session = CTRAN_SESSION_NULL;
    ctran_info_t    hints;
    OK(ctran_info_create(&hints));
    OK(ctran_info_set(hints, "thread_level", "SOME"));
    EXPECT_RC(CTRAN_ERR_INFO_VALUE, ctran_session_init(hints, errhandler, &session));
    OK(ctran_info_free(&hints));
    EXPECT_EQ(0, setenv("CTRAN_TCP_SOCKETS", "none", 1));
    EXPECT_RC(CTRAN_ERR_CONFIG, ctran_session_init(CTRAN_INFO_NULL, errhandler, &session));
    EXPECT_EQ(0, unsetenv("CTRAN_TCP_SOCKETS"));
    EXPECT_PTR(CTRAN_SESSION_NULL, session);
}

static void session(void)
{
    start_session(CTRAN_ERRORS_RETURN);
}

static void session_fatal(void)
{
    start_session(CTRAN_ERRORS_ARE_FATAL);
}

/* The handlers are fatal, and yet a child only gets codes. */
static void forked(void)
{
    int status = -1;
    OK(ctran_init(NULL, NULL));
    const pid_t child = fork();
    EXPECT(child >= 0);
    if (child == 0) {
        ctran_session_t none;
        ctran_info_t    null = CTRAN_INFO_NULL;
        int             n, wrong = ctran_comm_size(CTRAN_COMM_WORLD, &n) != CTRAN_ERR_OTHER;
        wrong += ctran_finalize() != CTRAN_ERR_OTHER;
        wrong += ctran_init(NULL, NULL) != CTRAN_ERR_OTHER;
        wrong += ctran_init_thread(NULL, NULL, 17, NULL) == CTRAN_SUCCESS;
        wrong += ctran_info_free(&null) != CTRAN_ERR_INFO;
        wrong +=
            ctran_session_init((ctran_info_t)&n, CTRAN_ERRORS_ARE_FATAL, &none) != CTRAN_ERR_OTHER;
        _exit(wrong);
    }
    EXPECT(waitpid(child, &status, 0) == child);
    EXPECT_EQ(0, status);
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    OK(ctran_finalize());
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*fn)(void);
    } ways[] = {
        {"before", outside},    {"after", after},
        {"variable", variable}, {"pattern", pattern},
        {"level", level},       {"again", again},
        {"info", info},         {"handler", handler},
        {"session", session},   {"session-fatal", session_fatal},
        {"forked", forked},
    };
    for (size_t i = 0; argc == 2 && i < LEN(ways); i++) {
        if (strcmp(argv[1], ways[i].name) == 0) {
            ways[i].fn();
            puts("went on");
            return 0;
        }
    }
    fprintf(stderr, "initial: no such way\n");
    return 99;
}
