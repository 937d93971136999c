"""Local zones, data, tags and views, answer by answer as Debian's unbound gives them.

SPDX-License-Identifier: BSD-3-Clause
"""

import concurrent.futures
import contextlib
import itertools
import os
import shutil
import subprocess
import time

import dns.exception
import dns.flags
import dns.message
import dns.query
import dns.rcode
import dns.rdatatype
import dns.rrset
import pytest

from lab import ADDRESS, FakeServer, free_port, query

TYPES = ["deny", "refuse", "static", "transparent", "typetransparent", "redirect", "inform", "inform_deny",
         "inform_redirect", "always_transparent", "always_refuse", "always_nxdomain", "always_nodata", "always_deny",
         "always_null", "noview"]
# What unbound says of a name below each kind of zone depends on the records beside it.
PLAIN = "127.0.0.1"
CLIENTS = {PLAIN: "everybody", "127.0.1.1": "children", "127.0.2.1": "guests", "127.0.3.1": "own view",
           "127.0.4.1": "view first", "127.0.5.1": "overridden", "127.0.6.1": "both tags", "127.0.7.1": "empty view"}
ZONE_CLIENTS = [PLAIN, "127.0.3.1", "127.0.4.1", "127.0.6.1"]


def lines():
    """The server clause that both get, and what follows it."""
    server, views = [], []
    for t in TYPES:
        zone = t.replace("_", "-") + ".example."
        server.append('local-zone: "%s" %s' % (zone, t))
        if "redirect" in t:
            server += ['local-data: "%s 60 A 192.0.2.1"' % zone, 'local-data: "%s 60 A 192.0.2.2"' % zone,
                       'local-data: "%s 60 TXT text"' % zone]
            continue
        server += ['local-data: "www.%s 60 A 192.0.2.1"' % zone, 'local-data: "www.%s 60 AAAA 2001:db8::1"' % zone,
                   'local-data: "a.b.%s 60 TXT deep"' % zone]
        if t in ("static", "deny", "refuse"):
            server.append('local-data: "%s 3600 SOA ns.%s admin.%s 1 2 3 4 300"' % (zone, zone, zone))
    server += [
        'define-tag: "kids guests"',
        "access-control: 127.0.0.0/8 allow",
        'access-control-tag: 127.0.1.0/24 "kids"',
        'access-control-tag: 127.0.2.0/24 "guests"',
        'access-control-tag: 127.0.6.0/24 "kids guests"',
        "access-control-tag-action: 127.0.2.0/24 guests redirect",
        'access-control-tag-data: 127.0.2.0/24 guests "A 192.0.2.80"',
        "access-control-tag-action: 127.0.6.0/24 kids refuse",
        "access-control-tag-action: 127.0.6.0/24 guests always_nxdomain",
        "access-control-view: 127.0.3.0/24 own",
        "access-control-view: 127.0.4.0/24 first",
        "access-control-view: 127.0.7.0/24 empty",
        'local-zone: "games.example." always_nxdomain',
        'local-zone-tag: "games.example." "kids"',
        'local-zone: "tagged.example." static',
        'local-data: "www.tagged.example. 60 A 192.0.2.9"',
        'local-zone-tag: "tagged.example." "kids guests"',
        'local-zone: "files.example." transparent',
        'local-data: "www.files.example. 60 A 192.0.2.10"',
        'local-zone-override: "files.example." 127.0.5.0/24 refuse',
        'local-data: "loose.example. 60 A 192.0.2.11"',
        'local-data: "print.lan. 60 A 192.0.2.12"',
        'local-data-ptr: "192.0.2.12 90 print.lan."',
        'local-data-ptr: "2001:db8::12 print.lan."',
        'local-zone: "10.in-addr.arpa." nodefault',
        'local-zone: "nxdomain.static.example." always_nxdomain',
    ]
    for name, first in (("own", "no"), ("first", "yes"), ("empty", "no")):
        views += ["view:", "    name: %s" % name, "    view-first: %s" % first]
        if name != "empty":
            views += ['    local-zone: "static.example." refuse',
                      '    local-zone: "own.example." static',
                      '    local-data: "www.own.example. 60 A 192.0.2.50"',
                      '    local-data: "print.lan. 60 A 192.0.2.51"',
                      '    local-zone: "noview.example." noview',
                      '    local-zone: "seen.example." transparent',
                      '    local-data: "www.seen.example. 60 A 192.0.2.52"']
    return server, "\n".join(views) + "\n"


