# SPDX-License-Identifier: BSD-3-Clause
"""The store that the daemons have: ctranrun --store-dump shows all its servers and what a start
that is stuck waits for; strangers at them harm nobody; with the daemon of a host the job ends,
while it starts as well as afterwards. The hosts are made up, as in nodes.py."""
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile

from launch import BUSY, CTRANRUN, Job, check, cmdline, expect, run, until

DIR = tempfile.TemporaryDirectory(prefix="ctran-test-")
AGENT, FIFO = f"{DIR.name}/agent", f"{DIR.name}/fifo"
with open(AGENT, "w") as f:
    f.write('#!/bin/sh\nshift\nexec "$@"\n')
os.chmod(AGENT, 0o755)
os.mkfifo(FIFO)
ON = ["--launch-agent", AGENT, "-H", "a:2,b:2,c:1"]
LATE = ["sh", "-c", f'test $PMIX_RANK = 3 && read x <{FIFO}; exec "$0"', BUSY]
SERVER = re.compile(r"# server (\d+), (\S+), (holds|is waited at):")

if "without libsodium" in run(*ON, "true")[2]:
    print("skipped: the store needs libsodium, and this build has none")
    sys.exit(77)


def dump(job, *args):
    got = subprocess.run([CTRANRUN, "--store-dump", *args], env=dict(os.environ, TMPDIR=job.tmp),
                         capture_output=True, text=True, timeout=300)
    return got.returncode, got.stdout, got.stderr


def servers(text):
    """What each holds, and who waits there: {(0, "holds"): lines}."""
    found, lines = {}, []
    for line in text.splitlines():
        m = SERVER.fullmatch(line)
        if m:
            lines = found.setdefault((int(m[1]), m[3]), [])
        elif not line.startswith("#"):
            lines.append(line)
    return found


def dump_when(job, test, what):
    """The first dump that passes the test."""
    def look():
        status, out, _ = dump(job)
        return out if status == 0 and test(out) else None
    return until(look, what)


def among(job, part):
    return [p for p in job.processes() if cmdline(p).startswith(part)]


def end(job):
    job.proc.send_signal(signal.SIGTERM)
    check(job.finish()[0] == 128 + signal.SIGTERM, "a job that is ended")


def running(job, ranks):
    for _ in range(ranks):
        check(job.proc.stdout.readline() == b"x\n", "the ranks run")


# ---- a start that is stuck, and goes on ----------------------------------------------------------

for recovery in ([], ["--enable-recovery"]):
    with Job(*ON, *recovery, *LATE) as job:
        out = dump_when(job, lambda text: "@boot/shape/0 2 wait for a value" in text and
                        text.count("has not come") == 1, "two hosts wait for the third")
        at = servers(out)
        check(sorted(at) == [(i, what) for i in range(3) for what in ("holds", "is waited at")],
              f"three servers: {out}")
        check("# host b has not come" in out, f"b: {out}")
        check({"@boot/host/a 2 ranks, world 0", "@boot/host/c 1 ranks, world 0"} <=
              set(at[0, "holds"]) and
              at[0, "is waited at"] == ["@boot/shape/0 2 wait for a value"], f"the head: {out}")
        check(not any(line.startswith("@") for (i, _), lines in at.items() if i > 0
                      for line in lines), f"what the head alone has: {out}")
        # Strangers come to each, and stay; the start goes on all the same.
        crowd = []
        for _, where, _ in SERVER.findall(out):
            host, port = where.split(",")[0].rsplit(":", 1)
            for i in range(100):
                crowd.append(socket.create_connection((host.strip("[]"), int(port)), timeout=300))
                try:
                    crowd[-1].sendall(os.urandom(i))
                except OSError:
                    pass  # it has been sent away
        key = {line[14:] for p in job.processes() if "busy" in cmdline(p)
               for line in open(f"/proc/{p}/environ").read().split("\0")
               if line.startswith("CTRAN_JOB_KEY=")}.pop()
        check(re.fullmatch("[0-9a-f]{64}", key) and key not in out and
              not any(key in cmdline(p) for p in job.processes()), "the key is told to nobody")
        with open(FIFO, "w") as f:
            f.write("\n")
        running(job, 5)
        for s in crowd:
            s.close()
        status, out, err = dump(job, next(line.split()[-1] for line in out.splitlines()
                                          if line.startswith("# job ")))
        check(status == 0 and "has not come" not in out and "wait for" not in out and
              "@boot/host/b 2 ranks, world 0" in servers(out)[0, "holds"], f"it runs: {out} {err}")
        end(job)

# ---- the daemon of a host dies -------------------------------------------------------------------

LOST = r"ctranrun: job \w+: host \w: ctrand (\(pid \d+ on host \w\) )?was lost[^\n]*\n"
for recovery in ([], ["--enable-recovery"]):
    for program in (LATE, [BUSY]):
        for which in (0, 1, 2):
            with Job(*ON, *recovery, *program) as job:
                if program is LATE:
                    dump_when(job, lambda text: "2 wait for a value" in text, "hosts wait")
                else:
                    running(job, 5)
                os.kill(sorted(among(job, "ctrand --job"))[which], signal.SIGKILL)
                status, _, err = job.finish()
                words = [line for line in err.decode().splitlines(True) if "ctranrun: " in line]
                check(status == 1 and re.fullmatch(LOST.replace(r"host \w: ctrand",
                      r"(host \w: )?ctrand"), words[0]), f"ctrand killed: {status} {err!r}")
                job.check_clean(wait=True)

# A host of which nobody comes is named by one that has, with its first rank.
got = run("--launch-agent", AGENT, "-H", "a,b:2,c", "--set", "BOOTSTRAP_TIMEOUT=10s", "sh", "-c",
          'test $PMIX_RANK != 0 && exec sleep 1000; exec "$0"', BUSY)
check(got[0] == 84 and re.search(r"host a and others, which are complete, have 1 of 4 ranks; "
                                r"[^\n]*, the first of them host b with rank 1\n", got[2]),
      f"a host that does not come: {got}")

# ---- jobs of one host, and of a job --------------------------------------------------------------

with Job("-n", 2, BUSY) as job:
    running(job, 2)
    status, out, err = dump(job)
    found = SERVER.findall(out)
    check(status == 0 and [w for _, _, w in found] == ["holds", "is waited at"] and
          all(re.fullmatch(r"127\.0\.0\.1:\d+", where) for _, where, _ in found),
          f"one server, for this machine alone: {out} {err}")
    check(dump(job, "0")[0] == 1 and "there is no job 0 of yours" in dump(job, "0")[2], "no job")
    end(job)
# The job around another has its own store, as the environment says.
show = "echo $CTRAN_JOB_STORE"
with Job(*ON, "-n", "2", "sh", "-c", show) as job:
    status, out, err = job.finish()
    lines = out.decode().split()
    check(status == 0 and len(set(lines)) == 1 and len(lines) == 2, f"one store: {lines} {err}")
got = run("-n", 1, "sh", "-c", f"{show}; exec {CTRANRUN} -n 1 sh -c '{show}'")
check(got[0] == 0 and len(set(got[1].split())) == 2, f"a job in a job: {got}")

expect(["--store-dump", "4f2a91", "4f2a92"], 2, out="",
       err="ctranrun: --store-dump takes one job at most[^\n]*\n")
expect(["--store-dump", "here"], 2, out="",
       err='ctranrun: --store-dump "here": expected the id of a job[^\n]*\n')
DIR.cleanup()
print("storedump: the store that daemons have")
