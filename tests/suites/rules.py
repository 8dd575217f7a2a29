# SPDX-License-Identifier: BSD-3-Clause
"""Which runs of a suite are left out, and why: rules, so that nobody picks tests by hand.

A program that needs a name of MPI that ctran has not is left out if that name belongs to a part
that ctran is without as a whole; any other missing name is a failure.
"""
import re

PARTS = [
    (
        r"MPI_(File|FILE|MODE|SEEK|Register_datarep|DATAREP)(_|$)|"
        r"MPI_ERR_(FILE|IO|AMODE|NO_S|READ_O|ACCESS|BAD_FILE|QUOTA)",
        "files",
    ),
    (r"MPI_T_", "the tool interface"),
    (r"MPI_\w+_(f2c|c2f|f082c|c2f08)|MPI_Type_create_f90|MPI_F_", "Fortran and C++"),
    (
        r"MPI_(Address|Errhandler_(create|get|set)|Type_(extent|hindexed|hvector|lb|struct|ub)|LB"
        r"|UB|Handler_function|COMBINER_\w+_INTEGER)$",
        "removed from MPI",
    ),
    (r"MPIX_|MPICH|MPIR_", "extensions of another library"),
]


# With all names of MPI there, calls of this part are refused when they are made.
REFUSED = PARTS[:1]
PART = "part: "


def part_in(texts):
    """The first part that programs of these sources use and that the front end refuses."""
    for pattern, part in REFUSED:
        for text in texts:
            code = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)
            names = re.findall(r"\bMPI_[A-Z][a-z]\w*(?=\s*\()", code)
            if any(re.match(pattern, name) for name in names):
                return part
    return None


def part_of(name):
    """The part of MPI that a name belongs to, if ctran is without all of it; else None."""
    for pattern, part in PARTS:
        if re.match(pattern, name):
            return part
    return None


def needed_by_compiler(messages):
    """The names of MPI that a compiler's messages call unknown."""
    pattern = (
        r"(?:undeclared|unknown type name|implicit declaration of function|undefined reference to)"
        r"[^\n]*?[‘'`](MPIX?_\w+|MPICH\w*)|[‘'`](MPIX?_\w+|MPICH\w*)[’'] undeclared"
        r"|[‘'`](MPIX?_\w+|MPICH\w*)[’'] was not declared"
    )
    names = []
    for groups in re.findall(pattern, messages):
        names += [name for name in groups if name]
    return list(dict.fromkeys(names))


def left_out(run, memory, foreign):
    """The rule by which a run is left out before it is compiled; else None. `foreign` matches
    variables that set up the library whose suite this is."""
    if "xfail" in run.options:
        return "expected to fail by its authors"
    if float(run.options.get("mem", 0)) > memory:
        return "more memory than there is"
    if "mpiexecarg" in run.options:
        return "options of another launcher"
    if run.options.get("strict", "").lower() == "false":
        return "not of MPI, its authors say"
    own = [name for name in run.env if re.match(foreign, name)]
    for name in own:
        del run.env[name]
    return None
