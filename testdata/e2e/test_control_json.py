"""What `resolver-control --json` says to every command: members and their types, and that nothing is a sentence to be read again.

SPDX-License-Identifier: BSD-3-Clause
"""

import contextlib
import json
import os
import re
import socket
import subprocess

import pytest

from lab import Daemon, free_port, query, until


class Maybe:
    """A member that is there when it applies."""

    def __init__(self, form):
        self.form = form


class Has:
    """An object of any members of one type; these are among them."""

    def __init__(self, form, *names):
        self.form, self.names = form, names


def maybe(**members):
    return {k: Maybe(v) for k, v in members.items()}


NUMBER = float
NOTHING = None       # "ok" alone
LINES = object()     # a dump, which is made to be loaded again: its lines
NAME = re.compile(r"([^.\s]+\.)+|\.")
ADDRESS = re.compile(r"[0-9a-f.:]+(@\d+)?(#\S+)?")
UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z")
HEX = re.compile(r"[0-9a-f]{32}")

RECORD = {"name": NAME, "ttl": int, "class": re.compile("IN"), "type": str, "data": [str]}
ZONES = [{"zone": NAME, "class": re.compile("IN"), "kind": re.compile("stub|forward"), "insecure": bool, "servers": [str],
          **maybe(prime=bool)}]
KNOWN = {"rto": int, "expired": bool, "tA": int, "tAAAA": int, "tother": int, "ttl": int, "ping": int, "var": int, "rtt": int,
         "ednsknown": bool, "edns": int}
REMOVED = {"rrsets": int, "messages": int, "keys": int}
ACTION = {"action": re.compile("nxdomain|nodata|null|refuse|address|drop"), **maybe(addresses=[ADDRESS])}
SOURCE = {"kind": re.compile("file|url|allow-file"), "where": str, "rules": int, "lines": int, "ignored": Has(int),
          **maybe(read=int, failed=int, reason=str, first_invalid_line=int, first_invalid_text=str)}
LIST = {"name": str, "names": int, "bytes": int, "blocked": int, "dropped_rules": int, "sources": [SOURCE], **ACTION,
        **maybe(made=int, next_check=int, trouble=str)}
TESTED = {"list": str, "verdict": re.compile("no match|blocks|allows"),
          "lines": [{"where": str, "line": int, "text": str, "effect": str, "name": NAME}],
          **maybe(by=NAME, own_answer=bool, action=str, addresses=[ADDRESS], for_all=bool, views=[str], for_tags=bool)}
QUESTION = {"type": str, "class": str, "name": NAME}

