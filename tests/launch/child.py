# SPDX-License-Identifier: BSD-3-Clause
"""Programs that a rank starts have its environment. They are not the rank: one that uses ctran is
refused at once, and what one that uses PMIx says of its end is not said of the rank."""
import os
import re

from launch import CLIENT, TOP, check, expect, run

PARENT = os.path.join(TOP, "tests/launch/parent")
HELLO = os.path.join(TOP, "examples/hello")
SAYS = (r"[^\n]* process \d+ is rank {0} of job \w+ already, and this process, \d+, which has its "
        r"environment, cannot be that rank, too: [^\n]*\n")
LEFT = r"ctranrun: job \w+: rank \d [^\n]* without ctran_finalize[^\n]*\n"

for n in (1, 2):
    status, out, err = run("-n", n, PARENT, "finalize", f"{HELLO} || exit 9")
    check((status, out) == (0, "9\n" * n), f"children of {n} ranks: {(status, out, err)}")
    for rank in range(n):
        check(len(re.findall(SAYS.format(rank), err)) == 1, f"what rank {rank}'s child says: {err}")
    # The rank that does not finalize has failed, whatever its child did.
    status, out, err = run("-n", n, PARENT, "exit", f"{HELLO} || exit 9")
    check(status == 1 and re.search(LEFT, err), f"{n} ranks exit: {(status, out, err)}")

# A child that uses PMIx, and nothing of ctran, comes and goes as the rank; or it dies.
status, out, err = run(PARENT, "exit", f"{CLIENT} init finalize")
check(status == 1 and out == "0\n" and re.search(LEFT, err), f"a PMIx client: {(status, out, err)}")
expect([PARENT, "finalize", f"{CLIENT} init finalize"], 0, out="0\n", err="")
expect([PARENT, "finalize", f"{CLIENT} init exit 7"], 0, out="7\n", err="")
# One after the other they may: a script that tries again, a program that starts ctran later.
expect([PARENT, "late", HELLO + " >/dev/null"], 0, out="0\n", err="")
expect(["sh", "-c", f"{CLIENT} init exit 7; {HELLO} && exec {HELLO}"], 0, err="")
status, out, err = run("sh", "-c", f"{HELLO} && {PARENT} exit true")
check(status == 1 and re.search(LEFT, err), f"the last one does not finalize: {(status, out, err)}")
# A job of its own, and a job of one, are no ranks of this one.
inner = os.path.abspath(os.path.join(TOP, "ctranrun"))
expect([PARENT, "finalize", f"{inner} -n 2 {HELLO} >/dev/null"], 0, out="0\n", err="")
expect(["-n", 2, PARENT, "finalize", f"env -u PMIX_NAMESPACE {HELLO} >/dev/null"], 0,
       out="0\n0\n", err="")
