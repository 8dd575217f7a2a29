/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a call of medley is: drawn by its number, the same on all ranks, and then what that means
 * for this rank: which blocks it puts in, and which it gets.
 */
#include "medley.h"

static const char *const whats[WHATS] = {
    "barrier",        "bcast",
    "gather",         "gatherv",
    "scatter",        "scatterv",
    "allgather",      "allgatherv",
    "alltoall",       "alltoallv",
    "alltoallw",      "reduce",
    "allreduce",      "reduce_scatter_block",
    "reduce_scatter", "scan",
    "exscan",
};

bool call_reduces(const struct call *c)
{
    return c->what >= REDUCE;
}

bool call_has_counts(const struct call *c)
{
    return c->what == GATHERV || c->what == SCATTERV || c->what == ALLGATHERV ||
           c->what == ALLTOALLV || c->what == ALLTOALLW;
}

static bool is_alltoall(const struct call *c)
{
    return c->what == ALLTOALL || c->what == ALLTOALLV || c->what == ALLTOALLW;
}

static bool is_neighbour(const struct call *c)
{
    return c->team->shape == CART || c->team->shape == GRAPH;
}

static bool is_flat(const struct call *c)
{
    return c->send.layout == FLAT && c->recv.layout == FLAT && c->what != ALLTOALLW;
}

/* Whether results depend on the order in which numbers are added or multiplied. */
bool call_rounds(const struct call *c)
{
    return call_reduces(c) && !c->exact && (c->op == SUM || c->op == PROD) &&
           (c->kind->class == REAL || c->kind->class == COMPLEX);
}

static const char *const forms[] = {"blocking", "nonblocking", "persistent"};

const char *call_traits(const struct call *c)
{
    static char text[128];
    snprintf(text, sizeof text, "%s%s%s%s%s%s", forms[c->form],
             is_neighbour(c)           ? ",neighbours"
             : c->team->shape == INTER ? ",between-groups"
                                       : "",
             c->in_place ? ",in-place" : "",
             call_has_counts(c) || c->what == REDUCE_SCATTER ? ",counts" : "",
             c->send.layout != FLAT || c->recv.layout != FLAT || c->what == ALLTOALLW ? ",derived"
                                                                                      : "",
             call_rounds(c) ? ",rounded" : "");
    return text;
}

const char *call_text(const struct call *c)
{
    static char text[256];
    snprintf(
        text, sizeof text,
        "call %d, turn %d: %s %s%s, %s of %d, %s%s%s%s, root %d, up to %zu (%zu), layouts %d %d",
        c->number, c->turn, forms[c->form], is_neighbour(c) ? "neighbor_" : "", whats[c->what],
        c->team->name, c->team->n, c->kind->name, call_reduces(c) ? " " : "",
        call_reduces(c) ? op_name(c->op) : "", c->in_place ? ", in place" : "", c->root, c->most,
        c->each, c->send.layout, c->recv.layout);
    return text;
}

/* ---- drawn, the same everywhere -------------------------------------------------------------- */

static enum what what_draw(uint64_t *rng, enum shape shape)
{
    if (shape == CART || shape == GRAPH) {
        return ALLGATHER + (enum what)rng_below(rng, 5);
    }
    return (enum what)rng_below(rng, shape == INTER ? SCAN : WHATS);
}

