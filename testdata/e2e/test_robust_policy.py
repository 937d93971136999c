"""Policies at their limits: a million triggers, and answers that are for some clients only.

SPDX-License-Identifier: BSD-3-Clause
"""

import os
import socket
import threading
import time

import dns.edns
import pytest

from lab import ADDRESS, query, rcode, texts, until
from test_subnets import Near

TRIGGERS = 1000000


def write_policy(path, word):
    with open(path + ".new", "w", encoding="ascii") as f:
        f.write("$TTL 60\n@ SOA ns h 1 60 60 600 60\n@ NS ns\n")
        f.writelines("%s%d.example CNAME .\n" % (word, i) for i in range(TRIGGERS))
    os.replace(path + ".new", path)


class Pulse:
    """Asks without pause; `slowest` is how long an answer took at most, in seconds."""

    def __init__(self, port, name):
        self.port, self.wire, self.over = port, query(name).to_wire(), threading.Event()
        self.asked, self.lost, self.slowest = 0, 0, 0.0
        self.thread = threading.Thread(target=self.run)

    def run(self):
        with socket.socket(type=socket.SOCK_DGRAM) as s:
            s.connect((ADDRESS, self.port))
            s.settimeout(5)
            while not self.over.wait(0.002):
                began = time.monotonic()
                self.asked += 1
                try:
                    s.send(self.wire)
                    s.recv(4096)
                except OSError:
                    self.lost += 1
                self.slowest = max(self.slowest, time.monotonic() - began)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join(10)


def resident_mb(d):
    with open("/proc/%d/statm" % d.process.pid, encoding="ascii") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20


def test_a_policy_of_a_million_triggers_is_read_again_beside_traffic(made):
    """Nobody waits for it: neither for the old one to go nor for the new one to come."""
    d = made()
    if d.is_sanitized():
        pytest.skip("a sanitizer takes its time")
    zone = d.dir + "/policy"
    write_policy(zone, "bad")
    d.configure(["num-threads: 2", 'local-data: "here.lan. A 192.0.2.1"', "extended-statistics: yes"],
                'rpz:\n    name: policy.lan\n    zonefile: "%s"\n' % zone)
    began = time.monotonic()
    d.start()
    until(lambda: rcode(d.ask("bad999999.example.")) == "NXDOMAIN", 60)
    print("loaded in %.1f s, %d MB" % (time.monotonic() - began, resident_mb(d)))
    assert resident_mb(d) < 600
    d.control("stats")
    with Pulse(d.port, "bad77.example.") as one, Pulse(d.port, "here.lan.") as other:
        for word in ("worse", "bad"):
            write_policy(zone, word)
            began = time.monotonic()
            assert d.speak(b"UBCT1 auth_zone_reload policy.lan\n", timeout=60) == b"ok\n"
            until(lambda w=word: rcode(d.ask(w + "999999.example.")) == "NXDOMAIN", 60)
            print("read again in %.1f s, %d MB" % (time.monotonic() - began, resident_mb(d)))
        assert d.speak(b"UBCT1 reload\n", timeout=60) == b"ok\n"
    own_ms = d.stats()["loop.turn.cpu_us.max"] / 1000
    print("turn %.1f ms, slowest %.3f and %.3f s of %d" % (own_ms, one.slowest, other.slowest, one.asked))
    assert one.lost == 0 and other.lost == 0 and one.asked > 100
    assert own_ms < 50, "no thread that answers does the work"
    assert d.stop() == 0


# -- answers for some -------------------------------------------------------------------------------

def test_no_answer_for_a_subnet_or_a_view_reaches_others(daemon):
    """The same names from three places, in any order, cached or not: each hears what is for it alone."""
    with Near() as up, daemon(
            "qname-minimisation: no", 'client-subnet-zone: "near.lab"', "min-client-subnet-ipv4: 8", "num-threads: 2",
            "access-control: 127.0.0.0/8 allow", "access-control-view: 127.2.0.0/16 inner", 'define-tag: "red"',
            'access-control-tag: 127.3.0.0/16 "red"', 'local-zone: "tagged.near.lab" always_nxdomain',
            'local-zone-tag: "tagged.near.lab" "red"', "prefetch: yes", "serve-expired: yes",
            module="subnetcache validator iterator", hints=False,
            more="forward-zone:\n    name: lab.\n    forward-addr: %s\n" % up.at
                 + "view:\n    name: inner\n    view-first: yes\n    local-data: 'only.near.lab. A 192.0.2.77'\n") as d:
        def told(name, source, claims=None):
            more = {"options": [dns.edns.ECSOption(claims, 24)], "edns": 0} if claims else {}
            return d.ask(name, source=source, **more)
        for turn in range(3):
            for source in ("127.1.0.5", "127.2.0.5", "127.3.0.5", "127.1.9.9") if turn % 2 else ("127.2.0.5", "127.3.0.5",
                                                                                               "127.1.0.5", "127.3.9.9"):
                own = ".".join(source.split(".")[:2]) + ".0.1"
                assert texts(told("a.near.lab.", source)) == [own]
                # A view's record is its clients', and is not what others are told, whoever asked first.
                want = ["192.0.2.77"] if source.startswith("127.2.") else [own]
                assert texts(told("only.near.lab.", source)) == want
                r = told("tagged.near.lab.", source)
                assert (rcode(r) == "NXDOMAIN") == source.startswith("127.3."), (source, str(r))
                # Who says where it is gets what is for there; who follows does not.
                assert texts(told("a.near.lab.", source, "10.9.7.0")) == ["10.9.0.1"]
                assert texts(told("a.near.lab.", source)) == [own]
            if turn == 1:
                assert d.control("reload") == "ok\n"
        for option in up.told:
            if not option[0].lower().endswith("near.lab."):
                assert option[1] == [], "only the zone that is listed hears of subnets"
