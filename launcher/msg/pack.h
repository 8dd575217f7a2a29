/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The payload of a message: 32-bit and 64-bit numbers, little-endian, and texts as {length, bytes,
 * NUL}. Writers append to a libevent buffer. Readers check every length before they use it.
 */
#ifndef CT_LAUNCHER_MSG_PACK_H
#define CT_LAUNCHER_MSG_PACK_H

#include <event2/buffer.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Append a value to a payload. */
void ct_pack_u32(struct evbuffer *out, uint32_t v);
void ct_pack_u64(struct evbuffer *out, uint64_t v);
void ct_pack_text(struct evbuffer *out, const char *s);
void ct_pack_bytes(struct evbuffer *out, const void *data, size_t len_bytes);

/* A reader takes the values of a payload in order. After a value that is not there, `bad` is set,
 * and every further value is 0 or "". Texts and bytes point into the payload. */
struct ct_unpack {
    const uint8_t *at;
    size_t         left;
    bool           bad;
};

/* Returns a reader of what was appended to `body`. Valid until the buffer changes. */

struct ct_unpack ct_unpack_of(struct evbuffer *body);

uint32_t    ct_unpack_u32(struct ct_unpack *in);
uint64_t    ct_unpack_u64(struct ct_unpack *in);
const char *ct_unpack_text(struct ct_unpack *in);
const void *ct_unpack_bytes(struct ct_unpack *in, size_t *len_bytes);

#endif
