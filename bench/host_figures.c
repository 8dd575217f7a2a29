/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_figures - what this host needs for the things that ranks do which share its cores and its
 * memory, for ctran_sim's description of it (bench/sim_perf). Without a job, in a few seconds; run
 * it with the priority that the ranks will have. Prints a line for each figure:
 *
 *     switch US   a core takes up another process: some yield to each other in turn, and each
 *                 touches a little memory of its own
 *     wake US     one falls asleep and another wakes it, as the library does (base/wait.h), besides
 *                 the switch; the other core runs meanwhile
 *     poll US     a look for messages that finds none
 *     fresh B     bytes a second that a copy moves to memory that the other core has just read, and
 *                 from memory that it has just written: the mean of both
 *     near, far, dram B   bytes a second that memcpy moves within a core's own cache, within the
 *                 last one, and beyond
 *     llc B       bytes that may go round until each takes the mean of what it takes at far and at
 *                 dram: what this host gets of the last cache, of which others may have their part
 *     reduce B    that the library adds up, floats in the core's own cache
 *     step US     for a sum of two floats: what it takes besides its bytes
 *
 * Medians of several turns.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "ctran.h"

enum { TURNS = 9, YIELDERS = 4, YIELDS = 2000, HOPS = 1000, LOOKS = 20000, PIECE = 16 << 10 };
enum { TOUCHED = 4096, LIMIT_S = 60, PASSED = 64 << 10, ROUND = 256 << 10, PASSES = 2000 };

static double us_since(uint64_t start_ns)
{
    return (double)(ct_clock_ns() - start_ns) / 1e3;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *of)
{
    qsort(of, TURNS, sizeof *of, ascending);
    return of[TURNS / 2];
}

/* One of the cores that this process may use; -1: there are not so many. */
static int core(int i)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) {
        return -1;
    }
    for (int c = 0; c < CPU_SETSIZE; c++) {
        if (CPU_ISSET((unsigned)c, &set) && i-- == 0) {
            return c;
        }
    }
    return -1;
}

static void sit(int where)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (where >= 0) {
        CPU_SET((unsigned)where, &set);
        (void)sched_setaffinity(0, sizeof set, &set);
    }
}

/* A process that ends with its parent's patience. */
static pid_t start(int where)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid < 0) { /* those that are there already end by their alarm */
        perror("host_figures: fork");
        exit(1);
    }
    if (pid == 0) {
        alarm(LIMIT_S);
        sit(where);
    }
    return pid;
}

/* ---- turns on a core ------------------------------------------------------------------------- */

static void yield_in_turn(void)
{
    static volatile char memory[TOUCHED];
    for (int i = 0; i < YIELDS; i++) {
        for (int at = 0; at < TOUCHED; at += CT_CACHE_LINE) {
            memory[at]++;
        }
        sched_yield();
    }
}

static double switch_us(int where)
{
    const uint64_t begin = ct_clock_ns();
    for (int i = 0; i < YIELDERS; i++) {
        if (start(where) == 0) {
            yield_in_turn();
            _exit(0);
        }
    }
    while (wait(NULL) > 0) {
    }
    return us_since(begin) / (YIELDERS * YIELDS);
}

/* ---- sleep ----------------------------------------------------------------------------------- */

struct token {
    _Atomic uint32_t at; /* counts the hops */
    struct ct_wake   wake[2];
    double           us;
};

/* Whoever's turn it is counts on and wakes the other one. */
static void hop(struct token *t, uint32_t me)
{
    for (;;) {
        uint32_t now = atomic_load_explicit(&t->at, memory_order_seq_cst);
        if (now >= HOPS) {
            break;
        }
        if (now % 2 == me) {
            atomic_store_explicit(&t->at, now + 1, memory_order_seq_cst);
            ct_wake_signal(&t->wake[1 - me]);
            continue;
        }
        ct_wake_announce(&t->wake[me]);
        if (atomic_load_explicit(&t->at, memory_order_seq_cst) == now) {
            ct_wake_sleep(&t->wake[me], CT_NS_PER_MS);
        }
        ct_wake_cancel(&t->wake[me]);
    }
    ct_wake_signal(&t->wake[1 - me]);
}

