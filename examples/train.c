/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * train - data-parallel training of a small neural network on Fashion-MNIST.
 *
 *     ctranrun -n 4 ./train --epochs 3
 *
 * Every rank holds the whole network and takes its slice of every batch. The gradients of
 * the slices are added up by ctran_allreduce, after which all ranks make the same step,
 * so their networks stay equal without further exchange. That is data-parallel training
 * as the large frameworks do it, without the frameworks.
 *
 * With --device GPUs compute, and the gradients of one layer are added up while those of the layer
 * before it are computed: train_device.c.
 *
 * Two runs with the same options and number of ranks print the same losses, bit by bit.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ctran.h>

#include "args.h"
#include "train.h"

#define DEFAULT_DATA "/usr/share/datasets/fashion-mnist"

enum { EVAL_BATCH = 128 };

/* ---- options ------------------------------------------------------------------------
 */

/* -1: go on. Otherwise the exit status. */
static int parse_options(int argc, char **argv, bool speak, struct options *opt)
{
    long             seed = 1;
    const struct arg table[] = {
        {"epochs", ARG_LONG, &opt->epochs, "N", "times that every image is seen (default 3)", 1,
         100000},
        {"batch", ARG_LONG, &opt->batch, "N", "images a step, over all ranks (default 128)", 1,
         1000000},
        {"lr", ARG_REAL, &opt->rate, "X", "learning rate (default 0.1)", 0, 100},
        {"seed", ARG_LONG, &seed, "N", "of the first weights and the order of images (default 1)",
         1, 0x7fffffff},
        {"data", ARG_TEXT, &opt->data, "DIR", "where the files are (default " DEFAULT_DATA ")", 0,
         0},
        {"device", ARG_FLAG, &opt->device, NULL, "on GPUs, one for each rank", 0, 0},
        {"kernels", ARG_TEXT, &opt->kernels, "F",
         "file of the GPU's kernels (default train.fatbin, beside the\n"
         "program, where the build found nvcc)",
         0, 0},
        {NULL, ARG_FLAG, NULL, NULL, NULL, 0, 0},
    };
    const struct args args = {"train",
                              "Trains a small neural network on Fashion-MNIST, each rank on its "
                              "slice of\nevery batch.\n",
                              table};
    *opt = (struct options){.epochs = 3, .batch = 128, .rate = 0.1, .data = DEFAULT_DATA};
    const int status = args_parse(&args, argc, argv, speak);
    opt->seed = (uint64_t)seed;
    return status;
}

/* ---- training -----------------------------------------------------------------------
 */

/* The caller's part of 0 .. count - 1 begins here; that of the next rank ends it. */
static size_t slice_begin(const struct run *run, size_t count, int rank)
{
    return count * (size_t)rank / (size_t)run->size;
}

/* Fisher and Yates; the same on all ranks, since their seeds are. */
static void shuffle(struct run *run)
{
    for (size_t i = run->train.count - 1; i > 0; i--) {
        size_t   j = mlp_random(&run->seed) % (i + 1);
        uint32_t other = run->order[j];
        run->order[j] = run->order[i];
        run->order[i] = other;
    }
}

/* The learning rate falls in a line from its first value to 0: large steps to get near,
 * small ones to settle. */
static float current_rate(const struct run *run)
{
    double total = (double)run->train.count * (double)run->opt.epochs;
    return (float)(run->opt.rate * (1 - (double)run->seen / total));
}

/* Returns the mean loss over the epoch's images, as seen in training. */
static double train_epoch(struct run *run)
{
    const size_t batch = (size_t)run->opt.batch, total = run->train.count;
    shuffle(run);
    run->worker->begin(run);
    for (size_t at = 0; at < total; at += batch) {
        const size_t count = total - at < batch ? total - at : batch;
        run->worker->step(run, at + slice_begin(run, count, run->rank),
                          at + slice_begin(run, count, run->rank + 1), count, current_rate(run));
        run->seen += count;
    }
    double loss = run->worker->end(run).loss;
    ctran_allreduce(CTRAN_IN_PLACE, &loss, 1, CTRAN_DOUBLE, CTRAN_SUM, CTRAN_COMM_WORLD);
    return loss / (double)total;
}

/* The share of the test images that the network puts into their class. */
static double test_accuracy(struct run *run)
{
    const size_t end = slice_begin(run, run->test.count, run->rank + 1);
    for (size_t i = slice_begin(run, run->test.count, run->rank); i < end; i += EVAL_BATCH) {
        run->worker->test(run, i, end - i < EVAL_BATCH ? end : i + EVAL_BATCH);
    }
    int64_t correct = run->worker->end(run).correct;
    ctran_allreduce(CTRAN_IN_PLACE, &correct, 1, CTRAN_INT64_T, CTRAN_SUM, CTRAN_COMM_WORLD);
    return (double)correct / (double)run->test.count;
}

static void train(struct run *run)
{
    double accuracy = 0;
    char   part[32] = "";
    for (long epoch = 1; epoch <= run->opt.epochs; epoch++) {
        run->comm_s = 0;
        double begin = ctran_wtime(), loss = train_epoch(run), end = ctran_wtime();
        if (!run->opt.device) { /* there communication goes on beside computation */
            (void)snprintf(part, sizeof part, ", %.0f %% in communication",
                           100 * run->comm_s / (end - begin));
        }
        accuracy = test_accuracy(run);
        if (run->rank == 0) {
            printf("epoch %ld: loss %.9g, test accuracy %.4f, %.0f images/s%s\n", epoch, loss,
                   accuracy, (double)run->train.count / (end - begin), part);
            fflush(stdout);
        }
    }
    if (run->rank == 0) {
        printf("final test accuracy %.4f\n", accuracy);
    }
}

/* ---- start and end ------------------------------------------------------------------
 */

/* Memory and first values. A rank that has no memory ends the job. */
static void prepare(struct run *run)
{
    const size_t slice = (size_t)run->opt.batch / (size_t)run->size + 1;
    run->order = malloc(run->train.count * sizeof run->order[0]);
    if (run->order == NULL) {
        fprintf(stderr, "train: rank %d has no memory for the order of images\n", run->rank);
        ctran_abort(CTRAN_COMM_WORLD, 1);
    }
    for (size_t i = 0; i < run->train.count; i++) {
        run->order[i] = (uint32_t)i;
    }
    run->seed = run->opt.seed;
    mlp_init(&run->net, mlp_random(&run->seed));
    run->worker->open(run, slice > EVAL_BATCH ? slice : EVAL_BATCH);
}

int main(int argc, char **argv)
{
    static struct run run;
    int               threads; /* one of ctran's own may have to see to what is on a stream */
    if (ctran_init_thread(&argc, &argv, CTRAN_THREAD_MULTIPLE, &threads) != CTRAN_SUCCESS) {
        return 1;
    }
    ctran_comm_rank(CTRAN_COMM_WORLD, &run.rank);
    ctran_comm_size(CTRAN_COMM_WORLD, &run.size);
    int status = parse_options(argc, argv, run.rank == 0, &run.opt);
    run.worker = run.opt.device ? &train_device : &train_host;
    if (status < 0) {
        status = train_data_load(&run) == 0 ? 0 : 1;
        if (status == 0) {
            prepare(&run);
            train(&run);
            run.worker->close();
        }
    }
    free(run.order);
    train_data_free(&run);
    ctran_finalize();
    return status;
}
