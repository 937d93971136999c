"""What the logger of OPNsense's reporting page reads: a line for each query in a named pipe (query-pipe).

SPDX-License-Identifier: BSD-3-Clause

The reader here takes lines apart as that logger and its page do: thirteen fields with "|" between them, of
which the numbers have to be numbers that they have a word for.
"""

import collections
import errno
import ipaddress
import os
import re
import select
import shutil
import signal
import socket
import stat
import subprocess
import time

import dns.name
import pytest

from lab import FakeServer, ask, fixed, query, rcode, refusing, texts, until

FIELDS = ["policy", "time", "client", "family", "type", "name", "action", "source", "list", "rcode", "took", "security",
          "ttl"]
NUMBERS = ["time", "action", "source", "rcode", "took", "security", "ttl"]
PASS, BLOCK, DROP = range(3)
RECURSION, LOCAL, LOCAL_DATA, CACHE = range(4)
UNCHECKED, BOGUS, INDETERMINATE, INSECURE, SECURE = 0, 1, 2, 3, 5
POLICY = "580e7f8b-3242-401a-b32e-ed56c3e8cf4a"
DNSBL = """{"data":{"ads.example":[{"bl":"hgz007","wildcard":true,"idx":"%s"}]},"config":{"general":
{"has_wildcards":true},"%s":{"source_nets":[],"address":"192.0.2.99","rcode":"NOERROR","id":"%s"}}}""" % ((POLICY,) * 3)

Line = collections.namedtuple("Line", FIELDS)


def take_apart(text):
    fields = text.split("|")
    assert len(fields) == len(FIELDS), text
    line = Line(*fields)
    for name in NUMBERS:
        assert re.fullmatch(r"\d{1,10}", getattr(line, name)) and int(getattr(line, name)) < 2 ** 31, text
    line = line._replace(**{name: int(getattr(line, name)) for name in NUMBERS})
    assert line.policy == "" or re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", line.policy), text
    assert line.action in range(3) and line.source in range(4) and line.rcode in range(11), text
    assert line.security in (UNCHECKED, BOGUS, INDETERMINATE, INSECURE, SECURE), text
    assert abs(line.time - time.time()) < 60, text
    assert line.family == "ip%d" % ipaddress.ip_address(line.client).version, text
    assert line.name.endswith(".") and line.name == line.name.lower(), text
    return line


class Reader:
    """Opens the pipe as soon as it is there. After `close` it may be opened again."""

    def __init__(self, path):
        self.path = path
        self.fd = None
        self.rest = b""
        self.lines = []
        self.live = False   # somebody has written since
        self.ended = False  # and has gone

    def open(self):
        until(lambda: os.path.exists(self.path) and stat.S_ISFIFO(os.stat(self.path).st_mode))
        self.fd = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
        self.rest = b""
        self.live = self.ended = False
        return self

    def close(self):
        if self.fd is not None:
            os.close(self.fd)
        self.fd = None

    __enter__ = open

    def __exit__(self, *_):
        self.close()

    def read(self):
        """What is there now. Before somebody writes there is no end of the file that counts."""
        while True:
            try:
                data = os.read(self.fd, 65536)
            except OSError as e:
                assert e.errno == errno.EAGAIN
                return
            if not data:
                self.ended |= self.live
                return
            self.live = True
            *whole, self.rest = (self.rest + data).split(b"\n")
            self.lines += [take_apart(line.decode("ascii")) for line in whole]

    def of(self, name):
        """The lines of that name, of which there has to be one at last."""
        def found():
            self.read()
            return [line for line in self.lines if line.name == name]
        until(found)
        return found()

    def one(self, name):
        lines = self.of(name)
        assert len(lines) == 1, lines
        return lines[0]


def pipe_stats(d):
    return {k: int(v) for k, v in d.stats().items() if k.startswith("querypipe.")}


