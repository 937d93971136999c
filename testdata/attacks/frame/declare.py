"""What an attack is: its entry, the rule that answers it and where that stands, what is measured.

SPDX-License-Identifier: BSD-3-Clause

    @attack(20, "nxns", "a referral names many servers that do not exist",
            rule="no more than five servers that cannot be found are looked up",
            code="iterator/targets.c:targets_failed", limits={"U": 15, "R": "SERVFAIL"},
            variants={"60": {"count": 60}, "200": {"count": 200}})
    def nxns(lab, count): ... return {"U": lab.upstream(), "R": ...}

The function gets a fresh laboratory (see lab.py) and gives the figures by name. A limit is a number (at most),
`at_least(n)`, a text (exactly this), a set of texts, or `shown` for a figure that has no limit.

`answered(...)` declares an entry that a test elsewhere in the tree plays, `excused(...)` one that is not played,
with the reason.
"""

import os
import re

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
ATTACKS = {}
ANSWERED = []
EXCUSED = []


class Limit:
    def __init__(self, text, test, slows=False):
        self.text, self.holds, self.slows = text, test, slows


def at_most(most):
    return Limit("<= %s" % show(most), lambda v: v is not None and v <= most)


def at_least(least):
    return Limit(">= %s" % show(least), lambda v: v is not None and v >= least)


shown = Limit("none", lambda v: True)


def show(value):
    return "%.3g" % value if isinstance(value, float) and value < 1000 else str(
        round(value) if isinstance(value, float) else value)


def limit(wanted, slow, name):
    """The limit that was written; times get `slow` times as much where the build is a slow one."""
    if isinstance(wanted, Limit):
        return wanted
    if isinstance(wanted, str):
        return Limit(wanted, lambda v: v == wanted)
    if isinstance(wanted, (set, frozenset)):
        return Limit(" or ".join(sorted(wanted)), lambda v: v in wanted)
    return at_most(wanted * slow if name.split("_")[0] in ("C", "L", "M") else wanted)


class Attack:
    """One row: an attack with the values of one variant."""

    def __init__(self, function, entry, name, what, **more):
        self.function, self.entry, self.name, self.what = function, entry, name, what
        self.rule, self.code, self.limits = more.pop("rule"), more.pop("code"), more.pop("limits")
        self.values = more.pop("values", {})
        self.quick, self.noisy = more.pop("quick", False), more.pop("noisy", False)
        self.seconds = more.pop("seconds", 20)
        self.server, self.more = more.pop("server", ()), more.pop("more", "")
        self.module, self.bare = more.pop("module", "validator iterator"), more.pop("bare", False)
        self.family = more.pop("family", name)
        assert not more, more


def attack(entry, name, what, variants=None, **more):
    """Registers an attack, once for each variant: `{suffix: {argument: value}}`. A variant may bring limits of
    its own in the argument `limits`, and say in `quick` whether it is."""
    def register(function):
        for suffix, values in (variants or {"": {}}).items():
            values = dict(values)
            own = dict(more)
            own["limits"] = {**more["limits"], **values.pop("limits", {})}
            own["quick"] = values.pop("quick", more.get("quick", False))
            full = "%s-%s" % (name, suffix) if suffix else name
            assert full not in ATTACKS, full
            ATTACKS[full] = Attack(function, entry, full, what, values=values, family=name, **own)
        return function
    return register


def answered(entry, name, what, rule, code, test):
    """`test` is a scenario (testdata/replay/NAME.rpl), or FILE::FUNCTION of a test in Python or C."""
    ANSWERED.append((entry, name, what, rule, code, test))


def excused(entry, name, what, reason):
    EXCUSED.append((entry, name, what, reason))


# -- what was declared is there --------------------------------------------------------------------

def stands(place):
    """None, or what is wrong with FILE, FILE:SYMBOL or FILE::FUNCTION."""
    path, _, symbol = place.replace("::", ":").partition(":")
    full = os.path.join(TOP, path)
    if not os.path.isfile(full):
        return "there is no %s" % path
    if symbol:
        with open(full, encoding="utf-8") as f:
            if not re.search(r"\b%s\b" % re.escape(symbol), f.read()):
                return "%s has no %s" % (path, symbol)
    return None


def complaints():
    """What the declarations name that is not in the tree."""
    for a in ATTACKS.values():
        for place in places(a.code):
            if stands(place):
                yield "%s: %s" % (a.name, stands(place))
    for _, name, _, _, code, test in ANSWERED:
        for place in [*places(code), *places(test)]:
            if stands(place):
                yield "%s: %s" % (name, stands(place))


def places(text):
    return text.split()


# -- the table of doc/security.md ------------------------------------------------------------------

def cell(text):
    return " ".join(text.split()).replace("|", "\\|")


def limits_text(rows):
    """The limits of all variants in one cell: alike ones once."""
    seen = {}
    for row in rows:
        for name, wanted in row.limits.items():
            text = limit(wanted, 1, name).text
            if text != "none":
                seen.setdefault(name, [])
                if text not in seen[name]:
                    seen[name].append(text)
    return ", ".join("%s %s" % (name, " / ".join(texts)) for name, texts in seen.items())


def table():
    lines = ["| # | attack | our rule | where it stands | test and limits |", "|---|---|---|---|---|"]
    rows = []
    families = {}
    for a in ATTACKS.values():
        families.setdefault(a.family, []).append(a)
    for family, members in families.items():
        a = members[0]
        kinds = [m.name[len(family) + 1:] for m in members if m.name != family]
        test = "`%s`%s: %s" % (family, " (%s)" % ", ".join(kinds) if kinds else "", limits_text(members))
        rows.append((a.entry, 0, family, a.what, a.rule, a.code, test))
    for entry, name, what, rule, code, test in ANSWERED:
        rows.append((entry, 1, name, what, rule, code, " ".join("`%s`" % t for t in places(test))))
    for entry, name, what, reason in EXCUSED:
        rows.append((entry, 2, name, what, reason, "", "not played"))
    for entry, _, _, what, rule, code, test in sorted(rows, key=lambda r: (r[0], r[1], r[2])):
        lines.append("| %d | %s | %s | %s | %s |" % (
            entry, cell(what), cell(rule), " ".join("`%s`" % p for p in places(code)), cell(test)))
    return "\n".join(lines) + "\n"
