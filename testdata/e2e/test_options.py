"""get_option of everything there is, as checkconf and Debian's unbound show it; set_option of what can change.

SPDX-License-Identifier: BSD-3-Clause
"""

import os
import re
import shutil
import socket
import subprocess
import time

import pytest

from lab import ADDRESS, free_port

# Each in a form of its own, and none the default.
SERVER = """
    verbosity: 0
    statistics-interval: ""
    msg-cache-size: 12m
    rrset-cache-size: 1k
    msg-cache-slabs: 4
    access-control: 127.0.0.0/8 allow_snoop
    private-address: 10.0.0.0/8
    private-address: 192.168.0.0/16
    private-domain: "Example.COM."
    domain-insecure: "Example.net."
    do-not-query-address: 10.0.0.1
    cache-max-ttl: 1000
    hide-identity: yes
    identity: "a b"
    target-fetch-policy: "0 0 0 0"
    val-override-date: "20240229123456"
    val-nsec3-keysize-iterations: "1024 10 2048 20"
    tls-additional-port: 8853
    define-tag: "red green"
    access-control-tag: 10.0.0.0/8 "red green"
    tcp-connection-limit: 10.0.0.0/8 10
    ratelimit-for-domain: example.com 100
    nsid: "ascii_abc"
    infra-cache-min-rtt: 60
    outgoing-range: 100
    trust-anchor: ". IN DS 20326 8 2 e06d44b80b8f1d39a95c0b0d7c65d08458e880409bbc683457104237c7f8ec8d"
    neg-cache-size: 100k
    extended-statistics: yes
    log-queries: no
"""
# Not the same there: a default of its own, or of its packager, or an older one; or the order of a list.
THEIRS = set("""access-control chroot directory pidfile username do-daemonize module-config interface use-syslog logfile
    control-key-file control-cert-file server-key-file server-cert-file dnstap-socket-path infra-cache-slabs
    ip-ratelimit-slabs key-cache-slabs max-udp-size num-queries-per-thread ratelimit-slabs rrset-cache-slabs
    serve-expired-client-timeout serve-expired-ttl so-rcvbuf so-sndbuf msg-cache-slabs prefetch-key""".split())
MANY = {"(top)", "stub-zone", "forward-zone", "auth-zone", "rpz", "key", "blocklist", "view", "dhcp-leases"}


@pytest.fixture(scope="module")
def d(daemon):
    with daemon(*[line.strip() for line in SERVER.strip().splitlines()]) as it:
        yield it


@pytest.fixture(scope="module")
def rows(bin_dir):
    """clause, option, status, default; and "start" where a change acts at the next start alone."""
    out = subprocess.run([os.path.join(bin_dir, "resolver-checkconf"), "--list-options"], text=True,
                         capture_output=True, check=True).stdout
    return [line.split("\t") for line in out.splitlines() if line.split("\t")[0] not in MANY]


@pytest.fixture(scope="module")
def at_start(rows):
    names = {row[1] for row in rows if row[4:] == ["start"]}
    assert {"num-threads", "username", "sandbox"} <= names and "prefetch" not in names
    return names


def command(d, text):
    return d.speak(b"UBCT1 " + text.encode() + b"\n").decode()


def checkconf(program, option, conf):
    return subprocess.run([program, "-o", option, conf], text=True, capture_output=True, check=False)


def test_every_option_is_shown_as_checkconf_shows_it(d, rows, bin_dir):
    wrong = []
    for _, option, *_ in rows:
        got, want = command(d, "get_option " + option), checkconf(bin_dir + "/resolver-checkconf", option, d.conf).stdout
        # The daemon of these tests stays in the foreground, whatever the file says.
        if got != want and option != "do-daemonize":
            wrong.append("%s: %r, not %r" % (option, got, want))
    assert len(rows) > 300 and not wrong, "\n".join(wrong)


@pytest.mark.skipif(not shutil.which("unbound-checkconf"), reason="no unbound to compare with")
def test_every_option_has_the_form_that_unbound_gives_it(rows, bin_dir, tmp_path):
    conf = tmp_path / "both.conf"
    conf.write_text("server:\n" + SERVER, encoding="utf-8")
    wrong, compared = [], 0
    given = set(re.findall(r"(?m)^ *([a-z0-9-]+):", SERVER))
    # Those of the file, and a part of all others: each costs two processes.
    for option in [o for n, (_, o, *_) in enumerate(rows) if (o in given or n % 5 == 0) and o not in THEIRS]:
        theirs = checkconf("unbound-checkconf", option, str(conf))
        if theirs.returncode == 0:
            compared += 1
            ours = checkconf(bin_dir + "/resolver-checkconf", option, str(conf)).stdout
            # It has its lists backwards, and a line for some texts that are empty, not for all.
            if sorted(ours.split()) != sorted(theirs.stdout.split()):
                wrong.append("%s: %r, not %r" % (option, ours, theirs.stdout))
    assert compared > 50 and not wrong, "\n".join(wrong)


