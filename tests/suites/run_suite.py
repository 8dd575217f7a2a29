#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compiles and runs a suite of MPI programs against ctran, by its testlists.

usage: run_suite.py [OPTION]... SUITE FOLDER...

SUITE is the suite's root, FOLDER a part of it with a testlist (see testlist.py). Every program is
compiled against an mpi.h made from ctran.h (mpi_names.py), or with --mpi by mpicc against MPI's
front end, and run by ctranrun within a limit of time. What the suite needs and ctran is without is
left out by rule (rules.py), and counted. Prints a table, the failures with their reasons, and the
exclusions; exit status 0 if nothing failed. README.md says how to go about known suites.
"""
import argparse
import concurrent.futures
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import layout
import mpi_names
import rules
import testlist

TIMED_OUT = 124  # ctranrun's status then


class Result:
    def __init__(self, run, state, reason="", output=""):
        self.run, self.state, self.reason, self.output = run, state, reason, output

    def as_json(self):
        return {
            "name": self.run.name,
            "folder": self.run.folder,
            "state": self.state,
            "reason": self.reason,
            "output": self.output[-4000:],
        }


def execute(command, limit, env=None, cwd=None):
    """Exit status and output of a command; the status is None when the limit has ended it."""
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **(env or {})},
        cwd=cwd,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=limit)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        # The launcher takes its ranks along, if it can.
        for kind in (signal.SIGTERM, signal.SIGKILL):
            os.killpg(process.pid, kind)
            try:
                output, _ = process.communicate(timeout=10)
                return None, output
            except subprocess.TimeoutExpired:
                continue
        return None, ""


class Suite:
    """A suite's programs, compiled once each into the work folder."""

    def __init__(self, options):
        self.options = options
        self.root = Path(options.suite).resolve()
        self.work = Path(options.work).resolve()
        self.built = {}
        self.layout = layout.of(self.root)

    def prepare(self):
        include = self.work / "include"
        include.mkdir(parents=True, exist_ok=True)
        if self.options.mpi:
            (include / "mpi.h").unlink(missing_ok=True)
        else:
            (include / "mpi.h").write_text(mpi_names.header(Path(self.options.header)))
        for name, text in self.layout.headers().items():
            path = include / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.flags = ["-w", "-Werror=implicit-function-declaration", "-g", "-O1", "-pthread"]
        self.flags += [f"-I{include}", *(f"-I{self.root / i}" for i in self.layout.includes)]
        support = []
        sources = [self.root / source for source in self.layout.support]
        if self.options.mpi:
            sources.append(Path(__file__).resolve().parent / "handlers.c")
        for source in sources:
            target = self.work / "support" / (source.name + ".o")
            target.parent.mkdir(exist_ok=True)
            status, output = self.compile(["-c", str(source), "-o", str(target)])
            if status != 0:
                sys.exit(f"run_suite.py: {source} does not compile:\n{output}")
            support.append(str(target))
        self.support = support

    def compile(self, args):
        return execute([*self.options.under, *self.options.cc, *self.flags, *args], 300)

    def build(self, run):
        """(path, None) of the program, or (None, messages)."""
        key = (run.folder, run.program)
        if key not in self.built:
            self.built[key] = self.build_now(run)
        return self.built[key]

    def build_now(self, run):
        sources, flags = self.layout.parts_of(run.folder, run.program)
        paths = [self.root / run.folder / s for s in sources]
        missing = [p.name for p in paths if not p.exists()]
        if missing:
            return None, f"no such file: {missing[0]}"
        target = self.work / "bin" / run.folder / run.program
        target.parent.mkdir(parents=True, exist_ok=True)
        texts = [p.read_text(errors="replace") for p in paths]
        part = rules.part_in(texts) if self.options.mpi else None
        if part:
            return None, f"{rules.PART}{part}"
        support = self.layout.support_of(texts, self.support)
        args = [*flags, *map(str, paths), *support, *self.options.libs, "-lm", "-o", str(target)]
        status, output = self.compile(args)
        return (target, None) if status == 0 else (None, output)


def verdict(run, status, output):
    """Why a run that has ended did so badly; None if it did well."""
    kind = run.options.get("resultTest", "")
    fine = re.search(r"^\s*No [Ee]rrors\s*$", output, flags=re.M) is not None
    if status is None or (status == TIMED_OUT and kind != "TestErrFatal"):
        return "ran longer than its limit"
    if re.search(r"^\s*Test Skipped\s*$", output, flags=re.M):
        return None
    if kind in ("TestStatus", "TestErrFatal"):
        return None if status != 0 else "exit status 0, but it was to fail"
    if kind == "TestStatusNoErrors":
        return None if status != 0 and fine else f"exit status {status}"
    if kind == "TestBench":
        return None if status == 0 else f"exit status {status}"
    if status != 0:
        return f"exit status {status}"
    others = [s for s in output.splitlines() if s.strip() and s.strip().lower() != "no errors"]
    if kind == "" and others:
        return "unexpected output"
    return None if fine else "it does not say No Errors"


def excluded_by(names):
    """The part that is missing, if these names belong to such parts only."""
    parts = [rules.part_of(name) for name in names]
    return parts[0] if parts and None not in parts else None


