/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * New communicators out of old ones. dup is a broadcast of one number; split one allgather of
 * (color, key, proposed number), after which every rank works its own group out; where hardware is
 * to part them, a second one of their places. Where there are two groups, they swap what each has
 * gathered.
 */
#define CT_FOLDER "comm"
#include <stdlib.h>

#include "comm/inter.h"
#include "pmi/pmi.h"

/* What a rank gives all others first. */
struct entry {
    uint64_t color;
    int32_t  key;
    uint32_t joins;    /* enum joins */
    uint64_t proposed; /* context number, if this rank becomes the first of its group */
};

enum joins {
    NOT,    /* no new communicator for this rank, which has no color */
    JOINS,  /* that of its color */
    PARTED, /* its color is what hardware parts these ranks by; see part_by_hardware */
    UNABLE  /* it lacks memory: there is no new communicator for anybody */
};

bool ct_comm_has_shm_allgather(const struct ct_comm *comm)
{
    const struct ct_job *job = comm->p->job;
    return comm == ct_comm_world(comm->p) && job->shm_allgather.memory != NULL &&
           comm->p->cfg.coll_shm > 0 && !job->events.on;
}

/* The job's ag, if it can carry so many bytes of each rank of comm; else NULL. */
static const struct ct_shm_allgather *allgather_for(const struct ct_comm *comm, size_t bytes)
{
    return bytes <= CT_SHM_ALLGATHER_ENTRY && ct_comm_has_shm_allgather(comm)
               ? &comm->p->job->shm_allgather
               : NULL;
}

static int run(struct ct_comm *comm, uint32_t coll, const char *algo, uint32_t root, void *buf,
               size_t bytes)
{
    struct ct_run_args args = {
        .ctx = &comm->run,
        .algo = ct_algo_find(coll, algo),
        .env = {.root = root, .radix = CT_RADIX_DEFAULT, .inplace = coll == CT_ALLGATHER},
        .layout = {.elem_bytes = 1, .count = bytes, .buf = {{.base = buf}, {.base = buf}}},
        .chunks = 1,
    };
    return ct_run(&args);
}

/* ct_comms_gather into the caller's memory. Without any the rank still comes to the ag, where the
 * others wait for it. */
static int gather_into(struct ct_comm *comm, const void *own, size_t len, void *all)
{
    const struct ct_shm_allgather *ag = allgather_for(comm, len);
    const size_t                   bytes = comm->run.n * len;
    int                            rc = CTRAN_SUCCESS;
    if (ag != NULL) {
        rc = ct_run_shm_allgather(&comm->run, own, len);
        if (rc == CTRAN_SUCCESS && all != NULL) {
            memcpy(all, ct_shm_allgather_entries(ag), bytes);
        }
    } else if (all == NULL) {
        ct_run_skip(&comm->run);
    } else {
        memcpy((char *)all + comm->run.me * len, own, len);
        rc = run(comm, CT_ALLGATHER, "bruck", 0, all, bytes);
    }
    return rc != CTRAN_SUCCESS || all != NULL ? rc : CTRAN_ERR_NO_MEM;
}

int ct_comms_gather(struct ct_comm *comm, const void *own, size_t len, const void **all,
                    void **memory)
{
    const struct ct_shm_allgather *ag = allgather_for(comm, len);
    *memory = NULL;
    *all = NULL;
    if (ag != NULL) {
        int rc = ct_run_shm_allgather(&comm->run, own, len);
        *all = ct_shm_allgather_entries(ag);
        return rc;
    }
    *memory = malloc(comm->run.n * len);
    *all = *memory;
    return gather_into(comm, own, len, *memory);
}

int ct_comms_bcast(struct ct_comm *comm, uint32_t root, void *buf, size_t bytes)
{
    const struct ct_shm_allgather *ag = allgather_for(comm, bytes);
    if (ag == NULL) {
        return run(comm, CT_BCAST, "knomial", root, buf, bytes);
    }
    int rc = ct_run_shm_allgather(&comm->run, buf, bytes);
    if (rc == CTRAN_SUCCESS) {
        memcpy(buf, (const char *)ct_shm_allgather_entries(ag) + root * bytes, bytes);
    }
    return rc;
}

