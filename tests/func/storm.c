/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * storm - random messages of every kind at once, between all ranks and threads: lengths, datatypes,
 * tags, wildcards, modes and ways to complete are drawn; order and content of everything are
 * checked. See storm.h. Usage: storm [SEED]; CT_STORM_MESSAGES is the number of messages (20000) of
 * all threads together, CT_STORM_THREADS that of threads a rank (1).
 */
#include "storm.h"

#include "foreign.h"

#include <pthread.h>
#include <stdatomic.h>

enum { SEND_WINDOW = 16, RECV_WINDOW = 4 };

static int threads, per_thread;

/* A send on its way. */
struct out {
    ctran_request_t request;
    bool            persistent;
    struct shape    shape;
    int32_t        *buf;
};

/* A receive that is posted. */
struct in {
    ctran_request_t request;
    bool            persistent;
    struct shape    shape;
    int32_t        *buf;
};

/* Receives of one kind, the oldest first. */
struct class
{
    int       comm, source, tag; /* what its receives ask for; ranks of the communicator */
    int       left;              /* messages without a receive yet */
    int       longest;           /* in numbers */
    bool      exact;             /* all of one stream: the next length is known */
    int       posted, first;
    struct in ins[RECV_WINDOW];
};

/* Messages of one source, tag and communicator: they come in order. */
struct stream {
    int  n, next;
    int *index;
};

struct worker {
    int            id;
    uint64_t       rng;
    ctran_comm_t   comms[COMMS];
    struct plan    plan;
    int            next_send;
    struct out     outs[SEND_WINDOW];
    struct class  *classes;
    int            nclasses;
    struct stream *streams;
    long           unmatched; /* of our own classes */
};

/* Of the shared communicator: messages for which no thread has taken a receive; which have come. */
static atomic_int       shared_left;
static int              shared_longest;
static _Atomic uint8_t *shared_came; /* by thread and message */
static uint64_t        *seeds;

/* ---- ranks and places ------------------------------------------------------------------------ */

/* The communicator of ANY_TAG has its ranks backwards. */
static int rank_in(int comm, int world_rank)
{
    return comm == ANY_TAG ? check_size - 1 - world_rank : world_rank;
}

static struct stream *stream_of(struct worker *w, int comm, int world_source, int tag)
{
    return &w->streams[(comm * check_size + world_source) * TAGS + tag];
}

static struct class *class_of(struct worker *w, const struct message *m)
{
    int exact = check_size * ANY_SOURCE_TAGS, at;
    if (m->comm == EXACT && m->tag < ANY_SOURCE_TAGS) {
        at = m->source * ANY_SOURCE_TAGS + m->tag;
    } else if (m->comm == EXACT) {
        at = exact + m->tag - ANY_SOURCE_TAGS;
    } else {
        at = exact + TAGS - ANY_SOURCE_TAGS + (m->comm == ANY_TAG ? m->source : check_size);
    }
    return &w->classes[at];
}

static void set_up_class(struct class *c, const struct message *m)
{
    c->comm = m->comm;
    c->exact = m->comm == EXACT && m->tag < ANY_SOURCE_TAGS;
    bool any_source = m->comm == ANYTHING || (m->comm == EXACT && !c->exact);
    c->source = any_source ? CTRAN_ANY_SOURCE : rank_in(m->comm, m->source);
    c->tag = m->comm == EXACT ? m->tag : CTRAN_ANY_TAG;
    c->left++;
    c->longest = m->ints > c->longest ? m->ints : c->longest;
}

static void expect_message(struct worker *w, int i)
{
    const struct message *m = &w->plan.messages[i];
    struct stream        *s = stream_of(w, m->comm, m->source, m->tag);
    if (m->comm == SHARED) {
        return;
    }
    set_up_class(class_of(w, m), m);
    s->index = realloc(s->index, (size_t)(s->n + 1) * sizeof *s->index);
    EXPECT(s->index != NULL);
    s->index[s->n++] = i;
    w->unmatched++;
}

