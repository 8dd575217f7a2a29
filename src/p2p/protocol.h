/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The protocols by which messages travel, in one table (protocol.c). A row says what it requires -
 * kinds of memory at the two ends, what the transport can do - and what it is estimated to cost.
 *
 *   inline      the sender's call hands the message to the transport, which takes a copy
 *   buffered    as inline, but through the host, for memory that the processor does not reach
 *   get         rendezvous: the receiver reads the sender's memory
 *   put         rendezvous: the sender writes to the receiver's memory
 *   pieces      rendezvous: messages of the transport, one after the other
 *   staged      rendezvous through page-locked memory, for what the processor does not reach
 *
 * The first two are eager: the sender does not wait. They carry short messages: up to
 * CTRAN_EAGER_LIMIT, or the limit of the kind of memory. Above, the rendezvous that is estimated to
 * be over first is taken.
 *
 * Peers with equal costs and capabilities of their transport form one kind (struct ct_p2p_kind).
 * For a kind and the memory at both ends the table yields ranges of lengths, which are computed
 * once and kept. No message changes them. CTRAN_P2P_PROTOCOL names a row that is preferred wherever
 * its requirements are met.
 *
 * Source: the costs are latency and time a byte, as in the protocol selection of UCX (ucp/proto).
 *
 * Called in the progress domain, except by ctran_info.
 */
#ifndef CT_P2P_PROTOCOL_H
#define CT_P2P_PROTOCOL_H

#include "ep/ep.h"

enum ct_p2p_protocol {
    CT_P2P_INLINE,
    CT_P2P_BUFFERED,
    CT_P2P_GET,
    CT_P2P_PUT,
    CT_P2P_PIECES,
    CT_P2P_STAGED,
    CT_P2P_PROTOCOLS
};

/* Memory at one end of a message. */
enum ct_p2p_memory {
    CT_P2P_HOST,      /* of the host, in one block or in coarse ones */
    CT_P2P_SCATTERED, /* of the host, in blocks that are cheaper to copy than to describe */
    CT_P2P_ATTACHED,  /* of ctran_alloc_mem, which other ranks of the host map */
    CT_P2P_DEVICE,    /* one block of a GPU's, which GPUs of the host's other ranks reach */
    CT_P2P_OPAQUE,    /* other memory that the processor does not reach */
    CT_P2P_MEMORIES
};

/* What a transport says of a peer. All peers of one kind have equal costs. */
struct ct_p2p_costs {
    struct ct_net_cost send;
    /* By CT_NET_OP_GET and _PUT; max_bytes 0: it cannot. */
    struct ct_net_cost op[2][CT_NET_REACHES];
    size_t             eager_bytes; /* what it would rather have sent without asking */
    size_t             max_slice;
    bool               is_own; /* the peer is this process */
};

enum { CT_P2P_MAX_RANGES = 8 };

/* Lengths up to `most_bytes`, and above those of the range before. */
struct ct_p2p_range {
    size_t               most_bytes;
    enum ct_p2p_protocol protocol;
};

struct ct_p2p_ranges {
    unsigned            n;
    struct ct_p2p_range range[CT_P2P_MAX_RANGES];
};

struct ct_p2p_kind {
    struct ct_p2p_kind *next;
    struct ct_p2p_costs costs;
    size_t              eager_bytes[CT_P2P_MEMORIES]; /* of the sender: up to here */
    /* By the sender's memory, then the receiver's. */
    struct ct_p2p_ranges ranges[CT_P2P_MEMORIES][CT_P2P_MEMORIES];
};

/* ---- choosing -------------------------------------------------------------------------------- */

/* The peer's kind, connecting if need be; NULL: it cannot be reached, or there is no memory. */
const struct ct_p2p_kind               *ct_p2p_kind_find(struct ct_ep *ep) CT_IN_DOMAIN;
static inline const struct ct_p2p_kind *ct_p2p_kind_of(struct ct_ep *ep) CT_IN_DOMAIN
{
    return CT_LIKELY(ep->flow.kind != NULL) ? ep->flow.kind : ct_p2p_kind_find(ep);
}

/* The peer says that it reaches no memory of this process's GPUs, now or ever: it is of another
 * kind from now on. */
void ct_p2p_kind_bar_device(struct ct_ep *ep) CT_IN_DOMAIN;

/* What memory that is for a peer of that kind, or for a message from it. */
enum ct_p2p_memory ct_p2p_memory_of(struct ct_ep *ep, const struct ct_area *area) CT_IN_DOMAIN;

/* Whether this message goes eagerly; connects if need be. */
bool ct_p2p_is_eager(struct ct_ep *ep, const struct ct_area *area) CT_IN_DOMAIN;
/* Like ct_p2p_is_eager for a message that may be sent inline, and that needs no look at the peer's
 * kind but where it is long. False: it may still be sent eagerly. */
static inline bool ct_p2p_is_inline(struct ct_ep *ep, const struct ct_area *area) CT_IN_DOMAIN
{
    const struct ct_p2p_kind *kind = ep->flow.kind;
    if (CT_UNLIKELY(kind == NULL || !ct_area_is_plain(area))) {
        return false;
    }
    return CT_LIKELY(area->len_bytes <= kind->eager_bytes[CT_P2P_ATTACHED]) ||
           ct_p2p_is_eager(ep, area);
}

/* The rendezvous for a message of that length. */
enum ct_p2p_protocol ct_p2p_choose(const struct ct_p2p_kind *kind, enum ct_p2p_memory sender,
                                   enum ct_p2p_memory receiver, size_t len_bytes);

/* Frees all kinds. */
void ct_p2p_kinds_fini(struct ct_process *p) CT_IN_DOMAIN;

/* ---- the table ------------------------------------------------------------------------------- */

const char *ct_p2p_protocol_name(enum ct_p2p_protocol protocol);
const char *ct_p2p_protocol_text(enum ct_p2p_protocol protocol);
const char *ct_p2p_memory_name(enum ct_p2p_memory memory);
/* Which memory can stand at the ends of messages by this protocol, and what else it needs; NULL: it
 * can be used, else why not. */
const char *ct_p2p_protocol_lacks(const struct ct_p2p_costs *costs, enum ct_p2p_protocol protocol,
                                  enum ct_p2p_memory sender, enum ct_p2p_memory receiver);
/* Estimated nanoseconds from the call of the later of both sides until both are done. */
double ct_p2p_estimate_ns(const struct ct_p2p_costs *costs, enum ct_p2p_protocol protocol,
                          enum ct_p2p_memory sender, enum ct_p2p_memory receiver, size_t len_bytes);
/* Fills in what follows from the costs and the settings. */
void ct_p2p_kind_init(struct ct_p2p_kind *kind, const struct ct_p2p_costs *costs,
                      const struct ct_config *cfg);
/* What a transport says of a usual peer, for an instance with that limit of eager messages. */
void ct_p2p_costs_typical(const struct ct_net_ops *net, size_t eager_bytes, bool has_gpus,
                          struct ct_p2p_costs *costs);

#endif
