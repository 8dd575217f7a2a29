/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels: the modules of a device are loaded together at the first question for a kernel, and all
 * kernels in them, since loading blocks while a stream waits. The driver by itself loads a kernel
 * when it is first used (CUDA_MODULE_LOADING=LAZY is its default, and the program's to choose): to
 * get the function and to ask for an attribute of it, as CUDA's guide has it, is such a use.
 */
#define CT_FOLDER "gpu"
#include <inttypes.h>
#include <stdlib.h>

#include "gpu/own.h"

/* In the device's context, under the lock. */
static int load(struct ct_gpu *g, struct ct_gpu_used *used)
{
    const char *file = g->own->p->cfg.gpu_kernels;
    if (file[0] != '\0') {
        const CUresult r = g->cu->cuModuleLoad(&used->modules[0], file);
        if (r != CUDA_SUCCESS) {
            ct_error(g->log,
                     "the kernels of CTRAN_GPU_KERNELS, %s, cannot be loaded: cuModuleLoad "
                     "returns %s (%s)",
                     file, ct_gpu_result_name(r), ct_gpu_result_text(r));
            return CTRAN_ERR_UNSUPPORTED_OPERATION;
        }
    } else if (ct_kernels_fatbin_bytes > 0) {
        const CUresult r = g->cu->cuModuleLoadData(&used->modules[0], ct_kernels_fatbin);
        if (r != CUDA_SUCCESS) {
            ct_error(g->log,
                     "the kernels that are built in cannot be loaded: cuModuleLoadData "
                     "returns %s (%s)",
                     ct_gpu_result_name(r), ct_gpu_result_text(r));
            return CTRAN_ERR_UNSUPPORTED_OPERATION;
        }
    } else {
        ct_error(g->log, "this build of ctran has no GPU kernels, since configure found no nvcc: "
                         "build it with --with-cuda=DIR, or name a file of them in "
                         "CTRAN_GPU_KERNELS");
        return CTRAN_ERR_UNSUPPORTED_OPERATION;
    }
    used->nmodules = 1;
    return CTRAN_SUCCESS;
}

/* One that the file has not is an error for who asks for it. */
static int resolve(struct ct_gpu *g, const struct ct_gpu_used *used, const char *name,
                   struct ct_gpu_kernel *out)
{
    const char *call = "cuModuleGetFunction";
    int         registers, ptx = 0; /* of the code that it was made from */
    CUresult    r = g->cu->cuModuleGetFunction(&out->function, used->modules[0], name);
    if (r == CUDA_ERROR_NOT_FOUND) {
        out->function = NULL;
        return CTRAN_SUCCESS;
    }
    if (r == CUDA_SUCCESS) {
        call = "cuFuncGetAttribute";
        r = g->cu->cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, out->function);
    }
    if (r == CUDA_SUCCESS) {
        r = g->cu->cuFuncGetAttribute(&ptx, CU_FUNC_ATTRIBUTE_PTX_VERSION, out->function);
    }
    out->waits = ptx >= 90; /* begin_kernel */
    if (r != CUDA_SUCCESS) {
        ct_error(g->log, "kernel %s cannot be loaded: %s returns %s (%s)", name, call,
                 ct_gpu_result_name(r), ct_gpu_result_text(r));
        return CTRAN_ERR_UNSUPPORTED_OPERATION;
    }
    return CTRAN_SUCCESS;
}

/* All kernels of the modules, loaded. */
static int resolve_all(struct ct_gpu *g, struct ct_gpu_used *used)
{
    char name[CT_KERNEL_NAME];
    int  rc = CTRAN_SUCCESS;
    while (ct_kernel_name(used->nkernels, name)) {
        used->nkernels++;
    }
    used->kernels = calloc(used->nkernels, sizeof *used->kernels);
    if (used->kernels == NULL) {
        ct_error(g->log, "no memory for %zu kernels", used->nkernels);
        used->nkernels = 0;
        return CTRAN_ERR_NO_MEM;
    }
    for (size_t i = 0; ct_kernel_name(i, name) && rc == CTRAN_SUCCESS; i++) {
        rc = resolve(g, used, name, &used->kernels[i]);
    }
    return rc;
}

static int load_once(struct ct_gpu *g, struct ct_gpu_used *used)
{
    pthread_mutex_lock(&g->own->lock);
    int rc = atomic_load_explicit(&used->loaded, memory_order_relaxed);
    if (rc == CT_AGAIN) {
        rc = load(g, used);
        rc = rc == CTRAN_SUCCESS ? resolve_all(g, used) : rc;
        atomic_store_explicit(&used->loaded, rc, memory_order_release);
    }
    pthread_mutex_unlock(&g->own->lock);
    return rc;
}

int ct_gpu_kernel(struct ct_gpu *g, int ordinal, uint32_t number, struct ct_gpu_kernel *out)
{
    struct ct_gpu_used *used = &g->own->used[ordinal];
    int                 rc = atomic_load_explicit(&used->loaded, memory_order_acquire);
    if (CT_UNLIKELY(rc == CT_AGAIN)) {
        rc = load_once(g, used);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (number < used->nkernels && used->kernels[number].function != NULL) {
        *out = used->kernels[number];
        return CTRAN_SUCCESS;
    }
    char name[CT_KERNEL_NAME] = "";
    (void)ct_kernel_name(number, name); /* "": there is none of that number */
    ct_error(g->log,
             "there is no kernel %" PRIu32 " (%s) among those loaded: CTRAN_GPU_KERNELS names a "
             "file of another version",
             number, name);
    return CTRAN_ERR_UNSUPPORTED_OPERATION;
}

void ct_gpu_kernels_free(struct ct_gpu *g, int ordinal)
{
    struct ct_gpu_used *used = &g->own->used[ordinal];
    struct ct_gpu_visit v;
    free(used->kernels);
    used->kernels = NULL;
    used->nkernels = 0;
    if (used->nmodules > 0 && ct_gpu_enter(g, ordinal, &v) == CTRAN_SUCCESS) {
        (void)g->cu->cuModuleUnload(used->modules[0]); /* at the end there is nobody to tell */
        ct_gpu_leave(g, &v);
    }
}
