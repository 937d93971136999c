"""Zones sent elsewhere: forwarders and stub zones.

SPDX-License-Identifier: BSD-3-Clause
"""

import concurrent.futures
import time

import dns.flags
import dns.message
import dns.rdatatype
import dns.rrset
import pytest

from lab import FakeServer, fixed, rcode, refusing, silent, texts, unbound


def clause(kind, name, *lines):
    return "%s-zone:\n    name: \"%s\"\n%s" % (kind, name, "".join("    %s\n" % line for line in lines))


@pytest.fixture(scope="module")
def upstream(net):
    """Debian's unbound, resolving the miniature internet, as the forwarder of a provider."""
    with unbound('root-hints: "%s/root.hints"' % net, 'module-config: "iterator"') as port:
        yield "127.0.0.1@%d" % port


SAMPLE = [("target.chain.mini.", "A", "NOERROR"), ("len5.chain.mini.", "A", "NOERROR"),
          ("x.old.dname.mini.", "A", "NOERROR"), ("a200.big.info.", "A", "NOERROR"),
          ("txt60000.big.info.", "TXT", "NOERROR"), ("no-such.chain.mini.", "A", "NXDOMAIN"),
          ("txt.types.mini.", "A", "NOERROR"), ("any.wild.mini.", "A", "NOERROR"),
          ("type65280.types.mini.", "TYPE65280", "NOERROR"), ("www.lame.mini.", "A", "SERVFAIL")]


@pytest.mark.parametrize("line", ["forward-first: no", "forward-tcp-upstream: yes"])
def test_everything_can_be_forwarded(daemon, upstream, line):
    with daemon(more=clause("forward", ".", "forward-addr: " + upstream, line), hints=False) as d:
        for name, rrtype, want in SAMPLE:
            assert rcode(d.ask(name, rrtype, timeout=30)) == want, name
        assert len(texts(d.ask("a200.big.info."))) == 200
        assert texts(d.ask("len5.chain.mini.")) == ["198.18.0.40"]


def test_one_zone_can_be_forwarded(daemon):
    with FakeServer(fixed("198.18.9.10")) as s, daemon(
            more=clause("forward", "chain.net", "forward-addr: " + s.at)) as d:
        assert texts(d.ask("target.chain.net.")) == ["198.18.9.10"]
        assert texts(d.ask("target.chain.org.")) == ["198.18.0.40"]
        assert {n.split(".", 1)[1] for n, _, _ in s.asked} == {"chain.net."}
        assert texts(d.ask("to-nx.chain.mini.")) == []


def test_the_question_to_a_forwarder_desires_recursion(daemon):
    seen = []

    def answer(q, tcp):
        seen.append(bool(q.flags & dns.flags.RD))
        zone = ".".join(q.question[0].name.to_text().split(".")[-3:])
        return authoritative(zone, {"a." + zone: "198.18.9.10", "ns." + zone: "127.0.0.1"})(q, tcp)
    with FakeServer(answer) as s, daemon(more=clause("forward", "x.lab", "forward-addr: " + s.at)
                                         + clause("stub", "y.lab", "stub-addr: " + s.at)) as d:
        d.ask("a.x.lab.")
        assert seen == [True]
        d.ask("a.y.lab.")
        assert len(seen) > 1 and not any(seen[1:])


def test_aliases_of_a_forwarder_are_its_own_business(daemon):
    """In the forward zone what the forwarder says of a chain is the answer; beyond the zone it is asked anew."""
    def answer(q, tcp):
        r = dns.message.make_response(q, recursion_available=True)
        name = q.question[0].name.to_text()
        if q.question[0].rdtype == dns.rdatatype.A:
            if name.startswith("out"):
                r.answer.append(dns.rrset.from_text(name, 60, "IN", "CNAME", "target.chain.net."))
                r.answer.append(dns.rrset.from_text("target.chain.net.", 60, "IN", "A", "198.19.66.66"))
            else:
                r.answer.append(dns.rrset.from_text(name, 60, "IN", "A", "198.18.9.11"))
        return r
    with FakeServer(answer) as s, daemon(more=clause("forward", "x.lab", "forward-addr: " + s.at)) as d:
        assert texts(d.ask("in.x.lab.")) == ["198.18.9.11"]
        assert texts(d.ask("out.x.lab.")) == ["198.18.0.40"]
        assert texts(d.ask("target.chain.net.")) == ["198.18.0.40"]


