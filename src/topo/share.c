/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A machine that processes share; see share.h. Two kinds of locks stand on the file: flock, shared
 * by all who have it, says that it is in use (node/shmfile.h); a lock of its open file description
 * (OFD) is that of the one who reads the machine. The kernel releases both when their owner dies,
 * whatever it was doing, so the next one who tries gets the latter and begins anew. A process that
 * waits sleeps until the gate opens, and checks now and then whether the process that will open it
 * still lives.
 */
#define CT_FOLDER "topo"
#include "topo/share.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node/node.h"
#include "topo/load.h"

enum { LAYOUT = 1, LOOK_MS = 20, LOCK_MS = 250 };
enum { THERE = 1, FAILED }; /* what the gate is opened with */
enum { MOST_FAILURES = 2 }; /* of different processes: then it is the machine's, not one's own */

static const uint32_t MAGIC = 0x4d545243; /* "CRTM" */

/* In a page of its own, which stays writable. */
struct head {
    uint32_t magic, layout;
    char     digest[CT_DIGEST_LEN];                  /* of the build that made the file */
    CT_ALIGNED(CT_CACHE_LINE) _Atomic uint32_t gate; /* 0: closed */
    struct ct_wake   wake;
    _Atomic uint32_t discoveries;
    _Atomic uint32_t failures; /* of those */
};

struct ct_machine_view {
    struct head       *head;    /* NULL: the memory is ours */
    struct ct_machine *machine; /* a page behind it; read only once the gate is open */
    size_t             page, len_bytes;
    int                fd; /* locked as long as the view lives */
    char               path[256];
};

/* What one attempt needs. */
struct attempt {
    struct ct_machine_view *view;
    const char             *dir;
    ct_machine_reader      *reader;
    void                   *arg;
    const struct ct_log    *log;
    uint64_t                end_ns;
    const char             *cannot; /* what of sharing failed, with errno */
    int                     why;
};

/* ---- reading --------------------------------------------------------------------------------- */

static int share_discover(const struct attempt *a, struct ct_machine *m)
{
    const uint64_t begin_ns = ct_clock_ns();
    int            rc = a->reader(m, a->log, a->arg);
    if (rc == CTRAN_SUCCESS) {
        ct_debug(a->log,
                 "read this machine in %" PRIu64 " us: %u CPUs, %u NUMA nodes, %u GPUs, %u NICs",
                 (ct_clock_ns() - begin_ns) / 1000, m->npus, m->nnumas, m->ngpus, m->nnics);
    }
    return rc;
}

static int read_own(const struct attempt *a)
{
    struct ct_machine *m = calloc(1, sizeof *m);
    int                rc = m != NULL ? share_discover(a, m) : CTRAN_ERR_NO_MEM;
    if (rc != CTRAN_SUCCESS) {
        free(m);
        return rc;
    }
    a->view->machine = m;
    return CTRAN_SUCCESS;
}

/* ---- the file -------------------------------------------------------------------------------- */

static int share_failed(struct attempt *a, const char *what)
{
    a->why = errno;
    a->cannot = what;
    return CTRAN_ERR_SYSTEM;
}

static int share_find_or_make(struct attempt *a)
{
    static const char *const       words[] = {[CT_SHMFILE_MAKE] = "made",
                                              [CT_SHMFILE_OPEN] = "opened",
                                              [CT_SHMFILE_TRUST] = "trusted",
                                              [CT_SHMFILE_LOCK] = "locked"};
    struct ct_machine_view        *v = a->view;
    struct head                    h = {.magic = MAGIC, .layout = LAYOUT};
    const uint64_t                 end_ns = ct_clock_ns() + LOCK_MS * (uint64_t)CT_NS_PER_MS;
    const struct ct_shmfile_common file = {.dir = a->dir,
                                           .path = v->path,
                                           .len_bytes = v->len_bytes,
                                           .head = &h,
                                           .head_bytes = sizeof h,
                                           .nap_ns = CT_NS_PER_MS / 4,
                                           .end_ns = end_ns < a->end_ns ? end_ns : a->end_ns};
    enum ct_shmfile_step           step;
    memcpy(h.digest, ct_version_digest(), CT_DIGEST_LEN);
    v->fd = ct_shmfile_share(&file, &step);
    return v->fd >= 0 ? CTRAN_SUCCESS : share_failed(a, words[step]);
}

