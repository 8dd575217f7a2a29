# SPDX-License-Identifier: BSD-3-Clause
"""How suites are laid out: which sources a program has, and what is linked to it."""
import re
from pathlib import Path

MPICH_CONFIG = """
#define HAVE_ATOMIC 1
#define HAVE_GETRUSAGE 1
#define HAVE_LONG_DOUBLE 1
#define HAVE_LONG_DOUBLE__COMPLEX 1
#define HAVE_LONG_LONG 1
#define HAVE_LONG_LONG_INT 1
#define HAVE_MPI_INIT_THREAD 1
#define HAVE_MPI_WIN_CREATE 1
#define HAVE_PTHREAD_BARRIER_INIT 1
#define HAVE_STDARG_H 1
#define HAVE_STRING_H 1
#define HAVE_SYS_RESOURCE_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_UNISTD_H 1
#define HAVE__BOOL 1
#define USE_STRICT_MPI 1
#define THREAD_PACKAGE_NAME THREAD_PACKAGE_POSIX
"""


class Plain:
    """A folder of programs, each of one source file."""

    includes = ()
    support = ()
    optional = ()
    foreign = r"$^"  # nothing

    def __init__(self, root):
        self.root = root

    def headers(self):
        """Files that the suite's own configure would make."""
        return {}

    def parts_of(self, folder, program):
        """Sources of a program, relative to its folder, and compiler flags."""
        return [f"{program}.c"], []

    def support_of(self, texts, objects):
        """Which of the support's objects a program of these sources is linked to."""
        return objects

    def left_out(self, run):
        """Why a run is left out, beside rules.py; else None."""
        return None


class Mpich(Plain):
    """test/mpi of MPICH: a frame (util), a library that makes datatypes (dtpools), and automake
    files that say of which sources a program is."""

    includes = ("include", "dtpools/include", "util")
    support = (
        "util/mtest.c",
        "util/mtest_common.c",
        "util/mtest_thread.c",
        "util/dtypes.c",
        "util/run_mpitests.c",
        "dtpools/src/dtpools.c",
        "dtpools/src/dtpools_attr.c",
        "dtpools/src/dtpools_custom.c",
        "dtpools/src/dtpools_desc.c",
        "dtpools/src/dtpools_init_verify.c",
        "dtpools/src/dtpools_misc.c",
    )
    optional = ("comm_overlap",)  # as its configure has it by default
    foreign = r"MPIR_|MPICH_|MPIEXEC_"
    folders = {
        "f77": "Fortran and C++",
        "f90": "Fortran and C++",
        "f08": "Fortran and C++",
        "cxx": "Fortran and C++",
        "faults": "what the suite itself leaves out by default",
    }

    def headers(self):
        # dtpools includes its own configuration from the folder above its headers.
        return {
            "mpitestconf.h": MPICH_CONFIG,
            "../dtpoolsconf.h": MPICH_CONFIG,
            "mtest_mpix.h": "",
        }

    def makefile(self, folder):
        path = Path(self.root, folder, "Makefile.am")
        return path.read_text().replace("\\\n", " ") if path.exists() else ""

    def parts_of(self, folder, program):
        text = self.makefile(folder)
        sources = re.search(rf"^{program}_SOURCES\s*=(.*)$", text, flags=re.M)
        defines = re.search(rf"^{program}_CPPFLAGS\s*=(.*)$", text, flags=re.M)
        flags = defines.group(1).replace("$(AM_CPPFLAGS)", "").split() if defines else []
        return sources.group(1).split() if sources else [f"{program}.c"], flags

    def support_of(self, texts, objects):
        """Programs without main have run(), which the frame calls."""
        own_main = any(re.search(r"^int main\(", text, flags=re.M) for text in texts)
        return [o for o in objects if not (own_main and "run_mpitests" in o)]

    def left_out(self, run):
        return next((why for f, why in self.folders.items() if f in run.folder.split("/")), None)


def of(root):
    return Mpich(root) if Path(root, "util", "mtest.c").exists() else Plain(root)
