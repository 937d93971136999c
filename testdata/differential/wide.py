"""More building blocks for `combine --wide`: what stands in fewer configurations, and questions of more kinds.

SPDX-License-Identifier: BSD-3-Clause
"""

import blocks

# Options of the server clause that unbound 1.17 knows, too, with values worth trying.
TUNING = """verbosity 0 2 3|log-time-ascii yes|log-tag-queryreply yes|log-identity lab|statistics-inhibit-zero no|statistics-interval 0
num-threads 2|outgoing-range 60|incoming-num-tcp 3 20|stream-wait-size 100k|msg-buffer-size 16384|ip-dscp 10|msg-cache-slabs 1 4
rrset-cache-slabs 1 4|infra-cache-slabs 2|key-cache-slabs 2|infra-cache-numhosts 50|tcp-upstream yes|udp-connect no|hide-http-user-agent yes
http-user-agent lab|prefer-ip4 yes|infra-cache-max-rtt 3000|max-query-restarts 5 11 20|max-sent-count 32|ratelimit-size 1m|ip-ratelimit-size 1m
ratelimit 1000|ratelimit-for-domain types.mini.|ratelimit-factor 5|ip-ratelimit 1000|tcp-reuse-timeout 1000|max-reuse-tcp-queries 2
tcp-auth-query-timeout 2000|edns-tcp-keepalive-timeout 5000|pad-responses yes|pad-responses-block-size 128|pad-queries no|val-max-restart 3
val-override-date -1 20300101000000|keep-missing 100|tcp-mss 1200|outgoing-tcp-mss 1200|so-sndbuf 100k|so-rcvbuf 100k|outgoing-port-permit 30000-40000
caps-exempt types.mini. lz.|unknown-server-time-limit 500|cache-max-ttl 0 5|cache-min-ttl 3600|cache-max-negative-ttl 0 1
edns-buffer-size 4096|max-udp-size 1220 65535|root-key-sentinel yes|serve-original-ttl yes|val-bogus-ttl 0|neg-cache-size 0|key-cache-size 0
minimal-responses no|target-fetch-policy "3 2 1 0 0"|qname-minimisation no|harden-referral-path yes|do-not-query-address 127.23.0.0/16 127.14.0.1
private-domain "."|domain-insecure "." info.|nsid ascii_x|module-config "iterator\""""
TUNING = [row.split(" ", 1) for line in TUNING.split("\n") for row in line.split("|") if not row.startswith("module-config")]
WORDS = ["do", "cd", "ad", "nord", "noedns", "tcp", "z", "ad+cd", "do+ad", "nord+cd", "nord+ad", "size=512+do", "size=512", "size=4096+do", "size=0+do",
         "option=3:", "option=3:+tcp", "option=12:0000", "option=10:0102030405060708", "option=11:+tcp", "option=8:00010000", "option=65001:abcd",
         "option=15:0006", "option=10:01", "noedns+ad", "noedns+nord", "noedns+tcp", "class=CH", "class=HS", "class=NONE", "class=CLASS65280", "opcode=2", "opcode=1"]
TYPES = ("A A AAAA TXT MX NS SOA CNAME DS PTR HTTPS SVCB SRV ANY DNSKEY NSEC NSEC3 NSEC3PARAM RRSIG CAA NAPTR DNAME SPF HINFO TYPE65280 "
         "TYPE65533").split()
# What is there by default, or below it.
DEFAULTS = ["localhost.", "x.localhost.", "127.in-addr.arpa.", "1.0.0.127.in-addr.arpa.", "10.in-addr.arpa.", "4.3.2.10.in-addr.arpa.", "168.192.in-addr.arpa.",
            "1.1.168.192.in-addr.arpa.", "test.", "www.test.", "onion.", "x.onion.", "invalid.", "x.invalid.", "home.arpa.", "nas.home.arpa.",
            "2.0.192.in-addr.arpa.", "8.b.d.0.1.0.0.2.ip6.arpa.", "1.8.b.d.0.1.0.0.2.ip6.arpa.", "64.100.in-addr.arpa.", "d.f.ip6.arpa.", "16.172.in-addr.arpa."]
