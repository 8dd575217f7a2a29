/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmi/wire - framed, authenticated connections on an event loop, for the store and the out-of-band
 * exchange.
 *
 * A connection begins with the proof of the job's key (base/auth.h), bounded in bytes and time;
 * then come frames: 16 bytes of header (magic, version, type, length, id; little endian) and a
 * body. Everything is bounded: a body by max_body, bytes that wait to be sent by max_out; a
 * connection whose peer does not read is dropped. An idle connection holds no buffer, so one
 * process holds tens of thousands.
 *
 * Everything happens on the loop's one thread. The owner provides a connection's memory. `closed`
 * reports the end to the owner once, and never from inside one of the owner's calls: errors of a
 * send are reported from the loop.
 */
#ifndef CT_PMI_WIRE_WIRE_H
#define CT_PMI_WIRE_WIRE_H

#include <event2/event.h>
#include <event2/event_struct.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/base.h"

/* Traffic is counted by what it is for. */
enum ct_traffic {
    CT_TRAFFIC_PROOF,  /* of the key; three messages a connection */
    CT_TRAFFIC_STORE,  /* requests and replies */
    CT_TRAFFIC_NODE,   /* of a node's ranks with its agent */
    CT_TRAFFIC_GATHER, /* between the nodes' agents */
    CT_TRAFFIC_KINDS
};

struct ct_traffic_count {
    uint64_t messages, bytes; /* sent */
};

/* How another thread stops a wait on the loop: it sets *flag (seq_cst) and signals the word. */
struct ct_loop_stop {
    const _Atomic bool *flag;
    struct ct_wake      wake;
    int                 bell;
    struct event        rung;
};

/* One thread's loop and what its connections share. */
struct ct_loop {
    struct event_base      *base;
    const struct ct_log    *log;
    unsigned char          *scratch; /* where bytes land before they are taken apart */
    struct ct_traffic_count sent[CT_TRAFFIC_KINDS];
    uint64_t                seed; /* for jitter */
    struct ct_loop_stop    *stop; /* NULL: the loop is never stopped */
};

/* CTRAN_ERR_NO_MEM. */
int  ct_loop_init(struct ct_loop *loop, const struct ct_log *log);
void ct_loop_fini(struct ct_loop *loop);
/* A number below `below`, for jitter only. */
uint32_t ct_loop_random(struct ct_loop *loop, uint32_t below);
/* The wait before attempt k (0, 1, ...) of something: base_ms doubled k times, at most cap_ms, of
 * which half is jitter. */
uint32_t ct_loop_backoff_ms(struct ct_loop *loop, unsigned attempt, uint32_t base_ms,
                            uint32_t cap_ms);

/* Lets others stop what waits on this loop, by setting *flag and signalling stop->wake; until fini,
 * which is due before that of the loop. CTRAN_ERR_SYSTEM, CTRAN_ERR_NO_MEM: there is no stop. */
int  ct_loop_stop_init(struct ct_loop *loop, struct ct_loop_stop *stop, const _Atomic bool *flag);
void ct_loop_stop_fini(struct ct_loop *loop);
/* Runs the loop until a callback has set *done. False: it was stopped before. What sets *done has
 * to have a deadline. */
bool ct_loop_until(struct ct_loop *loop, const bool *done);

struct timeval ct_wire_timeval(uint32_t ms);

/* An address as it is sent: 20 bytes, in one form on all machines. */
struct ct_addr {
    uint8_t family; /* 4 or 6 */
    uint8_t zero;
    uint8_t port[2]; /* big endian */
    uint8_t ip[16];
};

/* From and to text, "127.0.0.1:4711", "[::1]:4711". CTRAN_ERR_ARG. */
int       ct_addr_parse(struct ct_addr *a, const char *text);
void      ct_addr_format(const struct ct_addr *a, char *text, size_t cap);
socklen_t ct_addr_to_sockaddr(const struct ct_addr *a, struct sockaddr_storage *ss);
int       ct_addr_of_socket(struct ct_addr *a, int fd);

