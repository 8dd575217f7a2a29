/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opening the CUDA driver's library, and what its results mean. A table is whole or not used: no
 * caller asks whether a function is there. Called by device.c.
 */
#define CT_FOLDER "gpu"
#include "gpu/driver.h"
#include "gpu/own.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define LIBRARY "libcuda.so.1"

/* A function is kept as what dlsym returns for it (POSIX). */
static const char *driver_fill(void *library, struct cuda_table *table)
{
    const char *missing = NULL;
    void       *symbol;
#define FIND(name, versioned, args)                                                                \
    symbol = dlsym(library, #versioned);                                                           \
    memcpy(&table->name, &symbol, sizeof symbol);                                                  \
    missing = symbol == NULL ? #versioned : missing;
    CU_FUNCTIONS(FIND)
#undef FIND
    return missing;
}

enum ct_driver_found ct_driver_open(struct cuda_table *table, int *version, char *why, size_t cap)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *text = dlerror();
        (void)snprintf(why, cap, "%s", text != NULL ? text : LIBRARY " cannot be opened");
        return CT_DRIVER_NONE;
    }
    const char *missing = driver_fill(library, table);
    *version = 0;
    const CUresult r = missing == NULL ? table->cuDriverGetVersion(version) : CUDA_ERROR_NOT_FOUND;
    if (missing == NULL && r == CUDA_SUCCESS && *version >= CT_DRIVER_OLDEST) {
        return CT_DRIVER_FOUND;
    }
    if (missing != NULL) {
        (void)snprintf(
            why, cap, LIBRARY " has no %s: it is older than CUDA 12.0, update the driver", missing);
    } else if (r != CUDA_SUCCESS) {
        (void)snprintf(why, cap, LIBRARY ": cuDriverGetVersion returns %s (%s)",
                       ct_gpu_result_name(r), ct_gpu_result_text(r));
    } else {
        (void)snprintf(why, cap, LIBRARY " speaks CUDA %d.%d, 12.0 is needed: update the driver",
                       *version / 1000, *version % 1000 / 10);
    }
    return CT_DRIVER_UNUSABLE; /* stays open: others may use it */
}

/* ---- results --------------------------------------------------------------------------------- */

static const struct {
    CUresult    number;
    const char *name, *text;
} results[] = {
#define ROW(name, number, text) {(CUresult)(number), #name, text},
    CU_RESULTS(ROW)
#undef ROW
};

const char *ct_gpu_result_name(CUresult r)
{
    for (size_t i = 0; i < CT_ARRAY_LEN(results); i++) {
        if (results[i].number == r) {
            return results[i].name;
        }
    }
    return "an error that ctran does not know";
}

const char *ct_gpu_result_text(CUresult r)
{
    for (size_t i = 0; i < CT_ARRAY_LEN(results); i++) {
        if (results[i].number == r) {
            return results[i].text;
        }
    }
    return "see NVIDIA's list of driver results";
}

int ct_gpu_code(CUresult r)
{
    switch (r) {
    case CUDA_SUCCESS:
        return CTRAN_SUCCESS;
    case CUDA_ERROR_OUT_OF_MEMORY:
        return CTRAN_ERR_NO_MEM;
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_INVALID_HANDLE:
    case CUDA_ERROR_INVALID_DEVICE:
        return CTRAN_ERR_ARG;
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_STUB_LIBRARY:
    case CUDA_ERROR_NOT_SUPPORTED:
    case CUDA_ERROR_NOT_PERMITTED:
    case CUDA_ERROR_PEER_ACCESS_UNSUPPORTED:
    case CUDA_ERROR_TOO_MANY_PEERS:
    case CUDA_ERROR_SYSTEM_NOT_READY:
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
        return CTRAN_ERR_UNSUPPORTED_OPERATION;
    default:
        return CTRAN_ERR_OTHER;
    }
}

int ct_gpu_result(const struct ct_gpu *g, CUresult r, const char *call, const char *what)
{
    if (r != CUDA_SUCCESS) {
        ct_error(g->log, "%s: %s returns %s %d (%s)", what, call, ct_gpu_result_name(r), (int)r,
                 ct_gpu_result_text(r));
    }
    return ct_gpu_code(r);
}
