/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of the tcp transport share.
 *
 *   tcp.c       the instance: opening, closing, the polling of its sockets
 *   tcp_peer.c  a peer: its streams, slices handed to them, its loss
 *   tcp_stream.c  a stream: its directions (tcp_out.h, tcp_in.h), which outlive connections
 *   tcp_conn.c  a connection, from the call or its acceptance to the first frame
 *   tcp_rma.c   one-sided operations: puts, handed to streams in parts
 *   tcp_pool.c  memory for frames
 *   tcp_addr.c  interfaces, and which address of a peer to call
 *   tcp_wait.c  what is to be done at a later time
 *
 * Slices travel on stream 0, so that their order is that of its stream; the parts of a put on any,
 * since each says where it belongs. A stream is connected when it is first needed, by whichever
 * side needs it; where both call at once, the connection that the rank with the lower number made
 * is kept. One that breaks is made anew, and the streams go on at the byte where they stopped.
 *
 * An object that an event may still point to is not freed but buried, until the events are handled.
 */
#ifndef CT_NET_TCP_H
#define CT_NET_TCP_H

#include <netinet/in.h>
#include <uthash.h>

#include "base/auth.h"
#include "net/tcp_in.h"
#include "net/tcp_out.h"

struct ct_tcp;

/* What an event of epoll points to. */
struct ct_tcp_source {
    enum { CT_TCP_LISTENS, CT_TCP_TIMER, CT_TCP_CONN } kind;
    int fd;
};

/* A connection; before its proof has ended it belongs to no stream, unless this side made it. */
struct ct_tcp_conn {
    struct ct_tcp_source  source;
    struct ct_tcp        *t;
    struct ct_tcp_stream *stream; /* NULL: a stranger's */
    enum {
        CT_TCP_CONNECTING, /* connect() is under way */
        CT_TCP_WAIT_HELLO, /* waits for the hello */
        CT_TCP_AUTHENTICATING,
        CT_TCP_WAIT_WELCOME, /* waits for the welcome */
        CT_TCP_OPEN,
        CT_TCP_CLOSED,
    } phase;
    struct ct_list        node;        /* among those with a deadline, or the buried */
    uint64_t              deadline_ns; /* CALLING, and strangers */
    uint64_t              met_ns;      /* when its other end's system had answered */
    struct ct_auth        auth;
    struct ct_tcp_hello   hello;
    struct ct_tcp_welcome welcome;
    size_t                have; /* of the hello or the welcome */
    bool                  wants_out;
    bool                  shut;     /* this side writes no more: the farewell was the last */
    uint32_t              zerocopy; /* see tcp_stream.c */
    char                  name[64]; /* of its other end, for messages */
};

/* A pair of streams. */
struct ct_tcp_stream {
    struct ct_tcp_peer *peer;
    uint32_t            index;
    struct ct_tcp_out   out;
    struct ct_tcp_in    in;
    uint64_t            told;    /* what the last frame acknowledged */
    struct ct_tcp_conn *conn;    /* OPEN; NULL: none */
    struct ct_tcp_conn *attempt; /* one that this side makes */
    bool                blocked; /* the connection takes no more bytes now */
    struct ct_list      dirty;   /* among the streams that have something to write */
    struct ct_list      waiting; /* among those that try again later */
    uint64_t            retry_ns, down_ns;
    uint32_t            tries;    /* failed tries since it was last connected */
    uint64_t            break_in; /* bytes to the next break of CTRAN_TCP_BREAK */
    uint64_t            bye_at;   /* where the farewell begins in the stream */
    bool                bye_sent, bye_seen;
    bool                delivered; /* the peer's system has all, and gives it to the peer */
    bool                faulty;    /* the memory of a message cannot be read */
};

/* A way to call a peer: from an address of ours, port 0, or from any where the family is 0. */
struct ct_tcp_pair {
    struct sockaddr_storage to, from;
};

struct ct_tcp_peer {
    struct ct_net_link   link;
    UT_hash_handle       hh;
    struct ct_tcp       *t;
    uint32_t             id;
    void                *cookie; /* the endpoint layer's name for it */
    bool                 lost;
    bool                 left; /* the peer has said farewell, and all its slices have come */
    bool                 near; /* on this host */
    struct ct_tcp_addr   addr;
    unsigned             npairs, nbest; /* the first nbest are as good as each other */
    struct ct_tcp_pair   pairs[CT_TCP_MAX_IFS];
    struct ct_list       puts;     /* struct ct_tcp_put, with bytes that have yet to be assigned */
    struct ct_list       all_puts; /* likewise, that are not over, by id */
    struct ct_list       flushes;  /* tcp_rma.c: those that wait for puts */
    struct ct_list       arriving; /* likewise: puts of the peer with parts that have yet to come */
    uint64_t             last_put;
    uint32_t             nlanes;
    struct ct_tcp_stream streams[];
};

