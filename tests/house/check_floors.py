#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds the #include lines of a tree against the floors of the house.

usage: check_floors.py ROOT

A file under src/ includes its own folder, the face of folders on lower floors, ctran.h, generated
headers and system headers; coll/algo nothing but itself and headers of the C standard; launcher/,
tools/ and mpi/ any face. A file in a folder of launcher/ includes its own folder, launcher.h, and
the face of folders before its own in LAUNCHER. No files of launcher/, and none of src/stream/,
call each other in a circle. Static functions of the launcher, and of the folders of src/ in NAMED,
have a name of more than one word that no other file there uses. Prints each violation; exit status
1 if there is one. Called by floors.test.
"""
import re
import sys
from pathlib import Path

FLOORS = [
    ["base"],
    ["node"],
    ["coll/algo"],
    ["pmi/wire"],
    ["pmi/store"],
    ["pmi/oob"],
    ["pmi", "dtype"],
    ["topo", "gpu"],
    ["mem"],
    ["net"],
    ["ep"],
    ["p2p"],
    ["coll/run"],
    ["comm"],
    ["coll"],
    ["rma", "stream"],
    ["ft"],
    ["api"],
    ["front"],
]
LEVEL = {folder: level for level, row in enumerate(FLOORS) for folder in row}
LEVEL["trace"] = 0.5  # stands on base alone; only api, which hangs it in, includes it
STANDARD = set(
    "assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal "
    "stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath "
    "threads time uchar wchar wctype".split()
)
GENERATED = ("config.h", "digest.h", "kernels.inc", "tune.h")  # made in the build folder
# Compiled as C++ for the emulated GPU, kernels convert short floats by the host's own functions.
ALLOWED = {
    ("gpu/kernels/port.cuh", "dtype/fp8.h"),
    ("gpu/kernels/port.cuh", "emu/cuda/device.cuh"),
}
OUTSIDE = ["launcher", "tools", "mpi"]
# The folders of the launcher, from the ground up; launcher/launcher.h explains them.
LAUNCHER = ["msg", "job", "proc", "io", "place", "status", "tree", "family", "pmix", "cli", "hosts",
            "head", "daemon"]
# Folders whose files may not call each other in a circle.
UNCIRCLED = ["launcher", "src/stream"]
# Folders of src whose static functions have names as in the launcher, and those that are to follow.
NAMED = ["node", "coll/algo", "pmi", "dtype", "topo", "gpu", "net"]
NOT_YET_NAMED = ["api", "base", "coll", "coll/run", "comm", "ep", "front", "ft", "mem", "p2p",
                 "rma", "stream", "trace"]
# A function with external linkage; its line is no declaration.
DEFINITION = re.compile(r"^(?!static|#)\w[^;={}\n]*?\b(ct_\w+)\((?![^;{]*;)", flags=re.M)
STATIC = re.compile(r"^(?:_Noreturn )?static [^;={}\n(]*?\b(\w+)\((?!\()", flags=re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')


def folder_of(path):
    """The folder of the house that 'net/shm/ring.h' belongs to: the longest name that fits."""
    parts = path.split("/")[:-1]
    for n in (2, 1):
        name = "/".join(parts[:n])
        if len(parts) >= n and name in LEVEL:
            return name
    return None


def is_face(path, folder):
    """base shows all of its headers, every other folder the one that bears its name; and gpu what
    its kernels do, which few want to know."""
    own = f"{folder}/{folder.split('/')[-1]}.h"
    return folder == "base" or path in ("gpu/kernels.h", own)


def fault(owner, quote, target):
    """Why `owner` (a folder; None: launcher or tools) may not include `target`, or None."""
    if owner == "coll/algo":
        if quote == "<":
            return None if target.removesuffix(".h") in STANDARD else "not of the C standard"
        return None if folder_of(target) == owner else "coll/algo includes only itself"
    if quote == "<" or target == "ctran.h" or target in GENERATED:
        return None
    folder = folder_of(target)
    if folder is None:
        return "names no folder of the house" if owner else None
    if folder == owner:
        return None
    if not is_face(target, folder):
        return f"not the face of {folder}"
    if owner is None:
        return None
    if folder == "trace":
        return None if owner == "api" else "only api includes trace"
    if LEVEL[folder] >= LEVEL[owner] or (owner == "trace" and folder != "base"):
        return f"{folder} is not below {owner}"
    return None


def launcher_fault(owner, target):
    """Why a file of the launcher's folder `owner` ("" for its top) may not include `target`."""
    parts = target.split("/")[1:]
    folder = parts[0] if len(parts) > 1 else ""
    if folder in ("", owner):
        return None
    if folder not in LAUNCHER:
        return "names no folder of the launcher"
    if parts[1:] != [f"{folder}.h"]:
        return f"not the face of {folder}"
    if owner and LAUNCHER.index(folder) > LAUNCHER.index(owner):
        return f"{folder} is not below {owner}"
    return None


