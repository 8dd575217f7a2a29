/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Partitioned messages (MPI-4.1 ch. 4): the program marks parts of a buffer as ready, in any order
 * and from any thread, and the library sends them on; the receiver may look which of its own parts,
 * which may be others, are there.
 *
 *   sender                                     receiver
 *     hello (context, bytes, partitions) ->      matched once, in order of making, by (source, tag)
 *     run of ready partitions            ->      each message's tag is its first partition, which
 *     run of ready partitions            ->      says where it goes: a receive that is posted
 *     ...                                        without memory is given its place when it matches
 *
 * Runs go in the sender's own context. Messages of one pair do not overtake each other, and each
 * start sends all bytes once: so the receiver, which has one receive posted at a time and none once
 * all bytes are matched, never takes what belongs to the next start.
 *
 * Bounds. At most WINDOW runs are under way; a run shorter than SMALL_BYTES waits while another is,
 * so that both may go as one. What travels unasked is bounded, too: after EAGER_BYTES a run is sent
 * that waits for its receiver, which then has taken all before it.
 *
 * Memory in pieces (a datatype with gaps), or that is not plain, goes by way of a flat copy, made
 * when a run is sent and taken apart when one lands.
 *
 * All runs in the progress domain. A function that may complete the request does so last, since
 * the user may then start it again or free it.
 */
#define CT_FOLDER "p2p"
#include <inttypes.h>
#include <stdlib.h>

#include "p2p/state.h"
#include "pmi/pmi.h"

enum { WINDOW = 8, SMALL_BYTES = 16 << 10, RUN_BYTES = 1 << 20, EAGER_BYTES = 64 << 10 };

static const uint64_t HELLO_BIT = UINT64_C(1) << 60, RUN_BIT = UINT64_C(1) << 59; /* of contexts */

enum { IDLE, READY, SENT }; /* a partition to be sent */

/* A run under way, or a receive that waits for one. */
struct run {
    struct ct_p2p_req req;
    struct ct_part   *part;
    bool              used, asks;
    size_t            from_bytes, len_bytes;
    size_t            eager_bytes; /* sent before it */
};

struct hello {
    uint64_t ctx, bytes;
    uint32_t partitions, unused;
};

struct ct_part {
    struct ct_request   base; /* first: the user's handle */
    struct ct_process  *p;
    struct ct_part_args args;
    atomic_uint         refs; /* the handle, and the hello */
    size_t              part_bytes;
    char               *flat; /* all partitions in one block: the user's memory or a copy */
    bool                copied;

    struct ct_p2p_req meet; /* sends or receives the hello */
    struct hello      hello;
    bool              met;
    int               meet_error;

    /* Of the present start. */
    bool       active, busy;
    int        error;
    unsigned   nrunning;
    size_t     total_bytes, begun_bytes;
    struct run runs[WINDOW];

    /* A send: partitions marked so far, and those that have not gone yet. */
    uint32_t nready, nwaiting, next;
    size_t   eager_bytes, taken_bytes; /* sent unasked so far, and surely received */
    uint8_t *state;

    /* A receive: the bytes that each partition still lacks. */
    struct run     *posted;
    _Atomic size_t *lacks;
};

static void advance(struct ct_part *part) CT_IN_DOMAIN;

static struct run *free_run(struct ct_part *part)
{
    for (unsigned i = 0; i < WINDOW; i++) {
        if (!part->runs[i].used) {
            return &part->runs[i];
        }
    }
    return NULL;
}

static struct run *run_of(struct ct_request *base)
{
    return CT_CONTAINER_OF(base, struct run, req.base);
}

static char *make_flat(const struct ct_area *area)
{
    return ct_area_is_plain(area) ? malloc(area->len_bytes)
                                  : area->memory->stage_get(area->memory, area->len_bytes);
}

