"""Running the daemon: control, files, reloads under load, caches that overflow, what leaks (entries 63 to 67).

SPDX-License-Identifier: BSD-3-Clause
"""

import contextlib
import os
import socket
import struct
import subprocess
import sys
import threading
import time

from frame import signing
from frame.authority import record, wire
from frame.crowd import HERE, all_it_says, authority, leaked
from frame.declare import answered, at_least, attack
from frame.lab import e2e
from frame.world import ATTACKERS, DEAD, Zone

FRAME = os.path.join(os.path.dirname(os.path.realpath(__file__)), "frame")


# -- 63 control ----------------------------------------------------------------------------------------

def open_connection(s, path, seconds=10):
    """Connects; a socket that does not block has to ask again while the queue is full."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            s.connect(path)
            return
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.001)


def say(path, data, timeout=2.0):
    """Bytes to the control socket; what comes back, as far as it does."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as s:
        s.settimeout(timeout)
        open_connection(s, path)
        return all_it_says(s, data)
    return b""


@attack(63, "control-abuse", "lines of a megabyte, nested and broken ones, ten thousand connections, silent ones on every place",
        rule="a request is at most 1 KiB; 32 connections, of which idle ones make room; not on a worker's thread",
        code="daemon/control/control.c:make_room daemon/control/request.c", noisy=True, seconds=90,
        limits={"L_worst": 100, "lost": 0, "ruled": "yes", "M_kb": 4096, "fds": 5})
def control_abuse(lab):
    lab.start()
    path = lab.daemon.socket
    assert b"version" in say(path, b"UBCT1 status\n")
    before = lab.resident_kb()
    with lab.latency() as seen:
        for data in (b"UBCT1 " + b"a" * (1 << 20), b"UBCT1 status" + b" x" * 500000 + b"\n", b"UBCT1 " + b"{[(" * 100000,
                     b"\0" * 100000, b"UBCT1 local_datas\n" + b"x" * (1 << 20), b"UBCT1 status\nstop\nUBCT1 stop\n",
                     b"UBCT1 local_data a. A 1.2.3.4\nstop\n", b"GET / HTTP/1.1\r\n\r\n", b"UBCT9 stop\n",
                     b"UBCT1 view_local_datas \"\n" + b"\xff" * 5000 + b"\n\x04\n"):
            say(path, data, 1)
        for _ in range(10000):
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as s:
                s.settimeout(1)
                open_connection(s, path)
        with contextlib.ExitStack() as stack:
            for i in range(60):
                s = stack.enter_context(socket.socket(socket.AF_UNIX))
                s.settimeout(0.2)
                with contextlib.suppress(OSError):
                    open_connection(s, path)
                    s.sendall(b"UBCT1 sta" if i % 2 else b"")
            ruled = b"version" in say(path, b"UBCT1 status\n", 10)
    return {"L_worst": seen["worst_ms"], "lost": seen["lost"], "ruled": "yes" if ruled else "no",
            "M_kb": max(0, lab.resident_kb() - before), "fds": leaked(lab)}


@attack(63, "control-stranger", "another user of this machine talks to the control socket",
        rule="only the socket's owner and group may use it (0660, as with Unbound), from before it accepts "
             "connections", code="daemon/control/control.c", quick=True,
        limits={"refused": "yes", "mode": {"600", "660"}})
def control_stranger(lab):
    lab.start()
    os.chmod(lab.daemon.dir, 0o755)
    script = ("import os,socket,sys\nif os.getuid() == 0:\n    os.setgid(65534)\n    os.setuid(65534)\n"
              "s = socket.socket(socket.AF_UNIX)\n"
              "try:\n    s.connect(sys.argv[1])\n    print('in')\nexcept PermissionError:\n    print('refused')\n")
    mode = "%o" % (os.stat(lab.daemon.socket).st_mode & 0o777)
    said = "refused"
    if os.getuid() == 0:
        with contextlib.suppress(subprocess.SubprocessError):
            said = subprocess.run([sys.executable, "-c", script, lab.daemon.socket], capture_output=True, text=True,
                                  timeout=20, check=False).stdout.strip()
    return {"refused": "yes" if said == "refused" else said, "mode": mode}


