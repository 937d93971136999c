"""Every key of the statistics: what each kind of question adds to which of them, and to no other.

A row asks something and names all counters that move, by how much; one that moves and is not named
fails it. Debian's unbound is asked the same, and held to the same rows where it counts alike.

SPDX-License-Identifier: BSD-3-Clause
"""

import collections
import contextlib
import os
import shutil
import socket
import ssl
import subprocess
import threading
import time

import dns.edns
import dns.exception
import dns.flags
import dns.opcode
import dns.query
import dns.rcode
import dns.rdataclass
import dns.rrset
import pytest

import h2client
from lab import ADDRESS, FakeServer, fixed, frame, free_port, query, read_message, until

SOME = object()  # at least one: how often is not for this test to say


class Upstream(FakeServer):
    """Answers every A question; the first label says how."""

    def __init__(self):
        super().__init__(self.act)
        self.timers = []

    def act(self, q, tcp):
        name = q.question[0].name.to_text()
        r = fixed("192.0.2.1", ttl_s=1 if name.startswith("short") else 300)(q, tcp)
        if name.endswith("tight."):
            r.flags |= dns.flags.AA
        if name.startswith("nx"):
            r.answer.clear()
            r.set_rcode(dns.rcode.NXDOMAIN)
            r.authority = [dns.rrset.from_text("lab.", 60, "IN", "SOA", "ns.lab. h.lab. 1 2 3 4 60")]
        if name.startswith("fail"):
            r.answer.clear()
            r.set_rcode(dns.rcode.SERVFAIL)
        if name.startswith("cut") and not tcp:
            r.answer.clear()
            r.flags |= dns.flags.TC
        return r

    def received(self, s):
        """As the other, but that some wait, and some send another answer before."""
        data, peer = s.recvfrom(65535)
        out = self.reply(data, False)
        if b"\5stray" in data[12:].lower():
            s.sendto(bytes([out[0] ^ 255]) + out[1:], peer)
        if b"\4slow" in data[12:].lower():
            t = threading.Timer(0.35, s.sendto, (out, peer))
            self.timers.append(t)
            t.start()
        else:
            s.sendto(out, peer)

    def __exit__(self, *what):
        for t in self.timers:
            t.join()
        super().__exit__(*what)


def find(program):
    return shutil.which(program, path="/usr/sbin:/usr/local/sbin:/usr/bin")


class Server:
    """resolverd or unbound, with the same configuration but for what the other does not know."""

    def __init__(self, program, folder, net, lines, more="", modules="validator iterator"):
        self.folder = str(folder)
        self.port, self.socket = free_port(), os.path.join(self.folder, "control")
        self.is_unbound = program.endswith("unbound")
        if self.is_unbound:
            modules = "respip " + modules
        conf = os.path.join(self.folder, "conf")
        with open(conf, "w", encoding="utf-8") as f:
            f.write("server:\n" + "".join("    %s\n" % line for line in [
                "interface: 127.0.0.1", "interface: ::1", "port: %d" % self.port, 'username: ""', 'chroot: ""',
                'directory: "%s"' % self.folder, 'pidfile: ""', "use-syslog: no", "do-daemonize: no",
                "do-not-query-localhost: no", 'outgoing-port-avoid: "20000-25000"', "num-threads: 1",
                "access-control: ::1 allow",
                'root-hints: "%s/root.hints"' % net, 'module-config: "%s"' % modules, *lines]) + more
                + 'remote-control:\n    control-enable: yes\n    control-interface: "%s"\n' % self.socket)
        self.log = open(os.path.join(self.folder, "log"), "wb")
        self.process = subprocess.Popen([program, "-d", "-c", conf], stdin=subprocess.DEVNULL, stdout=self.log,
                                        stderr=self.log)
        deadline = time.monotonic() + 20
        while True:
            try:
                self.ask("id.server.", "TXT", rrclass="CH", timeout=0.5)
                return
            except (dns.exception.Timeout, OSError):
                assert self.process.poll() is None and time.monotonic() < deadline, "it does not start"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()

    def control(self, command):
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(20)
            s.connect(self.socket)
            s.sendall(b"UBCT1 %s\n" % command.encode())
            out = b""
            while piece := s.recv(65536):
                out += piece
        return out.decode()

    def stats(self, command="stats_noreset"):
        return {k: float(v) for k, v in (line.split("=") for line in self.control(command).splitlines())}

    def ask(self, name, rrtype="A", rrclass="IN", address=ADDRESS, tcp=False, source=None, timeout=15, **more):
        q = query(name, rrtype, rrclass, **more)
        way = dns.query.tcp if tcp else dns.query.udp
        return way(q, address, timeout, self.port, source=source, ignore_trailing=True)

    def send(self, message, seconds=0.3):
        """Whoever may hear nothing."""
        with socket.socket(type=socket.SOCK_DGRAM) as s:
            s.settimeout(seconds)
            s.connect((ADDRESS, self.port))
            s.send(message if isinstance(message, bytes) else message.to_wire())
            with contextlib.suppress(OSError):
                return s.recv(65535)
        return None


