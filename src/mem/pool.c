/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pool behind ctran_mem_alloc: device memory that is registered and exported by whole segments,
 * so that a peer maps one and then reaches all that is cut from it. Segments have 32 MiB, or the
 * size of a request that is larger than half of that; one that is empty is kept.
 *
 * Invariant: a segment's blocks are in the order of their addresses, without gaps, and no two free
 * ones are neighbours.
 */
#define CT_FOLDER "mem"
#include <stdlib.h>

#include "mem/own.h"

enum { SEGMENT = 32 << 20, PAGE = 2 << 20, GRAIN = 512 };

struct block {
    struct ct_list link;
    size_t         at, len;
    bool           used;
};

struct segment {
    struct ct_list link;
    CUdeviceptr    base;
    size_t         len;
    uint64_t       buffer_id;
    struct ct_list blocks;
};

/* ---- segments -------------------------------------------------------------------------------- */

/* Registers a segment for as long as it lives. Its export may not be possible: then it is not. */
static void keep(struct ct_process *p, struct segment *s)
{
    pthread_mutex_lock(&p->mem->regs.lock);
    struct ct_mem_reg *reg = ct_mem_reg_find(p, (const void *)(uintptr_t)s->base);
    if (reg != NULL) {
        s->buffer_id = reg->place.buffer_id;
        ct_mem_reg_hold(p, reg);
        (void)ct_mem_export_make(p, reg); /* whoever needs it asks again, and is told */
    }
    pthread_mutex_unlock(&p->mem->regs.lock);
}

static int segment_take(struct ct_process *p, struct segment *s)
{
    struct ct_gpu_visit v;
    int                 rc = ct_mem_enter_mine(p, &v);
    if (rc == CTRAN_SUCCESS) {
        rc = CT_GPU_TRY(p->gpu, "allocating GPU memory", cuMemAlloc, (&s->base, s->len));
        ct_gpu_leave(p->gpu, &v);
    }
    return rc;
}

static int segment_make(struct ct_process *p, size_t len, struct segment **out)
{
    struct ct_mem_pool *m = &p->mem->pool;
    struct segment     *s = calloc(1, sizeof *s);
    struct block       *all = calloc(1, sizeof *all);
    int                 rc = CTRAN_ERR_NO_MEM;
    if (s == NULL || all == NULL) {
        ct_error(&p->log, "no memory for the record of a segment");
        goto err;
    }
    s->len = len > SEGMENT / 2 ? ct_round_up(len, PAGE) : (size_t)SEGMENT;
    rc = segment_take(p, s);
    if (rc != CTRAN_SUCCESS) {
        goto err;
    }
    keep(p, s);
    ct_list_init(&s->blocks);
    all->len = s->len;
    ct_list_append(&s->blocks, &all->link);
    ct_list_append(&m->segments, &s->link);
    m->bytes += s->len;
    *out = s;
    return CTRAN_SUCCESS;
err:
    free(all);
    free(s);
    return rc;
}

