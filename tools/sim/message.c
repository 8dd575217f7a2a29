/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages: how a sender's meets its receive, and its way through processors and links. Both kinds
 * are matched when the sender is through with them, so in the order in which they were sent.
 */
#include "engine.h"

/* Whether a message stays in its host, where processors move it. */
static bool is_moved(const struct engine *e, uint32_t from, uint32_t to)
{
    return e->host != NULL && sim_net_distance(e->net, from, to) <= CT_DIST_NODE;
}

uint64_t sim_message_moving_ps(const struct engine *e, uint32_t from, uint32_t to, uint64_t bytes,
                               bool fresh)
{
    return is_moved(e, from, to) ? sim_host_move(e->host, from, to, bytes, fresh) : 0;
}

/* The receive that a message from `from` for a chunk belongs to; NULL: it is not posted yet. */
static struct slot *find_posted(struct engine *e, uint32_t rank, uint32_t from, uint32_t chunk,
                                struct sim_event *ev)
{
    struct slot *best = NULL;
    for (uint32_t i = 0; i < e->nstrands; i++) {
        struct strand *s = strand_at(e, rank, i);
        for (uint32_t b = s->active && s->name == chunk ? s->busy : 0; b != 0; b &= b - 1) {
            struct slot *slot = &s->slots[__builtin_ctz(b)];
            if (slot->state == RX_POSTED && slot->peer == from &&
                (best == NULL || slot->round < best->round)) {
                best = slot;
                ev->peer_strand = (uint16_t)i;
                ev->peer_slot = (uint8_t)__builtin_ctz(b);
            }
        }
    }
    return best;
}

/* The bytes go into the network: ev is of the sender, and of the receiver where that is known. */
static uint64_t send_off(struct engine *e, const struct sim_event *ev, uint64_t now)
{
    struct strand *s = strand_at(e, ev->rank, ev->strand);
    struct slot   *slot = &s->slots[ev->slot];
    uint64_t      *flight = &e->own[ev->rank].flight, arrived;
    sim_net_send(e->net, ev->rank, ev->peer, ev->bytes, now, &slot->when, &arrived);
    touch(e, arrived >= SIM_TOO_LATE ? arrived : 0);
    *flight += ev->bytes;
    if (is_moved(e, ev->rank, ev->peer)) {
        sim_host_note(e->host, ev->rank, ev->peer);
    }
    e->r->flight_bytes = ct_max_size(e->r->flight_bytes, *flight);
    e->r->level_bytes[sim_net_distance(e->net, ev->rank, ev->peer)] += ev->bytes;
    if (e->watch != NULL) {
        const struct sim_message m = {.from = ev->rank,
                                      .to = ev->peer,
                                      .chunk = s->chunk,
                                      .round = slot->round,
                                      .bytes = ev->bytes,
                                      .posted_ps = now,
                                      .left_ps = slot->when,
                                      .arrived_ps = arrived};
        e->watch->message(e->watch->arg, &m);
    }
    return arrived;
}

/* Tells the receiver's slot, when the message is there. */
static void push_land(struct engine *e, const struct sim_event *ev, uint64_t at, enum kind kind)
{
    const uint32_t to = ev->peer % e->period;
    sim_engine_push(e, at, kind,
                    (struct sim_event){.rank = to,
                                       .peer = seen_from(e, ev->rank, ev->peer, to),
                                       .strand = ev->peer_strand,
                                       .slot = ev->peer_slot,
                                       .fresh = ev->fresh,
                                       .bytes = ev->bytes});
}

/* Whom a rank heard of last is whom it waits for, as far as it knows. */
void sim_message_hear(struct engine *e, uint32_t rank, uint32_t from)
{
    if (e->cores != NULL) {
        sim_cores_received(e->cores, rank, from);
    }
}

void sim_message_go(struct engine *e, const struct sim_event *ev, uint64_t now)
{
    push_land(e, ev, send_off(e, ev, now), LAND);
}

static uint64_t word_ps(const struct engine *e, uint32_t from, uint32_t to)
{
    return sim_net_latency(e->net, sim_net_distance(e->net, from, to));
}

