# SPDX-License-Identifier: BSD-3-Clause
"""Few rows for a collective, found greedily.

At a place an algorithm costs the mean, over the clusters, of its time by that of the one which is
best there: the geometric mean, so that clusters count alike. It will do where that is within the
share of the least that any costs. The next row is the one that settles most places: those where its
conditions hold, its algorithm fits and no row before has settled it, at all of which it will do.
Then rows and conditions without which all places are settled as well are taken away, and each row
gets the algorithm that costs least where it settles. Sets of places are bits of a number.
"""
from collections import namedtuple
from math import exp, log

import tables
from simulated import LOST, ranks_of

FACTS = ("nodes", "local", "ranks", "bytes")
# How much fewer places a row with one more condition may settle and still be taken; the shortest
# of the lists that these give is kept.
WEIGHTS = (0.6, 0.7, 0.8, 0.9, 1.0)
CONDITION = 0.3  # of a row, that a condition is to who reads

# limits: fact -> (first, last) of its values, by number; covers: the places that it settles.
Rule = namedtuple("Rule", "limits algorithm")


def mean(ratios):
    return exp(sum(map(log, ratios)) / len(ratios))


def ratio(us, best):
    """us None: the run was given up. Nothing takes no time but what moves nothing, which all do
    alike."""
    return LOST if us is None else us / best if best > 0 else 1.0


def value(place, fact):
    return ranks_of(place) if fact == "ranks" else getattr(place, fact)


class Ground:
    """The places of a collective, and what each algorithm costs at each."""

    def __init__(self, times, share):
        self.places = sorted(times)
        self.values = {f: sorted({value(p, f) for p in self.places}) for f in FACTS}
        self.cut = {}  # (fact, first, last): the places that where() found
        self.ratios = []  # of each place: algorithm -> a ratio for each cluster
        self.costs = []
        for place in self.places:
            by = times[place]
            best = [min(us for us in column if us is not None) for column in zip(*by.values())]
            self.ratios.append({a: [ratio(t, b) for t, b in zip(us, best)]
                                for a, us in by.items()})
            self.costs.append({a: mean(r) for a, r in self.ratios[-1].items()})
        self.all = (1 << len(self.places)) - 1
        names = sorted({a for by in self.costs for a in by})
        self.fits = {a: self.mask(lambda i, a=a: a in self.costs[i]) for a in names}
        self.good = {a: self.mask(lambda i, a=a: self.will_do(i, a, share)) for a in names}

    def mask(self, holds):
        return sum(1 << i for i in range(len(self.places)) if holds(i))

    def bits(self, mask):
        return [i for i in range(len(self.places)) if mask >> i & 1]

    def will_do(self, i, algorithm, share):
        """What was given up somewhere costs nobody knows what: it will do only if all were."""
        known = {a: c for a, c in self.costs[i].items() if LOST not in self.ratios[i][a]}
        costs = known or self.costs[i]
        return algorithm in costs and costs[algorithm] <= min(costs.values()) * (1 + share) + 1e-9

    def where(self, limits):
        """The places at which the conditions hold."""
        found = self.all
        for fact, (first, last) in limits.items():
            if (fact, first, last) not in self.cut:
                least, most = self.values[fact][first], self.values[fact][last]
                self.cut[fact, first, last] = self.mask(
                    lambda i, f=fact, a=least, b=most: a <= value(self.places[i], f) <= b)
            found &= self.cut[fact, first, last]
        return found

    def around(self, mask):
        """The closest conditions that hold at these places."""
        limits = {}
        for fact in FACTS:
            at = [self.values[fact].index(value(self.places[i], fact)) for i in self.bits(mask)]
            limits[fact] = (min(at), max(at))
        return limits

    def conditions(self, limits):
        """How many words they take; an interval has two."""
        return sum(1 if a == b else (a > 0) + (b < len(self.values[f]) - 1)
                   for f, (a, b) in limits.items())


def intervals(n, both):
    """Of n values: all of them, which is no condition and None; one; up to one, from one on; with
    `both` any."""
    yield None
    for a in range(n):
        for b in range(a, n):
            if (both or a == b or a == 0 or b == n - 1) and (a, b) != (0, n - 1):
                yield a, b


def boxes(ground):
    """mask -> the conditions that say so, the fewest there are. On two of the numbers of hosts, of
    ranks on one, and of ranks at most, and on the bytes."""
    n = {f: len(v) for f, v in ground.values.items()}
    cut = {f: [(w, ground.where({f: w}) if w else ground.all)
               for w in intervals(n[f], f == "bytes")] for f in FACTS}
    found = {}
    for one, two in (("nodes", "local"), ("nodes", "ranks"), ("local", "ranks")):
        for (u, first), (v, second) in ((x, y) for x in cut[one] for y in cut[two]):
            where = first & second
            for w, third in cut["bytes"] if where else ():
                limits = {f: x for f, x in ((one, u), (two, v), ("bytes", w)) if x}
                box = where & third
                words = ground.conditions(limits)
                if box and (box not in found or words < found[box][1]):
                    found[box] = (limits, words)
    return found


