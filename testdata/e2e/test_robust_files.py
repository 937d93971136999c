"""When there is too little of what the system gives: descriptors, memory, room on the disk.

SPDX-License-Identifier: BSD-3-Clause
"""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import time

import dns.exception
import dns.query
import pytest

from lab import frame, query, rcode, read_message, texts

NEEDS_ROOT = pytest.mark.skipif(os.getuid() != 0, reason="only root can mount and make groups")


@pytest.fixture
def made(daemon):
    """A maker of daemons that are not started; their folders go in the end."""
    every = []

    def make(*server, **more):
        every.append(daemon(*server, **more))
        return every[-1]
    yield make
    for d in every:
        if d.alive():
            d.stop()
        subprocess.run(["umount", "-lq", d.dir], capture_output=True, check=False)
        shutil.rmtree(d.dir, ignore_errors=True)


def until(claim, seconds=10):
    deadline = time.monotonic() + seconds
    while not claim():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def answered_over(s, name="version.bind.", rrtype="TXT", rrclass="CH"):
    with contextlib.suppress(OSError, EOFError, dns.exception.DNSException):
        s.sendall(frame(query(name, rrtype, rrclass)))
        return rcode(read_message(s)) == "NOERROR"
    return False


def cpu_s(d):
    with open("/proc/%d/stat" % d.process.pid, encoding="ascii") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# -- descriptors ------------------------------------------------------------------------------------

def test_a_low_limit_is_told_and_shared(made):
    """Connections of clients leave enough to ask with; what does not fit waits and is served later."""
    d = made("num-threads: 1", "incoming-num-tcp: 500", "tcp-idle-timeout: 60000")
    d.before = ["prlimit", "--nofile=160:160", "--"]
    if os.getuid() == 0:  # who may raise the limit would
        d.before = ["setpriv", "--bounding-set=-sys_resource", "--inh-caps=-all", *d.before]
        if subprocess.run([*d.before, "true"], capture_output=True, check=False).returncode:
            d.before = d.before[3:]
    d.start()
    if "lets this process open" not in d.log():
        pytest.skip("the limit could be raised")
    calm = d.files()
    with contextlib.ExitStack() as stack:
        crowd = [stack.enter_context(d.tcp()) for _ in range(200)]
        served = [s for s in crowd[:20] if answered_over(s)]
        assert len(served) == 20
        for i in range(10):
            assert texts(d.ask("n%d.w.rsa.mini." % i)) == texts(d.ask("n%d.w.rsa.mini." % i))
        assert rcode(d.ask("target.chain.mini.")) == "NOERROR"
        assert d.control("status")
        assert d.files() < 160
        for s in crowd[:100]:
            s.close()
        assert answered_over(crowd[-1])
    until(lambda: abs(d.files() - calm) <= 5)
    assert d.stop() == 0


@NEEDS_ROOT
def test_without_a_descriptor_it_serves_what_it_can(made):
    """The limit falls to what is open: what is cached is answered, the rest when there are some again."""
    d = made("num-threads: 1", "incoming-num-tcp: 50", "outgoing-port-uses: 1")
    d.start()
    assert texts(d.ask("target.chain.mini.")) == ["198.18.0.40"]
    calm = d.files()
    subprocess.run(["prlimit", "--pid", str(d.process.pid), "--nofile=%d:" % calm], check=True)
    began, spent = time.monotonic(), cpu_s(d)
    with contextlib.ExitStack() as stack:
        crowd = [stack.enter_context(d.tcp(timeout=1)) for _ in range(20)]
        for s in crowd:
            s.sendall(frame(query("target.chain.mini.", "A")))
        for _ in range(20):
            assert texts(d.ask("target.chain.mini.", timeout=2)) == ["198.18.0.40"]
            time.sleep(0.1)
        with socket.socket(type=socket.SOCK_DGRAM) as waits:
            waits.connect(("127.0.0.1", d.port))
            waits.settimeout(15)
            waits.send(query("tcp.chain.mini.", "A").to_wire())
            time.sleep(0.3)
            assert "ok\n" == d.control("verbosity", "1")  # one is kept back for the operator
            assert cpu_s(d) - spent < 0.5 * (time.monotonic() - began), "it spins"
            subprocess.run(["prlimit", "--pid", str(d.process.pid), "--nofile=1024:"], check=True)
            assert waits.recv(4096)
        for s in crowd:
            s.settimeout(5)
            assert texts(read_message(s)) == ["198.18.0.40"]
    said = d.log()
    assert said.count("no TCP connection can be taken") == 1
    assert said.count("no port can be opened to ask from") == 1
    until(lambda: abs(d.files() - calm) <= 5)
    assert d.control("reload") == "ok\n"
    assert d.stop() == 0
