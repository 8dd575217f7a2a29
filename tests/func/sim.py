# SPDX-License-Identifier: BSD-3-Clause
"""ctran_sim: what it prints, draws and writes is valid and the same each time; symmetry changes no
time; no time is below the bound; more bandwidth makes nothing slower where nothing is shared;
oversubscription costs what it must; the clusters that come with it are as they say; memory grows
with the ranks, and with CT_SOAK a million of them run; bad input is refused with file, line and
reason."""
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import xml.etree.ElementTree as ET

BUILD = os.path.abspath(os.environ.get("top_builddir", "."))
TOOL = os.path.join(BUILD, "tools/sim/ctran_sim")
SIM_PERF = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../bench/sim_perf"))
CLUSTERS = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../tools/sim/clusters"))
SOAK = os.environ.get("CT_SOAK", "0") != "0"
SANITIZED = os.environ.get("CT_SANITIZER", "none") != "none"
LIMIT, SOAK_LIMIT = 240, 3600  # seconds; only a hang reaches them
failures = checks = 0


def expect(what, wanted, found):
    global failures, checks
    checks += 1
    if wanted != found:
        failures += 1
        print(f"FAIL: {what}\n  wanted: {wanted!r}\n  found:  {found!r}", flush=True)


def call(*args):
    done = subprocess.run([TOOL, *args], capture_output=True, text=True, timeout=LIMIT)
    done.stderr = re.sub(r"(?m)^ctran_sim: run \d+ of .*\n", "", done.stderr)  # signs of life
    return done


def output(*args):
    done = call(*args)
    expect(f"{args}: status and errors", (0, ""), (done.returncode, done.stderr))
    return done.stdout


def runs(*args):
    return json.loads(output("--json", *args))["runs"]


def cluster(text, name="test.cluster"):
    with open(name, "w", encoding="utf-8") as f:
        f.write(text)
    return name


def name_of(run):
    radix = "" if run["radix"] in (None, 2) else f":{run['radix']}"
    return (f"{run['collective']} {run['algorithm']}{radix}, {run['ranks']} ranks, "
            f"{run['bytes']} bytes")


SMALL = "cluster dcs=2 zones=2 racks=2 hosts=2 gpus=2\n"
BYTES = "8,4000,300K,2M"
RADICES = ("bruck:3,bruck:4,dissemination:3,dissemination:5,knomial:3,knomial:8,"
           "scatter_allgather:4,scatter_bruck:3")


def formats():
    args = ("--coll", "all", "--ranks", "2,5,16", "--bytes", "0,1,70000", "--chunk-size", "1000",
            "--cluster", cluster(SMALL))
    table = output(*args)
    expect("the table, twice", table, output(*args))
    text = output("--json", "--each", *args)
    expect("JSON, twice", text, output("--json", "--each", *args))
    found = json.loads(text)["runs"]
    expect("lines and runs", len(found), len([w for w in table.splitlines() if " us" not in w
                                              and w[:1].isalpha() and not w.startswith("clus")]))
    for r in found:
        each = r["each"]
        expect(f"{name_of(r)}: sums", [r["messages"], r["bytes_moved"], r["rounds"]],
               [sum(c[i] for c in each) for i in range(3)])
        expect(f"{name_of(r)}: all bytes are at some distance", r["bytes_moved"],
               sum(r["bytes_by_distance"].values()))
    output("--plot", "a.svg", *args)
    output("--plot", "b.svg", *args)
    with open("a.svg", encoding="utf-8") as a, open("b.svg", encoding="utf-8") as b:
        svg = a.read()
        expect("SVG, twice", svg, b.read())
    lines = [e for e in ET.fromstring(svg).iter() if e.get("class") == "time"]
    expect("lines of the picture",
           len({(r["collective"], r["algorithm"], r["ranks"]) for r in found}), len(lines))


