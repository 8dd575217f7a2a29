# SPDX-License-Identifier: BSD-3-Clause
"""The part of place.py that wants no other job of this machine: it runs under unshare -n, since the
cores that jobs hold are known by names in the network's namespace."""
import os
import signal
import subprocess

from launch import Job, check, expect, run

SET = ["sh", "-c", "grep Cpus_allowed_list /proc/self/status | cut -f2"]
WAIT = ["sh", "-c", SET[2] + "; read x"]
free = run("--bind-to", "none", *SET)[1].strip()
first = run(*SET)[1].strip()
check(run(*SET)[1].strip() == first, "a core is free again after a job")

with Job(*WAIT, stdin=subprocess.PIPE) as one:
    mine = one.proc.stdout.readline().decode().strip()
    check(mine == first, f"alone it was given {mine}, before {first}")
    with Job("-v", *WAIT, stdin=subprocess.PIPE) as two:
        other = two.proc.stdout.readline().decode().strip()
        status, out, err = two.finish(b"\n")
        check(other != mine or free == mine, f"two jobs were given {mine}")
        check(status == 0 and (b"not bound, since other jobs have" in err) == (other == free),
              f"the second job: {other} of {free}, {err!r}")
    # All cores are wanted, one is held.
    many = run("-n", len(os.sched_getaffinity(0)), *SET)
    check(set(many[1].split()) == {free}, f"a job that does not fit beside another: {many}")
    # Who asks for cores gets them.
    same = run("--bind-to", "core", *SET)[1].strip()
    check(same == first, f"--bind-to core beside another job: {same}, expected {first}")
    # However a job goes, its cores are free again.
    os.kill(one.daemon(), signal.SIGKILL)
    one.finish()
check(run(*SET)[1].strip() == first, "the core of a job whose daemon was killed")
with Job("--bind-to", "core", *WAIT, stdin=subprocess.PIPE) as one:
    mine = one.proc.stdout.readline().decode().strip()
    other = run(*SET)[1].strip()
    check(other != mine or free == mine, f"{mine} was given twice, once ordered")
    one.finish(b"\n")
