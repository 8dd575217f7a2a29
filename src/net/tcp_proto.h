/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tcp transport puts on the wire, and into a rank's record.
 *
 * Two ranks have some streams between them, each a stream of bytes in either direction that
 * outlives its connections. A connection opens with
 *
 *   hello      from the end that connects: its own id, the id of the peer, the number of the
 *              stream, and how many bytes of the stream it has received so far
 *   proof      base/auth.h; the hello is its context, so that a proof stands for this hello alone
 *   welcome    from the end that accepts: whether the stream goes on here, and how many bytes it
 *              has received
 *
 * and then carries frames, from the first byte on that the other end has not received. A frame is a
 * head, hdr_len bytes of header and len_bytes of payload. Frames are numbered, and each head says
 * how many bytes of the other direction have come.
 *
 * Numbers are in the hosts' byte order, which has to be the same: the magic shows if it is not.
 */
#ifndef CT_NET_TCP_PROTO_H
#define CT_NET_TCP_PROTO_H

#include <stdint.h>

#include "net/net.h"

enum {
    CT_TCP_VERSION = 2,
    CT_TCP_MAX_STREAMS = 16,
    CT_TCP_MAX_SLICE = 128 << 10, /* payload bytes of a slice */
    CT_TCP_MAX_PUT = 1 << 30,     /* and of a put */
    CT_TCP_MAX_IFS = CT_IFADDR_MAX,
};

enum {
    CT_TCP_ADDR_MAGIC = 0x41435443,
    CT_TCP_HELLO_MAGIC = 0x48435443,
    CT_TCP_WELCOME_MAGIC = 0x57435443,
    CT_TCP_FRAME_MAGIC = 0x4643,
};

/* ---- in the record
 * ----------------------------------------------------------------------------- */

/* Where a listening socket is. */
struct ct_tcp_where {
    uint8_t  family; /* 4 or 6 */
    uint8_t  prefix; /* bits that it shares with its subnet */
    uint16_t port;
    uint8_t  ip[16]; /* IPv4: the first four */
};

/* The location_key follow: `count` of them are in the record. */
struct ct_tcp_addr {
    uint32_t            magic;
    uint8_t             version, count;
    uint16_t            streams;
    uint64_t            host;     /* hash of the boot id */
    uint64_t            instance; /* random: tells this one from any before or after it */
    struct ct_tcp_where where[CT_TCP_MAX_IFS];
};

/* ---- opening a connection -------------------------------------------------------------------- */

enum ct_tcp_opening { CT_TCP_HELLO = 1, CT_TCP_GO, CT_TCP_YIELD, CT_TCP_REFUSE, CT_TCP_GONE };

struct ct_tcp_hello {
    uint32_t magic;
    uint8_t  version, type; /* CT_TCP_HELLO */
    uint16_t len_bytes;     /* of the hello */
    uint32_t from, from_incarnation, to, to_incarnation;
    uint64_t from_instance, to_instance;
    uint32_t stream, zero;
    uint64_t received;
};

/* GO: frames follow. YIELD: the connection that goes the other way is to be used. REFUSE: there is
 * no such stream, now or ever. GONE: likewise, since this process is about to leave in order. A
 * connection that ends without a welcome may be tried again. */
struct ct_tcp_welcome {
    uint32_t magic;
    uint8_t  version, type;
    uint16_t len_bytes;
    uint64_t received;
};

/* ---- frames ---------------------------------------------------------------------------------- */

enum ct_tcp_kind {
    CT_TCP_SLICE = 1, /* header and payload as given to ct_net_ops.send */
    CT_TCP_PUT,       /* header: struct ct_tcp_target; the payload is for the memory it names */
    CT_TCP_DONE,      /* header: struct ct_tcp_outcome; no payload */
    CT_TCP_ACK,       /* no more than its head */
    CT_TCP_BYE,       /* likewise: the sender leaves, and needs nothing any more */
    CT_TCP_KINDS
};

enum { CT_TCP_ACK_NOW = 1 }; /* flag: the sender waits for the acknowledgement */

struct ct_tcp_head {
    uint16_t magic;
    uint8_t  version, kind; /* enum ct_tcp_kind */
    uint8_t  type;          /* of a slice: ct_net_slice.type */
    uint8_t  hdr_len;
    uint16_t flags;
    uint32_t number; /* counts the frames of the stream, from 0 */
    uint32_t len_bytes;
    uint64_t ack; /* bytes of the other direction's stream that have come */
};

/* A part of a put: where it goes, and of which put it is a part. */
struct ct_tcp_target {
    uint64_t key, offset;   /* in the region */
    uint64_t id, len_bytes; /* of the put; the sender counts them from 1 on */
    uint32_t notice;
    uint32_t notify; /* 1: the owner is told the notice when all parts are there; else 0 */
};

/* All parts of a put have come. */
struct ct_tcp_outcome {
    uint64_t id;
    int32_t  status; /* CTRAN_SUCCESS or CT_REFUSED */
    uint32_t zero;
};

_Static_assert(sizeof(struct ct_tcp_addr) <= CT_NET_MAX_ADDR, "it fits into a record");
_Static_assert(sizeof(struct ct_tcp_hello) == 56 && sizeof(struct ct_tcp_welcome) == 16 &&
                   sizeof(struct ct_tcp_head) == 24 && sizeof(struct ct_tcp_where) == 20 &&
                   sizeof(struct ct_tcp_target) == 40 && sizeof(struct ct_tcp_outcome) == 16 &&
                   sizeof(struct ct_tcp_target) <= CT_NET_MAX_HDR,
               "no padding on the wire");

#endif
