/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What stream-ordered calls once did wrong: contexts that not all ranks could make, two threads'
 * first calls, errors that others did not hear of, calls that differ, what operations held for too
 * long, and GPUs that fail. stream.test runs it by copy engine and over the host.
 *
 * With the argument "apart" the last rank has no GPU; with "broken" all GPUs fail in the middle,
 * and the program ends all the same; with "late", where there are kernels, the last rank's work is
 * not over when the others finalize; with NAME=VALUE the first rank alone has this setting, by
 * which kernels are divided.
 */
#include <pthread.h>
#include <sched.h>

#include "stream_mends.h"

#include "api/api.h"
#include "mem/mem.h"

CUstream stream;

struct ct_process *process(void)
{
    return ct_api_process();
}

bool inject(const char *list)
{
    void *found = NULL;
    void (*set)(const char *);
    const CUresult r = cu->cuGetProcAddress("emu_inject", &found, 12000, 0, NULL);
    if (r != CUDA_SUCCESS || found == NULL) { /* a GPU's driver may say either */
        return false;
    }
    memcpy(&set, &found, sizeof found);
    set(list);
    return true;
}

ctran_comm_t open_comm(void)
{
    ctran_comm_t comm;
    OK(ctran_comm_dup(CTRAN_COMM_WORLD, &comm));
    OK(ctran_comm_set_errhandler(comm, CTRAN_ERRORS_RETURN));
    OK(ctran_barrier_enqueue(comm, stream));
    CU(cuStreamSynchronize(stream));
    OK(ctran_barrier(CTRAN_COMM_WORLD)); /* before anybody ends it */
    return comm;
}

void close_comm(ctran_comm_t *comm)
{
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    OK(ctran_comm_free(comm));
}

void settle(void)
{
    while (atomic_load(&process()->gpu->armed) > 0) {
        (void)sched_yield();
    }
}

bool is_direct(void)
{
    const char *direct = getenv("CTRAN_STREAM_DIRECT");
    return direct == NULL || strcmp(direct, "0") != 0;
}

/* ---- what is reduced ------------------------------------------------------------------------- */

static void add(void *in, void *inout, ctran_count_t *count, ctran_datatype_t *datatype)
{
    const int *from = (int *)in + 2;
    int       *to = (int *)inout + 2;
    (void)datatype;
    for (ctran_count_t i = 0; i < *count; i++) {
        to[i] += from[i];
    }
}

/* Elements that begin behind the address that the call is given. */
static void bounds(void)
{
    enum { N = 1000 };
    static const ctran_count_t behind[] = {2 * sizeof(int)}, one[] = {1};
    ctran_datatype_t           type;
    ctran_op_t                 op;
    int                        all[N + 2];
    int                       *from = device_new(sizeof all), *to = device_new(sizeof all);
    OK(ctran_type_create_hindexed(1, one, behind, CTRAN_INT, &type));
    OK(ctran_type_commit(&type));
    OK(ctran_op_create(add, 1, &op));
    for (int i = 0; i < N + 2; i++) {
        all[i] = i + check_rank;
    }
    device_put(from, all, sizeof all);
    device_set(to, 0, sizeof all);
    OK(ctran_allreduce_enqueue(from, to, N, type, op, CTRAN_COMM_WORLD, stream));
    CU(cuStreamSynchronize(stream));
    device_get(all, to, sizeof all);
    for (int i = 0; i < N + 2; i++) {
        EXPECT_EQ(i < 2 ? 0 : i * check_size + check_size * (check_size - 1) / 2, all[i]);
    }
    OK(ctran_op_free(&op));
    OK(ctran_type_free(&type));
    device_free(from);
    device_free(to);
}

/* ---- contexts -------------------------------------------------------------------------------- */

static int copies;

static int count_copy(ctran_comm_t comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm;
    (void)keyval;
    (void)extra;
    *(void **)out = in;
    *flag = 1;
    copies++;
    return CTRAN_SUCCESS;
}

/* What the library makes for itself is no duplicate of the program's. */
static void attributes(void)
{
    ctran_comm_t comm;
    int          keyval;
    OK(ctran_comm_create_keyval(count_copy, CTRAN_COMM_NULL_DELETE_FN, &keyval, NULL));
    OK(ctran_comm_dup(CTRAN_COMM_WORLD, &comm));
    OK(ctran_comm_set_attr(comm, keyval, &copies));
    OK(ctran_barrier_enqueue(comm, stream));
    CU(cuStreamSynchronize(stream));
    EXPECT_EQ(0, copies);
    OK(ctran_comm_free(&comm));
    OK(ctran_comm_free_keyval(&keyval));
}

