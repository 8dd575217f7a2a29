#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Random collective calls on ctran and, if one is given, on another MPI library: a model decides.

usage: differ.py [OPTION]...

The program is medley of tests/func, which works out every result sequentially. It is compiled
against ctran and, through a ctran.h that mpi_names.py makes backwards, against the other library.
Calls are blocking, nonblocking (several under way) and persistent (started anew among the others).
What is exact must be the same in both libraries, bit for bit; a floating-point sum or product that
depends on the order must be as near to the model's as its operands' size allows.
Runs are split into parts; after a call from which a library does not come back, it goes on with the
next one. The other library may keep types and operators until a call is over, as not all of them
look after what the program has freed.
Prints how many calls were right and wrong on each, what kinds of calls were compared, in how many
the digests differed, and the first lines of what was wrong; exit status 0 if ctran was right in
all, and equal to the other library wherever that was right.
"""
import argparse
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import mpi_names

HERE = Path(__file__).resolve().parent
FUNC = HERE.parent / "func"
SHOWN = 5  # wrong results of each library


class Library:
    """Builds medley and runs parts of it."""

    def __init__(self, name, cc, launch, work, flags=()):
        self.name, self.launch, self.is_peer = name, launch, name == "peer"
        self.work = work / name
        self.work.mkdir(parents=True, exist_ok=True)
        self.program = self.work / "medley"
        sources = [*sorted(FUNC.glob("medley*.c")), FUNC / "check.c", HERE / "plain_memory.c"]
        command = [cc, "-w", "-O2", "-g", "-std=gnu11", "-D_GNU_SOURCE", *flags]
        done = subprocess.run([*command, "-o", self.program, *sources, "-lm"], text=True)
        if done.returncode != 0:
            sys.exit(f"differ.py: medley does not compile for {name}")

    def run(self, ranks, seed, first, calls, options):
        """All answers, {(rank, call and turn): (digest, traits, verdict)}, and what did not go
        well: calls at which the library did not come back. It goes on behind them."""
        answers, stops, end = {}, [], first + calls
        while first < end:
            status, found = self.run_some(ranks, seed, first, end - first, options)
            answers |= found
            if status == 0:
                break
            last = max((int(call.split(".")[0]) for _, call in found), default=first - 1)
            stops.append((ranks, last + 1, status, self.last_words()))
            first = last + 2
        return answers, stops

    def run_some(self, ranks, seed, first, calls, options):
        """One run: the exit status, None where the limit ended it, and its answers."""
        prefix = self.work / "out"
        for old in self.work.glob("out.*"):
            old.unlink()
        env = {
            **os.environ,
            "CT_MEDLEY_OUT": str(prefix),
            "CT_MEDLEY_FIRST": str(first),
            "CT_MEDLEY_CALLS": str(calls),
            "CT_MEDLEY_STEADY": str(int(self.is_peer and options.peer_steady)),
            "CT_MEDLEY_KEEP": str(int(self.is_peer)),
        }
        command = [*self.launch, "-n", str(ranks), self.program, str(seed)]
        with open(self.work / "log", "wb") as log:
            process = subprocess.Popen(
                command, env=env, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                start_new_session=True
            )
            try:
                status = process.wait(options.limit)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGTERM)
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
                status = None
        return status, self.answers(prefix, ranks)

    def last_words(self):
        """Of a run that did not go well: the call or the signal that its messages name."""
        text = (self.work / "log").read_text(errors="replace")
        found = re.search(r"Signal: [^(\n]*|\b(MPI|ctran)_[A-Za-z]\w+", text)
        return found.group(0).strip() if found else "without a word"

    def answers(self, prefix, ranks):
        found = {}
        for rank in range(ranks):
            path = Path(f"{prefix}.{rank}")
            for line in path.read_text().splitlines() if path.exists() else ():
                words = line.split(" ", 3)
                if len(words) == 4:  # else the last one of a library that did not come back
                    found[rank, words[0]] = tuple(words[1:])
        return found


def peer_launch(prefix):
    launcher = str(prefix / "bin" / "mpiexec")
    told = subprocess.run([launcher, "--version"], capture_output=True, text=True).stdout
    if "HYDRA" in told:
        return [launcher, "-bind-to", "none"]
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return [launcher, "--bind-to", "none", "--oversubscribe", *root]


def libraries(options):
    work = Path(options.work).resolve()
    prefix = Path(options.prefix).resolve()
    ours = [str(prefix / "bin" / "ctranrun"), "--bind-to", "none"]
    found = [Library("ctran", prefix / "bin" / "ctrancc", ours, work)]
    if options.peer:
        peer = Path(options.peer).resolve()
        include = work / "peer" / "include"
        include.mkdir(parents=True, exist_ok=True)
        (include / "ctran.h").write_text(mpi_names.backwards(prefix / "include" / "ctran.h"))
        cc = peer / "bin" / "mpicc"
        found.append(Library("peer", cc, peer_launch(peer), work, [f"-I{include}"]))
    return found


def fault(verdict):
    """In few words, what is wrong: the form and the call, or sums that may stop at a type's end."""
    if re.search(r", (u?int8|u?int16|char) sum,.*: number ", verdict):
        return "sums of 8 or 16 bits"
    kind = re.search(r": (\w+ \w+), ", verdict)
    return kind.group(1) if kind else "?"


