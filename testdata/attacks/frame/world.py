"""The little internet around an attack: root and `test.`, honest neighbours, and zones that attacks add.

SPDX-License-Identifier: BSD-3-Clause

A `Zone` answers as a sound server does, signed on the fly where it has a key. An attack gives it records, and puts
a function of its own in the place of `answer` where it wants to lie."""

import functools

import dns.name
import dns.rdatatype

from . import signing
from .authority import rrset

ROOT, TLD = "198.18.0.1", "198.18.0.2"
VICTIM, SISTER = "198.18.2.1", "198.18.2.2"
ATTACKERS = ["198.18.1.%d" % n for n in range(1, 10)]
DEAD = ["198.18.3.%d" % n for n in range(1, 9)]
FORWARDER = "198.18.4.1"
# Whoever asks here was led astray; whoever believes this was lied to.
EVIL, POISON = "198.18.66.66", "203.0.113.66"
CANARIES = {"www.victim.test.": "192.0.2.10", "www.sister.test.": "192.0.2.11",
            "other.victim.test.": "192.0.2.12", "other.sister.test.": "192.0.2.13"}


@functools.lru_cache(1024)
def signature(text, k):
    """Of a set given as text; signing takes milliseconds, so once."""
    return signing.sign(rrset(text), k)


class Zone:
    """Records by lines `name ttl type data`; `@` stands for the apex, other names are relative unless they end in
    a dot. `key` signs it, with NSEC or (`nsec3=iterations`) NSEC3 that cover no more than the name asked for."""

    def __init__(self, name, records=(), key=None, nsec3=None, salt=b"", ttl=3600, optout=False):
        self.name, self.key, self.nsec3, self.salt = name.rstrip(".") + ".", key, nsec3, salt
        self.ttl, self.optout = ttl, optout
        self.sets, self.servers = {}, {}
        self.signed = {}
        below = "." + self.name if name != "." else "."
        self.add("@ %d SOA ns%s h%s 1 3600 900 86400 60" % (ttl, below, below))
        for one in records:
            self.add(one)
        if key:
            self.put(signing.dnskeys(self.name, [key], ttl))

    def full(self, name):
        if name == "@":
            return self.name
        return name.lower() if name.endswith(".") else "%s.%s" % (name, self.name) if self.name != "." else name + "."

    def add(self, line):
        owner, ttl, kind, rdata = line.split(None, 3)
        owner = self.full(owner)
        old = self.sets.get((owner, kind))
        new = rrset("%s %s %s %s" % (owner, ttl, kind, rdata), self.name)
        if old is not None:
            old = old.copy()
            old.update(new)
            new = old
        self.put(new)

    def put(self, s):
        key = (s.name.to_text().lower(), dns.rdatatype.to_text(s.rdtype))
        self.sets[key] = s
        self.signed.pop(key, None)

    def remove(self, owner, kind=None):
        for key in [k for k in self.sets if k[0] == self.full(owner) and kind in (None, k[1])]:
            del self.sets[key]

    def served_by(self, servers, ttl=None):
        """{name: address}: the apex NS set, and their addresses where they are ours."""
        self.servers = servers
        for name, address in servers.items():
            self.add("@ %d NS %s" % (ttl or self.ttl, name))
            if address and (self.name == "." or name.endswith("." + self.name)):
                self.add("%s %d A %s" % (name, ttl or self.ttl, address))

    def with_signature(self, s, q):
        """The set, and its signature for who asked for it."""
        if not self.key or not q.dnssec:
            return [s]
        key = (s.name.to_text().lower(), dns.rdatatype.to_text(s.rdtype), id(s))
        if key not in self.signed:
            self.signed[key] = signing.sign(s, self.key)
        return [s, self.signed[key]]

    def types(self, name):
        return [k for n, k in self.sets if n == name]

    def cut_above(self, q):
        """The delegation at or above the name asked for, or None."""
        at = dns.name.from_text(q.name)
        apex = dns.name.from_text(self.name)
        found = None
        while at != apex and len(at.labels) > len(apex.labels):
            if (at.to_text(), "NS") in self.sets:
                found = at.to_text()
            at = at.parent()
        return None if found == q.name and q.kind == "DS" else found

    def answer(self, q):
        cut = self.cut_above(q)
        if cut:
            return self.refer(q, cut)
        at, out = q.name, []
        for _ in range(12):
            types = self.types(at)
            if q.kind in types or (q.kind == "ANY" and types):
                for kind in types if q.kind == "ANY" else [q.kind]:
                    out += self.with_signature(self.sets[at, kind], q)
                return q.reply(out, additional=self.addresses(self.sets[at, "NS"]) if q.kind == "NS" else ())
            if "CNAME" not in types:
                break
            out += self.with_signature(self.sets[at, "CNAME"], q)
            at = self.sets[at, "CNAME"][0].target.to_text().lower()
            if not (at.endswith("." + self.name) or at == self.name):
                return q.reply(out)
        return self.deny(q, at, out)

    def refer(self, q, cut):
        ns = self.sets[cut, "NS"]
        more = []
        if q.dnssec and self.key:
            if (cut, "DS") in self.sets:
                more = self.with_signature(self.sets[cut, "DS"], q)
            else:
                more = self.denial(cut, ["NS", "RRSIG", "NSEC"])
        return q.reply(aa=False, authority=[ns, *more], additional=self.addresses(ns))

    def addresses(self, ns):
        """What is known here of those servers."""
        keys = [(r.target.to_text().lower(), "A") for r in ns]
        return [self.sets[k] for k in keys if k in self.sets]

    def deny(self, q, name, answer=()):
        exists = any(n == name or n.endswith("." + name) for n, _ in self.sets)
        soa = self.with_signature(self.sets[self.name, "SOA"], q)
        proof = []
        if self.key and q.dnssec:
            types = self.types(name)
            proof = self.denial(name, types + ["RRSIG", "NSEC"]) if exists else self.absence(name)
        return q.reply(answer, [*soa, *proof], rcode="NOERROR" if exists else "NXDOMAIN")

    def made(self, s):
        return [s, signing.sign(s, self.key)]

    def denial(self, name, types):
        """That the name has these types and no others."""
        if self.nsec3 is None:
            return self.made(signing.nsec(name, "\\000." + name, types))
        return self.made(signing.nsec3_matching(self.name, name, [t for t in types if t != "NSEC"], self.nsec3,
                                                self.salt, flags=int(self.optout)))

    def absence(self, name):
        """That the name does not exist, nor a wildcard for it."""
        if self.nsec3 is None:
            head, rest = name.split(".", 1)
            return [*self.made(signing.nsec(before(head) + "." + rest, head + "\\000." + rest, ["A", "RRSIG", "NSEC"])),
                    *self.made(signing.nsec("!." + self.name, "+." + self.name, ["A", "RRSIG", "NSEC"]))]
        labels = name[:-len(self.name) - 1].split(".")
        return [*self.made(signing.nsec3_matching(self.name, self.name, ["NS", "SOA", "RRSIG", "DNSKEY"], self.nsec3,
                                                  self.salt)),
                *self.made(signing.nsec3_covering(self.name, labels[-1] + "." + self.name, self.nsec3, self.salt,
                                                  flags=int(self.optout))),
                *self.made(signing.nsec3_covering(self.name, "*." + self.name, self.nsec3, self.salt))]


