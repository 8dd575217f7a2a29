#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes an mpi.h that gives the names of MPI to what ctran.h declares, so that programs written
for MPI compile against ctran unchanged.

usage: mpi_names.py CTRAN_H FOLDER

Leaves FOLDER/mpi.h. Everything comes from ctran.h: a call that is added there has its MPI name at
once. ctran's counts are MPI's large ones, so MPI_X_c is ctran_x, and MPI_X is

    - ctran_x itself where a C compiler converts int to ctran_count_t by itself (by value), or where
      MPI has an address-sized argument there already;
    - else a small function that widens arrays of counts and narrows what comes back.

What has no such rule is written by hand in mpi_small.h, beside this file. Any other name is
missing, and a compiler says so.
"""
import re
import sys
from pathlib import Path

# Written by hand in mpi_small.h.
BY_HAND = {
    "op_create",
    "type_get_envelope",
    "type_get_contents",
    "comm_get_name",
    "comm_set_errhandler",
    "type_get_name",
    "win_get_name",
    "win_shared_query",
    "info_get",
}
# Here MPI's small form has an MPI_Aint * where ctran has a ctran_count_t *: the same on 64 bits.
ADDRESS_SIZED = {
    "type_get_extent",
    "type_get_true_extent",
    "pack_external",
    "unpack_external",
    "pack_external_size",
}
DISPLACED_IN_BYTES = {
    "type_create_hindexed",
    "type_create_hindexed_block",
    "type_create_struct",
    "neighbor_alltoallw",
}
# How many elements arrays of counts have, in C; `buf` is the buffer of the same side.
LENGTHS = {
    "allgatherv": "mpi_blocks(comm)",
    "gatherv": "mpi_root_blocks(root, comm)",
    "scatterv": "mpi_root_blocks(root, comm)",
    "alltoallv": "mpi_sided_blocks({buf}, comm)",
    "alltoallw": "mpi_sided_blocks({buf}, comm)",
    "neighbor_allgatherv": "mpi_neighbours({is_out}, comm)",
    "neighbor_alltoallv": "mpi_neighbours({is_out}, comm)",
    "neighbor_alltoallw": "mpi_neighbours({is_out}, comm)",
    "reduce_scatter": "mpi_ranks(comm)",
    "type_create_subarray": "ndims",
    "type_create_darray": "ndims",
}
COLLECTIVES = (
    "barrier bcast gather gatherv scatter scatterv allgather allgatherv alltoall alltoallv "
    "alltoallw reduce allreduce reduce_scatter_block reduce_scatter scan exscan"
).split()
NEIGHBOURS = "allgather allgatherv alltoall alltoallv alltoallw".split()


def mpi_name(ctran):
    """MPI's spelling of a name without its prefix: comm_size is MPI_Comm_size."""
    return "MPI_" + ctran[0].upper() + ctran[1:]


def type_name(ctran):
    return mpi_name(ctran.removesuffix("_t"))


class Parameter:
    """One parameter of a declaration: `const ctran_count_t recvcounts[]`."""

    def __init__(self, text):
        self.text = " ".join(text.split())
        found = re.search(r"(\w+)((?:\[\d*\])*)$", self.text)
        self.name = found.group(1) if found else ""
        self.array = bool(found and found.group(2))
        self.type = self.text[: found.start()].strip() if found else self.text
        self.counted = re.search(r"\bctran_(count|aint)_t\b", self.type) is not None
        self.large = "ctran_count_t" in self.type
        self.pointer = self.type.endswith("*")


class Call:
    """One declaration of ctran.h, without the prefix in its name."""

    def __init__(self, result, name, parameters):
        self.result, self.name = result, name
        self.parameters = [Parameter(p) for p in parameters.split(",")]

    def base(self):
        """The name of a collective's blocking form."""
        for name in (self.name.removesuffix("_init"), self.name.removeprefix("i")):
            if name in COLLECTIVES or name.removeprefix("neighbor_") in NEIGHBOURS:
                return name
        return self.name

    def lasts(self):
        """Whether arrays are read after the call has returned."""
        return self.base() != self.name

    def widened(self):
        """The arrays that are int in MPI's small form."""
        if self.name in BY_HAND:
            return []
        v_call = self.base() in LENGTHS and "ndims" not in LENGTHS[self.base()]
        return [
            p
            for p in self.parameters
            if p.array
            and (p.large or (p.counted and v_call))
            and not (self.base() in DISPLACED_IN_BYTES and "displ" in p.name)
        ]

    def narrowed(self):
        """The results that are int in MPI's small form."""
        if self.name in ADDRESS_SIZED:
            return []
        return [p for p in self.parameters if p.pointer and p.large]

    def length(self, parameter):
        is_recv = parameter.name.startswith("r") or parameter.name == "displs"
        side = "recvbuf" if parameter.name.startswith("r") else "sendbuf"
        length = LENGTHS.get(self.base(), "count")
        return length.format(buf=side, is_out=int(not is_recv))


