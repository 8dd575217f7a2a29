/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks of other jobs, for this node's; see family.h. Used by server.c. */
#include "config.h"
#include "launcher/pmix/family.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "launcher/launcher.h"
#include "launcher/pmix/info.h"
#include "launcher/pmix/shift.h"

/* How long before libpmix would end a PMIx_Connect with PMIX_TIMEOUT itself this file does, and
 * when it is too late for an answer. */
enum { GIVE_UP_EARLIER_MS = 250, LEAVE_ALONE_MS = 50 };

/* A job that libpmix knows. An answer about a job that libpmix has forgotten would make it believe
 * in a job of which it knows nothing, and wait for its ranks. So libpmix is told to forget a job
 * when no question about it is under way any more. */
struct known {
    char    *nspace;
    bool     gone;
    uint32_t asked; /* questions under way */
};

/* A meeting or a question on its way to the head and back. */
struct ask {
    struct ct_pmix_ask  on;
    pmix_op_cbfunc_t    met;
    pmix_modex_cbfunc_t found;
    void               *cbdata;
    uint64_t            end_ns;  /* of a meeting, by ct_clock_ns; 0: none */
    struct event       *give_up; /* for that */
    bool                connect;
    pmix_status_t       status; /* of a meeting with an end: the answer */
    size_t              bytes;  /* that it counts for, among those that are not answered */
    struct known       *about;  /* of a question */
};

/* libpmix's callbacks have no argument for this file's state. */
static struct {
    struct event_base       *base;
    const struct ct_jobdesc *desc;
    struct ct_conn          *conn;
    const char              *nspace;
    ct_pmix_post_fn          post;
    struct ct_pmix_asks      asks;        /* main thread */
    _Atomic size_t           asked_bytes; /* bytes of questions that are not answered */
    pthread_mutex_t          lock;
    struct known           **known; /* under the lock, with what they refer to */
    size_t                   nknown;
} the = {.lock = PTHREAD_MUTEX_INITIALIZER};

void ct_pmix_family_init(struct event_base *base, const struct ct_jobdesc *desc,
                         struct ct_conn *conn, const char *nspace, ct_pmix_post_fn post)
{
    the.base = base;
    the.desc = desc;
    the.conn = conn;
    the.nspace = nspace;
    the.post = post;
    ct_pmix_asks_init(&the.asks, conn, desc->me);
}

/* ---- on libpmix's thread --------------------------------------------------------------------- */

bool ct_pmix_family_has_other_job(const pmix_proc_t *procs, size_t n)
{
    bool other = false;
    for (size_t i = 0; i < n; i++) {
        other |= !PMIX_CHECK_NSPACE(procs[i].nspace, the.nspace);
    }
    return other;
}

/* Under lock; NULL: there is none, or it is gone. */
static struct known *find_known(const char *nspace)
{
    for (size_t i = 0; i < the.nknown; i++) {
        if (!the.known[i]->gone && PMIX_CHECK_NSPACE(nspace, the.known[i]->nspace)) {
            return the.known[i];
        }
    }
    return NULL;
}

static void on_forgotten(pmix_status_t status, void *arg)
{
    (void)status;
    (void)arg;
}

static struct known *begin_question(const char *nspace)
{
    pthread_mutex_lock(&the.lock);
    struct known *k = find_known(nspace);
    if (k != NULL) {
        k->asked++;
    }
    pthread_mutex_unlock(&the.lock);
    return k;
}

/* The last question about a job that is gone makes libpmix forget the job. Answers given before go
 * through libpmix's thread before that call does. */
static void end_question(struct known *k)
{
    pmix_nspace_t nspace;
    pthread_mutex_lock(&the.lock);
    bool over = --k->asked == 0 && k->gone;
    for (size_t i = 0; over && i < the.nknown; i++) {
        if (the.known[i] == k) {
            the.known[i] = the.known[--the.nknown];
        }
    }
    pthread_mutex_unlock(&the.lock);
    if (over) {
        PMIX_LOAD_NSPACE(nspace, k->nspace);
        PMIx_server_deregister_nspace(nspace, on_forgotten, NULL);
        free(k->nspace);
        free(k);
    }
}

