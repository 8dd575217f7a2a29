#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds src/gpu/cuda.h against NVIDIA's own cuda.h.

usage: check_cuda.py SOURCE-DIR COMPILER CUDA-INCLUDE-DIR

Each constant's value, each struct's size and each function's signature under its versioned symbol.
Prints what differs; exit status 1 if anything does.
"""

import re
import subprocess
import sys
from pathlib import Path

SIZES = """CUuuid CUipcMemHandle CUipcEventHandle CUmemLocation CUmemAllocationProp CUmemAccessDesc
    CUstreamBatchMemOpParams CUDA_MEMCPY2D CUdeviceptr CUmemGenericAllocationHandle""".split()
NAME = re.compile(r"\bCU(?:DA)?_[A-Z][A-Z0-9_]+\b")
NO_CONSTANTS = """CU_RESULTS CU_RESULT_ENUM CU_FUNCTIONS CU_PROTOTYPE CU_MEMBER
    CU_STREAM_LEGACY CU_STREAM_PER_THREAD CUDA_MEMCPY2D""".split()


def constants(text):
    return sorted(set(NAME.findall(text)) - set(NO_CONSTANTS))


def values(source, names):
    """A C program that prints our value of every name and every size."""
    lines = ['#include "gpu/cuda.h"', "#include <stdio.h>", "int main(void) {"]
    lines += [f'printf("{n} %lld\\n", (long long)({n}));' for n in names]
    lines += [f'printf("sizeof({n}) %zu\\n", sizeof({n}));' for n in SIZES]
    return "\n".join(lines + ["return 0; }"])


def compare(cc, source, include, work):
    text = re.sub(r"/\*.*?\*/", "", (source / "src/gpu/cuda.h").read_text(), flags=re.S)
    ours = work / "ours.c"
    ours.write_text(values(source, constants(text)))
    program = str(work / "ours")
    subprocess.run(cc + ["-I", str(source / "src"), str(ours), "-o", program], check=True)
    printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    lines = ["#define __CUDA_API_VERSION_INTERNAL", "#include <stdint.h>", "#include <cuda.h>"]
    for line in printed.splitlines():
        name, value = line.split()
        lines.append(f'_Static_assert((long long)({name}) == {value}, "{name}: ours is {value}");')
    table = text[text.index("#define CU_FUNCTIONS"):].replace("\\\n", " ")
    functions = re.findall(r"X\((\w+),\s*(\w+),\s*(\([^()]*\))\)", table)
    for _, symbol, args in functions:
        lines.append(f"CUresult (*check_{symbol}) {args} = {symbol};")
    theirs = work / "theirs.c"
    theirs.write_text("\n".join(lines) + "\n")
    done = subprocess.run(cc + ["-Werror", "-fsyntax-only", "-I", str(include), str(theirs)],
                          capture_output=True, text=True)
    print(done.stderr, end="")
    print(f"{len(printed.splitlines())} values, {len(functions)} functions held against {include}")
    return done.returncode == 0 and len(functions) > 0


if __name__ == "__main__":
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        good = compare(sys.argv[2].split(), Path(sys.argv[1]), Path(sys.argv[3]), Path(folder))
    sys.exit(0 if good else 1)
