/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the emulated driver: allocation, kinds, attributes, copies of all kinds, accounting. */
#include "emu_test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

static void test_start(void **state)
{
    (void)state;
    int      count = 0, version = 0;
    CUdevice device;
    GIVES(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&count));
    OK(cuInit(0));
    OK(cuDriverGetVersion(&version));
    assert_true(version >= 12000);
    OK(cuDeviceGetCount(&count));
    assert_true(count >= 1);
    GIVES(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, count));
    CUcontext ctx;
    OK(cuCtxGetCurrent(&ctx));
    assert_null(ctx);
    CUdeviceptr ptr;
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&ptr, 64));
    void *function = NULL;
    OK(cuGetProcAddress("cuMemAlloc", &function, 12000, 0, NULL));
    assert_non_null(function);
}

static void test_copies(void **state)
{
    (void)state;
    use_device(0);
    enum { BYTES = 100003 };
    unsigned char *in = malloc(BYTES), *out = calloc(1, BYTES);
    for (int i = 0; i < BYTES; i++) {
        in[i] = (unsigned char)(i * 7);
    }
    const CUdeviceptr a = alloc(BYTES), b = alloc(BYTES);
    CUstream          stream = stream_new();
    OK(cuMemcpyHtoDAsync(a, in, BYTES, stream));
    memset(in, 0, 10); /* pageable: the bytes have been taken */
    OK(cuMemcpyDtoDAsync(b, a, BYTES, stream));
    OK(cuMemsetD8Async(b + 50, 0x5a, 100, stream));
    OK(cuMemcpyDtoHAsync(out, b, BYTES, stream));
    for (int i = 0; i < BYTES; i++) {
        const unsigned char wanted = i >= 50 && i < 150 ? 0x5a : (unsigned char)(i * 7);
        assert_int_equal(wanted, out[i]);
    }
    memset(out, 0, BYTES);
    const CUDA_MEMCPY2D rows = {.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                                .srcDevice = a,
                                .srcPitch = 100,
                                .dstMemoryType = CU_MEMORYTYPE_HOST,
                                .dstHost = out,
                                .dstPitch = 30,
                                .WidthInBytes = 30,
                                .Height = 20};
    OK(cuMemcpy2DAsync(&rows, stream));
    OK(cuStreamSynchronize(stream));
    for (int i = 0; i < 600; i++) {
        assert_int_equal((unsigned char)((i / 30 * 100 + i % 30) * 7), out[i]);
    }
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(a + BYTES - 5, in, 6));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(out, b, BYTES + 1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(device_of(out), in, 4));
    OK(cuMemFree(a));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree(a));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree(b + 512));
    OK(cuMemFree(b));
    OK(cuStreamDestroy(stream));
    free(in);
    free(out);
}

struct facts {
    unsigned           type, managed, legacy;
    int                device;
    unsigned long long id;
    uint64_t           base;
    size_t             bytes;
};

static struct facts facts_of(CUdeviceptr ptr)
{
    struct facts        facts;
    CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                   CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                   CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE,
                                   CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                   CU_POINTER_ATTRIBUTE_BUFFER_ID,
                                   CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                   CU_POINTER_ATTRIBUTE_RANGE_SIZE};
    void               *where[] = {&facts.type, &facts.managed, &facts.legacy, &facts.device,
                                   &facts.id,   &facts.base,    &facts.bytes};
    memset(&facts, 0x55, sizeof facts);
    OK(cuPointerGetAttributes(7, which, where, ptr));
    return facts;
}

static void test_attributes(void **state)
{
    (void)state;
    use_device(0);
    char              *plain = malloc(4096);
    const struct facts none = facts_of(device_of(plain));
    assert_int_equal(0, none.type);
    assert_int_equal(0, none.id);
    assert_int_equal(-2, none.device);
    unsigned type;
    GIVES(CUDA_ERROR_INVALID_VALUE,
          cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device_of(plain)));

    CUdeviceptr        ptr = alloc(3000);
    const struct facts device = facts_of(ptr + 100);
    assert_int_equal(CU_MEMORYTYPE_DEVICE, device.type);
    assert_int_equal(0, device.managed);
    assert_int_equal(1, device.legacy);
    assert_int_equal(0, device.device);
    assert_true(device.id != 0 && device.base == ptr && device.bytes == 3000);
    CUdeviceptr base;
    size_t      bytes;
    OK(cuMemGetAddressRange(&base, &bytes, ptr + 2999));
    assert_true(base == ptr && bytes == 3000);
    OK(cuMemFree(ptr));
    assert_int_equal(0, facts_of(ptr).id);
    GIVES(CUDA_ERROR_NOT_FOUND, cuMemGetAddressRange(&base, &bytes, ptr));

    OK(cuMemHostRegister(plain, 4096, CU_MEMHOSTREGISTER_PORTABLE));
    GIVES(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister(plain + 100, 10, 0));
    assert_int_equal(CU_MEMORYTYPE_HOST, facts_of(device_of(plain)).type);
    OK(cuMemHostUnregister(plain));
    GIVES(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(plain));
    OK(cuMemAllocManaged(&ptr, 100, CU_MEM_ATTACH_GLOBAL));
    assert_int_equal(1, facts_of(ptr).managed);
    assert_int_equal(0, facts_of(ptr).legacy);
    *(char *)(uintptr_t)ptr = 1; /* the CPU may */
    OK(cuMemFree(ptr));
    free(plain);
}

