/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packed keys of regions: a head, which is all that messages need, and an entry for each transport
 * that has registered the memory. The origin takes the entry of the transport by which it reaches
 * the owner, if there is one. Called in the progress domain.
 */
#define CT_FOLDER "ep"
#include "ep/rma_own.h"
#include "ep/ways.h"

enum { MAGIC = 0x5952, NAME = 8 };

struct packed {
    uint16_t magic, nentries;
    uint32_t owner;
    uint64_t key, len_bytes;
    uint32_t access, zero;
};

struct entry {
    char     name[NAME]; /* of the transport */
    uint32_t len_bytes;  /* of what follows, padded to 8 */
    uint32_t zero;
};

_Static_assert(sizeof(struct packed) == 32 && sizeof(struct entry) == 16, "no padding");

/* ---- the owner ------------------------------------------------------------------------------- */

/* Registered at first need; NULL: the transport cannot. */
static struct ct_net_mr *mr_of(struct ct_ep_region *r, unsigned i) CT_IN_DOMAIN
{
    struct ct_net             *net = r->p->ep->nets[i];
    const struct ct_net_region region = {
        .key = r->key,
        .area = &r->area,
        .access = r->what.access,
        .peer = r->what.peer,
        .transient = r->what.transient,
    };
    if (r->mr[i] == NULL && r->listed &&
        net->ops->rma->mem_reg(net, &region, &r->mr[i]) != CTRAN_SUCCESS) {
        r->mr[i] = NULL;
    }
    return r->mr[i];
}

/* Adds the entry of a transport, if it can and there is room. Returns how many bytes there are. */
static size_t pack_entry(struct ct_ep_region *region, unsigned i, struct packed *head, char *out,
                         size_t at) CT_IN_DOMAIN
{
    struct ct_net_mr *mr = mr_of(region, i);
    struct entry      entry = {.len_bytes = 0};
    if (mr == NULL || at + sizeof entry + CT_NET_MAX_RKEY > CT_EP_MAX_RKEY) {
        return at; /* messages serve */
    }
    char *bytes = out + at + sizeof entry;
    strncpy(entry.name, mr->net->ops->name, NAME - 1);
    entry.len_bytes = (uint32_t)mr->net->ops->rma->rkey_pack(mr, bytes);
    memcpy(out + at, &entry, sizeof entry);
    memset(bytes + entry.len_bytes, 0, ct_round_up(entry.len_bytes, 8) - entry.len_bytes);
    head->nentries++;
    return at + sizeof entry + ct_round_up(entry.len_bytes, 8);
}

static struct packed head_of(const struct ct_ep_region *region)
{
    return (struct packed){.magic = MAGIC,
                           .owner = ct_job_me(region->p->job),
                           .key = region->key,
                           .len_bytes = region->area.len_bytes,
                           .access = region->what.access};
}

size_t ct_ep_region_pack(struct ct_ep_region *region, void *out)
{
    struct packed head = head_of(region);
    size_t        at = sizeof head;
    for (unsigned i = 0; i < region->p->ep->nnets; i++) {
        at = pack_entry(region, i, &head, out, at);
    }
    memcpy(out, &head, sizeof head);
    return at;
}

size_t ct_ep_region_pack_for(struct ct_ep_region *region, struct ct_ep *to, void *out)
{
    const struct ct_ep_set *set = region->p->ep;
    struct packed           head = head_of(region);
    size_t                  at = sizeof head;
    unsigned                i = 0;
    if (ct_ep_usable(to) != CTRAN_SUCCESS) {
        return 0;
    }
    while (set->nets[i] != to->link->net) {
        i++;
    }
    at = pack_entry(region, i, &head, out, at);
    memcpy(out, &head, sizeof head);
    return at;
}

void ct_ep_region_dereg(struct ct_ep_region *region)
{
    for (unsigned i = 0; i < CT_EP_MAX_NETS; i++) {
        if (region->mr[i] != NULL) {
            region->mr[i]->net->ops->rma->mem_dereg(region->mr[i]);
            region->mr[i] = NULL;
        }
    }
}

