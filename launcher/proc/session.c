/* SPDX-License-Identifier: BSD-3-Clause */
/* Session directories; see session.h. Used by head/run.c and ctrand.c. */
#include "config.h"
#include "launcher/proc/session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "launcher/launcher.h"
#include "launcher/proc/reaper.h"

const char *ct_session_base(void)
{
    const char *dir = getenv("TMPDIR");
    return dir != NULL && *dir == '/' ? dir : "/tmp";
}

/* Opens a directory in the directory `at`, if it is one and no link to one. Returns -1 if not. */
static int open_dir(int at, const char *name)
{
    return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Empties the directory `fd` and closes it. Works by descriptors, so a renamed directory cannot
 * mislead it. What cannot be removed now is removed at a later start. */
static void session_empty(int fd, unsigned depth)
{
    enum { MOST_LEVELS = 16 };
    DIR *dir = fdopendir(fd);
    if (dir == NULL) {
        close(fd);
        return;
    }
    for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
            unlinkat(fd, e->d_name, 0) == 0) {
            continue;
        }
        int below = depth < MOST_LEVELS ? open_dir(fd, e->d_name) : -1;
        if (below >= 0) {
            session_empty(below, depth + 1);
            (void)unlinkat(fd, e->d_name, AT_REMOVEDIR);
        }
    }
    closedir(dir);
}

/* Anybody can make a directory of any name in /tmp: only a directory of this user counts. */
static bool session_is_ours(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && st.st_uid == getuid() && (st.st_mode & 077) == 0;
}

/* What the name of a session directory tells. */
struct name {
    unsigned           uid;
    char               job[32];
    long               pid;
    unsigned long long start;
};

static bool read_name(struct name *out, const char *text)
{
    int end = 0;
    return sscanf(text, CT_SESSION_PREFIX "-%u-%31[0-9a-f]-%ld-%llu%n", &out->uid, out->job,
                  &out->pid, &out->start, &end) == 4 &&
           text[end] == '\0' && out->uid == getuid();
}

/* Whether the directory `fd` is free: its daemon is gone and the lock can be taken. */
static bool is_stale(int fd, const struct name *n)
{
    if (n->pid > 0 && ct_reaper_start_time((pid_t)n->pid) == n->start) {
        return false;
    }
    return flock(fd, LOCK_EX | LOCK_NB) == 0;
}

/* Goes through the directories of this user, and removes that of `job` and `pid`, or with NULL
 * those of dead daemons. */
static void session_sweep(const char *job, pid_t pid)
{
    DIR *dir = opendir(ct_session_base());
    if (dir == NULL) {
        return;
    }
    for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
        struct name n;
        if (!read_name(&n, e->d_name) ||
            (job != NULL && (strcmp(n.job, job) != 0 || n.pid != (long)pid))) {
            continue;
        }
        int fd = open_dir(dirfd(dir), e->d_name);
        if (fd >= 0 && session_is_ours(fd) && (job != NULL || is_stale(fd, &n))) {
            const int lock = dup(fd); /* held until the name is gone, too */
            session_empty(fd, 0);
            (void)unlinkat(dirfd(dir), e->d_name, AT_REMOVEDIR);
            if (lock >= 0) {
                close(lock);
            }
        } else if (fd >= 0) {
            close(fd);
        }
    }
    closedir(dir);
}

