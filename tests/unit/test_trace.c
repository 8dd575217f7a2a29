/* SPDX-License-Identifier: BSD-3-Clause */
/* The trace of a process: what is recorded is what a reader of a dump sees, also after many calls
 * and with calls that are not over. */
#include "unit.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "trace/own.h"

static struct ct_process process;
static char              path[] = "/tmp/ctran-test-XXXXXX";
static CT_ALIGNED(8) char bytes[sizeof(struct ct_trace_segment)];

static uint32_t twice(const void *group, uint32_t rank)
{
    (void)group;
    return 2 * rank;
}

/* Members 0, 1, 3, 6, 10, ...: no two steps are alike. */
static uint32_t uneven(const void *group, uint32_t rank)
{
    (void)group;
    return rank * (rank + 1) / 2;
}

static void begin(const char *level)
{
    const struct ct_trace_identity who = {.job = "j", .host = "h", .rank = 4, .size = 100};
    memset(&process, 0, sizeof process);
    ct_log_init(&process.log, CT_LOG_WARN, "test");
    assert_int_equal(ct_config_load(&process.cfg, &process.log), CTRAN_SUCCESS);
    assert_int_equal(ct_config_set(&process.cfg, &process.log, "CTRAN_TRACE", level, CT_ORIGIN_SET),
                     CTRAN_SUCCESS);
    assert_int_equal(
        ct_config_set(&process.cfg, &process.log, "CTRAN_TRACE_DUMP", path, CT_ORIGIN_SET),
        CTRAN_SUCCESS);
    assert_int_equal(ct_trace_open(&process, &who), CTRAN_SUCCESS);
}

static void end(void)
{
    ct_trace_close(&process);
    ct_config_fini(&process.cfg);
}

/* Writes a dump and reads it. The rank follows the name of the file. */
static struct ct_trace_image dump(void)
{
    struct ct_trace_image image;
    char                  name[64], why[128] = "";
    ct_trace_dump(&process, "a test");
    (void)snprintf(name, sizeof name, "%s.4", path);
    int fd = open(name, O_RDONLY);
    assert_true(fd >= 0);
    const ssize_t n = read(fd, bytes, sizeof bytes);
    close(fd);
    unlink(name);
    assert_true(n > 0);
    assert_int_equal(ct_trace_image_read(&image, bytes, (size_t)n, why, sizeof why), (size_t)n);
    assert_string_equal(why, "");
    return image;
}

static struct ct_trace_comm *open_comm(uint64_t id, uint32_t n,
                                       uint32_t (*process_of)(const void *, uint32_t))
{
    const struct ct_trace_group g = {id, n, 2, NULL, process_of};
    return process.trace->ops->comm_open(process.trace, &g);
}

static struct ct_trace_call *call(struct ct_trace_comm *c, const char *name)
{
    const struct ct_trace_what what = {
        .name = name, .type = "CTRAN_INT", .op = "CTRAN_SUM", .bytes = 8, .root = 1, .flags = 1};
    return process.trace->ops->call_begin(process.trace, c, &what);
}

static void test_off(void **state)
{
    (void)state;
    begin("off");
    assert_null(process.trace);
    end();
}

static void test_call(void **state)
{
    struct ct_trace_comm c;
    struct ct_trace_call k;
    (void)state;
    begin("calls");
    struct ct_trace_comm *comm = open_comm(77, 5, twice);
    ct_trace_end(&process, call(comm, "ctran_bcast"), 0, true);
    struct ct_trace_call *open = call(comm, "ctran_allreduce");
    ct_trace_algorithm(&process, open, "ring");
    struct ct_trace_image image = dump();
    assert_int_equal(image.h.rank, 4);
    assert_int_equal(image.h.size, 100);
    assert_string_equal(image.h.why, "a test");
    assert_int_equal(image.h.table[CT_TRACE_COMMS].count, 1);
    assert_int_equal(image.h.table[CT_TRACE_CALLS].count, 2);
    assert_true(ct_trace_image_comm(&image, 0, &c));
    assert_int_equal(c.id, 77);
    assert_int_equal(c.started, 2);
    assert_int_equal(c.nruns, 1);
    assert_int_equal(ct_trace_comm_member(&c, 4), 8);
    assert_int_equal(ct_trace_comm_member(&c, 5), UINT32_MAX);
    assert_true(ct_trace_image_call(&image, 0, &k));
    assert_int_equal(k.state, CT_TRACE_CALL_OVER);
    assert_true(k.end >= k.start);
    assert_string_equal(ct_trace_image_name(&image, k.name), "ctran_bcast");
    assert_true(ct_trace_image_call(&image, 1, &k));
    assert_int_equal(k.state, CT_TRACE_CALL_STARTED);
    assert_int_equal(k.number, 1);
    assert_string_equal(ct_trace_image_name(&image, k.algorithm), "ring");
    assert_string_equal(ct_trace_image_name(&image, k.op), "CTRAN_SUM");
    assert_true(ct_trace_image_ns(&image, k.start) <= image.h.taken.mono_ns + 1000);
    end();
}

