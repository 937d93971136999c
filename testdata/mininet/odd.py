"""The name servers no software would be: one habit to an address, over UDP and TCP.

SPDX-License-Identifier: BSD-3-Clause

Every address serves one small zone, `<habit>.mini.`: `www`, the apex, `ns` and `a.between` have an
address, the rest does not exist. What is odd about the answers is a function below.
"""

import heapq
import random
import selectors
import signal
import socket
import struct
import sys
import time

from content import CLOSED, ODD, SILENT

NOERROR, FORMERR, SERVFAIL, NXDOMAIN, NOTIMP = 0, 1, 2, 3, 4
A, NS, SOA, OPT = 1, 2, 6, 41
TC, AA, QR = 0x0200, 0x0400, 0x8000


def wire(name):
    return b"".join(bytes([len(p)]) + p.encode() for p in name.rstrip(".").split(".") if p) + b"\0"


def record(owner, rrtype, rdata, ttl=300):
    return owner + struct.pack("!HHIH", rrtype, 1, ttl, len(rdata)) + rdata


class Query:
    """One question, read as far as a reply needs it; raises ValueError where it is none."""

    def __init__(self, data):
        if len(data) < 12:
            raise ValueError("short")
        self.id, self.flags, qd, _, _, self.additional = struct.unpack("!6H", data[:12])
        if self.flags & QR or qd != 1:
            raise ValueError("no question")
        at = 12
        labels = []
        while True:
            if at >= len(data) or data[at] > 63:
                raise ValueError("bad name")
            if data[at] == 0:
                break
            labels.append(data[at + 1:at + 1 + data[at]].decode("latin-1"))
            at += 1 + data[at]
        self.question = data[12:at + 5]
        self.name = ".".join(labels).lower() + "."
        self.type = struct.unpack("!H", data[at + 1:at + 3])[0]
        self.edns = self.additional > 0


def reply(q, rcode=NOERROR, answer=(), authority=(), additional=(), flags=0, qid=None, question=None):
    extra = list(additional)
    if q.edns and rcode != FORMERR:
        extra.append(b"\0" + struct.pack("!HHIH", OPT, 1232, 0, 0))
    asked = q.question if question is None else question
    head = struct.pack("!6H", q.id if qid is None else qid, QR | AA | flags | (q.flags & 0x0100) | rcode,
                       1 if asked else 0, len(answer), len(authority), len(extra))
    return head + asked + b"".join(answer) + b"".join(authority) + b"".join(extra)


def truth(q, zone, address, **more):
    """What a sound server would say."""
    soa = record(wire(zone), SOA, wire("ns." + zone) + wire("hostmaster." + zone)
                 + struct.pack("!5I", 1, 3600, 900, 86400, 60), 60)
    hosts = {zone: "198.18.0.150", "www." + zone: "198.18.0.151", "a.between." + zone: "198.18.0.152",
             "ns." + zone: address}
    if q.name in hosts:
        if q.type == A:
            return reply(q, answer=[record(wire(q.name), A, socket.inet_aton(hosts[q.name]))], **more)
        if q.type == NS and q.name == zone:
            return reply(q, answer=[record(wire(zone), NS, wire("ns." + zone))], **more)
        if q.type == SOA and q.name == zone:
            return reply(q, answer=[soa], **more)
        return reply(q, authority=[soa], **more)
    return reply(q, NOERROR if q.name == "between." + zone else NXDOMAIN, authority=[soa], **more)


def formerr_on_edns(q, zone, address, tcp):
    return reply(q, FORMERR) if q.edns else truth(q, zone, address)


def truncated_then_tcp(q, zone, address, tcp):
    return truth(q, zone, address) if tcp else reply(q, flags=TC)


def nxdomain_between(q, zone, address, tcp):
    if q.name == "between." + zone:
        return reply(q, NXDOMAIN)
    return truth(q, zone, address)


