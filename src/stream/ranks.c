/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the ranks of a communicator tell each other, by messages of the host, when they make its
 * stream context; and how an enqueue waits for the other ranks.
 */
#define CT_FOLDER "stream"
#include <sched.h>

#include "stream/context.h"

int ct_stream_gather(struct ct_comm *net, const void *mine, void *all, size_t bytes)
{
    struct ct_coll coll;
    ct_coll_init(&coll, net, NULL);
    ct_coll_allgather(&coll, mine, all, bytes);
    return ct_coll_run(&coll);
}

int ct_stream_least(struct ct_comm *net, int mine, int *least)
{
    struct ct_coll coll;
    *least = mine;
    ct_coll_init(&coll, net, NULL);
    ct_coll_allreduce(&coll, &mine, least, 1, ct_dtype_get(CTRAN_INT), ct_op_get(CTRAN_MIN));
    return ct_coll_run(&coll);
}

int ct_stream_all_agree(struct ct_comm *net, bool mine, bool *all)
{
    int       least;
    const int rc = ct_stream_least(net, mine, &least);
    *all = rc == CTRAN_SUCCESS && least != 0;
    return rc;
}

void ct_stream_pause(const struct ct_stream_context *c)
{
    (void)ct_domain_poke(c->p);
    (void)sched_yield();
}

uint64_t ct_stream_stay_ns(const struct ct_stream_context *c, size_t bytes, bool captured)
{
    enum { LEAST = 30000, MOST = 1000000, CAPTURED = 50000000, BYTES_PER_NS = 400 };
    const uint64_t asked = (uint64_t)c->p->cfg.stream_stay * CT_NS_PER_MS;
    return asked > 0  ? asked
           : captured ? CAPTURED
                      : ct_min_size(LEAST + bytes / BYTES_PER_NS, MOST);
}
