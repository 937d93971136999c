"""PROXYv2: the client that a proxy names is the one that counts, over UDP, TCP, TLS and HTTPS.

SPDX-License-Identifier: BSD-3-Clause
"""

import socket
import ssl
import struct
import time

import dns.message
import pytest

from h2client import Client
from lab import ADDRESS, frame, free_port, is_closed, query, rcode, read_message, texts

SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"


def header(client, port=4711, command=0x21, more=b"", dgram=False):
    v6 = ":" in client
    ends = [socket.inet_pton(socket.AF_INET6 if v6 else socket.AF_INET, a)
            for a in (client, "2001:db8::53" if v6 else "203.0.113.53")]
    body = b"".join(ends) + struct.pack("!HH", port, 53) + more
    return SIGNATURE + struct.pack("!BBH", command, (2 if v6 else 1) << 4 | (2 if dgram else 1), len(body)) + body


LOCAL = SIGNATURE + b"\x20\0\0\0"


class Behind:
    """A daemon with a port of each kind, all behind a proxy. 198.51.100.0/24 and 2001:db8::/32 are its clients;
    whoever speaks for himself is refused."""

    def __init__(self, daemon, ca, *lines):
        self.ca = ca
        self.dns, self.tls, self.https = free_port(), free_port(), free_port()
        self.daemon = daemon(*("proxy-protocol-port: %d" % p for p in (self.dns, self.tls, self.https)),
                             *("interface: 127.0.0.1@%d" % p for p in (self.dns, self.tls, self.https)),
                             "tls-port: %d" % self.tls, "https-port: %d" % self.https,
                             'tls-service-key: "%s"' % ca.path("good.key"),
                             'tls-service-pem: "%s"' % ca.path("good.pem"),
                             "access-control: 198.51.100.0/24 allow", "access-control: 2001:db8::/32 allow",
                             "access-control: 203.0.113.0/24 refuse", "log-queries: yes", "incoming-num-tcp: 50",
                             'local-zone: "here.test." static', 'local-data: "a.here.test. 300 IN A 192.0.2.1"',
                             *lines)

    def __enter__(self):
        self.daemon.__enter__()
        return self

    def __exit__(self, *what):
        self.daemon.__exit__(*what)

    def context(self, alpn):
        context = ssl.create_default_context(cafile=self.ca.path("ca.pem"))
        context.set_alpn_protocols([alpn])
        return context

    def stream(self, port, head, alpn=None):
        s = socket.create_connection((ADDRESS, port), 5)
        s.sendall(head)
        return self.context(alpn).wrap_socket(s, server_hostname="dns.test") if alpn else s

    def ask(self, how, head, name="a.here.test."):
        q = query(name)
        if how == "udp":
            with socket.socket(type=socket.SOCK_DGRAM) as s:
                s.settimeout(5)
                s.connect((ADDRESS, self.dns))
                s.send(head + q.to_wire())
                r = dns.message.from_wire(s.recv(65535))
        elif how == "https":
            with Client(self.https, self.context("h2"), head=head) as c:
                r = c.ask(q)
        else:
            with self.stream(self.tls if how == "tls" else self.dns, head, "dot" if how == "tls" else None) as s:
                s.sendall(frame(q))
                r = read_message(s)
        assert r.id == q.id
        return r


@pytest.fixture(scope="module")
def behind(daemon, ca):
    with Behind(daemon, ca) as b:
        yield b


WAYS = ["udp", "tcp", "tls", "https"]


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("client", ["198.51.100.7", "2001:db8::7"])
@pytest.mark.parametrize("name", ["a.here.test.", "target.chain.mini.", "unasked-%d.w.rsa.mini."])
def test_a_question_for_somebody_is_answered_and_logged_so(behind, how, client, name):
    if "%" in name:
        name %= time.time_ns()
    assert rcode(behind.ask(how, header(client, dgram=how == "udp"), name)) == "NOERROR"
    assert "%s %s A IN" % (client, name) in behind.daemon.log()


@pytest.mark.parametrize("how", WAYS)
def test_access_is_that_of_the_client(behind, how):
    assert rcode(behind.ask(how, header("203.0.113.7"))) == "REFUSED"


