"""What one thread does costs no client of another: freeing, logging, loading, a worker that stands still, a reader that does not read.

SPDX-License-Identifier: BSD-3-Clause
"""

import contextlib
import ctypes
import os
import socket
import time

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
