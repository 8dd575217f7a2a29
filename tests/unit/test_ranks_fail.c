/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that are lost, and ranks that send nonsense: exactly the operations with them fail, all
 * others go on. Nobody dies really; a rank that is to be dead marks its segment closed.
 */
#define CT_FOLDER "unit"
#include <sched.h>
#include <stdatomic.h>

#include "ranks.h"

#include "base/version.h"
#include "ep/ep_set.h"
#include "node/node.h"
#include "p2p/state.h"

enum { LONG = 100000 };

static const char *const PIECES[] = {"CTRAN_SHM_SINGLE_COPY", "off", NULL};
static const char *const TINY[] = {"CTRAN_SHM_SINGLE_COPY", "off", "CTRAN_SHM_RING_SIZE", "4K",
                                   NULL};

/* ---- tools ----------------------------------------------------------------------------------- */

static struct ct_comm *world(struct rank *r)
{
    return ct_comm_world(&r->p);
}

static void isend(struct rank *r, struct ct_p2p_req *req, const struct ct_comm *comm, uint32_t to,
                  int32_t tag, void *mem, size_t len_bytes)
{
    struct ct_p2p_key key = {comm->id, (int32_t)comm->run.me, tag};
    ct_p2p_isend(&r->p, req, ct_comm_ep(comm, to), key,
                 &(struct ct_area){.base = mem, .len_bytes = len_bytes});
}

static void irecv(struct rank *r, struct ct_p2p_req *req, const struct ct_comm *comm, int from,
                  int32_t tag, void *mem, size_t len_bytes)
{
    struct ct_p2p_key key = {comm->id, from, tag};
    struct ct_ep     *ep = from >= 0 ? ct_comm_ep(comm, (uint32_t)from) : NULL;
    ct_p2p_irecv(&r->p, req, ep, key, &(struct ct_area){.base = mem, .len_bytes = len_bytes});
}

static void expect_end(struct rank *r, struct ct_p2p_req *req, int error)
{
    RANK_EQUAL(r, ct_p2p_wait(&r->p, &req->base), error);
}

/* A message there and one back show that both ranks work with each other. */
static void greet(struct rank *r, uint32_t other)
{
    struct ct_p2p_req send, recv;
    uint32_t          out = r->me * 1000 + other, in = 0;
    irecv(r, &recv, world(r), (int)other, 77, &in, sizeof in);
    isend(r, &send, world(r), other, 77, &out, sizeof out);
    expect_end(r, &send, CTRAN_SUCCESS);
    expect_end(r, &recv, CTRAN_SUCCESS);
    RANK_EQUAL(r, in, other * 1000 + r->me);
}

/* What a rank's end looks like to others. */
static void play_dead(struct rank *r)
{
    struct ct_shm_segment seg = ranks_segment(r, r->me);
    atomic_store(&seg.head->state, CT_SHM_CLOSED);
}

/* A message as no rank would send it. It is taken at once. */
static uint8_t id_at(const struct rank *r, size_t at)
{
    return ((const uint8_t *)&r->p.p2p->ids)[at];
}

static void send_raw(struct rank *r, uint32_t to, uint8_t type, const void *hdr, size_t hdr_len)
{
    struct ct_ep_op op = {.id = type, .hdr_len = (uint8_t)hdr_len};
    memcpy(op.hdr, hdr, hdr_len);
    RANK_EQUAL(r, ranks_send(r, to, &op), CTRAN_SUCCESS);
}

/* ---- a peer is declared dead ----------------------------------------------------------------- */

