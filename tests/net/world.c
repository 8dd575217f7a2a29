/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks of world.h. */
#define CT_FOLDER "test"
#include "world.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pmi/pmi.h"

/* ---- checks ---------------------------------------------------------------------------------- */

static _Noreturn void give_up(void)
{
    (void)fflush(NULL);
    _exit(1);
}

void world_check(const struct world *w, bool ok, const char *what, const char *file, int line)
{
    if (!ok) {
        (void)fprintf(stderr, "%s:%d: %s, rank %u of %u: not so: %s\n", file, line, w->args->name,
                      w->me, w->n, what);
        give_up();
    }
}

void world_equal(const struct world *w, long long a, long long b, const char *what,
                 const char *file, int line)
{
    if (a != b) {
        (void)fprintf(stderr, "%s:%d: %s, rank %u of %u: not so: %s: %lld, %lld\n", file, line,
                      w->args->name, w->me, w->n, what, a, b);
        give_up();
    }
}

/* ---- the job --------------------------------------------------------------------------------- */

static struct world *world_of(struct ct_job *job)
{
    return CT_CONTAINER_OF(job, struct world, job);
}

static void arrive(struct world *w)
{
    w->meets++;
    atomic_fetch_add(&w->shared->arrived, 1);
}

static bool all_arrived(const struct world *w)
{
    return atomic_load(&w->shared->arrived) >= w->meets * w->n;
}

static int publish(struct ct_job *job, const void *record, size_t len_bytes)
{
    struct world        *w = world_of(job);
    struct world_record *mine = &w->shared->record[w->me];
    CHECK(w, len_bytes <= sizeof mine->bytes);
    memcpy(mine->bytes, record, len_bytes);
    mine->len_bytes = len_bytes;
    arrive(w);
    while (!all_arrived(w)) {
        sched_yield();
    }
    return CTRAN_SUCCESS;
}

static int meet(struct ct_job *job)
{
    (void)job;
    return CTRAN_SUCCESS;
}

static int lookup(struct ct_job *job, uint32_t id, const void **record, size_t *len_bytes)
{
    struct world *w = world_of(job);
    CHECK(w, id < w->n);
    *record = w->shared->record[id].bytes;
    *len_bytes = w->shared->record[id].len_bytes;
    return CTRAN_SUCCESS;
}

static int job_key(struct ct_job *job, struct ct_auth_key *key)
{
    (void)job;
    memset(key, 7, sizeof *key);
    return CTRAN_SUCCESS;
}

static void job_abort(struct ct_job *job, int status, const char *text)
{
    struct world *w = world_of(job);
    (void)fprintf(stderr, "rank %u aborts with %d: %s\n", w->me, status, text);
    give_up();
}

static void job_close(struct ct_job *job)
{
    (void)job;
}

static const struct ct_job_ops world_ops = {
    .name = "world",
    .publish = publish,
    .meet = meet,
    .lookup = lookup,
    .key = job_key,
    .abort = job_abort,
    .close = job_close,
};

/* ---- life ------------------------------------------------------------------------------------ */

static void configure(struct world *w)
{
    char settings[512], *save = NULL;
    for (int i = 0; i < CT_VAR_COUNT; i++) {
        unsetenv(ct_config_vars()[i].name);
    }
    unsetenv(CT_ENV_CONFIG);
    unsetenv(CT_ENV_SET);
    setenv("HOME", "/nonexistent", 1);
    ct_log_init(&w->p.log, w->args->spoil != NULL ? CT_LOG_NONE : CT_LOG_WARN, "conform");
    EQUAL(w, ct_config_load(&w->p.cfg, &w->p.log), CTRAN_SUCCESS);
    (void)snprintf(settings, sizeof settings, "%s", w->args->settings);
    for (char *s = strtok_r(settings, " ", &save); s != NULL; s = strtok_r(NULL, " ", &save)) {
        char *value = strchr(s, '=');
        CHECK(w, value != NULL);
        *value++ = '\0';
        EQUAL(w, ct_config_set(&w->p.cfg, &w->p.log, s, value, CT_ORIGIN_SET), CTRAN_SUCCESS);
    }
}

