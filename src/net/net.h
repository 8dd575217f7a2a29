/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * net - transports: how bytes reach one other process. A transport is a struct of functions, and
 * knows nothing of ranks, tags or communicators: peers are numbers that the endpoint layer gives,
 * with the address that the peer's own instance published. Above it stands `ep`, alone.
 *
 * To add a transport: copy the template, tests/net/template.c, fill its struct ct_net_ops, add it
 * to the array in net.c, and run the conformance suite on it (HACKING). Static description (ops)
 * and live instance (ct_net) are two things; a test may hold thousands of instances in one process.
 *
 * Four ways to move data:
 *   send  a slice: type, a header of at most CT_NET_MAX_HDR bytes, and up to max_slice bytes of
 *         payload. The transport has taken a copy when send returns; it arrives whole, in order
 *         per link, through the deliver callback of the receiving instance.
 *   get   (CT_NET_GET) reads the peer's memory into the caller's, with no help from the peer.
 *   put   (CT_NET_PUT) writes the caller's memory into what the peer names for a number that it
 *         has handed out. No order among puts, or between puts and slices.
 *   fetch (CT_NET_FETCH) reads memory that the peer has offered into the caller's, of any kind, in
 *         the background.
 *
 * One-sided operations on memory that a peer has registered (CT_NET_RMA) are in rma.h: they are to
 * replace get, put and fetch.
 *
 * Nothing here blocks, but for the copying itself, and close. deliver, place, placed, announced,
 * failed, left and done of puts and fetches are called from inside progress, drain and check_peers
 * alone; all other functions call back nobody but lookup, key and arrived. All calls but open and
 * close come under the lock of the progress domain (ep/domain.h), so a transport needs none of its
 * own.
 */
#ifndef CT_NET_NET_H
#define CT_NET_NET_H

#include "base/base.h"
#include "net/rma.h"
#include "node/node.h"

struct ct_net;      /* a live instance; each transport embeds it at the start of its own */
struct ct_net_link; /* a way to one peer; likewise */

enum { CT_NET_MAX_HDR = 64 };

enum ct_net_caps {
    CT_NET_GET = 1 << 0,
    CT_NET_PUT = 1 << 1,
    CT_NET_FETCH = 1 << 2,
    CT_NET_RMA = 1 << 3, /* has the operations of rma.h */
};

struct ct_auth_key;

/* Where the peer's memory is, as the peer sees it, and under what token it has announced that. */
struct ct_net_remote {
    uint64_t addr;
    uint64_t len_bytes;
    uint64_t token;
    bool     alone; /* the peer is at what it gets from us: it had better not be asked for help */
};

/* Who the instance is and whom it reports to; borrowed until close. */
struct ct_net_env {
    const struct ct_log       *log;
    const struct ct_config    *cfg;
    const char                *job;         /* id of the job, for names */
    uint32_t                   id;          /* this process's number in the job, and which */
    uint32_t                   incarnation; /* process it is that bears it */
    uint32_t                   size;        /* processes of the job */
    uint32_t                   local_index; /* its place among the nlocal processes of the job */
    uint32_t                   nlocal;      /* on this host */
    uint64_t                   local_group; /* equal on exactly these nlocal processes */
    const struct ct_placement *placement;   /* of them, where they share cores; else NULL */
    struct ct_process         *process;     /* for mem; NULL: there is no memory but the host's */
    void                      *arg;

    /* The endpoint layer's name for process `id` of that incarnation, to be given to the two
     * below. NULL: no such process, or out of memory. */
    void *(*peer)(void *arg, uint32_t id, uint32_t incarnation);
    /* A slice from `peer`; hdr and data are valid during the call only. The callee may send. */
    void (*deliver)(void *peer, uint8_t type, const void *hdr, size_t hdr_len, const void *data,
                    size_t len_bytes);
    /* Where a put of the peer's goes: the area that `token` stands for, of which len_bytes from
     * byte `offset` on are written before placed is called, unless the link is dropped. NULL: there
     * is none (any more), the bytes are of no use. */
    const struct ct_area *(*place)(void *peer, uint64_t token, uint64_t offset, size_t len_bytes);
    void (*placed)(void *peer, uint64_t token, size_t len_bytes);
    /* Whether that is memory of this process that was announced to `peer` under that token, and
     * waits for it still: CTRAN_SUCCESS; CT_AGAIN: nothing is (any more) under that token;
     * CTRAN_ERR_INTERN: what is there is something else. */
    int (*announced)(void *peer, const struct ct_net_remote *what);
    /* `peer` is lost, `why` is a CTRAN_ERR_*: called once, after which its link fails all. */
    void (*failed)(void *peer, int why);
    /* The same, and called in the same places, for one that has closed its instance in order: it is
     * missed by those alone that still want something of it. */
    void (*left)(void *peer);
    /* The address that `peer` published for this transport, valid until close; NULL: none. */
    const void *(*lookup)(void *peer, const struct ct_net *net, size_t *len_bytes);
    /* progress would find something that nobody signals: another thread of this process may sleep
     * meanwhile. */
    void (*arrived)(void *arg);
    /* The job's key, by which its processes know each other. Errors are logged. */
    int (*key)(void *arg, struct ct_auth_key *key);
};

