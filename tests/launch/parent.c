/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * parent finalize|exit|late COMMAND - ranks that have COMMAND run by a shell while they are in
 * ctran, or before (late), and say with which status it ended; then they finalize or just exit.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <ctran.h>

static void run(const char *command)
{
    int status = system(command);
    printf("%d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fputs("usage: parent finalize|exit|late COMMAND\n", stderr);
        return EXIT_FAILURE;
    }
    if (strcmp(argv[1], "late") == 0) {
        run(argv[2]);
    }
    if (ctran_init(NULL, NULL) != CTRAN_SUCCESS || ctran_barrier(CTRAN_COMM_WORLD) != 0) {
        return EXIT_FAILURE;
    }
    if (strcmp(argv[1], "late") != 0) {
        run(argv[2]);
        ctran_barrier(CTRAN_COMM_WORLD);
    }
    return strcmp(argv[1], "exit") == 0 || ctran_finalize() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
