/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The levels of a communicator: from where its ranks stand (comm/distance.c), or, for tests, from
 * their numbers. All that is asked here is known to all ranks alike, so that all get the same
 * without a word.
 */
#define CT_FOLDER "coll"
#include "coll/coll.h"

bool ct_coll_levels_check(const struct ct_process *p)
{
    struct ct_level_wish wish;
    bool                 good = ct_level_wish_read(p->cfg.coll_levels, &wish);
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
static bool read_wish(const struct ct_comm *comm, struct ct_level_wish *wish)
{
    return ct_level_wish_read(comm->p->cfg.coll_levels, wish) && wish->n > 0 && comm->run.n > 2;
}

bool ct_coll_levels_ask(const struct ct_comm *comm)
{
    struct ct_level_wish wish;
    return !comm->run.levels_tried && read_wish(comm, &wish) && !wish.by_number;
}

int ct_coll_levels(struct ct_comm *comm, const struct ct_spot *spots)
{
    struct ct_level_wish wish;
    int                  rc = CTRAN_SUCCESS;
    if (CT_LIKELY(comm->run.levels_tried)) {
        return CTRAN_SUCCESS;
    }
    if (read_wish(comm, &wish) && (wish.by_number || spots != NULL)) {
        struct ct_levels *levels; /* all of them, or none, to who looks without the lock */
        rc = ct_level_wish_make(&wish, comm->run.n, spots, &levels);
        comm->run.levels = rc == CTRAN_SUCCESS ? levels : NULL;
        tell(comm);
    }
    comm->run.levels_tried = rc == CTRAN_SUCCESS;
    return rc;
}
