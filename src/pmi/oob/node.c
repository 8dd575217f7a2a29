/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An agent: takes the records of its node's ranks, exchanges them with the other agents, and tells
 * its ranks where the table is. A new connection is a stranger until it has proved that it holds
 * the key, and then a guest, which says what it is: a rank, by a record for a slot of this node, or
 * an agent.
 *
 * Strangers have a limited time for their proof, and a limited number of places: after a moment the
 * oldest is closed for the newest, so that silent strangers keep no peer out. A friend who had to
 * go tries again.
 */
#define CT_FOLDER "pmi"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "node/node.h"
#include "pmi/oob/gather.h"

/* SPARE: so many more than all who are expected may be strangers at a time, or guests. */
enum { PROOF_MS = 10000, SPARE = 256 };

struct ct_oob_node {
    const struct ct_oob_terms *terms;
    uint32_t                   index, first, nlocal, ncards;
    uint32_t                   nstrangers, nguests; /* guests: also those who are peers now */
    ct_oob_node_fn             fn;
    void                      *arg;
    struct ct_gather           gather;
    unsigned char             *table;
    size_t                     size;
    int                        memory;
    struct ct_listener         listener;
    struct ct_addr             addrs[CT_OOB_REACH_MAX];
    uint32_t                   naddrs;
    bool                       published, gathered; /* in the store; the table is complete */
    bool                       ended;
    struct event               limit;
    struct ct_list             strangers, guests; /* the oldest first */
    struct ct_link           **ranks;             /* by local slot; NULL: not here */
    bool                      *records;           /* by local slot: its record is in the table */
};

static void oob_node_end(struct ct_oob_node *n, int status)
{
    if (!n->ended) {
        n->ended = true;
        (void)event_del(&n->limit);
        n->fn(n->arg, n, status);
    }
}

static void tell_ready(struct ct_oob_node *n, struct ct_link *rank)
{
    unsigned char where[CT_OOB_READY_BYTES];
    ct_wire_put32(where, (uint32_t)getpid());
    ct_wire_put32(where + 4, (uint32_t)n->memory);
    ct_wire_put64(where + 8, n->size);
    (void)ct_wire_conn_send(&rank->conn, CT_OOB_READY, 0, where, sizeof where, NULL, 0, false);
}

static void oob_node_on_gathered(void *arg, int status, const char *why)
{
    struct ct_oob_node *n = arg;
    if (status != CTRAN_SUCCESS && !n->ended) {
        ct_error(n->terms->loop->log, "the exchange %s has failed on node %u: another node %s",
                 n->terms->name, n->index, why);
    }
    n->gathered = status == CTRAN_SUCCESS;
    for (uint32_t i = 0; i < n->nlocal && n->gathered; i++) {
        if (n->ranks[i] != NULL) {
            tell_ready(n, n->ranks[i]);
        }
    }
    if (n->published || !n->gathered) {
        oob_node_end(n, status);
    }
}

static void oob_node_on_limit(evutil_socket_t fd, short what, void *arg)
{
    struct ct_oob_node *n = arg;
    uint32_t            lacking = 0, node = 0;
    uint32_t            missing = ct_gather_missing(&n->gather, &node);
    (void)fd, (void)what;
    while (lacking < n->nlocal && n->records[lacking]) {
        lacking++;
    }
    ct_error(n->terms->loop->log,
             "the exchange %s took too long on node %u: %u of %u ranks are here (%s %u); %u of %u "
             "other nodes are awaited (first: %u)",
             n->terms->name, n->index, n->ncards, n->nlocal,
             lacking < n->nlocal ? "first missing:" : "all up to", n->first + lacking, missing,
             n->gather.npeers, node);
    n->gather.ended = true;
    oob_node_end(n, CTRAN_ERR_TIMEOUT);
}

/* A rank's record. A rank that has come before may come again, as long as nothing has been sent. */
static int take_record(struct ct_oob_node *n, struct ct_link *link, const struct ct_frame *f,
                       const void *body)
{
    uint64_t local = f->id - n->first;
    if (f->id < n->first || local >= n->nlocal || f->len != n->terms->shape.entry_bytes ||
        n->ranks[local] != NULL || link->rank > 0) {
        return CTRAN_ERR_ARG;
    }
    n->ranks[local] = link;
    link->rank = (uint32_t)local + 1;
    if (n->gather.begun) {
        if (n->gathered) {
            tell_ready(n, link);
        }
        return CTRAN_SUCCESS;
    }
    memcpy(n->table + f->id * n->terms->shape.entry_bytes, body, f->len);
    n->ncards += !n->records[local];
    n->records[local] = true;
    if (n->ncards == n->nlocal) {
        ct_gather_begin(&n->gather);
    }
    return CTRAN_SUCCESS;
}

