"""Collectors of dnstap: fstrm_capture, one of our own that plays parts, and what they have heard.

SPDX-License-Identifier: BSD-3-Clause
"""

import collections
import contextlib
import os
import socket
import struct
import subprocess
import threading
import time

from lab import ADDRESS, Listening, free_port, read_exactly

CONTENT = b"protobuf:dnstap.Dnstap"
ACCEPT, START, STOP, READY, FINISH = 1, 2, 3, 4, 5
KINDS = {3: "RQ", 4: "RR", 5: "CQ", 6: "CR", 7: "FQ", 8: "FR"}
PROTOCOLS = {1: "UDP", 2: "TCP", 3: "DOT", 4: "DOH"}

Told = collections.namedtuple("Told", "kind family protocol asker asked query_s response_s zone wire identity version")


# -- protobuf -----------------------------------------------------------------------------------------


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if not data[at - 1] & 0x80:
            return value, at


def fields(data):
    """Numbers and values of a message's fields; each may be there once."""
    out, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        number, shape = tag >> 3, tag & 7
        assert number not in out
        if shape == 0:
            out[number], at = varint(data, at)
        elif shape == 2:
            size, at = varint(data, at)
            assert at + size <= len(data)
            out[number], at = data[at:at + size], at + size
        else:
            assert shape == 5
            out[number], at = struct.unpack_from("<I", data, at)[0], at + 4
    return out


def address(ip, port):
    if ip is None:
        return None, port
    return socket.inet_ntop(socket.AF_INET if len(ip) == 4 else socket.AF_INET6, ip), port


def decode(frame):
    outer = fields(frame)
    assert outer[15] == 1 and not set(outer) - {1, 2, 14, 15}
    m = fields(outer[14])
    assert not set(m) - set(range(1, 15)) and not {10, 14} <= set(m)
    assert m.get(9, 0) < 10**9 and m.get(13, 0) < 10**9
    assert (14 if KINDS[m[1]][1] == "R" else 10) in m
    return Told(KINDS[m[1]], m.get(2), PROTOCOLS[m[3]], address(m.get(4), m.get(6)), address(m.get(5), m.get(7)),
                m[8] + m[9] / 1e9 if 8 in m else None, m[12] + m[13] / 1e9 if 12 in m else None, m.get(11),
                m.get(10, m.get(14)), outer.get(1, b"").decode(), outer.get(2, b"").decode())


# -- Frame Streams ------------------------------------------------------------------------------------


def control_frame(kind):
    content = struct.pack("!II", 1, len(CONTENT)) + CONTENT if kind in (ACCEPT, START, READY) else b""
    return struct.pack("!III", 0, 4 + len(content), kind) + content


def read_control(s):
    """After the empty frame that announces it: its kind."""
    body = read_exactly(s, struct.unpack("!I", read_exactly(s, 4))[0])
    kind = struct.unpack_from("!I", body)[0]
    assert body[4:] == control_frame(kind)[12:]
    return kind


def decode_file(path):
    """Everything that a file of fstrm_capture holds."""
    with open(path, "rb") as f:
        data, at, out = f.read(), 0, []
    while at < len(data):
        size = struct.unpack_from("!I", data, at)[0]
        at += 4
        if size == 0:
            at += 4 + struct.unpack_from("!I", data, at)[0]
            continue
        out.append(decode(data[at:at + size]))
        at += size
    return out


class Capture:
    """fstrm_capture itself, at a socket or a port; what it wrote can be read when it has ended."""

    def __init__(self, folder, port=None):
        self.file = os.path.join(str(folder), "captured.tap")
        self.socket = os.path.join(str(folder), "capture.sock")
        self.port = port
        self.where = ["-a", ADDRESS, "-p", str(port)] if port else ["-u", self.socket]

    def __enter__(self):
        self.process = subprocess.Popen(["fstrm_capture", "-d", "-d", "-t", CONTENT.decode(), *self.where, "-w", self.file],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for line in self.process.stderr:
            if b"opened output file" in line:
                break
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(20)

    def told(self):
        self.end()
        return decode_file(self.file)


class Collector(Listening):
    """One of our own. `act` is one of
        good     greets, reads, says good-bye
        mute     accepts and never greets
        deaf     greets and never reads on
        rude     answers the greeting with nonsense
        hasty    greets and goes at once
    With `path` at that socket, else at a port; with `context` over TLS; with `greets` False it waits
    for no greeting (dnstap-bidirectional: no)."""

    def __init__(self, act="good", path=None, context=None, greets=True, port=None):
        self.act, self.path, self.context, self.greets = act, path, context, greets
        self.told, self.control, self.trouble = [], [], []
        self.conns = []
        if path:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(path)
            listener.listen(8)
        else:
            self.port = port or free_port()
            self.at = "%s@%d" % (ADDRESS, self.port)
            listener = socket.create_server((ADDRESS, self.port))
        super().__init__(listener)

    def __exit__(self, *what):
        super().__exit__(*what)
        for c in self.conns:
            with contextlib.suppress(OSError):
                c.shutdown(socket.SHUT_RDWR)
            c.close()
        if self.path:
            os.unlink(self.path)

    def serve(self, conn, number):
        try:
            conn.settimeout(60)
            if self.context:
                conn = self.context.wrap_socket(conn, server_side=True)
            self.conns.append(conn)
            self.converse(conn)
        except (EOFError, OSError) as e:
            self.trouble.append(str(e))

    def take_control(self, s, want):
        assert read_exactly(s, 4) == b"\0\0\0\0"
        self.control.append(read_control(s))
        assert self.control[-1] == want, self.control

    def converse(self, s):
        if self.act == "mute":
            return
        if self.greets:
            self.take_control(s, READY)
            if self.act == "rude":
                s.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 20)
                return
            s.sendall(control_frame(ACCEPT))
        self.take_control(s, START)
        if self.act == "hasty":
            s.shutdown(socket.SHUT_RDWR)
        while self.act == "good":
            size = struct.unpack("!I", read_exactly(s, 4))[0]
            if size:
                self.told.append(decode(read_exactly(s, size)))
                continue
            self.control.append(read_control(s))
            assert self.control[-1] == STOP
            if self.greets:
                s.sendall(control_frame(FINISH))
            return

    def wait(self, what, seconds=20):
        """Until what was told so far satisfies `what`; all of it."""
        deadline = time.monotonic() + seconds
        while not what(self.told):
            assert time.monotonic() < deadline, "heard only %r" % [t[:5] for t in self.told]
            time.sleep(0.01)
        return list(self.told)

    def wait_count(self, count, seconds=20):
        return self.wait(lambda told: len(told) >= count, seconds)
