#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What ctran_info shows of machines and clusters made by hand, good, large and bad ones.

Every picture passes check_svg.py and has all GPUs, NICs, rails and backups of the machine, or the
hosts, racks, zones and data centres of the cluster as far as they are not too many; every JSON is
read by Python and says the same, no text holds a control character. Then pictures are broken on
purpose, and each must be found out.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import check_svg  # noqa: E402

TOP = os.environ.get("top_builddir", ".")
PROGRAMS = os.path.join(TOP, "tests/topology")
LIMIT = 240  # seconds; only a hang reaches it
# Marks that turn the direction of text.
TURNS = "[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
failures = []
checks = 0


def expect(what, wanted, found):
    global checks
    checks += 1
    if wanted != found:
        failures.append(what)
        print(f"FAIL: {what}\n  wanted: {wanted!r}\n  found:  {found!r}", flush=True)


def as_shown(text):
    """JSON keeps control characters, XML cannot."""
    return re.sub(r"[\x00-\x1f]", "\ufffd", text)


def has_processors(machine, numa):
    """Of its own: not those of a node before it, whose memory it is."""
    nodes = machine["numa_nodes"]
    return nodes[numa]["cpus"] not in [""] + [n["cpus"] for n in nodes[:numa]]


def rails_of(machine, which):
    """The lines that the picture must have, by the names that it gives them."""
    rails = [(r["gpu"], r) for r in machine["gpu_rails"]] if machine["gpus"] else [
        (r["numa"], r) for r in machine["numa_rails"] if has_processors(machine, r["numa"])]
    if which == "more":
        ends = [(user, machine["nics"][i]) for user, r in rails for i in r["more"]]
    else:
        ends = [(user, machine["nics"][r[which]["index"]]) for user, r in rails if r[which]]
    return {f"{user}>{as_shown(nic['name'])}:{nic['port']}" for user, nic in ends}


def check_machine(name, machine, svg):
    """Also used for what ctran_info itself writes."""
    expect(f"{name}: the picture", [], check_svg.check(svg))
    picture = check_svg.Picture(svg)
    expect(f"{name}: GPUs", {str(g["index"]) for g in machine["gpus"]}, picture.names("gpu"))
    expect(f"{name}: NICs", {f"{as_shown(n['name'])}:{n['port']}" for n in machine["nics"]},
           picture.names("nic"))
    for kind, which in (("rail", "primary"), ("more", "more"), ("backup", "backup")):
        expect(f"{name}: lines, {kind}", rails_of(machine, which), picture.line_names(kind))
    boxes = {(b.kind, b.name): b for b in picture.boxes}
    for kind, line, points, _ in picture.lines:
        if kind in ("rail", "more", "backup"):
            user, nic = line.split(">", 1)
            below = boxes.get(("gpu", user)) or boxes.get(("cpus", user))
            above = boxes[("nic", nic)]
            expect(f"{name}: {kind} {line} leaves its GPU", True,
                   points[0][1] == below.y1 and below.x0 < points[0][0] < below.x1)
            expect(f"{name}: {kind} {line} reaches its NIC", True,
                   points[-1][1] == above.y0 and above.x0 < points[-1][0] < above.x1)


