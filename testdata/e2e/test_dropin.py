"""In the place of Unbound: what firewalls, distributions and their scripts rely on, under Unbound's names.

SPDX-License-Identifier: BSD-3-Clause

What they do over the control channel is claimed in test_commands.py and test_control*.py, what a
service manager sees in test_manager.py, and what is installed where in contrib/tests/names.sh.
"""

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess

import pytest

from lab import Daemon, is_root, rcode, texts, until

NAMES = {"resolverd": "unbound", "resolver-anchor": "unbound-anchor", "resolver-checkconf": "unbound-checkconf",
         "resolver-control": "unbound-control", "resolver-control-setup": "unbound-control-setup",
         "resolver-host": "unbound-host"}
DEBIANS = "/usr/sbin/unbound-checkconf"
root_only = pytest.mark.skipif(not is_root(), reason="only root can change its root")


@pytest.fixture(scope="module")
def bin_unbound(bin_dir, tmp_path_factory):
    """A folder with the programs under Unbound's names."""
    folder = tmp_path_factory.mktemp("bin")
    os.chmod(folder, 0o755)
    for ours, theirs in NAMES.items():
        shutil.copy2(os.path.join(bin_dir, ours), folder / theirs)
    return str(folder)


class Unbound(Daemon):
    def program(self, name):
        return os.path.join(self.bin, NAMES[name])


@pytest.fixture
def unbound(bin_unbound, net):
    every = []

    def make(*server, **more):
        every.append(Unbound(bin_unbound, net, server, **more))
        return every[-1]
    yield make
    for d in every:
        if d.alive():
            d.stop()
        shutil.rmtree(d.dir, ignore_errors=True)


def run(*words, **more):
    return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30, check=False,
                          **more)


# ---- who it is ----


def test_scripts_find_it_by_its_name(unbound):
    """pfSense and IPFire look for the process, OpenWrt runs pidof."""
    d = unbound()
    d.start()
    pid = d.process.pid
    with open("/proc/%d/comm" % pid, encoding="ascii") as f:
        assert f.read() == "unbound\n"
    for finder in (["pidof", "unbound"], ["pgrep", "-x", "unbound"]):
        if shutil.which(finder[0]):
            assert str(pid) in run(*finder).stdout.split(), finder
    assert "unbound[%d:0]" % pid in d.log()
    assert d.stop() == 0


@pytest.mark.parametrize("pattern", [
    r"^Version \d+\.\d+\.\d+", r"^Configure line: ", r"^Linked libs: .*\blibevent\b", r"^Linked libs: .*\bOpenSSL\b",
    r"^Linked modules: .*\bvalidator iterator$",
])
def test_its_version_text_has_what_is_looked_for(bin_unbound, pattern):
    p = run(bin_unbound + "/unbound", "-V")
    assert p.returncode == 0 and re.search(pattern, p.stdout, re.M), p.stdout


@pytest.mark.parametrize("program", sorted(NAMES.values()))
def test_every_program_gives_help_under_its_name(bin_unbound, program):
    """OpenWrt's smoke test of each package."""
    p = run(os.path.join(bin_unbound, program), "-h")
    assert p.returncode in (0, 1)
    assert re.search(r"(?i)usage:\s+%s\b" % program, p.stdout), p.stdout
    assert "resolver-" not in p.stdout.split("\n")[0]


# ---- how it is started ----


def in_jail(d, *server):
    """As both firewalls have it: everything below the chroot, whole paths in every option, the pid
    file outside."""
    jail = os.path.join(d.dir, "var/unbound")
    os.makedirs(jail + "/etc")
    os.chmod(d.dir, 0o755)
    shutil.copy(os.path.join(d.net, "root.hints"), jail)
    d.conf = jail + "/unbound.conf"
    keep = [x for x in d.fixed if not x.startswith(("chroot:", "directory:", "root-hints:", "use-syslog:"))]
    d.fixed = [*keep, 'chroot: "%s"' % jail, 'directory: "%s"' % jail, 'root-hints: "%s/root.hints"' % jail, *server]
    d.configure()
    return jail


