/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Questions of a daemon to the head for its ranks. A question gets a number and is sent; the answer
 * bears the number. Each kind of question (publish.h, spawn.h, family.h) has a list of its own, and
 * begins its struct with a ct_pmix_ask; the rest of the struct tells who gets the answer. On the
 * daemon's main thread, except `body`, which the asking thread fills before the question is sent.
 */
#ifndef CT_LAUNCHER_PMIX_ASK_H
#define CT_LAUNCHER_PMIX_ASK_H

#include <event2/buffer.h>
#include <pmix_common.h>
#include <stdint.h>

#include "base/list.h"
#include "launcher/msg/msg.h"

/* Calls fn on the daemon's main thread. If the result is not PMIX_SUCCESS, fn is not called. */
typedef pmix_status_t (*ct_pmix_post_fn)(void (*fn)(void *arg), void *arg);

struct ct_pmix_ask {
    struct ct_list   node;
    enum ct_msg_type type;
    uint32_t         number;
    struct evbuffer *body; /* what follows the number in the message; owned; NULL: nothing */
};

struct ct_pmix_asks {
    struct ct_conn *conn; /* to the head */
    uint32_t        me;   /* this node */
    struct ct_list  pending;
    uint32_t        last_number;
};

void ct_pmix_asks_init(struct ct_pmix_asks *line, struct ct_conn *conn, uint32_t me);

/* Gives the question a number, sends it, and keeps it in the list. Its body is empty afterwards. */
void ct_pmix_ask_send(struct ct_pmix_asks *line, struct ct_pmix_ask *ask);

/* Reads node and number of an answer, and takes the question out of the list. Returns NULL if there
 * is no question of that type and number, or if the message is bad. *number (may be NULL) becomes
 * the number. */
struct ct_pmix_ask *ct_pmix_ask_take(struct ct_pmix_asks *line, enum ct_msg_type type,
                                     struct ct_unpack *in, uint32_t *number);

/* Frees the body. */
void ct_pmix_ask_fini(struct ct_pmix_ask *ask);

#endif
