# SPDX-License-Identifier: BSD-3-Clause
"""PMIx_Spawn, PMIx_Connect and PMIx_Disconnect, on one node and on several; parents and children
are pmixspawner.c. The nodes are made up, as in nodes.py."""
import ctypes
import os
import re
import signal
import socket
import tempfile

from launch import TOP, Job, check, cmdline, expect, run, until

SPAWNER = os.path.abspath(os.path.join(TOP, "tests/launch/pmixspawner"))
DIR = tempfile.TemporaryDirectory(prefix="ctran-test-")
AGENT = f"{DIR.name}/agent"
with open(AGENT, "w") as f:
    f.write('#!/bin/sh\nshift\nexec "$@"\n')
os.chmod(AGENT, 0o755)
HOLDING = f"{DIR.name}/holding"
with open(HOLDING, "w") as f:
    f.write(f'''#!/bin/sh
if rm {DIR.name}/hold 2>/dev/null; then
    echo held >{DIR.name}/held
    read x <{DIR.name}/go
fi
shift
exec "$@"
''')
os.chmod(HOLDING, 0o755)
os.mkfifo(f"{DIR.name}/held")
os.mkfifo(f"{DIR.name}/go")
with open(f"{DIR.name}/text", "w") as f:
    f.write("no program\n")
NODES = ["--launch-agent", AGENT, "--fan-out", 2, "-H", "a:2,b:1,c:3"]
FAMILY_FD = 4  # of the head of a spawned job: its stream to the one above
SYS_PIDFD_GETFD = 438
HERE = socket.gethostname()
PLACES = [(["-n", 2], {5: [HERE] * 5})]
if "without libsodium" not in run(*NODES, "true")[2]:
    PLACES.append((NODES, {5: list("aabbc")}))


def children(out, n, where, parent=0, cwd=None):
    """What a job of n children printed: all of them, whole, and the word of their parent."""
    want = [f"child {r} of {n} on {where[r]}, parent {parent}, as told, {cwd or os.getcwd()}"
            for r in range(n)] + ["SUCCESS"]
    check(sorted(out.splitlines()) == sorted(want), f"children: {out}\n expected {want}")


def put_in(pid, fd, data):
    """Writes to a descriptor of another process; False where the kernel does not let us."""
    process = os.pidfd_open(pid)
    copy = ctypes.CDLL(None, use_errno=True).syscall(SYS_PIDFD_GETFD, process, fd, 0)
    os.close(process)
    if copy >= 0:
        check(os.write(copy, data) == len(data), "all is written")
        os.close(copy)
    return copy >= 0


def is_daemon(pid):
    words = cmdline(pid).split(" ")
    return os.path.basename(words[0]).endswith("ctrand") and "--router" not in words