static void drop_flat(struct ct_part *part)
{
    const struct ct_area *area = &part->args.area;
    if (part->copied && ct_area_is_plain(area)) {
        free(part->flat);
    } else if (part->copied && part->flat != NULL) {
        area->memory->stage_put(area->memory, part->flat, area->len_bytes);
    }
}

static void drop(struct ct_part *part)
{
    if (atomic_fetch_sub_explicit(&part->refs, 1, memory_order_acq_rel) > 1) {
        return;
    }
    drop_flat(part);
    free(part->state);
    free(part->lacks);
    free(part);
}

/* ---- sending --------------------------------------------------------------------------------- */

static void run_sent(struct ct_process *p, struct ct_request *base) CT_IN_DOMAIN
{
    struct run     *run = run_of(base);
    struct ct_part *part = run->part;
    (void)p;
    run->used = false;
    part->nrunning--;
    if (base->error != CTRAN_SUCCESS) {
        part->error = part->error != CTRAN_SUCCESS ? part->error : base->error;
    } else if (run->asks) {
        part->taken_bytes = ct_max_size(part->taken_bytes, run->eager_bytes);
    }
    advance(part);
}

static void send_run(struct ct_part *part, uint32_t first, uint32_t n) CT_IN_DOMAIN
{
    struct run       *run = free_run(part);
    size_t            len = n * part->part_bytes, at = first * part->part_bytes;
    struct ct_area    area = {.base = part->flat + at, .len_bytes = len};
    struct ct_p2p_key key = {part->hello.ctx, part->args.key.src, (int32_t)first};
    bool              fits = ct_p2p_is_eager(part->args.ep, &area);
    if (part->copied &&
        !ct_area_gather_all(&part->args.area, &(size_t){at}, part->flat + at, len)) {
        part->error = CTRAN_ERR_BUFFER;
        return;
    }
    memset(part->state + first, SENT, n);
    part->nwaiting -= n;
    part->begun_bytes += len;
    part->nrunning++;
    *run = (struct run){.part = part, .used = true};
    run->asks = !fits || part->eager_bytes - part->taken_bytes + len > EAGER_BYTES;
    run->eager_bytes = part->eager_bytes;
    part->eager_bytes += run->asks ? 0 : len;
    ct_p2p_prepare(part->p, &run->req, false, part->args.ep, key, &area);
    run->req.base.orphan = true;
    run->req.base.release = run_sent;
    if (run->asks) {
        ct_p2p_start_ssend(&run->req);
    } else {
        ct_p2p_start_send(&run->req);
    }
}

/* The next run of ready partitions; there is one. */
static uint32_t find_run(struct ct_part *part, uint32_t *n)
{
    uint32_t count = part->args.partitions, first = part->next;
    while (part->state[first] != READY) {
        first = first + 1 < count ? first + 1 : 0;
    }
    *n = 1;
    while (first + *n < count && part->state[first + *n] == READY &&
           (*n + (size_t)1) * part->part_bytes <= RUN_BYTES) {
        (*n)++;
    }
    part->next = first;
    return first;
}

static void send_more(struct ct_part *part) CT_IN_DOMAIN
{
    while (part->error == CTRAN_SUCCESS && part->nwaiting > 0 && part->nrunning < WINDOW) {
        uint32_t n, first = find_run(part, &n);
        bool     more_to_come = part->nready < part->args.partitions;
        if (n * part->part_bytes < SMALL_BYTES && part->nrunning > 0 && more_to_come) {
            return;
        }
        send_run(part, first, n);
    }
}

/* Marks one of a call's partitions; false: it was before. */
static bool mark(struct ct_part *part, uint32_t which)
{
    bool fresh = part->state[which] == IDLE;
    part->state[which] = fresh ? READY : part->state[which];
    return fresh;
}

