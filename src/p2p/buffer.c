/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffered sends: a message and its request lie together in the user's buffer until the transfer is
 * done. Entries are listed by address, and a new one takes the first gap that is wide enough, so
 * the list is all that there is to keep. An entry costs at most CTRAN_BSEND_OVERHEAD beyond its
 * message. Called by src/api/buffered.c.
 */
#include "p2p/state.h"

enum { ALIGN = _Alignof(max_align_t) };

struct entry {
    struct ct_list    node;
    struct ct_p2p_req req;
    size_t            len_bytes; /* of the entry, a multiple of ALIGN */
    _Alignas(ALIGN) char data[];
};

/* The entry's own rounding, and that of the buffer's start. */
_Static_assert(sizeof(struct entry) + 2 * ALIGN <= CTRAN_BSEND_OVERHEAD, "overhead is too small");

static uintptr_t align_up(uintptr_t x)
{
    return (x + ALIGN - 1) / ALIGN * ALIGN;
}

int ct_p2p_buffer_attach(struct ct_process *p, void *base, size_t size_bytes)
{
    struct ct_p2p_buffer *b = &p->p2p->buffer;
    ct_domain_enter(p);
    const bool free = base != NULL && b->base == NULL;
    if (free) {
        b->base = base;
        b->size_bytes = size_bytes;
    }
    ct_domain_leave(p);
    return free ? CTRAN_SUCCESS : CTRAN_ERR_BUFFER;
}

int ct_p2p_buffer_detach(struct ct_process *p, void **base, size_t *size_bytes)
{
    struct ct_p2p_buffer *b = &p->p2p->buffer;
    struct ct_p2p_watcher w;
    ct_domain_enter(p);
    ct_p2p_watch(p, &w);
    while (b->base != NULL && !ct_list_empty(&b->entries)) {
        ct_p2p_watch_wait(p, &w);
    }
    ct_p2p_unwatch(&w);
    *base = b->base;
    *size_bytes = b->size_bytes;
    b->base = NULL;
    ct_domain_leave(p);
    return *base != NULL ? CTRAN_SUCCESS : CTRAN_ERR_BUFFER;
}

/* Links an entry for a message of len_bytes into the first gap; NULL: none is wide enough. */
static struct entry *place(struct ct_p2p_buffer *b, size_t len_bytes) CT_IN_DOMAIN
{
    uintptr_t end = (uintptr_t)b->base + b->size_bytes, at = align_up((uintptr_t)b->base);
    if (b->base == NULL || len_bytes > b->size_bytes) {
        return NULL;
    }
    size_t          need = align_up(sizeof(struct entry) + len_bytes);
    struct ct_list *next = b->entries.next;
    for (; next != &b->entries; next = next->next) {
        struct entry *e = CT_LIST_ENTRY(next, struct entry, node);
        if ((uintptr_t)e - at >= need) {
            break;
        }
        at = (uintptr_t)e + e->len_bytes;
    }
    if (next == &b->entries && (at > end || end - at < need)) {
        return NULL;
    }
    struct entry *e = (struct entry *)at;
    e->len_bytes = need;
    ct_list_append(next, &e->node); /* before `next` */
    return e;
}

/* Inside the domain: as the release of an orphan, or where the send was over at once. */
static void release(struct ct_process *p, struct ct_request *base) CT_IN_DOMAIN
{
    struct ct_p2p_req *req = CT_CONTAINER_OF(base, struct ct_p2p_req, base);
    ct_list_remove(&CT_CONTAINER_OF(req, struct entry, req)->node);
    ct_p2p_tell_watchers(p);
}

/* An entry with a copy of the message; NULL: there is no room. */
static struct entry *enter(struct ct_process *p, const struct ct_area *area) CT_IN_DOMAIN
{
    struct entry *e = place(&p->p2p->buffer, area->len_bytes);
    if (e == NULL) {
        (void)ct_ep_progress(p); /* what has been received makes room */
        e = place(&p->p2p->buffer, area->len_bytes);
    }
    if (e != NULL) {
        size_t pos = 0;
        (void)ct_area_gather(area, &pos, e->data, area->len_bytes);
    }
    return e;
}

int ct_p2p_bsend(struct ct_process *p, struct ct_ep *to, struct ct_p2p_key key,
                 const struct ct_area *area)
{
    ct_domain_enter(p);
    struct entry *e = enter(p, area);
    if (e != NULL) {
        struct ct_area copy = {.base = e->data, .len_bytes = area->len_bytes};
        ct_p2p_prepare(p, &e->req, false, to, key, &copy);
        e->req.base.release = release;
        ct_p2p_start_send(&e->req);
        if (ct_request_is_done(&e->req.base)) {
            release(p, &e->req.base);
        } else {
            e->req.base.orphan = true;
        }
    }
    ct_domain_leave(p);
    return e != NULL ? CTRAN_SUCCESS : CTRAN_ERR_BUFFER;
}
