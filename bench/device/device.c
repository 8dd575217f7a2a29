/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ctran_perf_device - stream-ordered calls on GPU memory, and NCCL's beside them where it can be
 * loaded: in the same processes, one a GPU, in turns. Rank 0 prints
 *
 *     # library LIBRARY TEXT
 *     PATTERN BYTES FIGURE UNIT LOOPS LIBRARY
 *
 * for ctran_perf --device to read: a line for each round. Patterns come in two forms, enqueued one
 * after the other, and captured ten in a graph that is replayed ("allgather graph"); a figure is
 * the time of one operation from the first enqueue to the end of the last on the slowest rank. With
 * --beside it is the time of a kernel that computes on all SMs while operations run, and LIBRARY
 * "alone" while none do.
 *
 * BYTES are what one rank gives: of a block for alltoall and reduce_scatter, else of its buffer.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../tests/func/gpu.h"
#include "nccl.h"

enum { IN_GRAPH = 10, MAX_SIZES = 64 };

static const char usage[] = "usage: ctran_perf_device [options] [PATTERN...]\n"
                            "  --sizes LIST    bytes, with K, M or G (1024 each): 8,64K,16M\n"
                            "  --rounds N      measurements of each (5)\n"
                            "  --time-ms MS    about how long each (20)\n"
                            "  --no-graph      only enqueued one by one\n"
                            "  --beside        measure a computation beside them\n"
                            "  --check         also look whether data arrives right\n";

static int      rank, size;
static char    *from, *to;
static char    *between; /* of a GPU: NCCL's, where ours is the host's */
static CUstream stream;
static size_t   sizes[MAX_SIZES] = {8, 65536, 16 << 20};
static int      nsizes = 3, rounds = 5;
static double   time_s = 0.02;
static bool     graphs = true, beside, check, peer;

static void give_up(const char *what, int rc)
{
    fprintf(stderr, "ctran_perf_device: rank %d: %s: %d\n", rank, what, rc);
    ctran_abort(CTRAN_COMM_WORLD, 1);
}

static void must(const char *what, int rc)
{
    if (rc != 0) {
        give_up(what, rc);
    }
}

/* ---- patterns -------------------------------------------------------------------------------- */

static int sendrecv(const void *in, void *out, size_t n, CUstream s)
{
    return ctran_sendrecv_enqueue(in, (ctran_count_t)n, CTRAN_BYTE, (rank + 1) % size, 1, out,
                                  (ctran_count_t)n, CTRAN_BYTE, (rank + size - 1) % size, 1,
                                  CTRAN_COMM_WORLD, s);
}

static int sendrecv_blocking(const void *in, void *out, size_t n, CUstream s)
{
    (void)s;
    return ctran_sendrecv(in, (ctran_count_t)n, CTRAN_BYTE, (rank + 1) % size, 1, out,
                          (ctran_count_t)n, CTRAN_BYTE, (rank + size - 1) % size, 1,
                          CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE);
}

/* What a program does with NCCL that goes on with the data itself. */
static int nccl_blocking(const void *in, void *out, size_t n, CUstream s)
{
    const int rc = nccl_sendrecv(in, out, n, s);
    CU(cuStreamSynchronize(s));
    return rc;
}

static int nccl_to_host(const void *in, void *out, size_t n, CUstream s)
{
    const int rc = nccl_sendrecv(in, between, n, s);
    CU(cuMemcpyDtoHAsync(out, (CUdeviceptr)between, n, s));
    CU(cuStreamSynchronize(s));
    return rc;
}

static int nccl_from_host(const void *in, void *out, size_t n, CUstream s)
{
    CU(cuMemcpyHtoDAsync((CUdeviceptr)between, in, n, s));
    return nccl_blocking(between, out, n, s);
}

static int allgather(const void *in, void *out, size_t n, CUstream s)
{
    return ctran_allgather_enqueue(in, (ctran_count_t)n, CTRAN_BYTE, out, (ctran_count_t)n,
                                   CTRAN_BYTE, CTRAN_COMM_WORLD, s);
}

static int alltoall(const void *in, void *out, size_t n, CUstream s)
{
    return ctran_alltoall_enqueue(in, (ctran_count_t)n, CTRAN_BYTE, out, (ctran_count_t)n,
                                  CTRAN_BYTE, CTRAN_COMM_WORLD, s);
}

static int bcast(const void *in, void *out, size_t n, CUstream s)
{
    return ctran_bcast_enqueue(rank == 0 ? (void *)in : out, (ctran_count_t)n, CTRAN_BYTE, 0,
                               CTRAN_COMM_WORLD, s);
}

