/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kernels_perf - the kernels alone on real GPUs (or on the emulation): time a call, eager back to
 * back and in graph replay, and whether the results are right.
 *
 *   kernels_perf [-n RANKS] [-dqt] [-c COLL] [-s BYTES[,...]] [-B BLOCKS[,...]] [-w MIB] [-m MIB]
 *       [-b CHANNELS] MODULE...
 *
 * One process; a thread and a GPU a rank (RANKS may exceed the GPUs: ranks then share them, for
 * correctness only). -d: the direct kernels alone. -t tries numbers of blocks and all kinds of
 * items instead of the defaults; -q does few repetitions; -c names one collective, -s its sizes
 * (8, 64K, 128M), -B the most blocks a kernel has (0: as many as it wants); -w sizes the workspace,
 * which is divided as the library does it, -b gives it so many channels and no rows, -m sizes the
 * buffers. The MODULEs are the units of the kernels, those that are needed. It stands alone: from
 * the top of the sources
 *
 *   for unit in moves reduce_float; do
 *       nvcc -std=c++17 -O3 -fmad=false -arch=sm_90 -fatbin -Isrc src/gpu/kernels/$unit.cu
 *   done
 *   gcc -std=gnu11 -O2 -D_GNU_SOURCE -Isrc -o kernels_perf tests/gpu/kernels_perf.c \
 *       src/gpu/kernels*.c -ldl -lpthread
 *
 * Bytes are what one rank contributes, of alltoall and reduce_scatter one block. GB/s is the bus
 * bandwidth as nccl-tests define it.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "gpu/kernels.h"

enum { MOST = 8, MODULES = 16, GRAPH_CALLS = 20 };

enum coll { ALLGATHER, ALLTOALL, SHIFT, BCAST, ALLREDUCE, REDUCE_SCATTER, COLLS };
static const char *const coll_names[] = {"allgather", "alltoall",  "sendrecv",
                                         "bcast",     "allreduce", "reduce_scatter"};

struct rank {
    int                   me;
    CUcontext             ctx;
    CUstream              stream;
    CUmodule              modules[MODULES];
    CUdeviceptr           workspace, send, recv;
    struct ct_kernel_comm comm, rows;
    double                eager_us, graph_us;
    size_t                wrong;
};

/* What is measured now. */
struct job {
    enum coll            coll;
    size_t               bytes;
    struct ct_kernel_how how;
    bool                 direct;
    int                  calls, graphs;
};

static struct cuda_table cu;
static struct rank       ranks[MOST];
static struct job        job;
static int               nranks, ndevices;
static size_t            buffer_bytes = (size_t)1 << 30;
static uint32_t         *abort_word;
static pthread_barrier_t together;
static bool              direct; /* -d */
static bool              has_ll32;
static char            **module_files;
static int               nmodules;

static void check(CUresult r, const char *what, int line)
{
    if (r != CUDA_SUCCESS) {
        const char *name = "?";
        (void)cu.cuGetErrorName(r, &name);
        fprintf(stderr, "line %d: %s: %s\n", line, what, name);
        exit(1);
    }
}
#define CHECK(call, args) check(cu.call args, #call, __LINE__)

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* A kernel that waits for ever is told to end; if it does not, or at the next alarm, so is the
 * program. */
static void hangs(int number)
{
    static const char text[] = "it hangs: the abort word is set\n";
    static int        before;
    (void)number;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    __atomic_store_n(abort_word, 1, __ATOMIC_RELEASE);
    if (before++ > 0) {
        _exit(1);
    }
    alarm(5);
}

static const struct ct_kernel_reduction sum_of_floats = {CT_KERNEL_F32, CT_KERNEL_SUM, 4};

static void *at(CUdeviceptr base, size_t offset)
{
    return (void *)(uintptr_t)(base + offset);
}

/* To p from this rank, with the blocks of an alltoall or an allgather. */
static struct ct_kernel_reach move_to(const struct rank *r, int p)
{
    const size_t n = job.bytes;
    return (struct ct_kernel_reach){
        at(r->send, job.coll == ALLTOALL ? (size_t)p * n : 0),
        at(ranks[p].recv, job.coll == SHIFT || job.coll == BCAST ? 0 : (size_t)r->me * n), n};
}

