/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations on mixes of memory; see device.h. */
#include "device.h"

static uint64_t number; /* of the operation: the same on all ranks */

/* What a buffer holds at first, edges included. */
static char *image_new(const struct operation *o, int which)
{
    const size_t len = o->len[which] + 2 * (size_t)EDGE;
    char        *image = malloc(len);
    EXPECT(image != NULL);
    content_fill(image, len, key_of(check_rank, which, (int)number, 77));
    for (size_t i = 0; o->numbers && i < o->len[which] / sizeof(double); i++) {
        const double value = (double)((i * 7 + (size_t)check_rank * 3 + number) % 1000);
        memcpy(image + EDGE + i * sizeof value, &value, sizeof value);
    }
    return image;
}

static char *image_copy(const struct operation *o, int which, const char *image)
{
    const size_t len = o->len[which] + 2 * (size_t)EDGE;
    char        *copy = malloc(len);
    EXPECT(copy != NULL);
    return memcpy(copy, image, len);
}

static void run(const struct operation *o, const int kinds[BUFS], char *images[BUFS])
{
    void *at[BUFS], *buf[BUFS];
    for (int i = 0; i < BUFS; i++) {
        const size_t len = o->len[i] + 2 * (size_t)EDGE;
        at[i] = mem_new(kinds[i], len);
        buf[i] = (char *)at[i] + EDGE;
        mem_put(kinds[i], at[i], images[i], len);
    }
    o->run(o, buf);
    for (int i = 0; i < BUFS; i++) {
        mem_get(kinds[i], images[i], at[i], o->len[i] + 2 * (size_t)EDGE);
        mem_free(kinds[i], at[i]);
    }
}

static void expect_same(const struct operation *o, const int kinds[BUFS], char *const wanted[BUFS],
                        char *const found[BUFS])
{
    for (int i = 0; i < BUFS; i++) {
        const size_t len = o->len[i] + 2 * (size_t)EDGE;
        if (memcmp(wanted[i], found[i], len) == 0) {
            continue;
        }
        for (size_t at = 0; at < len; at++) {
            if (wanted[i][at] != found[i][at]) {
                check_fail(__FILE__, __LINE__,
                           "%s, count %lld, way %d, kinds %d %d: byte %zd of %zu of buffer %d is "
                           "%02x, on the host it is %02x",
                           o->name, (long long)o->count, o->way, kinds[0], kinds[1],
                           (ssize_t)at - EDGE, o->len[i], i, (unsigned char)found[i][at],
                           (unsigned char)wanted[i][at]);
            }
        }
    }
}

/* Every pair of kinds on all ranks, and ranks that differ. */
void run_mixes(const struct operation *o)
{
    enum { DIFFER = 2, PAIRS = 4 /* of HOST and DEVICE */ };
    static const int host[BUFS] = {HOST, HOST};
    char            *first[BUFS], *wanted[BUFS], *found[BUFS];
    uint64_t         mine = rng_of(900 + ++number) + (uint64_t)check_rank * 1000;
    for (int i = 0; i < BUFS; i++) {
        first[i] = image_new(o, i);
        wanted[i] = image_copy(o, i, first[i]);
    }
    run(o, host, wanted);
    for (int mix = 1; mix < PAIRS + DIFFER; mix++) {
        const bool differ = mix >= PAIRS;
        const int  kinds[BUFS] = {differ ? rng_below(&mine, mem_kinds) : mix % 2,
                                 differ ? rng_below(&mine, mem_kinds) : mix / 2};
        for (int i = 0; i < BUFS; i++) {
            found[i] = image_copy(o, i, first[i]);
        }
        run(o, kinds, found);
        expect_same(o, kinds, wanted, found);
        for (int i = 0; i < BUFS; i++) {
            free(found[i]);
        }
    }
    for (int i = 0; i < BUFS; i++) {
        free(wanted[i]);
        free(first[i]);
    }
}
