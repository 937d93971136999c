"""Forged and poisonous data (entries 1 to 19).

SPDX-License-Identifier: BSD-3-Clause
"""

import random
import socket
import statistics
import struct
import threading
import time

import dns.edns
import dns.message

from frame import signing
from frame.authority import Send, record, wire
from frame.declare import answered, at_least, attack, shown
from frame.lab import e2e
from frame.world import ATTACKERS, EVIL, FORWARDER, POISON, VICTIM, World, Zone

A, NS, MX = 1, 2, 15
TRUTH = "192.0.2.1"


# -- guessing --------------------------------------------------------------------------------------

@attack(1, "wrong-id-flood", "Kaminsky: 200 answers with wrong ids, from the right address to the right port, before the truth",
        rule="a response must match address, port, id and question; after three that do not, the query goes over "
             "TCP",
        code="services/upstream/upstream.c:STRAYS_MOST services/upstream/udp.c:port_strayed", quick=True,
        limits={"right": at_least(20), "wrong": 0})
def wrong_id_flood(lab):
    zone = lab.world.serve(Zone("flood.test"), {"ns.flood.test.": ATTACKERS[0]})

    def answer(q):
        if not q.name.startswith("r") or q.kind != "A":
            return zone.answer(q)
        truth = q.reply(["%s 60 A %s" % (q.name, TRUTH)])
        if q.tcp:
            return truth
        lie = q.reply(["%s 60 A %s" % (q.name, POISON)]).to_wire()[2:]
        ids = random.sample([i for i in range(65536) if i != q.id], 200)
        return [i.to_bytes(2, "big") + lie for i in ids] + [Send(truth, 0.2)]
    lab.world.script(ATTACKERS[0], answer)
    lab.start()
    got = [lab.ask("r%d.flood.test" % n).texts() for n in range(20)]
    return {"right": got.count([TRUTH]), "wrong": got.count([POISON])}


@attack(1, "wrong-source-flood", "the right id and question from other addresses and other ports",
        rule="the socket of a query is connected to the server asked: the kernel drops everything else",
        code="services/upstream/udp.c:port_open", quick=True, limits={"right": at_least(10), "wrong": 0})
def wrong_source_flood(lab):
    zone = lab.world.serve(Zone("flood.test"), {"ns.flood.test.": ATTACKERS[0]})

    def answer(q):
        if not q.name.startswith("r") or q.kind != "A":
            return zone.answer(q)
        lie = q.reply(["%s 60 A %s" % (q.name, POISON)])
        with socket.socket(type=socket.SOCK_DGRAM) as s:
            s.bind((q.server, 5353))
            s.sendto(lie.to_wire(), q.client)
        return [Send(lie, 0, source) for source in (ATTACKERS[1], EVIL, VICTIM)] + [
            Send(q.reply(["%s 60 A %s" % (q.name, TRUTH)]), 0.1)]
    lab.world.script(ATTACKERS[0], answer)
    lab.start()
    got = [lab.ask("r%d.flood.test" % n).texts() for n in range(10)]
    return {"right": got.count([TRUTH]), "wrong": got.count([POISON])}


# -- data nobody asked for -------------------------------------------------------------------------

def shapes(zone):
    """What a liar who serves `zone` adds to the answer for a name in it: (answer, authority, additional)."""
    evil, lie = "ns.evil.test.", "%s 86400 A %s"
    mx = lie % ("ns." + zone, EVIL)
    return {
        "foreign-additional": ([], [], [lie % ("www.victim.test.", POISON)]),
        "foreign-answer": ([lie % ("www.victim.test.", POISON)], [], []),
        "foreign-authority": ([], [lie % ("www.victim.test.", POISON)], []),
        "sister-ns": ([], ["victim.test. 86400 NS " + evil], [lie % (evil, EVIL)]),
        "sister-ns-its-glue": ([], ["victim.test. 86400 NS ns.victim.test."], [lie % ("ns.victim.test.", EVIL)]),
        "parent-ns": ([], ["test. 86400 NS " + evil], [lie % (evil, EVIL)]),
        "root-ns": ([], [". 86400 NS " + evil], [lie % (evil, EVIL)]),
        "promiscuous-ns": ([], ["%s 86400 NS %s" % (zone, evil)], [lie % (evil, EVIL)]),
        "promiscuous-ns-in-zone": ([], ["%s 86400 NS new.%s" % (zone, zone)], [lie % ("new." + zone, EVIL)]),
        "promiscuous-glue": ([], ["%s 86400 NS ns.%s" % (zone, zone)], [mx]),
        "mx-glue": ([], ["%s 86400 MX 1 ns.%s" % (zone, zone)], [mx]),
        "soa-glue": ([], ["%s 86400 SOA ns.%s h.%s 1 2 3 4 5" % (zone, zone, zone)], [mx]),
        "srv-glue": ([], ["%s 86400 SRV 1 1 53 ns.%s" % (zone, zone)], [mx]),
        "bare-glue": ([], [], [mx]),
        "ns-in-answer": (["%s 86400 NS %s" % (zone, evil)], [], [lie % (evil, EVIL)]),
        "ds-of-sister": ([], ["victim.test. 86400 DS 1 13 2 " + "00" * 32], []),
    }


