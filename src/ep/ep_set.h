/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of ep share: the process's endpoints and transports. */
#ifndef CT_EP_EP_SET_H
#define CT_EP_EP_SET_H

#include <uthash.h>

#include "ep/ep.h"
#include "pmi/pmi.h"
#include "topo/topo.h"

/* A sleeper wakes this often to look after its peers; nothing else depends on it. */
#define CT_EP_NAP_NS (200 * (uint64_t)CT_NS_PER_MS)

struct ct_domain {
    struct ct_lock           lock;
    uint32_t                 cores;                    /* for each process of this host */
    _Atomic uint32_t         wanted;                   /* threads that wait for the lock */
    struct ct_waiter *poller CT_GUARDED_BY(ct_domain); /* NULL: no one polls */
    struct ct_list sleepers  CT_GUARDED_BY(ct_domain); /* struct ct_waiter */
    uint32_t nsleepers       CT_GUARDED_BY(ct_domain);
    struct ct_list ready     CT_GUARDED_BY(ct_domain); /* struct ct_task */
    uint32_t visits          CT_GUARDED_BY(ct_domain); /* times a thread came to poll */
};

/* w, which is not told, becomes the poller. */
void ct_domain_claim(struct ct_domain *d, struct ct_waiter *w) CT_IN_DOMAIN;
/* Drives transfers until w, the poller, is told; then finds a successor, if it is not replaced. */
void ct_domain_poll(struct ct_process *p, struct ct_waiter *w, uint64_t spin_ns) CT_IN_DOMAIN;

/* The progress thread: see thread.c. */
struct ct_ep_thread {
    pthread_t        id;
    struct ct_waiter waiter;
    bool runs        CT_GUARDED_BY(ct_domain);
    bool stop        CT_GUARDED_BY(ct_domain);
    _Atomic uint32_t bell; /* 1: a nap shall end */
};

enum { CT_EP_MAX_NETS = 8, CT_EP_MAX_ON_FAIL = 4, CT_EP_PAGE = 256 };

struct ct_ep_page {
    _Atomic(struct ct_ep *) ep[CT_EP_PAGE];
};

/* The endpoint of a process of another job. */
struct ct_ep_other {
    struct ct_ep   ep;
    uint32_t       id;
    UT_hash_handle hh;
};

/* What a process without threads has slept since the start: one nap that nobody ended takes as long
 * as was asked for, at least. Counted for tests: what idle ranks cost is a matter of these. */
struct ct_ep_naps {
    _Atomic uint32_t  n;                        /* naps */
    uint32_t roused   CT_GUARDED_BY(ct_domain); /* of them, ended by others */
    uint64_t asked_ns CT_GUARDED_BY(ct_domain); /* their lengths */
};

/* Where processes stand, by number: see locations.c. NULL until the first use. */
struct ct_ep_locations {
    _Atomic(struct ct_location *)          table;                    /* by rank of this job */
    struct ct_ep_foreign_location *foreign CT_GUARDED_BY(ct_domain); /* uthash */
    struct ct_location_table *numbers      CT_GUARDED_BY(ct_domain);
};

/* The row of polls, tests and probes of the program, that have brought nothing: polls.c. */
struct ct_ep_polls {
    struct ct_wait pace CT_GUARDED_BY(ct_domain);
    _Atomic uint64_t    looked_ns; /* when the clock was last read in this row */
};

