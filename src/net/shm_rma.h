/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided operations (rma.h) between processes of one host: the origin carries them out, the
 * target takes no part. It loads and stores where it can map the memory, which is memory of
 * ctran_alloc_mem (mem/mem.h) or of a rank of its own process; else the kernel copies
 * (process_vm_readv, process_vm_writev), and atomics go by messages.
 *
 * The owner keeps its regions in its segment (struct ct_shm_region). The bytes of a key say no more
 * than which entry is meant. The origin takes range and rights from the entry when the key is
 * opened, and before each operation it looks whether the entry still has the key: an owner that
 * withdraws a region clears it.
 *
 * An owner may write anything to its entries: a mapping is checked against its file
 * (node/attach.c), and the kernel checks what it copies.
 */
#ifndef CT_NET_SHM_RMA_H
#define CT_NET_SHM_RMA_H

#include "net/net.h"

extern const struct ct_net_rma_ops ct_shm_rma_ops;

#endif
