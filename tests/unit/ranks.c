/* SPDX-License-Identifier: BSD-3-Clause */
/* The harness of ranks.h. */
#define CT_FOLDER "unit"
#include "ranks.h"

#include <pthread.h>
#include <stdatomic.h>

#include "ep/ep_set.h"

struct record {
    void  *bytes;
    size_t len_bytes;
};

struct ranks {
    const struct ranks_args *args;
    struct rank             *rank;
    struct record           *records;
    pthread_barrier_t        barrier;
};

/* ---- checks ---------------------------------------------------------------------------------- */

static _Noreturn void give_up(void)
{
    fflush(NULL);
    _exit(1);
}

void rank_check(const struct rank *r, bool ok, const char *what, const char *file, int line)
{
    if (!ok) {
        fprintf(stderr, "%s:%d: rank %u of %u: not so: %s\n", file, line, r->me, r->n, what);
        give_up();
    }
}

void rank_equal(const struct rank *r, long long a, long long b, const char *what, const char *file,
                int line)
{
    if (a != b) {
        fprintf(stderr, "%s:%d: rank %u of %u: not so: %s: %lld, %lld\n", file, line, r->me, r->n,
                what, a, b);
        give_up();
    }
}

void rank_logged(const struct rank *r, const char *part, const char *file, int line)
{
    const char *text = unit_logged(&r->p.log);
    if (strstr(text, part) == NULL) {
        fprintf(stderr, "%s:%d: rank %u of %u: \"%s\" was not logged, but \"%s\"\n", file, line,
                r->me, r->n, part, text);
        give_up();
    }
}

/* ---- the job --------------------------------------------------------------------------------- */

static struct rank *rank_of(struct ct_job *job)
{
    return CT_CONTAINER_OF(job, struct rank, job);
}

static int ranks_publish(struct ct_job *job, const void *record, size_t len_bytes)
{
    struct rank   *r = rank_of(job);
    struct record *mine = &r->all->records[r->me];
    mine->bytes = malloc(len_bytes);
    mine->len_bytes = len_bytes;
    RANK_CHECK(r, mine->bytes != NULL);
    memcpy(mine->bytes, record, len_bytes);
    if (r->all->args->tamper != NULL) {
        r->all->args->tamper(r->me, mine->bytes, len_bytes);
    }
    ranks_sync(r);
    return CTRAN_SUCCESS;
}

/* They have, when they publish. */
static int ranks_meet(struct ct_job *job)
{
    (void)job;
    return CTRAN_SUCCESS;
}

static int ranks_lookup(struct ct_job *job, uint32_t id, const void **record, size_t *len_bytes)
{
    struct rank *r = rank_of(job);
    RANK_CHECK(r, id < r->n);
    *record = r->all->records[id].bytes;
    *len_bytes = r->all->records[id].len_bytes;
    return CTRAN_SUCCESS;
}

static void ranks_abort(struct ct_job *job, int status, const char *text)
{
    fprintf(stderr, "rank %u aborts with %d: %s\n", rank_of(job)->me, status, text);
    give_up();
}

static void ranks_close(struct ct_job *job)
{
    (void)job;
}

static const struct ct_job_ops ranks_ops = {
    .name = "ranks",
    .publish = ranks_publish,
    .meet = ranks_meet,
    .lookup = ranks_lookup,
    .abort = ranks_abort,
    .close = ranks_close,
};

/* ---- life ------------------------------------------------------------------------------------ */

/* Settings of whoever runs the test are none of its business. */
static void clear_environment(void)
{
    for (int i = 0; i < CT_VAR_COUNT; i++) {
        unsetenv(ct_config_vars()[i].name);
    }
    unsetenv(CT_ENV_CONFIG);
    unsetenv(CT_ENV_SET);
    setenv("HOME", "/nonexistent", 1);
}

static void apply(struct rank *r, const char *const *s)
{
    for (; s != NULL && s[0] != NULL; s += 2) {
        RANK_EQUAL(r, ct_config_set(&r->p.cfg, &r->p.log, s[0], s[1], CT_ORIGIN_SET),
                   CTRAN_SUCCESS);
    }
}

/* Messages of 4 KiB are long here, so that tests of long ones need not be. */
static void configure(struct rank *r)
{
    static const char *const all[] = {"CTRAN_TRANSPORTS", "self,shm", "CTRAN_EAGER_LIMIT", "4K",
                                      NULL};
    unit_log_init(&r->p.log, CT_LOG_WARN);
    RANK_EQUAL(r, ct_config_load(&r->p.cfg, &r->p.log), CTRAN_SUCCESS);
    apply(r, all);
    apply(r, r->all->args->settings);
}

static void bring_up(struct rank *r)
{
    long ncpus = sysconf(_SC_NPROCESSORS_ONLN);
    configure(r);
    r->p.threaded = r->all->args->threaded;
    r->job = (struct ct_job){
        .ops = &ranks_ops,
        .p = &r->p,
        .id = "ranks",
        .host = "localhost",
        .rank = r->me,
        .size = r->n,
        .local_index = r->me,
        .nlocal = r->n,
        .local_group = 7,
        .ncpus = ncpus > 0 ? (uint32_t)ncpus : 1,
        .met = true,
    };
    ct_calibration_guess(&r->job.calibration);
    r->job.calibration.caches.private_bytes = 2 << 20; /* lengths in tests go by that */
    r->p.job = &r->job;
    RANK_EQUAL(r, ct_policy_init(&r->p), CTRAN_SUCCESS);
    RANK_EQUAL(r, ct_ep_init(&r->p), CTRAN_SUCCESS);
    RANK_EQUAL(r, ct_p2p_init(&r->p), CTRAN_SUCCESS);
    RANK_EQUAL(r, ct_run_init(&r->p), CTRAN_SUCCESS);
    RANK_EQUAL(r, ct_comm_init(&r->p), CTRAN_SUCCESS);
    RANK_EQUAL(r, ct_comm_world_open(&r->p), CTRAN_SUCCESS);
}

