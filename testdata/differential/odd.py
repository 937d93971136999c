"""The oddities: each spoils the sound answer of a server in its own way.

SPDX-License-Identifier: BSD-3-Clause

A function gets the question and the sound answer (`frame/authority.py`, dnspython), and returns what is said in its
place: a message, bytes, or None for silence.
"""

import struct

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdatatype
import dns.rrset

from frame import signing
from frame.authority import record, rrset, wire

RECORDS = ["www 300 A 192.0.2.1", "www 300 TXT \"text\"", "@ 300 A 192.0.2.2", "@ 300 MX 10 mail", "mail 300 A 192.0.2.3",
           "alias 300 CNAME www", "out 300 CNAME www.sister.test.", "tonx 300 CNAME nx", "dangling 300 CNAME nx.sister.test.",
           "a.ent 300 A 192.0.2.4", "two 300 CNAME alias", "many 300 A 192.0.2.5 | 192.0.2.6 | 192.0.2.7",
           "end 300 A 192.0.2.8"]
QUESTIONS = ["www A", "www AAAA", "nx A", "alias A", "out A", "tonx A", "@ MX", "@ NS", "@ SOA", "ent A", "www.sub A",
             "alias CNAME", "www ANY", "sub DS", "www A cd", "many A", "dangling A", "two AAAA"]

ODDITIES = []


class Oddity:
    def __init__(self, name, spoil, questions=None, signed=False):
        self.name, self.spoil, self.questions, self.signed = name, spoil, questions, signed


def oddity(name, questions=None, signed=False):
    def declare(function):
        ODDITIES.append(Oddity(name, function, questions, signed))
        return function
    return declare


def zone_of(q):
    """The zone spoiled: the last two labels."""
    return ".".join(q.labels[-2:]) + "."


def made(q, lines):
    """Lines as record sets, each signed where it belongs to a signed zone; what a DNAME makes is not."""
    sets = [rrset(x) for x in lines]
    if not q.zone.key or not q.dnssec:
        return sets
    dnames = [s.name for s in sets if s.rdtype == dns.rdatatype.DNAME]
    out = []
    for s in sets:
        out.append(s)
        below = any(s.name.is_subdomain(d) and s.name != d for d in dnames)
        if s.name.is_subdomain(dns.name.from_text(q.zone.name)) and not (below and s.rdtype == dns.rdatatype.CNAME):
            out.append(signing.sign(s, q.zone.key))
    return out


def is_denial(r):
    return not r.answer and any(s.rdtype == dns.rdatatype.SOA for s in r.authority)


def is_referral(r):
    return not r.flags & dns.flags.AA


def is_own_ns(q):
    """Questions about the server itself, which some oddities leave alone."""
    return q.labels[0] == "ns1" or q.name == zone_of(q)


# -- header ----------------------------------------------------------------------------------------

@oddity("sound")
def sound(_, r):
    return r


def with_flags(name, on=0, off=0):
    @oddity(name)
    def spoil(_, r):
        r.flags = (r.flags | on) & ~off
        return r


with_flags("no-aa", off=dns.flags.AA)
with_flags("no-aa-ra", on=dns.flags.RA, off=dns.flags.AA)
with_flags("aa-ra", on=dns.flags.RA)
with_flags("all-aa", on=dns.flags.AA)
with_flags("ad", on=dns.flags.AD)
with_flags("cd", on=dns.flags.CD)
with_flags("rd", on=dns.flags.RD)
with_flags("z", on=0x40)
with_flags("no-qr", off=dns.flags.QR)


@oddity("opcode-notify")
def opcode(_, r):
    w = bytearray(r.to_wire())
    w[2] |= 4 << 3
    return bytes(w)


def with_rcode(name, rcode, which=lambda q, r: True):
    @oddity(name)
    def spoil(q, r):
        if which(q, r):
            r.set_rcode(rcode)
        return r


for _name, _code in (("formerr", 1), ("servfail", 2), ("notimp", 4), ("refused", 5), ("yxdomain", 6), ("yxrrset", 7),
                     ("notauth", 9), ("rcode11", 11)):
    with_rcode("%s-with-records" % _name, _code)
    with_rcode("%s-denials" % _name, _code, lambda q, r: is_denial(r))
with_rcode("nxdomain-with-records", 3, lambda q, r: not is_referral(r))
with_rcode("nxdomain-with-answer", 3, lambda q, r: bool(r.answer))
with_rcode("nxdomain-referral", 3, lambda q, r: is_referral(r))
with_rcode("nxdomain-for-nodata", 3, lambda q, r: is_denial(r))
with_rcode("noerror-for-nx", 0)


