"""A resolver started over the miniature internet, and asked.

SPDX-License-Identifier: BSD-3-Clause
"""

import contextlib
import os
import random
import shutil
import socket
import struct
import subprocess
import sys
import time

import questions

CONF = """server:
    interface: 127.0.0.1
    port: %(port)d
    num-threads: 1
    outgoing-port-avoid: 20000-24999
    do-not-query-localhost: no
    root-hints: "%(net)s/root.hints"
    module-config: "%(modules)s"
    auto-trust-anchor-file: ""
    username: ""
    chroot: ""
    directory: "%(dir)s"
    pidfile: ""
    use-syslog: no
    # What the two have different defaults for.
    max-udp-size: 1232
    edns-buffer-size: 1232
    identity: "lab"
    version: "1"
    do-ip6: no
%(more)sremote-control:
    control-enable: %(enable)s
    control-use-cert: no
    control-interface: "%(dir)s/control"
"""


class Refused(SystemExit):
    """It did not start; what it said."""


def free_port():
    """A port below what the kernel gives to clients; the two resolvers ask from other ports."""
    while True:
        port = random.randrange(20000, 25000)
        with socket.socket() as tcp, socket.socket(type=socket.SOCK_DGRAM) as udp:
            try:
                tcp.bind(("127.0.0.1", port))
                udp.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


class Resolver:
    """`more`: lines of the server clause, which may speak of %(net)s and %(dir)s. Who may not be asked
    is `ready` when its port is taken."""

    def __init__(self, name, program, net, folder, modules="iterator", more="", ready=True, control=False):
        self.name = name
        self.port = free_port()
        self.socket = os.path.join(folder, "control")
        self.conf = os.path.join(folder, name + ".conf")
        with open(self.conf, "w", encoding="ascii") as f:
            f.write(CONF % {"port": self.port, "net": net, "dir": folder,
                            "modules": modules, "enable": "yes" if control else "no", "more": more % {"net": net, "dir": folder}})
        self.log = os.path.join(folder, name + ".log")
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([program, "-d", "-c", self.conf], stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log)
        hello = questions.Question(0, "version.bind.", "TXT", "CH")
        for _ in range(200):    # a second hello would be counted, too: patience once the port is there
            if self.process.poll() is not None or (self.ask(hello, 3) if ready else self.listens()):
                break
            time.sleep(0.05)
        else:
            raise SystemExit("%s does not answer" % name)
        if not ready:
            self.ask(hello, 0.3)    # it may still be at its configuration
        if self.process.poll() is not None:
            with open(self.log, encoding="utf-8", errors="replace") as f:
                raise Refused("%s ended at once:\n%s" % (name, f.read()))

    def listens(self):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 0.2):
            return True
        return False

    def command(self, line, body="", timeout=20.0):
        """What the control channel says to a command."""
        out = b""
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as s:
            s.settimeout(timeout)
            s.connect(self.socket)
            s.sendall(b"UBCT1 " + line.encode() + b"\n")
            if body:
                s.sendall(body.encode() + b"\x04\n")
            while got := s.recv(65536):
                out += got
        return out.decode("utf-8", "replace")

    def ask(self, q, timeout=20.0):
        """The reply's bytes, or None. Packets that answer something else are waited past."""
        qid = random.randrange(65536)
        wire = q.wire(qid)
        head = struct.pack("!H", qid)
        deadline = time.monotonic() + timeout
        source = (q.source, 0) if q.source else None
        with contextlib.suppress(OSError, struct.error):
            if q.tcp:
                with socket.create_connection((q.to, self.port), timeout, source) as s:
                    s.sendall(struct.pack("!H", len(wire)) + wire)
                    return recv_all(s, struct.unpack("!H", recv_all(s, 2))[0])
            with socket.socket(type=socket.SOCK_DGRAM) as s:
                if source:
                    s.bind(source)
                s.connect((q.to, self.port))
                s.send(wire)
                while (left := deadline - time.monotonic()) > 0:
                    s.settimeout(left)
                    data = s.recv(65535)
                    if data[:2] == head:
                        return data
        return None

    def stop(self):
        self.process.terminate()
        try:
            return self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "killed"


def recv_all(s, count):
    data = b""
    while len(data) < count:
        got = s.recv(count - len(data))
        if not got:
            raise OSError("closed")
        data += got
    return data


def unbound_copy(folder):
    """The profile a distribution may have for the installed one keeps it out of our folder: a copy."""
    found = shutil.which("unbound", path="/usr/sbin:/usr/local/sbin") or sys.exit("unbound is not installed")
    return shutil.copy(found, os.path.join(folder, "unbound"))
