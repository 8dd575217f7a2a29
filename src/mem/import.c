/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Imports: peers' memory mapped here, found again by (owner, base, buffer id, device). An owner
 * exports with the buffer id of the moment, so that an old mapping is never taken for new memory.
 *
 * A mapping without a holder is kept for the next use until its owner's `freed` says that the
 * memory is gone, the owner has ended, its last holder has said that it will not be used again, or
 * there are more than CTRAN_MEM_IMPORTS and it is the oldest. Opening never waits for a stream;
 * closing a legacy one does (seen on an H200, driver 580). So nothing is closed while a
 * stream-ordered operation of ours may be waiting (ct_gpu.armed), or a captured graph be launched
 * (ct_gpu.graphs), and the bound is exceeded until the next quiet time.
 *
 * But while a legacy mapping is open, the driver opens no other memory that its owner has at the
 * same address since, if it is of another size (seen on an H200, driver 580, in the blocks that
 * small allocations share, which are mapped once for all of them). Then the old mapping has to go
 * first. A caller that has no other way waits for a quiet time; graphs of kernels alone, which are
 * there until their communicator ends (ct_gpu.quick), he does not mind: should one run, it is over
 * when the peers have launched theirs.
 */
#define CT_FOLDER "mem"
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mem/own.h"

/* ---- owners ---------------------------------------------------------------------------------- */

static struct ct_mem_owner *owner_get(struct ct_process *p, const struct ct_mem_export *from)
{
    struct ct_mem_imports *all = &p->mem->imports;
    struct ct_mem_owner   *owner, wanted;
    memset(&wanted.key, 0, sizeof wanted.key);
    wanted.key.pid = from->pid;
    wanted.key.start = from->start;
    HASH_FIND(hh, all->owners, &wanted.key, sizeof wanted.key, owner);
    if (owner != NULL) {
        return owner;
    }
    owner = calloc(1, sizeof *owner);
    if (owner == NULL) {
        ct_error(&p->log, "no memory for the record of a peer");
        return NULL;
    }
    owner->key = wanted.key;
    owner->pidfd = (int)syscall(SYS_pidfd_open, from->pid, 0);
    /* The pidfd comes first: the process that it stands for is the one that is looked at. */
    if (owner->pidfd >= 0 && ct_mem_start_of(from->pid) != from->start) {
        (void)close(
            owner->pidfd); /* of a stranger: another namespace of pids, or the owner ended */
        owner->pidfd = -1;
    }
    if (owner->pidfd >= 0 && from->freed_fd >= 0) {
        owner->freed = ct_mem_freed_map(owner->pidfd, from->freed_fd);
    }
    HASH_ADD(hh, all->owners, key, sizeof owner->key, owner);
    return owner;
}

static void owner_put(struct ct_process *p, struct ct_mem_owner *owner)
{
    if (owner->imports > 0) {
        return;
    }
    HASH_DELETE(hh, p->mem->imports.owners, owner);
    ct_mem_freed_unmap(owner->freed);
    if (owner->pidfd >= 0) {
        (void)close(owner->pidfd);
    }
    free(owner);
}

static bool ended(const struct ct_mem_owner *owner)
{
    struct pollfd pfd = {.fd = owner->pidfd, .events = POLLIN};
    return owner->pidfd >= 0 && poll(&pfd, 1, 0) == 1;
}

/* ---- giving up ------------------------------------------------------------------------------- */

static void unmap_pieces(struct ct_process *p, struct ct_mem_import *import, unsigned mapped)
{
    const struct cuda_table *cu = p->gpu->cu;
    CUdeviceptr              at = import->mapped;
    for (unsigned i = 0; i < mapped; i++) {
        (void)cu->cuMemUnmap(at, import->piece_bytes[i]); /* was mapped so; nobody to tell */
        (void)cu->cuMemRelease(import->handles[i]);
        at += import->piece_bytes[i];
    }
    (void)cu->cuMemAddressFree(import->mapped, import->key.whole);
}

