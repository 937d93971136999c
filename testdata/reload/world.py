"""Servers on loopback that tell apart who was asked, and configurations drawn from what shapes answers.

SPDX-License-Identifier: BSD-3-Clause
"""

import hashlib
import random
import socket
import threading
import time

import dns.dnssec
import dns.edns
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdataclass
import dns.rdatatype
import dns.rrset
from cryptography.hazmat.primitives.asymmetric import ec

SERVERS = ["192.0.2.%d" % i for i in range(1, 5)]
CLIENTS = ["127.0.0.1", "10.0.1.1"]
SIGNED = dns.name.from_text("sig.test.")
ZONES = ["a.test.", "b.test.", "sub.a.test.", "sig.test.", "corp.lan."]
NAMES = ["w.a.test.", "c.a.test.", "x.sub.a.test.", "w.b.test.", "c.b.test.", "nx.a.test.", "nx.b.test.", "six.a.test.",
         "w.sig.test.", "bad.sig.test.", "nx.sig.test.", "c.sig.test.", "w.corp.lan.", "none.a.test.", "mx.b.test.",
         "slow.a.test.", "slow.b.test.", "slow.sig.test."]
# Where the names that begin with "c" lead.
ALIASES = {"c.a.test.": "w.b.test.", "c.b.test.": "x.sub.a.test.", "c.sig.test.": "w.a.test."}
QUESTIONS = [(n, t) for n in NAMES for t in ("A", "AAAA")] + [("mx.b.test.", "MX"), ("w.a.test.", "TXT"), ("w.sig.test.", "TXT"),
                                                              ("w.a.test.", "HTTPS")]
KEY = ec.derive_private_key(0x5eed5eed5eed5eed, ec.SECP256R1())
DNSKEY = dns.dnssec.make_dnskey(KEY.public_key(), dns.dnssec.Algorithm.ECDSAP256SHA256, flags=257)
DS = dns.dnssec.make_ds(SIGNED, DNSKEY, "SHA256")


def number(*what):
    return hashlib.sha256(" ".join(what).encode()).digest()


def rrset(name, ttl, rrtype, *data):
    return dns.rrset.from_text(name, ttl, "IN", rrtype, *data)