/* A communicator's streams are of one device. A call on another's is refused before anything of it
 * is seen: the peer meets the next one. */
static void devices(void)
{
    struct ct_gpu      *g = process()->gpu;
    struct ct_gpu_visit v;
    int                 mine, error = -1;
    ctran_comm_t        comm = open_comm();
    char               *buf = device_new(64);
    EXPECT_EQ(CTRAN_SUCCESS, ct_gpu_mine(g, &mine));
    if (check_rank == 0 && check_size > 1 && ct_gpu_count(g) > 1) {
        EXPECT_EQ(CTRAN_SUCCESS, ct_gpu_enter(g, (mine + 1) % ct_gpu_count(g), &v));
        CUstream there = device_stream();
        EXPECT_RC(CTRAN_ERR_ARG, ctran_send_enqueue(buf, 64, CTRAN_BYTE, 1, 5, comm, there));
        CU(cuStreamSynchronize(there));
        CU(cuStreamDestroy(there));
        ct_gpu_leave(g, &v);
    }
    if (check_rank == 0 && check_size > 1) {
        OK(ctran_send_enqueue(buf, 64, CTRAN_BYTE, 1, 6, comm, stream));
    } else if (check_rank == 1) {
        OK(ctran_recv_enqueue(buf, 64, CTRAN_BYTE, 0, 6, comm, stream));
    }
    CU(cuStreamSynchronize(stream));
    OK(ctran_comm_get_async_error(comm, &error));
    EXPECT_EQ(CTRAN_SUCCESS, error);
    close_comm(&comm);
    device_free(buf);
}

/* Each of two threads makes the first call of a communicator of its own, and one of a common one:
 * all at once, so that either may be the one whose call makes the context. */
enum { THREADS = 2, CALLS = 8 };

struct caller {
    pthread_t    thread;
    CUstream     stream;
    ctran_comm_t own, common;
};

static void *call(void *arg)
{
    struct caller      *c = arg;
    struct ct_gpu      *g = process()->gpu;
    struct ct_gpu_visit v;
    int                 mine;
    EXPECT_EQ(CTRAN_SUCCESS, ct_gpu_mine(g, &mine));
    EXPECT_EQ(CTRAN_SUCCESS, ct_gpu_enter(g, mine, &v));
    OK(ctran_barrier_enqueue(c->common, c->stream));
    for (int i = 0; i < CALLS; i++) {
        OK(ctran_barrier_enqueue(c->own, c->stream));
    }
    CU(cuStreamSynchronize(c->stream));
    ct_gpu_leave(g, &v);
    return NULL;
}

static void threads(void)
{
    struct caller callers[THREADS];
    for (int round = 0; round < 10; round++) {
        ctran_comm_t common;
        OK(ctran_comm_dup(CTRAN_COMM_WORLD, &common));
        for (int i = 0; i < THREADS; i++) {
            callers[i].common = common;
            callers[i].stream = device_stream();
            OK(ctran_comm_dup(CTRAN_COMM_WORLD, &callers[i].own));
        }
        for (int i = 0; i < THREADS; i++) {
            EXPECT_EQ(0, pthread_create(&callers[i].thread, NULL, call, &callers[i]));
        }
        for (int i = 0; i < THREADS; i++) {
            EXPECT_EQ(0, pthread_join(callers[i].thread, NULL));
        }
        close_comm(&common);
        for (int i = 0; i < THREADS; i++) {
            OK(ctran_comm_free(&callers[i].own));
            CU(cuStreamDestroy(callers[i].stream));
        }
    }
}

/* ---- errors ---------------------------------------------------------------------------------- */

/* Rank 0 cannot copy what it sends to staging memory, which holds an older message. */
static void unstaged(void)
{
    enum { N = 50000 };
    static unsigned char host[N];
    ctran_comm_t         comm = open_comm();
    char                *buf = device_new(N);
    if (check_size < 2 || is_direct() || !inject("")) {
        close_comm(&comm);
        device_free(buf);
        return;
    }
    for (int time = 0; time < 2; time++) {
        device_set(buf, check_rank == 0 ? 1 + time : 0xee, N);
        OK(ctran_barrier(CTRAN_COMM_WORLD));
        if (check_rank == 0) {
            (void)inject(time == 1 ? "cuMemcpyAsync:1=999" : "");
            const int rc = ctran_send_enqueue(buf, N, CTRAN_BYTE, 1, 0, comm, stream);
            (void)inject("");
            EXPECT_EQ(time == 0, rc == CTRAN_SUCCESS);
        } else if (check_rank == 1) {
            const int rc = ctran_recv_enqueue(buf, N, CTRAN_BYTE, 0, 0, comm, stream);
            EXPECT(rc == CTRAN_SUCCESS || time == 1);
        }
        CU(cuStreamSynchronize(stream));
        device_get(host, buf, N);
        for (int i = 0; check_rank == 1 && i < N; i++) {
            EXPECT_EQ(time == 0 ? 1 : 0xee, host[i]);
        }
        OK(ctran_barrier(CTRAN_COMM_WORLD));
    }
    close_comm(&comm);
    device_free(buf);
}

