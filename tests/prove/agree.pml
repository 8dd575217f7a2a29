/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The agreement of src/ft/agree.c, for spin: N processes of which all but one may die, at every
 * step and between any two messages of one step. Steps bear the names of the functions that carry
 * them out; what those do under the domain's lock is atomic here. Messages of a pair keep their
 * order; a process learns of a death at any time after it, and takes nothing of the dead one then.
 * A value is the set of those whose parts are in it. RADIX is that of the tree.
 *
 * Shrink is the same agreement, on the set `fail`. What is asserted:
 *   - all that return do so with one value and one set, those that die later included (settle);
 *   - a value has the part of each process that returns it, and its set has only dead ones;
 *   - when nothing more happens all that live have returned, and none keeps it (watcher).
 */
#ifndef N
#define N 3
#endif
#ifndef RADIX
#define RADIX 2
#endif
#ifndef SKIPS_PROPOSE /* 1: a mutant, which is not uniform */
#define SKIPS_PROPOSE 0
#endif
#define DECIDED 255
#define HAS(set, i) (((set) >> (i)) & 1)
#define COLLECT 1
#define PROPOSE 2
#define DECIDE  3
#define FORGET  4
#define NONE    0
#define KEPT    1
#define GONE    2

mtype = { DOWN, UP, ASK };

chan link[N * N] = [8] of { mtype, byte, byte, byte, byte, byte, byte };
byte dead, returned, keeps; /* sets */
byte result = DECIDED, result_fail; /* of the first that returned */

/* It may die before any message. */
inline post(to, kind, b, ph, a, v, f, e)
{
    if
    :: true
    :: dead != ((1 << N) - 1 - (1 << me)) -> dead = dead | (1 << me)
    fi;
    if
    :: !HAS(dead, me) && !HAS(dead, to) -> link[me * N + to]!kind, b, ph, a, v, f, e
    :: else
    fi
}

/* Places in the tree of those that are not in `excl`. */
inline place_of(member, out)
{
    out = 0; i = 0;
    do
    :: i < member -> out = out + (1 - HAS(excl, i)); i++
    :: else -> break
    od
}

inline member_at(place, out)
{
    out = N; i = 0; k = 0;
    do
    :: i < N && !HAS(excl, i) && k == place -> out = i; break
    :: i < N && !HAS(excl, i) && k != place -> k++; i++
    :: i < N && HAS(excl, i) -> i++
    :: i == N -> break
    od
}

inline send_down()
{
    nch = 0;
    place_of(me, at);
    at = at * RADIX + 1;
    do
    :: nch < RADIX ->
       member_at(at + nch, to);
       if
       :: to == N -> break
       :: else -> post(to, DOWN, ballot, phase, acc, val, fail, excl); nch++
       fi
    :: else -> break
    od
}

inline send_up()
{
    place_of(me, at);
    member_at((at - 1) / RADIX, to);
    post(to, UP, ballot, phase, sacc, sval, sfail, 0)
}

inline settle()
{
    acc = DECIDED;
    if
    :: !HAS(dead, me) && !HAS(returned, me) ->
       returned = returned | (1 << me);
       assert(HAS(val, me));
       assert((fail & ~dead) == 0);
       if
       :: result == DECIDED -> result = val; result_fail = fail
       :: else -> assert(result == val && result_fail == fail)
       fi
    :: else
    fi
}

inline phase_begin()
{
    answered = 0; nans = 0; sacc = 0; sval = 0; sfail = 0;
    if
    :: phase == PROPOSE && acc != DECIDED -> acc = ballot
    :: else
    fi;
    send_down();
    if
    :: phase == DECIDE -> settle()
    :: else
    fi
}

inline merge(a, v, f)
{
    if
    :: a > sacc -> sacc = a; sval = v; sfail = f
    :: a == 0 && sacc == 0 -> sval = sval | v; sfail = sfail | f
    :: else
    fi
}

inline phase_next()
{
    if
    :: phase == COLLECT ->
       if
       :: acc != DECIDED ->
          acc = sacc; val = sval; fail = sfail;
          if
          :: sacc == 0 -> fail = fail | excl
          :: else
          fi
       :: else
       fi;
       if
       :: acc == DECIDED || SKIPS_PROPOSE -> phase = DECIDE
       :: else -> phase = PROPOSE
       fi
    :: else -> phase++
    fi
}

inline op_drop()
{
    op = GONE;
    keeps = keeps & ~(1 << me);
    ballot = 0; phase = 0; excl = 0; answered = 0; nans = 0; nch = 0;
    acc = 0; val = 0; fail = 0; sacc = 0; sval = 0; sfail = 0
}

inline advance()
{
    do
    :: op == KEPT && !HAS(dead, me) && phase != 0 && !answered && nans == nch &&
       (phase != COLLECT || contributed) ->
       if
       :: phase == COLLECT && acc != 0 -> merge(acc, val, fail)
       :: phase == COLLECT && acc == 0 -> merge(0, 1 << me, known)
       :: else
       fi;
       answered = 1;
       if
       :: ballot / 16 != me -> send_up(); break
       :: else ->
          phase_next();
          phase_begin();
          if
          :: phase == FORGET -> op_drop(); break
          :: else
          fi
       fi
    :: else -> break
    od
}

