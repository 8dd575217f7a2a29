/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The owner's side of exposed memory: mem.h says what that is. One lock for the list, always on and
 * a leaf; a function that asks what is exposed takes no lock.
 */
#define CT_FOLDER "node"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node/attach.h"
#include "node/shmfile.h"

struct ct_expose {
    pthread_mutex_t                  lock;
    _Atomic(struct ct_expose_list *) list;
    int                              fd;     /* -1: not made */
    bool                             failed; /* it cannot be made */
    uint64_t                         end;    /* of the file */
    uint64_t                         device, inode;
    _Atomic uint32_t                 high; /* no range stands at this or behind it */
    struct ct_expose_range           ranges[CT_EXPOSE_RANGES];
};

int ct_expose_init(struct ct_process *p)
{
    struct ct_expose *c = calloc(1, sizeof *c);
    if (c == NULL) {
        ct_error(&p->log, "no memory for what is kept of memory (%zu bytes)", sizeof *c);
        return CTRAN_ERR_NO_MEM;
    }
    (void)pthread_mutex_init(&c->lock, NULL); /* cannot fail for a plain one */
    c->fd = -1;
    p->exposed = c;
    return CTRAN_SUCCESS;
}

void ct_expose_fini(struct ct_process *p)
{
    struct ct_expose *c = p->exposed;
    if (c != NULL) {
        if (c->fd >= 0) {
            (void)close(c->fd); /* mappings hold the file */
        }
        (void)pthread_mutex_destroy(&c->lock);
        free(c);
        p->exposed = NULL;
    }
}

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* ---- the list -------------------------------------------------------------------------------- */

/* The place is written last: a reader that sees the place has read the rest of the same range, if
 * the range is still there. */
static void write_range(struct ct_expose_range *r, uint64_t place, uint64_t addr,
                        uint64_t len_bytes)
{
    atomic_store_explicit(&r->place, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&r->addr, addr, memory_order_relaxed);
    atomic_store_explicit(&r->len_bytes, len_bytes, memory_order_relaxed);
    atomic_store_explicit(&r->place, place, memory_order_release);
}

static void copy_range(struct ct_expose_range *to, const struct ct_expose_range *from)
{
    write_range(to, atomic_load_explicit(&from->place, memory_order_relaxed),
                atomic_load_explicit(&from->addr, memory_order_relaxed),
                atomic_load_explicit(&from->len_bytes, memory_order_relaxed));
}

/* What has become of range i is shown. */
static void show_range(struct ct_expose *c, unsigned i)
{
    struct ct_expose_list *list = atomic_load_explicit(&c->list, memory_order_relaxed);
    if (list != NULL) {
        copy_range(&list->ranges[i], &c->ranges[i]);
        atomic_fetch_add_explicit(&list->changes, 1, memory_order_seq_cst);
    }
}

static void show_file(const struct ct_expose *c, struct ct_expose_list *list)
{
    atomic_store_explicit(&list->fd, c->fd, memory_order_relaxed);
    atomic_store_explicit(&list->device, c->device, memory_order_relaxed);
    atomic_store_explicit(&list->inode, c->inode, memory_order_relaxed);
}

static bool is_there(const struct ct_expose_range *r)
{
    return atomic_load_explicit(&r->place, memory_order_relaxed) != 0;
}

/* While nothing has ever been exposed there are no changes, and peers need not look. */
void ct_expose_show(struct ct_process *p, struct ct_expose_list *list)
{
    struct ct_expose *c = p->exposed;
    if (c == NULL) {
        return;
    }
    pthread_mutex_lock(&c->lock);
    atomic_store_explicit(&c->list, list, memory_order_release);
    if (list != NULL) {
        show_file(c, list);
        for (unsigned i = 0; i < CT_EXPOSE_RANGES; i++) {
            if (is_there(&c->ranges[i]) || is_there(&list->ranges[i])) {
                show_range(c, i);
            }
        }
    }
    pthread_mutex_unlock(&c->lock);
}