def foreign_records(q, zone, address, tcp):
    """The right answer, and with it what a poisoner would like to be believed."""
    evil = socket.inet_aton("198.19.66.66")
    if q.name == zone or q.name.startswith("ns.") or q.type != A:
        return truth(q, zone, address)
    return reply(q, answer=[record(wire(q.name), A, socket.inet_aton("198.18.0.151")),
                            record(wire("target.chain.net."), A, evil, 86400)],
                 authority=[record(wire("chain.net."), NS, wire("evil.chain.net."), 86400),
                            record(wire("mini."), NS, wire("evil.chain.net."), 86400)],
                 additional=[record(wire("evil.chain.net."), A, evil, 86400),
                             record(wire("target.chain.org."), A, evil, 86400)])


HABITS = {
    "servfail": lambda q, z, a, tcp: reply(q, SERVFAIL),
    "notimp": lambda q, z, a, tcp: reply(q, NOTIMP),
    "formerr_on_edns": formerr_on_edns,
    "truncated_then_tcp": truncated_then_tcp,
    "truncated_no_tcp": truncated_then_tcp,
    "wrong_id": lambda q, z, a, tcp: truth(q, z, a, qid=(q.id + 1) & 0xffff),
    "wrong_question": lambda q, z, a, tcp: truth(q, z, a, question=wire("else." + z) + b"\0\1\0\1"),
    "no_question": lambda q, z, a, tcp: reply(q, question=b""),
    "garbage": lambda q, z, a, tcp: struct.pack("!H", q.id) + random.randbytes(60),
    "nxdomain_between": nxdomain_between,
    "slow": lambda q, z, a, tcp: truth(q, z, a),
    "foreign_records": foreign_records,
    "ignores_edns": lambda q, z, a, tcp: None if q.edns else truth(q, z, a),
}
SLOW_S = 0.4


class Odd:
    def __init__(self, port):
        self.poll = selectors.DefaultSelector()
        self.later = []
        self.silent = []
        for address, habit in ODD.items():
            udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            udp.bind((address, port))
            udp.setblocking(False)
            self.poll.register(udp, selectors.EVENT_READ, (self.on_udp, address, habit))
            if habit != "truncated_no_tcp":
                self.listen(address, port, habit)
        for address in SILENT:
            # Bound and never read: the kernel takes what comes, and nothing ever leaves.
            udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            udp.bind((address, port))
            self.silent.append(udp)
        assert not set(CLOSED) & set(ODD)

    def listen(self, address, port, habit):
        tcp = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        tcp.bind((address, port))
        tcp.listen(16)
        tcp.setblocking(False)
        self.poll.register(tcp, selectors.EVENT_READ, (self.on_accept, address, habit))

    def answer(self, data, address, habit, tcp):
        try:
            q = Query(data)
        except ValueError:
            return None
        return HABITS[habit](q, habit.replace("_", "-") + ".mini.", address, tcp)

    def send(self, habit, act):
        """Sends now, or later where slowness is the habit."""
        if habit == "slow":
            heapq.heappush(self.later, (time.monotonic() + SLOW_S, id(act), act))
        else:
            act()

    def on_udp(self, sock, address, habit):
        try:
            data, peer = sock.recvfrom(65535)
        except OSError:
            return
        out = self.answer(data, address, habit, False)
        if out is not None:
            self.send(habit, lambda: sock.sendto(out, peer))

    def on_accept(self, sock, address, habit):
        conn, _ = sock.accept()
        conn.settimeout(2)
        try:
            size = struct.unpack("!H", conn.recv(2, socket.MSG_WAITALL))[0]
            out = self.answer(conn.recv(size, socket.MSG_WAITALL), address, habit, True)
            if out is not None:
                conn.sendall(struct.pack("!H", len(out)) + out)
        except (OSError, struct.error):
            pass
        finally:
            conn.close()

    def run(self):
        while True:
            wait = max(0, self.later[0][0] - time.monotonic()) if self.later else None
            for key, _ in self.poll.select(wait):
                act, address, habit = key.data
                act(key.fileobj, address, habit)
            while self.later and self.later[0][0] <= time.monotonic():
                heapq.heappop(self.later)[2]()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    Odd(int(sys.argv[1])).run()
