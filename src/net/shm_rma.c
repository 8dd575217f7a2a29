/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations of shm_rma.h. */
#define CT_FOLDER "net"
#include "net/shm_rma.h"

#include <stdlib.h>

#include "net/shm_own.h"
#include "pmi/pmi.h"

struct shm_mr {
    struct ct_net_mr base;
    uint64_t         key;
    uint32_t         slot;
};

/* A packed key. */
struct shm_wire_rkey {
    uint64_t nonce[2]; /* of the owner's segment */
    uint64_t key;
    uint32_t slot, zero;
};

struct shm_rkey {
    struct ct_net_rkey       base;
    struct ct_shm_region    *entry; /* in the owner's segment */
    uint64_t                 key;
    uint64_t                 addr, len_bytes; /* of the region, at its owner */
    uint32_t                 access;
    char                    *at; /* where it lies here; NULL: it is not mapped */
    struct ct_attach_mapping mapping;
};

enum { ALL_OPS = 1 << CT_NET_OP_GET | 1 << CT_NET_OP_PUT | 1 << CT_NET_OP_ATOMIC };
enum { COPY_OPS = 1 << CT_NET_OP_GET | 1 << CT_NET_OP_PUT };

static struct shm_rkey *rkey_of(struct ct_net_rkey *rkey)
{
    return CT_CONTAINER_OF(rkey, struct shm_rkey, base);
}

/* ---- the owner ------------------------------------------------------------------------------- */

