/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * types - derived datatypes in messages: random layouts of the same scalars at the two ends, eager
 * and rendezvous, in every kind of send; types freed while they are in use; messages that are
 * longer than 4 GiB. Model: tests/typemap.c. Usage: types [SEED]
 */
#include "types.h"

#include "foreign.h"

/* ---- models made real ------------------------------------------------------------------------ */

static ctran_datatype_t real_one(const struct tm_type *t, const ctran_datatype_t *old)
{
    ctran_datatype_t out = CTRAN_DATATYPE_NULL;
    switch (t->combiner) {
    case CTRAN_COMBINER_DUP:
        OK(ctran_type_dup(old[0], &out));
        break;
    case CTRAN_COMBINER_CONTIGUOUS:
        OK(ctran_type_contiguous(t->n, old[0], &out));
        break;
    case CTRAN_COMBINER_VECTOR:
        OK(ctran_type_vector(t->n, t->len, t->stride, old[0], &out));
        break;
    case CTRAN_COMBINER_HVECTOR:
        OK(ctran_type_create_hvector(t->n, t->len, t->stride, old[0], &out));
        break;
    case CTRAN_COMBINER_INDEXED:
        OK(ctran_type_indexed(t->count, t->lens, t->displs, old[0], &out));
        break;
    case CTRAN_COMBINER_HINDEXED:
        OK(ctran_type_create_hindexed(t->count, t->lens, t->displs, old[0], &out));
        break;
    case CTRAN_COMBINER_INDEXED_BLOCK:
        OK(ctran_type_create_indexed_block(t->count, t->len, t->displs, old[0], &out));
        break;
    case CTRAN_COMBINER_HINDEXED_BLOCK:
        OK(ctran_type_create_hindexed_block(t->count, t->len, t->displs, old[0], &out));
        break;
    case CTRAN_COMBINER_STRUCT:
        OK(ctran_type_create_struct(t->count, t->lens, t->displs, old, &out));
        break;
    case CTRAN_COMBINER_SUBARRAY:
        OK(ctran_type_create_subarray(t->count, t->sizes, t->subsizes, t->starts, t->order, old[0],
                                      &out));
        break;
    case CTRAN_COMBINER_DARRAY:
        OK(ctran_type_create_darray(t->size, t->rank, t->count, t->sizes, t->distribs, t->dargs,
                                    t->psizes, t->order, old[0], &out));
        break;
    default:
        OK(ctran_type_create_resized(old[0], t->lb, t->extent, &out));
    }
    return out;
}

/* One of types_other is a struct of all its scalars. */
static ctran_datatype_t real_scattered(const struct tm_type *t)
{
    size_t            n = t->map.n;
    ctran_count_t    *lens = malloc(n * sizeof *lens), *displs = malloc(n * sizeof *displs);
    ctran_datatype_t *types = malloc(n * sizeof *types), all, out;
    EXPECT(lens != NULL && displs != NULL && types != NULL);
    for (size_t i = 0; i < n; i++) {
        lens[i] = 1;
        displs[i] = t->map.entries[i].at;
        types[i] = t->map.entries[i].scalar;
    }
    OK(ctran_type_create_struct((ctran_count_t)n, lens, displs, types, &all));
    OK(ctran_type_create_resized(all, t->lb, t->extent, &out));
    OK(ctran_type_free(&all));
    free(lens);
    free(displs);
    free(types);
    return out;
}

ctran_datatype_t types_real(const struct tm_type *t)
{
    ctran_datatype_t old[TM_MOST_PARTS];
    if (t->combiner == CTRAN_COMBINER_NAMED) {
        return t->scalar;
    }
    if (t->child[0] == NULL) {
        return real_scattered(t);
    }
    for (int i = 0; i < TM_MOST_PARTS && t->child[i] != NULL; i++) {
        old[i] = types_real(t->child[i]);
    }
    ctran_datatype_t out = real_one(t, old);
    for (int i = 0; i < TM_MOST_PARTS && t->child[i] != NULL; i++) {
        if (t->child[i]->combiner != CTRAN_COMBINER_NAMED) {
            OK(ctran_type_free(&old[i]));
        }
    }
    return out;
}

struct tm_type *types_random(uint64_t *rng, size_t count)
{
    for (;;) {
        uint64_t        seed = rng_next(rng) | 1;
        struct tm_type *t = tm_random(&seed, 3);
        if (t->map.n > 0 && !tm_overlaps(&t->map, count)) {
            return t;
        }
        tm_free(t);
    }
}

