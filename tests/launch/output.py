# SPDX-License-Identifier: BSD-3-Clause
"""Output: whole lines, unmixed, nothing lost, whatever is written and however slowly it is read."""
import os
import pty
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

from launch import Job, check, expect, run, state, until

RANKS = 8
# Lines of many lengths, in pieces, both streams; each tells who wrote it and how long it is.
WRITER = r"""
import os, random
me = int(os.environ["PMIX_RANK"])
rng = random.Random(me)
for i in range(int(os.environ["LINES"])):
    n = rng.choice([0, 1, 10, 100, 5000, 70000])
    line = b"%d %d %d " % (me, i, n) + bytes([97 + me]) * n + b"\n"
    fd = 1 + i % 2
    at = 0
    while at < len(line):
        piece = rng.choice([1, 7, 4096, 100000] if n < 5000 else [4096, 100000])
        at += os.write(fd, line[at:at + piece])
os.write(1, b"%d last" % me)
"""


def check_lines(data, count, tagged, streams):
    """All lines of all ranks are there, in order within each rank and stream, and whole."""
    seen = {}
    last = set()
    for line in data.split(b"\n"):
        if line == b"":
            continue
        if tagged:
            m = re.match(rb"\[(\d+)\] ", line)
            check(m, f"a line without its tag: {line[:60]!r}")
            line = line[m.end():]
        m = re.fullmatch(rb"(\d+) last", line)
        if m:
            last.add(int(m[1]))
            continue
        m = re.fullmatch(rb"(\d+) (\d+) (\d+) (.*)", line, re.S)
        check(m, f"a line that nobody wrote: {line[:60]!r}... of {len(line)}")
        me, i, n = int(m[1]), int(m[2]), int(m[3])
        check(m[4] == bytes([97 + me]) * n, f"line {i} of rank {me} is not what was written")
        seen.setdefault((me, i % 2), []).append(i)
    for me in range(RANKS):
        for s in streams:
            want = list(range(s, count, 2))
            check(seen.get((me, s)) == want, f"rank {me}, stream {s}: lines {seen.get((me, s))}")
    return last


def integrity(tagged, merged):
    count = 30
    args = ["-n", RANKS] + (["--tag-output"] if tagged else []) + [sys.executable, "-c", WRITER]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        with Job(*args, env={"LINES": str(count)}, stdout=out,
                 stderr=out if merged else err) as job:
            status = job.finish()[0]
        out.seek(0)
        err.seek(0)
        data = out.read()
        check(status == 0, f"status {status}")
        last = check_lines(data, count, tagged, (0, 1) if merged else (0,))
        check(last == set(range(RANKS)), f"last partial lines of {last}")
        if not merged:
            check(not data.endswith(b"\n"), "the last partial line got a newline without need")
            check_lines(err.read(), count, tagged, (1,))


for tagged in (False, True):
    for merged in (False, True):
        integrity(tagged, merged)

# One line far longer than any buffer, binary, beside chattering ranks.
LONG = r"""
import os
me = int(os.environ["PMIX_RANK"])
if me == 0:
    line = bytes(b for b in range(256) if b != 10) * 20000
    at = 0
    while at < len(line):
        at += os.write(1, line[at:at + 30000])
    os.write(1, b"\n")
else:
    for i in range(2000):
        os.write(1, b"rank %d line %d\n" % (me, i))
"""
with Job("-n", 4, sys.executable, "-c", LONG) as job:
    status, data, err = job.finish()
check(status == 0 and err == b"", f"long line: {status} {err!r}")
lines = data.split(b"\n")
long = [l for l in lines if not l.startswith(b"rank ") and l]
check(len(long) == 1 and long[0] == bytes(b for b in range(256) if b != 10) * 20000,
      f"the long line came in {len(long)} pieces")
check(len(lines) == 3 * 2000 + 2, f"{len(lines)} lines beside it")

# A long line whose writer waits for another rank's output must not hold that up for ever: after a
# while without a byte it is cut.
with tempfile.TemporaryDirectory() as d:
    os.mkfifo(d + "/fifo")
    WAITS = r"""
import os, sys
if os.environ["PMIX_RANK"] == "0":
    os.write(1, b"a" * 30000 + b"b" * 30000 + b"c" * 30000)
    open(sys.argv[1]).read()
    os.write(1, b"d\n")
else:
    with open(sys.argv[1], "w"):
        for i in range(30000):
            os.write(1, b"0123456789\n")
"""
    with Job("-n", 2, sys.executable, "-c", WAITS, d + "/fifo") as job:
        status, data, err = job.finish()
lines = data.split(b"\n")
check(status == 0 and lines.count(b"0123456789") == 30000, f"a held line: {status} {err!r}")
check(b"a" * 30000 + b"b" * 30000 + b"c" * 30000 in lines and lines.count(b"d") == 1,
      "the held line itself")

# Bytes of a single rank pass as they are.
blob = os.urandom(3000000)
with Job("-n", 1, "cat", stdin=subprocess.PIPE) as job:
    status, data, err = job.finish(blob)
