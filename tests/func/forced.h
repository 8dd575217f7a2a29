/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * forced - a program once more for each algorithm of a collective, in one job: the communicators
 * that it names get the algorithm by their info key. For algorithms.test and op.test.
 *
 *   CT_FORCED   a collective's name in the table of algorithms: each algorithm for it that serves
 *               this job's ranks, one after the other; as it begins, rank 0 prints
 *               "collective:name"; or "all": of all collectives
 *   CT_COLL     the same name: what is about other collectives is left out, and nothing is forced
 */
#ifndef CT_TESTS_FUNC_FORCED_H
#define CT_TESTS_FUNC_FORCED_H

#include "check.h"

/* Runs it for each algorithm that CT_FORCED asks for, at least one; or just once without. Between
 * check_start and check_end, on all ranks. */
void forced_each(void (*run)(void));

/* comm's collectives go by the algorithm in force, if there is one. Collective. */
void forced_on(ctran_comm_t comm);

/* Whether this run is about the collective: about all, or about one. */
bool forced_wants(const char *collective);

#endif
