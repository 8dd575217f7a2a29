/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the ranks of the jobs of a family publish for each other by name (PMIx_Publish, PMIx_Lookup,
 * PMIx_Unpublish; PMIx 4.1, sec. 7.3 to 7.5). The root's head keeps everything (jobs.h), so that a
 * name means one thing for all jobs. Daemons ask by CT_MSG_DATA_ASK. Each request gets one
 * CT_MSG_DATA_ANSWER.
 *
 *     u32 asking node, u32 its number for the request, u32 rank, u32 enum ct_data_op, u32 range,
 *     publish:    u32 enum ct_data_persist, u32 keys, each: text, u32 length, bytes
 *     lookup:     u32 values to wait for, u32 timeout in ms (0: none), u32 keys, each: text
 *     unpublish:  u32 keys (0: all that the rank has published), each: text
 *
 * A key may be published once in each range; in the range of the node once on each node, and in the
 * range of the process once in each process. If a rank can see a key in several ranges, it gets the
 * value of the narrowest. A publish takes effect as a whole or not at all. A rank can unpublish
 * only what it has published itself. A value for one reader is removed by a lookup that finds all
 * its keys: libpmix 4.2.2 hands over no value of a lookup that finds only some.
 *
 * A lookup that waits ends when enough values are there, at its timeout, when its rank ends, or
 * when no other rank is left that could publish. Memory is bounded for each rank and for the job
 * (launcher.h: CT_DATA_*), waiting lookups included. Answers on their way are bounded too: daemons
 * report what ranks have got (CT_MSG_DATA_TAKEN), and a lookup whose answer would be too much until
 * then waits.
 */
#ifndef CT_LAUNCHER_FAMILY_PUBLISHED_H
#define CT_LAUNCHER_FAMILY_PUBLISHED_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

#include "launcher/job/job.h"
#include "launcher/msg/msg.h"

enum ct_data_op { CT_DATA_PUBLISH, CT_DATA_LOOKUP, CT_DATA_UNPUBLISH, CT_DATA_OPS };

/* Who sees a value. A lookup may ask for values of one range only. A session is the jobs of a
 * family; nothing lies beyond the family, so session and global are one range. A node is a host,
 * whatever the job. */
enum ct_data_range {
    CT_RANGE_PROCESS,
    CT_RANGE_NODE,
    CT_RANGE_NSPACE,
    CT_RANGE_SESSION,
    CT_RANGE_GLOBAL,
    CT_DATA_RANGES,
    CT_RANGE_ANY = CT_DATA_RANGES /* to unpublish */
};

/* How long a value stays: until the first read, until its process or all ranks of its program have
 * ended, or until the job ends. */
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
    CT_DATA_NOT_FOUND, /* none of the keys is there */
    CT_DATA_DUPLICATE, /* a key is already published in that range */
    CT_DATA_FULL,      /* there is no room for the values */
    CT_DATA_TIMEOUT,
};

struct ct_published;
struct ct_pub_job;

/* Sends an answer to a job, to the node that the message names first. */
typedef void (*ct_published_answer_fn)(void *arg, const char *nspace, struct ct_unpack *message);

/* Returns NULL when out of memory. */
struct ct_published *ct_published_create(struct event_base *base, ct_published_answer_fn answer,
                                         void *arg);
void                 ct_published_destroy(struct ct_published *p);

/* Adds a job whose ranks publish and look up. Name and description are borrowed until
 * ct_published_forget or ct_published_destroy. Returns NULL when out of memory. */
struct ct_pub_job *ct_published_add(struct ct_published *p, const char *nspace,
                                    const struct ct_jobdesc *desc);

/* Handles a request of a rank of the job. Sets in->bad if the request makes no sense; then nothing
 * has changed. */
void ct_published_take(struct ct_published *p, struct ct_pub_job *job, struct ct_unpack *in);

/* Handles CT_MSG_DATA_TAKEN. Sets in->bad likewise. */
void ct_published_taken(struct ct_published *p, struct ct_pub_job *job, struct ct_unpack *in);

/* A rank has ended: the values that it published for its own life go. */
void ct_published_ended(struct ct_published *p, struct ct_pub_job *job, uint32_t rank);

bool ct_published_has_ended(const struct ct_pub_job *job, uint32_t rank);

/* Forgets a job whose ranks have all ended, unless a value that the job published stays. Returns
 * whether the job is forgotten. */
bool ct_published_forget(struct ct_published *p, struct ct_pub_job *job);

#endif
