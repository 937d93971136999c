"""Metrics, health and status over HTTP.

SPDX-License-Identifier: BSD-3-Clause
"""

import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import time

import pytest

from lab import ADDRESS, free_port, until
from test_process import frozen

SAMPLE = re.compile(r'resolverd_[a-z0-9_]+(\{[a-z_]+="[^"]*"(,le="[^"]+")?\})? [0-9.e+-]+')


@pytest.fixture(scope="module")
def d(daemon):
    port = free_port()
    with daemon("num-threads: 2", "extended-statistics: yes", 'cache-file: "cache"',
                more="metrics:\n    metrics-enable: yes\n    metrics-interface: 127.0.0.1@%d\n" % port) as it:
        it.http = port
        yield it


def get(d, path, method="GET", timeout=15):
    c = http.client.HTTPConnection(ADDRESS, d.http, timeout=timeout)
    c.request(method, path)
    r = c.getresponse()
    return r.status, r.getheader("Content-Type"), r.read().decode()


def samples(d):
    text = get(d, "/metrics")[2]
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line[0] != "#"}


def test_metrics_are_what_prometheus_reads(d):
    d.ask("target.chain.mini.")
    d.control("cache_save")
    status, kind, text = get(d, "/metrics")
    assert status == 200 and kind.startswith("text/plain; version=0.0.4")
    family = None
    for line in text.splitlines():
        if line.startswith("# HELP "):
            family = line.split()[2]
        elif line.startswith("# TYPE "):
            assert line.split()[2] == family and line.split()[3] in ("counter", "gauge", "histogram")
        else:
            assert SAMPLE.fullmatch(line) and line.startswith(family), line
    heads = re.findall(r"(?m)^# TYPE (\S+)", text)
    assert len(heads) == len(set(heads))


@pytest.mark.skipif(not shutil.which("promtool"), reason="Prometheus is not installed")
def test_promtool_finds_nothing_wrong(d):
    text = get(d, "/metrics")[2]
    p = subprocess.run(["promtool", "check", "metrics"], input=text, text=True, capture_output=True, check=False)
    assert p.returncode == 0 and not p.stderr, p.stdout + p.stderr


def test_the_cache_file_is_told_about(d):
    d.ask("target.chain.mini.")
    d.control("cache_save")
    now = samples(d)
    assert now["resolverd_cache_file_written_bytes"] == os.path.getsize(os.path.join(d.dir, "cache"))
    assert time.time() - 20 < now["resolverd_cache_file_written_timestamp_seconds"] <= time.time() + 1
    assert now["resolverd_cache_file_written_entries"] > 0 and now["resolverd_cache_file_failures_total"] == 0


def test_counters_count(d):
    before = samples(d)
    for _ in range(5):
        d.ask("target.chain.mini.")
    d.ask("www.nowhere-at-all.mini.")
    with d.tcp() as s:
        s.close()
    after = samples(d)

    def grown(name):
        return sum(after[k] - before.get(k, 0) for k in after if k.startswith("resolverd_" + name))
    assert grown("queries_total{") == 6
    assert grown("cachehits_total{") + grown("cachemiss_total{") == 6
    assert grown('answer_rcodes_total{rcode="NXDOMAIN"}') == 1
    assert grown('query_types_total{type="A"}') == 6
    assert grown('answer_seconds_count{transport="udp"}') >= 1
    assert grown('upstream_seconds_count{transport="udp"}') >= 1
    assert after['resolverd_answer_seconds_bucket{transport="udp",le="+Inf"}'] == after[
        'resolverd_answer_seconds_count{transport="udp"}']
    assert after['resolverd_cache_entries{cache="message"}'] >= 2
    assert 0 < after['resolverd_cache_bytes{cache="message"}'] < after['resolverd_cache_limit_bytes{cache="message"}']


def test_histograms_only_grow_with_their_bounds(d):
    text = get(d, "/metrics")[2]
    for transport in ("udp", "tcp", "tls", "https"):
        rows = re.findall(r'resolverd_upstream_seconds_bucket\{transport="%s",le="(\S+)"\} (\d+)' % transport, text)
        bounds, counts = [float(b) for b, _ in rows], [int(c) for _, c in rows]
        assert len(rows) > 10 and bounds == sorted(set(bounds)) and counts == sorted(counts)


def test_health_asks_for_the_root(d, daemon):
    assert get(d, "/healthz") == (200, "text/plain; charset=utf-8", "ok\n")
    port = free_port()
    # a forwarder that nobody has started
    with daemon(more='forward-zone:\n    name: "."\n    forward-addr: 127.0.0.1@1\n'
                     "metrics:\n    metrics-enable: yes\n    metrics-port: %d\n    metrics-interface: 127.0.0.1\n"
                     % port) as deaf:
        deaf.http = port
        status, _, text = get(deaf, "/healthz")
        assert status == 503 and text.startswith("failing: "), text


