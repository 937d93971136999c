"""Servers that are started and watched: their CPU time, their memory, what they answer to a load.

SPDX-License-Identifier: BSD-3-Clause
"""

import json
import os
import re
import socket
import struct
import subprocess
import sys
import time

SERVER_CORE, LOAD_CORE = 0, 1
LOSS_MOST = 0.001
TICKS = os.sysconf("SC_CLK_TCK")
NXDOMAIN = 3


class NoNumber(Exception):
    """Why there is none."""


# What may go wrong with one of many measurements, and is to spoil no other.
TROUBLE = (NoNumber, subprocess.SubprocessError, OSError, AttributeError, KeyError, ValueError, ZeroDivisionError)


class Lost(NoNumber):
    """Questions were lost: once more, it may have been somebody else's doing."""


# -- what the system tells ------------------------------------------------------------------------

def cpu_seconds(pid):
    """User and system time of all threads, and of children that have ended."""
    with open("/proc/%d/stat" % pid, encoding="latin-1") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[13])) / TICKS, (int(fields[12]) + int(fields[14])) / TICKS


def core_seconds(core):
    """Time that programs had on this core, and what the machine's host took of it."""
    with open("/proc/stat", encoding="ascii") as f:
        fields = next(line for line in f if line.startswith("cpu%d " % core)).split()
    return sum(int(fields[i]) for i in (1, 2, 3, 8)) / TICKS


def memory_mb(pid, key="VmRSS"):
    with open("/proc/%d/status" % pid, encoding="utf-8") as f:
        return int(re.search(key + r":\s+(\d+)", f.read()).group(1)) / 1024


def counted_by_kernel(protocol, what):
    """A counter of this network namespace, whoever moved it."""
    with open("/proc/net/snmp", encoding="ascii") as f:
        names, values = [line.split() for line in f if line.startswith(protocol + ":")]
    return int(values[names.index(what)])


def in_namespace():
    """The program that was started, once more, in a network namespace of its own."""
    if "BENCH_INSIDE" in os.environ:
        return
    flags = "-n" if os.geteuid() == 0 else "-rn"
    os.execvpe("unshare", ["unshare", flags, "sh", "-c", 'ip link set lo up && exec "$@"', "sh", sys.executable, *sys.argv],
               dict(os.environ, BENCH_INSIDE="1"))


# -- servers --------------------------------------------------------------------------------------

def ask_once(port, name, timeout):
    """The rcode, or None when nothing came."""
    wire = struct.pack("!6H", 4711, 0x100, 1, 0, 0, 0)
    wire += b"".join(bytes([len(p)]) + p.encode() for p in name.split(".") if p) + b"\0\0\1\0\1"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.settimeout(timeout)
        try:
            s.connect(("127.0.0.1", port))
            s.send(wire)
            return s.recv(4096)[3] & 15
        except OSError:
            return None


def last_words(folder):
    """What a program complained about."""
    with open(os.path.join(folder, "out"), encoding="utf-8", errors="replace") as f:
        lines = [" ".join(line.replace(folder + "/", "").split()) for line in f if line.strip()]
    bad = [line for line in lines if re.search("error|fatal|cannot|failed", line, re.I)] or lines
    return ": " + bad[0][-160:] if bad else ""


def cores(which):
    """Of a number or of two with a dash between."""
    first, _, last = str(which).partition("-")
    return set(range(int(first), int(last or first) + 1))


class Running:
    """A started program: `pid`, and how long it took until it gave its first answer, or the wanted one."""

    roomy = ""  # a library that gives all of them the same socket buffers

    def __init__(self, command, port, core, folder, probe="version.bind", wanted=None, patience=30, root=""):
        self.pid, self.process = None, None
        # Whoever started it is gone: then it goes, too.
        command = ["setpriv", "--pdeathsig", "KILL", *command]
        here = os.sched_getaffinity(0)

        def enter():
            os.chroot(root)
            os.chdir(folder)
        with open(os.path.join(folder, "out"), "wb") as out:
            os.sched_setaffinity(0, cores(core))
            began = time.monotonic()
            try:
                self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out,
                                                stderr=out, cwd=folder, preexec_fn=enter if root else None,
                                                env=dict(os.environ, LD_PRELOAD=self.roomy))
            except OSError as e:
                raise NoNumber("it could not be started: %s" % e) from e
            finally:
                os.sched_setaffinity(0, here)
        self.pid = self.process.pid
        while port:
            got = ask_once(port, probe, 0.002 if wanted is None else 0.02)
            if got is not None and wanted in (None, got):
                break
            if self.process.poll() is not None or time.monotonic() - began > patience:
                why = "it ended" if self.process.poll() is not None else \
                    "no answer in %d s" % patience if got is None else "it answered with code %d" % got
                self.stop()
                raise NoNumber("it did not start: %s%s" % (why, last_words(folder)))
        self.start_ms = (time.monotonic() - began) * 1000

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


