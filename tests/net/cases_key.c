/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys: rights, ranges, and what is no key (any more), or another rank's. After each refusal the
 * memory is as it was and the peer can be used. */
#define CT_FOLDER "test"
#include "cases.h"

enum { BYTES = 70000 };

static bool is_filled(const unsigned char *at, size_t len, unsigned char with)
{
    for (size_t i = 0; i < len; i++) {
        if (at[i] != with) {
            return false;
        }
    }
    return true;
}

/* Each right allows one operation. */
static void rights(struct world *w)
{
    static const uint32_t access[] = {CT_NET_REMOTE_READ, CT_NET_REMOTE_WRITE,
                                      CT_NET_REMOTE_ATOMIC};
    for (uint32_t i = 0; i < CT_ARRAY_LEN(access); i++) {
        unsigned char buf[8] = {1, 1, 1, 1, 1, 1, 1, 1};
        struct target t = target_make(w, BYTES, access[i], CT_EP_ANY_PEER, 9, 0);
        world_meet(w);
        struct ct_ep_rkey *k = key_open(w, next_rank(w), 0);
        const uint64_t     at = 16;
        EQUAL(w, do_get(w, k, at, buf, 8), i == 0 ? CTRAN_SUCCESS : CT_REFUSED);
        EQUAL(w, buf[0], i == 0 ? 9 : 1);
        memset(buf, 2, sizeof buf);
        EQUAL(w, do_put(w, k, at, buf, 8), i == 1 ? CTRAN_SUCCESS : CT_REFUSED);
        EQUAL(w, do_atomic(w, k, at, CT_NET_XOR, 8, 0xff, 0, NULL),
              i == 2 ? CTRAN_SUCCESS : CT_REFUSED);
        world_meet(w);
        EQUAL(w, t.bytes[at], i == 0 ? 9 : i == 1 ? 2 : 9 ^ 0xff);
        EQUAL(w, t.bytes[at + 7], i == 1 ? 2 : 9);
        key_close(w, k);
        target_drop(w, &t);
        world_meet(w);
    }
}

/* Ranges that end beyond the region, or wrap, are refused. */
static void ranges(struct world *w)
{
    static const struct {
        uint64_t offset;
        size_t   len;
        int      rc;
    } cases[] = {
        {0, BYTES, CTRAN_SUCCESS},       {BYTES - 1, 1, CTRAN_SUCCESS},
        {BYTES, 0, CTRAN_SUCCESS},       {BYTES, 1, CT_REFUSED},
        {BYTES - 1, 2, CT_REFUSED},      {1, BYTES, CT_REFUSED},
        {UINT64_MAX, 1, CT_REFUSED},     {UINT64_MAX - 1, 2, CT_REFUSED},
        {UINT64_MAX - 7, 8, CT_REFUSED}, {0 - (uint64_t)GUARD, GUARD, CT_REFUSED},
        {BYTES + 1, 0, CT_REFUSED},
    };
    struct target  t = target_make(w, BYTES, ALL_RIGHTS, CT_EP_ANY_PEER, 3, 0);
    unsigned char *buf = calloc(1, BYTES + 1);
    CHECK(w, buf != NULL);
    world_meet(w);
    struct ct_ep_rkey *k = key_open(w, next_rank(w), 0);
    EQUAL(w, ct_ep_rkey_len(k), BYTES);
    for (size_t i = 0; i < CT_ARRAY_LEN(cases); i++) {
        EQUAL(w, do_get(w, k, cases[i].offset, buf, cases[i].len), cases[i].rc);
        memset(buf, 3, BYTES + 1);
        EQUAL(w, do_put(w, k, cases[i].offset, buf, cases[i].len), cases[i].rc);
    }
    EQUAL(w, do_atomic(w, k, BYTES, CT_NET_ADD, 8, 1, 0, NULL), CT_REFUSED);
    EQUAL(w, do_atomic(w, k, BYTES - 4, CT_NET_ADD, 8, 1, 0, NULL), CT_REFUSED);
    EQUAL(w, do_atomic(w, k, UINT64_MAX - 7, CT_NET_ADD, 8, 1, 0, NULL), CT_REFUSED);
    world_meet(w);
    CHECK(w, is_filled(t.bytes, BYTES, 3));
    key_close(w, k);
    target_drop(w, &t);
    free(buf);
    world_meet(w);
}

