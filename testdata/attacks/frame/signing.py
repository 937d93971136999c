"""Keys and signatures for hostile zones: everything may be asked for, and most of it wrong.

SPDX-License-Identifier: BSD-3-Clause

The arithmetic (ECDSA over P-256) is the miniature internet's (testdata/mininet/faults.py)."""

import base64
import hashlib
import os
import struct
import sys
import time

import dns.name
import dns.rdata
import dns.rdataclass
import dns.rdatatype
import dns.rrset

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "mininet"))
import faults  # noqa: E402

DAY = 86400


def key(zone, flags=257):
    """A key of the zone: `.rdata`, `.tag`, `.secret`."""
    k = faults.Key.stranger(zone)
    k.rdata = struct.pack("!H", flags) + k.rdata[2:]
    return k


def keys_of_one_tag(zone, count):
    """As many keys with the same tag: flag bits that mean nothing make up the difference."""
    first = key(zone)
    return [first] + [faults.Key.twin(first) for _ in range(count - 1)]


def dnskey(k, ttl=3600):
    return rdatas(k.owner, "DNSKEY", [k.rdata], ttl)


def rdatas(owner, rrtype, wires, ttl=3600):
    """A record set of data in wire form."""
    kind = dns.rdatatype.from_text(rrtype)
    s = dns.rrset.RRset(dns.name.from_text(owner) if isinstance(owner, str) else owner, dns.rdataclass.IN, kind)
    s.ttl = ttl
    for w in wires:
        s.add(dns.rdata.GenericRdata(dns.rdataclass.IN, kind, w) if w is None else
              dns.rdata.from_wire(dns.rdataclass.IN, kind, w, 0, len(w)))
    return s


def dnskeys(zone, keys, ttl=3600):
    return rdatas(zone, "DNSKEY", [k.rdata for k in keys], ttl)


def ds_rdata(k, digest=2):
    signed = faults.wire_name(k.owner) + k.rdata
    made = {1: hashlib.sha1, 2: hashlib.sha256, 4: hashlib.sha384}[digest](signed).digest()
    return struct.pack("!HBB", k.tag, k.rdata[3], digest) + made


def ds(k, digest=2, ttl=3600):
    return rdatas(k.owner, "DS", [ds_rdata(k, digest)], ttl)


def anchor(k):
    """The key as a line for trust-anchor."""
    return 'trust-anchor: "%s DNSKEY %s"' % (k.owner, faults.dnskey_text(k.rdata))


def sign(rrset, k, signer=None, labels=None, tag=None, ttl=None, days=(-2, 30), false=False, rrclass=1):
    """A record set with the signature of `rrset` by `k`; what is said otherwise is put into it and signed too."""
    owner = rrset.name
    if labels is None:
        labels = len(owner.labels) - 1 - (owner.labels[0] == b"*")
    ttl = rrset.ttl if ttl is None else ttl
    start, end = [int(time.time() + d * DAY) for d in days]
    head = struct.pack("!HBBIIIH", rrset.rdtype, k.rdata[3], labels, ttl, end & 0xffffffff, start,
                       k.tag if tag is None else tag) + faults.wire_name(signer or k.owner)
    signed = owner
    if labels < len(owner.labels) - 1 - (owner.labels[0] == b"*"):
        signed = dns.name.Name((b"*",) + owner.labels[len(owner.labels) - 1 - labels:])
    front = signed.to_digestable() + struct.pack("!HHI", rrset.rdtype, rrclass, ttl)
    datas = sorted(r.to_digestable() for r in rrset)
    text = head + b"".join(front + struct.pack("!H", len(d)) + d for d in datas)
    if false:
        data = os.urandom({8: 512, 14: 96}.get(k.rdata[3], 64))
    else:
        data = k.secret(text) if callable(k.secret) else faults.ecdsa(k.secret, text)
    return rdatas(owner, "RRSIG", [head + data], ttl)


def signed(rrsets, k, **more):
    """Each set, followed by its signature."""
    return [one for s in rrsets for one in (s, sign(s, k, **more))]


# -- denials ---------------------------------------------------------------------------------------

def bitmap(types):
    """The windows of RFC 4034 4.1.2."""
    windows = {}
    for t in types:
        n = dns.rdatatype.from_text(t)
        windows.setdefault(n >> 8, bytearray(32))[(n & 255) >> 3] |= 0x80 >> (n & 7)
    out = b""
    for w in sorted(windows):
        bits = bytes(windows[w]).rstrip(b"\0")
        out += bytes([w, len(bits)]) + bits
    return out


def nsec(owner, following, types, ttl=300):
    return rdatas(owner, "NSEC", [dns.name.from_text(following).to_wire() + bitmap(types)], ttl)


def hash3(name, iterations, salt):
    digest = dns.name.from_text(name).canonicalize().to_wire()
    for _ in range(iterations + 1):
        digest = hashlib.sha1(digest + salt).digest()
    return digest


def base32(digest):
    return base64.b32encode(digest).decode().translate(
        str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", "0123456789abcdefghijklmnopqrstuv"))


def nsec3(zone, from_hash, to_hash, types, iterations=0, salt=b"", flags=0, ttl=300, algorithm=1):
    data = struct.pack("!BBHB", algorithm, flags, iterations, len(salt)) + salt + bytes([len(to_hash)]) + to_hash
    return rdatas("%s.%s" % (base32(from_hash), zone), "NSEC3", [data + bitmap(types)], ttl)


def beside(digest, step):
    return ((int.from_bytes(digest, "big") + step) % (1 << 160)).to_bytes(20, "big")


def nsec3_matching(zone, name, types, iterations=0, salt=b"", **more):
    h = hash3(name, iterations, salt)
    return nsec3(zone, h, beside(h, 1), types, iterations, salt, **more)


def nsec3_covering(zone, name, iterations=0, salt=b"", **more):
    h = hash3(name, iterations, salt)
    return nsec3(zone, beside(h, -1), beside(h, 1), [], iterations, salt, **more)