@pytest.mark.parametrize("first, want", [("yes", "NOERROR"), ("no", "SERVFAIL")])
@pytest.mark.parametrize("how", [refusing(), silent], ids=["refuses", "silent"])
def test_forward_first(daemon, first, want, how):
    with FakeServer(how) as s, daemon(
            # whoever does not wait for it asks again; here the first answer is looked at, however late
            more="server:\n    discard-timeout: 0\n"
                 + clause("forward", "chain.net", "forward-addr: " + s.at, "forward-first: " + first)) as d:
        assert rcode(d.ask("target.chain.net.", timeout=20)) == want
        assert s.count()


def test_a_dead_forwarder_is_passed_over(daemon):
    """One does not answer, one has no port open, one works: every answer comes, and soon most come at once."""
    with FakeServer(silent) as dumb, FakeServer(fixed("198.18.9.12")) as good, daemon(
            more=clause("forward", "x.lab", "forward-addr: " + dumb.at, "forward-addr: 127.40.0.1@53",
                        "forward-addr: " + good.at)) as d:
        took = []
        for i in range(30):
            began = time.monotonic()
            assert texts(d.ask("n%d.x.lab." % i)) == ["198.18.9.12"]
            took.append(time.monotonic() - began)
        assert max(took) < 5
        assert sorted(took[10:])[10] < 0.05


def test_a_forwarder_that_comes_back_is_used_again(daemon):
    act = {"answer": silent}
    with FakeServer(lambda q, tcp: act["answer"](q, tcp)) as s, daemon(
            more=clause("forward", "x.lab", "forward-addr: " + s.at)) as d:
        assert rcode(d.ask("a.x.lab.", timeout=40)) == "SERVFAIL"
        act["answer"] = fixed("198.18.9.13")
        deadline = time.monotonic() + 20
        i = 0
        while time.monotonic() < deadline:
            i += 1
            if texts(d.ask("b%d.x.lab." % i, timeout=40)) == ["198.18.9.13"]:
                break
            time.sleep(0.2)
        else:
            pytest.fail("20 s after it came back nobody asks it")


def test_forward_no_cache(daemon):
    with FakeServer(fixed("198.18.9.14")) as s, daemon(
            more=clause("forward", "x.lab", "forward-addr: " + s.at, "forward-no-cache: yes")) as d:
        for _ in range(3):
            assert texts(d.ask("a.x.lab.")) == ["198.18.9.14"]
        assert s.count("a.x.lab.") == 3


def test_a_truncated_answer_of_a_forwarder_is_asked_for_by_tcp(daemon):
    def answer(q, tcp):
        r = fixed("198.18.9.15")(q, tcp)
        if not tcp:
            r.flags |= dns.flags.TC
            r.answer.clear()
        return r
    with FakeServer(answer) as s, daemon(more=clause("forward", "x.lab", "forward-addr: " + s.at)) as d:
        assert texts(d.ask("a.x.lab.")) == ["198.18.9.15"]
        assert [t for _, _, t in s.asked] == [False, True]


def test_a_forwarder_without_edns(daemon):
    def answer(q, tcp):
        if q.edns >= 0:
            r = dns.message.Message(q.id)
            r.flags = dns.flags.QR | dns.flags.RD
            r.set_rcode(1)
            return r
        return fixed("198.18.9.16")(q, tcp)
    with FakeServer(answer) as s, daemon(more=clause("forward", "x.lab", "forward-addr: " + s.at)) as d:
        assert texts(d.ask("a.x.lab.")) == ["198.18.9.16"]
        assert texts(d.ask("b.x.lab.")) == ["198.18.9.16"]


def authoritative(zone, hosts):
    def answer(q, tcp):
        r = dns.message.make_response(q)
        r.flags |= dns.flags.AA
        name = q.question[0].name.to_text().lower()
        soa = dns.rrset.from_text(zone, 60, "IN", "SOA", "ns.%s h.%s 1 2 3 4 60" % (zone, zone))
        if name == zone and q.question[0].rdtype == dns.rdatatype.NS:
            r.answer.append(dns.rrset.from_text(zone, 60, "IN", "NS", "ns." + zone))
        elif name in hosts and q.question[0].rdtype == dns.rdatatype.A:
            r.answer.append(dns.rrset.from_text(name, 60, "IN", "A", hosts[name]))
        else:
            r.authority.append(soa)
            if name not in hosts and name != zone:
                r.set_rcode(3)
        return r
    return answer


