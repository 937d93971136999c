"""Sudden ends, storms of signals, clocks that jump, everything changed at once: it recovers by itself.

SPDX-License-Identifier: BSD-3-Clause
"""

import contextlib
import glob
import os
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import threading
import time

import dns.edns
import dns.exception
import dns.flags
import pytest

from lab import frame, free_port, query, read_message, texts, until


class Load:
    """Questions without pause, for what is cached; `lost` counts those without an answer."""

    def __init__(self, d, name="target.chain.mini.", want=("198.18.0.40",), port=None):
        self.d, self.name, self.want, self.port = d, name, list(want), port or d.port
        self.asked, self.lost, self.over = 0, 0, threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        q = query(self.name).to_wire()
        with socket.socket(type=socket.SOCK_DGRAM) as s:
            s.connect(("127.0.0.1", self.port))
            s.settimeout(5)
            while not self.over.is_set():
                self.asked += 1
                try:
                    s.send(q)
                    s.recv(4096)
                except OSError:
                    self.lost += 1

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join(10)


# -- sudden ends ------------------------------------------------------------------------------------

@pytest.mark.parametrize("phase", ["start", "serve", "reload", "dump", "save", "stop"])
def test_killed_in_any_phase_it_starts_again(made, phase):
    """What it has written is whole: sockets and files that it left behind do not keep it from starting."""
    d = made("num-threads: 2")
    d.configure(["num-threads: 2", 'cache-file: "%s/cache"' % d.dir])
    for moment in (0.0, 0.01, 0.05):
        if phase == "start":
            d.start(wait=False)
            time.sleep(moment)
            d.kill()
            continue
        d.start()
        assert texts(d.ask("target.chain.mini.")) == ["198.18.0.40"]
        for i in range(50):
            d.ask("n%d.w.rsa.mini." % i)
        words = {"reload": ["reload"], "dump": ["dump_cache"], "save": ["cache_save"]}.get(phase)
        if words:
            p = subprocess.Popen([d.program("resolver-control"), "-c", d.client_conf, *words],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(moment)
            d.kill()
            p.wait(20)
        else:
            if phase == "stop":
                d.process.send_signal(signal.SIGTERM)
                time.sleep(moment)
            d.kill()
    d.start()
    assert texts(d.ask("target.chain.mini.")) == ["198.18.0.40"]
    assert "version" in d.control("status")
    assert d.stop() == 0
    left = {os.path.basename(p) for p in glob.glob(d.dir + "/*")}
    assert left <= {"resolver.conf", "client.conf", "control.sock", "stderr", "cache"}, left
    assert "damaged" not in d.log()


# -- storms -----------------------------------------------------------------------------------------

def test_a_thousand_sighups_in_a_second(made):
    d = made("num-threads: 2")
    d.start()
    assert texts(d.ask("target.chain.mini.")) == ["198.18.0.40"]
    d.control("reload")
    calm = d.files()
    with Load(d) as load:
        began = time.monotonic()
        for i in range(1000):
            if i == 990:  # what is written before the last ones counts, however many became one
                d.configure(["num-threads: 2", 'local-data: "late.example. A 192.0.2.9"'])
            d.process.send_signal(signal.SIGHUP)
            time.sleep(max(0, began + (i + 1) / 1000 - time.monotonic()))
        d.control("status")
        until(lambda: texts(d.ask("late.example.")) == ["192.0.2.9"])
    assert load.asked > 50 and load.lost == 0
    assert texts(d.ask("n1.w.rsa.mini."))
    until(lambda: abs(d.files() - calm) <= 5)
    assert d.stop() == 0


OTHER = ["num-threads: 2", "msg-cache-size: 1m", "rrset-cache-size: 2m", "outgoing-range: 100", "prefetch: yes",
         "serve-expired: yes", "minimal-responses: no", "qname-minimisation: no", "use-caps-for-id: yes",
         "incoming-num-tcp: 3", "outgoing-num-tcp: 2", "tcp-idle-timeout: 500", "num-queries-per-thread: 64",
         "extended-statistics: yes", "harden-below-nxdomain: no", "aggressive-nsec: no", "hide-identity: yes",
         "access-control: 127.0.0.0/8 allow_snoop", "access-control: 10.0.0.0/8 deny", "ratelimit: 100000",
         "ip-ratelimit: 100000", "deny-any: yes", "rrset-roundrobin: no", "edns-buffer-size: 512",
         "max-udp-size: 700", "private-address: 10.0.0.0/8", "cache-min-ttl: 5", "cache-max-ttl: 100",
         "infra-host-ttl: 9", "log-queries: yes", "verbosity: 2", "do-tcp: yes", "unwanted-reply-threshold: 1000000",
         'local-zone: "black.example." always_nxdomain', 'local-data: "here.example. A 192.0.2.9"',
         'define-tag: "a b"', 'access-control-tag: 127.0.0.0/8 "a b"', "http-max-streams: 7", "discard-timeout: 900",
         "jostle-timeout: 10", "wait-limit: 50", "target-fetch-policy: \"0 0 0 0 0\""]


def test_everything_changes_at_once_under_load(made):
    """Back and forth between two configurations that have next to nothing in common."""
    d = made("num-threads: 2")
    more = ("forward-zone:\n    name: fwd.example\n    forward-addr: 127.0.0.1@%d\n" % free_port()
            + "stub-zone:\n    name: stub.example\n    stub-addr: 127.0.0.1@%d\n" % free_port()
            + 'auth-zone:\n    name: auth.example\n    zonefile: "%s/auth"\n    for-upstream: no\n' % d.dir
            + 'view:\n    name: v\n    local-data: "v.example. A 192.0.2.3"\n'
            + 'blocklist:\n    name: l\n    file: "%s/list"\n' % d.dir)
    with open(d.dir + "/auth", "w", encoding="ascii") as f:
        f.write("@ 60 IN SOA ns h 1 2 3 4 5\n@ 60 IN NS ns\nns 60 IN A 127.0.0.1\nwww 60 IN A 192.0.2.8\n")
    with open(d.dir + "/list", "w", encoding="ascii") as f:
        f.write("".join("b%d.example\n" % i for i in range(5000)))
    with open(d.conf, encoding="utf-8") as f:
        plain = f.read()
    d.configure([*OTHER, "interface: 127.0.0.2", 'blocklist-directory: "%s/copies"' % d.dir], more)
    with open(d.conf, encoding="utf-8") as f:
        other = f.read()
    with open(d.conf, "w", encoding="utf-8") as f:
        f.write(plain)
    d.start()
    assert texts(d.ask("target.chain.mini.")) == ["198.18.0.40"]
    with Load(d) as load, Load(d, "n1.w.rsa.mini.") as second:
        for turn in range(6):
            with open(d.conf, "w", encoding="utf-8") as f:
                f.write(plain if turn % 2 else other)
            assert d.control("reload") == "ok\n"
            assert texts(d.ask("c%d.w.rsa.mini." % turn))
            want = ([], []) if turn % 2 else (["192.0.2.9"], ["192.0.2.8"])
            until(lambda w=want[0]: texts(d.ask("here.example.")) == w)
            until(lambda w=want[1]: texts(d.ask("www.auth.example.")) == w)
    assert load.lost == 0 and second.lost == 0
    assert texts(d.ask("target.chain.mini.")) == ["198.18.0.40"]
    assert d.stop() == 0


# -- clocks -----------------------------------------------------------------------------------------

CC = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


@pytest.fixture(scope="session")
def shim(tmp_path_factory):
    """A library that moves the wall clock of whatever it is loaded into."""
    if CC is None:
        pytest.skip("there is no compiler")
    out = str(tmp_path_factory.mktemp("clock") / "clock_shift.so")
    here = os.path.dirname(os.path.abspath(__file__))
    done = subprocess.run([CC, "-shared", "-fPIC", "-O1", "-o", out, os.path.join(here, "clock_shift.c")],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("no library can be made: " + done.stderr[:300])
    return out


def cookie_of(message):
    return next((o.to_wire() for o in message.options if o.otype == 10), b"")


@pytest.mark.parametrize("days", [1, -1])
def test_the_clock_jumps_by_a_day(made, net, shim, days):
    """Cached answers, signatures, timers and cookies live on: what counts seconds does not look at the wall."""
    d = made('trust-anchor-file: "%s/root.key"' % net, "answer-cookie: yes", "serve-expired: no",
             module="validator iterator")
    shift = os.path.join(d.dir, "clock")

    def set_clock(by_days):
        with open(shift, "r+b" if os.path.exists(shift) else "wb", buffering=0) as f:
            f.write(struct.pack("=q", by_days * 86400))
    set_clock(0)
    d.environment = {**os.environ, "LD_PRELOAD": shim, "CLOCK_SHIFT": shift}
    d.start(wait=False)
    time.sleep(0.5)
    if "come first" in d.log():
        d.process.wait(10)
        pytest.skip("a sanitizer wants to be loaded first")
    d.wait_ready()

    def secure(name):
        r = d.ask(name, dnssec=True)
        return texts(r) != [] and bool(r.flags & dns.flags.AD)
    assert secure("n1.w.rsa.mini.")
    left = d.ask("n1.w.rsa.mini.").answer[0].ttl
    cookie = cookie_of(d.ask("n1.w.rsa.mini.", options=[dns.edns.GenericOption(10, b"12345678")]))
    assert len(cookie) == 24
    calm = d.files()
    set_clock(days)
    with d.misses(0):
        again = d.ask("n1.w.rsa.mini.")
    assert left - 20 <= again.answer[0].ttl <= left, "what is cached is as old as it was"
    assert secure("n1.w.rsa.mini.")
    assert secure("n2.w.rsa.mini."), "signatures are good from two days ago on, for ninety"
    again = cookie_of(d.ask("n1.w.rsa.mini.", options=[dns.edns.GenericOption(10, cookie)]))
    assert len(again) == 24 and again != cookie, "an old cookie, or one of tomorrow, is replaced"
    began = time.monotonic()
    with contextlib.suppress(dns.exception.Timeout):
        d.ask("anything.silent.mini.", timeout=4)
    assert time.monotonic() - began < 8, "timers run on"
    assert d.control("reload") == "ok\n"
    assert secure("n3.w.rsa.mini.")
    set_clock(0)
    assert secure("n4.w.rsa.mini.") and secure("n1.w.rsa.mini.")
    assert float(d.stats()["time.up"]) < 200
    assert abs(d.files() - calm) <= 5
    assert d.stop() == 0


TEN_YEARS = 3652


class Shifted:
    """A daemon whose wall clock can be set, by days."""

    def __init__(self, d, shim):
        self.d, self.path = d, os.path.join(d.dir, "clock")
        self.set(0)
        d.environment = {**os.environ, "LD_PRELOAD": shim, "CLOCK_SHIFT": self.path}

    def set(self, days):
        with open(self.path, "r+b" if os.path.exists(self.path) else "wb", buffering=0) as f:
            f.write(struct.pack("=q", days * 86400))

    def start(self):
        self.d.start(wait=False)
        time.sleep(0.5)
        if "come first" in self.d.log():
            self.d.process.wait(10)
            pytest.skip("a sanitizer wants to be loaded first")
        self.d.wait_ready()


def ede(message):
    return [(int(o.code), o.text or "") for o in message.options if o.otype == 15]


@pytest.mark.parametrize("days", [TEN_YEARS, -TEN_YEARS], ids=["forward", "back"])
def test_the_clock_jumps_by_ten_years(made, net, shim, days):
    """Too late, what is new cannot be true, and it is said why; too early, dates do not count, and that is said. All else
    goes on, and all is well when the clock is."""
    d = made(module="validator iterator")
    shutil.copy(net + "/root.key", d.dir + "/anchor")
    d.configure(['auto-trust-anchor-file: "%s/anchor"' % d.dir, "answer-cookie: yes", "ede: yes", "val-log-level: 2",
                 "extended-statistics: yes", "num-threads: 2", 'cache-file: "%s/cache"' % d.dir, "prefetch: yes",
                 "val-bogus-ttl: 2", "ip-ratelimit: 1000000", 'hosts-file: "%s/hosts"' % d.dir, 'local-data: "here.lan. A 192.0.2.1"'])
    clock = Shifted(d, shim)
    clock.start()

    def secure(name):
        r = d.ask(name, dnssec=True, edns=0)
        return texts(r) != [] and bool(r.flags & dns.flags.AD)
    assert secure("n1.w.rsa.mini.")
    left = d.ask("n1.w.rsa.mini.").answer[0].ttl
    anchors = d.control("list_anchors")
    assert "VALID" in anchors.upper(), anchors
    with Load(d) as load:
        for name in ("www.rsasha512.mini.", "www.rollover.mini."):
            clock.set(days)
            d.control("flush_bogus")
            r = d.ask(name, edns=0)
            if days > 0:
                assert r.rcode() == 2 and 7 in [c for c, _ in ede(r)], (str(r), d.log()[-2000:])
            else:  # it cannot be right: dates do not count, as on a machine that boots in 1970
                assert texts(r) and texts(d.ask("www.expired.mini.")), (str(d.ask("www.expired.mini.", edns=0)), d.log()[-2000:])
                assert "the clock says 2016-" in d.log()
            assert left - 30 <= d.ask("n1.w.rsa.mini.").answer[0].ttl <= left, "what is cached is as old as it was"
            assert texts(d.ask("here.lan.")) == ["192.0.2.1"]
            cookie = cookie_of(d.ask("here.lan.", options=[dns.edns.GenericOption(10, b"12345678")]))
            assert len(cookie) == 24
            assert d.control("reload") == "ok\n" and d.control("cache_save")
            clock.set(0)
            until(lambda c=cookie: cookie_of(d.ask("here.lan.", options=[dns.edns.GenericOption(10, c)])) not in (b"", c))
            time.sleep(2.2)
            assert secure(name), d.log()[-2000:]
            assert d.ask("www.expired.mini.").rcode() == 2, "what was believed without dates is not believed any more"
    assert load.lost == 0 and load.asked > 50
    assert float(d.stats()["time.up"]) < 200 and float(d.stats()["time.elapsed"]) < 200
    assert d.control("list_anchors").split() and "VALID" in d.control("list_anchors").upper()
    # It ends and starts again while the clock is wrong: nothing of that time stays.
    clock.set(days)
    assert d.stop() == 0
    clock.start()
    assert bool(texts(d.ask("n1.w.rsa.mini."))) == (days < 0) and texts(d.ask("here.lan.")) == ["192.0.2.1"]
    assert d.stop() == 0
    clock.set(0)
    clock.start()
    assert secure("n1.w.rsa.mini.") and secure("www.prepublished.mini."), d.log()[-3000:]
    assert d.ask("n1.w.rsa.mini.").answer[0].ttl <= 3600
    assert d.stop() == 0


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3], ids=["1.2", "1.3"])
def test_the_clock_is_set_back_and_forth_under_tls_tickets(made, shim, ca, version):
    """Whatever the clock says, who comes with a ticket is served: by it, or by a whole handshake."""
    port = free_port()
    d = made("interface: 127.0.0.1@%d" % port, "tls-port: %d" % port, 'tls-service-key: "%s"' % ca.path("good.key"),
             'tls-service-pem: "%s"' % ca.path("good.pem"), 'local-data: "here.lan. A 192.0.2.1"')
    clock = Shifted(d, shim)
    clock.start()
    context = ssl.create_default_context(cafile=ca.path("ca.pem"))
    context.minimum_version = context.maximum_version = version
    session, resumed = None, []
    for days in (0, 0, 1, -1, TEN_YEARS, -TEN_YEARS, 0, 0):
        clock.set(days)
        with socket.create_connection(("127.0.0.1", port), timeout=10) as raw, \
                context.wrap_socket(raw, server_hostname="dns.test", session=session) as s:
            s.sendall(frame(query("here.lan.")))
            assert texts(read_message(s)) == ["192.0.2.1"], days
            resumed.append(s.session_reused)
            session = s.session
    assert not resumed[0] and resumed[1] and resumed[-1], resumed
    assert d.control("reload") == "ok\n"
    assert d.stop() == 0
