# SPDX-License-Identifier: BSD-3-Clause
"""Reads testlists: which programs of a folder run, on how many ranks, and what they should do.

The format is that of MPICH's test suite. A line is a program, or a folder with a testlist of its
own, then the number of ranks, then name=value pairs:

    arg=X           an argument (may come several times), env=NAME=VALUE a variable
    timeLimit=S     seconds that it may take, more or fewer than others
    mem=G           gigabytes of memory that it needs
    resultTest=T    how it ends well, if not by exit status 0 and the words "No Errors"
    xfail=WHY       its authors expect it to fail
    mpiversion=V    the least version of MPI, strict=false an extension of theirs

A name between two @ stands for what their configure would put there.
"""
import re
from dataclasses import dataclass, field
from pathlib import Path

LISTS = ("testlist", "testlist.in", "testlist.dtp")


@dataclass
class Run:
    """One line: a program with its arguments."""

    folder: str
    program: str
    ranks: int = 2
    args: list = field(default_factory=list)
    env: dict = field(default_factory=dict)
    options: dict = field(default_factory=dict)

    @property
    def name(self):
        text = " ".join([f"{self.folder}/{self.program}", str(self.ranks), *self.args])
        return text + "".join(f" {n}={v}" for n, v in self.env.items())

    def limit(self, usual):
        """Seconds that it may take: its authors know which ones need more than is usual."""
        return float(self.options.get("timeLimit", usual))


def substitute(line, optional):
    """Gives @name@ its value: folders their name, optional tests the comment that takes them out,
    unless they are asked for."""
    folder = re.fullmatch(r"@(\w+)dir@", line)
    if folder:
        return folder.group(1)

    def value(found):
        return "" if found.group(1) in optional else "#"

    return re.sub(r"@(\w+)@", value, line)


def parse(line, folder):
    words = line.split()
    run = Run(folder, words[0])
    if len(words) > 1:
        run.ranks = int(words[1])
    for word in words[2:]:
        name, _, value = word.partition("=")
        if name == "arg":
            run.args.append(value)
        elif name == "env":
            variable, _, setting = value.partition("=")
            run.env[variable] = setting
        else:
            run.options[name] = value
    return run


def runs_of(root, folder, optional=()):
    """All runs of root/folder and the folders that its lists name."""
    found = []
    for name in LISTS:
        path = Path(root, folder, name)
        if name == "testlist" and path.with_name("testlist.in").exists():
            continue  # made of it
        for line in path.read_text().splitlines() if path.exists() else ():
            line = substitute(line.split("#")[0].strip(), optional).strip()
            if not line or line.startswith("#"):
                continue
            first = line.split()[0]
            if Path(root, folder, first).is_dir():
                found += runs_of(root, f"{folder}/{first}", optional)
            else:
                found.append(parse(line, folder))
    return found