/* Of rank 0, the root, what it sends. */
static void *bcast_buffer(int p)
{
    return at(p == 0 ? ranks[p].send : ranks[p].recv, 0);
}

static void build_direct(const struct rank *r, struct ct_kernel_call *k)
{
    const uint32_t         n = (uint32_t)nranks, me = (uint32_t)r->me, blocks = job.how.blocks;
    const uint32_t         others = ((1u << n) - 1) & ~(1u << me);
    struct ct_kernel_reach all[MOST];
    for (int p = 0; p < nranks; p++) {
        all[p] = (struct ct_kernel_reach){at(ranks[p].send, 0), at(ranks[p].recv, 0), 0};
    }
    if (job.coll == ALLREDUCE) {
        ct_kernel_direct_allreduce(k, &r->comm, blocks, &sum_of_floats, all, job.bytes / 4, true);
        return;
    }
    if (job.coll == REDUCE_SCATTER) {
        ct_kernel_direct_reduce_scatter(k, &r->comm, blocks, &sum_of_floats, all, job.bytes / 4,
                                        false);
        return;
    }
    if (job.coll == BCAST && n > 2) {
        void *bufs[MOST];
        for (int p = 0; p < nranks; p++) {
            bufs[p] = bcast_buffer(p);
        }
        ct_kernel_direct_bcast(k, &r->comm, blocks, bufs, job.bytes, 0);
        return;
    }
    for (int p = 0; p < nranks; p++) {
        all[p] = move_to(r, p);
    }
    if (job.coll == SHIFT) {
        all[me].bytes = 0;
        ct_kernel_direct_move(k, &r->comm, blocks, all, 1u << (me + n - 1) % n, 1u << (me + 1) % n,
                              false);
    } else if (job.coll == BCAST) {
        all[me].bytes = 0;
        ct_kernel_direct_move(k, &r->comm, blocks, all, me, me == 0 ? 2 : 0, true);
    } else {
        ct_kernel_direct_move(k, &r->comm, blocks, all, others, others, true);
    }
}

static void build(const struct rank *r, struct ct_kernel_call *k)
{
    if (job.direct) {
        build_direct(r, k);
        return;
    }
    const uint32_t       n = (uint32_t)nranks, me = (uint32_t)r->me;
    struct ct_kernel_how how = job.how;
    const void          *send = (const void *)(uintptr_t)r->send;
    void                *recv = (void *)(uintptr_t)r->recv;
    how.rows = has_ll32 ? &r->rows : NULL;
    switch (job.coll) {
    case ALLGATHER:
        ct_kernel_allgather(k, &r->comm, how, send, recv, job.bytes);
        break;
    case ALLTOALL:
        ct_kernel_alltoall(k, &r->comm, how, send, recv, job.bytes);
        break;
    case SHIFT: {
        struct ct_kernel_move moves[MOST];
        memset(moves, 0, sizeof moves);
        moves[(me + 1) % n].src = send;
        moves[(me + 1) % n].send_bytes = job.bytes;
        moves[(me + n - 1) % n].dst = recv;
        moves[(me + n - 1) % n].recv_bytes = job.bytes;
        ct_kernel_moves(k, &r->comm, how, moves, 1u << (me + 1) % n, 1u << (me + n - 1) % n,
                        job.bytes);
        break;
    }
    case BCAST:
        ct_kernel_bcast(k, &r->comm, how, bcast_buffer(r->me), job.bytes, 0);
        break;
    case ALLREDUCE:
        ct_kernel_allreduce(k, &r->comm, how, &sum_of_floats, send, recv, job.bytes / 4);
        break;
    default:
        ct_kernel_reduce_scatter(k, &r->comm, how, &sum_of_floats, send, recv, job.bytes / 4, NULL);
        break;
    }
}

static size_t sent_bytes(void)
{
    return job.bytes * (job.coll == ALLTOALL || job.coll == REDUCE_SCATTER ? (size_t)nranks : 1);
}

