/* SPDX-License-Identifier: BSD-3-Clause */
/* A question to a daemon; see ask.h. */
#include "config.h"
#include "launcher/status/ask.h"

#include <event2/event.h>
#include <unistd.h>

#include "launcher/launcher.h"
#include "launcher/proc/proc.h"

struct asked {
    struct event_base *base;
    ct_conn_msg_fn     fn;
    void              *arg;
    bool               answered;
};

static void status_ask_on_msg(void *arg, enum ct_msg_type type, struct ct_unpack *in)
{
    struct asked *a = arg;
    if (type == CT_MSG_DONE) {
        a->answered = true;
        event_base_loopbreak(a->base);
    } else {
        a->fn(a->arg, type, in);
    }
}

static void status_ask_on_gone(void *arg, const char *why)
{
    struct asked *a = arg;
    (void)why; /* the job has ended, or the daemon refuses this user */
    event_base_loopbreak(a->base);
}

enum ct_status_ask ct_status_ask(int dir_fd, enum ct_msg_type question, uint32_t v,
                                 ct_conn_msg_fn fn, void *arg)
{
    static const struct timeval limit = {CT_STATUS_LIMIT_MS / 1000,
                                         CT_STATUS_LIMIT_MS % 1000 * 1000};
    struct asked                a = {.base = event_base_new(), .fn = fn, .arg = arg};
    int                         fd = a.base != NULL ? ct_session_connect(dir_fd) : -1;
    struct ct_conn             *conn = NULL;
    if (fd >= 0) {
        conn = ct_conn_create(a.base, fd, fd, status_ask_on_msg, status_ask_on_gone, &a);
    }
    if (conn != NULL) {
        ct_conn_send_u32(conn, question, v);
        event_base_loopexit(a.base, &limit);
        event_base_dispatch(a.base);
        ct_conn_destroy(conn);
    }
    if (a.base != NULL) {
        event_base_free(a.base);
    }
    return fd < 0 ? CT_STATUS_ASK_GONE : a.answered ? CT_STATUS_ASK_ANSWERED : CT_STATUS_ASK_SILENT;
}
