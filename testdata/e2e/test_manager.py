"""Under a service manager: the sockets it hands over, and what it is told (sd_listen_fds(3), sd_notify(3)).

SPDX-License-Identifier: BSD-3-Clause
"""

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import time

import pytest

from lab import ask, is_root, rcode, texts

# Becomes what follows, which finds its own number in the environment and its sockets from 3 on.
AS_SERVICE = ["sh", "-c", 'LISTEN_PID=$$ WATCHDOG_PID=$$ exec "$@"', "sh"]


class Manager:
    """Hears what a service says."""

    def __init__(self, path):
        self.path = path
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(path)
        os.chmod(path, 0o777)
        self.lines = []

    def hear(self, word, seconds=15):
        """Waits for a message with a line that begins so; gives that message as a dictionary."""
        deadline = time.monotonic() + seconds
        while True:
            self.socket.settimeout(max(0.01, deadline - time.monotonic()))
            try:
                message = self.socket.recv(4096).decode()
            except (TimeoutError, BlockingIOError):
                raise AssertionError("not told: %s; but %s" % (word, self.lines)) from None
            self.lines.append(message)
            if any(line.startswith(word) for line in message.splitlines()):
                return dict(line.split("=", 1) for line in message.splitlines())


@contextlib.contextmanager
def service(d, sockets=(), watchdog_ms=0):
    """Runs `d` as a service manager would; the sockets are handed over."""
    manager = Manager(os.path.join(d.dir, "notify"))
    environment = dict(d.surroundings(), NOTIFY_SOCKET=manager.path)
    if watchdog_ms:
        environment["WATCHDOG_USEC"] = str(watchdog_ms * 1000)
    if sockets:
        environment["LISTEN_FDS"] = str(len(sockets))
    copies = [os.dup(s.fileno()) for s in sockets]

    def put_in_place():
        high = [os.dup2(fd, 100 + i) for i, fd in enumerate(copies)]
        for i, fd in enumerate(high):
            os.dup2(fd, 3 + i)

    d.log_file = open(d.logfile, "ab")
    d.process = subprocess.Popen([*AS_SERVICE, d.program("resolverd"), "-d", "-p", "-c", d.conf], env=environment,
                                 stdin=subprocess.DEVNULL, stdout=d.log_file, stderr=d.log_file,
                                 close_fds=False, preexec_fn=put_in_place)
    try:
        d.wait_ready()
        yield manager
        assert d.stop() == 0, d.log()
    finally:
        if d.process:
            d.process.kill()
            d.process.wait()
            print(d.log()[-4000:])
        for fd in copies:
            os.close(fd)
        manager.socket.close()


def bound(port, stream=False, address="127.0.0.1"):
    s = socket.socket(type=socket.SOCK_STREAM if stream else socket.SOCK_DGRAM)
    s.bind((address, port))
    if stream:
        s.listen(16)
    return s


def hup(d, manager):
    d.process.send_signal(signal.SIGHUP)
    begun = manager.hear("RELOADING=1")
    assert 0 < int(begun["MONOTONIC_USEC"]) <= time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
    manager.hear("READY=1")


@pytest.mark.parametrize("threads", [1, 3])
def test_it_serves_on_the_sockets_it_is_given(daemon, threads):
    d = daemon("use-systemd: yes", "num-threads: %d" % threads)
    with bound(d.port) as udp, bound(d.port, stream=True) as tcp, service(d, [udp, tcp]) as manager:
        manager.hear("READY=1")
        for over_tcp in (False, True):
            for _ in range(6):
                assert texts(d.ask("target.chain.mini.", tcp=over_tcp)) == ["198.18.0.40"]
        hup(d, manager)
        assert texts(d.ask("target.chain.mini.")) == ["198.18.0.40"]
        assert "socket activation" not in d.log()


def test_an_address_that_a_reload_takes_away_can_come_back(daemon):
    d = daemon("use-systemd: yes", "interface: 127.0.0.4")
    with bound(d.port, address="127.0.0.4") as udp, service(d, [udp]) as manager:
        manager.hear("READY=1")
        d.configure(["use-systemd: yes"])
        hup(d, manager)
        d.configure(["use-systemd: yes", "interface: 127.0.0.4"])
        hup(d, manager)
        r = ask("version.bind.", "TXT", "CH", port=d.port, address="127.0.0.4")
        assert rcode(r) == "NOERROR"


def test_a_control_socket_that_is_given_stays_when_it_ends(daemon):
    d = daemon("use-systemd: yes")
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(d.socket)
        s.listen(16)
        number = os.stat(d.socket).st_ino
        with service(d, [s]):
            assert "is running" in d.control("status")
            assert os.stat(d.socket).st_ino == number
        assert os.stat(d.socket).st_ino == number


