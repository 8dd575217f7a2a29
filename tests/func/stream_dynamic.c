/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ctran_alltoallv_dynamic_enqueue: many random routings through graphs that are captured once, each
 * replay with other counts, displacements, lists and contents, which every rank can work out for
 * all. With the argument "none" no rank has kernels: all are told so.
 */
#include "check.h"
#include "gpu.h"

enum {
    RANKS = 16,
    ELEMS = 1200, /* at each sendbuf */
    LIST = 1500,  /* indices */
    MOST = 80,    /* bytes an element */
    GUARD = 64,   /* behind a recvbuf */
};

static CUstream stream;

/* What a captured call is like. */
struct form {
    size_t bytes; /* an element */
    bool   list, sdispls, rdispls;
};

/* What one rank does in one round. */
struct routing {
    int64_t counts[RANKS], displs[RANKS], list[LIST];
};

/* In memory of the GPU. */
struct buffers {
    char    *from, *to;
    int64_t *counts, *sdispls, *rdispls, *list, *came;
};

/* On the host. */
static struct routing all[RANKS];
static char          *staged, *found;

/* ---- routings -------------------------------------------------------------------------------- */

/* Ranks are chosen as popular or not: now and then one gets all, or nobody anything. */
static void make_counts(struct routing *r, uint64_t *seed, int places)
{
    int left = rng_below(seed, 5) == 0 ? 0 : rng_below(seed, places + 1);
    if (rng_below(seed, 4) == 0) {
        left = rng_below(seed, 40);
    }
    for (int p = 0; p < check_size; p++) {
        r->counts[p] = 0;
    }
    while (left > 0) {
        const int more = 1 + rng_below(seed, rng_below(seed, 3) == 0 ? left : left / 3 + 1);
        r->counts[rng_below(seed, check_size)] += more;
        left -= more;
    }
}

static void make_routing(struct routing *r, const struct form *f, uint64_t seed)
{
    const int places = f->list ? LIST : ELEMS;
    int64_t   at = 0;
    make_counts(r, &seed, places);
    for (int p = 0; p < check_size; p++) {
        r->displs[p] = f->sdispls ? rng_below(&seed, places - (int)r->counts[p] + 1) : at;
        at += r->counts[p];
    }
    for (int i = 0; i < LIST; i++) {
        r->list[i] = rng_below(&seed, ELEMS);
    }
}

/* Bytes of element e of a rank's sendbuf. */
static void make_element(char *at, size_t bytes, int rank, int64_t e, int round)
{
    const uint64_t key = key_of(rank, (int)e, 1, round);
    for (size_t i = 0; i < bytes; i++) {
        at[i] = (char)(content_word(key, i / 8) >> i % 8 * 8);
    }
}

static int64_t element_of(const struct form *f, const struct routing *r, int64_t place)
{
    return f->list ? r->list[place] : place;
}

/* Where what comes from rank p lies: with displacements, the ranks turned around, and apart. */
static int64_t place_of(const struct form *f, int p, int64_t before)
{
    return f->rdispls ? (int64_t)(check_size - 1 - p) * LIST : before;
}

/* ---- buffers --------------------------------------------------------------------------------- */

static size_t recv_elems(void)
{
    return (size_t)LIST * (size_t)check_size;
}

static void open_buffers(struct buffers *b)
{
    b->from = device_new((size_t)ELEMS * MOST);
    b->to = device_new(recv_elems() * MOST + GUARD);
    b->counts = device_new(sizeof(int64_t) * RANKS);
    b->sdispls = device_new(sizeof(int64_t) * RANKS);
    b->rdispls = device_new(sizeof(int64_t) * RANKS);
    b->came = device_new(sizeof(int64_t) * RANKS);
    b->list = device_new(sizeof(int64_t) * LIST);
}

static void close_buffers(struct buffers *b)
{
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    void *const ptrs[] = {b->from, b->to, b->counts, b->sdispls, b->rdispls, b->came, b->list};
    for (size_t i = 0; i < LEN(ptrs); i++) {
        device_free(ptrs[i]);
    }
}

