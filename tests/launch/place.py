# SPDX-License-Identifier: BSD-3-Clause
"""Places: on machines that hwloc makes up, seen by --dry-run; then on this one, where the ranks say
what they got. Two jobs at a time are not given the same cores unless both ask for them."""
import os
import re
import subprocess
import tempfile

from launch import Job, check, expect, run

# machine, arguments, the CPUs of rank 0, 1, ...
TWO_NODES = "numa:2 core:4 pu:2"  # cores 0-3 are CPUs 0-7 of node 0
CACHES = "pack:2 [numa] l3:2 core:2 pu:2"  # each L3 cache has 2 cores, CPUs 0-3, 4-7, ...
MADE_UP = [
    (TWO_NODES, ["-n", 3, "--bind-to", "core"], "0-1 2-3 4-5"),
    (TWO_NODES, ["-n", 3, "--map-by", "slot"], "0-1 2-3 4-5"),
    (TWO_NODES, ["-n", 3, "--map-by", "node"], "0-1 2-3 4-5"),
    (TWO_NODES, ["-n", 9, "--map-by", "core"], "0-1 2-3 4-5 6-7 8-9 10-11 12-13 14-15 0-1"),
    (TWO_NODES, ["-n", 3, "--map-by", "core:pe=3"], "0-5 6-11 0-5"),
    (TWO_NODES, ["-n", 3, "--map-by", "numa"], "0-7 8-15 0-7"),
    (TWO_NODES, ["-n", 5, "--map-by", "numa:pe=2"], "0-3 8-11 4-7 12-15 0-3"),
    (TWO_NODES, ["-n", 4, "--map-by", "numa", "--bind-to", "core"], "0-1 8-9 2-3 10-11"),
    (TWO_NODES, ["-n", 4, "--map-by", "hwthread"], "0 1 2 3"),
    (TWO_NODES, ["-n", 2, "--map-by", "hwthread:pe=3"], "0-2 3-5"),
    (TWO_NODES, ["-n", 2, "--map-by", "hwthread", "--bind-to", "core"], "0-1 0-1"),
    (TWO_NODES, ["-n", 2, "--map-by", "core:pe=2", "--bind-to", "hwthread"], "0,2 4,6"),
    (TWO_NODES, ["-n", 3, "--bind-to", "hwthread"], "0 1 2"),
    (TWO_NODES, ["-n", 5, "--bind-to", "numa"], "0-7 0-7 0-7 0-7 8-15"),
    (TWO_NODES, ["-n", 2, "--map-by", "core:pe=5", "--bind-to", "numa"], "0-15 0-15"),
    ("pack:2 [numa] l3:1 core:2 pu:1", ["-n", 4, "--map-by", "numa", "--bind-to", "core"],
     "0 2 1 3"),
    ("pack:2 [numa] l3:1 core:2 pu:1", ["-n", 3, "--map-by", "numa"], "0-1 2-3 0-1"),
    ("pu:4", ["-n", 3, "--bind-to", "core"], "0 1 2"),
    (CACHES, ["-n", 3, "--map-by", "package"], "0-7 8-15 0-7"),
    (CACHES, ["-n", 3, "--map-by", "socket"], "0-7 8-15 0-7"),
    (CACHES, ["-n", 5, "--map-by", "l3cache"], "0-3 4-7 8-11 12-15 0-3"),
    (CACHES, ["-n", 3, "--map-by", "l3cache:pe=2"], "0-3 4-7 8-11"),
    (CACHES, ["-n", 3, "--map-by", "package", "--bind-to", "core"], "0-1 8-9 2-3"),
    (CACHES, ["-n", 3, "--bind-to", "l3cache"], "0-3 0-3 4-7"),
    (CACHES, ["-n", 2, "--bind-to", "socket"], "0-7 0-7"),
    (CACHES, ["-n", 2, "--map-by", "core:pe=3", "--bind-to", "l3cache"], "0-7 4-11"),
    (CACHES, ["-n", 2, "--map-by", "core:PE=2:oversubscribe"], "0-3 4-7"),
]
# More ranks than there are places for: the ranks that want a core, the cores.
OVERLOAD = {
    (TWO_NODES, "9", "core"): "9 ranks want 9 cores and this machine has 8",
    (TWO_NODES, "3", "core:pe=3"): "3 ranks want 9 cores and this machine has 8",
    (TWO_NODES, "5", "numa:pe=2"): "3 ranks want 6 cores and a NUMA node has 4",
    (TWO_NODES, "2", "core:pe=5"): "2 ranks want 10 cores and this machine has 8",
}
for machine, args, want in MADE_UP:
    over = OVERLOAD.get((machine, str(args[1]), args[3]), "")
    told = rf"ctranrun: job \w+: warning: {over}, so that several [^\n]*\n" if over else ""
    got = expect(["--dry-run", *args, "true"], 0, err=told, env={"HWLOC_SYNTHETIC": machine})
    cpus = re.findall(r"^rank \d+ on host \S+, cpu (\S+) \([^\n]*\): true$", got[1], re.M)
    check(" ".join(cpus) == want, f"{machine}, {args}: {cpus}, expected {want}")
    check("not bound" not in got[1], f"{machine}, {args}: {got[1]}")
