#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# startup.sh - how long a whole job takes that only starts and ends (init, barrier, finalize), in
# milliseconds, medians of interleaved runs: ctranrun beside fork and exec alone (ctranrun with a
# program that does nothing), and beside Open MPI's mpirun with the same binary where there is one.
#
#     bench/startup.sh [BUILD_DIR] [RUNS] [RANKS...]
set -eu
build=${1:-build}
runs=${2:-5}
[ $# -le 2 ] && set -- "$build" "$runs" 2 8 32 64 128 256
shift 2
ctranrun=$build/ctranrun
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# once NAME COMMAND...: appends the milliseconds that the command took to NAME's list.
once()
{
    name=$1
    shift
    start=$(date +%s%N)
    "$@" >/dev/null 2>"$tmp/err" || { echo "$*: failed"; cat "$tmp/err"; exit 1; }
    echo $((($(date +%s%N) - start) / 1000)) >>"$tmp/$name"
}

median()
{
    sort -n "$1" | awk '{ v[NR] = $1 } END { printf "%.1f", v[int((NR + 1) / 2)] / 1000 }'
}

mpirun=$(command -v mpirun || true)
printf '%6s %12s %12s %12s %12s\n' ranks "ctran ms" "exec ms" "mpirun ms" "mpirun/ctran"
for n in "$@"; do
    rm -f "$tmp"/ctran "$tmp"/exec "$tmp"/mpirun
    i=0
    while [ "$i" -lt "$runs" ]; do
        once ctran "$ctranrun" -n "$n" "$build/bench/resident"
        once exec "$ctranrun" -n "$n" true
        if [ -n "$mpirun" ] && [ "$n" -le 64 ] && [ "$i" -lt 3 ]; then
            once mpirun "$mpirun" --allow-run-as-root --oversubscribe -n "$n" \
                "$build/bench/resident"
        fi
        i=$((i + 1))
    done
    c=$(median "$tmp/ctran")
    m=-
    [ -f "$tmp/mpirun" ] && m=$(median "$tmp/mpirun")
    printf '%6s %12s %12s %12s %12s\n' "$n" "$c" "$(median "$tmp/exec")" "$m" \
        "$([ "$m" = - ] && echo - || echo "$m $c" | awk '{ printf "%.1f", $1 / $2 }')"
done
