/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the parts of the training example share: train.c says what is to be done, train_data.c
 * brings the images, and a worker computes.
 */
#ifndef EXAMPLES_TRAIN_H
#define EXAMPLES_TRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "mlp.h"

struct options {
    long        epochs, batch;
    double      rate;
    uint64_t    seed;
    const char *data;
    bool        device;  /* compute on the GPU, */
    const char *kernels; /* by those in this file; NULL: train.fatbin beside the program */
};

struct set {
    size_t   count;
    uint8_t *image; /* count * MLP_INPUTS */
    uint8_t *label;
};

/* What a number of images came to. */
struct tally {
    double  loss;
    int64_t correct; /* put into their class */
};

struct worker;

struct run {
    struct options       opt;
    int                  rank, size;
    struct set           train, test;
    uint32_t            *order; /* of the training images, shuffled anew each epoch */
    uint64_t             seed;
    size_t               seen;   /* images trained on so far */
    struct mlp           net;    /* the first weights; whoever computes goes on from them */
    double               comm_s; /* spent in collectives since the epoch began */
    const struct worker *worker;
};

/* Reads the images at rank 0 and hands them to all. 0, or -1 at all ranks after a message. */
int  train_data_load(struct run *run);
void train_data_free(struct run *run);

/* Who computes. Images that others have in the same batch are theirs. */
struct worker {
    /* Memory for `rows` images at a time. A rank that has none ends the job. */
    void (*open)(struct run *run, size_t rows);
    void (*close)(void);
    /* An epoch begins: run->order is new. */
    void (*begin)(struct run *run);
    /* A step on a batch of `count` images over all ranks, of which order[from] .. order[to - 1] are
     * the caller's. */
    void (*step)(struct run *run, size_t from, size_t to, size_t count, float rate);
    /* Tries the network on test images from .. to - 1. */
    void (*test)(struct run *run, size_t from, size_t to);
    /* Waits for all that was asked, and adds up the caller's images since the last time. */
    struct tally (*end)(struct run *run);
};

extern const struct worker train_host;   /* train_host.c: on the processor */
extern const struct worker train_device; /* train_device.c: on a GPU */

#define TRAIN_MOMENTUM 0.9f

#endif
