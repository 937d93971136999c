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
    """Its client is given a second for the rest; then the worker, which takes two, settles what was published meanwhile."""
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
