/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several starts of one case. Where ranks share cores, the order in which they begin is the order
 * in which they take their turns from then on, and so decides how long a message waits for its
 * receiver; with some orders ranks that wait fall asleep, call after call, and with others never.
 * No order is the right one, since ranks come from other work, and none lasts, since they are
 * disturbed now and then. So several are drawn, always the same ones, and their mean counts.
 */
#include <stdlib.h>

#include "sim.h"

static uint32_t draw(uint64_t *state, uint32_t below)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint32_t)((*state >> 32) * below >> 32);
}

void sim_start_order(uint32_t start, uint32_t n, uint32_t *order)
{
    uint64_t state = 88172645463325252u + start * UINT64_C(0x9e3779b97f4a7c15);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t at = start == 0 ? i : draw(&state, i + 1);
        order[i] = order[at];
        order[at] = i;
    }
}

/* What is sent is the same whatever the order. */
int sim_run_starts(const struct sim_case *c, const struct sim_watch *watch, struct sim_result *r,
                   char *why, size_t cap)
{
    struct sim_case   one = *c;
    struct sim_result other;
    int               rc = sim_run(c, watch, r, why, cap);
    uint64_t          mean = r->time_ps / c->starts;
    for (one.start = 1; rc == CTRAN_SUCCESS && !r->given_up && one.start < c->starts; one.start++) {
        rc = sim_run(&one, NULL, &other, why, cap);
        mean += other.time_ps / c->starts;
        r->given_up |= other.given_up;
        free(other.each);
    }
    r->time_ps = c->starts > 1 ? mean : r->time_ps;
    return rc;
}
