/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which algorithm runs, and with which settings. In this order:
 *
 *  1. what the communicator's info key ctran_coll_algorithm names for the collective,
 *  2. what CTRAN_COLL_ALGORITHM names for it,
 *  3. the first row of the table in force that holds and whose algorithm can serve the call: the
 *     table is CTRAN_COLL_TUNING's file, or else the library's own,
 *  4. any algorithm that can serve it.
 *
 * With CTRAN_REPRODUCIBLE reductions go by a table of their own, whose rows look at ranks and bytes
 * alone, and 1 to 3 do not count for them.
 *
 * The selection uses only facts that are equal on all ranks: settings are compared when two ranks
 * first meet (ep/record.c), the arguments are equal by MPI's rules. Rows that can never hold in a
 * communicator, because of its ranks and their locations, are removed once; a call checks size,
 * operator and root only.
 */
#ifndef CT_COLL_SELECT_H
#define CT_COLL_SELECT_H

#include "coll/tuning.h"
#include "comm/comm.h"

enum { CT_MAX_RADIX = 1024 };

/* Where blocks are uneven (see ct_env): rows with an upper limit do not hold. */
#define CT_BYTES_UNKNOWN SIZE_MAX

enum { CT_SUMS = CT_REDUCE | CT_ALLREDUCE | CT_REDUCE_SCATTER | CT_SCAN | CT_EXSCAN };

/* What a communicator is like. */
struct ct_shape {
    uint32_t n, nodes, local; /* ranks, hosts, most ranks on a host */
    /* The groups of ranks that are close together; not owned. NULL: all ranks form one group or
     * none, or no algorithm asks for groups. */
    const struct ct_levels *levels;
    /* bit mask of collectives that use no groups: reductions under CTRAN_REPRODUCIBLE */
    uint32_t flat;
};

/* What a call is like. */
struct ct_select {
    uint32_t coll;    /* enum ct_coll_kind */
    size_t   bytes;   /* of the whole vector, or CT_BYTES_UNKNOWN */
    bool     ordered; /* the operator does not commute */
    bool     uneven;  /* as in ct_env */
    uint32_t root;
    bool     shm; /* the ranks have one, and it takes the call */
};

enum ct_choice_by { CT_BY_HINT, CT_BY_VARIABLE, CT_BY_RULE, CT_BY_FIT };

struct ct_choice {
    const struct ct_pick *pick; /* the chooser's, or `any` */
    enum ct_choice_by     by;
    const struct ct_rule *rule; /* CT_BY_RULE; of ct_policy_tuning */
    struct ct_pick        any;  /* CT_BY_FIT */
};

/* Reads the variables and the table into p->policy, before ep_init, and again when they have
 * changed: then choosers made before are void. CTRAN_ERR_CONFIG, logged, for a bad value or a table
 * that cannot be read; CTRAN_ERR_NO_MEM. */
int ct_policy_init(struct ct_process *p);
/* Between cycles of init and finalize: its lock is from now on as p->threaded says. */
void ct_policy_set_threaded(struct ct_process *p);
void ct_policy_fini(struct ct_process *p);

/* The table that the collective goes by. */
const struct ct_tuning *ct_policy_tuning(const struct ct_process *p, uint32_t coll);

/* The rows of p's tables that can hold in this shape. `forced` is the value of the info key, or
 * NULL, and has been checked. NULL: out of memory. Given back by ct_chooser_drop. */
struct ct_chooser *ct_chooser_make(const struct ct_process *p, const struct ct_shape *shape,
                                   const char *forced);
/* false, logged: there is no algorithm for it. */
bool ct_chooser_pick(const struct ct_process *p, const struct ct_chooser *c,
                     const struct ct_select *what, struct ct_choice *out);

/* Whether the algorithm can serve such a call in this shape. */
bool ct_pick_fits(const struct ct_pick *pick, const struct ct_shape *shape,
                  const struct ct_select *what);

/* The chooser of the communicator, made at the first call. NULL: out of memory, or an error of
 * ct_coll_levels or ct_comm_locations, in *rc. */
const struct ct_chooser *ct_coll_chooser(struct ct_comm *comm, int *rc);
/* Like ct_coll_chooser, held for a collective in the background: what all ranks had when they
 * called is what it goes by, whatever happens to the communicator meanwhile. NULL: as above,
 * logged. */
struct ct_chooser *ct_coll_chooser_hold(struct ct_comm *comm);

/* Selects, and completes args: algorithm, radix, chunks. CTRAN_ERR_INTERN, logged, if there is
 * none. */
int ct_coll_choose(const struct ct_process *p, const struct ct_chooser *c,
                   const struct ct_select *what, struct ct_run_args *args);

/* A list that forces algorithms, "allreduce:ring,bcast:knomial:4" or "allreduce=ring;...", into
 * forced[CT_COLL_KINDS]; where it names none, algo is NULL. false with the reason, which names what
 * there is. pick.c */
bool ct_forced_parse(const char *list, struct ct_pick *forced, char *why, size_t cap);

#endif
