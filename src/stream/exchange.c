/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages by copy engine, and small ones by kernel: the ends of one operation meet those of its
 * peers (meet.c), then all of it is put on the program's stream. What the stream does, and why it
 * is right, is in stream.h.
 */
#define CT_FOLDER "stream"
#include "stream/chain.h"
#include "stream/direct.h"
#include "stream/exchange.h"
#include "stream/kernel.h"

#include <inttypes.h>

enum { FORK_BYTES = 1 << 20 }; /* below, a second stream costs more than it brings */
enum { PUSHES, OWN };          /* a collective's branches */

/* ---- branches of the program's stream -------------------------------------------------------- */

static void fork_at(struct ct_exchange *x)
{
    ct_exchange_check(x, x->c->cu->cuEventRecord(x->c->fork, x->stream), "cuEventRecord");
}

/* The i-th, from where the program's stream was at fork_at. */
static CUstream branch(struct ct_exchange *x, unsigned i)
{
    CUstream s = ct_stream_branch(x->c, i);
    if (s == NULL) {
        if (x->rc == CTRAN_SUCCESS) {
            x->rc = CTRAN_ERR_OTHER;
            ct_stream_end_all(x->c, x->rc);
        }
        return x->stream;
    }
    ct_exchange_check(x, x->c->cu->cuStreamWaitEvent(s, x->c->fork, CU_EVENT_WAIT_DEFAULT),
                      "cuStreamWaitEvent");
    return s;
}

static void join(struct ct_exchange *x, CUstream s)
{
    if (s != x->stream) {
        ct_exchange_check(x, x->c->cu->cuEventRecord(x->c->join, s), "cuEventRecord");
        ct_exchange_check(x,
                          x->c->cu->cuStreamWaitEvent(x->stream, x->c->join, CU_EVENT_WAIT_DEFAULT),
                          "cuStreamWaitEvent");
    }
}

/* ---- a collective: one row ------------------------------------------------------------------- */

/* The bytes that this rank copies one way. */
static size_t copied(const struct ct_exchange *x, bool send)
{
    size_t bytes = 0;
    for (size_t i = 0; i < x->n; i++) {
        const struct ct_exchange_end *e = &x->ends[i];
        bytes += !e->first && e->msg->send == send ? e->bytes : 0;
    }
    return bytes;
}

static void copy_all(struct ct_exchange *x, bool send, CUstream stream)
{
    for (size_t i = 0; i < x->n; i++) {
        const struct ct_exchange_end *e = &x->ends[i];
        if (!e->first && e->msg->send == send) {
            ct_exchange_copy(x, e, 0, e->bytes, stream);
        }
    }
}

static void one_row(struct ct_exchange *x, struct ct_memops *m)
{
    CUstream pushes = x->stream;
    for (size_t i = 0; i < x->n; i++) {
        if (!x->ends[i].first) {
            ct_memops_take(m, ct_exchange_address(x, &x->ends[i].token->ready));
        }
    }
    ct_exchange_flush(x, m);
    if (ct_min_size(copied(x, true), copied(x, false)) >= FORK_BYTES) { /* both ways at once */
        fork_at(x);
        pushes = branch(x, PUSHES);
    }
    copy_all(x, true, pushes);
    copy_all(x, false, x->stream);
    join(x, pushes);
    for (size_t i = 0; i < x->n; i++) {
        if (!x->ends[i].first) {
            ct_memops_write(m, ct_exchange_address(x, &x->ends[i].token->done), 1);
        }
    }
}

/* ---- sends and receives: a row for each peer and way ----------------------------------------- */

static bool is_alike(const struct ct_exchange_end *a, const struct ct_exchange_end *b)
{
    return a->msg->peer == b->msg->peer && a->msg->send == b->msg->send;
}

/* Whether one launch does all that kernels do, a row by itself: it takes one message of a row. */
static bool is_one_launch(const struct ct_exchange *x)
{
    for (size_t i = 0; i < x->n; i++) {
        for (size_t k = 0; x->ends[i].kernel && k < i; k++) {
            if (x->ends[k].kernel && is_alike(&x->ends[i], &x->ends[k])) {
                return false;
            }
        }
    }
    return true;
}

