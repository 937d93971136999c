"""The client side: reflection, cookies, floods, slow and silent connections, odd headers (entries 45 to 54).

SPDX-License-Identifier: BSD-3-Clause
"""

import contextlib
import os
import select
import socket
import struct
import threading
import time

from frame.authority import record
from frame.crowd import (HERE, Ports, framed, head, leaked, new_tcp_ms, opt, question, read_message, udp_ms)
from frame.declare import Limit, answered, at_least, attack, excused
from frame.lab import e2e
from frame.world import ATTACKERS, Zone

STRANGER = "198.18.20.66"
ALLOWED = "198.18.20.1"


def exchange(lab, data, source=None, timeout=1.0):
    """Bytes over UDP from some address; the reply, or None."""
    with socket.socket(type=socket.SOCK_DGRAM) as s:
        s.bind((source or HERE, 0))
        s.settimeout(timeout)
        s.connect((HERE, lab.daemon.port))
        s.send(data)
        try:
            return s.recv(65535)
        except OSError:
            return None


def over_tcp(lab, data, source=None, timeout=3.0):
    """The same over TCP."""
    with contextlib.suppress(OSError, EOFError), socket.create_connection(
            (HERE, lab.daemon.port), timeout, (source or HERE, 0)) as s:
        s.sendall(framed(data))
        return e2e.read_exactly(s, struct.unpack("!H", e2e.read_exactly(s, 2))[0])
    return None


# -- 45 reflection -----------------------------------------------------------------------------------

QUESTIONS = [("www.victim.test", 1), ("victim.test", 255), ("big.refl.test", 16), (".", 2), ("version.bind", 16)]


@attack(45, "reflection", "a stranger's address in queries of all kinds, over UDP and TCP",
        rule="clients not admitted get a bare REFUSED, which is no longer than the query",
        code="services/access/acl.h daemon/worker/frontend.c", quick=True, limits={"bytes_per_byte": 1.0, "answers": 0})
def reflection(lab):
    lab.start()
    worst, answers = 0.0, 0
    for name, kind in QUESTIONS:
        for extra in (b"", opt(), opt(flags=0x8000, payload=4096), opt(b"\0\x0a\0\x08cookie01"), opt(b"\0\3\0\0")):
            q = head(ar=int(bool(extra))) + question(name, kind, 3 if name == "version.bind" else 1) + extra
            for how in (exchange, over_tcp):
                r = how(lab, q, STRANGER, 0.3)
                if r:
                    worst = max(worst, len(r) / len(q))
                    answers += r[3] & 15 != 5
    return {"bytes_per_byte": worst, "answers": answers}


@attack(45, "amplification", "an admitted client asks for the largest answers there are, over UDP with DO and ANY",
        rule="no answer over UDP is longer than 1232 bytes, or than the client allows; minimal responses",
        code="services/answer/answer.c daemon/worker/frontend.c", quick=True, limits={"largest": 1232, "over_512": 0})
def amplification(lab):
    zone = Zone("refl.test", ["t%d 300 TXT %s" % (n, " ".join('"%s"' % ("z" * 250) for _ in range(n)))
                              for n in (1, 4, 6, 10)])
    for n in range(60):
        zone.add("many 300 A 192.0.3.%d" % n)
        zone.add("many 300 AAAA 2001:db8::%x" % n)
    lab.world.serve(zone, {"ns.refl.test.": ATTACKERS[0]})
    lab.start()
    largest, small = 0, 0
    for name, kind in [("t%d.refl.test" % n, k) for n in (1, 4, 6, 10) for k in (16, 255)] + [
            ("many.refl.test", k) for k in (1, 28, 255)] + [("refl.test", 255)]:
        for _ in range(2):
            r = exchange(lab, head(ar=1) + question(name, kind) + opt(payload=65535, flags=0x8000), timeout=5)
            largest = max(largest, len(r or b""))
            r = exchange(lab, head() + question(name, kind), timeout=5)
            small += len(r or b"") > 512
    return {"largest": largest, "over_512": small}


answered(45, "amplification-by-padding", "answers to clients that pad", "padding only over encrypted transports",
         "services/answer/answer.c", "testdata/e2e/test_tls.py::test_answers_to_who_pads_are_padded "
         "testdata/e2e/test_doh.py::test_who_pads_gets_padding")
answered(45, "amplification-sizes", "clients that state a small size", "no answer is larger than the client "
                                                                           "allows",
         "services/answer/answer.c", "testdata/e2e/test_transport.py::test_no_answer_is_larger_than_the_client_said")


# -- 46 cookies ----------------------------------------------------------------------------------------