def radices():
    """What a radix costs, by the algorithms' heads; every output names it."""
    text = cluster("cluster gpus=27\nlatency node=10\nrate nvlink=1e18\nmessage send=1 recv=1\n")
    args = ("--ranks", "27", "--bytes", "100", "--cluster", text)
    # A rank sends to q - 1 others a round, one after the other, and hears of as many meanwhile.
    found = runs("--coll", "barrier", "--algo", "dissemination:3,dissemination,dissemination:5,"
                 "dissemination:3,dissemination:2", *args)
    expect("in the order of the list, and each once", [3, 2, 5], [r["radix"] for r in found])
    expect("rounds of a barrier", [3 * 27, 5 * 27, 3 * 27], [r["rounds"] for r in found])
    expect("messages of a barrier", [6 * 27, 5 * 27, (4 + 4 + 1) * 27],
           [r["messages"] for r in found])
    expect("time of a barrier", [3 * 13.0, 5 * 12.0, 2 * 15.0 + 12.0],
           [r["time_us"] for r in found])
    found = runs("--coll", "allgather", "--algo", "ring,bruck:4,bruck:3,bruck", *args)
    expect("in the order of the table",
           [("ring", None), ("bruck", 4), ("bruck", 3), ("bruck", 2)],
           [(r["algorithm"], r["radix"]) for r in found])
    expect("messages of an allgather", [26, 3 + 3 + 1, 6, 5], [r["messages"] / 27 for r in found])
    expect("all gather the same bytes", {27 * 26 * 100}, {r["bytes_moved"] for r in found})
    # A tree: each child of the root's is one more message of its own.
    for coll in ("bcast", "gather", "scatter", "reduce"):
        tree, star = runs("--coll", coll, "--algo", "knomial:3,knomial:27", "--each", *args)
        expect(f"{coll}: messages that all send", [26, 26], [tree["messages"], star["messages"]])
        root = [r["each"][0][0] for r in (tree, star)]
        expect(f"{coll}: messages that the root sends",
               [6, 26] if coll in ("bcast", "scatter") else [0, 0], root)
    expect("the default is 2", runs("--coll", "all", "--algo", "bruck,knomial", *args),
           runs("--coll", "all", "--algo", "bruck:2,knomial:2", *args))
    args = ("--coll", "allgather", "--ranks", "9", "--bytes", "8,80", "--cluster", text)
    table = output(*args, "--algo", "ring,bruck,bruck:3", "--plot", "radix.svg").splitlines()
    expect("the table", ["ring", "bruck", "bruck:3"],
           [line.split()[1] for line in table if line.startswith("allgather")][::2])
    with open("radix.svg", encoding="utf-8") as svg:
        lines = [e for e in ET.fromstring(svg.read()).iter() if e.get("class") == "time"]
    expect("the picture", {"1 allgather ring, 9 ranks", "2 allgather bruck, 9 ranks",
                           "3 allgather bruck:3, 9 ranks"},
           {"".join(e.itertext()).strip() for e in lines})
    for algo, radix in (("ring", None), ("bruck:3", 3)):
        output("--coll", "allgather", "--algo", algo, "--ranks", "9", "--trace", "radix.json",
               "--cluster", text)
        with open("radix.json", encoding="utf-8") as f:
            expect(f"the trace of {algo}", radix, json.load(f)["otherData"]["radix"])


def hierarchies():
    """Between hosts of four, and racks of two such hosts, goes what the algorithms promise."""
    text = cluster("cluster racks=2 hosts=2 gpus=4\n")

    def far(algo, coll, levels, nbytes):
        one, = runs("--coll", coll, "--algo", algo, "--ranks", "16", "--bytes", str(nbytes),
                    "--levels", levels, "--cluster", text)
        moved = one["bytes_by_distance"]
        return one["groups"], moved["rack"] // nbytes, moved["zone"] // nbytes
    # To leaders of three other hosts, or of another rack and then of the other host in each.
    expect("bcast by hosts", ([4], 1 + 1, 1), far("hier_binomial", "bcast", "node", 1000))
    expect("bcast by racks", ([4, 2], 2, 1), far("hier_binomial", "bcast", "node,rack", 1000))
    expect("bcast by numbers", ([2], 0, 1), far("hier_binomial", "bcast", "8", 1000)[:1] +
           (0, far("hier_binomial", "bcast", "8", 1000)[2]))
    # A rail of four hosts: one of them in the rack, two in the other; four blocks to each of these.
    expect("alltoall by hosts", ([4], 16 * 4, 16 * 8),
           far("rail_pairwise", "alltoall", "node", 1000))
    expect("alltoall by leaders of hosts", ([4], 16 * 4, 16 * 8),
           far("hier_pairwise", "alltoall", "node", 1000))
    expect("alltoall by leaders of racks", ([4, 2], 16 * 16, 16 * 8),
           far("hier_pairwise", "alltoall", "node,rack", 1000))
    expect("alltoall by racks", ([4, 2], 16 * 8, 16 * 8),
           far("rail_pairwise", "alltoall", "node,rack", 1000))
    names = {r["algorithm"] for r in runs("--coll", "all", "--ranks", "16", "--bytes", "64",
                                          "--levels", "off", "--cluster", text)}
    expect("none without levels", [], [n for n in names if n.startswith(("hier_", "rail_"))])


def trace():
    args = ("--coll", "allreduce", "--algo", "ring", "--ranks", "5", "--bytes", "5000",
            "--cluster", cluster(SMALL))
    one = runs("--trace", "a.json", *args)[0]
    output("--trace", "b.json", *args)
    with open("a.json", encoding="utf-8") as a, open("b.json", encoding="utf-8") as b:
        text = a.read()
        expect("trace, twice", text, b.read())
    events = json.loads(text)["traceEvents"]
    sent = [e for e in events if e.get("cat") == "out"]
    expect("messages in the trace", one["messages"], len(sent))
    expect("bytes in the trace", one["bytes_moved"], sum(e["args"]["bytes"] for e in sent))
    expect("arrivals in the trace", len(sent), len([e for e in events if e.get("cat") == "in"]))
    expect("all of it in time", True, all(0 <= e["ts"] and e["ts"] + e["dur"] <= one["time_us"]
                                          for e in events if e["ph"] == "X"))