static int shm_mem_reg(struct ct_net *net, const struct ct_net_region *region,
                       struct ct_net_mr **mr)
{
    struct ct_shm_region *all = ct_shm_of(net)->own.head->regions;
    uint32_t              slot = 0;
    while (slot < CT_SHM_REGIONS &&
           atomic_load_explicit(&all[slot].key, memory_order_relaxed) != 0) {
        slot++;
    }
    if (slot == CT_SHM_REGIONS || region->memory != NULL) {
        return CTRAN_ERR_UNSUPPORTED_OPERATION;
    }
    struct shm_mr *m = calloc(1, sizeof *m);
    if (m == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    *m = (struct shm_mr){.base = {net}, .key = region->key, .slot = slot};
    atomic_store_explicit(&all[slot].addr, (uintptr_t)region->base, memory_order_relaxed);
    atomic_store_explicit(&all[slot].len_bytes, region->len_bytes, memory_order_relaxed);
    atomic_store_explicit(&all[slot].access, region->access, memory_order_relaxed);
    atomic_store_explicit(&all[slot].peer, region->peer, memory_order_relaxed);
    atomic_store_explicit(&all[slot].key, region->key, memory_order_release);
    *mr = &m->base;
    return CTRAN_SUCCESS;
}

/* seq_cst: what the owner does with the memory next comes after it. */
static void shm_mem_dereg(struct ct_net_mr *mr)
{
    struct shm_mr *m = CT_CONTAINER_OF(mr, struct shm_mr, base);
    struct ct_shm *s = ct_shm_of(mr->net);
    atomic_store_explicit(&s->own.head->regions[m->slot].key, 0, memory_order_seq_cst);
    free(m);
}

static size_t shm_rkey_pack(const struct ct_net_mr *mr, void *out)
{
    const struct shm_mr       *m = CT_CONTAINER_OF(mr, struct shm_mr, base);
    const struct ct_shm_addr  *addr = &ct_shm_of(mr->net)->addr;
    const struct shm_wire_rkey wire = {
        .nonce = {addr->nonce[0], addr->nonce[1]}, .key = m->key, .slot = m->slot};
    memcpy(out, &wire, sizeof wire);
    return sizeof wire;
}

/* ---- the origin: keys ------------------------------------------------------------------------ */

static bool has_key(const struct shm_rkey *k)
{
    return atomic_load_explicit(&k->entry->key, memory_order_acquire) == k->key;
}

/* The entry as it stood at one moment with this key; false: it has another one, or is not for this
 * process. */
static bool read_entry(const struct ct_shm *s, struct shm_rkey *k)
{
    if (!has_key(k)) {
        return false;
    }
    k->addr = atomic_load_explicit(&k->entry->addr, memory_order_relaxed);
    k->len_bytes = atomic_load_explicit(&k->entry->len_bytes, memory_order_relaxed);
    k->access = atomic_load_explicit(&k->entry->access, memory_order_relaxed);
    const uint32_t peer = atomic_load_explicit(&k->entry->peer, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    return has_key(k) && (peer == CT_NET_ANY_PEER || peer == s->env.id);
}

/* How the memory is reached; false: not at all. */
static bool find_way(const struct ct_shm_peer *peer, struct shm_rkey *k)
{
    if (peer->copy == CT_SHM_COPY_DIRECT) {
        k->at = (char *)(uintptr_t)k->addr;
    } else {
        k->at = ct_attach_map(&peer->view, k->addr, k->len_bytes, &k->mapping);
    }
    k->base.reach = k->at != NULL ? CT_NET_REACH_MAPPED : CT_NET_REACH_COPIED;
    k->base.ops = k->at != NULL ? ALL_OPS : COPY_OPS;
    return k->at != NULL || peer->copy == CT_SHM_COPY_CMA;
}

static int shm_rkey_open(struct ct_net_link *link, const void *bytes, size_t len_bytes,
                         struct ct_net_rkey **rkey)
{
    struct ct_shm_peer  *peer = ct_shm_peer_of(link);
    struct shm_wire_rkey wire;
    if (len_bytes != sizeof wire) {
        return CT_REFUSED;
    }
    memcpy(&wire, bytes, sizeof wire);
    if (memcmp(wire.nonce, peer->addr.nonce, sizeof wire.nonce) != 0 ||
        wire.slot >= CT_SHM_REGIONS || wire.key == 0) {
        return CT_REFUSED;
    }
    struct shm_rkey *k = calloc(1, sizeof *k);
    if (k == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    k->base.link = link;
    k->entry = &peer->seg.head->regions[wire.slot];
    k->key = wire.key;
    int rc = read_entry(ct_shm_of(link->net), k) ? CTRAN_SUCCESS : CT_REFUSED;
    if (rc == CTRAN_SUCCESS && !find_way(peer, k)) {
        rc = CTRAN_ERR_UNSUPPORTED_OPERATION;
    }
    if (rc != CTRAN_SUCCESS) {
        free(k);
        return rc;
    }
    *rkey = &k->base;
    return CTRAN_SUCCESS;
}

static void shm_rkey_close(struct ct_net_rkey *rkey)
{
    struct shm_rkey *k = rkey_of(rkey);
    ct_attach_unmap(&k->mapping);
    free(k);
}

static void *shm_map(struct ct_net_rkey *rkey)
{
    return rkey_of(rkey)->at;
}

/* ---- the origin: operations ------------------------------------------------------------------ */

/* By the kernel. The pid is looked at before bytes are written, and after bytes were read. */
static int copy(struct ct_shm_peer *peer, const struct shm_rkey *k, const struct ct_net_rma *op)
{
    struct ct_shm *s = ct_shm_of(peer->link.net);
    const bool     is_put = op->op == CT_NET_OP_PUT;
    if (is_put && !ct_shm_keeps_pid(s, peer)) {
        return CTRAN_ERR_PROC_FAILED;
    }
    const int rc = ct_shm_copy_part(peer->addr.pid, op->area, op->pos, op->len_bytes,
                                    k->addr + op->offset, is_put);
    return rc == CTRAN_SUCCESS && !ct_shm_keeps_pid(s, peer) ? CTRAN_ERR_PROC_FAILED : rc;
}

static int carry_out(struct ct_shm_peer *peer, const struct ct_net_rma *op)
{
    const struct shm_rkey *k = rkey_of(op->rkey);
    if (peer->lost || peer->gone) {
        return CTRAN_ERR_PROC_FAILED;
    }
    if (!has_key(k) || !ct_net_rma_may(op, k->len_bytes, k->access)) {
        return CT_REFUSED;
    }
    if (op->op == CT_NET_OP_ATOMIC) {
        return ct_net_atomic_apply(k->at + op->offset, op);
    }
    return k->at != NULL ? ct_net_rma_copy(op, k->at + op->offset) : copy(peer, k, op);
}

/* Whether post can do it at all. */
static bool is_possible(const struct ct_net_rma *op)
{
    return (op->rkey->ops >> op->op & 1) != 0 &&
           (op->op == CT_NET_OP_ATOMIC || op->len_bytes == 0 ||
            op->rkey->reach == CT_NET_REACH_MAPPED || ct_area_is_plain(op->area));
}

/* With room for a notification first: an operation that is not taken has done nothing. */
static int shm_post(struct ct_net_link *link, struct ct_net_rma *const ops[], unsigned n,
                    unsigned *taken)
{
    struct ct_shm_peer *peer = ct_shm_peer_of(link);
    for (*taken = 0; *taken < n; (*taken)++) {
        const struct ct_net_rma *op = ops[*taken];
        const bool               notify = op->op == CT_NET_OP_PUT && op->notify && !peer->lost;
        if (!is_possible(op)) {
            return CTRAN_ERR_UNSUPPORTED_OPERATION;
        }
        char *to = notify ? ct_ring_pair_reserve(&peer->tx, sizeof(struct ct_net_notice), 0) : NULL;
        if (notify && to == NULL) {
            ct_shm_wake_peer(peer);
            return CT_AGAIN;
        }
        const int rc = carry_out(peer, op);
        peer->gone |= rc == CTRAN_ERR_PROC_FAILED;
        if (notify && rc == CTRAN_SUCCESS) {
            const struct ct_net_notice notice = {rkey_of(op->rkey)->key, op->notice, 0};
            memcpy(to, &notice, sizeof notice);
            ct_ring_pair_publish(&peer->tx, CT_NET_NOTIFY, sizeof notice, 0);
            ct_shm_wake_peer(peer);
        }
        ct_net_comp_now(op->comp, rc);
    }
    return CTRAN_SUCCESS;
}

/* Operations are over when they return. */
static int shm_fence(struct ct_net_link *link)
{
    (void)link;
    atomic_thread_fence(memory_order_seq_cst);
    return CTRAN_SUCCESS;
}

static void shm_flush(struct ct_net_link *link, struct ct_net_comp *comp)
{
    const struct ct_shm_peer *peer = ct_shm_peer_of(link);
    (void)shm_fence(link);
    ct_net_comp_now(comp, peer->lost || peer->gone ? CTRAN_ERR_PROC_FAILED : CTRAN_SUCCESS);
}

/* By the host's calibration; by its guesses where there is no job. */
static int shm_query(struct ct_net_link *link, enum ct_net_op op, enum ct_net_reach reach,
                     struct ct_net_cost *cost)
{
    const struct ct_process *p = ct_shm_of(link->net)->env.process;
    struct ct_calibration    guess;
    ct_calibration_guess(&guess);
    const struct ct_calibration *c = p != NULL && p->job != NULL ? &p->job->calibration : &guess;
    const uint64_t              *figure = c->figure;
    if (reach == CT_NET_REACH_MAPPED) {
        cost->lat_ns = (uint32_t)ct_calibration_line_ns(c);
        cost->bytes_per_us = (uint32_t)figure[CT_FIGURE_copy_memory];
    } else if (reach == CT_NET_REACH_COPIED && op != CT_NET_OP_ATOMIC) {
        cost->lat_ns = (uint32_t)figure[CT_FIGURE_kernel_copy_ns];
        cost->bytes_per_us = (uint32_t)figure[CT_FIGURE_kernel_copy_memory];
    } else {
        return CTRAN_ERR_UNSUPPORTED_OPERATION;
    }
    cost->max_bytes = SIZE_MAX;
    cost->flags = CT_NET_ORIGIN_COPIES;
    return CTRAN_SUCCESS;
}

const struct ct_net_rma_ops ct_shm_rma_ops = {
    .mem_reg = shm_mem_reg,
    .mem_dereg = shm_mem_dereg,
    .rkey_pack = shm_rkey_pack,
    .rkey_open = shm_rkey_open,
    .rkey_close = shm_rkey_close,
    .map = shm_map,
    .post = shm_post,
    .fence = shm_fence,
    .flush = shm_flush,
    .query = shm_query,
};
