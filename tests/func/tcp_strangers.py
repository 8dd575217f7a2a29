# SPDX-License-Identifier: BSD-3-Clause
"""Strangers connect to the ports of a running job: some say nothing, some rubbish, some the first
words of the protocol, or so much that it would fill memory. All are dropped, and the job, which
exchanges messages all the while, ends well. CT_STRANGERS sets how many (2000)."""
import os
import random
import socket
import struct
import subprocess
import sys

TOP = os.environ.get("top_builddir", ".")
COUNT = int(os.environ.get("CT_STRANGERS", "2000"))
LIMIT = int(os.environ.get("CT_LIMIT", "60"))
RANDOM = random.Random(1)


def ports_of(pids):
    """What these processes listen at on IPv4, by the kernel's tables."""
    inodes = set()
    for pid in pids:
        try:
            for fd in os.scandir(f"/proc/{pid}/fd"):
                target = os.readlink(fd.path)
                if target.startswith("socket:["):
                    inodes.add(target[8:-1])
        except OSError:
            continue
    found = []
    for line in open("/proc/net/tcp").read().splitlines()[1:]:
        word = line.split()
        if word[3] == "0A" and word[9] in inodes:
            ip, port = word[1].split(":")
            ip = socket.inet_ntoa(struct.pack("=I", int(ip, 16)))
            found.append((ip, int(port, 16)))
    return found


def words():
    """What a stranger says."""
    hello = struct.pack("=IBBH", 0x48435443, 1, 1, 56)
    return RANDOM.choice([
        b"", b"GET / HTTP/1.1\r\n\r\n", RANDOM.randbytes(56), RANDOM.randbytes(4000),
        hello, hello + RANDOM.randbytes(48), hello + bytes(48), bytes(100000)])


def main():
    env = dict(os.environ, CTRAN_TRANSPORTS="self,tcp", CTRAN_TCP_INTERFACES="127.0.0.0/8",
               CTRAN_LOG="error")
    job = subprocess.Popen([f"{TOP}/ctranrun", "-n", "2", f"{TOP}/tests/func/guests"], env=env,
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    pids = [int(job.stdout.readline().split()[1]) for _ in range(2)]
    doors = ports_of(pids)
    assert len(doors) == 2, f"wanted two listening ports, found {doors}"
    open_ones, dropped = [], 0
    for number in range(COUNT):
        s = socket.socket()
        s.settimeout(LIMIT)
        s.connect(RANDOM.choice(doors))
        try:
            s.send(words())
        except OSError:
            dropped += 1
        open_ones.append(s)
        if len(open_ones) > 200:
            open_ones.pop(0).close()
    rest = 0
    for s in open_ones:
        try:
            while s.recv(4096):
                pass
            rest += 1
        except ConnectionError:
            rest += 1
    assert rest == len(open_ones), f"{rest} of {len(open_ones)} were dropped"
    job.stdin.write("enough\n")
    job.stdin.close()
    told = job.stdout.read()
    status = job.wait(LIMIT)
    assert status == 0, f"the job ended with {status}: {told}"
    assert told.count("well") == 2, told


main()
