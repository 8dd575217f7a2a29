/* SPDX-License-Identifier: BSD-3-Clause */
/* Endpoints: sending in order, failing, and the transports' callbacks. */
#define CT_FOLDER "ep"
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "ep/rma_own.h"
#include "ep/ways.h"
#include "pmi/pmi.h"

/* ---- callbacks from transports --------------------------------------------------------------- */

static void *peer(void *arg, uint32_t id, uint32_t incarnation)
{
    struct ct_ep_set *set = arg;
    (void)incarnation; /* there is only the first one yet: every process of the job bears 0 */
    return ct_ep_get(set->p, id);
}

static void deliver(void *peer_, uint8_t type, const void *hdr, size_t hdr_len, const void *data,
                    size_t len_bytes) CT_IN_DOMAIN
{
    struct ct_ep     *ep = peer_;
    struct ct_ep_set *set = ep->p->ep;
    if (CT_UNLIKELY(set->handlers[type] == NULL)) {
        ct_error(&ep->p->log, "a message of unknown type %u from rank %" PRIu32 " is dropped", type,
                 ep->id);
        return;
    }
    if (CT_LIKELY(ep->state != CT_EP_FAILED)) {
        set->from = ep->id != ct_job_me(ep->p->job) ? ep : set->from;
        set->handlers[type](ep, hdr, hdr_len, data, len_bytes);
    }
}

static int job_key(void *arg, struct ct_auth_key *key)
{
    struct ct_ep_set *set = arg;
    return ct_job_key(set->p->job, key);
}

static int distance(void *arg, uint32_t id) CT_IN_DOMAIN
{
    return ct_ep_distance(arg, id);
}

static void failed(void *peer_, int why) CT_IN_DOMAIN
{
    ct_ep_fail(peer_, why);
}

static void left(void *peer_) CT_IN_DOMAIN
{
    struct ct_ep *ep = peer_;
    ep->left = ep->state != CT_EP_FAILED;
    ct_ep_fail(ep, CTRAN_ERR_PROC_FAILED);
}

static const void *lookup(void *peer_, const struct ct_net *net, size_t *len_bytes)
{
    struct ct_ep *ep = peer_;
    const void   *record;
    size_t        record_len;
    if (ct_ep_record_get(ep, &record, &record_len) != CTRAN_SUCCESS) {
        return NULL;
    }
    return ct_ep_record_find(record, record_len, net->ops->name, len_bytes);
}

static void arrived(void *arg)
{
    struct ct_ep_set *set = arg;
    ct_wake_signal(set->wake);
}

/* Its arrival is all. */
static void on_nudge(struct ct_ep *from, const void *hdr, size_t hdr_len, const void *data,
                     size_t len_bytes) CT_IN_DOMAIN
{
    (void)from;
    (void)hdr;
    (void)hdr_len;
    (void)data;
    (void)len_bytes;
}

/* ---- init and fini --------------------------------------------------------------------------- */

/* Busy polling pays only while every rank of the host has a core. */
static uint64_t spin_ns(const struct ct_process *p)
{
    enum { WAKES = 10 }; /* what it may cost in vain, beside what a sleep costs */
    if (p->cfg.spin >= 0) {
        return (uint64_t)p->cfg.spin * 1000;
    }
    return p->job->nlocal <= p->job->ncpus ? WAKES * ct_calibration_wake_ns(&p->job->calibration)
                                           : 0;
}

/* By guesses until the address record is published, then by the host's calibration. */
static void set_waits(struct ct_ep_set *set) CT_UNCHECKED
{
    const uint64_t wake_ns = ct_calibration_wake_ns(&set->p->job->calibration);
    set->spin_ns = spin_ns(set->p);
    set->yield_ns = ct_wait_yield_ns(wake_ns, 0, false, false);
}

static int open_net(struct ct_ep_set *set, const char *name)
{
    const struct ct_net_ops *ops = ct_net_find(name);
    if (ops == NULL && ct_net_is_left_out(name)) {
        ct_debug(&set->p->log, "this build has no transport %s: its library was not found", name);
        return CTRAN_SUCCESS;
    }
    if (ops == NULL || set->nnets == CT_EP_MAX_NETS) {
        ct_error(&set->p->log,
                 "CTRAN_TRANSPORTS=\"%s\": there is no transport \"%s\"; ctran_info "
                 "lists them",
                 set->p->cfg.transports, name);
        return CTRAN_ERR_CONFIG;
    }
    struct ct_net *net;
    int            rc = ops->open(&set->env, &net);
    if (rc == CTRAN_SUCCESS) {
        set->nets[set->nnets++] = net;
        struct ct_wake *wake = ops->wake(net);
        set->wake = wake != NULL ? wake : set->wake;
    }
    return rc;
}

