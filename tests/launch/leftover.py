# SPDX-License-Identifier: BSD-3-Clause
"""Nothing stays: descendants in sessions of their own, and the deaths of ctranrun and ctrand."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile

from launch import CLIENT, CTRANRUN, Job, check, run, state, until

# Each rank leaves a daemon (double fork, own session, standard streams closed or kept), which
# ignores what it can.
DAEMON = r"""
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(s, signal.SIG_IGN)
        open(os.environ["HERE"] + "/" + str(os.getpid()), "w").close()
        if sys.argv[1] == "close":
            for fd in range(3):
                os.close(fd)
        while True:
            time.sleep(1000)
    os._exit(0)
os.wait()
while len(os.listdir(os.environ["HERE"])) < int(os.environ["RANKS"]):
    time.sleep(0.005)
if sys.argv[2] == "stay":
    time.sleep(1000)
sys.exit(int(sys.argv[2]))
"""


def with_daemons(keep, then, act=None):
    here = tempfile.mkdtemp(prefix="ctran-test-")
    with Job("-n", 3, "-x", f"HERE={here}", "-x", "RANKS=3",
             sys.executable, "-c", DAEMON, keep, then) as job:
        until(lambda: len(os.listdir(here)) == 3, "three daemons run")
        if act is not None:
            act(job)
            job.proc.wait(timeout=300)
            job.check_clean(wait=True)
        status = job.proc.wait(timeout=300)
    shutil.rmtree(here)
    return status


for keep in ("close", "keep"):
    check(with_daemons(keep, "0") == 0, "daemons after success")
    check(with_daemons(keep, "3") == 3, "daemons after failure")
    check(with_daemons(keep, "stay", lambda j: j.proc.send_signal(signal.SIGINT)) == 130, "SIGINT")
    check(with_daemons(keep, "stay", lambda j: j.proc.kill()) == -9, "SIGKILL of ctranrun")
    for signo, status in ((signal.SIGKILL, 1), (signal.SIGTERM, 143)):
        check(with_daemons(keep, "stay", lambda j: os.kill(j.daemon(), signo)) == status,
              f"{signo!r} of ctrand")

# The message about a lost daemon.
for signo, word in ((signal.SIGKILL, "Killed"), (signal.SIGSEGV, "Segmentation fault")):
    with Job("-n", 2, CLIENT, "init", "fence", "print", "ready", "wait") as job:
        for _ in range(2):
            check(job.proc.stdout.readline() == b"ready\n", "ranks are ready")
        os.kill(job.daemon(), signo)
        status, out, err = job.finish()
        err = err.decode()
    check(status == 1 and err.count("\n") == 1 and
          f"was lost ({word}); its ranks are killed" in err, f"{status} {err!r}")

# Where all get the signal the ranks have time to take it; if they end well then, and ctranrun was
# left out, the job was cut short all the same.
TRAPS = ["sh", "-c", "trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.01; done"]
for heads_too, want in ((True, 143), (False, 1)):
    with Job("-n", 2, *TRAPS) as job:
        for _ in range(2):
            check(job.proc.stdout.readline() == b"ready\n", "ranks are ready")
        daemon = job.daemon()
        if heads_too:
            job.proc.send_signal(signal.SIGTERM)
        try:
            os.kill(daemon, signal.SIGTERM)
        except ProcessLookupError:
            check(heads_too, "ctrand is gone")
        status, out, err = job.finish()
        check((status, out, err.count(b"ctranrun: ")) == (want, b"bye\nbye\n", 1),
              f"SIGTERM of ctrand: {status} {out!r} {err!r}")

# ctranrun dies at any moment of the start: at once, or as soon as its daemon is there.
for when in range(6):
    with Job("-n", 8, CLIENT, "init", "fence", "wait") as job:
        if when % 3 == 1:
            job.daemon()
        elif when % 3 == 2:
            until(lambda: job.ranks("pmixcli"), "a rank runs")
        job.proc.kill()
        job.proc.wait()
        job.check_clean(wait=True)

# Both die at once: the ranks go with the daemon; its directory is swept by the next job.
with Job("-n", 2, CLIENT, "init", "fence", "print", "ready", "wait") as job:
    for _ in range(2):
        job.proc.stdout.readline()
    daemon = job.daemon()
    os.kill(job.proc.pid, signal.SIGSTOP)
    os.kill(daemon, signal.SIGSTOP)
    os.kill(daemon, signal.SIGKILL)
    job.proc.kill()
    job.proc.wait()
    until(lambda: not job.processes(), "the ranks go with their daemon")
    check(len(os.listdir(job.tmp)) == 1, f"the directory of the dead: {os.listdir(job.tmp)}")
    # A directory whose job lives is not touched.
    with Job("sh", "-c", "echo ready; read x", env={"TMPDIR": job.tmp},
             stdin=subprocess.PIPE) as other:
        check(other.proc.stdout.readline() == b"ready\n", "another job starts")
        check(len(os.listdir(job.tmp)) == 1, f"after the sweep: {os.listdir(job.tmp)}")
        mine = os.listdir(job.tmp)
        check(run("true", env={"TMPDIR": job.tmp})[0] == 0, "a third job")
        check(os.listdir(job.tmp) == mine, "the directory of a living job was swept")
        check(other.finish(b"\n")[0] == 0, "the other job ends")

# What only looks like a session directory stays: a link, one that others may enter, and one whose
# name goes on after the number.
with tempfile.TemporaryDirectory() as tmp:
    name = f"{tmp}/ctran-session-{os.getuid()}-%s-999999999-1"
    os.mkdir(f"{tmp}/precious", 0o700)
    os.symlink(f"{tmp}/precious", name % "aaaaaa")
    os.mkdir(name % "bbbbbb", 0o700)
    os.chmod(name % "bbbbbb", 0o755)
    os.mkdir(name % "cccccc" + ".keep", 0o700)
    os.makedirs(name % "dddddd" + "/deep/er", 0o700)
    os.symlink(f"{tmp}/precious", name % "dddddd" + "/deep/link")
    os.chmod(name % "dddddd", 0o700)
    for where in ("precious", *(d for d in os.listdir(tmp) if d != "precious")):
        open(f"{tmp}/{where}/file", "w").close()
    before = set(os.listdir(tmp))
    check(run("true", env={"TMPDIR": tmp})[0] == 0, "a job beside false directories")
    check(before - set(os.listdir(tmp)) == {os.path.basename(name % "dddddd")},
          f"swept: {before - set(os.listdir(tmp))}")
    check(all(os.listdir(f"{tmp}/{d}") == ["file"] for d in os.listdir(tmp)),
          "a false directory was emptied")

# Children from before ctranrun was started by exec are none of its business.
with tempfile.TemporaryDirectory() as tmp:
    script = ("for i in $(seq 70); do sleep 1000 >/dev/null 2>&1 & printf '%d ' $!; done; "
              f"echo; exec {CTRANRUN} -n 1 sh -c 'kill -9 $PPID; sleep 1000'")
    shell = subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             env=dict(os.environ, TMPDIR=tmp))
    strangers = [int(word) for word in shell.stdout.readline().split()]
    err = shell.stderr.read()
    check(shell.wait(timeout=300) == 1 and b"was lost (Killed)" in err,
          f"a rank kills ctrand: {err!r}")
    check(len(strangers) == 70, f"{len(strangers)} strangers")
    alive = [pid for pid in strangers if state(pid) in ("R", "S", "D")]
    for pid in alive:
        os.kill(pid, signal.SIGKILL)
    check(alive == strangers, f"of 70 strangers only {len(alive)} are left alone")
print("leftover: nothing stays")
