/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The three forms of a collective call (MPI-4.1 ch. 6): ctran_NAME blocks, ctran_iNAME returns at
 * once with a request, and ctran_NAME_init prepares a call that is started again and again. Each
 * form describes itself in `how` and evaluates the same expression, which carries the call out.
 * Used by coll_forms.c and neighbor_calls.c, with one row for each collective.
 */
#ifndef CT_API_COLL_FORMS_H
#define CT_API_COLL_FORMS_H

#include "api/coll_call.h"

/* The parameters before comm, with a comma behind each. */
#define CT_PARAMS(...) __VA_ARGS__

/* Defines the three functions; they return `call`, an expression in which `how` is described. */
#define CT_COLL_FORMS(NAME, PARAMS, call)                                                          \
    int ctran_##NAME(PARAMS ctran_comm_t comm)                                                     \
    {                                                                                              \
        const struct ct_call how = {.name = "ctran_" #NAME, .comm = comm, .mode = CT_CALL_BLOCKS}; \
        return call;                                                                               \
    }                                                                                              \
    int ctran_i##NAME(PARAMS ctran_comm_t comm, ctran_request_t *request)                          \
    {                                                                                              \
        const struct ct_call how = {                                                               \
            .name = "ctran_i" #NAME, .comm = comm, .mode = CT_CALL_REQUEST, .request = request};   \
        return call;                                                                               \
    }                                                                                              \
    int ctran_##NAME##_init(PARAMS ctran_comm_t comm, ctran_info_t info, ctran_request_t *request) \
    {                                                                                              \
        const struct ct_call how = {.name = "ctran_" #NAME "_init",                                \
                                    .comm = comm,                                                  \
                                    .mode = CT_CALL_PERSISTENT,                                    \
                                    .info = info,                                                  \
                                    .request = request};                                           \
        return call;                                                                               \
    }

#endif
