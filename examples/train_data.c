/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The images of the training example. Rank 0 reads them and broadcasts them: the files need to be
 * on one host only, they are unpacked once, and all ranks surely train on the same images.
 */
#include <stdio.h>
#include <stdlib.h>

#include <ctran.h>

#include "idx.h"
#include "train.h"

/* Images and labels of one set, checked against each other. 0, or -1 after a message. */
static int read_set(const char *dir, const char *images, const char *labels, struct set *set)
{
    struct idx image, label = {0};
    if (idx_read(dir, images, 3, &image) != 0) {
        return -1;
    }
    int rc = idx_read(dir, labels, 1, &label);
    if (rc == 0 && (image.rows * image.cols != MLP_INPUTS || image.count != label.count)) {
        fprintf(stderr, "%s: %zu images of %zu x %zu and %zu labels do not fit the network\n", dir,
                image.count, image.rows, image.cols, label.count);
        rc = -1;
    }
    for (size_t i = 0; rc == 0 && i < label.count; i++) {
        if (label.data[i] >= MLP_CLASSES) {
            fprintf(stderr, "%s/%s: label %zu is %d\n", dir, labels, i, label.data[i]);
            rc = -1;
        }
    }
    *set = (struct set){image.count, image.data, label.data};
    return rc;
}

static int read_data(struct run *run)
{
    const char *dir = run->opt.data;
    if (read_set(dir, "train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz", &run->train) !=
            0 ||
        read_set(dir, "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz", &run->test) != 0) {
        fprintf(stderr, "train: no usable data; on Debian: apt-get install "
                        "dataset-fashion-mnist, elsewhere say --data DIR\n");
        return -1;
    }
    return 0;
}

/* Hands rank 0's set to all. `count` has been broadcast. */
static void share_set(struct run *run, struct set *set, size_t count)
{
    if (run->rank != 0) {
        *set = (struct set){count, malloc(count * MLP_INPUTS), malloc(count)};
        if (set->image == NULL || set->label == NULL) {
            fprintf(stderr, "train: rank %d has no memory for %zu images\n", run->rank, count);
            ctran_abort(CTRAN_COMM_WORLD, 1);
        }
    }
    ctran_bcast(set->image, (ctran_count_t)(count * MLP_INPUTS), CTRAN_UINT8_T, 0,
                CTRAN_COMM_WORLD);
    ctran_bcast(set->label, (ctran_count_t)count, CTRAN_UINT8_T, 0, CTRAN_COMM_WORLD);
}

int train_data_load(struct run *run)
{
    int64_t counts[2] = {0, 0}; /* stay 0 where rank 0 cannot read */
    if (run->rank == 0 && read_data(run) == 0) {
        counts[0] = (int64_t)run->train.count;
        counts[1] = (int64_t)run->test.count;
    }
    ctran_bcast(counts, 2, CTRAN_INT64_T, 0, CTRAN_COMM_WORLD);
    if (counts[0] == 0) {
        return -1;
    }
    share_set(run, &run->train, (size_t)counts[0]);
    share_set(run, &run->test, (size_t)counts[1]);
    return 0;
}

void train_data_free(struct run *run)
{
    free(run->train.image);
    free(run->train.label);
    free(run->test.image);
    free(run->test.label);
}
