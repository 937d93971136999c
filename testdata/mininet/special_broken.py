"""The deliberately broken corners of the miniature internet.

SPDX-License-Identifier: BSD-3-Clause

Some cannot be resolved at all; those are "broken". Some can, by whoever perseveres: one of their
servers is sound, or the fault is one a resolver works around.
"""

from content import CLOSED, LAME, ODD, SILENT


def add_all(w, hosters, own):
    servers(w)
    loops(w, own)
    odd_servers(w)
    bad_signatures(w, own)


def pointed(w, name, hosts, *ns, **more):
    z = w.zone(name, hosts, list(ns), **more)
    z.add("www", "A", "198.18.0.120")
    z.add("@", "A", "198.18.0.121")
    return z


def servers(w):
    """Lame, dead and missing servers."""
    good = ("ns1.brightdns.net.", None)
    pointed(w, "lame.mini.", [], ("ns.lame.mini.", LAME))
    pointed(w, "halflame.mini.", ["hosts-b"], ("ns.halflame.mini.", LAME), good)
    pointed(w, "dead.mini.", [], ("ns1.dead.mini.", CLOSED[0]), ("ns2.dead.mini.", CLOSED[1]))
    pointed(w, "halfdead.mini.", ["hosts-b"], ("ns.halfdead.mini.", CLOSED[0]), good)
    pointed(w, "silent.mini.", [], ("ns1.silent.mini.", SILENT[0]), ("ns2.silent.mini.", SILENT[1]))
    pointed(w, "halfsilent.mini.", ["hosts-b"], ("ns.halfsilent.mini.", SILENT[0]), good)
    pointed(w, "cycle-a.mini.", [], ("ns.cycle-b.mini.", None))
    pointed(w, "cycle-b.mini.", [], ("ns.cycle-a.mini.", None))
    pointed(w, "selfless.mini.", [], ("ns.selfless.mini.", None))
    pointed(w, "nsnx.mini.", [], ("ns1.no-such.chain.mini.", None), ("ns2.no-such-tld-here.", None))
    pointed(w, "nsnodata.mini.", [], ("txt.types.mini.", None))
    pointed(w, "halfnx.mini.", ["hosts-b"], ("ns1.no-such.chain.mini.", None), good)
    # The glue is out of date; the zone's other server knows better.
    pointed(w, "oldglue.mini.", ["hosts-d"],
            ("ns1.oldglue.mini.", CLOSED[1]), ("ns2.oldglue.mini.", "127.23.0.3"),
            child_ns=[("ns1.oldglue.mini.", "127.23.0.4"), ("ns2.oldglue.mini.", "127.23.0.3")])
    for name in ("halflame", "halfdead", "halfsilent", "halfnx", "oldglue"):
        w.expect("www.%s.mini." % name, "A", "half-broken")
        w.expect("no-such.%s.mini." % name, "A", "half-broken", "NXDOMAIN")
    for name, why in (("lame", "its only server refuses the zone"),
                      ("dead", "nobody listens on the servers' addresses"),
                      ("silent", "its servers never answer"),
                      ("cycle-a", "the server's name is in a zone whose server's name is in this one"),
                      ("selfless", "the server's name is in the zone itself and there is no glue"),
                      ("nsnx", "the servers' names do not exist"),
                      ("nsnodata", "the server's name has no address")):
        w.expect_broken("www.%s.mini." % name, "A", why)
    w.zones["chain.mini."].add("to-dead", "CNAME", "www.dead.mini.")
    w.expect_broken("to-dead.chain.mini.", "A", "an alias to a zone that is dead")


