# SPDX-License-Identifier: BSD-3-Clause
"""Writes the definitions of MPI's calls: what ctran has is handed on, what it has not is refused.

A call is handed on as it is, except for these:
    counts that the small form has as int are converted, arrays of them in an arena (front.h);
    results that it has as int are MPI_UNDEFINED where they do not fit;
    a status is ctran's under another name.
"""
import textwrap

from text import declaration, mpi_type

WIDE = {"count": "ctran_count_t", "disp": "ctran_aint_t", "extent": "ctran_count_t"}


def copied_arrays(call):
    """Arrays of numbers that ctran gets copies of: where they are narrower here, and where a
    request reads them, as programs free them early that ran on libraries which copy them."""
    if call.large and not lasts(call):
        return []
    return [p for p in call.parameters if p.is_array and p.type in ("count", "disp")]


def small_results(call):
    """Numbers that are written, and are narrower here."""
    if call.large:
        return []
    return [p for p in call.parameters if p.type in ("count", "disp") and p.stars]


def lasts(call):
    """Whether arrays are read after the call has returned: then there is a request."""
    return any(p.type == "Request" for p in call.parameters)


def length_text(call, p):
    """The number of elements of an array, in C."""
    if p.length == "send":
        return "sendbuf == MPI_IN_PLACE ? 0 : ct_front_blocks(comm, CT_FRONT_ALL)"
    if p.length == "root":
        return "ct_front_root_blocks(comm, root)"
    if p.length in ("all", "local", "in", "out"):
        return f"ct_front_blocks(comm, CT_FRONT_{p.length.upper()})"
    return p.length


def argument(call, p):
    if p in copied_arrays(call):
        return "w_" + p.name
    if p in small_results(call):
        return f"{p.name} != NULL ? &w_{p.name} : NULL"
    if p.type == "Status":
        return f"({'const ' if p.const else ''}ctran_status_t *){p.name}"
    if p.type == "Grequest_query_function":
        return f"(ctran_grequest_query_function *){p.name}"
    return p.name


def given(call):
    return ", ".join(argument(call, p) for p in call.parameters)


def folded(text, indent):
    """A statement over as many lines as it takes."""
    lines = textwrap.wrap(text, 100 - indent, subsequent_indent="    ", break_long_words=False)
    return textwrap.indent("\n".join(lines), " " * indent)


def lengths(call):
    """The lengths of the arrays: each a name, and how it is found."""
    texts = {}
    for p in copied_arrays(call):
        texts.setdefault(length_text(call, p), f"n{len(texts)}")
    return texts


def with_arrays(call):
    names = lengths(call)
    arrays = copied_arrays(call)
    of = {p.name: names[length_text(call, p)] for p in arrays}
    total = " + ".join(f"(size_t){of[p.name]}" for p in arrays)
    lines = ["    struct ct_arrays a;"]
    for text, name in names.items():
        lines.append(folded(f"const int {name} = ct_arrays_length({text});", 4))
    comm = "comm" if any(p.name == "comm" for p in call.parameters) else "MPI_COMM_NULL"
    opened = f"ct_arrays_open(&a, {total}, {'true' if lasts(call) else 'false'})"
    lines += [
        f"    if (!{opened}) {{",
        folded(f'return ct_front_raise({comm}, MPI_ERR_NO_MEM, "MPI_{call.name}", NO_ROOM);', 8),
        "    }",
    ]
    for p in arrays:
        wide = WIDE[p.type]
        take = f"ct_arrays_{'copy' if call.large else 'widen'}(&a, {p.name}, {of[p.name]})"
        lines.append(f"    const {wide} *w_{p.name} = {take};")
    lines.append(folded(f"const int rc = {call.ctran}({given(call)});", 4))
    done = "ct_arrays_keep(&a, rc, request)" if lasts(call) else "ct_arrays_close(&a, rc)"
    return [*lines, f"    return {done};"]


def with_results(call):
    lines = []
    for p in small_results(call):
        lines.append(f"    {WIDE[p.type]} w_{p.name} = {p.name} != NULL ? *{p.name} : 0;")
    lines.append(folded(f"const int rc = {call.ctran}({given(call)});", 4))
    for p in small_results(call):
        lines.append("    if (rc == MPI_SUCCESS) {")
        lines.append(f"        *{p.name} = ct_narrow(w_{p.name});\n    }}")
    return [*lines, "    return rc;"]


def handed_on(call):
    if copied_arrays(call):
        return with_arrays(call)
    if small_results(call):
        return with_results(call)
    return [folded(f"return {call.ctran}({given(call)});", 4)]


def refused(call):
    """Files have an error handler of their own, which returns (MPI-5.0 sec. 14.7)."""
    unused = [f"    (void){p.name};" for p in call.parameters]
    if call.section == "files":
        return [*unused, "    return MPI_ERR_UNSUPPORTED_OPERATION;"]
    comm = "comm" if any(p.name == "comm" for p in call.parameters) else "MPI_COMM_NULL"
    unused = [line for line in unused if line != "    (void)comm;"]
    return [*unused, f'    return ct_refuse({comm}, "MPI_{call.name}");']


def definition(call, body):
    head = f"{mpi_type(call.result)} PMPI_{call.name}"
    text = declaration(head, call.parameters, call, call.marks, "")
    return "\n".join([text, "{", *body, "}", f"NAME({call.name})", ""])


def files(table, has, by_hand, most=640):
    """The texts of gen/*.c by name: calls that nobody wrote by hand."""
    out = {}
    for section in table.calls:
        texts = []
        for call in section.entries:
            if call.name not in by_hand:
                body = handed_on(call) if call.ctran in has else refused(call)
                texts.append(definition(call, body))
        for number, part in enumerate(parts(texts, most), 1):
            name = section.key + (f"_{number}" if number > 1 else "")
            out[f"{name}.c"] = "\n".join([head_of(section), *part])
    return out


def parts(texts, most):
    """Lists of texts that have together no more than so many lines."""
    part, lines = [], 0
    for text in texts:
        lines += text.count("\n") + 1
        if part and lines > most:
            yield part
            part, lines = [], text.count("\n") + 1
        part.append(text)
    if part:
        yield part


def head_of(section):
    return f"""\
/* SPDX-License-Identifier: BSD-3-Clause */
/* {section.title}. Written by generate.py; do not edit. */
/* clang-format off */
#include "mpi/front.h"
"""
