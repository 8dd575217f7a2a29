/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of the ib transport share: InfiniBand and RoCE by verbs.
 *
 *   ib.c        the instance: opening, closing, the functions of struct ct_net_ops
 *   devices.c   which ports a rank uses, primary and backup
 *   port.c      a port: its queues, buffers, completions
 *   qpset.c     the queue pairs of a connection on one path, from RESET to ready, drained, gone
 *   cm.c        datagrams by which connections are made: sending, receiving, proof
 *   peer.c      a peer: the states of its connection, its loss
 *   path.c      which path a connection takes: failover, failback, probes, events of ports
 *   message.c   messages over the control queue pair
 *   memory.c    registrations, keys
 *   rma.c       one-sided operations, and the functions of struct ct_net_rma_ops
 *   write.c     writes in segments, which are spread over the data queue pairs (dynamic queue
 *               pair load balancing, DQPLB)
 *   read.c      reads and atomics
 *   limits.c    how much may be in flight to a peer, by its distance
 *   order.h     the order of writes at the receiver
 *   proto.h     formats of messages and datagrams
 *   verbs.h     the functions of libibverbs, which is loaded at run time
 *
 * A connection (struct ct_ib_peer) lives in epochs. An epoch is one set of queue pairs (struct
 * ct_ib_qpset) on one path: the first is the control queue pair, the others carry data. When
 * anything fails, or a better path is back, both sides put the queue pairs of the epoch into the
 * state of error, take what has arrived, and only then tell each other by datagrams how far they
 * are; the next epoch goes on from there. So each message and each write takes effect once:
 *
 *   - Nothing of an old epoch can arrive after its receiver has said how far it is, as its queue
 *     pairs are dead by then.
 *   - A sender keeps what it has sent until the receiver's NIC has acknowledged it or the receiver
 *     says that it has come, and sends again exactly what has not come.
 *
 * Source of the restart: the paper of ICCL, sec. 3.3. Deviations: the whole connection restarts,
 * because its control queue pair uses the same path; the receiver reports each write that has
 * arrived, where ICCL reports only the last chunk.
 */
#ifndef CT_NET_IB_IB_H
#define CT_NET_IB_IB_H

#include <uthash.h>

#include "base/auth.h"
#include "base/slab.h"
#include "net/ib/proto.h"
#include "net/ib/verbs.h"
#include "net/net.h"

struct ct_ib;
struct ct_ib_peer;
struct ct_ib_op;

enum {
    CT_IB_MESSAGES = 64,      /* of a peer that are not acknowledged; a power of two */
    CT_IB_DEPTH = 128,        /* requests under way on a queue pair, at least */
    CT_IB_SPARE = 4,          /* room in a send queue for probes and markers */
    CT_IB_SGES = 8,           /* pieces of memory of one request */
    CT_IB_POLL = 32,          /* completions that a look takes at a time */
    CT_IB_SENDS = 8192,       /* requests under way on a port */
    CT_IB_DATAGRAMS = 64,     /* buffers a port for those that come, */
    CT_IB_DATAGRAMS_OUT = 16, /* and for those that go */
    CT_IB_INLINE = 220,       /* bytes that a request carries in itself, if the NIC can */
    CT_IB_GRH = 40,
};

/* ---- limits.c -------------------------------------------------------------------------------- */

enum ct_ib_class { CT_IB_RACK, CT_IB_ZONE, CT_IB_DC, CT_IB_BEYOND, CT_IB_CLASSES };

struct ct_ib_limits {
    uint32_t qps, outstanding, traffic_class;
    uint64_t segment_bytes;
};

/* Reads the lists of CTRAN_IB_QPS and so on. CTRAN_ERR_CONFIG, logged. */
int              ct_ib_limits_read(const struct ct_config *cfg, const struct ct_log *log,
                                   struct ct_ib_limits limits[CT_IB_CLASSES]);
enum ct_ib_class ct_ib_class_of(int distance); /* enum ct_distance */

/* ---- devices.c ------------------------------------------------------------------------------- */

struct ct_ib_choice {
    struct ibv_device *device;
    char               name[64]; /* "mlx5_0:1" */
    uint8_t            port;
};

