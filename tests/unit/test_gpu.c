/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu: the driver found and not found, kinds of memory, the rank's device, contexts,
 * copy_streams. */
#include <unistd.h>

#include "emu.h"
#include "gpu/kernels.h"

/* Nothing has been opened: this comes first. */
static void without_a_driver(void **state)
{
    struct ct_process p = {.cfg = {0}};
    (void)state;
    ct_log_init(&p.log, CT_LOG_NONE, "test");
    void *there = dlopen("libcuda.so.1", RTLD_LAZY);
    if (there != NULL) {
        print_message("SKIP: this machine has a CUDA driver\n");
        skip();
    }
    assert_int_equal(ct_config_load(&p.cfg, &p.log), CTRAN_SUCCESS);
    assert_int_equal(ct_gpu_init(&p), CTRAN_SUCCESS);
    assert_null(p.gpu);
    assert_int_equal(ct_mem_init(&p), CTRAN_SUCCESS);
    int a = 1, b = 2;
    assert_false(ct_mem_is_device(&p, &a));
    assert_int_equal(ct_mem_copy(&p, &a, &b, sizeof a), CTRAN_SUCCESS);
    assert_int_equal(a, 2);
    void *ptr;
    assert_int_equal(ct_mem_alloc(&p, 8, &ptr), CTRAN_ERR_UNSUPPORTED_OPERATION);
    assert_int_equal(ct_mem_free(&p, &a), CTRAN_ERR_BASE);
    assert_int_equal(ct_mem_register(&p, &a, sizeof a), CTRAN_SUCCESS);
    assert_int_equal(ct_mem_deregister(&p, &a), CTRAN_SUCCESS);
    assert_int_equal(ct_mem_deregister(&p, &a), CTRAN_ERR_BASE);
    ct_mem_fini(&p);
    assert_int_equal(ct_config_set(&p.cfg, &p.log, "CTRAN_GPU", "on", CT_ORIGIN_SET), 0);
    assert_int_equal(ct_gpu_init(&p), CTRAN_ERR_UNSUPPORTED_OPERATION);
    assert_null(p.gpu);
    ct_config_fini(&p.cfg);
    emu_open(); /* for all that follow */
}

static void switched_off(void **state)
{
    static const char *const off[] = {"CTRAN_GPU", "off", NULL};
    struct ct_process        p;
    (void)state;
    emu_start(&p, off);
    assert_null(p.gpu);
    emu_stop(&p);
}

static void kinds_of_memory(void **state)
{
    struct ct_process   p;
    struct ct_gpu_visit v;
    struct ct_gpu_place place;
    int                 on_stack, device;
    (void)state;
    emu_start(&p, NULL);
    struct ct_gpu           *g = p.gpu;
    const struct cuda_table *cu = g->cu;
    /* Before anybody has started CUDA all memory is the host's. */
    assert_int_equal(ct_gpu_kind_of(g, &on_stack, &device), CT_GPU_HOST);
    assert_int_equal(device, -1);
    assert_int_equal(ct_gpu_enter(g, 0, &v), CTRAN_SUCCESS);
    CUdeviceptr dev, managed;
    void       *pinned;
    CU(cu->cuMemAlloc(&dev, 1 << 20));
    CU(cu->cuMemAllocManaged(&managed, 1 << 20, CU_MEM_ATTACH_GLOBAL));
    CU(cu->cuMemHostAlloc(&pinned, 1 << 20, CU_MEMHOSTALLOC_PORTABLE));
    assert_int_equal(ct_gpu_kind_of(g, &on_stack, NULL), CT_GPU_HOST);
    assert_int_equal(ct_gpu_buffer_id(g, &on_stack), 0);
    assert_int_equal(ct_gpu_kind_of(g, (void *)(uintptr_t)(dev + 5), &device), CT_GPU_DEVICE);
    assert_int_equal(device, 0);
    assert_int_equal(ct_gpu_kind_of(g, (void *)(uintptr_t)managed, NULL), CT_GPU_MANAGED);
    assert_int_equal(ct_gpu_kind_of(g, (char *)pinned + 7, NULL), CT_GPU_PINNED);
    ct_gpu_look(g, (void *)(uintptr_t)(dev + 5), &place);
    assert_int_equal(place.kind, CT_GPU_DEVICE);
    assert_true(place.base == dev && place.len_bytes == 1 << 20);
    assert_true(place.buffer_id != 0);
    CU(cu->cuMemFree(dev));
    assert_int_equal(ct_gpu_kind_of(g, (void *)(uintptr_t)dev, NULL), CT_GPU_HOST);
    CUdeviceptr again;
    CU(cu->cuMemAlloc(&again, 1 << 20));
    assert_true(ct_gpu_buffer_id(g, (void *)(uintptr_t)again) != place.buffer_id);
    CU(cu->cuMemFree(again));
    CU(cu->cuMemFree(managed));
    CU(cu->cuMemFreeHost(pinned));
    ct_gpu_leave(g, &v);
    emu_stop(&p);
}

