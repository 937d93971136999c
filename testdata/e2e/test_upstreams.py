"""Upstreams over TLS and HTTPS that misbehave: no client's question is lost, nobody is believed who should not be.

SPDX-License-Identifier: BSD-3-Clause
"""

import contextlib
import os
import time

import dns.edns
import dns.flags
import dns.message
import dns.query
import dns.rdatatype
import pytest

from faulty import FLOODS, Faulty, load
from lab import FakeServer, rcode, texts

GOOD = ["198.18.7.7"]


@pytest.fixture(params=["tls", "https"])
def https(request):
    return request.param == "https"


@pytest.fixture
def forwarding(daemon, ca):
    """A daemon that forwards everything to these."""
    def make(*upstreams, lines=(), strategy="spread", module="iterator"):
        https = upstreams[0].https
        zone = ["name: .", "forward-strategy: " + strategy,
                "forward-https-upstream: yes" if https else "forward-tls-upstream: yes"]
        zone += ["forward-addr: %s%s" % (u.at, "/ask" if https else "") for u in upstreams]
        # a busy machine takes its time; discard-timeout would keep late answers from clients who do not ask again
        return daemon('tls-cert-bundle: "%s"' % ca.path("ca.pem"), "ede: yes", "discard-timeout: 0", *lines,
                      module=module, hints=False, more="forward-zone:\n" + "".join("    %s\n" % line for line in zone))
    return make


def told(d, port):
    """What list_upstreams says of the server at this port."""
    line = next(x for x in d.control("list_upstreams").splitlines() if "@%d#" % port in x)
    return line, {k: int(v) for k, v in (f.split("=") for f in line.split() if "=" in f and f[-1].isdigit())}


def names(count, word="n"):
    return ["%s%d.lab" % (word, i) for i in range(count)]


def all_good(results, count):
    bad = {k: v for k, v in results.items() if v != 0}
    assert not bad and len(results) == count, "%d of %d: %s" % (len(bad), len(results), dict(list(bad.items())[:5]))


# -- one that is flaky, and there is no other ------------------------------------------------------


@pytest.mark.parametrize("act, limit, count", [
    ("good", 0, 400), ("close-early", 0, 60), ("once", 0, 60), ("limit", 50, 600), ("few", 20, 400),
    ("delay", 0, 400), ("reorder", 0, 400), ("truncate", 50, 400)])
def test_a_flaky_server_loses_no_question(forwarding, ca, https, act, limit, count):
    with Faulty(ca, act, https=https, limit=limit) as u, forwarding(u) as d:
        all_good(load(d.port, names(count), 60), count)
        line, seen = told(d, u.port)
        assert "https " in line if https else "tls " in line
        assert seen["answers"] >= count
        assert u.shaken < 2 or u.resumed >= 0.99 * (u.shaken - 1)


@pytest.mark.parametrize("act, limit", [("goaway", 20), ("refuse", 0)])
def test_http_servers_may_send_us_away(forwarding, ca, act, limit):
    with Faulty(ca, act, https=True, limit=limit) as u, forwarding(u) as d:
        all_good(load(d.port, names(200), 40), 200)


@pytest.mark.parametrize("limit", [500, 100])
def test_two_thousand_outstanding_questions_survive_resets(forwarding, ca, limit):
    """The upstream resets a connection at every 500th or 100th question: none of the clients' is lost, a handshake
    serves several, and those after the first are resumed."""
    # wait-limit would make an end to so many questions of one client
    lines = ["num-threads: 1", "num-queries-per-thread: 4096", "so-rcvbuf: 4m", "max-reuse-tcp-queries: 100000"]
    with Faulty(ca, "limit", limit=limit) as u, forwarding(u, lines=lines) as d:
        all_good(load(d.port, names(8000), 2000, seconds=60), 8000)
        assert u.resets >= 7500 // limit
        _, seen = told(d, u.port)
        assert 10 < seen["handshakes"] < 2000
        assert seen["resumed"] >= 0.99 * (seen["handshakes"] - 1)


