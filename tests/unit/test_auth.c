/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The proof of the job's key: two ends that hold it agree however their bytes are cut; whoever
 * lacks the key, comes with another context, replays, reflects or talks nonsense is refused, within
 * a bounded number of bytes.
 */
#include "unit.h"

static const char context[] = "store";

/* What one end has sent, all of it, so that a test can play it again. */
struct wire {
    unsigned char bytes[2 * CT_AUTH_MESSAGE_BYTES];
    size_t        len, fed;
};

static void begin(struct ct_auth *a, const struct ct_auth_key *key, enum ct_auth_role role,
                  const char *what)
{
    assert_int_equal(ct_auth_begin(a, key, role, what, strlen(what)), CTRAN_SUCCESS);
}

static void keys(struct ct_auth_key *one, struct ct_auth_key *other)
{
    assert_int_equal(ct_auth_key_make(one), CTRAN_SUCCESS);
    assert_int_equal(ct_auth_key_make(other), CTRAN_SUCCESS);
    assert_memory_not_equal(one, other, sizeof *one);
}

/* Moves at most `most` bytes of what an end has to say to its wire; true if there were any. */
static bool drain(struct ct_auth *a, struct wire *w, size_t most)
{
    const void *out;
    size_t      n = ct_min_size(ct_auth_output(a, &out), most);
    assert_true(w->len + n <= sizeof w->bytes);
    memcpy(w->bytes + w->len, out, n);
    ct_auth_sent(a, n);
    w->len += n;
    return n > 0;
}

/* The end reads at most `most` bytes of the wire. */
static bool fill(struct ct_auth *a, struct wire *w, size_t most)
{
    size_t taken, n = ct_min_size(w->len - w->fed, most);
    (void)ct_auth_feed(a, w->bytes + w->fed, n, &taken);
    w->fed += taken;
    return taken > 0;
}

/* Both talk in random pieces of at most `most` bytes until neither has anything to say. */
static void talk(struct ct_auth *c, struct ct_auth *s, struct wire *to_s, struct wire *to_c,
                 uint32_t most, uint64_t *seed)
{
    *to_s = *to_c = (struct wire){.len = 0};
    for (bool moved = true; moved;) {
        moved = drain(c, to_s, 1 + unit_below(seed, most));
        moved |= fill(s, to_s, 1 + unit_below(seed, most));
        moved |= drain(s, to_c, 1 + unit_below(seed, most));
        moved |= fill(c, to_c, 1 + unit_below(seed, most));
    }
}

static void test_agree(void **state)
{
    (void)state;
    struct ct_auth_key key, other;
    uint64_t           seed = 1;
    keys(&key, &other);
    for (unsigned most = 1; most <= 200; most++) {
        struct ct_auth c, s;
        struct wire    to_s, to_c;
        begin(&c, &key, CT_AUTH_CONNECTS, context);
        begin(&s, &key, CT_AUTH_ACCEPTS, context);
        talk(&c, &s, &to_s, &to_c, most, &seed);
        assert_int_equal(c.result, CTRAN_SUCCESS);
        assert_int_equal(s.result, CTRAN_SUCCESS);
        assert_true(to_s.len <= CT_AUTH_MAX_BYTES && to_c.len <= CT_AUTH_MAX_BYTES);
        ct_auth_end(&c);
        ct_auth_end(&s);
        assert_int_equal(c.result, CTRAN_SUCCESS);
    }
}

