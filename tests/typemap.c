/* SPDX-License-Identifier: BSD-3-Clause */
/* Type maps, written out. No cleverness: this is what the library is held against. */
#include "typemap.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * 0x2545f4914f6cdd1du;
}

static int below(uint64_t *seed, int n)
{
    return (int)((next(seed) >> 33) % (uint64_t)n);
}

/* ---- maps ------------------------------------------------------------------------------------ */

static void add_entry(struct tm_map *m, struct tm_entry e)
{
    if (m->n == m->room) {
        m->room = m->room * 2 + 16;
        m->entries = realloc(m->entries, m->room * sizeof *m->entries);
        assert(m->entries != NULL);
    }
    m->entries[m->n++] = e;
}

static void add_markers(struct tm_map *m, ptrdiff_t lb, ptrdiff_t ub)
{
    m->lb_marker = !m->marked || lb < m->lb_marker ? lb : m->lb_marker;
    m->ub_marker = !m->marked || ub > m->ub_marker ? ub : m->ub_marker;
    m->marked = true;
}

/* One element of `old` at a displacement. */
static void add_map(struct tm_map *m, const struct tm_map *old, ptrdiff_t at)
{
    for (size_t i = 0; i < old->n; i++) {
        struct tm_entry e = old->entries[i];
        e.at += at;
        add_entry(m, e);
    }
    if (old->marked) {
        add_markers(m, old->lb_marker + at, old->ub_marker + at);
    }
}

static void add_block(struct tm_map *m, const struct tm_map *old, ptrdiff_t at, ctran_count_t len)
{
    for (ctran_count_t i = 0; i < len; i++) {
        add_map(m, old, at + i * tm_extent(old));
    }
}

size_t tm_size(const struct tm_map *m)
{
    size_t size = 0;
    for (size_t i = 0; i < m->n; i++) {
        size += m->entries[i].len;
    }
    return size;
}

static ptrdiff_t true_ub(const struct tm_map *m)
{
    ptrdiff_t ub = 0;
    for (size_t i = 0; i < m->n; i++) {
        ptrdiff_t end = m->entries[i].at + (ptrdiff_t)m->entries[i].len;
        ub = i == 0 || end > ub ? end : ub;
    }
    return ub;
}

ptrdiff_t tm_true_lb(const struct tm_map *m)
{
    ptrdiff_t lb = 0;
    for (size_t i = 0; i < m->n; i++) {
        lb = i == 0 || m->entries[i].at < lb ? m->entries[i].at : lb;
    }
    return lb;
}

ptrdiff_t tm_true_extent(const struct tm_map *m)
{
    return true_ub(m) - tm_true_lb(m);
}

ptrdiff_t tm_lb(const struct tm_map *m)
{
    return m->marked ? m->lb_marker : tm_true_lb(m);
}

ptrdiff_t tm_extent(const struct tm_map *m)
{
    if (m->marked) {
        return m->ub_marker - m->lb_marker;
    }
    ptrdiff_t extent = tm_true_extent(m), align = 1;
    for (size_t i = 0; i < m->n; i++) {
        align = (ptrdiff_t)m->entries[i].align > align ? (ptrdiff_t)m->entries[i].align : align;
    }
    while (extent % align != 0) {
        extent++;
    }
    return extent;
}

void tm_reach(const struct tm_map *m, size_t count, ptrdiff_t *from, ptrdiff_t *to)
{
    ptrdiff_t last = count > 0 ? (ptrdiff_t)(count - 1) * tm_extent(m) : 0;
    *from = *to = 0;
    if (count > 0 && m->n > 0) {
        *from = tm_true_lb(m) + (last < 0 ? last : 0);
        *to = true_ub(m) + (last > 0 ? last : 0);
    }
}

