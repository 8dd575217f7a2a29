/* SPDX-License-Identifier: BSD-3-Clause */
/* The training example's worker on the processor: compute, add up over all ranks, step. */
#include <stdio.h>

#include <ctran.h>

#include "train.h"

static struct {
    struct mlp       velocity, grad;
    struct mlp_batch batch;
    struct tally     tally;
} host;

static void open_host(struct run *run, size_t rows)
{
    if (mlp_batch_create(&host.batch, rows) != 0) {
        fprintf(stderr, "train: rank %d has no memory for its batch\n", run->rank);
        ctran_abort(CTRAN_COMM_WORLD, 1);
    }
}

static void close_host(void)
{
    mlp_batch_destroy(&host.batch);
}

static void begin(struct run *run)
{
    (void)run;
}

static void step(struct run *run, size_t from, size_t to, size_t count, float rate)
{
    mlp_batch_clear(&host.batch);
    for (size_t i = from; i < to; i++) {
        const size_t image = run->order[i];
        mlp_batch_add(&host.batch, run->train.image + image * MLP_INPUTS, run->train.label[image]);
    }
    host.tally.loss += mlp_forward(&run->net, &host.batch);
    mlp_backward(&run->net, &host.batch, &host.grad);
    const double begun = ctran_wtime();
    ctran_allreduce(CTRAN_IN_PLACE, &host.grad, MLP_PARAMS, CTRAN_FLOAT, CTRAN_SUM,
                    CTRAN_COMM_WORLD);
    run->comm_s += ctran_wtime() - begun;
    mlp_step(&run->net, &host.velocity, &host.grad, count, rate, TRAIN_MOMENTUM);
}

static void test(struct run *run, size_t from, size_t to)
{
    mlp_batch_clear(&host.batch);
    for (size_t i = from; i < to; i++) {
        mlp_batch_add(&host.batch, run->test.image + i * MLP_INPUTS, run->test.label[i]);
    }
    host.tally.loss += mlp_forward(&run->net, &host.batch);
    host.tally.correct += (int64_t)mlp_correct(&host.batch);
}

static struct tally end(struct run *run)
{
    const struct tally tally = host.tally;
    (void)run;
    host.tally = (struct tally){0};
    return tally;
}

const struct worker train_host = {open_host, close_host, begin, step, test, end};