def test_handshakes_are_resumed(forwarding, ca, https):
    with Faulty(ca, "few", https=https, limit=3) as u, forwarding(u, lines=["num-threads: 1"]) as d:
        all_good(load(d.port, names(450), 30), 450)
        _, seen = told(d, u.port)
        assert seen["handshakes"] >= 100
        assert seen["resumed"] >= 0.99 * (seen["handshakes"] - 1)


# -- what one question costs where nobody answers ----------------------------------------------------


ANYTHING_BUT_AN_ANSWER = [("gone", False, 0), ("gone", True, 0), ("goaway", True, 0), ("truncate", False, 1),
                          ("truncate", True, 1), ("other-name", False, 0), ("other-id", False, 0)]


@pytest.mark.parametrize("act, https, limit", ANYTHING_BUT_AN_ANSWER)
@pytest.mark.parametrize("strategy", ["spread", "race 2"])
def test_a_question_has_two_connections_to_each_that_does_not_answer(forwarding, ca, net, act, https, limit, strategy):
    """Whatever asks: the retries of a query, those to whom it is sent at the same time, the keys of the root."""
    with contextlib.ExitStack() as all_of:
        them = [all_of.enter_context(Faulty(ca, act, https=https, limit=limit)) for _ in range(2)]
        d = all_of.enter_context(forwarding(*them, lines=["num-threads: 1", 'trust-anchor-file: "%s/root.key"' % net],
                                            strategy=strategy, module="validator iterator"))
        for n, name in enumerate(names(3), 1):
            assert rcode(d.ask(name)) == "SERVFAIL"
            for u in them:
                assert u.accepted <= 2 * n, "%d connections for %d questions" % (u.accepted, n)


def spent(d):
    """Seconds of CPU, and kB of memory."""
    with open("/proc/%d/stat" % d.process.pid, encoding="ascii") as f:
        fields = f.read().rsplit(") ", 1)[1].split()
    with open("/proc/%d/status" % d.process.pid, encoding="ascii") as f:
        size = next(int(line.split()[1]) for line in f if line.startswith("VmHWM"))
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), size


@pytest.mark.parametrize("kind", FLOODS)
def test_a_flood_instead_of_an_answer_costs_little(forwarding, ca, kind):
    with Faulty(ca, "flood-" + kind, https=True) as u, forwarding(u, lines=["num-threads: 1"]) as d:
        cpu, size = spent(d)
        assert rcode(d.ask("a.lab")) == "SERVFAIL"
        cpu, size = spent(d)[0] - cpu, spent(d)[1] - size
        assert u.accepted <= 2
        assert cpu < (10 if d.is_sanitized() else 1), "%.1f s of CPU" % cpu
        assert size < (200000 if d.is_sanitized() else 30000), "%d kB" % size
        assert u.flooded < 64 << 20
        if kind in ("data", "informational", "window", "unknown"):    # the others end otherwise, and sooner
            assert "far more than its answers need" in d.log()


# -- one that is no use, beside another ------------------------------------------------------------


@pytest.mark.parametrize("act", ["mute", "deaf", "drip", "other-id", "other-name", "cut"])
def test_one_that_is_of_no_use_costs_only_time(forwarding, ca, https, act):
    if https and act == "other-id":
        pytest.skip("an answer over HTTPS belongs to its request, whatever its id")
    with Faulty(ca, act, https=https) as bad, Faulty(ca, https=https) as good, forwarding(bad, good) as d:
        all_good(load(d.port, names(80), 40), 80)


def test_odd_ones_all_together(forwarding, ca, https):
    with contextlib.ExitStack() as all_of:
        them = [all_of.enter_context(Faulty(ca, act, https=https, limit=limit)) for act, limit in (
            ("once", 0), ("few", 10), ("limit", 30), ("mute", 0), ("reorder", 0), ("truncate", 40), ("good", 0))]
        d = all_of.enter_context(forwarding(*them, lines=["num-threads: 1"]))
        all_good(load(d.port, names(600), 60), 600)


@pytest.mark.parametrize("act, why", [
    ("status", "HTTP status 503"), ("type", "no application/dns-message"), ("big", "too long"),
    ("no-h2", "HTTP/2")])