/* Members that fit into no few runs are left out; the number of members stays. */
static void test_runs(void **state)
{
    struct ct_trace_comm c;
    (void)state;
    begin("calls");
    (void)call(open_comm(1, 13, uneven), "ctran_bcast");
    struct ct_trace_image image = dump();
    assert_true(ct_trace_image_comm(&image, 0, &c));
    assert_int_equal(c.n, 13);
    assert_int_equal(c.nruns, 0);
    end();
}

/* A call that is not over keeps its entry, whatever comes after it. */
static void test_wrap(void **state)
{
    uint32_t started = 0, over = 0;
    uint64_t oldest = UINT64_MAX;
    (void)state;
    begin("times");
    struct ct_trace_comm *comm = open_comm(1, 3, twice);
    (void)call(comm, "ctran_iallreduce");
    for (int i = 0; i < 3 * CT_TRACE_MAX_CALLS; i++) {
        ct_trace_end(&process, call(comm, "ctran_bcast"), 0, false);
    }
    struct ct_trace_image image = dump();
    for (uint32_t i = 0; i < image.h.table[CT_TRACE_CALLS].count; i++) {
        struct ct_trace_call k;
        assert_true(ct_trace_image_call(&image, i, &k));
        started += k.state == CT_TRACE_CALL_STARTED;
        over += k.state == CT_TRACE_CALL_OVER;
        if (k.state == CT_TRACE_CALL_STARTED) {
            assert_int_equal(k.number, 0);
        } else {
            oldest = k.number < oldest ? k.number : oldest;
            assert_true(k.end >= k.start && k.end > 0);
        }
    }
    assert_int_equal(started, 1);
    assert_int_equal(over, CT_TRACE_MAX_CALLS - 1);
    assert_int_equal(oldest, 3 * CT_TRACE_MAX_CALLS - (CT_TRACE_MAX_CALLS - 1) + 1);
    assert_int_equal(image.h.lost, 0);
    end();
}

/* More calls under way than there is room for: they are counted, in the communicator too. */
static void test_full(void **state)
{
    (void)state;
    begin("calls");
    struct ct_trace_comm *comm = open_comm(1, 3, twice);
    for (int i = 0; i < CT_TRACE_MAX_CALLS; i++) {
        assert_non_null(call(comm, "ctran_ibcast"));
    }
    assert_null(call(comm, "ctran_ibcast"));
    struct ct_trace_image image = dump();
    struct ct_trace_comm  c;
    assert_int_equal(image.h.lost, 1);
    assert_true(ct_trace_image_comm(&image, 0, &c));
    assert_int_equal(c.started, CT_TRACE_MAX_CALLS + 1);
    end();
}

/* Communicators that are freed make room for others. */
static void test_comms(void **state)
{
    (void)state;
    begin("calls");
    struct ct_trace_comm *first = open_comm(1, 3, twice);
    for (int i = 1; i < CT_TRACE_MAX_COMMS; i++) {
        assert_non_null(open_comm(1 + (uint64_t)i, 3, twice));
    }
    assert_null(open_comm(1000, 3, twice));
    process.trace->ops->comm_close(process.trace, first);
    assert_ptr_equal(open_comm(1001, 3, twice), first);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_off),  cmocka_unit_test(test_call), cmocka_unit_test(test_runs),
        cmocka_unit_test(test_wrap), cmocka_unit_test(test_full), cmocka_unit_test(test_comms),
    };
    int fd = mkstemp(path);
    if (fd < 0) {
        return 77;
    }
    close(fd);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
