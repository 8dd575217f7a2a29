/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Output from several processes of the tree, merged on its way to the next: line by line, and a
 * line that is longer than a message without others between, as in each node (rankio.h). What may
 * not go on yet, for want of credit or because another has the channel, waits here; each source has
 * its own credit with us, so no more than that can be here. An owner of a channel that says nothing
 * for CT_LINE_IDLE_MS while others wait loses it.
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
    /* The payload of an OUT message may go on. */
    void (*forward)(void *arg, const uint8_t *payload, size_t len_bytes);
    /* So many bytes of this source have gone on. */
    void (*credit)(void *arg, uint32_t source, uint32_t channel, uint32_t len_bytes);
};

/* For sources 0 to nsources - 1; so many bytes a channel may go on at first. NULL when out of
 * memory. */
struct ct_merge *ct_merge_create(struct event_base *base, uint32_t nsources, size_t credit_bytes,
                                 const struct ct_merge_ops *ops, void *arg);
void             ct_merge_destroy(struct ct_merge *m);

/* Takes the payload of an OUT message. Returns false where it makes no sense, or the source has
 * overrun its credit. */
bool ct_merge_add(struct ct_merge *m, uint32_t source, struct ct_unpack *in);

/* So many more may go on. */
void ct_merge_credit(struct ct_merge *m, uint32_t channel, uint32_t len_bytes);

/* The source is gone: nobody waits for the end of its line. */
void ct_merge_close(struct ct_merge *m, uint32_t source);

/* Whether all has gone on. */
bool ct_merge_is_empty(const struct ct_merge *m);

#endif
