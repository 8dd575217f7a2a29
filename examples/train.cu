/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arithmetic of mlp.c for a GPU, on the same structs: a thread computes an element of the
 * result, and adds up its sum alone, in a fixed order. So equal input gives equal bits here, too;
 * but they are not those of mlp.c, which adds up in another order.
 */
#include "kernel.cuh"
#include "train_args.h"

#include <math.h>

/* The batch: bytes to floats. */
KERNEL(train_gather, struct train_args)
{
    for (size_t e = first(); e < a.batch.rows * MLP_INPUTS; e += stride()) {
        const size_t r = e / MLP_INPUTS, i = e % MLP_INPUTS;
        const size_t image = a.order != nullptr ? a.order[a.from + r] : a.from + r;
        a.batch.input[r][i] = (float)a.set.image[image * MLP_INPUTS + i] * (1.0f / 255);
        if (i == 0) {
            a.batch.label[r] = a.set.label[image];
        }
    }
}

KERNEL(train_hidden, struct train_args)
{
    for (size_t e = first(); e < a.batch.rows * MLP_HIDDEN; e += stride()) {
        const size_t r = e / MLP_HIDDEN, j = e % MLP_HIDDEN;
        float        sum = a.net->b1[j];
        for (size_t i = 0; i < MLP_INPUTS; i++) {
            sum += a.batch.input[r][i] * a.net->w1[i][j];
        }
        a.batch.hidden[r][j] = sum > 0 ? sum : 0;
    }
}

/* Probabilities of the classes, and what they come to. A thread has a whole image: few sums. */
KERNEL(train_output, struct train_args)
{
    for (size_t r = first(); r < a.batch.rows; r += stride()) {
        float *output = a.batch.output[r], sum = 0;
        size_t best = 0;
        for (size_t c = 0; c < MLP_CLASSES; c++) {
            output[c] = a.net->b2[c];
            for (size_t j = 0; j < MLP_HIDDEN; j++) {
                output[c] += a.batch.hidden[r][j] * a.net->w2[j][c];
            }
            best = output[c] > output[best] ? c : best;
        }
        const float most = output[best];
        for (size_t c = 0; c < MLP_CLASSES; c++) {
            output[c] = expf(output[c] - most);
            sum += output[c];
        }
        for (size_t c = 0; c < MLP_CLASSES; c++) {
            output[c] /= sum;
        }
        a.tally[r].loss -= log((double)output[a.batch.label[r]] + 1e-30);
        a.tally[r].correct += best == a.batch.label[r];
    }
}

/* The gradient of the loss by a class's score. */
static __device__ __forceinline__ float delta(const struct train_args &a, size_t r, size_t c)
{
    return a.batch.output[r][c] - (a.batch.label[r] == c ? 1.0f : 0.0f);
}

/* The gradient of w2, and, as one more row of it, of b2. */
KERNEL(train_grad_output, struct train_args)
{
    for (size_t e = first(); e < (MLP_HIDDEN + 1) * MLP_CLASSES; e += stride()) {
        const size_t j = e / MLP_CLASSES, c = e % MLP_CLASSES;
        float        sum = 0;
        for (size_t r = 0; r < a.batch.rows; r++) {
            sum += (j < MLP_HIDDEN ? a.batch.hidden[r][j] : 1.0f) * delta(a, r, c);
        }
        *(j < MLP_HIDDEN ? &a.grad->w2[j][c] : &a.grad->b2[c]) = sum;
    }
}

/* The gradient by the hidden units, in their place. */
KERNEL(train_delta_hidden, struct train_args)
{
    for (size_t e = first(); e < a.batch.rows * MLP_HIDDEN; e += stride()) {
        const size_t r = e / MLP_HIDDEN, j = e % MLP_HIDDEN;
        float        sum = 0;
        for (size_t c = 0; c < MLP_CLASSES; c++) {
            sum += a.net->w2[j][c] * delta(a, r, c);
        }
        a.batch.hidden[r][j] = a.batch.hidden[r][j] > 0 ? sum : 0;
    }
}

/* The gradient of w1, and of b1. */
KERNEL(train_grad_hidden, struct train_args)
{
    for (size_t e = first(); e < (MLP_INPUTS + 1) * MLP_HIDDEN; e += stride()) {
        const size_t i = e / MLP_HIDDEN, j = e % MLP_HIDDEN;
        float        sum = 0;
        for (size_t r = 0; r < a.batch.rows; r++) {
            sum += (i < MLP_INPUTS ? a.batch.input[r][i] : 1.0f) * a.batch.hidden[r][j];
        }
        *(i < MLP_INPUTS ? &a.grad->w1[i][j] : &a.grad->b1[j]) = sum;
    }
}

KERNEL(train_step, struct train_args)
{
    float       *w = (float *)a.net + a.param, *v = (float *)a.velocity + a.param;
    const float *g = (const float *)a.grad + a.param;
    for (size_t i = first(); i < a.params; i += stride()) {
        const float next = TRAIN_MOMENTUM * v[i] + g[i] * a.scale;
        v[i] = fabsf(next) < 1e-30f ? 0 : next; /* as mlp_step */
        w[i] -= a.rate * v[i];
    }
}
