/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of all ranks: a word and a mark for every block of every buffer. In place, SEND's
 * cells are RECV's. The engine (prove.c) calls this; it keeps the invariant that a block is
 * written only while no mark is on it but the writer's own, and read only while it is defined and
 * has no writer.
 */
#include <stdlib.h>
#include <string.h>

#include "state.h"

static void grow(struct memory *m, size_t cells)
{
    if (cells > m->cap) {
        free(m->cells);
        free(m->marks);
        m->cells = malloc(cells * sizeof(*m->cells));
        m->marks = malloc(cells * sizeof(*m->marks));
        m->cap = cells;
        if (m->cells == NULL || m->marks == NULL) {
            abort();
        }
    }
    memset(m->cells, 0, cells * sizeof(*m->cells));
    memset(m->marks, 0, cells * sizeof(*m->marks));
}

/* What MPI says the buffers hold at the start; all else is undefined. */
static void fill(struct prove *p, uint32_t me)
{
    for (uint32_t b = 0; b < p->nblk; b++) {
        if (prove_may_touch(p, me, CT_SEND, b, false)) {
            *prove_memory_cell(p, me, CT_SEND, b) = word_leaf(me, b);
        }
        if (p->algo->colls == CT_BCAST && me == p->c->root) {
            *prove_memory_cell(p, me, CT_RECV, b) = word_leaf(me, b);
        }
    }
}

void prove_memory_init(struct prove *p)
{
    struct memory *m = &p->mem;
    uint32_t       tmp = 0;

    for (uint32_t i = 0; i < p->n; i++) {
        tmp = p->tmp[i] > tmp ? p->tmp[i] : tmp;
    }
    p->res->tmp = tmp;
    m->row[CT_SEND] = m->row[CT_RECV] = p->nblk;
    m->row[CT_TMP] = tmp;
    m->base[CT_SEND] = 0;
    m->base[CT_RECV] = (size_t)p->n * p->nblk;
    m->base[CT_TMP] = 2 * m->base[CT_RECV];
    grow(m, m->base[CT_TMP] + (size_t)p->n * tmp);
    word_space_reset(&m->words, p->n);
    for (uint32_t i = 0; i < p->n; i++) {
        fill(p, i);
    }
}

void prove_memory_fini(struct memory *m)
{
    free(m->cells);
    free(m->marks);
    word_space_fini(&m->words);
}

static size_t index_of(struct prove *p, uint32_t me, uint32_t buf, uint32_t place)
{
    if (buf == CT_SEND && p->envs[me].inplace) {
        buf = CT_RECV;
    }
    return p->mem.base[buf] + me * p->mem.row[buf] + place;
}

struct word *prove_memory_cell(struct prove *p, uint32_t me, uint32_t buf, uint32_t place)
{
    return &p->mem.cells[index_of(p, me, buf, place)];
}

static size_t index_in(struct prove *p, uint32_t me, const struct ct_slice *s, uint32_t k)
{
    return index_of(p, me, s->buf, slice_place(p, me, s, k));
}

static bool fail_at(struct prove *p, uint32_t me, const struct ct_slice *s, uint32_t k,
                    const char *why)
{
    static const char *const names[] = {"SEND", "RECV", "TMP"};
    return prove_fail(p, "rank %u: %s[%u]: %s", me, names[s->buf], slice_place(p, me, s, k), why);
}

/* The word there, which must be one of the block that the step is about. */
static bool get(struct prove *p, uint32_t me, const struct ct_step *step, const struct ct_slice *s,
                uint32_t k, struct word *out)
{
    *out = p->mem.cells[index_in(p, me, s, k)];
    if (!word_defined(*out)) {
        return fail_at(p, me, s, k, "is read but undefined");
    }
    if (names_count(p) && out->block != step_block(p, me, step, k)) {
        return fail_at(p, me, s, k, "holds another block than the step says");
    }
    return true;
}

