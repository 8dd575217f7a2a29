/* SPDX-License-Identifier: BSD-3-Clause */
/* The jobs of a family, as a head sees them; see kin.h. Used by head.c, head_nodes.c, spawned.c. */
#include "config.h"
#include "kin.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "head_job.h"
#include "published.h"
#include "spawned_place.h"

/* A job that this head knows of: below it, or at the root any. */
struct member {
    struct ct_list      node;
    struct ct_kin_link *link; /* the way there; NULL: this job itself */
    char               *nspace;
    struct ct_jobdesc   desc; /* at the root: its ranks and hosts */
    struct ct_pub_job  *published;
    bool                gone;
};

struct ct_kin_link {
    struct ct_kin  *k;
    struct ct_conn *conn;
};

struct ct_kin {
    struct ct_head      *h;
    struct ct_conn      *up; /* NULL: we are the root */
    struct ct_list       members;
    struct ct_published *published; /* at the root */
};

static bool is_root(const struct ct_kin *k)
{
    return k->up == NULL;
}

static const char *own_name(const struct ct_kin *k)
{
    return k->h->args->desc->nspace;
}

static struct member *find_member(const struct ct_kin *k, const char *nspace)
{
    for (struct ct_list *l = k->members.next; l != &k->members; l = l->next) {
        struct member *m = CT_LIST_ENTRY(l, struct member, node);
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

/* From the root to a job, which may be itself, or be gone. */
static void send_down(struct ct_kin *k, const char *to, enum ct_msg_type type,
                      struct ct_unpack *message)
{
    struct member *m = find_member(k, to);
    if (m != NULL && m->link == NULL) {
        ct_hub_down(&k->h->hub, type, message);
    } else if (m != NULL) {
        send_kin(m->link->conn, to, "", type, message->at, message->left);
    }
}

static void on_answer(void *arg, const char *nspace, struct ct_unpack *message)
{
    send_down(arg, nspace, CT_MSG_DATA_ANSWER, message);
}

/* ---- who belongs to the family --------------------------------------------------------------- */

static void free_member(struct member *m)
{
    ct_list_remove(&m->node);
    if (m->link != NULL) {
        ct_jobdesc_fini(&m->desc); /* of our own it is a loan */
    }
    free(m->nspace);
    free(m);
}

/* NULL when out of memory. The description is taken over in any case. */
static struct member *add_member(struct ct_kin *k, struct ct_kin_link *link, const char *nspace,
                                 struct ct_jobdesc *desc)
{
    struct member *m = calloc(1, sizeof *m);
    if (m == NULL) {
        ct_jobdesc_fini(desc);
        return NULL;
    }
    *m = (struct member){.link = link, .nspace = strdup(nspace), .desc = *desc};
    ct_list_append(&k->members, &m->node);
    bool ok = m->nspace != NULL;
    if (ok && is_root(k)) {
        const struct ct_jobdesc *d = link != NULL ? &m->desc : k->h->args->desc;
        m->published = ct_published_add(k->published, m->nspace, d);
        ok = m->published != NULL;
    }
    if (!ok) {
        free_member(m);
    }
    return ok ? m : NULL;
}

/* CT_MSG_KIN_BORN: text name, u32 programs, each: u32 ranks, u32 nodes, each: text host, u32 ranks.
 */
static void pack_born(struct evbuffer *body, const char *nspace,
                      const struct ct_spawned_place *place)
{
    ct_pack_text(body, nspace);
    ct_pack_u32(body, place->napps);
    for (uint32_t i = 0; i < place->napps; i++) {
        ct_pack_u32(body, place->apps[i].ranks);
    }
    ct_pack_u32(body, place->nnodes);
    for (uint32_t i = 0; i < place->nnodes; i++) {
        ct_pack_text(body, place->nodes[i].host);
        ct_pack_u32(body, place->nodes[i].ranks);
    }
}

static bool unpack_born(struct ct_jobdesc *d, struct ct_unpack *in)
{
    *d = (struct ct_jobdesc){0};
    uint32_t n = ct_unpack_u32(in);
    d->apps = n <= in->left / 4 ? calloc((size_t)n + 1, sizeof *d->apps) : NULL;
    for (; d->apps != NULL && d->napps < n; d->napps++) {
        d->apps[d->napps].ranks = ct_unpack_u32(in);
    }
    n = ct_unpack_u32(in);
    d->nodes = n <= in->left / 9 ? calloc((size_t)n + 1, sizeof *d->nodes) : NULL;
    for (; d->nodes != NULL && d->nnodes < n; d->nnodes++) {
        d->nodes[d->nnodes].host = strdup(ct_unpack_text(in));
        d->nodes[d->nnodes].ranks = ct_unpack_u32(in);
        in->bad |= d->nodes[d->nnodes].host == NULL;
    }
    return d->apps != NULL && d->nodes != NULL && !in->bad && ct_jobdesc_map(d);
}

static struct member *take_born(struct ct_kin *k, struct ct_kin_link *link, struct ct_unpack *in)
{
    struct ct_jobdesc d;
    const char       *nspace = ct_unpack_text(in);
    if (!unpack_born(&d, in)) {
        ct_jobdesc_fini(&d);
        return NULL;
    }
    return add_member(k, link, nspace, &d);
}

/* At the root it stays on the list as long as what it has published for the family does. */
static void bury(struct ct_kin *k, struct member *m)
{
    m->gone = true;
    if (!is_root(k)) {
        struct evbuffer *body = evbuffer_new();
        ct_pack_text(body, m->nspace);
        send_kin(k->up, "", own_name(k), CT_MSG_KIN_GONE, evbuffer_pullup(body, -1),
                 evbuffer_get_length(body));
        evbuffer_free(body);
        free_member(m);
        return;
    }
    for (uint32_t i = 0; i < ct_jobdesc_ranks(&m->desc); i++) {
        ct_published_ended(k->published, m->published, i);
    }
    if (ct_published_forget(k->published, m->published)) {
        free_member(m);
    }
}

/* ---- requests, at the root ------------------------------------------------------------------- */

static void serve(struct ct_kin *k, struct member *from, enum ct_msg_type type,
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
        ct_published_ended(k->published, from->published, ct_unpack_u32(in));
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
    struct member   *from = find_member(k, ct_unpack_text(in));
    enum ct_msg_type type = (enum ct_msg_type)ct_unpack_u32(in);
    in->bad |= outer != CT_MSG_KIN || from == NULL || from->link != link;
    if (in->bad) {
        return;
    }
    if (type == CT_MSG_KIN_BORN) {
        in->bad = take_born(k, link, in) == NULL;
    } else if (type == CT_MSG_KIN_GONE) {
        struct member *m = find_member(k, ct_unpack_text(in));
        if (m != NULL && is_root(k)) {
            bury(k, m);
        } else if (m != NULL) {
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
    struct member *m = find_member(k, to);
    if (strcmp(to, own_name(k)) == 0) {
        ct_hub_down(&k->h->hub, type, in);
    } else if (m != NULL) {
        ct_conn_send_bytes(m->link->conn, CT_MSG_KIN, all.at, all.left);
    }
}

/* Its process tells more: whoever is below ends, and we end with whoever is above. */
static void on_gone(void *arg, const char *why)
{
    (void)arg, (void)why;
}

/* ---- this job -------------------------------------------------------------------------------- */

void ct_kin_take(struct ct_kin *k, enum ct_msg_type type, struct ct_unpack *in)
{
    if (is_root(k)) {
        serve(k, find_member(k, own_name(k)), type, in);
    } else {
        send_kin(k->up, "", own_name(k), type, in->at, in->left);
    }
}

void ct_kin_ended(struct ct_kin *k, uint32_t rank)
{
    struct evbuffer *body = evbuffer_new();
    ct_pack_u32(body, rank);
    struct ct_unpack in = {.at = evbuffer_pullup(body, -1), .left = evbuffer_get_length(body)};
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
        link->conn = ct_conn_create(k->h->base, fd, fd, on_below, on_gone, link);
    }
    if (link == NULL || link->conn == NULL) {
        close(fd);
        free(link);
        return NULL;
    }
    pack_born(body, nspace, place);
    struct ct_unpack in = {.at = evbuffer_pullup(body, -1), .left = evbuffer_get_length(body)};
    if (!is_root(k)) {
        send_kin(k->up, "", own_name(k), CT_MSG_KIN_BORN, in.at, in.left);
    }
    struct member *m = take_born(k, link, &in);
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
        struct member *m = CT_LIST_ENTRY(l, struct member, node);
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
    if (up_fd >= 0) {
        k->up = ct_conn_create(h->base, up_fd, up_fd, on_above, on_gone, k);
    } else {
        k->published = ct_published_create(h->base, on_answer, k);
    }
    bool ok = up_fd >= 0 ? k->up != NULL
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
    ct_published_destroy(k->published); /* borrows what members have */
    CT_LIST_FOR (l, &k->members) {
        free_member(CT_LIST_ENTRY(l, struct member, node));
    }
    ct_conn_destroy(k->up);
    free(k);
}