static void call_draw(struct call *c, uint64_t *rng)
{
    static const int       caps[] = {8, 200, 2000, 20000};
    static const enum form drawn[] = {BLOCKING, BLOCKING, NONBLOCKING, PERSISTENT};
    c->what = what_draw(rng, c->team->shape);
    c->form = drawn[rng_below(rng, 4)];
    c->in_place = rng_below(rng, 3) == 0 && c->team->shape == INTRA && c->what > BCAST;
    c->most = (size_t)rng_below(rng, caps[rng_below(rng, 4)] + 1);
    c->most = is_alltoall(c) ? c->most / 2 : c->most;
    c->exact = rng_below(rng, 2) == 0;
    c->down = rng_below(rng, 2) == 0;
    c->gap = rng_below(rng, 4);
    c->kind = &kinds[rng_below(rng, kinds_n)];
    c->op = call_reduces(c) ? op_draw(rng, c->kind) : SUM;
    c->send.layout = rng_below(rng, 2) ? rng_below(rng, LAYOUTS) : FLAT;
    c->recv.layout = rng_below(rng, 2) ? rng_below(rng, LAYOUTS) : FLAT;
    if (call_reduces(c)) { /* derived types have operators of our own only */
        c->send.layout = c->kind->class == WORD ? c->send.layout : FLAT;
        c->recv.layout = c->send.layout;
    }
    if (c->what == BCAST) {
        c->send.layout = c->recv.layout;
    }
}

