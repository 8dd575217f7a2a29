/* SPDX-License-Identifier: BSD-3-Clause */
/* The jobs of a family, as a head sees them; see jobs.h. Used by head/run.c, head/nodes.c,
 * spawned.c. */
#include "config.h"
#include "launcher/family/jobs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "launcher/head/state.h"
#include "launcher/family/root.h"
#include "launcher/launcher.h"
#include "launcher/family/spawned_place.h"

struct ct_family_link {
    struct ct_family *fam;
    struct ct_conn   *conn;
};

static bool is_root(const struct ct_family *fam)
{
    return fam->up == NULL;
}

static const char *own_name(const struct ct_family *fam)
{
    return fam->h->args->desc->nspace;
}

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

static void send_to_head(struct ct_conn *conn, const char *to, const char *from,
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

static void send_down(struct ct_family *fam, const struct ct_family_job *to, enum ct_msg_type type,
                      struct ct_unpack *message)
{
    if (to->link == NULL) {
        ct_router_down(&fam->h->router, type, message);
    } else {
        send_to_head(to->link->conn, to->nspace, "", type, message->at, message->left);
    }
}

void ct_family_send(struct ct_family *fam, const struct ct_family_job *to, enum ct_msg_type type,
                    struct evbuffer *body)
{
    struct ct_unpack in = ct_unpack_of(body);
    if (!to->gone) {
        send_down(fam, to, type, &in);
    }
}

static void on_answer(void *arg, const char *nspace, struct ct_unpack *message)
{
    struct ct_family           *fam = arg;
    const struct ct_family_job *m = ct_family_find(fam, nspace);
    if (m != NULL) {
        send_down(fam, m, CT_MSG_DATA_ANSWER, message);
    }
}

/* ---- who belongs to the family --------------------------------------------------------------- */

static void free_member(struct ct_family_job *m)
{
    ct_list_remove(&m->node);
    ct_jobdesc_fini(&m->own);
    free(m->nspace);
    free(m);
}

/* NULL when out of memory. The description is taken over in any case. */
static struct ct_family_job *add_member(struct ct_family *fam, struct ct_family_link *link,
                                        const char *nspace, struct ct_jobdesc *desc)
{
    struct ct_family_job *m = calloc(1, sizeof *m);
    if (m == NULL) {
        ct_jobdesc_fini(desc);
        return NULL;
    }
    *m = (struct ct_family_job){.link = link, .nspace = strdup(nspace), .own = *desc};
    m->desc = link != NULL ? &m->own : fam->h->args->desc;
    ct_list_append(&fam->members, &m->node);
    bool ok = m->nspace != NULL;
    if (ok && is_root(fam)) {
        m->published = ct_published_add(fam->published, m->nspace, m->desc);
        ok = m->published != NULL;
    }
    if (!ok) {
        free_member(m);
    }
    return ok ? m : NULL;
}

void ct_family_job_pack(struct evbuffer *body, const char *nspace, const struct ct_jobdesc *d)
{
    ct_pack_text(body, nspace);
    ct_pack_u32(body, d->napps);
    for (uint32_t i = 0; i < d->napps; i++) {
        ct_pack_u32(body, d->apps[i].ranks);
    }
    ct_pack_u32(body, d->ranks_in_turn);
    ct_pack_u32(body, d->nnodes);
    for (uint32_t i = 0; i < d->nnodes; i++) {
        ct_pack_text(body, d->nodes[i].host);
        ct_pack_u32(body, d->nodes[i].ranks);
    }
}

/* Our daemons hear of it, and the root lets those of all others hear. `first` is the job that has
 * spawned it: its head does that itself, earlier. */
static void announce(struct ct_family *fam, const char *first, const struct ct_family_job *born)
{
    struct evbuffer *body = evbuffer_new();
    ct_family_job_pack(body, born->nspace, born->desc);
    struct ct_unpack in = ct_unpack_of(body);
    if (strcmp(first, own_name(fam)) == 0) {
        ct_router_down(&fam->h->router, CT_MSG_FAMILY_JOB, &in);
    }
    for (struct ct_list *l = fam->members.next; is_root(fam) && l != &fam->members; l = l->next) {
        struct ct_family_job *m = CT_LIST_ENTRY(l, struct ct_family_job, node);
        if (m != born && !m->gone && strcmp(m->nspace, first) != 0) {
            struct ct_unpack copy = in;
            send_down(fam, m, CT_MSG_FAMILY_JOB, &copy);
        }
    }
    evbuffer_free(body);
}

/* Jobs that are there beside those below: the jobs known from the start, which this one was told of
 * as it began, and those that were announced from above since, as they came. Daemons that were not
 * there yet are to know these before their ranks start, and so are jobs spawned later. */
struct announced {
    struct ct_list node;
    bool           from_start;
    bool           over; /* an from_start of which some daemons may be told before they hear this */
    size_t         len_bytes;
    uint8_t        job[]; /* as in FAMILY_JOB */
};

static void forget(struct ct_family *fam, struct announced *e)
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
static struct announced *oldest(const struct ct_family *fam)
{
    for (struct ct_list *l = fam->announced.next; l != &fam->announced; l = l->next) {
        struct announced *e = CT_LIST_ENTRY(l, struct announced, node);
        if (!e->from_start) {
            return e;
        }
    }
    return NULL;
}

/* Where there are too many the oldest go, but for the jobs known from the start. False when out of
 * memory. */
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
    while (fam->announced_bytes > CT_FAMILY_ANNOUNCED_MAX && (old = oldest(fam)) != e) {
        forget(fam, old);
    }
    return true;
}

