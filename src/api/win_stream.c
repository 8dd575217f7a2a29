/* SPDX-License-Identifier: BSD-3-Clause */
/* Stream-ordered calls about windows: their checks, and windows that are made for them. */
#define CT_FOLDER "api"
#include <inttypes.h>

#include "api/stream.h"
#include "api/win.h"

int ct_win_open_streams(struct ct_win *win)
{
    return (win->hints & CT_WIN_STREAMS) != 0 ? ct_stream_window_open(win->comm) : CTRAN_SUCCESS;
}

void ct_win_settle_streams(struct ct_win *win)
{
    ct_stream_window_settle(win->comm);
}

/* A window that is for streams. */
static int check_win(const char *call, ctran_win_t handle, struct ct_win **win)
{
    int rc = ct_check_win(call, handle, win);
    if (rc == CTRAN_SUCCESS && ((*win)->hints & CT_WIN_STREAMS) == 0) {
        rc = ct_api_raise((*win)->comm, CTRAN_ERR_UNSUPPORTED_OPERATION, call,
                          "the window was not made for streams: all ranks give ctran_win_create or "
                          "ctran_win_allocate an info with ctran_stream_ordered=true");
    }
    return rc;
}

/* ---- puts and gets --------------------------------------------------------------------------- */

struct side {
    const void      *addr;
    ctran_count_t    count;
    ctran_datatype_t type;
};

/* Where the target's elements are, from the beginning of its memory on. */
static int check_place(struct ct_win *win, const char *call, const struct ct_win_peer *peer,
                       ctran_aint_t disp, const struct ct_span *there, uint64_t *at)
{
    int64_t first, end;
    if (__builtin_mul_overflow(disp, peer->disp_unit, &first) ||
        __builtin_add_overflow(first, there->type->true_lb_bytes, &first) ||
        __builtin_add_overflow(first, (int64_t)there->bytes, &end) || disp < 0 || first < 0 ||
        (uint64_t)end > peer->size_bytes) {
        return ct_api_raise(win->comm, CTRAN_ERR_RMA_RANGE, call,
                            "%zu bytes from displacement %td on, in units of %td, are not within "
                            "the %" PRIu64 " bytes of rank %td",
                            there->bytes, disp, peer->disp_unit, peer->size_bytes,
                            peer - win->peers);
    }
    *at = (uint64_t)first;
    return CTRAN_SUCCESS;
}

static int check_reach(struct ct_win *win, const char *call, const struct ct_win_peer *peer,
                       const void *here)
{
    if (peer->device == NULL) {
        return ct_api_raise(win->comm, CTRAN_ERR_UNSUPPORTED_OPERATION, call,
                            "the memory of rank %td is none of a GPU that this rank's GPU reaches: "
                            "see ctran_info --gpu, CTRAN_GPU_PEER",
                            peer - win->peers);
    }
    if (ct_gpu_kind_of(win->p->gpu, here, NULL) == CT_GPU_HOST) {
        return ct_api_raise(win->comm, CTRAN_ERR_BUFFER, call,
                            "the buffer at %p is in ordinary memory of the host: a stream copies "
                            "memory of a GPU, or page-locked memory, see ctran_mem_register",
                            here);
    }
    return CTRAN_SUCCESS;
}

/* Both sides, without gaps and of one length. */
static int check_sides(struct ct_win *win, const char *call, const struct side *origin,
                       const struct side *target, struct ct_span *here, struct ct_span *there)
{
    int rc = ct_check_span(win->comm, call, origin->addr, origin->count, origin->type, here);
    rc = rc == CTRAN_SUCCESS ? ct_check_count(win->comm, call, target->count, target->type, there)
                             : rc;
    rc = rc == CTRAN_SUCCESS ? ct_check_dense(win->comm, call, here) : rc;
    rc = rc == CTRAN_SUCCESS ? ct_check_dense(win->comm, call, there) : rc;
    if (rc == CTRAN_SUCCESS && here->bytes != there->bytes) {
        rc = ct_api_raise(win->comm, CTRAN_ERR_COUNT, call,
                          "one side has %zu bytes of data, the other one %zu", here->bytes,
                          there->bytes);
    }
    return rc;
}