/* What follows the proof on the same connection is left to the caller. */
static void test_rest(void **state)
{
    (void)state;
    struct ct_auth_key key, other;
    struct ct_auth     c, s;
    struct wire        to_s, to_c;
    uint64_t           seed = 2;
    keys(&key, &other);
    begin(&c, &key, CT_AUTH_CONNECTS, context);
    begin(&s, &key, CT_AUTH_ACCEPTS, context);
    talk(&c, &s, &to_s, &to_c, 200, &seed);
    memcpy(to_s.bytes + to_s.len, "more", 4);
    size_t taken = 99;
    assert_int_equal(ct_auth_feed(&s, "more", 4, &taken), CTRAN_SUCCESS);
    assert_int_equal(taken, 0);

    begin(&c, &key, CT_AUTH_CONNECTS, context);
    begin(&s, &key, CT_AUTH_ACCEPTS, context);
    to_s = to_c = (struct wire){.len = 0};
    drain(&c, &to_s, 200);
    fill(&s, &to_s, 200);
    drain(&s, &to_c, 200);
    fill(&c, &to_c, 200);
    drain(&c, &to_s, 200);
    memcpy(to_s.bytes + to_s.len, "more", 4);
    to_s.len += 4;
    fill(&s, &to_s, 200);
    assert_int_equal(s.result, CTRAN_SUCCESS);
    assert_int_equal(to_s.len - to_s.fed, 4);
}

/* Both must refuse: whoever lacks the key, and whoever meets him. */
static void expect_refused(const struct ct_auth_key *ck, const char *cc,
                           const struct ct_auth_key *sk, const char *sc)
{
    struct ct_auth c, s;
    struct wire    to_s, to_c;
    uint64_t       seed = 3;
    begin(&c, ck, CT_AUTH_CONNECTS, cc);
    begin(&s, sk, CT_AUTH_ACCEPTS, sc);
    talk(&c, &s, &to_s, &to_c, 50, &seed);
    assert_int_equal(c.result, CTRAN_ERR_BOOTSTRAP);
    unit_contains(c.why, "does not hold this job's key");
    assert_int_equal(s.result, CT_AGAIN); /* the other has gone without a proof */

    /* One that goes on regardless, with bytes that it makes up. */
    begin(&c, ck, CT_AUTH_CONNECTS, cc);
    begin(&s, sk, CT_AUTH_ACCEPTS, sc);
    to_s = to_c = (struct wire){.len = 0};
    drain(&c, &to_s, 200);
    fill(&s, &to_s, 200);
    drain(&s, &to_c, 200);
    memcpy(to_s.bytes + to_s.len, to_c.bytes, CT_AUTH_HEADER_BYTES + CT_AUTH_HASH_BYTES);
    to_s.bytes[to_s.len + 5] = 3; /* PROOF, of its own length */
    to_s.bytes[to_s.len + 6] = CT_AUTH_HEADER_BYTES + CT_AUTH_HASH_BYTES;
    to_s.len += CT_AUTH_HEADER_BYTES + CT_AUTH_HASH_BYTES;
    fill(&s, &to_s, 200);
    assert_int_equal(s.result, CTRAN_ERR_BOOTSTRAP);
    unit_contains(s.why, "does not hold this job's key");
}

static void test_wrong(void **state)
{
    (void)state;
    struct ct_auth_key key, other;
    keys(&key, &other);
    expect_refused(&other, context, &key, context);
    expect_refused(&key, "tcp", &key, context);
    expect_refused(&key, "store ", &key, context);
    expect_refused(&key, "", &key, context);
    for (unsigned bit = 0; bit < 8 * sizeof key; bit += 37) {
        other = key;
        other.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        expect_refused(&other, context, &key, context);
    }
}

/* All that a good end has said once is worth nothing a second time, in either direction. */
static void test_replay(void **state)
{
    (void)state;
    struct ct_auth_key key, other;
    struct ct_auth     c, s;
    struct wire        to_s, to_c;
    uint64_t           seed = 4;
    keys(&key, &other);
    begin(&c, &key, CT_AUTH_CONNECTS, context);
    begin(&s, &key, CT_AUTH_ACCEPTS, context);
    talk(&c, &s, &to_s, &to_c, 200, &seed);
    assert_int_equal(s.result, CTRAN_SUCCESS);

    begin(&s, &key, CT_AUTH_ACCEPTS, context);
    to_s.fed = 0;
    while (fill(&s, &to_s, 200)) {
    }
    assert_int_equal(s.result, CTRAN_ERR_BOOTSTRAP);
    begin(&c, &key, CT_AUTH_CONNECTS, context);
    to_c.fed = 0;
    while (fill(&c, &to_c, 200)) {
    }
    assert_int_equal(c.result, CTRAN_ERR_BOOTSTRAP);
    const void *out;
    assert_int_equal(ct_auth_output(&c, &out), 0); /* refused without a word */
}