/* The ports of this rank, primary ones first; *n is at most CT_IB_MAX_PORTS. What does not exist or
 * is down is left out. CTRAN_ERR_CONFIG, logged: CTRAN_IB_DEVICES names no port. */
int ct_ib_choose(struct ct_ib *t, struct ibv_device **list, struct ct_ib_choice *out, unsigned *n,
                 unsigned *nprimary);

/* ---- port.c ---------------------------------------------------------------------------------- */

/* A buffer for a message that goes out, or for data that is no block of registered memory. */
struct ct_ib_buf {
    struct ct_ib_buf *next;
    char             *bytes;
};

struct ct_ib_datagram {
    struct ibv_ah *ah; /* NULL: free */
};

struct ct_ib_port {
    struct ct_ib            *t;
    unsigned                 index; /* in the address */
    char                     name[64];
    struct ibv_context      *ctx;
    struct ibv_pd           *pd;
    struct ibv_comp_channel *channel;
    struct ibv_cq           *cq;
    struct ibv_srq          *messages, *writes; /* receives: with buffers, and without */
    struct ibv_qp           *ud;
    struct ibv_mr           *out_mr, *in_mr, *ud_mr;
    char                    *in;       /* buffers of messages that come */
    char                    *ud_bytes; /* of datagrams, those that come first */
    struct ct_ib_datagram    ud_out[CT_IB_DATAGRAMS_OUT];
    uint8_t                  number;
    int                      gid_index;
    struct ct_ib_where       where; /* as the peers see it */
    uint32_t                 max_inline, max_reads;
    bool                     coherent; /* its atomics are atomic to the processors' */
    bool                     up, dead; /* dead: it has failed and does not come back */
    struct ct_ib_qp        **qps;      /* by number, a hash with open addressing */
    uint32_t                 qps_mask, nqps;
    uint32_t                 nmade;       /* queue pairs */
    uint32_t                 under_way;   /* send requests */
    uint32_t                 writes_owed; /* receives to be posted again */
    struct ibv_wc            wc[CT_IB_POLL];
    unsigned                 at, n;   /* completions in hand */
    bool                     held;    /* the one at `at` has to wait for another port's */
    struct ibv_wc           *backlog; /* taken out by drain, to be treated first */
    unsigned                 nbacklog, backlog_cap, backlog_at;
    bool                     armed;
    unsigned                 events; /* of the queue, to be acknowledged */
};

int  ct_ib_port_open(struct ct_ib *t, const struct ct_ib_choice *choice, struct ct_ib_port **port);
void ct_ib_port_close(struct ct_ib_port *port);
/* Reads state, GID and LID anew; true if anything has changed. */
bool ct_ib_port_look(struct ct_ib_port *port);
/* Takes up to CT_IB_POLL completions; how many. */
unsigned ct_ib_port_poll(struct ct_ib_port *port);
/* Treats what process `id` has sent, and puts the rest by. */
void ct_ib_port_drain(struct ct_ib_port *port, uint32_t id);
/* Has the next completion make the channel readable. */
void ct_ib_port_arm(struct ct_ib_port *port);
void ct_ib_port_disarm(struct ct_ib_port *port);
/* No completion of this port is waited for any more. */
void ct_ib_port_die(struct ct_ib_port *port);
/* The write that is held waits for what can never come: its sender is lost. */
void ct_ib_port_give_up(struct ct_ib_port *port);

/* ---- qpset.c --------------------------------------------------------------------------------- */

enum ct_ib_work {
    CT_IB_WORK_MESSAGE, /* number: of the message */
    CT_IB_WORK_WRITE,   /* number: of the write */
    CT_IB_WORK_READ,    /* part */
    CT_IB_WORK_PROBE,
    CT_IB_WORK_MARKER, /* the last one of a queue pair: all before it is over */
};

/* A send request under way. */
struct ct_ib_request {
    enum ct_ib_work work;
    uint32_t        number;
    void           *part;
};

