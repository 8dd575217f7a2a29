/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * analyze - finds out from the traces of a job's ranks (src/trace) what holds the job up.
 *
 * load.c reads dumps into a struct an_job. graph.c finds which rank waits for which: ranks wait in
 * groups, where a group is one collective call of one communicator, or for messages of ranks; a
 * group waits for the members that have not come to the call. What waits for nothing else is where
 * the trouble began, all else is a consequence (NCCLX sec. 7.3). judge.c puts each such beginning
 * into words. text.c, json.c and html.c print the verdicts, timeline.c the calls.
 *
 * The rules suppose, as the paper's do, that a job which hangs has hung for so long that all has
 * happened that could: waits younger than an_job.min_age_ns are not looked at.
 */
#ifndef CT_TOOLS_ANALYZE_H
#define CT_TOOLS_ANALYZE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <uthash.h>

#include "base/base.h"
#include "trace/trace.h"

#define AN_NONE UINT32_MAX

/* ---- the job --------------------------------------------------------------------------------- */

struct an_name {
    UT_hash_handle hh;
    uint32_t       number;
    char           text[CT_TRACE_NAME];
};

struct an_call {
    uint32_t comm; /* index in an_job.comms */
    uint32_t flags;
    uint64_t number, bytes;
    uint64_t start_ns, end_ns; /* wall clock; end: 0 as long as it is not over, or not known */
    bool     over;
    int32_t  root, error;
    uint32_t name, type, op, algorithm;
};

/* A rank's place in a communicator. */
struct an_place {
    uint32_t comm, me;
    uint64_t started;
};

struct an_wait {
    uint32_t                  name, npending, nitems;
    uint64_t                  comm, since_ns;
    struct ct_trace_wait_item item[CT_TRACE_ITEMS];
};

enum an_state {
    AN_NO_DUMP, /* nothing is known of it */
    AN_ABSENT,  /* it has not called ctran_init */
    AN_RUNS,
    AN_STOPPED,
    AN_ENDED,
    AN_LEFT, /* it has called ctran_finalize */
};

struct an_rank {
    enum an_state state;
    uint32_t      detail; /* wait status, or the letter of a process that runs */
    uint32_t      pid, lost;
    uint64_t      taken_ns; /* wall clock */
    uint32_t      first_place, nplaces, first_call, ncalls, first_wait, nwaits;
    char          host[64], why[64];
};

struct an_comm {
    UT_hash_handle hh;
    uint64_t       id;
    uint32_t       n, index;
    uint32_t      *member; /* ranks of the job; AN_NONE: not known */
};

struct an_job {
    char             id[64];
    uint32_t         size;
    uint64_t         min_age_ns;
    struct an_rank  *ranks;
    struct an_comm **comms; /* by index */
    struct an_comm  *by_id;
    struct an_place *places;
    struct an_call  *calls;
    struct an_wait  *waits;
    struct an_name **names; /* by number */
    struct an_name  *by_text;
    uint32_t         ncomms, nplaces, ncalls, nwaits, nnames, ndumps;
    uint32_t         room_comms, room_places, room_calls, room_waits, room_names;
};

/* Reads a file of dumps; a folder: all files in it; "-": standard input. After an error one line
 * has been written to standard error. */
bool an_load(struct an_job *job, const char *path);
/* Reads dumps that lie one after the other. `name` is for messages. */
bool an_load_bytes(struct an_job *job, const char *name, const void *bytes, size_t len);
void an_free(struct an_job *job);

const struct an_place *an_place_of(const struct an_job *job, uint32_t rank, uint32_t comm);
/* The call of a rank with this number; NULL: it is not in its dump. */
const struct an_call     *an_call_of(const struct an_job *job, uint32_t rank, uint32_t comm,
                                     uint64_t number);
static inline const char *an_name(const struct an_job *job, uint32_t number)
{
    return job->names[number]->text;
}

/* ---- who waits for whom ---------------------------------------------------------------------- */

