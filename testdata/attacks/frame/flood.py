"""Clients that ask without end and never look at an answer.

SPDX-License-Identifier: BSD-3-Clause

    flood.py SERVER PORT RATE CLIENT=NAME...    RATE questions a second of each client, whose address CLIENT is;
                                                NAME has a `%` that becomes another word in each question
Ends with its input, and then says how many it sent."""

import os
import select
import socket
import struct
import sys
import time

TURN_S = 0.005


class Client:
    def __init__(self, server, port, spec):
        address, name = spec.split("=")
        self.socket = socket.socket(type=socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.bind((address, 0))
        self.socket.connect((server, port))
        self.socket.setblocking(False)
        self.name, self.sent = name, 0

    def ask(self, number):
        labels = self.name.replace("%", "x%d" % number).rstrip(".").split(".")
        wire = b"".join(bytes([len(p)]) + p.encode() for p in labels)
        try:
            self.socket.send(struct.pack("!6H", number & 0xffff, 0x0100, 1, 0, 0, 0) + wire + b"\0\0\1\0\1")
            self.sent += 1
        except OSError:
            pass


def main(server, port, rate, *specs):
    os.nice(5)  # they are on other machines, and take nothing from the daemon
    clients = [Client(server, int(port), s) for s in specs]
    began, number = time.monotonic(), 0
    print("ready", flush=True)
    while not select.select([sys.stdin], [], [], TURN_S)[0]:
        due = int((time.monotonic() - began) * float(rate))
        for number in range(number, due):
            for c in clients:
                c.ask(number)
        number = max(number, due)
    print(sum(c.sent for c in clients))


main(*sys.argv[1:])