def check_launcher(root, path):
    """The #include lines of a file of launcher/, as check() does for the house."""
    parts = path.relative_to(root / "launcher").parts
    owner = parts[0] if len(parts) > 1 else ""
    if owner and owner not in LAUNCHER:
        return [f"{path.relative_to(root)}: its folder is not in LAUNCHER of check_floors.py"]
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if match and match.group(2).startswith("launcher/"):
            why = launcher_fault(owner, match.group(2))
            if why:
                found.append(f"{path.relative_to(root)}:{number}: {match.group(2)}: {why}")
    return found


def without_comments(text):
    """The text of a C file without comments and without what stands between quotes."""
    return re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\])*"', " ", text, flags=re.S)


def calls_of(sources):
    """For each file the files whose functions it names. x.c and x.h are one file."""
    texts = {}
    for path in sources:
        texts.setdefault(path.with_suffix(""), []).append(path)
    owner = {}
    for path in sources:
        if path.suffix == ".c":
            text = without_comments(path.read_text(encoding="utf-8"))
            owner.update({name: path.with_suffix("") for name in DEFINITION.findall(text)})
    calls = {}
    for stem, paths in texts.items():
        words = set()
        for path in paths:
            if path.suffix == ".c":
                words |= set(re.findall(r"\bct_\w+", without_comments(
                    path.read_text(encoding="utf-8"))))
        calls[stem] = {owner[w] for w in words if w in owner and owner[w] != stem}
    return calls


def circles(calls):
    """The sets of files that reach each other by calls, each with more than one file."""
    def reach(start):
        seen, todo = set(), [start]
        while todo:
            for other in calls.get(todo.pop(), ()):
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        return seen

    reached = {stem: reach(stem) for stem in calls}
    found = {frozenset([s] + [o for o in reached[s] if s in reached[o]]) for s in calls}
    return [sorted(c) for c in found if len(c) > 1]


def check_statics(root, sources):
    """A debugger shows the name of a static function alone: the name tells where it belongs."""
    files = {}
    for path in sources:
        for name in STATIC.findall(without_comments(path.read_text(encoding="utf-8"))):
            files.setdefault(name, set()).add(path.relative_to(root).as_posix())
    for name, paths in sorted(files.items()):
        if "_" not in name or len(paths) > 1:
            why = "one word" if "_" not in name else "the name of two functions"
            yield f"{', '.join(sorted(paths))}: static {name}(): {why}; put the object before it"


def is_named(path):
    """Whether a file of src/ is in NAMED: by the longest folder name of the two lists that fits."""
    fits = [n for n in NAMED + NOT_YET_NAMED if path.startswith(n + "/")]
    return bool(fits) and max(fits, key=len) in NAMED


def check_circles(root, folder):
    sources = sorted((root / folder).rglob("*.[ch]"))
    return [f"{folder}: files call each other in a circle: " +
            ", ".join(str(s.relative_to(root)) for s in c) for c in circles(calls_of(sources))]


def check(root, path, owner):
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        why = match and fault(owner, match.group(1), match.group(2))
        known = match and (path.as_posix().split("/src/")[-1], match.group(2)) in ALLOWED
        if why and not known:
            found.append(f"{path.relative_to(root)}:{number}: {match.group(2)}: {why}")
    return found


def main(root):
    found, files = [], 0
    src = root / "src"
    sources = [p for p in sorted(src.rglob("*")) if p.suffix in (".c", ".h", ".cu", ".cuh", ".def")]
    for path in sources:
        name = path.relative_to(src).as_posix()
        files += 1
        if "/" not in name:
            continue
        owner = folder_of(name)
        if owner is None:
            found.append(f"src/{name}: its folder is on no floor; name it in check_floors.py")
        else:
            found += check(root, path, owner)
    for folder in OUTSIDE:
        for path in sorted((root / folder).rglob("*.[ch]")):
            files += 1
            found += check(root, path, None)
            if folder == "launcher":
                found += check_launcher(root, path)
    sources = sorted((root / "launcher").rglob("*.[ch]"))
    for folder in UNCIRCLED:
        found += check_circles(root, folder)
    found += check_statics(root, [p for p in sources if p.suffix == ".c"])
    found += check_statics(root, [p for p in sorted(src.rglob("*.c"))
                                  if is_named(p.relative_to(src).as_posix())])
    print("\n".join(found + [f"{files} files, {len(found)} violations"]))
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