FORMS = {
    "stop": NOTHING, "verbosity": NOTHING, "log_reopen": NOTHING, "flush_stats": NOTHING, "load_cache": NOTHING,
    "cache_save": NOTHING, "flush": NOTHING, "flush_type": NOTHING, "flush_requestlist": NOTHING, "flush_infra": NOTHING,
    "set_option": NOTHING, "forward_add": NOTHING, "forward_remove": NOTHING, "stub_add": NOTHING, "stub_remove": NOTHING,
    "insecure_add": NOTHING, "insecure_remove": NOTHING, "auth_zone_reload": NOTHING, "auth_zone_transfer": NOTHING,
    "rpz_enable": NOTHING, "rpz_disable": NOTHING, "local_zone": NOTHING, "local_zone_remove": NOTHING, "local_data": NOTHING,
    "local_data_remove": NOTHING, "view_local_zone": NOTHING, "view_local_zone_remove": NOTHING, "view_local_data": NOTHING,
    "view_local_data_remove": NOTHING, "add_cookie_secret": NOTHING, "activate_cookie_secret": NOTHING,
    "drop_cookie_secret": NOTHING, "blocklist_reload": NOTHING, "blocklist_pause": NOTHING, "blocklist_allow": NOTHING,
    "blocklist_deny": NOTHING, "blocklist_forget": NOTHING,
    "reload": [{"option": str, "at_next_start": bool}],
    "reload_keep_cache": [{"option": str, "at_next_start": bool}],
    "fast_reload": {"file": str, "read": NUMBER, "construct": NUMBER, "reload": NUMBER, "deletes": NUMBER, "total": NUMBER,
                    **maybe(memory=int)},
    "status": {"version": str, "verbosity": int, "threads": int, "modules": [str], "uptime": int, "options": [str],
               "program": str, "pid": int},
    "stats": Has(NUMBER, "total.num.queries", "time.now", "thread0.num.queries", "num.query.type.A", "mem.cache.rrset"),
    "stats_noreset": Has(NUMBER, "total.num.queries", "time.up", "num.query.blocked.ads", "log.lost", "hosts.records"),
    "list_queries": [{"time": UTC, "client": ADDRESS, "transport": re.compile("udp|tcp|tls|https"), "name": NAME, "type": str,
                      "how": re.compile("[a-z]+"), "took_ms": NUMBER, **maybe(rcode=str, reason=str, detail=str, server=ADDRESS)}],
    "top": [{"count": int, **maybe(name=NAME, client=ADDRESS, over=int)}],
    "dump_cache": LINES, "cache_lookup": LINES,
    "lookup": {"name": NAME, "from": re.compile("forward|stub|stub-noprime|cache|root-hints"), "zone": NAME,
               **maybe(names=int, names_without_address=int, records=[RECORD],
                       servers=[{"server": ADDRESS, "known": bool, **{k: Maybe(v) for k, v in KNOWN.items()}}])},
    "why": {"name": NAME, "type": str, "cached": bool, "steps": [{"depth": int, "text": str}],
            **maybe(cached_for=int, ttl=int, dropped=bool,
                    answer={"rcode": str, "secure": bool, "truncated": bool, "took_ms": NUMBER, "records": [RECORD],
                            **maybe(ede=int, reason=str)})},
    "flush_zone": REMOVED, "flush_bogus": REMOVED, "flush_negative": REMOVED,
    "dump_requestlist": [{"number": int, **QUESTION, "module": str, **maybe(seconds=NUMBER, server=ADDRESS, wants=QUESTION)}],
    "dump_infra": [{"server": ADDRESS, "zone": NAME, "expired": bool, "rto": int, **maybe(
        lame={"dnssec": bool, "rec": bool, "A": bool, "other": bool}, delay=int,
        **{k: v for k, v in KNOWN.items() if k not in ("rto", "expired")})}],
    "get_option": {"option": str, "value": (bool, int, str, [str])},
    "list_stubs": ZONES, "list_forwards": ZONES,
    "list_upstreams": [{"server": str, "transport": re.compile("tls|https"), "state": re.compile("idle|connected|failing"),
                        "connections": int, "queries": int, "answers": int, "handshakes": int, "resumed": int, "failures": int,
                        "losses": int, **maybe(rtt_us=int, reason=str)}],
    "list_insecure": [NAME],
    "list_anchors": [{"name": NAME, "tag": int, "state": str, **maybe(since=UTC, asked=UTC, again=UTC, file=str, reason=str)}],
    "forward": {"forwards": bool, "servers": [ADDRESS]},
    "list_auth_zones": [{"zone": NAME, "policy": bool, "expired": bool, **maybe(serial=int, records=int, since=int)}],
    "list_local_zones": [{"name": NAME, "type": re.compile("[a-z_]+")}],
    "view_list_local_zones": [{"name": NAME, "type": re.compile("[a-z_]+")}],
    "list_local_data": [RECORD], "view_list_local_data": [RECORD],
    "list_leases": [{**RECORD, "source": str, "line": int, **maybe(ends=int)}],
    "lease_status": [{"file": str, "format": str, "hosts": int, "nameless": int, "records": int, "left_out": int, "read": int,
                      "remarks": [{"line": int, "text": str, "reason": str}], **maybe(trouble=str)}],
    "local_zones": {"added": int}, "local_zones_remove": {"removed": int}, "local_datas": {"added": int},
    "local_datas_remove": {"removed": int}, "view_local_datas": {"added": int}, "view_local_datas_remove": {"removed": int},
    "list_changes": [{"change": str, "in_force": bool, **maybe(number=int, time=UTC, reason=str)}],
    "changes_export": LINES, "change_undo": NOTHING,
    "print_cookie_secrets": maybe(active=HEX, staging=HEX),
    "ratelimit_list": [{"zone": NAME, "rate": int, "limit": int}],
    "ip_ratelimit_list": [{"client": ADDRESS, "rate": int, "limit": int}],
    "blocklist_status": {"lists": [LIST], "rules": [{"name": NAME, "rule": re.compile("allowed|denied")}],
                         "pauses": [{"left": int, **maybe(view=str)}]},
    "blocklist_resume": {"was_paused": bool},
    "blocklist_test": {"name": NAME, "blocked": bool, "paused": bool, "lists": [TESTED], **maybe(rule=re.compile("allowed|denied"))},
}


