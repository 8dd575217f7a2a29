/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ep - endpoints: one for each other process of the job, and for oneself. The layer chooses the
 * transport of each pair, connects at first use, keeps messages in order when a transport has no
 * room, hands arriving messages to the handler of their type (active messages), and turns the loss
 * of a peer into errors of exactly the operations with that peer.
 *
 * It also owns waiting: ct_ep_progress drives all transports once, ct_ep_idle spends the time
 * until something may have happened.
 *
 * Threads: all functions run in the progress domain (domain.h), except init, fini and ct_ep_get.
 * Handlers, `done` and failure callbacks run inside ct_ep_progress alone, so ct_ep_send never calls
 * back; they may send, and must not progress.
 */
#ifndef CT_EP_EP_H
#define CT_EP_EP_H

#include "ep/domain.h"
#include "ep/region.h"
#include "ep/rma.h"
#include "net/net.h"
#include "topo/topo.h"

enum ct_ep_state { CT_EP_NEW, CT_EP_CONNECTED, CT_EP_FAILED };

/* What p2p keeps for each peer: see p2p/flow.h. */
struct ct_ep_flow {
    uint64_t                  used;  /* sender: credit that is out */
    struct ct_list            line;  /* sends that wait for credit */
    struct ct_list            lined; /* among the peers that have some */
    bool                      told;  /* the peer knows that there are some, and has not answered */
    uint32_t                  held;  /* receiver: messages that are kept */
    uint64_t                  owed;  /* credit to be given back */
    struct ct_list            waits; /* among the peers that wait for an answer */
    const struct ct_p2p_kind *kind;  /* protocol.h; NULL: not needed so far */
};

/* What passes between this process and a peer, where ranks share cores: traffic.c. */
struct ct_ep_traffic {
    bool     received; /* a message from it, since the last to it */
    bool     much;     /* what the last judgement has found */
    uint32_t answers;  /* messages to it after one from it, and */
    uint64_t bytes;    /* of messages, since that */
    uint64_t since;    /* what had passed between this process and all when that was made */
};

struct ct_ep {
    struct ct_process       *p;
    uint32_t                 id;
    enum ct_ep_state state   CT_GUARDED_BY(ct_domain);
    int why                  CT_GUARDED_BY(ct_domain); /* FAILED: the error of every operation */
    struct ct_net_link *link CT_GUARDED_BY(ct_domain); /* CT_EP_CONNECTED */
    bool watched             CT_GUARDED_BY(ct_domain);
    bool left                CT_GUARDED_BY(ct_domain); /* FAILED, but by its own will */
    bool dead                CT_GUARDED_BY(ct_domain); /* FAILED, and all processes are told so */
    struct ct_list pending   CT_GUARDED_BY(ct_domain); /* struct ct_ep_op, waiting for room */
    struct ct_list stalled   CT_GUARDED_BY(ct_domain); /* among the pending, or failed */
    struct ct_ep_flow flow   CT_GUARDED_BY(ct_domain);
    struct ct_ep_traffic traffic CT_GUARDED_BY(ct_domain);
    struct ct_ep_rma_queue *rma  CT_GUARDED_BY(ct_domain); /* NULL: not needed so far */
};

/* A message on its way, embedded in its owner's object. The owner fills the first part, which
 * stays valid until the message is taken; payload larger than a slice is not split here. */
struct ct_ep_op {
    uint8_t               id; /* of the active message, see ct_ep_register */
    uint8_t               hdr_len;
    const struct ct_area *area; /* may be NULL where there is no payload */
    size_t                pos;  /* the byte of it where the payload starts */
    size_t                len_bytes;
    /* Called when a message that had to wait was taken (CTRAN_SUCCESS) or never will be. */
    void (*done)(struct ct_ep_op *op, int status);
    char hdr[CT_NET_MAX_HDR];

    struct ct_list node; /* private */
};

typedef void (*ct_ep_handler)(struct ct_ep *from, const void *hdr, size_t hdr_len, const void *data,
                              size_t len_bytes);
