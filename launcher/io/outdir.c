/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks' own files; see outdir.h. Used by rankio.c. */
#include "config.h"
#include "launcher/io/outdir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int outdir_digits(uint32_t n)
{
    int count = 1;
    while (n >= 10) {
        n /= 10;
        count++;
    }
    return count;
}

/* The directories above, which on this host may be missing. */
static void make_parents(const char *path)
{
    char part[PATH_MAX + 32];
    snprintf(part, sizeof part, "%s", path);
    for (char *c = part + 1; *c != '\0'; c++) {
        if (*c == '/') {
            *c = '\0';
            (void)mkdir(part, 0777); /* the next step reports what is missing */
            *c = '/';
        }
    }
}

int ct_outdir_open(const char *dir, uint32_t rank, uint32_t job_ranks, bool is_stderr, char *why,
                   size_t cap)
{
    char path[PATH_MAX + 32];
    int  len = snprintf(path, sizeof path, "%s/rank.%0*u", dir, outdir_digits(job_ranks - 1), rank);
    int  fd = -1;
    int  made = mkdir(path, 0777);
    if (made != 0 && errno == ENOENT) {
        make_parents(path);
        made = mkdir(path, 0777);
    }
    if (made == 0 || errno == EEXIST) {
        snprintf(path + len, sizeof path - (size_t)len, "/%s", is_stderr ? "stderr" : "stdout");
        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    }
    if (fd < 0) {
        snprintf(why, cap, "cannot make %s for --output-dir: %s", path, strerror(errno));
    }
    return fd;
}

int ct_outdir_write(int fd, const uint8_t *data, size_t len_bytes)
{
    while (len_bytes > 0) {
        ssize_t n = write(fd, data, len_bytes);
        if (n >= 0) {
            data += n;
            len_bytes -= (size_t)n;
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}