static int allreduce(const void *in, void *out, size_t n, CUstream s)
{
    return ctran_allreduce_enqueue(in, out, (ctran_count_t)(n / sizeof(float)), CTRAN_FLOAT,
                                   CTRAN_SUM, CTRAN_COMM_WORLD, s);
}

static int reduce_scatter(const void *in, void *out, size_t n, CUstream s)
{
    return ctran_reduce_scatter_block_enqueue(in, out, (ctran_count_t)(n / sizeof(float)),
                                              CTRAN_FLOAT, CTRAN_SUM, CTRAN_COMM_WORLD, s);
}

typedef int (*call_fn)(const void *in, void *out, size_t n, CUstream s);

struct pattern {
    const char *name;
    call_fn     ours, theirs;
    bool        blocks_in, blocks_out; /* the buffer holds a block for each rank */
    bool        sums;
    bool        blocks;            /* the calling thread: ctran's is on no stream, nor in a graph */
    bool        host_in, host_out; /* the buffer is the host's */
};

static const struct pattern patterns[] = {
    {.name = "sendrecv", .ours = sendrecv, .theirs = nccl_sendrecv},
    {.name = "allgather", .ours = allgather, .theirs = nccl_allgather, .blocks_out = true},
    {.name = "alltoall",
     .ours = alltoall,
     .theirs = nccl_alltoall,
     .blocks_in = true,
     .blocks_out = true},
    {.name = "bcast", .ours = bcast, .theirs = nccl_bcast},
    {.name = "allreduce", .ours = allreduce, .theirs = nccl_allreduce, .sums = true},
    {.name = "reduce_scatter",
     .ours = reduce_scatter,
     .theirs = nccl_reduce_scatter,
     .blocks_in = true,
     .sums = true},
    {.name = "sendrecv_blocking",
     .ours = sendrecv_blocking,
     .theirs = nccl_blocking,
     .blocks = true},
    {.name = "sendrecv_to_host",
     .ours = sendrecv_blocking,
     .theirs = nccl_to_host,
     .blocks = true,
     .host_out = true},
    {.name = "sendrecv_from_host",
     .ours = sendrecv_blocking,
     .theirs = nccl_from_host,
     .blocks = true,
     .host_in = true},
};
enum { PATTERNS = sizeof patterns / sizeof patterns[0] };

/* Gigabytes a second that each link carries, as nccl-tests count them, of an operation that takes
 * so many microseconds. */
static double bandwidth(const struct pattern *p, size_t n, double us)
{
    double bytes = (double)n;
    if (p->blocks_in || p->blocks_out) {
        bytes *= size - 1;
    } else if (p->ours == allreduce) {
        bytes *= 2.0 * (size - 1) / size;
    }
    return bytes / us * 1e-3;
}

/* ---- contents -------------------------------------------------------------------------------- */

static char *buffer_new(bool host, size_t bytes)
{
    char *buf = host ? malloc(bytes) : device_new(bytes);
    if (buf == NULL) {
        give_up("malloc", CTRAN_ERR_NO_MEM);
    }
    return buf;
}

static void buffer_free(bool host, char *buf)
{
    if (host) {
        free(buf);
    } else {
        device_free(buf);
    }
}

static void buffer_set(bool host, char *buf, unsigned char byte, size_t bytes)
{
    if (host) {
        memset(buf, byte, bytes);
    } else {
        CU(cuMemsetD8((CUdeviceptr)buf, byte, bytes));
    }
}

static void buffer_get(bool host, void *out, const char *buf, size_t bytes)
{
    if (host) {
        memcpy(out, buf, bytes);
    } else {
        device_get(out, buf, bytes);
    }
}

/* Rank r gives r + 1 everywhere, as bytes or as floats. */
static void fill(const struct pattern *p, size_t in)
{
    static float some[1 << 20];
    if (!p->sums) {
        buffer_set(p->host_in, from, (unsigned char)(rank + 1), in);
        return;
    }
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
        some[i] = (float)(rank + 1);
    }
    for (size_t at = 0; at < in; at += sizeof some) {
        device_put(from + at, some, in - at < sizeof some ? in - at : sizeof some);
    }
}

