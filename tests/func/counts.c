/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * counts - each algorithm of the table through the public calls, with what the runner counted on
 * each rank: a line "collective algorithm radix root in-place bytes rank messages bytes rounds" of
 * each; radix 0 where it has none. For sim_counts.py. Usage: counts CHUNK-SIZE CHUNKS ROOTS
 * BYTES...; roots as 1,4, of which collectives without a root take the first; bytes of a vector, or
 * of one rank's block, of elements of four. With CT_BY_LEVEL=1 hierarchies alone.
 */
#include "api/api.h"
#include "check.h"
#include "coll/algo/algo.h"

enum { NAME = 128, RADIX_MOST = 4, ROOTS = 4 };

static char *data, *result;

/* How an algorithm is called. */
struct way {
    int      bytes, root;
    uint32_t radix; /* 0: it has none */
    bool     inplace;
};

static bool is_rooted(uint32_t coll)
{
    return (coll & (CT_BCAST | CT_REDUCE | CT_GATHER | CT_SCATTER)) != 0;
}

static void call(uint32_t coll, const struct way *w)
{
    const ctran_comm_t world = CTRAN_COMM_WORLD;
    const int          bytes = w->bytes, count = bytes / (int)sizeof(int32_t), root = w->root;
    const bool         here = w->inplace && (!is_rooted(coll) || check_rank == root);
    const void        *in = here ? CTRAN_IN_PLACE : data;
    switch (coll) {
    case CT_BARRIER:
        OK(ctran_barrier(world));
        break;
    case CT_BCAST:
        OK(ctran_bcast(data, bytes, CTRAN_BYTE, root, world));
        break;
    case CT_REDUCE:
        OK(ctran_reduce(in, result, count, CTRAN_INT32_T, CTRAN_SUM, root, world));
        break;
    case CT_ALLREDUCE:
        OK(ctran_allreduce(in, result, count, CTRAN_INT32_T, CTRAN_SUM, world));
        break;
    case CT_ALLGATHER:
        OK(ctran_allgather(in, bytes, CTRAN_BYTE, result, bytes, CTRAN_BYTE, world));
        break;
    case CT_REDUCE_SCATTER:
        OK(ctran_reduce_scatter_block(in, result, count, CTRAN_INT32_T, CTRAN_SUM, world));
        break;
    case CT_GATHER:
        OK(ctran_gather(in, bytes, CTRAN_BYTE, result, bytes, CTRAN_BYTE, root, world));
        break;
    case CT_SCATTER:
        OK(ctran_scatter(data, bytes, CTRAN_BYTE, here ? CTRAN_IN_PLACE : result, bytes, CTRAN_BYTE,
                         root, world));
        break;
    case CT_ALLTOALL:
        OK(ctran_alltoall(in, bytes, CTRAN_BYTE, result, bytes, CTRAN_BYTE, world));
        break;
    case CT_SCAN:
        OK(ctran_scan(in, result, count, CTRAN_INT32_T, CTRAN_SUM, world));
        break;
    case CT_EXSCAN:
        OK(ctran_exscan(in, result, count, CTRAN_INT32_T, CTRAN_SUM, world));
        break;
    default:
        check_fail(__FILE__, __LINE__, "no call for collective %s", ct_algo_coll_name(coll));
    }
}

/* From now on the communicator has this algorithm for its collective. */
static void force(const struct ct_algo *algo, uint32_t radix)
{
    char         forced[NAME];
    ctran_info_t info;
    int at = snprintf(forced, sizeof forced, "%s=%s", ct_algo_coll_name(algo->colls), algo->name);
    if (radix > 0) {
        (void)snprintf(forced + at, sizeof forced - (size_t)at, ":%u", radix);
    }
    OK(ctran_info_create(&info));
    OK(ctran_info_set(info, "ctran_coll_algorithm", forced));
    OK(ctran_comm_set_info(CTRAN_COMM_WORLD, info));
    OK(ctran_info_free(&info));
}

