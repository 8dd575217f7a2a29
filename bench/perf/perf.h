/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perf.h - the measuring program of ctran_perf. It runs on every rank of a job, measures the
 * patterns it is asked for at the sizes it is asked for, and rank 0 prints a line each. The sources
 * are ctran's calls; mpi_map.h turns them into MPI's, so that peers are measured by the same code.
 *
 * A pattern is a function that performs its operation a number of times (pt2pt.c, coll.c). How
 * often, and what time an operation took, is found by measure.c; whether data arrives right, by
 * data.c.
 */
#ifndef PERF_H
#define PERF_H

#include <stdbool.h>
#include <stddef.h>

#ifdef CT_PERF_MPI
#include "mpi_map.h"
#else
#include <ctran.h>
#endif

/* What a pattern's figure is. Bandwidth and rate are those of all pairs together. */
enum perf_unit { PERF_US, PERF_MB_S, PERF_KMSG_S };

struct perf_pattern;

enum { PERF_NEAR = 4 }; /* neighbours on the grid of near.c */

/* One pattern at one size, on this rank. Buffers hold `bytes` for each rank of the job, and for
 * each neighbour. */
struct perf_job {
    const struct perf_pattern *pattern;
    int                        rank, size;
    size_t                     bytes; /* of a message, or of one rank's block in a collective */
    int                        root;  /* of the first operation; then it goes round the ranks */
    int                        window;
    bool                       touch;    /* messages are written before, and read after */
    bool                       one_host; /* all ranks read one clock */
    unsigned char             *sbuf, *rbuf;
    size_t                     room;      /* bytes of each */
    bool                       alloc_mem; /* they are from the library's own call for memory */
    int                        turns;     /* floor.c: ranks to a core; else 1 */
    ctran_request_t           *requests;  /* 2 * window + 1 */
    ctran_count_t             *counts;    /* `size` times the count of one block */
    ctran_aint_t              *displs;    /* where each block begins */
    ctran_comm_t               grid;
    ctran_win_t                win;             /* of one-sided patterns, and */
    unsigned char             *wbuf;            /* its memory; NULL: not made so far */
    int                        near[PERF_NEAR]; /* the neighbours on it */
};

/* How a collective combines: the ranks up to the caller, those before it, or all. */
enum perf_combine { PERF_MOVES, PERF_ALL, PERF_PREFIX, PERF_BEFORE };

struct perf_pattern {
    const char       *name;
    enum perf_unit    unit;
    int               share;              /* the number of operations in one iteration */
    bool              pairs;              /* rank i with rank i + size / 2 */
    bool              one_way;            /* only the second of a pair receives */
    bool              sizeless;           /* there is no data: measured once, as size 0 */
    bool              rooted;             /* a collective with a root */
    bool              to_root;            /* which alone receives */
    bool              send_all, recv_all; /* a block for, or of, each rank; else one */
    bool              one_sided;          /* on a window */
    bool              near;               /* a block for, and of, each neighbour */
    enum perf_combine combine;
    void (*run)(const struct perf_job *job, long iterations);
};

/* All patterns, ended by one without a name. */
extern const struct perf_pattern perf_pt2pt[], perf_coll[], perf_near[], perf_onesided[];

/* The window of one-sided patterns, made at their first use. Collective. onesided.c */
bool perf_window_open(struct perf_job *job);
void perf_window_close(struct perf_job *job);
bool perf_window_check(struct perf_job *job);

/* The grid. The direction opposite to another. */
bool              perf_near_open(struct perf_job *job);
void              perf_near_close(struct perf_job *job);
static inline int perf_back(int direction)
{
    return direction ^ 1;
}

/* A pair of ranks: the other one, or -1 for a rank that is left over. */
int  perf_partner(const struct perf_job *job);
bool perf_is_first(const struct perf_job *job);
/* What the messages of a window take in a buffer, with `touch`. */
size_t perf_places_bytes(size_t bytes, int window);

/* The figure of a job in its pattern's unit: the median of `batches` batches, each of at least
 * about time_s / batches seconds. *iterations is the number in a batch. Collective. */
double perf_measure(const struct perf_job *job, double time_s, int batches, long *iterations);

/* The floor of a pattern: its name and flags, and only its copies; see floor.c. false: none. */
bool perf_floor(const struct perf_pattern *of, struct perf_pattern *floor);

/* Performs the job's operation on known data, from every root, and tells whether every rank got
 * what it has to. Collective; the first wrong byte is printed by the rank that found it. */
bool perf_check(struct perf_job *job);

/* Prints what a rank takes in memory. Collective. false when that cannot be found out. */
bool perf_resident(const struct perf_job *job);

double perf_now(void); /* seconds of a monotonic clock */

/* Starts n copies of this program that end at once, and waits for them: what any launcher has to
 * spend. 0, or -1 with a message. Uses no ctran. */
int perf_spawn(const char *program, int n);

#endif