static int oob_node_on_message(struct ct_wire_conn *conn, const struct ct_frame *f,
                               const void *body)
{
    struct ct_link     *link = CT_CONTAINER_OF(conn, struct ct_link, conn);
    struct ct_oob_node *n = link->owner;
    if (link->peer != NULL) {
        return ct_peers_message(link, f, body);
    }
    if (f->type == CT_OOB_RECORD) {
        return take_record(n, link, f, body);
    }
    if (f->type == CT_OOB_HELLO && f->len == 0 && f->id < UINT32_MAX && link->rank == 0) {
        return ct_peers_adopt(&n->gather, link, (uint32_t)f->id);
    }
    return CTRAN_ERR_ARG;
}

static void *oob_node_on_place(struct ct_wire_conn *conn, const struct ct_frame *f)
{
    struct ct_link *link = CT_CONTAINER_OF(conn, struct ct_link, conn);
    return link->peer != NULL ? ct_peers_place(link, f) : NULL;
}

static void oob_node_on_drained(struct ct_wire_conn *conn)
{
    struct ct_link *link = CT_CONTAINER_OF(conn, struct ct_link, conn);
    if (link->peer != NULL) {
        ct_gather_go_on(link->gather);
    }
}

static void guest_free(struct ct_oob_node *n, struct ct_link *link)
{
    if (link->rank > 0) {
        n->ranks[link->rank - 1] = NULL;
    }
    n->nguests -= !link->stranger;
    n->nstrangers -= link->stranger;
    ct_list_remove(&link->node);
    ct_wire_conn_close(&link->conn);
    free(link);
}

static void oob_node_on_closed(struct ct_wire_conn *conn, int code, const char *why)
{
    struct ct_link *link = CT_CONTAINER_OF(conn, struct ct_link, conn);
    (void)code;
    if (link->peer != NULL) {
        ((struct ct_oob_node *)link->owner)->nguests--;
        ct_peers_closed(link, why);
    } else {
        guest_free(link->owner, link);
    }
}

static uint32_t oob_node_most_of(const struct ct_oob_node *n)
{
    return n->nlocal + n->gather.npeers + SPARE;
}

static void oob_node_on_ready(struct ct_wire_conn *conn)
{
    struct ct_link     *link = CT_CONTAINER_OF(conn, struct ct_link, conn);
    struct ct_oob_node *n = link->owner;
    link->stranger = false;
    n->nstrangers--;
    n->nguests++;
    ct_list_remove(&link->node);
    ct_list_append(&n->guests, &link->node);
    ct_listener_go_on(&n->listener);
    if (n->nguests > oob_node_most_of(n)) {
        ct_wire_conn_fail(conn, CTRAN_ERR_OTHER, "is one of too many");
    }
}

static const struct ct_wire_conn_ops ops = {
    .ready = oob_node_on_ready,
    .place = oob_node_on_place,
    .message = oob_node_on_message,
    .drained = oob_node_on_drained,
    .closed = oob_node_on_closed,
};

/* Closes the stranger that has had the most time; false: that is too little, or there is none. */
static bool oob_node_drop_oldest(struct ct_oob_node *n)
{
    struct ct_link *oldest = CT_LIST_ENTRY(n->strangers.next, struct ct_link, node);
    if (ct_list_empty(&n->strangers) ||
        ct_clock_ns() - oldest->since_ns < CT_WIRE_FAIR_MS * CT_NS_PER_MS) {
        return false;
    }
    guest_free(n, oldest);
    return true;
}

static enum ct_room oob_node_make_room(void *arg, bool scarce)
{
    struct ct_oob_node *n = arg;
    while (scarce && oob_node_drop_oldest(n)) { /* or a crowd of them would be served one by one */
    }
    return n->nstrangers < oob_node_most_of(n) || oob_node_drop_oldest(n) ? CT_ROOM_FREE
                                                                          : CT_ROOM_LATER;
}

static void oob_node_on_accepted(void *arg, int fd)
{
    struct ct_oob_node       *n = arg;
    struct ct_wire_conn_terms terms = {.key = n->terms->key,
                                       .context = CT_OOB_CONTEXT,
                                       .limit_ms = PROOF_MS,
                                       .traffic = CT_TRAFFIC_NODE};
    struct ct_link           *link = calloc(1, sizeof *link);
    if (link == NULL) {
        (void)close(fd);
        return;
    }
    if (ct_wire_conn_accept(&link->conn, n->terms->loop, &ops, &terms, fd) != CTRAN_SUCCESS) {
        free(link);
        return;
    }
    link->conn.max_body = n->terms->shape.entry_bytes;
    link->owner = n;
    link->stranger = true;
    link->since_ns = ct_clock_ns();
    n->nstrangers++;
    ct_list_append(&n->strangers, &link->node);
}

static int oob_node_publish(struct ct_oob_node *n);

static void on_published(void *arg, const struct ct_store_reply *reply)
{
    struct ct_oob_node *n = arg;
    if (reply->status == CTRAN_ERR_SYSTEM && !n->ended && oob_node_publish(n) == CTRAN_SUCCESS) {
        return; /* the connection was lost, and nobody else sets this */
    }
    if (reply->status != CTRAN_SUCCESS && !n->ended) {
        ct_error(n->terms->loop->log, "node %u cannot tell the store its address: %s", n->index,
                 ct_error_text(reply->status));
        n->gather.ended = true;
        oob_node_end(n, CTRAN_ERR_BOOTSTRAP);
    }
    n->published = true;
    if (n->gathered) {
        oob_node_end(n, CTRAN_SUCCESS);
    }
}