def before(label):
    """A label that sorts a little before this one."""
    return label[:-1] + chr(ord(label[-1]) - 1) + "~"


class World:
    """Who serves what. `zones[address]` holds the zones of an address, asked for the closest."""

    def __init__(self, authority):
        self.authority = authority
        self.zones = {}
        self.root, self.tld = Zone("."), Zone("test.")
        self.serve(self.root, {"a.root.": ROOT})
        self.serve(self.tld, {"ns.test.": TLD}, parent=self.root)
        for name, address in (("victim.test.", VICTIM), ("sister.test.", SISTER)):
            self.serve(Zone(name, ["%s 3600 A %s" % (n, a) for n, a in CANARIES.items() if n.endswith("." + name)]),
                       {"ns." + name: address})
        authority.answer_of[EVIL] = self.lie

    @staticmethod
    def lie(q):
        return q.reply(["%s 3600 A %s" % (q.name, POISON)])

    def answer(self, q):
        known = self.zones.get(q.server, [])
        if q.kind == "DS":
            above = [z for z in known if q.under(z.name) and q.name != z.name]
            known = above or known
        fitting = [z for z in known if q.under(z.name)]
        if not fitting:
            return q.reply(rcode="REFUSED", aa=False)
        return max(fitting, key=lambda z: len(z.name)).answer(q)

    def serve(self, zone, servers, parent=None, ttl=None, delegate=True):
        """Puts a zone on its servers, {name: address}, and into its parent (`test.` unless said)."""
        zone.served_by(servers)
        for address in servers.values():
            if address:
                self.zones.setdefault(address, []).append(zone)
                self.authority.answer_of.setdefault(address, self.answer)
        if delegate and zone.name != ".":
            self.delegate(zone.name, servers, parent, ttl, zone.key)
        return zone

    def delegate(self, name, servers, parent=None, ttl=None, key=None):
        """The parent's word on it: NS, addresses that are below the parent, and DS where both are signed."""
        parent = parent or self.tld
        for server, address in servers.items():
            parent.add("%s %d NS %s" % (name, ttl or 3600, server))
            if address and (parent.name == "." or server.endswith("." + parent.name)):
                parent.add("%s %d A %s" % (server, ttl or 3600, address))
        if key and parent.key:
            parent.put(signing.ds(key))

    def script(self, address, answer):
        """From now on the address says what this function says."""
        self.authority.answer_of[address] = answer