CHAOS = ["id.server.", "hostname.bind.", "version.server.", "version.bind.", "trustanchor.unbound.", "authors.bind."]
ODD_DATA = ["TXT \"a;b\" \"c\\\"d\"", "TXT \"\"", "TXT plain words here", "TXT \"" + "x" * 255 + "\" \"y\"", "TYPE1 \\# 4 c0000263", "HTTPS 0 h.lz.",
            "HTTPS 1 . alpn=\"h2,h3\" port=8443 ipv4hint=192.0.2.5", "SVCB 2 h.lz. key65400=x", "LOC 52 0 0.000 N 4 0 0.000 E 0.00m 1m 10000m 10m",
            "SSHFP 1 1 0123456789abcdef0123456789abcdef01234567", "TLSA 3 1 1 " + "ab" * 32, "DS 12345 13 2 " + "cd" * 32, "URI 10 1 \"https://x.lz/\"", "HINFO a b",
            "DNAME types.mini.", "SOA ns.lz. h.lz. 1 2 3 4 5", "A 0.0.0.0", "AAAA ::", "AAAA ::ffff:192.0.2.1", "CERT PGP 0 0 AAAA", "RP h.lz. t.lz.", "AFSDB 1 h.lz."]


def tuning(p):
    for option, values in p.some(TUNING, 8):
        value = values if values.startswith('"') else p.pick(values.split(" "))
        p.server.append("%s: %s%s" % (option, value, " 0" if option == "ratelimit-for-domain" else ""))


def defaults(p):
    """Zones that are there by default: given away, filled, or asked about as they are."""
    for zone in p.some(DEFAULTS, 5):
        p.about(zone, "A PTR SOA NS")
        if p.maybe(0.4):
            p.server.append("local-zone: %s %s" % (zone, p.pick(["nodefault", "nodefault", "transparent", "static", "typetransparent", "redirect", "always_nxdomain"])))
        if p.maybe(0.3):
            p.server.append("local-data: '%s %s'" % (zone, p.pick(["PTR h.lz.", "A 192.0.2.70", "TXT here"])))
        if p.maybe(0.2):
            p.server.append("local-data: 'h.%s A 192.0.2.71'" % zone)
            p.about("h." + zone)
    if p.maybe(0.4):
        p.server.append(p.pick(["unblock-lan-zones: yes", "insecure-lan-zones: yes", 'domain-insecure: "10.in-addr.arpa"']))


def netblocks(p):
    """Netblocks within others, each with something of its own."""
    nets = ["0.0.0.0/0", "127.0.0.0/8", "127.0.7.0/24", "127.0.7.0/30", "127.0.7.4/31", "127.0.7.1", "127.0.7.2/32", "::0/0", "::ffff:127.0.7.3"]
    p.clients += [who for who in blocks.CLIENTS if who not in p.clients]
    for net in p.some(nets, 5):
        what = p.pick(["access", "access", "tag", "view", "action"])
        if what == "access":
            p.server.append("access-control: %s %s" % (net, p.pick(["allow", "allow", "allow_snoop", "allow_setrd", "refuse", "refuse_non_local"])))
        elif what == "tag":
            p.server.append('access-control-tag: %s "%s"' % (net, p.some_tags()))
        elif what == "action":
            p.server.append("access-control-tag-action: %s %s %s" % (net, p.a_tag(), p.pick(blocks.ACTIONS)))
        elif p.views:
            p.server.append("access-control-view: %s %s" % (net, p.pick(p.views)))


def chaos(p):
    for name in p.some(CHAOS, 4):
        p.about(name, "TXT")
    for text in p.some(["identity: \"me\"", "version: \"v\"", "hide-identity: yes", "hide-version: yes", "hide-trustanchor: yes", "identity: \"\"", "version: \"\""], 3):
        p.server.append(text)


