/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ranks and other agents say to an agent, in any order: records, who they are, blocks, ends;
 * and what the store answers. There is no socket: connections are those of nobody, to whom nothing
 * can be sent. The file is included, for its functions are its connections' own.
 */
#include "fuzz.h"

#include <sanitizer/asan_interface.h>

#include "pmi/oob/node.c"

enum { LINKS = 8, ASKS = 16, ENTRY = 24, PAGE = 4096 };

static struct ct_log      log_;
static struct ct_loop     loop;
static struct ct_auth_key key;

/* ---- in place of the store and of the network ------------------------------------------------ */

static struct ask {
    ct_store_fn fn;
    void       *arg;
} asks[ASKS];
static unsigned nasks;

int ct_store_ask(struct ct_store *store, const struct ct_store_request *req, ct_store_fn fn,
                 void *arg)
{
    (void)store;
    fuzz_touch(req->key.at, req->key.len);
    FUZZ_CHECK(nasks < ASKS);
    asks[nasks++] = (struct ask){fn, arg};
    return CTRAN_SUCCESS;
}

void ct_store_forget(struct ct_store *store, const void *arg)
{
    (void)store;
    for (unsigned i = nasks; i-- > 0;) {
        asks[i] = asks[i].arg == arg ? asks[--nasks] : asks[i];
    }
}

int ct_listener_open(struct ct_listener *l, struct ct_loop *on, struct ct_addr *a)
{
    (void)l, (void)on, (void)a;
    return CTRAN_SUCCESS;
}

void ct_listener_go_on(struct ct_listener *l)
{
    (void)l;
}

void ct_listener_close(struct ct_listener *l)
{
    (void)l;
}

/* ---- what happens ---------------------------------------------------------------------------- */

static void on_end(void *arg, struct ct_oob_node *n, int status)
{
    (void)n, (void)status;
    FUZZ_CHECK(++*(int *)arg == 1);
}

static void store_answers(struct fuzz *f)
{
    static const uint8_t  nonsense[8] = {1, 2, 3};
    struct ct_store_reply reply = {.value = {nonsense, sizeof nonsense}};
    if (nasks > 0) {
        unsigned   i = fuzz_below(f, nasks);
        struct ask a = asks[i];
        asks[i] = asks[--nasks];
        static const int status[] = {CTRAN_SUCCESS, CTRAN_ERR_TIMEOUT, CTRAN_ERR_SYSTEM};
        reply.status = status[fuzz_below(f, 3)];
        a.fn(a.arg, &reply);
    }
}

/* Somebody who has proved himself. */
static struct ct_link *guest(struct ct_oob_node *n)
{
    struct ct_link *link = calloc(1, sizeof *link);
    FUZZ_CHECK(link != NULL);
    link->conn.fd = -1;
    link->conn.ops = &ops;
    link->conn.loop = &loop;
    link->owner = n;
    link->stranger = true;
    n->nstrangers++;
    ct_list_append(&n->strangers, &link->node);
    oob_node_on_ready(&link->conn);
    return link;
}

/* A connection that this agent has made. */
static struct ct_link *connected(struct ct_oob_node *n, struct fuzz *f)
{
    struct ct_peer *peer = &n->gather.peers[fuzz_below(f, n->gather.npeers)];
    struct ct_link *link = guest(n);
    if (peer->index < n->index || peer->link != NULL) {
        return link;
    }
    ct_list_remove(&link->node);
    link->peer = peer;
    link->gather = &n->gather;
    peer->link = link;
    peer->ready = true;
    ct_gather_go_on(&n->gather);
    return link;
}

