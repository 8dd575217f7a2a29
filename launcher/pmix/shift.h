/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Moves answers to libpmix onto its own thread. libpmix 4.2.2 takes the callback of a lookup, a
 * query or a spawn on any thread, and without a lock touches data of its own thread: the replies
 * that a client is yet to get, or its own tables. Called from the event loop of ctrand, these
 * callbacks lose replies now and then. libpmix moves callbacks of the other kinds itself.
 */
#ifndef CT_LAUNCHER_PMIX_SHIFT_H
#define CT_LAUNCHER_PMIX_SHIFT_H

#include <pmix_server.h>

/* Calls fn(status, arg) once, later and on libpmix's thread; or at once and here, if libpmix cannot
 * do that. The status means nothing. */
void ct_pmix_shift(pmix_op_cbfunc_t fn, void *arg);

#endif
