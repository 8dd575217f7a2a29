# SPDX-License-Identifier: BSD-3-Clause
"""Tables of algorithms as text, in ctran-tuning(7)'s format, and what the one in force chooses:
what ctran_perf --tune and ctran_sim_tune have in common.
"""
import json
import os
from math import isqrt

import libraries
from report import size  # as rows have it: 64K, or 1000

# Collective -> whether its vector has a block for each rank.
COLLECTIVES = {
    "barrier": False,
    "bcast": False,
    "reduce": False,
    "allreduce": False,
    "allgather": True,
    "reduce_scatter": True,
    "gather": True,
    "scatter": True,
    "alltoall": True,
    "scan": False,
    "exscan": False,
}


def check(collectives):
    unknown = [c for c in collectives if c not in COLLECTIVES]
    if unknown:
        raise libraries.Trouble(f"no such collective: {', '.join(unknown)}; there are: "
                                f"{', '.join(COLLECTIVES)}")


# ---- the table in force --------------------------------------------------------------------------


def named(entry):
    return entry["algorithm"] + (f":{entry['radix']}" if entry["radix"] != 2 else "")


def environment(**settings):
    """Ours without what would choose in place of what is forced."""
    kept = {k: v for k, v in os.environ.items() if k != "CTRAN_COLL_ALGORITHM"}
    return {**kept, "CTRAN_REPRODUCIBLE": "0", **settings}


class Now:
    """What runs where, as ctran_info knows it by the table in force."""

    def __init__(self, info):
        self.info = info
        told = self.ask("--tuning").splitlines()
        self.source, self.rows = told[0].lstrip("# "), told[1:]

    def ask(self, *options):
        return libraries.run([self.info, *options], "ctran_info", 60, environment())

    def choices(self, collective, ranks, size, nodes=1):
        options = ["--coll", collective, "--ranks", str(ranks), "--size", str(size), "--nodes",
                   str(nodes), "--json"]
        return json.loads(self.ask(*options))["choices"]


# ---- rows ----------------------------------------------------------------------------------------


def spans(values):
    """value -> (least, most) that go by it: up to half way to the next, in proportion; from 0 on,
    and up to the last."""
    v = sorted(set(values))
    upper = [isqrt(a * b) if a > 0 else b - 1 for a, b in zip(v, v[1:])] + v[-1:]
    lower = [0] + [u + 1 for u in upper[:-1]]
    return {x: span for x, *span in zip(v, lower, upper)}


def condition(fact, least, most, text):
    """least 0 and most None are no limits."""
    if least == most:
        return f" {fact}={text(most)}"
    lower = f" {fact}>={text(least)}" if least > 0 else ""
    return lower + (f" {fact}<={text(most)}" if most is not None else "")


def split(rows):
    """Rows of the shm_coll that come before all others of their collective, and the rest: what is
    found for ranks without a shm_coll goes between."""
    first, rest, closed = [], [], set()
    for row in rows:
        words = row.split()
        leading = "shm" in words[1:] and words[0] not in closed
        (first if leading else rest).append(row)
        if not leading:
            closed.add(words[0])
    return first, rest


def text_of(about, parts):
    """A table: lines for its head, and (title, lines) of its parts, of which those without lines
    are left out."""
    text = "".join(f"# {line}\n" for line in about)
    for title, lines in parts:
        if lines:
            text += f"\n# {title}\n" + "".join(f"{line}\n" for line in lines)
    return text
