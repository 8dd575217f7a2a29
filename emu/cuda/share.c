/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that processes can share: a memfd whose name tells what it is, EMU-CUDA.DEVICE.ID, so
 * that who gets the descriptor - through /proc, or a socket - knows it as well and takes no
 * other file for it.
 */
#include "emu.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "EMU-CUDA"

uint64_t emu_random64(void)
{
    uint64_t value = 0;
    if (getrandom(&value, sizeof value, 0) != (ssize_t)sizeof value) {
        static atomic_uint made; /* before the kernel has gathered any: few processes run then */
        value = (uint64_t)getpid() << 32 | atomic_fetch_add(&made, 1);
    }
    return value;
}

CUresult emu_share_make(struct emu_share *share, int device, size_t bytes)
{
    char name[64];
    share->id = emu_random64();
    share->device = device;
    share->bytes = bytes;
    snprintf(name, sizeof name, NAME ".%d.%016llx", device, (unsigned long long)share->id);
    share->fd = memfd_create(name, MFD_CLOEXEC);
    if (share->fd < 0) {
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    if (ftruncate(share->fd, (off_t)bytes) != 0) {
        close(share->fd);
        share->fd = -1;
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

CUresult emu_share_take(struct emu_share *share, int fd)
{
    char link[64], name[128];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t len = readlink(link, name, sizeof name - 1);
    struct stat   stat;
    if (len <= 0 || fstat(fd, &stat) != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    name[len] = '\0';
    int                device;
    unsigned long long id;
    if (sscanf(name, "/memfd:" NAME ".%d.%16llx", &device, &id) != 2) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *share =
        (struct emu_share){.fd = fd, .device = device, .id = id, .bytes = (size_t)stat.st_size};
    return CUDA_SUCCESS;
}

int emu_share_window(const struct emu_share *share, size_t offset)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", share->fd);
    const int fd = open(link, O_RDWR | O_CLOEXEC); /* a position of its own, unlike with dup */
    if (fd >= 0 && lseek(fd, (off_t)offset, SEEK_SET) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}
