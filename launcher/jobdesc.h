/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The description of a job, which the head sends to each daemon: what to run, where its ranks
 * are, and which of the nodes the daemon is. Ranks are placed in blocks: node 0 has the first
 * nodes[0].ranks of them, and so on.
 */
#ifndef CT_LAUNCHER_JOBDESC_H
#define CT_LAUNCHER_JOBDESC_H

#include <stdbool.h>
#include <stdint.h>

#include "proto.h"

enum ct_bind { CT_BIND_DEFAULT, CT_BIND_NONE, CT_BIND_CORE };

struct ct_node {
    char    *host;
    uint32_t ranks;
};

struct ct_jobdesc {
    char           *job;  /* its id */
    char           *path; /* the program's file */
    char           *wdir; /* "" to stay where the daemon is */
    char          **argv; /* the program's arguments, NULL at the end */
    char          **env;  /* NAME=VALUE to add to the daemon's environment, NULL at the end */
    struct ct_node *nodes;
    uint32_t        nnodes, me; /* nodes, and the receiver among them */
    enum ct_bind    bind;
    bool            one_sink; /* standard output and error go to one file: one channel */
    bool            verbose;
};

/* All ranks; and the first rank on a node. */
uint32_t ct_jobdesc_ranks(const struct ct_jobdesc *d);
uint32_t ct_jobdesc_first(const struct ct_jobdesc *d, uint32_t node);

void ct_jobdesc_pack(const struct ct_jobdesc *d, struct evbuffer *out);

/* Fills *d with copies; ct_jobdesc_fini is due even when in->bad is set afterwards. */
void ct_jobdesc_unpack(struct ct_jobdesc *d, struct ct_unpack *in);
void ct_jobdesc_fini(struct ct_jobdesc *d);

#endif
