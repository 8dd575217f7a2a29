# SPDX-License-Identifier: BSD-3-Clause
"""Pieces of C: types, parameters, declarations that fit into 100 columns."""

PLAIN = ("int", "char", "void", "double")
COLUMNS = 100


def mpi_type(name):
    return name if name in PLAIN else "MPI_" + name


def type_in(call, p, callbacks=()):
    """The type of a parameter in this form of a call; call None: it has one form only."""
    if p.has_forms:
        return mpi_type(call.form(p.type))
    if call is not None and call.large and p.type in callbacks:
        return mpi_type(p.type + "_c")
    return mpi_type(p.type)


def parameter_text(call, p):
    kind = ("const " if p.const else "") + type_in(call, p, CALLBACKS)
    return f"{kind} {p.stars}{p.name}{p.arrays}"


def parameters_text(call, parameters, marks):
    texts = [parameter_text(call, p) for p in parameters]
    if "variadic" in marks:
        texts.append("...")
    return texts or ["void"]


CALLBACKS = ("User_function", "Datarep_conversion_function")


def wrapped(head, texts, tail, indent=None):
    """head(texts, ...)tail over as many lines as it takes, aligned behind the bracket."""
    indent = len(head) + 1 if indent is None else indent
    if max(len(t) for t in texts) + indent > COLUMNS - 2:
        return wrapped(head + "(\n   ", texts, tail, 4)
    lines, line = [], head + ("(" if not head.endswith("\n   ") else " ")
    start = len(line.rsplit("\n", 1)[-1])
    empty = True
    for i, text in enumerate(texts):
        piece = text + (", " if i + 1 < len(texts) else ")" + tail)
        width = len(line.rsplit("\n", 1)[-1])
        if not empty and width + len(piece.rstrip()) > COLUMNS:
            lines.append(line.rstrip())
            line = " " * start
        line += piece
        empty = False
    return "\n".join([*lines, line.rstrip()])


def declaration(head, parameters, call, marks, tail=";"):
    return wrapped(head, parameters_text(call, parameters, marks), tail)
