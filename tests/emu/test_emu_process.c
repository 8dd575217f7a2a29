/* SPDX-License-Identifier: BSD-3-Clause */
/* Two processes on the emulated driver: memory by legacy handles and by descriptors, tokens
 * between their streams, interprocess events, an exporter that frees or dies. Sanitizer note:
 * the parent never starts the driver, since its children would not have its threads. */
#include "emu_test.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>

static int ends[2];

static void tell(int end, const void *what, size_t bytes)
{
    CHECK(write(ends[end], what, bytes) == (ssize_t)bytes);
}

static void hear(int end, void *what, size_t bytes)
{
    CHECK(read(ends[end], what, bytes) == (ssize_t)bytes);
}

static void tell_fd(int end, int fd)
{
    char          byte = 1, space[CMSG_SPACE(sizeof fd)] = {0};
    struct iovec  iov = {&byte, 1};
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    struct cmsghdr *head = CMSG_FIRSTHDR(&msg);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(head), &fd, sizeof fd);
    CHECK(sendmsg(ends[end], &msg, 0) == 1);
}

static int hear_fd(int end)
{
    int           fd = -1;
    char          byte, space[CMSG_SPACE(sizeof fd)];
    struct iovec  iov = {&byte, 1};
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    CHECK(recvmsg(ends[end], &msg, 0) == 1);
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof fd);
    return fd;
}

static void fill(CUdeviceptr ptr, uint32_t value, size_t words)
{
    OK(cuMemsetD32Async(ptr, value, words, NULL));
    OK(cuStreamSynchronize(NULL));
}

static uint32_t word_at(CUdeviceptr ptr)
{
    uint32_t found = 0;
    OK(cuMemcpyDtoH(&found, ptr, 4));
    return found;
}

