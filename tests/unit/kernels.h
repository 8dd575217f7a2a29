/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A world for the tests of the CUDA kernels that are compiled for the host: workspaces in plain
 * memory, and the blocks of a launch one after the other on the caller's thread, which stands for a
 * rank. The module is named by the variable KERNELS_MODULE, or lies in the build.
 */
#ifndef CT_TESTS_UNIT_KERNELS_H
#define CT_TESTS_UNIT_KERNELS_H

#include <dlfcn.h>
#include <pthread.h>

#include "base/util.h"
#include "emu/cuda/kernel.h"
#include "gpu/kernels.h"
#include "unit.h"

enum { MOST_RANKS = 8 };

struct world {
    void                 *module;
    uint32_t              size;
    struct ct_kernel_comm comm[MOST_RANKS], rows[MOST_RANKS];
    void                 *workspace[MOST_RANKS];
    uint32_t              abort;
};

/* The module; NULL where there is none, which is then said. */
static inline void *world_module(void)
{
    const char *file = getenv("KERNELS_MODULE");
    void *const module =
        dlopen(file != NULL ? file : "src/gpu/kernels/ctran_kernels_emu.so", RTLD_NOW);
    if (module == NULL) {
        printf("skipped: the kernels were not compiled for the host: %s\n", dlerror());
    }
    return module;
}

static inline void begin_numbers(void *at, size_t n, uint32_t first_item)
{
    struct ct_kernel_words *words = at;
    for (size_t i = 0; i < n; i++) {
        words[i] = (struct ct_kernel_words){
            .sent = first_item, .got = first_item, .acked = first_item, .ready = first_item};
    }
}

/* Numbers of items begin at first_item. */
static inline void world_init(struct world *w, void *module, uint32_t size, uint32_t channels,
                              size_t bytes, uint32_t first_item)
{
    struct ct_kernel_layout layout, rows;
    size_t                  at_ll32;
    memset(w, 0, sizeof *w);
    w->module = module;
    w->size = size;
    assert_int_equal(ct_kernel_layout_make(size, channels, bytes, &layout), CTRAN_SUCCESS);
    assert_int_equal(ct_kernel_ll32_layout_make(size, channels, bytes / 3, &rows), CTRAN_SUCCESS);
    at_ll32 = bytes;
    bytes += ct_kernel_layout_bytes(size, &rows);
    for (uint32_t p = 0; p < size; p++) {
        w->workspace[p] = aligned_alloc(4096, bytes);
        assert_non_null(w->workspace[p]);
        memset(w->workspace[p], 0, bytes);
        begin_numbers(w->workspace[p], layout.channels * size, first_item);
        begin_numbers((char *)w->workspace[p] + at_ll32, rows.channels * size, first_item);
    }
    for (uint32_t p = 0; p < size; p++) {
        w->comm[p] =
            (struct ct_kernel_comm){.rank = p, .size = size, .layout = layout, .abort = &w->abort};
        w->rows[p] = w->comm[p];
        w->rows[p].layout = rows;
        for (uint32_t q = 0; q < size; q++) {
            w->comm[p].workspace[q] = w->workspace[q];
            w->rows[p].workspace[q] = (char *)w->workspace[q] + at_ll32;
        }
    }
}

static inline void world_fini(struct world *w)
{
    for (uint32_t p = 0; p < w->size; p++) {
        free(w->workspace[p]);
    }
}

static inline void run_block(const struct world *w, struct ct_kernel_call *k, unsigned b)
{
    char name[64] = EMU_KERNEL_PREFIX;
    assert_true(ct_kernel_name(k->kernel, name + strlen(name)));
    const struct emu_kernel *kernel = dlsym(w->module, name);
    assert_non_null(kernel);
    void *params[] = {&k->args};
    kernel->run(&(struct emu_block){.grid = {k->blocks, 1, 1},
                                    .index = {b, 0, 0},
                                    .threads = {k->threads, 1, 1}},
                params);
}

static inline void run_kernel(const struct world *w, struct ct_kernel_call *k)
{
    for (unsigned b = 0; b < k->blocks; b++) {
        run_block(w, k, b);
    }
}

/* The other rank's kernel, on a thread of its own. */
struct other {
    const struct world    *w;
    struct ct_kernel_call *k;
};

static inline void *run_other(void *arg)
{
    const struct other *o = arg;
    run_kernel(o->w, o->k);
    return NULL;
}

#endif
