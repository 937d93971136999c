"""Everything at once for some seconds: questions over UDP and TCP, reloads, lists, host names, long and short commands.

Short, since contrib/check runs it under the sanitizer of threads, too, which ends the daemon with a code of its own.

SPDX-License-Identifier: BSD-3-Clause
"""

import contextlib
import http.client
import itertools
import os
import re
import socket
import subprocess
import threading

from lab import free_port, texts

SECONDS = 6
# What changes something, what looks at something that it changes on another thread, and what takes long.
COMMANDS = [["stats_noreset"], ["dump_cache"], ["list_queries", "1000"], ["top", "names"], ["status"], ["dump_infra"],
            ["flush_zone", "nothing.example."], ["local_data", "here.example. 60 A 192.0.2.1"], ["list_local_data"],
            ["local_data_remove", "here.example."], ["blocklist_reload"], ["lookup", "mini."], ["cache_save"],
            ["forward_add", "fwd.example.", "127.0.0.3"], ["forward_remove", "fwd.example."],
            ["flush_infra", "127.0.0.9"], ["blocklist_status"], ["blocklist_deny", "denied.example."],
            ["set_option", "cache-max-ttl:", "3600"], ["dump_requestlist"], ["flush_negative"], ["log_reopen"],
            ["blocklist_status"], ["blocklist_test", "b1-1.example."], ["blocklist_forget", "denied.example."],
            ["stats"], ["list_upstreams"], ["blocklist_pause", "1"], ["blocklist_status"], ["blocklist_resume"],
            ["set_option", "cache-max-ttl:", "7200"], ["blocklist_status"], ["insecure_add", "unsigned.example."],
            ["why", "target.chain.mini."], ["insecure_remove", "unsigned.example."], ["cache_lookup", "+t", "mini."],
            ["list_local_zones"], ["list_leases"], ["lease_status"], ["list_forwards"], ["list_stubs"], ["list_anchors"],
            ["list_insecure"], ["list_auth_zones"], ["get_option", "cache-max-ttl"], ["flush_bogus"], ["flush_type", "no.example.", "A"],
            ["ratelimit_list", "+a"], ["local_zone", "more.example.", "static"], ["local_zone_remove", "more.example."],
            ["verbosity", "1"], ["flush_stats"], ["print_cookie_secrets"], ["top", "clients"], ["top", "clear"]]
# Again and again beside the others, so that each meets each.
READERS = [["blocklist_status"], ["stats_noreset"], ["list_upstreams"], ["dump_requestlist"], ["top", "blocked"]]
WRITERS = [["set_option", "cache-max-ttl:", "3600"], ["forward_add", "fwd2.example.", "127.0.0.3"],
           ["forward_remove", "fwd2.example."], ["insecure_add", "a.example."], ["insecure_remove", "a.example."]]
PAGES = ["/metrics", "/status.json", "/healthz"]


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


def page(port, path):
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as c:
        c.request("GET", path)
        assert c.getresponse().status == 200


def test_a_storm_of_everything_costs_no_answer(daemon, net, tmp_path, ca):
    questions = tmp_path / "questions"
    with open(os.path.join(net, "queries.txt"), encoding="ascii") as f:
        questions.write_text("".join(itertools.islice(f, 20000)))
    names, hosts = str(tmp_path / "names"), str(tmp_path / "hosts")
    counts = {"reload": 0, "command": 0}

    def change(n):
        write(names, "".join("b%d-%d.example\n" % (i, n % 5) for i in range(2000)))
        write(hosts, "".join("192.0.2.%d h%d.lan\n" % (i % 200, i + n % 5) for i in range(200)))

    change(0)
    dot, doh, pages = free_port(), free_port(), free_port()

    def lists(n):
        """Its clause changes, so that each reload makes another list, from the table that was saved."""
        return ('blocklist:\n    name: storm\n    file: "%s"\n    action: %s\n' % (names, ["nxdomain", "nodata"][n % 2])
                + "metrics:\n    metrics-enable: yes\n    metrics-port: %d\n" % pages)

    # However slow it is for a sanitizer's sake: nothing is given up for being late.
    patient = ["discard-timeout: 0", "wait-limit: 0", "jostle-timeout: 100000", "so-rcvbuf: 4m"]
    server = ["num-threads: 2", *patient, "msg-cache-size: 1m", "rrset-cache-size: 1m", "query-ring: 1000",
              "top-lists: 100", "prefetch: yes", "serve-expired: yes", "extended-statistics: yes",
              'trust-anchor-file: "%s/root.key"' % net, 'cache-file: "%s/cache"' % tmp_path, 'hosts-file: "%s"' % hosts,
              'blocklist-directory: "%s/copies"' % tmp_path, "incoming-num-tcp: 100",
              *("interface: 127.0.0.1@%d" % at for at in (dot, doh)), "tls-port: %d" % dot, "https-port: %d" % doh,
              'tls-service-key: "%s"' % ca.path("good.key"), 'tls-service-pem: "%s"' % ca.path("good.pem")]
    with daemon(*server, module="validator iterator", more=lists(0)) as d:
        def reload(n):
            d.configure(server, lists(n))
            say(d, ["reload", "reload_keep_cache", "fast_reload"][n % 3])
            counts["reload"] += 1

        def command(n):
            say(d, *COMMANDS[n % len(COMMANDS)])
            counts["command"] += 1

        def read(n):
            say(d, *READERS[n % len(READERS)])
            page(pages, PAGES[n % len(PAGES)])

        def publish(n):
            say(d, *WRITERS[n % len(WRITERS)])

        over = threading.Event()
        runs = [again_and_again(over, 0.2, change), again_and_again(over, 0.1, reload),
                again_and_again(over, 0.01, command), again_and_again(over, 0.005, read),
                again_and_again(over, 0.02, publish)]
        loads = [subprocess.Popen(
            ["dnsperf", "-s", "127.0.0.1", "-p", str(port), "-d", str(questions), "-l", str(SECONDS), "-Q", rate,
             "-c", "4", "-q", "100", "-t", "20", "-b", "1024", "-m", mode, *more], stdout=subprocess.PIPE, text=True)
            for mode, rate, more, port in (("udp", "500", [], d.port), ("udp", "200", ["-D"], d.port),
                                           ("tcp", "200", [], d.port), ("dot", "100", [], dot),
                                           ("doh", "100", ["-O", "doh-uri=https://localhost/dns-query"], doh))]
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
