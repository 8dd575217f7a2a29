# SPDX-License-Identifier: BSD-3-Clause
"""Reads ctran.h, and holds it against the table: a call has the same parameters in both, and a
constant the same value."""
import re

from table import FORMS

# Calls and constants that MPI spells otherwise, or has with other parameters.
OTHER_FORM = {"ctran_pcontrol", "ctran_type_get_envelope", "ctran_type_get_contents"}


def without_comments(text):
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.S)


def calls_of(text):
    """Names with the types of result and parameters."""
    found = re.findall(r"CTRAN_API\s+(\w+)\s+(ctran_\w+)\(([^;]*)\);", without_comments(text))
    return {name: [result, *(kind_of(p) for p in split(ps))] for result, name, ps in found}


def split(parameters):
    return [] if parameters.strip() == "void" else parameters.split(",")


def kind_of(parameter):
    """A parameter's type alone, arrays as pointers."""
    text = " ".join(parameter.split())
    arrays = re.search(r"((?:\[\d*\])*)$", text).group(1)
    text = text[: len(text) - len(arrays)]
    base, name = re.fullmatch(r"(.*?)(\w*)", text).groups()
    if not base.strip():
        base = name
    stars = base.count("*") + (1 if arrays else 0)
    base = base.replace("*", "").strip()
    return base + "*" * stars + arrays[2:]


def ctran_type(p):
    """What ctran.h should have for a parameter of the table."""
    base = {"count": "ctran_count_t", "disp": "ctran_aint_t", "extent": "ctran_count_t"}
    kind = base.get(p.type) or own_type(p.type)
    stars = p.stars + ("*" if p.is_array else "")
    return ("const " if p.const else "") + kind + stars + p.arrays[2:]


def own_type(name):
    if name in ("int", "char", "void", "double"):
        return name
    lower = name[0].lower() + name[1:]
    return "ctran_" + (lower if name.endswith("_function") else lower + "_t")


def differences(table, text):
    """One line for each call and constant that is not the same."""
    have = calls_of(text)
    found = []
    for call in table.all_calls():
        if call.large or call.ctran not in have or call.ctran in OTHER_FORM or "is" in call.marks:
            continue
        want = [own_type(call.result), *(ctran_type(p) for p in call.parameters)]
        if have[call.ctran] != want:
            found.append(f"{call.ctran}: ctran.h has {have[call.ctran]}, the table {want}")
    return found + constants_that_differ(table, text)


def values_of(text):
    plain = without_comments(text)
    pairs = re.findall(r"\bCTRAN_(\w+) = (-?(?:0x[0-9a-fA-F]+|\d+))", plain)
    pairs += re.findall(r"#define CTRAN_(\w+)\s+\(\([^()]*\*?\)(0x[0-9a-f]+|\d+)\)", plain)
    pairs += re.findall(r"#define CTRAN_(\w+)\s+CTRAN_(?:TYPE|OP)_\((0x[0-9a-f]+)\)", plain)
    pairs += re.findall(r"\bX\((\w+), (\d+),", plain)
    return {name: int(value, 0) for name, value in pairs}


def constants_that_differ(table, text):
    own = values_of(text)
    versions = ("VERSION", "SUBVERSION")  # ctran's semantics may be those of another version
    return [
        f"CTRAN_{c.name}: ctran.h has {own[c.name]:#x}, the table {c.value}"
        for c in table.all_constants()
        if c.value and c.name in own and c.name not in versions and own[c.name] != int(c.value, 0)
    ]


def handles_of(table, text):
    """The structures that ctran.h names for MPI's types of handles."""
    pairs = dict(
        (name, struct)
        for struct, name in re.findall(r"typedef struct (\w+)\s*\*ctran_(\w+)_t;", text)
    )
    return [
        (c.type, pairs[c.name.lower()])
        for c in table.all_constants()
        if c.kind == "handle" and c.name.lower() in pairs
    ]
