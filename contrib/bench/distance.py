"""An internet with distances, in one process: every authoritative server of W13, and those who ask.

SPDX-License-Identifier: BSD-3-Clause

All of 127.0.0.0/8 is in a network namespace of the run's own, so one socket at port 53 is every server: the address that
was asked decides what is known there, how far away it is, and whether it answers at all. Names, zones, faults and losses
come of a seed: every peer meets the same world, and the same losses in the n-th packet to a server.

A world has the root and eight TLDs (signed, near), 20 operators whose servers serve others' zones (so their names come
without glue), and `zones` zones below the TLDs. Of these 30 % have an operator's servers; of the others 10 % have one of two servers that
is dead, 4 % one that is lame (REFUSED), and the share `signed` is signed (ECDSA P-256), half with NSEC, half with NSEC3.
No name is answered by a wildcard, and all names that are asked exist; half of the HTTPS questions have no data.
"""

import asyncio
import base64
import collections
import random
import socket
import statistics
import struct
import time

import dns.dnssec
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdata
import dns.rdatatype as T
import dns.rrset
from cryptography.hazmat.primitives.asymmetric import ec

TTL = 3600
RTT_MS = {"near": 5, "region": 30, "continent": 80, "far": 200}
# How a resolver in Europe meets the servers of the names that people ask for.
SPREAD = ["near"] * 20 + ["region"] * 45 + ["continent"] * 20 + ["far"] * 15
TYPES = ["A"] * 55 + ["AAAA"] * 20 + ["HTTPS"] * 15 + ["PTR"] * 2 + ["MX"] * 3 + ["TXT"] * 3 + ["SRV"] * 2
DATA = {"A": "192.0.2.1", "AAAA": "2001:db8::1", "HTTPS": "1 . alpn=h2", "MX": "10 mail", "TXT": '"v=spf1 -all"',
        "SRV": "0 0 443 www", "PTR": "host"}
OPERATORS, TLDS = 20, ["com", "net", "org", "de", "fr", "io", "eu", "uk"]
PKTINFO = 8 # IP_PKTINFO


def name(text):
    return dns.name.from_text(text)


class Key:
    """One that signs a zone, key-signing and zone-signing at once."""

    def __init__(self, zone):
        self.private = ec.generate_private_key(ec.SECP256R1())
        self.zone, self.dnskey = zone, dns.dnssec.make_dnskey(self.private.public_key(), "ECDSAP256SHA256", flags=257)
        self.ds = dns.dnssec.make_ds(zone, self.dnskey, "SHA256")

    def sign(self, rrset):
        now = int(time.time())
        sig = dns.dnssec.sign(rrset, self.private, self.zone, self.dnskey, inception=now - 3600, expiration=now + 86400)
        return dns.rrset.from_rdata(rrset.name, rrset.ttl, sig)


class Zone:
    """What its servers know."""

    def __init__(self, apex, signed, nsec3):
        self.apex, self.nsec3 = apex, nsec3
        self.key = Key(apex) if signed else None
        self.nodes = collections.defaultdict(dict)  # name: type: rrset
        self.cuts = {}                              # name: Zone
        self.glue, self.signatures = {}, {}

    def add(self, owner, kind, *data):
        rrset = dns.rrset.from_text_list(owner, TTL, "IN", kind, list(data), origin=self.apex, relativize=False)
        self.nodes[owner][T.from_text(kind)] = rrset
        while owner != self.apex:
            owner = owner.parent()
            self.nodes[owner]  # an empty non-terminal exists, too

    def signed(self, rrset):
        """The set, and its signature."""
        at = (rrset.name, rrset.rdtype)
        if at not in self.signatures:
            self.signatures[at] = self.key.sign(rrset)
        return [rrset, self.signatures[at]]

    def denial(self, owner, types):
        """What stands at `owner`, and nothing else does (RFC 4034 4, RFC 5155 7.2.3)."""
        if not self.nsec3:
            bits = " ".join(sorted(T.to_text(t) for t in types | {T.RRSIG, T.NSEC}))
            text = "%s %s" % (dns.name.Name((b"\0",) + owner.labels).to_text(), bits)
            return self.signed(dns.rrset.from_text(owner, 300, "IN", "NSEC", text))
        label = dns.dnssec.nsec3_hash(owner, "", 0, 1)
        after = label[:-1] + chr(ord(label[-1]) + 1) if label[-1] not in "9V" else label
        bits = " ".join(sorted(T.to_text(t) for t in types | ({T.RRSIG} if types else set())))
        text = "1 1 0 - %s %s" % (after, bits)
        return self.signed(dns.rrset.from_text(name(label.lower() + "." + self.apex.to_text()) if self.apex != dns.name.root
                                               else name(label.lower() + "."), 300, "IN", "NSEC3", text))


