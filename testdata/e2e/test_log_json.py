"""The log in JSON: every line is what doc/log.schema.json says, whatever it is about and wherever it goes.

SPDX-License-Identifier: BSD-3-Clause
"""

import json
import os
import re
import signal
import socket
import struct
import subprocess
import time

import dns.message
import dns.rcode
import pytest

from lab import FakeServer, ask_tcp, fixed, free_port, query, refusing, until

SOURCE = os.path.join(os.path.dirname(__file__), "..", "..")
MOST = 8192


def is_of(kind, value):
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return {"object": isinstance(value, dict), "string": isinstance(value, str), "boolean": isinstance(value, bool),
            "integer": number and value == int(value), "number": number}[kind]


def complaints(schema, value):
    """What of JSON Schema the schema of the log uses; anything else in it is a mistake of ours."""
    said = []
    for word, of in schema.items():
        if word == "type":
            said += [] if is_of(of, value) else ["%r is no %s" % (value, of)]
        elif word == "enum":
            said += [] if value in of else ["%r is none of %s" % (value, of)]
        elif word == "const":
            said += [] if value == of else ["%r is not %r" % (value, of)]
        elif word == "pattern":
            said += [] if re.search(of, value) else ["%r is unlike %s" % (value, of)]
        elif word == "minimum":
            said += [] if not is_of("number", value) or value >= of else ["%r is below %s" % (value, of)]
        elif word == "required":
            said += ["no %s" % name for name in of if name not in value]
        elif word == "properties":
            for name in set(of) & set(value):
                said += ["%s: %s" % (name, c) for c in complaints(of[name], value[name])]
        elif word == "additionalProperties":
            said += [] if of else ["unknown: %s" % name for name in set(value) - set(schema["properties"])]
        elif word == "allOf":
            said += [c for one in of for c in complaints(one, value)]
        elif word == "not":
            said += [] if complaints(of, value) else ["is %s" % of]
        elif word == "if":
            said += [] if complaints(of, value) else complaints(schema["then"], value)
        else:
            assert word in ("$schema", "title", "description", "then"), word
    return said


with open(os.path.join(SOURCE, "doc", "log.schema.json"), encoding="utf-8") as f:
    SCHEMA = json.load(f)


def unique(pairs):
    assert len(dict(pairs)) == len(pairs), pairs
    return dict(pairs)


def read(text):
    """The lines after the first, which were printed before the configuration was read."""
    lines = []
    for line in text.splitlines():
        if not lines and not line.startswith("{"):
            continue
        assert len(line.encode()) < MOST, line
        lines.append(json.loads(line, object_pairs_hook=unique))
        assert not complaints(SCHEMA, lines[-1]), (line, complaints(SCHEMA, lines[-1]))
    return lines


def entries(d, event, **wanted):
    return [e for e in read(d.log()) if e["event"] == event and all(e.get(k) == v for k, v in wanted.items())]


def entry(d, event, **wanted):
    found = entries(d, event, **wanted)
    assert len(found) == 1, (found, d.log())
    return found[0]


def forward(server):
    return "forward-zone:\n    name: .\n    forward-addr: %s\n" % server.at


@pytest.fixture(scope="module")
def upstream():
    with FakeServer(fixed("192.0.2.1")) as server:
        yield server


JSON = "log-format: json"


def test_the_schema_has_what_the_program_has():
    rows = {}
    for name in ("event", "member"):
        with open(os.path.join(SOURCE, "util", "base", "log_%s.def" % name), encoding="utf-8") as f:
            rows[name] = re.findall(r"^%s\((\w+), +(\w+)," % name.upper(), f.read(), re.M)
    assert SCHEMA["properties"]["event"]["enum"] == [word for word, _ in rows["event"]]
    types = {"TEXT": "string", "COUNT": "integer", "FLAG": "boolean", "DECIMAL": "number"}
    for name, kind in rows["member"]:
        assert SCHEMA["properties"][name]["type"] == types[kind], name


def test_a_validator_that_finds_nothing_would_find_mistakes():
    good = {"time": "2026-11-20T13:56:34.123Z", "level": "info", "event": "lost", "ident": "x", "pid": 1, "thread": 0,
            "count": 1, "message": "x"}
    assert not complaints(SCHEMA, good)
    for change in ({"time": "1795182994"}, {"level": "loud"}, {"event": "party"}, {"pid": "1"}, {"thread": -1}, {"count": True},
                   {"colour": "red"}, {"cut": False}):
        assert complaints(SCHEMA, {**good, **change}), change
    for name in good:
        assert complaints(SCHEMA, {k: v for k, v in good.items() if k != name}), name
    assert not complaints(SCHEMA, {**{k: v for k, v in good.items() if k != "message"}, "cut": True})


