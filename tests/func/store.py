# SPDX-License-Identifier: BSD-3-Clause
"""The store's server and tool: every command, two servers, and clients that mean harm.

Strangers send random, truncated, oversized and replayed bytes, or nothing at all, thousands of
connections in all; a holder of the key does not read what it asked for. None of them may be served,
keep others out, or make the server grow.
"""
import os
import random
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading

TOP = os.environ.get("top_builddir", ".")
TOOL = os.path.join(TOP, "tools/store/ctran_store")
SANITIZED = os.environ.get("CT_SANITIZER", "none") != "none"
STRANGERS = 20000 if os.environ.get("CT_SOAK", "0") != "0" else 2000
LIMIT = 300  # seconds; only a hang reaches it
failures = []


def expect(what, wanted, found):
    if wanted != found:
        failures.append(what)
        print(f"FAIL: {what}\n  wanted: {wanted!r}\n  found:  {found!r}", flush=True)


def tool(*args, status=0):
    done = subprocess.run([TOOL, *args], capture_output=True, text=True, timeout=LIMIT)
    if done.returncode != status:
        failures.append(args)
        print(f"FAIL: {args}\n  wanted: exit status {status}\n  found:  {done.returncode}\n"
              f"{done.stderr}", flush=True)
    return done.stdout


class Server:
    def __init__(self, key):
        self.proc = subprocess.Popen([TOOL, "--key-file", key, "--memory", "16", "serve"],
                                     stdout=subprocess.PIPE, text=True)
        self.name = self.proc.stdout.readline().strip()
        host, port = self.name.rsplit(":", 1)
        self.addr = (host, int(port))

    def resident_mb(self):
        with open(f"/proc/{self.proc.pid}/status", encoding="ascii") as f:
            return int(next(line for line in f if line.startswith("VmRSS")).split()[1]) / 1024

    def stop(self):
        self.proc.send_signal(signal.SIGTERM)
        said = self.proc.communicate(timeout=LIMIT)[0]
        expect("the server's exit status", 0, self.proc.returncode)
        return dict(part.split() for part in said.strip().split(", "))


def meetings(ask):
    """Waiting ends with what was waited for: each of two comes back with what was set before the
    last one came, and a barrier that lacks one lets nobody through."""
    both = " ".join([TOOL, *ask, "--timeout", str(LIMIT)])

    def start(script):
        return subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, text=True)

    waiters = [start(f"{both} wait late") for _ in range(2)]
    comers = [start(f"{both} barrier three 3 && {both} get released") for _ in range(2)]
    tool(*ask, "set", "late", "here")
    for waiter in waiters:
        expect("what was waited for", ("here\n", 0),
               (waiter.communicate(timeout=LIMIT)[0], waiter.returncode))
    tool(*ask, "set", "released", "yes")
    tool(*ask, "barrier", "three", "3")
    for comer in comers:
        expect("after the barrier", ("yes\n", 0),
               (comer.communicate(timeout=LIMIT)[0], comer.returncode))
    watcher = start(f"exec {both} watch late")
    expect("the first that a watcher sees", "here\n", watcher.stdout.readline())
    tool(*ask, "set", "late", "later")
    expect("and the next", "later\n", watcher.stdout.readline())
    watcher.terminate()
    expect("and no more", "", watcher.communicate(timeout=LIMIT)[0])
    short = [start(f"{both} --timeout 0.3 barrier lacking 3") for _ in range(2)]
    expect("a barrier that lacks one", [1, 1], [s.wait(timeout=LIMIT) for s in short])


def commands(key, one, two):
    ask = ["--key-file", key, "--server", f"{one.name},{two.name}"]
    tool(*ask, "set", "colour", "blue")
    expect("get", "blue\n", tool(*ask, "get", "colour"))
    tool(*ask, "get", "taste", status=1)
    expect("add", "7\n", tool(*ask, "add", "n", "7"))
    expect("add", "4\n", tool(*ask, "add", "n", "-3"))
    tool(*ask, "cas", "colour", "red", "green", status=1)
    tool(*ask, "cas", "colour", "blue", "green")
    expect("wait", "green\n", tool(*ask, "wait", "colour"))
    expect("watch", "green\n", tool(*ask, "--timeout", "3", "watch", "colour"))
    tool(*ask, "--timeout", "0.1", "wait", "taste", status=1)
    tool(*ask, "--timeout", "0.1", "barrier", "b", "2", status=1)
    tool(*ask, "barrier", "b", "1")
    meetings(ask)
    for i in range(20):
        tool(*ask, "set", f"many/{i:02}", str(i))
    keys = tool(*ask, "list", "many/").split()
    expect("list", [f"many/{i:02}" for i in range(20)], sorted(keys))
    alone = ["--key-file", key, "--server", one.name]
    expect("both servers have keys", True, 0 < len(tool(*alone, "list", "many/").split()) < 20)
    expect("dump", "many/07 7\n", tool(*ask, "dump", "many/07"))
    tool(*ask, "check", "n")
    tool(*ask, "delete", "n")
    tool(*ask, "check", "n", status=1)
    tool(*ask, "frobnicate", "n", status=2)
    tool("--server", one.name, "get", "n", status=1)


