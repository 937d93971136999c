"""An upstream over TLS or HTTPS that plays a part, and a client that loses nothing it is not made to lose.

SPDX-License-Identifier: BSD-3-Clause
"""

import contextlib
import selectors
import socket
import ssl
import struct
import threading
import time

import h2.config
import h2.connection
import h2.events
import h2.exceptions

from lab import ADDRESS, TcpServer

ANSWER = bytes([198, 18, 7, 7])
BURST = 100


def question_end(wire):
    """Where the first question ends."""
    at = 12
    while wire[at]:
        at += 1 + wire[at]
    return at + 5


def qname(wire):
    labels, at = [], 12
    while wire[at]:
        labels.append(wire[at + 1:at + 1 + wire[at]].decode("latin-1"))
        at += 1 + wire[at]
    return ".".join(labels) + "."


def respond(wire, other_id=False, other_name=False, cut=False, rest=None):
    """An answer: the one address to every question for A, nothing to others. `rest`: how long the connection
    may be idle, in tenths of a second."""
    end = question_end(wire)
    is_a = wire[end - 4:end - 2] == b"\0\1"
    question = bytearray(wire[12:end])
    if other_name:
        question[1] ^= 1
    ident = struct.unpack("!H", wire[:2])[0] ^ (1 if other_id else 0)
    opt = b"" if rest is None else b"\0\0\x29\4\xd0\0\0\0\0\0\6\0\x0b\0\2" + struct.pack("!H", rest)
    head = struct.pack("!HHHHHH", ident, 0x8780 if cut else 0x8580, 1, int(is_a), 0, int(bool(opt)))
    record = b"\xc0\x0c\0\1\0\1\0\0\1\x2c\0\4" + ANSWER
    return head + bytes(question) + (record if is_a else b"") + opt


def ask(port, wire):
    with socket.create_connection((ADDRESS, port), 10) as s, s.makefile("rb") as f:
        s.sendall(struct.pack("!H", len(wire)) + wire)
        return f.read(struct.unpack("!H", f.read(2))[0])


def h2_frame(kind, flags, stream, payload=b""):
    return struct.pack("!I", len(payload))[1:] + bytes([kind, flags]) + struct.pack("!I", stream) + payload


# What a server may send without end, on the stream of a question: whether the head of an answer comes first, a frame.
FLOODS = {
    "data": (True, lambda stream: h2_frame(0, 0, stream)),
    "padding": (True, lambda stream: h2_frame(0, 8, stream, b"\xff" + b"\0" * 256)),
    "informational": (False, lambda stream: h2_frame(1, 4, stream, b"\x08\x03103")),
    "headers": (False, lambda stream: h2_frame(1, 0, stream, b"\x08\x03200") + h2_frame(9, 0, stream, b"\x88" * 16000) * 50),
    "settings": (False, lambda stream: h2_frame(4, 0, 0)),
    "ping": (False, lambda stream: h2_frame(6, 0, 0, b"12345678")),
    "window": (False, lambda stream: h2_frame(8, 0, 0, struct.pack("!I", 1))),
    "unknown": (False, lambda stream: h2_frame(0x40, 0, 0, b"\0" * 16384)),
}