@pytest.mark.parametrize("option, said", [
    ("use-systemd: yes", "no interface of the configuration has this address"),
    ("use-systemd: no", "use-systemd is no"),
])
def test_a_socket_nobody_serves_is_told_of(daemon, option, said):
    d = daemon(option)
    with bound(0) as other, service(d, [other]):
        assert said in d.log()


def test_the_manager_hears_how_it_goes(daemon):
    d = daemon("num-threads: 2")
    with service(d) as manager:
        assert int(manager.hear("READY=1")["MAINPID"]) == d.process.pid
        assert any(line.startswith("STATUS=serving at 2 sockets with 2 threads") for line in manager.lines)
        d.spoil()
        d.process.send_signal(signal.SIGHUP)
        assert "no-such-option" in manager.hear("STATUS=reload failed")["STATUS"]
        manager.hear("READY=1")
        d.configure()
        hup(d, manager)
        d.process.send_signal(signal.SIGTERM)
        manager.hear("STOPPING=1")


def test_signs_of_life_come_several_times_within_the_patience(daemon):
    d = daemon("num-threads: 2")
    with service(d, watchdog_ms=1000) as manager:
        manager.hear("READY=1")
        for _ in range(4):
            manager.hear("WATCHDOG=1")


@pytest.mark.skipif(not is_root(), reason="only root can change its root")
def test_from_inside_a_chroot(daemon):
    """Neither the manager's socket nor the folder of the pid file is anywhere inside."""
    d = daemon()
    inside = os.path.join(d.dir, "inside")
    os.makedirs(inside)
    conf = os.path.join(inside, "resolver.conf")
    d.conf = conf
    d.fixed = [line for line in d.fixed if not line.startswith(("chroot:", "directory:", "root-hints:"))]
    d.fixed += ['chroot: "%s"' % inside, 'directory: "%s"' % inside]
    d.configure()
    with service(d) as manager:
        manager.hear("READY=1")
        assert os.readlink("/proc/%d/root" % d.process.pid) == inside
        hup(d, manager)
        d.process.send_signal(signal.SIGTERM)
        manager.hear("STOPPING=1")


UNITS = os.path.join(os.path.dirname(__file__), "../../contrib/systemd")


def calls_in(group):
    """System calls of a group of systemd's, which may hold groups; a call is a group of itself."""
    if not group.startswith("@"):
        return {group}
    out = subprocess.run(["systemd-analyze", "syscall-filter", group], capture_output=True, text=True, check=True).stdout
    lines = (line.strip() for line in out.splitlines()[1:])
    return set().union(*(calls_in(line) for line in lines if line and not line.startswith("#")))


def allowed_by(unit):
    allowed = calls_in("@default")
    with open(os.path.join(UNITS, unit), encoding="utf-8") as f:
        for take, words in re.findall(r"^SystemCallFilter=(~?)(.*)$", f.read(), re.M):
            for calls in map(calls_in, words.split()):
                allowed = allowed - calls if take else allowed | calls
    return allowed


@pytest.mark.skipif(not (shutil.which("strace") and shutil.which("systemd-analyze")), reason="strace and systemd needed")
def test_its_units_allow_every_call_it_makes(daemon):
    """From the start over questions, a reload and a dump to the end."""
    d = daemon("num-threads: 2")
    with open(d.program("resolverd"), "rb") as f:
        if b"__asan_init" in f.read():
            pytest.skip("a sanitizer makes calls of its own")
    trace = os.path.join(d.dir, "trace")
    d.log_file = open(d.logfile, "ab")
    d.process = subprocess.Popen(["strace", "-f", "-qq", "-o", trace, d.program("resolverd"), "-d", "-c", d.conf],
                                 stdin=subprocess.DEVNULL, stdout=d.log_file, stderr=d.log_file)
    try:
        d.wait_ready()
        for tcp in (False, True):
            d.ask("target.chain.mini.", tcp=tcp)
        for words in (["reload"], ["dump_cache"], ["stop"]):
            d.control(*words)
        d.process.wait(20)
    finally:
        d.stop()
    with open(trace, encoding="utf-8", errors="replace") as f:
        made = set(re.findall(r"^\d+ +([a-z_0-9]+)\(", f.read(), re.M))
    assert {"execve", "recvmmsg"} <= made
    for unit in ("resolverd.service.in", "unbound.service.in"):
        assert made <= allowed_by(unit), unit