def symmetry():
    kept = ("time_us", "messages", "bytes_moved", "rounds", "bytes_by_distance",
            "waited_us", "most_bytes_in_flight", "links")
    used = waves = 0
    for text, n in ((SMALL, "32"), (SMALL, "16"), ("cluster hosts=16 gpus=4\n", "64"),
                    ("cluster hosts=16 nvlink=4 gpus=2\n", "32"), ("cluster gpus=13\n", "13"),
                    ("cluster dcs=4 zones=2 racks=2 hosts=2\n"
                     "oversubscription rack=4 zone=8 dc=3\n", "32"),
                    (SMALL + "message eager=5000 send=0.1 recv=0.2 step=0.3\n", "30"),
                    (SMALL + "message send=0 recv=0\nlatency node=0\nrate rack=3G\n", "29"),
                    (SMALL + "message send=0 recv=0\n", "24"), (SMALL + "message recv=0\n", "24")):
        for size, calls in ((BYTES, "1"), ("8,40000", "3")):
            args = ("--coll", "all", "--ranks", n, "--bytes", size, "--repeat", calls,
                    "--links", "20", "--cluster", cluster(text))
            radix = ("--algo", RADICES)
            for part, full in zip(runs(*args) + runs(*args, *radix),
                                  runs("--full", *args) + runs("--full", *args, *radix)):
                used += part["symmetry"]
                waves += part["waves"]
                expect(f"{text}{name_of(part)}, {calls} calls", {k: full[k] for k in kept},
                       {k: full[k] if part[k] is None else part[k] for k in kept})
                expect("--full uses none", (False, False), (full["symmetry"], full["waves"]))
    expect("symmetry and waves were used often", True, used > 150 and waves > 40)
    # Of algorithms with a radix, waves take those whose rounds are a ring's: between two ranks.
    args = ("--coll", "allgather", "--algo", "bruck,bruck:3,bruck:4", "--bytes", "4000",
            "--cluster", cluster(SMALL), "--ranks")
    expect("waves with a radix", [True] * 3 + [False] * 6,
           [r["waves"] for n in ("2", "3", "4") for r in runs(*args, n)])
    for part, full in zip(runs(*args, "2,3,4"), runs("--full", *args, "2,3,4")):
        expect(name_of(part), {k: full[k] for k in kept},
               {k: full[k] if part[k] is None else part[k] for k in kept})
    for instant in ("message send=0 recv=0\n", "latency node=0\n", "latency rack=0\n"):
        found = runs("--coll", "allgather,allreduce", "--ranks", "24", "--bytes", "8,48K",
                     "--cluster", cluster(SMALL + instant))
        expect(f"what takes no time: {instant}", [], [r for r in found if r["symmetry"]])
    odd = runs("--coll", "allreduce", "--algo", "ring", "--ranks", "8", "--bytes", "1001",
               "--cluster", cluster(SMALL))[0]
    expect("blocks that differ in length", False, odd["symmetry"])


def properties():
    base = "cluster gpus=16\nmessage send=0.5 recv=0.25\n"
    args = ("--coll", "all", "--ranks", "2,7,16", "--bytes", BYTES)
    for text in (base, SMALL, "cluster hosts=16\nmessage eager=4K\n"):
        for r in (runs(*args, "--cluster", cluster(text)) +
                  runs(*args, "--repeat", "10", "--cluster", cluster(text))):
            expect(f"{text}{name_of(r)}: {r['time_us']} is not below {r['bound_us']}", True,
                   r["time_us"] >= r["bound_us"])
    slow = runs(*args, "--cluster", cluster("rate nvlink=10G\n" + base))
    fast = runs(*args, "--cluster", cluster("rate nvlink=40G\n" + base))
    for a, b in zip(slow, fast):
        expect(f"{name_of(a)} with more bandwidth: {a['time_us']}, {b['time_us']}", True,
               b["time_us"] <= a["time_us"])
    one = runs("--coll", "bcast", "--algo", "knomial", "--ranks", "2", "--bytes", "1000000",
               "--chunk-size", "0", "--cluster",
               cluster("cluster gpus=2\nlatency node=2\nrate nvlink=1G\n"
                       "message send=0.5 recv=0.25\n"))[0]
    expect("one message: overheads, latency, bytes by rate", 1002.75, one["time_us"])


def repeated():
    """Calls one after the other: counts of one; no less time than its links need, and hardly more
    than one takes by itself (skewed ranks may meet at a link)."""
    args = ("--coll", "all", "--ranks", "8", "--bytes", "8,300K", "--cluster", cluster(SMALL))
    for one, many in zip(runs(*args), runs("--repeat", "20", *args)):
        same = ("messages", "bytes_moved", "rounds", "bytes_by_distance")
        expect(f"{name_of(one)}, repeated", [one[k] for k in same], [many[k] for k in same])
        links = one["bytes_moved"] / 8 / 440e3  # NVLink and NIC of a rank, bytes a us
        expect(f"{name_of(one)}: {many['time_us']} is near {one['time_us']}", True,
               links <= many["time_us"] <= one["time_us"] * 1.5)


