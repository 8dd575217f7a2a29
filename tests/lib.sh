# SPDX-License-Identifier: BSD-3-Clause
# lib.sh - helpers for the *.test scripts, which source it first. POSIX sh, plus `local`.
#
# make check sets top_srcdir, top_builddir, CC and CT_SANITIZER; by hand, from a build folder:
# top_srcdir=.. top_builddir=. sh ../tests/func/p2p.test. What may vary a run:
#   CT_CHECK_QUICK=1   fewer rank counts and smaller ranges (distcheck, sanitizers)
#   CT_SOAK=1          longer forms (./check --soak)
#   CT_LIMIT=300       seconds that one run of a program may take: only a hang reaches it
# A script ends through `finish`; every failed expectation is printed with both values and makes
# the script fail there, so one run shows all of them.
set -u
: "${top_srcdir:=.}" "${top_builddir:=.}" "${CC:=cc}" "${CT_SANITIZER:=none}"
: "${CT_CHECK_QUICK:=0}" "${CT_SOAK:=0}" "${CT_LIMIT:=300}"
export top_srcdir top_builddir CC CT_SANITIZER
export LC_ALL=C # messages and the order of sorted lines are the same everywhere
failures=0
checks=0
case $CT_SANITIZER in
none) ;;
*) CT_LIMIT=$((CT_LIMIT * 2)) ;; # an instrumented program is several times slower
esac
[ "$CT_SOAK" = 0 ] || CT_LIMIT=$((CT_LIMIT * 10))
if [ "$CT_SANITIZER" != none ]; then
    : "${ASAN_OPTIONS=abort_on_error=0:detect_leaks=1}"
    : "${UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1}"
    : "${LSAN_OPTIONS=suppressions=$top_srcdir/tests/suppressions/lsan.supp:print_suppressions=0}"
    tsan_options_=halt_on_error=1:atexit_sleep_ms=10 # a second for each process, otherwise
    : "${TSAN_OPTIONS=$tsan_options_:suppressions=$top_srcdir/tests/suppressions/tsan.supp}"
    export ASAN_OPTIONS UBSAN_OPTIONS LSAN_OPTIONS TSAN_OPTIONS
fi

# skip REASON...: ends the script as skipped, naming what is missing.
skip()
{
    echo "SKIP: $*"
    exit 77
}

# Counts one failure and prints it.
fail()
{
    echo "FAIL: $*"
    failures=$((failures + 1))
}

# expect_eq WHAT WANTED FOUND
expect_eq()
{
    checks=$((checks + 1))
    [ "$2" = "$3" ] || fail "$1
  wanted: $2
  found:  $3"
}

# expect_contains WHAT PART TEXT: PART, a fixed string, occurs in TEXT.
expect_contains()
{
    checks=$((checks + 1))
    case $3 in
    *"$2"*) ;;
    *) fail "$1
  wanted: a text with '$2'
  found:  $3" ;;
    esac
}

# expect_file PATH...: each exists and is not empty.
expect_file()
{
    for file in "$@"; do
        checks=$((checks + 1))
        [ -s "$file" ] || fail "file
  wanted: $file
  found:  no such file, or an empty one"
    done
}

# expect_ok WHAT COMMAND...: the command succeeds within CT_LIMIT; its output is shown if not.
expect_ok()
{
    local what
    what=$1
    shift
    capture "$@"
    checks=$((checks + 1))
    [ "$status_" -eq 0 ] && return 0
    fail "$what
  command: $*
  wanted: exit status 0
  found:  exit status $status_$(limit_note "$status_")"
    sed 's/^/  | /' "$output_" | tail -n 60
    return 1
}

# expect_fails WHAT COMMAND...: the command ends by itself with a status from 1 to 123.
expect_fails()
{
    local what
    what=$1
    shift
    capture "$@"
    checks=$((checks + 1))
    [ "$status_" -gt 0 ] && [ "$status_" -lt 124 ] && return 0
    fail "$what
  command: $*
  wanted: a failure (exit status 1 to 123)
  found:  exit status $status_$(limit_note "$status_")"
    sed 's/^/  | /' "$output_" | tail -n 60
    return 1
}

limit_note()
{
    [ "$1" -eq 124 ] || [ "$1" -eq 137 ] && echo " (ran longer than $CT_LIMIT s)"
    return 0
}

# capture COMMAND...: runs it under the time limit; output_ is the file that holds stdout and
# stderr, status_ its exit status.
capture()
{
    tmp_dir
    output_=$tmp/output
    timeout -k 10 "$CT_LIMIT" "$@" >"$output_" 2>&1 </dev/null && status_=0 || status_=$?
}

# A private folder for this script, $tmp, removed when it ends. `at_exit` may be redefined to stop
# what the script has started.
at_exit()
{
    :
}
tmp=
tmp_dir()
{
    [ -z "$tmp" ] || return 0
    tmp=$(mktemp -d "${TMPDIR:-/tmp}/ctran-test.XXXXXX") || exit 99
    trap 'rc=$?; trap - EXIT; at_exit; rm -rf "$tmp"; exit "$rc"' EXIT
    trap 'exit 143' INT TERM HUP PIPE
}

# The last line of every script.
finish()
{
    if [ "$checks" -eq 0 ]; then
        echo "FAIL: the script checked nothing"
        exit 1
    fi
    echo "$((checks - failures)) of $checks checks passed"
    [ "$failures" -eq 0 ]
    exit
}

# The launcher of the build tree. It and the test programs are linked against the convenience
# libraries, so they are real binaries: a libtool wrapper would cost 50 ms for each rank.
ctranrun=$top_builddir/ctranrun

# run_ranks N PROGRAM ARGS...: expects PROGRAM to succeed on N ranks.
run_ranks()
{
    local n
    n=$1
    shift
    expect_ok "$(basename "$1") on $n ranks${settings_:+ with $settings_}" \
        "$ctranrun" -n "$n" "$@"
}

# with_settings "NAME=VALUE ..." COMMAND...: the command with these variables in its environment.
with_settings()
{
    settings_=$1
    shift
    # Values hold no blanks. The subshell keeps them from leaking; the counters come back by file.
    tmp_dir
    (
        # shellcheck disable=SC2086,SC2163
        export $settings_
        "$@"
        echo "$checks $failures" >"$tmp/counters"
    )
    read -r checks failures <"$tmp/counters"
    settings_=
}
settings_=
