/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files of the program p2p: transfers (p2p.c), and a p2p_*.c for each further subject: ways
 * to complete, much traffic at a time, modes of sending, probes and so on. Each subject is run by
 * all ranks of the job, any number.
 */
#ifndef CT_TESTS_FUNC_P2P_H
#define CT_TESTS_FUNC_P2P_H

#include "check.h"

enum { TAG_GO = 777000, TAG_READY = 777001 };

/* The ring: whom a rank sends to, and hears from. Itself where it is alone. */
static inline int next_rank(void)
{
    return (check_rank + 1) % check_size;
}

static inline int prev_rank(void)
{
    return (check_rank + check_size - 1) % check_size;
}

/* A token to `dest` for one from `source`. What either has sent before it has come, too: messages
 * do not overtake. */
static inline void token(int dest, int source, int tag)
{
    OK(ctran_sendrecv(NULL, 0, CTRAN_BYTE, dest, tag, NULL, 0, CTRAN_BYTE, source, tag,
                      CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE));
}

void p2p_ssend(void);
void p2p_rsend(void);
void p2p_replace(void);
void p2p_exchange(void);
void p2p_get_statuses(void);
void p2p_modes_check(void);
void p2p_probe(void);
void p2p_mprobe(void);
void p2p_get_status(void);
void p2p_cancel(void);
void p2p_bsend(void);
void p2p_persistent(void);
void p2p_wait_forms(void);
void p2p_wait_null(void);
void p2p_wait_in_status(void);
void p2p_request_free(void);
void p2p_random(void);
void p2p_flood(void);
void p2p_backlog(void);
void p2p_long(void);

#endif
