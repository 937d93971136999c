"""The name servers of a made world: one process, all addresses, each with its own habits.

SPDX-License-Identifier: BSD-3-Clause

TRAITS is the table of what a server may do otherwise than the protocol says, or than most others do. A trait is either
`before` (given the query, it says something in place of an answer) or `after` (it changes what is said).
"""

import contextlib
import os
import selectors
import socket
import struct
import threading

from . import wire
from .wire import AAAA, CNAME, DNSKEY, DS, NS, NSEC, NSEC3, OPT, RRSIG, SOA, Set
from .zones import Said

PORT, IP_PKTINFO, MOST = 53, 8, 1232
DNSSEC_TYPES = (RRSIG, NSEC, NSEC3)
SILENT = object()


class Asked:
    """A query as a server reads it."""

    def __init__(self, data, tcp):
        self.data, self.tcp = data, tcp
        self.id, self.flags, count, _, _, extra = struct.unpack_from("!6H", data)
        if count != 1 or self.flags & wire.QR:
            raise wire.Malformed("no question")
        self.labels, at = wire.read_name(data, 12)
        self.type, self.rrclass = struct.unpack_from("!HH", data, at)
        self.question = data[12:at + 4]
        self.edns, self.dnssec, self.size = False, False, 512
        if extra and data[at + 4:at + 7] == b"\0\0\x29":
            self.edns = True
            self.size = max(512, min(MOST, struct.unpack_from("!H", data, at + 7)[0]))
            self.dnssec = bool(struct.unpack_from("!H", data, at + 11)[0] & wire.DO)


# -- traits ----------------------------------------------------------------------------------------

def is_denial(said):
    return not said.answer and said.aa


def stale(server, q, said):
    """A recursive server with old data in the place of an authoritative one: other addresses, RA and no AA."""
    if said.aa and q.type == wire.A and said.how == ("plain",):
        said.answer = [Set(s.owner, s.type, s.ttl, (b"\xcb\0\x71\7",)) if s.type == wire.A else s for s in said.answer]
        said.aa, said.flags = False, wire.RA


def failure(rcode):
    return lambda server, q: Said(rcode, aa=False)


def of_types(rcode, test):
    return lambda server, q: Said(rcode, aa=False) if test(q.type) else None


def flagged(on=0, off_aa=True, test=lambda q, s: True):
    def change(server, q, said):
        if test(q, said) and said.aa:
            said.aa, said.flags = not off_aa, said.flags | on
    return change


def no_soa(server, q, said):
    if is_denial(said):
        said.authority = [s for s in said.authority if s.type != SOA and not covers(s, SOA)]


def nothing_in_denials(server, q, said):
    if is_denial(said):
        said.authority = []


def to_upper(labels):
    """As a name's bytes; the letters only."""
    return b"".join(bytes([len(p)]) + p.upper() for p in labels) + b"\0"


def covers(s, rrtype):
    return s.type == RRSIG and s.rdatas and struct.unpack_from("!H", s.rdatas[0])[0] == rrtype


def soa_of(owner_of):
    def change(server, q, said):
        if is_denial(said):
            said.authority = [Set(owner_of(s.owner), s.type, s.ttl, s.rdatas) if s.type == SOA or covers(s, SOA) else s
                              for s in said.authority]
    return change


def ent_is_nx(server, q, said):
    if "ent" in said.how and "nodata" in said.how:
        said.rcode = wire.NXDOMAIN


def nx_is_nodata(server, q, said):
    if said.rcode == wire.NXDOMAIN:
        said.rcode = wire.NOERROR


def rcode_for(rrtype, rcode):
    def change(server, q, said):
        if q.type == rrtype and is_denial(said):
            said.rcode = rcode
            if rcode not in (wire.NOERROR, wire.NXDOMAIN):
                said.authority, said.aa = [], False
    return change


def fat(server, q, said):
    """NS of the zone, and their addresses, with every positive answer."""
    zone = server.zone_of(q.labels, q.type)
    if zone and said.answer and q.type != NS and zone.has(zone.apex, NS):
        ns = zone.data[zone.apex][NS]
        said.authority += zone.with_signatures([ns])
        said.additional += zone.with_signatures(zone.glue(ns))