static void unmap(struct ct_process *p, struct ct_mem_import *import)
{
    struct ct_gpu_visit v;
    if (ct_gpu_enter(p->gpu, (int)import->key.ordinal, &v) != CTRAN_SUCCESS) {
        return; /* logged; the driver is gone, and with it the mapping */
    }
    if (import->way == CT_MEM_LEGACY) {
        (void)CT_GPU_TRY(p->gpu, "giving up a peer's memory", cuIpcCloseMemHandle,
                         (import->mapped));
    } else {
        unmap_pieces(p, import, import->npieces);
    }
    ct_gpu_leave(p->gpu, &v);
}

/* Nobody holds it. */
static void give_up(struct ct_process *p, struct ct_mem_import *import)
{
    struct ct_mem_imports *all = &p->mem->imports;
    ct_list_remove(&import->lru);
    HASH_DELETE(hh, all->all, import);
    all->n--;
    unmap(p, import);
    import->owner->imports--;
    owner_put(p, import->owner);
    free(import);
}

static bool has_graphs(const struct ct_process *p)
{
    return atomic_load_explicit(&p->gpu->graphs, memory_order_acquire) > 0;
}

static bool is_armed(const struct ct_process *p)
{
    return atomic_load_explicit(&p->gpu->armed, memory_order_acquire) > 0;
}

static bool may_close(const struct ct_process *p)
{
    return ct_mem_quiet(p) || (p->mem->imports.pressed && !is_armed(p) && !has_graphs(p));
}

/* Streams that only copy are quiet soon. A stream that waits for a peer may wait for this very
 * call; and a graph may stay to the end. */
static void wait_quiet(const struct ct_process *p)
{
    enum { MOST_NS = 1000000000 };
    const uint64_t end_ns = ct_clock_ns() + MOST_NS;
    while (is_armed(p) && !has_graphs(p) && ct_clock_ns() < end_ns) {
        (void)sched_yield();
    }
}

static bool overlap(const struct ct_mem_import *a, const struct ct_mem_import *b)
{
    return a->owner == b->owner && a->key.ordinal == b->key.ordinal && a->way == b->way &&
           a->key.base < b->key.base + b->key.whole && b->key.base < a->key.base + a->key.whole;
}

/* Gives up what its owner had there before; false: it is used, or streams may wait. */
static bool make_way(struct ct_process *p, const struct ct_mem_import *import)
{
    struct ct_mem_import *old, *next;
    HASH_ITER (hh, p->mem->imports.all, old, next) {
        if (!overlap(old, import)) {
            continue;
        }
        if (old->holds > 0 || !may_close(p)) {
            return false;
        }
        give_up(p, old);
    }
    return true;
}

/* What is of no matter to a caller that has another way. */
static void tell_in_the_way(struct ct_process *p, const struct ct_mem_export *from, bool waited)
{
    const enum ct_log_level level = waited ? CT_LOG_ERROR : CT_LOG_INFO;
    const bool              graph = has_graphs(p) || (!waited && !is_armed(p) && !ct_mem_quiet(p));
    const char *why = graph         ? "cannot be given up while a captured graph may be launched"
                      : is_armed(p) ? "cannot be given up while a stream waits"
                                    : "is still used here";
    CT_LOG_(&p->log, level,
            "process %lld has freed GPU memory at 0x%llx and allocated anew there, but the old "
            "memory %s: free memory when all that uses it is over",
            (long long)from->pid, (unsigned long long)from->base, why);
}

/* ---- mapping --------------------------------------------------------------------------------- */

/* CT_AGAIN: there is an older mapping in the way, which cannot be given up now. */

/* The reason why the memory could not be mapped, as a code; a reason that is not a fault is logged
 * at level info. */
static int refuse(struct ct_process *p, const struct ct_mem_import *import, CUresult r,
                  const char *call)
{
    const bool no_way = r == CUDA_ERROR_PEER_ACCESS_UNSUPPORTED || r == CUDA_ERROR_TOO_MANY_PEERS ||
                        r == CUDA_ERROR_NOT_SUPPORTED || r == CUDA_ERROR_MAP_FAILED;
    const enum ct_log_level level = no_way ? CT_LOG_INFO : CT_LOG_ERROR;
    CT_LOG_(&p->log, level,
            "GPU memory of process %lld (%llu bytes) cannot be mapped for GPU %lld: %s returns %s "
            "(%s)",
            (long long)import->key.pid, (unsigned long long)import->key.whole,
            (long long)import->key.ordinal, call, ct_gpu_result_name(r), ct_gpu_result_text(r));
    return no_way                          ? CTRAN_ERR_UNSUPPORTED_OPERATION
           : r == CUDA_ERROR_OUT_OF_MEMORY ? CTRAN_ERR_NO_MEM
                                           : CTRAN_ERR_OTHER;
}

