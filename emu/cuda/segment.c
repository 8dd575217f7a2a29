/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of all ranges of addresses that the driver knows, in the order of their addresses,
 * and the mappings behind those that it made. */
#include "emu.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static pthread_rwlock_t     lock = PTHREAD_RWLOCK_INITIALIZER;
static struct emu_segment **table;
static size_t               count, cap;
static uint64_t             ids;
static unsigned             kernels; /* that run in this process */
static int64_t              used[EMU_MAX_DEVICES];

/* The number of segments that begin at or before `at`. */
static size_t rank_of(uint64_t at)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (table[mid]->base <= at) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

static struct emu_segment *find(uint64_t at)
{
    const size_t rank = rank_of(at);
    if (rank == 0 || at - table[rank - 1]->base >= table[rank - 1]->bytes) {
        return NULL;
    }
    return table[rank - 1];
}

bool emu_segment_on_device(const struct emu_segment *segment)
{
    return segment->kind <= EMU_MAPPED;
}

/* What the CPU may do at the address that the program knows. */
static int protection(const struct emu_segment *segment)
{
    if (!emu_segment_on_device(segment)) {
        return PROT_READ | PROT_WRITE;
    }
    const bool reachable = segment->kind != EMU_MAPPED || segment->reach != 0;
    return reachable && (!emu_set.strict || kernels > 0) ? PROT_READ | PROT_WRITE : PROT_NONE;
}

