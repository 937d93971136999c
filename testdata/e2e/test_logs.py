"""The log: what each option adds to it, in Unbound's form, and what keeps it from being flooded.

SPDX-License-Identifier: BSD-3-Clause
"""

import os
import re
import shutil
import subprocess

import pytest

from lab import FakeServer, fixed, refusing, until

HEAD = r"(?m)^\[\d{10}\] resolverd\[\d+:[01]\] "


def forward(server):
    return "forward-zone:\n    name: .\n    forward-addr: %s\n" % server.at


@pytest.fixture(scope="module")
def upstream():
    with FakeServer(fixed("192.0.2.1")) as server:
        yield server


# options, what is asked, lines that have to be there, a line that must not
ROWS = [
    ([], "www.example.", [], r"www\.example\."),
    (["log-queries: yes"], "www.example.", [HEAD + r"info: 127\.0\.0\.1 www\.example\. A IN$"], r"NOERROR"),
    (["log-replies: yes"], "www.example.",
     [HEAD + r"info: 127\.0\.0\.1 www\.example\. A IN NOERROR \d\.\d{6} 0 \d+$"], None),
    (["log-queries: yes", "log-replies: yes", "log-tag-queryreply: yes"], "www.example.",
     [HEAD + r"query: 127\.0\.0\.1 www\.example\. A IN$", HEAD + r"reply: 127\.0\.0\.1 www\.example\. A IN NOERROR"],
     r"info: 127"),
    (["log-replies: yes", "log-destaddr: yes"], "www.example.",
     [HEAD + r"info: 127\.0\.0\.1 www\.example\. A IN NOERROR \S+ 0 \d+ on udp 127\.0\.0\.1 \d+$"], None),
    (["log-replies: yes", "access-control: 127.0.0.1/32 refuse"], "www.example.",
     [HEAD + r"info: 127\.0\.0\.1 www\.example\. A IN REFUSED 0\.000000 1 \d+$"], None),
    (["log-local-actions: yes", "local-zone: here. static"], "x.here.",
     [HEAD + r"info: here\. static 127\.0\.0\.1@\d+ x\.here\. A IN$"], None),
    (["log-identity: fox", "log-queries: yes"], "www.example.", [r"(?m)^\[\d{10}\] fox\[\d+:0\] info: 127"], "resolverd\\["),
    (["log-time-ascii: yes", "log-queries: yes"], "www.example.",
     [r"(?m)^[A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d resolverd\[\d+:0\] info: 127"], None),
    (["log-time-ascii: yes", "log-time-iso: yes", "log-queries: yes"], "www.example.",
     [r"(?m)^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[-+]\d\d:\d\d resolverd\[\d+:0\] info: 127"], None),
]


@pytest.mark.parametrize("options, name, wanted, unwanted", ROWS, ids=["+".join(
    o.split(":")[0] for o in r[0]) or "none" for r in ROWS])
def test_each_option_has_its_line(daemon, upstream, options, name, wanted, unwanted):
    with daemon("num-threads: 1", *options, more=forward(upstream)) as d:
        d.ask(name)
        log = d.log()
        for want in wanted:
            assert re.search(want, log), log
        assert not (unwanted and re.search(unwanted, log.split("start of service")[-1])), log


def test_threads_have_the_number_of_the_system(daemon, upstream):
    with daemon("log-thread-id: yes", "log-queries: yes", "num-threads: 1", more=forward(upstream)) as d:
        d.ask("www.example.")
        pid, thread = re.search(r"resolverd\[(\d+):(\d+)\] info: 127", d.log()).groups()
        assert thread in os.listdir("/proc/%s/task" % pid)


def test_failures_have_their_reason(daemon):
    with FakeServer(refusing()) as server, daemon("log-servfail: yes", more=forward(server)) as d:
        d.ask("www.example.")
        assert re.search(HEAD + r"error: SERVFAIL <www\.example\. A IN>: \S.*127\.0\.0\.1", d.log()), d.log()


def test_the_file_is_opened_again(daemon, upstream, tmp_path):
    path = tmp_path / "log"
    with daemon('logfile: "%s"' % path, "log-queries: yes", more=forward(upstream)) as d:
        d.ask("before.example.")
        path.rename(tmp_path / "log.1")
        d.ask("between.example.")
        assert d.control("log_reopen") == "ok\n"
        d.ask("after.example.")
        until(lambda: "after.example." in path.read_text())
        old, new = (tmp_path / "log.1").read_text(), path.read_text()
        assert "before.example." in old and "between.example." in old and "after.example." not in old
        assert "after.example." in new and "between.example." not in new


TOKYO = "/usr/share/zoneinfo/Asia/Tokyo"
IN_TOKYO = ["unshare", "-m", "sh", "-c", 'mount --bind %s /etc/localtime && exec "$@"' % TOKYO, "sh"]


def test_in_a_chroot_the_time_zone_and_the_verbosity_stay(daemon):
    if subprocess.run(IN_TOKYO + ["true"], capture_output=True, check=False).returncode:
        pytest.skip("the system gives us no mounts of our own, or does not know Tokyo")
    d = daemon("log-time-ascii: yes", "log-time-iso: yes")
    d.before = IN_TOKYO
    d.environment = {k: v for k, v in os.environ.items() if k != "TZ"}
    fixed = [line for line in d.fixed if not line.startswith(("chroot:", "directory:"))]
    shutil.copy(os.path.join(d.net, "root.hints"), d.dir)
    d.fixed = [line if not line.startswith("root-hints:") else 'root-hints: "%s/root.hints"' % d.dir for line in fixed]
    d.fixed += ['chroot: "%s"' % d.dir, 'directory: "%s"' % d.dir, 'logfile: "%s/log"' % d.dir]
    d.configure(["log-time-ascii: yes", "log-time-iso: yes"])
    with d:
        for command in (["verbosity", "4"], ["log_reopen"]):
            assert d.control(*command) == "ok\n"
        assert "verbosity: 4\n" in d.control("status")
        d.control("reload")
        with open(os.path.join(d.dir, "log"), encoding="utf-8") as f:
            lines = f.read().splitlines()
        assert any("log file reopened" in line for line in lines) and any("reloaded" in line for line in lines)
        assert all(re.match(r"\S+\+09:00 ", line) for line in lines), lines


def test_a_flood_of_the_same_line_is_counted(daemon):
    """Whoever reloads what is broken without end fills no disk."""
    with daemon() as d:
        d.spoil()
        for _ in range(30):
            d.control("reload", code=1)
        assert d.log().count("] error: reload failed, old configuration stays in use") == 10
        assert d.stop() == 0
        assert re.search(r"(?m) error: 20 more times: reload failed, old configuration stays in use: ", d.log())
