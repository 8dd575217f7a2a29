/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of a million ranks, in large pages where the kernel has them: ranks meet those that are
 * far away, so each message looks at memory in as many places, and there are too many small pages
 * to know where each of them is.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "sim.h"

enum { LARGE = 2 << 20 };

/* What is smaller gains nothing. */
static void advise(void *memory, size_t bytes)
{
    const uintptr_t begin = ct_round_up((uintptr_t)memory, LARGE);
    const uintptr_t end = ((uintptr_t)memory + bytes) / LARGE * LARGE;
    if (memory != NULL && end > begin) {
        (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE); /* else they stay small */
    }
}

void *sim_zeros(size_t n, size_t each)
{
    void *memory = calloc(n, each);
    advise(memory, n * each);
    return memory;
}

void *sim_resize(void *memory, size_t bytes)
{
    void *more = realloc(memory, bytes);
    advise(more, bytes);
    return more;
}
