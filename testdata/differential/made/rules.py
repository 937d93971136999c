"""Differences between resolvers, and the rules that explain them.

SPDX-License-Identifier: BSD-3-Clause

A difference is explained when for each judge that differs from us there is a rule (generated.toml) in which everything that
it asks for is so:

    field      which fields: rcode ad answer soa sigs ttl ede
    type       regular expression for the question's type
    rcode      regular expression for our RCODE
    flags      words that must be there, or with `-` before them must not: do cd ad rd
    features   regular expressions, each of which must match one of the question's features whole
    without    regular expressions, none of which may match one
    ours       regular expression for our value: what the RFC asks for
    theirs     regular expression for the judge's value
    who        the judges it speaks of; "all" for any, and for all of them at once: where they agree with each other
               against us, no other rule counts

and says `rfc`, the place, and `why`, in a sentence of ours.
"""

import re
import tomllib

from . import wire
from .client import AGREED, FIELDS
from .world import Question


def text(value):
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        sets = sorted({(one[0] + "/" + one[1]) if isinstance(one, tuple) else one for one in value})
        return " ".join(sets) or "empty"
    return value or "empty"


class Rule:
    def __init__(self, row):
        self.row, self.why, self.rfc = row, row["why"], row["rfc"]
        self.fields = row["field"].split()
        self.flags = row.get("flags", "").split()
        self.type, self.rcode = re.compile(row.get("type", ".*")), re.compile(row.get("rcode", ".*"))
        self.features = [re.compile(p) for p in row.get("features", [])]
        self.without = [re.compile(p) for p in row.get("without", [])]
        self.ours, self.theirs = re.compile(row.get("ours", ".*")), re.compile(row.get("theirs", ".*"))
        self.who = set(row["who"].split())
        self.used = 0

    def covers(self, difference, judge):
        d, q = difference, difference.question
        on = {"do": q.dnssec, "cd": q.cd, "ad": q.ad, "rd": q.rd}
        return (d.field in self.fields and bool(self.rcode.fullmatch(d.rcode)) and bool(self.type.fullmatch(wire.type_text(q.type)))
                and all(not on[w[1:]] if w[0] == "-" else on[w] for w in self.flags)
                and ("all" in self.who or judge in self.who and not d.alone)
                and bool(self.ours.fullmatch(text(d.ours))) and bool(self.theirs.fullmatch(text(d.others[judge])))
                and all(any(p.fullmatch(f) for f in q.features) for p in self.features)
                and not any(p.fullmatch(f) for f in q.features for p in self.without))


class Difference:
    """Of one question, one field. `others`: the judges that say something else than we do, and what.
    `alone`: all of them agree with each other, against us."""

    def __init__(self, question, field, rcode, ours, others, judges):
        self.question, self.field, self.rcode, self.ours, self.others = question, field, rcode, ours, others
        self.alone = len(others) == judges and len(set(others.values())) == 1
        self.rules = []

    def explain(self, rules):
        """Whether rules do; they stand in `rules` then."""
        found = {judge: next((r for r in rules if r.covers(self, judge)), None) for judge in self.others}
        self.rules = [] if None in found.values() else list(dict.fromkeys(found.values()))
        return bool(self.rules)

    def signature(self):
        """Differences of one kind have the same."""
        return (self.field, shape(self.ours), tuple(sorted((n, shape(v)) for n, v in self.others.items())))

    def record(self, seed, when):
        """What `read_record` reads: a difference can be held against other rules later on."""
        q = self.question
        return {"seed": seed, "when": when, "number": q.number, "labels": [p.decode("latin-1") for p in q.labels], "type": q.type,
                "flags": [q.dnssec, q.cd, q.ad, q.rd], "upper": q.upper, "features": sorted(q.features), "field": self.field, "rcode": self.rcode,
                "ours": self.ours, "others": self.others, "alone": self.alone}

    def show(self):
        return "%s: %s ours %s; %s" % (self.question.show(), self.field, text(self.ours), ", ".join(
            "%s %s" % (n, text(v)) for n, v in sorted(self.others.items())))


def read_record(row):
    """(seed, when, the difference)."""
    def frozen(value):
        return tuple(tuple(v) if isinstance(v, list) else v for v in value) if isinstance(value, list) else value
    q = Question(row["number"], tuple(p.encode("latin-1") for p in row["labels"]), row["type"], *row["flags"], frozenset(row["features"]), row["upper"])
    d = Difference(q, row["field"], row["rcode"], frozen(row["ours"]), {n: frozen(v) for n, v in row["others"].items()}, 0)
    d.alone = row["alone"]
    return row["seed"], row["when"], d


def shape(value):
    """A value without its names."""
    if isinstance(value, tuple):
        return " ".join(sorted({one[1] if isinstance(one, tuple) else one for one in value})) or "empty"
    return text(value)


def differences(question, views):
    """`views`: {name: View}, ours under "resolverd". With another RCODE everything else differs of course."""
    ours = views["resolverd"]
    judges = {n: v for n, v in views.items() if n != "resolverd"}
    for field in FIELDS:
        others = {n: v.field(field) for n, v in judges.items() if v.field(field) != ours.field(field)}
        if field != "rcode":
            others = {n: value for n, value in others.items() if judges[n].rcode == ours.rcode}
        if others:
            yield Difference(question, field, ours.rcode, ours.field(field), others, len(judges))
    for field in AGREED:
        # With other records there are other TTLs, too.
        same = {n: v.field(field) for n, v in judges.items() if v.rcode == ours.rcode and (field == "ede" or (v.answer, v.soa) == (ours.answer, ours.soa))}
        others = {n: value for n, value in same.items() if value != ours.field(field) and list(same.values()).count(value) > 1}
        if others:
            yield Difference(question, field, ours.rcode, ours.field(field), others, len(judges))


def read_rules(path):
    with open(path, "rb") as f:
        return [Rule(row) for row in tomllib.load(f).get("rule", [])]