/* What the processes are to do goes by end: 0 exports, 1 imports. */
static void run_both(void (*what)(int))
{
    assert_int_equal(0, socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
    const pid_t exporter = start_child(what, 0), importer = start_child(what, 1);
    expect_end(exporter);
    expect_end(importer);
    close(ends[0]);
    close(ends[1]);
}

static void export_legacy(void)
{
    char           byte;
    CUipcMemHandle handle;
    use_device(0);
    const CUdeviceptr before = alloc(100), ptr = alloc(5000); /* not at a page */
    fill(ptr, 7, 1250);
    OK(cuIpcGetMemHandle(&handle, ptr + 12));
    CUdeviceptr none;
    GIVES(CUDA_ERROR_INVALID_CONTEXT,
          cuIpcOpenMemHandle(&none, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    tell(0, &handle, sizeof handle);
    hear(0, &byte, 1);
    CHECK(word_at(ptr + 4) == 8);
    OK(cuMemFree(ptr));
    tell(0, &byte, 1);
    hear(0, &byte, 1);
    OK(cuMemFree(before));
}

static void legacy(int end)
{
    char           byte = 0;
    CUipcMemHandle handle;
    CUdeviceptr    ptr = 0, again = 0;
    int            count = 0;
    if (end == 0) {
        export_legacy();
        return;
    }
    OK(cuInit(0));
    OK(cuDeviceGetCount(&count));
    use_device(count > 1 ? 1 : 0);
    hear(1, &handle, sizeof handle);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuIpcOpenMemHandle(&ptr, handle, 0));
    OK(cuIpcOpenMemHandle(&ptr, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    OK(cuIpcOpenMemHandle(&again, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    CHECK(ptr == again);
    CHECK(word_at(ptr + 4996) == 7);
    CUdeviceptr base;
    size_t      bytes;
    OK(cuMemGetAddressRange(&base, &bytes, ptr + 9));
    CHECK(base == ptr && bytes == 5000);
    int device = -1;
    OK(cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, ptr));
    CHECK(device == 0);
    OK(cuStreamWriteValue32(NULL, ptr + 4, 8, 0));
    OK(cuStreamSynchronize(NULL));
    tell(1, &byte, 1);
    hear(1, &byte, 1); /* it has been freed there: the handle means nothing, the mapping works */
    CHECK(word_at(ptr + 4) == 8);
    OK(cuIpcCloseMemHandle(ptr));
    CHECK(word_at(ptr + 4) == 8);
    OK(cuIpcCloseMemHandle(ptr));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuIpcCloseMemHandle(ptr));
    CHECK(cu.cuIpcOpenMemHandle(&ptr, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) != CUDA_SUCCESS);
    tell(1, &byte, 1);
}

static void test_legacy_handles(void **state)
{
    (void)state;
    run_both(legacy);
}

static void killed(int end)
{
    CUipcMemHandle handle;
    CUdeviceptr    ptr = 0;
    pid_t          pid = getpid();
    use_device(0);
    if (end == 0) {
        ptr = alloc(64);
        fill(ptr, 3, 16);
        OK(cuIpcGetMemHandle(&handle, ptr));
        tell(0, &handle, sizeof handle);
        tell(0, &pid, sizeof pid);
        hear(0, &pid, sizeof pid);
        OK(cuStreamWaitValue32(NULL, ptr, 99, CU_STREAM_WAIT_VALUE_EQ)); /* work under way */
        _exit(0);
    }
    hear(1, &handle, sizeof handle);
    hear(1, &pid, sizeof pid);
    OK(cuIpcOpenMemHandle(&ptr, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    tell(1, &pid, sizeof pid);
    close(ends[0]);
    char byte;
    CHECK(read(ends[1], &byte, 1) == 0); /* it has ended */
    CHECK(word_at(ptr + 60) == 3);
    OK(cuIpcCloseMemHandle(ptr));
}

static void test_exporter_ends(void **state)
{
    (void)state;
    assert_int_equal(0, socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
    const pid_t exporter = start_child(killed, 0), importer = start_child(killed, 1);
    close(ends[0]);
    expect_end(exporter);
    expect_end(importer);
    close(ends[1]);
}

enum { PIECE = 2 << 20 };

/* Address space for two pieces, with `handles` mapped and this device's access. */
static CUdeviceptr map_pieces(const CUmemGenericAllocationHandle *handles, int count, int device)
{
    CUdeviceptr     ptr = 0;
    CUmemAccessDesc access = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device},
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    OK(cuMemAddressReserve(&ptr, 2 * PIECE, 0, 0, 0));
    for (int i = 0; i < count; i++) {
        OK(cuMemMap(ptr + (size_t)i * PIECE, PIECE, 0, handles[i], 0));
        OK(cuMemSetAccess(ptr + (size_t)i * PIECE, PIECE, &access, 1));
    }
    return ptr;
}

static void unmap_pieces(CUdeviceptr ptr, int count)
{
    OK(cuMemUnmap(ptr, (size_t)count * PIECE));
    OK(cuMemAddressFree(ptr, 2 * PIECE));
}

static void export_mapped(void)
{
    CUmemAllocationProp prop = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
    };
    CUmemGenericAllocationHandle handles[2];
    char                         byte = 0;
    use_device(0);
    for (int i = 0; i < 2; i++) {
        OK(cuMemCreate(&handles[i], PIECE, &prop, 0));
    }
    const CUdeviceptr ptr = map_pieces(handles, 2, 0);
    /* Across both pieces, as an expandable segment is used. */
    OK(cuMemsetD32Async(ptr, 5, 2 * PIECE / 4, NULL));
    OK(cuStreamSynchronize(NULL));
    CHECK(word_at(ptr + PIECE) == 5);
    CUdeviceptr base;
    size_t      bytes;
    OK(cuMemGetAddressRange(&base, &bytes, ptr + PIECE + 4));
    CHECK(base == ptr + PIECE && bytes == PIECE);
    CUipcMemHandle legacy_handle;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(&legacy_handle, ptr));
    for (int i = 0; i < 2; i++) {
        int fd = -1;
        OK(cuMemExportToShareableHandle(&fd, handles[i], CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                        0));
        tell_fd(0, fd);
        close(fd);
    }
    hear(0, &byte, 1);
    CHECK(word_at(ptr + 2 * PIECE - 4) == 6);
    unsigned long long first = 0, second = 0;
    OK(cuPointerGetAttribute(&first, CU_POINTER_ATTRIBUTE_BUFFER_ID, ptr));
    unmap_pieces(ptr, 2);
    CHECK(cu.cuPointerGetAttribute(&second, CU_POINTER_ATTRIBUTE_BUFFER_ID, ptr) != CUDA_SUCCESS);
    const CUdeviceptr again = map_pieces(handles, 1, 0);
    OK(cuPointerGetAttribute(&second, CU_POINTER_ATTRIBUTE_BUFFER_ID, again));
    CHECK(first != second);
    CHECK(word_at(again) == 5);
    unmap_pieces(again, 1);
    OK(cuMemRelease(handles[0]));
    OK(cuMemRelease(handles[1]));
    size_t available, total;
    OK(cuMemGetInfo(&available, &total));
    CHECK(!emulated || available == total);
}

static void mapped(int end)
{
    CUmemGenericAllocationHandle handles[2];
    char                         byte = 0;
    if (end == 0) {
        export_mapped();
        return;
    }
    use_device(0);
    for (int i = 0; i < 2; i++) {
        const int fd = hear_fd(1);
        OK(cuMemImportFromShareableHandle(&handles[i], (void *)(intptr_t)fd,
                                          CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
        close(fd);
    }
    CHECK(cu.cuMemImportFromShareableHandle(handles, (void *)(intptr_t)ends[1],
                                            CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) !=
          CUDA_SUCCESS);
    const CUdeviceptr ptr = map_pieces(handles, 2, 0);
    CHECK(word_at(ptr + 2 * PIECE - 4) == 5);
    fill(ptr + 2 * PIECE - 4, 6, 1);
    OK(cuMemRelease(handles[0]));
    OK(cuMemRelease(handles[1]));
    tell(1, &byte, 1);
    CHECK(word_at(ptr) == 5); /* the mapping holds the memory */
    unmap_pieces(ptr, 2);
}

static void test_descriptors(void **state)
{
    (void)state;
    run_both(mapped);
}

/* Tokens: each side sets the other's word in shared host memory and waits for its own, all
 * enqueued. */
static uint32_t *page;

static void tokens(int end)
{
    enum { ROUNDS = 200 };
    use_device(0);
    OK(cuMemHostRegister(page, 4096, CU_MEMHOSTREGISTER_PORTABLE));
    CUstream stream = stream_new();
    for (uint32_t i = 0; i < ROUNDS; i++) {
        CUstreamBatchMemOpParams batch[3];
        memset(batch, 0, sizeof batch);
        batch[0].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
        batch[0].writeValue.address = device_of(page + 1 - end);
        batch[0].writeValue.value = i + 1;
        batch[1].operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
        batch[1].waitValue.address = device_of(page + end);
        batch[1].waitValue.value = i + 1;
        batch[2].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
        batch[2].writeValue.address = device_of(page + 2 + end);
        batch[2].writeValue.value = i + 1;
        OK(cuStreamBatchMemOp(stream, 3, batch, 0));
    }
    OK(cuStreamSynchronize(stream));
    CHECK(get_word(page + 2 + end) == ROUNDS);
    OK(cuStreamDestroy(stream));
    OK(cuMemHostUnregister(page));
}

static void test_tokens(void **state)
{
    (void)state;
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(page != MAP_FAILED);
    run_both(tokens);
    munmap(page, 4096);
}

static void shared_events(int end)
{
    CUevent          event = NULL;
    CUipcEventHandle handle;
    CUipcMemHandle   memory;
    CUdeviceptr      ptr = 0;
    char             byte = 0;
    use_device(0);
    if (end == 0) {
        uint32_t *gate = pinned_words(1);
        OK(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
        OK(cuIpcGetEventHandle(&handle, event));
        ptr = alloc(4);
        OK(cuIpcGetMemHandle(&memory, ptr));
        CUstream stream = stream_new();
        OK(cuStreamWaitValue32(stream, device_of(gate), 1, CU_STREAM_WAIT_VALUE_EQ));
        OK(cuMemsetD32Async(ptr, 21, 1, stream));
        OK(cuEventRecord(event, stream));
        tell(0, &handle, sizeof handle);
        tell(0, &memory, sizeof memory);
        hear(0, &byte, 1); /* the other's stream waits for it */
        set_word(gate, 1);
        OK(cuStreamSynchronize(stream));
        hear(0, &byte, 1);
        OK(cuEventDestroy(event));
        return;
    }
    hear(1, &handle, sizeof handle);
    hear(1, &memory, sizeof memory);
    OK(cuIpcOpenEventHandle(&event, handle));
    OK(cuIpcOpenMemHandle(&ptr, memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    GIVES(CUDA_ERROR_NOT_READY, cuEventQuery(event));
    CUstream stream = stream_new();
    uint32_t found = 0, *copied = pinned_words(1);
    OK(cuStreamWaitEvent(stream, event, 0));
    OK(cuMemcpyAsync(device_of(copied), ptr, 4, stream));
    tell(1, &byte, 1);
    OK(cuEventSynchronize(event));
    OK(cuStreamSynchronize(stream));
    found = get_word(copied);
    CHECK(found == 21);
    tell(1, &byte, 1);
    OK(cuEventDestroy(event));
}

static void test_shared_events(void **state)
{
    (void)state;
    run_both(shared_events);
}

/* Work on memory that was unmapped before it ran: the context is lost, and says so from then on. */
static void faulty(int unused)
{
    (void)unused;
    CUmemAllocationProp prop = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
    };
    CUmemGenericAllocationHandle handle;
    use_device(0);
    OK(cuMemCreate(&handle, PIECE, &prop, 0));
    const CUdeviceptr ptr = map_pieces(&handle, 1, 0), to = alloc(64);
    uint32_t         *word = pinned_words(1);
    CUstream          stream = stream_new(), other = stream_new();
    OK(cuStreamWaitValue32(stream, device_of(word), 1, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuMemcpyDtoDAsync(to, ptr, 64, stream));
    OK(cuStreamWaitValue32(other, device_of(word), 2, CU_STREAM_WAIT_VALUE_EQ));
    unmap_pieces(ptr, 1);
    set_word(word, 1);
    GIVES(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(stream));
    GIVES(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(other)); /* nothing waits for ever */
    CUdeviceptr none;
    GIVES(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemAlloc(&none, 8));
}

static void test_fault(void **state)
{
    (void)state;
    if (!emulated) {
        skip(); /* it would take the device's other programs along */
    }
    expect_end(start_child(faulty, 0));
}

int main(void)
{
    open_driver();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_legacy_handles), cmocka_unit_test(test_exporter_ends),
        cmocka_unit_test(test_descriptors),    cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_shared_events),  cmocka_unit_test(test_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