/* A freed address that comes back is told by its id. */
static void test_reuse(void **state)
{
    (void)state;
    use_device(0);
    unsigned long long last = 0;
    unsigned           reused = 0;
    CUdeviceptr        before = 0;
    for (int i = 0; i < 500; i++) {
        const CUdeviceptr  ptr = alloc(4 << 20);
        const struct facts facts = facts_of(ptr);
        assert_true(facts.id != last);
        reused += ptr == before;
        before = ptr;
        last = facts.id;
        OK(cuMemFree(ptr));
    }
    assert_true(!emulated || reused > 250);
}

static void test_accounting(void **state)
{
    (void)state;
    use_device(0);
    size_t before, after, total;
    OK(cuMemGetInfo(&before, &total));
    const CUdeviceptr ptr = alloc(16 << 20);
    OK(cuMemGetInfo(&after, &total));
    assert_true(before - after >= 16 << 20);
    OK(cuMemFree(ptr));
    CUdeviceptr none;
    GIVES(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&none, total + 1));
    if (emulated) {
        OK(cuMemGetInfo(&after, &total));
        assert_int_equal(before, after);
    }
}

/* The CPU's access to device memory is caught: by the MMU, and by the kernel for a system call. */
static void test_strict(void **state)
{
    (void)state;
    if (!emulated) {
        skip();
    }
    use_device(0);
    const CUdeviceptr ptr = alloc(100);
    OK(cuMemsetD8(ptr, 1, 100));
    OK(cuCtxSynchronize());
    const int null = open("/dev/zero", O_RDONLY);
    assert_int_equal(-1, read(null, (void *)(uintptr_t)ptr, 4));
    assert_int_equal(EFAULT, errno);
    close(null);
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        _exit(*(volatile char *)(uintptr_t)ptr);
    }
    int status;
    assert_int_equal(child, waitpid(child, &status, 0));
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    OK(cuMemFree(ptr));
}

static void test_fork(void **state)
{
    (void)state;
    use_device(0);
    const pid_t child = fork();
    if (child == 0) {
        CUdeviceptr ptr;
        _exit(cu.cuMemAlloc(&ptr, 8) == CUDA_ERROR_NOT_INITIALIZED ? 0 : 1);
    }
    int status;
    assert_int_equal(child, waitpid(child, &status, 0));
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void test_inject(void **state)
{
    (void)state;
    if (!emulated) {
        skip();
    }
    use_device(0);
    void *found = NULL;
    OK(cuGetProcAddress("emu_inject", &found, 12000, 0, NULL));
    void (*inject)(const char *);
    memcpy(&inject, &found, sizeof found);
    inject("cuMemAlloc:2=2,cuStreamQuery=719");
    const CUdeviceptr ptr = alloc(8);
    CUdeviceptr       none;
    GIVES(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&none, 8));
    OK(cuMemFree(ptr));
    GIVES(CUDA_ERROR_LAUNCH_FAILED, cuStreamQuery(NULL));
    OK(cuMemFree(alloc(8)));
    inject("");
    OK(cuStreamQuery(NULL));
}

/* With two devices: copies between them need no peer access, memory operations do. */
static void test_peers(void **state)
{
    (void)state;
    int count;
    OK(cuInit(0));
    OK(cuDeviceGetCount(&count));
    if (count < 2) {
        skip();
    }
    const CUcontext   second = use_device(1);
    const CUdeviceptr there = alloc(64);
    use_device(0);
    const CUdeviceptr here = alloc(64);
    CUstream          stream = stream_new();
    int               can;
    OK(cuDeviceCanAccessPeer(&can, 0, 1));
    OK(cuMemsetD32Async(here, 77, 16, stream));
    OK(cuMemcpyDtoDAsync(there, here, 64, stream));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuStreamWriteValue32(stream, there, 5, 0));
    if (can) {
        OK(cuCtxEnablePeerAccess(second, 0));
        GIVES(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, cuCtxEnablePeerAccess(second, 0));
        OK(cuStreamWriteValue32(stream, there, 5, 0));
    }
    uint32_t words[16];
    OK(cuMemcpyDtoHAsync(words, there, 64, stream));
    OK(cuStreamSynchronize(stream));
    assert_int_equal(can ? 5 : 77, words[0]);
    assert_int_equal(77, words[15]);
    OK(cuStreamDestroy(stream));
    OK(cuMemFree(here));
    OK(cuMemFree(there));
}

int main(void)
{
    open_driver();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_start),      cmocka_unit_test(test_copies),
        cmocka_unit_test(test_attributes), cmocka_unit_test(test_reuse),
        cmocka_unit_test(test_accounting), cmocka_unit_test(test_strict),
        cmocka_unit_test(test_fork),       cmocka_unit_test(test_inject),
        cmocka_unit_test(test_peers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