# -- what moves -----------------------------------------------------------------------------------

MOMENTS = ("time.", "mem.", "thread0.", "total.requestlist.", "total.recursion.", "total.tcpusage",
           "total.query.queue_time", "msg.cache.", "rrset.cache.", "infra.cache.", "key.cache.", "loop.turn.")


def counters(stats):
    """Those that only grow; the histogram as one."""
    out = collections.Counter()
    for key, value in stats.items():
        if key.startswith("histogram."):
            out["histogram"] += int(value)
        elif not key.startswith(MOMENTS):
            out[key.removeprefix("total.")] = int(value)
    return out


def moved(before, after):
    return {k: after[k] - before[k] for k in after if after[k] != before[k]}


MISS = {"num.cachemiss": 1, "num.recursivereplies": 1, "histogram": 1, "num.query.udpout": 1}
HIT = {"num.cachehits": 1}


def one(how=HIT, rrtype="A", rrclass="IN", rcode="NOERROR", edns=True, flags=("RD",), **more):
    """What one question moves; `more`: further keys, with _ for a dot."""
    out = {"num.queries": 1, "num.query.type." + rrtype: 1, "num.query.class." + rrclass: 1,
           "num.query.opcode.QUERY": 1, **how}
    if rcode:
        out["num.answer.rcode." + rcode] = 1
    if edns:
        out["num.query.edns.present"] = 1
    out.update({"num.query.flags." + f: 1 for f in flags})
    out.update({k.replace("_", "."): v for k, v in more.items()})
    return {k: v for k, v in out.items() if v}


def times(n, what):
    return {k: n * v for k, v in what.items()}


def flagged(name):
    return lambda s: s.ask("warm.lab.", flags=dns.flags.RD | name)


def opcode(code):
    def send(s):
        q = query("warm.lab.", "SOA")
        q.set_opcode(code)
        assert s.send(q)
    return send


def over_tls(s, http=False):
    """Twice, the second time on a resumed session."""
    context = ssl._create_unverified_context()
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    session = None
    for _ in range(2):
        with socket.create_connection((ADDRESS, s.tls_port), 10) as raw:
            with context.wrap_socket(raw, session=session) as c:
                c.sendall(frame(query("warm.lab.")))
                read_message(c)
                session = c.session


def over_https(s):
    context = ssl._create_unverified_context()
    context.set_alpn_protocols(["h2"])
    with h2client.Client(s.https_port, context) as c:
        assert c.ask(query("warm.lab.")).answer


def expired(s):
    s.ask("short.lab.")
    time.sleep(2.1)
    s.ask("short.lab.")
    until(lambda: s.stats()["num.query.udpout"] >= 2)


def limited(s):
    for i in range(10):
        s.ask("n%d.tight." % i)


def notify(rcode):
    return {**{k: v for k, v in one(rrtype="SOA", rcode=rcode).items() if "opcode" not in k},
            "num.query.opcode.NOTIFY": 1}


NODATA = {"num.answer.rcode.nodata": 1}
NO_MISS = {"num.cachemiss": 1, "num.recursivereplies": 1, "histogram": 1}
WORK = {**NO_MISS, "num.query.udpout": SOME, "num.valops": SOME}
DROPPED = {"num.cachehits": 1}

