"""What the two programs that check a configuration say of one: whether it holds, and each option in it.

SPDX-License-Identifier: BSD-3-Clause
"""

import os
import re
import subprocess

from compare import compare
from scene import marked, question


def run(program, *args):
    done = subprocess.run([program, *args], capture_output=True, text=True, errors="replace", timeout=20, check=False)
    return done.returncode, done.stdout, done.stderr


def check_both(case, build, folder, net, rules):
    """Rows of a case at resolver-checkconf and unbound-checkconf."""
    conf, rows = os.path.join(folder, "checked.conf"), []
    for name, lines in case.files.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write("".join(line + "\n" for line in lines))
    with open(conf, "w", encoding="utf-8") as f:
        f.write("server:\n    chroot: \"\"\n    username: \"\"\n    directory: \"%s\"\n    do-not-query-localhost: no\n" % folder)
        f.write("    root-hints: \"%s/root.hints\"\n    module-config: \"%s\"\n    auto-trust-anchor-file: \"\"\n" % (net, case.modules))
        f.write("".join("    " + line % {"net": net, "dir": folder} + "\n" for line in case.conf if not line.startswith("local-data-follow-cname")))
    programs = (os.path.join(build, "resolver-checkconf"), "/usr/sbin/unbound-checkconf")

    def row(what, field, pair):
        q = marked(question(0, what, "TXT", []), case)
        rows.append((q, *pair, compare(q, *pair, rules, [field])))

    checked = [run(p, conf) for p in programs]
    row("the-check", "rcode", [{"rcode": "holds" if code == 0 else "refused", "log": ""} for code, _, _ in checked])
    if checked[0][0]:  # whatever unbound says, we tell in which line
        placed = bool(re.search(r"^\S+:[0-9]+: error: ", checked[0][2], re.M))
        row("the-line", "said", [{"rcode": "", "said": "told"}, {"rcode": "", "said": "told"}] if placed else
            [{"rcode": "", "said": checked[0][2][:200].strip()}, {"rcode": "", "said": "told"}])
    names = dict.fromkeys(name for line in case.conf for name in re.findall(r"(?:^|\s)([a-z0-9-]+):(?=\s)", line))
    for name in [] if checked[0][0] or checked[1][0] else names:
        said = [run(p, "-o", name, conf) for p in programs]
        if said[1][0] == 0:
            row("-o " + name, "said", [{"rcode": "", "said": text.strip().replace("\n", "; ")} for _, text, _ in said])
    return rows, ""