/* Who the root is, and what this rank does for it. */
static void root_draw(struct call *c, uint64_t *rng)
{
    const struct team *t = c->team;
    const int          dice = rng_below(rng, 720), here = rng_below(rng, 2) == 0;
    c->gives = c->takes = true;
    if (t->shape != INTER) {
        c->root = dice % t->n;
        c->root_world = t->own[c->root];
        c->at_root = c->root == t->me;
        return;
    }
    /* The group with the lowest rank of the world has the root, or the other one. */
    const bool ours = (t->own[0] < t->peers[0]) == here;
    const int  r = dice % (ours ? t->n : t->npeers);
    c->root_world = ours ? t->own[r] : t->peers[r];
    c->at_root = ours && r == t->me;
    c->root = !ours ? r : c->at_root ? CTRAN_ROOT : CTRAN_PROC_NULL;
    c->gives = c->takes = !ours;
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static uint64_t key_for(const struct call *c, int from, int to, int slot)
{
    return mix(c->key ^ (uint64_t)(from + 8) << 40 ^ (uint64_t)(to + 8) << 20 ^ (uint64_t)slot);
}

static size_t whole_elements(const struct call *c, size_t scalars)
{
    return is_flat(c) ? scalars : (scalars + ALL_FIT - 1) / ALL_FIT * ALL_FIT;
}

/* Scalars that one rank has for another, or for all; in place they exchange as many. */
static size_t scalars_of(const struct call *c, int from, int to, int slot)
{
    if (!call_has_counts(c) && c->what != REDUCE_SCATTER) {
        return c->each;
    }
    const bool     same = c->in_place && is_alltoall(c);
    const uint64_t key =
        same && from > to ? key_for(c, to, from, slot) : key_for(c, from, to, slot);
    return key % 5 == 0 ? 0 : whole_elements(c, (key >> 8) % (c->most + 1));
}

static int layout_of(const struct call *c, const struct side *s, int from, int to, int slot)
{
    if (c->what != ALLTOALLW) {
        return s->layout;
    }
    return (int)((key_for(c, from, to, slot) >> (s == &c->send ? 3 : 33)) % LAYOUTS);
}

static size_t extent_of(const struct call *c, int layout)
{
    return (size_t)layouts[layout].extent * c->kind->size;
}

static size_t span_of(const struct call *c, const struct block *b)
{
    return b->scalars / (size_t)layouts[b->layout].per * extent_of(c, b->layout);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void add(struct call *c, struct side *s, int from, int to, int slot)
{
    EXPECT(s->n < MOST_BLOCKS);
    struct block *b = &s->blocks[s->n++];
    /* Nobody's blocks have a size, too: that of a grid's edge. */
    const int a = from == NOBODY ? to : from;
    *b = (struct block){.from = from,
                        .to = to,
                        .slot = slot,
                        .layout = layout_of(c, s, a, to, slot),
                        .scalars = scalars_of(c, a, to, slot)};
}

/* Where blocks lie; the arguments that say so. */
static void lay_out(struct call *c, struct side *s)
{
    const bool bytes = c->what == ALLTOALLW, counts = call_has_counts(c);
    size_t     at = 0;
    for (int k = 0; k < s->n; k++) {
        const int     i = counts && c->down ? s->n - 1 - k : k;
        struct block *b = &s->blocks[i];
        const size_t  extent = extent_of(c, b->layout);
        b->at = at;
        s->counts[i] = (ctran_count_t)(b->scalars / (size_t)layouts[b->layout].per);
        s->displs[i] = (ctran_aint_t)(bytes ? at : at / extent);
        at += span_of(c, b);
        at += !counts ? 0 : bytes ? (size_t)c->gap * 16 : (size_t)c->gap * extent;
        at = bytes ? (at + 15) / 16 * 16 : at;
    }
    s->bytes = at;
}

static void plan_neighbours(struct call *c)
{
    const struct team *t = c->team;
    const bool         all = c->what == ALLGATHER || c->what == ALLGATHERV;
    if (all) {
        add(c, &c->send, check_rank, TO_ALL, 0);
    }
    for (int i = 0; i < t->nout && !all; i++) {
        add(c, &c->send, check_rank, t->out[i], t->out_slot[i]);
    }
    for (int i = 0; i < t->nin; i++) {
        add(c, &c->recv, t->in[i], all ? TO_ALL : check_rank, all ? 0 : t->in_slot[i]);
    }
}

static void plan_rooted(struct call *c)
{
    const struct team *t = c->team;
    const bool         scatters = c->what == SCATTER || c->what == SCATTERV;
    if (c->what == BCAST) {
        if (c->at_root) {
            add(c, &c->send, check_rank, TO_ALL, 0);
        }
        if (c->at_root || c->takes) {
            add(c, &c->recv, c->root_world, TO_ALL, 0);
        }
        return;
    }
    for (int i = 0; i < t->npeers && c->at_root; i++) {
        if (scatters) {
            add(c, &c->send, check_rank, t->peers[i], 0);
        } else {
            add(c, &c->recv, t->peers[i], TO_ALL, 0);
        }
    }
    if (scatters && c->takes && !(c->in_place && c->at_root)) {
        add(c, &c->recv, c->root_world, check_rank, 0);
    } else if (!scatters && c->gives) {
        add(c, &c->send, check_rank, TO_ALL, 0);
    }
}

static void plan_all(struct call *c)
{
    const struct team *t = c->team;
    const bool         one = !is_alltoall(c);
    for (int i = 0; i < t->npeers; i++) {
        if (!one || i == 0) {
            add(c, &c->send, check_rank, one ? TO_ALL : t->peers[i], 0);
        }
        add(c, &c->recv, t->peers[i], one ? TO_ALL : check_rank, 0);
    }
}

/* In place a rank's blocks lie in recv: a gathered one where it will be, the others where those of
 * the rank that they are for will come. */
static void put_in_place(struct call *c)
{
    for (int i = 0; i < c->send.n; i++) {
        struct block *b = &c->send.blocks[i];
        for (int j = 0; j < c->recv.n; j++) {
            const struct block *r = &c->recv.blocks[j];
            if (is_alltoall(c) ? r->from == b->to : r->from == b->from) {
                b->at = r->at;
                b->layout = r->layout;
            }
        }
    }
}

/* ---- reductions ------------------------------------------------------------------------------ */

static void reduce_block(struct call *c, struct side *s, size_t scalars)
{
    s->blocks[s->n++] =
        (struct block){.from = check_rank, .to = TO_ALL, .layout = s->layout, .scalars = scalars};
    s->bytes = span_of(c, &s->blocks[0]);
}

/* Blocks of the ranks of this group, and what they add up to: the same in the other group. */
static size_t plan_shares(struct call *c)
{
    const struct team *t = c->team;
    size_t             left = c->each, whole = 0, share;
    for (int i = 0; i < t->n; i++) {
        if (c->what == REDUCE_SCATTER_BLOCK) {
            share = c->each / (size_t)t->n;
        } else if (t->shape == INTER) {
            share = key_for(c, t->own[i], 0, 1) % (c->most + 1);
            share = whole_elements(c, share);
            share = i == t->n - 1 || share > left ? left : share;
        } else {
            share = scalars_of(c, t->own[i], TO_ALL, 0);
        }
        c->recv.counts[i] = (ctran_count_t)(share / (size_t)layouts[c->recv.layout].per);
        c->first += i < t->me ? share : 0;
        whole += share;
        left -= t->shape == INTER ? share : 0;
    }
    return whole;
}

static void plan_reduction(struct call *c)
{
    const struct team *t = c->team;
    const bool         shares = c->what == REDUCE_SCATTER || c->what == REDUCE_SCATTER_BLOCK;
    size_t             whole = c->each, mine = c->each;
    if (shares) {
        whole = plan_shares(c);
        mine = (size_t)c->recv.counts[t->me] * (size_t)layouts[c->recv.layout].per;
    }
    if (c->gives || c->what != REDUCE) {
        reduce_block(c, &c->send, whole);
    }
    const bool defined = c->what != EXSCAN || t->me > 0;
    if ((c->at_root || c->what != REDUCE) && defined) {
        reduce_block(c, &c->recv, mine);
    }
    if (shares && c->in_place) { /* what is left of the vector behind the result */
        c->loose = c->recv.bytes;
    }
    if (c->in_place && c->recv.bytes < c->send.bytes) {
        c->recv.bytes = c->send.bytes;
    }
    c->send.counts[0] = (ctran_count_t)(c->each / (size_t)layouts[c->send.layout].per);
    if (c->what == REDUCE_SCATTER_BLOCK) {
        c->send.counts[0] = c->recv.counts[0];
    }
}

/* ---- all ------------------------------------------------------------------------------------- */

/* Of blocks as large as every other. A reduced vector is one block of each rank that gets it, in
 * both groups. */
static void size_draw(struct call *c)
{
    const struct team *t = c->team;
    c->each = whole_elements(c, c->most);
    if (c->what == REDUCE_SCATTER_BLOCK) {
        const size_t parts = (size_t)t->n * (t->shape == INTER ? (size_t)t->npeers : 1);
        c->each = whole_elements(c, c->most / parts) * parts;
    }
}

static bool is_rooted(const struct call *c)
{
    return (c->what >= BCAST && c->what <= SCATTERV) || c->what == REDUCE;
}

bool call_plan(struct call *c, const struct team *teams, int nteams, int number, bool steady)
{
    uint64_t rng = rng_of(0x3edUL << 32 | (uint64_t)(unsigned)number);
    *c = (struct call){
        .number = number, .key = rng_next(&rng), .loose = SIZE_MAX, .request = CTRAN_REQUEST_NULL};
    c->team = &teams[rng_below(&rng, nteams)];
    call_draw(c, &rng);
    if (steady) {
        c->form = BLOCKING;
    }
    if (c->team->comm == CTRAN_COMM_NULL) {
        return false;
    }
    root_draw(c, &rng);
    if (is_rooted(c)) { /* in place is the root's word only */
        c->in_place = c->in_place && c->at_root;
    } else {
        c->gives = c->takes = true;
    }
    size_draw(c);
    if (call_reduces(c)) {
        plan_reduction(c);
        return true;
    }
    if (is_neighbour(c)) {
        plan_neighbours(c);
    } else if (is_rooted(c)) {
        plan_rooted(c);
    } else if (c->what != BARRIER) {
        plan_all(c);
    }
    lay_out(c, &c->send);
    lay_out(c, &c->recv);
    if (c->in_place && c->what != SCATTER && c->what != SCATTERV) {
        put_in_place(c);
    }
    return true;
}
