# SPDX-License-Identifier: BSD-3-Clause
"""How jobs end: statuses, messages, signals, time limits, PMIx, and that the others go down too."""
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

from launch import CLIENT, CTRANRUN, Job, check, expect, run, state, until

HOST = re.escape(socket.gethostname())
WHO = rf"ctranrun: job [0-9a-f]{{6}}: rank %d \(pid \d+ on host {HOST}\) %s\n"


def dies(args, status, rank, words):
    expect(["-n", 4, *args], status, err=WHO % (rank, words))


def rank_does(rank, what):
    return ["sh", "-c", f"test $PMIX_RANK = {rank} && {{ {what}; }}; sleep 1000"]


expect(["-n", 4, "true"], 0, out="", err="")
dies(rank_does(2, "exit 7"), 7, 2, "exited with status 7")
dies(rank_does(0, "kill -SEGV $$"), 139, 0, r"was killed by signal 11 \(Segmentation fault\)")
dies(rank_does(3, "kill -KILL $$"), 137, 3, r"was killed by signal 9 \(Killed\)")
# The first decides, whatever follows.
dies([sys.executable, "-c", "import os, signal, sys; "
      "signal.signal(signal.SIGTERM, lambda *a: os._exit(9)); "
      "os.environ['PMIX_RANK'] == '1' and sys.exit(5); signal.pause()"],
     5, 1, "exited with status 5")
# Ranks that ignore SIGTERM go all the same.
dies(["sh", "-c",
      "test $PMIX_RANK = 1 && exit 5; trap '' TERM; while :; do sleep 1000; done"],
     5, 1, "exited with status 5")

# PMIx: facts, data, and ends between init and finalize.
for n in (1, 2, 5):
    expect(["-n", n, "-x", f"EXPECT_RANKS={n}", CLIENT, "init", "info", "put", "collect", "getall",
            "finalize"], 0, out="", err="")
expect(["-n", 4, CLIENT, "init", "put", "fence", "getall", "getmissing", "finalize"],
     0, out="", err="")
expect(["-n", 4, CLIENT, "init", "put", "getall", "fence", "finalize"], 0, out="", err="")
with tempfile.TemporaryDirectory() as d:
    fifo = os.path.join(d, "fifo")
    os.mkfifo(fifo)
    expect(["-n", 3, "-x", f"LATE_FIFO={fifo}", CLIENT, "init", "latecommit", "finalize"],
     0, out="", err="")
got = run("-n", 3, CLIENT, "init", "facts", "finalize")
check(sorted(got[1].split("\n")) == ["", "0 3 0 3", "1 3 1 3", "2 3 2 3"], f"facts: {got}")
dies([CLIENT, "init", "fence", "only", "2", "exit", "0", "wait"],
     1, 2, "exited with status 0 without ctran_finalize")
dies([CLIENT, "init", "fence", "only", "2", "exit", "6", "wait"],
     6, 2, "exited with status 6 without ctran_finalize")
dies([CLIENT, "init", "fence", "finalize", "only", "1", "exit", "3", "wait"],
     3, 1, "exited with status 3")
dies([CLIENT, "init", "fence", "only", "0", "kill", "11", "wait"],
     139, 0, r"was killed by signal 11 \(Segmentation fault\)")
dies([CLIENT, "init", "fence", "only", "3", "abort", "42", "wait"],
     42, 3, "aborted the job with status 42: it was time")
dies([CLIENT, "init", "fence", "only", "3", "abort", "256", "wait"],
     1, 3, "aborted the job with status 256: it was time")
# A peer dies while the others wait in a fence.
dies([CLIENT, "init", "only", "1", "kill", "9", "fence"], 137, 1,
     r"was killed by signal 9 \(Killed\)")
expect(["-n", 3, CLIENT, "init", "fence", "finalize", "exit", "0"], 0, out="", err="")
# A program under a shell counts as its rank.
dies(["sh", "-c", f"{CLIENT} init fence only 1 exit 0 wait; exit 0"],
     1, 1, "exited with status 0 without ctran_finalize")

# Time.
status, out, err = run("-n", 2, "--timeout", "0.3", "sleep", "1000")
check(status == 124 and
      re.fullmatch(r"ctranrun: job \w+: still running after 0.3 s \(--timeout\); "
                   r"the job is ended\n", err),
      f"--timeout: {status} {err!r}")
expect(["-n", 2, "--timeout", "1000", "true"], 0, out="", err="")


# It ends a job that has failed, long before, and whose daemon is stuck since.
with tempfile.TemporaryDirectory() as d:
    os.mkfifo(f"{d}/fifo")
    with Job("-n", 2, "--timeout", "10", "sh", "-c", f"""
            if test $PMIX_RANK = 1; then read x <{d}/fifo; exit 5; fi
            trap 'kill -STOP $PPID; exec sleep 1000' TERM
            echo ready >{d}/fifo
            while :; do sleep 0.01; done""") as job:
        status, out, err = job.finish()
    check(status == 5 and b"rank 1 " in err, f"a stopped daemon: {status} {err!r}")


def pending(pid, signo):
    with open(f"/proc/{pid}/status") as f:
        masks = [int(l.split()[1], 16) for l in f if l.startswith(("SigPnd", "ShdPnd"))]
    return any(m >> signo - 1 & 1 for m in masks)


def started(job, n, name):
    return until(lambda: (lambda r: r if len(r) == n else None)(job.ranks(name)), f"{n} ranks run")


