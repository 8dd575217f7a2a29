/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers to libpmix on its own thread. libpmix 4.2.2 takes the callback of a lookup, a query or a
 * spawn wherever it is called, and touches there without a lock what its thread works with: the
 * replies that a client is yet to get (the first two), its own tables (the last). Called from our
 * event loop they lose replies now and then. Callbacks of the other kinds it moves over itself.
 */
#ifndef CT_LAUNCHER_PMIX_SHIFT_H
#define CT_LAUNCHER_PMIX_SHIFT_H

#include <pmix_server.h>

/* Calls fn(status, arg) once, later and on libpmix's thread; if libpmix cannot take it, at once and
 * here. The status says nothing about what is answered. */
void ct_pmix_shift(pmix_op_cbfunc_t fn, void *arg);

#endif
