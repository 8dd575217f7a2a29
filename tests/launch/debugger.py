# SPDX-License-Identifier: BSD-3-Clause
"""--debugger: some ranks run under a command; one alone, started from a terminal, has a terminal of
its own behind ours, with its size, its keys and its Ctrl-C; ours is as before when the job ends."""
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import sys
import termios
import time

from launch import CLIENT, LIMIT, Job, check, expect, run

SHOW = ["--debugger", """sh -c 'echo "$0 $#: $@"; shift; exec "$@"' "a b" c\\ d"""]
got = run("-n", 3, *SHOW, "--debug-ranks", "0,2", "sh", "-c", "echo $PMIX_RANK")
check(sorted(got[1].split("\n")) == ["", "0", "1", "2"] +
      [f"a b 4: c d {shutil.which('sh')} -c echo $PMIX_RANK"] * 2 and got[2] == "",
      f"two ranks under a command: {got}")
# Its input is the first debugged rank's, unless somebody else is to have it; prompts come at once.
ASK = "sh -c 'printf \"(dbg) \"; read x; echo \"<$x>\"; exec \"$@\"' dbg"
got = run("-n", 2, "--debugger", ASK, "--debug-ranks", "1", "true", text="run\n")
check(got == (0, "(dbg) <run>\n", ""), f"a command for the debugger: {got}")
got = run("-n", 2, "--debugger", ASK, "--debug-ranks", "1", "--stdin", "0", "cat", text="run\n")
check(got[0] == 0 and sorted(re.findall(r"\S+", got[1])) == ["(dbg)", "<>", "run"],
      f"--stdin with a debugger: {got}")
with Job("-n", 2, "--debugger", ASK, "--debug-ranks", "1", "true", stdin=-1) as job:
    check(job.proc.stdout.read(6) == b"(dbg) ", "the prompt did not come")
    check(job.finish(b"go\n")[:2] == (0, b"<go>\n"), "after the prompt")
expect(["--debugger", "no-such-debugger", "true"], 127, out="",
       err=r"ctranrun: no-such-debugger: not found in PATH[^\n]*\n")
got = expect(["--dry-run", "-n", 2, "--bind-to", "none", *SHOW, "echo", "x"], 0, err="")
check(re.search(r"^rank 0 .*: /\S*/sh -c echo \"\$0 \$#: \$@\"; shift; exec \"\$@\" a b c d "
                r"/\S*/echo x$", got[1], re.M), f"--dry-run with a debugger: {got[1]}")
# Who debugs may take longer than a start.
TIMEOUT = ["sh", "-c", "echo $CTRAN_BOOTSTRAP_TIMEOUT"]
expect(["--debugger", "env", *TIMEOUT], 0, out="86400s\n")
expect(["--debugger", "env", *TIMEOUT], 0, out="7s\n", env={"CTRAN_BOOTSTRAP_TIMEOUT": "7s"})
expect(["--debugger", "env", "-x", "CTRAN_BOOTSTRAP_TIMEOUT=8s", *TIMEOUT], 0, out="8s\n")

if shutil.which("gdb"):
    got = run("-n", 2, "--debugger", "gdb -q -batch -ex run -ex 'echo at: ' -ex where --args",
              "--debug-ranks", "1", CLIENT, "init", "fence", "only", 1, "kill", 11, "wait",
              env={"DEBUGINFOD_URLS": ""})
    check("SIGSEGV" in got[1] and "at:" in got[1] and "raise" in got[1], f"gdb: {got}")
else:
    print("debugger: no gdb to try it with")

# Where a debugger can be attached is told.
got = run("-v", "-n", 2, "true")
check(len(re.findall(r"rank [01] is pid \d+ on host", got[2])) == 2 and "gdb -p PID" in got[2],
      f"-v: {got}")

# ---- with a terminal ---------------------------------------------------------------------------


