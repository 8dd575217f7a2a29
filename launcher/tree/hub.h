/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process of the tree with its children: the daemon of its own node, and by way of agents the
 * relays of the nodes behind it. The head has a hub, and so has each relay (relay.c); what comes
 * from below goes through it up, what comes from above through it down.
 *
 * The hub starts the children and hands them the job, merges their output and their credit for
 * input, combines what they have for fences, passes messages from node to node, and tells of
 * children that are lost. All else it passes on as it is.
 *
 * What waits for a child that takes nothing is bounded: input and output need credit, answers have
 * been asked for, and events wait at their source, or it misses them in the end (hub_events.c). Of
 * what is said to all in a job, as signals and news of other jobs, it may miss nothing: where much
 * of that waits for a child, it is given up.
 */
#ifndef CT_LAUNCHER_TREE_HUB_H
#define CT_LAUNCHER_TREE_HUB_H

#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/base.h"
#include "launcher/job/job.h"
#include "launcher/io/io.h"
#include "launcher/msg/msg.h"
#include "launcher/tree/span.h"

struct ct_hub_ops {
    /* A message for above. The payload is gone after the return. */
    void (*up)(void *arg, enum ct_msg_type type, const void *data, size_t len_bytes);
    /* A child has said its first word. Not called for one of another version, which is lost. */
    void (*joined)(void *arg, uint32_t node, bool far);
    /* A child is gone that has not said DONE; one line. Its ranks' children may have come to us. */
    void (*lost)(void *arg, uint32_t node, bool far, const char *why);
    /* No child is left. */
    void (*over)(void *arg);
};

struct ct_hub_child {
    struct ct_hub  *hub;
    struct ct_span  span; /* the nodes behind it, itself the first */
    uint32_t        index;
    bool            far; /* the child is an agent and speaks for a relay; else it is a daemon */
    pid_t           pid;
    bool            reaped;
    int             wait_status; /* once it is reaped */
    uint64_t        reap_by_ns;  /* an agent that is ending is killed then; 0: not yet awaited */
    struct ct_conn *conn;
    struct event   *lost, *errors;
    int             err_fd;           /* the agent's standard error, -1 for none */
    char            said[1024];       /* the end of what came from there */
    char            why[512];         /* how the stream ended */
    bool            joined, stranger; /* it is no daemon of ours */
    bool            done, gone;       /* it has finished; nothing follows */
    bool            given_up;         /* it is ended for what waits for it */
    size_t          said_bytes;       /* to it as to all, since it last was through with that: */
    uint64_t        said_until;       /* where that ends in its stream */
    bool            reads;            /* some rank there gets input */
    uint64_t        in_credit;        /* bytes of input it has asked for */
    struct {
        uint64_t fed, taken; /* of those that are kept, it has been given, and has taken */
        uint32_t owed;       /* that a relay was given and has not said to have been taken */
        uint64_t missed;     /* since it had all */
        uint64_t written;    /* to its stream at the last look, */
        uint32_t looks;      /* in a row that saw no move; and too many: */
        bool     still;      /* it is not waited for until it has all */
    } events;
};

/* Events that some child has not taken, and their numbers; hub_events.c. */
struct ct_hub_events {
    struct ct_hub_event **ring; /* by number modulo cap, a power of two */
    size_t                cap, bytes;
    uint64_t              first, last; /* from one to the number of the next */
    uint64_t              told;        /* below this one the way up has heard that they are taken */
    struct event         *look;
};

struct ct_hub {
    struct event_base       *base;
    const struct ct_jobdesc *desc;
    uint8_t                 *packed; /* the description as it travels */
    size_t                   packed_len;
    struct ct_span           span; /* the nodes of this process */
    uint32_t                 mine; /* the one that it serves itself, CT_NO_NODE for none */
    struct ct_hub_child     *children;
    uint32_t                 nchildren, ngone;
    struct ct_merge         *merge;
    struct ct_list           fences; /* under way; hub_fence.c */
    struct ct_hub_events     events;
    uint64_t                 in_credit; /* bytes of input asked for above */
    bool                     in_closed, ending;
    const struct ct_hub_ops *ops;
    void                    *arg;
};