/* What its type would have, most often. */
static struct ct_frame header(struct ct_oob_node *n, const struct ct_link *link, struct fuzz *f)
{
    uint8_t               choice = (uint8_t)fuzz_number(f, 1);
    struct ct_frame       h = {.type = (uint8_t)(1 + choice % 5)};
    const struct ct_peer *peer = link->peer;
    struct ct_pieces      p;
    if (choice >= 192) {
        h.id = fuzz_number(f, 2);
        h.len = (uint32_t)ct_min_size(fuzz_number(f, 2), (size_t)12 * ENTRY);
    } else if (h.type == CT_OOB_HELLO) {
        h.id = fuzz_below(f, n->index + 1);
    } else if (h.type == CT_OOB_RECORD) {
        h.id = n->first + fuzz_below(f, n->nlocal);
        h.len = ENTRY;
    } else if (peer != NULL) {
        h.type = CT_OOB_BLOCKS;
        h.id = peer->arrived;
        for (h.len = 0; h.len < 12 * ENTRY; h.len += ENTRY) {
            if (ct_gather_due(link->peer, h.len, &p) == CTRAN_SUCCESS) {
                break;
            }
        }
    }
    return h;
}

static void frame(struct ct_oob_node *n, struct ct_link **link, struct fuzz *f)
{
    struct ct_frame h = header(n, *link, f);
    uint8_t        *body = calloc(1, h.len + 1);
    uint8_t        *place = h.len > 0 ? oob_node_on_place(&(*link)->conn, &h) : NULL;
    FUZZ_CHECK(body != NULL);
    if (place != NULL) {
        memset(place, 1, h.len);
    }
    int rc = oob_node_on_message(&(*link)->conn, &h, place != NULL ? place : body);
    if (rc != CTRAN_SUCCESS) {
        oob_node_on_closed(&(*link)->conn, rc, "makes no sense");
        *link = NULL;
    }
    free(body);
}

/* Who is who. */
static void check(const struct ct_oob_node *n)
{
    for (uint32_t i = 0; i < n->nlocal; i++) {
        const struct ct_link *link = n->ranks[i];
        FUZZ_CHECK(link == NULL || (link->rank == i + 1 && link->peer == NULL));
    }
    for (uint32_t i = 0; i < n->gather.npeers; i++) {
        const struct ct_link *link = n->gather.peers[i].link;
        FUZZ_CHECK(link == NULL || (link->peer == &n->gather.peers[i] && !link->stranger));
    }
}

static void play(struct ct_oob_node *n, struct fuzz *f)
{
    struct ct_link *links[LINKS] = {NULL};
    while (f->left > 0) {
        uint8_t          what = (uint8_t)fuzz_number(f, 1);
        struct ct_link **link = &links[what % LINKS];
        what /= LINKS;
        if (*link == NULL) {
            *link = what % 3 == 0 && n->gather.npeers > 0 ? connected(n, f) : guest(n);
        } else if (what < 20) {
            frame(n, link, f);
        } else if (what < 25) {
            oob_node_on_closed(&(*link)->conn, CTRAN_ERR_SYSTEM, "has gone");
            *link = NULL;
        } else if (what < 28) {
            oob_node_on_drained(&(*link)->conn);
        } else {
            store_answers(f);
        }
        check(n);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"bruck", "bidirectional_ring", "binomial", "ring"};
    struct fuzz              f = {data, size};
    struct ct_oob_node      *n;
    struct ct_addr           addr = {.family = 4};
    int                      ends = 0;
    if (loop.base == NULL) {
        ct_log_init(&log_, CT_LOG_NONE, "fuzz");
        FUZZ_CHECK(ct_loop_init(&loop, &log_) == CTRAN_SUCCESS);
    }
    struct ct_oob_terms terms = {.loop = &loop, .key = &key, .name = "fuzz", .limit_ms = 100000};
    terms.shape = (struct ct_oob_shape){1 + fuzz_below(&f, 12), 1 + fuzz_below(&f, 3), ENTRY};
    uint32_t nodes = ct_oob_nnodes(&terms.shape);
    terms.algo = ct_oob_algo(names[fuzz_below(&f, 4)], nodes, ENTRY);
    if (terms.algo == NULL) {
        return 0;
    }
    nasks = 0;
    FUZZ_CHECK(ct_oob_node_open(&n, &terms, fuzz_below(&f, nodes), &addr, on_end, &ends) ==
               CTRAN_SUCCESS);
    ASAN_POISON_MEMORY_REGION(n->table + n->size, PAGE - n->size);
    play(n, &f);
    ASAN_UNPOISON_MEMORY_REGION(n->table + n->size, PAGE - n->size);
    ct_oob_node_close(n);
    FUZZ_CHECK(nasks == 0);
    return 0;
}
