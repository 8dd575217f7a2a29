/* SPDX-License-Identifier: BSD-3-Clause */
/* Which algorithm runs: the first row that fits, or what CTRAN_COLL_ALGORITHM says. */
#define CT_FOLDER "coll"
#include <stdlib.h>

#include "coll/coll.h"

/* Rows of one collective in order of size. Latency-bound algorithms first: with log n rounds they
 * win until the extra bytes they move cost more than the rounds they save. */
struct row {
    uint32_t              coll;
    size_t                up_to_bytes; /* of the whole vector; over the board, of all inputs */
    const struct ct_algo *algo;
};

/* X(collective, up to so many bytes, algorithm) */
#define ROWS(X)                                                                                    \
    X(BARRIER, SIZE_MAX, dissemination_barrier)                                                    \
    X(BCAST, SIZE_MAX, knomial_bcast)                                                              \
    X(REDUCE, SIZE_MAX, knomial_reduce)                                                            \
    X(ALLREDUCE, 32 << 10, recursive_doubling_allreduce)                                           \
    X(ALLREDUCE, SIZE_MAX, ring_allreduce)                                                         \
    X(ALLGATHER, 616 << 10, bruck_allgather)                                                       \
    X(ALLGATHER, SIZE_MAX, ring_allgather)                                                         \
    X(REDUCE_SCATTER, SIZE_MAX, ring_reduce_scatter)                                               \
    X(GATHER, SIZE_MAX, linear_gather)                                                             \
    X(SCATTER, SIZE_MAX, linear_scatter)                                                           \
    X(ALLTOALL, SIZE_MAX, linear_alltoall)                                                         \
    X(SCAN, SIZE_MAX, chain_scan)                                                                  \
    X(EXSCAN, SIZE_MAX, chain_exscan)

/* The same over the board, where all ranks can read each other's input: waiting is what costs,
 * until each reads so much that rounds which halve the work pay. */
#define BOARD_ROWS(X)                                                                              \
    X(BARRIER, SIZE_MAX, one_shot_barrier)                                                         \
    X(BCAST, SIZE_MAX, linear_bcast)                                                               \
    X(REDUCE, SIZE_MAX, linear_reduce)                                                             \
    X(ALLREDUCE, 16 << 10, one_shot_allreduce)                                                     \
    X(ALLREDUCE, SIZE_MAX, pairwise_allreduce)                                                     \
    X(ALLGATHER, SIZE_MAX, linear_allgather)                                                       \
    X(REDUCE_SCATTER, SIZE_MAX, pairwise_reduce_scatter)                                           \
    X(REDUCE_SCATTER, SIZE_MAX, ordered_pairwise_reduce_scatter)                                   \
    X(GATHER, SIZE_MAX, linear_gather)                                                             \
    X(SCATTER, SIZE_MAX, linear_scatter)                                                           \
    X(ALLTOALL, SIZE_MAX, linear_alltoall)                                                         \
    X(SCAN, 16 << 10, one_shot_scan)                                                               \
    X(EXSCAN, 16 << 10, one_shot_exscan)

/* Where some groups of ranks stand closer together than others. Leaders send fewest messages,
 * which is what a small vector waits for. Of a large one rails move as little from node to node as
 * a ring that has ranks in the best order, in fewer rounds, and all network cards of a node at a
 * time; where groups are uneven the ring stays, since a leader would be given all of its group's
 * input first. */
#define LEVEL_ROWS(X)                                                                              \
    X(BARRIER, SIZE_MAX, hier_dissemination_barrier)                                               \
    X(BCAST, SIZE_MAX, hier_binomial_bcast)                                                        \
    X(REDUCE, SIZE_MAX, hier_binomial_reduce)                                                      \
    X(ALLREDUCE, 32 << 10, hier_recursive_doubling_allreduce)                                      \
    X(ALLREDUCE, SIZE_MAX, rail_ring_allreduce)                                                    \
    X(ALLGATHER, 32 << 10, hier_bruck_allgather)                                                   \
    X(ALLGATHER, 616 << 10, rail_bruck_allgather)                                                  \
    X(ALLGATHER, SIZE_MAX, rail_ring_allgather)                                                    \
    X(REDUCE_SCATTER, SIZE_MAX, rail_pairwise_reduce_scatter)

#define DECLARE(coll, up_to, algo) extern const struct ct_algo ct_algo_##algo;
ROWS(DECLARE)
BOARD_ROWS(DECLARE)
LEVEL_ROWS(DECLARE)

