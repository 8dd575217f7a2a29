/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tp_overlap - products of matrices that are spread over GPUs, overlapped with the transfers that
 * they need, as in tensor-parallel training.
 *
 *     ctranrun -n 8 ./tp_overlap --nodes 2 --rows 2048 --inner 4096 --cols 4096
 *
 * AllGather-GEMM: each rank has a block of rows of x, and columns of w. It needs all rows of x: as
 * soon as a block has come it is multiplied, while the next ones are on their way.
 * GEMM-ReduceScatter: each rank has columns of x and rows of w, so its product is a summand of the
 * whole, of which it is to have one block of rows: as soon as a block is multiplied it sets out,
 * and is added to on its way, while the next one is multiplied.
 *
 * Blocks are put into windows on the GPUs' memory by ctran_put_signal_enqueue, by copy engines
 * alone, so that all SMs multiply. Each kind of transfer has its own window: the calls of one
 * window are in order. They travel along a ring, or along trees over nodes (tp_routes.c). The
 * products are checked on the host, where numbers are small integers, so that no sum is rounded.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "tp_overlap.h"

struct options {
    long        rows, inner, cols, nodes, times;
    bool        plain;
    const char *kernels;
};

static struct {
    struct options opt;
    int            rank, size;
    size_t         x_block, y_block; /* floats: rows x inner, rows x cols */
    ctran_stream_t transfers, products;
    gpu_event_t   *ready; /* of each block */
    gpu_event_t    all;
    ctran_win_t    gathered, scattered;
    float         *x;     /* of the window: all blocks */
    float         *came;  /* of the other one: for each block, what children have sent */
    float         *own_x; /* this rank's columns of x: a summand of each block */
    float         *w, *y; /* y: the product, or the sums so far */
} run;

/* ---- numbers --------------------------------------------------------------------------------- */

static float x_at(int who, size_t i)
{
    return (float)((int)((i * 7 + (size_t)who * 3) % 5) - 2);
}

static float w_at(int who, size_t i)
{
    return (float)((int)((i * 3 + (size_t)who) % 7) - 3);
}

static float *host_new(size_t floats)
{
    float *at = calloc(floats, sizeof *at);
    if (at == NULL) {
        fprintf(stderr, "no memory for %zu numbers\n", floats);
        ctran_abort(CTRAN_COMM_WORLD, 1);
    }
    return at;
}

static void fill(float *device, size_t floats, float (*at)(int who, size_t i), int who)
{
    float *host = host_new(floats);
    for (size_t i = 0; i < floats; i++) {
        host[i] = at(who, i);
    }
    gpu_put(device, host, floats * sizeof *host, run.products);
    free(host);
}

/* Element e of block `block` of x of rank `who`, times w of rank `who`. */
static float product_at(int x_who, size_t x_first, int w_who, size_t e)
{
    const size_t cols = (size_t)run.opt.cols, inner = (size_t)run.opt.inner;
    float        sum = 0;
    for (size_t k = 0; k < inner; k++) {
        sum += x_at(x_who, x_first + e / cols * inner + k) * w_at(w_who, k * cols + e % cols);
    }
    return sum;
}

/* Ends the job if a block of y is wrong. */
static void check_block(const float *device, const char *what, int block, bool summed)
{
    float *host = host_new(run.y_block);
    gpu_get(host, device, run.y_block * sizeof *host, run.products);
    for (size_t e = 0; e < run.y_block; e++) {
        float wanted = summed ? 0 : product_at(block, 0, run.rank, e);
        for (int r = 0; summed && r < run.size; r++) {
            wanted += product_at(r, (size_t)block * run.x_block, r, e);
        }
        if (host[e] != wanted) {
            fprintf(stderr, "%s: element %zu of block %d is %g, not %g\n", what, e, block, host[e],
                    wanted);
            ctran_abort(CTRAN_COMM_WORLD, 1);
        }
    }
    free(host);
}

/* ---- pipelines ------------------------------------------------------------------------------- */

static void multiply(const float *x, int block)
{
    tp_gemm(&(struct tp_gemm_args){.a = x + (size_t)block * run.x_block,
                                   .b = run.w,
                                   .c = run.y + (size_t)block * run.y_block,
                                   .rows = (size_t)run.opt.rows,
                                   .inner = (size_t)run.opt.inner,
                                   .cols = (size_t)run.opt.cols},
            run.products);
}

static void put(const float *from, size_t floats, int to, size_t at_block, ctran_win_t win)
{
    const ctran_count_t count = (ctran_count_t)floats;
    ctran_put_signal_enqueue(from, count, CTRAN_FLOAT, to, (ctran_aint_t)(at_block * floats), count,
                             CTRAN_FLOAT, win, run.transfers);
}

