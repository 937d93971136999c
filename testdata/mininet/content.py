"""What the miniature internet contains: its servers, its ordinary zones and its special ones.

SPDX-License-Identifier: BSD-3-Clause

Everything is drawn from one seeded generator, so two runs give the same names and records; only the
keys differ. Addresses of servers are 127.10.0.0/16 to 127.60.0.0/16, addresses in records come from
the benchmark networks 198.18.0.0/15 and 2001:2::/48, which no resolver answers by itself.
"""

import random

from world import World

ROOT = [("a.root-servers.net.", "127.10.0.1"), ("b.root-servers.net.", "127.10.0.2"),
        ("c.root-servers.net.", "127.10.0.3")]
GTLD = [("%s.gtld-servers.net." % c, "127.11.0.%d" % (i + 1)) for i, c in enumerate("abcd")]

LAME = "127.30.0.1"                      # runs, but refuses every zone that is pointed to it
CLOSED = ["127.40.0.1", "127.40.0.2"]    # nobody listens: the kernel says so at once
SILENT = ["127.41.0.1", "127.41.0.2"]    # the port is open and nobody ever answers

# What `odd.py` does at each of its addresses; the zones below are pointed to them.
ODD = {
    "127.31.0.1": "servfail",
    "127.31.0.2": "formerr_on_edns",
    "127.31.0.3": "truncated_then_tcp",
    "127.31.0.4": "truncated_no_tcp",
    "127.31.0.5": "wrong_id",
    "127.31.0.6": "wrong_question",
    "127.31.0.7": "nxdomain_between",
    "127.31.0.8": "notimp",
    "127.31.0.9": "garbage",
    "127.31.0.10": "slow",
    "127.31.0.11": "foreign_records",
    "127.31.0.12": "ignores_edns",
    "127.31.0.13": "no_question",
}

FIRST = """amber birch cedar delta ember fjord grove heron iris jade kelp lotus maple north ocean
pearl quartz river stone tulip umber violet willow xenon yarrow zephyr alpine bronze coral dune""".split()
SECOND = """anchor bridge cabin drum engine falcon garden harbor island jungle kettle lantern meadow
nest orchard pocket quill rocket saddle table urchin valley wagon yard zebra atlas beacon cipher
dynamo echo""".split()


def build(zones=240, signed_share=0.5, seed=20261120):
    """The whole world. `zones` ordinary zones come on top of the special ones."""
    w = World()
    dice = random.Random(seed)
    servers(w)
    top(w)
    hosters = providers(w)
    cdn(w, dice)
    ordinary = bulk(w, hosters, zones, signed_share, dice)
    import special
    special.add_all(w, hosters)
    reverse(w, ordinary)
    return w, ordinary


def servers(w):
    w.server("root", *[a for _, a in ROOT])
    w.server("tlds-a", *[a for _, a in GTLD])
    w.server("tlds-b", "127.12.0.1", "127.12.0.2", "127.12.0.3")
    w.server("tlds-c", "127.13.0.1", "127.13.0.2", "127.13.0.3")
    w.server("tlds-d", "127.14.0.1", "127.14.0.2", "127.14.0.3", "127.14.0.4")
    w.server("hosts-a", *["127.20.0.%d" % i for i in range(1, 9)])
    w.server("hosts-b", *["127.21.0.%d" % i for i in range(1, 9)])
    w.server("hosts-c", *["127.22.0.%d" % i for i in range(1, 9)])
    w.server("hosts-d", *["127.23.0.%d" % i for i in range(1, 17)])
    w.server("lame", LAME)


def top(w):
    """The root and the zones registries run."""
    w.zone(".", ["root"], ROOT, sign="nsec", split_keys=True, ttl=518400)
    w.zone("root-servers.net.", ["root"], ROOT, ttl=518400)
    w.zone("arpa.", ["root"], ROOT, sign="nsec")

    w.zone("com.", ["tlds-a"], GTLD, sign="optout", ttl=172800, soa_minimum=900)
    w.zone("net.", ["tlds-a"], GTLD, sign="optout", ttl=172800, soa_minimum=900)
    w.zone("gtld-servers.net.", ["tlds-a"], GTLD[:2])

    # The servers of info are named in org and the root gives no glue for them.
    registry = [("ns1.registry.org.", None), ("ns2.registry.org.", None)]
    own = [("ns1.registry.org.", "127.12.0.1"), ("ns2.registry.org.", "127.12.0.2")]
    w.zone("org.", ["tlds-b"], [("a.ns.org.", "127.12.0.1"), ("b.ns.org.", "127.12.0.2"),
                                ("c.ns.org.", "127.12.0.3")], sign="nsec3")
    w.zone("registry.org.", ["tlds-b"], own)
    w.zone("info.", ["tlds-b"], registry)

    w.zone("se.", ["tlds-c"], [("a.ns.se.", "127.13.0.1"), ("b.ns.se.", "127.13.0.2")], sign="nsec")
    uk = [("nsa.nic.uk.", "127.13.0.2"), ("nsb.nic.uk.", "127.13.0.3")]
    w.zone("uk.", ["tlds-c"], uk, sign="nsec3")
    w.zone("co.uk.", ["tlds-c"], uk, sign="nsec3")

    w.zone("mini.", ["tlds-d"], [("a.nic.mini.", "127.14.0.1"), ("b.nic.mini.", "127.14.0.2"),
                                 ("c.nic.mini.", "127.14.0.3")], sign="nsec")
    rev = [("in-addr-servers.mini.", "127.14.0.4")]
    w.zones["mini."].add("in-addr-servers", "A", "127.14.0.4")
    w.zone("in-addr.arpa.", ["tlds-d"], rev, sign="nsec")
    w.zone("ip6.arpa.", ["tlds-d"], rev, sign="nsec")

    for name in [".", "com.", "net.", "org.", "info.", "se.", "uk.", "co.uk.", "mini.", "arpa."]:
        w.expect(name, "NS", "apex")
        w.expect(name, "SOA", "apex")
        w.expect(name, "A", "nodata-apex")
        w.expect("no-such-name-here." + (name if name != "." else ""), "A", "nxdomain", "NXDOMAIN")
    w.expect("a.root-servers.net.", "A", "positive")


