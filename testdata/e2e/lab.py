"""What every end-to-end test works with: a daemon of its own, questions, and servers that play a part.

SPDX-License-Identifier: BSD-3-Clause
"""

import collections
import contextlib
import itertools
import os
import random
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time

import dns.exception
import dns.flags
import dns.message
import dns.query
import dns.rcode
import dns.rdatatype
import dns.rrset
import pytest

ADDRESS = "127.0.0.1"
# After this long without an answer a client asks again.
RESEND_S = 3
# Whatever a sanitizer says begins like one of these.
REPORTS = ("AddressSanitizer", "LeakSanitizer", "ThreadSanitizer", "runtime error:", "UndefinedBehaviorSanitizer")


# Where tests listen: below what the kernel gives to clients, and the daemons ask from other ports.
PORTS = range(20000, 25000)
# In any order, and each again only after all others: one that is told twice would be asked for by two of a test's listeners.
_ports = itertools.cycle(random.sample(PORTS, len(PORTS)))


def is_root():
    """With root's rights: in a user namespace that maps one user (`unshare -r`), nobody else can be become."""
    with open("/proc/self/uid_map", encoding="ascii") as f:
        return os.getuid() == 0 and sum(int(line.split()[2]) for line in f) > 1


def free_port(address=ADDRESS):
    """A port of ours that is free for UDP and TCP."""
    for port in _ports:
        with socket.socket() as tcp, socket.socket(type=socket.SOCK_DGRAM) as udp:
            try:
                tcp.bind((address, port))
                udp.bind((address, port))
                return port
            except OSError:
                continue


