/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The description of a job, which goes down the tree to each daemon: what to run, where the ranks
 * are, and how to reach the other nodes. Programs have their ranks in blocks: the first program has
 * ranks 0 to apps[0].ranks - 1, and so on. Nodes have their ranks in blocks as well; or, with
 * ranks_in_turn, one rank each in turn, and again from the first node, as long as a node has room.
 */
#ifndef CT_LAUNCHER_JOB_JOBDESC_H
#define CT_LAUNCHER_JOB_JOBDESC_H

#include <stdbool.h>
#include <stdint.h>

#include "launcher/msg/msg.h"

/* The units that ranks take in turn, and the unit that each rank is held to; place/places.h. */
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

/* Values of stdin_to that are no rank. */
enum { CT_STDIN_NONE = -1, CT_STDIN_ALL = -2 };

/* Stands for no node. */
enum { CT_NO_NODE = UINT32_MAX };

/* One program of the job and its ranks. */
struct ct_app {
    uint32_t ranks;
    char    *path; /* its file */
    char    *wdir; /* "" to stay in the daemon's directory */
    char   **argv; /* its arguments */
    char   **env;  /* NAME=VALUE for its ranks */
};

struct ct_node {
    char    *host;
    uint32_t ranks;
};

/* Which rank is where. Made from the nodes by ct_jobdesc_map; not sent. */
struct ct_rank_map {
    uint32_t *node_of, *local_of; /* by rank */
    uint32_t *order;              /* all ranks, node by node */
    uint32_t *first;              /* by node: where in `order` its ranks begin */
};

/* Strings and lists are owned (strlist.h). A text that is not given is "". */
struct ct_jobdesc {
    char           *job; /* its id */
    struct ct_app  *apps;
    uint32_t        napps;
    char          **env;      /* NAME=VALUE for all ranks */
    char          **rank_env; /* RANKS:NAME=VALUE; in VALUE %r, %l and %n are numbers of the rank */
    struct ct_node *nodes;
    uint32_t        nnodes;
    uint32_t slots; /* that all hosts together have, as far as the hosts' numbers are known */
    bool     ranks_in_turn;
    uint32_t me, span; /* the receiving node; the number of nodes from `me` on that are its own */

    struct ct_rank_map ranks;

    /* How to reach other nodes. A job of one node needs none of this. */
    char   **agent;       /* the words before the name of the host */
    bool     agent_shell; /* the agent hands the command to a shell there */
    char    *daemon;      /* the file of ctrand on all hosts */
    uint32_t fan_out;
    char   **forward; /* NAME=VALUE for daemons and ranks on other hosts */
    char    *cwd;     /* the directory of daemons on other hosts; "" to stay */

    /* Secrets. Ranks have them in their environment; other processes must not see them. */
    char *key;    /* CTRAN_JOB_KEY */
    char *nspace; /* the job's name for PMIx */

    /* CTRAN_JOB_STORE: the address of the store's first server. Sent by START, when all nodes are
     * ready. NULL: not known yet; "": the job has no store. */
    char *store;

    char    *parent_nspace; /* of the rank that spawned the job; "" for none */
    uint32_t parent_rank;
    uint32_t first_process; /* the number of rank 0 among all processes of the family */
    uint8_t *family; /* other jobs of the family, each as in FAMILY_JOB */
    size_t   family_len;

    enum ct_map  map;
    uint32_t     pe; /* processing elements a rank; 0: not given */
    enum ct_bind bind;
    uint32_t     gpus; /* GPUs that a rank has for itself; 0: not given */

    char   **debugger; /* the command that some ranks run under: file and arguments; NULL: none */
    char    *debug_ranks;    /* the ranks that run under it (ranklist.h) */
    bool     debug_terminal; /* the first of these ranks has a terminal */
    uint32_t rows, columns;  /* of that terminal */

    int32_t stdin_to;      /* the rank that gets the input, or CT_STDIN_NONE, CT_STDIN_ALL */
    char   *output_dir;    /* the directory for files of the output; "": none */
    bool    output_hidden; /* the output goes to these files only */
    bool    one_sink; /* standard output and error lead to one file: one channel carries both */

    bool verbose;
    bool tell_ranks;    /* daemons send STARTED for each rank */
    bool progress;      /* daemons send PROGRESS now and then */
    bool oversubscribe; /* ranks may share cores and exceed slots without a warning */
    bool recovery;      /* the job outlives the death of ranks */
};

/* Whether ranks get GPUs; whether their CPUs follow from the GPUs. */
static inline bool ct_jobdesc_wants_gpus(const struct ct_jobdesc *d)
{
    return d->map == CT_MAP_GPU || d->gpus > 0;
}

static inline bool ct_jobdesc_gpus_lead(const struct ct_jobdesc *d)
{
    return d->map == CT_MAP_GPU || (d->gpus > 0 && d->map == CT_MAP_DEFAULT);
}

/* Whether a rank gets the standard input. The other ranks read /dev/null. */
static inline bool ct_jobdesc_gets_input(const struct ct_jobdesc *d, uint32_t rank)
{
    return d->stdin_to == CT_STDIN_ALL || d->stdin_to == (int32_t)rank;
}

/* The number of ranks of all programs. */
uint32_t ct_jobdesc_ranks(const struct ct_jobdesc *d);

/* Fills in d->ranks. Returns false when out of memory. */
bool ct_jobdesc_map(struct ct_jobdesc *d);

/* Returns the rank that has the number `local` on the node. */
static inline uint32_t ct_jobdesc_rank(const struct ct_jobdesc *d, uint32_t node, uint32_t local)
{
    return d->ranks.order[d->ranks.first[node] + local];
}

/* Returns all ranks of a node, in order. */
static inline const uint32_t *ct_jobdesc_ranks_of(const struct ct_jobdesc *d, uint32_t node)
{
    return d->ranks.order + d->ranks.first[node];
}

/* Returns the program of a rank, as an index in apps; the first rank of a program. */
uint32_t ct_jobdesc_app_of(const struct ct_jobdesc *d, uint32_t rank);
uint32_t ct_jobdesc_app_first(const struct ct_jobdesc *d, uint32_t app);

/* Returns what is added to the environment of a rank of this node. The caller frees the list
 * (strlist.h). NULL when out of memory. */
char **ct_jobdesc_env(const struct ct_jobdesc *d, uint32_t rank);

/* Whether a rank runs under the debugger; whether the rank has a terminal. */
bool ct_jobdesc_is_debugged(const struct ct_jobdesc *d, uint32_t rank);
bool ct_jobdesc_has_terminal(const struct ct_jobdesc *d, uint32_t rank);

/* Returns the words of a rank's command, with the debugger's words before them if the rank has one.
 * The caller frees the list. NULL when out of memory. */
char **ct_jobdesc_command(const struct ct_jobdesc *d, uint32_t rank);

/* Appends the description, without the receiver, which stands before it in a message. */
void ct_jobdesc_pack(const struct ct_jobdesc *d, struct evbuffer *out);

/* Reads a whole JOB message and fills *d with copies. Sets in->bad if it makes no sense.
 * ct_jobdesc_fini is due in any case. */
void ct_jobdesc_unpack(struct ct_jobdesc *d, struct ct_unpack *in);
/* Write and read a list (strlist.h): u32 n, n texts. The caller frees the result. */
void   ct_jobdesc_pack_list(struct evbuffer *out, char *const *list);
char **ct_jobdesc_unpack_list(struct ct_unpack *in);

void ct_jobdesc_fini(struct ct_jobdesc *d);

#endif
