"""The building blocks of which `combine` makes configurations up: each is a thing an operator may write.

SPDX-License-Identifier: BSD-3-Clause

A block is a function that adds lines to a Plan, and says which names the lines are about. Names come from
few zones, so that blocks meet at the same names: that is what is to be found out about.
"""

import random

# Zones a block may be about; those below the line are answered by the miniature internet.
LAB = ["lz.", "b.lz.", "c.b.lz.", "lab.", "in.lab."]
REAL = ["types.mini.", "types.info.", "types.org.", "chain.mini.", "wild.mini.", "wild.info.", "mini.", "host65.types.mini.",
        "a.types.info.", "200.18.198.in-addr.arpa."]
# Names that exist there, with the types that do.
HOSTS = [(f"{h}.types.{t}.", types) for t in ("mini", "info", "org") for h, types in (
    ("a", "A"), ("aaaa", "AAAA"), ("all", "A AAAA TXT MX"), ("mx", "MX"), ("txt", "TXT"), ("host65", "A"), ("host66", "A"),
    ("host67", "A"), ("host68", "A"), ("srv", "SRV"), ("https", "HTTPS"), ("zz", "A"))]
HOSTS += [(f"{h}.chain.mini.", "A AAAA CNAME") for h in ("len1", "len2", "in2", "to-nx", "to-nodata", "to-wild", "target", "to-apex")]
HOSTS += [("any.wild.mini.", "A"), ("x.wild.info.", "A TXT"), ("www.garbled.mini.", "A"), ("www.expired.mini.", "A"),
          ("types.mini.", "SOA NS DNSKEY"), ("types.info.", "NS SOA"), ("a28.big.mini.", "A")]
ADDRESSES = ["198.18.200.1/32", "198.18.200.0/24", "198.18.100.65/32", "198.18.100.66/32", "198.18.100.67", "198.18.100.0/24",
             "198.18.0.0/16", "2001:2:0:200::1/128", "2001:2::/32", "192.0.2.0/24", "192.0.2.7/32"]
ZONE_TYPES = ("static transparent typetransparent redirect refuse nodefault inform inform_redirect always_transparent always_refuse "
              "always_nxdomain always_nodata always_null noview deny inform_deny always_deny").split()
TALKING = ZONE_TYPES[:-3]
ACTIONS = [t for t in TALKING if t != "nodefault"]
RESPONSE = "inform redirect always_transparent always_refuse always_nxdomain".split()
CLIENTS = ["127.0.7.%d" % i for i in range(1, 7)]
TAGS = ["red", "green", "blue"]

# Options of the server clause that stand for themselves, with values worth trying.
SIMPLE = """minimal-responses yes no|rrset-roundrobin no yes|deny-any yes|hide-identity yes|hide-version yes|hide-trustanchor yes
unblock-lan-zones yes|insecure-lan-zones yes|qname-minimisation no yes|qname-minimisation-strict yes|harden-glue no
harden-below-nxdomain no yes|harden-referral-path yes|harden-large-queries yes|harden-short-bufsize no|harden-dnssec-stripped no
harden-algo-downgrade yes|aggressive-nsec no yes|cache-min-ttl 0 30 400|cache-max-ttl 60 1000|cache-max-negative-ttl 10 100 5000
val-permissive-mode yes|ignore-cd-flag yes|ede yes no|nsid ascii_lab 00ff|val-clean-additional no|val-bogus-ttl 30|prefetch yes
prefetch-key yes|use-caps-for-id yes|root-key-sentinel no|val-log-level 1 2|disable-dnssec-lame-check yes|edns-tcp-keepalive yes
do-tcp yes|pad-responses no|max-udp-size 512 4096|edns-buffer-size 512 1400|outgoing-num-tcp 5|log-servfail yes|log-local-actions yes
log-queries yes|log-replies yes|extended-statistics yes|target-fetch-policy "0 0 0 0 0"|serve-original-ttl yes|infra-host-ttl 60
do-not-query-address 127.30.0.1 127.31.0.0/24|do-not-query-localhost no|outgoing-interface 127.0.0.1|identity "who am i"
edns-client-string 127.23.0.0/16 abc|edns-client-string-opcode 65003|caps-whitelist types.info.|msg-cache-size 1m|rrset-cache-size 2m
val-nsec3-keysize-iterations "1024 10 2048 20 4096 30"|domain-insecure types.mini. mini. types.org.|private-domain types.info. mini. lz.
private-address 198.18.200.0/24 198.18.0.0/15 2001:2::/32 192.0.2.0/24 127.0.0.0/8|fast-server-permil 900|fast-server-num 2
outbound-msg-retry 3|ratelimit 0|ip-ratelimit 0|unwanted-reply-threshold 100000|num-queries-per-thread 200|jostle-timeout 300
so-reuseport no|tcp-upstream no|tcp-idle-timeout 5000|delay-close 100|infra-cache-min-rtt 60|infra-keep-probing yes|key-cache-size 1m
neg-cache-size 100k|version "9"|val-sig-skew-min 10|val-sig-skew-max 100|zonemd-permissive-mode yes|trust-anchor-signaling no"""
SIMPLE = [row.split(" ", 1) for line in SIMPLE.split("\n") for row in line.split("|")]
QUOTED = {"identity", "target-fetch-policy", "val-nsec3-keysize-iterations", "version"}
WHOLE = {"edns-client-string"}