for args in (["--oversubscribe", "--map-by", "core"], ["--map-by", "core:oversubscribe"],
             ["--bind-to", "core:overload-allowed"]):
    expect(["--dry-run", "-n", 9, *args, "true"], 0, err="", env={"HWLOC_SYNTHETIC": TWO_NODES})
for machine, args, words in (
        (CACHES, ["--map-by", "core:pe=6"],
         "0-11 (cores 0-3 of package 0, cores 4-5 of package 1, NUMA nodes 0-1)"),
        (CACHES, ["--bind-to", "hwthread"], "0 (core 0 of package 0, NUMA node 0)"),
        ("pu:4", ["--bind-to", "core"], "0 (NUMA node 0)")):
    got = expect(["--dry-run", *args, "true"], 0, err="", env={"HWLOC_SYNTHETIC": machine})
    check(f", cpu {words}: true\n" in got[1], f"{machine} {args}: {got[1]!r}, expected {words!r}")
for args in (["--map-by", "l3cache"], ["--bind-to", "l3cache"]):
    expect([*args, "true"], 2, out="", env={"HWLOC_SYNTHETIC": TWO_NODES},
           err=rf"ctranrun: job \w+: {args[0]}: this machine tells of no L3 cache; use [^\n]*\n")
got = run("--dry-run", "-n", 3, "--map-by", "core:pe=2", "--bind-to", "none", "true",
          env={"HWLOC_SYNTHETIC": TWO_NODES})
check(got[1].count("not bound:") == 3, f"--map-by with --bind-to none: {got}")
for order, words in (("core:pe=9", "9 cores a rank, and this machine has only 8"),
                     ("numa:pe=5", "5 cores a rank, and a NUMA node has only 4"),
                     ("hwthread:pe=17", "only 16")):
    expect(["--map-by", order, "true"], 2, out="", env={"HWLOC_SYNTHETIC": TWO_NODES},
           err=rf"ctranrun: job \w+: --map-by asks for [^\n]*{words}[^\n]*ask for fewer\n")

for args in (["--map-by", "gpu"], ["--gpus-per-rank", 1], ["--dry-run", "--gpus-per-rank", 1]):
    expect([*args, "true"], 2, out="", env={"CUDA_VISIBLE_DEVICES": ""},
           err=r"ctranrun: job \w+: --\S+( gpu)?: host \S+ has (no GPU|GPUs, and none)[^\n]*\n")

# Machines that one does not have: arguments, environment, each rank's CPUs and GPUs.
MACHINES = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                        "../../src/topo/machines"))
DGX = "0-13,112-125|14-27,126-139|28-41,140-153|42-55,154-167"  # of NUMA node 0
GPUS = [
    ("dgx-h100", ["-n", 4, "--map-by", "gpu"], {}, DGX, "0|1|2|3"),
    ("dgx-h100", ["-n", 2, "--map-by", "gpu:pe=2"], {}, "0-1,112-113|2-3,114-115", "0|1"),
    ("dgx-h100", ["-n", 2, "--gpus-per-rank", 4], {}, "0-55,112-167|56-111,168-223",
     "0,1,2,3|4,5,6,7"),
    ("dgx-h100", ["-n", 2, "--map-by", "gpu"], {"CUDA_VISIBLE_DEVICES": "6,1"},
     "56-111,168-223|0-55,112-167", "6|1"),
    ("dgx-h100", ["-n", 3, "--map-by", "gpu"], {"CUDA_VISIBLE_DEVICES": "3"},
     "0-17,112-129|18-36,130-148|37-55,149-167", "3|3|3"),
    ("dgx-h100", ["-n", 2, "--gpus-per-rank", 1, "--map-by", "numa"], {},
     "0-55,112-167|56-111,168-223", "0|4"),
    ("dgx-h100", ["-n", 2, "--map-by", "gpu"], {"CTRAN_GPU_MAP": "0=7;1=0"},
     "56-111,168-223|0-55,112-167", "7|0"),
    ("p4d", ["-n", 4, "--gpus-per-rank", 2, "--map-by", "gpu:pe=1"], {},
     "0,48|1,49|24,72|25,73", "0,1|2,3|4,5|6,7"),
    ("gb200", ["-n", 4, "--map-by", "gpu"], {}, "0-35|36-71|72-107|108-143", "0|1|2|3"),
    ("gb200", ["-n", 2, "--gpus-per-rank", 2], {}, "0-71|72-143", "0,1|2,3"),
]


