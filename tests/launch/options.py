# SPDX-License-Identifier: BSD-3-Clause
"""The command line: a bad one gives one clear line, starts nothing and exits with 2, 126, 127."""
import os
import struct
import tempfile

from launch import CTRANRUN, check, expect, run

ONE_LINE = r"[^\n]*\n"


def usage(args, words):
    got = expect(args, 2, out="", err=ONE_LINE)
    for word in words:
        check(word in got[2], f"{args}: the message {got[2]!r} does not say {word!r}")


for n in ("0", "-3", "x", "", "4x", "99999999999999999999", "1.5", "65537"):
    for opt in ("-n", "-np", "--np"):
        usage([opt, n, "true"], [f'{opt} "{n}"', "1 to 65536", "-n 4"])
usage(["--np=0", "true"], ['--np "0"'])
usage(["-n"], ["-n needs a value", "-n N"])
usage([], ["no program", "usage: ctranrun"])
usage(["-n", "2"], ["no program"])
usage(["--tagoutput", "true"],
      ["unknown option --tagoutput", "did you mean --tag-output;", "--help"])
usage(["--bindto", "core", "true"], ["did you mean --bind-to;"])
usage(["-bindto", "core", "true"], ["did you mean --bind-to;"])
usage(["--hostfiel=x", "true"], ["unknown option --hostfiel=x", "did you mean --hostfile;"])
for far in ("-z", "--zzz", "--frobnicate"):
    got = expect([far, "true"], 2, out="", err=ONE_LINE)
    check(f"unknown option {far}; ctranrun --help" in got[2], f"{far}: {got[2]!r}")
usage(["--tag-output=1", "true"], ["--tag-output takes no value", '"1"'])
usage(["-x", "CT_TEST_UNSET", "true"], ["CT_TEST_UNSET", "no such variable", "CT_TEST_UNSET=VALUE"])
usage(["-x", "=1", "true"], ["NAME or NAME=VALUE"])
usage(["--set", "EAGER_LIMIT", "true"], ["NAME=VALUE"])
usage(["--set", "EAGER_LIMT=1K", "true"], ["CTRAN_EAGER_LIMT", "did you mean CTRAN_EAGER_LIMIT"])
usage(["--set", "EAGER_LIMIT=soon", "true"], ["CTRAN_EAGER_LIMIT", "soon", "expected a number"])
usage(["--set", "LOG=loud", "true"], ["CTRAN_LOG", "loud", "none|error|warn"])
usage(["--set", "LOG=warn\nSPIN=1", "true"], ["one line"])
usage(["--wdir", "/no/such/dir", "true"], ['--wdir "/no/such/dir"', "No such file or directory"])
usage(["--wdir", "/dev/null", "true"], ["not a directory"])
for t in ("0", "-1", "soon", "nan", "1e99", ""):
    usage(["--timeout", t, "true"], [f'--timeout "{t}"', "number of seconds"])
for v in ("0", "-1", "x", "257"):
    usage(["--gpus-per-rank", v, "true"], [f'--gpus-per-rank "{v}"', "from 1 to 256"])
for name in ("CUDA_VISIBLE_DEVICES", "CTRAN_GPU_MAP"):
    usage(["--map-by", "gpu", "-x", f"{name}=1", "true"], [name, "environment of ctranrun"])
    usage(["--gpus-per-rank", 2, "--env-rank", f"all:{name}=1", "true"], [name])
for v in ("shm", "", "core:", "core:x"):
    usage(["--bind-to", v, "true"], [f'"{v}"', "none, core, numa, package, l3cache or hwthread"])
for v in ("ppr:2:socket", "ppr:2", "ppr:2:node:pe=1"):
    usage(["--map-by", v, "true"], [f'"{v}"', "ppr:N:node", "--ppn N"])
usage(["--map-by", "ppr:x:node", "true"], ['"x"', "a number of ranks"])
for v in ("shm", "core:span", "core:pe=1:", "", "core:",
          "core:pe", "core:pe=", "core:pe=0", "core:pe=x", "core:2", ":pe=1",
          "core:pe=70000"):
    usage(["--map-by", v, "true"],
          [f'--map-by "{v}"', "slot, node, core, numa, package, l3cache, hwthread or gpu", ":pe="])
for v in ("x", "", "-3", "1.5", "70000", "some"):
    usage(["--stdin", v, "true"], [f'--stdin "{v}"', "a rank, all or none"])
