/* SPDX-License-Identifier: BSD-3-Clause */
/* GPUs and NICs of a machine by the names that users give them. */
#ifndef CT_TOPO_FIND_H
#define CT_TOPO_FIND_H

#include "topo/machine.h"
#include "topo/text.h"

/* A GPU by number, PCI address or UUID. CTRAN_ERR_ARG: there is none, or the word is none of these;
 * `t` has told. */
int ct_find_gpu(const struct ct_machine *m, const struct ct_text *t, struct ct_word w, int *gpu);

/* A NIC by name ("mlx5_0", its network interface, or the name of a bond), by name and port
 * ("mlx5_0:2"), or by PCI address. A name alone means the first port that is up, else the first.
 * CTRAN_ERR_ARG as above. */
int ct_find_nic(const struct ct_machine *m, const struct ct_text *t, struct ct_word w, int *nic);

/* True: the UUID begins with the word, as CUDA_VISIBLE_DEVICES has it. */
bool ct_find_has_uuid(const struct ct_machine_gpu *gpu, struct ct_word w);

/* Whether CUDA sees a GPU: the driver tells UUIDs of those that it lets us have, and in a control
 * group these may be fewer than the bus shows; where it tells none, all count. CUDA numbers the
 * ones it sees: that of such a number, -1 for none. */
bool ct_find_is_shown(const struct ct_machine *m, uint32_t gpu);
int  ct_find_shown(const struct ct_machine *m, uint64_t number);

#endif
