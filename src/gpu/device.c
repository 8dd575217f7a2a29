/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Begin and end of gpu, the devices, and which of them is the rank's. The driver is initialised at
 * the first question for a device: cuInit takes long where there are many.
 */
#define CT_FOLDER "gpu"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/own.h"
#include "pmi/pmi.h"

enum { MODE_AUTO, MODE_ON, MODE_OFF }; /* CTRAN_GPU */

/* ---- begin and end --------------------------------------------------------------------------- */

/* CTRAN_SUCCESS with no p->gpu: there is no driver, and none is needed. */
static int open_driver(struct ct_process *p, struct ct_gpu *g)
{
    char                       why[512];
    const enum ct_driver_found found = ct_driver_open(&g->own->table, &g->version, why, sizeof why);
    if (found == CT_DRIVER_FOUND) {
        ct_debug(&p->log, "the CUDA driver is there, version %d.%d", g->version / 1000,
                 g->version % 1000 / 10);
        p->gpu = g;
        return CTRAN_SUCCESS;
    }
    if (p->cfg.gpu == MODE_ON) {
        ct_error(&p->log, "CTRAN_GPU is on, but there is no CUDA driver to use: %s", why);
        return CTRAN_ERR_UNSUPPORTED_OPERATION;
    }
    const enum ct_log_level level = found == CT_DRIVER_NONE ? CT_LOG_DEBUG : CT_LOG_WARN;
    CT_LOG_(&p->log, level, "GPUs are not used: %s", why);
    return CTRAN_SUCCESS;
}

int ct_gpu_init(struct ct_process *p)
{
    p->gpu = NULL;
    if (p->cfg.gpu == MODE_OFF) {
        return CTRAN_SUCCESS;
    }
    struct ct_gpu         *g = calloc(1, sizeof *g);
    struct ct_gpu_private *own = calloc(1, sizeof *own);
    int                    rc = CTRAN_ERR_NO_MEM;
    if (g == NULL || own == NULL) {
        ct_error(&p->log, "no memory for what is kept of GPUs (%zu bytes)", sizeof *own);
        goto err;
    }
    *g = (struct ct_gpu){.cu = &own->table, .log = &p->log, .own = own};
    own->p = p;
    atomic_store_explicit(&own->ready, CT_AGAIN, memory_order_relaxed);
    atomic_store_explicit(&own->mine, -1, memory_order_relaxed);
    (void)pthread_mutex_init(&own->lock, NULL); /* cannot fail for a plain one */
    for (int i = 0; i < CT_GPU_MAX_DEVICES; i++) {
        ct_list_init(&own->used[i].copy_streams);
        own->used[i].loaded = CT_AGAIN;
    }
    rc = open_driver(p, g);
    if (p->gpu != NULL) {
        return rc;
    }
    (void)pthread_mutex_destroy(&own->lock);
err:
    free(own);
    free(g);
    return rc;
}

void ct_gpu_fini(struct ct_process *p)
{
    struct ct_gpu *g = p->gpu;
    if (g == NULL) {
        return;
    }
    ct_gpu_copy_streams_free(g);
    for (int i = 0; i < g->own->ndevices; i++) {
        ct_gpu_kernels_free(g, i);
        if (ct_gpu_context(g, i) != NULL) {
            (void)g->cu->cuDevicePrimaryCtxRelease(g->own->devices[i].handle); /* may be gone */
        }
    }
    (void)pthread_mutex_destroy(&g->own->lock);
    free(g->own);
    free(g);
    p->gpu = NULL;
}

/* ---- what the devices are -------------------------------------------------------------------- */

static int device_attribute(const struct ct_gpu *g, CUdevice device, CUdevice_attribute which)
{
    int value = 0;
    return g->cu->cuDeviceGetAttribute(&value, which, device) == CUDA_SUCCESS ? value : 0;
}