def foreign(server, q, said):
    """Records of a name it has nothing to do with."""
    if said.answer:
        said.additional.append(Set((b"www", b"elsewhere", b"xx"), wire.A, 300, (b"\xcb\0\x71\x42",)))
        said.authority.append(Set((b"elsewhere", b"xx"), NS, 300, (wire.to_wire((b"ns", b"elsewhere", b"xx")),)))


def bare_referral(server, q, said):
    """A server from before DNSSEC: no DS and no proof in a referral."""
    if said.cut:
        said.authority = [s for s in said.authority if s.type == NS]


def referral_with_aa(server, q, said):
    if said.cut:
        said.aa = True


def child_for_ds(server, q):
    """Asked for DS at the apex of a zone it has, it looks there, whatever else it has."""
    if q.type == DS:
        zone = server.zone_of(q.labels, wire.A)
        if zone and zone.apex == q.labels:
            return zone.answer(q.labels, DS)
    return None


def wildcard_for_ds(server, q):
    """For DS at a cut it says what a wildcard beside it says."""
    if q.type == DS:
        zone = server.zone_of(q.labels, DS)
        if zone and q.labels in zone.cuts:
            node = (b"*",) + q.labels[1:]
            if zone.has(node, CNAME):
                s = zone.data[node][CNAME]
                return Said(answer=zone.with_signatures([Set(q.labels, CNAME, s.ttl, s.rdatas)], node), how=("wildcard",))
    return None


def upward(server, q):
    return Said(aa=False, authority=[Set((), NS, 3600, (wire.to_wire((b"a", b"root")),))], how=("upward",))


def badvers(server, q):
    """No version of EDNS will do (RFC 6891 6.1.3)."""
    return Said(wire.BADVERS, aa=False) if q.edns else None


def extra_answer(server, q, said):
    """A record in ANSWER that nobody asked for, of a name in the zone."""
    zone = server.zone_of(q.labels, q.type)
    if said.answer and zone:
        said.answer = said.answer + [Set((b"extra",) + zone.apex, wire.A, 300, (b"\xcb\0\x71\x43",))]


def first_extra(server, q, said):
    extra_answer(server, q, said)
    said.answer = said.answer[-1:] + said.answer[:-1]


def backwards(server, q, said):
    """Each section's sets in the opposite order."""
    said.answer, said.authority = said.answer[::-1], said.authority[::-1]


def answer_in_authority(server, q, said):
    """The zone's SOA record beside a positive answer, as if it were a denial as well."""
    zone = server.zone_of(q.labels, q.type)
    if said.answer and zone and zone.soa():
        said.authority = said.authority + zone.with_signatures([zone.soa()])


def twice(server, q, said):
    """Every set two times."""
    said.answer = said.answer + said.answer


def minimal_any(server, q):
    if q.type == wire.ANY and server.zone_of(q.labels, q.type):
        zone = server.zone_of(q.labels, q.type)
        if q.labels in zone.seen and q.labels not in zone.cuts:
            return Said(answer=zone.with_signatures([Set(q.labels, 13, 3600, (b"\7RFC8482\0",))]), how=("any",))
    return None


