/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stages FOLDER - ranks that go from stage to stage when they are let: each makes the file
 * FOLDER/STAGE.RANK, then waits for a writer of the FIFO FOLDER/STAGE.go. The stages are start,
 * before ctran_init; run, before messages to and from every rank; end, before ctran_finalize. Rank
 * 0 prints the sum of what it has received.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <ctran.h>

enum { LEN = 50000 };

static void stage(const char *folder, const char *name, const char *rank)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s.%s", folder, name, rank);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    if (fd < 0) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    close(fd);
    snprintf(path, sizeof path, "%s/%s.go", folder, name);
    fd = open(path, O_RDONLY);
    if (fd < 0) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    close(fd);
}

static long exchange(void)
{
    static int out[LEN], in[LEN];
    int        rank, size;
    long       sum = 0;
    ctran_comm_rank(CTRAN_COMM_WORLD, &rank);
    ctran_comm_size(CTRAN_COMM_WORLD, &size);
    for (int i = 0; i < LEN; i++) {
        out[i] = rank + i;
    }
    for (int d = 0; d < size; d++) {
        ctran_sendrecv(out, LEN, CTRAN_INT, (rank + d) % size, 0, in, LEN, CTRAN_INT,
                       (rank + size - d) % size, 0, CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE);
        for (int i = 0; i < LEN; i++) {
            sum += in[i];
        }
    }
    ctran_allreduce(CTRAN_IN_PLACE, out, LEN, CTRAN_INT, CTRAN_SUM, CTRAN_COMM_WORLD);
    return sum + out[LEN - 1];
}

int main(int argc, char **argv)
{
    const char *rank = getenv("PMIX_RANK");
    if (argc != 2 || rank == NULL) {
        fputs("usage: ctranrun stages FOLDER\n", stderr);
        return EXIT_FAILURE;
    }
    stage(argv[1], "start", rank);
    if (ctran_init(&argc, &argv) != CTRAN_SUCCESS) {
        return EXIT_FAILURE;
    }
    stage(argv[1], "run", rank);
    long sum = exchange();
    stage(argv[1], "end", rank);
    if (rank[0] == '0') {
        printf("%ld\n", sum);
    }
    return ctran_finalize() == CTRAN_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
