/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The description of a job, which goes down the tree to each daemon: what to run, where its ranks
 * are, and how to reach the other nodes. Programs have their ranks in blocks: the first program has
 * the first apps[0].ranks of them, and so on. Nodes have them in blocks as well, or in turn
 * (ranks_in_turn): one each, and again from the first, as long as a node has room.
 */
#ifndef CT_LAUNCHER_JOB_JOBDESC_H
#define CT_LAUNCHER_JOB_JOBDESC_H

#include <stdbool.h>
#include <stdint.h>

#include "launcher/msg/msg.h"

/* What ranks are spread over in turn, and what each is held to; place/places.h. */
enum ct_map {
    CT_MAP_DEFAULT,
    CT_MAP_SLOT,
    CT_MAP_NODE,
    CT_MAP_CORE,
    CT_MAP_NUMA,
    CT_MAP_HWTHREAD,
    CT_MAP_GPU,
    CT_MAP_PACKAGE,
    CT_MAP_L3CACHE
};
enum ct_bind {
    CT_BIND_DEFAULT,
    CT_BIND_NONE,
    CT_BIND_CORE,
    CT_BIND_NUMA,
    CT_BIND_HWTHREAD,
    CT_BIND_PACKAGE,
    CT_BIND_L3CACHE
};

/* stdin_to, where it is no rank. */
enum { CT_STDIN_NONE = -1, CT_STDIN_ALL = -2 };

/* A node number that stands for no node. */
enum { CT_NO_NODE = UINT32_MAX };

/* One program of the job and its ranks. */
struct ct_app {
    uint32_t ranks;
    char    *path; /* its file */
    char    *wdir; /* "" to stay where the daemon is */
    char   **argv; /* its arguments */
    char   **env;  /* NAME=VALUE for its ranks */
};

struct ct_node {
    char    *host;
    uint32_t ranks;
};

/* Where ranks are: made from the nodes, not sent. */
struct ct_rank_map {
    uint32_t *node_of, *local_of; /* by rank */
    uint32_t *order;              /* all ranks, node by node */
    uint32_t *first;              /* by node: where in `order` its ranks begin */
};

/* Strings and lists are owned (strlist.h); a text that is not given is "". */
struct ct_jobdesc {
    char           *job; /* its id */
    struct ct_app  *apps;
    uint32_t        napps;
    char          **env;      /* NAME=VALUE for all ranks */
    char          **rank_env; /* RANKS:NAME=VALUE; %r, %l, %n in VALUE are numbers of the rank */
    struct ct_node *nodes;
    uint32_t        nnodes;
    uint32_t        slots; /* ranks that its hosts take together, as far as is known */
    bool            ranks_in_turn;
    uint32_t        me, span; /* the receiver; it and so many - 1 nodes after it are its own */

    struct ct_rank_map ranks;

    /* How other nodes are reached. With one node there is no need of that. */
    char   **agent;       /* the words before the host's name */
    bool     agent_shell; /* what it runs it gives to a shell */
    char    *daemon;      /* the file of ctrand, there too */
    uint32_t fan_out;
    char   **forward; /* NAME=VALUE for daemons and ranks there */
    char    *cwd;     /* where they are to be; "" to stay */

    /* Secrets: ranks have them in their environment, and nobody else. */
    char *key;    /* CTRAN_JOB_KEY */
    char *nspace; /* the job's name for PMIx */

    /* CTRAN_JOB_STORE: where the store's first server is. Not sent with the rest: it is known when
     * all nodes are ready. NULL: not yet; "": there is none. */
    char *store;

    char    *parent_nspace; /* of the rank that spawned the job; "" for none */
    uint32_t parent_rank;
    uint8_t
          *family; /* other jobs of its family, each as in family/jobs.h with its name before it */
    size_t family_len;

    enum ct_map  map;
    uint32_t     pe; /* processing elements a rank; 0: not given */
    enum ct_bind bind;
    uint32_t     gpus; /* that a rank has for itself; 0: not given */

