"""Attacks by and on DNSSEC (entries 16 and 35 to 44).

SPDX-License-Identifier: BSD-3-Clause
"""

import os
import random
import socket
import struct
import time

import dns.flags

from frame import signing
from frame.authority import wire
from frame.declare import answered, attack, shown
from frame.signing import faults
from frame.world import ATTACKERS, Zone

TRUTH = "192.0.2.1"


def anchored(lab, name, records=(), address=ATTACKERS[0], **more):
    """A signed zone whose key is trusted."""
    key = signing.key(name)
    zone = lab.world.serve(Zone(name, records, key=key, **more), {"ns." + name: address})
    lab.anchor(key)
    return zone


def below(lab, parent, name, records=(), address=ATTACKERS[1], **more):
    """A signed zone with a DS set in its signed parent."""
    zone = Zone(name, records, key=signing.key(name), **more)
    return lab.world.serve(zone, {"ns." + name: address}, parent=parent)


def verdict(r):
    return "secure" if r.ad else "bogus" if r.rcode == "SERVFAIL" else "insecure" if r.rcode in (
        "NOERROR", "NXDOMAIN") else r.rcode


# -- KeyTrap ---------------------------------------------------------------------------------------

def one_tag(zone, count, tag=None):
    """Keys that all have the same tag, by flag bits that mean nothing; quickly: points are sums, not products."""
    keys, secret = [], random.randrange(1, faults.N - 100000)
    point = faults.times_g(secret)
    while len(keys) < count:
        secret, point = secret + 1, faults.add(point, faults.G)
        rest = struct.pack("!HBB", 0, 3, 13) + point[0].to_bytes(32, "big") + point[1].to_bytes(32, "big")
        for near in range(-2, 3):
            flags = 257 if tag is None else (tag - faults.key_tag(rest) + near) & 0xffff
            k = faults.Key(zone, struct.pack("!H", flags) + rest[2:], secret)
            if (tag is None or k.tag == tag) and flags & (0x100 | faults.REVOKE) == 0x100:
                keys.append(k)
                tag = k.tag
                break
    return keys


def broken_keys(zone, count, tag):
    """Of that tag too, but points of no curve, or cut: they cannot even be read."""
    keys = []
    while len(keys) < count:
        rest = struct.pack("!HBB", 0, 3, 13) + os.urandom(64 if len(keys) % 2 else 40)
        k = faults.Key(zone, rest, None)
        for near in range(-2, 3):
            flags = (tag - faults.key_tag(rest) + near) & 0xffff
            k.rdata = struct.pack("!H", flags) + rest[2:]
            if k.tag == tag and flags & (0x100 | faults.REVOKE) == 0x100:
                keys.append(k)
                break
    return keys


def false_signatures(s, keys, count):
    """So many, each by one of the keys, none of them true."""
    first = signing.sign(s, keys[0], false=True)
    for n in range(1, count):
        first.update(signing.sign(s, keys[n % len(keys)], false=True))
    return first


# A public key of P-384, which nobody can sign with any more: a check of its signatures costs nine times one of P-256.
P384 = bytes.fromhex("00e0f7125d325973973a206a4edd4efe7372e1d9df5172c394a18c17d502a2bdac40a070307952cbf6d34e3c0daae1d6"
                     "80968cd034d0d25947f8ad67f9673947a606c19382d0fae7bf0c0b681436356e002dd8f1a59875a90ec2785dcec9f62e")
# And an exponent of 64 bits: six times.
RSA = b"\x08" + b"\xff" * 8 + b"\xc5" * 512


class Trap:
    """trap.test: its DNSKEY set is good and holds sixty keys of one tag; what it signs is as the shape wants."""

    def __init__(self, lab, shape, count=60):
        self.shape, self.count = shape, count
        self.zone = anchored(lab, "trap.test.", ["www 60 A " + TRUTH])
        keys = one_tag("trap.test.", count)
        if shape == "malformed":
            keys = keys[:1] + broken_keys("trap.test.", count - 1, keys[0].tag)
        if shape == "one-key":
            keys = keys[:1]
        if shape in ("p384", "rsa"):
            algorithm, public = (14, P384) if shape == "p384" else (8, RSA)
            keys = [faults.Key("trap.test.", struct.pack("!HBB", 257, 3, algorithm) + public, None)]
        self.keys = keys
        self.zone.put(signing.dnskeys("trap.test.", [self.zone.key, *keys]))
        self.made = {}
        lab.world.script(ATTACKERS[0], self.answer)

    def answer(self, q):
        if q.labels[-3:-2] == [b"x"] or not q.name.startswith("x"):
            return self.zone.answer(q)
        if not q.tcp:
            return q.raw(flags=0x8600)
        if self.shape in ("denial", "p384", "rsa"):
            sets = [signing.nsec("n%d.trap.test" % n, "n%da.trap.test" % n, ["A", "RRSIG", "NSEC"]) for n in range(
                8 if self.shape == "rsa" else 20)]
            sets.append(signing.nsec("w.trap.test", "y.trap.test", ["A", "RRSIG", "NSEC"]))
            soa = self.zone.sets["trap.test.", "SOA"]
            return q.reply(authority=[one for s in [soa, *sets] for one in (s, self.false(s, 8))], rcode="NXDOMAIN")
        if self.shape == "denial3":
            sets = [signing.nsec3_covering("trap.test.", "a%d.trap.test" % n, 50, b"\xab" * 8) for n in range(40)]
            soa = self.zone.sets["trap.test.", "SOA"]
            return q.reply(authority=[one for s in [soa, *sets] for one in (s, self.false(s, 8))], rcode="NXDOMAIN")
        kinds = ["A"] if self.shape != "any" else ["TYPE%d" % n for n in range(1000, 1040)]
        out = []
        for kind in kinds:
            s = signing.rdatas(q.name, kind, [socket.inet_aton(TRUTH)], 60)
            out += [s, self.false(s, self.count if self.shape != "any" else 8)]
        return q.reply(out)

    def false(self, s, count):
        key = (s.name.to_text().split(".")[0][:1] != "x" and s.name.to_text(), s.rdtype, count)
        if key not in self.made or self.made[key].name != s.name:
            made = false_signatures(s, self.keys, count)
            made.name = s.name
            self.made[key] = made
        return self.made[key]