static int enqueue(const struct buffers *b, const struct form *f, ctran_datatype_t type,
                   ctran_count_t room)
{
    return ctran_alltoallv_dynamic_enqueue(
        b->from, ELEMS, b->counts, f->sdispls ? b->sdispls : NULL, f->list ? b->list : NULL, LIST,
        b->to, room, b->came, f->rdispls ? b->rdispls : NULL, type, CTRAN_COMM_WORLD, stream);
}

/* A round's contents. */
static void put_round(const struct buffers *b, const struct form *f, int round)
{
    const struct routing *mine = &all[check_rank];
    int64_t               rdispls[RANKS];
    for (int e = 0; e < ELEMS; e++) {
        make_element(staged + (size_t)e * f->bytes, f->bytes, check_rank, e, round);
    }
    for (int p = 0; p < check_size; p++) {
        rdispls[p] = place_of(f, p, 0);
    }
    device_put(b->from, staged, ELEMS * f->bytes);
    device_put(b->counts, mine->counts, sizeof mine->counts);
    device_put(b->sdispls, mine->displs, sizeof mine->displs);
    device_put(b->list, mine->list, sizeof mine->list);
    device_put(b->rdispls, rdispls, sizeof rdispls);
    device_set(b->came, 0xee, sizeof rdispls);
    device_set(b->to, 0xee, recv_elems() * f->bytes + GUARD);
}

static void expect_bytes(const char *wanted, const char *at, size_t n, int round, int from,
                         int64_t elem)
{
    if (memcmp(wanted, at, n) != 0) {
        check_fail(__FILE__, __LINE__,
                   "round %d: element %lld of those of rank %d is not what that has sent", round,
                   (long long)elem, from);
    }
}

/* What came, and that nothing else was written; `room` elements fit. */
static void verify(const struct buffers *b, const struct form *f, int round, size_t room)
{
    const size_t bytes = recv_elems() * f->bytes + GUARD;
    int64_t      came[RANKS], before = 0;
    memset(staged, 0xee, bytes);
    device_get(found, b->to, bytes);
    device_get(came, b->came, sizeof came);
    for (int p = 0; p < check_size; p++) {
        const struct routing *r = &all[p];
        const int64_t         n = r->counts[check_rank], at = place_of(f, p, before);
        EXPECT_EQ(n, came[p]);
        for (int64_t i = 0; i < n && at + i < (int64_t)room; i++) {
            const int64_t e = element_of(f, r, r->displs[check_rank] + i);
            char         *wanted = staged + (size_t)(at + i) * f->bytes;
            make_element(wanted, f->bytes, p, e, round);
            expect_bytes(wanted, found + (size_t)(at + i) * f->bytes, f->bytes, round, p, i);
        }
        before += n;
    }
    EXPECT(memcmp(staged, found, bytes) == 0);
}

static void make_all(const struct form *f, uint64_t seed)
{
    for (int p = 0; p < check_size; p++) {
        make_routing(&all[p], f, mix(seed) + (uint64_t)p * 7919);
    }
}

static ctran_datatype_t type_of(size_t bytes)
{
    ctran_datatype_t type;
    OK(ctran_type_contiguous((ctran_count_t)bytes, CTRAN_BYTE, &type));
    OK(ctran_type_commit(&type));
    return type;
}

/* ---- subjects -------------------------------------------------------------------------------- */

static void replay(const struct form *f, int times, uint64_t seed)
{
    struct buffers   b;
    CUgraph          graph;
    CUgraphExec      exec;
    ctran_datatype_t type = type_of(f->bytes);
    open_buffers(&b);
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(enqueue(&b, f, type, (ctran_count_t)recv_elems()));
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiate(&exec, graph, 0));
    for (int round = 0; round < times; round++) {
        make_all(f, seed + (uint64_t)round);
        put_round(&b, f, round);
        CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
        verify(&b, f, round, recv_elems());
    }
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    OK(ctran_type_free(&type));
    close_buffers(&b);
}