static void start_worker(struct worker *w)
{
    w->plan = plan_draw(seeds[w->id], per_thread);
    w->rng = mix(seeds[w->id] ^ (uint64_t)(check_rank + 1) << 32);
    w->nclasses = check_size * (ANY_SOURCE_TAGS + 1) + TAGS - ANY_SOURCE_TAGS + 1;
    w->classes = calloc((size_t)w->nclasses, sizeof *w->classes);
    w->streams = calloc((size_t)COMMS * (size_t)check_size * TAGS, sizeof *w->streams);
    EXPECT(w->classes != NULL && w->streams != NULL);
    for (int i = 0; i < SEND_WINDOW; i++) {
        w->outs[i].request = CTRAN_REQUEST_NULL;
    }
    for (int i = 0; i < w->plan.n; i++) {
        const struct message *m = &w->plan.messages[i];
        if (m->dest == check_rank) {
            expect_message(w, i);
            if (m->comm == SHARED) {
                atomic_fetch_add(&shared_left, 1);
                shared_longest = m->ints > shared_longest ? m->ints : shared_longest;
            }
        }
    }
}

static void end_worker(struct worker *w)
{
    for (int i = 0; i < COMMS * check_size * TAGS; i++) {
        EXPECT_EQ(w->streams[i].n, w->streams[i].next);
        free(w->streams[i].index);
    }
    free(w->streams);
    free(w->classes);
    free(w->plan.messages);
}

/* ---- sending --------------------------------------------------------------------------------- */

static int32_t *new_buffer(const struct shape *s)
{
    int32_t *buf = malloc((size_t)s->room * sizeof *buf + 1);
    EXPECT(buf != NULL);
    return buf;
}

/* The memory is ours again: nobody may still read it. */
static void sent(struct out *o)
{
    if (o->persistent) {
        OK(ctran_request_free(&o->request));
    }
    memset(o->buf, 0xee, (size_t)o->shape.room * sizeof *o->buf);
    free(o->buf);
    shape_free(&o->shape);
    o->buf = NULL;
}

static void start_send(struct worker *w, struct out *o)
{
    const int             i = w->next_send++;
    const struct message *m = &w->plan.messages[i];
    int                   dest = rank_in(m->comm, m->dest);
    ctran_comm_t          comm = w->comms[m->comm];
    o->shape = shape_draw(&w->rng, m->ints, false);
    o->buf = new_buffer(&o->shape);
    shape_fill(&o->shape, o->buf, plan_key(seeds[w->id], i), m->ints);
    if (m->comm == SHARED) {
        o->buf[shape_at(&o->shape, 0)] = w->id;
        o->buf[shape_at(&o->shape, 1)] = i;
    }
    o->persistent = false;
    bool          may_block = m->dest > check_rank;
    ctran_count_t count = o->shape.count;
    int           rc = CTRAN_ERR_BUFFER;
    switch (rng_below(&w->rng, may_block ? 8 : 6)) {
    case 0:
        OK(ctran_issend(o->buf, count, o->shape.type, dest, m->tag, comm, &o->request));
        return;
    case 1:
        o->persistent = true;
        OK(ctran_send_init(o->buf, count, o->shape.type, dest, m->tag, comm, &o->request));
        OK(ctran_start(&o->request));
        return;
    case 2:
        if (m->ints <= 256) {
            rc = ctran_bsend(o->buf, count, o->shape.type, dest, m->tag, comm);
        }
        if (rc != CTRAN_ERR_BUFFER) { /* there was room */
            OK(rc);
            break;
        }
        OK(ctran_isend(o->buf, count, o->shape.type, dest, m->tag, comm, &o->request));
        return;
    case 6:
        OK(ctran_send(o->buf, count, o->shape.type, dest, m->tag, comm));
        break;
    case 7:
        OK(ctran_ssend(o->buf, count, o->shape.type, dest, m->tag, comm));
        break;
    default:
        OK(ctran_isend(o->buf, count, o->shape.type, dest, m->tag, comm, &o->request));
        return;
    }
    o->request = CTRAN_REQUEST_NULL;
    sent(o);
}

/* Skips what other ranks send. */
static bool has_send(struct worker *w)
{
    while (w->next_send < w->plan.n && w->plan.messages[w->next_send].source != check_rank) {
        w->next_send++;
    }
    return w->next_send < w->plan.n;
}

