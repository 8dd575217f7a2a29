/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * closed - a program whose standard streams are closed before ctran_init: afterwards /dev/null is
 * in their places and no socket of the library, and the program may open and close them as it
 * likes.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

enum { KEPT_OUT = 100, KEPT_ERR = 101 };

static bool is_null(int fd)
{
    struct stat st, null;
    return fstat(fd, &st) == 0 && stat("/dev/null", &null) == 0 && S_ISCHR(st.st_mode) &&
           st.st_rdev == null.st_rdev;
}

static void exchange(void)
{
    int rank = -1, size = -1, sum = -1;
    OK(ctran_comm_rank(CTRAN_COMM_WORLD, &rank));
    OK(ctran_comm_size(CTRAN_COMM_WORLD, &size));
    OK(ctran_allreduce(&rank, &sum, 1, CTRAN_INT, CTRAN_SUM, CTRAN_COMM_WORLD));
    EXPECT_EQ(size * (size - 1) / 2, sum);
}

int main(int argc, char **argv)
{
    bool null[3];
    if (dup2(1, KEPT_OUT) < 0 || dup2(2, KEPT_ERR) < 0) {
        perror("dup2");
        return EXIT_FAILURE;
    }
    for (int fd = 0; fd < 3; fd++) {
        close(fd);
    }
    const int rc = ctran_init(&argc, &argv);
    for (int fd = 0; fd < 3; fd++) {
        null[fd] = is_null(fd);
    }
    dup2(KEPT_ERR, 2); /* from here on a failure is seen */
    OK(rc);
    for (int fd = 0; fd < 3; fd++) {
        EXPECT_EQ(true, null[fd]);
    }
    exchange();
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", KEPT_OUT);
    EXPECT(freopen(path, "a", stdout) != NULL);
    close(0);
    exchange();
    puts("said");
    OK(ctran_finalize());
    return EXIT_SUCCESS;
}