/* The jobs of this one's description. */
static bool keep_first(struct ct_family *fam)
{
    const struct ct_jobdesc *own = fam->h->args->desc;
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

/* Another job, announced from above. It goes on to the jobs below, too: one that was not known
 * above yet when this was sent may have begun before it came. */
static void take_announced(struct ct_family *fam, struct ct_unpack *job)
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
            send_down(fam, m, CT_MSG_FAMILY_JOB, &below);
        }
    }
    if (!job->bad) {
        ct_router_down(&fam->h->router, CT_MSG_FAMILY_JOB, &copy);
    }
}

/* Our daemons hear that a job is over: no rank can ask for it with success any more. */
static void tell_over(struct ct_family *fam, const char *nspace)
{
    struct evbuffer *body = evbuffer_new();
    ct_pack_text(body, nspace);
    ct_router_send_down(&fam->h->router, CT_MSG_FAMILY_GONE, body);
}

/* The root lets all others hear it. */
static void announce_over(struct ct_family *fam, const struct ct_family_job *gone)
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
    tell_over(fam, gone->nspace);
}

/* A job elsewhere is over. It goes on to the jobs below, as in take_announced: so what is not known
 * here has gone on before. */
static void take_over(struct ct_family *fam, struct ct_unpack *in)
{
    struct ct_unpack all = *in;
    const char      *nspace = ct_unpack_text(in);
    if (in->bad) {
        return;
    }
    tell_over(fam, nspace);
    struct announced *e = find_announced(fam, nspace);
    if (e == NULL) {
        return;
    }
    for (struct ct_list *l = fam->members.next; l != &fam->members; l = l->next) {
        struct ct_unpack below = all;
        send_down(fam, CT_LIST_ENTRY(l, struct ct_family_job, node), CT_MSG_FAMILY_GONE, &below);
    }
    e->over = true;
    if (fam->ready || !e->from_start) {
        forget(fam, e);
    }
}

void ct_family_ready(struct ct_family *fam)
{
    fam->ready = true;
    CT_LIST_FOR (l, &fam->announced) {
        struct announced *e = CT_LIST_ENTRY(l, struct announced, node);
        struct ct_unpack  in = {.at = e->job, .left = e->len_bytes};
        if (e->over) {
            tell_over(fam, name_of(e));
            forget(fam, e);
        } else if (!e->from_start) {
            ct_router_down(&fam->h->router, CT_MSG_FAMILY_JOB, &in);
        }
    }
}

void ct_family_pack(const struct ct_family *fam, const char *except, struct evbuffer *body)
{
    const struct ct_jobdesc *own = fam->h->args->desc;
    ct_family_job_pack(body, own_name(fam), own);
    for (struct ct_list *l = fam->announced.next; l != &fam->announced; l = l->next) {
        const struct announced *e = CT_LIST_ENTRY(l, struct announced, node);
        evbuffer_add(body, e->job, e->over ? 0 : e->len_bytes);
    }
    for (struct ct_list *l = fam->members.next; l != &fam->members; l = l->next) {
        const struct ct_family_job *m = CT_LIST_ENTRY(l, struct ct_family_job, node);
        if (m->link != NULL && !m->gone && (except == NULL || strcmp(m->nspace, except) != 0)) {
            ct_family_job_pack(body, m->nspace, m->desc);
        }
    }
}

