/* SPDX-License-Identifier: BSD-3-Clause */
/* One-copy reads. Whether the kernel allows them (same user, no Yama, no seccomp filter) is found
 * by trying, once a peer. */
#define CT_FOLDER "net"
#include "net/shm_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "net/shm_share.h"

enum {
    PIECES = 64,      /* a system call takes this many at a time */
    STAGE = 32 << 10, /* whole pages, that stay in the nearest cache */
};

enum ct_shm_copy ct_shm_copy_probe(const struct ct_net_env *env, const struct ct_shm_addr *peer)
{
    if (env->cfg->shm_single_copy == CT_SHM_COPY_NEVER || peer->pid_space != ct_shm_pid_space()) {
        return CT_SHM_COPY_OFF;
    }
    if (peer->pid == getpid()) {
        return CT_SHM_COPY_DIRECT;
    }
    uint64_t     nonce[2] = {0, 0};
    size_t       at = offsetof(struct ct_shm_head, nonce);
    struct iovec to = {nonce, sizeof nonce};
    struct iovec from = {(void *)(uintptr_t)(peer->head + at), sizeof nonce};
    ssize_t      n = process_vm_readv(peer->pid, &to, 1, &from, 1, 0);
    bool works = n == sizeof nonce && nonce[0] == peer->nonce[0] && nonce[1] == peer->nonce[1];
    if (!works) {
        ct_info(env->log, "no one-copy reads from pid %d (%s): long messages go in pieces",
                peer->pid, n < 0 ? strerror(errno) : "wrong contents");
    }
    return works ? CT_SHM_COPY_CMA : CT_SHM_COPY_OFF;
}

void ct_shm_copy_allow(void)
{
    (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); /* fails where there is no Yama */
}

bool ct_shm_copy_view(const struct ct_net_env *env, const struct ct_shm_addr *own,
                      const struct ct_shm_addr *peer, const struct ct_shm_segment *segment,
                      struct ct_attach *view)
{
    if (env->process == NULL || env->cfg->shm_single_copy == CT_SHM_COPY_NEVER ||
        peer->pid_space != own->pid_space || peer->pid == own->pid) {
        return false;
    }
    _Atomic uint32_t *blind = &ct_shm_segment_offer(segment, env->local_index)->blind;
    atomic_store_explicit(blind, 0, memory_order_relaxed); /* may be of who had our place */
    *view = (struct ct_attach){
        .theirs = &segment->head->list, .blind = blind, .log = env->log, .pid = peer->pid};
    return true;
}

/* Copies all between `own` and the peer's memory by the kernel; a short copy is an error, as both
 * ends agreed on the length: CTRAN_ERR_BUFFER. CTRAN_ERR_PROC_FAILED: there is no such process. */
static int kernel_copy(int pid, const struct iovec *own, unsigned n, uint64_t addr,
                       size_t len_bytes, bool is_put)
{
    const struct iovec theirs = {(void *)(uintptr_t)addr, len_bytes};
    ssize_t            done;
    do {
        done = is_put ? process_vm_writev(pid, own, n, &theirs, 1, 0)
                      : process_vm_readv(pid, own, n, &theirs, 1, 0);
    } while (done < 0 && errno == EINTR);
    return done == (ssize_t)len_bytes   ? CTRAN_SUCCESS
           : done < 0 && errno == ESRCH ? CTRAN_ERR_PROC_FAILED
                                        : CTRAN_ERR_BUFFER;
}

/* The mate's memory as the caller's own; NULL: it is not. */
static void *as_own(const struct ct_shm_mate *mate, const struct ct_shm_remote *at)
{
    if (mate->how == CT_SHM_COPY_DIRECT) {
        return (void *)(uintptr_t)at->addr;
    }
    return mate->view != NULL ? ct_attach_find(mate->view, at->addr, at->len_bytes) : NULL;
}

/* Through memory of our own that lies as the source of a read does, or as the destination of a
 * write. Apart from its caller, which needs no such stack. */
static __attribute__((noinline)) int copy_by_stage(int pid, char *own, uint64_t addr,
                                                   size_t len_bytes, bool is_put)
{
    CT_ALIGNED(CT_BLOCK_PAGE) char stage[STAGE + CT_BLOCK_PAGE];
    char                          *between = stage + addr % CT_BLOCK_PAGE;
    int                            rc = CTRAN_SUCCESS;
    for (size_t at = 0, n; at < len_bytes && rc == CTRAN_SUCCESS; at += n) {
        n = ct_min_size(STAGE, len_bytes - at);
        if (is_put) {
            ct_block_copy(between, own + at, n);
        }
        rc = kernel_copy(pid, &(struct iovec){between, n}, 1, addr + at, n, is_put);
        if (rc == CTRAN_SUCCESS && !is_put) {
            ct_block_copy(own + at, between, n);
        }
    }
    return rc;
}

/* One block. The kernel would be slow where addresses lag (base/block.h). */
static int copy_block(int pid, char *own, uint64_t addr, size_t len_bytes, bool is_put)
{
    const uintptr_t to = is_put ? addr : (uintptr_t)own, from = is_put ? (uintptr_t)own : addr;
    return CT_UNLIKELY(ct_block_lags(to, from, len_bytes))
               ? copy_by_stage(pid, own, addr, len_bytes, is_put)
               : kernel_copy(pid, &(struct iovec){own, len_bytes}, 1, addr, len_bytes, is_put);
}

int ct_shm_copy_part(int pid, const struct ct_area *area, size_t pos, size_t len_bytes,
                     uint64_t addr, bool is_put)
{
    enum { MOST = 1 << 30 }; /* the kernel caps one call at 2 GiB */
    int rc = CTRAN_SUCCESS;
    for (size_t done = 0, bytes; done < len_bytes && rc == CTRAN_SUCCESS; done += bytes) {
        struct iovec own[PIECES];
        unsigned     n;
        const size_t most = ct_min_size(len_bytes - done, MOST);
        bytes = ct_area_next(area, &pos, most, own, PIECES, &n);
        rc = bytes == 0 ? CTRAN_ERR_BUFFER
             : n == 1   ? copy_block(pid, own->iov_base, addr + done, bytes, is_put)
                        : kernel_copy(pid, own, n, addr + done, bytes, is_put);
    }
    return rc;
}

int ct_shm_get(const struct ct_shm_mate *mate, void *to, const struct ct_shm_remote *from)
{
    const struct ct_area area = {.base = to, .len_bytes = from->len_bytes};
    const void          *own = as_own(mate, from);
    if (own != NULL) {
        ct_block_copy(to, own, from->len_bytes);
        return CTRAN_SUCCESS;
    }
    return mate->how == CT_SHM_COPY_CMA
               ? ct_shm_copy_part(mate->pid, &area, 0, from->len_bytes, from->addr, false)
               : CTRAN_ERR_BUFFER;
}

int ct_shm_put(const struct ct_shm_mate *mate, const void *from, const struct ct_shm_remote *to)
{
    void *own = as_own(mate, to);
    if (own != NULL) {
        ct_block_copy(own, from, to->len_bytes);
        return CTRAN_SUCCESS;
    }
    return mate->how == CT_SHM_COPY_CMA
               ? copy_block(mate->pid, (char *)(uintptr_t)from, to->addr, to->len_bytes, true)
               : CTRAN_ERR_BUFFER;
}
