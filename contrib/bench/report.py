"""What was measured, as a table, a page and charts.

SPDX-License-Identifier: BSD-3-Clause
"""

import os

CPU = ["W1", "W1do", "W1r", "W2", "W5", "W6off", "W6on", "W6off10", "W6on10"]
TITLES = {
    "echo": "An echo, the limit of sockets",
    "W1": "UDP, 1,000 hot names by a Zipf law, all cached",
    "W1do": "The same with EDNS and DO, signed answers",
    "W1r": "W1 at 20,000 questions a second: each wakes the server",
    "W2": "TCP, 10 connections, 100 outstanding",
    "W5": "Cold: names never asked in 2,000 unsigned zones, empty cache",
    "W6off": "Cold in 2,000 signed zones (P-256), not validating",
    "W6on": "The same, validating",
    "W6off10": "Cold, a tenth of the questions in signed zones, not validating",
    "W6on10": "The same, validating",
    "W8": "Memory for one more cached answer",
    "W9": "Idle with small caches",
    "W11": "Two threads reading the same hot entries",
    "micro": "Instructions, counted by callgrind",
}


def number(result, key, digits=2):
    if result is None:
        return ""
    if "none" in result:
        return "no number"
    return "%.*f" % (digits, result[key]) if key in result else ""


def best_echo(results):
    costs = [r["cpu_us"] for r in results.get("echo", {}).values() if "cpu_us" in r]
    return min(costs) if costs else None


def rows_of(work, by_name, results):
    unbound = by_name.get("unbound", {})
    echo = best_echo(results)
    for name, r in by_name.items():
        ratio = "%.2f" % (r["cpu_us"] / unbound["cpu_us"]) if "cpu_us" in r and unbound.get("cpu_us") else ""
        limit = "%.2f" % (r["cpu_us"] / echo) if "cpu_us" in r and echo and work in ("echo", "W1", "W1do") else ""
        yield [name, number(r, "cpu_us"), number(r, "user_us"), ratio, limit, number(r, "rate", 0),
               number(r, "p50_us", 0), number(r, "p99_us", 0), number(r, "p999_us", 0),
               number(r, "upstream", 3) if work[:2] in ("W5", "W6") else ""]


CPU_HEAD = ["", "CPU µs", "user", "to Unbound", "to the echo", "per second", "p50 µs", "p99", "p99.9",
            "upstream"]


def grid(head, rows):
    """A Markdown table, with the columns in line and empty ones left out."""
    rows = [list(r) for r in rows]
    keep = [i for i in range(len(head)) if i == 0 or any(r[i] for r in rows)]
    table = [[r[i] for i in keep] for r in [head] + rows]
    wide = [max(len(r[i]) for r in table) for i in range(len(keep))]

    def line(r):
        return "| " + " | ".join(c.ljust(w) if i == 0 else c.rjust(w)
                                 for i, (c, w) in enumerate(zip(r, wide))) + " |"
    rule = "|" + "|".join("-" * (w + 2) if i == 0 else "-" * (w + 1) + ":" for i, w in enumerate(wide)) + "|"
    return "\n".join([line(table[0]), rule] + [line(r) for r in table[1:]])


def table(whole):
    results, out = whole["results"], []
    for work in ["echo"] + CPU:
        if work in results:
            out += ["", "### %s: %s" % (work, TITLES[work]), "",
                    grid(CPU_HEAD, rows_of(work, results[work], results))]
            out += reasons(results[work])
    simple = {"W8": [("bytes", "bytes", 0)], "W9": [("resident_mb", "resident MB", 1), ("start_ms", "start ms", 1)],
              "W11": [("one_ns", "one, ns a hit", 1), ("two_ns", "two, ns a hit", 1), ("growth", "growth", 2)],
              "micro": [("instructions", "instructions", 0)]}
    for work, columns in simple.items():
        if work in results:
            out += ["", "### %s: %s" % (work, TITLES[work]), "",
                    grid([""] + [title for _, title, _ in columns],
                         [[n] + [number(r, key, digits) for key, _, digits in columns]
                          for n, r in results[work].items()])]
            out += reasons(results[work])
    return "\n".join(out) + "\n"


def reasons(by_name):
    bad = ["%s: %s" % (n, " ".join(r["none"].split())) for n, r in by_name.items() if "none" in r]
    return ["", "No number for " + "; ".join(bad) + "."] if bad else []


def charts(whole, folder):
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "resolverd"
    from matplotlib import pyplot
    results, made = whole["results"], []
    groups = {"hits": ["W1", "W1do", "W1r", "W2"], "cold": ["W5", "W6off", "W6on"], "memory": ["W8", "W9"]}
    for chart, works in groups.items():
        works = [w for w in works if w in results]
        if not works:
            continue
        figure, axes = pyplot.subplots(1, len(works), figsize=(3.1 * len(works), 2.6), squeeze=False)
        for ax, work in zip(axes[0], works):
            key, unit = {"W8": ("bytes", "bytes an answer"), "W9": ("resident_mb", "MB")}.get(
                work, ("cpu_us", "CPU µs a question"))
            bars = [(n, r[key]) for n, r in results[work].items() if key in r]
            ax.barh([n for n, _ in bars], [v for _, v in bars],
                    color=["#c0392b" if n == "resolverd" else "#7f8c8d" for n, _ in bars])
            ax.invert_yaxis()
            ax.set_title("%s, %s" % (work, unit), fontsize=9)
            ax.tick_params(labelsize=8)
            if work in ("W1", "W1do") and best_echo(results):
                ax.axvline(best_echo(results), color="black", linewidth=0.8, linestyle=":")
        figure.tight_layout()
        name = "performance-%s.svg" % chart
        figure.savefig(os.path.join(folder, name), metadata={"Date": None})
        pyplot.close(figure)
        made.append(name)
    return made


def page(whole, folder):
    m = whole["machine"]
    pictures = charts(whole, folder)
    text = ["# Performance", "",
            "Written by `contrib/bench/run`; run it to have the same for your machine. Every server has one",
            "core and one worker; questions and the authoritative servers of the miniature internet (4,000",
            "zones, half of them signed) have another; all on loopback in a network namespace, no query log.",
            "The figure to compare is the CPU time, user and system of all threads, that the server took for",
            "an answered question: %s. Compare within one run only." % (
                "this was a short run of one round (`--quick`)"
                if whole["quick"] else "the median of interleaved rounds"), "",
            "Machine: %s, %d cores, Linux %s, on %s." % (m["cpu"], m["cores"], m["kernel"], m["date"]),
            "resolverd at %s; %s." % (m["resolverd"], "; ".join(
                "%s: %s" % (n, v) for n, v in sorted(m["versions"].items()))), ""]
    if m["load"] > m["cores"]:
        text += ["**The machine was busy with other work (load average %.1f): rates, latencies and times to"
                 % m["load"], "start mean little here, and CPU figures are uncertain by about a fifth.**", ""]
    text += ["![%s](%s)" % (p.split("-")[1].split(".")[0], p) for p in pictures]
    with open(os.path.join(folder, "performance.md"), "w", encoding="utf-8") as f:
        f.write("\n".join(text) + "\n" + table(whole))