def cores():
    """Two ranks of a host that share a core, or not: a switch for each change."""
    text = ("cluster gpus=2\nlatency node=0\nrate nvlink=1000G\n"
            "message send=1 recv=1 switch=10\nhost cores=")
    args = ("--coll", "barrier", "--algo", "dissemination", "--ranks", "2", "--cluster")
    expect("a core each", 2.0, runs(*args, cluster(text + "2\n"))[0]["time_us"])
    expect("one core", 24.0, runs(*args, cluster(text + "1\n"))[0]["time_us"])
    expect("a round and a call", 2.75, runs(*args, cluster(
        text + "2\nmessage round=0.25 call=0.5\n"))[0]["time_us"])
    # Rank 0 sends until 1, rank 1 until 12; then both have a turn in vain, sleep, and are woken.
    text = text.replace("node=0", "node=50")
    # Falling asleep costs nothing where it is over in time; else rank 0's, from 22 on, holds up
    # rank 1, whose message has come at 51.
    for nap, wanted in (("nap=0.001", 73.0), ("nap=0.001 wake=7", 80.0), ("nap=0.001 fall=3", 73.0),
                        ("nap=0.001 fall=3 wake=7", 80.0), ("nap=0.001 fall=32", 76.0),
                        ("nap=0.001 fall=45 wake=7", 89.0)):
        expect(nap, wanted, runs(*args, cluster(f"{text}1\nmessage {nap}\n"))[0]["time_us"])


def queues():
    """Four ranks on two cores: neighbours have different ones. A rank that waits for one which
    runs polls, and has its message a switch earlier; others wait for that core meanwhile."""
    text = ("cluster gpus=4\nhost cores=2\nlatency node=1\nrate nvlink=1000G\n"
            "message send=1 recv=1 switch=10 nap=1000 near=")
    args = ("--coll", "barrier", "--algo", "dissemination", "--repeat", "20", "--ranks")
    at_once, polls = (runs(*args, "4", "--cluster", cluster(f"{text}{near}\n"))[0]["time_us"]
                      for near in (0, 16))
    expect(f"polling changes something: {at_once}, {polls}", True, at_once != polls)
    alone = [runs(*args, "2", "--cluster", cluster(f"{text}{near}\n"))[0]["time_us"]
             for near in (0, 16)]
    expect("nobody to give way to", alone[0], alone[1])


def moving():
    """Bytes that processors move: what goes round through the caches decides how fast."""
    text = "cluster gpus=4\nrate nvlink=1000G\nmessage move=1G cache=4000 ring=1000 far="
    for algo, same in (("linear", False), ("ring", True)):  # twelve rings of 1000 bytes; four
        near, far = (runs("--coll", "allgather", "--algo", algo, "--bytes", "250", "--repeat", "5",
                          "--cluster", cluster(f"{text}{rate}\n"))[0]["time_us"]
                     for rate in ("1G", "100M"))
        expect(f"{algo} beyond the cache: {near}, {far}", (same, True), (near == far, near <= far))
    # Twelve rings, and the vectors.
    text = "cluster gpus=4\nrate nvlink=1000G\nmessage move=1G cache=4000 ring=1000 dram=100M llc="
    most, *less = (runs("--coll", "allgather", "--algo", "linear", "--bytes", "250", "--repeat",
                        "5", "--cluster", cluster(f"{text}{llc}\n"))[0]["time_us"]
                   for llc in (20000, 15000, 8000))
    expect(f"beyond the last cache: {most}, {less}", True, most < less[0] < less[1])
    args = ("--coll", "bcast", "--algo", "linear", "--ranks", "2", "--bytes", "1000", "--cluster")
    text = ("cluster gpus=2\nlatency node=1\nrate nvlink=1T\n"
            "message send=0.5 recv=0.25 move=1G eager=")
    # Sent, moved, on its way, received and moved; or first announced and answered.
    expect("eager", 3.751, runs(*args, cluster(text + "1000\n"))[0]["time_us"])
    expect("asked for", 6.751, runs(*args, cluster(text + "999\n"))[0]["time_us"])
    # The second one is announced before its receive is posted, which is answered at once.
    expect("asked for late", 6.001,
           runs(*args, cluster(text + "999\n"), "--repeat", "2")[0]["time_us"])
    # The second call's message comes while rank 1 is still at the first one's sum.
    once, twice = (runs(*args, cluster(text + "1000\n"), "--repeat", n)[0]["time_us"]
                   for n in ("1", "2"))
    expect(f"calls one after the other: {once}, {twice}", True, twice < once)
    # Four ranks: two rounds of 250 bytes, the second of what came in the first; moved at both ends.
    text = "cluster gpus=4\nlatency node=1\nrate nvlink=1T\nmessage send=0 recv=0 move=1G fresh="
    ring = ("--coll", "allgather", "--algo", "ring", "--ranks", "3", "--bytes", "250", "--cluster")
    same, half = (runs(*ring, cluster(f"{text}{rate}\n"))[0]["time_us"] for rate in ("1G", "500M"))
    expect(f"what was written in this call: {same}, {half}", True, abs(half - same - 0.5) < 0.01)
    # One core for all: nothing has to be fetched from another one's cache.
    same, half = (runs(*ring, cluster(f"{text}{rate}\nhost cores=1\n"))[0]["time_us"]
                  for rate in ("1G", "500M"))
    expect("what was written by the same core", same, half)
    # Where there are more cores than ranks, the rest hold nothing in their caches.
    text = "rate nvlink=1T\nmessage move=1G far=100M cache=1500\n"
    few, many = (runs(*args, cluster(f"cluster gpus={n}\n{text}"))[0]["time_us"] for n in (2, 8))
    expect("cores that have no rank", few, many)


