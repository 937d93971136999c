"""Amplification, and work per question (entries 20 to 34).

SPDX-License-Identifier: BSD-3-Clause
"""

import collections
import selectors
import socket
import struct
import threading
import time

from frame import signing
from frame.authority import HANGUP, RESET, Send, record, wire
from frame.declare import answered, at_least, attack
from frame.lab import e2e
from frame.world import ATTACKERS, DEAD, Zone

TRUTH = "192.0.2.1"
A, NS, CNAME = 1, 2, 5


def timed(lab, name, kind="A", **more):
    """One question: `R`, `took_s`, `C` and the mark before it."""
    mark, before = lab.mark(), lab.cpu_ms()
    r = lab.ask(name, kind, timeout=15, **more)
    return r, mark, before


def cost(lab, name, seconds=3.0, **more):
    """The figures of one question: U, C, R, took_s."""
    r, mark, before = timed(lab, name, **more)
    u = lab.upstream(mark, seconds)
    return {"U": u, "C_ms": lab.cpu_ms() - before, "R": r.rcode, "took_s": r.took_s}


# -- referrals that lead nowhere -------------------------------------------------------------------

def referring(lab, zone, cut, names, ttl=3600, glue=()):
    """The zone's server refers everything below the cut to those names, over UDP as far as it goes."""
    parent = lab.world.serve(Zone(zone), {"ns." + zone + ".": ATTACKERS[0]})
    ns = [record(cut, NS, wire(n), ttl) for n in names]
    extra = [record(n, A, socket.inet_aton(a), ttl) for n, a in glue]

    def answer(q):
        if not q.under(cut):
            return parent.answer(q)
        out = q.raw(authority=ns, additional=extra, flags=0x8000)
        return out if q.tcp or len(out) <= 1232 else q.raw(flags=0x8200)
    lab.world.script(ATTACKERS[0], answer)


COUNTS = {"60": 60, "200": 200}


@attack(20, "nxns", "NXNSAttack: a referral to many server names that cannot be resolved, at a victim's zone",
        variants={"%s-%s" % (k, how): {"count": n, "how": how, "limits": {"U": 15 if how in ("nxdomain", "nodata") else 50 if how in ("silent", "alias") else 25}}
                  for k, n in COUNTS.items()
                  for how in ("nxdomain", "nodata", "servfail", "spread", "alias", "silent")},
        rule="after five fruitless names it gives up (ten once the parent side was asked); addresses are looked up "
             "only as needed",
        code="iterator/targets.h:TARGETS_WITHOUT_ADDR iterator/targets.c:may_ask", limits={"U": 15, "R": "SERVFAIL"}, quick=True,
        seconds=30)
def nxns(lab, count, how):
    target = lab.world.serve(Zone("target.test"), {"ns.target.test.": ATTACKERS[1]})

    def answer(q):
        if q.name in ("target.test.", "ns.target.test.") or how == "nxdomain":
            return target.answer(q)
        if how == "alias":
            return q.reply(["%s 60 CNAME a%s" % (q.name, q.name)] if len(q.labels[0]) < 20 else [])
        if how == "silent":
            return None
        return q.reply(rcode="SERVFAIL") if how == "servfail" else q.reply(
            authority=["target.test. 60 SOA ns.target.test. h.target.test. 1 2 3 4 60"])
    lab.world.script(ATTACKERS[1], answer)
    names = ["ns.t%d.test." % n if how == "spread" else "n%d.target.test." % n for n in range(count)]
    referring(lab, "nxns.test", "sub.nxns.test", names)
    lab.start()
    lab.ask("first.target.test")
    lab.ask("first.nxns.test")
    figures = cost(lab, "www.sub.nxns.test", 1.5)
    return figures


@attack(20, "nxns-refusals", "the same at a zone of four servers, whose refusals cost more than one packet each: cut over UDP and no "
        "answer over TCP, EDNS not understood; or the names' zone is not theirs",
        variants={k: {"how": k, "quick": k in ("cut-reset", "formerr", "other")} for k in ("cut-reset", "cut-silent", "formerr", "badvers", "refused", "lame", "other")},
        rule="all packets for an answer that is of no use count: without EDNS once more, over TCP, over UDP again",
        code="iterator/response.c:on_useless iterator/choose.c:on_lost services/mesh/private.h:QUERY_WASTED",
        limits={"U": 50, "R": "SERVFAIL"}, seconds=30)
def nxns_refusals(lab, how):
    servers = {"ns%d.target.test." % n: "198.18.60.%d" % (n + 1) for n in range(4)}
    target = lab.world.serve(Zone("target.test"), servers)
    badvers = b"\0" + struct.pack("!HHIH", 41, 1232, 0x01000000, 0)

    def answer(q):
        if not q.name.startswith("n") or q.name.startswith("ns"):
            return target.answer(q)
        if how.startswith("cut"):
            return q.raw(flags=0x8600) if not q.tcp else RESET if how == "cut-reset" else None
        return {"formerr": q.raw(rcode=1, edns=False), "badvers": q.raw(edns=False, additional=[badvers]), "refused": failing(q, 5),
                "lame": q.referral("test.", {"ns.test.": "198.18.0.2"}), "other": q.reply(["x.target.test. 60 A " + TRUTH])}[how]
    for address in servers.values():
        lab.world.script(address, answer)
    referring(lab, "nxns.test", "sub.nxns.test", ["n%d.target.test." % n for n in range(60)])
    lab.start()
    lab.ask("first.target.test")
    lab.ask("first.nxns.test")
    return cost(lab, "www.sub.nxns.test", 1.5)


