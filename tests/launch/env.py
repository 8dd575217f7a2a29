# SPDX-License-Identifier: BSD-3-Clause
"""What reaches the ranks: environment, settings, directory, binding, limits, signals."""
import os
import re
import resource
import signal
import subprocess

from launch import CTRANRUN, TOP, Job, check, cmdline, expect, run

SHOW = ["sh", "-c", "printf '%s|%s\\n' \"$A\" \"$B\""]
expect(["-n", "2", "-x", "A=1 2=3", "-x", "B", *SHOW], 0, out="1 2=3|from outside\n" * 2, err="",
       env={"B": "from outside", "A": "overridden"})
expect(["-x", "A=", "-x", "B=x", "-x", "B=last", *SHOW], 0, out="|last\n", err="")

got = run("--set", "EAGER_LIMIT=64K", "--set", "CTRAN_LOG=info",
          "sh", "-c", "printf %s \"$CTRAN_SET\"")
check(got == (0, "CTRAN_EAGER_LIMIT=64K\nCTRAN_LOG=info\n", ""), f"CTRAN_SET came as {got}")
got = run("--set", "SPIN=1", "sh", "-c", "printf %s \"$CTRAN_SET\"",
          env={"CTRAN_SET": "CTRAN_SPIN=0"})
check(got == (0, "CTRAN_SPIN=0\nCTRAN_SPIN=1\n", ""), f"the settings of an outer job came as {got}")

status, out, err = run("-n", "3", "sh", "-c", "echo $CTRAN_JOB_ID")
ids = set(out.split())
check(status == 0 and len(ids) == 1 and re.fullmatch("[0-9a-f]{6}", ids.pop()), f"job id: {out!r}")

# Numbers for scripts, those of an outer job and of -x notwithstanding.
NUMBERS = ["sh", "-c", "echo $CTRAN_RANK $CTRAN_SIZE $CTRAN_LOCAL_RANK $CTRAN_LOCAL_SIZE"]
got = run("-n", 2, "-x", "CTRAN_SIZE=9", *NUMBERS, ":", *NUMBERS, env={"CTRAN_RANK": "7"})
check(got[0] == 0 and sorted(got[1].splitlines()) == [f"{r} 3 {r} 3" for r in range(3)],
      f"CTRAN_RANK and the like: {got}")
# The library knows them and warns of none, in a program that nobody has started as a rank too.
for args in ([], ["-n", 2]):
    got = expect([*args, os.path.join(TOP, "examples/hello")], 0, err="",
                 env={"CTRAN_RANK": "7", "CTRAN_SIZE": "9", "CTRAN_LOCAL_RANK": "7",
                      "CTRAN_LOCAL_SIZE": "9"})

# As ctranrun(1) describes it; empty without libsodium.
status, out, err = run("-n", "1", "sh", "-c", "echo \"$PMIX_NAMESPACE $CTRAN_JOB_STORE\"")
nspace, _, store = out.rstrip("\n").partition(" ")
check(store == "" or re.fullmatch(re.escape(nspace) + r"\|\S+:\d+(,\S+:\d+)*", store),
      f"the store of {nspace}: {store!r}")

# Without a loopback interface there is no PMIx server.
if subprocess.run(["unshare", "-n", "true"], capture_output=True).returncode == 0:
    with Job("-n", CTRANRUN, "-n", "2", "true", file="unshare") as job:
        status, out, err = job.finish()
    told = rb'cannot start the PMIx server: [^\n]*; the loopback [^\n]* "ip link set lo up"\n'
    check(status == 1 and re.search(told, err), f"no loopback: {err!r}")
else:
    print("not tested: a machine without loopback, as unshare -n is not allowed here")

expect(["--wdir", "/usr", "pwd"], 0, out="/usr\n", err="")

# A PMIx server above must not show through.
status, out, err = run("sh", "-c", "echo $PMIX_NAMESPACE $PMIX_RANK $PMIX_OUTER",
                       env={"PMIX_NAMESPACE": "outer", "PMIX_RANK": "7", "PMIX_OUTER": "x"})
