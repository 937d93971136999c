"""Questions to several resolvers at once, and what of their replies is compared.

SPDX-License-Identifier: BSD-3-Clause
"""

import collections
import contextlib
import dataclasses
import selectors
import socket
import struct
import time

from . import wire

FIELDS = ("rcode", "ad", "answer", "soa", "sigs")
# Compared where two judges agree with each other: how long a set may be kept, and the reason told (RFC 8914).
AGREED = ("ttl", "ede")
# TTLs that worlds and resolvers give: one that has run down a little in a cache counts as it was.
STEPS, RUN_DOWN = (0, 1, 5, 30, 60, 300, 900, 3600, 10800, 86400, 604800, 2147483647), 55
PATIENCE, WINDOW = 15.0, 16


@dataclasses.dataclass(frozen=True)
class View:
    """What of a reply is compared."""
    rcode: str
    ad: bool = False
    answer: tuple = ()
    soa: str = ""       # of a negative answer, whose SOA is in it
    sigs: tuple = ()    # types that are signed in the answer
    ede: tuple = ()
    ttl: tuple = ()     # of the sets in the answer, and of the SOA record of a denial

    def field(self, name):
        return getattr(self, name)


def rcode_text(rcode):
    return {0: "NOERROR", 1: "FORMERR", 2: "SERVFAIL", 3: "NXDOMAIN", 4: "NOTIMP", 5: "REFUSED", 6: "YXDOMAIN"}.get(rcode, str(rcode))


def step(ttl):
    """A TTL as it was before it ran down."""
    return next((s for s in STEPS if s - min(RUN_DOWN, s - 1) <= ttl <= s), ttl)


def ttls(m, soa):
    found = {}
    for owner, rrtype, ttl, _ in m.sections[0] + [r for r in m.sections[1] if soa and r[1] == wire.SOA]:
        if rrtype != wire.RRSIG:
            at = (wire.show(owner), wire.type_text(rrtype))
            found[at] = min(ttl, found.get(at, ttl))
    return tuple(sorted((owner, "%s=%d" % (kind, step(ttl))) for (owner, kind), ttl in found.items()))


def view(q, data):
    if data is None:
        return View("silence")
    try:
        m = wire.read(data)
    except wire.Malformed:
        return View("malformed")
    asked = q.wire(0)
    if data[12:12 + len(wire.to_wire(q.labels)) + 4] != asked[12:12 + len(wire.to_wire(q.labels)) + 4] or not m.flags & wire.RA:
        return View("not an answer to this")
    answer, sigs = set(), set()
    for owner, rrtype, _, rdata in m.sections[0]:
        if rrtype == wire.RRSIG:
            sigs.add(wire.type_text(struct.unpack_from("!H", rdata)[0]))
            if q.type != wire.RRSIG:
                continue
            rdata = b""
        answer.add((wire.show(owner), wire.type_text(rrtype), rdata.hex()))
    if q.type in (wire.ANY, wire.RRSIG):
        # Some of what is there is answer enough (RFC 8482 4.1).
        answer = {(owner, "some", "") for owner, rrtype, _ in answer if rrtype not in ("CNAME", "DNAME")}
        sigs = set()
    if m.rcode == wire.SERVFAIL:
        # What stands beside it, and its AD bit, are of no use to anybody.
        return View("SERVFAIL", ede=reasons(m))
    soa = ""
    if m.rcode == wire.NXDOMAIN or not any(q.type in (rrtype, wire.ANY) for _, rrtype, _, _ in m.sections[0]):
        soa = " ".join(sorted({wire.show(owner) for owner, rrtype, _, _ in m.sections[1] if rrtype == wire.SOA}))
    return View(rcode_text(m.rcode), bool(m.flags & wire.AD), tuple(sorted(answer)), soa, tuple(sorted(sigs)) if q.dnssec else (), reasons(m),
                () if q.type in (wire.ANY, wire.RRSIG) else ttls(m, soa))


def reasons(m):
    return tuple(str(code) for code in sorted(set(m.ede)))


class Line:
    """The questions to one resolver, some in flight at a time."""

    def __init__(self, judge, questions, window):
        self.judge, self.window = judge, window
        self.todo, self.flying, self.views = collections.deque(questions), {}, {}
        self.slowest = collections.Counter()
        self.socket = socket.socket(type=socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 21)
        self.socket.connect(("127.0.0.1", judge.port))
        self.socket.setblocking(False)
        self.qid = 100

    def fill(self):
        while self.todo and len(self.flying) < self.window:
            q = self.todo.popleft()
            self.qid = self.qid % 65000 + 1
            self.flying[self.qid] = (q, time.monotonic())
            with contextlib.suppress(OSError):
                self.socket.send(q.wire(self.qid))

    def take(self):
        while True:
            try:
                data = self.socket.recv(65535)
            except OSError:
                return
            found = self.flying.pop(struct.unpack_from("!H", data)[0], None) if len(data) >= 12 else None
            if found:
                q, began = found
                if struct.unpack_from("!H", data, 2)[0] & wire.TC:
                    data = self.over_tcp(q)
                self.views[q.number] = view(q, data)
                self.slowest[q.number] = time.monotonic() - began

    def over_tcp(self, q):
        try:
            with socket.create_connection(("127.0.0.1", self.judge.port), PATIENCE) as s:
                ask = q.wire(7)
                s.sendall(struct.pack("!H", len(ask)) + ask)
                with s.makefile("rb") as f:
                    return f.read(struct.unpack("!H", f.read(2))[0])
        except (OSError, struct.error):
            return None

    def expire(self):
        now = time.monotonic()
        for qid in [i for i, (_, began) in self.flying.items() if now - began > PATIENCE]:
            self.views[self.flying.pop(qid)[0].number] = View("silence")


def ask(judges, questions, window=WINDOW):
    """{judge's name: {question's number: View}}; every judge hears them in the same order."""
    lines = [Line(j, questions, window) for j in judges]
    selector = selectors.DefaultSelector()
    for line in lines:
        selector.register(line.socket, selectors.EVENT_READ, line)
    while any(line.todo or line.flying for line in lines):
        for line in lines:
            line.fill()
        for key, _ in selector.select(0.5):
            key.data.take()
        for line in lines:
            line.expire()
    for line in lines:
        line.socket.close()
    return {line.judge.name: line.views for line in lines}, {line.judge.name: line.slowest for line in lines}
