# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of several hosts, and all that can go wrong with one. The hosts are made up: an agent runs
the daemons of all of them on this machine. So it is the tree that is tested here, and what goes
over it; hosts that are hosts are in tests/lab."""
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile

from launch import CLIENT, Job, check, cmdline, expect, run, until

DIR = tempfile.TemporaryDirectory(prefix="ctran-test-")
AGENT = f"{DIR.name}/agent"
JOB = r"ctranrun: job \w+: "


def frame(kind, payload, version=11):
    return struct.pack("<4I", 0x52544331, version, kind, len(payload)) + payload + b"\n"


def text(words):
    return struct.pack("<I", len(words)) + words + b"\0"


# Hosts of some names have what their names say; all others are in order.
with open(f"{DIR.name}/old", "wb") as f:
    f.write(frame(1, text(b"0.0.7") + struct.pack("<I", 1) + text(b"old")))
with open(f"{DIR.name}/ancient", "wb") as f:
    f.write(frame(1, b"", version=1))
with open(AGENT, "w") as f:
    f.write(f"""#!/bin/sh
host=$1
shift
case $host in
unknown) echo "ssh: Could not resolve hostname unknown: Name or service not known" >&2; exit 255;;
refused) echo "root@refused: Permission denied (publickey)." >&2; exit 255;;
empty) exec {DIR.name}/nothing/ctrand;;
old | ancient) cat {DIR.name}/$host; exec sleep 1000;;
chatty) echo "Welcome to this host!"; exec "$@";;
silent*) exec sleep 1000;;
slow) until [ -e {DIR.name}/awake ]; do sleep 0.02; done; exec "$@";;
forks*) sleep 1000 & setsid sleep 1000 & touch {DIR.name}/forked; exec sleep 1000;;
late) until [ -e {DIR.name}/forked ]; do sleep 0.02; done; rm {DIR.name}/forked; exit 255;;
lingers*) env -u TWO -u CTRAN_EAGER_LIMIT "$@"; sleep 1000 & exec sleep 1000;;
esac
exec env -u TWO -u CTRAN_EAGER_LIMIT "$@"
""")
os.chmod(AGENT, 0o755)


def hosts(n, each=1, also=()):
    return ",".join([f"n{i}:{each}" for i in range(n)] + list(also))


def on(spec, *args, fan_out=2):
    return ["--launch-agent", AGENT, "--fan-out", fan_out, "-H", spec, *args]


if "without libsodium" in run(*on("a,b", "true"))[2]:
    print("skipped: jobs of several hosts need libsodium, and this build has none")
    sys.exit(77)

# ---- what ranks are told, and tell each other ----------------------------------------------------

for n, each, fan_out in ((2, 2, 32), (24, 1, 2), (7, 2, 1), (9, 2, 3)):
    expect(on(hosts(n, each), CLIENT, "init", "put", "collect", "getall", "fence", "some", "fence",
              "finalize", fan_out=fan_out), 0, out="", err="")
for args, nodes in (([], [0, 0, 1, 2, 2, 2]), (["--map-by", "node"], [0, 1, 2, 0, 2, 2])):
    got = run(*on("a:2,b:1,c:3", *args, CLIENT, "init", "where", "fence", "finalize"))
    want = []
    for r in range(6):
        peers = ",".join(str(p) for p in range(6) if nodes[p] == nodes[r])
        want.append(f"{r} has {peers}:" + "".join(f" {'abc'[k]}" for k in nodes))
    check(got[0] == 0 and sorted(got[1].splitlines()) == want, f"where: {got}")
# Data without a fence: what is there already, and what is committed only after it is asked for.
expect(on(hosts(5, 2), CLIENT, "init", "put", "getall", "fence", "finalize"), 0, out="", err="")
with tempfile.TemporaryDirectory() as d:
    os.mkfifo(f"{d}/fifo")
    expect(on(hosts(4), "-x", f"LATE_FIFO={d}/fifo", CLIENT, "init", "latecommit", "fence",
              "finalize"), 0, out="", err="")
# The two sides of the head: its own host among others.
expect(on("a,localhost:2,b", CLIENT, "init", "put", "collect", "getall", "fence", "finalize"), 0,
       out="", err="")

# ---- environment, directory, secrets -------------------------------------------------------------

with tempfile.TemporaryDirectory() as d:
    show = ["sh", "-c", 'echo "$PWD $ONE $TWO $CTRAN_EAGER_LIMIT"; env | grep CTRAN_SET']
    got = run(*on("a,b", "-x", "ONE=1", "--set", "EAGER_LIMIT=9K", *show), cwd=d,
              file=os.path.abspath(os.path.join(os.environ.get("top_builddir", "."), "ctranrun")),
              env={"TWO": "two words", "CTRAN_EAGER_LIMIT": "5K"})
    check(got[0] == 0 and got[1].count(f"{d} 1 two words 5K\n") == 2 and
          got[1].count("CTRAN_SET=CTRAN_EAGER_LIMIT=9K") == 2, f"environment: {got}")
with Job(*on("a,b", "--stdin", "all", "sh", "-c", "echo $CTRAN_JOB_KEY; read x"),
         stdin=subprocess.PIPE) as job:
    keys = {job.proc.stdout.readline().strip().decode() for _ in range(2)}
    key = keys.pop()
    check(not keys and re.fullmatch("[0-9a-f]{64}", key), f"the job's key: {key} {keys}")
    lines = [cmdline(p) for p in job.processes()]
    check(sum("--router" in line for line in lines) >= 2, f"routers: {lines}")
    check(not any(key in line for line in lines), f"the key is on a command line: {lines}")
    check(job.finish(b"\n")[0] == 0, "a job with a key")

# ---- output and input ----------------------------------------------------------------------------

LINES = ["sh", "-c", 'i=0; while [ $i -lt 200 ]; do echo "$PMIX_RANK line $i"; i=$((i + 1)); done']
got = run(*on(hosts(6, 2), "--tag-output", *LINES))
check(got[0] == 0 and sorted(got[1].splitlines()) ==
      sorted(f"[{r}] {r} line {i}" for r in range(12) for i in range(200)),
      f"lines: {got[1][-300:]}")
LONG = r"""
import os
me = int(os.environ["PMIX_RANK"])
if me == 5:
    for _ in range(20):
        os.write(1, b"x" * 30000)
    os.write(1, b"\n")
