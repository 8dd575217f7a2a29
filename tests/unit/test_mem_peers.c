/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mem in two processes: one exports, the other imports and says what it reads there. The first one
 * allocates, frees, maps anew and exports in random order, with addresses that come again: each
 * transfer has to find the memory of that moment, and both caches stay within their bounds. What
 * the driver does with an address that is mapped already, the emulation does on demand.
 * CT_CYCLES says how many (2000); with CT_SOAK it is a million.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "emu.h"

enum { MOST = 1 << 16, BUFFERS = 24, PIECES = 8, BOUND = 16 };
enum { READ, COUNT, QUIT };

struct question {
    int                  what;
    struct ct_mem_export from;
    /* Of READ: how often the driver says that the address is mapped; what may wait on streams;
     * whether that is over once the driver has said so and somebody else has looked at the imports;
     * whether the importer waits for it. */
    unsigned mapped;
    uint32_t armed, graphs, quick;
    bool     is_over, waits;
};

struct answer {
    int      rc;
    uint64_t digest; /* of the bytes */
    uint64_t imports;
};

static struct ct_process   p;
static struct ct_gpu_visit visit;
static int                 to_peer;
static pid_t               peer;

/* Of what was transferred, by words: a million transfers are to take minutes. */
static uint64_t digest_of(const char *bytes, size_t len)
{
    uint64_t digest = CT_FNV1A_START, word;
    size_t   at = 0;
    for (; at + sizeof word <= len; at += sizeof word) {
        memcpy(&word, bytes + at, sizeof word);
        digest = (digest ^ word) * 0x9e3779b97f4a7c15u;
        digest ^= digest >> 29;
    }
    return ct_fnv1a(digest, bytes + at, len - at);
}

/* ---- the importer ---------------------------------------------------------------------------- */

/* A function of the emulation's; false: this is a GPU. */
static bool emu_function(const struct ct_process *q, const char *name, void *function)
{
    void          *found = NULL;
    const CUresult r = q->gpu->cu->cuGetProcAddress(name, &found, 12000, 0, NULL);
    if (r != CUDA_SUCCESS || found == NULL) { /* a GPU's driver may say either */
        return false;
    }
    memcpy(function, &found, sizeof found);
    return true;
}

/* The next mappings fail: the address is mapped already. */
static bool refuse(const struct ct_process *q, unsigned times)
{
    static const char *const lists[] = {"", "cuIpcOpenMemHandle:1=208",
                                        "cuIpcOpenMemHandle:1=208,cuIpcOpenMemHandle:2=208"};
    void (*set)(const char *);
    const bool is_emu = emu_function(q, "emu_inject", &set);
    if (is_emu) {
        set(lists[times]);
    }
    return is_emu;
}

static unsigned long opened(const struct ct_process *q)
{
    unsigned long (*calls)(const char *);
    return emu_function(q, "emu_calls", &calls) ? calls("cuIpcOpenMemHandle") : 0;
}

static unsigned long opened_before;

static void *look_and_end(void *arg)
{
    struct ct_process  *q = arg;
    struct ct_mem_stats stats;
    while (opened(q) == opened_before) {
        (void)sched_yield();
    }
    ct_mem_stats(q, &stats); /* while the importer waits */
    atomic_store(&q->gpu->armed, 0);
    return NULL;
}

static int import_as(struct ct_process *q, const struct question *how,
                     struct ct_mem_import **import, CUdeviceptr *ptr)
{
    pthread_t thread;
    int       mine, rc = ct_gpu_mine(q->gpu, &mine);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    (void)refuse(q, how->mapped);
    opened_before = opened(q);
    atomic_store(&q->gpu->armed, how->armed);
    atomic_store(&q->gpu->graphs, how->graphs);
    atomic_store(&q->gpu->quick, how->quick);
    if (how->is_over && pthread_create(&thread, NULL, look_and_end, q) != 0) {
        return CTRAN_ERR_SYSTEM;
    }
    rc = ct_mem_import(q, mine, &how->from, how->waits, import, ptr);
    if (how->is_over) {
        (void)pthread_join(thread, NULL);
    }
    atomic_store(&q->gpu->armed, 0);
    atomic_store(&q->gpu->graphs, 0);
    atomic_store(&q->gpu->quick, 0);
    (void)refuse(q, 0);
    return rc;
}

static struct answer look_at(struct ct_process *q, const struct question *how)
{
    static char                 bytes[MOST];
    const struct ct_mem_export *from = &how->from;
    struct ct_mem_import       *import;
    CUdeviceptr                 ptr;
    struct answer               a = {.rc = import_as(q, how, &import, &ptr)};
    if (a.rc == CTRAN_SUCCESS) {
        a.rc = ct_mem_copy(q, bytes, (void *)(uintptr_t)ptr, from->len_bytes);
        a.digest = digest_of(bytes, from->len_bytes);
        ct_mem_import_put(q, import);
    }
    return a;
}