/* Someone without the key talks to an honest end and gives it back its own hash, or that of another
 * connection of the same end in the same role. */
static void test_reflection(void **state)
{
    (void)state;
    struct ct_auth_key key, other;
    struct ct_auth     s, c;
    struct wire        to_s = {.len = 0}, to_c = {.len = 0};
    keys(&key, &other);
    begin(&s, &key, CT_AUTH_ACCEPTS, context);
    begin(&c, &key, CT_AUTH_CONNECTS, context);
    drain(&c, &to_s, 200);
    fill(&s, &to_s, 200);
    drain(&s, &to_c, 200); /* header, nonce, hash */
    unsigned char proof[CT_AUTH_HEADER_BYTES + CT_AUTH_HASH_BYTES] = {'c', 't', 'A', 'U', 1, 3, 40};
    memcpy(proof + CT_AUTH_HEADER_BYTES, to_c.bytes + CT_AUTH_HEADER_BYTES + CT_AUTH_NONCE_BYTES,
           CT_AUTH_HASH_BYTES);
    size_t taken;
    assert_int_equal(ct_auth_feed(&s, proof, sizeof proof, &taken), CTRAN_ERR_BOOTSTRAP);

    /* The end that connects gets its own hello back, dressed as an answer. */
    unsigned char answer[CT_AUTH_MESSAGE_BYTES] = {'c', 't', 'A', 'U', 1, 2, 72};
    memcpy(answer + CT_AUTH_HEADER_BYTES, to_s.bytes + CT_AUTH_HEADER_BYTES, CT_AUTH_NONCE_BYTES);
    memcpy(answer + CT_AUTH_HEADER_BYTES + CT_AUTH_NONCE_BYTES, proof + CT_AUTH_HEADER_BYTES,
           CT_AUTH_HASH_BYTES);
    assert_int_equal(ct_auth_feed(&c, answer, sizeof answer, &taken), CTRAN_ERR_BOOTSTRAP);

    /* Two ends that both connect, or both accept, never agree. */
    begin(&s, &key, CT_AUTH_CONNECTS, context);
    begin(&c, &key, CT_AUTH_CONNECTS, context);
    to_s = (struct wire){.len = 0};
    drain(&c, &to_s, 200);
    fill(&s, &to_s, 200);
    assert_int_equal(s.result, CTRAN_ERR_BOOTSTRAP);
}

/* Any change of one byte of a proof is seen; a proof cut short leaves the end waiting. */
static void test_damage(void **state)
{
    (void)state;
    struct ct_auth_key key, other;
    keys(&key, &other);
    for (size_t at = 0; at < CT_AUTH_MAX_BYTES; at++) {
        struct ct_auth c, s;
        struct wire    to_s = {.len = 0}, to_c = {.len = 0};
        begin(&c, &key, CT_AUTH_CONNECTS, context);
        begin(&s, &key, CT_AUTH_ACCEPTS, context);
        drain(&c, &to_s, 200);
        if (at < to_s.len) {
            to_s.bytes[at] ^= 0x10;
        }
        fill(&s, &to_s, 200);
        drain(&s, &to_c, 200);
        fill(&c, &to_c, 200);
        drain(&c, &to_s, 200);
        if (at >= CT_AUTH_HEADER_BYTES + CT_AUTH_NONCE_BYTES) {
            assert_int_equal(to_s.len, CT_AUTH_MAX_BYTES);
            fill(&s, &to_s, at - to_s.fed); /* all up to the damaged byte */
            assert_int_equal(s.result, CT_AGAIN);
            to_s.bytes[at] ^= 0x10;
            fill(&s, &to_s, 200);
        }
        assert_int_not_equal(s.result, CTRAN_SUCCESS);
        assert_true(at < CT_AUTH_HEADER_BYTES + CT_AUTH_NONCE_BYTES ? c.result != CTRAN_SUCCESS
                                                                    : c.result == CTRAN_SUCCESS);
    }
}

