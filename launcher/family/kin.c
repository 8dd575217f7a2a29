/* SPDX-License-Identifier: BSD-3-Clause */
/* The jobs of a family, as a head sees them; see kin.h. Used by head/run.c, head/nodes.c,
 * spawned.c. */
#include "config.h"
#include "launcher/family/kin.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "launcher/head/state.h"
#include "launcher/family/kin_root.h"
#include "launcher/launcher.h"
#include "launcher/family/spawned_place.h"

struct ct_kin_link {
    struct ct_kin  *k;
    struct ct_conn *conn;
};

static bool is_root(const struct ct_kin *k)
{
    return k->up == NULL;
}

static const char *own_name(const struct ct_kin *k)
{
    return k->h->args->desc->nspace;
}

struct ct_kin_member *ct_kin_find(const struct ct_kin *k, const char *nspace)
{
    for (struct ct_list *l = k->members.next; l != &k->members; l = l->next) {
        struct ct_kin_member *m = CT_LIST_ENTRY(l, struct ct_kin_member, node);
        if (!m->gone && strcmp(m->nspace, nspace) == 0) {
            return m;
        }
    }
    return NULL;
}

/* ---- messages to other heads ----------------------------------------------------------------- */

static void send_kin(struct ct_conn *conn, const char *to, const char *from, enum ct_msg_type type,
                     const void *data, size_t len)
{
    struct evbuffer *body = evbuffer_new();
    ct_pack_text(body, to);
    ct_pack_text(body, from);
    ct_pack_u32(body, type);
    evbuffer_add(body, data, len);
    ct_conn_send(conn, CT_MSG_KIN, body);
    evbuffer_free(body);
}

static void send_down(struct ct_kin *k, const struct ct_kin_member *to, enum ct_msg_type type,
                      struct ct_unpack *message)
{
    if (to->link == NULL) {
        ct_hub_down(&k->h->hub, type, message);
    } else {
        send_kin(to->link->conn, to->nspace, "", type, message->at, message->left);
    }
}

void ct_kin_send(struct ct_kin *k, const struct ct_kin_member *to, enum ct_msg_type type,
                 struct evbuffer *body)
{
    struct ct_unpack in = ct_unpack_of(body);
    if (!to->gone) {
        send_down(k, to, type, &in);
    }
}

static void on_answer(void *arg, const char *nspace, struct ct_unpack *message)
{
    struct ct_kin              *k = arg;
    const struct ct_kin_member *m = ct_kin_find(k, nspace);
    if (m != NULL) {
        send_down(k, m, CT_MSG_DATA_ANSWER, message);
    }
}

/* ---- who belongs to the family --------------------------------------------------------------- */

static void free_member(struct ct_kin_member *m)
{
    ct_list_remove(&m->node);
    ct_jobdesc_fini(&m->own);
    free(m->nspace);
    free(m);
}

/* NULL when out of memory. The description is taken over in any case. */
static struct ct_kin_member *add_member(struct ct_kin *k, struct ct_kin_link *link,
                                        const char *nspace, struct ct_jobdesc *desc)
{
    struct ct_kin_member *m = calloc(1, sizeof *m);
    if (m == NULL) {
        ct_jobdesc_fini(desc);
        return NULL;
    }
    *m = (struct ct_kin_member){.link = link, .nspace = strdup(nspace), .own = *desc};
    m->desc = link != NULL ? &m->own : k->h->args->desc;
    ct_list_append(&k->members, &m->node);
    bool ok = m->nspace != NULL;
    if (ok && is_root(k)) {
        m->published = ct_published_add(k->published, m->nspace, m->desc);
        ok = m->published != NULL;
    }
    if (!ok) {
        free_member(m);
    }
    return ok ? m : NULL;
}

void ct_kin_pack(struct evbuffer *body, const char *nspace, const struct ct_jobdesc *d)
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
static void announce(struct ct_kin *k, const char *first, const struct ct_kin_member *born)
{
    struct evbuffer *body = evbuffer_new();
    ct_kin_pack(body, born->nspace, born->desc);
    struct ct_unpack in = ct_unpack_of(body);
    if (strcmp(first, own_name(k)) == 0) {
        ct_hub_down(&k->h->hub, CT_MSG_KIN_JOB, &in);
    }
    for (struct ct_list *l = k->members.next; is_root(k) && l != &k->members; l = l->next) {
        struct ct_kin_member *m = CT_LIST_ENTRY(l, struct ct_kin_member, node);
        if (m != born && !m->gone && strcmp(m->nspace, first) != 0) {
            struct ct_unpack copy = in;
            send_down(k, m, CT_MSG_KIN_JOB, &copy);
        }
    }
    evbuffer_free(body);
}