/* The receiver asks for a message, whose receive was posted at `posted` and which was announced, or
 * is now. Where processors move it, they see to the announcement, when both that and the receive
 * are there, and to the answer to it, too. */
static void ask_for(struct engine *e, const struct sim_event *ev, uint64_t posted,
                    uint64_t arrival_at, uint64_t now)
{
    const uint64_t word = word_ps(e, ev->rank, ev->peer), may = posted + word;
    if (is_moved(e, ev->rank, ev->peer)) {
        sim_engine_push(e, ct_max_size(arrival_at + word, posted), ASK, *ev);
    } else if (may > now) {
        sim_engine_push(e, may, GO, *ev);
    } else {
        sim_message_go(e, ev, now);
    }
}

/* An announcement, and then the answer to it, take their way through the processors. */
void sim_message_ask(struct engine *e, const struct sim_event *ev)
{
    const uint64_t word = word_ps(e, ev->rank, ev->peer);
    const uint32_t to = ev->peer % e->period;
    if (ev->kind == ASK) {
        sim_message_hear(e, to, ev->rank);
        if (sim_engine_work(e, to, ev->at, e->recv_ps + e->send_ps, ANSWER, *ev)) {
            return;
        }
    }
    if (ev->kind != CLEAR) {
        sim_engine_push(e, ev->at + word, CLEAR, *ev);
        return;
    }
    const uint64_t ps =
        e->recv_ps + sim_message_moving_ps(e, ev->rank, ev->peer, ev->bytes, ev->fresh);
    sim_message_hear(e, ev->rank, ev->peer);
    if (!sim_engine_work(e, ev->rank, ev->at, ps, GO, *ev)) {
        sim_engine_push(e, ev->at, GO, *ev);
    }
}

/* The sender's processor is through with a message. */
void sim_message_inject(struct engine *e, struct sim_event *ev, uint64_t now)
{
    const uint32_t to = ev->peer % e->period, from = seen_from(e, ev->rank, ev->peer, to);
    const uint32_t chunk = strand_at(e, ev->rank, ev->strand)->name;
    const bool     asked = ev->bytes > e->c->cluster->eager;
    struct slot   *posted = find_posted(e, to, from, chunk, ev);
    if (posted != NULL) {
        posted->state = RX_MATCHED;
        if (asked) {
            ask_for(e, ev, posted->when, now, now);
        } else {
            sim_message_go(e, ev, now);
        }
        return;
    }
    const struct sim_letter letter = {.at = asked ? now : send_off(e, ev, now),
                                      .asked = asked,
                                      .fresh = ev->fresh,
                                      .bytes = ev->bytes,
                                      .from = from,
                                      .to = to,
                                      .chunk = chunk,
                                      .strand = ev->strand,
                                      .slot = ev->slot};
    e->no_memory |= !sim_mail_put(&e->mail, &letter);
}

/* A receive is posted: what waits for it goes on. What had come already when the receiver took
 * another's message has been put aside; of one peer it takes one message after the other. */
void sim_message_post(struct engine *e, uint32_t rank, uint32_t strand, unsigned slot, uint64_t now)
{
    struct strand    *s = strand_at(e, rank, strand);
    struct slot      *mine = &s->slots[slot];
    struct sim_letter l;
    if (!sim_mail_take(&e->mail, mine->peer, rank, s->name, &l)) {
        return;
    }
    mine->state = RX_MATCHED;
    const uint32_t             from = l.from % e->period;
    const struct sim_event     ev = {.rank = from,
                                     .peer = seen_from(e, rank, l.from, from),
                                     .strand = l.strand,
                                     .slot = l.slot,
                                     .peer_strand = (uint16_t)strand,
                                     .peer_slot = (uint8_t)slot,
                                     .fresh = l.fresh,
                                     .bytes = l.bytes};
    const struct last_message *last_message = &e->own[rank].last_message;
    const bool                 is_late = l.at < last_message->at && last_message->from != l.from;
    if (l.asked) {
        ask_for(e, &ev, now, l.at, now);
    } else {
        push_land(e, &ev, l.at > now ? l.at : now, is_late ? LATE : LAND);
    }
}