@attack(63, "control-half-open-tls", "a hundred connections to the control port over TLS that never finish a handshake",
        rule="the same limits as for all: idle connections make room", code="daemon/control/control.c:make_room", noisy=True,
        seconds=60, limits={"L_worst": 100, "lost": 0, "ruled": "yes", "fds": 5})
def control_half_open(lab):
    a = authority()
    for name in ("control-server", "control-client"):
        if not os.path.exists(a.path(name + ".pem")):
            a.issue(name, "DNS:unbound")
    port = e2e.free_port()
    lab.clause('remote-control:\n    control-interface: 127.0.0.1\n    control-port: %d\n    server-key-file: "%s"\n'
               '    server-cert-file: "%s"\n    control-key-file: "%s"\n    control-cert-file: "%s"\n'
               % (port, a.path("control-server.key"), a.path("control-server.pem"), a.path("control-client.key"),
                  a.path("control-client.pem")))
    lab.start()
    with lab.latency() as seen, contextlib.ExitStack() as stack:
        for i in range(100):
            with contextlib.suppress(OSError):
                s = stack.enter_context(socket.create_connection((HERE, port), 1))
                s.sendall(b"\x16\3\1\2\0\1\0" if i % 2 else b"")
        time.sleep(0.5)
        ruled = b"version" in say(lab.daemon.socket, b"UBCT1 status\n", 10)
    return {"L_worst": seen["worst_ms"], "lost": seen["lost"], "ruled": "yes" if ruled else "no", "fds": leaked(lab)}


answered(63, "control-pieces", "requests in pieces, silent and slow clients, strangers over TLS",
         "both sides must show certificates of ours", "daemon/control/control.c daemon/control/auth.c",
         "testdata/e2e/test_control_tls.py::test_a_stranger_is_told_nothing "
         "testdata/e2e/test_control_tls.py::test_silent_clients_keep_nobody "
         "testdata/e2e/test_control.py::test_an_idle_client_holds_nobody_up "
         "testdata/e2e/test_control.py::test_a_slow_reader_of_a_dump_holds_nobody_up")


# -- 64 files --------------------------------------------------------------------------------------------

@attack(64, "pid-file-link", "the pid file's name is a link to somebody else's file when the daemon starts as root",
        rule="links are not followed, and only the file opened changes owner", code="daemon/system/pidfile.c", quick=True, bare=True,
        limits={"started": "no", "changed": 0}, variants={"symbolic": {"how": os.symlink}})
def pid_file_link(lab, how):
    d = e2e.Daemon(lab.bin, "/nonexistent", hints=False)
    victim = os.path.join(d.dir, "victim")
    with open(victim, "w", encoding="ascii") as f:
        f.write("precious\n")
    before = os.stat(victim)
    how(victim, d.pidfile)
    d.start(wait=False)
    code = None
    with contextlib.suppress(subprocess.TimeoutExpired):
        code = d.process.wait(5)
    with open(victim, encoding="ascii") as f:
        kept = f.read() == "precious\n"
    after = os.stat(victim)
    d.stop()
    return {"started": "no" if code else "yes", "changed": int(not kept or after.st_uid != before.st_uid)}


answered(64, "rights", "what a compromised daemon could do", "another user, no capabilities",
         "daemon/system/privileges.c", "testdata/e2e/test_process.py::test_it_gives_up_its_rights")


# -- 65 under load -----------------------------------------------------------------------------------------

@attack(65, "reloads-under-load", "a hundred reloads, statistics, dumps and flushes at 5000 questions a second",
        rule="configurations are built aside and swapped by one pointer; dumps are made in pieces on another "
             "thread",
        code="services/config/build.c daemon/process/daemon.c:daemon_publish daemon/control/dump.c", noisy=True, seconds=120,
        server=["num-threads: 2", "access-control: 198.18.0.0/15 allow"],
        limits={"L_worst": 100, "lost": 0, "M_percent": 5, "fds": 5})
