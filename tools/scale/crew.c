/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processes of a run. Each tells its parent by a byte that it has done a step, and goes on when
 * the parent says so by a byte; when the parent is gone, so is the pipe, and they end.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scale.h"

struct member {
    pid_t pid;
    int   from, to;
};

struct crew {
    uint32_t       n;
    struct member *members;
};

struct crew *crew_create(uint32_t most)
{
    struct crew *crew = calloc(1, sizeof *crew);
    crew->members = calloc(most, sizeof *crew->members);
    return crew;
}

static bool told(int from, int to)
{
    char byte = 1;
    return write(to, &byte, 1) == 1 && read(from, &byte, 1) == 1;
}

static void child(const struct crew_ops *ops, void *state, int from, int to, pid_t parent)
{
    (void)signal(SIGPIPE, SIG_IGN);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) {
        _exit(1); /* servers read nothing of the pipe: nobody is left to end them */
    }
    int rc = ops->prepare(state);
    if (rc == 0 && told(from, to)) {
        rc = ops->work(state);
        if (rc == 0) {
            (void)told(from, to);
        }
        ops->finish(state);
    }
    _exit(rc == 0 ? 0 : 1);
}

int crew_add(struct crew *crew, const struct crew_ops *ops, void *state)
{
    int down[2], up[2];
    if (pipe(down) != 0) {
        return CTRAN_ERR_SYSTEM;
    }
    if (pipe(up) != 0) {
        (void)close(down[0]);
        (void)close(down[1]);
        return CTRAN_ERR_SYSTEM;
    }
    (void)fflush(NULL);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        for (uint32_t i = 0; i < crew->n; i++) { /* or the others would never see our parent go */
            (void)close(crew->members[i].from);
            (void)close(crew->members[i].to);
        }
        (void)close(down[1]);
        (void)close(up[0]);
        child(ops, state, down[0], up[1], parent);
    }
    (void)close(down[0]);
    (void)close(up[1]);
    if (pid < 0) {
        (void)close(down[1]);
        (void)close(up[0]);
        return CTRAN_ERR_SYSTEM;
    }
    crew->members[crew->n++] = (struct member){.pid = pid, .from = up[0], .to = down[1]};
    return CTRAN_SUCCESS;
}

bool crew_step(struct crew *crew, uint64_t deadline_ns)
{
    for (uint32_t i = 0; i < crew->n; i++) {
        struct pollfd p = {.fd = crew->members[i].from, .events = POLLIN};
        uint64_t      now = ct_clock_ns();
        char          byte;
        int           left = deadline_ns > now ? (int)((deadline_ns - now) / CT_NS_PER_MS) + 1 : 0;
        int           n = poll(&p, 1, left);
        if (n == 0) {
            fprintf(stderr, "ctran_scale: process %u of %u took too long; see --limit\n", i + 1,
                    crew->n);
            return false;
        }
        if (n < 0 || read(p.fd, &byte, 1) != 1) {
            fprintf(stderr, "ctran_scale: process %u of %u has failed\n", i + 1, crew->n);
            return false;
        }
    }
    for (uint32_t i = 0; i < crew->n; i++) {
        char byte = 1;
        (void)!write(crew->members[i].to, &byte, 1); /* one that is gone is seen at the next step */
    }
    return true;
}

void crew_destroy(struct crew *crew)
{
    for (uint32_t i = 0; i < crew->n; i++) {
        (void)close(crew->members[i].to);
        (void)close(crew->members[i].from);
        (void)kill(crew->members[i].pid, SIGKILL); /* nothing that it holds is of use any more */
        (void)waitpid(crew->members[i].pid, NULL, 0);
    }
    free(crew->members);
    free(crew);
}
