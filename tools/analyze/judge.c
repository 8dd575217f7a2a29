/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Verdicts: each strongly connected set of nodes out of which no edge leads is a beginning. It is a
 * rank that does not wait, a group that waits for nobody, or a circle. Ranks that hold up the same
 * group in the same way share a verdict.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/analyze/words.h"

static const struct {
    const char *name;
    int         status;
} kinds[AN_KINDS] = {
    [AN_HEALTHY] = {"healthy", 0},
    [AN_DEAD] = {"rank-dead", 10},
    [AN_STOPPED_RANK] = {"rank-stopped", 11},
    [AN_MISSING] = {"rank-did-not-call", 12},
    [AN_MISMATCH] = {"mismatch", 13},
    [AN_DEADLOCK] = {"deadlock", 14},
    [AN_UNSENT] = {"message-not-sent", 15},
    [AN_STALLED] = {"stalled", 16},
    [AN_SLOW] = {"rank-slow", 17},
};

int an_status(enum an_kind kind)
{
    return kinds[kind].status;
}

const char *an_kind_name(enum an_kind kind)
{
    return kinds[kind].name;
}

static struct an_verdict *add_verdict(struct an_report *r, enum an_kind kind)
{
    r->verdicts = an_more(r->verdicts, r->n, &r->room, sizeof *r->verdicts);
    struct an_verdict *v = &r->verdicts[r->n++];
    *v = (struct an_verdict){.kind = kind, .comm = AN_NONE};
    return v;
}

static void blame(struct an_verdict *v, uint32_t rank)
{
    v->ranks = reallocarray(v->ranks, v->nranks + 1, sizeof *v->ranks);
    if (v->ranks == NULL) {
        fprintf(stderr, "ctran_analyze: out of memory\n");
        exit(1);
    }
    v->ranks[v->nranks++] = rank;
}

static void set_group(struct an_verdict *v, const struct an_graph *g, const struct an_group *group)
{
    v->comm = (uint32_t)group->key.comm;
    v->number = group->key.number;
    for (uint32_t i = 0; i < group->narrived && v->operation[0] == '\0'; i++) {
        const struct an_call *c = an_call_of(g->job, group->arrived[i], v->comm, v->number);
        if (c != NULL) {
            (void)snprintf(v->operation, sizeof v->operation, "%s", an_name(g->job, c->name));
        }
    }
}

/* Who waits in a group, and how long. */
static void tell_arrived(struct an_verdict *v, const struct an_job *job,
                         const struct an_group *group)
{
    if (group->narrived > 0) {
        an_text_ranks(&v->evidence, group->arrived, group->narrived);
        an_text_add(&v->evidence, " %s in ", group->narrived == 1 ? "is" : "are");
        an_text_call(&v->evidence, job, v->operation, v->comm, v->number);
        an_text_add(&v->evidence, ", for ");
        an_text_seconds(&v->evidence, group->age_ns);
        an_text_add(&v->evidence, "\n");
    }
}

static void tell_ranks(struct an_verdict *v, const struct an_job *job)
{
    enum { SHOWN = 8 };
    for (uint32_t i = 0; i < v->nranks && i < SHOWN; i++) {
        an_text_rank(&v->evidence, job, v->ranks[i]);
    }
}

/* ---- a rank that does not wait --------------------------------------------------------------- */

static bool is_in(const uint32_t *list, uint32_t n, uint32_t rank)
{
    for (uint32_t i = 0; i < n; i++) {
        if (list[i] == rank) {
            return true;
        }
    }
    return false;
}

/* The group that has waited longest for this rank; NULL: none does. */
static const struct an_group *group_behind(const struct an_graph *g, uint32_t rank)
{
    const struct an_group *oldest = NULL;
    for (uint32_t i = 0; i < g->ngroups; i++) {
        const struct an_group *group = g->groups[i];
        if (group->age_ns >= g->job->min_age_ns && !group->differs && group->narrived > 0 &&
            (is_in(group->missing, group->nmissing, rank) ||
             is_in(group->held, group->nheld, rank)) &&
            (oldest == NULL || group->since_ns < oldest->since_ns)) {
            oldest = group;
        }
    }
    return oldest;
}

