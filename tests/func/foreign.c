/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of foreign.h: one range of addresses, given out from its start on and begun anew
 * whenever all is free. */
#include "foreign.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "api/api.h"

#include "check.h"

#define RANGE ((size_t)1 << 30)

enum { MASK = 0x5a, ALIGN = 64, RUBBISH = 0xee };
enum scope { RANGE_ALONE, SOME, ALL };

static char        *range;
static size_t       used, pieces;
static enum scope   scope;
static uintptr_t    exempt[8], exempt_len[8];
static unsigned     exempted;
static _Atomic int  copies_to_failure;
static atomic_llong copies;

static bool in_range(uintptr_t at)
{
    return range != NULL && at - (uintptr_t)range < RANGE;
}

/* ---- what the library is given --------------------------------------------------------------- */

static int copied(void)
{
    const int  n = atomic_load(&copies_to_failure);
    const bool fails = n < 0 || (n > 0 && atomic_fetch_sub(&copies_to_failure, 1) == 1);
    atomic_fetch_add(&copies, 1);
    return fails ? CTRAN_ERR_BUFFER : CTRAN_SUCCESS;
}

/* Past the sanitizers: they have seen the copy that is masked. */
__attribute__((no_sanitize("address", "undefined"))) static void mask(char *at, size_t len)
{
    uint64_t word;
    size_t   done = 0;
    for (; len - done >= sizeof word; done += sizeof word) {
        __builtin_memcpy(&word, at + done, sizeof word);
        word ^= MASK * UINT64_C(0x0101010101010101);
        __builtin_memcpy(at + done, &word, sizeof word);
    }
    for (; done < len; done++) {
        at[done] = (char)(at[done] ^ MASK);
    }
}

static void copy(char *to, const char *from, size_t len, bool masked)
{
    if (len > 0) {
        memcpy(to, from, len);
    }
    if (masked) {
        mask(to, len);
    }
}

static int copy_list(char *flat, const struct ct_rows *list, unsigned n, bool out)
{
    for (unsigned i = 0; i < n; i++) {
        const struct ct_rows *e = &list[i];
        for (size_t k = 0; k < e->n; k++) {
            const uintptr_t at = e->at + k * (uintptr_t)e->stride_bytes;
            char           *here = flat + e->flat_bytes + k * e->flat_stride_bytes;
            copy(out ? here : (char *)at, out ? (char *)at : here, e->len_bytes, in_range(at));
        }
    }
    return copied();
}

static int read_blocks(const struct ct_memory *m, void *flat, size_t len,
                       const struct ct_rows *list, unsigned n)
{
    (void)m, (void)len;
    return copy_list(flat, list, n, true);
}

static int write_blocks(const struct ct_memory *m, const void *flat, size_t len,
                        const struct ct_rows *list, unsigned n)
{
    (void)m, (void)len;
    return copy_list((char *)(uintptr_t)flat, list, n, false);
}

/* The length stands before it, so that it is seen whether it comes back with the same. */
static void *stage_get(const struct ct_memory *m, size_t len)
{
    char *stage = aligned_alloc(ALIGN, (len + 2 * ALIGN - 1) / ALIGN * ALIGN);
    (void)m;
    EXPECT(stage != NULL);
    memcpy(stage, &len, sizeof len);
    return memset(stage + ALIGN, RUBBISH, len);
}

static void stage_put(const struct ct_memory *m, void *stage, size_t len)
{
    size_t had;
    (void)m;
    memcpy(&had, (char *)stage - ALIGN, sizeof had);
    EXPECT_EQ(had, len);
    free((char *)stage - ALIGN);
}

static const struct ct_memory foreign = {read_blocks, write_blocks, stage_get, stage_put};

static const struct ct_memory *memory_of(struct ct_process *p, const void *at)
{
    enum { PAGE = 4096 };
    const uintptr_t a = (uintptr_t)at;
    (void)p;
    if (in_range(a)) {
        return &foreign;
    }
    for (unsigned i = 0; i < LEN(exempt); i++) {
        if (a - exempt[i] < exempt_len[i]) {
            return NULL;
        }
    }
    return scope == ALL || (scope == SOME && a / PAGE % 2 == 1) ? &foreign : NULL;
}

/* ---- what the tests are given ---------------------------------------------------------------- */

void foreign_plug(void)
{
    if (range == NULL) {
        range = mmap(NULL, RANGE, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        EXPECT(range != MAP_FAILED);
    }
    ct_api_process()->memory_of = memory_of;
}

/* The program has used it, or has done nothing. */
static void expect_used(void)
{
    if (check_size > 0 && getenv("CT_VERBOSE") != NULL) {
        fprintf(stderr, "rank %d: %lld copies of foreign memory\n", check_rank,
                (long long)atomic_load(&copies));
    }
}

void foreign_from_environment(void)
{
    const char *what = getenv("CT_FOREIGN");
    if (what != NULL) {
        EXPECT(strcmp(what, "all") == 0 || strcmp(what, "some") == 0);
        scope = strcmp(what, "all") == 0 ? ALL : SOME;
        atexit(expect_used);
        foreign_plug();
    }
}

void *foreign_exempt(void *at, ptrdiff_t len)
{
    const unsigned i = exempted++ % LEN(exempt);
    exempt[i] = (uintptr_t)at;
    exempt_len[i] = len > 0 ? (uintptr_t)len : 0;
    return at;
}

void *foreign_new(size_t len)
{
    char *at = range + used;
    used += (len + ALIGN) / ALIGN * ALIGN;
    pieces++;
    EXPECT(used <= RANGE);
    return at;
}

void foreign_free(void *at)
{
    EXPECT(in_range((uintptr_t)at));
    if (--pieces == 0) {
        used = 0;
    }
}

void foreign_put(void *to, const void *from, size_t len)
{
    copy(to, from, len, true);
}

void foreign_get(void *to, const void *from, size_t len)
{
    copy(to, from, len, true);
}

void foreign_fail(int n)
{
    atomic_store(&copies_to_failure, n);
}
