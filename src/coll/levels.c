/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The levels of a communicator: from where its ranks stand (comm/distance.c), or, for tests, from
 * their numbers. All that is asked here is known to all ranks alike, so that all get the same
 * without a word.
 */
#define CT_FOLDER "coll"
#include <ctype.h>
#include <stdlib.h>

#include "coll/coll.h"
#include "pmi/pmi.h"

enum { MAX_LEVELS = 5 };

/* What CTRAN_COLL_LEVELS asks for. */
struct wish {
    uint32_t n;                 /* levels; 0: off */
    bool     artificial;        /* so many ranks, or groups of them, in a group */
    uint32_t value[MAX_LEVELS]; /* that, or an enum ct_distance */
};

/* "4x2" */
static bool read_sizes(const char *s, struct wish *wish)
{
    wish->artificial = true;
    for (;;) {
        char              *end;
        unsigned long long value = isdigit((unsigned char)*s) ? strtoull(s, &end, 10) : 0;
        if (value < 1 || value > 1 << 20 || wish->n == MAX_LEVELS) {
            return false;
        }
        wish->value[wish->n++] = (uint32_t)value;
        if (*end == '\0') {
            return true;
        }
        if (*end != 'x') {
            return false;
        }
        s = end + 1;
    }
}

/* "node,rack", each farther than the one before. */
static bool read_names(const char *s, struct wish *wish)
{
    for (;;) {
        size_t   len = strcspn(s, ", ");
        uint32_t d = CT_DIST_NODE;
        for (; d <= CT_DIST_DC; d++) {
            const char *name = ct_distance_name((enum ct_distance)d);
            if (strlen(name) == len && strncmp(name, s, len) == 0) {
                break;
            }
        }
        if (d > CT_DIST_DC || (wish->n > 0 && d <= wish->value[wish->n - 1])) {
            return false;
        }
        wish->value[wish->n++] = d;
        s += len;
        s += strspn(s, ", ");
        if (*s == '\0') {
            return true;
        }
    }
}

static bool read_wish(const struct ct_process *p, struct wish *wish)
{
    const char *s = p->cfg.coll_levels;
    *wish = (struct wish){.n = 0};
    if (strcmp(s, "off") == 0) {
        return true;
    }
    return isdigit((unsigned char)*s) ? read_sizes(s, wish) : read_names(s, wish);
}

