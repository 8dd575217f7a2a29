# SPDX-License-Identifier: BSD-3-Clause
"""Ranks die at random moments, 1 to all but one of them, in messages, collectives, splits, windows
and agreements; those that live revoke, agree, shrink and go on, until the end: none waits for good,
no result is wrong, and all have the same members. CT_SHRINKS sets how many jobs (16, and 500 with
CT_SOAK, then other ones each time); CT_SEED and CT_MODE and CT_RANKS repeat one job.
The program is shrink (shrink.c)."""
import os
import random
import statistics
import sys

sys.path.insert(0, os.path.join(os.environ.get("top_srcdir", "."), "tests/launch"))
from launch import TOP, Job, check  # noqa: E402

SHRINK = os.path.join(TOP, "tests/fault/shrink")
MODES = ["coll", "p2p", "agree", "split", "icoll", "window", "mixed", "mixed"]
SETTINGS = [{}, {}, {"CTRAN_TRANSPORTS": "self,tcp"}, {"CTRAN_SHM_RING_SIZE": "4K"},
            {"CTRAN_NODE_RANKS": "3"}, {"CTRAN_PROGRESS_THREAD": "1"},
            {"CTRAN_EAGER_LIMIT": "100"}]

soak = os.environ.get("CT_SOAK", "0") == "1"
jobs = int(os.environ.get("CT_SHRINKS", "500" if soak else "16"))
seeds = random.Random(int(os.environ.get("CT_SEED", random.randrange(1 << 30) if soak else 1)))


def play(mode, seed, ranks, settings):
    """One job; returns the ns from the last death to a working communicator of those that live."""
    with Job("-n", ranks, "--enable-recovery", "--oversubscribe", SHRINK, f"shrink-{mode}", seed,
             env=settings) as job:
        status, out, err = job.finish()
    out, err = out.decode(), err.decode()
    told = f"{mode} {seed} of {ranks} {settings}: status {status}\n{out}\n{err}"
    words = [line.split() for line in out.splitlines()]
    dies = {int(w[1]): int(w[2]) for w in words if w[0] == "dies"}
    done = {int(w[1]) for w in words if w[0] == "done"}
    check(status == 0, f"the end: {told}")
    check(done == set(range(ranks)) - set(dies), f"those that live: {told}")
    works = [int(w[3]) for w in words if w[0] == "works" and int(w[2]) == len(done)]
    check(len(works) >= len(done), f"all work in the end: {told}")
    return max(works) - max(dies.values())


if "CT_MODE" in os.environ:
    print(play(os.environ["CT_MODE"], int(os.environ["CT_SEED"]),
               int(os.environ.get("CT_RANKS", "8")), {}))
    sys.exit()
waits = []
for number in range(jobs):
    mode, seed, n = MODES[number % len(MODES)], seeds.randrange(1 << 30), seeds.randrange(2, 9)
    some = seeds.choice(SETTINGS)
    print(f"{mode} {seed} of {n} {some}", flush=True)
    waits.append(play(mode, seed, n, some))
print(f"{jobs} jobs; from the last death to a working communicator: median "
      f"{statistics.median(waits) / 1e6:.2f} ms, longest {max(waits) / 1e6:.1f} ms")
