# SPDX-License-Identifier: BSD-3-Clause
"""What cannot be ended in the usual way: a daemon that says nothing more, processes that cannot be
killed. The launcher here is a build of less patience, since a user's waits for tens of seconds."""
import os
import re
import shutil
import signal
import tempfile

from launch import TOP, Job, check, state, until

IMPATIENT = os.path.join(TOP, "tests/launch/impatient/ctranrun")

# A rank fails; another stops the daemon when it is told to end. Nobody sets a limit, and yet it
# ends, with the first failure's status, and nothing stays.
with tempfile.TemporaryDirectory() as d:
    os.mkfifo(f"{d}/fifo")
    with Job("-n", 2, "sh", "-c", f"""
            if test $PMIX_RANK = 1; then read x <{d}/fifo; exit 5; fi
            trap 'kill -STOP $PPID; exec sleep 1000' TERM
            echo ready >{d}/fifo
            exec 2>/dev/null # where the shell tells of a sleep that the signal has ended
            while :; do sleep 0.01; done""", file=IMPATIENT) as job:
        status, out, err = job.finish()
    check(status == 5 and re.fullmatch(rb"ctranrun: job \w+: rank 1 \([^\n]*\n", err),
          f"a silent daemon: {status} {err!r}")

# A process of somebody else's cannot be killed: it is told, and the job ends all the same.
def nobody():
    os.setgid(65534)
    os.setuid(65534)


if os.getuid() != 0:
    print("stuck: a process that cannot be killed not tried: it takes the superuser to make one")
    raise SystemExit(0)
with tempfile.TemporaryDirectory() as d:
    os.chmod(d, 0o755)
    immortal = f"{d}/immortal"
    shutil.copy(os.path.join(TOP, "tests/launch/immortal"), immortal)
    os.chmod(immortal, 0o4755)
    if os.statvfs(d).f_flag & os.ST_NOSUID:
        print(f"stuck: a process that cannot be killed not tried: {d} is mounted nosuid")
        raise SystemExit(0)
    os.mkfifo(f"{d}/fifo")
    os.chmod(f"{d}/fifo", 0o666)
    for fails in (True, False):
        with tempfile.TemporaryDirectory() as tmp:
            os.chmod(tmp, 0o777)
            # The other rank fails when it is told, or the daemon is killed.
            with Job(immortal, ":", "sh", "-c", f"read x <{d}/fifo; exit 5", file=IMPATIENT,
                     env={"TMPDIR": tmp}, preexec_fn=nobody) as job:
                line = job.proc.stdout.readline().split()
                if line[:1] != [b"ready"]:
                    print(f"stuck: a process that cannot be killed not tried: {job.finish()}")
                    raise SystemExit(0)
                pid = int(line[1])
                if fails:
                    with open(f"{d}/fifo", "w") as f:
                        f.write("go\n")
                else:
                    os.kill(job.daemon(), signal.SIGKILL)
                status, out, err = job.finish()
                told = f"a process that cannot be killed: {status} {out!r} {err!r}"
                check(state(pid) == "S", told + f"; its state is {state(pid)!r}")
                os.kill(pid, signal.SIGKILL)
                until(lambda: state(pid) in ("", "Z"), "it is killed by the superuser")
                check(status == (5 if fails else 1), told)
                check(len(re.findall(rb"some processes could not be killed on host", err)) == 1,
                      told)
                check(err.count(b"\n") == 2, told)
                check(not os.listdir(tmp), f"files are left: {os.listdir(tmp)}")
print("stuck: ended all the same")
