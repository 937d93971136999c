"""What was measured, as a table, a page and charts.

SPDX-License-Identifier: BSD-3-Clause
"""

import os
import re
import textwrap

import picture

TITLES = {
    "echo": "An echo, the limit of sockets",
    "W1": "UDP, 1,000 hot names by a Zipf law, all cached",
    "W1do": "The same with EDNS and DO, signed answers",
    "W1r": "W1 at 20,000 questions a second: each wakes the server",
    "W2": "TCP, 10 connections, 100 outstanding",
    "W3": "DNS over TLS, likewise",
    "W4": "DNS over HTTPS (HTTP/2, GET), likewise",
    "W5": "Cold: names never asked in 2,000 unsigned zones, empty cache",
    "verify": "One check of a signature, by `openssl speed`",
    "W6off": "Cold in 2,000 signed zones (P-256), not validating",
    "W6on": "The same, validating",
    "W6off10": "Cold, a tenth of the questions in signed zones, not validating",
    "W6on10": "The same, validating",
    "W7": "417,286 blocked names",
    "W8": "Memory for one more cached answer",
    "W9": "Idle with small caches",
    "W10udp100": "Forwarding, all misses, over UDP, 100 outstanding",
    "W10udp1000": "Forwarding, all misses, over UDP, 1,000 outstanding",
    "W10dot100": "Forwarding, all misses, over TLS, 100 outstanding",
    "W10dot1000": "Forwarding, all misses, over TLS, 1,000 outstanding",
    "W13 unsigned": "Time to answer names never asked, servers 5 to 200 ms away, a dead one in a tenth of the zones",
    "W13 tenth": "The same, a tenth of the zones signed, validating",
    "W13 signed": "The same, all zones signed, validating",
    "W13 unsigned, lost": "Unsigned, 2 % of packets lost each way",
    "W13 tenth, lost": "A tenth signed, 2 % lost each way",
    "W13 signed, lost": "All signed, 2 % lost each way",
    "W14": "What a household waits for in 24 hours: a resolver that prefetches, started in the morning",
    "W15": "Turns of a worker: 4,000 cached and 2,000 cold signed answers a second, on one thread",
    "W15, reload": "The same, during reloads with 417,286 local zones",
    "W15, list": "The same, while a list of 417,286 names is read again and again",
    "W15, dump": "The same, while the cache is dumped again and again",
    "W15, flush": "The same, while everything below com. is flushed again and again",
    "W15, cache file": "The same, while the cache file is written again and again",
    "W15, long": "The same, with twenty connections that ask for 62,000 bytes all the time",
    "W15, transfers": "The same, while a hundred zones are transferred again and again",
    "mixed": "Half of the rate it can at most; a tenth is cold, signed, and 200 ms away: cached answers",
    "mixed, reload": "The same, during reloads one after another",
    "mixed, zones": "The same, during reloads with 417,286 local zones",
    "mixed, list": "The same, while a list of 417,286 names is read again and again",
    "mixed, dump": "The same, while the cache is dumped again and again",
    "mixed, flush": "The same, while all denials are flushed again and again",
    "W11": "Two threads, and two workers",
    "W12": "Warm start from the cache file: what is back, and what its answers cost the first time",
    "micro": "Instructions, counted by callgrind",
    "sim": "The cache when it is full: hits in percent (SIEVE as built, exact LRU), MB, ns of an insertion",
}
COLD = ("W5", "W6off", "W6on", "W6off10", "W6on10")
# Columns: what to show, its heading, digits.
CPU = [("cpu_us", "CPU µs", 2), ("user_us", "user", 2), ("to_best", "to the best rival", 2), ("to_echo", "to the echo", 2),
       ("rate", "per second", 0), ("p50_us", "p50 µs", 0), ("p99_us", "p99", 0), ("p999_us", "p99.9", 0),
       ("mean_us", "mean µs", 0), ("upstream", "upstream", 3), ("handshakes", "handshakes in 10,000", 1)]
MIXED = [("p50_us", "p50 µs", 0), ("p99_us", "p99", 0), ("p999_us", "p99.9", 0), ("rate", "per second", 0),
         ("most", "at most", 0), ("others_p50_us", "cold, p50", 0), ("others_p99_us", "cold, p99", 0),
         ("cpu_us", "CPU µs", 2), ("turn_us", "longest turn, CPU µs or up to 1,000 less", 0)]