class Servers:
    """Each answers every question as a recursive server would, with data of its own."""

    def __init__(self):
        self.signatures = {}
        self.asked = 0
        for address in SERVERS:
            udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            udp.bind((address, 53))
            threading.Thread(target=self._serve, args=(address, udp), daemon=True).start()

    def _serve(self, address, udp):
        while True:
            wire, client = udp.recvfrom(4096)
            try:
                query = dns.message.from_wire(wire)
                answer = self._answer(address, query).to_wire()
            except Exception as e:                                      # one question is one question
                print("server", address, repr(e))
                continue
            self.asked += 1
            if query.question[0].name.labels[0] == b"slow":
                threading.Timer(0.02 + 0.1 * number(address)[0] / 255, udp.sendto, (answer, client)).start()
            else:
                udp.sendto(answer, client)

    def _sign(self, found, forged):
        key = (found.to_text(), forged)
        if key not in self.signatures:
            sig = dns.dnssec.sign(found, KEY, SIGNED, DNSKEY, inception=int(time.time()) - 3600, lifetime=864000)
            if forged:
                sig = sig.replace(signature=sig.signature[:-1] + bytes([sig.signature[-1] ^ 1]))
            self.signatures[key] = dns.rrset.from_rdata(found.name, found.ttl, sig)
        return self.signatures[key]

    def _data(self, address, name, rrtype, subnet):
        """The RRset, or None."""
        first, four = name.split(".")[0], number(address, name)[0] % 3
        if name in ALIASES and rrtype != "DS":
            return rrset(name, 300, "CNAME", ALIASES[name])
        if first in ("nx", "none") or name not in NAMES and first != "mail":
            return None
        if rrtype == "A" and first != "six":
            last = int(address.split(".")[3]) + (100 if subnet else 0)
            return rrset(name, 7200, "A", "%s.%d" % (["10.9.9", "198.51.100", "203.0.113"][four], last))
        if rrtype == "AAAA" and first == "six":
            return rrset(name, 7200, "AAAA", "2001:db8::%s" % address.split(".")[3])
        if rrtype == "TXT":
            return rrset(name, 30, "TXT", address)
        if rrtype == "MX" and first == "mx":
            return rrset(name, 300, "MX", "10 mail.b.test.")
        if rrtype == "HTTPS":
            return rrset(name, 300, "HTTPS", "1 . alpn=h2 ipv4hint=10.9.9.%s" % address.split(".")[3])
        return None

    def _answer(self, address, query):
        question = query.question[0]
        answer = dns.message.make_response(query, recursion_available=True)
        answer.flags |= dns.flags.AA
        answer.use_edns(0, dns.flags.DO if query.ednsflags & dns.flags.DO else 0, 1232)
        subnet = next((o for o in query.options if o.otype == dns.edns.OptionType.ECS), None)
        if subnet:
            answer.use_edns(0, answer.ednsflags, 1232, options=[dns.edns.ECSOption(subnet.address, subnet.srclen, subnet.srclen)])
        name, rrtype = question.name.to_text().lower(), dns.rdatatype.to_text(question.rdtype)
        zone = next((z for z in ("sub.a.test.", "a.test.", "b.test.", "sig.test.", "corp.lan.") if name.endswith(z)), ".")
        signed, forged = zone == "sig.test.", name.startswith("bad.")
        if name == "sig.test." and rrtype == "DNSKEY":
            found = dns.rrset.from_rdata(SIGNED, 3600, DNSKEY)
        elif name in (".", "test.", *ZONES) and rrtype in ("NS", "SOA"):
            found = rrset(name, 300, rrtype, "ns." + zone if rrtype == "NS" else "ns.%s h.%s 1 2 3 4 300" % (zone, zone))
        else:
            found = self._data(address, name, rrtype, subnet is not None)
        while found is not None:
            answer.answer.append(found)
            if signed and query.ednsflags & dns.flags.DO:
                answer.answer.append(self._sign(found, forged))
            if found.rdtype != dns.rdatatype.CNAME or rrtype == "CNAME":
                return answer
            name = found[0].target.to_text()
            signed, zone = name.endswith("sig.test."), "b.test."
            found = self._data(address, name, rrtype, subnet is not None)
        if name.startswith("nx."):
            answer.set_rcode(dns.rcode.NXDOMAIN)
        soa = rrset(zone, 300, "SOA", "ns.%s h.%s 1 2 3 4 300" % (zone, zone))
        answer.authority.append(soa)
        if signed and zone == "sig.test." and query.ednsflags & dns.flags.DO:
            answer.authority.append(self._sign(soa, forged))
            types = "A TXT HTTPS" if not name.startswith("nx.") else "A"
            owner = name if not name.startswith("nx.") else "nw.sig.test."
            if rrtype != "DS" or name != "sig.test.":
                for nsec in ([rrset(owner, 300, "NSEC", ("\\000." + owner if owner == name else "o.sig.test.") + " " + types + " RRSIG NSEC")] +
                             [rrset("sig.test.", 300, "NSEC", "a.sig.test. NS SOA RRSIG NSEC DNSKEY")] * name.startswith("nx.")):
                    answer.authority += [nsec, self._sign(nsec, forged)]
        return answer


