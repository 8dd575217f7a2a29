/* SPDX-License-Identifier: BSD-3-Clause */
/* Between PMIx servers; see remote.h. Used by server.c. */
#include "config.h"
#include "launcher/pmix/remote.h"

#include <stdlib.h>
#include <string.h>

#include "pmi/pmi.h"

/* A fence that local ranks have come to. The list of its ranks identifies the fence. */
struct fence {
    struct ct_list      node;
    pmix_modex_cbfunc_t done;
    void               *cbdata;
    uint32_t            n, ranks[];
};

/* A question under way. */
struct question {
    struct ct_list      node;
    uint32_t            request;
    pmix_modex_cbfunc_t done;
    void               *cbdata;
};

void ct_pmix_remote_init(struct ct_pmix_remote *f, const struct ct_jobdesc *d, struct ct_conn *conn)
{
    *f = (struct ct_pmix_remote){.desc = d, .conn = conn};
    ct_list_init(&f->fences);
    ct_list_init(&f->asked);
}

/* ---- fences ---------------------------------------------------------------------------------- */

bool ct_pmix_remote_is_here(const struct ct_pmix_remote *f, const uint32_t *ranks, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (f->desc->ranks.node_of[ranks[i]] != f->desc->me) {
            return false;
        }
    }
    return n > 0 || f->desc->nnodes == 1;
}

bool ct_pmix_remote_fence(struct ct_pmix_remote *f, const uint32_t *ranks, uint32_t n,
                          const char *data, size_t len_bytes, pmix_modex_cbfunc_t done,
                          void *cbdata)
{
    struct fence    *fence = malloc(sizeof *fence + n * sizeof *ranks);
    struct evbuffer *body = evbuffer_new();
    if (fence == NULL || body == NULL) {
        return false;
    }
    *fence = (struct fence){.done = done, .cbdata = cbdata, .n = n};
    ct_pack_u32(body, n);
    for (uint32_t i = 0; i < n; i++) {
        fence->ranks[i] = ranks[i];
        ct_pack_u32(body, ranks[i]);
    }
    ct_pack_u32(body, 0);
    evbuffer_add(body, data, len_bytes);
    ct_list_append(&f->fences, &fence->node);
    ct_conn_send(f->conn, CT_MSG_FENCE, body);
    evbuffer_free(body);
    return true;
}

static struct fence *find_fence(struct ct_pmix_remote *f, const uint32_t *ranks, uint32_t n)
{
    for (struct ct_list *l = f->fences.next; l != &f->fences; l = l->next) {
        struct fence *fence = CT_LIST_ENTRY(l, struct fence, node);
        if (fence->n == n && (n == 0 || memcmp(fence->ranks, ranks, n * sizeof *ranks) == 0)) {
            return fence;
        }
    }
    return NULL;
}

/* libpmix reads it until it calls free. */
static void hand_over(pmix_modex_cbfunc_t done, void *cbdata, pmix_status_t status,
                      const struct ct_unpack *in)
{
    char *copy = in->left > 0 ? malloc(in->left) : NULL;
    if (copy != NULL) {
        memcpy(copy, in->at, in->left);
    }
    if (in->left > 0 && copy == NULL) {
        status = PMIX_ERR_NOMEM;
    }
    done(status, copy, copy != NULL ? in->left : 0, cbdata, free, copy);
}

void ct_pmix_remote_take_fence(struct ct_pmix_remote *f, struct ct_unpack *in)
{
    uint32_t  n = ct_unpack_u32(in);
    uint32_t *ranks = n <= in->left / 4 ? calloc((size_t)n + 1, sizeof *ranks) : NULL;
    if (ranks == NULL) {
        in->bad = true;
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        ranks[i] = ct_unpack_u32(in);
    }
    uint32_t      status = ct_unpack_u32(in);
    struct fence *fence = in->bad ? NULL : find_fence(f, ranks, n);
    free(ranks);
    if (fence == NULL) {
        in->bad = true;
        return;
    }
    ct_list_remove(&fence->node);
    hand_over(fence->done, fence->cbdata, status == 0 ? PMIX_SUCCESS : CT_PMIX_NO_START, in);
    free(fence);
}

/* ---- direct modex ---------------------------------------------------------------------------- */

bool ct_pmix_remote_ask(struct ct_pmix_remote *f, uint32_t rank, pmix_modex_cbfunc_t done,
                        void *cbdata)
{
    struct question *q = malloc(sizeof *q);
    struct evbuffer *body = evbuffer_new();
    if (q == NULL || body == NULL) {
        return false;
    }
    *q = (struct question){.request = ++f->last_request, .done = done, .cbdata = cbdata};
    ct_list_append(&f->asked, &q->node);
    ct_pack_u32(body, f->desc->ranks.node_of[rank]);
    ct_pack_u32(body, f->desc->me);
    ct_pack_u32(body, q->request);
    ct_pack_u32(body, rank);
    ct_conn_send(f->conn, CT_MSG_MODEX_ASK, body);
    evbuffer_free(body);
    return true;
}

void ct_pmix_remote_take_data(struct ct_pmix_remote *f, struct ct_unpack *in)
{
    (void)ct_unpack_u32(in); /* this node */
    uint32_t request = ct_unpack_u32(in), status = ct_unpack_u32(in);
    for (struct ct_list *l = f->asked.next; !in->bad && l != &f->asked; l = l->next) {
        struct question *q = CT_LIST_ENTRY(l, struct question, node);
        if (q->request == request) {
            ct_list_remove(&q->node);
            hand_over(q->done, q->cbdata, status == 0 ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND, in);
            free(q);
            return;
        }
    }
    in->bad = true;
}

void ct_pmix_remote_answer(struct ct_pmix_remote *f, const struct ct_pmix_remote_found *found)
{
    struct evbuffer *body = evbuffer_new();
    if (!found->other_job) {
        ct_pack_u32(body, found->node);
    }
    ct_pack_u32(body, found->request);
    ct_pack_u32(body, found->status);
    evbuffer_add(body, found->data, found->len);
    ct_conn_send(f->conn, found->other_job ? CT_MSG_FAMILY_FOUND : CT_MSG_MODEX_DATA, body);
    evbuffer_free(body);
}
