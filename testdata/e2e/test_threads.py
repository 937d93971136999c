"""What one thread does costs no client of another: freeing, logging, loading, a worker that stands still, a reader that does not read.

SPDX-License-Identifier: BSD-3-Clause
"""

import contextlib
import ctypes
import os
import re
import socket
import time

import pytest

from lab import FakeServer, query, silent, texts, until

ZONES = 300000
TRACE_SEIZE, TRACE_INTERRUPT, TRACE_DETACH, ALL_TASKS = 0x4206, 0x4207, 0x11, 0x40000000


def turns(d, command="stats_noreset"):
    """The longest that a worker has kept packets waiting: its own processor time, and by the clock, in milliseconds."""
    said = dict(line.split("=", 1) for line in d.control(command).splitlines())
    return float(said["loop.turn.cpu_us.max"]) / 1000, float(said["loop.turn.wall_us.max"]) / 1000


@contextlib.contextmanager
def held(d, thread):
    """That thread of the daemon stands still meanwhile."""
    libc = ctypes.CDLL(None, use_errno=True)
    folder = "/proc/%d/task" % d.process.pid

    def name_of(tid):
        with open("%s/%s/comm" % (folder, tid), encoding="ascii") as f:
            return f.read().strip()

    tid = next(int(t) for t in os.listdir(folder) if name_of(t) == thread)
    for request in (TRACE_SEIZE, TRACE_INTERRUPT):
        assert libc.ptrace(ctypes.c_long(request), ctypes.c_long(tid), None, None) == 0, ctypes.get_errno()
    os.waitpid(tid, ALL_TASKS)
    try:
        yield
    finally:
        libc.ptrace(ctypes.c_long(TRACE_DETACH), ctypes.c_long(tid), None, None)


def test_freeing_a_large_configuration_keeps_nobody_waiting(daemon):
    """The last to let go of an old snapshot is a worker, or a lookup of one that takes long."""
    zones = "".join('server: local-zone: "z%d.test" %s\n' % (i, ["static", "always_nxdomain"][i % 2]) for i in range(ZONES))
    with FakeServer(silent) as mute, daemon(
            'local-data: "here.example. A 192.0.2.1"', "num-threads: 1", "extended-statistics: yes", "so-rcvbuf: 4m",
            more='%sforward-zone:\n    name: "slow."\n    forward-addr: 127.0.0.1@%d\n' % (zones, mute.port)) as d:
        with socket.socket(type=socket.SOCK_DGRAM) as s:
            s.connect(("127.0.0.1", d.port))
            for step in ("reload", "set_option", "lookup"):
                if step == "lookup":
                    asked = len(mute.asked)
                    s.send(query("a.slow.").to_wire())
                    until(lambda n=asked: len(mute.asked) > n)
                turns(d, "stats")
                if step == "set_option":
                    assert d.control("set_option", "cache-max-ttl:", "3601") == "ok\n"
                else:
                    d.speak(b"UBCT1 reload\n", timeout=60)
                for _ in range(200):
                    assert texts(d.ask("here.example.")) == ["192.0.2.1"]
                    time.sleep(0.002)
                if step == "lookup":
                    d.control("flush_requestlist")
                    time.sleep(0.2)
                own, _ = turns(d)
                assert own < (50 if d.is_sanitized() else 5), (step, own)


def test_a_body_that_was_refused_ends_once_however_slow_a_worker_is(daemon):
    """Its client is given a second for the rest; then the worker, which takes two, adopts what was published meanwhile."""
    with daemon("num-threads: 2", hints=False) as d:
        d.stop()
        d.environment = {**os.environ, "MALLOC_CONF": "junk:true"}  # what is freed twice is noticed
        d.start()
        for end in ("shutdown", "silence", "close"):
            with contextlib.ExitStack() as stack:
                refused, other = (stack.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(2))
                for s in (refused, other):
                    s.settimeout(10)
                    s.connect(d.socket)
                refused.sendall(b"UBCT1 load_cache\nSTART_RRSET_CACHE\nnonsense\n")
                time.sleep(0.05)
                with held(d, "worker 1"):
                    other.sendall(b"UBCT1 forward_add other.example 192.0.2.1\n")
                    time.sleep(0.3)
                    if end == "shutdown":
                        refused.shutdown(socket.SHUT_WR)
                    elif end == "close":
                        refused.close()
                    time.sleep(1.7)
                assert other.recv(1000) == b"ok\n"
                if end != "close":
                    said = b"".join(iter(lambda s=refused: s.recv(1000), b""))
                    assert said.count(b"error") == 1, said
        time.sleep(0.2)
        assert d.alive() and "is running" in d.control("status")


def ask_many(d, count):
    """So many questions, each of which is logged in several lines; all are answered at once."""
    with socket.socket(type=socket.SOCK_DGRAM) as s:
        s.settimeout(2)
        s.connect(("127.0.0.1", d.port))
        for n in range(count):
            s.send(query("here%d.example." % (n % 100)).to_wire())
            s.recv(4096)


