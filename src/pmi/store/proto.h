/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests and replies as bytes: the bodies of frames (pmi/wire) whose type is the op, with
 * CT_STORE_ANSWER for replies, and whose id is the request's number on its connection.
 *
 *   request  key length, expected length, value length, timeout (ms): 4 bytes each; number: 8;
 *            then the three
 *   reply    status, found: 4 bytes each; number: 8; then the value
 */
#ifndef CT_PMI_STORE_PROTO_H
#define CT_PMI_STORE_PROTO_H

#include "pmi/store/store.h"

enum {
    CT_STORE_ANSWER = 0x80,
    CT_STORE_REQUEST_BYTES = 24,
    CT_STORE_REPLY_BYTES = 16,
    CT_STORE_BODY_MAX = CT_STORE_REQUEST_BYTES + 2 * CT_STORE_KEY_MAX + 2 * CT_STORE_VALUE_MAX
};

/* Whether a request keeps to the limits. */
bool ct_store_request_fits(const struct ct_store_request *req);

/* The fixed part; the three pieces follow it. */
void ct_store_request_pack(const struct ct_store_request *req,
                           unsigned char                  out[CT_STORE_REQUEST_BYTES]);
/* From a frame of this type; the pieces point into the body. CTRAN_ERR_ARG if it is none. */
int ct_store_request_unpack(struct ct_store_request *req, uint8_t type, const void *body,
                            size_t len);

void ct_store_reply_pack(const struct ct_store_reply *reply,
                         unsigned char                out[CT_STORE_REPLY_BYTES]);
int  ct_store_reply_unpack(struct ct_store_reply *reply, const void *body, size_t len);

#endif
