"""dnstap: what collectors are told of what goes by, and that nobody waits for them.

SPDX-License-Identifier: BSD-3-Clause
"""

import asyncio
import json
import shutil
import socket
import ssl
import struct
import subprocess
import threading
import time
import urllib.request

import dns.edns
import dns.message
import dns.name
import pytest

from collector import READY, START, STOP, Capture, Collector
from faulty import Faulty
from h2client import Client
from lab import ADDRESS, FakeServer, fixed, frame, free_port, query, read_exactly, texts, until

ALL = ["%s-%s" % (who, what) for who in ("client", "resolver", "forwarder") for what in ("query", "response")]
CLIENT = ALL[:2]


@pytest.fixture(scope="module", autouse=True)
def built_in(bin_dir):
    said = subprocess.run([bin_dir + "/resolverd", "-V"], capture_output=True, text=True, timeout=20, check=True).stdout
    if "libfstrm" not in said:
        pytest.skip("built without dnstap")


def clause(*lines, kinds=CLIENT, enable=True):
    lines = ["dnstap-enable: %s" % ("yes" if enable else "no"), *lines]
    return "dnstap:\n" + "".join("    %s\n" % line for line in lines) + "".join(
        "    dnstap-log-%s-messages: yes\n" % kind for kind in kinds)


def at_socket(path, *lines, **more):
    return clause('dnstap-socket-path: "%s"' % path, *lines, **more)


def forward(zone, server, *lines):
    return "forward-zone:\n    name: %s\n    forward-addr: %s\n" % (zone, server) + "".join(
        "    %s\n" % line for line in lines)


def wire_name(text):
    return dns.name.from_text(text).to_wire()


def question_of(told):
    return dns.message.from_wire(told.wire).question[0].name.to_text()


def about(told, name):
    return [t for t in told if question_of(t).lower() == name]


def dnstap_stats(d):
    return {k: v for k, v in d.stats().items() if k.startswith("dnstap.")}


def test_fstrm_capture_hears_every_kind_of_message(daemon, tmp_path):
    """The real collector, and the real reader of BIND: each kind with all that is known of it."""
    with Capture(tmp_path) as capture, FakeServer(fixed("192.0.2.1")) as server, daemon(
            more=forward("fwd.example.", server.at) + at_socket(
                capture.socket, "dnstap-send-identity: yes", 'dnstap-identity: "lab"', "dnstap-send-version: yes",
                'dnstap-version: "9.9"', kinds=ALL)) as d:
        until(lambda: "connected to" in d.log())
        before = time.time()
        asked = query("a.fwd.example.", id=4711).to_wire()
        answers = [d.send(asked), d.send(asked)]
        assert texts(d.ask("target.chain.mini.")) == ["198.18.0.40"]
        assert texts(d.ask("a.fwd.example.", tcp=True)) == ["192.0.2.1"]
        assert d.stop() == 0
        told, after = capture.told(), time.time()
        ours = about(told, "a.fwd.example.")
        assert [t.kind for t in ours] == ["CQ", "FQ", "FR", "CR", "CQ", "CR", "CQ", "CR"]
        assert [t.protocol for t in ours] == ["UDP"] * 6 + ["TCP"] * 2
        for t in told:
            assert t.family == 1 and t.identity == "lab" and t.version == "9.9"
            assert (t.kind[0] == "C") == (t.zone is None)
            if t.kind[1] == "R":
                assert t.query_s <= t.response_s
            else:
                assert t.response_s is None
            if t in ours:
                assert before - 1 <= t.query_s <= after + 1
        for t in ours:
            if t.kind[0] == "C":
                assert t.asker[0] == ADDRESS and t.asker[1] > 0 and t.asked == (ADDRESS, d.port)
            else:
                assert t.asker[0] == ADDRESS and t.asker[1] > 0 and t.asked == (ADDRESS, server.port)
                assert t.zone == wire_name("fwd.example.")
        assert [t.wire for t in ours if t.kind == "CQ"][:2] == [asked, asked]
        assert [t.wire for t in ours if t.kind == "CR"][:2] == answers
        fq, fr = ours[1:3]
        assert fq.wire[:2] == fr.wire[:2] and fq.asker == fr.asker and fq.query_s == fr.query_s
        resolved = about(told, "target.chain.mini.")
        assert {"CQ", "CR", "RQ", "RR"} <= {t.kind for t in resolved}
        last = [t for t in resolved if t.kind == "RR"][-1]
        assert last.zone == wire_name("chain.mini.") and last.asked[1] == 53
        read = subprocess.run(["dnstap-read", capture.file], capture_output=True, text=True, check=True, timeout=30).stdout
        lines = [line.split() for line in read.splitlines()]
        assert len(lines) == len(told) and {line[2] for line in lines} == {"CQ", "CR", "RQ", "RR", "FQ", "FR"}
        assert [line[6] for line in lines if line[-1] == "a.fwd.example/IN/A"] == ["UDP"] * 6 + ["TCP"] * 2


