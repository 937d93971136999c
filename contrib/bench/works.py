"""The workloads: what each starts, asks and measures.

SPDX-License-Identifier: BSD-3-Clause

Each function is given the bench and a peer's name, and puts its results, one for each round.
"""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import measure
import peers as roster
from measure import LOAD_CORE, LOSS_MOST, NXDOMAIN, SERVER_CORE, NoNumber, Running, judge, measured, memory_mb
from questions import HOT, slow_zones

PORT, HELPER_PORT, ECHO_PORT, TLS_PORT, HTTPS_PORT, SLOW_PORT = 5391, 5392, 5393, 5394, 5395, 5400
DOT_PORT = 853      # the only one where everybody asks over TLS
PACE, PACE_LEAST = 20000, 18000
SLOW_MS = 200
GRAIN_US = 200      # the generator sleeps that long, so that authorities get their share of its core
MIXED_SHARE = 10    # one question in so many is cold


# -- servers in folders of their own --------------------------------------------------------------

@contextlib.contextmanager
def place(bench, name):
    folder = tempfile.mkdtemp(prefix="bench-%s." % name, dir=bench.tools)
    os.chmod(folder, 0o777)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def server(bench, name, running=None, core=SERVER_CORE, at=None, **how):
    """A peer at PORT, in the folder `at` or one of its own; `running` goes to Running, the rest says what it is."""
    with contextlib.nullcontext(at) if at else place(bench, name) as folder:
        scene = roster.Scene(folder=folder, net=bench.net, build=bench.bin, port=how.pop("port", PORT), **how)
        s = Running(roster.PEERS[name].start(scene), scene.port, core, folder, root=roster.root_of(name),
                    **(running or {}))
        s.folder = folder
        try:
            yield s
        finally:
            s.stop()


@contextlib.contextmanager
def peer(bench, name, **how):
    """As `server`; whoever can only forward has a resolver to forward to."""
    with contextlib.ExitStack() as stack:
        if roster.RECURSE not in roster.PEERS[name].can and not how.get("forward"):
            stack.enter_context(server(bench, "resolverd", core=LOAD_CORE, port=HELPER_PORT))
            how["forward"] = HELPER_PORT
        yield stack.enter_context(server(bench, name, **how))


def load(bench, questions, *options, port=PORT, **more):
    return measure.load(bench.tools, port, bench.of_net(questions), *options, **more)


def warm(bench, questions, *options):
    for _ in range(3):
        load(bench, questions, "-n", HOT, "-w", 20, *options)


def zipf(bench, questions, seconds, *options, **more):
    return load(bench, questions, "-z", 1, "-t", seconds, "-a", *options, **more)


# -- cached ---------------------------------------------------------------------------------------

def hits(bench, name, wanted):
    """W1, W1do, W1r, W2: all from one process with a warm cache."""
    seconds = bench.size.seconds
    with peer(bench, name) as s:
        warm(bench, "hot-plain", "-e", 1232)
        if "W1do" in wanted:
            warm(bench, "hot-signed", "-e", 1232, "-d")
        runs = {
            "W1": lambda: zipf(bench, "hot-plain", seconds),
            "W1do": lambda: zipf(bench, "hot-signed", seconds, "-e", 1232, "-d"),
            "W1r": lambda: in_pace(zipf(bench, "hot-plain", seconds, "-r", PACE, "-k"), PACE_LEAST),
            "W2": lambda: measure.dnsperf("tcp", PORT, bench.of_net("streams-plain"), seconds,
                                              roster.PEERS[name].of_connection),
        }
        for work in runs:
            if work in wanted:
                bench.put(work, name, lambda w=work: measured(s, runs[w]))


def in_pace(result, least):
    """At another rate the server is woken for another number of packets."""
    if judge(result)["rate"] < least:
        raise NoNumber("only %.0f questions a second could be asked: the machine is busy" % result["rate"])
    return result


def streams(bench, name, work):
    """W3, W4."""
    mode, can, port = {"W3": ("dot", roster.TLS, TLS_PORT), "W4": ("doh", roster.HTTPS, HTTPS_PORT)}[work]
    if can not in roster.PEERS[name].can:
        return
    how = {"tls_port": port} if work == "W3" else {"https_port": port}
    with server(bench, name, **how) as s:
        warm(bench, "hot-plain")
        bench.put(work, name, lambda: measured(s, lambda: measure.dnsperf(
            mode, port, bench.of_net("streams-plain"), bench.size.seconds)))


