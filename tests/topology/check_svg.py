#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds pictures of ctran_info against what makes them legible.

usage: check_svg.py FILE.svg...

Boxes (a <g> with a <rect>) lie within their parents and beside their siblings, labels within their
box and on nothing else, lines touch no label, run through no device and do not lie on each other,
and the whole is bounded.
Labels are measured by a table of this program's own. Prints each violation; exit status 1 if there
is one. Imported by pictures.py, which also looks whether all that a machine has is there.
"""
import re
import sys
import xml.etree.ElementTree as ET
from collections import defaultdict

MAX_WIDTH, MAX_HEIGHT = 2700, 8000
LEAST_SIZE = 9  # of a typeface
SVG = "{http://www.w3.org/2000/svg}"
# Advance in hundredths of the size, of DejaVu Sans; others are no wider.
WIDE = {" ": 32, "m": 98, "w": 82, "M": 87, "W": 99, "%": 96, "@": 100, "\u2026": 100}
for chars, width in (("ijl|'I", 30), (",.", 32), ("0123456789", 64), ("ckvxyz", 60), ("s", 53),
                     (":;/\\-", 37),
                     ("ft()r[]!", 42), ("\"*^_", 51), ("ABCDEFGHJKLNOPQRSTUVXYZ&", 79),
                     ("+<>=~", 84)):
    for char in chars:
        WIDE.setdefault(char, width)
BOLD = 1.12
# Lines with level parts, and boxes of a cluster that these run beside.
BETWEEN = {"rail": ("rack",), "spine": ("rack", "zone"), "more": (), "backup": (), "nvlink": ()}
SOLID = ("gpu", "nic", "cpus", "cell", "host", "hosts", "key", "swatch")


def text_width(text, size, bold):
    per = sum(WIDE.get(c, 65 if c < "\x7f" else 105) for c in text) * size / 100
    return per * (BOLD if bold else 1)


class Box:
    def __init__(self, x0, y0, x1, y1, what, parent=None, kind="", name=None):
        self.x0, self.y0, self.x1, self.y1 = x0, y0, x1, y1
        self.what, self.parent, self.kind, self.name = what, parent, kind, name

    def overlaps(self, other, slack=0.0):
        return (self.x0 < other.x1 - slack and other.x0 < self.x1 - slack
                and self.y0 < other.y1 - slack and other.y0 < self.y1 - slack)

    def holds(self, other):
        return (self.x0 <= other.x0 and self.y0 <= other.y0 and other.x1 <= self.x1
                and other.y1 <= self.y1)

    def shrunk(self, by):
        return Box(self.x0 + by, self.y0 + by, self.x1 - by, self.y1 - by, self.what)

    def ancestors(self):
        at = self.parent
        while at is not None:
            yield at
            at = at.parent


class Grid:
    """Finds what is near without looking at all."""
    STEP = 100

    def __init__(self, boxes):
        self.cells = defaultdict(list)
        for box in boxes:
            for cell in self.cells_of(box):
                self.cells[cell].append(box)

    def cells_of(self, box):
        for i in range(int(box.x0 // self.STEP), int(box.x1 // self.STEP) + 1):
            for k in range(int(box.y0 // self.STEP), int(box.y1 // self.STEP) + 1):
                yield i, k

    def near(self, box):
        return {id(b): b for cell in self.cells_of(box) for b in self.cells.get(cell, ())}.values()


class Picture:
    def __init__(self, data):
        self.found = []
        self.boxes, self.labels, self.lines = [], [], []
        root = ET.fromstring(data)
        if root.tag != SVG + "svg":
            raise ValueError(f"the root is {root.tag}, not an SVG picture")
        self.ground = Box(0, 0, float(root.get("width")), float(root.get("height")), "the picture")
        for element in root:
            self.walk(element, self.ground)

    def walk(self, element, parent):
        if element.tag == SVG + "g":
            rect = element.find(SVG + "rect")
            if rect is not None:
                parent = self.add_box(element, rect, parent)
            for child in element:
                self.walk(child, parent)
        elif element.tag == SVG + "text":
            self.add_label(element, parent)
        elif element.tag == SVG + "path":
            self.add_line(element)

    def add_box(self, element, rect, parent):
        x, y, w, h = (float(rect.get(a)) for a in ("x", "y", "width", "height"))
        kind, name = element.get("class"), element.get("data-name")
        box = Box(x, y, x + w, y + h, f"{kind} {name or ''} at {x:g},{y:g}", parent, kind, name)
        if w <= 0 or h <= 0:
            self.found.append(f"{box.what}: {w:g} x {h:g}")
        self.boxes.append(box)
        return box

    def add_label(self, element, parent):
        text = (element.text or "")
        for child in element:
            text += child.tail or ""
        x, y, size = (float(element.get(a)) for a in ("x", "y", "font-size"))
        w = text_width(text, size, element.get("font-weight") == "bold")
        x -= {"start": 0, "middle": w / 2, "end": w}[element.get("text-anchor", "start")]
        what = f"label \"{text}\" at {x:g},{y:g}"
        if size < LEAST_SIZE:
            self.found.append(f"{what}: size {size:g} is too small to read")
        self.labels.append(Box(x, y - 0.76 * size, x + w, y + 0.2 * size, what, parent))

    def add_line(self, element):
        points = [tuple(float(n) for n in p.split()) for p in
                  re.findall(r"-?\d+ -?\d+", element.get("d"))]
        kind, name = element.get("class"), element.get("data-name")
        self.lines.append((kind, name, points, float(element.get("stroke-width"))))

    def check(self):
        self.check_size()
        self.check_boxes()
        self.check_labels()
        self.check_lines()
        return self.found

    def check_size(self):
        if self.ground.x1 > MAX_WIDTH or self.ground.y1 > MAX_HEIGHT:
            self.found.append(f"the picture has {self.ground.x1:g} x {self.ground.y1:g} pixels, "
                              f"at most {MAX_WIDTH} x {MAX_HEIGHT}")

    def check_boxes(self):
        siblings = defaultdict(list)
        for box in self.boxes:
            siblings[id(box.parent)].append(box)
            if not box.parent.holds(box):
                self.found.append(f"{box.what} is not within {box.parent.what}")
        for boxes in siblings.values():
            grid = Grid(boxes)
            for box in boxes:
                for other in grid.near(box):
                    if id(other) > id(box) and box.overlaps(other):
                        self.found.append(f"{box.what} and {other.what} overlap")

    def check_labels(self):
        labels, boxes = Grid(self.labels), Grid(self.boxes)
        for label in self.labels:
            if not label.parent.holds(label):
                self.found.append(f"{label.what} is not within {label.parent.what}")
            for other in labels.near(label):
                if id(other) > id(label) and label.overlaps(other, 0.5):
                    self.found.append(f"{label.what} and {other.what} overlap")
            above = {id(a) for a in label.ancestors()}
            for box in boxes.near(label):
                if id(box) not in above and label.overlaps(box, 0.5):
                    self.found.append(f"{label.what} lies on {box.what}")

    def check_lines(self):
        labels, boxes = Grid(self.labels), Grid([b for b in self.boxes if b.kind in SOLID])
        for kind, name, points, width in self.lines:
            for (xa, ya), (xb, yb) in zip(points, points[1:]):
                half = width / 2
                part = Box(min(xa, xb) - half, min(ya, yb) - half, max(xa, xb) + half,
                           max(ya, yb) + half, f"{kind} {name}")
                if not self.ground.holds(part):
                    self.found.append(f"{part.what} leaves the picture")
                for label in labels.near(part):
                    if part.overlaps(label, 0.5):
                        self.found.append(f"{part.what} crosses {label.what}")
                for box in boxes.near(part):
                    if part.overlaps(box.shrunk(3)):
                        self.found.append(f"{part.what} runs through {box.what}")

        self.check_level_lines()

    def check_level_lines(self):
        """Level lines run between rows, each at a height of its own."""
        level = [Box(min(xa, xb), ya, max(xa, xb), ya, f"{kind} {name or ''} at y {ya:g}",
                     kind=kind, name=name)
                 for kind, name, points, _ in self.lines if kind in BETWEEN
                 for (xa, ya), (xb, yb) in zip(points, points[1:]) if ya == yb and xa != xb]
        grid = Grid(level)
        for line in level:
            for other in grid.near(line):
                if (line.name is not None and other.name is not None and id(other) > id(line)
                        and (line.kind, line.name) != (other.kind, other.name)
                        and line.y0 == other.y0 and line.x0 < other.x1 and other.x0 < line.x1):
                    self.found.append(f"{line.what} and {other.what} lie on each other")
        rows = Grid([b for b in self.boxes if b.kind in ("rack", "zone")])
        for line in level:
            for box in rows.near(line):
                if box.kind in BETWEEN[line.kind] and line.overlaps(box):
                    self.found.append(f"{line.what} runs through {box.what}")

    def names(self, kind):
        return {b.name for b in self.boxes if b.kind == kind}

    def line_names(self, kind):
        return {n for k, n, _, _ in self.lines if k == kind}


def check(data):
    """The violations of a picture, given as bytes or text; what is no XML is one."""
    try:
        return Picture(data).check()
    except (ET.ParseError, ValueError, TypeError, KeyError) as fault:
        return [f"it cannot be read: {fault}"]


def main(paths):
    failed = 0
    for path in paths:
        with open(path, "rb") as file:
            found = check(file.read())
        for line in found:
            print(f"{path}: {line}")
        failed += len(found)
    print(f"{len(paths)} pictures, {failed} violations")
    return 1 if failed or not paths else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
