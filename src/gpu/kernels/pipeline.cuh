/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bulk items: what is sent, what is combined and handed out, and what is taken, all at once. On a
 * GPU the warps of a block have roles, so that no step's latency is another's:
 *   - senders write items into the peers' slots, as far ahead as there is room;
 *   - folders combine what arrives and write it to where it is wanted, also into slots of results;
 *   - takers copy what arrives to where it is wanted;
 *   - publishers tell peers what was written for them, which takes a fence, and what was folded.
 *
 * Why this shape: with few blocks the bound is what one multiprocessor moves. On an H200 one copies
 * 41 GB/s, whichever way; a byte of an allreduce of two ranks is loaded twice and stored twice
 * (sent, folded, handed out, taken), so that two blocks make some 43 GB/s at most. What is left to
 * lose is time in which loads are not under way: all at once behind a barrier, they come in bursts.
 * So roles meet nowhere but where data go from one to another, and a folder's warp loads a tile of
 * its own. The copy engine of 9.0 (TMA), a thread driving it, was slower in every case: 14 GB/s a
 * multiprocessor and direction where loads and stores make 20.
 *
 * The emulation, which has one thread, sends the next step's items, then folds this one's, then
 * takes what the last one's gave.
 *
 * What is to be done is told by Work:
 *   to, from, result_to, takes        masks of peers: to whom items go, whose are folded, who gets
 *                                     the results, from whom items are taken
 *   results                           whether what is taken are results
 *   steps                             the most of out and in
 *   out_steps(p), in_steps(p)         how many items go to p, and are taken from it
 *   out(p, step, &bytes)              where the next item's data are
 *   in(p, step, &bytes)               where they are wanted
 *   fold(ch, step, warp, warps)       one warp's share of the folding
 *   senders, takers                   warps of these; two publish, all others fold
 */
#ifndef CT_GPU_KERNELS_PIPELINE_H
#define CT_GPU_KERNELS_PIPELINE_H

#include "gpu/kernels/channel.cuh"

/* The peers that get an item in a step; from whom one is taken. */
template <class Work> CT_DEV uint32_t sending(const Work *w, uint32_t step)
{
    uint32_t mask = 0;
    for (uint32_t left = w->to; left != 0; left &= left - 1) {
        const uint32_t p = members((left & (0u - left)) - 1);
        mask |= step < w->out_steps(p) ? 1u << p : 0;
    }
    return mask;
}

template <class Work> CT_DEV uint32_t taking(const Work *w, uint32_t step)
{
    uint32_t mask = 0;
    for (uint32_t left = w->takes; left != 0; left &= left - 1) {
        const uint32_t p = members((left & (0u - left)) - 1);
        mask |= step < w->in_steps(p) ? 1u << p : 0;
    }
    return mask;
}

/* ---- what is taken: items, or results ------------------------------------------------------- */

template <class Work>
CT_DEV const char *taken_slot(const struct channel *ch, const Work *w, uint32_t p, uint32_t step)
{
    const uint32_t me = ch->comm->rank;
    return w->results ? result_slot(ch, me, p, step + 1)
                      : bulk_slot(ch, me, p, ch->got[p] + step + 1);
}

template <class Work>
CT_DEV bool taken_ready(const struct channel *ch, const Work *w, uint32_t p, uint32_t step)
{
    const struct ct_kernel_words *words = words_of(ch->comm, ch->comm->rank, p);
    return w->results ? is_ready(&words->result_ready, step + 1)
                      : is_ready(&words->ready, ch->got[p] + step + 1);
}

template <class Work>
CT_DEV void wait_taken(struct channel *ch, const Work *w, uint32_t p, uint32_t step)
{
    uint32_t spins = 0;
    while (!taken_ready(ch, w, p, step) && go_on(ch, &spins)) {
    }
}

template <class Work>
CT_DEV void ack_taken(const struct channel *ch, const Work *w, uint32_t p, uint32_t step)
{
    struct ct_kernel_words *words = words_of(ch->comm, p, ch->comm->rank);
    if (w->results) {
        store_flag(&words->result_acked, step + 1);
    } else {
        store_flag(&words->acked, ch->got[p] + step + 1);
    }
}

/* ---- steps, by thread t of `all` ------------------------------------------------------------- */