def held_against():
    """bench/sim_perf says that the simulation puts into order what the simulation itself gave."""
    host = {"switch": 2, "fall": 14, "wake": 5, "fresh": 4e9, "near": 8e9, "far": 4e9,
            "dram": 2e9, "llc": 3e6, "reduce": 8e9, "step": 0.05, "poll": 0.04, "hop": 0.5,
            "message": 0.2, "move": 8e9, "round": 0.1, "call": 0.2}
    with open("figures.json", "w", encoding="utf-8") as f:
        json.dump({"host": host, "allgather": []}, f)
    options = ["--build", BUILD, "--ranks", "2,4", "--sizes", "8,65536", "--collectives",
               "allgather", "--figures", "figures.json", "--cluster", "host.cluster"]

    def held(points):
        with open("figures.json", "w", encoding="utf-8") as f:
            json.dump({"host": host, "allgather": points}, f)
        done = subprocess.run([sys.executable, SIM_PERF, *options], capture_output=True, text=True,
                              timeout=LIMIT)
        expect(f"sim_perf: {done.stderr}", 0, done.returncode)
        said = re.search(r"(\d+) of (\d+) orders right; of those that are certain, (\d+) of (\d+)",
                         done.stdout)
        return [int(x) for x in said.groups()]
    zero = [[algo, n, size, [1.0] * 6] for algo in ("ring", "bruck", "linear", "binomial")
            for n in (2, 4) for size in (8, 65536)]
    expect("what does not differ does not count", [0, 0, 0, 0], held(zero))
    with open("host.cluster", encoding="utf-8") as f:
        expect("what the host gets of the last cache, not its size", ["3000000"],
               re.findall(r"\bllc=(\d+)", f.read()))
    points = [[r["algorithm"], r["ranks"], r["bytes"], [r["time_us"]] * 6] for r in
              runs("--coll", "allgather", "--algo", "ring,bruck,linear,binomial", "--ranks", "2,4",
                   "--bytes", "8,64K", "--repeat", "30", "--cluster", "host.cluster")]
    right, counted, *sure = held(points)
    expect("all orders are right, and certain", (True, counted, [counted, counted]),
           (counted > 0, right, sure))
    turned = [[*p[:3], [1 / v for v in p[3]]] for p in points]
    expect("the other way round all are wrong", [0, counted, 0, counted], held(turned))


def sharing():
    """Sixteen ranks of a rack send to another rack: the uplink is what they wait for."""
    shape = "cluster racks=2 hosts=16\nlatency rack=1 zone=1\nmessage send=0 recv=0\n"
    args = ("--coll", "allgather", "--algo", "recursive_doubling", "--bytes", "1000000",
            "--chunk-size", "0")
    times = [runs(*args, "--cluster", cluster(f"{shape}oversubscription rack={x}\n"))[0]
             for x in (1, 4, 16)]
    alone = 31 * 1e6 / 50e3 + 5  # rounds of 1, 2, 4, 8 and 16 MB at 50 GB/s
    last = 16 * 1e6 / 50e3
    for r, over in zip(times, (1, 4, 16)):
        wanted = alone + last * (over - 1)
        expect(f"1:{over}: {r['time_us']} is {wanted} within a message", True,
               abs(r["time_us"] - wanted) <= last * 1.01)
    expect("nobody waits without oversubscription", True,
           times[0]["waited_us"]["rack"] < times[1]["waited_us"]["rack"])