class Faulty(TcpServer):
    """`act` is one of
        good          answers everything
        close-early   closes every second connection at its first question
        gone          closes every one of them
        once          closes after each answer
        limit         resets a connection whenever `limit` questions were asked, on whatever connection
        few           closes a connection politely after `limit` answers on it
        delay         answers a tenth of a second later
        reorder       answers what has come in, the last first
        truncate      breaks off in the middle of an answer, every `limit` questions
        cut           says its answers are cut
        mute          shakes hands and never answers
        deaf          accepts and never shakes hands
        drip, sip     a byte a second, a byte a millisecond
        other-id, other-name
    and over HTTPS also
        status        503 to everything
        type          answers of another content type
        big           an answer of 100 kB
        goaway        takes leave after `limit` questions
        refuse        refuses every second request without looking at it
        no-h2         speaks HTTP/1.1 only
        flood-…       sends such frames without end (FLOODS)
    With a port to `ask` the answers are those of the server there."""

    def __init__(self, ca, act="good", cert="good", https=False, limit=0, ask=None, rest=None):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(ca.path(cert + ".pem"), ca.path(cert + ".key"))
        self.context.set_alpn_protocols(["http/1.1"] if act == "no-h2" else ["h2"] if https else ["dot"])
        self.act, self.https, self.limit, self.ask, self.rest = act, https, limit, ask, rest
        self.asked, self.shaken, self.resumed, self.total, self.resets = [], 0, 0, 0, 0
        self.headers, self.lock = [], threading.Lock()
        self.open, self.open_most, self.names, self.versions, self.ciphers, self.wires = 0, 0, [], [], [], []
        self.alpn, self.flooded = [], 0
        self.context.sni_callback = lambda s, name, context: self.names.append(name)
        super().__init__()
        self.place = "%s@%d" % (ADDRESS, self.port)
        self.at = self.place + "#dns.test"

    def serve(self, conn, number):
        with conn, contextlib.suppress(EOFError, OSError, h2.exceptions.ProtocolError):
            conn.settimeout(20)
            conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.act == "deaf":
                time.sleep(8)
                return
            with self.context.wrap_socket(conn, server_side=True) as s:
                with self.lock:
                    self.shaken += 1
                    self.resumed += s.session_reused
                    self.open += 1
                    self.open_most = max(self.open, self.open_most)
                self.versions.append(s.version())
                self.alpn.append(s.selected_alpn_protocol())
                self.ciphers.append(s.cipher()[0])
                try:
                    (Requests if self.https else Frames)(self, s, number).converse()
                finally:
                    with self.lock:
                        self.open -= 1

    def count(self):
        """One more question; whether it is one of those that cost the connection."""
        with self.lock:
            self.total += 1
            return bool(self.limit) and self.total % self.limit == 0

    def reset(self, s):
        with self.lock:
            self.resets += 1
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raise EOFError


class Conversation:
    def __init__(self, upstream, s, number):
        self.upstream, self.s, self.number, self.answered = upstream, s, number, 0

    def read(self):
        """All that has come, in however many records it did."""
        patience = self.s.gettimeout()
        data = more = self.s.recv(65536)
        self.s.settimeout(0)
        with contextlib.suppress(ssl.SSLWantReadError):
            while more:
                more = self.s.recv(65536)
                data += more
        self.s.settimeout(patience)
        if not data:
            raise EOFError
        return data

    def write(self, data):
        pause = {"drip": 1, "sip": 0.001}.get(self.upstream.act)
        if pause is None:
            self.s.sendall(data)
            return
        for byte in data:
            self.s.sendall(bytes([byte]))
            time.sleep(pause)

    def turn(self, questions):
        """What to answer to some questions that came together; `send` for each, in order."""
        u = self.upstream
        out = []
        for key, wire in questions:
            u.asked.append(qname(wire))
            u.wires.append(wire)
            over = u.count()
            if u.act == "gone" or (u.act == "close-early" and self.number % 2):
                raise EOFError
            if over and u.act == "limit":
                self.send(out)
                u.reset(self.s)
            reply = ask(u.ask, wire) if u.ask else respond(wire, u.act == "other-id", u.act == "other-name", u.act == "cut",
                                                                  u.rest)
            if over and u.act == "truncate":
                self.send(out)
                self.send_half(key, reply)
                raise EOFError
            out.append((key, reply))
        if u.act == "mute":
            return
        if u.act == "delay":
            time.sleep(0.1)
        if u.act == "reorder":
            out.reverse()
        if u.act in ("once", "few"):
            most = 1 if u.act == "once" else u.limit
            out = out[:most - self.answered]
        self.answered += len(out)
        self.send(out)
        if u.act == "once" or (u.act == "few" and self.answered >= u.limit):
            raise EOFError


