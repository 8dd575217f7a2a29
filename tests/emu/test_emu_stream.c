/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams, events, memory operations and kernels of the emulated driver: random programs over
 * several streams against a sequential model, order and its absence, kernels whose blocks wait
 * for each other. */
#include "emu_test.h"

static CUmodule module;

static void load_module(void)
{
    if (module == NULL) {
        OK(cuModuleLoad(&module, EMU_KERNELS));
    }
}

static void launch_add(CUstream stream, CUdeviceptr words, uint64_t count, uint32_t value)
{
    CUfunction add;
    OK(cuModuleGetFunction(&add, module, "add"));
    void *args[] = {&words, &count, &value};
    if (value % 2 == 0) {
        OK(cuLaunchKernel(add, 3, 1, 1, 64, 1, 1, 0, stream, args, NULL));
    } else { /* it may not begin early, as it does not wait for what is before it */
        CUlaunchAttribute at = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION};
        CUlaunchConfig    config = {3, 1, 1, 64, 1, 1, 0, stream, &at, 1};
        OK(cuLaunchKernelEx(&config, add, args, NULL));
        at.id = 1;
        GIVES(CUDA_ERROR_NOT_SUPPORTED, cuLaunchKernelEx(&config, add, args, NULL));
    }
    words = count = value = 0; /* they have been copied */
}

enum { STREAMS = 6, CELLS = 12, WORDS = 16, STEPS = 400 };

/* A cell belongs to one stream at a time; the stream that takes it over waits for the last one's
 * event. */
struct program {
    CUstream    streams[STREAMS];
    CUevent     events[STREAMS];
    CUdeviceptr cells[CELLS];
    uint32_t    model[CELLS];
    int         owner[CELLS];
    uint32_t   *results; /* pinned: one a cell */
};

static void take_over(struct program *p, int cell, int by)
{
    const int from = p->owner[cell];
    if (from != by) {
        OK(cuEventRecord(p->events[from], p->streams[from]));
        OK(cuStreamWaitEvent(p->streams[by], p->events[from], 0));
        p->owner[cell] = by;
    }
}

static void step(struct program *p, uint64_t *seed)
{
    const int      s = (int)random_below(seed, STREAMS), c = (int)random_below(seed, CELLS);
    const int      d = (int)random_below(seed, CELLS);
    const uint32_t value = random_below(seed, 1000);
    CUstream       stream = p->streams[s];
    take_over(p, c, s);
    switch (random_below(seed, 4)) {
    case 0:
        OK(cuMemsetD32Async(p->cells[c], value, WORDS, stream));
        p->model[c] = value;
        return;
    case 1:
        take_over(p, d, s);
        OK(cuMemcpyDtoDAsync(p->cells[c], p->cells[d], WORDS * 4, stream));
        p->model[c] = p->model[d];
        return;
    case 2:
        launch_add(stream, p->cells[c], WORDS, value);
        p->model[c] += value;
        return;
    default:
        /* Each word from the first: a write and a copy. */
        OK(cuStreamWriteValue32(stream, p->cells[c], value, 0));
        for (int i = 1; i < WORDS; i *= 2) {
            OK(cuMemcpyDtoDAsync(p->cells[c] + 4 * (size_t)i, p->cells[c], 4 * (size_t)i, stream));
        }
        p->model[c] = value;
        return;
    }
}

static void random_program(uint64_t seed)
{
    struct program p = {.results = pinned_words(CELLS * WORDS)};
    for (int i = 0; i < STREAMS; i++) {
        p.streams[i] = stream_new();
        OK(cuEventCreate(&p.events[i], CU_EVENT_DISABLE_TIMING));
    }
    for (int i = 0; i < CELLS; i++) {
        p.cells[i] = alloc(WORDS * 4);
        OK(cuMemsetD32Async(p.cells[i], 0, WORDS, p.streams[0]));
    }
    for (int i = 0; i < STEPS; i++) {
        step(&p, &seed);
    }
    for (int i = 0; i < CELLS; i++) {
        OK(cuMemcpyDtoHAsync(p.results + i * WORDS, p.cells[i], WORDS * 4, p.streams[p.owner[i]]));
    }
    OK(cuCtxSynchronize());
    for (int i = 0; i < CELLS * WORDS; i++) {
        assert_int_equal(p.model[i / WORDS], p.results[i]);
    }
    for (int i = 0; i < STREAMS; i++) {
        OK(cuStreamDestroy(p.streams[i]));
        OK(cuEventDestroy(p.events[i]));
    }
    for (int i = 0; i < CELLS; i++) {
        OK(cuMemFree(p.cells[i]));
    }
    OK(cuMemFreeHost(p.results));
}

static void test_random(void **state)
{
    (void)state;
    use_device(0);
    load_module();
    for (uint64_t seed = 1; seed <= 10; seed++) {
        random_program(seed * 77777);
    }
}

