# SPDX-License-Identifier: BSD-3-Clause
"""Curves as SVG: one panel a pattern, both axes logarithmic, a line for each library.

A point is a median; its bar is the 95 % interval of that median. Colour and mark both tell the
libraries apart.
"""
import re
from html import escape
from math import ceil, floor, log10

import stats
from report import number, size

WIDTH, HEIGHT = 380, 290  # of a panel
LEFT, RIGHT, TOP, BOTTOM = 62, 14, 34, 46  # its margins
HEAD = 64
LOOKS = [  # colour, mark
    ("#0b5fc0", "circle"),
    ("#d4650a", "square"),
    ("#2f8a3c", "triangle"),
    ("#8a3ca8", "diamond"),
    ("#6b7078", "circle"),
]


def mark(kind, x, y, colour):
    shapes = {
        "square": f"M{x - 3.2:.1f} {y - 3.2:.1f}h6.4v6.4h-6.4z",
        "triangle": f"M{x:.1f} {y - 4.2:.1f}l4 7h-8z",
        "diamond": f"M{x:.1f} {y - 4.4:.1f}l4.2 4.4l-4.2 4.4l-4.2-4.4z",
    }
    if kind == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.4" fill="{colour}"/>'
    return f'<path d="{shapes[kind]}" fill="{colour}"/>'


def text(x, y, words, anchor="middle", extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {extra}>{escape(words)}</text>'


def line(x1, y1, x2, y2, css):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{css}"/>'


class Axis:
    """Maps positive values to pixels by their logarithm; 0 gets a place of its own, at the low
    end."""

    def __init__(self, values, first, last):
        positive = [v for v in values if v > 0] or [1]
        low, high = log10(min(positive)), log10(max(positive))
        if high - low < 0.3:
            low, high = low - 0.3, high + 0.3
        pad = 0.04 * (high - low)
        self.zero = low - 0.12 * (high - low) if 0 in values else None
        self.low = (low if self.zero is None else self.zero) - pad
        self.high = high + pad
        self.first, self.last = first, last

    def at(self, value):
        exponent = log10(value) if value > 0 else self.zero
        share = (exponent - self.low) / (self.high - self.low)
        return self.first + share * (self.last - self.first)

    def ticks(self):
        """Decades; with fewer than three of them also 2 and 5 in each."""
        decades = range(floor(self.low), ceil(self.high) + 1)
        few = self.high - self.low < 2.5
        steps = (1, 2, 5) if few else (1,)
        values = [m * 10.0**d for d in decades for m in steps]
        return [v for v in values if self.low <= log10(v) <= self.high]


def thin(values, most):
    """At most about `most` of the values, the ends among them."""
    step = max(1, ceil(len(values) / most))
    return [v for i, v in enumerate(values) if (len(values) - 1 - i) % step == 0]


class Panel:
    """`points` has one pattern and one unit; x says which field of a point goes to the right."""

    def __init__(self, points, chosen, title, x):
        self.points, self.chosen, self.title, self.x = points, chosen, title, x
        xs = sorted({getattr(p, x) for p in chosen})
        ys = [v for p in chosen for by in points.figures[p].values() for v in self.spread(by)]
        self.xs = xs
        self.across = Axis(xs, LEFT, WIDTH - RIGHT)
        self.up = Axis([y for y in ys if y > 0], HEIGHT - BOTTOM, TOP)

    @staticmethod
    def spread(values):
        low, high = stats.interval(values) or (min(values), max(values))
        return low, stats.median(values), high

    def frame(self):
        bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
        yield text(LEFT, 20, self.title, "start", 'class="title"')
        for y in self.up.ticks():
            at = self.up.at(y)
            yield line(LEFT, at, right, at, "grid")
            yield text(LEFT - 6, at + 4, f"{y:g}", "end")
        for x in thin(self.xs, 9):
            at = self.across.at(x)
            yield line(at, TOP, at, bottom, "grid")
            yield text(at, bottom + 15, size(x))
        yield line(LEFT, bottom, right, bottom, "axis")
        yield line(LEFT, TOP, LEFT, bottom, "axis")
        label = "bytes" if self.x == "bytes" else "ranks"
        yield text((LEFT + right) / 2, bottom + 34, label)
        middle = (TOP + bottom) / 2
        turned = f'transform="rotate(-90 14 {middle:.1f})"'
        yield text(14, middle, self.chosen[0].unit, "middle", turned)

    def curve(self, library, look, shift):
        colour, kind = look
        places = []
        for point in sorted(self.chosen, key=lambda p: getattr(p, self.x)):
            values = self.points.figures[point].get(library)
            if not values or stats.median(values) <= 0:
                continue
            low, middle, high = self.spread(values)
            x, y = self.across.at(getattr(point, self.x)) + shift, self.up.at(middle)
            top, bottom = self.up.at(high), self.up.at(max(low, 1e-12))
            yield f'<path d="M{x:.1f} {top:.1f}V{bottom:.1f}" stroke="{colour}" class="bar"/>'
            tip = f"{library}, {size(getattr(point, self.x))}: {number(middle)} {point.unit}"
            places.append((x, y, tip))
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in places)
        yield f'<polyline points="{path}" stroke="{colour}" class="curve"/>'
        for x, y, tip in places:
            yield f"<g><title>{escape(tip)}</title>{mark(kind, x, y, colour)}</g>"

    def draw(self, looks):
        parts = list(self.frame())
        middle = (len(self.points.libraries) - 1) / 2
        for i, library in enumerate(self.points.libraries):  # beside each other, to see all bars
            parts += self.curve(library, looks[library], 3 * (i - middle))
        return "\n".join(parts)


