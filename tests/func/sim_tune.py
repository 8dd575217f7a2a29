# SPDX-License-Identifier: BSD-3-Clause
"""ctran_sim_tune: the library takes its table, and chooses at each simulated place what costs no
more than was promised beside the best that ctran_sim finds there; the same each time; rows are
found on times whose answers are known; bad input is refused, and what is there not written over."""
import json
import os
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

sys.dont_write_bytecode = True
TOP = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("top_builddir", ".")).resolve()
TOOL = TOP / "tools" / "sim" / "ctran_sim_tune"
SIM = BUILD / "tools" / "sim" / "ctran_sim"
INFO = BUILD / "tools" / "ctran_info"
CLUSTERS = TOP / "tools" / "sim" / "clusters"
sys.path[:0] = [str(TOP / "tools" / "sim" / "tune"), str(TOP / "bench" / "perf")]
import rules  # noqa: E402
import simulated  # noqa: E402

LIMIT = 240  # seconds; only a hang reaches it
HOSTS, LOCAL, SIZES = (2, 3, 4, 8), (1, 2, 4), (8, 4096, 65536, 1 << 20)
failures = checks = 0
for name in ("CTRAN_COLL_TUNING", "CTRAN_COLL_ALGORITHM", "CTRAN_REPRODUCIBLE"):
    os.environ.pop(name, None)


def expect(what, wanted, found):
    global failures, checks
    checks += 1
    if wanted != found:
        failures += 1
        print(f"FAIL: {what}\n  wanted: {wanted!r}\n  found:  {found!r}", flush=True)


def call(program, *args, **settings):
    return subprocess.run([program, *map(str, args)], capture_output=True, text=True,
                          timeout=LIMIT, env={**os.environ, "top_builddir": str(BUILD), **settings})


def output(program, *args, **settings):
    done = call(program, *args, **settings)
    expect(f"{args}: status and errors", (0, ""), (done.returncode, done.stderr))
    return done.stdout


def text_of(values):
    return ",".join(map(str, values))


# ---- rows on known times -------------------------------------------------------------------------


def table_of(costs, share):
    """Rows for {place: {algorithm: us on each cluster}}, by words."""
    ground = rules.Ground(costs, share)
    return [rules.row(ground, rule) for rule in rules.find(ground)]


def place(nodes, local, size):
    return simulated.Place("bcast", nodes, local, size)


def known():
    sizes = (64, 4096, 1 << 20)
    shapes = tuple(product((2, 4), (1, 2)))
    short = {place(n, l, s): {"tree": [1 + (s > 64)], "ring": [1 + (s < 4096)]}
             for (n, l), s in product(shapes, sizes)}
    expect("two rows by size", ["bcast nodes>=2 bytes>=512 ring", "bcast nodes>=2 tree"],
           table_of(short, 0.2))
    expect("one, where that may cost so much", 1, len(table_of(short, 1.0)))
    # What fits on some shapes only comes first, without saying where.
    level = {p: {**by, **({"hier_x": [0.1]} if p.local > 1 else {})} for p, by in short.items()}
    rows = table_of(level, 0.2)
    expect("a row of levels needs no condition", ("bcast hier_x", 3), (rows[0], len(rows)))
    # Each is best on one cluster; the third is never best, and loses least over both.
    both = {p: {"a": [1, 4], "b": [4, 1], "c": [1.5, 1.5]} for p in short}
    expect("what loses least over all", ["bcast nodes>=2 c"], table_of(both, 0.1))
    # One place of twelve is another's.
    one = {p: {"tree": [1], "ring": [2 - 1.5 * (p == place(2, 1, 4096))]} for p in short}
    rows = table_of(one, 0.2)
    expect("an exception, and the rest",
           ["bcast nodes>=2 ranks=2 bytes>=512 bytes<=64K ring", "bcast nodes>=2 tree"],
           [" ".join(sorted(r.split(), key=lambda w: w == "tree")) for r in sorted(rows, key=len,
                                                                                   reverse=True)])
    given_up = {p: {"tree": [1], "ring": [None]} for p in short}
    expect("what was given up", ["bcast nodes>=2 tree"], table_of(given_up, 1.0))
    single = {place(1, l, s): {"tree": [1]} for l, s in product((2, 4), sizes)}
    expect("one host", ["bcast nodes=1 tree"], table_of({**single}, 0.1))


# ---- a table -------------------------------------------------------------------------------------


