/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers and texts in a payload; see pack.h. Used by all processes of the launcher. */
#include "config.h"
#include "launcher/msg/pack.h"

#include <string.h>

static void put_le(uint8_t *out, uint64_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        out[i] = (uint8_t)(v >> (8 * i));
    }
}

static uint64_t get_le(const uint8_t *in, unsigned bytes)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < bytes; i++) {
        v |= (uint64_t)in[i] << (8 * i);
    }
    return v;
}

void ct_pack_u32(struct evbuffer *out, uint32_t v)
{
    uint8_t raw[4];
    put_le(raw, v, sizeof raw);
    evbuffer_add(out, raw, sizeof raw);
}

void ct_pack_u64(struct evbuffer *out, uint64_t v)
{
    uint8_t raw[8];
    put_le(raw, v, sizeof raw);
    evbuffer_add(out, raw, sizeof raw);
}

void ct_pack_text(struct evbuffer *out, const char *s)
{
    size_t len = strlen(s);
    ct_pack_u32(out, (uint32_t)len);
    evbuffer_add(out, s, len + 1);
}

void ct_pack_bytes(struct evbuffer *out, const void *data, size_t len_bytes)
{
    ct_pack_u32(out, (uint32_t)len_bytes);
    evbuffer_add(out, data, len_bytes);
}

struct ct_unpack ct_unpack_of(struct evbuffer *body)
{
    return (struct ct_unpack){.at = evbuffer_pullup(body, -1), .left = evbuffer_get_length(body)};
}

/* The next `len` bytes, NULL when there are not as many. */
static const uint8_t *payload_take(struct ct_unpack *in, size_t len)
{
    if (in->bad || in->left < len) {
        in->bad = true;
        return NULL;
    }
    const uint8_t *at = in->at;
    in->at += len;
    in->left -= len;
    return at;
}

uint32_t ct_unpack_u32(struct ct_unpack *in)
{
    const uint8_t *at = payload_take(in, 4);
    return at != NULL ? (uint32_t)get_le(at, 4) : 0;
}

uint64_t ct_unpack_u64(struct ct_unpack *in)
{
    const uint8_t *at = payload_take(in, 8);
    return at != NULL ? get_le(at, 8) : 0;
}

const char *ct_unpack_text(struct ct_unpack *in)
{
    size_t      len = ct_unpack_u32(in);
    const char *at = (const char *)payload_take(in, len + 1);
    if (at == NULL || at[len] != '\0' || strlen(at) != len) {
        in->bad = true;
        return "";
    }
    return at;
}

const void *ct_unpack_bytes(struct ct_unpack *in, size_t *len_bytes)
{
    size_t         len = ct_unpack_u32(in);
    const uint8_t *at = payload_take(in, len);
    *len_bytes = at != NULL ? len : 0;
    return at != NULL ? (const void *)at : "";
}