class Daemon:
    """A running `resolverd` with its own folder, port and control socket.

    `server` holds lines of the server clause, `more` whole clauses. Use it with `with`: leaving it
    stops the daemon, and fails the test if it did not end with exit code 0 and a clean log."""

    def __init__(self, bin_dir, net, server=(), more="", port=None, control=True, hints=True, module="iterator",
                 default_anchor=False):
        self.bin = os.path.abspath(bin_dir)
        self.net = os.path.abspath(net)
        self.dir = tempfile.mkdtemp(prefix="rd-e2e-", dir="/tmp")
        self.port = port or free_port()
        self.conf = os.path.join(self.dir, "resolver.conf")
        self.socket = os.path.join(self.dir, "control.sock")
        self.pidfile = os.path.join(self.dir, "resolverd.pid")
        self.logfile = os.path.join(self.dir, "stderr")
        self.process = None
        self.before = []  # a command that becomes the daemon: ["prlimit", "--nofile=64"]
        self.environment = None
        lines = ["interface: 127.0.0.1", "port: %d" % self.port, 'username: ""', 'chroot: ""',
                 'directory: "%s"' % self.dir, 'pidfile: "%s"' % self.pidfile, "use-syslog: no",
                 "do-not-query-localhost: no", 'outgoing-port-avoid: "%d-%d"' % (PORTS[0], PORTS[-1]),
                 'module-config: "%s"' % module, "sandbox: %s" % os.environ.get("RESOLVERD_SANDBOX", "strict")]
        if not default_anchor:  # whose keys are not the miniature internet's
            lines.append('auto-trust-anchor-file: ""')
        if hints:
            lines.append('root-hints: "%s/root.hints"' % self.net)
        self.fixed = lines
        self.control_clause = 'remote-control:\n    control-enable: yes\n    control-interface: "%s"\n' % (
            self.socket) if control else ""
        self.configure(server, more)
        # The client reads a configuration too; its own goes on parsing when the daemon's is spoiled.
        self.client_conf = os.path.join(self.dir, "client.conf")
        with open(self.client_conf, "w", encoding="utf-8") as f:
            f.write(self.control_clause)

    def configure(self, server=(), more=""):
        """Writes the configuration; the daemon sees it at its next start or reload."""
        with open(self.conf, "w", encoding="utf-8") as f:
            f.write("server:\n" + "".join("    %s\n" % line for line in [*self.fixed, *server])
                    + self.control_clause + more)

    def spoil(self, line="    no-such-option: 1"):
        with open(self.conf, "a", encoding="utf-8") as f:
            f.write("server:\n" + line + "\n")

    def program(self, name):
        return os.path.join(self.bin, name)

    def is_sanitized(self):
        """It was built with sanitizers, which want more memory and calls, and /proc."""
        with open(self.program("resolverd"), "rb") as f:
            return b"__asan_init" in f.read()

    def surroundings(self):
        """The environment it is to have. In a chroot no leaks are looked for: that takes /proc."""
        own = dict(self.environment or os.environ)
        with open(self.conf, encoding="utf-8", errors="replace") as f:
            if re.search(r'^\s*chroot:\s*"?/', f.read(), re.M):
                own["ASAN_OPTIONS"] = own.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
        return own

    def start(self, *arguments, wait=True):
        self.log_file = open(self.logfile, "ab")
        self.process = subprocess.Popen([*self.before, self.program("resolverd"), "-d", "-c", self.conf, *arguments],
                                        env=self.surroundings(), stdin=subprocess.DEVNULL, stdout=self.log_file,
                                        stderr=self.log_file)
        if wait:
            self.wait_ready()
        return self

    def wait_ready(self, seconds=20):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.process and self.process.poll() is not None:
                raise AssertionError("resolverd ended with %d:\n%s" % (self.process.returncode, self.log()))
            with contextlib.suppress(dns.exception.Timeout, OSError):
                self.ask("version.bind", "TXT", "CH", timeout=0.3)
                return
        raise AssertionError("resolverd does not answer:\n" + self.log())

    def log(self):
        """Lines are written by a thread of their own: what has just been logged may need a moment."""
        seen = None
        for _ in range(20 if self.alive() else 0):
            size = os.path.getsize(self.logfile)
            if size == seen:
                break
            seen = size
            time.sleep(0.05)
        with open(self.logfile, encoding="utf-8", errors="replace") as f:
            return f.read()

    def stop(self, signo=signal.SIGTERM, seconds=15):
        """Ends it; gives its exit code."""
        if self.process is None:
            return 0
        if self.process.poll() is None:
            self.process.send_signal(signo)
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError("resolverd did not end within %d s:\n%s" % (seconds, self.log()[-3000:])) from None
        finally:
            self.process = None
            self.log_file.close()
        said = self.log()
        assert not any(r in said for r in REPORTS), self.report(said)
        return code

    @staticmethod
    def report(said):
        """The first one, from its beginning."""
        at = min(said.find(r) for r in REPORTS if r in said)
        return said[max(0, at - 300):at + 9000]

    def kill(self):
        """Ends it as a power cut would."""
        self.process.kill()
        self.process.wait(10)
        self.process = None
        self.log_file.close()
        said = self.log()
        assert not any(r in said for r in REPORTS), self.report(said)

    def files(self):
        """How many descriptors it has open."""
        return len(os.listdir("/proc/%d/fd" % self.process.pid))

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, value, trace):
        try:
            code = self.stop()
            if kind is None:
                assert code == 0, "resolverd ended with %d:\n%s" % (code, self.log()[-6000:])
            else:
                print(self.log()[-6000:])
        finally:
            shutil.rmtree(self.dir, ignore_errors=True)

    # -- asking -----------------------------------------------------------------------------------

    def ask(self, name, rrtype="A", rrclass="IN", **more):
        return ask(name, rrtype, rrclass, port=self.port, **more)

    def send(self, data, timeout=2.0, source=None):
        """Raw bytes over UDP; the raw reply, or None."""
        with socket.socket(type=socket.SOCK_DGRAM) as s:
            if source:
                s.bind((source, 0))
            s.settimeout(timeout)
            s.connect((ADDRESS, self.port))
            s.send(data)
            try:
                return s.recv(65535)
            except (socket.timeout, ConnectionRefusedError):
                return None

    def tcp(self, timeout=5.0, source=None):
        s = socket.create_connection((ADDRESS, self.port), timeout, (source, 0) if source else None)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return s

    # -- control ----------------------------------------------------------------------------------

    def control(self, *arguments, code=0, program="resolver-control", stdin=None):
        """Runs a control command; its output. `code` is the exit code it has to have."""
        p = subprocess.run([self.program(program), "-c", self.client_conf, *arguments], input=stdin, text=True,
                           capture_output=True, timeout=20, check=False)
        if code is not None:
            assert p.returncode == code, "%s: %d\n%s%s" % (arguments, p.returncode, p.stdout, p.stderr)
        return p.stdout

    def speak(self, data, pause=None, timeout=10):
        """Bytes to the control socket, at once or in pieces; all that comes back."""
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(timeout)
            s.connect(self.socket)
            for piece in data if isinstance(data, (list, tuple)) else [data]:
                try:
                    s.sendall(piece)
                except BrokenPipeError:
                    break
                if pause:
                    time.sleep(pause)
            out = b""
            while True:
                try:
                    got = s.recv(65536)
                except ConnectionResetError:
                    return out
                if not got:
                    return out
                out += got

    def stats(self):
        pairs = (line.split("=", 1) for line in self.control("stats_noreset").splitlines())
        return {k: float(v) for k, v in pairs}

    @contextlib.contextmanager
    def misses(self, count):
        """The questions asked inside cost this many trips to the network."""
        before = self.stats()["total.num.cachemiss"]
        yield
        assert self.stats()["total.num.cachemiss"] - before == count