TRAP = dict(
    rule="at most eight signatures are checked per RRset, and per query 32 that fail and 192 that hold, one with P-384 counts as "
         "four; two keys per tag are tried, an unreadable key counts as tried; after eight checks other queries get their turn; "
         "who has used that up fails for a second or two",
    code="validator/verify.c:take_work services/mesh/private.h:QUERY_SIGNATURES validator/checked_sigs.h:CHECKED_CHECKS")
SHAPES = ("keys", "one-key", "malformed", "any", "denial", "denial3", "p384", "rsa")


@attack(35, "keytrap", "KeyTrap: sixty keys of one tag and sixty false signatures; malformed keys; ANY; padded denials; costly keys",
        variants={s: {"shape": s} for s in SHAPES}, limits={"C_ms": 20, "R": "SERVFAIL", "again_U": 0}, quick=True,
        seconds=40, **TRAP)
def keytrap(lab, shape):
    Trap(lab, shape)
    lab.start()
    assert lab.ask("www.trap.test", dnssec=True).ad
    kind = "ANY" if shape == "any" else "A"
    before, mark = lab.cpu_ms(), lab.mark()
    r = lab.ask("x1.trap.test", kind, dnssec=True)
    spent, u = lab.cpu_ms() - before, lab.upstream(mark, 0.5)
    mark = lab.mark()
    lab.ask("x1.trap.test", kind, dnssec=True)
    return {"C_ms": spent, "R": r.rcode, "U": u, "took_s": r.took_s, "again_U": lab.upstream(mark, 0.5)}


@attack(35, "keytrap-ds", "sixty DS records times sixty keys, all of one tag", seconds=40, quick=True,
        variants={"false": {"true": False}, "true-one-last": {"true": True}},
        limits={"C_ms": 20, "R": {"SERVFAIL", "NOERROR"}},
        rule="after four DS records that match a key's tag but not the key, it gives up",
        code="validator/ds_match.c:try_ds validator/verify.c:take_work")
def keytrap_ds(lab, true):
    parent = anchored(lab, "p.test.")
    keys = one_tag("trap.p.test.", 60)
    zone = Zone("trap.p.test.", ["www 60 A " + TRUTH], key=keys[-1])
    lab.world.serve(zone, {"ns.trap.p.test.": ATTACKERS[1]}, parent=parent)
    s = signing.dnskeys("trap.p.test.", keys)
    zone.put(s)
    signatures = false_signatures(s, keys, 59)
    if true:
        signatures.update(signing.sign(s, keys[-1]))
    zone.signed["trap.p.test.", "DNSKEY", id(s)] = signatures
    wires = [struct.pack("!HBB", keys[0].tag, 13, 2) + os.urandom(32) for _ in range(59)]
    parent.put(signing.rdatas("trap.p.test.", "DS", wires + [signing.ds_rdata(keys[-1])]))
    lab.start()
    lab.ask("first.p.test", dnssec=True)
    before, mark = lab.cpu_ms(), lab.mark()
    r = lab.ask("www.trap.p.test", dnssec=True)
    return {"C_ms": lab.cpu_ms() - before, "R": r.rcode, "U": lab.upstream(mark, 0.5), "took_s": r.took_s}


@attack(35, "keytrap-latency", "ten such queries at once, over and over", noisy=True, seconds=40,
        variants={s: {"shape": s} for s in ("keys", "denial")},
        limits={"L_worst_ms": 20, "C_each_ms": 20, "lost": 0}, **TRAP)
def keytrap_latency(lab, shape):
    Trap(lab, shape)
    lab.start()
    lab.ask("www.trap.test", dnssec=True)
    # What can be made ahead is: the script shall not be what is slow.
    with lab.latency() as figures:
        before = lab.cpu_ms()
        for turn in range(3):
            lab.ask_all(["x%d.trap.test" % (turn * 10 + n) for n in range(10)], dnssec=True)
        spent = lab.cpu_ms() - before
    return {"L_worst_ms": figures["worst_ms"], "C_each_ms": spent / 30, "lost": figures["lost"]}


