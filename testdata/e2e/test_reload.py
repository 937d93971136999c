"""What a reload changes while questions are answered: where it serves, and what it says of that.

SPDX-License-Identifier: BSD-3-Clause
"""

import contextlib
import socket
import threading
import time

import dns.exception
import dns.message
import dns.query
import pytest

from lab import free_port, query, texts, until

DATA = 'local-data: "still.example. A 192.0.2.1"'
SECOND = "127.0.0.2"


def answers(address, port, tcp=False, timeout=5.0):
    """Whether somebody serves there."""
    how = dns.query.tcp if tcp else dns.query.udp
    with contextlib.suppress(dns.exception.Timeout, OSError, EOFError):
        return texts(how(query("still.example.", "A", "IN"), address, timeout, port)) == ["192.0.2.1"]
    return False


def test_interfaces_come_and_go(daemon):
    with daemon(DATA, "num-threads: 2", hints=False) as d:
        port = d.port
        more = free_port(SECOND)
        assert not answers(SECOND, port, timeout=0.3)
        lost, over, asked = [], threading.Event(), []

        def ask_on():
            while not over.is_set():
                asked.append(1)
                if not answers("127.0.0.1", port):
                    lost.append(time.monotonic())

        asking = threading.Thread(target=ask_on)
        asking.start()
        for _ in range(3):
            d.configure([DATA, "num-threads: 2", "interface: %s" % SECOND, "interface: %s@%d" % (SECOND, more)])
            assert d.control("reload") == "ok\n"
            for tcp in (False, True):
                assert answers(SECOND, port, tcp) and answers(SECOND, more, tcp)
            d.configure([DATA, "num-threads: 2"])
            assert d.control("reload") == "ok\n"
            for where in ((SECOND, port), (SECOND, more)):
                until(lambda at=where: not (answers(*at, timeout=0.3) or answers(*at, True, timeout=0.3)))
        over.set()
        asking.join()
        assert asked and not lost


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("reuseport", ["yes", "no"])
def test_an_address_comes_back_while_a_client_waits_there(daemon, threads, reuseport):
    """Its socket cannot be closed yet, so it has to be used again."""
    with socket.socket(type=socket.SOCK_DGRAM) as server, socket.socket(type=socket.SOCK_DGRAM) as client:
        server.bind(("127.0.0.1", 0))
        server.settimeout(5)
        client.settimeout(5)
        rest = [DATA, "num-threads: %d" % threads, "so-reuseport: %s" % reuseport, "do-not-query-localhost: no"]
        slow = 'forward-zone:\n    name: "slow.example"\n    forward-addr: 127.0.0.1@%d\n' % server.getsockname()[1]
        with daemon(*rest, "interface: %s" % SECOND, more=slow, hints=False) as d:
            client.connect((SECOND, d.port))
            client.send(query("slow.example.").to_wire())
            asked, asker = server.recvfrom(4096)
            for _ in range(2):
                d.configure(rest, more=slow)
                assert d.control("reload") == "ok\n"
                d.configure([*rest, "interface: %s" % SECOND], more=slow)
                assert d.control("reload") == "ok\n"
                for _ in range(8):
                    assert answers(SECOND, d.port) and answers(SECOND, d.port, True)
            server.sendto(dns.message.make_response(dns.message.from_wire(asked)).to_wire(), asker)
            assert dns.message.from_wire(client.recv(4096)).question[0].name.to_text() == "slow.example."


def test_the_port_changes(daemon):
    with daemon(DATA, hints=False) as d:
        old, new = d.port, free_port()
        d.fixed = [line.replace("port: %d" % old, "port: %d" % new) for line in d.fixed]
        d.configure([DATA])
        assert d.control("reload") == "ok\n"
        assert answers("127.0.0.1", new) and answers("127.0.0.1", new, True)
        until(lambda: not answers("127.0.0.1", old, timeout=0.3))
        d.port = new


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("first, second", [("0.0.0.0", SECOND), (SECOND, "0.0.0.0")])
def test_an_address_beside_the_wildcard(made, first, second, threads):
    """Files that say both are served; that another program has the port is still seen."""
    d = made(DATA, "num-threads: %d" % threads, "interface: %s" % second, hints=False)
    d.fixed = [line.replace("interface: 127.0.0.1", "interface: %s" % first) for line in d.fixed]
    d.configure([DATA, "num-threads: %d" % threads, "interface: %s" % second])
    with d:
        for address in (SECOND, "127.0.0.1"):
            assert answers(address, d.port) and answers(address, d.port, True)
        other = made(hints=False, port=d.port)
        other.fixed = d.fixed
        other.configure([DATA])
        other.start(wait=False)
        assert other.process.wait(20) == 1 and "another program serves there" in other.log()


@pytest.mark.parametrize("threads", [1, 2])
def test_an_address_serves_another_purpose(daemon, threads):
    """Its sockets stay; what is expected there changes: a proxy's header, TLS."""
    more = free_port(SECOND)
    usual = [DATA, "num-threads: %d" % threads, "interface: %s@%d" % (SECOND, more)]
    with daemon(*usual, hints=False) as d:
        def serves(*lines, plain):
            d.configure(usual + list(lines))
            assert d.control("reload") == "ok\n"
            for tcp in (False, True):
                until(lambda: answers(SECOND, more, tcp, timeout=0.3) == plain)
            assert answers("127.0.0.1", d.port)

        assert answers(SECOND, more) and answers(SECOND, more, True)
        serves("proxy-protocol-port: %d" % more, plain=False)
        serves(plain=True)
        serves("https-port: %d" % more, "http-notls-downstream: yes", plain=False)
        serves(plain=True)


def test_a_port_of_others_is_refused(daemon):
    with daemon(DATA, hints=False) as d, socket.socket(type=socket.SOCK_DGRAM) as s:
        s.bind((SECOND, 0))
        taken = s.getsockname()[1]
        d.configure([DATA, "interface: %s@%d" % (SECOND, taken), 'local-data: "new.example. A 192.0.2.2"'])
        said = d.control("reload", code=1)
        assert "old configuration stays in use" in said and "%s@%d" % (SECOND, taken) in said
        assert answers("127.0.0.1", d.port) and texts(d.ask("still.example.")) == ["192.0.2.1"]
        assert "new.example" not in d.control("list_local_data")


def test_it_says_what_has_changed(daemon):
    zone = 'local-zone: "one.example." static'
    with daemon(DATA, zone, hints=False) as d:
        assert d.control("reload", "+v") == "ok\n"
        d.configure([DATA, zone, "interface: %s" % SECOND, "cache-max-ttl: 100",
                     'local-data: "new.example. A 192.0.2.2"', "num-threads: 3"])
        said = d.control("reload", "+v")
        for option in ("interface", "cache-max-ttl", "local-data", "num-threads"):
            assert option in said, (option, said)
        assert "local-zone" not in said and "minimal-responses" not in said and said.endswith("ok\n")
        assert "num-threads" in d.log().split("next start")[-1]


def test_many_zones_are_compared_too(daemon):
    """Lines by the thousand are kept as something else; whether they are others is still told."""
    def zones(last):
        return ['local-zone: "z%d.example." always_nxdomain' % i for i in range(1999)] + [
            'local-zone: "%s.example." always_nxdomain' % last]

    with daemon(*zones("one"), hints=False) as d:
        assert d.control("reload", "+v") == "ok\n"
        d.configure(zones("two"))
        assert d.control("reload", "+v") == "changed local-zone\nok\n"
        assert d.control("reload", "+v") == "ok\n"
