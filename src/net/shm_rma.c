/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations of shm_rma.h. */
#define CT_FOLDER "net"
#include "net/shm_rma.h"

#include "net/shm_own.h"
#include "net/shm_share.h"
#include "pmi/pmi.h"

enum { NO_SLOT = UINT32_MAX };

struct shm_mr {
    struct ct_net_mr     base;
    uint64_t             key, addr, len_bytes;
    uint32_t             slot; /* NO_SLOT: transient */
    uint32_t             access;
    bool                 is_device;
    struct ct_mem_export device; /* is_device: the whole of it */
};

/* A packed key; `device` follows if the region is memory of a GPU. */
struct shm_wire_rkey {
    uint64_t nonce[2]; /* of the owner's segment */
    uint64_t key;
    uint64_t addr, len_bytes; /* the origin believes these and `access` if there is no slot */
    uint32_t access, slot;
};

_Static_assert(sizeof(struct shm_wire_rkey) + sizeof(struct ct_mem_export) <= CT_NET_MAX_RKEY,
               "a key of a GPU's memory fits");

struct shm_rkey {
    struct ct_net_rkey       base;
    struct ct_shm_region    *entry; /* in the owner's segment; NULL: transient */
    uint64_t                 key;
    uint64_t                 addr, len_bytes; /* of the region, at its owner */
    uint32_t                 access;
    char                    *at; /* where it lies here; NULL: it is not mapped */
    struct ct_attach_mapping mapping;
    struct ct_mem_export     device; /* CT_NET_REACH_DEVICE */
};

enum { ALL_OPS = 1 << CT_NET_OP_GET | 1 << CT_NET_OP_PUT | 1 << CT_NET_OP_ATOMIC };
enum { COPY_OPS = 1 << CT_NET_OP_GET | 1 << CT_NET_OP_PUT };
enum { DEVICE_OPS = 1 << CT_NET_OP_GET };

static struct shm_rkey *rkey_of(struct ct_net_rkey *rkey)
{
    return CT_CONTAINER_OF(rkey, struct shm_rkey, base);
}

/* ---- the owner ------------------------------------------------------------------------------- */

/* The owner's entry for those of its regions that are not transient. False: there is no room. */
static bool take_slot(struct ct_shm *s, const struct ct_net_region *region, struct shm_mr *m)
{
    struct ct_shm_region *all = s->own.head->regions;
    for (m->slot = 0; m->slot < CT_SHM_REGIONS; m->slot++) {
        if (atomic_load_explicit(&all[m->slot].key, memory_order_relaxed) == 0) {
            struct ct_shm_region *r = &all[m->slot];
            atomic_store_explicit(&r->addr, m->addr, memory_order_relaxed);
            atomic_store_explicit(&r->len_bytes, m->len_bytes, memory_order_relaxed);
            atomic_store_explicit(&r->access, region->access, memory_order_relaxed);
            atomic_store_explicit(&r->peer, region->peer, memory_order_relaxed);
            atomic_store_explicit(&r->key, region->key, memory_order_release);
            return true;
        }
    }
    return false;
}

