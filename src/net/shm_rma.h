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
 * withdraws a region clears it. A transient region has no entry: the bytes of its key say where it
 * is, and the two processes tell each other by messages when it ends.
 *
 * A long read of host memory is work for both ends (shm_share.h). Memory of a GPU is read by the
 * copy engine of the origin's GPU (nvl.h), and written by messages: what a dead process has begun
 * to write could hit memory that its peer uses for something else by then.
 *
 * An owner may write anything to its entries: a mapping is checked against its file
 * (node/attach.c), and the kernel checks what it copies.
 */
#ifndef CT_NET_SHM_RMA_H
#define CT_NET_SHM_RMA_H

#include "net/net.h"

struct ct_shm;
void ct_shm_rma_init(struct ct_shm *s);
void ct_shm_rma_fini(struct ct_shm *s);

extern const struct ct_net_rma_ops ct_shm_rma_ops;

#endif
