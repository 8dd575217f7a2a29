/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of kernels: which one, how many blocks, and the masks and moves that make a collective of
 * it. What all ranks must choose alike depends on sizes that all know, and on the layout, alone.
 */
#include "gpu/kernels_own.h"

#include <string.h>

#include "base/util.h"

/* Sizes, in bytes that one block of a kernel sends to all its peers: below the first another block
 * would not pay, since a step takes longer than its data; nor would a second step. */
enum {
    FLAGGED_EACH = 8 << 10,
    SPREAD_EACH = 1 << 10,    /* to each peer, where they have warps of their own (short.cuh) */
    FLAGGED_MOST = 768 << 10, /* beyond, half the bandwidth costs more than a fence; */
    FLAGGED_BLOCK = 12 << 10, /* so it does beyond this of each block */
    BULK_EACH = 32 << 10,
    BULK_ITEM = 256 << 10, /* longer ones make a pipeline fill late */
    GRAIN = 4 << 10,
    DYNAMIC_BLOCKS = 64,
    PART_ALIGN = 128, /* parts of a vector begin at its multiples */
};

static size_t kernels_most(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* ---- the workspace --------------------------------------------------------------------------- */

size_t ct_kernel_layout_bytes(uint32_t size, const struct ct_kernel_layout *l)
{
    return l->bulk_at + (size_t)l->channels * size * CT_KERNEL_WINDOW * l->bulk_bytes;
}

static struct ct_kernel_layout layout_of(uint32_t size, uint32_t channels, uint32_t bulk_bytes)
{
    const size_t words = (size_t)channels * size * sizeof(struct ct_kernel_words);
    const size_t pairs = size * sizeof(struct ct_kernel_pair);
    const size_t slots = (size_t)channels * size * CT_KERNEL_WINDOW;

    struct ct_kernel_layout l = {
        .channels = channels, .flagged_bytes = bulk_bytes / 4, .bulk_bytes = bulk_bytes};
    l.pairs_at = words;
    l.flagged_at = (words + pairs + CT_KERNEL_LINE - 1) / CT_KERNEL_LINE * CT_KERNEL_LINE;
    l.bulk_at = l.flagged_at + slots * l.flagged_bytes * 2;
    return l;
}

int ct_kernel_layout_make(uint32_t size, uint32_t channels, size_t bytes,
                          struct ct_kernel_layout *out)
{
    enum { SMALLEST = 4 << 10, LARGEST = 1 << 20 };
    channels = (uint32_t)ct_min_size(channels, CT_KERNEL_BLOCKS);
    for (; channels > 0; channels /= 2) {
        for (uint32_t bulk = LARGEST; bulk >= SMALLEST; bulk /= 2) {
            *out = layout_of(size, channels, bulk);
            if (ct_kernel_layout_bytes(size, out) <= bytes) {
                return CTRAN_SUCCESS;
            }
        }
    }
    return CTRAN_ERR_NO_MEM;
}

int ct_kernel_message_layout_make(uint32_t size, size_t bytes, struct ct_kernel_layout *out)
{
    enum { MOST = 64 << 10, EACH = 4 << 10, LEAST = CT_KERNEL_UNITS };
    for (uint32_t most_bytes = MOST; most_bytes >= LEAST; most_bytes /= 2) {
        const uint32_t each = most_bytes < EACH ? most_bytes : EACH;
        *out = layout_of(size, most_bytes / each, 0);
        out->flagged_bytes = each + CT_KERNEL_HEAD;
        out->bulk_at = out->flagged_at +
                       (size_t)out->channels * size * CT_KERNEL_WINDOW * out->flagged_bytes * 2;
        if (ct_kernel_layout_bytes(size, out) <= bytes) {
            return CTRAN_SUCCESS;
        }
    }
    return CTRAN_ERR_NO_MEM;
}

int ct_kernel_ll32_layout_make(uint32_t size, uint32_t channels, size_t bytes,
                               struct ct_kernel_layout *out)
{
    enum { MOST = 16 << 10 };
    const uint32_t least = channels - channels / 4; /* longer slots are worth a quarter of them */
    for (uint32_t slot = MOST; slot >= CT_KERNEL_WARP_LINES; slot -= CT_KERNEL_WARP_LINES) {
        for (uint32_t n = channels; n >= least && n > 0; n--) {
            *out = layout_of(size, n, 0);
            out->flagged_bytes = slot / 2;
            out->bulk_at = out->flagged_at + (size_t)n * size * CT_KERNEL_WINDOW * slot;
            if (ct_kernel_layout_bytes(size, out) <= bytes) {
                return CTRAN_SUCCESS;
            }
        }
    }
    return CTRAN_ERR_NO_MEM;
}

int ct_kernel_divide(uint32_t size, size_t bytes, struct ct_kernel_division *out)
{
    enum { SHARE = 5 }; /* one in so many is for messages and rows */
    const bool   has_ll32 = size > 1 && size <= CT_KERNEL_SPREAD + 1;
    const size_t most_bytes = size <= CT_KERNEL_SHORT + 1 ? bytes - bytes / SHARE : bytes;
    memset(out, 0, sizeof *out);
    const int rc = ct_kernel_layout_make(size, CT_KERNEL_CHANNELS, most_bytes, &out->calls);
    if (rc != CTRAN_SUCCESS || size < 2) {
        return rc;
    }
    size_t at = ct_round_up(ct_kernel_layout_bytes(size, &out->calls), CT_KERNEL_LINE);
    if (at < bytes &&
        ct_kernel_message_layout_make(size, bytes - at, &out->messages) == CTRAN_SUCCESS) {
        out->at_messages = at;
        at = ct_round_up(at + ct_kernel_layout_bytes(size, &out->messages), CT_KERNEL_LINE);
    }
    if (has_ll32 && at < bytes &&
        ct_kernel_ll32_layout_make(size, CT_KERNEL_CHANNELS, bytes - at, &out->rows) ==
            CTRAN_SUCCESS) {
        out->at_ll32 = at;
    }
    return CTRAN_SUCCESS;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static enum ct_kernel_kind kernels_kind_of(bool small)
{
    return small ? CT_KERNEL_FLAGGED : CT_KERNEL_BULK;
}

static uint32_t all_of(const struct ct_kernel_comm *comm)
{
    return (uint32_t)(((uint64_t)1 << comm->size) - 1);
}

static uint32_t kernels_others(const struct ct_kernel_comm *comm)
{
    return all_of(comm) & ~(1u << comm->rank);
}

static const char *at_const(const void *base, size_t offset)
{
    return base != NULL ? (const char *)base + offset : NULL;
}

static char *at_offset(void *base, size_t offset)
{
    return base != NULL ? (char *)base + offset : NULL;
}

size_t ct_kernel_flagged_most(uint32_t blocks)
{
    return blocks == 0 ? FLAGGED_MOST : ct_min_size(FLAGGED_MOST, (size_t)blocks * FLAGGED_BLOCK);
}

/* Whether flagged items are to be used where a rank sends `bytes` to each of up to `peers`. */
static bool kernels_flagged(struct ct_kernel_how how, size_t bytes, size_t peers)
{
    return how.form == CT_KERNEL_AS_FLAGGED ||
           (how.form != CT_KERNEL_AS_BULK && bytes <= ct_kernel_flagged_most(how.blocks) / peers);
}

/* Whether a call goes by rows. */
static bool by_ll32(struct ct_kernel_how how, const struct ct_kernel_comm *comm,
                    enum ct_kernel_shape shape, size_t bytes)
{
    enum { MOST = 64 << 20 }; /* steps are counted by 16 bits */
    return how.rows != NULL && comm->size <= CT_KERNEL_SPREAD + 1 && bytes <= MOST &&
           (how.form == CT_KERNEL_AS_LL32 ||
            (how.form == CT_KERNEL_BY_SIZE &&
             ct_kernel_suits_ll32(comm->size, shape, bytes, how.blocks)));
}

bool ct_kernel_is_short(uint32_t size, enum ct_kernel_shape shape, size_t bytes, uint32_t blocks,
                        bool has_ll32)
{
    return kernels_flagged((struct ct_kernel_how){.blocks = blocks}, bytes, size - 1) ||
           (has_ll32 && ct_kernel_suits_ll32(size, shape, bytes, blocks));
}

/* One of `size` parts of a vector. */
static size_t kernels_part_of(size_t bytes, uint32_t size)
{
    return ((bytes + size - 1) / size + PART_ALIGN - 1) / PART_ALIGN * PART_ALIGN;
}

/* A slot of a kernel of so many blocks: those of several channels are one. */
static size_t kernels_slot_bytes(const struct ct_kernel_comm *comm, uint32_t blocks)
{
    return (size_t)comm->layout.channels / blocks * comm->layout.bulk_bytes;
}

static uint32_t item_bytes(const struct ct_kernel_comm *comm, uint32_t blocks)
{
    return (uint32_t)ct_min_size(kernels_slot_bytes(comm, blocks), BULK_ITEM);
}

/* One for each 16 bytes that a block sends in a step of flagged items, and no more: a barrier of
 * few warps is short. */
static uint32_t flagged_threads(const struct ct_kernel_args *a, size_t longest)
{
    enum { WARP = 32 };
    const size_t step = ct_min_size(ct_min_size(longest, a->each_bytes), a->item_bytes);
    const size_t units = (step + 15) / 16 * kernels_most(a->comm.size - 1, 1);
    return (uint32_t)kernels_most(ct_min_size((units + WARP - 1) / WARP * WARP, CT_KERNEL_THREADS),
                                  WARP);
}

/* What a block has of flagged items, if there are blocks enough. */
static size_t flagged_each(const struct ct_kernel_comm *comm)
{
    const uint32_t peers = comm->size - 1;
    const size_t   each = peers > 1 && peers <= CT_KERNEL_SPREAD
                              ? SPREAD_EACH
                              : FLAGGED_EACH / kernels_most(peers, 1);
    return ct_min_size(each, comm->layout.flagged_bytes);
}

/* Kernel, blocks and all but masks and moves; `longest` is what one peer gets at most. */
static struct ct_kernel_args *kernels_start(struct ct_kernel_call       *c,
                                            const struct ct_kernel_comm *comm,
                                            struct ct_kernel_how how, bool small, size_t longest)
{
    const size_t each = small ? flagged_each(comm) : BULK_EACH;
    const size_t want = (longest + each - 1) / each;
    const size_t may =
        how.blocks != 0 ? ct_min_size(how.blocks, comm->layout.channels) : comm->layout.channels;

    memset(&c->args, 0, sizeof c->args);
    c->args.comm = *comm;
    c->blocks = (uint32_t)kernels_most(ct_min_size(want, may), 1);
    c->args.item_bytes = small ? comm->layout.flagged_bytes : item_bytes(comm, c->blocks);
    c->args.each_bytes = kernels_most(kernels_part_of(longest, c->blocks), PART_ALIGN);
    c->threads = small ? flagged_threads(&c->args, longest) : CT_KERNEL_THREADS;
    c->flagged = small;
    return &c->args;
}

static struct ct_kernel_args *start_move(struct ct_kernel_call       *c,
                                         const struct ct_kernel_comm *comm,
                                         struct ct_kernel_how how, size_t longest)
{
    const bool small = kernels_flagged(how, longest, comm->size - 1);
    c->kernel = ct_kernel_of_move(kernels_kind_of(small));
    return kernels_start(c, comm, how, small, longest);
}

/* Masks and moves are set. */
static void finish_move(struct ct_kernel_call *c, const struct ct_kernel_comm *comm,
                        struct ct_kernel_how how, size_t longest)
{
    struct ct_kernel_args *a = &c->args;
    if (by_ll32(how, comm, CT_KERNEL_MOVED, longest)) {
        a->result_from = a->from; /* nothing is combined */
        a->from = 0;
        ct_kernel_make_ll32(c, how, CT_KERNEL_TYPES, longest);
    } else {
        ct_kernel_shorten(c, CT_KERNEL_TYPES);
    }
}

void ct_kernel_barrier(struct ct_kernel_call *c, const struct ct_kernel_comm *comm)
{
    struct ct_kernel_args *a =
        start_move(c, comm, (struct ct_kernel_how){.form = CT_KERNEL_AS_FLAGGED}, 0);
    a->to = a->from = kernels_others(comm);
    ct_kernel_shorten(c, CT_KERNEL_TYPES);
}

void ct_kernel_allgather(struct ct_kernel_call *c, const struct ct_kernel_comm *comm,
                         struct ct_kernel_how how, const void *send, void *recv, size_t bytes)
{
    struct ct_kernel_args *a = start_move(c, comm, how, bytes);
    a->to = a->from = kernels_others(comm);
    for (uint32_t p = 0; p < comm->size; p++) {
        a->move[p] = (struct ct_kernel_move){send, at_offset(recv, p * bytes), bytes, bytes};
    }
    finish_move(c, comm, how, bytes);
}

void ct_kernel_alltoall(struct ct_kernel_call *c, const struct ct_kernel_comm *comm,
                        struct ct_kernel_how how, const void *send, void *recv, size_t bytes)
{
    struct ct_kernel_args *a = start_move(c, comm, how, bytes);
    a->to = a->from = kernels_others(comm);
    for (uint32_t p = 0; p < comm->size; p++) {
        a->move[p] = (struct ct_kernel_move){at_const(send, p * bytes), at_offset(recv, p * bytes),
                                             bytes, bytes};
    }
    finish_move(c, comm, how, bytes);
}

/* The root gives each of the others a part, which that passes on. */
static void bcast_by_ll32(struct ct_kernel_call *c, const struct ct_kernel_comm *comm,
                          struct ct_kernel_how how, void *buf, size_t bytes, uint32_t root)
{
    const size_t           part = kernels_part_of(bytes, comm->size - 1);
    struct ct_kernel_args *a = kernels_start(c, comm, how, false, part);
    const uint32_t         peers = kernels_others(comm) & ~(1u << root);
    const bool             sends = comm->rank == root;
    a->to = sends ? peers : 0;
    a->from = sends ? 0 : 1u << root;
    a->result_to = a->result_from = sends ? 0 : peers;
    for (uint32_t p = 0, i = 0; p < comm->size; p++) {
        const size_t at = ct_min_size(i * part, bytes), len = ct_min_size(bytes - at, part);
        char *const  its = at_offset(buf, at);
        if (p != root) {
            a->move[p] = (struct ct_kernel_move){its, its, sends ? len : 0, len};
            i++;
        }
    }
    a->own_bytes = a->move[comm->rank].recv_bytes;
    ct_kernel_make_ll32(c, how, CT_KERNEL_TYPES, part);
}

void ct_kernel_bcast(struct ct_kernel_call *c, const struct ct_kernel_comm *comm,
                     struct ct_kernel_how how, void *buf, size_t bytes, uint32_t root)
{
    if (by_ll32(how, comm, CT_KERNEL_BROADCAST, bytes)) {
        bcast_by_ll32(c, comm, how, buf, bytes, root);
        return;
    }
    struct ct_kernel_args *a = start_move(c, comm, how, bytes);
    if (comm->rank == root) {
        a->to = kernels_others(comm);
    } else {
        a->from = 1u << root;
    }
    for (uint32_t p = 0; p < comm->size; p++) {
        if (((a->to | a->from) >> p & 1) != 0) {
            a->move[p] = (struct ct_kernel_move){buf, buf, bytes, bytes};
        }
    }
    ct_kernel_shorten(c, CT_KERNEL_TYPES);
}

void ct_kernel_moves(struct ct_kernel_call *c, const struct ct_kernel_comm *comm,
                     struct ct_kernel_how how, const struct ct_kernel_move *moves, uint32_t to,
                     uint32_t from, size_t longest_bytes)
{
    struct ct_kernel_args *a = start_move(c, comm, how, longest_bytes);
    a->to = to & kernels_others(comm);
    a->from = from & kernels_others(comm);
    memcpy(a->move, moves, comm->size * sizeof *moves);
    finish_move(c, comm, how, longest_bytes);
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

/* `part` is what the longest part has, in bytes. */
static struct ct_kernel_args *
start_reduce(struct ct_kernel_call *c, const struct ct_kernel_comm *comm, struct ct_kernel_how how,
             const struct ct_kernel_reduction *r, bool small, size_t part)
{
    c->kernel = ct_kernel_of_reduction(kernels_kind_of(small), r->type);
    struct ct_kernel_args *a = kernels_start(c, comm, how, small, part);
    a->op = r->op;
    a->part_bytes = part;
    return a;
}

/* One shot: to all in `to` goes all of `send`; those in `from` and the rank itself, if it is
 * among them, are combined into recv. */
static void one_shot(struct ct_kernel_args *a, const void *send, void *recv, size_t bytes,
                     uint32_t to, uint32_t from)
{
    const uint32_t me = a->comm.rank;
    a->to = to;
    a->from = from;
    a->own_bytes = from != 0 ? bytes : 0;
    for (uint32_t p = 0; p < a->comm.size; p++) {
        a->move[p] = (struct ct_kernel_move){send, p == me ? recv : NULL, bytes, bytes};
    }
}

/* Two: a part of the vector to each rank, and the finished ones to all in `wanted`. */
static void two_shots(struct ct_kernel_call *c, const void *send, void *recv, size_t bytes,
                      uint32_t wanted)
{
    struct ct_kernel_args       *a = &c->args;
    const struct ct_kernel_comm *comm = &a->comm;
    const bool                   mine = (wanted >> comm->rank & 1) != 0;
    a->to = kernels_others(comm);
    a->from = all_of(comm);
    a->item_bytes = (uint32_t)ct_min_size(a->item_bytes, kernels_slot_bytes(comm, c->blocks) / 2);
    a->result_to = wanted & kernels_others(comm);
    a->result_from = mine ? kernels_others(comm) : 0;
    for (uint32_t p = 0; p < comm->size; p++) {
        const size_t at = ct_min_size(p * a->part_bytes, bytes);
        const size_t len = ct_min_size(bytes - at, a->part_bytes);
        a->move[p] = (struct ct_kernel_move){at_const(send, at), mine ? at_offset(recv, at) : NULL,
                                             len, len};
    }
    a->own_bytes = a->move[comm->rank].send_bytes;
}

void ct_kernel_allreduce(struct ct_kernel_call *c, const struct ct_kernel_comm *comm,
                         struct ct_kernel_how how, const struct ct_kernel_reduction *r,
                         const void *send, void *recv, size_t count)
{
    const size_t bytes = count * r->elem_bytes;
    const bool   rows = by_ll32(how, comm, CT_KERNEL_ALLREDUCED, bytes);
    const bool   small = !rows && kernels_flagged(how, bytes, comm->size - 1);
    const size_t part = kernels_part_of(bytes, comm->size);
    (void)start_reduce(c, comm, how, r, small, small ? bytes : part);
    if (rows && comm->size > 2) {
        two_shots(c, send, recv, bytes, all_of(comm));
        ct_kernel_make_ll32(c, how, r->type, part);
        return;
    }
    if (rows) {
        one_shot(&c->args, send, recv, bytes, kernels_others(comm), all_of(comm));
        ct_kernel_make_ll32(c, how, r->type, bytes);
        return;
    }
    /* With two ranks both ways send as much. Two shots load less: that counts where blocks are few,
     * and their slots large; where these are small, one shot has the longer items. */
    if (!small && (comm->size > 2 || kernels_slot_bytes(comm, c->blocks) / 2 >= BULK_ITEM)) {
        two_shots(c, send, recv, bytes, all_of(comm));
    } else {
        one_shot(start_reduce(c, comm, how, r, small, bytes), send, recv, bytes,
                 kernels_others(comm), all_of(comm));
    }
    ct_kernel_shorten(c, r->type);
}

void ct_kernel_reduce(struct ct_kernel_call *c, const struct ct_kernel_comm *comm,
                      struct ct_kernel_how how, const struct ct_kernel_reduction *r,
                      const void *send, void *recv, size_t count, uint32_t root)
{
    const size_t bytes = count * r->elem_bytes;
    const bool   small = kernels_flagged(how, bytes, comm->size - 1);
    const bool   mine = comm->rank == root;
    if (small || comm->size == 2) {
        one_shot(start_reduce(c, comm, how, r, small, bytes), send, recv, bytes,
                 mine ? 0 : 1u << root, mine ? all_of(comm) : 0);
    } else {
        const size_t part = kernels_part_of(bytes, comm->size);
        (void)start_reduce(c, comm, how, r, false, part);
        two_shots(c, send, mine ? recv : NULL, bytes, 1u << root);
    }
    ct_kernel_shorten(c, r->type);
}

void ct_kernel_reduce_scatter(struct ct_kernel_call *c, const struct ct_kernel_comm *comm,
                              struct ct_kernel_how how, const struct ct_kernel_reduction *r,
                              const void *send, void *recv, size_t count,
                              const ctran_count_t *counts)
{
    size_t longest = count, shortest = count;
    for (uint32_t p = 0; counts != NULL && p < comm->size; p++) {
        longest = p == 0 ? (size_t)counts[0] : kernels_most(longest, (size_t)counts[p]);
        shortest = p == 0 ? (size_t)counts[0] : ct_min_size(shortest, (size_t)counts[p]);
    }
    /* In place, parts of different lengths: what one block writes another may not have read, nor a
     * thread. Who is in place each rank knows of itself alone, and all have to choose alike. */
    if (longest != shortest) {
        how.blocks = 1;
        how.form = CT_KERNEL_AS_BULK;
    }
    const bool small = kernels_flagged(how, longest * r->elem_bytes, comm->size - 1);

    struct ct_kernel_args *a = start_reduce(c, comm, how, r, small, longest * r->elem_bytes);
    a->to = kernels_others(comm);
    a->from = all_of(comm);
    size_t at = 0;
    for (uint32_t p = 0; p < comm->size; p++) {
        const size_t len = (counts != NULL ? (size_t)counts[p] : count) * r->elem_bytes;
        a->move[p] =
            (struct ct_kernel_move){at_const(send, at), p == comm->rank ? recv : NULL, len, len};
        at += len;
    }
    a->own_bytes = a->move[comm->rank].send_bytes;
    if (by_ll32(how, comm, CT_KERNEL_SCATTERED, longest * r->elem_bytes)) {
        ct_kernel_make_ll32(c, how, r->type, longest * r->elem_bytes);
    } else {
        ct_kernel_shorten(c, r->type);
    }
}

void ct_kernel_scan(struct ct_kernel_call *c, const struct ct_kernel_comm *comm,
                    struct ct_kernel_how how, const struct ct_kernel_reduction *r, const void *send,
                    void *recv, size_t count, bool exclusive)
{
    const size_t   bytes = count * r->elem_bytes;
    const bool     small = kernels_flagged(how, bytes, comm->size - 1);
    const uint32_t before = (1u << comm->rank) - 1, me = 1u << comm->rank;
    one_shot(start_reduce(c, comm, how, r, small, bytes), send, recv, bytes,
             all_of(comm) & ~(before | me), exclusive ? before : before | me);
    ct_kernel_shorten(c, r->type);
}

/* The longest extent among those in the mask, which also are copied. */
static size_t take_ends(struct ct_kernel_end *to, const struct ct_kernel_end *from, uint32_t mask)
{
    size_t longest = 0;
    for (uint32_t p = 0; p < CT_KERNEL_RANKS; p++) {
        to[p] = (mask >> p & 1) != 0 ? from[p] : (struct ct_kernel_end){.buf = NULL};
        longest = kernels_most(longest, to[p].extent);
    }
    return longest;
}

void ct_kernel_messages(struct ct_kernel_call *c, const struct ct_kernel_comm *comm,
                        const struct ct_kernel_end *send, uint32_t to,
                        const struct ct_kernel_end *recv, uint32_t from)
{
    enum { WARP = 32, UNIT = 16 };
    struct ct_kernel_messages *m = &c->messages;
    c->kernel = CT_KERNEL_MESSAGES;
    m->comm = *comm;
    m->to = to;
    m->from = from;
    m->each_bytes = comm->layout.flagged_bytes - CT_KERNEL_HEAD;
    m->pad = 0;
    const size_t longest =
        kernels_most(take_ends(m->send, send, to), take_ends(m->recv, recv, from));
    const size_t peers =
        kernels_most((size_t)__builtin_popcount(to), (size_t)__builtin_popcount(from));
    const size_t units = (ct_min_size(longest, m->each_bytes) + UNIT - 1) / UNIT * peers;
    c->blocks = (uint32_t)kernels_most((longest + m->each_bytes - 1) / m->each_bytes, 1);
    c->threads =
        (uint32_t)ct_min_size(kernels_most(ct_round_up(units, WARP), WARP), CT_KERNEL_THREADS);
    ct_kernel_shorten_messages(c);
}

void ct_kernel_alltoallv_dynamic(struct ct_kernel_call *c, const struct ct_kernel_comm *comm,
                                 uint32_t blocks, const struct ct_kernel_dynamic *what)
{
    c->kernel = CT_KERNEL_DYNAMIC;
    c->dynamic = *what;
    c->dynamic.comm = *comm;
    c->dynamic.grain = GRAIN;
    c->blocks = (uint32_t)ct_min_size(blocks != 0 ? blocks : DYNAMIC_BLOCKS, comm->layout.channels);
    c->dynamic.item_bytes = item_bytes(comm, c->blocks);
    c->threads = CT_KERNEL_THREADS;
}
