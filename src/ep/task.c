/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tasks: steps of work in the background, run by the thread that drives transfers (domain.h).
 *
 * Invariant: a task is in the list of ready ones if and only if its state is READY. A thread that
 * runs a task has taken it off the list, and checks after the run whether it became ready again
 * meanwhile.
 */
#define CT_FOLDER "ep"
#include "ep/ep_set.h"

enum { WAITS, READY, RUNS, RUNS_AGAIN };

bool ct_tasks_ready(const struct ct_process *p)
{
    return !ct_list_empty(&p->ep->domain.ready);
}

void ct_task_ready(struct ct_process *p, struct ct_task *task)
{
    if (task->state == WAITS) {
        task->state = READY;
        ct_list_append(&p->ep->domain.ready, &task->node);
        ct_wake_signal(p->ep->wake); /* the poller, if it sleeps: see sleep_on of idle.c */
    } else if (task->state == RUNS) {
        task->state = RUNS_AGAIN;
    }
}

static void run(struct ct_process *p, struct ct_task *task) CT_IN_DOMAIN
{
    bool over;
    do {
        task->state = RUNS;
        ct_domain_leave(p);
        over = task->run(p, task);
        ct_domain_enter(p);
    } while (!over && task->state == RUNS_AGAIN);
    if (!over) {
        task->state = WAITS;
    }
}

void ct_task_start(struct ct_process *p, struct ct_task *task)
{
    ct_domain_enter(p);
    ct_list_init(&task->node);
    run(p, task);
    ct_domain_leave(p);
}

void ct_tasks_run(struct ct_process *p)
{
    struct ct_list *ready = &p->ep->domain.ready;
    while (CT_UNLIKELY(!ct_list_empty(ready))) {
        struct ct_task *task = CT_LIST_ENTRY(ready->next, struct ct_task, node);
        ct_list_remove(&task->node);
        run(p, task);
    }
}

void ct_tasks_forget(struct ct_process *p)
{
    ct_list_init(&p->ep->domain.ready);
}
