/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mem in one process: copies between all kinds, pools, what the program registers, and the cache of
 * registrations while memory is freed, allocated again and mapped anew.
 */
#include "emu.h"

static struct ct_process        p;
static struct ct_gpu_visit      visit;
static const struct cuda_table *asked_of;

static int begin(void **state)
{
    static const char *const small[] = {"CTRAN_MEM_CACHE", "16", NULL};
    (void)state;
    emu_start(&p, small);
    return ct_gpu_enter(p.gpu, 0, &visit);
}

static int end(void **state)
{
    (void)state;
    ct_gpu_leave(p.gpu, &visit);
    emu_stop(&p);
    return 0;
}

static struct ct_mem_stats stats(void)
{
    struct ct_mem_stats s;
    ct_mem_stats(&p, &s);
    return s;
}

/* ---- copies ---------------------------------------------------------------------------------- */

enum { KINDS = 5, LEN = 100000 };

/* Memory of each kind; the fifth is of another device, where there is one. */
static void *memory(int kind)
{
    const struct cuda_table *cu = p.gpu->cu;
    struct ct_gpu_visit      v;
    CUdeviceptr              dev = 0;
    void                    *host = NULL;
    switch (kind) {
    case CT_GPU_HOST:
        return malloc(LEN);
    case CT_GPU_PINNED:
        CU(cu->cuMemHostAlloc(&host, LEN, CU_MEMHOSTALLOC_PORTABLE));
        return host;
    case CT_GPU_MANAGED:
        CU(cu->cuMemAllocManaged(&dev, LEN, CU_MEM_ATTACH_GLOBAL));
        break;
    case CT_GPU_DEVICE:
        CU(cu->cuMemAlloc(&dev, LEN));
        break;
    default:
        assert_int_equal(ct_gpu_enter(p.gpu, ct_gpu_count(p.gpu) - 1, &v), CTRAN_SUCCESS);
        CU(cu->cuMemAlloc(&dev, LEN));
        ct_gpu_leave(p.gpu, &v);
    }
    return (void *)(uintptr_t)dev;
}

static void release(int kind, void *ptr)
{
    const struct cuda_table *cu = p.gpu->cu;
    if (kind == CT_GPU_HOST) {
        free(ptr);
    } else if (kind == CT_GPU_PINNED) {
        CU(cu->cuMemFreeHost(ptr));
    } else {
        CU(cu->cuMemFree((uintptr_t)ptr));
    }
}

static void copies_between_all_kinds(void **state)
{
    static char in[LEN], out[LEN];
    (void)state;
    for (int from = 0; from < KINDS; from++) {
        for (int to = 0; to < KINDS; to++) {
            char *a = memory(from), *b = memory(to);
            for (int i = 0; i < LEN; i++) {
                in[i] = (char)(i * 7 + from * 31 + to);
            }
            memset(out, 0, LEN);
            assert_int_equal(ct_mem_copy(&p, a, in, LEN), CTRAN_SUCCESS);
            assert_int_equal(ct_mem_copy(&p, b + 1, a + 3, LEN - 3), CTRAN_SUCCESS);
            assert_int_equal(ct_mem_copy(&p, out, b + 1, LEN - 3), CTRAN_SUCCESS);
            assert_memory_equal(out, in + 3, LEN - 3);
            release(from, a);
            release(to, b);
        }
    }
}

/* ---- lists of blocks ------------------------------------------------------------------------- */

/* What the driver was asked to do. */
static struct {
    unsigned copies, rows, waits;
} asked;

static CUresult copy_out(void *to, CUdeviceptr from, size_t len, CUstream stream)
{
    asked.copies++;
    return asked_of->cuMemcpyDtoHAsync(to, from, len, stream);
}

static CUresult copy_in(CUdeviceptr to, const void *from, size_t len, CUstream stream)
{
    asked.copies++;
    return asked_of->cuMemcpyHtoDAsync(to, from, len, stream);
}

static CUresult copy_rows(const CUDA_MEMCPY2D *copy, CUstream stream)
{
    asked.rows++;
    return asked_of->cuMemcpy2DAsync(copy, stream);
}

static CUresult record(CUevent event, CUstream stream)
{
    asked.waits++;
    return asked_of->cuEventRecord(event, stream);
}

/* The driver's table with those that count. */
static void begin_counting(void)
{
    static struct cuda_table counting;
    asked_of = p.gpu->cu;
    counting = *asked_of;
    counting.cuMemcpyDtoHAsync = copy_out;
    counting.cuMemcpyHtoDAsync = copy_in;
    counting.cuMemcpy2DAsync = copy_rows;
    counting.cuEventRecord = record;
    memset(&asked, 0, sizeof asked);
    p.gpu->cu = &counting;
}

static void end_counting(void)
{
    p.gpu->cu = asked_of;
}