def test_options_of_clauses_that_repeat_are_none_to_ask_for(d):
    assert command(d, "get_option forward-addr") == "error unknown option\n"


def test_every_option_can_be_set_to_what_it_is_or_says_why_not(d, rows):
    wrong = []
    for _, option, status, default, *_ in rows:
        value = command(d, "get_option " + option).splitlines()
        if len(value) != 1 or not value[0] or status != "works":
            continue
        said = command(d, "set_option %s: %s" % (option, value[0]))
        if said != "ok\n" or command(d, "get_option " + option).splitlines()[:1] != value:
            wrong.append("%s: %s: %r" % (option, value[0], said))
    assert not wrong, "\n".join(wrong)


def test_what_only_a_start_can_change_is_refused_with_the_reason(d, rows, at_start):
    defaults = {option: default for _, option, _, default, *_ in rows}
    for option in sorted(at_start - {"username", "chroot", "directory", "pidfile", "module-config"}):
        before = command(d, "get_option " + option)
        value = {"yes": "no", "no": "yes"}.get(before.strip(), "8")
        said = command(d, "set_option %s: %s" % (option, value))
        assert said.startswith("error setting option: ") and option in said, (option, said, defaults[option])
        assert command(d, "get_option " + option) == before


@pytest.mark.parametrize("line, why", [
    ("cache-max-ttl: many", "a number"),
    ("access-control: 10.0.0.0/8", "2 values"),
    ("prefetch: perhaps", "yes or no"),
    ("num-threads: 7", "next start"),
])
def test_a_refusal_says_why_and_changes_nothing(d, line, why):
    before = command(d, "get_option " + line.split(":")[0])
    said = command(d, "set_option " + line)
    assert said.startswith("error setting option: ") and why in said
    assert command(d, "get_option " + line.split(":")[0]) == before


def test_a_port_and_the_log_can_be_changed_without_a_reload(daemon, tmp_path):
    with daemon("local-data: 'a.here. A 192.0.2.1'") as d:
        d.control("local_data", "b.here. A 192.0.2.2")
        port = free_port()
        assert command(d, "set_option interface: %s@%d" % (ADDRESS, port)) == "ok\n"
        old, d.port = d.port, port
        # What was put there by command is there still, at the new port and at the old.
        assert d.ask("b.here").answer and d.ask("a.here").answer
        d.port = old
        assert d.ask("b.here").answer
        assert command(d, "set_option log-time-ascii: yes") == "ok\n"
        assert command(d, "set_option log-queries: yes") == "ok\n"
        # Threads go over to it one after the other.
        deadline = time.monotonic() + 15
        while not re.search(r"(?m)^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d .*a\.here\. A IN", d.log()):
            assert time.monotonic() < deadline, d.log()[-2000:]
            d.ask("a.here")


def test_an_interface_that_cannot_be_had_changes_nothing(d):
    with socket.socket() as taken:
        taken.bind((ADDRESS, 0))
        taken.listen()
        said = command(d, "set_option interface: %s@%d" % (ADDRESS, taken.getsockname()[1]))
    assert said.startswith("error setting option: ")
    assert d.ask("version.bind", "TXT", "CH").answer


def test_reload_says_what_has_changed_and_what_waits_for_a_start(d):
    text = open(d.conf, encoding="utf-8").read()
    with open(d.conf, "a", encoding="utf-8") as f:
        f.write("server:\n    prefetch: yes\n    so-rcvbuf: 1m\nforward-zone:\n    name: f.example\n"
                "    forward-addr: 192.0.2.1\n")
    try:
        said = d.control("reload", "+v")
        assert re.search(r"(?m)^.*\bprefetch\b", said) and re.search(r"(?m)^.*forward-zone", said)
        assert re.search(r"(?m)^.*so-rcvbuf.*start", said), said
    finally:
        with open(d.conf, "w", encoding="utf-8") as f:
            f.write(text)
        d.control("reload")