def test_status_is_json(d):
    status, kind, text = get(d, "/status.json")
    it = json.loads(text)
    assert status == 200 and kind == "application/json"
    assert it["threads"] == 2 and it["queries"] >= 1 and it["cache_hits"] + it["cache_misses"] == it["queries"]
    assert {c["name"] for c in it["caches"]} == {"message", "rrset", "infra", "key", "negative"}


def test_the_version_is_the_same_everywhere(d):
    said = subprocess.run([d.program("resolverd"), "-V"], capture_output=True, text=True, timeout=20).stdout
    version = said.splitlines()[0].removeprefix("Version ")
    assert re.fullmatch(r"\d+\.\d+\.\d+", version)
    assert ("version: %s\n" % version) in d.control("status")
    assert json.loads(get(d, "/status.json")[2])["version"] == version
    for name in ("version.bind.", "version.server."):
        assert d.ask(name, "TXT", "CH").answer[0][0].strings[0].decode() == "resolverd " + version
    assert "start of service (resolverd %s)" % version in d.log()


@pytest.mark.parametrize("sent, status", [
    (b"GET /nowhere HTTP/1.1\r\n\r\n", 404),
    (b"POST /metrics HTTP/1.1\r\n\r\n", 405),
    (b"GET metrics HTTP/1.1\r\n\r\n", 400),
    (b"\r\n\r\n", 400),
    (b"GET /healthz?verbose=1 HTTP/1.0\r\nHost: x\r\n\r\n", 200),
    (b"GET /healthz HTTP/1.1\nHost: x\n\n", 200),
    (b"GET / HTTP/1.1\r\nX: " + b"x" * 5000, 431),
], ids=["nowhere", "post", "no-path", "empty", "query", "bare-lf", "large"])
def test_what_is_wrong_has_its_status(d, sent, status):
    with socket.create_connection((ADDRESS, d.http), 15) as s:
        s.sendall(sent)
        got = b""
        while piece := s.recv(65536):
            got += piece
    assert got.startswith(b"HTTP/1.1 %d " % status), got[:80]
    head, body = got.split(b"\r\n\r\n", 1)
    assert b"Content-Length: %d\r\n" % len(body) in head + b"\r\n"


def ask_as(port, host):
    with socket.create_connection((ADDRESS, port), 15) as s:
        s.sendall(b"GET /status.json HTTP/1.1\r\nAccept: */*\r\nHost: %s\r\n\r\n" % host.encode())
        return int(s.recv(4096).split()[1])


def test_a_strangers_name_that_leads_here_gets_nothing(d, daemon):
    for host, status in (("127.0.0.1:9167", 200), ("[::1]", 200), ("localhost", 200), ("dns.example.net", 421), ("evil.example:9167", 421)):
        assert ask_as(d.http, host) == status, host
    port = free_port()
    with daemon(more="metrics:\n    metrics-enable: yes\n    metrics-interface: 127.0.0.1@%d\n    metrics-host: dns.example.net\n"
                % port):
        assert (ask_as(port, "dns.example.net:9167"), ask_as(port, "evil.example")) == (200, 421)


def test_head_has_no_body(d):
    assert get(d, "/metrics", method="HEAD")[::2] == (200, "")


def test_silent_clients_keep_nobody(d):
    crowd = []
    try:
        for i in range(60):
            s = socket.create_connection((ADDRESS, d.http), 5)
            s.sendall(b"GET /met" if i % 2 else b"")
            crowd.append(s)
        begin = time.monotonic()
        assert get(d, "/status.json")[0] == 200
        assert time.monotonic() - begin < 4
    finally:
        for s in crowd:
            s.close()


def test_a_reload_moves_the_socket(daemon):
    here, there = free_port(), free_port()
    clause = "metrics:\n    metrics-enable: yes\n    metrics-interface: 127.0.0.1\n    metrics-port: %d\n"
    with daemon(more=clause % here) as d:
        d.http = here
        assert get(d, "/healthz")[0] == 200
        d.configure(more=clause % there)
        d.control("reload")
        d.http = there
        assert get(d, "/healthz")[0] == 200
        with pytest.raises(OSError):
            socket.create_connection((ADDRESS, here), 2)
        d.configure()
        d.control("reload")
        with pytest.raises(OSError):
            socket.create_connection((ADDRESS, there), 2)


def test_of_sockets_that_cannot_all_be_opened_none_is(daemon):
    here, there = free_port(), free_port()
    clause = "metrics:\n    metrics-enable: yes\n    metrics-port: %d\n    metrics-interface: 127.0.0.1\n"
    with daemon(more=clause % here) as d:
        d.http = here
        d.configure(more=clause % there + "    metrics-interface: 192.0.2.1\n")
        d.control("reload")
        assert "192.0.2.1" in d.log() and "open sockets stay open" in d.log()
        assert get(d, "/healthz")[0] == 200
        with pytest.raises(OSError):
            socket.create_connection((ADDRESS, there), 2)