@contextlib.contextmanager
def echo_server(bench, how):
    with place(bench, "echo") as folder:
        s = Running([os.path.join(bench.tools, "echo"), str(ECHO_PORT), how], ECHO_PORT, SERVER_CORE, folder)
        try:
            yield s
        finally:
            s.stop()


def echo(bench, wanted):
    def asked(*options):
        return load(bench, "hot-plain", "-z", 1, "-t", bench.size.seconds, "-x", *options, port=ECHO_PORT)
    for how in ("one", "epoll", "batch", "epoll-batch"):
        with echo_server(bench, how) as s:
            bench.put("echo", how, lambda s=s: measured(s, asked))
            if "W1r" in wanted and how in ("one", "epoll-batch"):
                bench.put("W1r", "echo, " + how, lambda s=s: measured(
                    s, lambda: in_pace(asked("-r", PACE, "-k"), PACE_LEAST)))


# -- cold -----------------------------------------------------------------------------------------

def cold(bench, name, work):
    """W5 and the four of W6."""
    questions, validate = {
        "W5": ("cold-plain", False), "W6off": ("cold-signed", False), "W6on": ("cold-signed", True),
        "W6off10": ("cold-tenth", False), "W6on10": ("cold-tenth", True)}[work]
    count = bench.size.cold if work == "W5" else bench.size.signed
    with server(bench, name, validate=validate) as s:
        bench.put(work, name, lambda: dict(
            measured(s, lambda: load(bench, questions, "-n", count, "-t", 40, "-a")),
            resident_mb=memory_mb(s.pid)))


# As the page calls them: as contrib/bench/far does.
FAR = {"W13 unsigned": "unsigned0", "W13 tenth": "tenth0", "W13 signed": "signed0", "W13 unsigned, lost": "unsigned2",
       "W13 tenth, lost": "tenth2", "W13 signed, lost": "signed2"}
FAILED_MOST = 0.02


def far(bench, names):
    """W13: all of them, in an internet of its own."""
    asked = 60 if bench.quick else bench.names_far
    if bench.far_json:
        far_results(bench, names, asked, bench.far_json)
        return
    with tempfile.TemporaryDirectory(dir=bench.tools) as folder:
        found = os.path.join(folder, "json")
        # Both cores: its times are those of simulated distances.
        subprocess.run(["taskset", "-c", "%d,%d" % (SERVER_CORE, LOAD_CORE), sys.executable,
                        os.path.join(os.path.dirname(os.path.realpath(__file__)), "far"), "--bin", bench.bin, "--names", str(asked),
                        "--peers", ",".join(names), "--json", found, *(["--root", roster.ROOT] if roster.ROOT else [])],
                       check=True, timeout=1800)
        far_results(bench, names, asked, found)


def far_results(bench, names, asked, path):
    with open(path, encoding="ascii") as f:
        got = json.load(f)
    for work, condition in FAR.items():
        for name in names:
            bench.put(work, name, lambda r=got[condition][name]: far_one(r, asked))


def far_one(r, asked):
    if "mean_ms" not in r:
        raise NoNumber("; ".join(r["why"]) or "nothing was answered")
    if r["failed"] > FAILED_MOST * asked:
        raise NoNumber("%d of %d questions had no good answer: %s" % (r["failed"], asked, "; ".join(r["why"])))
    return {"mean_ms": r["mean_ms"], "p50_ms": r["p50"], "p90_ms": r["p90"], "p99_ms": r["p99"], "failed": r["failed"],
            "packets": r["packets"]}


def household(bench, names):
    """W14: a day of one, also without prefetching."""
    def of(r):
        if "waited" not in r:
            raise NoNumber("; ".join(r["why"]) or "nothing was answered")
        if r["failed"] > LOSS_MOST * r["questions"]:
            raise NoNumber("%d of %d questions had no good answer: %s" % (r["failed"], r["questions"], "; ".join(r["why"])))
        return {k: v for k, v in r.items() if k != "why"}

    with tempfile.TemporaryDirectory(dir=bench.tools) as folder:
        found = os.path.join(folder, "json")
        # Each is measured on its own, so that one that takes too long spoils no other.
        for name in names:
            # Both cores: its times are those of simulated distances.
            subprocess.run(["taskset", "-c", "%d,%d" % (SERVER_CORE, LOAD_CORE), sys.executable,
                            os.path.join(os.path.dirname(os.path.realpath(__file__)), "day"), "--bin", bench.bin,
                            "--hours", "0.5" if bench.quick else "24", "--peers", name, "--json", found,
                            *(["--root", roster.ROOT] if roster.ROOT else [])], check=True, timeout=900)
            with open(found, encoding="ascii") as f:
                for row, r in json.load(f).items():
                    bench.put("W14", row, lambda r=r: of(r))


