"""DNS over HTTPS as it is served: right answers, right statuses, floods that harm nobody, real clients.

SPDX-License-Identifier: BSD-3-Clause
"""

import contextlib
import http.server
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
import pytest

import h2client
from h2client import (ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, PING, PREFACE, RST, SETTINGS, WINDOW,
                      Client, get_path, http2_frame)
from lab import ADDRESS, FakeServer, fixed, free_port, is_closed, query, rcode, read_exactly, silent, texts, until

LINES = ['local-zone: "here.test." static', 'local-data: "a.here.test. 300 IN A 192.0.2.1"',
         'local-data: "mixed.here.test. 200 IN TXT x"', 'local-data: "name.here.test. 300 IN A 127.0.0.1"',
         'local-data: "here.test. 77 IN SOA ns.here.test. h.here.test. 1 2 3 4 55"']


class Serving:
    """A daemon that serves HTTPS beside plain DNS."""

    def __init__(self, daemon, ca, *lines, clear=False, tls=False, cert="good", more=""):
        self.ca, self.clear = ca, clear
        self.port, self.tls_port = free_port(), free_port()
        own = ["https-port: %d" % self.port, "interface: 127.0.0.1@%d" % self.port, "incoming-num-tcp: 100"]
        if clear:
            own += ["http-notls-downstream: yes"]
        else:
            own += ['tls-service-key: "%s"' % ca.path(cert + ".key"), 'tls-service-pem: "%s"' % ca.path(cert + ".pem")]
        if tls:
            own += ["tls-port: %d" % self.tls_port, "interface: 127.0.0.1@%d" % self.tls_port]
        self.daemon = daemon(*own, *LINES, *lines, more=more)

    def __enter__(self):
        self.daemon.__enter__()
        return self

    def __exit__(self, *what):
        self.daemon.__exit__(*what)

    def context(self, *alpn):
        context = ssl.create_default_context(cafile=self.ca.path("ca.pem"))
        context.set_alpn_protocols(list(alpn or ("h2",)))
        return context

    def client(self, **more):
        return Client(self.port, None if self.clear else self.context(), **more)

    def resident_kb(self):
        with open("/proc/%d/status" % self.daemon.process.pid, encoding="ascii") as f:
            return int(next(line for line in f if line.startswith("VmRSS")).split()[1])


@pytest.fixture(scope="module")
def serving(daemon, ca):
    with Serving(daemon, ca, "num-threads: 2", tls=True) as s:
        yield s


# -- right answers --------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["get", "post"])
@pytest.mark.parametrize("name", ["a.here.test.", "target.chain.mini."])
def test_a_question_is_answered(serving, how, name):
    q = query(name)
    with serving.client() as c:
        assert c.sock.selected_alpn_protocol() == "h2"
        for _ in range(2):
            r = c.wait(getattr(c, how)(q))
            assert r.status == 200 and r.message.id == q.id and texts(r.message)
            assert r.headers["content-length"] == str(len(r.body))


@pytest.mark.parametrize("name, rrtype, most", [("a.here.test.", "A", 300), ("mixed.here.test.", "TXT", 200),
                                                ("none.here.test.", "A", 55), ("a.here.test.", "TXT", 55),
                                                ("version.bind.", "AXFR", 0)])
def test_others_may_keep_an_answer_as_long_as_its_ttl_says(serving, name, rrtype, most):
    """RFC 8484 5.1: the smallest TTL; of a denial what the SOA says; of a failure nothing."""
    with serving.client() as c:
        r = c.wait(c.get(query(name, rrtype)))
        assert r.headers["cache-control"] == "max-age=%d" % most


def test_a_cached_answer_is_fresh_for_the_rest_of_its_time(serving):
    with serving.client() as c:
        for _ in range(2):
            r = c.wait(c.get(query("target.chain.mini.")))
            assert r.headers["cache-control"] == "max-age=%d" % min(s.ttl for s in r.message.answer)


