/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The store in rank 0's process, where another launcher than ctranrun has started the job: it
 * answers while rank 0 itself exchanges, and goes when all nodes are done with it. See nodes.h.
 */
#define CT_FOLDER "pmi"
#include <stdlib.h>
#include <sys/resource.h>

#include "pmi/nodes.h"

enum { LINGER_MS = 5000, SPARE = 256 };

struct ct_nodes_store {
    struct ct_loop          loop;
    struct ct_store_server *server;
    rlim_t                  had, raised; /* descriptors: the limit before, and now; 0: the same */
};

struct ct_loop *ct_nodes_store_loop(struct ct_nodes_store *store)
{
    return &store->loop;
}

/* Each node holds a connection to the store until all are done. The program has its limit back
 * then. */
static void raise_limit(struct ct_nodes_store *s, const struct ct_job *job)
{
    struct rlimit lim;
    rlim_t        more = job->size - job->nlocal;
    if (getrlimit(RLIMIT_NOFILE, &lim) == 0 && lim.rlim_cur < lim.rlim_max) {
        s->had = lim.rlim_cur;
        s->raised = lim.rlim_max - lim.rlim_cur < more ? lim.rlim_max : lim.rlim_cur + more;
        lim.rlim_cur = s->raised;
        (void)setrlimit(RLIMIT_NOFILE, &lim); /* or the last ones wait in vain, and say so */
    }
}

static void restore_limit(const struct ct_nodes_store *s)
{
    struct rlimit lim;
    if (getrlimit(RLIMIT_NOFILE, &lim) == 0 && s->raised > 0 && lim.rlim_cur == s->raised) {
        lim.rlim_cur = s->had;
        (void)setrlimit(RLIMIT_NOFILE, &lim);
    }
}

int ct_nodes_store_open(struct ct_nodes_store **store, const struct ct_job *job,
                        const struct ct_auth_key *key, struct ct_nodes_where *where)
{
    struct ct_nodes_store *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    *where = (struct ct_nodes_where){.magic = CT_NODES_MAGIC};
    where->naddrs = ct_nodes_reach(job, where->addrs);
    int rc = where->naddrs > 0 ? ct_loop_init(&s->loop, &job->p->log) : CTRAN_ERR_BOOTSTRAP;
    if (rc != CTRAN_SUCCESS) {
        free(s);
        return rc;
    }
    struct ct_addr         at = ct_addr_listen_on(where->addrs, where->naddrs);
    struct ct_store_limits limits = {.connections = job->size + SPARE,
                                     .strangers = job->size + SPARE};
    rc = ct_store_server_open(&s->server, &s->loop, &at, key, &limits);
    if (rc != CTRAN_SUCCESS) {
        ct_loop_fini(&s->loop);
        free(s);
        return rc;
    }
    for (uint32_t i = 0; i < where->naddrs; i++) {
        memcpy(where->addrs[i].port, at.port, sizeof at.port);
    }
    raise_limit(s, job);
    *store = s;
    return CTRAN_SUCCESS;
}

void ct_nodes_store_close(struct ct_nodes_store *s)
{
    ct_store_server_close(s->server);
    ct_loop_fini(&s->loop);
    restore_limit(s);
    free(s);
}

static void nodes_store_on_moment(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what, (void)arg;
}

void ct_nodes_store_linger(struct ct_nodes_store *s)
{
    uint64_t              end_ns = ct_clock_ns() + LINGER_MS * CT_NS_PER_MS;
    struct timeval        moment = ct_wire_timeval(LINGER_MS);
    struct ct_store_stats stats;
    struct event          limit;
    (void)evtimer_assign(&limit, s->loop.base, nodes_store_on_moment, NULL);
    (void)event_add(&limit, &moment);
    ct_store_server_stats(s->server, &stats);
    while (stats.connections > stats.strangers && ct_clock_ns() < end_ns) {
        (void)event_base_loop(s->loop.base, EVLOOP_ONCE);
        ct_store_server_stats(s->server, &stats);
    }
    (void)event_del(&limit);
}
