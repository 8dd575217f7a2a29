/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of protocol.h, and the kinds of peers. */
#define CT_FOLDER "p2p"
#include "p2p/protocol.h"

#include <stdlib.h>

#include "p2p/state.h"
#include "pmi/pmi.h"

enum {
    /* From so many bytes on a message from attached memory is a rendezvous. Reading it in place
     * pays from 2 KiB on, but the sender has to wait, and shorter messages nobody expects to. */
    ATTACHED_BYTES = 8 << 10,
    /* A call of the driver that copies to or from a GPU's memory, and its wait. */
    STAGE_NS = 10000,
    STAGE_BYTES_PER_US = 12000,
};

/* ---- what rows need -------------------------------------------------------------------------- */

static bool is_device(enum ct_p2p_memory m)
{
    return m == CT_P2P_DEVICE || m == CT_P2P_OPAQUE;
}

/* One block, or blocks that are as good. */
static bool is_whole(enum ct_p2p_memory m)
{
    return m == CT_P2P_HOST || m == CT_P2P_ATTACHED;
}

/* What an operation on such memory of the peer's costs; NULL: it is not possible. */
static const struct ct_net_cost *cost_on(const struct ct_p2p_costs *c, enum ct_net_op op,
                                         enum ct_p2p_memory m)
{
    static const enum ct_net_reach order[CT_P2P_MEMORIES][3] = {
        [CT_P2P_HOST] = {CT_NET_REACH_COPIED, CT_NET_REACH_WIRED, CT_NET_REACH_WIRED},
        [CT_P2P_ATTACHED] = {CT_NET_REACH_MAPPED, CT_NET_REACH_COPIED, CT_NET_REACH_WIRED},
        [CT_P2P_DEVICE] = {CT_NET_REACH_DEVICE, CT_NET_REACH_DEVICE, CT_NET_REACH_DEVICE},
    };
    if (m == CT_P2P_SCATTERED || m == CT_P2P_OPAQUE) {
        return NULL;
    }
    for (int i = 0; i < 3; i++) {
        const struct ct_net_cost *cost = &c->op[op][order[m][i]];
        if (cost->max_bytes > 0) {
            return cost;
        }
    }
    return NULL;
}

static const char *lacks_inline(const struct ct_p2p_costs *c, enum ct_p2p_memory s,
                                enum ct_p2p_memory r)
{
    (void)c, (void)r;
    return is_device(s) ? "the processor does not reach the sender's memory" : NULL;
}

static const char *lacks_buffered(const struct ct_p2p_costs *c, enum ct_p2p_memory s,
                                  enum ct_p2p_memory r)
{
    (void)c, (void)r;
    return is_device(s) ? NULL : "the processor reaches the sender's memory";
}

static const char *lacks_get(const struct ct_p2p_costs *c, enum ct_p2p_memory s,
                             enum ct_p2p_memory r)
{
    if (cost_on(c, CT_NET_OP_GET, s) == NULL) {
        return "the receiver cannot read the sender's memory";
    }
    if ((r == CT_P2P_SCATTERED && s != CT_P2P_ATTACHED) ||
        (r == CT_P2P_OPAQUE && s == CT_P2P_DEVICE)) {
        return "the receiver's memory is in small blocks";
    }
    return is_device(r) && s == CT_P2P_HOST ? "only staging memory is read to" : NULL;
}

static const char *lacks_put(const struct ct_p2p_costs *c, enum ct_p2p_memory s,
                             enum ct_p2p_memory r)
{
    if (is_device(s) || is_device(r) || !is_whole(s) || !is_whole(r)) {
        return "both ends have to be memory of the host, not in small blocks";
    }
    return cost_on(c, CT_NET_OP_PUT, r) == NULL ? "the sender cannot write to the receiver's memory"
                                                : NULL;
}

static const char *lacks_pieces(const struct ct_p2p_costs *c, enum ct_p2p_memory s,
                                enum ct_p2p_memory r)
{
    (void)c;
    return is_device(s) || is_device(r) ? "the processor does not reach memory of one end" : NULL;
}

static const char *lacks_staged(const struct ct_p2p_costs *c, enum ct_p2p_memory s,
                                enum ct_p2p_memory r)
{
    (void)c;
    return is_device(s) || is_device(r) ? NULL : "the processor reaches the memory of both ends";
}

/* ---- what rows cost -------------------------------------------------------------------------- */

static double time_of(const struct ct_net_cost *cost, size_t len_bytes)
{
    return cost->lat_ns + 1000.0 * (double)len_bytes / cost->bytes_per_us;
}

