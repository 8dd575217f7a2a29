/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the emulated GPU in the emulated verbs: it comes as a dma-buf and in no other way, with
 * keys and bounds as any memory, and the data goes from one GPU's memory to another's. */
#include "emu_test.h"
#include "verbs_test.h"

enum { PAGE = 4096, BYTES = 64 * PAGE };

static struct side a, b;

static int export_of(CUdeviceptr ptr, size_t bytes)
{
    int fd = -1;
    OK(cuMemGetHandleForAddressRange(&fd, ptr, bytes, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
    assert_true(fd >= 0);
    return fd;
}

static void start(void)
{
    side_new(&a, (struct options){.device = 0});
    side_new(&b, (struct options){.device = 1});
    connect_sides(&a, &b, (struct link){0});
}

static void stop(void)
{
    side_free(&a);
    side_free(&b);
}

static void test_host_calls_refuse_it(void **state)
{
    (void)state;
    use_device(0);
    start();
    const CUdeviceptr ptr = alloc(4u << 20);
    assert_null(ibv_reg_mr(a.pd, (void *)(uintptr_t)ptr, PAGE, IBV_ACCESS_LOCAL_WRITE));
    assert_int_equal(EFAULT, errno);
    int fd = -1;
    GIVES(
        CUDA_ERROR_INVALID_VALUE,
        cuMemGetHandleForAddressRange(&fd, ptr + 8, PAGE, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE,
          cuMemGetHandleForAddressRange(&fd, ptr, (4u << 20) + PAGE,
                                        CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
    uint32_t *host = pinned_words(PAGE / 4);
    GIVES(CUDA_ERROR_INVALID_VALUE,
          cuMemGetHandleForAddressRange(&fd, device_of(host), PAGE,
                                        CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
    OK(cuMemFreeHost(host));
    OK(cuMemFree(ptr));
    stop();
}

/* Part of an allocation, at an address of its own choice, written and read over the wire. */
static void test_from_gpu_to_gpu(void **state)
{
    (void)state;
    const int rights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
    char      sent[BYTES], got[BYTES];
    start();
    use_device(0);
    const CUdeviceptr from = alloc(4u << 20);
    for (size_t i = 0; i < BYTES; i++) {
        sent[i] = (char)(i * 13 + (i >> 9));
    }
    OK(cuMemcpyHtoD(from + 3 * PAGE, sent, BYTES));
    OK(cuCtxSynchronize()); /* the call has taken the bytes, the NIC wants them in the GPU */
    use_device(1);
    const CUdeviceptr to = alloc(4u << 20);
    const int         from_fd = export_of(from + 2 * PAGE, BYTES + PAGE);
    const int         to_fd = export_of(to, 4u << 20);
    struct ibv_mr *from_mr = ibv_reg_dmabuf_mr(a.pd, PAGE, BYTES, from + 3 * PAGE, from_fd, rights);
    struct ibv_mr *to_mr = ibv_reg_dmabuf_mr(b.pd, 100, BYTES, to + 100, to_fd, rights);
    assert_non_null(from_mr);
    assert_non_null(to_mr);
    assert_null(ibv_reg_dmabuf_mr(b.pd, 1, 4u << 20, 0, to_fd, rights));
    assert_int_equal(EINVAL, errno);
    close(from_fd); /* the regions hold the memory */
    close(to_fd);
    struct ibv_sge     sge = {from + 3 * PAGE, BYTES, from_mr->lkey};
    struct ibv_send_wr wr = {.wr_id = 1,
                             .sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_RDMA_WRITE,
                             .send_flags = IBV_SEND_SIGNALED};
    wr.wr.rdma.remote_addr = to + 100;
    wr.wr.rdma.rkey = to_mr->rkey;
    assert_int_equal(0, post(&a, &wr));
    EXPECT_WC(&a, IBV_WC_SUCCESS, 1);
    OK(cuMemcpyDtoH(got, to + 100, BYTES));
    assert_memory_equal(sent, got, BYTES);
    /* Back into host memory. */
    sge = (struct ibv_sge){(uintptr_t)a.buffer, BYTES, a.mr->lkey};
    wr.opcode = IBV_WR_RDMA_READ;
    assert_int_equal(0, post(&a, &wr));
    EXPECT_WC(&a, IBV_WC_SUCCESS, 1);
    assert_memory_equal(sent, a.buffer, BYTES);
    /* A byte beyond. */
    wr.wr.rdma.remote_addr = to + 101;
    assert_int_equal(0, post(&a, &wr));
    EXPECT_WC(&a, IBV_WC_REM_ACCESS_ERR, 1);
    assert_int_equal(0, ibv_dereg_mr(from_mr));
    assert_int_equal(0, ibv_dereg_mr(to_mr));
    OK(cuMemFree(to));
    OK(cuMemFree(from));
    stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host_calls_refuse_it),
        cmocka_unit_test(test_from_gpu_to_gpu),
    };
    setenv("EMU_VERBS_TIME", "virtual", 1);
    open_driver();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
