/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the cases of bottom.h: the same memory, the same contents, both names. */
#include "bottom.h"

#include "device.h"
#include "gpu.h"

/* The contents of a case's memory. */
struct image {
    char *send, *recv;
};

static void wait_for(struct args *a)
{
    OK(ctran_wait(&a->request, CTRAN_STATUS_IGNORE));
}

/* The call, until it is over. */
static void carry_out(struct args *a)
{
    check_rc(__FILE__, __LINE__, a->row->name, CTRAN_SUCCESS, a->row->go(a));
    switch (a->row->form) {
    case NOW:
        break;
    case LATER:
        wait_for(a);
        break;
    case KEPT:
        for (int i = 0; i < a->row->starts; i++) {
            OK(ctran_start(&a->request));
            wait_for(a);
        }
        OK(ctran_request_free(&a->request));
        break;
    case ON_STREAM:
    case BY_KERNEL:
        CU(cuStreamSynchronize((CUstream)a->stream));
        break;
    }
}

/* With what the others need of this rank for a message on the ring. */
static void carry_out_on_ring(struct args *a)
{
    ctran_request_t other = CTRAN_REQUEST_NULL;
    if (a->shape->posted) {
        OK(ctran_irecv(a->recv.buf, a->recv.count, a->recv.type, a->left, 0, a->comm, &other));
        OK(ctran_barrier(a->comm)); /* a ready send wants the receive to be there */
    } else if (a->shape->awaited) {
        OK(ctran_isend(a->send.buf, a->send.count, a->send.type, a->right, 0, a->comm, &other));
    }
    carry_out(a);
    OK(ctran_wait(&other, CTRAN_STATUS_IGNORE));
}

static void fill(struct end *e, uint64_t key)
{
    char *host = malloc(e->bytes);
    EXPECT(host != NULL);
    scalars_fill(host, e->bytes, e->scalar, key);
    mem_put(e->memory_kind, e->memory, host, e->bytes);
    free(host);
}

static char *contents(const struct end *e)
{
    char *host = malloc(e->bytes);
    EXPECT(host != NULL);
    mem_get(e->memory_kind, host, e->memory, e->bytes);
    return host;
}

static void fill_both(struct args *a)
{
    fill(&a->send, key_of(check_rank, 0, 0, 0));
    fill(&a->recv, key_of(check_rank, 1, 0, 0));
}

static struct image run(struct args *a, bool absolute, int commute)
{
    a->position = 0;
    ends_name(a, absolute);
    a->op = ends_op(a, commute);
    fill_both(a);
    carry_out_on_ring(a);
    OK(ctran_op_free(&a->op));
    const struct image found = {contents(&a->send), contents(&a->recv)};
    ends_unname(a);
    return found;
}

static void compare(const struct args *a, const char *what, const struct end *e, const char *wanted,
                    const char *found)
{
    for (size_t i = 0; i < e->bytes; i++) {
        if (wanted[i] != found[i]) {
            check_fail(__FILE__, __LINE__,
                       "%s%s, %s: byte %zu of %zu, %td behind the first element, is %d with "
                       "ordinary buffers and %d with CTRAN_BOTTOM (layout %d, %" PRId64
                       " elements in the first of %d blocks)",
                       a->row->name, a->in_place ? " in place" : "", what, i, e->bytes,
                       e->memory + i - e->at, wanted[i], found[i], e->layout, e->count, e->n);
        }
    }
}

bool case_run(struct args *a)
{
    const int    commute = rng_below(&a->common, 2);
    struct image ordinary = run(a, false, commute), bottom = run(a, true, commute);
    compare(a, "what is sent", &a->send, ordinary.send, bottom.send);
    compare(a, "the result", &a->recv, ordinary.recv, bottom.recv);
    fill_both(a);
    char      *before = contents(&a->recv);
    const bool changed = memcmp(before, ordinary.recv, a->recv.bytes) != 0;
    free(before);
    free(ordinary.send);
    free(ordinary.recv);
    free(bottom.send);
    free(bottom.recv);
    return changed;
}
