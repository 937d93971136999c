"""The control channel, by resolver-control and by bare bytes.

SPDX-License-Identifier: BSD-3-Clause
"""

import json
import re
import shutil
import socket
import subprocess
import threading
import time

import pytest

from lab import Daemon, FakeServer, fixed, free_port, rcode, texts


@pytest.fixture(scope="module")
def d(daemon):
    with daemon("num-threads: 2") as it:
        yield it


def test_status(d):
    out = d.control("status")
    for line in (r"version: \S+", r"verbosity: \d+", r"threads: 2", r"modules: \d+ \[ .*iterator \]",
                 r"uptime: \d+ seconds", r"options: .*control"):
        assert re.search("(?m)^" + line, out), (line, out)
    assert re.search(r"(?m)^\S+ \(pid %d\) is running\.\.\.$" % d.process.pid, out), out


def test_nobody_there_is_told_with_the_place(d):
    p = subprocess.run([d.program("resolver-control"), "-c", d.client_conf, "-s", d.dir + "/none", "stats"],
                       capture_output=True, text=True, timeout=20, check=False)
    assert p.returncode == 1 and "cannot connect to the daemon at %s/none: No such file" % d.dir in p.stderr


def test_an_interface_is_found_by_its_name(d, tmp_path):
    loopback = next(name for _, name in socket.if_nameindex() if name.startswith("lo"))
    conf = tmp_path / "control.conf"
    conf.write_text("remote-control:\n    control-enable: yes\n    control-use-cert: no\n"
                    "    control-interface: %s@%d\n" % (loopback, free_port()), encoding="utf-8")
    p = subprocess.run([d.program("resolver-control"), "-c", str(conf), "status"],
                       capture_output=True, text=True, timeout=20, check=False)
    assert p.returncode == 3 and "is stopped" in p.stdout, p.stderr


@pytest.mark.parametrize("command", ["local_zones", "local_zones_remove", "local_datas", "local_datas_remove"])
def test_the_longest_line_is_answered_whole(d, command):
    """What is said about it is longer still, and ends in a line of its own."""
    line = "x.test. " + "z" * 2039
    said = d.speak(b"UBCT1 %s\n%s\n\n" % (command.encode(), line.encode())).decode().split("\n")
    assert said[-1] == "" and re.match("(added|removed) 0 ", said[-2]), said[-2][:80]
    assert any(x.startswith("error") and line[8:] in x for x in said), [x[:80] for x in said]
    if command != "local_datas":
        assert "error for input line: " + line in said


@pytest.mark.parametrize("request_", [
    b"UBCT1  status\n", b"UBCT1 status\n", b"UBCT1 \t status\n", b"UBCT1 status", b"UBCT1   status \n",
])
def test_every_spelling_of_a_request(d, request_):
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(5)
        s.connect(d.socket)
        s.sendall(request_)
        if not request_.endswith(b"\n"):
            s.shutdown(socket.SHUT_WR)
        out = b""
        while got := s.recv(65536):
            out += got
    assert b"uptime: " in out and out.endswith(b"\n")


def test_a_request_may_come_in_any_pieces(d):
    whole = b"UBCT1  get_option num-threads\n"
    assert d.speak([whole[i:i + 1] for i in range(len(whole))], pause=0.01) == b"2\n"
    assert d.speak([whole[:3], whole[3:]], pause=0.1) == b"2\n"


@pytest.mark.parametrize("request_, want", [
    (b"UBCT1 no_such_command\n", b"error unknown command 'no_such_command'\n"),
    (b"UBCT1 statusx\n", b"error unknown command 'statusx'\n"),
    (b"UBCT2 status\n", b"error version mismatch\n"),
    (b"UBCT1 get_option no-such-option\n", b"error unknown option\n"),
    (b"UBCT1 set_option no-such-option: 1\n", b"error setting option\n"),
    (b"HELLO status\n", b""),
    (b"GET / HTTP/1.1\r\n\r\n", b""),
    (b"UBCT1 " + b"x" * 2000 + b"\n", b""),
], ids=["command", "prefix", "version", "get_option", "set_option", "magic", "http", "long"])
def test_what_is_wrong_is_said(d, request_, want):
    assert d.speak(request_) == want
    assert d.control("status")


def test_commands_without_a_name_say_so(d):
    for command in ("flush", "flush_type", "flush_zone", "lookup", "forward_add", "stub_add", "forward_remove"):
        out = d.speak(b"UBCT1 " + command.encode() + b"\n").decode()
        assert out.startswith("error"), (command, out)