static bool join(struct prove *p, uint32_t me, const struct ct_slice *s, uint32_t k, struct word a,
                 struct word b, struct word *out)
{
    const char *why = word_join(&p->mem.words, a, b, out);
    return why == NULL || fail_at(p, me, s, k, why);
}

static bool local_block(struct prove *p, uint32_t me, const struct ct_step *s, uint32_t k)
{
    size_t      to = index_in(p, me, &s->dst, k), from = index_in(p, me, &s->src, k);
    struct word src, old;

    if (to == from) {
        return fail_at(p, me, &s->dst, k, "is copied to or reduced with itself");
    }
    if (p->mem.marks[to].readers > 0 || p->mem.marks[to].writers > 0) {
        return fail_at(p, me, &s->dst, k, "is overwritten under a transfer");
    }
    if (p->mem.marks[from].writers > 0) {
        return fail_at(p, me, &s->src, k, "is read under a transfer into it");
    }
    if (!get(p, me, s, &s->src, k, &src)) {
        return false;
    }
    if (s->act == CT_COPY) {
        p->mem.cells[to] = src;
        return true;
    }
    if (!get(p, me, s, &s->dst, k, &old)) {
        return false;
    }
    bool swap = (s->flags & CT_SWAP) != 0;
    return join(p, me, &s->dst, k, swap ? src : old, swap ? old : src, &p->mem.cells[to]);
}

bool prove_memory_local(struct prove *p, uint32_t me, const struct ct_step *s)
{
    for (uint32_t k = 0; k < slice_count(&s->dst); k++) {
        if (!local_block(p, me, s, k)) {
            return false;
        }
    }
    return true;
}

static bool mark_read(struct prove *p, uint32_t me, const struct ct_step *step, uint32_t k)
{
    struct mark *mark = &p->mem.marks[index_in(p, me, &step->src, k)];
    struct word  w;

    if (mark->writers > 0) {
        return fail_at(p, me, &step->src, k, "is read while a transfer may write it");
    }
    mark->readers++;
    if (!get(p, me, step, &step->src, k, &w)) {
        return false;
    }
    if (step->act == CT_TX && (p->algo->traits & CT_ONE_SHOT) != 0 &&
        !word_is_leaf(w, me, step_block(p, me, step, k))) {
        return fail_at(p, me, &step->src, k, "is sent in one shot and not what the rank put in");
    }
    return true;
}

static bool mark_written(struct prove *p, uint32_t me, const struct ct_step *step, uint32_t k)
{
    struct mark *mark = &p->mem.marks[index_in(p, me, &step->dst, k)];

    if (mark->writers > 0) {
        return fail_at(p, me, &step->dst, k, "is written by two transfers");
    }
    if (mark->readers > 0) {
        return fail_at(p, me, &step->dst, k, "is overwritten before a transfer has read it");
    }
    mark->writers++;
    return true;
}

/* RX_OP may reduce a block where it lies. */
static bool same_cell(struct prove *p, uint32_t me, const struct ct_step *s, uint32_t k)
{
    return index_in(p, me, &s->dst, k) == index_in(p, me, step_operand(s), k);
}

bool prove_memory_mark(struct prove *p, uint32_t me, const struct ct_step *s)
{
    const struct ct_slice *own = s->act == CT_TX ? &s->src : &s->dst;
    for (uint32_t k = 0; k < slice_count(own); k++) {
        struct word w;
        if (s->act == CT_TX) {
            if (!mark_read(p, me, s, k)) {
                return false;
            }
            continue;
        }
        if (!mark_written(p, me, s, k)) {
            return false;
        }
        if (s->act == CT_RX_OP &&
            !(same_cell(p, me, s, k) ? get(p, me, s, &s->dst, k, &w) : mark_read(p, me, s, k))) {
            return false;
        }
    }
    return true;
}