def test_a_fast_answer_overtakes_a_slow_one(serving):
    with serving.client() as c:
        c.ask(query("target.chain.mini."))
        slow = c.get(query("unasked-%d.slow.mini." % time.time_ns()))
        fast = c.get(query("target.chain.mini."))
        c.wait(slow, fast)
        assert c.order[-2:] == [fast, slow]


def test_a_question_that_is_taken_back_is_worked_on_no_more(daemon, ca):
    """Attack 49: a stream that is reset leaves no work behind, but what others wait for goes on."""
    def requests(s):
        return int(s.daemon.stats()["total.requestlist.current.user"])
    with FakeServer(silent) as server:
        zone = 'forward-zone:\n    name: "fwd.test.lab"\n    forward-addr: %s\n' % server.at
        with Serving(daemon, ca, "num-threads: 1", more=zone) as s, s.client() as c, s.client() as other:
            taken = [c.get(query("n%d.fwd.test.lab." % i)) for i in range(20)]
            c.flush()
            kept = other.get(query("n3.fwd.test.lab."))
            other.flush()
            while requests(s) < 20:
                time.sleep(0.02)
            for stream in taken:
                c.h2.reset_stream(stream, 8)
            c.flush()
            until(lambda: requests(s) == 1)
            assert texts(c.ask(query("a.here.test."))) == ["192.0.2.1"]
            server.answer = fixed("198.18.9.1")
            assert texts(other.wait(kept).message) == ["198.18.9.1"]


def test_a_hundred_streams_at_once(serving):
    with serving.client() as c:
        streams = {c.get(query("h%d.w.rsa.mini." % i)): i for i in range(100)}
        for stream, answer in zip(streams, c.wait(*streams)):
            assert answer.message.question[0].name.to_text() == "h%d.w.rsa.mini." % streams[stream]


def test_no_more_streams_than_are_allowed(daemon, ca):
    with Serving(daemon, ca, "http-max-streams: 7") as s, s.client() as c:
        # before it has heard of the limit
        slow = [c.get(query("unasked-%d.slow.mini." % time.time_ns())) for _ in range(7)]
        assert c.wait(c.get(query("a.here.test."))).reset is not None
        assert c.h2.remote_settings.max_concurrent_streams == 7
        assert all(r.status == 200 for r in c.wait(*slow))


@pytest.mark.parametrize("pad", [True, False])
def test_who_pads_gets_padding(serving, pad):
    options = [dns.edns.GenericOption(12, b"\0" * 20)] if pad else []
    with serving.client() as c:
        for name in ("a.here.test.", "unasked-%d.w.rsa.mini." % time.time_ns()):
            r = c.wait(c.post(query(name, options=options)))
            assert (len(r.body) % 468 == 0) == pad
            assert r.message.id


def test_an_answer_of_nearly_64_kB(serving):
    with serving.client() as c:
        for _ in range(2):
            r = c.ask(query("txt60000.big.mini.", "TXT"))
            assert sum(len(s) for rd in r.answer[0] for s in rd.strings) == 60000 - 60000 // 201


def test_another_endpoint(daemon, ca):
    with Serving(daemon, ca, 'http-endpoint: "/elsewhere"') as s, s.client() as c:
        assert c.wait(c.get(query("a.here.test."))).status == 404
        assert texts(c.wait(c.get(query("a.here.test."), path="/elsewhere")).message) == ["192.0.2.1"]


def test_in_clear_behind_somebody_who_encrypts(daemon, ca):
    with Serving(daemon, ca, "extended-statistics: yes", clear=True) as s:
        with s.client() as c:
            assert texts(c.ask(query("a.here.test."))) == ["192.0.2.1"]
        stats = s.daemon.stats()
        assert stats["num.query.https"] == 1 and stats["num.query.tls"] == 0


def test_questions_are_counted(daemon, ca):
    with Serving(daemon, ca, "extended-statistics: yes", "num-threads: 1") as s:
        with s.client() as c:
            for _ in range(3):
                c.ask(query("a.here.test."))
            c.begin("POST", "/dns-query", ("content-type", "application/dns-message"), body=b"x" * 3000, end=False)
            c.ask(query("a.here.test."))
            stats = s.daemon.stats()
            assert stats["num.query.https"] == stats["num.query.tls"] == stats["num.query.tcp"] == 4
            assert 3000 <= stats["mem.http.query_buffer"] <= 6000
            assert stats["mem.http.response_buffer"] == 0


