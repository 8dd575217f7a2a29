/* SPDX-License-Identifier: BSD-3-Clause */
/* The driver as a whole: its start, its version, its errors by name, its functions by name. */
#include "emu.h"

#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_bool    started, forked;

static void in_child(void)
{
    atomic_store(&forked, true);
}

static void start(void)
{
    emu_settings_read();
    pthread_atfork(NULL, NULL, in_child);
}

CUresult emu_enter(const char *call)
{
    emu_calls_add(call);
    if (!atomic_load_explicit(&started, memory_order_acquire)) {
        return CUDA_ERROR_NOT_INITIALIZED;
    }
    /* The driver's threads are not in the child, so nothing works there. */
    if (atomic_load_explicit(&forked, memory_order_relaxed)) {
        return CUDA_ERROR_NOT_INITIALIZED;
    }
    return (CUresult)emu_inject(call);
}

CUresult emu_enter_ctx(const char *call, CUcontext *ctx)
{
    const CUresult result = emu_enter(call);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    *ctx = emu_ctx_current();
    if (*ctx == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    return atomic_load(&(*ctx)->fault);
}

CUresult cuInit(unsigned flags)
{
    if (flags != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    pthread_once(&once, start);
    const CUresult injected = emu_inject(__func__);
    if (injected != CUDA_SUCCESS) {
        return injected;
    }
    if (emu_set.devices == 0) {
        return CUDA_ERROR_NO_DEVICE;
    }
    if (atomic_load(&forked)) {
        return CUDA_ERROR_NOT_INITIALIZED;
    }
    atomic_store_explicit(&started, true, memory_order_release);
    return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version)
{
    if (version == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *version = EMU_VERSION;
    return CUDA_SUCCESS;
}

struct text {
    CUresult    number;
    const char *name, *meaning;
};

#define TEXT(name, number, meaning) {name, #name, meaning},
static const struct text texts[] = {CU_RESULTS(TEXT)};
#undef TEXT

static const struct text *text_of(CUresult error)
{
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (texts[i].number == error) {
            return &texts[i];
        }
    }
    return NULL;
}

CUresult cuGetErrorName(CUresult error, const char **name)
{
    const struct text *text = text_of(error);
    *name = text != NULL ? text->name : NULL;
    return text != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **meaning)
{
    const struct text *text = text_of(error);
    *meaning = text != NULL ? text->meaning : NULL;
    return text != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

typedef void (*function)(void);

#define ENTRY(name, symbol, args) {#name, (function)symbol},
static const struct {
    const char *name;
    function    address;
} functions[] = {CU_FUNCTIONS(ENTRY){"emu_inject", (function)emu_inject_set},
                 {"emu_look", (function)emu_look},
                 {"emu_calls", (function)emu_calls}};
#undef ENTRY

CUresult cuGetProcAddress_v2(const char *symbol, void **address, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *status)
{
    (void)flags;
    if (symbol == NULL || address == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *address = NULL;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        if (strcmp(functions[i].name, symbol) == 0 && version <= EMU_VERSION) {
            memcpy(address, &functions[i].address, sizeof *address);
        }
    }
    if (status != NULL) {
        *status = *address != NULL        ? CU_GET_PROC_ADDRESS_SUCCESS
                  : version > EMU_VERSION ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                          : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    }
    return *address != NULL ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
