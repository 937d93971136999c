"""DNS over TLS in both directions: who is believed, what is shared, what is resumed, what never leaves.

SPDX-License-Identifier: BSD-3-Clause
"""

import concurrent.futures
import contextlib
import os
import shutil
import socket
import ssl
import struct
import subprocess
import tempfile
import threading
import time

import dns.edns
import dns.message
import pytest

from faulty import Faulty
from lab import ADDRESS, ask, frame, free_port, is_closed, is_root, query, rcode, read_exactly, read_message, texts, unbound, until


def forward(*servers, name=".", zone_lines=()):
    lines = ["name: " + name, "forward-tls-upstream: yes", *("forward-addr: " + s for s in servers), *zone_lines]
    return "forward-zone:\n" + "".join("    %s\n" % line for line in lines)


@pytest.fixture
def dot(daemon, ca):
    """A daemon that forwards everything over TLS to these servers."""
    def make(*servers, lines=("ede: yes",)):
        return daemon('tls-cert-bundle: "%s"' % ca.path("ca.pem"), *lines, more=forward(*servers), hints=False)
    return make


# -- asking others --------------------------------------------------------------------------------


def test_a_question_goes_over_tls(dot, ca):
    with Faulty(ca) as s, dot(s.at) as d:
        assert texts(d.ask("a.lab.")) == ["198.18.7.7"]
        assert texts(d.ask("b.lab.")) == ["198.18.7.7"]
        assert s.accepted == 1 and s.alpn == ["dot"]
        assert all(len(wire) % 128 == 0 for wire in s.wires)


def test_an_address_may_stand_in_for_the_name(dot, ca):
    with Faulty(ca) as s, dot(s.place + "#127.0.0.1") as d:
        assert texts(d.ask("a.lab.")) == ["198.18.7.7"]


@pytest.mark.parametrize("cert, name, why", [("good", "other.test", "hostname mismatch"),
                                             ("stranger", "dns.test", "unable to get local issuer certificate")])
def test_who_is_not_who_was_meant_is_not_asked(dot, ca, cert, name, why):
    with Faulty(ca, cert=cert) as s, dot(s.place + "#" + name) as d:
        r = d.ask("a.lab.", timeout=30)
        assert rcode(r) == "SERVFAIL"
        assert [o.code for o in r.options if isinstance(o, dns.edns.EDEOption)] == [22]
        for i in range(5):
            assert rcode(d.ask("a%d.lab." % i, timeout=30)) == "SERVFAIL"
        assert not s.asked
        assert d.log().count(why) <= 2
        assert why in d.log()
        assert "failing" in d.control("list_upstreams") and why in d.control("list_upstreams")


@pytest.mark.skipif(not is_root(), reason="only root can change its root")
def test_authorities_and_keys_outside_the_chroot_serve_reloads_too(daemon, ca):
    """As pfSense and OpenWrt write them: the bundle of the system, and /var/unbound as chroot."""
    port = free_port()
    with Faulty(ca) as s:
        d = daemon('tls-cert-bundle: "%s"' % ca.path("ca.pem"), "interface: 127.0.0.1@%d" % port, "tls-port: %d" % port,
                   'tls-service-key: "%s"' % ca.path("good.key"), 'tls-service-pem: "%s"' % ca.path("good.pem"),
                   more=forward(s.at), hints=False)
        os.chmod(d.dir, 0o755)
        d.fixed = [line for line in d.fixed if not line.startswith(("chroot:", "directory:"))]
        d.fixed += ['chroot: "%s"' % d.dir, 'directory: "%s"' % d.dir]
        d.configure(['tls-cert-bundle: "%s"' % ca.path("ca.pem"), "interface: 127.0.0.1@%d" % port,
                     "tls-port: %d" % port, 'tls-service-key: "%s"' % ca.path("good.key"),
                     'tls-service-pem: "%s"' % ca.path("good.pem")], forward(s.at))
        with d:
            for name in ("a.lab.", "b.lab.", "c.lab."):
                assert texts(d.ask(name)) == ["198.18.7.7"]
                trusting = ssl.create_default_context(cafile=ca.path("ca.pem"))
                with socket.create_connection(("127.0.0.1", port), 10) as raw, \
                        trusting.wrap_socket(raw, server_hostname="dns.test") as tls:
                    assert tls.version()
                assert d.control("reload") == "ok\n"


def test_without_a_name_whoever_answers_is_believed_and_that_is_said(dot, ca):
    with Faulty(ca, cert="stranger") as s, dot(s.place) as d:
        assert texts(d.ask("a.lab.")) == ["198.18.7.7"]
        assert "whoever answers there is believed" in d.log()


