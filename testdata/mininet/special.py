"""The special zones of the miniature internet: one small zone for each thing that can be odd.

SPDX-License-Identifier: BSD-3-Clause

Most stand below `mini.`; what needs another top level domain stands there. Each function adds
zones, records, and what a resolver is to say of them. Zones that are meant to fail are in
`special_broken.py`.
"""

import special_broken

# One row a type: its data as a zone file has it.
TYPES = {
    "A": ["198.18.200.1"],
    "AAAA": ["2001:2:0:200::1"],
    "AFSDB": ["1 afs.types.mini."],
    "APL": ["1:198.18.0.0/15 !1:198.18.1.0/24"],
    "CAA": ['0 issue "ca.example.net"', '128 iodef "mailto:a@example.net"'],
    "CDS": ["12345 13 2 " + "ab" * 32],
    "CERT": ["PGP 0 0 AQIDBAUG"],
    "CSYNC": ["66 3 A NS AAAA"],
    "DHCID": ["AAIBY2/AuCccgoJbsaxcQc9TUapptP69lOjxfNuVAA2kjEA="],
    "EUI48": ["00-00-5e-00-53-2a"],
    "EUI64": ["00-00-5e-ef-10-00-00-2a"],
    "HINFO": ['"PDP-11" "UNIX"'],
    "HTTPS": ['1 . alpn="h2,h3" port=8443 ipv4hint=198.18.200.1 ipv6hint=2001:2:0:200::1',
              "0 alias.types.mini."],
    "IPSECKEY": ["10 1 2 198.18.0.1 AQNRU3mG7TVTO2BkR47usntb102uFJtugbo6BSGvgqt4AQ=="],
    "ISDN": ['"150862028003217" "004"'],
    "KX": ["10 kx.types.mini."],
    "L32": ["10 198.18.0.9"],
    "L64": ["10 2001:0db8:1140:1000"],
    "LOC": ["52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000m 10m"],
    "LP": ["10 l64.types.mini."],
    "MB": ["mb.types.mini."],
    "MG": ["mg.types.mini."],
    "MINFO": ["r.types.mini. e.types.mini."],
    "MR": ["mr.types.mini."],
    "MX": ["10 mx1.types.mini.", "20 mx2.types.mini."],
    "NAPTR": ['100 10 "u" "E2U+sip" "!^.*$!sip:info@types.mini!" .'],
    "NID": ["10 0014:4fff:ff20:ee64"],
    "NSAP": ["0x47000580"],
    "OPENPGPKEY": ["AQIDBAUGBwg="],
    "PTR": ["mx1.types.mini."],
    "PX": ["10 ab.types.mini. cd.types.mini."],
    "RP": ["admin.types.mini. txt.types.mini."],
    "RT": ["10 relay.types.mini."],
    "SMIMEA": ["3 0 1 " + "ef" * 32],
    "SPF": ['"v=spf1 -all"'],
    "SRV": ["0 5 5060 sip.types.mini."],
    "SSHFP": ["4 2 " + "cd" * 32],
    "SVCB": ["1 svc.types.mini. mandatory=alpn alpn=h2 key65333=abc"],
    "TLSA": ["3 1 1 " + "ab" * 32],
    "TXT": ['"one" "two"', '"%s"' % ("x" * 255), '""'],
    "URI": ['10 1 "https://www.types.mini/"'],
    "X25": ['"311061700956"'],
    "TYPE731": ["\\# 6 0a0000010203"],
    "TYPE65280": ["\\# 4 0a000001", "\\# 0"],
}


def add_all(w, hosters):
    own = vanity()
    for part in (types, big, aliases, dnames, wildcards, ttls, spellings, delegations, denials):
        part(w, hosters, own)
    special_broken.add_all(w, hosters, own)


def vanity(hosts="hosts-d", network="127.23.0.", count=16):
    """A maker of zones that name their own servers: own(w, "x.mini.") is a zone with glue."""
    state = {"next": 0}

    def own(w, name, **more):
        pair = []
        for i in (1, 2):
            state["next"] += 1
            pair.append(("ns%d.%s" % (i, name), "%s%d" % (network, 1 + state["next"] % count)))
        return w.zone(name, [hosts], pair, **more)
    return own


