# SPDX-License-Identifier: BSD-3-Clause
"""Medians, and intervals that assume nothing about how figures are distributed.

The interval of a median comes from the sign test: between which of the sorted values the median of
all possible runs lies with at least the wanted probability. It is exact, needs no random numbers,
and one bad run among twenty moves it no further than to its neighbour. Below six values there is
none at 95 %.
"""
from math import comb


def median(values):
    v = sorted(values)
    if not v:
        raise ValueError("median of nothing")
    return (v[(len(v) - 1) // 2] + v[len(v) // 2]) / 2


def interval(values, level=0.95):
    """(low, high) of the median at `level`, or None where there are too few values."""
    v = sorted(values)
    n = len(v)
    tail, cut = 0, -1  # `cut` + 1 values may be left out at each end
    for k in range(n // 2):
        tail += comb(n, k)
        if 2 * tail > (1 - level) * 2**n:
            break
        cut = k
    return None if cut < 0 else (v[cut], v[n - 1 - cut])


def ratios(ours, theirs, more_is_better):
    """How many times better ours is, pair by pair: above 1 we win."""
    if len(ours) != len(theirs):
        raise ValueError(f"{len(ours)} figures beside {len(theirs)}")
    pairs = [(a, b) for a, b in zip(ours, theirs) if a > 0 and b > 0]
    return [a / b if more_is_better else b / a for a, b in pairs]


def verdict(bounds):
    """Who is better, by the interval of the ratio: "ctran", "peer", or "-" for undecided."""
    if bounds is None or bounds[0] <= 1 <= bounds[1]:
        return "-"
    return "ctran" if bounds[0] > 1 else "peer"