/* So many addresses of a host are of use; an address as text; a list of them, "A:1,B:1". */
enum {
    CT_WIRE_REACH_MAX = CT_IFADDR_MAX,
    CT_WIRE_ADDR_SIZE = 64,
    CT_WIRE_LIST_SIZE = CT_WIRE_REACH_MAX * CT_WIRE_ADDR_SIZE
};

/* Where this host is reached, IPv4 first, port 0; `names` and `here` as ct_ifaddr_list has them.
 * Returns how many. */
uint32_t ct_addr_reach(const char *names, bool here, struct ct_addr reach[CT_WIRE_REACH_MAX]);
/* Where to listen for those who come there: at the address itself if it is the only one, else at
 * any; any of IPv6 is any of IPv4 as well. */
struct ct_addr ct_addr_listen_on(const struct ct_addr *reach, uint32_t nreach);
/* A list to text, and back; 0: it is none. */
void     ct_addr_format_list(const struct ct_addr *list, uint32_t n, char text[CT_WIRE_LIST_SIZE]);
uint32_t ct_addr_parse_list(struct ct_addr list[CT_WIRE_REACH_MAX], const char *text);

/* A listening socket on the address; port 0: any, and *a then has it. Logged. */
int ct_wire_listen(const struct ct_loop *loop, struct ct_addr *a, int *fd);

enum ct_room {
    CT_ROOM_FREE,  /* one more may come */
    CT_ROOM_LATER, /* not now: it waits in line */
    /* room may never come: the connecting end learns this by the end of its connection */
    CT_ROOM_FULL,
};

/* A listening socket that accepts from the loop. Where there is no room for one more, or
 * descriptors or memory have run out (which is logged the first time), it rests for a moment: a
 * socket that is not accepted from stays readable, and the loop would do nothing else. */
struct ct_listener {
    int                  fd; /* -1: closed */
    const struct ct_log *log;
    struct event         acceptable, rested;
    bool                 resting, told;
    /* Whether one more may come; makes room if it can. `scarce`: descriptors have run out. */
    enum ct_room (*room)(void *arg, bool scarce);
    /* Takes over the socket of an accepted connection. */
    void (*accepted)(void *arg, int fd);
    void *arg;
};

/* A new connection is not closed in favour of another for this time. A holder of the key proves it
 * in less. So many peers that connect at once all get in, and strangers cannot drive out each other
 * or the peers. */
enum { CT_WIRE_FAIR_MS = 250 };

/* Fields room, accepted and arg are the owner's to set before. CTRAN_ERR_SYSTEM (logged),
 * CTRAN_ERR_NO_MEM; then there is nothing to close. */
int ct_listener_open(struct ct_listener *l, struct ct_loop *loop, struct ct_addr *a);
/* There is room again. */
void ct_listener_go_on(struct ct_listener *l);
/* Closed already, or never opened but with fd -1: nothing. */
void ct_listener_close(struct ct_listener *l);
/* Socket options of a connection that carries small messages. */
void ct_wire_tune(int fd);

enum { CT_FRAME_BYTES = 16 };

struct ct_frame {
    uint8_t  type;
    uint32_t len; /* of the body */
    uint64_t id;
};

struct ct_wire_conn;

struct ct_wire_conn_ops {
    /* Both ends hold the key; frames may be sent. NULL: nothing to do. */
    void (*ready)(struct ct_wire_conn *c);
    /* Where a frame's body, which is not empty, shall be put; NULL, or no such function: into
     * memory of the connection. */
    void *(*place)(struct ct_wire_conn *c, const struct ct_frame *f);
    /* A whole frame. `body` is valid during the call. An error drops the connection, with `closed`;
     * this function must not close its own connection in any other way. */
    int (*message)(struct ct_wire_conn *c, const struct ct_frame *f, const void *body);
    /* All that waited to be sent has gone. NULL: nothing to do. */
    void (*drained)(struct ct_wire_conn *c);
    /* It has ended, for this reason; `why` is half a sentence about the peer. Its memory may be
     * given back in this call. */
    void (*closed)(struct ct_wire_conn *c, int code, const char *why);
};

