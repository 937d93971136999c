"""The resolvers that are compared: how each is configured and started.

SPDX-License-Identifier: BSD-3-Clause

Every peer is one server process with one worker, no query log, the same memory for its cache, its
own defaults for the rest. A peer's function writes what it needs into the folder it is given and
returns the command to run.
"""

import dataclasses
import os


@dataclasses.dataclass
class Scene:
    """What a peer is to be: where it lives, what it listens to, whether it validates."""
    folder: str
    net: str            # the miniature internet's folder
    build: str          # where resolverd was built
    port: int
    validate: bool = False
    cache_mb: int = 400
    small: bool = False  # as little memory as its configuration allows
    upstream: int = 0   # port of a resolver, for those that only forward

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="ascii") as f:
            f.write(text)
        return self.path(name)


UNBOUND = """server:
	interface: 127.0.0.1@%(port)d
	port: %(port)d
	access-control: 127.0.0.0/8 allow
	do-ip6: no
	do-daemonize: no
	use-syslog: no
	logfile: "%(folder)s/log"
	username: ""
	chroot: ""
	directory: "%(folder)s"
	pidfile: "%(folder)s/pid"
	num-threads: 1
	verbosity: 0
	msg-cache-size: %(msg)s
	rrset-cache-size: %(rrset)s
	root-hints: "%(net)s/root.hints"
	do-not-query-localhost: no
	module-config: "%(modules)s"
%(anchor)s
remote-control:
	control-enable: no
"""


def _unbound_file(s):
    return s.write("conf", UNBOUND % {
        "port": s.port, "folder": s.folder, "net": s.net,
        "msg": "1m" if s.small else "%dm" % s.cache_mb,
        "rrset": "1m" if s.small else "%dm" % (2 * s.cache_mb),
        "modules": "validator iterator" if s.validate else "iterator",
        "anchor": '\ttrust-anchor-file: "%s/root.key"' % s.net if s.validate else ""})


def resolverd(s):
    return [os.path.join(s.build, "resolverd"), "-d", "-c", _unbound_file(s)]


def unbound(s):
    return ["unbound", "-d", "-c", _unbound_file(s)]


def knot(s):
    lines = [
        "net.ipv6 = false",
        "net.listen('127.0.0.1', %d, { kind = 'dns' })" % s.port,
        "modules = { 'hints > iterate' }",
        "hints.root_file('%s/root.hints')" % s.net,
        "cache.size = %d * MB" % (10 if s.small else s.cache_mb),
        "modules.unload('ta_update')", "modules.unload('ta_signal_query')",
        "modules.unload('priming')", "modules.unload('detect_time_jump')",
        "modules.unload('detect_time_skew')",
        "trust_anchors.add_file('%s/root.key', true)" % s.net if s.validate
        else "trust_anchors.remove('.')",
    ]
    s.write("conf", "\n".join(lines) + "\n")
    return ["kresd", "-n", "-q", "-c", s.path("conf"), s.folder]


def powerdns(s):
    with open(os.path.join(s.net, "root.key"), encoding="ascii") as f:
        s.write("root.key", f.read())
    s.write("anchors.lua", 'readTrustAnchorsFromFile("%s")\n' % s.path("root.key") if s.validate
            else "clearTA()\n")
    s.write("recursor.conf", "\n".join([
        "local-address=127.0.0.1", "local-port=%d" % s.port, "threads=1",
        "pdns-distributes-queries=no", "hint-file=%s/root.hints" % s.net, "dont-query=",
        "dnssec=%s" % ("validate" if s.validate else "off"),
        "lua-config-file=" + s.path("anchors.lua"), "allow-from=127.0.0.0/8", "quiet=yes",
        "loglevel=3", "disable-syslog=yes", "socket-dir=" + s.folder, "write-pid=no",
        "security-poll-suffix=", "setuid=", "setgid=", "export-etc-hosts=no", "serve-rfc1918=no",
        "max-cache-entries=%d" % (2000 if s.small else 2500 * s.cache_mb),
        "max-packetcache-entries=%d" % (2000 if s.small else 2500 * s.cache_mb)]) + "\n")
    return ["pdns_recursor", "--daemon=no", "--config-dir=" + s.folder]


def bind(s):
    anchor = ""
    if s.validate:
        with open(os.path.join(s.net, "root.key"), encoding="ascii") as f:
            flags, proto, algorithm, key = f.read().split()[4:8]
        anchor = 'trust-anchors { . static-key %s %s %s "%s"; };\n' % (flags, proto, algorithm, key)
    s.write("conf", """options {
	directory "%(folder)s";
	pid-file "%(folder)s/pid";
	session-keyfile "%(folder)s/session";
	managed-keys-directory "%(folder)s";
	listen-on port %(port)d { 127.0.0.1; };
	listen-on-v6 { none; };
	allow-query { any; };
	recursion yes;
	recursive-clients 10000;
	empty-zones-enable no;
	dnssec-validation %(validate)s;
	max-cache-size %(cache)dM;
};
controls { };
logging { category default { null; }; };
%(anchor)szone "." { type hint; file "%(net)s/root.hints"; };
""" % {"folder": s.folder, "port": s.port, "net": s.net, "anchor": anchor,
       "validate": "yes" if s.validate else "no", "cache": 2 if s.small else 3 * s.cache_mb})
    return ["named", "-4", "-f", "-n", "1", "-c", s.path("conf")]


def dnsmasq(s):
    return ["dnsmasq", "--no-daemon", "--conf-file=/dev/null", "--user=root", "--port=%d" % s.port,
            "--listen-address=127.0.0.1", "--bind-interfaces", "--no-resolv", "--no-hosts",
            "--server=127.0.0.1#%d" % s.upstream, "--cache-size=%d" % (150 if s.small else 10000),
            "--dns-forward-max=2000", "--pid-file=" + s.path("pid")]


# name: how to start it, Debian's package, the command that tells its version
PEERS = {
    "resolverd": (resolverd, None, None),
    "unbound": (unbound, "unbound", ["unbound", "-V"]),
    "knot": (knot, "knot-resolver", ["kresd", "-V"]),
    "powerdns": (powerdns, "pdns-recursor", ["pdns_recursor", "--version"]),
    "bind": (bind, "bind9", ["named", "-v"]),
    "dnsmasq": (dnsmasq, "dnsmasq-base", ["dnsmasq", "--version"]),
}
FORWARDERS = ("dnsmasq",)