@pytest.fixture(scope="module")
def d(daemon, tmp_path_factory):
    folder = tmp_path_factory.mktemp("querypipe")
    (folder / "dnsbl.json").write_text(DNSBL)
    (folder / "own").write_text("||own.example^\n")
    (folder / "mute").write_text("mute.example\n")
    with FakeServer(fixed("192.0.2.1", ttl_s=120)) as server, FakeServer(refusing()) as refuser, daemon(
            "num-threads: 2", 'query-pipe: "queries"', "extended-statistics: yes",
            "access-control: 127.99.0.0/16 refuse", "access-control: 127.98.0.0/16 deny", "local-zone: here. static", 'local-data: "a.here. 77 A 192.0.2.9"',
            "local-zone: gone. always_nxdomain", hints=False,
            more='forward-zone:\n    name: .\n    forward-addr: %s\n'
                 'forward-zone:\n    name: broken.example\n    forward-addr: %s\n'
                 'blocklist:\n    name: firewall\n    file: "%s/dnsbl.json"\n'
                 'blocklist:\n    name: own\n    file: "%s/own"\n'
                 'blocklist:\n    name: mute\n    file: "%s/mute"\n    action: drop\n'
                 % (server.at, refuser.at, folder, folder, folder)) as it, Reader(
                     os.path.join(it.dir, "queries")) as it.reader:
        yield it


WAYS = [
    # name, type, how it is asked; what its line has to say
    ("fresh.example.", "A", {}, {"action": PASS, "source": RECURSION, "rcode": 0, "ttl": 120}),
    ("stream.example.", "AAAA", {"tcp": True}, {"action": PASS, "source": RECURSION}),
    ("a.here.", "A", {}, {"action": PASS, "source": LOCAL_DATA, "rcode": 0, "ttl": 77}),
    ("none.here.", "A", {}, {"action": PASS, "source": LOCAL_DATA, "rcode": 3}),
    ("x.gone.", "A", {}, {"action": BLOCK, "source": LOCAL, "rcode": 3, "list": "", "policy": ""}),
    ("www.ads.example.", "A", {}, {"action": BLOCK, "source": LOCAL, "rcode": 0, "list": "hgz007", "policy": POLICY}),
    ("x.ads.example.", "HTTPS", {}, {"action": BLOCK, "list": "hgz007", "policy": POLICY, "ttl": 0}),
    ("own.example.", "A", {}, {"action": BLOCK, "source": LOCAL, "rcode": 3, "list": "own", "policy": ""}),
    ("x.broken.example.", "A", {}, {"action": DROP, "source": LOCAL, "rcode": 2, "ttl": 0}),
    ("turned.example.", "A", {"source": "127.99.0.1"}, {"action": DROP, "source": LOCAL, "rcode": 5,
                                                        "client": "127.99.0.1"}),
    ("Capitals.EXAMPLE.", "TYPE65280", {}, {"type": "TYPE65280"}),
]


@pytest.mark.parametrize("name, rrtype, how, want", WAYS, ids=[w[0] for w in WAYS])
def test_each_way_of_an_answer_has_its_line(d, name, rrtype, how, want):
    d.ask(name, rrtype, **how)
    line = d.reader.one(name.lower())
    assert line._asdict() == {**line._asdict(), "client": "127.0.0.1", "family": "ip4", "type": rrtype, **want}


def test_a_cached_answer_says_how_long_it_lives(d):
    d.ask("cached.example.")
    time.sleep(1.1)
    d.ask("cached.example.")
    until(lambda: len(d.reader.of("cached.example.")) == 2)
    first, then = d.reader.of("cached.example.")
    assert (first.source, then.source, then.action, then.took) == (RECURSION, CACHE, PASS, 0)
    assert 110 < then.ttl < first.ttl == 120


@pytest.mark.parametrize("name, source, want", [
    ("mute.example.", None, BLOCK), ("denied.example.", "127.98.0.1", DROP),
])
def test_what_got_no_answer_has_a_line_as_well(d, name, source, want):
    assert d.send(query(name).to_wire(), timeout=0.5, source=source) is None
    if want == BLOCK:
        line = d.reader.one(name)
        assert (line.action, line.source, line.rcode, line.list) == (BLOCK, LOCAL, 2, "mute")
    else:  # who may not even be refused is nobody's business
        d.ask("after.denied.example.")
        d.reader.of("after.denied.example.")
        assert not [line for line in d.reader.lines if line.name == name and line.action != DROP]


