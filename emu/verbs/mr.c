/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory regions. A key is index x 256 + tag; the tag of an index changes with each region, so
 * that a key that outlived its region is refused. Registration reads a byte of each page, as
 * pinning would touch it: memory that is not there, or that the CPU cannot reach - the emulated
 * GPU's - is EFAULT. GPU memory comes as a dma-buf of emu/cuda: a descriptor that can be mapped,
 * whose file position is where the exported range begins.
 */
#include "emu.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    KNOWN = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
            IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_ZERO_BASED | IBV_ACCESS_HUGETLB |
            IBV_ACCESS_OPTIONAL_RANGE,
    PAGES_AT_ONCE = 256
};

static int rights_check(unsigned access)
{
    const unsigned changes = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
    if ((access & ~(unsigned)KNOWN) != 0) {
        return EOPNOTSUPP;
    }
    return (access & changes) != 0 && (access & IBV_ACCESS_LOCAL_WRITE) == 0 ? EINVAL : 0;
}

/* 0, or EFAULT if a page cannot be read. */
static int pages_check(void *addr, size_t bytes)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t       at = (uintptr_t)addr / page * page;
    const uintptr_t end = (uintptr_t)addr + bytes;
    if (end < (uintptr_t)addr) {
        return EFAULT;
    }
    while (at < end) {
        struct iovec  from[PAGES_AT_ONCE];
        char          bytes_read[PAGES_AT_ONCE];
        unsigned long n = 0;
        for (; n < PAGES_AT_ONCE && at < end; n++, at += page) {
            from[n] = (struct iovec){(void *)at, 1};
        }
        struct iovec  to = {bytes_read, n};
        const ssize_t got = process_vm_readv(getpid(), &to, 1, from, n, 0);
        if (got < 0 && errno != EFAULT) {
            return 0; /* the system forbids the call */
        }
        if (got != (ssize_t)n) {
            return EFAULT;
        }
    }
    return 0;
}

/* Gives the region keys; 0, or ENOMEM if there are none left. */
static int give_key(struct emu_mr *mr)
{
    static uint32_t last;
    for (uint32_t i = 0; i < EMU_MAX_MR - 1; i++) {
        last = last % (EMU_MAX_MR - 1) + 1;
        if (emu_nic.mrs[last] == NULL) {
            emu_nic.mrs[last] = mr;
            mr->ib.lkey = mr->ib.rkey = last << 8 | ++emu_nic.mr_tag[last];
            mr->ib.handle = last;
            return 0;
        }
    }
    return ENOMEM;
}

/* A kernel takes its time to pin pages; the caller waits, the NIC does not. */
static void take_time(size_t bytes)
{
    struct emu_registration *set = &emu_nic.fabric->registration;
    const uint64_t           every = atomic_load(&set->every);
    const uint64_t           pages = bytes / (uint64_t)sysconf(_SC_PAGESIZE) + 1;
    uint64_t                 ns = atomic_load(&set->base_ns) + pages * atomic_load(&set->page_ns);
    if (every != 0 && (atomic_fetch_add(&set->count, 1) + 1) % every == 0) {
        ns = atomic_load(&set->spike_ns);
    }
    if (atomic_load(&set->base_ns) + atomic_load(&set->page_ns) + every > 0) {
        emu_nic_pass_time(ns);
    }
}

static struct ibv_mr *make(struct ibv_pd *pd, const struct emu_mr *filled, int code)
{
    struct emu_mr *mr = code == 0 ? malloc(sizeof *mr) : NULL;
    if (mr != NULL) {
        take_time(filled->ib.length);
        *mr = *filled;
        mr->ib.context = pd->context;
        mr->ib.pd = pd;
        emu_lock();
        code = give_key(mr);
        emu_unlock();
    } else if (code == 0) {
        code = ENOMEM;
    }
    if (code != 0) {
        free(mr);
        errno = code;
        return NULL;
    }
    atomic_fetch_add(&((struct emu_pd *)pd)->uses, 1);
    return &mr->ib;
}

static struct ibv_mr *reg(struct ibv_pd *pd, void *addr, size_t bytes, uint64_t iova,
                          unsigned access)
{
    int code = emu_inject("ibv_reg_mr");
    if (code == 0) {
        code = rights_check(access);
    }
    if (code == 0) {
        code = pages_check(addr, bytes);
    }
    const struct emu_mr mr = {.ib = {.addr = addr, .length = bytes},
                              .iova = (access & IBV_ACCESS_ZERO_BASED) != 0 ? 0 : iova,
                              .at = addr,
                              .access = access};
    return make(pd, &mr, code);
}