def machine(name):
    return {"CTRAN_MACHINE": name, "CTRAN_MACHINES": MACHINES,
            "HWLOC_XMLFILE": f"{MACHINES}/{name}.xml"}


for name, args, env, cpus, gpus in GPUS:
    got = expect(["--dry-run", *args, "true"], 0, err="", env={**machine(name), **env})
    lines = re.findall(r"^rank .*$", got[1], re.M)
    found = ["|".join(m) for m in zip(*(re.findall(
        r", cpu (\S+) \([^;]*\); GPU .*; CUDA_VISIBLE_DEVICES=(\S+): true$", x)[0] for x in lines))]
    check(found == [cpus, gpus], f"{name} {args} {env}: {found}, expected {[cpus, gpus]}")
got = expect(["--dry-run", "-n", 2, "--map-by", "gpu", "true"], 0, err="",
             env={**machine("dgx-h100"), "CUDA_VISIBLE_DEVICES": "5"})[1]
check(got.count("; GPU 5 at 0000:c3:00.0 on NUMA node 1 with NIC mlx5_9 (PXB), shared by 2 ranks;")
      == 2, f"what is told of a shared GPU: {got}")
# No core is of the NUMA node of any GPU alone: all ranks share all cores.
got = expect(["--dry-run", "-n", 4, "--map-by", "gpu", "true"], 0, err="",
             env={"CTRAN_MACHINE": "dgx-h100", "CTRAN_MACHINES": MACHINES,
                  "HWLOC_SYNTHETIC": "pack:1 core:4 pu:64", "CUDA_VISIBLE_DEVICES": "0,4,1,5"})[1]
check(re.findall(r", cpu (\S+) \([^;]*\); GPU (\d)", got) ==
      [("0-63", "0"), ("64-127", "4"), ("128-191", "1"), ("192-255", "5")],
      f"GPUs without cores near them: {got}")
for name, args, words in (
        ("dgx-h100", ["-n", 3, "--gpus-per-rank", 3], "3 ranks of .* need 9 GPUs .* and 8 may"),
        ("dgx-h100", ["-n", 8, "--map-by", "gpu:pe=57"], "57 cores a rank, and the NUMA node of a "
         "GPU has only 56"),
        ("cpu2s", ["--map-by", "gpu"], "has no GPU"), ("laptop", ["--gpus-per-rank", 1], "has no"),
        ("none-such", ["--map-by", "gpu"], "none-such")):
    expect([*args, "true"], 2, out="", env=machine(name) if name != "none-such" else
           {"CTRAN_MACHINE": name}, err=rf"ctranrun: job \w+: [^\n]*{words}[^\n]*\n")
# Ranks run on this machine, whatever hwloc describes: by default none is bound.
for args in (["--report-bindings"], ["--dry-run"]):
    got = run("-n", 8, *args, "true", env={"HWLOC_SYNTHETIC": "pack:2 core:4 pu:1"})
    check(got[0] == 0 and
          (got[1] + got[2]).count("not bound, since hwloc describes another machine") == 8,
          f"another machine, by default, {args}: {got}")
