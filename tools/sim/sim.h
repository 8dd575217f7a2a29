/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ctran_sim - collective algorithms on a clock. Every rank is a state machine that asks its
 * algorithm (coll/algo) for one round at a time, under the rules of algo.h and as the runner
 * (coll/run) executes them: chunks, lanes, lags, the window of transfers. Messages take their way
 * through the links of a cluster, and all that happens is in one queue in order of time.
 *
 * The model, in the order in which a message meets it:
 *   - the sender's processor works on it for a while (overhead; inside a node its bytes, too, where
 *     processors move them, at a rate that follows from what goes round through the caches,
 *     host.c). A rank does one thing at a time, and where a host has fewer cores than ranks these
 *     take turns on a core, fall asleep and are woken (cores.c).
 *   - a message longer than `eager` waits until the receiver has asked for it, and that word's way;
 *     where processors move it, both of them see to the announcement and to the answer before.
 *   - each link of the path serves messages one after the other, in the order in which they were
 *     sent off, at its rate. A message goes on to the next link as soon as its first byte was
 *     served; what a link cannot serve at once waits in buffers without end, before it. The send is
 *     over when the last byte has left the first link.
 *   - it arrives when the last byte has passed the slowest link, and a latency by distance later.
 *   - the receiver's processor works on it, when the receive has been posted, and reduces it. Where
 *     processors move its bytes, those of a message that came before its receive are moved twice.
 * Links: of each rank one out and one in inside a node or NVLink domain; of each NIC one out and
 * one in; of each rack, zone and data centre one up and one down, with the rate of the NICs below
 * by the oversubscription of that level. Many links that share a load evenly count as one.
 *
 * Times are in picoseconds, so that equal things take equal times and the same run gives the same
 * result to the last digit, everywhere.
 */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include <stdio.h>

#include "base/base.h"
#include "coll/algo/algo.h"
#include "coll/coll.h"
#include "topo/topo.h"

enum {
    SIM_RANKS = CT_CLUSTER_RANKS,
    SIM_CHUNKS = 64,
    SIM_SLOTS = 2 * CT_MAX_STEPS,
    SIM_STARTS = 99,
    SIM_LINKS = 64 /* most that are listed */
};

#define SIM_NEVER     UINT64_MAX
#define SIM_TOO_LATE  (UINT64_C(1) << 62) /* 53 days; such a run is refused, and sums do not wrap */
#define SIM_PS_PER_US 1000000.0

/* ---- the cluster (cluster.c) ----------------------------------------------------------------- */

/* Levels with an uplink. */
enum sim_level { SIM_RACK, SIM_ZONE, SIM_DC, SIM_LEVELS };

struct sim_cluster {
    char              name[128];
    struct ct_cluster shape;
    double            latency_us[CT_DIST_CLASSES];
    double            nvlink, nic, memory, reduce; /* bytes a second */
    double            shared;                      /* of a host's memory or switch; 0: no limit */
    double            uplink[SIM_LEVELS];          /* 0: by oversubscription */
    double            over[SIM_LEVELS];
    double            send_us, recv_us, step_us; /* overheads: of messages, and of a copy or sum */
    double            move;                      /* processors move bytes in a node; 0: not they */
    double            round_us, call_us;         /* overheads: of a round, and of a call */
    double   fresh;      /* `move` of data that were written since the last call; 0: as `move` */
    double   far, dram;  /* `move` beyond a core's own cache, and beyond all caches; 0: as `move` */
    uint64_t cache, llc; /* these caches' bytes; 0: without end */
    uint64_t ring;       /* bytes of memory for messages from one rank to another */
    double   switch_us;  /* when a core takes up another rank */
    double   near_us;    /* time that a waiting rank polls before it yields */
    double   nap_us;     /* time after which a waiting rank sleeps; 0: it never sleeps */
    double   fall_us;    /* so long that takes */
    double   wake_us;    /* and this, to wake him */
    uint32_t nics, cores; /* of a host; 0: as many as GPUs */
    uint64_t eager;       /* bytes; longer messages are asked for */
};

/* The figures of the paper (NCCLX sec. 2.3, 4.4) and of GPUs that were measured. */
void sim_cluster_default(struct sim_cluster *c);
/* Reads a description, over the defaults. CTRAN_ERR_ARG or CTRAN_ERR_NO_MEM: `why` has file, line
 * and reason. */
