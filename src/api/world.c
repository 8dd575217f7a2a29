/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The world model: ctran_init, ctran_finalize, and what may be asked of them at any time. The world
 * is one user of the library (life.c) beside sessions, and may come again after its end.
 */
#define CT_FOLDER "api"
#include <pthread.h>
#include <stdatomic.h>

#include "api/api.h"
#include "stream/stream.h"
#include "topo/topo.h"

enum { NONE, STARTING, RUNNING, ENDING, ENDED };
static _Atomic int  world = NONE;
static _Atomic bool has_been; /* ctran_init has returned once */
static pthread_t    main_thread;

/* From one of the states that it rests in. */
static bool go(int from, int to)
{
    return atomic_compare_exchange_strong_explicit(&world, &from, to, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

/* ---- start ----------------------------------------------------------------------------------- */

static bool known_level(int level)
{
    return level == CTRAN_THREAD_SINGLE || level == CTRAN_THREAD_FUNNELED ||
           level == CTRAN_THREAD_SERIALIZED || level == CTRAN_THREAD_MULTIPLE;
}

static int start(int required, struct ct_process **p)
{
    int rc = ct_api_use("ctran_init", required, p);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_job_meet(*p);
    rc = rc == CTRAN_SUCCESS ? ct_machine_check_maps(*p) : rc;
    rc = rc == CTRAN_SUCCESS ? ct_comm_world_open(*p) : rc;
    if (rc == CTRAN_SUCCESS && (rc = ct_api_meet_parent(*p)) != CTRAN_SUCCESS) {
        ct_comm_world_close(*p);
    }
    if (rc != CTRAN_SUCCESS) {
        ct_api_unuse(*p);
    }
    return rc;
}

int ctran_init_thread(int *argc, char ***argv, int required, int *provided)
{
    struct ct_process *p;
    int                before;
    (void)argc, (void)argv;
    if (!known_level(required)) {
        return ct_api_raise_anytime(CTRAN_ERR_ARG, "ctran_init_thread",
                                    "%d is no thread level: use a CTRAN_THREAD_ constant",
                                    required);
    }
    if (!(before = NONE, go(NONE, STARTING)) && !(before = ENDED, go(ENDED, STARTING))) {
        return ct_api_raise_anytime(CTRAN_ERR_OTHER, "ctran_init",
                                    "called a second time before ctran_finalize");
    }
    int rc = start(required, &p);
    if (rc != CTRAN_SUCCESS) {
        (void)go(STARTING, before);
        return ct_api_pass_anytime(rc, "ctran_init");
    }
    main_thread = pthread_self();
    if (provided != NULL) {
        *provided = p->thread_level;
    }
    atomic_store_explicit(&has_been, true, memory_order_release);
    (void)go(STARTING, RUNNING);
    return CTRAN_SUCCESS;
}

int ctran_init(int *argc, char ***argv)
{
    return ctran_init_thread(argc, argv, CTRAN_THREAD_SINGLE, NULL);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Nobody leaves while another may still need an answer. That is a barrier, or, in a job that
 * outlives deaths, the launcher's word: it knows who lives. */
static int see_off(struct ct_process *p)
{
    struct ct_job *job = p->job;
    if (!job->events.on) {
        int rc = ct_coll_barrier_now(ct_comm_world(p));
        ct_domain_enter(p);
        while (ct_ep_progress(p) > 0) { /* what had come before the last flag of the barrier */
        }
        ct_domain_leave(p);
        return rc;
    }
    ct_ep_drain(p);
    int rc = job->ops->leave(job);
    if (rc == CTRAN_SUCCESS) {
        ct_ep_drive_until(p, &job->events.may_leave);
    }
    return rc;
}

int ctran_finalize(void)
{
    static const char  call[] = "ctran_finalize";
    struct ct_process *p = ct_api_enter(call);
    if (p == NULL) {
        return CTRAN_ERR_OTHER;
    }
    if (!go(RUNNING, ENDING)) {
        return ct_api_raise(ct_comm_self(p), CTRAN_ERR_OTHER, call,
                            "called without ctran_init: it does not end sessions");
    }
    /* A library's way to clean up is an attribute of CTRAN_COMM_SELF (MPI-4.1 sec. 11.2.4). */
    int freed = ct_api_pass(ct_comm_self(p), ct_attr_delete_all(&ct_comm_self(p)->attrs), call);
    if (ct_api_is_last_user()) { /* what sessions use goes on */
        ct_stream_settle(p);
    }
    struct ct_api_meeting m;
    ct_api_meet(&m, call, ct_comm_world(p));
    int rc = see_off(p);
    ct_api_met(&m, rc);
    rc = ct_api_pass(ct_comm_world(p), rc, call);
    ct_api_end_world_buffers(p);
    ct_comm_world_close(p);
    ct_api_unuse(p);
    (void)go(ENDING, ENDED);
    return rc != CTRAN_SUCCESS ? rc : freed;
}

/* ---- questions ------------------------------------------------------------------------------- */

int ctran_initialized(int *flag)
{
    if (flag == NULL) {
        return ct_api_raise_anytime(CTRAN_ERR_ARG, "ctran_initialized", "flag is NULL");
    }
    *flag = atomic_load_explicit(&has_been, memory_order_acquire);
    return CTRAN_SUCCESS;
}

int ctran_finalized(int *flag)
{
    if (flag == NULL) {
        return ct_api_raise_anytime(CTRAN_ERR_ARG, "ctran_finalized", "flag is NULL");
    }
    *flag = atomic_load_explicit(&world, memory_order_acquire) == ENDED;
    return CTRAN_SUCCESS;
}

int ctran_query_thread(int *provided)
{
    static const char  call[] = "ctran_query_thread";
    struct ct_process *p = ct_api_enter(call);
    if (p == NULL) {
        return CTRAN_ERR_OTHER;
    }
    if (provided == NULL) {
        return ct_check_out(ct_comm_self(p), call, provided, "provided");
    }
    *provided = p->thread_level;
    return CTRAN_SUCCESS;
}

int ctran_is_thread_main(int *flag)
{
    static const char  call[] = "ctran_is_thread_main";
    struct ct_process *p = ct_api_enter(call);
    if (p == NULL) {
        return CTRAN_ERR_OTHER;
    }
    if (flag == NULL) {
        return ct_check_out(ct_comm_self(p), call, flag, "flag");
    }
    const int now = atomic_load_explicit(&world, memory_order_acquire);
    *flag = now == RUNNING && pthread_equal(pthread_self(), main_thread) != 0;
    return CTRAN_SUCCESS;
}
