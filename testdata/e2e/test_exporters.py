"""Programs that read the statistics: Debian's munin plugin, Prometheus, and the rules by which others read.

SPDX-License-Identifier: BSD-3-Clause
"""

import json
import os
import re
import shutil
import subprocess
import time
import urllib.parse
import urllib.request

import pytest

from lab import ADDRESS, free_port

MUNIN = "/usr/share/munin/plugins/unbound_munin_"
GRAPHS = ["hits", "queue", "memory", "by_type", "by_class", "by_opcode", "by_rcode", "by_flags", "histogram"]


@pytest.fixture
def d(daemon):
    port = free_port()
    with daemon("num-threads: 2", "extended-statistics: yes", "top-lists: 20", "local-zone: gone. always_nxdomain",
                more="metrics:\n    metrics-enable: yes\n    metrics-interface: 127.0.0.1@%d\n    metrics-top: 5\n"
                % port) as it:
        it.http = port
        it.control("flush_stats")
        for _ in range(3):
            it.ask("target.chain.mini.")
            it.ask("x.gone.", "AAAA")
        yield it


# -- munin ----------------------------------------------------------------------------------------


def munin(d, graph, folder, control, *arguments):
    link = os.path.join(folder, "unbound_munin_" + graph)
    if not os.path.exists(link):
        os.symlink(MUNIN, link)
    p = subprocess.run(["/bin/sh", link, *arguments], capture_output=True, text=True, timeout=30, check=False,
                       env={**os.environ, "MUNIN_PLUGSTATE": folder, "unbound_conf": d.client_conf,
                            "unbound_control": control})
    assert p.returncode == 0 and not p.stderr, p.stdout + p.stderr
    return p.stdout


@pytest.mark.skipif(not os.path.exists(MUNIN), reason="the plugin of Debian's unbound is not installed")
@pytest.mark.parametrize("client", ["unbound-control", "resolver-control"])
def test_every_graph_of_munin_has_its_values(d, client, tmp_path):
    control = d.program(client) if client.startswith("resolver") else shutil.which(
        client, path="/usr/sbin:/usr/bin")
    got = {}
    for graph in GRAPHS:
        fields = set(re.findall(r"(?m)^(\S+)\.label ", munin(d, graph, str(tmp_path), control, "config")))
        values = dict(re.findall(r"(?m)^(\S+)\.value (\S+)$", munin(d, graph, str(tmp_path), control)))
        assert fields and fields == set(values), graph
        got[graph] = {k: float(v) for k, v in values.items()}
    assert 6 in got["hits"].values()
    assert [got["by_type"][k] for k in sorted(got["by_type"]) if k.rsplit("_", 1)[1] in ("A", "AAAA")] == [3, 3]
    assert [v for k, v in got["by_rcode"].items() if k.endswith("NXDOMAIN")] == [3]
    assert sum(got["histogram"].values()) == 6  # hits are in its first column
    assert all(v > 0 for k, v in got["memory"].items() if "cache" in k)


# -- others: how they read, as their sources say --------------------------------------------------


def lines(d):
    return d.control("stats_noreset").splitlines()


def test_telegraf_reads_every_line(d):
    """key=number; dots become underscores; threads may become a tag."""
    fields, threads = {}, {}
    for line in lines(d):
        key, value = line.split("=")
        assert re.fullmatch(r"[A-Za-z0-9._+-]+", key) and float(value) >= 0
        m = re.fullmatch(r"thread(\d+)\.(.*)", key)
        if m:
            threads.setdefault(m[1], {})[m[2].replace(".", "_")] = float(value)
        else:
            fields[key.replace(".", "_")] = float(value)
    assert set(threads) == {"0", "1"}
    assert fields["total_num_queries"] == sum(t["num_queries"] for t in threads.values()) == 6


def test_netdata_reads_what_it_insists_on(d):
    """An answer of one line is an error to it, and so is one without total.num.cachemiss."""
    got = dict(line.split("=") for line in lines(d))
    assert len(got) > 1 and "total.num.cachemiss" in got
    assert all(float(v) >= 0 for v in got.values())


