/* SPDX-License-Identifier: BSD-3-Clause */
/* Announcements of jobs; see announced.h. Used by jobs.c and root.c. */
#include "config.h"
#include "launcher/family/announced.h"

#include <stdlib.h>
#include <string.h>

#include "launcher/family/members.h"
#include "launcher/launcher.h"

/* A job that this head was told of: from the start, in its description, or later from above.
 * Daemons that join later learn these jobs before their ranks start, and so do jobs that are
 * spawned later. */
struct announced {
    struct ct_list node;
    bool           from_start;
    bool           over; /* a daemon may learn of the job after it learns that the job is over */
    size_t         len_bytes;
    uint8_t        job[]; /* as in FAMILY_JOB */
};

static void announced_forget(struct ct_family *fam, struct announced *e)
{
    ct_list_remove(&e->node);
    fam->announced_bytes -= e->from_start ? 0 : e->len_bytes;
    free(e);
}

static bool is_announced(const struct ct_family *fam, const struct ct_unpack *job)
{
    for (struct ct_list *l = fam->announced.next; l != &fam->announced; l = l->next) {
        const struct announced *e = CT_LIST_ENTRY(l, struct announced, node);
        if (e->len_bytes == job->left && memcmp(e->job, job->at, job->left) == 0) {
            return true;
        }
    }
    return false;
}

static const char *name_of(const struct announced *e)
{
    struct ct_unpack in = {.at = e->job, .left = e->len_bytes};
    return ct_unpack_text(&in);
}

static struct announced *find_announced(const struct ct_family *fam, const char *nspace)
{
    for (struct ct_list *l = fam->announced.next; l != &fam->announced; l = l->next) {
        struct announced *e = CT_LIST_ENTRY(l, struct announced, node);
        if (!e->over && strcmp(name_of(e), nspace) == 0) {
            return e;
        }
    }
    return NULL;
}

/* The oldest that counts; NULL: there is none. */
static struct announced *announced_oldest(const struct ct_family *fam)
{
    for (struct ct_list *l = fam->announced.next; l != &fam->announced; l = l->next) {
        struct announced *e = CT_LIST_ENTRY(l, struct announced, node);
        if (!e->from_start) {
            return e;
        }
    }
    return NULL;
}

/* Keeps a job. If there are too many, the oldest go, except those known from the start. Returns
 * false when out of memory. */
static bool keep_announced(struct ct_family *fam, const void *job, size_t len_bytes,
                           bool from_start)
{
    struct announced *e = malloc(sizeof *e + len_bytes), *old;
    if (e == NULL) {
        return false;
    }
    e->from_start = from_start;
    e->over = false;
    e->len_bytes = len_bytes;
    memcpy(e->job, job, len_bytes);
    ct_list_append(&fam->announced, &e->node);
    fam->announced_bytes += from_start ? 0 : len_bytes;
    while (fam->announced_bytes > CT_FAMILY_ANNOUNCED_MAX && (old = announced_oldest(fam)) != e) {
        announced_forget(fam, old);
    }
    return true;
}

/* The jobs of this one's description. */
bool ct_announced_init(struct ct_family *fam)
{
    const struct ct_jobdesc *own = fam->own;
    struct ct_unpack         in = {.at = own->family, .left = own->family_len};
    while (in.left > 0) {
        const uint8_t    *job = in.at;
        struct ct_jobdesc d;
        (void)ct_unpack_text(&in);
        bool ok = ct_family_job_unpack(&d, &in);
        ct_jobdesc_fini(&d);
        if (!ok || !keep_announced(fam, job, (size_t)(in.at - job), true)) {
            return false;
        }
    }
    return true;
}

/* A job is announced from above. The announcement goes on to the jobs below: a job below that began
 * after the announcement was sent may not have been known above then. */
void ct_announced_take(struct ct_family *fam, struct ct_unpack *job)
{
    struct ct_unpack look = *job, copy = *job;
    const char      *nspace = ct_unpack_text(&look);
    if (look.bad || is_announced(fam, job)) {
        job->bad = look.bad;
        return;
    }
    job->bad = !keep_announced(fam, job->at, job->left, false);
    for (struct ct_list *l = fam->members.next; !job->bad && l != &fam->members; l = l->next) {
        struct ct_family_job *m = CT_LIST_ENTRY(l, struct ct_family_job, node);
        struct ct_unpack      below = *job;
        if (strcmp(m->nspace, nspace) != 0) {
            ct_family_pass(fam, m, CT_MSG_FAMILY_JOB, &below);
        }
    }
    if (!job->bad) {
        ct_router_down(fam->router, CT_MSG_FAMILY_JOB, &copy);
    }
}

