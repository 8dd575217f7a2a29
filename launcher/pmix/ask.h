/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a daemon asks the head for its ranks, until the answer comes: numbered, sent, and found
 * again by that number. Each kind of question (publish.h, spawn.h, family.h) has a line of its own,
 * begins its struct with a ct_pmix_ask, and knows who is to be answered. On the daemon's main
 * thread, but for the body, which is the asker's before it is sent.
 */
#ifndef CT_LAUNCHER_PMIX_ASK_H
#define CT_LAUNCHER_PMIX_ASK_H

#include <event2/buffer.h>
#include <pmix_common.h>
#include <stdint.h>

#include "base/list.h"
#include "launcher/msg/msg.h"

/* Has fn called on the daemon's main thread. If the result is not PMIX_SUCCESS, fn is not
 * called. */
typedef pmix_status_t (*ct_pmix_post_fn)(void (*fn)(void *arg), void *arg);

struct ct_pmix_ask {
    struct ct_list   node;
    enum ct_msg_type type;
    uint32_t         number;
    struct evbuffer *body; /* what follows the number in the message; owned, NULL: none */
};

struct ct_pmix_asks {
    struct ct_conn *conn; /* to the head */
    uint32_t        me;   /* this node */
    struct ct_list  pending;
    uint32_t        last_number;
};

void ct_pmix_asks_init(struct ct_pmix_asks *line, struct ct_conn *conn, uint32_t me);

/* Gives it a number and sends it; it waits in line from then on. Its body is empty afterwards. */
void ct_pmix_ask_send(struct ct_pmix_asks *line, struct ct_pmix_ask *ask);

/* The question that the message, of which node and number are read here, answers: out of the line.
 * NULL: there is none of that type and number, or the message is bad. *number may be NULL. */
struct ct_pmix_ask *ct_pmix_ask_take(struct ct_pmix_asks *line, enum ct_msg_type type,
                                     struct ct_unpack *in, uint32_t *number);

/* Frees the body. */
void ct_pmix_ask_fini(struct ct_pmix_ask *ask);

#endif
