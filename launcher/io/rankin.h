/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Standard input for the ranks of a node: what the head has read goes to one rank or to all, and is
 * credited to the head when the slowest of them has taken it. The others read /dev/null.
 */
#ifndef CT_LAUNCHER_IO_RANKIN_H
#define CT_LAUNCHER_IO_RANKIN_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

#include "launcher/job/job.h"
#include "launcher/msg/msg.h"

struct ct_rankin;

/* NULL when out of memory or descriptors. */
struct ct_rankin *ct_rankin_create(struct event_base *base, struct ct_conn *conn,
                                   const struct ct_jobdesc *d);
void              ct_rankin_destroy(struct ct_rankin *in);

/* Makes the end that is to be the rank's descriptor 0, close-on-exec, for the caller to close. 0 or
 * an errno. */
int ct_rankin_open(struct ct_rankin *in, uint32_t local_rank, int *child);

/* Takes `fd`, nonblocking, for what is to be written for a rank that reads it by other ways. */
void ct_rankin_attach(struct ct_rankin *in, int fd);

/* Input from the head; none is its end. Returns false where the head overran its credit. */
bool ct_rankin_take(struct ct_rankin *in, const uint8_t *data, size_t len_bytes);

/* No rank is left to read. */
void ct_rankin_close(struct ct_rankin *in);

#endif
