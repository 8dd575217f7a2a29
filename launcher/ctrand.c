/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ctrand - the node daemon of ctranrun. It does what the head asks, reports what happens, and
 * decides nothing. ctranrun or a router process starts it, with its stream to that process as
 * descriptor 3; --job is for readers of ps. An agent starts this program with --router: then it is
 * a router process and no daemon (tree/router_process.h). With --plan it prints what would be
 * started, and is no daemon (place/plan.h).
 *
 * The daemon is a subreaper: every process that a rank starts stays its descendant, and the daemon
 * ends only when no descendant is left. If the head vanishes, the daemon kills its descendants,
 * removes its directory and ends.
 */
#include "config.h"
#include "launcher/daemon/daemon.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/base.h"
#include "launcher/io/io.h"
#include "launcher/launcher.h"
#include "launcher/place/place.h"
#include "launcher/tree/tree.h"

/* ---- messages -------------------------------------------------------------------------------- */

static void ctrand_take_job(struct ct_daemon *d, struct ct_unpack *in)
{
    if (d->have_job) {
        in->bad = true;
        return;
    }
    ct_jobdesc_unpack(&d->desc, in);
    if (!in->bad) {
        ct_daemon_start_job(d);
    }
}

static void take_start(struct ct_daemon *d, struct ct_unpack *in)
{
    const char *store = ct_unpack_text(in);
    if (in->bad || d->desc.store != NULL) {
        in->bad = true;
        return;
    }
    d->desc.store = strdup(store);
    ct_daemon_start_ranks(d);
}

static void take_signal(struct ct_daemon *d, uint32_t signo)
{
    /* The ranks' process groups are orphaned, and such groups ignore the terminal's stop. */
    ct_procs_signal(&d->procs, signo == SIGTSTP ? SIGSTOP : (int)signo);
}

static void ctrand_on_msg(void *arg, enum ct_msg_type type, struct ct_unpack *in)
{
    struct ct_daemon *d = arg;
    uint32_t          a;
    if (type != CT_MSG_JOB && !d->have_job) {
        in->bad = type != CT_MSG_SIGNAL && type != CT_MSG_END; /* these find nothing to act on */
        return;
    }
    switch (type) {
    case CT_MSG_JOB:
        ctrand_take_job(d, in);
        break;
    case CT_MSG_START:
        take_start(d, in);
        break;
    case CT_MSG_STORES:
        (void)ct_unpack_u32(in); /* this node */
        ct_nodestore_take(d->started ? NULL : d->store, in);
        break;
    case CT_MSG_FENCE_DONE:
    case CT_MSG_MODEX_ASK:
    case CT_MSG_MODEX_DATA:
    case CT_MSG_DATA_ANSWER:
    case CT_MSG_SPAWN_ANSWER:
    case CT_MSG_FAMILY_JOB:
    case CT_MSG_FAMILY_GONE:
    case CT_MSG_FAMILY_MET:
    case CT_MSG_FAMILY_FETCH:
    case CT_MSG_FAMILY_DATA:
    case CT_MSG_JOB_EVENT:
    case CT_MSG_EVENT:
    case CT_MSG_EVENT_PASSED:
        ct_pmix_server_take(d->pmix, type, in);
        break;
    case CT_MSG_RANKS_ASK:
        ct_ranktable_take_ask(&d->table, in);
        break;
    case CT_MSG_RANKS:
        ct_ranktable_take(&d->table, in);
        break;
    case CT_MSG_TRACES_ASK:
        ct_traces_take_ask(&d->desc, &d->procs, d->conn, in);
        break;
    case CT_MSG_TRACES:
        ct_status_server_take_trace(d->status, in);
        break;
    case CT_MSG_STDIN:
        if (in->left == 0) {
            ct_rankio_input_over(d->io);
        }
        in->bad = !ct_rankin_take(d->in, in->at, in->left);
        break;
    case CT_MSG_SIGNAL:
        take_signal(d, ct_unpack_u32(in));
        break;
    case CT_MSG_SIZE:
        a = ct_unpack_u32(in);
        ct_pty_set_size(d->terminal, a, ct_unpack_u32(in));
        break;
    case CT_MSG_END:
        ct_daemon_begin_end(d, ct_unpack_u32(in));
        break;
    case CT_MSG_OUT_CLOSE:
        ct_rankio_close_channel(d->io, ct_unpack_u32(in));
        break;
    case CT_MSG_CREDIT:
        a = ct_unpack_u32(in);
        ct_rankio_credit(d->io, a, ct_unpack_u32(in));
        break;
    default:
        in->bad = true;
    }
}

static void ctrand_on_gone(void *arg, const char *why)
{
    (void)why; /* no process is left to be told */
    ct_daemon_vanish(arg, CT_EXIT_INTERNAL);
}

static bool ctrand_set_up(struct ct_daemon *d)
{
    d->base = event_base_new();
    if (d->base == NULL) {
        return false;
    }
    d->conn = ct_conn_create(d->base, CT_DAEMON_FD, CT_DAEMON_FD, ctrand_on_msg, ctrand_on_gone, d);
    return d->conn != NULL && ct_daemon_end_init(d);
}

int main(int argc, char **argv)
{
    static struct ct_daemon d;
    if (argc == 4 && strcmp(argv[1], "--router") == 0 && strcmp(argv[2], "--job") == 0) {
        return ct_router_run(argv[3]);
    }
    if (argc == 3 && strcmp(argv[1], "--plan") == 0) {
        return ct_plan_run(argv[2]);
    }
    if (argc != 3 || strcmp(argv[1], "--job") != 0 || fcntl(CT_DAEMON_FD, F_GETFD) < 0) {
        fprintf(stderr, CT_DAEMON_NAME ": is started by ctranrun, not by hand\n");
        return CT_EXIT_USAGE;
    }
    d.job = argv[2];
    d.terminal = -1;
    fcntl(CT_DAEMON_FD, F_SETFD, FD_CLOEXEC);
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (!ctrand_set_up(&d)) {
        fprintf(stderr, CT_DAEMON_NAME ": cannot start: out of memory or descriptors\n");
        return CT_EXIT_INTERNAL;
    }
    ct_conn_send_hello(d.conn);
    event_base_dispatch(d.base);
    ct_daemon_vanish(&d, CT_EXIT_INTERNAL);
}
