/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffered sends: a message and its request lie together in a buffer until the transfer is done. A
 * buffer is the user's memory, in which entries are listed by address, and a new one takes the
 * first gap that is wide enough, so that the list is all that there is to keep; an entry costs at
 * most CTRAN_BSEND_OVERHEAD beyond its message. Or it is automatic: each entry has memory of its
 * own.
 *
 * Each owner has one buffer at most. An entry has a number, so that a flush waits for those that
 * are there when it begins and no others. A buffer that is found outside the domain may be gone: a
 * thread that waits looks for it again.
 *
 * Called by src/api/buffer.c, buffered.c and persistent.c.
 */
#include <stdlib.h>

#include "p2p/state.h"

enum { ALIGN = _Alignof(max_align_t) };

struct ct_p2p_buffer {
    uint64_t       owner;
    void          *base; /* CTRAN_BUFFER_AUTOMATIC: entries are from the heap */
    size_t         size_bytes;
    struct ct_list entries; /* messages in it, by address */
    size_t         n;       /* how many there are, */
    uint64_t       entered; /* and have been */
    struct ct_list flushes;
    UT_hash_handle hh;
};

struct entry {
    struct ct_list        node;
    struct ct_p2p_req     req;
    struct ct_p2p_buffer *buffer;
    uint64_t              number;
    size_t                len_bytes; /* of the entry, a multiple of ALIGN */
    _Alignas(ALIGN) char data[];
};

/* The entry's own rounding, and that of the buffer's start. */
_Static_assert(sizeof(struct entry) + 2 * ALIGN <= CTRAN_BSEND_OVERHEAD, "overhead is too small");

/* A wait for the entries with numbers below `below`, `left` of which are still there. */
struct flush {
    struct ct_request base;
    struct ct_list    node;
    uint64_t          below;
    size_t            left;
};

static uintptr_t align_up(uintptr_t x)
{
    return (x + ALIGN - 1) / ALIGN * ALIGN;
}

static struct ct_p2p_buffer *find(struct ct_process *p, uint64_t owner) CT_IN_DOMAIN
{
    struct ct_p2p_buffer *b = NULL;
    HASH_FIND(hh, p->p2p->buffers, &owner, sizeof owner, b);
    return b;
}

static bool is_automatic(const struct ct_p2p_buffer *b)
{
    return b->base == CTRAN_BUFFER_AUTOMATIC;
}

/* ---- attaching and detaching ----------------------------------------------------------------- */

