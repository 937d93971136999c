"""Who may ask, what the daemon says of itself, and what it makes of bad packets.

SPDX-License-Identifier: BSD-3-Clause
"""

import contextlib
import glob
import random
import signal
import socket
import struct
import time

import dns.flags
import dns.message
import dns.rcode
import pytest

from lab import ADDRESS, ask, query, rcode, texts, until

HEAD = struct.Struct("!6H")
QUESTION = b"\6target\5chain\4mini\0\0\1\0\1"


@pytest.mark.parametrize("name, want", [
    ("id.server.", "lab"), ("hostname.bind.", "lab"),
    ("version.server.", "1.2.3"), ("version.bind.", "1.2.3"),
])
def test_identity_in_class_chaos(shared, name, want):
    r = shared.ask(name, "TXT", "CH")
    assert [s.strings[0].decode() for rd in r.answer for s in rd] == [want]
    assert r.answer[0].name.to_text() == name


def test_identity_can_be_hidden(daemon):
    with daemon("hide-identity: yes", "hide-version: yes") as d:
        for name in ("id.server.", "hostname.bind.", "version.server.", "version.bind."):
            assert rcode(d.ask(name, "TXT", "CH")) == "REFUSED"


def test_other_names_in_class_chaos_are_refused(shared):
    assert rcode(shared.ask("www.example.com.", "TXT", "CH")) == "REFUSED"


@pytest.mark.parametrize("tcp", [False, True])
def test_a_foreign_client_is_refused(shared, tcp):
    r = shared.ask("target.chain.mini.", source="127.99.1.1", tcp=tcp)
    assert rcode(r) == "REFUSED" and not r.answer


def test_an_unwanted_client_hears_nothing(shared):
    assert shared.send(query("target.chain.mini.").to_wire(), timeout=0.7, source="127.98.1.1") is None


def test_the_longest_netblock_decides(daemon):
    with daemon("access-control: 127.96.0.0/12 refuse", "access-control: 127.97.0.0/16 allow",
                "access-control: 127.97.0.7/32 deny") as d:
        assert texts(ask("target.chain.mini.", port=d.port, source="127.97.0.1")) == ["198.18.0.40"]
        assert rcode(ask("target.chain.mini.", port=d.port, source="127.96.0.1")) == "REFUSED"
        assert d.send(query("a.mini.").to_wire(), timeout=0.5, source="127.97.0.7") is None


def test_snoopers_and_their_like(daemon):
    """refuse_non_local and deny_non_local know local data only; allow_setrd asks for itself;
    allow_snoop may look into the cache and plain allow may not."""
    with daemon("access-control: 127.1.0.0/16 allow_snoop", "access-control: 127.2.0.0/16 allow_setrd",
                "access-control: 127.3.0.0/16 refuse_non_local",
                "access-control: 127.4.0.0/16 deny_non_local") as d:
        def from_(source, name="target.chain.mini.", flags=0):
            return ask(name, port=d.port, source=source, flags=flags, timeout=3)
        d.ask("target.chain.mini.")
        assert texts(from_("127.1.0.1")) == ["198.18.0.40"]
        assert texts(from_("127.2.0.1", "target.chain.net.")) == ["198.18.0.40"]
        assert rcode(from_("127.3.0.1", flags=dns.flags.RD)) == "REFUSED"
        assert d.send(query("target.chain.mini.").to_wire(), timeout=0.5, source="127.4.0.1") is None


def test_without_rd_nobody_is_asked(shared):
    """RFC 1034 4.3.2: recursion is desired or it is not. What is not cached stays unknown."""
    r = shared.ask("never-asked-before.w.rsa.mini.", flags=0)
    assert not r.answer


def head(qid=0x4242, flags=0x0100, qd=1, an=0, ns=0, ar=0):
    return HEAD.pack(qid, flags, qd, an, ns, ar)


def opt(payload=1232, extended=0, version=0, flags=0, options=b"", owner=b"\0", length=None):
    return owner + struct.pack("!HHBBHH", 41, payload, extended, version, flags,
                               len(options) if length is None else length) + options