def loops(w, own):
    z = own(w, "loops.mini.")
    far = own(w, "loops.info.")
    z.add("self", "CNAME", "self.loops.mini.")
    z.add("a", "CNAME", "b.loops.mini.")
    z.add("b", "CNAME", "a.loops.mini.")
    z.add("x", "CNAME", "x.loops.info.")
    far.add("x", "CNAME", "x.loops.mini.")
    z.add("d", "DNAME", "d.loops.info.")
    far.add("d", "DNAME", "d.loops.mini.")
    for i in range(30):
        (z, far)[i % 2].add("n%d" % i, "CNAME", "n%d.%s" % (i + 1, (far, z)[i % 2].name))
    z.add("n30", "A", "198.18.0.130")
    for name in ("self", "a", "x", "y.d"):
        w.expect_broken(name + ".loops.mini.", "A", "aliases that go round in a circle")
    w.expect_broken("n0.loops.mini.", "A", "thirty aliases in a row, over two zones")
    w.expect("self.loops.mini.", "CNAME", "positive")
    w.expect("n28.loops.mini.", "A", "cname-cross")


def odd_servers(w):
    """One zone for each way of misbehaving that `odd.py` knows."""
    sound = {"formerr_on_edns", "truncated_then_tcp", "nxdomain_between", "slow",
             "foreign_records"}
    why = {"servfail": "its server answers SERVFAIL", "notimp": "its server answers NOTIMP",
           "truncated_no_tcp": "truncated over UDP and no TCP",
           "wrong_id": "the answers carry another ID", "garbage": "the answers are noise",
           "wrong_question": "the answers carry another question",
           "no_question": "the answers carry no question",
           "ignores_edns": "questions with EDNS are never answered"}
    for address, habit in ODD.items():
        zone = habit.replace("_", "-") + ".mini."
        w.zone(zone, [], [("ns.%s" % zone, address)])
        if habit in sound:
            w.expect("www." + zone, "A", "odd-" + habit)
        else:
            w.expect_broken("www." + zone, "A", why[habit])
    w.expect("a.between.nxdomain-between.mini.", "A", "odd-nxdomain_between")


