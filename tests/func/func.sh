# SPDX-License-Identifier: BSD-3-Clause
# func.sh - rank counts and settings that the tests of the public calls go through. Sourced after
# lib.sh.

# Powers of two and their neighbours, more ranks than cores.
if [ "$CT_CHECK_QUICK" = 1 ]; then
    func_ranks="1 2 5"
elif [ "$CT_SOAK" = 1 ]; then
    func_ranks="1 2 3 4 5 6 7 8 9 15 16 17 32 48"
elif [ "$CT_SANITIZER" != none ]; then
    func_ranks="1 2 3 5 8"
else
    func_ranks="1 2 3 4 5 8 16"
fi

# func_subject NAME: the program on every rank count, with default settings.
func_subject()
{
    local n
    for n in $func_ranks; do
        run_ranks "$n" "$top_builddir/tests/func/$1"
    done
}

# func_forced NAME RANKS PATTERN SETTINGS: the program once for each collective that matches, with
# each of its algorithms (forced.h), all of which the table has for so many ranks in groups of two.
func_forced()
{
    local table collective
    expect_ok "the table for $2 ranks" "$top_builddir/tests/func/algos" "$2" 2
    table=$(grep -E "$3" "$output_")
    expect_contains "the table for $2 ranks" "allreduce:" "$table"
    for collective in $(echo "$table" | cut -d : -f 1 | sort -u); do
        with_settings "$4 CT_FORCED=$collective" \
            run_ranks "$2" "$top_builddir/tests/func/$1"
        expect_eq "algorithms for $collective that $1 ran on $2 ranks" \
            "$(echo "$table" | grep "^$collective:")" "$(grep "^$collective:" "$output_")"
    done
}

# func_forced_at_once NAME RANKS SETTINGS: the same for all collectives, in one job.
func_forced_at_once()
{
    local table
    expect_ok "the table for $2 ranks" "$top_builddir/tests/func/algos" "$2" 2
    table=$(cat "$output_")
    expect_contains "the table for $2 ranks" "allreduce:" "$table"
    with_settings "$3 CT_FORCED=all" run_ranks "$2" "$top_builddir/tests/func/$1"
    expect_eq "algorithms that $1 ran on $2 ranks with $3" "$table" "$(grep ':' "$output_")"
}
