# SPDX-License-Identifier: BSD-3-Clause
# lab.sh - what the tests under foreign launchers run. Sourced after lib.sh.

# lab_programs N...: first the probe of the server alone, then ctran's programs, on each number of
# ranks. lab_launch is the launcher with its options, to be followed by the number of ranks.
lab_programs()
{
    local n program
    for n in "$@"; do
        # shellcheck disable=SC2086
        expect_ok "probe of the server on $n ranks" \
            $lab_launch "$n" "$top_builddir/tests/lab/probe" || finish
        expect_contains "probe on $n ranks" "probe: $n ranks, " "$(cat "$output_")"
    done
    for program in p2p coll comm cycles; do
        for n in "$@"; do
            # shellcheck disable=SC2086
            expect_ok "$program on $n ranks" $lab_launch "$n" "$top_builddir/tests/func/$program"
        done
    done
    # Training gives the losses that it gives under ctranrun. From here on n is the last N.
    if [ -x "$top_builddir/examples/train" ] && [ -d /usr/share/datasets/fashion-mnist ]; then
        lab_train "$n"
    else
        echo "train is not compared: zlib or the data are missing"
    fi
    # Standard output is whole, and every rank's came through.
    # shellcheck disable=SC2086
    expect_ok "hello on $n ranks" $lab_launch "$n" "$top_builddir/examples/hello"
    expect_eq "lines of hello" "$n" "$(grep -c "of $n" "$output_")"
}

lab_train()
{
    local args
    args="--epochs 1 --batch 1024"
    # shellcheck disable=SC2086
    CTRAN_REPRODUCIBLE=1 expect_ok "train on $1 ranks under ctranrun" \
        "$ctranrun" -n "$1" "$top_builddir/examples/train" $args
    grep -o 'loss [0-9.]*' "$output_" >"$tmp/losses"
    # shellcheck disable=SC2086
    CTRAN_REPRODUCIBLE=1 expect_ok "train on $1 ranks" \
        $lab_launch "$1" "$top_builddir/examples/train" $args
    expect_eq "losses of train" "$(cat "$tmp/losses")" "$(grep -o 'loss [0-9.]*' "$output_")"
}