else:
    for i in range(500):
        os.write(1, b"rank %d line %d\n" % (me, i))
"""
got = run(*on(hosts(6), sys.executable, "-c", LONG))
check(got[1].count("\n") == 2501 and "x" * 600000 + "\n" in got[1],
      "a long line of one host is cut")
# A reader that takes its time costs no memory: the ranks wait.
with Job(*on(hosts(4), "sh", "-c", "exec yes $PMIX_RANK"), stdout=subprocess.PIPE) as job:
    check(job.proc.stdout.readline().strip() in (b"0", b"1", b"2", b"3"), "the first line")
    until(lambda: len(job.ranks("yes ")) == 4, "the ranks run")
    job.proc.stdout.close()
    check(job.proc.wait(timeout=300) in (141, 1), "ranks whose reader has gone")
for to, n in (("0", 1), ("3", 1), ("all", 6)):
    got = run(*on(hosts(3, 2), "--stdin", to, "sh", "-c", "wc -c"), text="x" * 300001)
    check(sorted(got[1].split()) == sorted(["300001"] * n + ["0"] * (6 - n)),
          f"--stdin {to}: {got}")
with tempfile.TemporaryDirectory() as d:
    expect(on(hosts(3), "--output-dir", f"{d}/deep/er", "sh", "-c", "echo $PMIX_RANK"), 0, err="")
    check([open(f"{d}/deep/er/rank.{r}/stdout").read() for r in range(3)] == ["0\n", "1\n", "2\n"],
          "--output-dir")

# ---- places, plans -------------------------------------------------------------------------------

# A plan asks no host, so hosts that are down, or have no ctran, do not matter.
got = run(*on("unknown:2,silent", "--dry-run", "--bind-to", "core", "true"))
check(got[0] == 0 and got[2] == "" and
      re.findall(r"^rank (\d) on host (\w+), place chosen there: true$", got[1], re.M) ==
      [("0", "unknown"), ("1", "unknown"), ("2", "silent")] and got[1].count("program") == 3,
      f"plan: {got}")
got = run(*on("unknown,localhost", "--dry-run", "--bind-to", "core", "true"))
check(got[0] == 0 and re.findall(r"^rank (\d) on host (\w+), (place|cpu)", got[1], re.M) ==
      [("0", "unknown", "place"), ("1", "localhost", "cpu")], f"plan with this host: {got}")
# Ranks are reported in order, wherever they are.
for args in ([], ["--map-by", "node"]):
    got = run(*on("a:3,b:2,c", *args, "--report-bindings", "true"))
    check(got[0] == 0 and re.findall(r"rank (\d) is pid \d+ on host \w, ", got[2]) ==
          ["0", "1", "2", "3", "4", "5"], f"--report-bindings {args}: {got}")

# ---- the end of ranks ----------------------------------------------------------------------------

for what, status, words in (("kill -9 $$", 137, r"was killed by signal 9 \(Killed\)"),
                            ("exit 7", 7, "exited with status 7")):
    expect(on(hosts(5), "sh", "-c", f"test $PMIX_RANK = 3 && {{ {what}; }}; exec sleep 1000"),
           status, out="", err=JOB + rf"rank 3 \(pid \d+ on host n3\) {words}\n")
expect(on(hosts(4), CLIENT, "init", "fence", "only", "2", "abort", "5", "wait"), 5, out="",
       err=JOB + r"rank 2 \(pid \d+ on host n2\) aborted the job with status 5: it was time\n")
expect(on(hosts(4), "--enable-recovery", "sh", "-c",
          "test $PMIX_RANK = 1 && kill -9 $$; exit 0"), 0, out="",
       err=JOB + r"rank 1 \(pid \d+ on host n1\) was killed[^\n]*goes on without the rank\n")
expect(on(hosts(4), "--enable-recovery", CLIENT, "init", "fence", "only", "2", "exit", "6",
          "finalize"), 0, out="", err=JOB + r"rank 2 \(pid[^\n]* exited with status 6[^\n]*\n")
expect(on(hosts(3), "--timeout", "0.5", "sleep", "1000"), 124, out="", err=JOB + r"[^\n]*\n")
for signo in (signal.SIGINT, signal.SIGTERM):
    with Job(*on(hosts(5), CLIENT, "init", "fence", "print", "ready", "wait")) as job:
        for _ in range(5):
            check(job.proc.stdout.readline() == b"ready\n", "ranks are ready")
        job.proc.send_signal(signo)
        check(job.finish()[0] == 128 + signo, f"{signo!r} of ctranrun")
with Job(*on(hosts(3), "sh", "-c", "trap 'echo got it; exit 0' USR1; echo ready; "
             "while :; do sleep 0.01; done")) as job:
    for _ in range(3):
        check(job.proc.stdout.readline() == b"ready\n", "ranks are ready")
    job.proc.send_signal(signal.SIGUSR1)
    check(job.finish()[:2] == (0, b"got it\n" * 3), "SIGUSR1 reaches all")

# ---- processes of the launcher that die ----------------------------------------------------------


def among(job, part):
    return [p for p in job.processes() if part in cmdline(p) and "sh " not in cmdline(p)]


for part, words in (("--router", r"host n\d: ctrand was lost \([^\n]*\); its ranks are killed"),
                    ("ctrand --job", r"ctrand \(pid \d+ on host n\d\) was lost \(Killed\); its "
                     "ranks are killed")):
    for which in (0, -1):
        with Job(*on(hosts(7), CLIENT, "init", "fence", "print", "ready", "wait")) as job:
            for _ in range(7):
                check(job.proc.stdout.readline() == b"ready\n", "ranks are ready")
            found = [p for p in among(job, part)
                     if part == "--router" or "--router" not in cmdline(p)]
            check(len(found) == 7, f"{part}: {[cmdline(p) for p in found]}")
            os.kill(sorted(found)[which], signal.SIGKILL)
            status, out, err = job.finish()
            check(status == 1 and re.fullmatch(JOB + words + "\n", err.decode()),
                  f"{part} killed: {status} {err!r}")
            job.check_clean(wait=True)
for when in ("ctrand", "ready"):
    with Job(*on(hosts(7), CLIENT, "init", "fence", "print", "ready", "wait")) as job:
        if when == "ready":
            job.proc.stdout.readline()
        else:
            until(lambda: among(job, "--router"), "a router runs")
        job.proc.kill()
        job.proc.wait()
        job.check_clean(wait=True)

# ---- hosts that cannot be had --------------------------------------------------------------------

SAME = r"[^\n]*\n"
for host, words in (
        ("unknown", "host unknown cannot be reached: its agent [^\n]* status 255 [^\n]*: ssh: "
         "Could not resolve hostname unknown: Name or service not known\n"),
        ("refused", "host refused cannot be reached: [^\n]*: root@refused: Permission denied"
         r" \(publickey\)\.\n"),
        ("empty", f"host empty: ctrand cannot be started there: [^\n]*not found; install[^\n]*\n"),
        ("old", r"host old: ctrand there has version 0\.0\.7, ctranrun here has version \d"
         r"[^\n]*\n"),
        ("ancient", "host ancient: [^\n]*the sender speaks version 1 [^\n]*, and this process "
         "version 11[^\n]*\n"),
        ("chatty", "host chatty: the stream from there is not that of a ctrand "
         "[^\n]*\"Welcome to this host![^\n]*start-up file[^\n]*\n")):
    for spec in (f"{host},a", hosts(6, also=[host, "z"])):
        expect(on(spec, "sh", "-c", "echo started"), 1, out="", err=JOB + words)
expect(["--launch-agent", f"{DIR.name}/none", "-H", "a,b", "true"], 1, out="",
       err=JOB + f"host a: cannot start {DIR.name}/none: No such file or directory\n")
# What an agent has started here goes with it, whether the start fails or the host had its part.
for spec in ("forks,n1,n2,late,n4", "n0,forks,n2,late,n4"):
    expect(on(spec, "true"), 1, out="", err=JOB + "host late cannot be reached" + SAME)
expect(on(hosts(3, also=["lingers1", "lingers2"]), CLIENT, "init", "fence", "finalize"), 0,
       out="", err="")
# Named are those that are silent, not those behind them that nobody could ask; all others are up
# long before.
# Those for which a start waits are named long before, on a terminal at once. A host joins when that
# was seen.
master, slave = pty.openpty()
with Job(*on("n0,slow,n2", "true"), stderr=slave) as job:
    os.close(slave)
    os.set_blocking(master, False)
    seen = b""

    def named():
        global seen
        try:
            seen += os.read(master, 4096)
        except OSError:
            pass
        return re.search(rb"ctranrun: [0-2] of 3 hosts are ready; waiting for [^\r]*slow", seen)
    until(named, "a terminal shows for which host the start waits")
    with open(f"{DIR.name}/awake", "w"):
        pass
    check(job.proc.wait(timeout=300) == 0, "the slow host has come")
os.close(master)
WAITING = (JOB + r"0 of 6 hosts are ready, no word yet from silent1, silent2; waiting for at most "
           r"10 s \(--launch-timeout\)\n")
expect(on("silent1,n1,n2,silent2,n4,n5", "--launch-timeout", "10", "true"), 1, out="",
       err=WAITING + JOB +
       r"no word from silent1, silent2 within 10 s \(--launch-timeout\)[^\n]*\n")
expect(on("a,b", "--wdir", "/", "-n", "5", "true"), 2, out="",
       err="ctranrun: 5 ranks do not fit into the 2 slots of 2 hosts[^\n]*\n")
expect(on("a,-b", "true"), 2, out="", err='ctranrun: -H: "-b" in "a,-b" is no host[^\n]*\n')
DIR.cleanup()
print("nodes: one job on many hosts")
