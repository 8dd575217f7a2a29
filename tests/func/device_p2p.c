/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device_p2p - messages on mixes of memory: each way to send and each way to receive, datatypes,
 * exchanges, partitions, and random traffic. Run by device.c.
 */
#include "device.h"
#include "foreign.h"

enum { TAG = 5 };

static int next_rank(void)
{
    return (check_rank + 1) % check_size;
}

static int prev_rank(void)
{
    return (check_rank + check_size - 1) % check_size;
}

/* ---- modes ----------------------------------------------------------------------------------- */

/* The ways to send; those from ISEND on return before there is a receive. */
enum send_way {
    SEND,
    SSEND,
    RSEND,
    BSEND,
    ISEND,
    ISSEND,
    IRSEND,
    IBSEND,
    SEND_INIT,
    SSEND_INIT,
    SENDS
};
/* The ways to receive; those from RECV on return with the message. */
enum recv_way { IRECV, RECV_INIT, RECV, MRECV, IMRECV, PROBED, RECVS };

static bool blocks(enum send_way way)
{
    return way < ISEND;
}

static void start_send(const struct operation *o, enum send_way way, void *buf, ctran_request_t *r)
{
    const int to = next_rank();
    *r = CTRAN_REQUEST_NULL;
    switch (way) {
    case SEND:
        OK(ctran_send(buf, o->count, o->type, to, TAG, CTRAN_COMM_WORLD));
        return;
    case SSEND:
        OK(ctran_ssend(buf, o->count, o->type, to, TAG, CTRAN_COMM_WORLD));
        return;
    case RSEND:
        OK(ctran_rsend(buf, o->count, o->type, to, TAG, CTRAN_COMM_WORLD));
        return;
    case BSEND:
        OK(ctran_bsend(buf, o->count, o->type, to, TAG, CTRAN_COMM_WORLD));
        return;
    case ISEND:
        OK(ctran_isend(buf, o->count, o->type, to, TAG, CTRAN_COMM_WORLD, r));
        return;
    case ISSEND:
        OK(ctran_issend(buf, o->count, o->type, to, TAG, CTRAN_COMM_WORLD, r));
        return;
    case IRSEND:
        OK(ctran_irsend(buf, o->count, o->type, to, TAG, CTRAN_COMM_WORLD, r));
        return;
    case IBSEND:
        OK(ctran_ibsend(buf, o->count, o->type, to, TAG, CTRAN_COMM_WORLD, r));
        return;
    default:
        OK((way == SEND_INIT ? ctran_send_init : ctran_ssend_init)(buf, o->count, o->type, to, TAG,
                                                                   CTRAN_COMM_WORLD, r));
        OK(ctran_start(r));
    }
}

/* Before the message is sent. */
static void post_recv(const struct operation *o, enum recv_way way, void *buf, ctran_request_t *r)
{
    *r = CTRAN_REQUEST_NULL;
    if (way == IRECV) {
        OK(ctran_irecv(buf, o->count, o->type, prev_rank(), TAG, CTRAN_COMM_WORLD, r));
    } else if (way == RECV_INIT) {
        OK(ctran_recv_init(buf, o->count, o->type, prev_rank(), TAG, CTRAN_COMM_WORLD, r));
        OK(ctran_start(r));
    }
}

static void take_message(const struct operation *o, enum recv_way way, void *buf,
                         ctran_request_t *r)
{
    ctran_message_t message;
    ctran_status_t  status;
    if (way == MRECV || way == IMRECV) {
        OK(ctran_mprobe(prev_rank(), TAG, CTRAN_COMM_WORLD, &message, &status));
    } else if (way == PROBED) {
        OK(ctran_probe(CTRAN_ANY_SOURCE, TAG, CTRAN_COMM_WORLD, &status));
        EXPECT_EQ(prev_rank(), status.CTRAN_SOURCE);
    }
    if (way == MRECV) {
        OK(ctran_mrecv(buf, o->count, o->type, &message, &status));
    } else if (way == IMRECV) {
        OK(ctran_imrecv(buf, o->count, o->type, &message, r));
    } else if (way == RECV || way == PROBED) {
        OK(ctran_recv(buf, o->count, o->type, CTRAN_ANY_SOURCE, TAG, CTRAN_COMM_WORLD, &status));
    }
}