@oddity("empty-refused-once")
def refused_once(q, r, seen={}):  # pylint: disable=dangerous-default-value
    n = seen[q.client[0], q.name, q.kind] = seen.get((q.client[0], q.name, q.kind), 0) + 1
    return q.reply(rcode="REFUSED", aa=False) if n == 1 else r


@oddity("servfail-once")
def servfail_once(q, r, seen={}):  # pylint: disable=dangerous-default-value
    n = seen[q.client[0], q.name, q.kind] = seen.get((q.client[0], q.name, q.kind), 0) + 1
    return q.reply(rcode="SERVFAIL", aa=False) if n == 1 else r


# -- question --------------------------------------------------------------------------------------

@oddity("no-question")
def no_question(_, r):
    r.question = []
    return r


@oddity("no-question-servfail")
def no_question_servfail(q, _):
    return q.raw(rcode=2, question=b"")


@oddity("no-question-formerr", ["www A", "nx A"])
def no_question_formerr(q, _):
    return q.raw(rcode=1, question=b"", edns=False)


@oddity("two-questions", ["www A"])
def two_questions(q, r):
    r.question = r.question + r.question
    return r


@oddity("other-case")
def other_case(q, r):
    w = bytearray(r.to_wire())
    for i in range(13, 13 + len(q.spelled)):
        if 97 <= w[i] <= 122:
            w[i] -= 32
    return bytes(w)


@oddity("head-only")
def head_only(q, r):
    return r.to_wire()[:12] if q.kind == "A" else r


# -- truncation and EDNS ---------------------------------------------------------------------------

@oddity("tc-on-udp")
def tc_udp(q, r):
    return r if q.tcp else q.raw(flags=0x8600)


@oddity("tc-with-records")
def tc_records(q, r):
    if not q.tcp:
        r.flags |= dns.flags.TC
    return r


@oddity("tc-always", ["www A", "nx A"])
def tc_always(q, r):
    r.flags |= dns.flags.TC
    return r


@oddity("no-opt")
def no_opt(_, r):
    r.use_edns(False)
    return r


@oddity("formerr-on-edns")
def formerr_edns(q, r):
    if q.edns is not None:
        return q.raw(rcode=1, edns=False)
    return r


@oddity("notimp-on-edns")
def notimp_edns(q, r):
    return q.raw(rcode=4, edns=False) if q.edns is not None else r


@oddity("servfail-on-edns")
def servfail_edns(q, r):
    return q.raw(rcode=2, edns=False) if q.edns is not None else r


@oddity("refused-on-edns")
def refused_edns(q, r):
    return q.raw(rcode=5, edns=False) if q.edns is not None else r


@oddity("badvers", ["www A", "nx A"])
def badvers(q, r):
    if q.edns is None:
        return r
    return q.raw(additional=[b"\0" + struct.pack("!HHIH", 41, 1232, 1 << 24, 0)], edns=False)


@oddity("opt-twice")
def opt_twice(q, r):
    if q.edns is None:
        return r
    w = bytearray(r.to_wire())
    w[10:12] = struct.pack("!H", struct.unpack("!H", w[10:12])[0] + 1)
    return bytes(w) + b"\0" + struct.pack("!HHIH", 41, 1232, 0, 0)


@oddity("opt-first")
def opt_in_answer(q, r):
    """OPT in ADDITIONAL, in front of what else is there."""
    r.use_edns(False)
    w = bytearray(r.to_wire())
    w[10:12] = struct.pack("!H", struct.unpack("!H", w[10:12])[0] + 2)
    return bytes(w) + b"\0" + struct.pack("!HHIH", 41, 1232, 0, 0) + record(q.name, 16, b"\1x")


@oddity("opt-unasked")
def opt_unasked(_, r):
    r.use_edns(0, payload=512)
    return r


# -- the end of the packet -------------------------------------------------------------------------

@oddity("garbage-behind")
def garbage(_, r):
    return r.to_wire() + b"\1\2\3\4\5"


@oddity("cut-short", ["www A", "nx A", "@ MX"])
def cut_short(_, r):
    return r.to_wire()[:-3]


@oddity("count-too-high", ["www A", "nx A"])
def too_high(_, r):
    w = bytearray(r.to_wire())
    w[7] += 1
    return bytes(w)


@oddity("count-too-low")
def too_low(_, r):
    w = bytearray(r.to_wire())
    w[10:12] = b"\0\0"
    return bytes(w)


# -- denials ---------------------------------------------------------------------------------------

