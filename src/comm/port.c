/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports and calls of them; see port.h. */
#define CT_FOLDER "comm"
#include "comm/port.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "p2p/p2p.h"
#include "pmi/pmi.h"

/* ---- on the wire ----------------------------------------------------------------------------- */

/* `number` tells the calls of one process apart. A call that waits in line can be withdrawn: then
 * the answer is CTRAN_ERR_PORT. One that was accepted before has its answer. */
struct wire_call {
    uint32_t port, number;
    uint32_t withdraw; /* 0, or 1 */
};

struct wire_answer {
    uint64_t id;
    uint32_t number;
    int32_t  error;
};

/* ---- in memory ------------------------------------------------------------------------------- */

/* A call of another process that waits to be accepted. */
struct waiting {
    struct ct_list node;
    struct ct_ep  *from;
    uint32_t       number;
};

/* An accept that waits for a call, on its thread's stack. */
struct accepting {
    struct ct_list    node;
    struct ct_request req;
    struct ct_ep     *from;
    uint32_t          number;
};

struct port {
    struct ct_list node;
    uint32_t       number;
    struct ct_list calls;   /* struct waiting; empty if any accept waits */
    struct ct_list accepts; /* struct accepting */
};

/* A call of this process that waits for its answer, on its thread's stack. */
struct calling {
    struct ct_list    node;
    struct ct_request req;
    struct ct_ep     *to;
    uint32_t          number;
    uint64_t          id; /* the answer */
};

struct ct_ports {
    struct ct_list open  CT_GUARDED_BY(ct_domain); /* struct port */
    struct ct_list calls CT_GUARDED_BY(ct_domain); /* struct calling */
    uint32_t last_port   CT_GUARDED_BY(ct_domain);
    uint32_t last_call   CT_GUARDED_BY(ct_domain);
    uint8_t              call, answer; /* ids of messages */
};

/* ---- names ----------------------------------------------------------------------------------- */

static const char FORM[] = "ctran-port:%" PRIu32 ".%" PRIu32;

static bool read_name(const char *name, uint32_t *process, uint32_t *number)
{
    char     again[64];
    unsigned a, b;
    if (sscanf(name, "ctran-port:%u.%u", &a, &b) != 2) {
        return false;
    }
    *process = a;
    *number = b;
    snprintf(again, sizeof again, FORM, *process, *number);
    return strcmp(again, name) == 0;
}

static struct port *find_port(struct ct_ports *s, uint32_t number) CT_IN_DOMAIN
{
    CT_LIST_FOR (l, &s->open) {
        struct port *port = CT_LIST_ENTRY(l, struct port, node);
        if (port->number == number) {
            return port;
        }
    }
    return NULL;
}

/* The open port of this process that the name says; NULL: there is none. */
static struct port *find_own(struct ct_process *p, const char *name) CT_IN_DOMAIN
{
    uint32_t process, number;
    return read_name(name, &process, &number) && process == ct_job_me(p->job)
               ? find_port(p->ports, number)
               : NULL;
}

/* ---- messages -------------------------------------------------------------------------------- */

static void message_taken(struct ct_ep_op *op, int status)
{
    (void)status; /* if the peer is lost, those who wait for it are told */
    free(op);
}

