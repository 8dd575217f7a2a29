/* SPDX-License-Identifier: BSD-3-Clause */
/* Formatting of log records and the choice of where they go. */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"

static const char *const level_names[] = {"none", "error", "warn", "info", "debug", "trace"};

void ct_log_init(struct ct_log *log, enum ct_log_level level, const char *who)
{
    log->level = level;
    log->fd = STDERR_FILENO;
    snprintf(log->who, sizeof log->who, "%s", who);
}

/* Appends the value of a % letter to out; returns the new length, which is cap or more where it
 * does not fit, SIZE_MAX for an unknown letter. */
static size_t expand(char *out, size_t cap, size_t len, char letter, const char *host, int rank,
                     const char *job)
{
    int n;
    switch (letter) {
    case 'h':
        n = snprintf(out + len, cap - len, "%s", host);
        break;
    case 'r':
        n = snprintf(out + len, cap - len, "%d", rank);
        break;
    case 'p':
        n = snprintf(out + len, cap - len, "%d", (int)getpid());
        break;
    case 'j':
        n = snprintf(out + len, cap - len, "%s", job);
        break;
    case '%':
        n = snprintf(out + len, cap - len, "%%");
        break;
    default:
        return SIZE_MAX;
    }
    return len + (size_t)n;
}

static int bad_letter(const struct ct_log *log, const char *variable, const char *pattern,
                      char letter)
{
    char what[32] = "a lone % at its end";
    if (letter != '\0') {
        snprintf(what, sizeof what, "%%%c is unknown", letter);
    }
    ct_log_write(log, CT_LOG_ERROR, "base",
                 "%s=\"%s\": %s; known are %%h host, %%r rank, %%p pid, %%j job id", variable,
                 pattern, what);
    return CTRAN_ERR_CONFIG;
}

int ct_log_path(const struct ct_log *log, const char *variable, const char *pattern,
                const char *host, int rank, const char *job, char *path, size_t cap)
{
    size_t len = 0;
    for (const char *p = pattern; *p != '\0' && len < cap - 1; p++) {
        if (*p != '%') {
            path[len++] = *p;
            continue;
        }
        len = expand(path, cap, len, *++p, host, rank, job);
        if (len == SIZE_MAX) {
            return bad_letter(log, variable, pattern, *p);
        }
    }
    if (len >= cap - 1) { /* cut short it would name another file */
        ct_log_write(log, CT_LOG_ERROR, "base", "%s: a path of %zu characters or more is too long",
                     variable, cap - 1);
        return CTRAN_ERR_CONFIG;
    }
    path[len] = '\0';
    return CTRAN_SUCCESS;
}

int ct_log_open(struct ct_log *log, const char *pattern, const char *host, int rank,
                const char *job)
{
    char path[4096];
    int  rc = ct_log_path(log, "CTRAN_LOG_FILE", pattern, host, rank, job, path, sizeof path);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0) {
        ct_log_write(log, CT_LOG_ERROR, "base",
                     "cannot open log file \"%s\": %s; choose another CTRAN_LOG_FILE", path,
                     strerror(errno));
        return CTRAN_ERR_SYSTEM;
    }
    log->fd = fd;
    return CTRAN_SUCCESS;
}

void ct_log_fini(struct ct_log *log)
{
    if (log->fd != STDERR_FILENO) {
        close(log->fd);
        log->fd = STDERR_FILENO;
    }
}

void ct_log_write(const struct ct_log *log, enum ct_log_level level, const char *folder,
                  const char *fmt, ...)
{
    int            saved = errno;
    char           line[2048];
    struct timeval tv;
    struct tm      tm;
    gettimeofday(&tv, NULL);
    localtime_r(&tv.tv_sec, &tm);
    int len = snprintf(line, sizeof line, "%02d:%02d:%02d.%06ld %s %s %s: ", tm.tm_hour, tm.tm_min,
                       tm.tm_sec, (long)tv.tv_usec, log->who, level_names[level], folder);
    va_list ap;
    va_start(ap, fmt);
    int more = vsnprintf(line + len, sizeof line - (size_t)len - 1, fmt, ap);
    va_end(ap);
    size_t total = ct_min_size((size_t)len + (size_t)(more > 0 ? more : 0), sizeof line - 2);
    line[total++] = '\n';
    ssize_t n = write(log->fd, line, total);
    (void)n; /* a log that cannot be written must not fail the call that logs */
    errno = saved;
}
