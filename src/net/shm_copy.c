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

/* Reads all of it; a short read is an error, since both ends agreed on the length. */
static int read_blocks(int pid, struct iovec *to, unsigned nto, struct iovec *from, unsigned nfrom,
                       size_t len_bytes)
{
    ssize_t n;
    do {
        n = process_vm_readv(pid, to, nto, from, nfrom, 0);
    } while (n < 0 && errno == EINTR);
    if (n == (ssize_t)len_bytes) {
        return CTRAN_SUCCESS;
    }
    if (n < 0 && errno == ESRCH) {
        return CTRAN_ERR_PROC_FAILED;
    }
    return CTRAN_ERR_UNSUPPORTED_OPERATION;
}

static int read_exact(int pid, struct iovec *to, unsigned nto, uint64_t addr, size_t len_bytes)
{
    struct iovec from = {(void *)(uintptr_t)addr, len_bytes};
    return read_blocks(pid, to, nto, &from, 1, len_bytes);
}

/* The mate's memory as the caller's own; NULL: it is not. */
static void *as_own(const struct ct_shm_mate *mate, const struct ct_net_remote *at)
{
    if (mate->how == CT_SHM_COPY_DIRECT) {
        return (void *)(uintptr_t)at->addr;
    }
    return mate->view != NULL ? ct_attach_find(mate->view, at->addr, at->len_bytes) : NULL;
}

bool ct_shm_reaches(const struct ct_shm_mate *mate, const struct ct_net_remote *what)
{
    return mate->how != CT_SHM_COPY_OFF || as_own(mate, what) != NULL;
}

/* Where the kernel would be slow (base/block.h), through memory of our own that lies as the source
 * does. */
static int read_by_stage(int pid, char *to, uint64_t addr, size_t len_bytes)
{
    CT_ALIGNED(CT_BLOCK_PAGE) char stage[STAGE + CT_BLOCK_PAGE];
    char                          *own = stage + addr % CT_BLOCK_PAGE;
    int                            rc = CTRAN_SUCCESS;
    for (size_t at = 0, n; at < len_bytes && rc == CTRAN_SUCCESS; at += n) {
        n = ct_min_size(STAGE, len_bytes - at);
        rc = read_exact(pid, &(struct iovec){own, n}, 1, addr + at, n);
        if (rc == CTRAN_SUCCESS) {
            ct_block_copy(to + at, own, n);
        }
    }
    return rc;
}

static int read_all(int pid, const struct ct_area *area, const struct ct_net_remote *from)
{
    enum { MOST = 1 << 30 }; /* the kernel caps one call at 2 GiB */
    size_t pos = 0;
    while (pos < from->len_bytes) {
        struct iovec to[PIECES];
        unsigned     nto;
        size_t       at = pos;
        size_t       most = ct_min_size(from->len_bytes - pos, MOST);
        size_t       bytes = ct_area_next(area, &pos, most, to, PIECES, &nto);
        if (bytes == 0) {
            break; /* the receive buffer is full: truncation is the caller's business */
        }
        int rc = nto == 1 && ct_block_lags((uintptr_t)to->iov_base, from->addr + at, bytes)
                     ? read_by_stage(pid, to->iov_base, from->addr + at, bytes)
                     : read_exact(pid, to, nto, from->addr + at, bytes);
        if (rc != CTRAN_SUCCESS) {
            return rc;
        }
    }
    return CTRAN_SUCCESS;
}

int ct_shm_copy(const struct ct_shm_mate *mate, const struct ct_area *area,
                const struct ct_net_remote *from)
{
    size_t      pos = 0;
    const void *own = as_own(mate, from);
    if (own != NULL) {
        ct_area_scatter(area, &pos, own, from->len_bytes);
        return CTRAN_SUCCESS;
    }
    return mate->how == CT_SHM_COPY_CMA ? read_all(mate->pid, area, from)
                                        : CTRAN_ERR_UNSUPPORTED_OPERATION;
}

static int write_exact(int pid, const void *from, uint64_t addr, size_t len_bytes)
{
    struct iovec mine = {(void *)from, len_bytes};
    struct iovec theirs = {(void *)(uintptr_t)addr, len_bytes};
    ssize_t      n;
    do {
        n = process_vm_writev(pid, &mine, 1, &theirs, 1, 0);
    } while (n < 0 && errno == EINTR);
    return n == (ssize_t)len_bytes ? CTRAN_SUCCESS : CTRAN_ERR_UNSUPPORTED_OPERATION;
}

/* As read_by_stage, where the stage lies as the destination does. */
static int write_by_stage(int pid, const char *from, uint64_t addr, size_t len_bytes)
{
    CT_ALIGNED(CT_BLOCK_PAGE) char stage[STAGE + CT_BLOCK_PAGE];
    char                          *own = stage + addr % CT_BLOCK_PAGE;
    int                            rc = CTRAN_SUCCESS;
    for (size_t at = 0, n; at < len_bytes && rc == CTRAN_SUCCESS; at += n) {
        n = ct_min_size(STAGE, len_bytes - at);
        ct_block_copy(own, from + at, n);
        rc = write_exact(pid, own, addr + at, n);
    }
    return rc;
}

int ct_shm_put(const struct ct_shm_mate *mate, const void *from, const struct ct_net_remote *to)
{
    void *own = as_own(mate, to);
    if (own != NULL) {
        ct_block_copy(own, from, to->len_bytes);
        return CTRAN_SUCCESS;
    }
    if (mate->how != CT_SHM_COPY_CMA) {
        return CTRAN_ERR_UNSUPPORTED_OPERATION;
    }
    return ct_block_lags(to->addr, (uintptr_t)from, to->len_bytes)
               ? write_by_stage(mate->pid, from, to->addr, to->len_bytes)
               : write_exact(mate->pid, from, to->addr, to->len_bytes);
}

static ssize_t move_blocks(int pid, const struct iovec *own, unsigned n, uint64_t addr,
                           size_t len_bytes, bool is_put)
{
    struct iovec theirs = {(void *)(uintptr_t)addr, len_bytes};
    ssize_t      done;
    do {
        done = is_put ? process_vm_writev(pid, own, n, &theirs, 1, 0)
                      : process_vm_readv(pid, own, n, &theirs, 1, 0);
    } while (done < 0 && errno == EINTR);
    return done;
}

int ct_shm_copy_part(int pid, const struct ct_area *area, size_t pos, size_t len_bytes,
                     uint64_t addr, bool is_put)
{
    enum { MOST = 1 << 30 }; /* the kernel caps one call at 2 GiB */
    errno = 0;               /* a short copy sets none */
    for (size_t done = 0; done < len_bytes;) {
        struct iovec own[PIECES];
        unsigned     n;
        size_t       most = ct_min_size(len_bytes - done, MOST);
        size_t       bytes = ct_area_next(area, &pos, most, own, PIECES, &n);
        if (bytes == 0 || move_blocks(pid, own, n, addr + done, bytes, is_put) != (ssize_t)bytes) {
            return bytes > 0 && errno == ESRCH ? CTRAN_ERR_PROC_FAILED : CTRAN_ERR_BUFFER;
        }
        done += bytes;
    }
    return CTRAN_SUCCESS;
}
