#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds the table of tests/func/bottom_calls.def against the public calls that take a data buffer.

usage: check_buffers.py TABLE DECLARED

DECLARED has what calls.py prints of ctran.h. A call takes a data buffer if one of its arguments
points to anything and another one is a datatype, or an array of datatypes. Prints each such call
that the table neither has nor leaves out with a reason, and each name of the table that is no such
call; exit status 1 if there is one. Called by buffers.test.
"""
import re
import sys
from pathlib import Path

COMMENT = re.compile(r"/\*.*?\*/", re.S)
LINE = re.compile(r"^(FORMS|TRANSFER|ONLY|BEGIN|PREPARE|ENQUEUE|BY_HAND|WITHOUT)\((\w+),", re.M)
ALL_FORMS = ("ctran_{}", "ctran_i{}", "ctran_{}_init")
FORMS = {"FORMS": ALL_FORMS, "TRANSFER": ALL_FORMS, "ENQUEUE": ("ctran_{}_enqueue",)}
BUFFER = re.compile(r"^(const )?void \*\w+$")
DATATYPE = re.compile(r"^(const )?ctran_datatype_t \w+(\[\])?$")


def takes_buffer(line):
    arguments = line.split("(", 1)[1].rstrip(")").split(", ")
    return any(map(BUFFER.match, arguments)) and any(map(DATATYPE.match, arguments))


def main(table, header):
    lines = Path(header).read_text(encoding="utf-8").splitlines()
    declared = [line for line in lines if takes_buffer(line)]
    calls = {line.split("(", 1)[0].split()[-1] for line in declared}
    text = COMMENT.sub("", Path(table).read_text(encoding="utf-8"))
    rows = [form.format(name) for macro, name in LINE.findall(text)
            for form in FORMS.get(macro, ("ctran_{}",))]
    found = [f"{c}: takes a data buffer and has no line" for c in sorted(calls - set(rows))]
    found += [f"{r}: no public call with a data buffer" for r in sorted(set(rows) - calls)]
    found += [f"{r}: more than one line" for r in sorted({r for r in rows if rows.count(r) > 1})]
    print("\n".join(found + [f"{len(calls)} calls with a data buffer, {len(found)} violations"]))
    return 1 if found or not calls else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
