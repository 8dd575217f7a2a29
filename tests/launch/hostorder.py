# SPDX-License-Identifier: BSD-3-Clause
"""The order of hosts: 1,024 at random in 32 racks of 4 zones, Slurm's allocations, what is left as
the user wrote it, and wrong files. An agent runs the daemons of all hosts here."""
import os
import random
import re
import sys
import tempfile

from launch import check, expect, run

DIR = tempfile.TemporaryDirectory(prefix="ctran-test-")
AGENT = f"{DIR.name}/agent"
TOPO = f"{DIR.name}/topology"
HOSTS = f"{DIR.name}/hosts"
N, RACKS, ZONES = 1024, 32, 4


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


write(AGENT, '#!/bin/sh\nshift\nexec "$@"\n')
os.chmod(AGENT, 0o755)
if "without libsodium" in run("--launch-agent", AGENT, "-H", "a,b", "true")[2]:
    print("skipped: jobs of several hosts need libsodium, and this build has none")
    sys.exit(77)

each = N // RACKS
rack = {f"node{i:04}": f"r{i // each}" for i in range(N)}
zone = {h: f"z{int(r[1:]) * ZONES // RACKS}" for h, r in rack.items()}
write(TOPO, "".join(f"node[{i * each:04}-{(i + 1) * each - 1:04}] rack=r{i} "
                    f"zone=z{i * ZONES // RACKS}\n" for i in range(RACKS)))


def crossings(order, of):
    return sum(of[order[i - 1]] != of[h] for i, h in enumerate(order))


def dry_run(*args, env=None):
    """The order that it told, NULL where it told none, and the hosts of the first ranks."""
    got = expect(["--launch-agent", AGENT, "--dry-run", *args, "true"], 0, err="", env=env)[1]
    told = re.findall(r"^    .*?: (node.*)$", got, re.M)
    ranks = dict(re.findall(r"^rank (\d+) on host (\S+),", got, re.M))
    return ([h for line in told for h in line.split()] or None,
            [ranks[str(i)] for i in range(len(ranks))], got)


for seed in range(3):
    hosts = list(rack)
    random.Random(seed).shuffle(hosts)
    write(HOSTS, "".join(f"{h}:2\n" for h in hosts))
    given = ["--hostfile", HOSTS, "-n", 6]
    order, ranks, text = dry_run("--topology", TOPO, "--host-order", "topology", *given)
    check(sorted(order) == sorted(hosts), f"seed {seed}: not the same hosts: {order}")
    check(crossings(order, rack) == RACKS and crossings(order, zone) == ZONES,
          f"seed {seed}: {crossings(order, rack)} racks, {crossings(order, zone)} zones")
    check(ranks == [order[i // 2] for i in range(6)], f"seed {seed}: {ranks}, {order[:3]}")
    check(order[0] == hosts[0], f"seed {seed}: begins with {order[0]}, not {hosts[0]}")
    want = (f"{N} hosts in the order of {os.path.realpath(TOPO)}; a ring over them crosses racks "
            f"{RACKS} times, before {crossings(hosts, rack)}, zones {ZONES} times, before "
            f"{crossings(hosts, zone)}, data centres 0 times, before 0")
    check(want in text, f"seed {seed}: no \"{want}\" in {text[:300]}")
    check(f"    zone {zone[hosts[0]]}, rack {rack[hosts[0]]}: {hosts[0]} " in text,
          f"seed {seed}: {text[:300]}")
    # A user's list stays as it is without the option, and with --host-order given.
    for args in (["--topology", TOPO], ["--topology", TOPO, "--host-order", "given"], []):
        order, ranks, _ = dry_run(*args, *given)
        check(order is None and ranks == [hosts[i // 2] for i in range(6)], f"{args}: {ranks}")

# The variable does as the option, from wherever it comes; the ranks see what the option said.
few = ["-H", "node0000,node0900,node0001", "--host-order", "topology"]
want = ["node0000", "node0001", "node0900"]
check(dry_run(*few, env={"CTRAN_TOPOLOGY_FILE": TOPO})[1] == want, "CTRAN_TOPOLOGY_FILE")
check(dry_run(*few, "--set", f"TOPOLOGY_FILE={TOPO}")[1] == want, "--set TOPOLOGY_FILE")
got = expect(["--launch-agent", AGENT, *few, "--topology", TOPO, "sh", "-c", "echo $CTRAN_SET"], 0,
             err="")
check(got[1] == f"CTRAN_TOPOLOGY_FILE={os.path.realpath(TOPO)}\n" * 3, f"the ranks see {got}")
# -v and --report-bindings tell it, too, beside the program's own output.
for opt in ("-v", "--report-bindings"):
    got = run("--launch-agent", AGENT, opt, *few, "--topology", TOPO, "true")
    check(got[0] == 0 and got[1] == "" and "3 hosts in the order of" in got[2] and
          "    zone z0, rack r0: node0000 node0001\n    zone z3, rack r28: node0900\n" in got[2],
          f"{opt}: {got}")

# In an allocation of Slurm hosts are put in order where a file tells how, without being asked.
slurm = {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "node[0000,0900,0001]",
         "SLURM_TASKS_PER_NODE": "1(x3)"}
check(dry_run("-n", 3, env=slurm)[1] == ["node0000", "node0900", "node0001"], "Slurm, no file")
switches = f"{DIR.name}/topology.conf"
write(switches, "SwitchName=s0 Nodes=node[0000-0099]\nSwitchName=s1 Nodes=node[0900-0999]\n"
                "SwitchName=top Switches=s[0-1]\n")
for args, names in ((["--topology", switches], want),
                    (["--topology", switches, "--host-order", "given"],
                     ["node0000", "node0900", "node0001"])):
    check(dry_run("-n", 3, *args, env=slurm)[1] == names, f"Slurm, {args}")

# Blocks are NVLink domains.
blocks = f"{DIR.name}/blocks"
write(blocks, "BlockName=b0 Nodes=node[0000-0003]\nBlockName=b1 Nodes=node[0004-0007]\n"
              "BlockSizes=4\n")
got = dry_run("-H", "node0001,node0004,node0009,node0000,node0005", "--topology", blocks,
              "--host-order", "topology")
check(got[1] == ["node0001", "node0000", "node0004", "node0005", "node0009"], f"blocks: {got}")
check("racks 0 times, before 0, zones 0 times, before 0, data centres 0 times, before 0, "
      "NVLink domains 3 times, before 5\n    NVLink domain b0: node0001 node0000\n"
      "    NVLink domain b1: node0004 node0005\n    nobody says where: node0009\n" in got[2],
      f"blocks: {got[2][:400]}")

# What is wrong is told in one line, before anything starts.
bad = f"{DIR.name}/bad"
write(bad, "node0000 rack=r1\nnode0001 rak=r1\n")
for args, words in (
        (["--topology", "/no/such", "true"], ['--topology "/no/such": No such file']),
        (["--host-order", "near", "true"], ['--host-order "near": expected given or topology']),
        ([*few, "true"], ["--host-order topology: nothing says where the hosts stand"]),
        ([*few, "--topology", bad, "true"], [f"the topology file {os.path.realpath(bad)}:2:",
                                             '"rak=r1" is none of']),
        ([*few, "--topology", "/", "true"], ['"/" cannot be read: Is a directory'])):
    got = expect(args, 2, out="", err=r"[^\n]*\n")
    for word in words:
        check(word in got[2], f"{args}: {got[2]!r} does not say {word!r}")
