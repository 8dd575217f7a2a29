# SPDX-License-Identifier: BSD-3-Clause
"""--enable-recovery: the job outlives the death of ranks; its status is that of those who live."""
import re
import socket

from launch import CLIENT, expect

HOST = re.escape(socket.gethostname())
WHO = rf"ctranrun: job [0-9a-f]{{6}}: rank %d \(pid \d+ on host {HOST}\) %s"
ON = "; the job goes on without the rank\n"


def rank_does(rank, what, others="exit 0"):
    return ["--enable-recovery", "-n", 4, "sh", "-c",
            f"test $PMIX_RANK = {rank} && {{ {what}; }}; {others}"]


# Killed ranks do not count, as long as any rank is left.
expect(rank_does(2, "kill -KILL $$"), 0, out="",
       err=WHO % (2, r"was killed by signal 9 \(Killed\)") + ON)
expect(rank_does(0, "kill -SEGV $$", "echo $PMIX_RANK | grep -c ."), 0, out="1\n1\n1\n",
       err=WHO % (0, r"was killed by signal 11 \(Segmentation fault\)") + ON)
expect(["--enable-recovery", "-n", 3, "sh", "-c", "kill -KILL $$"], 137,
       err=r"(?:[^\n]* was killed by signal 9 \(Killed\); the job goes on without the rank\n){3}")
# Other ends do: the first status that is not 0.
expect(rank_does(1, "exit 7"), 7, out="", err=WHO % (1, r"exited with status 7") + "\n")
expect(rank_does(1, "kill -KILL $$", "exit 5"), 5, out="",
       err=r"(?:ctranrun: job [^\n]*\n){2}")
expect(["-v", *rank_does(1, "kill -KILL $$", "exit 5")], 5, err=r".*( exited with status 5\n.*){3}")
# One that ends in the midst of the others is lost, however it ends.
expect(["--enable-recovery", "-n", 4, CLIENT, "init", "fence", "only", "2", "exit", "6",
        "finalize"], 0, err=WHO % (2, "exited with status 6 without ctran_finalize") + ON)
# A job can still be aborted, and ended by the time.
expect(["--enable-recovery", "-n", 3, CLIENT, "init", "fence", "only", "1", "abort", "4", "wait"],
       4, err=WHO % (1, "aborted the job with status 4.*") + "\n")
expect(["--enable-recovery", "--timeout", "0.3", "-n", 3, "sh", "-c",
        "test $PMIX_RANK = 1 && kill -KILL $$; sleep 1000"], 124)
# What a dead rank has started is part of the job, and ends with it.
expect(rank_does(1, "sleep 1000 & kill -KILL $$"), 0,
       err=WHO % (1, r"was killed by signal 9 \(Killed\)") + ON)
