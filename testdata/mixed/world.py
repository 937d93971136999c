"""A few names in three zones, and a configuration that has rules for many of them: the same for a seed.

SPDX-License-Identifier: BSD-3-Clause
"""

import random

from story import Story

PLAIN, TAGGED, VIEWED, LISTED, OTHER = CLIENTS = ["10.0.9.1", "10.0.1.1", "10.0.2.1", "10.0.3.1", "10.0.4.1"]
ROOT, ELSEWHERE = "192.0.2.53", "192.0.2.57"
ZONES = {"bad.": "192.0.2.54", "good.": "192.0.2.55", "mid.": "192.0.2.56"}
FOUR = ["198.51.100.%d" % i for i in range(1, 7)]
SIX = ["2001:db8::%d" % i for i in range(1, 5)]
TYPES = ["A", "AAAA", "TXT", "CNAME"]
# What a policy zone may say, as text behind an owner.
ACTIONS = [["CNAME ."], ["CNAME *."], ["CNAME rpz-passthru."], ["CNAME rpz-passthru."], ["CNAME rpz-tcp-only."], ["CNAME rpz-drop."],
           ["60 A 192.0.2.201"], ["60 AAAA 2001:db8:ff::1"], ["60 A 192.0.2.99", "60 AAAA 2001:db8:ff::2"], ["60 CNAME %s"], ["60 CNAME %s"]]
ADDRESS_ACTIONS = ["always_nxdomain", "always_nodata", "always_refuse", "always_transparent", "redirect", "redirect", "deny"]


def soa(zone):
    return "%s 300 IN SOA ns.%s h.%s 1 2 3 4 300" % (zone, zone, zone)


def backwards(address):
    return ".".join(reversed(address.split(".")))