class Tally:
    def __init__(self):
        self.counts = Counter()
        self.wrong = {"ctran": [], "peer": []}
        self.kinds = Counter()
        self.traits = Counter()
        self.unexplained = []

    def judge(self, name, answers):
        for (rank, call), (_, _, verdict) in sorted(answers.items()):
            self.counts[name, "right" if verdict == "right" else "wrong"] += 1
            if verdict != "right":
                self.wrong[name].append(f"rank {rank}: {verdict}")
                self.kinds[name, fault(verdict)] += 1

    def compare(self, ours, theirs, steady):
        for key, (digest, traits, verdict) in ours.items():
            if steady and not key[1].endswith(".0"):
                continue  # of a persistent one that is started again
            if key not in theirs:
                self.counts["missing"] += 1
                continue
            self.traits.update(traits.split(","))
            if verdict == theirs[key][2] == "right":
                self.counts["equal" if digest == theirs[key][0] else "differ though right"] += 1
                if digest != theirs[key][0]:
                    self.unexplained.append("rank {}, call {}".format(*key))
            else:
                self.counts["wrong on one or both"] += 1

    def report(self):
        """What was compared."""
        for what in ("equal", "differ though right", "wrong on one or both", "missing"):
            print(f"{what}: {self.counts[what]}")
        for where in self.unexplained[:SHOWN]:
            print(f"  {where}")
        print("compared:", ", ".join(f"{n} {trait}" for trait, n in self.traits.most_common()))


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--prefix", required=True, help="where ctran is installed")
    parser.add_argument("--peer", help="the folder of an MPI installation, to compare with")
    parser.add_argument("--peer-steady", action="store_true", help="its calls in blocking form")
    parser.add_argument("--ranks", default="2,3,4,5,6", help="rank counts (default 2,3,4,5,6)")
    parser.add_argument("--calls", type=int, default=20000, help="of all runs (default 20000)")
    parser.add_argument("--part", type=int, default=500, help="calls of a run (default 500)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=200, help="seconds for a run (default 200)")
    parser.add_argument("--work", default="differ-work", help="folder for programs and results")
    return parser.parse_args()


def main():
    options = parse_options()
    tally, broken = Tally(), []
    both = libraries(options)
    ranks = [int(n) for n in options.ranks.split(",")]
    for part, first in enumerate(range(0, options.calls, options.part)):
        n, found = ranks[part % len(ranks)], []
        for library in both:
            answers, stops = library.run(n, options.seed, first, options.part, options)
            tally.judge(library.name, answers)
            found.append(answers)
            broken += [(library.name, *stop) for stop in stops]
        if len(found) == 2:
            tally.compare(*found, options.peer_steady)
    for library in both:
        counts = {k: tally.counts[library.name, k] for k in ("right", "wrong")}
        print(f"{library.name}: {options.calls} calls, results of ranks: {counts}")
        for line in tally.wrong[library.name][:SHOWN]:
            print(f"  {line}")
        for (name, kind), n in tally.kinds.most_common():
            if name == library.name:
                print(f"  wrong {n:4d}: {kind}")
    for name, n, first, status, words in broken:
        how = "ran longer than its limit" if status is None else f"ended with status {status}"
        print(f"{name}: {how}, {words}: {n} ranks, in call {first} or one under way")
    if options.peer:
        tally.report()
    ours = [b for b in broken if b[0] == "ctran"] or tally.wrong["ctran"]
    return 1 if ours or tally.counts["differ though right"] else 0


if __name__ == "__main__":
    sys.exit(main())
