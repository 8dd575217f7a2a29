/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels: the modules of a device are loaded together at the first question for a kernel, and all
 * kernels in them, since loading blocks while a stream waits. The driver by itself loads a kernel
 * when it is first used (CUDA_MODULE_LOADING=LAZY is its default, and the program's to choose): to
 * get the function and to ask for an attribute of it, as CUDA's guide has it, is such a use.
 */
#define CT_FOLDER "gpu"
#include <stdlib.h>
#include <string.h>

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
static int resolve(struct ct_gpu *g, struct ct_gpu_used *used, const char *name)
{
    struct ct_gpu_kernel_row *row = &used->rows[used->nrows];
    const char               *call = "cuModuleGetFunction";
    int                       registers, ptx = 0; /* of the code that it was made from */
    CUresult r = g->cu->cuModuleGetFunction(&row->kernel.function, used->modules[0], name);
    if (r == CUDA_ERROR_NOT_FOUND) {
        return CTRAN_SUCCESS;
    }
    if (r == CUDA_SUCCESS) {
        call = "cuFuncGetAttribute";
        r = g->cu->cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, row->kernel.function);
    }
    if (r == CUDA_SUCCESS) {
        r = g->cu->cuFuncGetAttribute(&ptx, CU_FUNC_ATTRIBUTE_PTX_VERSION, row->kernel.function);
    }
    row->kernel.waits = ptx >= 90; /* begin_kernel */
    if (r != CUDA_SUCCESS) {
        ct_error(g->log, "kernel %s cannot be loaded: %s returns %s (%s)", name, call,
                 ct_gpu_result_name(r), ct_gpu_result_text(r));
        return CTRAN_ERR_UNSUPPORTED_OPERATION;
    }
    strcpy(row->name, name);
    used->nrows++;
    return CTRAN_SUCCESS;
}

/* All kernels of the modules, loaded. */
static int resolve_all(struct ct_gpu *g, struct ct_gpu_used *used)
{
    char   name[CT_KERNEL_NAME];
    size_t n = 0;
    while (ct_kernel_name(n, name)) {
        n++;
    }
    used->rows = calloc(n, sizeof *used->rows);
    if (used->rows == NULL) {
        ct_error(g->log, "no memory for the names of %zu kernels", n);
        return CTRAN_ERR_NO_MEM;
    }
    int rc = CTRAN_SUCCESS;
    for (size_t i = 0; ct_kernel_name(i, name) && rc == CTRAN_SUCCESS; i++) {
        rc = resolve(g, used, name);
    }
    return rc;
}

static int find(struct ct_gpu *g, const struct ct_gpu_used *used, const char *name,
                struct ct_gpu_kernel *out)
{
    for (size_t i = 0; i < used->nrows; i++) {
        if (strcmp(used->rows[i].name, name) == 0) {
            *out = used->rows[i].kernel;
            return CTRAN_SUCCESS;
        }
    }
    ct_error(g->log,
             "there is no kernel %s among those loaded: CTRAN_GPU_KERNELS names a file of "
             "another version",
             name);
    return CTRAN_ERR_UNSUPPORTED_OPERATION;
}

int ct_gpu_kernel(struct ct_gpu *g, int ordinal, const char *name, struct ct_gpu_kernel *out)
{
    struct ct_gpu_used *used = &g->own->used[ordinal];
    pthread_mutex_lock(&g->own->lock);
    if (used->kernels == CT_AGAIN) {
        used->kernels = load(g, used);
        used->kernels = used->kernels == CTRAN_SUCCESS ? resolve_all(g, used) : used->kernels;
    }
    const int rc = used->kernels == CTRAN_SUCCESS ? find(g, used, name, out) : used->kernels;
    pthread_mutex_unlock(&g->own->lock);
    return rc;
}

void ct_gpu_kernels_free(struct ct_gpu *g, int ordinal)
{
    struct ct_gpu_used *used = &g->own->used[ordinal];
    struct ct_gpu_visit v;
    free(used->rows);
    used->rows = NULL;
    used->nrows = 0;
    if (used->nmodules > 0 && ct_gpu_enter(g, ordinal, &v) == CTRAN_SUCCESS) {
        (void)g->cu->cuModuleUnload(used->modules[0]); /* at the end there is nobody to tell */
        ct_gpu_leave(g, &v);
    }
}
