"""A client that never tires: questions at a rate, from one socket, answers thrown away.

SPDX-License-Identifier: BSD-3-Clause

    rain.py PORT RATE SECONDS NAME [SOURCE]     `%d` in NAME is a number that goes up

A process of its own; at the end it says how many it sent and how many answers came."""

import json
import socket
import struct
import sys
import time


def main(port, rate, seconds, name, source="127.0.0.1"):
    sent = got = 0
    with socket.socket(type=socket.SOCK_DGRAM) as s:
        s.bind((source, 0))
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        s.connect(("127.0.0.1", port))
        s.setblocking(False)
        began = time.monotonic()
        while time.monotonic() - began < seconds:
            while sent < (time.monotonic() - began) * rate:
                full = name % sent if "%" in name else name
                wire = b"".join(bytes([len(p)]) + p.encode() for p in full.rstrip(".").split("."))
                try:
                    s.send(struct.pack("!6H", sent & 0xffff, 0x0100, 1, 0, 0, 0) + wire + b"\0\0\1\0\1")
                except OSError:
                    pass
                sent += 1
            try:
                while s.recv(4096):
                    got += 1
            except OSError:
                pass
            time.sleep(0.001)
    print(json.dumps({"sent": sent, "answered": got}))


main(int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]), *sys.argv[4:])
