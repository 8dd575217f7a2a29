/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the ranks' state machines consist of: engine.c has their rounds, message.c what becomes of a
 * message from the moment when its sender begins with it.
 */
#ifndef SIM_ENGINE_H
#define SIM_ENGINE_H

#include "sim.h"

/* ASK: an announcement is there; CLEAR: the answer to it. LATE: LAND, of what was there before its
 * receive. */
enum kind { POST, INJECT, GO, LAND, LATE, DONE, WAKE, CORE, NEXT, ASK, ANSWER, CLEAR };

enum state { TX_OPEN, RX_POSTED, RX_MATCHED };

struct slot {
    uint64_t when; /* TX: left, SIM_NEVER: not known yet; RX: posted */
    uint32_t round;
    uint32_t peer : 26, state : 3, act : 3;
};

_Static_assert(SIM_RANKS <= 1 << 26 && sizeof(struct slot) == 16, "there are 16 of each rank");

struct strand {
    uint32_t    next_round, rounds, chunk;
    uint32_t    name; /* of the chunk, in all calls */
    uint16_t    lane;
    bool        active, working; /* at the copies and sums of its next round */
    uint32_t    busy;            /* bit i: slot i is in use */
    uint64_t    wake_at;
    struct slot slots[SIM_SLOTS];
};

/* The first of the last messages that a rank got of one peer in a row. */
struct last_message {
    uint64_t at;
    uint32_t from;
};

/* The state of one rank, except for its strands, in one place, as most events need most of it. */
struct own {
    uint64_t            busy;   /* until when its processor has work */
    uint64_t            flight; /* bytes sent and not yet received */
    struct last_message last_message;
    uint32_t            calls;   /* that it has begun */
    uint32_t            at_work; /* strands that are active */
};

struct engine {
    const struct sim_case  *c;
    const struct sim_watch *watch;
    struct sim_result      *r;
    struct ct_env           env;
    struct sim_vector       vector;
    struct sim_net         *net;
    struct sim_queue        queue;
    struct sim_mail         mail;
    uint32_t                period, nstrands;
    uint64_t                active; /* strands */
    struct sim_host        *host;   /* NULL: processors do not move bytes */
    uint64_t                send_ps, recv_ps, step_ps, round_ps, call_ps;
    double                  memory_ps, reduce_ps;
    uint32_t               *next_chunk; /* by rank and lane */
    uint32_t               *order;      /* in which they begin; NULL: their own */
    struct sim_cores       *cores;      /* NULL: each rank has a processor of its own */
    struct own             *own;        /* by rank */
    struct strand          *strands;
    bool                    no_memory;
};

static inline struct strand *strand_at(const struct engine *e, uint32_t rank, uint32_t i)
{
    return &e->strands[(size_t)rank * e->nstrands + i];
}

/* What `who` is called if all ranks turn so that `frame` becomes `as`. */
static inline uint32_t seen_from(const struct engine *e, uint32_t who, uint32_t frame, uint32_t as)
{
    return frame == as ? who : (uint32_t)(((uint64_t)who + e->c->n + as - frame) % e->c->n);
}

static inline void touch(struct engine *e, uint64_t at)
{
    e->r->time_ps = at > e->r->time_ps ? at : e->r->time_ps;
}

/* Something happens later, or now; `at` and `kind` count. */
void sim_engine_push(struct engine *e, uint64_t at, enum kind kind, struct sim_event ev);
/* Work of a rank, after which `then` happens. False: that is now, and for the caller to do. */
bool sim_engine_work(struct engine *e, uint32_t rank, uint64_t now, uint64_t ps, enum kind kind,
                     struct sim_event then);

/* The sender's processor is through with a message, or with its announcement. */
void sim_message_inject(struct engine *e, struct sim_event *ev, uint64_t now);
/* A receive is posted. */
void sim_message_post(struct engine *e, uint32_t rank, uint32_t strand, unsigned slot,
                      uint64_t now);
/* ASK, ANSWER, CLEAR; and GO, at which the bytes of a message set off. */
void sim_message_ask(struct engine *e, const struct sim_event *ev);
void sim_message_go(struct engine *e, const struct sim_event *ev, uint64_t now);
/* What processors need to move the bytes of a message, at either end. */
uint64_t sim_message_moving_ps(const struct engine *e, uint32_t from, uint32_t to, uint64_t bytes,
                               bool fresh);
/* A rank waits for the rank whose message it received last, as far as the simulation knows. */
void sim_message_hear(struct engine *e, uint32_t rank, uint32_t from);

#endif