static int device_describe(struct ct_gpu *g, int ordinal, struct ct_gpu_device *d)
{
#define HAS(name) device_attribute(g, d->handle, CU_DEVICE_ATTRIBUTE_##name)
    const char what[] = "looking at a GPU";
    int        rc = CT_GPU_TRY(g, what, cuDeviceGet, (&d->handle, ordinal));
    if (rc == CTRAN_SUCCESS) {
        rc = CT_GPU_TRY(g, what, cuDeviceGetName, (d->name, (int)sizeof d->name, d->handle));
    }
    if (rc == CTRAN_SUCCESS) {
        rc = CT_GPU_TRY(g, what, cuDeviceGetUuid, (&d->uuid, d->handle));
    }
    if (rc == CTRAN_SUCCESS) {
        rc = CT_GPU_TRY(g, what, cuDeviceTotalMem, (&d->mem_bytes, d->handle));
    }
    if (g->cu->cuDeviceGetPCIBusId(d->pci, (int)sizeof d->pci, d->handle) != CUDA_SUCCESS) {
        (void)strcpy(d->pci, "unknown"); /* it names the device to people, no more */
    }
    d->major = HAS(COMPUTE_CAPABILITY_MAJOR);
    d->minor = HAS(COMPUTE_CAPABILITY_MINOR);
    d->processors = HAS(MULTIPROCESSOR_COUNT);
    d->copy_engines = HAS(ASYNC_ENGINE_COUNT);
    d->max_pitch = (size_t)HAS(MAX_PITCH);
    d->unified = HAS(UNIFIED_ADDRESSING);
    d->managed_by_cpu = HAS(CONCURRENT_MANAGED_ACCESS);
    d->vmm = HAS(VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED);
    d->vmm_fd = HAS(HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED);
    d->wait_flush = HAS(CAN_FLUSH_REMOTE_WRITES);
    d->wait_64 = HAS(CAN_USE_64_BIT_STREAM_MEM_OPS);
    d->wait_nor = HAS(CAN_USE_STREAM_WAIT_VALUE_NOR);
    d->dma_buf = HAS(DMA_BUF_SUPPORTED);
#undef HAS
    if (rc == CTRAN_SUCCESS && !d->unified) {
        ct_error(g->log,
                 "GPU %d (%s) has no address space in common with the host: set "
                 "CTRAN_GPU=off, or hide it with CUDA_VISIBLE_DEVICES",
                 ordinal, d->name);
        rc = CTRAN_ERR_UNSUPPORTED_OPERATION;
    }
    return rc;
}

static int device_look(struct ct_gpu *g)
{
    int      count = 0;
    CUresult r = g->cu->cuInit(0);
    r = r == CUDA_SUCCESS ? g->cu->cuDeviceGetCount(&count) : r;
    if (r == CUDA_SUCCESS && count == 0) {
        r = CUDA_ERROR_NO_DEVICE;
    }
    if (r != CUDA_SUCCESS) {
        return ct_gpu_result(g, r, "cuInit", "starting the CUDA driver (does nvidia-smi run?)");
    }
    if (count > CT_GPU_MAX_DEVICES) {
        ct_warn(g->log, "of %d GPUs only the first %d are used", count, CT_GPU_MAX_DEVICES);
        count = CT_GPU_MAX_DEVICES;
    }
    int rc = CTRAN_SUCCESS;
    for (int i = 0; i < count && rc == CTRAN_SUCCESS; i++) {
        rc = device_describe(g, i, &g->own->devices[i]);
    }
    g->own->ndevices = rc == CTRAN_SUCCESS ? count : 0;
    return rc;
}

int ct_gpu_ready(struct ct_gpu *g)
{
    struct ct_gpu_private *own = g->own;
    int                    rc = atomic_load_explicit(&own->ready, memory_order_acquire);
    if (CT_LIKELY(rc != CT_AGAIN)) {
        return rc;
    }
    pthread_mutex_lock(&own->lock);
    rc = atomic_load_explicit(&own->ready, memory_order_relaxed);
    if (rc == CT_AGAIN) {
        rc = device_look(g);
        atomic_store_explicit(&own->ready, rc, memory_order_release);
    }
    pthread_mutex_unlock(&own->lock);
    return rc;
}

int ct_gpu_count(const struct ct_gpu *g)
{
    return g->own->ndevices;
}