/* A slice to send: len_bytes of payload, found in the area from byte *pos on (pos moves on when the
 * slice is taken); area may be NULL where there are none. type is not 0. */
struct ct_net_slice {
    uint8_t               type;
    uint8_t               hdr_len;
    const void           *hdr;
    const struct ct_area *area;
    size_t               *pos;
    size_t                len_bytes;
};

/* Nearly all headers have two words: these are two moves, any other length a call or a loop. */
static inline void ct_net_put_header(char *to, const struct ct_net_slice *slice)
{
    enum { USUAL = 16 };
    if (CT_LIKELY(slice->hdr_len == USUAL)) {
        memcpy(to, slice->hdr, USUAL);
    } else {
        memcpy(to, slice->hdr, slice->hdr_len);
    }
}

/* len_bytes of the area from byte `pos` on, for the memory that the peer knows by `token`, from its
 * start on. The struct and the area are the transport's until done, or the link is dropped. */
struct ct_net_put {
    const struct ct_area *area;
    size_t                pos, len_bytes;
    uint64_t              token;
    void (*done)(struct ct_net_put *put); /* the bytes are there */

    struct ct_list node; /* the transport's own, as are these */
    size_t         assigned_bytes, acked_bytes;
};

/* The bytes of a note by which a peer offers its memory, at most. */
enum { CT_NET_MAX_NOTE = 192 };

/* len_bytes of what the peer has offered, from its start on, for the area, from its start on. The
 * note is the caller's again when fetch returns, the area when done is called. */
struct ct_net_fetch {
    const struct ct_area *area;
    size_t                len_bytes;
    const void           *note;
    size_t                note_len;
    void (*done)(void *arg, int status); /* CTRAN_SUCCESS, or the bytes are not there */
    void *arg;
};

struct ct_net_ops {
    size_t      struct_size; /* sizeof(struct ct_net_ops) */
    const char *name;        /* as in CTRAN_TRANSPORTS */
    const char *description; /* one line, for ctran_info */
    uint32_t    caps;        /* most that an instance may have; see ct_net.caps */

    /* Makes an instance. On failure logs the cause and returns a CTRAN_ERR_*. */
    int (*open)(const struct ct_net_env *env, struct ct_net **net);
    /* Drops all links and releases everything. Slices that were taken still reach their peers, as
     * long as these live and take them, within the transport's own limit: the one call that may
     * wait for others. It calls back nobody. */
    void (*close)(struct ct_net *net);

    /* What peers need to connect: bytes, at most CT_NET_MAX_ADDR, valid until close. */
    const void *(*addr)(struct ct_net *net, size_t *len_bytes);
    /* Whether connect could work: NULL if so, else the reason, in words a user understands. */
    const char *(*unreachable)(struct ct_net *net, const void *addr, size_t len_bytes);
    /* A link to `peer`, process `id`. Does not wait for it. Errors are logged, but for
     * CTRAN_ERR_PROC_FAILED: it is gone. */
    int (*connect)(struct ct_net *net, void *peer, uint32_t id, const void *addr, size_t len_bytes,
                   struct ct_net_link **link);
    /* Drops the link: from here on nothing reads or writes memory of puts under way, and nobody is
     * called back about its peer. Outside of progress. */
    void (*disconnect)(struct ct_net_link *link);
    /* Lets check_peers look after `peer`, process `id`, without a link to it. */
    void (*watch)(struct ct_net *net, void *peer, uint32_t id);
    /* Process `id` is dead: delivers what has come from it, and from nobody else. */
    void (*drain)(struct ct_net *net, uint32_t id);
    /* Process `id` has failed: drops all that there is of it, were it the one that has connected.
     * Nothing is heard of it any more, and nobody is called back. Outside of progress. */
    void (*forget)(struct ct_net *net, uint32_t id);