# options, what is asked, the event, and its members
ROWS = [
    (["log-queries: yes"], "www.example.", "query", {"type": "A", "class": "IN"}),
    (["log-queries: yes", "log-tag-queryreply: yes", "log-time-iso: yes"], "www.example.", "query", {"level": "info"}),
    (["log-replies: yes"], "www.example.", "reply", {"rcode": "NOERROR", "cached": False, "size": 56, "client": "127.0.0.1"}),
    (["log-replies: yes", "log-destaddr: yes"], "www.example.", "reply", {"transport": "udp", "local_address": "127.0.0.1"}),
    (["log-replies: yes", "access-control: 127.0.0.1/32 refuse"], "www.example.", "reply", {"rcode": "REFUSED", "cached": True}),
    (["log-local-actions: yes", "local-zone: here. static"], "x.here.", "local_action", {"zone": "here.", "action": "static"}),
    (["log-queries: yes", 'log-identity: "fo\\"x"'], "www.example.", "query", {"ident": 'fo\\"x'}),
    (["log-queries: yes"], "\\000\\034\\092\\255\\127\\195\\188.example.", "query", {"name": '\\000\\"\\\\\\255\\127\\195\\188.example.'}),
    (["log-replies: yes"], ".".join(["\\001" * 63] * 3 + ["\\255" * 61]) + ".", "reply",
     {"name": ".".join(["\\001" * 63] * 3 + ["\\255" * 61]) + "."}),
]


@pytest.mark.parametrize("options, name, event, members", ROWS)
def test_each_option_has_its_event(daemon, upstream, options, name, event, members):
    with daemon("num-threads: 1", JSON, *options, more=forward(upstream)) as d:
        d.ask(name)
        wanted = members if "name" in members else {"name": name, **members}
        e = entry(d, event, **wanted)
        assert e["client"] == "127.0.0.1" and 0 < e["port"] < 65536 and e["room"] == "services/history"
        assert ("transport" in e) == ("log-destaddr: yes" in options)
        assert e["time"].endswith("Z")
        assert read(d.log())[0]["pid"] == e["pid"]


def test_the_second_answer_is_cached(daemon, upstream):
    with daemon(JSON, "log-replies: yes", "num-threads: 1", more=forward(upstream)) as d:
        for _ in range(2):
            d.ask("www.example.")
        first, second = entries(d, "reply", name="www.example.")
        assert not first["cached"] and second["cached"] and 0 < first["duration"] < 10


def test_failures_and_bogus_answers_have_their_reason(daemon):
    with FakeServer(refusing()) as server, daemon(JSON, "log-servfail: yes", more=forward(server)) as d:
        d.ask("www.example.")
        e = entry(d, "servfail", name="www.example.", level="error")
        assert e["reason"] and "127.0.0.1" in e["detail"]


def test_what_does_not_validate_is_bogus(daemon, net):
    anchor = 'trust-anchor-file: "%s/root.key"' % net
    with daemon(JSON, "val-log-level: 2", "log-servfail: yes", anchor, module="validator iterator") as d:
        assert d.ask("www.expired.mini.").rcode() == dns.rcode.SERVFAIL
        e = entries(d, "bogus", name="www.expired.mini.")[0]
        assert (e["type"], e["class"], e["reason"]) == ("A", "IN", "signature expired") and "expired on" in e["detail"]
        assert entry(d, "servfail", name="www.expired.mini.")["reason"] == "signature expired"


def test_limits_and_attacks_are_events(daemon, upstream):
    for factor in (0, 1):  # none passes, all pass: either way the limit was exceeded
        with daemon(JSON, "ip-ratelimit: 5", "ip-ratelimit-factor: %d" % factor, "num-threads: 1", more=forward(upstream)) as d:
            begun = time.monotonic()

            def burst():
                with socket.socket(type=socket.SOCK_DGRAM) as s:
                    for _ in range(60):
                        s.sendto(query("www.example.").to_wire(), ("127.0.0.1", d.port))
                return entries(d, "ratelimit", name="www.example.")
            until(burst)
            e = entries(d, "ratelimit", name="www.example.")[0]
            assert (e["client"], e["limit"], e["name"], e["level"]) == ("127.0.0.1", 5, "www.example.", "info")
            assert len(entries(d, "ratelimit")) <= time.monotonic() - begun + 2  # one a second

        with daemon(JSON, "ratelimit: 3", "ratelimit-factor: %d" % factor, "num-threads: 1", "log-servfail: yes") as d:
            for i in range(12):
                d.ask("n%d.mini." % i)
            e = entries(d, "ratelimit")[0]
            assert e["limit"] == 3 and e["zone"] and e["name"] and "client" not in e

    def spoofed(q, tcp):
        wrong = dns.message.from_wire(fixed("192.0.2.1")(q, tcp).to_wire())
        wrong.id ^= 1
        return wrong
    with FakeServer(spoofed) as server, daemon(JSON, "unwanted-reply-threshold: 2", "num-threads: 1", "log-servfail: yes",
                                               more=forward(server)) as d:
        d.ask("www.example.", timeout=30)
        e = entries(d, "unwanted_replies")[0]
        assert (e["level"], e["count"], e["room"]) == ("warning", 2, "services/upstream")


