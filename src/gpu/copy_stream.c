/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lanes: streams of our own, each with an event that tells how far it has come. A copy stream
 * belongs to one user at a time, so that no user waits for another's work. Free copy streams are in
 * their device's list. A wait polls the event, never the driver's own waiting, which may hold
 * locks.
 */
#define CT_FOLDER "gpu"
#include <sched.h>
#include <stdlib.h>

#include "gpu/own.h"

/* In the device's context. */
static int copy_stream_make(struct ct_gpu *g, struct ct_gpu_copy_stream *cs)
{
    int least = 0, greatest = 0;
    (void)g->cu->cuCtxGetStreamPriorityRange(&least, &greatest); /* zeros are a priority, too */
    int rc = CT_GPU_TRY(g, "making a stream", cuStreamCreateWithPriority,
                        (&cs->stream, CU_STREAM_NON_BLOCKING, greatest));
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = CT_GPU_TRY(g, "making an event", cuEventCreate, (&cs->done, CU_EVENT_DISABLE_TIMING));
    if (rc != CTRAN_SUCCESS) {
        (void)g->cu->cuStreamDestroy(cs->stream);
    }
    return rc;
}

static int copy_stream_add(struct ct_gpu *g, int ordinal, struct ct_gpu_copy_stream **out)
{
    struct ct_gpu_visit        v;
    struct ct_gpu_copy_stream *cs = calloc(1, sizeof *cs);
    if (cs == NULL) {
        ct_error(g->log, "no memory for a stream's record");
        return CTRAN_ERR_NO_MEM;
    }
    cs->device = ordinal;
    ct_list_init(&cs->link);
    int rc = ct_gpu_enter(g, ordinal, &v);
    if (rc == CTRAN_SUCCESS) {
        rc = copy_stream_make(g, cs);
        ct_gpu_leave(g, &v);
    }
    if (rc != CTRAN_SUCCESS) {
        free(cs);
        return rc;
    }
    pthread_mutex_lock(&g->own->lock);
    cs->chain = g->own->copy_streams;
    g->own->copy_streams = cs;
    pthread_mutex_unlock(&g->own->lock);
    *out = cs;
    return CTRAN_SUCCESS;
}

int ct_gpu_copy_stream_get(struct ct_gpu *g, int ordinal, struct ct_gpu_copy_stream **out)
{
    int rc = ct_gpu_ready(g);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (ordinal < 0 || ordinal >= g->own->ndevices) {
        ct_error(g->log, "there is no GPU %d: this process sees %d", ordinal, g->own->ndevices);
        return CTRAN_ERR_ARG;
    }
    pthread_mutex_lock(&g->own->lock);
    struct ct_list *node = ct_list_pop(&g->own->used[ordinal].copy_streams);
    pthread_mutex_unlock(&g->own->lock);
    if (node == NULL) {
        return copy_stream_add(g, ordinal, out);
    }
    *out = CT_LIST_ENTRY(node, struct ct_gpu_copy_stream, link);
    return CTRAN_SUCCESS;
}

void ct_gpu_copy_stream_put(struct ct_gpu *g, struct ct_gpu_copy_stream *cs)
{
    pthread_mutex_lock(&g->own->lock);
    ct_list_append(&g->own->used[cs->device].copy_streams, &cs->link);
    pthread_mutex_unlock(&g->own->lock);
}

int ct_gpu_copy_stream_mark(struct ct_gpu *g, struct ct_gpu_copy_stream *cs)
{
    struct ct_gpu_visit v;
    int                 rc = ct_gpu_enter(g, cs->device, &v);
    if (rc == CTRAN_SUCCESS) {
        rc = CT_GPU_TRY(g, "marking a stream", cuEventRecord, (cs->done, cs->stream));
        ct_gpu_leave(g, &v);
    }
    return rc;
}

/* In the device's context. */
static int copy_stream_query(struct ct_gpu *g, struct ct_gpu_copy_stream *cs)
{
    const CUresult r = g->cu->cuEventQuery(cs->done);
    return r == CUDA_ERROR_NOT_READY
               ? CT_AGAIN
               : ct_gpu_result(g, r, "cuEventQuery", "a GPU's work on a stream of ctran's");
}

int ct_gpu_copy_stream_test(struct ct_gpu *g, struct ct_gpu_copy_stream *cs)
{
    struct ct_gpu_visit v;
    int                 rc = ct_gpu_enter(g, cs->device, &v);
    if (rc == CTRAN_SUCCESS) {
        rc = copy_stream_query(g, cs);
        ct_gpu_leave(g, &v);
    }
    return rc;
}

int ct_gpu_copy_stream_wait(struct ct_gpu *g, struct ct_gpu_copy_stream *cs)
{
    enum { SPINS = 2000 }; /* a small copy is over by then */
    struct ct_gpu_visit v;
    int                 rc = ct_gpu_enter(g, cs->device, &v);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = CT_GPU_TRY(g, "marking a stream", cuEventRecord, (cs->done, cs->stream));
    if (rc == CTRAN_SUCCESS) {
        unsigned polls = 0;
        while ((rc = copy_stream_query(g, cs)) == CT_AGAIN) {
            if (++polls > SPINS) {
                (void)sched_yield(); /* always succeeds on Linux */
            }
        }
    }
    ct_gpu_leave(g, &v);
    return rc;
}

void ct_gpu_copy_streams_free(struct ct_gpu *g)
{
    struct ct_gpu_visit v;
    while (g->own->copy_streams != NULL) {
        struct ct_gpu_copy_stream *cs = g->own->copy_streams;
        g->own->copy_streams = cs->chain;
        if (ct_gpu_enter(g, cs->device, &v) == CTRAN_SUCCESS) {
            (void)g->cu->cuEventDestroy(cs->done); /* at the end nothing can be done about it */
            (void)g->cu->cuStreamDestroy(cs->stream);
            ct_gpu_leave(g, &v);
        }
        free(cs);
    }
}
