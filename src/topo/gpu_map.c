/* SPDX-License-Identifier: BSD-3-Clause */
/* Which GPU a rank has: CTRAN_GPU_MAP and CUDA_VISIBLE_DEVICES; see rail.h. */
#include "topo/rail.h"

#include <stdio.h>
#include <string.h>

#include "topo/find.h"

#define VARIABLE "CTRAN_GPU_MAP"

enum { LOCAL_RANKS = 4096 };

/* What CUDA would make of one of its entries: a number or the beginning of a UUID; -1: neither. */
static int visible_gpu(const struct ct_machine *m, struct ct_word w)
{
    uint64_t number;
    int      found = -1;
    if (ct_word_number(w, UINT32_MAX, &number)) {
        return ct_find_shown(m, number);
    }
    for (uint32_t i = 0; i < m->ngpus; i++) {
        if (ct_find_has_uuid(&m->gpus[i], w)) {
            if (found >= 0) {
                return -1; /* it could be either */
            }
            found = (int)i;
        }
    }
    return found;
}

/* The GPUs that CUDA_VISIBLE_DEVICES leaves, in its order. As CUDA has it: what follows the first
 * entry that is none does not count, and a list that names one twice leaves nothing. */
static uint32_t list_visible(const struct ct_machine *m, const char *visible, int *gpus)
{
    uint32_t n = 0, seen = 0;
    if (visible == NULL) {
        for (uint32_t i = 0; i < m->ngpus; i++) {
            if (ct_find_is_shown(m, i)) {
                gpus[n++] = (int)i;
            }
        }
        return n;
    }
    struct ct_word rest = {visible, strlen(visible)}, w;
    while (ct_word_split(&rest, ',', &w)) {
        int gpu = visible_gpu(m, w);
        if (gpu < 0) {
            break;
        }
        if ((seen & 1u << gpu) != 0) {
            return 0;
        }
        seen |= 1u << gpu;
        gpus[n++] = gpu;
    }
    return n;
}

struct entry {
    uint32_t       local_rank;
    int            gpu;
    struct ct_word value;
};

static int gpu_map_read_entry(const struct ct_machine *m, const struct ct_text *t,
                              struct ct_word text, struct entry *e)
{
    struct ct_word value = text, who;
    uint64_t       number;
    (void)ct_word_split(&value, '=', &who);
    if (value.at == NULL || who.len == 0) {
        return ct_text_fail(t, text.at, "expected LOCALRANK=GPU, not \"%.*s\"", CT_WORD_ARG(text));
    }
    if (!ct_word_number(who, LOCAL_RANKS - 1, &number)) {
        return ct_text_fail(t, who.at, "\"%.*s\" is no local rank: a number from 0 to %d",
                            CT_WORD_ARG(who), LOCAL_RANKS - 1);
    }
    e->local_rank = (uint32_t)number;
    e->gpu = -1;
    (void)ct_word_split(&value, '\n', &e->value);
    return ct_word_is(e->value, "none") ? CTRAN_SUCCESS : ct_find_gpu(m, t, e->value, &e->gpu);
}

/* Reads the whole map; *found: it says something of the local rank. */
static int read_map(const struct ct_machine *m, struct ct_text *t, uint32_t local_rank,
                    struct entry *mine, bool *found)
{
    uint8_t        assigned[LOCAL_RANKS] = {0};
    struct ct_word text;
    struct entry   e;
    while (ct_text_entry(t, &text)) {
        int rc = gpu_map_read_entry(m, t, text, &e);
        if (rc != CTRAN_SUCCESS) {
            return rc;
        }
        if (assigned[e.local_rank]++ > 0) {
            return ct_text_fail(t, text.at, "local rank %u was given before", e.local_rank);
        }
        if (e.local_rank == local_rank) {
            *mine = e;
            *found = true;
        }
    }
    return CTRAN_SUCCESS;
}

int ct_rails_gpu_of(const struct ct_machine *m, const char *map, const char *visible,
                    uint32_t local_rank, int *gpu, char *why, size_t cap)
{
    struct ct_text t;
    struct entry   mine;
    bool           found = false, seen = false;
    int            gpus[CT_MACHINE_GPUS];
    uint32_t       n = list_visible(m, visible, gpus);
    *gpu = n > 0 ? gpus[local_rank % n] : -1;
    if (strcmp(map, "none") == 0) {
        *gpu = -1;
        return CTRAN_SUCCESS;
    }
    int rc = ct_text_open(&t, VARIABLE, map, why, cap);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = read_map(m, &t, local_rank, &mine, &found);
    if (rc == CTRAN_SUCCESS && found) {
        *gpu = mine.gpu;
        for (uint32_t i = 0; i < n; i++) {
            seen |= gpus[i] == mine.gpu;
        }
        if (mine.gpu >= 0 && !ct_find_is_shown(m, (uint32_t)mine.gpu)) {
            rc = ct_text_fail(&t, mine.value.at,
                              "the driver hides GPU %d from local rank %u, as in a control group; "
                              "give it another one",
                              mine.gpu, local_rank);
        } else if (mine.gpu >= 0 && !seen) {
            rc = ct_text_fail(&t, mine.value.at,
                              "CUDA_VISIBLE_DEVICES=%s hides GPU %d from local "
                              "rank %u; leave one of the two out",
                              visible, mine.gpu, local_rank);
        }
    }
    ct_text_close(&t);
    return rc;
}