def questions():
    """Name, type and client of each."""
    for t in TYPES:
        zone = t.replace("_", "-") + ".example."
        # Nothing comes of what is dropped, and that takes its time.
        drops = "deny" in t
        for name, rrtype, client in itertools.product(
                ["www.", "none."] if drops else ["", "www.", "b.", "a.b.", "none.", "x.www."],
                ["A", "TXT"] if drops else ["A", "AAAA", "TXT", "DS", "ANY"], ZONE_CLIENTS):
            yield name + zone, rrtype, client
    for (name, rrtype), client in itertools.product(others(), CLIENTS):
        yield name, rrtype, client
    for name, rrtype in defaults():
        yield name, rrtype, PLAIN
        yield name, rrtype, "127.0.3.1"


def others():
    for name in ("games.example.", "x.games.example.", "www.tagged.example.", "none.tagged.example.",
                 "www.files.example.", "none.files.example.", "loose.example.", "x.loose.example.", "print.lan.",
                 "x.print.lan.", "www.own.example.", "none.own.example.", "www.seen.example.", "none.seen.example.",
                 "x.nxdomain.static.example.", "nxdomain.static.example."):
        for rrtype in ("A", "AAAA", "TXT"):
            yield name, rrtype


def defaults():
    for name in ("12.2.0.192.in-addr.arpa.", "13.2.0.192.in-addr.arpa.", "1.0.0.127.in-addr.arpa.",
                 "1.0.0.10.in-addr.arpa.", "1.1.168.192.in-addr.arpa.", "168.192.in-addr.arpa.",
                 "1.16.172.in-addr.arpa.", "1.32.172.in-addr.arpa.", "1.64.100.in-addr.arpa.",
                 "1.0.254.169.in-addr.arpa.", "1.100.51.198.in-addr.arpa.",
                 "2.1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa.",
                 "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.ip6.arpa.", "1.d.f.ip6.arpa."):
        yield name, "PTR"
        yield name, "SOA"
    for name in ("localhost.", "x.localhost.", "test.", "x.test.", "invalid.", "x.invalid.", "onion.", "x.onion.",
                 "home.arpa.", "x.home.arpa."):
        for rrtype in ("A", "AAAA", "SOA", "NS", "TXT"):
            yield name, rrtype


def everything(q, tcp):
    """A server that knows an address and a text for every name."""
    del tcp
    r = dns.message.make_response(q)
    r.flags |= dns.flags.RA
    name, rrtype = q.question[0].name, q.question[0].rdtype
    if rrtype == dns.rdatatype.A:
        r.answer.append(dns.rrset.from_text(name, 300, "IN", "A", "198.51.100.1"))
    elif rrtype == dns.rdatatype.TXT:
        r.answer.append(dns.rrset.from_text(name, 300, "IN", "TXT", "elsewhere"))
    else:
        r.authority.append(dns.rrset.from_text(".", 300, "IN", "SOA", "ns.example. a.example. 1 2 3 4 300"))
    return r


