/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of p2p share. */
#ifndef CT_P2P_STATE_H
#define CT_P2P_STATE_H

#include "p2p/match.h"

extern struct ct_guard ct_p2p_reqs;

/* The ids of p2p's active messages. */
struct ct_p2p_ids {
    uint8_t eager, rts, cts, data, fin, nak, withdraw, stall, credit;
};

struct ct_p2p {
    struct ct_match match         CT_GUARDED_BY(ct_domain);
    struct ct_p2p_buffer *buffers CT_GUARDED_BY(ct_domain); /* uthash by owner: buffer.c */
    struct ct_list watchers       CT_GUARDED_BY(ct_domain); /* struct ct_p2p_watcher */
    struct ct_p2p_req *active     CT_GUARDED_BY(ct_domain); /* uthash by id: in a rendezvous */
    struct ct_p2p_kind *kinds     CT_GUARDED_BY(ct_domain); /* of peers: protocol.c */
    uint64_t next_id              CT_GUARDED_BY(ct_domain); /* the last one given */
    uint64_t fetched              CT_GUARDED_BY(ct_domain); /* messages, see ct_p2p_fetched */
    struct ct_ep **lost           CT_GUARDED_BY(ct_domain); /* peers that have failed */
    size_t nlost                  CT_GUARDED_BY(ct_domain);
    struct ct_p2p_ids             ids;                      /* set by ct_p2p_init */
    uint32_t next_part            CT_GUARDED_BY(ct_domain); /* numbers partitioned sends */
    struct ct_list waiting        CT_GUARDED_BY(ct_domain); /* peers that want credit: flow.h */
    struct ct_list lined          CT_GUARDED_BY(ct_domain); /* peers for which sends are in line */
    size_t                        share;                    /* the credit that each sender has */
    bool                          oversubscribed;           /* ranks share cores */
    _Atomic uint32_t              nrevoked; /* contexts that are revoked, and open */
    struct ct_p2p_contexts        contexts; /* functions that are NULL: there are no contexts */
    struct ct_p2p_req             sent; /* see ct_p2p_sent */
    struct ct_lock                reqs_lock;
    struct ct_slab reqs           CT_GUARDED_BY(ct_p2p_reqs); /* struct ct_p2p_req, see _req_get */
};

/* A thread that waits for something else than requests: for a message that a probe would find, or
 * for the buffer to be empty. It is told whenever one may be so, and looks for itself. */
struct ct_p2p_watcher {
    struct ct_list   node;
    struct ct_waiter waiter;
};

void ct_p2p_watch(struct ct_process *p, struct ct_p2p_watcher *w) CT_IN_DOMAIN;
/* One turn of waiting; the domain is left meanwhile. */
void ct_p2p_watch_wait(struct ct_process *p, struct ct_p2p_watcher *w) CT_IN_DOMAIN;
void ct_p2p_unwatch(struct ct_p2p_watcher *w) CT_IN_DOMAIN;
void ct_p2p_tell_watchers(struct ct_process *p) CT_IN_DOMAIN;

/* The message headers of each type. */
struct ct_wire_eager {
    struct ct_p2p_key key; /* the payload follows */
};
struct ct_wire_rts { /* "I have a message for you"; the key of its memory may follow */
    struct ct_p2p_key key;
    uint64_t          len_bytes;
    uint64_t          sender_id;
    uint64_t          memory; /* enum ct_p2p_memory */
};
/* "Send me its first want_bytes": by a put if the key of the receiver's memory follows, or as DATA.
 */
struct ct_wire_cts {
    uint64_t sender_id, receiver_id, want_bytes;
    uint64_t bars_device; /* 1: the receiver reaches no memory of the sender's GPUs, or ever will */
};
struct ct_wire_data { /* the payload is the piece at `offset` */
    uint64_t receiver_id, offset;
};
struct ct_wire_fin { /* "I have it", or "nobody here receives it any more" */
    uint64_t sender_id, is_dropped;
};
struct ct_wire_nak { /* "there is no such send any more", and what ended it */
    uint64_t receiver_id;
    int64_t  error;
};
struct ct_wire_withdraw { /* "forget it, and tell me so": the answer is FIN */
    uint64_t sender_id;
};

