/* SPDX-License-Identifier: BSD-3-Clause */
/* The jobs of a family, as a head sees them; see jobs.h. Used by head/run.c, head/nodes.c and
 * spawned.c. */
#include "config.h"
#include "launcher/family/jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "launcher/family/announced.h"
#include "launcher/family/members.h"
#include "launcher/family/root.h"
#include "launcher/family/spawned_place.h"
#include "launcher/launcher.h"

void ct_family_ready(struct ct_family *fam)
{
    ct_announced_ready(fam);
}

void ct_family_pack(const struct ct_family *fam, const char *except, struct evbuffer *body)
{
    ct_family_job_pack(body, ct_family_own_name(fam), fam->own);
    ct_announced_pack(fam, body);
    for (struct ct_list *l = fam->members.next; l != &fam->members; l = l->next) {
        const struct ct_family_job *m = CT_LIST_ENTRY(l, struct ct_family_job, node);
        if (m->link != NULL && !m->gone && (except == NULL || strcmp(m->nspace, except) != 0)) {
            ct_family_job_pack(body, m->nspace, m->desc);
        }
    }
}

static struct ct_family_job *family_job_new(struct ct_family *fam, struct ct_family_link *link,
                                            const char *first, struct ct_unpack *in)
{
    struct ct_jobdesc d;
    const char       *nspace = ct_unpack_text(in);
    bool              taken =
        strcmp(nspace, ct_family_own_name(fam)) == 0 || ct_family_find(fam, nspace) != NULL;
    if (!ct_family_job_unpack(&d, in) || taken) {
        ct_jobdesc_fini(&d);
        return NULL;
    }
    struct ct_family_job *m = ct_family_job_add(fam, link, nspace, &d);
    if (m != NULL) {
        ct_announced_new(fam, first, m);
    }
    return m;
}

static void family_job_over(struct ct_family *fam, struct ct_family_job *m)
{
    m->gone = true;
    if (!ct_family_is_root(fam)) {
        struct evbuffer *body = evbuffer_new();
        ct_pack_text(body, m->nspace);
        ct_family_send_to_head(fam->up, "", ct_family_own_name(fam), CT_MSG_FAMILY_GONE,
                               evbuffer_pullup(body, -1), evbuffer_get_length(body));
        evbuffer_free(body);
        ct_announced_over_to_daemons(fam, m->nspace);
        ct_family_job_free(m);
        return;
    }
    ct_root_job_gone(fam, m);
}

/* ---- messages from other heads --------------------------------------------------------------- */

/* From below: jobs that come and go are noted on the way, all else is the root's. */
static void family_on_message_from_below(void *arg, enum ct_msg_type outer, struct ct_unpack *in)
{
    struct ct_family_link *link = arg;
    struct ct_family      *fam = link->fam;
    struct ct_unpack       all = *in;
    (void)ct_unpack_text(in);
    struct ct_family_job *from = ct_family_find(fam, ct_unpack_text(in));
    enum ct_msg_type      type = (enum ct_msg_type)ct_unpack_u32(in);
    in->bad |= outer != CT_MSG_FAMILY || from == NULL || from->link != link;
    if (in->bad) {
        return;
    }
    if (type == CT_MSG_FAMILY_STARTED) {
        in->bad = family_job_new(fam, link, from->nspace, in) == NULL;
    } else if (type == CT_MSG_FAMILY_GONE) {
        struct ct_family_job *m = ct_family_find(fam, ct_unpack_text(in));
        in->bad |= m == NULL || m->link != link; /* a head reports jobs below it only */
        if (!in->bad && ct_family_is_root(fam)) {
            family_job_over(fam, m);
        } else if (!in->bad) {
            ct_family_job_free(m); /* the message goes on to the root */
        }
    } else if (ct_family_is_root(fam)) {
        ct_root_serve(fam, from, type, in);
    }
    if (!in->bad && !ct_family_is_root(fam)) {
        ct_conn_send_bytes(fam->up, CT_MSG_FAMILY, all.at, all.left);
    }
}

/* A message from above: for this job, or for a job below. */
static void family_on_message_from_above(void *arg, enum ct_msg_type outer, struct ct_unpack *in)
{
    struct ct_family *fam = arg;
    struct ct_unpack  all = *in;
    const char       *to = ct_unpack_text(in);
    (void)ct_unpack_text(in);
    enum ct_msg_type type = (enum ct_msg_type)ct_unpack_u32(in);
    in->bad |= outer != CT_MSG_FAMILY;
    if (in->bad) {
        return;
    }
    struct ct_family_job *m = ct_family_find(fam, to);
    if (strcmp(to, ct_family_own_name(fam)) == 0 && type == CT_MSG_FAMILY_JOB) {
        ct_announced_take(fam, in);
    } else if (strcmp(to, ct_family_own_name(fam)) == 0 && type == CT_MSG_FAMILY_GONE) {
        ct_announced_take_over(fam, in);
    } else if (strcmp(to, ct_family_own_name(fam)) == 0) {
        ct_router_down(fam->router, type, in);
    } else if (m != NULL) {
        ct_conn_send_bytes(m->link->conn, CT_MSG_FAMILY, all.at, all.left);
    }
}