def connect(server):
    s = socket.create_connection(server.addr, timeout=LIMIT)
    s.settimeout(LIMIT)
    return s


def answer(s):
    """All that comes until the other end closes."""
    got = b""
    try:
        while part := s.recv(65536):
            got += part
    except ConnectionError:
        pass
    s.close()
    return got


def record(key, server):
    """What a good client says to a server in one whole request, seen by a relay."""
    relay = socket.create_server(("127.0.0.1", 0))
    said = []

    def pump(source, sink, keep):
        try:
            while part := source.recv(65536):
                if keep:
                    said.append(part)
                sink.sendall(part)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def carry():
        client, _ = relay.accept()
        onward = connect(server)
        back = threading.Thread(target=pump, args=(onward, client, False))
        back.start()
        pump(client, onward, True)
        back.join()

    carrier = threading.Thread(target=carry)
    carrier.start()
    tool("--key-file", key, "--server", "127.0.0.1:%d" % relay.getsockname()[1], "set", "seen", "1")
    carrier.join()
    return b"".join(said)


def strangers(server, recorded):
    rng = random.Random(1)
    for i in range(STRANGERS):
        s = connect(server)
        kind = i % 4
        said = (rng.randbytes(rng.randrange(1, 300)), recorded, recorded[:rng.randrange(1, 40)],
                recorded[:40] + rng.randbytes(4096))[kind]
        try:
            s.sendall(said)
            if kind in (0, 2):
                s.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        got = answer(s)
        # At most its half of a proof: 72 bytes.
        expect(f"bytes for stranger {i}", True, len(got) <= 72)
        if failures:
            return


def slow(server, key):
    """More silent connections than the server lets wait: it serves who has the key all the same."""
    idle = [connect(server) for _ in range(1500)]
    ask = ["--key-file", key, "--server", server.name]
    expect("get beside silent strangers", "green\n", tool(*ask, "get", "colour"))
    gone = 0
    for s in idle[:400]:  # the oldest have been sent away
        gone += s.recv(1) == b""
    expect("silent strangers sent away", 400, gone)
    for s in idle:
        s.close()


def main():
    if subprocess.run([TOOL, "key"], capture_output=True, check=False).returncode != 0:
        print("SKIP: this build is without libsodium")
        return 77
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
    with tempfile.TemporaryDirectory(prefix="ctran-test-") as tmp:
        key, other = os.path.join(tmp, "key"), os.path.join(tmp, "other")
        for path in (key, other):
            with open(path, "w", encoding="ascii") as f:
                f.write(tool("key"))
        one, two = Server(key), Server(key)
        commands(key, one, two)
        ask = ["--server", one.name, "--timeout", "0.2", "set", "stolen", "1"]
        tool("--key-file", other, *ask, status=1)
        tool("--key-file", key, "--server", one.name, "set", "colour", "green")
        recorded = record(key, one)
        expect("a recorded request", True, b"seen" in recorded)
        tool("--key-file", key, "--server", one.name, "delete", "seen")
        before = one.resident_mb()
        strangers(one, recorded)
        slow(one, key)
        grown = one.resident_mb() - before
        expect(f"grown by less than 16 MB, not by {grown:.0f}", True, SANITIZED or grown < 16)
        keys = tool("--key-file", key, "--server", one.name, "list")
        expect("nothing of a stranger is stored", False, "seen" in keys or "stolen" in keys)
        said = one.stop()
        two.stop()
        expect("strangers refused", True, int(said["refused"]) >= STRANGERS)
    print(f"{len(failures)} failures")
    return 1 if failures else 0


sys.exit(main())
