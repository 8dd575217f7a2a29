/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bulk items in both directions at once. On a GPU the warps of a block have three roles, so that no
 * step's latency is another's: copiers write items into the peers' slots, as far ahead as there is
 * room; one warp publishes them, which takes a fence; consumers work off what arrives. The
 * emulation, which has one thread, sends the next step's items, then consumes this one's.
 *
 * What is sent and consumed is told by Work:
 *   out_steps(p), in_steps(p)         how many items go to p, and come from it
 *   out(p, step, &bytes)              the next item's data
 *   consume(ch, step, from, t, all)   by thread t of `all`, after a barrier of these: the items of
 *                                     those in `from` are there
 *   prepare(ch, step, t, all)         before that barrier
 *   to, from, steps                   masks of peers; the most steps of in and out
 */
#ifndef CT_GPU_KERNELS_PIPELINE_H
#define CT_GPU_KERNELS_PIPELINE_H

#include "gpu/kernels/channel.cuh"

template <class Work> CT_DEV uint32_t sending(const Work *w, uint32_t step)
{
    uint32_t mask = 0;
    for (uint32_t left = w->to; left != 0; left &= left - 1) {
        const uint32_t p = members((left & (0u - left)) - 1);
        mask |= step < w->out_steps(p) ? 1u << p : 0;
    }
    return mask;
}

template <class Work> CT_DEV uint32_t receiving(const Work *w, uint32_t step)
{
    uint32_t mask = 0;
    for (uint32_t left = w->from; left != 0; left &= left - 1) {
        const uint32_t p = members((left & (0u - left)) - 1);
        mask |= step < w->in_steps(p) ? 1u << p : 0;
    }
    return mask;
}

template <class Work>
CT_DEV void copy_out(struct channel *ch, const Work *w, uint32_t step, uint32_t t, uint32_t all)
{
    const uint32_t me = ch->comm->rank;
    for (struct share s = share_among(sending(w, step), me, t, all); share_next(&s);) {
        const uint32_t    item = ch->sent[s.peer] + step + 1;
        uint64_t          bytes;
        const void *const src = w->out(s.peer, step, &bytes);
        wait_room_for(ch, s.peer, item);
        copy_bytes(bulk_slot(ch, s.peer, me, item), src, bytes, s.lane, s.lanes);
    }
}

template <class Work>
CT_DEV void publish_out(struct channel *ch, const Work *w, uint32_t step, uint32_t t, uint32_t all)
{
    for (uint32_t p = t; p < ch->comm->size; p += all) {
        if (in(w->to, p) && step < w->out_steps(p)) {
            publish_item(ch, p, ch->sent[p] + step + 1);
        }
    }
}

/* Thread t of `all` consumers; `together` is their barrier. */
template <class Work>
CT_DEV void take_in(struct channel *ch, Work *w, uint32_t step, uint32_t t, uint32_t all)
{
    const struct ct_kernel_comm *comm = ch->comm;
    const uint32_t               from = receiving(w, step);
    w->prepare(ch, step, t, all);
    for (uint32_t left = from; left != 0; left &= left - 1) {
        const uint32_t p = members((left & (0u - left)) - 1);
        wait_bulk_of(ch, p, ch->got[p] + step + 1);
    }
    consumers_meet();
    w->consume(ch, step, from, t, all);
    consumers_meet();
    for (uint32_t p = t; p < comm->size; p += all) {
        if (in(from, p)) {
            store_flag(&words_of(comm, p, comm->rank)->acked, ch->got[p] + step + 1);
        }
    }
}

#if defined(__CUDACC__)

/* Copiers are never more than the window ahead of the publisher, or their arrivals would be taken
 * for those of an earlier step; room at the peers says so too, but not after an abort. Consumers
 * come after the copiers, since in place they write where these read. */
template <class Work> CT_DEV void run_roles(struct channel *ch, Work *w)
{
    __shared__ volatile uint32_t published;
    const uint32_t               t = thread();
    if (t == 0) {
        published = 0;
    }
    __syncthreads();
    if (t < PUBLISHERS) {
        for (uint32_t step = 0; step < w->steps && sending(w, step) != 0; step++) {
            items_written(step % CT_KERNEL_WINDOW);
            if (t == 0) {
                published = step + 1;
            }
            publish_out(ch, w, step, t, PUBLISHERS);
        }
    } else if (t < PUBLISHERS + COPIERS) {
        for (uint32_t step = 0; step < w->steps && sending(w, step) != 0; step++) {
            copy_out(ch, w, step, t - PUBLISHERS, COPIERS);
            while (step >= published + CT_KERNEL_WINDOW) {
            }
            item_written(step % CT_KERNEL_WINDOW);
        }
    } else {
        for (uint32_t step = 0; step < w->steps; step++) {
            while (sending(w, step) != 0 && published <= step) {
            }
            take_in(ch, w, step, t - PUBLISHERS - COPIERS, CONSUMERS);
        }
    }
}

#else

template <class Work> CT_DEV void run_roles(struct channel *ch, Work *w)
{
    for (uint32_t step = 0; step <= w->steps; step++) {
        if (step < w->steps) {
            copy_out(ch, w, step, 0, 1);
            publish_out(ch, w, step, 0, 1);
        }
        if (step > 0) {
            take_in(ch, w, step - 1, 0, 1);
        }
    }
}

#endif

/* The whole of it, between channel_open and channel_close. */
template <class Work> CT_DEV void pipeline(struct channel *ch, Work *w)
{
    run_roles(ch, w);
    __syncthreads();
    for (uint32_t p = thread(); p < ch->comm->size; p += threads()) {
        ch->sent[p] += in(w->to, p) ? w->out_steps(p) : 0;
        ch->got[p] += in(w->from, p) ? w->in_steps(p) : 0;
    }
}

#endif
