/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree's shape; see span.h. Used by router.c and head/nodes.c. */
#include "config.h"
#include "launcher/tree/span.h"

#include <stdlib.h>

/* n nodes from `first` on in `parts` spans. Returns how many there are. */
static uint32_t split_run(uint32_t first, uint32_t n, uint32_t parts, struct ct_span *out)
{
    uint32_t count = parts < n ? parts : n;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t size = n / count + (i < n % count);
        out[i] = (struct ct_span){first, size};
        first += size;
    }
    return count;
}

uint32_t ct_tree_split(struct ct_span all, uint32_t mine, uint32_t fan_out, struct ct_span *out)
{
    if (!ct_span_has(all, mine)) {
        return split_run(all.first, all.n, fan_out, out);
    }
    uint32_t before = mine - all.first, after = all.n - before - 1;
    /* The sides have parts as they have nodes, each at least one. */
    uint32_t left = before == 0 ? 0
                    : after == 0
                        ? fan_out
                        : (uint32_t)((uint64_t)fan_out * before / ((uint64_t)before + after));
    left = before > 0 && left == 0 ? 1 : left;
    uint32_t right = after > 0 && fan_out <= left ? 1 : fan_out - left;
    uint32_t n = split_run(all.first, before, left, out);
    return n + split_run(mine + 1, after, right, out + n);
}

uint32_t ct_tree_parent(struct ct_span all, uint32_t mine, uint32_t fan_out, uint32_t node)
{
    struct ct_span *parts = calloc((size_t)fan_out + 1, sizeof *parts);
    uint32_t        parent = CT_NO_NODE;
    while (parts != NULL) {
        uint32_t n = ct_tree_split(all, mine, fan_out, parts), i = 0;
        while (i < n && !ct_span_has(parts[i], node)) {
            i++;
        }
        if (i == n || parts[i].first == node) {
            break;
        }
        all = parts[i];
        mine = parent = all.first;
    }
    free(parts);
    return parent;
}