/* Rank 0 declares rank 2 dead while all kinds of operations are under way. */
static void survivor(struct rank *r, struct ct_comm *others)
{
    static char       mem[4][LONG];
    char              byte[8] = {0};
    struct ct_p2p_req recv, any, any_tag, rndv, eager[64], other_any, from_1, again;
    irecv(r, &recv, world(r), 2, 1, &byte[0], 1);
    irecv(r, &any, world(r), CTRAN_ANY_SOURCE, 2, &byte[1], 1);
    irecv(r, &any_tag, world(r), 2, CTRAN_ANY_TAG, &byte[2], 1);
    irecv(r, &from_1, world(r), 1, 4, &byte[3], 1);
    irecv(r, &other_any, others, CTRAN_ANY_SOURCE, 3, &byte[4], 1);
    isend(r, &rndv, world(r), 2, 1, mem[0], LONG);
    for (unsigned i = 0; i < CT_ARRAY_LEN(eager); i++) { /* the last of them find no room */
        isend(r, &eager[i], world(r), 2, 1, mem[1], 1000);
    }
    RANK_CHECK(r, eager[0].base.done && !eager[63].base.done && !rndv.base.done);
    ranks_fail(r, 2, CTRAN_ERR_PROC_FAILED);
    ranks_fail(r, 2, CTRAN_ERR_INTERN); /* it cannot fail twice */
    expect_end(r, &recv, CTRAN_ERR_PROC_FAILED);
    expect_end(r, &any, CTRAN_ERR_PROC_FAILED);
    expect_end(r, &any_tag, CTRAN_ERR_PROC_FAILED);
    expect_end(r, &rndv, CTRAN_ERR_PROC_FAILED);
    expect_end(r, &eager[0], CTRAN_SUCCESS);
    expect_end(r, &eager[63], CTRAN_ERR_PROC_FAILED);
    RANK_CHECK(r, !from_1.base.done && !other_any.base.done);
    RANK_CHECK(r, ranks_drained(r));
    /* Later ones fail at once. */
    isend(r, &again, world(r), 2, 1, mem[1], 1);
    RANK_CHECK(r, again.base.done && again.base.error == CTRAN_ERR_PROC_FAILED);
    isend(r, &again, world(r), 2, 1, mem[1], LONG);
    RANK_CHECK(r, again.base.done && again.base.error == CTRAN_ERR_PROC_FAILED);
    irecv(r, &again, world(r), 2, 1, byte, 1);
    RANK_CHECK(r, again.base.done && again.base.error == CTRAN_ERR_PROC_FAILED);
    RANK_EQUAL(r, ranks_max_payload(r, 2), 0);
    greet(r, 1);
    expect_end(r, &from_1, CTRAN_SUCCESS);
    expect_end(r, &other_any, CTRAN_SUCCESS);
    RANK_EQUAL(r, byte[3] * 10 + byte[4], 56);
}

static void declared_dead(struct rank *r, void *arg)
{
    struct ct_comm *others;
    (void)arg;
    RANK_EQUAL(r, ct_comm_split(world(r), r->me == 2, 0, &others), CTRAN_SUCCESS);
    if (r->me == 0) {
        survivor(r, others);
    } else if (r->me == 1) {
        struct ct_p2p_req req;
        char              bytes[2] = {5, 6};
        greet(r, 0); /* only once rank 0 has seen to rank 2 */
        isend(r, &req, world(r), 0, 4, &bytes[0], 1);
        expect_end(r, &req, CTRAN_SUCCESS);
        isend(r, &req, others, 0, 3, &bytes[1], 1);
        expect_end(r, &req, CTRAN_SUCCESS);
    }
    if (r->me != 2) {
        RANK_EQUAL(r, ct_coll_barrier_now(others), CTRAN_SUCCESS);
    }
    ranks_sync(r);
}

static void test_declared_dead(void **state)
{
    (void)state;
    static const char *const one_copy[] = {"CTRAN_SHM_RING_SIZE", "4K", NULL};
    ranks_run(&(struct ranks_args){.n = 3, .body = declared_dead, .settings = TINY});
    ranks_run(&(struct ranks_args){.n = 3, .body = declared_dead, .settings = one_copy});
}

/* A collective with a dead neighbour ends with an error on every rank. */
static void failed_ring(struct rank *r, void *arg)
{
    uint64_t in[64] = {1}, out[64];
    (void)arg;
    RANK_EQUAL(r, ct_coll_barrier_now(world(r)), CTRAN_SUCCESS);
    ranks_sync(r);
    if (r->me != 2) {
        ranks_fail(r, 2, CTRAN_ERR_PROC_FAILED);
        for (int i = 0; i < 20; i++) {
            RANK_EQUAL(r, ranks_sum(world(r), in, out, 64), CTRAN_ERR_PROC_FAILED);
        }
    }
    ranks_sync(r);
}