def with_soa(name, owner):
    @oddity(name, ["www AAAA", "nx A", "ent A", "tonx A", "two AAAA", "sub DS", "deep.nx A", "www AAAA cd"])
    def spoil(q, r):
        if is_denial(r):
            at = owner(q)
            r.authority = [rrset("%s 300 SOA ns.x. h.x. 1 2 3 4 60" % at)] if at else []
        return r


with_soa("no-soa", lambda q: None)
with_soa("soa-of-parent", lambda q: "test.")
with_soa("soa-of-root", lambda q: ".")
with_soa("soa-of-sister", lambda q: "sister.test.")
with_soa("soa-of-the-name", lambda q: q.name)
with_soa("soa-below", lambda q: "below." + zone_of(q))


@oddity("soa-twice")
def soa_twice(q, r):
    if is_denial(r):
        r.authority.append(rrset("%s 300 SOA ns.x. h.x. 2 2 3 4 30" % zone_of(q)))
    return r


@oddity("soa-in-answer", ["www AAAA", "nx A", "ent A"])
def soa_in_answer(_, r):
    if is_denial(r):
        r.answer, r.authority = r.authority, []
    return r


@oddity("soa-in-additional", ["www AAAA", "nx A", "ent A"])
def soa_in_additional(_, r):
    if is_denial(r):
        r.additional, r.authority = r.authority, []
    return r


def soa_ttl(name, ttl, minimum):
    @oddity(name, ["www AAAA", "nx A"])
    def spoil(q, r):
        if is_denial(r):
            r.authority = [rrset("%s %d SOA ns.x. h.x. 1 2 3 4 %d" % (zone_of(q), ttl, minimum))]
        return r


soa_ttl("soa-ttl-0", 0, 60)
soa_ttl("soa-minimum-0", 300, 0)
soa_ttl("soa-huge", 0x7fffffff, 0x7fffffff)


@oddity("denial-with-ns")
def denial_ns(q, r):
    if is_denial(r):
        r.authority.append(rrset("%s 300 NS ns1.%s" % (zone_of(q), zone_of(q))))
    return r


@oddity("denial-with-ns-only", ["www AAAA", "nx A", "ent A", "tonx A"])
def denial_ns_only(q, r):
    if is_denial(r):
        r.authority = [rrset("%s 300 NS ns1.%s" % (zone_of(q), zone_of(q)))]
    return r


@oddity("denial-with-ns-only-no-aa", ["www AAAA", "nx A", "ent A"])
def denial_ns_no_aa(q, r):
    if is_denial(r):
        r.authority = [rrset("%s 300 NS ns1.%s" % (zone_of(q), zone_of(q)))]
        r.flags &= ~dns.flags.AA
    return r


@oddity("denial-with-answer-of-another")
def denial_other(q, r):
    if is_denial(r):
        r.answer = [rrset("other.%s 300 A 192.0.2.99" % zone_of(q))]
    return r


@oddity("nodata-with-other-type", ["www AAAA", "www MX", "ent A"])
def nodata_other(q, r):
    if is_denial(r):
        r.answer = [rrset("%s 300 TXT \"other\"" % q.name)]
    return r


# -- referrals -------------------------------------------------------------------------------------

def instead(name, make, questions=None):
    """All but the server's own name is answered so."""
    @oddity(name, questions)
    def spoil(q, r):
        return r if q.labels[0] == "ns1" else make(q, r)


instead("upward-root", lambda q, r: q.referral(".", {"a.root.": "198.18.0.1"}), ["www A", "nx A", "www MX"])
instead("upward-parent", lambda q, r: q.referral("test.", {"ns.test.": "198.18.0.2"}), ["www A", "nx A"])
instead("upward-bare", lambda q, r: q.reply(aa=False, authority=[". 300 NS x.root."]), ["www A", "nx A"])
instead("sideways", lambda q, r: q.referral("sister.test.", {"ns.sister.test.": "198.18.2.2"}), ["www A", "nx A"])
instead("to-itself", lambda q, r: q.referral(zone_of(q), {"ns1." + zone_of(q): q.server}), ["www A", "nx A"])
instead("to-itself-aa", lambda q, r: q.reply(authority=["%s 300 NS ns1.%s" % (zone_of(q), zone_of(q))]), ["www A", "nx A"])
instead("upward-aa", lambda q, r: q.reply(authority=["test. 300 NS ns.test."]), ["www A", "nx A"])
instead("to-the-name", lambda q, r: q.referral(q.name, {"ns1." + zone_of(q): q.server}), ["www A", "@ A", "a.ent A"])
instead("empty", lambda q, r: q.reply(), ["www A", "nx A", "@ NS"])
instead("empty-no-aa", lambda q, r: q.reply(aa=False), ["www A", "nx A", "@ NS"])
instead("empty-nxdomain", lambda q, r: q.reply(rcode="NXDOMAIN"), ["www A", "nx A"])
instead("empty-nxdomain-no-aa", lambda q, r: q.reply(rcode="NXDOMAIN", aa=False), ["www A", "nx A"])


