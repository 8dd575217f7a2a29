/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * comm - communicators: a group of processes in an order, and two contexts that keep its messages
 * apart from all others, one for point-to-point, one for collectives.
 *
 * A context number is unique in the job without a message for it: the first rank of the new
 * communicator takes the next of its own numbers, (its process number, a count), and the others
 * learn it in the exchange that makes the communicator. A communicator costs nothing on the wire
 * until it is used; endpoints are the process's, shared by all of its communicators.
 *
 * An inter-communicator has a second, remote group (see inter.h). Its `group` and `run` are those
 * of the local group. Messages go to the remote group: a function that sends or receives calls
 * ct_comm_peers; a function that runs a collective for the local group uses the other fields.
 */
#ifndef CT_COMM_COMM_H
#define CT_COMM_COMM_H

#include "coll/run/run.h"
#include "comm/group.h"
#include "comm/hardware.h"
#include "comm/hints.h"
#include "comm/port.h"
#include "comm/vtopo.h"

/* The contexts of one communicator, which keep messages of different purpose apart: a number in the
 * three highest bits of its id, which no process number reaches. */
enum ct_ctx_kind {
    CT_CTX_P2P,
    CT_CTX_INTER,  /* between the groups of an inter-communicator, or those that make one */
    CT_CTX_CREATE, /* making communicators by the members alone */
    CT_CTX_DUP,    /* nonblocking */
    CT_CTX_COLL,
    CT_CTX_NAMED,  /* no communicator's: numbers made of the program's strings */
    CT_CTX_STREAM, /* messages of stream-ordered calls over the host: what needs one needs all */
};
enum { CT_CTX_SHIFT = 61 };

/* Collectives need all members; a named context has the bit, too, but no members to lose. */
_Static_assert((uint64_t)CT_CTX_COLL << CT_CTX_SHIFT == CT_P2P_CTX_ALL, "the bit of p2p");

static inline uint64_t ct_ctx(uint64_t id, enum ct_ctx_kind kind)
{
    return id | (uint64_t)kind << CT_CTX_SHIFT;
}

/* Of one with a handle; of one that a nonblocking dup is making. */
enum { CT_COMM_MAGIC = 0x436f6d6d, CT_COMM_MAGIC_DUP = 0x436f6d64 };

struct ct_stream_context;

struct ct_comm {
    _Atomic uint32_t      magic;
    struct ct_ref         refs; /* the user's handle, and one for each pending request */
    bool                  open; /* has its number, and is found by it */
    uint64_t              id;   /* of all of its contexts, see ct_ctx */
    struct ct_process    *p;
    struct ct_errhandler *errhandler; /* held; see base/errhandler.h */
    struct ct_win        *window;     /* whose error handler serves; NULL: no window */
    struct ct_run_ctx     run;        /* n, me, and the context of collectives */
    struct ct_group      *group;
    struct ct_group      *remote;      /* NULL: an intra-communicator */
    uint32_t              npersistent; /* collectives that were prepared */
    uint32_t              remote_seq;  /* collectives of both groups that were numbered */
    uint64_t              guard;       /* the id of one whose revocation is this one's; 0: none */
    _Atomic size_t        nacked;      /* losses (ct_p2p_loss) that are acknowledged */
    uint32_t nagreements  CT_GUARDED_BY(ct_domain); /* ft: that this process has begun */
    struct ct_attrs       attrs;
    _Atomic uint32_t      hints; /* CT_HINT_ */
    struct ct_vtopo      *topo;  /* NULL: none */
    /* coll's, made at its first call; NULL: none yet */
    struct ct_chooser *_Atomic chooser;
    char                      *coll_algorithm; /* value of the info key; NULL: none */
    struct ct_trace_comm      *trace;          /* its place in the trace; NULL: none yet */
    /* stream's, made at its first call, and what ends it; NULL: none yet. */
    struct ct_stream_context *_Atomic stream;
    void (*stream_close)(struct ct_comm *comm);
    char              name[CTRAN_MAX_OBJECT_NAME] CT_GUARDED_BY(ct_comms_guard);
    UT_hash_handle hh CT_GUARDED_BY(ct_comms_guard); /* by id, of the process's */
};

/* Without a world. self is there from the start, for errors that belong to no communicator, but its
 * handle is only with the world. */
int  ct_comm_init(struct ct_process *p);
void ct_comm_fini(struct ct_process *p);
/* Locks are from now on as p->threaded says. No other thread is here. */
void ct_comm_set_threaded(struct ct_process *p);
/* CTRAN_COMM_WORLD and CTRAN_COMM_SELF, anew each time: their numbers do not come again. Local. */
int  ct_comm_world_open(struct ct_process *p);
void ct_comm_world_close(struct ct_process *p);

/* The object behind a handle; NULL for a null one, a freed one (most likely: its memory may serve
 * another communicator by now), or what is no pointer. Pointers into nowhere are not told. */
