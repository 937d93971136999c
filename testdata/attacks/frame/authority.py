"""The scripted authorities: one process part that is every name server there is, and notes all it hears.

SPDX-License-Identifier: BSD-3-Clause

The network 198.18.0.0/15 belongs to this host; the server listens on port 53 of all of it, UDP and TCP. What an
address says is a function, `answer(query)`: None for silence, a message, bytes, or a list of such, each of which
may stand in a `Send` that says when and from where it goes. `HANGUP` ends a TCP connection, `RESET` with a reset.
Addresses nobody has claimed are silent and note what they are asked.
"""

import collections
import contextlib
import functools
import heapq
import itertools
import re
import selectors
import socket
import struct
import threading
import time

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdatatype
import dns.rrset

PORT = 53
IP_PKTINFO = 8
HANGUP, RESET = object(), object()

# One thing heard: a question over udp or tcp, or (transport "conn") a TCP connection.
Heard = collections.namedtuple("Heard", "time server transport name type port id edns spelled source")
Send = collections.namedtuple("Send", "what delay source port", defaults=(0, None, PORT))


PLAIN = re.compile(r"[0-9A-Za-z_*-]+\Z").match


def wire(name):
    return b"".join(bytes([len(p)]) + p.encode("latin-1") for p in name.rstrip(".").split(".") if p) + b"\0"


def record(owner, rrtype, rdata, ttl=300, rrclass=1):
    """A record in wire form, of any shape."""
    owner = wire(owner) if isinstance(owner, str) else owner
    return owner + struct.pack("!HHIH", rrtype, rrclass, ttl, len(rdata)) + rdata


@functools.lru_cache(4096)
def rrset(line, origin="."):
    """`name ttl type rdata` as a record set of one; several data are divided by ` | `."""
    owner, ttl, rrtype, rdata = line.split(None, 3)
    return dns.rrset.from_text_list(dns.name.from_text(owner), int(ttl), "IN", rrtype, rdata.split(" | "),
                                    origin=dns.name.from_text(origin), relativize=False)


def rrsets(lines):
    """Lines as record sets; what is none of text goes through."""
    return [rrset(one) if isinstance(one, str) else one for one in lines]


class Query:
    """A question as it came: read as far as an answer needs it. ValueError where it is none."""

    def __init__(self, data, server, client, tcp, conn=None):
        self.data, self.server, self.client, self.tcp, self.conn = data, server, client, tcp, conn
        if len(data) < 17:
            raise ValueError("short")
        self.id, self.flags, qd, _, _, extra = struct.unpack("!6H", data[:12])
        if self.flags & 0x8000 or qd != 1:
            raise ValueError("no question")
        at, labels = 12, []
        while data[at]:
            if data[at] > 63 or at + data[at] + 1 >= len(data):
                raise ValueError("bad name")
            labels.append(data[at + 1:at + 1 + data[at]].decode("latin-1"))
            at += 1 + data[at]
        self.question = data[12:at + 5]
        self.labels = [p.lower() for p in labels]
        self.spelled = ".".join(labels) + "."
        if not all(map(PLAIN, labels)):
            self.spelled = dns.name.Name([p.encode("latin-1") for p in labels] + [b""]).to_text()
        self.name = self.spelled.lower()
        self.type, self.rrclass = struct.unpack("!HH", data[at + 1:at + 5])
        self.kind = dns.rdatatype.to_text(self.type)
        self.edns = self.dnssec = None
        if extra and data[at + 5:at + 8] == b"\0\0\x29":
            self.edns, ttl = struct.unpack("!HI", data[at + 8:at + 14])
            self.dnssec = bool(ttl & 0x8000)

    def under(self, zone):
        zone = zone.rstrip(".") + "."
        return zone == "." or self.name == zone or self.name.endswith("." + zone)

    def reply(self, answer=(), authority=(), additional=(), rcode="NOERROR", aa=True, tc=False):
        """A message; records are lines of text or record sets of dnspython."""
        q = dns.message.from_wire(self.data, ignore_trailing=True)
        r = dns.message.make_response(q, our_payload=1232)
        r.flags |= (dns.flags.AA if aa else 0) | (dns.flags.TC if tc else 0)
        r.set_rcode(dns.rcode.from_text(rcode))
        r.answer, r.authority, r.additional = rrsets(answer), rrsets(authority), rrsets(additional)
        return r

    def referral(self, zone, servers, ttl=3600, more=()):
        """To `servers`, {name: address or None}."""
        return self.reply(aa=False, authority=["%s %d NS %s" % (zone, ttl, n) for n in servers] + list(more),
                          additional=["%s %d A %s" % (n, ttl, a) for n, a in servers.items() if a])

    def raw(self, answer=(), authority=(), additional=(), rcode=0, flags=0x8400, qid=None, question=None, count=None,
            edns=True):
        """Bytes: records as `record` makes them; everything may be wrong."""
        extra = list(additional)
        if edns and self.edns is not None:
            extra.append(b"\0" + struct.pack("!HHIH", 41, 1232, 0x8000 if self.dnssec else 0, 0))
        asked = self.question if question is None else question
        counts = count or (1 if asked else 0, len(answer), len(authority), len(extra))
        return struct.pack("!6H", self.id if qid is None else qid, flags | rcode, *counts) + asked + b"".join(
            [*answer, *authority, *extra])


