/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpi_calls - what a call costs by way of mpi.h, beside ctran's own: those that do the least work,
 * so that the difference is seen, on one rank. Both are called in turns, thousands of times each;
 * a line has the least mean of all turns, in ns, and the difference.
 *
 * usage: mpi_calls [TURNS]
 */
#include <ctran.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { TIMES = 20000, TURNS = 50 };

static int value, other, counts[1] = {1}, displs[1] = {0};

static const ctran_count_t own_counts[1] = {1};
static const ctran_aint_t  own_displs[1] = {0};

/* Each with its twin: name, ctran's call, MPI's. */
#define CALLS(X)                                                                                   \
    X(rank, ctran_comm_rank(CTRAN_COMM_WORLD, &value), MPI_Comm_rank(MPI_COMM_WORLD, &value))      \
    X(send_to_nobody, ctran_send(&value, 1, CTRAN_INT, CTRAN_PROC_NULL, 0, CTRAN_COMM_WORLD),      \
      MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD))                              \
    X(sendrecv_self,                                                                               \
      ctran_sendrecv(&value, 1, CTRAN_INT, 0, 0, &other, 1, CTRAN_INT, 0, 0, CTRAN_COMM_WORLD,     \
                     CTRAN_STATUS_IGNORE),                                                         \
      MPI_Sendrecv(&value, 1, MPI_INT, 0, 0, &other, 1, MPI_INT, 0, 0, MPI_COMM_WORLD,             \
                   MPI_STATUS_IGNORE))                                                             \
    X(allreduce, ctran_allreduce(&value, &other, 1, CTRAN_INT, CTRAN_SUM, CTRAN_COMM_WORLD),       \
      MPI_Allreduce(&value, &other, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD))                          \
    X(allgatherv_arrays,                                                                           \
      ctran_allgatherv(&value, 1, CTRAN_INT, &other, own_counts, own_displs, CTRAN_INT,            \
                       CTRAN_COMM_WORLD),                                                          \
      MPI_Allgatherv(&value, 1, MPI_INT, &other, counts, displs, MPI_INT, MPI_COMM_WORLD))

#define FUNCTIONS(name, own, mpi)                                                                  \
    static void own_##name(void)                                                                   \
    {                                                                                              \
        for (int i = 0; i < TIMES; i++) {                                                          \
            own;                                                                                   \
        }                                                                                          \
    }                                                                                              \
    static void mpi_##name(void)                                                                   \
    {                                                                                              \
        for (int i = 0; i < TIMES; i++) {                                                          \
            mpi;                                                                                   \
        }                                                                                          \
    }
CALLS(FUNCTIONS)

static const struct {
    const char *name;
    void (*own)(void), (*mpi)(void);
} rows[] = {
#define ROW(name, own, mpi) {#name, own_##name, mpi_##name},
    CALLS(ROW)};

static void measure(void (*run)(void), double *least)
{
    const double start = ctran_wtime();
    run();
    const double ns = (ctran_wtime() - start) * 1e9 / TIMES;
    *least = ns < *least ? ns : *least;
}

int main(int argc, char **argv)
{
    const int turns = argc > 1 ? atoi(argv[1]) : TURNS;
    MPI_Init(&argc, &argv);
    printf("%-20s %10s %10s %10s\n", "ns a call", "ctran.h", "mpi.h", "more");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double own = 1e18, mpi = 1e18;
        for (int turn = 0; turn < turns; turn++) {
            measure(rows[i].own, &own);
            measure(rows[i].mpi, &mpi);
        }
        printf("%-20s %10.1f %10.1f %10.1f\n", rows[i].name, own, mpi, mpi - own);
    }
    MPI_Finalize();
    return 0;
}
