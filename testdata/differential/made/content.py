"""What a made zone has in it: record data of every type, and names of every kind.

SPDX-License-Identifier: BSD-3-Clause
"""

import struct

from . import wire
from .wire import CNAME, DNAME, DS, NS, TXT, to_wire

# One valid datum, in presentation form, for each type of util/dns/rrtype.def that has data; `$` stands for the zone.
DATA = {
    "A": "192.0.2.1", "AAAA": "2001:db8::1", "HINFO": '"PC" "Plan 9"', "MX": "10 mail.$", "TXT": '"plain" "and more"', "PTR": "host.$",
    "RP": "admin.$ info.$", "AFSDB": "1 host.$", "X25": '"311061700956"', "ISDN": '"150862028003217" "004"', "RT": "10 host.$",
    "NSAP": "0x47000580005a0000000001e133ffffff00016100", "PX": "10 a.$ b.$", "GPOS": '"-32.6882" "116.8652" "10.0"',
    "LOC": "52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000m 10m", "SRV": "1 2 443 host.$", "NAPTR": '100 10 "u" "sip" "!^.*$!x!" .',
    "KX": "10 host.$", "CERT": "PGP 0 0 AAAA", "APL": "1:192.0.2.0/24 !2:2001:db8::/32", "SSHFP": "4 2 " + "ab" * 32,
    "IPSECKEY": "10 1 2 192.0.2.38 AQNRU3mG7TVTO2BkR47usntb102uFJtugbo6BSGvgqt4AQ==", "DHCID": "AAIBY2/AuCccgoJbsaxcQc9TUapptP69lOjxfNuVAA2kjEA=",
    "TLSA": "3 1 1 " + "cd" * 32, "SMIMEA": "3 1 1 " + "ce" * 32, "HIP": "2 200100107B1A74DF365639CC39F1D578 AwEAAbdxyhNuSutc5EMzxTs9LBPCIkOFH8cI",
    "CDS": "12345 13 2 " + "ef" * 32, "CDNSKEY": "257 3 13 " + "A" * 86 + "==", "OPENPGPKEY": "AAAA", "CSYNC": "66 3 A NS AAAA",
    "ZONEMD": "2018031500 1 1 " + "ab" * 48, "SVCB": "1 host.$ port=8443", "HTTPS": "1 . alpn=h2,h3 ipv4hint=192.0.2.5", "SPF": '"v=spf1 -all"',
    "NID": "10 0014:4fff:ff20:ee64", "L32": "10 10.1.2.0", "L64": "10 2001:0db8:1140:1000", "LP": "10 host.$", "EUI48": "00-00-5e-00-53-2a",
    "EUI64": "00-00-5e-ef-10-00-00-2a", "URI": '10 1 "https://host.example/"', "CAA": '0 issue "ca.example"', "AVC": '"app-name:x"',
    "AMTRELAY": "10 0 1 203.0.113.15", "NINFO": '"zone" "info"', "NULL": "\\# 3 010203", "MB": "\\# 1 00", "MR": "\\# 1 00", "MINFO": "\\# 2 0000",
    "KEY": "\\# 5 0200030d01", "TYPE31": "\\# 4 e32c6f78", "TYPE32": "\\# 4 32251a03", "TYPE58": "\\# 2 0000", "NSAP-PTR": "\\# 1 00",
    "TYPE56": "\\# 2 0178", "TYPE57": "\\# 5 0000030d01", "TYPE259": "\\# 11 0000000000000000000000", "TYPE261": "\\# 8 07716e616d656d69", "TYPE262": "\\# 4 03414243",
    "TYPE32768": "\\# 24 30390d01" + "ab" * 20, "TYPE32769": "\\# 24 30390d01" + "ac" * 20, "TYPE65280": "\\# 4 0a000001", "TYPE1234": "\\# 0", "TYPE65534": "\\# 3 010203",
    "TYPE66": "\\# 6 003b0114e900", "TYPE100": "\\# 2 0102",
}
ORDINARY = ["A", "AAAA", "TXT", "MX", "SRV", "HTTPS", "CAA", "TLSA", "PTR", "NAPTR", "TYPE65280"]
WORDS = "www mail api cdn db dev shop img node edge auth mx ftp news wiki blog data home lab old new east west core iot vpn ns4 sip".split()
ODD_LABELS = [b"_sip", b"_443._tcp", b"a b", b"\0", b"x\xff", b"dot.ted", b"semi;colon", b"-dash-", b"xn--bcher-kva", b"123", b"*x", b"x*", b"\\", b"@"]


