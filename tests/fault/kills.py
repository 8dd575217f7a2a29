# SPDX-License-Identifier: BSD-3-Clause
"""Ranks die at random moments, one after the other or together, killed or by themselves, in
traffic, in long transfers, in connects, in collectives, in init and in finalize: those that live
learn of it by errors of exactly what it ends, and the job ends well. CT_KILLS sets how many deaths
(20, and 500 with CT_SOAK, then other ones each time); CT_SEED, CT_MODE and CT_WHERE (1 and 2: on
three hosts) repeat one job.
The program is survive (fault.h)."""
import os
import random
import re
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ.get("top_srcdir", "."), "tests/launch"))
from launch import TOP, Job, check, run  # noqa: E402

SURVIVE = os.path.join(TOP, "tests/fault/survive")
RANKS = 8
MODES = ["traffic", "traffic", "large", "connect", "coll", "icoll", "init", "finalize"]
SETTINGS = [{}, {}, {"CTRAN_SHM_SINGLE_COPY": "off"}, {"CTRAN_SHM_RING_SIZE": "4K"},
            {"CTRAN_SHM_SINGLE_COPY": "auto", "CTRAN_EAGER_LIMIT": "4K"},
            {"CTRAN_SHM_SINGLE_COPY": "off", "CTRAN_SHM_RING_SIZE": "4K"},
            {"CTRAN_SHM_BACKING": "file"}, {"CTRAN_EAGER_LIMIT": "100"},
            {"CTRAN_TRANSPORTS": "self,tcp"}, {"CTRAN_NODE_RANKS": "3", "CTRAN_TCP_SOCKETS": "2"},
            {"CT_FOREIGN": "some"}, {"CT_FOREIGN": "all", "CTRAN_TRANSPORTS": "self,tcp"}]
# On this machine as it is, or as three hosts, which an agent makes of it.
DIR = tempfile.TemporaryDirectory(prefix="ctran-test-")
AGENT = os.path.join(DIR.name, "agent")
with open(AGENT, "w", encoding="ascii") as script:
    script.write('#!/bin/sh\nshift\nexec "$@"\n')
os.chmod(AGENT, 0o755)
WHERE = [[], ["--launch-agent", AGENT, "-H", "a:3,b:3,c:2"],
         ["--launch-agent", AGENT, "-H", "a:3,b:3,c:2", "--map-by", "node"]]
if "without libsodium" in run(*WHERE[1], "true")[2]:
    WHERE = WHERE[:1]
HOW = {"was killed by signal 9 (Killed)", "was killed by signal 11 (Segmentation fault)",
       "exited with status 3 without ctran_finalize"}
LOST = re.compile(r"ctranrun: job \w+: rank (\d+) \(pid \d+ on host [^)]*\) (.*); "
                  r"the job goes on without the rank")

soak = os.environ.get("CT_SOAK", "0") == "1"
kills = int(os.environ.get("CT_KILLS", "500" if soak else "20"))
seeds = random.Random(int(os.environ.get("CT_SEED", random.randrange(1 << 30) if soak else 1)))


def play(mode, seed, settings, where):
    """One job; returns for each death the ns until the last survivor knew, where that is told."""
    with Job(*where, "-n", RANKS, "--enable-recovery", "--oversubscribe", "-x",
             f"CT_RANKS={RANKS}", SURVIVE, mode, seed, env=settings) as job:
        status, out, err = job.finish()
    out, err = out.decode(), err.decode()
    told = f"{mode} {seed} {settings} {where}: status {status}\n{out}\n{err}"
    words = [line.split() for line in out.splitlines()]
    dies = {int(w[1]): int(w[2]) for w in words if w[0] == "dies"}
    done = {int(w[1]) for w in words if w[0] == "done"}
    lost = {int(m[1]): m[2] for m in map(LOST.fullmatch, err.splitlines()) if m}
    check(lost and set(lost.values()) <= HOW, f"who died, and how: {told}")
    if any(w[0] == "nostart" for w in words):
        check(mode == "init" and status == 9 and not done, f"a start that failed: {told}")
        return len(lost), []
    check(status == 0 and set(lost) == set(dies), f"the end: {told}")
    check(done == set(range(RANKS)) - set(dies), f"those that live: {told}")
    check(len(lost) == len(err.splitlines()), f"nothing else is said: {told}")
    last = {}
    for w in words:
        if w[0] == "knows" and int(w[1]) in done:
            last.setdefault(int(w[2]), []).append(int(w[3]))
    if mode in ("traffic", "large", "connect"):
        check(all(len(last.get(v, [])) == len(done) for v in dies), f"all know: {told}")
    return len(dies), [max(times) - dies[v] for v, times in last.items()]


if "CT_MODE" in os.environ:
    print(play(os.environ["CT_MODE"], int(os.environ["CT_SEED"]), {},
               WHERE[int(os.environ.get("CT_WHERE", "0"))]))
    sys.exit()
deaths, jobs, waits = 0, 0, []
while deaths < kills:
    mode, seed = MODES[jobs % len(MODES)], seeds.randrange(1 << 30)
    print(f"{mode} {seed}", flush=True)
    n, some = play(mode, seed, seeds.choice(SETTINGS), seeds.choice(WHERE))
    deaths += n
    jobs += 1
    waits += some
if waits:
    print(f"{deaths} deaths in {jobs} jobs; from a death to the last survivor's knowledge: median "
          f"{statistics.median(waits) / 1e6:.2f} ms, longest {max(waits) / 1e6:.1f} ms "
          f"({len(waits)} measured)")