@attack(46, "cookie-forgery", "20000 guessed cookies, another client's, truncated ones and several at once; "
                              "clients without a valid cookie are rate-limited",
        rule="a cookie is valid for the address it was given to, for an hour, under a secret of 128 bits; an "
             "invalid one earns no exception",
        code="services/access/cookies.c daemon/worker/frontend.c", seconds=40, quick=True,
        server=["answer-cookie: yes", "access-control: 198.18.0.0/15 allow", "ip-ratelimit: 20", "ip-ratelimit-factor: 0",
                "ip-ratelimit-cookie: 0", "num-threads: 1", 'local-data: "c.local. A 192.0.2.1"'],
        limits={"accepted": 0, "odd_accepted": 0, "good_answered": at_least(200), "valid": at_least(200)})
def cookie_forgery(lab):
    lab.start()

    def ask(source, options):
        return head(ar=1) + question("c.local") + opt(options)

    def cookie(data):
        return b"\0\x0a" + struct.pack("!H", len(data)) + data

    def flood(packets, source):
        good = 0
        with socket.socket(type=socket.SOCK_DGRAM) as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
            s.bind((source, 0))
            s.connect((HERE, lab.daemon.port))
            for i, p in enumerate(packets):
                s.send(p)
                if i % 50 == 49:
                    time.sleep(0.005)
            while select.select([s], [], [], 0.3)[0]:
                good += s.recv(4096)[3] & 15 == 0
        return good
    r = exchange(lab, ask(ALLOWED, cookie(b"12345678")), ALLOWED)
    mine = r[r.index(b"12345678"):][:24]
    good = flood([ask(ALLOWED, cookie(mine))] * 200, ALLOWED)

    def valid():
        return lab.daemon.stats()["total.num.queries_cookie_valid"]
    began = valid()
    flood([ask(STRANGER, cookie(b"12345678" + mine[8:16] + os.urandom(8))) for _ in range(20000)], STRANGER)
    flood([ask(STRANGER, cookie(mine))] * 200, STRANGER)
    accepted = valid() - began
    odd = [cookie(mine[:n]) for n in (1, 7, 9, 15, 23)] + [cookie(mine + b"x" * 17), cookie(mine + b"x")]
    flood([ask(ALLOWED, o) for o in odd * 20], ALLOWED)
    return {"accepted": accepted, "odd_accepted": valid() - began - accepted, "good_answered": good, "valid": began}


@attack(46, "address-hopping", "a client asks from 500 addresses of its IPv6 network in turn, where each address has a limit; another does not",
        rule="beside the address the /64 it is in is counted, with eight times the limit", quick=True,
        code="daemon/worker/frontend.c:network_admits", server=["ip-ratelimit: 10", "ip-ratelimit-factor: 0", "interface: 2001:db8::1", "ip-freebind: yes",
                                                               "access-control: 2001:db8::/32 allow"],
        # Eighty, and as many again if a second of the clock ends meanwhile.
        limits={"answered": 160, "others": at_least(5)})
def address_hopping(lab):
    lab.start()
    freebind = 78
    with contextlib.ExitStack() as stack:
        def ask_from(address):
            s = stack.enter_context(socket.socket(socket.AF_INET6, socket.SOCK_DGRAM))
            s.setsockopt(socket.IPPROTO_IPV6, freebind, 1)
            s.bind((address, 0))
            s.connect(("2001:db8::1", lab.daemon.port))
            s.setblocking(False)
            s.send(head() + question("www.victim.test"))
            return s
        asked = [ask_from("2001:db8:0:7::%x" % (n + 1)) for n in range(500)]
        others = [ask_from("2001:db8:0:%x::1" % (n + 16)) for n in range(5)]
        time.sleep(0.3)
        return {"answered": sum(bool(select.select([s], [], [], 0)[0]) for s in asked),
                "others": sum(bool(select.select([s], [], [], 0)[0]) for s in others)}


answered(46, "cookie-behind-proxy", "a cookie of the proxy's other clients", "limits and cookies apply to the "
                                                                             "client named in the header", "services/listen/connection.c daemon/worker/frontend.c",
         "testdata/e2e/test_proxy.py::test_limits_are_the_clients")


# -- 47 options ----------------------------------------------------------------------------------------

@attack(47, "option-flood", "16000 empty options in a question over TCP; or NSID, COOKIE, PADDING and keepalive a "
        "thousand times",
        rule="at most 100 options are read, each is answered once, and sizes are known before anything is written",
        code="util/dns/edns.c services/answer/answer.c", noisy=True, limits={"C_each": 0.5, "answered": at_least(200)},
        variants={"empty": {"options": b"\xfd\xe9\0\0" * 16000},
                  "doubled": {"options": (b"\0\3\0\0" + b"\0\x0a\0\x0812345678" + b"\0\x0c\0\4\0\0\0\0" + b"\0\x0b\0\0"
                                          + b"\0\x0f\0\2\0\0" + b"\0\x08\0\4\0\1\0\0") * 1000}})
