# SPDX-License-Identifier: BSD-3-Clause
"""Reads the description of MPI's standard ABI, abi/*.def.

An entry is one line, or several of which the further ones begin with blanks. Names are MPI's
without MPI_. Behind "!" stand marks: "!deprecated 4.0", since which version of MPI; "!is
comm_free", a call that is another one of ctran under an old name.

    section KEY: TITLE          of calls; their definitions go to gen/KEY.c. Of constants: no KEY
    handle Comm MPI_ABI_Comm    a type of handles, and the structure that they point to
    value Comm COMM_NULL 0x100  a predefined handle
    alias NEW OLD               the same under another name
    int ANY_TAG -2              a number
    pointer void* BOTTOM 0      a pointer, or a number of another type than int
    enum T_cb_safety NAME 0     a member of an enumeration that has a name
    callback int NAME(...)      the type of a function that the program gives
    typedef NEW OLD             another name of a type

Everything else is a call: NAME(parameters), with the result's type before NAME where that is not
int. Three types of parameters have two forms, and a call with one of them has two: MPI_X, and
MPI_X_c for large counts.

             MPI_X     MPI_X_c
    count    int       MPI_Count
    disp     int       MPI_Aint
    extent   MPI_Aint  MPI_Count

So have callbacks where there is a NAME_c, as User_function. The number of elements of an array of
these is in its brackets: the name of a parameter, or one of LENGTHS.
"""
import re
from dataclasses import dataclass, field
from pathlib import Path

# For each rank of the remote group, or of the only one; the same at the root, elsewhere none; the
# same unless sendbuf is MPI_IN_PLACE; for each rank of the local group; for each neighbour that
# data come from or go to.
LENGTHS = ("all", "root", "send", "local", "in", "out")
FORMS = {"count": ("int", "Count"), "disp": ("int", "Aint"), "extent": ("Aint", "Count")}
FILES = ("calls", "types", "coll", "windows", "files", "tool")


@dataclass
class Parameter:
    """One parameter: `const count recvcounts[all]`."""

    const: bool
    type: str  # without const and stars: "count", "Comm", "char"
    stars: str
    name: str
    arrays: str  # "[]", "[][3]"
    length: str = ""  # of an array of numbers with two forms

    @property
    def has_forms(self):
        return self.type in FORMS

    @property
    def is_array(self):
        return self.arrays != ""


@dataclass
class Call:
    name: str
    result: str
    parameters: list
    marks: dict
    section: str
    large: bool = False  # the form MPI_X_c

    @property
    def ctran(self):
        """The name of ctran's call."""
        own = self.marks.get("is", self.name.removesuffix("_c") if self.large else self.name)
        return "ctran_" + own[0].lower() + own[1:]

    def form(self, kind):
        return FORMS[kind][self.large]


@dataclass
class Constant:
    kind: str  # "int", "value", "pointer", "enum", "alias", "typedef", "handle", "callback"
    name: str
    type: str = ""
    value: str = ""
    parameters: list = field(default_factory=list)
    marks: dict = field(default_factory=dict)


@dataclass
class Section:
    key: str
    title: str
    entries: list


def entries_of(text):
    """Whole entries, without comments."""
    joined = re.sub(r"\n +", " ", text)
    return [line for line in joined.splitlines() if line and not line.startswith("#")]


def marks_of(entry):
    """The entry without its marks, and these."""
    body, *marks = entry.split(" !")
    pairs = [mark.strip().split(" ", 1) for mark in marks]
    return body.strip(), {key: (rest[0] if rest else "") for key, *rest in pairs}


def parameter_of(text):
    found = re.fullmatch(r"(const )?(\w+) ?(\**)(\w*)((?:\[\w*\])*)", text.strip())
    if found is None:
        raise ValueError(f"no parameter: {text}")
    const, kind, stars, name, arrays = found.groups()
    length = ""
    if kind in FORMS and arrays:
        length, arrays = arrays[1:-1], "[]"
    return Parameter(bool(const), kind, stars, name, arrays, length)


def parameters_of(text):
    texts = [] if text == "void" else text.split(",")
    return [parameter_of(p) for p in texts if p.strip() != "..."]


def call_of(entry, section):
    body, marks = marks_of(entry)
    found = re.fullmatch(r"(?:(\w+) )?(\w+)\((.*)\)", body)
    if found is None:
        raise ValueError(f"no call: {entry}")
    result, name, parameters = found.groups()
    if parameters.endswith("..."):
        marks["variadic"] = ""
    return Call(name, result or "int", parameters_of(parameters), marks, section)


def constant_of(entry):
    body, marks = marks_of(entry)
    kind, rest = body.split(" ", 1)
    if kind == "callback":
        result, name, parameters = re.fullmatch(r"(\w+) (\w+)\((.*)\)", rest).groups()
        if parameters.endswith("..."):
            marks["variadic"] = ""
        return Constant(kind, name, result, "", parameters_of(parameters), marks)
    words = rest.split()
    if kind == "int":
        return Constant(kind, words[0], "int", words[1], marks=marks)
    if kind in ("value", "pointer", "enum"):
        return Constant(kind, words[1], words[0], words[2], marks=marks)
    return Constant(kind, words[0], words[1], marks=marks)  # handle, alias, typedef


def sections_of(text, reader):
    sections = []
    for entry in entries_of(text):
        if entry.startswith("section "):
            key, found, title = entry[len("section ") :].partition(": ")
            if reader is constant_of or not found:
                key, title = "", entry[len("section ") :]
            sections.append(Section(key, title, []))
        elif reader is constant_of:
            sections[-1].entries.append(constant_of(entry))
        else:
            sections[-1].entries.append(call_of(entry, sections[-1].key))
    return sections


class Table:
    """All of it: sections of constants, sections of calls."""

    def __init__(self, folder):
        read = lambda name: (Path(folder) / f"{name}.def").read_text(encoding="utf-8")
        self.constants = sections_of(read("constants"), constant_of)
        self.calls = [s for name in FILES for s in sections_of(read(name), call_of)]
        names = {c.name for s in self.constants for c in s.entries}
        two = {n for n in names if n + "_c" in names}
        self.callbacks_with_forms = two
        for section in self.calls:
            section.entries = [f for call in section.entries for f in self.forms(call)]

    def forms(self, call):
        """The call in each of its forms."""
        small = any(p.has_forms or p.type in self.callbacks_with_forms for p in call.parameters)
        if not small:
            return [call]
        name = call.name + "_c"
        large = Call(name, call.result, call.parameters, call.marks, call.section, True)
        return [call, large]

    def all_calls(self):
        return [call for section in self.calls for call in section.entries]

    def all_constants(self):
        return [c for section in self.constants for c in section.entries]
