/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * planted - a job with a fault: ranks in a grid of `columns` columns, with a communicator for each
 * row and each column, call collectives in rounds; in the fault's round one rank does what the
 * fault says. For analyze.py, which asks who it was.
 *
 *   planted FAULT RANK COLUMNS
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctran.h"

enum { ROUNDS = 6, FAULT_ROUND = 4, LONG = 1 << 20 };

static int          me, n, culprit;
static const char  *fault;
static ctran_comm_t row, column;
static char         big[LONG], other[LONG];

static bool is_now(int round, const char *name)
{
    return round == FAULT_ROUND && me == culprit && strcmp(fault, name) == 0;
}

/* For ever; a signal may come in between. */
static void sleep_on(void)
{
    for (;;) {
        pause();
    }
}

/* Who gets an error waits to be asked. */
static void sum(ctran_comm_t comm, int count)
{
    static int in[64], out[64];
    if (ctran_allreduce(in, out, count, CTRAN_INT, CTRAN_SUM, comm) != CTRAN_SUCCESS) {
        sleep_on();
    }
}

/* For ever, without a call of ctran. */
static void loop(void)
{
    for (volatile unsigned i = 0;; i++) {
    }
}

/* What the culprit does in place of its part of a round, if it does not go on. */
static void do_fault(int round)
{
    if (is_now(round, "miss")) {
        sleep_on();
    } else if (is_now(round, "loop")) {
        loop();
    } else if (is_now(round, "stop")) {
        raise(SIGSTOP);
    } else if (is_now(round, "die")) {
        raise(SIGKILL);
    } else if (is_now(round, "leave")) {
        ctran_finalize();
        exit(0);
    }
}

static void bcast(int round)
{
    int x = me;
    if (is_now(round, "noroot")) {
        sleep_on();
    }
    ctran_bcast(&x, 1, CTRAN_INT, culprit, CTRAN_COMM_WORLD);
}

/* Two ranks receive from each other, or send to each other without a receive. */
static void messages(int round)
{
    const int partner = (culprit + 1) % n, peer = me == culprit ? partner : culprit;
    if (round != FAULT_ROUND || (me != culprit && me != partner)) {
        return;
    }
    if (strcmp(fault, "recvs") == 0) {
        ctran_recv(big, 1, CTRAN_CHAR, peer, 3, CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE);
    } else if (strcmp(fault, "sends") == 0) {
        ctran_ssend(big, LONG, CTRAN_CHAR, peer, 3, CTRAN_COMM_WORLD);
    } else if (strcmp(fault, "tags") == 0 && me == culprit) {
        ctran_ssend(big, LONG, CTRAN_CHAR, peer, 3, CTRAN_COMM_WORLD);
    } else if (strcmp(fault, "tags") == 0) {
        ctran_recv(other, LONG, CTRAN_CHAR, peer, 4, CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE);
    } else if (strcmp(fault, "any") == 0 && me == culprit) {
        ctran_recv(big, 1, CTRAN_CHAR, CTRAN_ANY_SOURCE, 9, CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE);
    }
}

/* Each waits for the next one of all. */
static void circle(int round)
{
    ctran_request_t reqs[2];
    if (round == FAULT_ROUND && strcmp(fault, "circle") == 0) {
        ctran_irecv(big, 1, CTRAN_CHAR, (me + 1) % n, 5, CTRAN_COMM_WORLD, &reqs[0]);
        ctran_irecv(other, 1, CTRAN_CHAR, (me + 1) % n, 6, CTRAN_COMM_WORLD, &reqs[1]);
        ctran_waitall(2, reqs, CTRAN_STATUSES_IGNORE);
    }
}

static void reduce_rooted(int round)
{
    int x = me, y = 0;
    ctran_reduce(&x, &y, 1, CTRAN_INT, CTRAN_SUM, is_now(round, "root") ? (n > 1) : 0,
                 CTRAN_COMM_WORLD);
}

static void start_and_wait(int round)
{
    static int      in[8], out[8];
    ctran_request_t req;
    if (is_now(round, "inone")) {
        sleep_on();
    }
    ctran_iallreduce(in, out, 8, CTRAN_INT, CTRAN_SUM, CTRAN_COMM_WORLD, &req);
    ctran_wait(&req, CTRAN_STATUS_IGNORE);
}

static void one_round(int round)
{
    messages(round);
    circle(round);
    do_fault(round);
    if (is_now(round, "order")) {
        sum(CTRAN_COMM_WORLD, 4);
    }
    sum(row, 4);
    sum(column, 4);
    if (is_now(round, "order")) {
    } else if (is_now(round, "operation")) {
        ctran_barrier(CTRAN_COMM_WORLD);
    } else {
        sum(CTRAN_COMM_WORLD, is_now(round, "size") ? 5 : 4);
    }
    bcast(round);
    reduce_rooted(round);
    start_and_wait(round);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: planted FAULT RANK COLUMNS\n");
        return 2;
    }
    ctran_init(NULL, NULL);
    ctran_comm_rank(CTRAN_COMM_WORLD, &me);
    ctran_comm_size(CTRAN_COMM_WORLD, &n);
    fault = argv[1];
    culprit = atoi(argv[2]);
    const int columns = atoi(argv[3]);
    ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_RETURN);
    ctran_comm_split(CTRAN_COMM_WORLD, me / columns, me, &row);
    ctran_comm_split(CTRAN_COMM_WORLD, me % columns, me, &column);
    for (int round = 0; round < ROUNDS; round++) {
        one_round(round);
    }
    ctran_comm_free(&row);
    ctran_comm_free(&column);
    ctran_finalize();
    return 0;
}