# id, what is done first and not counted, what is counted, what it moves, what is different for unbound: another
# dict, or a sentence that says why it is not held to it
ROWS = [
    ("miss", None, lambda s: s.ask("first.lab."), one(MISS), None),
    ("hit", lambda s: s.ask("warm.lab."), lambda s: s.ask("warm.lab."), one(), None),
    ("tcp", None, lambda s: s.ask("warm.lab.", tcp=True), one(num_query_tcp=1), None),
    ("no-edns", None, lambda s: s.ask("warm.lab.", edns=False), one(edns=False), None),
    ("do", lambda s: s.ask("warm.lab.", dnssec=True), lambda s: s.ask("warm.lab.", dnssec=True),
     one(**{"num_query_edns_DO": 1}), None),
    ("ipv6", None, lambda s: s.ask("warm.lab.", address="::1"), one(num_query_ipv6=1), None),
    ("tls", None, over_tls, {**times(2, one(num_query_tcp=1, num_query_tls=1)), "num.query.tls.resume": 1}, None),
    ("https", None, over_https, one(num_query_tcp=1, num_query_tls=1, num_query_https=1), None),
    *[("flag-" + f.name, None, flagged(f), one(flags=("RD", f.name)), None)
      for f in (dns.flags.AA, dns.flags.RA, dns.flags.AD, dns.flags.CD)],
    ("flag-TC", None, lambda s: s.send(query("warm.lab.", flags=dns.flags.RD | dns.flags.TC)),
     {}, None),
    ("flag-Z", None, lambda s: s.ask("warm.lab.", flags=dns.flags.RD | 0x40), one(flags=("RD", "Z")), None),
    ("flag-QR", None, lambda s: s.send(query("warm.lab.", flags=dns.flags.RD | dns.flags.QR)), {}, None),
    ("no-RD", None, lambda s: s.ask("warm.lab.", flags=0), one(flags=(), rcode="REFUSED"), None),
    ("type-nodata", None, lambda s: s.ask("warm.lab.", "AAAA"), one(MISS, rrtype="AAAA", **{k.replace(".", "_"): v
     for k, v in NODATA.items()}), None),
    ("type-above-255", None, lambda s: s.ask("warm.lab.", "CAA"),
     one(MISS, rrtype="other", num_answer_rcode_nodata=1), None),
    ("type-meta", None, lambda s: s.ask("warm.lab.", "MAILB"), one(rrtype="MAILB", rcode="FORMERR"),
     "it looks for records of that type"),
    ("type-AXFR", None, lambda s: s.ask("warm.lab.", "AXFR"), one(rrtype="AXFR", rcode="REFUSED"),
     "it looks for transfers before it has counted all"),
    ("class-CH", None, lambda s: s.ask("version.server.", "TXT", rrclass="CH"), one(rrtype="TXT", rrclass="CH"), None),
    ("class-above-255", None, lambda s: s.ask("warm.lab.", rrclass=dns.rdataclass.from_text("CLASS300")),
     one(rrclass="other", rcode="REFUSED"), "it looks for servers of that class"),
    *[("opcode-" + dns.opcode.to_text(o), None, opcode(o), {}, None) for o in (dns.opcode.STATUS, dns.opcode.UPDATE)],
    ("opcode-NOTIFY", None, opcode(dns.opcode.NOTIFY), notify("REFUSED"), None),
    ("local-data", None, lambda s: s.ask("a.here."), one(), None),
    ("local-denial", None, lambda s: s.ask("b.here."), one(rcode="NXDOMAIN"), None),
    ("local-refusal", None, lambda s: s.ask("b.away."), one(rcode="REFUSED"), None),
    ("local-nodata", None, lambda s: s.ask("a.here.", "TXT"), one(rrtype="TXT", num_answer_rcode_nodata=1), None),
    ("local-drop", None, lambda s: s.send(query("x.silent.")), one(rcode=None), None),
    ("refused-client", None, lambda s: s.ask("warm.lab.", source="127.99.0.1"), {"unwanted.queries": 1, "num.answer.rcode.REFUSED": 1}, None),
    ("denied-client", None, lambda s: deny(s), {"unwanted.queries": 1}, None),
    ("nxdomain", None, lambda s: s.ask("nx.lab."), one(MISS, rcode="NXDOMAIN"), None),
    ("servfail", None, lambda s: s.ask("fail.lab."),
     one({**NO_MISS, "num.query.udpout": SOME}, rcode="SERVFAIL"), None),
    ("servfail-cached", None, lambda s: s.ask("fail.lab."), one(rcode="SERVFAIL"), None),
    ("over-tcp-upstream", None, lambda s: s.ask("cut.lab."), one(MISS, num_query_tcpout=1), None),
    ("unwanted-reply", None, lambda s: s.ask("stray.lab."), one(MISS, unwanted_replies=1), None),
    ("authzone-down", None, lambda s: s.ask("www.down.lab."), one(num_query_authzone_down=1), None),
    ("authzone-up", None, lambda s: s.ask("www.up.lab."), one(NO_MISS, num_query_authzone_up=1),
     "the forwarder of the zone above goes before"),
    ("secure", lambda s: s.ask("com.", "DNSKEY"), lambda s: s.ask("com.", "SOA"),
     one({**NO_MISS, "num.query.udpout": SOME, "num.valops": SOME}, rrtype="SOA", num_answer_secure=1), None),
    ("secure-cached", None, lambda s: s.ask("com.", "SOA"), one(rrtype="SOA", num_answer_secure=1), None),
    ("bogus", lambda s: s.ask("mini.", "SOA"), lambda s: s.ask("www.expired.mini."),
     one({**WORK, "num.rrset.bogus": SOME}, rcode="SERVFAIL", num_answer_bogus=1),
     "it does not count the set"),
    ("bogus-cached", None, lambda s: s.ask("www.expired.mini."), one(rcode="SERVFAIL", num_answer_bogus=1),
     "it counts the code twice"),
    ("aggressive-nxdomain", lambda s: s.ask("zzz1.mini."), lambda s: s.ask("zzz2.mini."),
     one(NO_MISS, rcode="NXDOMAIN", num_answer_secure=1, **{"num_query_aggressive_NXDOMAIN": 1}),
     "it may ask for a name server's address at the same time"),
    ("aggressive-nodata", lambda s: s.ask("mini.", "MX"), lambda s: s.ask("mini.", "LOC"),
     one(NO_MISS, rrtype="LOC", num_answer_secure=1, num_answer_rcode_nodata=1,
         **{"num_query_aggressive_NOERROR": 1}), None),
    ("rpz-nxdomain", None, lambda s: s.ask("nx.rpz.lab."),
     one(rcode="NXDOMAIN", **{"num_rpz_action_rpz-nxdomain": 1}), None),
    ("rpz-nodata", None, lambda s: s.ask("nodata.rpz.lab."),
     one(num_answer_rcode_nodata=1, **{"num_rpz_action_rpz-nodata": 1}), None),
    ("rpz-drop", None, lambda s: s.send(query("drop.rpz.lab.")),
     one(rcode=None, **{"num_rpz_action_rpz-drop": 1}), None),
    ("rpz-tcp-only", None, lambda s: s.send(query("tcp.rpz.lab.")),
     one(num_answer_rcode_nodata=1, **{"num_rpz_action_rpz-tcp-only": 1}), None),
    ("rpz-local-data", None, lambda s: s.ask("data.rpz.lab."), one(**{"num_rpz_action_rpz-local-data": 1}), None),
    ("rpz-passthru", lambda s: s.ask("pass.rpz.lab."), lambda s: s.ask("pass.rpz.lab."),
     one(**{"num_rpz_action_rpz-passthru": 1}), None),
    ("rpz-disabled", lambda s: s.ask("off.lab."), lambda s: s.ask("off.lab."),
     one(**{"num_rpz_action_rpz-disabled": 1}), None),
    ("rpz-cname-override", lambda s: s.ask("warm.lab."), lambda s: s.ask("alias.lab."),
     one(NO_MISS, **{"num_rpz_action_rpz-cname-override": 1}), "here the target is a question of its own"),
    ("expired", None, expired, {**times(2, one()), **MISS, "num.cachehits": 1, "num.query.udpout": 2,
                                "num.expired": 1, "num.prefetch": 1}, None),
    ("ratelimited", None, limited, {**times(10, one({"num.cachemiss": 1, "num.recursivereplies": 1, "histogram": 1},
     rcode=None)), "num.answer.rcode.NOERROR": SOME, "num.answer.rcode.SERVFAIL": SOME, "num.query.udpout": SOME,
                                    "num.query.ratelimited": SOME}, None),
]