def until(claim, seconds=20, why=None):
    """Waits until `claim()` is true; gives what it says then. `why()` tells what is there instead."""
    deadline = time.monotonic() + seconds
    while not (got := claim()):
        assert time.monotonic() < deadline, why() if why else "it did not come to be so"
        time.sleep(0.05)
    return got


def query(name, rrtype="A", rrclass="IN", edns=0, payload=1232, dnssec=False, flags=dns.flags.RD, **more):
    q = dns.message.make_query(name, rrtype, rrclass, use_edns=edns, payload=payload, want_dnssec=dnssec, **more)
    q.flags = flags
    return q


def ask(name, rrtype="A", rrclass="IN", port=53, address=ADDRESS, tcp=False, timeout=20, source=None,
        udp_only=False, **more):
    """Asks as a good client does: over UDP, again when nothing comes (an answer that took longer than
    discard-timeout is kept for whoever asks next), and over TCP when the answer says so."""
    q = query(name, rrtype, rrclass, **more)
    if tcp:
        return ask_tcp(q, address, timeout, port, source)
    deadline = time.monotonic() + timeout
    while True:
        left = deadline - time.monotonic()
        with contextlib.suppress(dns.exception.Timeout) if left > RESEND_S else contextlib.nullcontext():
            r = dns.query.udp(q, address, min(left, RESEND_S), port, source=source, ignore_unexpected=True)
            if not r.flags & dns.flags.TC or udp_only:
                return r
            return ask_tcp(q, address, timeout, port, source)


def ask_tcp(q, address, timeout, port, source=None):
    """Once more on another connection when the first is closed without an answer (RFC 7766 6.2.4): where places are
    few, one that has not asked yet may have to make room."""
    with contextlib.suppress(EOFError, ConnectionError):
        return dns.query.tcp(q, address, timeout, port, source=source)
    return dns.query.tcp(q, address, timeout, port, source=source)


def rcode(message):
    return dns.rcode.to_text(message.rcode())


def texts(message, rrtype="A"):
    """The data of all answers of a type, sorted."""
    want = dns.rdatatype.from_text(rrtype)
    return sorted(r.to_text() for s in message.answer if s.rdtype == want for r in s)


def ttl(message):
    return message.answer[0].ttl


def frame(message):
    data = message if isinstance(message, bytes) else message.to_wire()
    return struct.pack("!H", len(data)) + data


def read_exactly(s, count):
    data = b""
    while len(data) < count:
        got = s.recv(count - len(data))
        if not got:
            raise EOFError("closed after %d of %d bytes" % (len(data), count))
        data += got
    return data


def read_message(s):
    return dns.message.from_wire(read_exactly(s, struct.unpack("!H", read_exactly(s, 2))[0]))


def is_closed(s, seconds):
    """Whether the other side closes within that time; whatever it still sends is thrown away."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not select.select([s], [], [], max(0, deadline - time.monotonic()))[0]:
            return False
        try:
            if not s.recv(65536):
                return True
        except OSError:
            return True
    return False


class Listening:
    """A thread that waits at sockets. A caller gets a thread of its own, `serve(conn, number)`, the first one being
    number 1; a packet is for `received(socket)`."""

    def __init__(self, *sockets):
        self.sockets = sockets
        self.accepted, self.ending = 0, False

    def __enter__(self):
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ending = True
        self.thread.join(5)
        for s in self.sockets:
            s.close()

    def run(self):
        while not self.ending:
            for s in select.select(self.sockets, [], [], 0.05)[0]:
                if s.type == socket.SOCK_DGRAM:
                    self.received(s)
                    continue
                conn, _ = s.accept()
                self.accepted += 1
                threading.Thread(target=self.serve, args=(conn, self.accepted), daemon=True).start()


class TcpServer(Listening):
    """At a port of the system's choice."""

    def __init__(self):
        self.listener = socket.create_server((ADDRESS, 0), backlog=128)
        self.port = self.listener.getsockname()[1]
        super().__init__(self.listener)


