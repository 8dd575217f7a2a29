/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * moe - the token shuffle of a mixture of experts, as a CUDA graph.
 *
 *     ctranrun -n 4 ./moe --replays 1000
 *
 * Each rank has tokens, and some of the job's experts. In a step a router, a kernel, chooses two
 * experts for each token; the tokens go to the ranks of their experts, through these, and back:
 *
 *     moe_tokens, moe_route    what there is, and who is to see it
 *     moe_list                 the list of what goes where, and its counts
 *     alltoall                 counts by expert: how many rows are for which
 *     alltoallv_dynamic        dispatch: tokens, as the list names them
 *     moe_expert
 *     alltoallv_dynamic        combine: as many back as came
 *     moe_mix
 *
 * The GPU alone knows the counts, each time others: ctran_alltoallv_dynamic_enqueue reads them when
 * the stream comes to it. So the whole step is captured once, and replayed with fresh routings; the
 * host has no part in it, and no more is sent than there is. An alltoall of blocks of equal size
 * would have to pad them all to the longest that may occur.
 *
 * Here the host looks at every step, and computes it again by itself.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <ctran.h>

#include "args.h"
#include "gpu.h"
#include "moe.h"

struct options {
    long        tokens, experts, replays;
    const char *kernels;
};

static struct {
    struct options   opt;
    struct moe_shape shape;
    struct moe_args  args;
    struct moe_host  host;
    ctran_datatype_t type; /* a token */
    ctran_stream_t   stream;
    gpu_graph_t      graph;
    int64_t         *counts;  /* at the host: received from each rank */
    int64_t         *longest; /* by replay: of all messages */
    int64_t          sent;    /* tokens to other ranks, for their experts */
    float (*result)[MOE_WIDTH];
} run;

/* ---- options --------------------------------------------------------------------------------- */

/* -1: go on. Otherwise the exit status. */
static int parse_options(int argc, char **argv, bool speak, struct options *opt)
{
    const struct arg table[] = {
        {"tokens", ARG_LONG, &opt->tokens, "N", "of each rank, in a step (default 128)", 1,
         1000000},
        {"experts", ARG_LONG, &opt->experts, "N", "of each rank (default 2)", MOE_TOP,
         1000}, /* two for each token, on one rank as well */
        {"replays", ARG_LONG, &opt->replays, "N",
         "of the graph, each with fresh tokens (default 100)", 1, 100000000},
        {"kernels", ARG_TEXT, &opt->kernels, "F",
         "file of the GPU's kernels (default moe.fatbin, beside the\n"
         "program, where the build found nvcc)",
         0, 0},
        {NULL, ARG_FLAG, NULL, NULL, NULL, 0, 0},
    };
    const struct args args = {
        "moe", "Sends tokens to experts on other GPUs and back, in a CUDA graph.\n", table};
    *opt = (struct options){.tokens = 128, .experts = 2, .replays = 100};
    return args_parse(&args, argc, argv, speak);
}

/* ---- a step ---------------------------------------------------------------------------------- */

static void enqueue_kernel(const char *name, size_t elements)
{
    gpu_launch(gpu_kernel(name), elements, &run.args, run.stream);
}

static void enqueue_step(void)
{
    const struct moe_args *a = &run.args;
    const size_t slots = run.shape.tokens * MOE_TOP, rows = slots * (size_t)run.shape.size;
    enqueue_kernel("moe_tokens", run.shape.tokens * MOE_WIDTH);
    enqueue_kernel("moe_route", run.shape.tokens);
    enqueue_kernel("moe_list", 1);
    ctran_alltoall_enqueue(a->by_expert, run.shape.experts, CTRAN_INT64_T, a->arriving,
                           run.shape.experts, CTRAN_INT64_T, CTRAN_COMM_WORLD, run.stream);
    ctran_alltoallv_dynamic_enqueue(a->token, (ctran_count_t)run.shape.tokens, a->sendcounts, NULL,
                                    a->list, (ctran_count_t)slots, a->row, (ctran_count_t)rows,
                                    a->recvcounts, NULL, run.type, CTRAN_COMM_WORLD, run.stream);
    enqueue_kernel("moe_expert", rows * MOE_WIDTH);
    ctran_alltoallv_dynamic_enqueue(a->done, (ctran_count_t)rows, a->recvcounts, NULL, NULL, 0,
                                    a->back, (ctran_count_t)slots, a->backcounts, NULL, run.type,
                                    CTRAN_COMM_WORLD, run.stream);
    enqueue_kernel("moe_mix", run.shape.tokens * MOE_WIDTH);
}

/* ---- start and end --------------------------------------------------------------------------- */

static void *uploaded(const void *from, size_t bytes)
{
    void *memory = gpu_new(bytes);
    gpu_put(memory, from, bytes, run.stream);
    return memory;
}

/* For each of `count` elements of the type that a pointer points to. */
#define NEW(pointer, count) ((pointer) = gpu_new((size_t)(count) * sizeof *(pointer)))

/* Rows are as many as all tokens of all ranks, should they all come here. The call would have less:
 * it drops what its buffer does not hold. */
