/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bits - rank 0 prints a digest of what all ranks get from reductions of doubles whose sum depends
 * on the order of adding, in several lengths. Who gets the same digest has added in the same order.
 * For select.test. Usage: bits
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"

enum { MOST = 40000 };

static double   in[MOST], out[MOST];
static uint64_t hash = 1;

/* Of very different sizes, so that small ones are lost or not. */
static void fill(size_t n)
{
    uint64_t x = (uint64_t)check_rank * 2654435761u + n;
    for (size_t i = 0; i < n; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        in[i] = ldexp((double)(x >> 40), (int)(x >> 33 & 63) - 32);
        out[i] = 0;
    }
}

static void mix_out(size_t n)
{
    for (size_t i = 0; i < n * sizeof *out; i++) {
        hash = (hash ^ ((const unsigned char *)out)[i]) * 1099511628211u;
    }
}

static void reductions(int n)
{
    int own = n / check_size;
    fill((size_t)n);
    OK(ctran_allreduce(in, out, n, CTRAN_DOUBLE, CTRAN_SUM, CTRAN_COMM_WORLD));
    mix_out((size_t)n);
    fill((size_t)n);
    OK(ctran_reduce(in, out, n, CTRAN_DOUBLE, CTRAN_SUM, check_size - 1, CTRAN_COMM_WORLD));
    mix_out((size_t)n);
    fill((size_t)n);
    OK(ctran_scan(in, out, n, CTRAN_DOUBLE, CTRAN_SUM, CTRAN_COMM_WORLD));
    mix_out((size_t)n);
    fill((size_t)n);
    OK(ctran_exscan(in, out, n, CTRAN_DOUBLE, CTRAN_SUM, CTRAN_COMM_WORLD));
    mix_out(check_rank > 0 ? (size_t)n : 0);
    fill((size_t)n);
    OK(ctran_reduce_scatter_block(in, out, own, CTRAN_DOUBLE, CTRAN_SUM, CTRAN_COMM_WORLD));
    mix_out((size_t)own);
}

int main(int argc, char **argv)
{
    static const int lengths[] = {1, 7, 64, 300, 1000, 5000, MOST};
    check_start(argc, argv);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        for (int again = 0; again < 2; again++) {
            reductions(lengths[i]);
        }
    }
    uint64_t all[check_size], digest = 1;
    OK(ctran_gather(&hash, 1, CTRAN_UINT64_T, all, 1, CTRAN_UINT64_T, 0, CTRAN_COMM_WORLD));
    for (int r = 0; check_rank == 0 && r < check_size; r++) {
        digest = (digest ^ all[r]) * 1099511628211u;
    }
    if (check_rank == 0) {
        printf("%016llx\n", (unsigned long long)digest);
    }
    return check_end();
}