static int importer(int fd)
{
    static const char *const settings[] = {"CTRAN_MEM_IMPORTS", "16", "CTRAN_GPU_DEVICE", "0",
                                           NULL};
    struct ct_process        q;
    struct question          question;
    struct ct_mem_stats      stats;
    emu_start(&q, settings);
    q.log.level = CT_LOG_ERROR;
    while (read(fd, &question, sizeof question) == sizeof question && question.what != QUIT) {
        struct answer a = {.rc = CTRAN_SUCCESS};
        if (question.what == READ) {
            a = look_at(&q, &question);
        } else {
            ct_mem_sweep(&q);
        }
        ct_mem_stats(&q, &stats);
        a.imports = stats.imports;
        if (write(fd, &a, sizeof a) != sizeof a) {
            return 1;
        }
    }
    emu_stop(&q);
    return 0;
}

static struct answer ask_as(const struct question *question)
{
    struct answer a;
    assert_int_equal(write(to_peer, question, sizeof *question), sizeof *question);
    assert_int_equal(read(to_peer, &a, sizeof a), sizeof a);
    return a;
}

static struct answer ask(int what, const struct ct_mem_export *from)
{
    struct question question = {.what = what};
    if (from != NULL) {
        question.from = *from;
    }
    return ask_as(&question);
}

/* ---- the exporter ---------------------------------------------------------------------------- */

static uint64_t random_ = 11;

/* Writes new bytes to the memory, and has the peer read them. */
static void transfer(CUdeviceptr at, size_t len)
{
    static char          bytes[MOST + sizeof(uint64_t)];
    struct ct_mem_export e;
    for (size_t i = 0; i < len; i += sizeof(uint64_t)) {
        const uint64_t word = unit_random(&random_);
        memcpy(bytes + i, &word, sizeof word);
    }
    void *ptr = (void *)(uintptr_t)at;
    assert_int_equal(ct_mem_copy(&p, ptr, bytes, len), CTRAN_SUCCESS);
    assert_int_equal(ct_mem_export(&p, ptr, len, &e), CTRAN_SUCCESS);
    const struct answer a = ask(READ, &e);
    assert_int_equal(a.rc, CTRAN_SUCCESS);
    if (a.digest != digest_of(bytes, len)) {
        fail_msg("the peer reads other bytes: %zu from 0x%llx on, buffer %llu", len, at,
                 (unsigned long long)e.buffer_id);
    }
    assert_true(a.imports <= BOUND + 1);
}

struct mapped {
    CUdeviceptr                  base;
    size_t                       piece;
    CUmemGenericAllocationHandle handles[PIECES];
};

static const CUmemAllocationProp prop = {
    .type = CU_MEM_ALLOCATION_TYPE_PINNED,
    .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
    .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
};
static const CUmemAccessDesc access_ = {.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                        .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};

static void map_piece(struct mapped *m, unsigned i)
{
    const struct cuda_table *cu = p.gpu->cu;
    const CUdeviceptr        at = m->base + i * m->piece;
    CU(cu->cuMemCreate(&m->handles[i], m->piece, &prop, 0));
    CU(cu->cuMemMap(at, m->piece, 0, m->handles[i], 0));
    CU(cu->cuMemSetAccess(at, m->piece, &access_, 1));
}

static void unmap_piece(struct mapped *m, unsigned i)
{
    CU(p.gpu->cu->cuMemUnmap(m->base + i * m->piece, m->piece));
    CU(p.gpu->cu->cuMemRelease(m->handles[i]));
}

