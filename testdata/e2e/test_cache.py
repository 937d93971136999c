"""What is remembered, for how long, and what is told of it.

SPDX-License-Identifier: BSD-3-Clause
"""

import concurrent.futures
import os
import threading
import time

import dns.exception
import dns.message
import dns.rdatatype
import pytest

from lab import FakeServer, fixed, rcode, refusing, texts, ttl, until


def forward(server, zone="fwd.test.lab", *lines):
    return "forward-zone:\n    name: \"%s\"\n    forward-addr: %s\n%s" % (
        zone, server.at, "".join("    %s\n" % line for line in lines))


def soa_ttl(message):
    return next(s.ttl for s in message.authority if s.rdtype == dns.rdatatype.SOA)


def test_a_ttl_counts_down(shared):
    first = ttl(shared.ask("t60.ttl.mini."))
    time.sleep(2.1)
    later = ttl(shared.ask("t60.ttl.mini."))
    assert first - 4 <= later <= first - 2 <= 58


def test_every_ttl_of_a_chain_counts_down(shared):
    first = shared.ask("to-cdn.chain.mini.")
    time.sleep(2.1)
    later = shared.ask("to-cdn.chain.mini.")
    for a, b in zip(first.answer, later.answer):
        assert a.ttl - 4 <= b.ttl <= a.ttl - 2


def test_an_answer_from_the_cache_costs_no_question(daemon):
    with daemon() as d:
        with d.misses(1):
            for _ in range(5):
                d.ask("target.chain.mini.")
        with d.misses(0):
            assert texts(d.ask("TARGET.chain.mini.")) == ["198.18.0.40"]
            d.ask("target.chain.mini.", tcp=True)
            d.ask("target.chain.mini.", edns=-1)
            d.ask("target.chain.mini.", dnssec=True)


def test_what_has_expired_is_asked_again(daemon):
    with daemon() as d:
        with d.misses(2):
            d.ask("t1.ttl.mini.")
            time.sleep(2.1)
            d.ask("t1.ttl.mini.")


def test_a_ttl_of_zero_is_used_once(daemon):
    with FakeServer(fixed("198.18.9.1", ttl_s=0)) as s, daemon(more=forward(s)) as d:
        for _ in range(3):
            r = d.ask("x.fwd.test.lab.")
            assert texts(r) == ["198.18.9.1"] and ttl(r) == 0
            time.sleep(1.1)
        assert s.count("x.fwd.test.lab.") == 3


def test_negative_answers_are_remembered_as_long_as_the_soa_says(daemon):
    """RFC 2308 section 5: the lesser of the SOA's TTL and its MINIMUM field."""
    with daemon() as d:
        for name, rrtype, most in (("no-such.ttl.mini.", "A", 2), ("t60.ttl.mini.", "TXT", 2),
                                   ("no-such.slowsoa.mini.", "A", 5), ("slowsoa.mini.", "TXT", 5)):
            with d.misses(1):
                for _ in range(3):
                    assert soa_ttl(d.ask(name, rrtype)) <= most
        time.sleep(3)
        with d.misses(1):
            assert rcode(d.ask("no-such.ttl.mini.")) == "NXDOMAIN"
        with d.misses(0):
            assert rcode(d.ask("no-such.slowsoa.mini.")) == "NXDOMAIN"


def test_ttls_have_bounds(daemon):
    with daemon("cache-max-ttl: 100", "cache-min-ttl: 20", "cache-max-negative-ttl: 7") as d:
        for name in ("t86400.ttl.mini.", "t2147483647.ttl.mini."):
            d.ask(name)
            assert 95 <= ttl(d.ask(name)) <= 100
        d.ask("t5.ttl.mini.")
        assert 18 <= ttl(d.ask("t5.ttl.mini.")) <= 20
        d.ask("no-such.chain.mini.")
        assert soa_ttl(d.ask("no-such.chain.mini.")) <= 7


def test_equal_questions_at_once_cost_one(daemon):
    """RFC 5452's birthday: a hundred clients wait for one question."""
    def late(q, tcp):
        time.sleep(0.25)
        return fixed("198.18.9.2")(q, tcp)
    with FakeServer(late) as s, daemon(more=forward(s)) as d:
        with concurrent.futures.ThreadPoolExecutor(60) as pool:
            answers = list(pool.map(lambda _: texts(d.ask("same.fwd.test.lab.")), range(60)))
        assert answers == [["198.18.9.2"]] * 60
        assert s.count("same.fwd.test.lab.") == 1