/* Nothing after a wait happens before the value is there, and other streams go on meanwhile. */
static void test_wait_value(void **state)
{
    (void)state;
    use_device(0);
    uint32_t *words = pinned_words(8);
    CUstream  waiting = stream_new(), other = stream_new();
    OK(cuStreamWaitValue32(waiting, device_of(words), 3, CU_STREAM_WAIT_VALUE_GEQ));
    OK(cuStreamWriteValue32(waiting, device_of(words + 1), 1, 0));
    OK(cuStreamWriteValue32(other, device_of(words + 2), 7, 0));
    OK(cuStreamSynchronize(other));
    assert_int_equal(7, get_word(words + 2));
    assert_int_equal(0, get_word(words + 1));
    GIVES(CUDA_ERROR_NOT_READY, cuStreamQuery(waiting));
    set_word(words, 2);
    GIVES(CUDA_ERROR_NOT_READY, cuStreamQuery(waiting));
    set_word(words, 4);
    OK(cuStreamSynchronize(waiting));
    assert_int_equal(1, get_word(words + 1));

    /* One stream releases the other by a batch; 64-bit and the other comparisons. */
    CUstreamBatchMemOpParams batch[4];
    memset(batch, 0, sizeof batch);
    batch[0].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    batch[0].writeValue.address = device_of(words + 3);
    batch[0].writeValue.value = 0x10;
    batch[1].operation = CU_STREAM_MEM_OP_WAIT_VALUE_64;
    batch[1].waitValue.address = device_of(words + 4);
    batch[1].waitValue.value64 = 0x500000001;
    batch[1].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    batch[2].operation = CU_STREAM_MEM_OP_BARRIER;
    batch[3].operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
    batch[3].writeValue.address = device_of(words + 4);
    OK(cuStreamBatchMemOp(waiting, 4, batch, 0));
    OK(cuStreamWaitValue32(other, device_of(words + 3), 0x30, CU_STREAM_WAIT_VALUE_AND));
    OK(cuStreamWriteValue64(other, device_of(words + 4), 0x500000001, 0));
    OK(cuStreamWaitValue32(other, device_of(words + 3), 0xffffffef, CU_STREAM_WAIT_VALUE_NOR));
    GIVES(CUDA_ERROR_NOT_READY, cuStreamQuery(other));
    OK(cuStreamSynchronize(waiting));
    assert_int_equal(0, get_word(words + 4));
    set_word(words + 3, 0);
    OK(cuStreamSynchronize(other));

    uint32_t pageable = 0;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuStreamWriteValue32(other, device_of(&pageable), 1, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuStreamWriteValue32(other, device_of(words) + 2, 1, 0));
    OK(cuStreamDestroy(waiting));
    OK(cuStreamDestroy(other));
    OK(cuMemFreeHost(words));
}

/* An event means its last record; a wait means the record that there was when it was called. */
static void test_events(void **state)
{
    (void)state;
    use_device(0);
    uint32_t *words = pinned_words(4);
    CUstream  a = stream_new(), b = stream_new();
    CUevent   event, timed[2];
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cuEventQuery(event)); /* never recorded */
    OK(cuStreamWaitEvent(b, event, 0));
    OK(cuStreamSynchronize(b));
    OK(cuEventRecord(event, a));
    OK(cuStreamWaitEvent(b, event, 0));
    OK(cuStreamWaitValue32(a, device_of(words), 1, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuEventRecord(event, a));
    OK(cuStreamSynchronize(b)); /* the first record was reached */
    GIVES(CUDA_ERROR_NOT_READY, cuEventQuery(event));
    OK(cuStreamWaitEvent(b, event, 0));
    OK(cuStreamWriteValue32(b, device_of(words + 1), 1, 0));
    GIVES(CUDA_ERROR_NOT_READY, cuStreamQuery(b));
    assert_int_equal(0, get_word(words + 1));
    set_word(words, 1);
    OK(cuEventSynchronize(event));
    OK(cuStreamSynchronize(b));
    assert_int_equal(1, get_word(words + 1));
    float ms = -1;
    for (int i = 0; i < 2; i++) {
        OK(cuEventCreate(&timed[i], CU_EVENT_DEFAULT));
        OK(cuEventRecord(timed[i], a));
    }
    OK(cuEventSynchronize(timed[1]));
    OK(cuEventElapsedTime(&ms, timed[0], timed[1]));
    assert_true(ms >= 0);
    OK(cuEventDestroy(event));
    OK(cuEventDestroy(timed[0]));
    OK(cuEventDestroy(timed[1]));
    OK(cuStreamDestroy(a));
    OK(cuStreamDestroy(b));
    OK(cuMemFreeHost(words));
}