def best_by_simulation(collective, hosts, local):
    """size -> algorithm -> us, asked for by another way than the tool's: the whole cluster."""
    ranks = hosts * local
    blocks = {s if collective == "allreduce" else s // ranks for s in SIZES}
    with open("whole.cluster", "w", encoding="utf-8") as f:
        f.write((CLUSTERS / "gpus.cluster").read_text(encoding="utf-8")
                .replace("hosts=64 gpus=8", f"hosts={hosts} gpus={local}"))
    told = json.loads(output(SIM, "--json", "--coll", collective, "--ranks", ranks, "--bytes",
                             text_of(sorted(b for b in blocks if b > 0)), "--cluster",
                             "whole.cluster"))
    found = {}
    for r in told["runs"]:
        size = r["bytes"] * (1 if collective == "allreduce" else ranks)
        found.setdefault(size, {})[r["algorithm"]] = r["time_us"]
    return found


def chosen(collective, ranks, hosts, size, table):
    told = json.loads(output(INFO, "--coll", collective, "--ranks", ranks, "--nodes", hosts,
                             "--size", size, "--json", CTRAN_COLL_TUNING=table))
    entry, = (e for e in told["choices"] if not e["with_shm"])
    return entry


def table():
    args = ("--hosts", text_of(HOSTS), "--local", text_of(LOCAL), "--coll", "allreduce,alltoall",
            "--sizes", text_of(SIZES), "--loss", 5, CLUSTERS / "gpus.cluster")
    text = output(TOOL, *args)
    expect("the same each time", text, output(TOOL, *args, "--jobs", 1))
    output(TOOL, *args, "--out", "a.tune")
    expect("to a file", text, Path("a.tune").read_text(encoding="utf-8"))
    expect("the head has the command", True, "# Command: ctran_sim_tune --hosts 2,3,4,8" in text)
    rows = output(INFO, "--tuning", CTRAN_COLL_TUNING="a.tune").splitlines()
    expect("the library reads it", (True, len([r for r in text.splitlines()
                                               if r and not r.startswith("#")])),
           (rows[0].startswith("# a.tune"), len(rows) - 1))
    lost = 0
    for collective, hosts, local in product(("allreduce", "alltoall"), HOSTS, LOCAL):
        for size, us in best_by_simulation(collective, hosts, local).items():
            ranks = hosts * local
            entry = chosen(collective, ranks, hosts, size, "a.tune")
            where = f"{collective} {size} on {hosts} x {local}: {entry.get('row')}"
            expect(f"{where}: costs no more than 5 %", True,
                   us[entry["algorithm"]] <= min(us.values()) * 1.05)
            number = text.splitlines().index("# As simulated.") + 1
            expect(f"{where}: by a row from the simulation", True, entry.get("line", 0) > number)
            lost += us[entry["algorithm"]] > min(us.values())
    expect("some lose a little, or 5 % would have saved no row", True, lost > 0)
    for collective in ("bcast", "allreduce"):
        expect(f"{collective} on one host", chosen(collective, 4, 1, 8, "")["algorithm"],
               chosen(collective, 4, 1, 8, "a.tune")["algorithm"])


def several():
    """Of two clusters, and of one host, too."""
    files = [CLUSTERS / f"{n}.cluster" for n in ("cpus", "slow")]
    text = output(TOOL, "--hosts", "1,4", "--local", "2", "--coll", "barrier,scan", "--sizes", "8",
                  *files)
    expect("clusters by their names", True, "cpus.cluster slow.cluster" in text)
    with open("b.tune", "w", encoding="utf-8") as f:
        f.write(text)
    for hosts in (1, 4):
        entry = chosen("scan", 2 * hosts, hosts, 8, "b.tune")
        expect(f"scan on {hosts}", "b.tune", entry.get("source"))


def refused():
    cluster = CLUSTERS / "gpus.cluster"
    Path("bad.cluster").write_text("cluster hosts=4 gpus=2\nspeed nic=1\n", encoding="utf-8")
    Path("none.cluster").write_text("latency rack=3\n", encoding="utf-8")
    Path("there").write_text("mine\n", encoding="utf-8")
    small = ("--hosts", "2", "--local", "1", "--coll", "barrier")
    for args, status, why in (
            ((), 2, "CLUSTER"),
            (("no.cluster",), 1, "no.cluster: No such file"),
            (("bad.cluster",), 1, "bad.cluster:2: "),
            (("none.cluster",), 1, 'none.cluster: no line "cluster"'),
            (("--coll", "bcast,nothing", cluster), 1, "no such collective: nothing; there are: "),
            (("--hosts", "0", cluster), 1, '--hosts 0: "0" is no number from 1 to '),
            (("--hosts", "2,x", cluster), 1, '--hosts 2,x: "x" is no number'),
            (("--hosts", "65", cluster), 1, "--hosts 65: "),
            (("--local", "9", cluster), 1, "has 8 ranks on a host"),
            (("--hosts", "1", "--local", "1", cluster), 1, "nothing to choose"),
            (("--sizes", "8,", cluster), 1, '--sizes 8,: "" is no number'),
            (("--sizes", "8", "--hosts", "16", "--coll", "alltoall", cluster), 1,
             "none has a block for each rank of alltoall"),
            (("--loss", "-1", cluster), 2, "--loss is a percentage"),
            (("--jobs", "0", cluster), 2, "--jobs begins at 1"),
            ((*small, "--out", "there", cluster), 1, "there is there already; --force"),
            ((*small, "--out", "/nonexistent/a", cluster), 1, "/nonexistent/a"),
            ((*small, "--build", "/nonexistent", cluster), 1, "build ctran first")):
        done = call(TOOL, *args)
        expect(f"{args}: {done.stderr}", (status, "", True),
               (done.returncode, done.stdout, why in done.stderr))
    expect("what was there", "mine\n", Path("there").read_text(encoding="utf-8"))
    output(TOOL, *small, "--out", "there", "--force", cluster)
    expect("written over", True, "barrier" in Path("there").read_text(encoding="utf-8"))


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for part in (known, table, several, refused):
            part()
        os.chdir("/")
    print(f"{checks} checks, {failures} failures")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