@oddity("empty-for-aaaa", ["www A", "www AAAA", "nx A", "nx AAAA"])
def empty_aaaa(q, r):
    return q.reply() if q.kind == "AAAA" else r


@oddity("refused-for-aaaa", ["www A", "www AAAA", "nx AAAA"])
def refused_aaaa(q, r):
    return q.reply(rcode="REFUSED", aa=False) if q.kind == "AAAA" else r


@oddity("nxdomain-for-aaaa", ["www A", "www AAAA", "www A"])
def nx_aaaa(q, r):
    if q.kind == "AAAA":
        r.set_rcode(3)
    return r


@oddity("nxdomain-for-ent", ["ent A", "a.ent A", "b.ent A", "ent A"])
def nx_ent(q, r):
    if q.labels[0] == "ent":
        r.set_rcode(3)
    return r


def referral_changed(name, change, questions=("www.sub A", "nx.sub A", "sub DS", "sub NS")):
    @oddity(name, list(questions))
    def spoil(q, r):
        return (change(q, r) or r) if is_referral(r) else r


def _set(attribute, make):
    def change(q, r):
        setattr(r, attribute, make(q, r))
    return change


referral_changed("referral-no-glue", _set("additional", lambda q, r: []))
referral_changed("referral-foreign-glue",
                 _set("additional", lambda q, r: r.additional + [rrset("www.sister.test. 300 A 203.0.113.66")]))
referral_changed("referral-glue-of-us", _set("additional", lambda q, r: r.additional + [
    rrset("www.%s 300 A 203.0.113.66" % zone_of(q))]), ("www.sub A", "www A"))
referral_changed("referral-with-soa", _set("authority", lambda q, r: r.authority + [
    rrset("%s 300 SOA ns.x. h.x. 1 2 3 4 60" % zone_of(q))]))
referral_changed("referral-with-two-cuts", _set("authority", lambda q, r: r.authority + [
    rrset("www.sub.%s 300 NS ns.sub.%s" % (zone_of(q), zone_of(q)))]))
referral_changed("referral-with-own-ns", _set("authority", lambda q, r: [
    rrset("%s 300 NS ns1.%s" % (zone_of(q), zone_of(q)))] + r.authority))
referral_changed("referral-ns-in-answer", lambda q, r: q.reply(aa=False, answer=r.authority, additional=r.additional))
referral_changed("referral-ns-in-additional", lambda q, r: q.reply(aa=False, additional=r.authority + r.additional))
referral_changed("referral-aa", lambda q, r: q.reply(authority=r.authority, additional=r.additional))
referral_changed("referral-ra", lambda q, r: (setattr(r, "flags", r.flags | dns.flags.RA), r)[1])
referral_changed("referral-ttl-0", lambda q, r: q.reply(
    aa=False, authority=["sub.%s 0 NS ns.sub.%s" % (zone_of(q), zone_of(q))], additional=r.additional))
referral_changed("referral-to-loopback", lambda q, r: q.referral("sub." + zone_of(q), {"ns.sub." + zone_of(q): "127.0.0.1"}))
referral_changed("referral-dead", lambda q, r: q.referral("sub." + zone_of(q), {"ns.nx.test.": None}))
referral_changed("referral-cname-ns", lambda q, r: q.referral("sub." + zone_of(q), {"alias." + zone_of(q): None}),
                 ("www.sub A",))


# -- answers ---------------------------------------------------------------------------------------

def answer_changed(name, change, questions=("www A", "many A", "alias A", "@ MX", "www A cd")):
    @oddity(name, list(questions))
    def spoil(q, r):
        return (change(q, r) or r) if r.answer and q.labels[0] not in ("ns1", "end") else r


def more_answer(make):
    return _set("answer", lambda q, r: r.answer + [rrset(one) for one in make(q)])


answer_changed("answer-and-a-foreigner", more_answer(lambda q: ["www.sister.test. 300 A 203.0.113.66"]))
answer_changed("answer-and-a-neighbour", more_answer(lambda q: ["other.%s 300 A 203.0.113.66" % zone_of(q)]),
               ("www A", "alias A", "other A"))