COLUMNS = {
    "W7": [("list_mb", "MB over no list", 1), ("list_peak_mb", "peak", 1), ("start_s", "first refused, s", 3),
           ("again_s", "from its copy, s", 3),
           ("blocked_us", "blocked, CPU µs", 2), ("allowed_us", "allowed", 2), ("without_us", "without list", 2)],
    "W8": [("bytes", "bytes", 0), ("counted", "counted as", 0)],
    "W9": [("resident_mb", "resident MB", 1), ("start_ms", "start ms", 1)],
    "W11": [("one_ns", "one, ns a hit", 1), ("two_ns", "two, ns a hit", 1), ("one_rate", "one, per second", 0),
            ("two_rate", "two, per second", 0), ("growth", "growth", 2)],
    "W12": [("answers", "answers", 0), ("sets", "record sets", 0), ("file_mb", "file, MB", 1),
            ("bytes", "bytes each", 0), ("stop_ms", "stop with writing, ms", 0), ("start_ms", "start, ms", 1),
            ("back_ms", "all back, ms", 0), ("back_cpu_ms", "CPU until then, ms", 0), ("cpu_us", "an answer, CPU µs", 2),
            ("upstream", "upstream", 3)],
    "verify": [("cpu_us", "CPU µs", 1)],
    "W13": [("mean_ms", "mean ms", 0), ("to_best", "to the best rival", 2), ("p50_ms", "p50", 0), ("p90_ms", "p90", 0),
            ("p99_ms", "p99", 0), ("p99_to_best", "to the best rival", 2), ("failed", "failed", 0),
            ("packets", "packets upstream a question", 2)],
    "W14": [("waited", "questions that waited, %", 2), ("mean_ms", "mean ms of all", 1), ("wait_ms", "of those that waited", 1),
            ("wait_p99_ms", "p99", 0), ("packets", "packets upstream a question", 3), ("failed", "failed", 0)],
    "W15": [("turn_us", "longest, CPU µs", 0), ("turn_9999_us", "99.99 % at most", 0), ("turns_over_ms", "over 1 ms", 0),
            ("turns_over", "over 300 µs, of a million", 0), ("turns", "turns", 0)],
    "micro": [("instructions", "instructions", 0)],
    "sim": [("value", "value", 2)],
}


def columns_of(work):
    return COLUMNS.get(work.split()[0].rstrip(",")) or (MIXED if work.startswith("mixed") else CPU)


def best_echo(results):
    costs = [r["cpu_us"] for r in results.get("echo", {}).values() if "cpu_us" in r]
    return min(costs) if costs else None


def best_rival(by_name, key):
    if not any(n.startswith("resolverd") for n in by_name):
        return None
    values = [r[key] for n, r in by_name.items() if key in r and not n.startswith(("resolverd", "echo"))]
    return min(values) if values else None


def label(name, versions):
    """The rival and which it is."""
    first, comma, rest = name.partition(",")
    return first + (" " + re.match(r"[\w.]*", versions[first])[0] if first in versions else "") + comma + rest


def with_ratios(work, by_name, results):
    echo = best_echo(results)
    for name, r in sorted(by_name.items(), key=lambda item: item[0].startswith("echo")):
        r = dict(r)
        if work not in COLD:
            r.pop("upstream", None)
        for key, ratio in (("cpu_us", "to_best"), ("mean_ms", "to_best"), ("p99_ms", "p99_to_best")):
            if key in r and best_rival(by_name, key):
                r[ratio] = r[key] / best_rival(by_name, key)
        if "cpu_us" in r and echo and work in ("echo", "W1", "W1do"):
            r["to_echo"] = r["cpu_us"] / echo
        yield name, r


def number(result, key, digits):
    return "%.*f" % (digits, result[key]) if key in result else ""


def grid(head, rows, text=1):
    """A Markdown table, with the columns in line and empty ones left out; the first `text` columns are words."""
    rows = [list(r) for r in rows]
    keep = [i for i in range(len(head)) if i == 0 or any(r[i] for r in rows)]
    cells = [[r[i] for i in keep] for r in [head] + rows]
    wide = [max(len(r[i]) for r in cells) for i in range(len(keep))]

    def line(r):
        return "| " + " | ".join(c.ljust(w) if i < text else c.rjust(w)
                                 for i, (c, w) in enumerate(zip(r, wide))) + " |"
    rule = "|" + "|".join("-" * (w + 2) if i < text else "-" * (w + 1) + ":" for i, w in enumerate(wide)) + "|"
    return "\n".join([line(cells[0]), rule] + [line(r) for r in cells[1:]])


