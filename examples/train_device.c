/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The training example's worker on a GPU: parameters, activations and gradients stay there.
 *
 * The host does not wait in an epoch. It puts steps on two streams, one that computes and one that
 * communicates, and events between them say what has to be there before what:
 *
 *     compute         ... | gradients 2 | gradients 1           | step 2 | step 1 | ...
 *     communicate                       | allreduce 2 | allreduce 1 |
 *
 * The gradients of the last layer are there first; while they are added up over all ranks, those of
 * the layer before it are computed. A layer's step waits for its own sum only.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <ctran.h>

#include "gpu.h"
#include "train_args.h"

enum { LAYERS = 2, W2_AT = offsetof(struct mlp, w2) / sizeof(float) };

/* Which parameters are a layer's. */
static const struct {
    size_t at, count;
} layers[LAYERS] = {{0, W2_AT}, {W2_AT, MLP_PARAMS - W2_AT}};

static struct {
    struct train_args args;
    struct set        train, test;
    uint32_t         *order;
    size_t            count; /* images of the training set */
    struct tally     *sums;  /* at the host, by row */
    ctran_stream_t    compute, communicate;
    gpu_event_t       ready[LAYERS], summed[LAYERS];
    gpu_kernel_t      gather, hidden, output, grad_output, delta_hidden, grad_hidden, step;
} gpu;

static struct set upload(const struct set *set)
{
    const size_t     bytes = set->count * MLP_INPUTS;
    const struct set copy = {set->count, gpu_new(bytes), gpu_new(set->count)};
    gpu_put(copy.image, set->image, bytes, gpu.compute);
    gpu_put(copy.label, set->label, set->count, gpu.compute);
    return copy;
}

static void *zeros(size_t bytes)
{
    void *memory = gpu_new(bytes);
    gpu_clear(memory, bytes, gpu.compute);
    return memory;
}

static void find_kernels(void)
{
    gpu.gather = gpu_kernel("train_gather");
    gpu.hidden = gpu_kernel("train_hidden");
    gpu.output = gpu_kernel("train_output");
    gpu.grad_output = gpu_kernel("train_grad_output");
    gpu.delta_hidden = gpu_kernel("train_delta_hidden");
    gpu.grad_hidden = gpu_kernel("train_grad_hidden");
    gpu.step = gpu_kernel("train_step");
}

static void open_device(struct run *run, size_t rows)
{
    gpu_open(run->opt.kernels, "train.fatbin");
    find_kernels();
    gpu.compute = gpu_stream();
    gpu.communicate = gpu_stream();
    for (int layer = 0; layer < LAYERS; layer++) {
        gpu.ready[layer] = gpu_event();
        gpu.summed[layer] = gpu_event();
    }
    gpu.train = upload(&run->train);
    gpu.test = upload(&run->test);
    gpu.count = run->train.count;
    gpu.order = gpu_new(gpu.count * sizeof gpu.order[0]);
    gpu.args = (struct train_args){
        .net = gpu_new(sizeof(struct mlp)),
        .velocity = zeros(sizeof(struct mlp)),
        .grad = gpu_new(sizeof(struct mlp)),
        .batch = {.cap = rows,
                  .input = gpu_new(rows * sizeof gpu.args.batch.input[0]),
                  .hidden = gpu_new(rows * sizeof gpu.args.batch.hidden[0]),
                  .output = gpu_new(rows * sizeof gpu.args.batch.output[0]),
                  .label = gpu_new(rows)},
        .tally = zeros(rows * sizeof(struct tally)),
    };
    gpu_put(gpu.args.net, &run->net, sizeof run->net, gpu.compute);
    gpu.sums = malloc(rows * sizeof gpu.sums[0]);
    if (gpu.sums == NULL) {
        fprintf(stderr, "train: rank %d has no memory for its losses\n", run->rank);
        ctran_abort(CTRAN_COMM_WORLD, 1);
    }
}

static void close_device(void)
{
    gpu_finish(gpu.communicate);
    gpu_finish(gpu.compute);
    for (int layer = 0; layer < LAYERS; layer++) {
        gpu_event_free(gpu.ready[layer]);
        gpu_event_free(gpu.summed[layer]);
    }
    gpu_stream_free(gpu.communicate);
    gpu_stream_free(gpu.compute);
    gpu_close();
    free(gpu.sums);
}

static void begin(struct run *run)
{
    gpu_put(gpu.order, run->order, gpu.count * sizeof gpu.order[0], gpu.compute);
}

static void forward(const struct set *set, const uint32_t *order, size_t from, size_t to)
{
    struct train_args *args = &gpu.args;
    args->set = *set;
    args->order = order;
    args->from = from;
    args->batch.rows = to - from;
    gpu_launch(gpu.gather, args->batch.rows * MLP_INPUTS, args, gpu.compute);
    gpu_launch(gpu.hidden, args->batch.rows * MLP_HIDDEN, args, gpu.compute);
    gpu_launch(gpu.output, args->batch.rows, args, gpu.compute);
}

/* Of one layer; that of the layer behind it has been computed. */
static void backward(int layer)
{
    struct train_args *args = &gpu.args;
    if (layer == 1) {
        gpu_launch(gpu.grad_output, layers[1].count, args, gpu.compute);
    } else {
        gpu_launch(gpu.delta_hidden, args->batch.rows * MLP_HIDDEN, args, gpu.compute);
        gpu_launch(gpu.grad_hidden, layers[0].count, args, gpu.compute);
    }
    gpu_record(gpu.ready[layer], gpu.compute);
}

/* Adds up a layer's gradients over all ranks, as soon as they are ready. */
static void sum_gradients(int layer)
{
    float *grad = (float *)gpu.args.grad + layers[layer].at;
    gpu_wait(gpu.communicate, gpu.ready[layer]);
    ctran_allreduce_enqueue(CTRAN_IN_PLACE, grad, (ctran_count_t)layers[layer].count, CTRAN_FLOAT,
                            CTRAN_SUM, CTRAN_COMM_WORLD, gpu.communicate);
    gpu_record(gpu.summed[layer], gpu.communicate);
}

static void descend(int layer, size_t count, float rate)
{
    struct train_args *args = &gpu.args;
    args->param = layers[layer].at;
    args->params = layers[layer].count;
    args->rate = rate;
    args->scale = 1.0f / (float)count;
    gpu_wait(gpu.compute, gpu.summed[layer]);
    gpu_launch(gpu.step, args->params, args, gpu.compute);
}

static void step(struct run *run, size_t from, size_t to, size_t count, float rate)
{
    (void)run;
    forward(&gpu.train, gpu.order, from, to);
    for (int layer = LAYERS - 1; layer >= 0; layer--) {
        backward(layer);
        sum_gradients(layer);
    }
    for (int layer = LAYERS - 1; layer >= 0; layer--) {
        descend(layer, count, rate);
    }
}

static void test(struct run *run, size_t from, size_t to)
{
    (void)run;
    forward(&gpu.test, NULL, from, to);
}

static struct tally end(struct run *run)
{
    const size_t rows = gpu.args.batch.cap;
    struct tally sum = {0};
    (void)run;
    gpu_get(gpu.sums, gpu.args.tally, rows * sizeof sum, gpu.compute);
    gpu_clear(gpu.args.tally, rows * sizeof sum, gpu.compute);
    for (size_t r = 0; r < rows; r++) {
        sum.loss += gpu.sums[r].loss;
        sum.correct += gpu.sums[r].correct;
    }
    return sum;
}

const struct worker train_device = {open_device, close_device, begin, step, test, end};
