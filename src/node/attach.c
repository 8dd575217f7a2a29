/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The peer's side of exposed memory: mem.h says what that is. What has been mapped is found again
 * without a system call, by a look at the peer's list; what is not on it any more is let go of at
 * the next look. What cannot be mapped is tried again, ever less often. Called by shm, inside the
 * progress domain.
 */
#define CT_FOLDER "node"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node/attach.h"

/* A range that is mapped here. */
struct ct_attach_range {
    uint64_t place, addr, len_bytes;
    char    *at; /* NULL: none */
};

/* Here, from their address on; the range has it. */
static char *attach_inside(const struct ct_attach_range *s, uint64_t addr, uint64_t len_bytes)
{
    const uint64_t at = addr - s->addr;
    return s->at != NULL && at < s->len_bytes && len_bytes <= s->len_bytes - at ? s->at + at : NULL;
}

static void attach_let_go(struct ct_attach_range *s)
{
    if (s->at != NULL) {
        (void)munmap(s->at, s->len_bytes); /* ours: cannot fail */
        s->at = NULL;
    }
}

static bool attach_is_listed(const struct ct_attach *v, unsigned i)
{
    return atomic_load_explicit(&v->theirs->ranges[i].place, memory_order_acquire) ==
           v->ranges[i].place;
}

static void see_again(struct ct_attach *v)
{
    v->vain = v->rest = 0;
    v->failed_at = 0;
    atomic_store_explicit(v->blind, 0, memory_order_relaxed);
}

void ct_attach_sweep(struct ct_attach *v)
{
    const uint32_t changes = v->theirs == NULL
                                 ? v->seen
                                 : atomic_load_explicit(&v->theirs->changes, memory_order_acquire);
    if (CT_LIKELY(changes == v->seen)) {
        return;
    }
    for (unsigned i = 0; v->ranges != NULL && i < CT_EXPOSE_RANGES; i++) {
        if (v->ranges[i].at != NULL && !attach_is_listed(v, i)) {
            attach_let_go(&v->ranges[i]);
        }
    }
    /* The last that failed stands for all: the next look tells of the others. */
    if (v->failed_at != 0 && atomic_load_explicit(&v->theirs->ranges[v->failed].place,
                                                  memory_order_acquire) != v->failed_at) {
        see_again(v);
    }
    v->seen = changes;
}

void ct_attach_close(struct ct_attach *v)
{
    for (unsigned i = 0; v->ranges != NULL && i < CT_EXPOSE_RANGES; i++) {
        attach_let_go(&v->ranges[i]);
    }
    free(v->ranges);
    *v = (struct ct_attach){.theirs = NULL};
}

/* ---- mapping --------------------------------------------------------------------------------- */

/* The range at i as it stood at one moment; false: none did. */
static bool read_range(const struct ct_attach *v, unsigned i, struct ct_attach_range *s)
{
    struct ct_expose_range *r = &v->theirs->ranges[i];
    s->at = NULL;
    s->place = atomic_load_explicit(&r->place, memory_order_acquire);
    s->addr = atomic_load_explicit(&r->addr, memory_order_relaxed);
    s->len_bytes = atomic_load_explicit(&r->len_bytes, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    return s->place != 0 && atomic_load_explicit(&r->place, memory_order_relaxed) == s->place;
}

/* The peer's file; -1: it cannot be opened, or that is another one. */
static int attach_open_file(const struct ct_attach *v)
{
    char        path[64];
    struct stat st;
    (void)snprintf(path, sizeof path, "/proc/%d/fd/%d", v->pid,
                   (int)atomic_load_explicit(&v->theirs->fd, memory_order_relaxed));
    const int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
                    st.st_dev != atomic_load_explicit(&v->theirs->device, memory_order_relaxed) ||
                    st.st_ino != atomic_load_explicit(&v->theirs->inode, memory_order_relaxed))) {
        (void)close(fd);
        errno = ESTALE;
        return -1;
    }
    return fd;
}

/* Whether the file has the range, and will: else an access to it were a signal. */
static bool has_range(int fd, const struct ct_attach_range *s)
{
    struct stat    st;
    const int      seals = fcntl(fd, F_GET_SEALS);
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const bool     has = fstat(fd, &st) == 0 && seals >= 0 && (seals & F_SEAL_SHRINK) != 0 &&
                     s->len_bytes > 0 && s->place % page == 0 && s->place <= (uint64_t)st.st_size &&
                     s->len_bytes <= (uint64_t)st.st_size - s->place;
    if (!has) {
        errno = ERANGE;
    }
    return has;
}

/* Until the next try it has to go in another way, and the peer knows that: unless it is gone, has
 * lost its file, or does not tell the truth about it. What is mapped stays. */