static void rank_has_a_device(void **state)
{
    static const char *const second[] = {"CTRAN_GPU_DEVICE", "1", NULL};
    static const char *const none[] = {"CTRAN_GPU_DEVICE", "63", NULL};
    struct ct_process        p;
    struct ct_gpu_visit      v;
    int                      mine;
    (void)state;
    emu_start(&p, NULL);
    assert_int_equal(ct_gpu_mine(p.gpu, &mine), CTRAN_SUCCESS);
    assert_int_equal(mine, 0);
    const int count = ct_gpu_count(p.gpu);
    for (int i = 0; i < count; i++) {
        assert_int_equal(ct_gpu_find(p.gpu, &ct_gpu_device(p.gpu, i)->uuid), i);
    }
    emu_stop(&p);
    emu_start(&p, none);
    p.log.level = CT_LOG_NONE;
    assert_int_equal(ct_gpu_mine(p.gpu, &mine), CTRAN_ERR_CONFIG);
    assert_int_equal(ct_gpu_enter(p.gpu, count, &v), CTRAN_ERR_ARG);
    emu_stop(&p);
    if (count < 2) {
        return; /* a machine with one GPU */
    }
    emu_start(&p, second);
    assert_int_equal(ct_gpu_mine(p.gpu, &mine), CTRAN_SUCCESS);
    assert_int_equal(mine, 1);
    emu_stop(&p);
    emu_start(&p, NULL); /* the program works with the second one */
    assert_int_equal(ct_gpu_enter(p.gpu, 1, &v), CTRAN_SUCCESS);
    assert_int_equal(ct_gpu_mine(p.gpu, &mine), CTRAN_SUCCESS);
    assert_int_equal(mine, 1);
    ct_gpu_leave(p.gpu, &v);
    emu_stop(&p);
}

static void visits_restore_the_context(void **state)
{
    struct ct_process   p;
    struct ct_gpu_visit a, b;
    CUcontext           before, inside, after;
    CUdevice            device;
    (void)state;
    emu_start(&p, NULL);
    assert_int_equal(ct_gpu_ready(p.gpu), CTRAN_SUCCESS);
    CU(p.gpu->cu->cuCtxGetCurrent(&before));
    const int last = ct_gpu_count(p.gpu) - 1;
    assert_null(ct_gpu_context(p.gpu, last)); /* nothing is eager */
    assert_int_equal(ct_gpu_enter(p.gpu, last, &a), CTRAN_SUCCESS);
    assert_int_equal(ct_gpu_enter(p.gpu, 0, &b), CTRAN_SUCCESS);
    CU(p.gpu->cu->cuCtxGetDevice(&device));
    assert_int_equal(device, 0);
    ct_gpu_leave(p.gpu, &b);
    CU(p.gpu->cu->cuCtxGetCurrent(&inside));
    assert_ptr_equal(inside, ct_gpu_context(p.gpu, last));
    ct_gpu_leave(p.gpu, &a);
    CU(p.gpu->cu->cuCtxGetCurrent(&after));
    assert_ptr_equal(after, before);
    emu_stop(&p);
}

