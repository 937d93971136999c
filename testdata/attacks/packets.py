"""Packets of death: everything that made some name server fall over, through every transport (section 8 of the list, as
entry 68).

SPDX-License-Identifier: BSD-3-Clause
"""

import base64
import contextlib
import glob
import os
import socket
import ssl
import struct
import time

from frame import signing
from frame.authority import record, wire
from frame.crowd import HERE, Ports, framed, head, leaked, opt, question
from frame.declare import at_least, attack
from frame.lab import e2e
from frame.world import ATTACKERS, Zone

FUZZ = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "fuzz")
Q = question("a.death.test")
OWNER = b"\xc0\x0c"
LONG = b"\x3f" + b"n" * 63


def questions():
    """What a client may send."""
    yield from (b"", b"\0", head()[:11], head(), head(qd=0), head(qd=0, ar=1) + opt())
    yield from (head() + Q[:n] for n in range(1, len(Q)))
    yield from (head() + bytes([at >> 8 | 0xc0, at & 255]) + b"\0\1\0\1" for at in (0, 2, 11, 12, 13, 14, 16383))
    yield head() + LONG * 3 + b"\x3d" + b"n" * 61 + b"\0\0\1\0\1"
    yield head() + LONG * 4 + b"\0\0\1\0\1"
    yield head() + b"\1a" * 127 + b"\0\0\1\0\1"
    yield head() + b"\1a" * 128 + b"\0\0\1\0\1"
    yield from (head() + bytes([t]) + b"\1\0\0\1\0\1" for t in (0x40, 0x41, 0x7f, 0x80, 0xbf))
    yield from (head() + question("a.death.test", t) for t in (0, 41, 128, 249, 250, 251, 252, 253, 254, 255, 256, 65535))
    yield from (head(ar=n) + Q + opt() * n for n in (1, 2, 3, 30))
    yield from (head(an=1) + Q + opt(), head(ns=1) + Q + opt())
    yield from (head(ar=1) + Q + opt(version=v) for v in (1, 127, 255))
    yield from (head(ar=1) + Q + opt(length=n) for n in (1, 4, 65535))
    yield from (head(ar=1) + Q + opt(b"\0" + bytes([o]) + struct.pack("!H", n) + b"x" * have)
                for o in (3, 5, 8, 10, 11, 12, 15, 16) for n, have in ((0, 0), (1, 1), (7, 7), (9, 9), (65535, 3), (41, 41)))
    yield from (head(ar=1) + Q + opt(b"\0\x08" + struct.pack("!HHBB", 4 + len(a), f, s, sc) + a)
                for f, s, sc, a in ((1, 33, 0, b"\1\2\3\4\5"), (1, 24, 0, b"\1\2"), (2, 129, 0, b"\1" * 17), (0, 0, 0, b""),
                                    (1, 0, 255, b""), (65535, 1, 1, b"\x80")))
    tsig = b"\0" + struct.pack("!HHIH", 250, 255, 0, 17) + b"\0" + b"\0" * 16
    yield from (head(ar=1) + Q + tsig, head(ar=2) + Q + tsig + opt(), head(ar=2) + Q + tsig * 2)
    yield head(ar=1) + Q + b"\0" + struct.pack("!HHIH", 250, 255, 0, 65535)
    yield head(an=65535, ns=65535, ar=65535) + Q + (b"\0" + struct.pack("!HHIH", 1, 1, 0, 0)) * 3000
    yield head() + Q + os.urandom(400)
    yield from (os.urandom(n) for n in (12, 13, 40, 512))
    yield head() + Q + b"\0" * (65535 - 12 - len(Q))


def corpora():
    """Our own corpora of fuzzing: whatever they are, they are bytes."""
    for room in ("msg", "request", "edns", "upstream", "stream", "answer", "verify", "dname", "denial", "text", "addr"):
        for path in sorted(glob.glob(os.path.join(FUZZ, room, "*")))[:150]:
            with open(path, "rb") as f:
                data = f.read(65535)
            yield data


def rr(kind, data, length=None, owner=OWNER, rrclass=1):
    return owner + struct.pack("!HHIH", kind, rrclass, 60, len(data) if length is None else length) + data