def aliases(name):
    """Answers that lead a name elsewhere, with data for where they lead."""
    lie = "%s 86400 A %s"
    return {
        "cname-target": ["%s 86400 CNAME www.victim.test." % name, lie % ("www.victim.test.", POISON)],
        "cname-chain": ["%s 86400 CNAME www.sister.test." % name, "www.sister.test. 86400 CNAME www.victim.test.",
                        lie % ("www.victim.test.", POISON)],
        "dname-of-parent": ["test. 86400 DNAME evil.", "%s 86400 CNAME %sevil." % (name, name[:-5])],
        "dname-of-sister": ["victim.test. 86400 DNAME evil.test.", lie % (name, TRUTH)],
        "dname-beside": ["%s 86400 A %s" % (name, TRUTH), "test. 86400 DNAME evil."],
    }


HOLDS = {"evil": 0, "right": "yes", "P": 0}
OUTSIDE = dict(
    rule="of a response only what answers the query is kept, from the zone of the server asked; NS RRsets are "
         "taken from referrals and from answers to NS queries; addresses in ADDITIONAL only together with such an "
         "RRset",
    code="iterator/scrub.c:is_inside iterator/scrub.c:ns_may_stay iterator/scrub.c:is_called_for", quick=True, limits=HOLDS)


def poisoner(lab, zone, answer):
    lab.world.serve(zone, {"ns." + zone.name: ATTACKERS[0]})
    lab.world.script(ATTACKERS[0], lambda q: zone.answer(q) if q.kind not in ("A", "TXT") or q.name.startswith("ns.")
                     or q.name == zone.name else answer(q))


def after_poison(lab, zone):
    """A name that was not asked before is still found, and nobody asked the evil server on the way."""
    r = lab.ask("after." + zone)
    return {"evil": lab.count(server=EVIL), "right": "yes" if r.texts() == [TRUTH] else "no: %s" % r.rcode}


def play_poison(lab, below, zone=None):
    """Three names are asked for, then one that nobody has asked for yet."""
    lab.start()
    for n in range(3):
        lab.ask("x%d.%s" % (n, below))
    return after_poison(lab, zone or below)


@attack(3, "poison", "records nobody asked for in each section of an answer: addresses, NS sets with glue, MX with glue",
        variants={"%s%s" % (s, k): {"shape": s, "kind": k} for s in shapes("z.test.") for k in ("", "-nodata")
                  if k == "" or "-ns" in s or "glue" in s}, **OUTSIDE)
def poison(lab, shape, kind):
    zone = Zone("z.test.")

    def answer(q):
        more = shapes("z.test.")[shape]
        honest = ["%s 60 A %s" % (q.name, TRUTH)]
        soa = []
        if kind and not q.name.startswith("after"):
            honest, soa = [], ["z.test. 60 SOA ns.z.test. h.z.test. 1 2 3 4 60"]
        return q.reply(honest + more[0], soa + more[1], more[2])
    poisoner(lab, zone, answer)
    return play_poison(lab, "z.test")


@attack(2, "poison-alias", "an alias out of the zone comes with forged data for its target; a DNAME of a name "
                           "above",
        variants={s: {"shape": s} for s in aliases("x.z.test.")},
        rule="the target of an alias out of the zone is resolved separately; a DNAME is used only if its owner is "
             "in the zone of the server asked, only for names below that owner, and, unsigned, only for this "
             "answer",
        code="iterator/scrub.c:take_link iterator/scrub.c:find_dname services/cache/rrset.c:note_dname", quick=True, limits=HOLDS)
def poison_alias(lab, shape):
    zone = Zone("z.test.")
    poisoner(lab, zone, lambda q: q.reply(
        ["%s 60 A %s" % (q.name, TRUTH)] if q.name.startswith("after") else aliases(q.name)[shape]))
    return play_poison(lab, "z.test")


def about_others(name):
    """What a server of z.test says of the names of others beside what it was asked: (type, answer, authority, additional, rcode)."""
    soa = "victim.test. 86400 SOA ns.victim.test. h.victim.test. 1 2 3 4 86400"
    above = "test. 86400 SOA ns.test. h.test. 1 2 3 4 86400"
    evil = ["victim.test. 86400 NS ns.evil.test.", "ns.evil.test. 86400 A " + EVIL]
    return {
        "denied-target": ("A", [name + " 60 CNAME www.victim.test."], [soa], [], "NXDOMAIN"),
        "denied-zone": ("A", [], [soa], [], "NXDOMAIN"),
        "denied-above": ("A", [], [above], [], "NXDOMAIN"),
        "empty-above": ("A", [], [above], [], "NOERROR"),
        "any": ("ANY", [name + " 60 A " + TRUTH, "www.victim.test. 86400 A " + POISON, *evil], [], [], "NOERROR"),
        "cname": ("CNAME", [name + " 60 CNAME www.victim.test.", "www.victim.test. 86400 CNAME www.evil.test.",
                            "www.evil.test. 86400 A " + POISON], [], [], "NOERROR"),
        "ns": ("NS", evil[:1] + ["test. 86400 NS ns.evil.test."], evil[:1], evil[1:], "NOERROR"),
        "ds": ("DS", ["victim.test. 86400 DS 1 13 2 " + "00" * 32], evil[:1], evil[1:], "NOERROR"),
    }


@attack(3, "about-others", "denials and data of other zones, by the server of one that is asked for an alias, for ANY, CNAME, NS or DS",
        variants={s: {"shape": s} for s in about_others("x.z.test.")}, **OUTSIDE)
