/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory: buffers, registrations of local memory, regions that peers reach, keys.
 *
 * A registration of local memory is shared by all operations that use it at a time. Afterwards it
 * is kept only where it can be told whether the addresses still mean the same memory: memory of a
 * GPU has a buffer id of the driver. Heap memory that the program gives back and gets again may be
 * other pages at the same address, and nothing tells of it; so it is registered anew each time,
 * unless CTRAN_IB_CACHE promises that no memory is given back.
 *
 * GPU memory is registered as a dma-buf where the driver and the NIC have that, else by its
 * address, as a peer-memory module of the kernel takes it.
 */
#define CT_FOLDER "net"
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "gpu/gpu.h"
#include "net/ib/ib.h"

enum { GPU_PAGE = 4096 };

/* ---- buffers --------------------------------------------------------------------------------- */

struct ct_ib_buf *ct_ib_buf_get(struct ct_ib *t)
{
    struct ct_ib_buf *buf = t->bufs;
    if (buf != NULL) {
        t->bufs = buf->next;
    }
    return buf;
}

void ct_ib_buf_put(struct ct_ib *t, struct ct_ib_buf *buf)
{
    buf->next = t->bufs;
    t->bufs = buf;
}

/* ---- registering ----------------------------------------------------------------------------- */

static struct ibv_mr *reg_device(const struct ct_ib *t, struct ibv_pd *pd, uint64_t base,
                                 uint64_t len_bytes, int access)
{
    const struct ct_gpu *g = t->env.process->gpu;
    const uint64_t       from = base / GPU_PAGE * GPU_PAGE;
    const size_t         bytes = ct_round_up(base + len_bytes - from, GPU_PAGE);
    int                  fd = -1;
    if (t->v->reg_dmabuf_mr == NULL ||
        g->cu->cuMemGetHandleForAddressRange(&fd, from, bytes, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD,
                                             0) != CUDA_SUCCESS) {
        return t->v->reg_mr(pd, (void *)(uintptr_t)base, len_bytes, access);
    }
    struct ibv_mr *mr = t->v->reg_dmabuf_mr(pd, base - from, len_bytes, base, fd, access);
    const int      error = errno;
    close(fd);
    errno = error;
    return mr;
}

static struct ibv_mr *ib_memory_reg(struct ct_ib *t, struct ibv_pd *pd, uint64_t base,
                                    uint64_t len_bytes, bool is_device, int access)
{
    t->counters.registrations++;
    return is_device ? reg_device(t, pd, base, len_bytes, access)
                     : t->v->reg_mr(pd, (void *)(uintptr_t)base, len_bytes, access);
}

/* ---- local memory of operations -------------------------------------------------------------- */

static void ib_memory_free_memory(struct ct_ib *t, struct ct_ib_memory *m)
{
    for (unsigned i = 0; i < CT_IB_MAX_PORTS; i++) {
        if (m->mr[i] != NULL) {
            (void)t->v->dereg_mr(m->mr[i]);
        }
    }
    ct_list_remove(&m->node);
    t->nmemories--;
    free(m);
}

static uint64_t buffer_at(const struct ct_ib *t, uint64_t base, struct ct_gpu_place *place)
{
    ct_gpu_look(t->env.process->gpu, (const void *)(uintptr_t)base, place);
    return place->buffer_id;
}

/* Unused registrations, beyond what CTRAN_MEM_CACHE allows. */
static void ib_memory_trim(struct ct_ib *t)
{
    struct ct_list *node = t->memories.prev;
    while (node != &t->memories && t->nmemories > (uint32_t)t->env.cfg->mem_cache) {
        struct ct_ib_memory *m = CT_LIST_ENTRY(node, struct ct_ib_memory, node);
        node = node->prev;
        if (m->uses == 0) {
            ib_memory_free_memory(t, m);
        }
    }
}

static struct ct_ib_memory *ib_memory_find(struct ct_ib *t, uint64_t base, uint64_t len_bytes,
                                           uint64_t id)
{
    CT_LIST_FOR (node, &t->memories) {
        struct ct_ib_memory *m = CT_LIST_ENTRY(node, struct ct_ib_memory, node);
        if (base >= m->base && base + len_bytes <= m->base + m->len_bytes && m->buffer_id == id) {
            ct_list_remove(node);
            node->next = t->memories.next;
            node->prev = &t->memories;
            t->memories.next->prev = node;
            t->memories.next = node;
            return m;
        }
    }
    return NULL;
}