# -- NSEC3 -----------------------------------------------------------------------------------------

@attack(36, "nsec3-iterations", "denials by NSEC3 with ever more iterations",
        variants={str(n): {"count": n, "limits": {"R": {"secure"} if n <= 50 else {"insecure", "secure"} if n <= 150 else
                                                  {"insecure"}}} for n in (0, 1, 50, 51, 150, 151, 500, 2500)},
        rule="above the limit for the key size nothing is hashed, and the answer counts as insecure",
        code="util/conf/options.def:val_nsec3_keysize_iterations validator/rules.c:rules_nsec3_limit", quick=True,
        limits={"rcode": "NXDOMAIN", "C_ms": 20})
def nsec3_iterations(lab, count):
    anchored(lab, "three.test.", nsec3=count, salt=b"\xab\xcd")
    lab.start()
    lab.ask("three.test", "SOA", dnssec=True)
    before = lab.cpu_ms()
    r = lab.ask("nothing.three.test", dnssec=True)
    return {"R": verdict(r), "rcode": r.rcode, "C_ms": lab.cpu_ms() - before}


@attack(36, "nsec3-labels", "a name of a hundred labels, each suffix of it to be hashed",
        variants={**{str(n): {"count": n} for n in (0, 50, 150, 2500)}, "long-salt": {"count": 150, "salt": b"\xab" * 255}},
        rule="a hundred units of 50 hashes per query, and hashing is not begun for a proof that needs too much",
        code="services/mesh/private.h:QUERY_HASHES util/dns/denial.c:hash_name", quick=True,
        limits={"C_ms": 10, "took_s": 1, "R": {"NXDOMAIN", "SERVFAIL"}})
def nsec3_labels(lab, count, salt=b"\xab" * 8):
    zone = anchored(lab, "three.test.", nsec3=count, salt=salt)
    name = ".".join(["a"] * 100) + ".three.test"

    def answer(q):
        # The proof is of no use, so that every suffix is tried.
        if q.name.startswith("a.") and q.dnssec:
            return q.reply(authority=[one for s in [zone.sets["three.test.", "SOA"]] + [signing.nsec3_covering(
                "three.test.", "n%d.three.test" % n, count, salt) for n in range(8)]
                for one in zone.with_signature(s, q)], rcode="NXDOMAIN")
        return zone.answer(q)
    lab.world.script(ATTACKERS[0], answer)
    lab.option("qname-minimisation: no")
    lab.start()
    lab.ask("three.test", "SOA", dnssec=True)
    before = lab.cpu_ms()
    r = lab.ask(name, dnssec=True)
    return {"C_ms": lab.cpu_ms() - before, "took_s": r.took_s, "R": r.rcode}


@attack(36, "nsec3-referral", "a referral without DS, proven with ever so many iterations",
        variants={str(n): {"count": n, "limits": {"R": shown}} for n in (50, 2500)},
        rule="the same limit for proofs that a zone cut is unsigned", code="validator/trust_chain.c:iteration_limit", quick=True,
        limits={"rcode": "NOERROR", "C_ms": 20})
def nsec3_referral(lab, count):
    parent = anchored(lab, "three.test.", nsec3=count, salt=b"\xab" * 8)
    lab.world.serve(Zone("plain.three.test.", ["www 60 A " + TRUTH]), {"ns.plain.three.test.": ATTACKERS[1]}, parent=parent)
    lab.start()
    lab.ask("three.test", "SOA", dnssec=True)
    before = lab.cpu_ms()
    r = lab.ask("www.plain.three.test", dnssec=True)
    return {"C_ms": lab.cpu_ms() - before, "R": verdict(r), "rcode": r.rcode}


@attack(36, "nsec3-padding", "a denial padded with NSEC3 records of other parameters, all signed",
        rule="all records of a proof must have the same parameters; each name is hashed once, within a budget",
        code="util/dns/denial.c:same_parameters util/dns/denial.c:hash_name", quick=True, limits={"C_ms": 20, "took_s": 2})
def nsec3_padding(lab):
    zone = anchored(lab, "three.test.", nsec3=10, salt=b"\1")
    many = [signing.nsec3_covering("three.test.", "n%d.three.test" % n, n % 50, bytes([n])) for n in range(60)]
    made = [one for s in many for one in (s, signing.sign(s, zone.key))]
    soa = [zone.sets["three.test.", "SOA"], signing.sign(zone.sets["three.test.", "SOA"], zone.key)]

    def answer(q):
        if not q.name.startswith("a."):
            return zone.answer(q)
        return q.reply(authority=soa + made, rcode="NXDOMAIN") if q.tcp else q.raw(flags=0x8600)
    lab.world.script(ATTACKERS[0], answer)
    lab.start()
    lab.ask("three.test", "SOA", dnssec=True)
    before = lab.cpu_ms()
    r = lab.ask("a.b.c.d.e.f.g.h.three.test", dnssec=True)
    return {"C_ms": lab.cpu_ms() - before, "took_s": r.took_s, "R": r.rcode}


# -- signatures that are not what they seem --------------------------------------------------------