def test_exit_codes(d, daemon):
    d.control("no_such_command", code=1)
    d.control("status", code=0)
    d.control("-s", d.socket, "status", code=0)
    d.control("-s", d.dir + "/nothing-here", "status", code=1)
    d.control("-s", "127.0.0.1@1", "status", code=3)
    d.control("-s", "127.0.0.1@1", "stats", code=1)
    assert d.control("-q", "status", code=0) == ""
    assert subprocess.run([d.program("resolver-control")], capture_output=True, check=False).returncode == 1
    assert subprocess.run([d.program("resolver-control"), "-h"], capture_output=True, check=False).returncode == 1


def test_unbound_control_drives_it(d):
    program = shutil.which("unbound-control", path="/usr/sbin:/usr/local/sbin")
    p = subprocess.run([program, "-s", d.socket, "-c", d.client_conf, "status"], capture_output=True, text=True, check=False)
    assert p.returncode == 0 and "uptime" in p.stdout, p.stderr


def test_an_idle_client_holds_nobody_up(d):
    crowd = []
    for data in (b"", b"UBC", b"UBCT1 sta"):
        s = socket.socket(socket.AF_UNIX)
        s.connect(d.socket)
        s.sendall(data)
        crowd.append(s)
    for _ in range(20):
        assert texts(d.ask("target.chain.mini.", timeout=3)) == ["198.18.0.40"]
    assert d.control("get_option", "num-threads") == "2\n"
    for s in crowd:
        s.close()


def test_a_slow_reader_of_a_dump_holds_nobody_up(d, net):
    with open(net + "/queries.txt", encoding="ascii") as f:
        names = [line.split()[0] for line in f][:1500]
    for name in names:
        d.ask(name)
    with socket.socket(socket.AF_UNIX) as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.settimeout(10)
        s.connect(d.socket)
        s.sendall(b"UBCT1 dump_cache\n")
        time.sleep(0.3)
        for _ in range(20):
            assert texts(d.ask("target.chain.mini.", timeout=3)) == ["198.18.0.40"]
        assert d.control("get_option", "num-threads") == "2\n"
        out = b""
        while got := s.recv(65536):
            out += got
    assert out.startswith(b"START_RRSET_CACHE\n") and out.endswith(b"END_MSG_CACHE\nEOF\n")


def test_stats(d):
    before = d.stats()
    for _ in range(5):
        d.ask("target.chain.mini.")
    after = d.stats()
    assert after["total.num.queries"] == before["total.num.queries"] + 5
    assert after["total.num.cachehits"] >= before["total.num.cachehits"] + 4
    assert sum(after["thread%d.num.queries" % i] for i in (0, 1)) == after["total.num.queries"]
    assert after["total.num.cachehits"] + after["total.num.cachemiss"] == after["total.num.queries"]
    for key in ("time.now", "time.up", "time.elapsed", "total.requestlist.avg", "total.recursion.time.avg",
                "total.recursion.time.median", "total.tcpusage", "thread0.num.cachehits"):
        assert key in after, key
    assert abs(after["time.now"] - time.time()) < 5


def test_stats_begin_anew_after_stats(daemon):
    with daemon() as d:
        d.ask("target.chain.mini.")
        first = dict(line.split("=", 1) for line in d.control("stats").splitlines())
        assert float(first["total.num.queries"]) >= 1
        assert d.stats()["total.num.queries"] == 0


def test_every_line_of_stats_is_one_pair(d):
    for line in d.control("stats_noreset").splitlines():
        assert re.fullmatch(r"[a-zA-Z0-9_.]+=-?[0-9.e+-]+", line), line


def test_flush(daemon):
    with daemon() as d:
        for name, rrtype in (("target.chain.mini.", "A"), ("target.chain.mini.", "AAAA"), ("target.chain.net.", "A")):
            d.ask(name, rrtype)
        assert d.control("flush_type", "target.chain.mini", "A") == "ok\n"
        with d.misses(1):
            d.ask("target.chain.mini.", "A")
            d.ask("target.chain.mini.", "AAAA")
        assert d.control("flush", "target.chain.mini").startswith("ok")
        with d.misses(1):
            d.ask("target.chain.mini.", "A")
            d.ask("target.chain.net.", "A")
        assert re.fullmatch(r"ok removed \d+ rrsets, \d+ messages and \d+ key entries\n", d.control("flush_zone", "mini"))
        with d.misses(1):
            d.ask("target.chain.mini.", "A")
            d.ask("target.chain.net.", "A")
        assert d.control("flush_zone", "bad..name", code=1).startswith("error")


def test_a_zone_is_flushed_behind_aliases_too(daemon):
    aliases = ("len1.chain.mini.", "len2.chain.mini.", "to-wild.chain.mini.")  # the first two lead to chain.com.
    with daemon() as d:
        for name in aliases:
            d.ask(name)
        with d.misses(0):
            for name in aliases:
                d.ask(name)
        assert d.control("flush_zone", "chain.com").startswith("ok removed")
        with d.misses(2):
            for name in aliases:
                d.ask(name)


