/* SPDX-License-Identifier: BSD-3-Clause */
/* block.h: copies from the end on. Called by its ct_block_copy. */
#include "config.h"
#include "base/block.h"

typedef uint64_t vec __attribute__((vector_size(16)));

static vec load(const char *from)
{
    vec v;
    memcpy(&v, from, sizeof v);
    return v;
}

void ct_block_copy_back(void *to_, const void *from_, size_t len_bytes)
{
    enum { STEP = 4 * sizeof(vec) };
    char       *to = to_;
    const char *from = from_;
    size_t      left = len_bytes;
    for (; left >= STEP; left -= STEP) {
        const char *f = from + left - STEP;
        char       *t = to + left - STEP;
        const vec   a = load(f), b = load(f + 16), c = load(f + 32), d = load(f + 48);
        memcpy(t + 48, &d, sizeof d);
        memcpy(t + 32, &c, sizeof c);
        memcpy(t + 16, &b, sizeof b);
        memcpy(t, &a, sizeof a);
    }
    memcpy(to, from, left);
}
