# SPDX-License-Identifier: BSD-3-Clause
"""The lists of ctran-mpi(7): which calls are refused, by section."""


def refused(table, has, hand):
    for section in table.calls:
        names = [c.name for c in section.entries if c.name not in hand and c.ctran not in has]
        names = [n for n in names if not (n.endswith("_c") and n[:-2] in names)]
        if names:
            yield section.title, names


def page(path, table, has, hand):
    """The page as it should be: what stands between its two marks is written anew."""
    if not path.is_file():
        return ""
    before, rest = path.read_text(encoding="utf-8").split('.\\" begin of list\n', 1)
    after = rest.split('.\\" end of list\n', 1)[1]
    lines = []
    for title, names in refused(table, has, hand):
        lines.append(f".It {title}")
        lines += [f".Fn MPI_{n} ," for n in names[:-1]] + [f".Fn MPI_{names[-1]} ."]
    body = "\n".join(lines) + ("\n" if lines else "")
    return f'{before}.\\" begin of list\n{body}.\\" end of list\n{after}'