# -- requests that are no questions ---------------------------------------------------------------

WIRE = query("a.here.test.").to_wire()
RESPONSE = WIRE[:2] + b"\x81" + WIRE[3:]
DNS = ("content-type", "application/dns-message")


@pytest.mark.parametrize("method, path, headers, body, status", [
    ("GET", "/dns-query", [], None, 400),
    ("GET", "/dns-query?", [], None, 400),
    ("GET", "/dns-query?ct=x&name=a", [], None, 400),
    ("GET", "/dns-query?dns=", [], None, 400),
    ("GET", "/dns-query?dns=AA", [], None, 400),
    ("GET", "/dns-query?dns=*" + get_path(WIRE)[15:], [], None, 400),
    ("GET", get_path(RESPONSE), [], None, 400),
    ("GET", get_path(WIRE, "/"), [], None, 404),
    ("GET", get_path(WIRE, "/dns-quer"), [], None, 404),
    ("GET", get_path(WIRE, "/dns-query/"), [], None, 404),
    ("POST", "/elsewhere", [DNS], WIRE, 404),
    ("HEAD", get_path(WIRE), [], None, 405),
    ("PUT", "/dns-query", [DNS], WIRE, 405),
    ("DELETE", "/dns-query", [], None, 405),
    ("BREW", "/dns-query", [], None, 501),
    ("POST", "/dns-query", [], WIRE, 415),
    ("POST", "/dns-query", [("content-type", "application/json")], b"{}", 415),
    ("POST", "/dns-query", [("content-type", "application/dns-messages")], WIRE, 415),
    ("POST", "/dns-query", [DNS], b"", 400),
    ("POST", "/dns-query", [DNS], WIRE[:11], 400),
    ("POST", "/dns-query", [DNS], RESPONSE, 400),
    ("POST", "/dns-query", [DNS], b"x" * 60000, 200),  # a FORMERR: it might be a question
    ("POST", "/dns-query", [DNS], b"x" * 65536, 413),
    ("GET", "/dns-query?dns=" + "A" * 20000, [], None, 431),
    ("GET", get_path(WIRE) + "&x=y", [], None, 200),
    ("GET", get_path(WIRE).replace("?", "?x=y&"), [], None, 200),
    ("GET", get_path(WIRE) + "=" * (-len(get_path(WIRE)[15:]) % 4), [], None, 200),
    ("POST", "/dns-query", [("content-type", "Application/DNS-Message; x=y")], WIRE, 200),
], ids=lambda v: str(v)[:30])
def test_each_mistake_has_its_status(serving, method, path, headers, body, status):
    with serving.client() as c:
        r = c.wait(c.begin(method, path, *headers, body=body))
        assert r.status == status
        assert r.headers.get("allow") == ("GET, POST" if status == 405 else None)
        if status != 200:
            assert "cache-control" not in r.headers
        # and the connection is as good as before
        assert texts(c.ask(query("a.here.test."))) == ["192.0.2.1"]


def test_who_is_not_admitted_gets_no_answer_but_the_stream_ends(daemon, ca):
    with Serving(daemon, ca, "access-control: 127.0.0.9/32 deny", "access-control: 127.0.0.8/32 refuse") as s:
        with s.client(source="127.0.0.9") as c:
            assert c.wait(c.get(query("a.here.test."))).reset is not None
        with s.client(source="127.0.0.8") as c:
            assert rcode(c.ask(query("a.here.test."))) == "REFUSED"