static CUresult open_legacy(struct ct_process *p, struct ct_mem_import *import,
                            const struct ct_mem_export *from)
{
    return p->gpu->cu->cuIpcOpenMemHandle(&import->mapped, from->u.legacy,
                                          CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
}

static int map_legacy(struct ct_process *p, struct ct_mem_import *import,
                      const struct ct_mem_export *from)
{
    CUresult r = open_legacy(p, import, from);
    if (r == CUDA_ERROR_ALREADY_MAPPED) {
        if (!make_way(p, import)) {
            return CT_AGAIN;
        }
        r = open_legacy(p, import, from);
    }
    return r == CUDA_SUCCESS ? CTRAN_SUCCESS : refuse(p, import, r, "cuIpcOpenMemHandle");
}

static int map_piece(struct ct_process *p, struct ct_mem_import *import, int theirs, unsigned i,
                     CUdeviceptr at)
{
    const struct cuda_table     *cu = p->gpu->cu;
    CUmemGenericAllocationHandle handle;
    const int fd = (int)syscall(SYS_pidfd_getfd, import->owner->pidfd, theirs, 0);
    if (fd < 0) {
        ct_info(&p->log,
                "GPU memory of process %lld cannot be mapped: pidfd_getfd: %s; memory from "
                "ctran_mem_alloc or cuMemAlloc needs no such right",
                (long long)import->key.pid, strerror(errno));
        return ended(import->owner) ? CTRAN_ERR_PROC_FAILED : CTRAN_ERR_UNSUPPORTED_OPERATION;
    }
    CUresult r = cu->cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)fd,
                                                    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    (void)close(fd); /* the handle keeps what it stands for */
    if (r != CUDA_SUCCESS) {
        return refuse(p, import, r, "cuMemImportFromShareableHandle");
    }
    r = cu->cuMemMap(at, import->piece_bytes[i], 0, handle, 0);
    if (r != CUDA_SUCCESS) {
        (void)cu->cuMemRelease(handle);
        return refuse(p, import, r, "cuMemMap");
    }
    import->handles[i] = handle;
    return CTRAN_SUCCESS;
}

