/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One exchange with neighbours: random lengths, places and datatypes, of which the two ends of an
 * edge have equal signatures and different gaps. The same blocks then travel as messages with tags,
 * and both receive buffers are equal in every byte.
 */
#include "neighbor.h"

enum { TYPES = 4, BIGGEST_EXTENT = 20, PAD = 64 };

/* The first is one int, the others are two. */
static ctran_datatype_t types[TYPES] = {CTRAN_INT};

static void make_type(int i, ctran_datatype_t inner, ctran_aint_t extent)
{
    OK(ctran_type_create_resized(inner, 0, extent, &types[i]));
    OK(ctran_type_commit(&types[i]));
    OK(ctran_type_free(&inner));
}

void neighbor_types_init(void)
{
    static const ctran_count_t one[2] = {1, 1}, backwards[2] = {8, 0};
    ctran_datatype_t           inner;
    OK(ctran_type_contiguous(2, CTRAN_INT, &types[1]));
    OK(ctran_type_commit(&types[1]));
    OK(ctran_type_vector(2, 1, 2, CTRAN_INT, &inner));
    make_type(2, inner, BIGGEST_EXTENT);
    OK(ctran_type_create_hindexed(2, one, backwards, CTRAN_INT, &inner));
    make_type(3, inner, 16);
}

void neighbor_types_free(void)
{
    for (int i = 1; i < TYPES; i++) {
        OK(ctran_type_free(&types[i]));
    }
}

static ctran_aint_t extent_of(int type)
{
    static const ctran_aint_t extents[TYPES] = {4, 8, BIGGEST_EXTENT, 16};
    return extents[type];
}

/* One buffer: where each block is in bytes, and as the calls have it. */
struct side {
    ctran_count_t    counts[DEGREE_MAX];
    ctran_aint_t     at[DEGREE_MAX], displs[DEGREE_MAX];
    ctran_datatype_t types[DEGREE_MAX];
    size_t           bytes;
    char            *buf;
};

/* How many pairs of ints go along an edge. */
static int pairs_of(enum kind kind, uint64_t seed, int most, int from, int to, int tag)
{
    uint64_t what = seed;
    if (kind == ALLGATHERV || kind == ALLTOALLV || kind == ALLTOALLW) {
        what = mix(what ^ (uint64_t)from);
    }
    if (kind == ALLTOALLV || kind == ALLTOALLW) {
        what = mix(mix(what ^ (uint64_t)to) ^ (uint64_t)tag);
    }
    return (int)(mix(what) % (uint64_t)(most + 1));
}

/* `even`: one block after the other, as the calls without counts have it; `mixed`: a type of its
 * own for each. Blocks lie in a random order else, with holes between them. */