@pytest.mark.parametrize("alpn", [("http/1.1",), ()])
def test_http_1_is_told_that_it_is_too_old(serving, alpn):
    context = ssl.create_default_context(cafile=serving.ca.path("ca.pem"))
    if alpn:
        context.set_alpn_protocols(list(alpn))
    with socket.create_connection((ADDRESS, serving.port), 5) as raw:
        with context.wrap_socket(raw, server_hostname="dns.test") as s:
            for piece in (b"GET " + get_path(WIRE).encode() + b" HT", b"TP/1.1\r\nHost: dns.test\r\n", b"\r\n"):
                s.sendall(piece)
                time.sleep(0.02)
            assert read_exactly(s, 12) == b"HTTP/1.1 505"
            assert is_closed(s, 5)


@pytest.mark.parametrize("data", [b"\0\x1d" + WIRE, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\r", b"\x16\x03\x01\0\5", b"GET\0/",
                                  PREFACE + b"x" * 300, PREFACE + http2_frame(DATA, 0, 1, b"x"),
                                  PREFACE + http2_frame(HEADERS, 5, 2, b"\x82"),
                                  PREFACE + http2_frame(SETTINGS, 0, 0, b"x" * 5),
                                  PREFACE + b"\xff\xff\xff\0\0\0\0\0\1", PREFACE + b"\0\x40\1\1\5\0\0\0\1" + b"x" * 16385,
                                  b"G" * 20000, b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 3000],
                         ids=lambda v: repr(v[-30:]))
def test_nonsense_is_cut(serving, data):
    with serving.client() as good:
        with socket.create_connection((ADDRESS, serving.port), 5) as raw:
            with serving.context().wrap_socket(raw, server_hostname="dns.test") as s:
                s.sendall(data)
                assert is_closed(s, 5)
        assert texts(good.ask(query("a.here.test."))) == ["192.0.2.1"]


# -- floods ---------------------------------------------------------------------------------------

REQUEST = b"\x82\x87\x44" + bytes([len("/dns-query?dns=AAAA")]) + b"/dns-query?dns=AAAA" + b"\x41\x08dns.test"


def request(stream, flags=END_HEADERS | END_STREAM, block=REQUEST):
    return http2_frame(HEADERS, flags, stream, block)


def odd(first, count):
    return range(first, first + 2 * count, 2)


def rapid_reset(c):
    """CVE-2023-44487."""
    for i in range(50):
        yield b"".join(request(s, END_HEADERS) + http2_frame(RST, 0, s, b"\0\0\0\x08") for s in odd(1 + 400 * i, 200))


def made_you_reset(c):
    """CVE-2025-8671: what the server resets, for a window of nothing."""
    for i in range(50):
        yield b"".join(request(s, END_HEADERS) + http2_frame(WINDOW, 0, s, b"\0\0\0\0") for s in odd(1 + 400 * i, 200))


def continuations(c):
    """CVE-2024-28182 and its like: a header block without end."""
    yield request(1, END_STREAM, REQUEST)
    for _ in range(5000):
        yield http2_frame(CONTINUATION, 0, 1, b"\x00\x01a\x01b" * 100)


def empty_continuations(c):
    yield request(1, END_STREAM, REQUEST)
    for _ in range(100):
        yield http2_frame(CONTINUATION, 0, 1) * 100


def header_bomb(c):
    """One large entry of the table, and thousands of references to it."""
    name = b"\x40\x01a\x7f" + bytes([0xa1 - 0 + 0, 0x1d]) + b"x" * (127 + 0x21 + (0x1d << 7))
    yield request(1, END_HEADERS | END_STREAM, REQUEST + name)
    for s in odd(3, 400):
        yield request(s, END_HEADERS | END_STREAM, REQUEST + b"\xbe" * 16000)


def settings(c):
    for _ in range(100):
        yield http2_frame(SETTINGS) * 100


def pings(c):
    for _ in range(100):
        yield http2_frame(PING, 0, 0, b"12345678") * 100


def ping_acks(c):
    for _ in range(100):
        yield http2_frame(PING, ACK, 0, b"12345678") * 100


def priorities(c):
    for _ in range(100):
        yield http2_frame(2, 0, 1, b"\0\0\0\3\1") * 100