static void test_failed_collective(void **state)
{
    (void)state;
    static const char *const ring[] = {"CTRAN_COLL_ALGORITHM", "allreduce:ring", "CTRAN_COLL_SHM",
                                       "0", NULL};
    ranks_run(&(struct ranks_args){.n = 3, .body = failed_ring, .settings = ring});
}

/* ---- a peer closes --------------------------------------------------------------------------- */

/* Rank 1 sends three messages and is gone; the fourth receive fails, not the first three. */
static void gone_after_three(struct rank *r, void *arg)
{
    struct ct_p2p_req reqs[4], any;
    uint32_t          mem[4] = {10, 11, 12, 13}, extra;
    (void)arg;
    greet(r, 1 - r->me);
    ranks_sync(r);
    if (r->me == 1) {
        for (int i = 0; i < 3; i++) {
            isend(r, &reqs[i], world(r), 0, i, &mem[i], sizeof mem[i]);
            expect_end(r, &reqs[i], CTRAN_SUCCESS);
        }
        play_dead(r);
    }
    ranks_sync(r);
    if (r->me == 0) {
        memset(mem, 0, sizeof mem);
        for (int i = 3; i >= 0; i--) {
            irecv(r, &reqs[i], world(r), 1, i, &mem[i], sizeof mem[i]);
        }
        irecv(r, &any, world(r), CTRAN_ANY_SOURCE, 9, &extra, sizeof extra);
        expect_end(r, &reqs[3], CTRAN_ERR_PROC_FAILED);
        expect_end(r, &any, CTRAN_ERR_PROC_FAILED);
        for (uint32_t i = 0; i < 3; i++) {
            expect_end(r, &reqs[i], CTRAN_SUCCESS);
            RANK_EQUAL(r, mem[i], 10 + i);
        }
    }
    ranks_sync(r);
}

static void test_closed(void **state)
{
    (void)state;
    ranks_run(&(struct ranks_args){.n = 2, .body = gone_after_three});
}

/* Rank 1's first and last message, and its end, come between two looks of rank 0, which already
 * sends to it: the message counts. */
static void last_word(struct rank *r, void *arg)
{
    struct ct_p2p_req req;
    uint32_t          value = 4;
    (void)arg;
    if (r->me == 0) {
        isend(r, &req, world(r), 1, 0, &value, sizeof value);
        expect_end(r, &req, CTRAN_SUCCESS);
        irecv(r, &req, world(r), 1, 0, &value, sizeof value);
        ct_domain_poke(&r->p);
    }
    ranks_sync(r);
    if (r->me == 1) {
        value = 5;
        isend(r, &req, world(r), 0, 0, &value, sizeof value);
        expect_end(r, &req, CTRAN_SUCCESS);
        play_dead(r);
    }
    ranks_sync(r);
    if (r->me == 0) {
        for (unsigned i = 0; i < r->p.ep->nnets; i++) {
            r->p.ep->nets[i]->ops->check_peers(r->p.ep->nets[i]);
        }
        expect_end(r, &req, CTRAN_SUCCESS);
        RANK_EQUAL(r, value, 5);
    }
    ranks_sync(r);
}

/* Rank 1 sends its part of a barrier and has left before rank 0 asks for it: it counts. */
static void left(struct rank *r, void *arg)
{
    struct ct_p2p_key key = {.ctx = world(r)->run.id, .src = 1, .tag = 3};
    struct ct_area    area = {.base = arg, .len_bytes = 0};
    struct ct_p2p_req req;
    greet(r, 1 - r->me);
    if (r->me == 1) {
        ct_p2p_isend(&r->p, &req, ct_comm_ep(world(r), 0), key, &area);
        expect_end(r, &req, CTRAN_SUCCESS);
        play_dead(r);
    }
    ranks_sync(r);
    if (r->me == 0) {
        irecv(r, &req, world(r), 1, 2, NULL, 0);
        expect_end(r, &req, CTRAN_ERR_PROC_FAILED);
        ct_p2p_irecv(&r->p, &req, ct_comm_ep(world(r), 1), key, &area);
        expect_end(r, &req, CTRAN_SUCCESS);
    }
    ranks_sync(r);
}

static void test_last_word(void **state)
{
    (void)state;
    ranks_run(&(struct ranks_args){.n = 2, .body = last_word});
    ranks_run(&(struct ranks_args){.n = 2, .body = left});
}

