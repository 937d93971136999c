"""cachedb: answers in Redis outlive a restart and are shared, and nobody waits long for a Redis that is not well.

SPDX-License-Identifier: BSD-3-Clause
"""

import contextlib
import csv
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time

import dns.flags
import pytest

from lab import ADDRESS, FakeServer, TcpServer, fixed, free_port, rcode, refusing, texts, ttl

CHAIN = "cachedb iterator"
VALIDATES = "validator cachedb iterator"


class Redis:
    """A Redis server that keeps nothing on disk, at a port and at a socket."""

    def __init__(self, *arguments):
        self.dir = tempfile.mkdtemp(prefix="rd-redis-", dir="/tmp")
        self.port = free_port()
        self.path = os.path.join(self.dir, "socket")
        self.process = None
        self.arguments = arguments

    def start(self):
        self.process = subprocess.Popen(
            ["redis-server", "--port", str(self.port), "--bind", ADDRESS, "--unixsocket", self.path, "--save", "",
             "--appendonly", "no", "--dir", self.dir, "--daemonize", "no", *self.arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 20
        while True:
            with contextlib.suppress(OSError), socket.create_connection((ADDRESS, self.port), 1):
                return self
            assert time.monotonic() < deadline and self.process.poll() is None, "redis-server does not listen"
            time.sleep(0.02)

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait(10)
            self.process = None

    def say(self, *words):
        """One command; the reply's first line, and what follows of a bulk reply."""
        with socket.create_connection((ADDRESS, self.port), 5) as s:
            s.sendall(b"*%d\r\n" % len(words) + b"".join(
                b"$%d\r\n%s\r\n" % (len(w), w) for w in (w if isinstance(w, bytes) else w.encode() for w in words)))
            data = b""
            while True:
                data += s.recv(1 << 20)
                line, _, rest = data.partition(b"\r\n")
                if not rest and line[:1] in b"$*" and int(line[1:]) > 0:
                    continue
                if line[:1] == b"$" and int(line[1:]) > 0 and len(rest) < int(line[1:]) + 2:
                    continue
                if line[:1] == b"*" and rest.count(b"\r\n") < 2 * int(line[1:]):
                    continue
                return line.decode(), rest

    def count(self):
        return int(self.say("DBSIZE")[0][1:])

    def keys(self):
        return re.findall(rb"\r\n([0-9a-f]{64})", b"\r\n" + self.say("KEYS", "*")[1])

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.dir, ignore_errors=True)


@pytest.fixture
def redis():
    with Redis() as r:
        yield r


def forward(server, zone="store.test.lab"):
    return 'forward-zone:\n    name: "%s"\n    forward-addr: %s\n' % (zone, server)


def store(*lines, port=None):
    lines = ["backend: redis", *(["redis-server-port: %d" % port] if port else []), *lines]
    return "cachedb:\n" + "".join("    %s\n" % line for line in lines)


def wait_until(what, seconds=20):
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "it never came to be"
        time.sleep(0.02)


def wait_for_use(d, redis):
    """Until every worker's connection stands."""
    wait_until(lambda: int(re.search(rb"connected_clients:(\d+)", redis.say("INFO", "clients")[1])[1]) > 1)


def test_an_answer_is_found_in_redis_after_a_restart(daemon, redis):
    with FakeServer(fixed("192.0.2.1", 300)) as server:
        with daemon("extended-statistics: yes", "verbosity: 1", module=CHAIN,
                    more=forward(server.at) + store(port=redis.port)) as d:
            wait_for_use(d, redis)
            assert texts(d.ask("www.store.test.lab")) == ["192.0.2.1"]
            wait_until(lambda: redis.count() == 1)
            d.stop()
            time.sleep(1.1)
            d.start()
            # the store itself: a worker is connected when it finds what it has
            wait_until(lambda: d.ask("www.store.test.lab") and (
                d.stats()["num.query.cachedb"] == 1 or not d.control("flush", "www.store.test.lab")))
            asked = len(server.asked)
            d.control("flush", "www.store.test.lab")
            m = d.ask("www.store.test.lab")
            assert texts(m) == ["192.0.2.1"] and ttl(m) <= 299 and len(server.asked) == asked
            assert d.stats()["num.query.cachedb"] == 2


@pytest.mark.parametrize("lines,arguments,works", [
    (['redis-server-password: "secret"'], ["--requirepass", "secret"], True),
    (['redis-server-password: "wrong"'], ["--requirepass", "secret"], False),
    ([], ["--requirepass", "secret"], False),
    (["redis-logical-db: 3"], [], True),
    (["redis-logical-db: 99"], [], False),
    (["SOCKET"], [], True),
    (["redis-timeout: 0"], [], True),
], ids=["password", "wrong-password", "no-password", "database", "no-such-database", "socket", "no-timeout"])
def test_it_is_reached_as_it_is_written(daemon, lines, arguments, works):
    with Redis(*arguments) as redis, FakeServer(fixed("192.0.2.1", 300)) as server:
        lines = ['redis-server-path: "%s"' % redis.path if line == "SOCKET" else line for line in lines]
        with daemon("extended-statistics: yes", module=CHAIN,
                    more=forward(server.at) + store(*lines, port=redis.port)) as d:
            def found():
                d.ask("www.store.test.lab")
                d.control("flush", "www.store.test.lab")
                return d.stats()["num.query.cachedb"] > 0
            if works:
                wait_until(found)
            else:
                wait_until(lambda: "cachedb: Redis" in d.log())
                assert not found() and rcode(d.ask("www.store.test.lab")) == "NOERROR"


def directory(q, tcp):
    """Host names of a Redis server, and the address of everything else."""
    name, kind = q.question[0].name, dns.rdatatype.to_text(q.question[0].rdtype)
    host = name.to_text().split(".")[0]
    lines = {("four", "A"): ["A", ADDRESS], ("six", "AAAA"): ["AAAA", "::1"], ("alias", "A"): ["CNAME", "four.store.test.lab."],
             ("www", "A"): ["A", "192.0.2.1"]}.get((host, kind))
    r = dns.message.make_response(q, recursion_available=True)
    if lines:
        r.answer.append(dns.rrset.from_text(name, 300, "IN", *lines))
        if lines[0] == "CNAME":
            r.answer.append(dns.rrset.from_text(lines[1], 300, "IN", "A", ADDRESS))
    else:
        r.authority.append(dns.rrset.from_text("store.test.lab.", 60, "IN", "SOA", "ns.invalid. h.invalid. 1 2 3 4 60"))
    return r


@pytest.mark.parametrize("host,complaint", [
    ("four.store.test.lab", None), ("six.store.test.lab", None), ("alias.store.test.lab", None),
    ("none.store.test.lab", "its name has no address"), ("a..name", "neither an address nor a name"),
], ids=["an-address", "of-ipv6-alone", "an-alias", "no-address", "no-name"])
def test_its_name_is_looked_up_as_any_other(daemon, host, complaint):
    with Redis("--bind", ADDRESS, "::1") as redis, FakeServer(directory) as server:
        with daemon("extended-statistics: yes", module=CHAIN, more=forward(server.at) + store(
                'redis-server-host: "%s"' % host, port=redis.port)) as d:
            if complaint:
                wait_until(lambda: complaint in d.log())
                assert texts(d.ask("www.store.test.lab")) == ["192.0.2.1"] and redis.count() == 0
                return
            wait_for_use(d, redis)
            wait_until(lambda: d.ask("www.store.test.lab") and d.control("flush", "www.store.test.lab")
                       and d.stats()["num.query.cachedb"])
            assert "cachedb: Redis" not in d.log()


def test_two_resolvers_share_it_when_they_have_the_same_seed(daemon, redis):
    with FakeServer(fixed("192.0.2.1", 300)) as server:
        def resolver(seed):
            return daemon("extended-statistics: yes", module=CHAIN,
                          more=forward(server.at) + store('secret-seed: "%s"' % seed, port=redis.port))
        with resolver("one") as a, resolver("one") as b, resolver("two") as c:
            def fill():
                a.control("flush", "+c", "www.store.test.lab")
                a.ask("www.store.test.lab")
                return redis.count() == 1
            wait_until(fill)
            def found(d):
                d.ask("www.store.test.lab")
                d.control("flush", "www.store.test.lab")
                return d.stats()["num.query.cachedb"] > 0
            wait_until(lambda: found(b))
            # another seed has other keys, and does not find what the first wrote
            wait_until(lambda: c.ask("www.store.test.lab") and (
                redis.count() == 2 or not c.control("flush", "www.store.test.lab")))


def test_what_comes_from_it_is_validated_anew(daemon, net, redis):
    """A secure answer is secure out of Redis, at no question to others; one that was changed there never is."""
    anchor = 'trust-anchor-file: "%s/root.key"' % net
    with open(os.path.join(net, "verdicts.tsv"), encoding="utf-8") as f:
        name, rrtype = next((r["name"], r["type"]) for r in csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE)
                            if r["verdict"] == "secure" and r["type"] == "A")
    with daemon("extended-statistics: yes", "num-threads: 1", anchor, module=VALIDATES, more=store(port=redis.port)) as d:
        wait_for_use(d, redis)

        def anew():
            d.control("flush_zone", ".")
            return d.ask(name, rrtype, dnssec=True)

        wait_until(lambda: redis.count() > 0 or not anew())
        before = d.stats()["num.query.cachedb"]
        m = anew()
        assert d.stats()["num.query.cachedb"] > before
        assert rcode(m) == "NOERROR" and m.flags & dns.flags.AD
        for key in redis.keys():
            _, value = redis.say("GET", key)
            value = bytearray(value[:-2])
            for at in range(14 + 12, len(value)):  # behind both heads
                value[at] ^= 1
            redis.say("SET", key, bytes(value))
        again = anew()
        assert rcode(again) == "SERVFAIL" or (texts(again, rrtype) == texts(m, rrtype) and again.flags & dns.flags.AD)