def deny(s):
    with socket.socket(type=socket.SOCK_DGRAM) as c:
        c.bind(("127.98.0.1", 0))
        c.settimeout(0.3)
        c.connect((ADDRESS, s.port))
        c.send(query("warm.lab.").to_wire())
        with pytest.raises(OSError):
            c.recv(512)


RPZ_FILE = """$TTL 60
@ SOA a. b. 1 2 3 4 5
@ NS a.
nx.rpz.lab CNAME .
nodata.rpz.lab CNAME *.
drop.rpz.lab CNAME rpz-drop.
tcp.rpz.lab CNAME rpz-tcp-only.
data.rpz.lab A 192.0.2.9
pass.rpz.lab CNAME rpz-passthru.
"""


@pytest.fixture(scope="module", params=["resolverd", "unbound"])
def lab(request, bin_dir, net, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    head = "$TTL 60\n@ SOA a. b. 1 2 3 4 5\n@ NS a.\n"
    (folder / "rpz").write_text(RPZ_FILE)
    (folder / "off").write_text(head + "off.lab CNAME .\n")
    (folder / "alias").write_text(head + "alias.lab CNAME .\n")
    (folder / "held").write_text(head + "www A 192.0.2.78\n")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
                    "30", "-subj", "/CN=dns.test", "-keyout", "key", "-out", "pem"], cwd=folder, check=True,
                   capture_output=True)
    program = os.path.join(bin_dir, "resolverd") if request.param == "resolverd" else find("unbound")
    tls, https = free_port(), free_port()
    with Upstream() as up, Server(
            program, folder, net,
            ["extended-statistics: yes", "statistics-inhibit-zero: no", 'trust-anchor-file: "%s/root.key"' % net,
             "domain-insecure: lab.", "domain-insecure: tight.", "access-control: 127.99.0.0/16 refuse", "access-control: 127.98.0.0/16 deny",
             "local-zone: here. static", 'local-data: "a.here. A 192.0.2.9"', "local-zone: away. refuse",
             "local-zone: silent. deny", "serve-expired: yes", "serve-expired-client-timeout: 0",
             "aggressive-nsec: yes", 'target-fetch-policy: "0 0 0 0 0"', "ratelimit: 10000", "ratelimit-for-domain: tight. 1", "ratelimit-factor: 0",
             "tls-port: %d" % tls, "https-port: %d" % https, "interface: 127.0.0.1@%d" % tls,
             "interface: 127.0.0.1@%d" % https, "tls-service-key: key", "tls-service-pem: pem",
             "trust-anchor-signaling: no", "root-key-sentinel: no"],
            'forward-zone:\n    name: lab.\n    forward-addr: %s\n' % up.at
            + 'stub-zone:\n    name: tight.\n    stub-addr: %s\n' % up.at
            + 'auth-zone:\n    name: down.lab\n    zonefile: held\n    for-downstream: yes\n    for-upstream: no\n'
            + 'auth-zone:\n    name: up.lab\n    zonefile: held\n    for-downstream: no\n    for-upstream: yes\n'
            + 'rpz:\n    name: rpz.zone\n    zonefile: rpz\n'
            + 'rpz:\n    name: off.zone\n    zonefile: off\n    rpz-action-override: disabled\n'
            + 'rpz:\n    name: alias.zone\n    zonefile: alias\n    rpz-action-override: cname\n'
              '    rpz-cname-override: warm.lab.\n') as s:
        s.tls_port, s.https_port = tls, https
        s.upstream = up
        s.ask("warm.lab.")
        s.ask("warm.lab.", dnssec=True)
        yield s


