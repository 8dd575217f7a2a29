/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the ranks make a window: they tell each other sizes and units, allocate, exchange the keys of
 * what they expose, and agree on who maps what. An error of one rank is an error of all, at the
 * end of the exchange in which it was found. Called by win.c.
 */
#define CT_FOLDER "rma"
#include <inttypes.h>
#include <limits.h>

#include "mem/mem.h"
#include "node/node.h"
#include "pmi/pmi.h"
#include "rma/make.h"

/* ---- exchanges ------------------------------------------------------------------------------- */

static int allgather(struct ct_win *win, const void *own, void *all, size_t bytes)
{
    struct ct_coll c;
    ct_coll_init(&c, win->comm, NULL);
    ct_coll_allgather(&c, own, all, bytes);
    return ct_coll_run(&c);
}

const char *ct_win_fact_fault(const struct ct_win_fact *fact)
{
    if (fact->size_bytes < 0) {
        return "a negative size";
    }
    if (fact->disp_unit < 1 || fact->disp_unit > INT_MAX) {
        return "a displacement unit that is not from 1 to INT_MAX";
    }
    if (fact->key_bytes > CT_EP_MAX_RKEY || fact->ctl_key_bytes > CT_EP_MAX_RKEY) {
        return "a key that is longer than any key";
    }
    if (fact->export_bytes != 0 && fact->export_bytes != sizeof(struct ct_mem_export)) {
        return "a description of a GPU's memory of another length";
    }
    return NULL;
}

/* A rank that says what cannot be true. */
static int refuse(const struct ct_win *win, uint32_t r, const char *fault)
{
    ct_error(&win->p->log,
             "rank %" PRIu32 " of a window's communicator stated %s: the window is not made; run "
             "the same version of the library on all ranks",
             r, fault);
    return CTRAN_ERR_INTERN;
}

/* The first error of any rank, or of what it says. */
static int first_error(const struct ct_win *win, const struct ct_win_fact *facts)
{
    for (uint32_t r = 0; r < win->n; r++) {
        const char *fault = ct_win_fact_fault(&facts[r]);
        if (facts[r].rc != CTRAN_SUCCESS) {
            return facts[r].rc;
        }
        if (fault != NULL) {
            return refuse(win, r, fault);
        }
    }
    return CTRAN_SUCCESS;
}