def test_expiry_is_told_to_redis_only_where_that_is_wanted(daemon, redis):
    with FakeServer(fixed("192.0.2.1", 300)) as server:
        for expires in (False, True):
            redis.say("FLUSHALL")
            lines = ["redis-expire-records: %s" % ("yes" if expires else "no")]
            with daemon(module=CHAIN, more=forward(server.at) + store(*lines, port=redis.port)) as d:
                wait_for_use(d, redis)
                def kept():
                    d.control("flush", "www.store.test.lab")
                    return d.ask("www.store.test.lab") and redis.count() == 1
                wait_until(kept)
                left = int(redis.say("TTL", redis.keys()[0])[0][1:])
                assert 200 < left <= 300 if expires else left == -1


def test_nothing_is_written_with_no_store_and_no_failure_ever(daemon, redis):
    with FakeServer(fixed("192.0.2.1", 300)) as server, FakeServer(refusing()) as broken:
        more = forward(server.at) + forward(broken.at, "broken.test.lab")
        with daemon(module=CHAIN, more=more + store("cachedb-no-store: yes", port=redis.port)) as d:
            wait_for_use(d, redis)
            d.ask("www.store.test.lab")
            assert redis.count() == 0
        with daemon(module=CHAIN, more=more + store(port=redis.port)) as d:
            wait_for_use(d, redis)
            assert rcode(d.ask("www.broken.test.lab")) == "SERVFAIL"
            wait_until(lambda: d.ask("www.store.test.lab") and (
                redis.count() == 1 or not d.control("flush", "www.store.test.lab")))


