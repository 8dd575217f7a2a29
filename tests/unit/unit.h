/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the unit tests share: cmocka with the headers it wants before it, numbers that look random
 * and are the same in every run, and a log that goes into memory where a test can read it.
 */
#ifndef CT_TESTS_UNIT_UNIT_H
#define CT_TESTS_UNIT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base.h"

/* The next number of the sequence that *state (not 0) stands for. */
static inline uint64_t unit_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * 0x2545f4914f6cdd1du;
}

/* One of 0 .. below - 1. */
static inline uint32_t unit_below(uint64_t *state, uint32_t below)
{
    return (uint32_t)((unit_random(state) >> 32) * below >> 32);
}

/* Lines from `level` on go into memory; ct_log_fini releases it. */
static inline void unit_log_init(struct ct_log *log, enum ct_log_level level)
{
    ct_log_init(log, level, "test:0");
    int fd = memfd_create("log", MFD_CLOEXEC);
    log->fd = fd >= 0 ? fd : log->fd;
}

/* What has been logged since the last time, as text that is valid until the next call by this
 * thread. */
static inline const char *unit_logged(const struct ct_log *log)
{
    static _Thread_local char text[16384];
    ssize_t                   n = pread(log->fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    if (ftruncate(log->fd, 0) != 0 || lseek(log->fd, 0, SEEK_SET) != 0) {
        text[0] = '\0';
    }
    return text;
}

/* How often `part` stands in `text`. */
static inline unsigned unit_count(const char *text, const char *part)
{
    unsigned n = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part)) {
        n++;
    }
    return n;
}

/* Fails, showing both, unless `part` stands in `text`. */
static inline void unit_contains(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        fail_msg("\"%s\" does not stand in \"%s\"", part, text);
    }
}

#endif