def declarations(text):
    """Calls that MPI has, too: not those that are ordered on a stream."""
    pattern = r"CTRAN_API\s+(\w+)\s+ctran_(\w+)\(([^;]*)\);"
    found = re.findall(pattern, text)
    return [Call(*call) for call in found if not call[1].endswith("_enqueue")]


def without_comments(text):
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.S)


def small_form(call):
    """The function MPI_X with int where ctran_x has ctran_count_t."""
    widened, narrowed = call.widened(), call.narrowed()
    shown, given, before, after = [], [], [], []
    for p in call.parameters:
        text = p.text
        if p in widened:
            text = re.sub(r"ctran_(count|aint)_t", "int", text)
            wide = f"ctran_{'count' if p.large else 'aint'}_t"
            before.append(f"    {wide} *w_{p.name} = mpi_widen({p.name}, {call.length(p)});")
            after.append(f"    {'mpi_keep' if call.lasts() else 'free'}(w_{p.name});")
            given.append(f"w_{p.name}")
        elif p in narrowed:
            text = text.replace("ctran_count_t", "int")
            before.append(f"    ctran_count_t w_{p.name} = {p.name} != NULL ? *{p.name} : 0;")
            after.append(f"    if (rc_ == CTRAN_SUCCESS && {p.name} != NULL) {{")
            after.append(f"        *{p.name} = mpi_narrow(w_{p.name});")
            after.append("    }")
            given.append(f"{p.name} != NULL ? &w_{p.name} : NULL")
        else:
            if p.large and not p.array and not p.pointer:
                text = text.replace("ctran_count_t", "int" if "stride" not in text else "MPI_Aint")
            given.append(p.name)
        shown.append(text)
    head = f"static inline {call.result} {mpi_name(call.name)}({', '.join(shown)})"
    body = before + [f"    int rc_ = ctran_{call.name}({', '.join(given)});"] + after
    return "\n".join([head, "{", *body, "    return rc_;", "}"])


def names_of_calls(calls):
    macros, functions = [], []
    for call in calls:
        own, mpi = f"ctran_{call.name}", mpi_name(call.name)
        if any(p.counted for p in call.parameters):
            macros.append(f"#define {mpi}_c {own}")
        if call.widened() or call.narrowed():
            functions += [small_form(call)] if call.name not in BY_HAND else []
        elif call.name not in BY_HAND:
            macros.append(f"#define {mpi} {own}")
    return macros, functions


def names_of_constants(text):
    found = set(re.findall(r"\bCTRAN_([A-Z0-9_]*[A-Z0-9])\b", text))
    errors = re.findall(r"\bX\((\w+), \d+,", text)
    found |= set(errors)
    found -= {"API", "H", "ERROR_MAP"}
    return [f"#define MPI_{name} CTRAN_{name}" for name in sorted(found)]


def names_of_types(text):
    handles = re.findall(r"^typedef struct \w+\s*\*?ctran_(\w+_t);", text, flags=re.M)
    handles += re.findall(r"^\}\s*ctran_(\w+_t);", text, flags=re.M)
    numbers = re.findall(r"^typedef u?int\w+\s+ctran_(\w+_t);", text, flags=re.M)
    functions = re.findall(r"^typedef \w+\s+ctran_(\w+_function)\(", text, flags=re.M)
    lines = [f"typedef ctran_{t} {type_name(t)};" for t in dict.fromkeys(handles + numbers)]
    for name in functions:
        mpi = mpi_name(name) + ("_c" if name == "user_function" else "")
        lines.append(f"typedef ctran_{name} {mpi};")
    return lines


def header(ctran_h):
    text = without_comments(ctran_h.read_text())
    calls = declarations(text)
    macros, functions = names_of_calls(calls)
    here = Path(__file__).resolve().parent
    parts = [
        "/* Made by mpi_names.py from ctran.h. */",
        "#ifndef MPI_H_FROM_CTRAN\n#define MPI_H_FROM_CTRAN",
        "#include <ctran.h>",
        *names_of_constants(text),
        *names_of_types(text),
        *macros,
        (here / "mpi_small.h").read_text(),
        *functions,
        "#endif",
    ]
    return "\n".join(parts) + "\n"


def backwards(ctran_h):
    """A ctran.h for another library: what is written for ctran compiles against its mpi.h, as far
    as that has the names."""
    text = without_comments(ctran_h.read_text())
    names = [(own, mpi) for _, mpi, own in map(str.split, names_of_constants(text))]
    names += [(own, mpi.rstrip(";")) for _, own, mpi in map(str.split, names_of_types(text))]
    names += [(f"ctran_{c.name}", mpi_name(c.name)) for c in declarations(text)]
    ours = ("ctran_count_t", "ctran_aint_t", "ctran_user_function")  # in mpi_back.h
    lines = [f"#define {own} {mpi}" for own, mpi in names if own not in ours]
    by_hand = (Path(__file__).resolve().parent / "mpi_back.h").read_text()
    head = ["/* Made by mpi_names.py from ctran.h. */", "#pragma once", "#include <mpi.h>"]
    return "\n".join([*head, *lines, by_hand])


def main():
    if len(sys.argv) != 3:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    folder = Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "mpi.h").write_text(header(Path(sys.argv[1])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
