#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds the files of a tree against the house's rules of form.

usage: check_style.py ROOT

Sizes of files, functions and lines, tabs, the SPDX line, getenv in its places, and words and paths
that no file may hold. Patterns are spelled with brackets so that this file does not match itself.
Prints each violation; exit status 1 if there is one. Called by style.test.
"""
import re
import shutil
import subprocess
import sys
from pathlib import Path

MAX_LINES, MAX_FUNCTION, MAX_COLUMNS, MAX_HELP = 700, 100, 100, 80
CODE = (".c", ".h", ".cu", ".cuh", ".def")
SCRIPT = (".sh", ".py", ".test", ".supp")
PROGRAMS = ("quickstart", "check", ".ci/run", "tools/ctrancc.in", "tools/ctrancxx.in",
            "tools/wrapper.in", "mpi/mpicc.in", "mpi/mpicxx.in", "mpi/mpiexec.in", "mpi/wrapper.in",
            "bench/ctran_perf", "tools/sim/ctran_sim_tune")
PUBLIC = ("src/ctran.h", "mpi/mpi.h")  # one file each, by design
# Who may look into the environment: the table of variables, what finds the launcher's and hwloc's,
# and tests.
GETENV = ("src/base/config.c", "src/pmi/", "launcher/", "tests/", "emu/",
          "src/topo/trial.c", "tools/scale/processes.c")
WORDS = [
    (r"\bTO[D]O\b|\bFIX[M]E\b|\bX[X]X\b|\bHAC[K]\b", "an unfinished mark"),
    (r"(?i)\bnot (yet )?impl[e]mented\b|\bplace[h]older\b|\bfor n[o]w\b", "unfinished work"),
    (r"/(wor[k]|far[m]|roo[t]|hom[e])/[a-z]", "a path of one machine"),
    (r"(?i)deb[i]an\.org|pyp[i]\.org|python[h]osted|npm[j]s|github[u]sercontent", "a package host"),
]
# Words that once stood here for what the field has words for, and what to say. They are looked for
# in file names and in identifiers; some are ordinary words in a sentence.
OLD_WORDS = {
    "board": "shm_coll", "boards": "shm_coll", "kin": "family", "hub": "router", "relay": "router",
    "lend": "expose", "lends": "expose", "lent": "attached or exposed", "lender": "owner",
    "lending": "expose", "borrow": "attach", "borrowed": "attached", "borrower": "reader",
    "seat": "placement or core", "seats": "placement or core", "card": "record or adapter",
    "cards": "record or adapter", "spot": "location", "spots": "location",
    "whereabouts": "location key", "news": "events", "roll": "shm_allgather", "wish": "config",
    "wishes": "config", "crowded": "oversubscribed", "announced": "rendezvous",
    "unasked": "eager", "heard": "received", "said": "sent or told",
}
# Where an old word is right: names that others gave, and words that mean something else there.
# relay is old in the launcher alone; an algorithm's rank relays a block.
KEPT_NAMES = ("board_id", "CT_RELAY", "NEWS")
KEPT_WORDS = [("launcher/", "announced"), ("src/", "relay"), ("tests/", "relay"),
              ("tools/", "relay")]
BINARY = (".xz", ".gz", ".png", ".bin")


def files_of(root):
    """What git tracks, or in an unpacked tarball everything that is there."""
    if (root / ".git").exists() and shutil.which("git"):
        git = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, text=True)
        if git.returncode == 0:
            names = git.stdout.split("\0")
            return sorted(n for n in names if n and (root / n).is_file())
    kept = ("src", "mpi", "launcher", "tools", "examples", "tests", "man", "bench", "emu")
    return sorted(
        p.relative_to(root).as_posix()
        for top in kept
        for p in (root / top).rglob("*")
        if p.is_file() and p.suffix not in (".o", ".lo", ".la", ".log", ".trs")
    )


def long_functions(lines):
    """Bodies begin with a brace in the first column and end with one."""
    start = None
    for number, line in enumerate(lines, 1):
        if line.startswith("{"):
            start = number
        elif line.startswith("}") and start is not None:
            if number - start - 1 > MAX_FUNCTION:
                yield start, number - start - 1
            start = None


def check_code(name, lines):
    if len(lines) > MAX_LINES and name not in PUBLIC:
        yield f"{name}: {len(lines)} lines, at most {MAX_LINES}"
    for number, length in long_functions(lines):
        yield f"{name}:{number}: a function of {length} lines, at most {MAX_FUNCTION}"
    for number, line in enumerate(lines, 1):
        if "\t" in line:
            yield f"{name}:{number}: a tab"
        if re.search(r"\bgetenv\s*\(", line) and not name.startswith(GETENV):
            yield f"{name}:{number}: getenv; variables are read by base/config.c"
        if re.search(r"\bu?sleep\s*\(", line):
            yield f"{name}:{number}: a fixed sleep; wait for an event instead"


def check_help(name, text):
    """The help of each variable, the last strings of its VAR(), is a line; pages have the rest."""
    for entry in re.split(r"^VAR\(", text, flags=re.M)[1:]:
        texts = re.search(r'(?:job|rank),\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\)', entry)
        words = re.findall(r'"((?:[^"\\]|\\.)*)"', texts.group(1)) if texts else []
        length = len("".join(words).replace('\\"', '"'))
        if not 0 < length <= MAX_HELP:
            yield (f"{name}: the help of {entry.split(',')[0]} has {length} characters, at most "
                   f"{MAX_HELP}; say the rest in its page of section 7")


def check_text(name, lines):
    wide = name.endswith(CODE + SCRIPT) or name in PROGRAMS
    for number, line in enumerate(lines, 1):
        if wide and len(line) > MAX_COLUMNS:
            yield f"{name}:{number}: {len(line)} columns, at most {MAX_COLUMNS}"
        if line.endswith((" ", "\t")) and not name.endswith(".patch"):
            yield f"{name}:{number}: blanks at the end of the line"
        for pattern, what in WORDS:
            if re.search(pattern, line):
                yield f"{name}:{number}: {what}: {line.strip()[:60]}"


def old_words(name, words):
    return [w for w in words if w in OLD_WORDS and
            not any(w == kept and name.startswith(top) for top, kept in KEPT_WORDS)]


def check_words(name, text):
    """Identifiers of C that have an old word in them; comments and strings may."""
    base = name.rsplit("/", 1)[-1]
    if base not in KEPT_NAMES:
        for word in old_words(name, re.split(r"[^a-z]+", base.lower())):
            yield f"{name}: {word} in a file's name; say {OLD_WORDS[word]}"
    if not name.endswith(CODE + (".inc",)):
        return
    code = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"', " ", text, flags=re.S)
    for found in sorted(set(re.findall(r"\b[A-Za-z_]\w+\b", code)) - set(KEPT_NAMES)):
        for word in old_words(name, found.lower().split("_")):
            yield f"{name}: {word} in {found}; say {OLD_WORDS[word]}"


def check(root, name):
    try:
        text = (root / name).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return [f"{name}: not UTF-8"]
    lines = text.splitlines()
    found = list(check_text(name, lines)) + list(check_words(name, text))
    if name.endswith(CODE):
        found += check_code(name, lines)
    if name.endswith("/vars.def"):
        found += check_help(name, text)
    if name.endswith(CODE + SCRIPT) or name in PROGRAMS:
        if not any("SPDX-License-Identifier: BSD-3-Clause" in line for line in lines[:3]):
            found.append(f"{name}: no SPDX line at its head")
    return found


def main(root):
    names = [n for n in files_of(root) if not n.endswith(BINARY)]
    found = [line for name in names for line in check(root, name)]
    print("\n".join(found + [f"{len(names)} files, {len(found)} violations"]))
    return 1 if found or not names else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
