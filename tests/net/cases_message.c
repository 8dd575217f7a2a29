/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages: order, sizes around the largest payload, more of them than there is room for, and a
 * peer that dies. */
#define CT_FOLDER "test"
#include <signal.h>
#include <unistd.h>

#include "cases.h"
#include "ep/ways.h"

enum { MESSAGES = 4000, SENDERS = 64 };

/* A message on its way. */
struct message {
    struct ct_ep_op op;
    struct ct_area  area;
    unsigned char  *bytes;
    bool            busy;
    int             status;
};

static struct {
    struct world *w;
    uint8_t       id;
    uint32_t      next; /* number of the next message */
    unsigned      ended;
} now;

/* The byte at `at` of message `number`. */
static unsigned char byte_of(uint32_t number, size_t at)
{
    return (unsigned char)(number * 31 + at * 7);
}

static void on_message(struct ct_ep *from, const void *hdr, size_t hdr_len, const void *data,
                       size_t len_bytes)
{
    uint32_t             word[2];
    const unsigned char *bytes = data;
    (void)from;
    EQUAL(now.w, hdr_len, sizeof word);
    memcpy(word, hdr, sizeof word);
    EQUAL(now.w, word[0], now.next);
    EQUAL(now.w, word[1], len_bytes);
    for (size_t i = 0; i < len_bytes; i += i < 64 || len_bytes - i <= 64 ? 1 : 61) {
        EQUAL(now.w, bytes[i], byte_of(word[0], i));
    }
    now.next++;
}

static void message_done(struct ct_ep_op *op, int status)
{
    struct message *m = CT_CONTAINER_OF(op, struct message, op);
    m->busy = false;
    m->status = status;
    now.ended++;
}

static int message_send(struct world *w, struct message *m, uint32_t to, uint32_t number,
                        size_t len)
{
    const uint32_t word[2] = {number, (uint32_t)len};
    m->bytes = realloc(m->bytes, len + 1);
    CHECK(w, m->bytes != NULL);
    for (size_t i = 0; i < len; i++) {
        m->bytes[i] = byte_of(number, i);
    }
    m->area = (struct ct_area){.base = m->bytes, .len_bytes = len};
    m->op = (struct ct_ep_op){.id = now.id,
                              .hdr_len = sizeof word,
                              .area = len > 0 ? &m->area : NULL,
                              .len_bytes = len,
                              .done = message_done};
    memcpy(m->op.hdr, word, sizeof word);
    ct_domain_enter(&w->p);
    const int rc = ct_ep_send(world_ep(w, to), &m->op);
    ct_domain_leave(&w->p);
    m->busy = rc == CT_QUEUED;
    return rc;
}

static size_t most_payload(struct world *w, uint32_t to)
{
    ct_domain_enter(&w->p);
    const size_t most = ct_ep_max_payload(world_ep(w, to));
    ct_domain_leave(&w->p);
    return most;
}

static void begin(struct world *w)
{
    now.w = w;
    now.next = 0;
    now.ended = 0;
    now.id = ct_ep_register(&w->p, on_message);
    world_meet(w);
}

/* Lengths: none, one, around the largest, and any. */
static size_t length_of(struct world *w, uint32_t number, size_t most)
{
    const size_t around[] = {0, 1, most, most - 1, 31, 32, 33, 63, 64, 65, 4095, 4096, 4097};
    const size_t len =
        number % 8 == 0 ? around[number / 8 % CT_ARRAY_LEN(around)] : world_random(w) % 300;
    return ct_min_size(len, most);
}

static void order(struct world *w)
{
    begin(w);
    struct message *all = calloc(SENDERS, sizeof *all);
    const size_t    most = most_payload(w, next_rank(w));
    CHECK(w, all != NULL && most > 0);
    for (uint32_t i = 0; i < MESSAGES; i++) {
        struct message *m = &all[i % SENDERS];
        while (m->busy) {
            world_turn(w);
        }
        const int rc = message_send(w, m, next_rank(w), i, length_of(w, i, most));
        CHECK(w, rc == CTRAN_SUCCESS || rc == CT_QUEUED);
    }
    while (now.next < MESSAGES) {
        world_turn(w);
    }
    world_meet(w);
    EQUAL(w, now.next, MESSAGES);
    for (uint32_t i = 0; i < SENDERS; i++) {
        CHECK(w, !all[i].busy && all[i].status == CTRAN_SUCCESS);
        free(all[i].bytes);
    }
    free(all);
}

/* Rank 1 dies without having read anything: rank 0's messages to it end, those that wait with an
 * error, and rank 2 is not concerned. */
static void death(struct world *w)
{
    begin(w);
    if (w->me == 1) {
        (void)raise(SIGKILL);
    }
    struct message *all = calloc(SENDERS, sizeof *all);
    CHECK(w, all != NULL);
    int rc = CTRAN_SUCCESS;
    for (uint32_t i = 0; w->me == 0 && rc != CTRAN_ERR_PROC_FAILED; i++) {
        struct message *m = &all[i % SENDERS];
        while (m->busy) {
            world_turn(w);
        }
        rc = m->status != CTRAN_SUCCESS ? m->status : message_send(w, m, 1, i, 1000);
        CHECK(w, rc == CTRAN_SUCCESS || rc == CT_QUEUED || rc == CTRAN_ERR_PROC_FAILED);
        world_turn(w);
    }
    for (uint32_t i = 0; i < SENDERS; i++) {
        while (all[i].busy) {
            world_turn(w);
        }
    }
    struct message one = {.busy = false};
    if (w->me == 0) {
        rc = message_send(w, &one, 2, 0, 10);
        CHECK(w, rc == CTRAN_SUCCESS || rc == CT_QUEUED);
        atomic_store(&w->shared->words[0], 1);
    }
    while (w->me == 2 ? now.next == 0 : one.busy || atomic_load(&w->shared->words[1]) == 0) {
        world_turn(w);
    }
    atomic_store(&w->shared->words[1], 1);
}

static bool has_failed(struct world *w, struct ct_ep *ep)
{
    ct_domain_enter(&w->p);
    const bool failed = ct_ep_usable(ep) == CTRAN_ERR_PROC_FAILED;
    ct_domain_leave(&w->p);
    return failed;
}

/* Rank 1 dies while the others wait for it and send nothing: they are told. */
static void silent_death(struct world *w)
{
    begin(w);
    struct message one = {.busy = false}, two = {.busy = false};
    if (w->me == 1) {
        CHECK(w, message_send(w, &one, 0, 0, 10) != CTRAN_ERR_PROC_FAILED);
        CHECK(w, message_send(w, &two, 2, 0, 10) != CTRAN_ERR_PROC_FAILED);
    }
    while (w->me == 1 ? one.busy || two.busy : now.next == 0) {
        world_turn(w);
    }
    world_meet(w);
    if (w->me == 1) {
        (void)raise(SIGKILL);
    }
    struct ct_ep *ep = world_ep(w, 1);
    while (!has_failed(w, ep)) {
        world_turn(w);
    }
    atomic_fetch_add(&w->shared->words[0], 1);
    while (atomic_load(&w->shared->words[0]) != w->n - 1) {
        world_turn(w);
    }
}

const struct world_case cases_message[] = {
    {"order", 3, 0, order},
    {"death", 3, 1 << 1, death},
    {"silent death", 3, 1 << 1, silent_death},
    {NULL, 0, 0, NULL},
};