answer_changed("answer-and-other-type", more_answer(lambda q: ["%s 300 TXT \"more\"" % q.name]), ("www A", "many A", "@ MX"))
answer_changed("answer-and-cname", more_answer(lambda q: ["%s 300 CNAME end.%s" % (q.name, zone_of(q))]), ("www A", "@ MX", "www CNAME"))
answer_changed("cname-and-answer", _set("answer", lambda q, r: [rrset("%s 300 CNAME end.%s" % (q.name, zone_of(q)))] +
                                        r.answer), ("www A", "@ MX", "www CNAME"))
answer_changed("answer-ns-in-authority", _set("authority", lambda q, r: [
    rrset("%s 300 NS ns1.%s" % (zone_of(q), zone_of(q)))]))
answer_changed("answer-ns-of-parent", _set("authority", lambda q, r: [rrset("test. 300 NS ns.test.")]))
answer_changed("answer-ns-of-sister", _set("authority", lambda q, r: [rrset("sister.test. 300 NS ns1.%s" % zone_of(q))]),
               ("www A", "alias A"))
answer_changed("answer-ns-below", _set("authority", lambda q, r: [rrset("%s 300 NS ns1.%s" % (q.name, zone_of(q)))]),
               ("www A", "alias A", "many A"))
answer_changed("answer-soa", _set("authority", lambda q, r: [rrset("%s 300 SOA ns.x. h.x. 1 2 3 4 60" % zone_of(q))]))
answer_changed("answer-a-in-authority", _set("authority", lambda q, r: [rrset("x.%s 300 A 203.0.113.66" % zone_of(q))]),
               ("www A", "alias A", "x A"))
answer_changed("answer-txt-in-authority", _set("authority", lambda q, r: [rrset("x.%s 300 TXT y" % zone_of(q))]), ("www A",))
answer_changed("answer-additional", _set("additional", lambda q, r: [
    rrset("x.%s 300 A 203.0.113.66" % zone_of(q)), rrset("y.%s 300 TXT z" % zone_of(q)), rrset("x.sister.test. 300 A 203.0.113.6")]),
    ("www A", "@ MX", "@ NS", "x A"))
answer_changed("answer-mx-glue", _set("additional", lambda q, r: [
    rrset("mail.%s 300 A 203.0.113.66" % zone_of(q)), rrset("www.%s 300 A 203.0.113.67" % zone_of(q))]),
    ("@ MX", "mail A", "www A"))
answer_changed("answer-in-authority", lambda q, r: q.reply(authority=r.answer))
answer_changed("answer-in-additional", lambda q, r: q.reply(additional=r.answer))
answer_changed("answer-twice", lambda q, r: q.raw([record(q.name, q.type, b"\xc0\0\2\1")] * 3), ("www A",))
answer_changed("answer-ttl-0", lambda q, r: q.raw([record(q.name, 1, b"\xc0\0\2\1", 0)]), ("www A",))
answer_changed("answer-ttl-huge", lambda q, r: q.raw([record(q.name, 1, b"\xc0\0\2\1", 0x7fffffff)]), ("www A",))
answer_changed("answer-ttl-negative", lambda q, r: q.raw([record(q.name, 1, b"\xc0\0\2\1", 0x80000001)]), ("www A",))
answer_changed("answer-ttl-mixed", lambda q, r: q.raw([record(q.name, 1, b"\xc0\0\2\1", 300), record(q.name, 1, b"\xc0\0\2\2", 10)]),
               ("www A",))
answer_changed("answer-class-ch", lambda q, r: q.raw([record(q.name, 1, b"\xc0\0\2\1", 300, 3)]), ("www A",))
answer_changed("answer-both-classes", lambda q, r: q.raw([record(q.name, 1, b"\xc0\0\2\1"), record(q.name, 1, b"\xc0\0\2\2", 300, 3)]),
               ("www A",))
answer_changed("answer-a-short", lambda q, r: q.raw([record(q.name, 1, b"\xc0\0\2")]), ("www A",))
answer_changed("answer-a-long", lambda q, r: q.raw([record(q.name, 1, b"\xc0\0\2\1\1")]), ("www A",))
answer_changed("answer-a-one-short", lambda q, r: q.raw([record(q.name, 1, b"\xc0\0\2"), record(q.name, 1, b"\xc0\0\2\1")]),
               ("www A",))
answer_changed("answer-rdata-empty", lambda q, r: q.raw([record(q.name, q.type, b"")]), ("www A", "www TXT", "@ MX"))
answer_changed("answer-upper-case", lambda q, r: q.raw([record(q.name.upper(), 1, b"\xc0\0\2\1")]), ("www A",))
answer_changed("answer-of-parent", lambda q, r: q.raw([record(zone_of(q), 1, b"\xc0\0\2\1")]), ("www A",))
answer_changed("answer-other-type-only", lambda q, r: q.raw([record(q.name, 16, b"\1x")]), ("www A",))
answer_changed("answer-rrsig-only", lambda q, r: q.raw([record(q.name, 46, struct.pack(
    "!HBBIIIH", 1, 13, 3, 300, 0x7fffffff, 0, 1) + wire(zone_of(q)) + bytes(64))]), ("www A",))