@root_only
def test_as_firewalls_start_it(unbound):
    """In the background, locked in, told by whole paths; the pid file is there when the parent returns."""
    d = unbound()
    jail = in_jail(d)
    with open(jail + "/etc/more.conf", "w", encoding="ascii") as f:
        f.write('server:\nlocal-data: "printer.lan. A 192.0.2.9"\n')
    d.fixed += ['logfile: "%s/log"' % jail, 'include: "%s/etc/*.conf"' % jail]
    d.configure()
    assert run(d.program("resolver-checkconf"), d.conf).returncode == 0
    p = run(d.program("resolverd"), "-c", d.conf)
    assert p.returncode == 0, p.stderr
    with open(d.pidfile, encoding="ascii") as f:
        pid = int(f.read())
    try:
        assert os.readlink("/proc/%d/root" % pid) == jail
        assert texts(d.ask("printer.lan.")) == ["192.0.2.9"]
        assert texts(d.ask("target.chain.mini.")) == ["198.18.0.40"]
        with open(jail + "/etc/more.conf", "w", encoding="ascii") as f:
            f.write('server:\nlocal-data: "printer.lan. A 192.0.2.10"\n')
        with d.misses(0):
            os.kill(pid, signal.SIGHUP)
            until(lambda: texts(d.ask("printer.lan.")) == ["192.0.2.10"])
            assert texts(d.ask("target.chain.mini.")) == ["198.18.0.40"]
        assert d.control("get_option", "pidfile") == d.pidfile + "\n"
    finally:
        os.kill(pid, signal.SIGTERM)
        until(lambda: not os.path.exists("/proc/%d" % pid), 30)
    with open(jail + "/log", encoding="utf-8") as f:
        log = f.read()
    assert "service stopped" in log and "error" not in log, log
    # SIGTERM of a second stop finds nobody.
    assert not os.path.exists(d.pidfile) or os.path.getsize(d.pidfile) == 0


@root_only
def test_its_lines_reach_syslog_from_inside_a_chroot(unbound):
    """Also those of a reload and of the end, although /dev/log is not inside."""
    d = unbound()
    in_jail(d, "use-syslog: yes", "log-queries: yes", "log-replies: yes", "log-tag-queryreply: yes")
    d.configure()
    heard = []
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as log:
        log.bind(d.dir + "/log")
        os.chmod(d.dir + "/log", 0o777)
        log.settimeout(0.1)

        def hears(word):
            with contextlib.suppress(TimeoutError):
                while True:
                    heard.append(log.recv(8192).decode())
            return any(re.search(word, line) for line in heard)
        # A /dev of its own, with just what a daemon may want of it.
        script = ('mount -t tmpfs tmpfs /dev && for n in null:3 urandom:9 random:8; do '
                  'mknod -m 666 /dev/${n%%:*} c 1 ${n##*:}; done && ln -s "$1/log" /dev/log && shift && exec "$@"')
        if run("unshare", "-m", "sh", "-c", script, "sh", d.dir, "test", "-S", "/dev/log").returncode:
            pytest.skip("no mount namespace to be had")
        d.log_file = open(d.logfile, "ab")
        d.process = subprocess.Popen(["unshare", "-m", "sh", "-c", script, "sh", d.dir, d.program("resolverd"), "-d",
                                      "-c", d.conf], env=d.surroundings(), stdin=subprocess.DEVNULL,
                                     stdout=d.log_file, stderr=d.log_file)
        d.wait_ready()
        until(lambda: hears(r"unbound(\[\d+\])?: \[\d+:0\] notice: start of service"))
        d.ask("target.chain.mini.")
        # of daemons (3), informational (6): RFC 5424 section 6.2.1
        until(lambda: hears(r"^<30>.*\] query: 127\.0\.0\.1 target\.chain\.mini\. A IN$"))
        until(lambda: hears(r"^<30>.*\] reply: 127\.0\.0\.1 target\.chain\.mini\. A IN NOERROR"))
        d.process.send_signal(signal.SIGHUP)
        until(lambda: hears(r"unbound.*reloaded"))
        assert d.stop() == 0
        until(lambda: hears(r"unbound.*service stopped") or hears("stopp"))


def test_a_pidfile_of_no_name_is_none(unbound):
    """NixOS."""
    d = unbound()
    d.fixed = ['pidfile: ""' if x.startswith("pidfile:") else x for x in d.fixed]
    d.configure()
    d.start()
    assert d.stop() == 0 and not os.path.exists(d.pidfile)


# ---- what is written for it ----