def links():
    """All bytes and all waits are some link's, the busiest comes first, and what it is busy with is
    what passes it by its rate."""
    args = ("--coll", "all", "--ranks", "8", "--bytes", "8,300K", "--links", "64")
    for calls, text in (("1", SMALL), ("3", SMALL), ("1", "cluster dcs=2 zones=2 racks=2\n")):
        for r in runs(*args, "--repeat", calls, "--cluster", cluster(text)):
            found = r["links"]
            expect(f"{name_of(r)}: no link twice", len(found), len({one["link"] for one in found}))
            expect(f"{name_of(r)}: the busiest first", [one["busy"] for one in found],
                   sorted((one["busy"] for one in found), reverse=True))
            expect(f"{name_of(r)}: none is busier than always", [],
                   [one for one in found if not 0 < one["busy"] <= 1])
            for way in (" out", " in"):
                expect(f"{name_of(r)}: bytes that go{way}", r["bytes_moved"],
                       sum(one["bytes"] for one in found if one["link"].endswith(way)))
            far = r["bytes_by_distance"]
            expect(f"{name_of(r)}: bytes by racks", 2 * (far["zone"] + far["dc"] + far["beyond"]),
                   sum(one["bytes"] for one in found if one["kind"] == "rack"))
            for level, waited in r["waited_us"].items():
                total = sum(one["waited_us"] for one in found if one["kind"] == level)
                expect(f"{name_of(r)}: waits of each {level}: {total} and {waited}", True,
                       abs(total - waited) < 1e-3)
    shape = "cluster racks=2 hosts=16\nmessage send=0 recv=0\noversubscription rack=16\n"
    args = ("--coll", "allgather", "--algo", "recursive_doubling", "--bytes", "1000000",
            "--chunk-size", "0", "--cluster", cluster(shape))
    one, = runs(*args)
    expect("eight, in order", [f"rack {i} {way}" for way in ("up", "down") for i in (0, 1)] +
           [f"host {i} nic 0 out" for i in range(4)], [r["link"] for r in one["links"]])
    up = one["links"][0]
    expect("bytes, and what they keep a link busy", (256000000, round(5120 / one["time_us"], 9)),
           (up["bytes"], up["busy"]))
    waits = 16 * 15 / 2 * 320  # the k-th of sixteen messages waits for k others
    expect(f"waits: {up['waited_us']} of {waits}", True, abs(up["waited_us"] - waits) < 1)
    expect("none", [], runs(*args, "--links", "0")[0]["links"])
    expect("three", one["links"][:3], runs(*args, "--links", "3")[0]["links"])
    plain, table = output(*args), output(*args, "--links", "2")
    expect("the table goes first", True, table.startswith(plain))
    expect("links below it", [["rack", "0", "up", "256000000", f"{100 * up['busy']:.2f}",
                               f"{up['waited_us']:.3f}"]],
           [line.split() for line in table.splitlines() if line.startswith("rack 0")])
    names = {r["link"] for r in runs("--coll", "allgather", "--algo", "ring", "--links", "64",
                                     "--cluster", cluster("cluster hosts=2 gpus=2\nhost nics=1\n"
                                                          "rate shared=100G\n"))[0]["links"]}
    expect("hosts and what their ranks share", {"host 0 shared", "host 1 shared"},
           {name for name in names if "shared" in name})
    expect("NICs", {f"host {i} nic 0 {way}" for i in (0, 1) for way in ("in", "out")},
           {name for name in names if "nic" in name})


def chunks():
    """S x C bounds what a rank of a ring has in flight, where receivers ask for messages."""
    for size, count in ((1000, 1), (1000, 4), (5000, 2)):
        asking = cluster(SMALL + "message eager=0\n")
        r = runs("--coll", "allreduce", "--algo", "ring", "--ranks", "8", "--bytes", "800K",
                 "--chunk-size", str(size), "--chunks", str(count), "--cluster", asking)[0]
        expect(f"{count} chunks of {size}", True, 0 < r["most_bytes_in_flight"] <= size * count)


def described():
    """The clusters that are installed: shape, latencies, rates and uplinks are as they say. Ranks
    that double what they hold exchange it with one 2^k further on, which tells what is how far."""
    every = {"node": 0, "nvlink": 0, "rack": 0, "zone": 0, "dc": 0, "beyond": 0, "self": 0}
    clusters = {  # hosts; bytes of a block; bcast of 1 MB; rounds by distance
        "buildings.cluster": (8192, 100, 1.3 + 1e6 / 390e3,
                              {"node": range(3), "rack": (3,), "zone": range(4, 12),
                               "dc": range(12, 15), "beyond": (15,)}),
        "flat.cluster": (8192, 100, 1.3 + 1e6 / 390e3, {"node": range(3), "rack": range(3, 16)}),
        "groups.cluster": (64, 100000, 2.3 + 1e6 / 50e3,
                           {"rack": range(2), "dc": range(2, 5), "beyond": (5,)})}
    tables = {"gpus.cluster": 1.3 + 1e6 / 390e3, "cpus.cluster": 0.9 + 1e6 / 10e3,
              "slow.cluster": 0.9 + 1e6 / 10e3}  # of the built-in table; bcast of 1 MB
    expect("the clusters", sorted([*clusters, *tables]), sorted(os.listdir(CLUSTERS)))
    for name, time_us in tables.items():
        whole = json.loads(output("--json", "--coll", "bcast", "--algo", "knomial", "--ranks", "2",
                                  "--bytes", "1000000", "--chunk-size", "0", "--cluster",
                                  os.path.join(CLUSTERS, name)))
        expect(f"{name}: ranks and hosts, a message of 1 MB", (512, 64, round(time_us, 3)),
               (whole["cluster_ranks"], whole["hosts"], round(whole["runs"][0]["time_us"], 3)))
    for name, (hosts, block, time_us, far) in clusters.items():
        file = os.path.join(CLUSTERS, name)
        n = 2 ** sum(len(rounds) for rounds in far.values())
        whole = json.loads(output("--json", "--coll", "allgather", "--algo", "recursive_doubling",
                                  "--bytes", str(block), "--cluster", file))
        expect(f"{name}: ranks and hosts", (n, hosts), (whole["cluster_ranks"], whole["hosts"]))
        one, = whole["runs"]
        expect(f"{name}: messages and bytes by distance",
               (n * n.bit_length() - n,
                every | {d: n * sum(block << k for k in rounds) for d, rounds in far.items()}),
               (one["messages"], one["bytes_by_distance"]))
        least = one["bound_us"]
        if "dc" not in far:  # nobody waits: overheads and latencies, and bytes by rate
            least = 16 * 0.6 + 3 * 0.7 + 13 * 7 + block * (7 / 390e3 + 65528 / 50e3)
            expect(f"{name}: {one['time_us']} is {least}", True, abs(one["time_us"] - least) < 0.01)
        else:
            out = sum(block << k for d in ("dc", "beyond") for k in far[d])
            least = max(least, out / (50e3 / 2.8))
            expect(f"{name}: {one['time_us']} is above {least}, by what waits", True,
                   least <= one["time_us"] < 2 * least and one["waited_us"]["zone"] > 0)
        pair, = runs("--coll", "bcast", "--algo", "knomial", "--ranks", "2", "--bytes", "1000000",
                     "--chunk-size", "0", "--cluster", file)
        expect(f"{name}: a message of 1 MB", round(time_us, 3), round(pair["time_us"], 3))