int sim_cluster_read(struct sim_cluster *c, const char *path, char *why, size_t cap);

/* A number of bytes as 64, 4K, 1M, 2G. */
bool sim_take_bytes(const char *text, uint64_t *out);

/* ---- what is simulated ----------------------------------------------------------------------- */

struct sim_case {
    const struct sim_cluster *cluster;
    const struct ct_levels   *levels; /* of its ranks; NULL: none */
    const struct ct_algo     *algo;
    uint32_t                  coll, n, root, radix;
    uint64_t                  bytes; /* one rank's block, or the vector: as the call counts it */
    uint64_t                  element;
    uint64_t                  chunk_bytes;
    uint32_t                  chunks;
    uint32_t                  repeat;  /* calls that each rank makes, one after the other */
    uint32_t                  starts;  /* orders in which ranks that share cores begin */
    uint32_t                  start;   /* of sim_run: the one; 0: that of the ranks */
    uint32_t                  links;   /* to list, at most SIM_LINKS */
    uint64_t                  most_ps; /* the run stops if its calls take longer; 0: no limit */
    bool                      inplace, ordered, full; /* full: without symmetry */
    struct sim_alive         *alive; /* is told now and then that the run goes on; NULL: none */
};

/* ---- signs of life (alive.c) ----------------------------------------------------------------- */

/* What one process has simulated so far. After a second a terminal that is standard error shows a
 * line, which goes at the end. Where standard error is no terminal a line is written after 10
 * seconds, after 20, and so on. */
struct sim_alive {
    size_t                 run, runs;    /* the one that goes on, from 1 on, of so many */
    const struct sim_case *what;         /* of that run */
    uint64_t               events, left; /* handled; until the next look at the clock */
    uint64_t               begun_ns, next_ns;
    bool                   terminal, shown;
};

enum { SIM_ALIVE_EVENTS = 1 << 16 }; /* between two looks at the clock */

void sim_alive_begin(struct sim_alive *a, size_t runs);
void sim_alive_run(struct sim_alive *a, const struct sim_case *c); /* the next run begins */
void sim_alive_events(struct sim_alive *a, uint64_t n);            /* n more were handled */
void sim_alive_end(struct sim_alive *a);

/* A link, and what it had to do in a run. */
enum sim_kind { SIM_NVLINK, SIM_SHARED, SIM_NIC, SIM_UPLINK }; /* and SIM_LEVELS of the last */
struct sim_load {
    uint8_t  kind;  /* enum sim_kind, and for uplinks the level added */
    uint32_t place; /* of rank, host or group, from 0 on; for NICs, of host and NIC in it */
    bool     in;    /* in or down, not out or up; shared: never */
    uint64_t bytes, busy_ps, waited_ps; /* of one call; waited_ps UINT64_MAX: too much */
    double   busy;                      /* of the time that the run took */
};

struct sim_count {
    uint64_t messages, bytes, rounds;
};

struct sim_result {
    uint64_t          time_ps, bound_ps;
    struct sim_count  total;
    struct sim_count *each;         /* of the ranks that were simulated; the caller frees it */
    uint32_t          stood_for;    /* ranks that each simulated one stands for: 1: no symmetry */
    bool              waves;        /* it went by waves: flight_bytes is not known */
    bool              given_up;     /* it takes longer than most_ps; nothing else is known */
    uint64_t          flight_bytes; /* most bytes of a rank that were sent and not yet received */
    uint64_t          level_bytes[CT_DIST_CLASSES]; /* by distance */
    uint64_t          waited_ps[SIM_LEVELS];        /* of messages before uplinks, added up */
    struct sim_load   load[SIM_LINKS];              /* those of links that were busy longest */
    uint32_t          loads;
    uint64_t          events;
    bool              too_much; /* bytes or times cannot be counted: the run has failed */
};

/* ---- which algorithms (picks.c) -------------------------------------------------------------- */

/* Algorithms with a radix each, in the order of the table, those of one in that of the list. */
struct sim_picks {
    struct ct_pick *pick; /* the caller frees it */
    size_t          n;
};