struct ct_ib_qp {
    struct ibv_qp        *qp; /* NULL: not made */
    struct ct_ib_port    *port;
    struct ct_ib_qpset   *set;
    uint32_t              index;      /* of the queue pair */
    uint32_t              remote;     /* the peer's port */
    uint32_t              head, tail; /* requests under way: numbers, which are their wr_id */
    uint32_t              mask;
    struct ct_ib_request *requests;
    uint32_t              heavy;        /* of them, long segments */
    struct ibv_send_wr   *first, *last; /* built, not posted */
    struct ct_ib_qp      *built;        /* the next queue pair with such */
    bool                  dead;         /* in the state of error */
    bool                  marked;       /* its marker is under way */
    bool                  broken;       /* takes no requests */
};

/* The queue pairs of one path. */
struct ct_ib_qpset {
    struct ct_list     node; /* in the list of connections that are no longer used */
    struct ct_ib      *t;
    struct ct_ib_peer *peer; /* NULL: free */
    uint8_t            path;
    uint32_t           n, depth;
    uint32_t           markers; /* queue pairs that are not drained */
    struct ct_ib_qp   *built;   /* queue pairs with requests that are not posted */
    enum { CT_IB_QPSET_NEW, CT_IB_QPSET_INIT, CT_IB_QPSET_READY, CT_IB_QPSET_DRAINING } state;
    struct ct_ib_qp qp[];
};

/* Makes queue pairs in the state INIT. NULL, logged: there is no room, or the NIC refuses. */
struct ct_ib_qpset *ct_ib_qpset_make(struct ct_ib_peer *peer, uint8_t path, uint32_t n);
/* From drained, or half connected, to INIT again. False: the NIC refuses, logged, or is dead. */
bool ct_ib_qpset_reset(struct ct_ib_qpset *set);
/* Connects them with the peer's, which are in its SYNC. False, logged: some may be connected, so
 * they have to be reset. */
bool ct_ib_qpset_connect(struct ct_ib_qpset *set, const struct ct_ib_cm *sync);
/* Begins to drain them; ct_ib_peer_drained is called when that is over, maybe at once. */
void ct_ib_qpset_drain(struct ct_ib_qpset *set);
/* Their peer wants them no more: they are destroyed when they are drained. */
void ct_ib_qpset_drop(struct ct_ib_qpset *set);
void ct_ib_qpset_destroy(struct ct_ib_qpset *set);
/* A request to fill in, which has its number as wr_id and is signalled; posted by
 * ct_ib_qpset_ring. There is room. */
struct ibv_send_wr *ct_ib_qp_add(struct ct_ib_qp *qp, enum ct_ib_work work, uint32_t number,
                                 void *part, struct ibv_sge **sges);
/* Posts what was added, one doorbell a queue pair. */
void ct_ib_qpset_ring(struct ct_ib_qpset *set);

static inline uint32_t ct_ib_qp_under_way(const struct ct_ib_qp *qp)
{
    return qp->tail - qp->head;
}

static inline bool ct_ib_qp_has_room(const struct ct_ib_qp *qp)
{
    return ct_ib_qp_under_way(qp) < qp->set->depth && qp->port->under_way < CT_IB_SENDS;
}

/* ---- peer.c ---------------------------------------------------------------------------------- */

enum ct_ib_phase {
    CT_IB_PARKED,   /* there are no queue pairs; they are made when they are needed */
    CT_IB_DRAINING, /* those of the last epoch are put out of use */
    CT_IB_SYNCING,  /* datagrams make those of `epoch` */
    CT_IB_OPEN,
    CT_IB_OVER, /* lost, left, or dropped */
};

/* A write that has a number, until it is acknowledged. */
struct ct_ib_write {
    struct ct_net_rma *rma; /* NULL: none of this number is under way */
    struct ct_ib_op   *op; /* the put of which this is a part; NULL: this is a complete short put */
    struct ct_ib_era  *era;    /* of a short put */
    uint64_t           offset; /* of the segment in the operation */
    uint32_t           len_bytes;
    int                status; /* of a short put */
    uint8_t            qp_index;
    bool               posted, notifies, heavy;
    struct ct_ib_buf  *buf; /* its bytes, if they were copied */
};

/* Operations that a flush waits for. */
struct ct_ib_era {
    struct ct_list      node;
    uint32_t            under_way;
    struct ct_net_comp *comp; /* of the flush; NULL: the era lasts */
};