def measured(*args):
    """The run, and the most memory that it had, in bytes."""
    with subprocess.Popen([TOOL, "--json", *args], stdout=subprocess.PIPE, text=True) as p:
        hang = threading.Timer(SOAK_LIMIT if SOAK else LIMIT, p.kill)
        hang.start()
        text = p.stdout.read()
        _, status, used = os.wait4(p.pid, 0)
        hang.cancel()
        p.returncode = os.waitstatus_to_exitcode(status)
    expect(f"{args}: status", 0, p.returncode)
    return json.loads(text)["runs"][0] if p.returncode == 0 else None, used.ru_maxrss * 1024


def memory():
    """So many ranks, and no more memory than some words for each: not even a bit for each two."""
    for n, most in ((65536, 256 << 20), (1 << 20, 8 << 30))[:2 if SOAK else 1]:
        args = ("--coll", "allgather", "--algo", "recursive_doubling", "--ranks", str(n), "--bytes",
                "1024", "--cluster", cluster("cluster dcs=32 zones=8 racks=256 hosts=2 gpus=8\n"))
        one, used = measured(*args)
        rounds = n.bit_length() - 1
        if one is not None:
            print(f"{n} ranks: {used >> 20} MiB, {one['events']} events, {one['time_us']} us")
            expect(f"{n} ranks: rounds, messages, bytes",
                   (n * rounds, n * rounds, n * (n - 1) * 1024),
                   (one["rounds"], one["messages"], one["bytes_moved"]))
            expect(f"{n} ranks: not by symmetry", (n, False),
                   (one["simulated_ranks"], one["symmetry"]))
            expect(f"{n} ranks: {one['time_us']} us", True, one["time_us"] >= one["bound_us"])
        if not SANITIZED:  # which has its own memory besides
            expect(f"{n} ranks: {used} bytes of memory, at most {most}", True, used <= most)


def given_up():
    """What takes so many times as long as the fastest before has no time; others have theirs."""
    args = ("--coll", "allreduce,scan", "--ranks", "16", "--bytes", "8,100K", "--cluster",
            cluster(SMALL))
    for repeat in ("1", "3"):
        whole = runs(*args, "--repeat", repeat)
        some = runs(*args, "--repeat", repeat, "--within", "1.5")
        best, late = {}, 0
        for r, found in zip(whole, some):
            key = r["collective"], r["bytes"]
            most = 1.5 * best.get(key, r["time_us"])
            if r["time_us"] <= most:
                expect(f"{name_of(r)}: not given up", r, found)
                best[key] = min(best.get(key, r["time_us"]), r["time_us"])
            else:
                late += 1
                expect(f"{name_of(r)}: given up", (r["algorithm"], r["bytes"], None),
                       (found["algorithm"], found["bytes"], found["time_us"]))
        expect("some are given up, and some are not", True, 0 < late < len(whole))
        expect("so many lines", late, output(*args, "--repeat", repeat, "--within",
                                             "1.5").count("given up"))