def test_lookup_names_the_servers(d):
    d.ask("target.chain.net.")
    out = d.control("lookup", "www.chain.net")
    assert out.startswith("The following name servers are used for lookup of www.chain.net.\n")
    assert "ns1.chain.net." in out or "ns2.chain.net." in out, out
    assert "127.23.0." in out


def test_dump_cache(d):
    d.ask("target.chain.mini.")
    d.ask("no-such.chain.mini.")
    out = d.control("dump_cache")
    lines = out.splitlines()
    marks = ["START_RRSET_CACHE", "END_RRSET_CACHE", "START_MSG_CACHE", "END_MSG_CACHE", "EOF"]
    assert [line for line in lines if line in marks] == marks
    assert re.search(r"(?m)^target\.chain\.mini\.\t\d+\tIN\tA\t198\.18\.0\.40$", out)
    assert re.search(r"(?m)^msg target\.chain\.mini\. IN A \d+ 1 \d+ \d \d+ \d+ \d+", out)
    assert re.search(r"(?m)^;rrset (nsec_apex )?\d+ \d+ \d+ \d+ \d+$", out)


def test_options_are_read_and_set(d):
    assert d.control("get_option", "port") == "%d\n" % d.port
    assert d.control("get_option", "do-not-query-localhost") == "no\n"
    assert d.control("get_option", "interface") == "127.0.0.1\n"
    assert d.control("set_option", "cache-max-ttl:", "77") == "ok\n"
    assert d.control("get_option", "cache-max-ttl") == "77\n"
    assert d.control("set_option", "cache-max-ttl:", "86400") == "ok\n"
    assert d.control("set_option", "cache-max-ttl:", "no number", code=1).startswith("error")


def test_a_set_option_takes_effect(daemon):
    with daemon() as d:
        d.control("set_option", "cache-max-ttl:", "50")
        d.ask("t86400.ttl.mini.")
        assert d.ask("t86400.ttl.mini.").answer[0].ttl <= 50


def test_verbosity(d):
    assert d.control("verbosity", "2") == "ok\n"
    assert "verbosity: 2" in d.control("status")
    assert d.control("verbosity", "0") == "ok\n"
    assert d.control("verbosity", "loud", code=1).startswith("error")


def test_reload_takes_the_new_configuration(daemon):
    with daemon("cache-max-ttl: 1000") as d:
        d.ask("target.chain.mini.")
        d.configure(["cache-max-ttl: 30", "access-control: 127.99.0.0/16 refuse"])
        assert d.control("reload") == "ok\n"
        time.sleep(0.5)
        assert d.control("get_option", "cache-max-ttl") == "30\n"
        d.ask("t86400.ttl.mini.")
        assert d.ask("t86400.ttl.mini.").answer[0].ttl <= 30
        assert rcode(d.ask("target.chain.mini.", source="127.99.0.1")) == "REFUSED"


def test_reload_survives_a_broken_configuration(daemon):
    """The old one stays, and who asked is told why, with the line."""
    with daemon() as d:
        d.ask("target.chain.mini.")
        d.spoil("    no-such-option: 1")
        out = d.control("reload", code=1)
        assert out.startswith("error") and "no-such-option" in out
        assert texts(d.ask("target.chain.mini.")) == ["198.18.0.40"]
        with d.misses(0):
            d.ask("target.chain.mini.")
        assert texts(d.ask("target.chain.org.")) == ["198.18.0.40"]
        d.configure()
        assert d.control("reload") == "ok\n"


def test_many_clients_at_once(d):
    wrong = []

    def client():
        for _ in range(10):
            if b"uptime" not in d.speak(b"UBCT1 status\n"):
                wrong.append(1)
    crowd = [threading.Thread(target=client) for _ in range(12)]
    for t in crowd:
        t.start()
    for t in crowd:
        t.join()
    assert not wrong


def test_stop(daemon):
    d = daemon()
    d.start()
    try:
        assert d.control("stop") == "ok\n"
        assert d.process.wait(10) == 0
        assert d.stop() == 0
    finally:
        shutil.rmtree(d.dir)
    assert isinstance(d, Daemon)


def test_a_dump_is_loaded_again(daemon):
    forward = "forward-zone:\n    name: .\n    forward-addr: %s\n"
    with FakeServer(fixed("192.0.2.1")) as server:
        with daemon(more=forward % server.at) as d:
            for i in range(20):
                d.ask("n%d.example." % i)
                d.ask("n%d.example." % i, "AAAA")
            dump = d.control("dump_cache")
        asked = len(server.asked)
        with daemon(more=forward % server.at) as d:
            assert d.control("load_cache", stdin=dump) == "ok\n"
            for i in range(20):
                assert texts(d.ask("n%d.example." % i)) == ["192.0.2.1"]
                assert not d.ask("n%d.example." % i, "AAAA").answer
            assert len(server.asked) == asked