static void routings(void)
{
    static const struct form forms[] = {
        {4, false, false, false}, {16, true, false, false}, {16, false, true, true},
        {80, true, true, true},   {3, true, true, false},   {48, true, false, true},
        {1, false, false, true},
    };
    const int times = (int)size_setting("CT_ROUTINGS", 140) / (int)LEN(forms);
    for (size_t i = 0; i < LEN(forms); i++) {
        replay(&forms[i], times, rng_of(10 + i));
    }
}

/* Without a graph, in a group with others, and more than there is room for. */
static void eager(void)
{
    static const struct form forms[] = {{16, true, false, false}, {12, false, false, false}};
    struct buffers           b;
    open_buffers(&b);
    for (int round = 0; round < 20; round++) {
        const struct form *f = &forms[round % 2];
        ctran_datatype_t   type = type_of(f->bytes);
        uint64_t           seed = rng_of(30 + (uint64_t)round);
        const size_t       room = round < 10 ? recv_elems() : (size_t)rng_below(&seed, 300);
        make_all(f, rng_of(50 + (uint64_t)round));
        put_round(&b, f, round);
        OK(ctran_group_start());
        OK(ctran_barrier_enqueue(CTRAN_COMM_WORLD, stream));
        OK(enqueue(&b, f, type, (ctran_count_t)room));
        OK(ctran_barrier_enqueue(CTRAN_COMM_WORLD, stream));
        OK(ctran_group_end());
        CU(cuStreamSynchronize(stream));
        verify(&b, f, round, room);
        OK(ctran_type_free(&type));
    }
    close_buffers(&b);
}

/* What rank 0 says makes no sense: the others have what they would have. */
static void nonsense(void)
{
    static const struct form f = {16, true, true, false};
    struct buffers           b;
    ctran_datatype_t         type = type_of(f.bytes);
    int64_t                  came[RANKS], counts[RANKS], displs[RANKS], list[LIST];
    open_buffers(&b);
    make_all(&f, rng_of(70));
    put_round(&b, &f, 0);
    for (int p = 0; p < check_size; p++) { /* to rank 1 two elements that are not there */
        counts[p] = p == 1 ? 2 : -5;
        displs[p] = p == 1 ? LIST - 2 : INT64_MAX;
    }
    for (int i = 0; i < LIST; i++) {
        list[i] = i % 2 == 0 ? -1 : ELEMS;
    }
    if (check_rank == 0) {
        counts[check_size - 1] = check_size > 2 ? INT64_MAX : counts[check_size - 1];
        device_put(b.counts, counts, sizeof counts);
        device_put(b.sdispls, displs, sizeof displs);
        device_put(b.list, list, sizeof list);
    }
    OK(enqueue(&b, &f, type, (ctran_count_t)recv_elems()));
    CU(cuStreamSynchronize(stream));
    device_get(came, b.came, sizeof came);
    device_get(found, b.to, recv_elems() * f.bytes);
    int64_t before = check_rank == 1 ? 2 : 0; /* of rank 0 */
    EXPECT_EQ(before, came[0]);
    for (size_t i = 0; check_rank == 1 && i < 2 * f.bytes; i++) {
        EXPECT_EQ(0, found[i]);
    }
    for (int p = 1; p < check_size; p++) {
        const struct routing *r = &all[p];
        const int64_t         n = r->counts[check_rank];
        EXPECT_EQ(n, came[p]);
        for (int64_t i = 0; i < n; i++) {
            make_element(staged, f.bytes, p, r->list[r->displs[check_rank] + i], 0);
            expect_bytes(staged, found + (size_t)(before + i) * f.bytes, f.bytes, 0, p, i);
        }
        before += n;
    }
    OK(ctran_type_free(&type));
    close_buffers(&b);
}

