#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares mpi.h with another header of the same ABI: every call with its types, every constant.

usage: compare.py [--cc CC] MPI_H OTHER_H

Calls are compared as text without names of parameters; constants by a program that is compiled once
for each header and prints them. Prints each difference; exit status 1 if there is one. For use by
hand, with the MPI Forum's mpi-abi-stubs or another library's mpi_abi.h; names that only the other
header has and that do not begin with MPI_ are not looked at.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

CALL = r"^\s*(int|double|MPI_\w+)\s+(P?MPI_\w+)\(([^()]*)\);"


def plain(path):
    text = re.sub(r"/\*.*?\*/", " ", Path(path).read_text(encoding="utf-8"), flags=re.S)
    return text


def type_of(parameter):
    """`const int counts[]` is const int*."""
    text = " ".join(parameter.split())
    arrays = re.search(r"((?:\[\d*\])*)$", text).group(1)
    text = text[: len(text) - len(arrays)]
    words = re.fullmatch(r"((?:const )?\w+)\s*(\**)\s*(\w*)", text)
    if words is None:
        return text
    return words.group(1) + words.group(2) + ("*" if arrays else "") + arrays[2:]


def calls(path):
    text = re.sub(r"^#.*$", "", plain(path), flags=re.M)
    found = re.findall(CALL, text, flags=re.M)
    return {name: [result, *map(type_of, ps.split(","))] for result, name, ps in found}


def names_of_constants(path):
    text = plain(path)
    names = re.findall(r"^\s*#\s*define[ \t]+(MPI_[A-Z0-9_]\w*)[ \t]+\S", text, flags=re.M)
    names += re.findall(r"\b(MPI_[A-Z0-9_]+)\s*=\s*-?\w+", text)
    return set(names) - {"MPI_ABI_Aint", "MPI_ABI_Offset", "MPI_ABI_Count"}


def values(path, names, cc):
    """What a program prints that was compiled with this header."""
    lines = [f'printf("{n} %lld\\n", (long long){n});' for n in sorted(names)]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "mpi.h").write_text(Path(path).read_text(encoding="utf-8"))
        source = Path(folder) / "show.c"
        source.write_text(
            "#include <mpi.h>\n#include <stdio.h>\nint main(void)\n{\n" + "\n".join(lines) + "\n}\n"
        )
        program = Path(folder) / "show"
        subprocess.run([cc, "-w", f"-I{folder}", "-o", program, source], check=True)
        out = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    return dict(line.split(" ") for line in out.splitlines())


def compare(what, own, other):
    for name in sorted(set(own) | set(other)):
        if own.get(name) != other.get(name):
            yield f"{what} {name}: {own.get(name, 'missing')}, there {other.get(name, 'missing')}"


def main(arguments):
    cc = "cc"
    if arguments[:1] == ["--cc"]:
        cc, arguments = arguments[1], arguments[2:]
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    own, other = arguments
    found = list(compare("call", calls(own), calls(other)))
    own_names, other_names = names_of_constants(own), names_of_constants(other)
    own_values = values(own, own_names, cc)
    other_values = values(other, other_names, cc)
    found += compare("constant", own_values, other_values)
    print("\n".join([*found, f"{len(calls(own))} calls, {len(own_values)} constants, "
                     f"{len(found)} differences"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
