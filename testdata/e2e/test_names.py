"""Every kind of name the miniature internet has gets the answer it should.

SPDX-License-Identifier: BSD-3-Clause
"""

import collections
import concurrent.futures
import os

import dns.rdatatype
import pytest

from lab import rcode, texts

EMPTY = ("nodata", "ent", "nxdomain", "wildcard-nodata")


def rows(net, name):
    with open(os.path.join(net, name), encoding="ascii") as f:
        lines = [line.rstrip("\n").split("\t") for line in f if not line.startswith("#")]
    return lines[1:] if lines[0][0] == "name" else lines


def complaint(row, answer):
    """None, or what is wrong with the answer."""
    name, rrtype, want, kind = row
    got = rcode(answer)
    if got != want:
        return "%s %s (%s): %s, not %s" % (name, rrtype, kind, got, want)
    if answer.question[0].name.to_text() != name:
        return "%s: the question came back as %s" % (name, answer.question[0].name)
    if rrtype == "ANY" or want not in ("NOERROR", "YXDOMAIN") and not kind.startswith(("cname", "dname")):
        return None
    empty = kind.startswith(EMPTY) or (kind == "half-broken" and want == "NXDOMAIN")
    if empty != (not answer.answer):
        return "%s %s (%s): %d sets in the answer" % (name, rrtype, kind, len(answer.answer))
    if not empty and "nodata" not in kind and want == "NOERROR":
        types = {s.rdtype for s in answer.answer}
        if dns.rdatatype.from_text(rrtype) not in types:
            return "%s %s (%s): the answer has none of the type" % (name, rrtype, kind)
    return None


def test_every_name_has_its_answer(shared, net):
    every = rows(net, "names.tsv")
    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        answers = list(pool.map(lambda r: shared.ask(r[0], r[1]), every))
    wrong = [c for c in map(complaint, every, answers) if c]
    assert not wrong, "%d of %d:\n%s" % (len(wrong), len(every), "\n".join(wrong[:50]))


def test_every_name_has_the_same_answer_from_the_cache(shared, net):
    """One name of each kind, asked twice, over UDP and TCP: the same sets, in any order."""
    kinds = {}
    for row in rows(net, "names.tsv"):
        kinds.setdefault(row[3], row)
    wrong = []
    for name, rrtype, _, kind in kinds.values():
        if kind in ("ttl0", "ttl1", "ttl2", "ttl0-cname"):
            continue
        seen = [shared.ask(name, rrtype), shared.ask(name, rrtype), shared.ask(name, rrtype, tcp=True)]
        sets = [collections.Counter((s.name, s.rdtype, frozenset(s)) for s in m.answer) for m in seen]
        if not (sets[0] == sets[1] == sets[2]) or len({m.rcode() for m in seen}) > 1:
            wrong.append("%s %s (%s)" % (name, rrtype, kind))
    assert not wrong, "\n".join(wrong)


def test_what_is_broken_fails_in_time(shared, net):
    """SERVFAIL, soon enough for a client that waits, and in the end at all."""
    broken = rows(net, "broken.txt")
    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        answers = list(pool.map(lambda r: shared.ask(r[0], r[1], timeout=30), broken))
    wrong = ["%s: %s, not %s (%s)" % (r[0], rcode(a), r[2], r[3])
             for r, a in zip(broken, answers) if rcode(a) != r[2]]
    assert not wrong, "\n".join(wrong)


def test_failure_is_remembered(shared):
    """Asked again at once, a dead zone costs nothing more (RFC 9520)."""
    shared.ask("www.dead.mini.", timeout=30)
    assert rcode(shared.ask("www.dead.mini.", timeout=2)) == "SERVFAIL"


@pytest.mark.parametrize("name, want", [
    ("target.chain.net.", "198.18.0.40"),
    ("target.chain.org.", "198.18.0.40"),
    ("www.foreign-records.mini.", "198.18.0.151"),
])
def test_what_nobody_asked_for_is_not_believed(daemon, name, want):
    with daemon() as d:
        assert texts(d.ask("www.foreign-records.mini.")) == ["198.18.0.151"]
        assert texts(d.ask(name)) == [want]
        assert texts(d.ask("www.same.mini.")) == ["198.18.0.100"]


def test_truncation_upstream_is_followed_by_tcp(shared):
    assert len(texts(shared.ask("a1000.big.mini."))) == 1000
    assert texts(shared.ask("www.truncated-then-tcp.mini.")) == ["198.18.0.151"]


def test_case_comes_back_as_it_was_asked(shared):
    for name in ("WWW.chain.MINI.", "cAsE.MiXeD.mini.", "Target.Chain.Net."):
        assert shared.ask(name).question[0].name.to_text() == name
