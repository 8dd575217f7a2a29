/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a stream-ordered call by kernel costs on the host: which calls of the driver it makes, which
 * the emulated driver counts; and the order of calls on several streams.
 */
#include "check.h"
#include "gpu.h"

#include "api/api.h"
#include "mem/mem.h"
#include "stream/context.h"

enum { BYTES = 64, CALLS = 50 };

static CUstream stream;
static unsigned long (*calls_of)(const char *name);

enum what { BCAST, ALLREDUCE, SENDRECV, WHATS };

static void put_one(ctran_comm_t comm, char *buf, enum what what)
{
    const int right = (check_rank + 1) % check_size;
    const int left = (check_rank + check_size - 1) % check_size;
    if (what == ALLREDUCE) {
        OK(ctran_allreduce_enqueue(buf, buf + BYTES, BYTES / 4, CTRAN_INT, CTRAN_SUM, comm,
                                   stream));
    } else if (what == BCAST) {
        OK(ctran_bcast_enqueue(buf, BYTES, CTRAN_BYTE, 0, comm, stream));
    } else {
        OK(ctran_sendrecv_enqueue(buf, BYTES, CTRAN_BYTE, right, 0, buf + BYTES, BYTES, CTRAN_BYTE,
                                  left, 0, comm, stream));
    }
}

/* All that a call asks of the driver: how often each function, of a broadcast, of a reduction, and
 * of a send and a receive, which have two buffers. */
static const struct {
    const char *name;
    unsigned    times[WHATS];
} asked[] = {
    {"cuStreamGetCtx", {1, 1, 1}},         {"cuThreadExchangeStreamCaptureMode", {2, 2, 2}},
    {"cuCtxGetCurrent", {1, 1, 1}},        {"cuStreamGetCaptureInfo", {1, 1, 1}},
    {"cuPointerGetAttributes", {1, 2, 2}}, {"cuLaunchKernelEx", {1, 1, 1}},
};

static void cost(void)
{
    char *buf = device_new(2 * BYTES);
    for (int what = 0; what < WHATS; what++) {
        unsigned long before[LEN(asked)], all, sum = 0;
        ctran_comm_t  comm;
        OK(ctran_comm_dup(CTRAN_COMM_WORLD, &comm));
        put_one(comm, buf, what);
        CU(cuStreamSynchronize(stream));
        for (size_t i = 0; i < LEN(asked); i++) {
            before[i] = calls_of(asked[i].name);
        }
        all = calls_of(NULL);
        for (int i = 0; i < CALLS; i++) {
            put_one(comm, buf, what);
        }
        all = calls_of(NULL) - all;
        for (size_t i = 0; i < LEN(asked); i++) {
            const unsigned long found = calls_of(asked[i].name) - before[i];
            printf("%s: %.2f a call\n", asked[i].name, (double)found / CALLS);
            EXPECT_EQ(asked[i].times[what] * CALLS, found);
            sum += found;
        }
        EXPECT_EQ(sum, all); /* and no other */
        CU(cuStreamSynchronize(stream));
        OK(ctran_barrier(CTRAN_COMM_WORLD));
        OK(ctran_comm_free(&comm));
    }
    device_free(buf);
}

/* Calls take turns on streams, each needs the result of the one before; the first is held up until
 * all are there, or is not. */
static void order(void)
{
    enum { STREAMS = 3, TURNS = 20 };
    CUstream          streams[STREAMS];
    int              *buf = device_new((TURNS + 1) * sizeof *buf), found[TURNS + 1];
    _Atomic uint32_t *word = ct_mem_pinned_get(ct_api_process(), sizeof *word);
    EXPECT(word != NULL);
    for (int i = 0; i < STREAMS; i++) {
        streams[i] = device_stream();
    }
    for (int held = 0; held < 2; held++) {
        ctran_comm_t comm;
        OK(ctran_comm_dup(CTRAN_COMM_WORLD, &comm));
        OK(ctran_barrier_enqueue(comm, streams[0]));
        CU(cuStreamSynchronize(streams[0]));
        memset(found, 0, sizeof found);
        found[0] = 1;
        device_put(buf, found, sizeof found);
        atomic_store(word, (uint32_t)!held);
        CU(cuStreamWaitValue32(streams[0], (CUdeviceptr)word, 1, CU_STREAM_WAIT_VALUE_EQ));
        for (int i = 0; i < TURNS; i++) {
            OK(ctran_allreduce_enqueue(buf + i, buf + i + 1, 1, CTRAN_INT, CTRAN_MAX, comm,
                                       streams[i % STREAMS]));
        }
        atomic_store(word, 1);
        for (int i = 0; i < STREAMS; i++) {
            CU(cuStreamSynchronize(streams[i]));
        }
        device_get(found, buf, sizeof found);
        EXPECT_EQ(1, found[TURNS]);
        OK(ctran_barrier(CTRAN_COMM_WORLD));
        OK(ctran_comm_free(&comm));
    }
    for (int i = 0; i < STREAMS; i++) {
        CU(cuStreamDestroy(streams[i]));
    }
    ct_mem_pinned_put(ct_api_process(), (void *)word, sizeof *word);
    device_free(buf);
}

int main(int argc, char **argv)
{
    static const struct subject subjects[] = {{"cost", cost}, {"order", order}};
    void                       *found = NULL;
    check_start(argc, argv);
    if (!device_open()) {
        (void)check_end();
        return 77;
    }
    const CUresult r = cu->cuGetProcAddress("emu_calls", &found, 12000, 0, NULL);
    if (r != CUDA_SUCCESS || found == NULL) { /* a GPU's driver may say either */
        printf("the driver does not count its calls: it is not the emulated one\n");
        device_close();
        (void)check_end();
        return 77;
    }
    memcpy(&calls_of, &found, sizeof found);
    stream = device_stream();
    check_run(subjects, LEN(subjects));
    CU(cuStreamDestroy(stream));
    device_close();
    return check_end();
}
