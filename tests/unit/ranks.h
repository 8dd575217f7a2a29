/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many ranks in one program, each a thread with a struct ct_process of its own: all floors below
 * the public calls run between them over the shm transport, which shares mappings by address
 * within one process. So a sanitizer sees every access of every rank.
 *
 * The ranks' job is in memory: exchange is a barrier and a table. Each rank's log goes to memory
 * (unit_logged(&r->p.log)); a line that the test has not read fails it at the end.
 *
 * A check that fails says so and ends the program at once, since the other ranks would wait.
 */
#ifndef CT_TESTS_UNIT_RANKS_H
#define CT_TESTS_UNIT_RANKS_H

#include "unit.h"

#include "coll/coll.h"
#include "node/node.h"
#include "pmi/pmi.h"

struct ranks;

struct rank {
    struct ct_process p;
    struct ct_job     job;
    struct ranks     *all;
    uint32_t          me, n;
    uint64_t          seed; /* a different one for each rank */
};

struct ranks_args {
    uint32_t           n;
    bool               threaded;             /* each rank may have several threads */
    const char *const *settings;             /* name, value, name, value, ..., NULL; may be NULL */
    void (*body)(struct rank *r, void *arg); /* runs in each rank's thread */
    void *arg;
    /* Changes the record of process `id` before anybody sees it; may be NULL. */
    void (*tamper)(uint32_t id, void *record, size_t len_bytes);
};

/* Starts the ranks, runs the body in each, takes them down together. */
void ranks_run(const struct ranks_args *args);

/* Waits for all threads. Drives no transfers: what others wait for stays undone meanwhile. */
void ranks_sync(struct rank *r);

/* Another rank's state, to look at or to spoil. */
struct rank *ranks_of(struct rank *r, uint32_t id);

/* Drives r's transfers until *flag is set by another thread. */
void ranks_drive_until(struct rank *r, _Atomic bool *flag);

struct ct_ep *ranks_ep(struct rank *r, uint32_t id);

/* The segment of a rank, found as its peers find it. */
struct ct_shm_segment ranks_segment(struct rank *r, uint32_t id);

/* The functions of ep by these names, from outside of the progress domain. */
int    ranks_send(struct rank *r, uint32_t to, struct ct_ep_op *op);
void   ranks_fail(struct rank *r, uint32_t id, int why);
size_t ranks_max_payload(struct rank *r, uint32_t to);
bool   ranks_drained(struct rank *r);

/* Checks; RANK_EQUAL shows both values. */
#define RANK_CHECK(r, cond) rank_check((r), (cond), #cond, __FILE__, __LINE__)
#define RANK_EQUAL(r, a, b)                                                                        \
    rank_equal((r), (long long)(a), (long long)(b), #a " == " #b, __FILE__, __LINE__)
#define RANK_LOGGED(r, part) rank_logged((r), (part), __FILE__, __LINE__)

void rank_check(const struct rank *r, bool ok, const char *what, const char *file, int line);
void rank_equal(const struct rank *r, long long a, long long b, const char *what, const char *file,
                int line);
/* The log so far, which is dropped, has `part`. */
void rank_logged(const struct rank *r, const char *part, const char *file, int line);

/* An allreduce: sums of n numbers. */
int ranks_sum(struct ct_comm *comm, const uint64_t *in, uint64_t *out, size_t n);

#endif