def reloads_under_load(lab):
    zone = Zone("load.test")
    lab.world.serve(zone, {"ns.load.test.": ATTACKERS[0]})
    lab.world.script(ATTACKERS[0], lambda q: q.raw([record(b"\xc0\x0c", 1, b"\xc0\0\2\1", 600)]) if q.kind == "A" and
                     q.labels[0].startswith("x") else zone.answer(q))
    lab.start()
    flood = subprocess.Popen([sys.executable, "-B", os.path.join(FRAME, "flood.py"), HERE, str(lab.daemon.port), "250",
                              *("198.18.21.%d=www.victim.test" % n for n in range(1, 20)), "198.18.21.99=%.load.test"],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for _ in range(20):
        lab.daemon.control("reload")
    before = lab.resident_kb()
    lab.fds_before = lab.descriptors()
    with lab.latency() as seen:
        for i in range(100):
            lab.daemon.control("reload")
            time.sleep(0.05)
            if i % 10 == 3:
                lab.daemon.control("stats_noreset")
                lab.daemon.control("dump_cache")
            if i % 10 == 7:
                lab.daemon.control("flush_zone", "load.test")
    sent = int(flood.communicate("\n", timeout=10)[0].split()[-1])
    time.sleep(1)
    grown = lab.resident_kb() - before
    return {"L_worst": seen["worst_ms"], "L_p99": seen["p99_ms"], "lost": seen["lost"],
            "M_percent": max(0.0, 100 * (grown - 1024) / before), "grown_kb": grown, "questions": sent, "fds": leaked(lab)}


# -- 66 caches ---------------------------------------------------------------------------------------------

@attack(66, "cache-exhaustion", "names that nobody has asked for, each with an answer of four kilobytes, without end",
        rule="every cache has a byte budget, counted as the heap counts; entries used again outlive those that are "
             "not (SIEVE)",
        code="services/cache/slab.c", noisy=True, seconds=240,
        server=["num-threads: 1", "msg-cache-size: 8m", "rrset-cache-size: 8m", "key-cache-size: 1m", "neg-cache-size: 1m",
                "edns-buffer-size: 4096", "infra-cache-numhosts: 1000", "access-control: 198.18.0.0/15 allow"],
        limits={"M_ratio": 1.5, "hot_percent": at_least(95), "L_worst": 100, "fds": 5})
def cache_exhaustion(lab, seconds=120):
    zone = Zone("fill.test", ["hot%d 3600 A 192.0.2.%d" % (n, n + 1) for n in range(100)])
    lab.world.serve(zone, {"ns.fill.test.": ATTACKERS[0]})
    filler = [record(b"\xc0\x0c", 1, b"\xc0\0\2" + bytes([n]), 3600) for n in range(220)]

    def answer(q):
        if q.labels[0].startswith("x"):
            return q.raw(filler)
        return zone.answer(q)
    lab.world.script(ATTACKERS[0], answer)
    lab.start()
    base = lab.resident_kb()
    hot = ["hot%d.fill.test" % n for n in range(100)]
    for name in hot * 2:
        lab.ask(name)
    hits, asked = [0], [0]
    over = threading.Event()

    def keep_hot():
        while not over.is_set():
            for name in hot:
                mark = lab.mark()
                lab.ask(name, timeout=2)
                asked[0] += 1
                hits[0] += not any(h.name == name + "." for h in lab.since(mark))
                time.sleep(0.005)
    watcher = threading.Thread(target=keep_hot)
    watcher.start()
    with lab.latency() as seen:
        flood = subprocess.Popen([sys.executable, "-B", os.path.join(FRAME, "flood.py"), HERE, str(lab.daemon.port), "2000",
                                  "198.18.21.1=%.fill.test"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        time.sleep(seconds)
        flood.communicate("\n", timeout=10)
    over.set()
    watcher.join()
    configured = (8 + 8 + 1 + 1) << 10
    entries = lab.daemon.stats()
    return {"M_ratio": (lab.resident_kb() - base) / configured, "hot_percent": 100 * hits[0] / asked[0],
            "L_worst": seen["worst_ms"], "filled": entries.get("msg.cache.count", lab.count(under="fill.test")),
            "fds": leaked(lab)}


# What one question may have brought to it before the last answer does not come.

def links(q, more):
    """Ten aliases, each in an answer of 64 kB; the eleventh leads to servers that are silent."""
    first, _, n = q.labels[0].partition("y")
    target = "%sy%d.fill.test" % (first, int(n or 0) + 1) if int(n or 0) < 9 else first + ".silent.test"
    return q.raw([record(b"\xc0\x0c", 5, wire(target))], edns=False, **more)


def useless_denials():
    return {"authority": [record("n%d.fill.test" % n, 47, wire("n%da.fill.test" % n) + b"\0\1\x40") for n in range(1300)]}


def useless_additions():
    return {"additional": [record(b"\xc0\x0c", 2000 + n, os.urandom(8)) for n in range(2700)]}


class Signed:
    """A set of 3900 addresses of a long name, with false signatures; after that, silence."""

    def __init__(self, key):
        self.addresses = [record(b"\xc0\x0c", 1, struct.pack("!I", 0x0a000000 + n), 60) for n in range(3900)]
        head = struct.pack("!HBBIIIH", 1, 13, 6, 60, 0x7fffffff, 0x60000000, key.tag) + wire("fill.test")
        self.set = [record(b"\xc0\x0c", 46, head + os.urandom(64), 60) for _ in range(2)] + self.addresses
        self.seen = set()

    def __call__(self, q):
        if q.name in self.seen:
            return None
        if q.tcp:
            self.seen.add(q.name)
        return q.raw(self.set, edns=False) if q.tcp else q.raw(flags=0x8600)


@attack(66, "answers-kept", "a hundred questions, to each of which ten answers of 64 kB are not enough; or one that is a megabyte to hash",
        rule="of a large answer only what is of use is kept, what was made to check a signature not at all; a query that keeps more "
             "than 512 kB asks no further question",
        code="iterator/response.c:keep_the_rest iterator/aliases.h:aliases_denials_most iterator/iter.h:ITER_MEMORY validator/verify.c:check_end",
        variants={k: {"how": k, "quick": k == "additions"} for k in ("additions", "denials", "signed")}, seconds=40,
        limits={"M_kb": 64 << 10, "C_each": 25}, server=["num-threads: 1", "qname-minimisation: no"])
def answers_kept(lab, how, count=100):
    key = signing.key("fill.test.")
    zone = lab.world.serve(Zone("fill.test", ["www 60 A 192.0.2.1"], key=key), {"ns.fill.test.": ATTACKERS[0]})
    lab.world.serve(Zone("silent.test"), {"ns.silent.test.": DEAD[0]})
    suffix = "fill.test"
    if how == "signed":
        lab.anchor(key)
        suffix, large = ".".join(["a" * 60] * 3 + ["b" * 50, suffix]), Signed(key)
    else:
        more = useless_denials() if how == "denials" else useless_additions()

        def large(q):
            return links(q, more) if q.tcp else q.raw(flags=0x8600)
    lab.world.script(ATTACKERS[0], lambda q: large(q) if q.labels[0][:1] == "x" and q.kind == "A" else zone.answer(q))
    lab.start()
    lab.ask("www.fill.test", dnssec=True)
    before, most, spent = lab.resident_kb(), 0, lab.cpu_ms()
    with socket.socket(type=socket.SOCK_DGRAM) as s:
        s.connect((HERE, lab.daemon.port))
        for n in range(count):
            s.send(e2e.query("x%d.%s" % (n, suffix)).to_wire())
            time.sleep(0.004)
        for _ in range(30):
            time.sleep(0.1)
            most = max(most, lab.resident_kb())
    return {"M_kb": max(0, most - before), "C_each": (lab.cpu_ms() - spent) / count}


@attack(63, "lines-of-a-dump", "names and texts that hold line breaks, quotes and what would be records, in answers; the cache is dumped "
        "and loaded again", rule="what is not letters, digits or hyphens is written as in master files (RFC 1035 5.1)",
        code="util/dns/dname.c:dname_print util/dns/text.c daemon/control/dump.c", quick=True, limits={"forged": 0, "dumped": at_least(20), "loaded": "yes"})
def lines_of_a_dump(lab):
    line = b"a\nwww.victim.test.\t86400\tIN\tA\t203.0.113.66\nx"
    text = bytes([len(line)]) + line
    datas = {16: text + b"\5\"\n;(\\", 257: b"\0\5issue" + line, 65: struct.pack("!HBHH", 1, 0, 1, len(text)) + text,
             35: b"\0\1\0\1" + text * 3 + b"\0", 256: b"\0\1\0\1" + line, 15: b"\0\1" + text + b"\0", 1: b"\1\2\3\4"}
    zone = lab.world.serve(Zone("i.test"), {"ns.i.test.": ATTACKERS[0]})
    lab.world.script(ATTACKERS[0], lambda q: q.raw([record(b"\xc0\x0c", q.type, datas[q.type])]) if q.type in datas and len(
        q.labels) > 2 and q.labels[0] != "ns" else zone.answer(q))
    lab.start()
    for label in (b"$INCLUDE /etc/hosts", b";", b" \"x", line, b"(\n)\\", b"\t@"):
        for kind in datas:
            lab.daemon.send(struct.pack("!6H", 7, 0x0100, 1, 0, 0, 0) + bytes([len(label)]) + label + wire("i.test") + struct.pack(
                "!2H", kind, 1), 2)
    dump = lab.daemon.control("dump_cache")
    lab.daemon.control("flush_zone", ".")
    said = lab.daemon.control("load_cache", stdin=dump)
    return {"forged": sum(s.startswith(("www.victim.test", "$", "x\"")) for s in dump.splitlines()),
            "dumped": dump.count(".i.test."), "loaded": "yes" if said.startswith("ok") else said[:60]}


answered(66, "cache-bounds", "caches of keys, servers and denials", "each keeps to its budget",
         "validator/keycache.c services/cache/infra.c", "testdata/e2e/test_trust.py::test_what_is_kept_of_zones_keeps_to_its_budget "
         "testdata/e2e/test_cache.py::test_a_small_cache_stays_small "
         "testdata/e2e/test_robust_files.py::test_small_caches_work")


# -- 67 leaks ------------------------------------------------------------------------------------------------

@attack(67, "leaks", "clients that vanish in the middle: of questions over TCP, of handshakes, with answers under way",
        rule="a connection frees what it holds, and queries nobody waits for any more are abandoned",
        code="services/listen/connection.c services/mesh/mesh.c:mesh_give_up", noisy=True, seconds=60, server=["num-threads: 2",
                                                                                                    "incoming-num-tcp: 500"],
        limits={"fds": 5, "waiting": 0, "M_kb": 4096})
def leaks(lab):
    lab.world.serve(Zone("slow.test"), {"ns.slow.test.": "198.18.3.1"})
    lab.start()
    from frame.crowd import framed

    def once(turn, count):
        with contextlib.ExitStack() as stack:
            for i in range(count):
                s = stack.enter_context(socket.create_connection((HERE, lab.daemon.port), 5, ("127.0.0.%d" % (2 + i % 50), 0)))
                data = framed(e2e.query("n%d-%d.slow.test" % (turn, i)).to_wire())
                s.sendall(data if i % 3 else data[:20])
                if i % 2:
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    once(0, 200)
    time.sleep(1)
    before = lab.resident_kb()
    for turn in range(1, 6):
        once(turn, 300)
    rest = leaked(lab)
    deadline = time.monotonic() + 15
    while time.monotonic() < deadline:
        waiting = int(lab.daemon.stats()["total.requestlist.current.all"])
        if not waiting:
            break
        time.sleep(0.3)
    return {"fds": rest, "waiting": waiting, "M_kb": max(0, lab.resident_kb() - before)}


answered(67, "leaks-elsewhere", "the same after every attack of entries 45 to 66", "descriptors are back within five",
         "services/listen/connection.c", "testdata/attacks/frame/crowd.py::leaked")
