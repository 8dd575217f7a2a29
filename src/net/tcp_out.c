/* SPDX-License-Identifier: BSD-3-Clause */
/* The stream of tcp_out.h. */
#include "net/tcp_out.h"

static struct ct_tcp_frame *frame_of(const struct ct_list *node)
{
    return CT_LIST_ENTRY(node, struct ct_tcp_frame, node);
}

static uint64_t tcp_out_end_of(const struct ct_tcp_frame *f)
{
    return f->begin + f->size + f->put_bytes;
}

void ct_tcp_out_init(struct ct_tcp_out *out, struct ct_tcp_pool *pool)
{
    *out = (struct ct_tcp_out){.pool = pool};
    ct_list_init(&out->frames);
    out->next = &out->frames;
}

static void frame_free(struct ct_tcp_out *out, struct ct_tcp_frame *f)
{
    ct_list_remove(&f->node);
    out->held_bytes -= sizeof *f + f->size;
    ct_tcp_pool_put(out->pool, f, sizeof *f + f->size);
}

void ct_tcp_out_fini(struct ct_tcp_out *out)
{
    while (!ct_list_empty(&out->frames)) {
        frame_free(out, frame_of(out->frames.next));
    }
    out->next = &out->frames;
}

struct ct_tcp_frame *ct_tcp_out_make(struct ct_tcp_out *out, size_t size)
{
    struct ct_tcp_frame *f = ct_tcp_pool_get(out->pool, sizeof *f + size);
    if (f != NULL) {
        f->put = NULL;
        f->put_bytes = 0;
        f->size = (uint32_t)size;
    }
    return f;
}

void ct_tcp_out_drop(struct ct_tcp_out *out, struct ct_tcp_frame *f)
{
    ct_tcp_pool_put(out->pool, f, sizeof *f + f->size);
}

void ct_tcp_out_add(struct ct_tcp_out *out, struct ct_tcp_frame *f)
{
    struct ct_tcp_head *head = (struct ct_tcp_head *)f->bytes;
    head->magic = CT_TCP_FRAME_MAGIC;
    head->version = CT_TCP_VERSION;
    head->number = out->number++;
    f->begin = out->end;
    out->end = tcp_out_end_of(f);
    out->needed = head->kind == CT_TCP_ACK ? out->needed : out->end;
    out->held_bytes += sizeof *f + f->size;
    ct_list_append(&out->frames, &f->node);
    if (out->next == &out->frames) {
        out->next = &f->node;
    }
}

unsigned ct_tcp_out_next(const struct ct_tcp_out *out, struct iovec *iov, unsigned n,
                         size_t most_bytes, size_t *bytes)
{
    unsigned count = 0;
    uint64_t at = out->sent;
    *bytes = 0;
    for (const struct ct_list *node = out->next; node != &out->frames && count < n;
         node = node->next) {
        const struct ct_tcp_frame *f = frame_of(node);
        size_t                     off = at - f->begin;
        if (off < f->size) {
            size_t len = ct_min_size(f->size - off, most_bytes - *bytes);
            iov[count++] = (struct iovec){(void *)(f->bytes + off), len};
            *bytes += len;
            off += len;
        }
        size_t left = f->put_bytes - (off < f->size ? 0 : off - f->size);
        if (f->put != NULL && left > 0 && count < n && *bytes < most_bytes) {
            size_t   pos = f->put_pos + f->put_bytes - left;
            unsigned more;
            size_t   len = ct_min_size(left, most_bytes - *bytes);
            len = ct_area_next(f->put->op->area, &pos, len, iov + count, n - count, &more);
            count += more;
            *bytes += len;
            if (len < left) {
                break;
            }
        }
        at = tcp_out_end_of(f);
        if (*bytes == most_bytes) {
            break;
        }
    }
    return count;
}

void ct_tcp_out_wrote(struct ct_tcp_out *out, size_t bytes)
{
    out->sent += bytes;
    while (out->next != &out->frames && tcp_out_end_of(frame_of(out->next)) <= out->sent) {
        out->next = out->next->next;
    }
}

static void put_acked(struct ct_tcp_put *put, size_t bytes, struct ct_list *done)
{
    put->acked_bytes += bytes;
    if (put->acked_bytes == put->op->len_bytes) {
        ct_list_remove(&put->node);
        ct_list_append(done, &put->node);
    }
}

bool ct_tcp_out_ack(struct ct_tcp_out *out, uint64_t position, struct ct_list *done)
{
    if (position < out->acked || position > out->sent) {
        return position <= out->acked; /* an old one, overtaken: it says nothing new */
    }
    out->acked = position;
    while (!ct_list_empty(&out->frames)) {
        struct ct_tcp_frame *f = frame_of(out->frames.next);
        if (tcp_out_end_of(f) > position) {
            break;
        }
        if (f->put != NULL) {
            put_acked(f->put, f->put_bytes, done);
        }
        frame_free(out, f);
    }
    return true;
}

bool ct_tcp_out_resume(struct ct_tcp_out *out, uint64_t position, struct ct_list *done)
{
    if (position < out->acked || !ct_tcp_out_ack(out, position, done)) {
        return false;
    }
    out->sent = position;
    out->next = out->frames.next;
    return true;
}