class World:
    """Everything there is, and who answers where."""

    def __init__(self, seed, zones, signed, loss):
        self.dice = random.Random(seed)
        self.loss, self.next_address = loss, 0
        self.servers = {}   # address: {"zones": [...], "rtt": seconds, "kind": good, dead, lame}
        self.asked = self.lost = self.by_tcp = 0
        self.root = Zone(dns.name.root, True, False)
        self.tlds = [self.new_zone(self.root, t + ".", True, i % 2, ["near", "region"]) for i, t in enumerate(TLDS)]
        self.operators = [self.new_zone(self.dice.choice(self.tlds), "dns-host%d" % i, signed == 1, i % 2)
                          for i in range(OPERATORS)]
        self.place(self.root, ["near", "near"], "ns")
        self.zones = [self.new_zone(self.dice.choice(self.tlds), "zone%d" % i, self.dice.random() < signed, i % 2,
                                    operator=self.dice.choice(self.operators) if self.dice.random() < .3 else None)
                      for i in range(zones)]
        if not self.root.key:
            raise ValueError("the root is signed")

    def address(self):
        self.next_address += 1
        return "127.%d.%d.%d" % (10 + (self.next_address >> 16), self.next_address >> 8 & 255, self.next_address & 255)

    def place(self, zone, distances, label):
        """Two servers of its own, with names in it."""
        hosts = []
        for i, distance in enumerate(distances):
            host, at = name("%s%d." % (label, i + 1) + (zone.apex.to_text() if zone.apex != dns.name.root else "")), self.address()
            zone.add(host, "A", at)
            self.servers[at] = {"zones": [zone], "rtt": RTT_MS[distance] / 1000, "kind": "good", "dice": None}
            hosts.append((host, at))
        self.serve(zone, [h for h, _ in hosts])
        zone.hosts = hosts
        return hosts

    def serve(self, zone, hosts):
        zone.add(zone.apex, "NS", *(h.to_text() for h in hosts))
        zone.add(zone.apex, "SOA", "ns1 admin 1 3600 900 86400 300")
        if zone.key:
            zone.nodes[zone.apex][T.DNSKEY] = dns.rrset.from_rdata(zone.apex, TTL, zone.key.dnskey)
            zone.signed(zone.nodes[zone.apex][T.DNSKEY])

    def new_zone(self, parent, label, signed, nsec3, among=None, operator=None):
        apex = name(label if label.endswith(".") else "%s.%s" % (label, parent.apex.to_text()))
        zone = Zone(apex, signed and parent.key is not None, nsec3)
        if operator:
            for _, at in operator.hosts:
                self.servers[at]["zones"].append(zone)
            self.serve(zone, [h for h, _ in operator.hosts])
        else:
            self.place(zone, [self.dice.choice(among or SPREAD) for _ in range(2)], "ns")
            fault = self.dice.random()
            if not among and label.startswith("zone") and fault < .14:
                self.servers[self.dice.choice(zone.hosts)[1]]["kind"] = "dead" if fault < .1 else "lame"
            for host, _ in zone.hosts:
                parent.glue[host] = zone.nodes[host][T.A]
        parent.cuts[apex] = zone
        parent.nodes[apex]
        return zone

    # -- what is asked ----------------------------------------------------------------------------

    def target(self, kind, at):
        zone = self.dice.choice(self.zones)
        owner = name("cdn%d.%s" % (at, zone.apex.to_text()))
        self.put(zone, owner, kind)
        return zone, owner

    def put(self, zone, owner, kind):
        if kind == "HTTPS" and self.dice.random() < .5:
            kind = "A" # what is asked for is not there
        zone.add(owner, kind, DATA[kind])

    def questions(self, count):
        """Distinct names, none of which was asked before."""
        for i in range(count):
            kind, zone = self.dice.choice(TYPES), self.dice.choice(self.zones)
            depth = self.dice.choice([1, 1, 1, 1, 1, 1, 2, 2, 3, 0])
            labels = ["w%d-%d" % (i, k) for k in range(depth)]
            owner = name(".".join(labels + [zone.apex.to_text()]))
            if depth == 0 and T.from_text(kind) in zone.nodes[owner]:
                depth, owner = 1, name("x%d.%s" % (i, zone.apex.to_text()))
            if depth and self.dice.random() < .15:
                where = self.dice.random()
                if where < .5:
                    to = name("to%d.%s" % (i, zone.apex.to_text()))
                    self.put(zone, to, kind)
                else:
                    over, to = self.target(kind, i)
                    if where > .85: # of three
                        via = self.dice.choice(self.zones)
                        middle = name("via%d.%s" % (i, via.apex.to_text()))
                        via.add(middle, "CNAME", to.to_text())
                        to = middle
                    del over
                zone.add(owner, "CNAME", to.to_text())
            else:
                self.put(zone, owner, kind)
            yield owner, kind

    # -- answers ----------------------------------------------------------------------------------

    def respond(self, wire, at, tcp):
        """The response of the server at that address, or None."""
        server = self.servers.get(at)
        if server is None or server["kind"] == "dead":
            return None
        query = dns.message.from_wire(wire)
        response = dns.message.make_response(query)
        response.use_edns(0 if query.edns >= 0 else False, dns.flags.DO if query.ednsflags & dns.flags.DO else 0, 1232)
        asked = query.question[0]
        zones = [z for z in server["zones"] if asked.name.is_subdomain(z.apex)]
        if server["kind"] == "lame" or not zones:
            response.set_rcode(dns.rcode.REFUSED)
        else:
            zone = max(zones, key=lambda z: len(z.apex))
            if asked.rdtype == T.DS and asked.name == zone.apex and len(zones) > 1:
                zone = min(zones, key=lambda z: len(z.apex))
            # Who asks in mixed case (0x20) gets the same signatures: the next name of an NSEC is signed as it is written.
            self.answer(zone, asked.name.canonicalize(), asked.rdtype, response, bool(query.ednsflags & dns.flags.DO))
        out = response.to_wire(max_size=65535)
        if not tcp and len(out) > (1232 if query.edns >= 0 else 512):
            response.answer, response.authority, response.additional = [], [], []
            response.flags |= dns.flags.TC
            out = response.to_wire()
        return out

    def answer(self, zone, owner, kind, response, do):
        def put(section, rrset):
            section.extend(zone.signed(rrset) if do and zone.key else [rrset])

        cut = owner
        while cut != zone.apex and cut not in zone.cuts:
            cut = cut.parent()
        if cut != zone.apex and not (kind == T.DS and cut == owner):
            self.refer(zone, cut, response, do)
            return
        response.flags |= dns.flags.AA
        for _ in range(4):
            node = zone.nodes.get(owner)
            if node is None or T.CNAME not in node or kind == T.CNAME:
                break
            put(response.answer, node[T.CNAME])
            owner = node[T.CNAME][0].target
            if not owner.is_subdomain(zone.apex):
                return
        if kind == T.DS and owner in zone.cuts:
            below = zone.cuts[owner]
            node = {T.NS: None}
            if below.key:
                node[T.DS] = dns.rrset.from_rdata(owner, TTL, below.key.ds)
        if node is not None and kind in node:
            put(response.answer, node[kind])
            return
        put(response.authority, zone.nodes[zone.apex][T.SOA])
        if node is None:
            response.set_rcode(dns.rcode.NXDOMAIN)
        elif do and zone.key:
            response.authority.extend(zone.denial(owner, set(node)))

    def refer(self, zone, cut, response, do):
        below = zone.cuts[cut]
        ns = below.nodes[cut][T.NS]
        response.authority.append(ns)
        if do and zone.key:
            if below.key:
                response.authority.extend(zone.signed(dns.rrset.from_rdata(cut, TTL, below.key.ds)))
            else:
                response.authority.extend(zone.denial(cut, {T.NS}))
        for host in ns:
            if host.target in zone.glue:
                response.additional.append(zone.glue[host.target])

    # -- files for the peers ------------------------------------------------------------------------

    def hints(self):
        return "".join(". 3600000 NS %s\n%s 3600000 A %s\n" % (host, host, at) for host, at in self.root.hosts)

    def anchor(self):
        key = self.root.key.dnskey
        return ". 3600 IN DNSKEY 257 3 13 %s\n" % base64.b64encode(key.key).decode()