# Zones with one thing wrong in their signatures: how it is made, the code of RFC 8914 that fits, why.
# Ordered by what the code says.
BOGUS = (
    ("expired", {"fault": "expired"}, 7, "the signatures are past their time"),
    ("future", {"fault": "future"}, 8, "the signatures are not yet valid"),
    ("garbled", {"fault": "garbled"}, 6, "the signature of www A does not fit"),
    ("stripped", {"fault": "stripped"}, 9, "the parent has a DS, the zone no signatures"),
    ("wrongds", {"ds": "wrong"}, 9, "the DS fits no key"),
    ("wrongtag", {"ds": "tag"}, 9, "the tag in the DS is that of no key"),
    ("wrongdsalgorithm", {"ds": "algorithm"}, 9, "the algorithm in the DS is not that of the key"),
    ("strangerds", {"ds": "stranger"}, 9, "the DS is of a key the zone does not have"),
    ("nokeys", {"fault": "no-keys"}, 9, "the zone has no DNSKEY"),
    ("unsignedkeys", {"fault": "unsigned-keys"}, 10, "the DNSKEY set has no signature"),
    ("garbledkeys", {"fault": "garbled-keys"}, 6, "the signature of the DNSKEY set does not fit"),
    ("unsigneddata", {"fault": "unsigned-data"}, 10, "www A has no signature"),
    ("otherkey", {"fault": "other-key"}, 6, "www A is signed by another key with the tag of the right one"),
    ("unknownkey", {"fault": "unknown-key"}, 9, "www A is signed by a key that is not published"),
    ("byparent", {"fault": "by-parent"}, 6, "www A is signed by the parent"),
    ("bysibling", {"fault": "by-sibling"}, 10, "www A is signed by a sibling"),
    ("nosuchzone", {"fault": "no-zone"}, 6, "the signer of www A is a name that is no zone"),
    ("badtag", {"fault": "bad-tag"}, 9, "the signature of www A tells the tag of no key"),
    ("shortsignature", {"fault": "short-signature"}, 6, "the signature of www A is cut in half"),
    ("originalttl", {"fault": "original-ttl"}, 6, "the original TTL in the signature is not the signed one"),
    ("fewerlabels", {"fault": "fewer-labels"}, 6, "the signature of www A tells fewer labels, as of a wildcard"),
    ("morelabels", {"fault": "more-labels"}, 6, "the signature of www A tells more labels than there are"),
    ("backwards", {"fault": "backwards"}, 25, "the signature of www A ends before it begins"),
    ("wrongalgorithm", {"fault": "wrong-algorithm"}, 9, "the signature of www A tells an algorithm of no key"),
    ("revoked", {"fault": "revoked"}, 9, "the only key is revoked"),
    ("nozoneflag", {"fault": "no-zone-flag"}, 11, "the key is no zone key"),
    ("protocol", {"fault": "protocol"}, 9, "the protocol of the key is not 3"),
    ("shortkey", {"fault": "short-key"}, 6, "the key is cut"),
    ("exponent0", {"fault": "exponent-0"}, 6, "the exponent of the RSA key is 0"),
)
# Zones whose data are fine and whose denials are not: NXDOMAIN, NODATA and what wildcards made.
BAD_DENIALS = (
    ("nonsec", {"fault": "no-denials"}, 12, "nxdomain nodata wildcard", "the NSEC records are gone"),
    ("nonsec3", {"sign": "nsec3", "fault": "no-denials"}, 12, "nxdomain nodata wildcard",
     "the NSEC3 records are gone"),
    ("unsignednsec", {"fault": "unsigned-denial"}, 10, "nxdomain nodata wildcard",
     "the NSEC records have no signature"),
    ("garblednsec", {"fault": "garbled-denial"}, 6, "nxdomain nodata wildcard",
     "the NSEC records' signatures do not fit"),
    ("gap", {"fault": "gap"}, 6, "nxdomain", "the NSEC does not reach over the name"),
    ("lies", {"fault": "lies"}, 6, "nodata", "the NSEC says that the type is there"),
    ("wrongsalt", {"sign": "nsec3", "salt": "dead", "fault": "salt"}, 12, "nxdomain nodata wildcard",
     "the NSEC3 records say another salt than their names were made with"),
)
# Signed in ways that are no fault, or none that makes a name bogus.
ODDLY_SIGNED = (
    ("rsasha512", {"algorithm": "RSASHA512"}, "secure", 0, "signed with algorithm 10"),
    ("rollover", {"rollover": True, "ds": "both"}, "secure", 0, "two keys of each kind, both in use"),
    ("prepublished", {"rollover": True, "fault": "one-signer"}, "secure", 0, "one of the keys has signed nothing yet"),
    ("tagtwin", {"fault": "tag-twin"}, "secure", 0, "beside the key that signs stands another with its tag"),
    ("twosigners", {"rollover": True, "ds": "both", "fault": "shared-out"}, "secure", 0,
     "two keep the zone, each with keys of its own"),
    ("comingds", {"ds": "coming"}, "secure", 0, "the parent has a DS of a key to come, too"),
    ("sha384ds", {"ds": "sha384"}, "secure", 0, "the DS is a SHA-384"),
    ("addgarbled", {"fault": "add-garbled"}, "secure", 0, "beside the right signature is a wrong one"),
    ("raisedttl", {"fault": "raise-ttl"}, "secure", 0, "the TTL is higher than the original one"),
    ("sha1ds", {"ds": "sha1"}, "secure", 0, "the DS with SHA-256 is wrong, the one with SHA-1 right"),
    ("newdigest", {"ds": "digest"}, "insecure", 2, "the DS is of a digest nobody knows"),
)


