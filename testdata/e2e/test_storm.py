"""Everything at once for some seconds: questions over every transport, reloads, lists, host names, commands, options.

Short, since contrib/check runs it under the sanitizer of threads, too, which ends the daemon with a code of its own.
The second test is of dice: STORM_SECONDS and STORM_SEED say how long, and which; it prints both.

SPDX-License-Identifier: BSD-3-Clause
"""

import contextlib
import http.client
import itertools
import os
import random
import re
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time

import dns.edns
import dns.exception
import dns.flags
import dns.message
import dns.opcode
import dns.rdatatype
import dns.rrset

from collector import Collector
from faulty import Faulty
from h2client import Client
from lab import ADDRESS, FakeServer, frame, free_port, query, read_message, texts, until
from storm import NAMES, Dice, commands
from test_cachedb import Redis
from test_leases import dnsmasq
from test_proxy import header
from test_subnets import Near

SECONDS = 6
# What changes something, what looks at something that it changes on another thread, and what takes long.
COMMANDS = [["stats_noreset"], ["dump_cache"], ["list_queries", "1000"], ["top", "names"], ["status"], ["dump_infra"],
            ["flush_zone", "nothing.example."], ["local_data", "here.example. 60 A 192.0.2.1"], ["list_local_data"],
            ["local_data_remove", "here.example."], ["blocklist_reload"], ["lookup", "mini."], ["cache_save"],
            ["forward_add", "fwd.example.", "127.0.0.3"], ["forward_remove", "fwd.example."],
            ["flush_infra", "127.0.0.9"], ["blocklist_status"], ["blocklist_deny", "denied.example."],
            ["set_option", "cache-max-ttl:", "3600"], ["dump_requestlist"], ["flush_negative"], ["log_reopen"],
            ["blocklist_status"], ["blocklist_test", "b1-1.example."], ["blocklist_forget", "denied.example."],
            ["stats"], ["list_upstreams"], ["blocklist_pause", "1"], ["blocklist_status"], ["blocklist_resume"],
            ["set_option", "cache-max-ttl:", "7200"], ["blocklist_status"], ["insecure_add", "unsigned.example."],
            ["why", "target.chain.mini."], ["insecure_remove", "unsigned.example."], ["cache_lookup", "+t", "mini."],
            ["list_local_zones"], ["list_leases"], ["lease_status"], ["list_forwards"], ["list_stubs"], ["list_anchors"],
            ["list_insecure"], ["list_auth_zones"], ["get_option", "cache-max-ttl"], ["flush_bogus"], ["flush_type", "no.example.", "A"],
            ["ratelimit_list", "+a"], ["local_zone", "more.example.", "static"], ["local_zone_remove", "more.example."],
            ["verbosity", "1"], ["flush_stats"], ["print_cookie_secrets"], ["top", "clients"], ["top", "clear"]]
# Again and again beside the others, so that each meets each.
READERS = [["blocklist_status"], ["stats_noreset"], ["list_upstreams"], ["dump_requestlist"], ["top", "blocked"]]
WRITERS = [["set_option", "cache-max-ttl:", "3600"], ["forward_add", "fwd2.example.", "127.0.0.3"],
           ["forward_remove", "fwd2.example."], ["insecure_add", "a.example."], ["insecure_remove", "a.example."]]
FILES = ["moved.zone", "policy.zone", "lease", "names", "hosts", "cookies"]
PAGES = ["/metrics", "/status.json", "/healthz"]


def reply_to(d, line, body=None):
    """That of a command, without a program for it, which takes its time to start under a sanitizer."""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(60)
        s.connect(d.socket)
        s.sendall(("UBCT1 %s\n" % line).encode())
        if body is not None:
            with contextlib.suppress(BrokenPipeError):  # it may be refused before its end
                s.sendall((body + "\n\4\n").encode())
        return b"".join(iter(lambda: s.recv(65536), b"")).decode(errors="replace")


def say(d, *words):
    said = reply_to(d, " ".join(words))
    assert not said.startswith("error"), (words, said[:200])


def again_and_again(over, pause, what):
    """A thread that does it until all is over; what went wrong is in its list."""
    wrong = []

    def run():
        for n in itertools.count():
            try:
                what(n)
            except Exception as e:  # noqa: BLE001: the test tells it
                wrong.append("%s: %s" % (what.__name__, e))
            if over.wait(pause):
                return
    thread = threading.Thread(target=run)
    thread.start()
    return thread, wrong


