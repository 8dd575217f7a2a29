/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Faults, a row of a table each: the functions that take the place of a transport's own, and what
 * some of them do. What such a function calls is the transport itself, `real`. Several put
 * operations off (`later`), one of which ends with each turn of
 * progress: without a fault that conforms, too, and shows that what is above does not depend on
 * operations that end at once.
 */
#define CT_FOLDER "test"
#include "mutants.h"

#include <stdio.h>
#include <stdlib.h>

struct mutant {
    const char *name;
    bool        one_sided; /* of a transport with CT_NET_RMA */
    bool        conforms;  /* no fault, but another way of doing things */

    /* In place of the transport's; NULL: its own. */
    int (*send)(struct ct_net_link *link, const struct ct_net_slice *slice);
    void (*check_peers)(struct ct_net *net);
    unsigned (*progress)(struct ct_net *net);
    struct ct_net_rma_ops rma;

    /* What mem_reg and post do to their arguments: reg_changed and post_changed. */
    void (*region)(struct ct_net_region *region);
    void (*op)(struct ct_net_rma *op);
    /* Of operations that are put off: which goes first, and whether it has been told as done. */
    bool last_first, tells_early;
};

static struct ct_net_ops     real;
static struct ct_net_rma_ops real_rma;
static const struct mutant  *mutant; /* the one that is tested */

/* ---- messages -------------------------------------------------------------------------------- */

enum { LONGEST = 1 << 20, EVERY = 37 };

static struct {
    struct ct_net_link *link;
    struct ct_net_slice slice; /* held back; type 0: none */
    char                hdr[CT_NET_MAX_HDR];
    struct ct_area      area;
    size_t              pos;
    unsigned            n;
} held;

static void take_copy(struct ct_net_link *link, const struct ct_net_slice *slice)
{
    static char bytes[LONGEST];
    size_t      pos = slice->area != NULL ? *slice->pos : 0;
    memcpy(held.hdr, slice->hdr, slice->hdr_len);
    if (slice->len_bytes > 0 && !ct_area_gather_all(slice->area, &pos, bytes, slice->len_bytes)) {
        abort();
    }
    held.link = link;
    held.area = (struct ct_area){.base = bytes, .len_bytes = slice->len_bytes};
    held.pos = 0;
    held.slice = *slice;
    held.slice.hdr = held.hdr;
    held.slice.area = &held.area;
    held.slice.pos = &held.pos;
}

static bool is_due(void)
{
    return ++held.n % EVERY == 0;
}

static int send_reordered(struct ct_net_link *link, const struct ct_net_slice *slice)
{
    if (held.slice.type == 0 && is_due()) {
        take_copy(link, slice);
        return CTRAN_SUCCESS;
    }
    const int rc = real.send(link, slice);
    if (rc == CTRAN_SUCCESS && held.slice.type != 0 && held.link == link &&
        real.send(link, &held.slice) == CTRAN_SUCCESS) {
        held.slice.type = 0;
    }
    return rc;
}

static int send_lost(struct ct_net_link *link, const struct ct_net_slice *slice)
{
    return is_due() ? CTRAN_SUCCESS : real.send(link, slice);
}

static int send_twice(struct ct_net_link *link, const struct ct_net_slice *slice)
{
    take_copy(link, slice);
    const int rc = real.send(link, slice);
    if (rc == CTRAN_SUCCESS && is_due()) {
        (void)real.send(link, &held.slice); /* there may be no room */
    }
    return rc;
}

static int send_spoilt(struct ct_net_link *link, const struct ct_net_slice *slice)
{
    take_copy(link, slice);
    if (slice->len_bytes > 0) {
        ((char *)held.area.base)[slice->len_bytes - 1] ^= 1;
    }
    return real.send(link, &held.slice);
}