def answers(q):
    """What a server may send: (sections, more)."""
    n = wire("x.death.test")
    address = rr(1, b"\xc0\0\2\1")
    # data that is shorter or longer than its type wants, names within it that do not end
    for kind in (2, 5, 6, 7, 8, 9, 12, 13, 14, 15, 17, 18, 21, 24, 26, 33, 35, 36, 39, 43, 46, 47, 48, 50, 51, 52, 55, 64, 65,
                 249, 250, 257, 32769):
        for data in (b"", b"\0", n, n[:-1], b"\0\1" + n, b"\0\1" + n[:-2], b"\xc0\x0c", b"\xc0", b"\xff" * 3, n + b"x" * 40,
                     b"\xc0\xff", LONG * 4 + b"\0", b"\0" * 18 + n, b"\0" * 18 + n[:-1], b"\0\1\0\1\0\1" + n + n[:-3]):
            yield [rr(kind, data)], {}
        yield [rr(kind, n, 65535)], {}
    # keys that are none
    for algorithm in (1, 3, 5, 7, 8, 10, 12, 13, 14, 15, 16, 17, 253, 254, 255, 0):
        for key in (b"", b"\0", b"\0\0\0", b"\xff", b"\0\xff\xff" + b"k" * 9, b"\3\1\0\1", b"k" * 31, b"k" * 63, b"\4" + b"k" * 64,
                    b"\0\0\1" + b"k" * 300, b"k" * 2000, b"\1\1" + b"\xff" * 600):
            yield [rr(48, struct.pack("!HBB", 257, 3, algorithm) + key), rr(46, struct.pack(
                "!HBBIIIH", 48, algorithm, 2, 60, 0x7fffffff, 0, 1) + wire("death.test") + b"s" * 64)], {"kind": "DNSKEY"}
    # signatures alone, twice, of others, with times and labels that cannot be
    for labels in (0, 1, 2, 3, 4, 127, 255):
        for signer in (b"\0", wire("test"), wire("death.test"), wire("sister.test"), b"\xc0\x0c", LONG * 3 + b"\0"):
            yield [address, rr(46, struct.pack("!HBBIIIH", 1, 13, labels, 60, 0x7fffffff, 0, 7) + signer + b"s" * 64)], {}
    yield [rr(46, struct.pack("!HBBIIIH", 1, 13, 3, 60, 0, 0, 0) + b"\0")], {}
    # bitmaps, hashes
    for bitmap in (b"", b"\0", b"\0\0", b"\0\1", b"\0\x21" + b"\xff" * 33, b"\1\1\1\0\1\1", b"\0\1\1\0\1\1", b"\0\2\0\0",
                   b"\xff\x20" + b"\xff" * 32, b"".join(bytes([w]) + b"\1\x80" for w in range(256))):
        yield [], {"authority": [rr(47, n + bitmap), rr(50, b"\1\0\0\1\0\x14" + b"h" * 20 + bitmap)]}
    for data in (b"\1\0\xff\xff\xff" + b"s" * 255 + b"\x14" + b"h" * 20, b"\1\0\0\1\xff", b"\1\0\0\1\0\0", b"\1\0\0\1\0\xffh",
                 b"\0\xff\0\1\0\1h", b"\1"):
        yield [], {"authority": [rr(50, data, owner=wire("%s.death.test" % ("0" * 32)))]}
    # parameters of services
    for p in (b"\0\1\0\0", b"\0\1\0\2\2h", b"\0\4\0\0", b"\0\4\0\3\1\2\3", b"\0\4\0\4\1\2\3\4\0\4\0\4\1\2\3\4", b"\0\0\0\2\0\1",
              b"\0\0\0\1\0", b"\0\3\0\1\1", b"\0\4\xff\xff", b"\xff\xff\0\0", b"\0\6\0\x10" + b"6" * 16 + b"\0\4\0\4" + b"4" * 4):
        yield [rr(65, b"\0\1\0" + p), rr(64, b"\0\0" + n + p)], {}
    # names that are too long once they are made
    deep = ".".join(["d" * 60] * 3)
    yield [rr(39, wire(deep + "." + "e" * 50 + ".test"), owner=wire("death.test")), rr(5, wire("x.test"))], {}
    yield [rr(39, b"\0", owner=b"\0")], {}
    yield [rr(39, wire("death.test"), owner=wire("death.test"))], {}
    # pointers
    for at in (0, 1, 11, 12, 13, 40, 44, 45, 60, 1000, 16383):
        yield [rr(5, bytes([0xc0 | at >> 8, at & 255]))], {}
        yield [rr(1, b"\xc0\0\2\1", owner=bytes([0xc0 | at >> 8, at & 255]))], {}
    # OPT and TSIG where they should not be
    o = opt(flags=0x8000)
    yield [o, address], {}
    yield [address], {"additional": [o, o]}
    yield [address], {"additional": [opt(version=255)]}
    yield [address], {"additional": [opt(length=60000)]}
    yield [address], {"additional": [rr(250, b"\0" * 30), o]}
    yield [address], {"additional": [opt(b"\0\x0f\0\1x"), opt(b"\0\x0a\0\x01x")]}
    for option in (b"\0\x0a\0\x28" + b"c" * 40, b"\0\x0f\0\0", b"\0\x0f\xff\xff", b"\0\x12\0\2\xc0\x0c", b"\0\x12\0\3\3ab",
                   b"\0\x08\0\5\0\1\xff\xff1", b"\0\x0b\0\1x"):
        yield [address], {"additional": [opt(option)]}
    # counts, and far too much
    yield [address], {"count": (1, 65535, 65535, 65535)}
    yield [address], {"count": (0, 1, 0, 0)}
    yield [address], {"count": (65535, 1, 0, 0)}
    yield [rr(1, struct.pack("!I", i)) for i in range(4000)], {"tcp": True}
    yield [rr(16, b"\xff" + b"t" * 255 + bytes([i & 255]) * 4) for i in range(240)], {"tcp": True}
    yield [rr(15, b"\0\1" + wire("%s.%d.test" % (deep, i))) for i in range(280)], {"tcp": True}
    yield [rr(2, wire("ns%d.%s.test" % (i, deep))) for i in range(280)], {"tcp": True}
    yield [rr(1, b"\xc0\0\2\1", rrclass=c) for c in (0, 3, 254, 255, 65535)], {}


