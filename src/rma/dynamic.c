/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dynamic windows, and where the memory of a window is. Displacements are addresses at the target,
 * which holds each against the ranges that are attached there: so all operations of a dynamic
 * window go by messages.
 */
#define CT_FOLDER "rma"
#include "rma/own.h"

static struct ct_win_range *range_of(struct ct_list *node)
{
    return CT_LIST_ENTRY(node, struct ct_win_range, node);
}

static bool is_apart(struct ct_win *win, uintptr_t base, size_t len_bytes) CT_IN_DOMAIN
{
    CT_LIST_FOR (node, &win->ranges) {
        const struct ct_win_range *r = range_of(node);
        if (base < r->base + r->len_bytes && r->base < base + len_bytes) {
            return false;
        }
    }
    return true;
}

int ct_win_attach(struct ct_win *win, void *base, size_t len_bytes)
{
    struct ct_win_range *r = malloc(sizeof *r);
    int                  rc = CTRAN_SUCCESS;
    if (r == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    *r = (struct ct_win_range){.base = (uintptr_t)base, .len_bytes = len_bytes};
    ct_domain_enter(win->p);
    if (len_bytes > UINTPTR_MAX - r->base || !is_apart(win, r->base, len_bytes)) {
        rc = CTRAN_ERR_RMA_ATTACH;
        free(r);
    } else {
        ct_list_append(&win->ranges, &r->node);
    }
    ct_domain_leave(win->p);
    return rc;
}

int ct_win_detach(struct ct_win *win, const void *base)
{
    int rc = CTRAN_ERR_RMA_ATTACH;
    ct_domain_enter(win->p);
    CT_LIST_FOR (node, &win->ranges) {
        if (range_of(node)->base == (uintptr_t)base) {
            ct_list_remove(node);
            free(range_of(node));
            rc = CTRAN_SUCCESS;
            break;
        }
    }
    ct_domain_leave(win->p);
    return rc;
}

/* Ranges that lie one behind the other are one. */
static bool is_attached(struct ct_win *win, uintptr_t at, uint64_t len_bytes) CT_IN_DOMAIN
{
    bool found = true;
    while (found && len_bytes > 0) {
        found = false;
        CT_LIST_FOR (node, &win->ranges) {
            const struct ct_win_range *r = range_of(node);
            if (at >= r->base && at - r->base < r->len_bytes) {
                const uint64_t some = ct_min_size(len_bytes, r->len_bytes - (at - r->base));
                at += some;
                len_bytes -= some;
                found = true;
                break;
            }
        }
    }
    return found;
}

void *ct_win_place(struct ct_win *win, uint64_t at, uint64_t len_bytes)
{
    if (win->flavor == CTRAN_WIN_FLAVOR_DYNAMIC) {
        return is_attached(win, at, len_bytes) ? (void *)(uintptr_t)at : NULL;
    }
    const uint64_t size = (uint64_t)win->size_bytes;
    return at <= size && len_bytes <= size - at ? (char *)win->base + at : NULL;
}

/* What is attached may be of several kinds. */
const struct ct_memory *ct_win_kind_at(const struct ct_win *win, const void *at)
{
    return win->flavor == CTRAN_WIN_FLAVOR_DYNAMIC ? ct_memory_of(win->p, at) : win->kind;
}
