# SPDX-License-Identifier: BSD-3-Clause
"""More ranks than cores: 64 (CT_MANY) ranks start, meet, read each other's data and end."""
import os
import time

from launch import CLIENT, check, run

N = int(os.environ.get("CT_MANY", "64"))
for args in (["true"], [CLIENT, "init", "fence", "finalize"],
             [CLIENT, "init", "put", "collect", "getall", "finalize"],
             ["-x", f"EXPECT_RANKS={N}", CLIENT, "init", "info", "fence", "finalize"]):
    t0 = time.monotonic()
    got = run("-n", N, *args)
    check(got == (0, "", ""), f"{args}: {got}")
    print(f"{N} ranks of {' '.join(map(os.path.basename, args))}: {time.monotonic() - t0:.3f} s")
got = run("-n", N, "sh", "-c", "echo $PMIX_RANK")
check(sorted(map(int, got[1].split())) == list(range(N)), "a line of every rank")