/* The daemons learn that a job is over: no rank can ask for it with success any more. */
void ct_announced_over_to_daemons(struct ct_family *fam, const char *nspace)
{
    struct evbuffer *body = evbuffer_new();
    ct_pack_text(body, nspace);
    ct_router_send_down(fam->router, CT_MSG_FAMILY_GONE, body);
}

/* The root tells all other jobs. */
void ct_announced_over_to_all(struct ct_family *fam, const struct ct_family_job *gone)
{
    struct evbuffer *body = evbuffer_new();
    ct_pack_text(body, gone->nspace);
    for (struct ct_list *l = fam->members.next; l != &fam->members; l = l->next) {
        const struct ct_family_job *m = CT_LIST_ENTRY(l, struct ct_family_job, node);
        if (m->link != NULL) {
            ct_family_send(fam, m, CT_MSG_FAMILY_GONE, body);
        }
    }
    evbuffer_free(body);
    ct_announced_over_to_daemons(fam, gone->nspace);
}

/* A job elsewhere is over. The message goes on to the jobs below, as in ct_announced_take. A job
 * that is not known here was passed on as over before. */
void ct_announced_take_over(struct ct_family *fam, struct ct_unpack *in)
{
    struct ct_unpack all = *in;
    const char      *nspace = ct_unpack_text(in);
    if (in->bad) {
        return;
    }
    ct_announced_over_to_daemons(fam, nspace);
    struct announced *e = find_announced(fam, nspace);
    if (e == NULL) {
        return;
    }
    for (struct ct_list *l = fam->members.next; l != &fam->members; l = l->next) {
        struct ct_unpack below = all;
        ct_family_pass(fam, CT_LIST_ENTRY(l, struct ct_family_job, node), CT_MSG_FAMILY_GONE,
                       &below);
    }
    e->over = true;
    if (fam->ready || !e->from_start) {
        announced_forget(fam, e);
    }
}

/* The daemons of this job learn of the new job; the root also tells the daemons of all other jobs.
 * `first` is the job that has spawned it: the head of that job tells its daemons itself,
 * earlier. */
void ct_announced_new(struct ct_family *fam, const char *first, const struct ct_family_job *job)
{
    struct evbuffer *body = evbuffer_new();
    ct_family_job_pack(body, job->nspace, job->desc);
    struct ct_unpack in = ct_unpack_of(body);
    if (strcmp(first, ct_family_own_name(fam)) == 0) {
        ct_router_down(fam->router, CT_MSG_FAMILY_JOB, &in);
    }
    for (struct ct_list *l = fam->members.next; ct_family_is_root(fam) && l != &fam->members;
         l = l->next) {
        struct ct_family_job *m = CT_LIST_ENTRY(l, struct ct_family_job, node);
        if (m != job && !m->gone && strcmp(m->nspace, first) != 0) {
            struct ct_unpack copy = in;
            ct_family_pass(fam, m, CT_MSG_FAMILY_JOB, &copy);
        }
    }
    evbuffer_free(body);
}

void ct_announced_ready(struct ct_family *fam)
{
    fam->ready = true;
    CT_LIST_FOR (l, &fam->announced) {
        struct announced *e = CT_LIST_ENTRY(l, struct announced, node);
        struct ct_unpack  in = {.at = e->job, .left = e->len_bytes};
        if (e->over) {
            ct_announced_over_to_daemons(fam, name_of(e));
            announced_forget(fam, e);
        } else if (!e->from_start) {
            ct_router_down(fam->router, CT_MSG_FAMILY_JOB, &in);
        }
    }
}

void ct_announced_pack(const struct ct_family *fam, struct evbuffer *body)
{
    for (struct ct_list *l = fam->announced.next; l != &fam->announced; l = l->next) {
        const struct announced *e = CT_LIST_ENTRY(l, struct announced, node);
        evbuffer_add(body, e->job, e->over ? 0 : e->len_bytes);
    }
}

void ct_announced_fini(struct ct_family *fam)
{
    CT_LIST_FOR (l, &fam->announced) {
        announced_forget(fam, CT_LIST_ENTRY(l, struct announced, node));
    }
}
