# SPDX-License-Identifier: BSD-3-Clause
"""Tables: Markdown to read, CSV to go on with."""
import csv
import io
from math import floor, log10

import stats
from points import OURS

SHARE = "of ctran's time"  # that a floor takes


def number(value):
    """Three digits that matter, at most four behind the point."""
    if value == 0:
        return "0"
    return f"{value:.{min(4, max(0, 2 - floor(log10(abs(value)))))}f}"


def size(count):
    for suffix, unit in (("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10)):
        if count >= unit and count % unit == 0:
            return f"{count // unit}{suffix}"
    return str(count)


def against(points, point, peer):
    """Ratio and its interval as text; bold where the peer is certainly better."""
    found = points.compare(point, peer)
    if found is None:
        return "-"
    text = f"{found.ratio:.2f}"
    if found.bounds:
        text += f" [{found.bounds[0]:.2f}, {found.bounds[1]:.2f}]"
    return f"**{text}**" if found.verdict == "peer" and peer in points.peers() else text


def rows(points):
    peers = points.peers()
    head = ["pattern", "ranks", "bytes", "unit"]
    for name in points.libraries:
        head.append(name)
        if name != OURS:
            head.append("ctran is better, times" if name in peers else SHARE)
    yield head
    for point, by in points.figures.items():
        row = [point.pattern, str(point.ranks), size(point.bytes), point.unit]
        for name in points.libraries:
            row.append(number(stats.median(by[name])) if name in by else "-")
            if name != OURS:
                row.append(against(points, point, name))
        yield row


def markdown(points):
    lines = list(rows(points))
    widths = [max(len(row[c]) for row in lines) for c in range(len(lines[0]))]

    def line(row):
        cells = [v.ljust(w) if i == 0 else v.rjust(w) for i, (v, w) in enumerate(zip(row, widths))]
        return "| " + " | ".join(cells) + " |"

    rule = ["-" * w if i == 0 else "-" * (w - 1) + ":" for i, w in enumerate(widths)]
    return "\n".join([line(lines[0]), line(rule)] + [line(r) for r in lines[1:]]) + "\n"


def losers(points):
    """One line a peer: the points at which it is certainly better, the worst first."""
    text = ""
    for peer in points.peers():
        found = [(points.compare(p, peer), p) for p in points.figures]
        decided = [(c, p) for c, p in found if c is not None]
        lost = sorted((c.ratio, p) for c, p in decided if c.verdict == "peer")
        won = sum(c.verdict == "ctran" for c, _ in decided)
        text += (
            f"Against {peer}: ctran is better at {won} of {len(decided)} points, undecided at "
            f"{len(decided) - won - len(lost)}, worse at {len(lost)}"
        )
        places = [f"{p.pattern} {size(p.bytes)} on {p.ranks} ({r:.2f})" for r, p in lost]
        text += (": " + ", ".join(places) if places else "") + ".\n"
    return text


def to_csv(points):
    """A line for each point and library; ratios are empty for ctran itself and for the floor."""
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\n").writerow
    write(
        "pattern ranks bytes unit library runs median low high ratio ratio_low ratio_high "
        "verdict".split()
    )
    for point, by in points.figures.items():
        for name, values in by.items():
            low, high = stats.interval(values) or ("", "")
            line = [*point, name, len(values), f"{stats.median(values):.6g}", low, high]
            found = points.compare(point, name) if name in points.peers() else None
            if found is None:
                line += ["", "", "", ""]
            else:
                low, high = found.bounds or ("", "")
                line += [f"{found.ratio:.6g}", low, high, found.verdict]
            write(line)
    return out.getvalue()