@pytest.mark.parametrize("command,gone", [
    (["flush", "+c", "a.store.test.lab"], 1), (["flush_type", "+c", "a.store.test.lab", "A"], 1),
    (["flush_type", "+c", "a.store.test.lab", "MX"], 0), (["flush_zone", "+c", "store.test.lab"], 3),
    (["flush", "a.store.test.lab"], 0), (["flush_zone", "store.test.lab"], 0), (["flush_negative", "+c"], 0),
], ids=lambda c: "_".join(c) if isinstance(c, list) else None)
def test_plus_c_forgets_in_redis_too(daemon, redis, command, gone):
    with FakeServer(fixed("192.0.2.1", 300)) as server:
        with daemon("num-threads: 1", module=CHAIN, more=forward(server.at) + store(port=redis.port)) as d:
            wait_for_use(d, redis)
            def filled():
                for host in "abc":
                    d.ask(host + ".store.test.lab")
                return redis.count() == 3 or not d.control("flush_zone", "store.test.lab")
            wait_until(filled)
            d.control(*command)
            wait_until(lambda: redis.count() == 3 - gone)
            time.sleep(0.1)
            assert redis.count() == 3 - gone


def test_expired_answers_wait_for_what_redis_says(daemon, redis):
    """Another resolver has renewed it: that is given, instead of what has expired here."""
    addresses = ["192.0.2.1"]
    with FakeServer(lambda q, tcp: fixed(addresses[0], 2)(q, tcp)) as server:
        more = forward(server.at) + store(port=redis.port)
        lines = ["serve-expired: yes", "serve-expired-client-timeout: 0", "num-threads: 1"]
        with daemon(*lines, module=CHAIN, more=more) as d, daemon(*lines, module=CHAIN, more=more) as other:
            wait_for_use(d, redis)
            def filled():
                d.control("flush", "www.store.test.lab")
                return d.ask("www.store.test.lab") and redis.count() == 1
            wait_until(filled)
            time.sleep(2.5)
            addresses[0] = "192.0.2.2"
            wait_until(lambda: texts(other.ask("www.store.test.lab")) == ["192.0.2.2"])
            asked = len(server.asked)
            m = d.ask("www.store.test.lab")
            # what the other wrote, unless that has expired meanwhile
            assert texts(m) == ["192.0.2.2"] or len(server.asked) > asked