def misfits(form, value, at="data"):
    """Where a value is not of its form."""
    if isinstance(form, tuple):
        return [] if any(not misfits(f, value) for f in form) else ["%s: %r" % (at, value)]
    if isinstance(form, list):
        if not isinstance(value, list):
            return ["%s is no array: %r" % (at, value)]
        return [m for i, one in enumerate(value) for m in misfits(form[0], one, "%s[%d]" % (at, i))]
    if isinstance(form, (dict, Has)) and not isinstance(value, dict):
        return ["%s is no object: %r" % (at, value)]
    if isinstance(form, Has):
        return ["%s has no %s" % (at, n) for n in form.names if n not in value] + [
            m for k, v in value.items() for m in misfits(form.form, v, at + "." + k)]
    if isinstance(form, dict):
        said = ["%s has an unknown %s" % (at, k) for k in value if k not in form]
        said += ["%s has no %s" % (at, k) for k, f in form.items() if k not in value and not isinstance(f, Maybe)]
        return said + [m for k, v in value.items() if k in form for m in misfits(
            form[k].form if isinstance(form[k], Maybe) else form[k], v, at + "." + k)]
    if isinstance(form, re.Pattern):
        return [] if isinstance(value, str) and form.fullmatch(value) else ["%s is unlike %s: %r" % (at, form.pattern, value)]
    kinds = {NUMBER: (int, float), int: int, str: str, bool: bool}[form]
    good = isinstance(value, kinds) and (form is bool or not isinstance(value, bool))
    return [] if good else ["%s is no %s: %r" % (at, form.__name__, value)]


def unique(pairs):
    assert len(dict(pairs)) == len(pairs), pairs
    return dict(pairs)


class Asked:
    def __init__(self, d):
        self.d, self.seen, self.full = d, set(), set()

    def run(self, command, stdin=None, code=0):
        words = command.split(" ")
        text = self.d.control("--json", *words, code=code, stdin=stdin)
        assert text.count("\n") == 1 and text.endswith("\n"), (command, text)
        said = json.loads(text, object_pairs_hook=unique)
        assert said["command"] == words[0] and said["ok"] is (code == 0), said
        if code == 0:
            assert set(said) <= {"command", "ok", "data"}, said
            self.check(words, said)
        else:
            assert said["error"].startswith("error") and not said["error"].endswith("\n"), said
        return said

    def check(self, words, said):
        form = FORMS[words[0]]
        self.seen.add(words[0])
        wordless = words[0] in ("reload", "reload_keep_cache", "fast_reload") and not words[-1].startswith("+v")
        if form is NOTHING or wordless or (words[0] == "forward" and words[1:]):
            assert "data" not in said, said
            return
        assert "data" in said, (words, said)
        if form is LINES:
            assert all(isinstance(line, str) for line in said["data"]), said
        else:
            assert not misfits(form, said["data"]), (words, misfits(form, said["data"]), said)
        if said["data"]:
            self.full.add(words[0])


