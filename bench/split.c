/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * split - what it costs to split a communicator: the world into 8 parts, 300 times in a row, each
 * freed at once, and as many barriers beside it. Rank 0 prints the mean time of each, and what has
 * been counted from before the first split to after the last: sockets of all ranks, and what this
 * network namespace has sent, loopback included (connections and segments with data of TCP,
 * datagrams of UDP). On one host all are 0, since splits go through shared memory; so that nobody
 * else counts, in a namespace of its own:
 *
 *     unshare --net --map-root-user sh -c 'ip link set lo up && ctranrun -n 512 build/bench/split'
 *
 * usage: split [PARTS [TIMES]]
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ctran.h>

enum { PARTS = 8, TIMES = 300 };

/* The figure of that name in a row of the file, whose names stand in the row before. */
static int64_t read_counter(const char *path, const char *protocol, const char *name)
{
    char  names[8192], figures[8192];
    FILE *f = fopen(path, "r");
    while (f != NULL && fgets(names, sizeof names, f) != NULL &&
           fgets(figures, sizeof figures, f) != NULL) {
        char *save_name, *save_figure;
        char *n = strtok_r(names, " :\n", &save_name);
        char *v = strtok_r(figures, " :\n", &save_figure);
        bool  right = n != NULL && strcmp(n, protocol) == 0;
        while (right && n != NULL && v != NULL && strcmp(n, name) != 0) {
            n = strtok_r(NULL, " \n", &save_name);
            v = strtok_r(NULL, " \n", &save_figure);
        }
        if (right && n != NULL && v != NULL) {
            fclose(f);
            return strtoll(v, NULL, 10);
        }
    }
    fprintf(stderr, "split: %s tells nothing of %s of %s\n", path, name, protocol);
    exit(EXIT_FAILURE);
}

static int64_t count_sockets(void)
{
    int64_t              n = 0;
    const struct dirent *entry;
    DIR                 *dir = opendir("/proc/self/fd");
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        char target[64] = "";
        n += readlinkat(dirfd(dir), entry->d_name, target, sizeof target - 1) > 0 &&
             strncmp(target, "socket:", 7) == 0;
    }
    if (dir != NULL) {
        closedir(dir);
    }
    return n;
}

enum { SOCKETS, SEGMENTS, CONNECTIONS, DATAGRAMS, COUNTERS };

/* Sockets of all ranks, counted by each; the host's figures by rank 0, while nobody does anything:
 * it waits for the others first, and they for it afterwards. */
static void count(int rank, int64_t sum[COUNTERS])
{
    int64_t own[COUNTERS] = {[SOCKETS] = count_sockets()};
    ctran_barrier(CTRAN_COMM_WORLD);
    if (rank == 0) {
        own[SEGMENTS] = read_counter("/proc/net/netstat", "TcpExt", "TCPOrigDataSent");
        own[CONNECTIONS] = read_counter("/proc/net/snmp", "Tcp", "ActiveOpens");
        own[DATAGRAMS] = read_counter("/proc/net/snmp", "Udp", "OutDatagrams");
    }
    ctran_allreduce(own, sum, COUNTERS, CTRAN_INT64_T, CTRAN_SUM, CTRAN_COMM_WORLD);
}

static void split_once(int rank, int parts)
{
    ctran_comm_t part;
    ctran_comm_split(CTRAN_COMM_WORLD, rank % parts, rank, &part);
    ctran_comm_free(&part);
}

int main(int argc, char **argv)
{
    int     rank, size, parts, times;
    int64_t before[COUNTERS], after[COUNTERS];
    if (ctran_init(&argc, &argv) != CTRAN_SUCCESS) {
        return EXIT_FAILURE;
    }
    parts = argc > 1 ? atoi(argv[1]) : PARTS;
    times = argc > 2 ? atoi(argv[2]) : TIMES;
    if (parts < 1 || times < 1) {
        fprintf(stderr, "usage: split [PARTS [TIMES]]\n");
        return 2;
    }
    ctran_comm_rank(CTRAN_COMM_WORLD, &rank);
    ctran_comm_size(CTRAN_COMM_WORLD, &size);
    count(rank, before); /* what is made at first use is there now */
    split_once(rank, parts);
    count(rank, before);
    double begin = ctran_wtime();
    for (int i = 0; i < times; i++) {
        split_once(rank, parts);
    }
    double split_end = ctran_wtime();
    count(rank, after);
    double barrier_begin = ctran_wtime();
    for (int i = 0; i < times; i++) {
        ctran_barrier(CTRAN_COMM_WORLD);
    }
    double barrier_end = ctran_wtime();
    if (rank == 0) {
        printf("%d splits of %d ranks into %d: %.3f ms each; a barrier %.3f ms\n"
               "%" PRId64 " sockets, %" PRId64 " connections, %" PRId64 " segments, %" PRId64
               " datagrams\n",
               times, size, parts, (split_end - begin) * 1e3 / times,
               (barrier_end - barrier_begin) * 1e3 / times, after[SOCKETS] - before[SOCKETS],
               after[CONNECTIONS] - before[CONNECTIONS], after[SEGMENTS] - before[SEGMENTS],
               after[DATAGRAMS] - before[DATAGRAMS]);
    }
    return ctran_finalize() == CTRAN_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
