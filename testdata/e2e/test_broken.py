"""Zones broken on purpose are refused for the right reason; what is only odd is not.

SPDX-License-Identifier: BSD-3-Clause

`verdicts.tsv` of the miniature internet says what to think. Where Debian's Unbound is installed it
is asked the same, with the same trust anchor.
"""

import csv
import os

import dns.edns
import dns.flags
import dns.message
import dns.query
import dns.rcode
import pytest

from lab import unbound

# Where the other resolver thinks otherwise, and why we do not.
DIFFERENCES = {
    ("www.byparent.mini.", "A"): "who signs above a cut has no say below it (RFC 4035 5.3.1)",
    ("www.revoked.mini.", "A"): "a revoked key authenticates nothing but its own end (RFC 5011 2.1)",
}


def look(port, name, rrtype, flags=0, timeout=20):
    q = dns.message.make_query(name, rrtype, want_dnssec=True)
    q.flags |= flags
    return dns.query.udp_with_fallback(q, "127.0.0.1", timeout, port, ignore_unexpected=True)[0]


def verdict(r):
    if r.rcode() == dns.rcode.SERVFAIL:
        return "bogus"
    return "secure" if r.flags & dns.flags.AD else "insecure"


def reasons(r):
    return [o.code for o in r.options if isinstance(o, dns.edns.EDEOption)]


@pytest.fixture(scope="module")
def verdicts(net):
    with open(os.path.join(net, "verdicts.tsv"), encoding="ascii") as f:
        return list(csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.fixture(scope="module")
def validator(daemon, net):
    with daemon('trust-anchor-file: "%s/root.key"' % net, "ede: yes", "num-threads: 2",
                module="validator iterator") as it:
        yield it


@pytest.fixture(scope="module")
def neighbour(net):
    """The port of Debian's Unbound, alive as long as the tests of this file."""
    with unbound('module-config: "validator iterator"', 'root-hints: "%s/root.hints"' % net,
                 'trust-anchor-file: "%s/root.key"' % net) as port:
        yield port


def test_every_verdict_and_its_reason(validator, verdicts):
    wrong = []
    for row in verdicts:
        for how in ("first", "from the cache"):
            r = look(validator.port, row["name"], row["type"])
            code = int(row["ede"])
            got = verdict(r), reasons(r)
            # What is insecure need not tell why; what is bogus has to, and what is secure has nothing to tell.
            fits = [code] if row["verdict"] == "bogus" else []
            if got[0] != row["verdict"] or got[1] != fits and not (got[0] == "insecure" and got[1] == [code]):
                wrong.append("%(name)s %(type)s is %(verdict)s (%(ede)s): %(why)s" % row + "; %s: %s %s" % (how, *got))
    assert not wrong, "%d of %d:\n%s" % (len(wrong), len(verdicts), "\n".join(wrong))
    assert len({r["name"].split(".", 1)[1] for r in verdicts if r["verdict"] == "bogus"}) >= 35


def test_who_validates_for_himself_gets_all_of_it(validator, verdicts):
    for row in verdicts:
        r = look(validator.port, row["name"], row["type"], dns.flags.CD)
        assert r.rcode() in (dns.rcode.NOERROR, dns.rcode.NXDOMAIN), row
        # What was bogus is not marked as proven here either.
        assert row["verdict"] != "bogus" or not r.flags & dns.flags.AD, row
        if row["verdict"] == "bogus" and row["type"] == "A" and not row["name"].startswith("no-such."):
            assert r.answer, row


def test_the_other_resolver_thinks_the_same(validator, neighbour, verdicts):
    wrong = []
    for row in verdicts:
        ours, theirs = (verdict(look(port, row["name"], row["type"])) for port in (validator.port, neighbour))
        if (ours != theirs) != ((row["name"], row["type"]) in DIFFERENCES):
            wrong.append("%s %s: %s here, %s there" % (row["name"], row["type"], ours, theirs))
    assert not wrong, "\n".join(wrong)


def test_the_weaker_digest_does_not_count_where_the_operator_says_so(daemon, net, validator):
    with daemon('trust-anchor-file: "%s/root.key"' % net, "ede: yes", "harden-algo-downgrade: yes",
                module="validator iterator") as strict:
        assert verdict(look(validator.port, "www.sha1ds.mini.", "A")) == "secure"
        r = look(strict.port, "www.sha1ds.mini.", "A")
        assert (verdict(r), reasons(r)) == ("bogus", [9])
        # A DS that comes before its key asks for no key of another algorithm.
        for name in ("www.comingds.mini.", "www.rollover.mini.", "www.prepublished.mini."):
            assert verdict(look(strict.port, name, "A")) == "secure", name