/* Runs one with the algorithm forced, and prints what all ranks counted. */
static void run(struct ct_process *p, const struct ct_algo *algo, const struct way *w)
{
    struct ct_run_count before, after, *all = malloc((size_t)check_size * sizeof *all);
    EXPECT(all != NULL);
    ct_run_counts(p, &before);
    call(algo->colls, w);
    ct_run_counts(p, &after);
    after.messages -= before.messages;
    after.bytes -= before.bytes;
    after.rounds -= before.rounds;
    OK(ctran_gather(&after, sizeof after, CTRAN_BYTE, all, sizeof after, CTRAN_BYTE, 0,
                    CTRAN_COMM_WORLD));
    for (int r = 0; check_rank == 0 && r < check_size; r++) {
        printf("%s %s %u %d %d %d %d %llu %llu %llu\n", ct_algo_coll_name(algo->colls), algo->name,
               w->radix, w->root, w->inplace, w->bytes, r, (unsigned long long)all[r].messages,
               (unsigned long long)all[r].bytes, (unsigned long long)all[r].rounds);
    }
    free(all);
}

/* One with a radix, with all roots, sizes, and in place and not. */
static void run_ways(struct ct_process *p, const struct ct_algo *algo, uint32_t radix,
                     const int *roots, int nroots, char **sizes)
{
    const uint32_t apart = CT_BARRIER | CT_BCAST; /* never in place */
    struct way     w = {.radix = radix};
    force(algo, radix);
    for (int k = 0; k < (is_rooted(algo->colls) ? nroots : 1); k++) {
        for (int inplace = 0; inplace < ((algo->colls & apart) != 0 ? 1 : 2); inplace++) {
            for (char **size = sizes; *size != NULL; size++) {
                w.root = roots[k];
                w.inplace = inplace == 1;
                w.bytes = atoi(*size);
                run(p, algo, &w);
            }
        }
    }
}

static int take_roots(char *text, int *roots)
{
    int n = 0;
    for (char *next, *one = strtok_r(text, ",", &next); one != NULL && n < ROOTS;
         one = strtok_r(NULL, ",", &next)) {
        roots[n++] = atoi(one);
    }
    return n;
}

int main(int argc, char **argv)
{
    int most = 0, roots[ROOTS], nroots;
    OK(ctran_init(NULL, NULL));
    OK(ctran_comm_rank(CTRAN_COMM_WORLD, &check_rank));
    OK(ctran_comm_size(CTRAN_COMM_WORLD, &check_size));
    struct ct_process *p = ct_api_process();
    EXPECT(argc > 4);
    p->cfg.chunk_size = atoi(argv[1]);
    p->cfg.chunks = atoi(argv[2]);
    nroots = take_roots(argv[3], roots);
    p->cfg.coll_shm = 0; /* what goes over a shm_coll sends no messages */
    for (int i = 4; i < argc; i++) {
        most = atoi(argv[i]) > most ? atoi(argv[i]) : most;
    }
    data = calloc((size_t)check_size, (size_t)most);
    result = calloc((size_t)check_size, (size_t)most);
    EXPECT(data != NULL && result != NULL);
    OK(ctran_barrier(CTRAN_COMM_WORLD)); /* from now on levels are known */
    const struct ct_levels *levels = ct_comm_world(p)->run.levels;
    const bool              by_level = getenv("CT_BY_LEVEL") != NULL;
    for (const struct ct_algo *const *a = ct_algo_table; *a != NULL; a++) {
        const bool has = ((*a)->traits & CT_RADIX) != 0;
        const bool wanted = !by_level || ((*a)->traits & CT_BY_LEVEL) != 0;
        for (uint32_t radix = CT_RADIX_DEFAULT; radix <= (has ? RADIX_MOST : 2); radix++) {
            const struct ct_env env = {.n = (uint32_t)check_size, .radix = radix, .levels = levels};
            if (wanted && (*a)->fits(&env)) {
                run_ways(p, *a, has ? radix : 0, roots, nroots, argv + 4);
            }
        }
    }
    free(data);
    free(result);
    OK(ctran_finalize());
    return 0;
}
