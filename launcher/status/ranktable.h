/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of all ranks of the job as processes, gathered from all nodes when it is asked for: by
 * --status and by PMIx's queries. One gathering is under way at a time. Who asks meanwhile gets the
 * result of that gathering, so a question costs no more than the connection it comes by. A
 * gathering ends when all nodes have answered, or after CT_GATHER_LIMIT_MS without the nodes that
 * have not. The head answers for a node whose ranks have all ended, because its daemon may have
 * left.
 */
#ifndef CT_LAUNCHER_STATUS_RANKTABLE_H
#define CT_LAUNCHER_STATUS_RANKTABLE_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "launcher/job/job.h"
#include "launcher/msg/msg.h"
#include "launcher/proc/proc.h"
#include "launcher/status/blockfile.h"

/* A rank; all 0 before its start, and if its node has not answered. */
struct ct_rank_state {
    uint32_t               pid;
    uint32_t               letter; /* as in ps; 0: the process has ended, or is not started */
    uint32_t               wait_status, phase;
    bool                   ended;
    uint64_t               cpu_ms, resident_bytes; /* of the process and all its descendants */
    struct ct_blocked_call blocked;
};

struct ct_ranktable {
    const struct ct_jobdesc *desc;
    const struct ct_procs   *procs;
    struct ct_conn          *conn;
    struct ct_list           asks;
    struct event            *limit;
    uint32_t                 number,
        missing; /* the number of the gathering under way; nodes that have not answered */
    struct ct_rank_state *ranks;    /* by rank; NULL: none is under way */
    bool                 *answered; /* by node */
};

struct ct_ranktable_ask {
    struct ct_list node;
    void (*done)(struct ct_ranktable_ask *ask, const struct ct_ranktable *t);
};

/* `desc`, `procs` and `conn` are borrowed. Returns false when out of memory. */
bool ct_ranktable_init(struct ct_ranktable *t, struct event_base *base,
                       const struct ct_jobdesc *desc, const struct ct_procs *procs,
                       struct ct_conn *conn);

/* Calls ask->done once, perhaps at once. t->ranks and t->answered are valid during that call, and
 * NULL when out of memory. The callee must not ask again. A caller that goes before the call takes
 * its question back. */
void ct_ranktable_ask(struct ct_ranktable *t, struct ct_ranktable_ask *ask);

/* As ct_ranktable_ask, at once and with the ranks of this node alone. */
void ct_ranktable_ask_here(struct ct_ranktable *t, struct ct_ranktable_ask *ask);

void ct_ranktable_take_back(struct ct_ranktable_ask *ask);

/* Writes the payload of CT_MSG_RANKS: the answer of a node with its ranks, in order. */
void ct_ranktable_pack(struct evbuffer *body, uint32_t asker, uint32_t number, uint32_t node,
                       const struct ct_rank_state *all, uint32_t n);

/* Handle RANKS_ASK, another node's question, and RANKS, the answer to a question of this node. */
void ct_ranktable_take_ask(struct ct_ranktable *t, struct ct_unpack *in);
void ct_ranktable_take(struct ct_ranktable *t, struct ct_unpack *in);

#endif
