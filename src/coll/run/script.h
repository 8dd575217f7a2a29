/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A script: the steps of one rank in an operation over a shm_coll, made from the algorithm's
 * rounds, with the place of each block. Places are offsets, so that a script serves all calls that
 * differ only in their data and the addresses of their buffers.
 */
#ifndef CT_COLL_RUN_SCRIPT_H
#define CT_COLL_RUN_SCRIPT_H

#include "coll/run/layout.h"

enum ct_script_kind {
    CT_DO_ROOM,   /* until what is put in may be written; with len, that much is made there */
    CT_DO_POST,   /* the input is there: the flag */
    CT_DO_AWAIT,  /* the flag of rank `peer`; what is read then is in its input's first len bytes */
    CT_DO_COPY,   /* dst = a, len bytes */
    CT_DO_REDUCE, /* dst = a op b, len elements */
};

/* CT_SEND, CT_RECV, CT_TMP, or the input of a rank: CT_INPUT and its number. */
enum { CT_INPUT = CT_TMP + 1 };
struct ct_place {
    uint32_t  in;
    ptrdiff_t at_bytes;
};

struct ct_script_act {
    uint32_t        kind, peer;
    bool            mate; /* CT_DO_AWAIT: with this peer the rank is a pair, whatever the root */
    struct ct_place dst, a, b;
    size_t          len;
};

/* All zeros is an empty script; the owner frees `acts`. */
struct ct_script {
    struct ct_script_act *acts;
    size_t                n, cap;
};

/* Room for so many acts: one shot on n ranks has less than 4 n + 16. False: out of memory. */
bool ct_script_reserve(struct ct_script *s, size_t n);

/* What is to be written down. */
struct ct_script_of {
    const struct ct_run_args *args;
    const struct ct_view     *view;         /* the chunk; its scratch is there */
    bool                      one;          /* a rank puts in its own block alone */
    bool                      result;       /* the second shot: what is put in is in RECV */
    bool                      whole;        /* all of SEND is put in, as it is in the vector */
    size_t                    stride_bytes; /* of blocks put in; 0: as they are in the vector */
};

/* Adds the acts of rounds `from` to `to`. Nothing that the script held before is left in scratch.
 * CTRAN_ERR_NO_MEM. */
int ct_script_write(struct ct_script *s, const struct ct_script_of *of, uint32_t from, uint32_t to);

#endif
