/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hashtable - a table that lies on all ranks, and which each of them fills by itself.
 *
 *     ctranrun -n 4 ./hashtable 20000
 *
 * Every rank counts numbers of a sequence of its own. A number's place is a slot at some rank: the
 * first one from its hash on that is empty or has the number. A slot is taken by compare_and_swap,
 * so two ranks that want the same empty one do not both get it, and counted up by fetch_and_op. No
 * rank answers to another one. In the end each rank compares its part with a count of all
 * sequences.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ctran.h>

enum { KEYS = 500 }; /* numbers from 1 to KEYS */

struct slot {
    int64_t key, count; /* key 0: empty */
};

struct table {
    ctran_win_t  win;
    struct slot *mine;
    int          rank, size, slots; /* of each rank */
};

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* The i-th number of a rank. */
static int64_t number(int rank, int i)
{
    return 1 + (int64_t)(mix((uint64_t)rank << 32 | (uint64_t)i) % KEYS);
}

static void count(const struct table *t, int64_t key)
{
    const int64_t empty = 0, one = 1;
    int64_t       found, before;
    uint64_t      at = mix((uint64_t)key);
    for (;; at++) {
        const int          owner = (int)(at % (uint64_t)t->size);
        const ctran_aint_t slot = (ctran_aint_t)(at / (uint64_t)t->size % (uint64_t)t->slots);
        ctran_compare_and_swap(&key, &empty, &found, CTRAN_INT64_T, owner, 2 * slot, t->win);
        ctran_win_flush(owner, t->win);
        if (found == empty || found == key) {
            ctran_fetch_and_op(&one, &before, CTRAN_INT64_T, owner, 2 * slot + 1, CTRAN_SUM,
                               t->win);
            return;
        }
    }
}

/* How often a number is in all sequences. */
static int64_t wanted(const struct table *t, int n, int64_t key)
{
    int64_t sum = 0;
    for (int r = 0; r < t->size; r++) {
        for (int i = 0; i < n; i++) {
            sum += number(r, i) == key;
        }
    }
    return sum;
}

/* The slots of this rank that are wrong; *used: those that are not empty. */
static int64_t check(const struct table *t, int n, int64_t *used)
{
    int64_t wrong = 0;
    *used = 0;
    for (int i = 0; i < t->slots; i++) {
        if (t->mine[i].key != 0) {
            (*used)++;
            wrong += t->mine[i].count != wanted(t, n, t->mine[i].key);
        }
    }
    return wrong;
}

int main(int argc, char **argv)
{
    struct table t = {.slots = 2 * KEYS};
    int          n = argc > 1 ? atoi(argv[1]) : 2000;
    int64_t      own[3], all[3];
    if (ctran_init(&argc, &argv) != CTRAN_SUCCESS) {
        return 1;
    }
    ctran_comm_rank(CTRAN_COMM_WORLD, &t.rank);
    ctran_comm_size(CTRAN_COMM_WORLD, &t.size);
    const size_t bytes = (size_t)t.slots * sizeof *t.mine;
    ctran_win_allocate((ctran_aint_t)bytes, sizeof(int64_t), CTRAN_INFO_NULL, CTRAN_COMM_WORLD,
                       &t.mine, &t.win);
    memset(t.mine, 0, bytes);
    ctran_barrier(CTRAN_COMM_WORLD);
    const double begin = ctran_wtime();
    ctran_win_lock_all(0, t.win);
    for (int i = 0; i < n; i++) {
        count(&t, number(t.rank, i));
    }
    ctran_win_unlock_all(t.win);
    ctran_barrier(CTRAN_COMM_WORLD);
    const double seconds = ctran_wtime() - begin;
    own[0] = check(&t, n, &own[1]);
    own[2] = 0;
    for (int i = 0; i < t.slots; i++) {
        own[2] += t.mine[i].count;
    }
    ctran_allreduce(own, all, 3, CTRAN_INT64_T, CTRAN_SUM, CTRAN_COMM_WORLD);
    const int good = all[0] == 0 && all[2] == (int64_t)n * t.size;
    if (t.rank == 0) {
        printf("%lld numbers counted in %lld slots, %s, %.3f us each\n", (long long)all[2],
               (long long)all[1], good ? "all right" : "WRONG", 1e6 * seconds / (n > 0 ? n : 1));
    }
    ctran_win_free(&t.win);
    return ctran_finalize() == CTRAN_SUCCESS && good ? 0 : 1;
}
