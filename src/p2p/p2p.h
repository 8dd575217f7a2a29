/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * p2p - matched messages between two processes: matching by context, source and tag with wildcards
 * and in order; eager protocols (the message travels at once) and rendezvous (it waits for its
 * receive). protocol.h has the table of protocols, and what is taken for which message.
 *
 * It knows contexts (64-bit numbers that keep communicators apart) and source numbers, which the
 * floor above makes from communicators and ranks. The memory of a message is an area.
 *
 * Threads: any thread may call all functions except init, fini and set_contexts. These functions
 * enter the progress domain (ep/domain.h), so they are not called from inside it.
 */
#ifndef CT_P2P_P2P_H
#define CT_P2P_P2P_H

#include <uthash.h>

#include "ep/ep.h"
#include "p2p/protocol.h"

/* Messages of this process's that were read from their sender's GPU by a copy engine. */
uint64_t ct_p2p_fetched(struct ct_process *p) CT_EXCLUDES(ct_domain);

/* What matching compares. Wildcards are CTRAN_ANY_SOURCE and CTRAN_ANY_TAG; a receive with
 * CTRAN_ANY_TAG matches tags >= 0 only. */
struct ct_p2p_key {
    uint64_t ctx;
    int32_t  src, tag;
};

struct ct_p2p_req;
struct ct_p2p_stage;

/* Where an operation is; what is done is base.done. */
enum ct_p2p_state {
    /* A send. */
    CT_P2P_SENDING,     /* eager, or not handed over yet */
    CT_P2P_RENDEZVOUS,  /* the receiver is told, or about to be, and has not answered */
    CT_P2P_WITHDRAWING, /* told to the receiver like RENDEZVOUS, and to be taken back */
    CT_P2P_IN_PIECES,   /* the receiver gets it in messages */
    CT_P2P_PUTTING,     /* a transport reads its memory */
    /* A receive. */
    CT_P2P_POSTED,    /* it has no message */
    CT_P2P_MATCHED,   /* it has its message, which is all here or about to be asked for */
    CT_P2P_ASKED,     /* the sender is asked for it */
    CT_P2P_FETCHING,  /* a transport writes its memory, */
    CT_P2P_WITHDRAWN, /* the sender has given the message up meanwhile */
};

enum {
    CT_P2P_PART = 64, /* bytes */
    /* The longest part that is given to `take` where other threads may wait for the domain: an
     * operator of any kind is through with it in some tens of microseconds, and less would keep
     * what is eager from it. */
    CT_P2P_TAKE_SHARED = 64 << 10,
};
/* Makes something of a part of a message, from its byte `at` on. Parts come in order, all but the
 * last one a multiple of CT_P2P_PART long. Called in the domain. */
typedef void ct_p2p_take(struct ct_p2p_req *req, size_t at, const void *data, size_t len_bytes);

/* A send or a receive. Made by the caller (on its stack, in a plan, from ct_p2p_req_get) and owned
 * by it, but p2p keeps pointers to it from the start until base.done.
 *
 * What a receive needs whose message comes at once stands first, and together: of many that are
 * posted each costs as many lines of the cache as that has. */
struct ct_p2p_req {
    struct ct_request  base;
    bool               is_recv;
    uint8_t            state;      /* enum ct_p2p_state */
    bool               rendezvous; /* of a send: else it is eager */
    bool               truncated;
    bool               takes;   /* a receive with `take` */
    bool               staged;  /* it has `stage` */
    bool               stays;   /* a receive from anybody: a loss leaves it pending */
    int                give_up; /* the error to end it with, as soon as it can be taken back */
    struct ct_process *p;
    struct ct_ep      *ep; /* the peer; NULL for a wildcard receive without its message */
    struct ct_p2p_key  key;
    struct ct_list     node;  /* among posted receives */
    uint64_t           stamp; /* their order */
    uint64_t           id;    /* rendezvous: how the other side names it; 0: it has no name */
    union {
        /* A receive that chooses its memory when its message is known: called in the domain, sets
         * `area` for len_bytes. NULL: it has its memory. */
        void (*place)(struct ct_p2p_req *req, size_t len_bytes);
        /* See ct_p2p_take_recv. */
        ct_p2p_take *take;
        /* Once there are pieces: see stage.c. */
        struct ct_p2p_stage *stage;
    };
    struct ct_area area; /* one of one block sets the first fields alone */

