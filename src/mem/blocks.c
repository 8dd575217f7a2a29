/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists of blocks, as datatypes have them, to flat memory and back. Rows of equal blocks are one
 * strided copy of the driver's, all copies of a list go on one cs, and there is one wait, at the
 * end. Between the driver and ordinary memory each copy would be a wait, too: such lists go through
 * page-locked memory.
 */
#define CT_FOLDER "mem"
#include <string.h>

#include "mem/own.h"

struct batch {
    struct ct_process         *p;
    char                      *flat;
    bool                       out; /* from the blocks to flat memory */
    struct ct_gpu_copy_stream *cs;  /* NULL: nothing is on it */
    struct ct_gpu_visit        visit;
};

static void copy_by_cpu(const struct batch *b, const struct ct_rows *e)
{
    for (size_t i = 0; i < e->n; i++) {
        char *flat = b->flat + e->flat_bytes + i * e->flat_stride_bytes;
        char *at = (char *)(e->at + i * (uintptr_t)e->stride_bytes);
        memcpy(b->out ? flat : at, b->out ? at : flat, e->len_bytes);
    }
}

static int enqueue(const struct batch *b, uintptr_t at, char *flat, size_t len)
{
    static const char what[] = "copying the blocks of a datatype";
    if (b->out) {
        return CT_GPU_TRY(b->p->gpu, what, cuMemcpyDtoHAsync, (flat, at, len, b->cs->stream));
    }
    return CT_GPU_TRY(b->p->gpu, what, cuMemcpyHtoDAsync, (at, flat, len, b->cs->stream));
}

/* One strided copy of the driver's. */
static int enqueue_rows(const struct batch *b, const struct ct_rows *e)
{
    char         *flat = b->flat + e->flat_bytes;
    CUDA_MEMCPY2D copy = {.WidthInBytes = e->len_bytes, .Height = e->n};
    if (b->out) {
        copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
        copy.srcDevice = e->at;
        copy.srcPitch = (size_t)e->stride_bytes;
        copy.dstMemoryType = CU_MEMORYTYPE_HOST;
        copy.dstHost = flat;
        copy.dstPitch = e->flat_stride_bytes;
    } else {
        copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        copy.dstDevice = e->at;
        copy.dstPitch = (size_t)e->stride_bytes;
        copy.srcMemoryType = CU_MEMORYTYPE_HOST;
        copy.srcHost = flat;
        copy.srcPitch = e->flat_stride_bytes;
    }
    return CT_GPU_TRY(b->p->gpu, "copying a datatype's rows", cuMemcpy2DAsync,
                      (&copy, b->cs->stream));
}

static bool is_pitch(ptrdiff_t stride, size_t len, size_t most)
{
    return stride > 0 && (size_t)stride >= len && (size_t)stride <= most;
}

static int enqueue_entry(const struct batch *b, const struct ct_rows *e)
{
    const size_t    most = ct_gpu_device(b->p->gpu, b->cs->device)->max_pitch;
    const ptrdiff_t flat_stride = (ptrdiff_t)e->flat_stride_bytes;
    char           *flat = b->flat + e->flat_bytes;
    if (e->n == 1 ||
        (e->stride_bytes == (ptrdiff_t)e->len_bytes && e->stride_bytes == flat_stride)) {
        return enqueue(b, e->at, flat, e->len_bytes * e->n);
    }
    if (is_pitch(e->stride_bytes, e->len_bytes, most) &&
        is_pitch(flat_stride, e->len_bytes, most)) {
        return enqueue_rows(b, e);
    }
    int rc = CTRAN_SUCCESS;
    for (size_t i = 0; i < e->n && rc == CTRAN_SUCCESS; i++) {
        rc = enqueue(b, e->at + i * (uintptr_t)e->stride_bytes, flat + i * e->flat_stride_bytes,
                     e->len_bytes);
    }
    return rc;
}

/* The first device that is met does all copies of the list. */
static int open_copy_stream(struct batch *b, int ordinal)
{
    if (b->cs != NULL) {
        return CTRAN_SUCCESS;
    }
    int rc = ct_gpu_copy_stream_get(b->p->gpu, ordinal, &b->cs);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_gpu_enter(b->p->gpu, ordinal, &b->visit);
    if (rc != CTRAN_SUCCESS) {
        ct_gpu_copy_stream_put(b->p->gpu, b->cs);
        b->cs = NULL;
    }
    return rc;
}

