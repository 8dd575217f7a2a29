/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the parts of the mixture-of-experts example share: moe.c runs it, moe.cu has its kernels,
 * moe_check.c computes the same on the host. Tokens, and the weights of experts and router, are
 * small whole numbers, so all sums are exact, in any order, and results can be compared for
 * equality.
 */
#ifndef EXAMPLES_MOE_H
#define EXAMPLES_MOE_H

#include <stddef.h>
#include <stdint.h>

enum {
    MOE_WIDTH = 64, /* numbers in a token */
    MOE_TOP = 2,    /* experts that see it */
    MOE_HOT = 60    /* how much the favourite expert of a step is preferred */
};

/* How much of a token's result is of its first expert, and of its second. */
#define MOE_SHARE_1 0.75f
#define MOE_SHARE_2 0.25f

/* Numbers of the job. Expert k lives on rank k / experts. */
struct moe_shape {
    int    rank, size, experts; /* experts of a rank */
    size_t tokens;              /* of a rank, in a step */
};

/* What a kernel is told: all is in the GPU's memory. Slots are the places in the list of what this
 * rank sends, sorted by expert, and so by rank; rows are what it receives, by rank and expert. */
struct moe_args {
    struct moe_shape shape;
    uint64_t        *step;                       /* counts replays */
    const float (*gate)[MOE_WIDTH];              /* by expert of the job */
    const float (*weight)[MOE_WIDTH][MOE_WIDTH]; /* by own expert */
    float (*token)[MOE_WIDTH];
    int32_t (*choice)[MOE_TOP];      /* by token: its experts */
    int64_t (*slot)[MOE_TOP];        /* by token: where in the list they stand */
    int64_t *list;                   /* by slot: the token */
    int64_t *by_expert, *sendcounts; /* slots for each expert, and for each rank */
    int64_t *arriving, *recvcounts;  /* rows from each rank for each own expert; from each rank */
    float (*row)[MOE_WIDTH], (*done)[MOE_WIDTH]; /* what came, and what the experts made of it */
    int64_t *backcounts;
    float (*back)[MOE_WIDTH]; /* by slot: what the experts sent back */
    float (*result)[MOE_WIDTH];
};

#if defined(__CUDACC__)
#define MOE_BOTH static __host__ __device__ inline
#else
#define MOE_BOTH static inline
#endif

/* A whole number from -4 to 4 that looks random. Source: Vigna, splitmix64. */
MOE_BOTH float moe_value(uint64_t key, uint64_t at)
{
    uint64_t z = (key << 32) + at * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (float)((z ^ z >> 31) % 9) - 4;
}

/* Number i of a rank's token t in a step. */
MOE_BOTH float moe_token(uint64_t step, int rank, size_t t, size_t i)
{
    return moe_value(step * 1024 + (uint64_t)rank + 1, t * MOE_WIDTH + i);
}

/* moe_check.c: the same on the host. */

struct moe_host {
    struct moe_shape shape;
    float (*gate)[MOE_WIDTH];
    float (*weight)[MOE_WIDTH][MOE_WIDTH]; /* by expert of the job */
    int32_t (*choice)[MOE_TOP];            /* of one rank's tokens */
    int64_t *counts;
};

/* 0, or -1 when out of memory. */
int  moe_host_create(struct moe_host *host, const struct moe_shape *shape);
void moe_host_destroy(struct moe_host *host);

/* Whether step `step` came to these receive counts and results; says on stderr what did not. */
int moe_host_agrees(struct moe_host *host, uint64_t step, const int64_t *recvcounts,
                    const float (*result)[MOE_WIDTH]);

#endif
