/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hook points of the trace: what the floors report of their work, so that somebody can see
 * later what a process was doing. Behind them stands src/trace, which includes nothing but base.
 * p->trace is NULL when the trace is off; then a hook costs one predicted branch.
 *
 * A hook never fails and never blocks. Where the trace has no room left it counts what it leaves
 * out. Any thread may call, inside the progress domain or outside.
 */
#ifndef CT_BASE_TRACE_H
#define CT_BASE_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "base/process.h"
#include "base/util.h"

struct ct_blocked;
struct ct_trace_call; /* one call in the trace; the trace's own */
struct ct_trace_comm; /* one communicator in the trace; the trace's own */

enum { CT_TRACE_NO_RANK = -1, CT_TRACE_ANY_RANK = -2 };

/* What is known of a communicator. `process_of` gives the job's number of a member's process. */
struct ct_trace_group {
    uint64_t    id;
    uint32_t    n, me;
    const void *group;
    uint32_t (*process_of)(const void *group, uint32_t rank);
};

enum ct_trace_flag {
    CT_TRACE_BLOCKING = 1 << 0,   /* the call returns when the operation is over */
    CT_TRACE_PERSISTENT = 1 << 1, /* the start of a persistent request */
};

/* A collective call, as it starts. Texts live as long as the process. */
struct ct_trace_what {
    const char *name;      /* "ctran_allreduce" */
    const char *type, *op; /* "CTRAN_INT", "CTRAN_SUM"; NULL: none */
    uint64_t    bytes;     /* alike on all ranks; CT_TRACE_UNKNOWN: each rank knows its own */
    int32_t     root;      /* CT_TRACE_NO_RANK: none */
    uint32_t    flags;     /* enum ct_trace_flag */
};
#define CT_TRACE_UNKNOWN UINT64_MAX

enum ct_trace_pending { CT_TRACE_SEND = 1, CT_TRACE_RECV, CT_TRACE_COLLECTIVE, CT_TRACE_OTHER };

/* Something that a wait waits for. */
struct ct_trace_item {
    uint32_t kind; /* enum ct_trace_pending */
    int32_t  peer; /* process of the job, CT_TRACE_ANY_RANK or CT_TRACE_NO_RANK */
    int32_t  tag;  /* -1: any */
    uint64_t bytes, comm;
};

struct ct_trace_ops {
    /* A communicator that is new to the trace; NULL: there is no room. */
    struct ct_trace_comm *(*comm_open)(struct ct_trace *t, const struct ct_trace_group *g);
    void (*comm_close)(struct ct_trace *t, struct ct_trace_comm *c);
    /* A collective starts. NULL: it is not recorded. */
    struct ct_trace_call *(*call_begin)(struct ct_trace *t, struct ct_trace_comm *c,
                                        const struct ct_trace_what *what);
    void (*call_algorithm)(struct ct_trace *t, struct ct_trace_call *call, const char *name);
    /* It is over; `lasted`: so long that the moment is worth a look at the clock. */
    void (*call_end)(struct ct_trace *t, struct ct_trace_call *call, int error, bool lasted);
    /* A wait has lasted so long that it is worth an entry. Returns the number of the entry; 0 if
     * there is no room. Then come its items, and _shown completes it. A wait that goes on says
     * _again, and its items once more. */
    uint32_t (*wait_begin)(struct ct_trace *t, const struct ct_blocked *b, uint64_t since_ns);
    void (*wait_again)(struct ct_trace *t, uint32_t wait);
    void (*wait_item)(struct ct_trace *t, uint32_t wait, const struct ct_trace_item *item);
    void (*wait_shown)(struct ct_trace *t, uint32_t wait);
    void (*wait_end)(struct ct_trace *t, uint32_t wait);
    /* Writes a dump for this reason, if CTRAN_TRACE_DUMP asks for one. */
    void (*dump)(struct ct_trace *t, const char *why);
};

/* What src/trace has begins with this. */
struct ct_trace {
    const struct ct_trace_ops *ops;
};

static inline void ct_trace_algorithm(struct ct_process *p, struct ct_trace_call *call,
                                      const char *name)
{
    if (call != NULL) {
        p->trace->ops->call_algorithm(p->trace, call, name);
    }
}

static inline void ct_trace_end(struct ct_process *p, struct ct_trace_call *call, int error,
                                bool lasted)
{
    if (call != NULL) {
        p->trace->ops->call_end(p->trace, call, error, lasted);
    }
}

static inline void ct_trace_dump(struct ct_process *p, const char *why)
{
    if (p->trace != NULL) {
        p->trace->ops->dump(p->trace, why);
    }
}

#endif
