/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ct_alltoallv_dynamic: an alltoallv whose counts and displacements the device alone knows, when it
 * runs (NCCLX sec. 6.1, AllToAllvDynamic). Each block first tells each peer by a flagged item how
 * many bytes it gets in all, and sends what the window holds without waiting for theirs; from its
 * peers' numbers it knows its receive counts and where data go. Only what there is travels, in
 * steps through the peers' slots, so no memory depends on what might come. Elements that a list of
 * indices names are gathered as they are sent.
 */
#include "gpu/kernels/flagged.cuh"

/* By peer, in shared memory. What is sent lies in a row of bytes: the buffer itself, or the
 * elements that the list names, one behind the other. */
struct plan {
    uint64_t out[CT_KERNEL_RANKS], in[CT_KERNEL_RANKS];       /* bytes */
    uint64_t out_at[CT_KERNEL_RANKS], in_at[CT_KERNEL_RANKS]; /* in the row, in the buffer */
    uint64_t room[CT_KERNEL_RANKS];                           /* what of `in` the buffer holds */
    uint32_t aborted; /* what was to come from peers did not */
};

/* ---- what is sent ---------------------------------------------------------------------------- */

/* Where the elements are that the list names from its place `first` on. */
struct rows {
    const struct ct_kernel_dynamic *a;
    const int64_t                  *index;
    int64_t                         count; /* elements of the buffer */
};

/* Byte `at` of element `row`; NULL: there is no such element. */
CT_DEV const char *row_at(const struct rows *r, uint64_t row, uint64_t at)
{
    const int64_t index = r->index[row];
    return index < 0 || index >= r->count
               ? nullptr
               : static_cast<const char *>(r->a->send) + (uint64_t)index * r->a->elem_bytes + at;
}

/* N vectors, `stride` apart, of which the first begins `at` bytes behind the first row. All loads
 * are under way before the first store. */
template <unsigned N>
CT_DEV void gather_vectors(char *dst, const struct rows *r, uint32_t at, uint32_t stride)
{
    const uint32_t elem = (uint32_t)r->a->elem_bytes;
    vec            v[N];
    CT_UNROLL
    for (unsigned k = 0; k < N; k++) {
        const uint32_t from = at + k * stride, row = from / elem;
        const char    *src = row_at(r, row, from - row * elem);
        v[k] = src != nullptr ? load_vec(src) : vec{{0, 0, 0, 0}};
    }
    CT_UNROLL
    for (unsigned k = 0; k < N; k++) {
        store_vec(dst + k * stride, v[k]);
    }
}

/* The same for elements of any size and place: 16 bytes or less. */
CT_DEV void gather_some(char *dst, const struct rows *r, uint64_t at, uint64_t bytes)
{
    uint64_t row = at / r->a->elem_bytes, rest = at % r->a->elem_bytes;
    for (uint64_t i = 0; i < bytes && i < 16; i++) {
        const char *src = row_at(r, row, rest);
        dst[i] = src != nullptr ? *src : 0;
        if (++rest == r->a->elem_bytes) {
            rest = 0;
            row++;
        }
    }
}

/* `bytes` of the row of bytes from `at` on, no more than a peer's. */
CT_OUTLINE void gather_bytes(char *dst, const struct ct_kernel_dynamic *a, uint64_t at,
                             uint64_t bytes, uint32_t lane, uint32_t lanes)
{
    enum { NARROW = 1 << 30 }; /* bytes that 32 bits divide */
    const uint64_t    first = at / a->elem_bytes, skip = at - first * a->elem_bytes;
    const struct rows r = {a, a->send_indices + first, (int64_t)(a->send_bytes / a->elem_bytes)};
    const uint64_t    stride = (uint64_t)lanes * 16;
    uint64_t          i = (uint64_t)lane * 16;
    if (a->elem_bytes % 16 == 0 && skip % 16 == 0 && a->elem_bytes < NARROW &&
        skip + bytes < NARROW && aligned(a->send, 16) && aligned(dst, 16)) {
        for (; i + 7 * stride + 16 <= bytes; i += 8 * stride) {
            gather_vectors<8>(dst + i, &r, (uint32_t)(skip + i), (uint32_t)stride);
        }
        for (; i + 16 <= bytes; i += stride) {
            gather_vectors<1>(dst + i, &r, (uint32_t)(skip + i), (uint32_t)stride);
        }
    }
    for (; i < bytes; i += stride) {
        gather_some(dst + i, &r, skip + i, bytes - i);
    }
}

