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
import dns.flags
import dns.message
import dns.rdatatype
import dns.rrset
import pytest

from lab import FakeServer, frame, is_root, query, rcode, read_message, texts, until

NEEDS_ROOT = pytest.mark.skipif(not is_root(), reason="only root can mount and make groups")


def open_files(d):
    at = "/proc/%d/fd" % d.process.pid
    return "\n".join(os.readlink(os.path.join(at, n)) for n in sorted(os.listdir(at), key=int))


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
    """Connections of clients leave enough to ask with; of one client's, those idle longest make room for the next."""
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
        served = [s for s in crowd[-20:] if answered_over(s)]
        assert len(served) == 20
        for i in range(10):
            assert texts(d.ask("n%d.w.rsa.mini." % i)) == texts(d.ask("n%d.w.rsa.mini." % i))
        assert rcode(d.ask("target.chain.mini.")) == "NOERROR"
        assert d.control("status")
        assert d.files() < 160
        for s in crowd[:-1]:
            s.close()
        assert answered_over(crowd[-1])
        assert answered_over(stack.enter_context(d.tcp()))
    until(lambda: abs(d.files() - calm) <= 5, why=lambda: "%d before\n%s" % (calm, open_files(d)))
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
    for what in "TCP accept failed", "cannot open a port for upstream queries":
        assert 1 <= said.count(what) <= 3, what  # once for each shortage, not for each question
    until(lambda: abs(d.files() - calm) <= 5, why=lambda: "%d before\n%s" % (calm, open_files(d)))
    assert d.control("reload") == "ok\n"
    assert d.stop() == 0


# -- room on the disk -------------------------------------------------------------------------------

class Disk:
    """A file system of its own for `d`, at d.dir/disk, that nobody else sees; small, or read only in the end."""

    def __init__(self, d, size="300k", then="true", options=""):
        if subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode:
            pytest.skip("no mount namespace to be had")
        self.d, self.path = d, os.path.join(d.dir, "disk")
        self.source = os.path.join(d.dir, "source")
        os.makedirs(self.path)
        os.makedirs(self.source)
        d.before = ["unshare", "-m", "sh", "-c", "mount -t tmpfs -o size=%s%s none %s && cp -a %s/. %s && cd / && %s"
                    " && exec \"$@\"" % (size, options, self.path, self.source, self.path, then), "sh"]

    def seen(self, name=""):
        return "/proc/%d/root%s/%s" % (self.d.process.pid, self.path, name)

    def read(self, name):
        with open(self.seen(name), "rb") as f:
            return f.read()

    def files(self):
        return sorted(os.listdir(self.seen()))

    def fill(self):
        with open(self.seen("filler"), "wb", buffering=0) as f, contextlib.suppress(OSError):
            while True:
                f.write(b"x" * 4096)

    def free(self):
        os.unlink(self.seen("filler"))


def zone_clause(port, path):
    return ('auth-zone:\n    name: held.example\n    primary: 127.0.0.1@%d\n    zonefile: "%s"\n' %
            (port, path))


class Primary(FakeServer):
    """Serves held.example over AXFR, of `count` names at serial `serial`."""

    def __init__(self):
        super().__init__(self.respond)
        self.serial, self.count = 1, 10

    def soa(self):
        return dns.rrset.from_text("held.example.", 60, "IN", "SOA", "ns.held.example. h.held.example. %d 3600 1 86400 60"
                                   % self.serial)

    def respond(self, q, tcp):
        r = dns.message.make_response(q)
        r.flags |= dns.flags.AA
        if q.question[0].rdtype == dns.rdatatype.AXFR:
            r.answer = [self.soa(), dns.rrset.from_text("held.example.", 60, "IN", "NS", "ns.held.example."),
                        *(dns.rrset.from_text("n%d.held.example." % i, 60, "IN", "TXT", '"%s"' % ("y" * 100))
                          for i in range(self.count)),
                        dns.rrset.from_text("serial.held.example.", 60, "IN", "A", "192.0.2.%d" % self.serial), self.soa()]
        elif q.question[0].rdtype == dns.rdatatype.SOA:
            r.answer = [self.soa()]
        return r


