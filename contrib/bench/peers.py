"""The resolvers that are compared: how each is configured and started, and in which system it lives.

SPDX-License-Identifier: BSD-3-Clause

Every peer is one server process with one worker, no query log, the same memory for its cache, its
own defaults for the rest. A peer's function writes what it needs into the folder it is given and
returns the command to run. It is not called for what it cannot (`PEERS`).
"""

import ctypes
import dataclasses
import os
import subprocess
import tempfile

import questions

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


@dataclasses.dataclass
class Scene:
    """What a peer is to be: where it lives, what it listens to, whom it asks, what it blocks."""
    folder: str
    net: str            # the miniature internet's folder
    build: str          # where resolverd was built
    port: int
    validate: bool = False
    cache_mb: int = 400
    small: bool = False     # as little memory as its configuration allows
    threads: int = 1
    tls_port: int = 0       # also DNS over TLS there
    https_port: int = 0     # also DNS over HTTPS there
    forward: int = 0        # port of a resolver at 127.0.0.1 that is asked for everything
    forward_tls: bool = False
    blocked: str = ""       # how the blocked names are written: lines, rpz or list
    slow_port: int = 0      # slow zones are asked at this port and those after it
    control: bool = False   # a control socket, folder/control
    cache_file: bool = False  # folder/cache is written at the end and read at the start, which the log tells
    serve_all: bool = False  # answers any name from its own configuration
    prefetch: bool = False   # popular names are fetched anew ahead of time, as its manual advises
    more: str = ""           # lines of an unbound.conf

    def path(self, name):
        return os.path.join(self.folder, name)

    def of_net(self, name):
        return os.path.join(self.net, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="ascii") as f:
            f.write(text)
        return self.path(name)


# -- Unbound's form, which resolverd reads too ----------------------------------------------------

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
	num-threads: %(threads)d
	verbosity: 0
	msg-cache-size: %(msg)s
	rrset-cache-size: %(rrset)s
	root-hints: "%(net)s/root.hints"
	do-not-query-localhost: no
	module-config: "%(modules)s"
