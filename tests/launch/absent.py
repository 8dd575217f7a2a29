# SPDX-License-Identifier: BSD-3-Clause
"""A rank that ends well before it has called ctran_init: the others, which would wait for it, hear
so from the launcher, on its host and elsewhere, and the job fails with a line that names the rank.
Jobs whose programs do not use ctran know nothing of that."""
import os
import re
import tempfile

from launch import TOP, check, expect, run

HELLO = os.path.join(TOP, "examples/hello")
SAYS = (r"[^\n]* error pmi: the ranks of job \w+ did not all start: rank 1 has ended with status 0 "
        r"before it called ctran_init\n")
ONE_GOES = ["sh", "-c", f"[ $PMIX_RANK = 1 ] || exec {HELLO}"]

with tempfile.TemporaryDirectory(prefix="ctran-test-") as folder:
    agent = f"{folder}/agent"
    with open(agent, "w") as f:
        f.write('#!/bin/sh\nshift\nexec "$@"\n')
    os.chmod(agent, 0o755)
    for where in (["-n", 2], ["-n", 3], ["-H", "a:1,b:1", "--launch-agent", agent],
                  ["-H", "a:2,b:1", "--launch-agent", agent],
                  ["-H", "a:1,b:2", "--launch-agent", agent]):
        status, out, err = run(*where, *ONE_GOES)
        check((status, out) == (1, "") and re.search(SAYS, err), f"{where}: {(status, out, err)}")
        # It goes when the others wait already.
        late = ["sh", "-c", f"[ $PMIX_RANK != 1 ] || {{ until [ -e {folder}/here ]; do sleep 0.01; "
                f"done; exit 0; }}; : >{folder}/here; exec {HELLO}"]
        status, out, err = run(*where, *late)
        check((status, out) == (1, "") and re.search(SAYS, err), f"{where}: {(status, out, err)}")
        os.unlink(f"{folder}/here")
        expect([*where, "true"], 0, out="", err="")