def write(path, text):
    with open(path + ".new", "w", encoding="ascii") as f:
        f.write(text)
    os.replace(path + ".new", path)


def page(port, path):
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as c:
        c.request("GET", path)
        assert c.getresponse().status == 200


def test_a_storm_of_everything_costs_no_answer(daemon, net, tmp_path, ca):
    questions = tmp_path / "questions"
    with open(os.path.join(net, "queries.txt"), encoding="ascii") as f:
        questions.write_text("".join(itertools.islice(f, 20000)))
    names, hosts = str(tmp_path / "names"), str(tmp_path / "hosts")
    counts = {"reload": 0, "command": 0}

    def change(n):
        write(names, "".join("b%d-%d.example\n" % (i, n % 5) for i in range(2000)))
        write(hosts, "".join("192.0.2.%d h%d.lan\n" % (i % 200, i + n % 5) for i in range(200)))

    change(0)
    dot, doh, pages = free_port(), free_port(), free_port()

    def lists(n):
        """Its clause changes, so that each reload makes another list, from the table that was saved."""
        return ('blocklist:\n    name: storm\n    file: "%s"\n    action: %s\n' % (names, ["nxdomain", "nodata"][n % 2])
                + "metrics:\n    metrics-enable: yes\n    metrics-port: %d\n" % pages)

    # However slow it is for a sanitizer's sake: nothing is given up for being late.
    patient = ["discard-timeout: 0", "wait-limit: 0", "jostle-timeout: 100000", "so-rcvbuf: 4m"]
    server = ["num-threads: 2", *patient, "msg-cache-size: 1m", "rrset-cache-size: 1m", "query-ring: 1000",
              "top-lists: 100", "prefetch: yes", "serve-expired: yes", "extended-statistics: yes",
              'trust-anchor-file: "%s/root.key"' % net, 'cache-file: "%s/cache"' % tmp_path, 'hosts-file: "%s"' % hosts,
              'blocklist-directory: "%s/copies"' % tmp_path, "incoming-num-tcp: 100",
              *("interface: 127.0.0.1@%d" % at for at in (dot, doh)), "tls-port: %d" % dot, "https-port: %d" % doh,
              'tls-service-key: "%s"' % ca.path("good.key"), 'tls-service-pem: "%s"' % ca.path("good.pem")]
    with daemon(*server, module="validator iterator", more=lists(0)) as d:
        def reload(n):
            d.configure(server, lists(n))
            say(d, ["reload", "reload_keep_cache", "fast_reload"][n % 3])
            counts["reload"] += 1

        def command(n):
            say(d, *COMMANDS[n % len(COMMANDS)])
            counts["command"] += 1

        def read(n):
            say(d, *READERS[n % len(READERS)])
            page(pages, PAGES[n % len(PAGES)])

        def publish(n):
            say(d, *WRITERS[n % len(WRITERS)])

        over = threading.Event()
        runs = [again_and_again(over, 0.2, change), again_and_again(over, 0.1, reload),
                again_and_again(over, 0.01, command), again_and_again(over, 0.005, read),
                again_and_again(over, 0.02, publish)]
        loads = [subprocess.Popen(
            ["dnsperf", "-s", "127.0.0.1", "-p", str(port), "-d", str(questions), "-l", str(SECONDS), "-Q", rate,
             "-c", "4", "-q", "100", "-t", "20", "-b", "1024", "-m", mode, *more], stdout=subprocess.PIPE, text=True)
            for mode, rate, more, port in (("udp", "500", [], d.port), ("udp", "200", ["-D"], d.port),
                                           ("tcp", "200", [], d.port), ("dot", "100", [], dot),
                                           ("doh", "100", ["-O", "doh-uri=https://localhost/dns-query"], doh))]
        said = [p.communicate(timeout=SECONDS + 60)[0] for p in loads]
        over.set()
        for thread, _ in runs:
            thread.join(60)
        assert [w for _, wrong in runs for w in wrong] == []
        for text in said:
            assert int(re.search(r"Queries sent:\s+(\d+)", text)[1]) > 100
            assert re.search(r"Queries lost:\s+(\d+)", text)[1] == "0", text
            assert re.findall(r"([A-Z]+) \d+ \(", text.split("Response codes:")[1].splitlines()[0]) == ["NOERROR"], text
        assert counts["reload"] > 1 and counts["command"] > 1, counts
        assert texts(d.ask("target.chain.mini.")) == ["198.18.0.40"]