/* The legacy stream waits for blocking streams and they for it; others go their way. */
static void test_legacy(void **state)
{
    (void)state;
    use_device(0);
    uint32_t *words = pinned_words(4);
    CUstream  blocking, free_one = stream_new();
    OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    OK(cuStreamWaitValue32(blocking, device_of(words), 1, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuStreamWriteValue32(NULL, device_of(words + 1), 1, 0));
    OK(cuStreamWriteValue32(free_one, device_of(words + 2), 1, 0));
    OK(cuStreamSynchronize(free_one));
    GIVES(CUDA_ERROR_NOT_READY, cuStreamQuery(NULL));
    assert_int_equal(0, get_word(words + 1));
    set_word(words, 1);
    OK(cuStreamSynchronize(NULL));
    assert_int_equal(1, get_word(words + 1));
    OK(cuStreamWaitValue32(NULL, device_of(words + 3), 1, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuStreamWriteValue32(blocking, device_of(words), 9, 0));
    GIVES(CUDA_ERROR_NOT_READY, cuStreamQuery(blocking));
    set_word(words + 3, 1);
    OK(cuStreamSynchronize(blocking));
    assert_int_equal(9, get_word(words));
    OK(cuStreamDestroy(blocking));
    OK(cuStreamDestroy(free_one));
    OK(cuMemFreeHost(words));
}

/* More blocks than cores meet, those of two launches as well. */
static void test_blocks_meet(void **state)
{
    (void)state;
    use_device(0);
    load_module();
    CUfunction meet;
    OK(cuModuleGetFunction(&meet, module, "meet"));
    GIVES(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&meet, module, "none"));
    OK(cuModuleGetFunction(&meet, module, "meet"));
    CUstream    streams[2] = {stream_new(), stream_new()};
    CUdeviceptr word = alloc(4);
    uint32_t    blocks = 24, found = 0;
    void       *args[] = {&word, &blocks};
    OK(cuMemsetD32Async(word, 0, 1, streams[0]));
    OK(cuStreamSynchronize(streams[0]));
    for (int i = 0; i < 2; i++) {
        OK(cuLaunchKernel(meet, 12, 1, 1, 512, 1, 1, 1024, streams[i], args, NULL));
    }
    OK(cuStreamSynchronize(streams[0]));
    OK(cuStreamSynchronize(streams[1]));
    OK(cuMemcpyDtoH(&found, word, 4));
    assert_int_equal(24, found);
    GIVES(CUDA_ERROR_INVALID_VALUE,
          cuLaunchKernel(meet, 0, 1, 1, 1, 1, 1, 0, streams[0], args, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE,
          cuLaunchKernel(meet, 1, 1, 1, 2048, 1, 1, 0, streams[0], args, NULL));

    CUdeviceptr global;
    size_t      bytes;
    OK(cuModuleGetGlobal(&global, &bytes, module, "counted"));
    assert_int_equal(4, bytes);
    found = 11;
    OK(cuMemcpyDtoH(&found, global, 4));
    assert_int_equal(5, found);
    OK(cuMemFree(word));
    OK(cuStreamDestroy(streams[0]));
    OK(cuStreamDestroy(streams[1]));
}

static void count_up(void *arg)
{
    set_word(arg, get_word(arg) + 1);
}

static void test_host_function(void **state)
{
    (void)state;
    use_device(0);
    uint32_t *words = pinned_words(2);
    CUstream  stream = stream_new();
    for (int i = 0; i < 50; i++) {
        OK(cuLaunchHostFunc(stream, count_up, words));
    }
    OK(cuMemcpyAsync(device_of(words + 1), device_of(words), 4, stream));
    OK(cuStreamSynchronize(stream));
    assert_int_equal(50, get_word(words + 1));
    OK(cuStreamDestroy(stream));
    OK(cuMemFreeHost(words));
}

/* Streams that are not ordered overtake each other: of many pairs, the later is first in some. */
static void test_reordering(void **state)
{
    (void)state;
    if (!emulated) {
        skip();
    }
    use_device(0);
    uint32_t *words = pinned_words(3);
    CUstream  a = stream_new(), b = stream_new(), copy = stream_new();
    unsigned  overtaken = 0;
    CUevent   go;
    OK(cuEventCreate(&go, CU_EVENT_DISABLE_TIMING));
    for (uint32_t i = 1; i <= 200; i++) {
        OK(cuStreamWaitValue32(copy, device_of(words), i, CU_STREAM_WAIT_VALUE_EQ));
        OK(cuEventRecord(go, copy));
        OK(cuStreamWaitEvent(a, go, 0));
        OK(cuStreamWriteValue32(a, device_of(words + 1), i, 0));
        OK(cuStreamWaitEvent(b, go, 0));
        OK(cuMemcpyAsync(device_of(words + 2), device_of(words + 1), 4, b));
        set_word(words, i);
        OK(cuStreamSynchronize(a));
        OK(cuStreamSynchronize(b));
        overtaken += get_word(words + 2) != i;
    }
    assert_in_range(overtaken, 1, 199);
    OK(cuEventDestroy(go));
    OK(cuStreamDestroy(a));
    OK(cuStreamDestroy(b));
    OK(cuStreamDestroy(copy));
    OK(cuMemFreeHost(words));
}

int main(void)
{
    open_driver();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),      cmocka_unit_test(test_wait_value),
        cmocka_unit_test(test_events),      cmocka_unit_test(test_legacy),
        cmocka_unit_test(test_blocks_meet), cmocka_unit_test(test_host_function),
        cmocka_unit_test(test_reordering),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
