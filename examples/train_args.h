/* SPDX-License-Identifier: BSD-3-Clause */
/* What each kernel of train.cu is told. All pointers are to memory of the GPU. */
#ifndef EXAMPLES_TRAIN_ARGS_H
#define EXAMPLES_TRAIN_ARGS_H

#include "train.h"

struct train_args {
    struct mlp      *net, *velocity, *grad;
    struct mlp_batch batch; /* batch.rows images, which are */
    struct set       set;
    const uint32_t  *order; /* images order[from], order[from + 1], ... of `set`; */
    size_t           from;  /* NULL: images from, from + 1, ... */
    struct tally    *tally; /* one for each row of a batch, so that nobody has to take turns */
    size_t           param, params; /* of a step: the first parameter and how many */
    float            rate, scale;   /* of a step: the learning rate, 1 / images of the batch */
};

#endif
