# SPDX-License-Identifier: BSD-3-Clause
"""The part of place.py that wants no other job of this machine: it runs with a /dev/shm of its own,
since which cores jobs hold is known by locks on files there."""
import os
import signal
import socket
import subprocess
import sys

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
        unbound = b"not bound, since other jobs of yours have" in err
        check(status == 0 and unbound == (other == free),
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
check(os.listdir("/dev/shm") == [], f"left in /dev/shm: {os.listdir('/dev/shm')}")

# What other users do binds no rank elsewhere than it has room, and unbinds none.
if os.getuid() != 0:
    print("place: other users' locks not tried: only root can be another user")
    raise SystemExit(0)
ncpus = len(os.sched_getaffinity(0))
bound = set(run("-n", ncpus, *SET)[1].split())
check(ncpus == 1 or free not in bound, f"{ncpus} ranks on {free}: {bound}")

# Names that anybody can have.
taken = []
for cpu in range(os.cpu_count()):
    taken.append(socket.socket(socket.AF_UNIX))
    taken[-1].bind(f"\0ctran-core-{cpu}")
got = run("-n", ncpus, *SET)
check(set(got[1].split()) == bound and got[2] == "", f"with sockets of others: {got}")

# Locks on a file of another user's own: the cores are given out last.
OTHER = "/dev/shm/ctran-cores-%016x"
LOCKER = r"""
import fcntl, os, struct, sys
os.setgid(65534)
os.setuid(65534)
fd = os.open(sys.argv[1], os.O_CREAT | os.O_RDWR, 0o600)
for cpu in map(int, sys.argv[2].split(",")):
    fcntl.fcntl(fd, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, cpu, 1, 0))
print("locked", flush=True)
sys.stdin.read()
"""


def locked(cpus, *args):
    os.chmod("/dev/shm", 0o1777)
    with subprocess.Popen([sys.executable, "-c", LOCKER, OTHER % 65534, cpus],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        check(other.stdout.readline() == b"locked\n", "another user locks")
        got = run(*args)
    os.unlink(OTHER % 65534)
    check(got[0] == 0 and got[2] == "", f"{args} with {cpus} held by another user: {got}")
    return got[1].split()


first_cpu = first.split("-")[0].split(",")[0]
check(ncpus == 1 or locked(first_cpu, *SET) != [first], f"{first}, of another user, comes first")
every = ",".join(map(str, range(os.cpu_count())))
check(set(locked(every, "-n", ncpus, *SET)) == bound, "all cores are another user's")

# The user's own file is there, and is another user's.
open(OTHER % 0, "w").close()
os.chown(OTHER % 0, 65534, 65534)
got = run("-n", ncpus, *SET)
check(set(got[1].split()) == bound and got[0] == 0 and
      f"{OTHER % 0} has to belong to user 0 alone, and is user 65534's" in got[2],
      f"with a file of another user: {got}")