def test_the_other_server_is_asked_when_one_is_not_good(dot, ca):
    with Faulty(ca, cert="stranger") as bad, Faulty(ca) as good, dot(bad.at, good.at) as d:
        for i in range(10):
            assert texts(d.ask("a%d.lab." % i)) == ["198.18.7.7"]
        assert not bad.asked


def test_nothing_is_sent_in_clear_when_there_is_no_tls(dot, ca):
    """The port answers in clear: not one byte of a name is seen there."""
    seen = []
    with socket.socket() as listener:
        listener.bind((ADDRESS, 0))
        listener.listen(16)

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    conn, _ = listener.accept()
                    conn.settimeout(1)
                    with conn, contextlib.suppress(OSError):
                        seen.append(conn.recv(4096))
                        conn.sendall(b"220 hello\r\n")
        threading.Thread(target=serve, daemon=True).start()
        with dot("%s@%d#dns.test" % (ADDRESS, listener.getsockname()[1])) as d:
            assert rcode(d.ask("secret.lab.", timeout=40)) == "SERVFAIL"
        assert seen and not any(b"secret" in data for data in seen)


@pytest.mark.parametrize("act", ["once", "reorder", "sip"])
def test_odd_servers_lose_nothing(dot, ca, act):
    with Faulty(ca, act) as s, dot(s.at) as d:
        count = 8 if act == "sip" else 60
        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            got = list(pool.map(lambda i: texts(d.ask("n%d.lab." % i, timeout=40)), range(count)))
        assert got == [["198.18.7.7"]] * count
        if act != "once":
            assert s.accepted <= 10


@pytest.mark.parametrize("act", ["mute", "deaf", "other-id", "other-name"])
def test_one_that_is_of_no_use_costs_only_time(dot, ca, act):
    with Faulty(ca, act) as bad, Faulty(ca) as good, dot(bad.at, good.at) as d:
        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            got = list(pool.map(lambda i: texts(d.ask("n%d.lab." % i, timeout=60)), range(40)))
        assert got == [["198.18.7.7"]] * 40


def test_resets_under_load_lose_nothing_and_sessions_are_resumed(dot, ca):
    with Faulty(ca, "limit", limit=100) as s, dot(s.at, lines=["num-threads: 1"]) as d:
        assert texts(d.ask("first.lab.")) == ["198.18.7.7"]
        with concurrent.futures.ThreadPoolExecutor(64) as pool:
            got = list(pool.map(lambda i: texts(d.ask("n%d.lab." % i, timeout=60)), range(1000)))
        assert got == [["198.18.7.7"]] * 1000
        assert s.resumed == s.shaken - 1
        line = d.control("list_upstreams").strip()
        told = dict(f.split("=") for f in line.split() if "=" in f)
        assert line.startswith(s.at + " tls ") and int(told["answers"]) == 1001
        assert int(told["resumed"]) == int(told["handshakes"]) - 1


def test_a_bundle_that_changes_is_read_again(daemon, ca):
    bundle = ca.path("bundle.pem")
    shutil.copy(ca.path("other.pem"), bundle)
    with Faulty(ca) as s, daemon('tls-cert-bundle: "%s"' % bundle, more=forward(s.at),
                                    hints=False) as d:
        assert rcode(d.ask("a.lab.", timeout=30)) == "SERVFAIL"
        time.sleep(1)  # a file is known by its second and its size
        shutil.copy(ca.path("ca.pem"), bundle)
        until(lambda: texts(d.ask("b%d.lab." % time.monotonic_ns(), timeout=30)) == ["198.18.7.7"], 40)


# -- being asked ----------------------------------------------------------------------------------


class Serving:
    """A daemon that serves TLS beside plain DNS; its upstream answers everything."""

    def __init__(self, daemon, ca, *lines, cert="good"):
        self.tls_port = free_port()
        self.ca = ca
        self.upstream = Faulty(ca)
        self.daemon = daemon('tls-cert-bundle: "%s"' % ca.path("ca.pem"),
                             'tls-service-key: "%s"' % ca.path(cert + ".key"),
                             'tls-service-pem: "%s"' % ca.path(cert + ".pem"), "tls-port: %d" % self.tls_port,
                             "interface: 127.0.0.1@%d" % self.tls_port, *lines,
                             more=forward(self.upstream.at), hints=False)

    def __enter__(self):
        self.upstream.__enter__()
        self.daemon.__enter__()
        return self

    def __exit__(self, *what):
        self.daemon.__exit__(*what)
        self.upstream.__exit__(*what)

    def context(self, version=None):
        context = ssl.create_default_context(cafile=self.ca.path("ca.pem"))
        context.set_alpn_protocols(["dot"])
        if version:
            context.minimum_version = context.maximum_version = version
        return context

    def connect(self, context=None, session=None, name="dns.test"):
        raw = socket.create_connection((ADDRESS, self.tls_port), 10)
        return (context or self.context()).wrap_socket(raw, server_hostname=name, session=session)


