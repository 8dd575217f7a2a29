/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unlike - allreduce with counts that differ: rank 0 has half of what the others have. Each rank
 * that a message of another length comes to gets an error, rank 0 among them, and so does its
 * partner; nobody waits for ever, and what follows works. Usage: unlike [SEED], on two or more
 * ranks that all cut a vector into as many messages.
 */
#include "check.h"

enum { MOST = 300000 };

static void once(int count)
{
    static int   in[MOST], out[MOST];
    const int    mine = check_rank == 0 ? count / 2 : count;
    int          rc, told = 0, sum = 0;
    ctran_comm_t comm;
    for (int i = 0; i < MOST; i++) {
        in[i] = i;
        out[i] = -1;
    }
    OK(ctran_comm_dup(CTRAN_COMM_WORLD, &comm));
    OK(ctran_comm_set_errhandler(comm, CTRAN_ERRORS_RETURN));
    rc = ctran_allreduce(in, out, mine, CTRAN_INT, CTRAN_SUM, comm);
    EXPECT(rc == CTRAN_SUCCESS || rc == CTRAN_ERR_TRUNCATE);
    EXPECT(check_rank > 1 || rc == CTRAN_ERR_TRUNCATE);
    for (int i = mine; i < MOST; i++) {
        EXPECT_EQ(-1, out[i]);
    }
    told = rc != CTRAN_SUCCESS;
    OK(ctran_allreduce(&told, &sum, 1, CTRAN_INT, CTRAN_SUM, comm));
    EXPECT(sum >= 2);
    OK(ctran_allreduce(in, out, MOST, CTRAN_INT, CTRAN_SUM, comm));
    for (int i = 0; i < MOST; i++) {
        EXPECT_EQ(i * check_size, out[i]);
    }
    OK(ctran_comm_free(&comm));
}

static void few(void)
{
    once(64);
}

static void some(void)
{
    once(6000);
}

static void many(void)
{
    once(MOST);
}

int main(int argc, char **argv)
{
    static const struct subject subjects[] = {{"few", few}, {"some", some}, {"many", many}};
    check_start(argc, argv);
    check_run(subjects, LEN(subjects));
    return check_end();
}