static size_t kernels(const struct ct_exchange *x)
{
    size_t n = 0;
    for (size_t i = 0; i < x->n; i++) {
        n += x->ends[i].kernel;
    }
    return n;
}

static size_t directs(const struct ct_exchange *x)
{
    size_t n = 0;
    for (size_t i = 0; i < x->n; i++) {
        n += x->ends[i].direct;
    }
    return n;
}

/* Without tokens: kernels have their own. */
static bool is_without(const struct ct_exchange_end *e)
{
    return e->kernel || e->direct;
}

static void launch(struct ct_exchange *x, size_t at, size_t n, CUstream stream, bool alone)
{
    const int rc =
        ct_stream_kernel_exchange(x->c, stream, x->ends + at, n, alone ? x->finishes : NULL, alone);
    x->rc = x->rc == CTRAN_SUCCESS ? rc : x->rc;
}

/* The messages that are copied by a kernel, in whatever order their peers come to them. */
static void launch_direct(struct ct_exchange *x, CUstream stream, bool alone)
{
    const int rc =
        ct_stream_direct_exchange(x->c, stream, x->ends, x->n, alone ? x->finishes : NULL, alone);
    x->rc = x->rc == CTRAN_SUCCESS ? rc : x->rc;
}

/* What this rank's stream has to do for an end in its row: nothing, where another one copies, or
 * one launch does it with others. */
static bool is_work(const struct ct_exchange_end *e, bool one_launch)
{
    return e->kernel ? !one_launch : !e->first && !e->direct;
}

/* Whether end i is the first of its row with work. */
static bool begins_row(const struct ct_exchange *x, size_t i, bool one_launch)
{
    if (!is_work(&x->ends[i], one_launch)) {
        return false;
    }
    for (size_t k = 0; k < i; k++) {
        if (is_work(&x->ends[k], one_launch) && is_alike(&x->ends[i], &x->ends[k])) {
            return false;
        }
    }
    return true;
}

/* The row that begins at `from`. */
static void run_row(struct ct_exchange *x, size_t from, bool one_launch, struct ct_memops *m)
{
    for (size_t i = from; i < x->n; i++) {
        const struct ct_exchange_end *e = &x->ends[i];
        if (!is_work(e, one_launch) || !is_alike(&x->ends[from], e)) {
            continue;
        }
        if (e->kernel) {
            ct_exchange_flush(x, m);
            launch(x, i, 1, m->stream, false);
        } else {
            ct_memops_take(m, ct_exchange_address(x, &e->token->ready));
            ct_exchange_flush(x, m);
            ct_exchange_copy(x, e, 0, e->bytes, m->stream);
            ct_memops_write(m, ct_exchange_address(x, &e->token->done), 1);
        }
    }
}

/* Kernels' messages that go together are a row, those of the two kinds of kernels two. The
 * program's stream keeps the first row; each other one has a branch. */
