/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank's side of the exchange: one connection to its node's agent, over which its record goes out
 * and the place of the table comes back. One timer serves the pauses between attempts and the
 * deadline. A connection that is lost is made again; the agent knows the record by its slot.
 */
#define CT_FOLDER "pmi"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pmi/oob/oob.h"

enum { FIRST_PAUSE_MS = 10, LONGEST_PAUSE_MS = 1000 };

struct ct_oob_rank {
    struct ct_wire_conn       conn;
    const struct ct_auth_key *key;
    struct ct_addr            agent;
    uint32_t                  slot, record_bytes;
    unsigned                  attempt;
    bool                      ended;
    uint64_t                  deadline_ns;
    struct event              timer;
    struct ct_loop           *loop;
    ct_oob_rank_fn            fn;
    void                     *arg;
    unsigned char             record[];
};

static void oob_rank_connect_now(struct ct_oob_rank *r);

static void oob_rank_end(struct ct_oob_rank *r, int status, uint32_t pid, uint32_t fd)
{
    if (!r->ended) {
        r->ended = true;
        (void)event_del(&r->timer);
        r->fn(r->arg, r, status, pid, fd);
    }
}

/* The timer fires after ms, or at the deadline if that is earlier. */
static void wake_in(struct ct_oob_rank *r, uint64_t ms)
{
    uint64_t       now = ct_clock_ns();
    uint64_t       left = r->deadline_ns > now ? (r->deadline_ns - now) / CT_NS_PER_MS + 1 : 0;
    struct timeval t = ct_wire_timeval((uint32_t)(ms < left ? ms : left));
    (void)event_add(&r->timer, &t);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct ct_oob_rank *r = arg;
    (void)fd, (void)what;
    if (ct_clock_ns() >= r->deadline_ns) {
        char text[64];
        ct_addr_format(&r->agent, text, sizeof text);
        ct_error(r->loop->log, "slot %u: the agent at %s %s in time", r->slot, text,
                 ct_wire_conn_is_ready(&r->conn) ? "had no table" : "could not be reached");
        oob_rank_end(r, CTRAN_ERR_TIMEOUT, 0, 0);
    } else if (r->conn.fd < 0) {
        oob_rank_connect_now(r);
    } else {
        wake_in(r, UINT32_MAX);
    }
}

static void oob_rank_on_ready(struct ct_wire_conn *conn)
{
    struct ct_oob_rank *r = CT_CONTAINER_OF(conn, struct ct_oob_rank, conn);
    (void)ct_wire_conn_send(conn, CT_OOB_RECORD, r->slot, r->record, r->record_bytes, NULL, 0,
                            false);
}

static int oob_rank_on_message(struct ct_wire_conn *conn, const struct ct_frame *f,
                               const void *body)
{
    struct ct_oob_rank *r = CT_CONTAINER_OF(conn, struct ct_oob_rank, conn);
    if (f->type != CT_OOB_READY || f->len != CT_OOB_READY_BYTES) {
        return CTRAN_ERR_ARG;
    }
    oob_rank_end(r, CTRAN_SUCCESS, ct_wire_get32(body),
                 ct_wire_get32((const unsigned char *)body + 4));
    return CTRAN_SUCCESS;
}

static void oob_rank_on_closed(struct ct_wire_conn *conn, int code, const char *why)
{
    struct ct_oob_rank *r = CT_CONTAINER_OF(conn, struct ct_oob_rank, conn);
    (void)code, (void)why;
    if (!r->ended) {
        wake_in(r, ct_loop_backoff_ms(r->loop, r->attempt++, FIRST_PAUSE_MS, LONGEST_PAUSE_MS));
    }
}

static const struct ct_wire_conn_ops ops = {
    .ready = oob_rank_on_ready,
    .message = oob_rank_on_message,
    .closed = oob_rank_on_closed,
};

static void oob_rank_connect_now(struct ct_oob_rank *r)
{
    uint64_t                  left = (r->deadline_ns - ct_clock_ns()) / CT_NS_PER_MS;
    struct ct_wire_conn_terms terms = {.key = r->key,
                                       .context = CT_OOB_CONTEXT,
                                       .limit_ms = (uint32_t)ct_min_size(left + 1, INT32_MAX),
                                       .traffic = CT_TRAFFIC_NODE};
    if (ct_wire_conn_connect(&r->conn, r->loop, &ops, &terms, &r->agent) == CTRAN_SUCCESS) {
        r->conn.max_body = CT_OOB_READY_BYTES;
        wake_in(r, UINT32_MAX);
    } else {
        wake_in(r, ct_loop_backoff_ms(r->loop, r->attempt++, FIRST_PAUSE_MS, LONGEST_PAUSE_MS));
    }
}

int ct_oob_rank_open(struct ct_oob_rank **rank, struct ct_loop *loop, const struct ct_addr *agent,
                     const struct ct_auth_key *key, const struct ct_oob_shape *shape, uint32_t slot,
                     const void *record, uint32_t limit_ms, ct_oob_rank_fn fn, void *arg)
{
    struct ct_oob_rank *r = calloc(1, sizeof *r + shape->entry_bytes);
    if (r == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    r->key = key;
    r->agent = *agent;
    r->slot = slot;
    r->record_bytes = shape->entry_bytes;
    r->deadline_ns = ct_clock_ns() + (uint64_t)limit_ms * CT_NS_PER_MS;
    r->loop = loop;
    r->fn = fn;
    r->arg = arg;
    memcpy(r->record, record, shape->entry_bytes);
    (void)evtimer_assign(&r->timer, loop->base, on_timer, r);
    oob_rank_connect_now(r);
    *rank = r;
    return CTRAN_SUCCESS;
}

void ct_oob_rank_close(struct ct_oob_rank *r)
{
    (void)event_del(&r->timer);
    ct_wire_conn_close(&r->conn);
    free(r);
}

int ct_oob_map(const struct ct_log *log, const struct ct_oob_shape *shape, uint32_t pid,
               uint32_t fd, const void **table)
{
    char   path[64];
    size_t size = (size_t)shape->nslots * shape->entry_bytes;
    (void)snprintf(path, sizeof path, "/proc/%u/fd/%u", pid, fd);
    int   f = open(path, O_RDONLY | O_CLOEXEC);
    void *at = f >= 0 ? mmap(NULL, size, PROT_READ, MAP_SHARED, f, 0) : MAP_FAILED;
    if (at == MAP_FAILED) {
        ct_error(log, "cannot map the table of records, %s: %s", path, strerror(errno));
    }
    if (f >= 0) {
        (void)close(f);
    }
    *table = at == MAP_FAILED ? NULL : at;
    return at == MAP_FAILED ? CTRAN_ERR_SYSTEM : CTRAN_SUCCESS;
}

void ct_oob_unmap(const struct ct_oob_shape *shape, const void *table)
{
    (void)munmap((void *)(uintptr_t)table, (size_t)shape->nslots * shape->entry_bytes);
}