class Frames(Conversation):
    def converse(self):
        data = b""
        while True:
            data += self.read()
            questions = []
            while len(data) >= 2 and len(data) >= 2 + struct.unpack("!H", data[:2])[0]:
                n = 2 + struct.unpack("!H", data[:2])[0]
                questions.append((None, data[2:n]))
                data = data[n:]
            self.turn(questions)

    def send(self, replies):
        data = b"".join(struct.pack("!H", len(r)) + r for _, r in replies)
        self.write(data)

    def send_half(self, _, reply):
        self.s.sendall((struct.pack("!H", len(reply)) + reply)[:len(reply) // 2])


class Requests(Conversation):
    def converse(self):
        self.h = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        self.h.initiate_connection()
        bodies, self.refused = {}, 0
        while True:
            self.flush()
            questions = []
            for event in self.h.receive_data(self.read()):
                if isinstance(event, h2.events.RequestReceived):
                    bodies[event.stream_id] = b""
                    self.upstream.headers.append(dict(event.headers))
                elif isinstance(event, h2.events.DataReceived):
                    bodies[event.stream_id] += event.data
                    self.h.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                elif isinstance(event, h2.events.StreamEnded):
                    questions.append((event.stream_id, bodies.pop(event.stream_id)))
            self.take(questions)

    def flood(self, stream):
        """Until it is left, or for so long as nobody waits for an answer."""
        first, frame = FLOODS[self.upstream.act.removeprefix("flood-")]
        if first:
            self.h.send_headers(stream, [(":status", "200"), ("content-type", "application/dns-message")])
            self.flush()
        until = time.monotonic() + 15
        many = frame(stream) * max(1, 65536 // len(frame(stream)))
        while time.monotonic() < until:
            self.s.sendall(many)
            self.upstream.flooded += len(many)
        raise EOFError

    def take(self, questions):
        u = self.upstream
        if u.act.startswith("flood-") and questions:
            self.flood(questions[0][0])
        if u.act == "refuse":
            kept = []
            for key, wire in questions:
                self.refused += 1
                if self.refused % 2:
                    self.h.reset_stream(key, 7)
                else:
                    kept.append((key, wire))
            questions = kept
        if u.act == "goaway":
            room = u.limit - self.answered
            leave = len(questions) >= room
            self.turn(questions[:room])
            if leave:
                last = max((key for key, _ in questions[:room]), default=0)
                self.h.close_connection(last_stream_id=last)
                self.flush()
                raise EOFError
            return
        self.turn(questions)

    def flush(self):
        self.write(self.h.data_to_send())

    def head(self, key, reply):
        act = self.upstream.act
        self.h.send_headers(key, [
            (":status", "503" if act == "status" else "200"),
            ("content-type", "text/html" if act == "type" else "application/dns-message"),
            ("content-length", str(len(reply))), ("cache-control", "max-age=300")])

    def send(self, replies):
        for key, reply in replies:
            if self.upstream.act == "big":
                reply = b"\0" * 100000
            self.head(key, reply)
            while len(reply) > 16384 and self.h.local_flow_control_window(key) >= 16384:
                self.h.send_data(key, reply[:16384])
                reply = reply[16384:]
            if len(reply) <= 16384:
                self.h.send_data(key, reply, end_stream=True)
        self.flush()

    def send_half(self, key, reply):
        self.head(key, reply)
        self.h.send_data(key, reply[:len(reply) // 2])
        self.flush()


def load(port, names, outstanding, seconds=25):
    """Each question is sent once; how it ended, by name. What the client loses it loses by itself: never by
    more in flight than its socket holds."""
    names, results, flight = iter(names), {}, {}
    ident, is_more = 0, True
    deadline = time.monotonic() + seconds
    with socket.socket(type=socket.SOCK_DGRAM) as s, selectors.DefaultSelector() as ready:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        s.connect((ADDRESS, port))
        s.setblocking(False)
        ready.register(s, selectors.EVENT_READ)
        while (is_more or flight) and time.monotonic() < deadline:
            for _ in range(BURST):
                if not is_more or len(flight) >= outstanding:
                    break
                name = next(names, None)
                if name is None:
                    is_more = False
                    break
                ident = (ident + 1) % 65536
                wire = struct.pack("!HHHHHH", ident, 0x0100, 1, 0, 0, 0)
                wire += b"".join(bytes([len(part)]) + part.encode() for part in name.rstrip(".").split("."))
                s.send(wire + b"\0\0\1\0\1")
                flight[ident] = name
            ready.select(0.002 if is_more and len(flight) < outstanding else 0.2)
            with contextlib.suppress(BlockingIOError):
                while True:
                    got = s.recv(4096)
                    name = flight.pop(struct.unpack("!H", got[:2])[0], None)
                    if name:
                        results[name] = got[3] & 15
    for name in flight.values():
        results[name] = None
    return results