class Terminal:
    """ctranrun as a shell would have it: in the foreground of a terminal, which is ours to type."""

    def __init__(self, *args):
        self.seen = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                self.child(args)
            except BaseException as e:
                os.write(2, repr(e).encode())
            os._exit(98)

    def child(self, args):
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("4H", 33, 99, 0, 0))
        before = termios.tcgetattr(0)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with Job(*args, stdin=0, stdout=1, stderr=2,
                 preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as job:
            status = job.proc.wait(timeout=LIMIT)
        os._exit(status if termios.tcgetattr(0) == before else 97)

    def until(self, pattern):
        end = time.monotonic() + LIMIT
        while not re.search(pattern, self.seen):
            check(time.monotonic() < end, f"never seen: {pattern!r}, but {self.seen!r}")
            if not self.more():
                check(re.search(pattern, self.seen), f"ended before {pattern!r}: {self.seen!r}")

    def more(self):
        if select.select([self.fd], [], [], 1)[0]:
            try:
                part = os.read(self.fd, 4096)
            except OSError:
                part = b""
            self.seen += part
            return part != b""
        return True

    def type(self, text):
        os.write(self.fd, text)

    def finish(self):
        while self.more():
            pass
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


# The debugger: a terminal of its own, its size, a line typed, and Ctrl-C, which is for it alone.
DEBUGGER = r"""
import fcntl, os, signal, struct, sys, termios
size = lambda: struct.unpack("4H", fcntl.ioctl(0, termios.TIOCGWINSZ, bytes(8)))[:2]
print("three:", [os.isatty(fd) for fd in range(3)], "size:", size())
print("mine:", os.tcgetpgrp(os.open("/dev/tty", os.O_RDWR)) == os.getpgrp())
got = []
signal.signal(signal.SIGINT, lambda *a: got.append(a[0]))
signal.signal(signal.SIGWINCH, lambda *a: got.append(a[0]))
line = input("(dbg) ")
print("line:", line)
while signal.SIGINT not in got:
    signal.pause()
print("interrupted")
while signal.SIGWINCH not in got:
    signal.pause()
print("now", size())
sys.stdout.flush()
os.execv(sys.argv[1], sys.argv[1:])
"""
t = Terminal("-n", 2, "--debugger", f"{sys.executable} -c '{DEBUGGER}'", "--debug-ranks", 1,
             "sh", "-c", "echo rank $PMIX_RANK; exec sleep 0")
t.until(rb"three: \[True, True, True\] size: \(33, 99\)")
t.until(rb"mine: True")
t.until(rb"\(dbg\) ")
t.type(b"run it\r")
t.until(rb"line: run it")
t.type(b"\x03")
t.until(rb"interrupted")
fcntl.ioctl(t.fd, termios.TIOCSWINSZ, struct.pack("4H", 44, 88, 0, 0))
t.until(rb"now \(44, 88\)")
status = t.finish()
check(status == 0 and t.seen.count(b"rank 1") == 1 and t.seen.count(b"rank 0") == 1,
      f"a debugger with a terminal: {status} {t.seen!r}")
check(b"signal" not in t.seen, f"Ctrl-C came to ctranrun: {t.seen!r}")

# A failure, too, leaves the terminal as it was.
t = Terminal("-n", 2, "--debugger", "env", "sh", "-c", "test $PMIX_RANK = 0 && exit 3; sleep 1000")
check(t.finish() == 3 and b"rank 0" in t.seen, f"a failure under a debugger: {t.seen!r}")
# Two ranks cannot share it: they have pipes, and Ctrl-C is for the job.
t = Terminal("-n", 2, "--debugger", "env", "--debug-ranks", "all", "sh", "-c",
             "test -t 0 || test -t 1 || echo pipes; exec sleep 1000")
t.until(rb"(?s)pipes.*pipes")
t.type(b"\x03")
check(t.finish() == 130, f"two ranks under debuggers: {t.seen!r}")
print("debugger: ranks under it, one with a terminal")