SECRET = "000102030405060708090a0b0c0d0e0f"
COMMANDS = [
    ("status", None), ("verbosity 1", None), ("log_reopen", None), ("stats_noreset", None), ("list_queries 50", None),
    ("list_queries blocked", None), ("list_queries failed", None), ("top names", None), ("top clients", None),
    ("top blocked", None), ("top clear", "NOTHING"), ("dump_cache", None), ("cache_lookup chain.mini", None),
    ("lookup target.chain.mini", None), ("lookup to.forward.example", None), ("lookup to.stub.example", None), ("dump_infra", None),
    ("why target.chain.mini A 127.0.0.5", None),
    ("why www.expired.mini A 127.0.0.6", None), ("why ad.example A 127.0.0.7", None), ("why x.example A 127.9.0.1", None),
    ("why target.chain.mini AAAA 127.9.0.1 tcp", None),
    ("list_stubs", None), ("list_forwards", None), ("list_upstreams", None), ("list_insecure", None), ("list_anchors", None),
    ("insecure_add kept.example", None), ("forward", None), ("forward 192.0.2.1 192.0.2.2", None), ("forward", None), ("forward off", None),
    ("forward_add +i f.example 192.0.2.1", None), ("list_forwards", None), ("list_insecure", None),
    ("forward_remove +i f.example", None), ("stub_add +p s.example 192.0.2.1", None), ("list_stubs", None),
    ("stub_remove s.example", None), ("insecure_add i.example", None), ("insecure_remove i.example", None),
    ("list_auth_zones", None), ("auth_zone_reload held.zone", None), ("auth_zone_transfer moved.zone", None), ("rpz_disable rpz.test", None),
    ("rpz_enable rpz.test", None), ("list_local_zones", None), ("local_zone held.example static", None),
    ("local_data a.held.example 60 IN TXT \"a  b\" \"c\"", None), ("list_local_data", None),
    ("local_data_remove a.held.example", None), ("local_zone_remove held.example", None),
    ("local_zones", "one.example static\ntwo.example refuse\n"), ("local_zones_remove", "one.example\ntwo.example\n"),
    ("local_datas", "x.three.example A 192.0.2.3\n"), ("local_datas_remove", "x.three.example\n"),
    ("view_local_zone lan in.example static", None), ("view_local_data lan a.in.example A 192.0.2.5", None),
    ("view_local_datas lan", "b.in.example A 192.0.2.6\n"), ("view_list_local_zones lan", None),
    ("view_list_local_data lan", None), ("view_local_datas_remove lan", "b.in.example\n"),
    ("view_local_data_remove lan a.in.example", None), ("view_local_zone_remove lan in.example", None),
    ("view_list_local_data bare", None), ("list_leases", None), ("lease_status", None),
    ("list_changes", None), ("changes_export", None), ("change_undo 1", None),
    ("add_cookie_secret " + SECRET, None), ("add_cookie_secret " + SECRET[::-1], None), ("activate_cookie_secret", None),
    ("print_cookie_secrets", None), ("drop_cookie_secret", None), ("ratelimit_list +a", None), ("ip_ratelimit_list +a", None),
    ("ip_ratelimit_list", None), ("blocklist_pause 1h", None), ("blocklist_pause 10 lan", None), ("blocklist_deny d.example", None),
    ("blocklist_allow a.example", None), ("blocklist_status", None), ("blocklist_test ad.example", None),
    ("blocklist_test d.example", None), ("blocklist_test none.example", None), ("blocklist_forget a.example", None),
    ("blocklist_resume", None), ("blocklist_resume", None), ("blocklist_reload", None), ("get_option num-threads", None),
    ("get_option prefetch", None), ("get_option cache-max-ttl:", None), ("get_option access-control", None),
    ("get_option log-identity", None), ("get_option logfile", None), ("get_option log-format", None),
    ("set_option prefetch: yes", None), ("flush target.chain.mini", None), ("flush_type target.chain.mini A", None),
    ("dump_requestlist", None), ("flush_requestlist", None), ("flush_zone chain.mini", None), ("flush_bogus", None),
    ("flush_negative", None), ("flush_infra all", None), ("cache_save", None),
    ("load_cache", "START_RRSET_CACHE\nEND_RRSET_CACHE\nSTART_MSG_CACHE\nEND_MSG_CACHE\nEOF\n"), ("stats", None),
    ("flush_stats", None), ("reload", None), ("reload +v", None), ("reload_keep_cache", None), ("reload_keep_cache +v", None), ("fast_reload", None),
    ("fast_reload +vv", None), ("stop", None),
]