def forwarding(bench, name, works):
    """W10: names nobody asked before, from a resolver on this machine that knows them all."""
    with server(bench, "resolverd", core=LOAD_CORE, port=HELPER_PORT, tls_port=DOT_PORT, serve_all=True):
        for work in works:
            tls, window = re.fullmatch(r"W10(udp|dot)(\d+)", work).groups()
            if tls == "dot" and roster.FORWARD_TLS not in roster.PEERS[name].can:
                continue
            bench.guarded(work, name, lambda w=work, t=tls, n=window: forward_once(bench, name, w, t == "dot", n))


def forward_once(bench, name, work, tls, window):
    with server(bench, name, forward=DOT_PORT if tls else HELPER_PORT, forward_tls=tls) as s:
        def run():
            before = measure.counted_by_kernel("Tcp", "PassiveOpens")
            result = load(bench, "forwarded", "-n", bench.size.forwarded, "-t", 8, "-w", window, "-a")
            opened = measure.counted_by_kernel("Tcp", "PassiveOpens") - before
            return dict(result, handshakes=opened * 1e4 / max(1, result["answered"])) if tls else result
        bench.put(work, name, lambda: measured(s, run))


# -- memory, start, lists -------------------------------------------------------------------------

def memory(bench, name):
    """W8."""
    count, first = bench.size.many, 4000
    with server(bench, name, cache_mb=1000, control=name == "resolverd") as s:
        def grown():
            # The names of zones and servers are there before it counts.
            load(bench, "many", "-n", first, "-t", 60)
            before, counted = memory_mb(s.pid), cache_mb(bench, s) if name == "resolverd" else 0
            result = judge(load(bench, "many", "-n", count, "-t", 60, "-a"))
            new = max(1, result["answered"] - first)
            result["bytes"] = (memory_mb(s.pid) - before) * 1048576 / new
            if name == "resolverd":
                result["counted"] = (cache_mb(bench, s) - counted) * 1048576 / new
            return result
        bench.put("W8", name, grown)


def control(bench, s, *words):
    out = subprocess.run([os.path.join(bench.bin, "resolver-control"), "-c", os.path.join(s.folder, "conf"), *words],
                         capture_output=True, text=True, check=False, timeout=60)
    if out.returncode:
        raise NoNumber("resolver-control %s: %s" % (" ".join(words), (out.stderr or out.stdout)[-200:]))
    return out.stdout


def cache_mb(bench, s):
    """What resolverd says its caches take."""
    return sum(int(n) for n in re.findall(r"(?m)^mem\.cache\.\w+=(\d+)$", control(bench, s, "stats_noreset"))) / 1048576


def idle(bench, name):
    """W9: also the kernel's share in the time to start is the peer's own."""
    with peer(bench, name, small=True) as s:
        time.sleep(0.3)
        bench.put("W9", name, lambda: {"resident_mb": memory_mb(s.pid), "start_ms": s.start_ms})


def blocking(bench, name, form):
    """W7: with the list and without, asked the same. What is not blocked has an answer: all is forwarded."""
    with open(bench.of_net("blocked-asked"), encoding="ascii") as f:
        listed = f.readline().split()[0]
    seconds = max(1, bench.size.seconds / 2)

    def run(blocked):
        probe = {"probe": listed, "wanted": NXDOMAIN} if blocked else {}
        with server(bench, name, blocked=blocked, running=probe, forward=HELPER_PORT) as s:
            out = {"start_ms": s.start_ms}
            warm(bench, "hot-forwarded")
            out.update(resident_mb=memory_mb(s.pid), peak_mb=memory_mb(s.pid, "VmHWM"))
            allowed = measured(s, lambda: zipf(bench, "hot-forwarded", seconds))
            out.update(allowed_us=allowed["cpu_us"], answered=allowed["answered"], busy=allowed["busy"])
            if blocked:
                load(bench, "blocked-asked", "-n", 1000, "-c", NXDOMAIN)
                refused = measured(s, lambda: load(bench, "blocked-asked", "-t", seconds, "-c", NXDOMAIN))
                out.update(blocked_us=refused["cpu_us"])
            return out

    def again():
        """From the table that was saved at the first start."""
        with place(bench, name) as folder:
            starts = []
            for _ in range(3):
                with server(bench, name, blocked=form, running={"probe": listed, "wanted": NXDOMAIN}, at=folder,
                            forward=HELPER_PORT) as s:
                    time.sleep(1)
                    starts.append(s.start_ms)
            return min(starts[1:]) / 1000

    def both():
        with server(bench, "resolverd", core=LOAD_CORE, port=HELPER_PORT, serve_all=True):
            without, out = run(""), run(form)
            if form == "list":
                out["again_s"] = again()
        out.update(without_us=without["allowed_us"], list_mb=out["resident_mb"] - without["resident_mb"],
                   list_peak_mb=out["peak_mb"] - without["resident_mb"], start_s=out["start_ms"] / 1000)
        return out
    bench.put("W7", "%s, %s" % (name, form) if len(roster.PEERS[name].forms) > 1 else name, both)


