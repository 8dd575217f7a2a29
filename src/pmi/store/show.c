/* SPDX-License-Identifier: BSD-3-Clause */
/* What a server holds, for people. */
#include <stdlib.h>

#include "pmi/store/client.h"

enum { PAGE = 1000 };

/* Bytes that are no text as \xNN. */
static void store_show_print(FILE *out, struct ct_bytes bytes)
{
    const unsigned char *at = bytes.at;
    for (uint32_t i = 0; i < bytes.len; i++) {
        if (at[i] < ' ' || at[i] > '~') {
            (void)fprintf(out, "\\x%02x", at[i]);
        } else {
            (void)fputc(at[i], out);
        }
    }
}

/* A key, and with it what it holds, or what is said behind it in the page. */
static int print_key(struct ct_store *s, uint32_t shard, struct ct_bytes key,
                     enum ct_store_show what, struct ct_bytes *rest, uint32_t timeout_ms, FILE *out)
{
    struct ct_store_request get = {.op = CT_STORE_GET, .timeout_ms = timeout_ms, .key = key};
    struct ct_store_reply   reply = {.status = CTRAN_SUCCESS};
    void                   *value = NULL;
    int                     rc = CTRAN_SUCCESS;
    if (what == CT_STORE_SHOW_VALUES) {
        rc = ct_store_call_shard(s, shard, &get, &reply, &value);
    } else if (what == CT_STORE_SHOW_WAITS && !ct_store_next_key(rest, &reply.value)) {
        rc = CTRAN_ERR_OTHER;
    }
    if (rc == CTRAN_SUCCESS) {
        store_show_print(out, key);
        (void)fputs(what == CT_STORE_SHOW_KEYS ? "" : " ", out);
        store_show_print(out, reply.value);
        (void)fputc('\n', out);
    }
    free(value);
    return rc;
}

int ct_store_show(struct ct_store *s, uint32_t shard, const char *prefix, enum ct_store_show what,
                  uint32_t timeout_ms, FILE *out)
{
    struct ct_store_request req = {.op =
                                       what == CT_STORE_SHOW_WAITS ? CT_STORE_WAITS : CT_STORE_LIST,
                                   .timeout_ms = timeout_ms,
                                   .number = PAGE,
                                   .key = ct_bytes_of(prefix)};
    struct ct_store_reply   page;
    void                   *memory, *before = NULL;
    int                     rc;
    do {
        struct ct_bytes key = {NULL, 0};
        rc = ct_store_call_shard(s, shard, &req, &page, &memory);
        free(before);
        before = memory;
        while (rc == CTRAN_SUCCESS && ct_store_next_key(&page.value, &key)) {
            rc = print_key(s, shard, key, what, &page.value, timeout_ms, out);
        }
        req.expected = key;
        if (rc == CTRAN_SUCCESS && (page.value.len > 0 || (page.found && key.len == 0))) {
            rc = CTRAN_ERR_OTHER; /* no list of keys; one with more to come has to hold some */
        }
    } while (rc == CTRAN_SUCCESS && page.found);
    free(before);
    return rc;
}
