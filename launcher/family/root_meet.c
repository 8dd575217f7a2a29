/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks of several jobs that meet; see root_meet.h. The kind of a meeting and its list of ranks
 * identify the meeting; every daemon sends them with the same bytes. There is one meeting at a time
 * of each list, because a rank comes to the next only after this one. Used by root.c.
 */
#include "config.h"
#include "launcher/family/root_meet.h"

#include <stdlib.h>
#include <string.h>

#include "launcher/family/members.h"

/* A node of a job, whose ranks come together. */
struct party {
    const struct ct_family_job *member;
    uint32_t                    node, number;
    bool                        arrived;
};

struct meeting {
    struct ct_list node;
    uint8_t       *key; /* kind and ranks, as in the message */
    size_t         key_len;
    struct party  *parties;
    uint32_t       n, arrived;
};

static void free_meeting(struct meeting *m)
{
    ct_list_remove(&m->node);
    free(m->parties);
    free(m->key);
    free(m);
}

/* ---- answers --------------------------------------------------------------------------------- */

static void meeting_tell(struct ct_family *fam, const struct ct_family_job *to, uint32_t node,
                         uint32_t number, enum ct_family_status status)
{
    struct evbuffer *body = evbuffer_new();
    ct_pack_u32(body, node);
    ct_pack_u32(body, number);
    ct_pack_u32(body, status);
    ct_family_send(fam, to, CT_MSG_FAMILY_MET, body);
    evbuffer_free(body);
}

/* The meeting is over for all nodes that have come. */
static void meeting_finish(struct ct_family *fam, struct meeting *m, enum ct_family_status status)
{
    for (uint32_t i = 0; i < m->n; i++) {
        const struct party *p = &m->parties[i];
        if (p->arrived) {
            meeting_tell(fam, p->member, p->node, p->number, status);
        }
    }
    free_meeting(m);
}

/* ---- who takes part -------------------------------------------------------------------------- */

/* The next rank of a key, which starts behind the kind and the number of ranks. */
static bool next_rank(struct ct_unpack *in, const char **nspace, uint32_t *rank)
{
    if (in->left == 0) {
        return false;
    }
    *nspace = ct_unpack_text(in);
    *rank = ct_unpack_u32(in);
    return !in->bad;
}

static struct ct_unpack ranks_of(const struct meeting *m)
{
    struct ct_unpack in = {.at = m->key, .left = m->key_len};
    (void)ct_unpack_u32(&in);
    (void)ct_unpack_u32(&in);
    return in;
}

static struct party *find_party(struct meeting *m, const struct ct_family_job *member,
                                uint32_t node)
{
    for (uint32_t i = 0; i < m->n; i++) {
        if (m->parties[i].member == member && m->parties[i].node == node) {
            return &m->parties[i];
        }
    }
    return NULL;
}

static bool add_party(struct meeting *m, const struct ct_family_job *member, uint32_t node)
{
    if (find_party(m, member, node) != NULL) {
        return true;
    }
    struct party *more = realloc(m->parties, (m->n + 1) * sizeof *more);
    if (more == NULL) {
        return false;
    }
    m->parties = more;
    m->parties[m->n++] = (struct party){.member = member, .node = node};
    return true;
}

/* Whether one of the ranks has ended already. */
static bool is_dead(const struct ct_family_job *m, uint32_t rank)
{
    bool dead = rank != CT_FAMILY_ALL && ct_family_has_ended(m, rank);
    for (uint32_t i = 0; rank == CT_FAMILY_ALL && i < ct_jobdesc_ranks(m->desc); i++) {
        dead |= ct_family_has_ended(m, i);
    }
    return dead;
}

static enum ct_family_status meeting_add_rank(struct meeting *m, const struct ct_family_job *member,
                                              uint32_t rank)
{
    if (member == NULL || (rank != CT_FAMILY_ALL && rank >= ct_jobdesc_ranks(member->desc))) {
        return CT_FAMILY_NOT_FOUND;
    }
    bool ok = rank == CT_FAMILY_ALL || add_party(m, member, member->desc->ranks.node_of[rank]);
    for (uint32_t i = 0; ok && rank == CT_FAMILY_ALL && i < member->desc->nnodes; i++) {
        ok = member->desc->nodes[i].ranks == 0 || add_party(m, member, i);
    }
    return !ok ? CT_FAMILY_NO_MEMORY : is_dead(member, rank) ? CT_FAMILY_LOST : CT_FAMILY_OK;
}