static int oob_node_make_table(struct ct_oob_node *n)
{
    n->size = (size_t)n->terms->shape.nslots * n->terms->shape.entry_bytes;
    n->memory = memfd_create("ctran-records", MFD_CLOEXEC);
    if (n->memory < 0 || !ct_shmfile_may_be(n->size) || ftruncate(n->memory, (off_t)n->size) != 0) {
        return CTRAN_ERR_SYSTEM;
    }
    n->table = mmap(NULL, n->size, PROT_READ | PROT_WRITE, MAP_SHARED, n->memory, 0);
    if (n->table == MAP_FAILED) {
        n->table = NULL;
        return CTRAN_ERR_SYSTEM;
    }
    return CTRAN_SUCCESS;
}

static int oob_node_publish(struct ct_oob_node *n)
{
    char                    key[CT_OOB_KEY_SIZE];
    struct ct_store_request set = {.op = CT_STORE_SET, .timeout_ms = n->terms->limit_ms};
    set.key = (struct ct_bytes){key, ct_oob_key(key, n->terms->name, n->index)};
    set.value = (struct ct_bytes){n->addrs, n->naddrs * (uint32_t)sizeof n->addrs[0]};
    return ct_store_ask(n->terms->store, &set, on_published, n);
}

static int oob_node_take_part(struct ct_oob_node *n, struct ct_addr *addr)
{
    struct timeval limit = ct_wire_timeval(n->terms->limit_ms);
    int            rc = ct_listener_open(&n->listener, n->terms->loop, addr);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    n->naddrs = n->terms->nreach > 0 ? n->terms->nreach : 1;
    for (uint32_t i = 0; i < n->naddrs; i++) {
        n->addrs[i] = n->terms->nreach > 0 ? n->terms->reach[i] : *addr;
        memcpy(n->addrs[i].port, addr->port, sizeof addr->port);
    }
    if (event_add(&n->limit, &limit) != 0) {
        return CTRAN_ERR_NO_MEM;
    }
    rc = oob_node_publish(n);
    return rc == CTRAN_SUCCESS ? ct_gather_open(&n->gather, n->terms, n->index, n->table) : rc;
}

int ct_oob_node_open(struct ct_oob_node **node, const struct ct_oob_terms *terms, uint32_t index,
                     struct ct_addr *addr, ct_oob_node_fn fn, void *arg)
{
    struct ct_oob_node *n = calloc(1, sizeof *n);
    if (n == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    n->terms = terms;
    n->index = index;
    n->fn = fn;
    n->arg = arg;
    n->first = ct_oob_first(&terms->shape, index);
    n->nlocal = ct_oob_first(&terms->shape, index + 1) - n->first;
    n->memory = -1;
    n->listener = (struct ct_listener){
        .fd = -1, .room = oob_node_make_room, .accepted = oob_node_on_accepted, .arg = n};
    n->gather.done = oob_node_on_gathered;
    n->gather.arg = n;
    n->ranks = calloc(n->nlocal, sizeof(struct ct_link *));
    n->records = calloc(n->nlocal, sizeof *n->records);
    ct_list_init(&n->strangers);
    ct_list_init(&n->guests);
    (void)evtimer_assign(&n->limit, terms->loop->base, oob_node_on_limit, n);
    int rc = n->ranks == NULL || n->records == NULL ? CTRAN_ERR_NO_MEM : oob_node_make_table(n);
    rc = rc == CTRAN_SUCCESS ? oob_node_take_part(n, addr) : rc;
    if (rc != CTRAN_SUCCESS) {
        ct_error(terms->loop->log, "node %u cannot take part in the exchange %s: %s", index,
                 terms->name, ct_error_text(rc));
        ct_oob_node_close(n);
        return rc;
    }
    *node = n;
    return CTRAN_SUCCESS;
}

void ct_oob_node_fill(struct ct_oob_node *n, const void *records)
{
    size_t entry = n->terms->shape.entry_bytes;
    memcpy(n->table + n->first * entry, records, n->nlocal * entry);
    memset(n->records, true, n->nlocal * sizeof *n->records);
    n->ncards = n->nlocal;
    ct_gather_begin(&n->gather);
}

const void *ct_oob_node_table(const struct ct_oob_node *node)
{
    return node->table;
}

void ct_oob_node_close(struct ct_oob_node *n)
{
    n->ended = true;
    (void)event_del(&n->limit);
    ct_listener_close(&n->listener);
    ct_store_forget(n->terms->store, n);
    ct_gather_close(&n->gather);
    ct_list_splice(&n->guests, &n->strangers);
    while (!ct_list_empty(&n->guests)) {
        guest_free(n, CT_LIST_ENTRY(n->guests.next, struct ct_link, node));
    }
    if (n->table != NULL) {
        (void)munmap(n->table, n->size);
    }
    if (n->memory >= 0) {
        (void)close(n->memory);
    }
    free(n->ranks);
    free(n->records);
    free(n);
}
