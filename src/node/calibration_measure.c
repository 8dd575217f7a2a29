/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The measurements of calibration.h. Each is the least of many short ones: whatever else runs on
 * the machine makes one longer, and never shorter. Each has an end by the clock, so that a core
 * that is busy with something else leaves a guess, and not a wait. Two cores are measured by two
 * threads, this one and a partner that ends with the measurement; both are bound to their cores
 * meanwhile, and this one is let go again afterwards.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/block.h"
#include "node/calibration.h"

enum { NONE = 0 };

#define LIMIT_NS (4 * (uint64_t)CT_NS_PER_MS) /* of one measurement */

static void calibration_measure_keep(struct ct_calibration *c, enum ct_figure which, uint64_t value)
{
    const struct ct_figure_info *info = &ct_figure_info[which];
    if (value != NONE) {
        c->figure[which] = value < info->least  ? info->least
                           : value > info->most ? info->most
                                                : value;
        c->measured |= UINT32_C(1) << which;
    }
}

static uint64_t calibration_measure_least(uint64_t a, uint64_t b)
{
    return a == NONE || (b != NONE && b < a) ? b : a;
}

/* ---- one thread ------------------------------------------------------------------------------ */

/* The least time of one of `times` calls of what, over batches until the limit. */
static uint64_t calibration_measure_time_of(void (*what)(void *arg), void *arg, unsigned times)
{
    enum { BATCHES = 32 };
    const uint64_t end = ct_clock_ns() + LIMIT_NS;
    uint64_t       best = NONE, now = 0;
    what(arg);
    for (unsigned i = 0; i < BATCHES && now < end; i++) {
        const uint64_t start = ct_clock_ns();
        for (unsigned k = 0; k < times; k++) {
            what(arg);
        }
        now = ct_clock_ns();
        best = calibration_measure_least(best, ct_max_size((now - start + times / 2) / times, 1));
    }
    return best;
}

static void do_syscall(void *arg)
{
    (void)arg;
    (void)syscall(SYS_getppid);
}

static void do_pause(void *arg)
{
    (void)arg;
    ct_line_pause();
}

static void do_kernel_copy(void *arg)
{
    struct iovec *v = arg;
    (void)!process_vm_readv(getpid(), &v[0], 1, &v[1], 1, 0);
}

/* Whether the kernel copies between two ranges of a process at all. */
static bool can_kernel_copy(const struct iovec v[2])
{
    return process_vm_readv(getpid(), &v[0], 1, &v[1], 1, 0) == (ssize_t)v[0].iov_len;
}

struct two {
    char  *to, *from;
    size_t bytes;
};

static void do_copy(void *arg)
{
    const struct two *t = arg;
    ct_block_copy(t->to, t->from, t->bytes);
    __asm__ volatile("" : : "r"(t->to) : "memory");
}

static uint64_t calibration_measure_rate(uint64_t ns, size_t bytes)
{
    return ns == NONE ? NONE : bytes * 1000 / ns;
}

/* Copies of so many bytes that stay in caches, by this process and by the kernel; `kernel` may be
 * CT_FIGURES. */
static void measure_cached(struct ct_calibration *c, const struct two *all, size_t bytes,
                           enum ct_figure own, enum ct_figure kernel)
{
    enum { ENOUGH = 256 << 10 };
    struct two     t = {all->to, all->from, ct_min_size(bytes, all->bytes)};
    struct iovec   v[2] = {{t.to, t.bytes}, {t.from, t.bytes}};
    const unsigned times = (unsigned)ct_max_size(ENOUGH / t.bytes, 1);
    calibration_measure_keep(
        c, own, calibration_measure_rate(calibration_measure_time_of(do_copy, &t, times), t.bytes));
    if (kernel < CT_FIGURES && can_kernel_copy(v)) {
        calibration_measure_keep(
            c, kernel,
            calibration_measure_rate(calibration_measure_time_of(do_kernel_copy, v, times),
                                     t.bytes));
    }
}

/* A part of the copy: short enough that some part of them is not interrupted. */
enum { PART = 128 << 10 };

/* The least time of a part of a copy that no cache of a core holds. */
static uint64_t time_of_parts(void (*what)(void *arg), const struct two *all, bool kernel)
{
    uint64_t best = NONE;
    for (size_t at = 0; at + PART <= all->bytes; at += PART) {
        struct two     t = {all->to + at, all->from + at, PART};
        struct iovec   v[2] = {{t.to, PART}, {t.from, PART}};
        const uint64_t start = ct_clock_ns();
        what(kernel ? (void *)v : (void *)&t);
        best = calibration_measure_least(best, ct_max_size(ct_clock_ns() - start, 1));
    }
    return best;
}