expect(["-n", 1, "true"], 0, out="", err="", env=machine("dgx-h100"))
# A file that hwloc, as it is today, does not survive. Nothing is started.
INFO = os.path.join(os.environ["top_builddir"], "tools/ctran_info")
with tempfile.TemporaryDirectory() as d, open(f"{MACHINES}/laptop.xml") as f:
    with open(f"{d}/bad.xml", "w") as bad:
        bad.write(f.read().replace(" complete_cpuset=", " whole_cpuset=", 1))
    fatal = [subprocess.run([INFO, "--topology", *args], env={**os.environ, **env},
                            capture_output=True, text=True)
             for args, env in ((["--synthetic", f"{d}/bad.xml"], {}),
                               ([], {"HWLOC_XMLFILE": f"{d}/bad.xml"}))]
    check([x.returncode for x in fatal] in ([1, 1], [0, 0]), f"ctran_info: {fatal}")
    crashes = "hwloc crashes when it reads " in fatal[0].stderr
    check(crashes == ("hwloc crashes when it reads " in fatal[1].stderr), f"ctran_info: {fatal}")
    for args in ([], ["--dry-run"], ["--map-by", "core"], ["--bind-to", "none"]) if crashes else ():
        expect([*args, "true"], 2, out="", env={"HWLOC_XMLFILE": f"{d}/bad.xml"},
               err=r"ctranrun: job \w+: hwloc crashes when it reads the file that HWLOC_XMLFILE "
                   r"names \(\S*/bad.xml\); [^\n]*\n")
# Ranks have it in their environment, whatever was there, and the user's order of devices stays.
got = expect(["-n", 3, "--map-by", "gpu", "--bind-to", "none", "sh", "-c",
              "echo $PMIX_RANK $CUDA_VISIBLE_DEVICES $CUDA_DEVICE_ORDER"], 0, err="",
             env={**machine("gb200"), "CUDA_VISIBLE_DEVICES": "3,2"})[1]
check(sorted(got.splitlines()) == [f"{r} {g} PCI_BUS_ID" for r, g in enumerate((3, 2, 3))],
      f"environments: {got}")

# This machine.
allowed = sorted(os.sched_getaffinity(0))
SET = ["sh", "-c", "grep Cpus_allowed_list /proc/self/status | cut -f2"]
free = run("--bind-to", "none", *SET)[1].strip()
many = run("-n", 4 * len(allowed), *SET)[1].split()
check(set(many) == {free}, f"with too many ranks they were bound: {many}")
bound = run("-n", 2 * len(allowed), "--bind-to", "hwthread", *SET)[1].split()
check(sorted(bound) == sorted(2 * list(map(str, allowed))), f"--bind-to hwthread: {bound}")
told = run("-n", 2, "--oversubscribe", "--bind-to", "hwthread", "--report-bindings", "true")
check(told[0] == 0 and told[1] == "" and
      re.fullmatch("".join(rf"ctranrun: job \w+: rank {r} is pid \d+ on host \S+, cpu \d+ \([^\n]*"
                           r"NUMA node \d+\)\n" for r in (0, 1)), told[2]),
      f"--report-bindings: {told}")
# Ranks that share cores are warned of, once.
n = 2 * len(allowed)
told = run("-n", n, "--bind-to", "core", "true")
check(told[0] == 0 and re.fullmatch(rf"ctranrun: job \w+: warning: {n} ranks want {n} cores and "
                                    r"this machine has \d+, so that [^\n]*\n", told[2]),
      f"{n} ranks bound to cores: {told}")
told = run("-n", 4 * len(allowed), "--report-bindings", "true")
check(told[2].count(f"not bound, since there are {4 * len(allowed)} ranks and") == 4 * len(allowed),
      f"--report-bindings without binding: {told}")
# Only what we may use ourselves.
one = run("--bind-to", "core", *SET, preexec_fn=lambda: os.sched_setaffinity(0, allowed[-1:]))
check(one[1].split() == [str(allowed[-1])], f"on one of {allowed}: {one}")

# A job beside others. With a /dev/shm of our own nobody else's jobs are seen.
alone = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs tmpfs /dev/shm && exec "$@"', "sh"]
if subprocess.run([*alone, "true"], capture_output=True).returncode != 0:
    print("place: jobs beside each other not tried: unshare -m, or mount in it, does not work here")
    raise SystemExit(0)
INNER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "place_inner.py")
inner = subprocess.run([*alone, "python3", "-B", INNER], timeout=600, capture_output=True,
                       text=True)
check(inner.returncode == 0, f"jobs beside each other: {inner.stdout}{inner.stderr}")
print("place: as ordered")
