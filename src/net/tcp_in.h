/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The other end of the bytes of a stream: takes bytes as they come, in portions of any size, and
 * makes frames of them. It knows no socket: the caller asks where the next bytes are to go, reads
 * them there, and reports how many came. So the payload of a put goes straight to its memory, and
 * the rest of a slice to the buffer where it is put together; only what follows goes through the
 * caller's spare memory.
 *
 * It trusts no input: lengths are checked before use, and invalid bytes end the stream with a
 * reason. The state belongs to the stream, not to a connection: a frame may begin on one connection
 * and end on another.
 */
#ifndef CT_NET_TCP_IN_H
#define CT_NET_TCP_IN_H

#include "net/tcp_pool.h"
#include "net/tcp_proto.h"

/* The functions that get the frames. hdr and data are valid during the call. */
struct ct_tcp_sink {
    void (*slice)(void *arg, uint8_t type, const void *hdr, size_t hdr_len, const void *data,
                  size_t len_bytes);
    /* The memory for a part of a put; NULL: there is none, its bytes are dropped. */
    const struct ct_area *(*place)(void *arg, const struct ct_tcp_target *to, size_t len_bytes);
    /* The part is over; `landed`: its bytes are there. */
    void (*placed)(void *arg, const struct ct_tcp_target *to, size_t len_bytes, bool landed);
    void (*done)(void *arg, const struct ct_tcp_outcome *outcome);
    /* False: it is a lie. */
    bool (*ack)(void *arg, uint64_t position);
    void (*bye)(void *arg);
};

struct ct_tcp_in {
    struct ct_tcp_pool       *pool;
    const struct ct_tcp_sink *sink;
    void                     *arg;
    uint64_t                  received;    /* bytes of the stream that have come */
    size_t                    owing_bytes; /* of slices, since the caller last set it to 0 */
    bool                      ack_now;     /* the sender waits for an acknowledgement */
    const char               *why;         /* the stream has ended: what was wrong with it */
    uint32_t                  number;      /* of the next frame */

    /* The beginning of a frame, in `small` or in `large`. */
    size_t         have, need;
    unsigned char *large; /* NULL: not needed now */
    CT_ALIGNED(8) unsigned char small[sizeof(struct ct_tcp_head) + CT_NET_MAX_HDR];

    /* The payload of a put that is arriving. */
    const struct ct_area *area; /* NULL: the bytes are dropped */
    struct ct_tcp_target  to;
    size_t                at, left, whole;
    bool                  ack_after; /* its sender will wait for the acknowledgement */
};

void ct_tcp_in_init(struct ct_tcp_in *in, struct ct_tcp_pool *pool, const struct ct_tcp_sink *sink,
                    void *arg);
void ct_tcp_in_fini(struct ct_tcp_in *in);

/* Where to read to: at most n (2 or more) entries, the last one in the caller's spare memory.
 * Returns how many; *own is how many bytes come before the spare memory. */
unsigned ct_tcp_in_want(const struct ct_tcp_in *in, struct iovec *iov, unsigned n, void *spare,
                        size_t spare_bytes, size_t *own);
/* So many bytes have come there. False: the stream has ended, see `why`. */
bool ct_tcp_in_came(struct ct_tcp_in *in, size_t bytes, size_t own, const void *spare);

/* Like ct_tcp_in_came for bytes that lie elsewhere. */
bool ct_tcp_in_feed(struct ct_tcp_in *in, const void *bytes, size_t len);

/* The region is withdrawn: what comes of a part that is on its way to it is dropped. */
void ct_tcp_in_withdraw(struct ct_tcp_in *in, uint64_t key);

#endif