/* Whether some rank sends this one a message that it waits for from any rank. */
static bool is_sent_one(const struct an_graph *g, uint32_t rank)
{
    const struct an_wait            *w;
    const struct ct_trace_wait_item *recv, *send;
    for (uint32_t i = 0; (recv = an_item(g->job, rank, i, &w)) != NULL; i++) {
        for (uint32_t r = 0; r < g->job->size && recv->peer == CT_TRACE_ANY_RANK; r++) {
            for (uint32_t k = 0; (send = an_item(g->job, r, k, &w)) != NULL; k++) {
                if (send->kind == CT_TRACE_SEND && send->peer == (int32_t)rank &&
                    send->comm == recv->comm && (recv->tag < 0 || recv->tag == send->tag)) {
                    return true;
                }
            }
        }
    }
    return false;
}

static enum an_kind kind_of_rank(const struct an_graph *g, uint32_t rank)
{
    switch (g->job->ranks[rank].state) {
    case AN_ENDED:
    case AN_NO_DUMP:
        return AN_DEAD;
    case AN_STOPPED:
        return AN_STOPPED_RANK;
    case AN_RUNS:
        return !g->any[rank] ? AN_MISSING : is_sent_one(g, rank) ? AN_STALLED : AN_UNSENT;
    default:
        return AN_MISSING;
    }
}

static void judge_rank(struct an_report *r, const struct an_graph *g, uint32_t rank)
{
    const enum an_kind     kind = kind_of_rank(g, rank);
    const struct an_group *group = group_behind(g, rank);
    for (uint32_t i = 0; group != NULL && i < r->n; i++) {
        struct an_verdict *v = &r->verdicts[i];
        if (v->kind == kind && v->comm == group->key.comm && v->number == group->key.number &&
            kind != AN_UNSENT) {
            blame(v, rank);
            return;
        }
    }
    struct an_verdict *v = add_verdict(r, kind);
    blame(v, rank);
    if (group != NULL) {
        set_group(v, g, group);
    }
}

/* The ranks that wait for messages of this one. */
static void tell_messages(struct an_verdict *v, const struct an_graph *g, uint32_t rank)
{
    enum { SHOWN = 4 };
    uint32_t shown = 0;
    for (uint32_t r = 0; r < g->job->size && shown < SHOWN; r++) {
        for (uint32_t i = g->first[r]; i < g->first[r + 1] && shown < SHOWN; i++) {
            if (g->edge[i] == rank) {
                an_text_rank(&v->evidence, g->job, r);
                shown++;
                break;
            }
        }
    }
}

/* What a verdict on ranks says, once it has them all. */
static void word_ranks(struct an_verdict *v, const struct an_graph *g)
{
    an_text_ranks(&v->title, v->ranks, v->nranks);
    an_text_add(&v->title, " ");
    if (v->kind != AN_MISSING || g->job->ranks[v->ranks[0]].state != AN_RUNS) {
        an_text_doing(&v->title, g->job, v->ranks[0]);
        if (v->kind == AN_UNSENT) {
            an_text_add(&v->title, ", and nobody sends one");
        } else if (v->kind == AN_STALLED) {
            an_text_add(&v->title, ", which another rank sends: data do not move");
        } else if (v->operation[0] != '\0') {
            an_text_add(&v->title, ", and holds up ");
            an_text_call(&v->title, g->job, v->operation, v->comm, v->number);
        }
    } else if (v->operation[0] != '\0') {
        an_text_add(&v->title, "%s not called ", v->nranks == 1 ? "has" : "have");
        an_text_call(&v->title, g->job, v->operation, v->comm, v->number);
    } else {
        an_text_add(&v->title, "%s not answered a message that another rank waits for",
                    v->nranks == 1 ? "has" : "have");
    }
    tell_ranks(v, g->job);
    for (uint32_t i = 0; i < g->ngroups; i++) {
        if (v->comm != AN_NONE && g->groups[i]->key.comm == v->comm &&
            g->groups[i]->key.number == v->number) {
            tell_arrived(v, g->job, g->groups[i]);
        }
    }
    tell_messages(v, g, v->ranks[0]);
}

/* ---- a group that waits for nobody ----------------------------------------------------------- */