/* The first that is not known to be dead; `known` never has this process. */
inline leader(out)
{
    out = 0;
    do
    :: HAS(known, out) -> out++
    :: else -> break
    od
}

inline lead()
{
    if
    :: ballot != 0 && ballot / 16 == me -> ballot++
    :: else -> ballot = me * 16 + 1
    fi;
    if
    :: acc == DECIDED -> phase = DECIDE
    :: else -> phase = COLLECT
    fi;
    excl = known;
    phase_begin();
    advance()
}

inline keep()
{
    op = KEPT;
    keeps = keeps | (1 << me)
}

inline op_begin()
{
    if
    :: op == NONE -> keep()
    :: else
    fi;
    contributed = 1;
    leader(at);
    if
    :: at == me && (ballot == 0 || ballot / 16 != me) -> lead()
    :: else -> advance()
    fi
}

inline on_forget(from)
{
    if
    :: op == KEPT && mb == ballot && phase == DECIDE -> phase = FORGET; send_down()
    :: else
    fi;
    if
    :: op == KEPT && acc == DECIDED -> op_drop()
    :: else
    fi
}

inline on_down()
{
    if
    :: op == NONE -> keep()
    :: else
    fi;
    if
    :: op == KEPT && (mb > ballot || (mb == ballot && mph > phase)) && !HAS(mex, me) ->
       ballot = mb; phase = mph; excl = mex;
       if
       :: phase != COLLECT && acc != DECIDED -> acc = ma; val = mv; fail = mf
       :: else
       fi;
       phase_begin();
       advance()
    :: else
    fi
}

inline on_up()
{
    if
    :: op == KEPT && mb == ballot && mph == phase && !answered ->
       if
       :: phase == COLLECT -> merge(ma, mv, mf)
       :: else
       fi;
       nans++;
       advance()
    :: else
    fi
}

/* One that keeps nothing has forgotten, as the asker has the result. */
inline on_ask(from)
{
    if
    :: op != KEPT -> assert(op == GONE); post(from, DOWN, mb, FORGET, 0, 0, 0, 0)
    :: else
    fi
}

inline receive(from)
{
    link[from * N + me]?kind, mb, mph, ma, mv, mf, mex;
    if
    :: kind == DOWN && mph == FORGET -> on_forget(from)
    :: kind == DOWN && mph != FORGET -> on_down()
    :: kind == UP -> on_up()
    :: kind == ASK -> on_ask(from)
    fi;
    kind = 0; mb = 0; mph = 0; ma = 0; mv = 0; mf = 0; mex = 0; at = 0; to = 0; i = 0; k = 0
}

inline member_fails(who)
{
    known = known | (1 << who);
    do
    :: len(link[who * N + me]) > 0 -> link[who * N + me]?kind, mb, mph, ma, mv, mf, mex
    :: else -> break
    od;
    leader(at);
    if
    :: op == KEPT && contributed && at == me &&
       (ballot == 0 || ballot / 16 != me || !HAS(excl, who)) -> lead()
    :: op == KEPT && at != me && acc == DECIDED -> post(at, ASK, ballot, phase, 0, 0, 0, 0)
    :: else
    fi;
    kind = 0; mb = 0; mph = 0; ma = 0; mv = 0; mf = 0; mex = 0; at = 0; to = 0; i = 0; k = 0
}

#define RECEIVE(q) q < N && !HAS(dead, me) && len(link[((q) % N) * N + me]) > 0
#define LEARN(q)   q < N && q != me && !HAS(dead, me) && HAS(dead, q) && !HAS(known, q)

proctype member(byte me)
{
    byte op = NONE, known, ballot, phase, excl, nch, nans, acc, val, fail, sacc, sval, sfail;
    bit  contributed, answered;
    mtype kind;
    byte mb, mph, ma, mv, mf, mex, at, to, i, k;
end:
    do
    :: atomic { !HAS(dead, me) && !contributed -> op_begin(); at = 0; to = 0; i = 0; k = 0 }
    :: atomic { RECEIVE(0) -> receive(0) }
    :: atomic { RECEIVE(1) -> receive(1) }
    :: atomic { RECEIVE(2) -> receive(2 % N) }
    :: atomic { RECEIVE(3) -> receive(3 % N) }
    :: atomic { LEARN(0) -> member_fails(0) }
    :: atomic { LEARN(1) -> member_fails(1) }
    :: atomic { LEARN(2) -> member_fails(2) }
    :: atomic { LEARN(3) -> member_fails(3) }
    :: atomic { !HAS(dead, me) && dead != ((1 << N) - 1 - (1 << me)) ->
                dead = dead | (1 << me); break }
    :: atomic { HAS(dead, me) -> break }
    od
}

proctype watcher()
{
    timeout ->
    assert((returned | dead) == (1 << N) - 1);
    assert((keeps & ~dead) == 0)
}

init
{
    atomic {
        byte j = 0;
        do
        :: j < N -> run member(j); j++
        :: else -> break
        od;
        run watcher()
    }
}
