/* SPDX-License-Identifier: BSD-3-Clause */
/* Making, finding and mapping segments. */
#define CT_FOLDER "node"
#include "node/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node/shmfile.h"
#include "node/shmsize.h"

enum { BACKING_AUTO, BACKING_MEMFD, BACKING_FILE }; /* CTRAN_SHM_BACKING's choices */

static const uint64_t MAGIC = 0x316d68736e617274; /* "transhm1" */

/* ---- where we are ---------------------------------------------------------------------------- */

uint64_t ct_shm_host(void)
{
    char    id[64] = "";
    int     fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, id, sizeof id - 1) : -1;
    if (fd >= 0) {
        close(fd);
    }
    if (n <= 0 && gethostname(id, sizeof id - 1) != 0) {
        return 0;
    }
    return ct_fnv1a(CT_FNV1A_START, id, strlen(id));
}

uint64_t ct_shm_pid_space(void)
{
    struct stat st;
    return stat("/proc/self/ns/pid", &st) == 0 ? (uint64_t)st.st_ino : 0;
}

bool ct_shm_owner_ended(const struct ct_shm_addr *own, const struct ct_shm_addr *addr, int pidfd)
{
    if (pidfd >= 0) {
        struct pollfd pfd = {.fd = pidfd, .events = POLLIN};
        return poll(&pfd, 1, 0) == 1;
    }
    if (addr->pid_space == own->pid_space) {
        return kill(addr->pid, 0) != 0 && errno == ESRCH;
    }
    return ct_shm_segment_abandoned(addr);
}

/* ---- layout ---------------------------------------------------------------------------------- */

static size_t place_bytes(size_t ring_bytes)
{
    return ct_ring_memory(ring_bytes) + sizeof(struct ct_shm_offer) +
           ct_ring_pair_short_memory(ring_bytes);
}

static size_t ring_at(uint32_t nrings, size_t ring_bytes, uint32_t i)
{
    size_t words = ct_div_up(nrings, 64);
    size_t first = ct_round_up(sizeof(struct ct_shm_head) + words * sizeof(uint64_t), 4096);
    return first + (size_t)i * ct_round_up(place_bytes(ring_bytes), 4096);
}

size_t ct_shm_segment_ring_at(const struct ct_shm_segment *seg, uint32_t i)
{
    return ring_at(seg->nrings, seg->ring_bytes, i);
}

void *ct_shm_segment_ring(const struct ct_shm_segment *seg, uint32_t i)
{
    return (char *)seg->head + ct_shm_segment_ring_at(seg, i);
}

size_t ct_shm_segment_place_bytes(const struct ct_shm_segment *seg)
{
    return place_bytes(seg->ring_bytes);
}

struct ct_shm_offer *ct_shm_segment_offer(const struct ct_shm_segment *seg, uint32_t i)
{
    char *ring = ct_shm_segment_ring(seg, i);
    return (struct ct_shm_offer *)(ring + ct_ring_memory(seg->ring_bytes));
}

