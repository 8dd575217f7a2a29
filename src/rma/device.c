/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows on memory of GPUs. The processor never touches such memory. Puts and gets of one block
 * are copies by this rank's GPU, if it reaches the target's memory, which the window has mapped for
 * as long as it lives; all others go by the transport or by messages, as on the host. Updates are
 * the target's: it reads elements into memory of the host, updates them there, and writes them
 * back, all in its progress domain, so that they are atomic to each other.
 */
#define CT_FOLDER "rma"
#include "mem/mem.h"
#include "rma/own.h"

/* ---- memory ---------------------------------------------------------------------------------- */

int ct_win_device_get(struct ct_win *win, size_t bytes, size_t align, void **block, void **base)
{
    const int rc = ct_mem_alloc(win->p, bytes + align, block);
    if (rc == CTRAN_SUCCESS) {
        *base = (void *)ct_round_up((uintptr_t)*block, align);
    }
    return rc;
}

void ct_win_device_put(struct ct_process *p, void *block)
{
    if (block != NULL) {
        (void)ct_mem_free(p, block); /* of the pool: it is known there */
    }
}

/* ---- mapping --------------------------------------------------------------------------------- */

bool ct_win_device_export(struct ct_win *win, struct ct_mem_export *out)
{
    struct ct_process *p = win->p;
    return win->kind != NULL && p->gpu != NULL && p->mem != NULL &&
           ct_gpu_kind_of(p->gpu, win->base, NULL) == CT_GPU_DEVICE &&
           ct_mem_export(p, win->base, win->data_bytes, out) == CTRAN_SUCCESS;
}

/* The transport's answer: it knows who is on this host, and what CTRAN_GPU_PEER says. */
static bool is_reached(const struct ct_win_peer *peer)
{
    return peer->key != NULL && ct_ep_rkey_reach(peer->key) == CT_NET_REACH_DEVICE;
}

void ct_win_device_map(struct ct_win_peer *peer, const struct ct_mem_export *from)
{
    struct ct_process *p = peer->win->p;
    CUdeviceptr        at;
    int                ordinal;
    if (p->gpu != NULL && is_reached(peer) && ct_gpu_mine(p->gpu, &ordinal) == CTRAN_SUCCESS &&
        from->len_bytes == peer->size_bytes &&
        ct_mem_import(p, ordinal, from, true, &peer->import, &at) == CTRAN_SUCCESS) {
        peer->device = (char *)(uintptr_t)at;
    }
}

void ct_win_device_unmap(struct ct_win_peer *peer)
{
    if (peer->import != NULL) {
        ct_mem_import_put(peer->win->p, peer->import);
    }
    peer->import = NULL;
    peer->device = NULL;
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* Between a block of a GPU's memory that is mapped here and a block of any memory. */
static int copy_block(struct ct_process *p, bool is_put, char *there, void *here, size_t bytes)
{
    int ordinal;
    int rc = ct_gpu_mine(p->gpu, &ordinal);
    if (rc == CTRAN_SUCCESS) {
        rc = ct_mem_copy_by(p, ordinal, is_put ? there : here, is_put ? here : there, bytes);
    }
    return rc == CTRAN_SUCCESS ? rc : CTRAN_ERR_BUFFER;
}

/* By way of page-locked memory, piece by piece. */
static int copy_area(struct ct_process *p, bool is_put, char *there, const struct ct_area *here)
{
    enum { STAGE = 1 << 20 };
    const size_t size = ct_min_size(here->len_bytes, STAGE);
    char        *stage = ct_mem_pinned_get(p, size);
    int          rc = stage != NULL ? CTRAN_SUCCESS : CTRAN_ERR_BUFFER;
    for (size_t done = 0, pos = 0, some; rc == CTRAN_SUCCESS && done < here->len_bytes;
         done += some) {
        some = ct_min_size(size, here->len_bytes - done);
        if (is_put && !ct_area_gather_all(here, &pos, stage, some)) {
            rc = CTRAN_ERR_BUFFER;
        }
        rc = rc == CTRAN_SUCCESS ? copy_block(p, is_put, there + done, stage, some) : rc;
        if (rc == CTRAN_SUCCESS && !is_put && !ct_area_scatter_all(here, &pos, stage, some)) {
            rc = CTRAN_ERR_BUFFER;
        }
    }
    if (stage != NULL) {
        ct_mem_pinned_put(p, stage, size);
    }
    return rc;
}

int ct_rma_copy_device(const struct ct_rma_args *a)
{
    const struct ct_area target =
        ct_dtype_area(a->target_type, a->peer->device + a->at, a->target_count);
    struct ct_process *p = a->peer->win->p;
    const bool         is_put = a->kind == CT_RMA_PUT;
    return a->origin.npieces == 0 || a->origin.pieces == NULL
               ? copy_block(p, is_put, target.base, a->origin.base, target.len_bytes)
               : copy_area(p, is_put, target.base, &a->origin);
}

/* ---- the target's updates -------------------------------------------------------------------- */

int ct_rma_stage_open(struct ct_rma_stage *s, const struct ct_memory *kind, struct iovec *blocks,
                      unsigned n)
{
    uint32_t npieces = 0;
    for (unsigned i = 0; i < n; i++) {
        if (blocks[i].iov_len > 0) {
            npieces = ct_piece_add(s->pieces, npieces,
                                   (struct ct_piece){.at_bytes = (intptr_t)blocks[i].iov_base,
                                                     .len_bytes = blocks[i].iov_len,
                                                     .reps = 1});
        }
    }
    s->area = ct_area_make(NULL, s->pieces, npieces, 1, 0);
    s->flat = NULL;
    if (s->area.len_bytes == 0) {
        return CTRAN_SUCCESS;
    }
    ct_area_set_memory(&s->area, kind);
    s->flat = kind->stage_get(kind, s->area.len_bytes);
    if (s->flat == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    if (!ct_area_gather_all(&s->area, &(size_t){0}, s->flat, s->area.len_bytes)) {
        kind->stage_put(kind, s->flat, s->area.len_bytes);
        return CTRAN_ERR_BUFFER;
    }
    char *at = s->flat;
    for (unsigned i = 0; i < n; at += blocks[i++].iov_len) {
        blocks[i].iov_base = at;
    }
    return CTRAN_SUCCESS;
}

int ct_rma_stage_close(struct ct_rma_stage *s, bool changed)
{
    bool fine = true;
    if (s->flat != NULL) {
        fine = !changed || ct_area_scatter_all(&s->area, &(size_t){0}, s->flat, s->area.len_bytes);
        s->area.memory->stage_put(s->area.memory, s->flat, s->area.len_bytes);
    }
    return fine ? CTRAN_SUCCESS : CTRAN_ERR_BUFFER;
}