@pytest.mark.parametrize("reader", [True, False], ids=["reads-nothing", "is-not-there"])
def test_a_log_that_stands_still_keeps_nobody_waiting(daemon, tmp_path, reader):
    fifo, other = str(tmp_path / "fifo"), str(tmp_path / "log")
    os.mkfifo(fifo)
    there = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK) if reader else None
    conf = ["local-zone: example. redirect", 'local-data: "example. A 192.0.2.1"', "num-threads: 2", "log-queries: yes",
            "log-replies: yes", "extended-statistics: yes", "statistics-inhibit-zero: no"]
    with daemon(*conf, 'logfile: "%s"' % fifo, hints=False) as d:
        ask_many(d, 12000)
        assert "is running" in d.control("status") and d.stats()["log.lost"] > 0
        if reader:
            os.set_blocking(there, True)
        else:
            there = os.open(fifo, os.O_RDONLY)
        # Somebody reads: whole lines, and how many there are not.
        with open(there, encoding="ascii") as f:
            lost = None
            for line in f:
                assert line[0] == "[" and line[-1] == "\n", line
                if m := re.search(r"warning: (\d+) lines of the log are lost", line):
                    lost = int(m[1])
                    break
                ask_many(d, 1)
            assert lost and lost <= d.stats()["log.lost"]
            # Nobody does: another place may be chosen, and it can be stopped.
            ask_many(d, 12000)
            began = time.monotonic()
            assert d.control("log_reopen") == "ok\n"
            ask_many(d, 10)
            if reader:
                d.configure([*conf, 'logfile: "%s"' % other])
                assert d.control("reload") == "ok\n"
                ask_many(d, 10)
                until(lambda: "here9.example" in open(other, encoding="ascii").read())
            assert d.stop() == 0
            assert time.monotonic() - began < 6


LONG = {"list_local_data": 30000, "list_local_zones": 30000, "view_list_local_data v": 30000,
        "view_list_local_zones v": 30000, "dump_cache": 20000}
READERS = 12


def resident_kb(d):
    with open("/proc/%d/status" % d.process.pid, encoding="ascii") as f:
        return int(re.search(r"VmRSS:\s+(\d+) kB", f.read())[1])


def test_a_long_reply_that_is_not_read_takes_little_memory(daemon):
    records = "".join('    local-data: "h%05d.a-name-of-usual-length.example. A 192.0.2.1"\n'
                      '    local-zone: "h%05d.a-name-of-usual-length.test" %s\n' % (i, i, ["refuse", "static"][i % 2])
                      for i in range(30000))
    with daemon("num-threads: 2", "rrset-cache-size: 100m", "access-control-view: 127.9.0.0/16 v", hints=False,
                more="server:\n%sview:\n    name: v\n%s" % (records, records)) as d:
        sets = "".join(";rrset 3600 1 0 8 0\nn%d.a-name-of-usual-length.example.\t3600\tIN\tTXT\t\"%s\"\n" % (i, "x" * 200)
                       for i in range(LONG["dump_cache"]))
        said = d.speak(("UBCT1 load_cache\nSTART_RRSET_CACHE\n%sEND_RRSET_CACHE\nSTART_MSG_CACHE\nEND_MSG_CACHE\nEOF\n\n"
                        % sets).encode(), timeout=60)
        assert b"ok" in said, said[-200:]
        for command, least in LONG.items():
            with contextlib.ExitStack() as stack:
                slow = [stack.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(READERS)]
                before = resident_kb(d)
                for s in slow:
                    s.settimeout(60)
                    s.connect(d.socket)
                    s.sendall(b"UBCT1 %s\n" % command.encode())
                time.sleep(2)
                taken = resident_kb(d) - before
                assert taken < READERS * 512 + 6144 or d.is_sanitized(), (command, taken)
                # Nothing is held meanwhile, and who reads on gets all there is.
                assert d.control("local_data", "aaa.example. A 192.0.2.2") == "ok\n"
                assert d.control("flush_type", "no.example.", "A") == "ok\n"
                assert texts(d.ask("h00001.a-name-of-usual-length.example.")) == ["192.0.2.1"]
                said = b"".join(iter(lambda s=slow[0]: s.recv(65536), b"")).decode().splitlines()
                assert sum("a-name-of-usual-length" in x for x in said) >= least, (command, len(said))
                if command == "dump_cache":
                    assert (said[0], said[-1]) == ("START_RRSET_CACHE", "EOF")
                elif "data" in command:
                    names = [x.split("\t")[0] for x in said if re.match(r"h\d{5}\.", x)]
                    assert len(names) == least and names == sorted(names)
        # Those that went away without a word hold nothing up; neither do those that stay when it ends.
        until(lambda: d.control("status"))
        stuck = socket.socket(socket.AF_UNIX)
        with stuck:
            stuck.connect(d.socket)
            stuck.sendall(b"UBCT1 dump_cache\n")
            time.sleep(0.5)
            assert d.stop(seconds=8) == 0
