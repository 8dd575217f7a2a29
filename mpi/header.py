# SPDX-License-Identifier: BSD-3-Clause
"""Writes mpi.h from the table."""
from text import declaration, mpi_type, parameters_text

HEAD = """\
/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpi.h - MPI-5.0 through the standard's own ABI (chapter 20). Written by generate.py from
 * the table in abi/; do not edit. ctran-mpi(7) says what the library behind it has.
 *
 * Define MPI_HIDE_DEPRECATED before including it to see none of the deprecated names.
 */
#ifndef MPI_H_ABI
#define MPI_H_ABI

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef intptr_t MPI_Aint;   /* an address, or a displacement in bytes */
typedef int64_t  MPI_Offset; /* a place in a file */
typedef int64_t  MPI_Count;  /* a large count */

/* Without a tag: in C++ the name of the type would be another one. */
typedef struct {
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
    int MPI_internal[5];
} MPI_Status;
"""

TAIL = """
#ifdef __cplusplus
}
#endif

#endif
"""


def define(name, value):
    return f"#define {name:<33} {value}"


def constant_line(c):
    name = "MPI_" + c.name
    if c.kind == "int":
        return define(name, f"({c.value})" if c.value.startswith("-") else c.value)
    if c.kind == "alias":
        return define(name, "MPI_" + c.type)
    if c.kind == "handle":
        return f"typedef struct {c.type} *{name};"
    if c.kind == "typedef":
        return f"typedef MPI_{c.type} {name};"
    if c.kind == "callback":
        return declaration(f"typedef {mpi_type(c.type)} {name}", c.parameters, None, c.marks)
    return define(name, f"(({cast(c.type)}){c.value})")


def cast(kind):
    """The type of a pointer: "void*" is "void *"."""
    base = kind.rstrip("*")
    stars = kind[len(base) :]
    return mpi_type(base) + (" " + stars if stars else "")


def enumerations(section):
    """Types with names, of which the members follow each other."""
    types = list(dict.fromkeys(c.type for c in section.entries))
    for kind in types:
        members = [c for c in section.entries if c.type == kind]
        lines = [f"    MPI_{c.name} = {c.value}" for c in members]
        yield f"typedef enum MPI_{kind} {{\n" + ",\n".join(lines) + f"\n}} MPI_{kind};"


def hidden(lines_and_marks):
    """Lines, the deprecated ones in a condition."""
    hiding = False
    for line, marks in lines_and_marks:
        if ("deprecated" in marks) != hiding:
            hiding = not hiding
            yield "#ifndef MPI_HIDE_DEPRECATED" if hiding else "#endif"
        yield line
    if hiding:
        yield "#endif"


def constants(table):
    for section in table.constants:
        yield f"\n/* {section.title} */"
        if section.entries and section.entries[0].kind == "enum":
            yield from enumerations(section)
        else:
            yield from hidden((constant_line(c), c.marks) for c in section.entries)


def calls(table, prefix):
    for section in table.calls:
        yield f"\n/* {section.title} */"
        lines = []
        for call in section.entries:
            head = f"{mpi_type(call.result)} {prefix}{call.name}"
            lines.append((declaration(head, call.parameters, call, call.marks), call.marks))
        yield from hidden(lines)


def header(table):
    parts = [HEAD.rstrip("\n"), *constants(table)]
    parts.append("\n/* ---- The calls " + "-" * 79 + " */")
    parts += calls(table, "MPI_")
    parts.append("\n/* ---- The same for tools that stand before the library " + "-" * 40 + " */")
    parts += calls(table, "PMPI_")
    return "\n".join(parts) + "\n" + TAIL
