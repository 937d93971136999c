"""Streams, of servers and of clients, that bring bytes without end and no message of use (entries 27, 48, 50).

SPDX-License-Identifier: BSD-3-Clause
"""

import contextlib
import shutil
import socket
import struct
import subprocess
import threading
import time

from frame.authority import record
from frame.crowd import HERE, Ports, framed, head, leaked, new_tcp_ms, question
from frame.declare import at_least, attack
from frame.world import ATTACKERS, Zone

TRUTH = "192.0.2.80"


# -- 27 servers over TCP ---------------------------------------------------------------------------------

def pour(conn, piece, pause, seconds=15):
    """Bytes into a connection, from a thread of its own, until it is closed or the time is over."""
    def run():
        deadline = time.monotonic() + seconds
        with contextlib.suppress(OSError), conn:
            while time.monotonic() < deadline:
                conn.send(piece)
                time.sleep(pause)
    conn.setblocking(True)
    conn.settimeout(2)
    threading.Thread(target=run, daemon=True).start()


@attack(27, "tcp-noise", "cut over UDP; over TCP an answer of which a byte comes now and then, answers to nobody's question without end, "
        "with another id or name, messages of no length or of one byte",
        rule="an answer has tcp-auth-query-timeout to be complete; the third message that answers nothing ends the connection",
        code="services/upstream/tcp.c:STRAYS_MOST util/conf/options.def:tcp_auth_query_timeout", quick=True,
        variants={"drip": {"noise": b"\0", "pause": 0.3}, "strangers": {"noise": None}, "other-name": {"noise": b"\1x"},
                  "empty": {"noise": b"\0\0" * 20000}, "byte": {"noise": b"\0\1x" * 20000}},
        limits={"U": 12, "R": "SERVFAIL", "took_s": 12, "C_ms": 50, "conns": 2})
def tcp_noise(lab, noise, pause=0):
    lab.world.serve(Zone("noise.test"), {"ns.noise.test.": ATTACKERS[0]})

    def answer(q):
        if not q.tcp:
            return q.raw(flags=0x8600)
        piece = noise
        if pause:
            q.conn.send(struct.pack("!H", 60000))
        elif noise is None:
            piece = framed(q.raw([record(q.name, 1, socket.inet_aton(TRUTH))], qid=q.id ^ 1)) * 200
        elif len(noise) == 2:
            piece = framed(q.raw([record(q.name, 1, socket.inet_aton(TRUTH))], question=noise + q.question)) * 200
        pour(q.conn.dup(), piece, pause)
        return None
    lab.world.script(ATTACKERS[0], answer)
    lab.start()
    before = lab.cpu_ms()
    r = lab.ask("www.noise.test", timeout=15)
    return {"U": lab.upstream(), "R": r.rcode, "took_s": r.took_s, "C_ms": lab.cpu_ms() - before,
            "conns": sum(h.transport == "conn" for h in lab.since())}


# -- 48 clients over TCP and TLS -------------------------------------------------------------------------

@attack(48, "empty-messages", "megabytes of messages of no length, of a byte, or of one less than a header, over TCP and TLS",
        rule="what is shorter than a header ends the connection", code="services/listen/frames.c:MESSAGE_LEAST", noisy=True,
        variants={"none": {"piece": b"\0\0"}, "byte": {"piece": b"\0\1x"}, "eleven": {"piece": b"\0\x0b" + b"x" * 11}},
        limits={"C_ms": 100, "L_worst": 100, "lost": 0, "M_kb": 4096, "fds": 5})
def empty_messages(lab, piece):
    ports = Ports(lab)
    lab.start()
    kb, before = lab.resident_kb(), lab.cpu_ms()
    with lab.latency() as l:
        for connect in (lambda: socket.create_connection((HERE, lab.daemon.port), 5), ports.dot):
            for _ in range(5):
                with contextlib.suppress(OSError), connect() as s:
                    for _ in range(20):
                        s.sendall(piece * 30000)
    return {"C_ms": lab.cpu_ms() - before, "L_worst": l["worst_ms"], "lost": l["lost"], "M_kb": max(0, lab.resident_kb() - kb),
            "fds": leaked(lab)}


@attack(48, "pipelines", "four connections that ask for what is cached without end, and read as fast as they can",
        rule="a connection has 128 questions in work, and its turn like all others", code="services/listen/connection.h:ASKED_MOST",
        noisy=True, server=["num-threads: 1"], limits={"L_worst": 100, "L_median": 5, "tcp_ms": 500, "lost": 0, "answered": at_least(1000)})
def pipelines(lab, seconds=4):
    lab.start()
    over, taken = threading.Event(), []
    many = framed(head() + question("www.victim.test")) * 500

    def sink(s):
        with contextlib.suppress(OSError):
            while got := len(s.recv(1 << 20)):
                taken.append(got)

    def flood():
        with contextlib.suppress(OSError), socket.create_connection((HERE, lab.daemon.port), 5) as s:
            threading.Thread(target=sink, args=(s,), daemon=True).start()
            while not over.is_set():
                s.sendall(many)
    with lab.latency() as l:
        for _ in range(4):
            threading.Thread(target=flood, daemon=True).start()
        time.sleep(seconds / 2)
        tcp = new_tcp_ms(lab)
        time.sleep(seconds / 2)
        over.set()
    return {"L_worst": l["worst_ms"], "L_median": l["median_ms"], "lost": l["lost"], "tcp_ms": tcp, "answered": sum(taken) // 50}


# -- 50 TLS ----------------------------------------------------------------------------------------------

@attack(50, "key-updates", "a client over TLS 1.3 that changes its keys, and wants ours changed, a thousand times a second",
        rule="the TLS library ends a connection after 32 changes of keys with nothing between them", code="util/net/tls.c", noisy=True,
        limits={"updates": 200, "C_ms": 100, "L_worst": 100, "lost": 0, "fds": 5})
def key_updates(lab, seconds=10):
    ports = Ports(lab)
    lab.start()
    before, count = lab.cpu_ms(), 0
    with lab.latency() as l, subprocess.Popen(
            [shutil.which("openssl"), "s_client", "-tls1_3", "-connect", "%s:%d" % (HERE, ports.tls)], stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as p:
        deadline = time.monotonic() + seconds
        with contextlib.suppress(OSError):
            while p.poll() is None and time.monotonic() < deadline:
                p.stdin.write(b"K\n")
                p.stdin.flush()
                count += 1
                time.sleep(0.001)
        p.kill()
        with contextlib.suppress(OSError):
            p.stdin.close()
    return {"updates": count, "C_ms": lab.cpu_ms() - before, "L_worst": l["worst_ms"], "lost": l["lost"], "fds": leaked(lab)}