answer_changed("answer-with-opt", lambda q, r: q.raw([record(q.name, 1, b"\xc0\0\2\1"), b"\0" + struct.pack("!HHIH", 41, 1232, 0, 0)]),
               ("www A",))
answer_changed("answer-with-tsig", lambda q, r: q.raw([record(q.name, 1, b"\xc0\0\2\1")], additional=[
    record("k.", 250, wire("hmac-sha256.") + bytes(6) + b"\1\x2c\0\0" + q.data[:2] + b"\0\0\0\0", 0, 255)]), ("www A",))


# -- aliases ---------------------------------------------------------------------------------------

def alias(name, lines, more=None, rcode="NOERROR", questions=("c A", "c CNAME", "c AAAA"), authority=(), aa=True):
    """What is said of the name c; `$` stands for the zone."""
    @oddity(name, list(questions))
    def spoil(q, r):
        if q.kind in ("DS", "DNSKEY") or q.labels[0] != "c" and not (more and q.labels[0] in more):
            return r
        return q.reply(made(q, [x.replace("$", zone_of(q)) for x in lines]),
                       made(q, [x.replace("$", zone_of(q)) for x in authority]), rcode=rcode, aa=aa)


alias("cname-alone", ["c.$ 300 CNAME www.$"])
alias("cname-alone-no-aa", ["c.$ 300 CNAME www.$"], aa=False)
alias("cname-to-nx-nxdomain", ["c.$ 300 CNAME nx.$"], rcode="NXDOMAIN")
alias("cname-to-nx-noerror", ["c.$ 300 CNAME nx.$"])
alias("cname-to-nx-soa", ["c.$ 300 CNAME nx.$"], rcode="NXDOMAIN", authority=["$ 300 SOA n.x. h.x. 1 2 3 4 60"])
alias("cname-to-www-nxdomain", ["c.$ 300 CNAME www.$"], rcode="NXDOMAIN", authority=["$ 300 SOA n.x. h.x. 1 2 3 4 60"])
alias("cname-out-nxdomain", ["c.$ 300 CNAME www.sister.test."], rcode="NXDOMAIN")
alias("cname-out-servfail", ["c.$ 300 CNAME www.sister.test."], rcode="SERVFAIL")
alias("cname-out-refused", ["c.$ 300 CNAME www.sister.test."], rcode="REFUSED")
alias("cname-out-with-soa", ["c.$ 300 CNAME www.sister.test."], authority=["$ 300 SOA n.x. h.x. 1 2 3 4 60"])
alias("cname-out-with-lie", ["c.$ 300 CNAME www.sister.test.", "www.sister.test. 300 A 203.0.113.66"])
alias("cname-in-with-lie", ["c.$ 300 CNAME www.$", "www.$ 300 A 203.0.113.66"], questions=("c A", "www A", "c A"))
alias("cname-to-itself", ["c.$ 300 CNAME c.$"])
alias("cname-loop", ["c.$ 300 CNAME d.$", "d.$ 300 CNAME c.$"], more=["d"])
alias("cname-loop-out", ["c.$ 300 CNAME d.$", "d.$ 300 CNAME e.$", "e.$ 300 CNAME d.$"], more=["d", "e"])
alias("cname-backwards", ["www.$ 300 A 192.0.2.1", "c.$ 300 CNAME www.$"])
alias("cname-unsorted", ["d.$ 300 CNAME www.$", "c.$ 300 CNAME d.$"], more=["d"])
alias("cname-two", ["c.$ 300 CNAME www.$ | many.$"])
alias("cname-and-mx", ["c.$ 300 CNAME www.$", "c.$ 300 MX 1 mail.$"])
alias("cname-ttl-0", ["c.$ 0 CNAME www.$"])
alias("cname-upper", ["c.$ 300 CNAME WWW.$"])
alias("cname-of-other", ["d.$ 300 CNAME www.$"])
alias("cname-below", ["c.$ 300 CNAME c.c.$"], more=[])
alias("cname-chain-8", ["c.$ 300 CNAME c1.$"] + ["c%d.$ 300 CNAME c%d.$" % (i, i + 1) for i in range(1, 8)] + ["c8.$ 300 A 192.0.2.8"],
      more=["c%d" % i for i in range(1, 9)])