# -- under a mixed load ---------------------------------------------------------------------------

# What is commanded meanwhile, and how blocked names are written.
MIXED = {
    "mixed": (None, ""),
    "mixed, reload": (["reload"], ""),
    "mixed, zones": (["reload"], "lines"),
    "mixed, list": (["blocklist_reload"], "list"),
    "mixed, dump": (["dump_cache"], ""),
    "mixed, flush": (["flush_negative"], ""),
}


def mixed(bench, name, works):
    """Half of what the server can at most, one question in ten cold, signed and slow; meanwhile this and that."""
    servers = sorted({address for _, address in slow_zones(bench.net)})
    with place(bench, "delay") as folder:
        slow = Running([os.path.join(bench.tools, "delay"), str(SLOW_MS), str(SLOW_PORT), *servers], 0, LOAD_CORE,
                       folder)
        try:
            for work in works:
                if name == "resolverd" or not MIXED[work][0]:
                    bench.guarded(work, name, lambda w=work: mixed_once(bench, name, w))
        finally:
            slow.stop()
    if name == "resolverd" and "mixed" in works:
        bench.guarded("mixed", "echo", mixed_echo, bench, bench.results["mixed"][name][-1].get("rate"))


def mixed_echo(bench, rate):
    """What an echo shows that is asked as often: so much is the machine's own."""
    if not rate:
        return
    with echo_server(bench, "epoll-batch") as s:
        bench.put("mixed", "echo", lambda: measured(s, lambda: load(
            bench, "hot-plain", "-z", 1, "-t", bench.size.mixed_seconds, "-w", 2000, "-k", "-x", "-r", int(rate),
            "-g", GRAIN_US, port=ECHO_PORT)))


def mixed_once(bench, name, work):
    (words, blocked), seconds = MIXED[work], bench.size.mixed_seconds
    with server(bench, name, validate=True, slow_port=SLOW_PORT, control=name == "resolverd", blocked=blocked) as s:
        warm(bench, "hot-plain", "-e", 1232)
        # Keys and denials of the slow zones are known before it counts.
        load(bench, "slow", "-n", 2000, "-w", 500, "-t", 20)
        at = 2000

        def ask(seconds, *options, meanwhile=None):
            nonlocal at
            bench.cut("slow", "slow-now", at)
            result = zipf(bench, "hot-plain", seconds, "-e", 1232, "-w", 2000 if "-r" in options else 100, "-k",
                          "-m", bench.of_net("slow-now"), "-M", MIXED_SHARE, *options, meanwhile=meanwhile)
            at += result["others_sent"]
            return result

        def meanwhile():
            # A list that has not changed is not read again.
            os.utime(bench.of_net("blocked.names"))
            control(bench, s, *words)
            time.sleep(0.2)

        def run():
            # Who is asked too much may lose some; then so many a second were answered.
            most = ask(1.5)["rate"]
            if name == "resolverd":
                control(bench, s, "stats") # and what it has kept so far is forgotten
            result = dict(measured(s, lambda: in_pace(ask(
                seconds, "-r", int(most / 2), "-g", GRAIN_US, meanwhile=meanwhile if words else None),
                0.3 * most)), most=most)
            if name == "resolverd":
                turns = re.findall(r"loop\.turn\.cpu_us\.max=(\d+)", control(bench, s, "stats_noreset"))
                result["turn_us"] = max(map(int, turns))
            return result
        bench.put(work, name, run)


# -- warm start -----------------------------------------------------------------------------------

BACK = r"(\d+) answers and (\d+) RRsets loaded from \S+ in (\d+) ms"


