"""Files that only root may read, a log that nobody reads, and disks that are full: it says so, and answers.

SPDX-License-Identifier: BSD-3-Clause
"""

import os
import re
import shutil
import subprocess

import pytest

from lab import rcode, texts, until
from test_blocklist import Web
from test_robust_files import NEEDS_ROOT, Disk
from test_threads import ask_many

LOGS_MUCH = ["local-zone: example. redirect", 'local-data: "example. A 192.0.2.1"', "log-queries: yes", "log-replies: yes",
             "extended-statistics: yes", "statistics-inhibit-zero: no"]

# -- files that only root may read -------------------------------------------------------------------

ZONE = "@ 60 SOA a. b. 1 2 3 4 60\n@ 60 NS a.\nwww 60 A 192.0.2.8\n"

# What reads the file, what a reload says of it; "": it goes on with what the file said before.
FILES = [("tls-service-key", "tls-service-key: %s: Permission denied"),
         ("tls-service-pem", "tls-service-pem: %s: Permission denied"),
         ("tls-session-ticket-keys", "tls-session-ticket-keys: %s: Permission denied"),
         ("cookie-secret-file", "cookie-secret-file: cannot read '%s': Permission denied"),
         ("include", "include: cannot read '%s': Permission denied"),
         ("trust-anchor-file", "trust-anchor-file: cannot open %s: Permission denied"),
         ("root-hints", "root-hints: cannot open %s: Permission denied"),
         ("zonefile", ""), ("file", "")]


def content(option, net, ca):
    if option.startswith("tls-service"):
        with open(ca.path("good." + option[-3:]), encoding="ascii") as f:
            return f.read()
    if option in ("trust-anchor-file", "root-hints"):
        with open(net + {"trust-anchor-file": "/root.key", "root-hints": "/root.hints"}[option], encoding="ascii") as f:
            return f.read()
    return {"tls-session-ticket-keys": "x" * 80, "cookie-secret-file": "0123456789abcdef" * 2 + "\n", "zonefile": ZONE,
            "include": 'server:\n    local-data: "here.test. A 192.0.2.7"\n', "file": "blocked.test\n"}[option]


@NEEDS_ROOT
@pytest.mark.parametrize("option, said", FILES, ids=[option for option, _ in FILES])
def test_a_file_that_only_root_may_read(made, net, ca, option, said):
    """It is told before, at the start and by checkconf; a reload names it, and the rest is as it was."""
    d = made(hints=False, module="validator iterator")
    path = os.path.join(d.dir, "secret")
    with open(path, "w", encoding="ascii") as f:
        f.write(content(option, net, ca))
    clauses = {"zonefile": 'auth-zone:\n    name: held.lab\n    zonefile: "%s"\n' % path,
               "file": 'blocklist:\n    name: l\n    file: "%s"\n' % path}
    lines = ["username: nobody", "answer-cookie: yes", 'root-hints: "%s/root.hints"' % net]
    if option.startswith("tls-"):
        for name in ("key", "pem"):
            shutil.copy(ca.path("good." + name), d.dir)
            os.chmod(os.path.join(d.dir, "good." + name), 0o644)
            lines.append('tls-service-%s: "%s/good.%s"' % (name, d.dir, name))
    if option not in clauses:
        lines.append('%s: "%s"' % (option, path))
    d.configure(lines, clauses.get(option, ""))
    os.chmod(d.dir, 0o777)
    os.chmod(path, 0o600)
    warning = "warning: %s: the user nobody may not read '%s': a reload will fail" % (option, path)
    checked = subprocess.run([d.program("resolver-checkconf"), "--strict", d.conf], capture_output=True, text=True, check=False)
    assert checked.returncode == 1 and warning in checked.stderr, checked.stderr
    d.start()
    assert warning in d.log(), d.log()
    reply = d.control("reload", code=None)
    if said:
        assert reply.startswith("error") and "old configuration stays in use: " in reply and said % path in reply, reply
    else:
        assert reply == "ok\n"
    assert re.search(r"(error|warning): .*%s'?: Permission denied" % path, d.log())
    for name, kind in (("here.test.", "include"), ("www.held.lab.", "zonefile")):
        assert option != kind or texts(d.ask(name))
    assert texts(d.ask("target.chain.mini.")) == ["198.18.0.40"]
    os.chmod(path, 0o644)
    if option == "cookie-secret-file":
        shutil.chown(path, "nobody")
    assert d.control("reload") == "ok\n"
    assert option != "file" or rcode(d.ask("blocked.test.")) == "NXDOMAIN"
    assert d.stop() == 0
    checked = subprocess.run([d.program("resolver-checkconf"), d.conf], capture_output=True, text=True, check=False)
    assert checked.returncode == 0 and "may not read" not in checked.stderr, checked.stderr


