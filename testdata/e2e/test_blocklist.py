"""Blocklists: files, URLs, every action, aliases, who they are for, and the commands about them.

SPDX-License-Identifier: BSD-3-Clause
"""

import contextlib
import http.server
import os
import shutil
import socket
import ssl
import subprocess
import threading
import time

import dns.edns
import dns.message
import dns.rrset
import pytest

from lab import ADDRESS, FakeServer, fixed, free_port, query, rcode, texts, until


def ede(message):
    return [(int(o.code), o.text or "") for o in message.options if isinstance(o, dns.edns.EDEOption)]


class Web:
    """A web server on loopback; `pages` maps a path to bytes, to (status, bytes), or to a function of the request."""

    def __init__(self, tls=None, address=ADDRESS):
        self.pages = {}
        self.address = address
        self.asked = []
        web = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                web.asked.append((self.path, self.headers.get("If-None-Match")))
                page = web.pages.get(self.path, (404, b"<html>not here</html>"))
                if callable(page):
                    page(self)
                    return
                status, body = page if isinstance(page, tuple) else (200, page)
                mark = '"%08x"' % (hash(body) & 0xffffffff)
                if status == 200 and self.headers.get("If-None-Match") == mark:
                    status, body = 304, b""
                self.send_response(status)
                self.send_header("ETag", mark)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.port = free_port(address)
        self.server = http.server.ThreadingHTTPServer((address, self.port), Handler)
        self.server.daemon_threads = True
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)

    def url(self, path, scheme="http"):
        return "%s://%s:%d%s" % (scheme, self.address, self.port, path)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def upstream():
    with FakeServer(fixed("192.0.2.1")) as server:
        yield server


