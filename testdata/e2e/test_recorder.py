"""The questions that are remembered (query-ring), and what comes most often (top-lists).

SPDX-License-Identifier: BSD-3-Clause
"""

import json
import re
import time

import dns.flags
import pytest

from lab import FakeServer, fixed, query, refusing

LINE = re.compile(r"(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) (?P<client>\S+) (?P<way>udp|tcp|tls|https) "
                  r"(?P<name>\S+) (?P<type>\S+) (?P<rcode>\S+) (?P<how>[a-z]+) (?P<took>\d+\.\d{3}) ms(?: (?P<detail>.*))?")


def rows(d, *wishes):
    out = d.control("list_queries", *wishes)
    found = [LINE.fullmatch(line) for line in out.splitlines()]
    assert all(found), out
    return [m.groupdict() for m in found]


def row_of(d, name, rrtype="A"):
    """The newest of that name."""
    return [r for r in rows(d, "name", name) if r["type"] == rrtype and r["name"] == name][-1]


RPZ = """rpz:
    name: policy.zone
    zonefile: "%s"
"""


@pytest.fixture(scope="module")
def d(daemon, tmp_path_factory):
    """Everything that can decide a question without asking, and a forwarder for the rest."""
    folder = tmp_path_factory.mktemp("recorder")
    (folder / "ads").write_text("||ads.example^\n")
    (folder / "rpz").write_text("$TTL 60\n@ SOA a. b. 1 2 3 4 5\n@ NS a.\nbad.example CNAME .\nodd.example A 192.0.2.77\n")
    (folder / "zone").write_text("$TTL 60\n@ SOA a. b. 1 2 3 4 5\n@ NS a.\nwww A 192.0.2.78\n")
    with FakeServer(fixed("192.0.2.1")) as server, FakeServer(refusing()) as refuser, daemon(
            "num-threads: 2", "query-ring: 1000", "top-lists: 50", "access-control: 127.99.0.0/16 refuse",
            "local-zone: here. static", 'local-data: "a.here. A 192.0.2.9"', "local-zone: gone. always_nxdomain",
            "local-zone: silent. deny", 'local-data: "null.example. A 0.0.0.0"',
            "response-ip: 192.0.2.66/32 always_nxdomain",
            more='forward-zone:\n    name: .\n    forward-addr: %s\n'
                 'forward-zone:\n    name: broken.example\n    forward-addr: %s\n'
                 'blocklist:\n    name: ads\n    file: "%s/ads"\n'
                 'auth-zone:\n    name: held.example\n    zonefile: "%s/zone"\n    for-downstream: yes\n'
                 % (server.at, refuser.at, folder, folder) + RPZ % (folder / "rpz")) as it:
        it.upstream = server
        yield it


WAYS = [
    # name, type, what is asked with, rcode, how, what is said of it
    ("fresh.example.", "A", {}, "NOERROR", "resolved", r"from 127\.0\.0\.1.*"),
    ("fresh.example.", "A", {}, "NOERROR", "cached", None),
    ("stream.example.", "AAAA", {"tcp": True}, "NOERROR", "resolved", r"from 127\.0\.0\.1.*"),
    ("a.here.", "A", {}, "NOERROR", "local", r"local-zone here\. static"),
    ("none.here.", "A", {}, "NXDOMAIN", "local", r"local-zone here\. static"),
    ("x.gone.", "A", {}, "NXDOMAIN", "blocked", r"local-zone gone\. always_nxdomain"),
    ("null.example.", "A", {}, "NOERROR", "blocked", r"local-zone null\.example\. transparent"),
    ("www.ads.example.", "A", {}, "NXDOMAIN", "blocked", r"blocklist ads"),
    ("bad.example.", "A", {}, "NXDOMAIN", "blocked", r"rpz policy\.zone\. nxdomain by bad\.example\."),
    ("odd.example.", "A", {}, "NOERROR", "local", r"rpz policy\.zone\. local-data by odd\.example\."),
    ("www.held.example.", "A", {}, "NOERROR", "local", r"auth-zone held\.example\."),
    ("x.broken.example.", "A", {}, "SERVFAIL", "resolved", r"no reachable authority: .*"),
    ("id.server.", "TXT", {"rrclass": "CH"}, "NOERROR", "local", None),
    ("turned.example.", "A", {"source": "127.99.0.1"}, "REFUSED", "refused", None),
]