static void arguments(void)
{
    enum { N = 16 };
    ctran_comm_t     comm;
    ctran_datatype_t gaps;
    char            *buf = device_new(64);
    int64_t         *counts = device_new(sizeof(int64_t) * RANKS);
    OK(ctran_comm_dup(CTRAN_COMM_WORLD, &comm));
    OK(ctran_comm_set_errhandler(comm, CTRAN_ERRORS_RETURN));
    OK(ctran_type_vector(2, 1, 2, CTRAN_BYTE, &gaps));
    OK(ctran_type_commit(&gaps));
    EXPECT_RC(CTRAN_ERR_ARG,
              ctran_alltoallv_dynamic_enqueue(buf, N, NULL, NULL, NULL, 0, buf + N, N, counts, NULL,
                                              CTRAN_BYTE, comm, stream));
    EXPECT_RC(CTRAN_ERR_ARG,
              ctran_alltoallv_dynamic_enqueue(buf, N, counts, NULL, NULL, 0, buf + N, N, NULL, NULL,
                                              CTRAN_BYTE, comm, stream));
    EXPECT_RC(CTRAN_ERR_COUNT,
              ctran_alltoallv_dynamic_enqueue(buf, -1, counts, NULL, NULL, 0, buf + N, N, counts,
                                              NULL, CTRAN_BYTE, comm, stream));
    EXPECT_RC(CTRAN_ERR_COUNT,
              ctran_alltoallv_dynamic_enqueue(buf, N, counts, NULL, counts, -1, buf + N, N, counts,
                                              NULL, CTRAN_BYTE, comm, stream));
    EXPECT_RC(CTRAN_ERR_BUFFER,
              ctran_alltoallv_dynamic_enqueue(NULL, N, counts, NULL, NULL, 0, buf, N, counts, NULL,
                                              CTRAN_BYTE, comm, stream));
    EXPECT_RC(CTRAN_ERR_BUFFER,
              ctran_alltoallv_dynamic_enqueue(buf, N, counts, NULL, NULL, 0, buf + N / 2, N, counts,
                                              NULL, CTRAN_BYTE, comm, stream));
    EXPECT_RC(CTRAN_ERR_BUFFER,
              ctran_alltoallv_dynamic_enqueue(buf, N, counts, NULL, NULL, 0, buf + N, N, counts,
                                              NULL, CTRAN_BYTE, comm, stream));
    EXPECT_RC(CTRAN_ERR_TYPE,
              ctran_alltoallv_dynamic_enqueue(buf, 2, counts, NULL, NULL, 0, buf + N, 2, counts,
                                              NULL, gaps, comm, stream));
    OK(ctran_type_free(&gaps));
    OK(ctran_comm_free(&comm));
    device_free(buf);
    device_free(counts);
}

/* No rank has kernels. */
static void none(void)
{
    struct buffers b;
    ctran_comm_t   comm;
    open_buffers(&b);
    OK(ctran_comm_dup(CTRAN_COMM_WORLD, &comm));
    OK(ctran_comm_set_errhandler(comm, CTRAN_ERRORS_RETURN));
    EXPECT_RC(CTRAN_ERR_UNSUPPORTED_OPERATION,
              ctran_alltoallv_dynamic_enqueue(b.from, ELEMS, b.counts, NULL, NULL, 0, b.to, ELEMS,
                                              b.came, NULL, CTRAN_BYTE, comm, stream));
    OK(ctran_barrier_enqueue(comm, stream)); /* the communicator is as good as before */
    CU(cuStreamSynchronize(stream));
    OK(ctran_comm_free(&comm));
    close_buffers(&b);
}

int main(int argc, char **argv)
{
    static const struct subject subjects[] = {
        {"arguments", arguments}, {"routings", routings}, {"eager", eager}, {"nonsense", nonsense}};
    static const struct subject without[] = {{"none", none}};
    const bool                  has_none = argc > 1 && strcmp(argv[1], "none") == 0;
    check_start(has_none ? 1 : argc, argv);
    if (!device_open()) {
        (void)check_end();
        return 77;
    }
    EXPECT(check_size <= RANKS);
    stream = device_stream();
    staged = malloc(recv_elems() * MOST + GUARD);
    found = malloc(recv_elems() * MOST + GUARD);
    EXPECT(staged != NULL && found != NULL);
    if (has_none) {
        check_run(without, LEN(without));
    } else {
        check_run(subjects, LEN(subjects));
    }
    free(staged);
    free(found);
    CU(cuStreamDestroy(stream));
    device_close();
    return check_end();
}
