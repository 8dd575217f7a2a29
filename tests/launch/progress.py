# SPDX-License-Identifier: BSD-3-Clause
"""A start that takes long shows a terminal how far it is, and nobody else; the line goes before
anything else comes, and leaves no trace."""
import os
import pty
import re
import tempfile

from launch import CLIENT, Job, check, run, until

# The last rank comes to the PMIx server only when it is told to.
LATE = ["sh", "-c", 'test $PMIX_RANK = 3 && read x <"$FIFO"; exec "$CLIENT" init fence finalize']
SHOWN = rb"ctranrun: (\d+) of 4 ranks are ready"


def screen(data):
    """What is left on a terminal: erased lines are not."""
    lines = [re.sub(rb".*\r\x1b\[K", b"", l.rstrip(b"\r"), flags=re.S) for l in data.split(b"\n")]
    return b"\n".join(lines)


def go(then, merged):
    with tempfile.TemporaryDirectory() as d:
        fifo = f"{d}/fifo"
        os.mkfifo(fifo)
        master, slave = pty.openpty()
        seen = b""
        args = ["-n", 4, "-x", f"FIFO={fifo}", "-x", f"CLIENT={CLIENT}", *LATE]
        with Job(*args, stderr=slave, **({"stdout": slave} if merged else {})) as job:
            os.close(slave)
            os.set_blocking(master, False)

            def more():
                nonlocal seen
                try:
                    while True:
                        part = os.read(master, 4096)
                        if not part:
                            break
                        seen += part
                except OSError:
                    pass
                return seen
            until(lambda: b"3 of 4" in more(), "three ranks are ready")
            check(screen(seen).startswith(b"ctranrun: "), f"on the screen: {seen!r}")
            then(job, fifo)
            status = job.proc.wait(timeout=300)
            more()
        os.close(master)
    return status, seen


def let_go(job, fifo):
    with open(fifo, "w") as f:
        f.write("go\n")


for merged in (False, True):
    status, seen = go(let_go, merged)
    check(status == 0 and screen(seen) == b"", f"left on the screen: {screen(seen)!r} of {seen!r}")
status, seen = go(lambda job, fifo: job.proc.terminate(), True)
check(status == 143 and re.fullmatch(rb"ctranrun: job \w+: signal 15 [^\n]*\n", screen(seen)),
      f"with a message: {screen(seen)!r} of {seen!r}")

# Who is no terminal sees nothing of it.
with tempfile.TemporaryDirectory() as d:
    os.mkfifo(f"{d}/fifo")
    with Job("-n", 4, "-x", f"FIFO={d}/fifo", "-x", f"CLIENT={CLIENT}", *LATE) as job:
        until(lambda: len(job.ranks("pmixcli")) >= 3, "three ranks run")
        let_go(job, f"{d}/fifo")
        check(job.finish() == (0, b"", b""), "progress without a terminal")
print("progress: seen by terminals alone")