/* An endpoint has failed, or one that had failed is dead: complete what waits for it. Endpoint
 * state is already set. */
typedef void (*ct_ep_on_fail)(struct ct_ep *ep);
/* The time has come to look after peers: ct_ep_watch those that are waited for. */
typedef void (*ct_ep_on_look)(struct ct_process *p);

/* Opens the transports, publishes their addresses and learns where all peers are: the job's one
 * combined exchange. Errors are logged. */
int  ct_ep_init(struct ct_process *p);
void ct_ep_fini(struct ct_process *p);
/* Locks are from now on as p->threaded says. No other thread is here. */
void ct_ep_set_threaded(struct ct_process *p);

/* Registers a handler of active messages and returns the id by which peers reach it. Ids are given
 * in order from 1 on, so a handler has the same id in all processes of a job: these run one build
 * (ep's record makes sure) and register in one order, before the first message. hdr and data are
 * valid during the call of the handler. There are at most CT_EP_MAX_HANDLERS. */
enum { CT_EP_MAX_HANDLERS = 254 };
uint8_t ct_ep_register(struct ct_process *p, ct_ep_handler handler);
/* At most a few; called in order of registration. */
void ct_ep_register_fail(struct ct_process *p, ct_ep_on_fail on_fail);
void ct_ep_register_look(struct ct_process *p, ct_ep_on_look on_look);

/* Whether it has failed and on_fail is still to be called for that: until then messages may wait in
 * it, and transports may use memory on its behalf. */
static inline bool ct_ep_is_to_be_told(const struct ct_ep *ep) CT_IN_DOMAIN
{
    return ep->state == CT_EP_FAILED && !ct_list_empty(&ep->stalled);
}

/* The endpoint of process `id`, made if need be; NULL when out of memory, or for a process of
 * another job before ct_ep_meet_others. In the domain or not. */
struct ct_ep *ct_ep_get(struct ct_process *p, uint32_t id);

/* From now on processes of other jobs can be reached, and reach this one by its record, which they
 * can look up. Several calls are one. CTRAN_ERR_UNSUPPORTED_OPERATION: this launcher has no other
 * jobs; CTRAN_ERR_BOOTSTRAP, logged. Collective for nobody. */
int ct_ep_meet_others(struct ct_process *p) CT_EXCLUDES(ct_domain);

/* Where process `id` stands; ct_distance_between compares two. The first time for each it looks
 * into that one's record, and waits until it has joined, at most CTRAN_BOOTSTRAP_TIMEOUT
 * (CTRAN_ERR_BOOTSTRAP, logged). Takes 16 bytes for each process of the job from the first call on.
 * The numbers are this process's own; two ranks have equal numbers here if and only if they have
 * them elsewhere. CTRAN_ERR_NO_MEM. Any thread. locations.c */
int ct_ep_location(struct ct_process *p, uint32_t id, struct ct_location *location)
    CT_EXCLUDES(ct_domain);
/* What the own record says of it. Any thread. */
void ct_ep_own_location_key(const struct ct_process *p, struct ct_location_key *at);

/* Sends op's message after all earlier ones to ep. CTRAN_SUCCESS: taken, op is free again and done
 * is not called. CT_QUEUED: done will be called. Else failed, done is not called. */
int ct_ep_send(struct ct_ep *ep, struct ct_ep_op *op) CT_IN_DOMAIN;

/* Like ct_ep_send if the transport takes it at once: false, nothing was done. Does not connect. */
bool ct_ep_send_now(struct ct_ep *ep, uint8_t id, const void *hdr, size_t hdr_len,
                    const struct ct_area *area) CT_IN_DOMAIN;

/* The largest payload of one message to ep, connecting if need be; 0 when ep has failed. */
size_t ct_ep_max_payload(struct ct_ep *ep) CT_IN_DOMAIN;

/* The largest message of any peer that its transport would rather have sent without asking. */
size_t ct_ep_most_eager(const struct ct_process *p);

/* Has the transports notice ep's death even if nothing is ever sent to it. */
void ct_ep_watch(struct ct_ep *ep) CT_IN_DOMAIN;