struct tm_type *types_other(const struct tm_map *map, uint64_t *rng)
{
    struct tm_type *t = calloc(1, sizeof *t);
    size_t         *order = malloc(map->n * sizeof *order);
    EXPECT(t != NULL && order != NULL);
    t->combiner = CTRAN_COMBINER_STRUCT;
    t->map.n = map->n;
    t->map.entries = malloc(map->n * sizeof *map->entries);
    EXPECT(t->map.entries != NULL);
    for (size_t i = 0; i < map->n; i++) {
        order[i] = i;
    }
    for (size_t i = map->n; rng_below(rng, 2) == 0 && i > 1; i--) { /* half: shuffled from behind */
        size_t k = (size_t)rng_below(rng, (int)i), swap = order[k];
        order[k] = order[i - 1];
        order[i - 1] = swap;
    }
    ptrdiff_t at = rng_below(rng, 20) - 10;
    t->lb = at;
    for (size_t i = 0; i < map->n; i++) {
        t->map.entries[order[i]] = map->entries[order[i]];
        t->map.entries[order[i]].at = at;
        at += (ptrdiff_t)map->entries[order[i]].len + (rng_below(rng, 3) == 0 ? 3 : 0);
    }
    t->extent = at - t->lb + rng_below(rng, 9);
    t->map.marked = true;
    t->map.lb_marker = t->lb;
    t->map.ub_marker = t->lb + t->extent;
    free(order);
    return t;
}

/* ---- memory ---------------------------------------------------------------------------------- */

void types_field_new(struct types_field *f, const struct tm_map *map, size_t count)
{
    ptrdiff_t from, to;
    tm_reach(map, count, &from, &to);
    *f = (struct types_field){.map = map, .count = count, .span = (size_t)(to - from)};
    f->mem = guarded_new(f->span);
    f->at = (unsigned char *)((uintptr_t)f->mem - (uintptr_t)from);
}

void types_field_fill(struct types_field *f, const unsigned char *flat)
{
    tm_unpack(f->map, f->at, f->count, flat);
}

void types_field_expect(const char *file, int line, const struct types_field *f,
                        const unsigned char *flat)
{
    unsigned char *want = malloc(f->span + 1);
    EXPECT(want != NULL);
    memset(want, CANARY, f->span);
    tm_unpack(f->map, want + (f->at - f->mem), f->count, flat);
    for (size_t i = 0; i < f->span; i++) {
        if (want[i] != f->mem[i]) {
            check_fail(file, line, "byte %zu of %zu: wanted %02x, found %02x", i, f->span, want[i],
                       f->mem[i]);
        }
    }
    free(want);
    check_guarded(file, line, f->mem, f->span, f->span);
}

void types_field_free(struct types_field *f)
{
    guarded_free(f->mem);
}

unsigned char *types_flat(size_t len, uint64_t key)
{
    unsigned char *flat = malloc(len + 8);
    EXPECT(flat != NULL);
    content_fill(flat, len, key);
    return flat;
}

/* ---- messages -------------------------------------------------------------------------------- */

static int right(void)
{
    return (check_rank + 1) % check_size;
}

static int left(void)
{
    return (check_rank + check_size - 1) % check_size;
}

/* A message to the right and one from the left, in one of many ways; the types are freed as soon
 * as the standard lets go of them. */
static void exchange(const struct types_field *out, ctran_datatype_t *sent,
                     const struct types_field *in, ctran_datatype_t *received, int way)
{
    ctran_request_t reqs[2];
    ctran_status_t  status;
    ctran_count_t   n = (ctran_count_t)out->count, m = (ctran_count_t)in->count, got;
    ctran_message_t message;
    switch (way) {
    case 0:
        OK(ctran_irecv(in->at, m, *received, left(), 1, CTRAN_COMM_WORLD, &reqs[0]));
        OK(ctran_isend(out->at, n, *sent, right(), 1, CTRAN_COMM_WORLD, &reqs[1]));
        break;
    case 1: /* the receive comes after the message */
        OK(ctran_issend(out->at, n, *sent, right(), 1, CTRAN_COMM_WORLD, &reqs[1]));
        OK(ctran_mprobe(left(), 1, CTRAN_COMM_WORLD, &message, &status));
        OK(ctran_get_count(&status, *received, &got));
        EXPECT_EQ(m, got);
        OK(ctran_imrecv(in->at, m, *received, &message, &reqs[0]));
        break;
    case 2:
        OK(ctran_recv_init(in->at, m, *received, CTRAN_ANY_SOURCE, 1, CTRAN_COMM_WORLD, &reqs[0]));
        OK(ctran_send_init(out->at, n, *sent, right(), 1, CTRAN_COMM_WORLD, &reqs[1]));
        break;
    default:
        OK(ctran_sendrecv(out->at, n, *sent, right(), 1, in->at, m, *received, left(), 1,
                          CTRAN_COMM_WORLD, &status));
    }
    OK(ctran_type_free(sent));
    OK(ctran_type_free(received));
    if (way == 2) {
        OK(ctran_startall(2, reqs));
    }
    if (way <= 2) {
        OK(ctran_waitall(2, reqs, CTRAN_STATUSES_IGNORE));
    }
    for (int i = 0; way == 2 && i < 2; i++) {
        OK(ctran_request_free(&reqs[i]));
    }
}

