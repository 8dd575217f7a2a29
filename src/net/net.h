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
 * Two ways to move data:
 *   send  a slice: type, a header of at most CT_NET_MAX_HDR bytes, and up to max_slice bytes of
 *         payload. The transport has taken a copy when send returns; it arrives whole, in order
 *         per link, through the deliver callback of the receiving instance.
 *   rma   (CT_NET_RMA) reads, writes and updates memory that the peer has registered: see rma.h.
 *
 * Nothing here blocks, except the copying itself, and close. deliver, failed, left and the
 * completions of one-sided operations are called from progress, drain, check_peers and disconnect
 * alone. All other functions call back lookup, key, region and arrived at most. All calls but open
 * and close come under the lock of the progress domain (ep/domain.h), so a transport needs none of
 * its own.
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
    CT_NET_RMA = 1 << 0,    /* has the operations of rma.h */
    CT_NET_FAMILY = 1 << 1, /* connects processes of different jobs of a family */
};

struct ct_auth_key;

/* What an instance knows of its process, and the functions that it calls; must stay valid until
 * close. */
struct ct_net_env {
    const struct ct_log       *log;
    const struct ct_config    *cfg;
    const char                *job;         /* id of the job, for names */
    uint32_t                   id;          /* this process's number in the job, and which */
    uint32_t                   incarnation; /* process it is that bears it */
    uint32_t                   first, size; /* processes of the job: their numbers begin here */
    /* Whether processes of other jobs, with other numbers, may be peers from now on. NULL: never.
     * Transports without CT_NET_FAMILY do not meet them. */
    const _Atomic bool        *others;
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
    /* The memory behind a key of this process, if `peer` may access len_bytes from byte `offset` on
     * with all of these rights (enum ct_net_access). CT_AGAIN: no region has that key (any more);
     * CT_REFUSED: it is not for this peer, or not so much of it. */
    int (*region)(void *peer, uint64_t key, uint64_t offset, uint64_t len_bytes, uint32_t access,
                  const struct ct_area **area);
    /* `peer` is lost, `why` is a CTRAN_ERR_*: called once, after which its link fails all. */
    void (*failed)(void *peer, int why);
    /* Like failed, for a peer that has closed its instance in order: operations that still need the
     * peer fail, others do not. */
    void (*left)(void *peer);
    /* The address that `peer` published for this transport, valid until close; NULL: none. */
    const void *(*lookup)(void *peer, const struct ct_net *net, size_t *len_bytes);
    /* progress has work for which no wake word is signalled: another thread of this process may
     * sleep meanwhile. */
    void (*arrived)(void *arg);
    /* How far process `id` is from this one: an enum ct_distance of topo. NULL: distances are not
     * known. */
    int (*distance)(void *arg, uint32_t id);
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

struct ct_net_ops {
    const char *name;        /* as in CTRAN_TRANSPORTS */
    const char *description; /* one line, for ctran_info */
    uint32_t    caps;        /* most that an instance may have; see ct_net.caps */

    /* Makes an instance. On failure logs the cause and returns a CTRAN_ERR_*. */
    int (*open)(const struct ct_net_env *env, struct ct_net **net);
    /* Drops all links and releases everything. Slices that were taken still reach their peers, as
     * long as these live and take them, within the transport's own limit: the one call that may
     * wait for others. close calls no function of env. */
    void (*close)(struct ct_net *net);

    /* What peers need to connect: bytes, at most CT_NET_MAX_ADDR, valid until close. */
    const void *(*addr)(struct ct_net *net, size_t *len_bytes);
    /* Whether connect could work: NULL if so, else the reason, in words a user understands. */
    const char *(*unreachable)(struct ct_net *net, const void *addr, size_t len_bytes);
    /* A link to `peer`, process `id`. Does not wait for it. Errors are logged, except
     * CTRAN_ERR_PROC_FAILED, which means that the peer is gone. */
    int (*connect)(struct ct_net *net, void *peer, uint32_t id, const void *addr, size_t len_bytes,
                   struct ct_net_link **link);
    /* Drops the link. One-sided operations under way end with CTRAN_ERR_PROC_FAILED before it
     * returns, except those of a GPU's copy engine, and nothing reads or writes their memory any
     * more. Nobody is called back about the peer. Outside of the transport's progress. */
    void (*disconnect)(struct ct_net_link *link);
    /* Lets check_peers look after `peer`, process `id`, without a link to it. */
    void (*watch)(struct ct_net *net, void *peer, uint32_t id);
    /* Process `id` is dead: delivers what has come from this process, and from no other. */
    void (*drain)(struct ct_net *net, uint32_t id);
    /* Process `id` has failed: drops all that there is of it, were it the one that has connected.
     * Drops the peer without a call back. No function of env is called for the peer afterwards.
     * Outside of progress. */
    void (*forget)(struct ct_net *net, uint32_t id);

    /* CTRAN_SUCCESS; CT_AGAIN: no room now, nothing taken: try again after progress (who makes
     * room signals the sender's wake word); CTRAN_ERR_PROC_FAILED: the peer is gone, and env has
     * been told so; CTRAN_ERR_BUFFER: memory that is not plain could not be read, nothing taken. */
    int (*send)(struct ct_net_link *link, const struct ct_net_slice *slice);
    /* Whether all that send accepted is on its way (except to lost peers) even if progress is not
     * called for long. */
    bool (*flushed)(struct ct_net *net);

    /* One-sided operations: rma.h has the contracts. */
    const struct ct_net_rma_ops *rma;

    /* Takes in what has arrived; returns the number of events, 0 when there was nothing. */
    unsigned (*progress)(struct ct_net *net);
    /* Looks whether the peers that it knows still live, and reports those that do not. Called
     * now and then by a process that has waited for long; may cost system calls. */
    void (*check_peers)(struct ct_net *net);
    /* The word that peers signal when they have sent something or made room; NULL if peers never
     * signal. */
    struct ct_wake *(*wake)(struct ct_net *net);
    /* A descriptor that becomes readable when progress has work; -1: there is no descriptor, or no
     * work can come. */
    int (*fd)(struct ct_net *net);
};

enum { CT_NET_MAX_ADDR = 256 };

struct ct_net {
    const struct ct_net_ops *ops;
    uint32_t                 caps; /* of this instance */
    size_t   eager_bytes;          /* messages up to this size are sent eagerly with advantage */
    unsigned under_way;            /* what progress alone finds to be over: while there is
                                             any, the process does not sleep */
};

struct ct_net_link {
    struct ct_net *net;
    size_t         max_slice; /* payload bytes that a send takes */
    bool           attaches;  /* the peer may reach memory as CT_NET_REACH_MAPPED */
};

/* The built-in transports, ended by NULL. */
extern const struct ct_net_ops *const ct_net_table[];

const struct ct_net_ops *ct_net_find(const char *name);
/* Whether it is the name of a transport that this build lacks, since configure did not find its
 * library. CTRAN_TRANSPORTS may name it. */
bool ct_net_is_left_out(const char *name);

/* For slots that a transport has no use for: each does nothing, or says that it cannot. */
bool            ct_net_all_flushed(struct ct_net *net);
int             ct_net_no_fd(struct ct_net *net);
void            ct_net_no_check(struct ct_net *net);
void            ct_net_no_watch(struct ct_net *net, void *peer, uint32_t id);
void            ct_net_no_drain(struct ct_net *net, uint32_t id);
void            ct_net_no_forget(struct ct_net *net, uint32_t id);
struct ct_wake *ct_net_no_wake(struct ct_net *net);

#endif
