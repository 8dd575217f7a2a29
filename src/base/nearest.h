/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the known name that is nearest to a misspelt one. Used for variables and for options. */
#ifndef CT_BASE_NEAREST_H
#define CT_BASE_NEAREST_H

/* The best of the candidates so far; begins as {asked, NULL, limit}, where a candidate has to be
 * nearer than the limit. */
struct ct_nearest {
    const char *asked;
    const char *name; /* NULL: none is near */
    unsigned    distance;
};

/* Takes the candidate if it is nearer, by insertions, deletions and changes of letters, without
 * regard to case. The earlier of two equally near ones stays. */
void ct_nearest_try(struct ct_nearest *n, const char *candidate);

#endif