/* Rank 1 is gone before it has ever spoken to rank 0, which only waits for it. */
static void never_met(struct rank *r, void *arg)
{
    struct ct_p2p_req req;
    char              byte;
    (void)arg;
    if (r->me == 1) {
        play_dead(r);
    }
    ranks_sync(r);
    if (r->me == 0) {
        irecv(r, &req, world(r), 1, 0, &byte, 1);
        expect_end(r, &req, CTRAN_ERR_PROC_FAILED);
    }
    ranks_sync(r);
}

static void test_never_met(void **state)
{
    (void)state;
    ranks_run(&(struct ranks_args){.n = 2, .body = never_met});
}

/* Rank 1 announces a long message, sends a short one behind it with the same tag, and is gone: the
 * first receive is the long one's and fails, the second has the short one. */
static void lost_rendezvous(struct rank *r, void *arg)
{
    static char       mem[2][LONG];
    struct ct_p2p_req reqs[2];
    uint32_t          value = 6;
    (void)arg;
    greet(r, 1 - r->me);
    if (r->me == 1) {
        isend(r, &reqs[0], world(r), 0, 1, mem[1], LONG);
        isend(r, &reqs[1], world(r), 0, 1, &value, sizeof value);
        expect_end(r, &reqs[1], CTRAN_SUCCESS);
        play_dead(r);
    }
    ranks_sync(r);
    if (r->me == 0) {
        irecv(r, &reqs[0], world(r), 1, 2, mem[0], LONG);
        expect_end(r, &reqs[0], CTRAN_ERR_PROC_FAILED);
        irecv(r, &reqs[0], world(r), 1, 1, mem[0], LONG);
        expect_end(r, &reqs[0], CTRAN_ERR_PROC_FAILED);
        value = 0;
        irecv(r, &reqs[1], world(r), CTRAN_ANY_SOURCE, 1, &value, sizeof value);
        expect_end(r, &reqs[1], CTRAN_SUCCESS);
        RANK_EQUAL(r, value, 6);
    }
    ranks_sync(r);
    if (r->me == 1) {
        ct_p2p_cancel(&reqs[0], CTRAN_ERR_OTHER);
        ranks_fail(r, 0, CTRAN_ERR_PROC_FAILED);
        expect_end(r, &reqs[0], CTRAN_ERR_PROC_FAILED);
    }
}

static void test_rendezvous(void **state)
{
    (void)state;
    ranks_run(&(struct ranks_args){.n = 2, .body = lost_rendezvous});
    ranks_run(&(struct ranks_args){.n = 2, .body = lost_rendezvous, .settings = PIECES});
}

/* The launcher tells rank 0 of rank 2's death while it waits in a collective for rank 1, which
 * lives and never comes. A message from rank 1 still does. */
static void dead_member(struct rank *r, void *arg)
{
    struct ct_job_events *events = &ranks_of(r, 0)->job.events;
    uint64_t              in[8] = {1}, out[8];
    (void)arg;
    if (r->me == 0) {
        RANK_EQUAL(r, ct_job_events_init(events, r->n), CTRAN_SUCCESS);
        (void)ct_job_events_set_wake(events, r->p.ep->wake);
    }
    ranks_sync(r);
    if (r->me == 2) {
        ct_job_events_dead(events, 99); /* no such process: nothing */
        ct_job_events_dead(events, 2);
    } else if (r->me == 0) {
        for (int i = 0; i < 3; i++) {
            RANK_EQUAL(r, ranks_sum(world(r), in, out, 8), CTRAN_ERR_PROC_FAILED);
        }
        ct_domain_enter(&r->p);
        RANK_CHECK(r, ranks_ep(r, 2)->dead && !ranks_ep(r, 1)->dead);
        ct_domain_leave(&r->p);
    }
    if (r->me != 2) {
        greet(r, 1 - r->me);
    }
    ranks_sync(r);
    if (r->me == 0) {
        ct_job_events_fini(events);
        *events = (struct ct_job_events){0};
    }
}

static void test_dead_member(void **state)
{
    (void)state;
    ranks_run(&(struct ranks_args){.n = 3, .body = dead_member});
}

/* ---- nonsense -------------------------------------------------------------------------------- */