static void lay_out(struct side *s, int n, const int *pairs, bool even, bool mixed, uint64_t *rng)
{
    int order[DEGREE_MAX], type = rng_below(rng, TYPES);
    for (int i = 0; i < n; i++) {
        int j = even ? i : rng_below(rng, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    s->bytes = 0;
    for (int i = 0; i < n; i++) {
        int b = order[i];
        type = mixed ? rng_below(rng, TYPES) : type;
        const ctran_aint_t extent = extent_of(type), hole = even ? 0 : rng_below(rng, 3);
        const ctran_aint_t unit = mixed ? 1 : extent;
        s->types[b] = types[type];
        s->counts[b] = type == 0 ? 2 * pairs[b] : pairs[b];
        s->displs[b] = ((ctran_aint_t)s->bytes + unit - 1) / unit + hole;
        s->at[b] = s->displs[b] * unit;
        s->bytes = (size_t)(s->at[b] + s->counts[b] * extent);
    }
    s->buf = malloc(s->bytes + PAD);
    EXPECT(s->buf != NULL);
}

static void lay_out_in(struct side *s, const struct hood *h, enum kind kind, uint64_t seed,
                       int most, uint64_t *rng)
{
    int pairs[DEGREE_MAX];
    for (int i = 0; i < h->in.n; i++) {
        pairs[i] = pairs_of(kind, seed, most, h->in.peers[i], h->rank, h->in.tags[i]);
    }
    lay_out(s, h->in.n, pairs, kind == ALLGATHER || kind == ALLTOALL, kind == ALLTOALLW, rng);
    content_fill(s->buf, s->bytes + PAD, 1);
}

static void lay_out_out(struct side *s, const struct hood *h, enum kind kind, uint64_t seed,
                        int most, uint64_t *rng)
{
    int        pairs[DEGREE_MAX];
    const bool gather = kind == ALLGATHER || kind == ALLGATHERV;
    for (int i = 0; i < h->out.n || i == 0; i++) {
        int to = i < h->out.n ? h->out.peers[i] : 0, tag = i < h->out.n ? h->out.tags[i] : 0;
        pairs[i] = pairs_of(kind, seed, most, h->rank, to, tag);
    }
    lay_out(s, gather ? 1 : h->out.n, pairs, gather || kind == ALLTOALL, kind == ALLTOALLW, rng);
    for (int i = 1; gather && i < h->out.n; i++) { /* for the messages: the same to all */
        s->at[i] = s->at[0];
        s->counts[i] = s->counts[0];
        s->types[i] = s->types[0];
    }
    content_fill(s->buf, s->bytes + PAD, key_of(h->rank, 0, (int)kind, (int)(seed & 0xffff)));
}

static int call(const struct hood *h, enum kind kind, const struct side *s, const struct side *r)
{
    switch (kind) {
    case ALLGATHER:
        return ctran_neighbor_allgather(s->buf, s->counts[0], s->types[0], r->buf, r->counts[0],
                                        r->types[0], h->comm);
    case ALLGATHERV:
        return ctran_neighbor_allgatherv(s->buf, s->counts[0], s->types[0], r->buf, r->counts,
                                         r->displs, r->types[0], h->comm);
    case ALLTOALL:
        return ctran_neighbor_alltoall(s->buf, s->counts[0], s->types[0], r->buf, r->counts[0],
                                       r->types[0], h->comm);
    case ALLTOALLV:
        return ctran_neighbor_alltoallv(s->buf, s->counts, s->displs, s->types[0], r->buf,
                                        r->counts, r->displs, r->types[0], h->comm);
    default:
        return ctran_neighbor_alltoallw(s->buf, s->counts, s->displs, s->types, r->buf, r->counts,
                                        r->displs, r->types, h->comm);
    }
}

/* The same blocks as messages, into `buf`. */
static void exchange_by_hand(const struct hood *h, const struct side *s, const struct side *r,
                             char *buf)
{
    ctran_request_t reqs[2 * DEGREE_MAX];
    for (int i = 0; i < h->in.n; i++) {
        OK(ctran_irecv(buf + r->at[i], r->counts[i], r->types[i], h->in.peers[i], h->in.tags[i],
                       h->comm, &reqs[i]));
    }
    for (int i = 0; i < h->out.n; i++) {
        OK(ctran_isend(s->buf + s->at[i], s->counts[i], s->types[i], h->out.peers[i],
                       h->out.tags[i], h->comm, &reqs[h->in.n + i]));
    }
    OK(ctran_waitall(h->in.n + h->out.n, reqs, CTRAN_STATUSES_IGNORE));
}

void neighbor_exchange(const struct hood *h, enum kind kind, uint64_t seed, int most)
{
    struct side *s = calloc(1, sizeof *s), *r = calloc(1, sizeof *r);
    EXPECT(s != NULL && r != NULL);
    uint64_t rng = mix(seed ^ (uint64_t)h->rank << 40);
    s->types[0] = r->types[0] = CTRAN_INT; /* where there are no neighbours */
    lay_out_out(s, h, kind, seed, most, &rng);
    lay_out_in(r, h, kind, seed, most, &rng);
    char *wanted = malloc(r->bytes + PAD);
    EXPECT(wanted != NULL);
    memcpy(wanted, r->buf, r->bytes + PAD);
    OK(call(h, kind, s, r));
    exchange_by_hand(h, s, r, wanted);
    for (size_t i = 0; i < r->bytes + PAD; i++) {
        EXPECT_EQ((unsigned char)wanted[i], (unsigned char)r->buf[i]);
    }
    free(wanted);
    free(s->buf);
    free(r->buf);
    free(s);
    free(r);
}
