/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Output of several processes of the tree, merged on its way up: line by line. A line that is
 * longer than a message goes on without lines of other sources between its parts, as in each node
 * (rankio.h). Output waits here for credit, or because another source owns the channel. Each source
 * has credit of its own, which bounds what can wait. A source that owns a channel and sends nothing
 * for CT_LINE_IDLE_MS while others wait loses the channel.
 */
#ifndef CT_LAUNCHER_IO_MERGE_H
#define CT_LAUNCHER_IO_MERGE_H

#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launcher/msg/msg.h"

struct ct_merge;

struct ct_merge_ops {
    /* The payload of an OUT message goes on. */
    void (*forward)(void *arg, const uint8_t *payload, size_t len_bytes);
    /* So many bytes of the source have gone on: the source may send as many more. */
    void (*credit)(void *arg, uint32_t source, uint32_t channel, uint32_t len_bytes);
};

/* For the sources 0 to nsources - 1. Each channel may first pass on credit_bytes. Returns NULL when
 * out of memory. */
struct ct_merge *ct_merge_create(struct event_base *base, uint32_t nsources, size_t credit_bytes,
                                 const struct ct_merge_ops *ops, void *arg);
void             ct_merge_destroy(struct ct_merge *m);

/* Takes the payload of an OUT message. Returns false if it makes no sense, or if the source has
 * overrun its credit. */
bool ct_merge_add(struct ct_merge *m, uint32_t source, struct ct_unpack *in);

/* Allows so many more bytes of a channel to go on. */
void ct_merge_credit(struct ct_merge *m, uint32_t channel, uint32_t len_bytes);

/* The source is gone: its last line is written without an end. */
void ct_merge_close(struct ct_merge *m, uint32_t source);

/* Whether all output has gone on. */
bool ct_merge_is_empty(const struct ct_merge *m);

#endif
