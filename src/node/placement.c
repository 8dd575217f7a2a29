/* SPDX-License-Identifier: BSD-3-Clause */
/* placement.h: giving a core away, and taking another. */
#include "node/placement.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "base/clock.h"

enum { ENOUGH = 64 }; /* waits that say something */

/* A trial is longer than the time that the kernel gives a process at once, as a rule. */
#define TRIAL_NS      (20 * (uint64_t)CT_NS_PER_MS)
#define LEAST_STAY_NS ((uint64_t)CT_NS_PER_MS)
#define MOST_STAY_NS  (2000 * (uint64_t)CT_NS_PER_MS)
/* Between looks for a place beside another: each costs some system calls. */
#define LOOK_NS      ((uint64_t)CT_NS_PER_MS / 16)
#define MOST_LOOK_NS (64 * (uint64_t)CT_NS_PER_MS)
/* One that takes longer is about something else, as a rule. */
#define MOST_WAIT_NS ((uint64_t)CT_NS_PER_MS)

void ct_placement_yield(struct ct_placement *s)
{
    ct_placement_give(s);
    sched_yield();
    ct_placement_take(s);
}

/* Says where it runs now, or will at once. */
static void placement_say(struct ct_placement *s, int core)
{
    s->mine = core + 1;
    atomic_store_explicit(&s->all[s->me].core, s->mine, memory_order_relaxed);
}

/* Goes there now, and may go anywhere later. No signal handler shall find it bound. Where what was
 * allowed is not any more, all that is shall be. The process publishes its move first, so that
 * other processes of the core that it leaves do not move for the same reason. */