/* Waits also for what an error left behind. */
static int close_copy_stream(struct batch *b, int rc)
{
    if (b->cs != NULL) {
        const int waited = ct_gpu_copy_stream_wait(b->p->gpu, b->cs);
        rc = rc == CTRAN_SUCCESS ? waited : rc;
        ct_gpu_leave(b->p->gpu, &b->visit);
        ct_gpu_copy_stream_put(b->p->gpu, b->cs);
    }
    return rc;
}

static int copy_entry(struct batch *b, const struct ct_rows *e)
{
    int                    ordinal;
    const enum ct_gpu_kind kind = ct_gpu_kind_of(b->p->gpu, (const void *)e->at, &ordinal);
    if (kind != CT_GPU_DEVICE && kind != CT_GPU_MANAGED) {
        copy_by_cpu(b, e);
        return CTRAN_SUCCESS;
    }
    int rc = open_copy_stream(b, ordinal);
    return rc == CTRAN_SUCCESS ? enqueue_entry(b, e) : rc;
}

/* With absolute addresses, blocks that are equally far apart may lie in memory of several kinds. */
static bool is_of_one_kind(const struct batch *b, const struct ct_rows *e)
{
    const uintptr_t last = e->at + (e->n - 1) * (uintptr_t)e->stride_bytes;
    return e->n <= 1 || ct_gpu_kind_of(b->p->gpu, (const void *)e->at, NULL) ==
                            ct_gpu_kind_of(b->p->gpu, (const void *)last, NULL);
}

static int copy_each(struct batch *b, const struct ct_rows *e)
{
    struct ct_rows one = *e;
    int            rc = CTRAN_SUCCESS;
    one.n = 1;
    for (size_t i = 0; i < e->n && rc == CTRAN_SUCCESS; i++) {
        rc = copy_entry(b, &one);
        one.at += (uintptr_t)e->stride_bytes;
        one.flat_bytes += e->flat_stride_bytes;
    }
    return rc;
}

static int copy_list(struct ct_process *p, char *flat, const struct ct_rows *list, unsigned n,
                     bool out)
{
    struct batch b = {.p = p, .flat = flat, .out = out};
    int          rc = CTRAN_SUCCESS;
    for (unsigned i = 0; i < n && rc == CTRAN_SUCCESS; i++) {
        rc = is_of_one_kind(&b, &list[i]) ? copy_entry(&b, &list[i]) : copy_each(&b, &list[i]);
    }
    return close_copy_stream(&b, rc);
}

/* Whether it is worth to go through page-locked memory. */
static bool is_to_be_staged(struct ct_process *p, const void *flat, size_t len_bytes,
                            const struct ct_rows *list, unsigned n)
{
    enum { MOST = 16 << 20 };
    return (n > 1 || list->n > 1) && len_bytes <= MOST &&
           ct_gpu_kind_of(p->gpu, flat, NULL) == CT_GPU_HOST;
}

int ct_mem_gather(struct ct_process *p, void *flat, size_t len_bytes, const struct ct_rows *list,
                  unsigned n)
{
    char *stage =
        is_to_be_staged(p, flat, len_bytes, list, n) ? ct_mem_pinned_get(p, len_bytes) : NULL;
    int rc = copy_list(p, stage != NULL ? stage : flat, list, n, true);
    if (stage != NULL) {
        if (rc == CTRAN_SUCCESS) {
            memcpy(flat, stage, len_bytes);
        }
        ct_mem_pinned_put(p, stage, len_bytes);
    }
    return rc;
}

int ct_mem_scatter(struct ct_process *p, const void *flat, size_t len_bytes,
                   const struct ct_rows *list, unsigned n)
{
    char *stage =
        is_to_be_staged(p, flat, len_bytes, list, n) ? ct_mem_pinned_get(p, len_bytes) : NULL;
    if (stage != NULL) {
        memcpy(stage, flat, len_bytes);
    }
    int rc = copy_list(p, stage != NULL ? stage : (char *)(uintptr_t)flat, list, n, false);
    if (stage != NULL) {
        ct_mem_pinned_put(p, stage, len_bytes);
    }
    return rc;
}