struct ct_comm *ct_comm_of(struct ct_process *p, ctran_comm_t handle);
/* Like ct_comm_of, and what a nonblocking dup has not completed, for what needs no number. */
struct ct_comm *ct_comm_of_early(struct ct_process *p, ctran_comm_t handle);
/* The handle of an object: the constant for world and self. */
ctran_comm_t    ct_comm_handle(const struct ct_comm *comm);
struct ct_comm *ct_comm_world(struct ct_process *p);
struct ct_comm *ct_comm_self(struct ct_process *p);
/* The one with the processes that have spawned this job; NULL: there is none, or it was freed. */
struct ct_comm *ct_comm_parent(struct ct_process *p);
void            ct_comm_set_parent(struct ct_process *p, struct ct_comm *comm);
/* What these start with (MPI-4.1 sec. 9.3). */
struct ct_errhandler *ct_comm_initial_errhandler(const struct ct_process *p);
/* The keys of their attributes. */
struct ct_keyvals *ct_comm_keyvals(struct ct_process *p);

static inline uint32_t ct_comm_id_of(const struct ct_comm *comm, uint32_t rank)
{
    return ct_group_id_of(comm->group, rank);
}

/* The group that messages go to and come from: the remote one of an inter-communicator. */
static inline struct ct_group *ct_comm_peers(const struct ct_comm *comm)
{
    return comm->remote != NULL ? comm->remote : comm->group;
}

/* Whether ct_run_shm_allgather serves it: the world of a job on one host, since what a program does
 * there it does in the same order on all ranks. Where deaths are survived none is used, as no
 * shm_coll is. */
bool ct_comm_has_shm_allgather(const struct ct_comm *comm);

/* The endpoint of a rank among the peers; NULL when out of memory. */
static inline struct ct_ep *ct_comm_ep(const struct ct_comm *comm, uint32_t rank)
{
    return ct_ep_get(comm->p, ct_group_id_of(ct_comm_peers(comm), rank));
}

/* How far two ranks of the (local) group are from each other; as ct_ep_location. distance.c */
int ct_comm_distance(const struct ct_comm *comm, uint32_t a, uint32_t b, enum ct_distance *d);
/* Where the first n ranks stand, with numbers that are alike on all of them: all that follows from
 * these is. */
int ct_comm_locations(const struct ct_comm *comm, uint32_t n, struct ct_location *locations);

/* Collective; see ctran_comm_dup and ctran_comm_split. *out is NULL for CTRAN_UNDEFINED. */
int ct_comm_dup(struct ct_comm *comm, struct ct_comm **out);
/* Duplicates without attributes, so that no function of the program runs: for the library's own
 * use. A revocation of comm revokes the new one, too. */
int ct_comm_dup_bare(struct ct_comm *comm, struct ct_comm **out);
int ct_comm_split(struct ct_comm *comm, int color, int key, struct ct_comm **out);
/* Those of one object of hardware, enum ct_hw. -1: the caller gets none; CT_SPLIT_UNGUIDED: the
 * largest kind that parts those who say so, told in *kind, where it is not NULL; -1: none does.
 * *out is NULL for who is not confined to one. CT_SPLIT_WORLD, _SELF: those of the process set. */
enum { CT_SPLIT_UNGUIDED = CT_HW_KINDS, CT_SPLIT_WORLD, CT_SPLIT_SELF };
int ct_comm_split_hardware(struct ct_comm *comm, int by, int key, int *kind, struct ct_comm **out);
/* Collective over comm, and over the group alone; see ctran_comm_create, _create_group. *out is
 * NULL for who is no member. CTRAN_ERR_GROUP where the group has others than comm. */
int ct_comm_create(struct ct_comm *comm, struct ct_group *group, struct ct_comm **out);
int ct_comm_create_group(struct ct_comm *comm, struct ct_group *group, int tag,
                         struct ct_comm **out);

/* Collective over comm; see ctran_cart_create, _cart_sub, _graph_create. *out is NULL for who is no
 * member. Arguments have been checked, all ranks give the same. topo_create.c */
int ct_comm_cart(struct ct_comm *comm, int ndims, const int *dims, const int *periods, bool reorder,
                 struct ct_comm **out);
int ct_comm_cart_sub(struct ct_comm *comm, const int *remain, struct ct_comm **out);
int ct_comm_graph(struct ct_comm *comm, int nnodes, const int *index, const int *edges,
                  bool reorder, struct ct_comm **out);
/* Of a distributed graph a rank gives its own edges (and its rank in the new communicator, or all
 * give 0); or any edges, which are told to their ends. */
int ct_comm_dist_graph(struct ct_comm *comm, const struct ct_vtopo_dist *own, int newrank,
                       struct ct_comm **out);
int ct_comm_dist_graph_from(struct ct_comm *comm, const struct ct_vtopo_triple *edges, size_t n,
                            bool weighted, bool reorder, struct ct_comm **out);

/* The caller's rank in a grid or graph whose neighbours are close; CTRAN_UNDEFINED for a rank
 * beyond the grid. If all ranks of comm call `together` they tell each other where they stand; else
 * there are no messages, see ct_ep_location. reorder.c */
