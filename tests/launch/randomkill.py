# SPDX-License-Identifier: BSD-3-Clause
"""A random rank dies in a random way at a random moment, many times: the job always ends, with
the right message and status, and nothing stays. Half of the jobs are a bare PMIx client, half are
ranks of ctran in the middle of traffic, some of these with shared memory in files. CT_KILLS sets
how many times (20); CT_SEED, which is printed, is another one each time with CT_SOAK."""
import os
import random
import re
import signal
import statistics
import tempfile
import time

from launch import BUSY, CLIENT, Job, check, until

KILLS = int(os.environ.get("CT_KILLS", "20"))
SOAK = os.environ.get("CT_SOAK", "0") == "1"
SEED = int(os.environ.get("CT_SEED", random.randrange(1 << 30) if SOAK else 1))
print(f"seed {SEED}")
rng = random.Random(SEED)
times = []
for turn in range(KILLS):
    n = rng.choice([2, 3, 4, 8])
    who = rng.randrange(n)
    how = rng.choice(["KILL", "SEGV", "exit"])
    delay = rng.choice([0, 0.001, 0.01, 0.03, 0.1])
    late = rng.random() < 0.5
    busy = rng.random() < 0.5
    env = None
    if busy:
        steps = [who, rng.choice([0, 1, 100]), 3] if how == "exit" else []
        if rng.random() < 0.3:
            shm = tempfile.mkdtemp(prefix="ctran-shm-", dir="/dev/shm")
            env = {"CTRAN_SHM_BACKING": "file", "CTRAN_SHM_DIR": shm}
        job = Job("-n", n, BUSY, *steps, env=env)
        t0 = None
    elif how == "exit":
        # The rank ends by itself, before or after it has met the others.
        steps = ["init", *(["fence"] if late else []), "only", who, "exit", 3]
        job = Job("-n", n, CLIENT, *steps, "print", "x", "fence", "wait")
        t0 = None
    else:
        job = Job("-n", n, CLIENT, "init", "fence", "print", "x", "wait")
    with job:
        if how != "exit":
            def rank_pid():
                for p in job.ranks("busy" if busy else "pmixcli"):
                    try:
                        with open(f"/proc/{p}/environ", "rb") as f:
                            if b"PMIX_RANK=%d" % who in f.read().split(b"\0"):
                                return p
                    except OSError:
                        pass
                return None
            pid = until(rank_pid, f"rank {who} runs")
            if late:
                for _ in range(n):
                    job.proc.stdout.readline()
            time.sleep(delay)  # the random moment; nothing depends on its length
            t0 = time.monotonic()
            os.kill(pid, getattr(signal, "SIG" + how))
        status, out, err = job.finish()
        if t0 is not None:
            times.append(time.monotonic() - t0)
    err = err.decode()
    if env:
        left = os.listdir(env["CTRAN_SHM_DIR"])
        check(not left, f"files are left in shared memory: {left}")
        os.rmdir(env["CTRAN_SHM_DIR"])
    told = (f"turn {turn}: {how} of rank {who} of {n}, {busy=}, {late=}, {delay=}: "
            f"{status} {out!r} {err!r}")
    want = {"KILL": (137, r"was killed by signal 9 \(Killed\)"),
            "SEGV": (139, r"was killed by signal 11 \(Segmentation fault\)"),
            "exit": (3, r"exited with status 3 without ctran_finalize")}[how]
    check(status == want[0], told)
    line = rf"ctranrun: job \w+: rank {who} \(pid \d+ on host [^)]*\) {want[1]}\n"
    # Ranks of ctran may have had time to say that they lost a peer.
    check(re.search("^" + line, err, re.M) if busy else re.fullmatch(line, err), told)
    check(err.count("ctranrun: job") == 1, told)
if times:
    print(f"{KILLS} jobs; from kill to end: median {statistics.median(times):.3f} s, "
          f"longest {max(times):.3f} s")
