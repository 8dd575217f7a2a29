/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of a router (router.h), which its files share: router.c passes messages, router_child.c
 * holds a child from its start to its loss, router_fence.c combines fences, router_events.c keeps
 * events for slow children. router.c calls the other three. A child reports what it hears to
 * router.c by struct ct_router_child_ops.
 */
#ifndef CT_LAUNCHER_TREE_ROUTER_STATE_H
#define CT_LAUNCHER_TREE_ROUTER_STATE_H

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

struct ct_router_child;

/* What a child reports to its router. */
struct ct_router_child_ops {
    /* A message of the child. The callee sets in->bad if the message makes no sense. */
    void (*message)(struct ct_router_child *c, enum ct_msg_type type, struct ct_unpack *in);
    /* The child is gone, for the reason in the line `why`. Called once for each child. */
    void (*gone)(struct ct_router_child *c, const char *why);
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
    struct event_base                *base;
    const struct ct_jobdesc          *desc;
    uint8_t                          *packed; /* the description as it travels */
    size_t                            packed_len;
    struct ct_span                    span; /* the nodes of this process */
    uint32_t                          mine; /* the one that it serves itself, CT_NO_NODE for none */
    struct ct_router_child           *children;
    uint32_t                          nchildren, ngone;
    struct ct_merge                  *merge;
    struct ct_list                    fences; /* under way; router_fence.c */
    struct ct_router_events           events;
    uint64_t                          in_credit; /* bytes of input asked for above */
    bool                              in_closed, ending;
    const struct ct_router_child_ops *child_ops;
    const struct ct_router_ops       *ops;
    void                             *arg;
};

#endif
