/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The proof that both ends of a connection hold the job's key; auth.h tells how it goes.
 *
 *   HELLO   to the end that accepts    nonce C
 *   ANSWER  to the end that connects   nonce A, hash(secret, 'A' nonces)
 *   PROOF   to the end that accepts    hash(secret, 'C' nonces)
 *
 * with secret = hash(key, NAME context). A message has a fixed length, its header is known before
 * it comes: so one comparison of bytes is all the parsing there is.
 */
#include "base/auth.h"

#include <config.h> /* the build's */
#include <string.h>

#include "base/error.h"
#include "base/util.h"

#if CT_HAVE_SODIUM
#include <sodium.h>
#endif

enum { HELLO = 1, ANSWER, PROOF };
enum { HEADER = CT_AUTH_HEADER_BYTES, NONCE = CT_AUTH_NONCE_BYTES, HASH = CT_AUTH_HASH_BYTES };
enum { AT_REVISION = 4, REVISION = 1 };

static const char name[] = "ctran auth 1";

#if CT_HAVE_SODIUM

_Static_assert(CT_AUTH_KEY_BYTES == crypto_generichash_KEYBYTES, "the hash's own size of key");

bool ct_auth_available(void)
{
    return sodium_init() >= 0;
}

static void random_bytes(void *out, size_t len)
{
    randombytes_buf(out, len);
}

/* A keyed hash over two pieces. */
static void hash(unsigned char out[HASH], const unsigned char key[CT_AUTH_KEY_BYTES], const void *a,
                 size_t a_len, const void *b, size_t b_len)
{
    crypto_generichash_state s;
    (void)crypto_generichash_init(&s, key, CT_AUTH_KEY_BYTES, HASH);
    (void)crypto_generichash_update(&s, a, a_len);
    (void)crypto_generichash_update(&s, b, b_len);
    (void)crypto_generichash_final(&s, out, HASH);
    sodium_memzero(&s, sizeof s);
}

static bool same(const unsigned char *a, const unsigned char *b, size_t len)
{
    return sodium_memcmp(a, b, len) == 0;
}

#else

bool ct_auth_available(void)
{
    return false;
}

/* Never reached: every way here asks ct_auth_available first. */
static void random_bytes(void *out, size_t len)
{
    memset(out, 0, len);
}

static void hash(unsigned char out[HASH], const unsigned char key[CT_AUTH_KEY_BYTES], const void *a,
                 size_t a_len, const void *b, size_t b_len)
{
    (void)key, (void)a, (void)a_len, (void)b, (void)b_len;
    memset(out, 0, HASH);
}

static bool same(const unsigned char *a, const unsigned char *b, size_t len)
{
    (void)a, (void)b, (void)len;
    return false;
}

#endif

void ct_auth_wipe(void *secret, size_t len_bytes)
{
    explicit_bzero(secret, len_bytes);
}

uint64_t ct_auth_number(const struct ct_auth_key *key, const char *purpose)
{
    unsigned char out[HASH];
    uint64_t      number = 0;
    if (ct_auth_available()) {
        hash(out, key->bytes, "number ", strlen("number "), purpose, strlen(purpose));
        memcpy(&number, out, sizeof number);
    }
    return number;
}

void ct_auth_tag(const struct ct_auth_key *key, const void *bytes, size_t len, void *out,
                 size_t out_len)
{
    static const char purpose[] = "message ";
    unsigned char     all[HASH] = {0};
    if (ct_auth_available()) {
        hash(all, key->bytes, purpose, sizeof purpose, bytes, len);
    }
    memcpy(out, all, ct_min_size(out_len, sizeof all));
}

bool ct_auth_tag_check(const struct ct_auth_key *key, const void *bytes, size_t len,
                       const void *tag, size_t tag_len)
{
    unsigned char right[HASH];
    if (!ct_auth_available() || tag_len > sizeof right) {
        return false;
    }
    ct_auth_tag(key, bytes, len, right, tag_len);
    return same(right, tag, tag_len);
}

int ct_auth_key_make(struct ct_auth_key *key)
{
    if (!CT_HAVE_SODIUM) {
        return CTRAN_ERR_UNSUPPORTED_OPERATION;
    }
    if (!ct_auth_available()) {
        return CTRAN_ERR_SYSTEM;
    }
    random_bytes(key->bytes, sizeof key->bytes);
    return CTRAN_SUCCESS;
}

void ct_auth_key_to_hex(const struct ct_auth_key *key, char hex[CT_AUTH_HEX_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < sizeof key->bytes; i++) {
        hex[2 * i] = digits[key->bytes[i] >> 4];
        hex[2 * i + 1] = digits[key->bytes[i] & 15];
    }
    hex[CT_AUTH_HEX_SIZE - 1] = '\0';
}

static int digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c |= 'a' ^ 'A';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int ct_auth_key_from_hex(struct ct_auth_key *key, const char *hex)
{
    size_t i = 0;
    if (strlen(hex) == CT_AUTH_HEX_SIZE - 1) {
        for (; i < sizeof key->bytes; i++) {
            int high = digit(hex[2 * i]), low = digit(hex[2 * i + 1]);
            if (high < 0 || low < 0) {
                break;
            }
            key->bytes[i] = (unsigned char)(high << 4 | low);
        }
    }
    if (i < sizeof key->bytes) {
        ct_auth_wipe(key, sizeof *key);
        return CTRAN_ERR_ARG;
    }
    return CTRAN_SUCCESS;
}

/* How long a message is, its header included. */
static size_t length_of(unsigned type)
{
    return HEADER + (type == HELLO ? NONCE : type == ANSWER ? NONCE + HASH : HASH);
}