bool ct_coll_levels_check(const struct ct_process *p)
{
    struct wish wish;
    bool        good = read_wish(p, &wish);
    if (!good) {
        ct_error(&p->log,
                 "CTRAN_COLL_LEVELS=\"%s\": expected levels from near to far, as in node,rack (of "
                 "node, nvlink, rack, zone, dc), or off, or sizes of groups, as in 4x2",
                 p->cfg.coll_levels);
    }
    return good;
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* Groups of consecutive ranks: the product of sizes at most n, beyond which there is one group. */
static void keys_of_numbers(const struct wish *wish, uint32_t n, uint32_t *keys)
{
    uint64_t size = 1;
    for (uint32_t i = 0; i < wish->n; i++) {
        size = size < n ? size * wish->value[i] : size;
        for (uint32_t r = 0; r < n; r++) {
            keys[i * (size_t)n + r] = (uint32_t)(r / size);
        }
    }
}

/* A host in no NVLink domain is one by itself: numbers of nodes, which are 1 to n, serve for both
 * where the first host of a domain lends it its own. */
static void keys_of_nvlink(const struct ct_spot *spots, uint32_t n, uint32_t *lent, uint32_t *keys)
{
    memset(lent, 0, (n + 1) * sizeof *lent);
    for (uint32_t r = 0; r < n; r++) {
        uint32_t domain = spots[r].nvlink;
        if (domain != 0 && lent[domain] == 0) {
            lent[domain] = spots[r].node;
        }
        keys[r] = (domain != 0 ? lent[domain] : spots[r].node) - 1;
    }
}

/* Numbers of spots are 1 to n each. */
static int keys_of_spots(struct ct_comm *comm, const struct wish *wish, uint32_t n, uint32_t *keys)
{
    struct ct_spot *spots = malloc(n * sizeof *spots);
    uint32_t       *lent = malloc((n + 1) * sizeof *lent);
    int rc = spots != NULL && lent != NULL ? ct_comm_spots(comm, n, spots) : CTRAN_ERR_NO_MEM;
    for (uint32_t i = 0; rc == CTRAN_SUCCESS && i < wish->n; i++) {
        uint32_t *level = &keys[i * (size_t)n];
        if (wish->value[i] == CT_DIST_NVLINK) {
            keys_of_nvlink(spots, n, lent, level);
            continue;
        }
        for (uint32_t r = 0; r < n; r++) {
            const struct ct_spot *at = &spots[r];
            level[r] = (wish->value[i] == CT_DIST_NODE   ? at->node
                        : wish->value[i] == CT_DIST_RACK ? at->rack
                        : wish->value[i] == CT_DIST_ZONE ? at->zone
                                                         : at->dc) -
                       1;
        }
    }
    free(spots);
    free(lent);
    return rc;
}

/* ---- levels ---------------------------------------------------------------------------------- */

/* A level that has one group, or as many as there are units, says nothing: drops it from the keys.
 * Returns how many are left. `first` is room for n numbers. */
static uint32_t drop_void(uint32_t n, uint32_t nlevels, uint32_t *keys, uint32_t *seen)
{
    uint32_t kept = 0, units = n;
    for (uint32_t i = 0; i < nlevels; i++) {
        const uint32_t *level = &keys[i * (size_t)n];
        uint32_t        groups = 0;
        memset(seen, 0, n * sizeof *seen);
        for (uint32_t r = 0; r < n; r++) {
            groups += seen[level[r]]++ == 0;
        }
        if (groups > 1 && groups < units) {
            memmove(&keys[kept++ * (size_t)n], level, n * sizeof *keys);
            units = groups;
        }
    }
    return kept;
}

static int make(struct ct_comm *comm, const struct wish *wish)
{
    uint32_t  n = comm->run.n;
    uint32_t *keys = malloc((size_t)n * wish->n * sizeof *keys), *seen = malloc(n * sizeof *seen);
    int       rc = keys != NULL && seen != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
    if (rc == CTRAN_SUCCESS && wish->artificial) {
        keys_of_numbers(wish, n, keys);
    } else if (rc == CTRAN_SUCCESS) {
        rc = keys_of_spots(comm, wish, n, keys);
    }
    uint32_t nlevels = rc == CTRAN_SUCCESS ? drop_void(n, wish->n, keys, seen) : 0;
    if (nlevels > 0) {
        comm->run.levels = ct_levels_make(n, nlevels, keys);
        rc = comm->run.levels != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
    }
    free(keys);
    free(seen);
    return rc;
}

static void tell(const struct ct_comm *comm)
{
    for (const struct ct_levels *l = comm->run.levels; l != NULL; l = l->above) {
        ct_info(&comm->p->log, "collectives on %u ranks: %u of them in %u %sgroups", comm->run.n,
                l->n, l->ngroups, ct_levels_even(l) ? "even " : "");
    }
}

/* With fewer than three ranks, or all of the job on one host, there is nothing to find. */
int ct_coll_levels(struct ct_comm *comm)
{
    struct wish wish;
    if (CT_LIKELY(comm->run.levels_tried)) {
        return CTRAN_SUCCESS;
    }
    int                  rc = CTRAN_SUCCESS;
    const struct ct_job *job = comm->p->job;
    bool                 asks = read_wish(comm->p, &wish) && wish.n > 0 && comm->run.n > 2;
    if (asks && (wish.artificial || job->nlocal < job->size)) {
        rc = make(comm, &wish);
        tell(comm);
    }
    comm->run.levels_tried = rc == CTRAN_SUCCESS;
    return rc;
}
