# SPDX-License-Identifier: BSD-3-Clause
"""The shells' completions: the files in the tree are what the table of options makes, every option
is in them, and bash, zsh and fish (where they are) take them and complete."""
import os
import re
import shutil
import subprocess
import tempfile

from launch import CTRANRUN, check, expect, run

SRC = os.environ.get("top_srcdir", ".")
FILES = {"bash": "bash/ctranrun", "zsh": "zsh/_ctranrun", "fish": "fish/ctranrun.fish"}
text = run("--help")[1]
options = re.findall(r"(?<=[ ,])--?[a-z][a-z-]*(?=[, \n])",
                     "\n".join(l[:60] for l in text.split("\n") if l.startswith("  -")))
check(len(options) > 15, f"--help has the options {options}")
for shell, name in FILES.items():
    made = expect(["--completion", shell], 0, err="")[1]
    path = f"{SRC}/launcher/cli/completion/{name}"
    with open(path) as f:
        check(f.read() == made, f"{path} is old; run: make update-completion")
    for opt in options:
        want = {"fish": f"-{'l' if opt[:2] == '--' else 's' if len(opt) == 2 else 'o'} "
                f"{opt.lstrip('-')}"}.get(shell, opt)
        check(re.search(rf"(?<![\w-]){re.escape(want)}(?![\w-])", made),
              f"{opt} is not in {shell}'s completion")


def bash_completes(words):
    script = (f'source {SRC}/launcher/cli/completion/bash/ctranrun\nCOMP_WORDS=("$@")\n'
              'COMP_CWORD=$(($# - 1))\n_ctranrun\nprintf "%s\\n" "${COMPREPLY[@]}"\n')
    return subprocess.run(["bash", "--norc", "-c", script, "bash", *words], capture_output=True,
                          text=True, timeout=300, cwd=tempfile.gettempdir())


if shutil.which("bash"):
    os.makedirs(os.path.join(tempfile.gettempdir(), "ctran-complete-dir"), exist_ok=True)
    for words, want in ((["ctranrun", "--bi"], ["--bind-to"]),
                        (["ctranrun", "-n", "2", "--bind-to", ""],
                         ["none", "core", "numa", "package", "l3cache", "hwthread"]),
                        (["ctranrun", "--bind-to", "=", "c"], ["core"]),
                        (["ctranrun", "--bind-to", "=", "core", "--map-by", "n"], ["node", "numa"]),
                        (["ctranrun", "-n", ""], [""]),
                        (["ctranrun", "-n", "2", "true", "--bi"], [""]),
                        (["ctranrun", "true", "x", ":", "--bi"], ["--bind-to"]),
                        (["ctranrun", "true", ":", "-n", "2", "--stdin", "a"], ["all"]),
                        (["ctranrun", "--wdir", "ctran-complete-d"], ["ctran-complete-dir"])):
        got = bash_completes(words)
        check(got.stdout.split("\n")[:-1] == want and got.stderr == "",
              f"bash completes {words} as {got.stdout!r} {got.stderr!r}, expected {want}")
    os.rmdir(os.path.join(tempfile.gettempdir(), "ctran-complete-dir"))
else:
    print("completion: no bash to try it with")
for shell, args in (("zsh", ["-n"]), ("fish", ["--no-execute"])):
    if shutil.which(shell):
        got = subprocess.run([shell, *args, f"{SRC}/launcher/cli/completion/{FILES[shell]}"],
                             capture_output=True, text=True, timeout=300)
        check((got.returncode, got.stderr) == (0, ""), f"{shell} reads its file: {got}")
    else:
        print(f"completion: no {shell} to try it with")
if shutil.which("fish"):
    got = subprocess.run(["fish", "--no-config", "-c",
                          f"source {SRC}/launcher/cli/completion/{FILES['fish']}; "
                          "complete -C 'ctranrun --bind-to c'"], capture_output=True, text=True)
    check(got.stdout.split("\t")[0] == "core", f"fish completes --bind-to c as {got.stdout!r}")
print("completion: for three shells")
