"""What is proven, what is not, and what the operator says about it.

SPDX-License-Identifier: BSD-3-Clause
"""

import csv
import os
import re
import subprocess
import time

import dns.flags
import dns.message
import dns.query
import dns.rcode
import pytest


def look(d, name, rrtype="A"):
    q = dns.message.make_query(name, rrtype, want_dnssec=True)
    return dns.query.udp_with_fallback(q, "127.0.0.1", 10, d.port, ignore_unexpected=True)[0]


@pytest.fixture(scope="module")
def validator(daemon, net):
    with daemon('trust-anchor-file: "%s/root.key"' % net, "ede: yes", "num-threads: 2",
                module="validator iterator") as it:
        yield it


def test_each_name_is_marked_as_its_zone_is_signed(validator, net):
    with open(os.path.join(net, "names.tsv"), encoding="utf-8") as f:
        rows = [r for r in csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE) if r["kind"] == "apex"]
    marked = {True: 0, False: 0}
    for row in rows:
        r = look(validator, row["name"], "SOA")
        assert r.rcode() == dns.rcode.NOERROR, row
        keys = look(validator, row["name"], "DNSKEY")
        secure = bool(r.flags & dns.flags.AD)
        marked[secure] += 1
        # a zone with keys may be an island, but none without keys is secure
        assert keys.answer or not secure, row
    assert marked[True] > 20 and marked[False] > 20


@pytest.mark.parametrize("level, line", [(1, r"failure www\.expired\.mini\. A IN$"),
                                         (2, r"failure <www\.expired\.mini\. A IN>: \S.* from \S+$")])
def test_a_failure_has_its_line(daemon, net, level, line):
    with daemon('trust-anchor-file: "%s/root.key"' % net, "val-log-level: %d" % level,
                module="validator iterator") as d:
        assert look(d, "www.expired.mini.").rcode() == dns.rcode.SERVFAIL
        assert re.search("(?m) info: validation " + line, d.log()), d.log()


# Zones of which the root knows nothing, and the root itself, which is asked elsewhere and believed no more for that.
PRIVATE = """stub-zone:
    name: "corp.test"
    stub-addr: 127.9.9.9
forward-zone:
    name: "lab.test"
    forward-addr: 127.9.9.9
stub-zone:
    name: "."
    stub-addr: 127.10.0.1
"""


# A tmpfs in the place of the state folder, with the file that is to be there, then the daemon.
STATE = """set -e; mkdir -p "$1"; mount -t tmpfs none "$1"; test -z "$2" || cp "$2" "$1/root.key"; chmod 777 "$1"; shift 2; exec "$@\""""


def state_folder(d):
    text = subprocess.run([d.program("resolver-checkconf"), "-o", "blocklist-directory", d.conf], capture_output=True,
                          text=True, check=True).stdout
    return os.path.dirname(text.strip())


def test_without_a_word_of_anchors_the_roots_keys_are_those_of_the_state_folder(daemon, net):
    made = daemon("verbosity: 1", module="validator iterator", default_anchor=True, more=PRIVATE)
    made.before = ["unshare", "-m", "sh", "-c", STATE, "sh", state_folder(made), os.path.join(net, "root.key")]
    with made as d:
        assert look(d, "www.expired.mini.").rcode() == dns.rcode.SERVFAIL
        good = look(d, "mini.", "SOA")
        assert good.rcode() == dns.rcode.NOERROR and good.flags & dns.flags.AD
        assert re.search(r"(?m) notice: no trust anchor is configured: .*/root\.key \(RFC 5011\)", d.log())
        assert re.match(r"\. \d+ valid .* in /\S*/root\.key$", d.control("list_anchors").split("\n")[0])
        assert d.control("list_insecure") == "corp.test.\nlab.test.\n"
        assert "insecure by default" in d.control("insecure_remove", "lab.test", code=1)
        assert d.control("list_insecure") == "corp.test.\nlab.test.\n"


def test_without_even_a_file_they_are_those_that_are_built_in(daemon):
    made = daemon(module="validator iterator", default_anchor=True)
    made.before = ["unshare", "-m", "sh", "-c", STATE, "sh", state_folder(made), ""]
    with made as d:
        assert look(d, "mini.", "SOA").rcode() == dns.rcode.SERVFAIL  # this internet's root has another key
        assert len(re.findall(r"(?m)^\. \d+ trusted since the start \(cannot read /.*root.key: ", d.control("list_anchors"))) == 2


