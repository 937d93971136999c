"""Sets of the packet filter (ipset, nftables): the addresses of the names that were asked are in them, in time.

SPDX-License-Identifier: BSD-3-Clause
"""

import contextlib
import json
import subprocess

import dns.message
import dns.rdatatype
import dns.rrset
import pytest

from lab import FakeServer, is_root, until

FORWARD = 'forward-zone:\n    name: "."\n    forward-addr: %s\n'
ZONES = ['local-zone: "set.example." ipset', 'local-zone: "not.set.example." transparent']
ADDRESSES = {"www.set.example.": "198.51.100.1", "x.www.set.example.": "198.51.100.2", "not.set.example.": "198.51.100.3",
             "else.example.": "198.51.100.4", "cdn.example.": "198.51.100.5", "y.set.example.": "198.51.100.6"}
ALIASES = {"alias.set.example.": "cdn.example.", "alias.example.": "y.set.example."}


def elsewhere(q, tcp):
    """An address of each family for the names above, and aliases."""
    del tcp
    r = dns.message.make_response(q)
    r.flags |= dns.flags.RA
    name, rrtype = q.question[0].name.to_text().lower(), q.question[0].rdtype
    if name in ALIASES:
        r.answer.append(dns.rrset.from_text(name, 300, "IN", "CNAME", ALIASES[name]))
        name = ALIASES[name]
    if name in ADDRESSES and rrtype == dns.rdatatype.A:
        r.answer.append(dns.rrset.from_text(name, 300, "IN", "A", ADDRESSES[name]))
    elif name in ADDRESSES and rrtype == dns.rdatatype.HTTPS:
        hints = "1 . alpn=h2 ipv4hint=%s,203.0.113.9 ipv6hint=%s" % (ADDRESSES[name], six(ADDRESSES[name]))
        r.answer.append(dns.rrset.from_text(name, 300, "IN", "HTTPS", hints))
    elif name in ADDRESSES and rrtype == dns.rdatatype.AAAA:
        r.answer.append(dns.rrset.from_text(name, 300, "IN", "AAAA", six(ADDRESSES[name])))
    else:
        r.authority.append(dns.rrset.from_text(".", 300, "IN", "SOA", "ns.example. a.example. 1 2 3 4 300"))
    return r


def six(address):
    return "2001:db8::" + address.rpartition(".")[2]


def run(*command, text=None):
    p = subprocess.run(command, input=text, text=True, capture_output=True, timeout=20, check=False)
    assert p.returncode == 0, "%s: %s" % (" ".join(command), p.stderr)
    return p.stdout


class Nft:
    """Two sets of a table of nftables."""

    names = ("inet lab four", "inet lab six")

    def __init__(self, flags=""):
        self.flags = flags

    def make(self):
        for name, kind in zip(self.names, ("ipv4_addr", "ipv6_addr")):
            run("nft", "-f", "-", text="add table inet lab\nadd set %s { type %s; %s }\n" % (name, kind, self.flags))

    def elements(self):
        out = set()
        for name in self.names:
            for row in json.loads(run("nft", "-j", "list", "set", *name.split()))["nftables"]:
                out |= {str(e["elem"]["val"] if isinstance(e, dict) and "elem" in e else e) for e in row.get("set", {}).get("elem", [])}
        return out

    def expires_s(self):
        """The seconds that the one IPv4 address has left."""
        rows = json.loads(run("nft", "-j", "list", "set", *self.names[0].split()))["nftables"]
        return next(r["set"]["elem"][0]["elem"]["expires"] for r in rows if "set" in r)

    def remove(self):
        subprocess.run(["nft", "delete", "table", "inet", "lab"], capture_output=True, check=False)


class Ipset:
    names = ("lab4", "lab6")

    def __init__(self, more=()):
        self.more = more

    def make(self):
        run("ipset", "create", "lab4", "hash:ip", *self.more)
        run("ipset", "create", "lab6", "hash:ip", "family", "inet6", *self.more)

    def elements(self):
        out = set()
        for name in self.names:
            members = run("ipset", "list", name).partition("Members:\n")[2].splitlines()
            out |= {line.split()[0] for line in members if line}
        return out

    def expires_s(self):
        return int(run("ipset", "list", "lab4").rstrip().rpartition("timeout ")[2])

    def remove(self):
        for name in self.names:
            subprocess.run(["ipset", "destroy", name], capture_output=True, check=False)


@contextlib.contextmanager
def having(sets):
    sets.remove()
    try:
        try:
            sets.make()
        except AssertionError as e:
            pytest.skip("this kernel has no such sets: %s" % e)
        yield sets
    finally:
        sets.remove()


@contextlib.contextmanager
def filling(daemon, sets, *server):
    with FakeServer(elsewhere) as far:
        clause = "".join('    name-v%d: "%s"\n' % (n, name) for n, name in zip((4, 6), sets.names))
        with daemon(*ZONES, *server, hints=False, module="ipset iterator",
                    more=FORWARD % far.at + "ipset:\n" + clause) as d:
            yield d


