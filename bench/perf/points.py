# SPDX-License-Identifier: BSD-3-Clause
"""What has been measured: for each point the figures of each library, one a round.

A point is a pattern, a number of ranks and a size. The n-th figures of all libraries were measured
in the same round, right after each other, so they make pairs.
"""
import stats
from collections import namedtuple

Point = namedtuple("Point", "pattern ranks bytes unit")
Comparison = namedtuple("Comparison", "ratio bounds verdict")
MORE_IS_BETTER = {"us": False, "ms": False, "KiB": False, "MB/s": True, "kmsg/s": True,
                  "GB/s": True}
OURS = "ctran"


class Points:
    def __init__(self, libraries, about=None):
        self.libraries = list(libraries)  # in the order of columns
        self.about = about or {}  # versions, machine, command
        self.figures = {}  # point -> library -> list

    def add(self, point, library, figure):
        self.figures.setdefault(point, {}).setdefault(library, []).append(figure)

    def peers(self):
        """Those that ctran is held against: not the floor."""
        return [n for n in self.libraries if n != OURS and n not in self.about.get("floors", [])]

    def compare(self, point, peer):
        """ctran against `peer`, or None where one of them was not measured."""
        by = self.figures[point]
        if OURS not in by or peer not in by:
            return None
        count = min(len(by[OURS]), len(by[peer]))
        better = stats.ratios(by[OURS][:count], by[peer][:count], MORE_IS_BETTER[point.unit])
        if not better:
            return None
        bounds = stats.interval(better)
        return Comparison(stats.median(better), bounds, stats.verdict(bounds))

    def to_json(self):
        points = [dict(p._asdict(), figures=by) for p, by in self.figures.items()]
        return {"about": self.about, "libraries": self.libraries, "points": points}

    @classmethod
    def from_json(cls, tree):
        self = cls(tree["libraries"], tree["about"])
        for entry in tree["points"]:
            self.figures[Point(*(entry[k] for k in Point._fields))] = entry["figures"]
        return self