@pytest.mark.parametrize("row", ROWS, ids=[r[0] for r in ROWS])
def test_each_question_moves_its_counters_and_no_other(lab, row):
    name, first, ask, want, differs = row
    if lab.is_unbound and isinstance(differs, str):
        pytest.skip(differs)
    if lab.is_unbound and differs is not None:
        want = differs
    if first:
        first(lab)
    before = counters(lab.stats())
    known = set(before)
    ask(lab)
    got = moved(before, counters(lab.stats()))
    if lab.is_unbound:  # what it asks in the background is not ours to say
        got.pop("num.query.udpout", None)
        want = {k: v for k, v in want.items() if k != "num.query.udpout"}
    for key, value in want.items():
        if value is SOME and (key in known or not lab.is_unbound):
            assert got.pop(key, 0) > 0, key
    want = {k: v for k, v in want.items() if v is not SOME}
    wrong = {k: "%d, not %d" % (got.get(k, 0), want.get(k, 0)) for k in {*got, *want}
             if got.get(k, 0) != want.get(k, 0)}
    assert not wrong, wrong


def test_every_type_and_class_has_a_counter_of_its_own(lab):
    if lab.is_unbound:
        pytest.skip("it has fewer names for types")
    for key, make in (("num.query.type.", lambda i: query("a.here.", i)),
                      ("num.query.class.", lambda i: query("a.here.", "A", i))):
        before = counters(lab.stats())
        with socket.socket(type=socket.SOCK_DGRAM) as c:
            c.connect((ADDRESS, lab.port))
            c.settimeout(3)
            for i in range(256):
                c.send(make(i).to_wire())
                c.recv(65535)
        got = {k: v for k, v in moved(before, counters(lab.stats())).items() if k.startswith(key)}
        if "class" in key:  # each question has a type, too
            assert len(got) == 256
        else:
            assert len(got) == 256
        assert set(got.values()) == {1}