class Servers:
    """The world's servers, at port 53 of every address of loopback."""

    def __init__(self, world, loop):
        self.world, self.loop = world, loop
        self.sent = collections.Counter()
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.setsockopt(socket.IPPROTO_IP, PKTINFO, 1)
        self.udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        self.udp.bind(("0.0.0.0", 53))
        self.udp.setblocking(False)
        loop.add_reader(self.udp, self.on_datagram)

    def is_lost(self, at, way):
        """The same of the n-th packet to that server, whoever is measured."""
        self.sent[at, way] += 1
        return random.Random("%s %s %d" % (at, way, self.sent[at, way])).random() < self.world.loss

    def on_datagram(self):
        while True:
            try:
                wire, more, _, whose = self.udp.recvmsg(4096, 64)
            except BlockingIOError:
                return
            at = socket.inet_ntoa(more[0][2][8:12])
            self.world.asked += 1
            if self.is_lost(at, "there"):
                continue
            self.loop.create_task(self.reply(wire, at, whose))

    async def reply(self, wire, at, whose):
        began = self.loop.time()
        out = self.world.respond(wire, at, False)
        if out is None or self.is_lost(at, "back"):
            return
        await asyncio.sleep(self.world.servers[at]["rtt"] - (self.loop.time() - began))
        info = struct.pack("=I4s4s", 0, socket.inet_aton(at), b"\0\0\0\0")
        try:
            self.udp.sendmsg([out], [(socket.IPPROTO_IP, PKTINFO, info)], 0, whose)
        except OSError:
            pass

    async def on_stream(self, reader, writer):
        at = writer.get_extra_info("sockname")[0]
        server = self.world.servers.get(at)
        try:
            await asyncio.sleep(server["rtt"] if server else 0) # the handshake
            while True:
                size = struct.unpack("!H", await reader.readexactly(2))[0]
                wire = await reader.readexactly(size)
                self.world.asked += 1
                self.world.by_tcp += 1
                out = self.world.respond(wire, at, True)
                if out is None:
                    break
                await asyncio.sleep(server["rtt"])
                writer.write(struct.pack("!H", len(out)) + out)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        writer.close()


