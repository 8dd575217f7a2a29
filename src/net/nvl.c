/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies out of peers' GPUs: see nvl.h. Called by shm.c and self.c. */
#define CT_FOLDER "net"
#include "net/nvl.h"

#include <assert.h>
#include <stdlib.h>

#include "mem/mem.h"

enum { CHUNK = 1 << 20, CHUNKS = 2 }; /* 1 MiB takes the bus some 20 to 50 us */
enum { LONG = 4 << 20 };              /* too long to be read again before it leaves the caches */
enum { MOST_RUNNING = 16 };

struct ct_nvl_flush {
    struct ct_nvl_flush *next;
    struct ct_net_comp  *comp;
    int                  status;
};

/* A get that has been taken. */
struct copy {
    struct ct_list        node;
    struct ct_nvl_peer   *peer;
    struct ct_area        area; /* the operation's, as are these */
    size_t                pos, len_bytes;
    struct ct_net_comp   *comp;
    struct ct_mem_import *import;
    const char           *from;   /* the peer's memory, as it is seen here */
    int                   device; /* whose copy engine reads */
    bool                  staged; /* by way of CHUNKS page-locked chunks at `stage` */
    char                 *stage;
    struct ct_mem_move    move[CHUNKS];
    size_t                started, landed; /* bytes; landed: of a staged one */
};

void ct_nvl_init(struct ct_nvl *nvl, struct ct_net *net, const struct ct_net_env *env)
{
    *nvl = (struct ct_nvl){.net = net, .p = env->process};
    ct_list_init(&nvl->running);
    ct_list_init(&nvl->waiting);
}

void ct_nvl_fini(struct ct_nvl *nvl)
{
    assert(nvl->nrunning == 0);
}

bool ct_nvl_is_on(const struct ct_nvl *nvl)
{
    const struct ct_process *p = nvl->p;
    return p != NULL && p->gpu != NULL && p->mem != NULL && p->cfg.gpu_peer;
}

/* One block of memory that mem knows. */
static bool is_device_block(const struct ct_nvl *nvl, const struct ct_area *area)
{
    return area->pieces != NULL && area->npieces == 0 && area->memory == &nvl->p->memory;
}

bool ct_nvl_export(struct ct_nvl *nvl, const struct ct_area *area, struct ct_mem_export *out)
{
    return ct_nvl_is_on(nvl) && is_device_block(nvl, area) &&
           ct_mem_export(nvl->p, area->base, area->len_bytes, out) == CTRAN_SUCCESS;
}

bool ct_nvl_may_get(const struct ct_nvl *nvl, const struct ct_nvl_peer *peer)
{
    return ct_nvl_is_on(nvl) && !peer->barred;
}

/* ---- one copy -------------------------------------------------------------------------------- */

/* Has the engine go on with the next chunk, or with all of it. */
static int start_chunk(struct ct_nvl *nvl, struct copy *c)
{
    const size_t left = c->len_bytes - c->started;
    const size_t len = c->staged ? ct_min_size(left, CHUNK) : left;
    const size_t which = c->staged ? c->started / CHUNK % CHUNKS : 0;
    char        *to = c->staged ? c->stage + which * CHUNK : (char *)c->area.base + c->pos;
    const int    rc =
        ct_mem_pull_start(nvl->p, c->device, &c->move[which], to, c->from + c->started, len);
    c->started += rc == CTRAN_SUCCESS ? len : 0;
    return rc;
}

static int nvl_start(struct ct_nvl *nvl, struct copy *c)
{
    if (c->staged) {
        c->stage = ct_mem_pinned_get(nvl->p, CHUNKS * CHUNK);
    }
    int rc = c->staged && c->stage == NULL ? CTRAN_ERR_NO_MEM : CTRAN_SUCCESS;
    for (int i = 0; i < CHUNKS && rc == CTRAN_SUCCESS && c->started < c->len_bytes; i++) {
        rc = start_chunk(nvl, c);
    }
    return rc;
}