class World:
    def __init__(self, seed):
        self.dice = random.Random("mixed %d" % seed)
        self.records = {}   # name: {type: [data]}; "nx": it does not exist
        self.ttl = {}
        self.local = []     # names of local data
        self._names()
        self._configure()

    def maybe(self, chance):
        return self.dice.random() < chance

    def pick(self, from_):
        return self.dice.choice(list(from_))

    # -- what there is ----------------------------------------------------------------------------

    def _names(self):
        for zone in ZONES:
            for i in range(4):
                self.records["n%d.%s" % (i, zone)] = self._data()
        plain = list(self.records)
        aliases = ["c%d.%s" % (i, zone) for zone in ZONES for i in range(2)]
        for i, name in enumerate(aliases):      # each leads to one behind it: no circles
            self.records[name] = {"CNAME": [self.pick(plain + aliases[i + 1:])]}
        self.dname = self.pick(ZONES) if self.maybe(0.5) else None
        if self.dname:
            self.dname_to = self.pick(z for z in ZONES if z != self.dname)
            for i in range(3):
                self.records["n%d.d.%s" % (i, self.dname)] = {"DNAME": ["n%d.%s" % (i, self.dname_to)]}
        self.ttl = {name: self.pick([300, 300, 300, 0, 5]) for name in self.records}

    def _data(self):
        families = self.pick(["4", "4", "46", "46", "6", "", "nx"])
        if families == "nx":
            return "nx"
        return {**({"A": self.dice.sample(FOUR, self.pick([1, 1, 2]))} if "4" in families else {}),
                **({"AAAA": [self.pick(SIX)]} if "6" in families else {})}

    # -- how it is configured ---------------------------------------------------------------------

    def _configure(self):
        self.dns64 = self.maybe(0.6)
        self.server = ["access-control: 10.0.0.0/8 allow", 'module-config: "respip %siterator"' % ("dns64 " * self.dns64),
                       'define-tag: "a b"', 'access-control-tag: 10.0.1.0/24 "a"', "access-control-view: 10.0.2.0/24 v",
                       "qname-minimisation: %s" % ("yes" if self.maybe(0.3) and not self.dname else "no")]
        for chance, line in ((0.15, "dns64-synthall: yes"), (0.4, "prefetch: yes"), (0.2, "minimal-responses: no"),
                             (0.3, "private-address: 198.51.100.3"), (0.35, "serve-expired: yes"), (0.3, "local-data-follow-cname: yes")):
            self.server += [line] * self.maybe(chance)
        for i in range(self.pick([0, 0, 1, 2])):
            self.local.append("l%d.lan." % i)
            self.server.append('local-data: "%s CNAME %s"' % (self.local[-1], self.pick(self.records)))
        if self.maybe(0.3):
            self.local.append("x.red.lan.")
            self.server += ['local-zone: "red.lan." redirect', 'local-data: "red.lan. CNAME %s"' % self.pick(self.records)]
        if self.maybe(0.6):
            self.server += self._response_ip(True)
        self.clauses = self._view()
        for i in range(self.pick([1, 2, 2, 3])):
            self.clauses += self._policy("p%d.policy." % i)
        self.clauses += ["stub-zone:", '\tname: "."', "\tstub-addr: " + ROOT]

    def _response_ip(self, tags):
        out, tagged = [], False
        blocks = [*FOUR, *SIX, "198.51.100.0/29", "64:ff9b::198.51.100.%d" % self.dice.randint(1, 6)]
        for block in self.dice.sample(blocks, self.dice.randint(0, 3)):
            action = self.pick(ADDRESS_ACTIONS)
            out.append("response-ip: %s %s" % (block, action))
            if action == "redirect":
                own = "AAAA 2001:db8:ee::1" if ":" in block else "A 192.0.2.111"
                out.append('response-ip-data: %s "60 %s"' % (block, own if self.maybe(0.5) else "CNAME " + self.pick(self.records)))
            if tags and self.maybe(0.3):
                out.append('response-ip-tag: %s "a"' % block)
                tagged = True
        return out + ["access-control-tag-action: 10.0.1.0/24 a " + self.pick(["always_nodata", "refuse", "always_transparent"])] * tagged

    def _view(self):
        out = ["view:", "\tname: v"] + ["\tview-first: yes"] * self.maybe(0.5)
        if self.maybe(0.6):
            out += ["\t" + line for line in self._response_ip(False)]
        if self.maybe(0.5):
            out.append('\tlocal-zone: "%s" %s' % (self.pick(self.records), self.pick(["always_nodata", "always_nxdomain", "transparent"])))
        if self.maybe(0.3):
            out += ["stub-zone:", '\tname: "good."', "\tstub-addr: " + ELSEWHERE, "\tstub-view: v"]
        return out

    def _policy(self, name):
        rules = {}
        for _ in range(self.dice.randint(1, 6)):
            rules[self._owner()] = [a % self.pick(self.records) if "%" in a else a for a in self.pick(ACTIONS)]
        out = ["rpz:", '\tname: "%s"' % name, "\tzonefile:", "TEMPFILE_NAME " + name, "TEMPFILE_CONTENTS " + name, "$ORIGIN " + name,
               "@ 3600 SOA ns h 1 3600 900 86400 300", *("%s %s" % (o, a) for o, more in rules.items() for a in more), "TEMPFILE_END"]
        out += ['\ttags: "a"'] * self.maybe(0.3)
        if self.maybe(0.15):
            how = self.pick(["nxdomain", "nodata", "passthru", "disabled", "cname"])
            out.append("\trpz-action-override: " + how)
            out += ['\trpz-cname-override: "%s"' % self.pick(self.records)] * (how == "cname")
        return out

    def _owner(self):
        zone = self.pick(ZONES)
        return self.pick([
            self.pick(self.records)[:-1], self.pick(self.records)[:-1], "*." + zone[:-1],
            "32.%s.rpz-ip" % backwards(self.pick(FOUR)), "32.%s.rpz-ip" % backwards(self.pick(FOUR)),
            "30.%s.rpz-ip" % backwards(self.pick(["198.51.100.0", "198.51.100.4"])),
            "128.%d.zz.db8.2001.rpz-ip" % self.dice.randint(1, 4), "128.64%02x.c633.zz.ff9b.64.rpz-ip" % self.dice.randint(1, 6),
            "ns.%srpz-nsdname" % zone, "32.%s.rpz-nsip" % backwards(ZONES[zone]),
            "32.%s.rpz-client-ip" % backwards(self.pick([LISTED, OTHER]))])

    # -- as a scenario ----------------------------------------------------------------------------

    def story(self, title):
        s = Story(title, self.server, self.clauses)
        s.has(ROOT, (".", "NS"), [". 3600 IN NS ns."])
        for zone, at in ZONES.items():
            s.refers(ROOT, zone, "ns." + zone, at)
            s.has(at, ("ns." + zone, "A"), ["ns.%s 3600 IN A %s" % (zone, at)])
            s.has(at, ("ns." + zone, "AAAA"), (), [soa(zone)])
        s.has(ELSEWHERE, ("good.", "NS"), ["good. 300 IN NS ns.good."])
        for name, data in self.records.items():
            zone = next(z for z in ZONES if name.endswith("." + z))
            for rrtype in TYPES:
                answer = self._answer(name, data, rrtype)
                s.has(ZONES[zone], (name, rrtype), answer, () if answer else [soa(zone)], "NXDOMAIN" if data == "nx" else "NOERROR")
                if zone == "good.":
                    answer = ["%s 300 IN A 198.51.100.6" % name] if rrtype == "A" else []
                    s.has(ELSEWHERE, (name, rrtype), answer, () if answer else [soa(zone)])
        return s

    def _answer(self, name, data, rrtype):
        if data == "nx":
            return []
        if "DNAME" in data:
            return ["d.%s 300 IN DNAME %s" % (self.dname, self.dname_to), "%s 300 IN CNAME %s" % (name, data["DNAME"][0])]
        if "CNAME" in data:
            return ["%s %d IN CNAME %s" % (name, self.ttl[name], data["CNAME"][0])]
        return ["%s %d IN %s %s" % (name, self.ttl[name], rrtype, value) for value in data.get(rrtype, ())]