def panels(points):
    """A panel for each pattern and number of ranks; patterns without sizes go over the ranks."""
    groups = {}
    for p in points.figures:
        groups.setdefault(p.pattern, []).append(p)
    for pattern, chosen in groups.items():
        if all(p.bytes == 0 for p in chosen):
            yield Panel(points, chosen, pattern, "ranks")
            continue
        for ranks in sorted({p.ranks for p in chosen}):
            some = [p for p in chosen if p.ranks == ranks]
            yield Panel(points, some, f"{pattern}, {ranks} ranks", "bytes")


STYLE = """text { font: 11px sans-serif; fill: #24292f }
.title { font-size: 13px; font-weight: bold }
.grid { stroke: #e2e5e9 } .axis { stroke: #57606a } .bar { stroke-width: 1.2; opacity: .6 }
.curve { fill: none; stroke-width: 1.8 }"""


def legend(points, looks):
    x = LEFT
    for library in points.libraries:
        colour, kind = looks[library]
        version = re.search(r"\d+\.\d+[.\w]*", points.about.get("versions", {}).get(library, ""))
        words = f"{library} {version[0]}" if version else library
        yield f'<path d="M{x:.0f} 44h26" stroke="{colour}" class="curve"/>'
        yield mark(kind, x + 13, 44, colour)
        yield text(x + 34, 48, words, "start")
        x += 60 + 6.6 * len(words)


def svg(points, title="ctran_perf"):
    looks = {name: LOOKS[i % len(LOOKS)] for i, name in enumerate(points.libraries)}
    drawn = list(panels(points))
    columns = min(3, max(1, len(drawn)))
    high = HEAD + HEIGHT * ceil(len(drawn) / columns)
    wide = max(WIDTH * columns, 640)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" '
        f'viewBox="0 0 {wide} {high}">',
        f"<style>{STYLE}</style>",
        f'<rect width="{wide}" height="{high}" fill="white"/>',
        text(LEFT, 22, title, "start", 'class="title"'),
        *legend(points, looks),
    ]
    for i, panel in enumerate(drawn):
        x, y = WIDTH * (i % columns), HEAD + HEIGHT * (i // columns)
        parts.append(f'<g transform="translate({x} {y})">\n{panel.draw(looks)}\n</g>')
    return "\n".join(parts) + "\n</svg>\n"
