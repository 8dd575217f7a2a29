# SPDX-License-Identifier: BSD-3-Clause
"""Tables of algorithms made of measurements: ctran_perf --tune; ctran-tuning(7) has the format.

Each algorithm that fits is forced in turn, by messages and, where it can, through shared memory;
they take turns in every round. At each point the figures are held against those of the
algorithm that runs there now, pair by pair, and only one that is certainly faster gets a row. The
rows come before those of the table in force, which stay.
"""
from collections import namedtuple

import libraries
import stats
import tables

# The pattern that measures a collective, where it has another name.
PATTERNS = {"reduce_scatter": "reduce_scatter_block"}

RADICES = (3, 4, 8)  # tried beside 2, the default

# What is forced: the algorithm as a table names it, through shared memory or by messages.
Way = namedtuple("Way", "algorithm shm")
# Where a choice is made; `shm`: the ranks have one.
Place = namedtuple("Place", "collective ranks bytes shm")
# What is better there, how many times than what runs now, and the interval of that.
Better = namedtuple("Better", "way now ratio bounds")


class Now(tables.Now):
    """Beside what runs, what could."""

    def ways(self, collective, ranks):
        """All that could serve, those through shared memory where ranks may have one."""
        entry = self.choices(collective, ranks, ranks)
        shm = any(e["with_shm"] for e in entry)
        for fitting in entry[0]["fits"]:
            yield Way(fitting["name"], False)
            for radix in RADICES if fitting["radix"] else ():
                if radix <= ranks:
                    yield Way(f"{fitting['name']}:{radix}", False)
            if shm and fitting["shm"]:
                yield Way(fitting["name"], True)

    def places(self, collective, ranks, size):
        """Each place at this size with the way that is taken there now."""
        for entry in self.choices(collective, ranks, size):
            shm = {f["name"] for f in entry["fits"] if f["shm"]}
            way = Way(tables.named(entry), entry["with_shm"] and entry["algorithm"] in shm)
            yield Place(collective, ranks, size, entry["with_shm"]), way


def rivals(place, now, figures):
    """The ways that could be taken at a place: what can go through shared memory does."""
    over = {way.algorithm for way in figures if way.shm}
    for way in figures:
        if way != now and way.shm == (place.shm and way.algorithm in over):
            yield way


def best(place, now, figures):
    """The way that is faster than `now` by most, among those that certainly are; or None."""
    found = None
    for way in rivals(place, now, figures):
        ratios = stats.ratios(figures[way], figures[now], False)
        bounds = stats.interval(ratios)
        if bounds is not None and bounds[0] > 1:
            better = Better(way, now, stats.median(ratios), bounds)
            found = better if found is None or better.ratio > found.ratio else found
    return found


# ---- rows ----------------------------------------------------------------------------------------


def row_of(place, ranks_span, least, most, way):
    row = place.collective + (" shm" if place.shm else "")
    row += tables.condition("ranks", *ranks_span, str) + " nodes=1"
    if place.collective != "barrier":
        row += tables.condition("bytes", least, most, tables.size)
    return f"{row} {way.algorithm}"


def rows_of(found, all_ranks, shm):
    """Rows with their reasons, of {place: Better or None} for the places with or without shm;
    sizes that are side by side and have one answer share a row."""
    kept = sorted(set(all_ranks))
    ranks_spans = dict(zip(kept, zip([2] + [r + 1 for r in kept[:-1]], kept)))
    lines = {p[:2]: [] for p in found if p.shm == shm}
    for p in sorted(p for p in found if p.shm == shm):
        lines[p[:2]].append(p)
    for places in lines.values():
        bounds = tables.spans(p.bytes for p in places)
        at = 0
        while at < len(places):
            end = at
            while end + 1 < len(places) and same(found[places[at]], found[places[end + 1]]):
                end += 1
            first = places[at]
            if found[first] is not None:
                for p in places[at : end + 1]:
                    yield reason(p, found[p])
                least, most = bounds[first.bytes][0], bounds[places[end].bytes][1]
                yield row_of(first, ranks_spans[first.ranks], least, most, found[first].way)
            at = end + 1


def same(a, b):
    return (a and a.way) == (b and b.way)


def reason(place, better):
    where = "" if place.collective == "barrier" else f" at {tables.size(place.bytes)}"
    now = better.now.algorithm + (" through shared memory" if better.now.shm else "")
    low, high = better.bounds
    return f"# on {place.ranks} ranks{where} {better.ratio:.2f} [{low:.2f}, {high:.2f}] times as " \
           f"fast as {now}"


def table(found, now, ranks, about):
    """The text of the table; `about` is lines for its head."""
    shm, others = tables.split(now.rows)
    parts = [("Faster through shared memory, as measured.", list(rows_of(found, ranks, True))),
             (f"The rest of the shm_coll: {now.source}.", shm),
             ("Faster by messages, as measured.", list(rows_of(found, ranks, False))),
             (f"All else: {now.source}.", others)]
    return tables.text_of(about, parts)


# ---- measuring -----------------------------------------------------------------------------------


class Tuner:
    def __init__(self, ours, launch, options, limit):
        self.ours, self.launch, self.options, self.limit = ours, launch, options, limit
        self.now = Now(ours.info)

    def run(self, collective, way, ranks):
        """Block size -> microseconds, of one run."""
        pattern = PATTERNS.get(collective, collective)
        # Before it is measured there are collectives enough for the shm_coll.
        forced = tables.environment(CTRAN_COLL_ALGORITHM=f"{collective}:{way.algorithm}",
                                    CTRAN_COLL_SHM="1" if way.shm else "0")
        command = [*self.launch(ranks), self.ours.program, *self.options, pattern]
        what = f"{collective} {way.algorithm} on {ranks} ranks"
        lines = libraries.run(command, what, self.limit, forced).splitlines()
        return {int(w[1]): float(w[2]) for w in map(str.split, lines) if w[0] == pattern}

    def measure(self, collective, ranks, rounds, progress):
        """Block size -> way -> figures, one a round."""
        figures = {}
        ways = list(self.now.ways(collective, ranks))
        for turn in range(rounds):
            for way in ways if turn % 2 == 0 else reversed(ways):
                for size, us in self.run(collective, way, ranks).items():
                    figures.setdefault(size, {}).setdefault(way, []).append(us)
            progress(f"{collective}, {len(ways)} ways, {ranks}", turn + 1, rounds)
        return figures

    def tune(self, collectives, all_ranks, rounds, progress):
        """place -> Better or None."""
        found = {}
        for ranks in all_ranks:
            for collective in collectives:
                figures = self.measure(collective, ranks, rounds, progress)
                for block, by in figures.items():
                    size = block * (ranks if tables.COLLECTIVES[collective] else 1)
                    for place, way in self.now.places(collective, ranks, size):
                        found[place] = best(place, way, by) if way in by else None
        return found