@pytest.mark.parametrize("how", WAYS)
def test_the_proxy_may_ask_for_itself(behind, how):
    assert texts(behind.ask(how, LOCAL)) == ["192.0.2.1"]
    assert texts(behind.ask(how, header("203.0.113.7", command=0x20))) == ["192.0.2.1"]


@pytest.mark.parametrize("how", WAYS)
def test_what_else_is_in_the_header_is_passed_over(behind, how):
    assert texts(behind.ask(how, header("198.51.100.7", more=b"\x04\0\x20" + b"x" * 32))) == ["192.0.2.1"]


def test_the_header_may_come_in_pieces(behind):
    with socket.create_connection((ADDRESS, behind.dns), 5) as s:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        data = header("198.51.100.7") + frame(query("a.here.test."))
        for i in range(0, len(data), 5):
            s.sendall(data[i:i + 5])
            time.sleep(0.005)
        assert texts(read_message(s)) == ["192.0.2.1"]


@pytest.mark.parametrize("head", [frame(query("a.here.test.")), SIGNATURE + b"\x31\x11\0\0", SIGNATURE + b"\x22\x11\0\0",
                                  SIGNATURE + b"\x21\x11\xff\xff" + b"x" * 600, SIGNATURE + b"\x21\x11\0\4abcd",
                                  SIGNATURE[:11] + b"x" + b"y" * 40, b"PROXY TCP4 198.51.100.7 203.0.113.53 4711 53\r\n"],
                         ids=["none", "version 3", "command 2", "too long", "too short", "signature", "version 1"])
def test_who_shows_no_header_is_not_served(behind, head):
    for port in (behind.dns, behind.tls, behind.https):
        with socket.create_connection((ADDRESS, port), 5) as s:
            s.sendall(head)
            assert is_closed(s, 5)
    with socket.socket(type=socket.SOCK_DGRAM) as s:
        s.settimeout(0.3)
        s.connect((ADDRESS, behind.dns))
        s.send(head + query("a.here.test.").to_wire())
        with pytest.raises(socket.timeout):
            s.recv(65535)
    assert texts(behind.ask("tcp", LOCAL)) == ["192.0.2.1"]


def test_other_ports_know_no_such_header(behind):
    r = behind.daemon.send(header("198.51.100.7", dgram=True) + query("a.here.test.").to_wire(), timeout=0.5)
    assert r is None or rcode(dns.message.from_wire(r, ignore_trailing=True, continue_on_error=True)) != "NOERROR"


@pytest.mark.parametrize("served", [True, False])
def test_whose_headers_are_believed_can_be_said(daemon, ca, served):
    with Behind(daemon, ca, "proxy-protocol-from: %s" % ("127.0.0.0/8" if served else "192.0.2.0/24")) as b:
        if served:
            assert texts(b.ask("tcp", header("198.51.100.7"))) == ["192.0.2.1"]
            assert texts(b.ask("udp", header("198.51.100.7"))) == ["192.0.2.1"]
            return
        with pytest.raises(OSError):
            b.ask("udp", header("198.51.100.7"))
        with socket.create_connection((ADDRESS, b.dns), 5) as s:
            assert is_closed(s, 5)


def test_limits_are_the_clients(daemon, ca):
    with Behind(daemon, ca, "tcp-connections-per-client: 1", "tcp-idle-timeout: 1000") as b:
        with b.stream(b.dns, header("198.51.100.7")) as one, b.stream(b.dns, header("198.51.100.8")) as other:
            for s in (one, other):
                s.sendall(frame(query("a.here.test.")))
                assert texts(read_message(s)) == ["192.0.2.1"]
            with b.stream(b.dns, header("198.51.100.7")) as second:
                assert is_closed(second, 0.9)


def test_who_never_shows_a_header_is_cut(daemon, ca):
    with Behind(daemon, ca, "tcp-idle-timeout: 400") as b:
        for data in (b"", SIGNATURE[:5]):
            with socket.create_connection((ADDRESS, b.https), 5) as s:
                s.sendall(data)
                assert is_closed(s, 5)