static void pmix_family_free_ask(struct ask *a)
{
    (void)atomic_fetch_sub_explicit(&the.asked_bytes, a->bytes, memory_order_relaxed);
    if (a->about != NULL) {
        end_question(a->about);
    }
    if (a->give_up != NULL) {
        event_free(a->give_up);
    }
    ct_pmix_ask_fini(&a->on);
    free(a);
}

/* On libpmix's thread. libpmix 4.2.2 has a timer of its own for a PMIx_Connect with PMIX_TIMEOUT.
 * It takes an answer after that timer as a second one, and corrupts its memory. So no answer is
 * given once the timer may have fired; before that, the answer stops the timer. */
static void answer_in_time(pmix_status_t shifted, void *arg)
{
    const uint64_t leave_alone_ns = (uint64_t)LEAVE_ALONE_MS * CT_NS_PER_MS;
    struct ask    *a = arg;
    (void)shifted;
    if (!a->connect || ct_clock_ns() + leave_alone_ns < a->end_ns) {
        a->met(a->status, a->cbdata);
    }
    pmix_family_free_ask(a);
}

static void answer_meeting(struct ask *a, pmix_status_t status)
{
    if (a->end_ns == 0) {
        a->met(status, a->cbdata);
        pmix_family_free_ask(a);
        return;
    }
    if (a->give_up != NULL) {
        event_free(a->give_up);
        a->give_up = NULL;
    }
    a->status = status;
    ct_pmix_shift(answer_in_time, a);
}

static void on_give_up(int fd, short what, void *arg)
{
    struct ask      *a = arg;
    struct evbuffer *message = evbuffer_new();
    (void)fd;
    (void)what;
    ct_list_remove(&a->on.node);
    ct_pack_u32(message, the.desc->me);
    ct_pack_u32(message, a->on.number);
    ct_conn_send(the.conn, CT_MSG_FAMILY_GIVE_UP, message);
    evbuffer_free(message);
    answer_meeting(a, PMIX_ERR_TIMEOUT);
}

/* False when out of memory. */
static bool limit_time(struct ask *a)
{
    uint64_t now = ct_clock_ns();
    uint64_t end_ns = a->end_ns - (uint64_t)GIVE_UP_EARLIER_MS * CT_NS_PER_MS;
    uint64_t left_us = end_ns > now ? (end_ns - now) / 1000 : 0;
    a->give_up = evtimer_new(the.base, on_give_up, a);
    return a->give_up != NULL &&
           event_add(a->give_up, &(struct timeval){.tv_sec = (time_t)(left_us / 1000000),
                                                   .tv_usec = (suseconds_t)(left_us % 1000000)}) ==
               0;
}

static void pmix_family_send_ask(void *arg)
{
    struct ask *a = arg;
    if (a->end_ns != 0 && !limit_time(a)) {
        answer_meeting(a, PMIX_ERR_NOMEM);
        return;
    }
    ct_pmix_ask_send(&the.asks, &a->on);
}

static struct ask *make_ask(enum ct_msg_type type, void *cbdata)
{
    struct ask *a = calloc(1, sizeof *a);
    if (a != NULL) {
        *a = (struct ask){.on = {.type = type, .body = evbuffer_new()}, .cbdata = cbdata};
    }
    if (a != NULL && a->on.body == NULL) {
        pmix_family_free_ask(a);
        a = NULL;
    }
    return a;
}

/* Hands the question to the main thread, unless there are too many. libpmix does not tell which
 * rank asks, so all ranks of the node share the room. */
static pmix_status_t pmix_family_end(struct ask *a)
{
    size_t len = evbuffer_get_length(a->on.body);
    bool   fits = len <= CT_DATA_MESSAGE_MAX - 64;
    if (fits) {
        a->bytes = sizeof *a + len;
        size_t before = atomic_fetch_add_explicit(&the.asked_bytes, a->bytes, memory_order_relaxed);
        fits = before + a->bytes <= CT_FAMILY_ASKED_MAX;
    }
    pmix_status_t rc = fits ? the.post(pmix_family_send_ask, a) : PMIX_ERR_OUT_OF_RESOURCE;
    if (rc != PMIX_SUCCESS) {
        pmix_family_free_ask(a);
    }
    return rc;
}

