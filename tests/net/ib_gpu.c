/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GPU memory over ib, on the emulated CUDA driver and the emulated verbs: puts and gets, long ones
 * by the NIC as a dma-buf, short ones over buffers, from one GPU's memory to another's. Memory that
 * was freed and allocated again is registered anew.
 */
#include <unistd.h>

#include "gpu/gpu.h"
#include "ib_sides.h"
#include "mem/mem.h"

enum { LONG = 3 << 20, SHORT = 3000, OTHER = LONG + (1 << 20) };

static struct ct_process p;

static void cu_check(CUresult rc, const char *what)
{
    FAIL_IF(rc != CUDA_SUCCESS, "%s gives %d", what, (int)rc);
}
#define CU(call) cu_check(p.gpu->cu->call, #call)

static CUdeviceptr device_new(size_t bytes)
{
    CUdeviceptr at = 0;
    CU(cuMemAlloc(&at, bytes));
    return at;
}

static void fill(CUdeviceptr at, size_t bytes, unsigned salt)
{
    unsigned char *host = malloc(bytes);
    FAIL_IF(host == NULL, "no memory");
    for (size_t i = 0; i < bytes; i++) {
        host[i] = byte_of(salt, 1, i);
    }
    FAIL_IF(ct_mem_copy(&p, (void *)(uintptr_t)at, host, bytes) != CTRAN_SUCCESS, "copy");
    free(host);
}

static void expect(CUdeviceptr at, size_t bytes, unsigned salt)
{
    unsigned char *host = malloc(bytes);
    FAIL_IF(host == NULL || ct_mem_copy(&p, host, (void *)(uintptr_t)at, bytes) != CTRAN_SUCCESS,
            "copy");
    for (size_t i = 0; i < bytes; i++) {
        FAIL_IF(host[i] != byte_of(salt, 1, i), "byte %zu of %zu", i, bytes);
    }
    free(host);
}

/* One operation between device memory and the start of the region, to its end. */
static void move(struct other *o, struct ct_net_rkey *rkey, enum ct_net_op kind, CUdeviceptr at,
                 size_t bytes)
{
    struct ct_area     area = {.base = (void *)(uintptr_t)at, .len_bytes = bytes};
    struct ct_net_comp comp = {.pending = 1};
    struct ct_net_rma  rma = {
         .op = kind, .rkey = rkey, .comp = &comp, .area = &area, .len_bytes = bytes};
    struct ct_net_rma *op = &rma;
    unsigned           taken;
    ct_area_set_memory(&area, &p.memory);
    FAIL_IF(ct_ib_rma_ops.post(o->link, &op, 1, &taken) != CTRAN_SUCCESS, "post");
    while (comp.pending > 0) {
        (void)turn();
    }
    FAIL_IF(comp.status != CTRAN_SUCCESS, "it ends with %d", comp.status);
}

static void open_gpu(void)
{
    CUcontext ctx;
    int       ordinal;
    ct_log_init(&p.log, CT_LOG_WARN, "gpu");
    FAIL_IF(ct_config_load(&p.cfg, &p.log) != CTRAN_SUCCESS, "configuration");
    FAIL_IF(ct_gpu_init(&p) != CTRAN_SUCCESS || p.gpu == NULL, "no driver");
    FAIL_IF(ct_mem_init(&p) != CTRAN_SUCCESS, "mem");
    FAIL_IF(ct_gpu_ready(p.gpu) != CTRAN_SUCCESS || ct_gpu_count(p.gpu) < 1, "no device");
    ordinal = 0;
    CU(cuDevicePrimaryCtxRetain(&ctx, ct_gpu_device(p.gpu, ordinal)->handle));
    CU(cuCtxSetCurrent(ctx));
    sides_process = &p;
}

int main(void)
{
    sides_begin("2", 1);
    open_gpu();
    side_open(0, "emu0", "CTRAN_IB_SEGMENT=64K");
    side_open(1, "emu1", "CTRAN_IB_SEGMENT=64K");
    struct other              *o = link_to(0, 1);
    const CUdeviceptr          there = device_new(OTHER);
    CUdeviceptr                here = device_new(LONG);
    struct ct_net_mr          *mr;
    struct ct_net_rkey        *rkey;
    unsigned char              key[CT_NET_MAX_RKEY];
    struct ct_area             area = {.base = (void *)(uintptr_t)there, .len_bytes = OTHER};
    const struct ct_net_region what = {.key = 77,
                                       .area = &area,
                                       .access = CT_NET_REMOTE_READ | CT_NET_REMOTE_WRITE,
                                       .peer = CT_NET_ANY_PEER};
    ct_area_set_memory(&area, &p.memory);
    FAIL_IF(ct_ib_rma_ops.mem_reg(sides[1].net, &what, &mr) != CTRAN_SUCCESS, "no region");
    FAIL_IF(ct_ib_rma_ops.rkey_open(o->link, key, ct_ib_rma_ops.rkey_pack(mr, key), &rkey) != 0,
            "no key");
    fill(here, LONG, 1);
    move(o, rkey, CT_NET_OP_PUT, here, LONG);
    expect(there, LONG, 1);
    const uint64_t registrations = ib_of(0)->counters.registrations;
    fill(here, LONG, 2);
    move(o, rkey, CT_NET_OP_PUT, here, LONG);
    expect(there, LONG, 2);
    FAIL_IF(ib_of(0)->counters.registrations != registrations, "a registration is not kept");
    fill(here, SHORT, 3);
    move(o, rkey, CT_NET_OP_PUT, here, SHORT);
    expect(there, SHORT, 3);
    CU(cuMemFree(here));
    here = device_new(LONG); /* mostly at the same address */
    fill(there, LONG, 4);
    move(o, rkey, CT_NET_OP_GET, here, LONG);
    expect(here, LONG, 4);
    FAIL_IF(ib_of(0)->counters.registrations == registrations, "a stale registration was used");
    fill(here, SHORT, 5);
    move(o, rkey, CT_NET_OP_GET, here, SHORT);
    expect(here, SHORT, 4);
    ct_ib_rma_ops.rkey_close(rkey);
    ct_ib_rma_ops.mem_dereg(mr);
    sides_close();
    sides_end();
    (void)printf("ok\n");
    (void)fflush(stdout);
    _exit(0); /* the driver's threads go with the process */
}