FAILING = [
    ("no_such_command", None), ("verbosity x", None), ("flush", None), ("flush_zone a..b", None), ("get_option no-such", None),
    ("set_option no-such: yes", None), ("why", None), ("lookup", None), ("top nonsense", None), ("list_queries nonsense", None),
    ("blocklist_pause x", None), ("blocklist_reload none", None), ("view_list_local_data none", None), ("auth_zone_reload no.zone", None),
    ("flush_infra x", None), ("ratelimit_list +x", None), ("reload +x", None), ("add_cookie_secret x", None),
    ("change_undo 999999", None), ("change_undo x", None), ("cache_lookup mini", None), ("load_cache", "NONSENSE\n"), ("local_data a.b IN A \"\\", None),
    ("get_option \xff\"\\", None),
]

# Of these the table is only proven if there was something in them.
FULL = {w for w, f in FORMS.items() if f is not NOTHING} - {"dump_requestlist"}


@pytest.fixture
def asked(daemon, net, tmp_path):
    (tmp_path / "list").write_text("ad.example\nnot a rule at all\n")
    (tmp_path / "hosts").write_text("192.0.2.44 host.example\nnonsense\n")
    (tmp_path / "rpz").write_text("$ORIGIN rpz.test.\n@ 60 SOA a. b. 1 2 3 4 5\nbad.example CNAME .\n")
    (tmp_path / "held").write_text("held.zone. 60 IN SOA ns.held.zone. h.held.zone. 1 2 3 4 5\nheld.zone. 60 IN NS ns.held.zone.\n")
    (tmp_path / "cookies").write_text("")
    (tmp_path / "root.key").write_bytes(open(os.path.join(net, "root.key"), "rb").read())
    with daemon("num-threads: 1", 'trust-anchor-file: "%s/root.key"' % tmp_path, "query-ring: 100", "top-lists: 10", "ip-ratelimit: 5",
                "ratelimit: 1000", "ede: yes", "extended-statistics: yes", 'cookie-secret-file: "%s/cookies"' % tmp_path, "answer-cookie: yes",
                'hosts-file: "%s/hosts"' % tmp_path, 'cache-file: "%s/cache"' % tmp_path, "access-control: 127.9.0.0/16 deny",
                'blocklist-directory: "%s"' % tmp_path, 'domain-insecure: "garbled.mini"', "local-zone: here.example static",
                'module-config: "respip validator iterator"', 'local-data: \'odd.here.example. TXT "a b"\'',
                more='remote-control:\n    keep-changes: yes\n    changes-file: "changes"\n'
                     'view:\n    name: "lan"\n    local-zone: lan.example static\nview:\n    name: "bare"\n'
                     'auth-zone:\n    name: held.zone\n    zonefile: "%s/held"\n    for-downstream: yes\n'
                     'auth-zone:\n    name: moved.zone\n    primary: 127.0.0.1@%d\n    fallback-enabled: yes\n'
                     'rpz:\n    name: rpz.test\n    zonefile: "%s/rpz"\n'
                     'stub-zone:\n    name: stub.example\n    stub-addr: 192.0.2.8\n'
                     'forward-zone:\n    name: forward.example\n    forward-tls-upstream: yes\n    forward-addr: 127.0.0.1@%d#x.test\n'
                     'blocklist:\n    name: ads\n    file: "%s/list"\n' % (tmp_path, free_port(), tmp_path, free_port(), tmp_path)) as d:
        for name in ("target.chain.mini.", "ad.example.", "www.expired.mini.", "to.forward.example."):
            d.ask(name, timeout=40)
        until(lambda: "1 names" in d.control("blocklist_status"))
        yield Asked(d)