/* Whether an operation that starts has to ask ct_p2p_lost. */
static inline bool ct_p2p_is_troubled(const struct ct_p2p *s) CT_IN_DOMAIN
{
    return (s->nlost | atomic_load_explicit(&s->nrevoked, memory_order_relaxed)) != 0;
}

/* A receive from anybody that a loss has left pending: it is done with that error, and yet stands
 * among those that are posted. */
static inline bool ct_p2p_is_pending_loss(const struct ct_p2p_req *req)
{
    return req->stays && req->state == CT_P2P_POSTED && ct_request_is_done(&req->base) &&
           req->base.error == CTRAN_ERR_PROC_FAILED_PENDING;
}

/* Ends a receive that has no message by a loss, or leaves it pending. It may be gone then. */
void ct_p2p_lose(struct ct_p2p_req *req, int error) CT_IN_DOMAIN;

/* Lets go of all memory of buffered sends, at the end of a cycle. */
void ct_p2p_buffers_forget(struct ct_process *p);

/* The pool of requests, empty. */
void ct_p2p_reqs_init(struct ct_p2p *s) CT_REQUIRES(ct_p2p_reqs);

/* Fills a request in; what starts it comes after. */
void ct_p2p_prepare(struct ct_process *p, struct ct_p2p_req *req, bool is_recv, struct ct_ep *ep,
                    struct ct_p2p_key key, const struct ct_area *area);
/* The inside of ct_p2p_isend, _issend and _irecv. */
void ct_p2p_start_send(struct ct_p2p_req *req) CT_IN_DOMAIN;
void ct_p2p_start_ssend(struct ct_p2p_req *req) CT_IN_DOMAIN;
void ct_p2p_start_recv(struct ct_p2p_req *req) CT_IN_DOMAIN;

/* Starts a send for which there is credit. */
void ct_p2p_hand_over(struct ct_p2p_req *req) CT_IN_DOMAIN;

/* Sends a message that belongs to no request. It is lost without harm when the peer is gone. */
void ct_p2p_answer(struct ct_ep *to, uint8_t id, const void *hdr, size_t hdr_len) CT_IN_DOMAIN;
/* Reads a header of exactly this length; false: the peer has failed by sending another. */
bool ct_p2p_unpack(struct ct_ep *from, const void *hdr, size_t hdr_len, void *wire,
                   size_t len) CT_IN_DOMAIN;

/* Completes a request with `error`; a receive reports what it moved. It may be gone then. */
void ct_p2p_complete(struct ct_p2p_req *req, int error) CT_IN_DOMAIN;
/* Whether a first part of this length is one for `take`. */
static inline bool ct_p2p_may_take(const struct ct_p2p_req *req, size_t len_bytes)
{
    return req->takes && (len_bytes <= CT_P2P_TAKE_SHARED || !req->p->threaded);
}
/* What has come of a message from byte `at` on goes where the receive wants it. Returns how many
 * bytes did. */
size_t ct_p2p_deliver(struct ct_p2p_req *req, size_t at, const void *data,
                      size_t len_bytes) CT_IN_DOMAIN;

/* Hands req's message over; when it was taken, at once or later, `taken` is called. */
void ct_p2p_post_op(struct ct_p2p_req *req, uint8_t id, const void *hdr, size_t hdr_len,
                    void (*taken)(struct ct_ep_op *op, int status)) CT_IN_DOMAIN;

/* Ends a request that has not moved data yet, now or soon: see ct_p2p_cancel. */
void ct_p2p_end(struct ct_p2p_req *req, int error) CT_IN_DOMAIN;

void ct_p2p_failure_register(struct ct_process *p);

/* ---- rendezvous: rendezvous.c is the sender, rndv_recv.c the receiver ------------------------ */

void ct_rndv_send(struct ct_p2p_req *req) CT_IN_DOMAIN;
struct ct_rndv_offer { /* what an announcement says; the key is borrowed */
    size_t             len_bytes;
    uint64_t           sender_id;
    enum ct_p2p_memory memory; /* the sender's */
    const void        *key;
    size_t             key_len; /* 0: there is none */
};
void ct_rndv_recv(struct ct_p2p_req *req, struct ct_ep *from,
                  const struct ct_rndv_offer *offer) CT_IN_DOMAIN;
