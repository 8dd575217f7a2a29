/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alloc_mem - messages from and to memory of ctran_alloc_mem, which the ranks of a host map: of all
 * lengths about the limits, of datatypes with gaps, with memory of both kinds at either end, freed
 * and allocated again in any order. ALLOC_MEM_SEEN=1 in the environment says that it has to be
 * mapped, 0 that nobody may; ALLOC_MEM_POOR=alloc or map has this rank find no descriptor for the
 * one or the other.
 */
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { TAG = 7, RANGES = 64, LEAST = 64 << 10 };

static int next_rank(void)
{
    return (check_rank + 1) % check_size;
}

static int last_rank(void)
{
    return (check_rank + check_size - 1) % check_size;
}

static char *alloc(size_t len)
{
    char *base = NULL;
    OK(ctran_alloc_mem((ctran_aint_t)len, CTRAN_INFO_NULL, &base));
    EXPECT(base != NULL);
    return base;
}

/* Mappings of allocated memory in this process, own ones included. */
static int mapped(void)
{
    char  line[512];
    int   n = 0;
    FILE *f = fopen("/proc/self/maps", "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        n += strstr(line, "ctran-alloc") != NULL;
    }
    if (f != NULL) {
        fclose(f);
    }
    return n;
}

/* `own` of this process's are allocated, and at least one of a peer's has been read; or none is. */
static void expect_mapped(int own)
{
    const char *seen = getenv("ALLOC_MEM_SEEN");
    if (seen != NULL && check_size > 1) {
        EXPECT(strcmp(seen, "1") == 0 ? mapped() > own : mapped() == 0);
    }
}

/* A message of `len` to the next rank, and the last one's; index tells it from others. */
static void pass(char *from, char *to, size_t len, int index)
{
    ctran_status_t status;
    content_fill(from, len, key_of(check_rank, next_rank(), TAG, index));
    memset(to, 0, len);
    OK(ctran_sendrecv(from, (ctran_count_t)len, CTRAN_BYTE, next_rank(), TAG, to,
                      (ctran_count_t)len, CTRAN_BYTE, last_rank(), TAG, CTRAN_COMM_WORLD, &status));
    EXPECT_STATUS(&status, last_rank(), TAG, len);
    EXPECT_CONTENT(to, len, key_of(last_rank(), check_rank, TAG, index));
}

/* ---- lengths --------------------------------------------------------------------------------- */

enum { LONGEST = (2 << 20) + 4099 };

/* From `from` to `to`, at places that are no multiples of anything. */
static void pass_all(char *from, char *to, int round)
{
    static const size_t around[] = {8, 4096, 8192, 16384, 65536, 131072, 262144, 1 << 20, 2 << 20};
    for (size_t i = 0; i < LEN(around); i++) {
        for (size_t len = around[i] - 1; len <= around[i] + 1; len++) {
            pass(from + round * 3, to + i, len, (int)len);
        }
    }
}

static void lengths(void)
{
    char *shared[2] = {alloc(LONGEST), alloc(LONGEST)};
    char *private[2] = {malloc(LONGEST), malloc(LONGEST)};
    EXPECT(private[0] != NULL && private[1] != NULL);
    for (int round = 0; round < 4; round++) {
        pass_all(round % 2 == 0 ? shared[0] : private[0], round < 2 ? shared[1] : private[1],
                 round);
    }
    pass(shared[0], shared[1], LEAST, 0);
    expect_mapped(2);
    OK(ctran_barrier(CTRAN_COMM_WORLD)); /* the others have looked, too */
    for (int i = 0; i < 2; i++) {
        OK(ctran_free_mem(shared[i]));
        free(private[i]);
    }
}

/* ---- ways to send ---------------------------------------------------------------------------- */

enum { BYTES = 300000, WAYS = 5 };

static void start(int way, const char *from, ctran_request_t *req)
{
    switch (way) {
    case 0:
        OK(ctran_isend(from, BYTES, CTRAN_BYTE, next_rank(), TAG, CTRAN_COMM_WORLD, req));
        break;
    case 1:
        OK(ctran_issend(from, BYTES, CTRAN_BYTE, next_rank(), TAG, CTRAN_COMM_WORLD, req));
        break;
    case 2:
        OK(ctran_isend(from, BYTES / 4, CTRAN_FLOAT, next_rank(), TAG, CTRAN_COMM_WORLD, req));
        break;
    case 3:
        OK(ctran_irsend(from, BYTES / 8, CTRAN_INT64_T, next_rank(), TAG, CTRAN_COMM_WORLD, req));
        break;
    default:
        OK(ctran_send_init(from, BYTES, CTRAN_BYTE, next_rank(), TAG, CTRAN_COMM_WORLD, req));
        OK(ctran_start(req));
    }
}

