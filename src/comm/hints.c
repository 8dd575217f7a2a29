/* SPDX-License-Identifier: BSD-3-Clause */
/* Hints as strings. */
#define CT_FOLDER "comm"
#include <stdlib.h>

#include "comm/comm.h"

static const struct {
    const char *key;
    uint32_t    bit;
} hints_known[] = {
    {"mpi_assert_no_any_tag", CT_HINT_NO_ANY_TAG},
    {"mpi_assert_no_any_source", CT_HINT_NO_ANY_SOURCE},
    {"mpi_assert_exact_length", CT_HINT_EXACT_LENGTH},
    {"mpi_assert_allow_overtaking", CT_HINT_ALLOW_OVERTAKING},
    {"mpi_assert_strict_persistent_collective_ordering", CT_HINT_STRICT_PERSISTENT_ORDERING},
};

/* Bits with those that info has as "true" or "false"; others, and other values, are ignored. */
static uint32_t update(struct ct_process *p, uint32_t hints, const struct ct_info *info)
{
    char value[8];
    for (size_t i = 0; i < CT_ARRAY_LEN(hints_known); i++) {
        if (ct_info_get(&p->infos, info, hints_known[i].key, value, sizeof value) < 0) {
            continue;
        }
        if (strcmp(value, "true") == 0) {
            hints |= hints_known[i].bit;
        } else if (strcmp(value, "false") == 0) {
            hints &= ~hints_known[i].bit;
        }
    }
    return hints;
}

void ct_chooser_drop(const struct ct_process *p, struct ct_chooser *chooser)
{
    if (chooser != NULL && ct_ref_drop((struct ct_ref *)chooser, p->threaded)) {
        free(chooser);
    }
}

/* The next call chooses anew; collectives that are under way keep what they began with. */
static void set_algorithms(struct ct_comm *comm, char *list)
{
    free(comm->coll_algorithm);
    ct_chooser_drop(comm->p, comm->chooser);
    comm->coll_algorithm = list;
    comm->chooser = NULL;
}

int ct_hints_take(struct ct_comm *comm, const struct ct_info *info)
{
    char value[CTRAN_MAX_INFO_VAL];
    if (info == NULL) {
        return CTRAN_SUCCESS;
    }
    comm->hints = update(comm->p, comm->hints, info);
    if (ct_info_get(&comm->p->infos, info, CT_HINT_COLL_ALGORITHM, value, sizeof value) < 0) {
        return CTRAN_SUCCESS;
    }
    char *list = value[0] != '\0' ? strdup(value) : NULL;
    if (value[0] != '\0' && list == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    set_algorithms(comm, list);
    return CTRAN_SUCCESS;
}

void ct_hints_reset(struct ct_comm *comm)
{
    atomic_store_explicit(&comm->hints, 0, memory_order_relaxed);
    set_algorithms(comm, NULL);
}

struct ct_info *ct_hints_tell(const struct ct_comm *comm)
{
    struct ct_infos *infos = &comm->p->infos;
    struct ct_info  *info = ct_info_make(infos);
    int              rc = info != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
    for (size_t i = 0; rc == CTRAN_SUCCESS && i < CT_ARRAY_LEN(hints_known); i++) {
        rc = ct_info_set(infos, info, hints_known[i].key,
                         comm->hints & hints_known[i].bit ? "true" : "false");
    }
    if (rc == CTRAN_SUCCESS && comm->coll_algorithm != NULL) {
        rc = ct_info_set(infos, info, CT_HINT_COLL_ALGORITHM, comm->coll_algorithm);
    }
    if (rc != CTRAN_SUCCESS && info != NULL) {
        ct_info_free(infos, info);
    }
    return rc == CTRAN_SUCCESS ? info : NULL;
}
