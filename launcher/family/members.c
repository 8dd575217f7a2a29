/* SPDX-License-Identifier: BSD-3-Clause */
/* The jobs of a family, and messages to them; see members.h. Used by all files of this folder. */
#include "config.h"
#include "launcher/family/members.h"

#include <stdlib.h>
#include <string.h>

struct ct_family_job *ct_family_find(const struct ct_family *fam, const char *nspace)
{
    for (struct ct_list *l = fam->members.next; l != &fam->members; l = l->next) {
        struct ct_family_job *m = CT_LIST_ENTRY(l, struct ct_family_job, node);
        if (!m->gone && strcmp(m->nspace, nspace) == 0) {
            return m;
        }
    }
    return NULL;
}

/* ---- messages to other heads ----------------------------------------------------------------- */

void ct_family_send_to_head(struct ct_conn *conn, const char *to, const char *from,
                            enum ct_msg_type type, const void *data, size_t len)
{
    struct evbuffer *body = evbuffer_new();
    ct_pack_text(body, to);
    ct_pack_text(body, from);
    ct_pack_u32(body, type);
    evbuffer_add(body, data, len);
    ct_conn_send(conn, CT_MSG_FAMILY, body);
    evbuffer_free(body);
}

void ct_family_pass(struct ct_family *fam, const struct ct_family_job *to, enum ct_msg_type type,
                    struct ct_unpack *message)
{
    if (to->link == NULL) {
        ct_router_down(fam->router, type, message);
    } else {
        ct_family_send_to_head(to->link->conn, to->nspace, "", type, message->at, message->left);
    }
}

void ct_family_send(struct ct_family *fam, const struct ct_family_job *to, enum ct_msg_type type,
                    struct evbuffer *body)
{
    struct ct_unpack in = ct_unpack_of(body);
    if (!to->gone) {
        ct_family_pass(fam, to, type, &in);
    }
}

void ct_family_job_free(struct ct_family_job *m)
{
    ct_list_remove(&m->node);
    ct_jobdesc_fini(&m->own);
    free(m->nspace);
    free(m);
}

struct ct_family_job *ct_family_job_add(struct ct_family *fam, struct ct_family_link *link,
                                        const char *nspace, struct ct_jobdesc *desc)
{
    struct ct_family_job *m = calloc(1, sizeof *m);
    if (m == NULL) {
        ct_jobdesc_fini(desc);
        return NULL;
    }
    *m = (struct ct_family_job){.link = link, .nspace = strdup(nspace), .own = *desc};
    m->desc = link != NULL ? &m->own : fam->own;
    ct_list_append(&fam->members, &m->node);
    bool ok = m->nspace != NULL;
    if (ok && ct_family_is_root(fam)) {
        m->published = ct_published_add(fam->published, m->nspace, m->desc);
        ok = m->published != NULL;
    }
    if (!ok) {
        ct_family_job_free(m);
    }
    return ok ? m : NULL;
}