struct ct_ep_set {
    struct ct_process  *p;
    struct ct_domain    domain;
    struct ct_ep_thread thread;
    struct ct_net_env   env;
    unsigned            nnets;
    struct ct_net      *nets[CT_EP_MAX_NETS]; /* best first */
    /* Endpoints by id, in pages made at first use: a process that talks to few holds few. Read by
     * any thread; what is not there yet is made under this lock. */
    struct ct_lock                making;
    _Atomic(struct ct_ep_page *) *pages; /* of this job */
    uint32_t                      npages;
    _Atomic bool                  others;  /* processes of other jobs may be met from now on */
    struct ct_ep_other           *foreign; /* uthash: their endpoints; likewise under `making` */
    struct ct_list stalled        CT_GUARDED_BY(ct_domain); /* endpoints with pending messages */
    struct ct_list failed         CT_GUARDED_BY(ct_domain); /* peers; to be reported */
    uint32_t events_seen          CT_GUARDED_BY(ct_domain); /* of the launcher's */
    uint32_t deaths               CT_GUARDED_BY(ct_domain); /* of those, taken up */
    uint32_t losses               CT_GUARDED_BY(ct_domain); /* failures and deaths told */
    bool in_progress              CT_GUARDED_BY(ct_domain);
    unsigned turns                CT_GUARDED_BY(ct_domain); /* of progress */
    ct_ep_handler                 handlers[UINT8_MAX + 1];  /* by id; NULL: none */
    uint8_t                       nhandlers;                /* the ids from 1 on */
    uint8_t                       nudge;                    /* the id of ct_ep_nudge's message */
    ct_ep_on_fail                 on_fail[CT_EP_MAX_ON_FAIL];
    unsigned                      non_fail;
    ct_ep_on_look                 on_look;
    ct_ep_whom whom               CT_GUARDED_BY(ct_domain); /* of ct_ep_await; NULL: none waits */
    void *whom_arg                CT_GUARDED_BY(ct_domain);
    bool in_vain                  CT_GUARDED_BY(ct_domain); /* `whom` has failed */
    struct ct_ep_region *regions  CT_GUARDED_BY(ct_domain); /* uthash by key */
    struct ct_slab region_slab    CT_GUARDED_BY(ct_domain); /* struct ct_ep_region */
    struct ct_slab rkey_slab      CT_GUARDED_BY(ct_domain); /* struct ct_ep_rkey */
    uint64_t last_region          CT_GUARDED_BY(ct_domain); /* the last number given to one */
    struct ct_list rma_reading    CT_GUARDED_BY(ct_domain); /* struct ct_ep_rma_queue */
    uint8_t                       rma_request, rma_reply;   /* ids of messages: rma_am.c */
    struct ct_wake               *wake; /* where this process sleeps: a transport's, or own_wake */
    struct ct_wake                own_wake;
    int bell                      CT_GUARDED_BY(ct_domain); /* -1: not needed so far */
    struct ct_ep_naps             naps;
    uint64_t                      spin_ns;
    uint64_t yield_ns             CT_GUARDED_BY(ct_domain); /* ct_wait_yield_ns */
    struct ct_ep_polls            polls;
    uint32_t                      rooms; /* made for others, in a process without threads */
    struct ct_ep *from            CT_GUARDED_BY(ct_domain); /* of the last message */
    uint64_t traffic_bytes        CT_GUARDED_BY(ct_domain); /* bytes, to and from all: traffic.c */
    struct ct_ep_locations        locations;
    uint64_t checked_ns           CT_GUARDED_BY(ct_domain); /* when peers were last looked after */
    void                         *record;
    size_t                        record_len;
};

/* A record is what a process publishes: who built it, where its host stands, and its address in
 * each transport. */
int ct_ep_record_make(struct ct_ep_set *set);
/* Checks a record before any use: CTRAN_ERR_VERSION for another build, CTRAN_ERR_BOOTSTRAP for no
 * record at all, CTRAN_ERR_CONFIG for a rank that would choose other collectives; all logged. */
int ct_ep_record_check(const struct ct_ep_set *set, uint32_t id, const void *record,
                       size_t len_bytes);
/* Of a record that was checked. */
void ct_ep_record_location_key(const void *record, struct ct_location_key *at);
/* The address in transport `name`, NULL when it has none. */
const void *ct_ep_record_find(const void *record, size_t record_len, const char *name,
                              size_t *len_bytes);

/* ep's record, checked; valid until the job is left. Errors are logged. */
int ct_ep_record_get(struct ct_ep *ep, const void **record, size_t *len_bytes);

/* Where this process's host stands, by its labels. CTRAN_ERR_CONFIG, logged. */
int  ct_ep_location_key(const struct ct_process *p, struct ct_location_key *at);
void ct_ep_locations_fini(struct ct_ep_set *set) CT_IN_DOMAIN;
/* How far process `id` is from this one: enum ct_distance; CT_DIST_BEYOND where that is not known.
 */
int ct_ep_distance(struct ct_ep_set *set, uint32_t id) CT_IN_DOMAIN;

/* Has the transports look whether the peers that matter still live, unless that was lately. */
void ct_ep_look_after(struct ct_ep_set *set) CT_IN_DOMAIN;

/* Takes up what the launcher has told since the last time; returns the number of events. */
unsigned ct_ep_take_events(struct ct_ep_set *set) CT_IN_DOMAIN;

/* The program has got or sent something: a row of polls that bring nothing begins anew. */
static inline void ct_ep_polls_reset(struct ct_ep_set *set) CT_IN_DOMAIN
{
    set->polls.pace.polls = 0;
}

/* Where ranks share cores: whether w should poll on and keep the core, because a rank that runs
 * on another core is likely to end the wait. idle.c */
bool ct_ep_is_near(struct ct_ep_set *set, struct ct_wait *w) CT_IN_DOMAIN;

/* A turn of waiting has brought something: this process may move to another core. traffic.c */
void ct_ep_learn_placement(struct ct_process *p, const struct ct_wait *pace) CT_IN_DOMAIN;

/* Finds a transport that reaches ep and connects. On failure ep has failed. */
int ct_ep_connect(struct ct_ep *ep) CT_IN_DOMAIN;

#endif