class Plan:
    """What one seed makes up."""

    def __init__(self, seed):
        self.dice = random.Random(seed)
        self.server, self.clauses, self.files = [], [], {}
        self.names, self.clients, self.targets = [], [None], ["127.0.0.1"]
        self.respip = self.dns64 = self.subnets = self.tags = self.interfaces = False
        self.used = {}
        self.views, self.policies, self.zones, self.local = [], [], [], []

    def maybe(self, chance):
        return self.dice.random() < chance

    def pick(self, rows):
        return self.dice.choice(rows)

    def some(self, rows, most):
        return self.dice.sample(rows, self.dice.randint(1, min(most, len(rows))))

    def about(self, name, types="A"):
        self.names.append((name, types))
        return name

    def zone(self, lab=0.65):
        return self.pick(LAB if self.maybe(lab) else REAL)

    def host(self):
        """A name that exists somewhere, or one that other blocks may be about."""
        if self.maybe(0.6):
            return self.about(*self.pick(HOSTS))
        return self.about(self.pick(["h.", "x.h.", "alias.", "*.w.", "a.w.", ""]) + self.pick(LAB))

    def client(self):
        who = self.pick(CLIENTS)
        if who not in self.clients:
            self.clients.append(who)
        return self.pick([who, who + "/32"]) if self.maybe(0.85) else "127.0.7.0/" + self.pick(["24", "29"])

    def a_tag(self):
        if not self.tags:
            self.tags = True
            self.server.insert(0, 'define-tag: "%s"' % " ".join(TAGS))
        return self.pick(TAGS)

    def some_tags(self):
        self.a_tag()
        return " ".join(self.some(TAGS, 2))


def data(p, alias=True):
    """The type and the data of a record."""
    rows = ["A 192.0.2.7", "A 192.0.2.%d" % p.dice.randrange(1, 99), "A 198.18.100.66", "AAAA 2001:db8::7", "TXT \"one\" \"two\"",
            "MX 5 h.lz.", "SRV 1 2 80 a.types.mini.", "CAA 0 issue \"x\"", "TYPE65280 \\# 2 0102", "PTR a.lz.", "NS ns1.types.mini.",
            "HTTPS 1 . alpn=h2", "SPF \"v=spf1\"", "NAPTR 1 1 \"u\" \"s\" \"\" h.lz."]
    if alias and p.maybe(0.3):
        return "CNAME " + p.pick([p.host(), p.host(), p.pick(LAB), "zz.types.mini."])
    return p.pick(rows) if p.maybe(0.5) else rows[p.dice.randrange(4)]


def local_lines(p, prefix=""):
    """A local zone and some data; also for views."""
    zone, out = p.zone(), []
    kind = p.pick(TALKING) if p.maybe(0.93) else p.pick(ZONE_TYPES)
    p.about(zone, "A SOA NS")
    if p.maybe(0.85):
        out.append('local-zone: "%s" %s' % (zone, kind))
        p.local.append(zone)
    redirect, used = "redirect" in kind, p.used
    for _ in range(p.dice.randrange(0, 5)):
        owner = zone if redirect and p.maybe(0.9) else p.pick(["", "h.", "x.h.", "alias.", "*.w.", "a.w.", "b.", "deep.er."]) + zone
        text = data(p, owner not in used or redirect)
        if used.setdefault(owner, text).split(" ")[0] == "CNAME" and used[owner] is not text or (owner, text) in used:
            continue
        used[owner, text] = True
        p.about(owner, text.split(" ")[0])
        out.append("local-data: '%s %s%s%s'" % (owner, p.pick(["", "", "300 ", "20 "]), p.pick(["", "IN "]), text))
    if p.maybe(0.2):
        out.append('local-data-ptr: "%s %s"' % (p.pick(["192.0.2.7", "198.18.200.1", "2001:db8::7", "10.1.2.3 600"]), p.pick(["h.lz", "a.types.mini"])))
        p.about("7.2.0.192.in-addr.arpa.", "PTR")
        p.about("1.200.18.198.in-addr.arpa.", "PTR")
    return out


