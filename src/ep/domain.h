/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The progress domain: everything of a process that moves messages - p2p, ep and net - under one
 * lock, and how threads share the waiting.
 *
 * The functions of p2p/p2p.h take the lock. What they call is marked CT_IN_DOMAIN, callbacks from
 * lower floors included. No function of the program is called inside the domain.
 *
 * Waiting. One thread, the poller, drives transfers for all; the others sleep, each on a word of
 * its own, until they are told. Invariant: if there are sleepers there is a poller; a poller that
 * leaves makes a sleeper its successor. The poller holds the lock while it polls, releases it for
 * each thread that wants it, and does not hold it while it yields or sleeps. The poller sleeps on
 * the process's wake word. Peers signal this word, and so do threads that end the poller's wait or
 * make work for it.
 *
 * A wait is a loop, since ct_waiter_wait may return for no reason:
 *
 *   ct_waiter_init(&w, all);
 *   ct_waiter_join(p, &w, requests, n);
 *   while (!enough(requests)) {
 *       ct_waiter_wait(p, &w);
 *   }
 *   ct_waiter_part(p, &w, requests, n);
 *
 * With `all` it is told when the last of the requests is done, else by each; what else may end a
 * wait calls ct_waiter_tell. One that goes on after it was told calls ct_waiter_rearm before it
 * looks again. In a process that is not threaded ct_waiter_wait is one turn of progress, and the
 * others do nothing; who would rather be told than look after each turn calls ct_waiter_join_ and
 * _part_, which work there, too, and asks ct_waiter_is_told.
 *
 * Tasks. Work in the background, such as a nonblocking collective, has no call that waits: its
 * waiter names a task, and telling the waiter makes the task ready. The next thread that takes a
 * turn of progress (a waiter, a poke or the progress thread) runs the task outside the domain. So a
 * task may call functions that enter the domain, and the program's functions; but it must not wait.
 * A ready task keeps the poller from sleeping. One thread at a time runs a task; one that becomes
 * ready meanwhile runs again.
 *
 *   ct_waiter_init(&w, all);
 *   w.task = &task;
 *   ct_waiter_join(p, &w, requests, n);
 */
#ifndef CT_EP_DOMAIN_H
#define CT_EP_DOMAIN_H

#include <stdatomic.h>

#include "base/base.h"
#include "node/node.h"

/* The name of the domain's lock, for clang. */
extern struct ct_guard ct_domain;
#define CT_IN_DOMAIN CT_REQUIRES(ct_domain)

/* Work that is done in steps, whenever something makes it ready. run returns true when the task is
 * over. From then on the task may be gone: no function may use it or make it ready. */
struct ct_task {
    bool (*run)(struct ct_process *p, struct ct_task *task);
    uint32_t state      CT_GUARDED_BY(ct_domain);
    struct ct_list node CT_GUARDED_BY(ct_domain); /* among those that are ready */
};

/* A thread that waits (the waiter is on its stack), or a task that waits. */
struct ct_waiter {
    struct ct_task     *task; /* NULL: a thread */
    struct ct_wait      pace;
    bool                all;
    uint32_t need       CT_GUARDED_BY(ct_domain); /* of `all`: requests that are not done */
    _Atomic uint32_t    state;
    struct ct_list node CT_GUARDED_BY(ct_domain); /* among the sleepers */
};

/* ---- the slow halves, for threaded processes ------------------------------------------------- */

void ct_domain_lock(struct ct_process *p);
void ct_domain_unlock(struct ct_process *p);
/* Returns how many have joined; and which is the first of those that is done, n where none is, or
 * where the waiter is for all. */
uint32_t ct_waiter_join_(struct ct_process *p, struct ct_waiter *w, struct ct_request *const reqs[],
                         size_t n) CT_EXCLUDES(ct_domain);
size_t   ct_waiter_part_(struct ct_process *p, struct ct_waiter *w, struct ct_request *const reqs[],
                         size_t n) CT_EXCLUDES(ct_domain);
void     ct_waiter_rearm_(struct ct_waiter *w);
bool     ct_waiter_is_told(const struct ct_waiter *w);
void     ct_waiter_wait_(struct ct_process *p, struct ct_waiter *w) CT_EXCLUDES(ct_domain);
void     ct_waiter_completed_(struct ct_process *p, struct ct_waiter *w) CT_IN_DOMAIN;
/* One turn: drives transfers, or idles, then runs what has become ready: the lock is given up
 * meanwhile. */
void ct_waiter_turn_(struct ct_process *p, struct ct_wait *pace) CT_IN_DOMAIN;

/* ---- the lock -------------------------------------------------------------------------------- */