# -- of dice ----------------------------------------------------------------------------------------

SOUND = ["target.chain.mini.", "n1.w.rsa.mini."]


class Primary(FakeServer):
    """Two zones over AXFR: another serial each time it is asked for it, and other records."""

    def __init__(self):
        super().__init__(self.respond)
        self.serial = 1

    def respond(self, q, tcp):
        r, zone = dns.message.make_response(q), q.question[0].name.to_text()
        r.flags |= dns.flags.AA
        soa = dns.rrset.from_text(zone, 60, "IN", "SOA", "ns.%s h.%s %d 1 1 86400 60" % (zone, zone, self.serial))
        if q.question[0].rdtype == dns.rdatatype.SOA:
            self.serial += 1
        if q.question[0].rdtype != dns.rdatatype.AXFR:
            r.answer = [soa]
            return r
        r.answer = [soa, dns.rrset.from_text(zone, 60, "IN", "NS", "ns." + zone), *(
            dns.rrset.from_text("n%d.%s" % (i, zone), 60, "IN", *(("A", "192.0.2.7") if i % 2 else ("CNAME", ".")))
            for i in range(self.serial % 7, 40)), soa]
        return r


class Ear(Collector):
    """Is not surprised by a client that was told to speak otherwise."""

    def serve(self, conn, number):
        with contextlib.suppress(AssertionError):
            super().serve(conn, number)