static size_t received_bytes(void)
{
    return job.bytes * (job.coll == ALLTOALL || job.coll == ALLGATHER ? (size_t)nranks : 1);
}

/* Element i of what rank p sends: small, so that sums are exact. */
static float sent(int p, size_t i)
{
    return (float)((i * 7 + (size_t)p * 13) % 1021);
}

static float wanted(int me, size_t i)
{
    const size_t block = job.bytes / 4;
    float        sum = 0;
    switch (job.coll) {
    case ALLGATHER:
        return sent((int)(i / block), i % block);
    case ALLTOALL:
        return sent((int)(i / block), (size_t)me * block + i % block);
    case SHIFT:
        return sent((me + nranks - 1) % nranks, i);
    case BCAST:
        return sent(0, i);
    default:
        for (int p = 0; p < nranks; p++) {
            sum += sent(p, job.coll == REDUCE_SCATTER ? (size_t)me * block + i : i);
        }
        return sum;
    }
}

static void verify(struct rank *r)
{
    const size_t n = received_bytes() / 4, step = n > (1 << 22) ? 61 : 1;
    float       *host = malloc(n * 4);
    CHECK(cuMemcpyDtoH, (host, r->recv, n * 4));
    r->wrong = 0;
    for (size_t i = 0; i < n && !(job.coll == BCAST && r->me == 0); i += step) {
        r->wrong += host[i] != wanted(r->me, i);
    }
    free(host);
}

static void launch(const struct rank *r, CUfunction f, struct ct_kernel_call *k)
{
    void *params[] = {&k->args};
    CHECK(cuLaunchKernel, (f, k->blocks, 1, 1, k->threads, 1, 1, 0, r->stream, params, NULL));
}

/* Which one of the modules has. */
static CUfunction function_of(const struct rank *r, const char *name)
{
    CUfunction f;
    for (int i = 0; i < nmodules; i++) {
        if (cu.cuModuleGetFunction(&f, r->modules[i], name) == CUDA_SUCCESS) {
            return f;
        }
    }
    fprintf(stderr, "no MODULE has kernel %s\n", name);
    exit(1);
}