static inline void ct_domain_enter(struct ct_process *p) CT_ACQUIRE(ct_domain) CT_UNCHECKED
{
    if (CT_UNLIKELY(p->threaded)) {
        ct_domain_lock(p);
    }
}

static inline void ct_domain_leave(struct ct_process *p) CT_RELEASE(ct_domain) CT_UNCHECKED
{
    if (CT_UNLIKELY(p->threaded)) {
        ct_domain_unlock(p);
    }
}

/* Drives transfers once, unless another thread is at it, and runs what has become ready. False:
 * nothing has happened. */
bool ct_domain_poke(struct ct_process *p) CT_EXCLUDES(ct_domain);

/* Like ct_domain_poke for the program's own polls: its tests, and whatever else may answer "not
 * yet". */
bool ct_domain_poll_once(struct ct_process *p) CT_EXCLUDES(ct_domain);
/* In place of ct_domain_leave at the end of such a poll, which has `brought` something or not.
 * Gives the core away if several in a row have not. polls.c */
void ct_domain_leave_poll(struct ct_process *p, bool brought) CT_RELEASE(ct_domain);
/* Something that the program may poll for has come, and not by a transfer. */
void ct_domain_poll_ends(struct ct_process *p) CT_IN_DOMAIN;

/* ---- tasks ----------------------------------------------------------------------------------- */

/* Begins one: runs it for the first time. */
void ct_task_start(struct ct_process *p, struct ct_task *task) CT_EXCLUDES(ct_domain);
/* Makes a task that was started ready; so does telling its waiter. */
void ct_task_ready(struct ct_process *p, struct ct_task *task) CT_IN_DOMAIN;
/* Runs the tasks that are ready, after a turn of ct_ep_progress; releases the lock meanwhile. */
void ct_tasks_run(struct ct_process *p) CT_IN_DOMAIN;
/* Whether one is, or none; and forgets them, at the end of all. */
bool ct_tasks_ready(const struct ct_process *p) CT_IN_DOMAIN;
void ct_tasks_forget(struct ct_process *p) CT_IN_DOMAIN;

/* ---- waiting --------------------------------------------------------------------------------- */

static inline void ct_waiter_init(struct ct_waiter *w, bool all) CT_UNCHECKED
{
    *w = (struct ct_waiter){.all = all};
    ct_list_init(&w->node);
}

/* Makes those of the requests that are not CTRAN_REQUEST_NULL and not done tell w. One request
 * tells one waiter. A waiter for all joins once. */
static inline void ct_waiter_join(struct ct_process *p, struct ct_waiter *w,
                                  struct ct_request *const reqs[], size_t n)
{
    if (CT_UNLIKELY(p->threaded || w->task != NULL)) {
        ct_waiter_join_(p, w, reqs, n);
    }
}

/* The end of a wait: none of the requests, which may be done or not, tells w any more. */
static inline void ct_waiter_part(struct ct_process *p, struct ct_waiter *w,
                                  struct ct_request *const reqs[], size_t n)
{
    if (CT_UNLIKELY(p->threaded)) {
        ct_waiter_part_(p, w, reqs, n);
    }
}

static inline void ct_waiter_rearm(const struct ct_process *p, struct ct_waiter *w)
{
    if (CT_UNLIKELY(p->threaded)) {
        ct_waiter_rearm_(w);
    }
}

/* Returns once w has been told, or earlier. */
static inline void ct_waiter_wait(struct ct_process *p, struct ct_waiter *w) CT_UNCHECKED
{
    if (CT_UNLIKELY(p->threaded)) {
        ct_waiter_wait_(p, w);
    } else {
        ct_waiter_turn_(p, &w->pace);
    }
}

/* Ends w's wait. It may be gone when this returns. */
void ct_waiter_tell(struct ct_process *p, struct ct_waiter *w) CT_IN_DOMAIN;

/* Releases a request that is done; one that is not will do so itself. */
void ct_request_let_go(struct ct_process *p, struct ct_request *req) CT_EXCLUDES(ct_domain);

/* Marks a request as done: all else of it is final, and the user may take it before this returns.
 * One that the user let go of is released. */
static inline void ct_request_complete(struct ct_process *p, struct ct_request *req) CT_IN_DOMAIN
{
    struct ct_waiter *w = req->waiter;
    const bool        orphan = req->orphan;
    atomic_store_explicit(&req->done, true, memory_order_release);
    if (CT_UNLIKELY(w != NULL)) {
        ct_waiter_completed_(p, w);
    }
    if (CT_UNLIKELY(orphan)) {
        req->release(p, req);
    }
}

#endif