bool tm_overlaps(const struct tm_map *m, size_t count)
{
    ptrdiff_t from, to, extent = tm_extent(m);
    bool      found = false;
    tm_reach(m, count, &from, &to);
    unsigned char *seen = calloc(1, (size_t)(to - from) + 1);
    assert(seen != NULL);
    for (size_t c = 0; c < count; c++) {
        for (size_t i = 0; i < m->n; i++) {
            for (size_t k = 0; k < m->entries[i].len; k++) {
                ptrdiff_t at = (ptrdiff_t)c * extent + m->entries[i].at + (ptrdiff_t)k - from;
                found = found || seen[at];
                seen[at] = 1;
            }
        }
    }
    free(seen);
    return found;
}

void tm_pack(const struct tm_map *m, const unsigned char *at, size_t count, unsigned char *flat)
{
    ptrdiff_t extent = tm_extent(m);
    for (size_t c = 0; c < count; c++) {
        for (size_t i = 0; i < m->n; i++) {
            for (size_t k = 0; k < m->entries[i].len; k++) {
                *flat++ = at[(ptrdiff_t)c * extent + m->entries[i].at + (ptrdiff_t)k];
            }
        }
    }
}

void tm_unpack(const struct tm_map *m, unsigned char *at, size_t count, const unsigned char *flat)
{
    ptrdiff_t extent = tm_extent(m);
    for (size_t c = 0; c < count; c++) {
        for (size_t i = 0; i < m->n; i++) {
            for (size_t k = 0; k < m->entries[i].len; k++) {
                at[(ptrdiff_t)c * extent + m->entries[i].at + (ptrdiff_t)k] = *flat++;
            }
        }
    }
}

/* ---- constructors ---------------------------------------------------------------------------- */

/* The elements of an array of which `is_in` says that they belong, in the order of memory. */
static void add_array(struct tm_type *t, bool (*is_in)(const struct tm_type *, const int *index))
{
    const struct tm_map *old = &t->child[0]->map;
    ptrdiff_t            all = 1;
    for (int d = 0; d < t->count; d++) {
        all *= t->sizes[d];
    }
    for (ptrdiff_t i = 0; i < all; i++) {
        int       index[TM_MOST_DIMS];
        ptrdiff_t rest = i;
        for (int k = 0; k < t->count; k++) {
            int d = t->order == CTRAN_ORDER_C ? t->count - 1 - k : k;
            index[d] = (int)(rest % t->sizes[d]);
            rest /= t->sizes[d];
        }
        if (is_in(t, index)) {
            struct tm_map plain = *old; /* the array's own markers are the only ones */
            plain.marked = false;
            add_map(&t->map, &plain, i * tm_extent(old));
        }
    }
    add_markers(&t->map, 0, all * tm_extent(old));
}

static bool in_subarray(const struct tm_type *t, const int *index)
{
    bool in = true;
    for (int d = 0; d < t->count; d++) {
        in = in && index[d] >= t->starts[d] && index[d] < t->starts[d] + t->subsizes[d];
    }
    return in;
}

/* The process that has `index` in dimension d. */
static int owner(const struct tm_type *t, int d, int index)
{
    int size = (int)t->sizes[d], n = t->psizes[d], arg = t->dargs[d];
    switch (t->distribs[d]) {
    case CTRAN_DISTRIBUTE_BLOCK:
        return index / (arg == CTRAN_DISTRIBUTE_DFLT_DARG ? (size + n - 1) / n : arg);
    case CTRAN_DISTRIBUTE_CYCLIC:
        return index / (arg == CTRAN_DISTRIBUTE_DFLT_DARG ? 1 : arg) % n;
    default:
        return 0;
    }
}

static bool in_darray(const struct tm_type *t, const int *index)
{
    int place = 0; /* the rank of the owner in the grid, row by row */
    for (int d = 0; d < t->count; d++) {
        place = place * t->psizes[d] + owner(t, d, index[d]);
    }
    return place == t->rank;
}

