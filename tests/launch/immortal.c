/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * immortal - installed with the superuser's s-bit it is a process that its user cannot kill: it
 * becomes the superuser's, says "ready" and its pid, and waits for a signal.
 */
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    if (setuid(0) != 0) {
        perror("immortal: setuid");
        return 99;
    }
    printf("ready %ld\n", (long)getpid());
    fflush(stdout);
    for (;;) {
        pause();
    }
}
