"""Zones that are held here and policy zones, with a real primary: signed transfers, NOTIFY, TLS, urls.

SPDX-License-Identifier: BSD-3-Clause
"""

import contextlib
import http.server
import itertools
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

import dns.message
import dns.opcode
import dns.query
import dns.rcode
import dns.tsig
import dns.tsigkeyring
import pytest

from lab import ADDRESS, free_port, rcode, texts, until

NSD = shutil.which("nsd", path="/usr/sbin:/usr/bin:/usr/local/sbin")
SECRET = "c2VjcmV0IG9mIHR3byBzZXJ2ZXJz"
pytestmark = pytest.mark.skipif(NSD is None, reason="there is no nsd")


def zone_text(serial, *records, name="held.test.", refresh=3600, retry=600, expire=86400):
    return "\n".join(["$ORIGIN %s" % name, "$TTL 300",
                      "@ SOA ns host %d %d %d %d 60" % (serial, refresh, retry, expire), "@ NS ns",
                      "ns A 127.0.0.1", *records]) + "\n"


class Primary:
    """An NSD that serves one zone and tells `notify` of changes."""

    def __init__(self, text, name="held.test", algorithm=None, notify=None, tls=None):
        self.dir = tempfile.mkdtemp(prefix="rd-nsd-", dir="/tmp")
        self.port, self.tls_port = free_port(), free_port()
        self.name, self.zone = name, os.path.join(self.dir, "zone")
        key = "K." if algorithm else "NOKEY"
        lines = ["server:", "server-count: 1", "ip-address: 127.0.0.1@%d" % self.port, 'username: ""',
                 'chroot: ""', 'database: ""', "zonesdir: " + self.dir, "pidfile: %s/pid" % self.dir,
                 "xfrdir: " + self.dir, "zonelistfile: %s/list" % self.dir, "xfrdfile: %s/xfrd" % self.dir,
                 "logfile: %s/log" % self.dir, "cookie-secret-file: %s/cookie" % self.dir, "verbosity: 2"]
        if tls:
            lines += ["ip-address: 127.0.0.1@%d" % self.tls_port, "tls-port: %d" % self.tls_port,
                      "tls-service-pem: " + tls[0], "tls-service-key: " + tls[1]]
        lines += ["remote-control:", "control-enable: no"]
        if algorithm:
            lines += ["key:", "name: K.", "algorithm: " + algorithm, 'secret: "%s"' % SECRET]
        lines += ["zone:", "name: " + name, "zonefile: " + self.zone, "provide-xfr: 127.0.0.1 " + key,
                  "store-ixfr: yes", "create-ixfr: yes"]
        if notify:
            lines += ["notify: 127.0.0.1@%d %s" % (notify, key)]
        with open(os.path.join(self.dir, "conf"), "w", encoding="ascii") as f:
            f.write("\n".join(lines) + "\n")
        self.write(text)

    def write(self, text):
        with open(self.zone + ".new", "w", encoding="ascii") as f:
            f.write(text)
        os.utime(self.zone + ".new", (time.time() + 5, time.time() + 5))
        os.replace(self.zone + ".new", self.zone)

    def update(self, text):
        self.write(text)
        self.process.send_signal(signal.SIGHUP)

    def log(self):
        with contextlib.suppress(OSError), open(self.dir + "/log", encoding="ascii", errors="replace") as f:
            return f.read()
        return ""

    def is_up(self):
        with contextlib.suppress(Exception):
            r = dns.query.udp(dns.message.make_query(self.name, "SOA"), ADDRESS, 0.5, self.port)
            return r.rcode() == 0 and r.answer
        return False

    def __enter__(self):
        self.process = subprocess.Popen([NSD, "-d", "-c", self.dir + "/conf"], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(self.is_up, why=self.log)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(10)
        shutil.rmtree(self.dir, ignore_errors=True)


class Web:
    """Serves `text` at any path, counts who came; `status` other than 200 is said with a page."""

    def __init__(self, text):
        self.text, self.status, self.full, self.same = text, 200, 0, 0
        web = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body, tag = web.text.encode(), '"%d"' % (hash(web.text) & 0xffff)
                if self.headers.get("If-None-Match") == tag:
                    web.same += 1
                    self.send_response(304)
                    self.end_headers()
                    return
                web.full += 1
                self.send_response(web.status)
                self.send_header("ETag", tag)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer((ADDRESS, free_port()), Handler)
        self.url = "http://%s:%d/zone.txt" % self.server.server_address

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def key_clause(algorithm, secret=SECRET):
    return "key:\n  name: K.\n  algorithm: %s\n  secret: \"%s\"\n" % (algorithm, secret)


def held(primary, *more, name="held.test", clause="auth-zone", file=""):
    return "%s:\n  name: %s\n  primary: 127.0.0.1@%d\n  zonefile: \"%s\"\n%s" % (
        clause, name, primary.port, file, "".join("  %s\n" % m for m in more))


def has(d, name, address):
    return lambda: texts(d.ask(name + ".held.test")) == [address]


@pytest.mark.parametrize("algorithm", ["hmac-sha256", "hmac-sha512", "hmac-sha1"])
def test_transfers_and_notifications_are_signed(daemon, algorithm):
    port = free_port()
    with Primary(zone_text(1, "a A 192.0.2.1"), algorithm=algorithm, notify=port) as p, \
         daemon("local-zone: test. nodefault", port=port,
                more=key_clause(algorithm) + held(p, "tsig-key: k", file="held.zone")) as d:
        until(has(d, "a", "192.0.2.1"), why=d.log)
        assert "held.test.\tserial 1\tsince" in d.control("list_auth_zones")
        p.update(zone_text(2, "a A 192.0.2.2", "b A 192.0.2.3"))
        until(has(d, "a", "192.0.2.2"), why=lambda: d.log() + p.log())
        assert texts(d.ask("b.held.test")) == ["192.0.2.3"]
        until(lambda: "192.0.2.3" in open(d.dir + "/held.zone", encoding="ascii").read())
        assert "not be used" not in d.log()


@pytest.mark.parametrize("algorithm", [None, "hmac-sha256"], ids=["plain", "signed"])
def test_a_primary_that_lags_behind_does_not_turn_back_time(daemon, algorithm):
    key = key_clause(algorithm) if algorithm else ""
    with Primary(zone_text(5, "a A 192.0.2.5"), algorithm=algorithm) as p, \
         daemon("local-zone: test. nodefault", more=key + held(p, *["tsig-key: k."] if algorithm else [])) as d:
        until(has(d, "a", "192.0.2.5"), why=d.log)
        p.update(zone_text(4, "a A 192.0.2.4"))
        until(lambda: "192.0.2.4" in str(dns.query.udp(dns.message.make_query("a.held.test", "A"), ADDRESS, 1, p.port)),
              why=p.log)
        d.control("auth_zone_transfer", "held.test")
        until(lambda: "transfer failed from every primary" in d.log(), why=d.log)
        assert has(d, "a", "192.0.2.5")()


def test_a_zone_expires_though_options_change_meanwhile(daemon):
    """Its primary is gone for eight seconds, and every four something is set or forwarded."""
    with Primary(zone_text(1, "a A 192.0.2.1", refresh=1, retry=1, expire=8)) as p, \
         daemon("local-zone: test. nodefault", more=held(p)) as d:
        until(has(d, "a", "192.0.2.1"), why=d.log)
        p.process.terminate()
        changes = itertools.cycle([("set_option", "prefetch:", "yes"), ("forward_add", "f.example", "192.0.2.9")])

        def is_gone():
            assert d.control(*next(changes)) == "ok\n"
            time.sleep(4)
            return "held.test.\texpired" in d.control("list_auth_zones")

        until(is_gone, seconds=30, why=d.log)


def test_who_does_not_know_the_secret_is_not_believed(daemon):
    with Primary(zone_text(1, "a A 192.0.2.1"), algorithm="hmac-sha256") as p, \
         daemon("local-zone: test. nodefault",
                more=key_clause("hmac-sha256", "b3RoZXIgc2VjcmV0") + held(p, "tsig-key: k.")) as d:
        until(lambda: "transfer failed from every primary" in d.log())
        assert rcode(d.ask("a.held.test")) == "SERVFAIL"


def notify(d, keyring=None, name="held.test", source=None):
    q = dns.message.make_query(name, "SOA")
    q.set_opcode(dns.opcode.NOTIFY)
    if keyring:
        q.use_tsig(keyring, algorithm=dns.tsig.HMAC_SHA256)
    return dns.rcode.to_text(dns.query.udp(q, ADDRESS, 5, d.port, source=source).rcode())


def test_notify_must_be_signed_where_there_is_a_key(daemon):
    good = dns.tsigkeyring.from_text({"k.": SECRET})
    bad = dns.tsigkeyring.from_text({"k.": "b3RoZXIgc2VjcmV0"})
    with Primary(zone_text(1), algorithm="hmac-sha256") as p, \
         daemon("local-zone: test. nodefault",
                more=key_clause("hmac-sha256") + held(p, "tsig-key: k.") +
                "auth-zone:\n  name: open.test\n  primary: 127.0.0.1@%d\n" % p.port) as d:
        assert notify(d) == "NOTAUTH"
        assert notify(d, bad) == "NOTAUTH"
        assert notify(d, good) == "NOERROR"  # dnspython has checked the signature of this answer
        assert notify(d, name="open.test") == "NOERROR"
        assert notify(d, name="other.test") == "REFUSED"


def test_hosts_may_notify_by_name(daemon, net):
    """ns1.brightdns.net has the address 127.20.0.1; nobody else from there is on any list."""
    with Primary(zone_text(1)) as p, \
         daemon("local-zone: test. nodefault", "access-control: 127.0.0.0/8 allow",
                more=held(p, "allow-notify: ns1.brightdns.net", "allow-notify: 127.55.0.0/16")) as d:
        address = texts(d.ask("ns1.brightdns.net"))[0]
        until(lambda: notify(d, source=address) == "NOERROR", why=d.log)
        assert notify(d, source="127.55.1.2") == "NOERROR"
        assert notify(d, source="127.56.1.2") == "REFUSED"


def test_transfers_over_tls(daemon, ca):
    with Primary(zone_text(1, "a A 192.0.2.1"), tls=(ca.path("nsd.pem"), ca.path("nsd.key"))) as p:
        more = "auth-zone:\n  name: held.test\n  primary: 127.0.0.1@%d#%s\n"
        with daemon("local-zone: test. nodefault", 'tls-cert-bundle: "%s"' % ca.path("ca.pem"),
                    more=more % (p.tls_port, "primary.test")) as d:
            until(has(d, "a", "192.0.2.1"), why=lambda: d.log() + p.log())
        with daemon("local-zone: test. nodefault", 'tls-cert-bundle: "%s"' % ca.path("ca.pem"),
                    more=more % (p.tls_port, "stranger.test")) as d:
            until(lambda: "transfer failed from every primary" in d.log())
            assert rcode(d.ask("a.held.test")) == "SERVFAIL"


def test_a_zone_comes_from_a_url(daemon):
    with Web(zone_text(1, "a A 192.0.2.1", refresh=1, retry=1)) as web:
        more = "auth-zone:\n  name: held.test\n  url: \"%s\"\n  zonefile: held.zone\n" % web.url
        with daemon("local-zone: test. nodefault", more=more) as d:
            until(has(d, "a", "192.0.2.1"), why=d.log)
            until(lambda: web.same > 0)  # asked again after its refresh time: nothing is new
            web.text = zone_text(2, "a A 192.0.2.2", refresh=1, retry=1)
            until(has(d, "a", "192.0.2.2"), why=d.log)
            web.text = "<html><body>Bad gateway</body></html>\n"
            until(lambda: web.url + ":1: cannot read the record" in d.log(), why=d.log)
            web.status = 503
            full = web.full
            until(lambda: web.full > full)
            assert has(d, "a", "192.0.2.2")()
            d.control("auth_zone_transfer", "held.test")
            assert d.stop() == 0
            web.server.socket.close()
            d.start()  # no web server is there now: the file is
            assert has(d, "a", "192.0.2.2")()


def test_a_broken_zone_file_leaves_the_old_zone(daemon):
    """Whoever reads it again hears of it; what is written is in the order of types, whatever order it came in."""
    with Web(zone_text(1, "a TXT t", "a AAAA 2001:db8::1", "a A 192.0.2.1")) as web:
        more = "auth-zone:\n  name: held.test\n  url: \"%s\"\n  zonefile: held.zone\n" % web.url
        with daemon("local-zone: test. nodefault", more=more) as d:
            until(has(d, "a", "192.0.2.1"), why=d.log)
            path = os.path.join(d.dir, "held.zone")
            until(lambda: os.path.exists(path))
            with open(path, encoding="ascii") as f:
                written = [line.split()[3] for line in f if line.startswith("a.")]
            assert written == ["A", "TXT", "AAAA"]
    with daemon("local-zone: test. nodefault", more="auth-zone:\n  name: held.test\n  zonefile: held.zone\n") as d:
        path = os.path.join(d.dir, "held.zone")
        with open(path, "w", encoding="ascii") as f:
            f.write(zone_text(1, "a A 192.0.2.1"))
        assert d.control("auth_zone_reload", "held.test") == "ok\n"
        until(has(d, "a", "192.0.2.1"), why=d.log)
        with open(path, "w", encoding="ascii") as f:
            f.write("<html><body>Bad gateway</body></html>\n")
        said = d.speak(b"UBCT1 auth_zone_reload held.test\n").decode()
        assert said.startswith("error"), said
        assert has(d, "a", "192.0.2.1")()


def test_a_failed_fetch_is_no_news_of_the_zone(daemon):
    """Its digest is wrong: that it is still the same there does not make what is held here current."""
    with Web(zone_text(1, "a A 192.0.2.1", refresh=1, retry=1)) as web:
        more = "auth-zone:\n  name: held.test\n  url: \"%s\"\n  zonemd-check: yes\n" % web.url
        with daemon("local-zone: test. nodefault", more=more) as d:
            until(has(d, "a", "192.0.2.1"), why=d.log)
            web.text = zone_text(2, "a A 192.0.2.2", "@ ZONEMD 2 1 1 " + 96 * "0", refresh=1, retry=1)
            until(lambda: "ZONEMD" in d.log(), why=d.log)
            same, full = web.same, web.full
            until(lambda: web.same + web.full >= same + full + 2)
            assert web.same == same
            assert d.log().count("transfer failed from every primary") > 1
            assert has(d, "a", "192.0.2.1")()


def test_a_zone_file_read_during_a_transfer_is_not_served_before_it_is_verified(daemon):
    """The primary accepts and says nothing; nobody has the keys of the zone's trust anchor."""
    with socket.create_server((ADDRESS, 0)) as mute:
        more = "auth-zone:\n  name: held.test\n  primary: 127.0.0.1@%d\n  zonefile: \"held.zone\"\n  zonemd-check: yes\n" \
            % mute.getsockname()[1]
        with daemon("local-zone: test. nodefault", 'trust-anchor: "held.test. DS 1 15 2 %s"' % (64 * "0"),
                    module="validator iterator", more=more) as d:
            mute.settimeout(10)
            with mute.accept()[0]:
                with open(os.path.join(d.dir, "held.zone"), "w", encoding="ascii") as f:
                    f.write(zone_text(1, "a A 192.0.2.1"))
                assert d.control("auth_zone_reload", "held.test") == "ok\n"
                for _ in range(10):
                    assert rcode(d.ask("a.held.test")) == "SERVFAIL"
                    time.sleep(0.1)


POLICY = "bad.example CNAME .\n*.bad.example CNAME *.\nwalled.example A 192.0.2.80\n"


def test_policy_zones_by_transfer_are_switched_counted_and_told_of(daemon):
    port = free_port()
    text = zone_text(1, *POLICY.splitlines(), name="policy.test.")
    with Primary(text, name="policy.test", notify=port) as p, \
         daemon("extended-statistics: yes", port=port, module="respip iterator",
                more=held(p, "rpz-log: yes", "rpz-log-name: lab", name="policy.test", clause="rpz")) as d:
        until(lambda: rcode(d.ask("bad.example")) == "NXDOMAIN" and not d.ask("bad.example").authority, why=d.log)
        assert texts(d.ask("walled.example")) == ["192.0.2.80"]
        assert "info: rpz: applied [lab] bad.example. rpz-nxdomain 127.0.0.1@" in d.log()
        assert "info: rpz: applied [lab] walled.example. rpz-local-data 127.0.0.1@" in d.log()
        assert "policy.test.\tserial 1" in d.control("list_auth_zones")
        assert d.stats()["num.rpz.action.rpz-local-data"] == 1
        assert d.control("rpz_disable", "policy.test") == "ok\n"
        assert not texts(d.ask("walled.example"))
        assert d.control("reload") == "ok\n"
        assert not texts(d.ask("walled.example"))  # it stays so
        assert d.control("rpz_enable", "policy.test") == "ok\n"
        assert texts(d.ask("walled.example")) == ["192.0.2.80"]
        assert "no auth-zone nowhere.test" in d.control("rpz_enable", "nowhere.test", code=1)
        assert d.control("reload") == "ok\n"
        assert texts(d.ask("walled.example")) == ["192.0.2.80"]
        p.update(zone_text(2, "walled.example A 192.0.2.81", name="policy.test."))
        until(lambda: texts(d.ask("walled.example")) == ["192.0.2.81"], why=lambda: d.log() + p.log())


def test_a_policy_zone_with_broken_records_comes_from_a_url(daemon):
    with Web(zone_text(1, *POLICY.splitlines(), "broken A 1.2.3.4.5", "$INCLUDE /etc/passwd", name="policy.test.",
                       refresh=1, retry=1)) as web:
        more = "rpz:\n  name: policy.test\n  url: \"%s\"\n" % web.url
        with daemon(module="respip iterator", more=more) as d:
            until(lambda: texts(d.ask("walled.example")) == ["192.0.2.80"], why=d.log)
            assert web.url + ":9: " in d.log() and "not followed" in d.log()
            web.text = "<html>\n<p>Please log in</p>\n</html>\n" * 20
            until(lambda: "cannot be read, and only" in d.log(), why=d.log)
            assert texts(d.ask("walled.example")) == ["192.0.2.80"]


def test_the_root_is_held_here(daemon, net):
    """RFC 8806: no question goes to the servers of the root."""
    more = "auth-zone:\n  name: \".\"\n  zonefile: \"%s/zones/root\"\n  for-downstream: no\n  for-upstream: yes\n" \
           "  fallback-enabled: yes\n" % net
    with daemon("extended-statistics: yes", more=more) as d:
        assert rcode(d.ask("ns1.brightdns.net")) == "NOERROR"
        assert rcode(d.ask("no-such-tld-at-all.")) == "NXDOMAIN"
        assert d.stats()["num.query.authzone.up"] >= 2
        assert "127.10." not in d.control("dump_infra")


def test_nobody_waits_while_a_big_zone_is_taken_over(daemon):
    """One thread serves clients and talks to the primary; what is slow is done elsewhere."""
    many = ["n%d.example CNAME ." % i for i in range(60000)]
    with Primary(zone_text(1, *many, name="policy.test."), name="policy.test") as p, \
         daemon('local-data: "here.test. A 192.0.2.9"', "num-threads: 1", module="respip iterator",
                more=held(p, name="policy.test", clause="rpz", file="policy.zone")) as d:
        slowest, asked = 0.0, 0
        while "serial 1, " not in d.log() or asked < 200:
            begun = time.monotonic()
            assert texts(d.ask("here.test")) == ["192.0.2.9"]
            slowest, asked = max(slowest, time.monotonic() - begun), asked + 1
        assert rcode(d.ask("n59999.example")) == "NXDOMAIN"
        assert slowest < 0.5
