/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Questions of ranks about ranks of other jobs (PMIx_Get); see root_get.h. The root passes a
 * question on and keeps the asking rank, so that there is an answer also if the rank in question
 * ends. Used by root.c.
 */
#include "config.h"
#include "launcher/family/root_get.h"

#include <stdlib.h>

#include "launcher/family/members.h"

struct get {
    struct ct_list              node;
    const struct ct_family_job *from, *about;
    uint32_t                    from_node, from_number, number, rank;
};

static void question_answer(struct ct_family *fam, const struct get *g,
                            enum ct_family_status status, const void *data, size_t len)
{
    struct evbuffer *body = evbuffer_new();
    ct_pack_u32(body, g->from_node);
    ct_pack_u32(body, g->from_number);
    ct_pack_u32(body, status);
    evbuffer_add(body, data, len);
    ct_family_send(fam, g->from, CT_MSG_FAMILY_DATA, body);
    evbuffer_free(body);
}

static void free_get(struct get *g)
{
    ct_list_remove(&g->node);
    free(g);
}

static void question_pass_on(struct ct_family *fam, const struct get *g)
{
    struct evbuffer *body = evbuffer_new();
    ct_pack_u32(body, g->about->desc->ranks.node_of[g->rank]);
    ct_pack_u32(body, g->number);
    ct_pack_u32(body, g->rank);
    ct_family_send(fam, g->about, CT_MSG_FAMILY_FETCH, body);
    evbuffer_free(body);
}

void ct_family_get(struct ct_family *fam, struct ct_family_job *from, struct ct_unpack *in)
{
    struct get g = {.from = from, .from_node = ct_unpack_u32(in)};
    g.from_number = ct_unpack_u32(in);
    g.about = ct_family_find(fam, ct_unpack_text(in));
    g.rank = ct_unpack_u32(in);
    in->bad |= g.from_node >= from->desc->nnodes;
    if (in->bad) {
        return;
    }
    if (g.about != NULL && g.rank == CT_FAMILY_ALL) {
        question_answer(fam, &g, CT_FAMILY_OK, NULL, 0);
        return;
    }
    bool exists = g.about != NULL && g.rank < ct_jobdesc_ranks(g.about->desc) &&
                  !ct_family_has_ended(g.about, g.rank);
    struct get *kept = exists ? malloc(sizeof *kept) : NULL;
    if (kept == NULL) {
        question_answer(fam, &g, exists ? CT_FAMILY_NO_MEMORY : CT_FAMILY_NOT_FOUND, NULL, 0);
        return;
    }
    *kept = g;
    kept->number = ++fam->last_get;
    ct_list_append(&fam->gets, &kept->node);
    question_pass_on(fam, kept);
}

/* An answer that nobody waits for any more is no fault. Only the job that was asked can answer. */
void ct_family_found(struct ct_family *fam, const struct ct_family_job *from, struct ct_unpack *in)
{
    uint32_t number = ct_unpack_u32(in), status = ct_unpack_u32(in);
    CT_LIST_FOR (l, &fam->gets) {
        struct get *g = CT_LIST_ENTRY(l, struct get, node);
        if (g->number == number && g->about == from && !in->bad) {
            question_answer(fam, g, status == 0 ? CT_FAMILY_OK : CT_FAMILY_NOT_FOUND, in->at,
                            in->left);
            free_get(g);
            return;
        }
    }
}

void ct_family_get_ended(struct ct_family *fam, const struct ct_family_job *m, uint32_t rank)
{
    CT_LIST_FOR (l, &fam->gets) {
        struct get *g = CT_LIST_ENTRY(l, struct get, node);
        if (g->about == m && g->rank == rank) {
            question_answer(fam, g, CT_FAMILY_NOT_FOUND, NULL, 0);
            free_get(g);
        }
    }
}

void ct_family_get_gone(struct ct_family *fam, const struct ct_family_job *m)
{
    CT_LIST_FOR (l, &fam->gets) {
        struct get *g = CT_LIST_ENTRY(l, struct get, node);
        if (g->from != m && g->about == m) {
            question_answer(fam, g, CT_FAMILY_NOT_FOUND, NULL, 0);
        }
        if (g->from == m || g->about == m) {
            free_get(g);
        }
    }
}

void ct_family_get_fini(struct ct_family *fam)
{
    CT_LIST_FOR (l, &fam->gets) {
        free_get(CT_LIST_ENTRY(l, struct get, node));
    }
}