/* The chunk that lands next has done so: out with it, and the next one in. */
static int turn_over(struct ct_nvl *nvl, struct copy *c, const char *chunk)
{
    const size_t len = ct_min_size(c->len_bytes - c->landed, CHUNK);
    size_t       pos = c->pos + c->landed;
    if (c->area.pieces == NULL && c->len_bytes >= LONG) {
        ct_block_copy_past((char *)c->area.base + pos, chunk, len);
    } else if (!ct_area_scatter_all(&c->area, &pos, chunk, len)) {
        return CTRAN_ERR_BUFFER;
    }
    c->landed += len;
    return c->started < c->len_bytes ? start_chunk(nvl, c) : CTRAN_SUCCESS;
}

/* CT_AGAIN: not all of it is there. */
static int nvl_step(struct ct_nvl *nvl, struct copy *c)
{
    const size_t which = c->staged ? c->landed / CHUNK % CHUNKS : 0;
    int          rc = ct_mem_move_test(nvl->p, &c->move[which]);
    if (rc != CTRAN_SUCCESS || !c->staged) {
        return rc;
    }
    rc = turn_over(nvl, c, c->stage + which * CHUNK);
    return rc == CTRAN_SUCCESS && c->landed < c->len_bytes ? CT_AGAIN : rc;
}

/* Gives back all that it holds. Of one that has failed, a chunk may still be under way. */
static void give_back(struct ct_nvl *nvl, struct copy *c)
{
    for (int i = 0; i < CHUNKS; i++) {
        (void)ct_mem_move_wait(nvl->p, &c->move[i]); /* that it fails, too, changes nothing */
    }
    if (c->stage != NULL) {
        ct_mem_pinned_put(nvl->p, c->stage, CHUNKS * CHUNK);
    }
    ct_mem_import_put(nvl->p, c->import);
    free(c);
}

/* ---- gets ------------------------------------------------------------------------------------ */

/* Where the copy goes, and who does it. */
static int find_target(struct ct_nvl *nvl, struct copy *c)
{
    const struct ct_area *area = &c->area;
    const bool            on_device = !ct_area_is_plain(area);
    enum ct_gpu_kind      kind = CT_GPU_HOST;
    c->device = -1;
    if (on_device && !is_device_block(nvl, area)) {
        return CTRAN_ERR_UNSUPPORTED_OPERATION; /* many blocks, each a copy that is waited for */
    }
    if (on_device || area->pieces == NULL) {
        kind = ct_gpu_kind_of(nvl->p->gpu, area->base, &c->device);
    }
    if (on_device && kind == CT_GPU_HOST) {
        return CTRAN_ERR_UNSUPPORTED_OPERATION; /* freed, it seems: the other way tells so */
    }
    c->staged = kind == CT_GPU_HOST;
    return kind == CT_GPU_DEVICE && c->device >= 0 ? CTRAN_SUCCESS
                                                   : ct_gpu_mine(nvl->p->gpu, &c->device);
}

/* A peer of which nothing can ever be mapped is barred: the devices have no way to each other, or
 * the system does not let this process have the peer's descriptors. */
static int nvl_import(struct ct_nvl *nvl, struct ct_nvl_peer *peer, struct copy *c,
                      const struct ct_mem_export *from, uint64_t offset)
{
    CUdeviceptr at = 0;
    if (offset > from->len_bytes || c->len_bytes > from->len_bytes - offset) {
        return CTRAN_ERR_OTHER; /* that is not what is exposed */
    }
    /* Not waiting: this is where transfers go on, and there is another way. */
    int rc = ct_mem_import(nvl->p, c->device, from, false, &c->import, &at);
    c->from = (const char *)(uintptr_t)at + offset;
    peer->barred = rc == CTRAN_ERR_UNSUPPORTED_OPERATION;
    if (rc == CTRAN_SUCCESS && c->import == NULL &&
        ct_gpu_kind_of(nvl->p->gpu, c->from, NULL) != CT_GPU_DEVICE) {
        rc = CTRAN_ERR_OTHER; /* said to be this process's own, and is not */
    }
    return rc;
}

