/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * medley - random collective calls of every kind: each call, in each form, on communicators of
 * every kind, with numbers, operators, derived types, counts, roots and places drawn; several are
 * under way at once, also persistent ones, which are started anew among the others. A sequential
 * model says what comes out (medley.h). Usage: medley [SEED].
 *
 *   CT_MEDLEY_CALLS=2000   how many calls, of which a rank takes part in those of its communicators
 *   CT_MEDLEY_FIRST=0      number of the first: calls do not depend on those before them
 *   CT_MEDLEY_STEADY=1     all in the blocking form
 *   CT_MEDLEY_KEEP=1       types and operators are given up after the call is over, not as soon as
 *                          it has begun
 *   CT_VERBOSE=1           each call is shown before it is made
 *   CT_MEDLEY_OUT=PREFIX   wrong results do not end the job; PREFIX.RANK gets a line for each call:
 *                          number, digest of all that is exact, what kind of call it is, "right" or
 *                          what is wrong. For comparing libraries, by tests/suites/differ.py.
 */
#include "medley.h"

enum { UNDER_WAY = 6, HELD = 32, LAST_TURN = 2, PAUSE = 4, WAYS = 5 };

/* A call that is not over: under way, or one that is started again at call `due`. Starts are made
 * in the same order everywhere; who waits for what when is each rank's own affair. */
struct held {
    struct call *call;
    int          due;
    bool         under_way;
};

static FILE       *out;
static struct held held[HELD]; /* by their numbers */
static int         nheld;

static long setting(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text == NULL ? otherwise : strtol(text, NULL, 10);
}

static void judge(struct call *c)
{
    uint64_t    digest;
    const char *wrong = call_judge(c, &digest);
    if (out != NULL) {
        fprintf(out, "%d.%d %016" PRIx64 " %s %s\n", c->number, c->turn, digest, call_traits(c),
                wrong == NULL ? "right" : wrong);
    } else if (wrong != NULL) {
        check_fail(__FILE__, __LINE__, "%s", wrong);
    }
}

static void finished(struct call *c)
{
    call_drop(c);
    call_free(c);
    free(c);
}

static void end(struct held *h)
{
    EXPECT(h->under_way);
    judge(h->call);
    h->under_way = false;
}

/* Gives up those that will not be under way again. */
static void tidy(void)
{
    int kept = 0;
    for (int i = 0; i < nheld; i++) {
        struct call *c = held[i].call;
        if (held[i].under_way || (c->form == PERSISTENT && c->turn < LAST_TURN)) {
            held[kept++] = held[i];
            continue;
        }
        if (c->form == PERSISTENT) {
            OK(ctran_request_free(&c->request));
        }
        finished(c);
    }
    nheld = kept;
}

static int under_way(void)
{
    int n = 0;
    for (int i = 0; i < nheld; i++) {
        n += held[i].under_way;
    }
    return n;
}

/* Several at a time, until none is under way. */
static void end_some(ctran_request_t *requests, bool waits)
{
    int indices[HELD], n = 0;
    while (n != CTRAN_UNDEFINED) {
        if (waits) {
            OK(ctran_waitsome(nheld, requests, &n, indices, CTRAN_STATUSES_IGNORE));
        } else {
            OK(ctran_testsome(nheld, requests, &n, indices, CTRAN_STATUSES_IGNORE));
        }
        for (int i = 0; n != CTRAN_UNDEFINED && i < n; i++) {
            end(&held[indices[i]]);
        }
    }
}

/* One at a time. */
static void end_any(ctran_request_t *requests)
{
    for (int i = 0; i != CTRAN_UNDEFINED;) {
        OK(ctran_waitany(nheld, requests, &i, CTRAN_STATUS_IGNORE));
        if (i != CTRAN_UNDEFINED) {
            end(&held[i]);
        }
    }
}

/* Those that are under way, in one of the ways to wait for several. Among the requests are inactive
 * ones. */
