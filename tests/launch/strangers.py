# SPDX-License-Identifier: BSD-3-Clause
"""Other users' connections to a job's ports: they connect and say nothing, or half of something,
from before its ranks start until after its end, and nothing of the job depends on them."""
import glob
import os
import re
import socket
import struct
import subprocess
import sys
import tempfile
import time

from launch import TOP, Job, check, until

STAGES = os.path.join(TOP, "tests/launch/stages")
RANKS = 4
EACH = 10  # clients of a port
STRANGER = r"""
import os, socket, sys
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
words = {"silent": b"", "byte": b"\0", "header": b"\0" * 8 + b"\x40" + b"\0" * 7,
         "half": b"\0" * 8 + b"\x40" + b"\0" * 7 + b"native\0"}
held = []
for line in sys.stdin:
    family, host, port, n = line.split()
    for i in range(int(n)):
        s = socket.socket(int(family), socket.SOCK_STREAM)
        s.settimeout(20)
        try:
            s.connect((host, int(port)))
            s.send(words[sys.argv[1]])
        except OSError:
            pass
        held.append(s)
    print("held", flush=True)
"""


class Strangers:
    """A process of another user, where we may have one, which connects where it is told."""

    def __init__(self, how):
        self.known = set()
        self.proc = subprocess.Popen([sys.executable, "-c", STRANGER, how], cwd="/", text=True,
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.proc.stdin.close()
        self.proc.kill()
        self.proc.wait()
        self.proc.stdout.close()

    def call(self, ports):
        for family, host, port in sorted(ports - self.known):
            self.proc.stdin.write(f"{int(family)} {host} {port} {EACH}\n")
            self.proc.stdin.flush()
            check(self.proc.stdout.readline() == "held\n", "the strangers go on")
        self.known |= ports


def host_of(family, word):
    raw = b"".join(struct.pack("=I", int(word[i:i + 8], 16)) for i in range(0, len(word), 8))
    host = socket.inet_ntop(family, raw)
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)


def listening():
    """Every TCP port that somebody listens at: inode to address."""
    found = {}
    for file, family in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6)):
        if os.path.exists(f"/proc/net/{file}"):
            with open(f"/proc/net/{file}") as f:
                for line in list(f)[1:]:
                    word = line.split()
                    if word[3] == "0A":
                        host, port = word[1].split(":")
                        found[word[9]] = (family, host_of(family, host), int(port, 16))
    return found


def ports_of(job):
    """Where processes of the job listen."""
    everywhere, found = listening(), set()
    for pid in job.processes():
        for fd in glob.glob(f"/proc/{pid}/fd/*"):
            try:
                inode = re.fullmatch(r"socket:\[(\d+)\]", os.readlink(fd))
            except OSError:
                continue
            if inode and inode[1] in everywhere:
                found.add(everywhere[inode[1]])
    return found


def play(how, *options):
    """Runs a job from stage to stage. Returns its result, how many ports it had, and the seconds
    that it took without the time that strangers take to connect."""
    with tempfile.TemporaryDirectory(prefix="ctran-test-") as folder, \
            Strangers(how or "silent") as strangers, \
            Job("-n", RANKS, *options, STAGES, folder) as job:
        stages = ("start", "run", "end")
        for stage in stages:
            os.mkfifo(f"{folder}/{stage}.go")
        took, began, writers = 0, time.monotonic(), []
        for stage in stages:
            until(lambda: len(glob.glob(f"{folder}/{stage}.[0-9]*")) == RANKS or
                  job.proc.poll() is not None, f"all ranks come to {stage}")
            took += time.monotonic() - began
            ports = ports_of(job)
            check(stage == "end" or job.proc.poll() is not None or ports, f"no port at {stage}")
            if how:
                strangers.call(ports)
            strangers.known |= ports
            began = time.monotonic()
            writers.append(os.open(f"{folder}/{stage}.go", os.O_RDWR))
        result = job.finish()
        took += time.monotonic() - began
        for fd in writers:
            os.close(fd)
        return result, len(strangers.known), took


def main():
    with tempfile.TemporaryDirectory(prefix="ctran-test-") as folder:
        agent = f"{folder}/agent"
        with open(agent, "w") as f:
            f.write('#!/bin/sh\nshift\nexec "$@"\n')
        os.chmod(agent, 0o755)
        two = ("--launch-agent", agent, "-H", "localhost:2,n1:2")
        tcp = ("--set", "transports=self,tcp")
        for options in (tcp, (*two, *tcp), ("--enable-recovery", *tcp),
                        ("--enable-recovery", *two, *tcp)):
            wanted, nports, took = play(None, *options)
            check(wanted[0] == 0 and wanted[2] == b"", f"{options} without strangers: {wanted}")
            print(f"{' '.join(options)}: {nports} ports, {took * 1000:.0f} ms alone")
            for how in ("silent", "byte", "header", "half"):
                got, nports, took = play(how, *options)
                check(got == wanted, f"{options} with {how} strangers at {nports} ports: "
                      f"{got} instead of {wanted}")
                print(f"    {how}: {nports} ports, {took * 1000:.0f} ms")


main()