static bool is_right(const struct pattern *p, size_t n, int block)
{
    const bool    exchange = p->ours == sendrecv || p->blocks;
    const int     giver = exchange ? (rank + size - 1) % size : p->ours == bcast ? 0 : block;
    unsigned char byte[2] = {0, 0};
    float         word[2] = {0, 0};
    char         *at = to + (size_t)block * n;
    if (p->sums) {
        device_get(&word[0], at, sizeof word[0]);
        device_get(&word[1], at + n - sizeof word[1], sizeof word[1]);
        const float sum = (float)(size * (size + 1) / 2);
        return word[0] == sum && word[1] == sum;
    }
    buffer_get(p->host_out, &byte[0], at, 1);
    buffer_get(p->host_out, &byte[1], at + n - 1, 1);
    return byte[0] == giver + 1 && byte[1] == giver + 1;
}

static void look_at(const struct pattern *p, size_t n, const char *library)
{
    for (int b = 0; check && n > 0 && b < (p->blocks_out ? size : 1); b++) {
        if (!(p->ours == bcast && rank == 0) && !is_right(p, n, b)) {
            fprintf(stderr, "%s's %s of %zu bytes: rank %d has a wrong block %d\n", library,
                    p->name, n, rank, b);
            ctran_abort(CTRAN_COMM_WORLD, 1);
        }
    }
}

/* ---- times ----------------------------------------------------------------------------------- */

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static double of_slowest(double us)
{
    double all;
    must("ctran_allreduce",
         ctran_allreduce(&us, &all, 1, CTRAN_DOUBLE, CTRAN_MAX, CTRAN_COMM_WORLD));
    return all;
}

/* A way to have a library's operation run: `graph` is NULL where it is enqueued. */
struct subject {
    const char *library;
    call_fn     call;
    CUgraph     graph;
    CUgraphExec exec;
    int         loops;
};

static void run(const struct subject *s, size_t n, int loops)
{
    for (int i = 0; i < loops; i++) {
        if (s->exec != NULL) {
            CU(cuGraphLaunch(s->exec, stream));
        } else {
            must(s->library, s->call(from, to, n, stream));
        }
    }
}

static double time_of(const struct subject *s, size_t n, int loops)
{
    CU(cuStreamSynchronize(stream));
    must("ctran_barrier", ctran_barrier(CTRAN_COMM_WORLD));
    const double start = now_us();
    run(s, n, loops);
    CU(cuStreamSynchronize(stream));
    return of_slowest(now_us() - start);
}

static void prepare(struct subject *s, const char *library, call_fn call, size_t n, bool graph)
{
    *s = (struct subject){.library = library, .call = call, .loops = 1};
    (void)time_of(s, n, 2);
    if (graph) {
        CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
        run(s, n, IN_GRAPH);
        CU(cuStreamEndCapture(stream, &s->graph));
        CU(cuGraphInstantiate(&s->exec, s->graph, 0));
    }
    for (double us = time_of(s, n, s->loops); us < 0.5e6 * time_s && s->loops < 1 << 16;) {
        s->loops *= 2;
        us = time_of(s, n, s->loops);
    }
}

static void release(struct subject *s)
{
    CU(cuStreamSynchronize(stream));
    if (s->exec != NULL) {
        CU(cuGraphExecDestroy(s->exec));
        CU(cuGraphDestroy(s->graph));
    }
}

static void print(const struct pattern *p, const char *form, size_t n, double us, int loops,
                  const char *library)
{
    if (rank == 0) {
        const bool large = n >= 1 << 20;
        printf("%s%s %zu %.5g %s %d %s\n", p->name, form, n, large ? bandwidth(p, n, us) : us,
               large ? "GB/s" : "us", loops, library);
        fflush(stdout);
    }
}

/* Both libraries in one form, in turns. */
static void measure(const struct pattern *p, size_t n, bool graph)
{
    struct subject subject[2];
    const int      nsubjects = peer ? 2 : 1;
    for (int i = 0; i < nsubjects; i++) {
        prepare(&subject[i], i == 0 ? "ctran" : "nccl", i == 0 ? p->ours : p->theirs, n, graph);
        look_at(p, n, subject[i].library);
    }
    for (int turn = 0; turn < rounds * nsubjects; turn++) {
        const struct subject *s = &subject[(turn + turn / nsubjects) % nsubjects];
        const int             each = s->exec != NULL ? s->loops * IN_GRAPH : s->loops;
        print(p, graph ? "_graph" : "", n, time_of(s, n, s->loops) / each, each, s->library);
    }
    for (int i = 0; i < nsubjects; i++) {
        release(&subject[i]);
    }
}

/* ---- beside a computation -------------------------------------------------------------------- */

