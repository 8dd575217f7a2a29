/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The job's key, a random number of 256 bits, and the proof that both ends of a connection hold it.
 * The key itself never travels.
 *
 * The proof is three messages. The end that connects sends a nonce; the end that accepts answers
 * with its own nonce and a keyed hash (BLAKE2b) over both, and gets one back. The hashes cover the
 * role, so a message sent back to its author proves nothing; the fresh nonces of both ends, so
 * neither does a recorded one; and through their key the context, a text that says what the
 * connection is for ("store", "tcp"), so a proof made for one service is worth nothing at another.
 * Connections are authenticated, not encrypted: who can change packets on the way can take over a
 * connection after its proof.
 *
 * struct ct_auth is a state machine over bytes: the caller owns the socket, feeds what arrived,
 * sends what is to be sent, and holds the deadline.
 *
 *     ct_auth_begin(&a, key, CT_AUTH_CONNECTS, "store", 5);
 *     loop:  n = ct_auth_output(&a, &bytes); sent = write(bytes, n); ct_auth_sent(&a, sent);
 *            n = read(in); rc = ct_auth_feed(&a, in, n, &taken);
 *
 * until feed no longer returns CT_AGAIN. A stranger gets at most CT_AUTH_MAX_BYTES to say, and is
 * refused at the first byte that does not belong.
 *
 * With configure --without-sodium nothing can be proved: ct_auth_begin and ct_auth_key_make return
 * CTRAN_ERR_UNSUPPORTED_OPERATION.
 */
#ifndef CT_BASE_AUTH_H
#define CT_BASE_AUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CT_AUTH_KEY_BYTES = 32,
    CT_AUTH_HEX_SIZE = 2 * CT_AUTH_KEY_BYTES + 1, /* a key as text, with its end */
    CT_AUTH_HASH_BYTES = 32,
    CT_AUTH_NONCE_BYTES = 32,
    CT_AUTH_HEADER_BYTES = 8, /* magic (4), version, type, length (2, little endian) */
    /* The longest message, and the most that either end sends. */
    CT_AUTH_MESSAGE_BYTES = CT_AUTH_HEADER_BYTES + CT_AUTH_NONCE_BYTES + CT_AUTH_HASH_BYTES,
    CT_AUTH_MAX_BYTES = 2 * CT_AUTH_HEADER_BYTES + CT_AUTH_NONCE_BYTES + CT_AUTH_HASH_BYTES
};

struct ct_auth_key {
    unsigned char bytes[CT_AUTH_KEY_BYTES];
};

/* Whether this build can prove anything. */
bool ct_auth_available(void);

/* A new key. CTRAN_ERR_UNSUPPORTED_OPERATION without libsodium, CTRAN_ERR_SYSTEM when the system
 * has no randomness to give. */
int ct_auth_key_make(struct ct_auth_key *key);
/* To be called on every copy of a key, also a hexadecimal one, as soon as it is of no more use. */
void ct_auth_wipe(void *secret, size_t len_bytes);

/* A keyed hash of a message. The receiver knows by it that a holder of the key wrote the message.
 * Messages that name their receiver and their use need no further proof. out has out_len bytes, 16
 * to CT_AUTH_HASH_BYTES. All zeros in builds that can prove nothing. */
void ct_auth_tag(const struct ct_auth_key *key, const void *bytes, size_t len, void *out,
                 size_t out_len);
/* Whether that is the tag of this message; false in builds that can prove nothing. Takes as long
 * for a wrong tag as for the right one. */
bool ct_auth_tag_check(const struct ct_auth_key *key, const void *bytes, size_t len,
                       const void *tag, size_t tag_len);

/* As 64 hexadecimal digits, and back. CTRAN_ERR_ARG, with *key wiped, for any other text. */
void ct_auth_key_to_hex(const struct ct_auth_key *key, char hex[CT_AUTH_HEX_SIZE]);
int  ct_auth_key_from_hex(struct ct_auth_key *key, const char *hex);

/* A number made of the key for one purpose, which tells nothing of the key nor of such numbers for
 * other purposes. 0 in builds that can prove nothing. */
uint64_t ct_auth_number(const struct ct_auth_key *key, const char *purpose);

enum ct_auth_role { CT_AUTH_CONNECTS = 'C', CT_AUTH_ACCEPTS = 'A' };

/* One end of one connection. All fields except `why` belong to auth.c. */
struct ct_auth {
    unsigned char secret[CT_AUTH_KEY_BYTES]; /* the hashes' key: from the job's, for one context */
    unsigned char nonces[2 * CT_AUTH_NONCE_BYTES]; /* of the end that connects, then the other's */
    unsigned char in[CT_AUTH_MESSAGE_BYTES];       /* the message that is arriving */
    unsigned char out[CT_AUTH_MESSAGE_BYTES];      /* what is to be sent, from `sent` on */
    uint8_t       in_len, out_len, sent;
    uint8_t       role;   /* enum ct_auth_role */
    uint8_t       expect; /* type of the message that comes next; 0: none */
    int           result; /* CT_AGAIN while it goes on */
    const char   *why;    /* the reason of a failure, as half a sentence about the peer */
};

/* Starts. The key and the context are not needed afterwards. On error ct_auth_end is still safe. */
int ct_auth_begin(struct ct_auth *a, const struct ct_auth_key *key, enum ct_auth_role role,
                  const void *context, size_t context_bytes);

/* What is to be sent now; the number of bytes may be 0. ct_auth_sent says how many of them went. */
size_t ct_auth_output(const struct ct_auth *a, const void **bytes);
void   ct_auth_sent(struct ct_auth *a, size_t n);

/* Takes what arrived, at most up to the end of the peer's last message, and sets *taken; the rest
 * is the caller's. Returns
 *   CT_AGAIN             more is to come, or to be sent
 *   CTRAN_SUCCESS        the peer holds the key; what is left to be sent goes before anything else
 *   CTRAN_ERR_VERSION    it speaks another version of this protocol
 *   CTRAN_ERR_BOOTSTRAP  it does not speak it, or does not hold the key; see a->why
 * After an error the connection is to be closed without an answer; more calls return it again. */
int ct_auth_feed(struct ct_auth *a, const void *bytes, size_t len, size_t *taken);

/* Forgets all secrets; to be called once a proof has ended and its last message is sent, or when it
 * is given up. */
void ct_auth_end(struct ct_auth *a);

#endif
