/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * threads - what the files of the program `threads` share: a team of threads in every rank, each
 * with a number, the same at every rank. It checks CTRAN_THREAD_MULTIPLE: everything that
 * several threads may do at once, they do at once.
 */
#ifndef CT_TESTS_FUNC_THREADS_H
#define CT_TESTS_FUNC_THREADS_H

#include <pthread.h>
#include <stdatomic.h>

#include "check.h"

enum { MEMBERS = 4 };

struct member {
    int          me;   /* 0 .. MEMBERS - 1 */
    ctran_comm_t comm; /* of the members with this number in all ranks, made of CTRAN_COMM_WORLD */
    uint64_t     seed; /* of numbers that these members draw alike */
    uint64_t     mine; /* of this one's own */
    void        *arg;
};

/* Runs `body` in all members at once and waits for them. */
void team_run(void (*body)(struct member *m), void *arg);
/* Waits for the members of this rank. */
void team_meet(void);

/* threads_traffic.c */
void run_in_turns(void);
void run_own_comms(void);
void run_shared_comm(void);
void run_wildcards(void);
void run_mprobes(void);
void run_to_self(void);
/* threads_waits.c */
void run_handover(void);
void run_others_requests(void);
void run_cancels(void);
void run_persistent(void);
void run_buffered(void);
/* threads_objects.c */
void run_collectives(void);
void run_comms(void);
void run_attributes(void);
void run_groups(void);
void run_hardware(void);
/* threads_win.c */
void run_shared_window(void);
void run_own_windows(void);

#endif
