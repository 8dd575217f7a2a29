# SPDX-License-Identifier: BSD-3-Clause
"""PMIx_Query_info, on one node and on several; the questions are in pmixask.c. The nodes are made
up, as in nodes.py."""
import os
import socket
import tempfile

from launch import TOP, check, expect, run

ASK = os.path.join(TOP, "tests/launch/pmixask")
DIR = tempfile.TemporaryDirectory(prefix="ctran-test-")
AGENT = f"{DIR.name}/agent"
with open(AGENT, "w") as f:
    f.write('#!/bin/sh\nshift\nexec "$@"\n')
os.chmod(AGENT, 0o755)
NODES = ["--launch-agent", AGENT, "--fan-out", 2, "-H", "a:2,b:2,c:1,d:2"]
HERE = [socket.gethostname()] * 4
PLACES = [(["-n", 4], HERE, HERE)]
if "without libsodium" not in run(*NODES, "true")[2]:
    PLACES.append((NODES, list("aabbcdd"), ["a", "a"]))

for place, hosts, local in PLACES:
    expect([*place, ASK, "names", "sets", "status"], 0, out="name\n0:\nSUCCESS\n", err="")
    expect([*place, ASK, "none", "other", "some", "twice"], 0,
           out="NOT-SUPPORTED\nNOT-FOUND\nPARTIAL SUCCESS\nBAD-PARAM\n", err="")
    keys = expect([*place, ASK, "keys"], 0, err="")[1].strip().split(",")
    check({"pmix.qry.ns", "pmix.qry.ptable", "pmix.qry.lptable", "pmix.qry.jst"} <= set(keys),
          f"keys: {keys}")
    for question, where in (("table", hosts), ("local", local)):
        got = expect([*place, ASK, question], 0, err="")[1]
        check(got.replace("/./", "/") == "".join(f"{i} {h} connected lives {os.path.abspath(ASK)}\n"
                             for i, h in enumerate(where)), f"{question}: {got}")
    # A rank that has ended stays in the table.
    n = len(hosts) - 1
    got = expect([*place, "-n", 1, "-x", "ALONE=1", ASK, "ended", "table", ":", "-n", n, "true"], 0,
                 err="")[1].splitlines()
    check(len(got) == n + 1 and got[0].split()[:4] == ["0", hosts[0], "connected", "lives"] and
          got[-1].split()[:4] == [str(n), hosts[-1], "ended", "gone"], f"after an end: {got}")
DIR.cleanup()
print("query: answers")
