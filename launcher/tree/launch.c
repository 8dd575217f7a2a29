/* SPDX-License-Identifier: BSD-3-Clause */
/* Daemons and agents as processes; see launch.h. Used by router_child.c. */
#include "config.h"
#include "launcher/tree/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/base.h"
#include "launcher/job/job.h"
#include "launcher/launcher.h"

extern char **environ;

/* The environment of this process without the traces of a PMIx server above (another launcher's
 * job), which would mislead the daemon's. Settings of libpmix itself stay. */
static char **clean_env(void)
{
    size_t n = 0, kept = 0;
    while (environ[n] != NULL) {
        n++;
    }
    char **env = calloc(n + 1, sizeof *env);
    for (size_t i = 0; env != NULL && i < n; i++) {
        if (strncmp(environ[i], "PMIX_", 5) != 0 || strncmp(environ[i], "PMIX_MCA_", 9) == 0) {
            env[kept++] = environ[i];
        }
    }
    return env;
}

/* The descriptors of a child; -1: /dev/null, or the descriptor of this process (err). */
struct streams {
    int in, out, err, daemon;
};

static int launch_process(const char *file, char **argv, char **env, const struct streams *s,
                          pid_t *pid)
{
    posix_spawn_file_actions_t acts;
    posix_spawnattr_t          attr;
    sigset_t                   none, ours;
    const int                  from[] = {s->in, s->out, s->err, s->daemon};
    sigemptyset(&none);
    sigemptyset(&ours);
    sigaddset(&ours, SIGPIPE);
    sigaddset(&ours, SIGTTIN);
    posix_spawn_file_actions_init(&acts);
    for (int i = 0; i < 2; i++) {
        if (from[i] < 0) {
            posix_spawn_file_actions_addopen(&acts, i, "/dev/null", O_RDWR, 0);
        }
    }
    for (int i = 0; i < 4; i++) {
        if (from[i] >= 0) {
            posix_spawn_file_actions_adddup2(&acts, from[i], i < 3 ? i : CT_DAEMON_FD);
        }
    }
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &ours);
    int err = posix_spawnp(pid, file, &acts, &attr, argv, env);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&acts);
    return err;
}

pid_t ct_launch_daemon(const char *daemon, const char *job, int *fd)
{
    int    pair[2];
    pid_t  pid;
    char  *argv[] = {(char *)(uintptr_t)CT_DAEMON_NAME, (char *)(uintptr_t) "--job",
                     (char *)(uintptr_t)job, NULL};
    char **env = clean_env();
    if (env == NULL || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        free(env);
        return -1;
    }
    int err = launch_process(daemon, argv, env, &(struct streams){-1, -1, -1, pair[1]}, &pid);
    free(env);
    close(pair[1]);
    if (err != 0) {
        close(pair[0]);
        errno = err;
        return -1;
    }
    *fd = pair[0];
    return pid;
}

/* ---- on other machines ----------------------------------------------------------------------- */

/* Quotes a file name if a shell would not take it for one word. */
static void launch_quote(const char *file, char *out, size_t cap)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._+-";
    size_t len = 0;
    if (strspn(file, plain) == strlen(file)) {
        snprintf(out, cap, "%s", file);
        return;
    }
    for (const char *c = file; *c != '\0' && len + 8 < cap; c++) {
        len += (size_t)snprintf(out + len, cap - len, "%s%s", c == file ? "'" : "",
                                *c == '\'' ? "'\\''" : (char[]){*c, '\0'});
    }
    snprintf(out + len, cap - len, "'");
}

/* Makes the agent's words, the host, and the words of the daemon's command. NULL when out of
 * memory. */
static char **agent_command(const struct ct_jobdesc *d, const char *host)
{
    char   file[4 * PATH_MAX];
    char  *router[] = {file, (char *)(uintptr_t) "--router", (char *)(uintptr_t) "--job", d->job,
                       NULL};
    char **list = ct_strlist_copy(d->agent, ct_strlist_count(d->agent));
    if (d->agent_shell) {
        launch_quote(d->daemon, file, sizeof file);
    } else {
        snprintf(file, sizeof file, "%s", d->daemon);
    }
    if (list == NULL || !ct_strlist_add(&list, host) || !ct_strlist_add_all(&list, router)) {
        ct_strlist_free(list);
        return NULL;
    }
    return list;
}

static void close_all(const int *fds, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (fds[i] >= 0) {
            close(fds[i]);
        }
    }
}

pid_t ct_launch_agent(const struct ct_jobdesc *d, const char *host, int *fd, int *err_fd)
{
    int    fds[4] = {-1, -1, -1, -1}; /* the stream's ends, then those of standard error */
    pid_t  pid = -1;
    char **argv = agent_command(d, host), **env = clean_env();
    int    err = argv != NULL && env != NULL ? 0 : ENOMEM;
    if (err == 0 && (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0 ||
                     pipe2(fds + 2, O_CLOEXEC) != 0)) {
        err = errno;
    }
    if (err == 0) {
        fcntl(fds[2], F_SETFL, O_NONBLOCK);
        err =
            launch_process(argv[0], argv, env, &(struct streams){fds[1], fds[1], fds[3], -1}, &pid);
    }
    ct_strlist_free(argv);
    free(env);
    if (err != 0) {
        close_all(fds, 4);
        errno = err;
        return -1;
    }
    close(fds[1]);
    close(fds[3]);
    *fd = fds[0];
    *err_fd = fds[2];
    return pid;
}
