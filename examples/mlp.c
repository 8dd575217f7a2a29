/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The network's arithmetic. The two large products, input times weights and its gradient,
 * are both sums of scaled rows as long as the hidden layer; add_rows does four at a time
 * with a loop of constant length that compilers vectorise without reordering any sum. The
 * loops around it keep a piece of the weights in the first-level cache.
 */
#include "mlp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEP = 4, PIECE = 16 }; /* STEP divides PIECE, and PIECE the inputs */

static size_t rounded_up(size_t rows)
{
    return (rows + STEP - 1) / STEP * STEP;
}

int mlp_batch_create(struct mlp_batch *batch, size_t cap)
{
    const size_t rows = rounded_up(cap);
    *batch = (struct mlp_batch){
        .cap = cap,
        .input = calloc(rows + 1, sizeof batch->input[0]),
        .hidden = calloc(rows + 1, sizeof batch->hidden[0]),
        .output = calloc(rows + 1, sizeof batch->output[0]),
        .label = calloc(rows + 1, 1),
    };
    if (!batch->input || !batch->hidden || !batch->output || !batch->label) {
        mlp_batch_destroy(batch);
        return -1;
    }
    return 0;
}

void mlp_batch_destroy(struct mlp_batch *batch)
{
    free(batch->input);
    free(batch->hidden);
    free(batch->output);
    free(batch->label);
    *batch = (struct mlp_batch){0};
}

void mlp_batch_clear(struct mlp_batch *batch)
{
    batch->rows = 0;
}

void mlp_batch_add(struct mlp_batch *batch, const uint8_t *image, uint8_t label)
{
    float *to = batch->input[batch->rows];
    for (size_t i = 0; i < MLP_INPUTS; i++) {
        to[i] = (float)image[i] * (1.0f / 255);
    }
    batch->label[batch->rows++] = label;
}