template <class Work>
CT_DEV void copy_out(struct channel *ch, const Work *w, uint32_t step, uint32_t t, uint32_t all)
{
    const uint32_t me = ch->comm->rank;
    for (struct share s = share_among(sending(w, step), me, t, all); share_next(&s);) {
        const uint32_t    item = ch->sent[s.peer] + step + 1;
        uint64_t          bytes;
        const char *const src = w->out(s.peer, step, &bytes);
        wait_room_for(ch, s.peer, item);
        copy_bytes(bulk_slot(ch, s.peer, me, item), src, bytes, s.lane, s.lanes);
    }
}

template <class Work>
CT_DEV void publish_out(struct channel *ch, const Work *w, uint32_t step, uint32_t t, uint32_t all)
{
    fence();
    for (uint32_t p = t; p < ch->comm->size; p += all) {
        if (in(w->to, p) && step < w->out_steps(p)) {
            publish_item(ch, p, ch->sent[p] + step + 1);
        }
    }
}

/* Until what is to be folded is there, and room for what comes of it; by thread t of a warp. */
template <class Work>
CT_DEV void wait_folding(struct channel *ch, const Work *w, uint32_t step, uint32_t t, uint32_t all)
{
    for (uint32_t p = t; p < ch->comm->size; p += all) {
        if (in(w->from, p)) {
            wait_bulk_of(ch, p, ch->got[p] + step + 1);
        }
        if (in(w->result_to, p)) {
            wait_acked(ch, &words_of(ch->comm, ch->comm->rank, p)->result_acked, step + 1);
        }
    }
    warp_meets();
}

/* Tells that a step has been folded, and its results. */
template <class Work>
CT_DEV void publish_folded(struct channel *ch, const Work *w, uint32_t step, uint32_t t,
                           uint32_t all)
{
    const struct ct_kernel_comm *comm = ch->comm;
    if (w->result_to != 0) {
        fence();
    }
    for (uint32_t p = t; p < comm->size; p += all) {
        struct ct_kernel_words *words = words_of(comm, p, comm->rank);
        if (in(w->result_to, p)) {
            store_flag(&words->result_ready, step + 1);
        }
        if (in(w->from, p)) {
            store_flag(&words->acked, ch->got[p] + step + 1);
        }
    }
}

/* `together` is the takers' barrier. */
template <class Work>
CT_DEV void take_in(struct channel *ch, const Work *w, uint32_t step, uint32_t t, uint32_t all)
{
    const uint32_t from = taking(w, step);
    for (struct share s = share_among(from, ch->comm->rank, t, all); share_next(&s);) {
        uint64_t    bytes;
        char *const dst = w->in(s.peer, step, &bytes);
        wait_taken(ch, w, s.peer, step);
        copy_bytes(dst, taken_slot(ch, w, s.peer, step), bytes, s.lane, s.lanes);
    }
    takers_meet(all);
    for (uint32_t p = t; p < ch->comm->size; p += all) {
        if (in(from, p)) {
            ack_taken(ch, w, p, step);
        }
    }
}

enum { PUBLISHERS = 2 }; /* warps */

#if defined(__CUDACC__)

#include "gpu/kernels/roles.cuh"

#else

template <class Work> CT_DEV void run_roles(struct channel *ch, Work *w)
{
    for (uint32_t step = 0; step < w->steps + 2; step++) {
        if (step < w->steps) {
            copy_out(ch, w, step, 0, 1);
            publish_out(ch, w, step, 0, 1);
        }
        if (step > 0 && step <= w->steps) {
            wait_folding(ch, w, step - 1, 0, 1);
            w->fold(ch, step - 1, 0, 1);
            publish_folded(ch, w, step - 1, 0, 1);
        }
        if (step > 1) {
            take_in(ch, w, step - 2, 0, 1);
        }
    }
}

#endif

/* The whole of it, after channel_open; it ends as channel_close does. */
template <class Work> CT_DEV void pipeline(struct channel *ch, Work *w)
{
    const struct ct_kernel_comm *comm = ch->comm;
    run_roles(ch, w);
    __syncthreads();
    for (uint32_t p = thread(); p < comm->size; p += threads()) {
        struct ct_kernel_words *words = words_of(comm, comm->rank, p);
        ch->sent[p] += in(w->to, p) ? w->out_steps(p) : 0;
        ch->got[p] += in(w->from, p) ? w->steps : 0;
        if (!w->results) {
            ch->got[p] += in(w->takes, p) ? w->in_steps(p) : 0;
        }
        /* Nobody writes these before the next kernel's contributions have come. */
        if (in(w->result_to, p)) {
            wait_acked(ch, &words->result_acked, w->steps + CT_KERNEL_WINDOW);
        }
        words->result_acked = 0;
        words->result_ready = 0;
    }
    channel_close(ch, w->to);
}

#endif