CT_DEV void read_row(char *dst, const struct ct_kernel_dynamic &a, uint64_t at, uint64_t bytes,
                     uint32_t lane, uint32_t lanes)
{
    if (a.send_indices != nullptr) {
        gather_bytes(dst, &a, at, bytes, lane, lanes);
    } else {
        copy_bytes(dst, static_cast<const char *>(a.send) + at, bytes, lane, lanes);
    }
}

/* ---- the plan -------------------------------------------------------------------------------- */

/* A displacement in bytes, no more than `size`, and in *fits how much of `bytes` fits behind it. */
CT_DEV uint64_t place(int64_t displ, uint64_t elem, uint64_t bytes, uint64_t size, uint64_t *fits)
{
    const bool     good = displ >= 0 && (uint64_t)displ <= size / elem;
    const uint64_t at = good ? (uint64_t)displ * elem : size;
    *fits = bytes < size - at ? bytes : size - at;
    return at;
}

/* Elements for rank p, of which there are no more than `most`. */
CT_DEV uint64_t wanted(const struct ct_kernel_dynamic &a, uint32_t p, uint64_t most)
{
    const int64_t count = a.send_counts[p];
    return count <= 0 ? 0 : (uint64_t)count > most ? most : (uint64_t)count;
}

CT_DEV void plan_sends(const struct ct_kernel_dynamic &a, struct plan *plan)
{
    const uint64_t most = a.send_indices != nullptr ? a.indices : a.send_bytes / a.elem_bytes;
    for (uint32_t p = thread(); p < a.comm.size; p += threads()) {
        int64_t displ = 0;
        if (a.send_displs != nullptr) {
            displ = a.send_displs[p];
        } else {
            for (uint32_t q = 0; q < p; q++) {
                displ += (int64_t)wanted(a, q, most);
            }
        }
        plan->out_at[p] = place(displ, a.elem_bytes, wanted(a, p, most) * a.elem_bytes,
                                most * a.elem_bytes, &plan->out[p]);
        if (p == a.comm.rank) {
            plan->in[p] = plan->out[p];
        }
    }
    if (thread() == 0) {
        plan->aborted = 0;
    }
    __syncthreads();
}

/* After an abort what peers sent are no numbers: nothing is to be moved by them. */
CT_DEV void check_plan(const struct ct_kernel_dynamic &a, const struct channel *ch,
                       struct plan *plan)
{
    if (!ch->alive) {
        plan->aborted = 1;
    }
    __syncthreads();
    for (uint32_t p = thread(); plan->aborted != 0 && p < a.comm.size; p += threads()) {
        plan->in[p] = 0;
        plan->out[p] = 0;
    }
    __syncthreads();
}

CT_DEV void plan_receives(const struct ct_kernel_dynamic &a, struct plan *plan)
{
    for (uint32_t p = thread(); p < a.comm.size; p += threads()) {
        int64_t displ = 0;
        if (a.recv_displs != nullptr) {
            displ = a.recv_displs[p];
        } else {
            for (uint32_t q = 0; q < p; q++) {
                displ += (int64_t)(plan->in[q] / a.elem_bytes);
            }
        }
        plan->in_at[p] = place(displ, a.elem_bytes, plan->in[p], a.recv_bytes, &plan->room[p]);
        if (blockIdx.x == 0) {
            a.recv_counts[p] = (int64_t)(plan->in[p] / a.elem_bytes);
        }
    }
    __syncthreads();
}

/* This block's part of `bytes` for a peer. */
CT_DEV struct slice part_of(const struct ct_kernel_dynamic &a, uint64_t bytes)
{
    const uint64_t each = (bytes + gridDim.x - 1) / gridDim.x;
    return slice_of(bytes, each < a.grain ? a.grain : (each + 127) & ~(uint64_t)127);
}

