"""A sound name server some way off: an address to every A question, after a while.

SPDX-License-Identifier: BSD-3-Clause

    far.py ADDRESS PORT DELAY_MS     ends with its input

A process of its own, so that attacks keep the other servers busy and not this one."""

import collections
import select
import socket
import struct
import sys
import time


def respond(data):
    at = 12
    while data[at]:
        at += 1 + data[at]
    question = data[12:at + 5]
    is_a = question[-4:] == b"\0\1\0\1"
    head = data[:2] + struct.pack("!5H", 0x8400, 1, int(is_a), 0, 0)
    return head + question + (b"\xc0\x0c\0\1\0\1\0\0\1\x2c\0\4\xc0\0\2\x37" if is_a else b"")


def main(address, port, delay_ms):
    with socket.socket(type=socket.SOCK_DGRAM) as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        s.bind((address, int(port)))
        later = collections.deque()
        print("ready", flush=True)
        while True:
            left = max(0, later[0][0] - time.monotonic()) if later else 1
            ready = select.select([s, sys.stdin], [], [], left)[0]
            if sys.stdin in ready:
                return
            if s in ready:
                data, peer = s.recvfrom(4096)
                later.append((time.monotonic() + float(delay_ms) / 1000, respond(data), peer))
            while later and later[0][0] <= time.monotonic():
                _, out, peer = later.popleft()
                s.sendto(out, peer)


main(*sys.argv[1:])