@pytest.mark.parametrize("spoil, said", [
    (lambda text: "", "ends before its end"), (lambda text: text[:len(text) // 2], "line"),
    (lambda text: text.replace("START_MSG_CACHE", "NONSENSE"), "does not belong here"),
    (lambda text: text.replace(";rrset ", ";rrset x"), "no head of a record set"),
    (lambda text: text.replace("msg ", "msg x y z "), "no head of an answer"),
    (lambda text: "\x01\x02\x03\n" + text, "does not belong here"),
])
def test_a_spoiled_dump_is_refused_with_its_line(daemon, spoil, said):
    with FakeServer(fixed("192.0.2.1")) as server, daemon(
            more="forward-zone:\n    name: .\n    forward-addr: %s\n" % server.at) as d:
        d.ask("a.example.")
        out = d.control("load_cache", stdin=spoil(d.control("dump_cache")), code=1)
        assert out.startswith("error") and said in out
        assert texts(d.ask("b.example.")) == ["192.0.2.1"]


def test_a_spoiled_dump_is_refused_though_its_sender_waits(d):
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(30)
        s.connect(d.socket)
        s.sendall(b"UBCT1 load_cache\nNONSENSE\nand more\n")
        assert s.recv(4096).startswith(b"error")


def test_what_stands_between_quotes_is_one_word_in_json(d):
    d.control("local_data", 'quoted.example 60 IN TXT "a  b" "c\\"  d"')
    rows = json.loads(d.control("--json", "list_local_data"))["data"]
    row = next(r for r in rows if r["name"] == "quoted.example.")
    assert row["data"] == ['"a  b"', '"c\\"  d"'], row
    d.control("local_data_remove", "quoted.example")


def test_a_list_that_begins_with_a_zone_called_error_is_no_error(d):
    d.control("forward_add", "error.example", "127.0.0.9")
    try:
        assert d.control("list_forwards").startswith("error.example. IN forward 127.0.0.9")
        assert d.control("-q", "list_forwards") == ""
        said = json.loads(d.control("--json", "list_forwards"))
        assert said["ok"] and said["data"][0]["zone"] == "error.example.", said
        assert said["data"][0]["servers"] == ["127.0.0.9"], said
    finally:
        d.control("forward_remove", "error.example")


def test_every_reply_is_json_when_told(d):
    d.ask("target.chain.mini.")
    status = json.loads(d.control("--json", "status"))
    assert status["ok"] and status["data"]["threads"] == 2 and status["data"]["verbosity"] in range(6), status
    stats = json.loads(d.control("--json", "stats_noreset"))["data"]
    assert stats["total.num.queries"] >= 1 and isinstance(stats["time.now"], float)
    rows = json.loads(d.control("--json", "dump_infra"))["data"]
    assert rows and all(r["server"].startswith("127.") and r["zone"].endswith(".") and "rto" in r for r in rows), rows
    assert all(r["lame"] == {"dnssec": 0, "rec": 0, "A": 0, "other": 0} for r in rows), rows
    zones = json.loads(d.control("--json", "list_local_zones"))["data"]
    assert {"name": "localhost.", "type": "redirect"} in zones or {"name": "localhost.", "type": "static"} in zones
    records = json.loads(d.control("--json", "list_local_data"))["data"]
    assert {"name": "localhost.", "ttl": 10800, "class": "IN", "type": "A", "data": ["127.0.0.1"]} in records
    stubs = json.loads(d.control("--json", "list_stubs"))["data"]
    assert stubs[0]["zone"] == "." and stubs[0]["prime"] is True and "prime" not in stubs[0]["servers"]
    assert all(s.endswith(".") or s.count(".") == 3 or ":" in s or "@" in s for s in stubs[0]["servers"]), stubs[0]
    assert json.loads(d.control("--json", "verbosity", "1")) == {"command": "verbosity", "ok": True}
    assert json.loads(d.control("--json", "flush", code=1))["error"].startswith("error")
    lines = d.control("local_datas", stdin="a.example 60 IN A nonsense\nb.example 60 IN A nonsense\n", code=None)
    said = json.loads(d.control("--json", "local_datas", stdin="a.example 60 IN A nonsense\nb.example 60 IN A nonsense\n", code=None))
    assert said["error"] + "\nadded %d datas\n" % said["data"]["added"] == lines, (said, lines)
    assert json.loads(d.control("--json", "get_option", "num-threads"))["data"] == {"option": "num-threads", "value": 2}