def tricks(zone, sister):
    """Ways to sign www.a.p.test wrongly, as arguments for `sign`."""
    return {"labels-0": dict(labels=0), "labels-1": dict(labels=1), "labels-2": dict(labels=2), "labels-more": dict(labels=9),
            "signer-above": dict(signer="p.test."), "signer-root": dict(signer="."), "signer-sister": dict(
                k=sister.key), "signer-below": dict(signer="www.a.p.test."), "signer-tld": dict(signer="test."),
            "expired": dict(days=(-60, -30)), "future": dict(days=(30, 60)), "tag": dict(tag=1),
            "other-class": dict(rrclass=3), "wrapped-dates": dict(days=(30, -30))}


@attack(37, "labels", "signatures whose labels, signer, dates or class do not fit the RRset: wildcards above the "
                      "zone, another zone's signatures",
        variants={t: {"trick": t} for t in tricks(Zone("a."), Zone("b."))},
        rule="the signer must be the zone, with the owner at or below it; the labels field lies between the "
             "signer's and the owner's label count",
        code="validator/verify.c:labels_fit validator/verify.c:signature_applies validator/verify.c:zone_may_sign", quick=True,
        limits={"R": "bogus", "neighbour": "secure", "U": 16})
def labels(lab, trick):
    parent = anchored(lab, "p.test.", ["nb 60 A " + TRUTH])
    zone = below(lab, parent, "a.p.test.", ["www 60 A " + TRUTH])
    sister = below(lab, parent, "s.p.test.", ["www 60 A " + TRUTH], ATTACKERS[2])
    how = dict(tricks(zone, sister)[trick])
    k = how.pop("k", zone.key)

    def answer(q):
        if q.name == "www.a.p.test." and q.kind == "A" and q.dnssec:
            s = zone.sets[q.name, "A"]
            return q.reply([s, signing.sign(s, k, **how)])
        return zone.answer(q)
    lab.world.script(ATTACKERS[1], answer)
    r, u = ask_below(lab, "www.a.p.test")
    # Nobody beside it, nor above, has become a wildcard.
    ok = lab.ask("nb.p.test", dnssec=True).ad and lab.ask("www.s.p.test", dnssec=True).ad
    return {"R": verdict(r), "neighbour": "secure" if ok else "harmed", "U": u}


def ask_below(lab, name):
    """What is said of a name below p.test, whose keys are known by then, and what that cost."""
    lab.start()
    lab.ask("p.test", "SOA", dnssec=True)
    mark = lab.mark()
    r = lab.ask(name, dnssec=True)
    return r, lab.upstream(mark, 0.5)


def overreaching(zone, name):
    """Denials, signed by the zone itself, that say more than a zone may: (what is asked, records)."""
    return {
        "next-outside": [signing.nsec("e.p.test.", "z.p.test.", ["SOA", "NS", "RRSIG", "NSEC", "DNSKEY"])],
        "next-root": [signing.nsec("e.p.test.", ".", ["SOA", "NS", "RRSIG", "NSEC", "DNSKEY"])],
        "next-above": [signing.nsec("x.e.p.test.", "p.test.", ["A", "RRSIG", "NSEC"])],
        "owner-outside": [signing.nsec("d.p.test.", "z.p.test.", ["A", "RRSIG", "NSEC"])],
        "owner-is-parent": [signing.nsec("p.test.", "z.p.test.", ["SOA", "NS", "RRSIG", "NSEC"])],
        "owner-tld": [signing.nsec("test.", "zzz.test.", ["SOA", "NS", "RRSIG", "NSEC"])],
        "nsec3-owner-deeper": [signing.nsec3("x.e.p.test.", b"\0" * 20, b"\xff" * 20, ["A"])],
        "nsec3-owner-above": [signing.nsec3("p.test.", b"\0" * 20, b"\xff" * 20, ["A"])],
        "nsec3-no-hash": [signing.rdatas("short.e.p.test.", "NSEC3", [struct.pack("!BBHB", 1, 0, 0, 0) + b"\x14" + b"\xff" * 20
                                                                     + signing.bitmap(["A"])])],
        "nsec3-unknown-hash": [signing.nsec3("e.p.test.", b"\0" * 20, b"\xff" * 20, ["A"], algorithm=7)],
        "nsec3-hash-cut": [signing.nsec3("e.p.test.", b"\0" * 20, b"\xff" * 10, ["A"])],
    }


@attack(38, "overreaching-denial", "correctly signed NSEC and NSEC3 denials of a zone about names outside it",
        variants={t: {"trick": t} for t in overreaching(None, "")},
        rule="a zone may only deny its own names: owner and next name must be in it, an NSEC3 owner one label "
             "below its apex",
        code="util/dns/denial.c:nsec_is_sound util/dns/nsec3.c:nsec3_read services/cache/verified.h:verified_zone", quick=True,
        server=["aggressive-nsec: yes"], limits={"neighbour": "secure", "R": {"SERVFAIL", "NXDOMAIN"}, "U": 24})