/* Strangers: refused at the first byte that does not belong, given no more than their due. */
static void test_garbage(void **state)
{
    (void)state;
    struct ct_auth_key key, other;
    uint64_t           seed = 5;
    keys(&key, &other);
    for (unsigned i = 0; i < 20000; i++) {
        unsigned char  message[200] = {'c', 't', 'A', 'U', 1, 1, 40};
        size_t         right = unit_below(&seed, 9), len = 1 + unit_below(&seed, sizeof message);
        struct ct_auth s;
        for (size_t k = right; k < sizeof message; k++) {
            message[k] = (unsigned char)unit_random(&seed);
        }
        begin(&s, &key, i % 2 ? CT_AUTH_ACCEPTS : CT_AUTH_CONNECTS, context);
        size_t taken, fed = 0;
        while (fed < len && s.result == CT_AGAIN) {
            (void)ct_auth_feed(&s, message + fed, ct_min_size(len - fed, 1 + unit_below(&seed, 60)),
                               &taken);
            fed += taken;
        }
        assert_int_not_equal(s.result, CTRAN_SUCCESS);
        assert_true(fed <= CT_AUTH_MAX_BYTES);
    }
    struct ct_auth s;
    size_t         taken;
    begin(&s, &key, CT_AUTH_ACCEPTS, context);
    assert_int_equal(ct_auth_feed(&s, "G", 1, &taken), CTRAN_ERR_BOOTSTRAP);
    unit_contains(s.why, "something else");
    begin(&s, &key, CT_AUTH_ACCEPTS, context);
    assert_int_equal(ct_auth_feed(&s, "ctAU\2", 5, &taken), CTRAN_ERR_VERSION);
    assert_int_equal(ct_auth_feed(&s, "ctAU\1", 5, &taken), CTRAN_ERR_VERSION);
    assert_int_equal(taken, 0);
}

static void test_hex(void **state)
{
    (void)state;
    struct ct_auth_key key, back, zero = {{0}};
    char               hex[CT_AUTH_HEX_SIZE + 1] = "";
    for (size_t i = 0; i < sizeof key.bytes; i++) {
        key.bytes[i] = (unsigned char)(i * 37 + 5);
    }
    ct_auth_key_to_hex(&key, hex);
    assert_int_equal(strlen(hex), 64);
    assert_memory_equal(hex, "052a4f74", 8);
    assert_int_equal(ct_auth_key_from_hex(&back, hex), CTRAN_SUCCESS);
    assert_memory_equal(&back, &key, sizeof key);
    hex[9] = 'G';
    assert_int_equal(ct_auth_key_from_hex(&back, hex), CTRAN_ERR_ARG);
    assert_memory_equal(&back, &zero, sizeof zero);
    ct_auth_key_to_hex(&key, hex);
    hex[64] = '0';
    hex[65] = '\0';
    assert_int_equal(ct_auth_key_from_hex(&back, hex), CTRAN_ERR_ARG);
    hex[63] = '\0';
    assert_int_equal(ct_auth_key_from_hex(&back, hex), CTRAN_ERR_ARG);
    assert_int_equal(ct_auth_key_from_hex(&back, ""), CTRAN_ERR_ARG);
    ct_auth_key_to_hex(&key, hex);
    hex[1] = 'A'; /* capitals are digits, too */
    hex[0] = 'F';
    assert_int_equal(ct_auth_key_from_hex(&back, hex), CTRAN_SUCCESS);
    assert_int_equal(back.bytes[0], 0xfa);
}