/* Whether a list of names has this one, or is "all". */
bool sim_is_named(const char *list, const char *name);
/* What a list "NAME[:RADIX],..." or "all" names of these collectives, into p, which is empty.
 * CTRAN_ERR_ARG, CTRAN_ERR_NO_MEM: `why` has it. */
int sim_picks_read(struct sim_picks *p, const char *colls, const char *algos, char *why,
                   size_t cap);
/* Whether it serves the ranks, root, operator and levels of a case. */
bool sim_pick_fits(const struct ct_pick *pick, const struct sim_case *c);
/* The largest radix up to pick's with which it does; 0: with none. */
uint32_t sim_pick_most(const struct ct_pick *pick, const struct sim_case *c);
/* An algorithm's name, with its radix where that is not the default. */
void sim_case_name(const struct sim_case *c, char *out, size_t cap);
/* Its radix as JSON has it: null where it has none. */
void sim_case_radix(const struct sim_case *c, char *out, size_t cap);

/* Told of each message as it is sent off, in order of time; for traces. */
struct sim_message {
    uint32_t from, to, chunk, round;
    uint64_t bytes, posted_ps, left_ps, arrived_ps;
};

struct sim_watch {
    void (*message)(void *arg, const struct sim_message *m);
    void *arg;
};

/* CTRAN_ERR_ARG, CTRAN_ERR_NO_MEM, CTRAN_ERR_INTERN (an algorithm that stops): `why` has it. */
int sim_run(const struct sim_case *c, const struct sim_watch *watch, struct sim_result *r,
            char *why, size_t cap);

/* All starts; the result is the first one's, but its time the mean of all. starts.c */
int sim_run_starts(const struct sim_case *c, const struct sim_watch *watch, struct sim_result *r,
                   char *why, size_t cap);
/* Ranks 0 ... n - 1 in the order in which they begin. */
void sim_start_order(uint32_t start, uint32_t n, uint32_t *order);

/* ---- the result (sum.c) ---------------------------------------------------------------------- */

/* Whether it takes too long, or sends too much. */
static inline bool sim_is_beyond(const struct sim_result *r)
{
    return r->too_much || r->time_ps >= SIM_TOO_LATE;
}

struct sim_net;
/* Makes what ranks 0 .. period - 1 did in all calls into numbers of one call and of all ranks;
 * false: they are too large. */
bool sim_sum_up(const struct sim_case *c, const struct sim_net *net, uint32_t period,
                struct sim_result *r);

/* ---- the vector (vector.c) ------------------------------------------------------------------- */

struct sim_vector {
    uint64_t element, count, quotient, rest, chunk_elems, nchunks;
    uint32_t nblk;
};

/* False: its bytes cannot be counted. */
bool sim_vector_init(struct sim_vector *v, const struct sim_case *c, uint32_t nblk);
/* Bytes of a chunk of the blocks that a step's slice names; `other` is its other slice. */
uint64_t sim_vector_bytes(const struct sim_vector *v, const struct ct_slice *slice,
                          const struct ct_slice *other, uint64_t chunk);

/* ---- memory (pages.c) ------------------------------------------------------------------------ */

/* As calloc and realloc; for what is large. */
void *sim_zeros(size_t n, size_t each);
void *sim_resize(void *memory, size_t bytes);

/* ---- links (net.c) --------------------------------------------------------------------------- */

/* For ranks 0 .. period - 1 of n, which stand for all; period is n without symmetry. */
struct sim_net  *sim_net_make(const struct sim_cluster *c, uint32_t n, uint32_t period);
void             sim_net_free(struct sim_net *net);
enum ct_distance sim_net_distance(const struct sim_net *net, uint32_t from, uint32_t to);
uint64_t         sim_net_latency(const struct sim_net *net, enum ct_distance d);
/* The links that a message passes, in order, at most SIM_HOPS. */
enum { SIM_HOPS = 2 + 2 * SIM_LEVELS };
struct sim_link {
    uint64_t free_at, busy, bytes, waited; /* waited: UINT64_MAX where it is more than that */
};
struct sim_hop {
    struct sim_link *link;
    double           ps_a_byte;
};
unsigned sim_net_path(const struct sim_net *net, uint32_t from, uint32_t to, enum ct_distance d,
                      struct sim_hop *hop);

