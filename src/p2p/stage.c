/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages from or to memory that is not plain, which the peer's device does not reach. Each look
 * at such memory is a call of a driver and a wait for a device, some 10 us for any length up to
 * 64 KiB and 25 for a megabyte; so it is read and written by chunks in staging memory, which the
 * driver copies from and to fast.
 *
 * Of a message in pieces a chunk is several of them: while one side's device has a chunk the other
 * side's is at the one before, so that a message is at least four of them, but none is shorter
 * than a piece. Where there is no staging memory each piece goes by itself. What lies in ordinary
 * memory of a peer that can be read is read so, all of it at once, as to plain memory.
 */
#define CT_FOLDER "p2p"
#include <stdlib.h>

#include "p2p/state.h"

enum { MOST = 512 << 10, LEAST = 64 << 10, CHUNKS = 4 };

struct ct_p2p_stage {
    struct ct_area chunk;      /* what is in it; plain */
    size_t         from_bytes; /* which byte of the message it begins with */
    size_t         room_bytes;
};

/* The chunk, in whole pieces; NULL: there is none. That is decided with the first piece. */
static struct ct_p2p_stage *stage_of(struct ct_p2p_req *req, size_t piece_bytes) CT_IN_DOMAIN
{
    if (req->staged) {
        return req->stage;
    }
    struct ct_p2p_stage *s = req->moved_bytes == 0 ? calloc(1, sizeof *s) : NULL;
    if (s == NULL) {
        return NULL;
    }
    const size_t chunk = ct_min_size(ct_max_size(req->want_bytes / CHUNKS, LEAST), MOST);
    s->room_bytes = chunk < piece_bytes ? piece_bytes : chunk / piece_bytes * piece_bytes;
    s->chunk.base = req->area.memory->stage_get(req->area.memory, s->room_bytes);
    if (s->chunk.base == NULL) {
        free(s);
        return NULL;
    }
    req->staged = true;
    return req->stage = s;
}

void ct_stage_free(struct ct_p2p_req *req)
{
    struct ct_p2p_stage *s = req->stage;
    req->staged = false;
    req->area.memory->stage_put(req->area.memory, s->chunk.base, s->room_bytes);
    free(s);
}

const struct ct_area *ct_stage_read(struct ct_p2p_req *req, size_t piece_bytes, size_t *pos)
{
    *pos = req->moved_bytes;
    struct ct_p2p_stage *s = ct_area_is_plain(&req->area) ? NULL : stage_of(req, piece_bytes);
    if (CT_LIKELY(s == NULL)) {
        return &req->area;
    }
    if (req->moved_bytes == s->from_bytes + s->chunk.len_bytes) {
        s->from_bytes = req->moved_bytes;
        s->chunk.len_bytes = ct_min_size(s->room_bytes, req->want_bytes - req->moved_bytes);
        if (!ct_area_gather_all(&req->area, pos, s->chunk.base, s->chunk.len_bytes)) {
            return NULL;
        }
    }
    *pos = req->moved_bytes - s->from_bytes;
    return &s->chunk;
}

/* All that is in it. */
static bool flush(struct ct_p2p_req *req, struct ct_p2p_stage *s) CT_IN_DOMAIN
{
    size_t     pos = s->from_bytes;
    const bool ok = ct_area_scatter_all(&req->area, &pos, s->chunk.base, s->chunk.len_bytes);
    s->from_bytes += s->chunk.len_bytes;
    s->chunk.len_bytes = 0;
    return ok;
}

bool ct_stage_write(struct ct_p2p_req *req, size_t at, const void *data, size_t len_bytes)
{
    const bool alone = req->takes || ct_area_is_plain(&req->area) || len_bytes == req->want_bytes;
    struct ct_p2p_stage *s = alone ? NULL : stage_of(req, LEAST);
    if (CT_LIKELY(s == NULL)) {
        return ct_p2p_deliver(req, at, data, len_bytes) == len_bytes;
    }
    const char *from = data;
    bool        ok = true;
    for (size_t left = len_bytes; ok && left > 0;) {
        const size_t n = ct_min_size(left, s->room_bytes - s->chunk.len_bytes);
        ct_block_copy((char *)s->chunk.base + s->chunk.len_bytes, from, n);
        s->chunk.len_bytes += n;
        from += n;
        left -= n;
        const bool last = s->from_bytes + s->chunk.len_bytes == req->want_bytes;
        ok = (s->chunk.len_bytes < s->room_bytes && !last) || flush(req, s);
    }
    return ok;
}

int ct_stage_get(struct ct_p2p_req *req, struct ct_ep_rkey *rkey)
{
    enum { CHUNK = 1 << 20 };
    const struct ct_memory *m = req->area.memory;
    const size_t            room = ct_min_size(req->want_bytes, CHUNK);
    struct ct_area          chunk = {.base = m->stage_get(m, room)};
    size_t                  pos = 0;
    int                     rc = CTRAN_SUCCESS;
    if (chunk.base == NULL) {
        return CTRAN_ERR_UNSUPPORTED_OPERATION;
    }
    while (rc == CTRAN_SUCCESS && pos < req->want_bytes) {
        chunk.len_bytes = ct_min_size(room, req->want_bytes - pos);
        rc = ct_p2p_get_now(rkey, pos, &chunk, chunk.len_bytes);
        rc = rc == CTRAN_ERR_BUFFER ? CTRAN_ERR_UNSUPPORTED_OPERATION : rc; /* the peer's */
        if (rc == CTRAN_SUCCESS &&
            !ct_area_scatter_all(&req->area, &pos, chunk.base, chunk.len_bytes)) {
            rc = CTRAN_ERR_BUFFER;
        }
    }
    m->stage_put(m, chunk.base, room);
    return rc;
}