def test_bytes_over_every_transport_are_those_on_the_wire(daemon, ca, tmp_path):
    """Padding and keepalive are added at the very end; HTTPS has no lengths in front."""
    tls_port, https_port, path = free_port(), free_port(), str(tmp_path / "tap.sock")
    padded = [dns.edns.GenericOption(12, b"\0" * 8)]
    with Collector(path=path) as collector, Faulty(ca) as upstream, daemon(
            "interface: 127.0.0.1@%d" % tls_port, "interface: 127.0.0.1@%d" % https_port, "tls-port: %d" % tls_port,
            "https-port: %d" % https_port, 'tls-service-key: "%s"' % ca.path("good.key"),
            'tls-service-pem: "%s"' % ca.path("good.pem"), 'tls-cert-bundle: "%s"' % ca.path("ca.pem"),
            more=forward(".", upstream.at, "forward-tls-upstream: yes") + at_socket(path, kinds=ALL),
            hints=False) as d:
        until(lambda: collector.control == [READY, START])
        context = ssl.create_default_context(cafile=ca.path("ca.pem"))
        heard = {"DOT": [], "DOH": [], "TCP": []}
        with context.wrap_socket(socket.create_connection((ADDRESS, tls_port), 20), server_hostname="dns.test") as s:
            for _ in range(2):
                s.sendall(frame(query("dot.lab.", options=padded)))
                heard["DOT"].append(read_exactly(s, struct.unpack("!H", read_exactly(s, 2))[0]))
        assert all(len(wire) % 468 == 0 for wire in heard["DOT"])
        context.set_alpn_protocols(["h2"])
        with Client(https_port, context) as c:
            for _ in range(2):
                stream = c.post(query("doh.lab.", options=padded))
                heard["DOH"].append(c.wait(stream).body)
        with d.tcp(20) as s:
            for _ in range(2):
                s.sendall(frame(query("tcp.lab.")))
                heard["TCP"].append(read_exactly(s, struct.unpack("!H", read_exactly(s, 2))[0]))
        told = collector.wait(lambda told: sum(t.kind == "CR" and t.protocol != "UDP" for t in told) == 6)
        for protocol, wires in heard.items():
            assert [t.wire for t in told if t.kind == "CR" and t.protocol == protocol] == wires
            name = protocol.lower() + ".lab."
            assert [t.kind for t in about(told, name)] == ["CQ", "FQ", "FR", "CR", "CQ", "CR"]
            assert {t.protocol for t in about(told, name) if t.kind[0] == "F"} == {"DOT"}
        fq, fr = [t for t in told if t.kind[0] == "F"][:2]
        assert len(fq.wire) == 128 and fq.wire[:2] == fr.wire[:2] and fq.asked == (ADDRESS, upstream.port)
        assert fq.asker[0] == ADDRESS and fq.asker[1] > 0
    assert collector.control == [READY, START, STOP]


@pytest.mark.parametrize("greets", [True, False])
def test_over_tcp_with_and_without_greetings(daemon, greets):
    with Collector(greets=greets) as collector, daemon('local-data: "a.here. A 192.0.2.9"', more=clause(
            "dnstap-ip: " + collector.at, "dnstap-tls: no", "dnstap-bidirectional: %s" % ("yes" if greets else "no"))) as d:
        until(lambda: START in collector.control)
        d.ask("a.here.")
        collector.wait(lambda told: [t.kind for t in about(told, "a.here.")] == ["CQ", "CR"])
    until(lambda: collector.control == ([READY] if greets else []) + [START, STOP])


