# SPDX-License-Identifier: BSD-3-Clause
"""Clients that mean harm, at everything that a running job listens on: random bytes, handshakes
that were recorded and are played again, whole, cut short or changed, lengths of gigabytes, single
bytes with no end, silence, ends in the middle. The job runs on three made-up hosts with tcp between
them, whose connections break and are made anew all the while; its daemons have its store, and
beside it runs a server of a store whose clients go on, too.

Nobody is told more than a challenge, no process grows by more than GROWN_MB, all who stay are sent
away, the job ends well, and what listens serves those who may ask afterwards. CT_STRANGERS sets how
many come (2000, and 100000 with CT_SOAK, others each time), CT_SEED repeats a run."""
import collections
import os
import random
import re
import resource
import selectors
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.environ.get("top_srcdir", "."), "tests/launch"))
from launch import CTRANRUN, TOP, Job, check, cmdline, until  # noqa: E402

SANITIZED = os.environ.get("CT_SANITIZER", "none") != "none"
SOAK = os.environ.get("CT_SOAK", "0") != "0"
STRANGERS = int(os.environ.get("CT_STRANGERS", 100000 if SOAK else 2000))
SEED = int(os.environ.get("CT_SEED", random.randrange(1 << 30) if SOAK else 1))
RANDOM = random.Random(SEED)
LIMIT = 600        # seconds; only a hang reaches it
GROWN_MB = 8       # by which a process may have grown at the end, whatever came to it
CHALLENGE = 72     # bytes that an end says before the other has proved itself
ROOM, LINGER = 200, 80   # strangers at a time, and of these who have no intention to go
RANKS, HOSTS = 6, ["n0:2", "n1:2", "n2:2"]
if os.environ.get("CT_SANITIZER") == "thread":
    # libpmix's locks, which ThreadSanitizer does not see, end daemons of several hosts: one host,
    # whose ranks take each other for those of others.
    HOSTS = []
STORE = os.path.join(TOP, "tools/store/ctran_store")
HELLO = struct.pack("=I", 0x48435443)    # how a connection between ranks begins


# ---- who listens ---------------------------------------------------------------------------------

def sockets_of(pid):
    found = set()
    for fd in os.scandir(f"/proc/{pid}/fd"):
        try:
            target = os.readlink(fd.path)
        except OSError:
            continue
        if target.startswith("socket:["):
            found.add(target[8:-1])
    return found


def listening_tcp():
    """Of this machine: {inode: (address, port)}."""
    found = {}
    with open("/proc/net/tcp", encoding="ascii") as table:
        for word in map(str.split, list(table)[1:]):
            if word[3] == "0A":
                ip, port = word[1].split(":")
                found[word[9]] = (socket.inet_ntoa(struct.pack("=I", int(ip, 16))), int(port, 16))
    return found


def dump_of(job):
    done = subprocess.run([CTRANRUN, "--store-dump"], capture_output=True, text=True, timeout=LIMIT,
                          env=dict(os.environ, TMPDIR=job.tmp), check=False)
    return done.stdout if done.returncode == 0 else ""


def stores_of(job):
    """Where the daemons have the job's store."""
    found = re.findall(r"# server \d+, ([\d.]+):(\d+), holds:", dump_of(job))
    return {(ip, int(port)) for ip, port in found}


def doors_of(job, ranks, daemons):
    """[(what, address)]: the ranks' and the daemons'; and that the job has no others. But for one
    of libpmix in each daemon, on loopback, which is left in peace: its server reads what strangers
    say without doing anything else meanwhile, for seconds where they are silent."""
    tcp, doors, found, stores = listening_tcp(), [], collections.Counter(), stores_of(job)
    for pid in job.processes():
        own = sorted(tcp[i] for i in sockets_of(pid) if i in tcp)
        what = "rank" if pid in ranks else "libpmix" if pid in daemons else "nobody"
        if what == "libpmix":
            doors += [("store", at) for at in own if at in stores]
            found["store"] += len(stores & set(own))
            own = [at for at in own if at not in stores]
        check(len(own) == (what != "nobody"), f"{cmdline(pid)} listens at {own}")
        found[what] += len(own)
        doors += [(what, at) for at in own if what == "rank"]
    for name in sorted(os.listdir(job.tmp)):
        doors.append(("daemon", os.path.join(job.tmp, name, "status")))
        check(os.path.exists(doors[-1][1]), f"{doors[-1]} is missing")
    nodes = max(len(HOSTS), 1)
    check((found["rank"], found["libpmix"], found["store"], len(doors)) ==
          (RANKS, nodes, nodes, RANKS + 2 * nodes),
          f"who listens: {found} {doors}")
    return doors