/* Jobs that are there beside those below: the elders, which this one was told of as it began, and
 * those that were announced from above since, as they came. Daemons that were not there yet are to
 * know these before their ranks start, and so are jobs spawned later. */
struct heard {
    struct ct_list node;
    bool           elder;
    bool           over; /* an elder of which some daemons may be told before they hear this */
    size_t         len_bytes;
    uint8_t        job[]; /* as in KIN_JOB */
};

static void forget(struct ct_kin *k, struct heard *e)
{
    ct_list_remove(&e->node);
    k->heard_bytes -= e->elder ? 0 : e->len_bytes;
    free(e);
}

static bool has_heard(const struct ct_kin *k, const struct ct_unpack *job)
{
    for (struct ct_list *l = k->heard.next; l != &k->heard; l = l->next) {
        const struct heard *e = CT_LIST_ENTRY(l, struct heard, node);
        if (e->len_bytes == job->left && memcmp(e->job, job->at, job->left) == 0) {
            return true;
        }
    }
    return false;
}

static const char *name_of(const struct heard *e)
{
    struct ct_unpack in = {.at = e->job, .left = e->len_bytes};
    return ct_unpack_text(&in);
}

static struct heard *find_heard(const struct ct_kin *k, const char *nspace)
{
    for (struct ct_list *l = k->heard.next; l != &k->heard; l = l->next) {
        struct heard *e = CT_LIST_ENTRY(l, struct heard, node);
        if (!e->over && strcmp(name_of(e), nspace) == 0) {
            return e;
        }
    }
    return NULL;
}

/* The oldest that counts; NULL: there is none. */
static struct heard *oldest(const struct ct_kin *k)
{
    for (struct ct_list *l = k->heard.next; l != &k->heard; l = l->next) {
        struct heard *e = CT_LIST_ENTRY(l, struct heard, node);
        if (!e->elder) {
            return e;
        }
    }
    return NULL;
}

/* Where there are too many the oldest go, but for the elders. False when out of memory. */
static bool keep_heard(struct ct_kin *k, const void *job, size_t len_bytes, bool elder)
{
    struct heard *e = malloc(sizeof *e + len_bytes), *old;
    if (e == NULL) {
        return false;
    }
    e->elder = elder;
    e->over = false;
    e->len_bytes = len_bytes;
    memcpy(e->job, job, len_bytes);
    ct_list_append(&k->heard, &e->node);
    k->heard_bytes += elder ? 0 : len_bytes;
    while (k->heard_bytes > CT_KIN_HEARD_MAX && (old = oldest(k)) != e) {
        forget(k, old);
    }
    return true;
}

/* The jobs of this one's description. */
static bool keep_elders(struct ct_kin *k)
{
    const struct ct_jobdesc *own = k->h->args->desc;
    struct ct_unpack         in = {.at = own->kin, .left = own->kin_len};
    while (in.left > 0) {
        const uint8_t    *job = in.at;
        struct ct_jobdesc d;
        (void)ct_unpack_text(&in);
        bool ok = ct_kin_unpack(&d, &in);
        ct_jobdesc_fini(&d);
        if (!ok || !keep_heard(k, job, (size_t)(in.at - job), true)) {
            return false;
        }
    }
    return true;
}

/* Another job, announced from above. It goes on to the jobs below, too: one that was not known
 * above yet when this was sent may have begun before it came. */
static void take_heard(struct ct_kin *k, struct ct_unpack *job)
{
    struct ct_unpack look = *job, copy = *job;
    const char      *nspace = ct_unpack_text(&look);
    if (look.bad || has_heard(k, job)) {
        job->bad = look.bad;
        return;
    }
    job->bad = !keep_heard(k, job->at, job->left, false);
    for (struct ct_list *l = k->members.next; !job->bad && l != &k->members; l = l->next) {
        struct ct_kin_member *m = CT_LIST_ENTRY(l, struct ct_kin_member, node);
        struct ct_unpack      below = *job;
        if (strcmp(m->nspace, nspace) != 0) {
            send_down(k, m, CT_MSG_KIN_JOB, &below);
        }
    }
    if (!job->bad) {
        ct_hub_down(&k->h->hub, CT_MSG_KIN_JOB, &copy);
    }
}