    /* Rendezvous: the other side's name for it, and how far it got. From when it has a name. */
    uint64_t             peer_id;
    UT_hash_handle       hh;
    size_t               want_bytes, moved_bytes;
    struct ct_ep_region *region; /* what is exposed of its memory; NULL: nothing */
    union {
        struct ct_ep_op     op;   /* its message on the way; its node tells whether there is one */
        struct ct_p2p_move *move; /* PUTTING, FETCHING: what the transport does */
    };
};

/* Bit of a context that needs all of its members, as collectives do: the death of one ends all
 * operations in it. */
#define CT_P2P_CTX_ALL (UINT64_C(1) << 63)

/* What the floor above knows of contexts. Called in the domain. */
struct ct_p2p_contexts {
    /* Whether process `ep` may send in context ctx: decides what its loss ends besides operations
     * with it, in an ordinary context receives from anybody. */
    bool (*member)(struct ct_process *p, uint64_t ctx, const struct ct_ep *ep);
    /* How many processes besides this one may. */
    uint32_t (*others)(struct ct_process *p, uint64_t ctx);
    /* Whether ctx is revoked: all operations in it end with CTRAN_ERR_REVOKED. */
    bool (*revoked)(struct ct_process *p, uint64_t ctx);
    /* How many of the losses that ct_p2p_loss counts the program has acknowledged in ctx: they end
     * no receive from anybody. */
    size_t (*acked)(struct ct_process *p, uint64_t ctx);
    /* Whether ctx was closed here: a message that arrives in it is dropped. */
    bool (*closed)(struct ct_process *p, uint64_t ctx);
};

int  ct_p2p_init(struct ct_process *p);
void ct_p2p_fini(struct ct_process *p);
/* NULL: there are no contexts. */
void ct_p2p_set_contexts(struct ct_process *p, const struct ct_p2p_contexts *contexts);
/* Between cycles of init and finalize, with no other thread: locks are from now on as p->threaded
 * says; and all that belongs to the program is forgotten. rest.c */
void ct_p2p_set_threaded(struct ct_process *p);
void ct_p2p_rest(struct ct_process *p);
/* Before that: waits until no transport reads or writes a request's memory any more, and until
 * sends that release themselves are done: those that the program has let go of, and those that are
 * a part of its request (exchange.c, part.c). After some seconds it logs what for. No other
 * thread waits. */
void ct_p2p_settle(struct ct_process *p) CT_EXCLUDES(ct_domain);

/* Start an operation on the memory of `area`, which is borrowed until done, as are its pieces. They
 * do not fail: an error completes the request, maybe before they return. */
void ct_p2p_isend(struct ct_process *p, struct ct_p2p_req *req, struct ct_ep *to,
                  struct ct_p2p_key key, const struct ct_area *area);
/* Like ct_p2p_isend in one go, where the message can travel at once: then the send is over, and
 * needs no request. False: nothing was done, take the long way. */
bool ct_p2p_send_now(struct ct_process *p, struct ct_ep *to, struct ct_p2p_key key,
                     const struct ct_area *area);
/* A request for a send that is over: one object for all, done and without an owner; releasing it
 * has no effect. */
struct ct_request *ct_p2p_sent(struct ct_process *p);
/* Like ct_p2p_isend, but done only once the receiver has matched the message: a rendezvous at any
 * length. */
void ct_p2p_issend(struct ct_process *p, struct ct_p2p_req *req, struct ct_ep *to,
                   struct ct_p2p_key key, const struct ct_area *area);
/* `from` is the endpoint of key.src, NULL when that is CTRAN_ANY_SOURCE. */
void ct_p2p_irecv(struct ct_process *p, struct ct_p2p_req *req, struct ct_ep *from,
                  struct ct_p2p_key key, const struct ct_area *area);
/* A receive from anybody that is a request of the program's: the loss of a process leaves it
 * pending, see ct_p2p_is_left_pending. */
void ct_p2p_irecv_any(struct ct_process *p, struct ct_p2p_req *req, struct ct_p2p_key key,
                      const struct ct_area *area);
/* As ct_p2p_irecv, but the message is given to `take` as it comes: nothing is copied first. What a
 * transport moves by itself goes to `area` all the same, where `take` was not called at all; so
 * does a message of parts longer than CT_P2P_TAKE_SHARED in a threaded process. */
