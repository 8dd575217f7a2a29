/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Standard input for the ranks of a node. What the head has read goes to one rank or to all ranks.
 * The head gets credit for it when the slowest of these ranks has taken it. The other ranks read
 * /dev/null.
 */
#ifndef CT_LAUNCHER_IO_RANKIN_H
#define CT_LAUNCHER_IO_RANKIN_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

#include "launcher/job/job.h"
#include "launcher/msg/msg.h"

struct ct_rankin;

/* Returns NULL when out of memory or descriptors. */
struct ct_rankin *ct_rankin_create(struct event_base *base, struct ct_conn *conn,
                                   const struct ct_jobdesc *d);
void              ct_rankin_destroy(struct ct_rankin *in);

/* Makes the descriptor that becomes the rank's descriptor 0: close-on-exec; the caller closes it.
 * Returns 0 or an errno value. */
int ct_rankin_open(struct ct_rankin *in, uint32_t local_rank, int *child);

/* Takes `fd`, nonblocking, as the way to a rank that does not read a pipe of ct_rankin_open. */
void ct_rankin_attach(struct ct_rankin *in, int fd);

/* Writes input of the head to the ranks; no bytes are its end. Returns false if the head overran
 * its credit. */
bool ct_rankin_take(struct ct_rankin *in, const uint8_t *data, size_t len_bytes);

/* No rank is left that reads. */
void ct_rankin_close(struct ct_rankin *in);

#endif