def test_a_failure_is_remembered_for_seconds_only(daemon):
    """RFC 9520: at least a second, five at the start; then a server that recovered is heard."""
    act = {"answer": refusing()}
    with FakeServer(lambda q, tcp: act["answer"](q, tcp)) as s, daemon(more=forward(s)) as d:
        assert rcode(d.ask("x.fwd.test.lab.")) == "SERVFAIL"
        asked = s.count()
        assert rcode(d.ask("x.fwd.test.lab.")) == "SERVFAIL"
        assert s.count() == asked
        act["answer"] = fixed("198.18.9.3")
        until(lambda: texts(d.ask("x.fwd.test.lab.")) == ["198.18.9.3"])


def test_prefetch_renews_what_is_asked_near_its_end(daemon):
    with FakeServer(fixed("198.18.9.4", ttl_s=10)) as s, daemon("prefetch: yes", more=forward(s)) as d:
        d.ask("x.fwd.test.lab.")
        time.sleep(9.2)
        assert texts(d.ask("x.fwd.test.lab.")) == ["198.18.9.4"]
        time.sleep(0.5)
        assert s.count("x.fwd.test.lab.") == 2
        assert ttl(d.ask("x.fwd.test.lab.")) >= 8


@pytest.mark.parametrize("client_timeout", [0, 1500])
def test_expired_answers_are_better_than_none(daemon, client_timeout):
    """RFC 8767: the server has gone, its last words are still told, with a short TTL."""
    act = {"answer": fixed("198.18.9.5", ttl_s=2)}
    with FakeServer(lambda q, tcp: act["answer"](q, tcp)) as s, daemon(
            "serve-expired: yes", "serve-expired-reply-ttl: 1",
            "serve-expired-client-timeout: %d" % client_timeout, more=forward(s)) as d:
        assert texts(d.ask("x.fwd.test.lab.")) == ["198.18.9.5"]
        act["answer"] = lambda q, tcp: None
        time.sleep(3.2)
        began = time.monotonic()
        r = d.ask("x.fwd.test.lab.")
        assert texts(r) == ["198.18.9.5"] and ttl(r) == 1
        took = time.monotonic() - began
        assert took < 1 if client_timeout == 0 else 1.4 <= took < 5


def test_a_reload_keeps_the_cache(daemon):
    with daemon() as d:
        first = ttl(d.ask("t86400.ttl.mini."))
        time.sleep(2.1)
        d.control("reload")
        time.sleep(0.3)
        with d.misses(0):
            assert ttl(d.ask("t86400.ttl.mini.")) <= first - 2


def test_reloads_under_load_lose_nothing(daemon):
    """Eight clients ask all the time, the configuration is read ten times: every question answered."""
    with daemon("num-threads: 2") as d:
        ending, lost, done = threading.Event(), [], []

        def client(number):
            i = 0
            while not ending.is_set():
                i += 1
                name = "l%d-%d.w.rsa.mini." % (number, i)
                try:
                    if rcode(d.ask(name, timeout=4, udp_only=True)) != "NOERROR":
                        lost.append(name)
                except dns.exception.Timeout:
                    lost.append(name + " (no answer)")
                done.append(name)
        crowd = [threading.Thread(target=client, args=(i,)) for i in range(8)]
        for t in crowd:
            t.start()
        for _ in range(10):
            time.sleep(0.25)
            d.control("reload")
        ending.set()
        for t in crowd:
            t.join()
        assert not lost, "%d of %d: %s" % (len(lost), len(done), lost[:10])


def test_a_small_cache_stays_small(daemon, net):
    with daemon("msg-cache-size: 1m", "rrset-cache-size: 1m", "num-threads: 1", "extended-statistics: yes") as d:
        with open(os.path.join(net, "queries.txt"), encoding="ascii") as f:
            names = [line.split() for line in f][:6000]
        with concurrent.futures.ThreadPoolExecutor(32) as pool:
            codes = set(pool.map(lambda n: rcode(d.ask(n[0], n[1])), names))
        assert codes == {"NOERROR"}
        stats = d.stats()
        assert stats["mem.cache.rrset"] <= 1.1 * 2 ** 20 and stats["mem.cache.message"] <= 1.1 * 2 ** 20


def test_too_many_forged_answers_empty_the_caches(daemon):
    """Half of what comes back carries an id nobody used: unwanted-reply-threshold."""
    forging = []

    def answer(q, tcp):
        if forging:
            wrong = dns.message.make_response(q)
            wrong.id = q.id ^ 0x5555
            return wrong
        return fixed("192.0.2.7")(q, tcp)
    with FakeServer(answer) as server, daemon(
            "unwanted-reply-threshold: 5", more='forward-zone:\n    name: "."\n    forward-addr: %s\n' % server.at) as d:
        d.ask("kept.example.")
        d.ask("kept.example.")
        assert server.count("kept.example.") == 1
        forging.append(True)
        for i in range(3):
            assert rcode(d.ask("f%d.example." % i, timeout=40)) == "SERVFAIL"
            if "unwanted replies (unwanted-reply-threshold)" in d.log():
                break
        assert "unwanted replies (unwanted-reply-threshold)" in d.log()
        assert until(lambda: "all caches flushed" in d.log())
        forging.clear()
        d.control("flush_infra", "all")
        assert texts(d.ask("kept.example.")) == ["192.0.2.7"]
        assert server.count("kept.example.") == 2