static void write_out(struct tm_type *t)
{
    const struct tm_map *old = &t->child[0]->map;
    ptrdiff_t            extent = tm_extent(old);
    switch (t->combiner) {
    case CTRAN_COMBINER_CONTIGUOUS:
        add_block(&t->map, old, 0, t->n);
        break;
    case CTRAN_COMBINER_VECTOR:
    case CTRAN_COMBINER_HVECTOR:
        for (ctran_count_t i = 0; i < t->n; i++) {
            ptrdiff_t unit = t->combiner == CTRAN_COMBINER_VECTOR ? extent : 1;
            add_block(&t->map, old, i * t->stride * unit, t->len);
        }
        break;
    case CTRAN_COMBINER_INDEXED:
    case CTRAN_COMBINER_INDEXED_BLOCK:
    case CTRAN_COMBINER_HINDEXED:
    case CTRAN_COMBINER_HINDEXED_BLOCK:
        for (int i = 0; i < t->count; i++) {
            bool in_bytes = t->combiner == CTRAN_COMBINER_HINDEXED ||
                            t->combiner == CTRAN_COMBINER_HINDEXED_BLOCK;
            add_block(&t->map, old, t->displs[i] * (in_bytes ? 1 : extent), t->lens[i]);
        }
        break;
    case CTRAN_COMBINER_STRUCT:
        for (int i = 0; i < t->count; i++) {
            add_block(&t->map, &t->child[i]->map, t->displs[i], t->lens[i]);
        }
        break;
    case CTRAN_COMBINER_SUBARRAY:
        add_array(t, in_subarray);
        break;
    case CTRAN_COMBINER_DARRAY:
        add_array(t, in_darray);
        break;
    case CTRAN_COMBINER_RESIZED: {
        struct tm_map plain = *old;
        plain.marked = false;
        add_map(&t->map, &plain, 0);
        add_markers(&t->map, t->lb, t->lb + t->extent);
        break;
    }
    default: /* dup */
        add_map(&t->map, old, 0);
    }
}

/* ---- random types ---------------------------------------------------------------------------- */

/* A pair counts as two scalars, the second one an int. */
static struct tm_type *scalar(uint64_t *seed)
{
    static const struct {
        ctran_datatype_t type;
        size_t           len, align, index_at;
        ctran_datatype_t first;
    } all[] = {
        {CTRAN_CHAR, 1, 1, 0, CTRAN_CHAR},
        {CTRAN_SHORT, sizeof(short), _Alignof(short), 0, CTRAN_SHORT},
        {CTRAN_INT, sizeof(int), _Alignof(int), 0, CTRAN_INT},
        {CTRAN_INT64_T, 8, _Alignof(int64_t), 0, CTRAN_INT64_T},
        {CTRAN_DOUBLE, sizeof(double), _Alignof(double), 0, CTRAN_DOUBLE},
        {CTRAN_FLOAT, sizeof(float), _Alignof(float), 0, CTRAN_FLOAT},
        {CTRAN_BYTE, 1, 1, 0, CTRAN_BYTE},
        {CTRAN_LONG_DOUBLE, sizeof(long double), _Alignof(long double), 0, CTRAN_LONG_DOUBLE},
        {CTRAN_2INT, sizeof(int), _Alignof(int), sizeof(int), CTRAN_INT},
        {CTRAN_SHORT_INT, sizeof(short), _Alignof(short), sizeof(int), CTRAN_SHORT},
        {CTRAN_DOUBLE_INT, sizeof(double), _Alignof(double), sizeof(double), CTRAN_DOUBLE},
    };
    struct tm_type *t = calloc(1, sizeof *t);
    int             i = below(seed, (int)(sizeof all / sizeof *all));
    assert(t != NULL);
    t->combiner = CTRAN_COMBINER_NAMED;
    t->scalar = all[i].type;
    add_entry(&t->map, (struct tm_entry){0, all[i].first, all[i].len, all[i].align});
    if (all[i].index_at > 0) {
        add_entry(&t->map, (struct tm_entry){(ptrdiff_t)all[i].index_at, CTRAN_INT, sizeof(int),
                                             _Alignof(int)});
    }
    return t;
}

