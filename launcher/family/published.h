/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the ranks of a job, and of the jobs that it has spawned, publish for each other by name
 * (PMIx_Publish, PMIx_Lookup, PMIx_Unpublish; PMIx 4.1, sec. 7.3 to 7.5). The head of the first job
 * has all of it (jobs.h), so that a name is one thing for all of them; daemons ask by
 * CT_MSG_DATA_ASK, and each request gets one CT_MSG_DATA_ANSWER:
 *
 *     u32 node that asks, u32 its number for the request, u32 rank, u32 enum ct_data_op, u32 range,
 *     publish:    u32 enum ct_data_persist, u32 keys, each: text, u32 length, bytes
 *     lookup:     u32 values to wait for, u32 timeout in ms (0: none), u32 keys, each: text
 *     unpublish:  u32 keys (0: all that the rank has published), each: text
 *
 * A key may be published once in each range, where the node's is one on each node, and a process's
 * one in each process; of several that a rank can see it gets that of the narrowest. A publish
 * takes effect as a whole or not at all. A rank unpublishes what it has published itself.
 * What is there for one reader goes with a lookup that finds all it asks for: libpmix 4.2.2 hands
 * over nothing of one that finds less.
 *
 * A lookup that waits ends when enough is there, at its timeout, with the rank itself, or when no
 * other rank is left that could publish. Memory is bounded (launcher.h: CT_DATA_*), by rank and for
 * the job, with what waits counted in. Answers under way are bounded, too: daemons tell what ranks
 * have been given (CT_MSG_DATA_TAKEN), and a lookup whose answer would be too much until then is
 * held.
 */
#ifndef CT_LAUNCHER_FAMILY_PUBLISHED_H
#define CT_LAUNCHER_FAMILY_PUBLISHED_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

#include "launcher/job/job.h"
#include "launcher/msg/msg.h"

enum ct_data_op { CT_DATA_PUBLISH, CT_DATA_LOOKUP, CT_DATA_UNPUBLISH, CT_DATA_OPS };

/* Who sees it; a lookup may ask for what is published by these only. A session is the jobs of a
 * family, and there is nothing beyond it: it and global are names for the same. A node is a host,
 * whatever job. */
enum ct_data_range {
    CT_RANGE_PROCESS,
    CT_RANGE_NODE,
    CT_RANGE_NSPACE,
    CT_RANGE_SESSION,
    CT_RANGE_GLOBAL,
    CT_DATA_RANGES,
    CT_RANGE_ANY = CT_DATA_RANGES /* to unpublish */
};

/* How long it stays: until it is read, its process or all of its program have ended, or the job. */
enum ct_data_persist {
    CT_PERSIST_FIRST_READ,
    CT_PERSIST_PROCESS,
    CT_PERSIST_APP,
    CT_PERSIST_JOB,
    CT_DATA_PERSISTS
};

enum ct_data_status {
    CT_DATA_OK,
    CT_DATA_PARTIAL,   /* some of the keys are not there */
    CT_DATA_NOT_FOUND, /* none is */
    CT_DATA_DUPLICATE, /* a key is published already in that range */
    CT_DATA_FULL,      /* there is no room for it */
    CT_DATA_TIMEOUT,
};

struct ct_published;
struct ct_pub_job;

/* An answer for a job, to be sent to the node that it names. */
typedef void (*ct_published_answer_fn)(void *arg, const char *nspace, struct ct_unpack *message);

/* NULL when out of memory. */
struct ct_published *ct_published_create(struct event_base *base, ct_published_answer_fn answer,
                                         void *arg);
void                 ct_published_destroy(struct ct_published *p);

/* One more job whose ranks publish and look up; name and description are borrowed to the end. NULL
 * when out of memory. */
struct ct_pub_job *ct_published_add(struct ct_published *p, const char *nspace,
                                    const struct ct_jobdesc *desc);

/* A request of one of its ranks. Sets in->bad where it makes no sense, and then nothing has
 * happened. */
void ct_published_take(struct ct_published *p, struct ct_pub_job *job, struct ct_unpack *in);

/* CT_MSG_DATA_TAKEN. Sets in->bad likewise. */
void ct_published_taken(struct ct_published *p, struct ct_pub_job *job, struct ct_unpack *in);

/* A rank has ended: what it published for its own life goes. */
void ct_published_ended(struct ct_published *p, struct ct_pub_job *job, uint32_t rank);

bool ct_published_has_ended(const struct ct_pub_job *job, uint32_t rank);

/* A job all of whose ranks have ended is forgotten, unless something stays that it has published.
 * Returns whether it is. */
bool ct_published_forget(struct ct_published *p, struct ct_pub_job *job);

#endif
