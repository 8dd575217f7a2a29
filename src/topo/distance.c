/* SPDX-License-Identifier: BSD-3-Clause */
/* From labels to locations; see distance.h. */
#include "topo/distance.h"

#include <stdlib.h>
#include <string.h>

const char *ct_distance_name(enum ct_distance d)
{
    static const char *const names[CT_DIST_CLASSES] = {"self", "node", "nvlink", "rack",
                                                       "zone", "dc",   "beyond"};
    return (unsigned)d < CT_DIST_CLASSES ? names[d] : "?";
}

/* ---- hashes ---------------------------------------------------------------------------------- */

/* FNV-1a, and at the end a mix (MurmurHash3's), since the upper half is used alone as well. */
static uint64_t hash_more(uint64_t hash, const char *text)
{
    do {
        hash = (hash ^ (unsigned char)*text) * 1099511628211u;
    } while (*text++ != '\0');
    return hash;
}

static uint64_t distance_mixed(uint64_t hash)
{
    hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccdu;
    hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53u;
    return hash ^ hash >> 33;
}

static uint64_t not_zero(uint64_t hash)
{
    return hash != 0 ? hash : 1;
}

static const uint64_t start = 14695981039346656037u;

uint64_t ct_location_key_node(const char *host)
{
    return not_zero(distance_mixed(hash_more(start, host)));
}

/* A rack is one of its zone, a zone one of its data centre: what is known of neither is 0. */
struct ct_location_key ct_location_key_of(const struct ct_label *label, uint64_t node)
{
    uint64_t dc = hash_more(start, label->dc), zone = hash_more(dc, label->zone);
    uint64_t rack = hash_more(zone, label->rack);
    bool     has_dc = label->dc[0] != '\0', has_zone = has_dc || label->zone[0] != '\0';
    bool     has_rack = has_zone || label->rack[0] != '\0';
    return (struct ct_location_key){
        .node = node,
        .nvlink = label->nvlink[0] != '\0' ? ct_location_key_node(label->nvlink) : 0,
        .rack = has_rack ? not_zero(distance_mixed(rack)) : 0,
        .zone = has_zone ? (uint32_t)not_zero(distance_mixed(zone) >> 32) : 0,
        .dc = has_dc ? (uint32_t)not_zero(distance_mixed(dc) >> 32) : 0,
    };
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* Keys with the numbers that they have got: open addressing, never more than half full. A place
 * with the number 0 is free. */
struct numbers {
    struct number {
        uint64_t key;
        uint32_t number;
    } * places;
    uint32_t mask, n;
};

enum { FIRST_ROOM = 16 };

static struct number *distance_find(const struct numbers *t, uint64_t key)
{
    uint32_t at = (uint32_t)distance_mixed(key) & t->mask;
    while (t->places[at].number != 0 && t->places[at].key != key) {
        at = (at + 1) & t->mask;
    }
    return &t->places[at];
}

static bool distance_grow(struct numbers *t)
{
    uint32_t       room = t->places != NULL ? 2 * (t->mask + 1) : FIRST_ROOM;
    struct numbers more = {calloc(room, sizeof *more.places), room - 1, t->n};
    if (more.places == NULL) {
        return false;
    }
    for (uint32_t i = 0; t->places != NULL && i <= t->mask; i++) {
        if (t->places[i].number != 0) {
            *distance_find(&more, t->places[i].key) = t->places[i];
        }
    }
    free(t->places);
    *t = more;
    return true;
}

/* The key's number, the next one for a new key; 0 without memory. */
static uint32_t distance_number_of(struct numbers *t, uint64_t key)
{
    if (t->places == NULL || t->n > t->mask / 2) {
        if (!distance_grow(t)) {
            return 0;
        }
    }
    struct number *p = distance_find(t, key);
    if (p->number == 0) {
        *p = (struct number){key, ++t->n};
    }
    return p->number;
}

struct ct_location_table {
    struct numbers node, nvlink, rack, zone, dc;
};

int ct_location_table_make(struct ct_location_table **table)
{
    *table = calloc(1, sizeof **table);
    return *table != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
}

void ct_location_table_free(struct ct_location_table *s)
{
    if (s != NULL) {
        free(s->node.places);
        free(s->nvlink.places);
        free(s->rack.places);
        free(s->zone.places);
        free(s->dc.places);
        free(s);
    }
}

static uint16_t distance_narrow(uint32_t number)
{
    return number < UINT16_MAX ? (uint16_t)number : UINT16_MAX;
}

int ct_location_table_take(struct ct_location_table *s, const struct ct_location_key *at,
                           struct ct_location *location)
{
    *location = (struct ct_location){
        .node = distance_number_of(&s->node, at->node),
        .nvlink = at->nvlink != 0 ? distance_number_of(&s->nvlink, at->nvlink) : 0,
        .rack = distance_number_of(&s->rack, at->rack),
        .zone = distance_narrow(distance_number_of(&s->zone, at->zone)),
        .dc = distance_narrow(distance_number_of(&s->dc, at->dc)),
    };
    bool ok = location->node != 0 && (location->nvlink != 0) == (at->nvlink != 0) &&
              location->rack != 0 && location->zone != 0 && location->dc != 0;
    return ok ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
}

int ct_locations_make(struct ct_location *locations, const struct ct_location_key *at, uint32_t n)
{
    struct ct_location_table *s;
    int                       rc = ct_location_table_make(&s);
    for (uint32_t i = 0; i < n && rc == CTRAN_SUCCESS; i++) {
        rc = ct_location_table_take(s, &at[i], &locations[i]);
    }
    ct_location_table_free(s);
    return rc;
}

int ct_locations_renumber(struct ct_location *out, const struct ct_location *locations, uint32_t n)
{
    struct ct_location_table *s;
    int                       rc = ct_location_table_make(&s);
    for (uint32_t i = 0; i < n && rc == CTRAN_SUCCESS; i++) {
        struct ct_location_key at = {locations[i].node, locations[i].nvlink, locations[i].rack,
                                     locations[i].zone, locations[i].dc};
        rc = ct_location_table_take(s, &at, &out[i]);
    }
    ct_location_table_free(s);
    return rc;
}