static int open_nets(struct ct_ep_set *set)
{
    char *names = strdup(set->p->cfg.transports), *save = NULL;
    int   rc = names != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
    for (char *name = names != NULL ? strtok_r(names, ", ", &save) : NULL;
         name != NULL && rc == CTRAN_SUCCESS; name = strtok_r(NULL, ", ", &save)) {
        rc = open_net(set, name);
    }
    free(names);
    return rc;
}

/* No other thread is here yet. */
int ct_ep_init(struct ct_process *p) CT_UNCHECKED
{
    struct ct_ep_set    *set = calloc(1, sizeof *set);
    const struct ct_job *job = p->job;
    if (set == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    p->ep = set;
    set->p = p;
    set->wake = &set->own_wake;
    set->bell = -1;
    set_waits(set);
    p->job->placement.moves = p->cfg.migrate;
    set->checked_ns = ct_clock_ns();
    ct_lock_init(&set->making, p->threaded);
    ct_lock_init(&set->domain.lock, p->threaded);
    ct_list_init(&set->domain.sleepers);
    ct_list_init(&set->domain.ready);
    set->domain.cores = job->ncpus / (job->nlocal > 0 ? job->nlocal : 1);
    ct_list_init(&set->stalled);
    ct_list_init(&set->failed);
    ct_list_init(&set->rma_reading);
    ct_ep_regions_init(set);
    set->env = (struct ct_net_env){
        .log = &p->log,
        .cfg = &p->cfg,
        .job = job->id,
        .id = ct_job_me(job),
        .first = job->first,
        .size = job->size,
        .others = job->has_family ? &set->others : NULL,
        .local_index = job->local_index,
        .nlocal = job->nlocal,
        .local_group = job->local_group,
        .placement = ct_ep_is_oversubscribed(p) ? &job->placement : NULL,
        .process = p,
        .arg = set,
        .peer = peer,
        .deliver = deliver,
        .region = ct_ep_region_area,
        .distance = distance,
        .key = job_key,
        .failed = failed,
        .left = left,
        .lookup = lookup,
        .arrived = arrived,
    };
    set->nudge = ct_ep_register(p, on_nudge);
    ct_ep_rma_register(p);
    set->npages = (uint32_t)ct_div_up(job->size, CT_EP_PAGE);
    set->pages = calloc(set->npages, sizeof *set->pages);
    int rc = set->pages != NULL ? open_nets(set) : CTRAN_ERR_NO_MEM;
    if (rc == CTRAN_SUCCESS) {
        rc = ct_ep_record_make(set);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = p->job->ops->publish(p->job, set->record, set->record_len);
    }
    if (rc != CTRAN_SUCCESS) {
        ct_ep_fini(p);
        return rc;
    }
    set_waits(set);
    (void)ct_job_events_set_wake(&p->job->events, set->wake);
    return CTRAN_SUCCESS;
}

/* No other thread is here any more. */
void ct_ep_fini(struct ct_process *p) CT_UNCHECKED
{
    struct ct_ep_set *set = p->ep;
    if (set == NULL) {
        return;
    }
    (void)ct_job_events_set_wake(&p->job->events, NULL); /* the word goes with its transport */
    ct_wake_cancel(set->wake);                           /* nobody shall ring a bell that is gone */
    ct_ep_regions_fini(set);
    while (set->nnets > 0) { /* with their links */
        struct ct_net *net = set->nets[--set->nnets];
        net->ops->close(net);
    }
    for (uint32_t i = 0; set->pages != NULL && i < set->npages; i++) {
        struct ct_ep_page *page = atomic_load_explicit(&set->pages[i], memory_order_relaxed);
        for (uint32_t j = 0; page != NULL && j < CT_EP_PAGE; j++) {
            struct ct_ep *ep = atomic_load_explicit(&page->ep[j], memory_order_relaxed);
            if (ep != NULL) {
                ct_ep_rma_fini(ep);
            }
            free(ep);
        }
        free(page);
    }
    struct ct_ep_other *other, *next;
    HASH_ITER (hh, set->foreign, other, next) {
        HASH_DEL(set->foreign, other);
        ct_ep_rma_fini(&other->ep);
        free(other);
    }
    if (set->bell >= 0) {
        close(set->bell);
    }
    ct_slab_fini(&set->rkey_slab);
    ct_slab_fini(&set->region_slab);
    ct_ep_locations_fini(set);
    ct_lock_fini(&set->making);
    ct_lock_fini(&set->domain.lock);
    free(set->pages);
    free(set->record);
    free(set);
    p->ep = NULL;
}

void ct_ep_set_threaded(struct ct_process *p) CT_UNCHECKED
{
    ct_lock_set(&p->ep->making, p->threaded);
    ct_lock_set(&p->ep->domain.lock, p->threaded);
}

uint8_t ct_ep_register(struct ct_process *p, ct_ep_handler handler)
{
    struct ct_ep_set *set = p->ep;
    assert(set->nhandlers < CT_EP_MAX_HANDLERS);
    set->handlers[++set->nhandlers] = handler;
    return set->nhandlers;
}

void ct_ep_register_fail(struct ct_process *p, ct_ep_on_fail on_fail)
{
    assert(p->ep->non_fail < CT_EP_MAX_ON_FAIL);
    p->ep->on_fail[p->ep->non_fail++] = on_fail;
}

void ct_ep_register_look(struct ct_process *p, ct_ep_on_look on_look)
{
    assert(p->ep->on_look == NULL);
    p->ep->on_look = on_look;
}

/* ---- endpoints ------------------------------------------------------------------------------- */

/* Of this job, by rank. */
static struct ct_ep *look_up(struct ct_ep_set *set, uint32_t rank)
{
    struct ct_ep_page *page =
        atomic_load_explicit(&set->pages[rank / CT_EP_PAGE], memory_order_acquire);
    return CT_LIKELY(page != NULL)
               ? atomic_load_explicit(&page->ep[rank % CT_EP_PAGE], memory_order_acquire)
               : NULL;
}

static void ep_init(struct ct_ep *ep, struct ct_process *p, uint32_t id) CT_UNCHECKED
{
    ep->p = p;
    ep->id = id;
    ct_list_init(&ep->pending);
    ct_list_init(&ep->stalled);
    ct_list_init(&ep->flow.line);
    ct_list_init(&ep->flow.lined);
    ct_list_init(&ep->flow.waits);
}

/* Makes what is missing and publishes it, each thing when it is complete. */
static struct ct_ep *make(struct ct_ep_set *set, uint32_t id) CT_REQUIRES(set->making)
{
    const uint32_t                rank = id - set->p->job->first;
    _Atomic(struct ct_ep_page *) *place = &set->pages[rank / CT_EP_PAGE];
    struct ct_ep_page            *page = atomic_load_explicit(place, memory_order_relaxed);
    if (page == NULL) {
        page = calloc(1, sizeof *page);
        atomic_store_explicit(place, page, memory_order_release);
    }
    struct ct_ep *ep = page != NULL ? calloc(1, sizeof *ep) : NULL;
    if (ep != NULL) {
        ep_init(ep, set->p, id);
        atomic_store_explicit(&page->ep[rank % CT_EP_PAGE], ep, memory_order_release);
    }
    return ep;
}

static CT_COLD struct ct_ep *get_first(struct ct_ep_set *set, uint32_t id)
{
    ct_lock_acquire(&set->making);
    struct ct_ep *ep =
        look_up(set, id - set->p->job->first); /* another thread may have made it meanwhile */
    ep = ep != NULL ? ep : make(set, id);
    ct_lock_release(&set->making);
    return ep;
}

/* Of another job. */
static CT_COLD struct ct_ep *get_foreign(struct ct_ep_set *set, uint32_t id)
{
    struct ct_ep_other *other = NULL;
    if (!atomic_load_explicit(&set->others, memory_order_acquire)) {
        return NULL;
    }
    ct_lock_acquire(&set->making);
    HASH_FIND(hh, set->foreign, &id, sizeof id, other);
    if (other == NULL && (other = calloc(1, sizeof *other)) != NULL) {
        ep_init(&other->ep, set->p, id);
        other->id = id;
        HASH_ADD(hh, set->foreign, id, sizeof other->id, other);
    }
    ct_lock_release(&set->making);
    return other != NULL ? &other->ep : NULL;
}

struct ct_ep *ct_ep_get(struct ct_process *p, uint32_t id)
{
    struct ct_ep_set *set = p->ep;
    if (CT_UNLIKELY(!ct_job_is_own(p->job, id))) {
        return get_foreign(set, id);
    }
    struct ct_ep *ep = look_up(set, id - p->job->first);
    return CT_LIKELY(ep != NULL) ? ep : get_first(set, id);
}

int ct_ep_meet_others(struct ct_process *p)
{
    struct ct_ep_set *set = p->ep;
    if (!p->job->has_family) {
        return CTRAN_ERR_UNSUPPORTED_OPERATION;
    }
    ct_domain_enter(p);
    int rc = atomic_load_explicit(&set->others, memory_order_relaxed)
                 ? CTRAN_SUCCESS
                 : ct_family_show(p->job, set->record, set->record_len);
    if (rc == CTRAN_SUCCESS) {
        atomic_store_explicit(&set->others, true, memory_order_release);
    }
    ct_domain_leave(p);
    return rc;
}

static int try_send(struct ct_ep *ep, struct ct_ep_op *op) CT_IN_DOMAIN
{
    struct ct_net_slice slice = {
        .type = op->id,
        .hdr_len = op->hdr_len,
        .hdr = op->hdr,
        .area = op->area,
        .pos = &op->pos,
        .len_bytes = op->len_bytes,
    };
    ct_ep_polls_reset(ep->p->ep);
    return ep->link->net->ops->send(ep->link, &slice);
}

int ct_ep_send(struct ct_ep *ep, struct ct_ep_op *op)
{
    int rc = ct_ep_usable(ep);
    if (CT_UNLIKELY(rc != CTRAN_SUCCESS)) {
        return rc;
    }
    if (CT_LIKELY(ct_list_empty(&ep->pending))) {
        rc = try_send(ep, op);
        if (CT_LIKELY(rc != CT_AGAIN)) {
            return rc;
        }
        ct_list_remove(&ep->stalled);
        ct_list_append(&ep->p->ep->stalled, &ep->stalled);
    }
    ct_list_append(&ep->pending, &op->node);
    return CT_QUEUED;
}

bool ct_ep_send_now(struct ct_ep *ep, uint8_t id, const void *hdr, size_t hdr_len,
                    const struct ct_area *area)
{
    size_t              pos = 0;
    struct ct_net_slice slice = {
        .type = id,
        .hdr_len = (uint8_t)hdr_len,
        .hdr = hdr,
        .area = area,
        .pos = &pos,
        .len_bytes = area->len_bytes,
    };
    ct_ep_polls_reset(ep->p->ep);
    return ep->state == CT_EP_CONNECTED && ct_list_empty(&ep->pending) &&
           ep->link->net->ops->send(ep->link, &slice) == CTRAN_SUCCESS;
}

/* Where there is no room, others are in line that wake the process as well. */
void ct_ep_nudge(struct ct_ep *ep)
{
    struct ct_ep_op op = {.id = ep->p->ep->nudge};
    if (ct_ep_usable(ep) == CTRAN_SUCCESS && ct_list_empty(&ep->pending)) {
        (void)try_send(ep, &op);
    }
}

size_t ct_ep_max_payload(struct ct_ep *ep)
{
    return ct_ep_usable(ep) == CTRAN_SUCCESS ? ep->link->max_slice : 0;
}

size_t ct_ep_most_eager(const struct ct_process *p)
{
    size_t most = 0;
    for (unsigned i = 0; i < p->ep->nnets; i++) {
        most = ct_max_size(most, p->ep->nets[i]->eager_bytes);
    }
    return most;
}

void ct_ep_fail(struct ct_ep *ep, int why)
{
    if (ep->state == CT_EP_FAILED) {
        return;
    }
    ct_info(&ep->p->log, "rank %" PRIu32 " %s: %s", ep->id, ep->left ? "has left" : "is lost",
            ct_error_text(why));
    ep->state = CT_EP_FAILED;
    ep->why = why;
    ep->dead = ep->p->job->events.on && why == CTRAN_ERR_PROC_FAILED &&
               !ep->left; /* the launcher is about to say */
    ct_list_remove(&ep->stalled);
    ct_list_append(&ep->p->ep->failed, &ep->stalled);
    ct_wake_signal(ep->p->ep->wake); /* a sleeper shall tell of it now */
}

void ct_ep_die(struct ct_ep *ep)
{
    ct_ep_fail(ep, CTRAN_ERR_PROC_FAILED);
    if (!ep->dead) {
        ep->dead = true;
        ct_list_remove(&ep->stalled);
        ct_list_append(&ep->p->ep->failed, &ep->stalled);
    }
}

/* Reports failures, here alone: the function that noticed a failure may have been in the middle of
 * other work. */
static unsigned tell_failures(struct ct_ep_set *set) CT_IN_DOMAIN
{
    unsigned n = 0;
    for (struct ct_list *node; (node = ct_list_pop(&set->failed)) != NULL; n++) {
        struct ct_ep *ep = CT_LIST_ENTRY(node, struct ct_ep, stalled);
        if (ep->link != NULL) { /* buffers of what is ended here are quiet */
            ep->link->net->ops->disconnect(ep->link);
            ep->link = NULL;
        }
        for (unsigned i = 0; i < set->nnets; i++) { /* it may have connected, and we not */
            set->nets[i]->ops->forget(set->nets[i], ep->id);
        }
        for (struct ct_list *first; (first = ct_list_pop(&ep->pending)) != NULL;) {
            struct ct_ep_op *op = CT_LIST_ENTRY(first, struct ct_ep_op, node);
            op->done(op, ep->why);
        }
        ct_ep_rma_fail(ep);
        ct_ep_regions_fail(ep);
        for (unsigned i = 0; i < set->non_fail; i++) {
            set->on_fail[i](ep);
        }
        set->losses++;
    }
    return n;
}

/* Sends what waited for room, until there is none again; returns how many went. An endpoint with
 * messages left goes back to the stalled ones. */
static unsigned retry(struct ct_ep *ep) CT_IN_DOMAIN
{
    unsigned n = 0;
    while (!ct_list_empty(&ep->pending) && ep->state == CT_EP_CONNECTED) {
        struct ct_ep_op *op = CT_LIST_ENTRY(ep->pending.next, struct ct_ep_op, node);
        int              rc = try_send(ep, op);
        if (rc == CT_AGAIN) {
            break;
        }
        n++;
        if (rc != CTRAN_SUCCESS && rc != CTRAN_ERR_BUFFER) {
            ct_ep_fail(ep, rc);
            return n;
        }
        ct_list_remove(&op->node);
        op->done(op, rc); /* may send the next one, which may queue */
    }
    if (ct_ep_rma_waits(ep)) {
        n += ct_ep_rma_pump(ep->rma);
    }
    if ((!ct_list_empty(&ep->pending) || ct_ep_rma_waits(ep)) && ep->state == CT_EP_CONNECTED) {
        ct_list_remove(&ep->stalled);
        ct_list_append(&ep->p->ep->stalled, &ep->stalled);
    }
    return n;
}

unsigned ct_ep_progress(struct ct_process *p)
{
    enum { LOOK_EVERY = 1024 }; /* turns between looks at the clock */
    struct ct_ep_set *set = p->ep;
    unsigned          n = 0;
    assert(!set->in_progress);
    set->in_progress = true;
    if (CT_UNLIKELY(++set->turns % LOOK_EVERY == 0)) {
        ct_ep_look_after(set);
    }
    if (CT_UNLIKELY(atomic_load_explicit(&p->job->events.told, memory_order_seq_cst) !=
                    set->events_seen)) {
        n += ct_ep_take_events(set);
    }
    for (unsigned i = 0; i < set->nnets; i++) {
        n += set->nets[i]->ops->progress(set->nets[i]);
    }
    if (CT_UNLIKELY(!ct_list_empty(&set->stalled))) {
        struct ct_list now;
        ct_list_init(&now);
        ct_list_splice(&now, &set->stalled);
        for (struct ct_list *node; (node = ct_list_pop(&now)) != NULL;) {
            n += retry(CT_LIST_ENTRY(node, struct ct_ep, stalled));
        }
    }
    if (CT_UNLIKELY(!ct_list_empty(&set->failed))) {
        n += tell_failures(set);
    }
    set->in_progress = false;
    return n;
}

void ct_ep_tell(struct ct_process *p)
{
    if (CT_UNLIKELY(!ct_list_empty(&p->ep->failed))) {
        (void)ct_ep_progress(p);
    }
}

bool ct_ep_drained(const struct ct_process *p)
{
    const struct ct_ep_set *set = p->ep;
    bool                    drained = ct_list_empty(&set->stalled);
    for (unsigned i = 0; i < set->nnets && drained; i++) {
        drained = set->nets[i]->ops->flushed(set->nets[i]);
    }
    return drained;
}

void ct_ep_drain(struct ct_process *p)
{
    struct ct_wait pace = {0};
    ct_domain_enter(p);
    while (!ct_ep_drained(p)) {
        ct_waiter_turn_(p, &pace);
    }
    ct_domain_leave(p);
}

void ct_ep_drive_until(struct ct_process *p, const _Atomic bool *flag)
{
    struct ct_wait pace = {0};
    ct_domain_enter(p);
    while (!atomic_load_explicit(flag, memory_order_seq_cst)) {
        ct_waiter_turn_(p, &pace);
    }
    ct_domain_leave(p);
}

void ct_ep_describe(const struct ct_process *p, char *out, size_t cap)
{
    size_t len = 0;
    out[0] = '\0';
    for (unsigned i = 0; i < p->ep->nnets && len < cap; i++) {
        int n =
            snprintf(out + len, cap - len, "%s%s", i > 0 ? ", " : "", p->ep->nets[i]->ops->name);
        len += (size_t)n;
    }
}