static double stage_ns(size_t len_bytes)
{
    return STAGE_NS + 1000.0 * (double)len_bytes / STAGE_BYTES_PER_US;
}

/* So many messages of a few bytes, one the answer to the other. */
static double turns_ns(const struct ct_p2p_costs *c, unsigned n)
{
    return (double)n * c->send.lat_ns;
}

static double cost_inline(const struct ct_p2p_costs *c, enum ct_p2p_memory s, enum ct_p2p_memory r,
                          size_t n)
{
    (void)s;
    return time_of(&c->send, n) + (is_device(r) ? stage_ns(n) : 0);
}

static double cost_buffered(const struct ct_p2p_costs *c, enum ct_p2p_memory s,
                            enum ct_p2p_memory r, size_t n)
{
    return cost_inline(c, s, r, n) + stage_ns(n);
}

/* Announcement, read, and the word that the sender's memory is free. */
static double cost_get(const struct ct_p2p_costs *c, enum ct_p2p_memory s, enum ct_p2p_memory r,
                       size_t n)
{
    const bool by_processor = is_device(r) && s == CT_P2P_ATTACHED;
    return turns_ns(c, 2) + time_of(cost_on(c, CT_NET_OP_GET, s), n) +
           (by_processor ? stage_ns(n) : 0);
}

/* Announcement, answer, write. */
static double cost_put(const struct ct_p2p_costs *c, enum ct_p2p_memory s, enum ct_p2p_memory r,
                       size_t n)
{
    (void)s;
    return turns_ns(c, 3) + time_of(cost_on(c, CT_NET_OP_PUT, r), n);
}

/* Announcement, answer, pieces: each side's processor has its part in every byte. */
static double cost_pieces(const struct ct_p2p_costs *c, enum ct_p2p_memory s, enum ct_p2p_memory r,
                          size_t n)
{
    (void)s, (void)r;
    return turns_ns(c, 4) + time_of(&c->send, n);
}

/* Host memory that can be read is read to a stage; else pieces are read from a stage, or to it, or
 * both: the ends work at the same time, each on a chunk of a quarter. */
static double cost_staged(const struct ct_p2p_costs *c, enum ct_p2p_memory s, enum ct_p2p_memory r,
                          size_t n)
{
    const struct ct_net_cost *get = is_device(s) ? NULL : cost_on(c, CT_NET_OP_GET, s);
    const unsigned            ends = is_device(s) + is_device(r);
    return get != NULL ? turns_ns(c, 2) + time_of(get, n) + stage_ns(n)
                       : cost_pieces(c, s, r, n) + ends * (4 * STAGE_NS + stage_ns(n / 4));
}

/* ---- the table ------------------------------------------------------------------------------- */

static const struct row {
    const char *name, *text;
    bool        eager;
    const char *(*lacks)(const struct ct_p2p_costs *c, enum ct_p2p_memory sender,
                         enum ct_p2p_memory receiver);
    double (*cost)(const struct ct_p2p_costs *c, enum ct_p2p_memory sender,
                   enum ct_p2p_memory receiver, size_t len_bytes);
} table[CT_P2P_PROTOCOLS] = {
    [CT_P2P_INLINE] = {"inline", "copied to the transport by the sender's call", true, lacks_inline,
                       cost_inline},
    [CT_P2P_BUFFERED] = {"buffered", "copied to the transport through the host", true,
                         lacks_buffered, cost_buffered},
    [CT_P2P_GET] = {"get", "the receiver reads the sender's memory", false, lacks_get, cost_get},
    [CT_P2P_PUT] = {"put", "the sender writes to the receiver's memory", false, lacks_put,
                    cost_put},
    [CT_P2P_PIECES] = {"pieces", "messages, one after the other", false, lacks_pieces, cost_pieces},
    [CT_P2P_STAGED] = {"staged", "through page-locked memory", false, lacks_staged, cost_staged},
};

const char *ct_p2p_protocol_name(enum ct_p2p_protocol protocol)
{
    return table[protocol].name;
}

const char *ct_p2p_protocol_text(enum ct_p2p_protocol protocol)
{
    return table[protocol].text;
}

const char *ct_p2p_memory_name(enum ct_p2p_memory memory)
{
    static const char *const names[CT_P2P_MEMORIES] = {
        [CT_P2P_HOST] = "host",         [CT_P2P_SCATTERED] = "scattered",
        [CT_P2P_ATTACHED] = "attached", [CT_P2P_DEVICE] = "device",
        [CT_P2P_OPAQUE] = "opaque",
    };
    return names[memory];
}