static void attach_fail(struct ct_attach *v, unsigned i, uint64_t place)
{
    enum { MOST_REST = 256 };
    const bool theirs = errno == ENOENT || errno == ESRCH || errno == ESTALE || errno == ERANGE;
    if (!v->logged) {
        v->logged = true;
        ct_info(v->log,
                "cannot map the exposed memory of pid %d (%s): messages go as from private memory",
                v->pid, strerror(errno));
    }
    if (!theirs) {
        v->failed = i;
        v->failed_at = place;
        atomic_store_explicit(v->blind, 1, memory_order_relaxed);
    }
    v->vain = v->vain == 0 ? 1 : v->vain < MOST_REST ? 2 * v->vain : v->vain;
    v->rest = v->vain;
}

/* Whether it is too early to try again: that is after twice as many looks each time, or when there
 * is something else on the list. */
static bool attach_rests(struct ct_attach *v)
{
    const uint32_t changes = atomic_load_explicit(&v->theirs->changes, memory_order_acquire);
    if (v->rest > 0 && changes == v->tried) {
        v->rest--;
        return true;
    }
    v->tried = changes;
    return false;
}

/* Core dumps have it from its owner, once. */
static bool map_range(const struct ct_attach *v, struct ct_attach_range *s)
{
    const int fd = attach_open_file(v);
    if (fd >= 0 && has_range(fd, s)) {
        void *at =
            mmap(NULL, s->len_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)s->place);
        s->at = at == MAP_FAILED ? NULL : at;
    }
    if (s->at != NULL) {
        (void)madvise(s->at, s->len_bytes, MADV_DONTDUMP); /* may fail */
    }
    const int why = errno;
    if (fd >= 0) {
        (void)close(fd);
    }
    errno = why;
    return s->at != NULL;
}

/* The range of the list that has these bytes, as it stood at one moment; CT_EXPOSE_RANGES: none. */
static unsigned attach_find_range(const struct ct_attach *v, uint64_t addr, uint64_t len_bytes,
                                  struct ct_attach_range *s)
{
    unsigned i = 0;
    while (i < CT_EXPOSE_RANGES && (!read_range(v, i, s) || addr - s->addr >= s->len_bytes ||
                                    len_bytes > s->len_bytes - (addr - s->addr))) {
        i++;
    }
    return i;
}

void *ct_attach_map(const struct ct_attach *v, uint64_t addr, uint64_t len_bytes,
                    struct ct_attach_mapping *out)
{
    struct ct_attach_range s;
    if (v->theirs == NULL || attach_find_range(v, addr, len_bytes, &s) == CT_EXPOSE_RANGES ||
        !map_range(v, &s)) {
        return NULL;
    }
    *out = (struct ct_attach_mapping){s.at, s.len_bytes};
    return attach_inside(&s, addr, len_bytes);
}

void ct_attach_unmap(struct ct_attach_mapping *mapping)
{
    if (mapping->at != NULL) {
        (void)munmap(mapping->at, mapping->len_bytes); /* ours: cannot fail */
        mapping->at = NULL;
    }
}

/* One that is not mapped so far. */
static void *find_new(struct ct_attach *v, uint64_t addr, uint64_t len_bytes)
{
    struct ct_attach_range s;
    const unsigned         i = attach_find_range(v, addr, len_bytes, &s);
    if (i == CT_EXPOSE_RANGES || attach_rests(v)) {
        return NULL;
    }
    if (v->ranges == NULL) {
        v->ranges = calloc(CT_EXPOSE_RANGES, sizeof *v->ranges);
    }
    if (v->ranges == NULL || !map_range(v, &s)) {
        attach_fail(v, i, s.place);
        return NULL;
    }
    see_again(v);
    attach_let_go(&v->ranges[i]);
    v->ranges[i] = s;
    v->last = i;
    return attach_inside(&s, addr, len_bytes);
}

void *ct_attach_find(struct ct_attach *v, uint64_t addr, uint64_t len_bytes)
{
    if (v->theirs == NULL || atomic_load_explicit(&v->theirs->changes, memory_order_acquire) == 0) {
        return NULL;
    }
    ct_attach_sweep(v);
    if (v->ranges != NULL) {
        void *at = attach_inside(&v->ranges[v->last], addr, len_bytes);
        if (CT_LIKELY(at != NULL && attach_is_listed(v, v->last))) {
            return at;
        }
        for (unsigned i = 0; i < CT_EXPOSE_RANGES; i++) {
            at = attach_inside(&v->ranges[i], addr, len_bytes);
            if (at != NULL && attach_is_listed(v, i)) {
                v->last = i;
                return at;
            }
        }
    }
    return find_new(v, addr, len_bytes);
}