def face(port, name, rrtype, client, address=ADDRESS):
    """What a client sees, as text that can be compared."""
    try:
        r = dns.query.udp(query(name, rrtype, "IN"), address, 1.0, port, source=client, ignore_unexpected=True)
    except dns.exception.Timeout:
        return "nothing"
    # What a cache makes of the records it has is not local data's business.
    if rrtype == "ANY" and not r.flags & dns.flags.AA and not r.rcode():
        return "elsewhere"
    flags = " ".join(f for f in dns.flags.to_text(r.flags).split() if f in ("AA", "TC", "RA", "AD"))

    def sets(section):
        # What comes from elsewhere is older with every second.
        return sorted("%s %s %s" % (s.name.to_text().lower(), dns.rdatatype.to_text(s.rdtype),
                                    " ".join(sorted(rd.to_text() for rd in s)))
                      + ("" if "198.51" in str(s) or "elsewhere" in str(s) or s.name.to_text() == "."
                         else " %d" % s.ttl) for s in section)

    return "%s %s | %s | %s" % (dns.rcode.to_text(r.rcode()), flags, "; ".join(sets(r.answer)),
                                "; ".join(sets(r.authority)))


@contextlib.contextmanager
def unbound(folder, server, views, forwarder):
    program = shutil.which("unbound", path=os.environ.get("PATH", "") + ":/usr/sbin")
    if not program:
        pytest.skip("unbound is not installed")
    port = free_port()
    conf = folder / "unbound.conf"
    conf.write_text("server:\n" + "".join("    %s\n" % line for line in [
        "interface: 127.0.0.1", "port: %d" % port, 'username: ""', 'chroot: ""', 'directory: "%s"' % folder,
        'pidfile: ""', "use-syslog: no", "do-not-query-localhost: no", 'module-config: "iterator"', *server])
        + "remote-control:\n    control-enable: no\n" + views + FORWARD % forwarder, encoding="ascii")
    with open(folder / "log", "wb") as log, \
            subprocess.Popen(["timeout", "300", program, "-d", "-c", conf], stdin=subprocess.DEVNULL,
                             stdout=log, stderr=log) as p:
        deadline = time.monotonic() + 20
        while face(port, "loose.example.", "A", PLAIN) == "nothing":
            assert time.monotonic() < deadline and p.poll() is None, (folder / "log").read_text()
        yield port
        p.terminate()


FORWARD = 'forward-zone:\n    name: "."\n    forward-addr: %s\n'


def ask_both(ports, rows):
    """Two answers for every row; a client waits a second for what is dropped, so many wait at once."""
    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        jobs = [[pool.submit(face, port, *row) for row in rows] for port in ports]
        return [[job.result() for job in of_port] for of_port in jobs]


def test_every_answer_is_unbounds(daemon, tmp_path):
    server, views = lines()
    rows = list(questions())
    with FakeServer(everything) as forwarder, unbound(tmp_path, server, views, forwarder.at) as theirs, \
            daemon(*server, more=views + FORWARD % forwarder.at, hints=False) as d:
        ours, others = ask_both((d.port, theirs), rows)
        wrong = [(row, a, b) for row, a, b in zip(rows, ours, others) if a != b]
    assert not wrong, "%d of %d differ:\n%s" % (len(wrong), len(rows), "\n".join(
        "%s %s (%s)\n   ours: %s\n   its:  %s" % (row[0], row[1], CLIENTS[row[2]], a, b) for row, a, b in wrong[:60]))


# Not of loopback's own: access-control knows that, and goes before.
INTERFACES = {"10.77.21.1": "children", "10.77.22.1": "guests", "10.77.23.1": "own view", "10.77.24.1": "refused",
              "10.77.25.1": "plain"}


@pytest.fixture
def interfaces():
    """Addresses in the namespace the tests live in."""
    ip = shutil.which("ip", path=os.environ.get("PATH", "") + ":/sbin:/usr/sbin")
    if not ip:
        pytest.skip("there is no ip to add addresses with")
    added = []
    try:
        for address in INTERFACES:
            done = subprocess.run([ip, "address", "add", address + "/32", "dev", "lo"], capture_output=True, check=False)
            if done.returncode:
                pytest.skip("no address can be added here: %s" % done.stderr.decode())
            added.append(address)
        yield
    finally:
        for address in added:
            subprocess.run([ip, "address", "del", address + "/32", "dev", "lo"], capture_output=True, check=False)


