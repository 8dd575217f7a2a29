/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies by the kinds of both sides. Between memory that the CPU reaches it is memcpy. Else the
 * device of the memory copies on a copy stream (gpu.h) that has no other user meanwhile, and an
 * event shows the end.
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

static int move_by(struct ct_process *p, const struct sides *s, struct ct_mem_move *move, void *to,
                   const void *from, size_t len_bytes)
{
    struct ct_gpu_visit v;
    int                 rc = ct_gpu_copy_stream_get(p->gpu, s->ordinal, &move->cs);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_gpu_enter(p->gpu, s->ordinal, &v);
    if (rc == CTRAN_SUCCESS) {
        rc = enqueue(p->gpu, s, move->cs->stream, to, from, len_bytes);
        rc = rc == CTRAN_SUCCESS ? ct_gpu_copy_stream_mark(p->gpu, move->cs) : rc;
        ct_gpu_leave(p->gpu, &v);
    }
    if (rc != CTRAN_SUCCESS) {
        ct_gpu_copy_stream_put(p->gpu, move->cs);
        move->cs = NULL;
    }
    return rc;
}

int ct_mem_move_start(struct ct_process *p, struct ct_mem_move *move, void *to, const void *from,
                      size_t len_bytes)
{
    struct sides s;
    move->cs = NULL;
    if (len_bytes == 0) {
        return CTRAN_SUCCESS;
    }
    if (!find_sides(p, to, from, &s)) {
        ct_block_copy(to, from, len_bytes);
        return CTRAN_SUCCESS;
    }
    return move_by(p, &s, move, to, from, len_bytes);
}

int ct_mem_pull_start(struct ct_process *p, int ordinal, struct ct_mem_move *move, void *to,
                      const void *from, size_t len_bytes)
{
    const struct sides s = {.to_device = is_device(ct_gpu_kind_of(p->gpu, to, NULL)),
                            .from_device = true,
                            .ordinal = ordinal};
    return move_by(p, &s, move, to, from, len_bytes);
}

/* What could not be asked may be under way still; a device that has failed says so again. */
static void end_move(struct ct_process *p, struct ct_mem_move *move, int rc)
{
    if (rc != CTRAN_SUCCESS) {
        (void)ct_gpu_copy_stream_wait(p->gpu, move->cs);
    }
    ct_gpu_copy_stream_put(p->gpu, move->cs);
    move->cs = NULL;
}

int ct_mem_move_test(struct ct_process *p, struct ct_mem_move *move)
{
    if (move->cs == NULL) {
        return CTRAN_SUCCESS;
    }
    const int rc = ct_gpu_copy_stream_test(p->gpu, move->cs);
    if (rc != CT_AGAIN) {
        end_move(p, move, rc);
    }
    return rc;
}

int ct_mem_move_wait(struct ct_process *p, struct ct_mem_move *move)
{
    if (move->cs == NULL) {
        return CTRAN_SUCCESS;
    }
    const int rc = ct_gpu_copy_stream_wait(p->gpu, move->cs);
    end_move(p, move, rc);
    return rc;
}

int ct_mem_copy(struct ct_process *p, void *to, const void *from, size_t len_bytes)
{
    struct ct_mem_move move;
    int                rc = ct_mem_move_start(p, &move, to, from, len_bytes);
    return rc == CTRAN_SUCCESS ? ct_mem_move_wait(p, &move) : rc;
}

int ct_mem_copy_by(struct ct_process *p, int ordinal, void *to, const void *from, size_t len_bytes)
{
    struct ct_mem_move move = {.cs = NULL};
    struct sides       s;
    if (len_bytes == 0) {
        return CTRAN_SUCCESS;
    }
    (void)find_sides(p, to, from, &s); /* one side is a device's */
    s.ordinal = ordinal;
    const int rc = move_by(p, &s, &move, to, from, len_bytes);
    return rc == CTRAN_SUCCESS ? ct_mem_move_wait(p, &move) : rc;
}