static void placement_move(struct ct_placement *s, int core, const cpu_set_t *allowed)
{
    cpu_set_t one, any;
    sigset_t  all, before;
    CPU_ZERO(&one);
    CPU_SET((unsigned)core, &one);
    memset(&any, 0xff, sizeof any);
    (void)sigfillset(&all);
    if (pthread_sigmask(SIG_BLOCK, &all, &before) != 0) {
        return;
    }
    placement_say(s, core);
    if (sched_setaffinity(0, sizeof one, &one) == 0) {
        if (sched_setaffinity(0, sizeof *allowed, allowed) != 0) {
            (void)sched_setaffinity(0, sizeof any, &any);
        }
    }
    ct_placement_take(s);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* It has reason to stay on this core. */
static void placement_settle(struct ct_placement *s)
{
    atomic_store_explicit(&s->all[s->me].settled, s->mine, memory_order_relaxed);
}

/* False: there is no choice. */
static bool may_choose(const struct ct_placement *s, cpu_set_t *allowed)
{
    return s->all != NULL && s->moves && sched_getaffinity(0, sizeof *allowed, allowed) == 0 &&
           CPU_COUNT(allowed) > 1;
}

/* The core of `who`; -1: it has not said. */
static int core_of(const struct ct_placement *s, uint32_t who)
{
    const int64_t core = atomic_load_explicit(&s->all[who].core, memory_order_relaxed);
    const int64_t at = (core < 0 ? -core : core) - 1;
    return at < CPU_SETSIZE ? (int)at : -1;
}

/* Processes on each core. */
static void placement_count(const struct ct_placement *s, uint32_t on[CPU_SETSIZE])
{
    memset(on, 0, CPU_SETSIZE * sizeof *on);
    for (uint32_t i = 0; i < s->n; i++) {
        const int at = core_of(s, i);
        if (at >= 0) {
            on[at]++;
        }
    }
}

/* The allowed core with the fewest, but `here`; -1: there is none. */
static int placement_emptiest(const uint32_t on[CPU_SETSIZE], int here, const cpu_set_t *allowed)
{
    int best = -1;
    for (int core = 0; core < CPU_SETSIZE; core++) {
        if (core != here && CPU_ISSET((unsigned)core, allowed) &&
            (best < 0 || on[core] < on[best])) {
            best = core;
        }
    }
    return best;
}

void ct_placement_choose(struct ct_placement *s)
{
    cpu_set_t allowed;
    if (s->seated) {
        return;
    }
    s->seated = true;
    if (may_choose(s, &allowed)) {
        uint32_t on[CPU_SETSIZE];
        uint32_t turn = s->me % (uint32_t)CPU_COUNT(&allowed);
        int      mine = 0, best;
        while (!CPU_ISSET((unsigned)mine, &allowed) || turn-- > 0) {
            mine++;
        }
        placement_count(s, on);
        best = placement_emptiest(on, mine, &allowed);
        placement_move(s, on[mine] >= s->fair && best >= 0 && on[best] < on[mine] ? best : mine,
                       &allowed);
    }
}

int ct_placement_emptiest(const struct ct_placement *s, int here, const cpu_set_t *allowed)
{
    uint32_t on[CPU_SETSIZE];
    placement_count(s, on);
    const int best = placement_emptiest(on, here, allowed);
    return best >= 0 && here >= 0 && here < CPU_SETSIZE && on[best] <= on[here] ? best : -1;
}

/* What a wait takes here. One that polls is as good as nothing. */
static uint64_t wait_ns(const struct ct_placement *s)
{
    return s->spell.lost_ns / ct_max_size(s->spell.waits, 1);
}

static void begin_spell(struct ct_placement *s, uint64_t now)
{
    s->spell.since_ns = now;
    s->spell.lost_ns = 0;
    s->spell.waits = 0;
    s->spell.switches = 0;
}

/* The end of a trial. What else waits depend on makes no difference as large as this. It says
 * nothing of another core that the kernel has put this process on meanwhile. */
static void placement_judge(struct ct_placement *s, uint64_t now)
{
    cpu_set_t  allowed;
    const bool worse = wait_ns(s) > 2 * s->wait_ns;
    if (worse && may_choose(s, &allowed) && CPU_ISSET((unsigned)s->before, &allowed)) {
        placement_move(s, s->before, &allowed);
    } else if (!worse && s->mine == s->there + 1) {
        placement_settle(s);
    }
    s->on_trial = false;
    begin_spell(s, now);
}

/* Takes another core, if there is one. */
static void try_elsewhere(struct ct_placement *s, uint64_t now)
{
    cpu_set_t allowed;
    const int here = sched_getcpu();
    int       core = may_choose(s, &allowed) ? ct_placement_emptiest(s, here, &allowed) : -1;
    if (core >= 0) {
        s->on_trial = true;
        s->wait_ns = wait_ns(s);
        s->before = here;
        s->there = core;
        placement_move(s, core, &allowed);
    }
    s->stay_ns = ct_min_size(ct_max_size(2 * s->stay_ns, TRIAL_NS), MOST_STAY_NS);
    begin_spell(s, now);
}

void ct_placement_learn(struct ct_placement *s, uint32_t who, uint64_t start_ns)
{
    if (s->all == NULL) {
        return;
    }
    const uint64_t now = ct_clock_ns(), here_ns = now - s->spell.since_ns;
    const bool     beside = ct_placement_look(s, who) == CT_PLACEMENT_BESIDE;
    s->spell.lost_ns += ct_min_size(now - start_ns, MOST_WAIT_NS);
    s->spell.switches = beside ? s->spell.switches + 1 : 0;
    if (s->on_trial) {
        if (here_ns >= TRIAL_NS && s->spell.waits >= ENOUGH) {
            placement_judge(s, now);
        }
    } else if (s->spell.switches >= ENOUGH && s->me < who && here_ns >= s->stay_ns) {
        try_elsewhere(s, now);
    }
}

/* ---- beside another -------------------------------------------------------------------------- */

/* Nobody waits long any more for which it went to try another core. But the process stays there for
 * some time, so that a program with changing partners does not move all the time. */
static void drop_trial(struct ct_placement *s, uint64_t now)
{
    if (s->on_trial && now - s->spell.since_ns >= LEAST_STAY_NS) {
        s->on_trial = false;
        begin_spell(s, now);
    }
}

/* Soon again once one of the two is elsewhere, since the kernel takes one of a pair to a core that
 * is idle for a moment; else after twice as long each time. */
static bool is_time_to_join(struct ct_placement *s, int here, int there, uint64_t now)
{
    const bool same = s->join.here == here + 1 && s->join.there == there + 1;
    if (s->on_trial || now - s->join.last_ns < (same ? s->join.stay_ns : LOOK_NS)) {
        return false;
    }
    s->join.last_ns = now;
    s->join.stay_ns = same ? ct_min_size(2 * s->join.stay_ns, MOST_LOOK_NS) : LOOK_NS;
    s->join.here = here + 1;
    s->join.there = there + 1;
    return true;
}

static void move_beside(struct ct_placement *s, int core, const cpu_set_t *allowed, uint64_t now)
{
    s->stay_ns /= 2;  /* it may go soon when there is no reason any more */
    s->join.here = 0; /* and should it be taken back there, it looks soon */
    placement_move(s, core, allowed);
    begin_spell(s, now);
}

void ct_placement_join(struct ct_placement *s, uint32_t who)
{
    ct_placement_take(s); /* the kernel may have moved it */
    const int here = sched_getcpu();
    const int there = s->all != NULL && who < s->n ? core_of(s, who) : -1;
    if (here < 0 || there < 0) {
        return;
    }
    const uint64_t now = ct_clock_ns();
    cpu_set_t      allowed;
    drop_trial(s, now);
    if (there != here && is_time_to_join(s, here, there, now) && may_choose(s, &allowed) &&
        CPU_ISSET((unsigned)there, &allowed)) {
        uint32_t on[CPU_SETSIZE];
        placement_count(s, on);
        if (on[here] > 1 && (on[there] < on[here] || (on[there] == on[here] && s->me < who))) {
            move_beside(s, there, &allowed, now);
        }
    }
    if (s->mine == there + 1) {
        placement_settle(s);
    }
}

/* ---- room for all ---------------------------------------------------------------------------- */

static bool placement_is_on(const struct ct_placement_core *of, int core)
{
    const int32_t at = atomic_load_explicit(&of->core, memory_order_relaxed);
    return at == core + 1 || at == -(core + 1);
}

static bool has_settled(const struct ct_placement_core *of, int core)
{
    return atomic_load_explicit(&of->settled, memory_order_relaxed) == core + 1;
}

/* Processes of that core that stay there before this one does. */
static uint32_t ahead_on(const struct ct_placement *s, int core)
{
    const bool mine = has_settled(&s->all[s->me], core);
    uint32_t   n = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        const bool theirs = has_settled(&s->all[i], core);
        n += placement_is_on(&s->all[i], core) && (theirs == mine ? i < s->me : theirs);
    }
    return n;
}

void ct_placement_spread(struct ct_placement *s)
{
    if (s->all == NULL || s->on_trial) {
        return;
    }
    const uint64_t now = ct_clock_ns();
    const int      here = sched_getcpu();
    cpu_set_t      allowed;
    if (here < 0 || now - s->spread.last_ns < s->spread.stay_ns) {
        return;
    }
    s->spread.last_ns = now;
    s->spread.stay_ns = ct_max_size(s->spread.stay_ns, LEAST_STAY_NS);
    if (ahead_on(s, here) >= s->fair && may_choose(s, &allowed)) {
        uint32_t on[CPU_SETSIZE];
        placement_count(s, on);
        const int best = placement_emptiest(on, here, &allowed);
        s->spread.stay_ns = ct_min_size(2 * s->spread.stay_ns, MOST_STAY_NS);
        if (best >= 0 && on[best] < s->fair) {
            placement_move(s, best, &allowed);
            begin_spell(s, now);
        }
    }
}
