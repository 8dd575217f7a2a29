/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where processes are: the own host's labels in the record, and the table of locations, made of all
 * records at the first use, with the entries that were asked for.
 *
 * An entry is written once, under the domain's lock, its node last; a reader that finds a node
 * there may read the rest without a lock.
 */
#define CT_FOLDER "ep"
#include <inttypes.h>
#include <stdlib.h>

#include "ep/ep_set.h"

/* ---- the own host ---------------------------------------------------------------------------- */

/* What the variables and the file say. If no labels are set, Slurm's variables may say more. */
static int read_labels(const struct ct_process *p, struct ct_labels **labels)
{
    const struct ct_config *cfg = &p->cfg;
    const char             *addr, *kinds;
    char                    why[512] = "";
    int                     rc = ct_labels_only(labels, p->job->host);
    if (rc == CTRAN_SUCCESS && cfg->labels[0] != '\0') {
        rc = ct_labels_parse_words(labels, p->job->host, cfg->labels, "CTRAN_LABELS", why,
                                   sizeof why);
    }
    if (rc == CTRAN_SUCCESS && cfg->topology_file[0] != '\0') {
        rc = ct_labels_read(labels, cfg->topology_file, why, sizeof why);
    }
    if (rc == CTRAN_SUCCESS && ct_labels_none(*labels) && ct_job_slurm_place(&addr, &kinds)) {
        rc = ct_labels_parse_slurm(labels, addr, kinds, why, sizeof why);
    }
    if (rc == CTRAN_ERR_ARG) {
        ct_error(&p->log, "it is not clear where host %s stands: %s; see ctran-labels(7)",
                 p->job->host, why);
        rc = CTRAN_ERR_CONFIG;
    }
    return rc;
}

int ct_ep_location_key(const struct ct_process *p, struct ct_location_key *at)
{
    struct ct_labels *labels = NULL;
    int               rc = read_labels(p, &labels);
    if (rc == CTRAN_SUCCESS) {
        struct ct_label label = ct_labels_of(labels, p->job->host);
        uint64_t        node = p->job->local_group;
        *at = ct_location_key_of(&label, node != 0 ? node : 1);
        ct_debug(&p->log,
                 "host %s: rack \"%s\", zone \"%s\", data centre \"%s\", NVLink domain \"%s\"",
                 p->job->host, label.rack, label.zone, label.dc, label.nvlink);
    }
    ct_labels_free(labels);
    return rc;
}

/* Of a process of another job. */
struct ct_ep_foreign_location {
    uint32_t           id;
    struct ct_location location;
    UT_hash_handle     hh;
};

/* ---- the table ------------------------------------------------------------------------------- */

static bool is_known(const struct ct_location *location)
{
    return __atomic_load_n(&location->node, __ATOMIC_ACQUIRE) != 0;
}

static void enter_location(struct ct_location *place, const struct ct_location *location)
{
    place->nvlink = location->nvlink;
    place->rack = location->rack;
    place->zone = location->zone;
    place->dc = location->dc;
    __atomic_store_n(&place->node, location->node, __ATOMIC_RELEASE);
}

static int learn(struct ct_ep_set *set, struct ct_location *place, uint32_t id) CT_IN_DOMAIN
{
    const void            *record;
    size_t                 len;
    struct ct_location_key at;
    struct ct_location     location;
    int                    rc = set->p->job->ops->lookup(set->p->job, id, &record, &len);
    rc = rc == CTRAN_SUCCESS ? ct_ep_record_check(set, id, record, len) : rc;
    if (rc == CTRAN_SUCCESS) {
        ct_ep_record_location_key(record, &at);
        rc = ct_location_table_take(set->locations.numbers, &at, &location);
    }
    if (rc == CTRAN_SUCCESS) {
        enter_location(place, &location);
    }
    return rc;
}

