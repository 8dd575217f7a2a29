/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of the tests of emu/cuda: a module as emu/cuda/kernel.h describes it. */
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

#include "emu/cuda/kernel.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT extern uint32_t                counted;
EXPORT extern const struct emu_kernel emu_kernel_add, emu_kernel_meet;

uint32_t counted = 5; /* a variable of the module */

/* add(words, count, value): each word plus value; the blocks share them out. */
static void add(const struct emu_block *block, void **params)
{
    uint32_t      *words = *(uint32_t **)params[0];
    const uint64_t count = *(uint64_t *)params[1];
    const uint32_t value = *(uint32_t *)params[2];
    for (uint64_t i = block->index[0]; i < count; i += block->grid[0]) {
        words[i] += value;
    }
}

static const unsigned   add_bytes[] = {8, 8, 4};
const struct emu_kernel emu_kernel_add = {EMU_KERNEL_ABI, 3, add_bytes, add};

/* meet(word, blocks): each block adds one and waits until all have, on this and other devices. */
static void meet(const struct emu_block *block, void **params)
{
    (void)block;
    _Atomic uint32_t *word = *(_Atomic uint32_t **)params[0];
    const uint32_t    blocks = *(uint32_t *)params[1];
    atomic_fetch_add(word, 1);
    while (atomic_load(word) < blocks) {
        sched_yield();
    }
}

static const unsigned   meet_bytes[] = {8, 4};
const struct emu_kernel emu_kernel_meet = {EMU_KERNEL_ABI, 2, meet_bytes, meet};
