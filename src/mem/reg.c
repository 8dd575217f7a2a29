/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cache of registrations: an array sorted by address, since lookups are many and entries few.
 *
 * Invariants: ranges in the array never overlap; an entry is returned only if the driver has just
 * named its buffer id for the address. So what was freed, allocated again or mapped anew is never
 * trusted: its entry goes when an address of it is looked up, when a new range overlaps it, or when
 * its turn comes to be asked (each miss asks two).
 */
#define CT_FOLDER "mem"
#include <stdlib.h>
#include <string.h>

#include "mem/own.h"

/* The first entry that ends behind the address. */
static size_t position(const struct ct_mem_regs *regs, uint64_t at)
{
    size_t low = 0, high = regs->n;
    while (low < high) {
        const size_t               mid = low + (high - low) / 2;
        const struct ct_gpu_place *place = &regs->sorted[mid]->place;
        if (place->base + place->len_bytes <= at) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

static void take_out(struct ct_mem_regs *regs, size_t at)
{
    memmove(&regs->sorted[at], &regs->sorted[at + 1], (regs->n - at - 1) * sizeof *regs->sorted);
    regs->n--;
}

/* Its memory is gone, or it is the oldest. */
static void drop(struct ct_process *p, size_t at)
{
    struct ct_mem_regs *regs = &p->mem->regs;
    struct ct_mem_reg  *reg = regs->sorted[at];
    take_out(regs, at);
    ct_mem_export_drop(p, reg);
    if (reg->holds > 0) {
        regs->nheld--; /* its holder knows it by base and id alone */
    }
    ct_list_remove(&reg->lru);
    free(reg);
}

/* The next entries in a row are asked whether their memory is still theirs. */
static void look_around(struct ct_process *p, unsigned count)
{
    struct ct_mem_regs *regs = &p->mem->regs;
    for (unsigned i = 0; i < count && regs->n > 0; i++) {
        regs->next_look = regs->next_look < regs->n ? regs->next_look : 0;
        const struct ct_gpu_place *place = &regs->sorted[regs->next_look]->place;
        if (ct_gpu_buffer_id(p->gpu, (const void *)(uintptr_t)place->base) != place->buffer_id) {
            regs->stale++;
            drop(p, regs->next_look);
        } else {
            regs->next_look++;
        }
    }
}

/* Makes room for one more: the oldest goes. */
static int make_room(struct ct_process *p)
{
    struct ct_mem_regs *regs = &p->mem->regs;
    while (regs->n - regs->nheld >= ct_mem_regs_most(p) && !ct_list_empty(&regs->lru)) {
        const struct ct_mem_reg *oldest = CT_LIST_ENTRY(regs->lru.next, struct ct_mem_reg, lru);
        regs->dropped++;
        drop(p, position(regs, oldest->place.base));
    }
    if (regs->n < regs->cap) {
        return 0;
    }
    const size_t        cap = regs->cap > 0 ? 2 * regs->cap : 64;
    struct ct_mem_reg **sorted = realloc(regs->sorted, cap * sizeof(struct ct_mem_reg *));
    if (sorted == NULL) {
        return -1;
    }
    regs->sorted = sorted;
    regs->cap = cap;
    return 0;
}

static struct ct_mem_reg *add(struct ct_process *p, const struct ct_gpu_place *place)
{
    struct ct_mem_regs *regs = &p->mem->regs;
    size_t              at;
    while ((at = position(regs, place->base)) < regs->n &&
           regs->sorted[at]->place.base < place->base + place->len_bytes) {
        regs->stale++;
        drop(p, at);
    }
    struct ct_mem_reg *reg = calloc(1, sizeof *reg);
    if (reg == NULL || make_room(p) != 0) {
        free(reg);
        ct_error(&p->log, "no memory to register a buffer of %zu bytes", place->len_bytes);
        return NULL;
    }
    reg->place = *place;
    reg->exported = CT_AGAIN;
    reg->fd = -1;
    at = position(regs, place->base);
    memmove(&regs->sorted[at + 1], &regs->sorted[at], (regs->n - at) * sizeof *regs->sorted);
    regs->sorted[at] = reg;
    regs->n++;
    ct_list_append(&regs->lru, &reg->lru);
    return reg;
}

struct ct_mem_reg *ct_mem_reg_find(struct ct_process *p, const void *ptr)
{
    struct ct_mem_regs *regs = &p->mem->regs;
    const uint64_t      id = ct_gpu_buffer_id(p->gpu, ptr);
    const size_t        at = position(regs, (uintptr_t)ptr);
    if (at < regs->n && regs->sorted[at]->place.base <= (uintptr_t)ptr) {
        struct ct_mem_reg *reg = regs->sorted[at];
        if (CT_LIKELY(reg->place.buffer_id == id)) {
            regs->hits++;
            if (reg->holds == 0 && regs->lru.prev != &reg->lru) {
                ct_list_remove(&reg->lru);
                ct_list_append(&regs->lru, &reg->lru);
            }
            return reg;
        }
        regs->stale++;
        drop(p, at);
    }
    if (id == 0) {
        return NULL;
    }
    struct ct_gpu_place place;
    regs->misses++;
    look_around(p, 2);
    ct_gpu_look(p->gpu, ptr, &place);
    /* What the driver does not know whole is not kept. */
    return place.kind != CT_GPU_HOST && place.len_bytes > 0 ? add(p, &place) : NULL;
}

void ct_mem_reg_hold(struct ct_process *p, struct ct_mem_reg *reg)
{
    if (reg->holds++ == 0) {
        p->mem->regs.nheld++;
        ct_list_remove(&reg->lru);
    }
}

void ct_mem_reg_release(struct ct_process *p, uintptr_t base, uint64_t buffer_id)
{
    struct ct_mem_regs *regs = &p->mem->regs;
    const size_t        at = position(regs, base);
    if (at == regs->n || regs->sorted[at]->place.base > base) {
        return; /* its memory went before */
    }
    struct ct_mem_reg *reg = regs->sorted[at];
    if (reg->place.buffer_id == buffer_id && reg->holds > 0 && --reg->holds == 0) {
        regs->nheld--;
        ct_list_append(&regs->lru, &reg->lru);
    }
}

void ct_mem_regs_fini(struct ct_process *p)
{
    struct ct_mem_regs *regs = &p->mem->regs;
    while (regs->n > 0) {
        drop(p, regs->n - 1);
    }
    free(regs->sorted);
    regs->sorted = NULL;
}
