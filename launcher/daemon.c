/* SPDX-License-Identifier: BSD-3-Clause */
/* The local daemon; see daemon.h. Used by head.c. */
#include "config.h"
#include "daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/base.h"
#include "launcher.h"

extern char **environ;

/* Our environment without the traces of a PMIx server above us (another launcher's job), which
 * would mislead the one in the daemon. Settings of libpmix itself stay. */
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

static int spawn(const char *file, char **argv, char **env, int stream, pid_t *pid)
{
    posix_spawn_file_actions_t acts;
    posix_spawnattr_t          attr;
    sigset_t                   none, ours;
    sigemptyset(&none);
    sigemptyset(&ours);
    sigaddset(&ours, SIGPIPE);
    sigaddset(&ours, SIGTTIN);
    posix_spawn_file_actions_init(&acts);
    posix_spawn_file_actions_addopen(&acts, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&acts, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&acts, stream, CT_DAEMON_FD);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &ours);
    int err = posix_spawn(pid, file, &acts, &attr, argv, env);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&acts);
    return err;
}

pid_t ct_daemon_start(const char *daemon, const char *job, int *fd)
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
    int err = spawn(daemon, argv, env, pair[1], &pid);
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