def test_the_dashboard_asks_for_what_is_there(d):
    path = os.path.join(os.path.dirname(__file__), "..", "..", "contrib", "grafana", "resolverd.json")
    with open(path, encoding="utf-8") as f:
        asked = set(re.findall(r"resolverd_[a-z_]+", f.read()))
    text = get(d, "/metrics")[2]
    there = set(re.findall(r"(?m)^(resolverd_[a-z0-9_]+)", text)) | set(re.findall(r"# TYPE (\S+)", text))
    # there are no encrypted upstreams here
    absent = ("encrypted_upstream", "blocklist_", "auth_zone", "lease_file", "top_")
    assert {name for name in asked - there if not name.startswith(tuple("resolverd_" + a for a in absent))} == set()


def unexplained(text):
    """Families that doc/metrics.md does not name."""
    path = os.path.join(os.path.dirname(__file__), "..", "..", "doc", "metrics.md")
    with open(path, encoding="utf-8") as f:
        words = re.findall(r"`([a-z0-9_]+)`", f.read())
    return sorted(set(re.findall(r"(?m)^# TYPE resolverd_(\S+)", text)) - set(words))


def test_every_metric_is_explained(d):
    assert unexplained(get(d, "/metrics")[2]) == []


def test_sources_and_tops_are_told(daemon, tmp_path):
    (tmp_path / "ads").write_text("one.example\ntwo.example\n")
    (tmp_path / "hosts").write_text("192.0.2.7 printer.lan\n")
    (tmp_path / "zone").write_text("$TTL 60\n@ SOA a. b. 17 2 3 4 5\n@ NS a.\n")
    port = free_port()
    with daemon("top-lists: 10", 'hosts-file: "%s/hosts"' % tmp_path, more=(
            'blocklist:\n    name: ads\n    file: "%s/ads"\nauth-zone:\n    name: held.example\n    zonefile: "%s/zone"\n'
            "metrics:\n    metrics-enable: yes\n    metrics-interface: 127.0.0.1@%d\n    metrics-top: 1\n"
            % (tmp_path, tmp_path, port))) as d:
        d.http = port
        for name in ("one.example", "one.example", "two.example"):
            d.ask(name)
        got = samples(d)
        now = time.time()
        want = {'blocklist_names{list="ads"}': 2, 'blocklist_blocked_total{list="ads"}': 3, "queries_blocked_total": 3,
                'blocklist_stale{list="ads"}': 0, 'auth_zone_serial{zone="held.example."}': 17,
                'auth_zone_usable{zone="held.example."}': 1, 'lease_file_records{file="%s/hosts"}' % tmp_path: 2,
                'lease_file_failing{file="%s/hosts"}' % tmp_path: 0, 'top_blocked{name="one.example."}': 2,
                'top_names{name="one.example."}': 2, "reload_success": 1}
        assert {k: got.get("resolverd_" + k) for k in want} == want
        assert not [k for k in got if "two.example" in k]
        assert unexplained(get(d, "/metrics")[2]) == []
        for name in ('blocklist_made_timestamp_seconds{list="ads"}', "reload_timestamp_seconds",
                     'lease_file_read_timestamp_seconds{file="%s/hosts"}' % tmp_path):
            assert abs(got["resolverd_" + name] - now) < 60, name
        if shutil.which("promtool"):
            p = subprocess.run(["promtool", "check", "metrics"], input=get(d, "/metrics")[2], text=True,
                               capture_output=True, check=False)
            assert p.returncode == 0 and not p.stderr, p.stdout + p.stderr
        it = json.loads(get(d, "/status.json")[2])
        assert it["blocked"] == 3 and it["reload_succeeded"] and it["blocklists"][0]["names"] == 2
        assert it["auth_zones"] == [{"zone": "held.example.", "serial": 17, "since": it["auth_zones"][0]["since"],
                                     "usable": True}]
        assert it["top"]["blocked"] == [{"name": "one.example.", "count": 2}, {"name": "two.example.", "count": 1}]
        d.spoil()
        d.control("reload", code=1)
        assert samples(d)["resolverd_reload_success"] == 0


def test_pages_do_not_pile_up_behind_a_thread_that_stands_still(daemon):
    """Each scrape that waits for it has its answer in time, and those of which there are too many have it at once."""
    port = free_port()
    with daemon("num-threads: 2", "sandbox: no",
                more="metrics:\n    metrics-enable: yes\n    metrics-interface: 127.0.0.1@%d\n" % port) as d:
        d.http = port
        with frozen(d, "worker 1"):
            for _ in range(2):
                began = time.monotonic()
                crowd = [socket.create_connection((ADDRESS, port), timeout=30) for _ in range(32)]
                for s in crowd:
                    s.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
                for s in crowd:
                    assert s.recv(1000).startswith(b"HTTP/1.1 503 ")
                    s.close()
                assert 10 < time.monotonic() - began < 20
            began = time.monotonic()
            status, _, text = get(d, "/metrics", timeout=30)
            assert (status, text) == (503, "a thread does not respond\n")
            assert time.monotonic() - began < 5
            assert "64 requests for pages and statistics wait for it" in d.log()
        until(lambda: get(d, "/metrics")[0] == 200)
        assert get(d, "/healthz")[0] == 200