def test_interfaces_choose_as_unbounds_do(daemon, tmp_path, interfaces):
    del interfaces
    server = [*("interface: %s" % address for address in INTERFACES),
              'define-tag: "kids guests"', 'local-zone: "games.example." static',
              'local-data: "www.games.example. 60 A 192.0.2.1"', 'local-zone-tag: "games.example." "kids guests"',
              'local-data: "loose.example. 60 A 192.0.2.2"', *(
                  "interface-action: %s %s" % (a, "refuse" if why == "refused" else "allow")
                  for a, why in INTERFACES.items()),
              'interface-tag: 10.77.21.1 "kids"', 'interface-tag: 10.77.22.1 "guests"',
              "interface-tag-action: 10.77.22.1 guests redirect", 'interface-tag-data: 10.77.22.1 guests "A 192.0.2.80"',
              "interface-view: 10.77.23.1 own"]
    views = ('view:\n    name: own\n    local-data: "loose.example. 60 A 192.0.2.50"\n'
             '    local-zone: "games.example." refuse\n')
    rows = [(name, rrtype, address, address) for name in ("www.games.example.", "none.games.example.", "loose.example.",
                                                        "elsewhere.example.")
            for rrtype in ("A", "TXT") for address in INTERFACES]
    with FakeServer(everything) as forwarder, \
            daemon(*server, more=views + FORWARD % forwarder.at, hints=False) as d, \
            unbound(tmp_path, server, views, forwarder.at) as its_port:
        ours = [face(d.port, *row) for row in rows]
        theirs = [face(its_port, *row) for row in rows]
    wrong = ["%s %s at %s (%s)\n   ours: %s\n   its:  %s" % (row[0], row[1], row[3], INTERFACES[row[3]], a, b)
             for row, a, b in zip(rows, ours, theirs) if a != b]
    assert not wrong, "\n".join(wrong)
    assert all(any(what in a for a in ours) for what in ("192.0.2.80", "192.0.2.50", "REFUSED")), ours


# Zones that nobody has to write down, by their RFC, and a name in each.
DEFAULTS = {
    "6303": ["1.0.0.0.in-addr.arpa.", "1.0.0.10.in-addr.arpa.", "1.1.16.172.in-addr.arpa.", "1.1.31.172.in-addr.arpa.",
             "1.1.168.192.in-addr.arpa.", "1.1.254.169.in-addr.arpa.", "1.2.0.192.in-addr.arpa.",
             "1.100.51.198.in-addr.arpa.", "1.113.0.203.in-addr.arpa.", "255.255.255.255.in-addr.arpa.",
             "1.d.f.ip6.arpa.", "1.8.e.f.ip6.arpa.", "1.9.e.f.ip6.arpa.", "1.a.e.f.ip6.arpa.", "1.b.e.f.ip6.arpa.",
             "1.8.b.d.0.1.0.0.2.ip6.arpa.", "0." * 32 + "ip6.arpa."],
    "7793": ["1.1.64.100.in-addr.arpa.", "1.1.127.100.in-addr.arpa."],
    "6761": ["www.test.", "www.invalid."],
    "7686": ["www.onion."],
    "8375": ["www.home.arpa."],
    "9462": ["_dns.resolver.arpa."],
}
LAN = ("6303", "7793")
# Beside them: what is somebody's.
NO_DEFAULTS = ["1.1.15.172.in-addr.arpa.", "1.1.32.172.in-addr.arpa.", "1.1.63.100.in-addr.arpa.",
               "1.1.128.100.in-addr.arpa.", "1.167.192.in-addr.arpa.", "1.c.e.f.ip6.arpa.", "www.arpa.",
               "1.1.11.in-addr.arpa.", "testing."]


def test_names_for_special_use_stay_here(daemon):
    with FakeServer(everything) as elsewhere, \
            daemon(more=FORWARD % elsewhere.at, hints=False) as d:
        for names in DEFAULTS.values():
            for name in names:
                assert d.ask(name, "TXT").rcode() in (dns.rcode.NXDOMAIN, dns.rcode.NOERROR), name
        assert [a for a in d.ask("x.localhost.").answer] and d.ask("localhost.", "AAAA").answer
        assert d.ask("1.0.0.127.in-addr.arpa.", "PTR").answer
        assert elsewhere.asked == []
        for name in NO_DEFAULTS:
            assert "elsewhere" in str(d.ask(name, "TXT").answer), name