/* At most SIM_TOO_LATE. */
static inline uint64_t sim_ps_of(uint64_t bytes, double ps_a_byte)
{
    double ps = (double)bytes * ps_a_byte + 0.5;
    return ps < (double)SIM_TOO_LATE ? (uint64_t)ps : SIM_TOO_LATE;
}

/* The sum; UINT64_MAX where it is more than that. */
static inline uint64_t sim_add(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* A message on its way: its first byte is at `head`, its last will be at `tail`. */
struct sim_way {
    uint64_t head, tail;
};

/* Through a link that it keeps busy for so long; returns how long it waited. */
static inline uint64_t sim_pass(struct sim_way *w, uint64_t *free_at, uint64_t ps)
{
    uint64_t begin = w->head > *free_at ? w->head : *free_at, waited = begin - w->head;
    *free_at = begin + ps;
    w->head = begin;
    w->tail = w->tail > *free_at ? w->tail : *free_at;
    return waited;
}

uint32_t sim_net_host(const struct sim_net *net, uint32_t rank); /* from 0 on */
/* Sends bytes off at `now`: when the last has left the first link, and when all have arrived. */
void sim_net_send(struct sim_net *net, uint32_t from, uint32_t to, uint64_t bytes, uint64_t now,
                  uint64_t *left, uint64_t *arrived);
/* Begin to bring into the caches what that looks at: where the two are, and when that is there,
 * their own links. */
void sim_net_fetch_locations(const struct sim_net *net, uint32_t from, uint32_t to);
void sim_net_fetch_links(const struct sim_net *net, uint32_t from, uint32_t to);
/* Tells `each` of all links that bytes have passed, with the numbers of all calls, and how much
 * further on, by symmetry, the next place lies that a link stands for. */
void sim_net_links(const struct sim_net *net,
                   void (*each)(void *arg, const struct sim_load *load, uint32_t step), void *arg);
/* UINT64_MAX: too much. */
uint64_t sim_net_waited(const struct sim_net *net, enum sim_level level);
/* The least time in which so many bytes leave or enter a rank, and the least latency. */
uint64_t sim_net_least(const struct sim_net *net, uint64_t bytes);
uint64_t sim_net_least_latency(const struct sim_net *net);

/* The least number of ranks by which the cluster can be rotated without a change. n: there is no
 * symmetry. */
uint32_t sim_net_period(const struct sim_cluster *c, uint32_t n);

/* ---- the busiest links (links.c) ------------------------------------------------------------- */

/* Of a run whose time is in *r and is that of all calls. */
void sim_links_list(const struct sim_case *c, const struct sim_net *net, uint32_t alike,
                    struct sim_result *r);
/* Names of kinds and places, as "rack" and "rack 3 up". */
const char *sim_load_kind(const struct sim_load *load);
void sim_load_name(const struct sim_load *load, const struct sim_cluster *c, char *out, size_t cap);

/* ---- waves (wave.c) -------------------------------------------------------------------------- */

/* A ring, one chunk a block, of which no two messages of a round share a link: round after round
 * for all ranks, without a queue, with the result that the queue gives. */
struct sim_wave {
    const struct sim_case   *c;
    const struct ct_env     *env;
    const struct sim_vector *vector;
    struct sim_net          *net;
    uint32_t                 period;
    bool                     own_processors;
    uint64_t                 send_ps, recv_ps, step_ps;
    double                   memory_ps, reduce_ps;
};

/* False: it is no such case, or memory is short; nothing has been done then. */
bool sim_wave_run(const struct sim_wave *w, struct sim_result *r);

/* ---- the queue (queue.c) --------------------------------------------------------------------- */

struct sim_event {
    uint64_t at, bytes;
    uint32_t rank, peer;
    uint16_t strand, peer_strand;
    uint8_t  kind, slot, peer_slot;
    bool     fresh; /* its bytes were written in this call */
};

/* Events in order of time, those of one time in the order in which they came: a radix heap, since
 * nothing is put in for a time that is over. Where `period` is set, what is of one time when its
 * time comes is put into an order that stays the same when all ranks turn by so many: so nobody is
 * first for being rank 0, and what symmetry finds is what all ranks find. */
struct sim_queue {
    uint32_t n, period;
    uint64_t last;
    size_t   taken; /* of bucket 0 */
    struct {
        struct sim_event *events;
        size_t            n, room;
    } bucket[65];
};

bool sim_queue_put(struct sim_queue *q, const struct sim_event *e);
bool sim_queue_get(struct sim_queue *q, struct sim_event *e); /* false: empty, or no_memory */
void sim_queue_free(struct sim_queue *q);

/* The one that comes after so many others, if it is of the same time and known already; or NULL. */
static inline const struct sim_event *sim_queue_soon(const struct sim_queue *q, size_t others)
{
    const size_t at = q->taken + others;
    return at < q->bucket[0].n ? &q->bucket[0].events[at] : NULL;
}

/* ---- memory of a host (host.c) --------------------------------------------------------------- */

/* What processors need to move bytes, by who wrote them and by what passes through their caches:
 * the data of the ranks, and of each pair of ranks that has ever exchanged a message the memory
 * through which these go, round and round. */
struct sim_host;
struct sim_host *sim_host_make(const struct sim_net *net, uint32_t ranks,
                               const struct sim_cluster *of, const struct sim_vector *v);
void             sim_host_free(struct sim_host *h); /* NULL is allowed */
void             sim_host_note(struct sim_host *h, uint32_t from, uint32_t to); /* a message */
uint64_t         sim_host_move(const struct sim_host *h, uint32_t from, uint32_t to, uint64_t bytes,
                               bool fresh);

/* ---- processors (cores.c) -------------------------------------------------------------------- */

struct sim_cores; /* of hosts that have fewer than ranks */
enum sim_submit { SIM_NO_MEMORY, SIM_WAITS, SIM_BEGINS };

struct sim_cores *sim_cores_make(const struct sim_net *net, uint32_t ranks,
                                 const struct sim_cluster *of);
void              sim_cores_free(struct sim_cores *c); /* NULL is allowed */
/* Work of a rank, after which `then` is to happen. SIM_BEGINS: at once, and *done is when it will
 * be over. */
enum sim_submit sim_cores_submit(struct sim_cores *c, uint32_t rank, uint64_t now, uint64_t ps,
                                 const struct sim_event *then, struct sim_event *done);
/* A rank gets a message from another one. */
void sim_cores_received(struct sim_cores *c, uint32_t rank, uint32_t from);
/* At `done`: what was to happen then, if anything. And after that: whether the core goes on, and
 * until when. */
bool sim_cores_finished(const struct sim_cores *c, const struct sim_event *done,
                        struct sim_event *then);
bool sim_cores_next(struct sim_cores *c, const struct sim_event *done, struct sim_event *next);

/* ---- messages that nobody receives yet (mail.c) ---------------------------------------------- */

struct sim_letter {
    uint64_t at, bytes; /* at: when it arrives, or was announced */
    uint32_t from, to, chunk, next;
    uint16_t strand;
    uint8_t  slot;
    bool     asked; /* it waits to be asked for */
    bool     fresh; /* as of an event */
};

struct sim_mail {
    uint32_t          *heads;
    struct sim_letter *letters;
    uint32_t           mask, room, used, spare, n;
};

bool sim_mail_put(struct sim_mail *m, const struct sim_letter *l);
/* The first of those from `from` to `to` for a chunk. */
bool sim_mail_take(struct sim_mail *m, uint32_t from, uint32_t to, uint32_t chunk,
                   struct sim_letter *out);
void sim_mail_free(struct sim_mail *m);

/* ---- output ---------------------------------------------------------------------------------- */

struct sim_row {
    struct sim_case   what;
    struct sim_result result;
};

void sim_report_text(const struct sim_row *rows, size_t n);
void sim_report_json(const struct sim_row *rows, size_t n, bool each);
/* Lines of time by size, or by ranks where there is one size only. False: cannot be written. */
bool sim_plot(const struct sim_row *rows, size_t n, FILE *to);

/* Chrome's and Perfetto's trace format, written as it happens. */
struct sim_trace {
    FILE                     *to;
    const struct sim_cluster *cluster;
    uint64_t                  written;
};
void sim_trace_begin(struct sim_trace *t, const struct sim_case *c, FILE *to);
void sim_trace_message(void *trace, const struct sim_message *m);
bool sim_trace_end(struct sim_trace *t, uint32_t ranks);

#endif