def odd_data(p):
    zone = p.pick(blocks.LAB)
    p.server.append("local-zone: %s %s" % (zone, p.pick(["static", "transparent", "typetransparent", "inform"])))
    p.local.append(zone)
    for number, text in enumerate(p.some(ODD_DATA, 6)):
        owner = p.pick(["o%d." % number, "O%d.Sub." % number, "*.o%d." % number, "o%d\\\\.dot." % number, "o.%d." % number]) + zone
        p.about(owner.replace("\\\\", "\\"), text.split(" ")[0])
        p.server.append("local-data: '%s %s%s'" % (owner, p.pick(["", "1h ", "0 ", "86400 IN ", "IN "]), text))
    for number in range(p.dice.randrange(0, 4)):
        p.server.append('local-data: "many.%s A 192.0.2.%d"' % (zone, number))
        p.about("many." + zone)


def odd_zone(p):
    """A zone file with what people write into one."""
    zone = p.pick(["odd.lab.", "odd.mini.", "wild.mini."])
    if zone in p.zones:
        return
    p.zones.append(zone)
    lines = ["; a comment", "$TTL 1h", "@ IN SOA ns (", "  h ; who", "  1 1h 900 1w", "  5m )", "  IN NS ns", "  NS ns2.%s" % zone, "ns A 192.0.2.2", "ns2 600 IN A 192.0.2.3",
             "www 60 A 192.0.2.10", "    A 192.0.2.11", "    AAAA 2001:db8::10", "$ORIGIN sub", "x A 192.0.2.12", "* TXT any", "$ORIGIN " + zone, "cut NS ns.cut", "ns.cut A 192.0.2.13",
             "cut DS 12345 13 2 " + "ab" * 32, "dn DNAME sub", "*.wc CNAME www", "a.b.c.d A 192.0.2.14", "txt TXT ( \"one\"", "  \"two\" )", "num TYPE65280 \\# 1 00",
             "UPPER A 192.0.2.15", "esc\\.aped A 192.0.2.16", "chain CNAME chain2", "chain2 CNAME www", "out CNAME a.types.mini.", "nx CNAME no", "loop CNAME loop2", "loop2 CNAME loop",
             "mx MX 1 www", "mx MX 2 ns.cut", "srv SRV 1 2 3 cut", "*.deep.wc2 A 192.0.2.17", "https HTTPS 1 . ipv4hint=192.0.2.10"]
    p.files["odd%d" % len(p.zones)] = [li.replace("$ORIGIN sub", "$ORIGIN sub." + zone) for li in lines]
    out = ["auth-zone:", '\tname: "%s"' % zone, '\tzonefile: "%%(dir)s/odd%d"' % len(p.zones)]
    for option, chance in (("for-downstream", 0.6), ("for-upstream", 0.6), ("fallback-enabled", 0.3), ("zonemd-check", 0.2), ("zonemd-reject-absence", 0.1)):
        if p.maybe(chance):
            out.append("\t%s: %s" % (option, p.pick(["yes", "no"])))
    for owner in p.some(["", "www.", "x.sub.", "any.sub.", "cut.", "x.cut.", "ns.cut.", "dn.", "x.dn.", "any.dn.", "y.wc.", "c.d.", "a.b.c.d.", "txt.", "upper.", "chain.", "out.", "nx.",
                         "loop.", "mx.", "srv.", "z.deep.wc2.", "deep.wc2.", "https.", "esc\\.aped.", "nowhere."], 12):
        p.about(owner + zone, "A AAAA TXT MX NS DS SOA CNAME DNAME SRV HTTPS")
    p.clauses.append(out)


def subnets(p):
    """Client subnets, with servers that do not know them."""
    p.subnets = True
    p.server += p.some(["send-client-subnet: 127.23.0.0/16", "client-subnet-zone: types.mini.", "client-subnet-zone: info.", "client-subnet-always-forward: yes",
                        "max-client-subnet-ipv4: 20", "max-client-subnet-ipv6: 0", "min-client-subnet-ipv4: 8", "send-client-subnet: 127.14.0.0/24"], 4)


