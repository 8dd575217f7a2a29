/* SPDX-License-Identifier: BSD-3-Clause */
/* Deaths and leaving, told to the ranks of a node; see recovery.h. Used by pmixsrv.c. */
#include "config.h"
#include "recovery.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <pmix.h>
#include <pmix_server.h>

#include "base/base.h"
#include "pmi/pmi.h"
#include "proto.h"

int ct_recovery_init(struct ct_recovery *r, bool on, const char *nspace,
                     const struct ct_procs *procs)
{
    *r = (struct ct_recovery){.on = on, .nspace = nspace, .procs = procs};
    r->wants = calloc(procs->n, sizeof *r->wants);
    return r->wants != NULL ? 0 : -1;
}

/* An event follows data that the rank's kernel need not have acknowledged yet: it waits for more to
 * send, 40 ms, and Nagle's algorithm here waits for it. libpmix leaves that on, so it is turned off
 * on the sockets that it listens on, from which connections have it. */
static void send_at_once(void)
{
    struct rlimit lim;
    if (getrlimit(RLIMIT_NOFILE, &lim) != 0) {
        return;
    }
    for (int fd = 0; fd < (int)ct_min_size(lim.rlim_cur, 1024); fd++) {
        int       listens = 0, yes = 1;
        socklen_t len = sizeof listens;
        if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) == 0 && listens) {
            (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes); /* fails on others */
        }
    }
}

void ct_recovery_listening(const struct ct_recovery *r)
{
    if (r->on) {
        send_at_once();
    }
}

/* libpmix keeps an event for those who have yet to ask for it, and sends each what comes in the
 * order in which it came, fences' answers included; but not to its source. It forgets that of an
 * event that was kept, so whom it is about is said once more. */
static void tell(const struct ct_recovery *r, pmix_status_t event, pmix_rank_t about)
{
    pmix_proc_t proc;
    pmix_info_t info[2];
    bool        yes = true;
    PMIX_LOAD_PROCID(&proc, r->nspace, about);
    PMIX_INFO_LOAD(&info[0], PMIX_EVENT_NON_DEFAULT, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[1], PMIX_EVENT_AFFECTED_PROC, &proc, PMIX_PROC);
    (void)PMIx_Notify_event(event, &proc, PMIX_RANGE_LOCAL, info, CT_ARRAY_LEN(info), NULL, NULL);
    PMIX_INFO_DESTRUCT(&info[0]);
    PMIX_INFO_DESTRUCT(&info[1]);
}

static bool has_left(const struct ct_proc *proc)
{
    return atomic_load_explicit(&proc->phase, memory_order_acquire) == CT_PHASE_FINALIZED;
}

/* With more daemons than one this would need the word of all of them. */
static void let_leave(struct ct_recovery *r)
{
    bool wanted = false;
    for (uint32_t i = 0; i < r->procs->n; i++) {
        const struct ct_proc *proc = &r->procs->all[i];
        if (!r->wants[i] && !proc->ended && !has_left(proc)) {
            return;
        }
        wanted |= r->wants[i];
    }
    if (wanted && !r->told_leave) {
        r->told_leave = true;
        tell(r, CT_PMIX_MAY_LEAVE, PMIX_RANK_UNDEF);
    }
}

void ct_recovery_ended(struct ct_recovery *r, uint32_t local_rank)
{
    if (!r->on || has_left(&r->procs->all[local_rank])) {
        return;
    }
    r->cannot_meet |= !r->met;
    tell(r, r->met ? CT_PMIX_ENDED : CT_PMIX_NO_START, r->procs->first + local_rank);
    let_leave(r);
}

bool ct_recovery_fence(struct ct_recovery *r)
{
    r->met |= !r->cannot_meet;
    return r->met || !r->on;
}

void ct_recovery_wants_leave(struct ct_recovery *r, uint32_t local_rank)
{
    if (r->on) {
        r->wants[local_rank] = true;
        let_leave(r);
    }
}
