"""A polite client: so many questions a second, each another name or one of a few that are cached.

SPDX-License-Identifier: BSD-3-Clause

    polite.py SERVER PORT SOURCE RATE SECONDS CACHED FRESH    FRESH has a `%` that becomes another word each time;
                                                              every second question is for CACHED
Says in JSON how many were answered, and how long that took. It asks once, and waits for two seconds."""

import json
import select
import socket
import struct
import sys
import time

PATIENCE_S = 2.0


def question(number, name):
    wire = b"".join(bytes([len(p)]) + p.encode() for p in name.rstrip(".").split("."))
    return struct.pack("!6H", number, 0x0100, 1, 0, 0, 0) + wire + b"\0\0\1\0\1"


def main(server, port, source, rate, seconds, cached, fresh):
    sent, took, bad = {}, {0: [], 1: []}, 0
    count = int(float(rate) * float(seconds))
    word = "p%d" % (time.time() * 1000)
    with socket.socket(type=socket.SOCK_DGRAM) as s:
        s.bind((source, 0))
        s.connect((server, int(port)))
        began = time.perf_counter()
        number = 0
        while number < count or (sent and time.perf_counter() < began + float(seconds) + PATIENCE_S):
            due = began + number / float(rate)
            if number < count and time.perf_counter() >= due:
                name = cached if number % 2 else fresh.replace("%", "%s-%d" % (word, number))
                sent[number & 0xffff] = time.perf_counter()
                s.send(question(number & 0xffff, name))
                number += 1
                continue
            left = max(0, due - time.perf_counter()) if number < count else 0.1
            if select.select([s], [], [], left)[0]:
                data = s.recv(4096)
                ident, flags = struct.unpack("!HH", data[:4])
                then = sent.pop(ident, None)
                if then is None:
                    continue
                if flags & 15:
                    bad += 1
                elif time.perf_counter() - then <= PATIENCE_S:
                    took[ident & 1].append((time.perf_counter() - then) * 1000)
    every = sorted(took[0] + took[1])

    def at(values, share):
        return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else None
    print(json.dumps({"asked": count, "answered": len(every), "failed": bad, "p99_ms": at(every, 0.99),
                      "median_fresh_ms": at(took[0], 0.5), "median_cached_ms": at(took[1], 0.5),
                      "p99_cached_ms": at(took[1], 0.99)}))


main(*sys.argv[1:])