alias("cname-ns-in-authority", ["c.$ 300 CNAME www.sister.test."], authority=["sister.test. 300 NS ns1.$"])
alias("cname-own-ns", ["c.$ 300 CNAME www.sister.test."], authority=["$ 300 NS ns1.$"])


def dname(name, lines, questions=("x.c A", "y.c A", "x.y.c A", "c A", "c DNAME", "x.c CNAME", "x.c DNAME", "x.c ANY"), rcode="NOERROR",
          authority=()):
    """What is said of names at and below c."""
    @oddity(name, list(questions))
    def spoil(q, r):
        if "c" not in q.labels or q.kind == "DS":
            return r
        out = [x.replace("@", q.name).replace("$", zone_of(q)).replace("%", q.labels[0]) for x in lines]
        return q.reply(made(q, out), made(q, [x.replace("$", zone_of(q)) for x in authority]), rcode=rcode)


dname("dname-sound", ["c.$ 300 DNAME sister.test.", "@ 300 CNAME %.sister.test."], ("www.c A", "mail.c A", "mail.c AAAA", "nx.c A"))
dname("dname-alone", ["c.$ 300 DNAME sister.test."], ("www.c A", "mail.c A", "mail.c AAAA", "nx.c A", "www.c CNAME", "c DNAME", "c A"))
dname("dname-in-zone", ["c.$ 300 DNAME $"], ("www.c A", "many.c A", "many.c AAAA", "nx.c A"))
dname("dname-wrong-cname", ["c.$ 300 DNAME sister.test.", "@ 300 CNAME other.sister.test."], ("www.c A", "mail.c A"))
dname("dname-cname-first", ["@ 300 CNAME %.sister.test.", "c.$ 300 DNAME sister.test."], ("www.c A", "mail.c A"))
dname("dname-cname-ttl-0", ["c.$ 300 DNAME sister.test.", "@ 0 CNAME %.sister.test."], ("www.c A", "www.c A", "mail.c A"))
dname("dname-ttl-0", ["c.$ 0 DNAME sister.test."], ("www.c A", "www.c A", "mail.c A"))
dname("dname-two", ["c.$ 300 DNAME sister.test. | $"], ("www.c A",))
dname("dname-to-itself", ["c.$ 300 DNAME c.$"], ("www.c A",))
dname("dname-below-itself", ["c.$ 300 DNAME d.c.$"], ("www.c A",))
dname("dname-nxdomain", ["c.$ 300 DNAME sister.test."], ("www.c A", "nx.c A"), rcode="NXDOMAIN")
dname("dname-yxdomain", ["c.$ 300 DNAME sister.test."], ("www.c A",), rcode="YXDOMAIN")
dname("dname-too-long", ["c.$ 300 DNAME %s" % ".".join(["x" * 60] * 4) + "."], ("www.c A", "a.b.c A"))
dname("dname-of-the-name", ["@ 300 DNAME sister.test."], ("www.c A", "c DNAME"))
dname("dname-of-the-zone", ["$ 300 DNAME sister.test."], ("www.c A",))
dname("dname-with-answer", ["c.$ 300 DNAME $", "@ 300 A 192.0.2.44"], ("www.c A",))
dname("dname-and-lie", ["c.$ 300 DNAME sister.test.", "@ 300 CNAME %.sister.test.", "www.sister.test. 300 A 203.0.113.66"], ("www.c A",))


# -- signatures and proofs -------------------------------------------------------------------------

SIGNED = ["www A", "www AAAA", "nx A", "alias A", "tonx A", "a.w A", "ent A", "www.sub A", "www A cd", "nx A cd"]
RRSIG, NSEC, SOA, NS = dns.rdatatype.RRSIG, dns.rdatatype.NSEC, dns.rdatatype.SOA, dns.rdatatype.NS


def spoiled(name, change, questions=None, which=lambda q, r: True):
    """Not what the chain of trust is made of: the zone stays signed."""
    @oddity(name, questions or SIGNED, signed=True)
    def spoil(q, r):
        if q.kind in ("DNSKEY", "DS") or not which(q, r):
            return r
        return change(q, r) or r


def without(section, *types):
    def change(_, r):
        setattr(r, section, [s for s in getattr(r, section) if s.rdtype not in types])
    return change


def moved(source, target, *types):
    def change(_, r):
        setattr(r, target, getattr(r, target) + [s for s in getattr(r, source) if s.rdtype in types])
        setattr(r, source, [s for s in getattr(r, source) if s.rdtype not in types])
    return change