/* A key that was withdrawn is refused, by those who have it open and those who open it then, also
 * when the memory is exposed again; the new key works. */
static void withdrawn(struct world *w)
{
    unsigned char buf[8] = {5, 5, 5, 5, 5, 5, 5, 5};
    struct target t = target_make(w, BYTES, ALL_RIGHTS, CT_EP_ANY_PEER, 1, 0);
    struct target other = target_make(w, BYTES, ALL_RIGHTS, CT_EP_ANY_PEER, 2, 1);
    world_meet(w);
    struct ct_ep_rkey *k = key_open(w, next_rank(w), 0), *late = NULL;
    EQUAL(w, do_get(w, k, 0, buf, 8), CTRAN_SUCCESS);
    world_meet(w);
    target_drop(w, &t);
    const struct ct_ep_exposure again = {
        .base = t.bytes, .len_bytes = BYTES, .access = ALL_RIGHTS, .peer = CT_EP_ANY_PEER};
    unsigned char packed[CT_EP_MAX_RKEY];
    ct_domain_enter(&w->p);
    EQUAL(w, ct_ep_expose(&w->p, &again, &t.region), CTRAN_SUCCESS);
    world_give(w, 2, packed, ct_ep_region_pack(t.region, packed));
    ct_domain_leave(&w->p);
    world_meet(w);
    memset(buf, 5, sizeof buf);
    EQUAL(w, do_put(w, k, 0, buf, 8), CT_REFUSED);
    EQUAL(w, do_get(w, k, 0, buf, 8), CT_REFUSED);
    EQUAL(w, buf[0], 5);
    EQUAL(w, do_atomic(w, k, 0, CT_NET_ADD, 8, 1, 0, NULL), CT_REFUSED);
    const struct world_record *old = world_take(w, next_rank(w), 0);
    if (key_try(w, next_rank(w), old->bytes, old->len_bytes, &late) == CTRAN_SUCCESS) {
        EQUAL(w, do_put(w, late, 0, buf, 8), CT_REFUSED);
        key_close(w, late);
    }
    struct ct_ep_rkey *fresh = key_open(w, next_rank(w), 2);
    EQUAL(w, do_get(w, fresh, 0, buf, 8), CTRAN_SUCCESS);
    EQUAL(w, buf[0], 1);
    key_close(w, fresh);
    key_close(w, k);
    world_meet(w);
    CHECK(w, is_filled(t.bytes, BYTES, 1) && is_filled(other.bytes, BYTES, 2));
    target_drop(w, &t);
    target_drop(w, &other);
    world_meet(w);
}

/* What is exposed to one rank is refused to another one that has the bytes of the key; so is a key
 * in the name of a rank whose key it is not. */
static void foreign(struct world *w)
{
    unsigned char      buf[8] = {5, 5, 5, 5, 5, 5, 5, 5};
    struct ct_ep_rkey *k = NULL;
    const uint32_t     next = next_rank(w), after = (w->me + 2) % w->n;
    struct target      t = target_make(w, BYTES, ALL_RIGHTS, next, 1, 0);
    world_meet(w);
    const uint32_t             before = (w->me + w->n - 1) % w->n;
    const struct world_record *theirs = world_take(w, next, 0);
    struct ct_ep_rkey         *mine = key_open(w, before, 0);
    EQUAL(w, do_get(w, mine, 0, buf, 8), CTRAN_SUCCESS);
    EQUAL(w, buf[0], 1);
    memset(buf, 5, sizeof buf);
    if (w->n > 2 && key_try(w, next, theirs->bytes, theirs->len_bytes, &k) == CTRAN_SUCCESS) {
        EQUAL(w, do_put(w, k, 0, buf, 8), CT_REFUSED);
        EQUAL(w, do_get(w, k, 0, buf, 8), CT_REFUSED);
        key_close(w, k);
    }
    if (w->n > 2) {
        EQUAL(w, key_try(w, after, theirs->bytes, theirs->len_bytes, &k), CT_REFUSED);
    }
    key_close(w, mine);
    world_meet(w);
    CHECK(w, is_filled(t.bytes, BYTES, 1));
    target_drop(w, &t);
    world_meet(w);
}

