# SPDX-License-Identifier: BSD-3-Clause
"""PMIx_Notify_event, on one node and on several: each rank gets the events that are for it, in
order. What is told is in pmixnotify.c; the nodes are made up, as in nodes.py."""
import os
import tempfile

from launch import TOP, check, expect, run

NOTIFY = os.path.join(TOP, "tests/launch/pmixnotify")
DIR = tempfile.TemporaryDirectory(prefix="ctran-test-")
AGENT = f"{DIR.name}/agent"
with open(AGENT, "w") as f:
    f.write('#!/bin/sh\nshift\nexec "$@"\n')
os.chmod(AGENT, 0o755)
NODES = ["--launch-agent", AGENT, "--fan-out", 2, "-H", "a:2,b:2,c:1,d:2"]
PLACES = [(["-n", 3], 3, 3)]  # ranks, and how many of them are on rank 0's node
if "without libsodium" not in run(*NODES, "true")[2]:
    PLACES.append((NODES, 7, 2))

for place, n, near in PLACES:
    wanted = [f"rank {i}:" + (" 1" if i < near else "") + (" 2" if i == n - 1 else "") + " 3 4" +
              (" 6" if i < near else "") + " 5" for i in range(1, n)]
    err = "" if near == n else r"ctranrun: job \w+: host a: an event of rank 0 does not " \
        r"reach other hosts: OUT-OF-RESOURCE; at most 64 KiB [^\n]*\n"
    out = expect([*place, NOTIFY], 0, err=err)[1]
    check(sorted(out.splitlines()) == wanted, f"on {place}:\n{out}\nwanted {wanted}")
DIR.cleanup()
print("events: as told")
