"""The caches come back at the next start: what from, as what, and what of a file that is not right.

SPDX-License-Identifier: BSD-3-Clause
"""

import csv
import os
import random
import re
import signal
import socket
import stat
import subprocess
import time

import dns.flags
import dns.rrset
import dns.message
import pytest

from lab import FakeServer, fixed, rcode, refusing, texts, ttl

VALIDATES = "validator iterator"


def forward(at, zone="fwd.test.lab"):
    return 'forward-zone:\n    name: "%s"\n    forward-addr: %s\n' % (zone, at)


def wait_for(d, words, times=1, seconds=20):
    deadline = time.monotonic() + seconds
    while d.log().count(words) < times:
        assert time.monotonic() < deadline and d.alive(), "never said: %s\n%s" % (words, d.log()[-3000:])
        time.sleep(0.005)


def start_again(d, times=1, signo=signal.SIGTERM):
    """Stops it and starts it; returns when the file has been read."""
    assert d.stop(signo) in (0, -signal.SIGKILL)
    d.start()
    wait_for(d, "RRsets loaded from ", times)


def path_of(d):
    return os.path.join(d.dir, "cache")


def put(d, data):
    with open(os.open(path_of(d), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as f:
        f.write(data)


def test_every_verdict_is_the_same_after_a_restart_and_costs_no_question(daemon, net):
    """Secure answers are validated again, with the keys of the file; the others are what they were."""
    with open(os.path.join(net, "verdicts.tsv"), encoding="utf-8") as f:
        rows = [r for r in csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE) if r["verdict"] != "bogus"]
    with daemon('cache-file: "cache"', "verbosity: 1", 'trust-anchor-file: "%s/root.key"' % net,
                "extended-statistics: yes", "num-threads: 2", module=VALIDATES) as d:
        def ask_all():
            got = [d.ask(r["name"], r["type"], dnssec=True) for r in rows]
            return [(rcode(m), bool(m.flags & dns.flags.AD), sorted(s.to_text().split()[0] for s in m.answer))
                    for m in got], [min((s.ttl for s in m.answer + m.authority), default=0) for m in got]
        first, ttls = ask_all()
        assert sum(ad for _, ad, _ in first) > 50
        start_again(d)
        again, less = ask_all()
        assert again == first
        assert all(b <= a for a, b in zip(ttls, less))
        stats = d.stats()
        assert stats["num.query.udpout"] == 0 and stats["num.query.tcpout"] == 0
        assert stats["cache.file.loaded"] > 100
        # what was validated again need not be validated a third time
        with d.misses(0):
            assert ask_all()[0] == first


def test_nothing_is_secure_because_a_file_says_so(daemon, net):
    anchor = 'trust-anchor-file: "%s/root.key"' % net
    wrong = ('trust-anchor: ". DS 20326 8 2 E06D44B80B8F1D39A95C0B0D7C65D08458E880409BBC683457104237C7F8EC8D"')
    names = ("www.rsasha512.mini.", "www.sha384ds.mini.")
    with daemon('cache-file: "cache"', "verbosity: 1", anchor, module=VALIDATES) as d:
        for name in names:
            assert d.ask(name, dnssec=True).flags & dns.flags.AD
        rows = [("another anchor", [wrong], VALIDATES), ("none who validates", [anchor], "iterator"),
                ("a name that is not to be validated", [anchor, 'domain-insecure: "mini"'], VALIDATES)]
        for why, lines, module in rows:
            d.stop()
            d.fixed = [line for line in d.fixed if "module-config" not in line] + ['module-config: "%s"' % module]
            d.configure(['cache-file: "cache"', "verbosity: 1", *lines])
            with open(path_of(d), "rb") as f:
                kept = f.read()
            d.start()
            for name in names:
                assert not d.ask(name, dnssec=True).flags & dns.flags.AD, why
            d.stop()
            put(d, kept)
            d.start()


def test_ttls_go_on_while_the_daemon_is_away(daemon):
    with daemon('cache-file: "cache"', "verbosity: 1") as d:
        for name in ("t60.ttl.mini.", "t3.ttl.mini."):
            d.ask(name)
        before = ttl(d.ask("t60.ttl.mini."))
        d.stop()
        time.sleep(4)
        d.start()
        wait_for(d, "RRsets loaded from ")
        with d.misses(0):
            assert before - 30 <= ttl(d.ask("t60.ttl.mini.")) <= before - 4
        with d.misses(1):
            d.ask("t3.ttl.mini.")


def test_what_has_expired_is_served_only_where_that_is_wanted(daemon):
    with FakeServer(fixed("198.18.9.1", ttl_s=1)) as s:
        with daemon('cache-file: "cache"', "verbosity: 1", "serve-expired: yes", more=forward(s.at)) as d:
            d.ask("x.fwd.test.lab.")
            d.stop()
            time.sleep(2.1)
            s.answer = refusing()
            d.start()
            wait_for(d, "RRsets loaded from ")
            assert texts(d.ask("x.fwd.test.lab.")) == ["198.18.9.1"]
            d.configure(['cache-file: "cache"', "verbosity: 1"], more=forward(s.at))
            start_again(d, 2)
            assert rcode(d.ask("x.fwd.test.lab.")) == "SERVFAIL"


def test_an_answer_that_came_from_elsewhere_is_not_kept(daemon):
    with FakeServer(fixed("198.18.9.1")) as s, FakeServer(fixed("198.18.9.2")) as other:
        with daemon('cache-file: "cache"', "verbosity: 1", more=forward(s.at)) as d:
            d.ask("x.fwd.test.lab.")
            d.configure(['cache-file: "cache"', "verbosity: 1"], more=forward(other.at))
            start_again(d)
            assert texts(d.ask("x.fwd.test.lab.")) == ["198.18.9.2"]


@pytest.mark.parametrize("kind", ["forward", "stub", "auth"])
def test_of_a_zone_that_has_come_since_nothing_is_served(daemon, net, kind):
    """What the public has at a name is secure, and so it would be again; but that name is asked for elsewhere now."""
    anchor = 'trust-anchor-file: "%s/root.key"' % net
    with FakeServer(fixed("198.18.9.1")) as s:
        zone = "rsasha512.mini"
        at = {"forward": forward(s.at, zone), "stub": 'stub-zone:\n    name: "%s"\n    stub-addr: %s\n' % (zone, s.at),
              "auth": 'auth-zone:\n    name: "%s"\n    zonefile: "held"\n' % zone}[kind]
        with daemon('cache-file: "cache"', "verbosity: 1", anchor, module=VALIDATES) as d:
            for name in ("www.rsasha512.mini.", "www.sha384ds.mini."):
                assert d.ask(name, dnssec=True).flags & dns.flags.AD
            with open(os.path.join(d.dir, "held"), "w", encoding="utf-8") as f:
                f.write("@ 60 SOA a. b. 1 2 3 4 60\n@ 60 NS a.\nwww 60 A 198.18.9.1\n")
            d.configure(['cache-file: "cache"', "verbosity: 1", anchor, 'domain-insecure: "%s"' % zone], more=at)
            start_again(d)
            assert texts(d.ask("www.rsasha512.mini.")) == ["198.18.9.1"]
            assert d.ask("www.sha384ds.mini.", dnssec=True).flags & dns.flags.AD


def test_what_was_forgotten_does_not_come_back(daemon):
    with daemon('cache-file: "cache"', "verbosity: 2") as d:
        d.ask("target.chain.mini.")
        d.control("cache_save")
        d.control("flush", "target.chain.mini")
        wait_for(d, "RRsets written", 2)
        start_again(d, signo=signal.SIGKILL)
        with d.misses(1):
            d.ask("target.chain.mini.")


def test_a_reload_changes_where_the_file_is(daemon):
    with daemon('cache-file: "cache"', "verbosity: 1", "extended-statistics: yes") as d:
        d.ask("target.chain.mini.")
        d.control("cache_save")
        stats = d.stats()
        assert stats["cache.file.entries"] > 0 and stats["cache.file.failures"] == 0
        assert stats["cache.file.bytes"] == os.path.getsize(path_of(d)) and stats["cache.file.age"] < 20
        start_again(d)  # who has just started tells the age of the file it has read
        until_read = time.monotonic() + 5
        while "cache.file.age" not in d.stats() and time.monotonic() < until_read:
            time.sleep(0.1)
        stats = d.stats()
        assert stats["cache.file.bytes"] == os.path.getsize(path_of(d)) and stats["cache.file.age"] < 20
        os.unlink(path_of(d))
        d.configure(['cache-file: "elsewhere"'])
        d.control("reload")
        d.control("cache_save")
        assert os.path.exists(os.path.join(d.dir, "elsewhere"))
        d.configure(['cache-file: "no/such/cache"'])
        d.control("reload")
        assert "cache-file: cannot write to %s/no/such (No such file or directory)" % d.dir in d.log()
        d.configure()
        d.control("reload")
        assert d.control("cache_save", code=1) == "error there is no cache-file\n"
        d.stop()
        assert not os.path.exists(path_of(d))
        d.start()


def test_only_a_file_of_our_own_is_used(daemon):
    """Each of these is told in the log, and the daemon serves."""
    rows = [
        ("cut", lambda whole: whole[:len(whole) - 30], 0o600, "was cut off behind byte"),
        ("a bit is another", lambda whole: whole[:200] + bytes([whole[200] ^ 4]) + whole[201:], 0o600, "is damaged"),
        ("garbage", lambda whole: b"\x00\xff" * 5000, 0o600, "it is no cache file"),
        ("empty", lambda whole: b"", 0o600, "its head is damaged"),
        ("others may write", lambda whole: whole, 0o666, "others may write into it"),
        ("a later version", lambda whole: whole[:16] + b"\0\0\0\2" + whole[20:], 0o600, "its head is damaged"),
    ]
    with daemon('cache-file: "cache"', "verbosity: 1") as d:
        d.ask("target.chain.mini.")
        d.control("cache_save")
        assert stat.S_IMODE(os.stat(path_of(d)).st_mode) == 0o600
        with open(path_of(d), "rb") as f:
            whole = f.read()
        for why, change, mode, said in rows:
            d.stop()
            put(d, change(whole))
            os.chmod(path_of(d), mode)
            d.start()
            wait_for(d, said)
            assert texts(d.ask("target.chain.mini.")) == ["198.18.0.40"], why


def test_a_file_of_another_kind_is_not_written_over(daemon):
    with daemon('cache-file: "resolver.conf"') as d:
        before = open(d.conf, encoding="utf-8").read()
        assert re.fullmatch(r"error .* is something else than a cache file: it is not written over\n",
                            d.control("cache_save", code=1))
        d.stop()
        assert open(d.conf, encoding="utf-8").read() == before
        assert "error: cache-file: " in d.log()
        d.start()


def test_a_full_disk_leaves_the_file_of_before(daemon):
    with daemon("verbosity: 1") as d:
        disk = os.path.join(d.dir, "disk")
        os.mkdir(disk)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", disk], check=False,
                          capture_output=True).returncode:
            pytest.skip("no file systems can be mounted here")
        try:
            d.configure(['cache-file: "disk/cache"', "verbosity: 1"])
            d.control("reload")
            d.ask("target.chain.mini.")
            assert d.control("cache_save") == "ok\n"
            with open(os.path.join(disk, "cache"), "rb") as f:
                before = f.read()
            with open(os.path.join(disk, "fill"), "wb") as f:
                try:
                    f.write(b"x" * 65536)
                except OSError:
                    pass
            assert re.fullmatch(r"error cannot write \S+: No space left on device \(the old file stays\)\n",
                                d.control("cache_save", code=1))
            assert os.listdir(disk).count("cache.new") == 0
            with open(os.path.join(disk, "cache"), "rb") as f:
                assert f.read() == before
            start_again(d)
            with d.misses(0):
                assert texts(d.ask("target.chain.mini.")) == ["198.18.0.40"]
        finally:
            d.stop()
            subprocess.run(["umount", disk], check=False)
            d.configure()
            d.start()


