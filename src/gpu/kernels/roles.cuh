/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The roles of a block's warps on a GPU (pipeline.cuh), and how they tell each other how far they
 * are: barriers in shared memory, one for each step of a window, whose arrivals are warps'.
 *   - copied: senders have written a step's items, and so have read what in place is written next.
 *   - folded: folders are through with a step.
 * Who waits for a phase must not be overtaken by two, and so takes part in what comes after:
 * senders say that they have copied a step when all have folded what is a window older, and who
 * publishes arrives for a step at the barrier where it waits.
 */
#ifndef CT_GPU_KERNELS_ROLES_H
#define CT_GPU_KERNELS_ROLES_H

/* included by pipeline.cuh */

struct meetings {
    uint64_t copied[CT_KERNEL_WINDOW], folded[CT_KERNEL_WINDOW];
};

CT_DEV uint32_t lane()
{
    return thread() % LANES;
}

/* A step's barrier, and which of its phases is the step's. */
CT_DEV void arrive(uint64_t *b, uint32_t step)
{
    __syncwarp();
    if (lane() == 0) {
        barrier_arrive(&b[step % CT_KERNEL_WINDOW]);
    }
}

CT_DEV bool passed(uint64_t *b, uint32_t step)
{
    return barrier_passed(&b[step % CT_KERNEL_WINDOW], step / CT_KERNEL_WINDOW);
}

CT_DEV void await(uint64_t *b, uint32_t step)
{
    while (!passed(b, step)) {
    }
}

/* What is a window older than a step. */
CT_DEV void await_older(uint64_t *b, uint32_t step)
{
    if (step >= CT_KERNEL_WINDOW) {
        await(b, step - CT_KERNEL_WINDOW);
    }
}

template <class Work>
CT_DEV void send_role(struct channel *ch, const Work *w, struct meetings *m, uint32_t t,
                      uint32_t all)
{
    for (uint32_t step = 0; step < w->steps && sending(w, step) != 0; step++) {
        copy_out(ch, w, step, t, all);
        await_older(m->folded, step);
        arrive(m->copied, step);
    }
}

template <class Work>
CT_DEV void fold_role(struct channel *ch, Work *w, struct meetings *m, uint32_t warp,
                      uint32_t warps)
{
    for (uint32_t step = 0; step < w->steps; step++) {
        wait_folding(ch, w, step, lane(), LANES);
        if (sending(w, step) != 0) {
            await(m->copied, step);
        }
        w->fold(ch, step, warp, warps);
        await_older(m->folded, step);
        arrive(m->folded, step);
    }
}

template <class Work>
CT_DEV void take_role(struct channel *ch, const Work *w, uint32_t t, uint32_t all)
{
    for (uint32_t step = 0; step < w->steps; step++) {
        take_in(ch, w, step, t, all);
    }
}

/* One warp for what was sent, and one for what was folded: neither waits for the other. */
template <class Work>
CT_DEV void publish_role(struct channel *ch, const Work *w, struct meetings *m)
{
    for (uint32_t step = 0; step < w->steps && sending(w, step) != 0; step++) {
        arrive(m->copied, step);
        await(m->copied, step);
        publish_out(ch, w, step, lane(), LANES);
    }
}

template <class Work>
CT_DEV void hand_out_role(struct channel *ch, const Work *w, struct meetings *m)
{
    for (uint32_t step = 0; step < w->steps; step++) {
        arrive(m->folded, step);
        await(m->folded, step);
        publish_folded(ch, w, step, lane(), LANES);
    }
}

template <class Work> CT_DEV void run_roles(struct channel *ch, Work *w)
{
    __shared__ struct meetings m;
    const uint32_t             warp = thread() / LANES, warps = threads() / LANES;
    const uint32_t             take = PUBLISHERS + w->senders, fold = take + w->takers;
    if (thread() == 0) {
        for (uint32_t i = 0; i < CT_KERNEL_WINDOW; i++) {
            barrier_init(&m.copied[i], w->senders + 1);
            barrier_init(&m.folded[i], warps - fold + 1);
        }
    }
    __syncthreads();
    if (warp == 0) {
        publish_role(ch, w, &m);
    } else if (warp == 1) {
        hand_out_role(ch, w, &m);
    } else if (warp < take) {
        send_role(ch, w, &m, thread() - PUBLISHERS * LANES, w->senders * LANES);
    } else if (warp < fold) {
        take_role(ch, w, thread() - take * LANES, w->takers * LANES);
    } else {
        fold_role(ch, w, &m, warp - fold, warps - fold);
    }
}

#endif