static void measure(struct rank *r)
{
    struct ct_kernel_call k;
    CUfunction            f;
    CUgraph               graph;
    CUgraphExec           exec;
    char                  name[CT_KERNEL_NAME];
    int                   regs;
    build(r, &k);
    (void)ct_kernel_name(k.kernel, name); /* it has one */
    f = function_of(r, name);
    /* Loads it, which may wait for what runs: not for a peer's kernel that waits for this one. */
    CHECK(cuFuncGetAttribute, (&regs, CU_FUNC_ATTRIBUTE_NUM_REGS, f));
    CHECK(cuMemsetD8, (r->recv, 0xee, received_bytes()));
    CHECK(cuCtxSynchronize, ());
    pthread_barrier_wait(&together);
    for (int i = 0; i < 3; i++) {
        launch(r, f, &k);
    }
    CHECK(cuStreamSynchronize, (r->stream));
    pthread_barrier_wait(&together);
    double t = now_us();
    for (int i = 0; i < job.calls; i++) {
        launch(r, f, &k);
    }
    CHECK(cuStreamSynchronize, (r->stream));
    r->eager_us = (now_us() - t) / job.calls;

    CHECK(cuStreamBeginCapture, (r->stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    for (int i = 0; i < GRAPH_CALLS; i++) {
        launch(r, f, &k);
    }
    CHECK(cuStreamEndCapture, (r->stream, &graph));
    CHECK(cuGraphInstantiate, (&exec, graph, 0));
    CHECK(cuGraphLaunch, (exec, r->stream));
    CHECK(cuStreamSynchronize, (r->stream));
    pthread_barrier_wait(&together);
    t = now_us();
    for (int i = 0; i < job.graphs; i++) {
        CHECK(cuGraphLaunch, (exec, r->stream));
    }
    CHECK(cuStreamSynchronize, (r->stream));
    r->graph_us = (now_us() - t) / job.graphs / GRAPH_CALLS;
    verify(r);
    pthread_barrier_wait(&together);
    CHECK(cuGraphExecDestroy, (exec));
    CHECK(cuGraphDestroy, (graph));
}

static void *run_rank(void *arg)
{
    struct rank *r = arg;
    CHECK(cuCtxSetCurrent, (r->ctx));
    for (;;) {
        pthread_barrier_wait(&together); /* a job is there */
        if (job.coll == COLLS) {
            return NULL;
        }
        measure(r);
        pthread_barrier_wait(&together);
    }
}

/* ---- the table ------------------------------------------------------------------------------- */

static double bus_factor(void)
{
    const double n = nranks;
    switch (job.coll) {
    case ALLREDUCE:
        return 2 * (n - 1) / n;
    case SHIFT:
    case BCAST:
        return 1;
    default: /* of all blocks */
        return n - 1;
    }
}

static void run_job(enum coll coll, size_t bytes, struct ct_kernel_how how, bool quick)
{
    double eager = 0, graph = 0;
    size_t wrong = 0;
    job = (struct job){.coll = coll, .bytes = bytes, .how = how, .direct = direct};
    if (sent_bytes() > buffer_bytes || received_bytes() > buffer_bytes) {
        return;
    }
    job.calls = bytes <= 1 << 20 ? 500 : bytes <= 64 << 20 ? 40 : 10;
    job.graphs = bytes <= 1 << 20 ? 20 : bytes <= 64 << 20 ? 2 : 1;
    if (quick) {
        job.calls = 5;
        job.graphs = 1;
    }
    alarm(20);
    pthread_barrier_wait(&together);
    /* measure has four of these, its caller one */
    for (int i = 0; i < 5; i++) {
        pthread_barrier_wait(&together);
    }
    alarm(0);
    for (int p = 0; p < nranks; p++) {
        eager = ranks[p].eager_us > eager ? ranks[p].eager_us : eager;
        graph = ranks[p].graph_us > graph ? ranks[p].graph_us : graph;
        wrong += ranks[p].wrong;
    }
    struct ct_kernel_call k;
    char                  name[CT_KERNEL_NAME];
    build(&ranks[0], &k);
    (void)ct_kernel_name(k.kernel, name);
    printf("%-15s %11zu  %-8s %3u  %10.2f %10.2f  %8.2f  %s\n", coll_names[coll], bytes,
           strstr(name, "short") != NULL     ? "short"
           : strstr(name, "flagged") != NULL ? "flagged"
           : strstr(name, "ll32") != NULL    ? "ll32"
           : job.direct                      ? "direct"
                                             : "bulk",
           k.blocks, eager, graph,
           (double)bytes * bus_factor() / 1e3 / (graph < eager ? graph : eager),
           wrong == 0 ? "ok" : "WRONG");
    fflush(stdout);
    if (wrong != 0) {
        exit(1);
    }
}

static void defaults(int only, bool quick)
{
    static const size_t sizes[] = {8,         1 << 10,   4 << 10,   16 << 10, 64 << 10,
                                   256 << 10, 1 << 20,   4 << 20,   8 << 20,  16 << 20,
                                   64 << 20,  128 << 20, 256 << 20, 1 << 30};
    for (int c = 0; c < COLLS; c++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes && (only < 0 || only == c); i++) {
            run_job((enum coll)c, sizes[i], (struct ct_kernel_how){0}, quick);
        }
    }
    for (size_t i = 7; i < sizeof sizes / sizeof *sizes && (only < 0 || only == ALLREDUCE); i++) {
        run_job(ALLREDUCE, sizes[i], (struct ct_kernel_how){.blocks = 2, .form = CT_KERNEL_AS_BULK},
                quick);
    }
}

/* The number at the head of a list, which is left behind it. */
static size_t number(const char **list)
{
    static const char units[] = "KMG";
    char             *end;
    size_t            n = strtoull(*list, &end, 10);
    const char *const unit = *end != '\0' ? strchr(units, *end) : NULL;
    if (unit != NULL) {
        n <<= 10 * (unit - units + 1);
        end++;
    }
    if (end == *list || (*end != '\0' && *end != ',')) {
        fprintf(stderr, "not a list of numbers: %s\n", *list);
        exit(2);
    }
    *list = *end == ',' ? end + 1 : end;
    return n;
}

static void asked(int only, const char *sizes, const char *blocks, bool quick)
{
    for (int c = 0; c < COLLS; c++) {
        for (const char *s = sizes; *s != '\0' && (only < 0 || only == c);) {
            const size_t bytes = number(&s);
            for (const char *b = blocks; *b != '\0';) {
                run_job((enum coll)c, bytes, (struct ct_kernel_how){.blocks = (uint32_t)number(&b)},
                        quick);
            }
        }
    }
}

static void tuning(int only, bool quick)
{
    static const size_t   sizes[] = {8,       4 << 10, 16 << 10, 64 << 10, 256 << 10,
                                     1 << 20, 4 << 20, 16 << 20, 128 << 20};
    static const uint32_t blocks[] = {1, 2, 4, 8, 16, 32, 64, 128};
    for (int c = 0; c < COLLS; c++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes && (only < 0 || only == c); i++) {
            for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) {
                if (blocks[b] > ranks[0].comm.layout.channels ||
                    (blocks[b] > 1 && sizes[i] / blocks[b] < 1024)) {
                    continue;
                }
                for (uint32_t kind = CT_KERNEL_AS_FLAGGED; kind <= CT_KERNEL_AS_LL32; kind++) {
                    if (kind == CT_KERNEL_AS_BULK || sizes[i] <= 1 << 20) {
                        run_job((enum coll)c, sizes[i],
                                (struct ct_kernel_how){.blocks = blocks[b],
                                                       .form = (enum ct_kernel_form)kind},
                                quick);
                    }
                }
            }
        }
    }
}