"""


def _unbound_file(s):
    modules = "validator iterator" if s.validate else "iterator"
    text = UNBOUND % {
        "port": s.port, "folder": s.folder, "net": s.net, "threads": s.threads,
        "msg": "1m" if s.small else "%dm" % s.cache_mb,
        "rrset": "1m" if s.small else "%dm" % (2 * s.cache_mb),
        "modules": "respip " + modules if s.blocked == "rpz" else modules}

    def add(line, *values):
        nonlocal text
        text += "\t" + line % values + "\n"
    if s.validate:
        add('trust-anchor-file: "%s/root.key"', s.net)
    for port, option in ((s.tls_port, "tls-port"), (s.https_port, "https-port")):
        if port:
            add("interface: 127.0.0.1@%d", port)
            add("%s: %d", option, port)
    if s.tls_port or s.https_port:
        add('tls-service-key: "%s"', s.of_net("tls.key"))
        add('tls-service-pem: "%s"', s.of_net("tls.pem"))
        add("incoming-num-tcp: 3000")
    if s.prefetch:
        add("prefetch: yes")
    if s.serve_all:
        add('local-zone: "." redirect')
        add('local-data: ". 3600 A 192.0.2.1"')
    if s.forward_tls:
        add('tls-cert-bundle: "%s"', s.of_net("tls.pem"))
    if s.slow_port:
        # So many wait at once: a tenth of the questions, for 200 ms.
        add("num-queries-per-thread: 8192")
        add("outgoing-range: 8192")
        # Else wildcards would answer from the cache.
        add("aggressive-nsec: no")
    if s.control:
        add("extended-statistics: yes")
    if s.cache_file:
        add('cache-file: "%s"', s.path("cache"))
        add("cache-file-interval: 0")
        add("verbosity: 1")
    if s.blocked == "lines":
        text += 'include: "%s"\n' % s.of_net("blocked.lines")
    if s.blocked == "list":
        add('blocklist-directory: "%s"', s.path("lists"))
    text += "remote-control:\n"
    add("control-enable: %s", "yes" if s.control else "no")
    if s.control:
        add('control-interface: "%s"', s.path("control"))
        add("control-use-cert: no")
    if s.forward:
        text += 'forward-zone:\n\tname: "."\n'
        add("forward-addr: 127.0.0.1@%d%s", s.forward, "#" + questions.TLS_NAME if s.forward_tls else "")
        if s.forward_tls:
            add("forward-tls-upstream: yes")
    if s.slow_port:
        pairs = questions.slow_zones(s.net)
        servers = sorted({address for _, address in pairs})
        for zone, address in pairs:
            text += 'stub-zone:\n\tname: "%s"\n\tstub-addr: 127.0.0.1@%d\n' % (
                zone, s.slow_port + servers.index(address))
    if s.blocked == "rpz":
        text += 'rpz:\n\tname: "rpz.bench"\n\tzonefile: "%s"\n' % s.of_net("blocked.rpz")
    if s.blocked == "list":
        text += 'blocklist:\n\tname: "bench"\n\tfile: "%s"\n' % s.of_net("blocked.names")
    return s.write("conf", text + s.more)


def resolverd(s):
    return [os.path.join(s.build, "resolverd"), "-d", "-c", _unbound_file(s)]


def unbound(s):
    path = _unbound_file(s)
    if not s.slow_port and not s.small:
        # Its manual on optimising: with libevent so many sockets, and half as many queries.
        with open(path, "a", encoding="ascii") as f:
            f.write("server:\n\toutgoing-range: 8192\n\tnum-queries-per-thread: 4096\n")
    return ["unbound", "-d", "-c", path]


# -- the others -----------------------------------------------------------------------------------

def knot(s):
    lines = [
        "net.ipv6 = false", "option('ALLOW_LOCAL', true)",
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
    if s.prefetch:
        # What its manual shows: samples of 15 minutes, six hours kept.
        lines.append("modules = { predict = { window = 15, period = 6 * (60 / 15) } }")
    if s.tls_port or s.https_port:
        lines.append("net.tls('%s', '%s')" % (s.of_net("tls.pem"), s.of_net("tls.key")))
    if s.tls_port:
        lines.append("net.listen('127.0.0.1', %d, { kind = 'tls' })" % s.tls_port)
    if s.https_port:
        lines.append("net.listen('127.0.0.1', %d, { kind = 'doh2' })" % s.https_port)
    if s.blocked:
        lines.append("policy.add(policy.rpz(policy.DENY, '%s', false))" % s.of_net("blocked.rpz"))
    if s.forward_tls:
        lines.append("policy.add(policy.all(policy.TLS_FORWARD({{'127.0.0.1@%d', hostname = '%s', ca_file = '%s'}})))"
                     % (s.forward, questions.TLS_NAME, s.of_net("tls.pem")))
    elif s.forward:
        lines.append("policy.add(policy.all(policy.FORWARD({'127.0.0.1@%d'})))" % s.forward)
    s.write("conf", "\n".join(lines) + "\n")
    return ["kresd", "-n", "-q", "-c", s.path("conf"), s.folder]


def powerdns(s):
    with open(s.of_net("root.key"), encoding="ascii") as f:
        s.write("root.key", f.read())
    lua = 'readTrustAnchorsFromFile("%s")\n' % s.path("root.key") if s.validate else "clearTA()\n"
    if s.blocked:
        lua += 'rpzFile("%s", {defpol=Policy.NXDOMAIN, policyName="bench"})\n' % s.of_net("blocked.rpz")
    s.write("anchors.lua", lua)
    lines = [
        "local-address=127.0.0.1", "local-port=%d" % s.port, "threads=%d" % s.threads,
        "pdns-distributes-queries=no", "hint-file=%s/root.hints" % s.net, "dont-query=",
        "dnssec=%s" % ("validate" if s.validate else "off"),
        "lua-config-file=" + s.path("anchors.lua"), "allow-from=127.0.0.0/8", "quiet=yes",
        "loglevel=3", "disable-syslog=yes", "socket-dir=" + s.folder, "write-pid=no",
        "security-poll-suffix=", "setuid=", "setgid=", "export-etc-hosts=no", "serve-rfc1918=no",
        "max-cache-entries=%d" % (2000 if s.small else 2500 * s.cache_mb),
        "max-packetcache-entries=%d" % (2000 if s.small else 2500 * s.cache_mb)]
    if s.prefetch:
        # Typical, says its manual.
        lines.append("refresh-on-ttl-perc=10")
    if s.forward:
        lines.append("forward-zones-recurse=.=127.0.0.1:%d" % s.forward)
    if s.forward_tls:
        lines.append("dot-to-port-853=yes")
    s.write("recursor.conf", "\n".join(lines) + "\n")
    # Since 5.2 the settings are YAML, or these when that is said.
    old = ["--enable-old-settings"] if ROOT else []
    return ["pdns_recursor", *old, "--daemon=no", "--config-dir=" + s.folder]


BIND = """options {
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
%(more)s};
controls { };
logging { category default { null; }; };
%(clauses)s"""


def bind(s):
    clauses = more = ""
    if s.validate:
        with open(s.of_net("root.key"), encoding="ascii") as f:
            flags, proto, algorithm, key = f.read().split()[4:8]
        clauses += 'trust-anchors { . static-key %s %s %s "%s"; };\n' % (flags, proto, algorithm, key)
    if s.tls_port or s.https_port:
        clauses += 'tls bench { cert-file "%s"; key-file "%s"; };\n' % (s.of_net("tls.pem"), s.of_net("tls.key"))
    if s.tls_port:
        more += "\tlisten-on port %d tls bench { 127.0.0.1; };\n" % s.tls_port
    if s.https_port:
        clauses += 'http bench { endpoints { "/dns-query"; }; };\n'
        more += "\tlisten-on port %d tls bench http bench { 127.0.0.1; };\n" % s.https_port
    if s.forward:
        more += "\tforward only;\n\tforwarders port %d { 127.0.0.1; };\n" % s.forward
    else:
        clauses += 'zone "." { type hint; file "%s"; };\n' % s.of_net("root.hints")
    if s.blocked:
        more += '\tresponse-policy { zone "rpz.bench" policy nxdomain; } qname-wait-recurse no;\n'
        clauses += 'zone "rpz.bench" { type primary; file "%s"; };\n' % s.of_net("blocked.rpz")
    s.write("conf", BIND % {"folder": s.folder, "port": s.port, "more": more, "clauses": clauses,
                            "validate": "yes" if s.validate else "no",
                            "cache": 2 if s.small else 3 * s.cache_mb})
    return ["named", "-4", "-f", "-n", str(s.threads), "-c", s.path("conf")]


def dnsmasq(s):
    conf = s.of_net("blocked.dnsmasq") if s.blocked else "/dev/null"
    return ["dnsmasq", "--keep-in-foreground", "--conf-file=" + conf,
            "--user=root", "--port=%d" % s.port, "--listen-address=127.0.0.1", "--bind-interfaces", "--no-resolv",
            "--no-hosts", "--server=127.0.0.1#%d" % s.forward, "--cache-size=%d" % (150 if s.small else 10000),
            "--dns-forward-max=2000", "--pid-file=" + s.path("pid")]


# What not every peer can.
RECURSE, TLS, HTTPS, FORWARD_TLS = "recurse", "tls", "https", "forward-tls"


@dataclasses.dataclass(frozen=True)
class Peer:
    start: object
    package: str        # Debian's
    version: list       # the command that tells it
    can: frozenset
    forms: tuple        # of blocked names
    of_connection: int = 0  # questions that it answers over one TCP connection, if not any number
    note: str = ""      # where it could be doing better than this configuration lets it


PEERS = {
    "resolverd": Peer(resolverd, "", [], frozenset((RECURSE, TLS, HTTPS, FORWARD_TLS)), ("list", "lines", "rpz")),
    "unbound": Peer(unbound, "unbound", ["unbound", "-V"], frozenset((RECURSE, TLS, HTTPS, FORWARD_TLS)),
                    ("lines", "rpz"), note="prefetch (but in W14), serve-expired and fast-server-permil are off, as they are "
                    "when nothing is said; its discard-timeout (1,900 ms) drops a slow question until it is asked again."),
    "knot": Peer(knot, "knot-resolver", ["kresd", "-V"], frozenset((RECURSE, TLS, HTTPS, FORWARD_TLS)), ("rpz",),
                 note="its manual advises a cache on tmpfs, and here it lies on a disk; the prediction module is off "
                 "(but in W14), priming too. It is started without its manager, as its worker is."),
    "powerdns": Peer(powerdns, "pdns-recursor", ["pdns_recursor", "--version"], frozenset((RECURSE, FORWARD_TLS)),
                     ("rpz",), note="distributor threads are none with one worker; its packet cache is as large as "
                     "its record cache; refresh-on-ttl-perc is off (but in W14), as it is when nothing "
                     "is said."),
    "bind": Peer(bind, "bind9", ["named", "-v"], frozenset((RECURSE, TLS, HTTPS)), ("rpz",),
                 note="its memory is limited, not left at nine tenths of the machine's; prefetch is on, as it is when "
                 "nothing is said."),
    "dnsmasq": Peer(dnsmasq, "dnsmasq-base", ["dnsmasq", "--version"], frozenset(), ("lines",), 100,
                    note="it forwards to a resolverd on the other core; no-negcache and max-ttl are left alone."),
}


# -- the system they live in ------------------------------------------------------------------------

ROOT = ""       # a folder with Debian unstable: every peer but resolverd is the one in there
# What has another name there than here.
PACKAGES = {"knot-resolver": "knot-resolver6"}


def packages(names):
    """Of Debian unstable."""
    return [PACKAGES.get(p, p) for p in (PEERS[n].package for n in names) if p]


def enter_root(root, *folders):
    """From now on rivals come from there. It sees the project and these folders at their own paths, in a mount
    namespace that ends with this process."""
    global ROOT
    if ctypes.CDLL(None, use_errno=True).unshare(0x20000): # CLONE_NEWNS
        raise OSError(ctypes.get_errno(), "unshare")
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    for folder in sorted({TOP, "/dev", "/proc", "/tmp", *folders}):
        os.makedirs(root + folder, exist_ok=True)
        subprocess.run(["mount", "--bind", folder, root + folder], check=True)
    ROOT = root


def root_of(name):
    return ROOT if PEERS[name].package else ""


def configuration(name, net):
    """What it is started with where it validates, as text: its command, and the files that were written for it."""
    with tempfile.TemporaryDirectory() as folder:
        command = PEERS[name].start(Scene(folder=folder, net=net, build="", port=53, validate=True, forward=0
                                          if RECURSE in PEERS[name].can else 5392))
        text = " ".join(command) + "\n"
        for file in sorted(set(os.listdir(folder)) - {"root.key"}):
            with open(os.path.join(folder, file), encoding="ascii") as f:
                text += "\n# " + file + "\n" + f.read()
        return text.replace(folder, "DIR").replace(net, "NET").rstrip()