/* Source: Vigna, splitmix64. */
uint64_t mlp_random(uint64_t *seed)
{
    uint64_t z = *seed += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Uniform in -limit .. limit. */
static void fill_random(float *to, size_t count, double limit, uint64_t *seed)
{
    for (size_t i = 0; i < count; i++) {
        double unit = (double)(mlp_random(seed) >> 11) * 0x1p-53;
        to[i] = (float)((2 * unit - 1) * limit);
    }
}

/* Limits: He et al. 2015, for rectified units. */
void mlp_init(struct mlp *net, uint64_t seed)
{
    memset(net, 0, sizeof *net);
    fill_random(net->w1[0], sizeof net->w1 / sizeof(float), sqrt(6.0 / MLP_INPUTS), &seed);
    fill_random(net->w2[0], sizeof net->w2 / sizeof(float), sqrt(6.0 / MLP_HIDDEN), &seed);
}

/* row += scale[0] * from[0] + ... + scale[3] * from[3] */
static void add_rows(float *restrict row, const float (*restrict from)[MLP_HIDDEN],
                     const float scale[STEP])
{
    const float s0 = scale[0], s1 = scale[1], s2 = scale[2], s3 = scale[3];
    for (size_t j = 0; j < MLP_HIDDEN; j++) {
        row[j] += s0 * from[0][j] + s1 * from[1][j] + s2 * from[2][j] + s3 * from[3][j];
    }
}

static void forward_hidden(const struct mlp *net, struct mlp_batch *batch)
{
    for (size_t r = 0; r < batch->rows; r++) {
        memcpy(batch->hidden[r], net->b1, sizeof net->b1);
    }
    for (size_t at = 0; at < MLP_INPUTS; at += PIECE) {
        for (size_t r = 0; r < batch->rows; r++) {
            for (size_t i = at; i < at + PIECE; i += STEP) {
                add_rows(batch->hidden[r], &net->w1[i], &batch->input[r][i]);
            }
        }
    }
    for (size_t r = 0; r < batch->rows; r++) {
        for (size_t j = 0; j < MLP_HIDDEN; j++) {
            batch->hidden[r][j] = batch->hidden[r][j] > 0 ? batch->hidden[r][j] : 0;
        }
    }
}

/* Scores to probabilities, in place. Returns the loss. */
static double softmax(float *score, uint8_t label)
{
    float max = score[0], sum = 0;
    for (size_t c = 1; c < MLP_CLASSES; c++) {
        max = score[c] > max ? score[c] : max;
    }
    for (size_t c = 0; c < MLP_CLASSES; c++) {
        score[c] = expf(score[c] - max);
        sum += score[c];
    }
    for (size_t c = 0; c < MLP_CLASSES; c++) {
        score[c] /= sum;
    }
    return -log((double)score[label] + 1e-30);
}

double mlp_forward(const struct mlp *net, struct mlp_batch *batch)
{
    double loss = 0;
    forward_hidden(net, batch);
    for (size_t r = 0; r < batch->rows; r++) {
        float *output = batch->output[r];
        memcpy(output, net->b2, sizeof net->b2);
        for (size_t j = 0; j < MLP_HIDDEN; j++) {
            for (size_t c = 0; c < MLP_CLASSES; c++) {
                output[c] += batch->hidden[r][j] * net->w2[j][c];
            }
        }
        loss += softmax(output, batch->label[r]);
    }
    return loss;
}

/* The second layer; leaves the gradient by the hidden units in batch->hidden. */
static void backward_output(const struct mlp *net, struct mlp_batch *batch, struct mlp *grad)
{
    for (size_t r = 0; r < batch->rows; r++) {
        float *delta = batch->output[r], *hidden = batch->hidden[r];
        delta[batch->label[r]] -= 1;
        for (size_t c = 0; c < MLP_CLASSES; c++) {
            grad->b2[c] += delta[c];
        }
        for (size_t j = 0; j < MLP_HIDDEN; j++) {
            float sum = 0;
            for (size_t c = 0; c < MLP_CLASSES; c++) {
                grad->w2[j][c] += hidden[j] * delta[c];
                sum += net->w2[j][c] * delta[c];
            }
            hidden[j] = hidden[j] > 0 ? sum : 0;
            grad->b1[j] += hidden[j];
        }
    }
}

static void backward_hidden(struct mlp_batch *batch, struct mlp *grad)
{
    const size_t rows = rounded_up(batch->rows);
    /* Rows that fill up the last step count for nothing. */
    memset(batch->hidden[batch->rows], 0, (rows - batch->rows) * sizeof batch->hidden[0]);
    memset(batch->input[batch->rows], 0, (rows - batch->rows) * sizeof batch->input[0]);
    for (size_t at = 0; at < rows; at += STEP) {
        for (size_t i = 0; i < MLP_INPUTS; i++) {
            const float scale[STEP] = {batch->input[at][i], batch->input[at + 1][i],
                                       batch->input[at + 2][i], batch->input[at + 3][i]};
            add_rows(grad->w1[i], &batch->hidden[at], scale);
        }
    }
}

void mlp_backward(const struct mlp *net, struct mlp_batch *batch, struct mlp *grad)
{
    memset(grad, 0, sizeof *grad);
    backward_output(net, batch, grad);
    backward_hidden(batch, grad);
}

void mlp_step(struct mlp *net, struct mlp *velocity, const struct mlp *grad, size_t images,
              float rate, float momentum)
{
    /* All members are floats, so each struct is an array of MLP_PARAMS of them. */
    float *restrict w = (float *)net, *restrict v = (float *)velocity;
    const float *restrict g = (const float *)grad;
    const float scale = 1.0f / (float)images;
    for (size_t i = 0; i < MLP_PARAMS; i++) {
        const float next = momentum * v[i] + g[i] * scale;
        /* The momentum of a weight at rest dies away; left alone it would become a
         * subnormal number, with which processors are a hundred times slower. */
        v[i] = fabsf(next) < 1e-30f ? 0 : next;
        w[i] -= rate * v[i];
    }
}

size_t mlp_correct(const struct mlp_batch *batch)
{
    size_t correct = 0;
    for (size_t r = 0; r < batch->rows; r++) {
        size_t best = 0;
        for (size_t c = 1; c < MLP_CLASSES; c++) {
            best = batch->output[r][c] > batch->output[r][best] ? c : best;
        }
        correct += best == batch->label[r];
    }
    return correct;
}