/* The call that most members make. */
static const struct an_call *usual_call(const struct an_graph *g, const struct an_group *group)
{
    const struct an_comm *comm = g->job->comms[group->key.comm];
    const struct an_call *best = NULL;
    uint32_t              votes = 0;
    /* Boyer and Moore's vote: who is for more than half stays. */
    for (uint32_t i = 0; i < comm->n; i++) {
        const struct an_call *c =
            comm->member[i] == AN_NONE
                ? NULL
                : an_call_of(g->job, comm->member[i], comm->index, group->key.number);
        if (c != NULL && (votes == 0 || best == NULL)) {
            best = c;
            votes = 1;
        } else if (c != NULL) {
            votes += c->name == best->name && c->bytes == best->bytes && c->root == best->root &&
                             c->op == best->op
                         ? 1
                         : UINT32_MAX; /* one less */
        }
    }
    return best;
}

static void tell_argument(struct an_text *t, const struct an_job *job, const struct an_call *c,
                          const struct an_call *usual)
{
    if (c->name != usual->name) {
        an_text_add(t, "calls %s where others call %s", an_name(job, c->name),
                    an_name(job, usual->name));
    } else if (c->root != usual->root) {
        an_text_add(t, "calls %s with root %" PRId32 " where others have root %" PRId32,
                    an_name(job, c->name), c->root, usual->root);
    } else if (c->op != usual->op) {
        an_text_add(t, "calls %s with %s where others have %s", an_name(job, c->name),
                    an_name(job, c->op), an_name(job, usual->op));
    } else {
        an_text_add(t, "calls %s with %" PRIu64 " bytes where others have %" PRIu64,
                    an_name(job, c->name), c->bytes, usual->bytes);
    }
}

static bool is_usual(const struct an_call *c, const struct an_call *usual)
{
    return c->name == usual->name && c->bytes == usual->bytes && c->root == usual->root &&
           c->op == usual->op;
}

static void judge_mismatch(struct an_report *r, const struct an_graph *g,
                           const struct an_group *group)
{
    const struct an_comm *comm = g->job->comms[group->key.comm];
    const struct an_call *usual = usual_call(g, group), *other = NULL;
    struct an_verdict    *v = add_verdict(r, AN_MISMATCH);
    uint32_t              alike = 0;
    set_group(v, g, group);
    (void)snprintf(v->operation, sizeof v->operation, "%s", an_name(g->job, usual->name));
    for (uint32_t i = 0; i < comm->n; i++) {
        const uint32_t        m = comm->member[i];
        const struct an_call *c =
            m == AN_NONE ? NULL : an_call_of(g->job, m, comm->index, group->key.number);
        if (c != NULL && !is_usual(c, usual)) {
            other = other == NULL ? c : other;
            blame(v, m);
            an_text_add(&v->evidence, "rank %" PRIu32 " ", m);
            tell_argument(&v->evidence, g->job, c, usual);
            an_text_add(&v->evidence, "\n");
        }
        alike += c != NULL && is_usual(c, usual);
    }
    an_text_ranks(&v->title, v->ranks, v->nranks);
    an_text_add(&v->title, " ");
    tell_argument(&v->title, g->job, other, usual);
    an_text_add(&v->title, ", in call %" PRIu64 " of ", v->number + 1);
    an_text_comm(&v->title, g->job, v->comm);
    if (alike <= v->nranks) {
        an_text_add(&v->evidence,
                    "As many ranks make one call as the other: either may be meant\n");
    }
    tell_ranks(v, g->job);
}

static void judge_stall(struct an_report *r, const struct an_graph *g, const struct an_group *group)
{
    struct an_verdict *v = add_verdict(r, AN_STALLED);
    set_group(v, g, group);
    for (uint32_t i = 0; i < group->narrived; i++) {
        blame(v, group->arrived[i]);
    }
    an_text_ranks(&v->title, v->ranks, v->nranks);
    an_text_add(&v->title, " %s not left ", v->nranks == 1 ? "has" : "have");
    an_text_call(&v->title, g->job, v->operation, v->comm, v->number);
    an_text_add(&v->title, ", to which all have come: data do not move");
    tell_arrived(v, g->job, group);
}

/* ---- a circle -------------------------------------------------------------------------------- */

/* A shortest way from node `from` back to it, by breadth-first search inside its set: the length,
 * and the nodes in `path`. */
