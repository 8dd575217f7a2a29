/* SPDX-License-Identifier: BSD-3-Clause */
/* Clusters from a few numbers; see cluster.h. */
#include "topo/cluster.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topo/text.h"

#define NAME "cluster"

/* ---- reading --------------------------------------------------------------------------------- */

static int read_number(struct ct_cluster *c, const struct ct_text *t, struct ct_word key,
                       struct ct_word value)
{
    const struct {
        const char *name;
        uint32_t   *field;
    } keys[] = {{"dcs", &c->dcs},     {"zones", &c->zones}, {"racks", &c->racks},
                {"hosts", &c->hosts}, {"gpus", &c->gpus},   {"nvlink", &c->nvlink}};
    uint64_t n;
    if (ct_word_is(key, "seed")) {
        return ct_word_number(value, UINT64_MAX, &c->seed)
                   ? CTRAN_SUCCESS
                   : ct_text_fail(t, value.at, "\"%.*s\" is no number", CT_WORD_ARG(value));
    }
    for (size_t i = 0; i < CT_ARRAY_LEN(keys); i++) {
        if (!ct_word_is(key, keys[i].name)) {
            continue;
        }
        if (keys[i].field == &c->nvlink && ct_word_is(value, "rack")) {
            c->nvlink = UINT32_MAX;
            return CTRAN_SUCCESS;
        }
        if (!ct_word_number(value, CT_CLUSTER_RANKS, &n) ||
            (n == 0 && keys[i].field != &c->nvlink)) {
            return ct_text_fail(t, value.at, "\"%.*s\" is no number of %s, from 1 to %d",
                                CT_WORD_ARG(value), keys[i].name, CT_CLUSTER_RANKS);
        }
        *keys[i].field = (uint32_t)n;
        return CTRAN_SUCCESS;
    }
    return ct_text_fail(t, key.at,
                        "\"%.*s\" is nothing that a cluster has: dcs, zones, racks, hosts, gpus, "
                        "nvlink or seed",
                        CT_WORD_ARG(key));
}

static int check_size(struct ct_cluster *c, const struct ct_text *t)
{
    const uint32_t factors[] = {c->dcs, c->zones, c->racks, c->hosts, c->gpus};
    uint64_t       n = 1; /* each factor is at most 2^20, and so is n before the next */
    for (size_t i = 0; i < CT_ARRAY_LEN(factors); i++) {
        n *= factors[i];
        if (i == 1 && n > CT_CLUSTER_ZONES) {
            return ct_text_fail(t, t->begin, "%llu zones, at most %d", (unsigned long long)n,
                                CT_CLUSTER_ZONES);
        }
        if (n > CT_CLUSTER_RANKS) {
            return ct_text_fail(t, t->begin, "more than %d GPUs", CT_CLUSTER_RANKS);
        }
    }
    c->nvlink = c->nvlink > c->hosts ? c->hosts : c->nvlink;
    return CTRAN_SUCCESS;
}

int ct_cluster_parse(struct ct_cluster *c, const char *text, char *why, size_t cap)
{
    struct ct_text t = {.name = NAME, .begin = text, .at = text, .why = why, .cap = cap};
    struct ct_word entry, word;
    *c = (struct ct_cluster){.dcs = 1, .zones = 1, .racks = 1, .hosts = 1, .gpus = 1};
    while (ct_text_entry(&t, &entry)) {
        while (ct_word_next(&entry, &word)) {
            struct ct_word value = word, key;
            (void)ct_word_split(&value, '=', &key);
            if (value.at == NULL) {
                return ct_text_fail(&t, word.at, "expected KEY=NUMBER, not \"%.*s\"",
                                    CT_WORD_ARG(word));
            }
            int rc = read_number(c, &t, key, value);
            if (rc != CTRAN_SUCCESS) {
                return rc;
            }
        }
    }
    return check_size(c, &t);
}

/* ---- hosts ----------------------------------------------------------------------------------- */

uint32_t ct_cluster_hosts(const struct ct_cluster *c)
{
    return c->dcs * c->zones * c->racks * c->hosts;
}

uint32_t ct_cluster_ranks(const struct ct_cluster *c)
{
    return ct_cluster_hosts(c) * c->gpus;
}

