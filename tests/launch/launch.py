# SPDX-License-Identifier: BSD-3-Clause
"""What the launcher's tests share: running ctranrun, and looking for what a job left behind.

Every job runs with a directory of its own as TMPDIR and with a mark in its environment, so that
its processes are found by their environment and its files by their place.
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid

TOP = os.environ.get("top_builddir", ".")
CTRANRUN = os.path.join(TOP, "ctranrun")
CLIENT = os.path.join(TOP, "tests/launch/pmixcli")
BUSY = os.path.join(TOP, "tests/launch/busy")
MARK = "CT_TEST_MARK"
LIMIT = 300  # seconds; only a hang reaches it

# A shell starts its background jobs with some signals ignored, which ctranrun would respect.
for signo in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
    signal.signal(signo, signal.SIG_DFL)


def sanitizer_env():
    """Ranks are meant to die of signals, and libpmix's own leaks are not ours to mend."""
    if os.environ.get("CT_SANITIZER") == "thread":
        tsan = os.environ.get("TSAN_OPTIONS", "")
        return {"TSAN_OPTIONS": f"{tsan}{':' if tsan else ''}handle_segv=0"}
    if os.environ.get("CT_SANITIZER") != "address":
        return {}
    asan = os.environ.get("ASAN_OPTIONS", "")
    here = os.path.dirname(os.path.abspath(__file__))
    return {"ASAN_OPTIONS": f"{asan}{':' if asan else ''}handle_segv=0",
            "LSAN_OPTIONS": f"suppressions={here}/lsan.supp:print_suppressions=0"}


class Job:
    """One ctranrun. Used as a context, it checks at the end that nothing was left."""

    def __init__(self, *args, env=None, file=CTRANRUN, **popen):
        self.tmp = tempfile.mkdtemp(prefix="ctran-test-")
        self.mark = uuid.uuid4().hex
        full = dict(os.environ, TMPDIR=self.tmp, **{MARK: self.mark})
        full.update(sanitizer_env())
        full.update(env or {})
        popen.setdefault("stdin", subprocess.DEVNULL)
        popen.setdefault("stdout", subprocess.PIPE)
        popen.setdefault("stderr", subprocess.PIPE)
        self.args = args
        self.proc = subprocess.Popen([file, *map(str, args)], env=full, **popen)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, tb):
        try:
            if kind is None:
                self.check_clean()
        finally:
            for pid in self.processes():
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            self.proc.poll()
            shutil.rmtree(self.tmp, ignore_errors=True)

    def processes(self):
        """All live processes that carry the job's mark."""
        found = []
        want = f"{MARK}={self.mark}".encode()
        for name in os.listdir("/proc"):
            if name.isdigit():
                try:
                    with open(f"/proc/{name}/environ", "rb") as f:
                        if want in f.read().split(b"\0"):
                            found.append(int(name))
                except OSError:
                    pass
        return found

    def ranks(self, name):
        """The pids whose command line holds `name`, ctranrun and ctrand left out."""
        return [p for p in self.processes() if name in cmdline(p) and
                "ctranrun" not in cmdline(p) and "ctrand" not in cmdline(p)]

    def daemon(self):
        """The pid of ctrand, waited for."""
        def look():
            found = [p for p in self.processes() if cmdline(p).startswith("ctrand --job")]
            check(found or self.proc.poll() is None,
                  f"ctranrun ended with {self.proc.poll()} before its daemon was seen; it said "
                  f"{self.proc.stderr and self.proc.poll() and self.proc.stderr.read()!r}")
            return found
        return until(look, "ctrand runs")[0]

    def finish(self, text=None):
        out, err = self.proc.communicate(text, timeout=LIMIT)
        return self.proc.returncode, out, err

    def check_clean(self, wait=False):
        """No process and no file of the job is left; `wait` where nobody tells when."""
        if wait:
            until(lambda: not self.processes(), "the job's processes are gone")
            until(lambda: not os.listdir(self.tmp), "the job's files are gone")
        left = [(p, cmdline(p)) for p in self.processes() if not ending(p)]
        told = f"of ctranrun {' '.join(map(str, self.args))} (status {self.proc.poll()})"
        check(not left, f"processes {told} are left: {left}")
        check(not os.listdir(self.tmp), f"files {told} are left: {os.listdir(self.tmp)}")


def cmdline(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            return f.read().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def ending(pid):
    """Whether a process is on its way out: SIGKILL awaits it, or it is in exit(2) already. A child
    of a child is killed without anybody who could wait for its end."""
    try:
        with open(f"/proc/{pid}/status") as f:
            fields = dict(line.split(":", 1) for line in f)
        with open(f"/proc/{pid}/stat") as f:
            flags = int(f.read().rsplit(")", 1)[1].split()[6])
    except OSError:
        return True
    pending = int(fields["SigPnd"], 16) | int(fields["ShdPnd"], 16)
    exiting = 0x4 | 0x400  # PF_EXITING, PF_SIGNALED
    return bool(pending >> (signal.SIGKILL - 1) & 1 or flags & exiting)


def state(pid):
    """The state letter of a process, "" when it is gone."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return ""


def until(test, what):
    """Waits for something that must come; polls, since nobody announces it."""
    end = time.monotonic() + LIMIT
    while True:
        got = test()
        if got:
            return got
        check(time.monotonic() < end, f"never happened: {what}")
        time.sleep(0.005)


def check(ok, text):
    if not ok:
        print(f"FAIL: {text}")
        sys.exit(1)


def run(*args, text=None, **kw):
    """Runs a job to its end: (status, stdout, stderr) as text; checks that nothing is left."""
    if text is not None:
        kw["stdin"] = subprocess.PIPE
    with Job(*args, **kw) as job:
        status, out, err = job.finish(text.encode() if text is not None else None)
    return status, (out or b"").decode(errors="replace"), (err or b"").decode(errors="replace")


def expect(args, status, out=None, err=None, **kw):
    """Runs a job; `out` is compared, `err` is a pattern that all of stderr must match."""
    got = run(*args, **kw)
    told = f"ctranrun {' '.join(map(str, args))}\n gave {got}"
    check(got[0] == status, f"{told}\n expected status {status}")
    if out is not None:
        check(got[1] == out, f"{told}\n expected stdout {out!r}")
    if err is not None:
        check(re.fullmatch(err, got[2], re.S), f"{told}\n expected stderr like {err!r}")
    return got
