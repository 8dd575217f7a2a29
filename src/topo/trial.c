/* SPDX-License-Identifier: BSD-3-Clause */
/* Trials in a child process; see trial.h. */
#include "topo/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT_S = 60 };

/* No core file, no words, no handler of the program's, and an end in any case: another thread of
 * the parent may have been in hwloc, and never leave it here. */
static void trial_prepare(void)
{
    static const int    ends[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM, SIGTERM};
    const struct rlimit none = {0};
    sigset_t            all;
    const int           quiet = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (quiet >= 0) {
        (void)dup2(quiet, STDOUT_FILENO); /* else it may write */
        (void)dup2(quiet, STDERR_FILENO);
    }
    (void)setrlimit(RLIMIT_CORE, &none);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        (void)signal(ends[i], SIG_DFL); /* a known number: cannot fail */
    }
    sigemptyset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, NULL);
    (void)alarm(LIMIT_S);
}

/* The child's part. */
static _Noreturn void try_it(int (*fn)(void *arg), void *arg, int out)
{
    trial_prepare();
    const char result = fn(arg) == 0 ? CT_TRIAL_DONE : CT_TRIAL_FAILED;
    _exit(write(out, &result, 1) == 1 ? 0 : 1);
}

/* The child's result; if the program ignores SIGCHLD, there is no exit status. */
static enum ct_trial trial_hear(pid_t child, int in)
{
    char    result = CT_TRIAL_ENDED;
    ssize_t n;
    do {
        n = read(in, &result, 1);
    } while (n < 0 && errno == EINTR);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
    return n == 1 ? (enum ct_trial)result : CT_TRIAL_ENDED;
}

enum ct_trial ct_trial(int (*fn)(void *arg), void *arg)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return CT_TRIAL_FAILED;
    }
    const pid_t child = fork();
    if (child == 0) {
        try_it(fn, arg, ends[1]);
    }
    (void)close(ends[1]);
    const enum ct_trial result = child > 0 ? trial_hear(child, ends[0]) : CT_TRIAL_FAILED;
    (void)close(ends[0]);
    return result;
}

bool ct_trial_is_due(void)
{
    const char *file = getenv("HWLOC_XMLFILE");
    return file != NULL && file[0] != '\0';
}
