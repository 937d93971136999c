"""What is done to a signed zone so that it is wrong in one way and right in all others.

SPDX-License-Identifier: BSD-3-Clause

`FAULTS` has a function for each fault, by the name that `Zone.fault` gives. It edits the records of
the signed file; what has to be signed all the same is signed again here, by the little of ECDSA that
takes. `KEY_EDITS` has what is done to the zone's key: the DS of the parent is that of the edited key.
"""

import base64
import hashlib
import random
import re
import struct
import time

TYPES = {"A": 1, "NS": 2, "CNAME": 5, "SOA": 6, "MX": 15, "TXT": 16, "AAAA": 28, "DNAME": 39, "DS": 43,
         "RRSIG": 46, "NSEC": 47, "DNSKEY": 48, "NSEC3": 50, "NSEC3PARAM": 51}
HEX32 = bytes.maketrans(b"0123456789abcdefghijklmnopqrstuv", b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
DAY = 86400
REVOKE = 0x80


# -- the wire -------------------------------------------------------------------------------------

def wire_name(name):
    return b"".join(bytes([len(p)]) + p.lower().encode() for p in name.split(".") if p) + b"\0"


def key_tag(rdata):
    total = sum(b if i & 1 else b << 8 for i, b in enumerate(rdata))
    return (total + (total >> 16)) & 0xffff


def dnskey_text(rdata):
    return "%d %d %d %s" % (*struct.unpack("!HBB", rdata[:4]), base64.b64encode(rdata[4:]).decode())


def bitmap(types):
    bits = bytearray(32)
    for t in types:
        number = TYPES[t]
        bits[number >> 3] |= 0x80 >> (number & 7)
    data = bytes(bits).rstrip(b"\0")
    return bytes([0, len(data)]) + data


def wire_rdata(rrtype, text):
    words = text.split()
    if rrtype == "A":
        return bytes(int(p) for p in words[0].split("."))
    if rrtype in ("CNAME", "DNAME", "NS"):
        return wire_name(words[0])
    if rrtype == "DNSKEY":
        return struct.pack("!HBB", *map(int, words[:3])) + base64.b64decode("".join(words[3:]))
    if rrtype == "NSEC":
        return wire_name(words[0]) + bitmap(words[1:])
    assert rrtype == "NSEC3"
    salt = b"" if words[3] == "-" else bytes.fromhex(words[3])
    following = base64.b32decode(words[4].lower().encode().translate(HEX32))
    return (struct.pack("!BBHB", *map(int, words[:3]), len(salt)) + salt
            + bytes([len(following)]) + following + bitmap(words[5:]))


# -- ECDSA over P-256 -----------------------------------------------------------------------------

P = 2**256 - 2**224 + 2**192 + 2**96 - 1
N = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551
G = (0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296,
     0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5)


def add(a, b):
    """The sum of two points that are not each other's negative; None is the neutral one."""
    if a is None or b is None:
        return a or b
    slope = (3 * (a[0] * a[0] - 1) * pow(2 * a[1], -1, P) if a == b
             else (b[1] - a[1]) * pow(b[0] - a[0], -1, P)) % P
    x = (slope * slope - a[0] - b[0]) % P
    return x, (slope * (a[0] - x) - a[1]) % P


def doubles():
    point = G
    for _ in range(256):
        yield point
        point = add(point, point)


POWERS = []


def times_g(k):
    POWERS[:] = POWERS or doubles()
    total = None
    for i in range(256):
        if k >> i & 1:
            total = add(total, POWERS[i])
    return total


def ecdsa(secret, message):
    z = int.from_bytes(hashlib.sha256(message).digest(), "big")
    k = int.from_bytes(hashlib.sha512(b"%d %d" % (secret, z)).digest(), "big") % N
    r = times_g(k)[0] % N
    s = pow(k, -1, N) * (z + r * secret) % N
    return r.to_bytes(32, "big") + s.to_bytes(32, "big")


class Key:
    def __init__(self, owner, rdata, secret):
        self.owner, self.rdata, self.secret = owner, rdata, secret

    @classmethod
    def read(cls, base, owner):
        """The two files of ldns-keygen."""
        with open(base + ".key", encoding="ascii") as f:
            rdata = wire_rdata("DNSKEY", re.search(r"DNSKEY\s+(\d+\s+\d+\s+\d+\s+[A-Za-z0-9+/=]+)", f.read())[1])
        with open(base + ".private", encoding="ascii") as f:
            secret = re.search(r"(?m)^PrivateKey: (\S+)", f.read())
        return cls(owner, rdata, int.from_bytes(base64.b64decode(secret[1]), "big") if secret else None)

    @classmethod
    def stranger(cls, owner):
        """A key nobody has published."""
        secret = random.randrange(1, N)
        x, y = times_g(secret)
        return cls(owner, struct.pack("!HBB", 257, 3, 13) + x.to_bytes(32, "big") + y.to_bytes(32, "big"), secret)

    @classmethod
    def twin(cls, other):
        """Another zone key with the tag of this one: flags that mean nothing make up the difference."""
        while True:
            key = cls.stranger(other.owner)
            for flags in range(0x10000):
                key.rdata = struct.pack("!H", flags) + key.rdata[2:]
                if key.tag == other.tag and flags & (0x100 | REVOKE) == 0x100:
                    return key

    @property
    def tag(self):
        return key_tag(self.rdata)


# -- a signed zone --------------------------------------------------------------------------------

class Signed:
    """The records of a signed file: lists of owner, TTL, type and data. `key` is the zone's first
    key, `key_of(zone)` that of another zone."""

    def __init__(self, text, zone, key, key_of):
        self.zone, self.key, self.key_of = zone, key, key_of
        self.records = []
        for line in text.splitlines():
            m = re.match(r"(\S+)\s+(\d+)\s+IN\s+(\S+)\s+([^;]*)", line)
            if m:
                self.records.append([m[1], int(m[2]), m[3], m[4].strip()])

    def text(self):
        return "".join("%s\t%d\tIN\t%s\t%s\n" % tuple(r) for r in self.records)

    def name(self, owner):
        return self.zone if owner == "@" else owner + "." + self.zone

    def is_of(self, record, owner, rrtype):
        return (owner is None or record[0] == self.name(owner)) and record[2] == rrtype

    def signs(self, record, owner, rrtype):
        return self.is_of(record, owner, "RRSIG") and record[3].split()[0] == rrtype

    def drop(self, owner, rrtype):
        """The set and its signatures; any owner's when none is named."""
        self.records = [r for r in self.records if not self.is_of(r, owner, rrtype)]
        self.drop_signatures(owner, rrtype)

    def drop_signatures(self, owner, rrtype):
        self.records = [r for r in self.records if not self.signs(r, owner, rrtype)]

    def edit_signature(self, owner, rrtype, **fields):
        """Writes other fields into the signature, which then is one of another message."""
        order = ["type", "algorithm", "labels", "ttl", "end", "start", "tag", "signer", "data"]
        for r in self.records:
            if self.signs(r, owner, rrtype):
                words = r[3].split()
                for field, change in fields.items():
                    words[order.index(field)] = str(change(words[order.index(field)]))
                r[3] = " ".join(words)

    def edit(self, owner, rrtype, change):
        """Changes the data of a set and signs it again."""
        owners = {r[0] for r in self.records if self.is_of(r, owner, rrtype)}
        for r in self.records:
            if self.is_of(r, owner, rrtype):
                r[3] = change(r[3])
        for full in owners:
            self.sign(full[:-len(self.zone) - 1] or "@", rrtype)

    def sign(self, owner, rrtype, key=None, signer=None, tag=None, labels=None, days=(-2, 90), keep=False):
        """A signature that holds, but for what is said otherwise."""
        key = key or self.key
        full = self.name(owner)
        of_set = [r for r in self.records if self.is_of(r, owner, rrtype)]
        if labels is None:
            labels = len([p for p in full.split(".") if p and p != "*"])
        start, end = [int(time.time()) + d * DAY for d in days]
        tag = key.tag if tag is None else tag
        signer = signer or key.owner
        ttl = of_set[0][1]
        head = struct.pack("!HBBIIIH", TYPES[rrtype], 13, labels, ttl, end, start, tag) + wire_name(signer)
        front = wire_name(full) + struct.pack("!HHI", TYPES[rrtype], 1, ttl)
        datas = sorted(wire_rdata(rrtype, r[3]) for r in of_set)
        signature = ecdsa(key.secret, head + b"".join(front + struct.pack("!H", len(d)) + d for d in datas))
        if not keep:
            self.drop_signatures(owner, rrtype)
        dates = [time.strftime("%Y%m%d%H%M%S", time.gmtime(t)) for t in (end, start)]
        self.records.append([full, ttl, "RRSIG", "%s 13 %d %d %s %s %d %s %s" % (
            rrtype, labels, ttl, *dates, tag, signer, base64.b64encode(signature).decode())])


def noise(data):
    raw = bytearray(base64.b64decode(data))
    raw[5] ^= 0xff
    return base64.b64encode(raw).decode()


def half(data):
    raw = base64.b64decode(data)
    return base64.b64encode(raw[:len(raw) // 2]).decode()


# -- the key --------------------------------------------------------------------------------------

KEY_EDITS = {
    "revoked": lambda k: struct.pack("!H", 257 | REVOKE) + k[2:],
    "no-zone-flag": lambda k: struct.pack("!H", 1) + k[2:],
    "protocol": lambda k: k[:2] + b"\2" + k[3:],
    "short-key": lambda k: k[:36],
    # RFC 3110: a length of one byte, the exponent, the modulus.
    "exponent-0": lambda k: k[:3] + b"\10" + b"\1\0" + b"\xc5" * 256,
}


def edited_key(s):
    """Publishes the edited key in place of the right one; what can be signed is signed with it."""
    edit = KEY_EDITS[s.fault]
    s.key = Key(s.zone, edit(s.key.rdata), s.key.secret)
    for r in s.records:
        if s.is_of(r, "@", "DNSKEY"):
            r[3] = dnskey_text(s.key.rdata)
    for owner, rrtype in (("@", "DNSKEY"), ("www", "A")):
        s.sign(owner, rrtype)
        s.edit_signature(owner, rrtype, algorithm=lambda _: s.key.rdata[3])
    if s.fault == "exponent-0":
        for owner, rrtype in (("@", "DNSKEY"), ("www", "A")):
            s.edit_signature(owner, rrtype, data=lambda _: base64.b64encode(b"\0" * 255 + b"\1").decode())


# -- the faults -----------------------------------------------------------------------------------

def on_www(**how):
    return lambda s: s.sign("www", "A", **how)


def edit_www(**fields):
    return lambda s: s.edit_signature("www", "A", **fields)


def no_denials(s):
    for rrtype in ("NSEC", "NSEC3", "NSEC3PARAM"):
        s.drop(None, rrtype)


def salt(s):
    """The records say another salt than their names were made with."""
    other = lambda text: re.sub(r"^(\d+ +\d+ +\d+ +)\S+", r"\1beef", text)  # noqa: E731
    s.edit(None, "NSEC3", other)
    for r in s.records:
        if s.is_of(r, "@", "NSEC3PARAM"):
            r[3] = other(r[3])


def lies(s):
    """The NSEC of www says that there is an MX, and the zone has none."""
    s.edit("www", "NSEC", lambda text: text.replace(" A ", " A MX "))


def gap(s):
    """The NSEC before no-such leads to a name before it, too: the ring is open."""
    s.edit("here", "NSEC", lambda text: re.sub(r"^\S+", s.name("here.here"), text))


def add_garbled(s):
    """Beside the right signature stands one that is wrong."""
    first = [list(r) for r in s.records if s.signs(r, "www", "A")]
    s.edit_signature("www", "A", data=noise)
    s.records += first


def one_signer(s):
    """The second of the keys for data has signed nothing yet."""
    tags = [r[3].split()[6] for r in s.records if s.signs(r, "www", "A")]
    s.records = [r for r in s.records if r[2] != "RRSIG" or r[3].split()[6] != tags[-1]]


def raise_ttl(s):
    for r in s.records:
        if s.is_of(r, "www", "A"):
            r[1] += 3600


def no_cut_proof(s):
    s.drop("child", "NSEC")


def tag_twin(s):
    """Beside the key that signs stands another with its tag."""
    s.records.insert(1, [s.zone, 3600, "DNSKEY", dnskey_text(Key.twin(s.key).rdata)])
    for r in s.records:
        if s.is_of(r, "@", "DNSKEY"):
            r[1] = s.records[1][1]
    s.sign("@", "DNSKEY")


def shared_out(s):
    """Two who keep the zone, each with keys of its own (RFC 8901): every set is signed by one of them."""
    seen = {}
    for r in s.records:
        if r[2] == "RRSIG" and r[3].split()[0] != "DNSKEY":
            seen.setdefault((r[0], r[3].split()[0]), []).append(r)
    gone = [sigs[i % 2] for i, sigs in enumerate(v for v in seen.values() if len(v) == 2)]
    s.records = [r for r in s.records if r not in gone]


FAULTS = {
    "tag-twin": tag_twin,
    "shared-out": shared_out,
    "garbled": edit_www(data=noise),
    "garbled-keys": lambda s: s.edit_signature("@", "DNSKEY", data=noise),
    "garbled-denial": lambda s: s.edit_signature(None, "NSEC", data=noise),
    "garbled-dname": lambda s: s.edit_signature("old", "DNAME", data=noise),
    "no-keys": lambda s: s.drop("@", "DNSKEY"),
    "unsigned-keys": lambda s: s.drop_signatures("@", "DNSKEY"),
    "unsigned-data": lambda s: s.drop_signatures("www", "A"),
    "unsigned-denial": lambda s: s.drop_signatures(None, "NSEC"),
    "no-denials": no_denials,
    "no-cut-proof": no_cut_proof,
    "gap": gap,
    "lies": lies,
    "salt": salt,
    "other-key": lambda s: s.sign("www", "A", key=Key.stranger(s.zone), tag=s.key.tag),
    "unknown-key": lambda s: s.sign("www", "A", key=Key.stranger(s.zone)),
    "by-parent": lambda s: s.sign("www", "A", key=s.key_of("mini.")),
    "by-sibling": lambda s: s.sign("www", "A", key=s.key_of("salted.mini.")),
    "no-zone": lambda s: s.sign("www", "A", signer="www." + s.zone),
    "bad-tag": edit_www(tag=lambda t: (int(t) + 1) & 0xffff),
    "short-signature": edit_www(data=half),
    "original-ttl": edit_www(ttl=lambda t: int(t) + 1),
    "fewer-labels": edit_www(labels=lambda n: int(n) - 1),
    "more-labels": on_www(labels=4),
    "backwards": on_www(days=(30, -30)),
    "wrong-algorithm": edit_www(algorithm=lambda _: 14),
    "one-signer": one_signer,
    "add-garbled": add_garbled,
    "raise-ttl": raise_ttl,
    **{name: edited_key for name in KEY_EDITS},
}


def commit(path, zone, key, key_of):
    """Does to the signed file of the zone what was ordered."""
    with open(path, encoding="ascii") as f:
        s = Signed(f.read(), zone.name, key, key_of)
    s.fault = zone.fault
    before = s.text()
    FAULTS[zone.fault](s)
    assert s.text() != before, zone.name
    with open(path, "w", encoding="ascii") as f:
        f.write(s.text())
