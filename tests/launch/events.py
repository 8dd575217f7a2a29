# SPDX-License-Identifier: BSD-3-Clause
"""PMIx_Notify_event, on one node and on several: each rank gets the events that are for it, in
order. What is told is in pmixnotify.c; the nodes are made up, as in nodes.py. A node that merely is
slow while others tell much misses nothing; one that stands still costs nobody memory, and is
named."""
import os
import re
import signal
import subprocess
import sys
import tempfile

from launch import TOP, Job, check, cmdline, expect, run

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

def resident_mb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return int(next(line for line in f if line.startswith("VmRSS")).split()[1]) >> 10


def parent_of(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        return int(f.read().rsplit(")", 1)[1].split()[1])


# A host whose agent passes on what it reads far more slowly than ranks tell it, which is much more
# than anybody keeps. It only has to be slow enough; how slow does not matter.
THROTTLE, SLOW = f"{DIR.name}/throttle", 1500
with open(THROTTLE, "w") as f:
    f.write(f"""#!{sys.executable}
import os, select, subprocess, sys, time
if sys.argv[1] != "b":
    os.execvp(sys.argv[2], sys.argv[2:])
with subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, bufsize=0) as p:
    while select.select([0], [], []) and (data := os.read(0, 16384)):
        p.stdin.write(data)
        time.sleep(0.001)
""")
os.chmod(THROTTLE, 0o755)
for _ in PLACES[1:]:
    status, out, err = run("--launch-agent", THROTTLE, "-H", "a,b,c", NOTIFY, "slow", SLOW,
                           text="\n\n")
    check((status, err) == (0, "") and {"all", "enough"} <= set(out.splitlines()),
          f"a slow host: {status} {out!r} {err!r}")

# What waits for it is 32 MiB at most, where the last one is told four times as much. It stands
# still before its router, and before the head.
FLOOD, WAITS_MB, TOLD = 2500, 32, re.compile(r"ctranrun: job \w+: host b: the host takes events "
                                             r"too slowly; 32 MiB of [^\n]* too busy\?\n")
MISSED = re.compile(r"ctranrun: job \w+: host b: the host takes events in time again; its ranks "
                    r"have missed [1-9]\d* events\n")
for stands in ("ctrand --job", "--router") if len(PLACES) > 1 else ():
    with Job("--launch-agent", AGENT, "-H", "a,b,c", NOTIFY, "flood", FLOOD,
             stdin=subprocess.PIPE) as job:
        daemons = dict(map(int, job.proc.stdout.readline().split()) for _ in range(3))
        pid = daemons[1] if stands.endswith("--job") else parent_of(daemons[1])
        check(stands in cmdline(pid), f"{cmdline(pid)} is not {stands}")
        launcher = {p: cmdline(p) for p in job.processes() if "pmixnotify flood" not in cmdline(p)}
        before = {p: resident_mb(p) for p in launcher}
        os.kill(pid, signal.SIGSTOP)
        job.proc.stdin.write(b"\n")
        job.proc.stdin.flush()
        check(job.proc.stdout.readline() == b"enough\n", "who does not stand still has them all")
        after = {p: resident_mb(p) for p in launcher}
        os.kill(pid, signal.SIGCONT)
        said = b""
        while not MISSED.search(said.decode()):
            more = os.read(job.proc.stderr.fileno(), 4096)
            check(more, f"{stands}: ctranrun said {said!r} before its end")
            said += more
        status, out, err = job.finish(b"\n")
        said = (said + err).decode()
        check((status, len(TOLD.findall(said)), len(MISSED.findall(said))) == (0, 1, 1),
              f"{stands}: {status} {said!r}")
        grown = {what: after[p] - before[p] for p, what in launcher.items()}
        check(os.environ.get("CT_SANITIZER", "none") != "none" or
              max(grown.values()) < 3 * WAITS_MB, f"{stands} stood still: {grown}")
DIR.cleanup()
print("events: as told")
