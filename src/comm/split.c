/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * New communicators out of old ones. dup is a broadcast of one number; split one allgather of
 * (color, key, proposed number), after which every rank works its own group out.
 */
#define CT_FOLDER "comm"
#include <stdlib.h>

#include "comm/comms.h"
#include "pmi/pmi.h"

struct entry {
    uint64_t color;
    int32_t  key;
    uint32_t joins;    /* 0: no new communicator for this rank, which has no color then */
    uint64_t proposed; /* context number, if this rank becomes the first of its group */
};

int ct_comms_exchange(struct ct_comm *comm, uint32_t coll, void *recv, size_t bytes)
{
    const char        *name = coll == CT_ALLGATHER ? "bruck" : "binomial";
    struct ct_run_args args = {
        .ctx = &comm->run,
        .algo = ct_algo_find(coll, name),
        .env = {.radix = 2, .inplace = coll == CT_ALLGATHER},
        .layout = {.elem_bytes = 1, .count = bytes, .buf = {{.base = recv}, {.base = recv}}},
        .chunks = 1,
    };
    return ct_run(&args);
}

struct ct_comm *ct_comms_inherit(struct ct_comm *parent, struct ct_comm *child)
{
    if (child != NULL) {
        child->errhandler = ct_errhandler_hold(parent->errhandler);
    }
    return child;
}

int ct_comm_dup(struct ct_comm *comm, struct ct_comm **out)
{
    uint64_t id = ct_comms_propose(comm->p);
    int      rc = ct_comms_exchange(comm, CT_BCAST, &id, sizeof id);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct ct_group *group = ct_group_hold(comm->group);
    struct ct_comm  *made = ct_comms_make(comm->p, id, group, comm->run.me);
    if (ct_comms_inherit(comm, made) == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    made->topo = ct_topo_hold(comm->topo);
    rc = ct_attr_copy_all(comm, made);
    if (rc == CTRAN_SUCCESS) {
        *out = made;
    } else {
        (void)ct_attr_delete_all(made); /* the first error is the one to tell */
        ct_comm_release(made);
    }
    return rc;
}

/* A member of the new group, to be put in order. */
struct member {
    int32_t  key;
    uint32_t rank; /* in the old communicator */
};

static int by_key(const void *a_, const void *b_)
{
    const struct member *a = a_, *b = b_;
    if (a->key != b->key) {
        return a->key < b->key ? -1 : 1;
    }
    return a->rank < b->rank ? -1 : 1;
}

/* The ranks of our colour in order; returns their number. */
static uint32_t collect(const struct entry *all, uint32_t n, uint64_t color, struct member *out)
{
    uint32_t count = 0;
    for (uint32_t r = 0; r < n; r++) {
        if (all[r].joins && all[r].color == color) {
            out[count++] = (struct member){all[r].key, r};
        }
    }
    qsort(out, count, sizeof *out, by_key);
    return count;
}

static int make_group(struct ct_comm *comm, const struct entry *all, uint64_t color,
                      struct ct_comm **out)
{
    struct member *members = malloc(comm->run.n * sizeof *members);
    uint32_t       n = members != NULL ? collect(all, comm->run.n, color, members) : 0;
    uint32_t      *ids = n > 0 ? malloc(n * sizeof *ids) : NULL;
    if (ids == NULL) {
        free(members);
        return CTRAN_ERR_NO_MEM;
    }
    uint32_t me = 0;
    for (uint32_t i = 0; i < n; i++) {
        ids[i] = ct_comm_id_of(comm, members[i].rank);
        me = members[i].rank == comm->run.me ? i : me;
    }
    uint64_t id = all[members[0].rank].proposed;
    free(members);
    *out =
        ct_comms_inherit(comm, ct_comms_make(comm->p, id, ct_group_make(comm->p, n, ids, 0), me));
    return *out != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
}

static int split(struct ct_comm *comm, bool joins, uint64_t color, int key, struct ct_comm **out)
{
    uint32_t      n = comm->run.n;
    struct entry *all = malloc(n * sizeof *all);
    *out = NULL;
    if (all == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    all[comm->run.me] = (struct entry){color, key, joins, ct_comms_propose(comm->p)};
    int rc = ct_comms_exchange(comm, CT_ALLGATHER, all, n * sizeof *all);
    if (rc == CTRAN_SUCCESS && joins) {
        rc = make_group(comm, all, color, out);
    }
    free(all);
    return rc;
}

int ct_comm_split(struct ct_comm *comm, int color, int key, struct ct_comm **out)
{
    return split(comm, color != CTRAN_UNDEFINED, (uint64_t)color, key, out);
}

int ct_comm_split_host(struct ct_comm *comm, bool joins, int key, struct ct_comm **out)
{
    return split(comm, joins, comm->p->job->local_group, key, out);
}