class Asker(asyncio.DatagramProtocol):
    """Asks each question as a stub resolver does: again after three seconds, for ten in all."""

    def __init__(self):
        self.waiting, self.transport = {}, None

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, addr):
        ident = struct.unpack("!H", data[:2])[0]
        if ident in self.waiting and not self.waiting[ident].done():
            self.waiting[ident].set_result(data)

    async def ask(self, ident, owner, kind, validating):
        query = dns.message.make_query(owner, kind, want_dnssec=validating)
        query.id = ident
        self.waiting[ident] = asyncio.get_running_loop().create_future()
        began = time.monotonic()
        for patience in (3, 3, 4):
            self.transport.sendto(query.to_wire())
            await asyncio.wait([self.waiting[ident]], timeout=patience)
            if self.waiting[ident].done():
                break
        answer = self.waiting.pop(ident)
        if not answer.done():
            return None, "no answer to %s %s" % (owner, kind)
        response = dns.message.from_wire(answer.result())
        if response.rcode() != dns.rcode.NOERROR:
            return None, "%s to %s %s" % (dns.rcode.to_text(response.rcode()), owner, kind)
        return (time.monotonic() - began) * 1000, ""


async def measure(world, port, count, rate, validating):
    """Asks a resolver at 127.0.0.1, `rate` questions a second. What came of it."""
    loop = asyncio.get_running_loop()
    transport, asker = await loop.create_datagram_endpoint(Asker, remote_addr=("127.0.0.1", port))
    world.asked = world.by_tcp = 0
    began, tasks = loop.time(), []
    for i, (owner, kind) in enumerate(world.asks[:count]):
        await asyncio.sleep(began + i / rate - loop.time())
        tasks.append(loop.create_task(asker.ask(i + 1, owner, kind, validating)))
    got = await asyncio.gather(*tasks)
    transport.close()
    took = sorted(ms for ms, _ in got if ms is not None)
    failed = [why for ms, why in got if ms is None]
    if not took:
        return {"failed": len(failed), "why": failed[:3]}

    def share(p):
        return took[min(len(took) - 1, int(p * len(took)))]
    return {"mean_ms": statistics.fmean(took), "p50": share(.5), "p90": share(.9), "p99": share(.99), "failed": len(failed),
            "why": failed[:3], "packets": world.asked / count, "tcp": world.by_tcp / count}