usage(["-n", 2, "--stdin", "2", "true"], ["--stdin 2", "0 to 1"])
for v in ("", "A=1", "0", "0:", "0:A", "0:=1", "x:A=1", "0,:A=1", ",0:A=1", "1-0:A=1", "0-:A=1",
          "all,1:A=1", "0 1:A=1", "99999999999:A=1"):
    usage(["--env-rank", v, "true"], [f'--env-rank "{v}"', "RANKS:NAME=VALUE"])
usage(["-n", 3, "--env-rank", "0-3:A=1", "true"], ["no rank 3", "0 to 2"])
usage(["--output-dir", "", "true"], ["--output-dir", "a directory"])
usage(["--output-dir", ":nocopy", "true"], ["--output-dir", "a directory"])
usage(["--output-dir", "/dev/null", "true"], ['"/dev/null"', "Not a directory"])
usage(["--output-dir", "/dev/null/x", "true"], ['"/dev/null/x"', "Not a directory"])
usage(["--output-dir", "/proc/no", "true"], ['"/proc/no"', "No such file or directory"])
for v in ("", " ", "gdb '--args", 'gdb "'):
    usage(["--debugger", v, "true"], [f'--debugger "{v}"', '--debugger "gdb --args"'])
for v in ("", "x", "0:", "1-0", "0,"):
    usage(["--debug-ranks", v, "true"], [f'--debug-ranks "{v}"', "expected ranks"])
usage(["-n", 2, "--debug-ranks", "1-2", "true"], ["no rank 2", "0 to 1"])
usage(["--status", "../x"], ['--status "../x"', "hexadecimal", "4f2a91"])
usage(["--status", ""], ['--status ""', "hexadecimal"])
usage(["--status", "abc", "def"], ["one job at most", '"def"'])
usage(["--completion", "csh"], ['--completion "csh"', "bash, zsh or fish"])
usage(["--completion"], ["--completion needs a value"])
for args in ([":", "true"], ["true", ":"], ["true", ":", "-n", 2], ["true", ":", ":", "true"]):
    usage(args, ["no program was given"])
usage(["true", ":", "-n", "x", "true"], ['-n "x"'])
usage(["-n", 40000, "true", ":", "-n", 40000, "true"], ["80000 ranks together", "65536"])

# What users of other launchers type. It is taken where it means what an option of ours means.
SHOW = ["sh", "-c", 'echo "$CTRAN_SIZE $PWD $A $B"']
HERE = os.getcwd()
for args, out in (
        (["-N", 2], f"2 {HERE}  \n" * 2), (["-ppn", 2], f"2 {HERE}  \n" * 2),
        (["--npernode", 2], f"2 {HERE}  \n" * 2), (["--map-by", "ppr:2:node"], f"2 {HERE}  \n" * 2),
        (["--ntasks=2"], f"2 {HERE}  \n" * 2), (["--n", 2], f"2 {HERE}  \n" * 2),
        (["--nproc-per-node=2"], f"2 {HERE}  \n" * 2),
        (["-wdir", "/usr"], "1 /usr  \n"), (["--wd", "/usr"], "1 /usr  \n"),
        (["--allow-run-as-root"], f"1 {HERE}  \n"), (["-genvall"], f"1 {HERE}  \n"),
        (["-env", "A", "a b"], f"1 {HERE} a b \n"), (["-genv", "A", "%r=1"], f"1 {HERE} %r=1 \n"),
        (["-genv", "A", "all", "-x", "A=own"], f"1 {HERE} own \n"),
        (["-l"], f"[0] 1 {HERE}  \n"), (["-tag-output"], f"[0] 1 {HERE}  \n"),
        (["--oversubscribe", "-H", "localhost", "-n", 2], f"2 {HERE}  \n" * 2),
        (["-hosts", "localhost:2"], f"2 {HERE}  \n" * 2)):
    expect([*args, *SHOW], 0, out=out, err="")
got = run("-n", 1, "-genv", "A", "1", *SHOW, ":", "-env", "B", "2", *SHOW)
check(sorted(got[1].splitlines()) == [f"2 {HERE} 1 ", f"2 {HERE} 1 2"], f"-genv for all: {got}")
# Else our word for it is said.
for args, word in ((["--mca", "btl", "tcp"], "--set NAME=VALUE"), (["-mca", "x", "y"], "--set"),
                   (["-c", 2], "--map-by core:pe=N"), (["--cpus-per-task=2"], "--map-by core:pe=N"),
                   (["--display-map"], "--report-bindings"), (["-iface", "eth0"], "TCP_INTERFACES"),
                   (["--rsh", "x"], "--launch-agent"), (["--time", "5"], "--timeout SECONDS"),
                   (["--output-filename", "x"], "--output-dir DIR"), (["--with-ft", "ulfm"],
                                                                       "--enable-recovery"),
                   (["-w", "n[1-2]"], "-H HOST"), (["--nodes=2"], "--ppn N")):
    usage([*args, "true"], [f"{str(args[0]).split('=')[0]} is no option of ctranrun", word])