def judge(suite, run):
    options = suite.options
    program, messages = suite.build(run)
    if program is None and messages.startswith(rules.PART):
        return Result(run, "excluded", messages.removeprefix(rules.PART))
    if program is None:
        names = rules.needed_by_compiler(messages)
        part = excluded_by(names)
        if part:
            return Result(run, "excluded", part)
        unknown = [name for name in names if rules.part_of(name) is None]
        why = f"needs {', '.join(unknown[:4])}" if unknown else "does not compile"
        return Result(run, "failed", why, messages)
    # The launcher keeps the limit; ours is for a launcher that hangs, or waits for its turn.
    limit = run.limit(options.limit)
    command = [*options.under, *options.run, "--timeout", f"{limit:.0f}", "-n", str(run.ranks)]
    status, output = execute([*command, program, *run.args], limit + 600, run.env, program.parent)
    why = verdict(run, status, output)
    return Result(run, "failed" if why else "passed", why or "", output if why else "")


def chosen(suite):
    """All runs of the folders: those to be made, and the results of those left out."""
    todo, results, seen = [], [], set()
    options = suite.options
    for folder in options.folders:
        for run in testlist.runs_of(suite.root, folder, suite.layout.optional):
            if options.only and not re.search(options.only, run.name):
                continue
            rule = suite.layout.left_out(run)
            rule = rule or rules.left_out(run, options.memory, suite.layout.foreign)
            if rule is None and run.name in seen:
                rule = "repeats another but for settings of another library"
            if rule:
                results.append(Result(run, "excluded", rule))
                continue
            seen.add(run.name)
            todo.append(run)
    return todo, results


def report(results):
    folders = list(dict.fromkeys(r.run.folder.split("/")[0] for r in results))
    print(f"{'':12s}{'passed':>8s}{'failed':>8s}{'excluded':>10s}")
    total = Counter(r.state for r in results)
    for folder in folders:
        n = Counter(r.state for r in results if r.run.folder.split("/")[0] == folder)
        print(f"{folder:12s}{n['passed']:8d}{n['failed']:8d}{n['excluded']:10d}")
    print(f"{'all':12s}{total['passed']:8d}{total['failed']:8d}{total['excluded']:10d}")
    for result in results:
        if result.state == "failed":
            print(f"FAIL {result.run.name}: {result.reason}")
    rule = Counter(r.reason for r in results if r.state == "excluded")
    for reason, n in rule.most_common():
        print(f"excluded {n:4d}: {reason}")
    return total["failed"] == 0


def library_options(parser):
    """Where ctran is."""
    parser.add_argument("--prefix", help="where ctran is installed (default: of ctrancc in PATH)")
    parser.add_argument("--header", help="ctran.h (default: the prefix's)")
    parser.add_argument("--cc", type=shlex.split, help="the compiler (default: ctrancc)")
    parser.add_argument("--libs", type=shlex.split, default=[], help="what it links, if not that")
    parser.add_argument("--run", type=shlex.split, help="the launcher (default: ctranrun)")


def find_library(options):
    if options.prefix is None:
        found = subprocess.run(["which", "ctrancc"], capture_output=True, text=True).stdout.strip()
        options.prefix = str(Path(found).parent.parent) if found else "."
    prefix = Path(options.prefix).resolve()
    options.header = options.header or prefix / "include" / "ctran.h"
    own = "lib/ctran/mpi/bin/mpicc" if getattr(options, "mpi", False) else "bin/ctrancc"
    options.cc = options.cc or [str(prefix / own)]
    options.run = options.run or [str(prefix / "bin" / "ctranrun")]
    return options


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("suite", help="the suite's root folder")
    parser.add_argument("folders", nargs="+", help="folders of it, with testlists")
    library_options(parser)
    parser.add_argument("--mpi", action="store_true", help="use mpicc and ctran's own mpi.h")
    parser.add_argument("--work", default="suite-work", help="folder for programs and results")
    parser.add_argument("--under", type=shlex.split, default=[], help="put before every command")
    parser.add_argument("--limit", type=float, default=180,
                        help="seconds for a run whose testlist says nothing of it (default 180)")
    parser.add_argument("--memory", type=float, default=4, help="gigabytes for a run (default 4)")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time (default 2)")
    parser.add_argument("--only", help="a regular expression that names of runs match")
    parser.add_argument("--json", help="write all results to this file")
    return find_library(parser.parse_args())


def main():
    suite = Suite(parse_options())
    suite.prepare()
    todo, results = chosen(suite)
    for run in {(r.folder, r.program): r for r in todo}.values():
        suite.build(run)
    with concurrent.futures.ThreadPoolExecutor(suite.options.jobs) as pool:
        for result in pool.map(lambda run: judge(suite, run), todo):
            results.append(result)
            if result.state == "failed":
                print(f"failed: {result.run.name}: {result.reason}", flush=True)
    if suite.options.json:
        text = json.dumps([r.as_json() for r in results], indent=1)
        Path(suite.options.json).write_text(text + "\n")
    return 0 if report(results) else 1


if __name__ == "__main__":
    sys.exit(main())
