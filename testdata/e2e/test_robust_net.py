"""Addresses that come and go, networks that swallow everything: it serves what it can, and recovers by itself.

SPDX-License-Identifier: BSD-3-Clause
"""

import contextlib
import resource
import select
import shutil
import socket
import subprocess
import time

import dns.exception
import dns.query
import pytest

from lab import FakeServer, fixed, frame, query, rcode, texts, until

COMING = "10.77.0.1"
DATA = 'local-data: "still.example. A 192.0.2.1"'


def ip(*words):
    return subprocess.run(["ip", *words], capture_output=True, check=False,
                          env={"PATH": "/usr/sbin:/sbin:/usr/bin:/bin"}).returncode == 0


@pytest.fixture
def address():
    """add() and remove() an address; a network of our own is needed for that."""
    path = shutil.which("ip", path="/usr/sbin:/sbin:/usr/bin:/bin")
    if not path or not ip("addr", "add", COMING + "/32", "dev", "lo"):
        pytest.skip("no address can be added here")
    ip("addr", "del", COMING + "/32", "dev", "lo")

    class Address:
        @staticmethod
        def add():
            assert ip("addr", "add", COMING + "/32", "dev", "lo")

        @staticmethod
        def remove():
            ip("addr", "del", COMING + "/32", "dev", "lo")
    yield Address
    Address.remove()


def serves(address, port, tcp=False):
    how = dns.query.tcp if tcp else dns.query.udp
    with contextlib.suppress(dns.exception.Timeout, OSError, EOFError):
        return texts(how(query("still.example."), address, 2, port)) == ["192.0.2.1"]
    return False


def both(address, port):
    return serves(address, port) and serves(address, port, True)


ALLOW = "access-control: 10.77.0.0/16 allow"


@pytest.mark.parametrize("lines, at_once", [
    (["interface: 0.0.0.0"], True),
    (["interface: 0.0.0.0", "interface-automatic: yes"], True),
    (["interface: " + COMING, "ip-freebind: yes"], True),
    (["interface: " + COMING, "ip-transparent: yes"], True),
], ids=["wildcard", "automatic", "freebind", "transparent"])
def test_an_address_that_comes_is_served_and_one_that_goes_takes_nothing_along(daemon, address, lines, at_once):
    d = daemon(DATA, ALLOW, *lines, hints=False)
    if "0.0.0.0" in lines[0]:
        d.fixed = [line for line in d.fixed if line != "interface: 127.0.0.1"]
        d.configure([DATA, ALLOW, *lines])
    with d:
        for _ in range(3):
            assert serves("127.0.0.1", d.port)
            assert not serves(COMING, d.port)
            address.add()
            assert both(COMING, d.port)
            assert both("127.0.0.1", d.port)
            address.remove()
            assert both("127.0.0.1", d.port)
        calm = d.files()
        assert d.control("reload") == "ok\n"
        assert abs(d.files() - calm) <= 5


def test_a_reload_for_an_address_that_is_not_there_is_refused(daemon, address):
    with daemon(DATA, ALLOW, hints=False) as d:
        d.configure([DATA, ALLOW, "interface: " + COMING])
        assert COMING in d.control("reload", code=None)
        assert serves("127.0.0.1", d.port)
        address.add()
        assert d.control("reload") == "ok\n"
        assert both(COMING, d.port) and both("127.0.0.1", d.port)
        address.remove()
        assert d.control("reload") == "ok\n", "what is open stays open"
        assert both("127.0.0.1", d.port)
        address.add()
        assert both(COMING, d.port)


def test_questions_leave_from_another_address_when_one_is_gone(daemon, address):
    """outgoing-interface names two; while one is away the other is used, and what it cannot say it says."""
    with FakeServer(fixed("192.0.2.5")) as server:
        address.add()
        with daemon("outgoing-interface: " + COMING, "outgoing-interface: 127.0.0.1", hints=False,
                    more="forward-zone:\n    name: .\n    forward-addr: %s\n" % server.at) as d:
            assert texts(d.ask("a1.example.")) == ["192.0.2.5"]
            address.remove()
            good = sum(texts(d.ask("b%d.example." % i)) == ["192.0.2.5"] for i in range(10))
            assert good >= 9
            address.add()
            assert all(texts(d.ask("c%d.example." % i)) == ["192.0.2.5"] for i in range(10))


def test_out_of_a_black_hole_it_comes_back_by_itself(daemon):
    """Everything upstream falls silent: cached answers go on, others fail in time, and later all is well."""
    mute = []

    def flaky(q, tcp):
        return None if mute else fixed("192.0.2.5")(q, tcp)
    with FakeServer(flaky) as one, FakeServer(flaky, "127.0.0.2") as two, \
            daemon("serve-expired: yes", "num-threads: 1", hints=False,
                   more="forward-zone:\n    name: .\n    forward-addr: %s\n    forward-addr: %s\n"
                        % (one.at, two.at)) as d:
        for i in range(20):
            assert texts(d.ask("n%d.example." % i)) == ["192.0.2.5"]
        calm = d.files()
        mute.append(1)
        for i in range(20):
            assert texts(d.ask("n%d.example." % i)) == ["192.0.2.5"]
        for i in range(30):  # many wait at once
            d.send(query("gone%d.example." % i).to_wire(), timeout=0.01)
        began = time.monotonic()
        assert rcode(d.ask("gone.example.", timeout=16)) == "SERVFAIL"
        assert time.monotonic() - began < 14
        mute.clear()
        began = time.monotonic()
        while rcode(d.ask("back.example.", timeout=12)) != "NOERROR":
            assert time.monotonic() - began < 20
        assert texts(d.ask("fresh.example.")) == ["192.0.2.5"]
        until(lambda: abs(d.files() - calm) <= 5)


# -- many clients -----------------------------------------------------------------------------------

def test_ten_thousand_clients_of_tcp(daemon):
    """More than have a place: those without wait, and are served as others leave. UDP notices nothing of it."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    count = min(10000, before[1] - 1000)
    if count < 10000:
        pytest.skip("no %d descriptors to be had" % 10000)
    q = frame(query("still.example.", "A", "IN"))
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))
    try:
        with daemon(DATA, "num-threads: 2", "incoming-num-tcp: 3000", "outgoing-range: 512", "tcp-idle-timeout: 60000",
                    hints=False) as d, contextlib.ExitStack() as stack:
            calm = d.files()
            waiting, poll = {}, select.epoll()
            stack.callback(poll.close)
            for i in range(count):
                s = stack.enter_context(socket.socket())
                s.bind(("127.0.%d.%d" % (1 + i % 200, 1 + i // 200), 0))
                s.settimeout(20)
                s.connect(("127.0.0.1", d.port))
                s.sendall(q)
                waiting[s.fileno()] = s
                poll.register(s, select.EPOLLIN)
            for _ in range(10):
                assert texts(d.ask("still.example.")) == ["192.0.2.1"]
            assert "is running" in d.control("status")
            deadline, refused = time.monotonic() + 60, 0
            while waiting and time.monotonic() < deadline:
                for fd, _ in poll.poll(1):
                    s = waiting.pop(fd)
                    with contextlib.suppress(OSError):
                        refused -= len(s.recv(4096)) > len(q)
                    refused += 1
                    poll.unregister(s)
                    s.close()
            assert not waiting and refused == 0, (len(waiting), refused)
            until(lambda: abs(d.files() - calm) <= 5)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
