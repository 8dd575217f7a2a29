/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A router: the part of a process that passes messages between the process above and the children
 * below. The head has a router, and so has each router process (router_process.h). The children are
 * the daemon of the process's own node and, each by way of an agent, the router processes of the
 * nodes behind it. Messages from below go up through the router, messages from above go down.
 *
 * The router starts the children and sends them the job. It merges their output and their credit
 * for input, combines their contributions to fences, passes messages from node to node, and reports
 * children that are lost. It passes all other messages on as they are.
 *
 * What waits for a child that reads nothing is bounded. Input and output need credit. Answers have
 * been asked for. Events wait at their source, or the child misses them in the end
 * (router_events.c). A child must not miss messages to all nodes, such as signals and notices of
 * other jobs: the router gives up a child for which too many of these wait.
 */
#ifndef CT_LAUNCHER_TREE_ROUTER_H
#define CT_LAUNCHER_TREE_ROUTER_H

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

struct ct_router_ops {
    /* A message for above. The payload is gone after the return. */
    void (*up)(void *arg, enum ct_msg_type type, const void *data, size_t len_bytes);
    /* A child has said its first word. Not called for one of another version, which is lost. */
    void (*joined)(void *arg, uint32_t node, bool remote);
    /* A child is gone that has not said DONE; one line. Its ranks' children may have come to us. */
    void (*lost)(void *arg, uint32_t node, bool remote, const char *why);
    /* No child is left. */
    void (*over)(void *arg);
};

struct ct_router_child {
    struct ct_router *router;
    struct ct_span    span; /* the nodes behind it, itself the first */
    uint32_t          index;
    bool            remote; /* the child is an agent and speaks for a router; else it is a daemon */
    pid_t           pid;
    bool            reaped;
    int             wait_status; /* once it is reaped */
    uint64_t        reap_by_ns;  /* an agent that is ending is killed then; 0: not yet awaited */
    struct ct_conn *conn;
    struct event   *lost, *errors;
    int             err_fd;           /* the agent's standard error, -1 for none */
    char            agent_text[1024]; /* the end of what came from there */
    char            why[512];         /* how the stream ended */
    bool            joined, stranger; /* it is no daemon of ours */
    bool            done, gone;       /* it has finished; nothing follows */
    bool            given_up;         /* it is ended for what waits for it */
    size_t          broadcast_bytes;  /* to it as to all, since it last was through with that: */
    uint64_t        broadcast_end;    /* where that ends in its stream */
    bool            reads;            /* some rank there gets input */
    uint64_t        in_credit;        /* bytes of input it has asked for */
    struct {
        uint64_t fed, taken; /* of those that are kept, it has been given, and has taken */
        uint32_t owed;       /* that a router was given and has not said to have been taken */
        uint64_t missed;     /* since it had all */
        uint64_t written;    /* to its stream at the last look, */
        uint32_t looks;      /* in a row that saw no move; and too many: */
        bool     still;      /* it is not waited for until it has all */
    } events;
};

/* Events that some child has not taken, and their numbers; router_events.c. */
struct ct_router_events {
    struct ct_router_event **ring; /* by number modulo cap, a power of two */
    size_t                   cap, bytes;
    uint64_t                 first, last; /* from one to the number of the next */
    uint64_t                 told; /* below this one the way up has heard that they are taken */
    struct event            *look;
};

struct ct_router {
    struct event_base          *base;
    const struct ct_jobdesc    *desc;
    uint8_t                    *packed; /* the description as it travels */
    size_t                      packed_len;
    struct ct_span              span; /* the nodes of this process */
    uint32_t                    mine; /* the one that it serves itself, CT_NO_NODE for none */
    struct ct_router_child     *children;
    uint32_t                    nchildren, ngone;
    struct ct_merge            *merge;
    struct ct_list              fences; /* under way; router_fence.c */
    struct ct_router_events     events;
    uint64_t                    in_credit; /* bytes of input asked for above */
    bool                        in_closed, ending;
    const struct ct_router_ops *ops;
    void                       *arg;
};

/* For the nodes of `span`, of which `mine` is this machine's: makes the children and starts them.
 * So much output may go up at first. desc is borrowed. Returns false with errno set where no router
 * can be; that a child cannot be started is told as its loss. */
bool ct_router_init(struct ct_router *h, struct event_base *base, const struct ct_jobdesc *desc,
                    struct ct_span span, uint32_t mine, size_t credit_bytes,
                    const struct ct_router_ops *ops, void *arg);
void ct_router_start(struct ct_router *h, const char *daemon);
void ct_router_fini(struct ct_router *h);

/* A message from above: to those that it concerns. Sets in->bad where it makes no sense. */
void ct_router_down(struct ct_router *h, enum ct_msg_type type, struct ct_unpack *in);

/* The same for one that is made here: the body is freed; or that consists of a number. */
void ct_router_send_down(struct ct_router *h, enum ct_msg_type type, struct evbuffer *body);
void ct_router_down_u32(struct ct_router *h, enum ct_msg_type type, uint32_t v);

/* Has the children end the job; those that are not there yet are stopped. */
void ct_router_end(struct ct_router *h, uint32_t grace_ms);

/* Writes out what is pending for children, waiting at most so long for each. */
void ct_router_flush(struct ct_router *h, int timeout_ms);

/* The children that are to be left alone while everything below us is killed: all, or all but the
 * daemon of this node. Returns how many; out has room for h->nchildren. */
size_t ct_router_pids(const struct ct_router *h, bool remote_only, pid_t *out);

/* Ends the streams to other machines and waits for the agents to end, for a while. For the moment
 * before this process goes. */
void ct_router_leave_remote(struct ct_router *h);

/* Somebody has reaped a process, perhaps a child. */
void ct_router_reaped(struct ct_router *h, pid_t pid, int wait_status);

/* ---- between the files of the router --------------------------------------------------------- */

/* router_child.c: a child from its start to its loss. */
bool ct_router_child_init(struct ct_router_child *c, struct ct_router *h, uint32_t index,
                          struct ct_span span, bool remote);
void ct_router_child_start(struct ct_router_child *c, const char *daemon);
void ct_router_child_fini(struct ct_router_child *c);
void ct_router_child_stop(struct ct_router_child *c);
void ct_router_child_give_up(struct ct_router_child *c);
void ct_router_child_done(struct ct_router_child *c);
void ct_router_child_take_hello(struct ct_router_child *c, struct ct_unpack *in);

/* router.c: its messages, and its end. */
void ct_router_take(struct ct_router_child *c, enum ct_msg_type type, struct ct_unpack *in);
void ct_router_child_gone(struct ct_router_child *c, const char *why);

/* The child behind which a node is, NULL for none. */
struct ct_router_child *ct_router_way(struct ct_router *h, uint32_t node);

/* router_fence.c: what a child has for a fence; what all have, from above. */
void ct_router_fence(struct ct_router_child *c, struct ct_unpack *in);
void ct_router_fence_done(struct ct_router *h, struct ct_unpack *in);
void ct_router_fences_fini(struct ct_router *h);

/* router_events.c: an event from above; what a router has taken; a child has come, or is gone. */
bool ct_router_events_init(struct ct_router *h);
void ct_router_events_fini(struct ct_router *h);
void ct_router_events_pass(struct ct_router *h, struct ct_unpack *in);
void ct_router_events_taken(struct ct_router_child *c, struct ct_unpack *in);
void ct_router_events_join(struct ct_router_child *c);
void ct_router_events_leave(struct ct_router_child *c);

#endif