def resident_mb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return int(next(line for line in f if line.startswith("VmRSS")).split()[1]) / 1024


# ---- what was overheard --------------------------------------------------------------------------

def ranks_said(path):
    """{address: [all that was said there to open a connection]}"""
    pieces = collections.OrderedDict()
    with open(path, encoding="ascii") as f:
        for who, ip, port, said in map(str.split, f):
            said, key = bytes.fromhex(said), (who, ip, int(port))
            if said.startswith(HELLO):
                pieces.setdefault(key, []).append(said)
            elif key in pieces:
                pieces[key][-1] += said
    heard = {}
    for (_, ip, port), said in pieces.items():
        heard.setdefault((ip, port), []).extend(s for s in said if len(s) > 100)
    return heard


def client_said(server, ask):
    """What a client of the store says; a relay stands between the two."""
    relay, said = socket.create_server(("127.0.0.1", 0)), []

    def pump(source, sink, keep):
        try:
            while part := source.recv(65536):
                keep.append(part)
                sink.sendall(part)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def carry():
        client, onward = relay.accept()[0], socket.create_connection(server)
        back = threading.Thread(target=pump, args=(onward, client, []))
        back.start()
        pump(client, onward, said)
        back.join()

    carrier = threading.Thread(target=carry)
    carrier.start()
    ask("127.0.0.1:%d" % relay.getsockname()[1], "set", "overheard", "1")
    carrier.join()
    return b"".join(said)


# ---- strangers -----------------------------------------------------------------------------------

KINDS = ("random", "replayed", "truncated", "changed", "oversized", "slow", "silent", "ends",
         "gone")
STAY = ("slow", "silent")
# Of a handshake so much is said before the other end has to answer.
OPENING = {"rank": 96, "store": 40, "daemon": 16}
TOO_LONG = {
    "rank": HELLO + struct.pack("=BBH", 1, 1, 0xffff) + bytes(48),
    "store": b"ctAU\1\1" + struct.pack("<H", 0xffff),
    "daemon": struct.pack("<4I", 0x52544331, 2, 1, 0xffffffff),
}


class Stranger:
    def __init__(self, what, at, kind, heard):
        self.what, self.kind, self.drip = what, kind, kind == "slow"
        self.told = 0
        self.say = b"" if kind in ("silent", "ends", "gone") else words(what, kind, heard)
        self.then = b""  # once there was an answer
        if kind == "replayed":
            self.say, self.then = self.say[:OPENING[what]], self.say[OPENING[what]:]
        self.sock = socket.socket(socket.AF_UNIX if what == "daemon" else socket.AF_INET)
        self.sock.setblocking(False)
        try:
            self.sock.connect(at)
        except BlockingIOError:
            # A queue that is full; a unix socket then was not connected at all.
            self.kind = "gone" if what == "daemon" else kind

    def turn(self):
        """Says what it can; whether there is more to say."""
        while self.say:
            n = self.sock.send(self.say[:1] if self.drip else self.say)
            self.say = self.say[n:]
            if self.drip:
                break
        if not self.say and self.kind in ("random", "truncated", "changed", "ends"):
            self.sock.shutdown(socket.SHUT_WR)
        return bool(self.say)

    def close(self):
        if self.kind == "gone":
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()


def words(what, kind, heard):
    said = RANDOM.choice(heard)
    if kind == "random":
        return RANDOM.randbytes(RANDOM.randrange(1, 4000))
    if kind == "truncated":
        return said[:RANDOM.randrange(1, len(said))]
    if kind == "changed":
        at = RANDOM.randrange(len(said))
        return said[:at] + bytes([said[at] ^ 1 << RANDOM.randrange(8)]) + said[at + 1:]
    if kind == "oversized":
        return TOO_LONG[what] + bytes(RANDOM.randrange(200000))
    return said[:-1] if kind == "slow" else said