static int send_message(struct ct_ep *to, uint8_t id, const void *hdr, size_t len) CT_IN_DOMAIN
{
    struct ct_ep_op *op = calloc(1, sizeof *op);
    if (op == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    op->id = id;
    op->hdr_len = (uint8_t)len;
    op->done = message_taken;
    memcpy(op->hdr, hdr, len);
    int rc = ct_ep_send(to, op);
    if (rc != CT_QUEUED) {
        free(op);
    }
    return rc == CT_QUEUED ? CTRAN_SUCCESS : rc;
}

static int answer(struct ct_ep *to, uint32_t number, uint64_t id, int error) CT_IN_DOMAIN
{
    const struct wire_answer wire = {.id = id, .number = number, .error = error};
    return send_message(to, to->p->ports->answer, &wire, sizeof wire);
}

/* A header has the length of its message. A process that sends another is not to be trusted. */
static bool unpack(struct ct_ep *from, const void *hdr, size_t hdr_len, void *wire,
                   size_t len) CT_IN_DOMAIN
{
    if (hdr_len != len) {
        ct_error(&from->p->log,
                 "process %" PRIu32
                 " sent a header of %zu bytes instead of %zu about a port; it is "
                 "treated as failed",
                 from->id, hdr_len, len);
        ct_ep_fail(from, CTRAN_ERR_INTERN);
        return false;
    }
    memcpy(wire, hdr, len);
    return true;
}

static void hand_over(struct ct_process *p, struct accepting *a, struct ct_ep *from,
                      uint32_t number) CT_IN_DOMAIN
{
    ct_list_remove(&a->node);
    a->from = from;
    a->number = number;
    ct_request_complete(p, &a->req);
}

/* Takes a call out of its line, if it is there. */
static void withdraw(struct port *port, struct ct_ep *from, uint32_t number) CT_IN_DOMAIN
{
    CT_LIST_FOR (l, &port->calls) {
        struct waiting *call = CT_LIST_ENTRY(l, struct waiting, node);
        if (call->from == from && call->number == number) {
            ct_list_remove(&call->node);
            free(call);
            (void)answer(from, number, 0, CTRAN_ERR_PORT);
            return;
        }
    }
}

static void on_call(struct ct_ep *from, const void *hdr, size_t hdr_len, const void *data,
                    size_t len_bytes) CT_IN_DOMAIN
{
    struct wire_call wire;
    (void)data, (void)len_bytes;
    if (!unpack(from, hdr, hdr_len, &wire, sizeof wire)) {
        return;
    }
    struct port    *port = find_port(from->p->ports, wire.port);
    struct waiting *call;
    if (wire.withdraw != 0) {
        if (port != NULL) {
            withdraw(port, from, wire.number);
        }
    } else if (port == NULL) {
        (void)answer(from, wire.number, 0, CTRAN_ERR_PORT);
    } else if (!ct_list_empty(&port->accepts)) {
        hand_over(from->p, CT_LIST_ENTRY(port->accepts.next, struct accepting, node), from,
                  wire.number);
    } else if ((call = malloc(sizeof *call)) != NULL) {
        call->from = from;
        call->number = wire.number;
        ct_list_append(&port->calls, &call->node);
    } else {
        (void)answer(from, wire.number, 0, CTRAN_ERR_NO_MEM);
    }
}

static void end_call(struct ct_process *p, struct calling *c, int error, uint64_t id) CT_IN_DOMAIN
{
    ct_list_remove(&c->node);
    c->id = id;
    c->req.error = error;
    ct_request_complete(p, &c->req);
}

static void on_answer(struct ct_ep *from, const void *hdr, size_t hdr_len, const void *data,
                      size_t len_bytes) CT_IN_DOMAIN
{
    struct wire_answer wire;
    (void)data, (void)len_bytes;
    if (!unpack(from, hdr, hdr_len, &wire, sizeof wire)) {
        return;
    }
    CT_LIST_FOR (l, &from->p->ports->calls) {
        struct calling *c = CT_LIST_ENTRY(l, struct calling, node);
        if (c->to == from && c->number == wire.number) {
            end_call(from->p, c, wire.error, wire.id);
            return;
        }
    }
}

/* A process is lost: its calls go, and calls of it end. */
static void on_fail(struct ct_ep *ep) CT_IN_DOMAIN
{
    struct ct_ports *s = ep->p->ports;
    CT_LIST_FOR (l, &s->open) {
        struct port *port = CT_LIST_ENTRY(l, struct port, node);
        CT_LIST_FOR (w, &port->calls) {
            struct waiting *call = CT_LIST_ENTRY(w, struct waiting, node);
            if (call->from == ep) {
                ct_list_remove(&call->node);
                free(call);
            }
        }
    }
    CT_LIST_FOR (l, &s->calls) {
        struct calling *c = CT_LIST_ENTRY(l, struct calling, node);
        if (c->to == ep) {
            end_call(ep->p, c, CTRAN_ERR_PORT, 0);
        }
    }
}

/* ---- ports ----------------------------------------------------------------------------------- */

int ct_port_open(struct ct_process *p, char *name, size_t cap)
{
    struct port *port = calloc(1, sizeof *port);
    int          rc = port != NULL ? ct_ep_meet_others(p) : CTRAN_ERR_NO_MEM;
    if (rc != CTRAN_SUCCESS && rc != CTRAN_ERR_UNSUPPORTED_OPERATION) {
        free(port);
        return rc;
    }
    ct_list_init(&port->calls);
    ct_list_init(&port->accepts);
    ct_domain_enter(p);
    port->number = ++p->ports->last_port;
    ct_list_append(&p->ports->open, &port->node);
    snprintf(name, cap, FORM, ct_job_me(p->job), port->number);
    ct_domain_leave(p);
    return CTRAN_SUCCESS;
}

static void close_port(struct ct_process *p, struct port *port) CT_IN_DOMAIN
{
    ct_list_remove(&port->node);
    CT_LIST_FOR (l, &port->calls) {
        struct waiting *call = CT_LIST_ENTRY(l, struct waiting, node);
        (void)answer(call->from, call->number, 0, CTRAN_ERR_PORT);
        ct_list_remove(&call->node);
        free(call);
    }
    CT_LIST_FOR (l, &port->accepts) {
        struct accepting *a = CT_LIST_ENTRY(l, struct accepting, node);
        a->req.error = CTRAN_ERR_PORT;
        hand_over(p, a, NULL, 0);
    }
    free(port);
}

int ct_port_close(struct ct_process *p, const char *name)
{
    ct_domain_enter(p);
    struct port *port = find_own(p, name);
    if (port != NULL) {
        close_port(p, port);
    }
    ct_domain_leave(p);
    return port != NULL ? CTRAN_SUCCESS : CTRAN_ERR_PORT;
}

/* Takes the first call that waits, if one does. */
static bool take_waiting(struct port *port, struct accepting *a) CT_IN_DOMAIN
{
    if (ct_list_empty(&port->calls)) {
        return false;
    }
    struct waiting *call = CT_LIST_ENTRY(port->calls.next, struct waiting, node);
    a->from = call->from;
    a->number = call->number;
    ct_list_remove(&call->node);
    free(call);
    return true;
}

/* What sets *lost signals nobody, so this looks after each nap. */
static int wait_for_call(struct ct_process *p, struct accepting *a, const _Atomic bool *lost)
{
    struct ct_wait pace = {0};
    if (lost == NULL) {
        return ct_p2p_wait(p, &a->req);
    }
    ct_domain_enter(p);
    while (!ct_request_is_done(&a->req) && !atomic_load_explicit(lost, memory_order_acquire)) {
        ct_waiter_turn_(p, &pace);
    }
    const bool came = ct_request_is_done(&a->req);
    if (!came) {
        ct_list_remove(&a->node);
    }
    ct_domain_leave(p);
    return came ? a->req.error : CTRAN_ERR_SPAWN;
}

int ct_port_accept(struct ct_process *p, const char *name, uint64_t id, const _Atomic bool *lost,
                   uint32_t *peer)
{
    struct accepting a = {0};
    ct_list_init(&a.node);
    ct_domain_enter(p);
    struct port *port = find_own(p, name);
    const bool   came = port != NULL && take_waiting(port, &a);
    if (port != NULL && !came) {
        ct_list_append(&port->accepts, &a.node);
    }
    ct_domain_leave(p);
    if (port == NULL) {
        return CTRAN_ERR_PORT;
    }
    int rc = came ? CTRAN_SUCCESS : wait_for_call(p, &a, lost);
    if (rc == CTRAN_SUCCESS) {
        *peer = a.from->id;
        ct_domain_enter(p);
        rc = answer(a.from, a.number, id, CTRAN_SUCCESS);
        ct_domain_leave(p);
    }
    return rc;
}

/* Waits for the answer. When the time is over the call is withdrawn, and the answer says whether it
 * was accepted before. */
static int wait_for_answer(struct ct_process *p, struct calling *c, struct wire_call *wire,
                           uint64_t timeout_ns)
{
    struct ct_wait pace = {0};
    const uint64_t start_ns = ct_clock_ns();
    if (timeout_ns != CT_PORT_FOREVER) {
        ct_domain_enter(p);
        while (!ct_request_is_done(&c->req) && ct_clock_ns() - start_ns < timeout_ns) {
            ct_waiter_turn_(p, &pace);
        }
        if (!ct_request_is_done(&c->req)) {
            wire->withdraw = 1;
            (void)send_message(c->to, p->ports->call, wire, sizeof *wire);
        }
        ct_domain_leave(p);
    }
    return ct_p2p_wait(p, &c->req);
}

int ct_port_call(struct ct_process *p, const char *name, uint64_t timeout_ns, uint64_t *id,
                 uint32_t *peer)
{
    struct calling   c = {0};
    struct wire_call wire = {0};
    if (!read_name(name, peer, &wire.port)) {
        return CTRAN_ERR_PORT;
    }
    c.to = ct_ep_get(p, *peer);
    if (c.to == NULL) {
        return CTRAN_ERR_PORT;
    }
    ct_list_init(&c.node);
    ct_domain_enter(p);
    wire.number = c.number = ++p->ports->last_call;
    ct_list_append(&p->ports->calls, &c.node);
    int rc = send_message(c.to, p->ports->call, &wire, sizeof wire);
    if (rc != CTRAN_SUCCESS) {
        ct_list_remove(&c.node);
    }
    ct_domain_leave(p);
    if (rc == CTRAN_SUCCESS) {
        rc = wait_for_answer(p, &c, &wire, timeout_ns);
        *id = c.id;
    }
    return rc == CTRAN_SUCCESS || rc == CTRAN_ERR_NO_MEM ? rc : CTRAN_ERR_PORT;
}

/* ---- init and fini --------------------------------------------------------------------------- */

/* No other thread is here yet. */
int ct_port_init(struct ct_process *p) CT_UNCHECKED
{
    struct ct_ports *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    ct_list_init(&s->open);
    ct_list_init(&s->calls);
    s->call = ct_ep_register(p, on_call);
    s->answer = ct_ep_register(p, on_answer);
    ct_ep_register_fail(p, on_fail);
    p->ports = s;
    return CTRAN_SUCCESS;
}

/* No other thread is here any more. */
void ct_port_fini(struct ct_process *p) CT_UNCHECKED
{
    if (p->ports == NULL) {
        return;
    }
    CT_LIST_FOR (l, &p->ports->open) {
        struct port *port = CT_LIST_ENTRY(l, struct port, node);
        CT_LIST_FOR (w, &port->calls) {
            free(CT_LIST_ENTRY(w, struct waiting, node));
        }
        free(port);
    }
    free(p->ports);
    p->ports = NULL;
}