def test_what_is_no_answer_over_http_is_told_and_another_is_asked(forwarding, ca, act, why):
    with Faulty(ca, act, https=True) as bad, Faulty(ca, https=True) as good, forwarding(bad, good) as d:
        all_good(load(d.port, names(60), 20), 60)
        assert d.log().count(why) == 1
        line, _ = told(d, bad.port)
        assert "failing" in line and why in line


@pytest.mark.parametrize("cert, name, why", [
    ("expired", "dns.test", "certificate has expired"), ("good", "other.test", "hostname mismatch"),
    ("stranger", "dns.test", "unable to get local issuer certificate")])
def test_who_cannot_show_who_it_is_is_never_asked(forwarding, ca, https, cert, name, why):
    with Faulty(ca, cert=cert, https=https) as bad, Faulty(ca, https=https) as good:
        bad.at = bad.at.replace("dns.test", name)
        with forwarding(bad, good) as d:
            all_good(load(d.port, names(40), 20), 40)
            assert not bad.asked
            assert d.log().count(why) == 1
            assert why in told(d, bad.port)[0]
        with forwarding(bad) as d:
            r = d.ask("alone.lab.", timeout=20)
            assert rcode(r) == "SERVFAIL"
            assert [o.code for o in r.options if isinstance(o, dns.edns.EDEOption)] == [22]
            assert not bad.asked


def test_nothing_is_sent_in_clear_where_there_is_no_tls(forwarding, ca, https):
    """The port answers in clear: not one byte of a name is seen there."""
    seen = []
    with Faulty(ca, https=https) as u, forwarding(u) as d:
        u.serve = lambda conn, number: (seen.append(conn.recv(4096)), conn.sendall(b"220 hello\r\n"), conn.close())
        assert rcode(d.ask("secret.lab.", timeout=40)) == "SERVFAIL"
        assert seen and not any(b"secret" in data for data in seen)
        assert "failing" in told(d, u.port)[0]


# -- HTTPS as such ---------------------------------------------------------------------------------


def test_a_question_over_https(forwarding, ca):
    with Faulty(ca, https=True) as u, forwarding(u) as d:
        assert texts(d.ask("a.lab.")) == GOOD
        assert u.headers[0][":method"] == "POST" and u.headers[0][":path"] == "/ask"
        assert u.headers[0][":authority"] == "dns.test:%d" % u.port
        assert u.headers[0]["content-type"] == "application/dns-message"
        assert u.headers[0]["user-agent"].startswith("resolver")
        assert int(u.headers[0]["content-length"]) % 128 == 0


@pytest.mark.parametrize("line, agent", [("hide-http-user-agent: yes", None), ('http-user-agent: "a b/1"', "a b/1")])
def test_the_program_is_named_as_told(forwarding, ca, line, agent):
    with Faulty(ca, https=True) as u, forwarding(u, lines=[line]) as d:
        assert texts(d.ask("a.lab.")) == GOOD
        assert u.headers[0].get("user-agent") == agent


def test_many_questions_share_a_connection(forwarding, ca, https):
    with Faulty(ca, "delay", https=https) as u, forwarding(u, lines=["num-threads: 1"]) as d:
        all_good(load(d.port, names(60), 30), 60)
        assert u.accepted <= 3


# -- forward-strategy ------------------------------------------------------------------------------


def shares(first, second):
    return len(first.asked) / (len(first.asked) + len(second.asked))


def test_ordered_asks_the_first_while_it_works(forwarding, ca, https):
    with Faulty(ca, https=https) as a, Faulty(ca, https=https) as b, forwarding(a, b, strategy="ordered") as d:
        all_good(load(d.port, names(100), 5), 100)
        assert not b.asked
        a.act = "gone"
        all_good(load(d.port, names(100, "later"), 5), 100)


def test_spread_asks_both(forwarding, ca):
    with Faulty(ca) as a, Faulty(ca) as b, forwarding(a, b) as d:
        all_good(load(d.port, names(200), 5), 200)
        assert 0.25 < shares(a, b) < 0.75


