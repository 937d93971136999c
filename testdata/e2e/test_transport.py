"""UDP and TCP from the client's side: sizes, order, patience, limits.

SPDX-License-Identifier: BSD-3-Clause
"""

import socket
import struct
import time

import dns.flags
import dns.message
import pytest

from lab import frame, is_closed, query, rcode, read_exactly, read_message, texts


@pytest.mark.parametrize("tcp", [False, True])
def test_an_answer_has_the_right_header(shared, tcp):
    r = shared.ask("target.chain.mini.", tcp=tcp)
    assert r.flags & (dns.flags.QR | dns.flags.RD | dns.flags.RA) == dns.flags.QR | dns.flags.RD | dns.flags.RA
    assert not r.flags & (dns.flags.AA | dns.flags.TC | dns.flags.AD)
    assert texts(r) == ["198.18.0.40"]


def test_rd_comes_back_as_it_was_sent(shared):
    shared.ask("target.chain.mini.")
    r = shared.ask("target.chain.mini.", flags=0)
    assert not r.flags & dns.flags.RD and r.flags & dns.flags.RA


def test_cd_comes_back_as_it_was_sent(shared):
    r = shared.ask("target.chain.mini.", flags=dns.flags.RD | dns.flags.CD)
    assert r.flags & dns.flags.CD


@pytest.mark.parametrize("payload, edns", [(512, -1), (512, 0), (1232, 0), (4096, 0), (65535, 0), (100, 0)])
def test_no_answer_is_larger_than_the_client_said(shared, payload, edns):
    """RFC 6891 6.2.3: less than 512 counts as 512; ours is a limit as well."""
    for name, rrtype in (("txt2000.big.info.", "TXT"), ("a200.big.info.", "A"), ("a40.big.info.", "A")):
        wire = shared.send(query(name, rrtype, edns=edns, payload=payload).to_wire(), timeout=10)
        limit = min(max(payload, 512) if edns >= 0 else 512, 1232)
        assert len(wire) <= limit
        r = dns.message.from_wire(wire)
        assert r.edns == edns
        if r.flags & dns.flags.TC:
            whole = shared.ask(name, rrtype, tcp=True)
            assert len(whole.to_wire()) > limit
        else:
            assert sum(len(s) for s in r.answer) == sum(len(s) for s in shared.ask(name, rrtype, tcp=True).answer)


def test_an_answer_of_nearly_64_kB_goes_through_tcp(shared):
    r = shared.ask("txt60000.big.mini.", "TXT", tcp=True)
    assert sum(len(s) for rd in r.answer[0] for s in rd.strings) == 60000 - 60000 // 201
    assert shared.ask("txt60000.big.mini.", "TXT", udp_only=True).flags & dns.flags.TC


def test_pipelined_questions_are_answered_out_of_order(shared):
    """RFC 7766 6.2.1.1: a slow one does not hold up a fast one."""
    shared.ask("target.chain.mini.")
    slow, fast = query("unasked-%d.slow.mini." % time.time_ns()), query("target.chain.mini.")
    with shared.tcp() as s:
        s.sendall(frame(slow) + frame(fast))
        assert [read_message(s).id for _ in range(2)] == [fast.id, slow.id]


def test_a_hundred_questions_in_one_write(shared):
    asked = {q.id: q for q in (query("h%d.w.%s" % (i, "chain.mini." if i % 2 else "rsa.mini.")) for i in range(100))}
    with shared.tcp() as s:
        s.sendall(b"".join(frame(q) for q in asked.values()))
        got = [read_message(s) for _ in range(len(asked))]
    assert {m.id for m in got} == set(asked)
    for m in got:
        assert m.question == asked[m.id].question
        assert rcode(m) == ("NXDOMAIN" if "chain" in m.question[0].name.to_text() else "NOERROR")


def test_a_question_may_come_byte_by_byte(shared):
    q = query("target.chain.mini.")
    with shared.tcp() as s:
        for byte in frame(q):
            s.sendall(bytes([byte]))
            time.sleep(0.002)
        assert read_message(s).id == q.id
        s.sendall(frame(q))
        assert read_message(s).id == q.id


def test_a_client_may_close_its_half(shared):
    """It has said all it wanted to, and still listens."""
    q = query("unasked-%d.w.rsa.mini." % time.time_ns())
    with shared.tcp() as s:
        s.sendall(frame(q))
        s.shutdown(socket.SHUT_WR)
        assert read_message(s).id == q.id


@pytest.mark.parametrize("data", [b"\0\0", b"\0\5hello", b"\0\x0b" + b"x" * 11, struct.pack("!H", 65535) + b"x" * 100],
                         ids=["empty", "no header", "noise", "cut"])
def test_nonsense_over_tcp_harms_nobody_else(shared, data):
    q = query("target.chain.mini.")
    with shared.tcp() as other, shared.tcp() as s:
        s.sendall(data)
        other.sendall(frame(q))
        assert read_message(other).id == q.id
    assert shared.alive()


def test_an_idle_connection_is_closed(daemon):
    with daemon("tcp-idle-timeout: 700") as d:
        with d.tcp() as idle, d.tcp() as used:
            used.sendall(frame(query("target.chain.mini.")))
            read_message(used)
            began = time.monotonic()
            assert is_closed(idle, 6)
            assert is_closed(used, 6)
            assert time.monotonic() - began > 0.3


