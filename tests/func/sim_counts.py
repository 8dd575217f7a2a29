# SPDX-License-Identifier: BSD-3-Clause
"""ctran_sim counts messages, bytes and rounds as the runner does: every algorithm of the table, on
real ranks, for several sizes and ways to cut them, rank by rank."""
import json
import os
import subprocess
import sys

BUILD = os.path.abspath(os.environ.get("top_builddir", "."))
QUICK = os.environ.get("CT_CHECK_QUICK") == "1" or os.environ.get("CT_SANITIZER", "none") != "none"
RANKS = (5,) if QUICK else (2, 3, 4, 5, 6, 7, 8, 9)
SIZES = ("4", "44", "1000", "20000")
CUTS = (("262144", "4"), ("256", "3"), ("1000", "1"))  # bytes of a chunk, chunks in flight
ELEMENTS = (("barrier,bcast,allgather,gather,scatter,alltoall", "1"),  # move bytes
            ("reduce,allreduce,reduce_scatter,scan,exscan", "4"))
POWERS = {("allgather", "recursive_doubling"), ("allgather", "recursive_doubling_farthest"),
          ("allgather", "recursive_doubling_hybrid")}  # serve powers of two only
LIMIT = 300  # seconds; only a hang reaches it


def output_of(*command):
    here = os.path.dirname(os.path.abspath(__file__))
    leaks = f"suppressions={here}/../suppressions/lsan.supp:print_suppressions=0"
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT,
                          env={"LSAN_OPTIONS": leaks, **os.environ})
    if done.returncode != 0:
        print(f"FAIL: {' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
        sys.exit(1)
    return done.stdout


def real(n, size, chunks):
    """{(collective, algorithm, bytes): [[messages, bytes, rounds] of each rank]}"""
    text = output_of(f"{BUILD}/ctranrun", "-n", str(n), f"{BUILD}/tests/func/counts", size, chunks,
                     *SIZES)
    found = {}
    for line in text.splitlines():
        coll, algo, nbytes, _, _, _, *counts = line.split()
        found.setdefault((coll, algo, int(nbytes)), []).append([int(c) for c in counts])
    return found


def simulated(n, size, chunks):
    found = {}
    for colls, element in ELEMENTS:
        runs = json.loads(output_of(
            f"{BUILD}/tools/sim/ctran_sim", "--coll", colls, "--ranks", str(n), "--bytes",
            ",".join(SIZES), "--chunk-size", size, "--chunks", chunks, "--root", "1", "--element",
            element, "--json", "--each"))["runs"]
        found.update({(r["collective"], r["algorithm"], r["bytes"]): r["each"] for r in runs})
    return found


def flat():
    """All algorithms but hierarchies, which need levels: {(collective, algorithm)}"""
    known = json.loads(output_of(f"{BUILD}/tools/ctran_info", "--json"))["algorithms"]
    return {(a["collective"], a["name"]) for a in known
            if not a["name"].startswith(("hier_", "rail_"))}


def main():
    wrong = compared = 0
    names = flat()
    for n in RANKS:
        for size, chunks in CUTS:
            wanted, found = real(n, size, chunks), simulated(n, size, chunks)
            expected = {(*name, int(s)) for name in names for s in SIZES
                        if name not in POWERS or n & (n - 1) == 0}
            if wanted.keys() != expected:
                wrong += 1
                print(f"FAIL: {n} ranks ran {sorted(wanted.keys() - expected)} besides, and lack "
                      f"{sorted(expected - wanted.keys())}")
            for key in sorted(wanted.keys() | found.keys()):
                compared += 1
                if wanted.get(key) != found.get(key):
                    wrong += 1
                    print(f"FAIL: {n} ranks, {chunks} chunks of {size}, {key}: messages, bytes and "
                          f"rounds\n  ranks:     {wanted.get(key)}\n  ctran_sim: {found.get(key)}")
    print(f"{compared} cases, {wrong} failures")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