static void header_of(unsigned type, unsigned char out[HEADER])
{
    size_t len = length_of(type);
    memcpy(out, "ctAU", AT_REVISION);
    out[AT_REVISION] = REVISION;
    out[5] = (unsigned char)type;
    out[6] = (unsigned char)len;
    out[7] = (unsigned char)(len >> 8);
}

/* What the end in this role proves itself with. */
static void proof_of(const struct ct_auth *a, enum ct_auth_role role, unsigned char out[HASH])
{
    unsigned char who = (unsigned char)role;
    hash(out, a->secret, &who, 1, a->nonces, sizeof a->nonces);
}

/* Where this end's nonce is, or the peer's. */
static unsigned char *nonce_of(struct ct_auth *a, bool mine)
{
    return a->nonces + (mine == (a->role == CT_AUTH_CONNECTS) ? 0 : NONCE);
}

static void put_message(struct ct_auth *a, unsigned type)
{
    unsigned char *at = a->out + HEADER;
    header_of(type, a->out);
    if (type != PROOF) {
        memcpy(at, nonce_of(a, true), NONCE);
        at += NONCE;
    }
    if (type != HELLO) {
        proof_of(a, (enum ct_auth_role)a->role, at);
    }
    a->out_len = (uint8_t)length_of(type);
    a->sent = 0;
}

int ct_auth_begin(struct ct_auth *a, const struct ct_auth_key *key, enum ct_auth_role role,
                  const void *context, size_t context_bytes)
{
    memset(a, 0, sizeof *a);
    a->role = (uint8_t)role;
    if (!CT_HAVE_SODIUM || !ct_auth_available()) {
        a->why = CT_HAVE_SODIUM ? "cannot be asked: libsodium does not start on this machine"
                                : "cannot be asked: this build of ctran is without libsodium";
        a->result = CTRAN_ERR_UNSUPPORTED_OPERATION;
        return a->result;
    }
    hash(a->secret, key->bytes, name, sizeof name, context, context_bytes);
    random_bytes(nonce_of(a, true), NONCE);
    a->result = CT_AGAIN;
    a->expect = role == CT_AUTH_CONNECTS ? ANSWER : HELLO;
    if (role == CT_AUTH_CONNECTS) {
        put_message(a, HELLO);
    }
    return CTRAN_SUCCESS;
}

size_t ct_auth_output(const struct ct_auth *a, const void **bytes)
{
    *bytes = a->out + a->sent;
    return (size_t)(a->out_len - a->sent);
}

void ct_auth_sent(struct ct_auth *a, size_t n)
{
    a->sent = (uint8_t)(a->sent + ct_min_size(n, (size_t)(a->out_len - a->sent)));
}

/* From here on nothing is sent and nothing taken. */
static int refuse(struct ct_auth *a, int code, const char *why)
{
    ct_auth_end(a);
    a->result = code;
    a->why = why;
    return code;
}

/* Holds what there is of the message's header against what it must be. */
static int check_header(struct ct_auth *a)
{
    unsigned char want[HEADER];
    size_t        have = ct_min_size(a->in_len, HEADER);
    header_of(a->expect, want);
    if (memcmp(a->in, want, have) == 0) {
        return CT_AGAIN;
    }
    if (memcmp(a->in, want, ct_min_size(have, AT_REVISION)) == 0 &&
        a->in[AT_REVISION] != REVISION) {
        return refuse(a, CTRAN_ERR_VERSION, "speaks another version of the proof of the key");
    }
    return refuse(a, CTRAN_ERR_BOOTSTRAP, "says something else than the proof of the key");
}

/* A whole message has arrived. */
static int take_message(struct ct_auth *a)
{
    const unsigned char *at = a->in + HEADER;
    unsigned             type = a->expect;
    if (type != PROOF) {
        memcpy(nonce_of(a, false), at, NONCE);
        at += NONCE;
    }
    if (type != HELLO) {
        unsigned char want[HASH];
        proof_of(a, a->role == CT_AUTH_CONNECTS ? CT_AUTH_ACCEPTS : CT_AUTH_CONNECTS, want);
        bool right = same(want, at, HASH);
        ct_auth_wipe(want, sizeof want);
        if (!right) {
            return refuse(a, CTRAN_ERR_BOOTSTRAP, "does not hold this job's key");
        }
    }
    a->in_len = 0;
    a->expect = type == HELLO ? PROOF : 0;
    if (type != PROOF) {
        put_message(a, type + 1);
    }
    if (type != HELLO) {
        ct_auth_wipe(a->secret, sizeof a->secret);
        a->result = CTRAN_SUCCESS;
    }
    return a->result;
}

int ct_auth_feed(struct ct_auth *a, const void *bytes, size_t len, size_t *taken)
{
    const unsigned char *from = bytes;
    *taken = 0;
    while (a->result == CT_AGAIN && *taken < len) {
        size_t n = ct_min_size(length_of(a->expect) - a->in_len, len - *taken);
        memcpy(a->in + a->in_len, from + *taken, n);
        a->in_len = (uint8_t)(a->in_len + n);
        *taken += n;
        if (check_header(a) == CT_AGAIN && a->in_len == length_of(a->expect)) {
            (void)take_message(a); /* its answer is a->result */
        }
    }
    return a->result;
}

void ct_auth_end(struct ct_auth *a)
{
    int         result = a->result;
    const char *why = a->why;
    ct_auth_wipe(a, sizeof *a);
    a->result = result == CT_AGAIN ? CTRAN_ERR_BOOTSTRAP : result;
    a->why = result == CT_AGAIN ? "had not proved that it holds the key" : why;
}