def through_udp(lab, packets):
    with socket.socket(type=socket.SOCK_DGRAM) as s:
        s.connect((HERE, lab.daemon.port))
        for i, p in enumerate(packets):
            with contextlib.suppress(OSError):
                s.send(p[:65507])
            if i % 20 == 19:
                time.sleep(0.002)


def through_stream(make, packets):
    """Each on a connection that is made anew when it was cut; some cut into pieces, some two at once."""
    s = None
    for i, p in enumerate(packets):
        data = framed(p[:65535])
        pieces = [data[j:j + 1] for j in range(len(data))] if i % 40 == 7 and len(data) < 200 else [data, data] if i % 3 else [data]
        for turn in range(2):
            try:
                s = s or make()
                for piece in pieces:
                    s.sendall(piece)
                s.settimeout(0.002)
                with contextlib.suppress(socket.timeout, ssl.SSLWantReadError):
                    while s.recv(65536):
                        pass
                    raise OSError("cut")
                s.settimeout(3)
                break
            except OSError:
                if s:
                    s.close()
                s = None
    if s:
        s.close()


def through_https(ports, packets):
    client = None
    for i, p in enumerate(packets):
        try:
            client = client or ports.doh()
            if i % 2 and len(p) < 4000:
                client.begin("GET", "/dns-query?dns=" + base64.urlsafe_b64encode(p).decode().rstrip("="))
            else:
                client.begin("POST", "/dns-query", ("content-type", "application/dns-message"), body=p[:60000])
            client.take(0.002)
            if client.over or i % 60 == 59:
                client.sock.close()
                client = None
        except Exception:  # pylint: disable=broad-except
            client = None
    if client:
        client.sock.close()


@attack(68, "packets-of-death", "every packet of our own list of odd ones, and all fuzzing corpora, over every "
                                "transport",
        rule="one bounded reader for all transports, no recursion on input, sizes known before anything is written",
        code="util/dns/msg.c util/base/bytes.h util/dns/edns.c", seconds=150, quick=True, server=["num-threads: 2"],
        variants={k: {"transport": k} for k in ("udp", "tcp", "tls", "https")}, limits={"sent": at_least(200), "fds": 5})