/* ---- set-up ---------------------------------------------------------------------------------- */

static void open_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    void *symbol;
    if (library == NULL) {
        printf("skipped: no CUDA driver: %s\n", dlerror());
        exit(77);
    }
#define FIND(name, versioned, args)                                                                \
    symbol = dlsym(library, #versioned);                                                           \
    memcpy(&cu.name, &symbol, sizeof symbol);
    CU_FUNCTIONS(FIND)
#undef FIND
    CHECK(cuInit, (0));
    CHECK(cuDeviceGetCount, (&ndevices));
    if (ndevices == 0) {
        printf("skipped: no GPU\n");
        exit(77);
    }
}

static void fill(struct rank *r)
{
    float *host = malloc(buffer_bytes);
    for (size_t i = 0; i < buffer_bytes / 4; i++) {
        host[i] = sent(r->me, i);
    }
    CHECK(cuMemcpyHtoD, (r->send, host, buffer_bytes));
    free(host);
}

/* channels: 0 for the library's own division. */
static void divide(size_t workspace_bytes, uint32_t channels, struct ct_kernel_division *d)
{
    const int rc = channels == 0 ? ct_kernel_divide((uint32_t)nranks, workspace_bytes, d)
                                 : ct_kernel_layout_make((uint32_t)nranks, channels,
                                                         workspace_bytes, &d->calls);
    if (rc != 0) {
        fprintf(stderr, "the workspace is too small\n");
        exit(1);
    }
    has_ll32 = channels == 0 && d->at_ll32 > 0;
}