/* All at once, from one range, to parts of another; the receives stand before a message comes. */
static void ways(void)
{
    char           *from = alloc(BYTES), *to = alloc(WAYS * BYTES);
    ctran_request_t reqs[2 * WAYS];
    content_fill(from, BYTES, key_of(check_rank, next_rank(), TAG, 1));
    for (int way = 0; way < WAYS; way++) {
        OK(ctran_irecv(to + way * BYTES, BYTES, CTRAN_BYTE, last_rank(), TAG, CTRAN_COMM_WORLD,
                       &reqs[way]));
    }
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    for (int way = 0; way < WAYS; way++) {
        start(way, from, &reqs[WAYS + way]);
    }
    OK(ctran_waitall(2 * WAYS, reqs, CTRAN_STATUSES_IGNORE));
    for (int way = 0; way < WAYS; way++) {
        EXPECT_CONTENT(to + way * BYTES, BYTES, key_of(last_rank(), check_rank, TAG, 1));
    }
    OK(ctran_request_free(&reqs[2 * WAYS - 1]));
    OK(ctran_free_mem(from));
    OK(ctran_free_mem(to));
}

/* A vector with gaps at either end or both, the gaps of the receiver untouched; too little room. */
static void gaps(void)
{
    enum { BLOCKS = 500, INTS = 100, STRIDE = 130, ALL = BLOCKS * STRIDE };
    int             *from = (int *)(void *)alloc(ALL * sizeof(int));
    int             *to = (int *)(void *)alloc(ALL * sizeof(int));
    ctran_datatype_t vector;
    OK(ctran_type_vector(BLOCKS, INTS, STRIDE, CTRAN_INT, &vector));
    OK(ctran_type_commit(&vector));
    for (int form = 0; form < 3; form++) { /* 0: to a vector, 1: from one, 2: both */
        const bool sends = form > 0, receives = form != 1;
        for (int i = 0; i < ALL; i++) {
            from[i] = sends && i % STRIDE >= INTS ? -1 : check_rank;
            to[i] = -2;
        }
        OK(ctran_sendrecv(from, sends ? 1 : BLOCKS * INTS, sends ? vector : CTRAN_INT, next_rank(),
                          TAG, to, receives ? 1 : BLOCKS * INTS, receives ? vector : CTRAN_INT,
                          last_rank(), TAG, CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE));
        for (int i = 0; i < ALL; i++) {
            const bool is_data = receives ? i % STRIDE < INTS : i < BLOCKS * INTS;
            EXPECT_EQ(is_data ? last_rank() : -2, to[i]);
        }
    }
    OK(ctran_type_free(&vector));
    OK(ctran_free_mem(from));
    OK(ctran_free_mem(to));
}

static void truncated(void)
{
    enum { ROOM = 100001 };
    char           *from = alloc(BYTES), *to = alloc(BYTES);
    ctran_request_t req;
    ctran_status_t  status;
    content_fill(from, BYTES, key_of(check_rank, next_rank(), TAG, 2));
    memset(to, 0x55, BYTES);
    OK(ctran_isend(from, BYTES, CTRAN_BYTE, next_rank(), TAG, CTRAN_COMM_WORLD, &req));
    EXPECT_RC(CTRAN_ERR_TRUNCATE,
              ctran_recv(to, ROOM, CTRAN_BYTE, last_rank(), TAG, CTRAN_COMM_WORLD, &status));
    OK(ctran_wait(&req, CTRAN_STATUS_IGNORE));
    EXPECT_CONTENT(to, ROOM / 8 * 8, key_of(last_rank(), check_rank, TAG, 2));
    EXPECT_EQ(0x55, to[ROOM]);
    OK(ctran_free_mem(from));
    OK(ctran_free_mem(to));
}

static void collectives(void)
{
    enum { N = 40000 };
    int *in = (int *)(void *)alloc((size_t)check_size * N * sizeof(int));
    int *out = (int *)(void *)alloc((size_t)check_size * N * sizeof(int));
    for (int i = 0; i < check_size * N; i++) {
        in[i] = i + check_rank;
    }
    OK(ctran_allreduce(in, out, N, CTRAN_INT, CTRAN_SUM, CTRAN_COMM_WORLD));
    for (int i = 0; i < N; i++) {
        EXPECT_EQ(i * check_size + check_size * (check_size - 1) / 2, out[i]);
    }
    OK(ctran_alltoall(in, N, CTRAN_INT, out, N, CTRAN_INT, CTRAN_COMM_WORLD));
    for (int i = 0; i < check_size * N; i++) {
        EXPECT_EQ(check_rank * N + i % N + i / N, out[i]);
    }
    OK(ctran_bcast(in, N, CTRAN_INT, check_size - 1, CTRAN_COMM_WORLD));
    EXPECT_EQ(N - 1 + check_size - 1, in[N - 1]);
    OK(ctran_free_mem(in));
    OK(ctran_free_mem(out));
}

