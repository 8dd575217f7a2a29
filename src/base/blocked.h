/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The call in which a rank waits, for ctranrun --status. A call that may wait describes itself in a
 * struct ct_blocked on its stack. When its thread has polled without a result until it yields or
 * sleeps (ct_wait_next), the description goes into the rank's slot of a file that the launcher's
 * daemon reads, and into the trace; when the call is over the slot is emptied. A call that does not
 * wait so long costs a few loads and stores.
 *
 * Each rank has one slot. If several threads wait, the slot shows the one that began last, until
 * that thread goes on. Without the launcher of ctran there is no slot, and nothing is described.
 *
 * The daemon does not trust the slot: it takes a slot whole or not at all (seq is even and does not
 * change), and prints only letters of the name.
 */
#ifndef CT_BASE_BLOCKED_H
#define CT_BASE_BLOCKED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* peer and tag of a call that has none, or any. */
enum { CT_BLOCKED_NONE = INT32_MIN, CT_BLOCKED_ANY = -1 };

enum { CT_BLOCKED_NAME = 32 };

struct ct_blocked_slot {
    _Atomic uint32_t seq;      /* odd: it is being written */
    _Atomic uint32_t owner;    /* process that writes here; 0: none */
    uint64_t         since_ns; /* ct_clock_ns, which all processes of a host share */
    uint64_t         comm;
    int32_t          peer, tag;
    char             call[CT_BLOCKED_NAME]; /* "": it does not wait */
};

/* A description; lives as long as the call does. */
struct ct_blocked {
    const char *call;
    uint64_t    comm;
    int32_t     peer, tag;
    bool        shown, current;
    /* Fills in comm, peer and tag when they are to be shown; NULL: they are there. */
    void (*fill)(struct ct_blocked *b);
    /* Tells the trace what the call waits for: by ct_blocked_item, as often as needed. NULL: the
     * trace of collectives tells. */
    void (*list)(struct ct_blocked *b);
    struct ct_trace *trace; /* NULL: it is off */
    uint32_t         entry; /* of the wait in the trace; 0: none */
    uint64_t         again_ns;
};

/* What this thread is in; NULL: nothing that is described. */
extern _Thread_local struct ct_blocked *ct_blocked_now
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The slot of this process; NULL: there is none. */
extern struct ct_blocked_slot *ct_blocked_slot __attribute__((visibility("hidden")));

/* Uses slot `index` of the file. Nothing happens if it cannot be mapped, or another process has the
 * slot: a rank may have children that use ctran as well. */
void ct_blocked_open(const char *path, uint32_t index);
void ct_blocked_close(void);

void ct_blocked_show(struct ct_blocked *b, uint64_t now_ns);
void ct_blocked_hide(struct ct_blocked *b);

/* One thing that the call waits for, from its `list`. */
struct ct_trace_item;
void ct_blocked_item(struct ct_blocked *b, const struct ct_trace_item *item);

/* The call begins to wait; a call inside another does not replace it. */
static inline void ct_blocked_begin(struct ct_blocked *b, struct ct_trace *trace, const char *call,
                                    uint64_t comm, int32_t peer, int32_t tag)
{
    b->shown = b->current = false;
    if ((trace != NULL || ct_blocked_slot != NULL) && ct_blocked_now == NULL) {
        b->call = call;
        b->comm = comm;
        b->peer = peer;
        b->tag = tag;
        b->fill = NULL;
        b->list = NULL;
        b->trace = trace;
        b->entry = 0;
        b->again_ns = 0;
        b->current = true;
        ct_blocked_now = b;
    }
}

static inline void ct_blocked_end(struct ct_blocked *b)
{
    if (b->current) {
        ct_blocked_now = NULL;
        if (__builtin_expect(b->again_ns != 0, 0)) {
            ct_blocked_hide(b);
        }
    }
}

/* Whether the call, whose wait has begun, has been shown: it has lasted. */
static inline bool ct_blocked_lasted(const struct ct_blocked *b)
{
    return b->current && b->again_ns != 0;
}

/* The thread has waited long enough to be shown; after a while it is shown again, since some of
 * what it waits for may be over by then. */
static inline void ct_blocked_waits(uint64_t now_ns)
{
    struct ct_blocked *b = ct_blocked_now;
    if (b != NULL && now_ns >= b->again_ns) {
        ct_blocked_show(b, now_ns);
    }
}

#endif
