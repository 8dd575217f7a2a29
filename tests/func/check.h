/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check - what the programs of this folder share: checks that print both values and end the job,
 * a generator of numbers that is the same everywhere, contents that tell one message from every
 * other, and buffers between canaries.
 *
 * A program is a list of subjects. It is run as NAME [SEED]; CT_SEED in the environment does the
 * same. All ranks draw the same numbers from a seed, so each knows what the others send.
 */
#ifndef CT_TESTS_FUNC_CHECK_H
#define CT_TESTS_FUNC_CHECK_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctran.h"

#define LEN(array) (sizeof(array) / sizeof((array)[0]))

extern int      check_rank, check_size; /* in CTRAN_COMM_WORLD */
extern uint64_t check_seed;

/* ---- checks ---------------------------------------------------------------------------------- */

/* Prints what was wanted and found, and ends the job. */
void check_fail(const char *file, int line, const char *fmt, ...)
    __attribute__((noreturn, format(printf, 3, 4)));
void check_eq(const char *file, int line, const char *what, long long wanted, long long found);
void check_rc(const char *file, int line, const char *call, int wanted, int found);

#define EXPECT(condition)                                                                          \
    ((condition) ? (void)0 : check_fail(__FILE__, __LINE__, "not so: %s", #condition))
#define EXPECT_EQ(wanted, found)                                                                   \
    check_eq(__FILE__, __LINE__, #found, (long long)(wanted), (long long)(found))
#define EXPECT_PTR(wanted, found)                                                                  \
    check_eq(__FILE__, __LINE__, #found, (intptr_t)(wanted), (intptr_t)(found))
#define EXPECT_RC(code, call) check_rc(__FILE__, __LINE__, #call, (code), (call))
#define OK(call)              EXPECT_RC(CTRAN_SUCCESS, call)

/* What a status says: who, which tag, how many bytes. */
void check_status(const char *file, int line, const ctran_status_t *status, int source, int tag,
                  size_t bytes);
#define EXPECT_STATUS(status, source, tag, bytes)                                                  \
    check_status(__FILE__, __LINE__, status, source, tag, bytes)

/* Has errors before ctran_init and after ctran_finalize returned, as they are fatal by default, and
 * has CTRAN_COMM_WORLD and CTRAN_COMM_SELF start so; before any call of the library. */
void check_errors_return(void);

/* ---- numbers --------------------------------------------------------------------------------- */

static inline uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static inline uint64_t rng_next(uint64_t *state)
{
    return mix((*state)++);
}

/* From 0 to below - 1. */
static inline int rng_below(uint64_t *state, int below)
{
    return (int)(rng_next(state) % (uint64_t)below);
}

/* A generator of its own for each subject. */
static inline uint64_t rng_of(uint64_t subject)
{
    return mix(check_seed * 1000003 + subject);
}

/* ---- contents -------------------------------------------------------------------------------- */

/* Names a message by all that tells it from others. */
static inline uint64_t key_of(int source, int dest, int tag, int index)
{
    return mix(mix((uint64_t)source << 32 | (uint32_t)dest) ^
               mix((uint64_t)(uint32_t)tag << 32 | (uint32_t)index));
}

/* Eight bytes of the content of `key`. */
static inline uint64_t content_word(uint64_t key, size_t word)
{
    uint64_t x = (key + word) * 0x9e3779b97f4a7c15u;
    return x ^ x >> 29;
}

void content_fill(void *buf, size_t len, uint64_t key);
/* Whether buf holds it; if not, *bad is where the first wrong word begins. */
bool content_is(const void *buf, size_t len, uint64_t key, size_t *bad);

void check_content(const char *file, int line, const void *buf, size_t len, uint64_t key);
#define EXPECT_CONTENT(buf, len, key) check_content(__FILE__, __LINE__, buf, len, key)

/* ---- buffers between canaries ---------------------------------------------------------------- */

enum { CANARY = 0xc3, CANARY_BYTES = 64 };

/* A buffer that holds nothing but canaries until it is written. */
void *guarded_new(size_t len);
void  guarded_reset(void *buf, size_t len);
void  guarded_free(void *buf);

/* Only the first `written` of its `len` bytes may have been written, and nothing around it. */
void check_guarded(const char *file, int line, const void *buf, size_t len, size_t written);
#define EXPECT_GUARDED(buf, len, written) check_guarded(__FILE__, __LINE__, buf, len, written)

/* ---- settings -------------------------------------------------------------------------------- */

/* CT_CHECK_QUICK is 1: a sanitizer, or whoever has little time, wants smaller ranges. */
bool check_quick(void);

/* A size as CTRAN_ variables have it, so that sizes around the limit in force are tried. */
size_t size_setting(const char *name, size_t otherwise);

/* ---- the program ----------------------------------------------------------------------------- */

struct subject {
    const char *name;
    void (*run)(void);
};

/* Init and finalize. check_end's result is main's. */
void check_start(int argc, char **argv);
/* The same with a thread level, which is provided. */
void check_start_threads(int argc, char **argv, int level);
int  check_end(void);

/* Runs all subjects, or those that CT_ONLY names a part of. CT_VERBOSE tells when each begins. */
void check_run(const struct subject *subjects, size_t count);

#endif