static void finish(ctran_request_t *r)
{
    OK(ctran_wait(r, CTRAN_STATUS_IGNORE));
    if (*r != CTRAN_REQUEST_NULL) {
        OK(ctran_request_free(r));
    }
}

static void run_way(const struct operation *o, void *buf[BUFS])
{
    const enum send_way out = (enum send_way)(o->way % SENDS);
    const enum recv_way in = (enum recv_way)(o->way / SENDS);
    ctran_request_t     sent, received;
    post_recv(o, in, buf[1], &received);
    OK(ctran_barrier(CTRAN_COMM_WORLD)); /* all receives are there */
    start_send(o, out, buf[0], &sent);
    take_message(o, in, buf[1], &received);
    finish(&received);
    finish(&sent);
}

/* Blocking sends in a ring need receives that are there. */
static bool is_possible(enum send_way out, enum recv_way in)
{
    return (in == IRECV || in == RECV_INIT) || (!blocks(out) && out != IRSEND) || out == BSEND;
}

static void attach(void)
{
    static char space[16 << 20];
    OK(ctran_buffer_attach(foreign_exempt(space, sizeof space), sizeof space));
}

static void detach(void)
{
    void         *back;
    ctran_count_t size;
    OK(ctran_buffer_detach(&back, &size));
}

void device_modes(void)
{
    static const size_t lens[] = {1, 5000, 70001};
    attach();
    for (int way = 0; way < SENDS * RECVS; way++) {
        for (size_t i = 0; i < LEN(lens); i++) {
            if (is_possible((enum send_way)(way % SENDS), (enum recv_way)(way / SENDS))) {
                run_mixes(&(struct operation){.name = "a message",
                                              .run = run_way,
                                              .len = {lens[i], lens[i]},
                                              .count = (ctran_count_t)lens[i],
                                              .type = CTRAN_BYTE,
                                              .way = way});
            }
        }
    }
    run_mixes(&(struct operation){.name = "a long message",
                                  .run = run_way,
                                  .len = {(3 << 20) + 5, (3 << 20) + 5},
                                  .count = (3 << 20) + 5,
                                  .type = CTRAN_BYTE,
                                  .way = ISEND});
    detach();
}

/* ---- datatypes ------------------------------------------------------------------------------- */

enum { TYPES = 5 };

/* Each spans at most 64 bytes an element; none reaches below its first byte. */
static ctran_datatype_t make_type(int which)
{
    static const ctran_count_t lengths[] = {3, 1, 5}, at[] = {0, 7, 9};
    static const ctran_aint_t  apart[] = {24, 0, 8};
    const ctran_datatype_t     scalars[] = {CTRAN_SHORT, CTRAN_INT64_T, CTRAN_CHAR};
    ctran_datatype_t           type, inner;
    switch (which) {
    case 0:
        OK(ctran_type_vector(4, 2, 3, CTRAN_INT, &type));
        break;
    case 1:
        OK(ctran_type_indexed(3, lengths, at, CTRAN_INT, &type));
        break;
    case 2: /* backwards */
        OK(ctran_type_create_struct(3, lengths, apart, scalars, &type));
        break;
    case 3:
        OK(ctran_type_vector(2, 1, 2, CTRAN_SHORT_INT, &inner));
        OK(ctran_type_create_resized(inner, 0, 40, &type));
        OK(ctran_type_free(&inner));
        break;
    default:
        OK(ctran_type_contiguous(6, CTRAN_DOUBLE, &type));
    }
    OK(ctran_type_commit(&type));
    return type;
}

void device_types(void)
{
    static const int counts[] = {1, 5000};
    attach();
    for (int which = 0; which < TYPES; which++) {
        ctran_datatype_t type = make_type(which);
        for (size_t i = 0; i < LEN(counts); i++) {
            static const int ways[] = {ISEND + SENDS * IRECV, BSEND + SENDS * MRECV,
                                       ISSEND + SENDS * RECV, SEND_INIT + SENDS * RECV_INIT};
            const size_t     len = (size_t)counts[i] * 64;
            for (size_t w = 0; w < LEN(ways); w++) {
                run_mixes(&(struct operation){.name = "a message of a derived type",
                                              .run = run_way,
                                              .len = {len, len},
                                              .count = counts[i],
                                              .type = type,
                                              .way = ways[w]});
            }
        }
        OK(ctran_type_free(&type));
    }
    detach();
}

