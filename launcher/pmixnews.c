/* SPDX-License-Identifier: BSD-3-Clause */
/* News as events; see pmixnews.h. Used by pmixsrv.c. */
#include "config.h"
#include "pmixnews.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <pmix.h>
#include <pmix_server.h>

#include "base/base.h"
#include "pmi/pmi.h"

/* An event follows data that the rank's kernel need not have acknowledged yet: it waits for more to
 * send, 40 ms, and Nagle's algorithm here waits for it. libpmix leaves that on, so it is turned off
 * on the sockets that it listens on, from which connections have it. */
void ct_pmixnews_listening(void)
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

/* libpmix keeps an event for those who have yet to ask for it, and sends each what comes in the
 * order in which it came, fences' answers included; but not to its source. It forgets that of an
 * event that was kept, so whom it is about is said once more. */
void ct_pmixnews_tell(const char *nspace, enum ct_tidings news, uint32_t rank)
{
    static const pmix_status_t events[CT_NEWS_KINDS] = {
        [CT_NEWS_ENDED] = CT_PMIX_ENDED,
        [CT_NEWS_NO_START] = CT_PMIX_NO_START,
        [CT_NEWS_MAY_LEAVE] = CT_PMIX_MAY_LEAVE,
    };
    pmix_proc_t proc;
    pmix_info_t info[2];
    bool        yes = true;
    pmix_rank_t about = news == CT_NEWS_MAY_LEAVE ? PMIX_RANK_UNDEF : rank;
    PMIX_LOAD_PROCID(&proc, nspace, about);
    PMIX_INFO_LOAD(&info[0], PMIX_EVENT_NON_DEFAULT, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[1], PMIX_EVENT_AFFECTED_PROC, &proc, PMIX_PROC);
    (void)PMIx_Notify_event(events[news], &proc, PMIX_RANGE_LOCAL, info, CT_ARRAY_LEN(info), NULL,
                            NULL);
    PMIX_INFO_DESTRUCT(&info[0]);
    PMIX_INFO_DESTRUCT(&info[1]);
}

void ct_pmixnews_take(const char *nspace, struct ct_unpack *in)
{
    uint32_t news = ct_unpack_u32(in), rank = ct_unpack_u32(in);
    if (in->bad || news >= CT_NEWS_KINDS) {
        in->bad = true;
        return;
    }
    ct_pmixnews_tell(nspace, (enum ct_tidings)news, rank);
}
