/* SPDX-License-Identifier: BSD-3-Clause */
/* The stream of tcp_in.h. */
#include "net/tcp_in.h"

/* While a put arrives, no more than this is read behind it: what follows is most often another part
 * of it, whose bytes shall not come through the spare memory. */
enum { BEHIND_A_PUT = 4096 };

void ct_tcp_in_init(struct ct_tcp_in *in, struct ct_tcp_pool *pool, const struct ct_tcp_sink *sink,
                    void *arg)
{
    *in = (struct ct_tcp_in){.pool = pool, .sink = sink, .arg = arg};
}

static void drop_large(struct ct_tcp_in *in)
{
    if (in->large != NULL) {
        ct_tcp_pool_put(in->pool, in->large, in->need);
        in->large = NULL;
    }
}

void ct_tcp_in_fini(struct ct_tcp_in *in)
{
    drop_large(in);
}

static bool tcp_in_spoil(struct ct_tcp_in *in, const char *why)
{
    in->why = why;
    return false;
}

/* ---- heads ----------------------------------------------------------------------------------- */

/* What is wrong with a head, NULL: nothing. */
static const char *tcp_in_wrong(const struct ct_tcp_in *in, const struct ct_tcp_head *h)
{
    if (h->magic != CT_TCP_FRAME_MAGIC || h->version != CT_TCP_VERSION) {
        return "no frame where one should begin";
    }
    if (h->number != in->number) {
        return "a frame out of order";
    }
    switch (h->kind) {
    case CT_TCP_SLICE:
        return h->type == 0 || h->hdr_len > CT_NET_MAX_HDR || h->len_bytes > CT_TCP_MAX_SLICE
                   ? "a slice that is too long"
                   : NULL;
    case CT_TCP_PUT:
        return h->hdr_len != sizeof(struct ct_tcp_target) || h->len_bytes > CT_TCP_MAX_PUT
                   ? "a put of a wrong length"
                   : NULL;
    case CT_TCP_DONE:
        return h->hdr_len != sizeof(struct ct_tcp_outcome) || h->len_bytes != 0
                   ? "an outcome of a wrong length"
                   : NULL;
    case CT_TCP_ACK:
    case CT_TCP_BYE:
        return h->hdr_len != 0 || h->len_bytes != 0 ? "a head with something behind it" : NULL;
    default:
        return "a frame of unknown kind";
    }
}

/* Bytes of the frame that are to be here before it is handled: all but the payload of a put. */
static size_t size_of(const struct ct_tcp_head *h)
{
    return sizeof *h + h->hdr_len + (h->kind == CT_TCP_SLICE ? h->len_bytes : 0);
}

/* ---- frames ---------------------------------------------------------------------------------- */

static void put_over(struct ct_tcp_in *in)
{
    const bool landed = in->area != NULL;
    in->ack_now = in->ack_now || in->ack_after;
    in->area = NULL;
    in->sink->placed(in->arg, &in->to, in->whole, landed);
}

static void begin_put(struct ct_tcp_in *in, const struct ct_tcp_head *h, const void *hdr)
{
    memcpy(&in->to, hdr, sizeof in->to);
    in->at = in->to.offset;
    in->left = in->whole = h->len_bytes;
    in->ack_after = (h->flags & CT_TCP_ACK_NOW) != 0;
    in->area = in->sink->place(in->arg, &in->to, h->len_bytes);
    if (in->left == 0) {
        put_over(in);
    }
}

void ct_tcp_in_withdraw(struct ct_tcp_in *in, uint64_t key)
{
    if (in->left > 0 && in->to.key == key) {
        in->area = NULL;
    }
}

static void take_outcome(struct ct_tcp_in *in, const void *hdr)
{
    struct ct_tcp_outcome outcome;
    memcpy(&outcome, hdr, sizeof outcome);
    in->sink->done(in->arg, &outcome);
}

/* A frame, of which all is here that size_of says. */
static bool tcp_in_take(struct ct_tcp_in *in, const struct ct_tcp_head *h,
                        const unsigned char *bytes)
{
    const unsigned char *hdr = bytes + sizeof *h;
    in->number++;
    if (!in->sink->ack(in->arg, h->ack)) {
        return tcp_in_spoil(in, "an acknowledgement of what was never sent");
    }
    switch (h->kind) {
    case CT_TCP_SLICE:
        in->owing_bytes += sizeof *h + h->hdr_len + h->len_bytes;
        in->sink->slice(in->arg, h->type, hdr, h->hdr_len, hdr + h->hdr_len, h->len_bytes);
        break;
    case CT_TCP_PUT:
        begin_put(in, h, hdr);
        break;
    case CT_TCP_DONE:
        in->owing_bytes += sizeof *h + h->hdr_len;
        take_outcome(in, hdr);
        break;
    case CT_TCP_BYE:
        in->ack_now = true;
        in->sink->bye(in->arg);
        break;
    default:
        break;
    }
    return true;
}

