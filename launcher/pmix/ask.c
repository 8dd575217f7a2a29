/* SPDX-License-Identifier: BSD-3-Clause */
/* Questions to the head; see ask.h. */
#include "config.h"
#include "launcher/pmix/ask.h"

void ct_pmix_asks_init(struct ct_pmix_asks *line, struct ct_conn *conn, uint32_t me)
{
    line->conn = conn;
    line->me = me;
    ct_list_init(&line->pending);
}

void ct_pmix_ask_send(struct ct_pmix_asks *line, struct ct_pmix_ask *ask)
{
    struct evbuffer *message = evbuffer_new();
    ask->number = ++line->last_number;
    ct_list_append(&line->pending, &ask->node);
    ct_pack_u32(message, line->me);
    ct_pack_u32(message, ask->number);
    if (ask->body != NULL) {
        evbuffer_add_buffer(message, ask->body);
    }
    ct_conn_send(line->conn, ask->type, message);
    evbuffer_free(message);
}

struct ct_pmix_ask *ct_pmix_ask_take(struct ct_pmix_asks *line, enum ct_msg_type type,
                                     struct ct_unpack *in, uint32_t *number)
{
    (void)ct_unpack_u32(in); /* this node */
    const uint32_t n = ct_unpack_u32(in);
    if (number != NULL) {
        *number = n;
    }
    CT_LIST_FOR (l, &line->pending) {
        struct ct_pmix_ask *ask = CT_LIST_ENTRY(l, struct ct_pmix_ask, node);
        if (ask->number == n && ask->type == type && !in->bad) {
            ct_list_remove(&ask->node);
            return ask;
        }
    }
    return NULL;
}

void ct_pmix_ask_fini(struct ct_pmix_ask *ask)
{
    if (ask->body != NULL) {
        evbuffer_free(ask->body);
    }
}