static int map_pieces(struct ct_process *p, struct ct_mem_import *import,
                      const struct ct_mem_export *from)
{
    const struct cuda_table *cu = p->gpu->cu;
    const CUmemAccessDesc    access = {
           .location = {CU_MEM_LOCATION_TYPE_DEVICE, (int)import->key.ordinal},
           .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    if (import->owner->pidfd < 0) {
        ct_info(&p->log,
                "GPU memory of process %d cannot be mapped: the system shows no such "
                "process; memory from ctran_mem_alloc or cuMemAlloc needs no such right",
                from->pid);
        return CTRAN_ERR_UNSUPPORTED_OPERATION;
    }
    CUresult r = cu->cuMemAddressReserve(&import->mapped, import->key.whole, 0, 0, 0);
    if (r != CUDA_SUCCESS) {
        return refuse(p, import, r, "cuMemAddressReserve");
    }
    CUdeviceptr at = import->mapped;
    int         rc = CTRAN_SUCCESS;
    unsigned    i = 0;
    for (; i < import->npieces && rc == CTRAN_SUCCESS; i++) {
        import->piece_bytes[i] = (size_t)from->u.mapped.kib[i] * 1024;
        rc = map_piece(p, import, from->u.mapped.fd[i], i, at);
        at += import->piece_bytes[i];
    }
    i -= rc != CTRAN_SUCCESS; /* the last one was not */
    if (rc == CTRAN_SUCCESS) {
        r = cu->cuMemSetAccess(import->mapped, import->key.whole, &access, 1);
        rc = r == CUDA_SUCCESS ? CTRAN_SUCCESS : refuse(p, import, r, "cuMemSetAccess");
    }
    if (rc != CTRAN_SUCCESS) {
        unmap_pieces(p, import, i);
    }
    return rc;
}

static int map(struct ct_process *p, struct ct_mem_import *import, const struct ct_mem_export *from)
{
    struct ct_gpu_visit v;
    int                 rc = ct_gpu_enter(p->gpu, (int)import->key.ordinal, &v);
    if (rc == CTRAN_SUCCESS) {
        rc = import->way == CT_MEM_LEGACY ? map_legacy(p, import, from)
                                          : map_pieces(p, import, from);
        ct_gpu_leave(p->gpu, &v);
    }
    return rc;
}

/* ---- the cache ------------------------------------------------------------------------------- */

/* The system is asked once a round for each owner. */
static bool has_gone(struct ct_mem_imports *all, struct ct_mem_owner *owner)
{
    if (owner->looked != all->rounds) {
        owner->looked = all->rounds;
        owner->gone = ended(owner);
    }
    return owner->gone;
}

static bool is_stale(struct ct_mem_imports *all, const struct ct_mem_import *import)
{
    const _Atomic uint64_t *freed = import->owner->freed;
    return import->spent ||
           (freed != NULL && import->slot != 0 &&
            atomic_load_explicit(&freed[import->slot], memory_order_acquire) !=
                import->key.buffer_id) ||
           has_gone(all, import->owner);
}

/* Looks at the `most` oldest imports without a holder. */
static void clean(struct ct_process *p, unsigned most)
{
    struct ct_mem_imports *all = &p->mem->imports;
    unsigned               seen = 0;
    all->rounds++;
    CT_LIST_FOR (node, &all->lru) {
        struct ct_mem_import *import = CT_LIST_ENTRY(node, struct ct_mem_import, lru);
        const bool            excess = all->n - all->nheld > (size_t)p->cfg.mem_imports;
        if (seen++ >= most && !excess) {
            break;
        }
        if (excess || is_stale(all, import)) {
            all->dropped += excess;
            give_up(p, import);
        }
    }
}

static void hold(struct ct_mem_imports *all, struct ct_mem_import *import)
{
    if (import->holds++ == 0) {
        all->nheld++;
        ct_list_remove(&import->lru);
    }
}

/* What a peer says may be anything: what is not as mem makes it, is refused. */
static bool well_formed(const struct ct_mem_export *from)
{
    uint64_t whole = 0;
    for (unsigned i = 0; i < from->npieces && i < CT_MEM_PIECES; i++) {
        whole += (uint64_t)from->u.mapped.kib[i] * 1024;
    }
    const bool mapped = from->way == CT_MEM_MAPPED && from->npieces >= 1 &&
                        from->npieces <= CT_MEM_PIECES && whole == from->whole;
    return (mapped || (from->way == CT_MEM_LEGACY && from->npieces == 0)) && from->whole > 0 &&
           from->pid > 0 && from->slot < CT_MEM_SLOTS && from->offset <= from->whole &&
           from->len_bytes <= from->whole - from->offset;
}

static int add(struct ct_process *p, const struct ct_mem_import *wanted,
               const struct ct_mem_export *from, struct ct_mem_import **out)
{
    struct ct_mem_imports *all = &p->mem->imports;
    if (ct_mem_quiet(p)) {
        clean(p, 8);
    }
    struct ct_mem_owner  *owner = owner_get(p, from);
    struct ct_mem_import *import = owner != NULL ? calloc(1, sizeof *import) : NULL;
    int                   rc = CTRAN_ERR_NO_MEM;
    if (import == NULL) {
        ct_error(&p->log, "no memory for the record of a peer's memory");
        goto err;
    }
    import->key = wanted->key;
    import->owner = owner;
    import->way = from->way;
    import->npieces = from->npieces;
    import->slot = from->slot;
    ct_list_init(&import->lru);
    owner->imports++;
    rc = map(p, import, from);
    if (rc == CTRAN_SUCCESS && from->way == CT_MEM_MAPPED && is_stale(all, import)) {
        unmap(p, import); /* the descriptors it came with may be those of other memory by now */
        rc = CTRAN_ERR_UNSUPPORTED_OPERATION;
    }
    if (rc != CTRAN_SUCCESS) {
        rc = ended(owner) ? CTRAN_ERR_PROC_FAILED : rc;
        owner->imports--;
        goto err;
    }
    HASH_ADD(hh, all->all, key, sizeof import->key, import);
    all->n++;
    *out = import;
    return CTRAN_SUCCESS;
err:
    free(import);
    if (owner != NULL) {
        owner_put(p, owner);
    }
    return rc;
}

static bool is_own(struct ct_process *p, const struct ct_mem_export *from)
{
    return from->pid == p->mem->pid && ct_mem_start(p) == from->start;
}

static int find_or_add(struct ct_process *p, const struct ct_mem_import *wanted,
                       const struct ct_mem_export *from, struct ct_mem_import **out)
{
    HASH_FIND(hh, p->mem->imports.all, &wanted->key, sizeof wanted->key, *out);
    return *out != NULL ? CTRAN_SUCCESS : add(p, wanted, from, out);
}

int ct_mem_import(struct ct_process *p, int ordinal, const struct ct_mem_export *from, bool waits,
                  struct ct_mem_import **out, CUdeviceptr *ptr)
{
    struct ct_mem_import   wanted, *import;
    struct ct_mem_imports *all = &p->mem->imports;
    if (p->gpu == NULL || !well_formed(from)) {
        ct_error(&p->log, "what process %d exports is no GPU memory that can be mapped here",
                 from->pid);
        return p->gpu == NULL ? CTRAN_ERR_UNSUPPORTED_OPERATION : CTRAN_ERR_OTHER;
    }
    if (is_own(p, from)) {
        *out = NULL;
        *ptr = from->base + from->offset;
        return CTRAN_SUCCESS;
    }
    memset(&wanted.key, 0, sizeof wanted.key);
    wanted.key.start = from->start;
    wanted.key.base = from->base;
    wanted.key.whole = from->whole;
    wanted.key.buffer_id = from->buffer_id;
    wanted.key.pieces_digest = from->pieces_digest;
    wanted.key.pid = from->pid;
    wanted.key.ordinal = ordinal;
    pthread_mutex_lock(&all->lock);
    int rc = find_or_add(p, &wanted, from, &import);
    if (rc == CT_AGAIN && waits) { /* not with the lock: what is waited for may need it */
        pthread_mutex_unlock(&all->lock);
        wait_quiet(p);
        pthread_mutex_lock(&all->lock);
        all->pressed = true;
        rc = find_or_add(p, &wanted, from, &import);
        all->pressed = false;
    }
    if (rc == CT_AGAIN) {
        tell_in_the_way(p, from, waits);
        rc = CTRAN_ERR_OTHER;
    }
    if (rc == CTRAN_SUCCESS) {
        hold(all, import);
        *out = import;
        *ptr = import->mapped + from->offset;
    }
    pthread_mutex_unlock(&all->lock);
    return rc;
}

static void let_go(struct ct_process *p, struct ct_mem_import *import, bool spent)
{
    struct ct_mem_imports *all = &p->mem->imports;
    if (import == NULL) {
        return;
    }
    pthread_mutex_lock(&all->lock);
    import->spent |= spent;
    if (--import->holds == 0) {
        all->nheld--;
        ct_list_append(&all->lru, &import->lru);
        if (import->spent && ct_mem_quiet(p)) {
            give_up(p, import);
        }
    }
    pthread_mutex_unlock(&all->lock);
}

void ct_mem_import_put(struct ct_process *p, struct ct_mem_import *import)
{
    let_go(p, import, false);
}

void ct_mem_import_drop(struct ct_process *p, struct ct_mem_import *import)
{
    let_go(p, import, true);
}

void ct_mem_sweep(struct ct_process *p)
{
    if (p->gpu == NULL) {
        return;
    }
    pthread_mutex_lock(&p->mem->imports.lock);
    if (ct_mem_quiet(p)) {
        clean(p, UINT32_MAX);
    }
    pthread_mutex_unlock(&p->mem->imports.lock);
}

void ct_mem_imports_fini(struct ct_process *p)
{
    struct ct_mem_import *import, *next;
    HASH_ITER (hh, p->mem->imports.all, import, next) {
        give_up(p, import);
    }
}