def test_policy_zones_and_zones_are_events(daemon, upstream, tmp_path):
    zone = tmp_path / "rpz"
    zone.write_text("$ORIGIN rpz.test.\n@ 60 SOA a. b. 1 2 3 4 5\nbad.example CNAME .\n")
    with daemon(JSON, "num-threads: 1", 'module-config: "respip iterator"',
                more='rpz:\n    name: rpz.test.\n    zonefile: "%s"\n    rpz-log: yes\n    rpz-log-name: "l\\"1"\n'
                     'auth-zone:\n    name: none.test.\n    zonefile: "%s"\n' % (zone, tmp_path / "missing") + forward(upstream)) as d:
        d.ask("bad.example.")
        e = entry(d, "policy", name="bad.example.")
        assert (e["label"], e["trigger"], e["action"], e["client"]) == ('l\\"1', "bad.example.", "nxdomain", "127.0.0.1")
        e = entry(d, "zone", zone="none.test.", level="error")
        assert "missing" in e["reason"] and e["room"] == "services/authzone"


def test_lists_are_events(daemon, upstream, tmp_path):
    (tmp_path / "list").write_text("blocked.example\n")
    with daemon(JSON, "num-threads: 1", "log-local-actions: yes", 'blocklist-directory: "%s"' % tmp_path,
                more='blocklist:\n    name: "ads"\n    file: "%s"\n' % (tmp_path / "list") + forward(upstream)) as d:
        until(lambda: entries(d, "blocklist", list="ads"))
        assert entries(d, "blocklist", list="ads")[0]["names"] == 1
        d.ask("blocked.example.")
        assert entry(d, "local_action", name="blocked.example.")["zone"] == "ads"


def test_tls_failures_are_events(daemon, ca):
    with daemon(JSON, "num-threads: 1", 'tls-cert-bundle: "%s"' % ca.path("ca.pem"), more="forward-zone:\n    name: .\n"
                "    forward-tls-upstream: yes\n    forward-addr: 127.0.0.1@%d#dns.test\n" % free_port()) as d:
        d.ask("www.example.", timeout=60)
        e = entries(d, "upstream_failure")[0]
        assert e["transport"] == "tls" and e["server"].startswith("127.0.0.1") and e["reason"]


def test_a_reload_changes_the_form_between_two_lines(daemon, upstream):
    with daemon("log-queries: yes", "num-threads: 1", more=forward(upstream)) as d:
        d.ask("before.example.")
        d.configure([JSON, "log-queries: yes", "num-threads: 1"], more=forward(upstream))
        assert d.control("reload") == "ok\n"
        d.ask("after.example.")
        before, after = d.log().split("\n{", 1)
        assert "before.example. A IN" in before and "{" not in before
        lines = read("{" + after)
        assert [e for e in lines if e["event"] == "query" and e["name"] == "after.example."]
        assert [e for e in lines if e["event"] == "reload" and e.get("source") == d.conf]
        d.configure([JSON, "log-queries: yes", "num-threads: 1", "log-replies: yes"], more=forward(upstream))
        assert d.control("reload") == "ok\n"
        assert [e for e in read("{" + d.log().split("\n{", 1)[1]) if e["event"] == "reload" and e.get("options") == "log-replies"]
        d.spoil()
        d.control("reload", code=1)
        assert "no-such-option" in entry(d, "reload", level="error")["reason"]
        d.configure(["log-queries: yes", "num-threads: 1"], more=forward(upstream))
        assert d.control("reload") == "ok\n"
        d.ask("text.example.")
        assert re.search(r"(?m)^\[\d+\] resolverd\[\d+:0\] info: 127\.0\.0\.1 text\.example\. A IN$", d.log())


