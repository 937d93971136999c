"""A zone, signed in some way, and what an honest server says of it (RFC 1034 4.3.2, 4035 3.1, 5155 7.2, 6672 3.2).

SPDX-License-Identifier: BSD-3-Clause
"""

import base64
import bisect
import dataclasses
import functools
import hashlib
import struct
import time

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, utils

from . import wire
from .wire import CNAME, DNAME, DNSKEY, DS, NS, NSEC, NSEC3, NSEC3PARAM, RRSIG, SOA, Set, order, to_wire, under

DAY = 86400
HEX32 = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", b"0123456789abcdefghijklmnopqrstuv")
RSA, RSA_SHA1, ECDSA, ED25519 = 8, 5, 13, 15


POOL = 7    # key pairs of an algorithm; zones may share one without knowing


@functools.lru_cache(None)
def pair(algorithm, number):    # pylint: disable=unused-argument
    """(secret key, public key as in DNSKEY)."""
    if algorithm in (RSA, RSA_SHA1):
        secret = rsa.generate_private_key(65537, 1024)
        return secret, b"\3\1\0\1" + secret.public_key().public_numbers().n.to_bytes(128, "big")
    if algorithm == ED25519:
        secret = ed25519.Ed25519PrivateKey.generate()
        return secret, secret.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    secret = ec.generate_private_key(ec.SECP256R1())
    return secret, secret.public_key().public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)[1:]


class Key:
    """A key pair. `algorithm` is what its record says; what nobody knows (253) signs with nonsense."""

    made = 0

    def __init__(self, owner, algorithm, flags, protocol=3):
        self.owner, self.algorithm = owner, algorithm
        Key.made += 1
        self.secret, public = pair(algorithm, Key.made % POOL)
        self.rdata = struct.pack("!HBB", flags, protocol, algorithm) + public
        total = sum(b if i & 1 else b << 8 for i, b in enumerate(self.rdata))
        self.tag = (total + (total >> 16)) & 0xffff

    def sign(self, text):
        if self.algorithm in (RSA, RSA_SHA1):
            return self.secret.sign(text, padding.PKCS1v15(), hashes.SHA256() if self.algorithm == RSA else hashes.SHA1())
        if self.algorithm == ED25519:
            return self.secret.sign(text)
        r, s = utils.decode_dss_signature(self.secret.sign(text, ec.ECDSA(hashes.SHA256())))
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")

    def ds(self, digest=2):
        made = {1: hashlib.sha1, 2: hashlib.sha256, 4: hashlib.sha384}.get(digest, hashlib.sha256)
        return struct.pack("!HBB", self.tag, self.algorithm, digest) + made(to_wire(self.owner) + self.rdata).digest()


@dataclasses.dataclass
class Signing:
    """How a zone is signed. `fault` is what is wrong with it, `ds` what its parent says of it."""
    denial: str = "nsec"        # nsec nsec3 optout
    algorithm: int = ECDSA
    split: bool = False
    iterations: int = 0
    salt: bytes = b""
    fault: str = ""
    ds: str = "good"            # good none wrong digest algorithm both sha1


@dataclasses.dataclass
class Said:
    """What a server says: sections of sets, and how it came to that (`how`, the features of the name)."""
    rcode: int = 0
    aa: bool = True
    answer: list = dataclasses.field(default_factory=list)
    authority: list = dataclasses.field(default_factory=list)
    additional: list = dataclasses.field(default_factory=list)
    how: tuple = ()
    target: tuple = None        # where an alias leads
    cut: tuple = None           # what a referral refers to
    flags: int = 0              # more of the header


