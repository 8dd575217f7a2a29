/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * algos - prints the algorithms that serve N ranks, one "collective:name" a line, as
 * CTRAN_COLL_ALGORITHM takes it. For algorithms.test. Usage: algos N
 */
#include <stdio.h>
#include <stdlib.h>

#include "coll/algo/algo.h"

int main(int argc, char **argv)
{
    struct ct_env env = {.n = 1, .radix = 2};

    if (argc != 2 || atoi(argv[1]) < 1) {
        fprintf(stderr, "usage: algos N\n");
        return 2;
    }
    env.n = (uint32_t)atoi(argv[1]);
    for (const struct ct_algo *const *algo = ct_algo_table; *algo != NULL; algo++) {
        if ((*algo)->fits(&env)) {
            printf("%s:%s\n", ct_algo_coll_name((*algo)->colls), (*algo)->name);
        }
    }
    return 0;
}
