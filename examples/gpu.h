/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the examples need of a GPU: memory, streams, events, kernels, graphs. Behind it is CUDA's
 * driver, loaded when the program runs (gpu.c), so that the examples are built anywhere, without
 * CUDA's headers. A program that is compiled by nvcc calls CUDA itself instead, and passes its
 * cudaStream_t to ctran as it is.
 *
 * What fails here ends the job, with a message.
 */
#ifndef EXAMPLES_GPU_H
#define EXAMPLES_GPU_H

#include <stddef.h>

#include <ctran.h>

struct CUevent_st;
struct CUfunc_st;
struct CUgraphExec_st;
typedef struct CUevent_st     *gpu_event_t;
typedef struct CUfunc_st      *gpu_kernel_t;
typedef struct CUgraphExec_st *gpu_graph_t;

/* After ctran_init: makes the GPU that ctran has chosen for this rank the calling thread's, and
 * loads the kernels in `file`; NULL: in `standard`, a file beside the program. */
void gpu_open(const char *file, const char *standard);
void gpu_close(void);

/* Memory of the GPU. It is ctran's: registered, mapped by peers once for many pieces, and given
 * back by ctran_finalize. */
void *gpu_new(size_t bytes);

/* Streams, in each of which work is done in order; between them events make an order. */
ctran_stream_t gpu_stream(void);
void           gpu_stream_free(ctran_stream_t stream);
void           gpu_finish(ctran_stream_t stream); /* waits for all work in it */
gpu_event_t    gpu_event(void);
void           gpu_event_free(gpu_event_t event);
void           gpu_record(gpu_event_t event, ctran_stream_t stream);
void gpu_wait(ctran_stream_t stream, gpu_event_t event); /* the stream waits, the caller does not */

/* Copies that are over when they return, with all that was in the stream before. */
void gpu_put(void *device, const void *host, size_t bytes, ctran_stream_t stream);
void gpu_get(void *host, const void *device, size_t bytes, ctran_stream_t stream);
/* Sets bytes to 0, in the stream's turn. */
void gpu_clear(void *device, size_t bytes, ctran_stream_t stream);

/* A kernel, and its launch with a thread for each of `elements`, or for several: kernels loop.
 * `args` is the struct that it takes. Nothing is launched for no elements. */
gpu_kernel_t gpu_kernel(const char *name);
void gpu_launch(gpu_kernel_t kernel, size_t elements, const void *args, ctran_stream_t stream);

/* What is put on the stream between the two is not done, but becomes a graph. */
void        gpu_capture(ctran_stream_t stream);
gpu_graph_t gpu_captured(ctran_stream_t stream);
void        gpu_graph_free(gpu_graph_t graph);
void        gpu_replay(gpu_graph_t graph, ctran_stream_t stream);

#endif