def local(p):
    p.server += local_lines(p)


def zone_tag(p):
    zone = p.pick(p.local) if p.local else p.zone()
    p.server.append('local-zone-tag: "%s" "%s"' % (zone, p.some_tags()))
    p.about(zone)
    client_tags(p)


def zone_override(p):
    zone = p.pick(p.local) if p.local else p.zone()
    p.server.append('local-zone-override: "%s" %s %s' % (zone, p.client(), p.pick(ACTIONS)))
    p.about(zone)


def client_tags(p):
    who, tag = p.client(), p.a_tag()
    p.server.append('access-control-tag: %s "%s"' % (who, p.some_tags()))
    if p.maybe(0.5):
        p.server.append("access-control-tag-action: %s %s %s" % (who, tag, p.pick(ACTIONS)))
    if p.maybe(0.4):
        p.server.append("access-control-tag-data: %s %s '%s'" % (who, tag, data(p)))


def view(p):
    name = "v%d" % len(p.views)
    p.views.append(name)
    out = ["view:", '\tname: "%s"' % name]
    if p.maybe(0.5):
        out.append("\tview-first: " + p.pick(["yes", "no"]))
    for _ in range(p.dice.randrange(0, 3)):
        out += ["\t" + line for line in local_lines(p)]
    if p.maybe(0.25):
        out += ["\t" + line for line in response_lines(p)]
    p.clauses.append(out)
    for _ in range(p.dice.randint(1, 2)):
        p.server.append("access-control-view: %s %s" % (p.client(), name))


def response_lines(p):
    p.respip = True
    net, kind = p.pick(ADDRESSES), p.pick(RESPONSE)
    out = ["response-ip: %s %s" % (net, kind)] if p.maybe(0.9) else []
    p.about(*p.pick(HOSTS))
    if kind == "redirect" or not out:
        rows = ["AAAA 2001:db8::50", "AAAA 2001:db8::51"] if ":" in net else ["A 192.0.2.50", "A 192.0.2.51"]
        text = p.pick(rows + ["CNAME " + p.host()]) if p.maybe(0.97) else "TXT \"t\""
        out.append("response-ip-data: %s '%s'" % (net, text))
    return out


def response(p):
    for _ in range(p.dice.randint(1, 3)):
        lines = response_lines(p)
        p.server += lines
        if p.maybe(0.2):
            p.server.append('response-ip-tag: %s "%s"' % (lines[0].split(" ")[1], p.some_tags()))
            client_tags(p)


def reverse_of(net):
    """The name of an address in a policy zone."""
    address, _, size = net.partition("/")
    if ":" in address:
        return {"2001:2:0:200::1": "128.1.zz.200.0.2.2001", "2001:2::": "32.zz.2.2001"}[address]
    return ".".join([size or "32", *reversed(address.split("."))])


