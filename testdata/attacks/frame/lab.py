"""The laboratory of one attack: the world, the daemon in it, and what is measured of it.

SPDX-License-Identifier: BSD-3-Clause

    U  `upstream()`       questions over UDP and TCP, and TCP connections, until it was quiet for 3 s
    C  `cpu_ms()`         CPU time of the daemon so far; exact, not in ticks
    L  `latency()`        of another client's cached question every 10 ms, as long as the block lasts
    R  `ask()`            what the client gets, and `took_s`
    M  `resident_kb()`    memory
    P  `poisoned()`       canaries that are wrong, and questions to the evil server; looked at after every attack
    fds `descriptors()`   open ones
"""

import contextlib
import json
import os
import subprocess
import sys
import threading
import time

import dns.exception
import dns.flags
import dns.message
import dns.query
import dns.rcode
import dns.rdatatype

from . import signing
from .authority import Authority
from .world import CANARIES, EVIL, ROOT, World, Zone

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "e2e"))
import lab as e2e  # noqa: E402

QUIET_S = 3.0


class Attacked(e2e.Daemon):
    """The daemon with the hints of our root and nothing else out of the ordinary: loopback is not asked."""

    def configure(self, server=(), more=""):
        self.fixed = [line for line in self.fixed if not line.startswith("do-not-query-localhost")]
        hints = os.path.join(self.dir, "root.hints")
        with open(hints, "w", encoding="ascii") as f:
            f.write(". 3600000 NS a.root.\na.root. 3600000 A %s\n" % ROOT)
        super().configure(['root-hints: "%s"' % hints, 'outgoing-interface: "198.18.9.9"',
                           'local-zone: "test." nodefault', *server], more)

    @property
    def pid(self):
        return self.process.pid


class Answer:
    """What a client got: `rcode` (SILENCE when nothing came), `texts()`, `ad`, and `took_s`."""

    def __init__(self, message, took_s):
        self.message, self.took_s = message, took_s
        self.rcode = "SILENCE" if message is None else dns.rcode.to_text(message.rcode())
        self.ad = message is not None and bool(message.flags & dns.flags.AD)

    def texts(self, kind="A"):
        return [] if self.message is None else e2e.texts(self.message, kind)

    def edes(self):
        return [] if self.message is None else sorted(o.code for o in self.message.options if o.otype == 15)


