/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages of an agreement, and its tree: of the members that are not excluded, in their order,
 * number i is the parent of CT_FT_RADIX * i + 1 and those that follow. A body is a value and two
 * sets; what peers send is checked for its length and for numbers of phases and members.
 */
#define CT_FOLDER "ft"
#include <inttypes.h>
#include <stdlib.h>

#include "ft/own.h"

/* ---- the tree -------------------------------------------------------------------------------- */

/* How many of the members before `member` are in the tree. */
static uint32_t place_of(const struct ct_ft_op *op, uint32_t member)
{
    uint32_t place = 0;
    for (uint32_t i = 0; i < member; i++) {
        place += !ct_ft_has(op->excluded, i);
    }
    return place;
}

/* The member at a place of the tree; UINT32_MAX: there is none. */
static uint32_t member_at(const struct ct_ft_op *op, uint32_t place)
{
    for (uint32_t i = 0; i < op->n; i++) {
        if (!ct_ft_has(op->excluded, i) && place-- == 0) {
            return i;
        }
    }
    return UINT32_MAX;
}

/* ---- sending --------------------------------------------------------------------------------- */

struct message {
    struct ct_ep_op op;
    struct ct_area  area;
    char            body[];
};

static void sent(struct ct_ep_op *op, int status)
{
    (void)status;
    free(CT_CONTAINER_OF(op, struct message, op));
}

void ct_ft_send(struct ct_ep *to, uint8_t id, const void *hdr, size_t hdr_len, const void *body,
                size_t len_bytes)
{
    struct message *m = calloc(1, sizeof *m + len_bytes);
    if (m == NULL) {
        ct_ep_fail(to, CTRAN_ERR_NO_MEM);
        return;
    }
    m->op.id = id;
    m->op.hdr_len = (uint8_t)hdr_len;
    m->op.done = sent;
    memcpy(m->op.hdr, hdr, hdr_len);
    if (len_bytes > 0) {
        memcpy(m->body, body, len_bytes);
        m->area = (struct ct_area){.base = m->body, .len_bytes = len_bytes};
        m->op.area = &m->area;
        m->op.len_bytes = len_bytes;
    }
    if (ct_ep_send(to, &m->op) != CT_QUEUED) {
        free(m);
    }
}

static size_t body_bytes(uint32_t n)
{
    return sizeof(struct ct_ft_value) + 2 * ((size_t)(n + 63) / 64) * sizeof(uint64_t);
}

static void send_to(struct ct_ft_op *op, uint32_t member, uint8_t id, uint32_t phase,
                    const void *body) CT_IN_DOMAIN
{
    const struct ct_ft_hdr hdr = {op->key, op->ballot, phase, op->n};
    struct ct_ep          *ep = ct_ep_get(op->comm->p, ct_ft_id_of(op->comm, member));
    if (ep != NULL) {
        ct_ft_send(ep, id, &hdr, sizeof hdr, body, body != NULL ? body_bytes(op->n) : 0);
    }
}

/* A value and two sets behind each other. */
static void pack(const struct ct_ft_op *op, const struct ct_ft_value *v, const uint64_t *a,
                 const uint64_t *b, char *body)
{
    const size_t bytes = op->words * sizeof *a;
    memcpy(body, v, sizeof *v);
    memcpy(body + sizeof *v, a, bytes);
    memcpy(body + sizeof *v + bytes, b, bytes);
}

enum { MOST_BODY = sizeof(struct ct_ft_value) + 2 * CT_FT_MOST / 8 };

uint32_t ct_ft_send_down(struct ct_ft_op *op)
{
    char           body[MOST_BODY];
    const uint32_t first = place_of(op, op->me) * CT_FT_RADIX + 1;
    uint32_t       n = 0;
    pack(op, &op->value.v, op->excluded, op->value.failed, body);
    for (; n < CT_FT_RADIX; n++) {
        const uint32_t child = member_at(op, first + n);
        if (child == UINT32_MAX) {
            break;
        }
        send_to(op, child, op->comm->p->ft->down, op->phase,
                op->phase != CT_FT_FORGET ? body : NULL);
    }
    return n;
}

void ct_ft_send_up(struct ct_ft_op *op)
{
    char           body[MOST_BODY];
    const uint32_t parent = member_at(op, (place_of(op, op->me) - 1) / CT_FT_RADIX);
    const bool     parts = op->phase == CT_FT_COLLECT;
    if (parts) {
        pack(op, &op->sum.v, op->sum.failed, op->sum.acked, body);
    }
    send_to(op, parent, op->comm->p->ft->up, op->phase, parts ? body : NULL);
}

void ct_ft_send_ask(struct ct_ft_op *op)
{
    send_to(op, ct_ft_leader(op), op->comm->p->ft->ask, op->phase, NULL);
}

bool ct_ft_unpack(struct ct_ep *from, const void *hdr, size_t hdr_len, void *wire, size_t len)
{
    if (hdr_len != len) {
        ct_error(&from->p->log,
                 "rank %" PRIu32 " sent a header of %zu bytes instead of %zu; it is treated as "
                 "failed",
                 from->id, hdr_len, len);
        ct_ep_fail(from, CTRAN_ERR_INTERN);
        return false;
    }
    memcpy(wire, hdr, len);
    return true;
}

