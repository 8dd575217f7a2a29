/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * medley - random collective calls of every kind: each call, in each form, on communicators of
 * every kind, with numbers, operators, derived types, counts, roots and places drawn; several are
 * under way at once. A sequential model says what comes out (medley.h). Usage: medley [SEED].
 *
 *   CT_MEDLEY_CALLS=2000   how many calls, of which a rank takes part in those of its communicators
 *   CT_MEDLEY_FIRST=0      number of the first: calls do not depend on those before them
 *   CT_MEDLEY_STEADY=1     all in the blocking form
 *   CT_MEDLEY_KEEP=1       types and operators are given up after the call is over, not as soon as
 *                          it has begun
 *   CT_VERBOSE=1           each call is shown before it is made
 *   CT_MEDLEY_OUT=PREFIX   wrong results do not end the job; PREFIX.RANK gets a line for each call:
 *                          number, digest of all that is exact, "right" or what is wrong. For
 *                          comparing libraries, by tests/suites/differ.py.
 */
#include "medley.h"

enum { UNDER_WAY = 6 };

static FILE        *out;
static struct call *queue[UNDER_WAY];
static int          queued;

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
        fprintf(out, "%d.%d %016" PRIx64 " %s\n", c->number, c->turn, digest,
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

static void end(int i)
{
    judge(queue[i]);
    finished(queue[i]);
    queue[i] = queue[--queued];
}

/* Those that are under way, in one of the ways to wait for several. */
static void end_all(int how)
{
    ctran_request_t requests[UNDER_WAY];
    for (int i = 0; i < queued; i++) {
        requests[i] = queue[i]->request;
    }
    if (how == 0) {
        OK(ctran_waitall(queued, requests, CTRAN_STATUSES_IGNORE));
    }
    for (int flag = 0; how == 1 && !flag;) {
        OK(ctran_testall(queued, requests, &flag, CTRAN_STATUSES_IGNORE));
    }
    while (queued > 0) {
        int i = queued - 1;
        if (how == 2) {
            OK(ctran_waitany(queued, requests, &i, CTRAN_STATUS_IGNORE));
            requests[i] = requests[queued - 1];
        }
        end(i);
    }
}

static void persistent(struct call *c)
{
    for (int turn = 0; turn < 3; turn++) {
        if (turn > 0) {
            call_fill(c, turn);
        }
        OK(ctran_start(&c->request));
        OK(ctran_wait(&c->request, CTRAN_STATUS_IGNORE));
        judge(c);
    }
    OK(ctran_request_free(&c->request));
}

/* Who waits for what when is each rank's own affair. */
static void run(const struct team *teams, int n, int number, bool steady, bool keep)
{
    uint64_t     own = rng_of((uint64_t)number << 16 | (uint64_t)check_rank);
    struct call *c = malloc(sizeof *c);
    EXPECT(c != NULL);
    if (!call_plan(c, teams, n, number, steady)) {
        free(c);
        return;
    }
    if (queued == UNDER_WAY || rng_below(&own, 4) == 0) {
        end_all(rng_below(&own, 3));
    }
    if (getenv("CT_VERBOSE") != NULL) {
        fprintf(stderr, "rank %d: %s\n", check_rank, call_text(c));
    }
    c->keep = keep;
    call_fill(c, 0);
    call_go(c);
    if (c->form == NONBLOCKING) {
        queue[queued++] = c;
        return;
    }
    if (c->form == PERSISTENT) {
        persistent(c);
    } else {
        judge(c);
    }
    finished(c);
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
    end_all(0);
    teams_free(teams, n);
    if (out != NULL) {
        EXPECT(fclose(out) == 0);
    }
    return check_end();
}