class Zone:
    def __init__(self, apex, signing=None, ttl=300):
        self.apex, self.signing, self.ttl = apex, signing, ttl
        self.data, self.features, self.servers, self.parent = {}, set(), [], None
        self.keys, self.idle, self.beside, self.signatures = [], [], [], {}
        if signing:
            first = {"revoked": 385, "no-zone-flag": 1, "no-sep": 256}.get(signing.fault, 257)
            self.keys = [Key(apex, signing.algorithm, f) for f in ([first, 256] if signing.split else [first])]
            if signing.fault == "idle-algorithm":
                # A key of another algorithm, with a DS, that signs nothing (RFC 6840 5.11).
                self.idle = [Key(apex, RSA if signing.algorithm != RSA else ECDSA, 257)]
            if signing.fault == "revoked-beside":
                self.beside = [Key(apex, ECDSA if signing.algorithm == RSA else RSA, 385)]
            if signing.fault == "protocol":
                self.keys = [Key(apex, signing.algorithm, f, 4) for f in (257, 256)]

    def add(self, owner, rrtype, *rdatas, ttl=None):
        old = self.data.setdefault(owner, {}).get(rrtype)
        both = (old.rdatas if old else ()) + tuple(d for d in rdatas if not old or d not in old.rdatas)
        self.data[owner][rrtype] = Set(owner, rrtype, self.ttl if ttl is None else ttl, both)

    def has(self, owner, rrtype):
        return rrtype in self.data.get(owner, ())

    # -- what it is made of ------------------------------------------------------------------------

    def finish(self):
        """Everything is in it: keys, and the chain of denials."""
        if self.signing and self.signing.fault != "no-dnskey":
            self.add(self.apex, DNSKEY, *[k.rdata for k in self.keys + self.idle + self.beside])
        if self.signing and self.signing.denial != "nsec":
            self.add(self.apex, NSEC3PARAM, struct.pack("!BBHB", 1, 0, self.signing.iterations, len(self.signing.salt)) + self.signing.salt)
        self.cuts = {n for n, sets in self.data.items() if NS in sets and n != self.apex}
        self.seen = {n for n in self.data if self.visible(n)}
        self.names = {self.apex} | {n[i:] for n in self.seen for i in range(len(n) - len(self.apex) + 1)}
        self.sorted = sorted(self.seen, key=order)
        self.keys_of_sorted = [order(n) for n in self.sorted]
        if self.signing and self.signing.denial != "nsec":
            self.make_nsec3()

    def visible(self, labels):
        """Not below a cut or a DNAME."""
        for i in range(1, len(labels) - len(self.apex) + 1):
            up = labels[i:]
            if up in self.cuts or self.has(up, DNAME):
                return False
        return True

    def types_at(self, labels):
        """The types an NSEC or NSEC3 record lists for a name."""
        sets = self.data.get(labels, {})
        if labels in self.cuts:
            return [t for t in sets if t in (NS, DS)]
        return list(sets)

    def listed(self, types):
        """As the fault has it: types that are not there, or not what is."""
        if self.signing.fault == "bitmap" and types:
            return types + [wire.A, wire.TXT, wire.MX]
        if self.signing.fault == "bitmap-cname" and types and SOA not in types:
            return types + [CNAME]
        return types

    def make_nsec3(self):
        optout = self.signing.denial == "optout"
        kept = [n for n in self.seen if not (optout and n in self.cuts and not self.has(n, DS))]
        whole = {self.apex} | {n[i:] for n in kept for i in range(len(n) - len(self.apex) + 1)}
        self.hashed = sorted((self.hash(n), n) for n in whole)
        self.hashes = [h for h, _ in self.hashed]

    def hash(self, labels):
        return hash3(to_wire(labels), self.signing.iterations, self.signing.salt)

    # -- denials -----------------------------------------------------------------------------------

    def nsec_at(self, i):
        owner, following = self.sorted[i], self.sorted[(i + 1) % len(self.sorted)]
        return Set(owner, NSEC, self.negative_ttl(), (to_wire(following) + wire.bitmap(self.listed(self.types_at(owner)) + [NSEC, RRSIG]),))

    def nsec_for(self, labels):
        """The NSEC record of the name, or the one that covers it."""
        return self.nsec_at(bisect.bisect_right(self.keys_of_sorted, order(labels)) - 1)

    def nsec3_at(self, i):
        mark, owner = self.hashed[i]
        types = self.listed(self.types_at(owner))
        if types and not (owner in self.cuts and DS not in types):
            types = types + [RRSIG]
        flags = (1 if self.signing.denial == "optout" else 0) | (2 if self.signing.fault == "nsec3-flags" else 0)
        following = self.hashes[(i + 1) % len(self.hashes)]
        salt = self.signing.salt
        data = struct.pack("!BBHB", 2 if self.signing.fault == "nsec3-hash" else 1, flags, self.signing.iterations, len(salt)) + salt + b"\x14" + following + wire.bitmap(types)
        return Set((base64.b32encode(mark).translate(HEX32),) + self.apex, NSEC3, self.negative_ttl(), (data,))

    def nsec3_for(self, labels):
        """(whether it is the name's own, the record)."""
        mark = self.hash(labels)
        i = bisect.bisect_right(self.hashes, mark) - 1
        return i >= 0 and self.hashes[i] == mark, self.nsec3_at(i)

    def encloser(self, labels):
        """(closest encloser, next closer): the longest name that is there above this one."""
        for i in range(1, len(labels) - len(self.apex) + 1):
            if labels[i:] in self.names:
                return labels[i:], labels[i - 1:]
        return self.apex, labels

    def provable(self, labels):
        return next((labels[i:] for i in range(1, len(labels)) if self.nsec3_for(labels[i:])[0]), self.apex)

    def encloser_proof(self, labels):
        """Closest provable encloser (RFC 5155 7.2.1): its own record, and the one that covers the next closer name."""
        for i in range(1, len(labels) - len(self.apex) + 1):
            own, record = self.nsec3_for(labels[i:])
            if own:
                return [record, self.nsec3_for(labels[i - 1:])[1]]
        return [self.nsec3_for(labels)[1]]

    def deny(self, kind, labels, wildcard=None):
        """The records that prove `kind`: nodata, nx, wildcard, wildcard-nodata, cut. Each once."""
        if not self.signing:
            return []
        if self.signing.denial == "nsec":
            if kind in ("nodata", "cut", "wildcard"):
                out = [self.nsec_for(labels)]
            else:
                out = [self.nsec_for(labels), self.nsec_for(wildcard)]
        elif kind in ("nodata", "cut"):
            own, record = self.nsec3_for(labels)
            out = [record] if own else self.encloser_proof(labels)
        elif kind == "wildcard":
            out = [self.nsec3_for(self.encloser(labels)[1])[1]]
        elif kind == "nx":
            # What hangs below opt-out alone has no record: the closest encloser is the closest that can be proven.
            out = self.encloser_proof(labels) + [self.nsec3_for((b"*",) + self.provable(labels))[1]]
        else:
            out = self.encloser_proof(labels) + [self.nsec3_for(wildcard)[1]]
        return list(dict.fromkeys(out))

    # -- signatures --------------------------------------------------------------------------------

    def signature(self, s, owner=None):
        """The RRSIG set of a set; `owner` is the wildcard it was made from."""
        at = (s.owner, s.type, s.rdatas, owner, s.ttl)
        if at not in self.signatures:
            self.signatures[at] = Set(s.owner, RRSIG, s.ttl, tuple(self.rrsig(s, owner or s.owner)))
        return self.signatures[at]

    def rrsig(self, s, owner):
        fault, labels = self.signing.fault, len(owner) - (owner[:1] == (b"*",))
        days = {"expired": (-30, -2), "future": (2, 30), "backwards": (2, -2), "expires-soon": (-2, 900 / DAY)}.get(fault, (-2, 30))
        if s.type == DNSKEY and fault in ("expired-leaf", "false-leaf"):
            days = (-2, 30)
        elif fault == "expired-leaf":
            days = (-30, -2)
        start, end = [int(time.time() + d * DAY) for d in days]
        signers = self.keys[:1] if s.type == DNSKEY else self.keys[-1:]
        for key in signers:
            signer = self.apex[1:] if fault == "signer" and s.type != DNSKEY else self.apex
            wrong = s.type != DNSKEY
            tag = key.tag + 1 & 0xffff if fault == "tag" and wrong else key.tag
            ttl = min(s.ttl, 30) if fault == "short-original" and wrong else s.ttl
            head = struct.pack("!HBBIIIH", s.type, key.algorithm, labels + (fault == "labels" and wrong), ttl, end, start, tag) + to_wire(signer)
            front = to_wire(owner) + struct.pack("!HHI", s.type, 1, ttl)
            made = key.sign(head + b"".join(front + struct.pack("!H", len(d)) + d for d in sorted(s.rdatas)))
            if fault in ("false", "false-leaf") and (s.type != DNSKEY or fault == "false"):
                made = made[:-4] + bytes(b ^ 0x55 for b in made[-4:])
            if fault == "garbled" and wrong:
                made = made[:-1]
            if fault == "two-signers" and s.type != DNSKEY:
                # Somebody's above, first: it is of no use, and the zone's own is (RFC 4035 5.3.1).
                yield head[:18] + to_wire(self.apex[1:]) + made
            if fault == "false-beside":
                # One that holds, after one that does not, by the same key.
                yield head + made[:-4] + bytes(b ^ 0x55 for b in made[-4:])
            if fault == "unknown-beside":
                yield head[:2] + b"\xc8" + head[3:16] + struct.pack("!H", tag ^ 1) + head[18:] + made
            yield head + made

    def with_signatures(self, sets, owner=None):
        out = []
        for s in sets:
            out.append(s)
            if self.signing and s.type != RRSIG and not self.unsigned(s):
                out.append(self.signature(s, owner))
        return out

    def unsigned(self, s):
        fault = self.signing.fault
        if s.type == NS and s.owner != self.apex or s.owner in self.cuts and s.type not in (DS, NSEC):
            return True
        if fault == "denial-unsigned" and s.type in (NSEC, NSEC3):
            return True
        return fault == "no-rrsig" or fault == "no-rrsig-leaf" and s.type not in (DNSKEY, SOA, NS, NSEC, NSEC3, DS)

    # -- answers -----------------------------------------------------------------------------------

    def negative_ttl(self):
        return min(self.soa().ttl, struct.unpack("!I", self.soa().rdatas[0][-4:])[0]) if self.soa() else self.ttl

    def soa(self):
        return self.data[self.apex].get(SOA)

    def negative(self, proof):
        soa = self.soa()
        # No longer than a denial may be kept (RFC 2308 3).
        records = [dataclasses.replace(soa, ttl=self.negative_ttl())] if soa else []
        if self.signing and self.signing.fault == "no-denial":
            proof = []
        if self.signing and self.signing.fault == "half-denial":
            proof = proof[:1]
        return self.with_signatures(records + proof)

    def answer(self, labels, rrtype):
        for i in range(len(labels) - len(self.apex), -1, -1):
            node = labels[i:]
            if node in self.cuts and not (i == 0 and rrtype == DS):
                return self.refer(node)
            if i and self.has(node, DNAME):
                return self.redirect(labels, node, rrtype)
        if labels in self.names:
            return self.at(labels, labels, rrtype)
        closest = self.encloser(labels)[0]
        wildcard = (b"*",) + closest
        if wildcard in self.names:
            return self.at(labels, wildcard, rrtype)
        return Said(wire.NXDOMAIN, authority=self.negative(self.deny("nx", labels, wildcard)), how=("nx",))

    def at(self, labels, node, rrtype):
        """What stands at `node`, which is the name or the wildcard that makes it."""
        made = node != labels
        how = ("wildcard",) if made else ()
        sets = self.data.get(node, {}) if node in self.seen else {}
        # What stands beside an alias, though nothing may but these two (RFC 2181 10.1), is found where it is asked for.
        beside = rrtype == wire.ANY or self.signing and (rrtype == RRSIG or rrtype == NSEC and self.signing.denial == "nsec")
        if CNAME in sets and rrtype not in sets and not beside:
            found, how = [sets[CNAME]], how + ("cname",)
        elif rrtype == wire.ANY:
            found = list(sets.values())
        elif rrtype == RRSIG and self.signing:
            found = list(sets.values())
        elif rrtype == NSEC and self.signing and self.signing.denial == "nsec" and node in self.seen:
            found = [self.nsec_for(node)]
        else:
            found = [sets[rrtype]] if rrtype in sets else []
        if not found or (rrtype == RRSIG and not self.signing):
            ent = ("ent",) if not sets else ()
            kind = "wildcard-nodata" if made else "nodata"
            return Said(authority=self.negative(self.deny(kind, labels, node)), how=how + ent + ("nodata",))
        own = [Set(labels, s.type, s.ttl, s.rdatas) for s in found]
        answer = self.with_signatures(own, node if made else None)
        if rrtype == RRSIG:
            answer = [s for s in answer if s.type == RRSIG]
        authority = self.with_signatures(self.deny("wildcard", labels)) if made and not self.lacks_proof() else []
        target = None
        if "cname" in how:
            target = wire.read_name(found[0].rdatas[0], 0)[0]
        return Said(answer=answer, authority=authority, how=how or ("plain",), target=target)

    def lacks_proof(self):
        return bool(self.signing) and self.signing.fault == "no-denial"

    def refer(self, node):
        sets = self.data[node]
        authority = [sets[NS]]
        if DS in sets:
            authority += self.with_signatures([sets[DS]])
        else:
            authority += self.with_signatures(self.deny("cut", node))
        return Said(aa=False, authority=authority, additional=self.glue(sets[NS]), how=("referral",), cut=node)

    def glue(self, ns):
        out = []
        for data in ns.rdatas:
            owner = wire.read_name(data, 0)[0]
            for t in (wire.A, wire.AAAA):
                if self.has(owner, t):
                    out.append(self.data[owner][t])
        return out

    def redirect(self, labels, node, rrtype):
        s = self.data[node][DNAME]
        target = labels[:len(labels) - len(node)] + wire.read_name(s.rdatas[0], 0)[0]
        answer = self.with_signatures([s])
        if not wire.fits(target):
            return Said(wire.YXDOMAIN, answer=answer, how=("dname", "yxdomain"))
        answer.append(Set(labels, CNAME, s.ttl, (to_wire(target),)))
        return Said(answer=answer, how=("dname",), target=None if rrtype == CNAME else target)


@functools.lru_cache(1 << 15)
def hash3(labels_wire, iterations, salt):
    digest = labels_wire
    for _ in range(iterations + 1):
        digest = hashlib.sha1(digest + salt).digest()
    return digest