check((status, data == blob, err) == (0, True, b""), "bytes through one rank changed")

# Partial lines: a newline only where two would be glued.
expect(["-n", 1, "printf", "x"], 0, out="x", err="")
expect(["-n", 3, "printf", "x"], 0, out="x\nx\nx", err="")
expect(["-n", 2, "--tag-output", "sh", "-c", "printf 'a\\nb'"], 0, err="")
got = run("-n", 2, "--tag-output", "sh", "-c", "printf 'a\\n\\nb'")
check(sorted(got[1].split("\n")) == sorted("[0] a,[0] ,[0] b,[1] a,[1] ,[1] b".split(",")),
      f"tags: {got[1]!r}")
got = run("-n", 2, "--tag-output", "sh", "-c", "echo e >&2")
check(sorted(got[2].split("\n")) == ["", "[0] e", "[1] e"], f"tags on stderr: {got[2]!r}")

# A prompt of a single rank appears before its line ends.
with Job("-n", 1, "sh", "-c", "printf 'name? '; read x; echo \"<$x>\"",
         stdin=subprocess.PIPE) as job:
    check(job.proc.stdout.read(6) == b"name? ", "the prompt did not come")
    check(job.finish(b"me\n")[:2] == (0, b"<me>\n"), "the answer")


def resident(pid):
    with open(f"/proc/{pid}/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def is_writing(pid):
    """Blocked in a pipe's write."""
    with open(f"/proc/{pid}/wchan") as f:
        where = f.read()
    return state(pid) == "S" and ("pipe" in where or where == "0")


# A reader that does not read: the ranks block, and neither ctranrun nor ctrand grows.
FLOOD = r"""
import os
me = int(os.environ["PMIX_RANK"])
for i in range(400):
    os.write(1, (b"%d %d " % (me, i) + b"z" * 65000 + b"\n"))
"""
with Job("-n", 4, sys.executable, "-c", FLOOD) as job:
    until(lambda: len(job.ranks("os.write")) == 4, "four ranks run")
    ranks = job.ranks("os.write")
    until(lambda: all(is_writing(p) for p in ranks), "all ranks block in write")
    for pid in (job.proc.pid, job.daemon()):
        check(resident(pid) < 200 << 20, f"{resident(pid)} bytes resident")
    lines = []
    while True:
        line = job.proc.stdout.readline()
        if not line:
            break
        lines.append(line)
    status = job.finish()[0]
check(status == 0 and len(lines) == 1600, f"slow reader: {status}, {len(lines)} lines")
for me in range(4):
    mine = [int(l.split()[1]) for l in lines if l.startswith(b"%d " % me)]
    check(mine == list(range(400)), f"slow reader: lines of rank {me}")
check(all(len(l.split()[2]) == 65000 for l in lines), "slow reader: a line is not whole")

# A reader that goes away ends the writers, as it does without a launcher.
with Job("-n", 2, "yes") as job:
    job.proc.stdout.read(10000)
    job.proc.stdout.close()
    err = job.proc.stderr.read().decode()
    status = job.proc.wait(timeout=300)
check(status == 128 + signal.SIGPIPE and "signal 13" in err and err.count("\n") == 1,
      f"EPIPE: {status} {err!r}")

# A full disk fails the job, when the ranks are through and while they run.
for program in (("echo", "hi"), ("yes",)):
    with open("/dev/full", "w") as full:
        expect(["-n", 2, *program], 1, stdout=full, err=r"ctranrun: job \w+: cannot write standard "
               r"output: No space left on device\n")
with open("/dev/full", "w") as full:
    check(run("-n", 2, "sh", "-c", "echo hi >&2", stderr=full)[0] == 1, "stderr on a full disk")

# A terminal that nobody reads does not hold up the time limit.
master, slave = pty.openpty()
with Job("-n", 1, "--timeout", "0.3", "yes", stdout=slave) as job:
    os.close(slave)
    check(job.finish()[0] == 124, "--timeout with a terminal that is not read")
os.close(master)

# A socket gets it all.
ours, theirs = socket.socketpair()
with Job("-n", 1, "head", "-c", "1000000", "/dev/zero", stdout=theirs) as job:
    theirs.close()
    data = b"".join(iter(lambda: ours.recv(65536), b""))
    check(job.finish()[0] == 0 and data == bytes(1000000), f"{len(data)} bytes by a socket")
ours.close()

# Closed standard streams are no harm.
check(run("-n", 2, "sh", "-c", "cat; echo x; echo y >&2", stdin=None,
          preexec_fn=lambda: (os.close(0), os.close(1), os.close(2)))[0] == 0, "closed stdio")

# The end of a rank's output comes before the word about its end.
got = run("-n", 2, "sh", "-c",
          "test $PMIX_RANK = 1 && { echo last words >&2; exit 3; }; sleep 1000")
check(got[2].startswith("last words\nctranrun: job "), f"order: {got[2]!r}")
print("output: whole and complete")
