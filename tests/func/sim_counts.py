# SPDX-License-Identifier: BSD-3-Clause
"""ctran_sim counts messages, bytes and rounds as the runner does: every algorithm of the table, on
real ranks, for several sizes and ways to cut them, radices and roots, in place and not, rank by
rank; hierarchies on several levels."""
import json
import os
import subprocess
import sys

BUILD = os.path.abspath(os.environ.get("top_builddir", "."))
QUICK = os.environ.get("CT_CHECK_QUICK") == "1" or os.environ.get("CT_SANITIZER", "none") != "none"
RANKS = (5,) if QUICK else (2, 3, 4, 5, 6, 7, 8, 9)
MORE_RANKS = () if QUICK else (12, 16, 17)  # with the first cut alone
SIZES = ("4", "44", "1000", "20000")
CUTS = (("262144", "4"), ("256", "3"), ("1000", "1"))  # bytes of a chunk, chunks in flight
RADICES = (2, 3, 4)
# Collectives by what they do: bytes of an element, whether they have a root and may be in place.
KINDS = (("barrier", "1", False, False), ("bcast", "1", True, False),
         ("allgather,alltoall", "1", False, True), ("gather,scatter", "1", True, True),
         ("allreduce,reduce_scatter,scan,exscan", "4", False, True), ("reduce", "4", True, True))
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


def roots_of(n):
    """Collectives without a root are run with the first."""
    return (1, n - 1) if n > 2 else (1, 0)


def real(n, size, chunks, **settings):
    """{(collective, algorithm, radix or 0, root, in place, bytes): [[messages, bytes, rounds] of
    each rank]}"""
    text = output_of(f"{BUILD}/ctranrun", "-n", str(n), f"{BUILD}/tests/func/counts", size, chunks,
                     ",".join(map(str, roots_of(n))), *SIZES, **settings)
    found = {}
    for line in text.splitlines():
        coll, algo, *way, _, messages, nbytes, rounds = line.split()
        found.setdefault((coll, algo, *map(int, way)), []).append(
            [int(messages), int(nbytes), int(rounds)])
    return found


def ways(n):
    """Collectives, bytes of an element, root, whether in place: all that the ranks do."""
    for colls, element, rooted, may in KINDS:
        for root in roots_of(n) if rooted else roots_of(n)[:1]:
            for inplace in (0, 1) if may else (0,):
                yield colls, element, root, inplace


def named(names, colls):
    """As --algo takes them: each with all radices, if it has one."""
    return ",".join(sorted({f"{algo}:{radix}" if radix else algo for coll, algo, has in names
                            if coll in colls.split(",") for radix in (RADICES if has else (0,))}))


def simulated(n, size, chunks, levels, names):
    found = {}
    for colls, element, root, inplace in ways(n):
        algos = named(names, colls)
        if algos == "":
            continue
        runs = json.loads(output_of(
            f"{BUILD}/tools/sim/ctran_sim", "--coll", colls, "--algo", algos, "--levels", levels,
            "--ranks", str(n), "--bytes", ",".join(SIZES), "--chunk-size", size, "--chunks", chunks,
            "--root", str(root), "--element", element, *["--inplace"] * inplace, "--json",
            "--each"))["runs"]
        for r in runs:
            found[r["collective"], r["algorithm"], r["radix"] or 0, root, inplace,
                  r["bytes"]] = r["each"]
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
    """Those that say they serve n ranks, as all do of whom nothing is asked, and if they have a
    radix."""
    fit = set()
    for coll in {coll for coll, _ in names}:
        said = json.loads(output_of(f"{BUILD}/tools/ctran_info", "--coll", coll, "--ranks", str(n),
                                    "--size", "1000", "--json", CTRAN_COLL_LEVELS="off"))
        fit |= {(coll, algo["name"], algo["radix"]) for algo in said["choices"][0]["fits"]}
    return {algo for algo in fit if algo[:2] in names}


def compare_flat(names):
    wrong = compared = 0
    known = serving(names, 16)
    for n in RANKS + MORE_RANKS:
        serve = serving(names, n)
        lack = names - {algo[:2] for algo in serve}
        if n & (n - 1) == 0 and lack:
            wrong += 1
            print(f"FAIL: {sorted(lack)} do not serve {n} ranks, a power of two")
        expected = {(coll, algo, radix, root, inplace, int(s))
                    for colls, _, root, inplace in ways(n) for coll, algo, has in serve
                    if coll in colls.split(",") for radix in (RADICES if has else (0,))
                    for s in SIZES}
        for size, chunks in CUTS if n in RANKS else CUTS[:1]:
            wanted = real(n, size, chunks, CTRAN_COLL_LEVELS="off")
            found = simulated(n, size, chunks, "off", known)
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
    algos = {(*name, False) for name in names}
    for levels, ranks in LEVELS:
        for n in ranks:
            for size, chunks in CUTS[:1] if QUICK else CUTS[:2]:
                wanted = real(n, size, chunks, CTRAN_COLL_LEVELS=levels, CT_BY_LEVEL="1")
                found = simulated(n, size, chunks, levels, algos)
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