static int shm_mem_reg(struct ct_net *net, const struct ct_net_region *region,
                       struct ct_net_mr **mr)
{
    struct ct_shm        *s = ct_shm_of(net);
    const struct ct_area *area = region->area;
    const bool            is_device = area->pieces != NULL;
    struct shm_mr        *m = ct_slab_get(&s->mrs);
    if (m == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    m->base.net = net;
    m->key = region->key;
    m->addr = (uintptr_t)area->base;
    m->len_bytes = area->len_bytes;
    m->access = region->access;
    m->is_device = is_device;
    m->slot = NO_SLOT;
    if ((is_device && !ct_nvl_export(&s->nvl, area, &m->device)) ||
        (!region->transient && !take_slot(s, region, m))) {
        ct_slab_put(&s->mrs, m);
        return CTRAN_ERR_UNSUPPORTED_OPERATION;
    }
    *mr = &m->base;
    return CTRAN_SUCCESS;
}

/* seq_cst: what the owner does with the memory next comes after it. */
static void shm_mem_dereg(struct ct_net_mr *mr)
{
    struct shm_mr *m = CT_CONTAINER_OF(mr, struct shm_mr, base);
    struct ct_shm *s = ct_shm_of(mr->net);
    if (m->slot != NO_SLOT) {
        atomic_store_explicit(&s->own.head->regions[m->slot].key, 0, memory_order_seq_cst);
    }
    ct_slab_put(&s->mrs, m);
}

static size_t shm_rkey_pack(const struct ct_net_mr *mr, void *out)
{
    const struct shm_mr       *m = CT_CONTAINER_OF(mr, struct shm_mr, base);
    const struct ct_shm_addr  *addr = &ct_shm_of(mr->net)->addr;
    const struct shm_wire_rkey wire = {.nonce = {addr->nonce[0], addr->nonce[1]},
                                       .key = m->key,
                                       .addr = m->addr,
                                       .len_bytes = m->len_bytes,
                                       .access = m->access,
                                       .slot = m->slot};
    memcpy(out, &wire, sizeof wire);
    if (m->is_device) {
        memcpy((char *)out + sizeof wire, &m->device, sizeof m->device);
    }
    return sizeof wire + (m->is_device ? sizeof m->device : 0);
}

/* ---- the origin: keys ------------------------------------------------------------------------ */

static bool has_key(const struct shm_rkey *k)
{
    return k->entry == NULL || atomic_load_explicit(&k->entry->key, memory_order_acquire) == k->key;
}

/* The entry as it stood at one moment with this key; false: it has another one, or is not for this
 * process. */
static bool shm_rma_read_entry(const struct ct_shm *s, struct shm_rkey *k)
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

static void set_reach(struct shm_rkey *k, enum ct_net_reach reach, uint8_t ops)
{
    k->base.reach = reach;
    k->base.ops = ops;
}

/* How the memory is reached; false: not at all. */
static bool find_way(struct ct_shm_peer *peer, struct shm_rkey *k)
{
    if (peer->copy == CT_SHM_COPY_DIRECT) {
        k->at = (char *)(uintptr_t)k->addr;
    } else if (k->entry == NULL) {
        k->at = ct_attach_find(&peer->view, k->addr, k->len_bytes);
    } else {
        k->at = ct_attach_map(&peer->view, k->addr, k->len_bytes, &k->mapping);
    }
    set_reach(k, k->at != NULL ? CT_NET_REACH_MAPPED : CT_NET_REACH_COPIED,
              k->at != NULL ? ALL_OPS : COPY_OPS);
    return k->at != NULL || peer->copy == CT_SHM_COPY_CMA;
}

/* Reads a key's bytes. False: they are none of the peer's for this process. */
static bool read_wire(struct ct_shm_peer *peer, const void *bytes, size_t len_bytes,
                      struct shm_rkey *k)
{
    struct shm_wire_rkey wire;
    const bool           is_device = len_bytes == sizeof wire + sizeof k->device;
    if (len_bytes != sizeof wire && !is_device) {
        return false;
    }
    memcpy(&wire, bytes, sizeof wire);
    if (memcmp(wire.nonce, peer->addr.nonce, sizeof wire.nonce) != 0 || wire.key == 0 ||
        (wire.slot >= CT_SHM_REGIONS && wire.slot != NO_SLOT) ||
        wire.len_bytes > UINT64_MAX - wire.addr) {
        return false;
    }
    k->entry = wire.slot == NO_SLOT ? NULL : &peer->seg.head->regions[wire.slot];
    k->key = wire.key;
    k->addr = wire.addr;
    k->len_bytes = wire.len_bytes;
    k->access = wire.access;
    k->at = NULL;
    k->mapping.at = NULL;
    if (is_device) {
        memcpy(&k->device, (const char *)bytes + sizeof wire, sizeof k->device);
        set_reach(k, CT_NET_REACH_DEVICE, DEVICE_OPS);
    } else {
        set_reach(k, CT_NET_REACH_COPIED, COPY_OPS);
    }
    return k->entry == NULL || shm_rma_read_entry(ct_shm_of(peer->link.net), k);
}

static int shm_rkey_open(struct ct_net_link *link, const void *bytes, size_t len_bytes,
                         struct ct_net_rkey **rkey)
{
    struct ct_shm_peer *peer = ct_shm_peer_of(link);
    struct ct_shm      *s = ct_shm_of(link->net);
    struct shm_rkey    *k = ct_slab_get(&s->rkeys);
    if (k == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    k->base.link = link;
    int rc = read_wire(peer, bytes, len_bytes, k) ? CTRAN_SUCCESS : CT_REFUSED;
    if (rc == CTRAN_SUCCESS &&
        !(k->base.reach == CT_NET_REACH_DEVICE ? ct_nvl_may_get(&s->nvl, &peer->nvl)
                                               : find_way(peer, k))) {
        rc = CTRAN_ERR_UNSUPPORTED_OPERATION;
    }
    if (rc != CTRAN_SUCCESS) {
        ct_slab_put(&s->rkeys, k);
        return rc;
    }
    *rkey = &k->base;
    return CTRAN_SUCCESS;
}

static void shm_rkey_close(struct ct_net_rkey *rkey)
{
    struct shm_rkey *k = rkey_of(rkey);
    ct_attach_unmap(&k->mapping);
    ct_slab_put(&ct_shm_of(rkey->link->net)->rkeys, k);
}

static void *shm_map(struct ct_net_rkey *rkey)
{
    return rkey_of(rkey)->at;
}

/* ---- the origin: operations ------------------------------------------------------------------ */

/* By the kernel. The pid is looked at before bytes are written, and after bytes were read. */
static int shm_rma_copy(struct ct_shm_peer *peer, const struct shm_rkey *k,
                        const struct ct_net_rma *op)
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

/* A read of one block that both ends work at. */
static int shm_rma_share(struct ct_shm_peer *peer, const struct shm_rkey *k,
                         const struct ct_net_rma *op)
{
    const struct ct_shm_mate   owner = ct_shm_mate_of(peer);
    const struct ct_shm_remote from = {k->addr + op->offset, op->len_bytes, k->key};
    const uint32_t             place = ct_shm_of(peer->link.net)->env.local_index;
    return ct_shm_outcome(peer, ct_shm_share_read(ct_shm_segment_offer(&peer->seg, place),
                                                  &peer->seg.head->offer, place, &owner,
                                                  (char *)op->area->base + op->pos, &from));
}

static bool is_shared(const struct ct_shm_peer *peer, const struct ct_net_rma *op)
{
    return op->op == CT_NET_OP_GET && op->area->pieces == NULL &&
           op->area->len_bytes - op->pos >= op->len_bytes &&
           ct_shm_shares(&ct_shm_of(peer->link.net)->env, peer->addr.local_index, op->len_bytes);
}

static int shm_rma_carry_out(struct ct_shm_peer *peer, const struct ct_net_rma *op)
{
    const struct shm_rkey *k = rkey_of(op->rkey);
    if (op->op == CT_NET_OP_ATOMIC) {
        return ct_net_atomic_apply(k->at + op->offset, op);
    }
    if (is_shared(peer, op)) {
        return shm_rma_share(peer, k, op);
    }
    return k->at != NULL ? ct_net_rma_copy(op, k->at + op->offset) : shm_rma_copy(peer, k, op);
}

/* Whether the operation may be carried out: CTRAN_SUCCESS, or its error. */
static int shm_rma_check(const struct ct_shm_peer *peer, const struct ct_net_rma *op)
{
    const struct shm_rkey *k = rkey_of(op->rkey);
    if (peer->lost || peer->gone) {
        return CTRAN_ERR_PROC_FAILED;
    }
    return has_key(k) && ct_net_rma_may(op, k->len_bytes, k->access) ? CTRAN_SUCCESS : CT_REFUSED;
}

/* Whether post can do it at all. */
static bool is_possible(const struct ct_net_rma *op)
{
    return (op->rkey->ops >> op->op & 1) != 0 &&
           (op->op == CT_NET_OP_ATOMIC || op->len_bytes == 0 ||
            op->rkey->reach != CT_NET_REACH_COPIED || ct_area_is_plain(op->area));
}

/* By the copy engine. What is not started is told at once, or goes another way. */
static int post_device(struct ct_shm_peer *peer, const struct ct_net_rma *op)
{
    const int rc = shm_rma_check(peer, op);
    if (rc == CTRAN_SUCCESS && op->len_bytes > 0) {
        return ct_nvl_get(&ct_shm_of(peer->link.net)->nvl, &peer->nvl, &rkey_of(op->rkey)->device,
                          op);
    }
    ct_net_comp_now(op->comp, rc);
    return CTRAN_SUCCESS;
}

/* With room for a notification first: an operation that is not taken has done nothing. */
static int shm_rma_post_one(struct ct_shm_peer *peer, const struct ct_net_rma *op)
{
    const bool notify = op->op == CT_NET_OP_PUT && op->notify && !peer->lost;
    char *to = notify ? ct_ring_pair_reserve(&peer->tx, sizeof(struct ct_net_notice), 0) : NULL;
    if (notify && to == NULL) {
        ct_shm_wake_peer(peer);
        return CT_AGAIN;
    }
    int rc = shm_rma_check(peer, op);
    rc = rc == CTRAN_SUCCESS ? shm_rma_carry_out(peer, op) : rc;
    peer->gone |= rc == CTRAN_ERR_PROC_FAILED;
    if (notify && rc == CTRAN_SUCCESS) {
        const struct ct_net_notice notice = {rkey_of(op->rkey)->key, op->notice, 0};
        memcpy(to, &notice, sizeof notice);
        ct_ring_pair_publish(&peer->tx, CT_NET_NOTIFY, sizeof notice, 0);
        ct_shm_wake_peer(peer);
    }
    ct_net_comp_now(op->comp, rc);
    return CTRAN_SUCCESS;
}

static int shm_post(struct ct_net_link *link, struct ct_net_rma *const ops[], unsigned n,
                    unsigned *taken)
{
    struct ct_shm_peer *peer = ct_shm_peer_of(link);
    int                 rc = CTRAN_SUCCESS;
    for (*taken = 0; *taken < n && rc == CTRAN_SUCCESS; *taken += rc == CTRAN_SUCCESS) {
        const struct ct_net_rma *op = ops[*taken];
        rc = !is_possible(op)                         ? CTRAN_ERR_UNSUPPORTED_OPERATION
             : op->rkey->reach == CT_NET_REACH_DEVICE ? post_device(peer, op)
                                                      : shm_rma_post_one(peer, op);
    }
    return rc;
}

/* Whether the peer maps memory that this process exposes: the peer says if it could not. */
static bool is_mapped_there(struct ct_shm_peer *peer, const struct ct_area *area)
{
    const struct ct_shm *s = ct_shm_of(peer->link.net);
    return peer->link.attaches && ct_expose_has(s->env.process, area->base, area->len_bytes) &&
           atomic_load_explicit(&ct_shm_segment_offer(&s->own, peer->addr.local_index)->blind,
                                memory_order_relaxed) == 0;
}

/* What the kernel lets this process copy it lets the peer. */
static int shm_reach(struct ct_net_link *link, const struct ct_area *area, enum ct_net_reach *reach)
{
    struct ct_shm_peer  *peer = ct_shm_peer_of(link);
    struct ct_mem_export device;
    if (area->pieces != NULL) {
        *reach = CT_NET_REACH_DEVICE;
        return ct_nvl_export(&ct_shm_of(link->net)->nvl, area, &device)
                   ? CTRAN_SUCCESS
                   : CTRAN_ERR_UNSUPPORTED_OPERATION;
    }
    *reach = is_mapped_there(peer, area) ? CT_NET_REACH_MAPPED : CT_NET_REACH_COPIED;
    return *reach == CT_NET_REACH_MAPPED || peer->copy != CT_SHM_COPY_OFF
               ? CTRAN_SUCCESS
               : CTRAN_ERR_UNSUPPORTED_OPERATION;
}

/* Operations are over when they return, except those of a copy engine. */
static int shm_fence(struct ct_net_link *link)
{
    atomic_thread_fence(memory_order_seq_cst);
    return ct_nvl_fence(&ct_shm_peer_of(link)->nvl);
}

static void shm_flush(struct ct_net_link *link, struct ct_net_comp *comp)
{
    struct ct_shm_peer *peer = ct_shm_peer_of(link);
    const bool          lost = peer->lost || peer->gone;
    atomic_thread_fence(memory_order_seq_cst);
    ct_nvl_flush(&peer->nvl, comp, lost ? CTRAN_ERR_PROC_FAILED : CTRAN_SUCCESS);
}

/* Guesses, of a host of today: loads and stores between cores, a system call, calls of a driver. */
static int shm_typical(enum ct_net_op op, enum ct_net_reach reach, struct ct_net_cost *cost)
{
    static const struct ct_net_cost message = {300, 5000, SIZE_MAX, CT_NET_TARGET_CPU};
    static const struct ct_net_cost all[CT_NET_REACHES] = {
        [CT_NET_REACH_MAPPED] = {100, 10000, SIZE_MAX, CT_NET_ORIGIN_COPIES},
        [CT_NET_REACH_COPIED] = {700, 8000, SIZE_MAX, CT_NET_ORIGIN_COPIES},
        [CT_NET_REACH_DEVICE] = {15000, 20000, SIZE_MAX, CT_NET_ASYNC},
    };
    static const uint8_t ops[CT_NET_REACHES] = {[CT_NET_REACH_MAPPED] = ALL_OPS,
                                                [CT_NET_REACH_COPIED] = COPY_OPS,
                                                [CT_NET_REACH_DEVICE] = DEVICE_OPS};
    *cost = op == CT_NET_OP_SEND ? message : all[reach];
    return op == CT_NET_OP_SEND || (ops[reach] >> op & 1) != 0 ? CTRAN_SUCCESS
                                                               : CTRAN_ERR_UNSUPPORTED_OPERATION;
}

/* Whether memory of this peer is reached so. */
static bool has_reach(struct ct_shm_peer *peer, enum ct_net_reach reach)
{
    switch (reach) {
    case CT_NET_REACH_MAPPED:
        return peer->link.attaches || peer->copy == CT_SHM_COPY_DIRECT;
    case CT_NET_REACH_COPIED:
        return peer->copy != CT_SHM_COPY_OFF;
    case CT_NET_REACH_DEVICE:
        return ct_nvl_may_get(&ct_shm_of(peer->link.net)->nvl, &peer->nvl);
    default:
        return false;
    }
}

/* By the host's calibration; by its guesses where there is no job. */
static void shm_rma_calibrate(const struct ct_process *p, enum ct_net_reach reach,
                              struct ct_net_cost *cost)
{
    struct ct_calibration guess;
    ct_calibration_guess(&guess);
    const struct ct_calibration *c = p != NULL && p->job != NULL ? &p->job->calibration : &guess;
    if (reach == CT_NET_REACH_MAPPED) {
        cost->lat_ns = (uint32_t)ct_calibration_line_ns(c);
        cost->bytes_per_us = (uint32_t)c->figure[CT_FIGURE_copy_memory];
    } else if (reach == CT_NET_REACH_COPIED) {
        cost->lat_ns = (uint32_t)c->figure[CT_FIGURE_kernel_copy_ns];
        cost->bytes_per_us = (uint32_t)c->figure[CT_FIGURE_kernel_copy_memory];
    }
}

static int shm_query(struct ct_net_link *link, enum ct_net_op op, enum ct_net_reach reach,
                     struct ct_net_cost *cost)
{
    const int rc = op == CT_NET_OP_SEND || has_reach(ct_shm_peer_of(link), reach)
                       ? shm_typical(op, reach, cost)
                       : CTRAN_ERR_UNSUPPORTED_OPERATION;
    if (rc == CTRAN_SUCCESS && op != CT_NET_OP_SEND) {
        shm_rma_calibrate(ct_shm_of(link->net)->env.process, reach, cost);
    }
    return rc;
}

void ct_shm_rma_init(struct ct_shm *s)
{
    ct_slab_init(&s->mrs, sizeof(struct shm_mr), 16);
    ct_slab_init(&s->rkeys, sizeof(struct shm_rkey), 16);
}

void ct_shm_rma_fini(struct ct_shm *s)
{
    ct_slab_fini(&s->mrs);
    ct_slab_fini(&s->rkeys);
}

const struct ct_net_rma_ops ct_shm_rma_ops = {
    .mem_reg = shm_mem_reg,
    .mem_dereg = shm_mem_dereg,
    .rkey_pack = shm_rkey_pack,
    .rkey_open = shm_rkey_open,
    .rkey_close = shm_rkey_close,
    .map = shm_map,
    .reach = shm_reach,
    .post = shm_post,
    .fence = shm_fence,
    .flush = shm_flush,
    .query = shm_query,
    .typical = shm_typical,
};
