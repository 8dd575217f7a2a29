/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies by the kinds of both sides. Between memory that the CPU reaches it is memcpy; else the
 * device whose memory it is copies on a lane (gpu.h), which nobody else uses meanwhile, and the end
 * is seen by its event.
 */
#define CT_FOLDER "mem"
#include <string.h>

#include "mem/own.h"

/* The two sides of a copy. */
struct sides {
    bool to_device, from_device;
    int  ordinal; /* the device that copies */
};

static bool is_device(enum ct_gpu_kind kind)
{
    return kind == CT_GPU_DEVICE || kind == CT_GPU_MANAGED;
}

/* False: the CPU copies. */
static bool find_sides(const struct ct_process *p, const void *to, const void *from,
                       struct sides *s)
{
    int theirs, ours;
    if (CT_LIKELY(p->gpu == NULL)) {
        return false;
    }
    s->to_device = is_device(ct_gpu_kind_of(p->gpu, to, &theirs));
    s->from_device = is_device(ct_gpu_kind_of(p->gpu, from, &ours));
    s->ordinal = s->from_device ? ours : theirs; /* the side that is read: it knows what is there */
    return s->to_device || s->from_device;
}

static int enqueue(struct ct_gpu *g, const struct sides *s, CUstream stream, void *to,
                   const void *from, size_t len)
{
    const char        what[] = "copying memory";
    const CUdeviceptr dst = (uintptr_t)to, src = (uintptr_t)from;
    if (!s->from_device) {
        return CT_GPU_TRY(g, what, cuMemcpyHtoDAsync, (dst, from, len, stream));
    }
    if (!s->to_device) {
        return CT_GPU_TRY(g, what, cuMemcpyDtoHAsync, (to, src, len, stream));
    }
    return CT_GPU_TRY(g, what, cuMemcpyAsync, (dst, src, len, stream));
}

int ct_mem_move_start(struct ct_process *p, struct ct_mem_move *move, void *to, const void *from,
                      size_t len_bytes)
{
    struct sides        s;
    struct ct_gpu_visit v;
    move->lane = NULL;
    if (len_bytes == 0) {
        return CTRAN_SUCCESS;
    }
    if (!find_sides(p, to, from, &s)) {
        memcpy(to, from, len_bytes);
        return CTRAN_SUCCESS;
    }
    int rc = ct_gpu_lane_get(p->gpu, s.ordinal, &move->lane);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_gpu_enter(p->gpu, s.ordinal, &v);
    if (rc == CTRAN_SUCCESS) {
        rc = enqueue(p->gpu, &s, move->lane->stream, to, from, len_bytes);
        rc = rc == CTRAN_SUCCESS ? ct_gpu_lane_mark(p->gpu, move->lane) : rc;
        ct_gpu_leave(p->gpu, &v);
    }
    if (rc != CTRAN_SUCCESS) {
        ct_gpu_lane_put(p->gpu, move->lane);
        move->lane = NULL;
    }
    return rc;
}

static void end_move(struct ct_process *p, struct ct_mem_move *move)
{
    ct_gpu_lane_put(p->gpu, move->lane);
    move->lane = NULL;
}

int ct_mem_move_test(struct ct_process *p, struct ct_mem_move *move)
{
    if (move->lane == NULL) {
        return CTRAN_SUCCESS;
    }
    const int rc = ct_gpu_lane_test(p->gpu, move->lane);
    if (rc != CT_AGAIN) {
        end_move(p, move);
    }
    return rc;
}

int ct_mem_move_wait(struct ct_process *p, struct ct_mem_move *move)
{
    if (move->lane == NULL) {
        return CTRAN_SUCCESS;
    }
    const int rc = ct_gpu_lane_wait(p->gpu, move->lane);
    end_move(p, move);
    return rc;
}

int ct_mem_copy(struct ct_process *p, void *to, const void *from, size_t len_bytes)
{
    struct ct_mem_move move;
    int                rc = ct_mem_move_start(p, &move, to, from, len_bytes);
    return rc == CTRAN_SUCCESS ? ct_mem_move_wait(p, &move) : rc;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

struct blocks {
    char       *to;
    const char *from;
    ptrdiff_t   to_stride, from_stride;
    size_t      len, n;
};

static bool is_pitch(ptrdiff_t stride, size_t len, size_t most)
{
    return stride > 0 && (size_t)stride >= len && (size_t)stride <= most;
}

/* One strided copy of the driver's. */
static int enqueue_rows(struct ct_gpu *g, const struct sides *s, CUstream stream,
                        const struct blocks *b)
{
    const CUDA_MEMCPY2D copy = {
        .srcMemoryType = s->from_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST,
        .srcHost = b->from,
        .srcDevice = (uintptr_t)b->from,
        .srcPitch = (size_t)b->from_stride,
        .dstMemoryType = s->to_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST,
        .dstHost = b->to,
        .dstDevice = (uintptr_t)b->to,
        .dstPitch = (size_t)b->to_stride,
        .WidthInBytes = b->len,
        .Height = b->n,
    };
    return CT_GPU_TRY(g, "copying memory in rows", cuMemcpy2DAsync, (&copy, stream));
}

static int enqueue_blocks(struct ct_gpu *g, const struct sides *s, CUstream stream,
                          const struct blocks *b)
{
    const size_t most = ct_gpu_device(g, s->ordinal)->max_pitch;
    if (is_pitch(b->to_stride, b->len, most) && is_pitch(b->from_stride, b->len, most)) {
        return enqueue_rows(g, s, stream, b);
    }
    int rc = CTRAN_SUCCESS;
    for (size_t i = 0; i < b->n && rc == CTRAN_SUCCESS; i++) {
        rc = enqueue(g, s, stream, b->to + (ptrdiff_t)i * b->to_stride,
                     b->from + (ptrdiff_t)i * b->from_stride, b->len);
    }
    return rc;
}

int ct_mem_copy_blocks(struct ct_process *p, void *to, ptrdiff_t to_stride, const void *from,
                       ptrdiff_t from_stride, size_t len_bytes, size_t blocks)
{
    const struct blocks b = {to, from, to_stride, from_stride, len_bytes, blocks};
    struct sides        s;
    struct ct_gpu_visit v;
    struct ct_gpu_lane *lane;
    if (len_bytes == 0 || blocks == 0) {
        return CTRAN_SUCCESS;
    }
    if (blocks == 1 || (to_stride == from_stride && to_stride == (ptrdiff_t)len_bytes)) {
        return ct_mem_copy(p, to, from, len_bytes * blocks);
    }
    if (!find_sides(p, to, from, &s)) {
        for (size_t i = 0; i < blocks; i++) {
            memcpy(b.to + (ptrdiff_t)i * to_stride, b.from + (ptrdiff_t)i * from_stride, len_bytes);
        }
        return CTRAN_SUCCESS;
    }
    int rc = ct_gpu_lane_get(p->gpu, s.ordinal, &lane);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_gpu_enter(p->gpu, s.ordinal, &v);
    if (rc == CTRAN_SUCCESS) {
        rc = enqueue_blocks(p->gpu, &s, lane->stream, &b);
        const int waited = ct_gpu_lane_wait(p->gpu, lane); /* also for what an error left behind */
        rc = rc == CTRAN_SUCCESS ? waited : rc;
        ct_gpu_leave(p->gpu, &v);
    }
    ct_gpu_lane_put(p->gpu, lane);
    return rc;
}