static void unknown_type(struct rank *r, void *arg)
{
    (void)arg;
    if (r->me == 1) {
        send_raw(r, 0, r->p.ep->nhandlers + 1, "abc", 3);
        send_raw(r, 0, CT_EP_MAX_HANDLERS, "", 0);
    }
    greet(r, 1 - r->me);
    if (r->me == 0) {
        const char *text = unit_logged(&r->p.log);
        RANK_EQUAL(r, unit_count(text, "a message of unknown type"), 2);
        RANK_CHECK(r, strstr(text, "unknown type 254 from rank 1 is dropped") != NULL);
    }
}

static void test_unknown_type(void **state)
{
    (void)state;
    ranks_run(&(struct ranks_args){.n = 2, .body = unknown_type});
}

/* Rank 1 sends a header that is too short for its type: rank 0 has done with rank 1, and goes on
 * with rank 2. */
static void short_header(struct rank *r, void *arg)
{
    uint8_t           type = id_at(r, *(size_t *)arg);
    struct ct_p2p_req req;
    char              byte;
    if (r->me == 1) {
        send_raw(r, 0, type, "abcde", 5);
    } else if (r->me == 0) {
        irecv(r, &req, world(r), 1, 0, &byte, 1);
        expect_end(r, &req, CTRAN_ERR_INTERN);
        greet(r, 2);
        (void)unit_logged(&r->p.log); /* it may have said so */
    } else {
        greet(r, 0);
    }
}

static void test_short_header(void **state)
{
    (void)state;
    for (size_t at = 0; at < sizeof(struct ct_p2p_ids); at++) {
        ranks_run(&(struct ranks_args){.n = 3, .body = short_header, .arg = &at});
    }
}

/* Answers about operations that do not exist change nothing; a request for one is refused. */
static void false_answers(struct rank *r, void *arg)
{
    static char              mem[2][LONG];
    const struct ct_p2p_ids *ids = &r->p.p2p->ids;
    struct ct_p2p_req        req;
    (void)arg;
    for (uint64_t id = 0; r->me == 1 && id < 5; id++) {
        send_raw(r, 0, ids->cts, &(struct ct_wire_cts){id, id, 7, 0}, sizeof(struct ct_wire_cts));
        send_raw(r, 0, ids->fin, &(struct ct_wire_fin){.sender_id = id},
                 sizeof(struct ct_wire_fin));
        send_raw(r, 0, ids->nak, &(struct ct_wire_nak){id, (int64_t)id - 2},
                 sizeof(struct ct_wire_nak));
        send_raw(r, 0, ids->data, &(struct ct_wire_data){id, 0}, sizeof(struct ct_wire_data));
    }
    greet(r, 1 - r->me);
    if (r->me == 0) {
        memset(mem[0], 3, LONG);
        isend(r, &req, world(r), 1, 0, mem[0], LONG);
    } else {
        irecv(r, &req, world(r), 0, 0, mem[1], LONG);
    }
    expect_end(r, &req, CTRAN_SUCCESS);
    RANK_EQUAL(r, mem[r->me][LONG - 1], 3);
    greet(r, 1 - r->me);
}

static void test_false_answers(void **state)
{
    (void)state;
    ranks_run(&(struct ranks_args){.n = 2, .body = false_answers, .settings = PIECES});
}

/* Rank 1 answers what it cannot have heard of: rank 0's announcement waits for room. Rank 0 must
 * not take its operation for done, and then touch it again when there is room. */
static void early_answer(struct rank *r, void *arg)
{
    enum { FILL = 40 };
    const size_t       at = *(size_t *)arg;
    struct ct_p2p_req *reqs = calloc(FILL + 1, sizeof *reqs);
    char              *mem = calloc(LONG, 1);
    RANK_CHECK(r, reqs != NULL && mem != NULL);
    if (r->me == 0) {
        for (unsigned i = 0; i < FILL; i++) {
            isend(r, &reqs[i], world(r), 1, 0, mem, 1000);
        }
        isend(r, &reqs[FILL], world(r), 1, 1, mem, LONG);
        RANK_EQUAL(r, reqs[FILL].id, 1);
        RANK_CHECK(r, !ranks_drained(r));
    }
    ranks_sync(r);
    if (r->me == 1) {
        struct ct_wire_cts cts = {1, 999, 5000, 0};
        send_raw(r, 0, id_at(r, at), &cts,
                 at == offsetof(struct ct_p2p_ids, cts) ? sizeof cts : sizeof(struct ct_wire_fin));
    }
    ranks_sync(r);
    if (r->me == 0) {
        ct_domain_poke(&r->p);
        RANK_CHECK(r, !reqs[FILL].base.done);
    }
    ranks_sync(r);
    for (unsigned i = 0; i <= FILL; i++) {
        if (r->me == 1) {
            irecv(r, &reqs[i], world(r), 0, i == FILL, mem, i == FILL ? LONG : 1000);
        }
        expect_end(r, &reqs[i], CTRAN_SUCCESS);
    }
    greet(r, 1 - r->me);
    free(reqs);
    free(mem);
}