@attack(21, "nrdelegation", "non-responsive delegation: a referral to very many servers that are all silent",
        variants={str(n): {"count": n} for n in (60, 200, 1000)},
        rule="at most 13 names of a delegation are looked up, and 20 NS kept; failures are remembered; a query has "
             "ten seconds in all",
        code="iterator/targets.h:TARGETS_PER_DELEGATION util/conf/options.def:iter_scrub_ns services/mesh/mesh.c:on_deadline",
        limits={"U": 50, "C_ms": 20, "R": "SERVFAIL", "took_s": 12}, seconds=40)
@attack(21, "nrdelegation-glue", "the same with the address of each in the referral",
        variants={str(n): {"count": n, "glued": True} for n in (60, 200)},
        rule="the addresses of a delegation are limited, and asked within the query's budget",
        code="iterator/delegation.h:DELEGATION_TARGETS services/query/budget.h:sends",
        limits={"U": 50, "C_ms": 20, "R": "SERVFAIL", "took_s": 12}, seconds=40)
def nrdelegation(lab, count, glued=False):
    target = Zone("target.test")
    lab.world.serve(target, {"ns.target.test.": ATTACKERS[1]})
    names = ["n%d.%s." % (n, "sub.nrd.test" if glued else "target.test") for n in range(count)]
    glue = [(name, "198.18.%d.%d" % (30 + n // 250, 1 + n % 250)) for n, name in enumerate(names)]
    for name, address in glue:
        if not glued:
            target.add("%s 3600 A %s" % (name, address))
    referring(lab, "nrd.test", "sub.nrd.test", names, glue=glue if glued else ())
    lab.start()
    lab.ask("first.target.test")
    lab.ask("first.nrd.test")
    return cost(lab, "www.sub.nrd.test")


@attack(21, "nrdelegation-latency", "what others notice of non-responsive delegations, with twenty queries at once",
        rule="see above; a waiting query costs others nothing", code="services/mesh/mesh.c:mesh_run", noisy=True,
        limits={"L_worst_ms": 100, "lost": 0}, seconds=40)
def nrdelegation_latency(lab):
    target = Zone("target.test")
    lab.world.serve(target, {"ns.target.test.": ATTACKERS[1]})
    names = ["n%d.target.test." % n for n in range(1000)]
    for n, name in enumerate(names):
        target.add("%s 3600 A 198.18.%d.%d" % (name, 30 + n // 250, 1 + n % 250))
    referring(lab, "nrd.test", "sub.nrd.test", names)
    lab.start()
    lab.ask("first.nrd.test")
    with lab.latency() as figures:
        lab.ask_all(["w%d.sub.nrd.test" % n for n in range(20)], timeout=6)
    return {"L_worst_ms": figures["worst_ms"], "lost": figures["lost"]}


# -- aliases and circles ---------------------------------------------------------------------------

@attack(22, "endless-alias", "a server that answers every question with an alias to the next name",
        # A DNAME costs two questions a step, since its name is one label longer.
        variants={"in-zone": {"out": False}, "two-zones": {"out": True},
                  "dname": {"out": False, "dname": True, "limits": {"U": 30}}},
        rule="at most eleven aliases are followed, over all packets, and eleven of one packet",
        code="util/conf/options.def:max_query_restarts util/conf/options.def:iter_scrub_cname iterator/scrub.c:take_link",
        limits={"U": 20, "R": "SERVFAIL"}, quick=True)
def endless_alias(lab, out, dname=False):
    zones = [lab.world.serve(Zone("alias%d.test" % n), {"ns.alias%d.test." % n: ATTACKERS[n]}) for n in (0, 1)]

    def answer(q):
        if not q.name.startswith(("c", "d0") if dname else "c") or q.name.count(".") < 3:
            return zones["alias1" in q.name].answer(q)
        n = 0 if dname else int(q.labels[0][1:])
        where = (n + 1) % 2 if out else 0
        if dname:
            # d0.alias0.test. is a DNAME to d1.alias0.test., and so on.
            if len(q.labels) < 4:
                return q.reply(["%s 60 CNAME c.d0.alias0.test." % q.name])
            n = int(q.labels[-3][1:])
            here, there = "d%d.alias0.test." % n, "d%d.alias0.test." % (n + 1)
            return q.reply(["%s 60 DNAME %s" % (here, there), "%s 60 CNAME c.%s" % (q.name, there)])
        return q.reply(["%s 60 CNAME c%d.alias%d.test." % (q.name, n + 1, where)])
    for n in (0, 1):
        lab.world.script(ATTACKERS[n], answer)
    lab.start()
    for n in (0, 1):
        lab.ask("first.alias%d.test" % n)
    return cost(lab, "c0.alias0.test", 1.5)


@attack(22, "aliases-in-one-packet", "sixty links in one packet",
        rule="eleven of one packet are used; the rest is resolved like any other name", quick=True,
        code="util/conf/options.def:iter_scrub_cname iterator/scrub.c:take_answer", limits={"U": 20, "R": {"SERVFAIL", "NOERROR"}})
def aliases_in_one_packet(lab):
    zone = lab.world.serve(Zone("links.test"), {"ns.links.test.": ATTACKERS[0]})
    links = ["l%d.links.test. 60 CNAME l%d.links.test." % (n, n + 1) for n in range(60)]
    lab.world.script(ATTACKERS[0], lambda q: q.reply(links + ["l60.links.test. 60 A " + TRUTH])
                     if q.name.startswith("l0.") else q.reply(links[int(q.labels[0][1:]):][:12])
                     if q.name.startswith("l") and q.name != "links.test." else zone.answer(q))
    lab.start()
    lab.ask("first.links.test")
    return cost(lab, "l0.links.test", 1.5)


@attack(22, "alias-circle", "aliases in a circle, of one, two and eleven names",
        variants={str(n): {"count": n} for n in (1, 2, 11)}, quick=True,
        rule="a name that recurs in its own chain ends it", code="iterator/aliases.c:aliases_take",
        limits={"U": 20, "R": "SERVFAIL"})
def alias_circle(lab, count):
    lab.world.serve(Zone("circle.test", ["c%d 60 CNAME c%d" % (n, (n + 1) % count) for n in range(count)]),
                    {"ns.circle.test.": ATTACKERS[0]})
    lab.start()
    lab.ask("first.circle.test")
    return cost(lab, "c0.circle.test", 1.5)


@attack(23, "camp", "CAMP: a chain of aliases, each into a delegation to eight names in eight delegations of five dead names, with DNSSEC",
        variants={"chain": {"links": 11}, "no-chain": {"links": 1}, "nxdomain": {"links": 1, "end": "nxdomain"},
                  "nodata": {"links": 1, "end": "nodata"}, "servfail": {"links": 11, "end": "servfail"},
                  "refused": {"links": 1, "end": "refused"}, "labels": {"links": 11, "below": "a.b.c.d.e.f."},
                  "both-kinds": {"links": 11, "end": "both"}, "cut": {"links": 11, "end": "cut", "limits": {"U": 75}}}, seconds=60,
        rule="one budget for everything a client's query causes, which no restart, child or validation resets; it "
             "also counts timeouts and names without addresses, and servers of servers are first looked up in one "
             "address family only",
        code="services/query/budget.h:budget_take util/conf/options.def:max_global_quota services/mesh/private.h:QUERY_WASTED "
             "services/mesh/private.h:QUERY_NS_WITHOUT_ADDR iterator/targets.c:ask_kinds",
        limits={"U": 60, "R": "SERVFAIL", "took_s": 12})
def camp(lab, links, end="dead", below=""):
    key = signing.key("camp.test.")
    zone = lab.world.serve(Zone("camp.test.", key=key), {"ns.camp.test.": ATTACKERS[0]})
    lab.anchor(key)

    def answer(q):
        # a.b.camp.test: eight names for each link; these lie in delegations to five names that are dead.
        part = q.labels[-3] if len(q.labels) > 2 else ""
        if part.startswith("l"):
            n = int(part[1:])
            if n % 2 == 0 and n < links:
                return q.reply(["%s 60 CNAME x.l%d.camp.test." % (q.name, n + 1)])
            return q.raw(flags=0x8000, authority=[record("l%d.camp.test" % n, NS, wire("n.s%dx%d.camp.test" % (i, n)))
                                                  for i in range(8)])
        if part.startswith("s"):
            return q.raw(flags=0x8000, authority=[record(part + ".camp.test", NS, wire("n%d.%sd%s.camp.test" % (i, below, part[1:])))
                                                  for i in range(5)])
        if part.startswith("d"):
            if end in ("nxdomain", "nodata"):
                return q.reply(rcode="NXDOMAIN" if end == "nxdomain" and q.labels[0][0] == "n" else "NOERROR",
                               authority=["camp.test. 60 SOA ns.camp.test. h.camp.test. 1 2 3 4 60"])
            if q.labels[0][0] != "n" or q.kind not in ("A", "AAAA") or (q.kind == "AAAA" and end != "both"):
                return q.reply(authority=["camp.test. 60 SOA ns.camp.test. h.camp.test. 1 2 3 4 60"])
            number = hash(q.name) % 8
            return q.reply(["%s 60 A %s" % (q.name, DEAD[number])] if q.kind == "A" else
                           ["%s 60 AAAA 2001:db8::%d" % (q.name, number)])
        return zone.answer(q)
    lab.world.script(ATTACKERS[0], answer)
    if end == "cut":
        for address in DEAD:
            lab.world.script(address, lambda q: None if q.tcp else q.raw(flags=0x8600))
    if end in ("servfail", "refused"):
        for address in DEAD:
            lab.world.script(address, lambda q: q.reply(rcode=end.upper(), aa=False))
    lab.start()
    lab.ask("first.camp.test")
    return cost(lab, "x.l0.camp.test" if links > 1 else "x.l1.camp.test")


@attack(24, "tsuname", "TsuNAME: two zones whose servers are named in each other",
        rule="a circle is detected when a child would ask for what an ancestor waits for; the failure is cached "
             "for the zone",
        code="services/mesh/mesh.c:mesh_waits_for iterator/targets.c:ask services/mesh/cache_rules.h:STORE_FAILURE_S", quick=True,
        limits={"U": 20, "U_same": 0, "U_other": 2.0, "R": "SERVFAIL", "took_s": 5})
def tsuname(lab):
    lab.world.delegate("a.test.", {"ns.b.test.": None})
    lab.world.delegate("b.test.", {"ns.a.test.": None})
    lab.start()
    first = cost(lab, "www.a.test", 1.5)
    mark = lab.mark()
    lab.ask("www.a.test")
    same = lab.upstream(mark, 0.5)
    mark = lab.mark()
    for n in range(10):
        lab.ask("w%d.a.test" % n)
    return {**first, "U_same": same, "U_other": lab.upstream(mark, 1) / 10}


@attack(24, "tsuname-of-three", "three zones in a circle, and one that names itself",
        rule="see above", code="services/mesh/mesh.c:mesh_waits_for", quick=True, limits={"U": 25, "R": "SERVFAIL", "self": 12})
def tsuname_of_three(lab):
    for one, other in (("a", "b"), ("b", "c"), ("c", "a")):
        lab.world.delegate("%s.test." % one, {"ns1.%s.test." % other: None, "ns2.%s.test." % other: None})
    lab.world.delegate("self.test.", {"ns.self.test.": None})
    lab.start()
    return {**cost(lab, "www.a.test", 1.5), "self": cost(lab, "www.self.test", 1)["U"]}


# -- servers that do not answer, or badly ----------------------------------------------------------

FOUR = {"ns%d.bad.test." % n: ATTACKERS[n] for n in range(4)}


@attack(25, "silent-zone", "four servers that say nothing, and a hundred names of theirs",
        rule="each timeout doubles; a server that times out repeatedly counts as down, and one query at a time "
             "probes it",
        code="services/cache/infra.c:infra_silent services/cache/infra.c:infra_probed services/upstream/upstream.c:UDP_TRIES",
        limits={"U": 16, "R": "SERVFAIL", "took_s": 12, "U_again": 4, "U_100_names": 100}, seconds=60)
def silent_zone(lab):
    lab.world.delegate("bad.test.", FOUR)
    lab.start()
    first = cost(lab, "www.bad.test")
    mark = lab.mark()
    lab.ask("www.bad.test")
    again = lab.upstream(mark, 1)
    mark = lab.mark()
    until = time.monotonic() + 10
    for n in range(100):
        with socket.socket(type=socket.SOCK_DGRAM) as s:
            s.connect((e2e.ADDRESS, lab.daemon.port))
            s.send(e2e.query("w%d.bad.test" % n).to_wire())
        time.sleep(max(0, (until - time.monotonic()) / (100 - n)))
    return {**first, "U_again": again, "U_100_names": lab.upstream(mark, 3)}


def bad_and_again(lab):
    lab.start()
    first = cost(lab, "www.bad.test", 2)
    mark = lab.mark()
    for _ in range(3):
        lab.ask("www.bad.test")
    return {**first, "U_again": lab.upstream(mark, 1)}


def failing(q, rcode):
    return q.raw(rcode=rcode)


@attack(26, "failing-servers", "four servers that always fail",
        variants={k: {"rcode": c} for k, c in (("servfail", 2), ("refused", 5), ("formerr", 1), ("notimp", 4),
                                               ("notauth", 9), ("badvers", 16))},
        rule="each address is asked once, and once more without EDNS if it does not understand that; the failure "
             "is cached",
        code="iterator/response.c:on_useless services/mesh/cache_rules.h:STORE_FAILURE_S services/upstream/wire.c:upstream_refuses_edns",
        limits={"U": 12, "R": "SERVFAIL", "U_again": 0}, quick=True)
def failing_servers(lab, rcode):
    lab.world.delegate("bad.test.", FOUR)
    for address in FOUR.values():
        lab.world.script(address, lambda q: q.raw(rcode=rcode & 15, edns=False, additional=[
            b"\0" + struct.pack("!HHIH", 41, 1232, 0x01000000, 0)]) if rcode == 16 else failing(q, rcode))
    return bad_and_again(lab)


@attack(26, "signed-failing-servers", "the same for a zone that is known to be signed",
        variants={k: {"rcode": c} for k, c in (("servfail", 2), ("formerr", 1), ("stripped", 0))},
        rule="see above; where signatures are wanted, a refusal of EDNS must be confirmed over TCP",
        code="services/upstream/upstream.c:turn_from_refusal iterator/response.c:leaves_out_dnssec util/conf/options.def:val_max_restart",
        limits={"U": 50, "R": "SERVFAIL", "U_again": 0}, quick=True)
def signed_failing_servers(lab, rcode):
    key = signing.key("bad.test.")
    lab.world.delegate("bad.test.", FOUR)
    lab.anchor(key)
    for address in FOUR.values():
        lab.world.script(address, lambda q: failing(q, rcode) if rcode else q.reply(["%s 60 A %s" % (q.name, TRUTH)]))
    return bad_and_again(lab)


@attack(27, "tcp-churn", "cut over UDP; over TCP closed, reset, silent, cut again, or refused without a word",
        variants={k: {"how": k} for k in ("closed", "reset", "silent", "cut-again", "half")},
        rule="one connection per query and server, and one retry if the connection had served others before",
        code="services/upstream/pool.c:RESENDS_MOST services/upstream/upstream.c:is_cut",
        limits={"U": 20, "conns_per_server": 2, "R": "SERVFAIL", "took_s": 12, "U_again": 0}, seconds=40)
def tcp_churn(lab, how):
    lab.world.delegate("bad.test.", FOUR)

    def answer(q):
        if not q.tcp:
            return q.raw(flags=0x8600)
        whole = q.reply(["%s 60 A %s" % (q.name, TRUTH)]).to_wire()
        return {"closed": HANGUP, "reset": RESET, "silent": None, "cut-again": q.raw(flags=0x8600),
                "half": [whole[:14], HANGUP]}[how]
    for address in FOUR.values():
        lab.world.script(address, answer)
    lab.start()
    first = cost(lab, "www.bad.test", 2)
    conns = collections.Counter(h.server for h in lab.since() if h.transport == "conn")
    mark = lab.mark()
    lab.ask("www.bad.test")
    return {**first, "conns_per_server": max(conns.values(), default=0), "U_again": lab.upstream(mark, 1)}


answered(27, "tcp-no-answer", "a forwarder over TLS or HTTPS that closes at each question, takes leave at once (GOAWAY), breaks off "
         "in the middle of an answer, or answers something else; two of them in a race; while keys are looked for, too",
         "two connections to a server for one client's question, while none has brought an answer",
         "services/query/budget.h:BUDGET_CONNECTIONS services/upstream/pool.c",
         "testdata/e2e/test_upstreams.py::test_a_question_has_two_connections_to_each_that_does_not_answer")


@attack(27, "tcp-hoard", "servers that say nothing over TCP: sixty at once, six times as many as there are connections; or fifty "
        "others each second, fast ones over UDP or slow ones, while servers are asked that have answered over TCP before, "
        "or have not", quick=True,
        rule="where there is no connection left, the server that has been silent longest makes way for what came last, after half "
             "a second, or two round trips if it has never answered over TCP, or 50 ms if the one waited for has; of "
             "those that never have, slow ones keep half of the places; what waits for the same server goes along",
        code="services/upstream/pool.c:make_room services/upstream/pool.c:on_crowded", server=["num-threads: 1"],
        variants={"burst": {"rate": 0, "slow": 0, "known": True}, "rain": {"rate": 50, "slow": 0, "known": True},
                  "slow-rain": {"rate": 50, "slow": 0.3, "known": True}, "rain-on-others": {"rate": 50, "slow": 0, "known": False},
                  "slow-rain-on-others": {"rate": 50, "slow": 0.3, "known": False}},
        limits={"took_s": 1, "failed": 0})
def tcp_hoard(lab, rate, slow, known):
    count = 4 * rate or 60
    for n in range(count):
        address = "198.18.%d.%d" % (100 + n // 200, n % 200 + 1)
        lab.world.serve(Zone("h%d.test" % n), {"ns.h%d.test." % n: address})
        lab.world.script(address, lambda q: None if q.tcp else [Send(q.raw(flags=0x8600), slow)])
    for n in range(1 if known else 9):
        address = "198.18.90.%d" % (n + 1)
        zone = lab.world.serve(Zone("big%d.test" % n, ["w%d 60 A 192.0.2.1" % i for i in range(9)]), {"ns.big%d.test." % n: address})
        lab.world.script(address, lambda q, zone=zone: zone.answer(q) if q.tcp else q.raw(flags=0x8600))
    lab.start()
    lab.ask("w0.big0.test")
    if not rate:
        hoard = [threading.Thread(target=lab.ask_all, args=(["x%d.h%d.test" % (i, n) for n in range(count) for i in range(2)],),
                                  kwargs={"timeout": 4})]
    else:
        hoard = [threading.Timer(n / rate, lab.ask, ["x.h%d.test" % n], {"timeout": 4}) for n in range(count)]
    for t in hoard:
        t.start()
    time.sleep(1 if rate else 0.3)
    got = [lab.ask("w%d.big%d.test" % (n, 0 if known else n), timeout=4) for n in range(1, 9)]
    for t in hoard:
        t.join()
    return {"took_s": max(r.took_s for r in got), "mean_s": sum(r.took_s for r in got) / len(got),
            "failed": sum(r.rcode != "NOERROR" for r in got)}


@attack(28, "equal-glue", "thirteen server names, all with the same ten addresses, all failing",
        rule="an address is listed once in a delegation; at most eight of one name are kept", quick=True,
        code="iterator/delegation.c:delegation_add_target iterator/delegation.c:ADDRESSES_MAX",
        limits={"asked_each": 1, "U": 14, "R": "SERVFAIL"})
def equal_glue(lab):
    addresses = ["198.18.40.%d" % n for n in range(1, 11)]
    for n in range(13):
        lab.world.tld.add("same.test. 3600 NS n%d.same.test." % n)
        for a in addresses:
            lab.world.tld.add("n%d.same.test. 3600 A %s" % (n, a))
    for a in addresses:
        lab.world.script(a, lambda q: failing(q, 2))
    lab.start()
    figures = cost(lab, "www.same.test", 1.5)
    each = collections.Counter(h.server for h in lab.since() if h.server in addresses)
    return {**figures, "asked_each": max(each.values())}


@attack(28, "self-glue", "server names whose addresses are the resolver's own, and the parent's",
        rule="the resolver does not recurse for its own address: that yields a refusal, or a circle that ends",
        code="iterator/classify.c:classify", seconds=30, limits={"U": 20, "R": "SERVFAIL"})
def self_glue(lab):
    for n, a in enumerate(("198.18.9.9", "198.18.0.2", "198.18.0.1")):
        lab.world.tld.add("self.test. 3600 NS n%d.self.test." % n)
        lab.world.tld.add("n%d.self.test. 3600 A %s" % (n, a))
    lab.start()
    return cost(lab, "www.self.test", 1.5)


@attack(29, "zero-ttl", "delegations and addresses with TTL 0, each server named in another such zone", quick=True,
        rule="data with TTL 0 serves only the query that received it; depth and sends are budgeted",
        code="services/mesh/private.h:QUERY_DEPTH_MAX services/query/budget.h:sends", limits={"U": 60, "took_s": 12}, seconds=30)
def zero_ttl(lab):
    for n in range(6):
        zone = Zone("zero%d.test" % n, ["www 0 A " + TRUTH, "ns 0 A " + ATTACKERS[n]], ttl=0)
        lab.world.serve(zone, {"ns.zero%d.test." % ((n + 1) % 6): None}, delegate=False)
        lab.world.zones.setdefault(ATTACKERS[n], []).append(zone)
        lab.world.script(ATTACKERS[n], lab.world.answer)
        lab.world.tld.add("zero%d.test. 0 NS ns.zero%d.test." % (n, (n + 1) % 6 if n < 5 else 5))
    lab.world.tld.add("ns.zero5.test. 0 A " + ATTACKERS[5])
    lab.start()
    return cost(lab, "www.zero0.test", 2)


@attack(29, "endless-referral", "a server that always refers one label deeper, or to names that need another referral",
        variants={"deeper": {"how": "deeper"}, "fresh-names": {"how": "fresh"}, "sideways": {"how": "sideways"}},
        rule="referrals must lead down and towards the query name; depth, children and sends are budgeted",
        code="iterator/classify.c:classify_cut iterator/targets.h:TARGETS_DEPTH services/mesh/private.h:QUERY_DEPTH_MAX",
        limits={"U": 60, "R": "SERVFAIL", "took_s": 12}, seconds=30, quick=True)
def endless_referral(lab, how):
    zone = lab.world.serve(Zone("deep.test"), {"ns.deep.test.": ATTACKERS[0]})
    made = []

    def answer(q):
        if q.name in ("deep.test.", "ns.deep.test.") or q.name.startswith("first."):
            return zone.answer(q)
        if how == "fresh":
            made.append(1)
            cut = ".".join(q.labels[-3:])
            return q.referral(cut + ".", {"ns.f%d.deep.test." % len(made): None})
        if how == "sideways":
            return q.referral("deep.test.", {"ns.deep.test.": ATTACKERS[0]})
        depth = min(len(q.labels), 3 + len([h for h in lab.since() if h.server == ATTACKERS[0]]))
        return q.referral(".".join(q.labels[-depth:]) + ".", {"ns.deep.test.": ATTACKERS[0]})
    lab.world.script(ATTACKERS[0], answer)
    lab.start()
    lab.ask("first.deep.test")
    return cost(lab, ".".join("abcdefghijklmnopqrstuvwxyz" * 4) + ".deep.test", 2)


# -- floods ----------------------------------------------------------------------------------------

@attack(30, "water-torture", "2000 questions a second for random names of a zone whose servers are dead",
        rule="waiting queries are limited by num-queries-per-thread and jostle-timeout; a dead server is probed by "
             "one query at a time; cached answers and other zones are not held up",
        code="services/mesh/admit.c:make_room services/mesh/admit.c:make_room_to_wait services/cache/infra.c:infra_probed", noisy=True, seconds=60,
        limits={"L_median_ms": 5, "lost": 0, "M_growth_kb": 65536, "others_answered": at_least(19), "others_ratio": 2.0})
def water_torture(lab):
    lab.world.delegate("dry.test.", {"ns%d.dry.test." % n: DEAD[n] for n in range(4)})
    other = lab.world.serve(Zone("other.test"), {"ns.other.test.": ATTACKERS[0]})
    # An honest server is some way off.
    lab.world.script(ATTACKERS[0], lambda q: Send(other.answer(q), 0.02))
    lab.start()
    lab.ask("first.other.test")

    def others(tag, count):
        took = []
        for n in range(count):
            r = lab.ask("%s%d.other.test" % (tag, n), timeout=3)
            if r.rcode == "NXDOMAIN":
                took.append(r.took_s)
            time.sleep(0.2)
        return sorted(took)
    idle = others("idle", 10)
    before = lab.resident_kb()
    with lab.latency() as figures, lab.rain("r%d.dry.test", 2000, 12):
        time.sleep(2)
        busy = others("busy", 20)
        time.sleep(4)
    return {"L_median_ms": figures["median_ms"], "lost": figures["lost"], "M_growth_kb": lab.resident_kb() - before,
            "others_answered": len(busy), "others_ratio": busy[len(busy) // 2] / idle[len(idle) // 2] if busy else 99.0}


def bomb(lab, count, over_s):
    """So many questions of one address; replies as (time since its question, time, bytes)."""
    sent, got = {}, []
    began = time.monotonic()
    with socket.socket(type=socket.SOCK_DGRAM) as s, selectors.DefaultSelector() as ready:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 23)
        # Not from loopback, for which there are no limits.
        s.bind(("198.18.8.8", 0))
        s.connect(("198.18.9.1", lab.daemon.port))
        s.setblocking(False)
        ready.register(s, selectors.EVENT_READ)
        n = 0
        while time.monotonic() - began < over_s + 3.5:
            while n < count and n < (time.monotonic() - began) / over_s * count:
                q = e2e.query("b%d.bomb.test" % n, "TXT", edns=0, payload=4096).to_wire()
                s.send(struct.pack("!H", n) + q[2:])
                sent[n] = time.monotonic()
                n += 1
            if ready.select(0.002):
                try:
                    while True:
                        data = s.recv(65535)
                        now = time.monotonic()
                        got.append((now - sent[struct.unpack("!H", data[:2])[0]], now, len(data)))
                except BlockingIOError:
                    pass
    return got


@attack(31, "dnsbomb", "DNSBomb: 1500 questions in 2 s in one client's name, all answered at once by an authority that held them",
        variants={"": {}, "and-stale": {"stale": True}, "small-answers": {"size": 60}, "large-answers": {"size": 1000}},
        rule="answers later than discard-timeout are not sent over UDP; each client may wait for a limited number "
             "of answers (wait-limit), and gets 4 kB of late ones at once and 48 kB per second",
        code="services/mesh/waiters.c:is_too_late services/access/waitlimit.c:waits_begin services/access/waitlimit.h:WAITS_BURST",
        seconds=30, server=["interface: 198.18.9.1", "access-control: 198.18.0.0/15 allow"],
        limits={"oldest_s": 1.95, "worst_100ms": 10000, "answers": at_least(20)}, noisy=True)
def dnsbomb(lab, stale=False, size=200):
    zone = lab.world.serve(Zone("bomb.test"), {"ns.bomb.test.": ATTACKERS[0]})
    began = []

    def answer(q):
        if not q.name.startswith("b") or q.kind != "TXT":
            return zone.answer(q)
        if not began:
            began.append(time.monotonic())
        text = b"".join(bytes([min(255, size - at)]) + b"x" * min(255, size - at) for at in range(0, size, 255))
        return Send(q.raw([record(q.name, 16, text, 60)]), max(0.0, began[0] + 2.6 - time.monotonic()))
    lab.world.script(ATTACKERS[0], answer)
    if stale:
        lab.option("serve-expired: yes", "serve-expired-client-timeout: 1800")
    lab.start()
    lab.ask("first.bomb.test")
    got = bomb(lab, 1500, 2.0)
    # A bare failure amplifies nothing and is sent however late; data is not.
    data = [g for g in got if g[2] > 100] or [(0, 0, 0)]
    times = [(t, size) for _, t, size in got]
    worst = max((sum(b for at, b in times if t <= at < t + 0.1) for t, _ in times), default=0)
    return {"oldest_s": max(g[0] for g in data), "worst_100ms": worst, "answers": len(got)}


# -- answers that are dear -------------------------------------------------------------------------

def per_answer(lab, name, kind, count=50, tcp=True, **more):
    """C for one answer out of the cache, over one connection."""
    data = e2e.query(name, kind, **more).to_wire()
    with lab.daemon.tcp(10) as s:
        s.sendall(e2e.frame(data))
        e2e.read_message(s)
        before = lab.cpu_ms()
        length = 0
        for _ in range(count):
            s.sendall(e2e.frame(data))
            length = len(e2e.read_exactly(s, struct.unpack("!H", e2e.read_exactly(s, 2))[0]))
        return (lab.cpu_ms() - before) / count, length


@attack(32, "huge-set", "two thousand records in one set",
        rule="an RRset of more than 256 records or 64 KiB is not cached (of a bogus one, the verdict is): it is "
             "passed on to the client, and nothing done to it is quadratic",
        code="util/dns/rrset.h:RRSET_RECORDS_MOST services/cache/rrset.c:rrsetcache_put services/mesh/cache_rules.c:bare_bogus "
             "util/dns/msg_read.c:msg_parse", limits={"C_ms": 20, "R": {"NOERROR", "SERVFAIL"}, "again_C_ms": 5, "kept": 256,
        "M_kb": 4096, "usual": "yes"}, quick=True)
def huge_set(lab):
    zone = Zone("huge.test", ["usual 60 A " + " | ".join("192.0.2.%d" % n for n in range(200))])
    lab.world.serve(zone, {"ns.huge.test.": ATTACKERS[0]})
    records = [record(b"\xc0\x0c", A, struct.pack("!I", 0x0a000000 + n), 60) for n in range(2000)]
    lab.world.script(ATTACKERS[0], lambda q: (q.raw(records) if q.tcp else q.raw(flags=0x8600)) if q.name.startswith("www")
                     and q.kind == "A" else zone.answer(q))
    lab.start()
    lab.ask("first.huge.test")
    before = lab.cpu_ms()
    r = lab.ask("www.huge.test", tcp=True)
    spent = lab.cpu_ms() - before
    again, _ = per_answer(lab, "www.huge.test", "A", 20)
    memory = lab.resident_kb()
    with lab.daemon.tcp(10) as s:
        for n in range(100):
            s.sendall(e2e.frame(e2e.query("www%d.huge.test" % n).to_wire()))
            e2e.read_exactly(s, struct.unpack("!H", e2e.read_exactly(s, 2))[0])
    mark = lab.mark()
    lab.ask("usual.huge.test", tcp=True)
    lab.ask("usual.huge.test", tcp=True)
    usual = sum(h.name == "usual.huge.test." and h.transport != "conn" for h in lab.since(mark)) <= 2
    kept = sum(line.startswith("www") for line in lab.daemon.control("dump_cache").splitlines())
    return {"C_ms": spent, "R": r.rcode, "again_C_ms": again, "kept": kept, "M_kb": lab.resident_kb() - memory,
            "records": len(r.texts()), "usual": "yes" if usual else "no"}


@attack(32, "many-types", "a name with very many types, asked for ANY; NS and MX answers with a hundred targets",
        rule="ANY is answered as the server answered, or with nothing (deny-any); nothing is looked up for "
             "ADDITIONAL",
        code="util/conf/options.def:deny_any services/answer/answer.c:answer_message", quick=True,
        limits={"U_any": 4, "U_mx": 3, "C_ms": 20})
def many_types(lab):
    zone = Zone("types.test", ["mx 60 MX 1 m%d" % n for n in range(100)])
    lab.world.serve(zone, {"ns.types.test.": ATTACKERS[0]})
    types = [record("any.types.test", t, b"\0" * 16, 60) for t in range(1000, 2500)]
    lab.world.script(ATTACKERS[0], lambda q: (q.raw(types) if q.tcp else q.raw(flags=0x8600)) if q.name.startswith("any")
                     else zone.answer(q))
    lab.start()
    lab.ask("first.types.test")
    before = lab.cpu_ms()
    mark = lab.mark()
    lab.ask("any.types.test", "ANY")
    any_cost = lab.upstream(mark, 1, "any.types.test")
    spent = lab.cpu_ms() - before
    mark = lab.mark()
    lab.ask("mx.types.test", "MX")
    return {"U_any": any_cost, "U_mx": lab.upstream(mark, 1, "types.test"), "C_ms": spent}


@attack(33, "compression", "400 MX with targets of 26 labels, 44 kB, from the cache over TCP; and names that share nothing",
        variants={"shared": {"shared": True}, "apart": {"shared": False}},
        rule="an answer is compressed once, when it is stored, with at most 120 suffixes, looked up by hash",
        code="util/dns/msgname.c:look_up services/cache/msg.c:make_image", quick=True,
        limits={"C_ms": 1.5, "bytes": at_least(20000), "first_C_ms": 20})
def compression(lab, shared):
    tail = ".".join("abcdefghijklmnopqrstuvwxy") if shared else None
    data = " | ".join("10 %s.mx.test." % (("m%d." % n + tail) if shared else ".".join(
        "%x" % (n * 31 + i * 7919 & 0xffff) for i in range(25))) for n in range(400))
    zone = lab.world.serve(Zone("mx.test", ["www 300 MX " + data]), {"ns.mx.test.": ATTACKERS[0]})
    # The server itself does not compress: its message would not fit otherwise.
    wires = [record(b"\xc0\x0c", 15, r.to_wire()) for r in zone.sets["www.mx.test.", "MX"]]
    lab.world.script(ATTACKERS[0], lambda q: (q.raw(wires) if q.tcp else q.raw(flags=0x8600))
                     if q.name.startswith("www") and q.kind == "MX" else zone.answer(q))
    lab.start()
    lab.ask("first.mx.test")
    before = lab.cpu_ms()
    r = lab.ask("www.mx.test", "MX", tcp=True)
    first = lab.cpu_ms() - before
    assert r.rcode == "NOERROR", r.rcode
    each, length = per_answer(lab, "www.mx.test", "MX")
    return {"C_ms": each, "bytes": length, "first_C_ms": first}


def deep_owners(q):
    """Each owner is a label before the name of the record before it."""
    at, out, previous = 12 + len(q.question), [], 12
    while at <= 16000 and len(out) < 2500:
        out.append(b"\1a" + struct.pack("!H", 0xc000 | previous) + struct.pack("!HHIH", A, 1, 60, 4) + b"\1\2\3\4")
        previous, at = at, at + len(out[-1])
    return out


def one_chain(q):
    """A chain of 120 pointers, as data; and the name at its end."""
    at, data, previous = 12 + len(q.question) + 12, b"", 12
    for _ in range(120):
        data, previous = data + b"\1a" + struct.pack("!H", 0xc000 | previous), at + len(data)
    return record(b"\xc0\x0c", 65280, data), struct.pack("!H", 0xc000 | previous)


def at_its_end(q):
    """Thousands of owners there: half a million pointers to follow."""
    first, name = one_chain(q)
    return [first] + [record(name, 2000 + n, b"") for n in range(4500)]


def led_to_its_end(q):
    """Thousands of targets there."""
    first, name = one_chain(q)
    return [first] + [record(b"\xc0\x0c", 15, struct.pack("!H", n) + name) for n in range(3800)]


@attack(33, "pointers", "names that are chains of pointers, deep and long, in an upstream's answer; thousands that all begin at the "
        "end of one chain", variants={"": {"made": deep_owners}, "owners": {"made": at_its_end}, "targets": {"made": led_to_its_end}},
        rule="pointers must point backwards, and at most 126 are followed in a name, 65536 in a message",
        code="util/dns/msgname.c:msg_read_name", quick=True, limits={"C_ms": 8, "U": 12})
def pointers(lab, made):
    zone = lab.world.serve(Zone("ptr.test"), {"ns.ptr.test.": ATTACKERS[0]})
    lab.world.script(ATTACKERS[0], lambda q: zone.answer(q) if not q.name.startswith("www") else
                     q.raw(made(q), edns=False) if q.tcp else q.raw(flags=0x8600))
    lab.start()
    lab.ask("first.ptr.test")
    figures = cost(lab, "www.ptr.test", 1)
    return {"C_ms": figures["C_ms"], "U": figures["U"]}


def hung_on_each_other(q):
    """Names each one label longer than the last, as data; a signature, so that there are two answers, with DO and
    without; and addresses of the deepest. As small as it can be written, that is half a million pointers."""
    out, at = [], {}
    here = 12 + len(q.question)
    for depth in range(1, 101):
        data = b"\1a" * depth + wire("hung.test")
        at[depth] = here + 12
        out.append(record(b"\xc0\x0c", 2, data))
        here += len(out[-1])
    out.append(record(b"\xc0\x0c", 46, struct.pack("!HBBIIIH", 2, 8, 2, 300, 0x7fffffff, 0x60000000, 1) +
                      wire("hung.test") + b"x" * 64))
    return out, [record(struct.pack("!H", 0xc000 | at[depth]), 1, bytes((192, 0, 2 + (depth & 1), n)))
                 for depth in range(81, 101) for n in range(1, 51)]


@attack(33, "pointers-of-ours", "an answer whose names, compressed by us, would be chains of a hundred pointers; asked for "
        "with DO and without, by two clients each",
        rule="no name that we write needs more than three pointers; a cached answer that cannot be read is a miss",
        code="util/dns/msgname.h:MSGNAME_POINTERS services/cache/msg.c:stored_unpack", quick=True,
        limits={"answered": at_least(5)})
def pointers_of_ours(lab):
    zone = lab.world.serve(Zone("hung.test"), {"ns.hung.test.": ATTACKERS[0]})
    lab.world.script(ATTACKERS[0], lambda q: zone.answer(q) if not q.name.startswith("www") or q.kind != "NS" else
                     q.raw(hung_on_each_other(q)[0], additional=hung_on_each_other(q)[1], edns=False) if q.tcp
                     else q.raw(flags=0x8600))
    lab.start()
    got = [lab.ask("www.hung.test", "NS", tcp=True, dnssec=d).rcode for d in (True, True, False, False)]
    got.append(lab.ask("first.hung.test").rcode)
    return {"answered": sum(r in ("NOERROR", "NXDOMAIN") for r in got)}


# -- our own data ----------------------------------------------------------------------------------

@attack(34, "local-circles", "aliases in a circle in local data, response-ip and across them",
        rule="the limit of eleven applies to configured aliases, too", quick=True,
        code="services/net/edns_conn.h util/conf/options.def:max_query_restarts", limits={"U": 30, "ended": at_least(4), "C_ms": 50},
        server=['local-data: "a.loop.test. CNAME b.loop.test."', 'local-data: "b.loop.test. CNAME a.loop.test."',
                'local-data: "self.loop.test. CNAME self.loop.test."', 'local-zone: "out.loop.test." redirect',
                'local-data: "out.loop.test. CNAME www.bounce.test."',
                'response-ip: 192.0.2.77/32 redirect', 'response-ip-data: 192.0.2.77/32 "CNAME back.bounce.test."'],
        module="respip validator iterator")
def local_circles(lab):
    lab.world.serve(Zone("bounce.test", ["www 60 CNAME x.out.loop.test.", "back 60 A 192.0.2.77"]),
                    {"ns.bounce.test.": ATTACKERS[0]})
    lab.start()
    mark, before = lab.mark(), lab.cpu_ms()
    got = [lab.ask(n, timeout=8).rcode for n in ("a.loop.test", "self.loop.test", "x.out.loop.test", "back.bounce.test")]
    return {"U": lab.upstream(mark, 1), "ended": sum(r != "SILENCE" for r in got), "C_ms": lab.cpu_ms() - before}


answered(34, "local-aliases", "aliases in local data are followed, and end", "the same limit of eleven",
         "services/net/edns_conn.h", "testdata/replay/local_alias_is_followed.rpl")