KILLS = 100
NAMES = 4000


def address_of(number):
    return "198.18.%d.%d" % (100 + number // 250, number % 250)


def numbered(q, tcp):
    """nX.fwd.test.lab has an address that tells X."""
    number = int(q.question[0].name.labels[0][1:])
    r = dns.message.make_response(q, recursion_available=True)
    r.answer.append(dns.rrset.from_text(q.question[0].name, 3600, "IN", "A", address_of(number)))
    return r


def test_killed_a_hundred_times_while_writing_it_serves_what_is_right(daemon):
    """Whatever instant the file is left at: it starts, and answers from the file or by asking."""
    chance = random.Random(20261120)
    with FakeServer(numbered) as s:
        with daemon('cache-file: "cache"', "verbosity: 1", more=forward(s.at)) as d:
            for n in range(NAMES):
                d.send(dns.message.make_query("n%d.fwd.test.lab." % n, "A").to_wire())
            begin = time.monotonic()
            for _ in range(5):
                assert d.speak(b"UBCT1 cache_save\n") == b"ok\n"
            takes_s = (time.monotonic() - begin) / 5
            assert os.path.getsize(path_of(d)) > NAMES * 60
            asked, left_aside = s.count(), 0
            for kill in range(KILLS):
                # it is about to begin, under way, or just over
                with control_socket(d) as control:
                    control.sendall(b"UBCT1 cache_save\n")
                    time.sleep(chance.random() * 1.2 * takes_s)
                    d.process.send_signal(signal.SIGKILL)
                assert d.stop(signal.SIGKILL) == -signal.SIGKILL
                left_aside += os.path.exists(path_of(d) + ".new")
                d.start(wait=False)
                wait_for(d, "start of service", kill + 2)
                wait_for(d, "RRsets loaded from ", kill + 1)
                for n in chance.sample(range(NAMES), 10):
                    assert texts(d.ask("n%d.fwd.test.lab." % n)) == [address_of(n)]
            assert " damaged" not in d.log() and " cut off" not in d.log()
            assert left_aside, "it was never killed while it was writing"
            print("killed %d times, %d of them while it was writing" % (KILLS, left_aside))
            assert s.count() == asked, "nothing was lost"


def control_socket(d):
    it = socket.socket(socket.AF_UNIX)
    it.connect(d.socket)
    return it
