/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels: the modules of a device are loaded together at the first question for a kernel, and all
 * kernels in them, since loading blocks while a stream waits. The driver by itself loads a kernel
 * when it is first used (CUDA_MODULE_LOADING=LAZY is its default, and the program's to choose): to
 * get the function and to ask for an attribute of it, as CUDA's guide has it, is such a use.
 */
#define CT_FOLDER "gpu"
#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/own.h"

/* Of the list of files that `at` points to, the next one; false: there is none, or its name is too
 * long. */
static bool next_file(const char **at, char file[static PATH_MAX])
{
    *at += strspn(*at, ":");
    const size_t length = strcspn(*at, ":");
    if (length == 0 || length >= PATH_MAX) {
        return false;
    }
    memcpy(file, *at, length);
    file[length] = '\0';
    *at += length;
    return true;
}

static int load_files(struct ct_gpu *g, struct ct_gpu_used *used, const char *files)
{
    char        file[PATH_MAX];
    const char *at = files;
    while (next_file(&at, file)) {
        if (used->nmodules == CT_GPU_MODULES) {
            ct_error(g->log, "CTRAN_GPU_KERNELS names more than %d files: %s", CT_GPU_MODULES,
                     files);
            return CTRAN_ERR_UNSUPPORTED_OPERATION;
        }
        const CUresult r = g->cu->cuModuleLoad(&used->modules[used->nmodules], file);
        if (r != CUDA_SUCCESS) {
            ct_error(g->log,
                     "the kernels of CTRAN_GPU_KERNELS, %s, cannot be loaded: cuModuleLoad "
                     "returns %s (%s)",
                     file, ct_gpu_result_name(r), ct_gpu_result_text(r));
            return CTRAN_ERR_UNSUPPORTED_OPERATION;
        }
        used->nmodules++;
    }
    if (used->nmodules == 0 || *at != '\0') {
        ct_error(g->log, "CTRAN_GPU_KERNELS is no list of files with : between them: %s", files);
        return CTRAN_ERR_UNSUPPORTED_OPERATION;
    }
    return CTRAN_SUCCESS;
}

static int load_built_in(struct ct_gpu *g, struct ct_gpu_used *used)
{
    if (!ct_kernels_built_in()) {
        ct_error(g->log, "this build of ctran has no GPU kernels, since configure found no nvcc: "
                         "build it with --with-cuda=DIR, or name a file of them in "
                         "CTRAN_GPU_KERNELS");
        return CTRAN_ERR_UNSUPPORTED_OPERATION;
    }
    for (size_t i = 0; ct_kernels_fatbins[i] != NULL; i++) {
        assert(i < CT_GPU_MODULES);
        const CUresult r = g->cu->cuModuleLoadData(&used->modules[i], ct_kernels_fatbins[i]);
        if (r != CUDA_SUCCESS) {
            ct_error(g->log,
                     "the kernels that are built in cannot be loaded: cuModuleLoadData "
                     "returns %s (%s)",
                     ct_gpu_result_name(r), ct_gpu_result_text(r));
            return CTRAN_ERR_UNSUPPORTED_OPERATION;
        }
        used->nmodules++;
    }
    return CTRAN_SUCCESS;
}

/* In the device's context, under the lock. */
static int module_load(struct ct_gpu *g, struct ct_gpu_used *used)
{
    const char *files = g->own->p->cfg.gpu_kernels;
    return files[0] != '\0' ? load_files(g, used, files) : load_built_in(g, used);
}

/* In the first module that has it, beginning with number *at, where the kernel before this one was
 * found: those of a type are together. */
static CUresult module_find(struct ct_gpu *g, const struct ct_gpu_used *used, const char *name,
                            unsigned *at, CUfunction *out)
{
    CUresult r = CUDA_ERROR_NOT_FOUND;
    for (unsigned i = 0; i < used->nmodules && r == CUDA_ERROR_NOT_FOUND; i++) {
        const unsigned m = (*at + i) % used->nmodules;
        r = g->cu->cuModuleGetFunction(out, used->modules[m], name);
        *at = r == CUDA_SUCCESS ? m : *at;
    }
    return r;
}

/* A kernel that no module has is an error for the caller that asks for it. */
static int module_resolve(struct ct_gpu *g, const struct ct_gpu_used *used, const char *name,
                          unsigned *at, struct ct_gpu_kernel *out)
{
    const char *call = "cuModuleGetFunction";
    int         registers, ptx = 0; /* of the code that it was made from */
    CUresult    r = module_find(g, used, name, at, &out->function);
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
    char     name[CT_KERNEL_NAME];
    unsigned at = 0;
    int      rc = CTRAN_SUCCESS;
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
        rc = module_resolve(g, used, name, &at, &used->kernels[i]);
    }
    return rc;
}

static int load_once(struct ct_gpu *g, struct ct_gpu_used *used)
{
    pthread_mutex_lock(&g->own->lock);
    int rc = atomic_load_explicit(&used->loaded, memory_order_relaxed);
    if (rc == CT_AGAIN) {
        rc = module_load(g, used);
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
        while (used->nmodules > 0) { /* at the end there is nobody to tell of a failure */
            (void)g->cu->cuModuleUnload(used->modules[--used->nmodules]);
        }
        ct_gpu_leave(g, &v);
    }
}
