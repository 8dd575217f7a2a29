/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * icoll - nonblocking and persistent collectives: many at once on several communicators, completed
 * in any order, among blocking ones and messages; begun again and again; while their ranks do
 * something else; by several threads. Usage: icoll [SEED]; CT_LEVEL=multiple has threads; with
 * CT_FORCED (forced.h) it is the first two of these alone, for each algorithm of a collective.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "icoll.h"

enum { COMMS = 3, MANY = 20, MEMBERS = 3 };

static bool threaded;

/* World, and two that split it: by parity, and all in reverse. */
static void make_comms(ctran_comm_t comms[COMMS])
{
    comms[0] = CTRAN_COMM_WORLD;
    OK(ctran_comm_split(CTRAN_COMM_WORLD, check_rank % 2, check_rank, &comms[1]));
    OK(ctran_comm_split(CTRAN_COMM_WORLD, 0, -check_rank, &comms[2]));
    for (int i = 0; i < COMMS; i++) {
        forced_on(comms[i]);
    }
}

static void free_comms(ctran_comm_t comms[COMMS])
{
    for (int i = 1; i < COMMS; i++) {
        OK(ctran_comm_free(&comms[i]));
    }
}

/* Less for many ranks, and for each algorithm by itself. */
static int rounds(int usual)
{
    const char *soak = getenv("CT_SOAK");
    if (getenv("CT_FORCED") != NULL && (soak == NULL || strcmp(soak, "1") != 0)) {
        return 1;
    }
    return check_size > 4 ? (usual + 3) / 4 : usual;
}

static void run_one_by_one(void)
{
    uint64_t     rng = rng_of(1);
    ctran_comm_t comms[COMMS];
    make_comms(comms);
    for (int i = 0; i < rounds(200); i++) {
        struct icase    c;
        ctran_request_t r;
        ctran_status_t  status;
        icase_draw(&c, comms[rng_below(&rng, COMMS)], &rng);
        icase_fill(&c, i);
        icase_begin(&c, &r);
        OK(ctran_wait(&r, &status));
        EXPECT(r == CTRAN_REQUEST_NULL);
        icase_check(&c, i);
        icase_free(&c);
    }
    free_comms(comms);
}

/* ---- many ------------------------------------------------------------------------------------ */

/* A message around the ring, which is not to meet any collective's. */
static void ring_message(int tag)
{
    const int right = (check_rank + 1) % check_size;
    const int left = (check_rank + check_size - 1) % check_size;
    long      out = mix((uint64_t)tag) & 0xffff, in = -1;
    OK(ctran_sendrecv(&out, 1, CTRAN_LONG, right, tag, &in, 1, CTRAN_LONG, left, tag,
                      CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE));
    EXPECT_EQ(out, in);
}

/* Completes all of them, each rank in an order of its own. */
static void complete_all(struct icase *cases, ctran_request_t *requests, int n, int turn,
                         bool persistent, uint64_t *own)
{
    bool checked[MANY] = {false};
    int  left = n;
    while (left > 0) {
        const int how = rng_below(own, 4);
        int       index, count = 0, flag = 0, indices[MANY];
        if (how == 0) {
            OK(ctran_waitany(n, requests, &index, CTRAN_STATUS_IGNORE));
            indices[count++] = index;
        } else if (how == 1) {
            OK(ctran_testsome(n, requests, &count, indices, CTRAN_STATUSES_IGNORE));
        } else if (how == 2) {
            index = rng_below(own, n);
            OK(ctran_test(&requests[index], &flag, CTRAN_STATUS_IGNORE));
            indices[0] = index;
            count = flag && !checked[index];
        } else if (rng_below(own, 8) == 0) {
            OK(ctran_waitall(n, requests, CTRAN_STATUSES_IGNORE));
            for (int i = 0; i < n; i++) {
                indices[count] = i;
                count += !checked[i];
            }
        }
        for (int i = 0; i < count; i++) {
            EXPECT(!checked[indices[i]]);
            checked[indices[i]] = true;
            icase_check(&cases[indices[i]], turn);
            EXPECT((requests[indices[i]] == CTRAN_REQUEST_NULL) == !persistent);
            left--;
        }
    }
}

