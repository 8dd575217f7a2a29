# SPDX-License-Identifier: BSD-3-Clause
"""Standard input: to rank 0 alone, to its end, against back-pressure, never out of turn."""
import os
import pty
import subprocess
import sys
import tempfile

from launch import Job, check, expect, run, until

COUNT = ["sh", "-c", "echo $PMIX_RANK $(wc -c)"]
got = run("-n", 3, *COUNT, text="x" * 100001)
check(sorted(got[1].split("\n")) == ["", "0 100001", "1 0", "2 0"], f"bytes by rank: {got}")
expect(["-n", 2, "cat"], 0, out="", err="")
# What cannot be read is not an end: a directory. nohup's input, opened for writing, is one.
here = os.open("/", os.O_RDONLY)
expect(["-n", 1, "cat"], 1, out="", stdin=here,
       err=r"ctranrun: job \w+: cannot read standard input: Is a directory; [^\n]*--stdin none\n")
expect(["-n", 1, "--stdin", "none", "cat"], 0, out="", err="", stdin=here)
os.close(here)
with open("/dev/null", "wb") as nothing:
    expect(["-n", 1, "cat"], 0, out="", err="", stdin=nothing)
# To another rank, to all, to none.
got = run("-n", 3, "--stdin", "2", *COUNT, text="x" * 100001)
check(sorted(got[1].split("\n")) == ["", "0 0", "1 0", "2 100001"], f"--stdin 2: {got}")
got = run("-n", 3, "--stdin", "all", *COUNT, text="x" * 300001)
check(sorted(got[1].split("\n")) == ["", "0 300001", "1 300001", "2 300001"], f"--stdin all: {got}")
got = run("-n", 3, "--stdin", "all", "sh", "-c", "test $PMIX_RANK = 1 && exit; wc -c",
          text="x" * 300001)
check(got == (0, "300001\n" * 2, ""), f"--stdin all and a rank that does not read: {got}")
with Job("-n", 2, "--stdin", "none", "cat", stdin=subprocess.PIPE) as job:
    check(job.proc.wait(timeout=300) == 0, "--stdin none while the input is open")
    job.finish()