class Pair:
    """What stays for a whole chain of configurations, and how to draw one."""

    def __init__(self, seed, folder):
        self.dice, self.folder = random.Random("reload %d" % seed), folder
        self.validates, self.dns64, self.subnets = self.maybe(0.6), self.maybe(0.3), self.maybe(0.25)
        self.files = 0
        self.last = {}

    def maybe(self, chance):
        return self.dice.random() < chance

    def pick(self, from_):
        return self.dice.choice(list(from_))

    def file(self, *lines):
        self.files += 1
        path = "%s/file%d" % (self.folder, self.files)
        with open(path, "w", encoding="ascii") as f:
            f.write("\n".join(lines) + "\n")
        return path

    def draw(self):
        """The lines of a configuration: some options differ from the last one drawn, most do not."""
        kinds = ["ttl", "private", "local", "views", "forward", "lists", "rpz", "auth", "trust", "dns64", "responseip", "looks", "subnets", "limits"]
        changed = kinds if not self.last else self.dice.sample(kinds, self.pick([0, 1, 1, 1, 2, 2, 3, 5]))
        for kind in changed:
            self.last[kind] = getattr(self, "_" + kind)()
        server = [line for k in kinds for line in self.last[k][0]]
        clauses = [line for k in kinds for line in self.last[k][1]]
        modules = ["subnetcache"] * self.subnets + ["respip"] + ["dns64"] * self.dns64 + ["validator"] * self.validates + ["iterator"]
        return ['module-config: "%s"' % " ".join(modules), "access-control: 10.0.0.0/8 allow", "access-control-view: 10.0.1.0/24 office",
                "auto-trust-anchor-file: \"\"", "rrset-roundrobin: no", "do-not-query-localhost: no", "do-ip6: no", *server], clauses

    def _ttl(self):
        return ["%s: %d" % (o, self.pick(v)) for o, v in (("cache-max-ttl", (60, 3600, 86400)), ("cache-min-ttl", (0, 0, 40, 90)),
                                                          ("cache-max-negative-ttl", (10, 3600)), ("cache-min-negative-ttl", (0, 0, 400)))
                if self.maybe(0.4)], []

    def _private(self):
        return (["private-address: " + b for b in ("10.0.0.0/8", "198.51.100.0/24", "203.0.113.2") if self.maybe(0.35)] +
                ["private-domain: " + d for d in ("a.test", "w.b.test", "sub.a.test") if self.maybe(0.2)]), []

    def _local(self, indent=""):
        out = []
        for name in self.dice.sample(NAMES + ZONES, self.pick([0, 0, 1, 2])):
            out.append('local-zone: "%s" %s' % (name, self.pick(["static", "always_nxdomain", "always_nodata", "refuse", "redirect", "transparent"])))
            if self.maybe(0.6):
                out.append('local-data: "%s 60 A 192.0.2.%d"' % (name, self.dice.randint(100, 110)))
        return [indent + line for line in out], []

    def _views(self):
        out = ["view:", "\tname: office"] + ["\tview-first: yes"] * self.maybe(0.6) + self._local("\t")[0]
        out += ["\tview-dnssec: " + self.pick(["no", "permissive"])] * (self.validates and self.maybe(0.25))
        out += ["\tview-domain-insecure: sig.test"] * (self.validates and self.maybe(0.2))
        for zone in self.dice.sample(ZONES, self.pick([0, 0, 1])):
            out += ["forward-zone:", '\tname: "%s"' % zone, "\tforward-addr: " + self.pick(SERVERS), "\tforward-view: office"]
        return [], out

    def _forward(self):
        out = ["forward-zone:", '\tname: "."', "\tforward-addr: " + self.pick(SERVERS[:2])]
        for zone in self.dice.sample(ZONES, self.pick([0, 1, 1, 2])):
            if self.maybe(0.75):
                out += ["forward-zone:", '\tname: "%s"' % zone, "\tforward-addr: " + self.pick(SERVERS)]
            else:
                out += ["stub-zone:", '\tname: "%s"' % zone, "\tstub-addr: " + self.pick(SERVERS)]
        return [], out

    def _lists(self):
        out = []
        for i in range(self.pick([0, 0, 1, 2])):
            names = self.dice.sample(NAMES + ZONES, self.pick([1, 2, 4]))
            out += ["blocklist:", "\tname: list%d" % i, "\tfile: " + self.file(*("||%s^" % n.rstrip(".") for n in names)),
                    "\taction: " + self.pick(["nxdomain", "null", "nodata", "refuse"])]
        return [], out

    def _rpz(self):
        out = []
        for i in range(self.pick([0, 0, 0, 1, 2])):
            rules = ["%spol%d." % (n, i) + " CNAME " + self.pick([".", "*.", "rpz-passthru.", "w.b.test."])
                     for n in self.dice.sample(NAMES, self.pick([1, 2]))]
            if self.maybe(0.4):
                rules.append("24.0.100.51.198.rpz-ip.pol%d. CNAME %s" % (i, self.pick([".", "*."])))
            soa = "pol%d. 60 SOA ns.pol%d. h.pol%d. 1 2 3 4 60" % (i, i, i)
            out += ["rpz:", '\tname: "pol%d."' % i, "\tzonefile: " + self.file("$TTL 60", soa, *rules)]
        return [], out

    def _auth(self):
        out = []
        for zone in self.dice.sample(["sub.a.test.", "b.test.", "corp.lan."], self.pick([0, 0, 1])):
            address = "192.0.2.%d" % self.dice.randint(120, 130)
            out += ["auth-zone:", '\tname: "%s"' % zone, "\tfor-downstream: " + self.pick(["yes", "no"]), "\tfor-upstream: yes",
                    "\tzonefile: " + self.file("$TTL 600", "%s SOA ns.%s h.%s %d 2 3 4 60" % (zone, zone, zone, self.files), "%s NS ns.%s" % (zone, zone),
                                              "*.%s A %s" % (zone, address))]
        return [], out

    def _trust(self):
        out = ["trust-anchor: \"sig.test. DS %s\"" % DS.to_text()] * self.maybe(0.8)
        out += ["domain-insecure: " + n for n in ("sig.test", "bad.sig.test") if self.maybe(0.2)]
        out += ["%s: %s" % (o, v) for o, v in (("val-permissive-mode", "yes"), ("harden-dnssec-stripped", "no"), ("val-sha1", "none"),
                                               ("aggressive-nsec", "no"), ("ignore-cd-flag", "yes"), ("val-override-date", '"20200101000000"'),
                                               ("val-clean-additional", "no"), ("val-bogus-ttl", "10")) if self.maybe(0.12)]
        return (out if self.validates else []), []

    def _dns64(self):
        out = ["dns64-prefix: 2001:db8:%d::/96" % self.dice.randint(1, 3)] * self.maybe(0.6) + ["dns64-synthall: yes"] * self.maybe(0.2)
        out += ["dns64-ignore-aaaa: " + self.pick(["six.a.test", "a.test"])] * self.maybe(0.3)
        return (out if self.dns64 else []), []

    def _responseip(self):
        return ["response-ip: %s %s" % (b, self.pick(["always_nxdomain", "always_nodata", "always_refuse"]))
                for b in ("10.9.9.0/24", "198.51.100.0/24", "203.0.113.3/32") if self.maybe(0.15)], []

    def _looks(self):
        return ["%s: %s" % (o, v) for o, v in (("minimal-responses", "no"), ("deny-any", "yes"), ("serve-expired", "yes"), ("qname-minimisation", "no"),
                                               ("harden-below-nxdomain", "no"), ("ede", "yes"), ("prefetch", "yes"), ("serve-original-ttl", "yes"),
                                               ("local-data-follow-cname", "yes")) if self.maybe(0.15)], []

    def _subnets(self):
        if not self.subnets:
            return [], []
        return (["send-client-subnet: " + s for s in SERVERS if self.maybe(0.3)] + ["client-subnet-zone: " + z for z in ("a.test", "w.b.test") if self.maybe(0.3)] +
                ["client-subnet-always-forward: yes"] * self.maybe(0.2) + ["max-client-subnet-ipv4: 16"] * self.maybe(0.2)), []

    def _limits(self):
        return (["do-not-query-address: " + s for s in SERVERS[1:] if self.maybe(0.12)] + ["iter-scrub-cname: 0"] * self.maybe(0.1) +
                ["harden-glue: no"] * self.maybe(0.1) + ["use-caps-for-id: yes"] * self.maybe(0.1)), []
