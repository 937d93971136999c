"""`resolver-control why`: where each part of an answer comes from.

SPDX-License-Identifier: BSD-3-Clause
"""

import re
import subprocess
import time

import pytest


@pytest.fixture(scope="module")
def d(daemon, net):
    with daemon('trust-anchor-file: "%s/root.key"' % net, "local-zone: blocked.example always_nxdomain",
                "access-control: 127.9.0.0/16 refuse", module="validator iterator") as it:
        yield it


def why(d, *words, code=0):
    return d.control("why", *words, code=code)


def test_the_way_down_and_the_chain_of_trust_are_told(d):
    out = why(d, "target.chain.mini", "AAAA")
    for step in (r"target\.chain\.mini\. AAAA: asks \S+ for \S+ A+, as a server of chain\.mini\.",
                 r"target\.chain\.mini\. AAAA: \S+ answers: answer \(NOERROR",
                 r"chain\.mini\. DNSKEY: asks \S+ for chain\.mini\. DNSKEY",
                 r"mini\. is secure \(DNSKEY RRset validated\)",
                 r"target\.chain\.mini\. AAAA: the answer is secure"):
        assert re.search(step, out), (step, out)
    assert re.search(r"(?m)^answer: NOERROR, proven by DNSSEC, after [\d.]+ ms$", out), out


def test_what_is_cached_is_told_to_be(d):
    d.ask("www.ent.mini.")
    out = why(d, "www.ent.mini")
    assert out.startswith("the message cache has an answer: cached for "), out
    assert "asks" not in out


@pytest.mark.parametrize("words, steps, end", [
    (["www.blocked.example"], r"decided by local-zone blocked\.example\. always_nxdomain", "NXDOMAIN, not proven by DNSSEC"),
    (["www.expired.mini"], r"the answer is bogus: .* by key \d+ of expired\.mini\. expired on", "SERVFAIL, failed"),
    (["target.chain.mini", "A", "127.9.0.1"], "access-control: refuse", "REFUSED, not proven by DNSSEC"),
], ids=["blocked", "bogus", "refused"])
def test_what_decides_is_named(d, words, steps, end):
    out = why(d, *words)
    assert re.search(steps, out), out
    assert "answer: " + end in out, out


def test_it_asks_as_the_client_would(daemon, tmp_path):
    """Over UDP, as most clients do, unless it is told otherwise."""
    (tmp_path / "policy").write_text("$ORIGIN policy.\n@ 60 IN SOA a. b. 1 2 3 4 5\n@ NS a.\n"
                                     "tcp.example CNAME rpz-tcp-only.\n")
    long = "".join('local-data: "long.example. TXT %s"\n' % " ".join(["%s%03d" % ("x" * 200, i)]) for i in range(20))
    with daemon(*long.strip().split("\n"), 'local-data: "plain.example. A 192.0.2.1"', 'module-config: "respip iterator"',
                more='rpz:\n    name: policy.\n    zonefile: "%s/policy"\n' % tmp_path) as d:
        for name, rrtype in (("tcp.example", "A"), ("long.example", "TXT")):
            for words in ([], ["127.0.0.1"], ["127.0.0.1", "udp"]):
                assert ", truncated: " in why(d, name, rrtype, *words), (name, words)
            assert "truncated" not in why(d, name, rrtype, "127.0.0.1", "TCP"), name
        assert "truncated" not in why(d, "plain.example")


@pytest.mark.parametrize("words", [[], ["a..b"], ["a.mini", "NOTYPE"], ["a.mini", "A", "nobody"],
                                   ["a.mini", "A", "127.0.0.1", "sctp"]])
def test_what_is_wrong_is_said(d, words):
    assert why(d, *words, code=1).startswith("error")


def test_a_slow_answer_is_waited_for_and_keeps_nobody(daemon):
    with daemon() as d:
        waiting = subprocess.Popen([d.program("resolver-control"), "-c", d.client_conf, "why", "www.silent.mini"],
                                   stdout=subprocess.PIPE, text=True)
        time.sleep(0.5)
        assert "is running" in d.control("status")
        assert waiting.poll() is None
        # the daemon ends while somebody waits: that is told, and harmless
        d.control("stop")
        waiting.communicate(timeout=15)
        assert d.process.wait(15) == 0