def test_every_command_has_its_members_and_their_types(asked, bin_dir):
    usage = subprocess.run([os.path.join(bin_dir, "resolver-control"), "-h"], capture_output=True, text=True, check=False).stdout
    known = set(re.findall(r"(?m)^  ([a-z_]+)", usage.split("Commands:")[1])) - {"start"}
    assert known == set(FORMS), known ^ set(FORMS)
    for command, stdin in FAILING:
        asked.run(command, stdin, 1)
    for command, stdin in COMMANDS:
        if command in ("ratelimit_list +a", "ip_ratelimit_list"):
            with socket.socket(type=socket.SOCK_DGRAM) as s:
                for _ in range(20):
                    s.sendto(query("target.chain.mini.").to_wire(), ("127.0.0.1", asked.d.port))
                s.settimeout(1)
                with contextlib.suppress(TimeoutError):  # all of them may be over the limit already
                    s.recv(4096)
        if command == "ratelimit_list +a":
            asked.d.control("flush_zone", "mini")
            asked.d.ask("www.ent.mini.")
        if command.endswith(" +v"):
            with open(asked.d.conf, "a", encoding="utf-8") as f:
                f.write("server:\n    cache-max-ttl: %d\n    num-threads: 2\n" % len(command))
        if stdin == "NOTHING":
            said = json.loads(asked.d.control("--json", *command.split(" ")))
            assert said == {"command": command.split(" ", maxsplit=1)[0], "ok": True}
        else:
            asked.run(command, stdin)
    assert asked.seen == set(FORMS), set(FORMS) - asked.seen
    assert FULL <= asked.full, FULL - asked.full
    assert asked.d.process.wait(10) == 0


def test_values_are_those_of_the_text(asked):
    d = asked.d
    status = asked.run("status")["data"]
    assert "pid %d)" % status["pid"] in d.control("status") and status["modules"] == ["respip", "validator", "iterator"]
    assert asked.run("get_option num-threads")["data"] == {"option": "num-threads", "value": 1}
    assert asked.run("get_option prefetch")["data"]["value"] is False
    assert asked.run("get_option access-control")["data"]["value"] == ["127.9.0.0/16 deny"]
    assert asked.run("get_option log-format")["data"]["value"] == "text"
    for command in ("list_local_zones", "list_stubs", "list_forwards", "list_auth_zones", "list_leases", "list_insecure",
                    "dump_infra", "list_anchors"):
        text = d.control(command).splitlines()
        assert len(asked.run(command)["data"]) == len(text), command
    odd = [r for r in asked.run("list_local_data")["data"] if r["name"] == "odd.here.example."]
    assert odd == [{"name": "odd.here.example.", "ttl": 3600, "class": "IN", "type": "TXT", "data": ['"a b"']}]
    zones = {z["zone"]: z for z in asked.run("list_auth_zones")["data"]}
    assert zones["held.zone."]["serial"] == 1 and zones["rpz.test."]["policy"] and "serial" not in zones["moved.zone."]
    forward = asked.run("list_forwards")["data"][0]
    assert not forward["insecure"] and "prime" not in forward and forward["servers"][0].endswith("#x.test")
    assert asked.run("list_stubs")["data"][0]["prime"] is True
    tested = asked.run("blocklist_test ad.example")["data"]
    assert tested["blocked"] and tested["lists"][0]["lines"][0]["line"] == 1 and tested["lists"][0]["for_all"]
    assert not asked.run("blocklist_test none.example")["data"]["blocked"]
    source = asked.run("blocklist_status")["data"]["lists"][0]["sources"][0]
    assert source["first_invalid_line"] == 2 and source["rules"] == 1
    why = asked.run("why www.expired.mini A 127.0.0.5")["data"]
    assert why["answer"]["rcode"] == "SERVFAIL" and why["answer"]["ede"] == 7
    assert asked.run("why x.example A 127.9.0.1")["data"]["dropped"] is True
    assert asked.run("lookup a.forward.example")["data"]["from"] == "forward"
    upstream = asked.run("list_upstreams")["data"][0]
    assert upstream["state"] == "failing" and upstream["failures"] > 0 and upstream["reason"]
    lease = asked.run("lease_status")["data"][0]
    assert lease["remarks"][0]["line"] == 2 and lease["records"] >= 1
    both = asked.run("local_datas", "a.example 60 IN A 192.0.2.1\nb.example 60 IN A nonsense\n", code=1)
    assert both["data"] == {"added": 1} and "nonsense" in both["error"]


