/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Faults, each a change of some functions of a transport. What a change calls is the transport
 * itself, `real`. Several put operations off (`later`), one of which ends with each turn of
 * progress: without a fault that conforms, too, and shows that what is above does not depend on
 * operations that end at once.
 */
#define CT_FOLDER "test"
#include "mutants.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct ct_net_ops     real;
static struct ct_net_rma_ops real_rma, changed;

/* One-sided functions that may be changed. */
static void change_rma(struct ct_net_ops *ops)
{
    real = *ops;
    real_rma = changed = *ops->rma;
    ops->rma = &changed;
}

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

static void reorders(struct ct_net_ops *ops)
{
    real = *ops;
    ops->send = send_reordered;
}

static void loses_messages(struct ct_net_ops *ops)
{
    real = *ops;
    ops->send = send_lost;
}

static void duplicates(struct ct_net_ops *ops)
{
    real = *ops;
    ops->send = send_twice;
}

static void spoils_bytes(struct ct_net_ops *ops)
{
    real = *ops;
    ops->send = send_spoilt;
}

static void look_away(struct ct_net *net)
{
    (void)net;
}

static void misses_death(struct ct_net_ops *ops)
{
    ops->check_peers = look_away;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void no_dereg(struct ct_net_mr *mr)
{
    (void)mr;
}

static int reg_all_rights(struct ct_net *net, const struct ct_net_region *region,
                          struct ct_net_mr **mr)
{
    struct ct_net_region r = *region;
    r.access = UINT32_MAX;
    return real_rma.mem_reg(net, &r, mr);
}

static int reg_any_peer(struct ct_net *net, const struct ct_net_region *region,
                        struct ct_net_mr **mr)
{
    struct ct_net_region r = *region;
    r.peer = CT_NET_ANY_PEER;
    return real_rma.mem_reg(net, &r, mr);
}

static int reg_longer(struct ct_net *net, const struct ct_net_region *region, struct ct_net_mr **mr)
{
    struct ct_net_region r = *region;
    struct ct_area      *area = malloc(sizeof *area); /* until the end of the process */
    if (area == NULL) {
        abort();
    }
    *area = *region->area;
    area->len_bytes++;
    r.area = area;
    return real_rma.mem_reg(net, &r, mr);
}

static void keeps_keys(struct ct_net_ops *ops)
{
    change_rma(ops);
    changed.mem_dereg = no_dereg;
}

static void ignores_rights(struct ct_net_ops *ops)
{
    change_rma(ops);
    changed.mem_reg = reg_all_rights;
}

static void ignores_peer(struct ct_net_ops *ops)
{
    change_rma(ops);
    changed.mem_reg = reg_any_peer;
}

static void ignores_range(struct ct_net_ops *ops)
{
    change_rma(ops);
    changed.mem_reg = reg_longer;
}

/* ---- operations ------------------------------------------------------------------------------ */

/* Does one with a change. */
static int post_changed(struct ct_net_link *link, struct ct_net_rma *const ops[], unsigned n,
                        unsigned *taken, void (*change)(struct ct_net_rma *op))
{
    int rc = CTRAN_SUCCESS;
    for (*taken = 0; *taken < n && rc == CTRAN_SUCCESS;) {
        struct ct_net_rma  op = *ops[*taken];
        struct ct_net_rma *one = &op;
        unsigned           took = 0;
        change(&op);
        rc = real_rma.post(link, &one, 1, &took);
        *taken += took;
    }
    return rc;
}

/* The next two change the caller's own: a transport may keep it for long. */
static int post_short(struct ct_net_link *link, struct ct_net_rma *const ops[], unsigned n,
                      unsigned *taken)
{
    for (unsigned i = 0; i < n; i++) {
        ops[i]->len_bytes -= ops[i]->op == CT_NET_OP_PUT && ops[i]->len_bytes > 0;
    }
    return real_rma.post(link, ops, n, taken);
}

static int post_silent(struct ct_net_link *link, struct ct_net_rma *const ops[], unsigned n,
                       unsigned *taken)
{
    for (unsigned i = 0; i < n; i++) {
        ops[i]->notify = false;
    }
    return real_rma.post(link, ops, n, taken);
}

static void lose_result(struct ct_net_rma *op)
{
    op->result = NULL;
}

static int post_deaf(struct ct_net_link *link, struct ct_net_rma *const ops[], unsigned n,
                     unsigned *taken)
{
    return post_changed(link, ops, n, taken, lose_result);
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

static void loses_a_byte(struct ct_net_ops *ops)
{
    change_rma(ops);
    changed.post = post_short;
}

static void loses_notices(struct ct_net_ops *ops)
{
    change_rma(ops);
    changed.post = post_silent;
}

static void loses_results(struct ct_net_ops *ops)
{
    change_rma(ops);
    changed.post = post_deaf;
}

static void repeats_atomics(struct ct_net_ops *ops)
{
    change_rma(ops);
    changed.post = post_twice;
}

static void refuses_nothing(struct ct_net_ops *ops)
{
    change_rma(ops);
    changed.post = post_agreeing;
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
static bool           last_first, tells_early;

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
        if (tells_early) {
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
    struct later       *l = CT_LIST_ENTRY(last_first ? later.prev : later.next, struct later, node);
    struct ct_net_comp *comp = l->comp;
    const uint32_t      before = comp->pending;
    if (l->op == NULL) {
        real_rma.flush(l->link, comp);
    } else if (real_rma.post(l->link, &l->op, 1, &taken) != CTRAN_SUCCESS) {
        return n;
    }
    ct_list_remove(&l->node);
    if (!tells_early) { /* a transport may keep the copy until the end of the process */
        free(l);
    }
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

static void delays(struct ct_net_ops *ops)
{
    change_rma(ops);
    changed.post = post_later;
    changed.fence = fence_later;
    changed.flush = flush_later;
    ops->progress = progress_later;
}

static void flushes_early(struct ct_net_ops *ops)
{
    delays(ops);
    changed.flush = real_rma.flush;
}

static void has_no_fence(struct ct_net_ops *ops)
{
    delays(ops);
    changed.fence = real_rma.fence;
    changed.flush = flush_all;
    last_first = true;
}

static void ends_early(struct ct_net_ops *ops)
{
    delays(ops);
    tells_early = true;
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

static void notifies_early(struct ct_net_ops *ops)
{
    delays(ops);
    changed.post = post_notice_first;
}

/* ---- threads, sleep, devices ----------------------------------------------------------------- */

/* As a transport with state of a thread: what another than the first does comes to nothing. */
static bool is_first_thread(void)
{
    static _Atomic bool taken;
    static __thread int first = -1;
    if (first < 0) {
        first = !atomic_exchange(&taken, true);
    }
    return first != 0;
}

static int send_in_one_thread(struct ct_net_link *link, const struct ct_net_slice *slice)
{
    return is_first_thread() || slice->len_bytes == 0 ? real.send(link, slice)
                                                      : send_spoilt(link, slice);
}

static int post_in_one_thread(struct ct_net_link *link, struct ct_net_rma *const ops[], unsigned n,
                              unsigned *taken)
{
    if (is_first_thread()) {
        return real_rma.post(link, ops, n, taken);
    }
    for (*taken = 0; *taken < n; (*taken)++) {
        ct_net_comp_now(ops[*taken]->comp, CTRAN_SUCCESS);
    }
    return CTRAN_SUCCESS;
}

static void knows_one_thread(struct ct_net_ops *ops)
{
    change_rma(ops);
    (void)is_first_thread();
    changed.post = (ops->caps & CT_NET_RMA) != 0 ? post_in_one_thread : real_rma.post;
    ops->send = send_in_one_thread;
}

/* A word that nobody signals, and no descriptor. */
static struct ct_wake *wrong_wake(struct ct_net *net)
{
    static struct ct_wake word;
    (void)net;
    return &word;
}

static int wrong_fd(struct ct_net *net)
{
    (void)net;
    return -1;
}

static void sleeps_on(struct ct_net_ops *ops)
{
    ops->wake = wrong_wake;
    ops->fd = wrong_fd;
}

static int post_at_beginning(struct ct_net_link *link, struct ct_net_rma *const ops[], unsigned n,
                             unsigned *taken)
{
    for (unsigned i = 0; i < n; i++) {
        if (ops[i]->rkey->reach == CT_NET_REACH_DEVICE && ops[i]->op == CT_NET_OP_GET) {
            ops[i]->offset = 0;
        }
    }
    return real_rma.post(link, ops, n, taken);
}

static void ignores_device_offset(struct ct_net_ops *ops)
{
    change_rma(ops);
    changed.post = post_at_beginning;
}

/* ---- the table ------------------------------------------------------------------------------- */

static const struct mutant mutants[] = {
    {"reorders", MUTANT_MESSAGES, false, reorders},
    {"loses-messages", MUTANT_MESSAGES, false, loses_messages},
    {"duplicates", MUTANT_MESSAGES, false, duplicates},
    {"spoils-bytes", MUTANT_MESSAGES, false, spoils_bytes},
    {"misses-death", MUTANT_ORIGIN, false, misses_death},
    {"keeps-keys", MUTANT_ORIGIN, false, keeps_keys},
    {"ignores-rights", MUTANT_ORIGIN, false, ignores_rights},
    {"ignores-peer", MUTANT_ORIGIN, false, ignores_peer},
    {"ignores-range", MUTANT_ORIGIN, false, ignores_range},
    {"loses-a-byte", MUTANT_RMA, false, loses_a_byte},
    {"loses-notices", MUTANT_RMA, false, loses_notices},
    {"loses-results", MUTANT_ORIGIN, false, loses_results},
    {"repeats-atomics", MUTANT_ORIGIN, false, repeats_atomics},
    {"refuses-nothing", MUTANT_ORIGIN, false, refuses_nothing},
    {"delays", MUTANT_RMA, true, delays},
    {"flushes-early", MUTANT_RMA, false, flushes_early},
    {"has-no-fence", MUTANT_ORIGIN, false, has_no_fence},
    {"ends-early", MUTANT_RMA, false, ends_early},
    {"notifies-early", MUTANT_ORIGIN, false, notifies_early},
    {"knows-one-thread", MUTANT_MESSAGES, false, knows_one_thread},
    {"sleeps-on", MUTANT_MESSAGES, false, sleeps_on},
    {"ignores-device-offset", MUTANT_DEVICE, false, ignores_device_offset},
};

const struct mutant *mutant_find(const char *name)
{
    for (size_t i = 0; i < CT_ARRAY_LEN(mutants); i++) {
        if (strcmp(mutants[i].name, name) == 0) {
            return &mutants[i];
        }
    }
    return NULL;
}

static bool has_needs(const struct ct_net_ops *ops, enum mutant_needs needs)
{
    struct ct_net_cost cost;
    const bool         has_rma = (ops->caps & CT_NET_RMA) != 0;
    const bool         by_origin =
        has_rma && ops->rma->typical(CT_NET_OP_PUT, CT_NET_REACH_MAPPED, &cost) == CTRAN_SUCCESS;
    switch (needs) {
    case MUTANT_MESSAGES:
        return true;
    case MUTANT_RMA:
        return has_rma;
    case MUTANT_ORIGIN:
        return by_origin;
    default:
        return by_origin && access(CT_EMU_CUDA, R_OK) == 0;
    }
}

void mutants_list(const char *transport)
{
    const struct ct_net_ops *ops = ct_net_find(transport);
    for (size_t i = 0; ops != NULL && i < CT_ARRAY_LEN(mutants); i++) {
        if (has_needs(ops, mutants[i].needs)) {
            (void)printf("%s%s\n", mutants[i].conforms ? "+" : "", mutants[i].name);
        }
    }
}
