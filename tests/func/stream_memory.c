/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much of a GPU's memory a communicator takes: none before its first stream-ordered call, and
 * not more than a bound after an allreduce. Prints both, of a process's first communicator that
 * makes such calls and of the next one. By the driver's own count, which is of the whole GPU: no
 * other program may use it, and a rank has it alone.
 */
#include "check.h"
#include "gpu.h"

enum { MIB = 1 << 20, MOST_MIB = 64, COUNT = 8 * MIB / (int)sizeof(float) };

static CUstream stream;
static float   *from, *to;

static size_t used(void)
{
    size_t available, total;
    CU(cuMemGetInfo(&available, &total));
    return total - available;
}

/* Bytes that are used since `before` was; 0 if there are fewer. */
static size_t since(size_t before)
{
    const size_t now = used();
    return now > before ? now - before : 0;
}

static void expect_taken(const char *which)
{
    static float out[COUNT];
    ctran_comm_t comm;
    const size_t before = used();
    OK(ctran_comm_dup(CTRAN_COMM_WORLD, &comm));
    OK(ctran_barrier(comm));
    const size_t unused = since(before);
    device_set(to, 0, sizeof out);
    for (int n = 1; n <= COUNT; n *= 64) { /* each way that sizes may choose */
        OK(ctran_allreduce_enqueue(from, to, n, CTRAN_FLOAT, CTRAN_SUM, comm, stream));
    }
    OK(ctran_allreduce_enqueue(from, to, COUNT, CTRAN_FLOAT, CTRAN_SUM, comm, stream));
    CU(cuStreamSynchronize(stream));
    const size_t after = since(before);
    if (check_rank == 0) {
        printf("GPU memory of the %s communicator: %zu bytes before its first use, %.1f MiB after "
               "an allreduce\n",
               which, unused, (double)after / MIB);
    }
    device_get(out, to, sizeof out);
    for (int i = 0; i < COUNT; i += 1001) {
        EXPECT_EQ(check_size, (long long)out[i]);
    }
    EXPECT_EQ(0, unused);
    EXPECT(after <= (size_t)MOST_MIB * MIB);
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    OK(ctran_comm_free(&comm));
}

/* Each communicator may take as much; when it is freed, others have it. */
static void many(void)
{
    enum { TIMES = 20 };
    const size_t before = used();
    for (int i = 0; i < TIMES; i++) {
        ctran_comm_t comm;
        OK(ctran_comm_dup(CTRAN_COMM_WORLD, &comm));
        OK(ctran_allreduce_enqueue(from, to, COUNT, CTRAN_FLOAT, CTRAN_SUM, comm, stream));
        CU(cuStreamSynchronize(stream));
        OK(ctran_barrier(CTRAN_COMM_WORLD));
        OK(ctran_comm_free(&comm));
    }
    EXPECT(since(before) <= (size_t)MOST_MIB * MIB);
}

int main(int argc, char **argv)
{
    check_start(argc, argv);
    if (!device_open()) {
        (void)check_end();
        return 77;
    }
    stream = device_stream();
    from = device_new(COUNT * sizeof *from);
    to = device_new(COUNT * sizeof *to);
    float *ones = malloc(COUNT * sizeof *ones);
    EXPECT(ones != NULL);
    for (int i = 0; i < COUNT; i++) {
        ones[i] = 1;
    }
    device_put(from, ones, COUNT * sizeof *ones);
    expect_taken("first");
    expect_taken("second");
    many();
    free(ones);
    device_free(from);
    device_free(to);
    CU(cuStreamDestroy(stream));
    device_close();
    return check_end();
}
