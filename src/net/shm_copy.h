/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading and writing a peer's memory in one copy: plainly within one process and where it is
 * exposed memory (mem/mem.h), else by process_vm_readv. */
#ifndef CT_NET_SHM_COPY_H
#define CT_NET_SHM_COPY_H

#include "net/net.h"

/* CTRAN_SHM_SINGLE_COPY's choices, and what was found to work for a peer. */
enum { CT_SHM_COPY_AUTO, CT_SHM_COPY_NEVER };
enum ct_shm_copy { CT_SHM_COPY_OFF, CT_SHM_COPY_DIRECT, CT_SHM_COPY_CMA };

/* Lets the other ranks read this process where the Yama module asks for that. */
void ct_shm_copy_allow(void);

/* Tries to copy from the peer's segment, whose contents are known. */
enum ct_shm_copy ct_shm_copy_probe(const struct ct_net_env *env, const struct ct_shm_addr *peer);

/* The peer's exposed memory, for those that can map it: not those of one process, which need no
 * mapping, nor one of another pid namespace. false: it is not seen. */
bool ct_shm_copy_view(const struct ct_net_env *env, const struct ct_shm_addr *own,
                      const struct ct_shm_addr *peer, const struct ct_shm_segment *segment,
                      struct ct_attach *view);

/* Memory of the other process, by its address there, and under which key it is exposed. */
struct ct_shm_remote {
    uint64_t addr, len_bytes, key;
};

/* The other process. */
struct ct_shm_mate {
    enum ct_shm_copy how;
    int              pid;
    bool (*gone)(void *arg); /* whether it has ended; may cost a system call */
    /* Whether that memory of the caller's is exposed to it: CTRAN_SUCCESS; CT_AGAIN: nothing is
     * (any more) under that key; CTRAN_ERR_INTERN: that key does not stand for it. NULL of one that
     * is only read. */
    int (*exposed)(void *arg, const struct ct_shm_remote *what);
    void             *arg;  /* of both */
    struct ct_attach *view; /* of its exposed memory; NULL: none */
};

/* Whether its memory can be read and written, or some of it. */
static inline bool ct_shm_copies(const struct ct_shm_mate *mate)
{
    return mate->how != CT_SHM_COPY_OFF || (mate->view != NULL && mate->view->theirs != NULL);
}

/* Fills one block of the caller's from the peer's memory. Errors: as of ct_shm_copy_part. */
int ct_shm_get(const struct ct_shm_mate *mate, void *to, const struct ct_shm_remote *from);

/* A part of the area, len_bytes from byte `pos` on, from or to the memory at addr in the peer, by
 * process_vm_readv or process_vm_writev. The area is plain. CTRAN_ERR_BUFFER: memory of one of the
 * sides cannot be accessed; CTRAN_ERR_PROC_FAILED. */
int ct_shm_copy_part(int pid, const struct ct_area *area, size_t pos, size_t len_bytes,
                     uint64_t addr, bool is_put);

/* The other way round: fills the peer's memory from one block of the caller's. */
int ct_shm_put(const struct ct_shm_mate *mate, const void *from, const struct ct_shm_remote *to);

#endif
