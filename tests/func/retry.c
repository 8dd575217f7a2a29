/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * retry - processes that call ctran_init again after it has failed. Usage: retry settings|never,
 * retry late FIFO
 *
 * settings: with a value that is none, and with an interface that there is not; the next call
 * succeeds without. late: all but the last rank come too early by CTRAN_BOOTSTRAP_TIMEOUT, and try
 * until the last one has come, which waits for rank 0's first failure. never: the last rank does
 * not come; on several hosts the second failure says that there is no third.
 */
#include "check.h"

static void meet(void)
{
    int n = 0, one = 1;
    OK(ctran_comm_rank(CTRAN_COMM_WORLD, &check_rank));
    OK(ctran_comm_size(CTRAN_COMM_WORLD, &check_size));
    OK(ctran_allreduce(&one, &n, 1, CTRAN_INT, CTRAN_SUM, CTRAN_COMM_WORLD));
    EXPECT_EQ(check_size, n);
    OK(ctran_finalize());
}

static void expect_failure(const char *name, const char *value)
{
    int flag = -1;
    EXPECT_EQ(0, setenv(name, value, 1));
    EXPECT_RC(CTRAN_ERR_CONFIG, ctran_init(NULL, NULL));
    OK(ctran_initialized(&flag));
    EXPECT_EQ(0, flag);
    EXPECT_EQ(0, unsetenv(name));
}

static void settings(void)
{
    expect_failure("CTRAN_TCP_SOCKETS", "none");
    if (getenv("PMIX_RANK") != NULL) { /* else there is nobody to talk to */
        expect_failure("CTRAN_TCP_INTERFACES", "ctran-none");
    }
    OK(ctran_init(NULL, NULL));
    meet();
}

/* The environment says, before there is a communicator to ask. */
static bool is_last(void)
{
    const char *rank = getenv("PMIX_RANK"), *size = getenv("RETRY_SIZE");
    EXPECT(rank != NULL && size != NULL);
    return atoi(rank) == atoi(size) - 1;
}

/* The last one comes when all others have given up, each of which tells it so. */
static void late(const char *fifo)
{
    FILE *f;
    if (is_last()) {
        f = fopen(fifo, "r+"); /* no end between two writers */
        EXPECT(f != NULL);
        for (int i = 0; i < atoi(getenv("PMIX_RANK")); i++) {
            EXPECT(getc(f) != EOF);
        }
        fclose(f);
        OK(ctran_init(NULL, NULL));
        meet();
        return;
    }
    EXPECT_RC(CTRAN_ERR_BOOTSTRAP, ctran_init(NULL, NULL));
    f = fopen(fifo, "w");
    EXPECT(f != NULL);
    EXPECT(fputc('+', f) != EOF);
    EXPECT(fclose(f) == 0);
    int rc = CTRAN_ERR_BOOTSTRAP;
    while (rc == CTRAN_ERR_BOOTSTRAP) {
        rc = ctran_init(NULL, NULL);
    }
    OK(rc);
    meet();
}

static void never(void)
{
    for (int i = 0; i < 2 && !is_last(); i++) {
        EXPECT_RC(CTRAN_ERR_BOOTSTRAP, ctran_init(NULL, NULL));
    }
}

int main(int argc, char **argv)
{
    EXPECT(argc == 2 || argc == 3);
    check_errors_return();
    if (argc == 3) {
        late(argv[2]);
    } else if (strcmp(argv[1], "settings") == 0) {
        settings();
    } else {
        never();
    }
    return 0;
}
