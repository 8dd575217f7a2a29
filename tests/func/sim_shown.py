# SPDX-License-Identifier: BSD-3-Clause
"""ctran_sim, as somebody in front of it sees it: no label of its picture lies on another, a long
run gives signs of life, and a bad value gets one line that says what is wanted."""
import os
import pty
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

BUILD = os.path.abspath(os.environ.get("top_builddir", "."))
HERE = os.path.dirname(os.path.abspath(__file__))
TOOL = os.path.join(BUILD, "tools/sim/ctran_sim")
sys.path.insert(0, os.path.join(HERE, "../topology"))
import check_svg  # noqa: E402

LONG = ("--coll", "alltoall", "--algo", "pairwise", "--ranks", "16384", "--full")  # for minutes
SIGN = rb"ctran_sim: run 1 of 1, alltoall pairwise on 16384 ranks: \d+M events, \d+ s"
failures = checks = 0


def expect(what, good, found):
    global failures, checks
    checks += 1
    if not good:
        failures += 1
        print(f"FAIL: {what}\n  found:  {found!r}", flush=True)


# ---- the picture ---------------------------------------------------------------------------------

def labels(path):
    """The boxes of all labels, as wide as the widest common typeface makes them."""
    found = []
    for e in ET.parse(path).getroot().iter(check_svg.SVG + "text"):
        text = "".join(t for t in e.itertext())
        size = float(e.get("font-size"))
        width = check_svg.text_width(text, size, e.get("font-weight") == "bold")
        x, y = float(e.get("x")), float(e.get("y"))
        x -= {"end": width, "middle": width / 2}.get(e.get("text-anchor"), 0)
        found.append(check_svg.Box(x, y - size * 0.8, x + width, y + size * 0.2, text))
    return found


def picture(*args):
    subprocess.run([TOOL, "--coll", "all", *args, "--plot", "a.svg"], check=True, timeout=240,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    root, found = ET.parse("a.svg").getroot(), labels("a.svg")
    names = [b for b in found if re.match(r"\d+ \w+ \w+", b.what)]
    lines = [e for e in root.iter(check_svg.SVG + "path") if e.get("class") == "time"]
    expect(f"{args}: each line has its name", len(lines) == len(names) > 0,
           (len(lines), len(names)))
    over = [(a.what, b.what) for i, a in enumerate(found) for b in found[:i] if a.overlaps(b)]
    expect(f"{args}: no label lies on another", over == [], over)
    whole = check_svg.Box(0, 0, float(root.get("width")), float(root.get("height")), "picture")
    out = [b.what for b in found if not whole.holds(b)]
    expect(f"{args}: all labels are inside", out == [], out)


def pictures():
    picture("--ranks", "64", "--bytes", "8,1K,64K,4M")
    picture("--ranks", "5,16", "--bytes", "8,1K")
    picture("--ranks", "2,16,1K", "--algo", "ring,bruck,binomial", "--bytes", "1K")
    picture("--ranks", "2", "--bytes", "1K")
    # The widest numbers of ranks stand below each other's ends.
    picture("--ranks", "131072,262144,524288,1M", "--algo", "ring", "--bytes", "0")


# ---- signs of life -------------------------------------------------------------------------------

def wait_for_sign(fd):
    """Reads until the sign of life, or the end."""
    seen = b""
    while not re.search(SIGN, seen):
        part = os.read(fd, 4096)
        if not part:
            break
        seen += part
    return seen


def signs():
    master, slave = pty.openpty()
    for end, place in ((slave, master), (subprocess.PIPE, None)):
        with subprocess.Popen([TOOL, *LONG], stdout=subprocess.DEVNULL, stderr=end) as p:
            seen = wait_for_sign(place if place is not None else p.stderr.fileno())
            p.kill()
        expect("a long run says how far it is", re.search(SIGN, seen), seen)
        expect("a line for those who are no terminal", place is not None or b"\r" not in seen, seen)
    subprocess.run([TOOL, *LONG[:4], "--ranks", "2048", "--full"], check=True, timeout=240,
                   stdout=subprocess.DEVNULL, stderr=slave)
    os.write(slave, b"end")
    seen = b""
    while not seen.endswith(b"end"):
        seen += os.read(master, 4096)
    expect("the terminal is as it was", re.sub(rb"[^\r]*\r\x1b\[K", b"", seen) == b"end", seen)
    os.close(slave)
    os.close(master)


# ---- messages ------------------------------------------------------------------------------------

def messages():
    for args, why in ((("--ranks", "99999999"), "ctran_sim: --ranks: 99999999: wanted: up to 64 "
                       "numbers from 1 to 1048576, as in 8,64,1K\n"),
                      (("--links", "65"),
                       "ctran_sim: --links: 65: wanted: a number from 0 to 64\n"),
                      (("--levels", "rack,far"), "wanted: some of node,nvlink,rack,zone,dc; "
                       "numbers, as in 4x2; or off\n"),
                      (("--element", "2", "--bytes", "3"), "ctran_sim: --bytes is not a multiple "
                       "of --element; ctran_sim --help lists the options\n")):
        done = subprocess.run([TOOL, "--coll", "bcast", *args], capture_output=True, text=True,
                              timeout=240)
        expect(f"{args}", (done.returncode, done.stdout) == (2, "") and done.stderr.endswith(why)
               and done.stderr.count("\n") == 1, (done.returncode, done.stdout, done.stderr))
    # Each option that takes not any text says what it takes.
    done = subprocess.run([TOOL, "--help"], capture_output=True, text=True, timeout=240)
    names = re.findall(r"--([a-z-]+) [A-Z]", done.stdout)
    for name in sorted(set(names) - {"coll", "algo", "cluster", "trace", "plot"}):
        done = subprocess.run([TOOL, "--coll", "bcast", f"--{name}", "-7"], capture_output=True,
                              text=True, timeout=240)
        expect(f"--{name} -7", done.stderr.startswith(f"ctran_sim: --{name}: -7: wanted: ")
               and "(null)" not in done.stderr, done.stderr)
    expect("options seen", "ranks" in names and "starts" in names, names)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for part in (pictures, messages, signs):
            part()
        os.chdir("/")
    print(f"{checks} checks, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
