# SPDX-License-Identifier: BSD-3-Clause
"""PMIx_Publish, PMIx_Lookup and PMIx_Unpublish, on one node and on several: the scenarios are in
pmixpub.c. The nodes are made up, as in nodes.py."""
import os
import tempfile

from launch import TOP, check, expect, run

PUB = os.path.join(TOP, "tests/launch/pmixpub")
DIR = tempfile.TemporaryDirectory(prefix="ctran-test-")
AGENT = f"{DIR.name}/agent"
with open(AGENT, "w") as f:
    f.write('#!/bin/sh\nshift\nexec "$@"\n')
os.chmod(AGENT, 0o755)
NODES = ["--launch-agent", AGENT, "--fan-out", 2, "-H", "a:2,b:2,c:1,d:2"]
PLACES = [["-n", 1], ["-n", 4], NODES]
if "without libsodium" in run(*NODES, "true")[2]:
    PLACES.pop()

for place in PLACES:
    expect([*place, PUB, "all", "missing", "duplicate", "ranges"] if place != PLACES[0] else
           [*place, PUB, "all", "missing"], 0, out="", err="")
    expect([*place, PUB, "toomuch", "reads", "held"], 0, out="", err="")
    got = expect([*place, PUB, "firstread"], 0, err="")[1].split()
    check(sorted(got) == ["gone"] * (len(got) - 1) + ["read"], f"one reader: {got}")
for place in PLACES[1:]:
    expect([*place, PUB, "late"], 0, out="", err="")
    got = run("--enable-recovery", *place, PUB, "dead")
    check("expected" not in got[1] and "rank 1 " in got[2] and "was killed" in got[2],
          f"a dead publisher: {got}")
    check(run(*place, PUB, "stuck")[0] == 7, "a job whose ranks wait for what never comes")
DIR.cleanup()
print("publish: found by all who may, and by no others")
