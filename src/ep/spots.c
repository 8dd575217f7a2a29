/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where processes stand: the own host's labels in the card, and from everybody's cards the table of
 * spots, which is made when somebody asks first and holds those that were asked for.
 *
 * An entry is written once, under the domain's lock, its node last; whoever finds a node there may
 * read the rest without a lock.
 */
#define CT_FOLDER "ep"
#include <inttypes.h>
#include <stdlib.h>

#include "ep/ep_set.h"

/* ---- the own host ---------------------------------------------------------------------------- */

/* What the variables and the file say. Where nobody says anything Slurm may. */
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

int ct_ep_whereabouts(const struct ct_process *p, struct ct_whereabouts *at)
{
    struct ct_labels *labels = NULL;
    int               rc = read_labels(p, &labels);
    if (rc == CTRAN_SUCCESS) {
        struct ct_label label = ct_labels_of(labels, p->job->host);
        uint64_t        node = p->job->local_group;
        *at = ct_whereabouts_of(&label, node != 0 ? node : 1);
        ct_debug(&p->log,
                 "host %s: rack \"%s\", zone \"%s\", data centre \"%s\", NVLink domain \"%s\"",
                 p->job->host, label.rack, label.zone, label.dc, label.nvlink);
    }
    ct_labels_free(labels);
    return rc;
}

/* ---- the table ------------------------------------------------------------------------------- */

static bool is_known(const struct ct_spot *spot)
{
    return __atomic_load_n(&spot->node, __ATOMIC_ACQUIRE) != 0;
}

static void enter_spot(struct ct_spot *place, const struct ct_spot *spot)
{
    place->nvlink = spot->nvlink;
    place->rack = spot->rack;
    place->zone = spot->zone;
    place->dc = spot->dc;
    __atomic_store_n(&place->node, spot->node, __ATOMIC_RELEASE);
}

static int learn(struct ct_ep_set *set, struct ct_spot *table, uint32_t id) CT_IN_DOMAIN
{
    const void           *card;
    size_t                len;
    struct ct_whereabouts at;
    struct ct_spot        spot;
    int                   rc = set->p->job->ops->lookup(set->p->job, id, &card, &len);
    rc = rc == CTRAN_SUCCESS ? ct_ep_card_check(set, id, card, len) : rc;
    if (rc == CTRAN_SUCCESS) {
        ct_ep_card_whereabouts(card, &at);
        rc = ct_spotter_take(set->spots.spotter, &at, &spot);
    }
    if (rc == CTRAN_SUCCESS) {
        enter_spot(&table[id], &spot);
    }
    return rc;
}

static int make_table(struct ct_ep_set *set) CT_IN_DOMAIN
{
    struct ct_spot *table = calloc(set->env.size, sizeof *table);
    int             rc = table != NULL ? ct_spotter_make(&set->spots.spotter) : CTRAN_ERR_NO_MEM;
    if (rc != CTRAN_SUCCESS) {
        free(table);
        return rc;
    }
    atomic_store_explicit(&set->spots.table, table, memory_order_release);
    return CTRAN_SUCCESS;
}

int ct_ep_spot(struct ct_process *p, uint32_t id, struct ct_spot *spot)
{
    struct ct_ep_set *set = p->ep;
    struct ct_spot   *table = atomic_load_explicit(&set->spots.table, memory_order_acquire);
    int               rc = CTRAN_SUCCESS;
    if (CT_UNLIKELY(table == NULL || !is_known(&table[id]))) {
        ct_domain_enter(p);
        table = atomic_load_explicit(&set->spots.table, memory_order_relaxed);
        rc = table == NULL ? make_table(set) : CTRAN_SUCCESS;
        table = atomic_load_explicit(&set->spots.table, memory_order_relaxed);
        if (rc == CTRAN_SUCCESS && !is_known(&table[id])) {
            rc = learn(set, table, id);
        }
        ct_domain_leave(p);
    }
    if (rc == CTRAN_SUCCESS) {
        *spot = table[id];
    }
    return rc;
}

void ct_ep_own_whereabouts(const struct ct_process *p, struct ct_whereabouts *at)
{
    ct_ep_card_whereabouts(p->ep->card, at); /* which stays as it is */
}

void ct_ep_spots_fini(struct ct_ep_set *set)
{
    free(atomic_load_explicit(&set->spots.table, memory_order_relaxed));
    ct_spotter_free(set->spots.spotter);
}