/* Declares ep lost. Its queued messages fail, and those who registered are told, at the end of the
 * next ct_ep_progress. Idempotent. */
void ct_ep_fail(struct ct_ep *ep, int why) CT_IN_DOMAIN;
/* Like ct_ep_fail on the launcher's word that the process is dead, which a transport may have
 * noticed before. Those who registered are told so even if it was lost for another reason. */
void ct_ep_die(struct ct_ep *ep) CT_IN_DOMAIN;

/* Tells of the failures that are known, now instead of with the next progress. */
void ct_ep_tell(struct ct_process *p) CT_IN_DOMAIN;

/* Takes in what has arrived and sends what waited; returns the number of events. */
unsigned ct_ep_progress(struct ct_process *p) CT_IN_DOMAIN;

/* After a fruitless ct_ep_progress: polls on for spin_ns, then yields, then sleeps, as w's history
 * advises. */
void ct_ep_idle(struct ct_process *p, struct ct_wait *w, uint64_t spin_ns) CT_IN_DOMAIN;

/* Gives the core away once. And whether that is the first thing to do for one who waits, since the
 * host has more ranks than cores: then job->placement tells whom it helps. */
void ct_ep_make_room(struct ct_process *p);
bool ct_ep_is_oversubscribed(const struct ct_process *p);
/* Whether before each sleep all processes that have joined pass a barrier, this one among them (see
 * base/membarrier.h): such publish what it watches with a release store. */
bool ct_ep_bars(const struct ct_process *p);

/* A message to the peer, or one from it that has been matched, of so many bytes; to be told where
 * ranks share cores. traffic.c */
void ct_ep_sent(struct ct_ep *to, size_t len_bytes) CT_IN_DOMAIN;
void ct_ep_received(struct ct_ep *from, size_t len_bytes) CT_IN_DOMAIN;
/* So many bytes of the peer's, out of memory that ranks share; the same. */
void ct_ep_read_beside(struct ct_ep *from, size_t len_bytes) CT_IN_DOMAIN;

/* Drives transfers and idles until watch->value has reached watch->least; false as soon as any
 * endpoint fails or dies before that. `whom` says, now and then, who is to count it up: one whose
 * death shall be noticed, or NULL; false where that one has failed before. One thread at a time. In
 * a process that has become threaded it naps where it would sleep, as another thread may poll. */
typedef struct ct_ep *(*ct_ep_whom)(void *arg);
bool ct_ep_await(struct ct_process *p, const struct ct_watch *watch, ct_ep_whom whom,
                 void *arg) CT_IN_DOMAIN;
/* Has ct_ep_await return false: something else than a loss may have ended the wait. */
void ct_ep_interrupt(struct ct_process *p) CT_IN_DOMAIN;
/* Wakes the process behind ep, if it can be reached. */
void ct_ep_nudge(struct ct_ep *ep) CT_IN_DOMAIN;

/* Asks for a thread that drives transfers while no other does, in a threaded process; it is started
 * once. CTRAN_ERR_SYSTEM, logged. _stop ends it, if there is one, before all else ends. thread.c */
int  ct_ep_thread_start(struct ct_process *p) CT_EXCLUDES(ct_domain);
void ct_ep_thread_stop(struct ct_process *p) CT_EXCLUDES(ct_domain);

/* Whether all messages handed to ct_ep_send are on their way: they need this process no more. */
bool ct_ep_drained(const struct ct_process *p) CT_IN_DOMAIN;
/* Waits until it is so. No other thread waits. */
void ct_ep_drain(struct ct_process *p) CT_EXCLUDES(ct_domain);
/* Drives transfers until another thread sets *flag (seq_cst), and then wakes the process. */
void ct_ep_drive_until(struct ct_process *p, const _Atomic bool *flag) CT_EXCLUDES(ct_domain);

/* The names of the transports in use, for messages and ctran_info. */
void ct_ep_describe(const struct ct_process *p, char *out, size_t cap);

#endif
