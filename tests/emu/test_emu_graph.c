/* SPDX-License-Identifier: BSD-3-Clause */
/* Capture, graphs and their launches in the emulated driver. */
#include "emu_test.h"

static CUmodule load_add(CUfunction *add)
{
    CUmodule module;
    OK(cuModuleLoad(&module, EMU_KERNELS));
    OK(cuModuleGetFunction(add, module, "add"));
    return module;
}

/* The tokens of a stream-ordered operation: go, wait for done, clear it, in one batch. */
static void go_and_wait(CUstream stream, uint32_t *go, uint32_t *done)
{
    CUstreamBatchMemOpParams batch[3];
    memset(batch, 0, sizeof batch);
    batch[0].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    batch[0].writeValue.address = device_of(go);
    batch[0].writeValue.value = 1;
    batch[1].operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    batch[1].waitValue.address = device_of(done);
    batch[1].waitValue.value = 1;
    batch[1].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    batch[2].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    batch[2].writeValue.address = device_of(done);
    OK(cuStreamBatchMemOp(stream, 3, batch, 0));
}

struct server {
    uint32_t *go, *done;
    unsigned  rounds;
};

/* The host's side, by plain stores and loads. */
static void *serve(void *arg)
{
    struct server *server = arg;
    for (unsigned i = 0; i < server->rounds; i++) {
        while (get_word(server->go) != 1) {
            sched_yield();
        }
        set_word(server->go, 0);
        set_word(server->done, 1);
    }
    return NULL;
}

/* A graph with a fork and a join, a kernel, copies and tokens, replayed many times. */
static void test_replay(void **state)
{
    (void)state;
    enum { ROUNDS = 500, WORDS = 32 };
    use_device(0);
    CUfunction     add;
    const CUmodule module = load_add(&add);
    uint32_t      *tokens = pinned_words(2), *result = pinned_words(WORDS);
    CUstream       main_stream = stream_new(), side = stream_new();
    CUdeviceptr    a = alloc(WORDS * 4), b = alloc(WORDS * 4);
    uint64_t       count = WORDS;
    uint32_t       one = 1;
    CUevent        fork_event, join_event;
    CUgraph        graph;
    CUgraphExec    exec;
    OK(cuEventCreate(&fork_event, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&join_event, CU_EVENT_DISABLE_TIMING));
    OK(cuMemsetD32Async(a, 0, WORDS, main_stream));
    OK(cuMemsetD32Async(b, 0, WORDS, main_stream));
    OK(cuStreamSynchronize(main_stream));

    OK(cuStreamBeginCapture(main_stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    void *args[] = {&a, &count, &one};
    OK(cuLaunchKernel(add, 2, 1, 1, 32, 1, 1, 0, main_stream, args, NULL));
    OK(cuEventRecord(fork_event, main_stream));
    OK(cuStreamWaitEvent(side, fork_event, 0));
    CUstreamCaptureStatus status;
    OK(cuStreamIsCapturing(side, &status));
    assert_int_equal(CU_STREAM_CAPTURE_STATUS_ACTIVE, status);
    OK(cuMemcpyDtoDAsync(b, a, WORDS * 4, side));
    OK(cuEventRecord(join_event, side));
    go_and_wait(main_stream, tokens, tokens + 1);
    OK(cuStreamWaitEvent(main_stream, join_event, 0));
    OK(cuMemcpyDtoHAsync(result, b, WORDS * 4, main_stream));
    OK(cuStreamEndCapture(main_stream, &graph));
    OK(cuStreamIsCapturing(side, &status));
    assert_int_equal(CU_STREAM_CAPTURE_STATUS_NONE, status);
    size_t nodes = 0;
    OK(cuGraphGetNodes(graph, NULL, &nodes));
    assert_int_equal(4, nodes);
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphDestroy(graph));

    struct server server = {.go = tokens, .done = tokens + 1, .rounds = ROUNDS};
    pthread_t     thread;
    assert_int_equal(0, pthread_create(&thread, NULL, serve, &server));
    for (unsigned i = 0; i < ROUNDS; i++) {
        /* From two streams: launches of one instance are ordered all the same. */
        OK(cuGraphLaunch(exec, i % 3 == 0 ? side : main_stream));
    }
    OK(cuStreamSynchronize(main_stream));
    OK(cuStreamSynchronize(side));
    pthread_join(thread, NULL);
    for (int i = 0; i < WORDS; i++) {
        assert_int_equal(ROUNDS, result[i]);
    }
    OK(cuGraphLaunch(exec, main_stream)); /* destroyed while it waits */
    OK(cuGraphExecDestroy(exec));
    set_word(tokens + 1, 1);
    OK(cuStreamSynchronize(main_stream));
    assert_int_equal(ROUNDS + 1, result[0]);
    OK(cuEventDestroy(fork_event));
    OK(cuEventDestroy(join_event));
    OK(cuStreamDestroy(main_stream));
    OK(cuStreamDestroy(side));
    OK(cuMemFree(a));
    OK(cuMemFree(b));
    OK(cuModuleUnload(module));
}

/* What ends a capture without a graph. */
static void test_spoilt(void **state)
{
    (void)state;
    use_device(0);
    CUstream    a = stream_new(), b = stream_new();
    CUevent     event, outside;
    CUgraph     graph;
    CUdeviceptr ptr = alloc(64), none;
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&outside, CU_EVENT_DISABLE_TIMING));
    OK(cuEventRecord(outside, b));

    OK(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_GLOBAL)); /* not joined */
    OK(cuEventRecord(event, a));
    OK(cuStreamWaitEvent(b, event, 0));
    OK(cuMemsetD8Async(ptr, 1, 64, b));
    GIVES(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, cuStreamEndCapture(b, &graph));
    GIVES(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(a, &graph));
    OK(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuEventRecord(event, a));
    OK(cuStreamWaitEvent(b, event, 0));
    OK(cuMemsetD8Async(ptr, 1, 64, b));
    GIVES(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, cuStreamEndCapture(a, &graph));
    assert_null(graph);

    OK(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_GLOBAL)); /* a forbidden call */
    GIVES(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuMemAlloc(&none, 8));
    GIVES(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuMemsetD8Async(ptr, 1, 64, a));
    GIVES(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(a, &graph));

    OK(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_GLOBAL)); /* the same, allowed */
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    OK(cuMemAlloc(&none, 8));
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    OK(cuEventRecord(event, a));
    GIVES(CUDA_ERROR_CAPTURED_EVENT, cuEventQuery(event));
    GIVES(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(a, &graph));

    OK(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_RELAXED)); /* an event from outside */
    OK(cuMemFree(none));
    GIVES(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, cuStreamWaitEvent(a, outside, 0));
    GIVES(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(a, &graph));
    GIVES(CUDA_ERROR_ILLEGAL_STATE, cuStreamEndCapture(a, &graph));
    GIVES(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
          cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuMemsetD8Async(ptr, 1, 64, a)); /* nothing stays behind */
    OK(cuStreamSynchronize(a));
    OK(cuEventDestroy(event));
    OK(cuEventDestroy(outside));
    OK(cuStreamDestroy(a));
    OK(cuStreamDestroy(b));
    OK(cuMemFree(ptr));
}

