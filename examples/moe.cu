/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of the mixture-of-experts example, in the order in which a step has them. */
#include "kernel.cuh"
#include "moe.h"

/* Fresh tokens: here something else would compute them. */
KERNEL(moe_tokens, struct moe_args)
{
    for (size_t e = first(); e < a.shape.tokens * MOE_WIDTH; e += stride()) {
        const size_t t = e / MOE_WIDTH, i = e % MOE_WIDTH;
        a.token[t][i] = moe_token(*a.step, a.shape.rank, t, i);
    }
}

/* The router: the experts whose gates like the token most, the lower number first among equals. */
KERNEL(moe_route, struct moe_args)
{
    const int experts = a.shape.size * a.shape.experts, hot = (int)(*a.step % (uint64_t)experts);
    for (size_t t = first(); t < a.shape.tokens; t += stride()) {
        float   most[MOE_TOP] = {-1e9f, -1e9f};
        int32_t which[MOE_TOP] = {0, 0};
        for (int k = 0; k < experts; k++) {
            float score = k == hot ? MOE_HOT : 0;
            for (size_t i = 0; i < MOE_WIDTH; i++) {
                score += a.token[t][i] * a.gate[k][i];
            }
            if (score > most[0]) {
                most[1] = most[0], which[1] = which[0];
                most[0] = score, which[0] = k;
            } else if (score > most[1]) {
                most[1] = score, which[1] = k;
            }
        }
        a.choice[t][0] = which[0];
        a.choice[t][1] = which[1];
    }
}

/* One block: the list of what goes where, sorted by expert, and how much that is. */
KERNEL(moe_list, struct moe_args)
{
    const size_t experts = (size_t)(a.shape.size * a.shape.experts), each = (size_t)a.shape.experts;
    for (size_t k = first(); k < experts; k += stride()) {
        int64_t count = 0;
        for (size_t t = 0; t < a.shape.tokens; t++) {
            count += (a.choice[t][0] == (int32_t)k) + (a.choice[t][1] == (int32_t)k);
        }
        a.by_expert[k] = count;
    }
    __syncthreads();
    for (size_t k = first(); k < experts; k += stride()) {
        int64_t slot = 0;
        for (size_t before = 0; before < k; before++) {
            slot += a.by_expert[before];
        }
        for (size_t t = 0; t < a.shape.tokens; t++) {
            for (int n = 0; n < MOE_TOP; n++) {
                if (a.choice[t][n] == (int32_t)k) {
                    a.list[slot] = (int64_t)t;
                    a.slot[t][n] = slot++;
                }
            }
        }
    }
    for (size_t r = first(); r < (size_t)a.shape.size; r += stride()) {
        int64_t count = 0;
        for (size_t k = r * each; k < (r + 1) * each; k++) {
            count += a.by_expert[k];
        }
        a.sendcounts[r] = count;
    }
}

/* The experts, each on its rows: a layer with rectified units. */
KERNEL(moe_expert, struct moe_args)
{
    const size_t groups = (size_t)(a.shape.size * a.shape.experts);
    int64_t      rows = 0;
    for (size_t g = 0; g < groups; g++) {
        rows += a.arriving[g];
    }
    for (size_t e = first(); e < (size_t)rows * MOE_WIDTH; e += stride()) {
        const size_t r = e / MOE_WIDTH, j = e % MOE_WIDTH;
        size_t       group = 0, end = (size_t)a.arriving[0];
        while (r >= end) {
            end += (size_t)a.arriving[++group];
        }
        const size_t expert = group % (size_t)a.shape.experts;
        float        sum = 0;
        for (size_t i = 0; i < MOE_WIDTH; i++) {
            sum += a.row[r][i] * a.weight[expert][i][j];
        }
        a.done[r][j] = sum > 0 ? sum : 0;
    }
}

/* What a token's experts say, mixed; and the step is over. */
KERNEL(moe_mix, struct moe_args)
{
    for (size_t e = first(); e < a.shape.tokens * MOE_WIDTH; e += stride()) {
        const size_t t = e / MOE_WIDTH, j = e % MOE_WIDTH;
        a.result[t][j] =
            MOE_SHARE_1 * a.back[a.slot[t][0]][j] + MOE_SHARE_2 * a.back[a.slot[t][1]][j];
    }
    if (first() == 0) {
        ++*a.step;
    }
}
