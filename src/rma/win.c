/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows as objects: life, look-up, and what happens to them when a process fails. */
#define CT_FOLDER "rma"
#include "pmi/pmi.h"
#include "rma/make.h"

/* ---- life ------------------------------------------------------------------------------------ */

static bool make_peers(struct ct_win *win)
{
    win->peers = calloc(win->n, sizeof *win->peers);
    if (win->peers == NULL) {
        return false;
    }
    for (uint32_t r = 0; r < win->n; r++) {
        struct ct_win_peer *peer = &win->peers[r];
        peer->win = win;
        peer->ep = ct_comm_ep(win->comm, r);
        ct_list_init(&peer->ops);
        ct_list_init(&peer->sent);
        ct_list_init(&peer->signallers);
        ct_list_init(&peer->line);
        if (peer->ep == NULL) {
            return false;
        }
    }
    return true;
}

/* No other rank knows of it yet, nor another thread. */
static struct ct_win *win_new(struct ct_comm *comm, const struct ct_win_plan *plan) CT_UNCHECKED
{
    struct ct_win *win = calloc(1, sizeof *win);
    if (win == NULL) {
        return NULL;
    }
    win->p = comm->p;
    win->comm = comm;
    win->id = comm->id;
    win->me = comm->run.me;
    win->n = comm->run.n;
    win->flavor = plan->flavor;
    win->model = CTRAN_WIN_UNIFIED;
    win->size_bytes = plan->size_bytes;
    win->disp_unit = plan->disp_unit;
    ct_list_init(&win->ranges);
    ct_list_init(&win->waits);
    ct_list_init(&win->line);
    ct_win_hints_init(win, plan->info);
    ct_attrs_init(&win->attrs, &comm->p->rma->keyvals, win);
    return win;
}

void ct_win_list(struct ct_win *win)
{
    ct_domain_enter(win->p);
    HASH_ADD(hh, win->p->rma->wins, id, sizeof win->id, win);
    win->listed = true;
    ct_domain_leave(win->p);
}

static void close_peer(struct ct_win_peer *peer) CT_IN_DOMAIN
{
    if (peer->key != NULL) {
        ct_ep_rkey_close(peer->key);
    }
    if (peer->ctl_key != NULL) {
        ct_ep_rkey_close(peer->ctl_key);
    }
}

/* One for which the barrier of the end has failed asks all others. Those that had the window still
 * when it asked have not answered. */
static void answer_askers(struct ct_win *win) CT_IN_DOMAIN
{
    for (uint32_t r = 0; r < win->n; r++) {
        struct ct_win_peer *peer = &win->peers[r];
        if (r != win->me && peer->frees && !peer->failed) {
            (void)ct_rma_msg_word(peer, CT_RMA_MSG_FREE, 0); /* else it fails, and knows so */
        }
    }
}

static void unlist(struct ct_win *win) CT_IN_DOMAIN
{
    if (win->listed && !win->told) {
        answer_askers(win);
    }
    if (win->listed) {
        HASH_DEL(win->p->rma->wins, win);
        win->listed = false;
    }
    if (win->region != NULL) {
        ct_ep_withdraw(win->region);
    }
    if (win->ctl_region != NULL) {
        ct_ep_withdraw(win->ctl_region);
    }
    for (uint32_t r = 0; win->peers != NULL && r < win->n; r++) {
        close_peer(&win->peers[r]);
    }
    for (struct ct_list *node; (node = ct_list_pop(&win->ranges)) != NULL;) {
        free(CT_LIST_ENTRY(node, struct ct_win_range, node));
    }
}

static void destroy(struct ct_win *win)
{
    struct ct_process *p = win->p;
    atomic_store_explicit(&win->magic, 0, memory_order_relaxed);
    ct_domain_enter(p);
    unlist(win);
    ct_domain_leave(p);
    for (uint32_t r = 0; win->peers != NULL && r < win->n; r++) {
        ct_win_device_unmap(&win->peers[r]);
    }
    ct_win_put_memory(p, win->memory);
    ct_win_device_put(p, win->device);
    ct_attrs_fini(&win->attrs);
    win->comm->window = NULL;
    ct_comm_release(win->comm);
    free(win->posted);
    free(win->starts);
    free(win->peers);
    free(win);
}

static bool all_free(struct ct_win *win, void *arg)
{
    (void)arg;
    for (uint32_t r = 0; r < win->n; r++) {
        if (!win->peers[r].frees && !win->peers[r].failed) {
            return false;
        }
    }
    return true;
}

/* Tells those that live that this rank has no use for the window any more. */
static void tell_survivors(struct ct_win *win)
{
    ct_domain_enter(win->p);
    win->told = true;
    for (uint32_t r = 0; r < win->n; r++) {
        struct ct_win_peer *peer = &win->peers[r];
        ct_ep_watch(peer->ep);
        if (r == win->me) {
            peer->frees = true;
        } else if (!peer->failed) {
            (void)ct_rma_msg_word(peer, CT_RMA_MSG_FREE,
                                  0); /* else it fails: nobody waits for it */
        }
    }
    ct_domain_leave(win->p);
}