/* ---- exchanges ------------------------------------------------------------------------------- */

static void run_exchange(const struct operation *o, void *buf[BUFS])
{
    ctran_request_t r = CTRAN_REQUEST_NULL;
    switch (o->way) {
    case 0:
        OK(ctran_sendrecv(buf[0], o->count, o->type, next_rank(), 1, buf[1], o->count, o->type,
                          prev_rank(), 1, CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE));
        break;
    case 1:
        OK(ctran_sendrecv_replace(buf[0], o->count, o->type, next_rank(), 1, prev_rank(), 1,
                                  CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE));
        break;
    case 2:
        OK(ctran_isendrecv(buf[0], o->count, o->type, next_rank(), 1, buf[1], o->count, o->type,
                           prev_rank(), 1, CTRAN_COMM_WORLD, &r));
        break;
    case 3:
        OK(ctran_isendrecv_replace(buf[0], o->count, o->type, next_rank(), 1, prev_rank(), 1,
                                   CTRAN_COMM_WORLD, &r));
        break;
    default: /* to itself, past the receive's end */
        OK(ctran_irecv(buf[1], o->count, o->type, check_rank, 2, CTRAN_COMM_WORLD, &r));
        OK(ctran_send(buf[0], o->count, o->type, check_rank, 2, CTRAN_COMM_WORLD));
    }
    OK(ctran_wait(&r, CTRAN_STATUS_IGNORE));
}

enum { PARTITIONS = 12 };

/* In partitions, of which the receiver has half as many. */
static void run_partitions(const struct operation *o, void *buf[BUFS])
{
    ctran_request_t r[2];
    const int       step = 5; /* has no divisor with PARTITIONS */
    OK(ctran_psend_init(buf[0], PARTITIONS, o->count, o->type, next_rank(), 3, CTRAN_COMM_WORLD,
                        CTRAN_INFO_NULL, &r[0]));
    OK(ctran_precv_init(buf[1], PARTITIONS / 2, o->count * 2, o->type, prev_rank(), 3,
                        CTRAN_COMM_WORLD, CTRAN_INFO_NULL, &r[1]));
    for (int round = 0; round < 2; round++) {
        OK(ctran_startall(2, r));
        for (int i = 0; i < PARTITIONS; i++) {
            OK(ctran_pready(i * step % PARTITIONS, r[0]));
        }
        OK(ctran_waitall(2, r, CTRAN_STATUSES_IGNORE));
    }
    OK(ctran_request_free(&r[0]));
    OK(ctran_request_free(&r[1]));
}

void device_exchange(void)
{
    static const size_t counts[] = {1, 5000};
    for (size_t i = 0; i < LEN(counts); i++) {
        for (int which = -1; which < TYPES; which++) {
            const bool some = check_quick() && counts[i] > 1; /* they take all of the time */
            if (some && which % 4 == 0) {
                continue;
            }
            ctran_datatype_t type = which < 0 ? CTRAN_DOUBLE : make_type(which);
            const size_t     len = counts[i] * (which < 0 ? sizeof(double) : 64);
            for (int way = 0; way < 5; way++) {
                run_mixes(&(struct operation){.name = "an exchange",
                                              .run = run_exchange,
                                              .len = {len, len},
                                              .count = (ctran_count_t)counts[i],
                                              .type = type,
                                              .way = way});
            }
            if (!some || which < 2) {
                run_mixes(&(struct operation){.name = "partitions",
                                              .run = run_partitions,
                                              .len = {PARTITIONS * len, PARTITIONS * len},
                                              .count = (ctran_count_t)counts[i],
                                              .type = type});
            }
            if (which >= 0) {
                OK(ctran_type_free(&type));
            }
        }
    }
}

/* ---- random traffic -------------------------------------------------------------------------- */

enum { MESSAGES = 600, WINDOW = 30, LONGEST = 400000 };

struct message {
    int    source, dest, kinds[2];
    size_t len;
};

static struct message draw(uint64_t *rng)
{
    static const int spans[] = {1, 64, 1000, 6000, 70000, LONGEST};
    struct message   m = {.source = rng_below(rng, check_size),
                          .dest = rng_below(rng, check_size),
                          .kinds = {rng_below(rng, mem_kinds), rng_below(rng, mem_kinds)}};
    m.len = (size_t)rng_below(rng, spans[rng_below(rng, (int)LEN(spans))]);
    return m;
}

