/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ctran_scale - how the start of a job scales: the exchange of pmi/oob on as many endpoints as
 * asked for, over real sockets, beside the way it used to be done, and on a clock.
 *
 *   sockets.c   the real thing, many endpoints a process    crew.c    its processes
 *   processes.c the same with a process for each rank, which ctranrun starts
 *   baseline.c  rank 0 collects, a ring of all ranks, seven allgathers
 *   simulate.c  the same rounds on a clock                  report.c  what is printed
 *   calibrate.c what things cost on this machine
 */
#ifndef CT_TOOLS_SCALE_H
#define CT_TOOLS_SCALE_H

#include "pmi/oob/oob.h"

enum { ENTRY_BYTES = 64, MAX_WORKERS = 256, MAX_STORES = 16 };

struct options {
    const char *mode, *algorithm, *launcher;
    uint32_t    ranks, per_node, stores, workers, limit_s;
    bool        json;
    uint16_t    port; /* of all agents; another in each run, for there may be several */
    /* Of the simulation: what things cost. */
    double   join_us;    /* to connect, prove and be told something: both ends' work */
    double   message_us; /* a message: both ends */
    double   byte_ns;    /* a byte of it, beside that */
    double   latency_us; /* on the way */
    double   start_us;   /* before anything happens */
    uint32_t cores;      /* shared by all; 0: every node and server has its own */
    bool     calibrate;
    double   scale; /* so many times the costs that were asked for; 1 without calibration */
};

struct result {
    double                  seconds;
    uint32_t                nodes, workers;
    struct ct_traffic_count sent[CT_TRAFFIC_KINDS];
    uint64_t                lookups, max_rss_kb;
};

/* What the processes of a run share: a page of memory that all map. */
struct slot {
    struct ct_traffic_count sent[CT_TRAFFIC_KINDS];
    uint64_t                end_ns, lookups, max_rss_kb;
    int                     status;
};

struct scale_shared {
    struct ct_auth_key key;
    struct ct_addr     stores[MAX_STORES];
    struct ct_addr     root; /* baseline: rank 0's */
    uint32_t           nworkers;
    struct slot        workers[MAX_WORKERS];
};

/* What one process of a run does between the words `go` and `end` of its parent. */
struct crew_ops {
    /* Gets ready; a nonzero status ends the run. */
    int (*prepare)(void *state);
    /* From go until its part is done; fills its slot. */
    int (*work)(void *state);
    /* After all are done. */
    void (*finish)(void *state);
};

/* A process with its lines to the parent. */
struct crew;
struct crew *crew_create(uint32_t most);
void         crew_destroy(struct crew *crew);
/* Starts one more; `state` is the child's copy. */
int crew_add(struct crew *crew, const struct crew_ops *ops, void *state);
/* Waits until all have done what precedes this; then lets them go on. false: one has failed, or
 * the time is over. */
bool crew_step(struct crew *crew, uint64_t deadline_ns);

int run_sockets(const struct options *o, struct result *r);
int run_baseline(const struct options *o, struct result *r);
int run_processes(const struct options *o, struct result *r);
/* As one of those that it has started; does not return. */
int run_rank(const struct options *o, struct result *r);
/* As a launch agent: runs the words after the host's name. */
int be_agent(char **argv);
int run_simulate(const struct options *o, struct result *r);
/* Makes the costs those of this machine, by short runs of the real thing. */
int calibrate(struct options *o);

/* The record of a slot, and whether this is it. */
void record_make(unsigned char record[ENTRY_BYTES], uint32_t slot, const struct ct_addr *agent);
bool record_is_right(const unsigned char record[ENTRY_BYTES], uint32_t slot,
                     const struct ct_addr *agent);
/* Where node i's agent listens, one address of 127/8 each: ephemeral ports are counted by
 * destination. */
struct ct_addr node_addr(const struct options *o, uint32_t node);
/* How many processes hold all endpoints, fds descriptors a node. */
uint32_t workers_for(const struct options *o, uint32_t nodes, uint64_t fds_a_node);

void report(const struct options *o, const struct result *r, const char *algorithm);

#endif
