/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of windows in bottom_calls.def: what a rank sends is put into the next one's window, and
 * what the rank before has put is taken out of the own one. The call that the line names does one
 * of the two.
 */
#include "bottom.h"

static ctran_count_t bytes_of(const struct end *e)
{
    ctran_count_t size;
    OK(ctran_type_size(e->type, &size));
    return size * e->count;
}

/* Elements without gaps of the same scalars. */
static ctran_datatype_t dense_type(const struct end *e)
{
    return layout_type(e->layout == SINGLE ? SINGLE : DENSE, e->scalar, 0);
}

enum way { PUT, RPUT, PUT_SIGNAL, ACCUMULATE, RACCUMULATE };
enum { GET, RGET, GET_ACCUMULATE, RGET_ACCUMULATE };

static void put(struct args *a, enum way way, ctran_win_t win)
{
    const struct end   *s = &a->send;
    const ctran_count_t n = bytes_of(s);
    ctran_datatype_t    type = dense_type(s);
    ctran_request_t     req = CTRAN_REQUEST_NULL;
    switch (way) {
    case PUT:
        OK(ctran_put(s->buf, s->count, s->type, a->right, 0, n, CTRAN_BYTE, win));
        break;
    case RPUT:
        OK(ctran_rput(s->buf, s->count, s->type, a->right, 0, n, CTRAN_BYTE, win, &req));
        break;
    case PUT_SIGNAL:
        OK(ctran_put_signal(s->buf, s->count, s->type, a->right, 0, n, CTRAN_BYTE, win));
        break;
    case ACCUMULATE:
        OK(ctran_accumulate(s->buf, s->count, s->type, a->right, 0, s->count, type, CTRAN_REPLACE,
                            win));
        break;
    case RACCUMULATE:
        OK(ctran_raccumulate(s->buf, s->count, s->type, a->right, 0, s->count, type, CTRAN_REPLACE,
                             win, &req));
        break;
    }
    OK(ctran_wait(&req, CTRAN_STATUS_IGNORE));
    OK(ctran_type_free(&type));
}

static void get(struct args *a, int way, int me, ctran_win_t win)
{
    const struct end   *r = &a->recv;
    const ctran_count_t n = bytes_of(r);
    ctran_datatype_t    type = dense_type(r);
    ctran_request_t     req = CTRAN_REQUEST_NULL;
    switch (way) {
    case GET:
        OK(ctran_get(r->buf, r->count, r->type, me, 0, n, CTRAN_BYTE, win));
        break;
    case RGET:
        OK(ctran_rget(r->buf, r->count, r->type, me, 0, n, CTRAN_BYTE, win, &req));
        break;
    case GET_ACCUMULATE:
        OK(ctran_get_accumulate(NULL, 0, CTRAN_BYTE, r->buf, r->count, r->type, me, 0, r->count,
                                type, CTRAN_NO_OP, win));
        break;
    default:
        OK(ctran_rget_accumulate(NULL, 0, CTRAN_BYTE, r->buf, r->count, r->type, me, 0, r->count,
                                 type, CTRAN_NO_OP, win, &req));
    }
    OK(ctran_wait(&req, CTRAN_STATUS_IGNORE));
    OK(ctran_type_free(&type));
}

static int through_window(struct args *a, enum way in, int out)
{
    ctran_win_t win;
    char       *base;
    int         me;
    OK(ctran_comm_rank(a->comm, &me));
    OK(ctran_win_allocate((ctran_aint_t)bytes_of(&a->recv), 1, CTRAN_INFO_NULL, a->comm, &base,
                          &win));
    OK(ctran_win_lock_all(0, win));
    put(a, in, win);
    OK(ctran_win_flush_all(win));
    OK(ctran_barrier(a->comm));
    get(a, out, me, win);
    OK(ctran_win_unlock_all(win));
    OK(ctran_win_free(&win));
    return CTRAN_SUCCESS;
}

int hand_put(struct args *a)
{
    return through_window(a, PUT, GET);
}

int hand_rput(struct args *a)
{
    return through_window(a, RPUT, GET);
}

int hand_put_signal(struct args *a)
{
    return through_window(a, PUT_SIGNAL, GET);
}

int hand_accumulate(struct args *a)
{
    return through_window(a, ACCUMULATE, GET);
}

int hand_raccumulate(struct args *a)
{
    return through_window(a, RACCUMULATE, GET);
}

int hand_rget(struct args *a)
{
    return through_window(a, PUT, RGET);
}

int hand_get_accumulate(struct args *a)
{
    return through_window(a, PUT, GET_ACCUMULATE);
}

int hand_rget_accumulate(struct args *a)
{
    return through_window(a, PUT, RGET_ACCUMULATE);
}
