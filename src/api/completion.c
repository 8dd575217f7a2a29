/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wait and test in all their forms. Each is one loop over "look at the requests, then drive
 * transfers"; the forms differ in what they look for. A look at many requests misses the cache for
 * each: so the first one comes with the check of the handles, and a call that is after one request
 * looks no further than to the first that is done.
 */
#define CT_FOLDER "api"
#include "api/coll_call.h"

/* What a look at an array of requests is after. */
enum goal { ALL, ANY, SOME };

struct batch {
    struct ct_process *p;
    const char        *call;
    int                count;
    ctran_request_t   *requests;
    int                active; /* requests that are neither null nor inactive */
    int                over;   /* so many from the front on are known to be done, or not active */
    int                found;  /* where not ALL: the first that was seen to be done, -1: none */
};

static bool is_handle(ctran_request_t r)
{
    return (uintptr_t)r >= 0x1000 && (uintptr_t)r % _Alignof(struct ct_request) == 0 &&
           r->magic == CT_REQUEST_MAGIC;
}

/* `out` is where an answer goes that every form of the call has. */
static int check(const char *call, enum goal goal, int count, ctran_request_t requests[],
                 const void *out, struct batch *b)
{
    struct ct_process *p = ct_api_enter(call);
    if (p == NULL) {
        return CTRAN_ERR_OTHER;
    }
    *b = (struct batch){.p = p, .call = call, .count = count, .requests = requests, .found = -1};
    if (count < 0 || (count > 0 && requests == NULL)) {
        return ct_api_raise(
            ct_comm_self(p), count < 0 ? CTRAN_ERR_COUNT : CTRAN_ERR_REQUEST, call,
            count < 0 ? "count is %d, must be >= 0" : "the array of %d requests is NULL", count);
    }
    if (CT_UNLIKELY(out == NULL)) {
        return ct_check_out(ct_comm_self(p), call, out, "flag, index or outcount");
    }
    for (int i = 0; i < count && !(goal == ANY && b->found >= 0); i++) {
        ctran_request_t r = requests[i];
        if (r == CTRAN_REQUEST_NULL) {
            continue;
        }
        if (!is_handle(r)) {
            return ct_api_raise(ct_comm_self(p), CTRAN_ERR_REQUEST, call,
                                "number %d was completed before, or never was a request", i);
        }
        b->active += !r->inactive;
        if (goal != ALL && b->found < 0 && !r->inactive && ct_request_is_done(r)) {
            b->found = i;
        }
    }
    return CTRAN_SUCCESS;
}

static bool is_active(const struct batch *b, int i)
{
    return b->requests[i] != CTRAN_REQUEST_NULL && !b->requests[i]->inactive;
}

/* Takes a finished request from the user: fills the status, frees it, or makes it inactive where it
 * is persistent, and returns its error. */
static int retire(struct batch *b, int i, ctran_status_t *status)
{
    struct ct_request *req = b->requests[i];
    if (CT_UNLIKELY(req->error == CTRAN_ERR_PROC_FAILED_PENDING) && ct_p2p_is_left_pending(req)) {
        ct_api_status(status, NULL);
        return CTRAN_ERR_PROC_FAILED_PENDING; /* the request stays the user's */
    }
    int error = ct_api_outcome(req, status);
    if (req->start != NULL) {
        req->inactive = true;
        return error;
    }
    if (CT_UNLIKELY(req->query != NULL)) {
        const int ended = ct_grequest_end(req); /* the last of its functions has the say */
        error = ended != CTRAN_SUCCESS ? ended : error;
    } else {
        req->release(b->p, req);
    }
    b->requests[i] = CTRAN_REQUEST_NULL;
    return error;
}

/* Each request is looked at until it is done and never again, however often the batch is. */
static bool all_done(struct batch *b)
{
    while (b->over < b->count &&
           (!is_active(b, b->over) || ct_request_is_done(b->requests[b->over]))) {
        b->over++;
    }
    return b->over == b->count;
}

static bool some_done(struct batch *b)
{
    for (int i = 0; i < b->count && b->found < 0; i++) {
        if (is_active(b, i) && ct_request_is_done(b->requests[i])) {
            b->found = i;
        }
    }
    return b->found >= 0;
}

static bool reached(struct batch *b, enum goal goal)
{
    return goal == ALL ? all_done(b) : some_done(b);
}

/* The communicator whose error handler serves request i. */
static struct ct_comm *owner(const struct batch *b, int i)
{
    struct ct_comm *comm = b->requests[i]->owner;
    return comm != NULL ? comm : ct_comm_self(b->p);
}

/* A wait for requests, as it is described once it lasts. */
struct blocked {
    struct ct_blocked   base;
    const struct batch *batch;
};

