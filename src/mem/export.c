/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exports. Memory of cuMemAlloc leaves the process as a handle of the driver's (legacy IPC), which
 * stands for a whole allocation; memory that was mapped (cuMemCreate, cuMemMap: expandable segments
 * of PyTorch, say) as a descriptor for each piece that the range touches. A registration keeps its
 * export: the handle is asked for once, the descriptor stays open until the registration goes.
 */
#define CT_FOLDER "mem"
#include <string.h>
#include <unistd.h>

#include "mem/own.h"

static bool is_legacy(const struct ct_gpu *g, CUdeviceptr ptr)
{
    unsigned            capable = 0;
    CUpointer_attribute wanted = CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE;
    void               *value = &capable;
    return g->cu->cuPointerGetAttributes(1, &wanted, &value, ptr) == CUDA_SUCCESS && capable != 0;
}

static int refuse(struct ct_process *p, const struct ct_mem_reg *reg, const char *why)
{
    ct_info(&p->log, "GPU memory at 0x%llx (%zu bytes) is not shared with other processes: %s",
            reg->place.base, reg->place.len_bytes, why);
    return CTRAN_ERR_UNSUPPORTED_OPERATION;
}

/* A descriptor of a mapped piece. */
static int make_mapped(struct ct_process *p, struct ct_mem_reg *reg)
{
    const struct cuda_table     *cu = p->gpu->cu;
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp          prop;
    if (cu->cuMemRetainAllocationHandle(&handle, (void *)(uintptr_t)reg->place.base) !=
        CUDA_SUCCESS) {
        return refuse(p, reg,
                      "it is of a kind that the driver does not export, as "
                      "cuMemAllocAsync's pools are; allocate it with ctran_mem_alloc");
    }
    CUresult r = cu->cuMemGetAllocationPropertiesFromHandle(&prop, handle);
    if (r == CUDA_SUCCESS &&
        (prop.requestedHandleTypes & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) == 0) {
        r = CUDA_ERROR_NOT_SUPPORTED;
    }
    int fd = -1;
    r = r == CUDA_SUCCESS ? cu->cuMemExportToShareableHandle(
                                &fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0)
                          : r;
    (void)cu->cuMemRelease(handle); /* the mapping keeps it */
    if (r != CUDA_SUCCESS) {
        return refuse(p, reg, "it was made without CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR");
    }
    reg->fd = fd;
    reg->way = CT_MEM_MAPPED;
    return CTRAN_SUCCESS;
}

static int make(struct ct_process *p, struct ct_mem_reg *reg)
{
    if (reg->place.kind != CT_GPU_DEVICE) {
        return refuse(p, reg, "it is the host's, or managed");
    }
    if (!is_legacy(p->gpu, reg->place.base)) {
        return make_mapped(p, reg);
    }
    int rc = CT_GPU_TRY(p->gpu, "exporting GPU memory", cuIpcGetMemHandle,
                        (&reg->legacy, reg->place.base));
    reg->way = rc == CTRAN_SUCCESS ? CT_MEM_LEGACY : CT_MEM_NO_WAY;
    return rc;
}

int ct_mem_export_make(struct ct_process *p, struct ct_mem_reg *reg)
{
    struct ct_gpu_visit v;
    if (reg->exported != CT_AGAIN) {
        return reg->exported;
    }
    const int device = reg->place.device;
    int       rc = device < 0 || device >= ct_gpu_count(p->gpu)
                       ? refuse(p, reg, "it is of no device that is used here")
                       : ct_gpu_enter(p->gpu, device, &v);
    if (rc == CTRAN_SUCCESS) {
        rc = make(p, reg);
        ct_gpu_leave(p->gpu, &v);
    }
    if (rc == CTRAN_SUCCESS) {
        reg->slot = ct_mem_freed_take(p, reg->place.buffer_id);
    }
    reg->exported = rc;
    return rc;
}

void ct_mem_export_drop(struct ct_process *p, struct ct_mem_reg *reg)
{
    ct_mem_freed_clear(p, reg->slot);
    if (reg->fd >= 0) {
        (void)close(reg->fd); /* of the driver: nothing to be written */
    }
    reg->slot = 0;
    reg->fd = -1;
    reg->exported = CT_AGAIN;
}