def overreaching_denial(lab, trick):
    parent = anchored(lab, "p.test.", ["n 60 A " + TRUTH, "www.m 60 A " + TRUTH])
    zone = below(lab, parent, "e.p.test.")
    beside = below(lab, parent, "f.p.test.", ["www 60 A " + TRUTH], ATTACKERS[2])

    def answer(q):
        if q.name.endswith("y.e.p.test.") and q.dnssec:
            soa = zone.sets["e.p.test.", "SOA"]
            return q.reply(authority=[one for s in [soa, *overreaching(zone, q.name)[trick]]
                                      for one in (s, signing.sign(s, zone.key))], rcode="NXDOMAIN")
        return zone.answer(q)
    lab.world.script(ATTACKERS[1], answer)
    r, u = ask_below(lab, "y.e.p.test")
    names = ["n.p.test", "www.m.p.test", "www.f.p.test"]
    good = sum(a.ad and a.texts() == [TRUTH] for a in (lab.ask(n, dnssec=True) for n in names))
    # NXDOMAIN may be right where the rest of the proof is; but it must not be marked as proven.
    return {"R": "proven" if r.ad else r.rcode, "U": u, "zone": beside.name,
            "neighbour": "secure" if good == len(names) else "harmed"}


@attack(38, "denial-beside-its-duty", "an NSEC of the parent at a cut, of a DNAME, or made of a wildcard, for what lies below",
        variants={t: {"trick": t} for t in ("cut", "dname", "expanded")},
        # What is below a cut without DS is insecure, whatever is said of it; it must not be called proven.
        rule="an NSEC at a delegation or DNAME denies nothing below it; one expanded from a wildcard is not used",
        code="util/dns/denial.c:says_nothing_below util/dns/denial.c:nsec_is_sound", quick=True,
        server=["aggressive-nsec: yes"], limits={"R": {"bogus", "insecure"}})
def denial_beside_its_duty(lab, trick):
    zone = anchored(lab, "e.test.")
    types = {"cut": ["NS", "RRSIG", "NSEC"], "dname": ["DNAME", "RRSIG", "NSEC"], "expanded": ["A", "RRSIG", "NSEC"]}[trick]

    def answer(q):
        if not q.name.endswith("sub.e.test.") or not q.dnssec:
            return zone.answer(q)
        soa = zone.sets["e.test.", "SOA"]
        s = signing.nsec("sub.e.test.", "\\000.zzz.sub.e.test.", types)
        top = signing.nsec("e.test.", "+.e.test.", ["SOA", "NS", "RRSIG", "NSEC", "DNSKEY"])
        how = {"labels": 2} if trick == "expanded" else {}
        return q.reply(authority=[soa, signing.sign(soa, zone.key), s, signing.sign(s, zone.key, **how), top,
                                  signing.sign(top, zone.key)], rcode="NXDOMAIN")
    lab.world.script(ATTACKERS[0], answer)
    lab.option("qname-minimisation: no")
    lab.start()
    lab.ask("e.test", "SOA", dnssec=True)
    return {"R": verdict(lab.ask("www.sub.e.test", dnssec=True))}


@attack(39, "mixed-nsec3", "NSEC3 proofs put together of records with different salts, iterations or flags; opt-out",
        variants={t: {"trick": t, "limits": {"R": {"bogus"} if t != "optout" else {"insecure"}}}
                  for t in ("salt", "iterations", "optout", "other-hash")},
        rule="all records of a proof must have the same parameters; an opt-out span never makes a denial secure",
        code="util/dns/denial.c:same_parameters util/dns/denial.c:nsec3_denies", quick=True, limits={})
def mixed_nsec3(lab, trick):
    zone = anchored(lab, "three.test.", nsec3=5, salt=b"\1")
    match = signing.nsec3_matching("three.test.", "three.test.", ["NS", "SOA", "RRSIG", "DNSKEY"], 5, b"\1")
    salt, rounds, flags = b"\1", 5, 0
    if trick == "salt":
        salt = b"\2"
    if trick == "iterations":
        rounds = 6
    if trick == "optout":
        flags = 1

    def answer(q):
        if not q.name.startswith("gone.") or not q.dnssec:
            return zone.answer(q)
        closer = signing.nsec3_covering("three.test.", "gone.three.test", rounds, salt, flags=flags)
        wild = signing.nsec3_covering("three.test.", "*.three.test", rounds, salt)
        first = match if trick != "other-hash" else signing.nsec3(
            "three.test.", signing.hash3("three.test.", 5, b"\1"), b"\xff" * 20, ["NS", "SOA"], 5, b"\1", algorithm=2)
        soa = zone.sets["three.test.", "SOA"]
        return q.reply(authority=[one for s in (soa, first, closer, wild) for one in (s, signing.sign(s, zone.key))],
                       rcode="NXDOMAIN")
    lab.world.script(ATTACKERS[0], answer)
    lab.start()
    lab.ask("three.test", "SOA", dnssec=True)
    return {"R": verdict(lab.ask("gone.three.test", dnssec=True))}


