"""What is correctly signed, and used for what it does not say; and checks that cost without a check being counted
(entries 35 to 43).

SPDX-License-Identifier: BSD-3-Clause
"""

import io
import os
import struct

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed448, padding, rsa, utils

from dnssec import TRUTH, anchored, below, verdict
from frame import signing
from frame.authority import record, wire
from frame.declare import attack
from frame.signing import faults
from frame.world import ATTACKERS, Zone

A, NS, RRSIG, NSEC = 1, 2, 46, 47
LIE = "203.0.113.66"


# -- work that no counter sees -----------------------------------------------------------------------

def many_keys(count):
    """As small as keys can be, none of any use, all of different tags."""
    return [struct.pack("!HBBH", 256, 3, 13, n) for n in range(count)]


def useless(owner, covered, signer, tag, labels):
    """A signature in wire form, by a key that is not there."""
    return record(owner, RRSIG, struct.pack("!HBBIIIH", covered, 13, labels, 60, 0x7fffffff, 0, tag) + wire(signer) + b"\1")


TAGS = dict(rule="a DNSKEY set of more than 256 keys is not looked at; what a check has to hash counts, too: 64 KiB are one "
            "check; the verdict on an answer too large to be kept is kept", seconds=40, quick=True,
            code="validator/ds_match.c:verify_keys validator/verify.c:work_of services/mesh/cache_rules.c:bare_bogus",
            limits={"C_ms": 20, "R": "SERVFAIL", "again_C_ms": 1, "again_U": 0})


def costly(lab, name, kind="A"):
    """What it costs to ask for it, and to ask again."""
    before, mark = lab.cpu_ms(), lab.mark()
    r = lab.ask(name, kind, dnssec=True)
    spent, u = lab.cpu_ms() - before, lab.upstream(mark, 0.5)
    before, mark = lab.cpu_ms(), lab.mark()
    lab.ask(name, kind, dnssec=True)
    return {"C_ms": spent, "R": r.rcode, "U": u, "again_C_ms": lab.cpu_ms() - before, "again_U": lab.upstream(mark, 0.5)}


@attack(35, "tag-trap", "TagTrap: very many keys, DS records and signatures, of which no two have the same tag",
        variants={"signatures": {"keys": 250}, "keys": {"keys": 3000, "quick": False}, "ds": {"keys": 250, "records": 250},
                  "sets": {"keys": 250, "sets": 740}}, **TAGS)