@pytest.mark.parametrize("name, rrtype, how, rcode, word, detail", WAYS, ids=["%s-%s" % (w[0], w[4]) for w in WAYS])
def test_each_way_of_an_answer_is_told(d, name, rrtype, how, rcode, word, detail):
    d.ask(name, rrtype, **how)
    row = row_of(d, name, rrtype)
    assert (row["rcode"], row["how"]) == (rcode, word), row
    assert re.fullmatch(detail, row["detail"] or "") if detail else row["detail"] is None, row
    assert row["way"] == ("tcp" if how.get("tcp") else "udp")
    assert row["client"] == how.get("source", "127.0.0.1")
    assert (float(row["took"]) > 0) == (word == "resolved")


def test_who_hears_nothing_is_told_of(d):
    d.send(query("x.silent.").to_wire(), timeout=0.2)
    row = row_of(d, "x.silent.")
    assert (row["rcode"], row["how"], row["detail"]) == ("-", "blocked", "local-zone silent. deny")


def test_the_newest_and_what_is_wished_for(d):
    for i in range(5):
        d.ask("n%d.wish.example." % i)
    d.ask("one.ads.example.", source="127.0.0.7")
    d.ask("two.ads.example.")
    assert [r["name"] for r in rows(d, "3", "name", "wish.example")] == ["n%d.wish.example." % i for i in (2, 3, 4)]
    assert [r["name"] for r in rows(d, "2", "blocked")] == ["one.ads.example.", "two.ads.example."]
    assert [r["name"] for r in rows(d, "blocked", "client", "127.0.0.7")] == ["one.ads.example."]
    assert {r["client"] for r in rows(d, "client", "127.0.0.4/30")} == {"127.0.0.7"}
    assert {r["name"] for r in rows(d, "failed")} >= {"x.broken.example."}
    times = [r["time"] for r in rows(d)]
    assert times == sorted(times)
    for wrong in (["0"], ["x"], ["client"], ["client", "x"], ["name", "a..b"]):
        assert d.control("list_queries", *wrong, code=1).startswith("error"), wrong


def test_as_json(d):
    d.ask("json.ads.example.")
    it = json.loads(d.control("--json", "list_queries", "1", "name", "json.ads.example"))
    assert it["ok"] and len(it["data"]) == 1
    row = it["data"][0]
    assert row["name"] == "json.ads.example." and row["how"] == "blocked" and row["detail"] == "blocklist ads"
    assert row["took_ms"] == 0 and row["client"] == "127.0.0.1"
    d.control("top", "clear")
    d.ask("json.ads.example.")
    assert json.loads(d.control("--json", "top", "blocked"))["data"] == [{"count": 1, "name": "json.ads.example."}]


def tops(d, *arguments):
    return [tuple(line.split()[:2]) for line in d.control("top", *arguments).splitlines()]


def test_what_comes_most_often(d):
    d.control("top", "clear")
    for i in range(1, 5):
        for _ in range(i):
            d.ask("T%d.top.example." % i, source="127.0.0.%d" % (i + 1))
            d.ask("t%d.ads.example." % i)
    assert tops(d, "names", "3") == [("4", "t4.ads.example."), ("4", "t4.top.example."), ("3", "t3.ads.example.")]
    assert tops(d, "blocked") == [(str(i), "t%d.ads.example." % i) for i in (4, 3, 2, 1)]
    assert tops(d, "clients") == [("10", "127.0.0.1"), ("4", "127.0.0.5"), ("3", "127.0.0.4"), ("2", "127.0.0.3"),
                                  ("1", "127.0.0.2")]
    d.control("top", "clear")
    assert tops(d, "names") == []
    for wrong in ([], ["nonsense"], ["names", "x"]):
        assert d.control("top", *wrong, code=1).startswith("error"), wrong


