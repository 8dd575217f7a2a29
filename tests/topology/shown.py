#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What ctran_info --topology shows of this machine, of every machine of the project, and of
clusters from descriptions and labels files; and what it refuses.

Text, JSON and picture of each are there, agree, and pass check_svg.py.
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
import pictures  # noqa: E402
from pictures import expect, LIMIT, TOP  # noqa: E402

INFO = os.path.join(TOP, "tools/ctran_info")
SOURCE = Path(os.environ.get("top_srcdir", Path(__file__).resolve().parents[2]))
MACHINES = SOURCE / "src/topo/machines"
CLUSTERS = {  # hosts and GPUs of each
    "hosts=1 gpus=8": (1, 8),
    "racks=4 hosts=4 gpus=8": (16, 128),
    "racks=4 hosts=18 gpus=4 nvlink=rack": (72, 288),
    "dcs=2 zones=2 racks=2 hosts=4 gpus=8 nvlink=2 seed=3": (32, 256),
    "dcs=2 zones=4 racks=16 hosts=16 gpus=8": (2048, 16384),
    "dcs=4 zones=8 racks=32 hosts=16 gpus=8": (16384, 131072),
    "racks=1000 hosts=2 gpus=4 seed=9": (2000, 8000),
}
LABELS = """# where our hosts stand
a[01-04] rack=r1 zone=z1 dc=north nvlink=n1
a[05-08] rack=r2 zone=z1 dc=north
b[1-2]   rack=r1 zone=z2 dc=north
<&"'>    rack=<&"'>&amp; zone=]]> dc=--><x/>
c*       rack=r9
"""
SLURM = """SwitchName=leaf1 Nodes=n[1-4]
SwitchName=leaf2 Nodes=n[5-8]
SwitchName=spine Switches=leaf[1-2]
"""


def clean_environment():
    env = {k: v for k, v in os.environ.items() if not k.startswith("CTRAN_")}
    return env | {"CTRAN_MACHINES": str(MACHINES), "HOME": "/nonexistent"}


def run(*args, status=0, **more):
    done = subprocess.run([INFO, "--topology", *args], capture_output=True, timeout=LIMIT,
                          env=clean_environment() | more)
    expect(f"{' '.join(args)}: exit status", status, done.returncode)
    out, err = done.stdout.decode("utf-8"), done.stderr.decode("utf-8", "replace")
    if status == 0 and done.returncode != 0:
        print(err)
    return out if status == 0 else err


def shown(folder, *args, **more):
    """Text, JSON and picture."""
    svg = Path(folder) / "shown.svg"
    text = run(*args, **more)
    both = json.loads(run(*args, "--json", "--svg", str(svg), **more))
    expect(f"{args}: --svg -", svg.read_text(encoding="utf-8"), run("--svg", "-", *args, **more))
    return text, both, svg.read_text(encoding="utf-8")


def check_machines(folder):
    text, machine, svg = shown(folder)
    pictures.check_machine("this machine", machine, svg)
    expect("this machine: text", True, text.startswith("machine "))
    names = sorted(p.stem for p in MACHINES.glob("*.xml"))
    expect("machines", True, {"dgx-h100", "p4d", "gb200", "cpu2s"} <= set(names))
    for name in names:
        text, machine, svg = shown(folder, "--synthetic", name)
        pictures.check_machine(name, machine, svg)
        expect(f"{name}: host", name, machine["source"])
        for nic in machine["nics"]:
            line = f"NIC {nic['name']} port {nic['port']} at {nic['pci'] or '-'}: "
            expect(f"{name}: {nic['name']} in the text", 1, text.count(line))
        for gpu in machine["gpus"]:
            line = f"GPU {gpu['index']} at {gpu['pci'] or '-'}: {gpu['name']}"
            expect(f"{name}: GPU {gpu['index']} in the text", 1, text.count(line))
    _, machine, svg = shown(folder, "--synthetic", "dgx-h100", CTRAN_NIC_MAP="0=mlx5_3,mlx5_0")
    pictures.check_machine("dgx-h100 with a map", machine, svg)
    expect("the map", ("mlx5_3", "mlx5_0", True),
           (machine["gpu_rails"][0]["primary"]["nic"], machine["gpu_rails"][0]["backup"]["nic"],
            machine["gpu_rails"][0]["mapped"]))
    expect("the map in the picture", True, "(map)" in svg)
    expect("a machine by its path", machine["gpus"], json.loads(
        run("--json", "--synthetic", str(MACHINES / "dgx-h100.xml")))["gpus"])


def hosts_of(cluster):
    return [h for dc in cluster["data_centres"] for z in dc["zones"] for r in z["racks"]
            for h in r["hosts"]]