def test_names_are_never_numbers_or_members(asked):
    """What an operator or a client chose stays a string, and no name can end an object."""
    d = asked.d
    d.control("local_data", "123 60 IN A 192.0.2.1")
    d.ask('a\\"b\\000\\255.ent.mini.')
    assert any(r["name"] == "123." for r in asked.run("list_local_data")["data"])
    names = [r["name"] for r in asked.run("list_queries 5")["data"]]
    assert 'a\\"b\\000\\255.ent.mini.' in names
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(d.socket)
        s.sendall(b"UBCT1 --json\tno\xff\"\\such x\n")
        said = b"".join(iter(lambda: s.recv(65536), b""))
    assert json.loads(said)["command"] == "no\xff\"\\such", said
    for line, command in ((b"--json", "--json"), (b"--jsonstatus", "--jsonstatus")):
        assert d.speak(b"UBCT1 " + line + b"\n").startswith(b"error unknown command '" + command.encode()), line


def test_a_lookup_in_progress_is_told(daemon):
    with socket.socket(type=socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        with daemon("num-threads: 1", more="forward-zone:\n    name: .\n    forward-addr: 127.0.0.1@%d\n"
                    % silent.getsockname()[1]) as d:
            with socket.socket(type=socket.SOCK_DGRAM) as s:
                s.sendto(query("slow.example.").to_wire(), ("127.0.0.1", d.port))
                silent.settimeout(5)
                silent.recv(4096)
                row = Asked(d).run("dump_requestlist")["data"][0]
            assert row["name"] == "slow.example." and row["seconds"] >= 0 and row["server"].startswith("127.0.0.1")


def test_a_daemon_that_makes_none_is_understood(unbound_control_replies):
    d, said = unbound_control_replies
    assert json.loads(d.control("--json", "list_stubs"))["data"][0] == {
        "zone": ".", "class": "IN", "kind": "stub", "prime": True, "servers": ["a.mini.", "127.0.0.9"]}
    assert said == ["--json list_stubs", "list_stubs"]
    assert json.loads(d.control("--json", "local_zones", stdin="x static\n", code=1))["error"].startswith("error unknown")


@pytest.fixture
def unbound_control_replies(daemon):
    """A control socket that answers as Unbound does, without a daemon."""
    import threading
    d = Daemon(daemon().bin, daemon().net)
    said = []
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(d.socket)
        listening.listen()
        listening.settimeout(20)

        def serve():
            for _ in range(3):
                with listening.accept()[0] as one:
                    one.settimeout(10)
                    line = b""
                    while not line.endswith(b"\n"):
                        line += one.recv(1)
                    line = line[6:].decode().strip()
                    said.append(line)
                    one.sendall(b". IN stub prime a.mini. 127.0.0.9\n" if line == "list_stubs"
                                else b"error unknown command '%s'\n" % line.encode())
                    one.shutdown(socket.SHUT_WR)
                    while one.recv(4096):
                        pass
        thread = threading.Thread(target=serve)
        thread.start()
        yield d, said
        thread.join()
