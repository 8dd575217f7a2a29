/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the real driver was seen to block while streams wait for values, on the emulated one.
 * Each case is a process of its own, since the number of connections is read once. That
 * something has not happened is looked at after some chances to happen; a fast machine cannot
 * make that fail, and a slow one not either.
 */
#include "emu_test.h"

enum { CHANCES = 60 };

static void give_chances(void)
{
    for (int i = 0; i < CHANCES; i++) {
        sched_yield();
    }
}

/* Until so many ops wait for values and so many calls for those; what a real driver does not
 * tell. */
static void until(unsigned waits, unsigned drains)
{
    if (!emulated) {
        give_chances();
        return;
    }
    void *found = NULL;
    void (*look)(unsigned *, unsigned *);
    unsigned now_waits, now_drains;
    OK(cuGetProcAddress("emu_look", &found, 12000, 0, NULL));
    memcpy(&look, &found, sizeof found);
    for (;;) {
        look(&now_waits, &now_drains);
        if (now_waits == waits && now_drains == drains) {
            return;
        }
        sched_yield();
    }
}

static CUstream *waiting_streams(int count, uint32_t *word)
{
    CUstream *streams = calloc((size_t)count, sizeof *streams);
    for (int i = 0; i < count; i++) {
        streams[i] = stream_new();
        OK(cuStreamWaitValue32(streams[i], device_of(word), 1, CU_STREAM_WAIT_VALUE_EQ));
    }
    return streams;
}

/* With `count` streams waiting, an op elsewhere starts or does not. */
static void with_waiting(int count, bool starts)
{
    use_device(0);
    uint32_t *words = pinned_words(2);
    CUstream *waiting = waiting_streams(count, words), other = stream_new();
    until((unsigned)count, 0);
    OK(cuStreamWriteValue32(other, device_of(words + 1), 1, 0));
    if (starts) {
        OK(cuStreamSynchronize(other));
        CHECK(get_word(words + 1) == 1);
    } else {
        give_chances();
        CHECK(get_word(words + 1) == 0);
    }
    set_word(words, 1);
    OK(cuStreamSynchronize(other));
    OK(cuCtxSynchronize());
    CHECK(get_word(words + 1) == 1);
    free(waiting);
}

static void one_connection(int unused)
{
    (void)unused;
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", 1);
    with_waiting(1, false);
}

static void default_connections(int waiting)
{
    unsetenv("CUDA_DEVICE_MAX_CONNECTIONS");
    with_waiting(waiting, waiting < 64);
}

static void test_connections(void **state)
{
    (void)state;
    expect_end(start_child(one_connection, 0));
    expect_end(start_child(default_connections, 1));
    expect_end(start_child(default_connections, 60));
    if (emulated) {
        expect_end(start_child(default_connections, 64));
    }
}

/* Tokens between the streams of one process in an order that one connection allows. */
static void ordered_tokens(int unused)
{
    (void)unused;
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", 1);
    use_device(0);
    uint32_t *words = pinned_words(1);
    CUstream  a = stream_new(), b = stream_new();
    for (uint32_t i = 1; i <= 300; i++) {
        OK(cuStreamWriteValue32(a, device_of(words), i, 0));
        OK(cuStreamWaitValue32(b, device_of(words), i, CU_STREAM_WAIT_VALUE_GEQ));
    }
    OK(cuCtxSynchronize());
    CHECK(get_word(words) == 300);
}

static void test_one_connection_order(void **state)
{
    (void)state;
    expect_end(start_child(ordered_tokens, 0));
}

static CUcontext        ctx;
static CUstream         busy;
static CUdeviceptr      memory[2];
static void            *host, *plain;
static CUfunction       kernels[2];
static _Atomic uint32_t returned;

static void call_free(void)
{
    OK(cuMemFree(memory[0]));
}

static void call_free_host(void)
{
    OK(cuMemFreeHost(host));
}

static void call_unregister(void)
{
    OK(cuMemHostUnregister(plain));
}

static void call_load(void)
{
    CUmodule module;
    OK(cuModuleLoad(&module, EMU_KERNELS));
}

static void call_use(void)
{
    int value;
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, kernels[0]));
}

static void call_launch(CUfunction kernel)
{
    uint64_t count = 0;
    uint32_t value = 0;
    void    *args[] = {&memory[0], &count, &value};
    OK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream_new(), args, NULL));
}

static void call_first_launch(void)
{
    call_launch(kernels[0]);
}