def tag_trap(lab, keys, records=0, sets=150):
    parent = anchored(lab, "p.test.")
    zone = below(lab, parent, "trap.p.test.", ["www 60 A " + TRUTH])
    zone.put(signing.rdatas("trap.p.test.", "DNSKEY", [zone.key.rdata, *many_keys(keys)]))
    if records:
        parent.put(signing.rdatas("trap.p.test.", "DS", [struct.pack("!HBB", 20000 + n, 13, 2) + bytes(32) for n in range(records)]))

    def answer(q):
        if not q.name.startswith("x"):
            return zone.answer(q)
        if not q.tcp:
            return q.raw(flags=0x8600)
        out = []
        for n in range(sets):
            owner = b"\x03%03d\xc0" % n + bytes([12 + 1 + len(q.labels[0])])
            out.append(record(owner, NSEC, wire("%03da.trap.p.test." % n) + b"\0\1\x40"))
            out += [useless(owner, NSEC, "trap.p.test.", 40000 + n * 8 + k, 4) for k in range(1200 // sets)]
        return q.raw(authority=out, rcode=3)
    lab.world.script(ATTACKERS[1], answer)
    lab.start()
    lab.ask("p.test", "SOA", dnssec=True)
    return costly(lab, "x1.trap.p.test")


@attack(35, "long-owner", "a name of 255 octets has 3900 addresses: what is to be hashed is a megabyte, for each signature",
        **TAGS)
def long_owner(lab):
    zone = anchored(lab, "trap.test.", ["www 60 A " + TRUTH])
    name = ".".join(["a" * 60] * 3 + ["b" * 59]) + ".trap.test."
    zone.add(name + " 60 A " + TRUTH)
    records = [record(b"\xc0\x0c", A, struct.pack("!I", 0x0a000000 + n), 60) for n in range(3900)]
    head = struct.pack("!HBBIIIH", A, 13, 6, 60, 0x7fffffff, 0x60000000, zone.key.tag) + wire("trap.test.")
    sigs = [record(b"\xc0\x0c", RRSIG, head + os.urandom(64), 60) for _ in range(8)]

    def answer(q):
        if q.name != name or q.kind != "A":
            return zone.answer(q)
        return q.raw(sigs + records) if q.tcp else q.raw(flags=0x8600)
    lab.world.script(ATTACKERS[0], answer)
    lab.start()
    assert lab.ask("www.trap.test", dnssec=True).ad
    return costly(lab, name)


# -- proofs and additions that nobody needs --------------------------------------------------------------

def strong_key(zone, kind):
    """A key of that kind, which has no secret for `faults.ecdsa`, but a function that signs."""
    if kind == "p384":
        secret = ec.generate_private_key(ec.SECP384R1())
        point = secret.public_key().public_numbers()

        def make(text):
            return b"".join(n.to_bytes(48, "big") for n in utils.decode_dss_signature(secret.sign(text, ec.ECDSA(hashes.SHA384()))))
        public, number = point.x.to_bytes(48, "big") + point.y.to_bytes(48, "big"), 14
    elif kind == "ed448":
        secret = ed448.Ed448PrivateKey.generate()
        public, number = secret.public_key().public_bytes(*[getattr(f, "Raw") for f in (serialization.Encoding,
                                                                                      serialization.PublicFormat)]), 16
        make = secret.sign
    else:
        secret = rsa.generate_private_key(65537, 4096)
        public, number = b"\3\1\0\1" + secret.public_key().public_numbers().n.to_bytes(512, "big"), 8

        def make(text):
            return secret.sign(text, padding.PKCS1v15(), hashes.SHA256())
    return faults.Key(zone, struct.pack("!HBB", 257, 3, number) + public, make)


def in_wire(s):
    with io.BytesIO() as b:
        s.to_wire(b)
        return b.getvalue()


@attack(35, "padded", "a denial, or an answer to NS, with hundreds of records more than it needs, all correctly signed, by keys of every "
        "kind; or each said to be signed by another zone",
        variants={"p256": {"kind": "p256"}, "p384": {"kind": "p384"}, "ed448": {"kind": "ed448"}, "rsa": {"kind": "rsa", "quick": False},
                  "addresses": {"kind": "p384", "where": "additional", "limits": {"R": "NOERROR", "again_C_ms": 5, "again_U": 5}}, "signers": {"kind": None}},
        rule="of a denial no more NSEC and NSEC3 records are used than proofs may need: ten, and two for each alias; of what "
             "minimal responses omit 16 RRsets are validated, eight where keys are as slow as P-384; good signatures of an answer "
             "that is bogus all the same count as half a bad one; checks with keys that are slow count as two or four",
        code="iterator/aliases.h:aliases_denials_most iterator/scrub.c:take_authority validator/answer_validity.c:EXTRAS_MOST "
             "validator/validator.c:pay_for_failed_checks validator/crypto.c:cost_of", seconds=40, quick=True,
        limits={"C_ms": 20, "U": 30, "R": "SERVFAIL", "again_C_ms": 1, "again_U": 0})
def padded(lab, kind, where="authority"):
    zone = anchored(lab, "t.test.", ["www 60 A " + TRUTH])
    key = zone.key if kind in (None, "p256") else strong_key("t.test.", kind)
    zone.put(signing.dnskeys("t.test.", [zone.key] + [key] * (key is not zone.key)))
    size, more = 0, []
    while size < (63000 if where == "authority" else 50000):
        n = len(more) // 2
        if where == "additional":
            s = signing.rdatas("ns%03d.t.test." % n, "A", [b"\xc0\0\2\1"])
        else:
            s = signing.nsec("%03d.%s" % (n, "t.test"), "%03da.%s" % (n, "t.test"), ["A", "RRSIG", "NSEC"])
        if kind:
            sig = in_wire(signing.sign(s, key))
        else:
            s = signing.nsec("m.n%d.t.test" % n, "z.n%d.t.test" % n, ["A"])
            sig = useless(wire("m.n%d.t.test" % n), NSEC, "n%d.t.test." % n, 1, 3)
        more += [in_wire(s), sig]
        size += len(more[-1]) + len(more[-2])
    ns = signing.rdatas("t.test.", "NS", [wire("ns%03d.t.test." % n) for n in range(len(more) // 2)])
    ns = [in_wire(ns), in_wire(signing.sign(ns, zone.key))]

    def answer(q):
        if not q.name.startswith("x") and q.kind != "NS":
            return zone.answer(q)
        if not q.tcp:
            return q.raw(flags=0x8600)
        return q.raw(authority=more, rcode=3) if where == "authority" else q.raw(
            [record("t.test", NS, wire("ns%03d.t.test." % n), 3600) for n in range(len(more) // 2)] + ns[1:], additional=more)
    lab.world.script(ATTACKERS[0], answer)
    lab.option("minimal-responses: no")
    lab.start()
    assert lab.ask("www.t.test", dnssec=True).ad
    return costly(lab, "x1.t.test" if where == "authority" else "t.test", "A" if where == "authority" else "NS")


@attack(44, "slow-cuts", "five aliases, each into a chain of eight signed delegations, all with keys whose signatures take longest to check",
        variants={"p384": {"kind": "p384", "quick": True}, "ed448": {"kind": "ed448"}}, seconds=40,
        rule="a query may cost 192 checks that hold; P-384 counts as four, Ed448 as two",
        code="services/mesh/private.h:QUERY_GOOD_SIGNATURES validator/crypto.c:cost_of",
        limits={"C_ms": 80, "U": 100, "took_s": 10})
def slow_cuts(lab, kind):
    top, last = anchored(lab, "c.test."), []
    for n in range(5):
        zone = top
        for depth in range(8):
            name = "c%d.%s" % (depth or n, zone.name)
            child = Zone(name, key=strong_key(name, kind))
            zone = lab.world.serve(child, {"ns." + name: ATTACKERS[1 + depth % 4]}, parent=zone)
        last.append(zone)
    for zone, following in zip(last, last[1:]):
        zone.add("www 60 CNAME www." + following.name)
    last[-1].add("www 60 A " + TRUTH)
    lab.start()
    lab.ask("c.test", "SOA", dnssec=True)
    before, mark = lab.cpu_ms(), lab.mark()
    r = lab.ask("www." + last[0].name, dnssec=True)
    return {"C_ms": lab.cpu_ms() - before, "U": lab.upstream(mark, 1), "took_s": r.took_s, "R": verdict(r)}


# -- proofs of something else --------------------------------------------------------------------------

class Borrowed:
    """p.test with e.p.test, the victim, beside d.p.test, the attacker's; all signed. One answer is replaced."""

    def __init__(self, lab, nsec3=None):
        self.lab = lab
        self.parent = anchored(lab, "p.test.", nsec3=nsec3)
        self.zone = below(lab, self.parent, "e.p.test.", ["*.w 60 A " + TRUTH, "b.ent 60 A " + TRUTH, "q 60 A " + TRUTH,
                                                          "q 60 TXT there", "* 60 MX 1 q", "m 60 TXT there"], nsec3=nsec3)
        self.other = below(lab, self.parent, "d.p.test.", ["www 60 A " + TRUTH], ATTACKERS[2], nsec3=nsec3)

    def ask(self, name, kind, answer, where=1):
        """What is said of the name, once `answer` is what its server, or (0) the parent's, says of it."""
        sound = (self.parent, self.zone)[where].answer

        def lie(q):
            asked = q.name == name + "." and q.kind == kind and q.dnssec
            return answer(q) if asked else sound(q)
        self.lab.world.script(ATTACKERS[where], lie)
        self.lab.start()
        for zone in ("p.test", "e.p.test", "d.p.test"):
            self.lab.ask(zone, "SOA", dnssec=True)
        return self.lab.ask(name, kind, dnssec=True)

    def deny(self, q, *sets, rcode="NXDOMAIN", soa=True):
        """Sets with the signature each has got, (set, zone), behind the SOA of the victim's zone."""
        top = self.zone.sets["e.p.test.", "SOA"]
        out = [top, signing.sign(top, self.zone.key)] if soa is True else [soa]
        for s, zone in sets:
            out += [s, signing.sign(s, zone.key)]
        return q.reply(authority=out, rcode=rcode)


def wildcard_elsewhere(b):
    """The name is there by a wildcard, which another zone's NSEC denies."""
    gap = signing.nsec("v.w.e.p.test.", "y.w.e.p.test.", ["A", "RRSIG", "NSEC"])
    wild = signing.nsec("d.p.test.", "f.p.test.", ["A", "RRSIG", "NSEC"])
    return b.ask("x.w.e.p.test", "A", lambda q: b.deny(q, (gap, b.zone), (wild, b.other)))


def ent_flipped(b):
    """An empty non-terminal's NODATA with another RCODE."""
    return b.ask("ent.e.p.test", "A", lambda q: b.deny(q, (signing.nsec(
        "a.e.p.test.", "b.ent.e.p.test.", ["A", "RRSIG", "NSEC"]), b.zone), (signing.nsec(
            "e.p.test.", "+.e.p.test.", ["SOA", "NS", "RRSIG", "NSEC"]), b.zone)))


def wrapped_by_soa(b):
    """The SOA, unsigned, of what an NSEC has as next name: as if it were the last of its zone."""
    last = signing.nsec("a.e.p.test.", "m.e.p.test.", ["A", "RRSIG", "NSEC"])
    return b.ask("q.e.p.test", "A", lambda q: b.deny(
        q, (last, b.zone), soa=signing.rdatas("m.e.p.test.", "SOA", [wire("m.e.p.test.") * 2 + bytes(20)])))


def unsigned_soa(b):
    """A sound denial, but for its SOA, which is forged; the true one, known from before, may stand in for it."""
    return b.ask("m.e.p.test", "A", lambda q: b.deny(q, (signing.nsec("m.e.p.test.", "n.e.p.test.", ["TXT", "RRSIG", "NSEC"]),
                                                         b.zone), rcode="NOERROR", soa=signing.rdatas(
                                                             "e.p.test.", "SOA", [wire("lie.test.") * 2 + b"\0\1" * 10])))


def wildcard_over_name(b):
    """The name is there without that type; a wildcard is expanded to it, with its own NSEC as proof."""
    made = signing.rdatas("m.e.p.test.", "MX", [b"\0\1" + wire("q.e.p.test.")], 60)
    proof = signing.nsec("m.e.p.test.", "n.e.p.test.", ["TXT", "RRSIG", "NSEC"])
    return b.ask("m.e.p.test", "MX", lambda q: q.reply(
        [made, signing.sign(made, b.zone.key, labels=3)], [proof, signing.sign(proof, b.zone.key)]))


def other_answer(b):
    """A sound set, of another type, in place of the answer."""
    s = b.zone.sets["q.e.p.test.", "TXT"]
    return b.ask("q.e.p.test", "A", lambda q: q.reply([s, signing.sign(s, b.zone.key)]))


def child_denies_ds(b):
    """DS of the victim's zone is denied by its own apex NSEC; then nothing there is signed any more."""
    own = signing.nsec("e.p.test.", "+.e.p.test.", ["SOA", "NS", "RRSIG", "NSEC", "DNSKEY"])
    return unsigned_child(b, own, b.zone)


def parent_denies_without_ns(b):
    """DS of the victim's zone is denied, of a name that is no delegation."""
    return unsigned_child(b, signing.nsec("e.p.test.", "e!.p.test.", ["A", "RRSIG", "NSEC"]), b.parent)


def sibling_denies_ds(b):
    """DS of the victim's zone is denied by an NSEC3 of a zone beside it."""
    h = signing.hash3("e.p.test.", 0, b"")
    return unsigned_child(b, signing.nsec3("d.p.test.", h, signing.beside(h, 1), ["NS"]), b.other)


def unsigned_child(b, proof, by):
    """The parent refers without DS, with that proof; the child's answers are forged and unsigned."""
    lab, soa = b.lab, b.parent.sets["p.test.", "SOA"]
    proof = [soa, signing.sign(soa, b.parent.key), proof, signing.sign(proof, by.key)]

    def parent(q):
        if q.under("e.p.test") and q.kind == "DS":
            return q.reply(authority=proof)
        return q.referral("e.p.test.", {"ns.e.p.test.": ATTACKERS[1]}, more=proof[2:]) if q.under("e.p.test") else b.parent.answer(q)
    lab.world.script(ATTACKERS[0], parent)
    lab.world.script(ATTACKERS[1], lambda q: q.reply(["%s 60 A %s" % (q.name, LIE)]))
    lab.start()
    for zone in ("p.test", "d.p.test"):
        lab.ask(zone, "SOA", dnssec=True)
    return lab.ask("q.e.p.test", "A", dnssec=True)


def apex_by_another(b):
    """A type at the apex is denied by the NSEC3 of another name, and by one that covers."""
    sets = [signing.nsec3_matching("e.p.test.", "q.e.p.test.", ["A", "RRSIG"]), signing.nsec3_covering("e.p.test.", "zz.e.p.test.")]
    return b.ask("e.p.test", "NS", lambda q: b.deny(q, *((s, b.zone) for s in sets), rcode="NOERROR"))


BORROWED = {"wildcard-elsewhere": wildcard_elsewhere, "wrapped-by-soa": wrapped_by_soa,
            "unsigned-soa": unsigned_soa, "wildcard-over-name": wildcard_over_name, "other-answer": other_answer,
            "child-denies-ds": child_denies_ds, "parent-denies-without-ns": parent_denies_without_ns,
            "sibling-denies-ds": sibling_denies_ds, "apex-by-another": apex_by_another, "ent-flipped": ent_flipped}


@attack(38, "borrowed-proof", "what is correctly signed, for something that it does not prove: denials of a zone beside, of the "
        "child's side of a cut, of another name; a wildcard over a name that exists; another RCODE or SOA",
        variants={n: {"trick": n, "limits": {"R": {"ent-flipped": {"NOERROR"}, "unsigned-soa": {"bogus", "secure"}}.get(n, {"bogus"})}}
                  for n in BORROWED},
        rule="all of a denial is signed by the zone of the name, and proves just what is said: of DS the parent's side, that "
             "there is a delegation; of a wildcard's answer, that the name does not exist; the RCODE follows from the proof",
        code="validator/answer_denial.c:proving_zone validator/answer_denial.c:answer_validate_expansion validator/answer_validity.c:answer_validity_purify util/dns/denial.c:denies_type",
        quick=True, limits={"believed": 0})
def borrowed_proof(lab, trick):
    r = BORROWED[trick](Borrowed(lab, 0 if trick in ("sibling-denies-ds", "apex-by-another") else None))
    return {"R": verdict(r) if trick != "ent-flipped" else r.rcode, "believed": sum(lie in str(r.message) for lie in (LIE, "lie.test"))}


@attack(41, "island", "a trust anchor below an unsigned zone: its apex is denied without signature, its names with the signatures "
        "of a zone above", variants={n: {"trick": n, "limits": {"R": {"bogus"} if n != "ds" else {"insecure"}}}
                  for n in ("nsec", "ds", "signer-above", "unsigned")}, quick=True,
        rule="the anchor closest above a name decides; nothing from above it denies it, or what is below it",
        code="validator/answer_private.h:answer_has_say validator/trust_chain.c:trust_chain_anchor", limits={"after": "secure"})
def island(lab, trick):
    top = anchored(lab, "p.test.")
    middle = lab.world.serve(Zone("u.p.test."), {"ns.u.p.test.": ATTACKERS[1]}, parent=top)
    isle = Zone("i.u.p.test.", ["www 60 A " + TRUTH], key=signing.key("i.u.p.test."))
    lab.world.serve(isle, {"ns.i.u.p.test.": ATTACKERS[2]}, parent=middle)
    lab.anchor(isle)
    nsec = signing.nsec("i.u.p.test.", "www.i.u.p.test.", ["NS", "RRSIG", "NSEC"])

    def answer(q):
        soa = isle.sets["i.u.p.test.", "SOA"]
        if trick == "signer-above" and q.name == "www.i.u.p.test.":
            gone = signing.nsec("u.p.test.", "zz.u.p.test.", ["NS", "SOA", "RRSIG", "NSEC"])
            return q.reply(authority=[one for s in (soa, gone) for one in (s, signing.sign(s, isle.key, signer="u.p.test."))],
                           rcode="NXDOMAIN")
        if trick == "unsigned" and q.name == "www.i.u.p.test.":
            return q.reply(authority=[soa, nsec], rcode="NXDOMAIN")
        if trick in ("nsec", "ds") and q.kind in ("NSEC", "DS"):
            return q.reply([nsec] if q.kind == "NSEC" else (), [soa, nsec])
        return isle.answer(q)
    lab.world.script(ATTACKERS[2], answer)
    lab.world.script(ATTACKERS[1], lambda q: q.reply(authority=[nsec]) if q.kind == "DS" else middle.answer(q))
    lab.start()
    lab.ask("p.test", "SOA", dnssec=True)
    if trick in ("nsec", "ds"):
        r = lab.ask("i.u.p.test", trick.upper(), dnssec=True)
    else:
        r = lab.ask("www.i.u.p.test", "A", dnssec=True)
    lab.world.script(ATTACKERS[2], isle.answer)
    lab.daemon.control("flush_bogus")
    after = lab.ask("www.i.u.p.test", "A", dnssec=True)
    return {"R": verdict(r), "after": verdict(after)}