ROUTER = """\
server:
chroot: "%(dir)s"
username: ""
directory: "%(dir)s"
pidfile: "%(dir)s/unbound.pid"
root-hints: "%(dir)s/root.hints"
use-syslog: yes
port: 53
include: %(dir)s/advanced.conf
harden-referral-path: no
do-ip6: yes
module-config: "python dns64 validator iterator"
cache-max-ttl: 86400
statistics-interval: 0
extended-statistics: yes
access-control: 192.168.1.0/24 allow\x20
private-address: 10.0.0.0/8
include: %(dir)s/host_entries.conf
include: "%(dir)s/etc/*.conf"
python:
python-script: dnsbl_module.py
remote-control:
    control-enable: yes
    control-interface: 127.0.0.1
    control-port: 953
    control-use-cert: no
"""


def router_folder(folder):
    (folder / "etc").mkdir()
    (folder / "root.hints").write_text(". 3600000 NS a.root-servers.net.\na.root-servers.net. 3600000 A 198.41.0.4\n")
    (folder / "advanced.conf").write_text("server:\nhide-identity: yes\nprefetch: yes\n")
    (folder / "host_entries.conf").write_text('local-zone: "lan" transparent\nlocal-data-ptr: "192.0.2.1 a.lan"\n')
    conf = folder / "unbound.conf"
    conf.write_text(ROUTER % {"dir": folder})
    return conf


def test_a_file_as_firewalls_write_it(bin_unbound, tmp_path):
    """Options at column 0, includes in the middle, one of which says server: again, a Python clause."""
    conf = router_folder(tmp_path)
    p = run(bin_unbound + "/unbound-checkconf", str(conf))
    assert p.returncode == 0, p.stderr
    assert p.stdout == "unbound-checkconf: no errors in %s\n" % conf
    assert "Python" in p.stderr, "that there is no Python has to be said"


@pytest.mark.parametrize("include, code", [
    ('include: "%s/etc/*.conf"', 0), ('include-toplevel: "%s/etc/*.conf"', 0), ('include: "%s/none/*.conf"', 1),
    ('include: "%s/etc/one.conf"', 1),
])
def test_an_include_of_nothing(bin_unbound, tmp_path, include, code):
    """No match in a folder that is there is fine; a folder or file that is not there is an error."""
    (tmp_path / "etc").mkdir()
    conf = tmp_path / "unbound.conf"
    conf.write_text(("server:\n" if "top" not in include else "") + include % tmp_path + "\n")
    assert run(bin_unbound + "/unbound-checkconf", str(conf)).returncode == code


VALUES = ["chroot", "interface", "pidfile", "port", "access-control", "username", "directory", "logfile",
          "private-address", "nsid", "do-ip6", "cache-max-ttl", "control-port", "control-interface", "root-hints", "num-threads",
          "module-config", "verbosity", "forward-addr", "no-such-option"]


@pytest.mark.skipif(not os.path.exists(DEBIANS), reason="unbound is not installed")
@pytest.mark.parametrize("before", [True, False], ids=["option first", "file first"])
@pytest.mark.parametrize("flags", [[], ["-f"]], ids=["", "-f"])
def test_values_are_printed_as_scripts_read_them(bin_unbound, tmp_path, flags, before):
    """One a line and nothing else, as Debian's unbound does it, wherever the words stand."""
    conf = str(router_folder(tmp_path))
    for option in VALUES:
        words = [*flags, "-o", option]
        words = [*words, conf] if before else [conf, *words]
        theirs, ours = run(DEBIANS, *words), run(bin_unbound + "/unbound-checkconf", *words)
        assert (ours.returncode, ours.stdout) == (theirs.returncode, theirs.stdout), option


def test_a_wrong_file_is_told_of_before_it_is_used(bin_unbound, tmp_path):
    """pfSense checks a copy and shows the lines; Alpine asks with -f."""
    conf = router_folder(tmp_path)
    with open(conf, "a", encoding="ascii") as f:
        f.write("server:\nno-such-option: 1\n")
    for words in ([str(conf)], ["-f", str(conf)]):
        p = run(bin_unbound + "/unbound-checkconf", *words, cwd=tmp_path)
        assert p.returncode == 1
        assert re.search(r"%s:\d+: error: .*no-such-option" % re.escape(str(conf)), p.stderr), p.stderr


