/* SPDX-License-Identifier: BSD-3-Clause */
/* Who dies, when and how. A killed rank is killed by a timer, in whatever it does just then. */
#include "fault.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

static uint64_t exit_at_ns; /* 0: not armed */

uint64_t fault_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

bool fault_is_mode(const struct fault_plan *plan, const char *mode)
{
    return strcmp(plan->mode, mode) == 0;
}

/* How long after the agreed moment the first death may be, at most. */
static int most_us(const struct fault_plan *plan)
{
    if (fault_is_mode(plan, "connect") || fault_is_mode(plan, "finalize")) {
        return 3000;
    }
    return fault_is_mode(plan, "init") ? 40000 : 30000;
}

/* Of `size` ranks one lives at least; where the ranks count on more, no more than three die. */
static int most_victims(const struct fault_plan *plan, int size)
{
    enum { FEW = 3 };
    return strncmp(plan->mode, "shrink-", 7) == 0 ? size - 1 : FEW;
}

void fault_draw(struct fault_plan *plan, const char *mode, int size)
{
    uint64_t rng = rng_of(1);
    *plan = (struct fault_plan){.mode = mode};
    bool may_exit = fault_is_mode(plan, "traffic") || fault_is_mode(plan, "large") ||
                    fault_is_mode(plan, "coll") || fault_is_mode(plan, "icoll");
    bool together = rng_below(&rng, 3) == 0;
    plan->nvictims = 1 + rng_below(&rng, most_victims(plan, size));
    for (int i = 0; i < plan->nvictims; i++) {
        struct fault_victim *v = &plan->victim[i];
        do {
            v->rank = rng_below(&rng, size);
        } while (fault_mine(plan, v->rank) != v);
        v->how = (enum fault_how)rng_below(&rng, may_exit ? 3 : 2);
        v->after_ns = (uint64_t)rng_below(&rng, most_us(plan)) * 1000;
        if (together) {
            v->after_ns = plan->victim[0].after_ns;
        } else if (i > 0) {
            v->after_ns += plan->victim[i - 1].after_ns;
        }
    }
}

/* The first that has this rank. */
const struct fault_victim *fault_mine(const struct fault_plan *plan, int rank)
{
    for (int i = 0; i < plan->nvictims; i++) {
        if (plan->victim[i].rank == rank) {
            return &plan->victim[i];
        }
    }
    return NULL;
}

bool fault_is_victim(const struct fault_plan *plan, int rank)
{
    return fault_mine(plan, rank) != NULL;
}

static void log_dies(int rank, uint64_t at_ns)
{
    printf("dies %d %" PRIu64 "\n", rank, at_ns);
    fflush(stdout);
}

void fault_arm(const struct fault_plan *plan, int rank)
{
    const struct fault_victim *v = fault_mine(plan, rank);
    if (v == NULL) {
        return;
    }
    uint64_t at_ns = fault_now_ns() + v->after_ns + 1;
    if (v->how == FAULT_EXIT) {
        exit_at_ns = at_ns;
        return;
    }
    timer_t           timer;
    struct sigevent   event = {.sigev_notify = SIGEV_SIGNAL,
                               .sigev_signo = v->how == FAULT_KILL ? SIGKILL : SIGSEGV};
    struct itimerspec when = {.it_value = {.tv_sec = (time_t)(at_ns / 1000000000),
                                           .tv_nsec = (long)(at_ns % 1000000000)}};
    log_dies(rank, at_ns);
    EXPECT(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    EXPECT(timer_settime(timer, TIMER_ABSTIME, &when, NULL) == 0);
}

void fault_point(void)
{
    if (exit_at_ns != 0 && fault_now_ns() >= exit_at_ns) {
        log_dies(check_rank, fault_now_ns());
        exit(FAULT_EXIT_STATUS);
    }
}

void fault_print_knows(int victim)
{
    printf("knows %d %d %" PRIu64 "\n", check_rank, victim, fault_now_ns());
    fflush(stdout);
}