def test_fastest_comes_to_prefer_the_fast_one(forwarding, ca):
    """On a busy machine the first round trips may say the contrary; then more of them have to."""
    with Faulty(ca, "delay") as slow, Faulty(ca) as fast, forwarding(slow, fast, strategy="fastest") as d:
        for turn in range(5):
            slow.asked.clear()
            fast.asked.clear()
            all_good(load(d.port, names(200, "turn%d-" % turn), 2), 200)
            if shares(slow, fast) < 0.25:
                return
        assert False, "it goes on asking the slow one: %.2f" % shares(slow, fast)


def test_a_race_is_won_by_the_first_answer(forwarding, ca):
    with Faulty(ca, "mute") as dead, Faulty(ca) as quick, forwarding(dead, quick, strategy="race 2") as d:
        all_good(load(d.port, names(100), 10, seconds=10), 100)
        assert dead.accepted and len(quick.asked) >= 100


# -- validation ------------------------------------------------------------------------------------


def stripping(port):
    """What a forwarder answers that knows nothing of DNSSEC."""
    def answer(q, tcp):
        plain = dns.message.make_query(q.question[0].name, q.question[0].rdtype)
        r = dns.query.udp_with_fallback(plain, "127.0.0.1", 10, port, ignore_unexpected=True)[0]
        r.id, r.question = q.id, q.question
        r.use_edns(False)
        kinds = (dns.rdatatype.RRSIG, dns.rdatatype.NSEC, dns.rdatatype.NSEC3)
        r.answer = [s for s in r.answer if s.rdtype not in kinds]
        r.authority = [s for s in r.authority if s.rdtype not in kinds]
        return r
    return answer


def look(d, name):
    return d.ask(name, dnssec=True, timeout=25)


@pytest.fixture(scope="module")
def resolver(daemon):
    with daemon() as d:
        yield d


def test_a_forwarder_that_strips_dnssec_is_named(daemon, net, resolver):
    with FakeServer(stripping(resolver.port)) as s, daemon(
            'trust-anchor-file: "%s/root.key"' % net, "ede: yes", module="validator iterator", hints=False,
            more='forward-zone:\n    name: .\n    forward-addr: %s\n' % s.at) as d:
        for name in ("www.halfdead.mini.", "mini.", "a.types.mini."):
            assert rcode(look(d, name)) == "SERVFAIL"
        assert d.log().count("strips DNSSEC records") == 1
        assert "forwarder %s for zone ." % s.at in d.log()


def test_where_one_forwarder_strips_the_other_is_asked(daemon, net, resolver):
    with FakeServer(stripping(resolver.port)) as s, daemon(
            'trust-anchor-file: "%s/root.key"' % net, module="validator iterator", hints=False,
            more='forward-zone:\n    name: .\n    forward-addr: %s\n    forward-addr: 127.0.0.1@%d\n'
            % (s.at, resolver.port)) as d:
        secure = 0
        for name in ("a.types.mini.", "b.types.mini.", "www.expired.mini.", "target.away.dname.mini."):
            r = look(d, name)
            assert rcode(r) == ("SERVFAIL" if "expired" in name else rcode(look(resolver, name)))
            secure += bool(r.flags & dns.flags.AD)
        assert secure >= 1


@pytest.mark.parametrize("https", [False, True], ids=["tls", "https"])
def test_chains_are_proven_over_encrypted_forwarders(daemon, net, ca, resolver, https):
    """DS and DNSKEY sets come through the same forwarder, over TLS and over HTTPS."""
    with Faulty(ca, https=https, ask=resolver.port) as u, daemon(
            'trust-anchor-file: "%s/root.key"' % net, 'tls-cert-bundle: "%s"' % ca.path("ca.pem"),
            module="validator iterator", hints=False,
            more="forward-zone:\n    name: .\n    forward-%s-upstream: yes\n    forward-addr: %s\n"
            % ("https" if https else "tls", u.at)) as d:
        r = look(d, "a.types.mini.")
        assert rcode(r) == "NOERROR" and r.flags & dns.flags.AD
        assert rcode(look(d, "www.expired.mini.")) == "SERVFAIL"