static void take_down(struct rank *r)
{
    ct_comm_fini(&r->p);
    ct_run_fini(&r->p);
    ct_p2p_fini(&r->p);
    ct_ep_fini(&r->p);
    ct_job_close(&r->p);
    ct_policy_fini(&r->p);
    const char *text = unit_logged(&r->p.log);
    if (text[0] != '\0') {
        fprintf(stderr, "rank %u of %u has logged:\n%s", r->me, r->n, text);
        give_up();
    }
    ct_config_fini(&r->p.cfg);
    ct_log_fini(&r->p.log);
}

static void *live(void *arg)
{
    struct rank *r = arg;
    bring_up(r);
    ranks_sync(r); /* a message may come before its handler otherwise */
    r->all->args->body(r, r->all->args->arg);
    ranks_sync(r); /* others may still touch this rank's segment */
    take_down(r);
    return NULL;
}

void ranks_run(const struct ranks_args *args)
{
    struct ranks all = {.args = args};
    pthread_t   *threads = calloc(args->n, sizeof *threads);
    all.rank = calloc(args->n, sizeof *all.rank);
    all.records = calloc(args->n, sizeof *all.records);
    assert_true(threads != NULL && all.rank != NULL && all.records != NULL);
    assert_int_equal(pthread_barrier_init(&all.barrier, NULL, args->n), 0);
    clear_environment();
    for (uint32_t i = 0; i < args->n; i++) {
        all.rank[i].all = &all;
        all.rank[i].me = i;
        all.rank[i].n = args->n;
        all.rank[i].seed = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    }
    for (uint32_t i = 0; i < args->n; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, live, &all.rank[i]), 0);
    }
    for (uint32_t i = 0; i < args->n; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        free(all.records[i].bytes);
    }
    pthread_barrier_destroy(&all.barrier);
    free(all.records);
    free(all.rank);
    free(threads);
}

/* ---- what bodies use ------------------------------------------------------------------------- */

void ranks_sync(struct rank *r)
{
    int rc = pthread_barrier_wait(&r->all->barrier);
    RANK_CHECK(r, rc == 0 || rc == PTHREAD_BARRIER_SERIAL_THREAD);
}

struct rank *ranks_of(struct rank *r, uint32_t id)
{
    RANK_CHECK(r, id < r->n);
    return &r->all->rank[id];
}

void ranks_drive_until(struct rank *r, _Atomic bool *flag)
{
    struct ct_wait pace = {0};
    ct_domain_enter(&r->p);
    while (!atomic_load(flag)) {
        ct_waiter_turn_(&r->p, &pace);
    }
    ct_domain_leave(&r->p);
}

struct ct_ep *ranks_ep(struct rank *r, uint32_t id)
{
    struct ct_ep *ep = ct_ep_get(&r->p, id);
    RANK_CHECK(r, ep != NULL);
    return ep;
}

int ranks_send(struct rank *r, uint32_t to, struct ct_ep_op *op)
{
    ct_domain_enter(&r->p);
    int rc = ct_ep_send(ranks_ep(r, to), op);
    ct_domain_leave(&r->p);
    return rc;
}

void ranks_fail(struct rank *r, uint32_t id, int why)
{
    ct_domain_enter(&r->p);
    ct_ep_fail(ranks_ep(r, id), why);
    ct_domain_leave(&r->p);
}

struct ct_shm_segment ranks_segment(struct rank *r, uint32_t id)
{
    const void           *record, *bytes;
    size_t                record_len, len;
    struct ct_shm_addr    addr;
    struct ct_shm_segment seg;
    RANK_EQUAL(r, r->job.ops->lookup(&r->job, id, &record, &record_len), CTRAN_SUCCESS);
    bytes = ct_ep_record_find(record, record_len, "shm", &len);
    RANK_CHECK(r, bytes != NULL && len == sizeof addr);
    memcpy(&addr, bytes, sizeof addr);
    RANK_EQUAL(r, ct_shm_segment_attach(r->p.ep->env.log, &addr, &seg), CTRAN_SUCCESS);
    return seg; /* shared by address: there is nothing to close */
}

size_t ranks_max_payload(struct rank *r, uint32_t to)
{
    ct_domain_enter(&r->p);
    size_t most = ct_ep_max_payload(ranks_ep(r, to));
    ct_domain_leave(&r->p);
    return most;
}

bool ranks_drained(struct rank *r)
{
    ct_domain_enter(&r->p);
    bool drained = ct_ep_drained(&r->p);
    ct_domain_leave(&r->p);
    return drained;
}

int ranks_sum(struct ct_comm *comm, const uint64_t *in, uint64_t *out, size_t n)
{
    struct ct_coll c;
    ct_coll_init(&c, comm, NULL);
    ct_coll_allreduce(&c, in, out, n, ct_dtype_get(CTRAN_UINT64_T), ct_op_get(CTRAN_SUM));
    return ct_coll_run(&c);
}
