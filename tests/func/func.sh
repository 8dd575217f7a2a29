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