    /* CTRAN_SUCCESS; CT_AGAIN: no room now, nothing taken: try again after progress (who makes
     * room signals the sender's wake word); CTRAN_ERR_PROC_FAILED: the peer is gone, and env has
     * been told so; CTRAN_ERR_BUFFER: memory that is not plain could not be read, nothing taken. */
    int (*send)(struct ct_net_link *link, const struct ct_net_slice *slice);
    /* Fills the area, which is plain, from the peer's memory, as many bytes as it holds or `from`
     * has. CTRAN_ERR_UNSUPPORTED_OPERATION: not for this link, use send. */
    int (*get)(struct ct_net_link *link, const struct ct_area *area,
               const struct ct_net_remote *from);
    /* Whether the peer copies this memory of ours, one block, as its own: then a get is the fastest
     * way for it from the link's lent_bytes on. It is but advice. */
    bool (*lent)(struct ct_net_link *link, const struct ct_area *area);
    /* The peer's memory as our own, until it is free again; NULL: it is not, use get. */
    const void *(*view)(struct ct_net_link *link, const struct ct_net_remote *of);

    /* Whether all that send took, and no peer has lost, is on its way even if nobody calls progress
     * for long. */
    bool (*flushed)(struct ct_net *net);

    /* Starts a put, of plain memory as a get's. CTRAN_ERR_PROC_FAILED: the peer is gone; done is
     * not called. */
    int (*put)(struct ct_net_link *link, struct ct_net_put *put);

    /* Describes an area of any kind of memory so that the peer can fetch it, as long as it is that
     * memory: writes the note, and returns its length; 0: it cannot be offered. */
    size_t (*offer)(struct ct_net_link *link, const struct ct_area *area, void *note);
    /* Starts a fetch. It goes on when the link is dropped or the peer lost: nothing can stop it,
     * and done is called when it is over. Else than CTRAN_SUCCESS: not this way, use messages; it
     * is no error, and done is not called. */
    int (*fetch)(struct ct_net_link *link, const struct ct_net_fetch *fetch);

    /* One-sided operations: rma.h has the contracts. */
    const struct ct_net_rma_ops *rma;

    /* Takes in what has arrived; returns the number of events, 0 when there was nothing. */
    unsigned (*progress)(struct ct_net *net);
    /* Looks whether the peers that it knows still live, and reports those that do not. Called
     * now and then by a process that has waited for long; may cost system calls. */
    void (*check_peers)(struct ct_net *net);
    /* The word that peers signal when they have sent something, or made room that we wait for;
     * NULL when nobody will. */
    struct ct_wake *(*wake)(struct ct_net *net);
    /* A descriptor that becomes readable when progress has something to do; -1: there is none, or
     * nothing to be expected. */
    int (*fd)(struct ct_net *net);
};

enum { CT_NET_MAX_ADDR = 256 };

struct ct_net {
    const struct ct_net_ops *ops;
    uint32_t                 caps;        /* of this instance */
    size_t                   eager_bytes; /* messages up to this size had better travel unasked */
    unsigned                 under_way;   /* what progress alone finds to be over: while there is
                                             any, the process does not sleep */
};

struct ct_net_link {
    struct ct_net *net;
    size_t         max_slice;  /* payload bytes that a send takes */
    bool           gets;       /* it may read more than what is lent */
    size_t         lent_bytes; /* from so many bytes on `lent` is worth asking; 0: never */
};

/* The built-in transports, ended by NULL. */
extern const struct ct_net_ops *const ct_net_table[];

const struct ct_net_ops *ct_net_find(const char *name);

/* For slots that a transport has no use for: each does nothing, or says that it cannot. */
int             ct_net_no_get(struct ct_net_link *link, const struct ct_area *area,
                              const struct ct_net_remote *from);
bool            ct_net_no_lent(struct ct_net_link *link, const struct ct_area *area);
const void     *ct_net_no_view(struct ct_net_link *link, const struct ct_net_remote *of);
int             ct_net_no_put(struct ct_net_link *link, struct ct_net_put *put);
size_t          ct_net_no_offer(struct ct_net_link *link, const struct ct_area *area, void *note);
int             ct_net_no_fetch(struct ct_net_link *link, const struct ct_net_fetch *fetch);
bool            ct_net_all_flushed(struct ct_net *net);
int             ct_net_no_fd(struct ct_net *net);
void            ct_net_no_check(struct ct_net *net);
void            ct_net_no_watch(struct ct_net *net, void *peer, uint32_t id);
void            ct_net_no_drain(struct ct_net *net, uint32_t id);
void            ct_net_no_forget(struct ct_net *net, uint32_t id);
struct ct_wake *ct_net_no_wake(struct ct_net *net);

#endif