def test_memory_is_fixed_and_the_frequent_stay(daemon):
    with daemon("num-threads: 1", "query-ring: 50", "top-lists: 20", "local-zone: here. redirect",
                'local-data: "here. A 192.0.2.1"') as d:
        for i in range(300):
            d.ask("n%d.here." % i)
            if i % 5 == 0:
                d.ask("often.here.")
        assert 50 <= len(rows(d, "1000")) < 120
        assert rows(d)[-1]["name"] == "n299.here."
        assert tops(d, "names", "1") == [("60", "often.here.")]
        assert len(tops(d, "names", "100")) == 20


def test_privacy_is_kept_and_looks_back(daemon):
    rules = ["num-threads: 1", "query-ring: 100", "top-lists: 20"]
    with daemon(*rules) as d:
        d.ask("id.server.", "TXT", "CH", source="127.1.2.3")
        assert row_of(d, "id.server.", "TXT")["client"] == "127.1.2.3"
        d.configure([*rules, "client-privacy: network"])
        d.control("reload")
        assert rows(d) == [] and tops(d, "clients") == []
        d.ask("id.server.", "TXT", "CH", source="127.1.2.3")
        assert row_of(d, "id.server.", "TXT")["client"] == "127.1.2.0"
        assert tops(d, "clients") == [("1", "127.1.2.0")]
        d.configure([*rules, "client-privacy: hide"])
        d.control("reload")
        d.ask("id.server.", "TXT", "CH", source="127.1.2.3")
        assert row_of(d, "id.server.", "TXT")["client"] == "-"
        assert d.control("top", "clients", code=1).startswith("error")
        # a reload that changes nothing of it forgets nothing
        d.control("reload")
        assert len(rows(d)) == 1
        d.configure()
        d.control("reload")
        for command in (["list_queries"], ["top", "names"]):
            assert "see the option" in d.control(*command, code=1)


def test_why_names_what_decides_it(d):
    for name, said in (("a.here.", "decided by local-zone here. static"), ("x.gone.", "local-zone gone. always_nxdomain"),
                       ("www.ads.example.", "blocked by blocklist ads"),
                       ("bad.example.", "rpz policy.zone. nxdomain by bad.example."),
                       ("www.held.example.", "answered from auth-zone held.example.")):
        assert said in d.control("why", name), name
    before = len(rows(d, "1000"))
    d.control("why", "a.here.")
    assert len(rows(d, "1000")) == before


def test_why_tells_of_answers_that_are_changed(daemon):
    with FakeServer(fixed("192.0.2.66")) as server, daemon(
            "response-ip: 192.0.2.66/32 always_nxdomain",
            more="forward-zone:\n    name: .\n    forward-addr: %s\n" % server.at) as d:
        for _ in range(2):  # fresh, then cached
            said = d.control("why", "www.example")
            assert "response-ip 192.0.2.66/32 always_nxdomain" in said and "answer: NXDOMAIN" in said


def test_refreshes_after_expiry_are_told(daemon):
    with FakeServer(fixed("192.0.2.1", ttl_s=1)) as server, daemon(
            "query-ring: 100", "num-threads: 1", "serve-expired: yes", "serve-expired-client-timeout: 0",
            more="forward-zone:\n    name: .\n    forward-addr: %s\n" % server.at) as d:
        d.ask("short.example.")
        time.sleep(2.1)
        d.ask("short.example.", flags=dns.flags.RD)
        row = row_of(d, "short.example.")
        assert (row["rcode"], row["how"], row["detail"]) == ("NOERROR", "expired", "serve-expired")