/* Multiplies and adds in registers, on every thread that the GPU holds. */
static const char burner[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                             ".visible .entry burn(.param .u64 out, .param .u32 loops)\n{\n"
                             ".reg .pred %p<2>;\n.reg .f32 %f<5>;\n.reg .b32 %r<3>;\n"
                             ".reg .b64 %rd<2>;\n"
                             "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [loops];\n"
                             "mov.f32 %f1, 0f3F800000;\nmov.f32 %f2, 0f3F7FFF58;\n"
                             "mov.f32 %f3, 0f3F800000;\nmov.f32 %f4, 0f40000000;\n"
                             "L:\n"
                             "fma.rn.f32 %f1, %f1, %f2, %f2;\nfma.rn.f32 %f3, %f3, %f2, %f2;\n"
                             "fma.rn.f32 %f4, %f4, %f2, %f2;\nfma.rn.f32 %f1, %f1, %f2, %f3;\n"
                             "add.u32 %r1, %r1, -1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;\n"
                             "add.f32 %f1, %f1, %f3;\nadd.f32 %f1, %f1, %f4;\n"
                             "st.global.f32 [%rd1], %f1;\nret;\n}\n";

struct burn {
    CUmodule    module;
    CUfunction  kernel;
    CUstream    stream;
    CUevent     begin, end;
    CUdeviceptr out;
    unsigned    blocks, loops;
};

static double burn_ms(struct burn *b)
{
    void *args[] = {&b->out, &b->loops};
    float ms;
    CU(cuEventRecord(b->begin, b->stream));
    CU(cuLaunchKernel(b->kernel, b->blocks, 1, 1, 1024, 1, 1, 0, b->stream, args, NULL));
    CU(cuEventRecord(b->end, b->stream));
    CU(cuEventSynchronize(b->end));
    CU(cuEventElapsedTime(&ms, b->begin, b->end));
    return ms;
}

/* Two blocks of 1024 threads fill an SM; eight such waves, so that SMs that are taken cost time. */
static void burn_open(struct burn *b)
{
    int processors;
    CU(cuModuleLoadData(&b->module, burner));
    CU(cuModuleGetFunction(&b->kernel, b->module, "burn"));
    CU(cuStreamCreate(&b->stream, CU_STREAM_NON_BLOCKING));
    CU(cuEventCreate(&b->begin, 0));
    CU(cuEventCreate(&b->end, 0));
    b->out = (CUdeviceptr)device_new(64);
    CU(cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    b->blocks = (unsigned)processors * 2 * 8;
    b->loops = 1000;
    (void)burn_ms(b);
    double ms = burn_ms(b);
    b->loops = (unsigned)(b->loops * (ms > 0 ? 20 / ms : 1)) + 1;
}

static void burn_close(struct burn *b)
{
    CU(cuStreamDestroy(b->stream));
    CU(cuEventDestroy(b->begin));
    CU(cuEventDestroy(b->end));
    CU(cuModuleUnload(b->module));
    device_free((void *)b->out);
}

/* Time of the computation with so much communication under way that it covers it. */
static void measure_beside(const struct pattern *p, size_t n)
{
    struct burn    b;
    struct subject s[3] = {{.library = "alone"}};
    double         alone;
    burn_open(&b);
    alone = of_slowest(burn_ms(&b)); /* all choose as many loops */
    for (int i = 1; i < (peer ? 3 : 2); i++) {
        prepare(&s[i], i == 1 ? "ctran" : "nccl", i == 1 ? p->ours : p->theirs, n, false);
        double us = time_of(&s[i], n, s[i].loops) / s[i].loops;
        s[i].loops = (int)(2e3 * alone / us) + 2;
    }
    for (int turn = 0; turn < rounds; turn++) {
        for (int i = 0; i < (peer ? 3 : 2); i++) {
            CU(cuStreamSynchronize(stream));
            must("ctran_barrier", ctran_barrier(CTRAN_COMM_WORLD));
            run(&s[i], n, i == 0 ? 0 : s[i].loops);
            double us = of_slowest(1e3 * burn_ms(&b));
            if (rank == 0) {
                printf("compute_beside_%s %zu %.6g us %d %s\n", p->name, n, us, s[i].loops,
                       s[i].library);
            }
        }
    }
    CU(cuStreamSynchronize(stream));
    burn_close(&b);
}

/* ---- the program ----------------------------------------------------------------------------- */

static void at_size(const struct pattern *p, size_t n)
{
    n = p->sums ? (n + 3) / 4 * 4 : n;
    const size_t in = n * (size_t)(p->blocks_in ? size : 1);
    const size_t out = n * (size_t)(p->blocks_out ? size : 1);
    from = buffer_new(p->host_in, in);
    to = buffer_new(p->host_out, out);
    between = p->host_in || p->host_out ? device_new(n) : NULL;
    fill(p, in);
    buffer_set(p->host_out, to, 0, out);
    CU(cuCtxSynchronize());
    if (beside && !p->blocks) {
        measure_beside(p, n);
    } else if (!beside) {
        measure(p, n, false);
        if (graphs && !p->blocks) {
            measure(p, n, true);
        }
    }
    must("ctran_barrier", ctran_barrier(CTRAN_COMM_WORLD)); /* nobody reads it any more */
    buffer_free(p->host_in, from);
    buffer_free(p->host_out, to);
    if (between != NULL) {
        device_free(between);
    }
}

static bool parse_sizes(const char *text)
{
    char *end = (char *)text;
    for (nsizes = 0; nsizes < MAX_SIZES && *text != '\0'; text = *end == ',' ? end + 1 : end) {
        sizes[nsizes] = strtoull(text, &end, 10);
        const char *suffix = *end != '\0' ? strchr("KMG", *end) : NULL;
        if (end == text || sizes[nsizes] == 0) {
            return false;
        }
        if (suffix != NULL) {
            sizes[nsizes] <<= *suffix == 'K' ? 10 : *suffix == 'M' ? 20 : 30;
            end++;
        }
        if (*end != ',' && *end != '\0') {
            return false;
        }
        nsizes++;
    }
    return nsizes > 0 && *text == '\0';
}

static const struct pattern *find(const char *name)
{
    for (int i = 0; i < PATTERNS; i++) {
        if (strcmp(patterns[i].name, name) == 0) {
            return &patterns[i];
        }
    }
    return NULL;
}

/* false, with the reason: the arguments are wrong. */
static bool parse(int argc, char **argv)
{
    static const struct option names[] = {{"sizes", required_argument, NULL, 's'},
                                          {"rounds", required_argument, NULL, 'r'},
                                          {"time-ms", required_argument, NULL, 't'},
                                          {"no-graph", no_argument, NULL, 'g'},
                                          {"beside", no_argument, NULL, 'b'},
                                          {"check", no_argument, NULL, 'c'},
                                          {0}};
    bool                       right = true;
    for (int c; (c = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        graphs &= c != 'g';
        beside |= c == 'b';
        check |= c == 'c';
        rounds = c == 'r' ? atoi(optarg) : rounds;
        time_s = c == 't' ? atof(optarg) * 1e-3 : time_s;
        right &= c != '?' && (c != 's' || parse_sizes(optarg));
    }
    for (int i = optind; i < argc; i++) {
        right &= find(argv[i]) != NULL;
    }
    if (!right || rounds < 1 || time_s <= 0) {
        fputs(usage, stderr);
        fputs("patterns:", stderr);
        for (int i = 0; i < PATTERNS; i++) {
            fprintf(stderr, " %s", patterns[i].name);
        }
        fputs("\n", stderr);
    }
    return right && rounds >= 1 && time_s > 0;
}

static void print_head(void)
{
    char text[CTRAN_MAX_LIBRARY_VERSION_STRING];
    int  length;
    ctran_get_library_version(text, &length);
    text[strcspn(text, "\n")] = '\0';
    if (rank == 0) {
        printf("# library ctran %s\n", text);
        if (peer) {
            printf("# library nccl NCCL %s\n", nccl_version());
        }
    }
}

int main(int argc, char **argv)
{
    if (!parse(argc, argv)) {
        return 2;
    }
    must("ctran_init", ctran_init(&argc, &argv));
    ctran_comm_rank(CTRAN_COMM_WORLD, &rank);
    ctran_comm_size(CTRAN_COMM_WORLD, &size);
    if (!device_open()) {
        ctran_finalize();
        return 77;
    }
    stream = device_stream();
    peer = nccl_open();
    print_head();
    for (int i = 0; i < PATTERNS; i++) {
        bool wanted = optind == argc;
        for (int a = optind; a < argc; a++) {
            wanted |= strcmp(argv[a], patterns[i].name) == 0;
        }
        for (int s = 0; wanted && s < nsizes; s++) {
            at_size(&patterns[i], sizes[s]);
        }
    }
    nccl_close();
    CU(cuStreamDestroy(stream));
    device_close();
    return ctran_finalize() == CTRAN_SUCCESS ? 0 : 1;
}