usage(["-genv", "A"], ["-genv needs NAME and VALUE"])
usage(["-genv", "", "1", "true"], ['"=1"', "NAME and VALUE"])
usage(["-N"], ["-N needs N"])
usage(["-N", "x", "true"], ['-N "x"', "a number of ranks"])
usage(["--allow-run-as-root=1", "true"], ["takes no value"])
usage(["-H", "localhost", "-n", 2, "true"], ["do not fit", "--oversubscribe"])

expect(["--version"], 0, err="")
got = expect(["--help"], 0, err="")
for word in ("usage: ctranrun", "-n, -np, --np N", "-x NAME[=VALUE]", "--set", "--wdir",
             "--tag-output", "--timeout", "--bind-to none|core", "-v", "--version",
             "--map-by", "--stdin", "--output-dir", "--dry-run", "--report-bindings",
             "--env-rank"):
    check(word in got[1], f"--help does not say {word!r}")

# Programs that cannot be run.
expect(["-n", "2", "no-such-program"], 127, out="",
       err=r"ctranrun: no-such-program: not found in PATH \([^\n]*\); give the program's path\n")
expect(["/no/such/program"], 127, out="",
       err=r"ctranrun: /no/such/program: there is no such file[^\n]*\n")
expect(["/"], 126, out="", err=r"ctranrun: /: cannot be executed: Is a directory[^\n]*\n")
with tempfile.TemporaryDirectory() as d:
    plain = os.path.join(d, "plain")
    with open(plain, "w") as f:
        f.write("no program\n")
    expect([plain], 126, out="",
           err=r"ctranrun: [^\n]*plain: cannot be executed: Permission denied[^\n]*\n")
    expect(["-x", f"PATH={d}", "plain"], 126, out="",
           err=r"ctranrun: [^\n]*Permission denied[^\n]*\n")
    os.chmod(plain, 0o755)
    def cannot(content, status, words):
        """A file with this content cannot be executed, for a reason that is told."""
        with open(plain, "wb") as f:
            f.write(content)
        got = expect(["-n", "3", plain], status, out="",
                     err=rf"ctranrun: job [0-9a-f]{{6}}: cannot execute {plain}: [^\n]*\n")
        for word in words:
            check(word in got[2], f"{content!r}: the message {got[2]!r} does not say {word!r}")

    cannot(b"no program\n", 126, ["neither a program", "begins with #!/bin/sh"])
    cannot(b"", 126, ["it is empty"])
    cannot(b"#!/no/such/interpreter -x\n", 127, ["its interpreter /no/such/interpreter, which"])
    cannot(b"#!/bin/sh\r\necho\r\n", 127, ["CR LF", '"/bin/sh"', "sed -i"])
    cannot(b"#! /dev/null\n", 126, ["its interpreter /dev/null may not be executed"])
    # Made for another machine: this one's own header with another number, other widths, and
    # what is no program at all.
    with open(CTRANRUN, "rb") as f:
        own = f.read(1 << 12)
    other = 183 if struct.unpack_from("=H", own, 18)[0] != 183 else 62
    cannot(own[:18] + struct.pack("=H", other) + own[20:], 126,
           ["made for " + ("AArch64" if other == 183 else "x86-64"), "this machine is"])
    cannot(own[:18] + struct.pack("=H", 0xfffe) + own[20:], 126, ["ELF machine 65534"])
    cannot(own[:16] + struct.pack("=H", 1) + own[18:], 126, ["object file", "link the program"])
    loader = own.find(b"/ld-")
    if loader > 0:
        cannot(own[:loader] + b"/no-" + own[loader + 4:], 127, ["its loader /", "/no-"])
    with open(plain, "w") as f:
        f.write("#!/bin/sh\necho \"$0 in $PWD\"\n")
    # A relative program is looked up where the ranks will be.
    expect(["--wdir", d, "./plain"], 0, out=f"{d}/./plain in {d}\n", err="")
    expect(["-x", f"PATH={d}:/usr/bin:/bin", "plain"], 0, err="")

# Options end at the program, or at --.
expect(["-n", "1", "echo", "-n", "x"], 0, out="x", err="")
expect(["-n", "1", "--", "echo", "--help"], 0, err="")
print("options: all messages as expected")