static void one_message(uint64_t *rng, size_t bytes)
{
    struct tm_type    *a = types_random(rng, 4), *b = types_other(&a->map, rng);
    size_t             size = tm_size(&a->map), count = 1 + (size_t)rng_below(rng, 3);
    struct types_field out, in;
    bool               swap = rng_below(rng, 2) == 0;
    if (!tm_overlaps(&a->map, 3)) {
        size_t most = bytes / size + 1;
        count = 1 + (size_t)rng_below(rng, (int)(most < 1000000 ? most : 1000000));
        count = tm_overlaps(&a->map, count) ? 4 : count;
    }
    types_field_new(&out, swap ? &b->map : &a->map, count);
    types_field_new(&in, swap ? &a->map : &b->map, count);
    unsigned char *mine = types_flat(size * count, key_of(check_rank, right(), 0, 0));
    unsigned char *theirs = types_flat(size * count, key_of(left(), check_rank, 0, 0));
    types_field_fill(&out, mine);
    ctran_datatype_t sent = types_real(swap ? b : a), received = types_real(swap ? a : b), dup;
    OK(ctran_type_dup(sent, &dup)); /* what is predefined cannot be freed: a copy can */
    sent = (a->combiner == CTRAN_COMBINER_NAMED && !swap) ? dup : (OK(ctran_type_free(&dup)), sent);
    if (a->combiner == CTRAN_COMBINER_NAMED && swap) {
        OK(ctran_type_dup(received, &received));
    }
    OK(ctran_type_commit(&sent));
    OK(ctran_type_commit(&received));
    exchange(&out, &sent, &in, &received, rng_below(rng, 4));
    EXPECT_FIELD(&in, theirs);
    free(mine);
    free(theirs);
    types_field_free(&out);
    types_field_free(&in);
    tm_free(a);
    tm_free(b);
}

static void random_messages(void)
{
    uint64_t rng = rng_of(1);
    for (int i = 0; i < 150; i++) {
        one_message(&rng, 1000);
    }
    for (int i = 0; i < 25; i++) {
        one_message(&rng, 100000);
    }
}

/* What a send and its receive take when the other end has no gaps. */
static void packed_ends(void)
{
    uint64_t rng = rng_of(2);
    for (int i = 0; i < 60; i++) {
        struct tm_type    *t = types_random(&rng, 50);
        size_t             count = (size_t)rng_below(&rng, 50), len = tm_size(&t->map) * count;
        struct types_field f;
        ctran_datatype_t   type = types_real(t);
        unsigned char     *flat = types_flat(len, 7), *got = guarded_new(len);
        ctran_request_t    req;
        OK(ctran_type_commit(&type));
        types_field_new(&f, &t->map, count);
        types_field_fill(&f, flat);
        OK(ctran_irecv(got, (ctran_count_t)len, CTRAN_PACKED, left(), 2, CTRAN_COMM_WORLD, &req));
        OK(ctran_send(f.at, (ctran_count_t)count, type, right(), 2, CTRAN_COMM_WORLD));
        OK(ctran_wait(&req, CTRAN_STATUS_IGNORE));
        EXPECT(memcmp(got, flat, len) == 0);
        types_field_free(&f);
        types_field_new(&f, &t->map, count);
        OK(ctran_irecv(f.at, (ctran_count_t)count, type, left(), 3, CTRAN_COMM_WORLD, &req));
        OK(ctran_send(flat, (ctran_count_t)len, CTRAN_BYTE, right(), 3, CTRAN_COMM_WORLD));
        OK(ctran_wait(&req, CTRAN_STATUS_IGNORE));
        EXPECT_FIELD(&f, flat);
        if (t->combiner != CTRAN_COMBINER_NAMED) {
            OK(ctran_type_free(&type));
        }
        types_field_free(&f);
        guarded_free(got);
        free(flat);
        tm_free(t);
    }
}

