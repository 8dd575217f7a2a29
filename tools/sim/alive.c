/* SPDX-License-Identifier: BSD-3-Clause */
/* Signs of life; see sim.h. Called by main.c at each run, and by the loops over events. */
#include <inttypes.h>
#include <unistd.h>

#include "sim.h"

enum {
    FIRST_MS = 1000,       /* a terminal sees a line after that, */
    EACH_MS = 250,         /* anew so often */
    FIRST_LINE_MS = 10000, /* a file or pipe gets a line after that, and after twice the time */
};

static uint64_t ns_of(uint64_t ms)
{
    return ms * CT_NS_PER_MS;
}

static void show(struct sim_alive *a, uint64_t now_ns)
{
    const struct sim_case *c = a->what;
    char                   name[64];
    sim_case_name(c, name, sizeof name);
    fprintf(stderr,
            "%sctran_sim: run %zu of %zu, %s %s on %u ranks: %" PRIu64 "M events, %" PRIu64 " s%s",
            a->terminal ? "\r\033[K" : "", a->run, a->runs, ct_algo_coll_name(c->coll), name, c->n,
            a->events >> 20, (now_ns - a->begun_ns) / CT_NS_PER_MS / 1000, a->terminal ? "" : "\n");
    a->shown = a->terminal;
}

static void look(struct sim_alive *a)
{
    const uint64_t now = ct_clock_ns();
    a->left = SIM_ALIVE_EVENTS;
    if (now < a->next_ns) {
        return;
    }
    show(a, now);
    a->next_ns = a->terminal ? now + ns_of(EACH_MS) : now + (now - a->begun_ns);
}

void sim_alive_begin(struct sim_alive *a, size_t runs)
{
    const bool     terminal = isatty(STDERR_FILENO) != 0;
    const uint64_t now = ct_clock_ns();
    *a = (struct sim_alive){.runs = runs,
                            .terminal = terminal,
                            .begun_ns = now,
                            .next_ns = now + ns_of(terminal ? FIRST_MS : FIRST_LINE_MS),
                            .left = SIM_ALIVE_EVENTS};
}

void sim_alive_run(struct sim_alive *a, const struct sim_case *c)
{
    a->what = c;
    a->run++;
    look(a);
}

void sim_alive_events(struct sim_alive *a, uint64_t n)
{
    a->events += n;
    if (n < a->left) {
        a->left -= n;
    } else {
        look(a);
    }
}

void sim_alive_end(struct sim_alive *a)
{
    if (a->shown) {
        fputs("\r\033[K", stderr);
    }
}
