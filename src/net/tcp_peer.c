/* SPDX-License-Identifier: BSD-3-Clause */
/* A peer: what the endpoint layer hands over for it, and what its streams bring. */
#define CT_FOLDER "net"
#include <inttypes.h>
#include <stdlib.h>

#include "net/tcp.h"

/* ---- life ------------------------------------------------------------------------------------ */

struct ct_tcp_peer *ct_tcp_peer_get(struct ct_tcp *t, uint32_t id, void *cookie,
                                    const struct ct_tcp_addr *addr)
{
    struct ct_tcp_peer *peer = NULL;
    HASH_FIND(hh, t->peers, &id, sizeof id, peer);
    if (peer != NULL) {
        return peer;
    }
    peer = calloc(1, sizeof *peer + t->nlanes * sizeof *peer->streams);
    if (peer == NULL) {
        return NULL;
    }
    peer->link = (struct ct_net_link){.net = &t->net, .max_slice = CT_TCP_MAX_SLICE};
    peer->t = t;
    peer->id = id;
    peer->cookie = cookie;
    peer->addr = *addr;
    peer->near = addr->host == t->addr.host;
    peer->npairs = ct_tcp_addr_pairs(t, addr, peer->pairs, &peer->nbest);
    peer->nlanes = t->nlanes;
    ct_tcp_rma_init(peer);
    for (uint32_t i = 0; i < peer->nlanes; i++) {
        ct_tcp_stream_init(&peer->streams[i], peer, i);
    }
    HASH_ADD(hh, t->peers, id, sizeof peer->id, peer);
    return peer;
}

/* A peer that is not known yet. */
static enum ct_tcp_opening tcp_peer_look_up(struct ct_tcp *t, const struct ct_tcp_hello *hello,
                                            struct ct_tcp_peer **peer)
{
    size_t len;
    if (hello->from - t->env.first >= t->env.size && !ct_tcp_meets_others(t)) {
        return CT_TCP_REFUSE;
    }
    void *cookie = t->env.peer(t->env.arg, hello->from, hello->from_incarnation);
    if (cookie == NULL) {
        return CT_TCP_HELLO;
    }
    const void *bytes = t->env.lookup(cookie, &t->net, &len);
    if (bytes == NULL || t->net.ops->unreachable(&t->net, bytes, len) != NULL) {
        return CT_TCP_REFUSE;
    }
    struct ct_tcp_addr addr = {0};
    memcpy(&addr, bytes, len);
    *peer = ct_tcp_peer_get(t, hello->from, cookie, &addr);
    return *peer != NULL ? CT_TCP_GO : CT_TCP_HELLO;
}

enum ct_tcp_opening ct_tcp_peer_find(struct ct_tcp *t, const struct ct_tcp_hello *hello,
                                     struct ct_tcp_peer **peer)
{
    enum ct_tcp_opening found = CT_TCP_GO;
    *peer = NULL;
    HASH_FIND(hh, t->peers, &hello->from, sizeof hello->from, *peer);
    if (*peer == NULL) {
        found = t->closing ? CT_TCP_GONE : tcp_peer_look_up(t, hello, peer);
    }
    if (found != CT_TCP_GO) {
        return found;
    }
    return (*peer)->lost || (*peer)->addr.instance != hello->from_instance ? CT_TCP_REFUSE
                                                                           : CT_TCP_GO;
}

static void tcp_peer_quit(struct ct_tcp_peer *peer, int why)
{
    peer->lost = true;
    for (uint32_t i = 0; i < peer->nlanes; i++) {
        ct_tcp_stream_fini(&peer->streams[i]);
    }
    ct_tcp_rma_quit(peer, why);
}

void ct_tcp_peer_quit(struct ct_tcp_peer *peer)
{
    tcp_peer_quit(peer, CTRAN_ERR_PROC_FAILED);
}

void ct_tcp_peer_lose(struct ct_tcp_peer *peer, int why)
{
    if (!peer->lost) {
        struct ct_tcp *t = peer->t;
        tcp_peer_quit(peer, why);
        t->events++;
        if (!t->closing) {
            t->env.failed(peer->cookie, why);
        }
    }
}