/* Whether the directory of that path is the one behind the descriptor. */
static bool is_still_there(int fd, const char *path)
{
    struct stat a, b;
    return fstat(fd, &a) == 0 && lstat(path, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* A process that cannot see this one, as in another container or on another host with the same
 * directory, may take the new directory for a dead daemon's before it is locked: then the directory
 * is made again. */
static int make_and_lock(struct ct_session *s)
{
    enum { ATTEMPTS = 20, PAUSE_NS = 5000000 };
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    int                   error = 0;
    for (int i = 0; i < ATTEMPTS; i++) {
        if (mkdir(s->path, 0700) != 0 && errno != EEXIST) {
            return errno;
        }
        errno = EBUSY; /* if it is another's, or gone again */
        s->lock_fd = open_dir(AT_FDCWD, s->path);
        if (s->lock_fd >= 0 && session_is_ours(s->lock_fd) &&
            flock(s->lock_fd, LOCK_EX | LOCK_NB) == 0 && is_still_there(s->lock_fd, s->path)) {
            return 0;
        }
        error = errno;
        if (s->lock_fd >= 0) {
            close(s->lock_fd);
            s->lock_fd = -1;
        }
        (void)nanosleep(&pause, NULL); /* for a process that is about to remove it */
    }
    return error;
}

int ct_session_create(struct ct_session *s, const char *job)
{
    session_sweep(NULL, 0);
    snprintf(s->path, sizeof s->path, "%s/" CT_SESSION_PREFIX "-%u-%s-%ld-%llu", ct_session_base(),
             (unsigned)getuid(), job, (long)getpid(),
             (unsigned long long)ct_reaper_start_time(getpid()));
    return make_and_lock(s);
}

/* Removes a file unless its rank lives, which then has a lock on it. */
static void remove_unlocked(int dir_fd, const char *name)
{
    int fd = openat(dir_fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) {
        (void)unlinkat(dir_fd, name, 0); /* fails if the directory is not this user's */
    }
    if (fd >= 0) {
        close(fd);
    }
}

/* Files that killed ranks of the job left in CTRAN_SHM_DIR (node/segment.c names them). */
static void remove_shm(const char *job)
{
    struct ct_log    log;
    struct ct_config cfg;
    char             prefix[64];
    ct_log_init(&log, CT_LOG_NONE, "ctranrun");
    snprintf(prefix, sizeof prefix, "ctran-%s-", job);
    DIR *dir = ct_config_load(&cfg, &log) == CTRAN_SUCCESS ? opendir(cfg.shm_dir) : NULL;
    for (struct dirent *e = NULL; dir != NULL && (e = readdir(dir)) != NULL;) {
        if (strncmp(e->d_name, prefix, strlen(prefix)) == 0) {
            remove_unlocked(dirfd(dir), e->d_name);
        }
    }
    if (dir != NULL) {
        closedir(dir);
    }
    ct_config_fini(&cfg);
}

void ct_session_remove(const char *job, pid_t pid)
{
    session_sweep(pid > 0 ? job : NULL, pid);
    remove_shm(job);
}

/* ---- the socket in the directory ------------------------------------------------------------- */

/* A socket's path has at most 107 bytes, and TMPDIR may be longer: it is named by the descriptor of
 * its directory. */
static int make_socket(int dir_fd, struct sockaddr_un *at)
{
    *at = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(at->sun_path, sizeof at->sun_path, "/proc/self/fd/%d/status", dir_fd);
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

int ct_session_listen(int dir_fd)
{
    struct sockaddr_un at;
    int                fd = make_socket(dir_fd, &at);
    if (fd >= 0 && (bind(fd, (struct sockaddr *)&at, sizeof at) != 0 || listen(fd, 8) != 0 ||
                    fcntl(fd, F_SETFL, O_NONBLOCK) != 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

int ct_session_connect(int dir_fd)
{
    struct sockaddr_un at;
    int                fd = make_socket(dir_fd, &at);
    /* Nonblocking: a stopped daemon with a full queue must not hold this process. */
    if (fd >= 0 && (fcntl(fd, F_SETFL, O_NONBLOCK) != 0 ||
                    connect(fd, (struct sockaddr *)&at, sizeof at) != 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

void ct_session_each(ct_session_fn fn, void *arg)
{
    DIR *dir = opendir(ct_session_base());
    for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;) {
        struct name n;
        int         fd = read_name(&n, e->d_name) ? open_dir(dirfd(dir), e->d_name) : -1;
        if (fd >= 0 && session_is_ours(fd) && !is_stale(fd, &n)) {
            fn(arg, n.job, fd);
        }
        if (fd >= 0) {
            close(fd);
        }
    }
    if (dir != NULL) {
        closedir(dir);
    }
}
