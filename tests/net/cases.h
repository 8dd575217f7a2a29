/* SPDX-License-Identifier: BSD-3-Clause */
/* The cases of the conformance suite: cases_message.c, cases_rma.c, cases_key.c, cases_wait.c,
 * cases_device.c. */
#ifndef CT_TESTS_NET_CASES_H
#define CT_TESTS_NET_CASES_H

#include "world.h"

struct world_case {
    const char *name;
    uint32_t    n;       /* ranks, where there is more than one */
    uint32_t    victims; /* bits of those that die */
    void (*body)(struct world *w);
};

/* Ended by no name. */
extern const struct world_case cases_message[], cases_rma[], cases_key[], cases_wait[],
    cases_device[];

/* What a rank exposes to others, in the middle of memory that must not change. */
enum { GUARD = 64 };
struct target {
    unsigned char       *bytes;
    size_t               len_bytes;
    struct ct_ep_region *region;
};

/* Exposes memory that is filled with `fill`, to all or one, and leaves the key in a slot. */
struct target target_make(struct world *w, size_t len_bytes, uint32_t access, uint32_t peer,
                          unsigned char fill, uint32_t slot);
void          target_drop(struct world *w, struct target *t);
/* Whether the bytes around it are as they were. */
bool target_is_guarded(const struct target *t);

/* Opens the key in a slot of rank `from`. */
struct ct_ep_rkey *key_open(struct world *w, uint32_t from, uint32_t slot);
void               key_close(struct world *w, struct ct_ep_rkey *rkey);
int                key_try(struct world *w, uint32_t from, const void *bytes, size_t len_bytes,
                           struct ct_ep_rkey **rkey);

/* One operation, to its end. */
int do_put(struct world *w, struct ct_ep_rkey *rkey, uint64_t offset, void *from, size_t len);
int do_get(struct world *w, struct ct_ep_rkey *rkey, uint64_t offset, void *to, size_t len);
int do_atomic(struct world *w, struct ct_ep_rkey *rkey, uint64_t offset, enum ct_net_atomic op,
              unsigned size, uint64_t operand, uint64_t compare, void *result);
/* Starts one that is filled in. */
void do_start(struct world *w, struct ct_ep_rma *op);
int  do_flush(struct world *w, uint32_t peer);
void do_fence(struct world *w, uint32_t peer);

/* The rank whose memory this one uses in cases for all ranks. */
static inline uint32_t next_rank(const struct world *w)
{
    return (w->me + 1) % w->n;
}

enum { ALL_RIGHTS = CT_NET_REMOTE_READ | CT_NET_REMOTE_WRITE | CT_NET_REMOTE_ATOMIC };

#endif
