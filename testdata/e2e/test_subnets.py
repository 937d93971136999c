"""Client subnets (RFC 7871), the same claims at Debian's unbound where it is built with them.

SPDX-License-Identifier: BSD-3-Clause
"""

import os
import subprocess

import dns.edns
import dns.message
import dns.rrset
import pytest

from lab import FakeServer, fixed, rcode, texts
from test_counters import Server, find


class Near(FakeServer):
    """Answers with what it was told of the client, for a /16; names with "deaf" are the same everywhere."""

    def __init__(self):
        super().__init__(self.act)
        self.told = []

    def kinds(self):
        """Different questions: the same may come twice on a busy machine."""
        return len({repr(t) for t in self.told})

    def act(self, q, tcp):
        name = q.question[0].name.to_text()
        r = fixed("192.0.2.1")(q, tcp)
        where = [o for o in q.options if o.otype == 8]
        self.told.append((name, [(o.address, o.srclen) for o in where]))
        if where and "deaf" not in name and r.answer:
            r.answer = [dns.rrset.from_text(name, 300, "IN", "A", ".".join(where[0].address.split(".")[:2] + ["0", "1"]))]
            r.use_edns(0, payload=1232,
                       options=[dns.edns.ECSOption(where[0].address, where[0].srclen, min(16, where[0].srclen))])
        return r


@pytest.fixture(scope="module", params=["resolverd", "unbound"])
def near(request, bin_dir, net, tmp_path_factory):
    program = os.path.join(bin_dir, "resolverd") if request.param == "resolverd" else find("unbound")
    if request.param == "unbound" and "subnetcache" not in subprocess.run(
            [program, "-V"], capture_output=True, text=True, check=False).stdout:
        pytest.skip("this unbound knows no client subnets")
    with Near() as up, Server(
            program, tmp_path_factory.mktemp(request.param), net,
            ["extended-statistics: yes", "statistics-inhibit-zero: no", "qname-minimisation: no",
             'client-subnet-zone: "near.lab"', "min-client-subnet-ipv4: 8", "access-control: 127.0.0.0/8 allow"],
            "forward-zone:\n    name: lab.\n    forward-addr: %s\n" % up.at,
            modules="subnetcache validator iterator") as s:
        s.upstream = up
        yield s


def echo(message):
    return [(o.address, o.srclen, o.scopelen) for o in message.options if o.otype == 8]


def told(address, bits):
    return {"options": [dns.edns.ECSOption(address, bits)], "edns": 0}


ROWS = [  # why, name, source, what is told, answer, echo, questions that this makes
    ("where it comes from", "a", "127.1.0.5", None, "127.1.0.1", [], 1),
    ("the same network", "a", "127.1.200.5", None, "127.1.0.1", [], 0),
    ("another one", "a", "127.2.0.5", None, "127.2.0.1", [], 1),
    ("where it says", "a", "127.1.0.5", ("10.9.7.5", 32), "10.9.0.1", [("10.9.7.5", 32, 16)], 1),
    ("and another there", "a", "127.2.0.5", ("10.9.99.0", 24), "10.9.0.1", [("10.9.99.0", 24, 16)], 0),
    ("nothing at all", "b", "127.1.0.5", ("0.0.0.0", 0), "192.0.2.1", [("0.0.0.0", 0, 0)], 1),
    ("which is for no others", "b", "127.1.0.5", None, "127.1.0.1", [], 1),
    ("a server that makes nothing of it", "deaf", "127.1.0.5", ("10.9.7.0", 24), "192.0.2.1", [], None),
    ("is the same for all", "deaf", "127.2.0.5", ("10.8.7.0", 24), "192.0.2.1", [], 0),
]


def test_an_answer_is_for_the_clients_of_its_subnet(near):
    before = near.stats()
    for why, name, source, option, answer, echoed, cost in ROWS:
        asked = near.upstream.kinds()
        r = near.ask(name + ".near.lab.", source=source, **(told(*option) if option else {}))
        assert (texts(r), echo(r)) == ([answer], echoed), why
        if cost is not None:
            assert near.upstream.kinds() - asked == cost, why
    assert max(bits for _, where in near.upstream.told for _, bits in where) == 24
    if not near.is_unbound:
        after = near.stats()
        assert after["num.query.subnet"] - before["num.query.subnet"] == 5
        assert after["num.query.subnet_cache"] - before["num.query.subnet_cache"] == 2
        assert after["mem.mod.subnet"] > 0


def test_who_is_not_listed_is_told_nothing(near):
    r = near.ask("www.far.lab.", source="127.1.0.5", **told("10.9.7.0", 24))
    assert texts(r) == ["192.0.2.1"]
    assert [where for name, where in near.upstream.told if name == "www.far.lab."] == [[]]


@pytest.mark.parametrize("data, want", [
    (b"\0\1\x18\0\x0a\1", "FORMERR"), (b"\0\1\x10\0\x0a\1\2", "FORMERR"), (b"\0\1\x21\0\x0a\1\2\3\4", "FORMERR"),
    (b"\0\1\7\0\x0a", "REFUSED")])
def test_what_is_wrong_is_an_error(near, data, want):
    r = near.ask("a.near.lab.", options=[dns.edns.GenericOption(8, data)], edns=0)
    assert rcode(r) == want


def test_commands_know_what_is_for_a_subnet(near):
    if near.is_unbound:
        pytest.skip("1.17 knows no cache_lookup, and its flush leaves them")
    near.ask("c.near.lab.", source="127.1.0.5")
    shown = near.control("cache_lookup c.near.lab.")
    assert "subnet 127.1.0.0/16 c.near.lab. IN A " in shown and "\nsubnet msg c.near.lab. IN A " in shown
    assert "c.near.lab." not in near.control("dump_cache")
    for command in ("flush c.near.lab.", "flush_type c.near.lab. A", "flush_zone near.lab."):
        asked = near.upstream.count("c.near.lab.")
        assert near.control(command).startswith("ok")
        near.ask("c.near.lab.", source="127.1.0.5")
        assert near.upstream.count("c.near.lab.") > asked, command
