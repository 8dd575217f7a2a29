/* SPDX-License-Identifier: BSD-3-Clause */
/* Words: see word.h. Only the engine and the tests of words call this. */
#include "word.h"

#include <stdlib.h>
#include <string.h>

/* What `first` is in a word that is no interval; n is smaller. */
enum { NO_ORDER = UINT16_MAX };

static uint64_t mix(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

void word_space_reset(struct word_space *ws, uint32_t n)
{
    ws->n = n;
    ws->stride = (n + 63) / 64;
    ws->used = ws->stride; /* set 0 stands for none */
}

void word_space_fini(struct word_space *ws)
{
    free(ws->bits);
    *ws = (struct word_space){0};
}

uint32_t word_set_new(struct word_space *ws)
{
    if (ws->used + ws->stride > ws->cap) {
        ws->cap = (ws->used + ws->stride) * 2;
        ws->bits = realloc(ws->bits, ws->cap * sizeof(*ws->bits));
        if (ws->bits == NULL) {
            abort();
        }
    }
    memset(ws->bits + ws->used, 0, ws->stride * sizeof(*ws->bits));
    ws->used += ws->stride;
    return (uint32_t)(ws->used / ws->stride - 1);
}

static uint64_t *bits_of(const struct word_space *ws, uint32_t set)
{
    return ws->bits + (size_t)set * ws->stride;
}

void word_set_add(struct word_space *ws, uint32_t set, uint32_t rank)
{
    bits_of(ws, set)[rank / 64] |= (uint64_t)1 << rank % 64;
}

void word_set_merge(struct word_space *ws, uint32_t set, uint32_t other)
{
    for (uint32_t i = 0; i < ws->stride; i++) {
        bits_of(ws, set)[i] |= bits_of(ws, other)[i];
    }
}

uint32_t word_set_count(const struct word_space *ws, uint32_t set)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < ws->stride; i++) {
        count += (uint32_t)__builtin_popcountll(bits_of(ws, set)[i]);
    }
    return count;
}

struct word word_leaf(uint32_t rank, uint32_t block)
{
    return (struct word){.tree = mix(((uint64_t)rank << 32 | block) + 0x9e3779b97f4a7c15u),
                         .block = block,
                         .first = (uint16_t)rank,
                         .len = 1};
}

/* The word's ranks as a set of its own. */
static uint32_t set_of(struct word_space *ws, struct word w)
{
    uint32_t set = word_set_new(ws);
    if (w.set != 0) {
        word_set_merge(ws, set, w.set);
        return set;
    }
    for (uint32_t i = 0; i < w.len; i++) {
        word_set_add(ws, set, (w.first + i) % ws->n);
    }
    return set;
}

static const char *join_sets(struct word_space *ws, struct word a, struct word b, struct word *out)
{
    uint32_t all = set_of(ws, a);
    word_set_merge(ws, all, set_of(ws, b));
    if (word_set_count(ws, all) != (uint32_t)a.len + b.len) {
        return "a contribution would count twice";
    }
    out->set = all;
    out->first = NO_ORDER;
    return NULL;
}

const char *word_join(struct word_space *ws, struct word a, struct word b, struct word *out)
{
    if (!word_defined(a) || !word_defined(b)) {
        return "an operand is undefined";
    }
    if (a.block != b.block) {
        return "operands belong to different blocks";
    }
    if ((uint32_t)a.len + b.len > ws->n) {
        return "a contribution would count twice";
    }
    *out = (struct word){.tree = mix(a.tree * 3 + mix(b.tree)),
                         .block = a.block,
                         .first = a.first,
                         .len = (uint16_t)(a.len + b.len)};
    if (a.set == 0 && b.set == 0 && (a.first + (uint32_t)a.len) % ws->n == b.first) {
        return NULL;
    }
    return join_sets(ws, a, b, out);
}

bool word_is_leaf(struct word w, uint32_t rank, uint32_t block)
{
    return w.len == 1 && w.first == rank && w.block == block;
}

bool word_is_prefix(struct word w, uint32_t count, uint32_t block)
{
    return w.len == count && w.first == 0 && w.set == 0 && w.block == block;
}

bool word_is_full(const struct word_space *ws, struct word w, uint32_t block, bool ordered)
{
    if (w.len != ws->n || w.block != block) {
        return false;
    }
    return !ordered || (w.set == 0 && w.first == 0);
}
