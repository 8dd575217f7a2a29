/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the ib transport sends to peers, and what stands in a rank's address.
 *
 *   address    the ports of the rank and their datagram queue pairs
 *   datagrams  (struct ct_ib_cm, UD) make connections, make them anew after a failure, ask whether
 *              a path works, and tell of addresses that have changed. Each carries a
 *              keyed hash by the job's key; others get no answer. They may be lost; their senders
 *              repeat.
 *   messages   (struct ct_ib_head, RC, the control queue pair) are numbered
 *   writes     (RC, the data queue pairs) are numbered in their immediates: order.h
 *
 * Numbers are in the hosts' byte order, which has to be the same: the magic shows if it is not.
 */
#ifndef CT_NET_IB_PROTO_H
#define CT_NET_IB_PROTO_H

#include <stdint.h>

#include "net/ib/order.h"
#include "net/net.h"

enum {
    CT_IB_VERSION = 1,
    CT_IB_MAX_PORTS = 6,
    CT_IB_MAX_DATA = 64,                 /* data queue pairs of a connection */
    CT_IB_MOST_QPS = 1 + CT_IB_MAX_DATA, /* queue pair 0 is the control queue pair */
    CT_IB_TAG = 16,
};

enum { CT_IB_ADDR_MAGIC = 0x41425443, CT_IB_CM_MAGIC = 0x43425443, CT_IB_KEY_MAGIC = 0x4b425443 };

/* ---- addresses ------------------------------------------------------------------------------- */

enum { CT_IB_ETHERNET = 1 << 0, CT_IB_UP = 1 << 1 };

struct ct_ib_where {
    uint8_t  gid[16];
    uint32_t qpn; /* of its datagrams */
    uint16_t lid;
    uint8_t  mtu;   /* enum ibv_mtu */
    uint8_t  flags; /* CT_IB_ETHERNET, CT_IB_UP */
};

struct ct_ib_addr {
    uint32_t           magic;
    uint8_t            version;
    uint8_t            nports;
    uint8_t            nprimary; /* the first so many are primary, the others are the backup */
    uint8_t            zero;
    uint32_t           slice_bytes; /* CTRAN_IB_SLICE */
    uint32_t           zero2;
    uint64_t           instance; /* random: tells this one from any before or after it */
    struct ct_ib_where ports[CT_IB_MAX_PORTS];
};

/* ---- datagrams ------------------------------------------------------------------------------- */

enum ct_ib_cm_type {
    CT_IB_CM_SYNC = 1, /* makes epoch `epoch` of the connection, on path `path` */
    CT_IB_CM_PARK,     /* the queue pairs of epoch `epoch` are gone for want of use */
    CT_IB_CM_PING,     /* whether path `path` works; tells addresses, too */
    CT_IB_CM_PONG,
};

/* What a SYNC says of its sender. */
enum {
    CT_IB_HAS_YOURS = 1 << 0, /* has the other's SYNC of this epoch: its queue pairs listen */
    CT_IB_IS_OPEN = 1 << 1,   /* and knows that the other's do */
};

struct ct_ib_cm {
    uint32_t           magic;
    uint8_t            version, type;
    uint16_t           len_bytes;
    uint32_t           from, from_incarnation, to, epoch;
    uint64_t           from_instance, to_instance;
    uint8_t            path;  /* bit 0: the lower rank's set of ports, bit 1: the higher rank's */
    uint8_t            flags; /* of a SYNC */
    uint8_t            nports, nqps;
    uint32_t           want_message;           /* the next message that the sender expects, */
    uint32_t           want_write;             /* the next write, */
    uint32_t           first_write;            /* and the number of its own first write, ever */
    uint64_t           ahead[CT_IB_WORDS];     /* writes that have arrived ahead of want_write */
    struct ct_ib_where ports[CT_IB_MAX_PORTS]; /* as they are now */
    uint32_t           qpn[CT_IB_MOST_QPS];
    uint8_t            tag[CT_IB_TAG];
    uint32_t           zero;
};

/* ---- messages -------------------------------------------------------------------------------- */

enum ct_ib_kind {
    CT_IB_SLICE = 1, /* header and payload as given to ct_net_ops.send */
    CT_IB_NOTICE,    /* header: struct ct_net_notice, of the next write that notifies */
    CT_IB_BYE,       /* the sender leaves in order */
    CT_IB_KINDS
};

struct ct_ib_head {
    uint32_t number;
    uint8_t  kind, type, hdr_len, zero; /* type: ct_net_slice.type */
    uint32_t len_bytes;
    uint32_t zero2;
};

/* ---- keys ------------------------------------------------------------------------------------ */

/* A packed key; the tag is a keyed hash by the job's key, so a key that was changed is none. */
struct ct_ib_wire_key {
    uint32_t magic, access;
    uint64_t instance, key, addr, len_bytes;
    uint32_t peer, nports;
    uint32_t rkey[CT_IB_MAX_PORTS]; /* by port of the owner's address */
    uint8_t  tag[CT_IB_TAG];
};

_Static_assert(sizeof(struct ct_ib_addr) <= CT_NET_MAX_ADDR, "it fits into a rank's address");
_Static_assert(sizeof(struct ct_ib_cm) <= 1024, "the smallest MTU of RoCE ports in use");
_Static_assert(sizeof(struct ct_ib_wire_key) <= CT_NET_MAX_RKEY, "a key fits");
_Static_assert(sizeof(struct ct_ib_where) == 24 && sizeof(struct ct_ib_addr) == 24 + 6 * 24 &&
                   sizeof(struct ct_ib_head) == 16 &&
                   sizeof(struct ct_ib_wire_key) == 48 + 4 * CT_IB_MAX_PORTS + CT_IB_TAG &&
                   sizeof(struct ct_ib_cm) == 40 + 16 + 8 * CT_IB_WORDS + 24 * CT_IB_MAX_PORTS +
                                                  4 * CT_IB_MOST_QPS + CT_IB_TAG + 4,
               "no padding on the wire");

#endif