/* An area of device memory, of which all is written and read again. */
static void there_and_back(const struct ct_piece *pieces, uint32_t n, size_t reps, ptrdiff_t stride,
                           size_t span, unsigned copies, unsigned rows, unsigned waits)
{
    CUdeviceptr    dev;
    char          *image = calloc(1, span), *flat, *found = malloc(span);
    struct ct_area plain = ct_area_make(image, pieces, n, reps, stride);
    CU(p.gpu->cu->cuMemAlloc(&dev, span));
    flat = malloc(plain.len_bytes);
    assert_true(image != NULL && flat != NULL && found != NULL);
    for (size_t i = 0; i < plain.len_bytes; i++) {
        flat[i] = (char)(i * 31 + (i >> 9));
    }
    assert_int_equal(ct_mem_copy(&p, (void *)dev, image, span), CTRAN_SUCCESS);
    assert_true(ct_area_scatter_all(&plain, &(size_t){0}, flat, plain.len_bytes));
    struct ct_area far = ct_area_make((void *)dev, pieces, n, reps, stride);
    ct_area_set_memory(&far, &p.memory);
    begin_counting();
    assert_true(ct_area_scatter_all(&far, &(size_t){0}, flat, far.len_bytes));
    end_counting();
    assert_int_equal(asked.copies, copies);
    assert_int_equal(asked.rows, rows);
    assert_int_equal(asked.waits, waits);
    assert_int_equal(ct_mem_copy(&p, found, (void *)dev, span), CTRAN_SUCCESS);
    assert_memory_equal(found, image, span);
    memset(found, 0, plain.len_bytes);
    begin_counting();
    assert_true(ct_area_gather_all(&far, &(size_t){0}, found, far.len_bytes));
    end_counting();
    assert_int_equal(asked.copies, copies);
    assert_int_equal(asked.rows, rows);
    assert_int_equal(asked.waits, waits);
    assert_memory_equal(found, flat, plain.len_bytes);
    CU(p.gpu->cu->cuMemFree(dev));
    free(image);
    free(flat);
    free(found);
}

/* A piece of `reps` blocks. */
static uint32_t add_piece(struct ct_piece *pieces, uint32_t n, ptrdiff_t at, size_t len,
                          size_t reps, ptrdiff_t stride)
{
    pieces[n] = (struct ct_piece){.from_bytes = ct_pieces_len(pieces, n),
                                  .at_bytes = at,
                                  .len_bytes = len,
                                  .reps = reps,
                                  .stride_bytes = stride};
    return n + 1;
}

/* However many pieces a type has, there are few calls of the driver, and few waits. */
static void copies_of_datatypes(void **state)
{
    enum { IRREGULAR = 300 };
    struct ct_piece list[IRREGULAR], outer;
    uint32_t        n = 0;
    (void)state;
    /* A vector of 1 MiB in blocks of 4 KiB. */
    add_piece(list, 0, 0, 4096, 256, 10000);
    there_and_back(list, 1, 1, 0, 256 * 10000, 0, 1, 1);
    /* A thousand structs of a char, three shorts and a double. */
    n = add_piece(list, 0, 1, 1, 1, 0);
    n = add_piece(list, n, 4, 6, 1, 0);
    n = add_piece(list, n, 16, 8, 1, 0);
    there_and_back(list, n, 1000, 24, 24000, 0, 3, 1);
    /* A vector of few blocks, many times; of many, few times; and backwards, block by block. */
    add_piece(list, 0, 0, 8, 3, 12);
    there_and_back(list, 1, 1000, 40, 40000, 0, 3, 1);
    add_piece(list, 0, 0, 8, 1000, 12);
    there_and_back(list, 1, 3, 12000, 36000, 0, 3, 1);
    add_piece(list, 0, 36 * 999, 8, 50, -36);
    there_and_back(list, 1, 2, 12, 37000, 100, 0, 1);
    /* A box of 20 x 30 x 40 bytes in one of 100 x 100 x 100: a copy for each plane. */
    add_piece(list, 0, 5, 20, 30, 100);
    outer = (struct ct_piece){.at_bytes = 300,
                              .len_bytes = 600,
                              .reps = 40,
                              .stride_bytes = 10000,
                              .inner = list,
                              .ninner = 1};
    there_and_back(&outer, 1, 1, 0, 1000000, 0, 30, 1);
    /* Pieces without any order: a wait for each batch of them. */
    for (int i = 0; i < IRREGULAR; i++) {
        n = add_piece(list, i == 0 ? 0 : n, i * 100 + i * i % 37, 5 + (size_t)(i % 3), 1, 0);
    }
    there_and_back(list, n, 1, 0, IRREGULAR * 101, IRREGULAR, 0,
                   (IRREGULAR + CT_AREA_BATCH - 1) / CT_AREA_BATCH);
}