static void call_copy(void)
{
    CUstream own = stream_new();
    OK(cuMemcpyDtoDAsync(memory[1], memory[1] + 64, 64, own));
}

static void call_alloc(void)
{
    alloc(16);
}

static void call_submit(void)
{
    OK(cuStreamWriteValue32(busy, device_of(host), 1, 0));
}

static void *in_thread(void *call)
{
    OK(cuCtxSetCurrent(ctx));
    (*(void (**)(void))call)();
    atomic_fetch_add(&returned, 1);
    return NULL;
}

static pthread_t thread_of(void (**call)(void))
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, in_thread, (void *)call) == 0);
    return thread;
}

static uint32_t *set_up(void)
{
    ctx = use_device(0);
    memory[0] = alloc(128);
    memory[1] = alloc(128);
    OK(cuMemHostAlloc(&host, 64, 0));
    plain = malloc(4096);
    OK(cuMemHostRegister(plain, 4096, 0));
    for (int i = 0; i < 2 && emulated; i++) { /* the one is loaded, the other is not */
        CUmodule module;
        int      value;
        OK(cuModuleLoad(&module, EMU_KERNELS));
        OK(cuModuleGetFunction(&kernels[i], module, "add"));
        if (i == 1) {
            OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, kernels[i]));
        }
    }
    busy = stream_new();
    uint32_t *word = pinned_words(1);
    OK(cuStreamWaitValue32(busy, device_of(word), 1, CU_STREAM_WAIT_VALUE_EQ));
    return word;
}

static void (*const blocking[])(void) = {call_free, call_free_host, call_unregister,
                                         call_load, call_use,       call_first_launch};
enum { BLOCKING = sizeof blocking / sizeof blocking[0], NO_KERNELS = 3 /* of ours, on a GPU */ };

/* One of the calls that block, and a copy by another thread, which gets stuck behind it. */
static void blocks(int which)
{
    uint32_t *word = set_up();
    void (*first)(void) = blocking[which];
    void (*second)(void) = call_copy;
    const pthread_t a = thread_of(&first);
    until(1, 1);
    give_chances();
    CHECK(atomic_load(&returned) == 0);
    if (!emulated) { /* whether the copy is behind it there depends on who came first */
        set_word(word, 1);
        pthread_join(a, NULL);
        return;
    }
    const pthread_t b = thread_of(&second);
    give_chances();
    CHECK(atomic_load(&returned) == 0);
    set_word(word, 1);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    CHECK(atomic_load(&returned) == 2);
}

static void test_blocking_calls(void **state)
{
    (void)state;
    for (int i = 0; i < (emulated ? (int)BLOCKING : (int)NO_KERNELS); i++) {
        expect_end(start_child(blocks, i));
    }
}

/* These return while a stream waits. */
static void goes_on(int unused)
{
    (void)unused;
    uint32_t *word = set_up();
    call_alloc();
    call_copy();
    if (emulated) {
        call_launch(kernels[1]);
    }
    OK(cuEventCreate(&(CUevent){NULL}, CU_EVENT_DISABLE_TIMING));
    OK(cuStreamDestroy(stream_new()));
    GIVES(CUDA_ERROR_NOT_READY, cuStreamQuery(busy));
    set_word(word, 1);
    OK(cuStreamSynchronize(busy));
}

static void test_calls_that_go_on(void **state)
{
    (void)state;
    expect_end(start_child(goes_on, 0));
}

/* The queue of a stream is finite. */
static void full(int unused)
{
    (void)unused;
    uint32_t *word = set_up();
    for (int i = 1; i < 1020; i++) {
        call_submit();
    }
    void (*more)(void) = call_submit;
    const pthread_t thread = thread_of(&more);
    give_chances();
    CHECK(atomic_load(&returned) == 0);
    set_word(word, 1);
    pthread_join(thread, NULL);
    OK(cuStreamSynchronize(busy));
    CHECK(atomic_load(&returned) == 1);
}

static void test_full_queue(void **state)
{
    (void)state;
    if (!emulated) {
        skip(); /* a real one's limit varies by what is submitted */
    }
    expect_end(start_child(full, 0));
}

int main(void)
{
    open_driver();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_connections),    cmocka_unit_test(test_one_connection_order),
        cmocka_unit_test(test_blocking_calls), cmocka_unit_test(test_calls_that_go_on),
        cmocka_unit_test(test_full_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