static int exchange(struct ct_win *win, int rc, struct ct_win_fact *own, struct ct_win_fact *facts)
{
    own->rc = rc;
    const int err = allgather(win, own, facts, sizeof *own);
    return err != CTRAN_SUCCESS ? err : first_error(win, facts);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Memory that ranks of the host map, if it is to be had; else any. */
static void *get_memory(struct ct_process *p, size_t bytes, size_t align)
{
    void *at = ct_expose_alloc(p, ct_max_size(bytes, (size_t)p->cfg.shm_alloc), align);
    if (at == NULL && posix_memalign(&at, align, ct_max_size(bytes, 1)) != 0) {
        return NULL;
    }
    return at;
}

void ct_win_put_memory(struct ct_process *p, void *at)
{
    if (at != NULL && !ct_expose_free(p, at)) {
        free(at);
    }
}

/* Whether the first rank holds the memory of all. */
static bool is_of_first(const struct ct_win *win)
{
    return win->flavor == CTRAN_WIN_FLAVOR_SHARED && !ct_win_is_noncontig(win);
}

/* The bytes of data that a rank's region has; CTRAN_ERR_SIZE: too many. */
static int bytes_of(const struct ct_win *win, const struct ct_win_fact *facts, uint32_t rank,
                    size_t *bytes)
{
    int64_t sum = is_of_first(win) ? 0 : facts[rank].size_bytes;
    for (uint32_t r = 0; is_of_first(win) && rank == 0 && r < win->n; r++) {
        if (__builtin_add_overflow(sum, facts[r].size_bytes, &sum)) {
            return CTRAN_ERR_SIZE;
        }
    }
    *bytes = (size_t)sum;
    return sum <= PTRDIFF_MAX - (1 << 20) ? CTRAN_SUCCESS : CTRAN_ERR_SIZE;
}

/* Data, if they are the window's to allocate, and the control block behind them. */
static int allocate(struct ct_win *win, const struct ct_win_plan *plan,
                    const struct ct_win_fact *facts)
{
    const bool own =
        plan->flavor == CTRAN_WIN_FLAVOR_ALLOCATE || plan->flavor == CTRAN_WIN_FLAVOR_SHARED;
    const size_t ctl = ct_ctl_bytes(win->n), align = ct_max_size(plan->align_bytes, 4096);
    const bool   on_device =
        plan->flavor == CTRAN_WIN_FLAVOR_ALLOCATE && (win->hints & CT_WIN_DEVICE) != 0;
    size_t bytes = 0;
    int    rc = own ? bytes_of(win, facts, win->me, &bytes) : CTRAN_SUCCESS;
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    const size_t at = on_device ? 0 : ct_round_up(bytes, CT_CACHE_LINE);
    char        *base = get_memory(win->p, at + ctl, align);
    void        *data = own ? base : plan->base;
    if (base == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    memset(base + at, 0, ctl);
    win->memory = base;
    win->ctl = (struct ct_win_ctl *)(base + at);
    if (on_device && bytes > 0) {
        rc = ct_win_device_get(win, bytes, align, &win->device, &data);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    win->base = own && bytes == 0 ? NULL : data;
    win->data_bytes = own                                       ? bytes
                      : plan->flavor == CTRAN_WIN_FLAVOR_CREATE ? (size_t)plan->size_bytes
                                                                : 0;
    win->kind = win->data_bytes > 0 ? ct_memory_of(win->p, win->base) : NULL;
    return CTRAN_SUCCESS;
}

/* ---- keys ------------------------------------------------------------------------------------ */

static int expose(struct ct_win *win, void *base, size_t bytes, struct ct_ep_region **region,
                  void *key, uint32_t *key_bytes)
{
    const struct ct_ep_exposure what = {.base = base,
                                        .len_bytes = bytes,
                                        .access = CT_NET_REMOTE_READ | CT_NET_REMOTE_WRITE |
                                                  CT_NET_REMOTE_ATOMIC,
                                        .peer = CT_EP_ANY_PEER};
    int                         rc = CTRAN_SUCCESS;
    if (bytes == 0) {
        return rc;
    }
    ct_domain_enter(win->p);
    rc = ct_ep_expose(win->p, &what, region);
    if (rc == CTRAN_SUCCESS) {
        *key_bytes = (uint32_t)ct_ep_region_pack(*region, key);
    }
    ct_domain_leave(win->p);
    return rc;
}

struct keys {
    char                 data[CT_EP_MAX_RKEY], ctl[CT_EP_MAX_RKEY];
    struct ct_mem_export device; /* of data, if they are a GPU's */
};

static int expose_both(struct ct_win *win, struct keys *keys, struct ct_win_fact *own)
{
    const size_t data = win->base != NULL ? win->data_bytes : 0;
    int          rc = expose(win, win->base, data, &win->region, keys->data, &own->key_bytes);
    if (rc == CTRAN_SUCCESS) {
        rc = expose(win, win->ctl, ct_ctl_bytes(win->n), &win->ctl_region, keys->ctl,
                    &own->ctl_key_bytes);
    }
    own->export_bytes = ct_win_device_export(win, &keys->device) ? sizeof keys->device : 0;
    return rc;
}

/* Everybody's keys, one behind the other: *stride bytes a rank. */
static int gather_keys(struct ct_win *win, const struct keys *keys, const struct ct_win_fact *facts,
                       char **all, size_t *stride)
{
    const struct ct_win_fact *own = &facts[win->me];
    *stride = 0;
    for (uint32_t r = 0; r < win->n; r++) {
        *stride = ct_max_size(*stride, (size_t)facts[r].key_bytes + facts[r].ctl_key_bytes +
                                           facts[r].export_bytes);
    }
    char *mine = calloc(1, *stride);
    *all = calloc(win->n, *stride);
    if (mine == NULL || *all == NULL) {
        free(mine);
        return CTRAN_ERR_NO_MEM;
    }
    memcpy(mine, keys->data, own->key_bytes);
    memcpy(mine + own->key_bytes, keys->ctl, own->ctl_key_bytes);
    memcpy(mine + own->key_bytes + own->ctl_key_bytes, &keys->device, own->export_bytes);
    const int rc = allgather(win, mine, *all, *stride);
    free(mine);
    return rc;
}

/* ---- peers ----------------------------------------------------------------------------------- */

/* A key as it came, and the bytes that it has to open. */
struct told_key {
    const char *at;
    uint32_t    len;
    uint64_t    least_bytes;
    bool        only_mapped; /* only the mapping is of use, not the transport */
};

static int open_key(struct ct_win_peer *peer, const struct told_key *told, struct ct_ep_rkey **key,
                    void **at) CT_IN_DOMAIN
{
    *at = NULL;
    if (told->len == 0) {
        return CTRAN_SUCCESS;
    }
    int rc = ct_ep_rkey_open(peer->ep, told->at, told->len, key);
    if (rc != CTRAN_SUCCESS) {
        *key = NULL;
        /* It was open for all until the owner gave the window up, as after a failure. */
        return rc == CT_REFUSED ? ct_win_lost(peer->win) : rc;
    }
    if (ct_ep_rkey_len(*key) < told->least_bytes) {
        return refuse(peer->win, (uint32_t)(peer - peer->win->peers),
                      "a size that its key does not cover");
    }
    *at = ct_ep_map(*key);
    if (told->only_mapped && *at == NULL) {
        ct_ep_rkey_close(*key);
        *key = NULL;
    }
    return CTRAN_SUCCESS;
}

static int open_peer(struct ct_win *win, uint32_t r, const char *keys,
                     const struct ct_win_fact *facts) CT_IN_DOMAIN
{
    const struct ct_win_fact *fact = &facts[r];
    struct ct_win_peer       *peer = &win->peers[r];
    void                     *at = win->base, *ctl = win->ctl;
    size_t                    bytes = 0;
    int                       rc = bytes_of(win, facts, r, &bytes);
    if (rc == CTRAN_SUCCESS && (r != win->me || win->kind != NULL)) {
        const struct told_key data = {keys, fact->key_bytes, bytes, false};
        rc = open_key(peer, &data, &peer->key, &at);
    }
    if (rc == CTRAN_SUCCESS && r != win->me) {
        const struct told_key of_ctl = {keys + fact->key_bytes, fact->ctl_key_bytes,
                                        ct_ctl_bytes(win->n), true};
        rc = open_key(peer, &of_ctl, &peer->ctl_key, &ctl);
    }
    peer->at = at;
    peer->ctl = ctl;
    peer->size_bytes = (uint64_t)fact->size_bytes;
    peer->disp_unit = fact->disp_unit;
    return rc;
}

/* The memory of a window that the first rank holds for all, cut up. */
static void share_out(struct ct_win *win, const struct ct_win_fact *facts)
{
    char *at = win->peers[0].at;
    for (uint32_t r = 0; r < win->n; r++) {
        win->peers[r].at = facts[r].size_bytes > 0 ? at : NULL;
        at += at != NULL ? facts[r].size_bytes : 0;
    }
    win->base = win->peers[win->me].at;
}

static int open_all(struct ct_win *win, const struct ct_win_fact *facts, const char *keys,
                    size_t stride)
{
    int rc = CTRAN_SUCCESS;
    ct_domain_enter(win->p);
    for (uint32_t r = 0; rc == CTRAN_SUCCESS && r < win->n; r++) {
        rc = open_peer(win, r, keys + r * stride, facts);
    }
    ct_domain_leave(win->p);
    if (rc == CTRAN_SUCCESS && is_of_first(win)) {
        share_out(win, facts);
    }
    return rc;
}

/* What the transport of each target reaches by a GPU's copy engine is mapped. */
static void map_devices(struct ct_win *win, const struct ct_win_fact *facts, const char *keys,
                        size_t stride)
{
    for (uint32_t r = 0; r < win->n; r++) {
        const char          *at = keys + r * stride + facts[r].key_bytes + facts[r].ctl_key_bytes;
        struct ct_mem_export from;
        if (facts[r].export_bytes == sizeof from) {
            memcpy(&from, at, sizeof from);
            ct_win_device_map(&win->peers[r], &from);
        }
    }
}

/* ---- agreement ------------------------------------------------------------------------------- */

/* What a rank says of each target, of which all have to say it; and, behind these, of itself. */
enum { MAPS_DATA = 1, MAPS_CTL = 2, NEEDS_NO_CPU = 4, WELL = 8 };

static bool maps_data(const struct ct_win *win, const struct ct_win_peer *peer)
{
    return win->flavor != CTRAN_WIN_FLAVOR_DYNAMIC && (peer->size_bytes == 0 || peer->at != NULL);
}

/* Whether puts and gets go without the target. */
static bool needs_no_cpu(const struct ct_win *win, const struct ct_win_peer *peer) CT_IN_DOMAIN
{
    struct ct_net_cost cost = {.flags = CT_NET_TARGET_CPU};
    if (maps_data(win, peer) || peer->device != NULL) {
        return true;
    }
    if (peer->key != NULL) {
        ct_ep_query(peer->key, CT_NET_OP_PUT, &cost);
    }
    return (cost.flags & CT_NET_TARGET_CPU) == 0;
}

static void say_votes(struct ct_win *win, int rc, uint8_t *votes)
{
    ct_domain_enter(win->p);
    for (uint32_t r = 0; r < win->n; r++) {
        const struct ct_win_peer *peer = &win->peers[r];
        votes[r] = rc != CTRAN_SUCCESS ? 0
                                       : (uint8_t)((maps_data(win, peer) ? MAPS_DATA : 0) |
                                                   (peer->ctl != NULL ? MAPS_CTL : 0) |
                                                   (needs_no_cpu(win, peer) ? NEEDS_NO_CPU : 0));
    }
    ct_domain_leave(win->p);
    votes[win->n] = rc == CTRAN_SUCCESS ? WELL : 0;
}

static bool is_shared_by_all(const struct ct_win *win, const uint8_t *votes)
{
    bool all = true;
    for (uint32_t r = 0; r < win->n; r++) {
        all = all && (votes[r] & MAPS_DATA) != 0;
    }
    return all;
}

/* One authority for all that a target's memory is asked for. */
static void take_votes(struct ct_win *win, const uint8_t *votes)
{
    const bool locks = (win->hints & CT_WIN_NO_LOCKS) == 0;
    for (uint32_t r = 0; r < win->n; r++) {
        struct ct_win_peer *peer = &win->peers[r];
        peer->locks_directly = (votes[r] & MAPS_CTL) != 0;
        peer->direct = peer->locks_directly && (votes[r] & MAPS_DATA) != 0;
        peer->maps_here = peer->at != NULL;
        win->needs_thread =
            win->needs_thread || (locks && (!peer->direct || (votes[r] & NEEDS_NO_CPU) == 0));
    }
}

static int agree(struct ct_win *win, int rc)
{
    uint8_t       *votes = calloc(win->n + 1, 1);
    struct ct_coll c;
    uint8_t        none = 0;
    if (votes != NULL) {
        say_votes(win, rc, votes);
    }
    ct_coll_init(&c, win->comm, NULL);
    ct_coll_allreduce(&c, CTRAN_IN_PLACE, votes != NULL ? votes : &none,
                      votes != NULL ? win->n + 1 : 0, ct_dtype_get(CTRAN_BYTE),
                      ct_op_get(CTRAN_BAND));
    if (votes == NULL) {
        ct_coll_leave_out(&c);
        return CTRAN_ERR_NO_MEM;
    }
    const int err = ct_coll_run(&c);
    rc = rc != CTRAN_SUCCESS ? rc : err;
    if (rc == CTRAN_SUCCESS && votes[win->n] == 0) {
        rc = CTRAN_ERR_OTHER; /* another rank has logged or returned why */
    }
    if (rc == CTRAN_SUCCESS && win->flavor == CTRAN_WIN_FLAVOR_SHARED &&
        !is_shared_by_all(win, votes)) {
        rc = CTRAN_ERR_RMA_SHARED;
    }
    if (rc == CTRAN_SUCCESS) {
        take_votes(win, votes);
    }
    free(votes);
    return rc;
}

/* Hints of all ranks, or of none. */
static void agree_on_hints(struct ct_win *win, const struct ct_win_fact *facts)
{
    const uint32_t agreed = CT_WIN_STREAMS | CT_WIN_NONCONTIG | CT_WIN_NO_LOCKS;
    for (uint32_t r = 0; r < win->n; r++) {
        win->hints &= facts[r].hints | ~agreed;
    }
}

int ct_win_exchange(struct ct_win *win, const struct ct_win_plan *plan)
{
    struct ct_win_fact own = {
        .size_bytes = plan->size_bytes, .disp_unit = plan->disp_unit, .hints = win->hints};
    struct ct_win_fact *facts = calloc(win->n, sizeof *facts);
    struct keys        *keys = malloc(sizeof *keys);
    char               *all = NULL;
    size_t              stride = 0;
    int                 rc = facts != NULL && keys != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
    /* Without memory for the facts the rank cannot take part: the others end with its failure. */
    if (rc == CTRAN_SUCCESS) {
        rc = exchange(win, CTRAN_SUCCESS, &own, facts);
    }
    if (rc == CTRAN_SUCCESS) {
        agree_on_hints(win, facts);
        rc = allocate(win, plan, facts);
        rc = rc == CTRAN_SUCCESS ? expose_both(win, keys, &own) : rc;
        rc = exchange(win, rc, &own, facts);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = gather_keys(win, keys, facts, &all, &stride);
        rc = rc == CTRAN_SUCCESS ? open_all(win, facts, all, stride) : rc;
        if (rc == CTRAN_SUCCESS) {
            map_devices(win, facts, all, stride);
        }
        ct_win_list(win); /* before a peer that is through may send to it */
        rc = agree(win, rc);
    }
    free(all);
    free(keys);
    free(facts);
    return rc;
}
