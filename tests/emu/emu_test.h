/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of the emulated CUDA driver share: the driver's functions in a table, a check
 * that shows the error's name, numbers that look random. CUDA_LIBRARY names another driver to
 * test, a real one for instance; what only the emulation promises is then left out (`emulated`).
 */
#ifndef CT_TESTS_EMU_EMU_TEST_H
#define CT_TESTS_EMU_EMU_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "gpu/cuda.h"

static struct cuda_table cu;
static bool              emulated;
static bool              in_child; /* a process that a test has made */

static inline const char *name_of(CUresult result)
{
    const char *name = NULL;
    (void)cu.cuGetErrorName(result, &name);
    return name != NULL ? name : "?";
}

static inline void expect_at(CUresult wanted, CUresult found, const char *what, int line)
{
    if (wanted != found && in_child) {
        fprintf(stderr, "line %d: %s gave %d (%s), not %d (%s)\n", line, what, (int)found,
                name_of(found), (int)wanted, name_of(wanted));
        _exit(1);
    }
    if (wanted != found) {
        fail_msg("line %d: %s gave %d (%s), not %d (%s)", line, what, (int)found, name_of(found),
                 (int)wanted, name_of(wanted));
    }
}
#define OK(call)            expect_at(CUDA_SUCCESS, cu.call, #call, __LINE__)
#define GIVES(wanted, call) expect_at(wanted, cu.call, #call, __LINE__)

/* In a process that a test has made: ends it unless `yes`. */
static inline void check_at(bool yes, const char *what, int line)
{
    if (!yes) {
        fprintf(stderr, "line %d: not so: %s\n", line, what);
        _exit(1);
    }
}
#define CHECK(what) check_at(what, #what, __LINE__)

/* Runs `what` in a process of its own, which starts the driver anew. */
static inline pid_t start_child(void (*what)(int), int arg)
{
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        in_child = true;
        what(arg);
        _exit(0);
    }
    return child;
}

static inline void expect_end(pid_t child)
{
    int status = 0;
    assert_int_equal(child, waitpid(child, &status, 0));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fail_msg("the process ended with status 0x%x", (unsigned)status);
    }
}

/* Fills the table; ends the program where there is no driver. */
static inline void open_driver(void)
{
    const char *path = getenv("CUDA_LIBRARY");
    emulated = path == NULL;
    void *library = dlopen(emulated ? EMU_LIBRARY : path, RTLD_NOW);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
#define LOAD(name, symbol, args)                                                                   \
    {                                                                                              \
        void *at = dlsym(library, #symbol);                                                        \
        memcpy(&cu.name, &at, sizeof at);                                                          \
    }
    CU_FUNCTIONS(LOAD)
#undef LOAD
}

/* Device `i` is the calling thread's. */
static inline CUcontext use_device(int i)
{
    CUcontext ctx = NULL;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&ctx, i));
    OK(cuCtxSetCurrent(ctx));
    return ctx;
}

static inline CUdeviceptr alloc(size_t bytes)
{
    CUdeviceptr ptr = 0;
    OK(cuMemAlloc(&ptr, bytes));
    return ptr;
}

static inline uint32_t *pinned_words(size_t words)
{
    void *ptr = NULL;
    OK(cuMemHostAlloc(&ptr, words * sizeof(uint32_t), CU_MEMHOSTALLOC_PORTABLE));
    memset(ptr, 0, words * sizeof(uint32_t));
    return ptr;
}

static inline CUstream stream_new(void)
{
    CUstream stream = NULL;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

static inline CUdeviceptr device_of(const void *host)
{
    return (CUdeviceptr)(uintptr_t)host;
}

/* A store as the CPU sets a token. */
static inline void set_word(uint32_t *word, uint32_t value)
{
    atomic_store((_Atomic uint32_t *)word, value);
}

static inline uint32_t get_word(uint32_t *word)
{
    return atomic_load((_Atomic uint32_t *)word);
}

static inline uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * 0x2545f4914f6cdd1du;
}

static inline uint32_t random_below(uint64_t *state, uint32_t below)
{
    return (uint32_t)((next_random(state) >> 32) * below >> 32);
}

#endif