class Authority:
    """The process part. `answer_of[address]` is what it says; `heard` is all it was asked."""

    def __init__(self):
        self.heard, self.answer_of, self.default = [], {}, None
        self.ending, self.errors = False, []
        self.later, self.order = [], itertools.count()
        self.lock = threading.Lock()
        self.udp = socket.socket(type=socket.SOCK_DGRAM)
        self.udp.setsockopt(socket.IPPROTO_IP, IP_PKTINFO, 1)
        self.udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 23)
        self.udp.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 23)
        self.udp.bind(("0.0.0.0", PORT))
        self.udp.setblocking(False)
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(("0.0.0.0", PORT))
        self.listener.listen(512)
        self.listener.setblocking(False)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.udp, selectors.EVENT_READ, None)
        self.selector.register(self.listener, selectors.EVENT_READ, None)
        self.conns = {}
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def clear(self):
        """Forgets everything: what was heard, what was to be said, who was connected."""
        with self.lock:
            self.heard, self.answer_of, self.default, self.later, self.errors = [], {}, None, [], []
            for conn in list(self.conns):
                self.drop(conn)

    def stop(self):
        self.ending = True
        self.thread.join(2)

    def run(self):
        while not self.ending:
            with self.lock:
                left = self.later[0][0] - time.monotonic() if self.later else 0.05
            events = self.selector.select(max(0, min(left, 0.05)))
            with self.lock:
                for key, _ in events:
                    if key.fileobj is self.udp:
                        self.take_udp()
                    elif key.fileobj is self.listener:
                        self.take_connection()
                    elif key.fileobj in self.conns:
                        self.take_tcp(key.fileobj)
                now = time.monotonic()
                while self.later and self.later[0][0] <= now:
                    self.put(*heapq.heappop(self.later)[2:])

    def take_udp(self):
        for _ in range(200):
            try:
                data, ancillary, _, peer = self.udp.recvmsg(65535, 128)
            except (BlockingIOError, ConnectionError):
                return
            server = next(socket.inet_ntoa(d[8:12]) for level, kind, d in ancillary if kind == IP_PKTINFO)
            self.take(data, server, peer, None)

    def take_connection(self):
        with contextlib.suppress(OSError):
            conn, peer = self.listener.accept()
            conn.setblocking(False)
            server = conn.getsockname()[0]
            self.heard.append(Heard(time.monotonic(), server, "conn", "", 0, peer[1], 0, None, "", peer[0]))
            self.conns[conn] = [b"", server, peer]
            self.selector.register(conn, selectors.EVENT_READ, None)

    def drop(self, conn):
        if self.conns.pop(conn, None):
            self.selector.unregister(conn)
            conn.close()

    def take_tcp(self, conn):
        try:
            data = conn.recv(65536)
        except OSError:
            data = b""
        if not data:
            self.drop(conn)
            return
        state = self.conns[conn]
        state[0] += data
        while conn in self.conns and len(state[0]) >= 2:
            n = 2 + struct.unpack("!H", state[0][:2])[0]
            if len(state[0]) < n:
                return
            one, state[0] = state[0][2:n], state[0][n:]
            self.take(one, state[1], state[2], conn)

    def take(self, data, server, peer, conn):
        try:
            q = Query(data, server, peer, conn is not None, conn)
        except (ValueError, IndexError, struct.error):
            self.errors.append("%s got what is no question: %r" % (server, data[:40]))
            return
        self.heard.append(Heard(time.monotonic(), server, "tcp" if conn else "udp", q.name, q.kind, peer[1], q.id,
                                q.edns, q.spelled, peer[0]))
        answer = self.answer_of.get(server, self.default)
        if answer is None:
            return
        try:
            self.dispatch(q, answer(q))
        except Exception as e:  # pylint: disable=broad-except
            # A mistake in a script must not look like a silent server.
            self.errors.append("%s, asked for %s %s: %r" % (server, q.name, q.kind, e))

    def dispatch(self, q, out):
        """Says it now or later. A list goes out in its order."""
        for one in out if isinstance(out, (list, tuple)) and not isinstance(out, Send) else [out]:
            if one is None:
                continue
            send = one if isinstance(one, Send) else Send(one)
            if send.delay > 0:
                heapq.heappush(self.later, (time.monotonic() + send.delay, next(self.order), q, send))
            else:
                self.put(q, send)

    def put(self, q, send):
        what = send.what
        if isinstance(what, dns.message.Message):
            what = what.to_wire(max_size=65535)
            if not q.tcp and len(what) > max(512, min(q.edns or 512, 4096)):
                what = q.raw(flags=0x8600)
        if q.tcp:
            if q.conn not in self.conns:
                return
            if what in (HANGUP, RESET):
                if what is RESET:
                    q.conn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.drop(q.conn)
                return
            with contextlib.suppress(OSError):
                q.conn.setblocking(True)
                q.conn.settimeout(2)
                q.conn.sendall(struct.pack("!H", len(what)) + what)
                q.conn.setblocking(False)
            return
        if what in (HANGUP, RESET):
            return
        source = send.source or q.server
        with contextlib.suppress(OSError):
            self.udp.sendmsg([what], [(socket.IPPROTO_IP, IP_PKTINFO, struct.pack("@i4s4s", 0, socket.inet_aton(source),
                                                                              b"\0" * 4))], 0, q.client)
