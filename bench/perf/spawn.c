/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spawn.c - the floor of starting a job: n processes started at once by fork and exec, that do
 * nothing, and waited for. Called by main.c with --spawn; no ctran and no MPI.
 */
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "perf.h"

extern char **environ;

int perf_spawn(const char *program, int n)
{
    char *argv[] = {(char *)program, (char *)"--nothing", NULL};
    int   started = 0, status, failed = 0;
    for (; started < n; started++) {
        int error = posix_spawn(&(pid_t){0}, program, NULL, NULL, argv, environ);
        if (error != 0) {
            fprintf(stderr, "process %d of %d was not started: %s\n", started + 1, n,
                    strerror(error));
            break;
        }
    }
    for (int i = 0; i < started; i++) {
        failed |= wait(&status) < 0 || status != 0;
    }
    return started == n && !failed ? 0 : -1;
}
