/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * InfiniBand verbs on the CPU: a libibverbs.so.1 for tests, found through LD_LIBRARY_PATH. It
 * knows nothing of the library beside it, only the interface of <infiniband/verbs.h>. Programs
 * that were built for the real library run on it.
 *
 * What runs where. A process has one NIC (nic.c): all its devices, their queue pairs and memory
 * regions, under one lock. A thread, the NIC thread, takes work requests from send queues, cuts
 * them into packets (send.c), passes the packets over the links of the fabric (port.c) and puts
 * each into the ring of the process that has the destination QP (ring.c). It takes the packets of
 * others out of its own rings, writes payload to memory of its own process and no other (recv.c),
 * answers (respond.c), and treats what the others answer (rc.c). The program's threads touch only
 * queues: a post writes an entry and wakes the NIC thread; a poll reads completions, and a poll
 * that finds none does the NIC thread's work for once, since on few cores two threads of a process
 * would take turns otherwise.
 *
 * The wire between processes is a shared file for each ordered pair, with one writer and one
 * reader, and a futex in the fabric's file (fabric.h). Both lie in the run directory, so network
 * namespaces do not matter. A full ring holds its sender up, as flow control of a link does. The
 * number of a QP tells the process: slot x 2^14 + index. GIDs and LIDs tell the port. Processes
 * that have one host name see one set of NICs.
 *
 * Time. Real time: packets leave and arrive when the model of the links says so, as exactly as
 * a thread can sleep. A NIC that is not scheduled because cores are scarce would let its peers'
 * timers expire, which no hardware does; so a timer that expires while packets for the other
 * process, or from it, wait unread in a ring starts again without a retry (rc.c).
 * Virtual time (EMU_VERBS_TIME=virtual): no NIC thread, no other process. Each poll that finds
 * nothing lets the NIC work; if it has nothing to do either, time jumps to the next event. All is
 * repeatable. Fabric experiments have their place here: devices of the process stand for hosts
 * ("racks device"), link.h is the model, emu_verbs_counts() tells what each link saw.
 *
 * Faithful: what a real NIC refuses, this one refuses (qp_state.c, wqe.c). A slot of a send queue
 * is free when a completion behind it was polled. A CQ holds what was asked for, not more, and
 * overruns. A QP sends packets of a window (EMU_VERBS_WINDOW) before the first is acknowledged. A
 * port sends round robin for its QPs. Not there: memory windows, XRC, raw packets, flow steering,
 * multicast, tag matching, on-demand paging, automatic path migration, rdma_cm.
 *
 * Environment: EMU_VERBS_DEVICES (2, at most 16), EMU_VERBS_PORTS (1; 2: dual port),
 * EMU_VERBS_HOST (the host's name; by default one for each network namespace), EMU_VERBS_DIR
 * (/dev/shm/emu-verbs-UID), EMU_VERBS_LINK_LAYER (roce; ib), EMU_VERBS_MTU (4096, of the ports),
 * EMU_VERBS_TIME (real; virtual), EMU_VERBS_SEED (1), EMU_VERBS_WINDOW (1024 packets),
 * EMU_VERBS_FAIL, EMU_VERBS_FABRIC and EMU_VERBS_FAULTS.
 *
 * EMU_VERBS_FAIL has errors on demand (emu/common/common.h), such as
 * ibv_reg_mr:3=12,ibv_create_qp=12: functions of <infiniband/verbs.h> that make, change or destroy
 * an object, and numbers of errno. A test may set another list while it runs: dlsym
 * "emu_verbs_fail". The other two hold
 *
 * commands, separated by ; or newlines. @FILE names a file of them. Those of EMU_VERBS_FABRIC are
 * carried out when the fabric is made, those of EMU_VERBS_FAULTS once in the fabric, at a time of
 * the fabric ("at 5ms ...") or when a process has sent so many packets ("after 1000 ...").
 *     racks none|device|host      what is a rack of its own
 *     spines N                    at most 32
 *     link LINKS KEY=VALUE...     rate=100g latency=2us queue=1m loss=0.001 reorder=0.01
 *                                 late=20us (of reordered packets) drop=N (the next N) up down
 *     link * plain                no link is configured, as at the beginning
 *     registration KEY=VALUE...   base=20us page=50ns: how long one takes; spike=5ms every=100:
 *                                 how long one in so many takes instead
 *     port PORTS down|up|newgid   up and newgid in one command: the port comes back with new GIDs
 * PORTS is [HOST:]emu0/1 or *. LINKS is up:PORTS, down:PORTS, leaf:RACK/SPINE, spine:RACK/SPINE,
 * with * for either, or * for all. Rates are bits a second, queues bytes; k m g are powers of
 * 1000. A program may give a command at any time: dlsym "emu_verbs_command".
 *
 * Locks, in this order: the NIC's (emu_lock), a send or receive queue's, a CQ's, an event
 * queue's. None is held while the program's functions run.
 */
#ifndef EMU_VERBS_EMU_H
#define EMU_VERBS_EMU_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#include "../common/common.h"
#include "fabric.h"
#include "wire.h"

#define EMU_EXPORT __attribute__((visibility("default")))

enum {
    EMU_MAX_SGE = 16,
    EMU_MAX_INLINE = 1024,
    EMU_MAX_WR = 16384,
    EMU_MAX_CQE = 1 << 20,
    EMU_MAX_QP = 1 << 14, /* of a process; the index in a QP's number */
    EMU_MAX_MR = 1 << 16,
    EMU_MAX_RD_ATOMIC = 16,
    EMU_MAX_ANSWERS = 4 * EMU_MAX_RD_ATOMIC,
    EMU_GIDS = 2 /* of a port: link-local, and that of an IPv4 address */
};

/* Rings have a power of two of slots, so that counters of 32 bits may wrap. */
static inline uint32_t emu_slots(uint32_t entries)
{
    return entries <= 1 ? 1 : 1u << (32 - __builtin_clz(entries - 1));
}

/* settings.c: the environment, read once. */
struct emu_settings {
    char        dir[200], host[EMU_HOST_NAME];
    unsigned    devices, ports, mtu, window;
    bool        ib, virtual_time;
    uint64_t    seed;
    const char *fabric, *faults;
};
extern struct emu_settings emu_set;
void                       emu_settings_read(void);

/* script.c */
void emu_script_configure(struct emu_fabric *fabric, unsigned host);
/* Reads EMU_VERBS_FAULTS, and schedules its lines. */
void emu_script_start(void);
/* What is due by the count of packets. */
void emu_script_sent(uint64_t packets);
void emu_script_run(unsigned line);

/* events.c: queues of events with a descriptor that is readable while there are any. */
struct emu_event_queue {
    pthread_mutex_t lock;
    int             fd; /* eventfd, a semaphore */
    size_t          entry_bytes, first, count, room;
    char           *entries;
};
int  emu_events_init(struct emu_event_queue *queue, size_t entry_bytes);
void emu_events_fini(struct emu_event_queue *queue);
void emu_events_push(struct emu_event_queue *queue, const void *entry);
/* Blocks unless the descriptor does not. 0, or -1 with errno. */
int emu_events_pop(struct emu_event_queue *queue, void *entry);
/* Removes the entries that have `key` at byte 0; how many. */
uint32_t emu_events_purge(struct emu_event_queue *queue, const void *key);

/* device.c */
struct emu_device {
    struct ibv_device ib;
    const void       *ops; /* where libraries of real devices look for theirs: always NULL */
    unsigned          number;
    atomic_uint       references;
};

struct emu_context {
    struct verbs_context   verbs; /* ends with the ibv_context */
    struct emu_device     *device;
    struct emu_event_queue async;
    struct emu_context    *next;
    bool                   port_down[EMU_DEVICE_PORTS]; /* as told to the program */
    unsigned               generation[EMU_DEVICE_PORTS];
};
struct emu_context *emu_context_of(struct ibv_context *context);
/* The number in the fabric of a port of a device. */
unsigned emu_port_number(const struct emu_device *device, unsigned port);
void     emu_context_fill_ops(struct emu_context *context);
/* Adds an event to those that ibv_get_async_event gives. */
void emu_async(struct emu_context *context, enum ibv_event_type type, void *element);
/* Before an object goes: forgets its events, of which there were `pushed`, and waits until the
 * program has acknowledged those that it got. No lock is held. */
void emu_async_settle(struct emu_context *context, void *element, uint32_t pushed,
                      pthread_mutex_t *mutex, pthread_cond_t *cond, const uint32_t *completed);
/* Compares the ports with what the programs know; the NIC's lock is held. */
void emu_ports_look(void);

int emu_query_device_ex(struct ibv_context *ib, const struct ibv_query_device_ex_input *input,
                        struct ibv_device_attr_ex *attr, size_t bytes);
int emu_query_rt_values(struct ibv_context *ib, struct ibv_values_ex *values);
int emu_query_port(struct ibv_context *ib, uint8_t port, struct ibv_port_attr *attr, size_t bytes);

/* address.c: GIDs and LIDs. */
void emu_gid_make(unsigned port, unsigned index, uint8_t gid[16]);
/* The port of the fabric that now has this GID, or this LID; -1 if there is none. */
int emu_gid_port(const uint8_t gid[16]);
int emu_lid_port(uint16_t lid);

/* mr.c */
struct emu_mr {
    struct ibv_mr ib;
    uint64_t      iova;
    char         *at; /* of iova in this process */
    unsigned      access;
    void         *map; /* of a dma-buf: what to unmap */
    size_t        map_bytes;
};
/* Where `bytes` at `addr` of a key lie, or NULL if the key, the domain, the bounds or the rights
 * forbid it. The NIC's lock is held. */
char *emu_mr_find(struct ibv_pd *pd, uint32_t key, uint64_t addr, uint64_t bytes, unsigned access);

struct emu_pd {
    struct ibv_pd ib;
    atomic_uint   uses; /* MRs, QPs, SRQs and AHs */
};
struct emu_ah {
    struct ibv_ah      ib;
    struct ibv_ah_attr attr;
};
/* 0, or EINVAL if a port of the device cannot use the address. */
int emu_address_check(struct emu_context *context, const struct ibv_ah_attr *attr);

/* cq.c */
struct emu_cqe {
    struct ibv_wc  wc;
    struct emu_qp *qp;
    uint32_t       frees; /* the send queue's slots up to here, the receive queue's number */
    bool           is_send, solicited;
    uint64_t       ts, wallclock;
};
enum emu_cq_arm { EMU_CQ_IDLE, EMU_CQ_SOLICITED, EMU_CQ_ANY };
struct emu_cq {
    struct ibv_cq_ex ex; /* begins as an ibv_cq */
    pthread_mutex_t  lock;
    struct emu_cqe  *ring;
    uint32_t         size, slots, head, tail;
    enum emu_cq_arm  arm;
    bool             overrun, ignore_overrun, polling;
    atomic_uint      uses;                 /* QPs */
    uint32_t         events, async_events; /* made; guarded by the locks of this and of the NIC */
    struct emu_cqe   current;
};
void emu_cq_push(struct emu_cq *cq, struct emu_cqe *cqe);
void emu_cq_purge(struct emu_cq *cq, struct emu_qp *qp);
int  emu_cq_poll(struct ibv_cq *cq, int entries, struct ibv_wc *wc);
int  emu_cq_arm(struct ibv_cq *cq, int solicited_only);
/* cq_ex.c */
struct ibv_cq_ex *emu_cq_ex_create(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr);
struct emu_cq    *emu_cq_make(struct ibv_context *context, uint32_t cqe, void *user,
                              struct ibv_comp_channel *channel, int vector);
bool              emu_cq_take(struct emu_cq *cq, struct emu_cqe *cqe);

/* channel.c */
struct emu_channel {
    struct ibv_comp_channel ib;
    struct emu_event_queue  queue;
};
void emu_channel_event(struct emu_cq *cq);

/* rq.c: receive queues, of a QP or shared. */
struct emu_rqe {
    uint64_t       wr_id;
    uint32_t       sges;
    uint64_t       bytes;
    struct ibv_sge sge[EMU_MAX_SGE];
};
struct emu_rq {
    pthread_mutex_t lock; /* of those who post */
    struct emu_rqe *ring;
    uint32_t        size, slots, max_sge;
    atomic_uint     tail, head, freed; /* posted, taken by the NIC, polled by the program */
};
int  emu_rq_init(struct emu_rq *rq, uint32_t size, uint32_t max_sge);
void emu_rq_fini(struct emu_rq *rq);
void emu_rq_reset(struct emu_rq *rq);
int  emu_rq_post(struct emu_rq *rq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
bool emu_rq_take(struct emu_rq *rq, struct emu_rqe *rqe);

struct emu_srq {
    struct ibv_srq ib;
    struct emu_rq  rq;
    uint32_t       limit; /* guarded by the NIC's lock */
    atomic_uint    uses;
    uint32_t       events;
};
int emu_srq_post(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

/* wqe.c, qp_ex.c: send queues */
struct emu_wqe {
    uint64_t           wr_id;
    enum ibv_wr_opcode opcode;
    unsigned           flags; /* IBV_SEND_*, signalled if the QP signals all */
    enum ibv_wc_status status;
    uint32_t           imm, rkey, sges, inline_bytes;
    uint64_t           addr, compare, swap, bytes;
    struct ibv_ah_attr av; /* UD */
    uint32_t           qpn, qkey;
    struct ibv_sge    *sge;
    uint8_t           *data; /* inline */
    /* the NIC's */
    bool     numbered;
    uint32_t psn, packets, sent, answered;
};
int  emu_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int  emu_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
void emu_qp_ex_fill(struct emu_qp *qp);
/* The slot for the `n`-th request of a batch, emptied; NULL if there is no room. */
struct emu_wqe *emu_sq_slot(struct emu_qp *qp, uint32_t n);
/* 0, or what forbids a post in the QP's state. */
int  emu_sq_state(struct emu_qp *qp);
bool emu_opcode_fits(enum ibv_qp_type type, enum ibv_wr_opcode opcode);
void emu_sq_publish(struct emu_qp *qp, uint32_t n);

/* null.c: see emu_verbs_null. */
extern bool emu_null_is_on;
struct emu_qp;
int emu_null_post(struct emu_qp *qp, struct ibv_send_wr *wr);
int emu_null_poll(struct ibv_cq *cq, int entries, struct ibv_wc *wc);

/* qp.c */
struct emu_answer {
    uint8_t  op, code;
    bool     counted; /* among reads_in: a read that was not asked for before */
    uint32_t psn, packets, sent;
    uint32_t rkey;
    uint64_t addr, bytes; /* of a read; addr: an atomic's old value */
};
struct emu_done_atomic {
    uint32_t psn;
    uint64_t value;
    bool     valid;
};
struct emu_qp {
    struct ibv_qp_ex        ex; /* begins as an ibv_qp */
    struct emu_context     *ctx;
    struct ibv_qp_attr      attr;
    struct ibv_qp_init_attr init;
    atomic_int              state;
    uint32_t                events;   /* asynchronous ones, made */
    uint64_t                serial;   /* tells QPs apart that had the same number */
    unsigned                port;     /* in the fabric */
    uint64_t                send_ops; /* of an extended QP; 0: it is none */
    /* send queue: posted under the lock; the NIC takes from `head` on */
    pthread_mutex_t sq_lock;
    struct emu_wqe *sq;
    uint32_t        sq_slots;
    struct ibv_sge *sq_sge;
    uint8_t        *sq_data;
    atomic_uint     sq_tail, sq_freed;
    uint32_t        sq_head, sq_next;
    uint32_t        batch; /* extended posts: requests of this batch */
    struct emu_wqe *building;
    int             batch_error;
    /* requester */
    uint32_t next_psn, una; /* una: oldest that is not acknowledged */
    uint32_t reads_out;
    unsigned retries_left, rnr_left;
    uint64_t deadline_ns, rnr_until_ns;
    uint64_t mark; /* of the ring, while the peer lags behind an expired timer */
    bool     timer_queued, lagging, gone_back, sq_failed, drained_told, last_told;
    /* responder */
    struct emu_rq          rq;
    uint32_t               want_psn, reads_in;
    bool                   nak_sent, receiving, dropping, met;
    struct emu_rqe         rqe; /* `receiving`: the message that arrives goes here */
    uint64_t               received;
    struct emu_answer      answers[EMU_MAX_ANSWERS];
    uint32_t               answer_first, answer_count;
    struct emu_done_atomic atomics[EMU_MAX_RD_ATOMIC];
    uint32_t               next_atomic;
    /* the NIC's lists */
    atomic_bool    belled;
    bool           active, port_waits;
    bool           cut_short;  /* sent all that it was allowed to */
    bool           backlogged; /* had more to send when it was served last, */
    uint64_t       ready_ps;   /* and has had since then */
    struct emu_qp *bell_next, *active_next, *port_next;
};
struct emu_qp *emu_qp_of(struct ibv_qp *qp);
struct ibv_qp *emu_qp_create(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
/* qp_state.c */
int emu_qp_state_check(struct emu_qp *qp, const struct ibv_qp_attr *attr, int mask);
/* What a QP in the state of error does: completes all that is posted. The NIC's lock is held. */
void emu_qp_fail(struct emu_qp *qp);
void emu_qp_flush(struct emu_qp *qp);
void emu_qp_set_state(struct emu_qp *qp, enum ibv_qp_state state);
void emu_qp_event(struct emu_qp *qp, enum ibv_event_type type);

/* send.c: the requester. True if it did something. */
bool            emu_send(struct emu_qp *qp, unsigned budget);
struct emu_wqe *emu_wqe_at(struct emu_qp *qp, uint32_t i);
bool            emu_wqe_is_answered(const struct emu_wqe *wqe); /* a read or an atomic */
/* The request at the head of the send queue ends. */
void emu_send_complete(struct emu_qp *qp, enum ibv_wc_status status);
/* All that is not acknowledged is sent again. */
void emu_send_again(struct emu_qp *qp);
/* A request failed: the QP goes where its type goes then. */
void     emu_send_failed(struct emu_qp *qp, enum ibv_wc_status status);
uint32_t emu_qp_mtu(const struct emu_qp *qp);

/* rc.c: what the requester of an RC QP makes of answers and of silence. */
void emu_rc_answer(struct emu_qp *qp, const struct emu_wire *wire, const char *payload);
void emu_rc_timer(struct emu_qp *qp);
void emu_rc_timer_start(struct emu_qp *qp, bool again);

/* recv.c: what arrives. respond.c: what a responder sends. */
void emu_receive(const struct emu_wire *wire, const char *payload);
bool emu_respond(struct emu_qp *qp, unsigned budget);
void emu_respond_add(struct emu_qp *qp, const struct emu_answer *answer);
/* Forgets the answers from a sequence number on: they are asked for again. */
void emu_respond_forget(struct emu_qp *qp, uint32_t psn);
/* scatter.c: copies between packets and lists of memory. */
enum ibv_wc_status emu_gather(struct emu_qp *qp, const struct emu_wqe *wqe, uint64_t offset,
                              uint32_t bytes, char *to);
enum ibv_wc_status emu_scatter(struct emu_qp *qp, const struct ibv_sge *sge, uint32_t sges,
                               uint64_t offset, const char *from, uint32_t bytes);
enum ibv_wc_status emu_sges_check(struct emu_qp *qp, const struct emu_wqe *wqe, unsigned access);
/* Copies so that who sees the last bytes sees all: programs wait for them. */
void emu_copy_in_order(char *to, const char *from, size_t bytes);

/* port.c: ports and packets on their way. */
struct emu_packet {
    struct emu_packet *next;
    unsigned           links[EMU_MAX_HOPS], hops, hop;
    uint64_t           at_ps; /* when it is at the next link */
    struct emu_wire    wire;
    char               payload[];
};
struct emu_packet *emu_packet_get(uint32_t payload);
void               emu_packet_put(struct emu_packet *packet);
void               emu_packets_free(void);
/* Whether the QP's port may send now; if not, the QP is called when it may. */
bool emu_port_ready(struct emu_qp *qp);
/* Sends a packet of the QP; takes it over. */
void emu_packet_send(struct emu_qp *qp, struct emu_packet *packet);
void emu_packet_hop(struct emu_packet *packet);
/* The port may send: the QPs that wait have their turns. */
void emu_port_free(unsigned port);
void emu_port_leave(struct emu_qp *qp);
/* Fills the addresses of a packet of `qp` to the place that `attr` names. False: nowhere. */
bool emu_packet_address(struct emu_qp *qp, const struct ibv_ah_attr *attr, struct emu_wire *wire);

/* ring.c: packets between processes. */
void emu_ring_send(struct emu_packet *packet); /* takes it over */
/* Reads so many packets at most; true if there were any. What was read counts as unread for its
 * sender until it is released, at the end of a step. */
bool emu_rings_receive(unsigned budget);
void emu_rings_release(void);
void emu_rings_retry(void);   /* what found a ring full */
bool emu_rings_holding(void); /* whether anything did */
bool emu_ring_held_up(unsigned slot);
/* The end of what was written to a slot's process; whether it has yet to read up to there. */
uint64_t emu_ring_mark(unsigned slot);
bool     emu_ring_lags(unsigned slot, uint64_t mark);
/* Whether packets of a slot's process wait here. */
bool emu_ring_unread(unsigned slot);
void emu_rings_forget(void);

/* heap.c: what happens later, in order of time, and of insertion at one time. */
enum emu_event_kind {
    EMU_EV_HOP,
    EMU_EV_PORT,
    EMU_EV_TIMER,
    EMU_EV_WAKE,
    EMU_EV_SCRIPT,
    EMU_EV_RINGS
};
struct emu_later {
    uint64_t            at_ps, order;
    enum emu_event_kind kind;
    uint32_t            number; /* of a QP, port or line */
    uint64_t            serial;
    struct emu_packet  *packet;
};
void emu_later(uint64_t at_ps, enum emu_event_kind kind, uint32_t number, uint64_t serial,
               struct emu_packet *packet);
bool emu_heap_pop(uint64_t until_ps, struct emu_later *event);
/* UINT64_MAX if there is none. */
uint64_t emu_heap_next(void);
uint64_t emu_heap_next_locked(void); /* takes the NIC's lock */
void     emu_heap_clear(void);

/* nic.c */
struct emu_port {
    struct emu_qp *first, *last;  /* QPs that wait for it */
    struct emu_qp *turn;          /* the one that may send before them */
    uint64_t       busy_until_ps; /* with this process's last packet */
    bool           queued;        /* its event is in the heap */
};
struct emu_nic {
    pthread_mutex_t          lock;
    atomic_int               wanted; /* program threads that want the lock */
    atomic_bool              started, stopping;
    bool                     running; /* the thread */
    bool                     held;    /* emu_verbs_hold */
    pthread_t                thread;
    struct emu_fabric       *fabric;
    struct emu_place         place;
    uint64_t                 now_ps, random, sent, serials;
    _Atomic uint64_t         virtual_ps;
    _Atomic(struct emu_qp *) bells;
    struct emu_qp           *active_first, *active_last;
    struct emu_qp           *held_first; /* active, but a ring is full */
    uint64_t                 read_from[EMU_SLOT_WORDS], wake_ps;
    _Atomic uint64_t         helped_ps;
    struct emu_qp           *qps[EMU_MAX_QP];
    struct emu_mr           *mrs[EMU_MAX_MR];
    uint8_t                  mr_tag[EMU_MAX_MR];
    struct emu_context      *contexts;
    struct emu_port          ports[EMU_PORTS];
    struct emu_packet       *local_first, *local_last; /* packets that have arrived here */
    atomic_uint              changes;                  /* of the fabric, as seen */
    unsigned                 in_flight;                /* packets in the heap */
};
extern struct emu_nic emu_nic;
/* Joins the fabric at the first call of the process. */
bool emu_nic_start(void);
/* The NIC thread runs while a context is open. */
int  emu_nic_open(struct emu_context *context);
void emu_nic_close(struct emu_context *context);
void emu_lock(void);
void emu_unlock(void);
/* From a post: the QP has work. */
void emu_bell(struct emu_qp *qp);
/* From the NIC itself, under the lock. */
void emu_activate(struct emu_qp *qp);
void emu_hold(struct emu_qp *qp);
void emu_forget_qp(struct emu_qp *qp);
/* Lets a QP send up to so many packets; true if it did anything. */
bool emu_serve(struct emu_qp *qp, unsigned budget);
/* A poll found nothing: does the NIC's work once, unless another thread is doing it. */
void emu_nic_help(void);
/* Returns when so much time has passed; in virtual time it passes at once. No lock is held. */
void emu_nic_pass_time(uint64_t ns);
/* Virtual time: until `queue` has an event; true if there is no sense in blocking. */
void           emu_nic_help_until(struct emu_event_queue *queue);
uint64_t       emu_now_ps(void);
uint64_t       emu_random(void);
struct emu_qp *emu_qp_find(uint32_t qpn);

/* For programs, by dlsym. */
EMU_EXPORT int      emu_verbs_command(const char *text);
EMU_EXPORT void     emu_verbs_fail(const char *list);
EMU_EXPORT int      emu_verbs_counts(const char *link, struct emu_link_counts *counts);
EMU_EXPORT uint64_t emu_verbs_now_ns(void);
/* Returns when so much time has passed; in virtual time at once. */
EMU_EXPORT void emu_verbs_pass(uint64_t ns);
/* Virtual time for a program with several devices: while it is held, polls that find nothing do not
 * let time jump, so that each part of the program can treat what has come at this time; then
 * emu_verbs_next lets it jump to the next event. False: there is none. */
EMU_EXPORT void emu_verbs_hold(bool on);
EMU_EXPORT bool emu_verbs_next(void);
/* While it is on, RC queue pairs of this process send nothing: each request completes at once, for
 * as little work as can be. What a program costs by itself can be measured so. */
EMU_EXPORT void emu_verbs_null(bool on);

#endif
