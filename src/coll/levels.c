/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The levels of a communicator: from where its ranks stand (comm/distance.c), or, for tests, from
 * their numbers. All ranks know all that is used here, so all get equal results without messages.
 */
#define CT_FOLDER "coll"
#include "coll/coll.h"

bool ct_coll_levels_check(const struct ct_process *p)
{
    struct ct_level_config config;
    bool                   good = ct_level_config_read(p->cfg.coll_levels, &config);
    if (!good) {
        ct_error(&p->log,
                 "CTRAN_COLL_LEVELS=\"%s\": expected levels from near to far, as in node,rack (of "
                 "node, nvlink, rack, zone, dc), or off, or sizes of groups, as in 4x2",
                 p->cfg.coll_levels);
    }
    return good;
}

static void tell(const struct ct_comm *comm)
{
    for (const struct ct_levels *l = comm->run.levels; l != NULL; l = l->above) {
        ct_info(&comm->p->log, "collectives on %u ranks: %u of them in %u %sgroups", comm->run.n,
                l->n, l->ngroups, ct_levels_even(l) ? "even " : "");
    }
}

/* With fewer than three ranks there is nothing to find. */
static bool read_config(const struct ct_comm *comm, struct ct_level_config *config)
{
    return ct_level_config_read(comm->p->cfg.coll_levels, config) && config->n > 0 &&
           comm->run.n > 2;
}

bool ct_coll_levels_ask(const struct ct_comm *comm)
{
    struct ct_level_config config;
    return !comm->run.levels_tried && read_config(comm, &config) && !config.by_number;
}

int ct_coll_levels(struct ct_comm *comm, const struct ct_location *locations)
{
    struct ct_level_config config;
    int                    rc = CTRAN_SUCCESS;
    if (CT_LIKELY(comm->run.levels_tried)) {
        return CTRAN_SUCCESS;
    }
    if (read_config(comm, &config) && (config.by_number || locations != NULL)) {
        struct ct_levels *levels; /* all of them, or none, to who looks without the lock */
        rc = ct_level_config_make(&config, comm->run.n, locations, &levels);
        comm->run.levels = rc == CTRAN_SUCCESS ? levels : NULL;
        tell(comm);
    }
    comm->run.levels_tried = rc == CTRAN_SUCCESS;
    return rc;
}