static void start(size_t workspace_bytes, uint32_t channels)
{
    struct ct_kernel_division d;
    divide(workspace_bytes, channels, &d);
    for (int p = 0; p < nranks; p++) {
        struct rank *r = &ranks[p];
        r->me = p;
        CHECK(cuDevicePrimaryCtxRetain, (&r->ctx, p % ndevices));
        CHECK(cuCtxSetCurrent, (r->ctx));
        if (p == 0) {
            CHECK(cuMemHostAlloc, ((void **)&abort_word, 4096, CU_MEMHOSTALLOC_PORTABLE));
            *abort_word = 0;
        }
        for (int i = 0; i < nmodules; i++) {
            CHECK(cuModuleLoad, (&r->modules[i], module_files[i]));
        }
        CHECK(cuStreamCreate, (&r->stream, CU_STREAM_NON_BLOCKING));
        CHECK(cuMemAlloc, (&r->workspace, workspace_bytes));
        CHECK(cuMemAlloc, (&r->send, buffer_bytes));
        CHECK(cuMemAlloc, (&r->recv, buffer_bytes));
        CHECK(cuMemsetD8, (r->workspace, 0, workspace_bytes));
        fill(r);
        CHECK(cuCtxSynchronize, ());
    }
    for (int p = 0; p < nranks; p++) {
        struct rank *r = &ranks[p];
        r->comm = (struct ct_kernel_comm){
            .rank = (uint32_t)p, .size = (uint32_t)nranks, .layout = d.calls, .abort = abort_word};
        r->rows = r->comm;
        r->rows.layout = d.rows;
        CHECK(cuCtxSetCurrent, (r->ctx));
        for (int q = 0; q < nranks; q++) {
            r->comm.workspace[q] = at(ranks[q].workspace, 0);
            r->rows.workspace[q] = at(ranks[q].workspace, d.at_ll32);
            if (q < ndevices && p < ndevices && q != p) {
                CHECK(cuCtxEnablePeerAccess, (ranks[q].ctx, 0));
            }
        }
    }
    printf("%d ranks on %d GPUs, workspace %zu MiB: %u channels, items of %u and %u bytes\n",
           nranks, ndevices, workspace_bytes >> 20, d.calls.channels, d.calls.flagged_bytes,
           d.calls.bulk_bytes);
    printf("%-15s %11s  %-8s %3s  %10s %10s  %8s\n", "", "bytes", "kind", "blk", "eager us",
           "graph us", "GB/s");
}

int main(int argc, char **argv)
{
    pthread_t   threads[MOST];
    size_t      workspace_mib = 32;
    uint32_t    channels = 0;
    int         only = -1, option;
    bool        quick = false, tune = false;
    const char *sizes = NULL, *blocks = "0";
    while ((option = getopt(argc, argv, "n:dqtc:s:B:w:b:m:")) != -1) {
        switch (option) {
        case 'n':
            nranks = atoi(optarg);
            break;
        case 'd':
            direct = true;
            break;
        case 'q':
            quick = true;
            break;
        case 't':
            tune = true;
            break;
        case 's':
            sizes = optarg;
            break;
        case 'B':
            blocks = optarg;
            break;
        case 'w':
            workspace_mib = (size_t)atoi(optarg);
            break;
        case 'm':
            buffer_bytes = (size_t)atoi(optarg) << 20;
            break;
        case 'b':
            channels = (uint32_t)atoi(optarg);
            break;
        case 'c':
            for (int c = 0; c < COLLS; c++) {
                only = strcmp(optarg, coll_names[c]) == 0 ? c : only;
            }
            break;
        default:
            return 2;
        }
    }
    nmodules = argc - optind;
    if (nmodules < 1 || nmodules > MODULES) {
        fprintf(stderr, "usage: kernels_perf [-n RANKS] [-dqt] [-c COLL] [-s BYTES[,...]] "
                        "[-B BLOCKS[,...]] [-w MIB] [-m MIB] [-b CHANNELS] MODULE...\n");
        return 2;
    }
    module_files = argv + optind;
    open_driver();
    nranks = nranks > 0 ? nranks : ndevices;
    if (nranks < 2 || nranks > MOST) {
        printf("skipped: 2 to %d ranks are possible, not %d\n", MOST, nranks);
        return 77;
    }
    start(workspace_mib << 20, channels);
    pthread_barrier_init(&together, NULL, (unsigned)nranks + 1);
    signal(SIGALRM, hangs);
    for (int p = 0; p < nranks; p++) {
        pthread_create(&threads[p], NULL, run_rank, &ranks[p]);
    }
    if (sizes != NULL) {
        asked(only, sizes, blocks, quick);
    } else if (tune) {
        tuning(only, quick);
    } else {
        defaults(only, quick);
    }
    job.coll = COLLS;
    pthread_barrier_wait(&together);
    for (int p = 0; p < nranks; p++) {
        pthread_join(threads[p], NULL);
    }
    return 0;
}