/* Our daemons hear that a job is over: no rank can ask for it with success any more. */
static void tell_over(struct ct_kin *k, const char *nspace)
{
    struct evbuffer *body = evbuffer_new();
    ct_pack_text(body, nspace);
    ct_hub_send_down(&k->h->hub, CT_MSG_KIN_GONE, body);
}

/* The root lets all others hear it. */
static void announce_over(struct ct_kin *k, const struct ct_kin_member *gone)
{
    struct evbuffer *body = evbuffer_new();
    ct_pack_text(body, gone->nspace);
    for (struct ct_list *l = k->members.next; l != &k->members; l = l->next) {
        const struct ct_kin_member *m = CT_LIST_ENTRY(l, struct ct_kin_member, node);
        if (m->link != NULL) {
            ct_kin_send(k, m, CT_MSG_KIN_GONE, body);
        }
    }
    evbuffer_free(body);
    tell_over(k, gone->nspace);
}

/* A job elsewhere is over. It goes on to the jobs below, as in take_heard: so what is not known
 * here has gone on before. */
static void take_over(struct ct_kin *k, struct ct_unpack *in)
{
    struct ct_unpack all = *in;
    const char      *nspace = ct_unpack_text(in);
    if (in->bad) {
        return;
    }
    tell_over(k, nspace);
    struct heard *e = find_heard(k, nspace);
    if (e == NULL) {
        return;
    }
    for (struct ct_list *l = k->members.next; l != &k->members; l = l->next) {
        struct ct_unpack below = all;
        send_down(k, CT_LIST_ENTRY(l, struct ct_kin_member, node), CT_MSG_KIN_GONE, &below);
    }
    e->over = true;
    if (k->ready || !e->elder) {
        forget(k, e);
    }
}

void ct_kin_ready(struct ct_kin *k)
{
    k->ready = true;
    CT_LIST_FOR (l, &k->heard) {
        struct heard    *e = CT_LIST_ENTRY(l, struct heard, node);
        struct ct_unpack in = {.at = e->job, .left = e->len_bytes};
        if (e->over) {
            tell_over(k, name_of(e));
            forget(k, e);
        } else if (!e->elder) {
            ct_hub_down(&k->h->hub, CT_MSG_KIN_JOB, &in);
        }
    }
}

void ct_kin_family(const struct ct_kin *k, const char *except, struct evbuffer *body)
{
    const struct ct_jobdesc *own = k->h->args->desc;
    ct_kin_pack(body, own_name(k), own);
    for (struct ct_list *l = k->heard.next; l != &k->heard; l = l->next) {
        const struct heard *e = CT_LIST_ENTRY(l, struct heard, node);
        evbuffer_add(body, e->job, e->over ? 0 : e->len_bytes);
    }
    for (struct ct_list *l = k->members.next; l != &k->members; l = l->next) {
        const struct ct_kin_member *m = CT_LIST_ENTRY(l, struct ct_kin_member, node);
        if (m->link != NULL && !m->gone && (except == NULL || strcmp(m->nspace, except) != 0)) {
            ct_kin_pack(body, m->nspace, m->desc);
        }
    }
}

static struct ct_kin_member *take_born(struct ct_kin *k, struct ct_kin_link *link,
                                       const char *first, struct ct_unpack *in)
{
    struct ct_jobdesc d;
    const char       *nspace = ct_unpack_text(in);
    bool              taken = strcmp(nspace, own_name(k)) == 0 || ct_kin_find(k, nspace) != NULL;
    if (!ct_kin_unpack(&d, in) || taken) {
        ct_jobdesc_fini(&d);
        return NULL;
    }
    struct ct_kin_member *m = add_member(k, link, nspace, &d);
    if (m != NULL) {
        announce(k, first, m);
    }
    return m;
}

/* At the root it stays on the list as long as what it has published for the family does. */
static void bury(struct ct_kin *k, struct ct_kin_member *m)
{
    m->gone = true;
    if (!is_root(k)) {
        struct evbuffer *body = evbuffer_new();
        ct_pack_text(body, m->nspace);
        send_kin(k->up, "", own_name(k), CT_MSG_KIN_GONE, evbuffer_pullup(body, -1),
                 evbuffer_get_length(body));
        evbuffer_free(body);
        tell_over(k, m->nspace);
        free_member(m);
        return;
    }
    announce_over(k, m); /* before answers, so that who has one finds it forgotten */
    for (uint32_t i = 0; i < ct_jobdesc_ranks(m->desc); i++) {
        ct_published_ended(k->published, m->published, i);
    }
    ct_kin_meet_gone(k, m);
    ct_kin_get_gone(k, m);
    if (ct_published_forget(k->published, m->published)) {
        free_member(m);
    }
}