/* ---- freed and allocated again --------------------------------------------------------------- */

/* Most often at an address where there was something before: never what was there. (The unit test
 * makes sure that it is such an address.) */
static void again(void)
{
    enum { TIMES = 50 };
    char *to = alloc(BYTES);
    for (int i = 0; i < TIMES; i++) {
        char *from = alloc(BYTES + (size_t)i % 2 * 8192);
        pass(from, to, BYTES, i);
        OK(ctran_free_mem(from));
        from = malloc(BYTES); /* where it was, perhaps */
        EXPECT(from != NULL);
        pass(from, to, BYTES, -1 - i);
        free(from);
    }
    OK(ctran_free_mem(to));
}

/* From each rank to each. */
static void pass_around(char *from, char *to)
{
    for (int d = 1; d < check_size; d++) {
        const int dest = (check_rank + d) % check_size;
        const int source = (check_rank + check_size - d) % check_size;
        content_fill(from, LEAST, key_of(check_rank, dest, TAG, d));
        OK(ctran_sendrecv(from, LEAST, CTRAN_BYTE, dest, TAG, to, LEAST, CTRAN_BYTE, source, TAG,
                          CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE));
        EXPECT_CONTENT(to, LEAST, key_of(source, check_rank, TAG, d));
    }
}

/* More blocks than are mapped at a time; afterwards none that peers have freed is mapped here. */
static void many(void)
{
    enum { MANY = RANGES + 6 };
    char *at[MANY], *to = malloc(LEAST);
    EXPECT(to != NULL);
    for (int i = 0; i < MANY; i++) {
        at[i] = alloc(LEAST);
        pass(at[i], to, LEAST, i);
    }
    for (int i = 0; i < MANY; i++) {
        pass(at[i], to, LEAST, i);
    }
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    for (int i = 1; i < MANY; i++) {
        OK(ctran_free_mem(at[i]));
    }
    OK(ctran_barrier(CTRAN_COMM_WORLD)); /* the peer, too */
    pass_around(at[0], to);
    EXPECT(mapped() <= check_size); /* theirs and mine */
    OK(ctran_free_mem(at[0]));
    free(to);
}

/* A child made by fork goes, the memory stays. */
static void forked(void)
{
    char *from = alloc(BYTES), *to = alloc(BYTES);
    pass(from, to, BYTES, 1);
    const pid_t pid = fork();
    if (pid == 0) {
        _exit(from[BYTES / 2] == to[BYTES / 2]); /* it can read both */
    }
    EXPECT(pid > 0 && waitpid(pid, NULL, 0) == pid);
    pass(from, to, BYTES, 2);
    OK(ctran_free_mem(from));
    OK(ctran_free_mem(to));
}

/* ---- random ---------------------------------------------------------------------------------- */

enum { MESSAGES = 8, POOL = 2 * MESSAGES, MOST = 300000, SLACK = 4096 };

/* Buffers of this rank, which has its own mind about them: one for each message of a round to be
 * sent from, and one for it to be received to. */
struct pool {
    uint64_t seed;
    struct {
        char *at;
        bool  shared;
    } bufs[POOL];
};

static void drop(struct pool *pool, int i)
{
    if (pool->bufs[i].shared) {
        OK(ctran_free_mem(pool->bufs[i].at));
    } else {
        free(pool->bufs[i].at);
    }
    pool->bufs[i].at = NULL;
}

static void renew(struct pool *pool, int i)
{
    const size_t len = MOST + SLACK + (size_t)rng_below(&pool->seed, MOST);
    drop(pool, i);
    pool->bufs[i].shared = rng_below(&pool->seed, 4) > 0;
    pool->bufs[i].at = pool->bufs[i].shared ? alloc(len) : malloc(len);
    EXPECT(pool->bufs[i].at != NULL);
}

/* Anywhere near the beginning. */
static char *place(struct pool *pool, int i)
{
    return pool->bufs[i].at + rng_below(&pool->seed, SLACK);
}

struct message {
    int    source, dest;
    size_t len;
};

/* Drawn alike by all. */
static struct message draw(uint64_t *seed)
{
    static const int spans[] = {100, 20000, 100000, MOST};
    struct message   m;
    m.source = rng_below(seed, check_size);
    m.dest = rng_below(seed, check_size);
    m.len = 1 + (size_t)rng_below(seed, spans[rng_below(seed, 4)] - 1);
    return m;
}