int ct_comm_cart_map(struct ct_comm *comm, bool together, int ndims, const int *dims,
                     const int *periods, int *newrank);
int ct_comm_graph_map(struct ct_comm *comm, bool together, int nnodes, const int *index,
                      const int *edges, int *newrank);
/* As ct_comm_dist_graph, with ranks of its choice: each gets the edges of the node that it is. */
int ct_comm_dist_graph_reorder(struct ct_comm *comm, const struct ct_vtopo_dist *own,
                               struct ct_comm **out);

/* Like ct_comm_create, by the members of the group alone, which know each other without a parent
 * communicator. `tag` tells concurrent calls apart. The second makes an inter-communicator of two
 * groups without a common process. There is no parent: the error handler is CTRAN_ERRORS_ARE_FATAL.
 * create.c */
int ct_comm_from_group(struct ct_process *p, struct ct_group *group, const char *tag,
                       struct ct_comm **out);
int ct_comm_from_groups(struct ct_process *p, struct ct_group *local, struct ct_group *remote,
                        const char *tag, struct ct_comm **out);

/* See ctran_comm_idup; info has hints, or is NULL. *out is void until the request has been
 * completed by the program; with an error there are neither. idup.c */
int ct_comm_idup(struct ct_comm *comm, const struct ct_info *info, struct ct_comm **out,
                 struct ct_request **request);

/* Collective over `local`; see ctran_intercomm_create. peer, remote_leader, tag and bad count at
 * the leader alone: its argument error `bad` comes to all. CTRAN_ERR_GROUP: the groups have a
 * process in common. inter.c */
int ct_comm_meet(struct ct_comm *local, uint32_t leader, struct ct_comm *peer, int remote_leader,
                 int tag, int bad, struct ct_comm **out);
/* Where two groups meet: the root calls a port, for so long, or accepts there (port.h). */
struct ct_meeting {
    const char         *port;
    bool                calls;
    uint64_t            timeout_ns; /* of a call; CT_PORT_FOREVER */
    const _Atomic bool *lost;       /* of an accept */
};

/* Collective over `local`; see ctran_comm_accept and ctran_comm_connect. `at` and bad count at root
 * alone: its argument error `bad` comes to all. CTRAN_ERR_PORT, CTRAN_ERR_SPAWN; CTRAN_ERR_GROUP as
 * above. inter.c */
int ct_comm_meet_at(struct ct_comm *local, uint32_t root, const struct ct_meeting *at, int bad,
                    struct ct_comm **out);
int ct_comm_merge(struct ct_comm *comm, bool high, struct ct_comm **out);
static inline void ct_comm_hold(struct ct_comm *comm)
{
    ct_ref_hold(&comm->refs, comm->p->threaded);
}

/* Whether the first of both groups is the one called local. */
static inline bool ct_groups_in_order(const struct ct_group *local, const struct ct_group *remote)
{
    return ct_group_id_of(local, 0) < ct_group_id_of(remote, 0);
}

static inline bool ct_comm_is_revoked(const struct ct_comm *comm)
{
    return atomic_load_explicit(&comm->run.revoked, memory_order_relaxed);
}

/* ft: called after a communicator was opened, outside of the domain; NULL: nobody asks. */
void ct_comm_on_open(struct ct_process *p, void (*on_open)(struct ct_comm *comm));
/* The communicator with this number, held; NULL: there is none. *closed: it was freed here. */
struct ct_comm *ct_comm_by_id(struct ct_process *p, uint64_t id, bool *closed);
/* Calls fn for each that is open. fn must not open or end one. */
void ct_comm_for_all(struct ct_process *p, void (*fn)(struct ct_comm *comm, void *arg), void *arg);

/* For ft, which makes a communicator of the members that live. void, with the groups and the error
 * handler of comm so far; NULL when out of memory. survivors.c */
struct ct_comm *ct_comm_begin_survivors(struct ct_comm *comm);
/* Gives it its groups, of which this process is in the first; takes the caller's references. In the
 * domain or not. */
void ct_comm_set_survivors(struct ct_comm *comm, struct ct_group *group, struct ct_group *remote);
/* And its number, one that ct_comm_propose gave a member. `used`: by the program, outside of the
 * domain. */
void     ct_comm_open_survivors(struct ct_comm *comm, uint64_t id, bool used);
uint64_t ct_comm_propose(struct ct_process *p);

void ct_comm_end_(struct ct_comm *comm);

/* Gives a reference back; the last one frees. */
static inline void ct_comm_drop(struct ct_comm *comm)
{
    if (CT_UNLIKELY(ct_ref_drop(&comm->refs, comm->p->threaded))) {
        ct_comm_end_(comm);
    }
}
/* The name is cut to CTRAN_MAX_OBJECT_NAME - 1 bytes; _get fills as many and a 0. */
void ct_comm_set_name(struct ct_comm *comm, const char *name);
void ct_comm_get_name(struct ct_comm *comm, char *name);

/* Gives the user's handle back: it is void from now on, whatever is still pending. */
void ct_comm_release(struct ct_comm *comm);

#endif