/* ---- requests, at the root ------------------------------------------------------------------- */

static void end_rank(struct ct_kin *k, struct ct_kin_member *from, struct ct_unpack *in)
{
    uint32_t rank = ct_unpack_u32(in);
    in->bad |= rank >= ct_jobdesc_ranks(from->desc);
    if (!in->bad) {
        ct_published_ended(k->published, from->published, rank);
        ct_kin_meet_ended(k, from, rank);
        ct_kin_get_ended(k, from, rank);
    }
}

static void serve(struct ct_kin *k, struct ct_kin_member *from, enum ct_msg_type type,
                  struct ct_unpack *in)
{
    switch (type) {
    case CT_MSG_DATA_ASK:
        ct_published_take(k->published, from->published, in);
        break;
    case CT_MSG_DATA_TAKEN:
        ct_published_taken(k->published, from->published, in);
        break;
    case CT_MSG_KIN_ENDED:
        end_rank(k, from, in);
        break;
    case CT_MSG_KIN_MEET:
        ct_kin_meet(k, from, in);
        break;
    case CT_MSG_KIN_GIVE_UP:
        ct_kin_meet_give_up(k, from, in);
        break;
    case CT_MSG_KIN_GET:
        ct_kin_get(k, from, in);
        break;
    case CT_MSG_KIN_FOUND:
        ct_kin_found(k, from, in);
        break;
    default:
        in->bad = true;
    }
}

/* ---- messages from other heads --------------------------------------------------------------- */

/* From below: jobs that come and go are noted on the way, all else is the root's. */
static void on_below(void *arg, enum ct_msg_type outer, struct ct_unpack *in)
{
    struct ct_kin_link *link = arg;
    struct ct_kin      *k = link->k;
    struct ct_unpack    all = *in;
    (void)ct_unpack_text(in);
    struct ct_kin_member *from = ct_kin_find(k, ct_unpack_text(in));
    enum ct_msg_type      type = (enum ct_msg_type)ct_unpack_u32(in);
    in->bad |= outer != CT_MSG_KIN || from == NULL || from->link != link;
    if (in->bad) {
        return;
    }
    if (type == CT_MSG_KIN_BORN) {
        in->bad = take_born(k, link, from->nspace, in) == NULL;
    } else if (type == CT_MSG_KIN_GONE) {
        struct ct_kin_member *m = ct_kin_find(k, ct_unpack_text(in));
        in->bad |= m == NULL || m->link != link; /* each tells of jobs below it alone */
        if (!in->bad && is_root(k)) {
            bury(k, m);
        } else if (!in->bad) {
            free_member(m); /* the word goes on */
        }
    } else if (is_root(k)) {
        serve(k, from, type, in);
    }
    if (!in->bad && !is_root(k)) {
        ct_conn_send_bytes(k->up, CT_MSG_KIN, all.at, all.left);
    }
}

/* From above: for us, or for a job below. */
static void on_above(void *arg, enum ct_msg_type outer, struct ct_unpack *in)
{
    struct ct_kin   *k = arg;
    struct ct_unpack all = *in;
    const char      *to = ct_unpack_text(in);
    (void)ct_unpack_text(in);
    enum ct_msg_type type = (enum ct_msg_type)ct_unpack_u32(in);
    in->bad |= outer != CT_MSG_KIN;
    if (in->bad) {
        return;
    }
    struct ct_kin_member *m = ct_kin_find(k, to);
    if (strcmp(to, own_name(k)) == 0 && type == CT_MSG_KIN_JOB) {
        take_heard(k, in);
    } else if (strcmp(to, own_name(k)) == 0 && type == CT_MSG_KIN_GONE) {
        take_over(k, in);
    } else if (strcmp(to, own_name(k)) == 0) {
        ct_hub_down(&k->h->hub, type, in);
    } else if (m != NULL) {
        ct_conn_send_bytes(m->link->conn, CT_MSG_KIN, all.at, all.left);
    }
}

/* A stream that just ends tells nothing: the process of a job below does, and we end with whoever
 * is above. One that cannot be used any more would leave ranks waiting for answers: this job ends,
 * and those below with it. */
static void end_senseless(struct ct_head *h, const char *who, const char *why, uint32_t grace_ms)
{
    if (ct_head_fail(h, CT_EXIT_INTERNAL)) {
        ct_head_say(h, "cannot go on with the job %s: %s; this one is ended", who, why);
    }
    ct_head_ask_to_end(h, grace_ms);
    ct_head_watch_daemon(h);
}