@pytest.fixture(scope="module")
def serving(daemon, ca):
    with Serving(daemon, ca) as s:
        yield s


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_questions_over_tls_are_answered(serving, version):
    with serving.connect(serving.context(version)) as s:
        assert s.selected_alpn_protocol() == "dot"
        for i in range(20):
            q = query("a%d.lab." % (i // 2))
            s.sendall(frame(q))
            r = read_message(s)
            assert r.id == q.id and texts(r) == ["198.18.7.7"]


def test_a_hundred_questions_in_one_record(serving):
    asked = [query("m%d.lab." % i) for i in range(100)]
    with serving.connect() as s:
        s.sendall(b"".join(frame(q) for q in asked))
        assert {read_message(s).id for _ in asked} == {q.id for q in asked}


def test_more_than_a_record_holds(serving):
    """What lies decrypted is not forgotten: 1000 questions at once, and all are answered."""
    serving.daemon.ask("again.lab.")
    asked = [query("again.lab.", id=i + 1) for i in range(1000)]
    # one thread alone: Python's TLS sockets are not made for two
    with serving.connect() as s:
        for _ in range(3):
            s.sendall(b"".join(frame(q) for q in asked))
            assert {read_message(s).id for _ in asked} == {q.id for q in asked}


def test_kdig(serving):
    out = subprocess.run(["kdig", "+tls-ca=" + serving.ca.path("ca.pem"), "+tls-hostname=dns.test", "-p",
                          str(serving.tls_port), "@127.0.0.1", "kdig.lab.", "A"], capture_output=True, text=True,
                         timeout=30, check=True).stdout
    assert "198.18.7.7" in out and "TLS session" in out


def test_openssl_resumes(serving):
    with tempfile.TemporaryDirectory() as where:
        session = os.path.join(where, "session")
        for option, want in (("-sess_out", "New, "), ("-sess_in", "Reused, ")):
            out = subprocess.run(["openssl", "s_client", "-connect", "127.0.0.1:%d" % serving.tls_port, "-servername",
                                  "dns.test", "-CAfile", serving.ca.path("ca.pem"), "-tls1_2", option, session],
                                 input="", capture_output=True, text=True, timeout=30, check=False).stdout
            assert want in out and "Verify return code: 0" in out


def test_who_resumes_is_counted(daemon, ca):
    with Serving(daemon, ca, "extended-statistics: yes") as s:
        context, session = s.context(ssl.TLSVersion.TLSv1_2), None
        for _ in range(3):
            with s.connect(context, session) as c:
                c.sendall(frame(query("count.lab.")))
                read_message(c)
                session = c.session
        stats = s.daemon.stats()
        assert stats["num.query.tls"] == 3 and stats["num.query.tls.resume"] == 2


def test_a_plain_question_at_the_port_is_not_answered(serving):
    with socket.create_connection((ADDRESS, serving.tls_port), 5) as s:
        s.sendall(frame(query("plain.lab.")))
        assert is_closed(s, 5)
    with socket.socket(type=socket.SOCK_DGRAM) as s:
        s.settimeout(1)
        s.connect((ADDRESS, serving.tls_port))
        s.send(query("plain.lab.").to_wire())
        with pytest.raises(OSError):
            s.recv(4096)


@pytest.mark.parametrize("data", [b"\x16\x03\x01\xff\xff" + b"x" * 200, b"GET / HTTP/1.1\r\n\r\n", b"\0" * 500,
                                  b"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x03"])
def test_nonsense_harms_nobody(serving, data):
    with serving.connect() as good, socket.create_connection((ADDRESS, serving.tls_port), 5) as bad:
        bad.sendall(data)
        good.sendall(frame(query("fine.lab.")))
        assert texts(read_message(good)) == ["198.18.7.7"]
    assert serving.daemon.alive()


def test_certificates_are_read_again_and_connections_stay(daemon, ca):
    ca.issue("changing", "DNS:before.test")
    with Serving(daemon, ca, cert="changing") as s:
        with s.connect(name="before.test") as old:
            ca.issue("changing", "DNS:after.test")
            s.daemon.control("reload")  # without it, some seconds later
            time.sleep(0.5)
            old.sendall(frame(query("old.lab.")))
            assert texts(read_message(old)) == ["198.18.7.7"]
            with s.connect(name="after.test") as new:
                new.sendall(frame(query("new.lab.")))
                assert texts(read_message(new)) == ["198.18.7.7"]


def test_without_a_key_the_port_is_not_served(daemon):
    port = free_port()
    with daemon("tls-port: %d" % port, "interface: 127.0.0.1@%d" % port) as d:
        with pytest.raises(OSError):
            socket.create_connection((ADDRESS, port), 2).close()
        assert "not listening at 127.0.0.1@%d" % port in d.log()


# -- others of the trade --------------------------------------------------------------------------


def test_unbound_as_a_server_over_tls(dot, ca):
    with unbound('tls-service-key: "%s"' % ca.path("good.key"), 'tls-service-pem: "%s"' % ca.path("good.pem"),
                 'local-zone: "lab." static', 'local-data: "a.lab. 300 A 198.18.7.9"', tls=True) as port:
        with dot("%s@%d#dns.test" % (ADDRESS, port)) as d:
            assert texts(d.ask("a.lab.")) == ["198.18.7.9"]
            assert rcode(d.ask("no.lab.")) == "NXDOMAIN"


def test_unbound_as_a_client_over_tls(serving):
    with unbound('module-config: "iterator"', 'tls-cert-bundle: "%s"' % serving.ca.path("ca.pem"),
                 more='forward-zone:\n    name: "."\n    forward-tls-upstream: yes\n    forward-addr: 127.0.0.1@%d#dns.test\n'
                 % serving.tls_port) as port:
        assert texts(ask("through.lab.", port=port)) == ["198.18.7.7"]


# -- options of the connection's own --------------------------------------------------------------


def padded(name, *codes, rrtype="A", rrclass="IN"):
    return query(name, rrtype, rrclass, options=[dns.edns.GenericOption(c, b"") for c in codes])


def test_answers_to_who_pads_are_padded(serving):
    serving.daemon.ask("pad.lab.")
    with serving.connect() as s:
        for name in ("pad.lab.", "pad%d.lab." % time.monotonic_ns()):
            for q, multiple in ((padded(name, 12), True), (query(name), False)):
                s.sendall(frame(q))
                size = struct.unpack("!H", read_exactly(s, 2))[0]
                assert (size % 468 == 0) == multiple
                assert texts(dns.message.from_wire(read_exactly(s, size))) == ["198.18.7.7"]


def test_who_asks_is_told_how_long_it_may_be_idle(daemon):
    with daemon("edns-tcp-keepalive: yes", "edns-tcp-keepalive-timeout: 60000", "tcp-idle-timeout: 500") as d:
        with d.tcp() as kept, d.tcp() as other:
            kept.sendall(frame(padded("version.bind.", 11, rrtype="TXT", rrclass="CH")))
            assert [o.data for o in read_message(kept).options if o.otype == 11] == [struct.pack("!H", 600)]
            assert is_closed(other, 3)
            # who has asked once is told ever after (RFC 7828 3.3.2), except where there is no OPT to tell it in
            kept.sendall(frame(padded("version.bind.", 12, rrtype="TXT", rrclass="CH")))
            assert [o.data for o in read_message(kept).options if o.otype == 11] == [struct.pack("!H", 600)]
            kept.sendall(frame(dns.message.make_query("version.bind.", "TXT", "CH", use_edns=False).to_wire()))
            assert not read_message(kept).options
            option = dns.edns.GenericOption(11, struct.pack("!H", 600))
            kept.sendall(frame(dns.message.make_query("version.bind.", "TXT", "CH", options=[option]).to_wire()))
            assert read_message(kept).rcode() == dns.rcode.FORMERR


def test_a_netblock_has_its_share_of_connections(daemon):
    with daemon("tcp-connection-limit: 127.0.0.0/8 2", "num-threads: 2") as d:
        first, second = d.tcp(), d.tcp()
        with first, second:
            for s in (first, second):
                s.sendall(frame(query("version.bind.", "TXT", "CH")))
                read_message(s)
            with d.tcp() as third:
                assert is_closed(third, 3)
            d.control("reload")                 # those that are open still count
            with d.tcp() as third:
                assert is_closed(third, 3)
        time.sleep(0.2)
        with d.tcp() as s:
            s.sendall(frame(query("version.bind.", "TXT", "CH")))
            read_message(s)