/* What the driver refuses, it does not count as over, either: the call fails, what was before it
 * ends, and nothing waits for it. */
static void refused(void)
{
    static const char *const calls[] = {"cuLaunchKernelEx:2=2", "cuStreamBatchMemOp:2=2"};
    const int                next = (check_rank + 1) % check_size,
              before = (check_rank + check_size - 1) % check_size;
    int *buf = device_new(2 * sizeof *buf);
    for (size_t i = 0; check_size > 1 && inject("") && i < LEN(calls); i++) {
        ctran_comm_t comm = open_comm();
        int          rc = CTRAN_SUCCESS;
        (void)inject(calls[i]);
        for (int turn = 0; turn < 4 && rc == CTRAN_SUCCESS; turn++) {
            rc = i == 0
                     ? ctran_allreduce_enqueue(buf, buf + 1, 1, CTRAN_INT, CTRAN_SUM, comm, stream)
                     : ctran_sendrecv_enqueue(buf, 1, CTRAN_INT, next, 0, buf + 1, 1, CTRAN_INT,
                                              before, 0, comm, stream);
        }
        (void)inject("");
        CU(cuStreamSynchronize(stream));
        close_comm(&comm);
    }
    device_free(buf);
}

/* ---- what operations hold -------------------------------------------------------------------- */

/* Staging memory is used again, and memory of peers given up, long before a communicator has made
 * as many calls as it has records for. */
static void held(void)
{
    enum { N = 300000, CALLS_MADE = 100, FEW = 4 };
    const int           left = (check_rank + check_size - 1) % check_size;
    const int           right = (check_rank + 1) % check_size;
    ctran_comm_t        comm = open_comm();
    struct ct_mem_stats before, after;
    ct_mem_stats(process(), &before);
    for (int i = 0; i < CALLS_MADE; i++) {
        char *from = device_new(N), *to = device_new(N);
        OK(ctran_sendrecv_enqueue(from, N, CTRAN_BYTE, right, 0, to, N, CTRAN_BYTE, left, 0, comm,
                                  stream));
        CU(cuStreamSynchronize(stream));
        OK(ctran_barrier(CTRAN_COMM_WORLD));
        device_free(from);
        device_free(to);
    }
    settle();
    OK(ctran_barrier_enqueue(comm, stream)); /* frees what those before it held */
    CU(cuStreamSynchronize(stream));
    settle();
    ct_mem_sweep(process());
    ct_mem_stats(process(), &after);
    EXPECT((after.pinned_bytes - before.pinned_bytes) / N < FEW * 4);
    EXPECT((int64_t)after.imports <= process()->cfg.mem_imports);
    close_comm(&comm);
}

/* Workspaces of kernels are unmapped once all ranks have freed their communicator. A rank that was
 * not the last to do so sees it when it frees the next one. */
static void unmapped(void)
{
    enum { TIMES = 5 };
    struct ct_mem_stats before, after;
    ctran_comm_t        comm = open_comm(); /* whose pieces for trials stay mapped */
    close_comm(&comm);
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    settle();
    ct_mem_sweep(process());
    ct_mem_stats(process(), &before);
    for (int i = 0; i < TIMES; i++) {
        comm = open_comm();
        settle();
        close_comm(&comm);
        OK(ctran_barrier(CTRAN_COMM_WORLD));
    }
    ct_mem_stats(process(), &after);
    EXPECT(after.imports <= before.imports + (uint64_t)check_size - 1); /* of the last one */
    EXPECT(after.regs <= before.regs + 1);
}

/* What a graph keeps goes, at the communicator's next call, when the driver says that the graph has
 * gone; that there may be others, which keep nothing, the process knows until the communicator's
 * end. */
