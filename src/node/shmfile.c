/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files as shared memory. A file has one name at most. A process that removes the name has checked,
 * under the lock that excludes all others, that the file still has it; so no process removes the
 * name of another's file.
 */
#include "node/shmfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

int ct_shmfile_open(const char *dir, int lock)
{
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 && flock(fd, lock) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

int ct_shmfile_link(int fd, const char *path)
{
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, self, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

bool ct_shmfile_may_be(uint64_t len_bytes)
{
    struct rlimit most;
    if (getrlimit(RLIMIT_FSIZE, &most) != 0 || len_bytes <= most.rlim_cur) {
        return true;
    }
    errno = EFBIG;
    return false;
}

/* A signal would end this and take all back: a timer of the program's for ever. Where the file
 * system cannot reserve, the C library writes to each block. */
int ct_shmfile_reserve(int fd, size_t at, size_t len_bytes)
{
    sigset_t all, before;
    if (!ct_shmfile_may_be((uint64_t)at + len_bytes)) {
        return -1;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int why = posix_fallocate(fd, (off_t)at, (off_t)len_bytes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = why;
    return why == 0 ? 0 : -1;
}

bool ct_shmfile_remove_left(int fd, const char *path)
{
    struct stat st;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        return false;
    }
    if (fstat(fd, &st) == 0 && st.st_nlink > 0) {
        (void)unlink(path);
    }
    return true;
}

/* A name as those who link files make them: the prefix, and at the end 16 hexadecimal digits. */
static bool is_name(const char *name)
{
    enum { DIGITS = 16 };
    const size_t len = strlen(name);
    return len > strlen(CT_SHMFILE_PREFIX) + DIGITS &&
           strncmp(name, CT_SHMFILE_PREFIX, strlen(CT_SHMFILE_PREFIX)) == 0 &&
           name[len - DIGITS - 1] == '-' &&
           strspn(name + len - DIGITS, "0123456789abcdef") == DIGITS;
}

void ct_shmfile_sweep(const char *dir_name)
{
    DIR *dir = opendir(dir_name);
    if (dir == NULL) {
        return;
    }
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        char path[512];
        int  n = snprintf(path, sizeof path, "%s/%s", dir_name, e->d_name);
        if (!is_name(e->d_name) || n >= (int)sizeof path) {
            continue;
        }
        int         fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        struct stat st;
        if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid()) {
            (void)ct_shmfile_remove_left(fd, path);
        }
        if (fd >= 0) {
            close(fd);
        }
    }
    closedir(dir);
}

/* ---- a file in common ------------------------------------------------------------------------ */

enum { MOST_FULL = 100 };

/* A way to it. */
struct way {
    const struct ct_shmfile_common *file;
    enum ct_shmfile_step            step;  /* that failed */
    bool                            again; /* and may succeed the next time */
    unsigned                        full;  /* attempts that found no room */
};

static int shmfile_fails(struct way *w, enum ct_shmfile_step step, bool again)
{
    w->step = step;
    w->again = again;
    return -1;
}

static int shmfile_shut(int fd)
{
    const int why = errno;
    close(fd);
    errno = why;
    return -1;
}

static bool shmfile_fill(int fd, const struct ct_shmfile_common *file)
{
    const off_t len = (off_t)file->len_bytes;
    return ct_shmfile_reserve(fd, 0, file->len_bytes) == 0 && ftruncate(fd, len) == 0 &&
           pwrite(fd, file->head, file->head_bytes, 0) == (ssize_t)file->head_bytes;
}

/* Other processes may be first, or may have taken the room by trying the same, until one of them is
 * first. */
static int shmfile_make(struct way *w)
{
    ct_shmfile_sweep(w->file->dir);
    const int fd = ct_shmfile_open(w->file->dir, LOCK_SH);
    if (fd < 0) {
        return shmfile_fails(w, CT_SHMFILE_MAKE, false);
    }
    if (shmfile_fill(fd, w->file) && ct_shmfile_link(fd, w->file->path) == 0) {
        return fd;
    }
    const bool full = (errno == ENOSPC || errno == ENOMEM) && w->full++ < MOST_FULL;
    (void)shmfile_fails(w, CT_SHMFILE_MAKE, full || errno == EEXIST);
    return shmfile_shut(fd);
}

/* It may be left from a crash, or about to go. */
static int shmfile_join(struct way *w, int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || st.st_uid != geteuid() || (st.st_mode & 077) != 0) {
        errno = EPERM;
        (void)shmfile_fails(w, CT_SHMFILE_TRUST, false);
        return shmfile_shut(fd);
    }
    if (ct_shmfile_remove_left(fd, w->file->path) || flock(fd, LOCK_SH | LOCK_NB) != 0 ||
        fstat(fd, &st) != 0 || st.st_nlink == 0) {
        errno = EAGAIN;
        (void)shmfile_fails(w, CT_SHMFILE_LOCK, true);
        return shmfile_shut(fd);
    }
    return fd;
}

static int shmfile_find(struct way *w)
{
    const int fd = open(w->file->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0) {
        return shmfile_join(w, fd);
    }
    return errno == ENOENT ? shmfile_make(w) : shmfile_fails(w, CT_SHMFILE_OPEN, false);
}

int ct_shmfile_share(const struct ct_shmfile_common *file, enum ct_shmfile_step *step)
{
    const struct timespec nap = {.tv_nsec = (long)file->nap_ns};
    struct way            w = {.file = file};
    int                   fd;
    while ((fd = shmfile_find(&w)) < 0 && w.again && ct_clock_ns() < file->end_ns) {
        nanosleep(&nap, NULL);
    }
    if (fd < 0 && w.again && errno == EEXIST) { /* it comes and goes */
        w.step = CT_SHMFILE_LOCK;
        errno = EAGAIN;
    }
    *step = w.step;
    return fd;
}
