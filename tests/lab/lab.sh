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
    # Training gives the losses that it gives under ctranrun.
    if [ -x "$top_builddir/examples/train" ] && [ -d /usr/share/datasets/fashion-mnist ]; then
        expect_ok "train under ctranrun" \
            "$ctranrun" -n 4 "$top_builddir/examples/train" --epochs 1
        grep -o 'loss [0-9.]*' "$output_" >"$tmp/losses"
        # shellcheck disable=SC2086
        expect_ok "train on 4 ranks" $lab_launch 4 "$top_builddir/examples/train" --epochs 1
        expect_eq "losses of train" "$(cat "$tmp/losses")" "$(grep -o 'loss [0-9.]*' "$output_")"
    else
        echo "train is not compared: zlib or the data are missing"
    fi
    # Standard output is whole, and every rank's came through.
    n=4
    # shellcheck disable=SC2086
    expect_ok "hello on $n ranks" $lab_launch "$n" "$top_builddir/examples/hello"
    expect_eq "lines of hello" "$n" "$(grep -c "of $n" "$output_")"
}
