/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks of several jobs that meet, at the root (PMIx_Connect, PMIx_Disconnect). Used by root.c. */
#ifndef CT_LAUNCHER_FAMILY_ROOT_MEET_H
#define CT_LAUNCHER_FAMILY_ROOT_MEET_H

#include "launcher/family/state.h"

/* Handle FAMILY_MEET and FAMILY_GIVE_UP of a job. Set in->bad if the message makes no sense. */
void ct_family_meet(struct ct_family *fam, struct ct_family_job *from, struct ct_unpack *in);
void ct_family_meet_give_up(struct ct_family *fam, const struct ct_family_job *from,
                            struct ct_unpack *in);

/* A rank has ended, a job is gone: meetings that wait for these are over. */
void ct_family_meet_ended(struct ct_family *fam, const struct ct_family_job *m, uint32_t rank);
void ct_family_meet_gone(struct ct_family *fam, const struct ct_family_job *m);

/* Forgets all meetings. */
void ct_family_meet_fini(struct ct_family *fam);

#endif