def table(whole):
    results, versions, out = whole["results"], whole["machine"]["versions"], []
    for work, title in TITLES.items():
        if work not in results:
            continue
        columns = columns_of(work)
        rows = [[label(name, versions)] + [number(r, key, digits) for key, _, digits in columns]
                for name, r in with_ratios(work, results[work], results) if "none" not in r]
        out += ["", "### %s: %s" % (work, title)]
        if rows:
            out += ["", grid([""] + [heading for _, heading, _ in columns], rows)]
        out += reasons(results[work])
    return "\n".join(out) + "\n"


def reasons(by_name):
    bad = ["%s: %s" % (n, " ".join(r["none"].split())) for n, r in by_name.items() if "none" in r]
    return ["", wrapped("No number for " + "; ".join(bad) + ".")] if bad else []


def wrapped(sentence):
    return textwrap.fill(sentence, 120, break_long_words=False, break_on_hyphens=False)


# -- what is aimed at -----------------------------------------------------------------------------

def targets(results):
    """The work it comes from, what it is, the figure (None: there is none), the most it should be."""
    def of(work, key="cpu_us", name="resolverd"):
        return results.get(work, {}).get(name, {}).get(key)

    def over(a, b):
        return a / b if a is not None and b else None
    echo, verify = best_echo(results), of("verify", "cpu_us", "P-256")
    yield "W1", "to the best echo", over(of("W1"), echo), 1.05
    yield "W1", "user part, µs", of("W1", "user_us"), 0.15
    yield "W1do", "to the best echo", over(of("W1do"), echo), 1.05
    for work, most in (("W1r", 12), ("W2", 4), ("W3", 4.5), ("W4", 8), ("W5", 15)):
        yield work, "µs", of(work), most
    yield "W5", "upstream packets a question", of("W5", "upstream"), 1.02
    yield "W6off", "µs", of("W6off"), 20
    off, on = of("W6off"), of("W6on")
    yield "W6on", "more than not validating, in checks of a signature", \
        over(on - off, verify) if None not in (on, off) else None, 1.2
    yield "W6on10", "to not validating", over(of("W6on10"), of("W6off10")), 1.15
    for form in ("list", "lines"):
        yield from targets_of_lists(form, lambda key, n="resolverd, " + form: of("W7", key, n), over)
    yield "W8", "bytes", of("W8", "bytes"), 200
    yield "W9", "resident, MB", of("W9", "resident_mb"), 6
    yield "W9", "start, ms", of("W9", "start_ms"), 6
    for work, most in (("W10udp100", 13), ("W10udp1000", 13), ("W10dot100", 9), ("W10dot1000", 8)):
        yield work, "µs", of(work), most
    for n in ("100", "1000"):
        yield "W10dot" + n, "p99 to that over UDP", over(of("W10dot" + n, "p99_us"), of("W10udp" + n, "p99_us")), 1.2
    yield "W11", "a hit of two threads to one", of("W11", "growth", "hits"), 1.05
    yield "W11", "rate of one worker to half that of two", over(2, of("W11", "growth", "workers")), 1.025
    for work in (w for w in TITLES if w.startswith("W13")):
        for key, what, most in (("mean_ms", "mean", 0.85), ("p99_ms", "p99", 0.7 if "lost" in work else 0.9)):
            yield work, what + " to the best rival's", over(of(work, key), best_rival(results.get(work, {}), key)), most
    for key, what, most in (("waited", "share that waited", .5), ("packets", "packets", 1)):
        yield "W14", what + " to Unbound's", over(of("W14", key), of("W14", key, "unbound")), most
    yield "W14", "packets to those without prefetching", over(of("W14", "packets"), of("W14", "packets", "resolverd, without")), 1.1
    for work in (w for w in TITLES if w.startswith("W15")):
        yield work, "longest turn, CPU µs", of(work, "turn_us"), 1000
        yield work, "99.99 % of turns, CPU µs", of(work, "turn_9999_us"), 300
    for work in (w for w in TITLES if w.startswith("mixed")):
        yield work, "p99.9 of cached answers, µs", of(work, "p999_us"), 1000
    yield from targets_of_cache({n: r["value"] for n, r in results.get("sim", {}).items() if "value" in r}, over)