class Storm:
    """What everybody in it knows. Each who takes part has dice of his own, of the same seed."""

    def __init__(self, daemon, net, folder, ca, seed):
        self.net, self.folder, self.ca, self.seed = net, str(folder), ca, seed
        self.over, self.wrong, self.threads, self.counts, self.last = threading.Event(), [], [], {}, {}
        self.said, self.good, self.set, self.dump = set(), set(), set(), ""
        self.stack = contextlib.ExitStack()
        self.stack.callback(self.over.set)
        enter = self.stack.enter_context
        self.near, self.primary, self.faulty = enter(Near()), enter(Primary()), enter(Faulty(ca, "few", limit=20))
        self.redis = enter(Redis()) if shutil.which("redis-server") else None
        self.collector = enter(Ear(path=self.at("dnstap")))
        ports = set()
        while len(ports) < 5:  # none twice: nobody listens there yet
            ports.add(free_port())
        port, self.dot, self.doh, self.proxy, self.pages = ports
        # Any of them may become a log.
        self.copies = [os.path.basename(shutil.copy(path, self.folder)) for path in (
            *(ca.path(n) for n in ("good.key", "good.pem", "ca.pem")), net + "/root.key", net + "/root.hints")]
        self.mend_files(random.Random(seed))
        self.d = daemon(*self.server(), module="subnetcache validator %siterator" % ("cachedb " if self.redis else ""),
                        more=self.clauses(random.Random(seed)), port=port)

    def at(self, name):
        return os.path.join(self.folder, name)

    def server(self):
        return ["num-threads: 4", "discard-timeout: 0", "wait-limit: 0", "msg-cache-size: 1m", "rrset-cache-size: 1m",
                "query-ring: 1000", "top-lists: 100", "prefetch: yes", "extended-statistics: yes", "answer-cookie: yes",
                "minimal-responses: no", 'trust-anchor-file: "%s/root.key"' % self.net, "incoming-num-tcp: 50",
                'cache-file: "%s"' % self.at("cache"), 'hosts-file: "%s"' % self.at("hosts"),
                'cookie-secret-file: "%s"' % self.at("cookies"), 'logfile: "%s"' % self.at("log"), "log-queries: yes",
                'blocklist-directory: "%s"' % self.at("copies"), 'sandbox-path: "%s"' % self.folder, 'define-tag: "red green"',
                *("interface: 127.0.0.1@%d" % port for port in (self.dot, self.doh, self.proxy)),
                "tls-port: %d" % self.dot, "https-port: %d" % self.doh, "proxy-protocol-port: %d" % self.proxy,
                'tls-service-key: "%s"' % self.ca.path("good.key"), 'tls-service-pem: "%s"' % self.ca.path("good.pem"),
                'tls-cert-bundle: "%s"' % self.ca.path("ca.pem"), "access-control-view: 127.9.0.0/16 guests",
                'client-subnet-zone: "near.lab"', "min-client-subnet-ipv4: 8", "ratelimit: 100000", "ip-ratelimit: 100000"]

    def clauses(self, dice):
        """Some are not always there, and some are not always the same."""
        always = ["metrics:\n metrics-enable: yes\n metrics-port: %d\n" % self.pages,
                  "forward-zone:\n name: lab\n forward-addr: %s\n" % self.near.at,
                  "blocklist:\n name: storm\n file: %s\n action: %s\n" % (self.at("names"), dice.choice(["nxdomain", "nodata"])),
                  "view:\n name: guests\n view-first: %s\n local-data: 'v.example. A 192.0.2.3'\n"
                  % dice.choice(["yes", "no"]),
                  *(["cachedb:\n backend: redis\n redis-server-port: %d\n" % self.redis.port] if self.redis else [])]
        at_times = ["view:\n name: lan\n local-zone: 'lan.example.' static\n",
                    "forward-zone:\n name: tls.lab\n forward-tls-upstream: yes\n forward-addr: %s\n" % self.faulty.at,
                    "dnstap:\n dnstap-enable: yes\n dnstap-socket-path: %s\n" % self.at("dnstap") + "".join(
                        " dnstap-log-%s-messages: yes\n" % kind for kind in ("client-query", "client-response",
                                                                            "resolver-query", "forwarder-response")),
                    "dhcp-leases:\n file: %s\n domain: home.arpa\n" % self.at("lease"),
                    "auth-zone:\n name: moved.example\n primary: 127.0.0.1@%d\n allow-notify: 127.0.0.1\n zonefile: %s\n"
                    % (self.primary.port, self.at("moved.zone")),
                    "rpz:\n name: policy.example\n zonefile: %s\n%s" % (self.at("policy.zone"), dice.choice(
                        ["", " primary: 127.0.0.1@%d\n" % self.primary.port]))]
        return "".join(always + dice.sample(at_times, dice.randint(len(at_times) - 2, len(at_times))))

    def mend_files(self, dice):
        for name in FILES:
            self.change_file(dice, name, spoil=0)

    def change_file(self, dice, name, spoil=0.1):
        n = dice.randrange(1000)
        text = {"names": lambda: "".join("b%d-%d.example\n" % (i, n % 5) for i in range(2000)),
                "hosts": lambda: "".join("192.0.2.%d h%d.lan\n" % (i % 200, i + n % 5) for i in range(200)),
                "lease": lambda: dnsmasq(("pc", "192.168.7.%d" % (n % 250)), ("p%d" % n, "192.168.8.1"),
                                         ends=int(time.time()) + n % 9),
                "cookies": lambda: "%032x\n" % dice.getrandbits(128) * (1 + n % 2)}.get(
                    name, lambda: "$TTL 60\n@ SOA ns h %d 1 1 9 60\n@ NS ns\n%s" % (n, "".join(
                        "n%d CNAME .\n" % i for i in range(n % 200))))()
        if dice.random() < spoil:
            text = text[:len(text) // 2] + "\0\377 nonsense"  # somebody was cut off in the middle
        if dice.random() < 0.5:
            # Not ".new": so the daemon calls what it writes itself, and it may do so now.
            with open(self.at(name) + ".part", "w", encoding="latin-1") as f:
                f.write(text)
            os.replace(self.at(name) + ".part", self.at(name))
        else:
            with open(self.at(name), "w", encoding="latin-1") as f:
                f.write(text)

    def say(self, line, body=None):
        self.last[threading.get_ident()] = line
        return reply_to(self.d, line, body)

    # -- who takes part ---------------------------------------------------------------------------

    def part(self, pause, what, number=0):
        """A thread that does it until all is over. A question may be refused, reset, or never be answered; what no part may
        meet is anything else."""
        dice = Dice("%s %s %d" % (self.seed, what.__name__, number))
        dice.files += [self.at(n) for n in ("hosts", "lease", "cookies", "log2", "moved.zone", *self.copies)]
        turn = what(dice)

        def run():
            try:
                while not self.over.wait(dice.random() * 2 * pause):
                    next(turn)
                    self.counts[what.__name__] = self.counts.get(what.__name__, 0) + 1
            except Exception as e:  # noqa: BLE001: the test tells it
                self.wrong.append("%s: %r, after %s" % (what.__name__, e, self.last.get(threading.get_ident())))
                self.over.set()
        self.threads.append(threading.Thread(target=run))

    def commanding(self, dice):
        for row in dice.without_end(commands()):
            line, body = dice.command(row)
            if row[0] == "load_cache":
                body = dice.choice([self.dump, self.dump[:len(self.dump) // 2], "nonsense\n"])
            said = self.say(line, "" if row[2] == "BODY" and body is None else body)
            if row[0] == "dump_cache" and said.endswith("EOF\n"):
                self.dump = said
            self.said.add(row[0])
            if not said.startswith("error"):
                self.good.add(row[0])
            yield

    def setting(self, dice):
        for o in dice.without_end(dice.options):
            said = self.say("set_option " + dice.setting(o))
            assert said == "ok\n" or said.startswith("error setting option"), (o, said)
            self.said.add(o["name"])
            self.set |= {o["name"]} if said == "ok\n" else set()
            yield

    def reloading(self, dice):
        while True:
            with_more = [dice.setting(o) for o in dice.sample(dice.options, 5) if o["clause"] == "server"]
            # Whole: whoever reads half of it finds no control channel there, and closes ours.
            self.d.conf, real = self.d.conf + ".new", self.d.conf
            self.d.configure(self.server() + (with_more if dice.random() < 0.5 else []), self.clauses(dice))
            self.d.conf = real
            os.replace(real + ".new", real)
            if dice.random() < 0.2:
                self.d.process.send_signal(signal.SIGHUP)
            else:
                said = self.say(dice.one("reload", "reload_keep_cache", "fast_reload +vdp"))
                assert said, "no reply to a reload"
            yield

    def changing(self, dice):
        while True:
            self.change_file(dice, dice.choice(FILES))
            with contextlib.suppress(FileNotFoundError):
                os.rename(self.at("log"), self.at("log.1"))
            self.say(dice.one("log_reopen", "cache_save", "auth_zone_reload moved.example", "blocklist_reload",
                              "auth_zone_transfer moved.example", "auth_zone_transfer policy.example"))
            yield

    def looking(self, dice):
        while True:
            # That options and reloads leave nobody listening for a while is right.
            with contextlib.suppress(OSError, http.client.HTTPException), contextlib.closing(
                    http.client.HTTPConnection(ADDRESS, self.pages, timeout=20)) as c:
                c.request("GET", dice.choice(PAGES))
                c.getresponse().read()
            yield

    def question(self, dice):
        name = dice.choice([*NAMES, *SOUND, "n%d.w.rsa.mini." % dice.randrange(3000), "b%d-1.example." % dice.randrange(2000),
                            "%s.near.lab." % dice.choice("abcdef"), "q%d.tls.lab." % dice.randrange(300),
                            "h%d.lan." % dice.randrange(250), "n%d.moved.example." % dice.randrange(40)])
        q = query(name, dice.choice(["A", "A", "AAAA", "TXT", "DNSKEY"]), dnssec=dice.random() < 0.3)
        if dice.random() < 0.2:
            q.use_edns(0, options=[dice.choice([dns.edns.ECSOption("10.%d.7.0" % dice.randrange(9), 24),
                                                dns.edns.GenericOption(10, b"12345678")])])
        if dice.random() < 0.05:
            q = query("moved.example.", "SOA")
            q.set_opcode(dns.opcode.NOTIFY)
        return q

    def over_udp(self, dice):
        while True:
            with socket.socket(type=socket.SOCK_DGRAM) as s:
                s.bind((dice.one("127.0.0.1", "127.0.0.1", "127.9.0.7"), 0))
                through = dice.random() < 0.2
                s.connect((ADDRESS, self.proxy if through else self.d.port))
                s.settimeout(0.2)
                for _ in range(dice.randrange(60)):
                    with contextlib.suppress(OSError):
                        s.send((header("127.9.0.7", dgram=True) if through else b"") + self.question(dice).to_wire())
                with contextlib.suppress(OSError):
                    while s.recv(4096):
                        pass
            yield

    def over_stream(self, dice):
        while True:
            port, head = dice.one((self.d.port, b""), (self.dot, b""), (self.proxy, header("127.0.0.1")))
            with contextlib.suppress(OSError, EOFError, dns.exception.DNSException), socket.create_connection(
                    (ADDRESS, port), 5) as raw:
                raw.sendall(head)
                s = self.context("dot").wrap_socket(raw, server_hostname="dns.test") if port == self.dot else raw
                with s:
                    many = dice.randrange(20)
                    s.sendall(b"".join(frame(self.question(dice)) for _ in range(many)))
                    for _ in range(dice.randint(0, many)):  # who has heard enough goes
                        read_message(s)
            yield

    def over_https(self, dice):
        while True:
            with contextlib.suppress(OSError, AssertionError, dns.exception.DNSException), Client(
                    self.doh, self.context("h2")) as c:
                streams = [dice.choice([c.get, c.post])(self.question(dice)) for _ in range(dice.randint(1, 9))]
                if dice.random() < 0.7:
                    c.wait(*streams, timeout=5)
            yield

    def context(self, alpn):
        context = ssl.create_default_context(cafile=self.ca.path("ca.pem"))
        context.set_alpn_protocols([alpn])
        return context


def test_a_storm_of_dice(daemon, net, tmp_path, ca):
    """Every command and every option while all that can change changes: it lives, every call is answered, and when it
    is over and the configuration what it was, so are the answers."""
    seed = os.environ.get("STORM_SEED") or str(random.SystemRandom().randrange(1 << 32))
    storm = Storm(daemon, net, tmp_path, ca, seed)
    with open(storm.d.program("resolverd"), "rb") as f:
        seconds = int(os.environ.get("STORM_SECONDS") or (45 if b"__tsan_init" in f.read() else 8))
    print("STORM_SEED=%s STORM_SECONDS=%d" % (seed, seconds))
    with storm.stack, storm.d as d:
        for pause, what, count in ((0.02, storm.commanding, 2), (0.01, storm.setting, 1), (0.3, storm.reloading, 1),
                                   (0.2, storm.changing, 1), (0.1, storm.looking, 1), (0.01, storm.over_udp, 2),
                                   (0.05, storm.over_stream, 2), (0.05, storm.over_https, 1)):
            for number in range(count):
                storm.part(pause, what, number)
        for thread in storm.threads:
            thread.start()
        storm.over.wait(seconds)
        every = {row[0] for row in commands()} | {o["name"] for o in Dice(0).options}
        deadline = time.monotonic() + 15 * seconds  # of a machine that is busy with other things, too
        while not every <= storm.said and not storm.over.wait(0.2) and time.monotonic() < deadline:
            pass
        storm.over.set()
        for thread in storm.threads:
            thread.join(120)
        print(storm.counts, "of %d, %d commands and options were once done" % (len(every), len(storm.good | storm.set)))
        print("never:", sorted(every - storm.good - storm.set))
        assert d.alive() and not storm.wrong, (storm.wrong, d.log()[-6000:])
        assert every <= storm.said, every - storm.said
        assert not any(t.is_alive() for t in storm.threads)
        # Commands last until a reload, some until the daemon ends; a file that was spoiled last is spoiled still.
        dice, replies = random.Random(seed), []

        def is_as_before():
            storm.mend_files(dice)
            d.configure(storm.server(), storm.clauses(dice))
            replies.append(reply_to(d, "reload"))
            return replies[-1] == "ok\n"
        for line in ("blocklist_resume", *("blocklist_forget " + name for name in NAMES)):
            reply_to(d, line)
        until(is_as_before, 60, why=lambda: "%s\n%s" % (set(replies), d.log()[-6000:]))
        print("reloads at the end:", replies)
        reply_to(d, "flush_zone .")
        for name in SOUND:
            until(lambda n=name: texts(d.ask(n)) == texts(d.ask(n, tcp=True)) != [], why=lambda n=name: str(d.ask(n)) + d.log())
        with Client(storm.doh, storm.context("h2")) as c:
            assert texts(c.ask(query(SOUND[0]))) == ["198.18.0.40"]
        assert reply_to(d, "stop") == "ok\n"