/* All fields belong to conn.c, except those that the owner sets after opening. */
struct ct_wire_conn {
    const struct ct_wire_conn_ops *ops;
    struct ct_loop                *loop;
    enum ct_traffic                traffic;
    uint32_t                       max_body; /* owner: longest body that is taken; 1 MiB */
    size_t                         max_out;  /* owner: most that may wait to be sent; 4 MiB */
    int                            fd;       /* -1: closed */
    int                            error;    /* to be told from the loop */
    const char                    *why;
    struct ct_wire_conn_proof     *proof; /* until both ends hold the key */
    struct event                   readable, writable;
    struct ct_wire_conn_segment   *out_head, **out_tail;
    size_t                         out_bytes;
    unsigned char                  head[CT_FRAME_BYTES];
    uint8_t                        head_len;
    bool                           connecting, body_own;
    struct ct_frame                frame; /* the frame whose body is arriving */
    unsigned char                 *body;
    uint32_t                       body_have;
};

/* What both ends need to open a connection. */
struct ct_wire_conn_terms {
    const struct ct_auth_key *key;
    const char               *context;  /* what the connection is for */
    uint32_t                  limit_ms; /* until both ends hold the key */
    enum ct_traffic           traffic;
};

/* Takes over an accepted socket; on error closes it and there will be no `closed`. */
int ct_wire_conn_accept(struct ct_wire_conn *c, struct ct_loop *loop,
                        const struct ct_wire_conn_ops *ops, const struct ct_wire_conn_terms *terms,
                        int fd);
/* Starts to connect; `ready` or `closed` follows from the loop unless this returns an error. */
int ct_wire_conn_connect(struct ct_wire_conn *c, struct ct_loop *loop,
                         const struct ct_wire_conn_ops *ops, const struct ct_wire_conn_terms *terms,
                         const struct ct_addr *to);
/* Ends it at once, without `closed`; not from inside its own callbacks. Closed already: nothing. */
void ct_wire_conn_close(struct ct_wire_conn *c);
/* Ends it from the loop, with `closed`; from anywhere. */
void ct_wire_conn_fail(struct ct_wire_conn *c, int code, const char *why);
bool ct_wire_conn_is_ready(const struct ct_wire_conn *c);

/* Sends a frame whose body is two pieces, one after the other; either may be empty. The first is
 * copied; so is the second unless `attach`, and then it must stay as it is until the connection has
 * ended, drained, or the peer answered. CTRAN_ERR_NO_MEM, or CTRAN_ERR_OTHER beyond max_out or once
 * the connection has failed; it is then dropped from the loop. */
int ct_wire_conn_send(struct ct_wire_conn *c, uint8_t type, uint64_t id, const void *a,
                      size_t a_len, const void *b, size_t b_len, bool attach);

/* Like ct_wire_conn_send with a body of up to two pieces, neither copied; the second may be
 * empty. */
int ct_wire_conn_send_pieces(struct ct_wire_conn *c, uint8_t type, uint64_t id, void *const at[2],
                             const size_t len[2]);

/* Little-endian numbers in messages. */
void     ct_wire_put32(unsigned char *at, uint32_t v);
void     ct_wire_put64(unsigned char *at, uint64_t v);
uint32_t ct_wire_get32(const unsigned char *at);
uint64_t ct_wire_get64(const unsigned char *at);

/* The header of a frame, and back; false unless magic and version are right. */
void ct_frame_pack(const struct ct_frame *f, unsigned char out[CT_FRAME_BYTES]);
bool ct_frame_unpack(const unsigned char in[CT_FRAME_BYTES], struct ct_frame *f);

#endif