static int transfer(struct ct_stream_rma *op, const struct side *origin, int target,
                    ctran_aint_t disp, const struct side *to, ctran_win_t handle,
                    ctran_stream_t stream)
{
    struct ct_win *win;
    struct ct_span here, there;
    uint64_t       at = 0;
    int            rc = check_win(op->name, handle, &win);
    if (rc != CTRAN_SUCCESS || target == CTRAN_PROC_NULL) {
        return rc;
    }
    rc = ct_check_target(win, op->name, target);
    rc = rc == CTRAN_SUCCESS ? check_sides(win, op->name, origin, to, &here, &there) : rc;
    if (rc != CTRAN_SUCCESS || (here.bytes == 0 && !op->signals)) {
        return rc;
    }
    const struct ct_win_peer *peer = &win->peers[target];
    op->peer = (uint32_t)target;
    op->bytes = here.bytes;
    op->here = ct_dense_begin(here.buf, &here);
    if (op->bytes > 0) {
        rc = check_place(win, op->name, peer, disp, &there, &at);
        rc = rc == CTRAN_SUCCESS ? check_reach(win, op->name, peer, op->here) : rc;
        op->there = (CUdeviceptr)peer->device + at;
    }
    return rc == CTRAN_SUCCESS
               ? ct_api_pass(win->comm, ct_stream_window_put(win->comm, stream, op), op->name)
               : rc;
}

int ctran_put_enqueue(const void *origin_addr, ctran_count_t origin_count,
                      ctran_datatype_t origin_datatype, int target_rank, ctran_aint_t target_disp,
                      ctran_count_t target_count, ctran_datatype_t target_datatype, ctran_win_t win,
                      ctran_stream_t stream)
{
    struct ct_stream_rma op = {.name = "ctran_put_enqueue", .kind = CT_STREAM_PUT};
    return transfer(&op, &(struct side){origin_addr, origin_count, origin_datatype}, target_rank,
                    target_disp, &(struct side){NULL, target_count, target_datatype}, win, stream);
}

int ctran_get_enqueue(void *origin_addr, ctran_count_t origin_count,
                      ctran_datatype_t origin_datatype, int target_rank, ctran_aint_t target_disp,
                      ctran_count_t target_count, ctran_datatype_t target_datatype, ctran_win_t win,
                      ctran_stream_t stream)
{
    struct ct_stream_rma op = {.name = "ctran_get_enqueue", .kind = CT_STREAM_GET};
    return transfer(&op, &(struct side){origin_addr, origin_count, origin_datatype}, target_rank,
                    target_disp, &(struct side){NULL, target_count, target_datatype}, win, stream);
}

int ctran_put_signal_enqueue(const void *origin_addr, ctran_count_t origin_count,
                             ctran_datatype_t origin_datatype, int target_rank,
                             ctran_aint_t target_disp, ctran_count_t target_count,
                             ctran_datatype_t target_datatype, ctran_win_t win,
                             ctran_stream_t stream)
{
    struct ct_stream_rma op = {
        .name = "ctran_put_signal_enqueue", .kind = CT_STREAM_PUT, .signals = true};
    return transfer(&op, &(struct side){origin_addr, origin_count, origin_datatype}, target_rank,
                    target_disp, &(struct side){NULL, target_count, target_datatype}, win, stream);
}

/* ---- waits ----------------------------------------------------------------------------------- */

int ctran_wait_signal_enqueue(int source_rank, ctran_count_t count, ctran_win_t handle,
                              ctran_stream_t stream)
{
    static const char    call[] = "ctran_wait_signal_enqueue";
    struct ct_stream_rma op = {.name = call, .kind = CT_STREAM_AWAIT};
    struct ct_win       *win;
    int                  rc = check_win(call, handle, &win);
    if (rc != CTRAN_SUCCESS || source_rank == CTRAN_PROC_NULL) {
        return rc;
    }
    rc = ct_check_target(win, call, source_rank);
    if (rc == CTRAN_SUCCESS && (count < 0 || count > CT_STREAM_SIGNALS)) {
        rc = ct_api_raise(win->comm, CTRAN_ERR_COUNT, call,
                          "count is %" PRId64 ", must be from 0 to %d", count, CT_STREAM_SIGNALS);
    }
    if (rc != CTRAN_SUCCESS || count == 0) {
        return rc;
    }
    op.peer = (uint32_t)source_rank;
    op.count = (uint32_t)count;
    return ct_api_pass(win->comm, ct_stream_window_put(win->comm, stream, &op), call);
}