void ct_rndv_leave(struct ct_p2p_req *req) CT_IN_DOMAIN;
/* Takes an announced send back; it ends with `error` when the receiver has let go of it. */
void ct_rndv_withdraw(struct ct_p2p_req *req, int error) CT_IN_DOMAIN;
void ct_rndv_register(struct ct_process *p);

/* What both ends share. Gives the request its number. */
void ct_rndv_enter(struct ct_p2p_req *req) CT_IN_DOMAIN;
/* The operation `id` with this peer; NULL: there is none (any more), or the own message about it
 * has yet to go out, so that the peer's can only be false. */
struct ct_p2p_req *ct_rndv_find(struct ct_ep *from, uint64_t id) CT_IN_DOMAIN;
/* Tells the peer that its message with that number is here, or that the peer need not keep it; or
 * that it was dropped, since its context is closed here: then the send ends as revoked. */
void ct_rndv_let_go(struct ct_ep *to, uint64_t sender_id) CT_IN_DOMAIN;
void ct_rndv_drop(struct ct_ep *to, uint64_t sender_id) CT_IN_DOMAIN;
void ct_rndv_refuse(struct ct_ep *to, uint64_t receiver_id, int error) CT_IN_DOMAIN;
/* As ct_p2p_post_op, for RTS and CTS, with the key of a region behind the header, if there is
 * one. */
void ct_rndv_post_key(struct ct_p2p_req *req, uint8_t id, const void *hdr,
                      size_t hdr_len) CT_IN_DOMAIN;
void ct_rndv_cts_taken(struct ct_ep_op *op, int status) CT_IN_DOMAIN;
void ct_rndv_recv_register(struct ct_process *p);

/* What a transport does for a request, beyond the call that starts it: move.c. */
struct ct_p2p_move {
    struct ct_ep_rma   rma;
    struct ct_net_comp comp;
    struct ct_ep_rkey *rkey;
    struct ct_p2p_req *req;
    void (*done)(struct ct_p2p_req *req, int status);
};
/* Moves want_bytes between the request's area and the memory of an open key, from its beginning on.
 * CTRAN_SUCCESS: `done` is called when it is over, in here or later, and the key is closed before.
 * Else nothing was done, and the key is the caller's. A put tells the owner when it is over. */
int ct_p2p_move(struct ct_p2p_req *req, struct ct_ep_rkey *rkey, enum ct_net_op op,
                void (*done)(struct ct_p2p_req *req, int status)) CT_IN_DOMAIN;

/* stage.c. From where, and from which byte *pos on there, the piece that begins at req->moved_bytes
 * is sent; it ends with that area at the latest. NULL: its memory could not be read. */
const struct ct_area *ct_stage_read(struct ct_p2p_req *req, size_t piece_bytes,
                                    size_t *pos) CT_IN_DOMAIN;
/* The piece from byte `at` of the message on goes where the receive wants it, with the last piece
 * at the latest; they come in order. False: its memory could not be written. */
bool ct_stage_write(struct ct_p2p_req *req, size_t at, const void *data,
                    size_t len_bytes) CT_IN_DOMAIN;
void ct_stage_free(struct ct_p2p_req *req) CT_IN_DOMAIN;
/* All of the message from the memory of an open key, at once. CTRAN_ERR_UNSUPPORTED_OPERATION: the
 * transport cannot read it; CTRAN_ERR_BUFFER: the memory here could not be written. */
int ct_stage_get(struct ct_p2p_req *req, struct ct_ep_rkey *rkey) CT_IN_DOMAIN;
/* One read by the transport, at once. CTRAN_ERR_UNSUPPORTED_OPERATION: not this memory;
 * CTRAN_ERR_BUFFER: memory of one of the sides cannot be accessed; CT_REFUSED. */
int ct_p2p_get_now(struct ct_ep_rkey *rkey, uint64_t offset, const struct ct_area *area,
                   size_t len_bytes) CT_IN_DOMAIN;

#endif