# Signals that end the job.
for signo in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
    with Job("-n", 3, "sleep", "1000") as job:
        started(job, 3, "sleep")
        job.proc.send_signal(signo)
        status, out, err = job.finish()
    check(status == 128 + signo and err.count(b"\n") == 1 and b"signal %d " % signo in err,
          f"{signo!r}: {status} {err!r}")

TRAP = [sys.executable, "-c", """
import os, signal, sys
def got(signo, frame):
    os.write(1, b"got it\\n")
    os._exit(0)
signal.signal(getattr(signal, sys.argv[1]), got)
os.write(1, b"ready\\n")
signal.pause()
"""]
with Job("-n", 2, *TRAP, "SIGINT") as job:
    for _ in range(2):
        check(job.proc.stdout.readline() == b"ready\n", "ranks are ready")
    job.proc.send_signal(signal.SIGINT)
    status, out, err = job.finish()
check((status, out) == (130, b"got it\n" * 2), f"a trapped SIGINT: {status} {out!r} {err!r}")

# A second signal does not wait for ranks that ignore the first.
with Job("-n", 2, "sh", "-c", "trap '' INT TERM; echo ready; while :; do sleep 0.01; done") as job:
    for _ in range(2):
        job.proc.stdout.readline()
    job.proc.send_signal(signal.SIGINT)
    job.proc.stderr.readline()
    job.proc.send_signal(signal.SIGINT)
    check(job.finish()[0] == 130, "two signals")
# Nor does one alone wait for ever.
with Job("-n", 2, "sh", "-c", "trap '' INT TERM; echo ready; while :; do sleep 0.01; done") as job:
    for _ in range(2):
        job.proc.stdout.readline()
    job.proc.send_signal(signal.SIGTERM)
    check(job.finish()[0] == 143, "an ignored signal")
# Nor for a reader that does not read.
with Job("-n", 1, "yes") as job:
    started(job, 1, "yes")
    until(lambda: state(job.ranks("yes")[0]) == "S", "the writer is blocked")
    job.proc.send_signal(signal.SIGTERM)
    check(job.proc.wait(timeout=300) == 143, "a signal while the output is blocked")

# Signals that are passed on.
for signo in (signal.SIGUSR1, signal.SIGUSR2):
    with Job("-n", 2, *TRAP, signo.name) as job:
        for _ in range(2):
            job.proc.stdout.readline()
        job.proc.send_signal(signo)
        check(job.finish() == (0, b"got it\n" * 2, b""), f"{signo!r} was not passed on")

# Signals before the daemon has the job: those to pass on have nobody to go to, the others end it.
# The daemon is held back by a script in its place.
with tempfile.TemporaryDirectory() as d:
    shutil.copy(CTRANRUN, f"{d}/ctranrun")
    os.mkfifo(f"{d}/fifo")
    with open(f"{d}/ctrand", "w") as f:
        f.write(f"#!/bin/sh\necho here >&2; read x <{d}/fifo\n"
                f"exec {os.path.abspath(CTRANRUN)[:-len('ctranrun')]}ctrand \"$@\"\n")
    os.chmod(f"{d}/ctrand", 0o755)
    with Job("-n", 1, "sh", "-c", "trap 'exit 9' USR1; exit 5", file=f"{d}/ctranrun") as job:
        check(job.proc.stderr.readline() == b"here\n", "the daemon's place")
        job.proc.send_signal(signal.SIGUSR1)
        until(lambda: not pending(job.proc.pid, signal.SIGUSR1), "SIGUSR1 is taken")
        with open(f"{d}/fifo", "w") as f:
            f.write("go\n")
        check(job.finish()[0] == 5, "SIGUSR1 before the job")
    with Job("-n", 1, "true", file=f"{d}/ctranrun") as job:
        check(job.proc.stderr.readline() == b"here\n", "the daemon's place")
        job.proc.send_signal(signal.SIGTERM)
        status, out, err = job.finish()
        check(status == 143 and err.count(b"\n") == 1 and b"signal 15 " in err,
              f"SIGTERM before the job: {status} {err!r}")

# Stop and go on.
with Job("-n", 2, "sleep", "1000") as job:
    ranks = started(job, 2, "sleep")
    job.proc.send_signal(signal.SIGTSTP)
    _, status = os.waitpid(job.proc.pid, os.WUNTRACED)
    check(os.WIFSTOPPED(status), "ctranrun stops")
    until(lambda: all(state(p) == "T" for p in ranks), "the ranks stop")
    job.proc.send_signal(signal.SIGCONT)
    until(lambda: all(state(p) == "S" for p in ranks), "the ranks go on")
    job.proc.send_signal(signal.SIGTERM)
    check(job.finish()[0] == 143, "the end after a stop")
# A stopped rank can be ended.
with Job("-n", 2, "sleep", "1000") as job:
    ranks = started(job, 2, "sleep")
    os.kill(ranks[0], signal.SIGSTOP)
    until(lambda: state(ranks[0]) == "T", "a rank stops")
    os.kill(ranks[1], signal.SIGKILL)
    check(job.finish()[0] == 137, "a job with a stopped rank")
# An ignored SIGHUP stays ignored (nohup).
with Job("-n", 1, "sh", "-c", "echo ready; read x; exit 4", stdin=subprocess.PIPE,
         preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) as job:
    job.proc.stdout.readline()
    job.proc.send_signal(signal.SIGHUP)
    check(job.finish(b"\n")[0] == 4, "SIGHUP under nohup")
print("status: all ends as expected")
