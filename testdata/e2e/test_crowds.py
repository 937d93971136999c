"""Crowds: thousands who wait for one name, and connections that take all the places.

SPDX-License-Identifier: BSD-3-Clause
"""

import contextlib
import random
import resource
import select
import socket
import ssl
import struct
import time

import dns.edns
import dns.flags
import dns.message
import dns.rcode
import pytest

from h2client import Client
from lab import ADDRESS, frame, free_port, query, read_message, texts
from test_proxy import header

MANY = 5000
LOCAL = ['local-zone: "here.test." static', 'local-data: "a.here.test. 300 IN A 192.0.2.1"']


@pytest.fixture(autouse=True)
def files():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < MANY + 500:
        pytest.skip("this process may have %d files open only" % hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


# -- who waits for one name ---------------------------------------------------------------------------

def cold(label="crowd"):
    return "%s-%d.slow.mini." % (label, time.time_ns())


def is_told(r):
    return r.rcode() in (dns.rcode.NOERROR, dns.rcode.NXDOMAIN)


def plain(name, i):
    return query(name, id=i)


def padded(name, i):
    return query(name, id=i, edns=0, payload=1232, options=[dns.edns.GenericOption(12, bytes(3900))])


def spelt(name, i):
    """As clients with 0x20 do it, with EDNS or without, DO, NSID, a cookie."""
    dice = random.Random(i)
    name = "".join(c.upper() if dice.random() < 0.5 else c for c in name)
    kinds = [{}, {"edns": 0}, {"edns": 0, "ednsflags": dns.flags.DO}, {"edns": 0, "options": [dns.edns.GenericOption(3, b"")]},
             {"edns": 0, "options": [dns.edns.GenericOption(10, struct.pack("!Q", i))]},
             {"edns": 0, "options": [dns.edns.GenericOption(12, bytes(i % 400))]}]
    flags = dns.flags.RD | (dns.flags.CD if i % 7 == 0 else 0) | (dns.flags.AD if i % 5 == 0 else 0)
    q = query(name, id=i, **kinds[i % len(kinds)])
    q.flags = flags
    return q


def crowd(d, ask, many, address):
    """Each has a socket of its own; how many are answered, and with what."""
    name, told, poll = cold(), {}, select.epoll()
    asked = [ask(name, i) for i in range(many)]
    wires = [q.to_wire(max_size=65535) for q in asked]
    with contextlib.ExitStack() as stack:
        socks = {}
        for i in range(many):
            s = stack.enter_context(socket.socket(type=socket.SOCK_DGRAM))
            s.bind((address(i), 0))
            s.setblocking(False)
            poll.register(s, select.EPOLLIN)
            socks[s.fileno()] = (i, s)
        for i, s in socks.values():
            s.sendto(wires[i], (ADDRESS, d.port))
            if i % 50 == 49:
                time.sleep(0.002)  # what the kernel's queue holds
        end = time.monotonic() + 8
        while len(told) < many and time.monotonic() < end:
            for fd, _ in poll.poll(0.2):
                i, s = socks[fd]
                told[i] = s.recv(4096)
    for i, wire in told.items():
        r = dns.message.from_wire(wire)
        assert r.id == asked[i].id and is_told(r), r
        assert wire[12:12 + len(name) + 1] == wires[i][12:12 + len(name) + 1]  # as it was spelt
        assert (r.edns >= 0) == (asked[i].edns >= 0)
    return len(told)


ADDRESSES = {"own": lambda i: "127.1.%d.%d" % (i // 250, i % 250 + 1), "one": lambda i: "127.1.0.1"}


@pytest.mark.parametrize("address", sorted(ADDRESSES))
@pytest.mark.parametrize("ask", [plain, padded, spelt], ids=lambda f: f.__name__)
def test_a_crowd_for_one_cold_name_is_answered(daemon, ask, address):
    with daemon() as d:
        told = crowd(d, ask, MANY, ADDRESSES[address])
        assert told == MANY, d.stats()


def test_a_crowd_over_connections_joins_in(daemon):
    """With padding that fills messages, on each of some connections as much as is taken."""
    with daemon("num-threads: 1") as d, contextlib.ExitStack() as stack:
        name = cold()
        conns = [stack.enter_context(d.tcp(source="127.2.0.%d" % i)) for i in range(1, 9)]
        for s in conns:
            s.settimeout(20)
            s.sendall(filling(name) * 20)
        assert is_told(d.ask(name, timeout=8))
        for s in conns:
            for _ in range(20):
                assert is_told(read_message(s))


def filling(name):
    """A question that is as large as one can be, nearly."""
    q = query(name, options=[dns.edns.GenericOption(12, bytes(60000))], payload=65535)
    wire = q.to_wire(max_size=65535)
    return struct.pack("!H", len(wire)) + wire


def resident_kb(d):
    with open("/proc/%d/status" % d.process.pid, encoding="ascii") as f:
        return int(next(line for line in f if line.startswith("VmRSS")).split()[1])


@pytest.mark.parametrize("end", ["reset", "half", "closed"])
def test_who_has_gone_waits_no_more(daemon, end):
    """Connections that ask for a silent name and go: nothing of them is kept, and the next ones find a place."""
    with daemon("num-threads: 1") as d:
        name = cold("unheard")
        q = filling(name)
        d.ask("target.chain.mini.")
        before = resident_kb(d)
        for i in range(100):
            with d.tcp(source="127.2.%d.1" % i) as s:
                s.settimeout(10)
                s.sendall(q * 20)
                if end == "half":
                    s.shutdown(socket.SHUT_WR)
                if end != "closed":
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        assert d.is_sanitized() or resident_kb(d) - before < 8192  # freed memory is kept apart by a sanitizer
        assert texts(d.ask("target.chain.mini.", tcp=True, timeout=3)) == ["198.18.0.40"]


# -- places for connections ---------------------------------------------------------------------------

class Served:
    """One thread, incoming-num-tcp as it is, TCP, TLS, HTTPS, and the same behind a proxy."""

    def __init__(self, daemon, ca, *lines, tls="tls"):
        self.ca = ca
        names, ports = ["tcp", tls, "https", "proxied"], set()
        while len(ports) < len(names):
            ports.add(free_port())
        self.port = dict(zip(names, ports))
        own = ["interface: 127.0.0.1@%d" % p for k, p in self.port.items() if k != "tcp"]
        own += ["tls-port: %d" % self.port[tls], "https-port: %d" % self.port["https"], "num-threads: 1"]
        own += ["proxy-protocol-port: %d" % p for k, p in self.port.items() if k.startswith("proxied")]
        own += [
                "access-control: 198.51.100.0/24 allow",
                'tls-service-key: "%s"' % ca.path("good.key"), 'tls-service-pem: "%s"' % ca.path("good.pem")]
        self.daemon = daemon(*own, *LOCAL, *lines, port=self.port["tcp"])

    def __enter__(self):
        self.daemon.__enter__()
        return self

    def __exit__(self, *what):
        self.daemon.__exit__(*what)

    def context(self, *alpn):
        context = ssl.create_default_context(cafile=self.ca.path("ca.pem"))
        context.set_alpn_protocols(list(alpn))
        return context

    def connect(self, kind, source, who):
        s = socket.socket()
        s.bind((source, 0))
        s.settimeout(10)
        s.connect((ADDRESS, self.port[kind]))
        if kind.startswith("proxied"):
            s.sendall(header("198.51.100.%d" % who))
        return s

    def ask(self, kind, source="127.9.9.9"):
        """A new client's question; how long it took."""
        began = time.monotonic()
        if kind == "https":
            with Client(self.port["https"], self.context("h2"), source=source) as c:
                assert texts(c.ask(query("a.here.test."))) == ["192.0.2.1"]
            return time.monotonic() - began
        with contextlib.ExitStack() as stack:
            s = stack.enter_context(self.connect(kind, source, 99))
            if kind.endswith("tls"):
                s = stack.enter_context(self.context("dot").wrap_socket(s, server_hostname="dns.test"))
            s.sendall(frame(query("a.here.test.")))
            assert texts(read_message(s)) == ["192.0.2.1"]
        return time.monotonic() - began


KINDS = ["tcp", "tls", "https", "proxied", "proxied-tls"]
HELLO = b"\x16\3\1\2\0\1\0\1\xfc\3\3" + b"r" * 40
MESSAGE = frame(query("a.here.test."))


def silent(_, s):
    pass


def half(kind, s):
    """Half a question, or half a TLS handshake."""
    s.sendall(HELLO if kind in ("tls", "https", "proxied-tls") else MESSAGE[:9])


def asked_once(kind, s):
    if kind in ("tcp", "proxied"):
        s.sendall(MESSAGE)


def unread(kind, s):
    """Questions whose answers are large, and none is read."""
    if kind in ("tcp", "proxied"):
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        with contextlib.suppress(OSError):
            s.sendall(frame(query("big.here.test.", "TXT")) * 50)


# A SYN that finds a busy machine's backlog full is sent again after one second; who waits for others to leave waits longer.
AT_ONCE_S = 2
HABITS = [silent, half, asked_once, unread]
BIG = ['local-data: "big.here.test. 300 IN TXT %s"' % " ".join("x" * 250 for _ in range(30))]


@pytest.mark.parametrize("addresses", [1, 5, 300])
@pytest.mark.parametrize("habit", HABITS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("kind", KINDS)
def test_a_new_client_gets_in_at_once(daemon, ca, kind, habit, addresses):
    """300 connections that do nothing useful, from so many addresses: a new client need not wait until they leave."""
    if habit in (asked_once, unread) and kind not in ("tcp", "proxied"):
        pytest.skip("as over TCP")
    with Served(daemon, ca, *BIG, tls="proxied-tls" if kind == "proxied-tls" else "tls") as s, \
            contextlib.ExitStack() as stack:
        for i in range(300):
            who = i % addresses
            one = stack.enter_context(s.connect(kind, "127.3.%d.%d" % (who // 200, who % 200 + 1), who % 90 + 1))
            with contextlib.suppress(OSError):
                habit(kind, one)
        assert s.ask(kind) < AT_ONCE_S
        assert s.ask("tcp") < AT_ONCE_S


def test_a_new_client_of_the_same_address_gets_in(daemon, ca):
    with Served(daemon, ca) as s, contextlib.ExitStack() as stack:
        for _ in range(300):
            stack.enter_context(s.connect("tcp", "127.3.0.1", 1))
        assert s.ask("tcp", source="127.3.0.1") < AT_ONCE_S


def test_who_asks_keeps_its_connection(daemon, ca):
    """Though others come by the hundred, one that has a question in progress is answered; so is one that asks
    every now and then, as long as somebody has more connections."""
    with Served(daemon, ca) as s, contextlib.ExitStack() as stack:
        asks = stack.enter_context(s.connect("tcp", "127.4.0.1", 1))
        slow = stack.enter_context(s.connect("tcp", "127.4.0.2", 1))
        slow.sendall(frame(query(cold())))
        for i in range(300):
            stack.enter_context(s.connect("tcp", "127.3.0.%d" % (i % 5 + 1), 1))
            if i % 30 == 0:
                asks.sendall(MESSAGE)
                assert texts(read_message(asks)) == ["192.0.2.1"]
                time.sleep(0.1)
        assert is_told(read_message(slow))
        time.sleep(0.4)
        asks.sendall(MESSAGE)
        assert texts(read_message(asks)) == ["192.0.2.1"]


def test_who_holds_all_places_with_questions_in_progress_loses_one(daemon, ca):
    with Served(daemon, ca) as s, contextlib.ExitStack() as stack:
        for i in range(10):
            one = stack.enter_context(s.connect("tcp", "127.3.0.1", 1))
            one.sendall(frame(query(cold("held-%d" % i))))
        time.sleep(0.2)
        assert s.ask("tcp") < AT_ONCE_S


def test_twelve_that_ask_in_turn_lose_nothing(daemon, ca):
    """At the default of incoming-num-tcp, on two threads: no question is lost though the table is fuller than half."""
    with daemon("num-threads: 2", *LOCAL) as d, contextlib.ExitStack() as stack:
        conns = [stack.enter_context(d.tcp()) for _ in range(8)]
        for turn in range(4):
            for s in conns:
                s.settimeout(5)
                s.sendall(MESSAGE)
                assert texts(read_message(s)) == ["192.0.2.1"], turn
            time.sleep(0.6)