static void run_many(void)
{
    uint64_t     rng = rng_of(2), own = mix(rng + (uint64_t)check_rank);
    ctran_comm_t comms[COMMS];
    make_comms(comms);
    for (int i = 0; i < rounds(12); i++) {
        struct icase    cases[MANY], blocking;
        ctran_request_t requests[MANY];
        for (int k = 0; k < MANY; k++) {
            icase_draw(&cases[k], comms[rng_below(&rng, COMMS)], &rng);
            icase_fill(&cases[k], i);
            icase_begin(&cases[k], &requests[k]);
            if (rng_below(&rng, 4) == 0) {
                icase_draw(&blocking, comms[rng_below(&rng, COMMS)], &rng);
                icase_fill(&blocking, k);
                icase_do(&blocking);
                icase_check(&blocking, k);
                icase_free(&blocking);
            }
            if (rng_below(&rng, 4) == 0) {
                ring_message(k);
            }
        }
        complete_all(cases, requests, MANY, i, false, &own);
        for (int k = 0; k < MANY; k++) {
            icase_free(&cases[k]);
        }
    }
    free_comms(comms);
}

/* ---- again and again ------------------------------------------------------------------------- */

static void run_persistent(void)
{
    enum { SEVERAL = 8, TURNS = 6 };
    uint64_t     rng = rng_of(3), own = mix(rng + (uint64_t)check_rank);
    ctran_comm_t comms[COMMS];
    make_comms(comms);
    for (int i = 0; i < rounds(12); i++) {
        struct icase    cases[SEVERAL];
        ctran_request_t requests[SEVERAL];
        for (int k = 0; k < SEVERAL; k++) {
            icase_draw(&cases[k], comms[rng_below(&rng, COMMS)], &rng);
            icase_init(&cases[k], &requests[k]);
        }
        for (int turn = 0; turn < TURNS; turn++) {
            for (int k = 0; k < SEVERAL; k++) {
                icase_fill(&cases[k], turn);
            }
            const int alone = rng_below(&own, SEVERAL); /* each rank has its own order */
            OK(ctran_start(&requests[alone]));
            OK(ctran_startall(SEVERAL - alone - 1, requests + alone + 1));
            OK(ctran_startall(alone, requests));
            complete_all(cases, requests, SEVERAL, turn, true, &own);
        }
        for (int k = 0; k < SEVERAL; k++) {
            OK(ctran_request_free(&requests[k]));
            EXPECT(requests[k] == CTRAN_REQUEST_NULL);
            icase_free(&cases[k]);
        }
    }
    free_comms(comms);
}

/* ---- what is freed meanwhile ----------------------------------------------------------------- */

static void run_freed(void)
{
    uint64_t rng = rng_of(4);
    for (int i = 0; i < rounds(20); i++) {
        ctran_comm_t    comm;
        struct icase    cases[4];
        ctran_request_t requests[4];
        OK(ctran_comm_dup(CTRAN_COMM_WORLD, &comm));
        for (int k = 0; k < 4; k++) {
            icase_draw(&cases[k], comm, &rng);
            icase_fill(&cases[k], i);
            icase_begin(&cases[k], &requests[k]);
        }
        OK(ctran_comm_free(&comm));
        OK(ctran_waitall(4, requests, CTRAN_STATUSES_IGNORE));
        for (int k = 0; k < 4; k++) {
            icase_check(&cases[k], i);
            icase_free(&cases[k]);
        }
    }
}

/* ---- progress in other calls ----------------------------------------------------------------- */

/* Rank 0 waits in another call, which the others come to only once they have the sum that needs
 * rank 0's part. A bcast in binomial shape, or a sum, takes several steps of every rank. */