static double hop_us(struct token *t, int where, int beside, bool joined)
{
    memset(t, 0, sizeof *t);
    t->wake[0].bars = t->wake[1].bars = joined;
    pid_t other = start(beside);
    if (other == 0) { /* barriers interrupt a core that runs one who has joined */
        for (;;) {
            sched_yield();
        }
    }
    pid_t second = start(where);
    if (second == 0) {
        hop(t, 1);
        _exit(0);
    }
    pid_t first = start(where);
    if (first == 0) {
        uint64_t begin = ct_clock_ns();
        hop(t, 0);
        t->us = us_since(begin) / HOPS;
        _exit(0);
    }
    (void)waitpid(first, NULL, 0);
    (void)waitpid(second, NULL, 0);
    (void)kill(other, SIGKILL);
    (void)waitpid(other, NULL, 0);
    return t->us;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static size_t cache_bytes(int index, size_t otherwise)
{
    char   path[96];
    size_t kib = 0;
    (void)snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
    FILE *f = fopen(path, "r");
    if (f != NULL) {
        kib = fscanf(f, "%zuK", &kib) == 1 ? kib : 0;
        (void)fclose(f);
    }
    return kib > 0 ? kib << 10 : otherwise;
}

/* Piece by piece from one half of the memory to the other. */
static double copy_rate(char *memory, size_t bytes)
{
    const size_t half = bytes / 2;
    const size_t passes = ct_max_size(((size_t)32 << 20) / half, 1);
    double       times[TURNS];
    memset(memory, 1, bytes);
    for (int turn = 0; turn < TURNS; turn++) {
        uint64_t begin = ct_clock_ns();
        for (size_t pass = 0; pass < passes; pass++) {
            for (size_t at = 0; at + PIECE <= half; at += PIECE) {
                memcpy(memory + half + at, memory + at, PIECE);
            }
        }
        times[turn] = us_since(begin);
    }
    return (double)(passes * (half / PIECE) * PIECE) / median(times) * 1e6;
}

/* Memory that two processes see, `len` bytes of which one fills at a time, and the other reads. */
struct passage {
    _Atomic uint32_t at; /* counts the turns */
    double           us;
    char             memory[ROUND];
};

/* Turn after turn, as whose it is: from private memory to the passage, and from there. */
static void pass_on(struct passage *p, size_t len, uint32_t me)
{
    char *own = malloc(PASSED);
    if (own == NULL) {
        _exit(1);
    }
    memset(own, 1, PASSED);
    for (uint32_t i = 0; i < PASSES; i++) {
        char *there = p->memory + (size_t)i * PASSED % ROUND;
        while (atomic_load_explicit(&p->at, memory_order_acquire) != 2 * i + me) {
            ct_line_pause();
        }
        memcpy(me == 0 ? there : own, me == 0 ? own : there, len);
        atomic_store_explicit(&p->at, 2 * i + me + 1, memory_order_release);
    }
    free(own);
}

static double pass_us(struct passage *p, int where, int beside, size_t len)
{
    p->at = 0;
    const pid_t other = start(beside);
    if (other == 0) {
        pass_on(p, len, 1);
        _exit(0);
    }
    const pid_t one = start(where);
    if (one == 0) {
        const uint64_t begin = ct_clock_ns();
        pass_on(p, len, 0);
        p->us = us_since(begin) / PASSES;
        _exit(0);
    }
    (void)waitpid(one, NULL, 0);
    (void)waitpid(other, NULL, 0);
    return p->us;
}

/* Without a second core nothing is fresh. */
static double fresh_rate(int where, int beside, double otherwise)
{
    double          with[TURNS], without[TURNS];
    struct passage *p =
        mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || where == beside) {
        return otherwise;
    }
    for (int turn = 0; turn < TURNS; turn++) {
        with[turn] = pass_us(p, where, beside, PASSED);
        without[turn] = pass_us(p, where, beside, 0);
    }
    const double us = median(with) - median(without);
    return us > 0 ? 2 * PASSED / us * 1e6 : otherwise;
}