@pytest.fixture
def make(daemon, upstream, tmp_path, monkeypatch):
    """A maker of daemons that forward to `upstream`, with lists of their own."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)

    def maker(*lists, server=(), more=""):
        clauses = "forward-zone:\n    name: .\n    forward-addr: %s\n" % upstream.at
        for lines in lists:
            clauses += "blocklist:\n" + "".join("    %s\n" % line for line in lines)
        return daemon("ede: yes", "extended-statistics: yes", 'blocklist-directory: "%s/copies"' % tmp_path, *server,
                      more=clauses + more)
    return maker


@pytest.fixture
def write(tmp_path):
    def writer(name, text):
        path = tmp_path / name
        new = tmp_path / (name + ".tmp")
        new.write_bytes(text if isinstance(text, bytes) else text.encode())
        os.replace(new, path)
        return str(path)
    return writer


def blocked(d, name, rrtype="A"):
    return rcode(d.ask(name, rrtype)) == "NXDOMAIN"


# ---- what blocked names are answered with ----

ACTIONS = [
    ("nxdomain", "NXDOMAIN", [], []),
    ("nodata", "NOERROR", [], []),
    ("null", "NOERROR", ["0.0.0.0"], ["::"]),
    ("refuse", "REFUSED", [], []),
    ("address 192.0.2.77", "NOERROR", ["192.0.2.77"], []),
    ("address 192.0.2.77 2001:db8::77", "NOERROR", ["192.0.2.77"], ["2001:db8::77"]),
]


def test_every_action_answers_in_its_way(make, write):
    lists = []
    for i, (action, *_) in enumerate(ACTIONS):
        path = write("list%d.txt" % i, "||a%d.example^\n" % i)
        lists.append(["name: l%d" % i, 'file: "%s"' % path, "action: %s" % action,
                      "ede: %s" % ["blocked", "censored", "filtered", "none"][i % 4]])
    lists.append(["name: silent", 'file: "%s"' % write("silent.txt", "silent.example\n"), "action: drop"])
    with make(*lists) as d:
        for i, (action, code, a, aaaa) in enumerate(ACTIONS):
            for tcp in (False, True):
                r = d.ask("www.a%d.example." % i, edns=0, tcp=tcp)
                assert (rcode(r), texts(r)) == (code, a), action
                assert ede(r) == [[(15, "by the list l%d" % i)], [(16, "by the list l%d" % i)],
                                  [(17, "by the list l%d" % i)], []][i % 4]
            r = d.ask("a%d.example." % i, "AAAA")
            assert (rcode(r), texts(r, "AAAA")) == (code, aaaa), action
            assert texts(d.ask("a%d.example." % i, "TXT"), "TXT") == []
        assert d.send(query("silent.example.").to_wire(), timeout=0.5) is None
        assert texts(d.ask("www.silent.example.")) == ["192.0.2.1"]
        assert texts(d.ask("other.example.")) == ["192.0.2.1"]


def test_lists_in_every_format_at_once(make, write):
    write("hosts.list", "127.0.0.1 localhost\n0.0.0.0 hosts.example www.hosts.example\n")
    write("names.list", "plain.example # a name\n*.wild.example\n\xfcml.example\nb\u00fccher.example\n")
    write("adblock.list", "[Adblock Plus]\n||ad.example^\n@@||good.ad.example^\n||imp.example^$important\n"
                          "@@||imp.example^\n||no.example^$third-party\nexample.com##.banner\n")
    write("dnsmasq.list", "address=/mask.example/#\nserver=/open.mask.example/#\n")
    write("unbound.list", 'server:\nlocal-zone: "unbound.example" always_nxdomain\n')
    write("zone.list", "$TTL 60\n@ SOA a. b. 1 2 3 4 5\n@ NS a.\nrpz.example CNAME .\n*.rpz.example CNAME .\n"
                       "pass.rpz.example CNAME rpz-passthru.\n")
    folder = os.path.dirname(write("allow.txt", "||allowed.ad.example^\n"))
    want = {"hosts.example.": True, "www.hosts.example.": True, "ftp.hosts.example.": False, "plain.example.": True,
            "a.wild.example.": True, "wild.example.": True, "xn--bcher-kva.example.": True, "x.ad.example.": True,
            "good.ad.example.": False, "a.allowed.ad.example.": False, "imp.example.": True, "no.example.": False,
            "example.com.": False, "mask.example.": True, "open.mask.example.": False, "a.unbound.example.": True,
            "rpz.example.": True, "a.rpz.example.": True, "pass.rpz.example.": False, "localhost.": False}
    with make(["name: all", 'file: "%s/*.list"' % folder, 'allow-file: "%s/allow.txt"' % folder]) as d:
        assert {name: blocked(d, name) for name in want} == want
        status = d.control("blocklist_status")
        assert "ignored: 1 cosmetic rules" in status
        assert "ignored: 1 rules with modifiers for browsers only" in status


def test_an_alias_to_a_blocked_name_is_blocked_cached_or_not(make, write, upstream):
    def answer(q, tcp):
        name = q.question[0].name
        r = dns.message.make_response(q, recursion_available=True)
        target = "t.tracker.example." if str(name).startswith(("cloak", "free")) else None
        if target:
            r.answer.append(dns.rrset.from_text(name, 300, "IN", "CNAME", target))
        r.answer.append(dns.rrset.from_text(target or name, 300, "IN", "A", "192.0.2.5"))
        return r

    upstream.answer = answer
    path = write("list.txt", "||other.example^\n")
    with make(["name: ads", 'file: "%s"' % path]) as d:
        assert texts(d.ask("cloak.example.")) == ["192.0.2.5"]  # in the cache now
        write("list.txt", "||tracker.example^\n@@||free.example^\n")
        d.control("blocklist_reload")
        until(lambda: blocked(d, "cloak.example."))          # from the cache
        for name in ("cloak2.example.", "cloak2.example."):     # fresh, and again
            r = d.ask(name, edns=0)
            assert rcode(r) == "NXDOMAIN" and ede(r) == [(15, "by the list ads")]
        assert texts(d.ask("free.example.")) == ["192.0.2.5"]   # what was asked for is allowed
        assert texts(d.ask("plain.example.")) == ["192.0.2.5"]
        d.control("blocklist_pause", "100")
        assert texts(d.ask("cloak.example.")) == ["192.0.2.5"]
        d.control("blocklist_resume")
        assert blocked(d, "cloak.example.")


# ---- for whom ----

def test_lists_are_for_tags_and_views(make, write):
    server = ['define-tag: "kids"', "access-control: 127.0.0.0/8 allow", 'access-control-tag: 127.50.0.0/16 "kids"',
              "access-control-view: 127.60.0.0/16 guests"]
    with make(["name: all", 'file: "%s"' % write("a.txt", "all.example\n")],
              ["name: kids", 'tags: "kids"', 'file: "%s"' % write("k.txt", "kids.example\n")],
              ["name: guests", 'views: "guests"', 'file: "%s"' % write("g.txt", "guests.example\n")],
              server=server, more="view:\n    name: guests\n    view-first: yes\n") as d:
        def seen(source):
            return [name for name in ("all", "kids", "guests")
                    if rcode(d.ask(name + ".example.", source=source)) == "NXDOMAIN"]

        assert seen("127.0.0.1") == ["all"]
        assert seen("127.50.0.1") == ["all", "kids"]
        assert seen("127.60.0.1") == ["all", "guests"]
        d.control("blocklist_pause", "100", "guests")
        assert seen("127.60.0.1") == []
        assert seen("127.50.0.1") == ["all", "kids"]
        d.control("blocklist_resume")
        assert seen("127.60.0.1") == ["all", "guests"]


# ---- lists of firewalls ----

OPNSENSE = """{"data":{"ads.example":[{"bl":"x","wildcard":false,"idx":"kids"},{"bl":"y","wildcard":true,"idx":"all"}],
"%s.example":[{"bl":"y","wildcard":true,"idx":"all"}]},"config":{"general":{"has_wildcards":true},
"kids":{"source_nets":["127.50.0.0\\/16"],"address":"0.0.0.0","rcode":"NXDOMAIN","passlist":"","id":"kids"},
"all":{"source_nets":[],"address":"192.0.2.99","rcode":"NOERROR","passlist":"fine\\\\..*","id":"all"}}}"""


@pytest.fixture
def scripted(daemon, upstream):
    def maker(script, files):
        d = daemon('blocklist-directory: ""', module="python iterator", hints=False,
                   more="python:\n    python-script: %s\nforward-zone:\n    name: .\n    forward-addr: %s\n" % (
                       script, upstream.at))
        os.mkdir(os.path.join(d.dir, "data"))
        for name, text in files.items():
            put(d, name, text)
        return d
    return maker


def put(d, name, text):
    path = os.path.join(d.dir, name)
    with open(path + ".new", "w", encoding="utf-8") as f:
        f.write(text)
    os.replace(path + ".new", path)


def test_the_list_of_opnsenses_script_is_read_without_it(scripted):
    with scripted("unbound-dnsbl/dnsbl_module.py", {"data/dnsbl.json": OPNSENSE % "tree"}) as d:
        assert rcode(d.ask("ads.example.", source="127.50.0.1")) == "NXDOMAIN"
        assert texts(d.ask("ads.example.")) == ["192.0.2.99"]
        assert texts(d.ask("www.ads.example.", source="127.50.0.1")) == ["192.0.2.99"]
        assert texts(d.ask("x.tree.example.")) == ["192.0.2.99"]
        assert texts(d.ask("fine.tree.example.")) == ["192.0.2.1"]
        assert texts(d.ask("x.later.example.")) == ["192.0.2.1"]
        put(d, "data/dnsbl.json", OPNSENSE % "later")
        assert d.control("blocklist_reload") == "ok\n"
        until(lambda: texts(d.ask("x.later.example.")) == ["192.0.2.99"])
        assert texts(d.ask("x.tree.example.")) == ["192.0.2.1"]
        put(d, "data/dnsbl.json", "")  # what it writes when nothing is to be blocked, or when something failed
        d.control("blocklist_reload")
        until(lambda: "it is empty" in d.control("blocklist_status"))
        assert texts(d.ask("x.later.example.")) == ["192.0.2.99"]
        assert "'opnsense'" in d.log()


def test_the_tables_of_pfblockers_script_are_read_without_it(scripted):
    rows = ",exact.example,,1,feed,group\n,www.free.example,,0,feed,group\n,a.open.example,,0,feed,group\n"
    files = {"pfb_py_data.txt": rows, "pfb_py_zone.txt": ",tree.example,,1,feed,group\n",
             "pfb_py_whitelist.txt": "free.example,0\nopen.example,1\n",
             "pfb_py_ss.txt": "www.search.example,cname,safe.search.example\n"}
    with scripted("pfb_unbound.py", files) as d:
        want = {"exact": "0.0.0.0", "www.exact": "192.0.2.1", "a.tree": "0.0.0.0", "www.free": "192.0.2.1",
                "a.open": "192.0.2.1", "other": "192.0.2.1", "www.search": "192.0.2.1"}
        assert {n: texts(d.ask(n + ".example."))[-1] for n in want} == want
        for name in ("search.example.", "www.search.example."):
            assert texts(d.ask(name), "CNAME") == ["safe.search.example."]


def test_a_script_without_lists_does_no_harm(scripted):
    with scripted("dnsbl_module.py", {}) as d:
        assert texts(d.ask("ads.example.")) == ["192.0.2.1"]
        put(d, "data/dnsbl.json", OPNSENSE % "tree")
        d.control("blocklist_reload")
        until(lambda: texts(d.ask("ads.example.")) == ["192.0.2.99"])


# ---- commands ----

def test_commands_tell_and_change(make, write):
    path = write("list.txt", "# a comment\n||ads.example^\n0.0.0.0 host.example\n")
    with make(["name: ads", 'file: "%s"' % path]) as d:
        d.ask("ads.example.")
        d.ask("x.ads.example.")
        said = d.control("blocklist_test", "www.ads.example")
        assert "%s:2: ||ads.example^ (blocks ads.example.)" % path in said
        assert "list ads blocks it by ads.example. with nxdomain" in said
        assert said.endswith("www.ads.example. is blocked\n")
        assert d.control("blocklist_test", "www.host.example").endswith("is not blocked\n")
        status = d.control("blocklist_status")
        assert status.startswith("ads: 2 names in ") and "blocked 2 times" in status and path in status
        stats = dict(line.split("=") for line in d.control("stats_noreset").splitlines())
        assert stats["num.query.blocked"] == stats["num.query.blocked.ads"] == "2"
        assert d.control("blocklist_allow", "www.ads.example") == "ok\n"
        assert not blocked(d, "x.www.ads.example.") and blocked(d, "ads.example.")
        assert d.control("blocklist_deny", "new.example") == "ok\n"
        assert blocked(d, "a.new.example.")
        d.control("reload")                                     # does not change that
        assert blocked(d, "a.new.example.") and not blocked(d, "www.ads.example.")
        assert "denied: new.example." in d.control("blocklist_status")
        d.control("blocklist_forget", "new.example")
        d.control("blocklist_forget", "www.ads.example")
        assert not blocked(d, "a.new.example.") and blocked(d, "www.ads.example.")
        d.control("blocklist_forget", "new.example", code=1)
        d.control("blocklist_pause", "x", code=1)
        d.control("blocklist_pause", "5", "nowhere", code=1)
        d.control("blocklist_reload", "nowhere", code=1)
        d.control("blocklist_allow", code=1)


def test_rules_left_out_are_told(make, write):
    """12,000 rules for clients at one name all count; of rules for any client only 32."""
    clients = "".join("||many.example^$client=10.1.%d.%d\n" % (i >> 8, i & 255) for i in range(12000))
    types_ = "".join("||types.example^$dnstype=TYPE%d\n" % (i + 1000) for i in range(40))
    path, few = write("many.txt", clients + "||many.example^$client=127.0.0.1\n"), write("types.txt", types_)
    allow = write("allow.txt", "||free.example^\n")
    with make(["name: many", 'file: "%s"' % path], ["name: types", 'file: "%s"' % few],
              ["name: free", 'file: "%s"' % write("ads.txt", "ads.free.example\n||free.example^$dnsrewrite=192.0.2.9\n"),
               'allow-file: "%s"' % allow]) as d:
        status = d.control("blocklist_status")
        assert "many: 12001 names" in status and "types: 32 names" in status
        assert status.count("ignored: 8 rules") == 1 and "ignored: 8 rules with modifiers, too many at one name" in status
        assert blocked(d, "many.example.") and not blocked(d, "types.example.")
        assert texts(d.ask("ads.free.example.")) == texts(d.ask("free.example.")) == ["192.0.2.1"]


def test_rules_need_no_list(make):
    with make() as d:
        assert texts(d.ask("www.example.")) == ["192.0.2.1"]
        d.control("blocklist_deny", "www.example")
        assert blocked(d, "www.example.")
        d.control("blocklist_forget", "www.example")
        assert texts(d.ask("www.example.")) == ["192.0.2.1"]


# ---- what goes wrong ----

def broken(kind):
    return {"html": b"<!DOCTYPE html>\n<html>error</html>\n", "binary": b"\x7fELF\0\0\0" * 99, "empty": b"",
            "long": b"a.example\n" * 300, "prose": b"this is not a list\n" * 99}[kind]


@pytest.mark.parametrize("kind", ["html", "binary", "empty", "long", "prose", "gone"])
def test_a_broken_file_keeps_the_last_good_one(make, write, kind):
    path = write("list.txt", "||ads.example^\n")
    with make(["name: ads", 'file: "%s"' % path, "max-size: 1k"]) as d:
        assert blocked(d, "ads.example.")
        if kind == "gone":
            os.unlink(path)
        else:
            write("list.txt", broken(kind))
        d.control("blocklist_reload")
        until(lambda: "update failed, old list stays in use" in d.control("blocklist_status"))
        assert blocked(d, "ads.example.")
        d.stop()
        d.start()                                               # nor does a start lose it
        assert blocked(d, "ads.example.")
        write("list.txt", "||new.example^\n")
        d.control("blocklist_reload")
        until(lambda: blocked(d, "new.example."))
        assert not blocked(d, "ads.example.")
        assert "not renewed" not in d.control("blocklist_status")


def test_copies_that_are_damaged_are_not_believed(make, write, tmp_path):
    path = write("list.txt", "||ads.example^\n")
    with make(["name: ads", 'file: "%s"' % path]) as d:
        (table,) = until(lambda: list((tmp_path / "copies").glob("*.table")))
        good = table.read_bytes()
        for bad in (b"", good[:40], good[:-1], good[:100] + b"\xff" + good[101:], b"x" * 10000):
            d.stop()
            table.write_bytes(bad)
            d.start()
            assert blocked(d, "ads.example.")


# ---- URLs ----

def test_a_list_comes_from_the_web_and_stays_without_it(make, tmp_path):
    with Web() as web:
        web.pages["/a"] = b"||first.example^\n"
        with make(["name: web", 'url: "%s"' % web.url("/a")]) as d:
            until(lambda: blocked(d, "first.example."))
            d.control("blocklist_reload")
            until(lambda: len(web.asked) >= 2)
            assert web.asked[1][1], "it was asked for whether it changed or not"
            web.pages["/a"] = b"||second.example^\n"
            d.control("blocklist_reload")
            until(lambda: blocked(d, "second.example."))
            assert not blocked(d, "first.example.")
            for page in ((500, b"oops"), b"<html>sorry</html>", b"", b"\0\1\2", (404, b"gone"), b"# nothing\n"):
                web.pages["/a"] = page
                before = len(web.asked)
                d.control("blocklist_reload")
                until(lambda: len(web.asked) > before and "failed" in d.control("blocklist_status"))
                assert blocked(d, "second.example.")
            d.stop()
            web.pages.clear()
            d.start()                                           # a start without network
            assert blocked(d, "second.example.")
            assert not blocked(d, "first.example.")


@pytest.mark.parametrize("left", [b"", b"||ads.exam", None], ids=["empty", "cut", "gone"])
def test_a_copy_that_a_crash_has_cut_is_fetched_again(make, tmp_path, left):
    with Web() as web:
        web.pages["/a"] = b"||ads.example^\n||more.example^\n"
        with make(["name: web", 'url: "%s"' % web.url("/a")]) as d:
            until(lambda: blocked(d, "ads.example."))
            (copy,) = (tmp_path / "copies").glob("*.list")
            until(lambda: list((tmp_path / "copies").glob("*.table")))
            for answers in (False, True):
                d.stop()
                if left is None:
                    copy.unlink(missing_ok=True)
                else:
                    copy.write_bytes(left)
                web.pages.pop("/a", None)
                if answers:
                    web.pages["/a"] = b"||ads.example^\n||more.example^\n"
                before = len(web.asked)
                d.start()
                assert blocked(d, "ads.example.")               # by the table of the last run
                until(lambda: len(web.asked) > before)
                assert not web.asked[-1][1], "what is not there cannot be unchanged"
                assert blocked(d, "more.example.")
            until(lambda: copy.exists() and copy.read_bytes() == web.pages["/a"])


def test_redirections_are_followed_and_cuts_are_seen(make):
    def move(request):
        request.send_response(302)
        request.send_header("Location", "/b")
        request.send_header("Content-Length", "0")
        request.end_headers()

    def cut(request):
        request.send_response(200)
        request.send_header("Content-Length", "1000")
        request.end_headers()
        request.wfile.write(b"||half.example^\n")
        request.close_connection = True

    with Web() as web:
        web.pages.update({"/a": move, "/b": b"||moved.example^\n", "/c": cut})
        with make(["name: one", 'url: "%s"' % web.url("/a")], ["name: two", 'url: "%s"' % web.url("/c")]) as d:
            until(lambda: blocked(d, "moved.example."))
            until(lambda: "failed" in d.control("blocklist_status"))
            assert not blocked(d, "half.example.")


def moved_to(url):
    def move(request):
        request.send_response(302)
        request.send_header("Location", url)
        request.send_header("Content-Length", "0")
        request.end_headers()
    return move


@pytest.fixture
def public():
    """An address that is not private, on the loopback interface of a network with nothing else."""
    if len(socket.if_nameindex()) != 1:
        pytest.skip("only in a network of its own")
    change = ["198.51.100.1/32", "dev", "lo"]
    if subprocess.run(["ip", "addr", "add", *change], check=False).returncode:
        pytest.skip("addresses cannot be added")
    yield "198.51.100.1"
    subprocess.run(["ip", "addr", "del", *change], check=False)


def test_no_redirect_leads_from_a_public_address_to_a_private_one(make, public):
    with Web(address=public) as outside, Web() as inside:
        where = inside.url("/list")
        targets = {"address": where, "name": where.replace("127.0.0.1", "localhost"),
                   "mapped": where.replace("127.0.0.1", "[::ffff:127.0.0.1]"),
                   "short": where.replace("127.0.0.1", "127.1"), "this": where.replace("127.0.0.1", "0.0.0.0")}
        inside.pages["/list"] = b"||stolen.example^\n"
        inside.pages["/out"] = moved_to(outside.url("/fine"))
        outside.pages["/fine"] = b"||fine.example^\n"
        outside.pages["/on"] = moved_to(outside.url("/fine"))
        outside.pages["/twice"] = moved_to(outside.url("/address"))
        outside.pages.update(("/" + name, moved_to(url)) for name, url in targets.items())
        wrong = [*targets, "twice"]
        with make(*(["name: " + name, 'url: "%s"' % outside.url("/" + name)] for name in wrong),
                  ["name: on", 'url: "%s"' % outside.url("/on")], ["name: out", 'url: "%s"' % inside.url("/out")]) as d:
            until(lambda: d.control("blocklist_status").count("fetched") == 2)
            until(lambda: d.control("blocklist_status").count("failed") == len(wrong))
            status = d.control("blocklist_status")
            assert status.count("which is not public, is not followed") == len(wrong), status
            assert blocked(d, "fine.example.") and not blocked(d, "stolen.example.")
        assert [path for path, _ in inside.asked] == ["/out"]


def test_no_redirect_leads_from_https_to_http(make, authority):
    with Web() as plain, Web(tls=(authority / "web.pem", authority / "web.key")) as secure:
        plain.pages.update({"/up": moved_to(secure.url("/down", "https")), "/list": b"||plain.example^\n",
                            "/fine": moved_to(secure.url("/list", "https"))})
        secure.pages.update({"/down": moved_to(plain.url("/list").replace("http:", "HTTP:")), "/list": b"||secure.example^\n"})
        with make(["name: up", 'url: "%s"' % plain.url("/up")], ["name: fine", 'url: "%s"' % plain.url("/fine")],
                  ["name: down", 'url: "%s"' % secure.url("/down", "https")],
                  server=['tls-cert-bundle: "%s"' % (authority / "ca.pem")]) as d:
            until(lambda: d.control("blocklist_status").count("failed") == 2)
            until(lambda: blocked(d, "secure.example."))
            assert d.control("blocklist_status").count("from https to http is not followed") == 2
            assert not blocked(d, "plain.example.")


def test_without_a_folder_for_copies_it_works_too(make):
    with Web() as web:
        web.pages["/a"] = b"||first.example^\n"
        with make(["name: web", 'url: "%s"' % web.url("/a")], server=['blocklist-directory: ""']) as d:
            until(lambda: blocked(d, "first.example."))
            web.pages["/a"] = b"<html>"
            before = len(web.asked)
            d.control("blocklist_reload")
            until(lambda: len(web.asked) > before and "stays" in d.control("blocklist_status"))
            assert blocked(d, "first.example.")


@pytest.fixture
def authority(tmp_path):
    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=tmp_path, check=True, capture_output=True, timeout=60)

    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "ca.key",
            "-out", "ca.pem", "-days", "2", "-subj", "/CN=a test authority")
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "web.key", "-out",
            "web.csr", "-subj", "/CN=127.0.0.1")
    (tmp_path / "ext").write_text("subjectAltName=IP:127.0.0.1\n")
    openssl("x509", "-req", "-in", "web.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
            "-extfile", "ext", "-out", "web.pem")
    return tmp_path


def test_https_is_verified(make, authority):
    with Web(tls=(authority / "web.pem", authority / "web.key")) as web:
        web.pages["/a"] = b"||first.example^\n"
        url = ["name: web", 'url: "%s"' % web.url("/a", "https")]
        with make(url) as d:                                    # the system's authorities do not know it
            until(lambda: "failed" in d.control("blocklist_status"))
            assert not blocked(d, "first.example.")
            assert not web.asked
        shutil.rmtree(authority / "copies", ignore_errors=True)
        with make(url, server=['tls-cert-bundle: "%s/ca.pem"' % authority]) as d:
            until(lambda: blocked(d, "first.example."))


# ---- swapping under load ----

def test_a_hundred_swaps_lose_and_delay_nothing(make, write):
    """Two lists take turns while clients ask. No question is lost; none waits over 20 ms because of a swap: on a
    machine that is busy with other things questions wait without any swap, too, so those are the measure."""
    def text(turn):
        return "".join("||n%d.turn%d.example^\n" % (i, turn) for i in range(3000)) + "||always.example^\n"

    texts_of = [text(0), text(1)]
    path = write("list.txt", texts_of[0])
    with make(["name: ads", 'file: "%s"' % path], server=["num-threads: 2"]) as d:
        names = ["always.example.", "n5.turn0.example.", "n5.turn1.example.", "free.example."]
        d.ask("free.example.")
        waits, lost, wrong, stop = [], [], [], threading.Event()

        def client():
            import socket
            with socket.socket(type=socket.SOCK_DGRAM) as s:
                s.connect((ADDRESS, d.port))
                s.settimeout(5)
                i = 0
                while not stop.is_set():
                    q = query(names[i % len(names)], id=i & 0xffff)
                    i += 1
                    began = time.monotonic()
                    s.send(q.to_wire())
                    try:
                        r = s.recv(4096)
                    except socket.timeout:
                        lost.append(i)
                        continue
                    waits.append((began, time.monotonic() - began))
                    if names[(i - 1) % len(names)] == "always.example." and r[3] & 15 != 3:
                        wrong.append(i)

        def made():
            line = d.control("blocklist_status").splitlines()[0]
            return line

        clients = [threading.Thread(target=client) for _ in range(2)]
        for c in clients:
            c.start()
        time.sleep(2)
        quiet_until = time.monotonic()
        for swap in range(1, 101):
            turn = swap % 2
            write("list.txt", texts_of[turn])
            d.control("blocklist_reload")
            until(lambda: blocked(d, "n7.turn%d.example." % turn))
        stop.set()
        for c in clients:
            c.join()
        assert "3001 names" in made()
        assert not lost and not wrong
        quiet = sorted(w for began, w in waits if began < quiet_until)
        swapping = sorted(w for began, w in waits if began >= quiet_until)
        assert len(swapping) > 200

        def high(list_):
            return list_[int(len(list_) * 0.99)]
        assert high(swapping) <= high(quiet) + 0.020, (high(quiet), high(swapping), swapping[-5:])


def test_a_start_and_a_stop_in_the_middle_of_a_fetch(make):
    hold = threading.Event()

    def slowly(request):
        request.send_response(200)
        request.send_header("Content-Length", "1000")
        request.end_headers()
        with contextlib.suppress(OSError):
            request.wfile.write(b"||half.example^\n")
            request.wfile.flush()
            hold.wait(30)

    with Web() as web:
        web.pages["/a"] = slowly
        with make(["name: web", 'url: "%s"' % web.url("/a")]) as d:
            until(lambda: web.asked)
            assert texts(d.ask("half.example.")) == ["192.0.2.1"]
            began = time.monotonic()
            d.stop()
            assert time.monotonic() - began < 10
            d.start()
        hold.set()