static void allgather_gemm(const struct tp_routes *r, bool overlaps)
{
    for (int i = 0; i < run.size; i++) {
        const int b = r->outwards[i];
        if (b != run.rank) {
            ctran_wait_signal_enqueue(tp_parent(r, b, run.rank), 1, run.gathered, run.transfers);
        }
        gpu_record(run.ready[b], run.transfers);
        for (int k = 0, c; (c = tp_child(r, b, run.rank, k)) >= 0; k++) {
            put(run.x + (size_t)b * run.x_block, run.x_block, c, (size_t)b, run.gathered);
        }
        if (overlaps) {
            gpu_wait(run.products, run.ready[b]);
            multiply(run.x, b);
        }
    }
    gpu_record(run.all, run.transfers);
    gpu_wait(run.products, run.all);
    for (int b = 0; !overlaps && b < run.size; b++) {
        multiply(run.x, b);
    }
}

static void gemm_reduce_scatter(const struct tp_routes *r, bool overlaps)
{
    for (int i = 0; i < run.size; i++) { /* the host is ahead of the GPU */
        multiply(run.own_x, r->inwards[i]);
        gpu_record(run.ready[r->inwards[i]], run.products);
    }
    gpu_record(run.all, run.products);
    if (!overlaps) {
        gpu_wait(run.transfers, run.all);
    }
    for (int i = 0; i < run.size; i++) {
        const int b = r->inwards[i];
        float    *sum = run.y + (size_t)b * run.y_block;
        gpu_wait(run.transfers, run.ready[b]);
        for (int k = 0, c; (c = tp_child(r, b, run.rank, k)) >= 0; k++) {
            const size_t slot = (size_t)b * (size_t)run.size + (size_t)k;
            ctran_wait_signal_enqueue(c, 1, run.scattered, run.transfers);
            tp_add(&(struct tp_add_args){sum, run.came + slot * run.y_block, run.y_block},
                   run.transfers);
        }
        if (b != run.rank) {
            const int k = tp_child_number(r, b, run.rank);
            put(sum, run.y_block, tp_parent(r, b, run.rank),
                (size_t)b * (size_t)run.size + (size_t)k, run.scattered);
        }
    }
}

/* ---- measuring ------------------------------------------------------------------------------- */

typedef void pipeline(const struct tp_routes *r, bool overlaps);

/* Nothing of an earlier run passes for what this one has brought. */
static void clear(void)
{
    const size_t n = (size_t)run.size;
    for (int b = 0; b < run.size; b++) {
        if (b != run.rank) {
            gpu_clear(run.x + (size_t)b * run.x_block, run.x_block * sizeof(float), run.products);
        }
    }
    gpu_clear(run.came, n * n * run.y_block * sizeof(float), run.products);
    gpu_clear(run.y, n * run.y_block * sizeof(float), run.products);
    gpu_finish(run.products);
}

/* The least time of several, of the slowest rank, in ms. */
static double measure(pipeline *what, const struct tp_routes *r, bool overlaps)
{
    double least = 0;
    for (long i = 0; i < run.opt.times; i++) {
        ctran_barrier(CTRAN_COMM_WORLD); /* all are through with the windows' memory, */
        clear();
        ctran_barrier(CTRAN_COMM_WORLD); /* and have cleared it */
        double took = ctran_wtime();
        what(r, overlaps);
        gpu_finish(run.transfers);
        gpu_finish(run.products);
        took = (ctran_wtime() - took) * 1e3;
        ctran_allreduce(CTRAN_IN_PLACE, &took, 1, CTRAN_DOUBLE, CTRAN_MAX, CTRAN_COMM_WORLD);
        least = i == 0 || took < least ? took : least;
    }
    return least;
}