class Lab:
    """`world` to build in, `daemon` once started, and the measures above."""

    def __init__(self, authority, bin_dir):
        self.authority, self.bin = authority, bin_dir
        self.world = World(authority)
        self.daemon = None
        self.lines, self.clauses = [], ""
        self.module = "validator iterator"

    # -- the daemon --------------------------------------------------------------------------------

    def option(self, *lines):
        """More lines of the server clause, before `start`."""
        self.lines += lines

    def clause(self, text):
        self.clauses += text

    def anchor(self, zone):
        """The zone's key is trusted."""
        self.lines.append(signing.anchor(zone.key if isinstance(zone, Zone) else zone))

    def start(self, warm=True):
        """Starts the daemon as it was described; root and `test.` are known to it then."""
        self.daemon = Attacked(self.bin, "/nonexistent", self.lines, self.clauses, hints=False, module=self.module)
        self.daemon.start()
        if warm:
            self.ask("warm.test")
            self.quiet(0.2, 1)
        self.fds_before = self.descriptors()
        return self.daemon

    def ask(self, name, kind="A", timeout=12, tcp=False, edns=0, **more):
        """One question, sent once."""
        q = e2e.query(name, kind, edns=edns, **more)
        began = time.monotonic()
        try:
            if tcp:
                r = dns.query.tcp(q, e2e.ADDRESS, timeout, self.daemon.port)
            else:
                r, _ = dns.query.udp_with_fallback(q, e2e.ADDRESS, timeout, self.daemon.port, ignore_unexpected=True)
        except (dns.exception.Timeout, OSError, EOFError):
            r = None
        return Answer(r, time.monotonic() - began)

    def ask_all(self, names, kind="A", timeout=12, **more):
        """Many at once, each from a socket of its own; answers by name."""
        out = {}

        def one(name):
            out[name] = self.ask(name, kind, timeout, **more)
        threads = [threading.Thread(target=one, args=(n,), daemon=True) for n in names]
        for t in threads:
            t.start()
        for t in threads:
            t.join(timeout + 5)
        return out

    # -- measures ----------------------------------------------------------------------------------

    def mark(self):
        """A place in what the authorities heard; `since` gives what came after it."""
        return len(self.authority.heard)

    def since(self, mark=0):
        return self.authority.heard[mark:]

    def quiet(self, seconds=QUIET_S, most=15):
        """Waits until nothing was heard for that long."""
        deadline = time.monotonic() + most
        while time.monotonic() < deadline:
            last = self.authority.heard[-1].time if self.authority.heard else 0
            left = last + seconds - time.monotonic()
            if left <= 0:
                return
            time.sleep(min(left, 0.1))

    def upstream(self, mark=0, seconds=QUIET_S, under=None, server=None):
        """U: what the authorities heard since then, once it is quiet; of names under a zone, or at a server."""
        self.quiet(seconds)
        return self.count(mark, under, server)

    def count(self, mark=0, under=None, server=None):
        servers = [server] if isinstance(server, str) else server
        zone = "." + under.strip(".") + "." if under else ""
        return sum(("." + h.name).endswith(zone) and (servers is None or h.server in servers) for h in self.since(mark))

    def cpu_ms(self):
        """The kernel's clock of another process (clock_getcpuclockid): no ticks."""
        return time.clock_gettime_ns((~self.daemon.pid << 3) | 2) / 1e6

    def status(self, field):
        with open("/proc/%d/status" % self.daemon.pid, encoding="ascii") as f:
            return int(next(line for line in f if line.startswith(field + ":")).split()[1])

    def resident_kb(self):
        return self.status("VmRSS")

    def descriptors(self):
        return len(os.listdir("/proc/%d/fd" % self.daemon.pid))

    @contextlib.contextmanager
    def latency(self, name="www.victim.test"):
        """L: gives a dict that holds `median_ms`, `worst_ms`, `p99_ms`, `lost` and `count` when the block is left."""
        assert self.ask(name).rcode == "NOERROR"
        out = {}
        p = subprocess.Popen([sys.executable, "-B", os.path.join(HERE, "probe.py"), str(self.daemon.port), name],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        p.stdout.readline()
        try:
            yield out
        finally:
            out.update(json.loads(p.communicate("\n")[0]))

    @contextlib.contextmanager
    def rain(self, name, rate, seconds, source="127.0.0.1"):
        """Questions at a rate from a process of its own (rain.py), while the block runs; waits for its end."""
        p = subprocess.Popen([sys.executable, "-B", os.path.join(HERE, "rain.py"), str(self.daemon.port), str(rate),
                              str(seconds), name, source], stdout=subprocess.PIPE, text=True)
        out = {}
        try:
            yield out
            out.update(json.loads(p.communicate(timeout=seconds + 20)[0]))
        finally:
            p.kill()
            p.wait()

    def poisoned(self):
        """P: canaries that are wrong, and questions at the evil server."""
        wrong = sum(self.ask(n, timeout=5).texts() != [a] for n, a in CANARIES.items())
        return wrong + self.count(server=EVIL)

    def stop(self):
        if self.daemon:
            self.daemon.__exit__(None, None, None)
            self.daemon = None


@contextlib.contextmanager
def laboratory(authority, bin_dir, attack):
    """A fresh one for an attack, which ends with it."""
    authority.clear()
    lab = Lab(authority, bin_dir)
    lab.module = attack.module
    lab.option(*attack.server)
    lab.clause(attack.more)
    try:
        yield lab
    finally:
        lab.stop()


__all__ = ["Authority", "Lab", "laboratory", "e2e"]