# The slowest of all sets the pace.
with Job("-n", 2, "--stdin", "all", "sh", "-c", "test $PMIX_RANK = 1 && sleep 1000; exec cat >&2",
         stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as job:
    os.set_blocking(job.proc.stdin.fileno(), False)
    total = 0

    def stuffed_for_all():
        global total
        try:
            while True:
                total += os.write(job.proc.stdin.fileno(), b"z" * 65536)
        except BlockingIOError:
            return total > 100000
    until(stuffed_for_all, "the pipe to ctranrun fills up")
    check(total < 4 << 20, f"{total} bytes were taken in while one of two ranks reads nothing")
    job.proc.terminate()
    job.proc.wait(timeout=300)
with tempfile.TemporaryFile() as f:
    f.write(b"y" * 3000000)
    f.seek(0)
    expect(["-n", 1, "wc", "-c"], 0, out="3000000\n", err="", stdin=f)

# A rank 0 that does not read keeps the input out: the writer blocks, and memory with it.
r, w = os.pipe()
os.set_blocking(w, False)
with Job("-n", 1, "sleep", "1000", stdin=r) as job:
    os.close(r)
    total = 0

    def stuffed():
        global total
        try:
            while True:
                total += os.write(w, b"z" * 65536)
        except BlockingIOError:
            return total > 100000
    until(stuffed, "the pipe to ctranrun fills up")
    check(total < 4 << 20, f"{total} bytes were taken in for a rank that reads nothing")
    job.proc.terminate()
    job.finish()
os.close(w)

# A rank 0 that stops reading, or ends first, does no harm.
got = run("-n", 1, "head", "-c", "5", text="abcdefgh" * 100000)
check(got == (0, "abcde", ""), f"head: {got}")
expect(["-n", 2, "sh", "-c", "exec <&-; exit 0"], 0, err="", text="x" * 1000000)

# In the background of a terminal the input is left alone; nobody is stopped.
pid, fd = pty.fork()
if pid == 0:
    tmp = tempfile.mkdtemp()
    child = subprocess.Popen([os.path.join(os.environ["top_builddir"], "ctranrun"),
                              "-n", "1", "true"],
                             preexec_fn=lambda: os.setpgid(0, 0), env=dict(os.environ, TMPDIR=tmp),
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status = os.waitpid(child.pid, os.WUNTRACED)
    os.rmdir(tmp)
    os._exit(0 if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0 else 1)
_, status = os.waitpid(pid, 0)
os.close(fd)
check(os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0, "in the background it was stopped")

# In its foreground a line typed arrives.
pid, fd = pty.fork()
if pid == 0:
    os.execv(os.path.join(os.environ["top_builddir"], "ctranrun"),
             ["ctranrun", "-n", "1", "sh", "-c", "read x; echo \"<$x>\""])
os.write(fd, b"typed\n")
seen = b""
try:
    while True:
        seen += os.read(fd, 4096)
except OSError:
    pass
_, status = os.waitpid(pid, 0)
check(b"<typed>" in seen and os.WEXITSTATUS(status) == 0, f"from a terminal: {seen!r}")
# So it does from a terminal that is not the controlling one.
master, slave = pty.openpty()
with Job("-n", 1, "sh", "-c", "echo ready; read x; echo \"<$x>\"", stdin=slave,
         start_new_session=True) as job:
    os.close(slave)
    check(job.proc.stdout.readline() == b"ready\n", "the reader is ready")
    os.write(master, b"typed\n")
    check(job.finish()[:2] == (0, b"<typed>\n"), "from somebody else's terminal")
os.close(master)

# A prompt comes out before it is answered, on either stream, of the rank that gets the input.
def shown(fd, part, seen=b""):
    """Reads until `part` was seen; what was read."""
    def more():
        nonlocal seen
        try:
            seen += os.read(fd, 4096)
        except BlockingIOError:
            pass
        return part in seen
    os.set_blocking(fd, False)
    until(more, f"{part!r} comes out")
    os.set_blocking(fd, True)
    return seen


for stream, reader in ((1, 0), (2, 0), (1, 1)):
    ask = f'test $PMIX_RANK = {reader} || exit 0; printf "name? " >&{stream}; read x; echo "<$x>"'
    with Job("-n", 2, "--stdin", reader, "sh", "-c", ask, stdin=subprocess.PIPE) as job:
        fd = (job.proc.stdout if stream == 1 else job.proc.stderr).fileno()
        seen = shown(fd, b"name? ")
        status, out, err = job.finish(b"bob\n")
        got = (status, seen * (stream == 1) + out, seen * (stream == 2) + err)
        whole = b"name? <bob>\n" if stream == 1 else b"<bob>\n"
        check(got == (0, whole, b"" if stream == 1 else b"name? "), f"prompt on {stream}: {got}")

# A rank without input and one whose input has ended keep their lines whole. Rank 1 has begun its
# line before rank 0 has, so that its time would be over before.
with tempfile.TemporaryDirectory() as d:
    begun, go_on = f"{d}/begun", f"{d}/go"
    os.mkfifo(begun)
    os.mkfifo(go_on)
    ask = (f'if test $PMIX_RANK = 0; then read x <{begun}; printf "name? "; read x; echo "<$x>"; '
           f'else printf one; echo >{begun}; read x <{go_on}; echo two; fi')
    with Job("-n", 2, "sh", "-c", ask, stdin=subprocess.PIPE) as job:
        seen = shown(job.proc.stdout.fileno(), b"name? ")
        with open(go_on, "w") as f:
            f.write("go\n")
        seen = shown(job.proc.stdout.fileno(), b"two\n", seen)
        check(seen == b"name? \nonetwo\n", f"beside a rank without input: {seen!r}")
        got = job.finish(b"bob\n")
        check(got == (0, b"<bob>\n", b""), f"after the line of another rank: {got}")
    ask = (f'cat >&2; if test $PMIX_RANK = 0; then printf one; echo >{begun}; read x <{go_on}; '
           f'echo two; else read x <{begun}; echo three; fi')
    with Job("-n", 2, "sh", "-c", ask) as job:
        seen = shown(job.proc.stdout.fileno(), b"three\n")
        with open(go_on, "w") as f:
            f.write("go\n")
        got = job.finish()
        check((seen, got) == (b"three\n", (0, b"onetwo\n", b"")), f"input at its end: {seen} {got}")

# On a terminal that shows what is typed the answer ends the line, and the next one has its tag.
ASK = 'test $PMIX_RANK = 0 || exit 0; printf "name? "; read x; echo "<$x>"'
for n in (1, 2):
    pid, fd = pty.fork()
    if pid == 0:
        os.execv(os.path.join(os.environ["top_builddir"], "ctranrun"),
                 ["ctranrun", "-n", str(n), "--tag-output", "sh", "-c", ASK])
    seen = shown(fd, b"name? ")
    os.write(fd, b"bob\n")
    try:
        while part := os.read(fd, 4096):
            seen += part
    except OSError:
        pass
    _, status = os.waitpid(pid, 0)
    check((seen, status) == (b"[0] name? bob\r\n[0] <bob>\r\n", 0), f"-n {n}, typed: {seen!r}")
print("input: rank 0 has it all, and its prompts are seen")