struct ct_comm *ct_comms_inherit(struct ct_comm *parent, struct ct_comm *child)
{
    if (child != NULL) {
        child->errhandler = ct_errhandler_hold_at(&parent->p->errhandlers, &parent->errhandler);
        ct_group_follow(child->group, parent->group);
        if (child->remote != NULL) {
            ct_group_follow(child->remote, parent->group);
        }
    }
    return child;
}

struct ct_comm *ct_comms_copy(struct ct_comm *comm)
{
    struct ct_group *remote = comm->remote != NULL ? ct_group_hold(comm->remote) : NULL;
    struct ct_comm  *copy =
        ct_comms_prepare(comm->p, ct_group_hold(comm->group), comm->run.me, remote);
    if (copy != NULL) {
        copy->topo = ct_vtopo_hold(comm->topo);
    }
    return ct_comms_inherit(comm, copy);
}

/* A new number, equal at all ranks of comm. */
static int agree(struct ct_comm *comm, uint64_t *id)
{
    if (comm->remote != NULL) {
        struct ct_inter_deal deal;
        int                  rc = ct_inter_agree(comm, 0, &deal);
        *id = deal.id;
        return rc;
    }
    *id = ct_comms_propose(comm->p);
    return ct_comms_bcast(comm, 0, id, sizeof *id);
}

