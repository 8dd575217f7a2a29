/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Absolute types whose elements lie in the host's memory and in a device's: what is received as
 * the second block, behind CTRAN_BOTTOM, finds the device's part, too.
 */
#include "bottom.h"

#include "device.h"

enum { BLOCKS = 2 /* of a rank on a ring */ };

/* An int at `host` and one at `device`; the next element lies an int further in both. */
static ctran_datatype_t both_type(const int *host, const int *device)
{
    const ctran_count_t lens[2] = {1, 1};
    ctran_aint_t        at[2];
    ctran_datatype_t    raw, type;
    OK(ctran_get_address(host, &at[0]));
    OK(ctran_get_address(device, &at[1]));
    OK(ctran_type_create_hindexed(2, lens, (ctran_count_t[]){at[0], at[1]}, CTRAN_INT, &raw));
    OK(ctran_type_create_resized(raw, at[0], sizeof(int), &type));
    OK(ctran_type_commit(&type));
    OK(ctran_type_free(&raw));
    return type;
}

void bottom_kinds(const struct team *ring)
{
    const int        sent[2] = {check_rank * 2, check_rank * 2 + 1};
    int              host[BLOCKS] = {-1, -1}, got[BLOCKS] = {-1, -1};
    int             *device = mem_new(DEVICE, sizeof got);
    ctran_datatype_t type = both_type(host, device);
    mem_put(DEVICE, device, got, sizeof got);
    OK(ctran_neighbor_allgather(sent, 2, CTRAN_INT, CTRAN_BOTTOM, 1, type, ring->comm));
    mem_get(DEVICE, got, device, sizeof got);
    for (int i = 0; i < BLOCKS; i++) {
        EXPECT_EQ(ring->peers[i] * 2, host[i]);
        EXPECT_EQ(ring->peers[i] * 2 + 1, got[i]);
    }
    OK(ctran_type_free(&type));
    mem_free(DEVICE, device);
}
