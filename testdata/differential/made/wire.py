"""Names, records and messages as bytes: no more of them than a server and a client that compares need.

SPDX-License-Identifier: BSD-3-Clause

A name is a tuple of labels in lower case, the leaf first and the root left out; a record set is a Set.
"""

import dataclasses
import functools
import re
import struct

import dns.rdata
import dns.rdataclass
import dns.rdatatype

A, NS, CNAME, SOA, PTR, MX, TXT, AAAA, SRV, DNAME, OPT, DS, RRSIG, NSEC, DNSKEY, NSEC3, NSEC3PARAM, HTTPS, ANY = (
    1, 2, 5, 6, 12, 15, 16, 28, 33, 39, 41, 43, 46, 47, 48, 50, 51, 65, 255)
NOERROR, FORMERR, SERVFAIL, NXDOMAIN, NOTIMP, REFUSED, YXDOMAIN, BADVERS = 0, 1, 2, 3, 4, 5, 6, 16
QR, AA, TC, RD, RA, AD, CD, DO = 0x8000, 0x400, 0x200, 0x100, 0x80, 0x20, 0x10, 0x8000

# Where names stand in data that may have come compressed: how many bytes are before the first, and how many names
# there are. What must not be compressed (RFC 3597 4) is compared as it is.
NAMES_IN = {2: (0, 1), 3: (0, 1), 4: (0, 1), 5: (0, 1), 6: (0, 2), 7: (0, 1), 8: (0, 1), 9: (0, 1), 12: (0, 1), 14: (0, 2), 15: (2, 1),
            17: (0, 2), 18: (2, 1), 21: (2, 1), 26: (2, 2), 33: (6, 1), 36: (2, 1), 39: (0, 1), 46: (18, 1), 47: (0, 1)}


@dataclasses.dataclass(frozen=True)
class Set:
    """Records of one owner and type. `rdatas` is a tuple of bytes."""
    owner: tuple
    type: int
    ttl: int
    rdatas: tuple

    @functools.cached_property
    def wire(self):
        head = to_wire(self.owner) + struct.pack("!HHI", self.type, 1, self.ttl)
        return [head + struct.pack("!H", len(d)) + d for d in self.rdatas]


@functools.lru_cache(None)
def name(text):
    """A name from text; `\\000` in it is that byte, as in zone files."""
    if text == ".":
        return ()
    labels = re.findall(r"(?:\\\d{3}|\\.|[^.\\])+", text)
    return tuple(re.sub(rb"\\(\d{3}|.)", lambda m: bytes([int(m[1])]) if len(m[1]) == 3 else m[1],
                        p.encode("latin-1")).lower() for p in labels)


def show(labels):
    def escaped(label):
        return "".join(chr(c) if 33 <= c < 127 and chr(c) not in '.\\"();@$' else "\\%03d" % c for c in label)
    return "".join(escaped(p) + "." for p in labels) or "."


@functools.lru_cache(1 << 16)
def to_wire(labels):
    return b"".join(bytes([len(p)]) + p for p in labels) + b"\0"


def fits(labels):
    return len(to_wire(labels)) <= 255 and all(0 < len(p) < 64 for p in labels)


def under(labels, zone):
    return len(labels) >= len(zone) and labels[len(labels) - len(zone):] == zone


def order(labels):
    """Canonical order (RFC 4034 6.1)."""
    return labels[::-1]


def bitmap(types):
    windows = {}
    for t in types:
        windows.setdefault(t >> 8, bytearray(32))[(t & 255) >> 3] |= 0x80 >> (t & 7)
    out = b""
    for w in sorted(windows):
        bits = bytes(windows[w]).rstrip(b"\0")
        out += bytes([w, len(bits)]) + bits
    return out


def type_text(number):
    return dns.rdatatype.to_text(number)


def type_number(text):
    return dns.rdatatype.from_text(text)


def rdata(rrtype, text):
    """Data from its presentation form, through dnspython."""
    return dns.rdata.from_text(dns.rdataclass.IN, rrtype, text, relativize=False).to_wire()


# -- reading ---------------------------------------------------------------------------------------

class Malformed(Exception):
    pass


def read_name(data, at):
    """(labels, where it ends). Compression pointers lead backwards only."""
    labels, end, least = [], None, at
    while True:
        if at >= len(data):
            raise Malformed("name")
        size = data[at]
        if size >= 192:
            target = struct.unpack_from("!H", data, at)[0] & 0x3fff
            if end is None:
                end = at + 2
            if target >= least:
                raise Malformed("pointer")
            at = least = target
        elif size == 0:
            return tuple(labels), end if end is not None else at + 1
        else:
            labels.append(data[at + 1:at + 1 + size].lower())
            at += 1 + size


def plain_rdata(data, rrtype, at, size):
    """Data without compression, names in lower case."""
    if rrtype not in NAMES_IN:
        return data[at:at + size]
    before, count = NAMES_IN[rrtype]
    out, here = data[at:at + before], at + before
    for _ in range(count):
        labels, here = read_name(data, here)
        out += to_wire(labels)
    return out + data[here:at + size]


@dataclasses.dataclass
class Message:
    id: int
    flags: int
    rcode: int
    question: tuple     # labels, type, class
    sections: tuple     # three lists of (owner, type, ttl, data)
    edns: bool = False
    ede: tuple = ()


def read(data):
    """A message, or Malformed."""
    try:
        qid, flags, qd, *counts = struct.unpack_from("!6H", data)
        at, question = 12, None
        for _ in range(qd):
            labels, at = read_name(data, at)
            question = (labels, *struct.unpack_from("!HH", data, at))
            at += 4
        out = Message(qid, flags, flags & 15, question, ([], [], []))
        for section, count in zip(out.sections, counts):
            for _ in range(count):
                owner, at = read_name(data, at)
                rrtype, _, ttl, size = struct.unpack_from("!HHIH", data, at)
                at += 10
                if rrtype == OPT:
                    out.edns, out.rcode = True, out.rcode | ttl >> 24 << 4
                    out.ede = tuple(codes_of(data[at:at + size]))
                else:
                    section.append((owner, rrtype, ttl, plain_rdata(data, rrtype, at, size)))
                at += size
        return out
    except (struct.error, IndexError) as e:
        raise Malformed(str(e)) from e


def codes_of(options):
    """The reasons (RFC 8914) among EDNS options."""
    at = 0
    while at + 4 <= len(options):
        code, size = struct.unpack_from("!HH", options, at)
        if code == 15 and size >= 2:
            yield struct.unpack_from("!H", options, at + 4)[0]
        at += 4 + size


def query(qid, labels, rrtype, flags, dnssec, size=4096, upper=False):
    """A client's query; without EDNS where `dnssec` is None. `upper`: every other letter is in upper case."""
    opt = b"" if dnssec is None else b"\0" + struct.pack("!HHIH", OPT, size, DO if dnssec else 0, 0)
    if upper:
        labels = [bytes(c ^ 32 if i & 1 == 0 and 97 <= c <= 122 else c for i, c in enumerate(p)) for p in labels]
    return struct.pack("!6H", qid, flags, 1, 0, 0, 1 if opt else 0) + b"".join(bytes([len(p)]) + p for p in labels) + b"\0" + struct.pack("!HH", rrtype, 1) + opt
