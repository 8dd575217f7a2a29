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

#include "launcher/job/job.h"
#include "launcher/msg/msg.h"
#include "launcher/tree/router_state.h"
#include "launcher/tree/span.h"

/* Prepares a router for the nodes of `span`, of which `mine` is this machine's. At first
 * credit_bytes of output may go up. `desc` is borrowed. ct_router_init returns false with errno set
 * if there can be no router. ct_router_start starts the children; a child that cannot be started is
 * reported as lost. */
bool ct_router_init(struct ct_router *h, struct event_base *base, const struct ct_jobdesc *desc,
                    struct ct_span span, uint32_t mine, size_t credit_bytes,
                    const struct ct_router_ops *ops, void *arg);
void ct_router_start(struct ct_router *h, const char *daemon);
void ct_router_fini(struct ct_router *h);

/* Handles a message from above: sends it to the children that it concerns. Sets in->bad if the
 * message makes no sense. */
void ct_router_down(struct ct_router *h, enum ct_msg_type type, struct ct_unpack *in);

/* Like ct_router_down for a message that this process makes: with a body, which is freed, or with
 * one number. */
void ct_router_send_down(struct ct_router *h, enum ct_msg_type type, struct evbuffer *body);
void ct_router_down_u32(struct ct_router *h, enum ct_msg_type type, uint32_t v);

/* Tells the children to end the job. Children that have not joined are killed. */
void ct_router_end(struct ct_router *h, uint32_t grace_ms);

/* Writes out what is pending for children, and waits at most timeout_ms for each. */
void ct_router_flush(struct ct_router *h, int timeout_ms);

/* Lists the children that must live while all other processes below this one are killed: all
 * children, or all but the daemon of this node. Returns how many; `out` has room for
 * h->nchildren. */
size_t ct_router_pids(const struct ct_router *h, bool remote_only, pid_t *out);

/* Ends the streams to other machines, and waits for the agents to end, at most CT_AGENT_LIMIT_MS.
 * Call before this process ends. */
void ct_router_leave_remote(struct ct_router *h);

/* A process has been reaped, perhaps a child. */
void ct_router_reaped(struct ct_router *h, pid_t pid, int wait_status);

#endif
