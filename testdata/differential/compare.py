"""What of two replies is compared, and the rules that say which differences are accepted.

SPDX-License-Identifier: BSD-3-Clause
"""

import collections
import re
import struct

import dns.edns
import dns.exception
import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype

FIELDS = ("rcode", "flags", "question", "edns", "answer", "authority", "additional")
# With validation on only what it decides: the verdict, whether a reason is told, and what stands there.
JUDGED = ("rcode", "flags", "ede", "answer")


def view(wire):
    """What of a reply is compared, field by field."""
    if wire is None:
        return {f: "-" for f in FIELDS + JUDGED} | {"rcode": "no answer"}
    flags = struct.unpack("!H", wire[2:4])[0]
    shown = " ".join(n for bit, n in ((0x8000, "qr"), (0x400, "aa"), (0x200, "tc"), (0x100, "rd"), (0x80, "ra"),
                                      (0x40, "z"), (0x20, "ad"), (0x10, "cd")) if flags & bit)
    out = {"flags": "%s opcode %d" % (shown, flags >> 11 & 15)}
    try:
        # Read as a plain query whatever the opcode: the sections of an update have other meanings.
        m = dns.message.from_wire(wire[:2] + bytes([wire[2] & 0x87]) + wire[3:])
    except (dns.exception.DNSException, ValueError) as e:
        return {f: "?" for f in FIELDS + JUDGED} | out | {"rcode": "unreadable: %s" % type(e).__name__}
    out["rcode"] = dns.rcode.to_text(m.rcode())
    out["question"] = " ".join("%s %d %d" % (s.name, s.rdclass, s.rdtype) for s in m.question)
    out["edns"] = "none" if m.edns < 0 else "version %d%s size %d" % (
        m.edns, " do" if m.ednsflags & dns.flags.DO else "", m.payload)
    out["ede"] = "told" if any(o.otype == dns.edns.OptionType.EDE for o in m.options) else "none"
    for section in ("answer", "authority", "additional"):
        out[section] = " ".join(sorted("%s/%s/%s" % (
            s.name.canonicalize().to_text(), dns.rdatatype.to_text(s.rdtype), rdata.to_digestable().hex())
            for s in getattr(m, section) for rdata in s))
    return out


def brief(text, most=160):
    """A section as a person reads it: owners and types, with how many of each."""
    if "/" not in text:
        return text or "empty"
    sets = collections.Counter("/".join(item.split("/")[:2]) for item in text.split(" "))
    shown = " ".join(k if n == 1 else "%s*%d" % (k, n) for k, n in sorted(sets.items()))
    return shown if len(shown) <= most else shown[:most] + "..."


class Rule:
    def __init__(self, row):
        self.why = row["why"]
        self.fields = row["field"].split()
        self.runs = row.get("run", "plain judged").split()
        self.when = {k: re.compile(v) for k, v in row.get("when", {}).items()}
        self.ours, self.theirs = (re.compile(row.get(k, ".*"), re.S) for k in ("ours", "theirs"))
        self.used = 0

    def covers(self, q, ours, theirs, field):
        if field not in self.fields:
            return False
        facts = {"type": q.type, "class": q.rrclass, "name": q.name.lower(), "kind": q.kind, "opcode": str(q.opcode),
                 "edns": "none" if q.edns is None else str(q.edns), "do": "yes" if q.do else "no",
                 "rd": "yes" if q.rd else "no", "cd": "yes" if q.cd else "no", "tcp": "yes" if q.tcp else "no",
                 "rcode": ours["rcode"], "their_rcode": theirs["rcode"], "flags": ours["flags"],
                 "their_flags": theirs["flags"]}
        return (all(p.fullmatch(facts[k]) for k, p in self.when.items())
                and bool(self.ours.fullmatch(brief(ours[field], 10 ** 6)))
                and bool(self.theirs.fullmatch(brief(theirs[field], 10 ** 6))))


def compare(q, ours, theirs, rules, fields):
    """The fields that differ: (field, ours, theirs, rule or None)."""
    out = []
    for field in fields:
        if ours[field] != theirs[field]:
            rule = next((r for r in rules if r.covers(q, ours, theirs, field)), None)
            out.append((field, ours[field], theirs[field], rule))
    return out
