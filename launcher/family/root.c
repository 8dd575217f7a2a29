/* SPDX-License-Identifier: BSD-3-Clause */
/* What the root's head does for a family; see root.h. Used by jobs.c. */
#include "config.h"
#include "launcher/family/root.h"

#include "launcher/family/announced.h"
#include "launcher/family/members.h"
#include "launcher/family/published.h"
#include "launcher/family/root_get.h"
#include "launcher/family/root_meet.h"

static void on_answer(void *arg, const char *nspace, struct ct_unpack *message)
{
    struct ct_family           *fam = arg;
    const struct ct_family_job *m = ct_family_find(fam, nspace);
    if (m != NULL) {
        ct_family_pass(fam, m, CT_MSG_DATA_ANSWER, message);
    }
}

bool ct_root_init(struct ct_family *fam)
{
    fam->published = ct_published_create(fam->base, on_answer, fam);
    return fam->published != NULL;
}

void ct_root_fini(struct ct_family *fam)
{
    ct_family_meet_fini(fam);
    ct_family_get_fini(fam);
    ct_published_destroy(fam->published);
}

void ct_root_job_gone(struct ct_family *fam, struct ct_family_job *m)
{
    ct_announced_over_to_all(fam, m); /* before answers: a rank that has one finds the job gone */
    for (uint32_t i = 0; i < ct_jobdesc_ranks(m->desc); i++) {
        ct_published_ended(fam->published, m->published, i);
    }
    ct_family_meet_gone(fam, m);
    ct_family_get_gone(fam, m);
    if (ct_published_forget(fam->published, m->published)) {
        ct_family_job_free(m);
    }
}

static void root_end_rank(struct ct_family *fam, struct ct_family_job *from, struct ct_unpack *in)
{
    uint32_t rank = ct_unpack_u32(in);
    in->bad |= rank >= ct_jobdesc_ranks(from->desc);
    if (!in->bad) {
        ct_published_ended(fam->published, from->published, rank);
        ct_family_meet_ended(fam, from, rank);
        ct_family_get_ended(fam, from, rank);
    }
}

void ct_root_serve(struct ct_family *fam, struct ct_family_job *from, enum ct_msg_type type,
                   struct ct_unpack *in)
{
    switch (type) {
    case CT_MSG_DATA_ASK:
        ct_published_take(fam->published, from->published, in);
        break;
    case CT_MSG_DATA_TAKEN:
        ct_published_taken(fam->published, from->published, in);
        break;
    case CT_MSG_FAMILY_ENDED:
        root_end_rank(fam, from, in);
        break;
    case CT_MSG_FAMILY_MEET:
        ct_family_meet(fam, from, in);
        break;
    case CT_MSG_FAMILY_GIVE_UP:
        ct_family_meet_give_up(fam, from, in);
        break;
    case CT_MSG_FAMILY_GET:
        ct_family_get(fam, from, in);
        break;
    case CT_MSG_FAMILY_FOUND:
        ct_family_found(fam, from, in);
        break;
    default:
        in->bad = true;
    }
}