static void compare(const char *name, pipeline *what, enum tp_shape shape, bool summed)
{
    struct tp_routes r;
    double           ms[2];
    tp_routes_make(&r, shape, run.size, run.rank, (int)run.opt.nodes);
    for (int overlaps = 0; overlaps < 2; overlaps++) {
        ms[overlaps] = measure(what, &r, overlaps != 0);
        for (int b = 0; b < run.size; b++) {
            if (!summed || b == run.rank) {
                check_block(run.y + (size_t)b * run.y_block, name, b, summed);
            }
        }
    }
    tp_routes_free(&r);
    if (run.rank == 0) {
        printf("%-26s %10.3f ms without overlap %10.3f ms with, the product is right\n", name,
               ms[0], ms[1]);
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* -1: go on. Otherwise the exit status. */
static int parse_options(int argc, char **argv, bool speak, struct options *opt)
{
    const struct arg table[] = {
        {"rows", ARG_LONG, &opt->rows, "N", "of a block (default 64)", 1, 1000000},
        {"inner", ARG_LONG, &opt->inner, "N", "columns of x, rows of w (default 64)", 1, 1000000},
        {"cols", ARG_LONG, &opt->cols, "N", "of w, and so of the product (default 64)", 1, 1000000},
        {"nodes", ARG_LONG, &opt->nodes, "N",
         "that the trees go over; each has as many ranks (default 1)", 1, 1000000},
        {"times", ARG_LONG, &opt->times, "N", "of which the best is shown (default 3)", 1, 1000000},
        {"plain", ARG_FLAG, &opt->plain, NULL, "multiply by a plain kernel, not by cuBLAS", 0, 0},
        {"kernels", ARG_TEXT, &opt->kernels, "F",
         "file of the GPU's kernels (default tp_overlap.fatbin, beside the\n"
         "program, where the build found nvcc)",
         0, 0},
        {NULL, ARG_FLAG, NULL, NULL, NULL, 0, 0},
    };
    const struct args args = {
        "tp_overlap", "Overlaps products of matrices with the transfers that they need.\n", table};
    *opt = (struct options){.rows = 64, .inner = 64, .cols = 64, .nodes = 1, .times = 3};
    return args_parse(&args, argc, argv, speak);
}

/* A window on memory of the GPU, for streams. */
static float *open_window(size_t floats, ctran_win_t *win)
{
    ctran_info_t info;
    float       *base;
    ctran_info_create(&info);
    ctran_info_set(info, "ctran_device_memory", "true");
    ctran_info_set(info, "ctran_stream_ordered", "true");
    ctran_win_allocate((ctran_aint_t)(floats * sizeof *base), sizeof *base, info, CTRAN_COMM_WORLD,
                       &base, win);
    ctran_info_free(&info);
    return base;
}

static void open_all(void)
{
    const size_t n = (size_t)run.size;
    run.transfers = gpu_stream();
    run.products = gpu_stream();
    run.all = gpu_event();
    run.ready = calloc(n, sizeof *run.ready);
    for (size_t b = 0; run.ready != NULL && b < n; b++) {
        run.ready[b] = gpu_event();
    }
    run.x_block = (size_t)run.opt.rows * (size_t)run.opt.inner;
    run.y_block = (size_t)run.opt.rows * (size_t)run.opt.cols;
    const size_t w_floats = (size_t)run.opt.inner * (size_t)run.opt.cols;
    run.x = open_window(n * run.x_block, &run.gathered);
    run.came = open_window(n * n * run.y_block, &run.scattered);
    run.own_x = gpu_new(n * run.x_block * sizeof(float));
    run.w = gpu_new(w_floats * sizeof(float));
    run.y = gpu_new(n * run.y_block * sizeof(float));
    fill(run.x + (size_t)run.rank * run.x_block, run.x_block, x_at, run.rank);
    fill(run.own_x, n * run.x_block, x_at, run.rank);
    fill(run.w, w_floats, w_at, run.rank);
}

static void close_all(void)
{
    ctran_win_free(&run.scattered);
    ctran_win_free(&run.gathered);
    for (int b = 0; b < run.size; b++) {
        gpu_event_free(run.ready[b]);
    }
    free(run.ready);
    gpu_event_free(run.all);
    gpu_stream_free(run.transfers);
    gpu_stream_free(run.products);
    ctran_mem_free(run.own_x);
    ctran_mem_free(run.w);
    ctran_mem_free(run.y);
}

int main(int argc, char **argv)
{
    ctran_init(&argc, &argv);
    ctran_comm_rank(CTRAN_COMM_WORLD, &run.rank);
    ctran_comm_size(CTRAN_COMM_WORLD, &run.size);
    int rc = parse_options(argc, argv, run.rank == 0, &run.opt);
    if (rc < 0 && run.size % run.opt.nodes != 0) {
        if (run.rank == 0) {
            fprintf(stderr, "%d ranks cannot be shared out to %ld nodes: give --nodes a divisor\n",
                    run.size, run.opt.nodes);
        }
        rc = 2;
    }
    if (rc < 0) {
        gpu_open(run.opt.kernels, "tp_overlap.fatbin");
        const char *by = tp_gemm_open(!run.opt.plain);
        open_all();
        if (run.rank == 0) {
            printf("%d ranks, %ld nodes, blocks of %ld x %ld by %ld x %ld, products by %s\n",
                   run.size, run.opt.nodes, run.opt.rows, run.opt.inner, run.opt.inner,
                   run.opt.cols, by);
        }
        compare("AllGather-GEMM, ring", allgather_gemm, TP_RING, false);
        compare("AllGather-GEMM, trees", allgather_gemm, TP_TREE, false);
        compare("GEMM-ReduceScatter, ring", gemm_reduce_scatter, TP_RING, true);
        compare("GEMM-ReduceScatter, trees", gemm_reduce_scatter, TP_TREE, true);
        close_all();
        gpu_close();
        rc = 0;
    }
    ctran_finalize();
    return rc;
}