def strange_frames(c):
    for _ in range(100):
        yield http2_frame(0x77, 0, 0, b"x") * 100


def nothing_at_all(c):
    """CVE-2019-9518: pieces of a body with nothing in them."""
    yield request(1, END_HEADERS, b"\x83\x87\x44\x0a/dns-query\x41\x08dns.test")
    for _ in range(100):
        yield http2_frame(DATA, 0, 1) * 100


def tiny_windows(c):
    """A large answer, a byte at a time."""
    yield http2_frame(SETTINGS, 0, 0, struct.pack("!HI", 4, 0))
    path = get_path(query("txt60000.big.mini.", "TXT")).encode()
    yield request(1, 5, b"\x82\x87\x04" + bytes([len(path)]) + path + b"\x41\x08dns.test")
    for _ in range(100):
        yield http2_frame(WINDOW, 0, 1, b"\0\0\0\1") * 100


@pytest.mark.parametrize("flood", [rapid_reset, made_you_reset, continuations, empty_continuations, header_bomb,
                                   settings, pings, ping_acks, priorities, strange_frames, nothing_at_all,
                                   tiny_windows])
def test_a_flood_is_cut_and_others_are_served(serving, flood):
    with serving.client() as good, serving.client() as bad:
        good.ask(query("txt60000.big.mini.", "TXT"))
        bad.take(2)
        before = serving.resident_kb()
        cut = False
        for piece in flood(bad):
            cut = not bad.push(piece)
            if cut:
                break
        assert cut or bad.is_cut()
        assert serving.resident_kb() - before < 8192
        assert texts(good.ask(query("a.here.test."))) == ["192.0.2.1"]


def test_much_work_is_no_flood(serving):
    """Frames that ask nothing are paid for by questions: a busy client is not cut."""
    with serving.client() as c:
        for _ in range(30):
            for s in [c.get(query("a.here.test.")) for _ in range(50)]:
                c.sock.sendall(http2_frame(PING, ACK, 0, b"12345678"))
                c.wait(s)


def test_closed_windows_hold_nobody_up(daemon, ca):
    """Large answers that a client does not let go: bounded, and it is cut after the idle time."""
    with Serving(daemon, ca, "tcp-idle-timeout: 1500", "http-response-buffer-size: 1m", "num-threads: 1",
                 "extended-statistics: yes") as s:
        with s.client() as good:
            good.ask(query("txt60000.big.mini.", "TXT"))
        with s.client() as c:
            c.h2.update_settings({h2client.h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: 0})
            streams = [c.get(query("txt60000.big.mini.", "TXT")) for _ in range(60)]
            while sum(c.answers[x].reset is not None for x in streams) < 40:
                assert c.take(5)
            held = s.daemon.stats()["mem.http.response_buffer"]
            assert 500000 < held <= 1 << 20
            with s.client() as good:  # what can be sent at once needs no such room
                assert len(good.ask(query("txt60000.big.mini.", "TXT")).answer) == 1
            while not c.over:
                c.take(5)
        assert s.daemon.stats()["mem.http.response_buffer"] == 0


def test_questions_that_never_end_are_bounded(daemon, ca):
    with Serving(daemon, ca, "tcp-idle-timeout: 1500", "http-query-buffer-size: 100k", "num-threads: 1",
                 "extended-statistics: yes") as s:
        with s.client() as c:
            for _ in range(5):
                c.begin("POST", "/dns-query", DNS, body=b"x" * 40000, end=False)
                with contextlib.suppress(AssertionError):
                    c.take(0.2)
            assert any(a.headers.get(":status") == "503" for a in c.answers.values())
            assert s.daemon.stats()["mem.http.query_buffer"] <= 102400
            with s.client() as good:
                assert texts(good.wait(good.post(query("a.here.test."))).message) == ["192.0.2.1"]
            while not c.over:
                c.take(5)
        assert s.daemon.stats()["mem.http.query_buffer"] == 0