static int dup_bare(struct ct_comm *comm, uint64_t guard, struct ct_comm **out)
{
    uint64_t id = 0;
    int      rc = agree(comm, &id);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct ct_comm *made = ct_comms_copy(comm);
    if (made == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    made->guard = guard;
    ct_comms_open(made, id);
    *out = made;
    return CTRAN_SUCCESS;
}

int ct_comm_dup_bare(struct ct_comm *comm, struct ct_comm **out)
{
    return dup_bare(comm, comm->id, out);
}

int ct_comm_dup(struct ct_comm *comm, struct ct_comm **out)
{
    struct ct_comm *made;
    int             rc = dup_bare(comm, 0, &made);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_attr_copy_all(&comm->attrs, &made->attrs);
    if (rc == CTRAN_SUCCESS) {
        *out = made;
    } else {
        (void)ct_attr_delete_all(&made->attrs); /* the first error is the one to tell */
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

static bool is_of(const struct entry *e, uint64_t color)
{
    return e->joins && e->color == color;
}

static uint32_t count(const struct entry *all, uint32_t n, uint64_t color)
{
    uint32_t found = 0;
    for (uint32_t r = 0; r < n; r++) {
        found += is_of(&all[r], color);
    }
    return found;
}

/* The ranks of our colour in order. */
static void collect(const struct entry *all, uint32_t n, uint64_t color, struct member *out)
{
    uint32_t found = 0;
    bool     in_order = true;
    for (uint32_t r = 0; r < n; r++) {
        if (is_of(&all[r], color)) {
            in_order = in_order && (found == 0 || out[found - 1].key <= all[r].key);
            out[found++] = (struct member){all[r].key, r};
        }
    }
    if (!in_order) {
        qsort(out, found, sizeof *out, by_key);
    }
}

/* The part of one old group. */
struct part {
    struct ct_group *group;
    uint64_t         proposed; /* by its first */
};

/* The members of `old` with this rank's colour, where `all` has the choices; no group if there are
 * none. */
static int make_part(struct ct_process *p, const struct ct_group *old, const struct entry *all,
                     uint64_t color, struct part *out)
{
    const uint32_t n = count(all, old->n, color);
    struct member *members = malloc(n * sizeof *members);
    uint32_t      *ids = malloc(n * sizeof *ids);
    int rc = (members != NULL && ids != NULL) || n == 0 ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
    *out = (struct part){0};
    if (rc != CTRAN_SUCCESS || n == 0) {
        free(ids);
    } else {
        collect(all, old->n, color, members);
        for (uint32_t i = 0; i < n; i++) {
            ids[i] = ct_group_id_of(old, members[i].rank);
        }
        out->proposed = all[members[0].rank].proposed;
        out->group = ct_group_make(p, n, ids, 0); /* takes ids */
        rc = out->group != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
    }
    free(members);
    return rc;
}

/* The new communicator of our colour: of an inter-communicator it has parts of both groups, and
 * there is none where one is empty. `theirs` is NULL for an intra-communicator. */
static int make_parts(struct ct_comm *comm, const struct entry *ours, const struct entry *theirs,
                      uint64_t color, struct ct_comm **out)
{
    struct part own, other = {0};
    int         rc = make_part(comm->p, comm->group, ours, color, &own);
    if (rc == CTRAN_SUCCESS && theirs != NULL) {
        rc = make_part(comm->p, comm->remote, theirs, color, &other);
    }
    if (rc != CTRAN_SUCCESS || (theirs != NULL && other.group == NULL)) {
        if (own.group != NULL) {
            ct_group_drop(own.group);
        }
        return rc;
    }
    const bool by_other = other.group != NULL && !ct_groups_in_order(own.group, other.group);
    const int  me = ct_group_find(own.group, ct_job_me(comm->p->job));
    *out = ct_comms_inherit(comm, ct_comms_make(comm->p, by_other ? other.proposed : own.proposed,
                                                own.group, (uint32_t)me, other.group));
    return *out != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
}

/* What one rank has, of all of both groups: in `all`, which is NULL without memory, those of the
 * local one, then the remote ones. After an error in one group the other gets `failed` of all of
 * its ranks. */
static int gather_both(struct ct_comm *comm, const void *own, const void *failed, size_t len,
                       char *all)
{
    const size_t n = comm->run.n, m = comm->remote != NULL ? comm->remote->n : 0;
    int          rc = gather_into(comm, own, len, all);
    if (m > 0 && all != NULL) {
        for (size_t i = 0; rc != CTRAN_SUCCESS && i < n; i++) {
            memcpy(all + i * len, failed, len);
        }
        int err = ct_inter_swap(comm, all, n * len, all + n * len, m * len);
        rc = rc != CTRAN_SUCCESS ? rc : err;
    }
    return rc;
}

/* Entries that are PARTED get the color of their place, or NOT. All ranks are here if one entry is
 * PARTED: all know the entries, and choose alike. */
static int part_by_hardware(struct ct_comm *comm, struct entry *all, size_t n, int *kind)
{
    struct ct_hw_place own, nowhere = {0}, *places = malloc(n * sizeof *places);
    bool              *parted = calloc(n, sizeof *parted);
    memset(nowhere.at, 0xff, sizeof nowhere.at);
    ct_hw_place(comm->p, &own);
    int rc = gather_both(comm, &own, &nowhere, sizeof own, (char *)places);
    rc = parted != NULL ? rc : CTRAN_ERR_NO_MEM;
    for (size_t i = 0; rc == CTRAN_SUCCESS && i < n; i++) {
        parted[i] = all[i].joins == PARTED;
    }
    const int by = rc == CTRAN_SUCCESS ? ct_hw_parts(places, parted, n) : -1;
    for (size_t i = 0; rc == CTRAN_SUCCESS && i < n; i++) {
        if (parted[i]) {
            const bool joins = by >= 0 && places[i].at[by] >= 0;
            all[i].joins = joins ? JOINS : NOT;
            all[i].color = joins ? ct_hw_color(&places[i], (enum ct_hw)by) : 0;
        }
    }
    *kind = by;
    free(places);
    free(parted);
    return rc;
}

/* Which choices there are: 1 << enum joins. */
static unsigned choices(const struct entry *all, size_t n)
{
    unsigned found = 0;
    for (size_t i = 0; i < n; i++) {
        found |= 1u << all[i].joins;
    }
    return found;
}

/* The entries of all, or the same error for them: a rank that knows them not does not know whether
 * the others go on to tell their places. They are in `memory` if they have to be, since it costs
 * more to copy them than to find one's group in them; else on the ag, until the next. */
static int gather_entries(struct ct_comm *comm, const struct entry *own, struct entry *memory,
                          const struct entry **all, unsigned *found)
{
    const size_t                   n = comm->run.n, m = comm->remote != NULL ? comm->remote->n : 0;
    const struct ct_shm_allgather *ag = m == 0 ? allgather_for(comm, sizeof *own) : NULL;
    const struct entry             unable = {.joins = UNABLE};
    const struct entry            *mine = memory != NULL ? own : &unable;
    int                            rc;
    if (ag != NULL) {
        rc = ct_run_shm_allgather(&comm->run, mine, sizeof *mine);
    } else {
        rc = gather_both(comm, mine, &unable, sizeof *mine, (char *)memory);
    }
    *all = ag != NULL ? ct_shm_allgather_entries(ag) : memory;
    *found = rc == CTRAN_SUCCESS ? choices(*all, n + m) : 0;
    if (ag != NULL && (*found & 1u << PARTED) != 0 && memory != NULL) {
        *all = memcpy(memory, *all, n * sizeof *memory); /* their places come over the ag, too */
    }
    return (*found & 1u << UNABLE) != 0 ? CTRAN_ERR_NO_MEM : rc;
}

static int split(struct ct_comm *comm, enum joins joins, uint64_t color, int key, int *kind,
                 struct ct_comm **out)
{
    const size_t        n = comm->run.n, m = comm->remote != NULL ? comm->remote->n : 0;
    const struct entry  own = {color, key, joins, ct_comms_propose(comm->p)}, *all;
    struct entry *const memory = malloc((n + m) * sizeof *memory);
    unsigned            found;
    int                 by = -1;
    int                 rc = gather_entries(comm, &own, memory, &all, &found);
    *out = NULL;
    if (rc == CTRAN_SUCCESS && (found & 1u << PARTED) != 0) {
        rc = part_by_hardware(comm, memory, n + m, &by);
    }
    if (rc == CTRAN_SUCCESS && all[comm->run.me].joins != NOT) {
        rc = make_parts(comm, all, m > 0 ? all + n : NULL, all[comm->run.me].color, out);
    }
    if (kind != NULL) {
        *kind = by;
    }
    free(memory);
    return rc;
}

int ct_comm_split(struct ct_comm *comm, int color, int key, struct ct_comm **out)
{
    return split(comm, color != CTRAN_UNDEFINED ? JOINS : NOT, (uint64_t)color, key, NULL, out);
}

int ct_comms_split_after(struct ct_comm *comm, int before, int color, int key, struct ct_comm **out)
{
    if (before == CTRAN_SUCCESS) {
        return ct_comm_split(comm, color, key, out);
    }
    (void)split(comm, UNABLE, 0, key, NULL, out); /* the first error is the one to tell */
    return before;
}

/* In front of the number of a process set's color, so that it is none of hardware's. */
#define PSET_COLOR ((uint64_t)0x70736574 << 32) /* "pset" */

int ct_comm_split_hardware(struct ct_comm *comm, int by, int key, int *kind, struct ct_comm **out)
{
    struct ct_hw_place place;
    if (by < 0 || by == CT_SPLIT_UNGUIDED) {
        return split(comm, by < 0 ? NOT : PARTED, 0, key, kind, out);
    }
    if (by == CT_SPLIT_WORLD || by == CT_SPLIT_SELF) {
        const uint64_t of = by == CT_SPLIT_SELF ? ct_job_me(comm->p->job) : UINT32_MAX;
        return split(comm, JOINS, PSET_COLOR | of, key, kind, out);
    }
    if (by == CT_HW_HOST) {
        return split(comm, JOINS, comm->p->job->local_group, key, kind, out);
    }
    ct_hw_place(comm->p, &place);
    return place.at[by] < 0
               ? split(comm, NOT, 0, key, kind, out)
               : split(comm, JOINS, ct_hw_color(&place, (enum ct_hw)by), key, kind, out);
}
