/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * survive - ranks of which some die while all exchange data; those that live check that they learn
 * of each death by errors, of exactly the operations that it ends, and that all else goes on.
 * Started by kills.py as "survive MODE SEED", under ctranrun --enable-recovery.
 *
 * All ranks draw the same plan from the seed, so each knows who will die and what others send, but
 * nobody is told of a death in any other way than by the library. What kills.py judges is printed:
 *
 *   dies RANK NS           the rank will die at this moment of the monotonic clock
 *   knows RANK VICTIM NS   an operation with the victim has failed
 *   nostart RANK           ctran_init has failed
 *   done RANK              all checks held, ctran_finalize has returned
 */
#ifndef CT_TESTS_FAULT_FAULT_H
#define CT_TESTS_FAULT_FAULT_H

#include "../func/check.h"

enum fault_how { FAULT_KILL, FAULT_SEGV, FAULT_EXIT };
enum { FAULT_EXIT_STATUS = 3, FAULT_MOST_VICTIMS = 7 };

struct fault_victim {
    int            rank;
    enum fault_how how;
    uint64_t       after_ns; /* the agreed moment */
};

struct fault_plan {
    const char         *mode;
    int                 nvictims;
    struct fault_victim victim[FAULT_MOST_VICTIMS];
};

/* Draws the plan for `size` ranks from check_seed. */
void fault_draw(struct fault_plan *plan, const char *mode, int size);
bool fault_is_mode(const struct fault_plan *plan, const char *mode);
/* This rank's part in the plan, NULL: it lives. */
const struct fault_victim *fault_mine(const struct fault_plan *plan, int rank);
bool                       fault_is_victim(const struct fault_plan *plan, int rank);

/* Now is the agreed moment: a victim's death is on its way. One that exits does so in a later
 * fault_point, which it has to come by. */
void fault_arm(const struct fault_plan *plan, int rank);
void fault_point(void);

uint64_t fault_now_ns(void);
void     fault_print_knows(int victim);

/* The modes; each returns when this rank has nothing more to do but to finalize, a victim never.
 * `alive` is a communicator of those that live, CTRAN_COMM_NULL for the others. */
void fault_run_traffic(const struct fault_plan *plan, ctran_comm_t alive);
void fault_run_collectives(const struct fault_plan *plan, ctran_comm_t alive);

#endif
