"""What others have left while some clients flood (issue: fairness; entries 25 and 30, and their kin).

SPDX-License-Identifier: BSD-3-Clause
"""

import contextlib
import json
import os
import socket
import struct
import subprocess
import sys
import time

from frame import signing
from frame.authority import record, wire
from frame.declare import at_least, attack
from frame.lab import e2e
from frame.world import ATTACKERS, DEAD, VICTIM, Zone

HERE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "frame")
FAR, FAR_PORT = "198.18.5.1", 5353


@contextlib.contextmanager
def program(name, *arguments):
    """A program beside the frame, which ends with the block; its last words in `said`."""
    p = subprocess.Popen([sys.executable, "-B", os.path.join(HERE, name), *map(str, arguments)],
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    p.stdout.readline()
    try:
        yield p
    finally:
        p.said = p.communicate("\n", timeout=10)[0]


def polite(lab, seconds):
    out = subprocess.run([sys.executable, "-B", os.path.join(HERE, "polite.py"), "127.0.0.1", str(lab.daemon.port),
                          "198.18.20.1", "50", str(seconds), "www.victim.test", "%.polite.test"],
                         capture_output=True, text=True, check=True, timeout=seconds + 15)
    return json.loads(out.stdout)


def heavy_answer(zone, key):
    """Eight signatures that are false, over a record set that is signed by no one, for any name."""
    signer = wire(zone)
    head = struct.pack("!HBBIIIH", 1, key.rdata[3], 3, 60, 0x7fffffff, 0, key.tag) + signer

    def answer(q):
        owner = b"\xc0\x0c"
        sets = [record(owner, 1, b"\xc0\0\2\x01", 60)]
        sets += [record(owner, 46, head + os.urandom(64), 60) for _ in range(8)]
        return q.raw(sets)
    return answer


FLOODS = {
    "subdomains": ["%.nx.test"] * 20,
    "slow": ["%.slow.test"] * 20,
    "signatures": ["%.heavy.test"] * 20,
    "all": ["%.nx.test", "%.slow.test", "%.heavy.test"] * 6 + ["%.nx.test", "%.slow.test"],
}


@attack(30, "fairness", "20 clients flood with random subdomains, names of silent servers, and answers with costly "
        "signatures; another asks 50 questions a second, half of them for names nobody has asked for",
        rule="a client with many queries waiting gives way to one with few; costly answers are validated in parts, "
             "one per turn; each client's waiting answers are limited",
        code="services/mesh/admit.c:too_large_a_share services/net/shares.h services/mesh/mesh.c:mesh_yield services/access/waitlimit.c",
        variants={kind: {"kind": kind} for kind in FLOODS}, noisy=True, seconds=90,
        server=["access-control: 198.18.0.0/15 allow", "num-threads: 1", "trust-anchor-signaling: no"],
        limits={"answered_percent": at_least(99.5), "p99_ratio": 2})
def fairness(lab, kind, seconds=12, rate=200):
    nx = lab.world.serve(Zone("nx.test"), {"ns.nx.test.": ATTACKERS[0]})
    lab.world.serve(Zone("slow.test"), {"ns%d.slow.test." % n: DEAD[n] for n in range(4)})
    key = signing.key("heavy.test.")
    heavy = lab.world.serve(Zone("heavy.test", key=key), {"ns.heavy.test.": ATTACKERS[1]})
    costly = heavy_answer("heavy.test", key)
    lab.world.script(ATTACKERS[1], lambda q: costly(q) if q.labels[0].startswith("x") else heavy.answer(q))
    lab.world.script(ATTACKERS[0], lambda q: q.raw(flags=0x8403) if q.labels[0].startswith("x") else nx.answer(q))
    lab.anchor(heavy)
    lab.clause('stub-zone:\n    name: "polite.test"\n    stub-addr: "%s@%d"\n' % (FAR, FAR_PORT))
    with program("far.py", FAR, FAR_PORT, 20):
        lab.start()
        calm = polite(lab, seconds / 2)
        clients = ["198.18.21.%d=%s" % (n, name) for n, name in enumerate(FLOODS[kind], 1)]
        with program("flood.py", "127.0.0.1", lab.daemon.port, rate, *clients) as flood:
            began = lab.cpu_ms()
            got = polite(lab, seconds)
            spent = lab.cpu_ms() - began
    return {"answered_percent": 100 * got["answered"] / got["asked"], "p99_ratio": got["p99_ms"] / calm["p99_ms"],
            "calm_p99": calm["p99_ms"], "p99": got["p99_ms"], "cached_p99": got["p99_cached_ms"],
            "flood": int(flood.said), "cpu_share": spent / (seconds * 10.0)}


@attack(25, "lent-server", "thirty zones are said to be on the server of another, which does not answer for them",
        variants={k: {"how": k, "quick": k == "silent"} for k in ("silent", "refused", "formerr")},
        rule="what is known of a server by its zone counts for that zone; one that answers for another is up",
        code="services/cache/infra.c:infra_silent services/cache/infra.c:infra_set_lame", limits={"took_s": 1, "good": at_least(10)})
def lent_server(lab, how):
    sound = lab.authority.answer_of[VICTIM]
    lab.world.script(VICTIM, lambda q: sound(q) if q.under("victim.test") else None if how == "silent" else q.raw(
        rcode=5 if how == "refused" else 1))
    for n in range(30):
        lab.world.delegate("e%d.test." % n, {"ns.e%d.test." % n: VICTIM})
    lab.start()
    lab.ask("first.victim.test")
    with socket.socket(type=socket.SOCK_DGRAM) as s:
        s.connect((e2e.ADDRESS, lab.daemon.port))
        for n in range(60):
            s.send(e2e.query("x%d.e%d.test" % (n // 30, n % 30)).to_wire())
            time.sleep(0.03)
    got = [lab.ask("n%d.victim.test" % n, timeout=5) for n in range(10)]
    return {"took_s": max(r.took_s for r in got), "good": sum(r.rcode == "NXDOMAIN" for r in got)}