/* splitmix64's last steps */
static uint64_t cluster_mixed(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* A permutation of 0 .. n - 1 without a table: a Feistel network over an even number of bits,
 * walked until it falls below n, at most four steps on the average. */
static uint32_t cluster_shuffled(uint32_t i, uint32_t n, uint64_t seed)
{
    const unsigned half = (ct_log2_up(n) + 1) / 2;
    const uint32_t mask = (1u << half) - 1;
    do {
        uint32_t left = i >> half, right = i & mask;
        for (uint64_t round = 1; round <= 6; round++) {
            uint32_t next =
                left ^ ((uint32_t)cluster_mixed(cluster_mixed(seed + round) + right) & mask);
            left = right;
            right = next;
        }
        i = left << half | right;
    } while (i >= n);
    return i;
}

static int digits_of(uint32_t count)
{
    return snprintf(NULL, 0, "%u", count - 1);
}

static void cluster_place(const struct ct_cluster *c, uint32_t i, struct ct_cluster_host *h)
{
    h->id = c->seed != 0 ? cluster_shuffled(i, ct_cluster_hosts(c), c->seed) : i;
    h->rack = h->id / c->hosts;
    h->zone = h->rack / c->racks;
    h->dc = h->zone / c->zones;
    h->nvlink = -1;
    if (c->nvlink > 0) {
        uint32_t per_rack = (uint32_t)ct_div_up(c->hosts, c->nvlink);
        h->nvlink = (int32_t)(h->rack * per_rack + h->id % c->hosts / c->nvlink);
    }
}

void ct_cluster_host(const struct ct_cluster *c, uint32_t i, struct ct_cluster_host *h)
{
    memset(h, 0, sizeof *h);
    cluster_place(c, i, h);
    (void)snprintf(h->label_dc, sizeof h->label_dc, "d%0*u", digits_of(c->dcs), h->dc);
    (void)snprintf(h->label_zone, sizeof h->label_zone, "%s-z%0*u", h->label_dc,
                   digits_of(c->zones), h->zone % c->zones);
    (void)snprintf(h->label_rack, sizeof h->label_rack, "%s-r%0*u", h->label_zone,
                   digits_of(c->racks), h->rack % c->racks);
    (void)snprintf(h->name, sizeof h->name, "%s-h%0*u", h->label_rack, digits_of(c->hosts),
                   h->id % c->hosts);
    if (h->nvlink >= 0) {
        (void)snprintf(h->label_nvlink, sizeof h->label_nvlink, "%s-n%u", h->label_rack,
                       h->id % c->hosts / c->nvlink);
    }
}

/* ---- ranks ----------------------------------------------------------------------------------- */

/* The number that a thing was given at its first appearance. */
static uint32_t cluster_number_of(uint32_t *given, uint32_t *next, uint32_t thing)
{
    given[thing] = given[thing] != 0 ? given[thing] : ++*next;
    return given[thing];
}

int ct_cluster_locations(const struct ct_cluster *c, uint32_t n, struct ct_location *locations)
{
    const uint32_t nhosts = ct_cluster_hosts(c), nracks = c->dcs * c->zones * c->racks;
    const uint32_t nzones = c->dcs * c->zones;
    uint32_t       next[4] = {0};
    assert(n <= ct_cluster_ranks(c));
    uint32_t *rack = calloc((size_t)nracks + nzones + c->dcs + nhosts, sizeof *rack);
    if (rack == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    uint32_t *zone = rack + nracks, *dc = zone + nzones, *nvlink = dc + c->dcs;
    for (uint32_t i = 0; n > 0; i++) {
        struct ct_cluster_host h;
        cluster_place(c, i, &h);
        const struct ct_location location = {
            .node = i + 1,
            .nvlink = h.nvlink >= 0 ? cluster_number_of(nvlink, &next[0], (uint32_t)h.nvlink) : 0,
            .rack = cluster_number_of(rack, &next[1], h.rack),
            .zone = (uint16_t)cluster_number_of(zone, &next[2], h.zone),
            .dc = (uint16_t)cluster_number_of(dc, &next[3], h.dc)};
        for (uint32_t g = 0; g < c->gpus && n > 0; g++, n--) {
            *locations++ = location;
        }
    }
    free(rack);
    return CTRAN_SUCCESS;
}

int ct_cluster_labels(const struct ct_cluster *c, char **text)
{
    size_t len;
    FILE  *out = open_memstream(text, &len);
    if (out == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    for (uint32_t i = 0; i < ct_cluster_hosts(c); i++) {
        struct ct_cluster_host h;
        ct_cluster_host(c, i, &h);
        (void)fprintf(out, "%s%s%s rack=%s zone=%s dc=%s\n", h.name,
                      h.nvlink >= 0 ? " nvlink=" : "", h.label_nvlink, h.label_rack, h.label_zone,
                      h.label_dc);
    }
    bool good = ferror(out) == 0;
    good = fclose(out) == 0 && good;
    if (!good) {
        free(*text);
        *text = NULL;
    }
    return good ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
}
