/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The buffers of a call of medley, and the model: what every number in them is when the call is
 * over. What the call may not write is compared as well, to the byte.
 */
#include "medley.h"

#include <stdarg.h>

enum { GUARD = 64, UNWRITTEN = 0xc3 };

static char wrong[512];

static const char *wrong_is(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static const char *wrong_is(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(wrong, sizeof wrong, fmt, ap);
    va_end(ap);
    return wrong;
}

/* Whether this rank's part lies in recv. */
static bool gives_in_recv(const struct call *c)
{
    return c->what == BCAST || (c->in_place && c->what != SCATTER && c->what != SCATTERV);
}

/* Scalar i of a block in memory. */
static size_t place(const struct call *c, const struct block *b, size_t i)
{
    const struct layout *l = &layouts[b->layout];
    const size_t         per = (size_t)l->per;
    return b->at + (i / per * (size_t)l->extent + (size_t)l->at[i % per]) * c->kind->size;
}

/* ---- the model ------------------------------------------------------------------------------- */

/* What a rank puts in. */
static struct number input(const struct call *c, int from, int to, int slot, size_t i)
{
    const uint64_t key = mix(c->key + (uint64_t)c->turn * 7919) ^ (uint64_t)(from + 8) << 40 ^
                         (uint64_t)(to + 8) << 20 ^ (uint64_t)slot;
    return number_draw(c->kind, c->op, c->exact, mix(mix(key) + i));
}

/* Of number i of the vectors of these ranks, in their order. */
static struct number reduced(const struct call *c, const int *ranks, int n, size_t i,
                             long double *slack)
{
    struct number x = input(c, ranks[0], TO_ALL, 0, i);
    long double   size = number_size(x);
    for (int r = 1; r < n; r++) {
        const struct number y = input(c, ranks[r], TO_ALL, 0, i);
        size = c->op == PROD ? size * number_size(y) : size + number_size(y);
        x = number_combine(c->kind, c->op, x, y);
    }
    *slack = call_rounds(c) ? number_slack(c->kind, n, size) : 0;
    return x;
}

static struct number output(const struct call *c, const struct block *b, size_t i,
                            long double *slack)
{
    const struct team *t = c->team;
    *slack = 0;
    if (!call_reduces(c)) {
        return input(c, b->from, b->to, b->slot, i);
    }
    if (c->what == SCAN || c->what == EXSCAN) {
        return reduced(c, t->own, t->me + (c->what == SCAN), i, slack);
    }
    return reduced(c, t->peers, t->npeers, c->first + i, slack);
}

/* ---- buffers --------------------------------------------------------------------------------- */

static void side_new(struct side *s)
{
    const size_t bytes = s->bytes + 2 * GUARD;
    if (s->buf == NULL) {
        s->buf = malloc(bytes);
        s->want = malloc(bytes);
        EXPECT(s->buf != NULL && s->want != NULL);
        s->buf += GUARD;
        s->want += GUARD;
    }
    memset(s->buf - GUARD, UNWRITTEN, bytes);
}

static void side_free(struct side *s)
{
    if (s->buf != NULL) {
        free(s->buf - GUARD);
        free(s->want - GUARD);
    }
}

static void side_keep(struct side *s)
{
    memcpy(s->want - GUARD, s->buf - GUARD, s->bytes + 2 * GUARD);
}

void call_fill(struct call *c, int turn)
{
    c->turn = turn;
    side_new(&c->send);
    side_new(&c->recv);
    unsigned char *to = gives_in_recv(c) ? c->recv.buf : c->send.buf;
    for (int k = 0; k < c->send.n; k++) {
        const struct block *b = &c->send.blocks[k];
        for (size_t i = 0; i < b->scalars; i++) {
            number_put(c->kind, input(c, b->from, b->to, b->slot, i), to + place(c, b, i));
        }
    }
    side_keep(&c->send);
    side_keep(&c->recv);
}

void call_free(struct call *c)
{
    side_free(&c->send);
    side_free(&c->recv);
}

/* ---- compared -------------------------------------------------------------------------------- */

static const char *judge_block(struct call *c, int k, uint64_t *digest)
{
    const struct block *b = &c->recv.blocks[k];
    for (size_t i = 0; i < b->scalars; i++) {
        const size_t        at = place(c, b, i);
        long double         slack;
        const struct number want = output(c, b, i, &slack);
        const struct number found = number_get(c->kind, c->recv.buf + at);
        if (!number_near(c->kind, want, found, slack)) {
            return wrong_is(
                "%s: number %zu of block %d, from rank %d: wanted %llx %.21Lg %.21Lg %d, "
                "found %llx %.21Lg %.21Lg %d, which may be off by %Lg",
                call_text(c), i, k, b->from, (unsigned long long)want.i, want.re, want.im,
                want.index, (unsigned long long)found.i, found.re, found.im, found.index, slack);
        }
        *digest = slack > 0 ? *digest : number_mix(*digest, c->kind, found);
        memcpy(c->recv.want + at, c->recv.buf + at, c->kind->size);
    }
    return NULL;
}

static const char *judge_rest(const struct call *c, const struct side *s, const char *name)
{
    for (size_t i = 0; i < s->bytes + 2 * GUARD; i++) {
        const unsigned char want = s->want[(ptrdiff_t)i - GUARD];
        const unsigned char found = s->buf[(ptrdiff_t)i - GUARD];
        if (want != found) {
            return wrong_is("%s: byte %td of %zu of the %s buffer should have stayed %02x: found "
                            "%02x",
                            call_text(c), (ptrdiff_t)i - GUARD, s->bytes, name, want, found);
        }
    }
    return NULL;
}

const char *call_judge(struct call *c, uint64_t *digest)
{
    const char *bad = NULL;
    *digest = 1;
    for (int k = 0; k < c->recv.n && bad == NULL; k++) {
        bad = c->recv.blocks[k].from == NOBODY ? NULL : judge_block(c, k, digest);
    }
    if (c->loose < c->recv.bytes && bad == NULL) {
        memcpy(c->recv.want + c->loose, c->recv.buf + c->loose, c->recv.bytes - c->loose);
    }
    bad = bad != NULL ? bad : judge_rest(c, &c->send, "send");
    return bad != NULL ? bad : judge_rest(c, &c->recv, "receive");
}