/* The first request that is not done, with its peer and tag if it is a message. */
static void fill(struct ct_blocked *base)
{
    const struct batch *b = CT_CONTAINER_OF(base, struct blocked, base)->batch;
    for (int i = b->over; i < b->count; i++) {
        if (is_active(b, i) && !ct_request_is_done(b->requests[i])) {
            struct ct_comm *comm = owner(b, i);
            base->comm = comm->id;
            ct_api_describe_request(b->requests[i], comm, &base->peer, &base->tag);
            return;
        }
    }
}

/* All that is not done. */
static void list(struct ct_blocked *base)
{
    const struct batch *b = CT_CONTAINER_OF(base, struct blocked, base)->batch;
    for (int i = b->over; i < b->count; i++) {
        if (is_active(b, i) && !ct_request_is_done(b->requests[i])) {
            ct_api_list_request(base, b->requests[i], owner(b, i));
        }
    }
}

static void block(struct blocked *x, const struct batch *b)
{
    x->batch = b;
    ct_api_block(&x->base, b->call, ct_comm_self(b->p), CT_BLOCKED_NONE, CT_BLOCKED_NONE);
    x->base.fill = fill;
    x->base.list = list;
}

static void wait_for_all(struct batch *b)
{
    struct ct_waiter w;
    struct blocked   blocked;
    const size_t     n = (size_t)b->count;
    if (all_done(b)) {
        return;
    }
    block(&blocked, b);
    ct_waiter_init(&w, true);
    ct_waiter_join(b->p, &w, b->requests, n);
    while (!all_done(b)) {
        ct_waiter_wait(b->p, &w);
    }
    ct_waiter_part(b->p, &w, b->requests, n);
    ct_blocked_end(&blocked.base);
}

/* For one at least. What is pending tells when it ends, so that a wait for one of many looks at
 * them but twice, however long it takes. */
static void wait_for_some(struct batch *b)
{
    struct ct_waiter w;
    struct blocked   blocked;
    const size_t     n = (size_t)b->count;
    if (b->found >= 0 || (ct_domain_poke(b->p) && some_done(b))) {
        return; /* often what ends it is there already */
    }
    block(&blocked, b);
    ct_waiter_init(&w, false);
    const bool all_tell = ct_waiter_join_(b->p, &w, b->requests, n) == (uint32_t)b->active;
    while (all_tell && !ct_waiter_is_told(&w)) {
        ct_waiter_wait(b->p, &w);
    }
    const size_t done = ct_waiter_part_(b->p, &w, b->requests, n);
    ct_blocked_end(&blocked.base);
    if (all_tell) {
        b->found = (int)done;
    } else {
        (void)some_done(b); /* what was done before it could tell */
    }
}

/* A test looks, drives transfers once, and looks again. */
static bool test_for(struct batch *b, enum goal goal)
{
    if (goal == ALL ? all_done(b) : b->found >= 0) {
        return true;
    }
    return ct_domain_poll_once(b->p) && reached(b, goal);
}

/* ---- one ------------------------------------------------------------------------------------- */

static int retire_one(struct batch *b, int i, ctran_status_t *status)
{
    struct ct_comm *comm = owner(b, i);
    ct_comm_hold(comm); /* the handler is asked after the request has let go of it */
    int rc = ct_api_pass(comm, retire(b, i, status), b->call);
    ct_comm_drop(comm);
    return rc;
}

int ctran_wait(ctran_request_t *request, ctran_status_t *status)
{
    struct batch b;
    int          rc = check("ctran_wait", ALL, 1, request, request, &b);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (b.active == 0) {
        ct_api_status(status, NULL);
        return CTRAN_SUCCESS;
    }
    wait_for_all(&b);
    return retire_one(&b, 0, status);
}

int ctran_test(ctran_request_t *request, int *flag, ctran_status_t *status)
{
    struct batch b;
    int          rc = check("ctran_test", ALL, 1, request, flag, &b);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    *flag = test_for(&b, ALL);
    if (b.active == 0) {
        ct_api_status(status, NULL);
        return CTRAN_SUCCESS;
    }
    return *flag ? retire_one(&b, 0, status) : CTRAN_SUCCESS;
}

/* ---- all ------------------------------------------------------------------------------------- */

static ctran_status_t *status_at(ctran_status_t statuses[], int i)
{
    return statuses != CTRAN_STATUSES_IGNORE ? &statuses[i] : CTRAN_STATUS_IGNORE;
}

static void set_error(ctran_status_t statuses[], int i, int error)
{
    if (statuses != CTRAN_STATUSES_IGNORE) {
        statuses[i].CTRAN_ERROR = error;
    }
}

/* Retires request i into place `at` of the statuses; on its error *worst becomes IN_STATUS, and
 * *comm the communicator that answers (held). */