#undef ibv_reg_mr
#undef ibv_reg_mr_iova
EMU_EXPORT struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t bytes, int access)
{
    return reg(pd, addr, bytes, (uintptr_t)addr, (unsigned)access);
}

EMU_EXPORT struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t bytes,
                                          uint64_t iova, int access)
{
    return reg(pd, addr, bytes, iova, (unsigned)access);
}

EMU_EXPORT struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t bytes,
                                           uint64_t iova, unsigned access)
{
    return reg(pd, addr, bytes, iova, access);
}

/* Maps the pages around a range of a dma-buf; 0 or an errno. */
static int map_dmabuf(struct emu_mr *mr, int fd, uint64_t offset, size_t bytes)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const off_t    begins = lseek(fd, 0, SEEK_CUR);
    struct stat    stat;
    if (begins < 0 || fstat(fd, &stat) != 0) {
        return errno;
    }
    const uint64_t room = (uint64_t)(stat.st_size > begins ? stat.st_size - begins : 0);
    if (bytes == 0 || offset > room || bytes > room - offset) {
        return EINVAL;
    }
    const uint64_t at = (uint64_t)begins + offset, from = at / page * page;
    mr->map_bytes = at + bytes - from;
    mr->map = mmap(NULL, mr->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)from);
    if (mr->map == MAP_FAILED) {
        return errno;
    }
    mr->at = (char *)mr->map + (at - from);
    return 0;
}

EMU_EXPORT struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t bytes,
                                            uint64_t iova, int fd, int access)
{
    struct emu_mr mr = {.ib = {.length = bytes}, .iova = iova, .access = (unsigned)access};
    int           code = emu_inject(__func__);
    if (code == 0) {
        code = rights_check((unsigned)access);
    }
    if (code == 0) {
        code = map_dmabuf(&mr, fd, offset, bytes);
    }
    struct ibv_mr *made = make(pd, &mr, code);
    if (made == NULL && code == 0) {
        munmap(mr.map, mr.map_bytes);
    }
    return made;
}

EMU_EXPORT int ibv_rereg_mr(struct ibv_mr *ib, int flags, struct ibv_pd *pd, void *addr,
                            size_t bytes, int access)
{
    struct emu_mr *mr = (struct emu_mr *)ib;
    const bool     moves = (flags & IBV_REREG_MR_CHANGE_TRANSLATION) != 0;
    const bool     rights = (flags & IBV_REREG_MR_CHANGE_ACCESS) != 0;
    if ((flags & ~IBV_REREG_MR_FLAGS_SUPPORTED) != 0 || flags == 0 || mr->map != NULL ||
        (rights && rights_check((unsigned)access) != 0) ||
        (moves && pages_check(addr, bytes) != 0)) {
        errno = EINVAL;
        return IBV_REREG_MR_ERR_INPUT;
    }
    emu_lock();
    if (moves) {
        mr->ib.addr = addr;
        mr->ib.length = bytes;
        mr->at = addr;
        mr->iova = (uintptr_t)addr;
    }
    if (rights) {
        mr->access = (unsigned)access;
    }
    if ((flags & IBV_REREG_MR_CHANGE_PD) != 0) {
        atomic_fetch_sub(&((struct emu_pd *)mr->ib.pd)->uses, 1);
        atomic_fetch_add(&((struct emu_pd *)pd)->uses, 1);
        mr->ib.pd = pd;
    }
    mr->ib.lkey = mr->ib.rkey = mr->ib.handle << 8 | ++emu_nic.mr_tag[mr->ib.handle];
    emu_unlock();
    return 0;
}

EMU_EXPORT int ibv_dereg_mr(struct ibv_mr *ib)
{
    struct emu_mr *mr = (struct emu_mr *)ib;
    const int      code = emu_inject(__func__);
    if (code != 0) {
        return code;
    }
    emu_lock();
    emu_nic.mrs[ib->handle] = NULL;
    emu_unlock();
    if (mr->map != NULL) {
        munmap(mr->map, mr->map_bytes);
    }
    atomic_fetch_sub(&((struct emu_pd *)ib->pd)->uses, 1);
    free(mr);
    return 0;
}

char *emu_mr_find(struct ibv_pd *pd, uint32_t key, uint64_t addr, uint64_t bytes, unsigned access)
{
    const struct emu_mr *mr = key >> 8 < EMU_MAX_MR ? emu_nic.mrs[key >> 8] : NULL;
    if (mr == NULL || mr->ib.lkey != key || mr->ib.pd != pd || (mr->access & access) != access) {
        return NULL;
    }
    if (addr < mr->iova || addr - mr->iova > mr->ib.length ||
        bytes > mr->ib.length - (addr - mr->iova)) {
        return NULL;
    }
    return mr->at + (addr - mr->iova);
}