static int send_some(struct worker *w)
{
    int n = 0;
    for (int i = 0; i < SEND_WINDOW; i++) {
        struct out *o = &w->outs[i];
        int         flag = 0;
        if (o->buf != NULL) {
            OK(ctran_test(&o->request, &flag, CTRAN_STATUS_IGNORE));
            if (flag) {
                sent(o);
                n++;
            }
        }
        if (o->buf == NULL && has_send(w)) {
            start_send(w, o);
            n++;
        }
    }
    return n;
}

/* ---- receiving ------------------------------------------------------------------------------- */

/* The message is the next one of its stream, and is all there. */
static void check_message(struct worker *w, const struct class *c, const struct in *in,
                          const ctran_status_t *status)
{
    struct stream *s =
        stream_of(w, c->comm, rank_in(c->comm, status->CTRAN_SOURCE), status->CTRAN_TAG);
    EXPECT(s->next < s->n);
    const int             i = s->index[s->next++];
    const struct message *m = &w->plan.messages[i];
    ctran_count_t         elements = -1;
    EXPECT_EQ(m->tag, status->CTRAN_TAG);
    OK(ctran_get_elements(status, in->shape.type, &elements));
    EXPECT_EQ(m->ints, elements);
    shape_check(&in->shape, in->buf, plan_key(seeds[w->id], i), m->ints);
    w->unmatched--;
}

/* Of the shared communicator: any message of any thread, once. */
static void check_shared(struct in *in, const ctran_status_t *status)
{
    int id = in->buf[shape_at(&in->shape, 0)], i = in->buf[shape_at(&in->shape, 1)];
    EXPECT(id >= 0 && id < threads && i >= 0 && i < per_thread);
    EXPECT_EQ(0, atomic_exchange(&shared_came[(size_t)id * (size_t)per_thread + (size_t)i], 1));
    uint64_t      key = plan_key(seeds[id], i);
    ctran_count_t ints = -1;
    OK(ctran_get_elements(status, in->shape.type, &ints));
    in->buf[shape_at(&in->shape, 0)] = (int32_t)content_word(key, 0);
    in->buf[shape_at(&in->shape, 1)] = (int32_t)(content_word(key, 0) >> 32);
    shape_check(&in->shape, in->buf, key, (int)ints);
}

static void new_in(struct worker *w, struct in *in, int ints, bool open)
{
    in->shape = shape_draw(&w->rng, ints, open);
    in->buf = new_buffer(&in->shape);
    shape_fill(&in->shape, in->buf, 0, 0);
}

static void end_in(struct in *in)
{
    if (in->persistent) {
        OK(ctran_request_free(&in->request));
    }
    free(in->buf);
    shape_free(&in->shape);
    in->buf = NULL;
}

static void post(struct worker *w, struct class *c)
{
    struct in   *in = &c->ins[(c->first + c->posted) % RECV_WINDOW];
    ctran_comm_t comm = w->comms[c->comm];
    if (c->exact) { /* the next of its stream that has no receive */
        struct stream *s = stream_of(w, c->comm, c->source, c->tag);
        new_in(w, in, w->plan.messages[s->index[s->next + c->posted]].ints, false);
    } else {
        new_in(w, in, c->longest, true);
    }
    in->persistent = rng_below(&w->rng, 5) == 0;
    if (in->persistent) {
        OK(ctran_recv_init(in->buf, in->shape.count, in->shape.type, c->source, c->tag, comm,
                           &in->request));
        OK(ctran_start(&in->request));
    } else {
        OK(ctran_irecv(in->buf, in->shape.count, in->shape.type, c->source, c->tag, comm,
                       &in->request));
    }
    c->posted++;
    c->left--;
}