# -- loads ----------------------------------------------------------------------------------------

def load(tools, port, questions, *options, meanwhile=None):
    """udpload's result; `meanwhile` is called again and again until it is there."""
    command = [os.path.join(tools, "udpload"), "-p", str(port), *map(str, options), "127.0.0.1", questions]
    if "-r" in options:
        # Who keeps a pace is not to wait for the authoritative servers.
        command = ["nice", "-n", "-10", *command]
    p = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        while meanwhile and p.poll() is None:
            meanwhile()
        out = p.communicate(timeout=300)[0]
    finally:
        p.kill()
        p.wait()
    if p.returncode:
        raise NoNumber("the generator failed")
    return json.loads(out)


def dnsperf(mode, port, questions, seconds, of_connection=0):
    """Ten connections, a hundred questions outstanding; of each connection so many questions at most."""
    more = ["doh-uri=https://bench.test/dns-query", "doh-method=GET"] if mode == "doh" else []
    if of_connection:
        more.append("num-queries-per-conn=%d" % of_connection)
    out = subprocess.run(["dnsperf", "-m", mode, "-s", "127.0.0.1", "-p", str(port), "-d", questions,
                          "-l", str(seconds), "-c", "10", "-q", "100", "-t", "3",
                          *(x for option in more for x in ("-O", option))],
                         check=False, capture_output=True, text=True, timeout=120)
    if out.returncode:
        raise NoNumber("dnsperf failed: " + out.stderr[-200:])

    def number(pattern):
        m = re.search(pattern, out.stdout)
        return float(m.group(1)) if m else 0.0
    done, asked = number(r"Queries completed:\s+(\d+)"), number(r"Queries sent:\s+(\d+)")
    return {"sent": int(asked), "answered": int(done), "lost": int(asked - done),
            "wrong_rcode": int(done - number(r"NOERROR (\d+)")), "wrong_id": 0, "wrong_question": 0,
            "empty": 0, "seconds": number(r"Run time \(s\):\s+([\d.]+)"),
            "rate": number(r"Queries per second:\s+([\d.]+)"),
            "mean_us": number(r"Average Latency \(s\):\s+([\d.]+)") * 1e6}


def judge(result):
    """The result, if it means anything."""
    kinds = {"wrong_rcode": "with another RCODE", "wrong_question": "to another question",
             "empty": "without records", "wrong_id": "not asked for, or too late"}
    bad = sum(result[k] for k in kinds)
    if not result["answered"]:
        raise NoNumber("nothing was answered")
    if bad:
        raise NoNumber("%d of %d answers were wrong: %s" % (bad, result["answered"], ", ".join(
            "%d %s" % (result[k], text) for k, text in kinds.items() if result[k])))
    if result["lost"] > LOSS_MOST * result["sent"]:
        raise Lost("%d of %d questions were lost" % (result["lost"], result["sent"]))
    return result


def measured(server, work):
    """What `work` gives, with the server's CPU time for each answer added."""
    for last in (False, True):
        before, seen, core = cpu_seconds(server.pid), counted_by_kernel("Udp", "InDatagrams"), core_seconds(SERVER_CORE)
        began = time.monotonic()
        try:
            result = judge(work())
            break
        except Lost:
            if last:
                raise
    took, after = time.monotonic() - began, cpu_seconds(server.pid)
    seen, core = counted_by_kernel("Udp", "InDatagrams") - seen, core_seconds(SERVER_CORE) - core
    n = result["answered"]
    result["user_us"] = (after[0] - before[0]) * 1e6 / n
    result["system_us"] = (after[1] - before[1]) * 1e6 / n
    result["cpu_us"] = result["user_us"] + result["system_us"]
    # A question and its answer are two datagrams, at the client's side and at the authority's.
    result["upstream"] = max(0, seen - result["sent"] - n) / 2 / n
    result["busy"] = max(0.0, core - sum(after) + sum(before)) / took
    return result
