"""Each option about upstreams over TCP and TLS does what it says.

SPDX-License-Identifier: BSD-3-Clause
"""

import concurrent.futures
import re
import socket
import time

import pytest

from faulty import Faulty, load
from lab import ADDRESS, FakeServer, fixed, rcode, texts, until
from test_upstreams import all_good, names

GOOD = ["198.18.7.7"]


@pytest.fixture
def using(daemon, ca):
    """A daemon that forwards everything to it, with these lines in the server clause."""
    def make(u, *lines, zone=("forward-tls-upstream: yes",), clause="forward", name=".", bundle=True):
        at = getattr(u, "at", u)
        more = [clause + "-zone:", "name: " + name, "%s-addr: %s" % (clause, at), *zone]
        trust = ['tls-cert-bundle: "%s"' % ca.path("ca.pem")] if bundle else []
        return daemon(*trust, *lines, hints=False, more="\n    ".join(more) + "\n")
    return make


@pytest.mark.parametrize("clause, line", [
    ("forward", "forward-tls-upstream"), ("forward", "forward-ssl-upstream"), ("stub", "stub-tls-upstream"),
    ("stub", "stub-ssl-upstream")])
def test_zones_go_over_tls(using, ca, clause, line):
    with Faulty(ca) as u, using(u, zone=[line + ": yes"], clause=clause, name="lab") as d:
        assert texts(d.ask("a.lab.")) == GOOD
        assert u.asked


@pytest.mark.parametrize("line", ["tls-upstream", "ssl-upstream"])
def test_everything_goes_over_tls(using, ca, line):
    with Faulty(ca) as u, using(u, line + ": yes", zone=()) as d:
        assert texts(d.ask("a.lab.")) == GOOD


@pytest.mark.parametrize("line", ["tls-cert-bundle", "ssl-cert-bundle"])
def test_a_bundle_says_who_is_believed(using, ca, line):
    for bundle, want in (("ca.pem", "NOERROR"), ("other.pem", "SERVFAIL")):
        with Faulty(ca) as u, using(u, '%s: "%s"' % (line, ca.path(bundle)), bundle=False) as d:
            assert rcode(d.ask("a.lab.", timeout=30)) == want


@pytest.mark.parametrize("line", ["tls-system-cert: yes", "tls-win-cert: yes", None])
def test_the_system_says_who_is_believed(using, ca, monkeypatch, line):
    """Beside a bundle where that is said, and where there is no bundle."""
    monkeypatch.setenv("SSL_CERT_FILE", ca.path("ca.pem"))
    lines = [line, 'tls-cert-bundle: "%s"' % ca.path("other.pem")] if line else []
    with Faulty(ca) as u, using(u, *lines, bundle=False) as d:
        assert texts(d.ask("a.lab.")) == GOOD


@pytest.mark.parametrize("line, name", [("tls-use-sni: yes", "dns.test"), ("tls-use-sni: no", None)])
def test_the_name_is_told_or_not(using, ca, line, name):
    with Faulty(ca) as u, using(u, line) as d:
        assert texts(d.ask("a.lab.")) == GOOD
        assert u.names[0] == name


@pytest.mark.parametrize("lines, version, cipher", [
    (["tls-protocols: TLSv1.2"], "TLSv1.2", "ECDHE"),
    (["tls-protocols: TLSv1.3"], "TLSv1.3", "TLS_"),
    (["tls-protocols: TLSv1.2", 'tls-ciphers: "ECDHE-ECDSA-CHACHA20-POLY1305"'], "TLSv1.2",
     "ECDHE-ECDSA-CHACHA20-POLY1305"),
    (['tls-ciphersuites: "TLS_CHACHA20_POLY1305_SHA256"'], "TLSv1.3", "TLS_CHACHA20_POLY1305_SHA256")])
def test_manners_of_tls(using, ca, lines, version, cipher):
    with Faulty(ca) as u, using(u, *lines) as d:
        assert texts(d.ask("a.lab.")) == GOOD
        assert u.versions[0] == version and u.ciphers[0].startswith(cipher)


@pytest.mark.parametrize("lines, zone", [(["tcp-upstream: yes"], []), ([], ["forward-tcp-upstream: yes"])])
def test_tcp_from_the_beginning(using, lines, zone):
    with FakeServer(fixed("198.18.7.7")) as s, using(s, *lines, zone=zone) as d:
        assert texts(d.ask("a.lab.")) == GOOD
        assert all(tcp for _, _, tcp in s.asked)


def test_an_idle_connection_is_closed(using, ca):
    with Faulty(ca) as u, using(u, "tcp-reuse-timeout: 200", "num-threads: 1") as d:
        assert texts(d.ask("a.lab.")) == GOOD
        until(lambda: u.open == 0)
        assert texts(d.ask("b.lab.")) == GOOD
        assert u.accepted == 2


