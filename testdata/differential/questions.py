"""Three thousand questions of all kinds about the miniature internet, the same every time.

SPDX-License-Identifier: BSD-3-Clause
"""

import dataclasses
import os
import random

import dns.edns
import dns.flags
import dns.message
import dns.rdataclass
import dns.rdatatype

TYPES = ("A A A A AAAA AAAA NS SOA MX TXT CNAME PTR SRV CAA DS DNSKEY NSEC NSEC3 NSEC3PARAM RRSIG HTTPS SVCB "
         "NAPTR TLSA SSHFP LOC HINFO SPF URI CDS ANY TYPE731 TYPE65280 TYPE65281 TYPE1234").split()
META = "AXFR IXFR MAILA MAILB OPT TSIG TKEY TYPE0 TYPE128 TYPE200 TYPE248 TYPE254 TYPE65535".split()
CLASSES = ["CH", "HS", "ANY", "NONE", "CLASS2", "CLASS65280", "CLASS0"]
SIZES = [0, 100, 512, 600, 1220, 1232, 1400, 4096, 65535]

# Kinds a question is rarely drawn from, since each of them costs seconds and tells the same again.
SLOW = ("half-broken", "odd-")


@dataclasses.dataclass
class Question:
    number: int
    name: str
    type: str
    rrclass: str = "IN"
    kind: str = ""
    rd: bool = True
    cd: bool = False
    ad: bool = False
    z: bool = False
    edns: int = None      # version, or None for no EDNS
    do: bool = False
    size: int = 1232
    opcode: int = 0
    tcp: bool = False
    source: str = None    # the client's address, or None for any
    to: str = "127.0.0.1"     # the resolver's
    options: list = dataclasses.field(default_factory=list)     # of EDNS: (code, data)

    def wire(self, qid):
        q = dns.message.make_query(self.name, dns.rdatatype.from_text(self.type),
                                   dns.rdataclass.from_text(self.rrclass))
        q.id = qid
        q.flags = self.opcode << 11
        for on, flag in ((self.rd, dns.flags.RD), (self.cd, dns.flags.CD), (self.ad, dns.flags.AD), (self.z, 0x40)):
            q.flags |= flag if on else 0
        if self.edns is not None:
            q.use_edns(self.edns, dns.flags.DO if self.do else 0, self.size,
                       options=[dns.edns.GenericOption(*o) for o in self.options])
        else:
            q.use_edns(False)
        return q.to_wire()

    def dig(self):
        """The command that asks it."""
        words = ["-t", self.type, "-c", self.rrclass, "-q", self.name]
        words += ["+%srecurse" % ("" if self.rd else "no")]
        words += ["+cdflag"] * self.cd + ["+%sadflag" % ("" if self.ad else "no")] + ["+zflag"] * self.z
        if self.edns is None:
            words += ["+noedns"]
        else:
            words += ["+nocookie", "+noednsnegotiation", "+edns=%d" % self.edns, "+bufsize=%d" % self.size] + ["+dnssec"] * self.do
        words += ["+opcode=%d" % self.opcode] * (self.opcode != 0)
        words += ["+tcp" if self.tcp else "+ignore"]
        return "dig @127.0.0.1 -p PORT " + " ".join(words)


def load(net):
    rows = []
    with open(os.path.join(net, "names.tsv"), encoding="ascii") as f:
        for line in f.readlines()[1:]:
            name, rrtype, _, kind = line.rstrip("\n").split("\t")
            rows.append((name, rrtype, kind))
    with open(os.path.join(net, "broken.txt"), encoding="ascii") as f:
        for line in f:
            if not line.startswith("#"):
                name, rrtype, _, why = line.rstrip("\n").split("\t")
                rows.append((name, rrtype, "broken"))
    return rows


def make(net, count, seed):
    dice = random.Random(seed)
    rows = load(net)
    by_kind = {}
    for row in rows:
        by_kind.setdefault(row[2], []).append(row)
    kinds = sorted(by_kind)
    slow = [k for k in kinds if k == "broken" or k.startswith(SLOW)]
    fast = [k for k in kinds if k not in slow]
    out = []
    # First every slow one once, then every kind in turn, so that rare kinds are not lost in plenty.
    for kind in slow:
        out += [Question(0, n, t, kind=k) for n, t, k in by_kind[kind]]
    while len(out) < count:
        name, rrtype, kind = dice.choice(by_kind[fast[len(out) % len(fast)] if dice.random() < 0.6
                                                else dice.choice(fast)])
        q = Question(0, name, rrtype, kind=kind)
        vary(q, dice)
        out.append(q)
    dice.shuffle(out)
    for i, q in enumerate(out):
        q.number = i
    return out


def vary(q, dice):
    """Changes the plain question in the ways real clients and odd ones do."""
    way = dice.random()
    if way < 0.25:
        q.type = dice.choice(TYPES)
    elif way < 0.29:
        q.type = dice.choice(META)
    elif way < 0.32:
        q.rrclass = dice.choice(CLASSES)
    elif way < 0.36:
        q.name = dice.choice(["below.", "a.b.c.", "*.", "_x._tcp."]) + q.name if len(q.name) < 200 else q.name
        q.kind = "changed"
    elif way < 0.38:
        q.name = q.name.split(".", 1)[1] or "."
        q.kind = "changed"
    if dice.random() < 0.1 and "\\" not in q.name:
        q.name = "".join(c.upper() if dice.random() < 0.5 else c for c in q.name)
    if dice.random() < 0.75:
        q.edns = 0
        q.size = dice.choice(SIZES)
        q.do = dice.random() < 0.5
        if dice.random() < 0.03:
            q.edns = dice.choice([1, 2, 255])
    q.rd = dice.random() > 0.06
    q.cd = dice.random() < 0.25
    q.ad = dice.random() < 0.25
    q.z = dice.random() < 0.03
    q.tcp = dice.random() < 0.2
    if dice.random() < 0.02:
        q.opcode = dice.choice([1, 2, 3, 4, 5, 6, 15])