static struct ct_family_job *take_born(struct ct_family *fam, struct ct_family_link *link,
                                       const char *first, struct ct_unpack *in)
{
    struct ct_jobdesc d;
    const char       *nspace = ct_unpack_text(in);
    bool taken = strcmp(nspace, own_name(fam)) == 0 || ct_family_find(fam, nspace) != NULL;
    if (!ct_family_job_unpack(&d, in) || taken) {
        ct_jobdesc_fini(&d);
        return NULL;
    }
    struct ct_family_job *m = add_member(fam, link, nspace, &d);
    if (m != NULL) {
        announce(fam, first, m);
    }
    return m;
}

/* At the root it stays on the list as long as what it has published for the family does. */
static void bury(struct ct_family *fam, struct ct_family_job *m)
{
    m->gone = true;
    if (!is_root(fam)) {
        struct evbuffer *body = evbuffer_new();
        ct_pack_text(body, m->nspace);
        send_to_head(fam->up, "", own_name(fam), CT_MSG_FAMILY_GONE, evbuffer_pullup(body, -1),
                     evbuffer_get_length(body));
        evbuffer_free(body);
        tell_over(fam, m->nspace);
        free_member(m);
        return;
    }
    announce_over(fam, m); /* before answers, so that who has one finds it forgotten */
    for (uint32_t i = 0; i < ct_jobdesc_ranks(m->desc); i++) {
        ct_published_ended(fam->published, m->published, i);
    }
    ct_family_meet_gone(fam, m);
    ct_family_get_gone(fam, m);
    if (ct_published_forget(fam->published, m->published)) {
        free_member(m);
    }
}

/* ---- requests, at the root ------------------------------------------------------------------- */

static void end_rank(struct ct_family *fam, struct ct_family_job *from, struct ct_unpack *in)
{
    uint32_t rank = ct_unpack_u32(in);
    in->bad |= rank >= ct_jobdesc_ranks(from->desc);
    if (!in->bad) {
        ct_published_ended(fam->published, from->published, rank);
        ct_family_meet_ended(fam, from, rank);
        ct_family_get_ended(fam, from, rank);
    }
}

static void serve(struct ct_family *fam, struct ct_family_job *from, enum ct_msg_type type,
                  struct ct_unpack *in)
{
    switch (type) {
    case CT_MSG_DATA_ASK:
        ct_published_take(fam->published, from->published, in);
        break;
    case CT_MSG_DATA_TAKEN:
        ct_published_taken(fam->published, from->published, in);
        break;
    case CT_MSG_FAMILY_ENDED:
        end_rank(fam, from, in);
        break;
    case CT_MSG_FAMILY_MEET:
        ct_family_meet(fam, from, in);
        break;
    case CT_MSG_FAMILY_GIVE_UP:
        ct_family_meet_give_up(fam, from, in);
        break;
    case CT_MSG_FAMILY_GET:
        ct_family_get(fam, from, in);
        break;
    case CT_MSG_FAMILY_FOUND:
        ct_family_found(fam, from, in);
        break;
    default:
        in->bad = true;
    }
}

/* ---- messages from other heads --------------------------------------------------------------- */

/* From below: jobs that come and go are noted on the way, all else is the root's. */
static void on_below(void *arg, enum ct_msg_type outer, struct ct_unpack *in)
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
    if (type == CT_MSG_FAMILY_BORN) {
        in->bad = take_born(fam, link, from->nspace, in) == NULL;
    } else if (type == CT_MSG_FAMILY_GONE) {
        struct ct_family_job *m = ct_family_find(fam, ct_unpack_text(in));
        in->bad |= m == NULL || m->link != link; /* each tells of jobs below it alone */
        if (!in->bad && is_root(fam)) {
            bury(fam, m);
        } else if (!in->bad) {
            free_member(m); /* the word goes on */
        }
    } else if (is_root(fam)) {
        serve(fam, from, type, in);
    }
    if (!in->bad && !is_root(fam)) {
        ct_conn_send_bytes(fam->up, CT_MSG_FAMILY, all.at, all.left);
    }
}