/* Bytes that are cut off, or changed: refused when they are opened or used, or they still name
 * memory that was exposed to this rank. Nothing else changes. */
static void rubbish(struct world *w)
{
    unsigned char buf[8] = {3, 3, 3, 3, 3, 3, 3, 3};
    struct target t = target_make(w, BYTES, ALL_RIGHTS, CT_EP_ANY_PEER, 3, 0);
    struct target closed = target_make(w, BYTES, 0, CT_EP_ANY_PEER, 4, 1);
    world_meet(w);
    const struct world_record *key = world_take(w, next_rank(w), 0);
    struct ct_ep_rkey         *k = NULL;
    for (size_t len = 0; len < key->len_bytes; len++) {
        EQUAL(w, key_try(w, next_rank(w), key->bytes, len, &k), CT_REFUSED);
    }
    for (size_t i = 0; i < 8 * key->len_bytes; i++) {
        struct world_record bad = *key;
        bad.bytes[i / 8] ^= (unsigned char)(1 << i % 8);
        const int rc = key_try(w, next_rank(w), bad.bytes, bad.len_bytes, &k);
        CHECK(w, rc == CTRAN_SUCCESS || rc == CT_REFUSED);
        if (rc == CTRAN_SUCCESS) {
            const int used = do_put(w, k, BYTES - 8, buf, 8);
            CHECK(w, used == CTRAN_SUCCESS || used == CT_REFUSED);
            key_close(w, k);
        }
    }
    world_meet(w);
    CHECK(w, is_filled(t.bytes, BYTES, 3) && is_filled(closed.bytes, BYTES, 4));
    target_drop(w, &t);
    target_drop(w, &closed);
    world_meet(w);
}

/* More regions than a transport may have room for, overlapping ones among them; each has its
 * rights. */
static void many(struct world *w)
{
    enum { REGIONS = 600 };
    unsigned char        *mem = world_alloc(w, BYTES);
    struct ct_ep_region **all = calloc(REGIONS, sizeof *all);
    unsigned char         packed[CT_EP_MAX_RKEY];
    CHECK(w, all != NULL);
    for (uint32_t i = 0; i < REGIONS; i++) {
        const struct ct_ep_exposure what = {.base = mem + i,
                                            .len_bytes = BYTES - i,
                                            .access = i % 2 == 0 ? ALL_RIGHTS : CT_NET_REMOTE_READ,
                                            .peer = CT_EP_ANY_PEER};
        ct_domain_enter(&w->p);
        EQUAL(w, ct_ep_expose(&w->p, &what, &all[i]), CTRAN_SUCCESS);
        const size_t len = ct_ep_region_pack(all[i], packed);
        ct_domain_leave(&w->p);
        world_give(w, i % 2, packed, len);
    }
    world_meet(w); /* the last two */
    unsigned char      one = 7, got = 0;
    struct ct_ep_rkey *writes = key_open(w, next_rank(w), 0), *reads = key_open(w, next_rank(w), 1);
    EQUAL(w, do_put(w, writes, 1, &one, 1), CTRAN_SUCCESS);
    EQUAL(w, do_put(w, reads, 0, &one, 1), CT_REFUSED);
    EQUAL(w, do_get(w, reads, 0, &got, 1), CTRAN_SUCCESS);
    EQUAL(w, got, 7);
    key_close(w, writes);
    key_close(w, reads);
    world_meet(w);
    EQUAL(w, mem[REGIONS - 1], 7);
    ct_domain_enter(&w->p);
    for (uint32_t i = 0; i < REGIONS; i++) {
        ct_ep_withdraw(all[i]);
    }
    ct_domain_leave(&w->p);
    free(all);
    world_meet(w);
}

const struct world_case cases_key[] = {
    {"rights", 2, 0, rights},   {"ranges", 2, 0, ranges},   {"withdrawn", 2, 0, withdrawn},
    {"foreign", 3, 0, foreign}, {"rubbish", 2, 0, rubbish}, {"many", 2, 0, many},
    {NULL, 0, 0, NULL},
};
