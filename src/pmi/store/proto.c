/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests and replies as bytes. Lengths are checked before they are used, by both sides. */
#include "pmi/store/proto.h"

#include <string.h>

struct ct_bytes ct_bytes_of(const char *text)
{
    return (struct ct_bytes){text, (uint32_t)strlen(text)};
}

bool ct_store_request_fits(const struct ct_store_request *req)
{
    bool list = req->op == CT_STORE_LIST || req->op == CT_STORE_WAITS;
    return req->op >= CT_STORE_SET && req->op < CT_STORE_OPS && (req->key.len > 0 || list) &&
           req->key.len <= CT_STORE_KEY_MAX &&
           req->expected.len <= (list ? CT_STORE_KEY_MAX : CT_STORE_VALUE_MAX) &&
           req->value.len <= CT_STORE_VALUE_MAX;
}

void ct_store_request_pack(const struct ct_store_request *req,
                           unsigned char                  out[CT_STORE_REQUEST_BYTES])
{
    ct_wire_put32(out, req->key.len);
    ct_wire_put32(out + 4, req->expected.len);
    ct_wire_put32(out + 8, req->value.len);
    ct_wire_put32(out + 12, req->timeout_ms);
    ct_wire_put64(out + 16, (uint64_t)req->number);
}

int ct_store_request_unpack(struct ct_store_request *req, uint8_t type, const void *body,
                            size_t len)
{
    const unsigned char *at = body;
    if (len < CT_STORE_REQUEST_BYTES) {
        return CTRAN_ERR_ARG;
    }
    *req = (struct ct_store_request){
        .op = type,
        .timeout_ms = ct_wire_get32(at + 12),
        .number = (int64_t)ct_wire_get64(at + 16),
        .key = {.len = ct_wire_get32(at)},
        .expected = {.len = ct_wire_get32(at + 4)},
        .value = {.len = ct_wire_get32(at + 8)},
    };
    if (!ct_store_request_fits(req) ||
        (uint64_t)CT_STORE_REQUEST_BYTES + req->key.len + req->expected.len + req->value.len !=
            len) {
        return CTRAN_ERR_ARG;
    }
    req->key.at = at + CT_STORE_REQUEST_BYTES;
    req->expected.at = (const unsigned char *)req->key.at + req->key.len;
    req->value.at = (const unsigned char *)req->expected.at + req->expected.len;
    return CTRAN_SUCCESS;
}

void ct_store_reply_pack(const struct ct_store_reply *reply,
                         unsigned char                out[CT_STORE_REPLY_BYTES])
{
    ct_wire_put32(out, (uint32_t)reply->status);
    ct_wire_put32(out + 4, reply->found);
    ct_wire_put64(out + 8, (uint64_t)reply->number);
}

int ct_store_reply_unpack(struct ct_store_reply *reply, const void *body, size_t len)
{
    const unsigned char *at = body;
    if (len < CT_STORE_REPLY_BYTES || ct_wire_get32(at + 4) > 1) {
        return CTRAN_ERR_ARG;
    }
    *reply = (struct ct_store_reply){
        .status = (int)ct_wire_get32(at),
        .found = ct_wire_get32(at + 4) == 1,
        .number = (int64_t)ct_wire_get64(at + 8),
        .value = {at + CT_STORE_REPLY_BYTES, (uint32_t)(len - CT_STORE_REPLY_BYTES)},
    };
    return CTRAN_SUCCESS;
}

bool ct_store_next_key(struct ct_bytes *rest, struct ct_bytes *key)
{
    const unsigned char *at = rest->at;
    if (rest->len < 4 || ct_wire_get32(at) > rest->len - 4) {
        return false;
    }
    *key = (struct ct_bytes){at + 4, ct_wire_get32(at)};
    *rest = (struct ct_bytes){at + 4 + key->len, rest->len - 4 - key->len};
    return true;
}
