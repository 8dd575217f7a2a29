# SPDX-License-Identifier: BSD-3-Clause
"""--status: the jobs of a user and the ranks of one; for nobody else, and no harm to the job."""
import os
import re
import resource
import signal
import socket
import struct
import subprocess
import tempfile

from launch import CLIENT, CTRANRUN, TOP, Job, check, cmdline, state, until

def sleeps(pid):
    """How often the main thread has given up its processor of its own accord."""
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", f.read(), re.M)[1])


HEAD = r"JOB +PID +RANKS +RUNNING +TIME +PROGRAM\n"


def status(job, *args, **kw):
    """ctranrun --status where `job` has its files."""
    got = subprocess.run([CTRANRUN, "--status", *args], capture_output=True, text=True, timeout=300,
                         env=dict(os.environ, TMPDIR=job.tmp), **kw)
    return got.returncode, got.stdout, got.stderr


def until_status(job, name, pattern):
    def look():
        got = status(job, name)
        return re.fullmatch(pattern, got[1]) and got
    return until(look, f"--status {name} says {pattern!r}; last {status(job, name)}")


def job_id(job):
    return until(lambda: [d.split("-")[3] for d in os.listdir(job.tmp)
                          if os.path.exists(f"{job.tmp}/{d}/status")], "there is a socket")[0]


WORK = ["sh", "-c", """
case $PMIX_RANK in
0) exit 0;;
1) while :; do :; done & wait;;
2) kill -STOP $$;;
3) exec "$CLIENT" init wait;;
esac"""]
with Job("-n", 4, "-x", f"CLIENT={CLIENT}", *WORK, ":", "sleep", "1000") as job:
    name = job_id(job)
    row = r" +%d +\d+ %s +%s +\d+ +\d+:\d\d:\d\d +[\d.]+M +- +- +/\S*/%s\n"
    want = (rf"job {name}, 5 ranks on host {re.escape(socket.gethostname())}, 4 running, ctranrun "
            rf"is pid {job.proc.pid}, started \d+:\d\d:\d\d ago\n"
            r" +RANK +PID STATE +PMIX +CPU% +CPU +RSS +WAITS +CALL +PROGRAM\n" +
            row % (0, "exited:0", "-", "sh") + row % (1, r"\w+", "-", "sh") +
            row % (2, "stopped", "-", "sh") + row % (3, r"\w+", "connected", "sh") +
            row % (4, r"\w+", "-", "sleep"))
    got = until_status(job, name, want)
    check(got[0] == 0 and got[2] == "", f"--status {name}: {got}")
    # The pids are right, and so is what the children of a rank use.
    for line in got[1].split("\n")[2:7]:
        rank, pid = map(int, line.split()[:2])
        check(rank == 0 or ("sleep" if rank == 4 else "") in cmdline(pid) and state(pid) != "",
              f"the pid in {line!r} is {cmdline(pid)!r}")
    until_status(job, name, r"(?s).*\n +1 +\d+ \w+ +- +\d+ +0:00:0[1-9] .*")
    listed = HEAD + rf"{name} +{job.proc.pid} +5 +4 +\d+:\d\d:\d\d +/\S*/sh\n"
    until(lambda: re.fullmatch(listed, status(job)[1]), f"the list of jobs is like {listed!r}")
    # Somebody else is turned away, and so is who talks nonsense or nothing at all.
    path = f"{job.tmp}/{os.listdir(job.tmp)[0]}/status"
    check(os.stat(os.path.dirname(path)).st_mode & 0o777 == 0o700, "others may enter the directory")
    if os.getuid() == 0:
        os.chmod(job.tmp, 0o755)
        os.chmod(os.path.dirname(path), 0o755)
        os.chmod(path, 0o777)
        told = subprocess.run(["python3", "-c", f"""
import os, socket
os.setgid(65534); os.setuid(65534)
s = socket.socket(socket.AF_UNIX)
s.connect({path!r})
print(s.recv(1))"""], capture_output=True, text=True, timeout=300)
        check(told.stdout.strip() in ("b''", "") and "b'1" not in told.stdout,
              f"another user was told {told.stdout!r}")
        os.chmod(os.path.dirname(path), 0o700)
    silent = [socket.socket(socket.AF_UNIX) for _ in range(12)]
    for s in silent:
        s.connect(path)
    # The places are taken by those; they are given back in time.
    for junk in (b"GET / HTTP/1.0\r\n\r\n" * 10, struct.pack("<4I", 0x52544331, 1, 5, 1 << 30),
                 struct.pack("<4I", 0x52544331, 1, 14, 4) + b"abcd", os.urandom(1000)):
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(path)
            try:
                s.sendall(junk)
                while s.recv(4096):
                    pass
            except (BrokenPipeError, ConnectionResetError):
                pass
    until(lambda: status(job, name)[0] == 0, "--status is answered again")
    for s in silent:
        s.close()
    # Without descriptors it sleeps between one try and the next, and answers when it has some.
    daemon = job.daemon()
    limit = resource.prlimit(daemon, resource.RLIMIT_NOFILE)
    resource.prlimit(daemon, resource.RLIMIT_NOFILE, (3, limit[1]))
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
        slept = sleeps(daemon)
        until(lambda: sleeps(daemon) > slept + 5, "a daemon without descriptors sleeps")
        resource.prlimit(daemon, resource.RLIMIT_NOFILE, limit)
    until(lambda: status(job, name)[0] == 0, "--status is answered again")
    # A stopped daemon is told of, in time.
    os.kill(job.daemon(), signal.SIGSTOP)
    got = status(job, name)
    check(got[0] == 1 and
          re.fullmatch(rf"ctranrun: the daemon of job {name} does not answer[^\n]*\n", got[2]),
          f"a stopped daemon: {got}")
    os.kill(job.daemon(), signal.SIGCONT)
    until(lambda: status(job, name)[0] == 0, "--status is answered again")
    got = status(job, "abcdef0")
    check(got[0] == 1 and got[1] == "" and
          re.fullmatch(rf"ctranrun: there is no job abcdef0 of yours [^\n]*{job.tmp}[^\n]*\n",
                       got[2]), f"no such job: {got}")
    job.proc.send_signal(signal.SIGTERM)
    check(job.finish()[0] == 143, "the job after all this")
    check(re.fullmatch(HEAD, status(job)[1]), f"after the end: {status(job)}")