def test_fstrm_capture_over_tcp(daemon, tmp_path):
    with Capture(tmp_path, port=free_port()) as capture, daemon('local-data: "a.here. A 192.0.2.9"', more=clause(
            "dnstap-ip: %s@%d" % (ADDRESS, capture.port), "dnstap-tls: no")) as d:
        until(lambda: "connected to" in d.log())
        d.ask("a.here.")
        assert d.stop() == 0
        assert [t.kind for t in about(capture.told(), "a.here.")] == ["CQ", "CR"]


def test_only_what_is_wanted_is_told_and_a_reload_changes_it(daemon, tmp_path):
    one, two = str(tmp_path / "one.sock"), str(tmp_path / "two.sock")
    lines = ['local-data: "a.here. A 192.0.2.9"', "extended-statistics: yes", "num-threads: 2"]

    def become(more):
        d.configure(lines, more)
        d.control("reload")
        d.stats()  # goes to every thread, behind the new configuration

    def ask_twenty():
        for _ in range(20):
            d.ask("a.here.")
    with Collector(path=one) as first, Collector(path=two) as second, daemon(*lines) as d:
        d.ask("a.here.")
        assert dnstap_stats(d) == {}
        become(at_socket(one, kinds=["client-query"]))
        ask_twenty()
        assert {t.kind for t in first.wait_count(20)} == {"CQ"}
        become(at_socket(one, kinds=["client-response"]))
        ask_twenty()
        told = first.wait(lambda told: sum(t.kind == "CR" for t in told) == 20)
        assert len(told) == 40 and first.accepted == 1
        become(at_socket(two))
        until(lambda: STOP in first.control and START in second.control)
        ask_twenty()
        assert len(second.wait_count(40)) == 40 and len(first.told) == 40
        until(lambda: dnstap_stats(d) == {"dnstap.connected": 1, "dnstap.sent": 80, "dnstap.dropped": 0,
                                              "dnstap.lost": 0})
        d.control("set_option", "dnstap-log-client-query-messages:", "no")
        d.stats()
        ask_twenty()
        assert len(second.wait_count(60)) == 60 and second.accepted == 1
        become(at_socket(two, enable=False))
        until(lambda: STOP in second.control)
        d.ask("a.here.")
        assert dnstap_stats(d) == {} and len(second.told) == 60


def test_one_message_of_so_many(daemon, tmp_path):
    path = str(tmp_path / "tap.sock")
    with Collector(path=path) as collector, daemon('local-data: "a.here. A 192.0.2.9"', more=at_socket(
            path, "dnstap-sample-rate: 5")) as d:
        for _ in range(500):
            d.ask("a.here.")
        assert d.stop() == 0
        until(lambda: STOP in collector.control)
        assert 120 < len(collector.told) < 290  # of a thousand
        assert {t.kind for t in collector.told} == {"CQ", "CR"}


@pytest.mark.parametrize("act", ["absent", "mute", "rude"])
def test_a_collector_that_is_none_keeps_nobody(daemon, tmp_path, act):
    """Nobody there, nobody who greets, somebody else: questions are answered, reloads and the end are
    not kept waiting, and once there is a collector it hears what was kept for it."""
    path = str(tmp_path / "tap.sock")
    odd = Collector(act=act, path=path) if act != "absent" else None
    with daemon('local-data: "a.here. A 192.0.2.9"', "extended-statistics: yes", more=at_socket(path)) as d:
        if odd:
            odd.__enter__()
            until(lambda: odd.accepted)
        for _ in range(10):
            assert texts(d.ask("a.here.")) == ["192.0.2.9"]
        begun = time.monotonic()
        d.control("reload")
        assert dnstap_stats(d)["dnstap.connected"] == 0
        if odd:
            odd.__exit__()
        if act != "mute":
            until(lambda: "cannot connect to" in d.log())
        with Collector(path=path) as good:
            told = good.wait(lambda told: len(about(told, "a.here.")) == 20, 60)
            assert [t.kind for t in about(told, "a.here.")] == ["CQ", "CR"] * 10
            until(lambda: dnstap_stats(d)["dnstap.connected"] == 1)
        assert time.monotonic() - begun < 60
        assert d.log().count("cannot connect to") <= 3


