/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The roles of a block's warps on a GPU (pipeline.cuh), and how they tell each other how far they
 * are: barriers in shared memory, one for each step of a window, whose arrivals are warps'.
 *   - copied: senders are through with a step's data; in place, folders write where they have read.
 *   - folded: folders are through with it.
 * Who waits for a phase must not be overtaken by two, and so takes part in what comes after: a
 * sender says that it has copied when all folders have folded what is a window older, and a
 * publisher arrives for a step at the barrier that it waits at.
 */
#ifndef CT_GPU_KERNELS_ROLES_H
#define CT_GPU_KERNELS_ROLES_H

/* included by pipeline.cuh */

enum {
    COPIERS = 4,     /* warps that send, or take, where the copy engine does not */
    CHUNK = 8 << 10, /* bytes of a stage */
    RING = CT_KERNEL_SHARED / CHUNK,
    LAG = 4, /* stores under way when an item is looked after */
};

struct meetings {
    uint64_t copied[CT_KERNEL_WINDOW], folded[CT_KERNEL_WINDOW];
    uint64_t full[RING]; /* a stage has been loaded */
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

CT_DEV void await(uint64_t *b, uint32_t step)
{
    barrier_wait(&b[step % CT_KERNEL_WINDOW], step / CT_KERNEL_WINDOW);
}

/* What is a window older than a step. */
CT_DEV void await_older(uint64_t *b, uint32_t step)
{
    if (step >= CT_KERNEL_WINDOW) {
        await(b, step - CT_KERNEL_WINDOW);
    }
}

/* ---- by the copy engine: one thread ---------------------------------------------------------- */

/* Chunk after chunk of all items in one direction. */
struct cursor {
    struct share s;
    uint32_t     step;
    uint64_t     at, bytes; /* in the item of s.peer */
    bool         any;
};

/* To the next chunk; items of no bytes have one, too. */
template <class Way> CT_DEV void cursor_next(const Way *way, struct cursor *c)
{
    c->at += CHUNK;
    if (c->at < c->bytes) {
        return;
    }
    while (!share_next(&c->s)) {
        c->step++;
        c->any = c->step < way->w->steps;
        if (!c->any) {
            return;
        }
        c->s = share_among(way->peers(c->step), way->ch->comm->rank, 0, 1);
    }
    c->at = 0;
    c->bytes = way->bytes(c->s.peer, c->step);
}

template <class Way> CT_DEV struct cursor cursor_of(const Way *way)
{
    struct cursor c = {share_among(way->peers(0), way->ch->comm->rank, 0, 1), 0, 0, 0, true};
    c.any = way->w->steps > 0;
    if (c.any) {
        cursor_next(way, &c);
    }
    return c;
}

CT_DEV uint32_t chunk_bytes(const struct cursor *c)
{
    return (uint32_t)(c->bytes - c->at < CHUNK ? c->bytes - c->at : CHUNK);
}

CT_DEV bool ends_item(const struct cursor *c)
{
    return c->at + CHUNK >= c->bytes;
}

CT_DEV bool ends_step(const struct cursor *c)
{
    return ends_item(c) && c->s.next >= c->s.count;
}

/* Items out of the user's memory into the slots of peers. */
template <class Work> struct outward {
    struct channel  *ch;
    const Work      *w;
    struct meetings *m;

    __device__ __forceinline__ uint32_t peers(uint32_t step) const
    {
        return sending(w, step);
    }
    __device__ __forceinline__ uint64_t bytes(uint32_t p, uint32_t step) const
    {
        uint64_t n;
        (void)w->out(p, step, &n);
        return n;
    }
    __device__ __forceinline__ const char *src(uint32_t p, uint32_t step) const
    {
        uint64_t n;
        return w->out(p, step, &n);
    }
    __device__ __forceinline__ char *dst(uint32_t p, uint32_t step) const
    {
        return bulk_slot(ch, p, ch->comm->rank, ch->sent[p] + step + 1);
    }
    __device__ __forceinline__ bool may_load(uint32_t, uint32_t, bool)
    {
        return true;
    }
    __device__ __forceinline__ bool has_room(uint32_t p, uint32_t step) const
    {
        const uint32_t *acked = &words_of(ch->comm, ch->comm->rank, p)->acked;
        return ch->sent[p] + step + 1 - load_word(acked) <= CT_KERNEL_WINDOW;
    }
    __device__ __forceinline__ void wait_room(uint32_t p, uint32_t step)
    {
        wait_room_for(ch, p, ch->sent[p] + step + 1);
    }
    __device__ __forceinline__ void loaded(uint32_t, uint32_t step, bool ends)
    {
        if (ends) {
            await_older(m->folded, step);
            barrier_arrive(&m->copied[step % CT_KERNEL_WINDOW]);
        }
    }
    __device__ __forceinline__ void stored(uint32_t step)
    {
        publish_out(ch, w, step, 0, 1);
    }
};

/* Items out of the own slots into the user's memory. */
template <class Work> struct inward {
    struct channel *ch;
    const Work     *w;

    __device__ __forceinline__ uint32_t peers(uint32_t step) const
    {
        return taking(w, step);
    }
    __device__ __forceinline__ uint64_t bytes(uint32_t p, uint32_t step) const
    {
        uint64_t n;
        (void)w->in(p, step, &n);
        return n;
    }
    __device__ __forceinline__ const char *src(uint32_t p, uint32_t step) const
    {
        return taken_slot(ch, w, p, step);
    }
    __device__ __forceinline__ char *dst(uint32_t p, uint32_t step) const
    {
        uint64_t n;
        return w->in(p, step, &n);
    }
    __device__ __forceinline__ bool may_load(uint32_t p, uint32_t step, bool wait)
    {
        const bool ready = taken_ready(ch, w, p, step);
        if (!ready && wait) {
            wait_taken(ch, w, p, step);
        }
        bulk_acquire();
        return ready || wait;
    }
    __device__ __forceinline__ bool has_room(uint32_t, uint32_t) const
    {
        return true;
    }
    __device__ __forceinline__ void wait_room(uint32_t, uint32_t)
    {
    }
    __device__ __forceinline__ void loaded(uint32_t p, uint32_t step, bool)
    {
        ack_taken(ch, w, p, step);
    }
    __device__ __forceinline__ void stored(uint32_t)
    {
    }
};

/* A step whose stores may be under way. */
struct unpublished {
    uint32_t step, at; /* at: its last store */
    bool     any;
};

template <class Way> CT_DEV void publish_stored(Way *way, struct unpublished *u)
{
    if (u->any) {
        way->stored(u->step);
    }
    u->any = false;
}

/* Chunks go through a ring of stages: all but two are being loaded, or have been. */
template <class Way> CT_DEV void move_chunks(Way *way, char *ring, uint64_t *full, uint32_t stages)
{
    struct cursor      from = cursor_of(way), to = from;
    struct unpublished u = {0, 0, false};
    uint32_t           loads = 0, stores = 0, load_at = 0, store_at = 0, phase = 0;
    for (; to.any; cursor_next(way, &to)) {
        while (from.any && loads - stores + 1 < stages &&
               (from.at > 0 || way->may_load(from.s.peer, from.step, loads == stores))) {
            bulk_load(ring + load_at * CHUNK, way->src(from.s.peer, from.step) + from.at,
                      chunk_bytes(&from) & ~15u, &full[load_at]);
            loads++;
            load_at = load_at + 1 < stages ? load_at + 1 : 0;
            cursor_next(way, &from);
        }
        if (to.at == 0 && !way->has_room(to.s.peer, to.step)) {
            bulk_wait<0>();
            publish_stored(way, &u);
            way->wait_room(to.s.peer, to.step);
        }
        const uint32_t n = chunk_bytes(&to);
        char *const    dst = way->dst(to.s.peer, to.step) + to.at;
        barrier_wait(&full[store_at], phase);
        if (n % 16 != 0) {
            const char *src = way->src(to.s.peer, to.step) + to.at;
            store_some(dst + n / 16 * 16, load_some(src + n / 16 * 16, n % 16), n % 16);
        }
        bulk_store(dst, ring + store_at * CHUNK, n & ~15u);
        if (ends_item(&to)) {
            way->loaded(to.s.peer, to.step, ends_step(&to));
        }
        stores++;
        store_at = store_at + 1 < stages ? store_at + 1 : 0;
        phase += store_at == 0;
        if (u.any && stores - u.at >= LAG) {
            bulk_wait<LAG>();
            publish_stored(way, &u);
        } else if (u.any && ends_step(&to)) {
            bulk_wait<0>();
            publish_stored(way, &u);
        }
        if (ends_step(&to)) {
            u = {to.step, stores, true};
        }
        bulk_wait_read<1>();
    }
    bulk_wait<0>();
    publish_stored(way, &u);
}

/* ---- the roles ------------------------------------------------------------------------------- */

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
CT_DEV void publish_role(struct channel *ch, const Work *w, struct meetings *m)
{
    for (uint32_t step = 0; step < w->steps && sending(w, step) != 0; step++) {
        arrive(m->copied, step);
        await(m->copied, step);
        publish_out(ch, w, step, lane(), LANES);
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
    extern __shared__ __align__(128) char ring[];
    __shared__ struct meetings            m;
    const bool                            engine = BULK_COPIES != 0 && w->aligned();
    const uint32_t senders = engine ? 1 : COPIERS, takers = w->takes == 0 ? 0 : senders;
    const uint32_t publishers = engine ? 0 : 1;
    const uint32_t others = senders + takers + publishers + 1;
    const uint32_t folders = threads() / LANES - others, warp = thread() / LANES;
    const uint32_t stages = takers > 0 ? RING / 2 : RING;
    if (thread() == 0) {
        for (uint32_t i = 0; i < CT_KERNEL_WINDOW; i++) {
            barrier_init(&m.copied[i], senders + publishers);
            barrier_init(&m.folded[i], folders + 1);
        }
        for (uint32_t i = 0; i < RING; i++) {
            barrier_init(&m.full[i], 1);
        }
        barriers_ready();
    }
    __syncthreads();
    if (warp >= others) {
        fold_role(ch, w, &m, warp - others, folders);
    } else if (warp == others - 1) {
        hand_out_role(ch, w, &m);
    } else if (warp >= senders + takers) {
        publish_role(ch, w, &m);
    } else if (!engine && warp < senders) {
        send_role(ch, w, &m, thread(), senders * LANES);
    } else if (!engine) {
        for (uint32_t step = 0; step < w->steps; step++) {
            take_in(ch, w, step, thread() - senders * LANES, takers * LANES);
        }
    } else if (lane() == 0 && warp == 0) {
        struct outward<Work> out = {
            ch, w, &m
        };
        move_chunks(&out, ring, m.full, stages);
    } else if (lane() == 0) {
        struct inward<Work> in = {
            ch, w
        };
        move_chunks(&in, ring + stages * CHUNK, m.full + stages, stages);
    }
}

#endif