static void open_device(void)
{
    const size_t     size = (size_t)run.shape.size, own = (size_t)run.shape.experts;
    const size_t     tokens = run.shape.tokens, slots = tokens * MOE_TOP, rows = slots * size;
    struct moe_args *a = &run.args;
    gpu_open(run.opt.kernels, "moe.fatbin");
    run.stream = gpu_stream();
    a->shape = run.shape;
    NEW(a->step, 1);
    gpu_clear(a->step, sizeof *a->step, run.stream);
    a->gate = uploaded(run.host.gate, size * own * sizeof *a->gate);
    a->weight = uploaded(run.host.weight[(size_t)run.shape.rank * own], own * sizeof *a->weight);
    NEW(a->token, tokens);
    NEW(a->choice, tokens);
    NEW(a->slot, tokens);
    NEW(a->list, slots);
    NEW(a->by_expert, size * own);
    NEW(a->sendcounts, size);
    NEW(a->arriving, size * own);
    NEW(a->recvcounts, size);
    NEW(a->row, rows);
    NEW(a->done, rows);
    NEW(a->backcounts, size);
    NEW(a->back, slots);
    NEW(a->result, tokens);
    ctran_type_contiguous(MOE_WIDTH, CTRAN_FLOAT, &run.type);
    ctran_type_commit(&run.type);
}

static void close_device(void)
{
    gpu_finish(run.stream);
    gpu_graph_free(run.graph);
    ctran_type_free(&run.type);
    gpu_stream_free(run.stream);
    gpu_close();
}

static void open_host(void)
{
    run.counts = malloc((size_t)run.shape.size * sizeof run.counts[0]);
    run.longest = calloc((size_t)run.opt.replays, sizeof run.longest[0]);
    run.result = malloc(run.shape.tokens * sizeof run.result[0]);
    if (moe_host_create(&run.host, &run.shape) != 0 || run.counts == NULL || run.longest == NULL ||
        run.result == NULL) {
        fprintf(stderr, "moe: rank %d has no memory\n", run.shape.rank);
        ctran_abort(CTRAN_COMM_WORLD, 1);
    }
}

static void close_host(void)
{
    moe_host_destroy(&run.host);
    free(run.counts);
    free(run.longest);
    free(run.result);
}

/* ---- replays --------------------------------------------------------------------------------- */

static void look_at(long replay)
{
    gpu_get(run.counts, run.args.recvcounts, (size_t)run.shape.size * sizeof run.counts[0],
            run.stream);
    gpu_get(run.result, run.args.result, run.shape.tokens * sizeof run.result[0], run.stream);
    if (!moe_host_agrees(&run.host, (uint64_t)replay, run.counts, run.result)) {
        ctran_abort(CTRAN_COMM_WORLD, 1);
    }
    for (int r = 0; r < run.shape.size; r++) {
        if (r != run.shape.rank) {
            run.sent += run.counts[r]; /* by others, to this one: the same in sum */
            run.longest[replay] =
                run.counts[r] > run.longest[replay] ? run.counts[r] : run.longest[replay];
        }
    }
}

/* There and back, between all ranks. */
static void report(void)
{
    const double bytes = 2.0 * MOE_WIDTH * sizeof(float);
    const double pairs = (double)run.shape.size * (run.shape.size - 1);
    int64_t      longest = 0;
    ctran_allreduce(CTRAN_IN_PLACE, &run.sent, 1, CTRAN_INT64_T, CTRAN_SUM, CTRAN_COMM_WORLD);
    ctran_allreduce(CTRAN_IN_PLACE, run.longest, run.opt.replays, CTRAN_INT64_T, CTRAN_MAX,
                    CTRAN_COMM_WORLD);
    for (long i = 0; i < run.opt.replays; i++) {
        longest += run.longest[i];
    }
    if (run.shape.rank == 0) {
        printf(
            "%ld replays on %d ranks, each as the host computes it; %ld tokens and %ld experts a "
            "rank\n",
            run.opt.replays, run.shape.size, run.opt.tokens, run.opt.experts);
        printf("bytes sent to other ranks         %15.0f\n", bytes * (double)run.sent);
        printf("padded to each replay's longest   %15.0f\n", bytes * pairs * (double)longest);
        printf("padded to the longest there may be%15.0f\n",
               bytes * pairs * (double)run.opt.replays * (double)(run.shape.tokens * MOE_TOP));
    }
}

int main(int argc, char **argv)
{
    int threads;
    if (ctran_init_thread(&argc, &argv, CTRAN_THREAD_MULTIPLE, &threads) != CTRAN_SUCCESS) {
        return 1;
    }
    ctran_comm_rank(CTRAN_COMM_WORLD, &run.shape.rank);
    ctran_comm_size(CTRAN_COMM_WORLD, &run.shape.size);
    int status = parse_options(argc, argv, run.shape.rank == 0, &run.opt);
    if (status < 0) {
        status = 0;
        run.shape.tokens = (size_t)run.opt.tokens;
        run.shape.experts = (int)run.opt.experts;
        open_host();
        open_device();
        gpu_capture(run.stream);
        enqueue_step();
        run.graph = gpu_captured(run.stream);
        for (long replay = 0; replay < run.opt.replays; replay++) {
            gpu_replay(run.graph, run.stream);
            look_at(replay);
        }
        report();
        close_device();
        close_host();
    }
    ctran_finalize();
    return status;
}
