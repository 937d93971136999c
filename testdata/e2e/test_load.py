"""Many cold questions at once: nothing is lost, nothing fails, memory comes to rest.

SPDX-License-Identifier: BSD-3-Clause
"""

import itertools
import os
import re
import subprocess
import threading
import time

import pytest

COUNT = 20000


@pytest.fixture(scope="module")
def questions(net, tmp_path_factory):
    path = tmp_path_factory.mktemp("load") / "queries.txt"
    with open(os.path.join(net, "queries.txt"), encoding="ascii") as f:
        path.write_text("".join(itertools.islice(f, COUNT)))
    return path


def dnsperf(d, path, *more):
    """(sent, lost, {rcode: count}) of one run with 200 outstanding."""
    p = subprocess.run(["dnsperf", "-s", "127.0.0.1", "-p", str(d.port), "-d", path, "-q", "200", "-c", "10", *more],
                       capture_output=True, text=True, timeout=200, check=False)
    sent = int(re.search(r"Queries sent:\s+(\d+)", p.stdout).group(1))
    lost = int(re.search(r"Queries lost:\s+(\d+)", p.stdout).group(1))
    codes = re.search(r"Response codes:\s+(.*)", p.stdout).group(1)
    return sent, lost, {code: int(n) for code, n in re.findall(r"(\w+) (\d+) \(", codes)}


@pytest.mark.parametrize("mode", ["udp", "tcp"])
def test_cold_questions(daemon, questions, mode):
    with daemon("num-threads: 2") as d:
        assert dnsperf(d, questions, "-n", "1", "-m", mode) == (COUNT, 0, {"NOERROR": COUNT})


def test_reloads_while_cold_questions_are_answered(daemon, questions):
    with daemon("num-threads: 2", "msg-cache-size: 100m", "rrset-cache-size: 100m") as d:
        ending = threading.Event()

        def reload():
            while not ending.wait(0.5):
                d.control("reload")
        t = threading.Thread(target=reload)
        t.start()
        try:
            assert dnsperf(d, questions, "-n", "1") == (COUNT, 0, {"NOERROR": COUNT})
        finally:
            ending.set()
            t.join()
        before = d.stats()["total.num.cachemiss"]
        assert dnsperf(d, questions, "-n", "1")[1] == 0
        # Nothing of it was dropped by the reloads; what had a TTL of a minute may be gone.
        assert d.stats()["total.num.cachemiss"] - before < COUNT * 0.6


def resident_kb(d):
    with open("/proc/%d/status" % d.process.pid, encoding="ascii") as f:
        return int(next(line for line in f if line.startswith("VmRSS")).split()[1])


def test_memory_comes_to_rest(daemon, questions):
    """With small caches: after the second round over the same names nothing grows any more."""
    with daemon("num-threads: 2", "msg-cache-size: 2m", "rrset-cache-size: 2m") as d:
        sizes = []
        for _ in range(4):
            dnsperf(d, questions, "-n", "1")
            time.sleep(0.2)
            sizes.append(resident_kb(d))
        assert sizes[3] - sizes[1] < 4096, sizes