@pytest.mark.parametrize("data", [b"", PREFACE[:10], b"GET / HTT", PREFACE, PREFACE + http2_frame(SETTINGS),
                                  PREFACE + http2_frame(SETTINGS) + request(1, END_HEADERS, REQUEST)],
                         ids=["nothing", "half a preface", "half a request", "preface", "settings", "no end"])
@pytest.mark.parametrize("encrypted", [True, False])
def test_the_slow_are_cut(daemon, ca, data, encrypted):
    """A byte now and then, or nothing at all, is no way to keep a connection; and new ones are served."""
    with Serving(daemon, ca, "tcp-idle-timeout: 1200", "num-threads: 1", clear=not encrypted) as s:
        with contextlib.ExitStack() as stack:
            slow = []
            for _ in range(20):
                raw = stack.enter_context(socket.create_connection((ADDRESS, s.port), 5))
                one = raw
                if encrypted and data:
                    one = stack.enter_context(s.context().wrap_socket(raw, server_hostname="dns.test"))
                one.sendall(data)
                slow.append(one)
            with s.client() as good:
                assert texts(good.ask(query("a.here.test."))) == ["192.0.2.1"]
            assert all(is_closed(one, 8) for one in slow)


def test_new_clients_get_in_where_the_idle_sit(daemon, ca):
    """300 connections of five clients that ask nothing, over all transports: TCP, TLS and HTTPS go on."""
    with Serving(daemon, ca, "num-threads: 1", tls=True) as s, contextlib.ExitStack() as stack:
        for i in range(300):
            port = (s.daemon.port, s.tls_port, s.port)[i % 3]
            stack.enter_context(socket.create_connection((ADDRESS, port), 10, ("127.0.0.%d" % (2 + i % 5), 0)))
        assert texts(s.daemon.ask("a.here.test.", timeout=2)) == ["192.0.2.1"]
        began = time.monotonic()
        assert texts(s.daemon.ask("a.here.test.", tcp=True, timeout=15)) == ["192.0.2.1"]
        with s.client() as c:
            assert texts(c.ask(query("a.here.test."))) == ["192.0.2.1"]
        assert time.monotonic() - began < 10


# -- connections and keys -------------------------------------------------------------------------


def test_a_client_has_so_many_connections_over_all_transports(daemon, ca):
    with Serving(daemon, ca, "tcp-connections-per-client: 3", "num-threads: 2", tls=True) as s, \
            contextlib.ExitStack() as stack:
        tcp = stack.enter_context(s.daemon.tcp(source="127.0.0.5"))
        dot = socket.create_connection((ADDRESS, s.tls_port), 5, ("127.0.0.5", 0))
        stack.enter_context(s.context("dot").wrap_socket(dot, server_hostname="dns.test"))
        stack.enter_context(s.client(source="127.0.0.5"))
        with pytest.raises(OSError):
            s.client(source="127.0.0.5")
        with s.client(source="127.0.0.6") as other:
            assert texts(other.ask(query("a.here.test."))) == ["192.0.2.1"]
        tcp.close()
        deadline = time.monotonic() + 5
        while True:
            try:
                with s.client(source="127.0.0.5") as again:
                    assert texts(again.ask(query("a.here.test."))) == ["192.0.2.1"]
                break
            except OSError:
                assert time.monotonic() < deadline
                time.sleep(0.05)


@pytest.mark.parametrize("spoil", ["another key", "no key", "noise"])
def test_a_reload_with_keys_that_do_not_fit_keeps_the_old_and_says_so(daemon, ca, spoil):
    ca.issue("kept", "DNS:dns.test")
    with Serving(daemon, ca, cert="kept") as s, s.client() as c:
        if spoil == "another key":
            shutil.copy(ca.path("good.key"), ca.path("kept.key"))
        elif spoil == "no key":
            os.unlink(ca.path("kept.key"))
        else:
            with open(ca.path("kept.pem"), "w", encoding="ascii") as f:
                f.write("noise\n")
        said = s.daemon.control("reload", code=None)
        assert "tls-service-" in said + s.daemon.log()
        assert texts(c.ask(query("a.here.test."))) == ["192.0.2.1"]
        with s.client() as new:
            assert texts(new.ask(query("a.here.test."))) == ["192.0.2.1"]
        ca.issue("kept", "DNS:dns.test")
        assert "ok" in s.daemon.control("reload")
        assert texts(c.ask(query("a.here.test."))) == ["192.0.2.1"]