static void one_graph(size_t bytes, bool keeps)
{
    const size_t   all = bytes * (size_t)check_size;
    char          *buf = device_new(2 * all);
    ctran_comm_t   comm = open_comm();
    struct ct_gpu *g = process()->gpu;
    CUgraph        graph;
    CUgraphExec    exec;
    settle();
    EXPECT_EQ(0, atomic_load(&g->graphs) + atomic_load(&g->quick));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(ctran_alltoall_enqueue(buf, (ctran_count_t)bytes, CTRAN_BYTE, buf + all,
                              (ctran_count_t)bytes, CTRAN_BYTE, comm, stream));
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiate(&exec, graph, 0));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    EXPECT(atomic_load(&g->graphs) + atomic_load(&g->quick) > 0);
    if (keeps && check_size > 1) {
        EXPECT(atomic_load(&g->graphs) > 0);
        EXPECT_EQ(0, atomic_load(&g->quick)); /* so the process can be quiet again before */
    }
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    while (atomic_load(&g->graphs) > 0) { /* the driver says so in its time */
        OK(ctran_group_start());
        OK(ctran_send_enqueue(buf, 8, CTRAN_BYTE, check_rank, 0, comm, stream));
        OK(ctran_recv_enqueue(buf + 8, 8, CTRAN_BYTE, check_rank, 0, comm, stream));
        OK(ctran_group_end());
    }
    CU(cuStreamSynchronize(stream));
    settle();
    close_comm(&comm);
    EXPECT_EQ(0, atomic_load(&g->quick));
    device_free(buf);
}

static void graphs(void)
{
    one_graph(1 << 12, false); /* by a kernel, where there are some */
    one_graph(4 << 20, true);
}

/* How often the stream thread has gone to sleep. */
static long naps(void)
{
    long  found = -1;
    char  line[256];
    FILE *list = popen("grep -l '^ctran-stream$' /proc/$PPID/task/*/comm", "r");
    EXPECT(list != NULL && fgets(line, sizeof line, list) != NULL);
    EXPECT_EQ(0, pclose(list));
    char *end = strrchr(line, '/');
    EXPECT(end != NULL);
    strcpy(end, "/status");
    FILE *status = fopen(line, "r");
    EXPECT(status != NULL);
    while (fgets(line, sizeof line, status) != NULL) {
        (void)sscanf(line, "voluntary_ctxt_switches: %ld", &found);
    }
    fclose(status);
    EXPECT(found >= 0);
    return found;
}

/* The stream thread hardly wakes while no operation is under way, also when the last one's staging
 * memory has not been given back. */
static void idle(void)
{
    enum { LOOK_MS = 200, NAP_MS = 2 };
    char        *buf = device_new(64);
    ctran_comm_t comm = open_comm();
    OK(ctran_allreduce_enqueue(buf, buf + 32, 4, CTRAN_INT, CTRAN_SUM, comm, stream));
    CU(cuStreamSynchronize(stream));
    settle();
    const long     begin = naps();
    const uint64_t start = ct_clock_ns();
    while (ct_clock_ns() - start < (uint64_t)LOOK_MS * CT_NS_PER_MS) {
        (void)sched_yield();
    }
    const long     woken = naps() - begin;
    const uint64_t ms = (ct_clock_ns() - start) / CT_NS_PER_MS;
    EXPECT(woken <= (long)ms / NAP_MS + 20);
    close_comm(&comm);
    device_free(buf);
}

/* ---- GPUs that fail -------------------------------------------------------------------------- */

enum { PIECE = 2 << 20 };

