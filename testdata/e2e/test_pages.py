"""What the pages in doc/ say of a running daemon is whole: every key of the statistics is explained.

SPDX-License-Identifier: BSD-3-Clause
"""

import os
import re

DOC = os.path.join(os.path.dirname(__file__), "..", "..", "doc")


def explained():
    """Every word in backquotes that stands first in a row of a table; `.x` behind `a.b.y` is `a.b.x`."""
    words = set()
    with open(os.path.join(DOC, "statistics.md"), encoding="utf-8") as f:
        for line in f:
            last = ""
            for word in re.findall(r"`([^`]+)`", line.split("|")[1] if line.startswith("|") else ""):
                last = last.rsplit(".", 1)[0] + word if word.startswith(".") else word
                words.add(last)
    return words


def test_every_key_of_the_statistics_is_explained(daemon, tmp_path):
    hosts = tmp_path / "hosts"
    hosts.write_text("192.0.2.1 a.example\n", encoding="ascii")
    blocked = tmp_path / "blocked"
    blocked.write_text("b.example\n", encoding="ascii")
    with daemon("extended-statistics: yes", "statistics-inhibit-zero: no", 'hosts-file: "%s"' % hosts,
                more='blocklist:\n    name: "LIST"\n    file: "%s"\n' % blocked) as d:
        keys = {re.sub(r"^(thread\d+|total)\.", "", k) for k in d.stats()}
    words = explained()
    # One of a family stands for all of it.
    families = {w.rsplit(".", 1)[0] for w in words
                if re.match(r"num\.(query\.(type|class|opcode|blocked)|answer\.rcode|rpz\.action)\.", w)}
    missing = {k for k in keys if k not in words and k.rsplit(".", 1)[0] not in families and not k.startswith("histogram.")}
    assert not missing, sorted(missing)
    assert {"histogram.A.to.B"} <= words