def serial_is(d, serial):
    return lambda: texts(d.ask("serial.held.example.")) == ["192.0.2.%d" % serial]


@NEEDS_ROOT
def test_a_full_disk_costs_no_answer_and_no_file(made):
    """Log, zone and caches: what cannot be written is told, the old file stays whole, and then it goes on."""
    d = made("val-log-level: 1")
    disk = Disk(d)
    with Primary() as primary:
        names = os.path.join(d.dir, "names")

        def write_names(word):
            with open(names + ".new", "w", encoding="ascii") as f:
                f.write("".join("%s%d.example\n" % (word, i) for i in range(4000)))
            os.replace(names + ".new", names)
        write_names("old")
        d.configure(['cache-file: "%s/cache"' % disk.path, 'logfile: "%s/log"' % disk.path,
                     'blocklist-directory: "%s/lists"' % disk.path],
                    zone_clause(primary.port, disk.path + "/zone")
                    + 'blocklist:\n    name: l\n    file: "%s"\n' % names)
        d.start()
        until(serial_is(d, 1), why=lambda: d.log() + str(d.ask("serial.held.example.")))
        until(lambda: b"n9.held.example" in disk.read("zone"))
        until(lambda: rcode(d.ask("old7.example.")) == "NXDOMAIN")
        until(lambda: os.listdir(disk.seen("lists")))
        d.ask("target.chain.mini.")
        assert d.control("cache_save")
        until(lambda: "cache" in disk.files())
        zone, cache = disk.read("zone"), disk.read("cache")
        disk.fill()
        primary.serial, primary.count = 2, 400
        d.control("auth_zone_transfer", "held.example")
        until(serial_is(d, 2))  # it is served, though it cannot be kept
        write_names("newer-and-longer")
        d.control("blocklist_reload")
        until(lambda: d.control("blocklist_status") and "copy not saved" in d.log() + disk.read("log").decode()
              or rcode(d.ask("newer-and-longer7.example.")) == "NXDOMAIN" and texts(d.ask("old7.example.")) == [])
        assert not [n for n in os.listdir(disk.seen("lists")) if n.endswith(".new")]
        for i in range(50):
            assert texts(d.ask("n%d.w.rsa.mini." % i))
        assert "cannot write" in d.control("cache_save", code=None) + d.control("cache_save", code=None)
        assert disk.read("zone") == zone and disk.read("cache") == cache
        assert disk.files() == ["cache", "filler", "lists", "log", "zone"], "what was begun is taken away"
        disk.free()
        d.control("verbosity", "1")
        primary.serial, primary.count = 3, 20
        d.control("auth_zone_transfer", "held.example")
        until(lambda: b"192.0.2.3" in disk.read("zone"))
        d.control("cache_save")
        until(lambda: disk.read("cache") != cache)
        before = len(disk.read("log"))
        d.control("reload")
        until(lambda: len(disk.read("log")) > before)
        assert texts(d.ask("target.chain.mini.")) == ["198.18.0.40"]
    assert d.stop() == 0


@NEEDS_ROOT
@pytest.mark.parametrize("then", ["full", "read only"])
def test_a_trust_anchor_that_cannot_be_written_is_used(made, net, then):
    d = made(module="validator iterator")
    disk = Disk(d, size="40k", then="mount -o remount,ro %s" % os.path.join(d.dir, "disk") if then == "read only" else
                "{ dd if=/dev/zero of=%s/filler bs=4096 2>/dev/null; true; }" % os.path.join(d.dir, "disk"))
    shutil.copy(net + "/root.key", disk.source + "/anchor")
    d.configure(['auto-trust-anchor-file: "%s/anchor"' % disk.path])
    d.start()
    assert d.ask("www.rsa.mini.", dnssec=True).flags & dns.flags.AD or rcode(d.ask("n1.w.rsa.mini.")) == "NOERROR"
    until(lambda: "cannot write" in d.log())
    with open(net + "/root.key", "rb") as f:
        assert disk.read("anchor") == f.read()
    assert [n for n in disk.files() if n != "filler"] == ["anchor"]
    assert d.log().count("cannot write") <= 3
    assert d.stop() == 0