def about_others_too(lab, shape):
    zone = Zone("z.test.", ["after 60 A " + TRUTH])
    lab.world.serve(zone, {"ns.z.test.": ATTACKERS[0]})

    def answer(q):
        kind, *sections, rcode = about_others(q.name)[shape]
        return q.reply(*sections, rcode=rcode) if q.name.startswith("x") and q.kind == kind else zone.answer(q)
    lab.world.script(ATTACKERS[0], answer)
    lab.start()
    for n in range(2):
        lab.ask("x%d.z.test" % n, about_others("x.")[shape][0])
    for kind in ("NS", "SOA", "DS"):
        lab.ask("victim.test", kind)
    return after_poison(lab, "z.test")


@attack(4, "forged-dname", "one DNAME near the top of a zone: its own zone's other names, and what it makes",
        rule="the CNAME of a DNAME is always synthesized by us; an unsigned DNAME serves only the answer it came "
             "in",
        code="iterator/scrub_set.c:scrub_synthesize services/cache/rrset.c:note_dname", quick=True,
        limits={"R": {"NXDOMAIN", "SERVFAIL"}, "right": "yes", "evil": 0})
def forged_dname(lab):
    zone = Zone("z.test.")
    # The forged answer: a DNAME at the apex, and a CNAME that is not the one it makes.
    poisoner(lab, zone, lambda q: q.reply(["%s 60 A %s" % (q.name, TRUTH)]) if q.name.startswith("after") else q.reply(
        ["z.test. 86400 DNAME nowhere.test.", "%s 86400 CNAME www.evil.test." % q.name,
         "www.evil.test. 86400 A " + POISON]))
    lab.start()
    r = lab.ask("x.z.test")
    return {"R": r.rcode if POISON not in r.texts() else POISON, **after_poison(lab, "z.test")}


def referrals(zone):
    """Referrals for sub.`zone` by its own server, with more in them than it may say: (servers, authority)."""
    return {
        "foreign-glue": ({"ns.victim.test.": EVIL}, []),
        "foreign-glue-of-root": ({"a.root.": EVIL}, []),
        "sister-ns": ({"ns.sub." + zone: ATTACKERS[1]}, ["victim.test. 86400 NS ns.sub." + zone]),
        "parent-ns": ({"ns.sub." + zone: ATTACKERS[1]}, ["test. 86400 NS ns.sub." + zone]),
        "sister-ds": ({"ns.sub." + zone: ATTACKERS[1]}, ["victim.test. 86400 DS 1 13 2 " + "00" * 32]),
        "own-ns": ({"ns.sub." + zone: ATTACKERS[1]}, [zone + " 86400 NS ns.evil.test."]),
    }


@attack(2, "poison-referral", "a referral brings addresses of other zones' servers, other zones' NS and DS sets",
        variants={s: {"shape": s} for s in referrals("z.test.")},
        rule="of a referral only its own NS RRset is used, and addresses within the referring zone (harden-glue)",
        code="iterator/scrub.c:ns_may_stay iterator/classify.c:classify_cut iterator/delegation.c:delegation_from_message",
        quick=True, limits={"evil": 0, "P": 0, "right": "yes"})
def poison_referral(lab, shape):
    zone = lab.world.serve(Zone("z.test.", ["after 60 A " + TRUTH]), {"ns.z.test.": ATTACKERS[0]})

    def answer(q):
        if not q.under("sub.z.test."):
            return zone.answer(q)
        servers, more = referrals("z.test.")[shape]
        return q.referral("sub.z.test.", servers, 86400, more)
    lab.world.script(ATTACKERS[0], answer)
    lab.world.script(ATTACKERS[1], World.lie)
    return play_poison(lab, "sub.z.test", "z.test")


@attack(14, "forwarder-poison", "MaginotDNS: what a forwarder adds to its answers about names outside its zone",
        variants={s: {"shape": s} for s in ("foreign-additional", "foreign-answer", "sister-ns", "sister-ns-its-glue",
                                            "parent-ns", "root-ns", "cname-target", "cname-chain", "dname-of-parent",
                                            "dname-of-sister")},
        rule="a forwarder is believed only within its forward zone",
        code="iterator/scrub.c:is_inside", quick=True, limits={"evil": 0, "P": 0, "right": "yes"},
        more='forward-zone:\n    name: "fwdz.test."\n    forward-addr: %s\n' % FORWARDER)
def forwarder_poison(lab, shape):
    def answer(q):
        if q.name.startswith("after"):
            return q.reply(["%s 60 A %s" % (q.name, TRUTH)])
        if shape in shapes("fwdz.test."):
            more = shapes("fwdz.test.")[shape]
            return q.reply(["%s 60 A %s" % (q.name, TRUTH)] + more[0], more[1], more[2])
        return q.reply(aliases(q.name)[shape])
    lab.world.script(FORWARDER, answer)
    return play_poison(lab, "fwdz.test")


@attack(14, "forwarder-of-all-poison", "data from a forwarder for everything is believed, but not about a stub "
                                       "zone",
        rule="the closest configured zone decides, whatever is cached above it",
        code="services/forward/forward.c:forwards_find", quick=True, limits={"evil": 0, "right": "yes"}, bare=True,
        more='forward-zone:\n    name: "."\n    forward-addr: %s\nstub-zone:\n    name: "stub.test."\n    stub-addr: %s\n' % (
            FORWARDER, ATTACKERS[1]))