@NEEDS_ROOT
def test_an_anchor_that_only_root_may_read(made, net):
    """The daemon's user keeps that file: no start without, and no other keys after a reload."""
    d = made(hints=False, module="validator iterator")
    path = os.path.join(d.dir, "anchor")
    shutil.copy(net + "/root.key", path)
    d.configure(["username: nobody", 'root-hints: "%s/root.hints"' % net, 'auto-trust-anchor-file: "%s"' % path])
    os.chmod(d.dir, 0o777)
    os.chmod(path, 0o600)
    said = "auto-trust-anchor-file: the user nobody may not read '%s', and has to keep it up to date; chown nobody '%s'" % (path, path)
    checked = subprocess.run([d.program("resolver-checkconf"), d.conf], capture_output=True, text=True, check=False)
    assert checked.returncode == 1 and "error: " + said in checked.stderr, checked.stderr
    started = subprocess.run([d.program("resolverd"), "-d", "-c", d.conf], capture_output=True, text=True, check=False, timeout=30)
    assert started.returncode == 1 and said in started.stderr, started.stderr
    shutil.chown(path, "nobody")
    d.start()
    assert rcode(d.ask("target.chain.mini.")) == "NOERROR"
    shutil.chown(path, "root")
    reply = d.control("reload", code=None)
    assert reply.startswith("error") and "auto-trust-anchor-file: cannot read %s: Permission denied" % path in reply, reply
    assert rcode(d.ask("target.chain.mini.")) == "NOERROR"
    shutil.chown(path, "nobody")
    assert d.control("reload") == "ok\n"


# -- a log that nobody reads ------------------------------------------------------------------------

@pytest.mark.parametrize("reader", ["waits", "is gone"])
def test_standard_error_is_a_pipe_that_nobody_reads(made, reader):
    d = made(*LOGS_MUCH, "num-threads: 2", hints=False)
    pipe = os.path.join(d.dir, "pipe")
    os.mkfifo(pipe)
    there = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    d.before = ["sh", "-c", 'exec "$@" 2>%s' % pipe, "sh"]
    d.start()
    if reader == "is gone":
        os.close(there)
    ask_many(d, 12000)
    assert d.stats()["log.lost"] > 1000
    assert d.control("reload") == "ok\n"
    ask_many(d, 100)
    assert d.stop() == 0
    if reader == "waits":
        with open(there, encoding="ascii") as f:
            assert all(line[0] == "[" for line in f.readlines()[:-1])


# -- disks that are full ----------------------------------------------------------------------------

@NEEDS_ROOT
def test_what_a_full_disk_takes_of_the_log_is_counted(made):
    d = made("num-threads: 1", hints=False)
    disk = Disk(d)
    d.configure([*LOGS_MUCH, 'logfile: "%s/log"' % disk.path])
    d.start()
    disk.fill()
    ask_many(d, 3000)
    until(lambda: d.stats()["log.lost"] > 5000)
    disk.free()
    ask_many(d, 1)

    def told():
        return [int(n) for n in re.findall(rb"warning: (\d+) lines of the log are lost", disk.read("log"))]
    until(told)
    until(lambda: sum(told()) == d.stats()["log.lost"], why=lambda: "%s %s" % (told(), d.stats()["log.lost"]))
    assert disk.read("log").endswith(b"\n")
    assert d.stop() == 0


@NEEDS_ROOT
def test_a_list_is_used_though_there_is_no_room_for_its_copy(made):
    """Without one, a restart has to fetch it anew; what was begun is taken away, and the copy before stays."""
    with Web() as web:
        d = made()
        disk = Disk(d, size="100k")
        web.pages["/list"] = "".join("old%d.example\n" % i for i in range(10)).encode()
        d.configure(['blocklist-directory: "%s/lists"' % disk.path], 'blocklist:\n    name: l\n    url: "%s"\n' % web.url("/list"))
        d.start()
        until(lambda: rcode(d.ask("old7.example.")) == "NXDOMAIN")
        until(lambda: os.listdir(disk.seen("lists")))
        before = {n: disk.read("lists/" + n) for n in os.listdir(disk.seen("lists"))}
        disk.fill()
        web.pages["/list"] = "".join("new%d.example\n" % i for i in range(20000)).encode()
        d.control("blocklist_reload")
        until(lambda: "No space left on device" in d.log(), why=d.log)
        until(lambda: rcode(d.ask("new19999.example.")) == "NXDOMAIN", why=lambda: d.log() + d.control("blocklist_status"))
        assert {n: disk.read("lists/" + n) for n in os.listdir(disk.seen("lists"))} == before
        assert d.control("reload") == "ok\n"
        disk.free()
        web.pages["/list"] = b"last.example\n"
        d.control("blocklist_reload")
        until(lambda: rcode(d.ask("last.example.")) == "NXDOMAIN")
        until(lambda: b"last.example" in b"".join(disk.read("lists/" + n) for n in os.listdir(disk.seen("lists"))))
        assert d.stop() == 0
