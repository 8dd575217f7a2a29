#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints the public calls, one "type name(arguments)" a line, sorted.

usage: calls.py FILE...

From a header: what it declares with CTRAN_API. From manual pages: what their SYNOPSIS says. So the
two can be compared. Called by pages.test.
"""
import re
import sys
from pathlib import Path

COMMENT = re.compile(r"/\*.*?\*/", re.S)
DECLARED = re.compile(r"CTRAN_API\s+(\w+)\s+(ctran_\w+)\(([^;]*)\);")


def from_header(text):
    for kind, name, arguments in DECLARED.findall(COMMENT.sub("", text)):
        yield kind, name, re.sub(r"\s+", " ", arguments.strip()).split(", ")


def from_page(text):
    """.Ft type, then .Fn name void, or .Fo name, .Fa "argument" lines and .Fc."""
    kind = name = None
    arguments = []
    for line in text.split(".Sh SYNOPSIS", 1)[1].split("\n.Sh ", 1)[0].splitlines():
        macro, _, rest = line.partition(" ")
        if macro == ".Ft":
            kind = rest
        elif macro == ".Fn":
            yield kind, rest.split()[0], rest.split()[1:]
        elif macro == ".Fo":
            name, arguments = rest, []
        elif macro == ".Fa":
            arguments.append(rest.strip('"'))
        elif macro == ".Fc":
            yield kind, name, arguments


def main(paths):
    lines = []
    for path in map(Path, paths):
        read = from_header if path.suffix == ".h" else from_page
        lines += [f"{k} {n}({', '.join(a)})" for k, n, a in read(path.read_text(encoding="utf-8"))]
    print("\n".join(sorted(lines)))


if __name__ == "__main__":
    main(sys.argv[1:])