static void wait_elsewhere(int where, ctran_comm_t other)
{
    enum { N = 5000 };
    static long     in[N], out[N];
    ctran_request_t r, barrier;
    int             word = 3;
    for (int i = 0; i < N; i++) {
        in[i] = check_rank + i;
        out[i] = -1;
    }
    OK(ctran_iallreduce(in, out, N, CTRAN_LONG, CTRAN_SUM, CTRAN_COMM_WORLD, &r));
    OK(ctran_ibarrier(CTRAN_COMM_WORLD, &barrier));
    if (check_rank != 0) {
        OK(ctran_wait(&r, CTRAN_STATUS_IGNORE));
        OK(ctran_wait(&barrier, CTRAN_STATUS_IGNORE));
    }
    if (where == 0) {
        OK(ctran_barrier(other));
    } else if (where == 1) {
        OK(ctran_bcast(&word, 1, CTRAN_INT, check_size - 1, other));
    } else if (check_rank == 0) {
        for (int i = 1; i < check_size; i++) {
            ctran_status_t status;
            int            flag = 0;
            if (where == 2) {
                OK(ctran_probe(i, 9, other, &status));
            }
            while (where == 3 && !flag) {
                OK(ctran_iprobe(i, 9, other, &flag, &status));
            }
            OK(ctran_recv(&word, 1, CTRAN_INT, i, 9, other, CTRAN_STATUS_IGNORE));
        }
    } else {
        OK(ctran_send(&word, 1, CTRAN_INT, 0, 9, other));
    }
    if (check_rank == 0) {
        OK(ctran_wait(&r, CTRAN_STATUS_IGNORE));
        OK(ctran_wait(&barrier, CTRAN_STATUS_IGNORE));
    }
    for (int i = 0; i < N; i++) {
        EXPECT_EQ((long)check_size * (check_size - 1) / 2 + (long)check_size * i, out[i]);
    }
}

static void run_elsewhere(void)
{
    ctran_comm_t other;
    OK(ctran_comm_dup(CTRAN_COMM_WORLD, &other));
    for (int i = 0; i < 40; i++) {
        OK(ctran_barrier(other)); /* after some of these it has a shm_coll, where it can */
    }
    for (int where = 0; where < 5; where++) {
        for (int i = 0; i < 5; i++) {
            wait_elsewhere(where, other);
        }
    }
    OK(ctran_comm_free(&other));
}

/* A number that all ranks of this host share, 0 at first, beside the library. */
static _Atomic int *share_number(void)
{
    char path[64] = "/tmp/ctran-icoll-XXXXXX";
    int  fd = check_rank == 0 ? mkstemp(path) : -1;
    EXPECT(check_rank != 0 || (fd >= 0 && ftruncate(fd, sizeof(int)) == 0));
    OK(ctran_bcast(path, sizeof path, CTRAN_CHAR, 0, CTRAN_COMM_WORLD));
    if (check_rank != 0) {
        fd = open(path, O_RDWR);
    }
    EXPECT(fd >= 0);
    void *at = mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    EXPECT(at != MAP_FAILED);
    close(fd);
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    if (check_rank == 0) {
        EXPECT_EQ(0, unlink(path));
    }
    return at;
}

/* With a progress thread the others' sums come while rank 0, without whose steps there are none,
 * calls nothing. */
static void run_by_itself(void)
{
    enum { N = 3000, TURNS = 20 };
    const char *thread = getenv("CTRAN_PROGRESS_THREAD");
    if (thread == NULL || strcmp(thread, "1") != 0) {
        return;
    }
    static long  in[N], out[N];
    _Atomic int *there = share_number();
    for (int i = 0; i < TURNS; i++) {
        ctran_request_t r;
        const int       n = i % 2 == 0 ? N : 1;
        for (int k = 0; k < n; k++) {
            in[k] = i + k + check_rank;
        }
        OK(ctran_iallreduce(in, out, n, CTRAN_LONG, CTRAN_SUM, CTRAN_COMM_WORLD, &r));
        if (check_rank == 0) {
            while (atomic_load(there) < (i + 1) * (check_size - 1)) {
                sched_yield();
            }
        }
        OK(ctran_wait(&r, CTRAN_STATUS_IGNORE));
        if (check_rank != 0) {
            atomic_fetch_add(there, 1);
        }
        for (int k = 0; k < n; k++) {
            EXPECT_EQ((long)check_size * (i + k) + (long)check_size * (check_size - 1) / 2, out[k]);
        }
    }
    EXPECT_EQ(0, munmap((void *)there, sizeof(int)));
}

/* ---- what is refused ------------------------------------------------------------------------- */

