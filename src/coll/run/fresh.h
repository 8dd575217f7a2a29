/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether memory was written since it was looked at last, as a few of its words show. What a
 * program sends again unchanged is still in the caches of those who have read it; what it has
 * written has to come out of its own, line by line, which costs two to three times as much. Memory
 * that was not seen before counts as written, and so does what was not among the last few. That the
 * same was written again, or between those words, is not noticed.
 */
#ifndef CT_COLL_RUN_FRESH_H
#define CT_COLL_RUN_FRESH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CT_FRESH_SEEN = 8, CT_FRESH_WORDS = 8 };

/* Zeros at first. */
struct ct_fresh {
    unsigned next; /* to make room */
    struct ct_fresh_seen {
        const char *base; /* NULL: none */
        size_t      len_bytes;
        uint64_t    word[CT_FRESH_WORDS];
    } seen[CT_FRESH_SEEN];
};

/* What is shorter than a word counts as written. */
bool ct_fresh_look(struct ct_fresh *f, const void *base, size_t len_bytes);

#endif