/* ---- portions -------------------------------------------------------------------------------- */

static size_t feed_put(struct ct_tcp_in *in, const unsigned char *p, size_t n)
{
    size_t len = ct_min_size(n, in->left);
    if (in->area != NULL) {
        (void)ct_area_scatter(in->area, &in->at, p, len);
    }
    in->left -= len;
    if (in->left == 0) {
        put_over(in);
    }
    return len;
}

static unsigned char *tcp_in_part(struct ct_tcp_in *in)
{
    return in->large != NULL ? in->large : in->small;
}

/* `have` has reached `need`: the head is here, or all. */
static bool part_full(struct ct_tcp_in *in)
{
    struct ct_tcp_head h;
    memcpy(&h, tcp_in_part(in), sizeof h);
    if (in->need == sizeof h) {
        const char *why = tcp_in_wrong(in, &h);
        if (why != NULL) {
            return tcp_in_spoil(in, why);
        }
        in->need = size_of(&h);
        if (in->need > sizeof in->small) {
            in->large = ct_tcp_pool_get(in->pool, in->need);
            if (in->large == NULL) {
                return tcp_in_spoil(in, "more than there is memory for");
            }
            memcpy(in->large, in->small, sizeof h);
        }
    }
    if (in->have < in->need) {
        return true;
    }
    bool ok = tcp_in_take(in, &h, tcp_in_part(in));
    drop_large(in);
    in->have = in->need = 0;
    return ok;
}

/* Takes one frame, or a part of one. Sets *took; false: the stream has ended. */
static bool feed_frame(struct ct_tcp_in *in, const unsigned char *p, size_t n, size_t *took)
{
    if (in->have == 0 && n >= sizeof(struct ct_tcp_head)) {
        struct ct_tcp_head h;
        memcpy(&h, p, sizeof h);
        const char *why = tcp_in_wrong(in, &h);
        if (why != NULL) {
            return tcp_in_spoil(in, why);
        }
        if (size_of(&h) <= n) {
            *took = size_of(&h);
            return tcp_in_take(in, &h, p);
        }
    }
    if (in->have == 0) {
        in->need = sizeof(struct ct_tcp_head);
    }
    *took = ct_min_size(n, in->need - in->have);
    memcpy(tcp_in_part(in) + in->have, p, *took);
    in->have += *took;
    return in->have < in->need || part_full(in);
}

static bool tcp_in_feed(struct ct_tcp_in *in, const unsigned char *p, size_t n)
{
    while (n > 0) {
        size_t took;
        if (in->left > 0) {
            took = feed_put(in, p, n);
        } else if (!feed_frame(in, p, n, &took)) {
            return false;
        }
        p += took;
        n -= took;
    }
    return true;
}

bool ct_tcp_in_feed(struct ct_tcp_in *in, const void *bytes, size_t len)
{
    in->received += len; /* first: what frames bring about may tell the peer */
    return tcp_in_feed(in, bytes, len);
}

unsigned ct_tcp_in_want(const struct ct_tcp_in *in, struct iovec *iov, unsigned n, void *spare,
                        size_t spare_bytes, size_t *own)
{
    unsigned count = 0;
    *own = 0;
    if (in->left > 0 && in->area != NULL) {
        size_t at = in->at;
        *own = ct_area_next(in->area, &at, in->left, iov, n - 1, &count);
        spare_bytes = *own < in->left ? 0 : ct_min_size(spare_bytes, BEHIND_A_PUT);
    } else if (in->left == 0 && in->have >= sizeof(struct ct_tcp_head)) {
        *own = in->need - in->have;
        iov[count++] = (struct iovec){
            (in->large != NULL ? in->large : (unsigned char *)in->small) + in->have, *own};
    }
    if (spare_bytes > 0) {
        iov[count++] = (struct iovec){spare, spare_bytes};
    }
    return count;
}

bool ct_tcp_in_came(struct ct_tcp_in *in, size_t bytes, size_t own, const void *spare)
{
    size_t mine = ct_min_size(bytes, own);
    in->received += bytes;
    if (mine > 0 && in->left > 0) {
        in->at += mine;
        in->left -= mine;
        if (in->left == 0) {
            put_over(in);
        }
    } else if (mine > 0) {
        in->have += mine;
        if (in->have == in->need && !part_full(in)) {
            return false;
        }
    }
    return tcp_in_feed(in, spare, bytes - mine);
}
