"""What is asked in a benchmark: files of questions, the list of blocked names, certificates.

SPDX-License-Identifier: BSD-3-Clause

All of it lies in the folder of the miniature internet and is made anew only where it is missing.
"""

import os
import random
import re
import subprocess

HOT = 1000
BLOCKED = 417286
COLD, MANY, FORWARDED = 100000, 500000, 200000
SLOW_ZONES = 40
TLS_NAME = "bench.test"


def make(net):
    with open(os.path.join(net, "zones.txt"), encoding="ascii") as f:
        zones = f.read().split()
    kinds = {"plain": zones[0::2], "signed": zones[1::2]}
    lasting = {k: [z for z in names if apex_ttl(net, z) >= 3600] for k, names in kinds.items()}
    for kind, names in kinds.items():
        assert len(lasting[kind]) >= HOT // 2, kind
        hot = [(z, t) for t in ("A", "MX") for z in lasting[kind]][:HOT]
        write(net, "hot-" + kind, ["%s %s" % (z, {"MX": "15"}.get(t, t)) for z, t in hot])
        write(net, "streams-" + kind, ["%s %s" % h for h in hot])
        write(net, "cold-" + kind, spread("c", names, COLD))
    write(net, "cold-tenth", ["t%06d.w.%s A" % (i, kinds["signed" if i % 10 == 9 else "plain"][i * 7919 % 2000])
                              for i in range(COLD)])
    write(net, "many", spread("m", lasting["plain"], MANY))
    # One that answers everything has these, listed names too.
    write(net, "forwarded", ["f%06d.forwarded.bench.mini A" % i for i in range(FORWARDED)])
    write(net, "hot-forwarded", ["h%04d.forwarded.bench.mini A" % i for i in range(HOT)])
    write(net, "slow", spread("s", [z for z, _ in slow_zones(net)], COLD))
    make_blocked(net)
    make_certificate(net)


def spread(letter, zones, count):
    """Names nobody asked before, each in another zone than the one before it."""
    return ["%s%06d.w.%s A" % (letter, i, zones[i * 7919 % len(zones)]) for i in range(count)]


def apex_ttl(net, zone):
    with open(os.path.join(net, "zones", zone.rstrip(".")), encoding="ascii") as f:
        return next(int(line.split()[1]) for line in f if line.split()[2:4] == ["IN", "NS"])


def slow_zones(net):
    """Signed zones and an address that serves them, of several servers."""
    with open(os.path.join(net, "zones.txt"), encoding="ascii") as f:
        signed = set(f.read().split()[1::2])
    by_server, taken = [], set()
    for name in sorted(os.listdir(os.path.join(net, "conf"))):
        with open(os.path.join(net, "conf", name), encoding="ascii") as f:
            text = f.read()
        if name.startswith("hosts-"):
            address = re.search(r"ip-address: (\S+)", text).group(1)
            own = set(re.findall(r'name: "(\S+)"', text)) & signed - taken
            taken |= own
            by_server.append([(z, address) for z in sorted(own)])
    each = SLOW_ZONES // len(by_server)
    return [pair for zones in by_server for pair in zones[:each]]


def make_blocked(net):
    """Names as such lists have them, in every form that somebody reads; some are asked."""
    if os.path.exists(os.path.join(net, "blocked.rpz")):
        return
    dice = random.Random(20261120)
    words = ["ad", "ads", "track", "click", "pixel", "stat", "metric", "banner", "count", "promo", "media",
             "tag", "sync", "beacon", "cdn", "img", "affil", "push", "offer", "log", "data", "serve"]
    ends = ["com", "net", "org", "info", "xyz", "io", "co.uk", "de", "top", "online"]
    names = set()
    while len(names) < BLOCKED:
        name = "%s%s%d.%s" % (dice.choice(words), dice.choice(words), dice.randrange(60000), dice.choice(ends))
        for _ in range(dice.choice((0, 0, 1, 1, 2))):
            name = "%s%d.%s" % (dice.choice(words), dice.randrange(100), name)
        names.add(name)
    names = sorted(names)
    dice.shuffle(names)
    write(net, "blocked-asked", ["%s. A" % n for n in names[:10000]])
    write(net, "blocked.names", names)
    write(net, "blocked.lines", ['local-zone: "%s" always_nxdomain' % n for n in names])
    write(net, "blocked.dnsmasq", ["address=/%s/" % n for n in names])
    write(net, "blocked.rpz", ["$ORIGIN rpz.bench.", "$TTL 3600", "@ IN SOA a. b. 1 3600 900 86400 60",
                               "@ IN NS a."] + [n + " CNAME ." for n in names])


def make_certificate(net):
    pem, key = os.path.join(net, "tls.pem"), os.path.join(net, "tls.key")
    if os.path.exists(pem):
        return
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-days", "300", "-subj", "/CN=" + TLS_NAME, "-addext", "subjectAltName=DNS:" + TLS_NAME,
                    "-keyout", key, "-out", pem], check=True, capture_output=True)
    # Servers that change their user read it, too; it guards nothing.
    os.chmod(key, 0o644)


def write(net, name, lines):
    path = os.path.join(net, name)
    with open(path + ".new", "w", encoding="ascii") as f:
        f.writelines(line + "\n" for line in lines)
    os.replace(path + ".new", path)