def types(w, hosters, own):
    for name, sign in (("types.mini.", "nsec"), ("types.info.", None), ("types.org.", "nsec3")):
        z = own(w, name, sign=sign)
        for rrtype, rdatas in TYPES.items():
            full = z.add(rrtype.lower(), rrtype, *rdatas)
            z.add("all", rrtype, *rdatas)
            w.expect(full, rrtype, "unknown-type" if rrtype.startswith("TYPE") else "type-" + rrtype)
        for i in range(65, 71):
            z.add("host%d" % i, "A", "198.18.100.%d" % i)
        w.expect("all." + name, "ANY", "any")
        w.expect("all." + name, "NSEC", "positive" if sign == "nsec" else "nodata")
        w.expect(name, "DNSKEY", "positive" if sign else "nodata-apex")
        w.expect("a." + name, "TYPE65281", "nodata")


def big(w, hosters, own):
    """Sets that do not fit: over 512, about 1232, over 4096, nearly 64 kB."""
    for name, sign in (("big.mini.", "nsec"), ("big.info.", None)):
        z = own(w, name, sign=sign)
        for count in (28, 29, 40, 70, 75, 200, 1000):
            full = z.add("a%d" % count, "A",
                         *["198.18.%d.%d" % (201 + i // 250, 1 + i % 250) for i in range(count)])
            w.expect(full, "A", "big" if count > 70 else "large")
        for size in (400, 1100, 1150, 1180, 1250, 2000, 8000, 60000):
            strings = ['"%04d%s"' % (i, "t" * 196) for i in range(size // 201)]
            strings.append('"%s"' % ("u" * (size % 201)))
            # One record has to fit in 64 kB as well; several records make one set.
            full = z.add("txt%d" % size, "TXT", *[" ".join(strings[i:i + 50])
                                                   for i in range(0, len(strings), 50)])
            w.expect(full, "TXT", "big" if size > 1200 else "large")
        z.add("mx", "MX", *["%d mail%d.some-long-host-name.%s" % (i, i, name) for i in range(100)])
        w.expect("mx." + name, "MX", "big")
        z.add("www", "CNAME", "a200." + name)
        w.expect("www." + name, "A", "big-cname")


def aliases(w, hosters, own):
    """Chains across zones and top level domains, and what may stand at their end."""
    hops = [own(w, n, sign=s) for n, s in (("chain.mini.", "nsec"), ("chain.com.", "nsec3"),
                                           ("chain.net.", None), ("chain.org.", "nsec3"),
                                           ("chain.se.", "nsec"))]
    mini = hops[0]
    for z in hops:
        z.add("target", "A", "198.18.0.40")
        z.add("target", "AAAA", "2001:2::40")
    # lenN.chain.mini: N aliases, each in another zone than the one before, ending at an address.
    for n in (1, 2, 3, 4, 5, 6, 8, 9):
        for i in range(n):
            here = hops[i % len(hops)]
            there = hops[(i + 1) % len(hops)]
            owner = "len%d" % n if i == 0 else "s%d-%d" % (n, i)
            to = "target." if i == n - 1 else "s%d-%d." % (n, i + 1)
            here.add(owner, "CNAME", to + there.name)
        w.expect("len%d.chain.mini." % n, "A", "cname-cross")
        w.expect("len%d.chain.mini." % n, "MX", "cname-cross-nodata")
        w.expect("len%d.chain.mini." % n, "CNAME", "positive")
    # The same within one zone, where the server gives the whole chain at once.
    for n in (2, 5, 8):
        for i in range(n):
            mini.add("in%d" % n if i == 0 else "in%d-%d" % (n, i), "CNAME",
                     ("target." if i == n - 1 else "in%d-%d." % (n, i + 1)) + mini.name)
        w.expect("in%d.chain.mini." % n, "A", "cname")
    for owner, to, rcode, kind in (
            ("to-nx", "no-such.chain.com.", "NXDOMAIN", "cname-nxdomain"),
            ("to-nx-here", "no-such.chain.mini.", "NXDOMAIN", "cname-nxdomain"),
            ("to-no-tld", "www.no-such-tld-here.", "NXDOMAIN", "cname-nxdomain"),
            ("to-nodata", "txt.types.mini.", "NOERROR", "cname-cross-nodata"),
            ("to-wild", "any.wild.mini.", "NOERROR", "cname-cross"),
            ("to-big", "a200.big.info.", "NOERROR", "cname-cross"),
            ("to-cdn", "pop3.cdn-pops.org.", "NOERROR", "cname-cross"),
            ("to-dname", "x.old.dname.mini.", "NOERROR", "cname-cross"),
            ("to-apex", "com.", "NOERROR", "cname-cross-nodata")):
        mini.add(owner, "CNAME", to)
        w.expect("%s.chain.mini." % owner, "A", kind, rcode)
    mini.add("hosts", "MX", "10 len2.chain.mini.", "20 target.chain.mini.")
    w.expect("hosts.chain.mini.", "MX", "positive")


def dnames(w, hosters, own):
    z = own(w, "dname.mini.", sign="nsec")
    z.add("old", "DNAME", "new.dname.mini.")
    z.add("old", "A", "198.18.0.50")
    z.add("x.new", "A", "198.18.0.51")
    z.add("y.x.new", "TXT", '"below"')
    z.add("away", "DNAME", "chain.org.")
    z.add("twice", "DNAME", "old.dname.mini.")
    z.add("nowhere", "DNAME", "no-such-tld-here.")
    long = ".".join(["l" * 63, "m" * 63, "n" * 40])
    z.add("long", "DNAME", long + ".dname.mini.")
    z.add("alias", "CNAME", "target.away.dname.mini.")
    for name, rrtype, kind, rcode in (
            ("x.old.dname.mini.", "A", "dname", "NOERROR"),
            ("y.x.old.dname.mini.", "TXT", "dname", "NOERROR"),
            ("x.old.dname.mini.", "MX", "dname-nodata", "NOERROR"),
            ("old.dname.mini.", "A", "positive", "NOERROR"),
            ("old.dname.mini.", "DNAME", "positive", "NOERROR"),
            ("none.old.dname.mini.", "A", "dname-nxdomain", "NXDOMAIN"),
            ("target.away.dname.mini.", "A", "dname-cross", "NOERROR"),
            ("x.twice.dname.mini.", "A", "dname", "NOERROR"),
            ("x.nowhere.dname.mini.", "A", "dname-nxdomain", "NXDOMAIN"),
            ("alias.dname.mini.", "AAAA", "dname-cross", "NOERROR"),
            ("%s.%s.long.dname.mini." % ("o" * 63, "p" * 20), "A", "dname-yxdomain", "YXDOMAIN")):
        w.expect(name, rrtype, kind, rcode)
    # Nothing may stand below a DNAME, so this zone's servers are named elsewhere.
    apex = w.zone("dname-apex.se.", ["hosts-b"], hosters["b"][:2], sign="nsec")
    apex.add("@", "DNAME", "chain.com.")
    apex.add("@", "TXT", '"the apex itself stays"')
    w.expect("target.dname-apex.se.", "A", "dname-cross")
    w.expect("dname-apex.se.", "TXT", "positive")


def wildcards(w, hosters, own):
    for name, sign in (("wild.mini.", "nsec"), ("wild.com.", "nsec3"), ("wild.info.", None)):
        z = own(w, name, sign=sign)
        z.add("*", "A", "198.18.0.60")
        z.add("*", "MX", "10 any." + name)
        z.add("solid", "TXT", '"stands in the way of the wildcard"')
        z.add("*.alias", "CNAME", "solid." + name)
        z.add("*.out", "CNAME", "target.chain.net.")
        z.add("a.*.star", "A", "198.18.0.61")
        z.add("deep.under.tree", "A", "198.18.0.62")
        for owner, rrtype, kind, rcode in (
                ("any", "A", "wildcard", "NOERROR"),
                ("a.b.c", "MX", "wildcard", "NOERROR"),
                ("any", "TXT", "wildcard-nodata", "NOERROR"),
                ("solid", "A", "nodata", "NOERROR"),
                ("below.solid", "A", "nxdomain", "NXDOMAIN"),
                ("x.alias", "TXT", "wildcard-cname", "NOERROR"),
                ("x.alias", "A", "wildcard-cname-nodata", "NOERROR"),
                ("x.y.out", "A", "wildcard-cname-cross", "NOERROR"),
                ("*", "A", "positive", "NOERROR"),
                ("a.*.star", "A", "positive", "NOERROR"),
                ("b.star", "A", "wildcard-nodata", "NOERROR"),
                ("*.star", "A", "ent", "NOERROR"),
                ("under.tree", "A", "ent", "NOERROR"),
                ("other.tree", "A", "nxdomain", "NXDOMAIN")):
            w.expect("%s.%s" % (owner, name), rrtype, kind, rcode)


def ttls(w, hosters, own):
    z = own(w, "ttl.mini.", sign="nsec", soa_minimum=2)
    for ttl in (0, 1, 2, 5, 60, 86400, 604800, 2147483647):
        full = z.add("t%d" % ttl, "A", "198.18.0.70", ttl=ttl)
        w.expect(full, "A", "ttl%d" % ttl)
    z.add("alias0", "CNAME", "t60.ttl.mini.", ttl=0)
    w.expect("alias0.ttl.mini.", "A", "ttl0-cname")
    w.expect("no-such.ttl.mini.", "A", "nxdomain-short", "NXDOMAIN")
    slow = own(w, "slowsoa.mini.", soa_minimum=7200, soa_ttl=5)
    slow.add("@", "A", "198.18.0.71")
    w.expect("no-such.slowsoa.mini.", "A", "nxdomain-short", "NXDOMAIN")
    w.expect("slowsoa.mini.", "TXT", "nodata-short")


def spellings(w, hosters, own):
    """Names that are long, deep, mixed in case, or made of odd bytes."""
    z = own(w, "MiXeD.mini.")
    z.add("CaSe", "A", "198.18.0.80")
    z.add("Alias", "CNAME", "cAsE.mIxEd.MINI.")
    z.add("Mail", "MX", "10 CaSe.MiXeD.mini.")
    for name, rrtype in (("case.mixed.mini.", "A"), ("CASE.MIXED.MINI.", "A"),
                         ("aLIAS.mixeD.mini.", "A"), ("mail.mixed.mini.", "MX")):
        w.expect(name, rrtype, "case")

    z = own(w, "long.mini.", sign="nsec")
    label = "abcdefghij" * 6 + "xyz"
    full = z.add(".".join([label, label, label, "e" * 50]), "A", "198.18.0.81")
    w.expect(full, "A", "long")
    # 245 = 255 less "long.mini." (11 bytes with the root), shared out to one-letter labels.
    full = z.add(".".join("abcdefghijklmnopqrstuvwxyz"[i % 26] for i in range(122)), "A", "198.18.0.82")
    w.expect(full, "A", "deep-name")
    w.expect(full.split(".", 60)[-1], "A", "ent")

    z = own(w, "bytes.mini.")
    for owner in (r"sp\032ace", r"dot\.inside", r"nul\000byte", r"high\255\254", "under_score",
                  "-dash-", r"back\\slash", r"quo\"te", r"se\;mi", r"par\(en\)", r"at\@sign", "1.2.3.4"):
        full = z.add(owner, "A", "198.18.0.83")
        w.expect(full, "A", "bytes")
    z.add("text", "TXT", r'"\000\001\255 \"quoted\" ; not a comment"', r'"\\"')
    w.expect("text.bytes.mini.", "TXT", "bytes")

    z = own(w, "xn--bcher-kva.mini.", sign="nsec")
    z.add("www", "A", "198.18.0.84")
    w.expect("www.xn--bcher-kva.mini.", "A", "positive")


def delegations(w, hosters, own):
    """The ways in which one can get to a zone."""
    # Down and down: each zone is delegated from the one above, now here, now at another server.
    name = "down.mini."
    for i in range(6):
        if i % 2:
            z = own(w, name, sign="nsec" if i < 4 else None)
        else:
            z = w.zone(name, ["hosts-b"], [("ns1.brightdns.net.", None), ("ns3.brightdns.org.", None)],
                       sign="nsec" if i < 4 else None)
        z.add("www", "A", "198.18.0.%d" % (90 + i))
        w.expect("www." + name, "A", "positive-deep")
        w.expect("no." + name, "A", "nxdomain", "NXDOMAIN")
        name = "d%d.%s" % (i, name)

    # Parent and child at the same servers: no referral is ever seen.
    same = w.zone("same.mini.", ["hosts-b"], [("ns1.brightdns.net.", None)])
    child = w.zone("child.same.mini.", ["hosts-b"], [("ns1.brightdns.net.", None)])
    same.add("www", "A", "198.18.0.100")
    child.add("www", "A", "198.18.0.101")
    w.expect("www.same.mini.", "A", "positive")
    w.expect("www.child.same.mini.", "A", "positive")
    w.expect("child.same.mini.", "SOA", "apex")

    # No glue anywhere on the way: each zone's servers are named in the next one.
    w.zone("far1.mini.", ["hosts-d"], [("ns.far2.org.", None)]).add("www", "A", "198.18.0.102")
    w.zone("far2.org.", ["hosts-d"], [("ns.far3.se.", None)]).add("ns", "A", "127.23.0.9")
    w.zone("far3.se.", ["hosts-d"], [("ns.far4.info.", None)]).add("ns", "A", "127.23.0.10")
    own(w, "far4.info.").add("ns", "A", "127.23.0.11")
    for n in ("www.far1.mini.", "ns.far2.org.", "ns.far3.se."):
        w.expect(n, "A", "glueless")

    # The parent knows one server, the zone itself knows others.
    z = w.zone("differs.mini.", ["hosts-d"], [("ns1.differs.mini.", "127.23.0.1")],
               child_ns=[("ns2.differs.mini.", "127.23.0.2"), ("ns3.differs.mini.", "127.23.0.3")])
    z.add("ns1", "A", "127.23.0.1")
    z.add("www", "A", "198.18.0.103")
    w.expect("www.differs.mini.", "A", "positive")
    w.expect("differs.mini.", "NS", "apex")

    # Thirteen servers, as the real root has.
    many = [("ns%d.many.mini." % i, "127.23.0.%d" % (1 + i)) for i in range(13)]
    z = w.zone("many.mini.", ["hosts-d"], many, sign="nsec")
    z.add("www", "A", "198.18.0.104")
    w.expect("www.many.mini.", "A", "positive")
    w.expect("many.mini.", "NS", "apex")

    # Addresses of servers that are aliases (forbidden, and seen), beside a right one.
    z = w.zone("nsalias.mini.", ["hosts-b"], [("ns1.brightdns.net.", None), ("ns.nsalias-helper.mini.", None)])
    z.add("www", "A", "198.18.0.105")
    own(w, "nsalias-helper.mini.").add("ns", "CNAME", "ns2.brightdns.net.")
    w.expect("www.nsalias.mini.", "A", "positive")


def denials(w, hosters, own):
    """Zones that differ in how they are signed; all of them are right."""
    for name, more in (("rsa.mini.", {"algorithm": "RSASHA256"}),
                       ("p384.mini.", {"algorithm": "ECDSAP384SHA384"}),
                       ("ed25519.mini.", {"algorithm": "ED25519"}),
                       ("ed448.mini.", {"algorithm": "ED448"}),
                       ("split.mini.", {"split_keys": True}),
                       ("salted.mini.", {"sign": "nsec3", "salt": "c0ffee", "iterations": 5}),
                       ("iter150.mini.", {"sign": "nsec3", "iterations": 150}),
                       ("iter500.mini.", {"sign": "nsec3", "iterations": 500}),
                       ("optout.mini.", {"sign": "optout"}),
                       ("island.mini.", {"ds": "none"}),
                       ("newalgorithm.mini.", {"ds": "unknown"})):
        z = own(w, name, **{"sign": "nsec", **more})
        z.add("www", "A", "198.18.0.110")
        z.add("*.w", "A", "198.18.0.111")
        z.add("a.ent", "TXT", '"below an empty name"')
        w.expect("www." + name, "A", "signed")
        w.expect("x.w." + name, "A", "wildcard")
        w.expect("www." + name, "MX", "nodata")
        w.expect("ent." + name, "A", "ent")
        w.expect("no-such." + name, "A", "nxdomain", "NXDOMAIN")
        w.expect(name, "DNSKEY", "positive")
        w.expect(name, "DS", "positive" if more.get("ds") != "none" else "nodata")
    sub = own(w, "unsigned.optout.mini.")
    sub.add("www", "A", "198.18.0.112")
    w.expect("www.unsigned.optout.mini.", "A", "positive")
    w.expect("unsigned.optout.mini.", "DS", "nodata")