def test_a_stub_zone_nobody_else_knows(daemon):
    hosts = {"www.corp.lab.": "198.18.9.20", "ns.corp.lab.": "127.0.0.1"}
    with FakeServer(authoritative("corp.lab.", hosts)) as s, daemon(
            more=clause("stub", "corp.lab", "stub-addr: " + s.at)) as d:
        assert texts(d.ask("www.corp.lab.")) == ["198.18.9.20"]
        assert rcode(d.ask("no.corp.lab.")) == "NXDOMAIN"
        assert rcode(d.ask("www.other.lab.")) == "NXDOMAIN"


def test_a_stub_zone_beats_a_remembered_nxdomain(daemon):
    """harden-below-nxdomain must not hide what the operator wrote down (CVE-2026-44687)."""
    with FakeServer(authoritative("corp.lab.", {"www.corp.lab.": "198.18.9.21"})) as s, daemon(
            "harden-below-nxdomain: yes", more=clause("stub", "corp.lab", "stub-addr: " + s.at)) as d:
        assert rcode(d.ask("lab.")) == "NXDOMAIN"
        assert texts(d.ask("www.corp.lab.")) == ["198.18.9.21"]


def test_a_stub_zone_of_the_miniature_internet(daemon):
    """Its real server, by address and by name; and primed, where the zone's own NS set is asked for."""
    for line in ("stub-addr: 127.21.0.1", "stub-host: ns1.brightdns.net", "stub-addr: 127.21.0.1\n    stub-prime: yes"):
        with daemon(more=clause("stub", "same.mini", line)) as d:
            assert texts(d.ask("www.same.mini.")) == ["198.18.0.100"]
            assert texts(d.ask("www.child.same.mini.")) == ["198.18.0.101"]


@pytest.mark.parametrize("first, want", [("yes", "NOERROR"), ("no", "SERVFAIL")])
def test_stub_first(daemon, first, want):
    with FakeServer(refusing()) as s, daemon(
            more=clause("stub", "chain.net", "stub-addr: " + s.at, "stub-first: " + first)) as d:
        assert rcode(d.ask("target.chain.net.", timeout=40)) == want


def test_forwards_and_stubs_come_and_go(daemon):
    with FakeServer(fixed("198.18.9.30")) as s, daemon() as d:
        assert texts(d.ask("target.chain.net.")) == ["198.18.0.40"]
        d.control("forward_add", "chain.net", s.at)
        d.control("flush_zone", "chain.net")
        assert "chain.net. IN forward " + s.at in d.control("list_forwards")
        assert texts(d.ask("target.chain.net.")) == ["198.18.9.30"]
        d.control("forward_remove", "chain.net")
        d.control("flush_zone", "chain.net")
        assert "chain.net" not in d.control("list_forwards")
        assert texts(d.ask("target.chain.net.")) == ["198.18.0.40"]
        d.control("stub_add", "chain.org", s.at)
        d.control("flush_zone", "chain.org")
        assert "chain.org. IN stub noprime " + s.at in d.control("list_stubs")
        assert texts(d.ask("target.chain.org.")) == ["198.18.9.30"]
        d.control("stub_remove", "chain.org")
        d.control("flush_zone", "chain.org")
        assert texts(d.ask("target.chain.org.")) == ["198.18.0.40"]


def test_total_loss_of_the_network_is_forgotten_at_once(daemon):
    """All servers silent for a while: when they are back, the first question is answered within about
    a second, not after minutes of backing off."""
    act = {"answer": silent}
    with FakeServer(lambda q, tcp: act["answer"](q, tcp)) as s, daemon(
            more=clause("forward", ".", "forward-addr: " + s.at), hints=False) as d:
        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            codes = set(pool.map(lambda i: rcode(d.ask("n%d.lab." % i, timeout=40)), range(24)))
        assert codes == {"SERVFAIL"}
        act["answer"] = fixed("198.18.9.31")
        time.sleep(1)
        began = time.monotonic()
        assert texts(d.ask("back.lab.", timeout=40)) == ["198.18.9.31"]
        assert time.monotonic() - began < 2
