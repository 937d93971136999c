"""Clients by the hundred, certificates for what is encrypted, and what is left of them afterwards.

SPDX-License-Identifier: BSD-3-Clause
"""

import atexit
import contextlib
import functools
import shutil
import socket
import ssl
import struct
import time

import dns.exception

from .lab import e2e

HERE = "127.0.0.1"


def head(qid=0x4242, flags=0x0100, qd=1, an=0, ns=0, ar=0):
    return struct.pack("!6H", qid, flags, qd, an, ns, ar)


def question(name, kind=1, rrclass=1):
    return b"".join(bytes([len(p)]) + p.encode() for p in name.rstrip(".").split(".") if p) + struct.pack(
        "!BHH", 0, kind, rrclass)


def opt(options=b"", payload=1232, flags=0, version=0, length=None, owner=b"\0"):
    return owner + struct.pack("!HHBBHH", 41, payload, 0, version, flags,
                               len(options) if length is None else length) + options


def framed(data):
    return struct.pack("!H", len(data)) + data


@functools.lru_cache(1)
def authority():
    """Certificates by `ca.pem`: `good` for dns.test and 127.0.0.1."""
    from certificates import Authority
    a = Authority()
    atexit.register(shutil.rmtree, a.dir, ignore_errors=True)
    a.issue("good", "DNS:dns.test,IP:127.0.0.1")
    return a


class Ports:
    """TLS and HTTPS beside plain DNS; before `lab.start`."""

    def __init__(self, lab, connections=1000):
        self.lab = lab
        self.tls, self.https = e2e.free_port(), e2e.free_port()
        a = authority()
        lab.option("tls-port: %d" % self.tls, "interface: 127.0.0.1@%d" % self.tls,
                   "https-port: %d" % self.https, "interface: 127.0.0.1@%d" % self.https,
                   'tls-service-key: "%s"' % a.path("good.key"), 'tls-service-pem: "%s"' % a.path("good.pem"),
                   "incoming-num-tcp: %d" % connections)

    @staticmethod
    def context(*alpn):
        c = ssl.create_default_context(cafile=authority().path("ca.pem"))
        c.set_alpn_protocols(list(alpn))
        return c

    def dot(self, source=None, timeout=5.0):
        raw = socket.create_connection((HERE, self.tls), timeout, (source, 0) if source else None)
        return self.context("dot").wrap_socket(raw, server_hostname="dns.test")

    def doh(self, **more):
        from h2client import Client
        return Client(self.https, self.context("h2"), **more)


def read_message(s):
    """The next answer over a stream, or None."""
    with contextlib.suppress(OSError, EOFError, dns.exception.DNSException):
        return e2e.read_message(s)
    return None


def all_it_says(s, data):
    """Bytes to a connected socket; what comes back until it is closed or silent."""
    out = b""
    with contextlib.suppress(OSError):
        s.sendall(data)
        while True:
            got = s.recv(65536)
            if not got:
                break
            out += got
    return out


def new_tcp_ms(lab, port=None, name="www.victim.test", context=None, timeout=12):
    """How long a new client over TCP or TLS waits for a cached answer, from connecting on."""
    began = time.monotonic()
    try:
        with contextlib.ExitStack() as stack:
            s = stack.enter_context(socket.create_connection((HERE, port or lab.daemon.port), timeout, ("127.0.0.250", 0)))
            if context:
                s = stack.enter_context(context.wrap_socket(s, server_hostname="dns.test"))
            s.sendall(framed(e2e.query(name).to_wire()))
            if read_message(s) is None:
                return None
    except OSError:
        return None
    return (time.monotonic() - began) * 1000


def udp_ms(lab, name="www.victim.test", count=20):
    """The median of what a cached answer takes."""
    took = []
    for _ in range(count):
        began = time.monotonic()
        if lab.ask(name, timeout=2).rcode != "NOERROR":
            return None
        took.append((time.monotonic() - began) * 1000)
    return sorted(took)[count // 2]


def leaked(lab, seconds=30):
    """Descriptors more than there were when the daemon had started, once it has come to rest."""
    deadline = time.monotonic() + seconds
    while lab.descriptors() - lab.fds_before > 5 and time.monotonic() < deadline:
        time.sleep(0.2)
    return lab.descriptors() - lab.fds_before
