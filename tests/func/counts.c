/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * counts - each algorithm of the table through the public calls, with what the runner counted on
 * each rank: a line "collective algorithm bytes chunk-size chunks rank messages bytes rounds" of
 * each. For sim_counts.py. Usage: counts CHUNK-SIZE CHUNKS BYTES...; bytes as ctran_sim takes them,
 * of elements of four, and root 1. With CT_BY_LEVEL=1 hierarchies alone.
 */
#include "api/api.h"
#include "check.h"
#include "coll/algo/algo.h"

enum { ROOT = 1, NAME = 128 };

static char *data, *result;

/* bytes: of the vector, or of one rank's block. */
static void call(uint32_t coll, int bytes)
{
    const int count = bytes / (int)sizeof(int32_t);
    switch (coll) {
    case CT_BARRIER:
        OK(ctran_barrier(CTRAN_COMM_WORLD));
        break;
    case CT_BCAST:
        OK(ctran_bcast(data, bytes, CTRAN_BYTE, ROOT, CTRAN_COMM_WORLD));
        break;
    case CT_REDUCE:
        OK(ctran_reduce(data, result, count, CTRAN_INT32_T, CTRAN_SUM, ROOT, CTRAN_COMM_WORLD));
        break;
    case CT_ALLREDUCE:
        OK(ctran_allreduce(data, result, count, CTRAN_INT32_T, CTRAN_SUM, CTRAN_COMM_WORLD));
        break;
    case CT_ALLGATHER:
        OK(ctran_allgather(data, bytes, CTRAN_BYTE, result, bytes, CTRAN_BYTE, CTRAN_COMM_WORLD));
        break;
    case CT_REDUCE_SCATTER:
        OK(ctran_reduce_scatter_block(data, result, count, CTRAN_INT32_T, CTRAN_SUM,
                                      CTRAN_COMM_WORLD));
        break;
    case CT_GATHER:
        OK(ctran_gather(data, bytes, CTRAN_BYTE, result, bytes, CTRAN_BYTE, ROOT,
                        CTRAN_COMM_WORLD));
        break;
    case CT_SCATTER:
        OK(ctran_scatter(data, bytes, CTRAN_BYTE, result, bytes, CTRAN_BYTE, ROOT,
                         CTRAN_COMM_WORLD));
        break;
    case CT_ALLTOALL:
        OK(ctran_alltoall(data, bytes, CTRAN_BYTE, result, bytes, CTRAN_BYTE, CTRAN_COMM_WORLD));
        break;
    case CT_SCAN:
        OK(ctran_scan(data, result, count, CTRAN_INT32_T, CTRAN_SUM, CTRAN_COMM_WORLD));
        break;
    case CT_EXSCAN:
        OK(ctran_exscan(data, result, count, CTRAN_INT32_T, CTRAN_SUM, CTRAN_COMM_WORLD));
        break;
    default:
        check_fail(__FILE__, __LINE__, "no call for collective %s", ct_algo_coll_name(coll));
    }
}

/* From now on the communicator has this algorithm for its collective. */
static void force(const struct ct_algo *algo)
{
    char         forced[NAME];
    ctran_info_t info;
    (void)snprintf(forced, sizeof forced, "%s=%s", ct_algo_coll_name(algo->colls), algo->name);
    OK(ctran_info_create(&info));
    OK(ctran_info_set(info, "ctran_coll_algorithm", forced));
    OK(ctran_comm_set_info(CTRAN_COMM_WORLD, info));
    OK(ctran_info_free(&info));
}

/* Runs one with the algorithm forced, and prints what all ranks counted. */
static void run(struct ct_process *p, const struct ct_algo *algo, int bytes)
{
    struct ct_run_count before, after, *all = malloc((size_t)check_size * sizeof *all);
    EXPECT(all != NULL);
    force(algo);
    ct_run_counts(p, &before);
    call(algo->colls, bytes);
    ct_run_counts(p, &after);
    after.messages -= before.messages;
    after.bytes -= before.bytes;
    after.rounds -= before.rounds;
    OK(ctran_gather(&after, sizeof after, CTRAN_BYTE, all, sizeof after, CTRAN_BYTE, 0,
                    CTRAN_COMM_WORLD));
    for (int r = 0; check_rank == 0 && r < check_size; r++) {
        printf("%s %s %d %lld %lld %d %llu %llu %llu\n", ct_algo_coll_name(algo->colls), algo->name,
               bytes, (long long)p->cfg.chunk_size, (long long)p->cfg.chunks, r,
               (unsigned long long)all[r].messages, (unsigned long long)all[r].bytes,
               (unsigned long long)all[r].rounds);
    }
    free(all);
}

int main(int argc, char **argv)
{
    int most = 0;
    OK(ctran_init(NULL, NULL));
    OK(ctran_comm_rank(CTRAN_COMM_WORLD, &check_rank));
    OK(ctran_comm_size(CTRAN_COMM_WORLD, &check_size));
    struct ct_process *p = ct_api_process();
    EXPECT(argc > 3);
    p->cfg.chunk_size = atoi(argv[1]);
    p->cfg.chunks = atoi(argv[2]);
    p->cfg.coll_board = 0; /* what goes over a board sends no messages */
    for (int i = 3; i < argc; i++) {
        most = atoi(argv[i]) > most ? atoi(argv[i]) : most;
    }
    data = calloc((size_t)check_size, (size_t)most);
    result = calloc((size_t)check_size, (size_t)most);
    EXPECT(data != NULL && result != NULL);
    OK(ctran_barrier(CTRAN_COMM_WORLD)); /* from now on levels are known */
    const struct ct_levels *levels = ct_comm_world(p)->run.levels;
    const bool              by_level = getenv("CT_BY_LEVEL") != NULL;
    for (const struct ct_algo *const *a = ct_algo_table; *a != NULL; a++) {
        struct ct_env env = {
            .n = (uint32_t)check_size, .root = ROOT, .radix = CT_RADIX_DEFAULT, .levels = levels};
        const bool wanted = !by_level || ((*a)->traits & CT_BY_LEVEL) != 0;
        for (int i = 3; i < argc && wanted && (*a)->fits(&env); i++) {
            run(p, *a, atoi(argv[i]));
        }
    }
    free(data);
    free(result);
    OK(ctran_finalize());
    return 0;
}