/* A collective call that is not over on some ranks. */
struct an_group {
    UT_hash_handle hh;
    struct {
        uint64_t comm, number;
    } key;
    uint32_t  index;
    uint32_t *arrived, *missing, *held; /* held: came, and can go no further: stopped or dead */
    uint32_t  narrived, nmissing, nheld;
    uint32_t  room_arrived, room_missing, room_held;
    uint64_t  since_ns; /* when the first one came */
    uint64_t  age_ns;
    bool      differs; /* the ranks do not all make the same call */
};

/* A node is a rank (its number) or a group (job->size + its index). */
struct an_graph {
    const struct an_job *job;
    struct an_group     *by_key;
    struct an_group    **groups;
    uint32_t             ngroups, room_groups;
    uint32_t            *edge, *first; /* the edges of node v: edge[first[v]] ... */
    uint32_t             nnodes;
    uint32_t            *set; /* the strongly connected set of each node */
    uint32_t             nsets;
    bool                *leaves; /* of each set: some edge leads out of it */
    uint32_t            *set_size;
    bool                *wanted; /* of each node: another one waits for it */
    bool                *any;    /* of each rank: it waits for a message of any rank */
};

bool an_graph_make(struct an_graph *g, const struct an_job *job);
void an_graph_free(struct an_graph *g);
/* How many ranks wait for the nodes that are marked, directly or not; the marks are added to. */
uint32_t an_graph_behind(const struct an_graph *g, bool *mark);
/* The wait of a rank that is old enough, for item i: NULL when there are no more. */
const struct ct_trace_wait_item *an_item(const struct an_job *job, uint32_t rank, uint32_t i,
                                         const struct an_wait **wait);

/* ---- verdicts -------------------------------------------------------------------------------- */

enum an_kind {
    AN_HEALTHY,
    AN_DEAD, /* a rank that others wait for has ended */
    AN_STOPPED_RANK,
    AN_MISSING,  /* a rank has not called what the others have */
    AN_MISMATCH, /* ranks call different operations, or with different arguments */
    AN_DEADLOCK, /* ranks wait for each other */
    AN_UNSENT,   /* a rank waits for a message that nobody sends */
    AN_STALLED,  /* all have called, and it does not end */
    AN_SLOW,     /* a rank comes late again and again */
    AN_KINDS
};

/* The exit status and the name of a kind: "rank-did-not-call". */
int         an_status(enum an_kind kind);
const char *an_kind_name(enum an_kind kind);

struct an_text {
    char  *at;
    size_t len, room;
};

struct an_verdict {
    enum an_kind   kind;
    uint32_t      *ranks; /* whom it is about */
    uint32_t       nranks;
    uint32_t       comm; /* index, AN_NONE */
    uint64_t       number;
    char           operation[CT_TRACE_NAME];
    uint32_t       behind;          /* ranks that wait for them */
    struct an_text title, evidence; /* a line each; evidence: lines with \n */
};

struct an_report {
    const struct an_job *job;
    struct an_verdict   *verdicts; /* the one that holds up most ranks first */
    uint32_t             n, room;
};

bool an_judge(struct an_report *r, const struct an_job *job);
void an_report_free(struct an_report *r);

/* "0-3,7", and how many where there are too many to list. */
void an_text_ranks(struct an_text *t, const uint32_t *ranks, uint32_t n);
void an_text_add(struct an_text *t, const char *fmt, ...) CT_PRINTF(2, 3);
/* "communicator 1a (8 ranks)" */
void an_text_comm(struct an_text *t, const struct an_job *job, uint32_t comm);

void an_print_text(const struct an_report *r, FILE *out);
void an_print_json(const struct an_report *r, FILE *out);
void an_print_html(const struct an_report *r, FILE *out);
void an_print_timeline(const struct an_job *job, FILE *out);

/* Room for one more entry: *at is an array of `n` entries with room for *room. Ends the program
 * when out of memory. */
void *an_more(void *at, uint32_t n, uint32_t *room, size_t entry_bytes);
void *an_alloc(size_t n, size_t entry_bytes);

#endif