def test_a_long_file_of_names_is_checked_soon(bin_unbound, tmp_path):
    """A hundred thousand names took Unbound half a gigabyte."""
    conf = tmp_path / "unbound.conf"
    (tmp_path / "adb_list.overall").write_text(
        "".join('local-zone: "h%d.example%d.net" always_nxdomain\n' % (i, i % 977) for i in range(100000)))
    conf.write_text('server:\n chroot: ""\n username: ""\n include: "%s/adb_list.*"\n' % tmp_path)
    p = run("sh", "-c", "ulimit -v 400000; exec \"$@\"", "sh", bin_unbound + "/unbound-checkconf", str(conf))
    if "Sanitizer" in p.stderr:
        pytest.skip("a sanitizer wants all addresses there are")
    assert p.returncode == 0, p.stderr[-2000:]


# ---- its keys ----


def test_the_anchor_is_made_as_scripts_ask_for_it(bin_unbound, tmp_path):
    """OPNsense: -a FILE, and with forwarders -R -f RESOLV; 1 says that it was written, 0 that it is good."""
    key, resolv = tmp_path / "root.key", tmp_path / "resolv.conf"
    resolv.write_text("nameserver 192.0.2.1\n")
    for words, code in ((["-a", str(key)], 1), (["-a", str(key)], 0), (["-a", str(key), "-R", "-f", str(resolv)], 0)):
        assert run(bin_unbound + "/unbound-anchor", *words).returncode == code
    assert re.search(r"^\. .*\sDS\s+20326\s+8\s+2\s", key.read_text(), re.M)


def test_the_anchor_is_kept_in_unbounds_words(unbound):
    """pfSense looks for what the file calls itself, OpenWrt for a key that is valid."""
    d = unbound(module="validator iterator", hints=True)
    key = os.path.join(d.dir, "root.key")
    with open(os.path.join(d.net, "root.key"), encoding="ascii") as f, open(key, "w", encoding="ascii") as to:
        to.write(f.read())
    d.configure(['auto-trust-anchor-file: "%s"' % key])
    d.start()
    assert rcode(d.ask("target.chain.mini.")) == "NOERROR"

    def is_valid():
        with open(key, encoding="ascii") as f:
            text = f.read()
        return "autotrust trust anchor file" in text and re.search(r"state=2 \[\s+VALID\s+\]", text)
    until(is_valid)
    assert d.stop() == 0


# ---- its companions ----


def test_its_companions_speak_to_it(unbound):
    """What exporters and service widgets do in turn, through the programs' own names."""
    d = unbound()
    d.start()
    c = [d.program("resolver-control"), "-c", d.client_conf]
    assert "is running" in run(*c, "status").stdout
    assert run(*c, "-q", "forward", "192.0.2.1", "192.0.2.2").stdout == ""
    assert run(*c, "-q", "forward", "off").returncode == 0
    assert run(*c, "-q", "no_such_command").returncode == 1
    keys = dict(line.split("=") for line in run(*c, "stats_noreset").stdout.splitlines())
    assert {"total.num.cachemiss", "total.num.queries", "time.up", "thread0.num.queries"} <= keys.keys()
    host = [d.program("resolver-host"), "-c", "IN", "-D", "-f", os.path.join(d.net, "root.key"), "-s", "127.0.0.1@%d" % d.port]
    for words, said in (
            (["-t", "TXT", "no.such.name.mini."], "Host no.such.name.mini. not found: 3(NXDOMAIN).\n"),
            (["-t", "A", "target.chain.mini"], "target.chain.mini has address 198.18.0.40\n"),
            (["-t", "AAAA", "target.chain.mini"], "target.chain.mini has IPv6 address 2001:2::40\n"),
            (["-t", "MX", "target.chain.mini"], ""),
            (["-v", "-t", "MX", "www.rsa.mini"], "www.rsa.mini has no mail handler record (secure)\n"),
            (["-v", "-t", "TXT", "www.rsa.mini"], "www.rsa.mini has no TXT record (secure)\n")):
        assert run(*host, *words).stdout == said, words
    # unsigned, from the forwarder's own zone
    assert run(*host, "192.0.2.1").stdout.startswith("Host 1.2.0.192.in-addr.arpa not found: 3(NXDOMAIN).\n")
    assert d.stop() == 0
    assert run(*c, "status").returncode == 3