/* Some messages at a time; the receives come before the sends or after them. */
static void random_round(struct pool *pool, uint64_t *seed, int round)
{
    struct message  m[MESSAGES];
    ctran_request_t reqs[POOL];
    char           *to[MESSAGES];
    const bool      late = rng_below(seed, 2) == 1;
    int             n = 0;
    for (int i = 0; i < MESSAGES; i++) {
        m[i] = draw(seed);
    }
    for (int step = 0; step < POOL; step++) {
        const int  i = step % MESSAGES;
        const bool receives = (step < MESSAGES) != late;
        if (receives && m[i].dest == check_rank) {
            to[i] = place(pool, MESSAGES + i);
            OK(ctran_irecv(to[i], (ctran_count_t)m[i].len, CTRAN_BYTE, m[i].source, i,
                           CTRAN_COMM_WORLD, &reqs[n++]));
        } else if (!receives && m[i].source == check_rank) {
            char *from = place(pool, i);
            content_fill(from, m[i].len, key_of(m[i].source, m[i].dest, i, round));
            OK(ctran_isend(from, (ctran_count_t)m[i].len, CTRAN_BYTE, m[i].dest, i,
                           CTRAN_COMM_WORLD, &reqs[n++]));
        }
    }
    OK(ctran_waitall(n, reqs, CTRAN_STATUSES_IGNORE));
    for (int i = 0; i < MESSAGES; i++) {
        if (m[i].dest == check_rank) {
            EXPECT_CONTENT(to[i], m[i].len, key_of(m[i].source, m[i].dest, i, round));
        }
    }
}

static void at_random(void)
{
    const char *soak = getenv("CT_SOAK"), *quick = getenv("CT_CHECK_QUICK");
    const bool  is_soak = soak != NULL && strcmp(soak, "1") == 0;
    const bool  is_quick = quick != NULL && strcmp(quick, "1") == 0;
    const int   rounds = is_soak ? 20000 : is_quick ? 60 : 300;
    uint64_t    seed = rng_of(900);
    struct pool pool = {.seed = rng_of(901 + (uint64_t)check_rank)};
    for (int i = 0; i < POOL; i++) {
        renew(&pool, i);
    }
    for (int round = 0; round < rounds; round++) {
        for (int i = rng_below(&pool.seed, 4); i > 0; i--) {
            renew(&pool, rng_below(&pool.seed, POOL));
        }
        random_round(&pool, &seed, round);
    }
    for (int i = 0; i < POOL; i++) {
        drop(&pool, i);
    }
}

/* ---- where something is missing -------------------------------------------------------------- */

/* No descriptor is to be had in every other rank, for its own memory or that of others: what it
 * has goes as before. Once there are some, it maps that of others after all. */
static void poor(void)
{
    const char   *what = getenv("ALLOC_MEM_POOR");
    struct rlimit before, none;
    char         *to = malloc(BYTES), *from = NULL;
    if (what == NULL) {
        free(to);
        return;
    }
    EXPECT(to != NULL && getrlimit(RLIMIT_NOFILE, &before) == 0);
    pass(to, to + BYTES / 2, 8, 0); /* they are connected */
    pass(to, to + BYTES / 2, BYTES / 2, 0);
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    none = (struct rlimit){0, before.rlim_max};
    if (strcmp(what, "map") == 0) {
        from = alloc(BYTES);
    }
    if (check_rank % 2 == 1) {
        EXPECT(setrlimit(RLIMIT_NOFILE, &none) == 0);
    }
    if (from == NULL) {
        from = alloc(BYTES);
    }
    for (int i = 0; i < 20; i++) {
        pass(from, to, BYTES - (size_t)i * 14000, i);
    }
    EXPECT(setrlimit(RLIMIT_NOFILE, &before) == 0);
    const bool map = strcmp(what, "map") == 0;
    int        missing = 1;
    for (int i = 0; i < (map ? 20000 : 20) && missing != 0; i++) {
        pass(from, to, BYTES, i);
        if (map && i % 50 == 49) {
            missing = mapped() < 2; /* the own one, and another's */
            OK(ctran_allreduce(CTRAN_IN_PLACE, &missing, 1, CTRAN_INT, CTRAN_SUM,
                               CTRAN_COMM_WORLD));
        }
    }
    EXPECT(!map || missing == 0);
    OK(ctran_free_mem(from));
    free(to);
}

int main(int argc, char **argv)
{
    static const struct subject subjects[] = {
        {"poor", poor},           {"lengths", lengths},         {"ways", ways},   {"gaps", gaps},
        {"truncated", truncated}, {"collectives", collectives}, {"again", again}, {"many", many},
        {"forked", forked},       {"at random", at_random},
    };
    check_start(argc, argv);
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_RETURN));
    check_run(subjects, LEN(subjects));
    return check_end();
}