const char *ct_p2p_protocol_lacks(const struct ct_p2p_costs *costs, enum ct_p2p_protocol protocol,
                                  enum ct_p2p_memory sender, enum ct_p2p_memory receiver)
{
    return table[protocol].lacks(costs, sender, receiver);
}

double ct_p2p_estimate_ns(const struct ct_p2p_costs *costs, enum ct_p2p_protocol protocol,
                          enum ct_p2p_memory sender, enum ct_p2p_memory receiver, size_t len_bytes)
{
    return table[protocol].cost(costs, sender, receiver, len_bytes);
}

/* ---- ranges ---------------------------------------------------------------------------------- */

/* CTRAN_P2P_PROTOCOL: "auto" is its first choice, the rows follow in order. */
static bool is_forced(const struct ct_config *cfg, enum ct_p2p_protocol protocol)
{
    return cfg->p2p_protocol == (int)protocol + 1;
}

static bool forces_eager(const struct ct_config *cfg)
{
    return is_forced(cfg, CT_P2P_INLINE) || is_forced(cfg, CT_P2P_BUFFERED);
}

/* Up to which length messages from that memory are eager. A program that sends to itself receives
 * afterwards. */
static size_t eager_limit(const struct ct_p2p_costs *c, const struct ct_config *cfg,
                          enum ct_p2p_memory m)
{
    const size_t most = ct_min_size(c->eager_bytes, c->max_slice);
    if (forces_eager(cfg)) {
        return most;
    }
    if (m == CT_P2P_ATTACHED && c->op[CT_NET_OP_GET][CT_NET_REACH_MAPPED].max_bytes > 0) {
        return ct_min_size(most, ATTACHED_BYTES - 1);
    }
    if (m == CT_P2P_DEVICE && !c->is_own && cost_on(c, CT_NET_OP_GET, m) != NULL) {
        return ct_min_size(most, (size_t)cfg->gpu_eager_limit);
    }
    return most;
}

/* Ties go to the row that stands first. */
static enum ct_p2p_protocol cheapest(const struct ct_p2p_costs *c, const struct ct_config *cfg,
                                     enum ct_p2p_memory s, enum ct_p2p_memory r, size_t len_bytes)
{
    enum ct_p2p_protocol best = is_device(s) || is_device(r) ? CT_P2P_STAGED : CT_P2P_PIECES;
    double               best_ns = table[best].cost(c, s, r, len_bytes);
    for (int i = CT_P2P_PROTOCOLS - 1; i >= CT_P2P_GET; i--) {
        if (table[i].lacks(c, s, r) != NULL) {
            continue;
        }
        const double ns = table[i].cost(c, s, r, len_bytes);
        if (is_forced(cfg, (enum ct_p2p_protocol)i)) {
            return (enum ct_p2p_protocol)i;
        }
        if (ns <= best_ns) {
            best = (enum ct_p2p_protocol)i;
            best_ns = ns;
        }
    }
    return best;
}

static void add_range(struct ct_p2p_ranges *ranges, size_t most_bytes, enum ct_p2p_protocol what)
{
    struct ct_p2p_range *last = ranges->n > 0 ? &ranges->range[ranges->n - 1] : NULL;
    if (last != NULL && (last->protocol == what || ranges->n == CT_P2P_MAX_RANGES)) {
        last->most_bytes = most_bytes;
        return;
    }
    ranges->range[ranges->n++] = (struct ct_p2p_range){most_bytes, what};
}