def targets_of_lists(form, of, over):
    yield "W7", form + ": MB over no list", of("list_mb"), 8
    yield "W7", form + ": peak to that", over(of("list_peak_mb"), of("list_mb")), 2
    yield "W7", form + ": until the first is refused, s", of("start_s"), 0.15
    if form == "list":
        yield "W7", form + ": the same from the saved table, s", of("again_s"), 0.02
    yield "W7", form + ": a blocked one to a cached one", over(of("blocked_us"), of("without_us")), 1
    yield "W7", form + ": an allowed one to that without list", over(of("allowed_us"), of("without_us")), 1.02


def targets_of_cache(sim, over):
    worse = [sim[n.replace("_sieve", "_lru")] - v for n, v in sim.items() if n.endswith("_sieve")]
    yield "sim", "hits that an LRU has more, points at worst", max(worse) if worse else None, 0
    yield "sim", "what malloc took to what is counted", over(sim.get("malloc_mb"), sim.get("counted_mb")), 1.03
    yield "sim", "an insertion when full to one when half full", \
        over(sim.get("insert_full_ns"), sim.get("insert_half_ns")), 1.1


def target_table(results):
    """Of what was measured."""
    rows = [[work, what, "" if got is None else "%.3f" % got if most < 0.1 else "%.2f" % got, "%g" % most,
             "no number" if got is None else "reached" if round(got, 3) <= most else "not reached"]
            for work, what, got, most in targets(results) if work in results]
    return grid(["", "", "resolverd", "at most", " "], rows, text=2)


# -- the page -------------------------------------------------------------------------------------

CHARTS = {"hits": ["W1", "W1do", "W1r"], "streams": ["W2", "W3", "W4"], "cold": ["W5", "W6off", "W6on"],
          "forwarding": ["W10udp100", "W10udp1000", "W10dot100", "W10dot1000"],
          "distance": ["W13 unsigned", "W13 signed", "W13 signed, lost"], "memory": ["W8", "W9", "W7"]}
SHOWN = {"W13": ("mean_ms", "mean, ms"), "W8": ("bytes", "bytes an answer"), "W9": ("resident_mb", "MB"), "W7": ("list_mb", "MB")}
OURS, THEIRS = "#c0392b", "#7f8c8d"


def shown(work):
    return SHOWN.get(work.split()[0], ("cpu_us", "CPU µs a question"))