def greedy(ground, known, weight):
    rules, left = [], ground.all
    while left:
        best = None
        for algorithm, fits in ground.fits.items():
            good = ground.good[algorithm] & left
            bad = fits & left & ~good
            for box, (limits, words) in known.items():
                if box & bad or not box & good:
                    continue
                score = ((box & good).bit_count() * weight**words, -words)
                if best is None or score > best[0]:
                    best = (score, Rule(limits, algorithm), box & good)
        rules.append(best[1])
        left &= ~best[2]
    return rules


def cost(ground, places, algorithm):
    return mean([ground.costs[i][algorithm] for i in places])


def settle(ground, rules):
    """The places that each rule settles, and those that none does."""
    left, settled = ground.all, []
    for rule in rules:
        here = ground.where(rule.limits) & ground.fits[rule.algorithm] & left
        settled.append(here)
        left &= ~here
    return settled, left


def holds(ground, rules):
    settled, left = settle(ground, rules)
    return not left and not any(here & ~ground.good[r.algorithm]
                                for here, r in zip(settled, rules))


def without(ground, rules):
    """Lists with one row or one condition less, from the end on."""
    for k in reversed(range(len(rules))):
        yield rules[:k] + rules[k + 1:]
        for fact in rules[k].limits:
            rest = {f: w for f, w in rules[k].limits.items() if f != fact}
            yield [*rules[:k], rules[k]._replace(limits=rest), *rules[k + 1:]]
            last = len(ground.values[fact]) - 1
            for open_ in ((0, rules[k].limits[fact][1]), (rules[k].limits[fact][0], last)):
                if open_ not in (rules[k].limits[fact], (0, last)):
                    wider = {**rules[k].limits, fact: open_}
                    yield [*rules[:k], rules[k]._replace(limits=wider), *rules[k + 1:]]


def size_of(ground, rules):
    return sum(1 + CONDITION * ground.conditions(r.limits) for r in rules)


def trimmed(ground, rules):
    while True:
        for fewer in without(ground, rules):
            if size_of(ground, fewer) < size_of(ground, rules) and holds(ground, fewer):
                rules = fewer
                break
        else:
            return rules


def exceptions_first(ground, rules):
    """Trimmed, after a row has been moved to the front, with just those places that it settles:
    where that is shorter."""
    shortest = trimmed(ground, rules)
    while True:
        rules, (settled, _) = shortest, settle(ground, shortest)
        for k in range(1, len(rules)):
            first = rules[k]._replace(limits=ground.around(settled[k]))
            other = [first, *rules[:k], *rules[k + 1:]]
            if holds(ground, other):
                other = trimmed(ground, other)
                shortest = min(shortest, other, key=lambda r: size_of(ground, r))
        if shortest is rules:
            return rules


def cheapest(ground, rules):
    """Each row with the algorithm that costs least where it settles, if all are settled then."""
    for k in range(len(rules)):
        settled, _ = settle(ground, rules)
        places = ground.bits(settled[k])
        able = [a for a, good in ground.good.items() if not settled[k] & ~good]
        for algorithm in sorted(able, key=lambda a: (cost(ground, places, a), a)):
            other = [*rules[:k], rules[k]._replace(algorithm=algorithm), *rules[k + 1:]]
            if holds(ground, other):
                rules = other
                break
    return rules


def find(ground):
    known = boxes(ground)
    lists = [cheapest(ground, exceptions_first(ground, greedy(ground, known, w))) for w in WEIGHTS]
    return min(lists, key=lambda rules: size_of(ground, rules))  # the first of those


# ---- as text -------------------------------------------------------------------------------------


def middle(a, b):
    """The last value that goes by a and not by b: half way in proportion, to a power of two where
    there is one between."""
    least, most = tables.spans([a, b])[a]
    even = 1 << max(most, 1).bit_length() - 1
    return even if max(least, a) <= even else most


def limits_of(ground, fact, first, last):
    """(least, most): 0 and None are no limit. Bytes have round numbers, so two rows may both take
    the one between them, which the first has then."""
    values, natural = ground.values[fact], {"nodes": 1, "local": 1, "ranks": 2, "bytes": 0}[fact]
    most = middle(values[last], values[last + 1]) if last + 1 < len(values) else None
    if first == 0:
        return natural if most == natural else 0, most
    before = middle(values[first - 1], values[first])
    if fact != "bytes":
        return before + 1, most
    return before if before > values[first - 1] else values[first], most


def row(ground, rule):
    """Where no single host was simulated rows are for several, as those of levels are anyway, and
    for one where no other was; larger numbers than any that was simulated go by the largest."""
    text = ground.places[0].collective
    for fact in FACTS:
        everything = (0, len(ground.values[fact]) - 1)
        least, most = limits_of(ground, fact, *rule.limits.get(fact, everything))
        level = rule.algorithm.startswith(("hier_", "rail_"))
        if fact == "nodes" and ground.values[fact][0] > 1 and least == 0 and not level:
            least = 2
        if fact == "nodes" and ground.values[fact] == [1]:
            least = most = 1
        text += tables.condition(fact, least, most, tables.size if fact == "bytes" else str)
    return f"{text} {rule.algorithm}"
