#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes MPI's front end from the table in abi/ and from ctran.h.

usage: generate.py [--check] [FOLDER]

Leaves mpi.h, gen/ and the list in ../man/ctran-mpi.7, as FOLDER sees them; FOLDER is that of this
file by default. With --check nothing is written: exit status 1 says which files are not what they
would be. Where ctran.h and the table differ nothing is written either, and each difference is
told.
"""
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import calls  # noqa: E402
import ctran_h  # noqa: E402
import header  # noqa: E402
import page  # noqa: E402
from table import Table  # noqa: E402


def by_hand():
    """The calls that a file of this folder defines."""
    names = set()
    for path in HERE.glob("*.c"):
        text = path.read_text(encoding="utf-8")
        names |= set(re.findall(r"^NAME\((\w+)\)", text, flags=re.M))
        for kind in re.findall(r"^CONVERT\((\w+)", text, flags=re.M):
            names |= {f"{kind}_toint", f"{kind}_fromint"}
    return names


def handles(pairs):
    lines = [f"#define {abi} {own}" for abi, own in pairs]
    return "\n".join(
        [
            "/* SPDX-License-Identifier: BSD-3-Clause */",
            "/* MPI's handles are ctran's own. Written by generate.py; do not edit. */",
            "#ifndef MPI_GEN_HANDLES_H\n#define MPI_GEN_HANDLES_H\n",
            *lines,
            "\n#endif\n",
        ]
    )


def list_of_files(names):
    lines = " \\\n".join(f"\tmpi/gen/{name}" for name in sorted(names))
    return f"# Written by generate.py; do not edit.\nlibmpi_abi_la_SOURCES += \\\n{lines}\n"


def outputs(table, text):
    has = set(ctran_h.calls_of(text))
    hand = by_hand()
    sources = calls.files(table, has, hand)
    files = {f"gen/{name}": body for name, body in sources.items()}
    files["gen/handles.h"] = handles(ctran_h.handles_of(table, text))
    files["gen/local.mk"] = list_of_files([*sources, "handles.h"])
    files["mpi.h"] = header.header(table)
    files["../man/ctran-mpi.7"] = page.page(HERE.parent / "man" / "ctran-mpi.7", table, has, hand)
    return files


def main(arguments):
    check = "--check" in arguments
    rest = [a for a in arguments if a != "--check"]
    folder = Path(rest[0]) if rest else HERE
    text = (HERE.parent / "src" / "ctran.h").read_text(encoding="utf-8")
    table = Table(HERE / "abi")
    wrong = ctran_h.differences(table, text)
    files = outputs(table, text)
    for name, body in files.items():
        path = folder / name
        old = path.read_text(encoding="utf-8") if path.is_file() else None
        if old == body:
            continue
        if check:
            wrong.append(f"{name} is not what generate.py writes; run make update-mpi")
        elif not wrong:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(body, encoding="utf-8")
    stale = [p for p in (folder / "gen").glob("*") if f"gen/{p.name}" not in files]
    wrong += [f"gen/{p.name} is written by nobody; remove it" for p in stale]
    print("\n".join(wrong) if wrong else f"{len(files)} files")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