/* Sizes: half of the nearest cache, half of a core's own, and eight times that. */
static void measure_copies(struct ct_calibration *c)
{
    enum { MOST = 16 << 20, FEW = 16 };
    const size_t large =
        ct_max_size(ct_min_size(8 * c->caches.private_bytes, MOST) / PART, 1) * PART;
    char *at = mmap(NULL, 2 * large, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
        return;
    }
    const struct two all = {at, at + large, large};
    struct iovec     few[2] = {{all.to, FEW}, {all.from, FEW}};
    memset(at, 1, 2 * large);
    calibration_measure_keep(c, CT_FIGURE_copy_memory,
                             calibration_measure_rate(time_of_parts(do_copy, &all, false), PART));
    if (can_kernel_copy(few)) {
        calibration_measure_keep(c, CT_FIGURE_kernel_copy_ns,
                                 calibration_measure_time_of(do_kernel_copy, few, 32));
        calibration_measure_keep(
            c, CT_FIGURE_kernel_copy_memory,
            calibration_measure_rate(time_of_parts(do_kernel_copy, &all, true), PART));
    }
    measure_cached(c, &all, c->caches.private_bytes / 4, CT_FIGURE_copy_private,
                   CT_FIGURE_kernel_copy_private);
    measure_cached(c, &all, c->caches.near_bytes / 4, CT_FIGURE_copy_near, CT_FIGURES);
    (void)munmap(at, 2 * large); /* ours: cannot fail */
}

enum { ATTACHED = 256 << 10 };

/* As node/attach.c does it; NULL: it cannot be. */
static char *calibration_measure_attach(const char *path)
{
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    void     *at =
        fd >= 0 ? mmap(NULL, ATTACHED, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (fd >= 0) {
        (void)close(fd);
    }
    return at == MAP_FAILED ? NULL : at;
}

static void measure_attach(struct ct_calibration *c)
{
    enum { TIMES = 8, PAGE = 4096, PAGES = ATTACHED / PAGE };
    const int fd = memfd_create("ctran-calibration", MFD_CLOEXEC);
    char      path[64];
    uint64_t  map_ns = NONE, page_ns = NONE;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (fd < 0 || posix_fallocate(fd, 0, ATTACHED) != 0) {
        if (fd >= 0) {
            (void)close(fd); /* never written to */
        }
        return;
    }
    for (unsigned i = 0; i < TIMES; i++) {
        const uint64_t start = ct_clock_ns();
        volatile char *at = calibration_measure_attach(path);
        const uint64_t mapped = ct_clock_ns();
        for (size_t k = 0; at != NULL && k < ATTACHED; k += PAGE) {
            at[k] = 1;
        }
        if (at != NULL) {
            map_ns = calibration_measure_least(map_ns, mapped - start);
            page_ns = calibration_measure_least(page_ns, (ct_clock_ns() - mapped) / PAGES);
            (void)munmap((void *)(uintptr_t)at, ATTACHED); /* ours: cannot fail */
        }
    }
    (void)close(fd);
    calibration_measure_keep(c, CT_FIGURE_attach_ns, map_ns);
    calibration_measure_keep(c, CT_FIGURE_attach_page_ns, page_ns);
}

/* ---- two threads ----------------------------------------------------------------------------- */

enum { POLLS, SLEEPS, YIELDS }; /* how the two wait for each other */

#define PAIR_LIMIT_NS (20 * (uint64_t)CT_NS_PER_MS) /* on a busy machine; else it takes one */

/* A ball that goes to and fro: odd to the partner, even back. */
struct game {
    CT_ALIGNED(CT_CACHE_LINE) _Atomic uint32_t ball;
    CT_ALIGNED(CT_CACHE_LINE) _Atomic uint32_t over;
    _Atomic bool ready; /* the partner runs on its core */
    int          kind;
    int          core;
    uint64_t     end_ns;
};

/* Waits until the ball is `value`; false: the game is over. */
static bool await_ball(struct game *g, uint32_t value)
{
    enum { LOOK = 1024 };
    for (unsigned i = 1; atomic_load_explicit(&g->ball, memory_order_acquire) != value; i++) {
        if (atomic_load_explicit(&g->over, memory_order_relaxed) != 0) {
            return false;
        }
        if ((g->kind != POLLS || i % LOOK == 0) && ct_clock_ns() >= g->end_ns) {
            atomic_store_explicit(&g->over, 1, memory_order_relaxed);
        }
        if (g->kind == SLEEPS) {
            ct_futex_wait_private(&g->ball, value - 1, CT_NS_PER_MS);
        } else if (g->kind == YIELDS) {
            sched_yield();
        }
    }
    return true;
}

static void throw_ball(struct game *g, uint32_t value)
{
    atomic_store_explicit(&g->ball, value, memory_order_release);
    if (g->kind == SLEEPS) {
        ct_futex_wake_private(&g->ball);
    }
}

static bool bind_to(int core)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((unsigned)core, &one);
    return sched_setaffinity(0, sizeof one, &one) == 0;
}

static void *calibration_measure_partner(void *game)
{
    struct game *g = game;
    if (bind_to(g->core)) {
        atomic_store_explicit(&g->ready, true, memory_order_relaxed);
        for (uint32_t value = 1; await_ball(g, value); value += 2) {
            throw_ball(g, value + 1);
        }
    }
    atomic_store_explicit(&g->over, 1, memory_order_relaxed);
    return NULL;
}