static void pmix_family_add_proc(struct evbuffer *body, const pmix_proc_t *proc)
{
    char nspace[PMIX_MAX_NSLEN + 1];
    snprintf(nspace, sizeof nspace, "%.*s", PMIX_MAX_NSLEN, proc->nspace);
    ct_pack_text(body, nspace);
    ct_pack_u32(body, proc->rank == PMIX_RANK_WILDCARD ? CT_FAMILY_ALL : proc->rank);
}

static int by_name(const void *a, const void *b)
{
    const pmix_proc_t *x = a, *y = b;
    int                names = strncmp(x->nspace, y->nspace, PMIX_MAX_NSLEN);
    return names != 0 ? names : (x->rank > y->rank) - (x->rank < y->rank);
}

static const pmix_info_t *find_limit(const pmix_info_t *info, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (PMIX_CHECK_KEY(&info[i], PMIX_TIMEOUT)) {
            return &info[i];
        }
    }
    return NULL;
}

/* 0 stands for none. */
bool ct_pmix_family_has_limit(const pmix_info_t *info, size_t n)
{
    const pmix_info_t *limit = find_limit(info, n);
    return limit != NULL && limit->value.data.uint32 != 0; /* as libpmix takes it */
}

pmix_status_t ct_pmix_family_meet(const pmix_proc_t *procs, size_t n, enum ct_family_kind kind,
                                  const pmix_info_t *info, size_t ninfo, pmix_op_cbfunc_t done,
                                  void *cbdata)
{
    const pmix_info_t *limit = find_limit(info, ninfo);
    int32_t            limit_s = limit != NULL ? (int32_t)limit->value.data.uint32 : 0;
    if (limit_s < 0) {
        return PMIX_ERR_BAD_PARAM;
    }
    struct ask  *a = make_ask(CT_MSG_FAMILY_MEET, cbdata);
    pmix_proc_t *sorted = calloc(n + 1, sizeof *sorted);
    if (a == NULL || sorted == NULL) {
        free(sorted);
        if (a != NULL) {
            pmix_family_free_ask(a);
        }
        return PMIX_ERR_NOMEM;
    }
    a->met = done;
    a->connect = kind == CT_FAMILY_CONNECT;
    a->end_ns = limit_s > 0 ? ct_clock_ns() + (uint64_t)limit_s * 1000 * CT_NS_PER_MS : 0;
    memcpy(sorted, procs, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_name);
    ct_pack_u32(a->on.body, kind);
    ct_pack_u32(a->on.body, (uint32_t)n);
    for (size_t i = 0; i < n; i++) {
        pmix_family_add_proc(a->on.body, &sorted[i]);
    }
    free(sorted);
    return pmix_family_end(a);
}

pmix_status_t ct_pmix_family_get(const pmix_proc_t *proc, pmix_modex_cbfunc_t done, void *cbdata)
{
    struct known *about = begin_question(proc->nspace);
    if (about == NULL) { /* nor may an answer come later: see struct known */
        return PMIX_ERR_NOT_FOUND;
    }
    struct ask *a = make_ask(CT_MSG_FAMILY_GET, cbdata);
    if (a == NULL) {
        end_question(about);
        return PMIX_ERR_NOMEM;
    }
    a->found = done;
    a->about = about;
    pmix_family_add_proc(a->on.body, proc);
    return pmix_family_end(a);
}

/* ---- answers --------------------------------------------------------------------------------- */

/* Also NULL, with in->bad unset, if the question was given up. */
static struct ask *take_ask(enum ct_msg_type type, struct ct_unpack *in)
{
    uint32_t            number;
    struct ct_pmix_ask *on = ct_pmix_ask_take(&the.asks, type, in, &number);
    if (on == NULL) {
        in->bad |= type != CT_MSG_FAMILY_MEET || number > the.asks.last_number;
        return NULL;
    }
    return CT_CONTAINER_OF(on, struct ask, on);
}

static pmix_status_t pmix_family_in_their_words(uint32_t status)
{
    static const pmix_status_t words[] = {
        [CT_FAMILY_OK] = PMIX_SUCCESS,
        [CT_FAMILY_NOT_FOUND] = PMIX_ERR_NOT_FOUND,
        [CT_FAMILY_LOST] = PMIX_ERR_PROC_TERM_WO_SYNC,
        [CT_FAMILY_NO_MEMORY] = PMIX_ERR_NOMEM,
    };
    return status < CT_ARRAY_LEN(words) ? words[status] : PMIX_ERROR;
}

