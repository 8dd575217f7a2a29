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
#include "launcher/io/io.h"
#include "launcher/job/job.h"
#include "launcher/msg/msg.h"
#include "launcher/tree/span.h"

struct ct_router_ops {
    /* A message goes up. The payload is gone after the return. */
    void (*up)(void *arg, enum ct_msg_type type, const void *data, size_t len_bytes);
    /* A child has joined. Not called for a child of another version, which is reported as lost. */
    void (*joined)(void *arg, uint32_t node, bool remote);
    /* A child is gone that has not sent DONE; `why` is one line. The descendants of its ranks may
     * be children of this process now. */
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
    struct ct_span    span; /* the nodes behind the child; the first is its own */
    uint32_t          index;
    bool  remote; /* the child is an agent that stands for a router process; else it is a daemon */
    pid_t pid;
    bool  reaped;
    int   wait_status;   /* once it is reaped */
    uint64_t reap_by_ns; /* when an agent that is ending is killed; 0: it is not awaited yet */
    struct ct_conn *conn;
    struct event   *lost, *errors;
    int             err_fd;           /* the agent's standard error, -1 for none */
    char            agent_text[1024]; /* the end of what the agent wrote there */
    char            why[512];         /* how the stream ended */
    bool joined, stranger; /* stranger: what the child sends is not from a daemon of this version */
    bool done, gone;       /* done: it has sent DONE; gone: nothing follows */
    bool given_up;         /* the child is killed, because too many messages wait for it */
    size_t   broadcast_bytes; /* bytes of broadcasts that were sent since none waited */
    uint64_t broadcast_end;   /* where these bytes end in the stream */
    bool     reads;           /* a rank behind the child gets input */
    uint64_t in_credit;       /* bytes of input that the child has asked for */
    struct {
        uint64_t fed,
            taken; /* numbers: below `fed` the child was sent events, below `taken` it took them */
        uint32_t owed;    /* events that a router process was sent and has not reported as taken */
        uint64_t missed;  /* events missed since the child had all */
        uint64_t written; /* bytes written to the stream at the last look */
        uint32_t looks;   /* looks in a row that saw no progress */
        /* the limit of looks is reached: no wait for the child until it has all events */
        bool still;
    } events;
};

/* Events that some child has not taken, by number; router_events.c. */
struct ct_router_events {
    struct ct_router_event **ring; /* by number modulo cap, a power of two */
    size_t                   cap, bytes;
    uint64_t                 first, last; /* the number of the first event; of the next event */
    uint64_t                 told;        /* events below this number are reported as taken */
    struct event            *look;
};

struct ct_router {
    struct event_base       *base;
    const struct ct_jobdesc *desc;
    uint8_t                 *packed; /* the description as it is sent */
    size_t                   packed_len;
    struct ct_span           span; /* the nodes of this process */
    uint32_t mine; /* the node that this process serves itself, CT_NO_NODE for none */
    struct ct_router_child           *children;
    uint32_t                          nchildren, ngone;
    struct ct_merge                  *merge;
    struct ct_list                    fences; /* under way; router_fence.h */
    struct ct_router_events           events;
    uint64_t                          in_credit; /* bytes of input that this router has asked for */
    bool                              in_closed, ending;
    const struct ct_router_child_ops *child_ops;
    const struct ct_router_ops       *ops;
    void                             *arg;
};

#endif