CUresult emu_segment_map(struct emu_segment *segment, void *at, size_t offset, size_t inset)
{
    const int    fixed = at != NULL ? MAP_FIXED : 0;
    const size_t bytes = segment->map_bytes;
    segment->shadow =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, segment->share.fd, (off_t)offset);
    if (segment->shadow == MAP_FAILED) {
        segment->shadow = NULL;
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    /* Its rights are set when it enters the table, under that lock. */
    segment->map = mmap(at, bytes, PROT_NONE, MAP_SHARED | fixed, segment->share.fd, (off_t)offset);
    if (segment->map == MAP_FAILED) {
        munmap(segment->shadow, bytes);
        segment->map = segment->shadow = NULL;
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    segment->base = (uint64_t)(uintptr_t)segment->map + inset;
    segment->cpu = (char *)segment->shadow + inset;
    return CUDA_SUCCESS;
}

CUresult emu_segment_add(struct emu_segment *segment)
{
    CUresult result = CUDA_SUCCESS;
    pthread_rwlock_wrlock(&lock);
    const size_t rank = rank_of(segment->base + segment->bytes - 1);
    if (rank > 0 && table[rank - 1]->base + table[rank - 1]->bytes > segment->base) {
        result = CUDA_ERROR_ALREADY_MAPPED;
    } else if (count == cap) {
        const size_t         more = cap == 0 ? 64 : 2 * cap;
        struct emu_segment **larger = realloc(table, more * sizeof(struct emu_segment *));
        result = larger != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
        table = larger != NULL ? larger : table;
        cap = larger != NULL ? more : cap;
    }
    if (result == CUDA_SUCCESS) {
        segment->id = ++ids;
        memmove(table + rank + 1, table + rank, (count - rank) * sizeof table[0]);
        table[rank] = segment;
        count++;
        if (segment->map != NULL) {
            mprotect(segment->map, segment->map_bytes, protection(segment));
        }
    }
    pthread_rwlock_unlock(&lock);
    return result;
}

bool emu_segment_remove(struct emu_segment *segment)
{
    pthread_rwlock_wrlock(&lock);
    const size_t rank = rank_of(segment->base);
    const bool   there = rank > 0 && table[rank - 1] == segment;
    if (there) {
        memmove(table + rank - 1, table + rank, (count - rank) * sizeof table[0]);
        count--;
    }
    pthread_rwlock_unlock(&lock);
    return there;
}

void emu_segment_free(struct emu_segment *segment, bool keep_reserved)
{
    if (segment->shadow != NULL) {
        munmap(segment->shadow, segment->map_bytes);
    }
    if (segment->map != NULL && keep_reserved) {
        mmap(segment->map, segment->map_bytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    } else if (segment->map != NULL) {
        munmap(segment->map, segment->map_bytes);
    }
    if (segment->share.fd >= 0) {
        close(segment->share.fd);
    }
    free(segment);
}

struct emu_segment *emu_segment_find(uint64_t at)
{
    pthread_rwlock_rdlock(&lock);
    struct emu_segment *segment = find(at);
    pthread_rwlock_unlock(&lock);
    return segment;
}

struct emu_segment *emu_segment_next(uint64_t at, uint64_t end)
{
    pthread_rwlock_rdlock(&lock);
    const size_t        rank = at == 0 ? 0 : rank_of(at - 1);
    struct emu_segment *segment = rank < count && table[rank]->base < end ? table[rank] : NULL;
    pthread_rwlock_unlock(&lock);
    return segment;
}

bool emu_segment_reached(const struct emu_segment *segment, CUcontext ctx)
{
    switch (segment->kind) {
    case EMU_DEVICE:
        return emu_ctx_reaches(ctx, segment->device);
    case EMU_IMPORTED: /* opened with the flag that enables peer access of the opening context */
        return segment->ctx == ctx || emu_ctx_reaches(ctx, segment->device);
    case EMU_MAPPED:
        return (segment->reach >> ctx->device & 1) != 0;
    default:
        return true;
    }
}

char *emu_segment_cpu(uint64_t at, size_t *len, bool known)
{
    pthread_rwlock_rdlock(&lock);
    const size_t rank = rank_of(at);
    char        *cpu = (char *)(uintptr_t)at;
    if (rank > 0 && at - table[rank - 1]->base < table[rank - 1]->bytes) {
        const struct emu_segment *segment = table[rank - 1];
        const size_t              within = at - segment->base;
        *len = *len < segment->bytes - within ? *len : segment->bytes - within;
        cpu = segment->kind == EMU_MAPPED && segment->reach == 0 ? NULL : segment->cpu + within;
    } else if (known) {
        cpu = NULL;
    } else if (rank < count && table[rank]->base - at < *len) {
        *len = table[rank]->base - at;
    }
    pthread_rwlock_unlock(&lock);
    return cpu;
}

void emu_segment_reach(struct emu_segment *segment, uint64_t reach)
{
    pthread_rwlock_wrlock(&lock);
    segment->reach = reach;
    mprotect(segment->map, segment->map_bytes, protection(segment));
    pthread_rwlock_unlock(&lock);
}

static void protect_all(void)
{
    for (size_t i = 0; i < count; i++) {
        if (emu_segment_on_device(table[i])) {
            mprotect(table[i]->map, table[i]->map_bytes, protection(table[i]));
        }
    }
}

void emu_segments_open(void)
{
    if (!emu_set.strict) {
        return;
    }
    pthread_rwlock_wrlock(&lock);
    if (kernels++ == 0) {
        protect_all();
    }
    pthread_rwlock_unlock(&lock);
}

void emu_segments_close(void)
{
    if (!emu_set.strict) {
        return;
    }
    pthread_rwlock_wrlock(&lock);
    if (--kernels == 0) {
        protect_all();
    }
    pthread_rwlock_unlock(&lock);
}

CUresult emu_usage_add(int device, int64_t bytes)
{
    pthread_rwlock_wrlock(&lock);
    const bool fits = bytes <= (int64_t)emu_set.memory_bytes - used[device];
    used[device] += fits ? bytes : 0;
    pthread_rwlock_unlock(&lock);
    return fits ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

size_t emu_usage(int device)
{
    pthread_rwlock_rdlock(&lock);
    const size_t bytes = (size_t)used[device];
    pthread_rwlock_unlock(&lock);
    return bytes;
}