def check_cluster(name, cluster, svg):
    """Also used for what ctran_info itself writes."""
    expect(f"{name}: the picture", [], check_svg.check(svg))
    picture = check_svg.Picture(svg)
    dcs = cluster["data_centres"]
    zones = [z for d in dcs for z in d["zones"]]
    racks = [r for z in zones for r in z["racks"]]
    hosts = [h for r in racks for h in r["hosts"]]
    found = {kind: sorted(b.name for b in picture.boxes if b.kind == kind)
             for kind in ("dc", "zone", "rack", "host")}
    n = len(hosts)
    expect(f"{name}: hosts", cluster["hosts"], n)
    expect(f"{name}: pairs", n * (n - 1) // 2, sum(cluster["pairs"].values()))
    for kind, groups in (("dc", dcs), ("zone", zones), ("rack", racks), ("host", hosts)):
        wanted = sorted(as_shown(g["name"]) for g in groups)
        if found[kind] != wanted:  # then there are too many to draw them one by one
            drawn = len(found[kind])
            least = {"dc": 32, "zone": 96, "rack": 160, "host": 192}[kind]
            expect(f"{name}: {kind}s, {len(wanted)} in all", True,
                   len(wanted) > least and drawn < len(wanted)
                   or drawn == 0 and (len(racks) > 160 or len(zones) > 96))
    if n > 0:
        text = f"{n} host"
        expect(f"{name}: the sum is told", True,
               any(text in label.what for label in picture.labels))


def check_seeds(svg):
    """What is wrong with each of these must be seen."""
    box = re.compile(r'(<g class="gpu" data-name="1">.*?<rect x=")(\d+)(" y=")(\d+)', re.S)
    seeds = {
        "a GPU on its neighbour": box.sub(
            lambda m: m[1] + str(int(m[2]) - 120) + m[3] + m[4], svg, count=1),
        "a GPU out of its switch": box.sub(
            lambda m: m[1] + m[2] + m[3] + str(int(m[4]) - 300), svg, count=1),
        "a label too long": svg.replace(">GPU 1<", ">GPU 1, and much else besides<", 1),
        "a label on another": re.sub(r'(<text x="\d+" y=")(\d+)("[^>]*>NVIDIA)',
                                     lambda m: m[1] + str(int(m[2]) - 9) + m[3], svg, count=1),
        "a line over labels": re.sub(r'(class="rail"[^>]* d="M)(\d+) (\d+)',
                                     lambda m: f"{m[1]}{m[2]} {int(m[3]) - 60}", svg, count=1),
        "a picture without end": svg.replace("</svg>", ""),
        "a picture too large": re.sub(r' width="\d+"', ' width="20000"', svg, count=1),
        "another file": "<html/>",
    }
    for what, broken in seeds.items():
        expect(f"{what}: changed", True, broken != svg)
        expect(f"{what}: found out", True, bool(check_svg.check(broken)))
    expect("an empty file: found out", True, bool(check_svg.check("")))


def load(folder, program):
    """Name, JSON and picture of all that the program writes."""
    subprocess.run([os.path.join(PROGRAMS, program), folder], check=True, timeout=LIMIT)
    for path in sorted(Path(folder).glob("*.svg")):
        text = path.with_suffix(".txt").read_text(encoding="utf-8")
        form = path.with_suffix(".json").read_text(encoding="utf-8")
        svg = path.read_text(encoding="utf-8")
        expect(f"{path.stem}: control characters", [], re.findall(r"[\x00-\x09\x0b-\x1f]", text))
        expect(f"{path.stem}: marks of direction", [], re.findall(TURNS, text + form + svg))
        yield (path.stem, json.loads(form), svg)


def finish():
    print(f"{checks - len(failures)} of {checks} checks passed")
    return 1 if failures or checks == 0 else 0


def main():
    with tempfile.TemporaryDirectory() as folder:
        machines = {name: (machine, svg) for name, machine, svg in load(folder, "machines")}
    expect("some machines", True, {"dgx", "most", "wide", "hostile", "empty"} <= set(machines))
    for name, (machine, svg) in machines.items():
        check_machine(name, machine, svg)
    check_seeds(machines["dgx"][1])
    with tempfile.TemporaryDirectory() as folder:
        clusters = {name: (cluster, svg) for name, cluster, svg in load(folder, "clusters")}
    expect("some clusters", True, {"none", "racks4", "huge", "hostile"} <= set(clusters))
    for name, (cluster, svg) in clusters.items():
        check_cluster(name, cluster, svg)
    expect("GPUs of the largest", 131072,
           sum(dc["gpus"] for dc in clusters["huge"][0]["data_centres"]))
    return finish()


if __name__ == "__main__":
    sys.exit(main())
