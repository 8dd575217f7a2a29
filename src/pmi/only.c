/* SPDX-License-Identifier: BSD-3-Clause */
/* The lock of the process that is a rank; see only.h. */
#define CT_FOLDER "pmi"
#include "pmi/only.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* -1: there is none that can be believed. The folder may be one where others may write, and may
 * serve several jobs. */
static int only_open_file(const char *dir, const char *job, const char *rank)
{
    char        path[PATH_MAX];
    struct stat st;
    int         n = snprintf(path, sizeof path, "%s/" CT_ONLY_FILE, dir, job, rank);
    if (n < 0 || n >= (int)sizeof path) {
        return -1;
    }
    int fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
                    (st.st_mode & 077) != 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

/* If the lock belongs to another container, the kernel does not say which process has it. */
static void tell_other(const struct ct_log *log, const char *rank, const struct flock *held)
{
    const char *id = getenv(CT_ENV_JOB);
    char        who[64] = "another process";
    if (held->l_type != F_UNLCK && held->l_pid > 0) {
        snprintf(who, sizeof who, "process %ld", (long)held->l_pid);
    }
    ct_error(log,
             "%s is rank %s of job %s already, and this process, %ld, which has its environment, "
             "cannot be that rank, too: have a rank start a program that uses ctran with ctranrun, "
             "or without PMIX_NAMESPACE in its environment, as a job of one",
             who, rank, id != NULL ? id : "(unnamed)", (long)getpid());
}

int ct_only_take(const struct ct_log *log, int *fd)
{
    const char  *dir = getenv("PMIX_SERVER_TMPDIR"), *job = getenv("PMIX_NAMESPACE");
    const char  *rank = getenv("PMIX_RANK");
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    *fd = -1;
    if (dir == NULL || job == NULL || rank == NULL || strspn(rank, "0123456789") != strlen(rank)) {
        return CTRAN_SUCCESS;
    }
    *fd = only_open_file(dir, job, rank);
    if (*fd < 0) {
        return CTRAN_SUCCESS;
    }
    if (fcntl(*fd, F_SETLK, &whole) == 0) {
        (void)ftruncate(*fd, 0); /* an empty file cannot fail to become so */
        return CTRAN_SUCCESS;
    }
    bool taken = errno == EAGAIN || errno == EACCES; /* else the file system has no locks */
    if (taken) {
        (void)fcntl(*fd, F_GETLK, &whole);
        tell_other(log, rank, &whole);
    }
    close(*fd);
    *fd = -1;
    return taken ? CTRAN_ERR_BOOTSTRAP : CTRAN_SUCCESS;
}

void ct_only_leave(int fd)
{
    if (fd >= 0) {
        ssize_t n = pwrite(fd, CT_ONLY_LEFT, strlen(CT_ONLY_LEFT), 0);
        (void)n; /* on a full disk the rank is thought not to have left */
        close(fd);
    }
}

bool ct_only_is_vain(uint32_t *rank)
{
    const char *dir = getenv("PMIX_SERVER_TMPDIR");
    char        path[PATH_MAX], text[32] = "", *after;
    struct stat st;
    int         n = dir != NULL ? snprintf(path, sizeof path, "%s/" CT_ENDED_FILE, dir) : -1;
    int         fd = n > 0 && n < (int)sizeof path
                         ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
                         : -1;
    if (fd < 0) {
        return false;
    }
    bool ours = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid();
    bool some = ours && read(fd, text, sizeof text - 1) > 0;
    close(fd);
    *rank = (uint32_t)strtoul(text, &after, 10);
    return some && after > text && *after == '\n';
}

void ct_only_tell(const struct ct_log *log, const char *job, uint32_t rank)
{
    ct_error(log,
             "the ranks of job %s did not all start: rank %" PRIu32
             " has ended with status 0 before it called ctran_init",
             job, rank);
}
