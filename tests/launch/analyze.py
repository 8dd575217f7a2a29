# SPDX-License-Identifier: BSD-3-Clause
"""ctranrun --analyze names the rank, the call and the reason of planted faults, and no other rank.

The job is asked again until the report is the one that is expected, with one verdict: a report that
goes on to name another rank never becomes that one."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

from launch import TOP, Job, check, expect, run, until

PLANTED = os.path.join(TOP, "tests/launch/planted")
ANALYZE = os.path.join(TOP, "tools/analyze/ctran_analyze")
CTRANRUN = os.path.join(TOP, "ctranrun")
STATUS = {"rank-dead": 10, "rank-stopped": 11, "rank-did-not-call": 12, "mismatch": 13,
          "deadlock": 14, "message-not-sent": 15}


def ask(job, *args):
    """The status and the report of a running job; None: its daemon is not there yet."""
    names = [n for n in os.listdir(job.tmp) if n.startswith("ctran-session")]
    ids = {m[1] for p in job.processes() for m in [re.search(r"^ctrand --job (\w+)", command(p))]
           if m}
    if not names or len(ids) != 1:
        return None
    dump = subprocess.run([CTRANRUN, "--trace-dump", ids.pop()], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, env=dict(os.environ, TMPDIR=job.tmp),
                          timeout=300)
    if dump.returncode != 0:
        return None
    got = subprocess.run([ANALYZE, "--min-age", "0.05", *args, "-"], input=dump.stdout,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
    return got.returncode, got.stdout.decode(), got.stderr.decode()


def command(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            return f.read().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def planted(fault, rank, kind, *, n=6, columns=3, ranks=None, operation=None, words=(),
            behind=None, options=(), only=True):
    """Runs the job, and asks until the first verdict is this one, with `only` the only one."""
    ranks = [rank] if ranks is None else ranks
    seen = []

    def is_right():
        got = ask(job, "--json")
        if got is None or got[0] in (0, 1):
            return False
        report = json.loads(got[1])
        seen[:] = [report]
        v = report["verdicts"]
        return (len(v) == 1 or not only) and v[0]["kind"] == kind and v[0]["ranks"] == ranks and \
            (behind is None or v[0]["behind"] == behind)

    with Job("-n", n, "--oversubscribe", *options, PLANTED, fault, rank, columns) as job:
        try:
            until(is_right, f"{fault} of rank {rank}: {kind} of {ranks}")
        finally:
            if seen and seen[0]["verdicts"]:
                print(fault, rank, "->", seen[0]["verdicts"][0]["title"])
            else:
                print(fault, rank, "->", seen)
        status, text, _ = ask(job, "--text")
        check(status == STATUS[kind], f"{fault}: status {status}, not {STATUS[kind]}")
        first = seen[0]["verdicts"][0]
        if operation is not None:
            check(first["operation"] == operation, f"{fault}: {first}")
        for word in words:
            check(word in text, f"{fault}: {word!r} is not in\n{text}")
        job.proc.terminate()
        for pid in job.ranks("planted"):
            try:
                os.kill(pid, signal.SIGCONT)  # a stopped rank gets SIGTERM
            except ProcessLookupError:
                pass
        job.finish()


MESSAGES = ["--set", "COLL_SHM=0"]  # a wrong call is seen by messages
QUICK = os.environ.get("CT_CHECK_QUICK") == "1"
planted("miss", 1, "rank-did-not-call", operation="ctran_allreduce", behind=5,
        words=["sleeps", "call 5 of communicator"])
planted("stop", 5, "rank-stopped", behind=5, words=["is stopped"])
planted("recvs", 2, "deadlock", ranks=[2, 3], behind=4,
        words=["rank 2", "ctran_recv for a message of rank 3 with tag 3"])
if not QUICK:
    planted("miss", 6, "rank-did-not-call", n=8, columns=4, behind=7)
    planted("loop", 4, "rank-did-not-call", behind=5, words=["rank 4"])
    planted("noroot", 3, "rank-did-not-call", operation="ctran_bcast",
            words=["has not called ctran_bcast"])
    planted("inone", 2, "rank-did-not-call", operation="ctran_iallreduce")
    planted("sends", 0, "deadlock", ranks=[0, 1], words=["ctran_ssend for a send to rank 1"])
    planted("tags", 1, "deadlock", ranks=[1, 2], words=["tags do not match"])
    planted("circle", 0, "deadlock", ranks=[0, 1, 2, 3, 4, 5], words=["ctran_waitall"])
    planted("order", 1, "deadlock", behind=5,
            words=["rank 1 is in ctran_allreduce, call 19", "different orders"])
    planted("leave", 4, "deadlock", behind=5, words=["rank 4 is in ctran_finalize"])
    planted("root", 3, "mismatch", options=MESSAGES,
            words=["rank 3 calls ctran_reduce with root 1 where others have root 0"])
    planted("size", 2, "mismatch", only=False, options=MESSAGES,
            words=["1. mismatch: rank 2 calls ctran_allreduce with 20 bytes where others have 16"])
    planted("operation", 2, "mismatch", only=False, options=MESSAGES,
            words=["1. mismatch: rank 2 calls ctran_barrier where others call ctran_allreduce"])
    planted("any", 3, "message-not-sent", words=["any rank with tag 9"])

# The traces of several hosts, which are made up, as in nodes.py.
with tempfile.TemporaryDirectory(prefix="ctran-test-") as folder:
    agent = f"{folder}/agent"
    with open(agent, "w") as f:
        f.write('#!/bin/sh\nshift\nexec "$@"\n')
    os.chmod(agent, 0o755)
    hosts = ["--launch-agent", agent, "-H", "a:2,b:2,c:2"]
    if "without libsodium" not in run(*hosts, "true")[2]:
        planted("miss", 4, "rank-did-not-call", behind=5, options=hosts, words=["rank 4 (host c"])

# A job that runs well has no verdict, and a job that is not there is told.
got = run("--analyze", "abcdef")
check(got[0] == 1 and "there is no job abcdef" in got[2], f"no such job: {got}")
expect(["--analyze", "xyz"], 2, err=r'ctranrun: --analyze "xyz": expected the id of a job.*\n')

# Dumps that a signal asks for say the same as the job's daemon does.
with tempfile.TemporaryDirectory(prefix="ctran-test-") as folder:
    def dumps():
        got = subprocess.run([ANALYZE, "--min-age", "0", folder], capture_output=True, text=True,
                             timeout=300)
        return len(os.listdir(folder)) == 4 and got.returncode == 12 and got

    with Job("-n", 4, "--oversubscribe", "--set", f"TRACE_DUMP={folder}/%r", PLANTED, "miss", 2,
             2) as job:
        until(lambda: (ask(job) or [0])[0] == 12, "the job hangs")
        for pid in job.ranks("planted"):
            os.kill(pid, signal.SIGUSR2)
        until(dumps, "four dumps")
        job.proc.terminate()
        job.finish()
    for form in ("--text", "--html", "--timeline"):
        out = subprocess.run([ANALYZE, form, "--min-age", "0", folder], capture_output=True,
                             text=True, timeout=300)
        check(out.returncode == (0 if form == "--timeline" else 12), f"{form}: {out}")
        check("ctran_allreduce" in out.stdout, f"{form}: {out.stdout[:2000]}")
        if form == "--timeline":
            events = json.loads(out.stdout)["traceEvents"]
            check({e["pid"] for e in events if e["ph"] == "X"} == {0, 1, 2, 3}, "all ranks")
    with open(f"{folder}/0", "r+b") as f:
        f.truncate(600)
    out = subprocess.run([ANALYZE, folder], capture_output=True, text=True, timeout=300)
    check(out.returncode == 1 and "cut short" in out.stderr, f"a dump that is cut short: {out}")
sys.exit(0)
