"""W15: how long a worker keeps packets waiting for its other work, in its own processor time.

SPDX-License-Identifier: BSD-3-Clause

Always 4,000 cached answers and 2,000 cold signed questions a second; meanwhile one command after another. What is read are
the daemon's own counts (loop.turn.cpu_us in doc/statistics.md), so that other programs on the machine do not enter. A turn
here is what runs between two looks at the clients' sockets; each may be told up to 100 microseconds too long.
"""

import contextlib
import os
import re
import socket
import struct
import threading
import time

from measure import LOAD_CORE, NoNumber, Running, judge
from works import PORT, control, load, place, server, warm

HITS, COLD = 4000, 2000     # a second
SECONDS = 6
PRIMARY_PORT, PRIMARY_ZONES = 5399, 100
LONG_NAME, LONG_RECORDS, LONG_BYTES = "long.test", 240, 255

# What is commanded meanwhile, again and again; what the daemon is besides.
TURNS = {
    "W15": ([], {}),
    "W15, reload": (["reload"], {"blocked": "lines"}),
    "W15, list": (["blocklist_reload"], {"blocked": "list"}),
    "W15, dump": (["dump_cache"], {}),
    "W15, flush": (["flush_zone", "com"], {}),
    "W15, cache file": (["cache_save"], {"cache_file": True}),
    "W15, long": ([], {"more": "long"}),
    "W15, transfers": (["auth_zone_transfer"], {"more": "transfers"}),
}


def long_answers(_):
    """A name whose answer has nearly 64 kB."""
    lines = ['\tlocal-data: \'%s. 3600 TXT "%0*d"\'' % (LONG_NAME, LONG_BYTES, i) for i in range(LONG_RECORDS)]
    return "server:\n\tincoming-num-tcp: 40\n" + "\n".join(lines) + "\n"


def transferred(bench):
    with open(bench.of_net("zones.txt"), encoding="ascii") as f:
        return f.read().split()[:2 * PRIMARY_ZONES:2]


def secondaries(bench):
    """Zones transferred from a server of this benchmark's."""
    return "".join('auth-zone:\n\tname: "%s"\n\tprimary: 127.0.0.1@%d\n\tfor-upstream: yes\n\tfor-downstream: no\n\tfallback-enabled: yes\n' % (
        z, PRIMARY_PORT) for z in transferred(bench))


MORE = {"long": long_answers, "transfers": secondaries}


@contextlib.contextmanager
def primary(bench, folder):
    """Who gives them out."""
    path = os.path.join(folder, "primary.conf")
    with open(path, "w", encoding="ascii") as f:
        f.write('server:\n\tip-address: 127.0.0.1\n\tport: %d\n\tserver-count: 1\n\tusername: ""\n\tchroot: ""\n'
                '\tdatabase: ""\n\tzonesdir: "%s/zones"\n\tzonelistfile: "%s/list"\n\txfrdfile: "%s/state"\n'
                '\tpidfile: "%s/primary.pid"\n\ttcp-count: 400\n\trrl-ratelimit: 0\nremote-control:\n\tcontrol-enable: no\n' % (
                    PRIMARY_PORT, bench.net, folder, folder, folder))
        for z in transferred(bench):
            f.write('zone:\n\tname: "%s"\n\tzonefile: "%s"\n\tprovide-xfr: 127.0.0.0/8 NOKEY\n' % (z, z.rstrip(".")))
    server = Running(["nsd", "-d", "-c", path], PRIMARY_PORT, LOAD_CORE, folder)
    try:
        yield
    finally:
        server.stop()


def ask_long(until):
    """Twenty connections ask for the long answer, one after another; returns how many came."""
    name = b"".join(bytes([len(x)]) + x.encode() for x in LONG_NAME.split(".")) + b"\0"
    question = struct.pack("!HHHHHH", 7, 0x100, 1, 0, 0, 0) + name + struct.pack("!HH", 16, 1)
    came = 0
    with contextlib.ExitStack() as stack:
        streams = [stack.enter_context(socket.create_connection(("127.0.0.1", PORT), 5)) for _ in range(20)]
        answers = [stack.enter_context(s.makefile("rb")) for s in streams]
        while time.monotonic() < until:
            for s in streams:
                s.sendall(struct.pack("!H", len(question)) + question)
            for a in answers:
                size, = struct.unpack("!H", a.read(2))
                if size < LONG_RECORDS * LONG_BYTES or len(a.read(size)) != size:
                    raise NoNumber("the long answer had %d bytes" % size)
                came += 1
    return came


def counts(said):
    """Turns by their bound, and the longest, of what `stats` printed."""
    rows = [(int(n), int(c)) for n, c in re.findall(r"loop\.turn\.cpu_us\.to\.(\d+)=(\d+)", said)]
    over = int(re.search(r"loop\.turn\.cpu_us\.longer=(\d+)", said)[1])
    longest = int(re.search(r"loop\.turn\.cpu_us\.max=(\d+)", said)[1])
    return rows + [(longest, over)], longest


def told(said):
    rows, longest = counts(said)
    every = sum(c for _, c in rows)
    if not every:
        raise NoNumber("no turn was counted")
    seen, bound = 0, longest
    for most, count in rows:
        seen += count
        if seen >= 0.9999 * every:
            bound = min(most, longest)
            break
    return {"turns": every, "turn_us": longest, "turn_9999_us": bound,
            "turns_over": sum(c for most, c in rows if most > 300) / every * 1e6,
            "turns_over_ms": sum(c for most, c in rows if most > 1000)}


def once(bench, work, first):
    """One row, with the cold questions from the `first` on."""
    words, how = TURNS[work]
    how, asked = dict(how), []
    more = MORE.get(how.pop("more", None), lambda _: "")(bench)
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(place(bench, "turns"))
        if words == ["auth_zone_transfer"]:
            stack.enter_context(primary(bench, folder))
        # Else cached wildcards would answer what is to be cold.
        s = stack.enter_context(server(bench, "resolverd", at=folder, validate=True, control=True,
                                       more="server:\n\taggressive-nsec: no\n" + more, **how))
        warm(bench, "hot-plain", "-e", 1232)
        bench.cut("cold-signed", "turns-now", first)

        def meanwhile():
            if words == ["auth_zone_transfer"]:
                for z in transferred(bench):
                    control(bench, s, *words, z)
            elif words:
                os.utime(bench.of_net("blocked.names"))  # a list that has not changed is not read again
                control(bench, s, *words)
            time.sleep(0.2)

        def ask(seconds, **more):
            return judge(load(bench, "hot-plain", "-z", 1, "-a", "-e", 1232, "-k", "-w", 2000,
                              "-m", bench.of_net("turns-now"), "-M", (HITS + COLD) // COLD, "-r", HITS + COLD, "-g", 200,
                              "-t", seconds, **more))
        ask(2)  # so that there is something to dump, flush and save
        control(bench, s, "stats")
        thread = threading.Thread(target=lambda: asked.append(ask_long(time.monotonic() + SECONDS)))
        if "long" in work:
            thread.start()
        rate = ask(SECONDS, meanwhile=meanwhile if words else None)["rate"]
        if "long" in work:
            thread.join()
            if not asked:
                raise NoNumber("no long answer came")
        return dict(told(control(bench, s, "stats_noreset")), rate=rate, long=asked[0] if asked else 0)


def measure(bench, wanted):
    for n, work in enumerate(w for w in TURNS if w in wanted):
        bench.put(work, "resolverd", lambda w=work, n=n: once(bench, w, n * COLD * (SECONDS + 2)))
