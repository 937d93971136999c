"""A scenario as resolver-replay plays it, put together line by line.

SPDX-License-Identifier: BSD-3-Clause
"""

HEAD = ["server:", '\ttarget-fetch-policy: "0 0 0 0 0"', "\ttrust-anchor-signaling: no", "\trrset-roundrobin: no"]


def entry(words, head, question, answer=(), authority=(), additional=()):
    out = ["ENTRY_BEGIN", *words, "REPLY " + head, "SECTION QUESTION", "%s IN %s" % question]
    for name, rows in (("ANSWER", answer), ("AUTHORITY", authority), ("ADDITIONAL", additional)):
        out += ["SECTION " + name, *rows] if rows else []
    return [*out, "ENTRY_END"]


class Story:
    """Servers by their address, then steps; time passes only where a step says so."""

    def __init__(self, title, server, clauses):
        self.lines = [*HEAD, *("\t" + line for line in server), *clauses, "CONFIG_END", "", "SCENARIO_BEGIN " + title, ""]
        self.servers, self.steps, self.step = {}, [], 0

    def has(self, at, question, answer=(), authority=(), rcode="NOERROR"):
        """The server at that address answers the question."""
        self.servers.setdefault(at, []).append(
            entry(["MATCH opcode qtype qname", "ADJUST copy_id"], "QR AA " + rcode, question, answer, authority))

    def refers(self, at, zone, name, address):
        """It refers everything below the zone to that server."""
        self.servers.setdefault(at, []).append(
            entry(["MATCH opcode subdomain", "ADJUST copy_id copy_query"], "QR NOERROR", (zone, "NS"), (),
                  ["%s 3600 IN NS %s" % (zone, name)], ["%s 3600 IN A %s" % (name, address)]))

    def ask(self, client, question, flags="RD", tcp=False, answered=True):
        """Whatever the answer is: what it was is read from what the player prints."""
        self.step += 10
        self.steps += ["STEP %d QUERY ADDRESS %s" % (self.step, client),
                       *entry(["MATCH TCP"] if tcp else [], flags, question)]
        if answered:
            self.steps += ["STEP %d CHECK_ANSWER ADDRESS %s" % (self.step + 1, client),
                           *entry(["MATCH opcode"], "QR RD RA NOERROR", question)]

    def passes(self, seconds):
        self.step += 10
        self.steps += ["STEP %d TIME_PASSES ELAPSE %d" % (self.step, seconds)]

    def write(self, path):
        out = list(self.lines)
        for at, entries in self.servers.items():
            out += ["RANGE_BEGIN 0 1000000", "\tADDRESS " + at, *(line for e in entries for line in e), "RANGE_END", ""]
        with open(path, "w", encoding="ascii") as f:
            f.write("\n".join([*out, *self.steps, "SCENARIO_END", ""]))