TRAITS = {
    # name: (kind, function)
    "refused": ("before", failure(wire.REFUSED)),
    "servfail": ("before", failure(wire.SERVFAIL)),
    "silent": ("before", lambda server, q: SILENT),
    "upward": ("before", upward),
    "formerr-edns": ("before", lambda server, q: Said(wire.FORMERR, aa=False, how=("bare",)) if q.edns else None),
    "badvers": ("before", badvers),
    "tc-always": ("before", lambda server, q: Said(flags=wire.TC)),
    "extra-answer": ("after", extra_answer),
    "first-extra": ("after", first_extra),
    "backwards": ("after", backwards),
    "soa-beside": ("after", answer_in_authority),
    "twice": ("after", twice),
    "tc": ("before", lambda server, q: None if q.tcp else Said(flags=wire.TC)),
    "unknown-notimp": ("before", of_types(wire.NOTIMP, lambda t: t > 255 or t in (64, 65))),
    "unknown-servfail": ("before", of_types(wire.SERVFAIL, lambda t: t > 255 or t in (64, 65))),
    "ds-servfail": ("before", of_types(wire.SERVFAIL, lambda t: t == DS)),
    "aaaa-refused": ("before", of_types(wire.REFUSED, lambda t: t == AAAA)),
    "ds-of-child": ("before", child_for_ds),
    "ds-of-wildcard": ("before", wildcard_for_ds),
    "any-minimal": ("before", minimal_any),
    "any-refused": ("before", of_types(wire.REFUSED, lambda t: t == wire.ANY)),
    "no-aa": ("after", flagged()),
    "ra-no-aa": ("after", flagged(wire.RA)),
    "ra": ("after", flagged(wire.RA, off_aa=False)),
    "denial-no-aa": ("after", flagged(test=lambda q, s: is_denial(s))),
    "no-soa": ("after", no_soa),
    "empty-denial": ("after", nothing_in_denials),
    "soa-of-parent": ("after", soa_of(lambda n: n[1:])),
    "ent-nx": ("after", ent_is_nx),
    "nx-nodata": ("after", nx_is_nodata),
    "aaaa-nx": ("after", rcode_for(AAAA, wire.NXDOMAIN)),
    "aaaa-servfail": ("after", rcode_for(AAAA, wire.SERVFAIL)),
    "stale": ("after", stale),
    "fat": ("after", fat),
    "foreign": ("after", foreign),
    "bare-referral": ("after", bare_referral),
    "referral-aa": ("after", referral_with_aa),
    # read where they matter
    "no-opt": ("", None),       # answers without OPT and without DNSSEC
    "minimal": ("", None),      # follows no alias
    "chase": ("", None),        # follows aliases through all its zones
    "lower": ("", None),        # the question comes back in lower case
    "upper": ("", None),        # owner names are in upper case
}


class Server:
    def __init__(self, address, traits=()):
        self.address, self.traits, self.zones = address, set(traits), {}
        self.before = [TRAITS[t][1] for t in sorted(self.traits) if TRAITS[t][0] == "before"]
        self.after = [TRAITS[t][1] for t in sorted(self.traits) if TRAITS[t][0] == "after"]
        self.kept = {}

    def zone_of(self, labels, rrtype):
        """The closest zone it has; DS belongs to the one above."""
        first = 1 if rrtype == DS and len(labels) else 0
        for i in range(first, len(labels) + 1):
            if labels[i:] in self.zones:
                return self.zones[labels[i:]]
        return self.zones.get(labels)

    def said(self, q):
        for trait in self.before:
            out = trait(self, q)
            if out is not None:
                return out
        zone = self.zone_of(q.labels, q.type)
        if zone is None or q.rrclass != 1:
            return Said(wire.REFUSED, aa=False)
        out = self.chased(zone, q)
        for trait in self.after:
            trait(self, q, out)
        return out

    def chased(self, zone, q):
        first = zone.answer(q.labels, q.type)
        out = Said(first.rcode, first.aa, list(first.answer), list(first.authority), list(first.additional), first.how,
                   first.target, first.cut, first.flags)
        target, seen = first.target, {q.labels}
        while target is not None and target not in seen and "minimal" not in self.traits:
            seen.add(target)
            held = self.zone_of(target, q.type) if "chase" in self.traits else zone
            if held is None or not wire.under(target, held.apex):
                break
            more = held.answer(target, q.type)
            out.rcode, target = more.rcode, more.target
            out.answer += [s for s in more.answer if s not in out.answer]
            out.authority += [s for s in more.authority if s not in out.authority]
            out.additional += more.additional
        return out

    def reply(self, data, tcp):
        """Bytes, or None for silence."""
        try:
            q = Asked(data, tcp)
        except (wire.Malformed, struct.error, IndexError):
            return None
        at = (q.labels, q.type, q.rrclass, q.edns, q.dnssec, q.size, tcp)
        if at not in self.kept:
            self.kept[at] = self.packed(q, self.said(q))
        if self.kept[at] is None:
            return None
        flags, counts, body = self.kept[at]
        question = q.question[:-4].lower() + q.question[-4:] if "lower" in self.traits else q.question
        return struct.pack("!6H", q.id, flags | q.flags & (wire.RD | wire.CD), 1, *counts) + question + body

    def packed(self, q, said):
        """(flags, counts, what follows the question)."""
        if said is SILENT:
            return None
        edns = q.edns and "no-opt" not in self.traits and "bare" not in said.how
        opt = b"\0" + struct.pack("!HHIH", OPT, MOST, said.rcode >> 4 << 24 | (wire.DO if q.dnssec else 0), 0) if edns else b""
        flags = wire.QR | said.flags | said.rcode & 15 | (wire.AA if said.aa else 0)
        own = wire.to_wire(q.labels)
        sections = []
        for section in (said.answer, said.authority, said.additional):
            records = []
            for s in section:
                if not (q.dnssec and edns) and (s.type in DNSSEC_TYPES and s.type != q.type and q.type != wire.ANY
                                                or s.type == DS and said.cut):
                    continue
                if "upper" in self.traits:
                    records += [to_upper(s.owner) + r[len(wire.to_wire(s.owner)):] for r in s.wire]
                    continue
                records += [b"\xc0\x0c" + r[len(own):] if s.owner == q.labels and q.labels else r for r in s.wire]
            sections.append(records)
        body = b"".join(b"".join(records) for records in sections)
        if not q.tcp and 12 + len(q.question) + len(body) + len(opt) > q.size:
            # Without what is beside the point first.
            body, sections[2] = b"".join(b"".join(records) for records in sections[:2]), []
            if 12 + len(q.question) + len(body) + len(opt) > q.size or said.cut:
                return flags | wire.TC, (0, 0, 1 if opt else 0), opt
        return flags, (len(sections[0]), len(sections[1]), len(sections[2]) + (1 if opt else 0)), body + opt