@attack(40, "aliases-unproven", "an alias expanded from a wildcard without proof, a DNAME without signature, an "
                                "alias signed by another zone",
        variants={t: {"trick": t} for t in ("wildcard-cname", "dname", "foreign-cname", "bare-cname")},
        rule="each link is validated by itself: its own signature, its own zone, and for a wildcard expansion the "
             "proof that it applies",
        code="validator/answer_denial.c:answer_validate_expansion validator/answer_validity.c:synthesized_from", quick=True, limits={"R": "bogus"})
def aliases_unproven(lab, trick):
    zone = anchored(lab, "e.test.", ["* 60 CNAME t.o.test."])
    other = anchored(lab, "o.test.", ["t 60 A " + TRUTH], ATTACKERS[1])

    def answer(q):
        if not q.name.startswith("x.") or not q.dnssec:
            return zone.answer(q)
        cname = signing.rdatas(q.name, "CNAME", [wire("t.o.test.")], 60)
        if trick == "wildcard-cname":
            return q.reply([cname, signing.sign(cname, zone.key, labels=2)])
        if trick == "dname":
            dname = signing.rdatas("x.e.test.", "DNAME", [wire("o.test.")], 60)
            return q.reply([dname, signing.rdatas(q.name, "CNAME", [wire("t.o.test.")], 60)] if q.name != "x.e.test." else [cname])
        if trick == "foreign-cname":
            return q.reply([cname, signing.sign(cname, other.key)])
        return q.reply([cname])
    lab.world.script(ATTACKERS[0], answer)
    lab.start()
    for name in ("e.test", "o.test"):
        lab.ask(name, "SOA", dnssec=True)
    return {"R": verdict(lab.ask("x.e.test", dnssec=True))}


answered(40, "wildcard-proof", "a wildcard answer without the proof that no closer name exists", "that proof is "
                                                                                                   "required",
         "validator/answer_denial.c:answer_validate_expansion", "testdata/replay/signed_wildcard_needs_its_proof.rpl")


@attack(41, "downgrade", "the strong DS or signature is taken away; only unknown algorithms or digests are left",
        variants={t: {"trick": t} for t in ("sha1-beside-sha2", "unknown-beside-known", "stripped-signature", "stripped-ds")},
        rule="under harden-algo-downgrade SHA-1 digests are ignored if there are better ones; a zone is insecure "
             "only if none of its DS records can be used; a zone with a usable DS must be signed", code="validator/ds_match.c:ds_counts validator/answer_denial.c:lacks_signatures", quick=True,
        limits={"R": "bogus"})
def downgrade(lab, trick):
    parent = anchored(lab, "p.test.")
    zone = below(lab, parent, "e.p.test.", ["www 60 A " + TRUTH])
    bad = struct.pack("!HBB", zone.key.tag, 13, 2) + b"\0" * 32
    if trick == "sha1-beside-sha2":
        # Without the option one good DS of any kind will do, as the operators of Unbound expect.
        lab.option("harden-algo-downgrade: yes")
        parent.put(signing.rdatas("e.p.test.", "DS", [signing.ds_rdata(zone.key, 1), bad]))
    if trick == "unknown-beside-known":
        parent.put(signing.rdatas("e.p.test.", "DS", [bad, struct.pack("!HBB", zone.key.tag, 200, 2) + b"\1" * 32,
                                                     struct.pack("!HBB", zone.key.tag, 13, 99) + b"\1" * 32]))
    if trick == "stripped-signature":
        lab.world.script(ATTACKERS[1], lambda q: q.reply([zone.sets[q.name, "A"]]) if q.name == "www.e.p.test."
                         and q.kind == "A" else zone.answer(q))
    if trick == "stripped-ds":
        # The parent's servers leave DS and proof out of the referral, and say without proof that there is none.
        soa = parent.sets["p.test.", "SOA"]
        lab.world.script(ATTACKERS[0], lambda q: q.reply(authority=[soa]) if q.kind == "DS" else q.referral(
            "e.p.test.", {"ns.e.p.test.": ATTACKERS[1]}) if q.under("e.p.test") else parent.answer(q))
    lab.start()
    lab.ask("p.test", "SOA", dnssec=True)
    return {"R": verdict(lab.ask("www.e.p.test", dnssec=True))}


answered(41, "harden-algo-downgrade", "every algorithm of the DS set must have signed", "with harden-algo-downgrade",
         "validator/ds_match.c:want_algorithms", "validator/tests/ds_match.c::with_hardening_every_algorithm_must_have_signed")


# -- what is bogus stays that ----------------------------------------------------------------------

@attack(42, "bogus-again", "a bad signature; asked again, with and without CD, by other types and through an alias",
        rule="bogus data is cached as such for val-bogus-ttl, or 5 s if its own TTL is less, reported as EDE 6, and given "
             "only to clients that set CD",
        code="util/conf/options.def:val_bogus_ttl services/cache/msg.c:msgcache_store", quick=True, server=["ede: yes"],
        variants={"": {"ttl": 60}, "ttl-0": {"ttl": 0}},
        limits={"R": "SERVFAIL", "again": "SERVFAIL", "U_again": 0, "ede_6": "yes", "after_cd": "SERVFAIL", "leaked": 0})