static void map_all(struct mapped *m)
{
    CU(p.gpu->cu->cuMemGetAllocationGranularity(&m->piece, &prop,
                                                CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CU(p.gpu->cu->cuMemAddressReserve(&m->base, PIECES * m->piece, 0, 0, 0));
    for (unsigned i = 0; i < PIECES; i++) {
        map_piece(m, i);
    }
}

static void unmap_all(struct mapped *m)
{
    for (unsigned i = 0; i < PIECES; i++) {
        unmap_piece(m, i);
    }
    CU(p.gpu->cu->cuMemAddressFree(m->base, PIECES * m->piece));
}

struct buffer {
    CUdeviceptr at;
    size_t      len;
};

/* One step with memory of cuMemAlloc: it comes, is used, or goes. */
static void step(struct buffer *b)
{
    if (b->at == 0) {
        b->len = 1 + unit_below(&random_, MOST);
        CU(p.gpu->cu->cuMemAlloc(&b->at, b->len));
    } else if (unit_below(&random_, 3) == 0) {
        CU(p.gpu->cu->cuMemFree(b->at));
        b->at = 0;
    } else {
        const size_t from = unit_below(&random_, (uint32_t)b->len);
        transfer(b->at + from, 1 + unit_below(&random_, (uint32_t)(b->len - from)));
    }
}

/* The same with mapped memory; now and then across two pieces. */
static void step_mapped(struct mapped *m)
{
    const uint32_t i = unit_below(&random_, PIECES);
    if (unit_below(&random_, 3) == 0) {
        unmap_piece(m, i);
        map_piece(m, i);
        return;
    }
    const size_t len = 1 + unit_below(&random_, MOST);
    const size_t from = i + 1 < PIECES ? m->piece - len / 2 : 0;
    transfer(m->base + i * m->piece + from, len);
}

static unsigned cycles(void)
{
    const char *text = getenv("CT_CYCLES"), *soak = getenv("CT_SOAK");
    return text != NULL                     ? (unsigned)strtoul(text, NULL, 10)
           : soak != NULL && soak[0] == '1' ? 1000000
                                            : 2000;
}

static void memory_comes_and_goes(void **state)
{
    struct buffer       buffers[BUFFERS] = {{0}};
    struct mapped       mapped;
    struct ct_mem_stats s;
    (void)state;
    map_all(&mapped);
    for (unsigned i = 0, n = cycles(); i < n; i++) {
        if (unit_below(&random_, 4) == 0) {
            step_mapped(&mapped);
        } else {
            step(&buffers[unit_below(&random_, BUFFERS)]);
        }
        ct_mem_stats(&p, &s);
        assert_true(s.regs <= BOUND);
    }
    assert_true(s.stale > 0 && s.hits > 0);
    print_message("%llu hits, %llu misses, %llu stale, %llu dropped\n", (unsigned long long)s.hits,
                  (unsigned long long)s.misses, (unsigned long long)s.stale,
                  (unsigned long long)s.dropped);
    for (unsigned i = 0; i < BUFFERS; i++) {
        if (buffers[i].at != 0) {
            CU(p.gpu->cu->cuMemFree(buffers[i].at));
        }
    }
    unmap_all(&mapped);
}

/* Memory of another size at an address that the other side still has a mapping of, behind older
 * ones that it does not look at each time. */
static void an_address_has_another_size(void **state)
{
    enum { ROUNDS = 64, OLDER = 10 };
    CUdeviceptr at[ROUNDS], older[OLDER];
    unsigned    again = 0;
    (void)state;
    for (unsigned i = 0; i < OLDER; i++) {
        CU(p.gpu->cu->cuMemAlloc(&older[i], MOST));
        transfer(older[i], MOST);
    }
    for (unsigned i = 0; i < ROUNDS; i++) {
        const size_t len = 1000 + 8 * (size_t)i;
        CU(p.gpu->cu->cuMemAlloc(&at[i], len));
        for (unsigned k = 0; k < i; k++) {
            again += at[k] == at[i];
        }
        transfer(at[i], len);
        CU(p.gpu->cu->cuMemFree(at[i]));
    }
    assert_true(again > 0);
    for (unsigned i = 0; i < OLDER; i++) {
        CU(p.gpu->cu->cuMemFree(older[i]));
    }
}

/* Memory of another size at `was`, which has been freed. */
static CUdeviceptr again_at(CUdeviceptr was, size_t len)
{
    enum { MANY = 64 };
    CUdeviceptr others[MANY], at = 0;
    unsigned    n = 0;
    for (; n < MANY; n++) {
        CU(p.gpu->cu->cuMemAlloc(&at, len));
        if (at == was) {
            break;
        }
        others[n] = at;
    }
    assert_true(at == was);
    while (n > 0) {
        CU(p.gpu->cu->cuMemFree(others[--n]));
    }
    return at;
}

/* The old mapping goes first, at a quiet time: who waits for one, lets others at the imports
 * meanwhile; a captured graph is not waited for, those of kernels alone are no matter to who waits;
 * and what has failed leaves all as it was. */
static void an_old_mapping_makes_way(void **state)
{
    enum { LEN = 1000, WHOLE = (2 << 20) + 1000, OTHER = WHOLE + 8, OLDER = 10 };
    static const struct question cases[] = {
        {.what = READ, .mapped = 1},
        {.what = READ, .mapped = 1, .waits = true},
        {.what = READ, .mapped = 2, .waits = true, .armed = 1, .is_over = true},
        {.what = READ, .mapped = 1, .armed = 1},
        {.what = READ, .mapped = 2, .graphs = 1},
        {.what = READ, .mapped = 2, .graphs = 1, .waits = true},
        {.what = READ, .mapped = 2, .quick = 1},
        {.what = READ, .mapped = 2, .quick = 1, .waits = true},
    };
    CUdeviceptr older[OLDER], at; /* more than are looked at each time */
    (void)state;
    if (!refuse(&p, 0)) {
        skip();
    }
    for (unsigned i = 0; i < OLDER; i++) {
        CU(p.gpu->cu->cuMemAlloc(&older[i], LEN));
    }
    for (size_t i = 0; i < CT_ARRAY_LEN(cases); i++) {
        struct question question = cases[i];
        const bool      works = (question.armed == 0 || question.is_over) && question.graphs == 0 &&
                           (question.quick == 0 || question.waits);
        for (unsigned k = 0; k < OLDER; k++) {
            transfer(older[k], LEN);
        }
        CU(p.gpu->cu->cuMemAlloc(&at, WHOLE));
        transfer(at, LEN);
        const uint64_t before = ask(COUNT, NULL).imports;
        CU(p.gpu->cu->cuMemFree(at));
        at = again_at(at, OTHER);
        assert_int_equal(ct_mem_export(&p, (void *)(uintptr_t)at, LEN, &question.from),
                         CTRAN_SUCCESS);
        const struct answer a = ask_as(&question);
        assert_int_equal(a.rc, works ? CTRAN_SUCCESS : CTRAN_ERR_OTHER);
        assert_int_equal(a.imports, before); /* the new one for the old one; or the old one */
        transfer(at, LEN);
        CU(p.gpu->cu->cuMemFree(at));
    }
    for (unsigned i = 0; i < OLDER; i++) {
        CU(p.gpu->cu->cuMemFree(older[i]));
    }
}

/* What its owner has freed, and noticed, the other side gives up. */
static void freed_memory_is_given_up(void **state)
{
    CUdeviceptr at;
    (void)state;
    CU(p.gpu->cu->cuMemAlloc(&at, 4096));
    transfer(at, 4096);
    const uint64_t before = ask(COUNT, NULL).imports;
    assert_true(before >= 1);
    CU(p.gpu->cu->cuMemFree(at));
    struct ct_mem_export e;
    assert_int_equal(ct_mem_export(&p, (void *)(uintptr_t)at, 1, &e),
                     CTRAN_ERR_UNSUPPORTED_OPERATION);
    assert_true(ask(COUNT, NULL).imports < before);
}

/* What is no export, or a damaged one, is refused and hurts nobody. */
static void nonsense_is_refused(void **state)
{
    struct ct_mem_export good, bad;
    CUdeviceptr          at;
    (void)state;
    CU(p.gpu->cu->cuMemAlloc(&at, 4096));
    assert_int_equal(ct_mem_export(&p, (void *)(uintptr_t)at, 4096, &good), CTRAN_SUCCESS);
    memset(&bad, 0, sizeof bad);
    assert_int_not_equal(ask(READ, &bad).rc, CTRAN_SUCCESS);
    bad = good;
    bad.len_bytes = 8192;
    assert_int_not_equal(ask(READ, &bad).rc, CTRAN_SUCCESS);
    bad = good;
    bad.way = 2;
    bad.npieces = 200;
    assert_int_not_equal(ask(READ, &bad).rc, CTRAN_SUCCESS);
    assert_int_equal(ask(READ, &good).rc, CTRAN_SUCCESS);
    /* What a process has exported itself is not mapped. */
    struct ct_mem_import *import;
    CUdeviceptr           own;
    assert_int_equal(ct_mem_import(&p, 0, &good, true, &import, &own), CTRAN_SUCCESS);
    assert_null(import);
    assert_true(own == at);
    CU(p.gpu->cu->cuMemFree(at));
    /* Of ordinary memory there is no export. */
    int here;
    assert_int_equal(ct_mem_export(&p, &here, sizeof here, &bad), CTRAN_ERR_UNSUPPORTED_OPERATION);
}

static int begin(void **state)
{
    static const char *const settings[] = {"CTRAN_MEM_CACHE", "16", "CTRAN_GPU_DEVICE", "0", NULL};
    (void)state;
    emu_start(&p, settings);
    return ct_gpu_enter(p.gpu, 0, &visit);
}

static int end(void **state)
{
    struct question quit = {.what = QUIT};
    int             status = 0;
    (void)state;
    assert_int_equal(write(to_peer, &quit, sizeof quit), sizeof quit);
    assert_int_equal(waitpid(peer, &status, 0), peer);
    assert_int_equal(status, 0);
    ct_gpu_leave(p.gpu, &visit);
    emu_stop(&p);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_comes_and_goes),    cmocka_unit_test(an_address_has_another_size),
        cmocka_unit_test(an_old_mapping_makes_way), cmocka_unit_test(freed_memory_is_given_up),
        cmocka_unit_test(nonsense_is_refused),
    };
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) {
        return 1;
    }
    emu_open();
    peer = fork(); /* before either has started CUDA */
    if (peer == 0) {
        close(pair[1]);
        return importer(pair[0]);
    }
    close(pair[0]);
    to_peer = pair[1];
    (void)signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, begin, end);
}
