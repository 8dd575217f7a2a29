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
 * Rank 0 reads the data and broadcasts them: the files need to be on one host only, they
 * are unpacked once, and all ranks surely train on the same images.
 *
 * Two runs with the same options and number of ranks print the same losses, bit by bit.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ctran.h>

#include "idx.h"
#include "mlp.h"

#define DEFAULT_DATA "/usr/share/datasets/fashion-mnist"

enum { EVAL_BATCH = 128 };

static const float MOMENTUM = 0.9f;

struct options {
    long        epochs, batch;
    double      rate;
    uint64_t    seed;
    const char *data;
};

struct set {
    size_t   count;
    uint8_t *image; /* count * MLP_INPUTS */
    uint8_t *label;
};

struct run {
    struct options   opt;
    int              rank, size;
    struct set       train, test;
    uint32_t        *order; /* of the training images, shuffled anew each epoch */
    uint64_t         seed;
    size_t           seen; /* images trained on so far */
    struct mlp       net, velocity, grad;
    struct mlp_batch batch;
    double           comm_s; /* spent in collectives since the epoch began */
};

/* ---- options ------------------------------------------------------------------------
 */

static void print_usage(FILE *to)
{
    fprintf(to, "usage: ctranrun -n RANKS train [OPTION]...\n"
                "Trains a small neural network on Fashion-MNIST, each rank on its slice of\n"
                "every batch.\n"
                "  --epochs N   times that every image is seen (default 3)\n"
                "  --batch N    images a step, over all ranks (default 128)\n"
                "  --lr X       learning rate (default 0.1)\n"
                "  --seed N     of the first weights and the order of images (default 1)\n"
                "  --data DIR   where the files are (default " DEFAULT_DATA ")\n"
                "  --help       print this\n");
}

static bool parse_long(const char *text, long max, long *out)
{
    char *end;
    *out = strtol(text, &end, 10);
    return end != text && *end == '\0' && *out >= 1 && *out <= max;
}

static bool parse_rate(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return end != text && *end == '\0' && *out > 0 && *out < 100;
}

/* -1: go on. Otherwise the exit status: 0 after --help, 2 after a message about an error.
 * Only one rank speaks. */