# -- the process -----------------------------------------------------------------------------------

class Served:
    """All of them in a process of their own, until `stop`."""

    def __init__(self, servers, log=None):
        """`log`: a file that gets a line for each question: address, name in hex, type."""
        self.log = open(log, "w", encoding="ascii", buffering=1) if log else None    # noqa: SIM115
        self.udp = socket.socket(type=socket.SOCK_DGRAM)
        self.udp.setsockopt(socket.IPPROTO_IP, IP_PKTINFO, 1)
        for option in (socket.SO_RCVBUF, socket.SO_SNDBUF):
            self.udp.setsockopt(socket.SOL_SOCKET, option, 1 << 22)
        self.udp.bind(("0.0.0.0", PORT))
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(("0.0.0.0", PORT))
        self.listener.listen(512)
        self.servers = servers
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                threading.Thread(target=self.serve_tcp, daemon=True).start()
                self.serve_udp(parent)
            finally:
                os._exit(0)
        self.udp.close()
        self.listener.close()

    def stop(self):
        with contextlib.suppress(OSError):
            os.kill(self.pid, 9)
            os.waitpid(self.pid, 0)

    def serve_udp(self, parent):
        self.udp.settimeout(2)
        while os.getppid() == parent:
            try:
                data, ancillary, _, peer = self.udp.recvmsg(4096, 64)
            except (TimeoutError, ConnectionError):
                continue
            for level, kind, d in ancillary:
                if kind == IP_PKTINFO:
                    server = self.servers.get(socket.inet_ntoa(d[8:12]))
                    out = server.reply(data, False) if server else None
                    if out is not None:
                        if self.log:
                            asked = Asked(data, False)
                            self.log.write("%s %s %d\n" % (server.address, wire.to_wire(asked.labels).hex(), asked.type))
                        with contextlib.suppress(OSError):
                            self.udp.sendmsg([out], [(level, kind, struct.pack("=I", 0) + d[8:12] + bytes(4))], 0, peer)

    def serve_tcp(self):
        selector = selectors.DefaultSelector()
        selector.register(self.listener, selectors.EVENT_READ, None)
        while True:
            for key, _ in selector.select():
                if key.data is None:
                    conn, _ = self.listener.accept()
                    selector.register(conn, selectors.EVENT_READ, (bytearray(), self.servers.get(conn.getsockname()[0])))
                elif not self.take_tcp(key.fileobj, *key.data):
                    selector.unregister(key.fileobj)
                    key.fileobj.close()

    @staticmethod
    def take_tcp(conn, buffer, server):
        try:
            got = conn.recv(65536)
            buffer += got
            while len(buffer) >= 2 and len(buffer) >= 2 + (size := struct.unpack_from("!H", buffer)[0]):
                out = server.reply(bytes(buffer[2:2 + size]), True) if server else None
                del buffer[:2 + size]
                if out is not None:
                    conn.settimeout(2)
                    conn.sendall(struct.pack("!H", len(out)) + out)
            return bool(got)
        except OSError:
            return False
