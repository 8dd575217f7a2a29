/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a config and makes keys of it for ct_levels_make. See level_config.h. */
#include "coll/level_config.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- text ------------------------------------------------------------------------------------ */

/* "4x2" */
static bool read_sizes(const char *s, struct ct_level_config *config)
{
    config->by_number = true;
    for (;;) {
        char              *end;
        unsigned long long value = isdigit((unsigned char)*s) ? strtoull(s, &end, 10) : 0;
        if (value < 1 || value > 1 << 20 || config->n == CT_LEVELS_MOST) {
            return false;
        }
        config->value[config->n++] = (uint32_t)value;
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
static bool read_names(const char *s, struct ct_level_config *config)
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
        if (d > CT_DIST_DC || (config->n > 0 && d <= config->value[config->n - 1])) {
            return false;
        }
        config->value[config->n++] = d;
        s += len;
        s += strspn(s, ", ");
        if (*s == '\0') {
            return true;
        }
    }
}

bool ct_level_config_read(const char *text, struct ct_level_config *config)
{
    *config = (struct ct_level_config){.n = 0};
    if (strcmp(text, "off") == 0) {
        return true;
    }
    return isdigit((unsigned char)*text) ? read_sizes(text, config) : read_names(text, config);
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* Groups of consecutive ranks: the product of sizes at most n, beyond which there is one group. */
static void keys_of_numbers(const struct ct_level_config *config, uint32_t n, uint32_t *keys)
{
    uint64_t size = 1;
    for (uint32_t i = 0; i < config->n; i++) {
        size = size < n ? size * config->value[i] : size;
        for (uint32_t r = 0; r < n; r++) {
            keys[i * (size_t)n + r] = (uint32_t)(r / size);
        }
    }
}

/* A host in no NVLink domain is one by itself: numbers of nodes, which are 1 to n, serve for both
 * where the first host of a domain gives its number to the domain. */
static void keys_of_nvlink(const struct ct_location *locations, uint32_t n, uint32_t *of_domain,
                           uint32_t *keys)
{
    memset(of_domain, 0, (n + 1) * sizeof *of_domain);
    for (uint32_t r = 0; r < n; r++) {
        uint32_t domain = locations[r].nvlink;
        if (domain != 0 && of_domain[domain] == 0) {
            of_domain[domain] = locations[r].node;
        }
        keys[r] = (domain != 0 ? of_domain[domain] : locations[r].node) - 1;
    }
}

static uint32_t number_at(const struct ct_location *at, uint32_t distance)
{
    return distance == CT_DIST_NODE   ? at->node
           : distance == CT_DIST_RACK ? at->rack
           : distance == CT_DIST_ZONE ? at->zone
                                      : at->dc;
}

/* `of_domain` is room for n + 1 numbers. */
static void keys_of_locations(const struct ct_level_config *config,
                              const struct ct_location *locations, uint32_t n, uint32_t *of_domain,
                              uint32_t *keys)
{
    for (uint32_t i = 0; i < config->n; i++) {
        uint32_t *level = &keys[i * (size_t)n];
        if (config->value[i] == CT_DIST_NVLINK) {
            keys_of_nvlink(locations, n, of_domain, level);
            continue;
        }
        for (uint32_t r = 0; r < n; r++) {
            level[r] = number_at(&locations[r], config->value[i]) - 1;
        }
    }
}

/* ---- levels ---------------------------------------------------------------------------------- */

/* A level that has one group, or as many as there are units, says nothing: drops it from the keys.
 * Returns how many are left. `seen` is room for n numbers. */
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

int ct_level_config_make(const struct ct_level_config *config, uint32_t n,
                         const struct ct_location *locations, struct ct_levels **levels)
{
    *levels = NULL;
    if (config->n == 0) {
        return CTRAN_SUCCESS;
    }
    uint32_t *keys = malloc((size_t)n * config->n * sizeof *keys);
    uint32_t *room = malloc(((size_t)n + 1) * sizeof *room);
    int       rc = keys != NULL && room != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
    if (rc == CTRAN_SUCCESS) {
        if (config->by_number) {
            keys_of_numbers(config, n, keys);
        } else {
            keys_of_locations(config, locations, n, room, keys);
        }
        uint32_t nlevels = drop_void(n, config->n, keys, room);
        *levels = nlevels > 0 ? ct_levels_make(n, nlevels, keys) : NULL;
        rc = nlevels == 0 || *levels != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
    }
    free(keys);
    free(room);
    return rc;
}