void ct_mem_freed(struct ct_process *p, const void *ptr)
{
    pthread_mutex_lock(&p->mem->regs.lock);
    (void)ct_mem_reg_find(p, ptr); /* sees that it is gone */
    pthread_mutex_unlock(&p->mem->regs.lock);
}

/* ---- the description ------------------------------------------------------------------------- */

/* Adds a mapped piece; the first one names the whole. */
static int add_piece(struct ct_process *p, const struct ct_mem_reg *reg, struct ct_mem_export *out)
{
    if (out->npieces == CT_MEM_PIECES || reg->place.len_bytes % 1024 != 0 ||
        reg->place.len_bytes / 1024 > UINT32_MAX) {
        return refuse(p, reg, "it is mapped from too many pieces");
    }
    out->u.mapped.kib[out->npieces] = (uint32_t)(reg->place.len_bytes / 1024);
    out->u.mapped.fd[out->npieces] = reg->fd;
    out->npieces++;
    out->whole += reg->place.len_bytes;
    if (out->npieces > 1) { /* each of the pieces may be another next time */
        out->buffer_id =
            reg->place.buffer_id > out->buffer_id ? reg->place.buffer_id : out->buffer_id;
        out->slot = 0;
    }
    out->pieces_digest =
        ct_fnv1a(out->pieces_digest, &reg->place.buffer_id, sizeof reg->place.buffer_id);
    return CTRAN_SUCCESS;
}

static void begin(struct ct_process *p, const struct ct_mem_reg *reg, uintptr_t at, size_t len,
                  struct ct_mem_export *out)
{
    *out = (struct ct_mem_export){
        .way = reg->way,
        .slot = reg->slot,
        .pid = p->mem->pid,
        .freed_fd = p->mem->freed.fd,
        .start = ct_mem_start(p),
        .base = reg->place.base,
        .buffer_id = reg->place.buffer_id,
        .pieces_digest = CT_FNV1A_START,
        .offset = at - reg->place.base,
        .len_bytes = len,
        .uuid = ct_gpu_device(p->gpu, reg->place.device)->uuid,
    };
    if (reg->way == CT_MEM_LEGACY) {
        out->u.legacy = reg->legacy;
        out->whole = reg->place.len_bytes;
    }
}

/* Under the lock of the registrations. */
static int describe(struct ct_process *p, uintptr_t at, size_t len, struct ct_mem_export *out)
{
    const uintptr_t end = at + len;
    uintptr_t       next = at;
    do {
        struct ct_mem_reg *reg = ct_mem_reg_find(p, (const void *)next);
        if (reg == NULL) {
            ct_info(&p->log, "memory at %p is not shared with other processes: it is no GPU's",
                    (void *)next);
            return CTRAN_ERR_UNSUPPORTED_OPERATION;
        }
        int rc = ct_mem_export_make(p, reg);
        if (rc != CTRAN_SUCCESS) {
            return rc;
        }
        if (next == at) {
            begin(p, reg, at, len, out);
        }
        next = reg->place.base + reg->place.len_bytes;
        if (reg->way != out->way || (reg->way == CT_MEM_LEGACY && next < end)) {
            return refuse(p, reg, "the buffer reaches beyond its allocation");
        }
        rc = reg->way == CT_MEM_MAPPED ? add_piece(p, reg, out) : CTRAN_SUCCESS;
        if (rc != CTRAN_SUCCESS) {
            return rc;
        }
    } while (next < end);
    return CTRAN_SUCCESS;
}

int ct_mem_export(struct ct_process *p, const void *ptr, size_t len_bytes,
                  struct ct_mem_export *out)
{
    memset(out, 0, sizeof *out);
    if (p->gpu == NULL) {
        return CTRAN_ERR_UNSUPPORTED_OPERATION;
    }
    int rc = ct_gpu_ready(p->gpu);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    pthread_mutex_lock(&p->mem->regs.lock);
    rc = describe(p, (uintptr_t)ptr, len_bytes, out);
    pthread_mutex_unlock(&p->mem->regs.lock);
    if (rc != CTRAN_SUCCESS) {
        memset(out, 0, sizeof *out);
    }
    return rc;
}