/* A buffered send and an exchange in place take copies. */
static void copies(void)
{
    enum { N = 3000 };
    static int       m[N][2], attached[N + 4096];
    ctran_datatype_t column;
    ctran_count_t    size;
    void            *back;
    ctran_request_t  req;
    OK(ctran_type_vector(N, 1, 2, CTRAN_INT, &column));
    OK(ctran_type_commit(&column));
    OK(ctran_buffer_attach(foreign_exempt(attached, sizeof attached), sizeof attached));
    for (int i = 0; i < N; i++) {
        m[i][0] = check_rank * N + i;
        m[i][1] = -1;
    }
    OK(ctran_sendrecv_replace(m, 1, column, right(), 4, left(), 4, CTRAN_COMM_WORLD,
                              CTRAN_STATUS_IGNORE));
    for (int i = 0; i < N; i++) {
        EXPECT_EQ(left() * N + i, m[i][0]);
        EXPECT_EQ(-1, m[i][1]);
    }
    OK(ctran_irecv(&m[0][1], 1, column, left(), 5, CTRAN_COMM_WORLD, &req));
    OK(ctran_bsend(m, 1, column, right(), 5, CTRAN_COMM_WORLD));
    OK(ctran_wait(&req, CTRAN_STATUS_IGNORE));
    for (int i = 0; i < N; i++) {
        EXPECT_EQ(((check_rank + 2 * check_size - 2) % check_size) * N + i, m[i][1]);
    }
    OK(ctran_buffer_detach(&back, &size));
    OK(ctran_type_free(&column));
}

/* Absolute addresses. */
static void bottom(void)
{
    int              n = check_rank;
    double           x = check_rank * 2.0, got[2];
    ctran_aint_t     at[2];
    ctran_datatype_t both, types[2] = {CTRAN_INT, CTRAN_DOUBLE};
    ctran_request_t  req;
    OK(ctran_get_address(&n, &at[0]));
    OK(ctran_get_address(&x, &at[1]));
    EXPECT_EQ(at[1], ctran_aint_add(at[0], ctran_aint_diff(at[1], at[0])));
    ctran_count_t lens[2] = {1, 1}, displs[2] = {at[0], at[1]};
    OK(ctran_type_create_struct(2, lens, displs, types, &both));
    OK(ctran_type_commit(&both));
    OK(ctran_irecv(got, sizeof(int) + sizeof(double), CTRAN_BYTE, left(), 6, CTRAN_COMM_WORLD,
                   &req));
    OK(ctran_send(CTRAN_BOTTOM, 1, both, right(), 6, CTRAN_COMM_WORLD));
    OK(ctran_wait(&req, CTRAN_STATUS_IGNORE));
    memcpy(&n, got, sizeof n);
    memcpy(&x, (char *)got + sizeof n, sizeof x);
    EXPECT_EQ(left(), n);
    EXPECT(x == left() * 2.0);
    OK(ctran_type_free(&both));
}

/* More than 4 GiB, and more than 2^31 elements, from and to a page that is named again and again
 * (to receive so is against the standard; here the order of writes is known). */
static void long_message(void)
{
    enum { PAGE = 1 << 16 };
    static unsigned char page[PAGE];
    const ctran_count_t  blocks = (4ll << 30) / PAGE + 3;
    ctran_datatype_t     many;
    ctran_status_t       status;
    ctran_count_t        count;
    if (check_size < 2 || getenv("CT_LONG") == NULL) {
        return;
    }
    OK(ctran_type_create_hvector(blocks, PAGE, 0, CTRAN_BYTE, &many));
    OK(ctran_type_commit(&many));
    OK(ctran_type_size(many, &count));
    EXPECT_EQ(blocks * PAGE, count);
    if (check_rank == 0) {
        memset(page, 7, sizeof page);
        OK(ctran_send(page, 1, many, 1, 7, CTRAN_COMM_WORLD));
    } else if (check_rank == 1) {
        OK(ctran_recv(page, 1, many, 0, 7, CTRAN_COMM_WORLD, &status));
        OK(ctran_get_count(&status, CTRAN_BYTE, &count));
        EXPECT_EQ(blocks * PAGE, count);
        OK(ctran_get_elements(&status, many, &count));
        EXPECT_EQ(blocks * PAGE, count);
        EXPECT_EQ(7, page[PAGE - 1]);
    }
    OK(ctran_type_free(&many));
}

int main(int argc, char **argv)
{
    static const struct subject subjects[] = {
        {"random messages", random_messages},
        {"packed ends", packed_ends},
        {"copies", copies},
        {"absolute addresses", bottom},
        {"collectives", types_collectives},
        {"reductions", types_reductions},
        {"contents", types_contents},
        {"attributes", types_attributes},
        {"counts", types_counts},
        {"packing", types_packing},
        {"errors", types_errors},
        {"long message", long_message},
    };
    check_start(argc, argv);
    check_run(subjects, LEN(subjects));
    return check_end();
}