/* ---- arriving -------------------------------------------------------------------------------- */

/* Reads a header; false: the peer has failed by sending nonsense. */
static bool unpack(struct ct_ep *from, const void *bytes, size_t hdr_len,
                   struct ct_ft_hdr *hdr) CT_IN_DOMAIN
{
    if (!ct_ft_unpack(from, bytes, hdr_len, hdr, sizeof *hdr)) {
        return false;
    }
    const bool sane = hdr->phase > CT_FT_PHASE_NONE && hdr->phase < CT_FT_PHASES && hdr->n > 0 &&
                      hdr->n <= CT_FT_MOST;
    if (!sane) {
        ct_ep_fail(from, CTRAN_ERR_INTERN);
    }
    return sane;
}

/* Whether a message has the body that it must have, for an agreement of so many members. */
static bool fits(struct ct_ep *from, const struct ct_ft_hdr *hdr, uint32_t n, size_t len_bytes,
                 bool has_body) CT_IN_DOMAIN
{
    const bool fits = hdr->n == n && len_bytes == (has_body ? body_bytes(n) : 0);
    if (!fits) {
        ct_error(&from->p->log,
                 "rank %" PRIu32 " sent a message of an agreement of %" PRIu32
                 " members with %zu bytes, where there are %" PRIu32
                 " members; that rank is treated as failed",
                 from->id, hdr->n, len_bytes, n);
        ct_ep_fail(from, CTRAN_ERR_INTERN);
    }
    return fits;
}

/* Memory for the sets of a body, which lie anywhere in a message. */
struct sets {
    struct ct_ft_value v;
    uint64_t           a[CT_FT_MOST / 64], b[CT_FT_MOST / 64];
};

static void unpack_body(const struct ct_ft_op *op, const void *body, struct sets *s)
{
    const size_t bytes = op->words * sizeof *s->a;
    const char  *at = body;
    memcpy(&s->v, at, sizeof s->v);
    memcpy(s->a, at + sizeof s->v, bytes);
    memcpy(s->b, at + sizeof s->v + bytes, bytes);
}

static void on_down(struct ct_ep *from, const void *bytes, size_t hdr_len, const void *body,
                    size_t len_bytes) CT_IN_DOMAIN
{
    struct ct_ft_hdr hdr;
    struct sets      s;
    if (!unpack(from, bytes, hdr_len, &hdr)) {
        return;
    }
    if (hdr.phase == CT_FT_FORGET) {
        struct ct_ft_op *op = ct_ft_op_find(from->p, &hdr.key);
        if (op != NULL) {
            ct_ft_on_forget(op, &hdr);
        }
        return;
    }
    struct ct_comm *comm =
        ct_ft_comm_for(from, hdr.key.comm, on_down, bytes, hdr_len, body, len_bytes);
    if (comm == NULL) {
        return;
    }
    if (fits(from, &hdr, ct_ft_size(comm), len_bytes, true)) {
        struct ct_ft_op *op = ct_ft_op_for(comm, &hdr.key);
        if (op != NULL) {
            unpack_body(op, body, &s);
            ct_ft_on_down(op, &hdr, &s.v, s.a, s.b);
        }
    }
    ct_comm_drop(comm);
}

static void on_up(struct ct_ep *from, const void *bytes, size_t hdr_len, const void *body,
                  size_t len_bytes) CT_IN_DOMAIN
{
    struct ct_ft_hdr hdr;
    struct sets      s;
    if (!unpack(from, bytes, hdr_len, &hdr)) {
        return;
    }
    struct ct_ft_op *op = ct_ft_op_find(from->p, &hdr.key);
    const bool       parts = hdr.phase == CT_FT_COLLECT;
    if (op == NULL || !fits(from, &hdr, op->n, len_bytes, parts)) {
        return; /* late: of a ballot that is over */
    }
    if (parts) {
        unpack_body(op, body, &s);
    }
    ct_ft_on_up(op, &hdr, &(struct ct_ft_view){s.v, s.a, s.b});
}

/* From one that has the result. All had given their part by then, so if nothing is kept here it was
 * forgotten. */
static void on_ask(struct ct_ep *from, const void *bytes, size_t hdr_len, const void *body,
                   size_t len_bytes) CT_IN_DOMAIN
{
    struct ct_ft_hdr hdr;
    (void)body, (void)len_bytes;
    if (unpack(from, bytes, hdr_len, &hdr) && ct_ft_op_find(from->p, &hdr.key) == NULL) {
        hdr.phase = CT_FT_FORGET;
        ct_ft_send(from, from->p->ft->down, &hdr, sizeof hdr, NULL, 0);
    }
}

void ct_ft_agree_register(struct ct_process *p)
{
    p->ft->down = ct_ep_register(p, on_down);
    p->ft->up = ct_ep_register(p, on_up);
    p->ft->ask = ct_ep_register(p, on_ask);
}
