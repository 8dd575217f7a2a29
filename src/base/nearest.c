/* SPDX-License-Identifier: BSD-3-Clause */
/* Near misses; see nearest.h. Used by config.c, and by the launcher for its options. */
#include "base/nearest.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "base/util.h"

/* Levenshtein distance, without regard to case; names are short. */
static unsigned distance(const char *a, const char *b)
{
    unsigned row[128];
    size_t   nb = strlen(b);
    if (nb >= CT_ARRAY_LEN(row)) {
        return 1000;
    }
    for (size_t j = 0; j <= nb; j++) {
        row[j] = (unsigned)j;
    }
    for (size_t i = 1; a[i - 1] != '\0'; i++) {
        unsigned diag = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= nb; j++) {
            int      same = toupper((unsigned char)a[i - 1]) == toupper((unsigned char)b[j - 1]);
            unsigned best = diag + (same ? 0 : 1);
            best = best < row[j] + 1 ? best : row[j] + 1;
            best = best < row[j - 1] + 1 ? best : row[j - 1] + 1;
            diag = row[j];
            row[j] = best;
        }
    }
    return row[nb];
}

void ct_nearest_try(struct ct_nearest *n, const char *candidate)
{
    unsigned d = distance(n->asked, candidate);
    if (d < n->distance) {
        n->distance = d;
        n->name = candidate;
    }
}
