/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Draws the cases of bottom.h. `common` gives all ranks the same numbers: scalars, amounts, roots,
 * and what has to be alike. `own` gives each rank its own: layouts, kinds of memory, and whether it
 * sends in place where it may choose.
 */
#include "bottom.h"

#include "device.h"

/* Elements that go from one rank of the world to another; `some` of them where all blocks are
 * alike. The amount of a pair is the same in both directions, as in place wants it. */
static ctran_count_t amount(enum amounts rule, uint64_t seed, int some, int from, int to)
{
    const int low = from < to ? from : to, high = from < to ? to : from;
    uint64_t  key = rule == BY_SENDER     ? (uint64_t)from
                    : rule == BY_RECEIVER ? (uint64_t)to
                                          : (uint64_t)(low * PEERS + high);
    return rule == EVEN ? some : (ctran_count_t)(mix(seed ^ key) % (uint64_t)(some + 2));
}

/* The parts of a reduce_scatter. Both groups of an inter-communicator have as many elements
 * together: 6 is a multiple of the sizes of groups of three. */
static void draw_parts(struct args *a, int some)
{
    const int           n = a->team->group_n;
    const ctran_count_t all = (ctran_count_t)some * (a->team->kind == ON_GROUPS ? 6 : n);
    for (int r = 0; r < n; r++) {
        a->parts[r] = all / n;
    }
    if (a->shape->displs && n > 1 && some > 0) {
        a->parts[0]++;
        a->parts[n - 1]--;
    }
}

/* One block for each peer, or one alone. */
static void draw_blocks(struct args *a, struct end *e, enum blocks blocks, bool sent, uint64_t seed,
                        int some)
{
    const struct team *t = a->team;
    const bool         part = a->shape->amounts == BY_PART;
    e->n = blocks == EACH ? (part ? t->group_n : t->n) : (int)blocks;
    for (int i = 0; i < e->n; i++) {
        const int peer = part ? 0 : t->peers[i % t->n];
        e->counts[i] = part   ? a->parts[blocks == EACH ? i : t->group_me]
                       : sent ? amount(a->shape->amounts, seed, some, check_rank, peer)
                              : amount(a->shape->amounts, seed, some, peer, check_rank);
    }
    e->count = e->n > 0 ? e->counts[0] : 0;
}

static void draw_layouts(struct args *a)
{
    const bool  dense = a->row->form >= ON_STREAM;
    const bool  single = rng_below(&a->common, 4) == 0; /* blocks at CTRAN_BOTTOM + 1, + 2, ... */
    const int   scalar = rng_below(&a->common, SCALARS), alike = rng_below(&a->common, LAYOUTS);
    struct end *ends[] = {&a->send, &a->recv};
    for (size_t i = 0; i < LEN(ends); i++) {
        const int own = rng_below(&a->own, LAYOUTS), kind = rng_below(&a->own, mem_kinds);
        ends[i]->scalar = single ? BYTE : scalar;
        ends[i]->layout = single ? SINGLE : dense ? DENSE : a->shape->one_type ? alike : own;
        ends[i]->memory_kind = dense ? DEVICE : memory_varies ? kind : HOST;
    }
}

/* The root's rank, as this rank has to name it. */
static void draw_root(struct args *a)
{
    const struct team *t = a->team;
    const int          root = rng_below(&a->common, t->group_n);
    a->root = root;
    a->at_root = root == t->group_me;
    if (t->kind == ON_GROUPS) {
        a->at_root = t->root_group && t->group_me == 0;
        a->root = a->at_root ? CTRAN_ROOT : t->root_group ? CTRAN_PROC_NULL : 0;
    }
}

/* Where the program may say CTRAN_IN_PLACE. */
static bool draw_in_place(struct args *a)
{
    const bool wanted = rng_below(&a->common, 2) == 1, on_stream = a->row->form >= ON_STREAM;
    if (a->team->kind != ON_WORLD ||
        (on_stream && a->shape->recv == EACH && a->shape->send == EACH)) {
        return false; /* on a stream, alltoall takes two buffers */
    }
    switch (a->shape->in_place) {
    case NOWHERE:
        return false;
    case SEND_EVERYWHERE:
        return wanted;
    default:
        return wanted && a->at_root;
    }
}

void case_draw(struct args *a, const struct row *row, const struct team *team, uint64_t seed)
{
    static const int somes[] = {0, 1, 2, 3, 5, 40, 1200};
    *a = (struct args){.row = row, .shape = row->shape, .team = team, .comm = team->comm};
    a->common = seed;
    a->own = mix(seed + 1 + (uint64_t)check_rank);
    const int some = somes[rng_below(&a->common, LEN(somes))];
    a->right = (check_rank + 1) % check_size;
    a->left = (check_rank + check_size - 1) % check_size;
    draw_root(a);
    draw_layouts(a);
    draw_parts(a, some);
    a->in_place = draw_in_place(a);
    const bool whole = a->in_place && a->shape->amounts == BY_PART;
    draw_blocks(a, &a->send, a->shape->send, true, seed, some);
    draw_blocks(a, &a->recv, whole ? EACH : a->shape->recv, false, seed, some);
    end_new(&a->send, a->shape->displs && a->shape->amounts != BY_PART);
    end_new(&a->recv, a->shape->displs && a->shape->amounts != BY_PART);
    a->packed =
        (ctran_count_t)scalar_bytes(a->send.scalar) * (a->send.layout == SINGLE ? 1 : PER) * some;
}

void case_free(struct args *a)
{
    end_free(&a->send);
    end_free(&a->recv);
}
