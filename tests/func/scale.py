# SPDX-License-Identifier: BSD-3-Clause
"""The exchange at the start of a job, on many endpoints: it completes, every look-up is right, and
it sends exactly the messages and bytes that the simulation says, for each algorithm, for nodes that
are full and one that is not, and for several servers of the store."""
import json
import os
import subprocess
import sys

TOOL = os.path.join(os.environ.get("top_builddir", "."), "tools/scale/ctran_scale")
LAUNCHER = os.path.abspath(os.path.join(os.environ.get("top_builddir", "."), "ctranrun"))
SOAK = os.environ.get("CT_SOAK", "0") != "0"
LIMIT = 600 if SOAK else 240  # seconds; only a hang reaches it
KINDS = ("proof", "store", "node", "gather")
failures = 0


def expect(what, wanted, found):
    global failures
    if wanted != found:
        failures += 1
        print(f"FAIL: {what}\n  wanted: {wanted!r}\n  found:  {found!r}", flush=True)


def run(mode, *args):
    done = subprocess.run([TOOL, "--mode", mode, "--json", "--limit", str(LIMIT), *args],
                          capture_output=True, text=True, timeout=LIMIT + 60)
    expect(f"{mode} {args}: exit status, {done.stderr}", 0, done.returncode)
    return json.loads(done.stdout) if done.returncode == 0 else None


def both(*args, mode="sockets", extra=(), lookups=20000):
    real, clock = run(mode, *args, *extra), run("simulate", *args)
    if real and clock:
        for kind in KINDS:
            expect(f"{args}: sent for {kind}", clock["sent"][kind], real["sent"][kind])
        expect(f"{args}: look-ups", real["processes"] * lookups, real["lookups"])
    return real


def processes(ranks, per_node, *args):
    """The same by a process for each rank, on as many hosts as there are nodes."""
    real = both("--ranks", ranks, "--ranks-per-node", per_node, *args, mode="processes",
                extra=("--launcher", LAUNCHER), lookups=100)
    expect("processes", int(ranks), real and real["processes"])


def refused():
    """No figure without all ranks: a launcher that starts nobody, and one that is not there."""
    for launcher in ("true", "/nonexistent/launcher"):
        done = subprocess.run([TOOL, "--mode", "processes", "--ranks", "4", "--launcher", launcher],
                              capture_output=True, text=True, timeout=LIMIT)
        expect(f"{launcher}: status and output", (1, ""), (done.returncode, done.stdout))
        expect(f"{launcher}: {done.stderr}", True, "0 of 4 ranks came through" in done.stderr)


def main():
    if subprocess.run([TOOL, "--mode", "sockets", "--ranks", "2", "--json"], capture_output=True,
                      check=False).returncode != 0 and "libsodium" in subprocess.run(
                          [TOOL, "--mode", "sockets", "--ranks", "2"], capture_output=True,
                          text=True, check=False).stderr:
        print("SKIP: this build is without libsodium")
        return 77
    for algorithm in ("bruck", "bidirectional_ring", "binomial", "ring", "recursive_doubling"):
        both("--ranks", "256", "--ranks-per-node", "16", "--algorithm", algorithm)
        both("--ranks", "250", "--ranks-per-node", "17", "--algorithm", algorithm, "--stores", "3")
    both("--ranks", "1024", "--ranks-per-node", "16")
    both("--ranks", "1024")
    here = run("simulate", "--ranks", "1024", "--calibrate")
    plain = run("simulate", "--ranks", "1024")
    if here and plain:  # all costs are multiplied alike, and so is the time
        expect("calibrated time", True,
               abs(here["seconds"] - plain["seconds"] * here["cost_scale"])
               < 2e-3 * (1 + here["cost_scale"]))
        expect("calibrated counts", plain["sent"], here["sent"])
    both("--ranks", "300", "--ranks-per-node", "1")  # all come to the store at once
    both("--ranks", "3", "--ranks-per-node", "1", "--workers", "3")
    both("--ranks", "1")
    if SOAK:
        both("--ranks", "98304")
    processes("24", "8")
    processes("19", "5", "--algorithm", "binomial")
    if SOAK:
        processes("512", "64")
    refused()
    base = run("baseline", "--ranks", "32")
    if base:  # proofs apart: 3 messages to find the next, and 31 steps of seven allgathers
        expect("baseline's messages", 32 * (3 + 7 * 31), base["sent"]["gather"]["messages"])
    million = run("simulate", "--ranks", "1048576", "--cores", "0")
    expect("a million ranks", 2048, million and million["nodes"])
    print(f"{failures} failures")
    return 1 if failures else 0


sys.exit(main())