const struct ct_gpu_device *ct_gpu_device(const struct ct_gpu *g, int ordinal)
{
    return &g->own->devices[ordinal];
}

int ct_gpu_find(const struct ct_gpu *g, const CUuuid *uuid)
{
    for (int i = 0; i < g->own->ndevices; i++) {
        if (memcmp(&g->own->devices[i].uuid, uuid, sizeof *uuid) == 0) {
            return i;
        }
    }
    return -1;
}

int ct_gpu_ordinal_of(const struct ct_gpu *g, CUdevice handle)
{
    for (int i = 0; i < g->own->ndevices; i++) {
        if (g->own->devices[i].handle == handle) {
            return i;
        }
    }
    return -1;
}

static int device_between(const struct ct_gpu *g, CUdevice_P2PAttribute which, int device, int peer)
{
    const struct ct_gpu_device *d = g->own->devices;
    int                         value = 0;
    return g->cu->cuDeviceGetP2PAttribute(&value, which, d[device].handle, d[peer].handle) ==
                   CUDA_SUCCESS
               ? value
               : 0;
}

void ct_gpu_peer(const struct ct_gpu *g, int device, int peer, struct ct_gpu_peer *out)
{
    const struct ct_gpu_device *d = g->own->devices;
    int                         can = 0;
    *out = (struct ct_gpu_peer){.access = true, .atomics = true};
    if (device == peer) {
        return;
    }
    out->access =
        g->cu->cuDeviceCanAccessPeer(&can, d[device].handle, d[peer].handle) == CUDA_SUCCESS &&
        can != 0;
    out->atomics =
        device_between(g, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED, device, peer) != 0;
    out->rank = device_between(g, CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK, device, peer);
}

/* ---- the rank's ------------------------------------------------------------------------------ */

/* That of the thread's current context, -1: it has none. */
static int current_device(const struct ct_gpu *g)
{
    CUcontext ctx = NULL;
    CUdevice  handle;
    if (g->cu->cuCtxGetCurrent(&ctx) != CUDA_SUCCESS || ctx == NULL ||
        g->cu->cuCtxGetDevice(&handle) != CUDA_SUCCESS) {
        return -1;
    }
    return ct_gpu_ordinal_of(g, handle);
}

static int device_choose(const struct ct_gpu *g, int *ordinal)
{
    const struct ct_process *p = g->own->p;
    const int64_t            wanted = p->cfg.gpu_device;
    if (wanted >= g->own->ndevices) {
        ct_error(g->log,
                 "CTRAN_GPU_DEVICE is %lld, but this process sees %d GPU%s, numbered from 0",
                 (long long)wanted, g->own->ndevices, g->own->ndevices == 1 ? "" : "s");
        return CTRAN_ERR_CONFIG;
    }
    const int current = wanted < 0 ? current_device(g) : -1;
    const int place = p->job != NULL ? (int)p->job->local_index : 0;
    *ordinal = wanted >= 0 ? (int)wanted : current >= 0 ? current : place % g->own->ndevices;
    ct_debug(g->log, "the rank's GPU is %d, %s: %s", *ordinal, g->own->devices[*ordinal].name,
             wanted >= 0    ? "as CTRAN_GPU_DEVICE says"
             : current >= 0 ? "the program's current context is on it"
                            : "by the rank's place on its host");
    return CTRAN_SUCCESS;
}

int ct_gpu_mine(struct ct_gpu *g, int *ordinal)
{
    *ordinal = atomic_load_explicit(&g->own->mine, memory_order_relaxed);
    if (CT_LIKELY(*ordinal >= 0)) {
        return CTRAN_SUCCESS;
    }
    int rc = ct_gpu_ready(g);
    rc = rc == CTRAN_SUCCESS ? device_choose(g, ordinal) : rc;
    if (rc == CTRAN_SUCCESS) {
        int none = -1; /* the first to settle it has settled it */
        if (!atomic_compare_exchange_strong_explicit(&g->own->mine, &none, *ordinal,
                                                     memory_order_relaxed, memory_order_relaxed)) {
            *ordinal = none;
        }
    }
    return rc;
}