static int parse_options(int argc, char **argv, bool speak, struct options *opt)
{
    static const struct option table[] = {
        {"epochs", required_argument, NULL, 'e'},
        {"batch", required_argument, NULL, 'b'},
        {"lr", required_argument, NULL, 'l'},
        {"seed", required_argument, NULL, 's'},
        {"data", required_argument, NULL, 'd'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    long seed = 1;
    int  c;
    bool good = true;
    *opt = (struct options){.epochs = 3, .batch = 128, .rate = 0.1, .data = DEFAULT_DATA};
    opterr = speak;
    while (good && (c = getopt_long(argc, argv, "", table, NULL)) != -1) {
        switch (c) {
        case 'e':
            good = parse_long(optarg, 100000, &opt->epochs);
            break;
        case 'b':
            good = parse_long(optarg, 1000000, &opt->batch);
            break;
        case 'l':
            good = parse_rate(optarg, &opt->rate);
            break;
        case 's':
            good = parse_long(optarg, 0x7fffffff, &seed);
            break;
        case 'd':
            opt->data = optarg;
            break;
        case 'h':
            if (speak) {
                print_usage(stdout);
            }
            return 0;
        default:
            return 2; /* getopt_long has said why */
        }
        if (!good && speak) {
            fprintf(stderr, "train: \"%s\" is no valid value for --%s\n", optarg,
                    c == 'e'   ? "epochs"
                    : c == 'b' ? "batch"
                    : c == 'l' ? "lr"
                               : "seed");
        }
    }
    if (good && optind < argc) {
        good = false;
        if (speak) {
            fprintf(stderr, "train: unexpected argument \"%s\"\n", argv[optind]);
        }
    }
    opt->seed = (uint64_t)seed;
    return good ? -1 : 2;
}

/* ---- data ---------------------------------------------------------------------------
 */

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

/* 0, or -1 at all ranks after a message at rank 0. */
static int load_data(struct run *run)
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

/* ---- training -----------------------------------------------------------------------
 */

/* The caller's part of 0 .. count - 1 begins here; that of the next rank ends it. */
static size_t slice_begin(const struct run *run, size_t count, int rank)
{
    return count * (size_t)rank / (size_t)run->size;
}

/* Adds up an array over all ranks, in place. */
static void sum_over_ranks(struct run *run, void *data, size_t count, ctran_datatype_t type)
{
    double begin = ctran_wtime();
    ctran_allreduce(CTRAN_IN_PLACE, data, (ctran_count_t)count, type, CTRAN_SUM, CTRAN_COMM_WORLD);
    run->comm_s += ctran_wtime() - begin;
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

/* One step on the training images order[at] .. order[at + count - 1]. Returns the loss of
 * the caller's slice. */
static double train_batch(struct run *run, size_t at, size_t count)
{
    const size_t end = slice_begin(run, count, run->rank + 1);
    mlp_batch_clear(&run->batch);
    for (size_t i = slice_begin(run, count, run->rank); i < end; i++) {
        size_t image = run->order[at + i];
        mlp_batch_add(&run->batch, run->train.image + image * MLP_INPUTS, run->train.label[image]);
    }
    double loss = mlp_forward(&run->net, &run->batch);
    mlp_backward(&run->net, &run->batch, &run->grad);
    sum_over_ranks(run, &run->grad, MLP_PARAMS, CTRAN_FLOAT);
    mlp_step(&run->net, &run->velocity, &run->grad, count, current_rate(run), MOMENTUM);
    run->seen += count;
    return loss;
}

/* Returns the mean loss over the epoch's images, as seen in training. */
static double train_epoch(struct run *run)
{
    const size_t batch = (size_t)run->opt.batch, total = run->train.count;
    double       loss = 0;
    shuffle(run);
    for (size_t at = 0; at < total; at += batch) {
        loss += train_batch(run, at, total - at < batch ? total - at : batch);
    }
    sum_over_ranks(run, &loss, 1, CTRAN_DOUBLE);
    return loss / (double)total;
}

/* The share of the test images that the network puts into their class. */
static double test_accuracy(struct run *run)
{
    const size_t end = slice_begin(run, run->test.count, run->rank + 1);
    int64_t      correct = 0;
    for (size_t i = slice_begin(run, run->test.count, run->rank); i < end;) {
        mlp_batch_clear(&run->batch);
        for (; i < end && run->batch.rows < run->batch.cap; i++) {
            mlp_batch_add(&run->batch, run->test.image + i * MLP_INPUTS, run->test.label[i]);
        }
        mlp_forward(&run->net, &run->batch);
        correct += (int64_t)mlp_correct(&run->batch);
    }
    sum_over_ranks(run, &correct, 1, CTRAN_INT64_T);
    return (double)correct / (double)run->test.count;
}

static void train(struct run *run)
{
    double accuracy = 0;
    for (long epoch = 1; epoch <= run->opt.epochs; epoch++) {
        run->comm_s = 0;
        double begin = ctran_wtime(), loss = train_epoch(run), end = ctran_wtime();
        double share = 100 * run->comm_s / (end - begin);
        accuracy = test_accuracy(run);
        if (run->rank == 0) {
            printf("epoch %ld: loss %.9g, test accuracy %.4f, %.0f images/s, "
                   "%.0f %% in communication\n",
                   epoch, loss, accuracy, (double)run->train.count / (end - begin), share);
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
    if (run->order == NULL ||
        mlp_batch_create(&run->batch, slice > EVAL_BATCH ? slice : EVAL_BATCH) != 0) {
        fprintf(stderr, "train: rank %d has no memory for its batch\n", run->rank);
        ctran_abort(CTRAN_COMM_WORLD, 1);
    }
    for (size_t i = 0; i < run->train.count; i++) {
        run->order[i] = (uint32_t)i;
    }
    run->seed = run->opt.seed;
    mlp_init(&run->net, mlp_random(&run->seed));
}

static void release(struct run *run)
{
    mlp_batch_destroy(&run->batch);
    free(run->order);
    free(run->train.image);
    free(run->train.label);
    free(run->test.image);
    free(run->test.label);
}

int main(int argc, char **argv)
{
    static struct run run;
    if (ctran_init(&argc, &argv) != CTRAN_SUCCESS) {
        return 1;
    }
    ctran_comm_rank(CTRAN_COMM_WORLD, &run.rank);
    ctran_comm_size(CTRAN_COMM_WORLD, &run.size);
    int status = parse_options(argc, argv, run.rank == 0, &run.opt);
    if (status < 0) {
        status = load_data(&run) == 0 ? 0 : 1;
        if (status == 0) {
            prepare(&run);
            train(&run);
        }
    }
    release(&run);
    ctran_finalize();
    return status;
}