struct ct_ib_memory *ct_ib_memory_get(struct ct_ib *t, uint64_t base, uint64_t len_bytes,
                                      bool is_device)
{
    struct ct_gpu_place place = {.base = 0};
    if (is_device && (t->env.process == NULL || t->env.process->gpu == NULL)) {
        return NULL;
    }
    const uint64_t       id = is_device ? buffer_at(t, base, &place) : 0;
    struct ct_ib_memory *m = ib_memory_find(t, base, len_bytes, id);
    if (m == NULL) {
        m = calloc(1, sizeof *m);
        if (m == NULL) {
            return NULL;
        }
        const bool whole =
            is_device && base >= place.base && base + len_bytes <= place.base + place.len_bytes;
        *m = (struct ct_ib_memory){.base = whole ? place.base : base,
                                   .len_bytes = whole ? place.len_bytes : len_bytes,
                                   .buffer_id = id,
                                   .keeps = whole || (!is_device && t->env.cfg->ib_cache)};
        ct_list_append(&t->memories, &m->node);
        t->nmemories++;
        t->counters.allocations++;
        m->uses = 1;
        ib_memory_trim(t);
        return m;
    }
    m->uses++;
    return m;
}

bool ct_ib_memory_on(struct ct_ib *t, struct ct_ib_memory *m, const struct ct_ib_port *port,
                     uint32_t *lkey)
{
    struct ibv_mr **mr = &m->mr[port->index];
    if (*mr == NULL) {
        *mr = ib_memory_reg(t, port->pd, m->base, m->len_bytes, m->buffer_id != 0,
                            IBV_ACCESS_LOCAL_WRITE);
    }
    *lkey = *mr != NULL ? (*mr)->lkey : 0;
    return *mr != NULL;
}

void ct_ib_memory_put(struct ct_ib *t, struct ct_ib_memory *m)
{
    if (--m->uses == 0 && !m->keeps) {
        ib_memory_free_memory(t, m);
    }
}

void ct_ib_memory_fini(struct ct_ib *t)
{
    while (!ct_list_empty(&t->memories)) {
        ib_memory_free_memory(t, CT_LIST_ENTRY(t->memories.next, struct ct_ib_memory, node));
    }
}

/* ---- regions for peers ----------------------------------------------------------------------- */

struct region {
    struct ct_net_mr base;
    uint64_t         key, addr, len_bytes;
    uint32_t         access, peer; /* see struct ct_net_region */
    struct ibv_mr   *mr[CT_IB_MAX_PORTS];
};

static int rights_of(uint32_t access)
{
    return ((access & CT_NET_REMOTE_READ) != 0 ? IBV_ACCESS_REMOTE_READ : 0) |
           ((access & CT_NET_REMOTE_WRITE) != 0 ? IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_LOCAL_WRITE
                                                : 0) |
           ((access & CT_NET_REMOTE_ATOMIC) != 0 ? IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_LOCAL_WRITE
                                                 : 0);
}

int ct_ib_mem_reg(struct ct_net *net, const struct ct_net_region *what, struct ct_net_mr **mr)
{
    struct ct_ib  *t = ct_ib_of(net);
    struct region *r = t->unusable == NULL ? calloc(1, sizeof *r) : NULL;
    if (r == NULL) {
        return t->unusable == NULL ? CTRAN_ERR_NO_MEM : CTRAN_ERR_UNSUPPORTED_OPERATION;
    }
    const struct ct_area *area = what->area;
    *r = (struct region){.base = {net},
                         .key = what->key,
                         .addr = (uintptr_t)area->base,
                         .len_bytes = area->len_bytes,
                         .access = what->access,
                         .peer = what->peer};
    for (unsigned i = 0; i < t->nports; i++) {
        r->mr[i] = ib_memory_reg(t, t->ports[i]->pd, r->addr, r->len_bytes, !ct_area_is_plain(area),
                                 rights_of(r->access));
        if (r->mr[i] == NULL) {
            ct_debug(t->env.log, "%zu bytes cannot be registered with port %s: %s", area->len_bytes,
                     t->ports[i]->name, strerror(errno));
            ct_ib_mem_dereg(&r->base);
            return CTRAN_ERR_UNSUPPORTED_OPERATION;
        }
    }
    *mr = &r->base;
    return CTRAN_SUCCESS;
}