def test_zones_of_the_lan_are_unblocked(daemon):
    with FakeServer(everything) as elsewhere, \
            daemon("unblock-lan-zones: yes", more=FORWARD % elsewhere.at, hints=False) as d:
        for rfc, names in DEFAULTS.items():
            for name in names:
                assert ("elsewhere" in str(d.ask(name, "TXT").answer)) == (rfc in LAN), name
        # local zones are there already: it would have no effect
        assert "when the file is read again" in d.control("set_option", "unblock-lan-zones:", "no", code=1)
        assert d.control("get_option", "unblock-lan-zones") == "yes\n"


def test_zones_of_the_lan_are_not_validated(daemon):
    """insecure-lan-zones: nothing is proven of them, as list_insecure shows, and with unblock-lan-zones they are
    answered from elsewhere though an anchor stands above."""
    anchor = ('trust-anchor: ". DS 20326 8 2 e06d44b80b8f1d39a95c0b0d7c65d08458e880409bbc683457104237c7f8ec8d"',
              "unblock-lan-zones: yes", "trust-anchor-signaling: no")
    with FakeServer(everything) as elsewhere:
        with daemon(*anchor, more=FORWARD % elsewhere.at, hints=False, module="validator iterator") as d:
            assert d.ask("1.1.168.192.in-addr.arpa.", "TXT").rcode() == dns.rcode.SERVFAIL
        with daemon(*anchor, "insecure-lan-zones: yes", more=FORWARD % elsewhere.at, hints=False,
                    module="validator iterator") as d:
            assert "elsewhere" in str(d.ask("1.1.168.192.in-addr.arpa.", "TXT").answer)
            insecure = d.control("list_insecure").split()
            assert {"168.192.in-addr.arpa.", "31.172.in-addr.arpa.", "127.100.in-addr.arpa.", "d.f.ip6.arpa."} <= set(insecure)
            assert d.ask("www.example.com.", "TXT").rcode() == dns.rcode.SERVFAIL


def test_local_actions_are_logged(daemon):
    lines_ = ("local-zone: quiet.example. always_nxdomain", "local-zone: loud.example. inform_deny")
    with daemon(*lines_, hints=False) as d:
        assert d.ask("www.quiet.example.").rcode() == dns.rcode.NXDOMAIN
        d.send(query("www.loud.example.", "A", "IN").to_wire(), timeout=0.3)
        assert "quiet.example" not in d.log()
        assert "loud.example. inform_deny 127.0.0.1@" in d.log() and "www.loud.example. A IN" in d.log()
        assert d.control("set_option", "log-local-actions:", "yes") == "ok\n"
        d.ask("www.quiet.example.")
        assert "quiet.example. always_nxdomain 127.0.0.1@" in d.log()


def test_loops_of_aliases_end(daemon):
    data = ['local-data: "a.example. CNAME b.example."', 'local-data: "b.example. CNAME a.example."',
            'local-data: "self.example. CNAME self.example."', 'local-zone: "wild.example." redirect',
            'local-data: "wild.example. CNAME *.wild.example."']
    data += ['local-data: "c%d.example. CNAME c%d.example."' % (i, i + 1) for i in range(100)]
    with daemon(*data, hints=False) as d:
        for name in ("a.example.", "self.example.", "c0.example."):
            assert d.ask(name).rcode() == dns.rcode.SERVFAIL, name
            assert d.ask(name, "CNAME").rcode() == dns.rcode.NOERROR, name
    with FakeServer(everything) as elsewhere, daemon(*data, more=FORWARD % elsewhere.at, hints=False) as d:
        assert d.ask("x.wild.example.").answer  # its own tail leads out