/* A notice that waits for its write, or the other way round. All that wait are of one kind. */
struct ct_ib_waiting_notice {
    bool                 is_notice, is_void;
    struct ct_net_notice notice;
};

struct ct_ib_waiting { /* a ring */
    struct ct_ib_waiting_notice *all;
    uint32_t                     cap, first, n;
};

struct ct_ib_peer {
    struct ct_net_link         link;
    UT_hash_handle             hh;
    struct ct_ib              *t;
    uint32_t                   id;
    void                      *cookie;
    struct ct_ib_addr          addr; /* as it is now */
    const struct ct_ib_limits *limits;
    enum ct_ib_phase           phase;
    bool                       left;    /* the peer has sent BYE */
    bool                       refused; /* the epoch ends by an operation that was refused */
    bool                       parking; /* DRAINING: the connection rests afterwards */
    /* the connection */
    uint32_t            epoch;
    uint8_t             path;       /* of the epoch */
    struct ct_ib_qpset *sets[4];    /* by path */
    bool                has_theirs; /* SYNCING: its SYNC of this epoch is here */
    uint32_t            nqps;       /* of the epoch, the control queue pair included */
    uint32_t            turn;       /* the data queue pair that is next */
    uint32_t            elsewhere;  /* writes under way on others than the first data queue pair */
    struct ct_ib_cm     theirs;
    uint64_t            down_ns;    /* since when there is no connection */
    uint64_t            try_ns;     /* since when this path is tried */
    uint64_t            again_ns;   /* when the next datagram is due; 0: none */
    uint64_t            arrival_ns; /* when anything came last */
    uint64_t            used_ns;    /* when anything was sent or came last */
    uint64_t            probed_ns, flushed_ns, failback_ns;
    uint32_t            tries;
    uint32_t            waits; /* looks of a waiting process, since anything came */
    struct ct_list      timed; /* among those with something due */
    /* messages */
    struct ct_ib_buf *messages[CT_IB_MESSAGES];
    uint32_t          message_bytes[CT_IB_MESSAGES];
    uint32_t          message_una, message_posted, message_next; /* acknowledged, posted, taken */
    uint32_t          message_want;
    bool              bye_sent;
    /* writes, out */
    struct ct_ib_write *writes; /* by number */
    uint32_t            writes_mask;
    uint32_t            write_una, write_next, write_again; /* again: the next to be sent anew */
    struct ct_list      work;                               /* struct ct_ib_op, not wholly posted */
    struct ct_list      reading, redo; /* struct ct_ib_read: under way, to be made again */
    struct ct_list      all;           /* struct ct_ib_op */
    struct ct_list      pump;          /* among those that wait for room */
    struct ct_list      eras;
    uint32_t            nops;
    /* writes, in */
    struct ct_ib_order   order;
    bool                 order_known; /* the number of its first write */
    struct ct_ib_waiting waiting;     /* notices and notifications, each for the other half */
};

struct ct_ib_peer *ct_ib_peer_get(struct ct_ib *t, uint32_t id, void *cookie,
                                  const struct ct_ib_addr *addr);
struct ct_ib_peer *ct_ib_peer_find(struct ct_ib *t, uint32_t id);
void               ct_ib_peer_free(struct ct_ib_peer *peer);
/* Sees to it that there is a connection. */
void ct_ib_peer_need(struct ct_ib_peer *peer);
/* Ends the epoch, and makes the next on this path. `epoch` is 0: this side's next number. */
void ct_ib_peer_restart(struct ct_ib_peer *peer, uint8_t path, uint32_t epoch);
/* The queue pairs of the last epoch are drained. */
void ct_ib_peer_drained(struct ct_ib_peer *peer);
void ct_ib_peer_on_sync(struct ct_ib_peer *peer, const struct ct_ib_cm *sync);
/* The peer has given up the queue pairs of this epoch. */
void ct_ib_peer_on_park(struct ct_ib_peer *peer, uint32_t epoch);
void ct_ib_peer_park(struct ct_ib_peer *peer);
/* Reports its loss and drops all. In progress. */
void ct_ib_peer_lose(struct ct_ib_peer *peer, int why);
/* Drops all that is under way and calls no functions except completions. */
void ct_ib_peer_quit(struct ct_ib_peer *peer, int why);
/* What is due at this time. */
void ct_ib_peer_timer(struct ct_ib_peer *peer, uint64_t now);
void ct_ib_peer_schedule(struct ct_ib_peer *peer, uint64_t at_ns);
/* Whether all that it was sent is acknowledged. */
bool ct_ib_peer_settled(const struct ct_ib_peer *peer);
/* Gives up queue pairs of an idle peer for another one, which may have those of a peer that is not
 * idle once it has waited for CTRAN_IB_IDLE. True: some will be free. */
