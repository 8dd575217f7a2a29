# SPDX-License-Identifier: BSD-3-Clause
"""Stream-ordered calls: what the program of bench/device is told, and what it prints."""
from points import Point


def options(a):
    """Its options, from those of ctran_perf."""
    given = ["--sizes", a.sizes, "--rounds", str(a.rounds), "--time-ms", a.time_ms]
    return given + ["--check"] * a.check + ["--beside"] * a.beside


def read(text, ranks, points):
    """The lines of one job into the points. A library is known by its first figure; `alone` is what
    the others are a burden to, no peer."""
    for line in text.splitlines():
        words = line.split()
        if line.startswith("# library "):
            points.about["versions"][words[2]] = " ".join(words[3:])
        elif not line.startswith("#"):
            pattern, size, figure, unit, _, library = words
            if library not in points.libraries:
                points.libraries.append(library)
                if library == "alone":
                    points.about["floors"].append(library)
            points.add(Point(pattern, ranks, int(size), unit), library, float(figure))
