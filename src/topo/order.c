/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order of hosts; see order.h. With numbers that are given out in order of first appearance a
 * sort by data centre, zone, rack, NVLink domain and node is stable at every level: each group goes
 * where its first member stood.
 */
#include "topo/order.h"

#include <stdlib.h>

struct row {
    struct ct_location location;
    uint32_t nvlink; /* its domain within the rack, or its node's number of one of its own */
    uint32_t index;
};

static int order_compare(const void *a_, const void *b_)
{
    const struct row *a = a_, *b = b_;
    const uint32_t    x[] = {a->location.dc, a->location.zone, a->location.rack,
                             a->nvlink,      a->location.node, a->index};
    const uint32_t    y[] = {b->location.dc, b->location.zone, b->location.rack,
                             b->nvlink,      b->location.node, b->index};
    for (size_t i = 0; i < CT_ARRAY_LEN(x); i++) {
        if (x[i] != y[i]) {
            return x[i] < y[i] ? -1 : 1;
        }
    }
    return 0;
}

/* A node in no domain is one for itself: it stays between the domains where it stood. So the place
 * of each is that of its first host, which takes a pass over the hosts. */
static int place_domains(struct row *rows, uint32_t n)
{
    uint32_t *first = calloc((size_t)n + 1, 2 * sizeof *first), *alone = first + n + 1;
    if (first == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct ct_location *s = &rows[i].location;
        uint32_t                 *at = s->nvlink != 0 ? &first[s->nvlink] : &alone[s->node];
        *at = *at != 0 ? *at : i + 1;
        rows[i].nvlink = *at;
    }
    free(first);
    return CTRAN_SUCCESS;
}

/* Numbers in order of first appearance; a domain has one in each of its racks. */
static int order_number(const struct ct_location *locations, uint32_t n, struct row *rows)
{
    struct ct_location_table *s;
    int                       rc = ct_location_table_make(&s);
    for (uint32_t i = 0; i < n && rc == CTRAN_SUCCESS; i++) {
        const struct ct_location *x = &locations[i];
        uint64_t                  domain = x->nvlink != 0 ? (uint64_t)x->rack << 32 | x->nvlink : 0;
        struct ct_location_key    at = {x->node, domain, x->rack, x->zone, x->dc};
        rc = ct_location_table_take(s, &at, &rows[i].location);
        rows[i].index = i;
    }
    ct_location_table_free(s);
    return rc;
}

int ct_order_hosts(const struct ct_location *locations, uint32_t n, uint32_t *order)
{
    struct row *rows = calloc((size_t)n + 1, sizeof *rows);
    int         rc = rows != NULL ? order_number(locations, n, rows) : CTRAN_ERR_NO_MEM;
    rc = rc == CTRAN_SUCCESS ? place_domains(rows, n) : rc;
    if (rc == CTRAN_SUCCESS) {
        qsort(rows, n, sizeof *rows, order_compare);
        for (uint32_t i = 0; i < n; i++) {
            order[i] = rows[i].index;
        }
    }
    free(rows);
    return rc;
}

uint32_t ct_order_crossings(const struct ct_location *locations, uint32_t n, const uint32_t *order,
                            enum ct_distance within)
{
    uint32_t crossings = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t next = i + 1 < n ? i + 1 : 0;
        crossings += ct_distance_between(locations, order != NULL ? order[i] : i,
                                         order != NULL ? order[next] : next) > within;
    }
    return crossings;
}
