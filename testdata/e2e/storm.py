"""What to say at random: every command of daemon/control/control.def with arguments of their kind, every option of
util/conf/options.def with values of its kind. A new row takes part by itself; a new kind is a row below.

SPDX-License-Identifier: BSD-3-Clause
"""

import os
import random
import re

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
TEXT = r'"((?:[^"\\]|\\.)*)"'
# Clauses of which there is one: their options can be set alone.
SINGLE = ("server", "remote_control", "dnstap", "cachedb", "metrics", "ipset")
# Who drives the storm has to be heard.
SPARED_OPTIONS = re.compile(r"control-(enable|interface|port|use-cert|key-file|cert-file)$")
SPARED_COMMANDS = {"stop"}

NAMES = ["mini.", "chain.mini.", "target.chain.mini.", "n1.w.rsa.mini.", "rsa.mini.", "b1-1.example.", "here.example.",
         "more.example.", "fwd.example.", "tls.lab.", "a.near.lab.", "near.lab.", "moved.example.", "policy.example.",
         "h7.lan.", "pc.home.arpa.", ".", "1.0.0.127.in-addr.arpa.", "denied.example.", "localhost."]
TYPES = ["A", "AAAA", "NS", "SOA", "TXT", "DNSKEY", "MX", "PTR", "ANY", "HTTPS", "TYPE65280"]
ZONE_TYPES = ["static", "deny", "refuse", "redirect", "transparent", "typetransparent", "inform", "inform_deny",
              "inform_redirect", "always_transparent", "always_refuse", "always_nxdomain", "always_nodata",
              "always_deny", "always_null", "noview", "nodefault", "block_a", "truncate"]
RECORDS = ["here.example. 60 IN A 192.0.2.1", "here.example. AAAA 2001:db8::1", "more.example. TXT text",
           "a.more.example. 5 IN MX 10 mail.more.example.", "b1-1.example. CNAME here.example.", "x.lan. A 192.0.2.7"]
ADDRESSES = ["127.0.0.3", "127.0.0.9@5353", "192.0.2.53", "2001:db8::53"]
BLOCKS = ["127.9.0.0/16", "10.0.0.0/8", "192.0.2.0/24", "2001:db8::/32", "198.18.0.40/32"]
VIEWS = ["lan", "guests", "none"]
TAGS = ["red", "green", "red green"]