/* Nothing of the key is left in the state once its proof has ended. */
static void test_wiped(void **state)
{
    (void)state;
    struct ct_auth_key key, other;
    struct ct_auth     c, s, zero;
    struct wire        to_s, to_c;
    uint64_t           seed = 6;
    keys(&key, &other);
    begin(&c, &key, CT_AUTH_CONNECTS, context);
    begin(&s, &key, CT_AUTH_ACCEPTS, context);
    talk(&c, &s, &to_s, &to_c, 200, &seed);
    memset(&zero, 0, sizeof zero);
    assert_memory_equal(c.secret, zero.secret, sizeof zero.secret);
    assert_memory_equal(s.secret, zero.secret, sizeof zero.secret);
    begin(&c, &key, CT_AUTH_CONNECTS, context);
    ct_auth_end(&c); /* given up */
    assert_int_equal(c.result, CTRAN_ERR_BOOTSTRAP);
    assert_memory_equal(c.secret, zero.secret, sizeof zero.secret);
    ct_auth_wipe(&key, sizeof key);
    assert_memory_equal(&key, &zero, sizeof key);
}

/* A build without libsodium says so, and proves nothing. */
static void test_without(void **state)
{
    (void)state;
    struct ct_auth_key key = {{1}};
    struct ct_auth     a;
    size_t             taken;
    assert_int_equal(ct_auth_key_make(&key), CTRAN_ERR_UNSUPPORTED_OPERATION);
    assert_int_equal(ct_auth_begin(&a, &key, CT_AUTH_ACCEPTS, "x", 1),
                     CTRAN_ERR_UNSUPPORTED_OPERATION);
    unit_contains(a.why, "without libsodium");
    assert_int_equal(ct_auth_feed(&a, "ctAU", 4, &taken), CTRAN_ERR_UNSUPPORTED_OPERATION);
    ct_auth_end(&a);
}

/* A tag fits its message and its key alone. */
static void test_tag(void **state)
{
    (void)state;
    struct ct_auth_key key, other;
    unsigned char      message[100] = {1, 2, 3}, tag[16], longer[CT_AUTH_HASH_BYTES];
    if (!ct_auth_available()) {
        assert_false(ct_auth_tag_check(&key, message, sizeof message, tag, sizeof tag));
        return;
    }
    memset(&key, 3, sizeof key);
    memset(&other, 4, sizeof other);
    ct_auth_tag(&key, message, sizeof message, tag, sizeof tag);
    ct_auth_tag(&key, message, sizeof message, longer, sizeof longer);
    assert_true(ct_auth_tag_check(&key, message, sizeof message, tag, sizeof tag));
    assert_true(ct_auth_tag_check(&key, message, sizeof message, longer, sizeof longer));
    assert_false(ct_auth_tag_check(&other, message, sizeof message, tag, sizeof tag));
    assert_false(ct_auth_tag_check(&key, message, sizeof message - 1, tag, sizeof tag));
    message[99] ^= 1;
    assert_false(ct_auth_tag_check(&key, message, sizeof message, tag, sizeof tag));
    message[99] ^= 1;
    tag[15] ^= 1;
    assert_false(ct_auth_tag_check(&key, message, sizeof message, tag, sizeof tag));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tag),        cmocka_unit_test(test_agree),
        cmocka_unit_test(test_rest),       cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_replay),     cmocka_unit_test(test_damage),
        cmocka_unit_test(test_reflection), cmocka_unit_test(test_wiped),
        cmocka_unit_test(test_garbage),    cmocka_unit_test(test_hex),
    };
    const struct CMUnitTest without[] = {
        cmocka_unit_test(test_hex),
        cmocka_unit_test(test_without),
    };
    return ct_auth_available() ? cmocka_run_group_tests(tests, NULL, NULL)
                               : cmocka_run_group_tests(without, NULL, NULL);
}