def test_a_collector_goes_and_comes_again(daemon, tmp_path):
    path = str(tmp_path / "tap.sock")
    with daemon('local-data: "a.here. A 192.0.2.9"', "extended-statistics: yes", more=at_socket(path)) as d:
        for turn in range(3):
            with Collector(path=path) as collector:
                until(lambda: collector.control == [READY, START])
                collector.told.clear()
                d.ask("a.here.", flags=0x100)
                collector.wait(lambda told: {t.kind for t in about(told, "a.here.")} == {"CQ", "CR"})
            until(lambda: dnstap_stats(d)["dnstap.connected"] == 0)
            assert d.log().count("closed the connection") == turn + 1
        for _ in range(5):
            assert texts(d.ask("a.here.")) == ["192.0.2.9"]


@pytest.mark.parametrize("greets", [True, False])
def test_a_collector_that_goes_each_time_is_not_stormed(daemon, tmp_path, greets):
    path = str(tmp_path / "tap.sock")
    with Collector(act="hasty", path=path, greets=greets) as collector, daemon(
            'local-data: "a.here. A 192.0.2.9"', more=at_socket(
                path, "dnstap-bidirectional: %s" % ("yes" if greets else "no"))) as d:
        until(lambda: collector.accepted > 1)
        for _ in range(100):
            assert texts(d.ask("a.here.")) == ["192.0.2.9"]
        time.sleep(1)
        assert collector.accepted < 6  # after 0, 250, 500, 1000 ms


def test_a_full_queue_delays_nobody(daemon, tmp_path):
    """A collector that takes nothing: what does not fit is dropped and counted, every question is
    answered, and the end comes soon all the same."""
    path = str(tmp_path / "tap.sock")
    text = " ".join('"%s"' % ("x" * 250) for _ in range(14))
    metrics = free_port()
    with Collector(act="deaf", path=path) as collector, daemon(
            "local-data: 'big.here. TXT %s'" % text, "extended-statistics: yes", "max-udp-size: 4096",
            more=at_socket(path) + "metrics:\n    metrics-enable: yes\n    metrics-interface: 127.0.0.1@%d\n"
            % metrics) as d, socket.socket(type=socket.SOCK_DGRAM) as s:
        until(lambda: collector.control == [READY, START])
        s.connect((ADDRESS, d.port))
        s.settimeout(20)
        asked = 0
        while not dnstap_stats(d)["dnstap.dropped"]:
            assert asked < 20000
            for _ in range(200):
                asked += 1
                s.send(query("big.here.", "TXT", payload=4096, id=asked).to_wire())
                r = s.recv(8192)
                assert len(r) > 3500 and r[:2] == struct.pack("!H", asked)
        stats = dnstap_stats(d)
        assert stats["dnstap.connected"] == 1 and stats["dnstap.dropped"] > 0
        page = urllib.request.urlopen("http://127.0.0.1:%d/metrics" % metrics, timeout=20).read().decode()
        assert "\nresolverd_dnstap_connected 1\n" in page
        assert '\nresolverd_dnstap_messages_total{fate="dropped"} ' in page
        status = json.load(urllib.request.urlopen("http://127.0.0.1:%d/status.json" % metrics, timeout=20))
        assert status["dnstap"]["connected"] and status["dnstap"]["dropped"] >= stats["dnstap.dropped"]
        begun = time.monotonic()
        assert d.stop() == 0
        assert time.monotonic() - begun < 10


def tls_context(ca, client=None):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(ca.path("good.pem"), ca.path("good.key"))
    if client:
        context.load_verify_locations(ca.path(client))
        context.verify_mode = ssl.CERT_REQUIRED
    return context


OURS = ('dnstap-tls-client-key-file: "{0}/client.key"', 'dnstap-tls-client-cert-file: "{0}/client.pem"')