def policy(p):
    p.respip = True
    name = "rpz%d." % len(p.policies)
    records = ["$ORIGIN %s" % name, "$TTL %d" % p.pick([60, 600]), "@ SOA ns.%s h.%s 1 3600 900 86400 %d" % (name, name, p.pick([30, 600])), "@ NS ns.%s" % name]
    for _ in range(p.dice.randint(2, 8)):
        way = p.pick(["qname"] * 5 + ["wild"] * 3 + ["ip"] * 3 + ["client", "nsdname", "nsip"])
        if way in ("qname", "wild"):
            base = p.host() if p.maybe(0.7) else p.about(p.zone(0.3))
            owner = (base if way == "qname" or base.startswith("*") else "*." + base)[:-1]
        elif way == "ip":
            owner = reverse_of(p.pick(ADDRESSES)) + ".rpz-ip"
            p.about(*p.pick(HOSTS))
        elif way == "client":
            owner = reverse_of(p.client().split("/")[0]) + ".rpz-client-ip"
        elif way == "nsdname":
            owner = p.pick(["ns1.types.mini", "*.types.info", "ns1.chain.mini"]) + ".rpz-nsdname"
        else:
            owner = p.pick(["32.9.0.23.127", "24.0.0.23.127", "32.3.0.23.127", "32.2.0.23.127"]) + ".rpz-nsip"
        action = p.pick(["CNAME .", "CNAME *.", "CNAME rpz-passthru.", "CNAME " + p.host(), "A 192.0.2.9", "A 192.0.2.8", "AAAA 2001:db8::8",
                         "TXT \"policy\"", "CNAME *.w.lz."] + ["CNAME rpz-tcp-only.", "CNAME rpz-drop."] * (p.maybe(0.2)))
        if not any(r.startswith(owner + " ") and "CNAME" in r + action for r in records):    # one alias at a name
            records.append("%s %s" % (owner, action))
    file = "policy%d" % len(p.policies)
    p.files[file] = records
    out = ["rpz:", '\tname: "%s"' % name, '\tzonefile: "%%(dir)s/%s"' % file]
    if p.maybe(0.3):
        out.append("\trpz-action-override: " + p.pick(["nxdomain", "nodata", "passthru", "disabled", "cname"]))
        if out[-1].endswith("cname"):
            out.append('\trpz-cname-override: "%s"' % p.host().lstrip("*."))
    if p.maybe(0.2):
        out.append("\trpz-signal-nxdomain-ra: yes")
    if p.maybe(0.3):
        out += ["\trpz-log: yes", '\trpz-log-name: "%s"' % file]
    if p.maybe(0.2):
        out.append("\tfor-downstream: yes")
        p.about(name, "SOA NS")
    if p.maybe(0.2):
        out.append('\ttags: "%s"' % p.some_tags())
        client_tags(p)
    p.policies.append(name)
    p.clauses.append(out)


def auth(p):
    zone = p.pick(["lab.", "in.lab.", "b.lz.", "types.info.", "types.mini.", "auth.mini.", "chain.mini."])
    if zone in p.zones:
        return
    p.zones.append(zone)
    out = ["auth-zone:", '\tname: "%s"' % zone]
    if zone.startswith(("types", "chain")) and p.maybe(0.6):
        out.append(p.pick(['\tzonefile: "%%(net)s/zones/%s"' % zone[:-1], "\tprimary: 127.30.0.1"]))
        p.names += [h for h in HOSTS if h[0].endswith(zone)][:6]
    else:
        file = "zone%d" % len(p.zones)
        records = ["$ORIGIN " + zone, "$TTL %d" % p.pick([100, 600]), "@ SOA ns h 1 3600 900 86400 %d" % p.pick([20, 300]), "@ NS ns", "ns A 192.0.2.2"]
        for owner, text in (("h", "A 192.0.2.3"), ("h", "AAAA 2001:db8::3"), ("alias", "CNAME h"), ("out", "CNAME " + p.host()), ("*.w", "A 192.0.2.4"),
                            ("a.w", "TXT here"), ("x.ent", "A 192.0.2.5"), ("cut", "NS ns1.types.mini."), ("dn", "DNAME types.mini."), ("*.wa", "CNAME h"),
                            ("r", "A 198.18.200.1"), ("@", "MX 5 h"), ("@", "A 192.0.2.6"), ("nowhere", "CNAME no-such"), ("two", "A 192.0.2.7"), ("two", "A 192.0.2.8")):
            if p.maybe(0.6):
                records.append("%s %s" % (owner, text))
                p.about((owner + "." if owner != "@" else "") + zone, text.split(" ")[0] if owner != "out" else "A CNAME")
        p.files[file] = records
        out.append('\tzonefile: "%%(dir)s/%s"' % file)
    for option, chance in (("for-downstream", 0.6), ("for-upstream", 0.6), ("fallback-enabled", 0.4)):
        if p.maybe(chance):
            out.append("\t%s: %s" % (option, p.pick(["yes", "no"])))
    p.about(zone, "SOA NS")
    p.clauses.append(out)


SERVERS = {"types.mini.": "127.23.0.%d", "types.info.": "127.23.0.%d", "chain.mini.": "127.23.0.%d"}