/* From above: for us, or for a job below. */
static void on_above(void *arg, enum ct_msg_type outer, struct ct_unpack *in)
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
    if (strcmp(to, own_name(fam)) == 0 && type == CT_MSG_FAMILY_JOB) {
        take_announced(fam, in);
    } else if (strcmp(to, own_name(fam)) == 0 && type == CT_MSG_FAMILY_GONE) {
        take_over(fam, in);
    } else if (strcmp(to, own_name(fam)) == 0) {
        ct_router_down(&fam->h->router, type, in);
    } else if (m != NULL) {
        ct_conn_send_bytes(m->link->conn, CT_MSG_FAMILY, all.at, all.left);
    }
}

/* A stream that just ends tells nothing: the process of a job below does, and we end with whoever
 * is above. One that cannot be used any more would leave ranks waiting for answers: this job ends,
 * and those below with it. */
static void end_senseless(struct ct_head *h, const char *who, const char *why, uint32_t grace_ms)
{
    if (ct_head_fail(h, CT_EXIT_INTERNAL)) {
        ct_head_message(h, "cannot go on with the job %s: %s; this one is ended", who, why);
    }
    ct_head_ask_to_end(h, grace_ms);
    ct_head_watch_daemon(h);
}

static void on_below_gone(void *arg, const char *why)
{
    struct ct_family_link *link = arg;
    if (ct_conn_was_senseless(link->conn)) {
        end_senseless(link->fam->h, "that a rank has spawned", why, CT_TERM_GRACE_MS);
    }
}

static void on_above_gone(void *arg, const char *why)
{
    struct ct_family *fam = arg;
    if (ct_conn_was_senseless(fam->up)) {
        end_senseless(fam->h, "around this one", why, 0);
    }
}

/* ---- this job -------------------------------------------------------------------------------- */

void ct_family_take(struct ct_family *fam, enum ct_msg_type type, struct ct_unpack *in)
{
    if (is_root(fam)) {
        serve(fam, ct_family_find(fam, own_name(fam)), type, in);
    } else {
        send_to_head(fam->up, "", own_name(fam), type, in->at, in->left);
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
        link->conn = ct_conn_create(fam->h->base, fd, fd, on_below, on_below_gone, link);
    }
    if (link == NULL || link->conn == NULL) {
        close(fd);
        free(link);
        return NULL;
    }
    ct_family_job_pack(body, nspace,
                       &(struct ct_jobdesc){.apps = place->apps,
                                            .napps = place->napps,
                                            .nodes = place->nodes,
                                            .nnodes = place->nnodes});
    struct ct_unpack in = ct_unpack_of(body);
    if (!is_root(fam)) {
        send_to_head(fam->up, "", own_name(fam), CT_MSG_FAMILY_BORN, in.at, in.left);
    }
    struct ct_family_job *m = take_born(fam, link, own_name(fam), &in);
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
            bury(link->fam, m);
        }
    }
    ct_conn_destroy(link->conn);
    free(link);
}

/* ---- the whole ------------------------------------------------------------------------------- */

struct ct_family *ct_family_create(struct ct_head *h, int up_fd)
{
    struct ct_family *fam = calloc(1, sizeof *fam);
    struct ct_jobdesc none = {0};
    if (fam == NULL) {
        return NULL;
    }
    fam->h = h;
    ct_list_init(&fam->members);
    ct_list_init(&fam->announced);
    ct_list_init(&fam->meetings);
    ct_list_init(&fam->gets);
    if (up_fd >= 0) {
        fam->up = ct_conn_create(h->base, up_fd, up_fd, on_above, on_above_gone, fam);
    } else {
        fam->published = ct_published_create(h->base, on_answer, fam);
    }
    bool ok = up_fd >= 0
                  ? fam->up != NULL && keep_first(fam)
                  : fam->published != NULL && add_member(fam, NULL, own_name(fam), &none) != NULL;
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
    ct_family_meet_fini(fam);
    ct_family_get_fini(fam);
    ct_published_destroy(fam->published); /* borrows what members have */
    CT_LIST_FOR (l, &fam->members) {
        free_member(CT_LIST_ENTRY(l, struct ct_family_job, node));
    }
    CT_LIST_FOR (l, &fam->announced) {
        forget(fam, CT_LIST_ENTRY(l, struct announced, node));
    }
    ct_conn_destroy(fam->up);
    free(fam);
}