static void end_all(int how)
{
    ctran_request_t requests[HELD];
    for (int i = 0; i < nheld; i++) {
        requests[i] = held[i].call->request;
    }
    if (how == 0) {
        OK(ctran_waitall(nheld, requests, CTRAN_STATUSES_IGNORE));
    }
    for (int flag = 0; how == 1 && !flag;) {
        OK(ctran_testall(nheld, requests, &flag, CTRAN_STATUSES_IGNORE));
    }
    if (how == 2) {
        end_any(requests);
    } else if (how > 2) {
        end_some(requests, how == 3);
    }
    for (int i = 0; i < nheld; i++) {
        if (held[i].under_way) {
            EXPECT(how < 2);
            end(&held[i]);
        }
    }
    tidy();
}

static int pause_of(const struct call *c)
{
    return 1 + (int)(((c->key >> 20) + (uint64_t)c->turn) % PAUSE);
}

static void start(struct held **those, int n, int number)
{
    ctran_request_t requests[HELD];
    for (int i = 0; i < n; i++) {
        requests[i] = those[i]->call->request;
        those[i]->under_way = true;
        those[i]->due = number + pause_of(those[i]->call);
    }
    if (n == 1) {
        OK(ctran_start(requests));
    } else if (n > 1) {
        OK(ctran_startall(n, requests));
    }
}

/* Starts those that are due at this call: at once as many as have not two of one communicator. */
static void start_due(int number)
{
    struct held *those[HELD];
    int          n = 0;
    for (int i = 0; i < nheld; i++) {
        struct held *h = &held[i];
        if (h->call->form != PERSISTENT || h->due != number || h->call->turn == LAST_TURN) {
            continue;
        }
        if (h->under_way) {
            OK(ctran_wait(&h->call->request, CTRAN_STATUS_IGNORE));
            end(h);
        }
        for (int j = 0; j < n; j++) {
            if (those[j]->call->team == h->call->team) {
                start(those, n, number);
                n = 0;
            }
        }
        call_fill(h->call, h->call->turn + 1);
        those[n++] = h;
    }
    start(those, n, number);
    tidy();
}

static void run(const struct team *teams, int n, int number, bool steady, bool keep)
{
    uint64_t     own = rng_of((uint64_t)number << 16 | (uint64_t)check_rank);
    struct call *c = malloc(sizeof *c);
    EXPECT(c != NULL);
    start_due(number);
    if (!call_plan(c, teams, n, number, steady)) {
        free(c);
        return;
    }
    if (under_way() >= UNDER_WAY || rng_below(&own, 4) == 0) {
        end_all(rng_below(&own, WAYS));
    }
    if (getenv("CT_VERBOSE") != NULL) {
        fprintf(stderr, "rank %d: %s\n", check_rank, call_text(c));
    }
    c->keep = keep;
    call_fill(c, 0);
    call_go(c);
    if (c->form == BLOCKING) {
        judge(c);
        finished(c);
        return;
    }
    EXPECT(nheld < HELD);
    struct held *h = &held[nheld++];
    *h = (struct held){.call = c, .under_way = true};
    if (c->form == PERSISTENT) {
        start(&h, 1, number);
    }
}

int main(int argc, char **argv)
{
    struct team teams[MOST_TEAMS];
    const long  calls = setting("CT_MEDLEY_CALLS", 2000), first = setting("CT_MEDLEY_FIRST", 0);
    const bool  steady = setting("CT_MEDLEY_STEADY", 0), keep = setting("CT_MEDLEY_KEEP", 0);
    const char *prefix = getenv("CT_MEDLEY_OUT");
    check_start(argc, argv);
    if (prefix != NULL) {
        char path[4096];
        snprintf(path, sizeof path, "%s.%d", prefix, check_rank);
        out = fopen(path, "w");
        EXPECT(out != NULL);
        setvbuf(out, NULL, _IOLBF, 0); /* as far as it came, if the library does not come back */
    }
    const int n = teams_make(teams);
    for (long i = first; i < first + calls; i++) {
        run(teams, n, (int)i, steady, keep);
    }
    for (long i = 0; i < LAST_TURN * PAUSE; i++) {
        start_due((int)(first + calls + i));
    }
    end_all(0);
    EXPECT(nheld == 0);
    teams_free(teams, n);
    if (out != NULL) {
        EXPECT(fclose(out) == 0);
    }
    return check_end();
}