/* The greatest length in [low, high) at which `what` is still the cheapest. It is at `low`. */
static size_t end_of(const struct ct_p2p_costs *c, const struct ct_config *cfg,
                     enum ct_p2p_memory s, enum ct_p2p_memory r, size_t low, size_t high,
                     enum ct_p2p_protocol what)
{
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (cheapest(c, cfg, s, r, middle) == what) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* All costs are linear in the length, so that two rows change places once at most, and not between
 * two powers of two and back. */
static void find_ranges(struct ct_p2p_ranges *ranges, const struct ct_p2p_costs *c,
                        const struct ct_config *cfg, enum ct_p2p_memory s, enum ct_p2p_memory r)
{
    const size_t eager = eager_limit(c, cfg, s), last = (size_t)1 << 40;
    size_t       at = eager + 1;
    ranges->n = 0;
    add_range(ranges, eager, is_device(s) ? CT_P2P_BUFFERED : CT_P2P_INLINE);
    for (size_t next = 1; next < last; next *= 2) {
        const enum ct_p2p_protocol now = cheapest(c, cfg, s, r, at);
        if (next > at && cheapest(c, cfg, s, r, next) != now) {
            at = end_of(c, cfg, s, r, at, next, now);
            add_range(ranges, at, now);
            at++;
        } else if (next > at) {
            at = next;
        }
    }
    add_range(ranges, SIZE_MAX, cheapest(c, cfg, s, r, last));
}

void ct_p2p_kind_init(struct ct_p2p_kind *kind, const struct ct_p2p_costs *costs,
                      const struct ct_config *cfg)
{
    kind->costs = *costs;
    for (int s = 0; s < CT_P2P_MEMORIES; s++) {
        kind->eager_bytes[s] = eager_limit(costs, cfg, (enum ct_p2p_memory)s);
        for (int r = 0; r < CT_P2P_MEMORIES; r++) {
            find_ranges(&kind->ranges[s][r], costs, cfg, (enum ct_p2p_memory)s,
                        (enum ct_p2p_memory)r);
        }
    }
}

/* The first range may be eager; then this message is a rendezvous for another reason, as a
 * synchronous send is, and takes what stands next. */
enum ct_p2p_protocol ct_p2p_choose(const struct ct_p2p_kind *kind, enum ct_p2p_memory sender,
                                   enum ct_p2p_memory receiver, size_t len_bytes)
{
    const struct ct_p2p_ranges *ranges = &kind->ranges[sender][receiver];
    unsigned                    i = 0;
    while (i + 1 < ranges->n &&
           (len_bytes > ranges->range[i].most_bytes || table[ranges->range[i].protocol].eager)) {
        i++;
    }
    return ranges->range[i].protocol;
}

/* ---- kinds ----------------------------------------------------------------------------------- */

static void no_cost(struct ct_net_cost *cost)
{
    *cost = (struct ct_net_cost){.max_bytes = 0};
}

/* Of a transport that does not say what its messages cost. */
static const struct ct_net_cost slow = {20000, 1000, SIZE_MAX, CT_NET_TARGET_CPU};

static void ask_costs(struct ct_ep *ep, struct ct_p2p_costs *c) CT_IN_DOMAIN
{
    c->eager_bytes = ep->link->net->eager_bytes;
    c->max_slice = ep->link->max_slice;
    c->is_own = ep->id == ct_job_me(ep->p->job);
    if (ct_ep_query_reach(ep, CT_NET_OP_SEND, CT_NET_REACH_WIRED, &c->send) != CTRAN_SUCCESS) {
        c->send = slow;
    }
    for (int op = CT_NET_OP_GET; op <= CT_NET_OP_PUT; op++) {
        for (int reach = 0; reach < CT_NET_REACHES; reach++) {
            struct ct_net_cost *cost = &c->op[op][reach];
            if (ct_ep_query_reach(ep, (enum ct_net_op)op, (enum ct_net_reach)reach, cost) !=
                CTRAN_SUCCESS) {
                no_cost(cost);
            }
        }
    }
}

void ct_p2p_costs_typical(const struct ct_net_ops *net, size_t eager_bytes, bool has_gpus,
                          struct ct_p2p_costs *c)
{
    *c = (struct ct_p2p_costs){.eager_bytes = eager_bytes};
    c->max_slice = SIZE_MAX;
    if (net->rma->typical(CT_NET_OP_SEND, CT_NET_REACH_WIRED, &c->send) != CTRAN_SUCCESS) {
        c->send = slow;
    }
    for (int op = CT_NET_OP_GET; op <= CT_NET_OP_PUT; op++) {
        for (int reach = 0; reach < CT_NET_REACHES; reach++) {
            const bool can = net->rma->typical((enum ct_net_op)op, (enum ct_net_reach)reach,
                                               &c->op[op][reach]) == CTRAN_SUCCESS;
            if (!can || (reach == CT_NET_REACH_DEVICE && !has_gpus)) {
                no_cost(&c->op[op][reach]);
            }
        }
    }
}

static bool is_same_cost(const struct ct_net_cost *a, const struct ct_net_cost *b)
{
    return a->lat_ns == b->lat_ns && a->bytes_per_us == b->bytes_per_us &&
           a->max_bytes == b->max_bytes && a->flags == b->flags;
}

static bool is_same(const struct ct_p2p_costs *a, const struct ct_p2p_costs *b)
{
    bool same = a->eager_bytes == b->eager_bytes && a->max_slice == b->max_slice &&
                a->is_own == b->is_own && is_same_cost(&a->send, &b->send);
    for (int op = 0; op < 2; op++) {
        for (int reach = 0; reach < CT_NET_REACHES; reach++) {
            same = same && is_same_cost(&a->op[op][reach], &b->op[op][reach]);
        }
    }
    return same;
}

/* The kind with these costs, made if need be; NULL when out of memory. */
static const struct ct_p2p_kind *kind_get(struct ct_process         *p,
                                          const struct ct_p2p_costs *costs) CT_IN_DOMAIN
{
    struct ct_p2p *s = p->p2p;
    for (struct ct_p2p_kind *k = s->kinds; k != NULL; k = k->next) {
        if (is_same(&k->costs, costs)) {
            return k;
        }
    }
    struct ct_p2p_kind *k = malloc(sizeof *k);
    if (k != NULL) {
        ct_p2p_kind_init(k, costs, &p->cfg);
        k->next = s->kinds;
        s->kinds = k;
    }
    return k;
}

const struct ct_p2p_kind *ct_p2p_kind_find(struct ct_ep *ep)
{
    struct ct_p2p_costs costs;
    if (ct_ep_max_payload(ep) == 0) {
        return NULL;
    }
    ask_costs(ep, &costs);
    return ep->flow.kind = kind_get(ep->p, &costs);
}

void ct_p2p_kind_bar_device(struct ct_ep *ep)
{
    const struct ct_p2p_kind *kind = ct_p2p_kind_of(ep);
    if (kind != NULL) {
        struct ct_p2p_costs costs = kind->costs;
        no_cost(&costs.op[CT_NET_OP_GET][CT_NET_REACH_DEVICE]);
        kind = kind_get(ep->p, &costs);
        ep->flow.kind = kind != NULL ? kind : ep->flow.kind;
    }
}

void ct_p2p_kinds_fini(struct ct_process *p)
{
    for (struct ct_p2p_kind *k = p->p2p->kinds, *next; k != NULL; k = next) {
        next = k->next;
        free(k);
    }
    p->p2p->kinds = NULL;
}

/* ---- messages -------------------------------------------------------------------------------- */

/* Whether the transport is to go through it block by block: each costs the kernel about 50 ns, so
 * that blocks below some 256 bytes come sooner in pieces, through two copies. Judged by its
 * beginning. */
static bool is_coarse(const struct ct_area *area)
{
    enum { SAMPLE = 16, LEAST_BYTES = 256 };
    struct iovec blocks[SAMPLE];
    unsigned     n;
    size_t       pos = 0;
    return ct_area_next(area, &pos, SIZE_MAX, blocks, SAMPLE, &n) >= (size_t)n * LEAST_BYTES;
}

enum ct_p2p_memory ct_p2p_memory_of(struct ct_ep *ep, const struct ct_area *area)
{
    enum ct_net_reach reach;
    if (CT_LIKELY(area->pieces == NULL)) {
        return ep->state == CT_EP_CONNECTED && ep->link->attaches &&
                       area->len_bytes >= ATTACHED_BYTES &&
                       ct_ep_reach(ep, area, &reach) == CTRAN_SUCCESS &&
                       reach == CT_NET_REACH_MAPPED
                   ? CT_P2P_ATTACHED
                   : CT_P2P_HOST;
    }
    if (ct_area_is_plain(area)) {
        return is_coarse(area) ? CT_P2P_HOST : CT_P2P_SCATTERED;
    }
    return area->npieces == 0 && ct_ep_reach(ep, area, &reach) == CTRAN_SUCCESS &&
                   reach == CT_NET_REACH_DEVICE
               ? CT_P2P_DEVICE
               : CT_P2P_OPAQUE;
}

bool ct_p2p_is_eager(struct ct_ep *ep, const struct ct_area *area)
{
    const struct ct_p2p_kind *kind = ct_p2p_kind_of(ep);
    const size_t              len_bytes = area->len_bytes;
    if (kind == NULL) {
        return len_bytes == 0;
    }
    if (CT_LIKELY(area->pieces == NULL && len_bytes <= kind->eager_bytes[CT_P2P_ATTACHED])) {
        return true;
    }
    return len_bytes <= kind->eager_bytes[CT_P2P_HOST] &&
           len_bytes <= kind->eager_bytes[ct_p2p_memory_of(ep, area)];
}
