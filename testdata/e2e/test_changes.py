"""What commands change lasts, if keep-changes says so: over reloads, restarts and sudden ends.

SPDX-License-Identifier: BSD-3-Clause
"""

import os
import pwd
import random
import re
import shutil
import subprocess
import threading
import time

import pytest

from lab import rcode, texts

KEEP = 'remote-control:\n    keep-changes: yes\n    changes-file: "%s"\n'
VIEW = 'view:\n    name: "kids"\n    view-first: yes\n'
LOCAL = ('local-zone: "file.example." static', 'local-data: "a.file.example. A 192.0.2.9"',
         "access-control-view: 127.0.0.2/32 kids")


def keeping(daemon, *server, more="", file="changes"):
    return daemon(*LOCAL, *server, more=KEEP % file + VIEW + more)


def again(d, kill=False):
    if kill:
        d.kill()
    else:
        assert d.stop() == 0
    d.start()


def path_of(d):
    return os.path.join(d.dir, "changes")


def content(d):
    with open(path_of(d), "rb") as f:
        return f.read()


COMMANDS = [
    "local_zone ads.example always_refuse", "local_data www.home.example 60 A 192.0.2.1", "local_data_remove a.file.example",
    "view_local_data kids k.home.example A 192.0.2.2", "blocklist_deny target.chain.mini", "blocklist_allow allowed.example",
    "blocklist_pause 1h kids", "forward_add +i corp.example 127.0.0.9@9", "stub_add int.example 127.0.0.9@9",
    "insecure_add bare.example", "set_option cache-max-ttl: 77",
]


def what_holds(d):
    """What answers and listings say of COMMANDS."""
    return [rcode(d.ask("x.ads.example.")), texts(d.ask("www.home.example.")), rcode(d.ask("a.file.example.")),
            texts(d.ask("k.home.example.", source="127.0.0.2")), rcode(d.ask("target.chain.mini.")),
            re.sub(r"\d+ s", "", d.control("blocklist_status")), d.control("list_forwards"),
            [line for line in d.control("list_stubs").splitlines() if line.startswith("int.")],
            d.control("list_insecure"), d.control("get_option", "cache-max-ttl")]


def test_what_commands_change_is_there_after_a_restart(daemon):
    with keeping(daemon) as d:
        before = what_holds(d)
        for command in COMMANDS:
            assert d.control(*command.split()) == "ok\n", command
        assert d.control("local_datas", stdin="m1.example A 192.0.2.3\nm2.example A 192.0.2.4\n") == "added 2 datas\n"
        assert d.control("local_zones", stdin="z1.example static\nnonsense\n", code=None).endswith("added 1 zones\n")
        held, listed = what_holds(d), d.control("list_changes")
        assert all(b != h for b, h in zip(before, held))
        assert len(listed.splitlines()) == len(COMMANDS) + 4 and "#" not in listed
        for kill in (False, True):
            again(d, kill)
            assert what_holds(d) == held
            assert texts(d.ask("m2.example.")) == ["192.0.2.4"] and rcode(d.ask("z1.example.")) == "NXDOMAIN"
            assert d.control("list_changes") == listed
        assert d.control("reload") == "ok\n"
        assert what_holds(d) == held and d.control("list_changes") == listed
        # a set_option builds tables anew
        assert d.control("set_option", "cache-max-ttl: 77") == "ok\n"
        assert what_holds(d) == held


def numbers(d):
    return {command: number for number, _, command in
            (line.split(" ", 2) for line in d.control("list_changes").splitlines())}


def test_changes_are_undone_one_by_one(daemon):
    with keeping(daemon) as d:
        before = what_holds(d)
        for command in COMMANDS:
            d.control(*command.split())
        for command, number in reversed(numbers(d).items()):
            assert d.control("change_undo", number) == "ok\n", command
            assert number not in numbers(d).values()
        assert what_holds(d) == before
        assert d.control("list_changes") == ""
        assert d.control("change_undo", "1", code=1) == "error there is no change 1\n"
        assert d.control("change_undo", "x", code=1).startswith("error expected the number")
        again(d)
        assert what_holds(d) == before
        d.control("local_data", "u.example A 192.0.2.1")
        number = list(numbers(d).values())[0]
        d.spoil()
        assert "nothing is undone" in d.control("change_undo", number, code=1)
        assert texts(d.ask("u.example.")) == ["192.0.2.1"] and number in numbers(d).values()