class Crowd:
    """Up to ROOM of them at a time, through one selector."""

    def __init__(self, doors, heard):
        self.doors, self.heard = doors, heard
        self.any = [said for each in heard.values() for said in each]
        self.poll = selectors.DefaultSelector()
        self.lingering = collections.deque()
        self.inside = 0
        self.count, self.told = collections.Counter(), collections.Counter()

    def add(self):
        what, at = RANDOM.choice(self.doors)
        one = Stranger(what, at, RANDOM.choice(KINDS), self.heard.get(at) or self.any)
        self.count[what, one.kind] += 1
        if one.kind == "gone":
            one.close()
            return
        self.inside += 1
        self.poll.register(one.sock, selectors.EVENT_READ | selectors.EVENT_WRITE, one)
        if one.kind in STAY:
            self.lingering.append(one)

    def leave(self, one):
        if one.sock.fileno() >= 0:
            self.poll.unregister(one.sock)
            one.close()
            self.inside -= 1
        check(one.told <= (0 if one.what == "daemon" else CHALLENGE),
              f"{one.what} told a stranger ({one.kind}) {one.told} bytes")
        self.told[one.what, one.kind] = max(self.told[one.what, one.kind], one.told)

    def serve(self, key, events):
        one = key.data
        try:
            if events & selectors.EVENT_READ:
                part = one.sock.recv(65536)
                one.told += len(part)
                if not part:
                    self.leave(one)
                    return
                if one.then:
                    one.say, one.then = one.then, b""
                    events |= selectors.EVENT_WRITE
            if events & selectors.EVENT_WRITE:
                more = selectors.EVENT_WRITE if one.turn() else 0
                self.poll.modify(one.sock, selectors.EVENT_READ | more, one)
        except BlockingIOError:
            pass
        except OSError:
            self.leave(one)

    def run(self, count):
        for _ in range(count):
            self.add()
            while len(self.lingering) > LINGER:
                self.leave(self.lingering.popleft())
            while self.inside >= ROOM or RANDOM.randrange(8) == 0:
                self.wait()
                if self.inside < ROOM:
                    break

    def wait(self):
        for key, events in self.poll.select(LIMIT):
            if key.data.sock.fileno() >= 0:
                self.serve(key, events)

    def see_off(self):
        """All that are left are sent away in time, those who drip and those who say nothing."""
        end = time.monotonic() + LIMIT
        while self.inside > 0:
            check(time.monotonic() < end, f"{self.inside} strangers were never sent away: " + ", ".
                  join(f"{k.data.what} {k.data.kind}" for k in self.poll.get_map().values()))
            self.wait()


# ---- friends -------------------------------------------------------------------------------------

class Store:
    def __init__(self, folder):
        self.key = os.path.join(folder, "key")
        with open(self.key, "w", encoding="ascii") as f:
            f.write(subprocess.run([STORE, "key"], stdout=subprocess.PIPE, text=True,
                                   check=True).stdout)
        self.proc = subprocess.Popen([STORE, "--key-file", self.key, "serve"],
                                     stdout=subprocess.PIPE, text=True)
        self.name = self.proc.stdout.readline().strip()
        host, port = self.name.rsplit(":", 1)
        self.addr = (host, int(port))
        self.over, self.rounds = threading.Event(), 0
        self.wrong = None

    def ask(self, server, *command):
        done = subprocess.run([STORE, "--key-file", self.key, "--server", server, "--timeout",
                               str(LIMIT), *command], capture_output=True, text=True,
                              timeout=2 * LIMIT)
        if done.returncode != 0:
            self.wrong = f"{command}: {done.returncode} {done.stderr}"
        return done.stdout

    def client(self):
        while not self.over.is_set() and self.wrong is None:
            self.ask(self.name, "set", "round", str(self.rounds))
            got = self.ask(self.name, "get", "round")
            if got != f"{self.rounds}\n":
                self.wrong = self.wrong or f"wanted {self.rounds}, found {got!r}"
            self.rounds += 1


def status_of(job):
    done = subprocess.run([CTRANRUN, "--status"], capture_output=True, text=True, timeout=LIMIT,
                          env=dict(os.environ, TMPDIR=job.tmp))
    return done.stdout if done.returncode == 0 else ""


# ---- the test ------------------------------------------------------------------------------------