def bad_signatures(w, own):
    """Wrong for those who validate, good for the rest: they stand in names.tsv too."""
    def bogus(name, rrtype, kind, ede, why, rcode="NOERROR"):
        w.expect(name, rrtype, kind, rcode)
        w.expect_broken(name, rrtype, "bogus when validated: " + why, rcode)
        w.validated(name, rrtype, "bogus", ede, why)

    def made(label, more):
        z = own(w, label + ".mini.", **{"sign": "nsec", **more})
        z.add("www", "A", "198.18.0.140")
        return z

    for label, more, ede, why in BOGUS:
        made(label, more)
        bogus("www.%s.mini." % label, "A", "bogus", ede, why)
    for label, more, ede, kinds, why in BAD_DENIALS:
        z = made(label, more)
        z.add("here", "A", "198.18.0.141")
        z.add("*.w", "A", "198.18.0.142")
        w.expect("www." + z.name, "A", "signed")
        w.validated("www." + z.name, "A", "secure", 0, "but for its denials the zone is right")
        for kind, name, rrtype, rcode in (("nxdomain", "no-such.", "A", "NXDOMAIN"),
                                          ("nodata", "www.", "MX", "NOERROR"),
                                          ("wildcard", "x.w.", "A", "NOERROR")):
            if kind in kinds:
                bogus(name + z.name, rrtype, kind + "-bogus", ede, why, rcode)
    for label, more, verdict, ede, why in ODDLY_SIGNED:
        z = made(label, more)
        w.expect("www." + z.name, "A", "signed")
        w.expect("no-such." + z.name, "A", "nxdomain", "NXDOMAIN")
        w.validated("www." + z.name, "A", verdict, ede, why)
        w.validated("no-such." + z.name, "A", verdict, ede, why)

    # All there is at a name.
    for name, verdict, ede in (("www.rsa", "secure", 0), ("www.salted", "secure", 0), ("www.island", "insecure", 0),
                               ("www.garbled", "bogus", 6), ("www.expired", "bogus", 7)):
        w.validated(name + ".mini.", "ANY", verdict, ede, "all there is at the name")

    # An unsigned zone below a signed one that does not prove it.
    made("nocutproof", {"fault": "no-cut-proof"})
    own(w, "child.nocutproof.mini.").add("www", "A", "198.18.0.143")
    bogus("www.child.nocutproof.mini.", "A", "bogus", 6, "the NSEC of the delegation is gone")
    w.validated("www.nocutproof.mini.", "A", "secure", 0, "but for the delegation the zone is right")

    # The way is sound, its end is not; and the other way round.
    z = made("badway", {"fault": "garbled-dname"})
    z.add("to-expired", "CNAME", "www.expired.mini.")
    z.add("old", "DNAME", "types.mini.")
    bogus("to-expired.badway.mini.", "A", "bogus", 7, "an alias to a zone whose signatures are past their time")
    bogus("a.old.badway.mini.", "A", "bogus", 6, "the signature of the DNAME does not fit")

    # The zones of denials(): what is there, what is not, what came from a wildcard.
    for name, there, denied, ede in (
            ("rsa", "secure", "secure", 0), ("p384", "secure", "secure", 0), ("ed25519", "secure", "secure", 0),
            ("ed448", "secure", "secure", 0), ("split", "secure", "secure", 0), ("salted", "secure", "secure", 0),
            ("iter150", "secure", "secure", 0), ("iter500", "secure", "insecure", 27),
            ("island", "insecure", "insecure", 0), ("newalgorithm", "insecure", "insecure", 1)):
        why = "signed well, as far as one can tell"
        w.validated("www.%s.mini." % name, "A", there, 0 if there != denied else ede, why)
        for owner, rrtype in (("www", "MX"), ("x.w", "A"), ("no-such", "A")):
            w.validated("%s.%s.mini." % (owner, name), rrtype, denied, ede, why)
    for owner, rrtype, verdict in (("www", "A", "secure"), ("www", "MX", "secure"), ("x.w", "A", "insecure"),
                                   ("no-such", "A", "insecure")):
        w.validated(owner + ".optout.mini.", rrtype, verdict, 0, "names may be left out of its proofs")
    w.validated("www.unsigned.optout.mini.", "A", "insecure", 0, "an unsigned zone below one with opt-out")