def bogus_again(lab, ttl):
    zone = anchored(lab, "e.test.", ["www %d A %s" % (ttl, TRUTH), "cd %d A %s" % (ttl, TRUTH), "al 60 CNAME www"])

    def answer(q):
        s = zone.sets.get((q.name, "A"))
        if s is not None and q.name.split(".")[0] in ("www", "cd") and q.kind == "A":
            return q.reply([s, signing.sign(s, zone.key, false=True)])
        if q.name == "al.e.test." and q.kind == "A":
            alias, s = zone.sets["al.e.test.", "CNAME"], zone.sets["www.e.test.", "A"]
            return q.reply([alias, signing.sign(alias, zone.key), s, signing.sign(s, zone.key, false=True)])
        return zone.answer(q)
    lab.world.script(ATTACKERS[0], answer)
    lab.start()
    lab.ask("e.test", "SOA", dnssec=True)
    first = lab.ask("www.e.test", dnssec=True)
    lab.quiet(0.5)
    mark = lab.mark()
    again = [lab.ask("www.e.test", dnssec=d) for d in (True, False, True)]
    u = lab.upstream(mark, 0.5)
    with_cd = lab.ask("cd.e.test", dnssec=True, flags=dns.flags.RD | dns.flags.CD)
    after = [lab.ask(n, dnssec=d) for n in ("cd.e.test", "al.e.test", "www.e.test") for d in (True, False)]
    return {"R": first.rcode, "again": again[0].rcode, "U_again": u, "ede_6": "yes" if 6 in first.edes() else str(first.edes()),
            "cd": with_cd.rcode, "after_cd": after[0].rcode,
            "leaked": sum(TRUTH in a.texts() for a in [first, *again, *after])}


@attack(42, "bogus-rewritten", "a bogus answer that response-ip or a policy zone would turn into a good one", quick=True,
        variants={"response-ip": {"how": "respip"}, "view-of-stale": {"how": "stale"},
                  "dns64": {"how": "dns64"}},
        rule="a bogus answer has failed before any policy can rewrite it", code="services/mesh/waiters.c:waiter_apply_policy",
        limits={"R": "SERVFAIL", "leaked": 0, "again": "SERVFAIL"})
def bogus_rewritten(lab, how):
    zone = anchored(lab, "e.test.", ["www 2 A " + TRUTH])
    false = []

    def answer(q):
        s = zone.sets.get((q.name, q.kind))
        if s is not None and q.name == "www.e.test." and (how != "stale" or false):
            return q.reply([s, signing.sign(s, zone.key, false=True)])
        return zone.answer(q)
    lab.world.script(ATTACKERS[0], answer)
    lab.option(*{"respip": ["response-ip: 192.0.2.1/32 redirect", 'response-ip-data: 192.0.2.1/32 "A 192.0.2.99"'],
                 "stale": ["serve-expired: yes", "serve-expired-ttl: 1", "serve-expired-client-timeout: 0"],
                 "dns64": ["dns64-prefix: 64:ff9b::/96"]}[how])
    lab.module = {"respip": "respip validator iterator", "dns64": "dns64 validator iterator"}.get(how, lab.module)
    lab.start()
    lab.ask("e.test", "SOA", dnssec=True)
    kind = "AAAA" if how == "dns64" else "A"
    if how == "stale":
        assert lab.ask("www.e.test", dnssec=True).ad
        false.append(1)
        time.sleep(4.5)
    got = [lab.ask("www.e.test", kind, dnssec=d) for d in (True, False, True, False)]
    return {"R": got[0].rcode, "again": got[-1].rcode, "leaked": sum(bool(r.texts(kind)) for r in got)}


answered(43, "anchor-rolls", "keys of an attacker in the set of an anchor, revocation, hold-down, missing keys",
         "RFC 5011: a new key, signed by a trusted one, waits for its hold-down time; the file is replaced as a "
         "whole or not at all",
         "validator/autotrust.c validator/autotrust_file.c",
         "testdata/replay/signed_anchor_rolls.rpl testdata/replay/signed_anchor_rolls_too_fast.rpl "
         "validator/tests/autotrust.c::a_key_rolls validator/tests/autotrust.c::what_is_missing_waits "
         "validator/tests/autotrust_file.c::a_file_is_replaced_whole_or_not_at_all")
answered(43, "wrong-clock", "a clock that is wrong must not spoil the state of the anchors",
         "while the clock cannot be right, dates are not checked and nothing is written", "validator/clock.c",
         "testdata/replay/signed_clock_stands_in_1970.rpl testdata/replay/signed_clock_is_set.rpl")


@attack(43, "priming-without-end", "the servers of an anchor's zone never give its keys", quick=True,
        rule="key queries have the same limits as others, and that they are missing is remembered for 5 s",
        code="validator/trust_chain.c:miss validator/trust_chain.c:want_keys", limits={"U": 30, "keys_asked": 4, "R": "SERVFAIL"})
def priming_without_end(lab):
    zone = anchored(lab, "e.test.", ["w%d 60 A %s" % (n, TRUTH) for n in range(100)])
    lab.world.script(ATTACKERS[0], lambda q: q.reply(rcode="SERVFAIL") if q.kind == "DNSKEY" else zone.answer(q))
    lab.start()
    mark = lab.mark()
    r = lab.ask("w0.e.test", dnssec=True)
    u = lab.upstream(mark, 1)
    mark = lab.mark()
    lab.ask_all(["w%d.e.test" % n for n in range(1, 30)], dnssec=True)
    return {"R": r.rcode, "U": u, "U_others": lab.upstream(mark, 1),
            "keys_asked": sum(h.type == "DNSKEY" for h in lab.since())}