def test_a_server_says_how_long_a_connection_may_rest(using, ca):
    """RFC 7828: it is asked, and what it answers counts."""
    with Faulty(ca, rest=3) as u, using(u, "num-threads: 1") as d:
        assert texts(d.ask("a.lab.")) == GOOD
        assert b"\0\x0b\0\0" in u.wires[0]
        until(lambda: u.open == 0)
    with Faulty(ca, rest=0) as u, using(u, "num-threads: 1") as d:
        for name in ("a.lab.", "b.lab.", "c.lab."):
            assert texts(d.ask(name)) == GOOD
        assert u.accepted == 3


def test_a_connection_carries_no_more_than_it_may(using, ca):
    with Faulty(ca) as u, using(u, "max-reuse-tcp-queries: 5", "num-threads: 1") as d:
        all_good(load(d.port, names(50), 4), 50)
        assert 10 <= u.accepted <= 14


def test_connections_are_no_more_than_they_may_be(using, ca):
    with Faulty(ca, "delay") as u, using(u, "outgoing-num-tcp: 2", "num-threads: 1") as d:
        all_good(load(d.port, names(300), 150), 300)
        assert u.open_most <= 2
    with Faulty(ca) as u, using(u, "outgoing-num-tcp: 0") as d:
        assert rcode(d.ask("a.lab.", timeout=30)) == "SERVFAIL"
        assert not u.accepted


def test_a_silent_server_is_waited_for_no_longer_than_said(using, ca):
    with Faulty(ca, "mute") as u, using(u, "tcp-auth-query-timeout: 100", "discard-timeout: 0") as d:
        began = time.monotonic()
        assert rcode(d.ask("a.lab.", timeout=30)) == "SERVFAIL"
        assert time.monotonic() - began < 5 and len(u.asked) >= 2


@pytest.mark.parametrize("lines, least, most", [([], 2, 8), (["outgoing-num-tcp: 1"], 1, 1)])
def test_a_server_that_answers_one_after_another_is_not_silent(using, lines, least, most):
    """All its answers together take longer than any one may."""
    good = fixed("198.18.7.7")

    def slow(q, tcp):
        time.sleep(0.5)
        return good(q, tcp)
    with FakeServer(slow) as s, using(s, "tcp-auth-query-timeout: 1500", "num-threads: 1", "incoming-num-tcp: 50", *lines,
                                      zone=["forward-tcp-upstream: yes"]) as d:
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            got = list(pool.map(lambda n: d.ask("w%d.lab." % n, tcp=True, timeout=30), range(8)))
        assert [texts(r) for r in got] == [GOOD] * 8
        assert least <= s.accepted <= most


@pytest.mark.parametrize("line, block", [("pad-queries: yes", 128), ("pad-queries-block-size: 200", 200),
                                         ("pad-queries: no", 1)])
@pytest.mark.parametrize("https", [False, True], ids=["tls", "https"])
def test_questions_are_padded(using, ca, line, block, https):
    zone = ["forward-%s-upstream: yes" % ("https" if https else "tls")]
    with Faulty(ca, https=https) as u, using(u, line, zone=zone) as d:
        assert texts(d.ask("a.lab.")) == GOOD
        assert len(u.wires[0]) % block == 0 and (block > 1 or len(u.wires[0]) < 60)


@pytest.mark.parametrize("https", [False, True], ids=["tls", "https"])
def test_a_forwarder_may_be_a_host(daemon, ca, https):
    kind = "https" if https else "tls"
    with Faulty(ca, https=https) as u, FakeServer(fixed(ADDRESS)) as s, daemon(
            'tls-cert-bundle: "%s"' % ca.path("ca.pem"), hints=False,
            more="forward-zone:\n  name: .\n  forward-%s-upstream: yes\n  forward-host: up.names@%d#dns.test\n"
            "forward-zone:\n  name: names\n  forward-addr: %s\n" % (kind, u.port, s.at)) as d:
        assert texts(d.ask("a.lab.")) == GOOD


def fast_opens():
    with open("/proc/self/net/netstat", encoding="ascii") as f:
        lines = [line.split() for line in f if line.startswith("TcpExt:")]
    return int(dict(zip(*lines))["TCPFastOpenActive"])


@pytest.mark.parametrize("line, grows", [("tcp-fast-open: yes", True), ("tcp-fast-open: no", False)])
def test_tcp_may_open_fast(using, ca, line, grows):
    try:
        with open("/proc/sys/net/ipv4/tcp_fastopen", "w", encoding="ascii") as f:
            f.write("3")
    except OSError:
        pytest.skip("the system does not let us")
    with Faulty(ca) as u:
        u.listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_FASTOPEN, 16)
        before = fast_opens()
        with using(u, line, "max-reuse-tcp-queries: 1", "num-threads: 1") as d:
            for i in range(4):
                assert texts(d.ask("n%d.lab." % i)) == GOOD
        assert (fast_opens() > before) == grows


def test_the_state_of_upstreams_is_shown(using, ca):
    with Faulty(ca) as u, using(u) as d:
        assert d.control("list_upstreams") == ""
        assert texts(d.ask("a.lab.")) == GOOD
        assert re.fullmatch(r"127\.0\.0\.1@\d+#dns\.test tls connected rtt=\d+us connections=1 queries=1 answers=1 "
                            r"handshakes=1 resumed=0 failures=0 losses=0\n", d.control("list_upstreams"))
