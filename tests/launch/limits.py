# SPDX-License-Identifier: BSD-3-Clause
"""Limits that are too low for a job are found before a rank is started, and named: descriptors,
processes by the user's limit, by a control group, room for files. The last two are made up in a
mount namespace of our own."""
import os
import re
import resource
import subprocess
import tempfile

from launch import CTRANRUN, check, expect, run


def few_files():
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))


NEED = (r"ctranrun: job \w+: 64 ranks on one node need %d open files, the hard limit is 100; raise "
        r"the limit \(ulimit -Hn[^\n]*\n")
expect(["-n", 64, "true"], 1, out="", err=NEED % (4 * 64 + 64), preexec_fn=few_files)
expect(["-n", 64, "--dry-run", "true"], 1, out="", err=NEED % (4 * 64 + 64), preexec_fn=few_files)
expect(["-n", 64, "--stdin", "all", "true"], 1, out="", err=NEED % (5 * 64 + 64),
       preexec_fn=few_files)
with tempfile.TemporaryDirectory() as d:
    expect(["-n", 64, "--output-dir", d, "true"], 1, out="", err=NEED % (6 * 64 + 64),
           preexec_fn=few_files)
expect(["-n", 8, "true"], 0, out="", err="", preexec_fn=few_files)

# The limit of a user's processes; the superuser has none.
if os.getuid() == 0:
    def nobody():
        resource.setrlimit(resource.RLIMIT_NPROC, (8, 8))
        os.setgid(65534)
        os.setuid(65534)
    with tempfile.TemporaryDirectory() as d:
        os.chmod(d, 0o777)
        if subprocess.run([CTRANRUN, "--version"], preexec_fn=nobody,
                          capture_output=True).returncode == 0:
            status, out, err = run("-n", 64, "true", env={"TMPDIR": d}, preexec_fn=nobody)
            check(status == 1 and re.fullmatch(
                r"ctranrun: job \w+: 64 ranks need as many processes, only \d more can be made: "
                r"the user's limit of processes is 8, \d+ are there; raise the limit "
                r"\(ulimit -u[^\n]*\n",
                err),
                f"RLIMIT_NPROC: {status} {err!r}")
        else:
            print("limits: another user cannot run this build; the limit of processes not tried")

# In a world of our own: SETUP makes it, then ctranrun runs in it.
def elsewhere(setup, *args):
    with tempfile.TemporaryDirectory() as d:
        os.makedirs(f"{d}/small")
        script = f"set -e; mount --make-rprivate /; {setup}; exec \"$@\""
        got = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", os.path.abspath(CTRANRUN),
                              *map(str, args)], capture_output=True, text=True, timeout=300,
                             stdin=subprocess.DEVNULL, cwd=d)
        return got.returncode, got.stdout, got.stderr


MAY = "mount --make-rprivate / && mount -t tmpfs none /mnt"
if subprocess.run(["unshare", "-m", "sh", "-c", MAY], capture_output=True).returncode != 0:
    print("limits: control groups and small file systems not tried: unshare -m is not allowed")
    raise SystemExit(0)

# Both kinds of control groups, wherever in them we are.
GROUPS = ("mount -t tmpfs none /sys/fs/cgroup; mkdir /sys/fs/cgroup/pids; "
          "for d in /sys/fs/cgroup /sys/fs/cgroup/pids; do echo %s >$d/pids.max; "
          "echo 90 >$d/pids.current; done")
got = elsewhere(GROUPS % "100", "-n", 11, "true")
check(got[0] == 1 and got[1] == "" and re.fullmatch(
    r"ctranrun: job \w+: 11 ranks need as many processes, only 10 more can be made: pids.max of "
    r"control group / is 100, 90 are there; raise the limit \([^\n]*--pids-limit[^\n]*\n", got[2]),
    f"pids.max: {got}")
got = elsewhere(GROUPS % "100", "-n", 10, "true")
check(got[0] == 0 and re.fullmatch(
    r"ctranrun: job \w+: warning: 10 ranks that use PMIx are 20 tasks, only 10 more [^\n]*\n",
    got[2]), f"pids.max that may do: {got}")
check(elsewhere(GROUPS % "100", "-n", 5, "true") == (0, "", ""), "pids.max that does")
check(elsewhere(GROUPS % "max", "-n", 16, "true") == (0, "", ""), "pids.max without a limit")

# Small file systems.
SMALL = "mount -t tmpfs -o size=4M none small; export TMPDIR=$PWD/small"
got = elsewhere(SMALL, "-n", 64, "true")
check(got[0] == 1 and re.fullmatch(
    r"ctranrun: job \w+: 64 ranks need \d+ KiB for the job's files, /\S*/small has \d+ KiB free; "
    r"make room there or set TMPDIR to another directory\n", got[2]), f"a small TMPDIR: {got}")
check(elsewhere(SMALL, "-n", 8, "true") == (0, "", ""), "a TMPDIR that is large enough")

# Shared memory in files: ranks take what they need when they start, and say so if it is not there.
FILES = ("mount -t tmpfs -o size=%s none small; export CTRAN_SHM_BACKING=file "
         "CTRAN_SHM_DIR=$PWD/small")
WARNS = (r"ctranrun: job \w+: warning: 4 ranks of ctran share 4\d\d\d KiB in /\S*/small [^\n]*has "
         r"10\d\d KiB free[^\n]*--shm-size[^\n]*\n")
got = elsewhere(FILES % "1M", "-n", 4, "true")
check(got[0] == 0 and re.fullmatch(WARNS, got[2]), f"a small CTRAN_SHM_DIR: {got}")
got = elsewhere("mount -t tmpfs -o size=1M none small; export CTRAN_SHM_DIR=$PWD/small",
                "--set", "SHM_BACKING=file", "-n", 4, "true")
check(got[0] == 0 and "4 ranks of ctran share" in got[2], f"settings of the ranks: {got}")
ranks = os.path.abspath(os.path.join(os.environ["top_builddir"], "tests/func/coll"))
got = elsewhere(FILES % "1M", "-n", 4, ranks)
check(got[0] == 39 and "no room for " in got[2] and "enlarge the tmpfs" in got[2],
      f"ranks without shared memory: {got}")
got = elsewhere(FILES % "6M", "-n", 4, ranks)
check(got == (0, "", ""), f"ranks with enough of it: {got}")
print("limits: each is found and named")
