/* SPDX-License-Identifier: BSD-3-Clause */
/* Which algorithm runs; see select.h. */
#define CT_FOLDER "coll"
#include <stdlib.h>

#include "base/lock.h"
#include "coll/coll.h"
#include "pmi/pmi.h"

/* What the variables say, for all communicators. */
struct ct_policy {
    struct ct_lock    making; /* a chooser: two threads may start requests of one communicator */
    struct ct_tuning *tuning;
    struct ct_tuning *fixed; /* NULL: not CTRAN_REPRODUCIBLE */
    struct ct_pick    forced[CT_COLL_KINDS];
};

/* A row in a communicator of known shape: what is left to ask is bytes and shm. */
struct option {
    size_t                least, most; /* bytes */
    bool                  shm;
    struct ct_pick        pick;
    const struct ct_rule *rule;
};

/* One allocation; see ct_chooser_drop. */
struct ct_chooser {
    struct ct_ref     refs;
    struct ct_shape   shape;
    enum ct_choice_by forced_by[CT_COLL_KINDS];
    struct ct_pick    forced[CT_COLL_KINDS];
    uint16_t          begin[CT_COLL_KINDS + 1]; /* as in struct ct_tuning */
    struct option     option[];
};

/* ---- what the variables say ------------------------------------------------------------------ */

static int load_tuning(struct ct_process *p, struct ct_policy *policy)
{
    char        why[1024] = "";
    const char *path = p->cfg.coll_tuning;
    int         rc;
    if (path[0] != '\0') {
        rc = ct_tuning_read(&policy->tuning, path, why, sizeof why);
    } else {
        rc = ct_tuning_parse(&policy->tuning, ct_tuning_default, "built-in table", why, sizeof why);
    }
    if (rc == CTRAN_SUCCESS && p->cfg.reproducible) {
        rc = ct_tuning_parse(&policy->fixed, ct_tuning_reproducible, "table of CTRAN_REPRODUCIBLE",
                             why, sizeof why);
    }
    if (rc == CTRAN_ERR_CONFIG) {
        ct_error(&p->log, "CTRAN_COLL_TUNING: %s", why);
    }
    return rc;
}

static int load_forced(struct ct_process *p, struct ct_policy *policy)
{
    char why[1024] = "";
    if (!ct_forced_parse(p->cfg.coll_algorithm, policy->forced, why, sizeof why)) {
        ct_error(&p->log,
                 "CTRAN_COLL_ALGORITHM=\"%s\": %s; expected a list like "
                 "allreduce:ring,bcast:knomial:4",
                 p->cfg.coll_algorithm, why);
        return CTRAN_ERR_CONFIG;
    }
    for (uint32_t c = 1; p->cfg.reproducible && ct_algo_coll_name(c) != NULL; c <<= 1) {
        if ((c & CT_SUMS) != 0 && policy->forced[ct_coll_index(c)].algo != NULL) {
            ct_warn(&p->log,
                    "CTRAN_COLL_ALGORITHM names an algorithm for %s, which does not count with "
                    "CTRAN_REPRODUCIBLE=1",
                    ct_algo_coll_name(c));
        }
    }
    return CTRAN_SUCCESS;
}

