#!/usr/bin/python3
"""The picture of the README, drawn from the tables of doc/performance.md: no figure in it is written by hand.

SPDX-License-Identifier: BSD-3-Clause

    contrib/bench/picture.py doc/performance.md doc/performance.svg
    contrib/bench/picture.py --check doc/performance.md doc/performance.svg    # 1 when it shows something else
"""

import re
import sys

PANELS = [("W1", "cached, over UDP"), ("W3", "cached, over TLS"), ("W4", "cached, over HTTPS"),
          ("W5", "cold, unsigned"), ("W6on", "cold, signed, validated"), ("W10dot100", "forwarded over TLS")]
SERVERS = [("resolverd", "resolverd"), ("unbound", "Unbound"), ("knot", "Knot"),
           ("powerdns", "PowerDNS"), ("bind", "BIND")]
ACROSS, WIDE, HIGH, LEFT, TOP, ROW, BAR = 3, 268, 134, 74, 44, 20, 13
MOST = 6        # a bar longer than so many times the middle one is cut
STYLE = """text { font: 12px system-ui, sans-serif; fill: #24292f }
.head { font-weight: 600; font-size: 13px } .small { font-size: 11px; fill: #57606a }
.ours { fill: #c0392b } .theirs { fill: #8c959f } .cut { fill: #ffffff }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .small { fill: #9198a1 } .ours { fill: #ff7b72 } .theirs { fill: #6e7681 } .cut { fill: #0d1117 }
}"""


def read_page(path):
    """Work, server, heading: the words of the page's tables; and who was measured."""
    tables, work, head, measured = {}, None, None, ""
    with open(path, encoding="utf-8") as f:
        for line in f:
            if line.startswith("### "):
                work, head = line[4:].split(":")[0], None
            elif line.startswith("resolverd "):
                measured = line.strip().rstrip(".")
            elif work and line.startswith("|"):
                cells = [c.strip() for c in line.strip().strip("|").split("|")]
                if head is None:
                    head = cells
                elif not set(cells[0]) <= set("-:"):
                    # "unbound 1.26.2, lines": the version is told below the picture.
                    tables.setdefault(work, {})[re.sub(r"^(\w+) \d[\w.]*", r"\1", cells[0])] = dict(zip(head[1:], cells[1:]))
    return tables, measured


def versions(measured):
    """Of those that are shown, as "resolverd 0.1.0, Unbound 1.17.1, ..."."""
    said = dict(part.split(" ", 1) for part in measured.split("; ") if " " in part)
    return ", ".join("%s %s" % (title, re.match(r"[\w.]*", said[name])[0]) for name, title in SERVERS if name in said)


def panel(title, figures, x, y):
    known = sorted(figures[n] for n, _ in SERVERS if n in figures)
    most = min(known[-1], known[len(known) // 2] * MOST)
    room = WIDE - LEFT - 52
    yield '<text class="head" x="%d" y="%d">%s</text>' % (x, y, title)
    for i, (name, label) in enumerate(SERVERS):
        at = y + 10 + i * ROW
        yield '<text class="small" x="%d" y="%d" text-anchor="end">%s</text>' % (x + LEFT - 6, at + 10, label)
        if name not in figures:
            yield '<text class="small" x="%d" y="%d">no figure</text>' % (x + LEFT, at + 10)
            continue
        length = max(room * min(figures[name], most) / most, 1)
        yield '<rect class="%s" x="%d" y="%d" width="%.1f" height="%d" rx="2"/>' % (
            "ours" if name == "resolverd" else "theirs", x + LEFT, at, length, BAR)
        if figures[name] > most:
            yield '<rect class="cut" x="%d" y="%d" width="4" height="%d" transform="skewX(-15)"/>' % (
                x + LEFT + length - 14 + (at + 6) * 0.268, at, BAR)
        yield '<text x="%.1f" y="%d">%s</text>' % (x + LEFT + length + 5, at + 11, "%.3g" % figures[name])


def draw(page):
    tables, measured = read_page(page)
    rows = (len(PANELS) + ACROSS - 1) // ACROSS
    high = TOP + rows * HIGH + 14
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img">'
           % (ACROSS * WIDE, high, ACROSS * WIDE, high),
           "<title>CPU time for one answered question</title>", "<style>%s</style>" % STYLE,
           '<text class="head" x="0" y="16">CPU time for one answered question, in µs (less is better)</text>']
    for i, (work, title) in enumerate(PANELS):
        figures = {n: float(r["CPU µs"]) for n, r in tables.get(work, {}).items() if r.get("CPU µs")}
        if "resolverd" in figures:
            out += panel(title, figures, i % ACROSS * WIDE, TOP + i // ACROSS * HIGH)
    out += ['<text class="small" x="0" y="%d">%s; one core each</text>' % (high - 8, versions(measured)), "</svg>", ""]
    return "\n".join(out)


def main(words):
    check = words[:1] == ["--check"]
    page, picture = words[check:]
    text = draw(page)
    if check:
        with open(picture, encoding="utf-8") as f:
            return 0 if f.read() == text else 1
    with open(picture, "w", encoding="utf-8") as f:
        f.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
