# SPDX-License-Identifier: BSD-3-Clause
"""Who reads a machine by hwloc leaves the components for accelerators out, in launcher, ranks and
tools; a user's HWLOC_COMPONENTS decides otherwise. A plugin that stands in for hwloc's own for CUDA
notes that it is opened, and that its component is enabled."""
import os
import shutil
import subprocess
import sys
import tempfile

from launch import CTRANRUN, TOP, check

PLUGIN = os.path.join(TOP, "tests/launch/hwloc_note.so")
INFO = os.path.join(TOP, "tools/ctran_info")
HELLO = os.path.join(TOP, "examples/hello")
COMMANDS = ([CTRANRUN, "-n", "2", "true"], [CTRANRUN, "-n", "2", "--bind-to", "none", "true"],
            [CTRANRUN, "-n", "2", "--map-by", "gpu", "true"], [INFO, "--topology"])


def notes(folder, command, **settings):
    """What the plugin noted while the command ran."""
    file = f"{folder}/notes"
    if os.path.exists(file):
        os.remove(file)
    env = dict(os.environ, HWLOC_PLUGINS_PATH=folder, CT_HWLOC_NOTES=file, TMPDIR=folder,
               **settings)
    subprocess.run(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, timeout=300)
    if not os.path.exists(file):
        return set()
    with open(file, encoding="utf-8") as f:
        return set(f.read().split())


def main():
    for name in ("HWLOC_COMPONENTS", "HWLOC_PLUGINS_BLACKLIST", "HWLOC_XMLFILE", "HWLOC_SYNTHETIC"):
        os.environ.pop(name, None)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(PLUGIN, f"{folder}/hwloc_cuda.so")
        if "enabled" not in notes(folder, [CTRANRUN, "-n", "1", "true"], HWLOC_COMPONENTS="cuda"):
            print("skipped: this hwloc opens no plugins")
            sys.exit(77)
        for command in COMMANDS:
            found = notes(folder, command)
            check("enabled" not in found, f"{command}: the component is {found}")
            found = notes(folder, command, HWLOC_COMPONENTS="cuda")
            check("enabled" in found, f"{command} with HWLOC_COMPONENTS=cuda: it is {found}")
        # Daemon and ranks do not even open the plugin; ranks see the user's own environment.
        for command in (COMMANDS[0], [CTRANRUN, "-n", "2", HELLO], COMMANDS[3]):
            found = notes(folder, command)
            check(found == set(), f"{command}: the plugin is {found}")
        show = [CTRANRUN, "-n", "2", "sh", "-c", "echo \"<$HWLOC_PLUGINS_BLACKLIST>\""]
        env = {k: v for k, v in os.environ.items() if k != "HWLOC_PLUGINS_BLACKLIST"}
        for value, wanted in (({}, b"<>\n<>\n"), ({"HWLOC_PLUGINS_BLACKLIST": "x"}, b"<x>\n<x>\n")):
            out = subprocess.run(show, env={**env, **value, "TMPDIR": folder}, timeout=300,
                                 stdin=subprocess.DEVNULL, capture_output=True)
            check(out.stdout == wanted, f"in the ranks' environment: {out}")
    print("hwloc: accelerators are left out unless the user wants them")


main()
