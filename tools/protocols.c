/* SPDX-License-Identifier: BSD-3-Clause */
/* What protocols.h says. The table, the estimates and the ranges are the library's own
 * (p2p/protocol.h); the costs are those that transports give for a usual peer. */
#include "tools/protocols.h"

#include <stdio.h>
#include <stdlib.h>

#include "p2p/p2p.h"

/* A peer, and the memory at both ends of the messages that are shown. */
struct section {
    const char        *title, *net;
    bool               has_gpus, is_remote;
    unsigned           n;
    enum ct_p2p_memory ends[4][2]; /* sender, receiver */
};

static const struct section sections[] = {
    {"a peer on the same host (shm)",
     "shm",
     false,
     false,
     3,
     {{CT_P2P_HOST, CT_P2P_HOST}, {CT_P2P_ATTACHED, CT_P2P_HOST}, {CT_P2P_SCATTERED, CT_P2P_HOST}}},
    {"a peer over tcp",
     "tcp",
     false,
     true,
     2,
     {{CT_P2P_HOST, CT_P2P_HOST}, {CT_P2P_OPAQUE, CT_P2P_OPAQUE}}},
    {"between GPUs of one host (shm, copy engine)",
     "shm",
     true,
     false,
     3,
     {{CT_P2P_DEVICE, CT_P2P_DEVICE}, {CT_P2P_DEVICE, CT_P2P_HOST}, {CT_P2P_HOST, CT_P2P_DEVICE}}},
};

static void format_bytes(size_t bytes, char *out, size_t cap)
{
    if (bytes >= 1 << 20 && bytes % (1 << 20) == 0) {
        (void)snprintf(out, cap, "%zuM", bytes >> 20);
    } else if (bytes >= 1 << 10 && bytes % (1 << 10) == 0) {
        (void)snprintf(out, cap, "%zuK", bytes >> 10);
    } else {
        (void)snprintf(out, cap, "%zu", bytes);
    }
}

static void format_us(double ns, char *out, size_t cap)
{
    (void)snprintf(out, cap, ns < 99950 ? "%.1f us" : "%.0f us", ns / 1000);
}

/* Up to here messages are eager because of this variable. */
static const char *limit_name(const struct section *s, enum ct_p2p_memory sender)
{
    return sender == CT_P2P_ATTACHED                ? "below 8K"
           : sender == CT_P2P_DEVICE && s->has_gpus ? "up to CTRAN_GPU_EAGER_LIMIT"
           : s->is_remote                           ? "up to CTRAN_TCP_EAGER_LIMIT"
                                                    : "up to CTRAN_EAGER_LIMIT";
}

/* Why no other rendezvous is taken for that length. */
static void print_others(const struct ct_p2p_costs *c, enum ct_p2p_protocol taken,
                         enum ct_p2p_memory s, enum ct_p2p_memory r, size_t len_bytes)
{
    for (int i = CT_P2P_GET; i < CT_P2P_PROTOCOLS; i++) {
        const enum ct_p2p_protocol other = (enum ct_p2p_protocol)i;
        const char                *lacks = ct_p2p_protocol_lacks(c, other, s, r);
        char                       us[32];
        if (other == taken) {
            continue;
        }
        if (lacks == NULL) {
            format_us(ct_p2p_estimate_ns(c, other, s, r, len_bytes), us, sizeof us);
        }
        printf("%44s not %s: %s%s\n", "", ct_p2p_protocol_name(other), lacks != NULL ? lacks : us,
               lacks != NULL ? "" : " for the longest");
    }
}

/* A range, from `least` bytes on; `shown`: of the longest message that is estimated. */
static void print_range(const struct ct_config *cfg, const struct section *section,
                        const struct ct_p2p_kind *kind, const struct ct_p2p_range *range,
                        enum ct_p2p_memory s, enum ct_p2p_memory r, size_t least)
{
    enum { LONGEST = 16 << 20 };
    const struct ct_p2p_costs *c = &kind->costs;
    const bool                 is_last = range->most_bytes > LONGEST;
    const bool                 is_eager = range->protocol <= CT_P2P_BUFFERED;
    const size_t               most = is_last ? LONGEST : range->most_bytes;
    const bool                 is_forced = cfg->p2p_protocol == (int)range->protocol + 1;
    char                       from[32], to[32], first[32], last[32];
    format_bytes(least, from, sizeof from);
    format_bytes(most, to, sizeof to);
    format_us(ct_p2p_estimate_ns(c, range->protocol, s, r, least), first, sizeof first);
    format_us(ct_p2p_estimate_ns(c, range->protocol, s, r, most), last, sizeof last);
    printf("    %8s %s %-8s %-9s %9s to %9s  %s\n", from, is_last ? "..." : " - ", to,
           ct_p2p_protocol_name(range->protocol), first, last,
           is_eager    ? limit_name(section, s)
           : is_forced ? "CTRAN_P2P_PROTOCOL"
                       : "estimated fastest");
    if (!is_eager) {
        print_others(c, range->protocol, s, r, most);
    }
}

static void print_ends(const struct ct_config *cfg, const struct section *section,
                       const struct ct_p2p_kind *kind, enum ct_p2p_memory s, enum ct_p2p_memory r)
{
    const struct ct_p2p_ranges *ranges = &kind->ranges[s][r];
    size_t                      least = 0;
    printf("  from %s to %s memory\n", ct_p2p_memory_name(s), ct_p2p_memory_name(r));
    for (unsigned i = 0; i < ranges->n; i++) {
        print_range(cfg, section, kind, &ranges->range[i], s, r, least);
        least = ranges->range[i].most_bytes + 1;
    }
}

static void print_rows(void)
{
    printf("protocols\n");
    for (int i = 0; i < CT_P2P_PROTOCOLS; i++) {
        printf("  %-9s %s\n", ct_p2p_protocol_name((enum ct_p2p_protocol)i),
               ct_p2p_protocol_text((enum ct_p2p_protocol)i));
    }
    printf("memory\n"
           "  host      of the host, in one block or in blocks of 256 bytes and more\n"
           "  scattered of the host, in smaller blocks\n"
           "  attached  of ctran_alloc_mem, which other ranks of the host map\n"
           "  device    of a GPU, one block that GPUs of other ranks reach\n"
           "  opaque    other memory that the processor does not reach\n");
}

void protocols_show(const struct ct_config *cfg)
{
    struct ct_p2p_kind *kind = malloc(sizeof *kind);
    char                value[64];
    if (kind == NULL) {
        return;
    }
    print_rows();
    ct_config_format(cfg, CT_VAR_IX_p2p_protocol, value, sizeof value);
    printf("\nmessages by length in bytes, with estimated times (CTRAN_P2P_PROTOCOL is %s)\n",
           value);
    for (size_t i = 0; i < CT_ARRAY_LEN(sections); i++) {
        const struct section    *s = &sections[i];
        const struct ct_net_ops *net = ct_net_find(s->net);
        struct ct_p2p_costs      costs;
        const int64_t            eager = s->is_remote ? cfg->tcp_eager_limit : cfg->eager_limit;
        ct_p2p_costs_typical(net, (size_t)eager, s->has_gpus, &costs);
        ct_p2p_kind_init(kind, &costs, cfg);
        printf("\n%s\n", s->title);
        for (unsigned k = 0; k < s->n; k++) {
            print_ends(cfg, s, kind, s->ends[k][0], s->ends[k][1]);
        }
    }
    free(kind);
}