/* ---- the origin ------------------------------------------------------------------------------ */

/* The entry of a transport; NULL with *whole: there is none, else the bytes are no packed key. */
static const void *find_entry(const char *bytes, size_t len_bytes, unsigned n, const char *name,
                              size_t *found_bytes, bool *whole)
{
    const void *found = NULL;
    size_t      at = sizeof(struct packed);
    *whole = false;
    for (unsigned i = 0; i < n; i++) {
        struct entry entry;
        if (len_bytes - at < sizeof entry) {
            return NULL;
        }
        memcpy(&entry, bytes + at, sizeof entry);
        at += sizeof entry;
        if (entry.len_bytes > CT_NET_MAX_RKEY || len_bytes - at < ct_round_up(entry.len_bytes, 8)) {
            return NULL;
        }
        if (strncmp(entry.name, name, NAME - 1) == 0) {
            found = bytes + at;
            *found_bytes = entry.len_bytes;
        }
        at += ct_round_up(entry.len_bytes, 8);
    }
    *whole = at == len_bytes;
    return *whole ? found : NULL;
}

/* By the transport, if there is a way; CTRAN_SUCCESS, too, if messages have to do. */
static int open_net(struct ct_ep_rkey *k, const char *bytes, size_t len_bytes,
                    unsigned n) CT_IN_DOMAIN
{
    struct ct_net_link *link = k->ep->link;
    size_t              len = 0;
    bool                whole;
    const void         *entry = find_entry(bytes, len_bytes, n, link->net->ops->name, &len, &whole);
    if (!whole) {
        return CT_REFUSED;
    }
    const int rc = entry != NULL ? link->net->ops->rma->rkey_open(link, entry, len, &k->net)
                                 : CTRAN_ERR_UNSUPPORTED_OPERATION;
    return rc == CTRAN_ERR_UNSUPPORTED_OPERATION ? CTRAN_SUCCESS : rc;
}

int ct_ep_rkey_open(struct ct_ep *ep, const void *bytes, size_t len_bytes, struct ct_ep_rkey **rkey)
{
    struct packed head;
    int           rc = ct_ep_usable(ep);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (len_bytes < sizeof head || len_bytes > CT_EP_MAX_RKEY) {
        return CT_REFUSED;
    }
    memcpy(&head, bytes, sizeof head);
    if (head.magic != MAGIC || head.owner != ep->id) {
        return CT_REFUSED;
    }
    struct ct_ep_rkey *k = ct_slab_get(&ep->p->ep->rkey_slab);
    if (k == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    *k = (struct ct_ep_rkey){
        .ep = ep, .key = head.key, .len_bytes = head.len_bytes, .access = head.access};
    rc = open_net(k, bytes, len_bytes, head.nentries);
    if (rc != CTRAN_SUCCESS) {
        ct_slab_put(&ep->p->ep->rkey_slab, k);
        return rc;
    }
    *rkey = k;
    return CTRAN_SUCCESS;
}

void ct_ep_rkey_close(struct ct_ep_rkey *rkey)
{
    if (rkey->net != NULL) {
        rkey->net->link->net->ops->rma->rkey_close(rkey->net);
    }
    ct_slab_put(&rkey->ep->p->ep->rkey_slab, rkey);
}

uint64_t ct_ep_rkey_len(const struct ct_ep_rkey *rkey)
{
    return rkey->len_bytes;
}

uint32_t ct_ep_rkey_access(const struct ct_ep_rkey *rkey)
{
    return rkey->access;
}

bool ct_ep_rkey_is_direct(const struct ct_ep_rkey *rkey, enum ct_net_op op)
{
    return rkey->net != NULL && (rkey->net->ops >> op & 1) != 0;
}

enum ct_net_reach ct_ep_rkey_reach(const struct ct_ep_rkey *rkey)
{
    return rkey->net != NULL ? rkey->net->reach : CT_NET_REACH_WIRED;
}

void *ct_ep_map(const struct ct_ep_rkey *rkey)
{
    return rkey->net != NULL ? rkey->net->link->net->ops->rma->map(rkey->net) : NULL;
}