int ct_part_ready(struct ct_part *part, uint32_t first, const int *list, uint32_t n,
                  uint32_t *which)
{
    struct ct_process *p = part->p;
    uint32_t           i = 0;
    int                rc = CTRAN_SUCCESS;
    ct_domain_enter(p);
    for (; i < n && rc == CTRAN_SUCCESS; i++) {
        *which = list != NULL ? (uint32_t)list[i] : first + i;
        rc = mark(part, *which) ? CTRAN_SUCCESS : CTRAN_ERR_ARG;
    }
    if (rc != CTRAN_SUCCESS) {
        for (i--; i > 0; i--) {
            part->state[list != NULL ? (uint32_t)list[i - 1] : first + i - 1] = IDLE;
        }
    } else if (n > 0) {
        part->next = part->nwaiting == 0 ? (list != NULL ? (uint32_t)list[0] : first) : part->next;
        part->nready += n;
        part->nwaiting += part->total_bytes > 0 ? n : 0;
        advance(part);
    }
    ct_domain_leave(p);
    return rc;
}

bool ct_part_all_ready(struct ct_part *part, uint32_t *which)
{
    ct_domain_enter(part->p);
    const bool all = part->nready == part->args.partitions;
    *which = 0;
    while (!all && part->state[*which] != IDLE) {
        ++*which;
    }
    ct_domain_leave(part->p);
    return all;
}

/* ---- receiving ------------------------------------------------------------------------------- */

/* Bytes from..from + len - 1 are there. */
static void arrive(struct ct_part *part, size_t from, size_t len)
{
    size_t each = part->part_bytes;
    for (size_t end = from + len, i = each > 0 ? from / each : 0; from < end; i++) {
        size_t n = ct_min_size(end, (i + 1) * each) - from;
        /* Release: who sees the last byte arrive may read them all. */
        atomic_fetch_sub_explicit(&part->lacks[i], n, memory_order_release);
        from += n;
    }
}

static void run_landed(struct ct_process *p, struct ct_request *base) CT_IN_DOMAIN
{
    struct run     *run = run_of(base);
    struct ct_part *part = run->part;
    bool            other_length = part->hello.bytes != part->args.area.len_bytes;
    bool            came = base->error == CTRAN_SUCCESS ||
                (base->error == CTRAN_ERR_TRUNCATE && other_length); /* as much as there is room */
    (void)p;
    run->used = false;
    if (part->posted == run) {
        part->posted = NULL; /* ended without a message */
    } else {
        part->nrunning--;
    }
    if (came && part->copied &&
        !ct_area_scatter_all(&part->args.area, &(size_t){run->from_bytes},
                             part->flat + run->from_bytes, run->len_bytes)) {
        part->error = CTRAN_ERR_BUFFER;
    } else if (base->error == CTRAN_SUCCESS) {
        arrive(part, run->from_bytes, run->len_bytes);
    } else if (!came) {
        part->error = part->error != CTRAN_SUCCESS ? part->error : base->error;
    }
    advance(part);
}

/* The message is there: its tag says where it goes. What lies beyond our buffer is dropped. */
static void place(struct ct_p2p_req *req, size_t len_bytes) CT_IN_DOMAIN
{
    struct run         *run = run_of(&req->base);
    struct ct_part     *part = run->part;
    const struct hello *h = &part->hello;
    size_t              own = part->args.area.len_bytes;
    size_t              each = h->partitions > 0 ? h->bytes / h->partitions : 0;
    size_t from = (size_t)req->base.tag < h->partitions ? (size_t)req->base.tag * each : own;
    run->from_bytes = ct_min_size(from, own);
    run->len_bytes = ct_min_size(len_bytes, own - run->from_bytes);
    req->area = (struct ct_area){.base = part->flat + run->from_bytes, .len_bytes = run->len_bytes};
    part->begun_bytes += ct_min_size(len_bytes, part->total_bytes - part->begun_bytes);
    part->posted = NULL;
    part->nrunning++;
    advance(part);
}

