"""Features that became holes elsewhere (entries 55 to 62).

SPDX-License-Identifier: BSD-3-Clause
"""

import contextlib
import os
import random
import socket
import subprocess
import sys
import threading
import time

import dns.edns
import dns.flags
import dns.message

from frame import signing
from frame.authority import record
from frame.crowd import HERE, all_it_says, head, leaked, opt, question
from frame.declare import answered, at_least, attack, excused
from frame.lab import e2e
from frame.world import ATTACKERS, ROOT, TLD, Zone

FRAME = os.path.join(os.path.dirname(os.path.realpath(__file__)), "frame")


def rpz_clause(lab, name, lines, more=""):
    """A policy zone out of a file."""
    path = os.path.join("/tmp", "rd-rpz-%d-%s" % (os.getpid(), name))
    with open(path, "w", encoding="ascii") as f:
        f.write("$TTL 60\n@ SOA ns h 1 2 3 4 5\n@ NS ns\n" + "\n".join(lines) + "\n")
    lab.clause('rpz:\n    name: "%s"\n    zonefile: "%s"\n%s' % (name, path, more))
    return path


# -- 55 expired answers ------------------------------------------------------------------------------

ACTIONS = {"nx": ".", "nodata": "*.", "pass": "rpz-passthru.", "drop": "rpz-drop.", "tcp": "rpz-tcp-only.",
           "moved": "elsewhere.stale.test.", "self": "self.stale.test."}


@attack(55, "stale-and-policy", "the authority dies; expired answers, policy for names and addresses, prefetch, all at once",
        rule="expired data keeps its security status, never has AD, and is subject to policy like any other",
        code="services/mesh/waiters.c:waiter_answer_stale services/policy/policy.c", seconds=60,
        module="respip validator iterator",
        variants={"%s-%d" % (p, t): {"timeout": t, "prefetch": p, "limits": {"answered": at_least(12 if t < 1800 else 4)}}
                  for t in (0, 1, 1800) for p in ("yes", "no")},
        limits={"AD": 0, "wrong": 0, "fds": 5})
def stale_and_policy(lab, timeout, prefetch, seconds=4):
    key = signing.key("stale.test.")
    zone = Zone("stale.test", key=key)
    names = [*ACTIONS, "elsewhere", "plain", "address"]
    for n in names:
        zone.add("%s 1 A %s" % (n, "203.0.113.5" if n == "address" else "192.0.2.5"))
        zone.add("%s 1 AAAA 2001:db8::5" % n)
    zone.add("chain 1 CNAME plain.stale.test.")
    lab.world.serve(zone, {"ns.stale.test.": ATTACKERS[0]})
    lab.anchor(zone)
    lab.option("serve-expired: yes", "serve-expired-client-timeout: %d" % timeout, "prefetch: " + prefetch,
               "serve-expired-reply-ttl: 1", "num-threads: 2")
    path = rpz_clause(lab, "policy.test", ["%s.stale.test CNAME %s" % (n, to) for n, to in ACTIONS.items()]
                      + ["24.0.113.0.203.rpz-ip CNAME plain.stale.test."])
    lab.start()
    asked = ["%s.stale.test" % n for n in [*names, "chain"]]
    for name in asked:
        lab.ask(name, timeout=1, dnssec=True)
    lab.world.script(ATTACKERS[0], lambda q: None)
    time.sleep(1.5)
    ad, wrong, good = 0, 0, 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        threads = [threading.Thread(target=lab.ask, args=(n, "AAAA", 0.2)) for n in asked]
        for t in threads:
            t.start()
        for name in random.sample(asked, len(asked)):
            r = lab.ask(name, timeout=2.5 if timeout == 1800 else 0.5, dnssec=True, tcp=name.startswith("tcp"))
            ad += r.ad and r.message.answer != []
            good += r.rcode == "NOERROR"
            wrong += name.startswith("nx.") and r.rcode == "NOERROR" or name.startswith("drop.") and r.rcode == "NOERROR"
        for t in threads:
            t.join()
    os.unlink(path)
    return {"AD": ad, "wrong": wrong, "answered": good, "fds": leaked(lab)}


answered(55, "stale-scenarios", "expired answers at once, after a while, in place of failures, too old ones",
         "RFC 8767", "services/mesh/waiters.c",
         " ".join("testdata/replay/%s.rpl" % n for n in (
             "stale_after_the_client_timeout", "stale_at_once", "stale_instead_of_a_failure", "stale_too_old",
             "stale_denial")))