/* The window could not be made here. For others it may be made, and they will wait for this rank's
 * end. */
static void tell_if_listed(struct ct_win *win)
{
    ct_domain_enter(win->p);
    const bool is_listed = win->listed;
    ct_domain_leave(win->p);
    if (is_listed) {
        tell_survivors(win);
    }
}

/* In place of a barrier, if a rank has failed: those that live tell each other. A rank for which
 * the barrier was over has no window any more, and says so when it is asked. */
static void meet_survivors(struct ct_win *win)
{
    tell_survivors(win);
    ct_win_await(win, all_free, NULL);
}

int ct_win_make(struct ct_comm *comm, const struct ct_win_plan *plan, struct ct_win **out)
{
    struct ct_comm *own;
    int             rc = ct_comm_dup_bare(comm, &own);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    ct_errhandler_set_at(&comm->p->errhandlers, &own->errhandler, CTRAN_ERRORS_ARE_FATAL);
    struct ct_win *win = win_new(own, plan);
    if (win == NULL) {
        ct_comm_release(own);
        return CTRAN_ERR_NO_MEM;
    }
    own->window = win;
    (void)ct_group_index(own->group); /* without it look-ups are slower */
    rc = make_peers(win) ? ct_win_exchange(win, plan) : CTRAN_ERR_NO_MEM;
    if (rc != CTRAN_SUCCESS) {
        tell_if_listed(win);
        destroy(win);
        return rc;
    }
    atomic_store_explicit(&win->magic, CT_WIN_MAGIC, memory_order_relaxed);
    *out = win;
    return CTRAN_SUCCESS;
}

/* When the barrier is over all operations of all ranks are. */
int ct_win_free(struct ct_win *win)
{
    (void)ct_win_flush(win, NULL); /* errors of operations end with the window */
    const int rc = ct_coll_barrier_now(win->comm);
    if (rc != CTRAN_SUCCESS) {
        meet_survivors(win);
    }
    destroy(win);
    return ct_error_lost(rc) == CT_LOST_peer || rc == CTRAN_ERR_REVOKED ? CTRAN_SUCCESS : rc;
}

struct ct_keyvals *ct_win_keyvals(struct ct_process *p)
{
    return &p->rma->keyvals;
}

/* ---- failures -------------------------------------------------------------------------------- */

static void on_fail(struct ct_ep *ep) CT_IN_DOMAIN
{
    struct ct_win *win, *next;
    HASH_ITER (hh, ep->p->rma->wins, win, next) {
        const int rank = ct_group_find(win->comm->group, ep->id);
        if (rank < 0 || win->peers[rank].failed) {
            continue;
        }
        struct ct_win_peer *peer = &win->peers[rank];
        peer->failed = true;
        ct_rma_msg_fail(peer, ep->why);
        ct_win_lock_fail(peer);
        ct_win_changed(win);
    }
}

void ct_win_revoke(struct ct_win *win)
{
    ct_win_changed(win);
}

/* ---- the process's part ---------------------------------------------------------------------- */

static int copy_attr(const struct ct_keyval *keyval, void *win, void *in, void *out, int *flag)
{
    ctran_win_copy_attr_function *fn = (ctran_win_copy_attr_function *)keyval->copy;
    return fn(win, keyval->number, keyval->extra_state, in, out, flag);
}

static int delete_attr(const struct ct_keyval *keyval, void *win, void *value)
{
    ctran_win_delete_attr_function *fn = (ctran_win_delete_attr_function *)keyval->del;
    return fn(win, keyval->number, value, keyval->extra_state);
}

static const struct ct_attr_ops attr_ops = {copy_attr, delete_attr};

int ct_rma_init(struct ct_process *p)
{
    p->rma = calloc(1, sizeof *p->rma);
    if (p->rma == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    ct_rma_msg_register(p);
    ct_ep_register_fail(p, on_fail);
    return CTRAN_SUCCESS;
}

void ct_rma_fini(struct ct_process *p)
{
    free(p->rma);
    p->rma = NULL;
}

int ct_rma_begin(struct ct_process *p)
{
    ct_keyvals_init(&p->rma->keyvals, CT_KEYVALS_WIN, &attr_ops, p->threaded);
    return CTRAN_SUCCESS;
}

void ct_rma_set_threaded(struct ct_process *p)
{
    ct_keyvals_set_threaded(&p->rma->keyvals, p->threaded);
}

/* What the program has not freed goes, too; no other thread is here any more. */
void ct_rma_end(struct ct_process *p) CT_UNCHECKED
{
    struct ct_win *win, *next;
    if (p->rma == NULL || p->rma->keyvals.ops == NULL) {
        return;
    }
    HASH_ITER (hh, p->rma->wins, win, next) {
        destroy(win);
    }
    ct_keyvals_fini(&p->rma->keyvals);
    p->rma->keyvals.ops = NULL;
}
