/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Modules: shared objects of the host, from a file or from memory (an ELF image), with kernels
 * as kernel.h describes them. Loading one blocks as freeing memory does. What is loaded twice is
 * one object to the dynamic linker, unless it comes from memory: its variables are then the
 * same.
 */
#include "emu.h"
#include "kernel.h"

#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct global {
    struct emu_segment *segment;
    struct global      *next;
};

struct CUmod_st {
    unsigned          magic;
    void             *object;
    CUcontext         ctx;
    struct CUfunc_st *functions;
    struct global    *globals;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* functions and globals of modules */

static bool is_module(CUmodule module)
{
    return module != NULL && module->magic == EMU_MODULE;
}

static CUresult enter(const char *call, CUcontext *ctx)
{
    const CUresult result = emu_enter_ctx(call, ctx);
    return result == CUDA_SUCCESS ? emu_capture_forbids() : result;
}

static CUresult load(CUmodule *module, CUcontext ctx, const char *path, CUresult otherwise)
{
    CUmodule made = calloc(1, sizeof *made);
    if (made == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    emu_drain();
    made->object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    emu_drained();
    if (made->object == NULL) {
        fprintf(stderr, "emulated CUDA: %s\n", dlerror());
        free(made);
        return otherwise;
    }
    made->magic = EMU_MODULE;
    made->ctx = ctx;
    *module = made;
    return CUDA_SUCCESS;
}

CUresult cuModuleLoad(CUmodule *module, const char *file)
{
    CUcontext      ctx;
    const CUresult result = enter(__func__, &ctx);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    char path[PATH_MAX]; /* a name without a slash is a file here, not to be searched for */
    if (module == NULL || file == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (realpath(file, path) == NULL) {
        return CUDA_ERROR_FILE_NOT_FOUND;
    }
    return load(module, ctx, path, CUDA_ERROR_INVALID_IMAGE);
}

/* The size of an image whose section table stands at its end, as linkers write it. */
static size_t image_bytes(const void *image)
{
    ElfW(Ehdr) head;
    memcpy(&head, image, sizeof head.e_ident);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) {
        return 0;
    }
    memcpy(&head, image, sizeof head);
    return head.e_shoff + (size_t)head.e_shnum * head.e_shentsize;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    CUcontext      ctx;
    const CUresult result = enter(__func__, &ctx);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    const size_t bytes = image != NULL ? image_bytes(image) : 0;
    if (module == NULL || bytes == 0) {
        return CUDA_ERROR_INVALID_IMAGE;
    }
    const int fd = memfd_create("emulated module", MFD_CLOEXEC);
    if (fd < 0) {
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    size_t at = 0;
    for (ssize_t n; at < bytes && (n = write(fd, (const char *)image + at, bytes - at)) > 0;) {
        at += (size_t)n;
    }
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const CUresult loaded = at == bytes ? load(module, ctx, path, CUDA_ERROR_INVALID_IMAGE)
                                        : CUDA_ERROR_OPERATING_SYSTEM;
    close(fd);
    return loaded;
}

CUresult cuModuleUnload(CUmodule module)
{
    CUcontext      ctx;
    const CUresult result = enter(__func__, &ctx);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (!is_module(module)) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    emu_drain();
    for (struct CUfunc_st *function; (function = module->functions) != NULL;) {
        module->functions = function->next;
        free(function->name);
        free(function);
    }
    for (struct global *global; (global = module->globals) != NULL;) {
        module->globals = global->next;
        emu_memory_free(global->segment);
        free(global);
    }
    dlclose(module->object);
    module->magic = 0;
    free(module);
    emu_drained();
    return CUDA_SUCCESS;
}

static struct CUfunc_st *make_function(CUmodule module, const char *name)
{
    char symbol[512];
    if (snprintf(symbol, sizeof symbol, EMU_KERNEL_PREFIX "%s", name) >= (int)sizeof symbol) {
        return NULL;
    }
    const struct emu_kernel *kernel = dlsym(module->object, symbol);
    if (kernel == NULL || kernel->abi != EMU_KERNEL_ABI) {
        return NULL;
    }
    struct CUfunc_st *function = calloc(1, sizeof *function);
    if (function == NULL || (function->name = strdup(name)) == NULL) {
        free(function);
        return NULL;
    }
    function->module = module;
    function->kernel = kernel;
    function->ctx = module->ctx;
    function->shared_limit = 48 << 10;
    function->next = module->functions;
    module->functions = function;
    return function;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    CUcontext      ctx;
    const CUresult result = emu_enter_ctx(__func__, &ctx);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (!is_module(module)) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (function == NULL || name == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    pthread_mutex_lock(&lock);
    struct CUfunc_st *at = module->functions;
    while (at != NULL && strcmp(at->name, name) != 0) {
        at = at->next;
    }
    *function = at != NULL ? at : make_function(module, name);
    pthread_mutex_unlock(&lock);
    return *function != NULL ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

/* The variable's memory, as the driver knows it from then on. */
static struct emu_segment *make_global(CUmodule module, void *address, size_t bytes)
{
    struct emu_segment *segment = emu_segment_find((uintptr_t)address);
    if (segment != NULL) {
        return segment;
    }
    struct global *global = malloc(sizeof *global);
    segment = emu_segment_new(EMU_MANAGED, module->ctx, bytes);
    if (global == NULL || segment == NULL) {
        free(global);
        free(segment);
        return NULL;
    }
    segment->base = (uintptr_t)address;
    segment->cpu = address;
    if (emu_segment_add(segment) != CUDA_SUCCESS) {
        free(global);
        free(segment);
        return NULL;
    }
    *global = (struct global){.segment = segment, .next = module->globals};
    module->globals = global;
    return segment;
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *ptr, size_t *bytes, CUmodule module, const char *name)
{
    CUcontext ctx;
    CUresult  result = emu_enter_ctx(__func__, &ctx);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (!is_module(module) || name == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    void *address = dlsym(module->object, name);
    const ElfW(Sym) *symbol = NULL;
    Dl_info info;
    if (address == NULL ||
        dladdr1(address, &info, (void **)(uintptr_t)&symbol, RTLD_DL_SYMENT) == 0 ||
        symbol == NULL || symbol->st_size == 0) {
        return CUDA_ERROR_NOT_FOUND;
    }
    pthread_mutex_lock(&lock);
    const struct emu_segment *segment = make_global(module, address, symbol->st_size);
    pthread_mutex_unlock(&lock);
    if (segment == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (ptr != NULL) {
        *ptr = (uintptr_t)address;
    }
    if (bytes != NULL) {
        *bytes = symbol->st_size;
    }
    return result;
}
