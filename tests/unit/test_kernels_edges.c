/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The CUDA kernels, compiled for the host, at their limits: an abort ends every wait,
 * alltoallv_dynamic takes counts that make no sense, and the 8-bit formats are rounded as they
 * should be, each pair.
 */
#include "kernels.h"

static void *module;

/* One rank alone in a call: it waits until the abort word is set, and its kernel ends. */
struct lonely {
    struct world w;
    int          ended;
};

static void *lonely(void *arg)
{
    struct lonely        *l = arg;
    struct world         *w = &l->w;
    struct ct_kernel_call k;
    char                  buf[2][64];
    memset(buf, 0, sizeof buf);
    ct_kernel_allgather(&k, &w->comm[0], (struct ct_kernel_how){.form = CT_KERNEL_AS_FLAGGED},
                        buf[0], buf[1], 32);
    run_kernel(w, &k);
    ct_kernel_alltoall(&k, &w->comm[0], (struct ct_kernel_how){.form = CT_KERNEL_AS_BULK}, buf[0],
                       buf[1], 32);
    run_kernel(w, &k);
    ct_kernel_bcast(&k, &w->comm[0],
                    (struct ct_kernel_how){.form = CT_KERNEL_AS_LL32, .rows = &w->rows[0]}, buf[0],
                    sizeof buf[0], 1);
    run_kernel(w, &k);
    __atomic_store_n(&l->ended, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void abort_ends_waits(void **state)
{
    struct lonely l = {.ended = 0};
    struct world *w = &l.w;
    pthread_t     thread;
    (void)state;
    world_init(w, module, 2, 1, 256 << 10, 0);
    assert_int_equal(pthread_create(&thread, NULL, lonely, &l), 0);
    /* Its item is there, so it waits for the other's; it cannot have ended. */
    const uint64_t *line = (uint64_t *)((char *)w->workspace[1] + w->comm[0].layout.flagged_at);
    line += (size_t)w->comm[0].layout.flagged_bytes * 2 / 8; /* item 1 of rank 0: slot 1 */
    while (__atomic_load_n(line, __ATOMIC_ACQUIRE) >> 32 != 1) {
        sched_yield();
    }
    assert_int_equal(__atomic_load_n(&l.ended, __ATOMIC_ACQUIRE), 0);
    __atomic_store_n(&w->abort, 1, __ATOMIC_RELEASE);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(__atomic_load_n(&l.ended, __ATOMIC_ACQUIRE), 1);
    world_fini(w);
}

/* What a receive buffer does not hold is dropped; counts that make no sense are none. */
static void dynamic_limits(void **state)
{
    enum { ROOM = 10 };
    struct world w;
    (void)state;
    static const int64_t counts[2][2] = {{3, 100}, {-7, 4}}, displs[2][2] = {{0, 3}, {0, -1}};
    int32_t              send[2][128], recv[2][ROOM + 1];
    int64_t              got[2][2];
    world_init(&w, module, 2, 2, 256 << 10, 0);
    pthread_t             thread;
    struct ct_kernel_call k[2];
    struct other          other = {&w, &k[1]};
    for (uint32_t p = 0; p < 2; p++) {
        for (int i = 0; i < 128; i++) {
            send[p][i] = (int32_t)p * 1000 + i;
        }
        memset(recv[p], 0xff, sizeof recv[p]);
        ct_kernel_alltoallv_dynamic(&k[p], &w.comm[p], 0,
                                    &(struct ct_kernel_dynamic){.send = send[p],
                                                                .recv = recv[p],
                                                                .elem_bytes = 4,
                                                                .send_bytes = sizeof send[p],
                                                                .recv_bytes = ROOM * 4,
                                                                .send_counts = counts[p],
                                                                .send_displs = displs[p],
                                                                .recv_counts = got[p]});
    }
    assert_int_equal(pthread_create(&thread, NULL, run_other, &other), 0);
    run_kernel(&w, &k[0]);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(got[0][0], 3);
    assert_int_equal(got[0][1], 0);
    assert_int_equal(got[1][0], 100);
    assert_int_equal(got[1][1], 0);
    assert_int_equal(recv[0][2], 2);
    assert_int_equal(recv[0][3], -1);
    assert_int_equal(recv[1][ROOM - 1], 3 + ROOM - 1);
    assert_int_equal(recv[1][ROOM], -1);
    world_fini(&w);
}

/* A peer that never comes, and an abort, where the slots hold what were numbers: nothing moves. */
static void dynamic_abort(void **state)
{
    static const int64_t counts[2] = {4, 4}, displs[2] = {0, 4};
    struct world         w;
    int32_t              send[8], recv[8];
    int64_t              got[2];
    (void)state;
    world_init(&w, module, 2, 2, 256 << 10, 0);
    struct ct_kernel_words *words = w.workspace[0];
    char *const             flagged = (char *)w.workspace[0] + w.comm[0].layout.flagged_at;
    memset(flagged, 0x3f, w.comm[0].layout.bulk_at - w.comm[0].layout.flagged_at);
    memset(recv, 0xff, sizeof recv);
    for (int i = 0; i < 8; i++) {
        send[i] = i;
    }
    struct ct_kernel_call k;
    ct_kernel_alltoallv_dynamic(&k, &w.comm[0], 0,
                                &(struct ct_kernel_dynamic){.send = send,
                                                            .recv = recv,
                                                            .elem_bytes = 4,
                                                            .send_bytes = sizeof send,
                                                            .recv_bytes = sizeof recv,
                                                            .send_counts = counts,
                                                            .send_displs = displs,
                                                            .recv_counts = got});
    w.abort = 1;
    run_kernel(&w, &k);
    assert_int_equal(words[1].got, 1); /* it has run through */
    assert_int_equal(recv[4], -1);
    world_fini(&w);
}

/* ---- the 8-bit formats, which the host has not ----------------------------------------------- */

/* The value of a finite number, by its definition. */
static double fp8_value(unsigned x, int fraction, int bias)
{
    const int    exponent = (x & 0x7f) >> fraction;
    const double part = (double)(x & ((1u << fraction) - 1)) / (1 << fraction);
    const int    e = exponent > 0 ? exponent - bias : 1 - bias;
    double       v = exponent > 0 ? 1 + part : part;
    for (int i = 0; i < (e < 0 ? -e : e); i++) {
        v = e < 0 ? v / 2 : v * 2;
    }
    return (x & 0x80) != 0 ? -v : v;
}

/* The nearest finite number, of two the even one. */
static unsigned fp8_nearest(double v, int fraction, int bias, unsigned largest)
{
    unsigned best = 0;
    double   least = -1;
    for (unsigned x = 0; x <= largest; x++) {
        const double gap = fp8_value(x, fraction, bias) - (v < 0 ? -v : v);
        const double size = gap < 0 ? -gap : gap;
        if (least < 0 || size < least || (size == least && x % 2 == 0)) {
            best = x;
            least = size;
        }
    }
    return best | (v < 0 ? 0x80 : 0);
}

static void fp8_pairs(enum ct_kernel_type type, enum ct_kernel_op op, int fraction, int bias,
                      unsigned largest)
{
    static uint8_t                   send[2][256 * 256], recv[2][256 * 256];
    struct world                     w;
    pthread_t                        thread;
    struct ct_kernel_call            k[2];
    const struct ct_kernel_reduction r = {type, op, 1};
    struct other                     other = {&w, &k[1]};
    world_init(&w, module, 2, 2, 1 << 20, 0);
    for (unsigned i = 0; i < 256 * 256; i++) {
        send[0][i] = (uint8_t)i;
        send[1][i] = (uint8_t)(i >> 8);
    }
    for (uint32_t p = 0; p < 2; p++) {
        ct_kernel_allreduce(&k[p], &w.comm[p], (struct ct_kernel_how){0}, &r, send[p], recv[p],
                            sizeof send[p]);
    }
    assert_int_equal(pthread_create(&thread, NULL, run_other, &other), 0);
    run_kernel(&w, &k[0]);
    assert_int_equal(pthread_join(thread, NULL), 0);
    for (unsigned i = 0; i < 256 * 256; i++) {
        if ((send[0][i] & 0x7fu) > largest || (send[1][i] & 0x7fu) > largest) {
            continue;
        }
        const double   x = fp8_value(send[0][i], fraction, bias);
        const double   y = fp8_value(send[1][i], fraction, bias);
        const double   v = op == CT_KERNEL_SUM    ? x + y
                           : op == CT_KERNEL_PROD ? x * y
                           : op == CT_KERNEL_MIN  ? (x < y ? x : y)
                                                  : (x > y ? x : y);
        const unsigned want = fp8_nearest(v, fraction, bias, largest);
        if (v == 0 ? (recv[0][i] & 0x7f) != 0 : recv[0][i] != want) {
            fail_msg("type %d op %d of %02x and %02x: %02x, not %02x", type, op, send[0][i],
                     send[1][i], recv[0][i], want);
        }
    }
    assert_memory_equal(recv[0], recv[1], sizeof recv[0]);
    world_fini(&w);
}

static void fp8(void **state)
{
    (void)state;
    for (int op = CT_KERNEL_SUM; op <= CT_KERNEL_MAX; op++) {
        fp8_pairs(CT_KERNEL_E4M3, (enum ct_kernel_op)op, 3, 7, 0x7e);
        fp8_pairs(CT_KERNEL_E5M2, (enum ct_kernel_op)op, 2, 15, 0x7b);
    }
}

/* The block that ends last says that the kernel is over, whichever that is, and again the next
 * time. */
static void last_block_says(void **state)
{
    enum { BLOCKS = 3, ELEMS = 4096, LAUNCHES = 3 };
    static int32_t        send[ELEMS], recv[ELEMS];
    static const int64_t  counts[1] = {ELEMS};
    struct world          w;
    struct ct_kernel_call k;
    int64_t               got[1];
    uint32_t              finished = 0;
    (void)state;
    world_init(&w, module, 1, BLOCKS, 256 << 10, 0);
    for (uint32_t turn = 1; turn <= LAUNCHES; turn++) {
        w.comm[0].finished = &finished;
        w.comm[0].finishes = turn;
        ct_kernel_alltoallv_dynamic(&k, &w.comm[0], 0,
                                    &(struct ct_kernel_dynamic){.send = send,
                                                                .recv = recv,
                                                                .elem_bytes = sizeof *send,
                                                                .send_bytes = sizeof send,
                                                                .recv_bytes = sizeof recv,
                                                                .send_counts = counts,
                                                                .recv_counts = got});
        assert_true(k.blocks > 1);
        for (uint32_t b = 0; b < k.blocks; b++) {
            assert_int_equal(finished, turn - 1);
            run_block(&w, &k, (b + turn) % k.blocks);
        }
        assert_int_equal(finished, turn);
    }
    w.comm[0].finished = NULL; /* of a captured one nobody is told */
    ct_kernel_barrier(&k, &w.comm[0]);
    run_kernel(&w, &k);
    assert_int_equal(finished, LAUNCHES);
    world_fini(&w);
}

/* The same of rows, which have a word of their own for it: a root that nobody keeps from sending.
 */
static void last_block_of_ll32_signals(void **state)
{
    enum { BYTES = 100000 };
    static char           buf[BYTES];
    struct world          w;
    struct ct_kernel_call k;
    uint32_t              finished = 0;
    (void)state;
    world_init(&w, module, 3, 4, 1 << 20, 0);
    w.rows[1].finished = &finished;
    w.rows[1].finishes = 7;
    ct_kernel_bcast(&k, &w.comm[1],
                    (struct ct_kernel_how){.form = CT_KERNEL_AS_LL32, .rows = &w.rows[1]}, buf,
                    BYTES, 1);
    assert_true(k.blocks > 1 && k.brief.steps <= CT_KERNEL_WINDOW);
    for (uint32_t b = 0; b < k.blocks; b++) {
        assert_int_equal(finished, 0);
        run_block(&w, &k, b);
    }
    assert_int_equal(finished, 7);
    world_fini(&w);
}

/* Messages and rows have parts of each workspace that are large enough, and other kernels the most
 * of it. */
static void division(void **state)
{
    (void)state;
    const size_t usual = 32 << 20; /* CTRAN_STREAM_WORKSPACE */
    for (size_t bytes = 1 << 20; bytes <= 2 * usual; bytes *= 2) {
        for (uint32_t n = 2; n <= 16; n++) {
            struct ct_kernel_layout   alone;
            struct ct_kernel_division d;
            const size_t              share = n <= CT_KERNEL_SHORT + 1 ? bytes - bytes / 5 : bytes;
            assert_int_equal(ct_kernel_layout_make(n, CT_KERNEL_CHANNELS, share, &alone), 0);
            assert_int_equal(ct_kernel_divide(n, bytes, &d), 0);
            assert_memory_equal(&d.calls, &alone, sizeof alone);
            assert_int_equal(d.at_messages % CT_KERNEL_LINE, 0);
            assert_int_equal(d.at_ll32 % CT_KERNEL_LINE, 0);
            const size_t end = d.at_messages + ct_kernel_layout_bytes(n, &d.messages);
            assert_true(d.at_messages >= ct_kernel_layout_bytes(n, &d.calls));
            assert_true(end <= bytes);
            assert_true(d.at_ll32 == 0 ||
                        (n <= CT_KERNEL_SPREAD + 1 && d.at_ll32 >= end &&
                         d.at_ll32 + ct_kernel_layout_bytes(n, &d.rows) <= bytes));
            if (bytes >= usual) {
                assert_true(ct_kernel_message_most(&d.messages, CT_KERNEL_BLOCKS) >= 16 << 10);
                assert_true(d.at_ll32 > 0 || n > CT_KERNEL_SPREAD + 1);
            }
        }
    }
    struct ct_kernel_division one;
    assert_int_equal(ct_kernel_divide(1, usual, &one), 0);
    assert_true(one.at_messages == 0 && one.at_ll32 == 0);
}

/* ---- what is short --------------------------------------------------------------------------- */

/* The longest call, in steps of 1 KiB. */
static size_t longest_short(uint32_t n, enum ct_kernel_shape shape, uint32_t blocks, bool rows)
{
    size_t kib = 64 << 10;
    while (kib > 0 && !ct_kernel_is_short(n, shape, kib << 10, blocks, rows)) {
        kib--;
    }
    return kib;
}

/* What few blocks take long for is left to direct kernels: no more than to more blocks, and no more
 * for each of them; 64 blocks have the limits that there are without a bound. */
static void few_blocks(void **state)
{
    static const uint32_t blocks[] = {1, 2, 3, 8, 16, 32, 63, 64};
    (void)state;
    for (uint32_t n = 2; n <= 5; n++) {
        for (int shape = CT_KERNEL_MOVED; shape <= CT_KERNEL_ALLREDUCED; shape++) {
            for (int rows = 0; rows < 2; rows++) {
                const size_t all = longest_short(n, shape, 0, rows);
                size_t       before = 0;
                for (size_t i = 0; i < CT_ARRAY_LEN(blocks); i++) {
                    const size_t found = longest_short(n, shape, blocks[i], rows);
                    assert_true(found >= before && found > 0);
                    assert_true(found * 64 <= ct_max_size(all, 768) * blocks[i]);
                    before = found;
                }
                assert_int_equal(before, all);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(abort_ends_waits), cmocka_unit_test(dynamic_limits),
        cmocka_unit_test(dynamic_abort),    cmocka_unit_test(fp8),
        cmocka_unit_test(last_block_says),  cmocka_unit_test(last_block_of_ll32_signals),
        cmocka_unit_test(division),         cmocka_unit_test(few_blocks),
    };
    module = world_module();
    return module == NULL ? 77 : cmocka_run_group_tests(tests, NULL, NULL);
}