/* The transport under test is the one that leads to the other ranks. */
static void spoil(struct world *w)
{
    static struct ct_net_ops changed;
    for (unsigned i = 0; i < w->p.ep->nnets; i++) {
        struct ct_net *net = w->p.ep->nets[i];
        if (strcmp(net->ops->name, w->args->transport) == 0) {
            changed = *net->ops;
            w->args->spoil(&changed);
            net->ops = &changed;
        }
    }
}

static void live(struct world *w, void (*body)(struct world *w))
{
    const long ncpus = sysconf(_SC_NPROCESSORS_ONLN);
    configure(w);
    w->seed = (w->me + 1) * UINT64_C(0x9e3779b97f4a7c15);
    w->job = (struct ct_job){.ops = &world_ops,
                             .p = &w->p,
                             .id = "conform",
                             .host = "localhost",
                             .rank = w->me,
                             .size = w->n,
                             .local_index = w->me,
                             .nlocal = w->n,
                             .local_group = 7,
                             .ncpus = ncpus > 0 ? (uint32_t)ncpus : 1,
                             .met = true};
    ct_calibration_guess(&w->job.calibration);
    w->p.job = &w->job;
    EQUAL(w, ct_expose_init(&w->p), CTRAN_SUCCESS);
    EQUAL(w, ct_ep_init(&w->p), CTRAN_SUCCESS);
    if (w->args->spoil != NULL) {
        spoil(w);
    }
    body(w);
    ct_ep_fini(&w->p);
}

static bool ended_well(pid_t pid, bool is_victim)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0) {
    }
    return is_victim ? WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL
                     : WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool world_run(const struct world_args *args, uint32_t n, uint32_t victims,
               void (*body)(struct world *w))
{
    pid_t                pids[WORLD_MOST];
    struct world_shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || n > WORLD_MOST) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            struct world *w = calloc(1, sizeof *w);
            (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
            (void)alarm(args->limit_s != 0 ? args->limit_s : WORLD_LIMIT_S);
            *w = (struct world){.args = args, .shared = shared, .me = i, .n = n};
            live(w, body);
            _exit(0);
        }
    }
    bool ok = true;
    for (uint32_t i = 0; i < n; i++) {
        if (!ended_well(pids[i], (victims >> i & 1) != 0) && ok) {
            ok = false;
            for (uint32_t j = i + 1; j < n; j++) {
                (void)kill(pids[j], SIGKILL); /* it may wait for the one that has failed */
            }
        }
    }
    (void)munmap(shared, sizeof *shared);
    return ok;
}

/* ---- what cases use -------------------------------------------------------------------------- */

struct ct_ep *world_ep(struct world *w, uint32_t id)
{
    struct ct_ep *ep = ct_ep_get(&w->p, id);
    CHECK(w, ep != NULL);
    return ep;
}

void world_turn(struct world *w)
{
    if (!ct_domain_poke(&w->p)) {
        sched_yield();
    }
}

void world_meet(struct world *w)
{
    arrive(w);
    while (!all_arrived(w)) {
        world_turn(w);
    }
}

int world_wait(struct world *w, struct ct_net_comp *comp)
{
    while (comp->pending > 0) {
        world_turn(w);
    }
    const int status = comp->status;
    comp->status = CTRAN_SUCCESS;
    return status;
}

void *world_alloc(struct world *w, size_t len_bytes)
{
    void *at = w->args->memory == WORLD_SHARED ? ct_expose_alloc(&w->p, len_bytes, 64)
                                               : calloc(1, len_bytes);
    CHECK(w, at != NULL);
    return at;
}

void world_give(struct world *w, uint32_t slot, const void *bytes, size_t len)
{
    struct world_record *s = &w->shared->slot[w->me][slot];
    CHECK(w, slot < WORLD_SLOTS && len <= sizeof s->bytes);
    memcpy(s->bytes, bytes, len);
    s->len_bytes = len;
}

const struct world_record *world_take(const struct world *w, uint32_t from, uint32_t slot)
{
    return &w->shared->slot[from][slot];
}

uint64_t world_random(struct world *w)
{
    w->seed ^= w->seed << 13;
    w->seed ^= w->seed >> 7;
    w->seed ^= w->seed << 17;
    return w->seed * UINT64_C(0x2545f4914f6cdd1d) >> 16;
}