int ct_p2p_buffer_attach(struct ct_process *p, uint64_t owner, void *base, size_t size_bytes)
{
    struct ct_p2p_buffer *b = malloc(sizeof *b);
    if (b == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    *b = (struct ct_p2p_buffer){.owner = owner, .base = base, .size_bytes = size_bytes};
    ct_list_init(&b->entries);
    ct_list_init(&b->flushes);
    ct_domain_enter(p);
    const bool free_place = find(p, owner) == NULL;
    if (free_place) {
        HASH_ADD(hh, p->p2p->buffers, owner, sizeof b->owner, b);
    }
    ct_domain_leave(p);
    if (!free_place) {
        free(b);
    }
    return free_place ? CTRAN_SUCCESS : CTRAN_ERR_BUFFER;
}

int ct_p2p_buffer_detach(struct ct_process *p, uint64_t owner, void **base, size_t *size_bytes)
{
    struct ct_p2p_buffer *b;
    struct ct_p2p_watcher w;
    ct_domain_enter(p);
    ct_p2p_watch(p, &w);
    while ((b = find(p, owner)) != NULL && b->n > 0) {
        ct_p2p_watch_wait(p, &w);
    }
    ct_p2p_unwatch(&w);
    if (b != NULL) {
        *base = b->base;
        *size_bytes = b->size_bytes;
        HASH_DEL(p->p2p->buffers, b);
    }
    ct_domain_leave(p);
    free(b);
    return b != NULL ? CTRAN_SUCCESS : CTRAN_ERR_BUFFER;
}

/* No other thread is here, and nothing is sent from them any more. */
void ct_p2p_buffers_forget(struct ct_process *p) CT_UNCHECKED
{
    struct ct_p2p_buffer *b, *next;
    HASH_ITER (hh, p->p2p->buffers, b, next) {
        HASH_DEL(p->p2p->buffers, b);
        free(b);
    }
}

/* ---- flushing -------------------------------------------------------------------------------- */

static int start_flush(struct ct_process *p, uint64_t owner, struct flush *f)
{
    *f = (struct flush){.base = {.source = CTRAN_ANY_SOURCE, .tag = CTRAN_ANY_TAG}};
    ct_domain_enter(p);
    struct ct_p2p_buffer *b = find(p, owner);
    if (b != NULL && b->n > 0) {
        f->below = b->entered;
        f->left = b->n;
        ct_list_append(&b->flushes, &f->node);
    } else {
        ct_request_set_done(&f->base, true);
    }
    ct_domain_leave(p);
    return b != NULL ? CTRAN_SUCCESS : CTRAN_ERR_BUFFER;
}

int ct_p2p_buffer_flush(struct ct_process *p, uint64_t owner)
{
    struct flush f;
    int          rc = start_flush(p, owner, &f);
    return rc == CTRAN_SUCCESS ? ct_p2p_wait(p, &f.base) : rc;
}

static void flush_release(struct ct_process *p, struct ct_request *base)
{
    (void)p;
    base->magic = 0;
    free(CT_CONTAINER_OF(base, struct flush, base));
}

int ct_p2p_buffer_iflush(struct ct_process *p, uint64_t owner, struct ct_request **out)
{
    struct flush *f = malloc(sizeof *f);
    if (f == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    int rc = start_flush(p, owner, f);
    if (rc != CTRAN_SUCCESS) {
        free(f);
        return rc;
    }
    f->base.magic = CT_REQUEST_MAGIC;
    f->base.release = flush_release;
    *out = &f->base;
    return CTRAN_SUCCESS;
}

/* An entry has gone. */
static void tell_flushes(struct ct_process *p, struct ct_p2p_buffer *b,
                         uint64_t number) CT_IN_DOMAIN
{
    CT_LIST_FOR (node, &b->flushes) {
        struct flush *f = CT_LIST_ENTRY(node, struct flush, node);
        if (number < f->below && --f->left == 0) {
            ct_list_remove(&f->node);
            ct_request_complete(p, &f->base);
        }
    }
}

/* ---- entries --------------------------------------------------------------------------------- */

/* The place before which an entry of `need` bytes fits into the user's memory, at *at; NULL: there
 * is none. */
static struct ct_list *gap(struct ct_p2p_buffer *b, size_t need, uintptr_t *at) CT_IN_DOMAIN
{
    const uintptr_t end = (uintptr_t)b->base + b->size_bytes;
    *at = align_up((uintptr_t)b->base);
    CT_LIST_FOR (node, &b->entries) {
        struct entry *e = CT_LIST_ENTRY(node, struct entry, node);
        if ((uintptr_t)e - *at >= need) {
            return node;
        }
        *at = (uintptr_t)e + e->len_bytes;
    }
    return *at <= end && end - *at >= need ? &b->entries : NULL;
}

/* Links an entry for a message of len_bytes; NULL: there is no room. */
static struct entry *place(struct ct_p2p_buffer *b, size_t len_bytes) CT_IN_DOMAIN
{
    uintptr_t       at;
    struct ct_list *next = &b->entries;
    if (len_bytes > (is_automatic(b) ? SIZE_MAX / 2 : b->size_bytes)) {
        return NULL;
    }
    const size_t need = align_up(sizeof(struct entry) + len_bytes);
    if (is_automatic(b)) {
        at = (uintptr_t)malloc(need);
    } else if ((next = gap(b, need, &at)) == NULL) {
        return NULL;
    }
    struct entry *e = (struct entry *)at;
    if (e != NULL) {
        e->buffer = b;
        e->number = b->entered++;
        e->len_bytes = need;
        b->n++;
        ct_list_append(next, &e->node); /* before `next` */
    }
    return e;
}

/* Inside the domain: as the release of an orphan, or where the send was over at once. */
static void release(struct ct_process *p, struct ct_request *base) CT_IN_DOMAIN
{
    struct ct_p2p_req *req = CT_CONTAINER_OF(base, struct ct_p2p_req, base);
    struct entry      *e = CT_CONTAINER_OF(req, struct entry, req);
    ct_list_remove(&e->node);
    e->buffer->n--;
    tell_flushes(p, e->buffer, e->number);
    ct_p2p_tell_watchers(p);
    if (is_automatic(e->buffer)) {
        free(e);
    }
}

/* An entry for the message; NULL: there is no room. */
static struct entry *enter(struct ct_process *p, struct ct_p2p_buffer *b,
                           const struct ct_area *area) CT_IN_DOMAIN
{
    struct entry *e = place(b, area->len_bytes);
    if (e == NULL) {
        (void)ct_ep_progress(p); /* what has been received makes room */
        e = place(b, area->len_bytes);
    }
    return e;
}

/* ---- sending --------------------------------------------------------------------------------- */

int ct_p2p_bsend(struct ct_process *p, const uint64_t owners[CT_BUFFER_OWNERS], struct ct_ep *to,
                 struct ct_p2p_key key, const struct ct_area *area)
{
    struct ct_p2p_buffer *b = NULL;
    struct entry         *e = NULL;
    ct_domain_enter(p);
    for (int i = 0; i < CT_BUFFER_OWNERS && b == NULL; i++) {
        b = find(p, owners[i]);
    }
    if (b != NULL && (e = enter(p, b, area)) != NULL &&
        !ct_area_gather_all(area, &(size_t){0}, e->data, area->len_bytes)) {
        release(p, &e->req.base);
        ct_domain_leave(p);
        return CTRAN_ERR_OTHER;
    }
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
    const bool no_memory = e == NULL && b != NULL && is_automatic(b);
    ct_domain_leave(p);
    return e != NULL ? CTRAN_SUCCESS : no_memory ? CTRAN_ERR_NO_MEM : CTRAN_ERR_BUFFER;
}