class FakeServer(Listening):
    """A name server whose answers are a Python function: `answer(query, tcp)` gives a message, bytes,
    or None for silence. What was asked stands in `asked`, a list of (name, type, tcp)."""

    def __init__(self, answer, address=ADDRESS, port=None, tcp=True):
        self.answer = answer
        self.asked = []
        self.port = port or free_port(address)
        self.at = "%s@%d" % (address, self.port)
        udp = socket.socket(type=socket.SOCK_DGRAM)
        udp.bind((address, self.port))
        super().__init__(udp, *([socket.create_server((address, self.port), backlog=64)] if tcp else []))

    def count(self, name=None):
        if name is None:
            return len(self.asked)
        return collections.Counter(n.lower() for n, _, _ in self.asked)[name.lower().rstrip(".") + "."]

    def reply(self, data, tcp):
        q = dns.message.from_wire(data)
        self.asked.append((q.question[0].name.to_text(), dns.rdatatype.to_text(q.question[0].rdtype), tcp))
        out = self.answer(q, tcp)
        return out.to_wire(max_size=65535) if isinstance(out, dns.message.Message) else out

    def serve(self, conn, number):
        with conn, contextlib.suppress(EOFError, OSError):
            conn.settimeout(5)
            while True:
                out = self.reply(read_exactly(conn, struct.unpack("!H", read_exactly(conn, 2))[0]), True)
                if out is not None:
                    conn.sendall(frame(out))

    def received(self, s):
        data, peer = s.recvfrom(65535)
        out = self.reply(data, False)
        if out is not None:
            s.sendto(out, peer)


@contextlib.contextmanager
def unbound(*server, more="", tls=False):
    """Debian's unbound with these lines in its server clause and whole clauses more; gives its port, that of TLS if
    it speaks that."""
    port, installed = free_port(), shutil.which("unbound", path="/usr/sbin:/usr/local/sbin")
    if not installed:
        pytest.skip("unbound is not installed")
    with tempfile.TemporaryDirectory(prefix="rd-e2e-", dir="/tmp") as folder:
        # A copy: the profile a distribution may have for the installed one keeps it out of our folder.
        program = shutil.copy(installed, folder)
        conf = os.path.join(folder, "unbound.conf")
        with open(conf, "w", encoding="utf-8") as f:
            f.write("server:\n" + "".join("    %s\n" % line for line in [
                "interface: 127.0.0.1@%d" % port, 'username: ""', 'chroot: ""', 'directory: "%s"' % folder, 'pidfile: ""',
                "use-syslog: no", "do-daemonize: no", "do-not-query-localhost: no",
                'outgoing-port-avoid: "%d-%d"' % (PORTS[0], PORTS[-1]),
                *(["tls-port: %d" % port] if tls else []), *server])
                + "remote-control:\n    control-enable: no\n" + more)
        process = subprocess.Popen(["timeout", "600", program, "-d", "-c", conf], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            until(lambda: accepts(port))
            yield port
        finally:
            process.terminate()
            process.wait(10)


def accepts(port):
    with contextlib.suppress(OSError), socket.create_connection((ADDRESS, port), 1):
        return True
    return False


def fixed(address, ttl_s=300, recursion=True):
    """An answer function: this address to every A question, nothing to any other."""
    def answer(q, tcp):
        r = dns.message.make_response(q, recursion_available=recursion)
        if q.question[0].rdtype == dns.rdatatype.A:
            r.answer.append(dns.rrset.from_text(q.question[0].name, ttl_s, "IN", "A", address))
        else:
            r.authority.append(dns.rrset.from_text(
                q.question[0].name, 60, "IN", "SOA", "ns.invalid. h.invalid. 1 2 3 4 60"))
        return r
    return answer


def refusing(code=dns.rcode.REFUSED):
    def answer(q, tcp):
        r = dns.message.make_response(q, recursion_available=True)
        r.set_rcode(code)
        return r
    return answer


def silent(q, tcp):
    return None
