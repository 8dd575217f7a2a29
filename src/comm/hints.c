/* SPDX-License-Identifier: BSD-3-Clause */
/* Hints as strings. */
#define CT_FOLDER "comm"
#include "comm/hints.h"

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

uint32_t ct_hints_update(struct ct_process *p, uint32_t hints, const struct ct_info *info)
{
    char value[8];
    for (size_t i = 0; info != NULL && i < CT_ARRAY_LEN(hints_known); i++) {
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

struct ct_info *ct_hints_tell(struct ct_process *p, uint32_t hints)
{
    struct ct_info *info = ct_info_make(&p->infos);
    int             rc = info != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
    for (size_t i = 0; rc == CTRAN_SUCCESS && i < CT_ARRAY_LEN(hints_known); i++) {
        rc = ct_info_set(&p->infos, info, hints_known[i].key,
                         hints & hints_known[i].bit ? "true" : "false");
    }
    if (rc != CTRAN_SUCCESS && info != NULL) {
        ct_info_free(&p->infos, info);
    }
    return rc == CTRAN_SUCCESS ? info : NULL;
}
