/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small neural network: 784 inputs, 128 hidden units (ReLU), 10 classes (softmax, cross
 * entropy), trained by gradient descent with momentum.
 *
 * The network is a plain struct of floats, and so are its gradient and its momentum: what
 * is to be summed over ranks is one array of MLP_PARAMS floats. Everything is added up in
 * one fixed order, so equal input gives equal bits.
 */
#ifndef EXAMPLES_MLP_H
#define EXAMPLES_MLP_H

#include <stddef.h>
#include <stdint.h>

enum { MLP_INPUTS = 784, MLP_HIDDEN = 128, MLP_CLASSES = 10 };

/* Row i of a weight matrix holds the weights from unit i to all units of the next layer.
 */
struct mlp {
    float w1[MLP_INPUTS][MLP_HIDDEN];
    float b1[MLP_HIDDEN];
    float w2[MLP_HIDDEN][MLP_CLASSES];
    float b2[MLP_CLASSES];
};

enum { MLP_PARAMS = sizeof(struct mlp) / sizeof(float) };

/* A batch and what the network makes of it, one row an image. */
struct mlp_batch {
    size_t rows, cap;
    float (*input)[MLP_INPUTS];
    float (*hidden)[MLP_HIDDEN];
    float (*output)[MLP_CLASSES]; /* probabilities */
    uint8_t *label;
};

/* Room for up to `cap` images. 0, or -1 when out of memory. */
int  mlp_batch_create(struct mlp_batch *batch, size_t cap);
void mlp_batch_destroy(struct mlp_batch *batch);

/* Empties the batch; adds an image of MLP_INPUTS bytes (there must be room). */
void mlp_batch_clear(struct mlp_batch *batch);
void mlp_batch_add(struct mlp_batch *batch, const uint8_t *image, uint8_t label);

/* Weights at random, the same for the same seed. */
void mlp_init(struct mlp *net, uint64_t seed);

/* Computes hidden and output of the batch; returns the sum of its losses. */
double mlp_forward(const struct mlp *net, struct mlp_batch *batch);

/* After mlp_forward: *grad = the sum of the gradients of the batch's images. Overwrites
 * hidden and output. */
void mlp_backward(const struct mlp *net, struct mlp_batch *batch, struct mlp *grad);

/* One step: grad is the sum over `images` images; `velocity` starts as zeros. */
void mlp_step(struct mlp *net, struct mlp *velocity, const struct mlp *grad, size_t images,
              float rate, float momentum);

/* After mlp_forward: how many images were put into their class. */
size_t mlp_correct(const struct mlp_batch *batch);

/* Random numbers: the next one of the sequence whose state is *seed. */
uint64_t mlp_random(uint64_t *seed);

#endif