#define ROW(coll, up_to, algo) {CT_##coll, up_to, &ct_algo_##algo},
static const struct row rows[] = {ROWS(ROW)};
static const struct row board_rows[] = {BOARD_ROWS(ROW)};
static const struct row level_rows[] = {LEVEL_ROWS(ROW)};

/* Reads the next "collective:algorithm" of the list at *s into `item`; false at its end. */
static bool next_item(const char **s, char *item, size_t cap)
{
    *s += strspn(*s, ", ");
    size_t len = strcspn(*s, ", ");
    if (len == 0 || len >= cap) {
        return false;
    }
    memcpy(item, *s, len);
    item[len] = '\0';
    *s += len;
    return true;
}

/* The algorithm that the list names for `coll`, NULL if it names none. */
static const struct ct_algo *forced(const char *list, uint32_t coll)
{
    char item[128];
    while (next_item(&list, item, sizeof item)) {
        char *colon = strchr(item, ':');
        if (colon != NULL) {
            *colon = '\0';
            if (ct_algo_coll_by_name(item) == coll) {
                return ct_algo_find(coll, colon + 1);
            }
        }
    }
    return NULL;
}

int ct_coll_check_config(const struct ct_process *p)
{
    const char *list = p->cfg.coll_algorithm;
    char        item[128];
    while (next_item(&list, item, sizeof item)) {
        char    *colon = strchr(item, ':');
        uint32_t coll = 0;
        if (colon != NULL) {
            *colon = '\0';
            coll = ct_algo_coll_by_name(item);
        }
        if (coll == 0 || ct_algo_find(coll, colon + 1) == NULL) {
            ct_error(&p->log,
                     "CTRAN_COLL_ALGORITHM=\"%s\": no %s \"%s\"; expected a list like "
                     "allreduce:ring,bcast:knomial (ctran_info lists the algorithms)",
                     p->cfg.coll_algorithm, coll == 0 ? "collective" : "algorithm",
                     coll == 0 ? item : colon + 1);
            return CTRAN_ERR_CONFIG;
        }
    }
    if (list[strspn(list, ", ")] != '\0') {
        ct_error(&p->log, "CTRAN_COLL_ALGORITHM: an item of \"%s\" is too long",
                 p->cfg.coll_algorithm);
        return CTRAN_ERR_CONFIG;
    }
    return ct_coll_levels_check(p) ? CTRAN_SUCCESS : CTRAN_ERR_CONFIG;
}

static bool fits(const struct ct_algo *algo, const struct ct_select *what)
{
    struct ct_env env = {.n = what->n,
                         .root = what->root,
                         .radix = CT_RADIX_DEFAULT,
                         .ordered = what->ordered,
                         .uneven = what->uneven,
                         .levels = what->levels};
    return algo != NULL && algo->fits(&env);
}

/* The first of these rows that fits; NULL: none does. */
static const struct ct_algo *first_row(const struct row *row, size_t n,
                                       const struct ct_select *what, size_t bytes)
{
    for (size_t i = 0; i < n; i++) {
        if (row[i].coll == what->coll && bytes <= row[i].up_to_bytes && fits(row[i].algo, what)) {
            return row[i].algo;
        }
    }
    return NULL;
}

const struct ct_algo *ct_coll_select(const struct ct_process *p, const struct ct_select *what)
{
    const char           *list = p->cfg.coll_algorithm;
    const struct ct_algo *algo = CT_LIKELY(list[0] == '\0') ? NULL : forced(list, what->coll);
    if (fits(algo, what)) {
        return algo;
    }
    if (algo != NULL) {
        ct_info(&p->log, "%s %s does not fit %u ranks and this call; another one runs",
                ct_algo_coll_name(what->coll), algo->name, what->n);
        algo = NULL;
    }
    if (what->board) {
        algo = first_row(board_rows, CT_ARRAY_LEN(board_rows), what, what->bytes * what->n);
    }
    if (algo == NULL && what->levels != NULL) {
        algo = first_row(level_rows, CT_ARRAY_LEN(level_rows), what, what->bytes);
    }
    if (algo == NULL) {
        algo = first_row(rows, CT_ARRAY_LEN(rows), what, what->bytes);
    }
    if (CT_LIKELY(algo != NULL)) {
        return algo;
    }
    /* No row fits (an operator that wants ranks in order): any that does. */
    for (size_t i = 0; ct_algo_table[i] != NULL; i++) {
        if ((ct_algo_table[i]->colls & what->coll) != 0 && fits(ct_algo_table[i], what)) {
            return ct_algo_table[i];
        }
    }
    ct_error(&p->log, "no algorithm for %s on %u ranks", ct_algo_coll_name(what->coll), what->n);
    return NULL;
}