# Where other tests see to it: what is under way, sizes, and what takes another configuration.
ELSEWHERE = {
    "num.queries_ip_ratelimited", "num.queries_cookie_valid", "num.queries_cookie_client", "num.queries_cookie_invalid",
    "num.queries_discard_timeout", "num.queries_replyaddr_limit", "num.queries_wait_limit",
    "num.queries_timed_out",    # sock-queue-timeout has tests of its own
    "num.queries_client_gone", "num.tcp.closed_idle", "num.tcp.closed_busy", "num.tcp.refused",    # test_crowds
    "num.dns_error_reports",    # so have error reports
    "num.queries_stuck",    # errors of ours: services/mesh/tests/stuck.c
    "num.query.subnet", "num.query.subnet_cache",    # test_subnets
    "num.query.cachedb",    # test_cachedb
    "requestlist.avg", "requestlist.max", "requestlist.overwritten", "requestlist.exceeded", "requestlist.current.all",
    "requestlist.current.user", "requestlist.current.replies", "recursion.time.avg", "recursion.time.median", "tcpusage",
    "query.queue_time_us.max"}
# What no question can move, and why.
NEVER = {
    "num.query.flags.QR": "a packet with QR set is no question, and is dropped before anything is counted",
    "num.query.flags.TC": "so is one with TC set",
    "num.rpz.action.rpz-invalid": "rules that cannot be read are left out when the zone is read",
}
NOW = {"mem.cache.rrset", "mem.cache.message", "mem.mod.iterator", "mem.mod.validator", "mem.mod.respip",
       "msg.cache.count", "rrset.cache.count", "infra.cache.count", "key.cache.count", "msg.cache.max_collisions",
       "rrset.cache.max_collisions", "time.now", "time.up", "time.elapsed"}
LONGEST = "loop.turn."  # most are 0 after a moment in which nothing took long
NOTHING_WAITS = {"log.lost", "mem.mod.subnet", "mem.streamwait", "mem.http.query_buffer", "mem.http.response_buffer"}
FAMILIES = ("num.query.type.", "num.query.class.", "num.query.opcode.", "num.answer.rcode.", "histogram.")