def test_insecure_is_what_the_operator_says(daemon, net):
    with daemon('trust-anchor-file: "%s/root.key"' % net, 'domain-insecure: "garbled.mini"',
                module="validator iterator") as d:
        assert d.control("list_insecure") == "garbled.mini.\n"
        assert look(d, "www.garbled.mini.").rcode() == dns.rcode.NOERROR
        assert look(d, "www.expired.mini.").rcode() == dns.rcode.SERVFAIL
        assert d.control("insecure_add", "expired.mini") == "ok\n"
        assert d.control("list_insecure") == "expired.mini.\ngarbled.mini.\n"
        r = look(d, "www.expired.mini.")
        assert r.rcode() == dns.rcode.NOERROR and not r.flags & dns.flags.AD
        assert d.control("insecure_remove", "garbled.mini.") == "ok\n"
        assert look(d, "www.garbled.mini.").rcode() == dns.rcode.SERVFAIL
        # until the next reload
        d.control("reload")
        assert d.control("list_insecure") == "garbled.mini.\n"
        assert look(d, "www.garbled.mini.").rcode() == dns.rcode.NOERROR
        assert look(d, "www.expired.mini.").rcode() == dns.rcode.SERVFAIL


def test_another_anchor_is_heeded_at_once(daemon, net):
    """What the old one proved is worth nothing under the new one, and the other way round."""
    right = 'trust-anchor-file: "%s/root.key"' % net
    wrong = 'trust-anchor: ". DS 4711 13 2 %s"' % (32 * "ab")
    with daemon(right, module="validator iterator") as d:
        def tells(rcode, secure):
            r = look(d, "mini.", "SOA")
            assert (r.rcode(), bool(r.flags & dns.flags.AD)) == (rcode, secure), r

        tells(dns.rcode.NOERROR, True)
        d.control("reload")
        assert "forgotten" not in d.log()
        d.configure([wrong])
        d.control("reload")
        tells(dns.rcode.SERVFAIL, False)
        d.configure([right])
        d.control("reload")
        tells(dns.rcode.NOERROR, True)
        assert d.log().count("cache entries from before the configuration change removed: ") == 2


def test_the_operator_sees_how_an_anchor_rolls(daemon, net, tmp_path):
    """One that stands as written, one that is followed: the keys of the miniature internet's root."""
    key = tmp_path / "keys" / "root.key"
    key.parent.mkdir()
    key.write_text(open(net + "/root.key", encoding="utf-8").read(), encoding="utf-8")
    inside = key.parent / "inside.key"
    inside.write_text("".join("roll.example. IN DS %d 13 2 %s\n" % (tag, 32 * "ab") for tag in (900, 70, 8000)), encoding="utf-8")
    with daemon('auto-trust-anchor-file: "%s"' % key, 'auto-trust-anchor-file: "%s"' % inside,
                'trust-anchor: "i.example. DS 4711 13 2 %s"' % (32 * "ab"), module="validator iterator") as d:
        day = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"
        lines = d.control("list_anchors").splitlines()
        assert "i.example. 4711 configured" in lines
        assert [line.split()[1] for line in lines if line.startswith("roll.")] == ["70", "900", "8000"], lines
        assert any(re.fullmatch(r"\. \d+ valid.* in %s" % re.escape(str(key)), line) for line in lines), lines
        assert look(d, "mini.", "SOA").flags & dns.flags.AD
        end = time.monotonic() + 20
        while not re.search(r"^\. \d+ valid since %s asked %s again %s in " % (day, day, day),
                            d.control("list_anchors"), re.M):
            assert time.monotonic() < end, d.control("list_anchors")
            time.sleep(0.2)


@pytest.mark.parametrize("name, code, says", [
    ("mini.", 0, "This is secure"),
    ("www.lame.mini.", 1, "There is no answer"),
    ("www.expired.mini.", 2, "This is bogus, .* expired on "),
    ("no-such-name.mini.", 0, "does not exist.\nThis is secure"),
])
def test_resolver_host_says_what_to_think(validator, net, name, code, says):
    conf = os.path.join(validator.dir, "host.conf")
    with open(conf, "w", encoding="utf-8") as f:
        f.write('server:\n  root-hints: "%s/root.hints"\n  do-not-query-localhost: no\n' % net)
    done = subprocess.run([validator.program("resolver-host"), "-C", conf, "-f", net + "/root.key", "-t", "A", name],
                          capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == code, done
    assert re.search(says, done.stdout), done


def test_what_is_kept_of_zones_keeps_to_its_budget(daemon, net):
    with open(os.path.join(net, "names.tsv"), encoding="utf-8") as f:
        rows = [r for r in csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE) if r["kind"] == "apex"][:150]
    seen = {}
    for size in ("8k", "4m"):
        with daemon('trust-anchor-file: "%s/root.key"' % net, "extended-statistics: yes", "num-threads: 1",
                    "key-cache-size: " + size, "neg-cache-size: " + size, "key-cache-slabs: 1",
                    module="validator iterator") as d:
            for row in rows:
                assert look(d, row["name"], "TYPE4711").rcode() == dns.rcode.NOERROR, row
            seen[size] = d.stats()
    assert seen["8k"]["key.cache.count"] < seen["4m"]["key.cache.count"] / 2
    assert seen["8k"]["mem.mod.validator"] < seen["4m"]["mem.mod.validator"] / 2
