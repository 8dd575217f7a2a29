/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Info of windows (MPI-4.1 sec. 12.2.1 to 12.2.3, 12.2.8). Of these no_locks,
 * alloc_shared_noncontig, ctran_device_memory and ctran_stream_ordered change what is done; the
 * others are kept and told: accumulates are always in order, and atomic in any mix of operators.
 */
#define CT_FOLDER "rma"
#include "rma/own.h"

static const struct {
    const char *key;
    uint32_t    bit;
    bool        later; /* it may be set after the window was made */
} known[] = {
    {"no_locks", CT_WIN_NO_LOCKS, true},
    {"same_size", CT_WIN_SAME_SIZE, false},
    {"same_disp_unit", CT_WIN_SAME_DISP_UNIT, false},
    {"alloc_shared_noncontig", CT_WIN_NONCONTIG, false},
    {"ctran_device_memory", CT_WIN_DEVICE, false},
    {"ctran_stream_ordered", CT_WIN_STREAMS, false},
};

#define ORDERING    "accumulate_ordering"
#define OPS         "accumulate_ops"
#define GRANULARITY "mpi_accumulate_granularity"

static uint32_t bits_of(struct ct_process *p, uint32_t bits, const struct ct_info *info, bool later)
{
    char value[16];
    for (size_t i = 0; i < CT_ARRAY_LEN(known); i++) {
        if ((later && !known[i].later) ||
            ct_info_get(&p->infos, info, known[i].key, value, sizeof value) < 0) {
            continue;
        }
        bits = strcmp(value, "true") == 0    ? bits | known[i].bit
               : strcmp(value, "false") == 0 ? bits & ~known[i].bit
                                             : bits;
    }
    if (ct_info_get(&p->infos, info, OPS, value, sizeof value) >= 0) {
        bits = strcmp(value, "same_op") == 0         ? bits | CT_WIN_SAME_OP
               : strcmp(value, "same_op_no_op") == 0 ? bits & ~(uint32_t)CT_WIN_SAME_OP
                                                     : bits;
    }
    return bits;
}

/* "none", or some of rar, raw, war and waw. */
static bool is_ordering(const char *value)
{
    static const char *const words[] = {"rar", "raw", "war", "waw"};
    if (strcmp(value, "none") == 0) {
        return true;
    }
    for (const char *at = value;; at += 4) {
        bool one = false;
        for (size_t i = 0; i < CT_ARRAY_LEN(words); i++) {
            one = one || strncmp(at, words[i], 3) == 0;
        }
        if (!one || (at[3] != ',' && at[3] != '\0')) {
            return false;
        }
        if (at[3] == '\0') {
            return true;
        }
    }
}

static void take(struct ct_win *win, const struct ct_info *info, bool later)
{
    char value[sizeof win->ordering];
    if (info == NULL) {
        return;
    }
    struct ct_infos *infos = &win->p->infos;
    win->hints = bits_of(win->p, win->hints, info, later);
    if (ct_info_get(infos, info, ORDERING, value, sizeof value) >= 0 && is_ordering(value)) {
        strcpy(win->ordering, value);
    }
    if (ct_info_get(infos, info, GRANULARITY, value, sizeof value) >= 0) {
        char               *end;
        const unsigned long bytes = strtoul(value, &end, 10);
        if (*end == '\0' && bytes <= UINT32_MAX) {
            win->granularity = (uint32_t)bytes;
        }
    }
}

void ct_win_hints_init(struct ct_win *win, const struct ct_info *info)
{
    strcpy(win->ordering, "rar,raw,war,waw");
    take(win, info, false);
}

void ct_win_hints_take(struct ct_win *win, const struct ct_info *info)
{
    take(win, info, true);
}

struct ct_info *ct_win_hints_tell(const struct ct_win *win)
{
    struct ct_infos *infos = &win->p->infos;
    struct ct_info  *info = ct_info_make(infos);
    char             number[16];
    int              rc = info != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
    snprintf(number, sizeof number, "%u", win->granularity);
    for (size_t i = 0; rc == CTRAN_SUCCESS && i < CT_ARRAY_LEN(known); i++) {
        if (known[i].bit != CT_WIN_NONCONTIG || win->flavor == CTRAN_WIN_FLAVOR_SHARED) {
            rc = ct_info_set(infos, info, known[i].key,
                             (win->hints & known[i].bit) != 0 ? "true" : "false");
        }
    }
    rc = rc == CTRAN_SUCCESS ? ct_info_set(infos, info, ORDERING, win->ordering) : rc;
    rc = rc == CTRAN_SUCCESS
             ? ct_info_set(infos, info, OPS,
                           (win->hints & CT_WIN_SAME_OP) != 0 ? "same_op" : "same_op_no_op")
             : rc;
    rc = rc == CTRAN_SUCCESS ? ct_info_set(infos, info, GRANULARITY, number) : rc;
    if (rc != CTRAN_SUCCESS && info != NULL) {
        ct_info_free(infos, info);
    }
    return rc == CTRAN_SUCCESS ? info : NULL;
}
