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


def bad_signatures(w, own):
    """Wrong for those who validate, good for the rest: they stand in names.tsv too."""
    for name, more, why in (
            ("expired.mini.", {"fault": "expired"}, "the signatures are past their time"),
            ("future.mini.", {"fault": "future"}, "the signatures are not yet valid"),
            ("garbled.mini.", {"fault": "garbled"}, "the signature of www A does not fit"),
            ("stripped.mini.", {"fault": "stripped"}, "the parent has a DS, the zone no signatures"),
            ("wrongds.mini.", {"ds": "wrong"}, "the DS fits no key")):
        z = own(w, name, sign="nsec", **more)
        z.add("www", "A", "198.18.0.140")
        w.expect("www." + name, "A", "bogus")
        w.expect_broken("www." + name, "A", "bogus when validated: " + why, "NOERROR")
