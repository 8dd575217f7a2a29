/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file in which the ranks of a node that wait say in which call (base/blocked.h). It lies in
 * the session directory and has a slot for each local rank. The daemon makes it and only reads it,
 * by descriptor: ranks may write into it what they like, and cut it off. Used by daemon/start.c and
 * ranktable.c.
 */
#ifndef CT_LAUNCHER_STATUS_BLOCKFILE_H
#define CT_LAUNCHER_STATUS_BLOCKFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "launcher/msg/msg.h"

/* The call in which a rank waits. */
struct ct_blocked_call {
    char     call[CT_BLOCKED_NAME]; /* "": none, as far as is known */
    uint64_t comm, since_ms;        /* the communicator's number; how long it has waited */
    int32_t  peer, tag;             /* CT_BLOCKED_NONE, CT_BLOCKED_ANY */
};

/* Makes the file for n ranks in the session directory; `path` becomes its name. Returns its
 * descriptor, or -1 with errno set. */
int ct_blockfile_create(const char *session, uint32_t n, char *path, size_t cap);

/* The call of a local rank; out->call is "" if there is none, or if the slot makes no sense. fd may
 * be -1. */
void ct_blockfile_read(int fd, uint32_t local_rank, uint64_t now_ns, struct ct_blocked_call *out);

/* In messages. */
void ct_blocked_call_pack(struct evbuffer *out, const struct ct_blocked_call *c);
void ct_blocked_call_unpack(struct ct_unpack *in, struct ct_blocked_call *c);

#endif
