"""Everything at once for some seconds: questions over UDP and TCP, reloads, lists, host names, long and short commands.

Short, since contrib/check runs it under the sanitizer of threads, too, which ends the daemon with a code of its own.

SPDX-License-Identifier: BSD-3-Clause
"""

import itertools
import os
import re
import socket
import subprocess
import threading

from lab import texts

SECONDS = 6
COMMANDS = [["stats_noreset"], ["dump_cache"], ["list_queries", "1000"], ["top", "names"], ["status"], ["dump_infra"],
            ["flush_zone", "nothing.example."], ["local_data", "here.example. 60 A 192.0.2.1"], ["list_local_data"],
            ["local_data_remove", "here.example."], ["blocklist_reload"], ["lookup", "mini."], ["cache_save"],
            ["forward_add", "fwd.example.", "127.0.0.3"], ["forward_remove", "fwd.example."],
            ["flush_infra", "127.0.0.9"],
            ["set_option", "cache-max-ttl:", "3600"], ["dump_requestlist"], ["flush_negative"], ["log_reopen"]]


def say(d, *words):
    """A command without a program for it, which takes its time to start under a sanitizer."""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(60)
        s.connect(d.socket)
        s.sendall(("UBCT1 %s\n" % " ".join(words)).encode())
        said = b"".join(iter(lambda: s.recv(65536), b"")).decode(errors="replace")
    assert not said.startswith("error"), (words, said[:200])


def again_and_again(over, pause, what):
    """A thread that does it until all is over; what went wrong is in its list."""
    wrong = []

    def run():
        for n in itertools.count():
            try:
                what(n)
            except Exception as e:  # noqa: BLE001: the test tells it
                wrong.append("%s: %s" % (what.__name__, e))
            if over.wait(pause):
                return
    thread = threading.Thread(target=run)
    thread.start()
    return thread, wrong


def write(path, text):
    with open(path + ".new", "w", encoding="ascii") as f:
        f.write(text)
    os.replace(path + ".new", path)


def test_a_storm_of_everything_costs_no_answer(daemon, net, tmp_path):
    questions = tmp_path / "questions"
    with open(os.path.join(net, "queries.txt"), encoding="ascii") as f:
        questions.write_text("".join(itertools.islice(f, 20000)))
    names, hosts = str(tmp_path / "names"), str(tmp_path / "hosts")
    counts = {"reload": 0, "command": 0}

    def change(n):
        write(names, "".join("b%d-%d.example\n" % (i, n % 5) for i in range(2000)))
        write(hosts, "".join("192.0.2.%d h%d.lan\n" % (i % 200, i + n % 5) for i in range(200)))

    change(0)
    # However slow it is for a sanitizer's sake: nothing is given up for being late.
    patient = ["discard-timeout: 0", "wait-limit: 0", "jostle-timeout: 100000", "so-rcvbuf: 4m"]
    with daemon("num-threads: 2", *patient, "msg-cache-size: 1m", "rrset-cache-size: 1m", "query-ring: 1000",
                "top-lists: 100", "prefetch: yes", "serve-expired: yes", "extended-statistics: yes",
                'trust-anchor-file: "%s/root.key"' % net,
                'cache-file: "%s/cache"' % tmp_path, 'hosts-file: "%s"' % hosts, module="validator iterator",
                more='blocklist:\n    name: storm\n    file: "%s"\n' % names) as d:
        def reload(n):
            say(d, ["reload", "reload_keep_cache", "fast_reload"][n % 3])
            counts["reload"] += 1

        def command(n):
            say(d, *COMMANDS[n % len(COMMANDS)])
            counts["command"] += 1

        over = threading.Event()
        runs = [again_and_again(over, 0.2, change), again_and_again(over, 0.1, reload),
                again_and_again(over, 0.01, command)]
        loads = [subprocess.Popen(
            ["dnsperf", "-s", "127.0.0.1", "-p", str(d.port), "-d", str(questions), "-l", str(SECONDS), "-Q", rate,
             "-c", "4", "-q", "100", "-t", "20", "-b", "1024", "-m", mode, *more], stdout=subprocess.PIPE, text=True)
            for mode, rate, more in (("udp", "500", []), ("udp", "200", ["-D"]), ("tcp", "200", []))]
        said = [p.communicate(timeout=SECONDS + 60)[0] for p in loads]
        over.set()
        for thread, _ in runs:
            thread.join(60)
        assert [w for _, wrong in runs for w in wrong] == []
        for text in said:
            assert int(re.search(r"Queries sent:\s+(\d+)", text)[1]) > 100
            assert re.search(r"Queries lost:\s+(\d+)", text)[1] == "0", text
            assert re.findall(r"([A-Z]+) \d+ \(", text.split("Response codes:")[1].splitlines()[0]) == ["NOERROR"], text
        assert counts["reload"] > 1 and counts["command"] > 1, counts
        assert texts(d.ask("target.chain.mini.")) == ["198.18.0.40"]