/* ---- pools ----------------------------------------------------------------------------------- */

static void pinned_memory_comes_again(void **state)
{
    (void)state;
    char *a = ct_mem_pinned_get(&p, 5000), *b = ct_mem_pinned_get(&p, 5000);
    assert_non_null(a);
    assert_true(b >= a + 8192 || a >= b + 8192);
    assert_int_equal(ct_gpu_kind_of(p.gpu, a, NULL), CT_GPU_PINNED);
    assert_int_equal((uintptr_t)a % 4096, 0);
    memset(a, 1, 5000);
    const uint64_t bytes = stats().pinned_bytes;
    ct_mem_pinned_put(&p, a, 5000);
    assert_ptr_equal(ct_mem_pinned_get(&p, 8192), a);
    char *large = ct_mem_pinned_get(&p, 5 << 20);
    assert_int_equal(stats().pinned_bytes - bytes, 8 << 20);
    memset(large, 1, 5 << 20);
    ct_mem_pinned_put(&p, large, 5 << 20);
    ct_mem_pinned_put(&p, a, 8192);
    ct_mem_pinned_put(&p, b, 5000);
}

static void small_pieces_do_not_overlap(void **state)
{
    enum { N = 300 };
    CUdeviceptr at[N];
    size_t      len[N];
    uint64_t    random = 7;
    (void)state;
    for (int i = 0; i < N; i++) {
        len[i] = 1 + unit_below(&random, i % 3 == 0 ? CT_MEM_SMALL_MAX : 500);
        assert_int_equal(ct_mem_small_get(&p, len[i], &at[i]), CTRAN_SUCCESS);
        assert_int_equal(at[i] % 256, 0);
        for (int j = 0; j < i; j++) {
            assert_true(at[i] + len[i] <= at[j] || at[j] + len[j] <= at[i]);
        }
    }
    const uint64_t bytes = stats().small_bytes;
    for (int i = 0; i < N; i++) {
        ct_mem_small_put(&p, at[i], len[i]);
    }
    for (int i = 0; i < N; i++) {
        assert_int_equal(ct_mem_small_get(&p, len[i], &at[i]), CTRAN_SUCCESS);
    }
    assert_int_equal(stats().small_bytes, bytes);
    p.log.level = CT_LOG_NONE;
    assert_int_equal(ct_mem_small_get(&p, CT_MEM_SMALL_MAX + 1, &at[0]), CTRAN_ERR_ARG);
    p.log.level = CT_LOG_WARN;
}

static void pool_gives_and_takes(void **state)
{
    enum { N = 64, ROUNDS = 2000 };
    char    *at[N] = {NULL};
    size_t   len[N] = {0};
    uint64_t random = 3;
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        const uint32_t k = unit_below(&random, N);
        if (at[k] != NULL) {
            assert_int_equal(ct_mem_free(&p, at[k]), CTRAN_SUCCESS);
            assert_int_equal(ct_mem_free(&p, at[k]), CTRAN_ERR_BASE);
            at[k] = NULL;
            continue;
        }
        void *ptr;
        len[k] = unit_below(&random, 1 << (1 + unit_below(&random, 22)));
        assert_int_equal(ct_mem_alloc(&p, len[k], &ptr), CTRAN_SUCCESS);
        at[k] = ptr;
        assert_int_equal((uintptr_t)ptr % 512, 0);
        for (uint32_t j = 0; j < N; j++) {
            assert_true(j == k || at[j] == NULL || at[k] + len[k] <= at[j] ||
                        at[j] + len[j] <= at[k]);
        }
    }
    for (int k = 0; k < N; k++) {
        assert_true(at[k] == NULL || ct_mem_free(&p, at[k]) == CTRAN_SUCCESS);
    }
    assert_int_equal(stats().pool_bytes, 32 << 20); /* one segment is kept */
}

/* ---- registrations --------------------------------------------------------------------------- */

static void same_address_other_memory(void **state)
{
    struct ct_mem_export a, b;
    CUdeviceptr          first, again;
    (void)state;
    CU(p.gpu->cu->cuMemAlloc(&first, 1 << 20));
    assert_int_equal(ct_mem_export(&p, (void *)(uintptr_t)(first + 100), 50, &a), CTRAN_SUCCESS);
    assert_true(a.base == first && a.offset == 100 && a.len_bytes == 50 && a.whole == 1 << 20);
    const struct ct_mem_stats before = stats();
    assert_int_equal(ct_mem_export(&p, (void *)(uintptr_t)first, 1, &b), CTRAN_SUCCESS);
    assert_int_equal(stats().hits, before.hits + 1);
    assert_memory_equal(&a.u, &b.u, sizeof a.u);
    CU(p.gpu->cu->cuMemFree(first));
    assert_int_equal(ct_mem_export(&p, (void *)(uintptr_t)first, 1, &b),
                     CTRAN_ERR_UNSUPPORTED_OPERATION);
    CU(p.gpu->cu->cuMemAlloc(&again, 1 << 20));
    assert_int_equal(ct_mem_export(&p, (void *)(uintptr_t)again, 1, &b), CTRAN_SUCCESS);
    assert_true(a.buffer_id != b.buffer_id);
    CU(p.gpu->cu->cuMemFree(again));
}

