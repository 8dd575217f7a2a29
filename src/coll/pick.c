/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of collectives and algorithms as users write them, and lists that force algorithms. */
#define CT_FOLDER "coll"
#include <stdlib.h>

#include "coll/coll.h"

/* Adds a word to a list in `out`. */
static void append(char *out, size_t cap, const char *separator, const char *word)
{
    size_t at = strlen(out);
    snprintf(out + at, cap - at, "%s%s", separator, word);
}

uint32_t ct_coll_parse(const char *name, char *why, size_t cap)
{
    uint32_t coll = ct_algo_coll_by_name(name);
    if (coll == 0) {
        snprintf(why, cap, "no collective \"%.64s\"; there are", name);
        for (uint32_t c = 1; ct_algo_coll_name(c) != NULL; c <<= 1) {
            append(why, cap, c == 1 ? " " : ", ", ct_algo_coll_name(c));
        }
    }
    return coll;
}

static void name_algorithms(uint32_t coll, const char *name, char *why, size_t cap)
{
    const char *separator = " ";
    snprintf(why, cap, "no algorithm \"%.64s\" of %s; there are", name, ct_algo_coll_name(coll));
    for (const struct ct_algo *const *a = ct_algo_table; *a != NULL; a++) {
        if (((*a)->colls & coll) != 0) {
            append(why, cap, separator, (*a)->name);
            separator = ", ";
        }
    }
}

bool ct_pick_parse(uint32_t coll, const char *text, struct ct_pick *pick, char *why, size_t cap)
{
    char        name[64];
    size_t      len = strcspn(text, ":");
    const char *radix = text[len] == ':' ? text + len + 1 : NULL;
    int64_t     n = CT_RADIX_DEFAULT;
    snprintf(name, sizeof name, "%.*s", (int)ct_min_size(len, sizeof name), text);
    pick->algo = len < sizeof name ? ct_algo_find(coll, name) : NULL;
    if (pick->algo == NULL) {
        name_algorithms(coll, name, why, cap);
        return false;
    }
    if (radix != NULL && (pick->algo->traits & CT_RADIX) == 0) {
        snprintf(why, cap, "%s of %s has no radix, found \":%.64s\"", name, ct_algo_coll_name(coll),
                 radix);
        return false;
    }
    if (radix != NULL && (!ct_config_number(CT_VAR_INT, radix, &n) || n < 2 || n > CT_MAX_RADIX)) {
        snprintf(why, cap, "\"%.64s\" is no radix; it is a number from 2 to %d", radix,
                 CT_MAX_RADIX);
        return false;
    }
    pick->radix = (uint32_t)n;
    return true;
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* One "collective:algorithm[:radix]" or "collective=algorithm[:radix]". */
static bool read_item(char *item, struct ct_pick *forced, char *why, size_t cap)
{
    char *sep = item + strcspn(item, ":=");
    if (*sep == '\0') {
        snprintf(why, cap, "\"%.64s\" is no COLLECTIVE:ALGORITHM or COLLECTIVE:ALGORITHM:RADIX",
                 item);
        return false;
    }
    *sep = '\0';
    uint32_t coll = ct_coll_parse(item, why, cap);
    if (coll == 0) {
        return false;
    }
    struct ct_pick *pick = &forced[ct_coll_index(coll)];
    if (pick->algo != NULL) {
        snprintf(why, cap, "%s is named twice", item);
        return false;
    }
    return ct_pick_parse(coll, sep + 1, pick, why, cap);
}

bool ct_forced_parse(const char *list, struct ct_pick *forced, char *why, size_t cap)
{
    static const char separators[] = ",; ";
    char              item[128];
    memset(forced, 0, CT_COLL_KINDS * sizeof *forced);
    for (list += strspn(list, separators); *list != '\0'; list += strspn(list, separators)) {
        size_t len = strcspn(list, separators);
        if (len >= sizeof item) {
            snprintf(why, cap, "\"%.32s...\" is too long", list);
            return false;
        }
        memcpy(item, list, len);
        item[len] = '\0';
        if (!read_item(item, forced, why, cap)) {
            return false;
        }
        list += len;
    }
    return true;
}
