/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * algos - prints the algorithms that serve N ranks in groups of GROUP, the last maybe smaller, one
 * "collective:name" a line, as CTRAN_COLL_ALGORITHM takes it. For algorithms.test. Usage: algos N
 * GROUP
 */
#include <stdio.h>
#include <stdlib.h>

#include "coll/algo/algo.h"

int main(int argc, char **argv)
{
    static uint32_t   keys[1024];
    struct ct_env     env = {.n = 1, .radix = 2};
    struct ct_levels *levels = NULL;

    if (argc != 3 || atoi(argv[1]) < 1 || atoi(argv[1]) > 1024 || atoi(argv[2]) < 1) {
        fprintf(stderr, "usage: algos N GROUP\n");
        return 2;
    }
    env.n = (uint32_t)atoi(argv[1]);
    for (uint32_t r = 0; r < env.n; r++) {
        keys[r] = r / (uint32_t)atoi(argv[2]);
    }
    if (env.n > 2) { /* among fewer the library looks for none */
        env.levels = levels = ct_levels_make(env.n, 1, keys);
        if (levels == NULL) {
            perror("algos");
            return 1;
        }
    }
    for (const struct ct_algo *const *algo = ct_algo_table; *algo != NULL; algo++) {
        if ((*algo)->fits(&env)) {
            printf("%s:%s\n", ct_algo_coll_name((*algo)->colls), (*algo)->name);
        }
    }
    ct_levels_free(levels);
    return 0;
}