void ct_p2p_take_recv(struct ct_process *p, struct ct_p2p_req *req, struct ct_ep *from,
                      struct ct_p2p_key key, const struct ct_area *area, ct_p2p_take *take);

/* Memory of this process's that peers learn of in some way of the caller's, and may read until it
 * is withdrawn; no request is completed. _expose writes the key for `to` to `key`, which has room
 * for CT_EP_MAX_RKEY bytes, and returns how many there are; 0: nothing is exposed, as there is no
 * memory or `to` is lost. Other peers that are reached as `to` is may use the key, too. remote.c */
size_t ct_p2p_expose(struct ct_process *p, const struct ct_area *area, struct ct_ep *to, void *key,
                     struct ct_ep_region **region) CT_EXCLUDES(ct_domain);
void   ct_p2p_withdraw(struct ct_process *p, struct ct_ep_region *region) CT_EXCLUDES(ct_domain);
/* What such a key stands for, or a part of it. */
struct ct_p2p_remote {
    const void *key;
    size_t      key_len;
    uint64_t    offset, len_bytes;
};
/* The peer: reads a part. CTRAN_ERR_UNSUPPORTED_OPERATION: the transport does not do that. Then
 * _ask gets it by messages, which come whenever the other one looks for any. */
int ct_p2p_read(struct ct_ep *from, void *to, const struct ct_p2p_remote *what)
    CT_EXCLUDES(ct_domain);
int ct_p2p_ask(struct ct_ep *from, void *to, const struct ct_p2p_remote *what)
    CT_EXCLUDES(ct_domain);
/* Whether this process may read memory of `from` that is not attached, as far as is known. */
bool ct_p2p_may_read(struct ct_ep *from) CT_EXCLUDES(ct_domain);

/* A message that came before its receive. */
struct ct_unexpected;

/* ---- buffered sends, buffer.c ---------------------------------------------------------------- */

/* The owner of an attached buffer: the process, a communicator (its number), or a session (its
 * number and this bit). Each has one at most. A send has three owners, of which the first that has
 * a buffer serves it. */
#define CT_BUFFER_PROCESS UINT64_C(0)
#define CT_BUFFER_SESSION (UINT64_C(1) << 63)
enum { CT_BUFFER_OWNERS = 3 };

/* The memory that buffered sends copy their messages to: the user's, or CTRAN_BUFFER_AUTOMATIC.
 * CTRAN_ERR_BUFFER: there is one already, or none to detach or flush. _detach and _flush wait for
 * its messages, the request of _iflush for those that are in it now. */
int ct_p2p_buffer_attach(struct ct_process *p, uint64_t owner, void *base, size_t size_bytes);
int ct_p2p_buffer_detach(struct ct_process *p, uint64_t owner, void **base, size_t *size_bytes);
int ct_p2p_buffer_flush(struct ct_process *p, uint64_t owner);
int ct_p2p_buffer_iflush(struct ct_process *p, uint64_t owner, struct ct_request **out);
/* Sends a copy of the area, which is the caller's again on return. CTRAN_ERR_BUFFER: there is no
 * room for it, or no buffer; CTRAN_ERR_NO_MEM of an automatic one; CTRAN_ERR_OTHER: the area could
 * not be read. A peer's loss loses the message
 * in silence. */
int ct_p2p_bsend(struct ct_process *p, const uint64_t owners[CT_BUFFER_OWNERS], struct ct_ep *to,
                 struct ct_p2p_key key, const struct ct_area *area);

/* ---- probes, probe.c ------------------------------------------------------------------------- */

/* Looks for the first message that a receive of (from, key) would match now, after driving
 * transfers once if need be; _probe waits for one. `what` gets what a status reports of it. Where
 * `take` is not NULL it gets the message, which is then out of the line: no receive matches it any
 * more but ct_p2p_irecv_message. Errors: the sender is lost. probe.c */
int ct_p2p_iprobe(struct ct_process *p, struct ct_ep *from, const struct ct_p2p_key *key,
                  bool *found, struct ct_request *what, struct ct_unexpected **take);
int ct_p2p_probe(struct ct_process *p, struct ct_ep *from, const struct ct_p2p_key *key,
                 struct ct_request *what, struct ct_unexpected **take);