static void segment_free(struct ct_process *p, struct segment *s)
{
    struct ct_gpu_visit v;
    pthread_mutex_lock(&p->mem->regs.lock);
    ct_mem_reg_release(p, s->base, s->buffer_id);
    pthread_mutex_unlock(&p->mem->regs.lock);
    if (ct_mem_enter_mine(p, &v) == CTRAN_SUCCESS) {
        (void)CT_GPU_TRY(p->gpu, "freeing GPU memory", cuMemFree, (s->base));
        ct_gpu_leave(p->gpu, &v);
    }
    ct_mem_freed(p, (const void *)(uintptr_t)s->base);
    CT_LIST_FOR (node, &s->blocks) {
        free(CT_LIST_ENTRY(node, struct block, link));
    }
    ct_list_remove(&s->link);
    p->mem->pool.bytes -= s->len;
    free(s);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void insert_behind(struct ct_list *node, struct ct_list *new)
{
    new->prev = node;
    new->next = node->next;
    node->next->prev = new;
    node->next = new;
}

/* The first free block that is long enough, cut to len; NULL: there is none, or no memory. */
static struct block *cut(struct segment *s, size_t len)
{
    CT_LIST_FOR (node, &s->blocks) {
        struct block *b = CT_LIST_ENTRY(node, struct block, link);
        if (b->used || b->len < len) {
            continue;
        }
        struct block *rest = b->len > len ? calloc(1, sizeof *rest) : NULL;
        if (rest != NULL) {
            *rest = (struct block){.at = b->at + len, .len = b->len - len};
            insert_behind(&b->link, &rest->link);
            b->len = len;
        } /* without memory for the record the whole block is given */
        b->used = true;
        return b;
    }
    return NULL;
}

/* Joins a free block with a free one behind it. */
static void join(struct segment *s, struct ct_list *node)
{
    if (node == &s->blocks || node->next == &s->blocks) {
        return;
    }
    struct block *b = CT_LIST_ENTRY(node, struct block, link);
    struct block *behind = CT_LIST_ENTRY(node->next, struct block, link);
    if (!b->used && !behind->used) {
        b->len += behind->len;
        ct_list_remove(&behind->link);
        free(behind);
    }
}

static bool is_empty(const struct segment *s)
{
    const struct block *first = CT_LIST_ENTRY(s->blocks.next, struct block, link);
    return !first->used && first->len == s->len;
}

/* One empty segment of the usual size stays. */
static void tidy(struct ct_process *p)
{
    bool one = false;
    CT_LIST_FOR (node, &p->mem->pool.segments) {
        struct segment *s = CT_LIST_ENTRY(node, struct segment, link);
        if (is_empty(s) && (one || s->len != SEGMENT)) {
            segment_free(p, s);
        } else {
            one = one || is_empty(s);
        }
    }
}

/* ---- calls ----------------------------------------------------------------------------------- */

int ct_mem_alloc(struct ct_process *p, size_t len_bytes, void **out)
{
    struct ct_mem_pool *m = &p->mem->pool;
    const size_t        len = ct_round_up(ct_max_size(len_bytes, 1), GRAIN);
    struct block       *b = NULL;
    struct segment     *s = NULL;
    int                 rc = CTRAN_SUCCESS;
    if (len < len_bytes) {
        ct_error(&p->log, "%zu bytes of GPU memory are more than can be addressed", len_bytes);
        return CTRAN_ERR_NO_MEM;
    }
    pthread_mutex_lock(&m->lock);
    CT_LIST_FOR (node, &m->segments) {
        s = CT_LIST_ENTRY(node, struct segment, link);
        b = cut(s, len);
        if (b != NULL) {
            break;
        }
    }
    if (b == NULL) {
        rc = segment_make(p, len, &s);
        b = rc == CTRAN_SUCCESS ? cut(s, len) : NULL;
    }
    if (b != NULL) {
        *out = (void *)(uintptr_t)(s->base + b->at);
    }
    pthread_mutex_unlock(&m->lock);
    return rc;
}

/* The block that begins at ptr; NULL: there is none. */
static struct block *find(struct ct_mem_pool *m, CUdeviceptr ptr, struct segment **out)
{
    CT_LIST_FOR (node, &m->segments) {
        struct segment *s = CT_LIST_ENTRY(node, struct segment, link);
        if (ptr < s->base || ptr >= s->base + s->len) {
            continue;
        }
        *out = s;
        CT_LIST_FOR (at, &s->blocks) {
            struct block *b = CT_LIST_ENTRY(at, struct block, link);
            if (s->base + b->at == ptr) {
                return b->used ? b : NULL;
            }
        }
    }
    return NULL;
}

int ct_mem_free(struct ct_process *p, void *ptr)
{
    struct ct_mem_pool *m = &p->mem->pool;
    struct segment     *s;
    pthread_mutex_lock(&m->lock);
    struct block *b = find(m, (uintptr_t)ptr, &s);
    if (b != NULL) {
        b->used = false;
        join(s, &b->link);
        join(s, b->link.prev);
        tidy(p);
    }
    pthread_mutex_unlock(&m->lock);
    if (b == NULL) {
        return CTRAN_ERR_BASE;
    }
    ct_mem_sweep(p);
    return CTRAN_SUCCESS;
}

void ct_mem_pool_fini(struct ct_process *p)
{
    CT_LIST_FOR (node, &p->mem->pool.segments) {
        segment_free(p, CT_LIST_ENTRY(node, struct segment, link));
    }
}