def resigned(**how):
    def change(q, r):
        for section in ("answer", "authority"):
            sets = [s for s in getattr(r, section) if s.rdtype != RRSIG]
            setattr(r, section, [x for s in sets for x in ([s] if s.rdtype == NS and is_referral(r) else
                                                           [s, signing.sign(s, q.zone.key, **how)])])
    return change


def both_moved(q, r):
    for section in ("answer", "authority"):
        moved(section, "additional", RRSIG)(q, r)


def no_answer(_, r):
    return not r.answer


spoiled("signed-no-rrsig-answer", without("answer", RRSIG))
spoiled("signed-no-rrsig-authority", without("authority", RRSIG))
spoiled("signed-no-nsec", without("authority", NSEC))
spoiled("signed-no-soa", without("authority", SOA))
spoiled("signed-no-authority", lambda q, r: setattr(r, "authority", []))
spoiled("signed-rrsig-in-additional", both_moved)
spoiled("signed-nsec-in-answer", moved("authority", "answer", NSEC, RRSIG))
spoiled("signed-nsec-in-additional", moved("authority", "additional", NSEC, RRSIG))
spoiled("signed-answer-sigs-in-authority", moved("answer", "authority", RRSIG))
spoiled("signed-one-nsec", lambda q, r: setattr(r, "authority", r.authority[:4]), ["nx A", "tonx A", "nx A cd"])
spoiled("signed-other-nsec", lambda q, r: setattr(r, "authority", r.authority[:2] + r.authority[4:]), ["nx A", "tonx A"], no_answer)
spoiled("signed-expired", resigned(days=(-20, -10)))
spoiled("signed-future", resigned(days=(10, 20)))
spoiled("signed-just-expired", resigned(days=(-10, -0.05)))
spoiled("signed-falsely", resigned(false=True))
spoiled("signed-other-tag", resigned(tag=1))
spoiled("signed-by-parent", resigned(signer="test."))
spoiled("signed-longer-ttl", resigned(ttl=100000))
spoiled("signed-shorter-ttl", resigned(ttl=30))
spoiled("signed-ttl-0", resigned(ttl=0))
spoiled("signed-fewer-labels", resigned(labels=2), ["www A", "alias A", "www A cd"])
spoiled("signed-more-labels", resigned(labels=5), ["www A", "alias A", "www A cd"])


def twice(first):
    def change(q, r):
        for section in ("answer", "authority"):
            out = []
            for s in [s for s in getattr(r, section) if s.rdtype != RRSIG]:
                bad = [] if s.rdtype == NS and is_referral(r) else [signing.sign(s, q.zone.key, false=True)]
                good = [signing.sign(s, q.zone.key)] if bad else []
                out += [s, *(bad + good if first else good + bad)]
            setattr(r, section, out)
    return change


spoiled("signed-false-then-true", twice(True))
spoiled("signed-true-then-false", twice(False))


def wild(name, proof, questions=("a.w A", "b.w A", "a.w AAAA", "a.w A cd", "c.b.w A", "*.w A", "w A")):
    """Names below w are made from *.w; `proof` is what comes along."""
    @oddity(name, list(questions), signed=True)
    def spoil(q, r):
        if "w" not in q.labels or q.labels[0] == "w" or q.kind == "DS":
            return r
        owner = "w." + zone_of(q)
        if q.kind != "A":
            none = signing.nsec("*." + owner, "x." + zone_of(q), ["A", "RRSIG", "NSEC"])
            return q.reply((), [*q.zone.with_signature(q.zone.sets[q.zone.name, "SOA"], q), none, signing.sign(none, q.zone.key),
                                *proof(q, owner)])
        s = rrset("%s 300 A 192.0.2.9" % q.name)
        return q.reply([s, signing.sign(s, q.zone.key, labels=3)], proof(q, owner))


def closer(q, owner):
    n = signing.nsec("*." + owner, "x." + zone_of(q), ["A", "RRSIG", "NSEC"])
    return [n, signing.sign(n, q.zone.key)]


def elsewhere(q, _):
    n = signing.nsec("x." + zone_of(q), "y." + zone_of(q), ["A", "RRSIG", "NSEC"])
    return [n, signing.sign(n, q.zone.key)]


def next_closer3(q, owner):
    n = signing.nsec3_covering(q.zone.name, q.labels[-4] + "." + owner)
    return [n, signing.sign(n, q.zone.key)]


wild("wildcard-proven", closer)
wild("wildcard-unproven", lambda q, o: [])
wild("wildcard-badly-proven", elsewhere)
wild("wildcard-unsigned-proof", lambda q, o: closer(q, o)[:1])
wild("wildcard-proven-by-hash", next_closer3)