for place, where in PLACES:
    children(expect([*place, SPAWNER, "parent", 5, "-", SPAWNER, "child"], 0, err="")[1], 5,
             where[5])
    # Two programs of one job, in another directory; a job in a job; and after its parents' end.
    children(expect([*place, "-x", "TWICE=1", "-x", "CHILD_DIR=/", SPAWNER, "parent", 2, "-",
                     SPAWNER, "child"], 0, err="")[1], 4, ["a", "a", "b", "c"] if
             place == NODES else [HERE] * 4, cwd="/")
    got = expect([*place, SPAWNER, "parent", 1, "-", SPAWNER, "parent", 2, "-", SPAWNER, "child"],
                 0, err="")[1].splitlines()
    check(got.count("SUCCESS") == 2 and sum(g.startswith("child ") for g in got) == 2,
          f"a job in a job: {got}")
    fifo = f"{DIR.name}/fifo{len(place)}"
    os.mkfifo(fifo)
    with Job(*place, SPAWNER, "parent", 1, "-", "sh", "-c", f"read x <{fifo}; echo last") as job:
        check(job.proc.stdout.readline() == b"SUCCESS\n", "a child runs")
        until(lambda: not any(cmdline(p).startswith(SPAWNER) for p in job.processes()),
              "its parents have ended")
        with open(fifo, "w", encoding="ascii") as f:
            f.write("go\n")
        check(job.finish() == (0, b"last\n", b""), "a job that lasts longer than its parents")
    # What ranks of one job publish is found by those of the other, and of one below that.
    for deep in ([], ["-x", "DEEP=1"]):
        got = expect([*place, *deep, SPAWNER, "share", 3], 0, err="")[1]
        check(got == "shared\n" * (2 if deep else 1), f"jobs that share {deep}: {got}")
    # A job knows those that were spawned after it, also for the jobs that it spawns; and those that
    # were spawned while its nodes were still being reached.
    check(expect([*place, SPAWNER, "family"], 0, err="")[1] == "family\n", "a family")
    if place == NODES:
        check(expect(["--launch-agent", HOLDING, *place[2:], "-x", f"HOLD={DIR.name}", SPAWNER,
                      "family"], 0, err="")[1] == "family\n", "an elder that comes late")
    # Who waits for a limited time is told once, and has not come.
    check(expect([*place, SPAWNER, "timeout"], 0, err="")[1] == "timeout\n", "PMIX_TIMEOUT")
    # Whoever waits for ranks of a job that ends is told.
    check(expect([*place, SPAWNER, "left", 3], 0, err="")[1] == "left alone\n", "a job left alone")
    # A job that is over is forgotten by all nodes of all jobs.
    check(expect([*place, SPAWNER, "forgotten", 3], 0, err="")[1] == "forgotten\n", "forgotten")
    # So is one that is lost while somebody asks about it, and nobody waits for it in vain.
    with Job("--enable-recovery", *place, SPAWNER, "bereft") as job:
        check(job.proc.stdout.readline() == b"asked\n", "a rank asks about a job")
        heads = [p for p in job.processes() if "ctranrun" in cmdline(p) and p != job.proc.pid]
        os.kill(heads[0], signal.SIGKILL)
        status, out, err = job.finish()
        check((status, out) == (137, b"bereft\n"), f"a job that is lost: {status} {out} {err}")
    # Nodes whose ranks have ended, and whose daemons are gone, know nothing of a job and are not
    # waited for.
    with Job(*place, SPAWNER, "late", fifo) as job:
        until(lambda: len(job.ranks("pmixspawner")) == 1 and sum(
            is_daemon(p) for p in job.processes()) == 1, "one rank is left, and its daemon")
        for answer in (b"late\n", b"last\n"):
            with open(fifo, "w", encoding="ascii") as f:
                f.write("last\n")
            check(job.proc.stdout.readline() == answer, "a job that is spawned late")
        check(job.finish() == (0, b"", b""), "its end")
    # Tags tell whose lines they are, and a line is a line.
    got = expect([*place, "--tag-output", SPAWNER, "parent", 3, "-", "seq", 5000], 0, err="")[1]
    check(sorted(got.splitlines()) == sorted(
        ["[0] SUCCESS"] + [f"[1:{r}] {i}" for r in range(3) for i in range(1, 5001)]),
        f"tags: {got[:200]}")
    # Files of output are the spawned job's own.
    with tempfile.TemporaryDirectory() as d:
        expect([*place, "--output-dir", d, SPAWNER, "parent", 2, "-", "sh", "-c",
                "echo $PMIX_RANK"], 0, err="")
        check([open(f"{d}/spawned.1/rank.{r}/stdout", encoding="ascii").read() for r in (0, 1)] ==
              ["0\n", "1\n"] and os.path.exists(f"{d}/rank.0/stdout"), f"files: {os.listdir(d)}")
    # What cannot be started harms nobody but the caller's hopes.
    for what, word in (("/no/such/program", "EXECUTABLE NOT FOUND"),
                       (f"{DIR.name}/text", "")):
        got = run(*place, SPAWNER, "parent", 2, "-", what)
        check(got[0] == 0 and got[1] != "SUCCESS\n" and word in got[1] and
              re.fullmatch(r"ctranrun: [^\n]*\n", got[2]), f"{what}: {got}")
    for hosts in ("nowhere", "1@-"):
        got = run(*place, SPAWNER, "parent", 9, hosts, "true")
        check(got[0] == 0 and "SUCCESS" not in got[1] and got[2] == "", f"on {hosts}: {got}")
    # One that fails later ends all with its status, and its children do not outlive a parent.
    SAYS = r"ctranrun: job \w+: "
    expect([*place, "-x", "STAY=1", SPAWNER, "parent", 2, "-", "sh", "-c", "exit 7"], 7,
           err=SAYS + r"rank [01] [^\n]* status 7\n" + SAYS +
           r"job \w+, which rank 0 spawned, failed with status 7; this job is ended\n")
    got = run("--enable-recovery", *place, SPAWNER, "parent", 1, "-", "sh", "-c", "exit 7")
    check(got[0] == 7 and "this job goes on" in got[2], f"with --enable-recovery: {got}")
    for signo, status in ((signal.SIGTERM, 143), (signal.SIGKILL, -9)):
        with Job(*place, "-x", "STAY=1", SPAWNER, "parent", 3, "-", "sleep", 1000) as job:
            check(job.proc.stdout.readline() == b"SUCCESS\n", "children run")
            # Said to be started they are forked; one may not have got to its program yet.
            until(lambda: sum(cmdline(p).startswith("sleep 1000")
                              for p in job.processes()) == 3, "three of them")
            job.proc.send_signal(signo)
            check(job.finish()[0] == status, f"{signo!r} of ctranrun")
            job.check_clean(wait=True)
    expect([*place, "--timeout", 1, SPAWNER, "parent", 1, "-", "sleep", 1000], 124,
           err=r"[^\n]*\(--timeout\)[^\n]*\n")
    # The head of children is killed.
    with Job(*place, "-x", "STAY=1", SPAWNER, "parent", 1, "-", "sleep", 1000) as job:
        check(job.proc.stdout.readline() == b"SUCCESS\n", "children run")
        heads = [p for p in job.processes() if "ctranrun" in cmdline(p) and p != job.proc.pid]
        check(len(heads) == 1, f"heads: {[cmdline(p) for p in heads]}")
        os.kill(heads[0], signal.SIGKILL)
        status, out, err = job.finish()
        check(status == 137 and b"which rank 0 spawned, failed with status 137" in err,
              f"a killed head: {status} {err}")
        job.check_clean()
    # One whose words make no sense ends the job: ranks would wait for its answers.
    with Job(*place, "-x", "STAY=1", SPAWNER, "parent", 1, "-", "sleep", 1000) as job:
        check(job.proc.stdout.readline() == b"SUCCESS\n", "children run")
        heads = [p for p in job.processes() if "ctranrun" in cmdline(p) and p != job.proc.pid]
        if put_in(heads[0], FAMILY_FD, b"no word of the protocol"):
            status, out, err = job.finish()
            check(status == 1 and b"cannot go on with the job that a rank has spawned: no message"
                  in err, f"a head without sense: {status} {err}")
            job.check_clean()
        else:
            print("spawn: a head's stream cannot be written to here; one part left out")
    # Ranks that do not care about being asked are killed in the second step, with all else, and
    # nothing is left when ctranrun is gone.
    with Job(*place, "-x", "STAY=1", SPAWNER, "parent", 2, "-", "sh", "-c",
             "trap '' INT; echo up; sleep 1000") as job:
        check(sorted(job.proc.stdout.readline() for _ in range(3)) ==
              [b"SUCCESS\n", b"up\n", b"up\n"], "children that ignore SIGINT")
        job.proc.send_signal(signal.SIGINT)
        check(job.finish()[0] == 130, "SIGINT of ctranrun")
        job.check_clean()
    # One that is stopped keeps nobody: neither who ends the job, nor a job that ends by itself.
    for file, what, status in (("ctranrun", None, 143),
                               ("tests/launch/impatient/ctranrun", 9, 137)):
        with Job(*place, "-x", "STAY=1", SPAWNER, "parent", 1, "-", "sleep", 1000,
                 file=os.path.join(TOP, file)) as job:
            check(job.proc.stdout.readline() == b"SUCCESS\n", "children run")
            heads = [p for p in job.processes() if "ctranrun" in cmdline(p) and p != job.proc.pid]
            os.kill(heads[0], signal.SIGSTOP)
            if what is None:
                job.proc.send_signal(signal.SIGTERM)
            else:
                os.kill(job.ranks("pmixspawner")[0], what)
            ended, out, err = job.finish()
            check(ended == status and b"could not be killed" not in err,
                  f"a stopped head, {file}: {ended} {out} {err}")
            job.check_clean()
    expect([*place, SPAWNER, "connect"], 0, out="", err="")
# So many at a time, and no more.
got = run("-n", 2, SPAWNER, "many", "sleep")
check(got[0] == 3 and got[1].startswith("64 OUT-OF-RESOURCE\n") and got[2].count("\n") == 1,
      f"many: {got}")
if len(PLACES) > 1:
    got = expect([*NODES, SPAWNER, "parent", 3, "2@c,a", SPAWNER, "child"], 0, err="")[1]
    children(got, 3, ["a", "a", "c"])
DIR.cleanup()
print("spawn: jobs in jobs")