/* The peers with something in this step. */
CT_DEV uint32_t busy(const struct ct_kernel_dynamic &a, const uint64_t *bytes, uint32_t step)
{
    uint32_t mask = 0;
    for (uint32_t p = 0; p < a.comm.size; p++) {
        const struct slice s = part_of(a, bytes[p]);
        if (p != a.comm.rank && piece_of(s, step, a.item_bytes).bytes > 0) {
            mask |= 1u << p;
        }
    }
    return mask;
}

CT_DEV void send_step(struct channel *ch, const struct ct_kernel_dynamic &a,
                      const struct plan *plan, uint32_t step)
{
    const uint32_t to = busy(a, plan->out, step);
    if (to == 0) {
        return;
    }
    wait_all(ch, to, 0);
    for (struct share s = share_of(to, a.comm.rank); share_next(&s);) {
        const uint64_t     all = plan->out[s.peer];
        const struct slice piece = piece_of(part_of(a, all), step, a.item_bytes);
        read_row(bulk_slot(ch, s.peer, a.comm.rank, ch->sent[s.peer] + 1), a,
                 plan->out_at[s.peer] + piece.at, piece.bytes, s.lane, s.lanes);
    }
    __syncthreads();
    publish(ch, to);
}

CT_DEV void recv_step(struct channel *ch, const struct ct_kernel_dynamic &a,
                      const struct plan *plan, uint32_t step)
{
    const uint32_t from = busy(a, plan->in, step);
    if (from == 0) {
        return;
    }
    wait_all(ch, 0, from);
    for (struct share s = share_of(from, a.comm.rank); share_next(&s);) {
        const uint64_t     all = plan->in[s.peer], room = plan->room[s.peer];
        const struct slice piece = piece_of(part_of(a, all), step, a.item_bytes);
        const uint64_t     fits = piece.at >= room                ? 0
                                  : room - piece.at < piece.bytes ? room - piece.at
                                                                  : piece.bytes;
        copy_bytes(static_cast<char *>(a.recv) + plan->in_at[s.peer] + piece.at,
                   bulk_slot(ch, a.comm.rank, s.peer, ch->got[s.peer] + 1), fits, s.lane, s.lanes);
    }
    __syncthreads();
    count_got(ch, from, true);
}

CT_DEV void copy_own(const struct ct_kernel_dynamic &a, const struct plan *plan)
{
    const uint32_t     me = a.comm.rank;
    const struct slice s = part_of(a, plan->room[me]);
    read_row(static_cast<char *>(a.recv) + plan->in_at[me] + s.at, a, plan->out_at[me] + s.at,
             s.bytes, thread(), threads());
}

CT_KERNEL(ct_alltoallv_dynamic, struct ct_kernel_dynamic)
{
    CT_CHANNEL(ch, a.comm, a.item_bytes);
    __shared__ struct plan plan;
    const uint32_t         all = a.comm.size == 32 ? ~0u : (1u << a.comm.size) - 1;
    const uint32_t         peers = all & ~(1u << a.comm.rank);
    channel_open(&ch, peers, peers, ask_words(&a.comm));
    plan_sends(a, &plan);
    for (struct share s = share_of(peers, a.comm.rank); share_next(&s);) {
        const uint64_t *out = &plan.out[s.peer];
        send_flagged(&ch, &s, flagged_slots(&a.comm, s.peer, a.comm.rank), out, sizeof *out,
                     first_unit(&s, out, sizeof *out));
    }
    __syncthreads();
    count_sent(&ch, peers);
    __syncthreads();
    send_step(&ch, a, &plan, 0);
    for (struct share s = share_of(peers, a.comm.rank); share_next(&s);) {
        recv_flagged(&ch, &s, &plan.in[s.peer], sizeof plan.in[0]);
    }
    __syncthreads();
    count_got(&ch, peers, true);
    check_plan(a, &ch, &plan);
    plan_receives(a, &plan);
    copy_own(a, &plan);
    for (uint32_t step = 0; (busy(a, plan.out, step) | busy(a, plan.in, step)) != 0; step++) {
        send_step(&ch, a, &plan, step + 1);
        recv_step(&ch, a, &plan, step);
    }
    channel_close(&ch, peers);
}