def check_clusters(folder):
    for name, (hosts, gpus) in CLUSTERS.items():
        text, cluster, svg = shown(folder, "--cluster", name)
        pictures.check_cluster(name, cluster, svg)
        expect(f"{name}: hosts, GPUs", (hosts, gpus),
               (cluster["hosts"], sum(dc["gpus"] for dc in cluster["data_centres"])))
        expect(f"{name}: the text is short", True, len(text.splitlines()) < 1200)
    _, cluster, svg = shown(folder, "--cluster", "racks=2 hosts=3", "--synthetic", "gb200")
    pictures.check_cluster("hosts like gb200", cluster, svg)
    expect("hosts like gb200", {(4, 4)}, {(h["gpus"], h["rails"]) for h in hosts_of(cluster)})
    path = Path(folder) / "labels"
    path.write_text(LABELS, encoding="utf-8")
    text, cluster, svg = shown(folder, "--cluster", str(path))
    pictures.check_cluster("labels", cluster, svg)
    expect("labels: hosts", 12, cluster["hosts"])
    first = cluster["data_centres"][0]
    expect("labels: first", ("north", "z1", "r1", "a01", "n1"),
           (first["name"], first["zones"][0]["name"], first["zones"][0]["racks"][0]["name"],
            first["zones"][0]["racks"][0]["hosts"][0]["name"],
            first["zones"][0]["racks"][0]["hosts"][0]["nvlink_domain"]))
    expect("labels: NVLink pairs", 6, cluster["pairs"]["nvlink"])
    path.write_text(SLURM, encoding="utf-8")
    text, cluster, svg = shown(folder, "--cluster", str(path))
    pictures.check_cluster("topology.conf", cluster, svg)
    expect("topology.conf: racks", ["leaf1", "leaf2"],
           [r["name"] for r in cluster["data_centres"][0]["zones"][0]["racks"]])
    path.write_text("# nothing\n", encoding="utf-8")
    text, cluster, svg = shown(folder, "--cluster", str(path))
    pictures.check_cluster("no host", cluster, svg)


def keys_of(value):
    """All names of fields in it."""
    if isinstance(value, dict):
        return set(value) | {k for v in value.values() for k in keys_of(v)}
    return {k for v in value for k in keys_of(v)} if isinstance(value, list) else set()


def check_page():
    """The page has every field, and no other."""
    page = (SOURCE / "man/ctran_info.1").read_text(encoding="utf-8")
    page = page[page.index(".Ss JSON"):page.index(".Pp\nWithout\n")]
    named = set(re.findall(r"[a-z_]+", " ".join(
        line.replace(".It", "") for line in page.splitlines() if line.startswith((".Va", ".It Va")))
        .replace("Va", "")))
    machine = json.loads(run("--json", "--synthetic", "dgx-h100"))
    cluster = json.loads(run("--json", "--cluster", "hosts=2"))
    distances = set(cluster["pairs"])
    expect("fields, and those that ctran_info(1) names", sorted(named),
           sorted((keys_of(machine) | keys_of(cluster)) - distances))


def check_refused(folder):
    for args, part in (
            (("--synthetic", "no-such-machine"), "no-such-machine"),
            (("--synthetic", folder), "--synthetic"),
            (("--cluster", "racks=0"), "--cluster racks=0"),
            (("--cluster", "rakcs=4"), "rakcs"),
            (("--cluster", "/no/such/file"), "/no/such/file"),
            (("--cluster", folder), folder),
            (("--svg", "/no/such/folder/x.svg"), "/no/such/folder/x.svg: No such file"),
            (("--json", "--svg", "-"), "--json and --svg -")):
        err = run(*args, status=1)
        expect(f"{' '.join(args)}: message", True, part in err and "ctran_info: " in err)
    for args in (("--all",), ("--json", "--json"), ("--svg", "a", "--svg", "b"), ("--svg",)):
        run(*args, status=2)
    if os.path.exists("/dev/full"):
        err = run("--svg", "/dev/full", status=1)
        expect("a full disk: message", True, "cannot be written" in err)
    # A bad map is told, and the machine is shown without rails.
    done = subprocess.run([INFO, "--topology", "--json", "--synthetic", "dgx-h100"],
                          capture_output=True, timeout=LIMIT, check=False,
                          env=clean_environment() | {"CTRAN_NIC_MAP": "0=mlx9"})
    expect("a bad map", (1, True, 8, {None}),
           (done.returncode, b"mlx9" in done.stderr, len(json.loads(done.stdout)["gpus"]),
            {r["primary"] for r in json.loads(done.stdout)["gpu_rails"]}))


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_machines(folder)
        check_clusters(folder)
        check_page()
        check_refused(folder)
    return pictures.finish()


if __name__ == "__main__":
    sys.exit(main())