static void take_more(struct ct_part *part) CT_IN_DOMAIN
{
    const struct ct_area nowhere = {.base = NULL};
    while (part->met && part->error == CTRAN_SUCCESS && part->posted == NULL &&
           part->begun_bytes < part->total_bytes && part->nrunning < WINDOW) {
        struct ct_p2p_key key = {part->hello.ctx, part->args.key.src, CTRAN_ANY_TAG};
        struct run       *run = free_run(part);
        *run = (struct run){.part = part, .used = true};
        part->posted = run;
        ct_p2p_prepare(part->p, &run->req, true, part->args.ep, key, &nowhere);
        run->req.base.orphan = true;
        run->req.base.release = run_landed;
        run->req.place = place;
        ct_p2p_start_recv(&run->req);
    }
    if (part->error != CTRAN_SUCCESS && part->posted != NULL) {
        ct_list_remove(&part->posted->req.node);
        part->posted->used = false;
        part->posted = NULL;
    }
}

bool ct_part_arrived(const struct ct_part *part, uint32_t partition)
{
    return atomic_load_explicit(&part->lacks[partition], memory_order_acquire) == 0;
}

/* ---- both ------------------------------------------------------------------------------------ */

static bool is_over(const struct ct_part *part)
{
    if (part->nrunning > 0 || part->error != CTRAN_SUCCESS) {
        return part->nrunning == 0;
    }
    if (part->args.is_recv) {
        return (part->met || part->args.ep == NULL) && part->begun_bytes == part->total_bytes;
    }
    return part->nready == part->args.partitions && part->nwaiting == 0;
}

static void finish(struct ct_part *part) CT_IN_DOMAIN
{
    struct ct_request *base = &part->base;
    size_t             own = part->args.area.len_bytes;
    bool               other_length = part->args.is_recv && part->met && part->hello.bytes != own;
    part->active = false;
    base->len_bytes = ct_min_size(own, part->total_bytes);
    base->error = part->error == CTRAN_SUCCESS && other_length ? CTRAN_ERR_COUNT : part->error;
    ct_request_complete(part->p, base);
}

/* Does what can be done now. Calls from what it started itself come to nothing: it goes on. */
static void advance(struct ct_part *part)
{
    if (part->busy || !part->active) {
        return;
    }
    part->busy = true;
    if (part->args.ep == NULL) {
        part->nwaiting = 0;
    } else if (part->args.is_recv) {
        take_more(part);
    } else {
        send_more(part);
    }
    part->busy = false;
    if (is_over(part)) {
        finish(part);
    }
}

/* Resets what belongs to one start. */
static void reset(struct ct_part *part)
{
    part->error = part->meet_error;
    part->begun_bytes = 0;
    part->total_bytes = part->args.ep != NULL ? part->args.area.len_bytes : 0;
    if (!part->args.is_recv) {
        part->nready = part->nwaiting = part->next = 0;
        memset(part->state, IDLE, part->args.partitions);
        return;
    }
    if (part->met) {
        part->total_bytes = part->hello.bytes;
    }
    for (uint32_t i = 0; i < part->args.partitions; i++) {
        atomic_store_explicit(&part->lacks[i], part->total_bytes > 0 ? part->part_bytes : 0,
                              memory_order_relaxed);
    }
}

static int start(struct ct_process *p, struct ct_request *base)
{
    struct ct_part *part = CT_CONTAINER_OF(base, struct ct_part, base);
    bool            nobody = part->args.ep == NULL;
    base->inactive = false;
    base->orphan = false;
    base->waiter = NULL;
    base->error = CTRAN_SUCCESS;
    base->source = nobody ? CTRAN_PROC_NULL : part->args.key.src;
    base->tag = nobody ? CTRAN_ANY_TAG : part->args.key.tag;
    ct_request_set_done(base, false);
    ct_domain_enter(p);
    reset(part);
    part->active = true;
    advance(part);
    ct_domain_leave(p);
    return CTRAN_SUCCESS;
}

/* ---- meeting --------------------------------------------------------------------------------- */

