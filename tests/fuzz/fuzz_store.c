/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests to a server of the store, as the bytes that they are and as requests that make sense,
 * with those that wait; replies, lists of keys, and where servers are, as a client reads them.
 */
#include "fuzz.h"

#include "pmi/store/proto.h"
#include "pmi/store/table.h"

enum { WAITERS = 16, MEMORY = 20000, KEYS = 6 };

struct world {
    struct ct_table  table;
    struct ct_waiter waiters[WAITERS];
    bool             waits[WAITERS];
};

static void on_answer(void *arg, struct ct_waiter *w, const struct ct_store_reply *reply)
{
    struct world *world = arg;
    fuzz_touch(reply->value.at, reply->value.len);
    FUZZ_CHECK(world->waits[w - world->waiters]);
    world->waits[w - world->waiters] = false;
}

static void hold(struct world *w, const struct ct_store_request *req)
{
    unsigned i = 0;
    while (i < WAITERS && w->waits[i]) {
        i++;
    }
    if (i == WAITERS) {
        return;
    }
    w->waiters[i] = (struct ct_waiter){.entry = NULL};
    ct_list_init(&w->waiters[i].node);
    w->waits[i] = true;
    if (ct_table_wait(&w->table, req, &w->waiters[i]) != CTRAN_SUCCESS) {
        FUZZ_CHECK(w->waiters[i].entry == NULL);
        w->waits[i] = false;
    }
}

static void forget(struct world *w, unsigned i)
{
    if (w->waits[i]) {
        ct_table_forget(&w->table, &w->waiters[i]);
        w->waits[i] = false;
    }
}

/* What a server does with a message. */
static void message(struct world *w, uint8_t type, const uint8_t *body, size_t len)
{
    struct ct_store_request req;
    struct ct_store_reply   reply;
    void                   *memory;
    if (ct_store_request_unpack(&req, type, body, len) != CTRAN_SUCCESS) {
        return;
    }
    fuzz_touch(req.key.at, req.key.len);
    fuzz_touch(req.expected.at, req.expected.len);
    fuzz_touch(req.value.at, req.value.len);
    if (ct_table_ask(&w->table, &req, &reply, &memory)) {
        fuzz_touch(reply.value.at, reply.value.len);
        free(memory);
    } else {
        hold(w, &req);
    }
    FUZZ_CHECK(w->table.memory <= MEMORY + sizeof(struct ct_entry) + CT_STORE_KEY_MAX);
}

/* A request of a few keys, whose parts have the lengths that it says. */
static void sensible(struct world *w, struct fuzz *f)
{
    static const char       keys[KEYS][8] = {"a", "ab", "abc", "b", "@b", ""};
    size_t                  nexpected, nvalue;
    struct ct_store_request req = {.op = (uint8_t)(1 + fuzz_below(f, CT_STORE_OPS)),
                                   .number = (int8_t)fuzz_number(f, 1),
                                   .key = ct_bytes_of(keys[fuzz_below(f, KEYS)])};
    uint8_t                *expected = fuzz_bytes(f, fuzz_below(f, 12), &nexpected);
    uint8_t                *value = fuzz_bytes(f, fuzz_below(f, 40), &nvalue);
    req.expected = (struct ct_bytes){expected, (uint32_t)nexpected};
    req.value = (struct ct_bytes){value, (uint32_t)nvalue};
    size_t   len = CT_STORE_REQUEST_BYTES + req.key.len + nexpected + nvalue;
    uint8_t *body = malloc(len), *at = body + CT_STORE_REQUEST_BYTES;
    FUZZ_CHECK(body != NULL);
    ct_store_request_pack(&req, body);
    memcpy(at, req.key.at, req.key.len);
    memcpy(at + req.key.len, expected, nexpected);
    memcpy(at + req.key.len + nexpected, value, nvalue);
    message(w, req.op, body, len);
    free(body);
    free(expected);
    free(value);
}

/* Where servers are, as a value and as text: what is read is written the same. */
static void places(const uint8_t *bytes, size_t len)
{
    struct ct_store_place all[CT_STORE_SERVERS_MAX];
    struct ct_addr        list[CT_WIRE_REACH_MAX], again[CT_WIRE_REACH_MAX];
    char                  text[CT_WIRE_LIST_SIZE], *copy = strndup((const char *)bytes, len);
    uint32_t              n = ct_store_places_unpack(all, bytes, (uint32_t)len);
    FUZZ_CHECK(copy != NULL && n <= CT_STORE_SERVERS_MAX);
    if (n > 0) {
        unsigned char *out = malloc(len);
        FUZZ_CHECK(out != NULL && ct_store_places_pack(all, n, out) == len);
        FUZZ_CHECK(memcmp(out, bytes, len) == 0);
        free(out);
    }
    n = ct_addr_parse_list(list, copy);
    FUZZ_CHECK(n <= CT_WIRE_REACH_MAX);
    ct_addr_format_list(list, n, text);
    FUZZ_CHECK(ct_addr_parse_list(again, text) == n);
    FUZZ_CHECK(memcmp(list, again, n * sizeof list[0]) == 0);
    free(copy);
}

static void raw(struct world *w, struct fuzz *f)
{
    struct ct_store_reply reply;
    struct ct_bytes       rest, found;
    uint8_t               type = (uint8_t)fuzz_number(f, 1);
    size_t                len;
    uint8_t              *body = fuzz_bytes(f, fuzz_below(f, 200), &len);
    message(w, type, body, len);
    places(body, len);
    if (ct_store_reply_unpack(&reply, body, len) == CTRAN_SUCCESS) {
        fuzz_touch(reply.value.at, reply.value.len);
        rest = reply.value;
        while (ct_store_next_key(&rest, &found)) {
            fuzz_touch(found.at, found.len);
        }
    }
    free(body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz  f = {data, size};
    struct world w = {.waits = {false}};
    ct_table_init(&w.table, MEMORY);
    w.table.answer = on_answer;
    w.table.arg = &w;
    while (f.left > 0) {
        switch (fuzz_below(&f, 4)) {
        case 0:
            raw(&w, &f);
            break;
        case 1:
            forget(&w, fuzz_below(&f, WAITERS));
            break;
        default:
            sensible(&w, &f);
        }
    }
    for (unsigned i = 0; i < WAITERS; i++) {
        forget(&w, i);
    }
    ct_table_fini(&w.table);
    FUZZ_CHECK(w.table.memory == 0);
    return 0;
}
