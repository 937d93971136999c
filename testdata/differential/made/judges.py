"""The resolvers: ours, and the judges, as the machine has them or as Debian's unstable archive has them.

SPDX-License-Identifier: BSD-3-Clause
"""

import base64
import contextlib
import os
import shutil
import signal
import socket
import struct
import subprocess
import time

from . import wire

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.join(HERE, "..", "..", "..")
PACKAGES = {"unbound": "unbound", "bind": "bind9", "powerdns": "pdns-recursor", "knot": "knot-resolver6"}
PROGRAMS = {"unbound": "unbound", "bind": "named", "powerdns": "pdns_recursor", "knot": "kresd"}

UNBOUND = """server:
    interface: 127.0.0.1
    port: %(port)d
    num-threads: 1
    do-ip6: no
    do-not-query-localhost: no
    root-hints: "%(hints)s"
    module-config: "validator iterator"
    trust-anchor-file: "%(anchor)s"
    trust-anchor-signaling: no
    username: ""
    chroot: ""
    directory: "%(dir)s"
    pidfile: ""
    use-syslog: no
    logfile: ""
    ede: yes
    max-udp-size: 4096
remote-control:
    control-enable: no
"""
BIND = """options {
    directory "%(dir)s";
    pid-file none; session-keyfile none;
    listen-on port %(port)d { 127.0.0.1; };
    listen-on-v6 { none; };
    query-source address *;
    recursion yes; allow-query { any; }; allow-recursion { any; };
    dnssec-validation yes;
    max-udp-size 4096;
    empty-zones-enable no;
};
controls { };
trust-anchors { . static-key %(key)s; };
zone "." { type hint; file "%(hints)s"; };
"""
POWERDNS = """recursor:
  config_dir: %(dir)s
  socket_dir: %(dir)s
  hint_file: %(hints)s
  security_poll_suffix: ''
  threads: 1
incoming:
  listen: ['127.0.0.1:%(port)d']
  allow_from: ['127.0.0.0/8']
  udp_truncation_threshold: 4096
outgoing:
  dont_query: []
dnssec:
  validation: validate
  trustanchors:
  - name: .
    dsrecords: ['%(ds)s']
logging:
  loglevel: 3
webservice:
  webserver: false
"""
POWERDNS_OLD = """config-dir=%(dir)s
socket-dir=%(dir)s
hint-file=%(hints)s
security-poll-suffix=
threads=1
local-address=127.0.0.1:%(port)d
allow-from=127.0.0.0/8
udp-truncation-threshold=4096
dont-query=
dnssec=validate
lua-config-file=%(dir)s/powerdns.lua
disable-syslog=yes
webserver=no
"""
KNOT = """net.listen('127.0.0.1', %(port)d, { kind = 'dns' })
net.ipv6 = false
cache.open(20 * MB, 'lmdb://%(dir)s/knot-cache')
for _, name in ipairs({ 'ta_signal_query', 'ta_update', 'ta_sentinel', 'priming' }) do pcall(modules.unload, name) end
modules.load('hints > iterate')
hints.root_file('%(hints)s')
trust_anchors.add('. IN DNSKEY %(key_plain)s')
net.bufsize(4096, 1232)
"""


class Missing(Exception):
    """That judge is not to be had."""


def unstable_root(packages):
    """The folder with Debian unstable that contrib/lib/release.sh makes or finds, with these packages; None if it cannot be."""
    script = 'set -u; top=$1; shift; . "$top/contrib/lib/setup.sh"; . "$top/contrib/lib/release.sh"; release_root unstable "$@" >&2 && printf %s "$release_folder"'
    out = subprocess.run(["bash", "-c", script, "differential", os.path.realpath(TOP), *packages], stdout=subprocess.PIPE, text=True, check=False)
    return out.stdout if out.returncode == 0 else None


def find(name, root):
    """The judge's program, in that root or on this machine; None: it is not to be had."""
    if root:
        return next((at + PROGRAMS[name] for at in ("/usr/sbin/", "/usr/bin/") if os.path.exists(root + at + PROGRAMS[name])), None)
    return shutil.which(PROGRAMS[name], path="/usr/sbin:/usr/local/sbin:/usr/bin")


