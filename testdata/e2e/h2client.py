"""A client of DNS over HTTPS that does as it is told, and says nothing by itself.

SPDX-License-Identifier: BSD-3-Clause
"""

import base64
import socket
import ssl
import struct
import time

import dns.message
import h2.config
import h2.connection
import h2.events

from lab import ADDRESS, is_closed

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST, SETTINGS, PUSH, PING, GOAWAY, WINDOW, CONTINUATION = range(10)
END_STREAM, ACK, END_HEADERS = 1, 1, 4


def http2_frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack("!I", len(payload))[1:] + struct.pack("!BBI", kind, flags, stream) + payload


def get_path(q, path="/dns-query"):
    wire = q if isinstance(q, bytes) else q.to_wire()
    return path + "?dns=" + base64.urlsafe_b64encode(wire).decode().rstrip("=")


class Answer:
    def __init__(self):
        self.headers, self.body, self.done, self.reset = {}, b"", False, None

    @property
    def status(self):
        return int(self.headers[":status"])

    @property
    def message(self):
        assert self.headers["content-type"] == "application/dns-message"
        return dns.message.from_wire(self.body)


class Client:
    """One connection. With `context` over TLS; `head` goes before everything, as a proxy's header."""

    def __init__(self, port, context=None, head=b"", source=None, name="dns.test"):
        self.raw = socket.create_connection((ADDRESS, port), 10, (source, 0) if source else None)
        self.raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if head:
            self.raw.sendall(head)
        self.sock = context.wrap_socket(self.raw, server_hostname=name) if context else self.raw
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True, header_encoding="utf-8"))
        self.h2.initiate_connection()
        self.flush()
        self.answers, self.goaway, self.order, self.over = {}, None, [], False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sock.close()

    def flush(self):
        self.sock.sendall(self.h2.data_to_send())

    def headers(self, method, path, *more):
        return [(":method", method), (":scheme", "https"), (":authority", "dns.test"), (":path", path), *more]

    def begin(self, method, path, *more, body=None, end=True):
        """Begins a request; its stream."""
        stream = self.h2.get_next_available_stream_id()
        self.h2.send_headers(stream, self.headers(method, path, *more), end_stream=body is None and end)
        self.answers[stream] = Answer()
        while body is not None and not self.answers[stream].done:
            room = min(16384, self.h2.local_flow_control_window(stream))
            if room or not body:
                self.h2.send_data(stream, body[:room], end_stream=end and len(body) <= room)
                body = body[room:] or None
            self.flush()
            if not room:
                assert self.take(5)
        self.flush()
        return stream

    def get(self, q, path="/dns-query"):
        return self.begin("GET", get_path(q, path), ("accept", "application/dns-message"))

    def post(self, q):
        return self.begin("POST", "/dns-query", ("content-type", "application/dns-message"),
                          body=q if isinstance(q, bytes) else q.to_wire())

    def take(self, timeout):
        """What comes next; False when nothing does."""
        self.sock.settimeout(timeout)
        try:
            data = self.sock.recv(65536)
        except (socket.timeout, ssl.SSLWantReadError):
            return False
        except OSError:
            data = b""
        if not data:
            self.over = True
            return False
        for event in self.h2.receive_data(data):
            stream = getattr(event, "stream_id", None)
            answer = self.answers.get(stream) or Answer()
            if isinstance(event, h2.events.ResponseReceived):
                answer.headers = dict(event.headers)
            elif isinstance(event, h2.events.DataReceived):
                answer.body += event.data
                self.h2.acknowledge_received_data(event.flow_controlled_length, stream)
            elif isinstance(event, h2.events.StreamEnded):
                answer.done = True
                self.order.append(stream)
            elif isinstance(event, h2.events.StreamReset):
                answer.reset = event.error_code
                answer.done = True
            elif isinstance(event, h2.events.ConnectionTerminated):
                self.goaway = event.error_code
        try:
            self.flush()
        except OSError:
            pass
        return True

    def wait(self, *streams, timeout=20):
        deadline = time.monotonic() + timeout
        while not all(self.answers[s].done for s in streams):
            assert not self.over, "closed; %r" % self.goaway
            self.take(1)
            assert time.monotonic() < deadline, "no answer"
        return [self.answers[s] for s in streams] if len(streams) != 1 else self.answers[streams[0]]

    def ask(self, q):
        return self.wait(self.get(q)).message

    # -- as bytes ---------------------------------------------------------------------------------

    def push(self, data, pause=0.0):
        """Raw frames; False when the other side is no more."""
        try:
            self.sock.settimeout(10)
            self.sock.sendall(data)
        except OSError:
            return False
        if pause:
            time.sleep(pause)
        return True

    def is_cut(self, timeout=10):
        return is_closed(self.sock, timeout)
