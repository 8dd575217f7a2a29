/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests that need a GPU: a process that has gpu and mem, on the emulated driver of emu/cuda, or
 * on the machine's own where CT_REAL_GPU is set. The emulation is opened by its path first: the
 * library asks for libcuda.so.1, which is its soname, and so finds it.
 */
#ifndef CT_TESTS_UNIT_EMU_H
#define CT_TESTS_UNIT_EMU_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem/mem.h"
#include "unit.h"

/* Opens the emulation; ends the test as skipped where there is none. */
static inline void emu_open(void)
{
    if (getenv("CT_REAL_GPU") == NULL && dlopen(CT_EMU_CUDA, RTLD_NOW | RTLD_LOCAL) == NULL) {
        printf("SKIP: the emulated CUDA driver is missing: %s\n", dlerror());
        exit(77);
    }
}

/* A process with the defaults of all variables but `settings`: NAME, VALUE, ..., NULL. */
static inline void emu_start(struct ct_process *p, const char *const *settings)
{
    memset(p, 0, sizeof *p);
    ct_log_init(&p->log, CT_LOG_WARN, "test");
    assert_int_equal(ct_config_load(&p->cfg, &p->log), CTRAN_SUCCESS);
    for (; settings != NULL && *settings != NULL; settings += 2) {
        assert_int_equal(ct_config_set(&p->cfg, &p->log, settings[0], settings[1], CT_ORIGIN_SET),
                         CTRAN_SUCCESS);
    }
    assert_int_equal(ct_gpu_init(p), CTRAN_SUCCESS);
    assert_int_equal(ct_mem_init(p), CTRAN_SUCCESS);
}

static inline void emu_stop(struct ct_process *p)
{
    ct_mem_fini(p);
    ct_gpu_fini(p);
    ct_config_fini(&p->cfg);
}

#define CU(call) assert_int_equal(call, CUDA_SUCCESS)

#endif