void ct_shm_segment_ring_pair(const struct ct_shm_segment *seg, uint32_t i,
                              struct ct_ring_pair *pair)
{
    ct_ring_pair_view(pair, ct_shm_segment_ring(seg, i), seg->ring_bytes,
                      ct_shm_segment_offer(seg, i) + 1);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The file appears under its name only once it is locked, so that no sweep takes it. */
static int segment_make_file(const struct ct_shm_owner *owner, const uint64_t nonce[2], char *path,
                             size_t cap)
{
    const char *dir = owner->cfg->shm_dir;
    int         n = snprintf(path, cap, "%s/%s%s-%" PRIu32 "-%016" PRIx64, dir, CT_SHMFILE_PREFIX,
                             owner->job, owner->id, nonce[0]);
    if (n < 0 || (size_t)n >= cap) {
        ct_error(owner->log, "CTRAN_SHM_DIR=\"%s\" is too long: at most about 60 characters", dir);
        return -1;
    }
    ct_shmfile_sweep(dir);
    int fd = ct_shmfile_open(dir, LOCK_EX);
    if (fd < 0 || ct_shmfile_link(fd, path) != 0) {
        ct_error(owner->log,
                 "cannot make a shared-memory file in \"%s\": %s; set CTRAN_SHM_DIR to "
                 "a tmpfs that you may write, or CTRAN_SHM_BACKING=memfd",
                 dir, strerror(errno));
        if (fd >= 0) {
            close(fd);
        }
        return -1;
    }
    return fd;
}

static int make_fd(const struct ct_shm_owner *owner, const uint64_t nonce[2], char *path,
                   size_t cap)
{
    path[0] = '\0';
    if (owner->cfg->shm_backing != BACKING_FILE) {
        int fd = memfd_create("ctran", MFD_CLOEXEC);
        if (fd >= 0) {
            return fd;
        }
        if (owner->cfg->shm_backing == BACKING_MEMFD) {
            ct_error(owner->log, "memfd_create: %s; set CTRAN_SHM_BACKING=file", strerror(errno));
            return -1;
        }
    }
    return segment_make_file(owner, nonce, path, cap);
}

static const char *segment_remedy(const struct ct_shm_segment *seg, int why)
{
    return why == EFBIG ? "raise the limit of file sizes (ulimit -f), or lower CTRAN_SHM_RING_SIZE"
           : seg->file[0] != '\0' ? "enlarge the tmpfs, or set CTRAN_SHM_BACKING=memfd"
                                  : "lower CTRAN_SHM_RING_SIZE";
}

static int take_room(const struct ct_log *log, const struct ct_shm_segment *seg, size_t at,
                     size_t len_bytes)
{
    if (ct_shmfile_reserve(seg->fd, at, len_bytes) == 0) {
        return CTRAN_SUCCESS;
    }
    ct_error(log, "no room for %zu bytes of shared memory%s%s: %s; %s", len_bytes,
             seg->file[0] ? " in " : "", seg->file, strerror(errno), segment_remedy(seg, errno));
    return CTRAN_ERR_NO_MEM;
}

int ct_shm_segment_reserve(const struct ct_log *log, const struct ct_shm_segment *seg, size_t at,
                           size_t len_bytes)
{
    /* Without a descriptor it is the mapping of its owner, in this very process; a file has all its
     * room from the start. */
    return seg->fd < 0 || seg->file[0] != '\0' ? CTRAN_SUCCESS : take_room(log, seg, at, len_bytes);
}

/* Gives a new segment its size, and room for what is used from now on. */
static int take_size(const struct ct_log *log, const struct ct_shm_segment *seg)
{
    if (seg->file[0] != '\0') {
        return take_room(log, seg, 0, seg->len_bytes);
    }
    if (!ct_shmfile_may_be(seg->len_bytes) || ftruncate(seg->fd, (off_t)seg->len_bytes) != 0) {
        ct_error(log, "cannot size %zu bytes of shared memory: %s; %s", seg->len_bytes,
                 strerror(errno), segment_remedy(seg, errno));
        return CTRAN_ERR_NO_MEM;
    }
    return take_room(log, seg, 0, ct_shm_segment_ring_at(seg, 0));
}

/* ---- create and attach ----------------------------------------------------------------------- */

static int segment_map(struct ct_shm_segment *seg)
{
    void *mem = mmap(NULL, seg->len_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, seg->fd, 0);
    if (mem == MAP_FAILED) {
        return CTRAN_ERR_NO_MEM;
    }
    seg->head = mem;
    seg->mapped = true;
    return CTRAN_SUCCESS;
}

static void fill_head(const struct ct_shm_owner *owner, const struct ct_shm_segment *seg,
                      const uint64_t nonce[2], struct ct_shm_head *head)
{
    head->nonce[0] = nonce[0];
    head->nonce[1] = nonce[1];
    head->id = owner->id;
    head->incarnation = owner->incarnation;
    head->nrings = seg->nrings;
    head->ring_bytes = (uint32_t)seg->ring_bytes;
    atomic_store_explicit(&head->state, CT_SHM_OPEN, memory_order_relaxed);
    head->magic = MAGIC;
}

static void fill_addr(const struct ct_shm_owner *owner, const struct ct_shm_segment *seg,
                      struct ct_shm_addr *addr)
{
    *addr = (struct ct_shm_addr){
        .host = ct_shm_host(),
        .pid_space = ct_shm_pid_space(),
        .local_group = owner->local_group,
        .head = (uintptr_t)seg->head,
        .nonce = {seg->head->nonce[0], seg->head->nonce[1]},
        .len_bytes = seg->len_bytes,
        .incarnation = owner->incarnation,
        .pid = getpid(),
        .fd = seg->fd,
        .local_index = owner->local_index,
    };
    memcpy(addr->file, seg->file, sizeof addr->file);
}

int ct_shm_segment_create(const struct ct_shm_owner *owner, uint32_t nrings, size_t ring_bytes,
                          struct ct_shm_segment *seg, struct ct_shm_addr *addr)
{
    uint64_t nonce[2];
    *seg = (struct ct_shm_segment){.nrings = nrings, .ring_bytes = ring_bytes, .fd = -1};
    if (getrandom(nonce, sizeof nonce, 0) != sizeof nonce) {
        ct_error(owner->log, "getrandom: %s", strerror(errno));
        return CTRAN_ERR_SYSTEM;
    }
    seg->len_bytes = ct_shm_segment_ring_at(seg, nrings);
    seg->fd = make_fd(owner, nonce, seg->file, sizeof seg->file);
    if (seg->fd < 0) {
        return CTRAN_ERR_SYSTEM;
    }
    int rc = take_size(owner->log, seg);
    if (rc == CTRAN_SUCCESS && (rc = segment_map(seg)) != CTRAN_SUCCESS) {
        ct_error(owner->log, "cannot map %zu bytes of shared memory: %s", seg->len_bytes,
                 strerror(errno));
    }
    if (rc != CTRAN_SUCCESS) {
        ct_shm_segment_close(seg, true);
        return rc;
    }
    fill_head(owner, seg, nonce, seg->head);
    fill_addr(owner, seg, addr);
    return CTRAN_SUCCESS;
}

/* The descriptor of a peer's segment; *gone if the peer no longer exists. */
static int segment_open_peer(const struct ct_shm_addr *addr, char *path, size_t cap, bool *gone)
{
    if (addr->file[0] != '\0') {
        snprintf(path, cap, "%.*s", (int)sizeof addr->file, addr->file);
    } else {
        snprintf(path, cap, "/proc/%d/fd/%d", addr->pid, addr->fd);
    }
    int fd = open(path, O_RDWR | O_CLOEXEC);
    *gone = fd < 0 && (errno == ENOENT || errno == ESRCH);
    return fd;
}

/* Takes the shape over from the mapped head, and tells whether this is the segment of `addr`. */
static bool take_shape(struct ct_shm_segment *seg, const struct ct_shm_addr *addr)
{
    const struct ct_shm_head *head = seg->head;
    seg->nrings = head->nrings;
    seg->ring_bytes = head->ring_bytes;
    return head->magic == MAGIC && head->nonce[0] == addr->nonce[0] &&
           head->nonce[1] == addr->nonce[1] && seg->nrings <= CT_SHM_MAX_PEERS &&
           seg->ring_bytes >= CT_SHM_RING_MIN && seg->ring_bytes <= CT_SHM_RING_MAX &&
           (seg->ring_bytes & (seg->ring_bytes - 1)) == 0 &&
           ct_shm_segment_ring_at(seg, seg->nrings) == seg->len_bytes;
}

/* Maps the open segment: size before mapping, contents before use, since the path that led to it
 * may by now name something else. */
static int map_peer(const struct ct_log *log, const struct ct_shm_addr *addr,
                    struct ct_shm_segment *seg)
{
    struct stat st;
    if (fstat(seg->fd, &st) != 0 || (uint64_t)st.st_size != addr->len_bytes ||
        addr->len_bytes < sizeof(struct ct_shm_head)) {
        return CTRAN_ERR_PROC_FAILED;
    }
    int rc = segment_map(seg);
    if (rc != CTRAN_SUCCESS) {
        ct_error(log, "cannot map %zu bytes of a peer's shared memory: %s", seg->len_bytes,
                 strerror(errno));
        return rc;
    }
    return take_shape(seg, addr) ? CTRAN_SUCCESS : CTRAN_ERR_PROC_FAILED;
}

int ct_shm_segment_attach(const struct ct_log *log, const struct ct_shm_addr *addr,
                          struct ct_shm_segment *seg)
{
    *seg = (struct ct_shm_segment){.fd = -1, .len_bytes = addr->len_bytes};
    if (addr->pid == getpid() && addr->pid_space == ct_shm_pid_space()) {
        seg->head = (struct ct_shm_head *)(uintptr_t)addr->head;
        /* Another rank of this very process. */
        return take_shape(seg, addr) ? CTRAN_SUCCESS : CTRAN_ERR_PROC_FAILED;
    }
    char path[160];
    bool gone;
    seg->fd = segment_open_peer(addr, path, sizeof path, &gone);
    if (gone) {
        return CTRAN_ERR_PROC_FAILED;
    }
    if (seg->fd < 0) {
        ct_error(log, "cannot open the shared memory of pid %d (%s): %s%s", addr->pid, path,
                 strerror(errno),
                 errno == EACCES || errno == EPERM ? "; set CTRAN_SHM_BACKING=file"
                                                   : "; raise the limit of open files (ulimit -n)");
        return CTRAN_ERR_SYSTEM;
    }
    int rc = map_peer(log, addr, seg);
    if (rc != CTRAN_SUCCESS) {
        ct_shm_segment_close(seg, false);
        return rc;
    }
    memcpy(seg->file, addr->file, sizeof seg->file);
    return CTRAN_SUCCESS;
}

bool ct_shm_segment_abandoned(const struct ct_shm_addr *addr)
{
    char path[sizeof addr->file + 1];
    if (addr->file[0] == '\0') {
        return false;
    }
    snprintf(path, sizeof path, "%.*s", (int)sizeof addr->file, addr->file);
    int  fd = open(path, O_RDWR | O_CLOEXEC);
    bool abandoned = fd < 0 ? errno == ENOENT : flock(fd, LOCK_SH | LOCK_NB) == 0;
    if (fd >= 0) {
        close(fd);
    }
    return abandoned;
}

void ct_shm_segment_settle(struct ct_shm_segment *seg)
{
    if (seg->fd >= 0) {
        close(seg->fd);
        seg->fd = -1;
    }
}

void ct_shm_segment_close(struct ct_shm_segment *seg, bool owner)
{
    if (owner && seg->head != NULL) {
        atomic_store_explicit(&seg->head->state, CT_SHM_CLOSED, memory_order_release);
    }
    if (owner && seg->file[0] != '\0') {
        (void)unlink(seg->file);
    }
    if (seg->mapped) {
        munmap(seg->head, seg->len_bytes);
    }
    if (seg->fd >= 0) {
        close(seg->fd);
    }
    *seg = (struct ct_shm_segment){.fd = -1};
}