/* The place for one more; CT_EXPOSE_RANGES: there is none. */
static unsigned free_range(const struct ct_expose *c)
{
    unsigned i = 0;
    while (i < CT_EXPOSE_RANGES && is_there(&c->ranges[i])) {
        i++;
    }
    return i;
}

/* The one that begins there. */
static unsigned expose_find_range(const struct ct_expose *c, const void *ptr)
{
    unsigned i = 0;
    while (i < CT_EXPOSE_RANGES &&
           (atomic_load_explicit(&c->ranges[i].place, memory_order_relaxed) == 0 ||
            atomic_load_explicit(&c->ranges[i].addr, memory_order_relaxed) != (uintptr_t)ptr)) {
        i++;
    }
    return i;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Once: why not is in errno. The first page stays empty: no range has place 0. */
static bool expose_make_file(struct ct_expose *c)
{
    struct stat st;
    c->failed = true;
    c->fd = memfd_create("ctran-alloc", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (c->fd >= 0 && fcntl(c->fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0 && fstat(c->fd, &st) == 0) {
        c->failed = false;
        c->end = page_bytes();
        c->device = st.st_dev;
        c->inode = st.st_ino;
        show_file(c, c->list);
        return true;
    }
    const int why = errno;
    if (c->fd >= 0) {
        (void)close(c->fd); /* never written to */
        c->fd = -1;
    }
    errno = why;
    return false;
}

/* A program that closes descriptors which are not its own may have opened another file by now. */
static bool is_ours(struct ct_expose *c)
{
    struct stat st;
    if (fstat(c->fd, &st) == 0 && st.st_dev == c->device && st.st_ino == c->inode) {
        return true;
    }
    c->fd = -1;
    c->failed = true;
    errno = ESTALE;
    return false;
}

/* Makes the file longer by len and returns where that begins, 0 if it cannot. A process that may
 * not make a file of this length would get a signal. */
static uint64_t expose_extend(struct ct_expose *c, size_t len)
{
    const uint64_t place = c->end;
    if (!is_ours(c)) {
        return 0;
    }
    if (len > INT64_MAX - place) {
        errno = EFBIG;
        return 0;
    }
    if (!ct_shmfile_may_be(place + len) || ftruncate(c->fd, (off_t)(place + len)) != 0) {
        return 0;
    }
    c->end += len; /* even if it is of no use: it cannot shrink */
    return place;
}

/* Room for len bytes at such an alignment, which the kernel refuses where it has no memory for
 * them: of a file it would promise any amount. */
static char *expose_reserve(size_t len, size_t align)
{
    const size_t page = page_bytes(), room = len + (align > page ? align : 0);
    char        *at = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
        return NULL;
    }
    char *base = (char *)ct_round_up((uintptr_t)at, ct_max_size(align, page));
    if (base > at) {
        (void)munmap(at, (size_t)(base - at)); /* ours, as all here: cannot fail */
    }
    if (at + room > base + len) {
        (void)munmap(base + len, (size_t)(at + room - (base + len)));
    }
    return base;
}

/* The file's next len bytes, and where they are mapped; NULL: not, and why is in errno. */
static void *map_next(struct ct_expose *c, size_t len, size_t align, uint64_t *place)
{
    char *base = expose_reserve(len, align);
    if (base == NULL) {
        return NULL;
    }
    *place = expose_extend(c, len);
    if (*place != 0 && mmap(base, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, c->fd,
                            (off_t)*place) != MAP_FAILED) {
        return base;
    }
    const int why = errno;
    (void)munmap(base, len);
    errno = why;
    return NULL;
}

/* ---- get and put ----------------------------------------------------------------------------- */

/* Why there is no range, which is logged once the lock is free; errno has more. */
enum lack { NOBODY, FULL, NO_FILE, LOGGED, NO_MEMORY };

static void log_lack(struct ct_process *p, size_t len, enum lack lack, int why)
{
    switch (lack) {
    case FULL:
        ct_info(&p->log, "%zu bytes are private: there are %d ranges of exposed memory already",
                len, CT_EXPOSE_RANGES);
        break;
    case NO_FILE:
        ct_info(&p->log, "no exposed memory (%s): ctran_alloc_mem gives private memory",
                strerror(why));
        break;
    case NO_MEMORY:
        ct_info(&p->log, "%zu bytes are private: no exposed memory (%s)", len, strerror(why));
        break;
    case NOBODY:
    case LOGGED:
        break;
    }
}

/* The lock is held. */
static void *make_range(struct ct_expose *c, size_t len, size_t align, enum lack *lack)
{
    const unsigned i = free_range(c);
    if (i == CT_EXPOSE_RANGES) {
        *lack = FULL;
        return NULL;
    }
    if (c->fd < 0 && c->failed) {
        *lack = LOGGED;
        return NULL;
    }
    if (c->fd < 0 && !expose_make_file(c)) {
        *lack = NO_FILE;
        return NULL;
    }
    uint64_t place;
    void    *at = map_next(c, len, align, &place);
    if (at == NULL) {
        *lack = NO_MEMORY;
        return NULL;
    }
    write_range(&c->ranges[i], place, (uintptr_t)at, len);
    if (atomic_load_explicit(&c->high, memory_order_relaxed) <= i) {
        atomic_store_explicit(&c->high, i + 1, memory_order_release);
    }
    show_range(c, i);
    return at;
}

void *ct_expose_alloc(struct ct_process *p, size_t len_bytes, size_t align)
{
    struct ct_expose *c = p->exposed;
    const size_t      least = (size_t)p->cfg.shm_alloc;
    enum lack         lack = NOBODY;
    void             *at = NULL;
    if (c == NULL || least == 0 || len_bytes < least || len_bytes == 0 ||
        len_bytes > PTRDIFF_MAX - page_bytes() - align) {
        return NULL;
    }
    pthread_mutex_lock(&c->lock);
    if (atomic_load_explicit(&c->list, memory_order_relaxed) != NULL) {
        at = make_range(c, ct_round_up(len_bytes, page_bytes()), align, &lack);
    }
    const int why = errno;
    pthread_mutex_unlock(&c->lock);
    if (CT_UNLIKELY(at == NULL)) {
        log_lack(p, len_bytes, lack, why);
    }
    return at;
}

/* Off the list first; then the pages go, even if a peer still maps them: by the mapping, since the
 * descriptor may be another file's by now. */
bool ct_expose_free(struct ct_process *p, void *ptr)
{
    struct ct_expose *c = p->exposed;
    if (c == NULL || atomic_load_explicit(&c->high, memory_order_relaxed) == 0) {
        return false;
    }
    pthread_mutex_lock(&c->lock);
    const unsigned i = expose_find_range(c, ptr);
    uint64_t       len = 0;
    int            why = 0;
    if (i < CT_EXPOSE_RANGES) {
        len = atomic_load_explicit(&c->ranges[i].len_bytes, memory_order_relaxed);
        write_range(&c->ranges[i], 0, 0, 0);
        show_range(c, i);
        why = madvise(ptr, len, MADV_REMOVE) != 0 ? errno : 0;
        (void)munmap(ptr, len); /* ours: cannot fail */
    }
    pthread_mutex_unlock(&c->lock);
    if (CT_UNLIKELY(why != 0)) {
        ct_info(&p->log, "%" PRIu64 " bytes of exposed memory stay taken: %s", len, strerror(why));
    }
    return i < CT_EXPOSE_RANGES;
}

bool ct_expose_has(const struct ct_process *p, const void *ptr, size_t len_bytes)
{
    const struct ct_expose *c = p->exposed;
    const uint32_t high = c != NULL ? atomic_load_explicit(&c->high, memory_order_acquire) : 0;
    for (uint32_t i = 0; i < high; i++) {
        const struct ct_expose_range *r = &c->ranges[i];
        const uint64_t at = (uintptr_t)ptr - atomic_load_explicit(&r->addr, memory_order_relaxed);
        const uint64_t len = atomic_load_explicit(&r->len_bytes, memory_order_relaxed);
        if (at < len && len_bytes <= len - at) {
            return atomic_load_explicit(&c->list, memory_order_relaxed) != NULL;
        }
    }
    return false;
}