def providers(w):
    """Companies that serve other people's zones, with name servers in one or several TLDs."""
    a = [("ns%d.amberhost.com." % i, "127.20.0.%d" % i) for i in range(1, 5)]
    w.zone("amberhost.com.", ["hosts-a"], a, sign="nsec3")

    b = [("ns1.brightdns.net.", "127.21.0.1"), ("ns2.brightdns.net.", "127.21.0.2"),
         ("ns3.brightdns.org.", "127.21.0.3")]
    w.zone("brightdns.net.", ["hosts-b"], b)
    w.zone("brightdns.org.", ["hosts-b"],
           [("ns3.brightdns.org.", "127.21.0.3"), ("ns4.brightdns.org.", "127.21.0.4")])
    w.zones["brightdns.net."].add("@", "TXT", '"names in two top level domains"')

    # Its servers live in two TLDs, and neither zone can be reached by its own names alone.
    c = [("ns.cedar-dns.se.", "127.22.0.1"), ("ns.cedar-dns.co.uk.", "127.22.0.2")]
    w.zone("cedar-dns.se.", ["hosts-c"], c, sign="nsec")
    w.zone("cedar-dns.co.uk.", ["hosts-c"], c)
    w.zones["cedar-dns.se."].add("www", "A", "198.18.0.7")

    # A reseller: its server names are in a zone that itself hangs on provider A.
    d = [("dns1.reseller.info.", "127.20.0.5"), ("dns2.reseller.info.", "127.20.0.6")]
    w.zone("reseller.info.", ["hosts-a"], a[:2])
    for name, address in d:
        w.zones["reseller.info."].add(name.split(".")[0], "A", address)
    for name, address in a + b + c + d:
        w.expect(name, "A", "positive-server")
        w.expect(name, "AAAA", "nodata-server")
    return {"a": a, "b": b, "c": c, "reseller": [(n, None) for n, _ in d]}


def cdn(w, dice):
    """Many names that are aliases of few."""
    w.zone("fastcdn.net.", ["hosts-b"], [("ns1.brightdns.net.", "127.21.0.1"),
                                         ("ns2.brightdns.net.", "127.21.0.2")], ttl=30)
    pops = w.zone("cdn-pops.org.", ["hosts-a"], [("ns1.amberhost.com.", None),
                                                 ("ns3.amberhost.com.", None)], ttl=20)
    for i in range(1, 9):
        pops.add("pop%d" % i, "A", *["198.18.1.%d" % (i * 8 + k) for k in range(dice.randint(1, 6))])
        pops.add("pop%d" % i, "AAAA", "2001:2:0:1::%d" % i)
        w.expect("pop%d.cdn-pops.org." % i, "A", "positive")