struct ct_tcp {
    struct ct_net        net;
    struct ct_net_env    env;
    int                  epoll;
    struct ct_tcp_source timer;
    struct ct_tcp_source listeners[CT_TCP_MAX_IFS];
    unsigned             nlisteners;
    struct ct_tcp_addr   addr;
    struct ct_tcp_where  own[CT_TCP_MAX_IFS]; /* the own addresses, with port 0 */
    size_t               addr_len;
    const char          *unusable; /* why not; NULL: it is */
    bool                 has_key;
    struct ct_auth_key   key;
    uint32_t             nlanes;
    struct ct_tcp_peer  *peers; /* uthash by id */
    struct ct_tcp_pool   frames;
    struct ct_list       dirty, waiting; /* struct ct_tcp_stream */
    struct ct_list       timed;          /* struct ct_tcp_conn, by deadline */
    struct ct_list       buried;         /* likewise */
    struct ct_list       done;           /* struct ct_tcp_put, acknowledged */
    unsigned             nstrangers, nconns;
    bool                 accepting, in_progress, closing;
    bool                 parting;  /* peers that have left may have yet to be told of */
    uint64_t             wakes_ns; /* when the timer goes off; 0: not */
    uint64_t             accept_ns;
    unsigned             skip, period; /* turns of progress until the sockets are looked at */
    unsigned             events;       /* events of this turn */
    unsigned             uncounted;    /* events that no turn has been told of */
    uint64_t             random;
    char                *spare;
};

/* Whether processes of other jobs may call. */
static inline bool ct_tcp_meets_others(const struct ct_tcp *t)
{
    return t->env.others != NULL && atomic_load_explicit(t->env.others, memory_order_relaxed);
}

enum { CT_TCP_SPARE = 256 << 10 };

/* A number that looks random. */
uint64_t ct_tcp_random(struct ct_tcp *t);

/* ---- tcp_addr.c ------------------------------------------------------------------------------ */

/* The addresses to listen at, by CTRAN_TCP_INTERFACES; at most CT_TCP_MAX_IFS. 0: there are none,
 * logged if the user named some. */
unsigned ct_tcp_addr_list(const struct ct_net_env *env, struct ct_tcp_where *list);
/* Opens a listening socket there and sets the port; -1: errno says why. */
int ct_tcp_addr_listen(struct ct_tcp_where *where);
/* The ways to call a peer that has published `addr`, best first; at most CT_TCP_MAX_IFS. */
unsigned ct_tcp_addr_pairs(const struct ct_tcp *t, const struct ct_tcp_addr *addr,
                           struct ct_tcp_pair *pairs, unsigned *nbest);
/* "192.0.2.1:4711" */
void ct_tcp_addr_name(const struct sockaddr_storage *addr, char *out, size_t cap);
/* A hash of the host's boot id. */
uint64_t ct_tcp_addr_host(void);

/* ---- tcp_conn.c ------------------------------------------------------------------------------ */

/* Starts to call the stream's peer; NULL, with errno, when that has failed at once. */
struct ct_tcp_conn *ct_tcp_conn_call(struct ct_tcp_stream *stream);
/* Takes up what listens at `listener`. */
void ct_tcp_conn_accept(struct ct_tcp *t, struct ct_tcp_source *listener);
/* Its socket has something to say, before it is OPEN. */
void ct_tcp_conn_event(struct ct_tcp_conn *c, uint32_t events);
/* The deadline of a connection that is not OPEN has passed. */
void ct_tcp_conn_expire(struct ct_tcp_conn *c);
/* Closes and buries it. Abruptly: what the system still holds of it is not sent any more. */
void ct_tcp_conn_close(struct ct_tcp_conn *c, bool abruptly);
/* Its congestion control, as the system calls it. */
const char *ct_tcp_conn_control(const struct ct_tcp_conn *c, char *name, size_t cap);
/* Whether events tell of room to write. */
void ct_tcp_conn_want_out(struct ct_tcp_conn *c, bool want);

/* ---- tcp_stream.c ---------------------------------------------------------------------------- */

void ct_tcp_stream_init(struct ct_tcp_stream *stream, struct ct_tcp_peer *peer, uint32_t index);
/* Drops connections and streams; puts stay undone. */
void ct_tcp_stream_fini(struct ct_tcp_stream *stream);
/* Sees to it that there is a connection some time. */
void ct_tcp_stream_need(struct ct_tcp_stream *stream);
/* Calls the peer now. */
void ct_tcp_stream_call(struct ct_tcp_stream *stream);
/* The time has come to try again what has failed. Inside progress. */
void ct_tcp_stream_retry(struct ct_tcp_stream *stream);
/* The connection is proved: the stream goes on there. The peer has `received` bytes of it. */
void ct_tcp_stream_adopt(struct ct_tcp_stream *stream, struct ct_tcp_conn *c, uint64_t received);
/* Its connection is broken. */
void ct_tcp_stream_lost(struct ct_tcp_stream *stream, const char *why);
/* An attempt has come to nothing; with `met` a rank of this job had answered. */
void ct_tcp_stream_missed(struct ct_tcp_stream *stream, const char *why, bool met);
/* Its connection has something to say. */
void ct_tcp_stream_event(struct ct_tcp_stream *stream, uint32_t events);
/* Reads until there is no more. Inside progress. */
void ct_tcp_stream_drain(struct ct_tcp_stream *stream);
/* Makes a frame, filled except for the fields that the stream sets, and appends it. NULL: no
 * memory. */