HOSTILE = [r"a\124b.example.", r"a\010b.example.", r"a\000\255\032b.example.", r"\124" * 60 + ".example.",
           ".".join([r"\124" * 63] * 3 + [r"\010" * 61]) + "."]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_one_field_of_one_line(d, name):
    d.ask(dns.name.from_text(name))
    assert dns.name.from_text(d.reader.one(name).name) == dns.name.from_text(name)


# ---- answers that were validated ----

def test_what_was_validated_says_so(daemon, net):
    with daemon('query-pipe: "queries"', 'trust-anchor-file: "%s/root.key"' % net,
                module="validator iterator") as d, Reader(os.path.join(d.dir, "queries")) as r:
        d.ask("com.", "SOA")
        d.ask("com.", "SOA")
        d.ask("www.expired.mini.")
        until(lambda: len(r.of("com.")) == 2)
        assert [(x.security, x.source) for x in r.of("com.")] == [(SECURE, RECURSION), (SECURE, CACHE)]
        bogus = r.one("www.expired.mini.")
        assert (bogus.security, bogus.action, bogus.source, bogus.rcode) == (BOGUS, DROP, LOCAL, 2)


# ---- readers ----

def test_lines_wait_for_a_reader_and_for_the_next(daemon):
    with daemon('query-pipe: "queries"', 'local-zone: "here." redirect', 'local-data: "here. A 192.0.2.9"',
                "extended-statistics: yes") as d, Reader(os.path.join(d.dir, "queries")) as r:
        d.ask("one.here.")
        r.one("one.here.")
        r.close()
        until(lambda: pipe_stats(d)["querypipe.reader"] == 0)
        for i in range(50):
            d.ask("x%d.here." % i)
        r.open()
        for i in range(50):
            r.one("x%d.here." % i)
        assert pipe_stats(d)["querypipe.lost"] == 0


def test_a_reload_is_not_the_end_of_the_file(daemon):
    """OPNsense's logger ends with the file, and nothing starts it again."""
    lines = ['query-pipe: "queries"', 'local-zone: "here." redirect', 'local-data: "here. A 192.0.2.9"']
    with daemon(*lines) as d, Reader(os.path.join(d.dir, "queries")) as r:
        d.ask("before.here.")
        r.one("before.here.")
        changes = [lambda: d.control("reload"), lambda: d.control("log_reopen"),
                   lambda: d.process.send_signal(signal.SIGHUP), lambda: d.configure([*lines, "query-ring: 10"]),
                   lambda: d.control("reload"), lambda: d.control("set_option", "query-ring:", "100")]
        for i, change in enumerate(changes):
            change()
            time.sleep(0.3)
            d.ask("x%d.here." % i)
            r.one("x%d.here." % i)
            assert not r.ended
        assert d.log().count("has a reader") == 1
        d.configure(lines[1:])
        d.control("reload")
        until(lambda: r.read() or r.ended)


def test_at_the_end_all_lines_are_out(daemon):
    with daemon('query-pipe: "queries"', 'local-zone: "here." redirect',
                'local-data: "here. A 192.0.2.9"') as d, Reader(os.path.join(d.dir, "queries")) as r:
        d.ask("one.here.")
        r.one("one.here.")
        for i in range(20):
            d.ask("x%d.here." % i)
        assert d.stop() == 0
        r.read()
        assert [line.name for line in r.lines if line.name[0] == "x"] == ["x%d.here." % i for i in range(20)]
        assert r.ended