/* Begins a meeting, or returns why it cannot be. */
static enum ct_family_status meeting_begin(struct ct_family *fam, const struct ct_unpack *key,
                                           struct meeting **out)
{
    struct meeting *m = calloc(1, sizeof *m);
    uint8_t        *copy = malloc(key->left);
    if (m == NULL || copy == NULL) {
        free(m);
        free(copy);
        return CT_FAMILY_NO_MEMORY;
    }
    memcpy(copy, key->at, key->left);
    *m = (struct meeting){.key = copy, .key_len = key->left};
    ct_list_append(&fam->meetings, &m->node);
    struct ct_unpack      in = ranks_of(m);
    const char           *nspace;
    uint32_t              rank;
    enum ct_family_status status = CT_FAMILY_OK;
    while (status == CT_FAMILY_OK && next_rank(&in, &nspace, &rank)) {
        status = meeting_add_rank(m, ct_family_find(fam, nspace), rank);
    }
    if (status != CT_FAMILY_OK) {
        free_meeting(m);
        return status;
    }
    *out = m;
    return CT_FAMILY_OK;
}

static struct meeting *meeting_find(const struct ct_family *fam, const struct ct_unpack *key)
{
    for (struct ct_list *l = fam->meetings.next; l != &fam->meetings; l = l->next) {
        struct meeting *m = CT_LIST_ENTRY(l, struct meeting, node);
        if (m->key_len == key->left && memcmp(m->key, key->at, key->left) == 0) {
            return m;
        }
    }
    return NULL;
}

/* Whether it is a kind and so many ranks, and nothing else. */
static bool is_key(struct ct_unpack in)
{
    const char *nspace;
    uint32_t    kind = ct_unpack_u32(&in), n = ct_unpack_u32(&in), rank, found = 0;
    while (next_rank(&in, &nspace, &rank)) {
        found++;
    }
    return !in.bad && kind < CT_FAMILY_KINDS && found == n && n > 0;
}

/* ---- what is told of it ---------------------------------------------------------------------- */

void ct_family_meet(struct ct_family *fam, struct ct_family_job *from, struct ct_unpack *in)
{
    uint32_t node = ct_unpack_u32(in), number = ct_unpack_u32(in);
    in->bad |= node >= from->desc->nnodes || !is_key(*in);
    if (in->bad) {
        return;
    }
    struct meeting       *m = meeting_find(fam, in);
    enum ct_family_status status = m != NULL ? CT_FAMILY_OK : meeting_begin(fam, in, &m);
    struct party         *p = status == CT_FAMILY_OK ? find_party(m, from, node) : NULL;
    if (status != CT_FAMILY_OK) {
        meeting_tell(fam, from, node, number, status);
        return;
    }
    if (p == NULL || p->arrived) { /* the asking node takes no part, or has come already */
        meeting_tell(fam, from, node, number, CT_FAMILY_NOT_FOUND);
        if (m->arrived == 0) {
            free_meeting(m);
        }
        return;
    }
    p->arrived = true;
    p->number = number;
    if (++m->arrived == m->n) {
        meeting_finish(fam, m, CT_FAMILY_OK);
    }
}

void ct_family_meet_give_up(struct ct_family *fam, const struct ct_family_job *from,
                            struct ct_unpack *in)
{
    uint32_t node = ct_unpack_u32(in), number = ct_unpack_u32(in);
    CT_LIST_FOR (l, &fam->meetings) {
        struct meeting *m = CT_LIST_ENTRY(l, struct meeting, node);
        struct party   *p = in->bad ? NULL : find_party(m, from, node);
        if (p != NULL && p->arrived && p->number == number) {
            p->arrived = false;
            if (--m->arrived == 0) {
                free_meeting(m);
            }
        }
    }
}

/* Whether the rank takes part and its node has not come yet. */
static bool meeting_is_missing(struct meeting *m, const struct ct_family_job *member, uint32_t rank)
{
    struct ct_unpack in = ranks_of(m);
    const char      *nspace;
    uint32_t         named;
    bool             part = false;
    while (next_rank(&in, &nspace, &named)) {
        part |= (named == rank || named == CT_FAMILY_ALL) && strcmp(nspace, member->nspace) == 0;
    }
    const struct party *p = part ? find_party(m, member, member->desc->ranks.node_of[rank]) : NULL;
    return p != NULL && !p->arrived;
}

void ct_family_meet_ended(struct ct_family *fam, const struct ct_family_job *m, uint32_t rank)
{
    CT_LIST_FOR (l, &fam->meetings) {
        struct meeting *meeting = CT_LIST_ENTRY(l, struct meeting, node);
        if (meeting_is_missing(meeting, m, rank)) {
            meeting_finish(fam, meeting, CT_FAMILY_LOST);
        }
    }
}

void ct_family_meet_gone(struct ct_family *fam, const struct ct_family_job *m)
{
    CT_LIST_FOR (l, &fam->meetings) {
        struct meeting *meeting = CT_LIST_ENTRY(l, struct meeting, node);
        bool            part = false;
        for (uint32_t i = 0; i < meeting->n; i++) {
            part |= meeting->parties[i].member == m;
        }
        if (part) {
            meeting_finish(fam, meeting, CT_FAMILY_LOST);
        }
    }
}

void ct_family_meet_fini(struct ct_family *fam)
{
    CT_LIST_FOR (l, &fam->meetings) {
        free_meeting(CT_LIST_ENTRY(l, struct meeting, node));
    }
}
