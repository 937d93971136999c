"""Commands of the control channel about the names and clauses of a made up configuration.

SPDX-License-Identifier: BSD-3-Clause
"""

import blocks


def commands(p):
    """Some of them, in the order in which they are given."""
    return [text for _ in range(p.dice.randint(5, 12)) for text in [p.pick(COMMANDS)(p)] if text]


def a_name(p):
    return p.pick(p.names)[0] if p.names and p.maybe(0.8) else p.host()


def a_record(p):
    return "%s %s%s" % (a_name(p), p.pick(["", "300 ", "IN "]), blocks.data(p))


def a_zone(p):
    return p.pick(p.local) if p.local and p.maybe(0.6) else p.zone()


def a_view(p):
    return p.pick(p.views + ["none"]) if p.views else "none"


def a_server(p):
    return p.pick(["127.23.0.2", "127.14.0.1", "127.30.0.1", "127.40.0.1@53", "127.20.0.1 127.20.0.2", "nonsense"])


def an_option(p):
    return p.pick([row[0] for row in blocks.SIMPLE] + ["access-control", "local-zone", "local-data", "private-domain", "define-tag", "interface", "module-config",
                                                    "root-hints", "forward-zone", "nonsense", "port", "do-ip6", "val-override-date", "outgoing-range"])


SETS = ["minimal-responses: no", "cache-max-ttl: 50", "cache-min-ttl: 100", "cache-max-negative-ttl: 20", "val-permissive-mode: yes", "ignore-cd-flag: yes", "deny-any: yes",
        "hide-identity: yes", "hide-version: yes", "identity: new", "version: new", "rrset-roundrobin: no", "harden-below-nxdomain: no", "qname-minimisation: no",
        "serve-expired: yes", "serve-expired-ttl: 20", "serve-expired-reply-ttl: 7", "prefetch: yes", "aggressive-nsec: no", "log-queries: yes", "nonsense: 1", "cache-max-ttl: x",
        "private-address: 198.18.0.0/15", "domain-insecure: mini.", "local-zone: x. static", "unblock-lan-zones: yes", "ede: yes", "val-bogus-ttl: 5", "num-threads: 3",
        "harden-dnssec-stripped: no", "neg-cache-size: 10k", "edns-buffer-size: 1000", "max-udp-size: 700", "nsid: ascii_new", "trust-anchor-signaling: yes"]
COMMANDS = [
    lambda p: "local_zone %s %s" % (a_zone(p), p.pick(blocks.TALKING + ["nonsense"])),
    lambda p: "local_zone_remove " + a_zone(p),
    lambda p: "local_zones < %s static | %s refuse | bad" % (a_zone(p), a_zone(p)),
    lambda p: "local_zones_remove < %s | %s" % (a_zone(p), a_zone(p)),
    lambda p: "local_data " + a_record(p),
    lambda p: "local_data " + p.pick(["", "x", "x.lz.", "x.lz. A", "x.lz. A 1.2", "x.lz. NOTYPE 1", "x.lz. 10 IN TXT a b", "x..lz. A 192.0.2.1"]),
    lambda p: "local_data_remove " + a_name(p),
    lambda p: "local_datas < %s | %s | %s" % (a_record(p), a_record(p), p.pick(["bad", a_record(p)])),
    lambda p: "local_datas_remove < %s | %s" % (a_name(p), a_name(p)),
    lambda p: "view_local_zone %s %s %s" % (a_view(p), a_zone(p), p.pick(blocks.TALKING)),
    lambda p: "view_local_zone_remove %s %s" % (a_view(p), a_zone(p)),
    lambda p: "view_local_data %s %s" % (a_view(p), a_record(p)),
    lambda p: "view_local_data_remove %s %s" % (a_view(p), a_name(p)),
    lambda p: "view_local_datas %s < %s | %s" % (p.pick(p.views), a_record(p), a_record(p)) if p.views else "",
    lambda p: "view_list_local_zones " + a_view(p),
    lambda p: "view_list_local_data " + a_view(p),
    lambda p: p.pick(["forward_add %s %s", "forward_add +i %s %s"]) % (p.pick(blocks.REAL + ["lz."]), a_server(p)),
    lambda p: "forward_remove " + p.pick(blocks.REAL + ["lz."]),
    lambda p: p.pick(["stub_add %s %s", "stub_add +i %s %s", "stub_add +p %s %s"]) % (p.pick(blocks.REAL + ["lz."]), a_server(p)),
    lambda p: "stub_remove " + p.pick(blocks.REAL + ["lz."]),
    lambda p: p.pick(["forward", "forward off"]),
    lambda p: "insecure_add " + a_zone(p),
    lambda p: "insecure_remove " + a_zone(p),
    lambda p: "set_option " + p.pick(SETS),
    lambda p: "get_option " + an_option(p),
    lambda p: "get_option " + an_option(p),
    lambda p: "flush " + a_name(p),
    lambda p: "flush_type %s %s" % (a_name(p), p.pick(["A", "AAAA", "TXT", "NOTYPE", ""])),
    lambda p: "flush_zone " + a_zone(p),
    lambda p: p.pick(["flush_bogus", "flush_negative", "flush_infra all", "flush_infra 127.23.0.2", "flush_infra x", "flush_stats", "flush_requestlist"]),
    lambda p: "lookup " + a_name(p),
    lambda p: p.pick(["list_stubs", "list_forwards", "list_insecure", "list_local_zones", "list_local_data", "list_auth_zones"]),
    lambda p: "stats_noreset",
    lambda p: "stats",
    lambda p: "%s %s" % (p.pick(["rpz_disable", "rpz_enable"]), p.pick(p.policies + ["none."])),
    lambda p: "auth_zone_reload " + p.pick(p.policies + [z for z in p.zones if isinstance(z, str)] + ["none."]),
    lambda p: "auth_zone_transfer " + p.pick([z for z in p.zones if isinstance(z, str)] + ["none."]),
    lambda p: p.pick(["nonsense", "local_zone", "flush", "verbosity x", "verbosity 1", "ratelimit_list", "ip_ratelimit_list +a"]),
]
