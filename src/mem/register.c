/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the program registers: device memory is held in the cache of registrations, its export made
 * ahead; host memory is page-locked, so that GPUs copy from and to it without staging. Where there
 * is no GPU the call is only remembered. Found again by its base; the same range may be registered
 * several times.
 */
#define CT_FOLDER "mem"
#include <stdlib.h>

#include "mem/own.h"

/* ---- device memory --------------------------------------------------------------------------- */

/* Holds all registrations that a range touches, or takes the holds off again. */
static void hold_range(struct ct_process *p, uintptr_t base, size_t len, bool on)
{
    struct ct_mem_reg *reg;
    pthread_mutex_lock(&p->mem->regs.lock);
    for (uintptr_t at = base; at < base + len; at = reg->place.base + reg->place.len_bytes) {
        reg = ct_mem_reg_find(p, (const void *)at);
        if (reg == NULL) {
            break; /* freed before it was deregistered, or longer than its memory */
        }
        if (on) {
            ct_mem_reg_hold(p, reg);
            (void)ct_mem_export_make(p, reg); /* who needs it asks again, and is told */
        } else {
            ct_mem_reg_release(p, reg->place.base, reg->place.buffer_id);
        }
    }
    pthread_mutex_unlock(&p->mem->regs.lock);
}

/* ---- host memory ----------------------------------------------------------------------------- */

static int page_lock(struct ct_process *p, struct ct_mem_registration *user_reg)
{
    struct ct_gpu_visit v;
    int                 rc = ct_mem_enter_mine(p, &v);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    const CUresult r =
        p->gpu->cu->cuMemHostRegister((void *)user_reg->base, user_reg->len_bytes,
                                      CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
    user_reg->locked = r == CUDA_SUCCESS;
    if (r != CUDA_SUCCESS && r != CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED) {
        rc = ct_gpu_result(p->gpu, r, "cuMemHostRegister", "page-locking memory");
    }
    ct_gpu_leave(p->gpu, &v);
    return rc;
}

static void page_unlock(struct ct_process *p, const struct ct_mem_registration *user_reg)
{
    struct ct_gpu_visit v;
    if (ct_mem_enter_mine(p, &v) == CTRAN_SUCCESS) {
        (void)CT_GPU_TRY(p->gpu, "releasing page-locked memory", cuMemHostUnregister,
                         ((void *)user_reg->base));
        ct_gpu_leave(p->gpu, &v);
    }
}

/* ---- both ------------------------------------------------------------------------------------ */

static int apply(struct ct_process *p, struct ct_mem_registration *user_reg)
{
    if (p->gpu == NULL) {
        return CTRAN_SUCCESS;
    }
    switch (ct_gpu_kind_of(p->gpu, (const void *)user_reg->base, NULL)) {
    case CT_GPU_HOST:
        /* A machine may have a driver and no GPU: then there is nothing to lock it for. */
        return ct_gpu_ready(p->gpu) == CTRAN_SUCCESS ? page_lock(p, user_reg) : CTRAN_SUCCESS;
    case CT_GPU_DEVICE:
        user_reg->device = true;
        hold_range(p, user_reg->base, user_reg->len_bytes, true);
        return CTRAN_SUCCESS;
    default: /* page-locked already, or managed: as good as it can be */
        return CTRAN_SUCCESS;
    }
}

static void undo(struct ct_process *p, const struct ct_mem_registration *user_reg)
{
    if (user_reg->locked) {
        page_unlock(p, user_reg);
    }
    if (user_reg->device) {
        hold_range(p, user_reg->base, user_reg->len_bytes, false);
    }
}

static int add(struct ct_process *p, uintptr_t base, size_t len)
{
    struct ct_mem_registration *user_reg = calloc(1, sizeof *user_reg);
    if (user_reg == NULL) {
        ct_error(&p->log, "no memory for the record of a registration");
        return CTRAN_ERR_NO_MEM;
    }
    *user_reg = (struct ct_mem_registration){.base = base, .len_bytes = len, .times = 1};
    const int rc = apply(p, user_reg);
    if (rc != CTRAN_SUCCESS) {
        free(user_reg);
        return rc;
    }
    HASH_ADD(hh, p->mem->user_regs.all, base, sizeof user_reg->base, user_reg);
    return CTRAN_SUCCESS;
}

int ct_mem_register(struct ct_process *p, void *base, size_t len_bytes)
{
    struct ct_mem_registrations *m = &p->mem->user_regs;
    struct ct_mem_registration  *user_reg;
    const uintptr_t              key = (uintptr_t)base;
    int                          rc = CTRAN_SUCCESS;
    pthread_mutex_lock(&m->lock);
    HASH_FIND(hh, m->all, &key, sizeof key, user_reg);
    if (user_reg == NULL) {
        rc = add(p, key, len_bytes);
    } else if (user_reg->len_bytes == len_bytes) {
        user_reg->times++;
    } else {
        ct_error(&p->log,
                 "%p is registered already, with %zu bytes and not %zu: deregister it first", base,
                 user_reg->len_bytes, len_bytes);
        rc = CTRAN_ERR_ARG;
    }
    pthread_mutex_unlock(&m->lock);
    return rc;
}

int ct_mem_deregister(struct ct_process *p, void *base)
{
    struct ct_mem_registrations *m = &p->mem->user_regs;
    struct ct_mem_registration  *user_reg;
    const uintptr_t              key = (uintptr_t)base;
    pthread_mutex_lock(&m->lock);
    HASH_FIND(hh, m->all, &key, sizeof key, user_reg);
    const bool known = user_reg != NULL;
    if (known && --user_reg->times == 0) {
        HASH_DELETE(hh, m->all, user_reg);
        undo(p, user_reg);
        free(user_reg);
    }
    pthread_mutex_unlock(&m->lock);
    return known ? CTRAN_SUCCESS : CTRAN_ERR_BASE;
}

void ct_mem_registrations_fini(struct ct_process *p)
{
    struct ct_mem_registration *user_reg, *next;
    HASH_ITER (hh, p->mem->user_regs.all, user_reg, next) {
        HASH_DELETE(hh, p->mem->user_regs.all, user_reg);
        undo(p, user_reg);
        free(user_reg);
    }
}
