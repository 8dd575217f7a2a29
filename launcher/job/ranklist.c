/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of ranks; see ranklist.h. */
#include "config.h"
#include "launcher/job/ranklist.h"

#include <ctype.h>
#include <string.h>

#include "launcher/launcher.h"

static bool is_end(char c)
{
    return c == '\0' || c == ':';
}

static bool is_all(const char *list)
{
    return strncmp(list, "all", 3) == 0 && is_end(list[3]);
}

/* A number of few digits; moves on. */
static bool take_rank(const char **at, uint32_t *out)
{
    const char *begin = *at;
    *out = 0;
    while (isdigit((unsigned char)**at) && *at - begin < 6) {
        *out = 10 * *out + (uint32_t)(**at - '0');
        (*at)++;
    }
    return *at > begin && *out < CT_MAX_RANKS;
}

/* Reads the next "N" or "N-M" and the comma after it, and moves on. Returns false if there is
 * none. */
static bool take_range(const char **at, uint32_t *first, uint32_t *last)
{
    if (!take_rank(at, first)) {
        return false;
    }
    *last = *first;
    if (**at == '-') {
        (*at)++;
        if (!take_rank(at, last) || *last < *first) {
            return false;
        }
    }
    if (**at == ',') {
        (*at)++;
        return !is_end(**at);
    }
    return is_end(**at);
}

bool ct_ranklist_is_valid(const char *list, uint32_t *highest)
{
    uint32_t first, last;
    *highest = 0;
    if (is_all(list)) {
        return true;
    }
    do {
        if (!take_range(&list, &first, &last)) {
            return false;
        }
        *highest = last > *highest ? last : *highest;
    } while (!is_end(*list));
    return true;
}

bool ct_ranklist_has(const char *list, uint32_t rank)
{
    uint32_t first, last;
    if (is_all(list)) {
        return true;
    }
    while (take_range(&list, &first, &last)) {
        if (first <= rank && rank <= last) {
            return true;
        }
    }
    return false;
}

uint32_t ct_ranklist_count(const char *list, uint32_t n)
{
    uint32_t count = 0;
    for (uint32_t rank = 0; rank < n; rank++) {
        count += ct_ranklist_has(list, rank);
    }
    return count;
}

uint32_t ct_ranklist_first(const char *list)
{
    uint32_t first, last, lowest = is_all(list) ? 0 : CT_MAX_RANKS;
    while (take_range(&list, &first, &last)) {
        lowest = first < lowest ? first : lowest;
    }
    return lowest;
}