@NEEDS_ROOT
def test_on_a_read_only_file_system_it_serves(made):
    """Everything it would write to is read only: it says so and answers."""
    d = made()
    disk = Disk(d, then="mount -o remount,ro %s" % os.path.join(d.dir, "disk"))
    with Primary() as primary:
        d.configure(['cache-file: "%s/cache"' % disk.path],
                    zone_clause(primary.port, disk.path + "/zone")
                    + 'blocklist:\n    name: l\n    url: "http://127.0.0.1:%d/none"\n' % primary.port)
        d.start()
        until(serial_is(d, 1), why=lambda: d.log() + str(d.ask("serial.held.example.")))
        assert texts(d.ask("target.chain.mini.")) == ["198.18.0.40"]
        until(lambda: "zone: Read-only file system" in d.log())
        assert d.control("reload") == "ok\n"
        assert texts(d.ask("n1.w.rsa.mini."))
    assert d.stop() == 0
    assert "Read-only" in d.log()


# -- memory ----------------------------------------------------------------------------------------

def memory_group(name):
    """A group of processes with 64 MB, or None where there can be none; version 1 or 2."""
    for root, limit in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
        path = os.path.join(root, name)
        with contextlib.suppress(OSError):
            os.mkdir(path)
            try:
                with open(os.path.join(path, limit), "w", encoding="ascii") as f:
                    f.write(str(64 << 20))
                return path
            except OSError:
                os.rmdir(path)
    return None


@pytest.mark.skipif(shutil.which("dnsperf") is None, reason="there is no dnsperf")
def test_small_caches_work(made, tmp_path):
    """16 MB of caches in 64 MB: far more names than fit, reloads among them, and nobody is killed."""
    d = made("num-threads: 1", "msg-cache-size: 6m", "rrset-cache-size: 6m", "key-cache-size: 2m", "neg-cache-size: 1m",
             "infra-cache-numhosts: 1000", "extended-statistics: yes", "discard-timeout: 0", "jostle-timeout: 100000")
    if d.is_sanitized():
        pytest.skip("a sanitizer wants a bigger house")
    group = memory_group("rd-e2e-%d" % os.getpid())
    if group:
        d.before = ["sh", "-c", "echo $$ > %s/cgroup.procs && exec \"$@\"" % group, "sh"]
    try:
        d.start()
        names = tmp_path / "names"
        names.write_text("".join("n%d.w.rsa.mini. A\n" % i for i in range(40000)) + "txt60000.big.mini. TXT\n" * 20)
        for _ in range(2):
            said = subprocess.run(["dnsperf", "-s", "127.0.0.1", "-p", str(d.port), "-d", str(names), "-n", "1", "-q",
                                   "200", "-t", "30"], capture_output=True, check=True, timeout=120, text=True).stdout
            assert "Queries lost:         0 " in said and "SERVFAIL" not in said, said
            assert d.control("reload") == "ok\n"
        assert 5 << 20 < int(d.stats()["mem.cache.message"]) <= 6 << 20, "they are full, and no more than that"
        assert d.control("dump_cache").endswith("EOF\n"), "and there is room for all of it as text"
        assert texts(d.ask("target.chain.mini.")) == ["198.18.0.40"]
        with open("/proc/%d/status" % d.process.pid, encoding="ascii") as f:
            peak_kb = int(re.search(r"VmHWM:\s+(\d+)", f.read()).group(1))
        assert peak_kb < 64 << 10
        assert d.stop() == 0
    finally:
        if d.alive():
            d.stop()
        if group:
            os.rmdir(group)
