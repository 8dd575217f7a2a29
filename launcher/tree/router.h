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

#endif
