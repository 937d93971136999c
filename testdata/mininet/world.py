"""A world of zones: what stands in which zone, who serves it, and how a parent points to it.

SPDX-License-Identifier: BSD-3-Clause

Nothing here knows what the miniature internet contains (see `content.py`) or how it is signed and
served (see `mininet`).
"""

import dataclasses
import os


@dataclasses.dataclass
class Server:
    """One NSD process: the addresses it answers on and the zones it was told to serve."""
    name: str
    addresses: list
    zones: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Zone:
    """`ns` holds (server name, address or None): an address means that the parent gives glue for
    it where the name lies below the parent. `sign` is None, "nsec", "nsec3" or "optout"."""
    name: str
    servers: list
    ns: list
    sign: str = None
    algorithm: str = "ECDSAP256SHA256"
    split_keys: bool = False     # a KSK and a ZSK in place of one key for both
    rollover: bool = False       # two of each: the old ones and the new ones
    salt: str = "-"
    iterations: int = 0
    ds: str = "right"            # what the parent says; see ds_of() of `mininet`
    fault: str = None            # expired, future, stripped, or one of `faults.py`
    child_ns: list = None        # NS set in the zone itself, where it differs from the parent's
    soa_minimum: int = 300
    soa_ttl: int = 3600
    ttl: int = 3600
    records: list = dataclasses.field(default_factory=list)

    @property
    def file(self):
        """Name of the zone's file: every byte a file system or a shell could mind is replaced."""
        plain = self.name.rstrip(".") or "root"
        return "".join(c if c.isalnum() or c in "-._" else "+%02x" % ord(c) for c in plain)

    def add(self, owner, rrtype, *rdatas, ttl=None):
        """Adds a set of records. `owner` is relative to the zone; "@" is its apex."""
        full = self.name if owner == "@" else (
            owner + "." + self.name if self.name != "." else owner + ".")
        for rdata in rdatas:
            self.records.append((full, self.ttl if ttl is None else ttl, rrtype, rdata))
        return full


def is_under(name, zone):
    name, zone = name.lower(), zone.lower()
    return zone == "." or name == zone or name.endswith("." + zone)


class World:
    def __init__(self):
        self.servers = {}
        self.zones = {}
        self.names = []     # (name, type, rcode, kind)
        self.broken = []    # (name, type, rcode a resolver gives, why)
        self.verdicts = []  # (name, type, secure or insecure or bogus, code of RFC 8914 or 0, why)

    def server(self, name, *addresses):
        self.servers[name] = Server(name, list(addresses))
        return self.servers[name]

    def zone(self, name, servers, ns, **more):
        """A new zone on the named servers. A server may be one that is not ours to run (None)."""
        assert name not in self.zones, name
        z = Zone(name, [self.servers[s] for s in servers], ns, **more)
        for s in z.servers:
            s.zones.append(z)
        self.zones[name] = z
        return z

    def expect(self, name, rrtype, kind, rcode="NOERROR"):
        """What a resolver that does not validate is to say of a name."""
        self.names.append((name, rrtype, rcode, kind))

    def expect_broken(self, name, rrtype, why, rcode="SERVFAIL"):
        self.broken.append((name, rrtype, rcode, why))

    def validated(self, name, rrtype, verdict, ede, why):
        """What a resolver that validates is to think of a name."""
        self.verdicts.append((name, rrtype, verdict, ede, why))

    def parent_of(self, zone):
        if zone.name == ".":
            return None
        labels = zone.name.rstrip(".").split(".")
        for i in range(1, len(labels) + 1):
            up = ".".join(labels[i:]) + "."
            if up in self.zones:
                return self.zones[up]
        raise ValueError("no parent of " + zone.name)

    def children(self):
        """Every zone with the list of zones delegated from it."""
        below = {name: [] for name in self.zones}
        for z in self.zones.values():
            parent = self.parent_of(z)
            if parent:
                below[parent.name].append(z)
        return below

    def write(self, folder, ds_of):
        """Writes every zone file. `ds_of(zone)` gives the DS records the parent is to hold."""
        below = self.children()
        for z in self.zones.values():
            if z.servers:
                with open(os.path.join(folder, z.file), "w", encoding="ascii") as f:
                    f.writelines(zone_lines(z, below[z.name], ds_of))


def zone_lines(zone, children, ds_of):
    seen = set()

    def line(owner, ttl, rrtype, rdata):
        text = "%s\t%d\tIN\t%s\t%s\n" % (owner, ttl, rrtype, rdata)
        key = (owner.lower(), rrtype, rdata)
        if key not in seen:
            seen.add(key)
            yield text

    own_ns = zone.child_ns if zone.child_ns is not None else zone.ns
    yield from line(zone.name, zone.soa_ttl, "SOA", "%s hostmaster.%s 2026112001 3600 900 1209600 %d"
                    % (own_ns[0][0], zone.name if zone.name != "." else "root.", zone.soa_minimum))
    for name, address in own_ns:
        yield from line(zone.name, zone.ttl, "NS", name)
        if address and is_under(name, zone.name):
            yield from line(name, zone.ttl, "A", address)
    for record in zone.records:
        yield from line(*record)
    for child in children:
        for name, address in child.ns:
            yield from line(child.name, 86400, "NS", name)
            # Glue: needed below the child, and useful below this zone where the child has it.
            if address and is_under(name, zone.name):
                yield from line(name, 86400, "A", address)
        for ds in ds_of(child):
            yield from line(child.name, 86400, "DS", ds)
