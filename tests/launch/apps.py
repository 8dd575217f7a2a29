# SPDX-License-Identifier: BSD-3-Clause
"""Several programs in one job: their ranks, environments and directories, what PMIx tells of them,
and what --dry-run says without starting any."""
import os
import re
import socket
import tempfile

from launch import CLIENT, check, expect, run

got = run("-n", 2, "-x", "A=one", "sh", "-c", "echo $PMIX_RANK $A", ":",
          "-x", "B=two", "--wdir", "/usr", "sh", "-c", "echo $PMIX_RANK $A$B $PWD", ":",
          "-n", 1, "echo", "-n", "--", "x")
# (The line without an end gets one where another comes after it.)
check(sorted(got[1].splitlines()) == ["-- x", "0 one", "1 one", "2 two /usr"] and got[2] == "",
      f"three programs: {got}")

# All are ranks of one job, numbered through; a failure of one ends all.
expect(["-n", 2, "-x", "EXPECT_RANKS=4", "-x", "EXPECT_APPS=2,1,1", CLIENT, "init", "info", "put",
        "collect", "getall", "finalize", ":",
        "-x", "EXPECT_RANKS=4", "-x", "EXPECT_APPS=2,1,1", CLIENT, "init", "info", "put",
        "collect", "getall", "finalize", ":",
        "-x", "EXPECT_RANKS=4", "-x", "EXPECT_APPS=2,1,1", CLIENT, "init", "put", "collect", "info",
        "finalize"], 0, out="", err="")
expect(["-n", 2, "sleep", "1000", ":", "sh", "-c", "exit 7"], 7, out="",
       err=r"ctranrun: job [0-9a-f]{6}: rank 2 \([^\n]*exited with status 7\n")
expect(["true", ":", "no-such-program"], 127, out="",
       err=r"ctranrun: no-such-program: not found in PATH [^\n]*\n")
with tempfile.TemporaryDirectory() as d:
    with open(f"{d}/prog", "w") as f:
        f.write("#!/bin/sh\necho here\n")
    os.chmod(f"{d}/prog", 0o755)
    # Each program is looked for with its own PATH and directory.
    expect(["-x", f"PATH={d}:{os.environ['PATH']}", "prog", ":", "--wdir", d, "./prog"], 0,
           out="here\nhere\n", err="")
    expect(["-x", f"PATH={d}", "prog", ":", "prog"], 127, out="",
           err=r"ctranrun: prog: not found in PATH [^\n]*\n")

    # --dry-run says it all and starts nothing, makes nothing.
    mark = f"{d}/mark"
    got = expect(["--dry-run", "--bind-to", "none", "-n", 2, "-x", "A=1",
                  "--output-dir", f"{d}/out", "--env-rank", "1:LOG=log.%r", "touch", mark, ":",
                  "--wdir", d, "./prog"], 0, err="")
    host = re.escape(socket.gethostname())
    numbers = "".join(rf"    environment CTRAN_{name}={value}\n" for name, value in
                      (("RANK", "%d"), ("SIZE", 3), ("LOCAL_RANK", "%d"), ("LOCAL_SIZE", 3)))
    want = (rf"rank 0 on host {host}, not bound: touch {mark}\n    program /\S+/touch\n"
            r"    environment CTRAN_JOB_ID=[0-9a-f]{6}\n    environment A=1\n" + numbers % (0, 0) +
            rf"rank 1 on host {host}, not bound: touch {mark}\n    program /\S+/touch\n"
            r"    environment CTRAN_JOB_ID=[0-9a-f]{6}\n    environment A=1\n"
            r"    environment LOG=log.1\n" + numbers % (1, 1) +
            rf"rank 2 on host {host}, not bound: ./prog\n    program {d}/./prog\n"
            rf"    directory {d}\n    environment CTRAN_JOB_ID=[0-9a-f]{{6}}\n" +
            numbers % (2, 2))
    check(re.fullmatch(want, got[1]), f"--dry-run said {got[1]!r}\n expected {want!r}")
    check(sorted(os.listdir(d)) == ["prog"], f"--dry-run made {os.listdir(d)}")
expect(["--dry-run", "no-such-program"], 127, out="", err=r"ctranrun: no-such-program: [^\n]*\n")
expect(["--dry-run", "-v", "true"], 0)
print("apps: several programs as one job")