void ct_pmix_family_take_met(struct ct_unpack *in)
{
    struct ask *a = take_ask(CT_MSG_FAMILY_MEET, in);
    if (a == NULL) {
        return;
    }
    answer_meeting(a, pmix_family_in_their_words(ct_unpack_u32(in)));
}

void ct_pmix_family_take_data(struct ct_unpack *in)
{
    struct ask *a = take_ask(CT_MSG_FAMILY_GET, in);
    if (a == NULL) {
        return;
    }
    pmix_status_t rc = pmix_family_in_their_words(ct_unpack_u32(in));
    char         *copy = rc == PMIX_SUCCESS && in->left > 0 ? malloc(in->left) : NULL;
    if (copy != NULL) {
        memcpy(copy, in->at, in->left);
    } else if (rc == PMIX_SUCCESS && in->left > 0) {
        rc = PMIX_ERR_NOMEM;
    }
    a->found(rc, copy, copy != NULL ? in->left : 0, a->cbdata, free, copy);
    pmix_family_free_ask(a);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

/* libpmix 4.2.2 miscounts the ranks that have come to a meeting if a job that takes part becomes
 * known while some have come. So a job becomes known before any rank here can name it. */
static pmix_status_t make_known(const char *nspace, const struct ct_jobdesc *d)
{
    pthread_mutex_lock(&the.lock);
    bool           known = PMIX_CHECK_NSPACE(nspace, the.nspace) || find_known(nspace) != NULL;
    struct known **more = known ? NULL : realloc(the.known, (the.nknown + 1) * sizeof *more);
    the.known = more != NULL ? more : the.known;
    pthread_mutex_unlock(&the.lock);
    if (known) {
        return PMIX_SUCCESS;
    }
    struct known *k = calloc(1, sizeof *k);
    char         *name = strdup(nspace);
    pmix_status_t rc = more != NULL && k != NULL && name != NULL
                           ? ct_pmix_info_register_other_job(nspace, d)
                           : PMIX_ERR_NOMEM;
    if (rc != PMIX_SUCCESS) {
        free(name);
        free(k);
        return rc;
    }
    k->nspace = name;
    pthread_mutex_lock(&the.lock);
    the.known[the.nknown++] = k; /* there is room: no other thread adds any */
    pthread_mutex_unlock(&the.lock);
    return PMIX_SUCCESS;
}

static void take_one(struct ct_unpack *in, const char **nspace)
{
    struct ct_jobdesc d;
    *nspace = ct_unpack_text(in);
    if (ct_family_job_unpack(&d, in)) {
        in->bad = make_known(*nspace, &d) != PMIX_SUCCESS; /* the node fails, not just a call */
    }
    ct_jobdesc_fini(&d);
}

bool ct_pmix_family_take_all(const void *jobs, size_t len_bytes)
{
    struct ct_unpack in = {.at = jobs, .left = len_bytes};
    const char      *nspace;
    while (in.left > 0 && !in.bad) {
        take_one(&in, &nspace);
    }
    return !in.bad;
}

void ct_pmix_family_take_job(struct ct_unpack *in)
{
    const char      *nspace;
    struct evbuffer *body = evbuffer_new();
    take_one(in, &nspace);
    if (!in->bad) {
        ct_pack_u32(body, the.desc->me);
        ct_pack_text(body, nspace);
        ct_conn_send(the.conn, CT_MSG_FAMILY_KNOWN, body);
    }
    evbuffer_free(body);
}

/* Ranks that ask for the job from now on get the root's answer, that there is no such job: at once
 * (PMIx_Get), or from the root (PMIx_Connect). A job that this node never knew is no fault. */
void ct_pmix_family_take_gone(struct ct_unpack *in)
{
    const char *name = ct_unpack_text(in);
    if (in->bad) {
        return;
    }
    pthread_mutex_lock(&the.lock);
    struct known *k = find_known(name);
    if (k != NULL) {
        k->gone = true;
        k->asked++; /* as of a last question, which ends here */
    }
    pthread_mutex_unlock(&the.lock);
    if (k != NULL) {
        end_question(k);
    }
}