def test_the_export_is_a_configuration_that_does_the_same(daemon):
    with keeping(daemon) as d:
        for command in COMMANDS:
            d.control(*command.split())
        d.control("local_data", 't.example TXT "a b"')
        held, lines = what_holds(d), d.control("changes_export")
        assert "# no option says this: local_data_remove a.file.example" in lines
        d.stop()
        os.unlink(path_of(d))
        # what is a comment, since the clause is there already, goes into it
        own = "".join(line[1:] + "\n" for line in lines.splitlines() if line.startswith("#   "))
        d.configure([*LOCAL, "cache-max-ttl: 5"], KEEP % "changes" + VIEW + own + lines)
        checked = subprocess.run([d.program("resolver-checkconf"), d.conf], capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stderr
        d.start()
        now = what_holds(d)
        same = (0, 1, 3, 6, 7, 8, 9)  # what options can say
        assert [now[i] for i in same] == [held[i] for i in same]
        assert texts(d.ask("t.example.", "TXT"), "TXT") == ['"a b"']


def test_without_the_option_nothing_lasts_and_nothing_is_written(daemon):
    with daemon(*LOCAL, more=VIEW) as d:
        for command in COMMANDS:
            assert d.control(*command.split()) == "ok\n"
        for command in ("list_changes", "changes_export", "change_undo 1"):
            assert d.control(*command.split(), code=1).startswith("error: keep-changes is no")
        assert not os.path.exists(path_of(d))
        again(d)
        assert rcode(d.ask("a.file.example.")) == "NOERROR" and rcode(d.ask("x.ads.example.")) != "REFUSED"


def test_whenever_it_is_killed_what_was_confirmed_lasts(daemon):
    """Twenty times, at any moment of a change: every one that was confirmed is there, and answers."""
    dice, confirmed, tried, doubtful = random.Random(7), {}, [], set()

    def change(d, round_, stop):
        n = 0
        while not stop.is_set():
            name, address = "n%d-%d.lasts.example." % (round_, n % 5), "192.0.2.%d" % (n % 200 + 1)
            for line in ("local_data_remove %s" % name, "local_data %s 60 A %s" % (name, address)):
                tried.append(name)
                try:
                    said = d.speak(b"UBCT1 %s\n" % line.encode(), timeout=10)
                except OSError:
                    return
                if b"ok\n" not in said:
                    return
                confirmed.pop(name, None)
            confirmed[name] = address
            n += 1

    with keeping(daemon) as d:
        for round_ in range(20):
            stop = threading.Event()
            worker = threading.Thread(target=change, args=(d, round_, stop))
            before = dict(confirmed)
            worker.start()
            time.sleep(dice.uniform(0.02, 0.3))
            d.kill()
            stop.set()
            worker.join()
            d.start()
            doubtful.add(tried[-1])  # it may or may not have been done
            for name, address in confirmed.items():
                if name not in doubtful and (name not in before or round_ == 19):
                    assert texts(d.ask(name)) == [address], (round_, name)
        assert len(confirmed) > 20
        listed = d.control("list_changes")
        assert "#" not in listed and listed.count("lasts.example") >= len(confirmed)
        assert "is damaged" not in d.log()


def test_on_a_full_disk_a_change_is_refused_and_nothing_is_lost(made):
    d = keeping(made, file="disk/changes")
    disk = os.path.join(d.dir, "disk")
    os.mkdir(disk)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", disk], check=False, capture_output=True).returncode:
        pytest.skip("no file systems can be mounted here")
    d.start()
    assert d.control("local_data", "one.example A 192.0.2.1") == "ok\n"
    with open(os.path.join(disk, "fill"), "wb", buffering=0) as f:
        try:
            while f.write(b"x" * 512):
                pass
        except OSError:
            pass
    refused = 0
    for n in range(200):  # until the last page of the file is full
        said = d.control("local_data", "n%d.example A 192.0.2.2" % n, code=None)
        if said != "ok\n":
            assert re.fullmatch(r"error cannot write \S+changes: No space left on device \(nothing has changed\)\n", said)
            refused = n
            break
    assert refused
    assert rcode(d.ask("n%d.example." % refused)) != "NOERROR"
    for command in ("local_zone gone.example refuse", "set_option cache-max-ttl: 5", "forward_add f.example 127.0.0.9",
                    "insecure_add i.example", "blocklist_deny b.example", "local_data_remove one.example"):
        assert "No space left on device" in d.control(*command.split(), code=1), command
    assert "No space left" in d.control("local_datas", stdin="x.example A 192.0.2.1\n", code=None)
    assert d.control("get_option", "cache-max-ttl") == "86400\n" and texts(d.ask("one.example.")) == ["192.0.2.1"]
    assert "i.example" not in d.control("list_insecure") and "f.example" not in d.control("list_forwards")
    again(d)
    assert texts(d.ask("one.example.")) == ["192.0.2.1"] and texts(d.ask("n%d.example." % (refused - 1))) == ["192.0.2.2"]
    os.unlink(os.path.join(disk, "fill"))
    assert d.control("local_data", "more.example A 192.0.2.3") == "ok\n"
    assert d.stop() == 0


@pytest.mark.parametrize("data, mode, why", [
    (b"resolverd-changes 2\nx\n", 0o600, "was written by another version"),
    (b"server:\n", 0o600, "is something else than a file of changes"),
    (b"resolverd-changes 1\n", 0o666, "others may write to it"),
])
def test_a_file_that_is_not_ours_is_left_alone(made, data, mode, why):
    d = keeping(made)
    with open(path_of(d), "wb") as f:
        f.write(data)
    os.chmod(path_of(d), mode)
    d.start()
    assert "changes will be refused" in d.log()
    for command in ("local_data a.example A 192.0.2.1", "blocklist_deny a.example", "list_changes"):
        assert why in d.control(*command.split(), code=1)
    assert rcode(d.ask("a.example.")) != "NOERROR"
    assert content(d) == data
    assert d.stop() == 0


def test_what_the_configuration_no_longer_allows_is_kept_and_skipped(daemon):
    with keeping(daemon) as d:
        d.control("view_local_data", "kids", "k.home.example A 192.0.2.2")
        d.control("local_data", "b.home.example A 192.0.2.3")
        d.stop()
        d.configure(LOCAL[:2], KEEP % "changes")
        d.start()
        assert re.search(r"^1 \S+ view_local_data kids k\.home\.example A 192\.0\.2\.2 # no view with name: kids$",
                         d.control("list_changes"), re.M)
        assert "change 1 (view_local_data kids k.home.example A 192.0.2.2) is not in force" in d.log()
        assert texts(d.ask("b.home.example.")) == ["192.0.2.3"]
        assert "# not in force: view_local_data kids" in d.control("changes_export")
        d.configure(LOCAL, KEEP % "changes" + VIEW)
        assert d.control("reload") == "ok\n"
        assert "#" not in d.control("list_changes")
        assert texts(d.ask("k.home.example.", source="127.0.0.2")) == ["192.0.2.2"]


def test_options_that_make_a_start_impossible_are_left_out(daemon):
    with keeping(daemon) as d:
        hints = os.path.join(d.dir, "own.hints")
        shutil.copy(os.path.join(d.net, "root.hints"), hints)
        assert d.control("set_option", 'root-hints: "%s"' % hints) == "ok\n"
        assert d.control("set_option", "cache-max-ttl: 77") == "ok\n"
        d.stop()
        os.rename(hints, hints + ".good")
        with open(hints, "w", encoding="ascii") as f:
            f.write("this is no zone file (\n")
        d.start()
        assert d.control("get_option", "cache-max-ttl") == "86400\n"
        assert d.control("list_changes").count(" # ") == 2
        os.rename(hints + ".good", hints)
        assert d.control("reload") == "ok\n"
        assert d.control("get_option", "cache-max-ttl") == "77\n" and "#" not in d.control("list_changes")


def test_a_file_cut_short_or_damaged_costs_no_other_change(daemon):
    with keeping(daemon) as d:
        for n in range(3):
            d.control("local_data", "n%d.example A 192.0.2.1" % n)
        d.stop()
        whole = content(d)
        with open(path_of(d), "wb") as f:
            f.write(whole[:-5])
        d.start()
        assert "a change that was not confirmed is left out" in d.log()
        assert len(d.control("list_changes").splitlines()) == 2
        assert d.control("local_data", "n3.example A 192.0.2.1") == "ok\n"
        again(d)
        assert [rcode(d.ask("n%d.example." % n)) == "NOERROR" for n in range(4)] == [True, True, False, True]
        d.stop()
        with open(path_of(d), "wb") as f:
            f.write(whole.replace(b"n1.example", b"n7.example"))
        d.start()
        assert [rcode(d.ask("n%d.example." % n)) == "NOERROR" for n in (0, 1, 7, 2)] == [True, False, False, True]
        assert "is damaged" in d.control("list_changes")
        assert d.control("local_data", "n5.example A 192.0.2.1") == "ok\n"
        assert b"n7.example" in content(d)


def test_a_command_cannot_have_what_only_the_file_may_say(daemon):
    with keeping(daemon) as d:
        for line in ("num-threads: 2", "keep-changes: no", 'changes-file: "/tmp/other"', "chroot: /tmp"):
            d.control("set_option", line, code=1)
        assert d.control("list_changes") == ""
        again(d)
        assert d.control("list_changes") == "" and "may come back" not in d.log()


@pytest.mark.parametrize("chroot", [False, True])
def test_it_is_written_by_the_user_of_the_daemon(made, chroot):
    if os.geteuid():
        pytest.skip("only root can become another user")
    nobody = pwd.getpwnam("nobody")
    d = made(hints=False)
    more = ['username: "nobody"'] + (['chroot: "%s"' % d.dir] if chroot else [])
    d.configure([*LOCAL, *more], KEEP % path_of(d) + VIEW)
    os.chown(d.dir, nobody.pw_uid, nobody.pw_gid)
    d.start()
    assert d.control("local_data", "a.example A 192.0.2.1") == "ok\n"
    assert d.control("local_data", "b.example A 192.0.2.1") == "ok\n"
    assert os.stat(path_of(d)).st_uid == nobody.pw_uid
    again(d)
    assert texts(d.ask("b.example.")) == ["192.0.2.1"]
    assert d.control("local_data", "c.example A 192.0.2.1") == "ok\n"
    assert d.stop() == 0


def test_where_nothing_can_be_written_that_is_said_at_the_start(made):
    d = keeping(made, file="missing/changes")
    d.start()
    assert "changes will be refused" in d.log()
    assert re.fullmatch(r"error cannot write \S+/missing/changes: .* \(nothing has changed\)\n",
                        d.control("local_data", "a.example A 192.0.2.1", code=1))
    assert rcode(d.ask("a.example.")) != "NOERROR"
    assert d.stop() == 0