static _Atomic uint32_t dropped;

static void drop(void *arg)
{
    (void)arg;
    atomic_fetch_add(&dropped, 1);
}

/* What a graph owns lives as long as the last of it, its instances and their launches. */
static void test_owned(void **state)
{
    (void)state;
    use_device(0);
    uint32_t    *word = pinned_words(1);
    CUstream     stream = stream_new();
    CUgraph      graph;
    CUgraphExec  exec;
    CUuserObject object;
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    OK(cuStreamWaitValue32(stream, device_of(word), 1, CU_STREAM_WAIT_VALUE_EQ));
    CUstreamCaptureStatus status;
    CUgraph               captured = NULL;
    OK(cuStreamGetCaptureInfo(stream, &status, NULL, &captured, NULL, NULL));
    OK(cuUserObjectCreate(&object, word, drop, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    OK(cuGraphRetainUserObject(captured, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphDestroy(graph));
    OK(cuGraphLaunch(exec, stream));
    OK(cuGraphExecDestroy(exec));
    assert_int_equal(0, atomic_load(&dropped));
    set_word(word, 1);
    OK(cuStreamSynchronize(stream));
    OK(cuMemsetD8Async(device_of(word), 0, 4, stream)); /* the stream forgets its last op */
    OK(cuStreamSynchronize(stream));
    while (atomic_load(&dropped) == 0) {
        sched_yield();
    }
    OK(cuStreamDestroy(stream));
    OK(cuMemFreeHost(word));
}

/* A graph that allocates has one instance at a time. */
static void test_allocation(void **state)
{
    (void)state;
    use_device(0);
    CUstream    stream = stream_new();
    CUdeviceptr ptr = 0, keep = alloc(4);
    CUgraph     graph;
    CUgraphExec exec, second;
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuMemAllocAsync(&ptr, 64, stream));
    OK(cuMemsetD32Async(ptr, 42, 16, stream));
    OK(cuMemcpyDtoDAsync(keep, ptr + 60, 4, stream));
    OK(cuMemFreeAsync(ptr, stream));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphInstantiate(&exec, graph, 0));
    GIVES(CUDA_ERROR_NOT_SUPPORTED, cuGraphInstantiate(&second, graph, 0));
    for (int i = 0; i < 3; i++) {
        uint32_t found = 0;
        OK(cuMemsetD32Async(keep, 0, 1, stream));
        OK(cuGraphLaunch(exec, stream));
        OK(cuMemcpyDtoHAsync(&found, keep, 4, stream));
        assert_int_equal(42, found);
    }
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuMemAllocAsync(&ptr, 64, stream)); /* outside of a capture */
    OK(cuMemsetD32Async(ptr, 42, 16, stream));
    OK(cuMemFreeAsync(ptr, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuStreamDestroy(stream));
    OK(cuMemFree(keep));
}

int main(void)
{
    open_driver();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replay),
        cmocka_unit_test(test_spoilt),
        cmocka_unit_test(test_owned),
        cmocka_unit_test(test_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