/* A receive learns what its sender is like. For a send, what goes wrong here goes wrong with its
 * runs, too. */
static void met(struct ct_process *p, struct ct_request *base) CT_IN_DOMAIN
{
    struct ct_part *part = CT_CONTAINER_OF(base, struct ct_part, meet.base);
    if (part->args.is_recv) {
        bool whole = base->error != CTRAN_SUCCESS || base->len_bytes == sizeof part->hello;
        part->meet_error = whole ? base->error : CTRAN_ERR_INTERN;
        part->met = part->meet_error == CTRAN_SUCCESS;
        part->error = part->meet_error;
        part->total_bytes = part->met ? part->hello.bytes : 0;
        if (part->met && part->hello.bytes != part->args.area.len_bytes) {
            ct_error(&p->log,
                     "a partitioned receive from rank %d with tag %d is for %zu bytes, its send "
                     "has %" PRIu64 ": both sides give the same total",
                     part->args.key.src, part->args.key.tag, part->args.area.len_bytes,
                     part->hello.bytes);
        }
        advance(part);
    }
    drop(part);
}

static void begin_to_meet(struct ct_part *part)
{
    struct ct_process *p = part->p;
    struct ct_area     area = {.base = &part->hello, .len_bytes = sizeof part->hello};
    struct ct_p2p_key  key = part->args.key;
    key.ctx |= HELLO_BIT;
    ct_p2p_prepare(p, &part->meet, part->args.is_recv, part->args.ep, key, &area);
    part->meet.base.orphan = true;
    part->meet.base.release = met;
    ct_domain_enter(p);
    if (part->args.is_recv) {
        ct_p2p_start_recv(&part->meet);
    } else {
        part->hello = (struct hello){
            .ctx = HELLO_BIT | RUN_BIT | (uint64_t)ct_job_me(p->job) << 32 | p->p2p->next_part++,
            .bytes = part->args.area.len_bytes,
            .partitions = part->args.partitions,
        };
        ct_p2p_start_send(&part->meet);
    }
    ct_domain_leave(p);
}

struct ct_request *ct_part_create(struct ct_process *p, const struct ct_part_args *args)
{
    struct ct_part *part = calloc(1, sizeof *part);
    size_t          n = args->partitions;
    if (part == NULL) {
        return NULL;
    }
    part->p = p;
    part->args = *args;
    part->part_bytes = n > 0 ? args->area.len_bytes / n : 0;
    part->copied = args->area.pieces != NULL;
    part->flat = part->copied ? make_flat(&args->area) : args->area.base;
    part->state = args->is_recv ? NULL : calloc(n + 1, 1);
    part->lacks = args->is_recv ? calloc(n + 1, sizeof *part->lacks) : NULL;
    atomic_init(&part->refs, args->ep != NULL ? 2 : 1);
    if ((part->copied && part->flat == NULL) || (part->state == NULL && part->lacks == NULL)) {
        atomic_init(&part->refs, 1);
        drop(part);
        return NULL;
    }
    part->base.magic = CT_REQUEST_MAGIC;
    part->base.start = start;
    part->base.inactive = true;
    ct_request_set_done(&part->base, true);
    if (args->ep != NULL) {
        begin_to_meet(part);
    }
    return &part->base;
}

/* A receive that has not met its sender goes on waiting, without its user: the next one with this
 * key is for the next send. */
void ct_part_destroy(struct ct_request *base)
{
    base->magic = 0;
    drop(CT_CONTAINER_OF(base, struct ct_part, base));
}

struct ct_part *ct_part_of(struct ct_request *base)
{
    return base->start == start ? CT_CONTAINER_OF(base, struct ct_part, base) : NULL;
}

bool ct_part_is_recv(const struct ct_part *part)
{
    return part->args.is_recv;
}

uint32_t ct_part_count(const struct ct_part *part)
{
    return part->args.partitions;
}