def datum(kind, zone, number=0):
    text = DATA[kind].replace("$", wire.show(zone) if zone else "root.")
    if kind == "A":
        return bytes([192, 0, 2, number % 250 + 1])
    if kind == "AAAA":
        return b"\x20\x01\x0d\xb8" + bytes(10) + struct.pack("!H", number + 1)
    if kind == "MX":
        return struct.pack("!H", 10 + number) + to_wire((b"mail",) + zone)
    if kind == "SRV":
        return struct.pack("!HHH", number, 1, 443) + to_wire((b"host",) + zone)
    if kind in ("MB", "MR"):
        return to_wire((b"host",) + zone)
    if kind == "TXT" and number:
        return bytes([5]) + b"t%04d" % number
    return wire.rdata(wire.type_number(kind), text)


class Writer:
    """Fills a zone. `others` are names elsewhere that aliases may lead to."""

    def __init__(self, zone, dice, others):
        self.zone, self.dice, self.others = zone, dice, others
        self.count = 0

    def put(self, labels, *kinds, many=1):
        owner = tuple(labels) + self.zone.apex
        if not wire.fits(owner) or CNAME in self.zone.data.get(owner, ()):
            return owner
        for kind in kinds:
            for i in range(many):
                self.zone.add(owner, wire.type_number(kind), datum(kind, self.zone.apex, self.count + i))
        self.count += many
        return owner

    def word(self):
        return self.dice.choice(WORDS).encode() + (b"%d" % self.dice.randrange(9) if self.dice.random() < 0.4 else b"")

    def here(self):
        """A name of this zone, or one that is not there."""
        return self.dice.choice(sorted(self.zone.data))

    def somewhere(self):
        roll = self.dice.random()
        if roll < 0.45 and self.others:
            return self.dice.choice(self.others)
        if roll < 0.85:
            return self.here()
        if roll < 0.93:
            return (b"absent",) + self.here()
        return (b"absent",) + (self.dice.choice(self.others)[1:] if self.others else ())

    def point(self, labels, rrtype, target):
        owner = tuple(labels) + self.zone.apex
        if wire.fits(owner) and not self.zone.data.get(owner) and wire.fits(target):
            self.zone.add(owner, rrtype, to_wire(target))

    def fill(self):
        self.put((b"host",), "A", "AAAA")
        self.put((b"mail",), "A")
        blocks = [self.hosts, self.hosts, self.types, self.nonterminals, self.wildcards, self.wildcards, self.deep_wildcards, self.aliases, self.aliases,
                  self.redirections, self.odd_labels, self.big, self.cuts, self.chain, self.spans, self.lifetimes, self.wild_cuts, self.astray]
        for block in self.dice.sample(blocks, self.dice.randrange(5, 12)):
            block()

    def hosts(self):
        for _ in range(3):
            self.put((self.word(),), *self.dice.sample(ORDINARY, self.dice.randrange(1, 4)), many=self.dice.choice([1, 1, 2, 5]))

    def types(self):
        """A name with many types."""
        for kind in self.dice.sample(sorted(DATA), self.dice.choice([5, 14, 40, len(DATA)])):
            self.put((b"types",), kind)
        self.put((self.word(),), *self.dice.sample(sorted(DATA), 4))

    def nonterminals(self):
        self.put((self.word(), self.word()), "A")
        self.put((self.word(), self.word(), self.word()), "TXT")

    def wildcards(self):
        way = self.dice.randrange(6)
        base = () if self.dice.random() < 0.25 else (self.word(),)
        if way <= 2:
            self.put((b"*",) + base, *self.dice.sample(ORDINARY, 2))
        elif way == 3:
            self.point((b"*",) + base, CNAME, self.somewhere())
        elif way == 4:
            self.put((b"*",) + base, "A", "MX")
            self.put((self.word(),) + base, "TXT")
            self.put((self.word(), b"sub") + base, "TXT")
        else:
            self.put((b"*",) + base, "TXT")
            self.put((b"*", b"*") + base, "A")

    def deep_wildcards(self):
        """The asterisk in the middle: a wildcard that is an empty non-terminal (RFC 4592 2.2.2)."""
        base = (self.word(),)
        self.put((self.word(), b"*") + base, "A")
        if self.dice.random() < 0.5:
            self.put((b"*", self.word(), b"*") + base, "TXT")

    def aliases(self):
        for _ in range(2):
            self.point((self.word(), b"al"), CNAME, self.somewhere())

    def chain(self):
        steps = self.dice.choice([2, 3, 5, 8, 12])
        for i in range(steps):
            self.point((b"c%d" % i,), CNAME, (b"c%d" % (i + 1),) + self.zone.apex)
        end = self.dice.random()
        if end < 0.3:
            self.point((b"c%d" % steps,), CNAME, (b"c0",) + self.zone.apex)
        elif end < 0.6:
            self.point((b"c%d" % steps,), CNAME, self.somewhere())
        else:
            self.put((b"c%d" % steps,), "A")

    def redirections(self):
        target = self.somewhere()
        if self.dice.random() < 0.5:
            target = target[1:] or target
        owner = (b"dn",) if self.dice.random() < 0.8 else (b"dn", self.word())
        self.point(owner, DNAME, target)
        if self.dice.random() < 0.3:
            self.zone.add(owner + self.zone.apex, TXT, b"\6beside")
        if self.dice.random() < 0.2:
            self.point((b"long",), DNAME, (b"l" * 60, b"m" * 60, b"n" * 60, b"o" * 30) + self.zone.apex)

    def spans(self):
        """Many delegations without DS, some of them in a row, and one with: what opt-out is for."""
        base = () if self.dice.random() < 0.5 else (b"many",)
        for i in range(self.dice.choice([3, 8, 20])):
            cut = (b"d%02d" % i,) + base + self.zone.apex
            if not self.zone.data.get(cut):
                self.zone.add(cut, NS, to_wire((b"ns", b"nowhere") + self.zone.apex))
                if self.dice.random() < 0.15:
                    self.zone.add(cut, DS, struct.pack("!HBB", 4711, 13, 2) + bytes(32))
        self.put((b"e05",) + base, "A")

    def lifetimes(self):
        """TTLs that are none, short, long, and no TTLs at all (RFC 8767 4)."""
        for name, ttl in ((b"ttl0", 0), (b"ttl1", 5), (b"week", 604800), (b"most", 2147483647), (b"negative", 0x80000001)):
            owner = (name,) + self.zone.apex
            if not self.zone.data.get(owner):
                self.zone.add(owner, TXT, datum("TXT", self.zone.apex), ttl=ttl)
        if not self.zone.data.get((b"tot",) + self.zone.apex):
            self.zone.add((b"tot",) + self.zone.apex, CNAME, to_wire((b"ttl0",) + self.zone.apex), ttl=3600)

    def wild_cuts(self):
        """Under an asterisk what makes no sense there: NS, DNAME, DS (RFC 4592 4.2, 4.4, 4.6)."""
        base = (b"wc%d" % self.dice.randrange(9),)
        kind = self.dice.choice([NS, DNAME, DNAME, DS])
        if kind == DS:
            self.zone.add((b"*",) + base + self.zone.apex, DS, struct.pack("!HBB", 4711, 13, 2) + bytes(32))
        else:
            self.point((b"*",) + base, kind, (b"host",) + self.zone.apex if kind == DNAME else (b"ns", b"nowhere") + self.zone.apex)
        self.put((b"x",) + base, "A")

    def astray(self):
        """Aliases to what is not there, is below a cut, is an apex, the root, or oneself."""
        targets = [(b"no", b"such", b"name") + self.zone.apex, self.zone.apex, (), (b"nosuchtop",), (b"below", b"d00") + self.zone.apex,
                   (b"a", b"dn") + self.zone.apex, (b"x", b"wc1") + self.zone.apex, (b"\0",) + self.zone.apex]
        targets += [self.dice.choice(self.others)[1:]] if self.others else []
        for i, target in enumerate(targets):
            self.point((b"astray%d" % i,), CNAME, target)
        self.point((b"self",), CNAME, (b"self",) + self.zone.apex)
        self.point((b"dself",), DNAME, (b"dself",) + self.zone.apex)
        self.point((b"droot",), DNAME, ())

    def odd_labels(self):
        for label in self.dice.sample(ODD_LABELS, 3):
            self.put((label,), self.dice.choice(["A", "TXT", "SRV"]))
        self.put((b"l" * 63, b"m" * 63, b"n" * 60), "A")

    def big(self):
        self.put((b"big",), "TXT", many=self.dice.choice([60, 200, 400]))

    def cuts(self):
        """Delegations to nobody, with names below that do not count; the signed ones come from the world."""
        label = self.word()
        cut = (label, b"cut") + self.zone.apex
        if self.zone.data.get(cut):
            return
        self.zone.add(cut, NS, to_wire((b"ns", b"nowhere") + self.zone.apex))
        self.put((b"below", label, b"cut"), "A")
        if self.dice.random() < 0.3:
            self.zone.add(cut, DS, struct.pack("!HBB", 4711, 13, 2) + bytes(32))