static uint32_t find_circle(const struct an_graph *g, uint32_t from, uint32_t *path)
{
    uint32_t *before = an_alloc(g->nnodes, sizeof *before);
    uint32_t *queue = an_alloc((size_t)g->nnodes + 1, sizeof *queue);
    uint32_t  head = 0, tail = 0, n = 0;
    memset(before, 0xff, g->nnodes * sizeof *before);
    queue[tail++] = from;
    while (head < tail && before[from] == AN_NONE) {
        const uint32_t v = queue[head++];
        for (uint32_t i = g->first[v]; i < g->first[v + 1]; i++) {
            const uint32_t w = g->edge[i];
            if (g->set[w] == g->set[from] && before[w] == AN_NONE) {
                before[w] = v;
                queue[tail++] = w;
            }
        }
    }
    for (uint32_t v = before[from]; v != AN_NONE; v = v == from ? AN_NONE : before[v]) {
        n++;
    }
    uint32_t at = n;
    for (uint32_t v = before[from]; at > 0; v = before[v]) {
        path[--at] = v;
    }
    free(before);
    free(queue);
    return n;
}

/* A receive of rank a from b and a send of b to a whose tags differ. */
static bool tell_tags(struct an_verdict *v, const struct an_job *job, uint32_t a, uint32_t b)
{
    const struct an_wait            *w;
    const struct ct_trace_wait_item *recv, *send;
    for (uint32_t i = 0; (recv = an_item(job, a, i, &w)) != NULL; i++) {
        for (uint32_t k = 0; (send = an_item(job, b, k, &w)) != NULL; k++) {
            if (recv->kind == CT_TRACE_RECV && send->kind == CT_TRACE_SEND &&
                recv->peer == (int32_t)b && send->peer == (int32_t)a && recv->comm == send->comm &&
                recv->tag >= 0 && recv->tag != send->tag) {
                an_text_add(&v->evidence,
                            "rank %" PRIu32 " waits for tag %" PRId32 " of rank %" PRIu32
                            ", which sends tag %" PRId32 ": the tags do not match\n",
                            a, recv->tag, b, send->tag);
                return true;
            }
        }
    }
    return false;
}

/* Which of two groups fewer of their members have come to, in proportion. */
static int compare_share(const struct an_graph *g, const struct an_group *a,
                         const struct an_group *b)
{
    const uint64_t x = (uint64_t)a->narrived * g->job->comms[b->key.comm]->n;
    const uint64_t y = (uint64_t)b->narrived * g->job->comms[a->key.comm]->n;
    return (x > y) - (x < y);
}

/* Calls of several communicators in an order that is not that of the others: the ranks are named
 * that are in the call to which the smallest part of its members has come. They came too early. */
static void blame_order(struct an_verdict *v, const struct an_graph *g, uint32_t set)
{
    const struct an_group *least = NULL;
    for (uint32_t i = 0; i < g->ngroups; i++) {
        const bool in = g->set[g->job->size + i] == set;
        if (in && (least == NULL || compare_share(g, g->groups[i], least) < 0)) {
            least = g->groups[i];
        }
    }
    for (uint32_t i = 0; i < g->ngroups; i++) {
        const struct an_group *group = g->groups[i];
        if (g->set[g->job->size + i] != set || compare_share(g, group, least) != 0) {
            continue;
        }
        for (uint32_t k = 0; k < group->narrived; k++) {
            if (g->set[group->arrived[k]] == set &&
                !is_in(v->ranks, v->nranks, group->arrived[k])) {
                blame(v, group->arrived[k]);
            }
        }
    }
    set_group(v, g, least);
}

/* The calls of a circle, and in which of them others wait for a rank that is named. */
static void tell_order(struct an_verdict *v, const struct an_graph *g, uint32_t set)
{
    const struct an_group *waits = group_behind(g, v->ranks[0]);
    an_text_ranks(&v->title, v->ranks, v->nranks);
    an_text_add(&v->title, " %s in ", v->nranks == 1 ? "is" : "are");
    an_text_call(&v->title, g->job, v->operation, v->comm, v->number);
    if (waits != NULL) {
        struct an_verdict other = {.comm = AN_NONE};
        set_group(&other, g, waits);
        an_text_add(&v->title, ", while others wait in ");
        an_text_call(&v->title, g->job, other.operation, other.comm, other.number);
    }
    an_text_add(&v->title, ": the calls are made in different orders");
    for (uint32_t i = 0; i < g->ngroups; i++) {
        if (g->set[g->job->size + i] == set) {
            struct an_verdict one = {.comm = AN_NONE, .evidence = v->evidence};
            set_group(&one, g, g->groups[i]);
            tell_arrived(&one, g->job, g->groups[i]);
            v->evidence = one.evidence;
        }
    }
}