def elsewhere(p):
    """A forward or stub zone: to who serves the zone, to who refuses, to nobody, by name."""
    kind = p.pick(["forward", "stub"])
    zone = p.pick(["types.mini.", "types.info.", "chain.mini.", "mini.", "lz.", "b.lz.", "lab.", "wild.mini.", "200.18.198.in-addr.arpa."])
    if (kind, zone) in p.zones:
        return
    p.zones.append((kind, zone))
    out = ["%s-zone:" % kind, '\tname: "%s"' % zone]
    for _ in range(p.dice.randint(1, 2)):
        to = p.pick(["127.23.0.%d" % p.dice.randrange(1, 17), "127.30.0.1", "127.40.0.1", "127.20.0.1@53", "127.23.0.2"])
        out.append("\t%s-addr: %s" % (kind, to))
    if p.maybe(0.15):
        out.append("\t%s-host: ns1.types.mini." % kind)
    for option, chance in (("first", 0.4), ("no-cache", 0.25), ("tcp-upstream", 0.1)):
        if p.maybe(chance):
            out.append("\t%s-%s: %s" % (kind, option, p.pick(["yes", "yes", "no"])))
    if kind == "stub" and p.maybe(0.2):
        out.append("\tstub-prime: " + p.pick(["yes", "no"]))
    p.names += [h for h in HOSTS if h[0].endswith(zone)][:6]
    p.about("h." + zone)
    p.about(zone, "SOA NS A")
    p.clauses.append(out)


def no_ipv4(p):
    p.dns64 = True
    if p.maybe(0.6):
        p.server.append("dns64-prefix: " + p.pick(["64:ff9b::/96", "2001:db8:64::/96", "2001:db8::/32", "2001:db8:1:2::/64", "2001:db8:9::/48"]))
    if p.maybe(0.25):
        p.server.append("dns64-synthall: yes")
    if p.maybe(0.3):
        p.server.append('dns64-ignore-aaaa: "%s"' % p.pick(["types.info.", "all.types.mini.", "mini."]))
    p.names += [("a.types.mini.", "AAAA A"), ("aaaa.types.mini.", "AAAA"), ("all.types.info.", "AAAA"), ("len1.chain.mini.", "AAAA"), ("h.lz.", "AAAA")]
    if p.maybe(0.5):
        p.about("1.200.18.198.0.0.0.0.0.0.b.9.f.f.4.6.0.0.ip6.arpa.", "PTR")
        p.about("1.0.8.c.2.1.6.c" + ".0" * 16 + ".b.9.f.f.4.6.0.0.ip6.arpa.", "PTR")


def expired(p):
    p.server += ["serve-expired: " + p.pick(["yes", "yes", "no"]), "serve-expired-ttl: " + p.pick(["0", "100", "86400"]),
                 "serve-expired-client-timeout: " + p.pick(["0", "0", "1800"])]
    if p.maybe(0.6):
        p.server.append("serve-expired-reply-ttl: " + p.pick(["5", "30", "123"]))
    if p.maybe(0.5):
        p.server.append("serve-expired-ttl-reset: yes")
    if p.maybe(0.4):
        p.server.append("ede-serve-expired: yes")
    if p.maybe(0.7):
        p.server.append("cache-max-ttl: 1")


def access(p):
    for _ in range(p.dice.randint(1, 3)):
        p.server.append("access-control: %s %s" % (p.client(), p.pick(
            ["allow", "allow_snoop", "allow_setrd", "refuse", "refuse_non_local", "refuse", "allow", "deny", "deny_non_local"])))


def interfaces(p):
    if p.interfaces:
        return
    p.interfaces = True
    to = "127.0.0.2"
    p.targets.append(to)
    p.server += ["interface: 127.0.0.2", "access-control: 127.0.7.6 allow"]
    if p.maybe(0.7):
        p.server.append("interface-action: %s %s" % (to, p.pick(["allow", "allow_snoop", "refuse", "refuse_non_local", "allow_setrd"])))
    if p.maybe(0.4):
        p.server.append('interface-tag: %s "%s"' % (to, p.some_tags()))
        if p.maybe(0.5):
            p.server.append("interface-tag-action: %s %s %s" % (to, p.a_tag(), p.pick(ACTIONS)))
        if p.maybe(0.4):
            p.server.append("interface-tag-data: %s %s '%s'" % (to, p.a_tag(), data(p)))
    if p.maybe(0.4):
        view(p)
        p.server.append("interface-view: %s %s" % (to, p.views[-1]))


def simple(p):
    for option, values in p.some(SIMPLE, 6):
        if option in QUOTED or option in WHOLE:
            value = values
        else:
            value = p.pick(values.split(" "))
        p.server.append("%s: %s" % (option, value))
        if option == "domain-insecure" or option == "private-domain":
            p.about(*p.pick(HOSTS))


# The blocks, and how often they are drawn.
BLOCKS = [(local, 8), (zone_tag, 2), (zone_override, 2), (view, 3), (response, 3), (policy, 5), (auth, 3), (elsewhere, 3), (no_ipv4, 1),
          (expired, 1), (access, 2), (interfaces, 1), (simple, 6), (client_tags, 1)]