def test_ticket_keys_outlive_the_daemon(daemon, ca):
    """A session of the daemon before is resumed by the one after, and by one that knows the key as its second."""
    for name in ("old.tickets", "new.tickets"):
        with open(ca.path(name), "wb") as f:
            f.write(os.urandom(80))
    keys = ['tls-session-ticket-keys: "%s"' % ca.path(name) for name in ("old.tickets", "new.tickets")]
    context, session = ssl.create_default_context(cafile=ca.path("ca.pem")), None
    context.set_alpn_protocols(["h2"])
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    for lines, resumed in ((keys[:1], False), (keys[:1], True), (keys[::-1], True), (keys[1:], False)):
        with Serving(daemon, ca, *lines) as s, socket.create_connection((ADDRESS, s.port), 5) as raw:
            with context.wrap_socket(raw, server_hostname="dns.test", session=session) as c:
                assert c.session_reused == resumed
                session = session or c.session


# -- real clients ---------------------------------------------------------------------------------


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("how", ["+https", "+https-get"])
def test_kdig(serving, how):
    out = run("kdig", how, "+tls-ca=" + serving.ca.path("ca.pem"), "+tls-hostname=dns.test", "-p", str(serving.port),
              "@127.0.0.1", "a.here.test.", "A").stdout
    assert "192.0.2.1" in out and "HTTP/2" in out and "status: 200" in out


def test_kdig_and_openssl_over_tls(serving):
    out = run("kdig", "+tls-ca=" + serving.ca.path("ca.pem"), "+tls-hostname=dns.test", "-p", str(serving.tls_port),
              "@127.0.0.1", "a.here.test.", "A").stdout
    assert "192.0.2.1" in out
    for port, alpn in ((serving.tls_port, "dot"), (serving.port, "h2")):
        out = subprocess.run(["openssl", "s_client", "-connect", "127.0.0.1:%d" % port, "-servername", "dns.test",
                              "-CAfile", serving.ca.path("ca.pem"), "-alpn", "http/1.0,%s" % alpn], input="",
                             capture_output=True, text=True, timeout=30, check=False).stdout
        assert "ALPN protocol: %s\n" % alpn in out and "Verify return code: 0" in out


def test_curl_resolves_over_https(serving):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"found by name\n")

        def log_message(self, *_):
            pass
    with http.server.HTTPServer((ADDRESS, 0), Handler) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        out = run("curl", "-s", "-4", "--max-time", "20", "--doh-url",
                  "https://127.0.0.1:%d/dns-query" % serving.port, "--cacert", serving.ca.path("ca.pem"),
                  "http://name.here.test:%d/" % web.server_port)
        web.shutdown()
    assert out.stdout == "found by name\n", out.stderr


@pytest.mark.parametrize("mode", ["tcp", "dot", "doh"])
def test_dnsperf(serving, mode):
    port = {"tcp": serving.daemon.port, "dot": serving.tls_port, "doh": serving.port}[mode]
    with tempfile.NamedTemporaryFile("w") as f:
        f.write("a.here.test. A\nh1.w.rsa.mini. A\ntarget.chain.mini. A\n")
        f.flush()
        out = run("dnsperf", "-m", mode, "-s", "127.0.0.1", "-p", str(port), "-d", f.name, "-n", "700", "-c", "4", "-q",
                  "40").stdout
    assert "Queries completed:    2100 (100.00%)" in out, out


def test_h2load(serving):
    out = run("h2load", "-n", "5000", "-c", "5", "-m", "50",
              "https://127.0.0.1:%d%s" % (serving.port, get_path(query("a.here.test.", id=0)))).stdout
    assert "5000 succeeded, 0 failed, 0 errored" in out and "5000 2xx" in out
