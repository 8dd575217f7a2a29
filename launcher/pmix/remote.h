/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a PMIx server asks of the other servers of its job: the contributions of remote ranks to a
 * fence, and the data of a remote rank (direct modex). libpmix gives and takes answers on any
 * thread; all else happens on the daemon's main thread.
 */
#ifndef CT_LAUNCHER_PMIX_REMOTE_H
#define CT_LAUNCHER_PMIX_REMOTE_H

#include <pmix_server.h>
#include <stdint.h>

#include "base/base.h"
#include "launcher/job/job.h"
#include "launcher/msg/msg.h"

struct ct_pmix_remote {
    const struct ct_jobdesc *desc;
    struct ct_conn          *conn;
    struct ct_list           fences, asked; /* of this node's ranks, not answered yet */
    uint32_t                 last_request;
};

/* An answer of libpmix about a local rank, on the main thread. Owns its data. */
struct ct_pmix_remote_found {
    bool     other_job; /* a rank of another job asks, by way of the head */
    uint32_t node,
        request;     /* else the asking node; the number of the request, there or at the head */
    uint32_t status; /* 0: success */
    char    *data;
    size_t   len;
};

void ct_pmix_remote_init(struct ct_pmix_remote *f, const struct ct_jobdesc *d,
                         struct ct_conn *conn);

/* Whether all these ranks are local. An empty list means every rank. */
bool ct_pmix_remote_is_here(const struct ct_pmix_remote *f, const uint32_t *ranks, uint32_t n);

/* Sends this node's contribution to the fence of these ranks. Calls `done` with the contributions
 * of all. */
bool ct_pmix_remote_fence(struct ct_pmix_remote *f, const uint32_t *ranks, uint32_t n,
                          const char *data, size_t len_bytes, pmix_modex_cbfunc_t done,
                          void *cbdata);
void ct_pmix_remote_take_fence(struct ct_pmix_remote *f, struct ct_unpack *in);

/* Asks for the data of a remote rank. */
bool ct_pmix_remote_ask(struct ct_pmix_remote *f, uint32_t rank, pmix_modex_cbfunc_t done,
                        void *cbdata);
void ct_pmix_remote_take_data(struct ct_pmix_remote *f, struct ct_unpack *in);

/* Answers a request of another node or of another job. */
void ct_pmix_remote_answer(struct ct_pmix_remote *f, const struct ct_pmix_remote_found *found);

#endif
