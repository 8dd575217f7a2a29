/* SPDX-License-Identifier: BSD-3-Clause */
/* A step of the mixture-of-experts example as the host computes it, without sending anything. */
#include "moe.h"

#include <stdio.h>
#include <stdlib.h>

int moe_host_create(struct moe_host *host, const struct moe_shape *shape)
{
    const size_t experts = (size_t)shape->size * (size_t)shape->experts;
    *host = (struct moe_host){
        .shape = *shape,
        .gate = malloc(experts * sizeof host->gate[0]),
        .weight = malloc(experts * sizeof host->weight[0]),
        .choice = malloc(shape->tokens * sizeof host->choice[0]),
        .counts = malloc((size_t)shape->size * sizeof host->counts[0]),
    };
    if (!host->gate || !host->weight || !host->choice || !host->counts) {
        moe_host_destroy(host);
        return -1;
    }
    for (size_t k = 0; k < experts; k++) {
        for (size_t i = 0; i < MOE_WIDTH; i++) {
            host->gate[k][i] = moe_value(k + 1, 1 + i);
            for (size_t j = 0; j < MOE_WIDTH; j++) {
                host->weight[k][i][j] = moe_value(k + 1, 1000 + i * MOE_WIDTH + j);
            }
        }
    }
    return 0;
}

void moe_host_destroy(struct moe_host *host)
{
    free(host->gate);
    free(host->weight);
    free(host->choice);
    free(host->counts);
    *host = (struct moe_host){0};
}

static float score(const struct moe_host *host, uint64_t step, const float *token, int expert)
{
    const int experts = host->shape.size * host->shape.experts;
    float     sum = expert == (int)(step % (uint64_t)experts) ? MOE_HOT : 0;
    for (size_t i = 0; i < MOE_WIDTH; i++) {
        sum += token[i] * host->gate[expert][i];
    }
    return sum;
}

static void make_token(float *token, uint64_t step, int rank, size_t t)
{
    for (size_t i = 0; i < MOE_WIDTH; i++) {
        token[i] = moe_token(step, rank, t, i);
    }
}

/* host->choice of the tokens of a rank: the best expert, then the best of the others. */
static void route(struct moe_host *host, uint64_t step, int rank)
{
    const int experts = host->shape.size * host->shape.experts;
    for (size_t t = 0; t < host->shape.tokens; t++) {
        float token[MOE_WIDTH];
        make_token(token, step, rank, t);
        for (int n = 0; n < MOE_TOP; n++) {
            float most = -1e9f;
            for (int k = 0; k < experts; k++) {
                const float here = score(host, step, token, k);
                if (here > most && (n == 0 || k != host->choice[t][0])) {
                    most = here;
                    host->choice[t][n] = k;
                }
            }
        }
    }
}

/* host->counts: how many tokens this rank gets from each. Leaves its own choices. */
static void count(struct moe_host *host, uint64_t step)
{
    const struct moe_shape *shape = &host->shape;
    for (int i = 1; i <= shape->size; i++) {
        const int rank = (shape->rank + i) % shape->size;
        route(host, step, rank);
        host->counts[rank] = 0;
        for (size_t t = 0; t < shape->tokens; t++) {
            for (int n = 0; n < MOE_TOP; n++) {
                host->counts[rank] += host->choice[t][n] / shape->experts == shape->rank;
            }
        }
    }
}

static void apply(const struct moe_host *host, int expert, const float *token, float share,
                  float *result)
{
    for (size_t j = 0; j < MOE_WIDTH; j++) {
        float sum = 0;
        for (size_t i = 0; i < MOE_WIDTH; i++) {
            sum += token[i] * host->weight[expert][i][j];
        }
        result[j] += share * (sum > 0 ? sum : 0);
    }
}

int moe_host_agrees(struct moe_host *host, uint64_t step, const int64_t *recvcounts,
                    const float (*result)[MOE_WIDTH])
{
    const struct moe_shape *shape = &host->shape;
    count(host, step);
    for (int r = 0; r < shape->size; r++) {
        if (recvcounts[r] != host->counts[r]) {
            fprintf(stderr, "step %llu: rank %d has %lld tokens of rank %d, expected %lld\n",
                    (unsigned long long)step, shape->rank, (long long)recvcounts[r], r,
                    (long long)host->counts[r]);
            return 0;
        }
    }
    for (size_t t = 0; t < shape->tokens; t++) {
        float token[MOE_WIDTH], wanted[MOE_WIDTH] = {0};
        make_token(token, step, shape->rank, t);
        apply(host, host->choice[t][0], token, MOE_SHARE_1, wanted);
        apply(host, host->choice[t][1], token, MOE_SHARE_2, wanted);
        for (size_t j = 0; j < MOE_WIDTH; j++) {
            if (result[t][j] != wanted[j]) {
                fprintf(stderr, "step %llu: rank %d, token %zu, number %zu is %g, expected %g\n",
                        (unsigned long long)step, shape->rank, t, j, (double)result[t][j],
                        (double)wanted[j]);
                return 0;
            }
        }
    }
    return 1;
}
