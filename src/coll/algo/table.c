/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The registry: every algorithm once, the names of the collectives, and the answers that many
 * algorithms share. Selection, the prover and ctran_info read it. A new algorithm is a line in
 * ALGORITHMS, X(name) standing for struct ct_algo ct_algo_<name>.
 */
#include <string.h>

#include "coll/algo/step.h"

#define ALGORITHMS(X)                                                                              \
    X(dissemination_barrier)                                                                       \
    X(one_shot_barrier)                                                                            \
    X(linear_barrier)                                                                              \
    X(hier_dissemination_barrier)                                                                  \
    X(knomial_bcast)                                                                               \
    X(bine_bcast)                                                                                  \
    X(chain_bcast)                                                                                 \
    X(binary_tree_bcast)                                                                           \
    X(double_tree_bcast)                                                                           \
    X(scatter_allgather_bcast)                                                                     \
    X(scatter_bruck_bcast)                                                                         \
    X(linear_bcast)                                                                                \
    X(hier_binomial_bcast)                                                                         \
    X(rail_binomial_bcast)                                                                         \
    X(rail_chain_bcast)                                                                            \
    X(knomial_reduce)                                                                              \
    X(double_tree_reduce)                                                                          \
    X(chain_reduce)                                                                                \
    X(folding_reduce)                                                                              \
    X(rabenseifner_reduce)                                                                         \
    X(linear_reduce)                                                                               \
    X(hier_binomial_reduce)                                                                        \
    X(ring_allreduce)                                                                              \
    X(bidirectional_ring_allreduce)                                                                \
    X(recursive_doubling_allreduce)                                                                \
    X(recursive_multiplying_allreduce)                                                             \
    X(pairwise_allreduce)                                                                          \
    X(rabenseifner_allreduce)                                                                      \
    X(double_tree_allreduce)                                                                       \
    X(one_shot_allreduce)                                                                          \
    X(linear_allreduce)                                                                            \
    X(hier_recursive_doubling_allreduce)                                                           \
    X(hier_ring_allreduce)                                                                         \
    X(rail_recursive_doubling_allreduce)                                                           \
    X(rail_ring_allreduce)                                                                         \
    X(ring_allgather)                                                                              \
    X(bidirectional_ring_allgather)                                                                \
    X(bruck_allgather)                                                                             \
    X(binomial_allgather)                                                                          \
    X(recursive_doubling_allgather)                                                                \
    X(recursive_doubling_farthest_allgather)                                                       \
    X(recursive_doubling_hybrid_allgather)                                                         \
    X(neighbor_exchange_allgather)                                                                 \
    X(pat_allgather)                                                                               \
    X(linear_allgather)                                                                            \
    X(hier_bruck_allgather)                                                                        \
    X(hier_ring_allgather)                                                                         \
    X(rail_bruck_allgather)                                                                        \
    X(rail_ring_allgather)                                                                         \
    X(ring_reduce_scatter)                                                                         \
    X(bidirectional_ring_reduce_scatter)                                                           \
    X(pairwise_reduce_scatter)                                                                     \
    X(recursive_halving_reduce_scatter)                                                            \
    X(recursive_halving_nearest_reduce_scatter)                                                    \
    X(pat_reduce_scatter)                                                                          \
    X(one_shot_reduce_scatter)                                                                     \
    X(ordered_pairwise_reduce_scatter)                                                             \
    X(rail_pairwise_reduce_scatter)                                                                \
    X(linear_gather)                                                                               \
    X(knomial_gather)                                                                              \
    X(hier_binomial_gather)                                                                        \
    X(linear_scatter)                                                                              \
    X(knomial_scatter)                                                                             \
    X(hier_binomial_scatter)                                                                       \
    X(linear_alltoall)                                                                             \
    X(pairwise_alltoall)                                                                           \
    X(bruck_alltoall)                                                                              \
    X(hier_pairwise_alltoall)                                                                      \
    X(rail_pairwise_alltoall)                                                                      \
    X(chain_scan)                                                                                  \
    X(recursive_doubling_scan)                                                                     \
    X(one_shot_scan)                                                                               \
    X(hier_recursive_doubling_scan)                                                                \
    X(chain_exscan)                                                                                \
    X(recursive_doubling_exscan)                                                                   \
    X(one_shot_exscan)                                                                             \
    X(hier_recursive_doubling_exscan)

#define DECLARE(a) extern const struct ct_algo ct_algo_##a;
ALGORITHMS(DECLARE)

#define ROW(a) &ct_algo_##a,
const struct ct_algo *const ct_algo_table[] = {ALGORITHMS(ROW) NULL};

static const struct {
    uint32_t    coll;
    const char *name;
} coll_names[] = {
    {CT_BARRIER, "barrier"},     {CT_BCAST, "bcast"},         {CT_REDUCE, "reduce"},
    {CT_ALLREDUCE, "allreduce"}, {CT_ALLGATHER, "allgather"}, {CT_REDUCE_SCATTER, "reduce_scatter"},
    {CT_GATHER, "gather"},       {CT_SCATTER, "scatter"},     {CT_ALLTOALL, "alltoall"},
    {CT_SCAN, "scan"},           {CT_EXSCAN, "exscan"},
};

enum { COLLS = sizeof(coll_names) / sizeof(coll_names[0]) };

const struct ct_algo *ct_algo_find(uint32_t coll, const char *name)
{
    for (const struct ct_algo *const *a = ct_algo_table; *a != NULL; a++) {
        if (((*a)->colls & coll) != 0 && strcmp((*a)->name, name) == 0) {
            return *a;
        }
    }
    return NULL;
}

const char *ct_algo_coll_name(uint32_t coll)
{
    for (int i = 0; i < COLLS; i++) {
        if (coll_names[i].coll == coll) {
            return coll_names[i].name;
        }
    }
    return NULL;
}

uint32_t ct_algo_coll_by_name(const char *name)
{
    for (int i = 0; i < COLLS; i++) {
        if (strcmp(coll_names[i].name, name) == 0) {
            return coll_names[i].coll;
        }
    }
    return 0;
}

bool ct_algo_fits_all(const struct ct_env *env)
{
    (void)env;
    return true;
}

bool ct_algo_fits_commutative(const struct ct_env *env)
{
    return !env->ordered;
}

uint32_t ct_algo_nblk_one(const struct ct_env *env)
{
    (void)env;
    return 1;
}

uint32_t ct_algo_nblk_ranks(const struct ct_env *env)
{
    return env->n;
}

uint32_t ct_algo_tmp_none(const struct ct_env *env)
{
    (void)env;
    return 0;
}