def test_every_key_there_is_has_been_seen_to_move(lab):
    """After the rows above. Those of unbound have a place here, too."""
    stats = lab.stats()
    seen = {k for row in ROWS for k in row[3]}
    for key, value in stats.items():
        key = key.removeprefix("total.")
        if key.startswith("thread0."):
            assert stats["total." + key.removeprefix("thread0.")] == value, key
            continue
        if key in NOW and not lab.is_unbound:
            assert value > 0, key
        elif key.startswith(LONGEST) and not lab.is_unbound:
            assert value >= 0, key
        elif key in NOTHING_WAITS or key in NEVER:
            assert value == 0, key
        elif not lab.is_unbound:
            assert key in seen or key in ELSEWHERE or key.startswith(FAMILIES), key
    if not lab.is_unbound:
        assert seen - {k.removeprefix("total.") for k in stats} - {"histogram", "num.query.type.other",
                                                                   "num.query.class.other"} == set()


def test_counters_begin_anew_when_they_were_shown_and_not_otherwise(lab):
    first = lab.stats()
    assert first["total.num.queries"] > 0
    assert lab.stats("stats")["total.num.queries"] == first["total.num.queries"]
    then = lab.stats()
    assert then["total.num.queries"] == 0 and then["time.elapsed"] < first["time.elapsed"]
    assert not [k for k, v in counters(then).items() if v]
    # what is now stays
    assert then["msg.cache.count"] == first["msg.cache.count"] > 0


def test_cumulative_counters_stay(bin_dir, net, tmp_path):
    with Server(os.path.join(bin_dir, "resolverd"), tmp_path, net, ["statistics-cumulative: yes"]) as s:
        before = s.stats()["total.num.queries"]
        assert before > 0 and s.stats("stats")["total.num.queries"] == before
        assert s.stats()["total.num.queries"] == before
        assert s.control("flush_stats") == "ok\n" and s.stats()["total.num.queries"] == 0


# -- queues and limits: what moves depends on what is under way -----------------------------------


@pytest.fixture
def small(request, bin_dir, net, tmp_path):
    """A daemon with the lines of the row, whose upstream takes a third of a second for slow names."""
    program, lines = request.param
    with Upstream() as up, Server(os.path.join(bin_dir, program) if program == "resolverd" else find(program), tmp_path,
                                  net, ["extended-statistics: yes", *lines],
                                  "forward-zone:\n    name: .\n    forward-addr: %s\n" % up.at, "iterator") as s:
        s.upstream = up
        yield s


def ask_at_once(s, names, source=ADDRESS, clients=1):
    """Sends them all, then waits for what comes; how many answers."""
    socks = []
    for _ in range(clients):
        c = socket.socket(type=socket.SOCK_DGRAM)
        c.bind((source, 0))
        c.connect((ADDRESS, s.port))
        c.settimeout(1.5)
        socks.append(c)
        for name in names:
            c.send(query(name).to_wire())
    return socks


def answers(socks, each):
    got = 0
    for c in socks:
        with contextlib.suppress(OSError):
            for _ in range(each):
                c.recv(4096)
                got += 1
        c.close()
    return got


BOTH = [("resolverd", []), ("unbound", [])]


@pytest.mark.parametrize("small", BOTH, indirect=True, ids=["resolverd", "unbound"])
def test_what_is_under_way_is_counted(small):
    s = small
    s.control("flush_stats")
    socks = ask_at_once(s, ["slow.a.", "slow.b.", "slow.c."]) + ask_at_once(s, ["slow.a."])
    until(lambda: len(s.upstream.asked) >= 3)
    now = s.stats()
    assert answers(socks[:1], 3) == 3 and answers(socks[1:], 1) == 1
    then = s.stats()
    assert now["total.requestlist.current.all"] == now["total.requestlist.current.user"] == 3
    assert then["total.requestlist.current.all"] == then["total.requestlist.current.user"] == 0
    if not s.is_unbound:
        assert now["total.requestlist.current.replies"] == 4 and then["total.requestlist.current.replies"] == 0
    assert then["total.requestlist.max"] == 3
    assert then["total.requestlist.avg"] == pytest.approx((0 + 1 + 2 + 3) / 4)
    assert 0.3 < then["total.recursion.time.avg"] < 2
    assert 0.25 < then["total.recursion.time.median"] < 2
    assert then["total.num.queries"] == then["total.num.recursivereplies"] == then["total.num.cachemiss"] == 4
    waits = {k: v for k, v in then.items() if k.startswith("histogram.") and v}
    assert sum(waits.values()) == 4
    # each bucket is one in which somebody may have waited that long
    assert all(float(k.split(".to.")[1]) > 0.3 for k in waits)