static void copy_streams_come_again(void **state)
{
    struct ct_process          p;
    struct ct_gpu_copy_stream *a, *b, *c;
    (void)state;
    emu_start(&p, NULL);
    assert_int_equal(ct_gpu_copy_stream_get(p.gpu, 0, &a), CTRAN_SUCCESS);
    assert_int_equal(ct_gpu_copy_stream_get(p.gpu, 0, &b), CTRAN_SUCCESS);
    assert_ptr_not_equal(a, b);
    assert_int_equal(ct_gpu_copy_stream_wait(p.gpu, a), CTRAN_SUCCESS);
    assert_int_equal(ct_gpu_copy_stream_test(p.gpu, a), CTRAN_SUCCESS);
    ct_gpu_copy_stream_put(p.gpu, a);
    assert_int_equal(ct_gpu_copy_stream_get(p.gpu, 0, &c), CTRAN_SUCCESS);
    assert_ptr_equal(a, c);
    ct_gpu_copy_stream_put(p.gpu, b);
    ct_gpu_copy_stream_put(p.gpu, c);
    emu_stop(&p);
}

static void kernels_that_are_not_there(void **state)
{
    static const char *const file[] = {"CTRAN_GPU_KERNELS", "/nonexistent/kernels", NULL};
    struct ct_process        p;
    struct ct_gpu_visit      v;
    struct ct_gpu_kernel     f;
    (void)state;
    emu_start(&p, file);
    p.log.level = CT_LOG_NONE;
    assert_int_equal(ct_gpu_enter(p.gpu, 0, &v), CTRAN_SUCCESS);
    assert_int_equal(ct_gpu_kernel(p.gpu, 0, 0, &f), CTRAN_ERR_UNSUPPORTED_OPERATION);
    assert_int_equal(ct_gpu_kernel(p.gpu, 0, 0, &f), CTRAN_ERR_UNSUPPORTED_OPERATION);
    ct_gpu_leave(p.gpu, &v);
    emu_stop(&p);
}

/* The tests' own kernels have none of ctran's. */
static void kernels_of_two_files(void **state)
{
    static const char *const orders[][3] = {
        {"CTRAN_GPU_KERNELS", "tests/emu/kernels.so:src/gpu/kernels/ctran_kernels_emu.so", NULL},
        {"CTRAN_GPU_KERNELS", "src/gpu/kernels/ctran_kernels_emu.so:tests/emu/kernels.so", NULL},
    };
    (void)state;
    if (getenv("CT_REAL_GPU") != NULL ||
        access("src/gpu/kernels/ctran_kernels_emu.so", R_OK) != 0) {
        skip(); /* these are the emulation's, and no build without a C++ compiler has them */
    }
    for (size_t i = 0; i < CT_ARRAY_LEN(orders); i++) {
        struct ct_process    p;
        struct ct_gpu_visit  v;
        struct ct_gpu_kernel f;
        char                 name[CT_KERNEL_NAME];
        emu_start(&p, orders[i]);
        assert_int_equal(ct_gpu_enter(p.gpu, 0, &v), CTRAN_SUCCESS);
        for (uint32_t k = 0; ct_kernel_name(k, name); k++) {
            assert_int_equal(ct_gpu_kernel(p.gpu, 0, k, &f), CTRAN_SUCCESS);
            assert_non_null(f.function);
        }
        ct_gpu_leave(p.gpu, &v);
        emu_stop(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_driver),
        cmocka_unit_test(switched_off),
        cmocka_unit_test(kinds_of_memory),
        cmocka_unit_test(rank_has_a_device),
        cmocka_unit_test(visits_restore_the_context),
        cmocka_unit_test(copy_streams_come_again),
        cmocka_unit_test(kernels_that_are_not_there),
        cmocka_unit_test(kernels_of_two_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