static void all_rows(struct ct_exchange *x, struct ct_memops *m)
{
    const bool one_launch = is_one_launch(x), launches = one_launch && kernels(x) > 0;
    const bool direct = directs(x) > 0;
    unsigned   nrows = (unsigned)launches + direct, row = nrows;
    size_t     first = x->n;
    for (size_t i = 0; i < x->n; i++) {
        nrows += begins_row(x, i, one_launch);
    }
    ct_exchange_flush(x, m);
    if (nrows > 1) {
        fork_at(x);
    }
    for (size_t i = 0; i < x->n; i++) {
        if (!begins_row(x, i, one_launch)) {
            continue;
        }
        if (row++ == 0) {
            first = i;
        } else {
            struct ct_memops aside;
            ct_memops_init(&aside, x->c->cu, branch(x, row - 2));
            run_row(x, i, one_launch, &aside);
            ct_exchange_flush(x, &aside);
        }
    }
    if (direct) {
        launch_direct(x, launches ? branch(x, 0) : m->stream, false);
    }
    if (launches) {
        launch(x, 0, x->n, m->stream, false);
    } else if (first < x->n) {
        run_row(x, first, one_launch, m);
    }
    if (nrows > 1) {
        ct_exchange_flush(x, m);
    }
    for (row = 1; row < nrows; row++) {
        join(x, ct_stream_branch(x->c, row - 1));
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

static size_t own_bytes(const struct ct_exchange *x)
{
    size_t bytes = 0;
    for (size_t i = 0; i < x->nown; i++) {
        bytes += x->own[i].from != x->own[i].to ? x->own[i].bytes : 0;
    }
    return bytes;
}

/* Where a collective's own block is copied: beside those of its peers if it is long. */
static CUstream own_stream(struct ct_exchange *x)
{
    if (x->call->kind == CT_STREAM_P2P || x->n == 0 || own_bytes(x) < FORK_BYTES) {
        return x->stream;
    }
    fork_at(x);
    return branch(x, OWN);
}

static void copy_own(struct ct_exchange *x, CUstream stream)
{
    for (size_t i = 0; i < x->nown; i++) {
        if (x->own[i].bytes > 0 && x->own[i].from != x->own[i].to) {
            ct_exchange_check(
                x, x->c->cu->cuMemcpyAsync(x->own[i].to, x->own[i].from, x->own[i].bytes, stream),
                "cuMemcpyAsync");
        }
    }
}

static bool is_small(const struct ct_exchange *x)
{
    return x->n > 0 && kernels(x) == x->n && is_one_launch(x);
}

static bool is_direct(const struct ct_exchange *x)
{
    return x->n > 0 && directs(x) == x->n;
}

/* What is nothing but one launch needs no tokens, and counts itself as over. */
static bool submit_launch(struct ct_exchange *x)
{
    const bool small = is_small(x), direct = !small && is_direct(x);
    if (small || direct) {
        copy_own(x, x->stream);
    }
    if (small) {
        launch(x, 0, x->n, x->stream, true);
    } else if (direct) {
        launch_direct(x, x->stream, true);
    }
    return small || direct;
}

/* A chain deals itself with the words that count its pieces. */
static bool is_chain(const struct ct_exchange *x)
{
    return x->call->kind == CT_STREAM_CHAIN;
}

static bool says_ready(const struct ct_exchange *x, const struct ct_exchange_end *e)
{
    return e->first && !is_without(e) && !(is_chain(x) && e->msg->send);
}

static bool waits_done(const struct ct_exchange *x, const struct ct_exchange_end *e)
{
    return e->first && !is_without(e) && !(is_chain(x) && !e->msg->send);
}

void ct_exchange_submit(struct ct_exchange *x)
{
    CUstream         aside = x->stream;
    struct ct_memops m;
    if (submit_launch(x)) {
        return;
    }
    ct_memops_init(&m, x->c->cu, x->stream);
    for (size_t i = 0; i < x->n; i++) {
        const struct ct_exchange_end *e = &x->ends[i];
        if (says_ready(x, e)) {
            ct_memops_write(&m, ct_exchange_address(x, &e->token->ready), 1);
        }
    }
    if (x->nown > 0) {
        ct_exchange_flush(x, &m);
        aside = own_stream(x);
        copy_own(x, aside);
    }
    if (x->call->kind == CT_STREAM_P2P) {
        all_rows(x, &m);
    } else if (is_chain(x)) {
        ct_chain_submit(x, &m);
    } else {
        one_row(x, &m);
    }
    if (aside != x->stream) {
        ct_exchange_flush(x, &m);
        join(x, aside);
    }
    for (size_t i = 0; i < x->n; i++) {
        const struct ct_exchange_end *e = &x->ends[i];
        if (waits_done(x, e)) {
            ct_memops_take(&m, ct_exchange_address(x, &e->token->done));
        }
    }
    if (x->finishes != NULL) {
        ct_memops_write(&m, (CUdeviceptr)x->c->finished, *x->finishes);
    }
    ct_exchange_flush(x, &m);
    if (x->finishes != NULL && m.rc != CUDA_SUCCESS) {
        ct_stream_lose(x->c, x->stream);
    }
}