class Judge:
    """One resolver: started, asked (see Client), stopped."""

    def __init__(self, name, folder, program=None, root=None):
        self.name, self.folder, self.root = name, os.path.join(folder, name), root
        self.program = program or find(name, root)
        if not self.program:
            raise Missing(PROGRAMS[name])
        self.port, self.process = None, None

    def version(self):
        ask = {"unbound": "-V", "bind": "-v", "powerdns": "--version", "knot": "--version"}.get(self.name, "-V")
        out = subprocess.run(([shutil.which("chroot") or "/usr/sbin/chroot", self.root] if self.root else []) + [self.program, ask],
                             capture_output=True, text=True, check=False)
        lines = (out.stdout + out.stderr).strip().split("\n")
        return next((w for line in lines for w in line.replace("-Debian", "").split() if w[:1].isdigit() and "." in w), "?")

    def command(self, conf):
        way = {"bind": ["-g", "-4", "-n", "1", "-c", conf], "knot": ["-n", "-c", conf, self.folder],
               "powerdns": ["--config-dir=" + self.folder, "--daemon=no"] if self.name == "powerdns" else []}.get(self.name, ["-d", "-c", conf])
        return [self.program, *way]

    def write(self, world):
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        os.chmod(self.folder, 0o755)
        key = world.anchor()
        flags, protocol, algorithm = struct.unpack("!HBB", key.rdata[:4])
        public = base64.b64encode(key.rdata[4:]).decode()
        ds = key.ds()
        facts = {"dir": self.folder, "port": self.port, "hints": os.path.join(self.folder, "root.hints"), "anchor": os.path.join(self.folder, "root.key"),
                 "key": '%d %d %d "%s"' % (flags, protocol, algorithm, public), "key_plain": "%d %d %d %s" % (flags, protocol, algorithm, public),
                 "ds": "%d %d %d %s" % (*struct.unpack("!HBB", ds[:4]), ds[4:].hex())}
        with open(facts["hints"], "w", encoding="ascii") as f:
            for i, address in enumerate(world.hints()):
                f.write(". 3600000 IN NS ns%d.\nns%d. 3600000 IN A %s\n" % (i + 1, i + 1, address))
        with open(facts["anchor"], "w", encoding="ascii") as f:
            f.write(". 3600 IN DNSKEY %s\n" % facts["key_plain"])
        text, file = {"bind": (BIND, "named.conf"), "knot": (KNOT, "kresd.lua"), "powerdns": (POWERDNS, "recursor.yml")}.get(
            self.name, (UNBOUND, "unbound.conf"))
        if self.name == "powerdns" and self.version() < "5":
            text, file = POWERDNS_OLD, "recursor.conf"
            with open(os.path.join(self.folder, "powerdns.lua"), "w", encoding="ascii") as f:
                f.write('clearTA()\naddTA(".", "%s")\n' % facts["ds"])
        conf = os.path.join(self.folder, file)
        with open(conf, "w", encoding="ascii") as f:
            f.write(text % facts)
        return conf

    def start(self, world):
        self.port = free_port()
        command = self.command(self.write(world))
        if self.root:
            # Its folder is seen in there at the same path; both mounts are this command's alone.
            command = ["unshare", "-m", "sh", "-c", 'mkdir -p "$1$2" && mount --bind "$2" "$1$2" && mount -t proc proc "$1/proc" && mkdir -p "$1/run/knot-resolver" && '
                       'root=$1 at=$2 && shift 2 && exec chroot "$root" env -C "$at" "$@"', "sh", self.root, self.folder, *command]
        with open(os.path.join(self.folder, "log"), "wb") as log:
            self.process = subprocess.Popen(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)

    def wait(self):
        """Until it answers anything."""
        probe = wire.query(1, (b"id", b"server"), 16, wire.RD, None)
        deadline = time.monotonic() + 30
        with socket.socket(type=socket.SOCK_DGRAM) as s:
            s.settimeout(0.2)
            s.connect(("127.0.0.1", self.port))
            while time.monotonic() < deadline:
                if self.process.poll() is not None:
                    break
                with contextlib.suppress(OSError):
                    s.send(probe)
                    s.recv(4096)
                    return
                time.sleep(0.03)
        raise SystemExit("%s does not answer:\n%s" % (self.name, self.log()[-3000:]))

    def log(self):
        with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as f:
            return f.read()

    def stop(self):
        """Its exit code."""
        if not self.process:
            return 0
        self.process.terminate()
        try:
            return self.process.wait(5)
        except subprocess.TimeoutExpired:
            # Its session is its own; nobody else is in it.
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(5)
            return "killed"


def free_port():
    with socket.socket() as tcp, socket.socket(type=socket.SOCK_DGRAM) as udp:
        while True:
            udp.close()
            udp.__init__(type=socket.SOCK_DGRAM)
            udp.bind(("127.0.0.1", 0))
            port = udp.getsockname()[1]
            with contextlib.suppress(OSError):
                tcp.bind(("127.0.0.1", port))
                return port