# Ranks that wait: the call, its peer and tag, and for how long. What is over is not shown.
WORLD, OTHER = r"comm (?P<world>[0-9a-f]+)", r"comm (?!(?P=world) )[0-9a-f]+"
CALLS = (f"ctran_recv peer 1 tag 7 {WORLD}", f"ctran_probe peer any tag any {OTHER}",
         "ctran_waitall peer 3 tag 9 comm (?P=world)", "ctran_barrier comm (?P=world)",
         "ctran_wait peer 1 tag 11 comm (?P=world)", "ctran_comm_split comm (?P=world)")
def rows(last):
    waits = {"-": "-"}
    return "(?s)job .*PROGRAM\n" + "".join(
        rf" +{r} +\d+ \w+ +connected +\d+ +[\d:]+ +[\d.]+M +{waits.get(call, '[0-9]+:[0-9:]+')} +"
        rf"{call} +/\S*/waits\n" for r, call in enumerate((*CALLS, *last)))
with Job("-n", 8, "--stdin", 7, os.path.join(TOP, "tests/launch/waits"),
         stdin=subprocess.PIPE) as job:
    name = job_id(job)
    until_status(job, name, rows(("ctran_recv peer 7 tag 13 comm (?P=world)", "-")))
    job.proc.stdin.write(b"x")
    job.proc.stdin.flush()
    got = until_status(job, name, rows(("-", "ctran_finalize comm (?P=world)")))
    check(got[0] == 0 and got[2] == "", f"--status of ranks that wait: {got}")
    # What ranks write there is not believed, and what they cut off is not missed.
    file = f"{job.tmp}/{os.listdir(job.tmp)[0]}/blocked"
    check(os.stat(file).st_mode & 0o777 == 0o600, "others may read the calls")
    with open(file, "r+b") as f:
        f.write(struct.pack("<II3Q", 2, 1, 0, 0, 0) + b"\x1b[31mred\n")
        f.seek(64)
        f.write(struct.pack("<I", 1))
        f.truncate(3 * 64 + 1)
    got = status(job, name)
    check(got[0] == 0 and "\x1b" not in got[1] and "red" not in got[1] and
          got[1].count("ctran_") == 1 and "ctran_waitall" in got[1], f"a spoilt file: {got}")
    job.proc.send_signal(signal.SIGTERM)
    check(job.finish()[0] == 143, "the job after all this")