SILENCE = None
RECORD = b"\1a\0\0\1\0\1\0\0\0\0\0\4\1\2\3\4"

# What came, and the RCODEs that are fit; SILENCE where nothing may or need be said.
SHAPES = {
    "nothing": (b"", {SILENCE}),
    "one byte": (b"\x42", {SILENCE}),
    "half a header": (head()[:7], {SILENCE}),
    "a header less one byte": (head()[:11], {SILENCE}),
    "a response": (head(flags=0x8180) + QUESTION, {SILENCE}),
    "no question": (head(qd=0), {"FORMERR", SILENCE}),
    "two questions": (head(qd=2) + QUESTION * 2, {"FORMERR"}),
    "many questions, none there": (head(qd=65535), {"FORMERR", SILENCE}),
    "a question that is cut": (head() + QUESTION[:9], {"FORMERR", SILENCE}),
    "a name without its end": (head() + b"\6target", {"FORMERR", SILENCE}),
    "no type": (head() + QUESTION[:-4], {"FORMERR", SILENCE}),
    "half a class": (head() + QUESTION[:-1], {"FORMERR", SILENCE}),
    "a pointer for a name": (head() + b"\xc0\x0c\0\1\0\1", {"FORMERR", SILENCE}),
    "a pointer into the void": (head() + b"\xff\xff\0\1\0\1", {"FORMERR", SILENCE}),
    "a label type of old": (head() + b"\x41\0\0\1\0\1", {"FORMERR", SILENCE}),
    "a name of 256 bytes": (head() + b"\x3f" + b"a" * 63 + (b"\x3f" + b"b" * 63) * 2 + b"\x3f" + b"c" * 63
                            + b"\0\0\1\0\1", {"FORMERR", SILENCE}),
    "an answer in a query": (head(an=1) + QUESTION + RECORD, {"FORMERR", "NOERROR"}),
    "authority in a query": (head(ns=1) + QUESTION + RECORD, {"FORMERR", "NOERROR"}),
    "counts without records": (head(an=9, ns=9, ar=9) + QUESTION, {"FORMERR", SILENCE}),
    "additional count without record": (head(ar=1) + QUESTION, {"FORMERR", SILENCE}),
    "two OPT": (head(ar=2) + QUESTION + opt() * 2, {"FORMERR"}),
    "OPT not at the root": (head(ar=1) + QUESTION + opt(owner=b"\1x\0"), {"FORMERR"}),
    "OPT longer than the packet": (head(ar=1) + QUESTION + opt(length=100), {"FORMERR", SILENCE}),
    "an option longer than OPT": (head(ar=1) + QUESTION + opt(options=b"\0\x0a\0\x99abc"), {"FORMERR", "NOERROR"}),
    "EDNS of the future": (head(ar=1) + QUESTION + opt(version=1), {"BADVERS"}),
    "EDNS of the far future": (head(ar=1) + QUESTION + opt(version=255), {"BADVERS"}),
    "unknown EDNS flags": (head(ar=1) + QUESTION + opt(flags=0x7fff), {"NOERROR"}),
    "an unknown option": (head(ar=1) + QUESTION + opt(options=b"\xfd\xe9\0\3abc"), {"NOERROR"}),
    "an empty cookie": (head(ar=1) + QUESTION + opt(options=b"\0\x0a\0\0"), {"FORMERR", "NOERROR"}),
    "a cookie too short": (head(ar=1) + QUESTION + opt(options=b"\0\x0a\0\4abcd"), {"FORMERR", "NOERROR"}),
    "bytes after the end": (head() + QUESTION + b"\xde\xad\xbe\xef" * 8, {"FORMERR", "NOERROR", SILENCE}),
    "TC in a query": (head(flags=0x0300) + QUESTION, {"FORMERR", "NOERROR"}),
    "AA in a query": (head(flags=0x0500) + QUESTION, {"NOERROR"}),
    "the Z bit": (head(flags=0x0140) + QUESTION, {"NOERROR", "FORMERR"}),
    "an RCODE in a query": (head(flags=0x0105) + QUESTION, {"NOERROR", "FORMERR"}),
    "inverse query": (head(flags=0x0900) + QUESTION, {"NOTIMP"}),
    "status": (head(flags=0x1100) + QUESTION, {"NOTIMP"}),
    "opcode 3": (head(flags=0x1900) + QUESTION, {"NOTIMP"}),
    "notify": (head(flags=0x2000) + QUESTION, {"NOTIMP", "REFUSED", "FORMERR", "NOTAUTH"}),
    "update": (head(flags=0x2800) + QUESTION, {"NOTIMP", "REFUSED", "FORMERR"}),
    "DSO": (head(flags=0x3000, qd=0), {"NOTIMP", "FORMERR"}),
    "opcode 15": (head(flags=0x7900) + QUESTION, {"NOTIMP"}),
    "type 0": (head() + QUESTION[:-4] + b"\0\0\0\1", {"NOERROR", "FORMERR", "REFUSED", "NXDOMAIN"}),
    "zone transfer": (head() + QUESTION[:-4] + b"\0\xfc\0\1", {"REFUSED", "NOTIMP", "FORMERR"}),
    "incremental transfer": (head() + QUESTION[:-4] + b"\0\xfb\0\1", {"REFUSED", "NOTIMP", "FORMERR"}),
    "OPT as the question": (head() + QUESTION[:-4] + b"\0\x29\0\1", {"FORMERR", "REFUSED", "NOTIMP"}),
    "class 0": (head() + QUESTION[:-2] + b"\0\0", {"REFUSED", "FORMERR", "NOTIMP"}),
    "class 2": (head() + QUESTION[:-2] + b"\0\2", {"REFUSED", "NOTIMP"}),
    "class HESIOD": (head() + QUESTION[:-2] + b"\0\4", {"REFUSED", "NOTIMP"}),
    "class 65280": (head() + QUESTION[:-2] + b"\xff\0", {"REFUSED", "NOTIMP"}),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_bad_packet_gets_what_the_rfcs_say(shared, shape):
    data, fit = SHAPES[shape]
    wire = shared.send(data, timeout=0.3 if SILENCE in fit else 8)
    if wire is None:
        assert SILENCE in fit
    else:
        flags = struct.unpack("!H", wire[2:4])[0]
        assert wire[:2] == data[:2] and flags & 0x8000, "ID and QR"
        assert flags & 0x7800 == struct.unpack("!H", data[2:4])[0] & 0x7800, "opcode"
        code = flags & 15
        got = "BADVERS" if wire[-11:-8] == b"\0\0\x29" and wire[-6] == 1 and code == 0 else dns.rcode.to_text(code)
        assert got in fit
    assert texts(shared.ask("target.chain.mini.")) == ["198.18.0.40"]


def test_the_same_shapes_over_tcp(shared):
    """Each on its own connection: answered or closed, and the next client is served."""
    for data, _ in SHAPES.values():
        with shared.tcp() as s:
            s.settimeout(5)
            try:
                s.sendall(struct.pack("!H", len(data)) + data)
                s.shutdown(socket.SHUT_WR)
                s.recv(4096)
            except OSError:
                pass
    assert texts(shared.ask("target.chain.mini.", tcp=True)) == ["198.18.0.40"]


def test_noise_does_not_matter(shared):
    """Thousands of packets from random bytes and from true queries with random damage."""
    dice = random.Random(1)
    true = [query(n, t, dnssec=True).to_wire() for n, t in
            (("target.chain.mini.", "A"), ("x.old.dname.mini.", "A"), ("a.b.c.d.e.f.mini.", "TXT"))]
    with socket.socket(type=socket.SOCK_DGRAM) as s:
        s.connect(("127.0.0.1", shared.port))
        for i in range(4000):
            if i % 2:
                data = dice.randbytes(dice.randrange(1, 200))
            else:
                data = bytearray(dice.choice(true))
                for _ in range(dice.randrange(1, 6)):
                    data[dice.randrange(len(data))] = dice.randrange(256)
                data = bytes(data[:dice.randrange(1, len(data) + 1)])
            try:
                s.send(data)
            except ConnectionRefusedError:
                pytest.fail("nobody listens any more after %d packets" % i)
            if i % 20 == 19:
                time.sleep(0.002)
            if i % 500 == 499:
                assert texts(shared.ask("target.chain.mini.")) == ["198.18.0.40"]
    assert shared.alive()


def test_opcodes_and_classes_cost_nothing_upstream(daemon):
    """CVE-2026-5946 and its kin: no recursion but for opcode QUERY in class IN."""
    with daemon() as d:
        d.ask("target.chain.mini.")
        before = d.stats()["total.num.recursivereplies"]
        for rrclass in (0, 2, 3, 4, 255, 65280):
            for opcode in range(16):
                q = head(flags=(opcode << 11) | 0x0100) + b"\5fresh" + QUESTION[7:-2] + struct.pack("!H", rrclass)
                if (rrclass, opcode) != (1, 0):
                    d.send(q, timeout=0.05)
        after = d.stats()["total.num.recursivereplies"]
        assert after - before <= 1


def test_a_client_waits_for_so_many_answers_and_no_more(daemon):
    with daemon("num-threads: 2", "wait-limit-netblock: 127.5.0.0/16 4") as d:
        d.ask("target.chain.mini.")
        with socket.socket(type=socket.SOCK_DGRAM) as greedy:
            greedy.bind(("127.5.0.1", 0))
            for i in range(12):
                greedy.sendto(query("q%d.silent.mini." % i).to_wire(), (ADDRESS, d.port))
            until(lambda: d.stats()["total.num.queries_wait_limit"] >= 8)
            assert d.stats()["total.num.queries_wait_limit"] == 8
            # what is cached is given all the same, and others are not touched
            assert texts(d.ask("target.chain.mini.", source="127.5.0.1")) == ["198.18.0.40"]
            assert rcode(d.ask("a.b.www.ent.mini.", source="127.6.0.1")) in ("NOERROR", "NXDOMAIN")


@contextlib.contextmanager
def standing_still(d, seconds):
    """Every thread of the daemon is stopped inside, and for that long."""
    def is_still():
        tasks = glob.glob("/proc/%d/task/*/stat" % d.process.pid)
        return all(open(t, encoding="ascii").read().rsplit(")", 1)[1].split()[0] == "T" for t in tasks)
    d.process.send_signal(signal.SIGSTOP)
    try:
        while not is_still():
            time.sleep(0.01)
        yield
        time.sleep(seconds)
    finally:
        d.process.send_signal(signal.SIGCONT)


def test_questions_that_waited_too_long_in_the_queue_are_dropped(daemon):
    """sock-queue-timeout: whoever asked while we stood still has given up, and is not answered late."""
    with daemon("sock-queue-timeout: 1") as d, socket.socket(type=socket.SOCK_DGRAM) as s:
        s.connect((ADDRESS, d.port))
        s.settimeout(3)
        d.ask("target.chain.mini.")
        d.control("flush_stats")
        with standing_still(d, 1.3):
            for i in range(5):
                s.send(query("target.chain.mini.", id=100 + i).to_wire())
        for _ in range(10):
            s.send(query("target.chain.mini.", id=200).to_wire())
            try:
                got = s.recv(4096)
                break
            except socket.timeout:
                continue
        assert dns.message.from_wire(got).id == 200
        stats = d.stats()
        assert stats["total.num.queries_timed_out"] == 5
        assert stats["total.query.queue_time_us.max"] >= 1300000
        assert stats["thread0.query.queue_time_us.max"] == stats["total.query.queue_time_us.max"]
        assert stats["total.num.queries"] < 5
        d.configure()
        d.control("reload")
        d.control("flush_stats")
        with standing_still(d, 1.3):
            s.send(query("target.chain.mini.", id=300).to_wire())
        while dns.message.from_wire(s.recv(4096)).id != 300:
            pass
        assert d.stats()["total.num.queries_timed_out"] == 0