/* Receives a message that was taken, and frees it. */
void ct_p2p_irecv_message(struct ct_process *p, struct ct_p2p_req *req, struct ct_unexpected *u,
                          const struct ct_area *area);

/* ---- partitioned messages, part.c ------------------------------------------------------------ */

/* One end of a message that the program fills or reads in equal parts. */
struct ct_part_args {
    struct ct_ep *ep; /* NULL: there is no other end */
    /* of the first message, by which the ends find each other; ctx is theirs */
    struct ct_p2p_key key;
    bool              is_recv;
    struct ct_area    area; /* all partitions; borrowed, as are its pieces */
    uint32_t          partitions;
};

/* Makes a persistent request; the ends meet in the order in which they were made. NULL when out of
 * memory. The caller sets owner and calls ct_part_destroy when it is released. */
struct ct_request *ct_part_create(struct ct_process *p, const struct ct_part_args *args);
void               ct_part_destroy(struct ct_request *base);

/* What ct_part_create made, or NULL. */
struct ct_part *ct_part_of(struct ct_request *base);
bool            ct_part_is_recv(const struct ct_part *part);
uint32_t        ct_part_count(const struct ct_part *part);

/* Marks partitions of a started send as ready: those of the list, or n from `first` on. On error
 * none: CTRAN_ERR_ARG, *which is ready already (or twice in the list). */
int ct_part_ready(struct ct_part *part, uint32_t first, const int *list, uint32_t n,
                  uint32_t *which);
/* Whether all partitions of a started send have been marked; if not, *which is the first that has
 * not. */
bool ct_part_all_ready(struct ct_part *part, uint32_t *which);
/* Whether a partition of a started receive is there. */
bool ct_part_arrived(const struct ct_part *part, uint32_t partition);

/* Drives transfers until req is done; returns its error. */
int ct_p2p_wait(struct ct_process *p, struct ct_request *req);

/* Ends a request that has not moved data yet with `error`. A receive without its message ends at
 * once; a send that the receiver has not answered ends when the receiver has let go of it. Others
 * are left to complete. */
void ct_p2p_cancel(struct ct_p2p_req *req, int error);

/* The error of an operation in ctx with `peer`, or with NULL of a receive from anybody, for the
 * loss of a process or because ctx is revoked; CTRAN_SUCCESS where none concerns it. failure.c */
int ct_p2p_lost(struct ct_process *p, const struct ct_ep *peer, uint64_t ctx) CT_IN_DOMAIN;
/* The error of a context that is revoked, or that needs all of its members and has a dead one;
 * CTRAN_SUCCESS: none. */
int ct_p2p_over(struct ct_process *p, uint64_t ctx) CT_IN_DOMAIN;

/* The processes that this one knows to be lost, in the order in which it learnt of them: the number
 * `i` of them, NULL beyond the last. Those that have left by their own will are among them. */
struct ct_ep *ct_p2p_loss(const struct ct_process *p, size_t i) CT_IN_DOMAIN;
/* More of these are acknowledged than before: receives that were left pending go on. */
void ct_p2p_acked(struct ct_process *p) CT_IN_DOMAIN;

/* One more communicator is revoked, which contexts.revoked says by now. Ends what is under way in
 * its contexts. */
void ct_p2p_revoke(struct ct_process *p) CT_IN_DOMAIN;
/* One that was revoked has gone. Any thread, in the domain or not. */
void ct_p2p_unrevoke(struct ct_process *p);
/* Drops the messages that nobody has received in contexts that are closed. */
void ct_p2p_purge(struct ct_process *p) CT_IN_DOMAIN;

/* Takes back that a receive is done which a loss has left pending (base.error is
 * CTRAN_ERR_PROC_FAILED_PENDING), if it still is: false, it has ended meanwhile. */
bool ct_p2p_is_left_pending(struct ct_request *base);

/* The cancel of a request of ct_p2p_req_get: a receive without its message ends with success; all
 * else goes on. */
int ct_p2p_req_cancel(struct ct_request *base);

/* Requests that outlive their caller's frame; NULL when out of memory. _put is their release. */
struct ct_p2p_req *ct_p2p_req_get(struct ct_process *p);
void               ct_p2p_req_put(struct ct_process *p, struct ct_request *base);

#endif