static void retire_into(struct batch *b, int i, ctran_status_t statuses[], int at, int *worst,
                        struct ct_comm **comm)
{
    if ((b->requests[i]->error != CTRAN_SUCCESS || b->requests[i]->query != NULL) &&
        *comm == NULL) {
        *comm = owner(b, i);
        ct_comm_hold(*comm);
    }
    int error = retire(b, i, status_at(statuses, at));
    set_error(statuses, at, error);
    *worst = error != CTRAN_SUCCESS ? CTRAN_ERR_IN_STATUS : *worst;
}

static int answer(struct batch *b, int worst, struct ct_comm *comm)
{
    if (comm == NULL) {
        return worst;
    }
    int rc = ct_api_pass(comm, worst, b->call);
    ct_comm_drop(comm);
    return rc;
}

static int retire_all(struct batch *b, ctran_status_t statuses[])
{
    int             worst = CTRAN_SUCCESS;
    struct ct_comm *comm = NULL;
    for (int i = 0; i < b->count; i++) {
        if (!is_active(b, i)) {
            ct_api_status(status_at(statuses, i), NULL);
            set_error(statuses, i, CTRAN_SUCCESS);
        } else {
            retire_into(b, i, statuses, i, &worst, &comm);
        }
    }
    return answer(b, worst, comm);
}

int ctran_waitall(int count, ctran_request_t requests[], ctran_status_t statuses[])
{
    struct batch b;
    int          rc = check("ctran_waitall", ALL, count, requests, &b, &b);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    wait_for_all(&b);
    return retire_all(&b, statuses);
}

int ctran_testall(int count, ctran_request_t requests[], int *flag, ctran_status_t statuses[])
{
    struct batch b;
    int          rc = check("ctran_testall", ALL, count, requests, flag, &b);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    *flag = test_for(&b, ALL);
    return *flag ? retire_all(&b, statuses) : CTRAN_SUCCESS;
}

/* ---- any ------------------------------------------------------------------------------------- */

static int retire_found(struct batch *b, int *index, ctran_status_t *status)
{
    if (b->found >= 0) {
        *index = b->found;
        return retire_one(b, b->found, status);
    }
    *index = CTRAN_UNDEFINED;
    ct_api_status(status, NULL);
    return CTRAN_SUCCESS;
}

int ctran_waitany(int count, ctran_request_t requests[], int *index, ctran_status_t *status)
{
    struct batch b;
    int          rc = check("ctran_waitany", ANY, count, requests, index, &b);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (b.active > 0) {
        wait_for_some(&b);
    }
    return retire_found(&b, index, status);
}

int ctran_testany(int count, ctran_request_t requests[], int *index, int *flag,
                  ctran_status_t *status)
{
    struct batch b;
    int          rc = check("ctran_testany", ANY, count, requests, index != NULL ? flag : NULL, &b);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    *flag = b.active == 0 || test_for(&b, ANY);
    *index = CTRAN_UNDEFINED;
    return *flag ? retire_found(&b, index, status) : CTRAN_SUCCESS;
}

/* ---- some ------------------------------------------------------------------------------------ */

static int retire_some(struct batch *b, int *outcount, int indices[], ctran_status_t statuses[])
{
    int             worst = CTRAN_SUCCESS, n = 0;
    struct ct_comm *comm = NULL;
    for (int i = b->found; i >= 0 && i < b->count; i++) {
        if (is_active(b, i) && ct_request_is_done(b->requests[i])) {
            indices[n] = i;
            retire_into(b, i, statuses, n, &worst, &comm);
            n++;
        }
    }
    *outcount = n;
    return answer(b, worst, comm);
}

static int some(const char *call, bool blocking, int incount, ctran_request_t requests[],
                int *outcount, int indices[], ctran_status_t statuses[])
{
    struct batch b;
    int          rc = check(call, SOME, incount, requests, outcount, &b);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (b.active == 0) {
        *outcount = CTRAN_UNDEFINED;
        return CTRAN_SUCCESS;
    }
    if (indices == NULL) {
        return ct_check_out(ct_comm_self(b.p), call, indices, "indices");
    }
    if (blocking) {
        wait_for_some(&b);
    } else {
        (void)test_for(&b, SOME); /* none done is an answer, too */
    }
    return retire_some(&b, outcount, indices, statuses);
}

int ctran_waitsome(int incount, ctran_request_t requests[], int *outcount, int indices[],
                   ctran_status_t statuses[])
{
    return some("ctran_waitsome", true, incount, requests, outcount, indices, statuses);
}

int ctran_testsome(int incount, ctran_request_t requests[], int *outcount, int indices[],
                   ctran_status_t statuses[])
{
    return some("ctran_testsome", false, incount, requests, outcount, indices, statuses);
}