# -- 56 policy zones ----------------------------------------------------------------------------------

@attack(56, "policy-transfers", "ten policy zones are transferred again and again, with reloads and 2000 questions a second",
        rule="a zone is built aside and swapped as a whole; the old one stays in force until then",
        code="services/authzone/rpz.c services/xfer/schedule.c services/config/build.c", noisy=True, seconds=180,
        module="respip validator iterator", server=["num-threads: 2", "access-control: 198.18.0.0/15 allow"],
        limits={"let_through": 0, "transfers": at_least(30), "lost": 0, "fds": 5})
def policy_transfers(lab, seconds=60):
    serial = {}

    def primary(q):
        zone = q.name
        n = serial.setdefault(zone, 0)
        soa = "%s 60 SOA ns.%s h.%s %d 1 1 86400 60" % (zone, zone, zone, n + 1)
        if q.kind == "SOA":
            serial[zone] += 1
            return q.reply(["%s 60 SOA ns.%s h.%s %d 1 1 86400 60" % (zone, zone, zone, n + 2)])
        if q.kind == "AXFR":
            index = zone.split(".")[0][1:]
            return q.reply([soa, "%s 60 NS ns.%s" % (zone, zone), "bad%s.pol.test.%s 60 CNAME ." % (index, zone),
                            *("n%d-%d.pol.test.%s 60 CNAME *." % (n, i, zone) for i in range(50)), soa])
        return q.reply(rcode="NOTIMP") if q.kind == "IXFR" else q.reply()
    lab.world.script(ATTACKERS[1], primary)
    pol = lab.world.serve(Zone("pol.test", ["* 60 A 192.0.2.7"]), {"ns.pol.test.": ATTACKERS[0]})
    lab.world.script(ATTACKERS[0], lambda q: q.reply(["%s 60 A 192.0.2.7" % q.name]) if q.kind == "A" and q.name.count(".") > 2
                     and not q.name.startswith("ns.") else pol.answer(q))
    for i in range(10):
        lab.clause("rpz:\n    name: p%d.policy.test\n    primary: %s\n" % (i, ATTACKERS[1]))
    lab.start()

    def loaded():
        return all(lab.ask("bad%d.pol.test" % i, timeout=3).rcode == "NXDOMAIN" for i in range(10))
    end = time.monotonic() + 20
    while not loaded() and time.monotonic() < end:
        time.sleep(0.2)
    lab.fds_before = lab.descriptors()
    through, lost, over = [], [], threading.Event()

    def watch():
        while not over.is_set():
            r = lab.ask("bad%d.pol.test" % random.randrange(10), timeout=3)
            if r.rcode == "SILENCE":
                lost.append(1)
            elif r.rcode != "NXDOMAIN":
                through.append(r.rcode)
    watcher = threading.Thread(target=watch)
    watcher.start()
    before = sum(serial.values())
    flood = subprocess.Popen([sys.executable, "-B", os.path.join(FRAME, "flood.py"), HERE, str(lab.daemon.port), "100",
                              *("198.18.21.%d=%%-%d.pol.test" % (n, n) for n in range(1, 21))],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    end = time.monotonic() + seconds
    turn = 0
    while time.monotonic() < end:
        with contextlib.suppress(AssertionError):
            lab.daemon.control("auth_zone_transfer", "p%d.policy.test" % (turn % 10))
        if turn % 5 == 4:
            lab.daemon.control("reload")
        turn += 1
    flood.communicate("\n", timeout=10)
    over.set()
    watcher.join()
    return {"let_through": len(through), "transfers": sum(serial.values()) - before, "lost": len(lost), "turns": turn,
            "fds": leaked(lab)}


@attack(56, "policy-expansion", "a policy zone's wildcard alias makes a name that is too long",
        rule="an overlong name gives YXDOMAIN, and no address", code="services/policy/policy.c", quick=True,
        module="respip validator iterator", limits={"R": "YXDOMAIN", "addresses": 0})
def policy_expansion(lab):
    lab.world.serve(Zone("long.test", ["* 60 A 192.0.2.7"]), {"ns.long.test.": ATTACKERS[0]})
    target = ".".join(["x" * 60] * 3) + ".test."
    path = rpz_clause(lab, "policy.test", ["*.long.test CNAME *." + target])
    lab.start()
    os.unlink(path)
    r = lab.ask("%s.%s.long.test" % ("y" * 60, "z" * 30))
    return {"R": r.rcode, "addresses": len(r.texts())}


@attack(56, "policy-depth", "names of a hundred labels, where 64 policy zones have rules for names of few",
        rule="no suffix is looked up that is longer, or has more labels, than any rule of the zone",
        code="services/authzone/rpz.c:may_be_there", quick=True, module="respip validator iterator", server=["num-threads: 1"],
        limits={"C_each": 0.5, "R": "NXDOMAIN"})
def policy_depth(lab, count=64, questions=300):
    paths = [rpz_clause(lab, "p%d.policy.test" % i, [line % n for n in range(20) for line in ("*.b%d.victim.test CNAME .", "c%d.test CNAME .")])
             for i in range(count)]
    name = "a." * 110 + "victim.test"
    lab.start()
    for path in paths:
        os.unlink(path)
    r = lab.ask(name)
    before = lab.cpu_ms()
    with socket.socket(type=socket.SOCK_DGRAM) as s:
        s.connect((HERE, lab.daemon.port))
        s.settimeout(2)
        for _ in range(questions):
            s.send(head() + question(name))
            s.recv(4096)
    return {"C_each": (lab.cpu_ms() - before) / questions, "R": r.rcode}


@attack(56, "policy-disguises", "an address that response-ip or a policy zone withholds: as an IPv6 address that leads there, as a hint, "
                                "beside NXDOMAIN",
        rule="rules for an IPv4 address hold for what stands for it, in A, AAAA, SVCB and HTTPS records, whatever the RCODE", quick=True,
        code="services/policy/response_ip.c:find_rule services/policy/rpz_match.c:find_in_set services/policy/answer_policy.c:apply_to_addresses",
        module="respip validator iterator", server=["response-ip: 192.0.2.71/32 always_refuse"], limits={"leaked": 0, "kept": "yes"})
def policy_disguises(lab):
    lines, asked = ["kept 60 AAAA ::ffff:192.0.2.70"], []
    for ip, six in (("192.0.2.71", "c000:247"), ("192.0.2.72", "c000:248")):
        for n, (kind, data) in enumerate((("A", ip), ("AAAA", "::ffff:" + ip), ("AAAA", "2002:%s::1" % six), ("AAAA", "64:ff9b::" + six),
                                          ("AAAA", "::ffff:0:" + ip), ("HTTPS", "1 . ipv4hint=192.0.2.1,%s" % ip),
                                          ("HTTPS", "1 . ipv6hint=::ffff:" + ip), ("SVCB", "1 . ipv6hint=2001:db8::1,::ffff:" + ip))):
            name = "n%d-%s" % (n, six[-3:])
            lines += ["%s 60 %s %s" % (name, kind, data), "alias-%s 60 CNAME %s" % (name, name)]
            asked += [(start + name + ".guise.test", kind, data) for start in ("", "alias-", "under-")]
    zone = lab.world.serve(Zone("guise.test", lines), {"ns.guise.test.": ATTACKERS[0]})
    data = {name: "%s 60 %s %s" % (name, kind, rdata) for name, kind, rdata in asked}

    def answer(q):
        return q.reply([data[q.name.rstrip(".")]], rcode="NXDOMAIN") if q.name.startswith("under-") else zone.answer(q)
    lab.world.script(ATTACKERS[0], answer)
    path = rpz_clause(lab, "policy.test", ["32.72.2.0.192.rpz-ip CNAME ."])
    lab.start()
    os.unlink(path)
    leaked = []
    for name, kind, _ in asked * 2:
        text = lab.ask(name, kind).message.to_text()
        leaked += [name for w in ("192.0.2.71", "192.0.2.72", "c000:247", "c000:248") if w in text]
    kept = lab.ask("kept.guise.test", "AAAA").message.answer
    return {"leaked": len(leaked), "kept": "yes" if kept else "no"}


answered(56, "policy-cut-transfer", "an incremental transfer that does not fit, a transfer that is cut",
         "incomplete transfers are discarded", "services/xfer/schedule.c",
         "testdata/replay/zone_differences_that_do_not_fit.rpl services/authzone/tests/stream.c")

# -- 57 to 59 -----------------------------------------------------------------------------------------

@attack(57, "ecs-explosion", "20000 client subnets of 32 bits, all different, for eight names whose answers are for that subnet alone",
        rule="a name has so many rows for subnets (max-ecs-tree-size), and rows are a part of msg-cache-size",
        code="services/cache/subnet_index.c:PLACES_MOST util/conf/options.def:max_ecs_tree_size_ipv4", seconds=60,
        module="subnetcache validator iterator",
        server=["client-subnet-always-forward: yes", "send-client-subnet: 198.18.0.0/15", "msg-cache-size: 4m", "rrset-cache-size: 4m",
                "max-ecs-tree-size-ipv4: 2000", "max-client-subnet-ipv4: 32"], limits={"M_kb": 24576, "C_each": 1, "L_median": 5, "lost": 0})
def ecs_explosion(lab, names=8, each=2500):
    lab.world.serve(Zone("near.test"), {"ns.near.test.": ATTACKERS[0]})

    def answer(q):
        r = q.reply(["%s 3600 TXT %s" % (q.name, " ".join(['"' + "x" * 200 + '"'] * 3))])
        at = q.data.find(b"\0\x08\0\x08", 12)
        if at > 0:    # the scope is what was sent
            r.use_edns(0, 0, 1232, options=[dns.edns.GenericOption(8, q.data[at + 4:at + 7] + q.data[at + 6:at + 7] + q.data[at + 8:at + 12])])
        return r
    lab.world.script(ATTACKERS[0], answer)
    lab.start()
    lab.ask("a.near.test", "TXT")
    kb, before = lab.resident_kb(), lab.cpu_ms()
    with lab.latency() as l, socket.socket(type=socket.SOCK_DGRAM) as s:
        s.connect((HERE, lab.daemon.port))
        s.settimeout(0.5)
        for n in range(names * each):
            s.send(head(ar=1) + question("n%d.near.test" % (n // each), 16) + opt(b"\0\x08\0\x08\0\1\x20\0" + os.urandom(4)))
            with contextlib.suppress(OSError):
                for _ in range(10 if n % 10 == 9 else 0):
                    s.recv(4096)
    return {"M_kb": max(0, lab.resident_kb() - kb), "C_each": (lab.cpu_ms() - before) / (names * each), "L_median": l["median_ms"], "lost": l["lost"]}


@attack(57, "ecs-leaks", "answers for one subnet given to others, client addresses sent to servers that are not "
                         "listed",
        rule="an answer for a subnet is cached for that subnet; scope 0 means everyone only if a subnet was sent; "
             "only listed servers are sent subnets, and no more bits than configured", quick=True,
        code="services/cache/subnet_index.c services/forward/subnets.c:subnets_place iterator/client_subnet.c:client_subnet_choose",
        module="subnetcache validator iterator", server=["client-subnet-zone: near.test", "prefetch: yes"],
        limits={"wrong": 0, "told": 0, "bits": 24, "answered": at_least(100)})
def ecs_leaks(lab):
    zone = lab.world.serve(Zone("near.test"), {"ns.near.test.": ATTACKERS[0]})
    far = lab.world.serve(Zone("far.test", ["www 60 A 192.0.2.1", "alias 60 CNAME www.near.test."]),
                          {"ns.far.test.": ATTACKERS[1]})
    told, bits = [], [0]

    def options(q):
        return [o for o in dns.message.from_wire(q.data).options if o.otype == 8]

    def near(q):
        """The address it gives is that of the subnet, or of nobody's."""
        where = options(q)
        if q.kind != "A" or not q.name.startswith("www."):
            return zone.answer(q)
        if not where:
            return q.reply(["%s 2 A 203.0.113.1" % q.name])
        bits[0] = max(bits[0], where[0].srclen)
        scope = min(16, where[0].srclen)
        r = q.reply(["%s 2 A %s" % (q.name, ".".join(where[0].address.split(".")[:2] + ["0", "1"]))])
        r.use_edns(0, payload=1232, options=[dns.edns.ECSOption(where[0].address, where[0].srclen, scope)])
        return r

    def elsewhere(q, answer):
        told.extend(options(q))
        return answer(q)
    lab.world.script(ATTACKERS[0], near)
    lab.world.script(ATTACKERS[1], lambda q: elsewhere(q, far.answer))
    for address in (ROOT, TLD):
        lab.world.script(address, lambda q: elsewhere(q, lab.world.answer))
    lab.start()
    wrong, good = [], 0
    for turn in range(3):
        for n in range(1, 13):
            for name in ("www.near.test", "alias.far.test"):
                for option, want in ((dns.edns.ECSOption("10.%d.7.9" % n, 32), "10.%d.0.1" % n),
                                     (dns.edns.ECSOption("0.0.0.0", 0), "203.0.113.1")):
                    got = lab.ask(name, options=[option]).texts()
                    good += got == [want]
                    if got not in ([want], []):
                        wrong.append((name, want, got))
            lab.ask("www.far.test", options=[dns.edns.ECSOption("10.%d.7.9" % n, 32)])
        if turn == 1:
            time.sleep(2.2)
    return {"wrong": len(wrong), "told": len(told), "bits": bits[0], "answered": good}


@attack(58, "dns64-of-a-lie", "AAAA is asked for where the A set is bogus, or taken away by policy",
        rule="no AAAA is synthesized from a bogus A RRset, and rules for an IPv4 address hold for what is made of it", code="services/dns64/dns64.c services/policy/policy.c", quick=True,
        module="respip dns64 validator iterator", server=["dns64-prefix: 64:ff9b::/96"],
        limits={"bogus": {"SERVFAIL", "NOERROR"}, "blocked": "NXDOMAIN", "made": 0, "good": 1})
def dns64_of_a_lie(lab):
    key = signing.key("six.test.")
    zone = lab.world.serve(Zone("six.test", ["good 60 A 192.0.2.1", "lie 60 A 192.0.2.2", "gone 60 A 192.0.2.3"], key=key),
                           {"ns.six.test.": ATTACKERS[0]})

    def answer(q):
        if q.labels[0] == "lie" and q.kind == "A":
            return q.reply(["lie.six.test. 60 A 203.0.113.66", signing.sign(zone.sets["lie.six.test.", "A"], key)])
        return zone.answer(q)
    lab.world.script(ATTACKERS[0], answer)
    lab.anchor(zone)
    path = rpz_clause(lab, "policy.test", ["gone.six.test CNAME ."])
    lab.start()
    os.unlink(path)
    lie, gone, good = (lab.ask("%s.six.test" % n, "AAAA") for n in ("lie", "gone", "good"))
    return {"bogus": lie.rcode, "blocked": gone.rcode, "made": len(lie.texts("AAAA") + gone.texts("AAAA")),
            "good": len(good.texts("AAAA"))}


@attack(58, "views-by-control", "records that are put into one view at run time, and flags of another view's clients",
        rule="a command names its view, and affects nothing else", code="daemon/control/local.c services/policy/views.c",
        quick=True, server=["access-control: 198.18.0.0/15 allow", "access-control-view: 198.18.21.0/24 one",
                            "access-control-view: 198.18.22.0/24 two"],
        more="view:\n    name: one\n    view-first: yes\nview:\n    name: two\n    view-first: yes\n",
        limits={"in_view": 1, "outside": 0})
def views_by_control(lab):
    lab.start()
    lab.daemon.control("view_local_data", "one", "secret.corp. A 192.0.2.9")

    def seen(source):
        return len(e2e.texts(e2e.ask("secret.corp.", port=lab.daemon.port, source=source, timeout=5)))
    return {"in_view": seen("198.18.21.1"), "outside": seen("198.18.22.1") + seen("198.18.23.1") + seen(None)}


@attack(59, "endless-transfer", "a primary that never ends its transfer, and one that sends a byte a minute",
        rule="max-transfer-size and max-transfer-time end it; the previous zone stays",
        code="services/xfer/schedule.c", seconds=40, limits={"M_kb": 32 << 10, "R": "NXDOMAIN", "fds": 5},
        more="auth-zone:\n    name: endless.example\n    primary: 198.18.1.3\n    max-transfer-size: 1m\n"
        "    max-transfer-time: 3000\n    for-upstream: no\n    fallback-enabled: no\n",
        variants={"fast": {"fast": True}, "slow": {"fast": False}})
def endless_transfer(lab, fast):
    soa = "endless.example. 60 SOA ns.endless.example. h.endless.example. 5 1 1 86400 60"
    sent = []

    def primary(q):
        if q.kind == "SOA":
            return q.reply([soa])
        if q.kind != "AXFR":
            return q.reply(rcode="NOTIMP")
        lines = ["n%d.endless.example. 60 TXT %s" % (i, '"' + "x" * 200 + '"') for i in range(200)]
        sent.append(1)
        if not fast:
            return q.reply([soa])
        return [q.reply([soa] + lines)] + [q.reply(lines) for _ in range(60)]
    lab.world.script(ATTACKERS[2], primary)
    lab.start()
    before = lab.resident_kb()
    time.sleep(6)
    grown = lab.resident_kb() - before
    r = lab.ask("n1.endless.example", "TXT")
    return {"M_kb": max(0, grown), "R": "NXDOMAIN" if r.rcode in ("NXDOMAIN", "SERVFAIL", "REFUSED") else r.rcode,
            "tries": len(sent), "fds": leaked(lab)}


@attack(59, "notify-flood", "NOTIFY in the name of a primary, 500 a second, whose serial is another each time it is asked, and the "
        "times in its SOA all 0", rule="after a NOTIFY the primaries are asked at once, but after four times at most once a second",
        code="services/xfer/schedule.c:NOTIFY_BURST", quick=True, limits={"U": 21, "transfers": 7, "R": "NOERROR", "C_each": 0.2},
        more="auth-zone:\n    name: held.example\n    primary: 198.18.1.3\n    allow-notify: 127.0.0.1\n"
        "    for-upstream: no\n    fallback-enabled: no\n")
def notify_flood(lab, seconds=2):
    serial = [1]

    def soa():
        return "held.example. 60 SOA ns.held.example. h.held.example. %d 0 0 0 60" % serial[0]

    def primary(q):
        if q.kind == "SOA":
            serial[0] += 1
            return q.reply([soa()])
        if q.kind != "AXFR":
            return q.reply(rcode="NOTIMP")
        return q.reply([soa(), "held.example. 60 NS ns.held.example.", *("n%d.held.example. 60 A 192.0.2.1" % i for i in range(500)), soa()])
    lab.world.script(ATTACKERS[2], primary)
    lab.start()
    lab.quiet(0.5)
    mark, before, sent = lab.mark(), lab.cpu_ms(), 0
    end = time.monotonic() + seconds
    with socket.socket(type=socket.SOCK_DGRAM) as s:
        s.connect((HERE, lab.daemon.port))
        while time.monotonic() < end:
            s.send(head(sent & 0xffff, 0x2400) + question("held.example", 6))
            sent += 1
            time.sleep(0.002)
    heard = [h for h in lab.since(mark) if h.server == ATTACKERS[2]]
    return {"U": len(heard), "transfers": sum(h.type == "AXFR" for h in heard), "C_each": (lab.cpu_ms() - before) / sent,
            "R": lab.ask("n1.held.example").rcode, "sent": sent}


answered(59, "zone-digest", "a zone whose digest is not right, or is missing", "ZONEMD is checked where "
                                                                               "configured, and is decisive", "services/authzone/zonemd.c", "testdata/replay/zone_digest_decides.rpl")
answered(59, "notify", "NOTIFY from a stranger, or without the required signature", "only from primaries "
                                                                                            "and allow-notify, and "
                                                                                            "signed if there is a "
                                                                                            "key", "services/xfer/schedule.c",
         "testdata/e2e/test_zones.py::test_notify_must_be_signed_where_there_is_a_key "
         "testdata/e2e/test_zones.py::test_who_does_not_know_the_secret_is_not_believed")


# -- 60 reporting ---------------------------------------------------------------------------------------

@attack(60, "reports-without-end", "a zone that always fails names an agent that always fails, with a name as long as can be",
        rule="one report per name, type and code within its TTL, none about reports, none whose name would be too "
             "long",
        code="services/mesh/error_report.c", seconds=40, server=["dns-error-reporting: yes", "val-max-restart: 0"],
        limits={"reports": 6, "about_reports": 0, "too_long": 0})
def reports_without_end(lab):
    key = signing.key("fails.test.")
    zone = lab.world.serve(Zone("fails.test", ["a 60 A 192.0.2.1", "b 60 A 192.0.2.2"], key=key),
                           {"ns.fails.test.": ATTACKERS[0]})
    lab.anchor(zone)
    long_agent = ".".join(["l" * 60] * 3 + ["m" * 50]) + ".test"
    agents = {"short": "agent.test", "long": long_agent}
    use = ["short"]

    def answer(q):
        if q.kind != "A" or q.name.startswith("ns."):
            return zone.answer(q)
        wire = b"".join(bytes([len(p)]) + p.encode() for p in agents[use[0]].split(".")) + b"\0"
        data = b"\0\x12" + len(wire).to_bytes(2, "big") + wire
        extra = b"\0\0\x29\4\xd0\0\0\x80\0" + len(data).to_bytes(2, "big") + data
        return q.raw([record(b"\xc0\x0c", 1, b"\xc0\0\2\1", 60)], additional=[extra], edns=False)
    lab.world.script(ATTACKERS[0], answer)
    agent = lab.world.serve(Zone("agent.test"), {"ns.agent.test.": ATTACKERS[1]})

    def failing(q):
        if q.name.endswith("agent.test.") and q.name != "agent.test." and not q.name.startswith("ns."):
            data = b"\0\x12\0\x0c\5agent\4test\0"
            return q.raw(flags=0x8402, additional=[b"\0\0\x29\4\xd0\0\0\x80\0\0\x10" + data], edns=False)
        return agent.answer(q)
    lab.world.script(ATTACKERS[1], failing)
    lab.start()
    for kind in ("short", "long"):
        use[0] = kind
        for _ in range(5):
            for name in ("a", "b", "c-" + kind):
                lab.ask(name + ".fails.test", timeout=4)
    lab.quiet(2)
    heard = [h.name for h in lab.since() if "_er." in h.name]
    shown = {n for n in heard}
    return {"reports": len(shown), "questions": len(heard),
            "about_reports": sum(n.count("_er.") > 2 or n.endswith("_er._er.agent.test.") for n in shown),
            "too_long": sum("llll" in h.name for h in lab.since())}


answered(60, "reports", "a failure and its agent", "RFC 9567", "services/mesh/error_report.c",
         "testdata/replay/failure_is_reported_to_the_agent.rpl "
         "services/mesh/tests/error_report.c::a_name_that_would_be_too_long_is_no_report")
excused(61, "hooks", "shell, Python and dynamic library hooks", "there are none: nothing is run, nothing is loaded")


# -- 62 pages -------------------------------------------------------------------------------------------

def http_say(port, data, timeout=3.0):
    """What a server of pages says to these bytes, as far as it does."""
    with contextlib.suppress(OSError), socket.create_connection((HERE, port), timeout) as s:
        return all_it_says(s, data)
    return b""


@attack(62, "pages", "endless requests, false lengths, hundreds of connections, at the metrics port",
        rule="4 KiB per request, five seconds, 32 connections, of which idle ones make room; only loopback by "
             "default",
        code="daemon/pages/http.c", noisy=True, seconds=60, limits={"L_worst": 100, "M_kb": 4096, "served": "yes", "large": 0,
                                                             "fds": 5})
def pages(lab):
    port = e2e.free_port()
    lab.clause("metrics:\n    metrics-enable: yes\n    metrics-interface: 127.0.0.1\n    metrics-port: %d\n" % port)
    lab.start()
    good = b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    assert b"200 OK" in http_say(port, good)
    before = lab.resident_kb()
    large = 0
    with lab.latency() as seen:
        for data in (b"GET /" + b"a" * 70000 + b" HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 20000 + b"\r\n",
                     b"POST /metrics HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n" + b"x" * 1000,
                     b"GET /metrics HTTP/1.1\r\nContent-Length: 4294967295\r\n\r\n", b"\0" * 5000,
                     b"GET /metrics HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
                     b"GET /../../etc/passwd HTTP/1.1\r\n\r\n", b"\x16\3\1\2\0\1\0\1\xfc\3\3"):
            said = http_say(port, data, 1)
            large += b"root:" in said or (b" 200 " in said[:20] and data[:20] not in good and b"99999" in data)
        with contextlib.ExitStack() as stack:
            for i in range(400):
                with contextlib.suppress(OSError):
                    s = stack.enter_context(socket.create_connection((HERE, port), 1))
                    if i % 2:
                        s.sendall(b"GET /metr")
            served = b"200 OK" in http_say(port, good, 8)
    return {"L_worst": seen["worst_ms"], "M_kb": max(0, lab.resident_kb() - before), "served": "yes" if served else "no",
            "large": large, "fds": leaked(lab)}


answered(62, "pages-rebinding", "a page in a browser on the same host has its own name lead to the metrics port",
         "on loopback only addresses, localhost, the host's own name, names without a dot and those of metrics-host are answered",
         "daemon/pages/http_host.c", "testdata/e2e/test_metrics.py::test_a_strangers_name_that_leads_here_gets_nothing")


assert dns.flags.AD