/* A stream that just ends needs no action here: the process of a job below is reaped, and this job
 * ends with the job above. After a stream that carried nonsense, ranks would wait for answers for
 * ever: this job ends, and the jobs below with it. */
static void end_senseless(struct ct_family *fam, const char *who, const char *why,
                          uint32_t grace_ms)
{
    char line[512];
    snprintf(line, sizeof line, "cannot go on with the job %s: %s; this job is ended", who, why);
    fam->ops->broken(fam->arg, line, grace_ms);
}

static void on_below_gone(void *arg, const char *why)
{
    struct ct_family_link *link = arg;
    if (ct_conn_was_senseless(link->conn)) {
        end_senseless(link->fam, "that a rank has spawned", why, CT_TERM_GRACE_MS);
    }
}

static void on_above_gone(void *arg, const char *why)
{
    struct ct_family *fam = arg;
    if (ct_conn_was_senseless(fam->up)) {
        end_senseless(fam, "around this one", why, 0);
    }
}

/* ---- this job -------------------------------------------------------------------------------- */

void ct_family_take(struct ct_family *fam, enum ct_msg_type type, struct ct_unpack *in)
{
    if (ct_family_is_root(fam)) {
        ct_root_serve(fam, ct_family_find(fam, ct_family_own_name(fam)), type, in);
    } else {
        ct_family_send_to_head(fam->up, "", ct_family_own_name(fam), type, in->at, in->left);
    }
}

void ct_family_ended(struct ct_family *fam, uint32_t rank)
{
    struct evbuffer *body = evbuffer_new();
    ct_pack_u32(body, rank);
    struct ct_unpack in = ct_unpack_of(body);
    ct_family_take(fam, CT_MSG_FAMILY_ENDED, &in);
    evbuffer_free(body);
}

struct ct_family_link *ct_family_add(struct ct_family *fam, const char *nspace,
                                     const struct ct_spawned_place *place, int fd)
{
    struct ct_family_link *link = calloc(1, sizeof *link);
    struct evbuffer       *body = evbuffer_new();
    if (link != NULL && body != NULL) {
        link->fam = fam;
        link->conn =
            ct_conn_create(fam->base, fd, fd, family_on_message_from_below, on_below_gone, link);
    }
    if (link == NULL || link->conn == NULL) {
        close(fd);
        free(link);
        return NULL;
    }
    ct_family_job_pack(body, nspace,
                       &(struct ct_jobdesc){.first_process = place->first_process,
                                            .apps = place->apps,
                                            .napps = place->napps,
                                            .nodes = place->nodes,
                                            .nnodes = place->nnodes});
    struct ct_unpack in = ct_unpack_of(body);
    if (!ct_family_is_root(fam)) {
        ct_family_send_to_head(fam->up, "", ct_family_own_name(fam), CT_MSG_FAMILY_STARTED, in.at,
                               in.left);
    }
    struct ct_family_job *m = family_job_new(fam, link, ct_family_own_name(fam), &in);
    evbuffer_free(body);
    if (m == NULL) {
        ct_family_remove(link);
        return NULL;
    }
    return link;
}

void ct_family_remove(struct ct_family_link *link)
{
    if (link == NULL) {
        return;
    }
    CT_LIST_FOR (l, &link->fam->members) {
        struct ct_family_job *m = CT_LIST_ENTRY(l, struct ct_family_job, node);
        if (m->link == link && !m->gone) {
            family_job_over(link->fam, m);
        }
    }
    ct_conn_destroy(link->conn);
    free(link);
}

/* ---- the whole ------------------------------------------------------------------------------- */

struct ct_family *ct_family_create(const struct ct_family_args *args,
                                   const struct ct_family_ops *ops, void *arg)
{
    struct ct_family *fam = calloc(1, sizeof *fam);
    struct ct_jobdesc none = {0};
    if (fam == NULL) {
        return NULL;
    }
    *fam = (struct ct_family){
        .base = args->base, .own = args->desc, .router = args->router, .ops = ops, .arg = arg};
    ct_list_init(&fam->members);
    ct_list_init(&fam->announced);
    ct_list_init(&fam->meetings);
    ct_list_init(&fam->gets);
    bool ok = false;
    if (args->up_fd >= 0) {
        fam->up = ct_conn_create(fam->base, args->up_fd, args->up_fd, family_on_message_from_above,
                                 on_above_gone, fam);
        ok = fam->up != NULL && ct_announced_init(fam);
    } else {
        ok = ct_root_init(fam) &&
             ct_family_job_add(fam, NULL, ct_family_own_name(fam), &none) != NULL;
    }
    if (!ok) {
        ct_family_destroy(fam);
        return NULL;
    }
    return fam;
}

void ct_family_destroy(struct ct_family *fam)
{
    if (fam == NULL) {
        return;
    }
    ct_root_fini(fam); /* before the members, whose descriptions it borrows */
    CT_LIST_FOR (l, &fam->members) {
        ct_family_job_free(CT_LIST_ENTRY(l, struct ct_family_job, node));
    }
    ct_announced_fini(fam);
    ct_conn_destroy(fam->up);
    free(fam);
}