# -- work by composition ---------------------------------------------------------------------------

@attack(44, "deep-names", "names of very many labels below a signed zone: a proof for every label in between",
        rule="the query's budget applies in the validator, too", code="services/query/budget.h:budget_take validator/trust_chain.c:look",
        limits={"C_ms": 50, "U": 100, "took_s": 10}, quick=True)
def deep_names(lab):
    zone = anchored(lab, "deep.test.")
    zone.add(".".join("abcdefghijklmnopqrstuvwxyz" * 4)[:180].strip(".") + " 60 A " + TRUTH)
    name = next(n for n, k in zone.sets if k == "A" and n.startswith("a.b"))
    lab.start()
    lab.ask("deep.test", "SOA", dnssec=True)
    before, mark = lab.cpu_ms(), lab.mark()
    r = lab.ask(name, dnssec=True)
    took = r.took_s
    lab.ask("x." + name.split(".", 1)[1], dnssec=True)
    return {"C_ms": lab.cpu_ms() - before, "U": lab.upstream(mark, 1), "took_s": took, "R": verdict(r)}


@attack(44, "signed-cuts", "a chain of signed delegations, one to a label, twenty deep", quick=True, seconds=40,
        rule="see above", code="services/query/budget.h:budget_take services/mesh/private.h:QUERY_GOOD_SIGNATURES",
        limits={"C_ms": 60, "U": 100, "took_s": 10})
def signed_cuts(lab):
    zone = anchored(lab, "c.test.")
    for _ in range(20):
        child = Zone("c." + zone.name, ["www 60 A " + TRUTH], key=signing.key("c." + zone.name))
        # All on one server, so that the closest zone answers.
        zone = lab.world.serve(child, {"ns.c." + zone.name: ATTACKERS[1 + len(zone.name) % 2 * 2 % 5]}, parent=zone)
    lab.start()
    lab.ask("c.test", "SOA", dnssec=True)
    before, mark = lab.cpu_ms(), lab.mark()
    r = lab.ask("www." + zone.name, dnssec=True)
    return {"C_ms": lab.cpu_ms() - before, "U": lab.upstream(mark, 1), "took_s": r.took_s, "R": verdict(r)}


@attack(44, "signed-aliases", "eleven aliases through eleven signed zones, each with false signatures beside the good ones",
        rule="see above", code="services/mesh/private.h:QUERY_SIGNATURES", limits={"C_ms": 60, "U": 100, "took_s": 10},
        seconds=40, quick=True)
def signed_aliases(lab):
    zones = [anchored(lab, "z%d.test." % n, address=ATTACKERS[n % 5]) for n in range(11)]
    for n, z in enumerate(zones):
        z.add("www 60 CNAME www.z%d.test." % (n + 1) if n < 10 else "www 60 A " + TRUTH)
        s = z.sets["www." + z.name, "CNAME" if n < 10 else "A"]
        good = false_signatures(s, [z.key], 7)
        good.update(signing.sign(s, z.key))
        z.signed[s.name.to_text(), "CNAME" if n < 10 else "A", id(s)] = good
    lab.start()
    before, mark = lab.cpu_ms(), lab.mark()
    r = lab.ask("www.z0.test", dnssec=True)
    return {"C_ms": lab.cpu_ms() - before, "U": lab.upstream(mark, 1), "took_s": r.took_s, "R": verdict(r)}


answered(44, "spent-on-another", "a question that costs all it may, then an alias to a name of somebody else's: what fails for "
         "want of a budget must not be kept for those who have one", "failures of children without means or time, or by limits for children alone, are kept "
         "nowhere, and who had joined such a child, be it a client or another question, gets a lookup of its own",
         "services/query/budget.h:budget_is_short services/mesh/waiters.c:waiters_begin_again "
         "services/mesh/children.c:query_ask_again services/query/query.h:query_lookup_was_refused validator/trust_chain.c:miss "
         "validator/trust_chain.c:learn_cut",
         "testdata/replay/failure_for_want_of_a_budget_is_nobody_elses.rpl "
         "testdata/replay/cut_for_want_of_anothers_budget_is_asked_again.rpl "
         "testdata/replay/failure_for_want_of_anothers_budget_is_asked_again.rpl "
         "testdata/replay/priming_for_want_of_anothers_budget_is_asked_again.rpl "
         "testdata/replay/server_name_behind_aliases_fails_for_nobody_else.rpl "
         "testdata/replay/server_name_that_waits_for_its_asker_fails_for_nobody_else.rpl "
         "testdata/replay/hashes_used_up_cost_no_other_name.rpl")
answered(16, "cross-zone-signatures", "signatures of another zone, and of wildcards that are none", "see entry 37",
         "validator/verify.c:zone_may_sign", "testdata/attacks/dnssec.py:labels")
