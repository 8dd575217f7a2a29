#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compiles and runs the collective programs of the OSU micro-benchmarks against ctran, validated.

usage: run_osu.py [OPTION]... OSU [FOLDER]...

OSU is the unpacked source, with c/util and c/mpi; FOLDERs are those of c/mpi/collective, all four
if none is named. Every program is compiled against an mpi.h made from ctran.h (mpi_names.py)
and run with -c on several numbers of ranks: it has passed if each size that it prints
is a Pass and its status is 0. Programs of neighbours run once on a grid, if there are ranks enough,
and once on a graph. Prints a table and what failed; exit status 0 if nothing did.
"""
import argparse
import concurrent.futures
import json
import re
import sys
from collections import Counter
from pathlib import Path

import mpi_names
from run_suite import TIMED_OUT, execute, find_library, library_options

HERE = Path(__file__).resolve().parent
FOLDERS = ("blocking", "non_blocking", "persistent", "neighborhood")
SHARED = ("osu_util", "osu_util_mpi", "osu_util_graph", "osu_util_papi", "osu_util_validation")
DEFINES = ("_GNU_SOURCE", "_ENABLE_MPI4_", "FIELD_WIDTH=18", "FLOAT_PRECISION=2")
# Programs whose validation is wrong, whatever the library does.
UNVALIDATED = {
    "osu_allreduce_persistent": "its validation reads another buffer than the call writes",
}


class Run:
    """One program on so many ranks, with the topology of its neighbours, if it has any."""

    def __init__(self, folder, program, ranks, topology=None):
        self.folder, self.program, self.ranks, self.topology = folder, program, ranks, topology
        self.checks = "barrier" not in program and program not in UNVALIDATED
        self.state, self.reason, self.output, self.sizes = "failed", "", "", 0

    @property
    def name(self):
        kind = f" {self.topology.split(':')[0]}" if self.topology else ""
        return f"{self.folder}/{self.program} {self.ranks}{kind}"

    def args(self, options):
        args = ["-i", str(options.iterations), "-x", "2"]
        if "barrier" not in self.program:
            args += ["-m", f"{options.least}:{options.most}"]
        if self.checks:
            args += ["-c"]
        if "reduce" in self.program:
            args += ["-T", "all"]
        return args + (["-N", self.topology] if self.topology else [])

    def as_json(self):
        keys = ("name", "folder", "state", "reason", "sizes")
        return {**{key: getattr(self, key) for key in keys}, "output": self.output[-4000:]}


class Programs:
    """The programs, compiled once each into the work folder."""

    def __init__(self, options):
        self.options = options
        self.source = Path(options.osu).resolve() / "c"
        self.work = Path(options.work).resolve()
        self.shared = []

    def prepare(self):
        include = self.work / "include"
        include.mkdir(parents=True, exist_ok=True)
        (include / "mpi.h").write_text(mpi_names.header(Path(self.options.header)))
        for name in SHARED:
            target = self.work / f"{name}.o"
            source = self.source / "util" / f"{name}.c"
            status, output = self.compile(["-c", str(source), "-o", str(target)])
            if status != 0:
                sys.exit(f"run_osu.py: {source} does not compile:\n{output}")
            self.shared.append(str(target))

    def compile(self, args):
        flags = ["-w", "-O2", "-pthread", *(f"-D{name}" for name in DEFINES)]
        flags += [f"-I{self.work / 'include'}", f"-I{self.source / 'util'}"]
        return execute([*self.options.cc, *flags, *args], 300)

    def build(self, folder, program):
        """(path, None) of the program, or (None, messages)."""
        target = self.work / "bin" / folder / program
        target.parent.mkdir(parents=True, exist_ok=True)
        source = self.source / "mpi" / "collective" / folder / f"{program}.c"
        args = [str(source), *self.shared, *self.options.libs, "-lm", "-o", str(target)]
        status, output = self.compile(args)
        return (target, None) if status == 0 else (None, output)

    def named(self, folder):
        found = sorted((self.source / "mpi" / "collective" / folder).glob("osu_*.c"))
        if not found:
            sys.exit(f"run_osu.py: there are no programs in {folder}")
        return [path.stem for path in found]

    def graph(self, ranks):
        """A graph of so many ranks, as a file: a ring, and edges from rank 0 to those that it does
        not lead to."""
        edges = [(r, (r + 1) % ranks) for r in range(ranks)] + [(0, r) for r in range(2, ranks)]
        path = self.work / f"graph{ranks}"
        path.write_text("".join(f"{a},{b}\n" for a, b in edges))
        return f"graph:{path}"

    def runs_of(self, folder, program):
        for ranks in self.options.ranks:
            if folder != "neighborhood":
                yield Run(folder, program, ranks)
                continue
            if ranks >= 3:  # they want a neighbour on each side
                yield Run(folder, program, ranks, "cart:1:1")
            yield Run(folder, program, ranks, self.graph(ranks))


def complaint(run, status, output):
    """Why a run did badly; None if it did well."""
    if status in (None, TIMED_OUT):
        return "ran longer than its limit"
    if status != 0:
        return f"exit status {status}"
    if re.search(r"\bFail\b|ERROR", output):
        return "wrong results"
    rows = re.findall(r"^ *\d+(?: +[\d.]+)+ *(?:Pass)? *$", output, flags=re.M)
    run.sizes = sum("Pass" in row for row in rows)
    if run.checks and run.sizes < max(1, len(rows)):
        return f"{run.sizes} of {len(rows)} sizes validated"
    return None


def go(programs, run, program):
    options = programs.options
    launch = [*options.run, "--timeout", f"{options.limit:.0f}", "-n", str(run.ranks)]
    command = [*launch, str(program), *run.args(options)]
    status, output = execute(command, options.limit + 60)
    run.reason = complaint(run, status, output) or ""
    run.output = output if run.reason else ""
    run.state = "failed" if run.reason else "passed" if run.checks else "unvalidated"
    return run


def report(runs):
    states = ("passed", "failed", "unvalidated")
    print(f"{'':14s}{'programs':>9s}{'runs':>6s}" + "".join(f"{s:>13s}" for s in states)
          + f"{'sizes':>8s}")
    folders = list(dict.fromkeys(run.folder for run in runs))
    for folder in [*folders, "all"]:
        some = [run for run in runs if folder in ("all", run.folder)]
        n = Counter(run.state for run in some)
        print(f"{folder:14s}{len({(r.folder, r.program) for r in some}):9d}{len(some):6d}"
              + "".join(f"{n[s]:13d}" for s in states) + f"{sum(r.sizes for r in some):8d}")
    for run in runs:
        if run.state == "failed":
            print(f"FAIL {run.name}: {run.reason}")
    for program in sorted({run.program for run in runs if run.state == "unvalidated"}):
        why = UNVALIDATED.get(program, "there is nothing to validate")
        print(f"unvalidated {program}: {why}")
    if not runs:
        print("FAIL: there is no such program")
    return bool(runs) and not any(run.state == "failed" for run in runs)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("osu", metavar="OSU", help="the unpacked source")
    parser.add_argument("folders", nargs="*", metavar="FOLDER", help=f"of {', '.join(FOLDERS)}")
    library_options(parser)
    parser.add_argument("--work", default="osu-work", help="folder for programs and results")
    parser.add_argument("--ranks", default="2,4,5", help="numbers of ranks (default 2,4,5)",
                        type=lambda text: [int(n) for n in text.split(",")])
    parser.add_argument("--least", type=int, default=1, help="bytes, at least (default 1)")
    parser.add_argument("--most", type=int, default=1 << 18, help="at most (default 262144)")
    parser.add_argument("--iterations", type=int, default=20, help="of each size (default 20)")
    parser.add_argument("--limit", type=float, default=120, help="seconds for a run (default 120)")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time (default 1)")
    parser.add_argument("--only", help="a regular expression that names of programs match")
    parser.add_argument("--json", help="write all results to this file")
    return find_library(parser.parse_args())


def main():
    options = parse_options()
    programs = Programs(options)
    programs.prepare()
    runs, todo = [], []
    for folder in options.folders or FOLDERS:
        for name in programs.named(folder):
            if options.only and not re.search(options.only, name):
                continue
            program, messages = programs.build(folder, name)
            for run in programs.runs_of(folder, name):
                runs.append(run)
                run.reason, run.output = ("", "") if program else ("does not compile", messages)
                todo += [(run, program)] if program else []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for run in pool.map(lambda pair: go(programs, *pair), todo):
            print(f"{run.state}: {run.name}{run.reason and ': '}{run.reason}", flush=True)
    if options.json:
        text = json.dumps([run.as_json() for run in runs], indent=1)
        Path(options.json).write_text(text + "\n")
    return 0 if report(runs) else 1


if __name__ == "__main__":
    sys.exit(main())