class Imitation(TcpServer):
    """Listens as Redis does, and answers every piece that comes with the same bytes; None: with nothing."""

    def __init__(self, reply):
        self.reply = reply
        super().__init__()

    def serve(self, conn, number):
        conn.settimeout(30)
        with contextlib.suppress(OSError), conn:
            while not self.ending and conn.recv(65536):
                if self.reply is not None:
                    conn.sendall(self.reply)


@pytest.mark.parametrize("reply", [
    None, b"", b"+OK\r\n", b"-ERR no\r\n", b"$-1\r\n", b"$5\r\nhello\r\n", b"$99999999\r\n", b":7\r\n", b"\0" * 64,
    b"*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n", b"+OK\r\n$14\r\n" + b"\1" * 14 + b"\r\n",
], ids=["silent", "empty", "ok", "error", "nil", "text", "huge", "number", "zeros", "nested", "short"])
def test_nobody_waits_long_for_a_redis_that_is_not_well(daemon, reply):
    with Imitation(reply) as bad, FakeServer(fixed("192.0.2.1", 300)) as server:
        with daemon("num-threads: 1", module=CHAIN,
                    more=forward(server.at) + store("redis-timeout: 200", port=bad.port)) as d:
            wait_until(lambda: bad.accepted)
            for i in range(20):
                assert texts(d.ask("h%d.store.test.lab" % i)) == ["192.0.2.1"]
            # it is tried again, and a reload finds everything in order
            d.control("reload")
            assert texts(d.ask("again.store.test.lab")) == ["192.0.2.1"]


class Proxy(TcpServer):
    """Stands in front of Redis as proxies do: of a command it does not know it makes an end."""

    def __init__(self, redis):
        self.redis = redis
        super().__init__()

    def serve(self, conn, number):
        with contextlib.suppress(OSError), conn, socket.create_connection((ADDRESS, self.redis.port), 30) as inner:
            conn.settimeout(30)
            while (data := conn.recv(65536)) and not re.search(rb"\r\n(SELECT|PING|INFO|CLIENT|HELLO)\r\n", data):
                inner.sendall(data)
                conn.sendall(inner.recv(65536))


def test_behind_a_proxy(daemon, redis):
    with Proxy(redis) as proxy, FakeServer(fixed("192.0.2.1", 300)) as server:
        with daemon("extended-statistics: yes", "num-threads: 1", module=CHAIN,
                    more=forward(server.at) + store(port=proxy.port)) as d:
            def found():
                d.ask("www.store.test.lab")
                d.control("flush", "www.store.test.lab")
                return d.stats()["num.query.cachedb"] > 0
            wait_until(found)
            assert "cachedb: Redis" not in d.log()


