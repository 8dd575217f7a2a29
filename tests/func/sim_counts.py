# SPDX-License-Identifier: BSD-3-Clause
"""ctran_sim counts messages, bytes and rounds as the runner does: every algorithm of the table, on
real ranks, for several sizes and ways to cut them, rank by rank; hierarchies on several levels."""
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
# Levels, and the ranks that see groups there: even and uneven ones, of one rank, two levels.
LEVELS = (("2", (5, 6)), ("2x2", (8,))) if QUICK else \
    (("2", (3, 4, 5, 6, 8)), ("3", (6, 7)), ("4", (8, 9)), ("2x2", (5, 6, 8)), ("2x2x2", (9,)))
LIMIT = 300  # seconds; only a hang reaches it


def output_of(*command, **settings):
    here = os.path.dirname(os.path.abspath(__file__))
    leaks = f"suppressions={here}/../suppressions/lsan.supp:print_suppressions=0"
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT,
                          env={"LSAN_OPTIONS": leaks, **os.environ, **settings})
    if done.returncode != 0:
        print(f"FAIL: {' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
        sys.exit(1)
    return done.stdout


def real(n, size, chunks, **settings):
    """{(collective, algorithm, bytes): [[messages, bytes, rounds] of each rank]}"""
    text = output_of(f"{BUILD}/ctranrun", "-n", str(n), f"{BUILD}/tests/func/counts", size, chunks,
                     *SIZES, **settings)
    found = {}
    for line in text.splitlines():
        coll, algo, nbytes, _, _, _, *counts = line.split()
        found.setdefault((coll, algo, int(nbytes)), []).append([int(c) for c in counts])
    return found


def simulated(n, size, chunks, levels, names):
    found = {}
    for colls, element in ELEMENTS:
        algos = sorted({algo for coll, algo in names if coll in colls.split(",")})
        runs = json.loads(output_of(
            f"{BUILD}/tools/sim/ctran_sim", "--coll", colls, "--algo", ",".join(algos), "--levels",
            levels, "--ranks", str(n), "--bytes", ",".join(SIZES), "--chunk-size", size, "--chunks",
            chunks, "--root", "1", "--element", element, "--json", "--each"))["runs"]
        found.update({(r["collective"], r["algorithm"], r["bytes"]): r["each"] for r in runs})
    return found


def algorithms():
    """Flat ones and hierarchies: two sets of (collective, algorithm)"""
    known = json.loads(output_of(f"{BUILD}/tools/ctran_info", "--json"))["algorithms"]
    names = {(a["collective"], a["name"]) for a in known}
    levels = {name for name in names if name[1].startswith(("hier_", "rail_"))}
    return names - levels, levels


def compare(what, wanted, found):
    """How many of them differ."""
    wrong = 0
    for key in sorted(wanted.keys() | found.keys()):
        if wanted.get(key) != found.get(key):
            wrong += 1
            print(f"FAIL: {what}, {key}: messages, bytes and rounds\n  ranks:     "
                  f"{wanted.get(key)}\n  ctran_sim: {found.get(key)}")
    return wrong


def serving(names, n):
    """Those that say they serve n ranks, as all do of whom nothing is asked."""
    fit = {}
    for coll in {coll for coll, _ in names}:
        said = json.loads(output_of(f"{BUILD}/tools/ctran_info", "--coll", coll, "--ranks", str(n),
                                    "--size", "1000", "--json", CTRAN_COLL_LEVELS="off"))
        fit[coll] = {algo["name"] for algo in said["choices"][0]["fits"]}
    return {name for name in names if name[1] in fit[name[0]]}


def compare_flat(names):
    wrong = compared = 0
    for n in RANKS:
        serve = serving(names, n)
        if n & (n - 1) == 0 and serve != names:
            wrong += 1
            print(f"FAIL: {sorted(names - serve)} do not serve {n} ranks, a power of two")
        for size, chunks in CUTS:
            wanted = real(n, size, chunks, CTRAN_COLL_LEVELS="off")
            found = simulated(n, size, chunks, "off", names)
            expected = {(*name, int(s)) for name in serve for s in SIZES}
            if wanted.keys() != expected:
                wrong += 1
                print(f"FAIL: {n} ranks ran {sorted(wanted.keys() - expected)} besides, and lack "
                      f"{sorted(expected - wanted.keys())}")
            compared += len(wanted)
            wrong += compare(f"{n} ranks, {chunks} chunks of {size}", wanted, found)
    return wrong, compared


def compare_levels(names):
    """Each of them serves some of the ranks."""
    wrong = compared = 0
    served = set()
    for levels, ranks in LEVELS:
        for n in ranks:
            for size, chunks in CUTS[:1] if QUICK else CUTS[:2]:
                wanted = real(n, size, chunks, CTRAN_COLL_LEVELS=levels, CT_BY_LEVEL="1")
                found = simulated(n, size, chunks, levels, names)
                served |= {key[:2] for key in wanted}
                compared += len(wanted)
                wrong += compare(f"{n} ranks in {levels}, {chunks} chunks of {size}", wanted, found)
    if served != names:
        wrong += 1
        print(f"FAIL: no ranks ran {sorted(names - served)}")
    return wrong, compared


def main():
    flat, by_level = algorithms()
    wrong, compared = (sum(x) for x in zip(compare_flat(flat), compare_levels(by_level)))
    print(f"{compared} cases, {wrong} failures")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