/* Looks first, and then receives exactly that, in one of two ways. */
static int probe(struct worker *w, struct class *c)
{
    ctran_comm_t    comm = w->comms[c->comm];
    ctran_message_t message = CTRAN_MESSAGE_NULL;
    ctran_status_t  seen, status;
    bool            take = c->comm == SHARED || rng_below(&w->rng, 2) == 0;
    int             flag;
    if (take) {
        OK(ctran_improbe(c->source, c->tag, comm, &flag, &message, &seen));
    } else {
        OK(ctran_iprobe(c->source, c->tag, comm, &flag, &seen));
    }
    if (!flag) {
        return 0;
    }
    ctran_count_t ints = -1;
    struct in     in = {.request = CTRAN_REQUEST_NULL};
    OK(ctran_get_count(&seen, CTRAN_INT32_T, &ints));
    new_in(w, &in, (int)ints, false);
    if (take) {
        OK(ctran_mrecv(in.buf, in.shape.count, in.shape.type, &message, &status));
    } else {
        OK(ctran_recv(in.buf, in.shape.count, in.shape.type, seen.CTRAN_SOURCE, seen.CTRAN_TAG,
                      comm, &status));
    }
    EXPECT_EQ(seen.CTRAN_SOURCE, status.CTRAN_SOURCE);
    EXPECT_EQ(seen.CTRAN_TAG, status.CTRAN_TAG);
    if (c->comm == SHARED) {
        check_shared(&in, &status);
    } else {
        check_message(w, c, &in, &status);
    }
    end_in(&in);
    c->left--;
    return 1;
}

static void received(struct worker *w, struct class *c, const ctran_status_t *status)
{
    struct in *in = &c->ins[c->first];
    if (c->comm == SHARED) {
        check_shared(in, status);
    } else {
        check_message(w, c, in, status);
    }
    end_in(in);
    c->first = (c->first + 1) % RECV_WINDOW;
    c->posted--;
}

static int receive_some(struct worker *w, struct class *c)
{
    int n = 0, flag = 1;
    while (c->posted > 0 && flag) {
        ctran_status_t status;
        OK(ctran_test(&c->ins[c->first].request, &flag, &status));
        if (flag) {
            received(w, c, &status);
            n++;
        }
    }
    if (c->posted == 0 && c->left > 0 && rng_below(&w->rng, 2) == 0) {
        return n + probe(w, c);
    }
    for (int want = 1 + rng_below(&w->rng, RECV_WINDOW); c->left > 0 && c->posted < want;) {
        post(w, c);
        n++;
    }
    return n;
}

