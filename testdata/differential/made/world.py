"""A seed becomes a little internet: root, top-level domains, zones below, their servers; and questions about it.

SPDX-License-Identifier: BSD-3-Clause

Every question has features: what is true of the names, zones and servers on the way to its answer (rules speak of them).
"""

import dataclasses
import random
import struct

from . import content, servers, wire
from .wire import A, CNAME, DS, NS, SOA, to_wire
from .zones import ECDSA, ED25519, RSA, Signing, Zone

ROOT_ADDRESSES = ("198.18.0.1", "198.18.0.2")
# How a zone is signed; what is wrong with it, if anything; what the zone above says of it.
DENIALS = ["nsec"] * 4 + ["nsec3"] * 4 + ["optout"] * 2
ITERATIONS = [0] * 8 + [1, 5, 10, 50, 51, 100, 150, 151, 500]
ALGORITHMS = [ECDSA] * 6 + [RSA] * 3 + [ED25519] * 2 + [5, 200]
FAULTS = ["expired", "expired-leaf", "future", "false", "false-leaf", "no-dnskey", "no-rrsig", "no-rrsig-leaf", "no-denial", "signer", "two-signers",
          "tag", "labels", "garbled", "revoked", "no-zone-flag", "idle-algorithm", "revoked-beside", "no-sep", "protocol", "half-denial", "backwards",
          "short-original", "expires-soon", "false-beside", "unknown-beside", "nsec3-hash", "nsec3-flags", "bitmap", "bitmap-cname", "denial-unsigned"]
DS_KINDS = ["good"] * 10 + ["none"] * 2 + ["wrong", "digest", "algorithm", "both", "sha1", "unknown-and-good", "sha1-beside-wrong", "wrong-and-good", "sha384", "length", "old-tag"]
# What servers do otherwise, all of those of a zone, or one of two.
ALL_TRAITS = [t for t in servers.TRAITS if t not in ("refused", "servfail", "silent", "upward", "ds-of-wildcard", "any-refused", "foreign", "stale", "tc-always", "badvers")]
ONE_TRAITS = ALL_TRAITS + ["refused", "servfail", "upward", "ds-of-wildcard", "ds-of-wildcard", "foreign", "stale", "stale", "silent", "refused", "servfail", "any-refused",
                           "tc-always", "badvers"]
TYPES = [wire.type_number(t) for t in ("A A A AAAA AAAA TXT MX NS SOA CNAME DS DNSKEY DNAME NSEC NSEC3 NSEC3PARAM SRV PTR HTTPS SVCB CAA "
                                       "ANY RRSIG TLSA TYPE65280 TYPE1234 NAPTR HINFO SPF LOC").split()]

# What is asked at and around cuts more often than elsewhere.
ODD_TYPES = [wire.DS, wire.DS, wire.NS, wire.DNSKEY, wire.NSEC, wire.SOA, wire.RRSIG, wire.ANY, wire.NSEC3, wire.CNAME, wire.DNAME]


@dataclasses.dataclass(frozen=True)
class Question:
    number: int
    labels: tuple
    type: int
    dnssec: bool    # DO
    cd: bool
    ad: bool
    rd: bool
    features: frozenset
    upper: bool = False

    def flags(self):
        return (wire.RD if self.rd else 0) | (wire.CD if self.cd else 0) | (wire.AD if self.ad else 0)

    def wire(self, qid):
        return wire.query(qid, self.labels, self.type, self.flags(), self.dnssec, upper=self.upper)

    def show(self):
        words = [w for w, on in (("do", self.dnssec), ("cd", self.cd), ("ad", self.ad), ("nord", not self.rd), ("upper", self.upper)) if on]
        return "%s %s%s" % (wire.show(self.labels), wire.type_text(self.type), "".join(" " + w for w in words))