/* What has come, and that nothing else was written. */
static void expect_message(const struct message *m, int i, const char *at)
{
    char *found = malloc(m->len + EDGE);
    EXPECT(found != NULL);
    mem_get(m->kinds[1], found, at, m->len + EDGE);
    EXPECT_CONTENT(found, m->len, key_of(m->source, m->dest, 9, i));
    for (size_t e = 0; e < EDGE; e++) {
        EXPECT_EQ(0x77, found[m->len + e]);
    }
    free(found);
}

static void window(uint64_t *rng, int first)
{
    struct message  plan[WINDOW];
    ctran_request_t r[2 * WINDOW];
    char           *out[WINDOW] = {NULL}, *in[WINDOW] = {NULL};
    char           *host = malloc(LONGEST + EDGE);
    int             n = 0;
    EXPECT(host != NULL);
    for (int i = 0; i < WINDOW; i++) {
        const struct message *m = &plan[i];
        plan[i] = draw(rng);
        if (m->dest == check_rank) {
            in[i] = mem_new(m->kinds[1], m->len + EDGE);
            memset(host, 0x77, m->len + EDGE);
            mem_put(m->kinds[1], in[i], host, m->len + EDGE);
            OK(ctran_irecv(in[i], (ctran_count_t)m->len, CTRAN_BYTE, m->source, first + i,
                           CTRAN_COMM_WORLD, &r[n++]));
        }
        if (m->source == check_rank) {
            out[i] = mem_new(m->kinds[0], m->len + 1);
            content_fill(host, m->len, key_of(m->source, m->dest, 9, first + i));
            mem_put(m->kinds[0], out[i], host, m->len);
            OK((i % 3 == 0 ? ctran_issend : ctran_isend)(out[i], (ctran_count_t)m->len, CTRAN_BYTE,
                                                         m->dest, first + i, CTRAN_COMM_WORLD,
                                                         &r[n++]));
        }
    }
    OK(ctran_waitall(n, r, CTRAN_STATUSES_IGNORE));
    for (int i = 0; i < WINDOW; i++) {
        if (in[i] != NULL) {
            expect_message(&plan[i], first + i, in[i]);
            mem_free(plan[i].kinds[1], in[i]);
        }
        if (out[i] != NULL) {
            mem_free(plan[i].kinds[0], out[i]);
        }
    }
    free(host);
}

void device_traffic(void)
{
    uint64_t rng = rng_of(910);
    for (int first = 0; first < MESSAGES; first += WINDOW) {
        window(&rng, first);
    }
}

/* ---- nobody else takes part ------------------------------------------------------------------ */

static void run_local(const struct operation *o, void *buf[BUFS])
{
    const ctran_count_t size = (ctran_count_t)o->len[1];
    ctran_count_t       at = 0;
    switch (o->way) {
    case 0:
        OK(ctran_pack(buf[0], o->count, o->type, buf[1], size, &at, CTRAN_COMM_WORLD));
        break;
    case 1:
        OK(ctran_unpack(buf[0], size, &at, buf[1], o->count, o->type, CTRAN_COMM_WORLD));
        break;
    case 2:
        OK(ctran_pack_external("external32", buf[0], o->count, o->type, buf[1], size, &at));
        break;
    case 3:
        OK(ctran_unpack_external("external32", buf[0], size, &at, buf[1], o->count, o->type));
        break;
    default:
        OK(ctran_reduce_local(buf[0], buf[1], o->count, CTRAN_INT64_T, CTRAN_SUM));
    }
}

void device_local(void)
{
    static const size_t counts[] = {1, 77, 4000};
    for (size_t i = 0; i < LEN(counts); i++) {
        for (int which = 0; which < TYPES; which++) {
            ctran_datatype_t type = make_type(which);
            for (int way = 0; way < 5; way++) {
                run_mixes(&(struct operation){.name = "a local call",
                                              .run = run_local,
                                              .len = {counts[i] * 64, counts[i] * 64},
                                              .count = (ctran_count_t)counts[i],
                                              .type = type,
                                              .way = way});
            }
            OK(ctran_type_free(&type));
        }
    }
}