bool ct_ib_peer_evict(const struct ct_ib_peer *for_peer);

static inline struct ct_ib_peer *ct_ib_peer_of(struct ct_net_link *link)
{
    return CT_CONTAINER_OF(link, struct ct_ib_peer, link);
}

static inline struct ct_ib_qpset *ct_ib_peer_qpset(const struct ct_ib_peer *peer)
{
    return peer->sets[peer->path];
}

/* ---- cm.c ------------------------------------------------------------------------------------ */

void ct_ib_cm_send(struct ct_ib_peer *peer, enum ct_ib_cm_type type, uint8_t path, uint32_t epoch,
                   uint8_t flags);
/* A datagram as it has come; also for the fuzz harness. */
void ct_ib_cm_take(struct ct_ib *t, const void *bytes, size_t len_bytes);

/* ---- path.c ---------------------------------------------------------------------------------- */

/* The ports of a path: of this rank and of the peer, for queue pair i; -1: there is none. */
int ct_ib_path_local(const struct ct_ib_peer *peer, uint8_t path, uint32_t index);
int ct_ib_path_remote(const struct ct_ib_peer *peer, uint8_t path, uint32_t index);
/* Whether both have ports there, and this rank's are up. */
bool ct_ib_path_usable(const struct ct_ib_peer *peer, uint8_t path);
/* Whether there is more than one path to this peer. */
bool ct_ib_path_has_backup(const struct ct_ib_peer *peer);
/* The path to try after this one. */
uint8_t ct_ib_path_next(const struct ct_ib_peer *peer, uint8_t path);
/* The epoch's path has failed. */
void ct_ib_path_failed(struct ct_ib_peer *peer, const char *why);
/* A queue pair of the epoch is in the state of error, and no request of this side is the cause. */
void ct_ib_path_flushed(struct ct_ib_peer *peer);
/* A connection is open again, or for the first time. */
void ct_ib_path_opened(struct ct_ib_peer *peer);
void ct_ib_path_on_ping(struct ct_ib_peer *peer, const struct ct_ib_cm *ping);
/* Timers of an open connection. */
void ct_ib_path_timer(struct ct_ib_peer *peer, uint64_t now);
/* A waiting process looks after its peers. */
void ct_ib_path_probe(struct ct_ib *t);
/* Events of devices; how many. */
unsigned ct_ib_path_events(struct ct_ib *t);

/* ---- message.c ------------------------------------------------------------------------------- */

int  ct_ib_message_send(struct ct_net_link *link, const struct ct_net_slice *slice);
bool ct_ib_message_has_room(const struct ct_ib_peer *peer);
/* Posts what there is room for. */
void ct_ib_message_pump(struct ct_ib_peer *peer);
/* There is room. False: no buffer is free. */
bool ct_ib_message_add(struct ct_ib_peer *peer, enum ct_ib_kind kind, const void *hdr,
                       size_t hdr_len);
/* A message has come. */
void ct_ib_message_take(struct ct_ib_peer *peer, const void *bytes, size_t len_bytes);
/* All before `number` has come to the peer. False: that cannot be. */
bool ct_ib_message_acked(struct ct_ib_peer *peer, uint32_t number);
/* Sends what is not acknowledged on the queue pairs of a new epoch. */
void ct_ib_message_again(struct ct_ib_peer *peer);
void ct_ib_message_drop(struct ct_ib_peer *peer);
/* A notification is in order: its notice is delivered, or waits. */
void ct_ib_message_notify(struct ct_ib_peer *peer, bool is_void);

/* ---- memory.c -------------------------------------------------------------------------------- */