def charts(whole, folder):
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "resolverd"
    matplotlib.rcParams["svg.fonttype"] = "none"
    from matplotlib import pyplot
    results = whole["results"]
    for chart, works in CHARTS.items():
        bars = {w: [(n, r[shown(w)[0]]) for n, r in results.get(w, {}).items() if shown(w)[0] in r] for w in works}
        works = [w for w in works if bars[w]]
        if not works:
            continue
        versions = whole["machine"]["versions"]
        figure, axes = pyplot.subplots(1, len(works), figsize=(3.1 * len(works), 2.6), squeeze=False)
        for ax, work in zip(axes[0], works):
            most = sorted(v for _, v in bars[work])[len(bars[work]) // 2] * 6
            ax.barh([label(n, versions) for n, _ in bars[work]], [min(v, most) for _, v in bars[work]],
                    color=[OURS if n.startswith("resolverd") else THEIRS for n, _ in bars[work]])
            for i, (_, v) in enumerate(bars[work]):
                ax.text(min(v, most), i, " %.3g" % v if v < 1000 else " %.0f" % v, va="center", fontsize=7)
            ax.margins(x=0.2)
            ax.invert_yaxis()
            ax.set_title("%s, %s" % (work, shown(work)[1]), fontsize=9)
            ax.tick_params(labelsize=8)
            if work in ("W1", "W1do") and best_echo(results):
                ax.axvline(best_echo(results), color="black", linewidth=0.8, linestyle=":")
        figure.tight_layout()
        name = "performance-%s.svg" % chart
        figure.savefig(os.path.join(folder, name), metadata={"Date": None})
        pyplot.close(figure)
        yield name


def configurations(about):
    out = ["", "## Configurations", "", "Each where it validates. DIR is a folder of its own, NET that of the miniature internet."]
    for name, text in about["configurations"].items():
        out += ["", "### Configuration of %s" % label(name, about["versions"]), ""]
        if name in about["notes"]:
            out += [wrapped("Where it could be doing better: " + about["notes"][name]), ""]
        out += ["    " + line if line else "" for line in text.splitlines()]
    return "\n".join(out) + "\n"


def page(whole, path):
    m, size = whole["machine"], whole["size"]
    folder = os.path.dirname(path)
    os.makedirs(folder, exist_ok=True)
    unsteady = m["echoes"] and m["echoes"][-1] > 1.2 * m["echoes"][0]
    if unsteady:
        whole["results"].pop("echo", None) # it is no measure for anybody
    pictures = list(charts(whole, folder))
    text = ["# Performance", "",
            "Written by `contrib/bench/run`, which measures the same on your machine. Each server has one core and",
            "one worker; the clients and the authoritative servers of a miniature internet (4,000 zones, half of",
            "them signed) have another; everything is on loopback in a network namespace, without query logs.",
            "The figure to compare is the server's CPU time, user and system of all threads, for an answered",
            "question: medians of %d interleaved round%s of %g s; one round where every" % (
                size["rounds"], "s" if size["rounds"] > 1 else "", size["seconds"]),
            "question is cold (%d, signed %d) or memory is measured (%d). Compare only within one run." % (
                size["cold"], size["signed"], size["many"]),
            "Dotted lines show the best echo. A result that would be meaningless is left out. The echo in W1r and",
            "mixed is asked as often as resolverd and does nothing else: its CPU time, p99 and p99.9 are those of",
            "the machine itself.", "",
            "W13 is another internet, in one process, whose servers are 5, 30, 80 and 200 ms away: 300 to 400 distinct",
            "names, 40 a second, A 55 %, AAAA 20, HTTPS 15, then PTR, MX, TXT, SRV; 15 % aliases, 30 % of zones with servers",
            "outside, a dead server in 10 % and a lame one in 4 %. Its clients ask again after 3 s. Times are those of the",
            "simulated distances. Names of W5 and W6 are of type A.", "",
            "W14 is a third one, of unsigned zones 15 to 200 ms away, without faults and losses. Twelve devices (people's, that",
            "sleep and wake, and things that call home) ask 31,000 questions of 24 hours, A, AAAA and HTTPS together where they",
            "browse: pages of 1 to 300 names by Zipf laws, with TTLs of 10 s to a day; a device asks again after a minute at the",
            "earliest. Everybody but *without* prefetches as its manual advises. The clocks of all are moved on whenever the resolver sleeps, so",
            "that no TTL and no distance is scaled; a timer may go off a second late, and 2 ms of work hide behind each distance.",
            "A question waited if a packet for it was on its way.", "",
            "Ratios are to the best rival of each row. Each rival's configuration is at the end, with what it could do better.", "",
            wrapped("Machine: %s, %d cores, %.0f GB, %s, Linux %s, on %s; %.0f minutes." % (
                m["cpu"], m["cores"], m["memory_gb"], m["system"], m["kernel"], m["date"], m["minutes"])),
            wrapped("resolverd %s; %s." % (m["resolverd"], "; ".join(
                "%s %s" % (n, v) for n, v in sorted(m["versions"].items())))), ""]
    if m["load"] > m["cores"]:
        text += ["**The machine was busy with other work (load average %.1f): CPU figures are uncertain by about a"
                 % m["load"], "fifth, times to start more than that.**", ""]
    if unsteady:
        text += ["**Other work came and went: the same echo cost %.2f to %.2f µs, before and after; no ratio to it is told.**" % (
            m["echoes"][0], m["echoes"][-1]), ""]
    if whole["quick"]:
        text += ["**This was a short run (`--quick`): figures are coarse, those of cold questions far too high.**", ""]
    else:
        text += ["## Targets", "", target_table(whole["results"]), "", "## What was measured", ""]
    text += ["![%s](%s)" % (p.split("-")[1].split(".")[0], p) for p in pictures]
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(text) + "\n" + table(whole) + configurations(m))
    with open(os.path.splitext(path)[0] + ".svg", "w", encoding="utf-8") as f:
        f.write(picture.draw(path))