# Patterns of the Prometheus exporter for Unbound; each has to find something.
EXPORTED = [r"thread\d+\.num\.(cachehits|cachemiss|queries|expired|prefetch|recursivereplies|dns_error_reports)",
            r"thread\d+\.num\.queries_(cookie_valid|cookie_client|discard_timeout|replyaddr_limit|wait_limit)",
            r"thread\d+\.requestlist\.(current\.all|current\.user|exceeded|overwritten)",
            r"thread\d+\.requestlist\.current\.replies", r"total\.recursion\.time\.(avg|median)",
            r"time\.(now|up|elapsed)", r"mem\.cache\.(rrset|message)", r"mem\.mod\.(iterator|validator|respip)",
            r"mem\.http\.(query|response)_buffer", r"num\.query\.type\.\w+", r"num\.query\.class\.\w+",
            r"num\.query\.opcode\.\w+", r"num\.query\.flags\.(QR|AA|TC|RD|RA|Z|AD|CD)", r"num\.query\.edns\.(DO|present)",
            r"num\.query\.(ipv6|tcp|tcpout|udpout|tls|https)", r"num\.query\.tls\.resume", r"num\.answer\.rcode\.\w+",
            r"num\.answer\.(secure|bogus)", r"num\.rrset\.bogus", r"num\.valops", r"unwanted\.(queries|replies)",
            r"(msg|rrset|infra)\.cache\.count", r"(msg|rrset)\.cache\.max_collisions",
            r"num\.query\.aggressive\.(NOERROR|NXDOMAIN)", r"histogram\.\d{6}\.\d{6}\.to\.\d{6}\.\d{6}"]


@pytest.mark.parametrize("pattern", EXPORTED)
def test_the_exporter_for_unbound_finds_its_keys(d, pattern):
    found = {m[0] for m in (re.match(pattern + r"$", line.split("=")[0]) for line in lines(d)) if m}
    for group in re.findall(r"\(([^()]+\|[^()]+)\)", pattern):
        for word in group.split("|"):
            word = word.replace("\\", "")
            assert any(word in key for key in found), word
    assert found


# -- Prometheus -----------------------------------------------------------------------------------


@pytest.mark.skipif(not shutil.which("prometheus"), reason="Prometheus is not installed")
def test_prometheus_scrapes_and_adds_up(d, tmp_path):
    port = free_port()
    (tmp_path / "conf.yml").write_text(
        "global:\n  scrape_interval: 1s\nscrape_configs:\n  - job_name: resolverd\n    static_configs:\n"
        "      - targets: ['127.0.0.1:%d']\n" % d.http)
    p = subprocess.Popen(["prometheus", "--config.file=%s" % (tmp_path / "conf.yml"),
                          "--storage.tsdb.path=%s" % (tmp_path / "data"), "--web.listen-address=%s:%d" % (ADDRESS, port)],
                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def value(query):
        url = "http://%s:%d/api/v1/query?query=%s" % (ADDRESS, port, urllib.parse.quote(query))
        with urllib.request.urlopen(url, timeout=10) as r:
            result = json.load(r)["data"]["result"]
        return float(result[0]["value"][1]) if result else None

    def wait(query, want):
        deadline = time.monotonic() + 40
        got = None
        while time.monotonic() < deadline:
            try:
                got = value(query)
            except OSError:
                pass
            if got == want:
                return
            time.sleep(0.3)
        assert got == want, query
    try:
        wait('up{job="resolverd"}', 1)
        wait("sum(resolverd_queries_total)", 6)
        wait('resolverd_query_types_total{type="AAAA"}', 3)
        wait('resolverd_answer_seconds_count{transport="udp"}', 1)
        wait('resolverd_top_blocked{name="x.gone."}', 3)
        wait("resolverd_reload_success", 1)
    finally:
        p.terminate()
        try:
            p.wait(15)
        except subprocess.TimeoutExpired:
            p.kill()
            p.wait()
