/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who of a communicator's members has failed, as far as this process knows, and what of that the
 * program has acknowledged: so many of the losses that p2p has noted, from the first on. So an
 * acknowledged member stays so, and nothing has to be kept for each communicator but a number.
 */
#define CT_FOLDER "ft"
#include <stdlib.h>

#include "ft/own.h"

/* ---- members --------------------------------------------------------------------------------- */

static const struct ct_group *first_of(const struct ct_comm *comm)
{
    return comm->remote == NULL || ct_groups_in_order(comm->group, comm->remote) ? comm->group
                                                                                 : comm->remote;
}

static const struct ct_group *second_of(const struct ct_comm *comm)
{
    return first_of(comm) == comm->group ? comm->remote : comm->group;
}

uint32_t ct_ft_size(const struct ct_comm *comm)
{
    return comm->group->n + (comm->remote != NULL ? comm->remote->n : 0);
}

uint32_t ct_ft_side(const struct ct_comm *comm, uint32_t member)
{
    return member >= first_of(comm)->n;
}

uint32_t ct_ft_id_of(const struct ct_comm *comm, uint32_t member)
{
    const struct ct_group *first = first_of(comm);
    return member < first->n ? ct_group_id_of(first, member)
                             : ct_group_id_of(second_of(comm), member - first->n);
}

int ct_ft_member(const struct ct_comm *comm, uint32_t id)
{
    const struct ct_group *first = first_of(comm);
    int                    at = ct_group_find(first, id);
    if (at == CTRAN_UNDEFINED && comm->remote != NULL) {
        at = ct_group_find(second_of(comm), id);
        at = at != CTRAN_UNDEFINED ? at + (int)first->n : at;
    }
    return at;
}

void ct_ft_known(const struct ct_comm *comm, uint64_t *failed, uint64_t *acked)
{
    const size_t  nacked = atomic_load_explicit(&comm->nacked, memory_order_relaxed);
    struct ct_ep *ep;
    for (size_t i = 0; (ep = ct_p2p_loss(comm->p, i)) != NULL; i++) {
        const int member = ct_ft_member(comm, ep->id);
        if (member != CTRAN_UNDEFINED) {
            ct_ft_add(failed, (uint32_t)member);
            if (i < nacked) {
                ct_ft_add(acked, (uint32_t)member);
            }
        }
    }
}

/* ---- the program's questions ----------------------------------------------------------------- */

/* A member whose loss is a failure; one that has left by its own will is none. */
static bool is_failure(const struct ct_comm *comm, const struct ct_ep *ep) CT_IN_DOMAIN
{
    return !ep->left && ct_ft_member(comm, ep->id) != CTRAN_UNDEFINED;
}

/* Of the first `most` losses. */
static int list(struct ct_comm *comm, size_t most, struct ct_group **out)
{
    uint32_t     *ids = malloc(ct_ft_size(comm) * sizeof *ids);
    uint32_t      n = 0;
    struct ct_ep *ep;
    if (ids == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    ct_domain_enter(comm->p);
    ct_ep_tell(comm->p);
    for (size_t i = 0; i < most && (ep = ct_p2p_loss(comm->p, i)) != NULL; i++) {
        if (is_failure(comm, ep)) {
            ids[n++] = ep->id;
        }
    }
    ct_domain_leave(comm->p);
    *out = ct_group_make(comm->p, n, ids, 0); /* takes ids */
    return *out != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
}

int ct_ft_failed(struct ct_comm *comm, struct ct_group **out)
{
    return list(comm, SIZE_MAX, out);
}

int ct_ft_acked(struct ct_comm *comm, struct ct_group **out)
{
    return list(comm, atomic_load_explicit(&comm->nacked, memory_order_relaxed), out);
}

uint32_t ct_ft_ack(struct ct_comm *comm, uint32_t n)
{
    size_t        nacked = atomic_load_explicit(&comm->nacked, memory_order_relaxed);
    uint32_t      found = 0;
    struct ct_ep *ep;
    ct_domain_enter(comm->p);
    for (size_t i = 0; (ep = ct_p2p_loss(comm->p, i)) != NULL; i++) {
        const bool is = is_failure(comm, ep);
        if (i >= nacked && is && found >= n) {
            break;
        }
        found += is;
        nacked = i >= nacked ? i + 1 : nacked;
    }
    atomic_store_explicit(&comm->nacked, nacked, memory_order_relaxed);
    ct_p2p_acked(comm->p);
    ct_domain_leave(comm->p);
    return found;
}
