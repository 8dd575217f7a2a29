/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a PMIx server asks of the others of its job: the contributions of ranks elsewhere to a
 * fence, and what a rank elsewhere has put (direct modex). Answers from and to libpmix take any
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

/* An answer of libpmix about a rank of ours, on the main thread. Owns its data. */
struct ct_pmix_remote_found {
    bool     other_job;     /* a rank of another job has asked, by way of the head */
    uint32_t node, request; /* else who asked; its, or the head's, number for it */
    uint32_t status;        /* 0: success */
    char    *data;
    size_t   len;
};

void ct_pmix_remote_init(struct ct_pmix_remote *f, const struct ct_jobdesc *d,
                         struct ct_conn *conn);

/* Whether all of these take part from this node. A list of none is every rank. */
bool ct_pmix_remote_is_here(const struct ct_pmix_remote *f, const uint32_t *ranks, uint32_t n);

/* This node's contribution to the fence of these ranks; `done` is called with everybody's. */
bool ct_pmix_remote_fence(struct ct_pmix_remote *f, const uint32_t *ranks, uint32_t n,
                          const char *data, size_t len_bytes, pmix_modex_cbfunc_t done,
                          void *cbdata);
void ct_pmix_remote_take_fence(struct ct_pmix_remote *f, struct ct_unpack *in);

/* What has the rank, which is not of this node, put? */
bool ct_pmix_remote_ask(struct ct_pmix_remote *f, uint32_t rank, pmix_modex_cbfunc_t done,
                        void *cbdata);
void ct_pmix_remote_take_data(struct ct_pmix_remote *f, struct ct_unpack *in);

/* Answers a request of another node, or of another job. */
void ct_pmix_remote_answer(struct ct_pmix_remote *f, const struct ct_pmix_remote_found *found);

#endif
