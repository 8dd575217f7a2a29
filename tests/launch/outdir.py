# SPDX-License-Identifier: BSD-3-Clause
"""--output-dir: every rank's streams byte for byte in files of their own, and on ours unless they
are not wanted there; a file that cannot be written fails the job."""
import os
import subprocess
import sys
import tempfile

from launch import Job, check, expect, run

# Bytes of all kinds, no newline at the end, both streams, more than a pipe holds.
WRITER = r"""
import os
me = int(os.environ["PMIX_RANK"])
out = bytes(range(256)) * 1000 + b"end of %d" % me
err = b"error %d\n" % me * 3
for fd, data in ((1, out), (2, err)):
    while data:
        data = data[os.write(fd, data[:70000]):]
"""


def content(path):
    with open(path, "rb") as f:
        return f.read()


def check_files(where, n, digits):
    check(sorted(os.listdir(where)) == [f"rank.{i:0{digits}}" for i in range(n)],
          f"{where} has {sorted(os.listdir(where))}")
    for i in range(n):
        d = f"{where}/rank.{i:0{digits}}"
        check(sorted(os.listdir(d)) == ["stderr", "stdout"], f"{d} has {os.listdir(d)}")
        got = content(f"{d}/stdout")
        check(got == bytes(range(256)) * 1000 + b"end of %d" % i, f"{d}/stdout: {len(got)} bytes")
        check(content(f"{d}/stderr") == b"error %d\n" % i * 3, f"{d}/stderr")


with tempfile.TemporaryDirectory() as tmp:
    for copy in (True, False):
        where = f"{tmp}/deep/er{copy}"
        with Job("-n", 11, "--output-dir", where + ("" if copy else ":nocopy"),
                 sys.executable, "-c", WRITER) as job:
            status, out, err = job.finish()
        check(status == 0, f"status {status} {err!r}")
        check_files(where, 11, 2)
        check(len(err.split(b"\n")) == (34 if copy else 1), f"on stderr: {err!r}")
        check((out.count(b"end of") == 11) == copy and (out == b"") != copy,
              f"{len(out)} bytes out")
    # Again into the same place: the old files' contents are gone.
    expect(["-n", 11, "--output-dir", where, "echo", "new"], 0, out="new\n" * 11, err="")
    check(content(f"{where}/rank.07/stdout") == b"new\n", "an old file was not emptied")
    # A relative name is one of ours, not one in the ranks' directory.
    expect(["--output-dir", "here", "--wdir", "/", "pwd"], 0, out="/\n", err="", cwd=tmp,
           file=os.path.abspath("ctranrun") if os.path.exists("ctranrun") else
           os.path.abspath(os.path.join(os.environ.get("top_builddir", "."), "ctranrun")))
    check(content(f"{tmp}/here/rank.0/stdout") == b"/\n", "a relative directory")
    # A killed job leaves what its ranks had written.
    with Job("--output-dir", f"{tmp}/k", "sh", "-c", "echo one; read x",
             stdin=subprocess.PIPE) as job:
        check(job.proc.stdout.readline() == b"one\n", "the first line")
        job.proc.kill()
        job.proc.wait()
        job.check_clean(wait=True)
    check(content(f"{tmp}/k/rank.0/stdout") == b"one\n", "what a killed job leaves")
    # Files that cannot be made or written.
    os.makedirs(f"{tmp}/bad/rank.1/stdout")
    expect(["-n", 2, "--output-dir", f"{tmp}/bad", "true"], 1, out="",
           err=rf"ctranrun: job \w+: cannot make {tmp}/bad/rank.1/stdout for --output-dir: "
           r"Is a directory\n")
    os.makedirs(f"{tmp}/full/rank.1")
    os.symlink("/dev/full", f"{tmp}/full/rank.1/stdout")
    expect(["-n", 2, "--output-dir", f"{tmp}/full", "sh", "-c", "echo x; sleep 1000"], 1,
           err=r"ctranrun: job \w+: cannot write the output of rank 1 into --output-dir: "
           r"No space left on device\n")
print("outdir: each rank's output in its files")