def spelling(p):
    """The same configuration, written in another way: it has to mean the same."""
    for at, line in enumerate(p.server):
        key, _, value = line.partition(": ")
        way = p.dice.random()
        if way < 0.1:
            p.server[at] = "%s:%s%s # and why" % (key, p.pick(["\t", "   ", " "]), value)
        elif way < 0.2 and " " not in value and not value.startswith(("'", '"')):
            p.server[at] = p.pick(['%s: "%s"', "%s: '%s'", "%s:  \"%s\"  "]) % (key, value)
        elif way < 0.25:
            p.server[at] = p.pick(["%s:\n\t\t%s", "%s: # and then\n%s", "%s:\r\n %s\r"]) % (key, value)
        elif way < 0.3 and ":" not in value:
            p.server[at] = "%s:%s" % (key, value)
        elif way < 0.35:
            p.server[at] = "server: %s: %s" % (key, value)
    while len(p.server) > 3 and p.maybe(0.5):
        at = p.dice.randrange(len(p.server) - 1)
        if "#" not in p.server[at]:
            p.server[at:at + 2] = [p.pick([" ", "\t", "  "]).join(p.server[at:at + 2])]
    if p.maybe(0.2):
        p.server.insert(p.dice.randrange(len(p.server) + 1), p.pick(['include: "%(dir)s/none*.conf"', "# server:", "", "\t \t", "server:"]))
    if p.maybe(0.5):
        number = p.dice.randrange(len(p.server) + 1)
        p.files["more.conf"] = ["# the rest", "server:"] + p.server[number:] if p.maybe(0.5) else p.server[number:]
        p.server = p.server[:number] + [p.pick(['include: "%(dir)s/more.conf"', 'include: "%(dir)s/mor*.conf"', "include: %(dir)s/more.conf # and so on"])]


def mistake(p):
    """A line more in the server clause, which does not hold: many of them are one that is there already, spoiled."""
    at = p.dice.randrange(len(p.server))
    key, _, value = p.server[at].partition(": ")
    wrong = [key[0] + key[2] + key[1] + key[3:] + ": " + value if key[1] != key[2] else "x" + key + ": " + value, key.upper() + ": " + value,
             key + " " + value, key + " = " + value, key + ':\nforward-zone:\n\tname: "."', key + ': "' + value.replace('"', ""), key + ": " + value + " too many words",
             "forward-addr: 192.0.2.1", "prefetch: on", "serve-expired: 1", "do-ip6: Yes", "num-threads: many", "msg-cache-size: 4 m", "msg-cache-size: 4q",
             "access-control: 10.0.0.0/33 allow", "access-control: 10.0.0.0/8 permit", "access-control: 10.0.0.0/8", "local-zone: x.lz. block", "local-zone: x.lz.",
             "local-data: 'x.lz. A 192.0.2'", "local-data: 'x.lz. SAND x'", "local-data: x.lz. A 192.0.2.1", "local-data-ptr: 'x.lz. 192.0.2.1'", "interface: 127.0.0.1:53",
             "private-address: 10.0.0.0/8/8", "do-not-query-address: some.host", "local-zone-tag: nowhere.lz. nothing", 'access-control-tag: 127.0.0.1 "nothing"',
             "include: %(dir)s/not-there.conf", "options { recursion yes; };", "server=192.0.2.1", "verbosity", ": 3", 'module-config: "iterator validator"',
             "outgoing-port-permit: 5000-4000x", "edns-buffer-size: -3", "rrset-cache-slabs: 3", "target-fetch-policy: some", "nsid: xyz"]
    p.server.insert(at + p.dice.randrange(2), p.pick(wrong))


BLOCKS = blocks.BLOCKS + [(tuning, 8), (defaults, 4), (netblocks, 3), (chaos, 1), (odd_data, 3), (odd_zone, 3), (subnets, 1)]
