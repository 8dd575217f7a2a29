/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stream-ordered operations of several communicators on several streams, in random orders that
 * are legal: a communicator's are in the same order on all ranks. Half of the time each
 * communicator has a stream of its own and ranks interleave communicators as they like; half of
 * the time operations are on any stream, in one order, and the program allocates and frees
 * memory in between. Every result is looked at. Blocks have up to CT_LONGEST bytes, 20000 if it is
 * not set.
 */
#include "check.h"
#include "gpu.h"

enum { COMMS = 8, STREAMS = 8, BATCH = 32 };

static ctran_comm_t comm[COMMS];
static CUstream     stream[STREAMS];
static char        *host;
static size_t       longest;

enum what { ALLGATHER, ALLTOALL, BCAST, RING, REDUCTION, BARRIER, WHATS };

struct operation {
    int    comm, stream, what, root;
    size_t n; /* bytes of a block */
    char  *from, *to;
};

static uint64_t key(int who, int block, int operation)
{
    return key_of(who, block, 11, operation);
}

static void make(struct operation *o, int number, uint64_t *seed)
{
    o->comm = rng_below(seed, COMMS);
    o->stream = rng_below(seed, STREAMS);
    o->what = rng_below(seed, WHATS);
    o->root = rng_below(seed, check_size);
    o->n = (size_t)(1 + rng_below(seed, (int)longest));
    o->from = device_new(o->n * (size_t)check_size);
    o->to = device_new(o->n * (size_t)check_size);
    for (int r = 0; r < check_size; r++) {
        content_fill(host + (size_t)r * o->n, o->n, key(check_rank, r, number));
    }
    device_put(o->from, host, o->n * (size_t)check_size);
}

static void enqueue(const struct operation *o, CUstream on)
{
    const ctran_count_t n = (ctran_count_t)o->n;
    const int           right = (check_rank + 1) % check_size;
    const int           left = (check_rank + check_size - 1) % check_size;
    ctran_comm_t        c = comm[o->comm];
    switch (o->what) {
    case ALLGATHER:
        OK(ctran_allgather_enqueue(o->from, n, CTRAN_BYTE, o->to, n, CTRAN_BYTE, c, on));
        break;
    case ALLTOALL:
        OK(ctran_alltoall_enqueue(o->from, n, CTRAN_BYTE, o->to, n, CTRAN_BYTE, c, on));
        break;
    case BCAST:
        OK(ctran_bcast_enqueue(check_rank == o->root ? o->from : o->to, n, CTRAN_BYTE, o->root, c,
                               on));
        break;
    case RING:
        OK(ctran_sendrecv_enqueue(o->from, n, CTRAN_BYTE, right, 0, o->to, n, CTRAN_BYTE, left, 0,
                                  c, on));
        break;
    case REDUCTION:
        OK(ctran_allreduce_enqueue(o->from, o->to, n, CTRAN_BYTE, CTRAN_BXOR, c, on));
        break;
    default:
        OK(ctran_barrier_enqueue(c, on));
        break;
    }
}

/* All contributions, taken away one after the other, leave nothing. */
static void verify_reduction(const struct operation *o, int number)
{
    char *one = host + o->n;
    for (int r = 0; r < check_size; r++) {
        content_fill(one, o->n, key(r, 0, number));
        for (size_t i = 0; i < o->n; i++) {
            host[i] = (char)(host[i] ^ one[i]);
        }
    }
    for (size_t i = 0; i < o->n; i++) {
        EXPECT_EQ(0, host[i]);
    }
}

static void verify(const struct operation *o, int number)
{
    const int left = (check_rank + check_size - 1) % check_size;
    device_get(host, o->to, o->n * (size_t)check_size);
    for (int r = 0; r < check_size && (o->what == ALLGATHER || o->what == ALLTOALL); r++) {
        EXPECT_CONTENT(host + (size_t)r * o->n, o->n,
                       key(r, o->what == ALLTOALL ? check_rank : 0, number));
    }
    if (o->what == RING) {
        EXPECT_CONTENT(host, o->n, key(left, 0, number));
    } else if (o->what == BCAST && check_rank != o->root) {
        EXPECT_CONTENT(host, o->n, key(o->root, 0, number));
    } else if (o->what == REDUCTION) {
        verify_reduction(o, number);
    }
}

/* An order of this rank's own in which each communicator's operations stay in theirs. */
static void interleave(const struct operation *ops, int *order, uint64_t seed)
{
    int next[COMMS] = {0};
    for (int i = 0; i < BATCH; i++) {
        int c, at = BATCH;
        while (at == BATCH) {
            c = rng_below(&seed, COMMS);
            for (at = next[c]; at < BATCH && ops[at].comm != c;) {
                at++;
            }
        }
        order[i] = at;
        next[c] = at + 1;
    }
}

static void batch(int first, uint64_t *seed, bool same_order)
{
    struct operation ops[BATCH];
    int              order[BATCH];
    for (int i = 0; i < BATCH; i++) {
        make(&ops[i], first + i, seed);
        order[i] = i;
    }
    if (!same_order) {
        interleave(ops, order, mix(*seed + (uint64_t)check_rank));
    }
    for (int i = 0; i < BATCH; i++) {
        const struct operation *o = &ops[order[i]];
        enqueue(o, stream[same_order ? o->stream : o->comm % STREAMS]);
        if (same_order && i % 8 == 3) {
            device_free(device_new(4096)); /* may wait for all streams */
        }
    }
    for (int s = 0; s < STREAMS; s++) {
        CU(cuStreamSynchronize(stream[s]));
    }
    for (int i = 0; i < BATCH; i++) {
        verify(&ops[i], first + i);
    }
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    for (int i = 0; i < BATCH; i++) {
        device_free(ops[i].from);
        device_free(ops[i].to);
    }
}

static void storm(void)
{
    const int operations = (int)size_setting("CT_OPERATIONS", 128);
    uint64_t  seed = rng_of(5);
    for (int i = 0; i < operations; i += BATCH) {
        batch(i, &seed, i / BATCH % 2 == 0);
    }
}

int main(int argc, char **argv)
{
    static const struct subject subjects[] = {{"storm", storm}};
    check_start(argc, argv);
    if (!device_open()) {
        (void)check_end();
        return 77;
    }
    longest = size_setting("CT_LONGEST", 20000);
    host = malloc(longest * (size_t)(check_size + 1));
    EXPECT(host != NULL);
    for (int i = 0; i < COMMS; i++) {
        OK(ctran_comm_dup(CTRAN_COMM_WORLD, &comm[i]));
    }
    for (int i = 0; i < STREAMS; i++) {
        stream[i] = device_stream();
    }
    for (int i = 0; i < COMMS; i++) { /* the first call waits for all ranks: in one order */
        OK(ctran_barrier_enqueue(comm[i], stream[0]));
    }
    CU(cuStreamSynchronize(stream[0]));
    check_run(subjects, LEN(subjects));
    for (int i = 0; i < COMMS; i++) {
        OK(ctran_comm_free(&comm[i]));
    }
    for (int i = 0; i < STREAMS; i++) {
        CU(cuStreamDestroy(stream[i]));
    }
    free(host);
    device_close();
    return check_end();
}