/* Memory that will be unmapped while a copy from it is waiting for its turn. */
static CUdeviceptr map_piece(int device)
{
    const CUmemAllocationProp    prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                         .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
    const CUmemAccessDesc        access = {prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr                  at;
    CU(cuMemCreate(&handle, PIECE, &prop, 0));
    CU(cuMemAddressReserve(&at, PIECE, 0, 0, 0));
    CU(cuMemMap(at, PIECE, 0, handle, 0));
    CU(cuMemSetAccess(at, PIECE, &access, 1));
    CU(cuMemRelease(handle));
    return at;
}

/* The GPU fails before operations that are on the stream, and their communicator is freed: neither
 * that nor the end of the program waits for what never comes. */
static void broken(void)
{
    enum { OPERATIONS = 20, N = 10000 };
    ctran_comm_t      comm = open_comm();
    char             *from = device_new(N), *to = device_new(N);
    _Atomic uint32_t *word = ct_mem_pinned_get(process(), sizeof *word);
    int               mine;
    EXPECT(word != NULL);
    EXPECT_EQ(CTRAN_SUCCESS, ct_gpu_mine(process()->gpu, &mine));
    const CUdeviceptr gone = map_piece(mine);
    atomic_store(word, 0);
    CU(cuStreamWaitValue32(stream, (CUdeviceptr)word, 1, CU_STREAM_WAIT_VALUE_EQ));
    CU(cuMemcpyAsync((CUdeviceptr)to, gone, N, stream));
    for (int i = 0; i < OPERATIONS; i++) {
        OK(ctran_allgather_enqueue(from, N / check_size, CTRAN_BYTE, to, N / check_size, CTRAN_BYTE,
                                   comm, stream));
    }
    OK(ctran_barrier(CTRAN_COMM_WORLD)); /* none ends the others' work before they have enqueued */
    CU(cuMemUnmap(gone, PIECE));
    atomic_store(word, 1);
    OK(ctran_comm_free(&comm));
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    printf("ended\n");
}

/* ---- the end of the world -------------------------------------------------------------------- */

/* The root of a broadcast by kernel is through with it at once; the last rank's kernel, which has
 * yet to begin, will write into the root's workspace that it is. So the root, in ctran_finalize,
 * has to stay with all that it has mapped until the last rank has come there, too; which does not
 * come before the root has said that its own work is over. */
static void late(void)
{
    enum { N = 64, LIMIT_MS = 60000 };
    const int         root = 0, last = check_size - 1;
    char             *buf = device_new(N);
    _Atomic uint32_t *word = ct_mem_pinned_get(process(), sizeof *word);
    unsigned char     found[N];
    OK(ctran_barrier_enqueue(CTRAN_COMM_WORLD, stream));
    CU(cuStreamSynchronize(stream));
    EXPECT(word != NULL);
    atomic_store(word, 0);
    device_set(buf, check_rank == root ? 7 : 0, N);
    if (check_rank == last) {
        CU(cuStreamWaitValue32(stream, (CUdeviceptr)word, 1, CU_STREAM_WAIT_VALUE_EQ));
    }
    OK(ctran_bcast_enqueue(buf, N, CTRAN_BYTE, root, CTRAN_COMM_WORLD, stream));
    if (check_rank != last) {
        return;
    }
    const _Atomic uint32_t *left = &ct_comm_world(process())->stream->tokens.head->left;
    const uint64_t          end_ns = ct_clock_ns() + LIMIT_MS * (uint64_t)CT_NS_PER_MS;
    while ((atomic_load(left) & 1u << root) == 0) {
        EXPECT(ct_clock_ns() < end_ns);
        (void)sched_yield();
    }
    atomic_store(word, 1);
    CU(cuStreamSynchronize(stream));
    device_get(found, buf, N);
    EXPECT_EQ(7, found[N - 1]);
    printf("late\n");
}

int main(int argc, char **argv)
{
    static const struct subject subjects[] = {
        {"bounds", bounds},
        {"attributes", attributes},
        {"devices", devices},
        {"threads", threads},
        {"told", told},
        {"unreachable", unreachable},
        {"refused_alone", refused_alone},
        {"unlike", unlike},
        {"small_and_counted", small_and_counted},
        {"in_step", in_step},
        {"unstaged", unstaged},
        {"refused", refused},
        {"held", held},
        {"graphs", graphs},
        {"unmapped", unmapped},
        {"idle", idle},
    };
    const char *way = argc > 1 ? argv[1] : "";
    const char *rank = getenv("PMIX_RANK");
    const bool  apart = strcmp(way, "apart") == 0, other = strchr(way, '=') != NULL;
    if (apart && rank != NULL && strcmp(rank, "0") == 0) {
        setenv("CTRAN_GPU", "off", 1);
    }
    if (other && rank != NULL && strcmp(rank, "0") == 0) {
        EXPECT_EQ(0, putenv(argv[1]));
    }
    check_start_threads(1, argv, CTRAN_THREAD_MULTIPLE);
    if (apart && check_rank == 0) {
        OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_RETURN));
        EXPECT_RC(CTRAN_ERR_UNSUPPORTED_OPERATION, ctran_barrier_enqueue(CTRAN_COMM_WORLD, NULL));
        return check_end();
    }
    if (!device_open()) {
        (void)check_end();
        return 77;
    }
    stream = device_stream();
    if (apart) {
        OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_RETURN));
        EXPECT_RC(CTRAN_ERR_UNSUPPORTED_OPERATION, ctran_barrier_enqueue(CTRAN_COMM_WORLD, stream));
    } else if (other) {
        OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_RETURN));
        EXPECT_RC(CTRAN_ERR_CONFIG, ctran_barrier_enqueue(CTRAN_COMM_WORLD, stream));
    } else if (strcmp(way, "late") == 0) {
        late();
        return check_end(); /* the last rank's kernels are over, the others' may not be */
    } else if (strcmp(way, "broken") == 0) {
        broken();
        return check_end(); /* nothing can be given back to the driver any more */
    } else {
        check_run(subjects, LEN(subjects));
    }
    CU(cuStreamDestroy(stream));
    device_close();
    return check_end();
}
