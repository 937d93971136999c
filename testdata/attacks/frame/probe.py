"""Another client: asks a cached question every 10 ms until its input ends, then says how long answers took.

SPDX-License-Identifier: BSD-3-Clause

A process of its own, so that it measures the daemon and not the script that attacks it."""

import json
import select
import socket
import struct
import sys
import time

PERIOD_S, PATIENCE_S = 0.01, 1.0


def main(port, name):
    question = b"".join(bytes([len(p)]) + p.encode() for p in name.rstrip(".").split(".")) + b"\0\0\1\0\1"
    took, lost, ident = [], 0, 0
    with socket.socket(type=socket.SOCK_DGRAM) as s:
        s.connect(("127.0.0.1", port))
        print("ready", flush=True)
        following = time.perf_counter()
        while True:
            ident = (ident + 1) & 0xffff
            began = time.perf_counter()
            s.send(struct.pack("!6H", ident, 0x0100, 1, 0, 0, 0) + question)
            while True:
                left = began + PATIENCE_S - time.perf_counter()
                if left <= 0 or not select.select([s], [], [], left)[0]:
                    lost += 1
                    break
                if s.recv(4096)[:2] == struct.pack("!H", ident):
                    took.append((time.perf_counter() - began) * 1000)
                    break
            following = max(following + PERIOD_S, time.perf_counter())
            if select.select([sys.stdin], [], [], max(0, following - time.perf_counter()))[0]:
                break
    took.sort()
    print(json.dumps({"count": len(took), "lost": lost, "median_ms": took[len(took) // 2] if took else None,
                      "p99_ms": took[len(took) * 99 // 100] if took else None,
                      "worst_ms": took[-1] if took else None}))


main(int(sys.argv[1]), sys.argv[2])