/* Where, of growing amounts of memory that go round, a byte first takes the mean of what it takes
 * in the last cache and beyond. */
static double last_cache(char *memory, size_t least, size_t most, double far, double dram)
{
    const double mean = (1 / far + 1 / dram) / 2;
    double       bytes = (double)least, before = 1 / far;
    while (far > dram && bytes < (double)most) {
        const double more = 1.25 * bytes;
        const double each = 1 / copy_rate(memory, (size_t)more / (2 * PIECE) * (2 * PIECE));
        if (each >= mean) {
            return bytes + (more - bytes) * (mean - before) / (each - before);
        }
        before = each < mean ? each : mean;
        bytes = more;
    }
    return (double)most;
}

/* Microseconds for a sum of so many bytes. */
static double reduce_us(char *memory, size_t bytes)
{
    double times[TURNS];
    memset(memory, 0, 2 * PIECE);
    for (int turn = 0; turn < TURNS; turn++) {
        uint64_t begin = ct_clock_ns();
        for (int i = 0; i < HOPS; i++) {
            ctran_reduce_local(memory, memory + PIECE, (int)(bytes / sizeof(float)), CTRAN_FLOAT,
                               CTRAN_SUM);
        }
        times[turn] = us_since(begin) / HOPS;
    }
    return median(times);
}

/* ---- looks ----------------------------------------------------------------------------------- */

static double poll_us(void)
{
    double times[TURNS];
    for (int turn = 0; turn < TURNS; turn++) {
        uint64_t begin = ct_clock_ns();
        for (int i = 0; i < LOOKS; i++) {
            int found;
            ctran_iprobe(CTRAN_ANY_SOURCE, 1, CTRAN_COMM_WORLD, &found, CTRAN_STATUS_IGNORE);
        }
        times[turn] = us_since(begin) / LOOKS;
    }
    return median(times);
}

int main(int argc, char **argv)
{
    const size_t  own = cache_bytes(2, 1 << 20), last = cache_bytes(3, 4 * own);
    const int     where = core(0), beside = core(1) >= 0 ? core(1) : where;
    const bool    joined = ct_membarrier_join();
    const size_t  most = 4 * last;
    double        switches[TURNS], hops[TURNS], plain[TURNS];
    struct token *token =
        mmap(NULL, sizeof *token, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char *memory = malloc(most);
    if (token == MAP_FAILED || memory == NULL) {
        fprintf(stderr, "host_figures: out of memory\n");
        return 1;
    }
    for (int turn = 0; turn < TURNS; turn++) {
        switches[turn] = switch_us(where);
        hops[turn] = hop_us(token, where, beside, joined);
        plain[turn] = hop_us(token, where, beside, false);
    }
    /* What joining adds is the barrier of who falls asleep; the rest is the waking. */
    const double once = median(switches), hop = median(hops), bare = median(plain);
    printf("switch %.4f\nwake %.4f\n", once, bare > once ? bare - once : 0);
    printf("fall %.4f\n", hop > bare ? hop - bare : 0);
    const size_t within = ct_min_size(4 * own, last / 2);
    const double far = copy_rate(memory, within), dram = copy_rate(memory, most);
    const double near = copy_rate(memory, own / 4);
    printf("fresh %.4g\n", fresh_rate(where, beside, near));
    printf("near %.4g\nfar %.4g\ndram %.4g\n", near, far, dram);
    printf("llc %.0f\n", last_cache(memory, within, last, far, dram));
    if (ctran_init(&argc, &argv) != CTRAN_SUCCESS) {
        return 1;
    }
    const double step = reduce_us(memory, 2 * sizeof(float));
    printf("reduce %.4g\n", PIECE / (reduce_us(memory, PIECE) - step) * 1e6);
    printf("step %.4f\n", step);
    printf("poll %.4f\n", poll_us());
    free(memory);
    return ctran_finalize() == CTRAN_SUCCESS ? 0 : 1;
}
