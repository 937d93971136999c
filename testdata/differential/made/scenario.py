"""A question of a made world as a scenario for testdata/replay: what each server that was asked had to say.

SPDX-License-Identifier: BSD-3-Clause
"""

import base64
import struct
import time

import dns.rdata
import dns.rdataclass

from . import wire
from .client import rcode_text
from .servers import Asked

HEAD = """; %(title)s
server:
	target-fetch-policy: "0 0 0 0 0"
	do-ip6: no
	trust-anchor-signaling: no
	aggressive-nsec: no
	val-override-date: "%(date)s"
	trust-anchor: ". DNSKEY %(anchor)s"
stub-zone:
	name: "."
%(roots)sCONFIG_END

SCENARIO_BEGIN %(title)s
"""


PLAIN = (1, 2, 5, 6, 12, 15, 16, 28, 33, 39, 43, 46, 47, 48, 50, 51)


def data_text(rrtype, data):
    if rrtype not in PLAIN:
        return "\\# %d %s" % (len(data), data.hex())
    return dns.rdata.from_wire(dns.rdataclass.IN, rrtype, data, 0, len(data)).to_text()


def entry(server, question):
    """What it says to a resolver that wants signatures, over TCP so that nothing is left out."""
    labels, rrtype = question
    asked = Asked(wire.query(0, labels, rrtype, 0, True), True)
    reply = server.reply(asked.data, True)
    if reply is None:
        return []
    m = wire.read(reply)
    flags = [w for w, bit in (("QR", wire.QR), ("AA", wire.AA), ("TC", wire.TC), ("RA", wire.RA)) if m.flags & bit]
    lines = ["ENTRY_BEGIN", "MATCH opcode qtype qname", "ADJUST copy_id", "REPLY %s %s" % (" ".join(flags), rcode_text(m.rcode)),
             "SECTION QUESTION", "%s IN %s" % (wire.show(labels), wire.type_text(rrtype))]
    for name, section in zip(("ANSWER", "AUTHORITY", "ADDITIONAL"), m.sections):
        if section:
            lines.append("SECTION " + name)
            lines += ["%s %d IN %s %s" % (wire.show(o), ttl, wire.type_text(t), data_text(t, d)) for o, t, ttl, d in section]
    return lines + ["ENTRY_END"]


def write(path, title, world, question, heard, view):
    """`heard`: (address, labels, type) of what the servers were asked; `view`: the answer as it should be."""
    key = world.anchor()
    fill = {"title": title, "date": time.strftime("%Y%m%d%H%M%S", time.gmtime()), "roots": "".join("\tstub-addr: %s\n" % a for a in world.hints()),
            "anchor": "%d %d %d %s" % (*struct.unpack("!HBB", key.rdata[:4]), base64.b64encode(key.rdata[4:]).decode())}
    out = [HEAD % fill]
    # Which of two servers is asked is a matter of chance: each has something to say.
    peers = {a: {s.address for zone in world.servers[a].zones.values() for s in zone.servers} for a, _, _ in heard}
    for address in sorted(set().union(*peers.values())):
        asked = sorted({(labels, rrtype) for a, labels, rrtype in heard if address in peers[a]})
        entries = [line for q in asked for line in entry(world.servers[address], q)]
        if entries:
            out += ["RANGE_BEGIN 0 1000", "\tADDRESS " + address, *entries, "RANGE_END", ""]
    # AD tells the verdict as well as DO does, and leaves the signatures out (RFC 6840 5.7).
    words = "RD%s%s" % (" CD" if question.cd else "", " AD" if question.ad or question.dnssec else "")
    asked = "%s IN %s" % (wire.show(question.labels), wire.type_text(question.type))
    out += ["STEP 1 QUERY", "ENTRY_BEGIN", "REPLY " + words, "SECTION QUESTION", asked, "ENTRY_END", "", "STEP 10 CHECK_ANSWER", "ENTRY_BEGIN",
            "MATCH rcode flags question answer", "REPLY QR RA %s%s %s" % (words.replace(" AD", ""), " AD" if view.ad else "", view.rcode),
            "SECTION QUESTION", asked]
    if view.answer and question.type not in (wire.ANY, wire.RRSIG):
        out += ["SECTION ANSWER"] + ["%s IN %s %s" % (o, t, data_text(wire.type_number(t), bytes.fromhex(d))) for o, t, d in view.answer]
    out += ["ENTRY_END", "SCENARIO_END", ""]
    with open(path, "w", encoding="ascii") as f:
        f.write("\n".join(out))
