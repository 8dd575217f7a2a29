/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the fuzz harnesses share: an input is a row of choices, read from its beginning; when it is
 * at its end every choice is 0. So most inputs come through to the state machines behind the
 * parsers, and a few bytes more or less change little.
 */
#ifndef CT_TESTS_FUZZ_FUZZ_H
#define CT_TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the run, and libFuzzer keeps the input. */
#define FUZZ_CHECK(x) ((x) ? (void)0 : __builtin_trap())

struct fuzz {
    const uint8_t *at;
    size_t         left;
};

static inline uint64_t fuzz_number(struct fuzz *f, unsigned bytes)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < bytes && f->left > 0; i++, f->left--) {
        v |= (uint64_t)*f->at++ << 8 * i;
    }
    return v;
}

/* One of 0 .. below - 1. */
static inline uint32_t fuzz_below(struct fuzz *f, uint32_t below)
{
    return (uint32_t)fuzz_number(f, below <= 256 ? 1 : 2) % below;
}

/* So many bytes of the input, or what is left of it, in memory of exactly that size, which is the
 * caller's; a look behind them is seen. */
static inline uint8_t *fuzz_bytes(struct fuzz *f, size_t most, size_t *len)
{
    *len = most < f->left ? most : f->left;
    uint8_t *copy = malloc(*len > 0 ? *len : 1);
    FUZZ_CHECK(copy != NULL);
    memcpy(copy, f->at, *len);
    f->at += *len;
    f->left -= *len;
    return copy;
}

/* Reads all of it. */
static inline void fuzz_touch(const void *bytes, size_t len)
{
    static volatile uint8_t sum;
    for (size_t i = 0; i < len; i++) {
        sum = (uint8_t)(sum + ((const uint8_t *)bytes)[i]);
    }
}

#endif