static void add_running(struct ct_nvl *nvl, struct copy *c)
{
    ct_list_append(&nvl->running, &c->node);
    nvl->nrunning++;
}

static struct copy *make_copy(const struct ct_net_rma *op)
{
    struct copy *c = calloc(1, sizeof *c);
    if (c != NULL) {
        ct_area_copy(&c->area, op->area);
        c->pos = op->pos;
        c->len_bytes = op->len_bytes;
        c->comp = op->comp;
    }
    return c;
}

int ct_nvl_get(struct ct_nvl *nvl, struct ct_nvl_peer *peer, const struct ct_mem_export *from,
               const struct ct_net_rma *op)
{
    struct copy *c = ct_nvl_may_get(nvl, peer) ? make_copy(op) : NULL;
    if (c == NULL) {
        return CTRAN_ERR_UNSUPPORTED_OPERATION;
    }
    const bool now = nvl->nrunning < MOST_RUNNING;
    int        rc = ct_gpu_ready(nvl->p->gpu);
    rc = rc == CTRAN_SUCCESS ? find_target(nvl, c) : rc;
    rc = rc == CTRAN_SUCCESS ? nvl_import(nvl, peer, c, from, op->offset) : rc;
    rc = rc == CTRAN_SUCCESS && now ? nvl_start(nvl, c) : rc;
    if (rc != CTRAN_SUCCESS) {
        give_back(nvl, c);
        return CTRAN_ERR_UNSUPPORTED_OPERATION;
    }
    if (now) {
        add_running(nvl, c);
    } else {
        ct_list_append(&nvl->waiting, &c->node);
    }
    c->peer = peer;
    peer->under_way++;
    nvl->net->under_way++;
    return CTRAN_SUCCESS;
}

static void nvl_finish(struct ct_nvl *nvl, struct copy *c, int status)
{
    struct ct_net_comp *comp = c->comp;
    struct ct_nvl_peer *peer = c->peer;
    give_back(nvl, c);
    nvl->net->under_way--;
    peer->under_way--;
    ct_net_comp_later(comp, status);
    while (peer->under_way == 0 && peer->flushes != NULL) {
        struct ct_nvl_flush *f = peer->flushes;
        peer->flushes = f->next;
        ct_net_comp_later(f->comp, f->status);
        free(f);
    }
}

void ct_nvl_flush(struct ct_nvl_peer *peer, struct ct_net_comp *comp, int status)
{
    struct ct_nvl_flush *f = peer->under_way > 0 ? malloc(sizeof *f) : NULL;
    if (f != NULL) {
        *f = (struct ct_nvl_flush){peer->flushes, comp, status};
        peer->flushes = f;
    } else {
        ct_net_comp_now(comp, peer->under_way > 0 ? CTRAN_ERR_NO_MEM : status);
    }
}

static void start_waiting(struct ct_nvl *nvl)
{
    struct ct_list *node;
    while (nvl->nrunning < MOST_RUNNING && (node = ct_list_pop(&nvl->waiting)) != NULL) {
        struct copy *c = CT_LIST_ENTRY(node, struct copy, node);
        const int    rc = nvl_start(nvl, c);
        if (rc == CTRAN_SUCCESS) {
            add_running(nvl, c);
        } else {
            nvl_finish(nvl, c, rc);
        }
    }
}

/* Looks at copies until it finds one that is not over, which is asked again after all others. */
unsigned ct_nvl_poll(struct ct_nvl *nvl)
{
    unsigned n = 0;
    for (struct ct_list *node; (node = ct_list_pop(&nvl->running)) != NULL; n++) {
        struct copy *c = CT_LIST_ENTRY(node, struct copy, node);
        const int    rc = nvl_step(nvl, c);
        if (rc == CT_AGAIN) {
            ct_list_append(&nvl->running, &c->node);
            break;
        }
        nvl->nrunning--;
        nvl_finish(nvl, c, rc);
    }
    start_waiting(nvl);
    return n;
}
