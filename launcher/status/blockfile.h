/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file in which waiting ranks of a node write the call in which they wait (base/blocked.h). The
 * file lies in the session directory and has a slot for each local rank. The daemon makes the file
 * and then only reads it, by its descriptor: ranks may write anything into it, and cut it off. Used
 * by daemon/start.c and ranktable.c.
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
    char     call[CT_BLOCKED_NAME]; /* "": the rank waits in none, as far as is known */
    uint64_t comm, since_ms; /* the number of the communicator; how long the rank has waited */
    int32_t  peer, tag;      /* CT_BLOCKED_NONE, CT_BLOCKED_ANY */
};

/* Makes the file for n ranks in the session directory; `path` becomes its name. Returns its
 * descriptor, or -1 with errno set. */
int ct_blockfile_create(const char *session, uint32_t n, char *path, size_t cap);

/* Reads the call of a local rank. out->call is "" if the rank waits in none, or if the slot makes
 * no sense. fd may be -1. */
void ct_blockfile_read(int fd, uint32_t local_rank, uint64_t now_ns, struct ct_blocked_call *out);

/* Write and read a call in messages. */
void ct_blocked_call_pack(struct evbuffer *out, const struct ct_blocked_call *c);
void ct_blocked_call_unpack(struct ct_unpack *in, struct ct_blocked_call *c);

#endif