def packets_of_death(lab, transport):
    ports = Ports(lab)
    lab.world.serve(Zone("death.test", ["a 60 A 192.0.2.1"]), {"ns.death.test.": ATTACKERS[0]})
    lab.start()
    lab.ask("a.death.test")
    packets = [*questions(), *corpora()]
    if transport == "udp":
        through_udp(lab, packets * 3)
    elif transport == "tcp":
        through_stream(lambda: lab.daemon.tcp(3), packets)
        with lab.daemon.tcp(3) as s:  # lengths that are no messages
            for n in (0, 1, 11):
                with contextlib.suppress(OSError):
                    s.sendall(struct.pack("!H", n) + b"x" * n)
    elif transport == "tls":
        through_stream(lambda: ports.dot(timeout=3), packets)
    else:
        through_https(ports, packets)
    assert lab.ask("a.death.test").rcode == "NOERROR"
    return {"sent": len(packets), "fds": leaked(lab)}


def everybody(lab, names, kind):
    """How many of these are answered within what a question may take; what with is not looked at."""
    with socket.socket(type=socket.SOCK_DGRAM) as s:
        s.connect((HERE, lab.daemon.port))
        s.settimeout(12)
        for i, name in enumerate(names):
            s.send(head(qid=i, ar=1) + question(name, kind) + opt(flags=0x8000))
        seen = set()
        with contextlib.suppress(OSError):
            while len(seen) < len(names):
                data = s.recv(65535)
                seen.add(data[:2])
                if data[2] & 2:
                    with contextlib.suppress(OSError, EOFError), lab.daemon.tcp(5) as t:
                        t.sendall(framed(head(ar=1) + question(names[data[1]], kind) + opt(flags=0x8000)))
                        e2e.read_exactly(t, struct.unpack("!H", e2e.read_exactly(t, 2))[0])
        return len(seen)


@attack(68, "answers-of-death", "the same in responses: impossible data, keys, signatures, bitmaps, pointers, "
                                "counts",
        rule="what cannot be parsed is no answer; what can be is believed as far as it validates",
        code="util/dns/msg.c util/dns/rr.c iterator/scrub.c validator/verify.c", seconds=200, quick=True,
        server=["num-threads: 2", "outbound-msg-retry: 1"],
        variants={k: {"signed": k == "signed"} for k in ("plain", "signed")}, limits={"sent": at_least(500), "late": 0, "fds": 5})
def answers_of_death(lab, signed):
    key = signing.key("death.test.") if signed else None
    zone = lab.world.serve(Zone("death.test", ["a 60 A 192.0.2.1", "first 60 A 192.0.2.2"], key=key),
                          {"ns.death.test.": ATTACKERS[0]})
    if signed:
        lab.anchor(zone)
    every = []
    sent = [0]

    def answer(q):
        if not q.labels[0].startswith("v") or q.labels[0][1:] == "":
            return zone.answer(q)
        if not every:
            every.extend(answers(q))
        sections, more = every[int(q.labels[0][1:]) % len(every)]
        if more.get("tcp") and not q.tcp:
            return q.raw(flags=0x8600)
        sent[0] += 1
        more = {k: v for k, v in more.items() if k in ("authority", "additional", "count")}
        out = q.raw(sections, edns="additional" not in more, **more)
        return out if q.tcp else out[:4096]
    lab.world.script(ATTACKERS[0], answer)
    lab.start()
    # Its keys are known before the flood: with one try for each question, a busy machine may lose that for DNSKEY.
    assert lab.ask("first.death.test").texts() == ["192.0.2.2"]
    count = len(list(answers(None)))
    late = 0
    for first in range(0, count, 40):
        names = ["v%d.death.test" % i for i in range(first, min(first + 40, count))]
        got = everybody(lab, names, 1 if first % 80 else 255)
        late += len(names) - got
    assert lab.ask("a.death.test").texts() == ["192.0.2.1"]
    return {"sent": sent[0], "late": late, "fds": leaked(lab)}


assert record and e2e