@pytest.mark.parametrize("small", BOTH, indirect=True, ids=["resolverd", "unbound"])
def test_connections_are_counted_while_they_last(small):
    before = small.stats()["total.tcpusage"]
    with socket.create_connection((ADDRESS, small.port), 5) as c:
        c.sendall(frame(query("a.")))
        read_message(c)
        assert small.stats()["total.tcpusage"] == before + 1


@pytest.mark.parametrize("small", [(p, ["ip-ratelimit: 3", "ip-ratelimit-factor: 0"]) for p in ("resolverd", "unbound")],
                         indirect=True, ids=["resolverd", "unbound"])
def test_clients_over_their_rate_are_counted(small):
    before = counters(small.stats())
    got = answers(ask_at_once(small, ["warm."] * 20, "127.0.0.77"), 20)
    out = moved(before, counters(small.stats()))
    assert out["num.queries_ip_ratelimited"] == 20 - got > 0


FULL = ["num-queries-per-thread: 2", "jostle-timeout: 100000"]
EVICTS = ["num-queries-per-thread: 2", "jostle-timeout: 0"]


@pytest.mark.parametrize("small", [(p, FULL) for p in ("resolverd", "unbound")], indirect=True,
                         ids=["resolverd", "unbound"])
def test_a_full_request_list_is_counted(small):
    small.control("flush_stats")
    got = answers(ask_at_once(small, ["slow.%s." % c for c in "abcdef"]), 6)
    s = small.stats()
    assert s["total.requestlist.exceeded"] == 6 - got > 0 and s["total.requestlist.overwritten"] == 0


@pytest.mark.parametrize("small", [(p, EVICTS) for p in ("resolverd", "unbound")], indirect=True,
                         ids=["resolverd", "unbound"])
def test_who_makes_room_for_others_is_counted(small):
    small.control("flush_stats")
    socks = []
    for c in "abcd":
        socks += ask_at_once(small, ["slow.%s." % c])
        time.sleep(0.02)
    answers(socks, 1)
    assert small.stats()["total.requestlist.overwritten"] > 0


@pytest.mark.parametrize("small", [("resolverd", ["wait-limit-netblock: 127.0.0.0/8 2"])], indirect=True, ids=["ours"])
def test_who_waits_for_too_much_is_counted(small):
    got = answers(ask_at_once(small, ["slow.%s." % c for c in "abcde"]), 5)
    assert small.stats()["total.num.queries_wait_limit"] == 5 - got == 3


@pytest.mark.parametrize("small", [("resolverd", ["num-queries-per-thread: 1"])], indirect=True, ids=["ours"])
def test_too_many_waiting_clients_are_counted(small):
    got = answers(ask_at_once(small, ["slow.a."], clients=24), 1)
    assert small.stats()["total.num.queries_replyaddr_limit"] == 24 - got > 0


@pytest.mark.parametrize("small", [("resolverd", ["discard-timeout: 100"])], indirect=True, ids=["ours"])
def test_late_answers_are_counted(small):
    assert answers(ask_at_once(small, ["slow.a."]), 1) == 0
    s = small.stats()
    assert s["total.num.queries_discard_timeout"] == 1 and s["total.num.recursivereplies"] == 0


@pytest.mark.parametrize("small", [("resolverd", ["answer-cookie: yes",
                                                  "cookie-secret: 000102030405060708090a0b0c0d0e0f"])],
                         indirect=True, ids=["ours"])
def test_cookies_are_counted_by_what_they_are_worth(small):
    def ask(cookie):
        return small.ask("id.server.", "TXT", rrclass="CH",
                         options=[dns.edns.GenericOption(dns.edns.OptionType.COOKIE, cookie)])
    client = bytes(range(8))
    whole = [o for o in ask(client).options if o.otype == 10][0].to_wire()
    for cookie in (whole, whole, whole[:-1] + bytes([whole[-1] ^ 1]), client):
        ask(cookie)
    s = small.stats()
    assert {k: s["total.num.queries_cookie_" + k] for k in ("valid", "client", "invalid")} == {
        "valid": 2, "client": 2, "invalid": 1}
