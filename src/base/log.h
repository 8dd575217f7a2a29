/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The log: one line a record, written at once with a single write(), so that lines of several
 * ranks stay whole:  "14:03:07.123456 host:3 warn net: text".
 *
 * error: a call fails. warn: a call succeeds, but slower or with fewer features than it could.
 * info: facts that are logged once for each object (a job, a communicator, a connection), mostly
 * when it is made. debug: decisions. trace: every message; compiled out unless CT_TRACE is 1. The
 * function that first knows the cause logs it, once; its callers pass the code up.
 *
 * A source file that logs defines CT_FOLDER, the name of its folder, before its includes.
 */
#ifndef CT_BASE_LOG_H
#define CT_BASE_LOG_H

#include <stdbool.h>

#include "base/util.h"

#ifndef CT_TRACE
#define CT_TRACE 0
#endif

enum ct_log_level {
    CT_LOG_NONE,
    CT_LOG_ERROR,
    CT_LOG_WARN,
    CT_LOG_INFO,
    CT_LOG_DEBUG,
    CT_LOG_TRACE
};

struct ct_log {
    enum ct_log_level level;
    int               fd;      /* where lines go; 2 unless a file was asked for */
    char              who[96]; /* "host:rank", or a program's name */
};

/* Lines to stderr, from `level` on, in the name of `who`. */
void ct_log_init(struct ct_log *log, enum ct_log_level level, const char *who);

/* Writes the path that a pattern of a variable stands for, as in ct_log_open, in memory for `cap`
 * characters. CTRAN_ERR_CONFIG, logged: the pattern makes no sense, or the path is too long. */
int ct_log_path(const struct ct_log *log, const char *variable, const char *pattern,
                const char *host, int rank, const char *job, char *path, size_t cap);

/* Sends lines to a file instead. In `pattern` %h stands for the host, %r for the rank, %p for the
 * pid, %j for the job id. CTRAN_ERR_SYSTEM when it cannot be opened; the log stays on stderr. */
int  ct_log_open(struct ct_log *log, const char *pattern, const char *host, int rank,
                 const char *job);
void ct_log_fini(struct ct_log *log);

/* Writes one record; a newline is added. errno is preserved. */
void ct_log_write(const struct ct_log *log, enum ct_log_level level, const char *folder,
                  const char *fmt, ...) CT_PRINTF(4, 5) CT_COLD;

#define CT_LOG_(log, lvl, ...)                                                                     \
    ((lvl) <= (log)->level ? ct_log_write((log), (lvl), CT_FOLDER, __VA_ARGS__) : (void)0)
#define ct_error(log, ...) CT_LOG_(log, CT_LOG_ERROR, __VA_ARGS__)
#define ct_warn(log, ...)  CT_LOG_(log, CT_LOG_WARN, __VA_ARGS__)
#define ct_info(log, ...)  CT_LOG_(log, CT_LOG_INFO, __VA_ARGS__)
#define ct_debug(log, ...) CT_LOG_(log, CT_LOG_DEBUG, __VA_ARGS__)
#define ct_trace(log, ...) (CT_TRACE ? CT_LOG_(log, CT_LOG_TRACE, __VA_ARGS__) : (void)0)

#endif
