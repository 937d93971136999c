"""Starting, reloading, ending: what a service manager and an administrator see.

SPDX-License-Identifier: BSD-3-Clause
"""

import contextlib
import ctypes
import os
import re
import signal
import socket
import subprocess
import time

import pytest

from lab import is_root, query, texts, until


def run(d, *arguments, program="resolverd"):
    return subprocess.run([d.program(program), *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=20, check=False)


@pytest.mark.parametrize("argument, code", [("-V", 0), ("-h", 1), ("-Z", 1)])
def test_exit_codes_of_the_daemon(made, argument, code):
    p = run(made(), argument)
    assert p.returncode == code
    assert "Version" in p.stdout + p.stderr if argument == "-V" else "usage" in (p.stdout + p.stderr).lower()


@pytest.mark.parametrize("line, said", [
    ("no-such-option: 1", "no-such-option"), ("port: many", "many"), ("num-threads: -1", "num-threads"),
    ("access-control: 10.0.0.0/99 allow", "10.0.0.0/99"), ("do-ip4: perhaps", "perhaps"),
    ('root-hints: "/no/such/file"', "/no/such/file"),
])
def test_a_wrong_configuration_is_refused_with_its_line(made, line, said):
    d = made(line)
    with open(d.conf, encoding="utf-8") as f:
        number = next(i for i, text in enumerate(f, 1) if line in text)
    for program, arguments in (("resolverd", ["-d", "-c", d.conf]), ("resolver-checkconf", [d.conf])):
        p = run(d, *arguments, program=program)
        assert p.returncode == 1, program
        assert said in p.stderr + p.stdout, program
        assert "%s:%d" % (d.conf, number) in p.stderr + p.stdout, p.stderr


def test_every_error_of_a_file_is_told_at_once(made):
    d = made("no-such-option: 1", "port: many", "do-ip4: perhaps")
    out = run(d, d.conf, program="resolver-checkconf")
    assert out.returncode == 1
    for word in ("no-such-option", "many", "perhaps"):
        assert word in out.stderr + out.stdout


def test_checkconf_is_content_with_a_right_file(made):
    d = made()
    assert run(d, d.conf, program="resolver-checkconf").returncode == 0
    assert run(d, "-o", "port", d.conf, program="resolver-checkconf").stdout == "%d\n" % d.port


def test_no_configuration_file(made):
    p = run(made(), "-d", "-c", "/no/such/file.conf")
    assert p.returncode == 1 and "/no/such/file.conf" in p.stderr


def test_a_port_in_use(made):
    first, second = made(), made()
    with socket.socket(type=socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", first.port))
        p = run(first, "-d", "-c", first.conf)
        assert p.returncode == 1 and str(first.port) in p.stderr
    assert second


@contextlib.contextmanager
def frozen(d, name):
    """One thread of the daemon takes no more turns: as a debugger would stop it."""
    seize, interrupt, detach = 0x4206, 0x4207, 17
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    folder = "/proc/%d/task" % d.process.pid
    thread, end = 0, time.monotonic() + 5
    while not thread and time.monotonic() < end:  # it gives itself its name, once it runs
        for task in os.listdir(folder):
            with open("%s/%s/comm" % (folder, task), encoding="ascii") as f:
                if f.read().strip() == name:
                    thread = int(task)
        time.sleep(0.01)
    assert thread, "there is no thread " + name
    if libc.ptrace(seize, thread, None, None) != 0:
        pytest.skip("may not trace: " + os.strerror(ctypes.get_errno()))
    assert libc.ptrace(interrupt, thread, None, None) == 0
    os.waitpid(thread, 0x40000000)  # __WALL
    try:
        yield thread
    finally:
        libc.ptrace(detach, thread, None, None)


STANDS_STILL = [
    ("SIGTERM", lambda d: d.process.send_signal(signal.SIGTERM)),
    ("SIGINT", lambda d: d.process.send_signal(signal.SIGINT)),
    ("stop", lambda d: d.control("stop")),
    ("a reload first", lambda d: (d.process.send_signal(signal.SIGHUP), until(lambda: "reloaded" in d.log()),
                                  d.process.send_signal(signal.SIGTERM))),
    ("a command first, which waits", lambda d: (subprocess.Popen(
        [d.program("resolver-control"), "-c", d.client_conf, "stats"], stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL), time.sleep(0.3), d.process.send_signal(signal.SIGTERM))),
]


@pytest.mark.parametrize("end", [e for _, e in STANDS_STILL], ids=[n for n, _ in STANDS_STILL])
def test_it_ends_although_a_thread_stands_still(made, end):
    d = made("num-threads: 2", 'cache-file: "cache"', "sandbox: no")
    d.start()
    with frozen(d, "worker 1") as thread:
        began = time.monotonic()
        end(d)
        # Whoever traces a thread is told of its end first. Two seconds are meant, but others may be at work, too.
        until(lambda: os.waitpid(thread, 0x40000000 | os.WNOHANG)[0] == thread, 10)
        assert time.monotonic() - began < 4
        assert d.process.wait(5) == 1
    d.log_file.close()
    d.process = None
    assert "error: thread 1 has not responded for" in d.log()
    assert "thread 0 has" not in d.log()
    assert not os.path.exists(d.pidfile)


def test_a_reload_and_commands_of_the_main_thread_go_on_beside_a_thread_that_stands_still(made):
    d = made("num-threads: 2", "sandbox: no")
    d.start()
    with frozen(d, "worker 1"):
        for _ in range(3):
            d.process.send_signal(signal.SIGHUP)
            until(lambda: "reloaded" in d.log())
        assert d.control("get_option", "num-threads").strip() == "2"
    assert d.stop() == 0  # it goes on, and all is as before
    assert "has not responded" not in d.log()


@pytest.mark.parametrize("signo", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_cleanly(made, signo):
    d = made()
    d.start()
    with open(d.pidfile, encoding="ascii") as f:
        assert int(f.read()) == d.process.pid
    assert d.stop(signo) == 0
    assert not os.path.exists(d.pidfile) or os.path.getsize(d.pidfile) == 0
    assert not os.path.exists(d.socket) or run(d, "-s", d.socket, "status", program="resolver-control").returncode


def test_it_ends_soon_with_questions_under_way(made):
    d = made("num-threads: 2")
    d.start()
    with socket.socket(type=socket.SOCK_DGRAM) as s, d.tcp() as t:
        s.connect(("127.0.0.1", d.port))
        for i in range(200):
            s.send(query("s%d.silent.mini." % i).to_wire())
        t.sendall(b"\0\x10half a")
        time.sleep(0.3)
        began = time.monotonic()
        assert d.stop() == 0
        assert time.monotonic() - began < 3


@pytest.mark.skipif(not is_root(), reason="only root can change its root")
@pytest.mark.parametrize("where", ["%(dir)s/resolverd.pid", "%(dir)s/jail/resolverd.pid", "resolverd.pid"])
def test_a_pidfile_outside_the_chroot(made, where):
    """As firewalls have it: chroot /var/unbound, pid file /var/run/unbound.pid."""
    d = made()
    jail = os.path.join(d.dir, "jail")
    os.makedirs(jail)
    d.pidfile = os.path.join(jail, where % {"dir": d.dir})
    d.conf = os.path.join(jail, "resolver.conf")
    d.fixed = [x for x in d.fixed if not x.startswith(("chroot:", "directory:", "root-hints:", "pidfile:"))]
    d.fixed += ['chroot: "%s"' % jail, 'directory: "%s"' % jail, 'pidfile: "%s"' % (where % {"dir": d.dir})]
    d.configure()
    assert run(d, d.conf, program="resolver-checkconf").returncode == 0
    d.start()
    with open(d.pidfile, encoding="ascii") as f:
        assert int(f.read()) == d.process.pid
    d.process.send_signal(signal.SIGHUP)
    assert "is running" in d.control("status")
    assert d.stop() == 0
    assert "cannot remove" not in d.log() and "reload failed" not in d.log()
    assert not os.path.exists(d.pidfile) or os.path.getsize(d.pidfile) == 0


def test_logs_to_what_the_later_line_says(made):
    """Of logfile and use-syslog, as in Unbound."""
    for lines, to_file in ((('logfile: "%s"', "use-syslog: yes"), False), (("use-syslog: yes", 'logfile: "%s"'), True)):
        d = made()
        log = os.path.join(d.dir, "log")
        d.fixed.remove("use-syslog: no")
        d.configure([line.replace("%s", log) for line in lines])
        d.start()
        assert d.stop() == 0
        assert os.path.exists(log) == to_file, lines
        assert "start of service" not in d.log()


def test_dd_logs_to_the_terminal(made):
    d = made()
    d.configure(['logfile: "%s/log"' % d.dir])
    d.start("-d")
    assert d.control("log_reopen") == "ok\n"
    assert d.stop() == 0
    assert "start of service" in d.log() and "service stopped" in d.log()
    assert not os.path.exists(d.dir + "/log")


def test_missing_folders_stop_nobody(made):
    """On a router, those in memory may be gone after a restart. Whoever checks the file is told."""
    d = made()
    gone = d.dir + "/gone"
    d.fixed.remove('pidfile: "%s"' % d.pidfile)
    d.configure(['pidfile: "%s/pid"' % gone, 'logfile: "%s/log"' % gone],
                more='auth-zone:\n    name: held.test\n    zonefile: "%s/zone"\n' % gone)
    assert run(d, d.conf, program="resolver-checkconf").returncode == 1
    d.start()
    assert d.control("reload") == "ok\n"
    for word in ("pidfile: cannot use the folder", "logfile: cannot use", "zonefile: cannot use", "cannot write the pid"):
        assert word in d.log(), word
    assert d.stop() == 0


def test_a_pidfile_that_is_no_file_is_refused(made):
    d = made()
    os.symlink("/nowhere/pid", d.pidfile)
    p = run(d, "-d", "-c", d.conf)
    assert p.returncode == 1 and "fatal error: cannot write the pid file" in p.stderr


@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_DGRAM], ids=["full", "of-another-kind"])
def test_a_control_socket_of_others_is_left_to_them(made, kind):
    d = made()
    with socket.socket(socket.AF_UNIX, kind) as theirs, socket.socket(socket.AF_UNIX, kind) as first:
        theirs.bind(d.socket)
        if kind == socket.SOCK_STREAM:
            theirs.listen(0)
        first.connect(d.socket)
        p = run(d, "-d", "-c", d.conf)
        assert p.returncode == 1 and "cannot open the control socket" in p.stderr and "in use" in p.stderr
        assert os.path.exists(d.socket)


def test_without_a_pidfile(made):
    d = made()
    d.start("-p")
    assert not os.path.exists(d.pidfile)
    assert d.stop() == 0


def test_verbose_says_more(made):
    quiet, loud = made(), made()
    for d, arguments in ((quiet, []), (loud, ["-vv"])):
        d.start(*arguments)
        d.ask("target.chain.mini.")
        assert d.stop() == 0
    assert len(loud.log()) > len(quiet.log())


def test_it_starts_again_at_once_on_the_same_port(made):
    d = made()
    for _ in range(3):
        d.start()
        assert texts(d.ask("target.chain.mini.", tcp=True)) == ["198.18.0.40"]
        assert d.stop() == 0


def test_sighup_reads_the_configuration_again(made):
    """What the new configuration does not contradict stays cached: what is kept too long by it does not."""
    d = made("cache-max-ttl: 1000")
    d.start()
    d.ask("target.chain.mini.")
    for ttl, misses in ((2000, 0), (30, 1), (40, 0)):
        d.configure(["cache-max-ttl: %d" % ttl])
        d.process.send_signal(signal.SIGHUP)
        time.sleep(0.7)
        assert d.control("get_option", "cache-max-ttl") == "%d\n" % ttl
        with d.misses(misses):
            r = d.ask("target.chain.mini.")
        assert r.answer[0].ttl <= ttl
    assert d.stop() == 0


def test_sighup_survives_a_broken_configuration(made):
    d = made()
    d.start()
    d.ask("target.chain.mini.")
    d.spoil()
    d.process.send_signal(signal.SIGHUP)
    time.sleep(0.7)
    assert d.alive()
    assert texts(d.ask("target.chain.mini.")) == ["198.18.0.40"]
    assert texts(d.ask("target.chain.org.")) == ["198.18.0.40"]
    assert "no-such-option" in d.log()
    d.configure()
    assert d.stop() == 0


ZONE = "slow.test. 60 IN SOA a. b. 1 2 3 4 5\nslow.test. 60 IN NS a.\n"


@pytest.mark.parametrize("signo, said", [(signal.SIGHUP, "reloaded"), (signal.SIGUSR1, "log file reopened")])
def test_a_signal_that_comes_during_the_start_is_obeyed_afterwards(made, signo, said):
    """Firewalls send SIGHUP for each lease, whatever the daemon is doing."""
    d = made()
    zone = os.path.join(d.dir, "zone")
    os.mkfifo(zone)
    d.configure(more='auth-zone:\n    name: slow.test\n    zonefile: "%s"\n' % zone)
    d.start(wait=False)
    with open(zone, "w", encoding="ascii") as f:  # returns when the daemon reads
        d.process.send_signal(signo)
        with open(zone + ".new", "w", encoding="ascii") as new:
            new.write(ZONE)
        os.rename(zone + ".new", zone)
        f.write(ZONE)
    d.wait_ready()
    until(lambda: said in d.log())
    assert d.stop() == 0


def test_many_signals_to_end_do_not_leave_the_pidfile_behind(made):
    d = made("num-threads: 8", "msg-cache-size: 64m", "msg-cache-slabs: 512", "rrset-cache-slabs: 512")
    for _ in range(5):
        d.start(wait=False)
        until(lambda: os.path.exists(d.pidfile))
        while d.alive():
            d.process.send_signal(signal.SIGTERM)
            time.sleep(0.001)
        assert d.stop() == 0
        assert not os.path.exists(d.pidfile)


def test_many_reloads_leak_nothing(made):
    d = made("num-threads: 2")
    d.start()
    sizes = []
    for i in range(60):
        d.process.send_signal(signal.SIGHUP)
        time.sleep(0.03)
        d.ask("n%d.w.rsa.mini." % i)
        if i in (19, 59):
            time.sleep(0.3)
            sizes.append((len(os.listdir("/proc/%d/fd" % d.process.pid)),
                          len(os.listdir("/proc/%d/task" % d.process.pid))))
    assert sizes[1][1] == sizes[0][1], "threads"
    assert sizes[1][0] <= sizes[0][0] + 8, "file descriptors"
    assert d.stop() == 0


def has_ended(pid):
    """Also where nobody buries it, as in a container whose first process does not wait for others' children."""
    try:
        with open("/proc/%d/stat" % pid, encoding="ascii") as f:
            return f.read().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_as_a_daemon(made):
    """Without -d: the parent comes back when the child answers, and the pid file tells who it is."""
    d = made()
    with open(d.conf, encoding="utf-8") as f:
        text = f.read()
    with open(d.conf, "w", encoding="utf-8") as f:
        f.write(text.replace("use-syslog: no", 'use-syslog: no\n    logfile: "%s/log"' % d.dir))
    p = run(d, "-c", d.conf)
    assert p.returncode == 0, p.stderr
    with open(d.pidfile, encoding="ascii") as f:
        pid = int(f.read())
    try:
        assert texts(d.ask("target.chain.mini.", timeout=5)) == ["198.18.0.40"]
        assert "pid %d" % pid in d.control("status")
    finally:
        os.kill(pid, signal.SIGTERM)
    until(lambda: has_ended(pid))


@pytest.mark.skipif(not is_root(), reason="only root can become somebody else")
def test_it_gives_up_its_rights(made):
    d = made()
    with open(d.conf, encoding="utf-8") as f:
        text = f.read()
    with open(d.conf, "w", encoding="utf-8") as f:
        f.write(text.replace('username: ""', "username: nobody"))
    os.chmod(d.dir, 0o777)
    d.start()
    with open("/proc/%d/status" % d.process.pid, encoding="ascii") as f:
        fields = dict(line.split(":\t", 1) for line in f if ":\t" in line)
    assert set(fields["Uid"].split()) == {"65534"}
    assert set(fields["Gid"].split()) == {"65534"}
    # Ports below 1024 that a reload names; nothing else, and nothing more by way of a program.
    for kind in ("CapEff", "CapPrm", "CapBnd"):
        assert int(fields[kind], 16) in (0, 1 << 10), kind
    assert int(fields["CapInh"], 16) == int(fields["CapAmb"], 16) == 0
    assert fields["NoNewPrivs"].strip() == "1" or d.is_sanitized()
    assert texts(d.ask("target.chain.mini.")) == ["198.18.0.40"]
    assert d.stop() == 0


@pytest.mark.parametrize("tcp, way", [(False, "udp"), (True, "tcp")])
def test_the_log_of_answers_tells_where_it_was_asked(daemon, tcp, way):
    with daemon("log-replies: yes", "log-destaddr: yes") as d:
        d.ask("target.chain.mini.", tcp=tcp)
        assert re.search(r"127\.0\.0\.1 target\.chain\.mini\. A IN NOERROR [\d.]+ 0 \d+ on %s 127\.0\.0\.1 %d$"
                         % (way, d.port), d.log(), re.M), d.log()