/* For the nodes of `span`, of which `mine` is this machine's: makes the children and starts them.
 * So much output may go up at first. desc is borrowed. Returns false with errno set where no hub
 * can be; that a child cannot be started is told as its loss. */
bool ct_hub_init(struct ct_hub *h, struct event_base *base, const struct ct_jobdesc *desc,
                 struct ct_span span, uint32_t mine, size_t credit_bytes,
                 const struct ct_hub_ops *ops, void *arg);
void ct_hub_start(struct ct_hub *h, const char *daemon);
void ct_hub_fini(struct ct_hub *h);

/* A message from above: to those that it concerns. Sets in->bad where it makes no sense. */
void ct_hub_down(struct ct_hub *h, enum ct_msg_type type, struct ct_unpack *in);

/* The same for one that is made here: the body is freed; or that consists of a number. */
void ct_hub_send_down(struct ct_hub *h, enum ct_msg_type type, struct evbuffer *body);
void ct_hub_down_u32(struct ct_hub *h, enum ct_msg_type type, uint32_t v);

/* Has the children end the job; those that are not there yet are stopped. */
void ct_hub_end(struct ct_hub *h, uint32_t grace_ms);

/* Writes out what is pending for children, waiting at most so long for each. */
void ct_hub_flush(struct ct_hub *h, int timeout_ms);

/* The children that are to be left alone while everything below us is killed: all, or all but the
 * daemon of this node. Returns how many; out has room for h->nchildren. */
size_t ct_hub_pids(const struct ct_hub *h, bool far_only, pid_t *out);

/* Ends the streams to other machines and waits for the agents to end, for a while. For the moment
 * before this process goes. */
void ct_hub_leave_far(struct ct_hub *h);

/* Somebody has reaped a process, perhaps a child. */
void ct_hub_reaped(struct ct_hub *h, pid_t pid, int wait_status);

/* ---- between the files of the hub ------------------------------------------------------------ */

/* hub_child.c: a child from its start to its loss. */
bool ct_hub_child_init(struct ct_hub_child *c, struct ct_hub *h, uint32_t index,
                       struct ct_span span, bool far);
void ct_hub_child_start(struct ct_hub_child *c, const char *daemon);
void ct_hub_child_fini(struct ct_hub_child *c);
void ct_hub_child_stop(struct ct_hub_child *c);
void ct_hub_child_give_up(struct ct_hub_child *c);
void ct_hub_child_done(struct ct_hub_child *c);
void ct_hub_child_take_hello(struct ct_hub_child *c, struct ct_unpack *in);

/* hub.c: its messages, and its end. */
void ct_hub_take(struct ct_hub_child *c, enum ct_msg_type type, struct ct_unpack *in);
void ct_hub_child_gone(struct ct_hub_child *c, const char *why);

/* The child behind which a node is, NULL for none. */
struct ct_hub_child *ct_hub_way(struct ct_hub *h, uint32_t node);

/* hub_fence.c: what a child has for a fence; what all have, from above. */
void ct_hub_fence(struct ct_hub_child *c, struct ct_unpack *in);
void ct_hub_fence_done(struct ct_hub *h, struct ct_unpack *in);
void ct_hub_fences_fini(struct ct_hub *h);

/* hub_events.c: an event from above; what a relay has taken; a child has come, or is gone. */
bool ct_hub_events_init(struct ct_hub *h);
void ct_hub_events_fini(struct ct_hub *h);
void ct_hub_events_pass(struct ct_hub *h, struct ct_unpack *in);
void ct_hub_events_taken(struct ct_hub_child *c, struct ct_unpack *in);
void ct_hub_events_join(struct ct_hub_child *c);
void ct_hub_events_leave(struct ct_hub_child *c);

#endif