def forwarder_of_all_poison(lab):
    lab.world.script(FORWARDER, lambda q: q.reply(
        ["%s 60 A %s" % (q.name, TRUTH)], ["stub.test. 86400 NS ns.evil.test."], ["ns.evil.test. 86400 A " + EVIL]))
    lab.world.serve(Zone("stub.test", ["after 60 A " + TRUTH]), {"ns.stub.test.": ATTACKERS[1]})
    return play_poison(lab, "test", "stub.test")


# -- fragments, ports, ids -------------------------------------------------------------------------

@attack(5, "fragments", "an answer of 3 kB, to be had in fragments",
        rule="1232 bytes are advertised, and no more is sent over UDP; truncated responses are retried over TCP",
        code="util/conf/options.def:edns_buffer_size util/conf/options.def:max_udp_size services/upstream/upstream.c:is_cut", quick=True,
        limits={"offered": 1232, "udp_bytes": 1232, "tcp_asked": at_least(1), "records": at_least(150)})
def fragments(lab):
    data = " | ".join("10.9.%d.%d" % (n // 250, n % 250) for n in range(180))
    lab.world.serve(Zone("big.test", ["www 60 A " + data]), {"ns.big.test.": ATTACKERS[0]})
    lab.start()
    sizes = []
    for payload in (512, 1232, 4096, 65535):
        q = e2e.query("www.big.test", edns=0, payload=payload)
        sizes.append(len(lab.daemon.send(q.to_wire(), 5) or b""))
    return {"offered": max(h.edns or 0 for h in lab.since()), "udp_bytes": max(sizes),
            "tcp_asked": sum(h.transport == "tcp" for h in lab.since()),
            "records": len(lab.ask("www.big.test", tcp=True).texts())}


def open_ports():
    """Local UDP ports at the address the daemon asks from."""
    mine = "%08X" % struct.unpack("<I", socket.inet_aton("198.18.9.9"))[0]
    with open("/proc/net/udp", encoding="ascii") as f:
        return [int(w[1].split(":")[1], 16) for w in (line.split() for line in f) if w[1].startswith(mine)]


@attack(6, "port-probes", "SAD DNS: a third address sends to every port that may be open, to see which one is",
        rule="sockets are connected, so an open port looks closed to anyone else; it closes when the response has "
             "come",
        code="services/upstream/udp.c:port_open services/upstream/udp.c:port_retire", quick=True,
        limits={"told_apart": 0, "right": "yes", "open_after": 0})
def port_probes(lab):
    zone = lab.world.serve(Zone("probe.test", ["www 60 A " + TRUTH]), {"ns.probe.test.": ATTACKERS[0]})
    lab.world.script(ATTACKERS[0], lambda q: Send(zone.answer(q), 0.33))
    lab.start()
    lab.ask("first.probe.test")
    out = {}
    asking = threading.Thread(target=lambda: out.update(r=lab.ask("www.probe.test")))
    asking.start()
    time.sleep(0.1)
    held = [h for h in lab.since() if h.name == "www.probe.test."][-1]
    lie = dns.message.make_response(dns.message.make_query("www.probe.test", "A", id=held.id)).to_wire()
    told = 0
    # The open port and its neighbours answer alike: with the kernel's "nobody there".
    for port in [held.port] * 3 + [(held.port + n) % 64000 + 1024 for n in range(1, 5)]:
        with socket.socket(type=socket.SOCK_DGRAM) as s:
            s.bind(("198.18.7.7", 0))
            s.settimeout(0.02)
            s.connect(("198.18.9.9", port))
            s.send(lie)
            try:
                s.recv(100)
                told += 1
            except ConnectionRefusedError:
                pass
            except OSError:
                told += 1
    asking.join()
    time.sleep(1.5)
    return {"told_apart": told, "right": "yes" if out["r"].texts() == [TRUTH] else "no", "open_after": len(open_ports())}


def correlation(a):
    mean = statistics.fmean(a)
    return sum((x - mean) * (y - mean) for x, y in zip(a, a[1:])) / sum((x - mean) ** 2 for x in a)


def ask_many(lab, names, sock=None, outstanding=50):
    """Names at pace from one socket; how many answers came."""
    s = sock or socket.socket(type=socket.SOCK_DGRAM)
    s.settimeout(2)
    s.connect((e2e.ADDRESS, lab.daemon.port))
    got = flying = 0
    for n, name in enumerate(names):
        s.send(struct.pack("!6H", n & 0xffff, 0x0100, 1, 0, 0, 0) + wire(name) + struct.pack("!2H", A, 1))
        flying += 1
        while flying >= outstanding or (n == len(names) - 1 and flying):
            try:
                s.recv(4096)
                got += 1
            except OSError:
                return got
            flying -= 1
    return got


@attack(7, "entropy", "2000 queries: how predictable ports and ids are",
        rule="ports and ids come from a CSPRNG; up to 1024 queries per second each have a port of their own",
        code="services/upstream/udp.c:port_get util/base/random.h:random_below", quick=True,
        limits={"ports": at_least(1900), "port_range": at_least(60000), "ids": at_least(1900), "port_r": 0.06, "id_r": 0.06})
def entropy(lab):
    lab.world.serve(Zone("entropy.test"), {"ns.entropy.test.": ATTACKERS[0]})
    lab.start()
    lab.ask("first.entropy.test")
    mark = lab.mark()
    ask_many(lab, ["n%d.entropy.test" % n for n in range(2000)])
    heard = [h for h in lab.since(mark) if h.server == ATTACKERS[0] and h.transport == "udp"][:2000]
    ports, ids = [h.port for h in heard], [h.id for h in heard]
    return {"ports": len(set(ports)), "port_range": max(ports) - min(ports), "ids": len(set(ids)),
            "port_r": abs(correlation(ports)), "id_r": abs(correlation(ids))}


def same_distribution(a, b):
    """The p of the two-sample Kolmogorov-Smirnov test."""
    most, i, j = 0.0, 0, 0
    a, b = sorted(a), sorted(b)
    while i < len(a) and j < len(b):
        i, j = (i + 1, j) if a[i] <= b[j] else (i, j + 1)
        most = max(most, abs(i / len(a) - j / len(b)))
    n = len(a) * len(b) / (len(a) + len(b))
    return 2 * sum((-1) ** (k - 1) * pow(2.718281828, -2 * k * k * most * most * n) for k in range(1, 100))


@attack(7, "ports-of-threads", "whether a client's source port reveals the ports of the queries made for it "
                               "(per-thread pools)",
        rule="every thread uses the whole port range", code="services/net/source.c:sources_new", noisy=True,
        server=["num-threads: 4"], limits={"p": at_least(0.01), "ports": at_least(1400)})
def ports_of_threads(lab):
    lab.world.serve(Zone("threads.test"), {"ns.threads.test.": ATTACKERS[0]})
    lab.start()
    of = {}
    for client in range(8):
        ask_many(lab, ["n%d.c%d.threads.test" % (n, client) for n in range(200)], outstanding=20)
    for h in lab.since():
        if h.server == ATTACKERS[0] and h.name.startswith("n"):
            of.setdefault(h.name.split(".")[1], []).append(h.port)
    clients = list(of.values())
    # Of seven comparisons the worst: each may be bad by chance.
    return {"p": min(1.0, 7 * min(same_distribution(clients[0], other) for other in clients[1:])),
            "ports": len({p for ports in clients for p in ports})}


def one_question_each(lab, zone, ask):
    """A hundred clients at once, while the server takes its time; how many answers were true."""
    # Slow all the time: a server known to be fast is asked again sooner, from another port, the first one closed.
    lab.world.script(ATTACKERS[0], lambda q: Send(zone(q), 0.4))
    lab.start()
    lab.ask("first.birth.test")
    mark = lab.mark()
    out = []
    threads = [threading.Thread(target=lambda n=n: out.append(ask(n).texts())) for n in range(100)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return mark, out.count([TRUTH])


@attack(8, "birthday", "100 equal questions while the server takes its time: one guess would count for all",
        rule="equal queries wait for the one in flight", code="services/mesh/admit.c:ask", quick=True,
        variants={"equal": {}, "cased": {"cased": True}}, limits={"U": 1, "answered": at_least(100)})
def birthday(lab, cased=False):
    zone = lab.world.serve(Zone("birth.test", ["www 60 A " + TRUTH]), {"ns.birth.test.": ATTACKERS[0]})

    def ask(n):
        return lab.ask("".join(c.upper() if n >> i & 1 and cased else c for i, c in enumerate("www.birth.test")))
    mark, true = one_question_each(lab, zone.answer, ask)
    return {"U": lab.upstream(mark, 1, "www.birth.test"), "answered": true}


def most_within(times, span_s):
    """How many came within such a time, at most."""
    return max((sum(t <= u < t + span_s for u in times) for t in times), default=0)


@attack(9, "rebirthday", "100 queries with different client subnets (ECS)",
        rule="queries that differ only in the client subnet are equal, except for listed servers that use subnets: "
             "ten at a time there; a response that does not echo the subnet is not used",
        code="services/mesh/admit.c:ask services/mesh/subnet_groups.c:has_room iterator/client_subnet.c:client_subnet_check", quick=True, seconds=40,
        variants={"": {"module": "validator iterator"}, "unlisted": {},
                  "listed": {"listed": True, "limits": {"U": shown}},
                  "deaf": {"listed": True, "echo": False},
                  "liar": {"listed": True, "echo": "198.51.100.0", "limits": {"U": 2}}},
        limits={"U": 1, "outstanding": 10, "answered": at_least(100)})
def rebirthday(lab, module="subnetcache validator iterator", listed=False, echo=True):
    zone = lab.world.serve(Zone("birth.test", ["www 60 A " + TRUTH]), {"ns.birth.test.": ATTACKERS[0]})
    lab.module = module
    lab.option("discard-timeout: 0", "send-client-subnet: " + (ATTACKERS[0] if listed else ATTACKERS[1]))

    def answer(q):
        r = zone.answer(q)
        told = [o for o in dns.message.from_wire(q.data).options if o.otype == 8]
        if told and echo:
            address = told[0].address if echo is True else echo
            r.use_edns(0, payload=1232, options=[dns.edns.ECSOption(address, told[0].srclen, told[0].srclen)])
        return r
    mark, true = one_question_each(
        lab, answer, lambda n: lab.ask("www.birth.test", options=[dns.edns.ECSOption("10.%d.0.0" % n, 16)]))
    u = lab.upstream(mark, 1, "www.birth.test")
    return {"U": u, "outstanding": most_within([h.time for h in lab.since(mark) if h.name == "www.birth.test."], 0.35),
            "answered": true}


# -- junk ------------------------------------------------------------------------------------------

def junk(q):
    """What comes 150 ms before the truth, with the right id, by kind."""
    lie = record("junk.test.", A, socket.inet_aton(POISON))
    ident = struct.pack("!H", q.id)
    loop = struct.pack("!6H", q.id, 0x8400, 1, 1, 0, 0) + b"\xc0\x0c\0\1\0\1" + lie
    return {
        "two-bytes": ident,
        "header-only": struct.pack("!6H", q.id, 0x8400, 0, 0, 0, 0),
        "cut-question": struct.pack("!6H", q.id, 0x8400, 1, 0, 0, 0) + q.question[:5],
        "qr-0": q.raw([lie], flags=0x0400),
        "other-question": q.raw([lie], question=wire("junk.test.") + b"\0\1\0\1"),
        "other-type": q.raw([lie], question=q.question[:-4] + b"\0\x10\0\1"),
        "other-class": q.raw([lie], question=q.question[:-2] + b"\0\3"),
        "no-question": q.raw([lie], question=b""),
        "two-questions": q.raw([lie], question=q.question + q.question, count=(2, 1, 0, 0), edns=False),
        "other-opcode": q.raw([lie], flags=0x8400 | 4 << 11),
        "random-bytes": ident + bytes(random.randrange(256) for _ in range(60)),
        "pointer-loop": loop,
        "formerr": q.raw(rcode=1, edns=False),
        "formerr-bare": struct.pack("!6H", q.id, 0x8001, 0, 0, 0, 0),
        "tc-cut-body": q.raw([lie], flags=0x8600)[:len(q.question) + 15],
        "false-counts": q.raw([lie], count=(1, 9, 9, 9)),
        "cut-record": q.raw([record(q.name, A, b"\1\2\3\4")], edns=False)[:-2],
        "long-rdlength": q.raw([wire(q.name) + struct.pack("!HHIH", A, 1, 60, 4000)], count=(1, 1, 0, 0), edns=False),
        "short-address": q.raw([record(q.name, A, b"\1\2")]),
        "two-opts": q.raw(additional=[b"\0" + struct.pack("!HHIH", 41, 1232, 0, 0)] * 2),
        "empty": b"",
    }


class Nobody:
    """A question only good for finding the names of kinds."""
    id, question, name, edns, dnssec = 1, b"\1x\0\0\1\0\1", "x.", None, None

    def raw(self, *_, **__):
        return b"\0" * 20


@attack(10, "junk", "TuDoor: one packet that is malformed or does not match, with the right id, 150 ms before the truth",
        # A refusal that matches is one; an address too short is left out by us, and an answer without it is empty.
        variants={kind: {"kind": kind, "limits": {"right": shown} if kind in ("formerr", "formerr-bare", "short-address")
                         else {}} for kind in junk(Nobody())},
        rule="whatever does not match in address, port, id, QR and question, or does not parse, is discarded, and "
             "the wait continues",
        code="services/upstream/wire.c:upstream_check_echo services/upstream/upstream.c:note_stray", quick=True,
        limits={"right": at_least(5), "U": 3, "lost_ms": 2000})
def junk_before_truth(lab, kind):
    zone = lab.world.serve(Zone("junked.test"), {"ns.junked.test.": ATTACKERS[0]})

    def answer(q):
        if not q.name.startswith("x") or q.kind != "A":
            return zone.answer(q)
        truth = q.reply(["%s 60 A %s" % (q.name, TRUTH)])
        return truth if q.tcp else [junk(q)[kind], Send(truth, 0.15)]
    lab.world.script(ATTACKERS[0], answer)
    lab.start()
    lab.ask("first.junked.test")
    mark = lab.mark()
    got = [lab.ask("x%d.junked.test" % n) for n in range(5)]
    lab.quiet(1)
    return {"right": sum(r.texts() == [TRUTH] for r in got), "U": sum(h.name.startswith("x") for h in lab.since(mark)) / 5,
            "lost_ms": max(r.took_s for r in got) * 1000}


# -- addresses that are none -----------------------------------------------------------------------

@attack(11, "absurd-glue", "glue that leads the resolver to itself, to everybody or to nowhere, and with that to answers nobody asked for",
        rule="unspecified, loopback, mapped, multicast and broadcast addresses are never asked",
        code="util/net/addr.c:addr_is_absurd util/conf/options.def:do_not_query_localhost", quick=True,
        server=["unwanted-reply-threshold: 10", "do-ip6: yes"], limits={"asked": 0, "R": "SERVFAIL", "kept": "yes"})
def absurd_glue(lab):
    four = ["0.0.0.0", "127.0.0.1", "127.1.2.3", "224.0.0.251", "255.255.255.255", "0.1.2.3", "240.0.0.1"]
    six = ["::", "::1", "::ffff:127.0.0.1", "::ffff:198.18.66.66", "ff02::fb", "::127.0.0.1"]
    for n, address in enumerate(four + six):
        lab.world.tld.add("g%d.test. 3600 NS ns.g%d.test." % (n, n))
        lab.world.tld.add("ns.g%d.test. 3600 %s %s" % (n, "AAAA" if ":" in address else "A", address))
    heard = []
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as s:
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        s.bind(("::", 53))
        s.settimeout(0.05)
        lab.start()
        lab.ask("www.victim.test")
        mark = lab.mark()
        got = [lab.ask("www.g%d.test" % n).rcode for n in range(len(four + six))]
        try:
            while True:
                heard.append(s.recv(4096))
        except OSError:
            pass
    asked = [h for h in lab.since(mark) if not h.server.startswith(("198.18.0.", "198.18.2."))]
    before = lab.mark()
    lab.ask("www.victim.test")
    return {"asked": len(asked) + len(heard), "R": got[0] if len(set(got)) == 1 else " ".join(got),
            "kept": "yes" if lab.mark() == before else "no"}


# -- giving a server a bad name --------------------------------------------------------------------

def signed_zone(lab, name, records, address=ATTACKERS[0], **more):
    key = signing.key(name)
    zone = lab.world.serve(Zone(name, records, key=key, **more), {"ns." + name: address})
    lab.anchor(key)
    return zone


@attack(12, "edns-spoiled", "a forged FORMERR, NOTIMP or bare SERVFAIL makes the resolver fall back to no EDNS, "
                            "and DNSSEC fails",
        variants={"%s%s" % (r.lower(), "-bare" if bare else ""): {"rcode": r, "bare": bare} for r, bare in (
            ("FORMERR", False), ("FORMERR", True), ("NOTIMP", False), ("NOTIMP", True), ("SERVFAIL", True))},
        rule="a server is marked as lacking EDNS only after a matching refusal and then a good answer "
             "without EDNS; signed zones are still queried with EDNS",
        code="services/upstream/wire.c:upstream_refuses_edns services/cache/infra.c:infra_set_edns", quick=True,
        limits={"first": {"secure", "SERVFAIL"}, "second": "secure", "third": "secure"})
def edns_spoiled(lab, rcode, bare):
    zone = signed_zone(lab, "spoil.test.", ["w%d 60 A %s" % (n, TRUTH) for n in range(4)])
    told = []

    def answer(q):
        if q.name.startswith("w0") and not told:
            told.append(1)
            code = {"FORMERR": 1, "NOTIMP": 4, "SERVFAIL": 2}[rcode]
            lie = struct.pack("!6H", q.id, 0x8000 | code, 0, 0, 0, 0) if bare else q.raw(rcode=code, edns=False)
            return [lie, Send(zone.answer(q), 0.05)]
        return zone.answer(q)
    lab.world.script(ATTACKERS[0], answer)
    lab.start()

    def told_of(name):
        r = lab.ask(name, dnssec=True)
        return "secure" if r.ad and r.texts() == [TRUTH] else r.rcode
    return {"first": told_of("w0.spoil.test"), "second": told_of("w1.spoil.test"), "third": told_of("w2.spoil.test")}


# -- zones that would not die ----------------------------------------------------------------------

GHOST_TTL = 5


@attack(13, "ghost", "Ghost and phoenix: a zone its parent has dropped keeps itself alive by its own NS sets, children and glue",
        variants={**{s: {"shape": s} for s in ("apex-ns", "ns-question", "sub-delegation", "glue", "last-moment")},
                  "prefetch": {"shape": "last-moment", "options": ["prefetch: yes", "prefetch-key: yes"]},
                  "stale": {"shape": "apex-ns", "options": ["serve-expired: yes"]},
                  "referral-path": {"shape": "apex-ns", "options": ["harden-referral-path: yes"]},
                  "whole-names": {"shape": "ns-question", "options": ["qname-minimisation: no"]}},
        rule="a delegation does not outlive the TTL its parent first gave it; nor does a deeper one outlive an "
             "expired one above it", seconds=30, quick=True,
        code="services/cache/rrset.c:may_replace services/cache/rrset.c:last_second services/cache/rrset.c:is_own_delegation",
        limits={"R": "NXDOMAIN", "gone_s": GHOST_TTL + 5.0})
def ghost(lab, shape, options=()):
    lab.option(*options)
    zone = Zone("ghost.test.")
    lab.world.serve(zone, {"ns.ghost.test.": ATTACKERS[0]}, delegate=False)
    lab.world.delegate("ghost.test.", {"ns.ghost.test.": ATTACKERS[0]}, ttl=GHOST_TTL)
    own = ["ghost.test. 86400 NS ns.ghost.test."]
    glue = ["ns.ghost.test. 86400 A " + ATTACKERS[0]]

    def answer(q):
        if q.kind == "NS" and q.name == "ghost.test.":
            return q.reply(own, additional=glue)
        if q.name == "ns.ghost.test." and q.kind == "A":
            return q.reply(glue, own)
        if shape == "sub-delegation" and q.under("d.ghost.test.") and q.server == ATTACKERS[0]:
            return q.referral("d.ghost.test.", {"ns.d.ghost.test.": ATTACKERS[1]}, 86400)
        if q.kind == "A" and q.name != "ghost.test.":
            return q.reply(["%s 1 A %s" % (q.name, TRUTH)], own, glue)
        return zone.answer(q)
    for address in ATTACKERS[:2]:
        lab.world.script(address, answer)
    lab.start()
    below = "d.ghost.test" if shape == "sub-delegation" else "ghost.test"
    seen = time.monotonic()
    assert lab.ask("first." + below).texts() == [TRUTH]
    lab.world.tld.remove("ghost.test.")
    lab.world.tld.remove("ns.ghost.test.")
    n = 0
    while True:
        n += 1
        if shape == "ns-question":
            lab.ask("ghost.test", "NS")
        if shape == "glue":
            lab.ask("ns.ghost.test")
            lab.ask("ns.ghost.test", "AAAA")
        if shape == "last-moment" and time.monotonic() - seen < GHOST_TTL - 0.3:
            time.sleep(0.2)
            continue
        r = lab.ask("x%d.%s" % (n, below))
        age = time.monotonic() - seen
        if r.rcode == "NXDOMAIN" or age > GHOST_TTL + 8:
            return {"R": r.rcode, "gone_s": age}
        time.sleep(0.1 if shape == "last-moment" else 0.4)


# -- addresses from inside -------------------------------------------------------------------------

@attack(15, "rebinding", "an address of the private network in an answer from outside, in every type that can hold one",
        rule="private-address removes them from A, AAAA and the hints of SVCB and HTTPS, also behind aliases and "
             "among other addresses, and as IPv6 addresses that lead there (mapped, 6to4, NAT64)",
        code="iterator/scrub_set.c:record_is_private iterator/scrub_set.c:svcb_is_private util/net/addr.c:addr_stands_for", quick=True,
        server=["private-address: 10.0.0.0/8", "private-address: fd00::/8", "dns64-prefix: 2001:db8:64::/96"],
        limits={"leaked": 0, "kept": "yes"})
def rebinding(lab):
    lab.world.serve(Zone("rebind.test", [
        "a 60 A 10.1.2.3", "aaaa 60 AAAA fd00::1", "mapped 60 AAAA ::ffff:10.1.2.3",
        "compatible 60 AAAA ::10.1.2.3", "sixtofour 60 AAAA 2002:a01:203::1", "nat64 60 AAAA 64:ff9b::10.1.2.3",
        "ournat64 60 AAAA 2001:db8:64::10.1.2.3", "localnat64 60 AAAA 64:ff9b:1::10.1.2.3", "siit 60 AAAA ::ffff:0:10.1.2.3", "hm 60 HTTPS 1 . ipv6hint=::ffff:10.1.2.3", "both 60 A 10.1.2.3",
        "both 60 A " + TRUTH, "alias 60 CNAME a", "h 60 HTTPS 1 . alpn=h2 ipv4hint=10.1.2.3",
        "h6 60 HTTPS 1 . alpn=h2 ipv6hint=fd00::1", "s 60 SVCB 1 . ipv4hint=192.0.2.7,10.1.2.3",
        "mx 60 MX 1 a"]), {"ns.rebind.test.": ATTACKERS[0]})
    lab.start()
    leaked = 0
    for name, kind in (("a", "A"), ("aaaa", "AAAA"), ("mapped", "AAAA"), ("compatible", "AAAA"),
                       ("localnat64", "AAAA"), ("siit", "AAAA"), ("sixtofour", "AAAA"), ("nat64", "AAAA"), ("ournat64", "AAAA"), ("hm", "HTTPS"), ("both", "A"), ("alias", "A"), ("h", "HTTPS"),
                       ("h6", "HTTPS"), ("s", "SVCB"), ("mx", "MX"), ("a", "ANY"), ("h", "ANY")):
        r = lab.ask(name + ".rebind.test", kind)
        text = r.message.to_text()
        leaked += any(w in text for w in ("10.1.2.3", "fd00::1", "a01:203"))
    return {"leaked": leaked, "kept": "yes" if lab.ask("www.victim.test").rcode == "NOERROR" else "no"}


@attack(17, "odd-classes", "classes and opcodes we do not serve, and odd header bits",
        rule="recursion is only for class IN and opcode QUERY; everything else is refused, except the server's own "
             "names in CH and HS",
        code="daemon/worker/frontend.c:answer_odd daemon/worker/frontend.c:is_ordinary", quick=True,
        limits={"U": 0, "answered_otherwise": 0})
def odd_classes(lab):
    lab.start()
    mark = lab.mark()
    otherwise = 0
    for opcode in range(16):
        for rrclass in (0, 1, 2, 3, 4, 254, 255, 65280):
            if opcode == 0 and rrclass == 1:
                continue
            for flags in (0x0100, 0x0000, 0x01f0):
                data = struct.pack("!6H", 7, flags | opcode << 11, 1, 0, 0, 0) + wire("odd.victim.test") + struct.pack(
                    "!2H", A, rrclass)
                r = lab.daemon.send(data, 1)
                # Silence is as good; nothing but a refusal may come.
                otherwise += r is not None and (r[3] & 15) not in (1, 4, 5, 9)
    return {"U": lab.count(mark), "answered_otherwise": otherwise}


@attack(18, "stale-as-secure", "expired data given out as secure: of a name, of a wildcard, of a denial",
        rule="expired data never has the AD bit", code="daemon/worker/frontend.c:answer_stale services/answer/answer.c:answer_style_from",
        quick=True, server=["serve-expired: yes", "serve-expired-client-timeout: 0", "ede: yes"],
        limits={"fresh": "secure", "stale": "stale", "ad": 0})
def stale_as_secure(lab):
    signed_zone(lab, "stale.test.", ["www 2 A " + TRUTH])
    lab.start()
    # Its keys are known by then: else, on a busy machine, two seconds may be over before the answer is proven.
    lab.ask("none.stale.test", dnssec=True)
    fresh = lab.ask("www.stale.test", dnssec=True)
    lab.world.script(ATTACKERS[0], None)
    time.sleep(3.2)
    got = [lab.ask("www.stale.test", dnssec=True) for _ in range(3)]
    return {"fresh": "secure" if fresh.ad else fresh.rcode, "ad": sum(r.ad for r in got),
            "stale": "stale" if all(r.texts() == [TRUTH] for r in got) else got[0].rcode}


answered(19, "denied-above-a-stub", "a denial of a name above a stub or forward zone hides it",
         "the configuration takes precedence over a cached denial", "iterator/from_cache.c:by_nothing_above",
         "testdata/replay/denial_stops_at_the_operators_word.rpl")