/* One receive at a time for the shared communicator, as long as there are messages to be had. */
static int receive_shared(struct worker *w, struct class *c)
{
    if (c->posted == 0 && c->left == 0) {
        if (atomic_fetch_sub(&shared_left, 1) <= 0) {
            atomic_fetch_add(&shared_left, 1);
            return 0;
        }
        c->left = 1;
    }
    return receive_some(w, c);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* One thing that is under way. */
struct pending {
    ctran_request_t *request;
    struct out      *out; /* a send, or NULL: */
    struct class *class;  /* the oldest receive of this class */
};

/* Nothing moves: waits for any of what is under way. */
static void wait_any(struct worker *w)
{
    struct pending  pending[SEND_WINDOW + 512];
    ctran_request_t requests[LEN(pending)];
    ctran_status_t  status;
    int             n = 0, index;
    for (int i = 0; i < SEND_WINDOW; i++) {
        if (w->outs[i].buf != NULL) {
            pending[n++] = (struct pending){&w->outs[i].request, &w->outs[i], NULL};
        }
    }
    for (int i = 0; i < w->nclasses && n < (int)LEN(pending); i++) {
        struct class *c = &w->classes[i];
        if (c->posted > 0) {
            pending[n++] = (struct pending){&c->ins[c->first].request, NULL, c};
        }
    }
    for (int i = 0; i < n; i++) {
        requests[i] = *pending[i].request;
    }
    OK(ctran_waitany(n, requests, &index, &status));
    EXPECT(index >= 0 && index < n);
    *pending[index].request = requests[index];
    if (pending[index].out != NULL) {
        sent(pending[index].out);
    } else {
        received(w, pending[index].class, &status);
    }
}

/* Whether all that could come has a receive posted, so that waiting may end. */
static bool may_wait(const struct worker *w, const struct class *shared)
{
    bool any = false;
    for (int i = 0; i < w->nclasses; i++) {
        if (w->classes[i].left > 0 && w->classes[i].posted == 0) {
            return false;
        }
        any = any || w->classes[i].posted > 0;
    }
    /* A shared message may go to another thread: a thread that waits must have one of its own. */
    return any && shared->posted == 0 && shared->left == 0;
}

static void *work(void *arg)
{
    struct worker *w = arg;
    struct class shared = {.comm = SHARED,
                           .source = CTRAN_ANY_SOURCE,
                           .tag = CTRAN_ANY_TAG,
                           .longest = shared_longest};
    for (;;) {
        int  n = send_some(w);
        bool sending = has_send(w);
        for (int i = 0; i < w->nclasses; i++) {
            n += receive_some(w, &w->classes[i]);
        }
        n += receive_shared(w, &shared);
        for (int i = 0; i < SEND_WINDOW; i++) {
            sending = sending || w->outs[i].buf != NULL;
        }
        if (!sending && w->unmatched == 0 && shared.posted == 0 && shared.left == 0 &&
            atomic_load(&shared_left) <= 0) {
            return NULL;
        }
        if (n == 0 && may_wait(w, &shared)) {
            wait_any(w);
        }
    }
}

static char buffer[1 << 20]; /* of buffered sends */

static void storm(void)
{
    struct worker *workers = calloc((size_t)threads, sizeof *workers);
    pthread_t      ids[64];
    ctran_comm_t   shared;
    seeds = calloc((size_t)threads, sizeof *seeds);
    shared_came = calloc((size_t)threads * (size_t)per_thread, 1);
    EXPECT(workers != NULL && seeds != NULL && shared_came != NULL);
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_RETURN)); /* of bsend */
    OK(ctran_buffer_attach(foreign_exempt(buffer, sizeof buffer), sizeof buffer));
    OK(ctran_comm_dup(CTRAN_COMM_WORLD, &shared));
    for (int t = 0; t < threads; t++) {
        seeds[t] = rng_of((uint64_t)t + 1);
        workers[t].id = t;
        OK(ctran_comm_dup(CTRAN_COMM_WORLD, &workers[t].comms[EXACT]));
        OK(ctran_comm_split(CTRAN_COMM_WORLD, 0, -check_rank, &workers[t].comms[ANY_TAG]));
        OK(ctran_comm_dup(CTRAN_COMM_WORLD, &workers[t].comms[ANYTHING]));
        workers[t].comms[SHARED] = shared;
        start_worker(&workers[t]);
    }
    for (int t = 1; t < threads; t++) {
        EXPECT_EQ(0, pthread_create(&ids[t], NULL, work, &workers[t]));
    }
    work(&workers[0]);
    for (int t = 1; t < threads; t++) {
        EXPECT_EQ(0, pthread_join(ids[t], NULL));
    }
    for (int t = 0; t < threads; t++) {
        for (int i = 0; i < per_thread; i++) {
            const struct message *m = &workers[t].plan.messages[i];
            EXPECT_EQ(m->dest == check_rank && m->comm == SHARED,
                      shared_came[(size_t)t * (size_t)per_thread + (size_t)i]);
        }
        end_worker(&workers[t]);
        for (int c = 0; c < SHARED; c++) {
            OK(ctran_comm_free(&workers[t].comms[c]));
        }
    }
    OK(ctran_comm_free(&shared));
    void         *detached;
    ctran_count_t size;
    OK(ctran_buffer_detach(&detached, &size));
    EXPECT_PTR(buffer, detached);
    free((void *)shared_came);
    free(seeds);
    free(workers);
}

int main(int argc, char **argv)
{
    static const struct subject subjects[] = {{"storm", storm}};
    const char                 *messages = getenv("CT_STORM_MESSAGES");
    const char                 *want = getenv("CT_STORM_THREADS");
    threads = want != NULL ? atoi(want) : 1;
    per_thread = (messages != NULL ? atoi(messages) : 20000) / threads;
    check_start_threads(argc, argv, threads > 1 ? CTRAN_THREAD_MULTIPLE : CTRAN_THREAD_SINGLE);
    check_run(subjects, LEN(subjects));
    return check_end();
}