static void cache_is_bounded(void **state)
{
    enum { N = 100 };
    struct ct_mem_export e;
    CUdeviceptr          at[N];
    (void)state;
    for (int i = 0; i < N; i++) {
        CU(p.gpu->cu->cuMemAlloc(&at[i], 4096));
        assert_int_equal(ct_mem_export(&p, (void *)(uintptr_t)at[i], 8, &e), CTRAN_SUCCESS);
        assert_true(stats().regs <= 17); /* the pool's own segment is held */
    }
    assert_true(stats().dropped >= N - 17);
    for (int i = 0; i < N; i++) {
        CU(p.gpu->cu->cuMemFree(at[i]));
    }
}

static void program_registers(void **state)
{
    enum { BYTES = 1 << 16 };
    struct ct_mem_export e;
    CUdeviceptr          dev;
    char                *host = aligned_alloc(4096, BYTES);
    (void)state;
    assert_int_equal(ct_mem_register(&p, host, BYTES), CTRAN_SUCCESS);
    assert_int_equal(ct_mem_register(&p, host, BYTES), CTRAN_SUCCESS);
    assert_int_equal(ct_gpu_kind_of(p.gpu, host, NULL), CT_GPU_PINNED);
    p.log.level = CT_LOG_NONE;
    assert_int_equal(ct_mem_register(&p, host, BYTES / 2), CTRAN_ERR_ARG);
    p.log.level = CT_LOG_WARN;
    assert_int_equal(ct_mem_deregister(&p, host), CTRAN_SUCCESS);
    assert_int_equal(ct_gpu_kind_of(p.gpu, host, NULL), CT_GPU_PINNED);
    assert_int_equal(ct_mem_deregister(&p, host), CTRAN_SUCCESS);
    assert_int_equal(ct_gpu_kind_of(p.gpu, host, NULL), CT_GPU_HOST);
    assert_int_equal(ct_mem_deregister(&p, host), CTRAN_ERR_BASE);
    CU(p.gpu->cu->cuMemAlloc(&dev, BYTES));
    void *ptr = (void *)(uintptr_t)dev;
    assert_int_equal(ct_mem_register(&p, ptr, BYTES), CTRAN_SUCCESS);
    const uint64_t misses = stats().misses;
    assert_int_equal(ct_mem_export(&p, ptr, BYTES, &e), CTRAN_SUCCESS);
    assert_int_equal(stats().misses, misses);
    CU(p.gpu->cu->cuMemFree(dev)); /* too early: it is noticed */
    assert_int_equal(ct_mem_export(&p, ptr, BYTES, &e), CTRAN_ERR_UNSUPPORTED_OPERATION);
    assert_int_equal(ct_mem_deregister(&p, ptr), CTRAN_SUCCESS);
    free(host);
}

static void what_it_costs(void **state)
{
    enum { N = 100000 };
    struct ct_mem_export e;
    CUdeviceptr          dev;
    (void)state;
    CU(p.gpu->cu->cuMemAlloc(&dev, 4096));
    const uint64_t t0 = ct_clock_ns();
    assert_int_equal(ct_mem_export(&p, (void *)(uintptr_t)dev, 8, &e), CTRAN_SUCCESS);
    const uint64_t t1 = ct_clock_ns();
    for (int i = 0; i < N; i++) {
        assert_int_equal(ct_mem_export(&p, (void *)(uintptr_t)dev, 8, &e), CTRAN_SUCCESS);
    }
    const uint64_t t2 = ct_clock_ns();
    print_message("registration and export: %llu ns at first, then %llu ns\n",
                  (unsigned long long)(t1 - t0), (unsigned long long)((t2 - t1) / N));
    CU(p.gpu->cu->cuMemFree(dev));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_between_all_kinds),
        cmocka_unit_test(copies_of_datatypes),
        cmocka_unit_test(pinned_memory_comes_again),
        cmocka_unit_test(small_pieces_do_not_overlap),
        cmocka_unit_test(pool_gives_and_takes),
        cmocka_unit_test(same_address_other_memory),
        cmocka_unit_test(cache_is_bounded),
        cmocka_unit_test(program_registers),
        cmocka_unit_test(what_it_costs),
    };
    emu_open();
    return cmocka_run_group_tests(tests, begin, end);
}