def bulk(w, hosters, count, signed_share, dice):
    """Ordinary zones in the ordinary ways of hosting. Returns their names."""
    tlds = ["com", "net", "org", "se", "co.uk", "com", "info", "com", "mini", "org"]
    made = []
    for i in range(count):
        label = "%s-%s" % (dice.choice(FIRST), dice.choice(SECOND))
        name = "%s%d.%s." % (label, i, tlds[i % len(tlds)])
        vanity = ["127.23.0.%d" % (1 + (i + k) % 16) for k in range(2)]
        own = [("ns1." + name, vanity[0]), ("ns2." + name, vanity[1])]
        kind = i % 7
        ns, hosts = [
            (hosters["a"][:2], ["hosts-a"]),
            (hosters["b"], ["hosts-b"]),
            (hosters["c"], ["hosts-c"]),
            (own, ["hosts-d"]),
            ([own[0], hosters["a"][2]], ["hosts-d", "hosts-a"]),
            (hosters["a"], ["hosts-a"]),
            (hosters["reseller"], ["hosts-a"]),
        ][kind]
        # Spread evenly, not drawn: a small internet too has the share that was asked for.
        signed = int((i + 1) * signed_share) > int(i * signed_share)
        sign = (["nsec", "nsec3"][(i // 2) % 2]) if signed else None
        z = w.zone(name, hosts, ns, sign=sign, ttl=dice.choice([60, 300, 3600, 86400]))
        fill(w, z, i, dice)
        made.append(name)
    return made


def fill(w, z, i, dice):
    """The records an ordinary zone has."""
    name = z.name
    v4 = "198.18.%d.%d" % (2 + i // 250, 1 + i % 250)
    v6 = "2001:2:0:%x::1" % (16 + i)
    z.add("@", "A", v4)
    z.add("@", "AAAA", v6)
    z.add("@", "MX", "10 mail." + name, "20 backup.amberhost.com.")
    z.add("@", "TXT", '"v=spf1 mx -all"', '"owner=%d"' % i)
    z.add("@", "CAA", '0 issue "ca.example.net"')
    z.add("mail", "A", v4)
    z.add("_dmarc", "TXT", '"v=DMARC1; p=none"')
    z.add("_sip._tcp", "SRV", "10 60 5060 sip." + name, "20 0 5060 mail." + name)
    z.add("sip", "A", v4)
    z.add("host.floor1.hq", "A", v4)
    z.add("*.w", "A", v4)
    z.add("*.w", "AAAA", v6)
    z.add("*.w", "TXT", '"wild in zone %d"' % i)
    way = dice.randrange(3)
    if way == 0:
        z.add("www", "A", v4)
        z.add("www", "AAAA", v6)
    elif way == 1:
        z.add("www", "CNAME", name)
    else:
        edge = w.zones["fastcdn.net."].add("z%d.edge" % i, "CNAME",
                                           "pop%d.cdn-pops.org." % (1 + i % 8))
        z.add("www", "CNAME", edge)
        w.expect(edge, "A", "cname-cross")
    z.add("ftp", "CNAME", "www." + name)

    w.expect(name, "A", "positive")
    w.expect(name, "NS", "apex")
    w.expect(name, "MX", "positive")
    w.expect(name, "TLSA", "nodata-apex")
    w.expect("www." + name, "A", ["positive", "cname", "cname-cross"][way])
    w.expect("ftp." + name, "AAAA", "cname-cross" if way == 2 else "cname")
    w.expect("anything.w." + name, "A", "wildcard")
    w.expect("any.thing.w." + name, "MX", "wildcard-nodata")
    w.expect("hq." + name, "A", "ent")
    w.expect("nope." + name, "A", "nxdomain", "NXDOMAIN")
    w.expect("_sip._tcp." + name, "SRV", "positive")


def reverse(w, ordinary):
    """PTR records for the addresses of the ordinary zones, with one network delegated by the
    classless way of RFC 2317 (a slash in a zone's name)."""
    server = [("in-addr-servers.mini.", "127.14.0.4")]
    rev = w.zone("18.198.in-addr.arpa.", ["tlds-d"], server)
    for i, name in enumerate(ordinary):
        rev.add("%d.%d" % (1 + i % 250, 2 + i // 250), "PTR", "www." + name)
        if i % 10 == 0:
            w.expect("%d.%d.18.198.in-addr.arpa." % (1 + i % 250, 2 + i // 250), "PTR", "positive")
    part = w.zone("64/29.100.18.198.in-addr.arpa.", ["hosts-b"],
                  [("ns1.brightdns.net.", None), ("ns3.brightdns.org.", None)])
    for i in range(65, 71):
        rev.add("%d.100" % i, "CNAME", "%d.64/29.100.18.198.in-addr.arpa." % i)
        part.add(str(i), "PTR", "host%d.types.mini." % i)
        w.expect("%d.100.18.198.in-addr.arpa." % i, "PTR", "cname-cross")
    w.expect("99.99.18.198.in-addr.arpa.", "PTR", "nxdomain", "NXDOMAIN")

    rev6 = w.zone("2.0.0.0.1.0.0.2.ip6.arpa.", ["tlds-d"], server)
    one = ".".join(reversed("000000010000000000000005"))
    rev6.add(one, "PTR", "pop5.cdn-pops.org.")
    w.expect(one + ".2.0.0.0.1.0.0.2.ip6.arpa.", "PTR", "positive")
    w.expect(".".join(reversed("00000001")) + ".2.0.0.0.1.0.0.2.ip6.arpa.", "PTR", "ent")


def queries(ordinary, count, seed=7):
    """Lines for dnsperf: names that no cache has yet, spread over the ordinary zones."""
    dice = random.Random(seed)
    for i in range(count):
        rrtype = "AAAA" if i % 10 == 9 else "A"
        yield "u%06d.w.%s %s\n" % (i, dice.choice(ordinary), rrtype)