# A directory whose name is longer than a socket's may be.
with tempfile.TemporaryDirectory() as tmp:
    long = f"{tmp}/{'x' * 100}/{'y' * 100}"
    os.makedirs(long)
    with Job("sleep", "1000", env={"TMPDIR": long}) as job:
        job.daemon()
        job.tmp, before = long, job.tmp
        name = job_id(job)
        until_status(job, name, rf"(?s)job {name}, 1 ranks .*sleep\n")
        job.proc.send_signal(signal.SIGTERM)
        job.finish()
        job.check_clean()
        job.tmp = before

# The ranks of other hosts are shown too; the hosts are made up, as in nodes.py.
with tempfile.TemporaryDirectory() as tmp:
    agent = f"{tmp}/agent"
    with open(agent, "w", encoding="ascii") as f:
        f.write('#!/bin/sh\nshift\nexec "$@"\n')
    os.chmod(agent, 0o755)
    with Job("--launch-agent", agent, "--fan-out", 2, "-H", "a:2,b,c,d:2,e", "sh", "-c",
             "test $PMIX_RANK = 4 -o $PMIX_RANK = 6 && exit 0; exec sleep 1000") as job:
        if any("ctranrun" in cmdline(p) for p in until(job.processes, "the job runs")):
            until(lambda: job.proc.poll() is not None or len(job.ranks("sleep")) == 5, "ranks")
        if job.proc.poll() is None:
            name = job_id(job)
            row = r" +%d +\d+ %s +- +\d+ +\d+:\d\d:\d\d +[\d.]+M +- +- +%s  /\S*/sh\n"
            rows = [row % (i, "exited:0" if i in (4, 6) else r"\w+", "aabcdde"[i])
                    for i in range(7)]
            head = (rf"job {name}, 7 ranks on 5 hosts, 5 running, "
                    r"ctranrun is on another host, started \d+:\d\d:\d\d ago\n"
                    r" +RANK +PID STATE +PMIX +CPU% +CPU +RSS +WAITS +CALL +HOST  PROGRAM\n")
            got = until_status(job, name, head + "".join(rows))
            check(got[0] == 0 and got[2] == "", f"--status {name}: {got}")
            pids = {int(line.split()[1]) for line in got[1].split("\n") if " sleeping" in line}
            check(pids <= set(job.processes()), f"the pids in {got}")
            # A daemon that is stopped is named, and so are those behind a router that is.
            for part, missing in (("ctrand --job", "b"), ("--router", None)):
                for pid in [p for p in job.processes() if part in cmdline(p)]:
                    os.kill(pid, signal.SIGSTOP)
                    got = status(job, name)
                    lost = re.findall(r"ctranrun: host (\w) does not answer; its ranks are not "
                                      r"shown\n", got[2])
                    shown = re.findall(r"  (\w)  /", got[1])
                    check(got[0] == 1 and lost and not set(lost) & set(shown) and
                          sorted(set(lost + shown)) == list("abcde"), f"{part} stopped: {got}")
                    os.kill(pid, signal.SIGCONT)
                    break
            until_status(job, name, head + "".join(rows))
            job.proc.send_signal(signal.SIGTERM)
            check(job.finish()[0] == 143, "the job after all this")
        else:
            check(b"without libsodium" in job.proc.stderr.read(), "the job ended early")
print("jobs: --status tells them")