def places(folder):
    """The options that say where the ranks are."""
    if not HOSTS:
        return ["-n", RANKS]
    agent = os.path.join(folder, "agent")
    with open(agent, "w", encoding="ascii") as f:
        f.write('#!/bin/sh\nshift\nexec "$@"\n')
    os.chmod(agent, 0o755)
    return ["--launch-agent", agent, "-H", ",".join(HOSTS)]


def asker(rank, folder):
    """Asks the store of the job that a rank is of."""
    with open(f"/proc/{rank}/environ", encoding="ascii") as f:
        key = next(word for word in f.read().split("\0") if word.startswith("CTRAN_JOB_KEY="))
    file = os.path.join(folder, "jobkey")
    with open(file, "w", encoding="ascii") as f:
        f.write(key.partition("=")[2] + "\n")

    def ask(server, *command):
        subprocess.run([STORE, "--key-file", file, "--server", server, *command], check=True,
                       capture_output=True, timeout=LIMIT)
    return ask


def disturb(job, store, folder):
    ranks = [int(job.proc.stdout.readline().split()[1]) for _ in range(RANKS)]
    daemons = [p for p in job.processes() if cmdline(p).startswith("ctrand --job")]
    doors = doors_of(job, ranks, daemons) + [("store", store.addr)]
    heard = ranks_said(os.path.join(folder, "said"))
    check(heard, "no handshake was recorded")
    heard[store.addr] = [client_said(store.addr, store.ask)]
    ask = asker(ranks[0], folder)
    heard |= {at: [client_said(at, ask)] for what, at in doors
              if what == "store" and at != store.addr}
    pids = {p: cmdline(p) for p in [*job.processes(), store.proc.pid]}
    before = {p: resident_mb(p) for p in pids}
    crowd, client = Crowd(doors, heard), threading.Thread(target=store.client)
    began = time.monotonic()
    client.start()
    crowd.run(STRANGERS)
    crowd.see_off()
    store.over.set()
    client.join()
    check(store.wrong is None and store.rounds > 0, f"the store's clients: {store.wrong}")
    print(f"{STRANGERS} strangers in {time.monotonic() - began:.0f} s; meanwhile {store.rounds} "
          "clients of the store")
    after = {p: resident_mb(p) for p in pids}
    report(crowd, pids, before, after)
    check(SANITIZED or max(after[p] - before[p] for p in pids) < GROWN_MB, "a process has grown")
    replayed = {what: crowd.told[what, "replayed"] for what in ("rank", "store")}
    check(replayed == {"rank": CHALLENGE, "store": CHALLENGE}, f"replays: {replayed}")
    until(lambda: len(stores_of(job)) == max(len(HOSTS), 1), "the daemons' stores answer")
    return until(lambda: status_of(job), "ctranrun --status is answered")


def report(crowd, pids, before, after):
    for what in dict.fromkeys(what for what, _ in crowd.doors):
        print(f"  {what:8}", ", ".join(f"{kind} {crowd.count[what, kind]}" for kind in KINDS))
    for pid in pids:
        print(f"  {before[pid]:6.1f} MB, then {after[pid]:6.1f} MB: {pids[pid][:60]}")


def main():
    if subprocess.run([STORE, "key"], capture_output=True, check=False).returncode != 0:
        print("SKIP: this build is without libsodium")
        return 77
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
    print(f"CT_SEED={SEED}")
    with tempfile.TemporaryDirectory(prefix="ctran-test-") as folder:
        store = Store(folder)
        env = {"CTRAN_TCP_INTERFACES": "127.0.0.0/8", "CTRAN_TCP_BREAK": "4M", "CTRAN_LOG": "error",
               "CT_RECORD": os.path.join(folder, "said")}
        if not HOSTS:
            env["CTRAN_NODE_RANKS"] = "2"
        try:
            with Job(*places(folder), os.path.join(TOP, "tests/func/guests"),
                     stdin=subprocess.PIPE, env=env) as job:
                said = disturb(job, store, folder)
                check(said.count("guests") > 0, f"--status said: {said}")
                status, out, err = job.finish(b"enough\n")
                check((status, out.count(b"well")) == (0, RANKS),
                      f"the job ended with {status}: {out!r} {err!r}")
        finally:
            store.proc.terminate()
        check(store.proc.wait(LIMIT) == 0, f"the store's server ended: {store.proc.returncode}")
    print("the job ended well")
    return 0


if __name__ == "__main__":
    sys.exit(main())
