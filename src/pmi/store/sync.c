/* SPDX-License-Identifier: BSD-3-Clause */
/* The client that blocks: asks, and runs the loop until the answer is there. */
#include <stdlib.h>
#include <string.h>

#include "pmi/store/client.h"

struct call {
    struct ct_store_reply reply;
    void                 *memory;
    bool                  done;
};

static void store_sync_on_reply(void *arg, const struct ct_store_reply *reply)
{
    struct call *call = arg;
    call->done = true;
    call->reply = *reply;
    call->reply.value.at = NULL;
    if (reply->value.len > 0) {
        call->memory = malloc(reply->value.len);
        if (call->memory == NULL) {
            call->reply.status = CTRAN_ERR_NO_MEM;
            return;
        }
        memcpy(call->memory, reply->value.at, reply->value.len);
        call->reply.value.at = call->memory;
    }
}

int ct_store_call_shard(struct ct_store *store, uint32_t shard, const struct ct_store_request *req,
                        struct ct_store_reply *reply, void **memory)
{
    struct call call = {.done = false};
    *memory = NULL;
    int rc = ct_store_ask_shard(store, shard, req, store_sync_on_reply, &call);
    if (rc != CTRAN_SUCCESS) {
        *reply = (struct ct_store_reply){.status = rc};
        return rc;
    }
    if (!ct_loop_until(store->loop, &call.done)) { /* ends: every request has a deadline */
        ct_store_forget(store, &call);
        *reply = (struct ct_store_reply){.status = CTRAN_ERR_PENDING};
        return CTRAN_ERR_PENDING;
    }
    *reply = call.reply;
    *memory = call.memory;
    return reply->status;
}

int ct_store_call(struct ct_store *store, const struct ct_store_request *req,
                  struct ct_store_reply *reply, void **memory)
{
    return ct_store_call_shard(store, ct_store_shard_of(req->key, store->nshards), req, reply,
                               memory);
}