@pytest.mark.parametrize("how", ["log_reopen", "SIGUSR1"])
def test_a_rotated_file_has_whole_lines(daemon, upstream, tmp_path, how):
    path = tmp_path / "log"
    with daemon(JSON, 'logfile: "%s"' % path, "log-queries: yes", "log-time-ascii: yes", "log-thread-id: yes",
                "num-threads: 1", more=forward(upstream)) as d:
        for i in range(40):
            d.ask("n%d.example." % i)
            if i % 10 == 9:
                path.rename(tmp_path / ("log.%d" % i))
                if how == "log_reopen":
                    assert d.control("log_reopen") == "ok\n"
                else:
                    d.process.send_signal(signal.SIGUSR1)
                until(path.exists)
        assert d.stop() == 0
        lines = [e for file in sorted(tmp_path.iterdir()) for e in read(file.read_text())]
        assert sorted(e["name"] for e in lines if e["event"] == "query" and e["name"].startswith("n")) == sorted(
            "n%d.example." % i for i in range(40))
        assert sum(e["event"] == "log_reopened" for e in lines) == 4
        assert re.search(r"[-+]\d\d:\d\d$", lines[0]["time"])
        assert {"start", "stop"} <= {e["event"] for e in lines}


def test_statistics_are_numbers(daemon, upstream):
    with daemon(JSON, "statistics-interval: 1", "statistics-cumulative: yes", "num-threads: 1", more=forward(upstream)) as d:
        d.ask("www.example.")
        d.ask("www.example.")
        until(lambda: [e for e in entries(d, "statistics") if e.get("queries", 0) >= 2 and e["hits"] >= 1])
        until(lambda: [e for e in entries(d, "statistics") if "recursion_average" in e])
        assert all(e["worker"] == 0 for e in entries(d, "statistics"))
        assert [e for e in entries(d, "statistics") if "requestlist_average" in e]


def test_a_flood_is_counted(daemon):
    with daemon(JSON) as d:
        d.spoil()
        for _ in range(30):
            d.control("reload", code=1)
        assert d.stop() == 0
        e = entry(d, "repeated")
        assert e["count"] == 20 and e["message"].startswith("reload failed")


def test_a_control_client_cannot_forge_a_line(daemon):
    """Its words come into sentences of the log; "message" keeps them together."""
    with daemon(JSON, "verbosity: 4") as d:
        word = 'x"}\x80{"event":"query'
        d.speak(b"UBCT1 " + b"get_option " + word.encode("latin-1") + b"\n")
        d.speak(b"UBCT1 " + b"status " + b"\xff" * 1000 + b"\n")
        until(lambda: [e for e in entries(d, "message") if word in e["message"]])
        assert [e for e in entries(d, "message") if "\xff" * 1000 in e["message"]]


def test_malformed_queries_and_other_transports_are_events(daemon, upstream):
    with daemon(JSON, "log-queries: yes", "log-replies: yes", "log-destaddr: yes", "num-threads: 1", more=forward(upstream)) as d:
        ask_tcp(query("tcp.example.", "TYPE65280", "CH"), "127.0.0.1", 10, d.port)
        d.send(struct.pack("!6H", 7, 0x0100, 0, 0, 0, 0))
        d.ask("www.example.", "TYPE65280")
        assert entry(d, "reply", name="tcp.example.")["transport"] == "tcp"
        assert entry(d, "query", name="www.example.")["type"] == "TYPE65280"


# A /dev of its own, with just what a daemon may want of it, and a socket of ours as its log.
DEV = ('mount -t tmpfs tmpfs /dev && for n in null:3 urandom:9 random:8; do mknod -m 666 /dev/${n%%:*} c 1 ${n##*:}; done '
       '&& ln -s "$1/log" /dev/log && shift && exec "$@"')


def test_syslog_has_the_object_as_its_message(made, upstream):
    d = made(JSON, "log-queries: yes", "log-replies: yes", "num-threads: 1", "use-syslog: yes", "log-identity: fox",
             more=forward(upstream))
    d.before = ["unshare", "-m", "sh", "-c", DEV, "sh", d.dir]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as log:
        log.bind(d.dir + "/log")
        log.settimeout(10)
        if subprocess.run([*d.before, "test", "-S", "/dev/log"], capture_output=True, check=False).returncode:
            pytest.skip("no mount namespace to be had")
        d.start()
        d.ask("www.example.")
        heard = []
        while not any(e["event"] == "reply" and e["name"] == "www.example." for _, e in heard):
            head, body = re.fullmatch(r"(<\d+>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d fox: )(\{.*\})", log.recv(65536).decode()).groups()
            heard.append((head, read(body)[0]))
        assert all(e["ident"] == "fox" for _, e in heard)
        assert d.stop() == 0