/* Whether this rank's collective cannot be complete between the two calls of let_first_begin. */
static bool is_held(void)
{
    return check_rank == 0 && check_size > 1;
}

/* The first rank begins its collective, and lets the others begin theirs when it has looked. */
static void let_first_begin(bool has_looked)
{
    if (check_rank == 0 && has_looked) {
        for (int to = 1; to < check_size; to++) {
            OK(ctran_send(NULL, 0, CTRAN_INT, to, 0, CTRAN_COMM_WORLD));
        }
    } else if (check_rank > 0 && !has_looked) {
        OK(ctran_recv(NULL, 0, CTRAN_INT, 0, 0, CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE));
    }
}

static void run_refused(void)
{
    ctran_comm_t    comm;
    ctran_request_t r, same;
    int             one = 1, sum = 0;
    OK(ctran_comm_dup(CTRAN_COMM_WORLD, &comm));
    OK(ctran_comm_set_errhandler(comm, CTRAN_ERRORS_RETURN));
    OK(ctran_comm_set_errhandler(CTRAN_COMM_SELF, CTRAN_ERRORS_RETURN));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_ibarrier(comm, NULL));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_barrier_init(comm, CTRAN_INFO_NULL, NULL));
    EXPECT_RC(CTRAN_ERR_ROOT, ctran_ibcast(&one, 1, CTRAN_INT, check_size, comm, &r));
    EXPECT_RC(CTRAN_ERR_COUNT, ctran_ibcast(&one, -1, CTRAN_INT, 0, comm, &r));
    EXPECT_RC(CTRAN_ERR_OP, ctran_iallreduce(&one, &sum, 1, CTRAN_INT, CTRAN_OP_NULL, comm, &r));
    let_first_begin(false);
    OK(ctran_iallreduce(&one, &sum, 1, CTRAN_INT, CTRAN_SUM, comm, &r));
    same = r;
    EXPECT_RC(CTRAN_ERR_REQUEST, ctran_cancel(&r));
    if (is_held()) {
        EXPECT_RC(CTRAN_ERR_REQUEST, ctran_request_free(&r));
    }
    EXPECT_RC(CTRAN_ERR_REQUEST, ctran_start(&r));
    EXPECT(r == same);
    let_first_begin(true);
    OK(ctran_wait(&r, CTRAN_STATUS_IGNORE));
    EXPECT_EQ(check_size, sum);
    OK(ctran_allreduce_init(&one, &sum, 1, CTRAN_INT, CTRAN_SUM, comm, CTRAN_INFO_NULL, &r));
    EXPECT_RC(CTRAN_ERR_REQUEST, ctran_cancel(&r));
    sum = 0;
    let_first_begin(false);
    OK(ctran_start(&r));
    if (is_held()) {
        EXPECT_RC(CTRAN_ERR_REQUEST, ctran_request_free(&r));
    }
    EXPECT_RC(CTRAN_ERR_REQUEST, ctran_start(&r));
    let_first_begin(true);
    OK(ctran_wait(&r, CTRAN_STATUS_IGNORE));
    EXPECT_EQ(check_size, sum);
    OK(ctran_request_free(&r));
    OK(ctran_comm_set_errhandler(CTRAN_COMM_SELF, CTRAN_ERRORS_ARE_FATAL));
    OK(ctran_comm_free(&comm));
}

/* Persistent ones have numbers of their own, which do not come again as long as the first may live:
 * a duplicate has new ones. */
static void run_out_of_numbers(void)
{
    enum { MOST = 32767 };
    ctran_comm_t    comm;
    ctran_request_t kept, r;
    OK(ctran_comm_dup(CTRAN_COMM_SELF, &comm));
    OK(ctran_comm_set_errhandler(comm, CTRAN_ERRORS_RETURN));
    OK(ctran_barrier_init(comm, CTRAN_INFO_NULL, &kept));
    for (int i = 1; i < MOST; i++) {
        OK(ctran_barrier_init(comm, CTRAN_INFO_NULL, &r));
        OK(ctran_request_free(&r));
    }
    EXPECT_RC(CTRAN_ERR_UNSUPPORTED_OPERATION, ctran_barrier_init(comm, CTRAN_INFO_NULL, &r));
    OK(ctran_start(&kept));
    OK(ctran_wait(&kept, CTRAN_STATUS_IGNORE));
    OK(ctran_request_free(&kept));
    OK(ctran_comm_free(&comm));
}