/* Local memory of operations. */
struct ct_ib_memory {
    struct ct_list node;
    uint64_t       base, len_bytes;
    uint64_t       buffer_id; /* of device memory; 0: of the host */
    uint32_t       uses;
    bool           keeps; /* stays registered while it is not in use */
    struct ibv_mr *mr[CT_IB_MAX_PORTS];
};

/* Registers memory for this port, or finds that it is. NULL: it cannot be. */
struct ct_ib_memory *ct_ib_memory_get(struct ct_ib *t, uint64_t base, uint64_t len_bytes,
                                      bool is_device);
bool ct_ib_memory_on(struct ct_ib *t, struct ct_ib_memory *m, const struct ct_ib_port *port,
                     uint32_t *lkey);
void ct_ib_memory_put(struct ct_ib *t, struct ct_ib_memory *m);
void ct_ib_memory_fini(struct ct_ib *t);
struct ct_ib_buf *ct_ib_buf_get(struct ct_ib *t);
void              ct_ib_buf_put(struct ct_ib *t, struct ct_ib_buf *buf);

/* A key that is open. */
struct ct_ib_rkey {
    struct ct_net_rkey base;
    uint64_t           key, addr, len_bytes;
    uint32_t           access;
    uint32_t           rkey[CT_IB_MAX_PORTS];
};

static inline struct ct_ib_rkey *ct_ib_rkey_of(struct ct_net_rkey *rkey)
{
    return CT_CONTAINER_OF(rkey, struct ct_ib_rkey, base);
}

int    ct_ib_mem_reg(struct ct_net *net, const struct ct_net_region *region, struct ct_net_mr **mr);
void   ct_ib_mem_dereg(struct ct_net_mr *mr);
size_t ct_ib_rkey_pack(const struct ct_net_mr *mr, void *out);
int    ct_ib_rkey_open(struct ct_net_link *link, const void *bytes, size_t len_bytes,
                       struct ct_net_rkey **rkey);
void   ct_ib_rkey_close(struct ct_net_rkey *rkey);

/* ---- rma.c, write.c, read.c ------------------------------------------------------------------ */

/* An operation under way. */
struct ct_ib_op {
    struct ct_list       node; /* of work */
    struct ct_list       all;
    struct ct_net_rma   *rma;
    struct ct_ib_peer   *peer;
    struct ct_ib_era    *era;
    struct ct_ib_memory *memory; /* NULL: its bytes are copied */
    bool                 copies; /* so are those not posted yet: a port does not register it */
    uint64_t             posted_bytes;
    uint32_t             parts; /* under way */
    bool                 whole; /* nothing is left to be posted */
    int                  status;
};

/* A part of a get, or an atomic. */
struct ct_ib_read {
    struct ct_list    node; /* of reading or redo */
    struct ct_ib_op  *op;
    uint64_t          offset;
    uint32_t          len_bytes;
    bool              heavy;
    struct ct_ib_buf *buf;
};

extern const struct ct_net_rma_ops ct_ib_rma_ops;

/* Posts as much as there is room for. */
void ct_ib_rma_pump(struct ct_ib_peer *peer);
/* One that needed no struct ct_ib_op is over. */
void ct_ib_rma_short_over(struct ct_ib_peer *peer, struct ct_net_comp *comp, struct ct_ib_era *era,
                          int status);
/* A part of an operation is over. The operation may be gone then. */
void ct_ib_op_part_over(struct ct_ib_op *op, int status);
/* All operations of a peer end. */
void ct_ib_rma_fail(struct ct_ib_peer *peer, int why);
/* Where a data queue pair has room for a request, by turns; NULL: nowhere. */
struct ct_ib_qp *ct_ib_rma_qp(struct ct_ib_peer *peer, bool heavy);
/* The sges of a part of an operation's local memory; 0: they cannot be made. */
int ct_ib_rma_sges(const struct ct_ib_op *op, const struct ct_ib_qp *qp, uint64_t offset,
                   uint32_t len_bytes, struct ibv_sge *sges);
/* Whether the bytes of the next part are copied, for this queue pair. */
bool ct_ib_rma_copies(struct ct_ib_op *op, const struct ct_ib_qp *qp);
/* Bytes of the next part of an operation. */
uint32_t ct_ib_rma_part(const struct ct_ib_op *op);