/* Whether it has left and its other streams bring nothing more either. */
static bool has_parted(const struct ct_tcp_peer *peer)
{
    bool parted = peer->left && !peer->lost;
    for (uint32_t i = 0; i < peer->nlanes && parted; i++) {
        parted = peer->streams[i].bye_seen || peer->streams[i].conn == NULL;
    }
    return parted;
}

void ct_tcp_peers_part(struct ct_tcp *t)
{
    struct ct_tcp_peer *peer, *next;
    t->parting = false;
    HASH_ITER (hh, t->peers, peer, next) {
        if (has_parted(peer)) {
            ct_tcp_peer_quit(peer);
            t->events++;
            if (!t->closing) {
                t->env.left(peer->cookie);
            }
        }
    }
}

void ct_tcp_peer_free(struct ct_tcp_peer *peer)
{
    ct_tcp_peer_quit(peer);
    HASH_DEL(peer->t->peers, peer);
    free(peer);
}

/* ---- sending --------------------------------------------------------------------------------- */

int ct_tcp_peer_send(struct ct_net_link *link, const struct ct_net_slice *slice)
{
    struct ct_tcp_peer   *peer = ct_tcp_peer_of(link);
    struct ct_tcp_stream *stream = &peer->streams[0];
    size_t                size = sizeof(struct ct_tcp_head) + slice->hdr_len + slice->len_bytes;
    if (CT_UNLIKELY(peer->lost)) {
        return CTRAN_ERR_PROC_FAILED;
    }
    if (CT_UNLIKELY(peer->left)) {
        return CT_AGAIN; /* until env is told */
    }
    if (stream->out.held_bytes > 0 &&
        stream->out.held_bytes + size > (size_t)peer->t->env.cfg->tcp_buffer) {
        ct_tcp_stream_need(stream);
        return CT_AGAIN;
    }
    struct ct_tcp_frame *f = ct_tcp_out_make(&stream->out, size);
    if (f == NULL) {
        return CT_AGAIN;
    }
    *(struct ct_tcp_head *)f->bytes = (struct ct_tcp_head){.kind = CT_TCP_SLICE,
                                                           .type = slice->type,
                                                           .hdr_len = slice->hdr_len,
                                                           .len_bytes = (uint32_t)slice->len_bytes};
    unsigned char *to = f->bytes + sizeof(struct ct_tcp_head);
    memcpy(to, slice->hdr, slice->hdr_len);
    if (slice->len_bytes > 0 &&
        !ct_area_gather_all(slice->area, slice->pos, to + slice->hdr_len, slice->len_bytes)) {
        ct_tcp_out_drop(&stream->out, f);
        return CTRAN_ERR_BUFFER;
    }
    ct_tcp_stream_add(stream, f);
    if (CT_UNLIKELY(stream->conn == NULL)) {
        ct_tcp_stream_need(stream);
    }
    ct_tcp_stream_push(stream);
    return CTRAN_SUCCESS;
}

/* ---- receiving ------------------------------------------------------------------------------- */

static struct ct_tcp_peer *tcp_peer_of(void *stream)
{
    return ((struct ct_tcp_stream *)stream)->peer;
}

static void on_slice(void *stream, uint8_t type, const void *hdr, size_t hdr_len, const void *data,
                     size_t len_bytes)
{
    struct ct_tcp_peer *peer = tcp_peer_of(stream);
    struct ct_tcp      *t = peer->t;
    t->events++;
    if (!t->closing && !peer->lost) {
        t->env.deliver(peer->cookie, type, hdr, hdr_len, data, len_bytes);
    }
}

static bool on_ack(void *stream_, uint64_t position)
{
    struct ct_tcp_stream *stream = stream_;
    return ct_tcp_out_ack(&stream->out, position, &stream->peer->t->done);
}

static void on_bye(void *stream_)
{
    struct ct_tcp_stream *stream = stream_;
    stream->bye_seen = true;
    stream->peer->left = stream->peer->left || stream->index == 0; /* there all slices have come */
    stream->peer->t->parting = true;
    stream->peer->t->events++;
}

const struct ct_tcp_sink ct_tcp_peer_sink = {
    .slice = on_slice,
    .place = ct_tcp_rma_place,
    .placed = ct_tcp_rma_placed,
    .done = ct_tcp_rma_done,
    .ack = on_ack,
    .bye = on_bye,
};