/* The place of a process of another job in the table, made if need be; NULL when out of memory. */
static struct ct_location *foreign_place(struct ct_ep_set *set, uint32_t id) CT_IN_DOMAIN
{
    struct ct_ep_foreign_location *f = NULL;
    HASH_FIND(hh, set->locations.foreign, &id, sizeof id, f);
    if (f == NULL && (f = calloc(1, sizeof *f)) != NULL) {
        f->id = id;
        HASH_ADD(hh, set->locations.foreign, id, sizeof f->id, f);
    }
    return f != NULL ? &f->location : NULL;
}

static int make_table(struct ct_ep_set *set) CT_IN_DOMAIN
{
    struct ct_location *table = calloc(set->env.size, sizeof *table);
    int rc = table != NULL ? ct_location_table_make(&set->locations.numbers) : CTRAN_ERR_NO_MEM;
    if (rc != CTRAN_SUCCESS) {
        free(table);
        return rc;
    }
    atomic_store_explicit(&set->locations.table, table, memory_order_release);
    return CTRAN_SUCCESS;
}

/* The place of process `id`, filled in. */
static int find_location(struct ct_ep_set *set, uint32_t id,
                         const struct ct_location **location) CT_IN_DOMAIN
{
    const struct ct_job *job = set->p->job;
    struct ct_location  *table = atomic_load_explicit(&set->locations.table, memory_order_relaxed);
    int                  rc = table == NULL ? make_table(set) : CTRAN_SUCCESS;
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    table = atomic_load_explicit(&set->locations.table, memory_order_relaxed);
    struct ct_location *place =
        ct_job_is_own(job, id) ? &table[id - job->first] : foreign_place(set, id);
    *location = place;
    rc = place == NULL ? CTRAN_ERR_NO_MEM : CTRAN_SUCCESS;
    return rc == CTRAN_SUCCESS && !is_known(place) ? learn(set, place, id) : rc;
}

int ct_ep_distance(struct ct_ep_set *set, uint32_t id)
{
    const struct ct_location *own, *other;
    const uint32_t            me = ct_job_me(set->p->job);
    int                       rc = find_location(set, me, &own);
    if (id == me) {
        return CT_DIST_SELF;
    }
    if (rc == CTRAN_SUCCESS) {
        rc = find_location(set, id, &other);
    }
    const struct ct_location both[2] = {rc == CTRAN_SUCCESS ? *own : (struct ct_location){0},
                                        rc == CTRAN_SUCCESS ? *other : (struct ct_location){0}};
    return rc == CTRAN_SUCCESS ? (int)ct_distance_between(both, 0, 1) : CT_DIST_BEYOND;
}

int ct_ep_location(struct ct_process *p, uint32_t id, struct ct_location *location)
{
    struct ct_ep_set         *set = p->ep;
    const struct ct_location *table =
        atomic_load_explicit(&set->locations.table, memory_order_acquire);
    const struct ct_location *place = table;
    const uint32_t            rank = id - p->job->first;
    int                       rc = CTRAN_SUCCESS;
    if (CT_LIKELY(table != NULL && ct_job_is_own(p->job, id) && is_known(&table[rank]))) {
        *location = table[rank];
        return CTRAN_SUCCESS;
    }
    ct_domain_enter(p);
    rc = find_location(set, id, &place);
    ct_domain_leave(p);
    if (rc == CTRAN_SUCCESS) {
        *location = *place; /* an entry that is known is written no more */
    }
    return rc;
}

void ct_ep_own_location_key(const struct ct_process *p, struct ct_location_key *at)
{
    ct_ep_record_location_key(p->ep->record, at); /* which stays as it is */
}

void ct_ep_locations_fini(struct ct_ep_set *set)
{
    struct ct_ep_foreign_location *f, *next;
    HASH_ITER (hh, set->locations.foreign, f, next) {
        HASH_DEL(set->locations.foreign, f);
        free(f);
    }
    free(atomic_load_explicit(&set->locations.table, memory_order_relaxed));
    ct_location_table_free(set->locations.numbers);
}