static void test_early_answer(void **state)
{
    (void)state;
    static const size_t types[] = {offsetof(struct ct_p2p_ids, fin),
                                   offsetof(struct ct_p2p_ids, cts)};
    for (size_t i = 0; i < CT_ARRAY_LEN(types); i++) {
        ranks_run(&(struct ranks_args){
            .n = 2, .body = early_answer, .settings = TINY, .arg = (void *)&types[i]});
    }
}

/* Pieces at a wrong place, or more than was asked for, never reach memory. */
static void wrong_piece(struct rank *r, void *arg)
{
    bool              too_long = arg != NULL;
    char              mem[64];
    struct ct_p2p_req req;
    memset(mem, 1, sizeof mem);
    if (r->me == 0) {
        irecv(r, &req, world(r), 1, 0, mem, 10);
    }
    ranks_sync(r);
    if (r->me == 1) {
        struct ct_wire_rts  rts = {.key = {world(r)->id, 1, 0}, .len_bytes = 1000, .sender_id = 50};
        struct ct_area      area = {.base = mem, .len_bytes = too_long ? 30 : 5};
        struct ct_ep_op     op = {.id = r->p.p2p->ids.data,
                                  .hdr_len = sizeof(struct ct_wire_data),
                                  .area = &area,
                                  .len_bytes = area.len_bytes};
        struct ct_wire_data data = {1, too_long ? 0 : 3};
        memset(mem, 2, sizeof mem);
        memcpy(op.hdr, &data, sizeof data);
        send_raw(r, 0, r->p.p2p->ids.rts, &rts, sizeof rts);
        RANK_EQUAL(r, ranks_send(r, 0, &op), CTRAN_SUCCESS);
    } else if (r->me == 0) {
        expect_end(r, &req, CTRAN_ERR_INTERN);
        for (size_t i = 0; i < sizeof mem; i++) {
            RANK_EQUAL(r, mem[i], 1);
        }
        RANK_LOGGED(r, "rank 1 sent");
        greet(r, 2);
    } else {
        greet(r, 0);
    }
    ranks_sync(r);
    (void)unit_logged(&r->p.log); /* rank 1 was asked for a message that it does not have */
}

static void test_wrong_piece(void **state)
{
    (void)state;
    ranks_run(&(struct ranks_args){.n = 3, .body = wrong_piece, .settings = PIECES});
    ranks_run(&(struct ranks_args){.n = 3, .body = wrong_piece, .settings = PIECES, .arg = "long"});
}

/* ---- spoilt memory --------------------------------------------------------------------------- */

/* Rank 1 writes rubbish into its ring at rank 0. */
static void rubbish(struct rank *r, void *arg)
{
    struct ct_p2p_req req;
    char              byte;
    (void)arg;
    if (r->me != 2) {
        greet(r, 1 - r->me);
    }
    ranks_sync(r);
    if (r->me == 1) {
        struct ct_shm_segment seg = ranks_segment(r, 0);
        struct ct_ring_pair   pair;
        ct_shm_segment_ring_pair(&seg, 1, &pair);
        for (int k = 0; k < (pair.alone ? 1 : 2); k++) {
            for (uint64_t i = 0; i < pair.ring[k].ncells; i++) {
                atomic_store((_Atomic uint64_t *)(pair.ring[k].cells + i * CT_RING_CELL), i + 1);
            }
        }
        ct_wake_signal(&seg.head->wake);
    } else if (r->me == 0) {
        irecv(r, &req, world(r), 1, 0, &byte, 1);
        expect_end(r, &req, CTRAN_ERR_PROC_FAILED);
        RANK_LOGGED(r, "rank 1 has written rubbish to shared memory");
        greet(r, 2);
    } else {
        greet(r, 0);
    }
}