class Dice(random.Random):
    def __init__(self, seed):
        super().__init__(seed)
        self.options = [o for o in options() if not SPARED_OPTIONS.match(o["name"])]
        self.files = ["/nonexistent/file"]  # the test adds those that are there

    def one(self, *what):
        return self.choice(what)

    # -- commands -------------------------------------------------------------------------------------

    def placeholder(self, word):
        at_random = {
            "NUMBER": lambda: str(self.randrange(5)), "COUNT": lambda: str(self.randrange(1, 500)),
            "NAME": lambda: self.choice(NAMES), "ZONE": lambda: self.choice(NAMES),
            "TYPE": lambda: self.choice(self.one(TYPES, ZONE_TYPES)), "CLIENT": lambda: self.one("127.0.0.1", "127.9.0.7"),
            "ADDRESS": lambda: self.choice(ADDRESSES), "RECORD": lambda: self.choice(RECORDS),
            "VIEW": lambda: self.choice(VIEWS), "LIST": lambda: self.one("storm", "none"),
            "HEX": lambda: "%032x" % self.getrandbits(128), "TIME": lambda: self.one("1", "2s"),
            "OPTION": lambda: self.choice(self.options)["name"]}
        return at_random[word]()  # no such row? a new kind of argument wants one

    def arguments(self, form):
        """Words as the table's form of them wants: [optional], one | other, NAME, +letters, WORD..., or as they stand."""
        tokens, out = re.findall(r"\[|\]|\||[^\s\[\]|]+", form), []

        def alternatives(at):
            ways, way = [], []
            while at < len(tokens) and tokens[at] != "]":
                if tokens[at] == "|":
                    ways.append(way)
                    way = []
                elif tokens[at] == "[":
                    inner, at = alternatives(at + 1)
                    way.append(inner)
                else:
                    way.append(tokens[at])
                at += 1
            return [*ways, way], at

        def say(ways):
            for item in self.choice(ways):
                if isinstance(item, list):
                    if self.random() < 0.5:
                        say(item)
                elif item.startswith("+"):
                    out.append("+" + "".join(self.sample(item[1:], self.randint(1, len(item) - 1))))
                elif item.rstrip(".").isupper():
                    for _ in range(self.randint(1, 2) if item.endswith("...") else 1):
                        out.append(self.placeholder(item.rstrip(".")))
                else:
                    out.append(item)
        say(alternatives(0)[0])
        return out

    def command(self, row):
        """A line, and the body that follows it or None."""
        word, form, place = row
        if form == "OPTION: VALUE":
            return "%s %s" % (word, self.setting(self.choice(self.options))), None
        line = " ".join([word, *self.arguments(form)])
        if place != "BODY":
            return line, None
        if word == "load_cache":
            return line, None  # the test has what was dumped
        alone = {w: f for w, f, _ in commands()}[word.replace("datas", "data").replace("zones", "zone")]
        alone = alone.replace("VIEW ", "")
        return line, "".join(" ".join(self.arguments(alone)) + "\n" for _ in range(self.randrange(20)))

    # -- options --------------------------------------------------------------------------------------

    def value(self, o):
        at_random = {
            "ANCHOR": lambda: ". IN DS 20326 8 2 " + "e0" * 32, "ANCHOR_FILE": self.file, "BACKEND": lambda: self.one("redis", "x"),
            "CLIENT_PRIVACY": lambda: self.one("none", "mask", "hash"), "CONTROL_FILE": self.file,
            "COOKIE_SECRET": lambda: self.placeholder("HEX"), "DATE": lambda: self.one("", "0", "-1", "20240229123456"),
            "DOMAIN": lambda: self.choice(NAMES), "DOMAIN_NUMBER": lambda: "%s %d" % (self.choice(NAMES), self.randrange(1000)),
            "DOMAIN_TAGS": lambda: "%s %s" % (self.choice(NAMES), self.tags()), "ENDPOINT": lambda: self.one("/dns-query", "/q"),
            "FETCH_POLICY": lambda: self.one("0 0 0 0 0", "3 2 1 0 0"), "FOLDER": self.file, "FOLLOWED": self.file,
            "INTERFACE": lambda: self.one("127.0.0.1", "127.0.0.2@%d" % self.randrange(20000, 25000), "::1"),
            "INTERFACE_ACTION": lambda: "127.0.0.1 " + self.action(), "INTERFACE_TAGS": lambda: "127.0.0.1 " + self.tags(),
            "INTERFACE_TAG_DATA": lambda: '127.0.0.1 red "A 192.0.2.1"', "INTERFACE_TAG_TYPE": lambda: "127.0.0.1 red " + self.kind(),
            "INTERFACE_VIEW": lambda: "127.0.0.1 " + self.choice(VIEWS), "MODULES": lambda: "validator iterator",
            "NETBLOCK": self.block, "NETBLOCK_ACTION": lambda: "%s %s" % (self.block(), self.action()),
            "NETBLOCK_DATA": lambda: self.block() + ' "A 192.0.2.9"',
            "NETBLOCK_IP_ACTION": lambda: "%s %s" % (self.block(), self.kind()),
            "NETBLOCK_LIMIT": lambda: "%s %d" % (self.block(), self.randrange(100)),
            "NETBLOCK_NUMBER": lambda: "%s %d" % (self.block(), self.randrange(100)),
            "NETBLOCK_TAGS": lambda: "%s %s" % (self.block(), self.tags()),
            "NETBLOCK_TAG_DATA": lambda: self.block() + ' green "A 192.0.2.8"',
            "NETBLOCK_TAG_TYPE": lambda: "%s green %s" % (self.block(), self.kind()),
            "NETBLOCK_TEXT": lambda: self.block() + " text", "NETBLOCK_VIEW": lambda: "%s %s" % (self.block(), self.choice(VIEWS)),
            "NSEC3_PAIRS": lambda: self.one("1024 10 2048 20", "1024 150"), "NSID": lambda: self.one("ascii_abc", "00ff"),
            "LOG_FORMAT": lambda: self.one("text", "json"), "NONEMPTY": self.file, "PIPE": self.file,
            "OUTGOING": lambda: self.one("127.0.0.1", "127.0.0.8"), "PORT": lambda: str(self.randrange(20000, 25000)),
            "PORTS": lambda: self.one("", "8053", "8053 8054"), "PORT_RANGE": lambda: self.one("30000-31000", "32000", "33000-60000"),
            "PREFIX64": lambda: self.one("64:ff9b::/96", "2001:db8::/96"), "PTR_RECORD": lambda: '"192.0.2.7 x.lan"',
            "READABLE": self.file, "READABLE_GLOB": self.file, "RECORD": lambda: '"%s"' % self.choice(RECORDS),
            "SANDBOX": lambda: self.one("yes", "no", "strict"), "SERVER_ADDRESS_OR_EMPTY": lambda: self.one("", "127.0.0.7@6000"),
            "SHA1_TRUST": lambda: self.one("yes", "no", "insecure"), "TAGS": self.tags, "TEXT255": lambda: '"a b"',
            "TLS_PROTOCOLS": lambda: self.one("TLSv1.2 TLSv1.3", "TLSv1.3"), "USER": lambda: self.one("nobody", ""),
            "WRITABLE": self.file, "ZONE_NETBLOCK_TYPE": lambda: "%s %s %s" % (self.choice(NAMES), self.block(), self.kind()),
            "ZONE_TYPE": lambda: "%s %s" % (self.choice(NAMES), self.kind())}
        by_type = {
            "FLAG": lambda: self.one("yes", "no"), "NUMBER": lambda: self.number(o), "SECONDS": lambda: self.number(o),
            "MS": lambda: self.number(o), "SIZE": lambda: self.one("0", "1k", "64k", "1m", "4m", "16m"),
            "FILE": self.file, "STRING": lambda: self.one("", '"some text"', "word"), "WORD": lambda: "word",
            "LIST": lambda: "word", "DOMAIN": lambda: self.choice(NAMES)}
        # What a number must look like is told by its limits; what a text must, by its check.
        if o["check"] in at_random and o["type"] in ("FILE", "STRING", "WORD", "LIST"):
            return at_random[o["check"]]()
        assert o["type"] in ("FLAG", "NUMBER", "SECONDS", "MS", "SIZE") or o["check"] == "ANY", "a row for %(check)s" % o
        return by_type[o["type"]]()

    def number(self, o):
        """Small ones, and those at the limits; none so large that it takes all memory."""
        least, most = (int(x) if x.isdigit() else None for x in (o["least"], o["most"]))
        return str(min(self.one(least or 0, most if most is not None and most < 70000 else 300, self.randrange(5000)),
                       most if most is not None else 5000))

    def file(self):
        return '"%s"' % self.choice(self.files)

    def block(self):
        return self.choice(BLOCKS)

    def action(self):
        return self.one("allow", "allow_snoop", "allow_setrd", "refuse", "deny", "refuse_non_local", "deny_non_local")

    def kind(self):
        return self.choice(ZONE_TYPES)

    def tags(self):
        return '"%s"' % self.choice(TAGS)

    def setting(self, o):
        return "%s: %s" % (o["name"], self.value(o))

    def without_end(self, rows):
        """All of them in some order, then in another."""
        while True:
            yield from self.sample(rows, len(rows))


def commands():
    """(word, form of its arguments, place)."""
    with open(os.path.join(TOP, "daemon", "control", "control.def"), encoding="utf-8") as f:
        rows = re.findall(r"(?m)^CMD\((\w+),\s*%s,\s*(\w+)," % TEXT, f.read())
    assert len(rows) > 70
    return [row for row in rows if row[0] not in SPARED_COMMANDS]


def options():
    """Those that can be set alone: name, type, check, least, most."""
    with open(os.path.join(TOP, "util", "conf", "options.def"), encoding="utf-8") as f:
        rows = re.findall(r"(?m)^OPT\((\w+), (\w+), (\w+),\s*%s,\s*%s,\s*%s,\s*(\w+),\s*(\w+)" % (TEXT, TEXT, TEXT), f.read())
    found = [{"clause": clause, "name": name.replace("_", "-"), "type": kind, "check": check, "least": least, "most": most}
             for clause, kind, name, _, least, most, check, status in rows if clause in SINGLE and status != "TEST_ONLY"]
    assert len(found) > 300
    return found