/* Another build's is not. */
static int share_check(struct attempt *a)
{
    struct stat st;
    struct head h;
    if (fstat(a->view->fd, &st) == 0 && (uint64_t)st.st_size == a->view->len_bytes &&
        pread(a->view->fd, &h, sizeof h, 0) == sizeof h && h.magic == MAGIC && h.layout == LAYOUT &&
        memcmp(h.digest, ct_version_digest(), CT_DIGEST_LEN) == 0) {
        return CTRAN_SUCCESS;
    }
    errno = EINVAL;
    return share_failed(a, "understood");
}

static int share_map(struct attempt *a)
{
    struct ct_machine_view *v = a->view;
    void *at = mmap(NULL, v->len_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, v->fd, 0);
    if (at == MAP_FAILED) {
        return share_failed(a, "mapped");
    }
    v->head = at;
    v->machine = (struct ct_machine *)((char *)at + v->page);
    return CTRAN_SUCCESS;
}

/* ---- who reads ------------------------------------------------------------------------------- */

/* Released when the file is closed, at the latest by the end of the process. False with errno. */
static bool lock_reading(const struct ct_machine_view *v, short type)
{
    struct flock whole = {.l_type = type, .l_whence = SEEK_SET};
    return fcntl(v->fd, F_OFD_SETLK, &whole) == 0;
}

static uint32_t share_gate(const struct ct_machine_view *v)
{
    return atomic_load_explicit(&v->head->gate, memory_order_seq_cst);
}

/* The caller holds the lock of the reader. What it lacks itself, descriptors or memory, another may
 * have: after a first failure the gate stays closed for the next one. */
static int read_for_all(const struct attempt *a)
{
    struct head *h = a->view->head;
    atomic_fetch_add_explicit(&h->discoveries, 1, memory_order_relaxed);
    int rc = share_discover(a, a->view->machine);
    if (rc == CTRAN_SUCCESS) {
        atomic_store_explicit(&h->gate, THERE, memory_order_seq_cst);
    } else if (atomic_fetch_add_explicit(&h->failures, 1, memory_order_relaxed) + 1 >=
               MOST_FAILURES) {
        atomic_store_explicit(&h->gate, FAILED, memory_order_seq_cst);
    }
    return rc;
}

/* CT_AGAIN: another process reads. */
static int try_to_read(struct attempt *a)
{
    struct ct_machine_view *v = a->view;
    int                     rc = CTRAN_SUCCESS;
    if (!lock_reading(v, F_WRLCK)) {
        return errno == EAGAIN || errno == EACCES ? CT_AGAIN : share_failed(a, "locked");
    }
    if (share_gate(v) == 0) {
        rc = read_for_all(a);
    }
    (void)lock_reading(v, F_UNLCK); /* closing the file does it too */
    ct_wake_signal(&v->head->wake); /* after the lock is free: the next one may have to read */
    return rc;
}

/* CT_AGAIN: the time is over. */
static int await_or_read(struct attempt *a)
{
    struct ct_machine_view *v = a->view;
    uint64_t                now;
    while (share_gate(v) == 0 && (now = ct_clock_ns()) < a->end_ns) {
        int rc = try_to_read(a);
        if (rc != CT_AGAIN) {
            if (rc != CTRAN_SUCCESS) {
                return rc;
            }
            continue; /* the gate is open */
        }
        ct_wake_announce(&v->head->wake);
        if (share_gate(v) == 0) {
            ct_wake_sleep(&v->head->wake,
                          ct_min_size(a->end_ns - now, LOOK_MS * (size_t)CT_NS_PER_MS));
        }
    }
    if (share_gate(v) == FAILED) {
        ct_warn(a->log,
                "nothing is known of this machine: %d processes on it could not read it, as they "
                "have logged; this one does not try",
                MOST_FAILURES);
    }
    return share_gate(v) == THERE ? CTRAN_SUCCESS : share_gate(v) == 0 ? CT_AGAIN : CTRAN_ERR_OTHER;
}

