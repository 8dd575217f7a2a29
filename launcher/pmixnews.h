/* SPDX-License-Identifier: BSD-3-Clause */
/* News of the job (deaths.h) for the ranks of this node, as PMIx events of pmi/pmi.h. */
#ifndef CT_LAUNCHER_PMIXNEWS_H
#define CT_LAUNCHER_PMIXNEWS_H

#include <stdint.h>

#include "proto.h"

/* Tells the clients. */
void ct_pmixnews_tell(const char *nspace, enum ct_tidings news, uint32_t rank);

/* CT_MSG_NEWS. */
void ct_pmixnews_take(const char *nspace, struct ct_unpack *in);

#endif