static void look_away(struct ct_net *net)
{
    (void)net;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void no_dereg(struct ct_net_mr *mr)
{
    (void)mr;
}

static int reg_changed(struct ct_net *net, const struct ct_net_region *region,
                       struct ct_net_mr **mr)
{
    struct ct_net_region r = *region;
    mutant->region(&r);
    return real_rma.mem_reg(net, &r, mr);
}

static void give_all_rights(struct ct_net_region *region)
{
    region->access = UINT32_MAX;
}

static void let_all_peers(struct ct_net_region *region)
{
    region->peer = CT_NET_ANY_PEER;
}

static void lengthen(struct ct_net_region *region)
{
    region->len_bytes++;
}

/* ---- operations ------------------------------------------------------------------------------ */

static int post_changed(struct ct_net_link *link, struct ct_net_rma *const ops[], unsigned n,
                        unsigned *taken)
{
    int rc = CTRAN_SUCCESS;
    for (*taken = 0; *taken < n && rc == CTRAN_SUCCESS;) {
        struct ct_net_rma  op = *ops[*taken];
        struct ct_net_rma *one = &op;
        unsigned           took = 0;
        mutant->op(&op);
        rc = real_rma.post(link, &one, 1, &took);
        *taken += took;
    }
    return rc;
}

static void lose_byte(struct ct_net_rma *op)
{
    op->len_bytes -= op->op == CT_NET_OP_PUT && op->len_bytes > 0;
}

static void lose_notice(struct ct_net_rma *op)
{
    op->notify = false;
}

static void lose_result(struct ct_net_rma *op)
{
    op->result = NULL;
}

static int post_twice(struct ct_net_link *link, struct ct_net_rma *const ops[], unsigned n,
                      unsigned *taken)
{
    for (unsigned i = 0; i < n; i++) {
        struct ct_net_comp comp = {.pending = 1};
        struct ct_net_rma  op = *ops[i], *one = &op;
        unsigned           took;
        op.comp = &comp;
        if (op.op == CT_NET_OP_ATOMIC) {
            (void)real_rma.post(link, &one, 1, &took);
        }
    }
    return real_rma.post(link, ops, n, taken);
}

static int post_agreeing(struct ct_net_link *link, struct ct_net_rma *const ops[], unsigned n,
                         unsigned *taken)
{
    const int rc = real_rma.post(link, ops, n, taken);
    for (unsigned i = 0; i < *taken; i++) {
        ops[i]->comp->status = CTRAN_SUCCESS;
    }
    return rc;
}

/* ---- operations that end later --------------------------------------------------------------- */

struct later {
    struct ct_list      node;
    struct ct_net_link *link;
    struct ct_net_rma  *op; /* NULL: a flush */
    struct ct_net_comp *comp;
    struct ct_net_rma   copy; /* of one that has been told already */
};

static struct ct_list later = {&later, &later};

static struct later *put_off(struct ct_net_link *link, struct ct_net_rma *op,
                             struct ct_net_comp *comp)
{
    struct later *l = calloc(1, sizeof *l);
    if (l == NULL) {
        abort();
    }
    *l = (struct later){.link = link, .op = op, .comp = comp};
    ct_list_append(&later, &l->node);
    return l;
}

static int post_later(struct ct_net_link *link, struct ct_net_rma *const ops[], unsigned n,
                      unsigned *taken)
{
    static struct ct_net_comp nobody;
    for (*taken = 0; *taken < n; (*taken)++) {
        struct ct_net_rma *op = ops[*taken];
        if ((op->rkey->ops >> op->op & 1) == 0) {
            return CTRAN_ERR_UNSUPPORTED_OPERATION;
        }
        struct later *l = put_off(link, op, op->comp);
        if (mutant->tells_early) {
            l->copy = *op;
            l->copy.comp = l->comp = &nobody;
            l->op = &l->copy;
            nobody.pending++;
            ct_net_comp_now(op->comp, CTRAN_SUCCESS);
        }
    }
    return CTRAN_SUCCESS;
}

static int fence_later(struct ct_net_link *link)
{
    return ct_list_empty(&later) ? real_rma.fence(link) : CT_AGAIN;
}

static void flush_later(struct ct_net_link *link, struct ct_net_comp *comp)
{
    (void)put_off(link, NULL, comp);
}

/* One a turn. */
static unsigned progress_later(struct ct_net *net)
{
    unsigned n = real.progress(net), taken;
    if (ct_list_empty(&later)) {
        return n;
    }
    struct later *l =
        CT_LIST_ENTRY(mutant->last_first ? later.prev : later.next, struct later, node);
    struct ct_net_comp *comp = l->comp;
    const uint32_t      before = comp->pending;
    if (l->op == NULL) {
        real_rma.flush(l->link, comp);
    } else if (real_rma.post(l->link, &l->op, 1, &taken) != CTRAN_SUCCESS) {
        return n;
    }
    ct_list_remove(&l->node);
    free(l);
    if (before > 0 && comp->pending == 0 && comp->done != NULL) {
        comp->done(comp);
    }
    return n + 1;
}

/* All that has been put off, and then the flush. */
static void flush_all(struct ct_net_link *link, struct ct_net_comp *comp)
{
    while (!ct_list_empty(&later)) {
        (void)progress_later(link->net);
    }
    real_rma.flush(link, comp);
}

/* The notification goes at once, with no byte; the data comes later. */
static int post_notice_first(struct ct_net_link *link, struct ct_net_rma *const ops[], unsigned n,
                             unsigned *taken)
{
    for (unsigned i = 0; i < n; i++) {
        struct ct_net_comp comp = {.pending = 1};
        struct ct_net_rma  op = *ops[i], *one = &op;
        unsigned           took;
        op.len_bytes = 0;
        op.comp = &comp;
        if (op.op == CT_NET_OP_PUT && op.notify &&
            real_rma.post(link, &one, 1, &took) == CTRAN_SUCCESS) {
            ops[i]->notify = false;
        }
    }
    return post_later(link, ops, n, taken);
}

/* ---- the table ------------------------------------------------------------------------------- */

#define PUTS_OFF(post_, fence_, flush_)                                                            \
    .progress = progress_later, .rma = {.post = post_, .fence = fence_, .flush = flush_}

static const struct mutant mutants[] = {
    {"reorders", .send = send_reordered},
    {"loses-messages", .send = send_lost},
    {"duplicates", .send = send_twice},
    {"spoils-bytes", .send = send_spoilt},
    {"misses-death", true, .check_peers = look_away},
    {"keeps-keys", true, .rma.mem_dereg = no_dereg},
    {"ignores-rights", true, .rma.mem_reg = reg_changed, .region = give_all_rights},
    {"ignores-peer", true, .rma.mem_reg = reg_changed, .region = let_all_peers},
    {"ignores-range", true, .rma.mem_reg = reg_changed, .region = lengthen},
    {"loses-a-byte", true, .rma.post = post_changed, .op = lose_byte},
    {"loses-notices", true, .rma.post = post_changed, .op = lose_notice},
    {"loses-results", true, .rma.post = post_changed, .op = lose_result},
    {"repeats-atomics", true, .rma.post = post_twice},
    {"refuses-nothing", true, .rma.post = post_agreeing},
    {"delays", true, true, PUTS_OFF(post_later, fence_later, flush_later)},
    {"flushes-early", true, false, PUTS_OFF(post_later, fence_later, NULL)},
    {"has-no-fence", true, false, PUTS_OFF(post_later, NULL, flush_all), .last_first = true},
    {"ends-early", true, false, PUTS_OFF(post_later, fence_later, flush_later),
     .tells_early = true},
    {"notifies-early", true, false, PUTS_OFF(post_notice_first, fence_later, flush_later)},
};

#define REPLACE(slot, function) ((slot) = (function) != NULL ? (function) : (slot))

void mutant_spoil(const struct mutant *m, struct ct_net_ops *ops)
{
    static struct ct_net_rma_ops changed;
    mutant = m;
    real = *ops;
    REPLACE(ops->send, m->send);
    REPLACE(ops->check_peers, m->check_peers);
    REPLACE(ops->progress, m->progress);
    if (m->one_sided) {
        real_rma = changed = *ops->rma;
        REPLACE(changed.mem_reg, m->rma.mem_reg);
        REPLACE(changed.mem_dereg, m->rma.mem_dereg);
        REPLACE(changed.post, m->rma.post);
        REPLACE(changed.fence, m->rma.fence);
        REPLACE(changed.flush, m->rma.flush);
        ops->rma = &changed;
    }
}

const struct mutant *mutant_find(const char *name)
{
    for (size_t i = 0; i < CT_ARRAY_LEN(mutants); i++) {
        if (strcmp(mutants[i].name, name) == 0) {
            return &mutants[i];
        }
    }
    return NULL;
}

void mutants_list(const char *transport)
{
    const struct ct_net_ops *ops = ct_net_find(transport);
    for (size_t i = 0; ops != NULL && i < CT_ARRAY_LEN(mutants); i++) {
        if (!mutants[i].one_sided || (ops->caps & CT_NET_RMA) != 0) {
            (void)printf("%s%s\n", mutants[i].conforms ? "+" : "", mutants[i].name);
        }
    }
}