static int by_rank(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void judge_circle(struct an_report *r, const struct an_graph *g, uint32_t node)
{
    uint32_t          *path = an_alloc((size_t)g->nnodes + 1, sizeof *path);
    const uint32_t     n = find_circle(g, node, path), size = g->job->size;
    struct an_verdict *v = add_verdict(r, AN_DEADLOCK);
    bool               groups = false, tags = false;
    for (uint32_t i = 0; i < n; i++) {
        groups |= path[i] >= size;
    }
    if (groups) {
        blame_order(v, g, g->set[node]);
        qsort(v->ranks, v->nranks, sizeof *v->ranks, by_rank);
        tell_order(v, g, g->set[node]);
    } else {
        for (uint32_t i = 0; i < n; i++) {
            blame(v, path[i]);
        }
        qsort(v->ranks, v->nranks, sizeof *v->ranks, by_rank);
        an_text_ranks(&v->title, v->ranks, v->nranks);
        an_text_add(&v->title, " wait for messages of each other in a circle");
        for (uint32_t i = 0; i < n; i++) {
            tags |= tell_tags(v, g->job, path[i], path[(i + 1) % n]);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        if (path[i] < size) {
            an_text_rank(&v->evidence, g->job, path[i]);
        } else {
            const struct an_group *group = g->groups[path[i] - size];
            an_text_add(&v->evidence, "  and that call waits for ");
            an_text_ranks(&v->evidence, group->missing, group->nmissing);
            an_text_add(&v->evidence, "\n");
        }
    }
    if (tags) {
        an_text_add(&v->title, ": tags do not match");
    }
    free(path);
}

/* ---- ranks that come late -------------------------------------------------------------------- */

struct lateness {
    uint64_t late_ns;
    uint32_t last;
};

/* The last member that came to a call, and how long after the median. false: not all are known. */
static bool last_of(const struct an_job *job, const struct an_comm *comm, uint64_t number,
                    uint64_t *starts, uint32_t *who, uint64_t *late_ns)
{
    uint64_t last = 0;
    for (uint32_t i = 0; i < comm->n; i++) {
        const struct an_call *c = comm->member[i] == AN_NONE
                                      ? NULL
                                      : an_call_of(job, comm->member[i], comm->index, number);
        if (c == NULL) {
            return false;
        }
        starts[i] = c->start_ns;
        if (c->start_ns > last) {
            last = c->start_ns;
            *who = comm->member[i];
        }
    }
    uint64_t before = 0; /* the one before the last: the other ranks are there by then */
    for (uint32_t i = 0; i < comm->n; i++) {
        before = starts[i] > before && starts[i] < last ? starts[i] : before;
    }
    *late_ns = before > 0 ? last - before : 0;
    return true;
}

/* Calls of a communicator that all ranks have in their traces are looked at, from the last one
 * back. */
static void judge_lateness(struct an_report *r, const struct an_comm *comm)
{
    enum { CALLS = 200, ENOUGH = 10, SHARE = 70, LATE_NS = 1000000 };
    const struct an_job   *job = r->job;
    struct lateness       *late = an_alloc(job->size, sizeof *late);
    uint64_t              *starts = an_alloc(comm->n, sizeof *starts), late_ns;
    const struct an_place *p = comm->n > 2 && comm->member[0] != AN_NONE
                                   ? an_place_of(job, comm->member[0], comm->index)
                                   : NULL;
    uint32_t               looked = 0, who = 0, worst = 0;
    for (uint64_t k = p != NULL ? p->started : 0; k-- > 0 && looked < CALLS;) {
        if (!last_of(job, comm, k, starts, &who, &late_ns)) {
            break;
        }
        looked++;
        late[who].last++;
        late[who].late_ns += late_ns;
        worst = late[who].late_ns > late[worst].late_ns ? who : worst;
    }
    if (looked >= ENOUGH && late[worst].last * 100 >= looked * SHARE &&
        late[worst].late_ns / late[worst].last >= LATE_NS) {
        struct an_verdict *v = add_verdict(r, AN_SLOW);
        blame(v, worst);
        v->comm = comm->index;
        v->behind = comm->n - 1;
        an_text_add(&v->title,
                    "rank %" PRIu32 " comes late: it is the last in %" PRIu32 " of %" PRIu32
                    " calls of ",
                    worst, late[worst].last, looked);
        an_text_comm(&v->title, job, comm->index);
        an_text_add(&v->title, ", by ");
        an_text_seconds(&v->title, late[worst].late_ns / late[worst].last);
        an_text_add(&v->title, " on average behind the last of the others");
        an_text_rank(&v->evidence, job, worst);
    }
    free(late);
    free(starts);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static bool waits_for_itself(const struct an_graph *g, uint32_t v)
{
    for (uint32_t i = g->first[v]; i < g->first[v + 1]; i++) {
        if (g->edge[i] == v) {
            return true;
        }
    }
    return false;
}

static void judge_node(struct an_report *r, const struct an_graph *g, uint32_t v)
{
    const uint32_t size = g->job->size;
    if (g->set_size[g->set[v]] > 1 || waits_for_itself(g, v)) {
        judge_circle(r, g, v);
    } else if (v >= size && g->groups[v - size]->differs) {
        judge_mismatch(r, g, g->groups[v - size]);
    } else if (v >= size && g->wanted[v]) {
        judge_stall(r, g, g->groups[v - size]);
    } else if (v < size && (g->wanted[v] || g->any[v])) {
        judge_rank(r, g, v);
    }
}

/* Whom a verdict holds up. Of a collective call all that wait for it count. */
static void count_behind(struct an_verdict *v, const struct an_graph *g)
{
    bool *mark = an_alloc(g->nnodes, sizeof *mark);
    for (uint32_t i = 0; i < v->nranks; i++) {
        mark[v->ranks[i]] = true;
    }
    for (uint32_t i = 0; v->kind != AN_MISSING && i < g->ngroups; i++) {
        mark[g->job->size + i] =
            g->groups[i]->key.comm == v->comm && g->groups[i]->key.number == v->number;
    }
    v->behind = an_graph_behind(g, mark);
    free(mark);
}

/* Calls that do not match are wrong, whoever waits; then the weightier verdict is first. */
static int by_weight(const void *a, const void *b)
{
    const struct an_verdict *x = a, *y = b;
    if ((x->kind == AN_MISMATCH) != (y->kind == AN_MISMATCH)) {
        return x->kind == AN_MISMATCH ? -1 : 1;
    }
    if (x->behind != y->behind) {
        return x->behind > y->behind ? -1 : 1;
    }
    return x->kind != y->kind ? (x->kind > y->kind) - (x->kind < y->kind)
                              : (x->ranks[0] > y->ranks[0]) - (x->ranks[0] < y->ranks[0]);
}

bool an_judge(struct an_report *r, const struct an_job *job)
{
    struct an_graph g;
    *r = (struct an_report){.job = job};
    if (!an_graph_make(&g, job)) {
        return false;
    }
    bool *seen = an_alloc(g.nsets, sizeof *seen);
    for (uint32_t v = 0; v < g.nnodes; v++) {
        if (!g.leaves[g.set[v]] && !seen[g.set[v]]) {
            seen[g.set[v]] = true;
            judge_node(r, &g, v);
        }
    }
    for (uint32_t i = 0; i < r->n; i++) {
        struct an_verdict *v = &r->verdicts[i];
        if (v->title.len == 0) {
            word_ranks(v, &g);
        }
        count_behind(v, &g);
    }
    for (uint32_t i = 0; r->n == 0 && i < job->ncomms; i++) {
        judge_lateness(r, job->comms[i]);
    }
    if (r->n > 1) {
        qsort(r->verdicts, r->n, sizeof *r->verdicts, by_weight);
    }
    free(seen);
    an_graph_free(&g);
    return true;
}

void an_report_free(struct an_report *r)
{
    for (uint32_t i = 0; i < r->n; i++) {
        free(r->verdicts[i].ranks);
        free(r->verdicts[i].title.at);
        free(r->verdicts[i].evidence.at);
    }
    free(r->verdicts);
}