class Cluster(TcpServer):
    """Every key is somebody else's, but for the first."""

    def serve(self, conn, number):
        with contextlib.suppress(OSError), conn:
            reply = b"$-1\r\n"
            while data := conn.recv(65536):
                for _ in re.findall(rb"\*\d\r\n\$3\r\n", data):
                    conn.sendall(reply)
                    reply = b"-MOVED %d 192.0.2.9:6379\r\n" % hash(data)


def test_its_errors_are_told_once(daemon):
    with Cluster() as cluster, FakeServer(fixed("192.0.2.1", 300)) as server:
        with daemon("num-threads: 1", module=CHAIN, more=forward(server.at) + store(port=cluster.port)) as d:
            wait_until(lambda: texts(d.ask("www.store.test.lab")) and (
                "error reply: MOVED" in d.log() or not d.control("flush", "www.store.test.lab")))
            for i in range(20):
                assert texts(d.ask("h%d.store.test.lab" % i)) == ["192.0.2.1"]
            assert d.log().count("error reply") == 1


def test_redis_goes_and_comes(daemon, redis):
    with FakeServer(fixed("192.0.2.1", 300)) as server:
        with daemon("extended-statistics: yes", module=CHAIN, more=forward(server.at) + store(port=redis.port)) as d:
            wait_for_use(d, redis)
            redis.stop()
            for i in range(10):
                assert texts(d.ask("h%d.store.test.lab" % i)) == ["192.0.2.1"]
            wait_until(lambda: "disabled until a retry works" in d.log())
            redis.start()
            wait_until(lambda: "is in use again" in d.log())
            def kept():
                d.control("flush", "www.store.test.lab")
                return d.ask("www.store.test.lab") and redis.count() > 0
            wait_until(kept)
            assert d.log().count("disabled until a retry works") == d.log().count("is in use again")


def test_a_replica_is_read_and_the_first_is_written(daemon, redis):
    with Redis("--replicaof", "%s %d" % (ADDRESS, redis.port)) as replica, FakeServer(fixed("192.0.2.1", 300)) as server:
        with daemon("extended-statistics: yes", module=CHAIN, more=forward(server.at) + store(
                'redis-replica-server-host: "127.0.0.1"', "redis-replica-server-port: %d" % replica.port,
                port=redis.port)) as d:
            def found():
                d.ask("www.store.test.lab")
                d.control("flush", "www.store.test.lab")
                return d.stats()["num.query.cachedb"] > 0
            wait_until(found, 40)
            hits = int(re.search(rb"keyspace_hits:(\d+)", replica.say("INFO", "stats")[1])[1])
            assert hits > 0 and re.search(rb"keyspace_hits:0\r", redis.say("INFO", "stats")[1])


def test_what_was_stored_before_a_change_of_configuration_is_not_taken_after_it(daemon, redis):
    with FakeServer(fixed("192.0.2.1", 300)) as first, FakeServer(fixed("192.0.2.2", 300)) as second:
        server, settings = ["module-config: \"%s\"" % CHAIN, "extended-statistics: yes"], store(port=redis.port)
        with daemon("extended-statistics: yes", module=CHAIN, more=forward(first.at) + settings) as d:
            wait_for_use(d, redis)

            def found():
                d.control("flush", "www.store.test.lab")
                d.ask("www.store.test.lab")
                return d.stats()["num.query.cachedb"] > 0
            wait_until(found)
            assert texts(d.ask("www.store.test.lab")) == ["192.0.2.1"]
            time.sleep(1.1)
            d.configure(server, forward(second.at) + settings)
            assert d.control("reload") == "ok\n"
            assert texts(d.ask("www.store.test.lab")) == ["192.0.2.2"]
            # what is stored from now on is
            time.sleep(1.1)
            d.control("flush", "www.store.test.lab")
            d.control("flush", "+c", "www.store.test.lab")
            d.ask("www.store.test.lab")
            before = d.stats()["num.query.cachedb"]
            wait_until(lambda: found() and d.stats()["num.query.cachedb"] > before)
            assert texts(d.ask("www.store.test.lab")) == ["192.0.2.2"]