EVERY = [Nft(), Nft("flags interval;"), Nft("flags timeout; timeout 1h;"), Nft("flags interval, timeout; timeout 1h;"), Ipset(),
         Ipset(("timeout", "3600"))]


@pytest.mark.parametrize("sets", EVERY, ids=["nft", "nft-ranges", "nft-timeouts", "nft-both", "ipset", "ipset-timeouts"])
def test_an_address_is_in_its_set_when_the_answer_comes(daemon, sets):
    with having(sets), filling(daemon, sets) as d:
        want = set()
        for name, more in [("else.example.", None), ("not.set.example.", None), ("cdn.example.", None), ("none.set.example.", None),
                           ("www.set.example.", "www.set.example."), ("x.www.set.example.", "x.www.set.example."),
                           ("alias.set.example.", "cdn.example."), ("alias.example.", "y.set.example.")]:
            for rrtype in ("A", "AAAA"):
                d.ask(name, rrtype)
            want |= {ADDRESSES[more], six(ADDRESSES[more])} if more else set()
            assert sets.elements() == want, name
        assert "ipset" not in d.log()


@pytest.mark.parametrize("name, told", [("www.set.example.", "www.set.example."), ("alias.set.example.", "cdn.example."),
                                        ("alias.example.", "y.set.example."), ("else.example.", None)])
def test_hints_of_services_are_addresses_too(daemon, name, told):
    with having(Nft()) as sets, filling(daemon, sets) as d:
        for _ in range(2):
            d.ask(name, "HTTPS")
            assert sets.elements() == ({ADDRESSES[told], six(ADDRESSES[told]), "203.0.113.9"} if told else set())


@pytest.mark.parametrize("sets", [Nft("flags timeout; timeout 1h;"), Ipset(("timeout", "3600"))], ids=["nft", "ipset"])
def test_an_answer_from_the_cache_renews_the_time_of_its_addresses(daemon, sets):
    with having(sets), filling(daemon, sets) as d:
        d.ask("www.set.example.")
        until(lambda: sets.expires_s() < 3598)
        with d.misses(0):
            d.ask("www.set.example.")
        assert sets.expires_s() >= 3598


def test_an_address_that_a_range_of_the_set_has_is_left_to_it(daemon):
    sets = Nft("flags interval;")
    with having(sets), filling(daemon, sets) as d:
        run("nft", "add", "element", *sets.names[0].split(), "{ 198.51.100.0/24 }")
        assert d.ask("www.set.example.").answer
        assert "ipset" not in d.log()


@pytest.mark.parametrize("sets", [Nft(), Ipset()], ids=["nft", "ipset"])
def test_a_set_that_is_missing_is_told_and_filled_once_it_is_there(daemon, sets):
    with having(sets), filling(daemon, sets) as d:
        sets.remove()
        assert d.ask("www.set.example.").answer
        assert "198.51.100.1 cannot be added to '%s': there is no such" % sets.names[0] in d.log()
        sets.make()
        d.ask("www.set.example.")
        assert sets.elements() == {"198.51.100.1"}


def test_a_set_of_the_other_family_is_told(daemon):
    sets = Nft()
    with having(sets):
        sets.names = sets.names[::-1]
        with filling(daemon, sets) as d:
            assert d.ask("www.set.example.").answer
            assert "the set is not one of addresses of this family" in d.log()


def test_local_data_counts_and_zones_come_at_run_time(daemon):
    sets = Nft()
    with having(sets), filling(daemon, sets, 'local-data: "here.set.example. A 192.0.2.1"') as d:
        d.ask("here.set.example.")
        assert sets.elements() == {"192.0.2.1"}
        d.control("local_zone", "else.example", "ipset")
        d.ask("else.example.")
        assert sets.elements() == {"192.0.2.1", "198.51.100.4"}


@pytest.mark.skipif(not is_root(), reason="only root can become somebody else")
def test_who_gives_up_root_keeps_the_right_to_it(daemon):
    sets = Nft()
    with having(sets), filling(daemon, sets, "username: nobody") as d:
        d.ask("www.set.example.")
        assert sets.elements() == {"198.51.100.1"}


def test_without_the_module_zones_are_transparent_and_it_is_told(daemon):
    with FakeServer(elsewhere) as far, daemon(*ZONES, hints=False, more=FORWARD % far.at) as d:
        assert "a zone of type ipset is like a transparent one here" in d.log()
        assert "198.51.100.1" in str(d.ask("www.set.example.").answer)


def test_another_set_takes_a_restart_and_a_reload_says_so(daemon):
    sets = Nft()
    with having(sets), filling(daemon, sets) as d:
        with open(d.conf, encoding="utf-8") as f:
            text = f.read()
        with open(d.conf, "w", encoding="utf-8") as f:
            f.write(text.replace("inet lab four", "inet lab other"))
        d.control("reload")
        assert "changes that need a restart: name-v4" in d.log()
        d.ask("www.set.example.")
        assert sets.elements() == {"198.51.100.1"}
