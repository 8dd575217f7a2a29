/* SPDX-License-Identifier: BSD-3-Clause */
/* storm: the plan, and shapes of memory. */
#include "storm.h"

#include <assert.h>
#include <wchar.h>

static const int32_t GAP = 0x5ca1ab1e;

/* Mostly short, some around the eager limit, few long. */
static int draw_ints(uint64_t *rng)
{
    static int limit;
    if (limit == 0) {
        limit = (int)(size_setting("CTRAN_EAGER_LIMIT", 4096) / sizeof(int32_t));
    }
    switch (rng_below(rng, 64)) {
    case 0:
        return rng_below(rng, MAX_INTS);
    case 1:
    case 2:
    case 3:
        return rng_below(rng, 16384);
    case 4:
    case 5:
    case 6:
    case 7:
        return limit - 18 + rng_below(rng, 22); /* headers count, too */
    case 8:
        return 0;
    default:
        return rng_below(rng, rng_below(rng, 4) == 0 ? 1024 : 24);
    }
}

struct plan plan_draw(uint64_t seed, int n)
{
    struct plan plan = {n, malloc((size_t)n * sizeof *plan.messages + 1)};
    uint64_t    rng = mix(seed);
    EXPECT(plan.messages != NULL);
    for (int i = 0; i < n; i++) {
        plan.messages[i] = (struct message){
            .source = rng_below(&rng, check_size),
            .dest = rng_below(&rng, check_size),
            .comm = rng_below(&rng, COMMS),
            .tag = rng_below(&rng, TAGS),
            .ints = draw_ints(&rng),
        };
        /* On the shared communicator order says nothing: the message names itself. */
        if (plan.messages[i].comm == SHARED && plan.messages[i].ints < 4) {
            plan.messages[i].ints = 4;
        }
    }
    return plan;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static void make_vector(struct shape *s)
{
    OK(ctran_type_vector(s->ints / s->block, s->block, s->step, CTRAN_INT32_T, &s->type));
    s->count = 1;
}

/* The same memory, block by block. */
static void make_indexed(struct shape *s)
{
    ctran_count_t  blocks = s->ints / s->block;
    ctran_count_t *at = malloc((size_t)blocks * sizeof *at);
    EXPECT(at != NULL);
    for (ctran_count_t i = 0; i < blocks; i++) {
        at[i] = s->first + i * s->step;
    }
    OK(ctran_type_create_indexed_block(blocks, s->block, at, CTRAN_INT32_T, &s->type));
    s->count = 1;
    free(at);
}

/* One number and a gap, again and again. */
static void make_resized(struct shape *s)
{
    s->block = 1;
    OK(ctran_type_create_resized(CTRAN_INT32_T, 0, s->step * (ctran_aint_t)sizeof(int32_t),
                                 &s->type));
    s->count = s->ints;
}

struct shape shape_draw(uint64_t *rng, int ints, bool open)
{
    struct shape s = {.type = CTRAN_INT32_T, .count = ints, .ints = ints, .block = 1, .step = 1};
    int          kind = ints > 0 ? rng_below(rng, 6) : 0;
    if (kind >= 3) {
        s.block = ints % 4 == 0 ? 4 : ints % 3 == 0 ? 3 : 1;
        s.step = s.block + 1 + rng_below(rng, 3);
        s.derived = true;
        if (open || kind == 3) {
            make_resized(&s);
        } else if (kind == 4) {
            make_vector(&s);
        } else {
            s.first = rng_below(rng, 5);
            make_indexed(&s);
        }
        OK(ctran_type_commit(&s.type));
    }
    s.room = ints > 0 ? shape_at(&s, ints - 1) + s.step : 0;
    return s;
}

void shape_free(struct shape *s)
{
    if (s->derived) {
        OK(ctran_type_free(&s->type));
    }
}

static int32_t number(uint64_t key, int i)
{
    return (int32_t)(content_word(key, (size_t)i / 2) >> (i % 2 * 32));
}

void shape_fill(const struct shape *s, int32_t *buf, uint64_t key, int ints)
{
    static_assert(sizeof(wchar_t) == sizeof *buf, "wmemset fills numbers");
    wmemset((wchar_t *)buf, GAP, (size_t)s->room);
    for (int i = 0, at = s->first; i < ints; at += s->step) {
        for (int k = 0; k < s->block && i < ints; k++) {
            buf[at + k] = number(key, i++);
        }
    }
}

/* Receives have room for the longest message, most are short. So the rest of a buffer is compared
 * with itself one number on, which takes no time, whatever this is compiled with. */
static bool all_gaps(const int32_t *buf, int n)
{
    return n == 0 || (buf[0] == GAP && memcmp(buf, buf + 1, (size_t)(n - 1) * sizeof *buf) == 0);
}

static void expect_number(const struct shape *s, const int32_t *buf, int at, int32_t want)
{
    if (buf[at] != want) {
        check_fail(__FILE__, __LINE__,
                   "place %d of %d (%d numbers, block %d, step %d): wanted %d, found %d", at,
                   s->room, s->ints, s->block, s->step, want, buf[at]);
    }
}

void shape_check(const struct shape *s, const int32_t *buf, uint64_t key, int ints)
{
    int at = 0; /* all before it is as it should be */
    for (int i = 0, block = s->first; i < ints; block += s->step) {
        for (; at < block; at++) {
            expect_number(s, buf, at, GAP);
        }
        for (; at < block + s->block && i < ints; at++) {
            expect_number(s, buf, at, number(key, i++));
        }
    }
    for (; at < s->room && !all_gaps(buf + at, s->room - at); at++) {
        expect_number(s, buf, at, GAP);
    }
}