FLUSHABLE = """\
www A 192.0.2.1
alias CNAME www.fwd.test.lab.
further CNAME alias.fwd.test.lab.
other A 198.51.100.1
d DNAME e.fwd.test.lab.
mx MX 10 www.fwd.test.lab."""


def chain_of(owner, kind):
    """The records that answer the question, aliases first."""
    out = []
    while True:
        made = dns.name.from_text("e.fwd.test.lab.") if owner.is_subdomain(dns.name.from_text("d.fwd.test.lab.")) else None
        for name, rtype, rdata in (line.split(" ", 2) for line in FLUSHABLE.splitlines()):
            at = dns.name.from_text(name + ".fwd.test.lab.")
            if at == owner and rtype in (kind, "CNAME") or rtype == "DNAME" and made and owner != at:
                out.append(dns.rrset.from_text(at, 300, "IN", rtype, rdata))
        if made:
            target = owner.relativize(dns.name.from_text("d.fwd.test.lab.")).derelativize(made)
            out.append(dns.rrset.from_text(owner, 300, "IN", "CNAME", target.to_text()))
        if not out or out[-1].rdtype != dns.rdatatype.CNAME or out[-1].name != owner:
            return out
        owner = out[-1][0].target


@pytest.mark.parametrize("command, gone", [
    (["flush", "www.fwd.test.lab"], "www alias further mx"),
    (["flush_type", "www.fwd.test.lab", "A"], "www alias further mx"),
    (["flush_type", "www.fwd.test.lab", "TXT"], ""),
    (["flush", "alias.fwd.test.lab"], "alias further"),
    (["flush_type", "alias.fwd.test.lab", "CNAME"], "alias further"),
    (["flush_type", "alias.fwd.test.lab", "A"], "alias further"),
    (["flush", "d.fwd.test.lab"], "x.d"),
    (["flush", "x.e.fwd.test.lab"], "x.d"),
    (["flush", "other.fwd.test.lab"], "other"),
    (["flush_zone", "www.fwd.test.lab"], "www alias further mx"),
])
def test_a_flush_reaches_what_leads_to_the_name(daemon, command, gone):
    names = ["www", "alias", "further", "other", "x.d", "mx"]
    kinds = {"mx": "MX"}

    def answer(q, tcp):
        r = dns.message.make_response(q, recursion_available=True)
        kind = dns.rdatatype.to_text(q.question[0].rdtype)
        r.answer = chain_of(q.question[0].name, kind)
        if kind == "MX":
            r.additional = chain_of(dns.name.from_text("www.fwd.test.lab."), "A")
        return r

    with FakeServer(answer) as server, daemon("minimal-responses: no", more=forward(server)) as d:
        def missed(name):
            before = d.stats()["total.num.cachemiss"]
            d.ask(name + ".fwd.test.lab.", kinds.get(name, "A"))
            return d.stats()["total.num.cachemiss"] > before
        assert all(missed(name) for name in names)
        assert not any(missed(name) for name in names)
        assert "ok" in d.control(*command)
        assert [name for name in names if missed(name)] == gone.split()


@pytest.mark.parametrize("command", ["auth_zone_reload held.test.lab", "reload"])
def test_a_zone_file_that_changes_without_its_serial_number(daemon, command, tmp_path):
    path = tmp_path / "zone"

    def write(address):
        path.write_text("@ 300 SOA ns h 1 3600 600 86400 300\n@ 300 NS ns\nns 300 A 192.0.2.1\nalias 300 CNAME www\n"
                        "same 300 A 192.0.2.9\nwww 300 A %s\n" % address)
    write("192.0.2.2")
    with daemon(more="auth-zone:\n    name: held.test.lab\n    for-downstream: no\n    zonefile: \"%s\"\n" % path) as d:
        names = ["www.held.test.lab.", "alias.held.test.lab.", "same.held.test.lab."]
        assert [texts(d.ask(name))[-1] for name in names] == ["192.0.2.2", "192.0.2.2", "192.0.2.9"]
        write("192.0.2.3")
        assert "ok" in d.control(*command.split())
        assert [texts(d.ask(name))[-1] for name in names] == ["192.0.2.3", "192.0.2.3", "192.0.2.9"]