/* A started send ends only when all is marked ready, for which the program needs the handle. */
static int check_parts(struct batch *b, struct ct_request *req)
{
    struct ct_part *part = req->inactive ? NULL : ct_part_of(req);
    uint32_t        which;
    if (part == NULL || ct_part_is_recv(part) || ct_part_all_ready(part, &which)) {
        return CTRAN_SUCCESS;
    }
    return ct_api_raise(owner(b, 0), CTRAN_ERR_REQUEST, b->call,
                        "partition %u of the started send has not been marked ready, and could "
                        "not be any more: mark all ready first (ctran_pready)",
                        which);
}

int ctran_request_free(ctran_request_t *request)
{
    struct batch b;
    int          rc = check("ctran_request_free", ALL, 1, request, request, &b);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (*request == CTRAN_REQUEST_NULL) {
        return ct_api_raise(ct_comm_self(b.p), CTRAN_ERR_REQUEST, b.call,
                            "it is CTRAN_REQUEST_NULL");
    }
    struct ct_request *req = *request;
    if (ct_call_is_bound(req)) {
        return ct_api_raise(owner(&b, 0), CTRAN_ERR_REQUEST, b.call,
                            "its collective is under way: complete it first");
    }
    rc = check_parts(&b, req);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    *request = CTRAN_REQUEST_NULL;
    ct_request_let_go(b.p, req);
    return CTRAN_SUCCESS;
}

/* ---- without completing ---------------------------------------------------------------------- */

int ctran_request_get_status(ctran_request_t request, int *flag, ctran_status_t *status)
{
    struct batch b;
    int          rc = check("ctran_request_get_status", ALL, 1, &request, flag, &b);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    *flag = test_for(&b, ALL);
    if (*flag && b.active > 0) {
        (void)ct_api_outcome(request, status); /* the error is told by what completes it */
    } else if (*flag) {
        ct_api_status(status, NULL);
    }
    return CTRAN_SUCCESS;
}

/* What a status says of request i, which stays as it is; its error is told by what completes
 * it, and in the status. */
static void describe(struct batch *b, int i, ctran_status_t statuses[], int at)
{
    int error = CTRAN_SUCCESS;
    if (is_active(b, i)) {
        error = ct_api_outcome(b->requests[i], status_at(statuses, at));
    } else {
        ct_api_status(status_at(statuses, at), NULL);
    }
    set_error(statuses, at, error);
}

int ctran_request_get_status_all(int count, const ctran_request_t requests[], int *flag,
                                 ctran_status_t statuses[])
{
    struct batch b;
    int          rc =
        check("ctran_request_get_status_all", ALL, count, (ctran_request_t *)requests, flag, &b);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    *flag = test_for(&b, ALL);
    for (int i = 0; *flag && i < count; i++) {
        describe(&b, i, statuses, i);
    }
    return CTRAN_SUCCESS;
}

int ctran_request_get_status_any(int count, const ctran_request_t requests[], int *index, int *flag,
                                 ctran_status_t *status)
{
    struct batch b;
    int          rc = check("ctran_request_get_status_any", ANY, count, (ctran_request_t *)requests,
                   index != NULL ? flag : NULL, &b);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    *index = CTRAN_UNDEFINED;
    *flag = b.active == 0 || test_for(&b, ANY);
    if (b.active == 0) {
        ct_api_status(status, NULL);
        return CTRAN_SUCCESS;
    }
    if (*flag) {
        *index = b.found;
        (void)ct_api_outcome(b.requests[b.found], status);
    }
    return CTRAN_SUCCESS;
}

int ctran_request_get_status_some(int incount, const ctran_request_t requests[], int *outcount,
                                  int indices[], ctran_status_t statuses[])
{
    static const char call[] = "ctran_request_get_status_some";
    struct batch      b;
    int n = 0, rc = check(call, SOME, incount, (ctran_request_t *)requests, outcount, &b);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (b.active > 0 && indices == NULL) {
        return ct_check_out(ct_comm_self(b.p), call, indices, "indices");
    }
    if (!all_done(&b)) {
        /* Also where some are done: those stay, and others want to follow. */
        (void)ct_domain_poll_once(b.p);
    }
    for (int i = 0; i < incount; i++) {
        if (is_active(&b, i) && ct_request_is_done(b.requests[i])) {
            indices[n] = i;
            describe(&b, i, statuses, n++);
        }
    }
    *outcount = b.active > 0 ? n : CTRAN_UNDEFINED;
    return CTRAN_SUCCESS;
}

int ctran_cancel(ctran_request_t *request)
{
    struct batch b;
    int          rc = check("ctran_cancel", ALL, 1, request, request, &b);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (b.active == 0 || (*request)->cancel == NULL) {
        return ct_api_raise(ct_comm_self(b.p), CTRAN_ERR_REQUEST, b.call, "%s",
                            b.active == 0 ? "it is null or inactive"
                                          : "its operation cannot be cancelled");
    }
    return ct_api_pass(owner(&b, 0), (*request)->cancel(*request), b.call);
}