static void share_leave(struct ct_machine_view *v)
{
    if (v->fd >= 0) {
        (void)ct_shmfile_remove_left(v->fd, v->path); /* there is nobody else, or they keep it */
        close(v->fd);
        v->fd = -1;
    }
    if (v->head != NULL) {
        munmap(v->head, v->len_bytes);
        v->head = NULL;
        v->machine = NULL;
    }
}

/* CTRAN_ERR_SYSTEM: it cannot be shared; CTRAN_ERR_OTHER, _NO_MEM: this
 * process could not read the machine, or others could not. */
static int share_share(struct attempt *a)
{
    struct ct_machine_view *v = a->view;
    int                     rc = share_find_or_make(a);
    rc = rc == CTRAN_SUCCESS ? share_check(a) : rc;
    rc = rc == CTRAN_SUCCESS ? share_map(a) : rc;
    rc = rc == CTRAN_SUCCESS ? await_or_read(a) : rc;
    if (rc == CT_AGAIN) {
        errno = ETIMEDOUT;
        rc = share_failed(a, "waited for any longer");
    }
    if (rc == CTRAN_SUCCESS && !ct_machine_is_sound(v->machine)) {
        errno = EINVAL;
        rc = share_failed(a, "believed");
    }
    if (rc == CTRAN_SUCCESS && mprotect(v->machine, v->len_bytes - v->page, PROT_READ) != 0) {
        rc = share_failed(a, "protected");
    }
    if (rc != CTRAN_SUCCESS) {
        share_leave(v);
    }
    return rc;
}

/* ---- the face -------------------------------------------------------------------------------- */

static int share_or_read(struct attempt *a, const char *name)
{
    struct ct_machine_view *v = a->view;
    if (name == NULL || name[0] == '\0') {
        return read_own(a);
    }
    v->page = (size_t)sysconf(_SC_PAGESIZE);
    v->len_bytes = v->page + ct_round_up(sizeof *v->machine, v->page);
    const int n = snprintf(v->path, sizeof v->path, "%s/" CT_SHMFILE_PREFIX "%s", a->dir, name);
    errno = ENAMETOOLONG;
    int rc = n < (int)sizeof v->path ? share_share(a) : share_failed(a, "named");
    if (rc == CTRAN_ERR_SYSTEM) {
        ct_warn(a->log,
                "what is known of this machine, %s, cannot be %s: %s; this process reads the "
                "machine for itself, which takes time (CTRAN_SHM_DIR is a folder that all ranks "
                "may write)",
                v->path, a->cannot, strerror(a->why));
        rc = read_own(a);
    }
    return rc;
}

int ct_machine_share(struct ct_machine_view **view, const char *dir, const char *name,
                     uint32_t deadline_ms, ct_machine_reader *reader, void *arg,
                     const struct ct_log *log)
{
    struct ct_machine_view *v = calloc(1, sizeof *v);
    if (v == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    v->fd = -1;
    struct attempt a = {.view = v,
                        .dir = dir,
                        .reader = reader,
                        .arg = arg,
                        .log = log,
                        .end_ns = ct_clock_ns() + deadline_ms * (uint64_t)CT_NS_PER_MS};
    int            rc = share_or_read(&a, name);
    if (rc != CTRAN_SUCCESS) {
        ct_machine_unshare(v);
        return rc;
    }
    *view = v;
    return CTRAN_SUCCESS;
}

const struct ct_machine *ct_machine_of(const struct ct_machine_view *view)
{
    return view->machine;
}

uint32_t ct_machine_discoveries(const struct ct_machine_view *view)
{
    return view->head != NULL ? atomic_load_explicit(&view->head->discoveries, memory_order_relaxed)
                              : 0;
}

void ct_machine_unshare(struct ct_machine_view *view)
{
    if (view == NULL) {
        return;
    }
    if (view->head == NULL) {
        free(view->machine);
        view->machine = NULL;
    }
    share_leave(view);
    free(view);
}