/* A put that the fast path carries as a whole; false: it cannot now. */
bool ct_ib_write_short(struct ct_ib_peer *peer, struct ct_net_rma *rma, struct ct_ib_era *era);
/* The next part of a put; false: no room. */
bool ct_ib_write_next(struct ct_ib_op *op);
/* Writes of the last epoch that have not come, again; false: no room. */
bool ct_ib_write_again(struct ct_ib_peer *peer);
/* The peer's NIC has refused a write. */
void ct_ib_write_blame(struct ct_ib_peer *peer, uint32_t number, int status);
/* All short puts of a peer end. */
void ct_ib_write_fail(struct ct_ib_peer *peer, int why);
/* The peer's NIC has taken a write, or the peer says so. */
void ct_ib_write_acked(struct ct_ib_peer *peer, uint32_t number);
/* What the peer has, after a restart. False: that cannot be. */
bool ct_ib_write_sync(struct ct_ib_peer *peer, const struct ct_ib_cm *theirs);
/* A write of the peer has come. False: its connection waits for another port. */
bool ct_ib_write_take(struct ct_ib_peer *peer, uint32_t imm);

bool ct_ib_read_next(struct ct_ib_op *op);
/* Whether the NIC has such an atomic. */
bool ct_ib_read_can(const struct ct_net_rma *rma);
bool ct_ib_read_again(struct ct_ib_peer *peer);
void ct_ib_read_done(struct ct_ib_read *read, int status);

/* ---- ib.c ------------------------------------------------------------------------------------ */

/* What happened, for tests and ctran-ib(7). */
struct ct_ib_counters {
    uint64_t opened, restarts, failovers, failbacks, errors, refusals, timeouts, probes, port_downs,
        port_ups, gid_changes, parked, evicted, lost, messages_again, writes_again, reads_again,
        writes_fast, registrations, datagrams_bad, allocations, completions;
};

enum { CT_IB_BATCH = 64 };

struct ct_ib {
    struct ct_net             net;
    struct ct_net_env         env;
    const struct ct_ib_verbs *v;
    uint64_t (*now)(void); /* tests may have another clock */
    const char           *unusable;
    struct ct_auth_key    key;
    uint32_t              qkey;
    uint32_t              slice_bytes, buf_bytes;
    struct ct_ib_addr     addr;
    unsigned              nports, nprimary;
    struct ct_ib_port    *ports[CT_IB_MAX_PORTS];
    struct ct_ib_limits   limits[CT_IB_CLASSES];
    struct ct_ib_peer    *peers;  /* uthash by id */
    struct ct_list        timed;  /* struct ct_ib_peer */
    struct ct_list        pumps;  /* struct ct_ib_peer */
    struct ct_list        dying;  /* struct ct_ib_qpset */
    bool                  broken; /* a queue pair takes no requests */
    struct ct_ib_buf     *bufs;
    struct ct_ib_buf     *all_bufs;
    char                 *buf_memory;
    size_t                buf_memory_bytes;
    struct ct_slab        ops, reads, eras;
    struct ct_list        memories; /* struct ct_ib_memory, the last used first */
    uint32_t              nmemories;
    struct ibv_send_wr    wrs[CT_IB_BATCH];
    struct ibv_sge        sges[CT_IB_BATCH][CT_IB_SGES];
    unsigned              nwrs;
    int                   epoll, timer;
    unsigned              turns;
    bool                  closing;
    unsigned              uncounted; /* events that no turn has been told of */
    bool                  parting;   /* peers that have left may have yet to be told of */
    uint64_t              stuck_ns;  /* since when a write waits and no port has any other; 0 */
    uint64_t              turn_ns;   /* the time, as of one of the last turns of progress */
    uint64_t              random;
    unsigned              events; /* events of this turn */
    struct ct_ib_counters counters;
};

static inline struct ct_ib *ct_ib_of(struct ct_net *net)
{
    return CT_CONTAINER_OF(net, struct ct_ib, net);
}

uint64_t ct_ib_random(struct ct_ib *t);
unsigned ct_ib_progress(struct ct_net *net);

extern const struct ct_net_ops ct_net_ib;

#endif