@pytest.mark.parametrize("why, lines, client, said", [
    ("the right name", ['dnstap-tls-cert-bundle: "{0}/ca.pem"', 'dnstap-tls-server-name: "dns.test"'], None, None),
    ("and a certificate of ours", ['dnstap-tls-cert-bundle: "{0}/ca.pem"', 'dnstap-tls-server-name: "dns.test"', *OURS],
     "ca.pem", None),
    ("the usual authorities", ['dnstap-tls-server-name: "dns.test"'], None, None),
    ("authorities and no name", ['dnstap-tls-cert-bundle: "{0}/ca.pem"'], None, None),
    ("another name", ['dnstap-tls-cert-bundle: "{0}/ca.pem"', 'dnstap-tls-server-name: "two.test"'], None,
     "mismatch"),
    ("other authorities", ['dnstap-tls-cert-bundle: "{0}/other.pem"'], None, "unable to get local issuer"),
    ("no certificate of ours", ['dnstap-tls-cert-bundle: "{0}/ca.pem"', 'dnstap-tls-server-name: "dns.test"'],
     "ca.pem", ""),
])
def test_over_tls(daemon, ca, why, lines, client, said):
    with Collector(context=tls_context(ca, client)) as collector, daemon(
            'local-data: "a.here. A 192.0.2.9"', 'tls-cert-bundle: "%s"' % ca.path("ca.pem"), more=clause(
                "dnstap-ip: " + collector.at, *(line.format(ca.dir) for line in lines))) as d:
        assert texts(d.ask("a.here.")) == ["192.0.2.9"]
        if said is None:
            collector.wait(lambda told: {t.kind for t in about(told, "a.here.")} == {"CQ", "CR"})
        else:
            until(lambda: "cannot connect to %s over TLS" % collector.at in d.log())
            assert said in d.log()
    assert (READY in collector.control) == (said is None), why
    if said is None:
        until(lambda: collector.control == [READY, START, STOP])


class Relay:
    """Takes connections over TLS, and gives their bytes to a Unix socket and back."""

    def __init__(self, context, port, inner):
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)

        async def pump(reader, writer):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
            writer.close()

        async def on_connection(reader, writer):
            r, w = await asyncio.open_unix_connection(inner)
            await asyncio.gather(pump(reader, w), pump(r, writer), return_exceptions=True)

        async def start():
            self.server = await asyncio.start_server(on_connection, ADDRESS, port, ssl=context)
        self.loop.run_until_complete(start())

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.server.close)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(5)


def test_fstrm_capture_behind_tls(daemon, ca, tmp_path):
    """Somebody decrypts for the real collector, and wants to see a certificate."""
    port, inner = free_port(), str(tmp_path / "capture.sock")
    with Capture(tmp_path) as capture, Relay(tls_context(ca, "ca.pem"), port, inner), daemon(
            'local-data: "a.here. A 192.0.2.9"', more=clause(
                "dnstap-ip: %s@%d" % (ADDRESS, port), 'dnstap-tls-cert-bundle: "%s"' % ca.path("ca.pem"),
                'dnstap-tls-server-name: "dns.test"', *(line.format(ca.dir) for line in OURS))) as d:
        until(lambda: "connected to" in d.log())
        for _ in range(50):
            d.ask("a.here.")
        assert d.stop() == 0
        assert [t.kind for t in about(capture.told(), "a.here.")] == ["CQ", "CR"] * 50


@pytest.mark.parametrize("line, want", [
    ('dnstap-tls-client-key-file: "{0}/client.key"', "go together"),
    ('dnstap-tls-cert-bundle: "/nonexistent.pem"', "cannot use '/nonexistent.pem'"),
    ('dnstap-identity: "%s"' % ("x" * 256), "255"),
    ("dnstap-ip: 192.0.2.300", "dnstap-ip"),
    ("dnstap-ip: 192.0.2.3@853#dns.test", "is for dnstap-tls-server-name:"),
    ("dnstap-sample-rate: many", "dnstap-sample-rate"),
    ('dnstap-socket-path: ""', "neither a socket nor dnstap-ip: says where to send"),
])
def test_mistakes_are_told(daemon, ca, line, want):
    d = daemon(more=clause(line.format(ca.dir)))
    try:
        p = subprocess.run([d.program("resolver-checkconf"), d.conf], capture_output=True, text=True, timeout=20, check=False)
        assert p.returncode == 1 and want in p.stdout + p.stderr
    finally:
        shutil.rmtree(d.dir)


def test_to_tell_nothing_is_worth_a_warning(daemon):
    d = daemon(more=clause(kinds=[]))
    try:
        p = subprocess.run([d.program("resolver-checkconf"), d.conf], capture_output=True, text=True, timeout=20, check=False)
        assert p.returncode == 0 and "nothing is sent" in p.stdout + p.stderr
    finally:
        shutil.rmtree(d.dir)