int ct_policy_init(struct ct_process *p)
{
    ct_policy_fini(p);
    p->policy = calloc(1, sizeof *p->policy);
    if (p->policy == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    ct_lock_init(&p->policy->making, p->threaded);
    int rc = load_tuning(p, p->policy);
    rc = rc == CTRAN_SUCCESS ? load_forced(p, p->policy) : rc;
    rc = rc == CTRAN_SUCCESS && !ct_coll_levels_check(p) ? CTRAN_ERR_CONFIG : rc;
    if (rc == CTRAN_SUCCESS) {
        p->tuning_digest = p->policy->tuning->digest;
    } else {
        ct_policy_fini(p);
    }
    return rc;
}

void ct_policy_set_threaded(struct ct_process *p)
{
    ct_lock_set(&p->policy->making, p->threaded);
}

void ct_policy_fini(struct ct_process *p)
{
    if (p->policy != NULL) {
        ct_tuning_free(p->policy->tuning);
        ct_tuning_free(p->policy->fixed);
        ct_lock_fini(&p->policy->making);
        free(p->policy);
        p->policy = NULL;
    }
}

static bool is_fixed(const struct ct_process *p, uint32_t coll)
{
    return p->policy->fixed != NULL && (coll & CT_SUMS) != 0;
}

const struct ct_tuning *ct_policy_tuning(const struct ct_process *p, uint32_t coll)
{
    return is_fixed(p, coll) ? p->policy->fixed : p->policy->tuning;
}

/* ---- what a communicator's shape leaves of it ------------------------------------------------ */

static bool within(const struct ct_rule *r, enum ct_fact f, uint64_t value)
{
    return value >= r->least[f] && value <= r->most[f];
}

static bool may_hold(const struct ct_rule *r, const struct ct_shape *shape)
{
    const bool by_level = (r->pick.algo->traits & CT_BY_LEVEL) != 0;
    return within(r, CT_FACT_RANKS, shape->n) && within(r, CT_FACT_NODES, shape->nodes) &&
           within(r, CT_FACT_LOCAL, shape->local) && (!by_level || shape->levels != NULL);
}

/* The limit on `total` is one on bytes, too. */
static struct option option_of(const struct ct_rule *r, const struct ct_shape *shape)
{
    size_t least = ct_div_up(r->least[CT_FACT_TOTAL], shape->n);
    size_t most = r->most[CT_FACT_TOTAL] / shape->n;
    if (r->most[CT_FACT_TOTAL] == UINT64_MAX) {
        most = SIZE_MAX;
    }
    return (struct option){.least = ct_max_size(least, r->least[CT_FACT_BYTES]),
                           .most = ct_min_size(most, r->most[CT_FACT_BYTES]),
                           .shm = r->shm,
                           .pick = r->pick,
                           .rule = r};
}

/* Writes the rows of bit k that may hold to `out`, unless it is NULL, and counts them. */
static uint32_t sift(const struct ct_tuning *t, unsigned k, const struct ct_shape *shape,
                     struct option *out)
{
    uint32_t n = 0;
    for (uint32_t i = t->begin[k]; i < t->begin[k + 1]; i++) {
        if (may_hold(&t->rule[i], shape)) {
            if (out != NULL) {
                out[n] = option_of(&t->rule[i], shape);
            }
            n++;
        }
    }
    return n;
}

static void set_forced(const struct ct_process *p, struct ct_chooser *c, const char *list)
{
    struct ct_pick hinted[CT_COLL_KINDS];
    char           why[1024];
    bool           has = list != NULL && ct_forced_parse(list, hinted, why, sizeof why);
    for (unsigned k = 0; k < CT_COLL_KINDS; k++) {
        bool hint = has && hinted[k].algo != NULL;
        c->forced_by[k] = hint ? CT_BY_HINT : CT_BY_VARIABLE;
        if (!is_fixed(p, UINT32_C(1) << k)) {
            c->forced[k] = hint ? hinted[k] : p->policy->forced[k];
        }
    }
}

struct ct_chooser *ct_chooser_make(const struct ct_process *p, const struct ct_shape *shape,
                                   const char *forced)
{
    uint32_t n = 0;
    for (unsigned k = 0; k < CT_COLL_KINDS; k++) {
        n += sift(ct_policy_tuning(p, UINT32_C(1) << k), k, shape, NULL);
    }
    struct ct_chooser *c = calloc(1, sizeof *c + n * sizeof c->option[0]);
    if (c == NULL) {
        return NULL;
    }
    n = 0;
    for (unsigned k = 0; k < CT_COLL_KINDS; k++) {
        c->begin[k] = (uint16_t)n;
        n += sift(ct_policy_tuning(p, UINT32_C(1) << k), k, shape, c->option + n);
    }
    c->begin[CT_COLL_KINDS] = (uint16_t)n;
    c->refs.n = 1;
    c->shape = *shape;
    c->shape.flat = p->policy->fixed != NULL ? CT_SUMS : 0;
    set_forced(p, c, forced);
    return c;
}

/* ---- a call ---------------------------------------------------------------------------------- */

bool ct_pick_fits(const struct ct_pick *pick, const struct ct_shape *shape,
                  const struct ct_select *what)
{
    struct ct_env env = {.n = shape->n,
                         .root = what->root,
                         .radix = pick->radix,
                         .ordered = what->ordered,
                         .uneven = what->uneven,
                         .levels = (what->coll & shape->flat) != 0 ? NULL : shape->levels};
    return pick->algo->fits(&env);
}

static bool pick_any(const struct ct_chooser *c, const struct ct_select *what,
                     struct ct_choice *out)
{
    for (const struct ct_algo *const *a = ct_algo_table; *a != NULL; a++) {
        out->any = (struct ct_pick){.algo = *a, .radix = CT_RADIX_DEFAULT};
        if (((*a)->colls & what->coll) != 0 && ct_pick_fits(&out->any, &c->shape, what)) {
            out->pick = &out->any;
            out->by = CT_BY_FIT;
            return true;
        }
    }
    return false;
}

/* What is forced, if it is and fits. */
static bool pick_forced(const struct ct_process *p, const struct ct_chooser *c,
                        const struct ct_select *what, struct ct_choice *out)
{
    const unsigned k = ct_coll_index(what->coll);
    if (ct_pick_fits(&c->forced[k], &c->shape, what)) {
        out->pick = &c->forced[k];
        out->by = c->forced_by[k];
        return true;
    }
    ct_info(&p->log, "%s %s does not fit %u ranks and this call; another one runs",
            ct_algo_coll_name(what->coll), c->forced[k].algo->name, c->shape.n);
    return false;
}

bool ct_chooser_pick(const struct ct_process *p, const struct ct_chooser *c,
                     const struct ct_select *what, struct ct_choice *out)
{
    const unsigned       k = ct_coll_index(what->coll);
    const struct option *end = &c->option[c->begin[k + 1]];
    if (CT_UNLIKELY(c->forced[k].algo != NULL) && pick_forced(p, c, what, out)) {
        return true;
    }
    for (const struct option *o = &c->option[c->begin[k]]; o < end; o++) {
        if (what->bytes <= o->most && what->bytes >= o->least && (!o->shm || what->shm) &&
            ct_pick_fits(&o->pick, &c->shape, what)) {
            out->pick = &o->pick;
            out->by = CT_BY_RULE;
            out->rule = o->rule;
            return true;
        }
    }
    if (pick_any(c, what, out)) { /* none holds, as for an operator that wants ranks in order */
        return true;
    }
    ct_error(&p->log, "no algorithm for %s on %u ranks", ct_algo_coll_name(what->coll), c->shape.n);
    return false;
}

/* ---- communicators --------------------------------------------------------------------------- */

/* Of the hosts of the ranks, in numbers that begin at 1. */
static int count_nodes(uint32_t n, const struct ct_location *locations, struct ct_shape *shape)
{
    uint32_t *ranks = calloc((size_t)n + 1, sizeof *ranks);
    shape->nodes = shape->local = 0;
    for (uint32_t r = 0; ranks != NULL && r < n; r++) {
        uint32_t here = ++ranks[locations[r].node];
        shape->nodes += here == 1;
        shape->local = here > shape->local ? here : shape->local;
    }
    int rc = ranks != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
    free(ranks);
    return rc;
}

/* The locations of ranks cost a look at each address record: once, and only if levels or the table
 * ask for them. */
static int find_shape(struct ct_comm *comm, struct ct_shape *shape)
{
    const uint32_t       n = comm->run.n;
    const struct ct_job *job = comm->p->job;
    const bool           asks = comm->p->policy->tuning->asks_placement;
    const bool           far = job->nlocal < job->size;
    struct ct_location  *locations = NULL;
    int                  rc = CTRAN_SUCCESS;
    if (far && (asks || ct_coll_levels_ask(comm))) {
        locations = malloc(n * sizeof *locations);
        rc = locations != NULL ? ct_comm_locations(comm, n, locations) : CTRAN_ERR_NO_MEM;
    }
    rc = rc == CTRAN_SUCCESS ? ct_coll_levels(comm, locations) : rc;
    *shape = (struct ct_shape){.n = n, .nodes = 1, .local = n, .levels = comm->run.levels};
    if (rc == CTRAN_SUCCESS && asks && far) {
        rc = count_nodes(n, locations, shape);
    }
    free(locations);
    return rc;
}

/* Under the lock, which is taken before all others: cards may have to be asked for. What goes with
 * the chooser, the levels, is there for all who see it. */
static int make_chooser(struct ct_comm *comm) CT_UNCHECKED
{
    struct ct_shape shape;
    int             rc = CTRAN_SUCCESS;
    ct_lock_acquire(&comm->p->policy->making);
    if (atomic_load_explicit(&comm->chooser, memory_order_relaxed) == NULL) {
        rc = find_shape(comm, &shape);
        struct ct_chooser *c =
            rc == CTRAN_SUCCESS ? ct_chooser_make(comm->p, &shape, comm->coll_algorithm) : NULL;
        rc = rc == CTRAN_SUCCESS && c == NULL ? CTRAN_ERR_NO_MEM : rc;
        atomic_store_explicit(&comm->chooser, c, memory_order_release);
    }
    ct_lock_release(&comm->p->policy->making);
    return rc;
}

static struct ct_chooser *chooser_of(struct ct_comm *comm, int *rc)
{
    struct ct_chooser *c = atomic_load_explicit(&comm->chooser, memory_order_acquire);
    *rc = CTRAN_SUCCESS;
    if (CT_UNLIKELY(c == NULL)) {
        *rc = make_chooser(comm);
        c = atomic_load_explicit(&comm->chooser, memory_order_acquire);
    }
    return c;
}

const struct ct_chooser *ct_coll_chooser(struct ct_comm *comm, int *rc)
{
    return chooser_of(comm, rc);
}

struct ct_chooser *ct_coll_chooser_hold(struct ct_comm *comm)
{
    int                rc;
    struct ct_chooser *c = chooser_of(comm, &rc);
    if (c == NULL) {
        ct_error(&comm->p->log, "no choice of algorithms: error %d", rc);
        return NULL;
    }
    ct_ref_hold(&c->refs, comm->p->threaded);
    return c;
}

int ct_coll_choose(const struct ct_process *p, const struct ct_chooser *c,
                   const struct ct_select *what, struct ct_run_args *args)
{
    struct ct_choice choice;
    if (CT_UNLIKELY(!ct_chooser_pick(p, c, what, &choice))) {
        return CTRAN_ERR_INTERN;
    }
    const struct ct_pick *pick = choice.pick;
    args->algo = pick->algo;
    args->env.radix = pick->radix;
    args->chunk_bytes = pick->chunk_bytes > 0 ? pick->chunk_bytes : (size_t)p->cfg.chunk_size;
    args->chunks = pick->chunks > 0 ? pick->chunks : (uint32_t)p->cfg.chunks;
    return CTRAN_SUCCESS;
}