def refused():
    bad = (("cluster gpus=x\n", "1:", "is no number of gpus"),
           ("\n# c\ncluster gpus=2\nlatency rck=1\n", "4:", 'latency has no "rck"'),
           ("rate nic=fast\n", "1:", "expected bytes a second"),
           ("rate nic=0\n", "1:", "expected more than 0"),
           ("rate nic=1e-300\n", "1:", "expected bytes a second"),
           ("rate nic=0.5\n", "1:", "expected bytes a second"),
           ("latency rack=-1\n", "1:", "expected microseconds"),
           ("latency rack=nan\n", "1:", "expected microseconds"),
           ("oversubscription zone=0\n", "1:", "expected a ratio"),
           ("host cores=1.5\n", "1:", "expected a whole number"),
           ("speed nic=1\n", "1:", "is no word of a description"),
           ("rate nic\n", "1:", "expected KEY=VALUE"),
           ("cluster gpus=9999999\n", "1:", "from 1 to"))
    for text, line, why in bad:
        done = call("--coll", "barrier", "--cluster", cluster(text, "bad.cluster"))
        expect(f"{text!r}: {done.stderr}", (2, "", True, True),
               (done.returncode, done.stdout, f"bad.cluster:{line}" in done.stderr,
                why in done.stderr))
    os.mkfifo("fifo")
    with open("nul.cluster", "wb") as f:
        f.write(b"cluster gpus=2\0\nspeed nic=1\n")
    cluster("#" * (1 << 20) + "\n", "long.cluster")
    fast = cluster("cluster gpus=64\nrate nvlink=1e18 memory=1e18 reduce=1e18\n", "fast.cluster")
    slow = cluster("latency node=1e9 rack=1e9 zone=1e9 dc=1e9\n", "slow.cluster")
    for args, why in ((("--coll", "nonesuch"), "nonesuch"), ((), "--coll is missing"),
                      (("--coll", "bcast", "--algo", "bruck"), "bruck"),
                      (("--coll", "bcast", "--algo", "bruck:3"), "no such algorithm"),
                      (("--coll", "allgather", "--algo", "bruck:3,,ring"), "no such algorithm"),
                      (("--coll", "allgather", "--algo", "bruck,ring:3"),
                       'ring of allgather has no radix, found ":3"'),
                      (("--coll", "bcast", "--algo", "knomial:1"),
                       '"1" is no radix; it is a number from 2 to'),
                      (("--coll", "bcast", "--algo", "knomial:4x"), '"4x" is no radix'),
                      (("--coll", "bcast", "--algo", "knomial:"), '"" is no radix'),
                      (("--coll", "bcast", "--algo", "knomial:4:2"), '"4:2" is no radix'),
                      (("--coll", "bcast", "--algo", "knomial:9999999999999999"), "no radix"),
                      (("--coll", "allgather", "--algo", "bruck:3,bruck:8", "--ranks", "16"),
                       "bruck of allgather on 16 ranks: radix 8 is too large; the most is 4"),
                      (("--coll", "all", "--algo", "dissemination:1024", "--ranks", "2"),
                       "radix 1024 is too large; the most is 5"),
                      (("--coll", "bcast", "--ranks", "0"), "ranks: 0"),
                      (("--coll", "bcast", "--ranks", "1,x"), "ranks: 1,x"),
                      (("--coll", "bcast", "--ranks", "2000000"), "2000000"),
                      (("--coll", "bcast", "--ranks", "2", "--root", "2"), "the root is 2"),
                      (("--coll", "bcast", "--bytes", "3", "--element", "2"), "multiple"),
                      (("--coll", "bcast", "--cluster", "/nonexistent"), "No such file"),
                      (("--coll", "bcast", "--cluster", "/dev/zero"), "it is no regular file"),
                      (("--coll", "bcast", "--cluster", "fifo"), "it is no regular file"),
                      (("--coll", "bcast", "--cluster", "nul.cluster"), "it is no text"),
                      (("--coll", "bcast", "--cluster", "long.cluster"), "it is too long"),
                      (("--coll", "allgather", "--algo", "recursive_doubling", "--bytes", "16T",
                        "--cluster", cluster("cluster hosts=1048576\n", "many.cluster")),
                       "too much data"),
                      (("--coll", "alltoall", "--algo", "pairwise", "--element", "1M", "--bytes",
                        "16T", "--repeat", "1000", "--chunk-size", "0", "--cluster", fast),
                       "too much data"),
                      (("--coll", "barrier", "--algo", "dissemination", "--ranks", "64", "--repeat",
                        "1000", "--cluster", slow),
                       "more than 53 days"),
                      (("--coll", "allreduce", "--algo", "ring", "--ranks", "4096", "--bytes",
                        "4K", "--cluster", slow), "more than 53 days"),
                      (("--coll", "bcast", "--ranks", "2", "--bytes", "16T", "--cluster",
                        cluster("rate nvlink=1\n", "rate.cluster")), "more than 53 days"),
                      (("--coll", "allreduce", "--algo", "hier_ring", "--ranks", "2"),
                       "the levels of the cluster"),
                      (("--coll", "allreduce", "--levels", "rack,node"), "levels: rack,node"),
                      (("--coll", "barrier", "--each"), "--each goes with --json"),
                      (("--coll", "barrier", "--within", "0.5"), "within: 0.5"),
                      (("--coll", "barrier", "--within", "2", "--plot", "a"), "without --each"),
                      (("--coll", "bcast", "--chunks", "65"), "chunks: 65"),
                      (("--coll", "bcast", "--links", "65"), "links: 65"),
                      (("--coll", "bcast", "--links", "few"), "links: few"),
                      (("--coll", "bcast", "--wrong"), "wrong"),
                      (("--coll", "bcast", "more"), "more"),
                      (("--coll", "bcast,barrier", "--ranks", "2", "--trace", "t"), "--trace"),
                      (("--coll", "allgather", "--algo", "neighbor_exchange", "--ranks", "3"),
                       "none of these")):
        done = call(*args)
        expect(f"{args}: {done.stderr}", (2, "", True),
               (done.returncode, done.stdout, why in done.stderr))
    done = call("--coll", "barrier", "--ranks", "2", "--plot", "/nonexistent/a.svg")
    expect("a picture that cannot be written", (1, True),
           (done.returncode, "/nonexistent/a.svg" in done.stderr))


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for part in (formats, radices, hierarchies, trace, symmetry, properties, repeated, cores,
                     queues, moving, held_against, sharing, links, chunks, described, memory,
                     given_up,
                     refused):
            part()
        os.chdir("/")
    print(f"{checks} checks, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