static void random_array(struct tm_type *t, uint64_t *seed)
{
    t->count = 1 + below(seed, TM_MOST_DIMS);
    t->order = below(seed, 2) ? CTRAN_ORDER_C : CTRAN_ORDER_FORTRAN;
    t->size = 1;
    for (int d = 0; d < t->count; d++) {
        int size = 1 + below(seed, 6);
        t->sizes[d] = size;
        t->subsizes[d] = 1 + below(seed, size);
        t->starts[d] = below(seed, size - (int)t->subsizes[d] + 1);
        t->distribs[d] = CTRAN_DISTRIBUTE_NONE + below(seed, 3);
        t->psizes[d] = t->distribs[d] == CTRAN_DISTRIBUTE_NONE ? 1 : 1 + below(seed, 4);
        t->dargs[d] = CTRAN_DISTRIBUTE_DFLT_DARG;
        if (below(seed, 2) == 0) {
            int least = t->distribs[d] == CTRAN_DISTRIBUTE_BLOCK
                            ? (size + t->psizes[d] - 1) / t->psizes[d]
                            : 1;
            t->dargs[d] = least + below(seed, 3);
        }
        t->size *= t->psizes[d];
    }
    t->rank = below(seed, t->size);
}

static void random_numbers(struct tm_type *t, uint64_t *seed)
{
    bool same =
        t->combiner == CTRAN_COMBINER_INDEXED_BLOCK || t->combiner == CTRAN_COMBINER_HINDEXED_BLOCK;
    t->n = below(seed, 5);
    t->len = below(seed, 4);
    t->stride = below(seed, 40) - 12;
    t->lb = below(seed, 40) - 20;
    t->extent = below(seed, 100);
    t->count = below(seed, TM_MOST_PARTS + 1);
    ptrdiff_t at = below(seed, 30) - 10;
    for (int i = 0; i < t->count; i++) {
        t->lens[i] = same ? t->len : below(seed, 4);
        at += below(seed, 4) == 0 ? below(seed, 60) - 30 : below(seed, 5); /* often in order */
        t->displs[i] = at;
    }
}

struct tm_type *tm_random(uint64_t *seed, unsigned depth)
{
    static const int combiners[] = {
        CTRAN_COMBINER_DUP,           CTRAN_COMBINER_CONTIGUOUS,     CTRAN_COMBINER_VECTOR,
        CTRAN_COMBINER_HVECTOR,       CTRAN_COMBINER_INDEXED,        CTRAN_COMBINER_HINDEXED,
        CTRAN_COMBINER_INDEXED_BLOCK, CTRAN_COMBINER_HINDEXED_BLOCK, CTRAN_COMBINER_STRUCT,
        CTRAN_COMBINER_SUBARRAY,      CTRAN_COMBINER_DARRAY,         CTRAN_COMBINER_RESIZED};
    if (depth == 0 || below(seed, 8) == 0) {
        return scalar(seed);
    }
    struct tm_type *t = calloc(1, sizeof *t);
    assert(t != NULL);
    t->combiner = combiners[below(seed, (int)(sizeof combiners / sizeof *combiners))];
    random_numbers(t, seed);
    if (t->combiner == CTRAN_COMBINER_SUBARRAY || t->combiner == CTRAN_COMBINER_DARRAY) {
        random_array(t, seed);
    }
    int children = t->combiner == CTRAN_COMBINER_STRUCT && t->count > 0 ? t->count : 1;
    for (int i = 0; i < children; i++) {
        t->child[i] = tm_random(seed, depth - 1);
    }
    write_out(t);
    if (t->map.n > TM_MOST_ENTRIES) { /* too long to test with */
        tm_free(t);
        return tm_random(seed, depth - 1);
    }
    return t;
}

void tm_free(struct tm_type *t)
{
    for (int i = 0; i < TM_MOST_PARTS && t->child[i] != NULL; i++) {
        tm_free(t->child[i]);
    }
    free(t->map.entries);
    free(t);
}
