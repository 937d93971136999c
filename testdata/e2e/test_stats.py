"""The counters: a known set of questions, and what is to be counted of it.

SPDX-License-Identifier: BSD-3-Clause
"""

import re
import time

import dns.flags
import pytest

from lab import FakeServer, fixed, query, until


def stats(d, command="stats_noreset"):
    return dict(line.split("=", 1) for line in d.control(command).splitlines())


def numbers(d):
    return {k: float(v) for k, v in stats(d).items()}


@pytest.fixture
def lab(daemon):
    """A forwarder whose answers are known, two threads, everything counted."""
    with FakeServer(fixed("192.0.2.1")) as server, daemon(
            "num-threads: 2", "extended-statistics: yes", "local-zone: here. static", 'local-data: "a.here. A 192.0.2.9"',
            "local-zone: silent.here. deny", "access-control: 127.99.0.0/16 refuse",
            more="forward-zone:\n    name: .\n    forward-addr: %s\n" % server.at) as d:
        d.control("flush_stats")
        yield d


def test_a_known_set_of_questions(lab):
    d = lab
    for i in range(10):
        d.ask("n%d.example." % i)                      # 10 misses
        d.ask("n%d.example." % i, tcp=True)            # 10 hits, over TCP
    for _ in range(5):
        d.ask("a.here.")                               # 5 local answers
        d.ask("none.here.")                            # 5 local denials
    d.ask("a.here.", "TXT")                            # no data
    d.ask("n0.example.", "AAAA")                       # 1 miss without data
    d.ask("n1.example.", dnssec=True)                  # a hit
    d.ask("n2.example.", flags=dns.flags.RD | dns.flags.CD | dns.flags.AD)
    d.ask("id.server.", "TXT", "CH")
    d.ask("n3.example.", source="127.99.0.1")          # turned away
    d.send(query("x.silent.here.").to_wire(), timeout=0.3)
    got = numbers(d)
    asked = 20 + 10 + 1 + 1 + 1 + 1 + 1 + 1
    want = {
        "total.num.queries": asked, "total.num.cachemiss": 11, "total.num.cachehits": asked - 11,
        "total.num.recursivereplies": 11, "total.num.prefetch": 0, "total.num.expired": 0,
        "num.query.type.A": asked - 3, "num.query.type.AAAA": 1, "num.query.type.TXT": 2,
        "num.query.class.IN": asked - 1, "num.query.class.CH": 1, "num.query.opcode.QUERY": asked,
        "num.query.tcp": 10, "num.query.tls": 0, "num.query.ipv6": 0, "num.query.udpout": 11, "num.query.tcpout": 0,
        "num.query.flags.RD": asked, "num.query.flags.CD": 1, "num.query.flags.AD": 1, "num.query.flags.QR": 0,
        "num.query.edns.DO": 1, "num.query.edns.present": asked,
        "num.answer.rcode.NXDOMAIN": 5, "num.answer.rcode.nodata": 2, "num.answer.rcode.SERVFAIL": 0,
        "num.answer.rcode.NOERROR": asked - 5 - 1, "num.answer.rcode.REFUSED": 1, "num.answer.bogus": 0,
        "unwanted.queries": 1, "unwanted.replies": 0,
        "msg.cache.count": 11, "total.requestlist.current.all": 0, "total.requestlist.current.user": 0,
    }
    wrong = {k: (got.get(k), v) for k, v in want.items() if got.get(k) != v}
    assert not wrong
    assert sum(v for k, v in got.items() if k.startswith("histogram.")) == 11
    assert got["total.recursion.time.avg"] > 0 and got["total.recursion.time.median"] > 0
    assert got["total.requestlist.max"] == 0  # what stood there when another came: one was asked at a time
    assert got["msg.cache.max_collisions"] >= 1 and got["rrset.cache.max_collisions"] >= 0
    assert got["mem.cache.message"] > 0 and got["time.up"] > 0 and got["time.now"] > 1e9
    for key in (k[len("total."):] for k in got if k.startswith("total.num.")):
        assert sum(got["thread%d.%s" % (i, key)] for i in range(2)) == got["total." + key], key


def test_extended_only_when_asked(daemon):
    with daemon("num-threads: 1") as d:
        keys = stats(d)
        assert not any(k.startswith(("num.", "histogram.", "mem.", "unwanted.", "msg.")) for k in keys)
        d.control("set_option", "extended-statistics:", "yes")
        assert "num.query.tcp" in stats(d)


def test_zeros_are_shown_when_told(daemon):
    with daemon("extended-statistics: yes", "statistics-inhibit-zero: no") as d:
        keys = stats(d)
        assert {"num.query.type.AAAA", "num.query.class.HS", "num.query.opcode.NOTIFY"} <= set(keys)
        assert sum(k.startswith("histogram.") for k in keys) == 40


def test_answers_that_validate(daemon, net):
    with daemon("extended-statistics: yes", 'trust-anchor-file: "%s/root.key"' % net,
                module="validator iterator") as d:
        d.ask("com.", "SOA")
        got = numbers(d)
        assert got["num.valops"] >= 3
        assert got["num.answer.secure"] == 1
        assert got["key.cache.count"] >= 1
        d.ask("com.", "SOA")
        again = numbers(d)
        assert again["num.valops"] == got["num.valops"] and again["num.answer.secure"] == 2


def test_the_log_tells_them_at_times(daemon):
    with daemon("statistics-interval: 1", "num-threads: 2") as d:
        until(lambda: "server stats for thread 1: " in d.log())
        lines = re.findall(r"info: server stats for thread (\d): (\d+) queries, (\d+) answers from cache, "
                           r"(\d+) recursions, (\d+) prefetch, (\d+) rejected by ip ratelimiting", d.log())
        assert {line[0] for line in lines} == {"0", "1"}
        assert sum(int(line[1]) for line in lines) >= 1
        assert numbers(d)["time.elapsed"] <= 1.5
        d.control("set_option", "statistics-interval:", "0")
        time.sleep(0.3)
        before = d.log().count("server stats")
        time.sleep(1.5)
        assert d.log().count("server stats") == before


def test_the_log_tells_them_though_the_configuration_is_read_more_often(daemon):
    with daemon("statistics-interval: 2") as d:
        for _ in range(12):
            assert d.control("fast_reload")
            time.sleep(0.3)
        assert "server stats for thread 0: " in d.log()