void prove_memory_unmark(struct prove *p, uint32_t me, const struct ct_step *s)
{
    const struct ct_slice *own = s->act == CT_TX ? &s->src : &s->dst;
    for (uint32_t k = 0; k < slice_count(own); k++) {
        if (s->act == CT_TX || (s->act == CT_RX_OP && !same_cell(p, me, s, k))) {
            p->mem.marks[index_in(p, me, &s->src, k)].readers--;
        }
        if (s->act != CT_TX) {
            p->mem.marks[index_in(p, me, &s->dst, k)].writers--;
        }
    }
}

bool prove_memory_read(struct prove *p, uint32_t me, const struct ct_step *s, struct word *out)
{
    for (uint32_t k = 0; k < slice_count(&s->src); k++) {
        if (!get(p, me, s, &s->src, k, &out[k])) {
            return false;
        }
    }
    return true;
}

bool prove_memory_land(struct prove *p, uint32_t me, const struct ct_step *s, const struct word *in)
{
    bool swap = (s->flags & CT_SWAP) != 0;
    for (uint32_t k = 0; k < slice_count(&s->dst); k++) {
        struct word *to = &p->mem.cells[index_in(p, me, &s->dst, k)], src;
        if (names_count(p) && in[k].block != step_block(p, me, s, k)) {
            return fail_at(p, me, &s->dst, k, "receives another block than the step says");
        }
        if (s->act == CT_RX) {
            *to = in[k];
            continue;
        }
        if (!get(p, me, s, step_operand(s), k, &src) ||
            !join(p, me, &s->dst, k, swap ? src : in[k], swap ? in[k] : src, to)) {
            return false;
        }
    }
    return true;
}

/* Whether MPI defines this block of RECV at the end. */
static bool is_result(const struct prove *p, uint32_t me, uint32_t block)
{
    switch (p->algo->colls) {
    case CT_REDUCE:
    case CT_GATHER:
        return me == p->c->root;
    case CT_REDUCE_SCATTER:
    case CT_SCATTER:
        return me == block;
    case CT_EXSCAN:
        return me > 0;
    default:
        return p->algo->colls != CT_BARRIER;
    }
}

/* Whether the word is the result of a collective that reduces. */
static bool is_reduced(const struct prove *p, uint32_t me, struct word w, uint32_t block)
{
    switch (p->algo->colls) {
    case CT_SCAN:
        return word_is_prefix(w, me + 1, block);
    case CT_EXSCAN:
        return word_is_prefix(w, me, block);
    default:
        return word_is_full(&p->mem.words, w, block, p->c->ordered);
    }
}

/* Whether the word is what a collective that reduces nothing has put there. */
static bool is_moved(const struct prove *p, uint32_t me, struct word w, uint32_t block)
{
    switch (p->algo->colls) {
    case CT_BCAST:
    case CT_SCATTER:
        return word_is_leaf(w, p->c->root, block);
    case CT_ALLTOALL:
        return word_is_leaf(w, block, me);
    default:
        return word_is_leaf(w, block, block);
    }
}

static bool check_block(struct prove *p, uint32_t me, uint32_t block)
{
    struct word w = *prove_memory_cell(p, me, CT_RECV, block);
    bool        right;

    if (prove_reduces(p->algo->colls)) {
        right = is_reduced(p, me, w, block);
    } else {
        right = is_moved(p, me, w, block);
    }
    if (!right) {
        return prove_fail(p, "rank %u: RECV[%u] ends with %u contributions from rank %u on%s", me,
                          block, w.len, w.first, w.set != 0 ? ", not in order" : "");
    }
    if (p->algo->colls == CT_ALLREDUCE && w.tree != prove_memory_cell(p, 0, CT_RECV, block)->tree) {
        return prove_fail(p, "rank %u: RECV[%u] may differ in bits from rank 0's", me, block);
    }
    return true;
}

bool prove_memory_check_result(struct prove *p)
{
    for (uint32_t me = 0; me < p->n; me++) {
        for (uint32_t b = 0; b < p->nblk; b++) {
            if (is_result(p, me, b) && !check_block(p, me, b)) {
                return false;
            }
        }
    }
    return true;
}