/* The least time of one way. */
static uint64_t calibration_measure_play(struct game *g)
{
    enum { ROUNDS = 8, BATCHES = 400 };
    const unsigned rounds = g->kind == SLEEPS ? 1 : ROUNDS; /* the clock is cheap beside a sleep */
    uint64_t       best = NONE;
    uint32_t       value = 0;
    while (!atomic_load_explicit(&g->ready, memory_order_relaxed) && ct_clock_ns() < g->end_ns) {
        sched_yield();
    }
    for (unsigned i = 0; i < BATCHES && ct_clock_ns() < g->end_ns; i++) {
        const uint64_t start = ct_clock_ns();
        for (unsigned k = 0; k < rounds; k++, value += 2) {
            throw_ball(g, value + 1);
            if (!await_ball(g, value + 2)) {
                return best;
            }
        }
        best =
            calibration_measure_least(best, ct_max_size((ct_clock_ns() - start) / (2 * rounds), 1));
    }
    return best;
}

/* The game between two cores, which may be one. No signal of the program's runs on the partner. */
static uint64_t measure_pair(int kind, int here, int there)
{
    struct game    g = {.kind = kind, .core = there, .end_ns = ct_clock_ns() + PAIR_LIMIT_NS};
    pthread_attr_t attr;
    pthread_t      thread;
    sigset_t       all, before;
    if (!bind_to(here) || pthread_attr_init(&attr) != 0) {
        return NONE;
    }
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = pthread_create(&thread, &attr, calibration_measure_partner, &g) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attr);
    if (!started) {
        return NONE;
    }
    const uint64_t best = calibration_measure_play(&g);
    atomic_store_explicit(&g.over, 1, memory_order_relaxed);
    ct_futex_wake_private(&g.ball);
    (void)pthread_join(thread, NULL);
    return best;
}

/* Whether the two cores share the last cache that either of them has, and whether they are threads
 * of one core; false: the kernel does not say. */
static bool are_listed(int core, int other, const char *list)
{
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/%s", core, list);
    FILE *f = fopen(path, "re");
    int   first, last;
    bool  found = false;
    while (f != NULL && !found && fscanf(f, "%d", &first) == 1) {
        last = first;
        (void)!fscanf(f, "-%d", &last);
        found = other >= first && other <= last;
        if (fgetc(f) != ',') {
            break;
        }
    }
    if (f != NULL) {
        (void)fclose(f); /* read only */
    }
    return found;
}

/* A core that `here` may be measured with, in the same last cache or another; -1: there is none. */
static int find_core(const cpu_set_t *allowed, int here, bool same)
{
    for (int core = 0; core < CPU_SETSIZE; core++) {
        if (core != here && CPU_ISSET((unsigned)core, allowed) &&
            !are_listed(here, core, "topology/thread_siblings_list") &&
            (are_listed(here, core, "cache/index3/shared_cpu_list") ||
             are_listed(here, core, "cache/index2/shared_cpu_list")) == same) {
            return core;
        }
    }
    return -1;
}

/* A rank may be bound to one core: it is let loose for that, and bound again. */
static void measure_cores(struct ct_calibration *c)
{
    cpu_set_t before, allowed;
    memset(&allowed, 0xff, sizeof allowed);
    if (sched_getaffinity(0, sizeof before, &before) != 0) {
        return;
    }
    (void)sched_setaffinity(0, sizeof allowed, &allowed); /* as far as there are such */
    const int here = sched_getcpu();
    if (here < 0 || sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        (void)sched_setaffinity(0, sizeof before, &before);
        return;
    }
    const int near = find_core(&allowed, here, true), remote = find_core(&allowed, here, false);
    const int other = near >= 0 ? near : remote;
    if (near >= 0) {
        calibration_measure_keep(c, CT_FIGURE_line_near_ns, measure_pair(POLLS, here, near));
    }
    if (remote >= 0) {
        calibration_measure_keep(c, CT_FIGURE_line_remote_ns, measure_pair(POLLS, here, remote));
    }
    if (other >= 0) {
        calibration_measure_keep(c, CT_FIGURE_wake_ns, measure_pair(SLEEPS, here, other));
    }
    calibration_measure_keep(c, CT_FIGURE_switch_ns, measure_pair(YIELDS, here, here));
    (void)sched_setaffinity(0, sizeof before, &before);
}

void ct_calibration_measure(struct ct_calibration *c)
{
    struct timespec now;
    c->measured = 0;
    c->origin = CT_CALIBRATION_MEASURED;
    (void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail */
    c->when_s = (int64_t)now.tv_sec;
    measure_cores(c);
    calibration_measure_keep(c, CT_FIGURE_syscall_ns,
                             calibration_measure_time_of(do_syscall, NULL, 64));
    calibration_measure_keep(c, CT_FIGURE_pause_ns,
                             calibration_measure_time_of(do_pause, NULL, 256));
    measure_copies(c);
    measure_attach(c);
}