static void test_rubbish(void **state)
{
    (void)state;
    ranks_run(&(struct ranks_args){.n = 3, .body = rubbish});
}

/* Somebody who is no rank of the job joins in rank 1's place: rank 2, behind it, is still heard. */
static void stranger(struct rank *r, void *arg)
{
    (void)arg;
    if (r->me == 1) {
        struct ct_shm_segment seg = ranks_segment(r, 0);
        struct ct_ring_ctl   *ctl = ct_shm_segment_ring(&seg, 1);
        ctl->producer_id = 12345;
        atomic_fetch_or(&seg.head->joined[0], UINT64_C(1) << 1);
        atomic_fetch_add(&seg.head->joins, 1);
    }
    ranks_sync(r);
    if (r->me != 1) {
        greet(r, 2 - r->me);
    }
    if (r->me == 0) {
        RANK_LOGGED(r, "the sender at place 1 of this host says that it is rank 12345");
    }
}

static void test_stranger(void **state)
{
    (void)state;
    ranks_run(&(struct ranks_args){.n = 3, .body = stranger});
}

/* ---- records
 * ----------------------------------------------------------------------------------- */

static void spoil_digest(uint32_t id, void *record, size_t len_bytes)
{
    char *digest = memmem(record, len_bytes, ct_version_digest(), CT_DIGEST_LEN);
    assert_non_null(digest);
    if (id == 1) {
        memcpy(digest, "0123456789abcdef", CT_DIGEST_LEN);
    }
}

static void spoil_magic(uint32_t id, void *record, size_t len_bytes)
{
    memset(record, id == 1 ? 'x' : ((char *)record)[0], len_bytes > 0 ? 1 : 0);
}

/* Rank 0 finds rank 1's record wrong, and works with rank 2. */
static void bad_record(struct rank *r, void *arg)
{
    int               code = *(int *)arg;
    struct ct_p2p_req req;
    char              byte = 0;
    if (r->me == 0) {
        isend(r, &req, world(r), 1, 0, &byte, 1);
        expect_end(r, &req, code);
        irecv(r, &req, world(r), 1, 0, &byte, 1);
        expect_end(r, &req, code);
        const char *text = unit_logged(&r->p.log);
        RANK_EQUAL(r, unit_count(text, "\n"), 1); /* said once */
        if (code == CTRAN_ERR_VERSION) {
            RANK_CHECK(r, strstr(text, "build 0123456789abcdef") != NULL);
            RANK_CHECK(r, strstr(text, ct_version_digest()) != NULL);
            RANK_CHECK(r, strstr(text, "use one build for the whole job") != NULL);
        } else {
            RANK_CHECK(r, strstr(text, "rank 1 has published no address of ctran") != NULL);
        }
        greet(r, 2);
    } else if (r->me == 2) {
        greet(r, 0);
    }
}

static void test_bad_record(void **state)
{
    (void)state;
    int               version = CTRAN_ERR_VERSION, bootstrap = CTRAN_ERR_BOOTSTRAP;
    struct ranks_args digest = {
        .n = 3, .body = bad_record, .tamper = spoil_digest, .arg = &version};
    struct ranks_args magic = {
        .n = 3, .body = bad_record, .tamper = spoil_magic, .arg = &bootstrap};
    ranks_run(&digest);
    ranks_run(&magic);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_declared_dead), cmocka_unit_test(test_failed_collective),
        cmocka_unit_test(test_closed),        cmocka_unit_test(test_unknown_type),
        cmocka_unit_test(test_short_header),  cmocka_unit_test(test_false_answers),
        cmocka_unit_test(test_wrong_piece),   cmocka_unit_test(test_rubbish),
        cmocka_unit_test(test_bad_record),    cmocka_unit_test(test_early_answer),
        cmocka_unit_test(test_last_word),     cmocka_unit_test(test_stranger),
        cmocka_unit_test(test_never_met),     cmocka_unit_test(test_rendezvous),
        cmocka_unit_test(test_dead_member),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