    char   **debugger;       /* what some ranks run under: file and arguments; NULL: nothing */
    char    *debug_ranks;    /* which (ranklist.h) */
    bool     debug_terminal; /* the first of them has a terminal */
    uint32_t rows, columns;  /* of that */

    int32_t stdin_to;      /* the rank that gets the input, or CT_STDIN_* */
    char   *output_dir;    /* where the output is kept as well */
    bool    output_hidden; /* kept there only */
    bool    one_sink;      /* standard output and error go to one file: one channel */

    bool verbose;
    bool tell_ranks;    /* STARTED is wanted for each rank */
    bool progress;      /* PROGRESS is wanted now and then */
    bool oversubscribe; /* ranks may share cores and exceed slots, without a warning */
    bool recovery;      /* the job outlives the death of ranks */
};

/* Whether GPUs are to be chosen for the ranks; whether their CPUs follow from these. */
static inline bool ct_jobdesc_wants_gpus(const struct ct_jobdesc *d)
{
    return d->map == CT_MAP_GPU || d->gpus > 0;
}

static inline bool ct_jobdesc_gpus_lead(const struct ct_jobdesc *d)
{
    return d->map == CT_MAP_GPU || (d->gpus > 0 && d->map == CT_MAP_DEFAULT);
}

/* Whether a rank gets the input; the others read /dev/null. */
static inline bool ct_jobdesc_gets_input(const struct ct_jobdesc *d, uint32_t rank)
{
    return d->stdin_to == CT_STDIN_ALL || d->stdin_to == (int32_t)rank;
}

/* All ranks. */
uint32_t ct_jobdesc_ranks(const struct ct_jobdesc *d);

/* Fills in where ranks are. Returns false when out of memory. */
bool ct_jobdesc_map(struct ct_jobdesc *d);

/* The rank of this number on a node. */
static inline uint32_t ct_jobdesc_rank(const struct ct_jobdesc *d, uint32_t node, uint32_t local)
{
    return d->ranks.order[d->ranks.first[node] + local];
}

/* All ranks of a node, in order. */
static inline const uint32_t *ct_jobdesc_ranks_of(const struct ct_jobdesc *d, uint32_t node)
{
    return d->ranks.order + d->ranks.first[node];
}

/* The program of a rank, as its index in apps; and a program's first rank. */
uint32_t ct_jobdesc_app_of(const struct ct_jobdesc *d, uint32_t rank);
uint32_t ct_jobdesc_app_first(const struct ct_jobdesc *d, uint32_t app);

/* What is added to the environment of a rank of this node: of the job, its program, itself. The
 * caller frees it (strlist.h). NULL when out of memory. */
char **ct_jobdesc_env(const struct ct_jobdesc *d, uint32_t rank);

/* Whether a rank runs under the debugger; whether it has a terminal. */
bool ct_jobdesc_is_debugged(const struct ct_jobdesc *d, uint32_t rank);
bool ct_jobdesc_has_terminal(const struct ct_jobdesc *d, uint32_t rank);

/* The words of a rank's command, with the debugger's before them if it has one. The caller frees
 * them. NULL when out of memory. */
char **ct_jobdesc_command(const struct ct_jobdesc *d, uint32_t rank);

/* All but the receiver, which stands before it in a message. */
void ct_jobdesc_pack(const struct ct_jobdesc *d, struct evbuffer *out);

/* Takes a whole message and fills *d with copies; ct_jobdesc_fini is due even when in->bad is set
 * afterwards. */
void ct_jobdesc_unpack(struct ct_jobdesc *d, struct ct_unpack *in);
/* A list (strlist.h) in a message: u32 n, n texts. The caller frees it. */
void   ct_jobdesc_pack_list(struct evbuffer *out, char *const *list);
char **ct_jobdesc_unpack_list(struct ct_unpack *in);

void ct_jobdesc_fini(struct ct_jobdesc *d);

#endif