def option_flood(lab, options, count=200):
    lab.option("answer-cookie: yes", 'nsid: "ascii_laboratory"', "pad-responses: yes", "edns-tcp-keepalive: yes")
    lab.start()
    q = framed(head(ar=1) + question("www.victim.test") + opt(options))
    lab.ask("www.victim.test")
    answers = 0
    before = lab.cpu_ms()
    with lab.daemon.tcp(timeout=20) as s:
        for _ in range(count // 10):
            writer = threading.Thread(target=s.sendall, args=(q * 10,))
            writer.start()
            for _ in range(10):
                n = struct.unpack("!H", e2e.read_exactly(s, 2))[0]
                answers += len(e2e.read_exactly(s, n)) < 1232
            writer.join()
    return {"C_each": (lab.cpu_ms() - before) / count, "answered": answers}


# -- 48 slow connections ------------------------------------------------------------------------------

def crowd(stack, port, count, addresses=5, data=b""):
    """Connections of `addresses` clients that say `data` and no more."""
    out = []
    for i in range(count):
        with contextlib.suppress(OSError):
            s = stack.enter_context(socket.create_connection((HERE, port), 5, ("127.0.0.%d" % (2 + i % addresses), 0)))
            s.setblocking(False)
            if data:
                s.send(data)
            out.append(s)
    return out


def drip(stack, port, data, seconds, done):
    """Two hundred connections, a byte a second into each, without ever coming to an end; who is cut comes again."""
    slow, end = [[s, 0] for s in crowd(stack, port, 200)], time.monotonic() + seconds
    while time.monotonic() < end and not done.is_set():
        for one in slow:
            try:
                one[0].send(data[one[1] % len(data):one[1] % len(data) + 1])
                one[1] += 1
            except BlockingIOError:
                pass
            except OSError:
                one[0].close()
                one[:] = [(crowd(stack, port, 1) or one)[0], 0]
        done.wait(1)


@attack(48, "idle-connections", "300 connections of five clients that ask nothing, more than there is room for",
        rule="the longest idle connection of who holds the most makes room at once; the fuller the table, the shorter "
             "the idle timeout; each netblock has its share",
        code="services/listen/connection_table.c:connection_table_make_room services/listen/connection.c services/net/connection_limits.c", noisy=True, seconds=60,
        server=["num-threads: 1", "incoming-num-tcp: 100"], limits={"tcp_ms": 1000, "L_udp": 5, "fds": 5},
        variants={"tcp": {"kind": "tcp"}, "tls": {"kind": "tls"}, "https": {"kind": "https"}})
def idle_connections(lab, kind):
    ports = Ports(lab, connections=100)
    lab.start()
    lab.ask("www.victim.test")
    port = {"tcp": lab.daemon.port, "tls": ports.tls, "https": ports.https}[kind]
    with contextlib.ExitStack() as stack:
        crowd(stack, port, 300)
        udp = udp_ms(lab)
        took = new_tcp_ms(lab, None if kind == "tcp" else ports.tls,
                          context=None if kind == "tcp" else ports.context("dot"))
    return {"tcp_ms": took, "L_udp": udp, "fds": leaked(lab)}


@attack(48, "slowloris", "200 connections send a byte per second for a minute, of a query, a handshake or a "
                         "request, and reconnect when cut",
        rule="a query that is not complete in time ends its connection, however busy that looks",
        code="services/listen/connection.c", noisy=True, seconds=130,
        server=["num-threads: 1", "incoming-num-tcp: 100"], limits={"tcp_ms": 3000, "L_udp": 5, "fds": 5},
        variants={"tcp": {"kind": "tcp"}, "tls": {"kind": "tls"}, "https": {"kind": "https"}})
def slowloris(lab, kind, seconds=60):
    ports = Ports(lab, connections=100)
    lab.start()
    lab.ask("www.victim.test")
    port = {"tcp": lab.daemon.port, "tls": ports.tls, "https": ports.https}[kind]
    data = framed(e2e.query("www.victim.test").to_wire()) if kind == "tcp" else b"\x16\3\1\2\0\1\0\1\xfc\3\3" + b"r" * 500
    done = threading.Event()
    with contextlib.ExitStack() as stack:
        dripping = threading.Thread(target=drip, args=(stack, port, data, seconds, done))
        dripping.start()
        took, udp = [], []
        for _ in range(8):
            time.sleep(seconds / 10)
            udp.append(udp_ms(lab))
            took.append(new_tcp_ms(lab, None if kind == "tcp" else ports.tls,
                                   context=None if kind == "tcp" else ports.context("dot")))
        done.set()
        dripping.join()
    return {"tcp_ms": None if None in took else max(took), "L_udp": None if None in udp else max(udp),
            "fds": leaked(lab)}


@attack(48, "greedy-readers", "100 connections ask for 60 kB a thousand times and never read",
        rule="unsent data is limited (stream-wait-size); a client that does not read is no longer read from, and "
             "then disconnected",
        code="services/listen/connection.c", noisy=True, seconds=60,
        server=["num-threads: 1", "incoming-num-tcp: 200", "stream-wait-size: 4m", "tcp-idle-timeout: 5000"],
        limits={"M_kb": 32 << 10, "L_udp": 5, "tcp_ms": 3000, "fds": 5})
def greedy_readers(lab):
    zone = lab.world.serve(Zone("greedy.test"), {"ns.greedy.test.": ATTACKERS[0]})
    texts = " | ".join('"%s"' % (chr(65 + n % 26) * 200 + str(n)) for n in range(250))
    zone.add("big 3600 TXT " + texts.split(" | ")[0])
    big = [record("big.greedy.test", 16, bytes([203]) + (b"%03d" % n) + b"x" * 200, 3600) for n in range(250)]
    lab.world.script(ATTACKERS[0], lambda q: (q.raw(big) if q.tcp else q.reply(tc=True)) if q.name.startswith("big")
                     else zone.answer(q))
    lab.start()
    lab.ask("big.greedy.test", "TXT", tcp=True)
    lab.ask("www.victim.test")
    before = lab.resident_kb()
    q = framed(head() + question("big.greedy.test", 16)) * 1000
    with contextlib.ExitStack() as stack:
        for s in crowd(stack, lab.daemon.port, 100, data=q[:64]):
            with contextlib.suppress(OSError):
                s.send(q[64:])
        time.sleep(1)
        udp, grown = udp_ms(lab), lab.resident_kb() - before
        took = new_tcp_ms(lab)
    return {"M_kb": grown, "L_udp": udp, "tcp_ms": took, "fds": leaked(lab)}


answered(48, "slow-reader", "one who does not read, one who writes a byte now and then", "cut in time, and cheap meanwhile",
         "services/listen/connection.c", "testdata/e2e/test_transport.py::test_a_slow_reader_is_cut_and_costs_little "
         "testdata/e2e/test_transport.py::test_a_slow_writer_is_cut "
         "testdata/e2e/test_doh.py::test_closed_windows_hold_nobody_up")


answered(48, "places", "connections that are silent, send half a question or half a handshake, ask once, or read nothing, from one "
         "address, five or 300, also behind a proxy; questions in progress on all places; connections that come and go",
         "the client that holds the most makes room, and one that is not in use before one that is; what had been asked on a "
         "connection that has gone is dropped at once", "services/listen/connection_table.c services/listen/connection.c:connection_farewells",
         "testdata/e2e/test_crowds.py::test_a_new_client_gets_in_at_once "
         "testdata/e2e/test_crowds.py::test_a_new_client_of_the_same_address_gets_in "
         "testdata/e2e/test_crowds.py::test_who_asks_keeps_its_connection "
         "testdata/e2e/test_crowds.py::test_who_holds_all_places_with_questions_in_progress_loses_one "
         "testdata/e2e/test_crowds.py::test_who_has_gone_waits_no_more")
answered(48, "waiters", "thousands of clients, or a few with large options, ask for one name that is not cached, so that its lookup "
         "needs too much memory", "who waits is kept apart from the lookup, without the options, and bounded by client and in "
         "all: the oldest of who has the most goes", "services/mesh/waiter.c",
         "testdata/e2e/test_crowds.py::test_a_crowd_for_one_cold_name_is_answered "
         "testdata/e2e/test_crowds.py::test_a_crowd_over_connections_joins_in "
         "services/mesh/tests/waiter.c::a_crowd_costs_the_lookup_nothing "
         "services/mesh/tests/waiter.c::who_has_the_most_waiting_makes_room")


@attack(48, "ten-thousand-clients", "10000 connections at once, or as many as the system allows, each asks",
        rule="as many as incoming-num-tcp are served, the others wait for a place",
        code="services/listen/tcp.c daemon/system/fd_limits.c", noisy=True, seconds=120,
        server=["num-threads: 2", "incoming-num-tcp: 7000", "outgoing-range: 512"],
        limits={"answered_percent": at_least(99), "L_udp": 20, "fds": 5})
def ten_thousand(lab):
    import resource
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    count = min(10000, hard - 1000)  # the daemon has as many for itself
    lab.start()
    lab.ask("www.victim.test")
    q = framed(head() + question("www.victim.test"))
    good = 0
    with contextlib.ExitStack() as stack:
        every = []
        for i in range(count):
            s = stack.enter_context(socket.socket())
            s.bind(("127.0.%d.%d" % (1 + i % 200, 1 + i // 200 % 50), 0))
            s.settimeout(30)
            with contextlib.suppress(OSError):
                s.connect((HERE, lab.daemon.port))
                s.send(q)
                every.append(s)
        udp = udp_ms(lab)
        for s in every:
            good += read_message(s) is not None
    return {"clients": count, "answered_percent": 100 * good / count, "L_udp": udp, "fds": leaked(lab)}


# -- 49 HTTP/2 -----------------------------------------------------------------------------------------

@attack(49, "rapid-reset", "50000 streams begun and reset on one connection, while another client asks",
        rule="unproductive frames are counted: 100 excess resets in ten seconds end the connection",
        code="util/net/http2_abuse.c", noisy=True, seconds=60, server=["num-threads: 1"],
        limits={"cut_after_streams": 50000, "M_kb": 4096, "ratio": 2, "lost": 0, "fds": 5})
def rapid_reset(lab):
    from h2client import Client, get_path
    from test_doh import END_HEADERS, RST, http2_frame, odd, request
    ports = Ports(lab)
    lab.start()
    lab.ask("www.victim.test")
    q = e2e.query("www.victim.test")
    with ports.doh() as good:
        def median(seconds):
            took, end = [], time.monotonic() + seconds
            while time.monotonic() < end:
                began = time.monotonic()
                good.ask(q)
                took.append((time.monotonic() - began) * 1000)
            return sorted(took)[len(took) // 2]
        calm = median(1)
        before = lab.resident_kb()
        sent, over = [], threading.Event()

        def flood():
            block = b"\x82\x87\x04" + bytes([len(get_path(q)) & 0x7f]) + get_path(q).encode() + b"\x41\x08dns.test"
            for _ in range(200):
                if over.is_set():
                    return
                with contextlib.suppress(OSError, AssertionError), ports.doh() as bad:
                    for i in range(250):
                        piece = b"".join(request(s, END_HEADERS | 1, block) + http2_frame(RST, 0, s, b"\0\0\0\x08")
                                         for s in odd(1 + 400 * i, 200))
                        if not bad.push(piece):
                            break
                        sent.append(200)
        thread = threading.Thread(target=flood)
        thread.start()
        busy = median(3)
        over.set()
        thread.join()
        with ports.doh() as bad:
            streams = 0
            block = b"\x82\x87\x04" + bytes([len(get_path(q)) & 0x7f]) + get_path(q).encode() + b"\x41\x08dns.test"
            while streams < 60000 and bad.push(b"".join(
                    request(s, END_HEADERS | 1, block) + http2_frame(RST, 0, s, b"\0\0\0\x08")
                    for s in odd(1 + 2 * streams, 200))):
                streams += 200
        lost = sum(a.reset is not None for a in good.answers.values())
        grown = lab.resident_kb() - before
    assert Client
    return {"cut_after_streams": streams, "M_kb": max(0, grown), "ratio": busy / calm, "calm": calm, "busy": busy,
            "lost": lost, "fds": leaked(lab)}


def hoard(client, what, q, count):
    """Fills what is kept of queries (bodies that do not end, or do not begin) or answers (that it does not let go).
    Whether it was cut."""
    from h2.exceptions import ProtocolError
    try:
        if what == "queries":
            for _ in range(count):
                client.begin("POST", "/dns-query", ("content-type", "application/dns-message"), body=b"x" * 12000, end=False)
        elif what == "streams":
            for _ in range(8 * count):
                client.begin("POST", "/dns-query", ("content-type", "application/dns-message"), end=False)
            client.flush()
        else:
            for _ in range(count):
                client.get(q)
        while client.take(0.05):
            pass
    except (OSError, AssertionError, ProtocolError):
        return True
    return client.over


@attack(49, "http-buffers", "two dozen clients fill what is kept of queries or answers over HTTPS, some with as much as they can, some "
        "with little, and come again when they are cut, or open streams and leave it at that; another needs a little of that "
        "room",
        rule="http-query-buffer-size and http-response-buffer-size are never exceeded, streams counted; the client that has the most there "
             "makes way for one that has less", seconds=60, quick=True,
        code="util/net/http2_server.c:may_keep services/listen/connection.c:connection_makes_way",
        server=["num-threads: 1", "http-query-buffer-size: 512k", "http-response-buffer-size: 512k", "access-control: "
                "198.18.0.0/15 allow", "extended-statistics: yes"],
        variants={k: {"what": k} for k in ("queries", "streams", "answers")}, limits={"kept_percent": Limit("50 to 100", lambda v: 50 <= v <= 100), "refused": 0, "M_kb": 16384, "fds": 5})
def http_buffers(lab, what):
    from h2.settings import SettingCodes
    from h2client import Client
    zone = lab.world.serve(Zone("greedy.test"), {"ns.greedy.test.": ATTACKERS[0]})
    big = [record(b"\xc0\x0c", 16, bytes([203]) + (b"%03d" % n) + b"x" * 200, 3600) for n in range(120)]
    lab.world.script(ATTACKERS[0], lambda q: (q.raw(big) if q.tcp else q.reply(tc=True)) if q.name.startswith("big")
                     else zone.answer(q))
    ports = Ports(lab)
    lab.start()
    lab.ask("big.greedy.test", "TXT", tcp=True)
    q = e2e.query("big.greedy.test", "TXT")
    context = ports.context("h2")
    before, refused, kept = lab.resident_kb(), 0, 0
    with contextlib.ExitStack() as stack:
        def greedy(n):
            c = stack.enter_context(Client(ports.https, context, source="198.18.30.%d" % n))
            if what == "answers":
                c.h2.update_settings({SettingCodes.INITIAL_WINDOW_SIZE: 0})
            return c
        crowd_of = {n: greedy(n) for n in range(1, 25)}
        for turn in range(2):
            for n, c in crowd_of.items():
                if hoard(c, what, q, 12 if n % 2 else 1) and not turn:
                    crowd_of[n] = greedy(n)
            kept = max(kept, lab.daemon.stats()["mem.http.response_buffer" if what == "answers" else "mem.http.query_buffer"])
            good = stack.enter_context(Client(ports.https, context, source="198.18.31.1"))
            if what != "answers":
                wire = q.to_wire()
                stream = good.begin("POST", "/dns-query", ("content-type", "application/dns-message"), body=wire[:20], end=False)
                good.h2.send_data(stream, wire[20:], end_stream=True)
                good.flush()
                answers = [good.wait(stream)]
            else:
                answers = good.wait(*[good.get(q) for _ in range(3)])
            refused += sum(a.reset is not None or a.status != 200 for a in answers)
        grown = lab.resident_kb() - before
    return {"kept_percent": 100 * kept / (512 << 10), "refused": refused, "M_kb": max(0, grown), "fds": leaked(lab)}


for name, what in (("made_you_reset", "streams that the server is made to reset (MadeYouReset)"),
                   ("continuations", "endless header blocks"), ("empty_continuations", "and with nothing in them"),
                   ("header_bomb", "small headers that become large"), ("settings", "settings without end"),
                   ("pings", "pings without end"), ("priorities", "priorities without end"),
                   ("nothing_at_all", "pieces of a body with nothing in them"),
                   ("tiny_windows", "a window of a byte, again and again")):
    answered(49, "http2-" + name.replace("_", "-"), what, "the connection is closed, memory does not grow, others "
                                                          "are served",
             "util/net/http2_abuse.c", "testdata/e2e/test_doh.py::test_a_flood_is_cut_and_others_are_served "
             "testdata/e2e/test_doh.py::" + name)
answered(49, "http2-forwarder", "a forwarder over HTTPS that sends frames of no use instead of an answer, without end: empty DATA, "
         "padding, informational answers, header blocks, SETTINGS, PING, WINDOW_UPDATE, types nobody knows",
         "a thousand frames that answer nothing in ten seconds, or 4 MB beyond the answers, end the connection",
         "util/net/http2_abuse.c util/net/http2_client.c",
         "testdata/e2e/test_upstreams.py::test_a_flood_instead_of_an_answer_costs_little")
answered(49, "http2-streams", "more streams than are allowed; bodies and questions without end",
         "100 streams, 64 KiB of a body, 16 KiB of headers; buffers have budgets", "util/net/http2_server.c",
         "testdata/e2e/test_doh.py::test_no_more_streams_than_are_allowed "
         "testdata/e2e/test_doh.py::test_questions_that_never_end_are_bounded "
         "testdata/e2e/test_doh.py::test_each_mistake_has_its_status")


# -- 50 TLS --------------------------------------------------------------------------------------------

HELLO = b"\x16\3\1\0\x40\1\0\0\x3c\3\3" + b"r" * 32  # the beginning of one


@attack(50, "half-handshakes", "500 clients begin a handshake and go no further; ClientHellos that claim to be huge",
        rule="a handshake not finished in time ends the connection; connections in a handshake count like all "
             "others",
        code="services/listen/connection.c util/net/tls.c", noisy=True, seconds=60,
        server=["num-threads: 1"], limits={"tls_ms": 3000, "tcp_ms": 3000, "L_udp": 5, "M_kb": 40 << 10, "fds": 5},
        variants={"stalled": {"data": HELLO}, "huge": {"data": b"\x16\3\1\x40\0\1\xff\xff\xff\3\3" + b"r" * 16000},
                  "junk": {"data": os.urandom(600)}})
def half_handshakes(lab, data):
    ports = Ports(lab, connections=200)
    lab.start()
    lab.ask("www.victim.test")
    before = lab.resident_kb()
    with contextlib.ExitStack() as stack:
        crowd(stack, ports.tls, 500, data=data)
        udp = udp_ms(lab)
        tls = new_tcp_ms(lab, ports.tls, context=ports.context("dot"))
        tcp = new_tcp_ms(lab)
        grown = lab.resident_kb() - before
    return {"tls_ms": tls, "tcp_ms": tcp, "L_udp": udp, "M_kb": grown, "fds": leaked(lab)}


answered(50, "tls-manners", "nonsense, plain questions at the port, old versions; keys that change",
         "TLS 1.2 and 1.3, no renegotiation, no early data; tickets bound to ALPN", "util/net/tls.c",
         "testdata/e2e/test_tls.py::test_nonsense_harms_nobody "
         "testdata/e2e/test_tls.py::test_a_plain_question_at_the_port_is_not_answered "
         "testdata/e2e/test_doh.py::test_ticket_keys_outlive_the_daemon "
         "testdata/e2e/test_tls.py::test_a_netblock_has_its_share_of_connections")

# -- 51 upstream TLS, 52 QUIC, 53 PROXY ------------------------------------------------------------------

answered(51, "upstream-untrusted", "an upstream that cannot show who it is, or speaks plain text at the port of TLS",
         "no query is sent, and none in cleartext; servers that are not authenticated are named at startup", "services/upstream/connection.c",
         "testdata/e2e/test_upstreams.py::test_who_cannot_show_who_it_is_is_never_asked "
         "testdata/e2e/test_upstreams.py::test_nothing_is_sent_in_clear_where_there_is_no_tls "
         "testdata/e2e/test_tls.py::test_who_is_not_who_was_meant_is_not_asked "
         "testdata/e2e/test_tls.py::test_without_a_name_whoever_answers_is_believed_and_that_is_said")
excused(52, "quic", "budgets and flow control of QUIC", "DNS over QUIC is not offered")
answered(53, "proxy", "headers from strangers, missing ones, endless ones, forged addresses in them",
         "accepted only from configured proxies, at most 512 bytes, in time; then access control and limits apply "
         "to the client named",
         "services/listen/connection.c", "testdata/e2e/test_proxy.py::test_whose_headers_are_believed_can_be_said "
         "testdata/e2e/test_proxy.py::test_who_shows_no_header_is_not_served "
         "testdata/e2e/test_proxy.py::test_who_never_shows_a_header_is_cut "
         "testdata/e2e/test_proxy.py::test_access_is_that_of_the_client")


@attack(53, "proxied-strangers", "60000 IPv6 addresses, each once, named by a proxy in the clients' place, where addresses have limits; "
        "and headers of all families, commands and lengths",
        rule="what is counted of clients has a fixed size; a header that is not whole, or of no family known, is dropped",
        code="services/access/ratelimit.c util/net/proxy2.c", seconds=40, server=["ip-ratelimit: 10", "answer-cookie: yes", "access-control: ::/0 allow"],
        limits={"M_kb": 16384, "C_each": 0.2, "answered": at_least(10000)})
def proxied_strangers(lab, count=60000):
    port = e2e.free_port()
    lab.option("proxy-protocol-port: %d" % port, "interface: 127.0.0.1@%d" % port)
    lab.start()
    kb, before, got = lab.resident_kb(), lab.cpu_ms(), 0
    start, ask = b"\r\n\r\n\0\r\nQUIT\n", head() + question("www.victim.test")
    with socket.socket(type=socket.SOCK_DGRAM) as s:
        s.connect((HERE, port))
        s.settimeout(0.2)
        for n in range(count):
            source = os.urandom(16)
            s.send(start + b"\x21\x22\0\x24" + source + b"\0" * 15 + b"\1" + struct.pack("!HH", n & 0xffff, 53) + ask)
            with contextlib.suppress(OSError):
                for _ in range(20 if n % 20 == 19 else 0):
                    got += bool(s.recv(4096))
        grown, cost = lab.resident_kb() - kb, (lab.cpu_ms() - before) / count
        for command in (0, 0x11, 0x20, 0x21, 0x22, 0x2f):
            for family in (0, 0x10, 0x11, 0x12, 0x21, 0x22, 0x31, 0x32, 0xff):
                for said, there in ((0, 0), (1, 12), (11, 12), (12, 12), (36, 12), (36, 36), (216, 216), (512, 36), (513, 600), (65535, 300)):
                    s.send(start + struct.pack("!BBH", command, family, said) + b"\4\xff\xff" * (there // 3) + ask)
    time.sleep(2.5)    # headers of the proxy's own questions counted for this address
    return {"M_kb": max(0, grown), "C_each": cost, "answered": got}


# -- 54 headers ----------------------------------------------------------------------------------------

def odd_headers():
    q = question("new.victim.test")
    yield from (head(flags=op << 11 | 0x100) + q for op in range(1, 16))
    yield from (head(qd=n) + q * min(n, 2) for n in (0, 2, 3, 65535))
    yield from (head(an=n) + q for n in (1, 65535))
    yield from (head(ns=n) + q for n in (1, 65535))
    yield from (head(ar=n) + q for n in (1, 65535))
    yield from (head() + question("new.victim.test", t) for t in (41, 249, 250, 251, 252))
    yield from (head() + question("new.victim.test", 1, c) for c in (0, 2, 4, 254, 255, 65280))
    tsig = b"\1k\0" + struct.pack("!HHIH", 250, 255, 0, 26) + b"\x0bhmac-sha256\0\0\0\0\0\0\0\1\x2c\0\0\0\0\0\0\0\0"
    yield head(ar=1) + q[:-4] + b"\0\1\0\1" + tsig[:16] + b"\0" * 12
    yield head(ar=2) + question("new.victim.test", 249) + tsig + opt()
    yield head(ar=1) + question("new.victim.test", 249) + b"\0" + struct.pack("!HHIH", 249, 255, 0, 4) + b"abcd"
    yield head(flags=0x2000, an=1) + question("victim.test", 6) + b"\xc0\x0c" + struct.pack("!HHIH", 6, 1, 0, 2) + b"ab"


@attack(54, "loops", "answers and errors of every opcode and RCODE, and packets too short for a header, at the port where questions are answered: "
        "two servers that answer each other's errors never end",
        rule="what bears QR, or is no header, is not answered", code="util/dns/msg_read.c:msg_read_request", quick=True, limits={"said": 0, "U": 0})
def loops(lab):
    lab.start()
    mark, said = lab.mark(), 0
    with socket.socket(type=socket.SOCK_DGRAM) as s:
        s.connect((HERE, lab.daemon.port))
        s.settimeout(0.5)
        for n in range(256):
            for flags in (0x8000, 0x8180, 0x8580):
                for body in (question("new.victim.test"), b"", b"\0\0\0"):
                    s.send(head(flags=flags | n >> 4 << 11 | n & 15, qd=int(bool(body))) + body)
        for n in range(12):
            s.send(b"\x80" * n)
            s.send(b"\0" * n)
        with contextlib.suppress(OSError):
            while s.recv(4096):
                said += 1
    return {"said": said, "U": lab.upstream(mark, 0.5)}


@attack(54, "header-abuse", "opcodes, counts, meta types and classes, TSIG, TKEY, NOTIFY and UPDATE, over UDP and TCP",
        rule="FORMERR, NOTIMP or REFUSED at once, before anything is looked up",
        code="daemon/worker/frontend.c util/dns/msg.c", noisy=True, seconds=40, limits={"U": 0, "C_each": 0.1, "answers": 0})
def header_abuse(lab):
    lab.start()
    packets = list(odd_headers())
    mark = lab.mark()
    answers = 0
    for p in packets:
        for how in (exchange, over_tcp):
            r = how(lab, p, timeout=0.15)
            answers += bool(r) and r[3] & 15 in (0, 3) and r[2] & 0x78 == 0
    u = lab.upstream(mark, 1)
    before = lab.cpu_ms()
    with socket.socket(type=socket.SOCK_DGRAM) as s:
        s.connect((HERE, lab.daemon.port))
        for i in range(4000):
            s.send(packets[i % len(packets)])
            if i % 40 == 39:
                time.sleep(0.002)
    time.sleep(0.3)
    return {"U": u, "C_each": (lab.cpu_ms() - before) / 4000, "answers": answers}