def flood(port, count, name):
    """Questions without end, of which answers do not matter."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.connect(("127.0.0.1", port))
        s.setblocking(False)
        data = query(name).to_wire()
        for i in range(count):
            try:
                s.send(data)
            except OSError:
                pass
            if i % 50 == 0:
                select.select([s], [], [], 0.01)
                while select.select([s], [], [], 0)[0]:
                    s.recv(2048)


def test_of_many_lines_the_newest_hundred_thousand_are_kept(daemon):
    with daemon('query-pipe: "queries"', 'local-zone: "here." redirect', 'local-data: "here. A 192.0.2.9"',
                "extended-statistics: yes", "num-threads: 1") as d:
        for _ in range(10):
            if int(d.stats()["total.num.queries"]) <= 100000:
                flood(d.port, 35000, "many.here.")
        d.ask("last.here.")
        asked = int(d.stats()["total.num.queries"])
        assert asked > 100000
        time.sleep(0.5)
        lost = pipe_stats(d)["querypipe.lost"]
        assert lost >= asked - 100000
        with Reader(os.path.join(d.dir, "queries")) as r:
            while len(r.lines) < asked - lost:
                assert select.select([r.fd], [], [], 20)[0], len(r.lines)
                r.read()
            assert r.lines[-1].name == "last.here."
        until(lambda: "lines were lost: nobody reads them" in d.log())


def test_a_reader_that_does_not_read_holds_up_nobody(daemon):
    with daemon('query-pipe: "queries"', 'local-zone: "here." redirect', 'local-data: "here. A 192.0.2.9"',
                "extended-statistics: yes", "num-threads: 1") as d, Reader(os.path.join(d.dir, "queries")) as r:
        until(lambda: pipe_stats(d)["querypipe.reader"] == 1)
        flood(d.port, 5000, "many.here.")
        assert texts(d.ask("prompt.here.")) == ["192.0.2.9"]
        r.one("prompt.here.")
        assert pipe_stats(d)["querypipe.lost"] == 0


# ---- what is in the way ----

def check(d):
    return subprocess.run([d.program("resolver-checkconf"), d.conf], capture_output=True, text=True, check=False).stderr


def test_another_file_is_left_alone_and_a_missing_one_is_made(daemon):
    d = daemon('query-pipe: "queries"', 'local-data: "a.here. A 192.0.2.9"')
    path = os.path.join(d.dir, "queries")
    with open(path, "w", encoding="ascii") as f:
        f.write("keep")
    assert "it is no named pipe" in check(d)
    with d:
        d.ask("a.here.")
        until(lambda: "it is no named pipe" in d.log())
        with open(path, encoding="ascii") as f:
            assert f.read() == "keep"
        os.unlink(path)
        os.mkfifo(path)
        with Reader(path) as r:
            r.one("a.here.")
    with daemon('query-pipe: "queries"') as d:
        assert stat.S_IMODE(os.stat(os.path.join(d.dir, "queries")).st_mode) & 0o007 == 0
        assert "query-pipe" not in check(d)


# ---- OPNsense ----

@pytest.mark.parametrize("stats", [True, False])
@pytest.mark.skipif(os.geteuid() != 0, reason="takes root")
def test_as_opnsense_has_it(daemon, stats):
    """In a chroot, as another user, without the option: the script is named, and there is data/stats."""
    d = daemon(module="python validator iterator", hints=False)
    os.chmod(d.dir, 0o755)
    os.makedirs(d.dir + "/data")
    shutil.chown(d.dir + "/data", "nobody")
    if stats:
        with open(d.dir + "/data/stats", "w", encoding="ascii"):
            pass
    with open(d.dir + "/data/dnsbl.json", "w", encoding="ascii") as f:
        f.write(DNSBL)
    d.fixed = [x for x in d.fixed if not x.startswith(("chroot:", "directory:", "username:"))] + [
        'chroot: "%s"' % d.dir, 'directory: "%s"' % d.dir, "username: nobody", 'local-data: "a.here. A 192.0.2.9"']
    d.configure([], "python:\npython-script: dnsbl_module.py\n")
    pipe = d.dir + "/data/dns_logger"
    with d:
        d.ask("a.here.")
        assert rcode(d.ask("www.ads.example.")) == "NOERROR"
        if not stats:
            assert not os.path.exists(pipe)
            return
        with Reader(pipe) as r:
            assert r.one("a.here.").source == LOCAL_DATA
            assert r.one("www.ads.example.").policy == POLICY
            d.control("reload")
            assert texts(ask("a.here.", port=d.port)) == ["192.0.2.9"]
            until(lambda: len(r.of("a.here.")) == 2)
            r.read()
            assert not r.ended