class World:
    def __init__(self, seed):
        self.dice, self.zones, self.servers, self.next = random.Random(seed), {}, {}, 10
        self.root = self.zone((), Signing(algorithm=self.dice.choice([ECDSA, RSA])), addresses=ROOT_ADDRESSES)
        tops = [wire.name(t) for t in self.dice.sample(["com.", "net.", "org.", "xy.", "info.", "de.", "co.xy.", "shop.", "se."], 4)]
        for top, denial in zip(tops, ["optout", "nsec", self.dice.choice(["nsec3", "nsec"]), None]):
            self.zone(top, denial and Signing(denial, self.dice.choice([ECDSA, RSA]), split=self.dice.random() < 0.5))
        for _ in range(self.dice.randrange(12, 18)):
            self.one_more(tops)
        self.link()
        for zone in self.zones.values():
            zone.finish()

    # -- zones and their servers -------------------------------------------------------------------

    def address(self):
        self.next += 1
        return "198.18.%d.%d" % (self.next // 250, self.next % 250 + 1)

    def zone(self, apex, signing=None, traits=(), one_traits=(), addresses=None, share=None):
        zone = Zone(apex, signing, self.dice.choice([60, 300, 300, 3600, 86400]))
        zone.habits = share.habits if share else {"server:" + t for t in traits} | {"one-server:" + t for t in one_traits}
        zone.features = features_of_signing(signing) | zone.habits | ({"shared-server"} if share else set())
        self.zones[apex] = zone
        count = 2 if one_traits or self.dice.random() < 0.6 else 1
        held = list(share.servers) if share else [
            self.server(a, set(traits) | (set(one_traits) if i == 0 else set())) for i, a in enumerate(
                addresses or [self.address() for _ in range(count)])]
        for server in held:
            server.zones[apex] = zone
        zone.servers = held
        zone.add(apex, SOA, to_wire((b"ns1",) + apex) + to_wire((b"hostmaster",) + apex) + bytes.fromhex("7842c2a1" "00000e10" "00000384" "00093a80")
                 + self.dice.choice([0, 60, 300, 3600, 86400, 604800]).to_bytes(4, "big"))
        return zone

    def server(self, address, traits):
        self.servers[address] = servers.Server(address, traits)
        return self.servers[address]

    def one_more(self, tops):
        dice = self.dice
        above = self.zones[dice.choice(tops)] if dice.random() < 0.55 else dice.choice([z for z in self.zones.values() if len(z.apex) > 0])
        label = dice.choice(content.WORDS).encode() + b"%d" % len(self.zones)
        apex = (label,) + above.apex if dice.random() < 0.85 else (label, b"ent") + above.apex
        signing = None
        if dice.random() < 0.72:
            fault = dice.choice(FAULTS) if dice.random() < 0.22 else ""
            signing = Signing(dice.choice(DENIALS), dice.choice(ALGORITHMS), dice.random() < 0.4, dice.choice(ITERATIONS),
                              dice.choice([b"", b"", b"\xaa\xbb", b"\1" * 8, b"\2" * 255]), fault, dice.choice(DS_KINDS) if not fault else "good")
        traits, one_traits, roll = (), (), dice.random()
        if roll < 0.30:
            traits = dice.sample(ALL_TRAITS, dice.choice([1, 1, 1, 2]))
        elif roll < 0.45:
            one_traits = [dice.choice(ONE_TRAITS)]
        share = above if roll > 0.88 and above.apex else None
        self.zone(apex, signing, traits, one_traits, share=share)

    def link(self):
        """What zones have in them, NS and DS included."""
        others = []
        for zone in self.zones.values():
            zone.parent = self.parent_of(zone.apex)
            self.name_servers(zone)
            others += [(b"host",) + zone.apex, (b"mail",) + zone.apex, (b"www", b"w") + zone.apex, zone.apex]
        for zone in self.zones.values():
            if len(zone.apex) > 0:
                content.Writer(zone, self.dice, others).fill()
            if len(zone.apex) > 1 and self.dice.random() < 0.09:
                self.odd_apex(zone)
        for zone in self.zones.values():
            if zone.parent:
                self.delegate(zone)
                if any("ds-of-wildcard" in h for h in zone.parent.habits):
                    zone.parent.data[(b"*",) + zone.apex[1:]] = {}
                    zone.parent.add((b"*",) + zone.apex[1:], CNAME, to_wire((b"host",) + zone.parent.apex))

    def odd_apex(self, zone):
        """An alias at the apex, beside SOA and NS: forbidden (RFC 1912 2.4), and met."""
        kind = self.dice.choice([CNAME, wire.DNAME])
        zone.add(zone.apex, kind, to_wire(self.dice.choice([z.apex for z in self.zones.values() if z is not zone])))
        zone.features.add("apex-cname" if kind == CNAME else "apex-dname")

    def parent_of(self, apex):
        for i in range(1, len(apex) + 1):
            if apex[i:] in self.zones:
                return self.zones[apex[i:]]
        return None

    def name_servers(self, zone):
        outside = self.dice.random() < 0.15 and len(zone.apex) > 1
        home = zone.apex
        if outside:
            home = self.dice.choice([z.apex for z in self.zones.values() if z.signing is None or not z.signing.fault] or [zone.apex])
            if not home:
                home = zone.apex
        zone.ns = []
        for i, server in enumerate(zone.servers):
            owner = (b"ns%d" % (i + 1) if home == zone.apex else b"ns%d-%s" % (i + 1, zone.apex[0]),) + home
            zone.ns.append((owner, server.address))
            zone.add(zone.apex, NS, to_wire(owner))
            self.zones[home].add(owner, A, bytes(int(p) for p in server.address.split(".")))
        if len(zone.apex) > 1 and self.dice.random() < 0.15:
            # The zone itself knows one more, whom nobody can find.
            zone.add(zone.apex, NS, to_wire((b"ns9",) + zone.apex))
            zone.features.add("ns-mismatch")

    def delegate(self, zone):
        parent = zone.parent
        # The name may hang below an alias that content put there: a delegation is what counts.
        parent.data[zone.apex] = {}
        for owner, address in zone.ns:
            parent.add(zone.apex, NS, to_wire(owner), ttl=3600)
            if wire.under(owner, zone.apex):
                parent.add(owner, A, bytes(int(p) for p in address.split(".")), ttl=3600)
        if zone.signing and (data := self.ds_of(zone)):
            parent.add(zone.apex, DS, *data, ttl=3600)

    def ds_of(self, zone):
        key, kind = zone.keys[0], zone.signing.ds
        good = key.ds()
        if zone.idle:
            return [good, zone.idle[0].ds()]
        return {"good": [good], "none": [], "wrong": [good[:-1] + bytes([good[-1] ^ 1])], "digest": [key.ds(250)],
                "algorithm": [good[:2] + b"\xc8" + good[3:]], "both": [key.ds(1), good], "sha1": [key.ds(1)],
                "unknown-and-good": [good[:2] + b"\xc8" + good[3:], good],
                # SHA-1 is not looked at beside a better one (RFC 4509 3).
                "sha1-beside-wrong": [key.ds(1), good[:-1] + bytes([good[-1] ^ 1])], "wrong-and-good": [good[:-1] + bytes([good[-1] ^ 1]), good],
                "sha384": [key.ds(4)], "length": [good[:-1]], "old-tag": [struct.pack("!H", key.tag ^ 1) + good[2:], good]}[kind]

    # -- questions ---------------------------------------------------------------------------------

    def questions(self, count):
        dice, names = self.dice, []
        for zone in self.zones.values():
            weight = 1 if len(zone.apex) < 2 else 2
            for owner in sorted(zone.data):
                names += [owner] * weight + near(owner, zone, dice)
            names += [zone.apex] * 3
        names = [n for n in names if wire.fits(n)]
        out, seen, cuts = [], set(), {n for z in self.zones.values() for n in z.cuts} | set(self.zones)
        while len(out) < count:
            labels = dice.choice(names)
            here = [t for z in self.zones.values() for t in z.data.get(labels, ())]
            rrtype = dice.choice(here) if here and dice.random() < 0.4 else dice.choice(TYPES)
            if labels in cuts and dice.random() < 0.5:
                rrtype = dice.choice(ODD_TYPES)
            q = (labels, rrtype, dice.random() < 0.5, dice.random() < 0.12, dice.random() < 0.2, dice.random() > 0.02)
            if q not in seen:
                seen.add(q)
                out.append(Question(len(out), *q, self.features(labels, rrtype), dice.random() < 0.1))
        return out

    def features(self, labels, rrtype):
        """What there is on the way: of each zone above, of the name, and of what an alias leads to."""
        out, seen = set(), set()
        step = ""
        while labels is not None and labels not in seen and len(seen) < 20:
            seen.add(labels)
            zone = self.root
            chain = [zone]
            while True:
                said = zone.answer(labels, rrtype)
                child = self.zones.get(said.cut) if said.cut else None
                if child is None or child in chain:
                    break
                zone = child
                chain.append(zone)
            for z in chain:
                out |= z.features if z is chain[-1] else {"above:" + f for f in z.features}
            out |= set(said.how) | {step + h for h in said.how}
            if sum(len(s.rdatas) for s in said.answer) > 50:
                out.add("big")
            if said.cut:
                out.add("dead-cut")
            if len(zone.apex) == len(labels):
                out.add("apex")
            if any(p == b"*" for p in labels):
                out.add("asterisk")
            if rrtype == DS and labels in self.zones and self.zones[labels].signing:
                out.add("asked-ds:" + self.zones[labels].signing.ds)
            if any(p[:2] == b"wc" and p[2:].isdigit() for p in labels):
                out.add("wild-cut")
            if out & {"apex-cname"} and labels == zone.apex:
                out.add("at-odd-apex")
            labels, step = said.target, "target:"
            if labels is not None and not wire.under(labels, zone.apex):
                out.add("leaves-zone")
        if labels is not None:
            out.add("loop" if labels in seen else "long-chain")
        if any(wire.under(n, owner) for n in seen for owner, _ in self.root.ns):
            out.add("hint")
        if len(seen) > 2:
            out.add("chain")
        if len(seen) > 8:
            out.add("many-aliases")
        return frozenset(out)

    def anchor(self):
        return self.root.keys[0]

    def hints(self):
        return ["%s" % a for a in ROOT_ADDRESSES]


def features_of_signing(signing):
    if not signing:
        return {"unsigned"}
    out = {"signed", signing.denial, "alg:%d" % signing.algorithm, "ds:" + signing.ds}
    if signing.denial != "nsec":
        out.add("nsec3-any")
        out.add("iterations:%s" % next(k for k, most in (("0", 0), ("50", 50), ("100", 100), ("150", 150), ("500", 500)) if signing.iterations <= most))
    if signing.fault:
        out.add("fault:" + signing.fault)
    return out


def near(owner, zone, dice):
    """Names around one that is there."""
    out = [(b"nx",) + owner]
    if dice.random() < 0.3:
        out.append((b"y", b"x") + owner)
    if owner[0:1] == (b"*",):
        made = (dice.choice(content.WORDS).encode(),) + owner[1:]
        out += [made, made, (b"deeper",) + made, (b"*",) + made]
    elif len(owner) > len(zone.apex):
        if dice.random() < 0.5:
            out.append(owner[1:])
        if dice.random() < 0.3:
            out.append((owner[0] + b"0",) + owner[1:])
        if dice.random() < 0.15:
            out.append((b"*",) + owner[1:])
    if zone.has(owner, wire.DNAME):
        out += [(b"host",) + owner, (b"www", b"w") + owner, (b"l" * 60, b"m" * 60) + owner]
    return out