static void on_below_gone(void *arg, const char *why)
{
    struct ct_kin_link *link = arg;
    if (ct_conn_was_senseless(link->conn)) {
        end_senseless(link->k->h, "that a rank has spawned", why, CT_TERM_GRACE_MS);
    }
}

static void on_above_gone(void *arg, const char *why)
{
    struct ct_kin *k = arg;
    if (ct_conn_was_senseless(k->up)) {
        end_senseless(k->h, "around this one", why, 0);
    }
}

/* ---- this job -------------------------------------------------------------------------------- */

void ct_kin_take(struct ct_kin *k, enum ct_msg_type type, struct ct_unpack *in)
{
    if (is_root(k)) {
        serve(k, ct_kin_find(k, own_name(k)), type, in);
    } else {
        send_kin(k->up, "", own_name(k), type, in->at, in->left);
    }
}

void ct_kin_ended(struct ct_kin *k, uint32_t rank)
{
    struct evbuffer *body = evbuffer_new();
    ct_pack_u32(body, rank);
    struct ct_unpack in = ct_unpack_of(body);
    ct_kin_take(k, CT_MSG_KIN_ENDED, &in);
    evbuffer_free(body);
}

struct ct_kin_link *ct_kin_add(struct ct_kin *k, const char *nspace,
                               const struct ct_spawned_place *place, int fd)
{
    struct ct_kin_link *link = calloc(1, sizeof *link);
    struct evbuffer    *body = evbuffer_new();
    if (link != NULL && body != NULL) {
        link->k = k;
        link->conn = ct_conn_create(k->h->base, fd, fd, on_below, on_below_gone, link);
    }
    if (link == NULL || link->conn == NULL) {
        close(fd);
        free(link);
        return NULL;
    }
    ct_kin_pack(body, nspace,
                &(struct ct_jobdesc){.apps = place->apps,
                                     .napps = place->napps,
                                     .nodes = place->nodes,
                                     .nnodes = place->nnodes});
    struct ct_unpack in = ct_unpack_of(body);
    if (!is_root(k)) {
        send_kin(k->up, "", own_name(k), CT_MSG_KIN_BORN, in.at, in.left);
    }
    struct ct_kin_member *m = take_born(k, link, own_name(k), &in);
    evbuffer_free(body);
    if (m == NULL) {
        ct_kin_remove(link);
        return NULL;
    }
    return link;
}

void ct_kin_remove(struct ct_kin_link *link)
{
    if (link == NULL) {
        return;
    }
    CT_LIST_FOR (l, &link->k->members) {
        struct ct_kin_member *m = CT_LIST_ENTRY(l, struct ct_kin_member, node);
        if (m->link == link && !m->gone) {
            bury(link->k, m);
        }
    }
    ct_conn_destroy(link->conn);
    free(link);
}

/* ---- the whole ------------------------------------------------------------------------------- */

struct ct_kin *ct_kin_create(struct ct_head *h, int up_fd)
{
    struct ct_kin    *k = calloc(1, sizeof *k);
    struct ct_jobdesc none = {0};
    if (k == NULL) {
        return NULL;
    }
    k->h = h;
    ct_list_init(&k->members);
    ct_list_init(&k->heard);
    ct_list_init(&k->meetings);
    ct_list_init(&k->gets);
    if (up_fd >= 0) {
        k->up = ct_conn_create(h->base, up_fd, up_fd, on_above, on_above_gone, k);
    } else {
        k->published = ct_published_create(h->base, on_answer, k);
    }
    bool ok = up_fd >= 0 ? k->up != NULL && keep_elders(k)
                         : k->published != NULL && add_member(k, NULL, own_name(k), &none) != NULL;
    if (!ok) {
        ct_kin_destroy(k);
        return NULL;
    }
    return k;
}

void ct_kin_destroy(struct ct_kin *k)
{
    if (k == NULL) {
        return;
    }
    ct_kin_meet_fini(k);
    ct_kin_get_fini(k);
    ct_published_destroy(k->published); /* borrows what members have */
    CT_LIST_FOR (l, &k->members) {
        free_member(CT_LIST_ENTRY(l, struct ct_kin_member, node));
    }
    CT_LIST_FOR (l, &k->heard) {
        forget(k, CT_LIST_ENTRY(l, struct heard, node));
    }
    ct_conn_destroy(k->up);
    free(k);
}