def test_a_slow_writer_is_cut(daemon):
    """A byte now and then is no way to keep a connection."""
    with daemon("tcp-idle-timeout: 700") as d:
        with d.tcp() as s:
            data = frame(query("target.chain.mini."))
            began = time.monotonic()
            with pytest.raises(OSError):
                while time.monotonic() - began < 10:
                    s.sendall(data[:1])
                    data = data[1:] or data
                    time.sleep(0.3)
            assert time.monotonic() - began < 10


def test_a_slow_reader_is_cut_and_costs_little(daemon):
    """It asks for 60 kB again and again and reads nothing: others do not notice, and it is cut."""
    with daemon("tcp-idle-timeout: 1500", "num-threads: 1") as d:
        d.ask("txt60000.big.mini.", "TXT", tcp=True)
        before = resident_kb(d)
        with d.tcp() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.setblocking(False)
            many = frame(query("txt60000.big.mini.", "TXT")) * 2000
            sent = 0
            deadline = time.monotonic() + 3
            while time.monotonic() < deadline and sent < len(many):
                try:
                    sent += s.send(many[sent:])
                except BlockingIOError:
                    time.sleep(0.05)
                except OSError:
                    break
                assert texts(d.ask("target.chain.mini.", timeout=3)) == ["198.18.0.40"]
            assert resident_kb(d) - before < 40_000
            s.setblocking(True)
            s.settimeout(10)
            deadline = time.monotonic() + 10
            while time.monotonic() < deadline:
                try:
                    s.send(b"\0")
                except OSError:
                    break
                time.sleep(0.2)
            else:
                pytest.fail("still connected after 13 s")


def resident_kb(d):
    with open("/proc/%d/status" % d.process.pid, encoding="ascii") as f:
        return int(next(line for line in f if line.startswith("VmRSS")).split()[1])


def test_the_number_of_connections_is_limited(daemon):
    """incoming-num-tcp: who comes beyond it waits or is closed, or somebody idle has to go; never are
    more open than allowed. UDP goes on, and room comes back."""
    with daemon("incoming-num-tcp: 4", "num-threads: 1", "tcp-idle-timeout: 30000") as d:
        d.ask("target.chain.mini.")
        crowd = [d.tcp() for _ in range(12)]
        served = []
        for s in crowd:
            s.settimeout(0.4)
            try:
                s.sendall(frame(query("target.chain.mini.")))
                read_message(s)
                served.append(s)
            except (EOFError, OSError):
                pass
        assert served
        assert sum(not is_closed(s, 0.05) for s in served) <= 4
        assert texts(d.ask("target.chain.mini.", udp_only=True, timeout=2)) == ["198.18.0.40"]
        for s in crowd:
            s.close()
        time.sleep(0.3)
        assert texts(d.ask("target.chain.mini.", tcp=True, timeout=5)) == ["198.18.0.40"]


def test_a_connection_that_is_reset_takes_its_questions_with_it(shared):
    for _ in range(20):
        s = shared.tcp()
        s.sendall(frame(query("unasked-%d.slow.mini." % time.time_ns())) * 5)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        s.close()
    time.sleep(0.6)
    assert texts(shared.ask("target.chain.mini.")) == ["198.18.0.40"]


def test_replies_leave_from_the_address_that_was_asked(daemon):
    with daemon("interface: 127.9.9.1", "interface: 127.9.9.2", "access-control: 127.0.0.0/8 allow") as d:
        for address in ("127.9.9.1", "127.9.9.2"):
            with socket.socket(type=socket.SOCK_DGRAM) as s:
                s.settimeout(5)
                s.sendto(query("target.chain.mini.").to_wire(), (address, d.port))
                assert s.recvfrom(4096)[1] == (address, d.port)


def test_a_wildcard_socket_answers_from_the_address_that_was_asked(daemon):
    d = daemon("interface-automatic: yes", "access-control: 127.0.0.0/8 allow")
    d.fixed[0] = "interface: 0.0.0.0"
    d.configure(["interface-automatic: yes", "access-control: 127.0.0.0/8 allow"])
    with d:
        with socket.socket(type=socket.SOCK_DGRAM) as s:
            s.settimeout(5)
            s.sendto(query("target.chain.mini.").to_wire(), ("127.9.9.3", d.port))
            assert s.recvfrom(4096)[1] == ("127.9.9.3", d.port)


def test_tcp_and_udp_can_each_be_off(daemon):
    with daemon("do-tcp: no") as d:
        with pytest.raises(ConnectionRefusedError):
            d.tcp(1)
        assert texts(d.ask("target.chain.mini.")) == ["198.18.0.40"]


def test_udp_that_is_read_late_is_not_lost(shared):
    """A burst of fifty from one socket is answered fifty times."""
    with socket.socket(type=socket.SOCK_DGRAM) as s:
        s.connect(("127.0.0.1", shared.port))
        s.settimeout(5)
        asked = {query("b%d.w.rsa.mini." % i).to_wire() for i in range(50)}
        for wire in asked:
            s.send(wire)
        assert {s.recv(4096)[:2] for _ in range(50)} == {w[:2] for w in asked}


def test_the_length_of_a_tcp_answer_is_that_of_the_answer(shared):
    with shared.tcp() as s:
        s.sendall(frame(query("a200.big.info.")))
        size = struct.unpack("!H", read_exactly(s, 2))[0]
        data = read_exactly(s, size)
        assert len(dns.message.from_wire(data).answer[0]) == 200
        s.settimeout(0.3)
        with pytest.raises(OSError):
            s.recv(1)