/* One that was told to be complete may be freed without a completing call, persistent or not. */
static void run_let_go(void)
{
    for (int persistent = 0; persistent < 2; persistent++) {
        ctran_request_t r;
        int             one = 1, sum = 0, flag = 0;
        if (persistent) {
            OK(ctran_allreduce_init(&one, &sum, 1, CTRAN_INT, CTRAN_SUM, CTRAN_COMM_WORLD,
                                    CTRAN_INFO_NULL, &r));
            OK(ctran_start(&r));
        } else {
            OK(ctran_iallreduce(&one, &sum, 1, CTRAN_INT, CTRAN_SUM, CTRAN_COMM_WORLD, &r));
        }
        while (!flag) {
            OK(ctran_request_get_status(r, &flag, CTRAN_STATUS_IGNORE));
        }
        OK(ctran_request_free(&r));
        EXPECT(r == CTRAN_REQUEST_NULL);
        EXPECT_EQ(check_size, sum);
    }
}

/* ---- threads --------------------------------------------------------------------------------- */

struct member {
    ctran_comm_t comm;
    uint64_t     rng;
};

static void *live(void *arg)
{
    enum { SOME = 6 };
    struct member *m = arg;
    for (int i = 0; i < rounds(16); i++) {
        struct icase    cases[SOME], blocking;
        ctran_request_t requests[SOME];
        for (int k = 0; k < SOME; k++) {
            icase_draw(&cases[k], m->comm, &m->rng);
            icase_fill(&cases[k], i);
            icase_begin(&cases[k], &requests[k]);
        }
        icase_draw(&blocking, m->comm, &m->rng);
        icase_fill(&blocking, i);
        icase_do(&blocking);
        icase_check(&blocking, i);
        icase_free(&blocking);
        for (int left = SOME, index; left > 0; left--) {
            OK(ctran_waitany(SOME, requests, &index, CTRAN_STATUS_IGNORE));
            icase_check(&cases[index], i);
            icase_free(&cases[index]);
        }
    }
    return NULL;
}

static void run_threads(void)
{
    struct member members[MEMBERS];
    pthread_t     threads[MEMBERS];
    if (!threaded) {
        return;
    }
    for (int i = 0; i < MEMBERS; i++) {
        OK(ctran_comm_dup(CTRAN_COMM_WORLD, &members[i].comm));
        members[i].rng = rng_of(50 + (uint64_t)i);
        EXPECT_EQ(0, pthread_create(&threads[i], NULL, live, &members[i]));
    }
    for (int i = 0; i < MEMBERS; i++) {
        EXPECT_EQ(0, pthread_join(threads[i], NULL));
    }
    for (int i = 0; i < MEMBERS; i++) {
        OK(ctran_comm_free(&members[i].comm));
    }
}

static void run_subjects(void)
{
    static const struct subject subjects[] = {
        {"one by one", run_one_by_one}, {"many", run_many},
        {"persistent", run_persistent}, {"freed", run_freed},
        {"elsewhere", run_elsewhere},   {"by itself", run_by_itself},
        {"refused", run_refused},       {"let go", run_let_go},
        {"threads", run_threads},       {"out of numbers", run_out_of_numbers},
    };
    static const struct subject of_algorithms[] = {{"many", run_many},
                                                   {"persistent", run_persistent}};
    if (getenv("CT_FORCED") != NULL) {
        check_run(of_algorithms, LEN(of_algorithms));
    } else {
        check_run(subjects, LEN(subjects));
    }
}

int main(int argc, char **argv)
{
    const char *level = getenv("CT_LEVEL");
    threaded = level != NULL && strcmp(level, "multiple") == 0;
    if (threaded) {
        check_start_threads(argc, argv, CTRAN_THREAD_MULTIPLE);
    } else {
        check_start(argc, argv);
    }
    forced_each(run_subjects);
    return check_end();
}