struct ct_tcp_frame *ct_tcp_stream_frame(struct ct_tcp_stream *stream, size_t size);
void                 ct_tcp_stream_add(struct ct_tcp_stream *stream, struct ct_tcp_frame *frame);
/* Writes what there is: now, or in progress at the end of the turn. */
void ct_tcp_stream_push(struct ct_tcp_stream *stream);
void ct_tcp_stream_flush(struct ct_tcp_stream *stream);
/* A turn of leaving: says that this process needs nothing any more, once all else is written closes
 * the stream, and looks how far the system has got with it. */
void ct_tcp_stream_leave(struct ct_tcp_stream *stream);
/* Whether nothing is left to be done for the peer. */
bool ct_tcp_stream_settled(const struct ct_tcp_stream *stream);
/* Bytes of its stream that the peer's system, as far as is known, has yet to take. */
uint64_t ct_tcp_stream_left(const struct ct_tcp_stream *stream);

/* ---- tcp_peer.c ------------------------------------------------------------------------------ */

/* The peer, made if need be; NULL when out of memory. */
struct ct_tcp_peer *ct_tcp_peer_get(struct ct_tcp *t, uint32_t id, void *cookie,
                                    const struct ct_tcp_addr *addr);
/* Like ct_tcp_peer_get by what it has published, for a hello from it. GO: it is there; REFUSE and
 * GONE as an answer says it; HELLO: not now, for want of memory. */
enum ct_tcp_opening ct_tcp_peer_find(struct ct_tcp *t, const struct ct_tcp_hello *hello,
                                     struct ct_tcp_peer **peer);
/* Reports its loss, and is quiet from then on. Inside progress alone. */
void ct_tcp_peer_lose(struct ct_tcp_peer *peer, int why);
/* Like ct_tcp_peer_lose for all that have left in order. */
void ct_tcp_peers_part(struct ct_tcp *t);
/* Drops all that is under way. */
void ct_tcp_peer_quit(struct ct_tcp_peer *peer);
void ct_tcp_peer_free(struct ct_tcp_peer *peer);
int  ct_tcp_peer_send(struct ct_net_link *link, const struct ct_net_slice *slice);

extern const struct ct_tcp_sink ct_tcp_peer_sink; /* its arg is a stream */

static inline struct ct_tcp_peer *ct_tcp_peer_of(struct ct_net_link *link)
{
    return CT_CONTAINER_OF(link, struct ct_tcp_peer, link);
}

/* ---- tcp_rma.c ------------------------------------------------------------------------------- */

extern const struct ct_net_rma_ops ct_tcp_rma_ops;

void ct_tcp_rma_init(struct ct_tcp_peer *peer);
/* Ends puts and flushes with that error, and forgets what was arriving. */
void ct_tcp_rma_quit(struct ct_tcp_peer *peer, int why);
/* Assigns a part of a put to a stream that has nothing else to write. */
void ct_tcp_rma_feed(struct ct_tcp_stream *stream);
/* The peer has acknowledged all bytes of puts: those of t->done. */
void ct_tcp_rma_acked(struct ct_tcp *t);
/* What the peer's frames say of puts: see struct ct_tcp_sink. */
const struct ct_area *ct_tcp_rma_place(void *stream, const struct ct_tcp_target *to,
                                       size_t len_bytes);
void ct_tcp_rma_placed(void *stream, const struct ct_tcp_target *to, size_t len_bytes, bool landed);
void ct_tcp_rma_done(void *stream, const struct ct_tcp_outcome *outcome);

/* ---- tcp_wait.c ------------------------------------------------------------------------------ */

/* Has the stream call its peer in about `delay_ns`. */
void ct_tcp_wait_retry(struct ct_tcp_stream *stream, uint64_t delay_ns);
/* Gives a connection a deadline; closing it takes that back. */
void ct_tcp_wait_deadline(struct ct_tcp_conn *c, uint64_t delay_ns);
/* The timer has gone off. */
void ct_tcp_wait_over(struct ct_tcp *t);
/* Pauses accepting, where descriptors are short. */
void ct_tcp_wait_accept(struct ct_tcp *t);

/* ---- tcp.c ----------------------------------------------------------------------------------- */

/* Adds a descriptor to those that are polled; -1: errno. */
int ct_tcp_watch(struct ct_tcp *t, struct ct_tcp_source *source, uint32_t events, bool again);
/* The job's key; NULL when there is none, logged. */
const struct ct_auth_key *ct_tcp_key(struct ct_tcp *t);

#endif