def came_back(s, seconds=60):
    """Answers, record sets and milliseconds, as its log tells; and CPU seconds since it was started."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with open(os.path.join(s.folder, "log"), encoding="utf-8", errors="replace") as f:
            found = re.search(BACK, f.read())
        if found:
            return [int(x) for x in found.groups()], sum(measure.cpu_seconds(s.pid))
        time.sleep(0.01)
    raise NoNumber("the cache file did not come back")


def restarted(bench, questions, count, validate):
    def ask():
        return load(bench, questions, "-n", count, "-t", 40, "-a")
    how = {"validate": validate, "cache_file": True}
    with place(bench, "warm") as folder:
        with server(bench, "resolverd", at=folder, **how):
            judge(ask())
            began = time.monotonic()
        stop_ms = (time.monotonic() - began) * 1000
        size = os.path.getsize(os.path.join(folder, "cache"))
        os.unlink(os.path.join(folder, "log"))
        with server(bench, "resolverd", at=folder, **how) as s:
            (answers, sets, back_ms), cpu = came_back(s)
            result = measured(s, ask)
            return {"answers": answers, "sets": sets, "file_mb": size / 1e6, "bytes": size / (answers + sets),
                    "stop_ms": stop_ms, "start_ms": s.start_ms, "back_ms": back_ms, "back_cpu_ms": cpu * 1000,
                    "cpu_us": result["cpu_us"], "upstream": result["upstream"]}


def warm_start(bench):
    """W12: the caches over a restart, answers of unsigned zones and of signed ones (proven again)."""
    for name, questions, count, validate in (("unsigned", "cold-plain", bench.size.cold, False),
                                             ("signed", "cold-signed", bench.size.signed, True)):
        bench.put("W12", name, lambda q=questions, c=count, v=validate: restarted(bench, q, c, v))


# -- programs of their own ------------------------------------------------------------------------

def threads(bench):
    """W11: hits of one thread and of two that read the same entries; then two workers."""
    def cost():
        cores = "0-%d" % (os.cpu_count() - 1)
        out = subprocess.run(["taskset", "-c", cores, bench.program("micro_hit"), "5000000", "2"],
                             check=True, capture_output=True, text=True, timeout=120).stdout
        one = float(re.search(r"one thread: ([\d.]+)", out).group(1))
        two = [float(x) for x in re.findall(r"of 2 threads: ([\d.]+)", out)]
        return {"one_ns": one, "two_ns": max(two), "growth": max(two) / one}
    for _ in range(bench.size.rounds):
        bench.put("W11", "hits", cost)
    bench.put("W11", "workers", lambda: workers(bench))


def workers(bench):
    if os.cpu_count() < 4:
        raise NoNumber("two workers and what asks them need four cores, here are %d" % os.cpu_count())
    asking = "2-%d" % (os.cpu_count() - 1)
    rate = {}
    for count in (1, 2):
        with server(bench, "resolverd", core="0-%d" % (count - 1), threads=count):
            warm(bench, "hot-plain")
            command = ["taskset", "-c", asking, os.path.join(bench.tools, "udpload"), "-p", str(PORT), "-z", "1",
                       "-a", "-s", "32", "-w", "256", "-t", str(bench.size.seconds), "127.0.0.1",
                       bench.of_net("hot-plain")]
            many = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(os.cpu_count() - 2)]
            rate[count] = sum(judge(measure.json.loads(p.communicate(timeout=60)[0]))["rate"] for p in many)
    return {"one_rate": rate[1], "two_rate": rate[2], "growth": rate[2] / rate[1]}


def lines(bench, work, command, key):
    """What a program prints, "WHAT VALUE" in each line."""
    out = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if out.returncode:
        raise NoNumber("%s: %s" % (os.path.basename(command[0]), out.stderr[-200:]))
    for line in out.stdout.splitlines():
        what, value = line.rsplit(None, 1)
        bench.put(work, what, lambda v=value: {key: float(v)})


def micro(bench):
    lines(bench, "micro", [os.path.join(os.path.dirname(os.path.realpath(__file__)), "micro_count"),
                           os.path.dirname(bench.program("micro"))], "instructions")


def simulation(bench):
    lines(bench, "sim", [bench.program("sim"), str(bench.size.simulated)], "value")


def verify(bench):
    """One check of an ECDSA signature: what validating a name costs at least."""
    def run():
        out = subprocess.run(["taskset", "-c", str(SERVER_CORE), "openssl", "speed", "-mr", "-seconds", "1",
                              "ecdsap256"], capture_output=True, text=True, check=True, timeout=60).stdout
        each = float(re.search(r"(?m)^\+F\d+:\d+:256:[\d.]+:([\d.]+)", out).group(1))
        # Some versions tell seconds for one, some how many in a second.
        return {"cpu_us": 1e6 * (each if each < 1 else 1 / each)}
    bench.put("verify", "P-256", run)