void ct_ib_mem_dereg(struct ct_net_mr *mr)
{
    struct region *r = CT_CONTAINER_OF(mr, struct region, base);
    struct ct_ib  *t = ct_ib_of(mr->net);
    for (unsigned i = 0; i < CT_IB_MAX_PORTS; i++) {
        if (r->mr[i] != NULL && t->v->dereg_mr(r->mr[i]) != 0) {
            ct_error(t->env.log, "memory cannot be withdrawn from port %s: %s", t->ports[i]->name,
                     strerror(errno));
        }
    }
    free(r);
}

/* ---- keys ------------------------------------------------------------------------------------ */

size_t ct_ib_rkey_pack(const struct ct_net_mr *mr, void *out)
{
    const struct region  *r = CT_CONTAINER_OF(mr, struct region, base);
    const struct ct_ib   *t = ct_ib_of(mr->net);
    struct ct_ib_wire_key wire = {.magic = CT_IB_KEY_MAGIC,
                                  .access = r->access,
                                  .instance = t->addr.instance,
                                  .key = r->key,
                                  .addr = r->addr,
                                  .len_bytes = r->len_bytes,
                                  .peer = r->peer,
                                  .nports = t->nports};
    for (unsigned i = 0; i < t->nports; i++) {
        wire.rkey[i] = r->mr[i]->rkey;
    }
    ct_auth_tag(&t->key, &wire, offsetof(struct ct_ib_wire_key, tag), wire.tag, sizeof wire.tag);
    memcpy(out, &wire, sizeof wire);
    return sizeof wire;
}

static bool is_for_us(const struct ct_ib_peer *peer, const struct ct_ib_wire_key *wire)
{
    const struct ct_ib *t = peer->t;
    return wire->magic == CT_IB_KEY_MAGIC && wire->instance == peer->addr.instance &&
           wire->nports == peer->addr.nports &&
           (wire->peer == CT_NET_ANY_PEER || wire->peer == t->env.id) &&
           ct_auth_tag_check(&t->key, wire, offsetof(struct ct_ib_wire_key, tag), wire->tag,
                             sizeof wire->tag);
}

static bool has_atomics(const struct ct_ib_peer *peer)
{
    enum { AUTO, NIC };
    const struct ct_ib *t = peer->t;
    bool                coherent = !ct_ib_path_has_backup(peer);
    for (unsigned i = 0; i < t->nports; i++) {
        coherent = coherent && t->ports[i]->coherent;
    }
    return t->env.cfg->ib_atomics == NIC || (t->env.cfg->ib_atomics == AUTO && coherent);
}

int ct_ib_rkey_open(struct ct_net_link *link, const void *bytes, size_t len_bytes,
                    struct ct_net_rkey **rkey)
{
    struct ct_ib_peer    *peer = ct_ib_peer_of(link);
    struct ct_ib_wire_key wire;
    if (len_bytes != sizeof wire) {
        return CT_REFUSED;
    }
    memcpy(&wire, bytes, sizeof wire);
    if (!is_for_us(peer, &wire)) {
        return CT_REFUSED;
    }
    struct ct_ib_rkey *k = calloc(1, sizeof *k);
    if (k == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    *k = (struct ct_ib_rkey){
        .base = {link, 1 << CT_NET_OP_GET | 1 << CT_NET_OP_PUT, CT_NET_REACH_WIRED},
        .key = wire.key,
        .addr = wire.addr,
        .len_bytes = wire.len_bytes,
        .access = wire.access};
    if (has_atomics(peer)) {
        k->base.ops |= 1 << CT_NET_OP_ATOMIC;
    }
    memcpy(k->rkey, wire.rkey, sizeof k->rkey);
    *rkey = &k->base;
    return CTRAN_SUCCESS;
}

void ct_ib_rkey_close(struct ct_net_rkey *rkey)
{
    free(ct_ib_rkey_of(rkey));
}