check(re.fullmatch(r"ctran-[0-9a-f]{6}-[0-9a-f]{32} 0\n", out),
      f"PMIx's variables came as {out!r}")

# Our choice of a store of libpmix is not handed on, the user's is.
expect(["sh", "-c", "echo ${PMIX_MCA_gds-none}"], 0, out="none\n")
expect(["sh", "-c", "echo $PMIX_MCA_gds"], 0, out="hash\n", env={"PMIX_MCA_gds": "hash"})

# The namespace lets one into the job: its second part is known to the job alone, and never twice
# the same. Nobody else sees it: not in a command line, not in the names of files they may list.
with Job("-n", 2, "sh", "-c", "echo $PMIX_NAMESPACE; read x; true",
         stdin=subprocess.PIPE) as job:
    secret = job.proc.stdout.readline().decode().split("-")[-1].strip()
    check(len(secret) == 32 and secret not in out, f"the namespace's end {secret!r}, after {out!r}")
    for pid in [job.proc.pid, job.daemon(), *job.ranks("sh")]:
        check(secret not in cmdline(pid), f"the namespace in {cmdline(pid)!r}")
    for name in os.listdir(job.tmp):
        check(secret not in name and os.stat(f"{job.tmp}/{name}").st_mode & 0o77 == 0,
              f"the session directory {name}")
    job.finish(b"\n")

# A variable for some ranks, with their numbers in it; it comes after -x, and the last counts.
got = run("-n", 4, "-x", "A=all", "--env-rank", "0,2-3:A=%r of %n, %l %% %x",
          "--env-rank", "3:A=last", "--env-rank", "all:B=%r%r", *SHOW)
check(sorted(got[1].split("\n")) == sorted(["", "0 of 0, 0 % %x|00", "all|11", "2 of 0, 2 % %x|22",
                                            "last|33"]) and got[2] == "", f"--env-rank: {got}")

# The ranks' limits and signals are ours, not the daemon's.
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
lower = min(256, soft)
def limits():
    resource.setrlimit(resource.RLIMIT_NOFILE, (lower, hard))
expect(["-n", "1", "sh", "-c", "ulimit -n"], 0, out=f"{lower}\n", err="", preexec_fn=limits)
# (the 31 ordinary ones; the C library keeps some of the others for itself)
SIGNALS = ["sh", "-c", "grep -E 'SigBlk|SigIgn' /proc/self/status | grep -o '.[0-9a-f]\\{7\\}$'"]
mask = lambda text: [int(w, 16) & 0x7fffffff for w in text.split()]
def ignore():
    for signo in (signal.SIGHUP, signal.SIGINT):
        signal.signal(signo, signal.SIG_IGN)
for before in (None, ignore):
    plain = subprocess.run(SIGNALS, capture_output=True, text=True, preexec_fn=before).stdout
    got = run(*SIGNALS, preexec_fn=before)[1]
    check(len(mask(got)) == 2 and mask(got) == mask(plain),
          f"signals of a rank: {got!r}, without ctranrun {plain!r}")

status, out, err = run("-v", "-n", "2", "true")
check(status == 0 and out == "" and "rank 1 is pid" in err and "2 ranks started" in err,
      f"-v: {err!r}")
with Job("-n", "1", "sleep", "1000") as job:
    pid = job.daemon()
    with open(f"/proc/{pid}/cmdline", "rb") as f:
        words = f.read().split(b"\0")
    check(words[0] == b"ctrand" and words[1] == b"--job" and re.fullmatch(b"[0-9a-f]{6}", words[2]),
          f"ctrand's command line is {words}")
    names = os.listdir(job.tmp)
    while not names:
        names = os.listdir(job.tmp)
    check(len(names) == 1 and words[2].decode() in names[0], f"session directory: {names}")
    mode = os.stat(os.path.join(job.tmp, names[0])).st_mode & 0o777
    check(mode == 0o700, f"mode of the session directory: {mode:o}")
    job.proc.send_signal(signal.SIGTERM)
    job.finish()
print("env: environment, settings, binding, limits as expected")
